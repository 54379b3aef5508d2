"""The table of command-line verbs, and the one way to run one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import Code, UserError
from core.ipc.ports import Engine
from core.ipc.protocol import Registry
from core.ipc.strictjson import BadMessage, check_text
from core.ipc.verbs import clients, conflicts, erasing, imports, jobs, memories, practice, vault
from core.ipc.verbs.base import Params, Progress, Verb
from core.types.values import Actor

VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        "import": imports.import_,
        "unimport": imports.unimport,
        "remember": memories.remember,
        "recall": memories.recall,
        "context": memories.context,
        "list": memories.list_,
        "show": memories.show,
        "history": memories.history,
        "forget": memories.forget,
        "erase": erasing.erase,
        "conflicts": conflicts.conflicts,
        "resolve": conflicts.resolve,
        "turn_down": conflicts.turn_down,
        "confirm": conflicts.confirm,
        "dispute": conflicts.dispute,
        "reinforce": conflicts.reinforce,
        "mark": practice.mark,
        "undo": memories.undo,
        "steps": memories.steps,
        "status": vault.status,
        "verify": vault.verify,
        "older_copy": vault.older_copy,
        "accept_older": vault.accept_older,
        "lock": vault.lock,
        "unlock": vault.unlock,
        "backup": vault.backup,
        "jobs": jobs.jobs,
        "consolidate": jobs.consolidate,
        "sweep": jobs.sweep,
        "pair": clients.pair,
        "grant": clients.grant,
        "pause": clients.pause,
        "resume": clients.resume,
        "revoke": clients.revoke,
        "clients": clients.clients,
        "allow_again": clients.allow_again,
    }
)


async def run_verb(
    engine: Engine, registry: Registry, name: str, params: Params, actor: Actor, progress: Progress
) -> dict[str, Any]:
    """Check a verb's parameters as the socket does, then run it; the command line calls this in process.

    Args:
        engine: an engine on any loop.
        registry: the methods that exist.
        name: the verb's name.
        params: as typed.
        actor: the owner.
        progress: how it reports.

    Returns:
        The JSON of the verb, the same as `owner.<verb>` answers.

    Raises:
        UserError: parameters that are not allowed.
        LociError: what the verb itself raises.
    """
    try:
        check_text(dict(params))
    except BadMessage as bad:
        raise UserError(Code.INVALID_INPUT, bad.sentence) from None
    checked = registry.find(f"owner.{name}").check(params)
    return await VERBS[name](engine, checked, actor, progress)
