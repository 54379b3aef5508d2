"""Where journals name memories or quote their texts: looked up once for a run that erases many, not for each batch.

An erasure has to find every image of undo, receipt, context and reply that names what goes or quotes it. Without an
index it reads all of them. A run of a hundred batches reads them once here, off the writer, and behind that only what
was written since. Kept are hashes of ids and keys with the rows that have them, and the rows that quote the texts which
the run may erase; it lives in memory only, and as long as its run: one that was stopped leaves it until the next run is
planned or the vault is locked. It may name a row too many, never one too few: where it
cannot be sure (an id or text it was not made for, rows that somebody deleted) it says so, and everything is read.
Must not do: change a row.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.intake.transaction.tombstones import fold_text
from core.vault.database.rows import Rows

TABLES = ("undo_rows", "receipts", "contexts", "requests")

_QUOTE_LEAST = 20
"""Characters from which on an erased text inside a longer one is taken for a quotation; below, only equal texts are."""
_ANCHOR = 8
_PAGE = 2_000
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Identity, what may name an id, what may quote a text.
_READ = {
    "undo_rows": "SELECT rowid, step_id || '/' || nr, row_key, before, after FROM undo_rows",
    "receipts": "SELECT rowid, id, body, query FROM receipts",
    "contexts": "SELECT rowid, id, text FROM contexts",
    "requests": "SELECT rowid, actor || '/' || request_id, reply FROM requests",
}
_NEWEST = {table: f"{sql} ORDER BY rowid DESC LIMIT 1" for table, sql in _READ.items()}
_AT = {table: f"{sql} WHERE rowid = ?" for table, sql in _READ.items()}
_BEHIND = {table: f"{sql} WHERE rowid > ? ORDER BY rowid LIMIT {_PAGE}" for table, sql in _READ.items()}


class ErasedTextMatcher:
    """Tells whether a text is, or quotes, one that was erased.

    Attributes:
        needles: the texts as they stand in JSON.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        wanted = list(dict.fromkeys(texts))
        self.needles = [json.dumps(text, ensure_ascii=False)[1:-1] for text in wanted if text]
        self._folded = {fold_text(text) for text in wanted} - {""}
        # A long text is looked for where a word of the other begins as its own second word does.
        self._anchors: dict[str, list[str]] = {}
        self._whole: list[str] = []
        for text in sorted(self._folded):
            if len(text) < _QUOTE_LEAST:
                continue
            second = text.find(" ") + 1
            if second and len(text) >= second + _ANCHOR:
                self._anchors.setdefault(text[second : second + _ANCHOR], []).append(text)
            else:
                self._whole.append(text)

    def quotes(self, text: object) -> bool:
        """Whether a value is an erased text, or has a long one in it."""
        return next(self.found(text), None) is not None

    def found(self, text: object) -> Iterator[str]:
        """Erased texts, folded, that a value is or has in it.

        Args:
            text: anything.

        Yields:
            Each of them; one may come twice.
        """
        if not isinstance(text, str) or not text:
            return
        own = fold_text(text)
        if own in self._folded:
            yield own
        if len(own) < _QUOTE_LEAST:
            return
        yield from (one for one in self._whole if one in own)
        at = own.find(" ") + 1 if self._anchors else 0
        while at:
            yield from (one for one in self._anchors.get(own[at : at + _ANCHOR], ()) if one in own)
            at = own.find(" ", at) + 1


class _Named:
    """Which rows have which id or key; by hashes, so that a large vault fits."""

    def __init__(self) -> None:
        self._hashes, self._rows = array("q"), array("q")
        self._sorted: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def add(self, name: str, row: int) -> None:
        self._hashes.append(_hash(name))
        self._rows.append(row)
        self._sorted = None

    def rows(self, names: Iterable[str]) -> set[int]:
        if self._sorted is None:
            hashes = np.array(self._hashes, np.int64)
            order = np.argsort(hashes, kind="stable")
            self._sorted = hashes[order], np.array(self._rows, np.int64)[order]
        hashes, rows = self._sorted
        wanted = np.array([_hash(name) for name in names], np.int64)
        first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        return {int(row) for begin, end in zip(first, last, strict=True) for row in rows[begin:end]}


class TraceIndex:
    """Index of the journal rows that may hold traces, for one erasure.

    Attributes:
        looked: rows that were read for it.
        unsure: how often everything had to be read.
    """

    def __init__(self, ids: Iterable[str], texts: Iterable[str]) -> None:
        """Say what the run may erase.

        Args:
            ids: memories.
            texts: theirs, whole ones and parts.
        """
        self.looked = self.unsure = 0
        self._ids = frozenset(ids)
        wanted = list(texts)
        self._texts = {fold_text(text) for text in wanted}
        self._said = ErasedTextMatcher(wanted)
        self._clear()

    def _clear(self) -> None:
        self._named = {table: _Named() for table in TABLES}
        self._quoting: dict[str, dict[str, set[int]]] = {table: {} for table in TABLES}
        self._last: dict[str, tuple[int, str]] = dict.fromkeys(TABLES, (0, ""))

    def is_for(self, ids: Collection[str]) -> bool:
        """Whether it was made for these memories."""
        return self._ids.issuperset(ids)

    def look(self, rows: Rows) -> None:
        """Read what was written since the last look; all of it at first."""
        if not all(self._is_whole(rows, table) for table in TABLES):
            self._clear()
        for table in TABLES:
            while page := rows.all(_BEHIND[table], (self._last[table][0],)):
                for row in page:
                    self._take(table, row)
                self._last[table] = int(page[-1][0]), str(page[-1][1])
                self.looked += len(page)

    def settle(self, rows: Rows) -> None:
        """Note what is the newest row of each table, behind a batch that deleted some.

        A row that is deleted at the end gives its number to the next one; that one must be read.
        """
        for table in TABLES:
            newest = rows.one(_NEWEST[table])
            at, name = (0, "") if newest is None else (int(newest[0]), str(newest[1]))
            if at < self._last[table][0]:
                self._last[table] = at, name

    def places(
        self, rows: Rows, names: Collection[str], keys: Collection[str], texts: Collection[str]
    ) -> Mapping[str, TraceRows] | None:
        """Where to look for what goes.

        Args:
            names: ids of everything that goes.
            keys: keys of rows, canonical JSON, whose images are looked for.
            texts: erased texts.

        Returns:
            Of each table the rows; None where everything must be read.
        """
        is_sure = all(map(_ID.fullmatch, names)) and self._texts.issuperset(fold_text(text) for text in texts)
        if not is_sure or not all(self._is_whole(rows, table) for table in TABLES):
            self.unsure += 1
            return None
        said = {fold_text(text) for text in texts}
        return {
            table: TraceRows(
                sorted(
                    self._named[table].rows([*names, *keys]).union(*(self._quoting[table].get(one, ()) for one in said))
                ),
                self._last[table][0],
            )
            for table in TABLES
        }

    def _is_whole(self, rows: Rows, table: str) -> bool:
        """Whether the row that was read last is still there: none before it can have got another's number."""
        at, name = self._last[table]
        if not at:
            return True
        found = rows.one(_AT[table], (at,))
        return found is not None and str(found[1]) == name

    def _take(self, table: str, row: tuple[Any, ...]) -> None:
        at, _, *told = row
        values: Iterable[object] = told
        if table == "undo_rows":
            self._named[table].add(told[0], at)
            values = [value for image in told if image for value in json.loads(image).values()]
        elif table == "receipts":
            values = told[1:]
        elif table == "requests":
            values = ()
        if table != "contexts":
            for name in {name for text in told if text for name in _ID.findall(text)}:
                self._named[table].add(name, at)
        for value in values:
            for text in self._said.found(value):
                self._quoting[table].setdefault(text, set()).add(at)


class TraceRows:
    """Rows of one table.

    Attributes:
        rows: numbers, as JSON.
        after: rows behind this one are to be read too.
    """

    def __init__(self, rows: Collection[int], after: int) -> None:
        self.rows = json.dumps(list(rows))
        self.after = after


def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)
