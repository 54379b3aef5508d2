"""Which memories a transaction touches, for those who are told of changes once it is saved.

What is undone, erased or done by upkeep comes by here too, recorded or not: it hangs on the rows that change, not on
the verb that changes them. Must not do: read or write rows, or judge who may know of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

_MEMORIES = "memories"
_BESIDE = frozenset({"evidence", "memory_sources", "procedures", "rules", "verdicts"})
"""Tables whose rows say how a memory of theirs stands."""
_QUIET = frozenset({"access_count", "last_accessed_at", "read_at", "strength"})
"""Columns by which nobody is told anything: reading, and upkeep that counts it."""

Row = Mapping[str, object]


class Touched:
    """The memories of one transaction.

    Attributes:
        before: id to the row as it was, in the order they were touched; None for one that was not there.
        beside: ids of memories of which another table holds something else now.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.before: dict[str, Row | None] = {}
        self.beside: dict[str, None] = {}

    @property
    def size(self) -> tuple[int, int]:
        """How far it has come, for `cut`."""
        return len(self.before), len(self.beside)

    def note(self, table: str, row: Row, before: Row | None, names: Collection[str] | None = None) -> None:
        """Take down one changed row.

        Args:
            table: whose row.
            row: it, with at least its memory's id.
            before: how it was; None for an insertion.
            names: the columns that change; None for all.
        """
        if table == _MEMORIES:
            if names is None or not _QUIET.issuperset(names):
                self.before.setdefault(str(row["id"]), before)
        elif table in _BESIDE:
            self.beside.setdefault(str(row["memory_id"]))

    def cut(self, size: tuple[int, int]) -> None:
        """Forget what was first touched since; those changes were taken back.

        Args:
            size: as `size` was then.
        """
        while len(self.before) > size[0]:
            self.before.popitem()
        while len(self.beside) > size[1]:
            self.beside.popitem()
