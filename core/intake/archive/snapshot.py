"""A vault as the rows of an archive, page by page, from one snapshot. Must not do: leave a cursor open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from core.archive.records import Row
from core.intake.archive.tables import TABLES, ArchivedTable, is_archived_setting
from core.vault.database.rows import Rows

_AT_ONCE = 1000
_CHUNKS_AT_ONCE = 64  # of files: each has 64 KiB
_PAGES = {name: f"SELECT rowid, * FROM {name} WHERE rowid > ? ORDER BY rowid LIMIT ?" for name in TABLES}  # noqa: S608 - fixed names
_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
_COUNT = {name: f"SELECT count(*) FROM {name}" for name in TABLES}  # noqa: S608 - fixed names
SCHEMA = "SELECT max(version) FROM schema_version"


def count_archived_rows(rows: Rows) -> int:
    """How many rows an archive of the vault has, settings of jobs and tiers of rules counted too."""
    return sum(int(rows.value(_COUNT[name])) for name in TABLES)


def read_columns(rows: Rows, table: str) -> tuple[str, ...]:
    """The columns of a table, in their order."""
    return tuple(str(name) for (name,) in rows.all(_COLUMNS, (table,)))


def read_table(rows: Rows, table: ArchivedTable) -> tuple[tuple[str, ...], Iterator[list[Row]]]:
    """One table as it goes into an archive.

    Returns:
        Its columns, and its rows some at a time, in the order in which they came.
    """
    columns = read_columns(rows, table.name)
    kept = [place for place, name in enumerate(columns) if name not in table.blank]
    return tuple(columns[place] for place in kept), _read_pages(rows, table, columns, kept)


def _read_pages(rows: Rows, table: ArchivedTable, columns: Sequence[str], kept: Sequence[int]) -> Iterator[list[Row]]:
    after, at_once = -(2**63), _CHUNKS_AT_ONCE if table.name == "stored_chunks" else _AT_ONCE
    while page := rows.all(_PAGES[table.name], (after, at_once)):
        after = page[-1][0]
        if table.name in _CHOSEN:
            column, is_archived = _CHOSEN[table.name]
            place = columns.index(column) + 1
            page = [row for row in page if is_archived(row[place])]
        yield [tuple(row[place + 1] for place in kept) for row in page]


# Of settings the person's; of shorter forms a model's, since those of rules are made anew with the text.
_CHOSEN: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "settings": ("key", is_archived_setting),
    "tiers": ("made_by", lambda maker: maker == "model"),
}
