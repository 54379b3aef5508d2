"""The small tables of an OpenMemory backup, around its memories: apps, categories, and who may see what.

Must not do: grant anything; a rule is a starting point that the person is offered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.input.source import SourceFile
from core.importers.input.streams import iter_json_array


@dataclass(frozen=True, slots=True)
class AccessScope:
    """One access rule of the backup, offered as a starting point for a client's grants.

    Attributes:
        client: the app's name; its id where the backup does not name it.
        effect: `allow` or `deny`.
        object_type: what it is about, usually `memory`.
        memory_id: one memory; None for all.
    """

    client: str
    effect: str
    object_type: str
    memory_id: str | None


@dataclass(slots=True)
class Backup:
    """The small tables around the memories."""

    apps: dict[str, str] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    of_memory: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    scopes: list[AccessScope] = field(default_factory=list)

    def scopes_of(self, key: str) -> list[AccessScope]:
        """The rules about one memory, and those about all."""
        return [scope for scope in self.scopes if scope.memory_id in (None, key)]

    def list_categories(self, row: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """The names of a memory's categories, each once: by the row, and by the table beside it."""
        ids = row.get("category_ids")
        known = [*map(str, ids if isinstance(ids, list) else ()), *self.of_memory.get(key, ())]
        names = [self.categories.get(one, one) for one in known]
        written = row.get("categories")
        names += [str(name) for name in written if isinstance(name, str)] if isinstance(written, list) else []
        return tuple(dict.fromkeys(name for name in names if name))


def read_tables(file: SourceFile) -> Backup:
    """Read the small tables of a backup.

    Args:
        file: its `memories.json`.
    """
    backup = Backup()
    for row in _read_rows(file, "apps"):
        backup.apps[str(row.get("id"))] = str(row.get("name") or row.get("id"))
    for row in _read_rows(file, "categories"):
        backup.categories[str(row.get("id"))] = str(row.get("name") or row.get("id"))
    for row in _read_rows(file, "memory_categories"):
        backup.of_memory[str(row.get("memory_id"))].append(str(row.get("category_id")))
    for row in _read_rows(file, "access_controls"):
        subject, memory = str(row.get("subject_id")), row.get("object_id")
        backup.scopes.append(
            AccessScope(
                client=backup.apps.get(subject, subject),
                effect=str(row.get("effect")),
                object_type=str(row.get("object_type")),
                memory_id=None if memory is None else str(memory),
            )
        )
    return backup


def _read_rows(file: SourceFile, table: str) -> Iterator[Mapping[str, Any]]:
    return (parsed.value for parsed in iter_json_array(file, (table,)) if isinstance(parsed.value, Mapping))
