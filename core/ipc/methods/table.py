"""The one table of methods, of clients and of the command line, and the way to run a verb in process."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods import (
    changes,
    clients,
    connection,
    entities,
    maintenance,
    reviews,
    searches,
    sessions,
    stores,
    vault,
)
from core.ipc.methods.kit import results as memory_results
from core.ipc.methods.kit.entry import CallProgress, Entry, MethodCall
from core.ipc.methods.kit.results import Schema
from core.ipc.protocol.messages import BadMessage, check_text
from core.ipc.protocol.schema import Registry
from core.ipc.protocol.sessions import owner_session

_SUBJECTS = (stores, searches, sessions, entities, reviews, maintenance, changes, connection, vault, clients)
_CALLERS = ("anyone", "client", "owner")

METHODS: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for entry in sorted(
            (entry for subject in _SUBJECTS for entry in subject.METHODS), key=lambda entry: _CALLERS.index(entry.who)
        )
    }
)
"""Name to method: those before the handshake, then those of clients, then the owner's."""

DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        **memory_results.DEFINITIONS,
        **stores.DEFINITIONS,
        **entities.DEFINITIONS,
        **reviews.DEFINITIONS,
        **changes.DEFINITIONS,
        **connection.DEFINITIONS,
        **clients.DEFINITIONS,
    }
)
"""What several answers are made of, by the name in `$defs`."""


async def run_verb(
    engine: Engine, registry: Registry, name: str, params: Mapping[str, Any], progress: CallProgress
) -> dict[str, Any]:
    """Check a verb's parameters as the socket does, then run it as the owner; the command line calls this in process.

    Args:
        engine: an engine on any loop.
        registry: the methods that exist.
        name: the verb's name.
        params: as typed.
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
    method = registry.find(f"owner.{name}")
    checked, entry = method.check(params), METHODS[method.name]
    return await entry.answer(MethodCall(engine, owner_session(), entry.exact, progress), checked)
