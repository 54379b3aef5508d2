"""Looking for what was erased in every table: whole texts, ids, and pieces of words.

Every column that can hold text or bytes is read, of every table but the parts of the full-text index, whose words are
looked up in its own list. Nothing is taken on trust from what the erasure did. Pieces of words that rows still have are
told apart, so that a search of the pages does not take them for a remnant. Must not do: write; give out a text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from core.text.terms import index_terms
from core.vault.database.pages import PIECE, Fragments, fragments_of_text
from core.vault.database.rows import Rows

_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_BATCH = 2_000
_BETWEEN = b"\0"
_VECTOR_STEP = 64
_INDEX, _MEMORIES = "memory_fts", "memories"
_TABLES = """
    SELECT name, wr FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'memory_fts%' AND name <> 'sqlite_schema'
    ORDER BY name <> 'memories', name
"""
_COLUMNS = (
    "SELECT name FROM pragma_table_info(:table) WHERE type IN ('TEXT', 'BLOB', '') "
    # Of the content of files the ids are looked at: the rest is encrypted under keys of its own, and gigabytes.
    "AND NOT (:table = 'stored_chunks' AND name = 'body') ORDER BY cid"
)
_LIVING_TERM = "SELECT 1 FROM memory_fts WHERE memory_fts MATCH ? LIMIT 1"
_LISTED_TERM = "SELECT 1 FROM memory_terms WHERE term = ?"


@dataclass(frozen=True)
class ErasedContent:
    """What is looked for. It holds the erased texts, in memory only and for as long as the search.

    Attributes:
        ids: of memories, and of what went with them.
        texts: whole ones and parts.
        vectors: as they were stored.
    """

    ids: frozenset[str] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    vectors: tuple[bytes, ...] = field(repr=False)

    def make_fragments(self) -> Fragments:
        """Pieces of all texts and vectors."""
        pieces: set[bytes] = set()
        for text in self.texts:
            pieces |= fragments_of_text(text)
        for vector in self.vectors:
            pieces.update(vector[at : at + PIECE] for at in range(0, len(vector) - PIECE + 1, _VECTOR_STEP))
        return Fragments(pieces)


@dataclass
class Leftovers:
    """What a search of the tables found.

    Attributes:
        texts: rows that hold an erased text whole, by table.
        ids: rows that name one of the ids, by table.
        words: rows that stay and share pieces of words, by table.
        pieces: those pieces.
    """

    texts: Counter[str] = field(default_factory=Counter)
    ids: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    pieces: set[bytes] = field(default_factory=set)


class LeftoverSearch:
    """Searches the tables one after another, each on a snapshot of its own."""

    def __init__(self, content: ErasedContent) -> None:
        """Prepare it.

        Args:
            content: what was erased.
        """
        self.found = Leftovers()
        self.fragments = content.make_fragments()
        self._content = content
        self._ids = frozenset(one.encode("utf-8", "surrogatepass") for one in content.ids)
        wanted = (text.encode("utf-8", "surrogatepass") for text in dict.fromkeys(content.texts))
        self._short: set[bytes] = set()
        self._by_piece: dict[bytes, set[bytes]] = {}
        for text, data in zip(dict.fromkeys(content.texts), wanted, strict=True):
            piece = min(fragments_of_text(text), default=b"")
            if piece:
                self._by_piece.setdefault(piece, set()).add(data)
            elif data.strip():
                self._short.add(data)

    @property
    def has_short_texts(self) -> bool:
        """Whether there are texts too short to be looked for in pages; in rows they are found where a value is one."""
        return bool(self._short)

    def search_table(self, rows: Rows, table: str, is_clustered: bool) -> None:
        """Look through one table.

        Args:
            rows: a snapshot.
            is_clustered: whether it has no row numbers.
        """
        columns = ", ".join(f'"{name}"' for (name,) in rows.all(_COLUMNS, {"table": table}))
        if not columns:
            return
        for batch in _batches(rows, table, columns, is_clustered):
            self._search_rows(table, [[_as_bytes(value) for value in row] for row in batch])

    def _search_rows(self, table: str, batch: list[list[bytes]]) -> None:
        """Look through many rows at once, and then at those that have something."""
        joined = [_BETWEEN.join(row) for row in batch]
        starts = [0, *accumulate(len(row) + len(_BETWEEN) for row in joined)]
        whole = _BETWEEN.join(joined)
        pieces: dict[int, set[bytes]] = {}
        for piece, at in self.fragments.find_places(whole):
            pieces.setdefault(bisect_right(starts, at) - 1, set()).add(piece)
        self.found.ids[table] += len(
            {bisect_right(starts, one.start()) for one in _ID.finditer(whole) if one.group() in self._ids}
        )
        rows = range(len(batch)) if self._short else sorted(pieces)
        for row in rows:
            self._note_row(table, joined[row], batch[row], pieces.get(row, set()))
            self.found.pieces |= pieces.get(row, set())

    def _note_row(self, table: str, data: bytes, values: list[bytes], pieces: set[bytes]) -> None:
        texts = {text for piece in pieces for text in self._by_piece.get(piece, ()) if text in data}
        texts |= self._short.intersection(values)
        if texts and table == _MEMORIES:
            # What another memory says too is no remnant, wherever it stands; an erased row itself is told by its id.
            self._short -= texts
            for piece in pieces:
                self._by_piece.get(piece, set()).difference_update(texts)
            texts = set()
        self.found.texts[table] += bool(texts)
        self.found.words[table] += bool(pieces) and not texts

    def search_index(self, rows: Rows) -> None:
        """Look in the full-text index for words that only what was erased had."""
        terms = {term for text in self._content.texts for term in index_terms(text).split()}
        for term in sorted(terms):
            if rows.one(_LISTED_TERM, (term,)) is None:
                continue
            if rows.one(_LIVING_TERM, (f'"{term}"',)) is None:
                self.found.texts[_INDEX] += 1
            elif len(data := term.encode("utf-8", "surrogatepass")) >= PIECE:
                self.found.pieces.add(data[:PIECE])

    def search_schema(self, rows: Rows) -> None:
        """Note what the schema's own words share with the texts: they stand in pages too."""
        for (sql,) in rows.all("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
            self.found.pieces |= self.fragments.find_in(str(sql).encode("utf-8"))


def searched_tables(rows: Rows) -> list[tuple[str, bool]]:
    """Every table that is looked through, memories first, and whether it has no row numbers."""
    return [(str(name), bool(clustered)) for name, clustered in rows.all(_TABLES)]


def search_all(
    read: Callable[[Callable[[Rows], None]], None], search: LeftoverSearch, tables: Collection[tuple[str, bool]]
) -> Iterator[int]:
    """Search every table, the index and the schema.

    Args:
        read: runs something on a snapshot of its own.
        tables: of `searched_tables`.

    Yields:
        How many tables are done, so that the caller may stop in between.
    """
    for done, (table, is_clustered) in enumerate(tables, 1):
        read(lambda rows, name=table, flat=is_clustered: search.search_table(rows, name, flat))  # type: ignore[misc]  # mypy infers no lambda with defaults
        yield done
    read(search.search_index)
    read(search.search_schema)
    yield len(tables)


def _batches(rows: Rows, table: str, columns: str, is_clustered: bool) -> Iterator[list[tuple[Any, ...]]]:
    if is_clustered:
        yield rows.all(f'SELECT {columns} FROM "{table}"')  # noqa: S608 - names of the schema
        return
    after = -1
    paged = f'SELECT rowid, {columns} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT {_BATCH}'  # noqa: S608 - likewise
    while page := rows.all(paged, (after,)):
        after = int(page[-1][0])
        yield [row[1:] for row in page]


def _as_bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return b"" if value is None else str(value).encode("utf-8", "surrogatepass")
