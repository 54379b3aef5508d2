"""The table of command-line verbs, and the one way to run one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.owner import clients, conflicts, erasure, imports, jobs, memories, practice, vault
from core.ipc.methods.owner.base import Params, Progress, Verb, wait
from core.ipc.protocol.schema import Registry
from core.ipc.protocol.strict_json import BadMessage, check_text
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
        "edit": memories.edit,
        "pin": memories.pin,
        "tag": memories.tag,
        "spaces": memories.spaces,
        "erase": erasure.erase,
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
        "export": vault.export,
        "exported": vault.exported,
        "passphrase": vault.passphrase,
        "recovery_code": vault.recovery_code,
        "jobs": jobs.jobs,
        "consolidate": jobs.consolidate,
        "sweep": jobs.sweep,
        "pair": clients.pair,
        "grant": clients.grant,
        "pause": clients.pause,
        "resume": clients.resume,
        "revoke": clients.revoke,
        "clients": clients.clients,
        "log": clients.log,
        "allow_again": clients.allow_again,
    }
)


_OF_ONE_MEMORY = (
    "show", "history", "forget", "erase", "confirm", "dispute", "reinforce", "mark", "edit", "pin", "tag",
)  # fmt: skip
_SHORT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        **{name: {"id": "memory"} for name in _OF_ONE_MEMORY},
        "list": {"after": "memory", "import_id": "import"},
        "undo": {"step": "step"},
        "unimport": {"import_id": "import"},
    }
)
"""Parameters in which the end of an id is enough, and what it is an id of; `resolve` reads its own."""


async def carry_out(engine: Engine, name: str, params: Params, actor: Actor, progress: Progress) -> dict[str, Any]:
    """Run a verb whose parameters were checked; where the owner wrote the end of an id, it is the whole one.

    Args:
        engine: an engine on any loop.
        name: the verb's name.
        params: as checked against its schema.
        actor: the owner.
        progress: how it reports.

    Returns:
        The JSON of the verb.

    Raises:
        LociError: what the verb itself raises; INVALID_INPUT where several ids end so.
    """
    short = {field: what for field, what in _SHORT.get(name, {}).items() if field in params}
    whole = {field: await wait(engine.library.full_id(what, params[field])) for field, what in short.items()}
    return await VERBS[name](engine, {**params, **whole}, actor, progress)


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
    return await carry_out(engine, name, checked, actor, progress)
