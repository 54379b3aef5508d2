"""The one table of methods, of clients and of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from core.ipc.methods.definition.entry import Entry
    from core.ipc.methods.definition.results import Schema

_SUBJECTS = (
    "stores", "searches", "sessions", "entities", "reviews", "maintenance", "changes", "erasures", "connection",
    "administration", "clients", "seal", "files", "folders.sync",
    "folders.watched_folders",
)  # fmt: skip
_ASKED_MOST = "searches"
_CALLERS = ("anyone", "client", "owner")


@cache
def _entries_of(subject: str) -> Mapping[str, Entry]:
    return {entry.name: entry for entry in import_module(f"core.ipc.methods.{subject}").METHODS}


@cache
def _all_entries() -> Mapping[str, Entry]:
    every = [entry for subject in _SUBJECTS for entry in _entries_of(subject).values()]
    return {entry.name: entry for entry in sorted(every, key=lambda entry: _CALLERS.index(entry.who))}


class _MethodTable(Mapping[str, "Entry"]):
    """Loads the subjects until one has the method that is asked for, and all of them to list every method.

    A command that opens the vault by itself carries out one method; the models of the other subjects would take it
    longer to load than its answer takes.
    """

    def __getitem__(self, name: str) -> Entry:
        for subject in (_ASKED_MOST, *_SUBJECTS):
            entry = _entries_of(subject).get(name)
            if entry is not None:
                return entry
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_all_entries())

    def __len__(self) -> int:
        return len(_all_entries())


METHODS: Mapping[str, Entry] = _MethodTable()
"""Name to method: those before the handshake, then those of clients, then the owner's."""


def read_definitions() -> Mapping[str, Schema]:
    """What several answers are made of, by the name in `$defs`."""
    parts = [import_module(f"core.ipc.methods.{name}") for name in ("definition.results", *_SUBJECTS)]
    found: dict[str, Schema] = {}
    for part in parts:
        found.update(cast("Mapping[str, Schema]", getattr(part, "DEFINITIONS", {})))
    return MappingProxyType(found)
