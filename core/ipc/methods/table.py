"""The one table of methods, of clients and of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
from core.ipc.methods.kit.entry import Entry
from core.ipc.methods.kit.results import Schema

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
