"""Finding and clearing what journals, plans and saved questions still hold of memories that are erased.

**Index.** An erasure has to find every image of undo, receipt, context and reply that names what goes or quotes it. A
run of a hundred batches reads them once for its index, off the writer, and after that only what was written since. It
keeps hashes of ids and keys with the rows that have them, in memory only, and as long as its run: one that was stopped
leaves it until the next run is planned or the vault is locked. It may name a row too many, never one too few: where it
cannot be sure (an id or text it was not made for, rows that somebody deleted) it says so, and everything is read.

**Images of undo.** An image of a row that is gone, or one that holds an erased text that its row does not hold any
more, is taken out of its step; all other rows of the step can still be taken back, and its label says that it is not
whole. A row that stays and pointed at what is gone was mended: its images are mended with it, so that no undo takes the
mending for somebody's change. A step of which nothing is left goes too, or Ctrl+Z would take back nothing.

**Receipts.** What names an erased memory is taken out of the body; the packed trace of such a receipt goes whole, since
without it the order cannot be computed again. A context that was handed out with it goes whole. Traces that merely
weighed it hold its id and numbers, as the audit does. **Plans** of jobs that wait, run or gave up keep ids and numbers,
and lose the digests of texts. Must not do: touch a row that is no journal.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.intake.erase.row_erasure import ErasedRows, RowEraser
from core.intake.transaction.admission import fold_text
from core.sensitivity.detector import find_sensitive
from core.text.terms import index_terms, query_terms
from core.types.sensitivity import SensitiveType
from core.vault.database.rows import (
    Rows,
    after_from_json,
    change_to_json,
    image_from_json,
    image_hash,
    image_to_json,
    to_json,
    without_volatile_columns,
)
from core.vault.database.tx import Tx

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

    def is_quoted_in(self, text: object) -> bool:
        """Whether a value is an erased text, or has a long one in it."""
        return next(self.find_quoted(text), None) is not None

    def find_quoted(self, text: object) -> Iterator[str]:
        """Erased texts, folded, that a value is or has in it.

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
        self._hashes.append(_hash_name(name))
        self._rows.append(row)
        self._sorted = None

    def rows_naming(self, names: Iterable[str]) -> set[int]:
        if self._sorted is None:
            hashes = np.array(self._hashes, np.int64)
            order = np.argsort(hashes, kind="stable")
            self._sorted = hashes[order], np.array(self._rows, np.int64)[order]
        hashes, rows = self._sorted
        wanted = np.array([_hash_name(name) for name in names], np.int64)
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
        self._text_matcher = ErasedTextMatcher(wanted)
        self._clear_index()

    def _clear_index(self) -> None:
        self._named = {table: _Named() for table in TABLES}
        self._quoting: dict[str, dict[str, set[int]]] = {table: {} for table in TABLES}
        self._last: dict[str, tuple[int, str]] = dict.fromkeys(TABLES, (0, ""))

    def is_for(self, ids: Collection[str]) -> bool:
        """Whether it was made for these memories."""
        return self._ids.issuperset(ids)

    def read_new_rows(self, rows: Rows) -> None:
        """Read what was written since the last look; all of it at first."""
        if not all(self._is_whole(rows, table) for table in TABLES):
            self._clear_index()
        for table in TABLES:
            while page := rows.all(_BEHIND[table], (self._last[table][0],)):
                for row in page:
                    self._index_row(table, row)
                self._last[table] = int(page[-1][0]), str(page[-1][1])
                self.looked += len(page)

    def note_newest(self, rows: Rows) -> None:
        """Note what is the newest row of each table, behind a batch that deleted some.

        A row that is deleted at the end gives its number to the next one; that one must be read.
        """
        for table in TABLES:
            newest = rows.one(_NEWEST[table])
            at, name = (0, "") if newest is None else (int(newest[0]), str(newest[1]))
            if at < self._last[table][0]:
                self._last[table] = at, name

    def find_trace_rows(
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
        folded_texts = {fold_text(text) for text in texts}
        return {
            table: TraceRows(
                sorted(
                    self._named[table]
                    .rows_naming([*names, *keys])
                    .union(*(self._quoting[table].get(one, ()) for one in folded_texts))
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

    def _index_row(self, table: str, row: tuple[Any, ...]) -> None:
        at, _, *columns = row
        values: Iterable[object] = columns
        if table == "undo_rows":
            self._named[table].add(columns[0], at)
            values = [value for image in columns if image for value in json.loads(image).values()]
        elif table == "receipts":
            values = columns[1:]
        elif table == "requests":
            values = ()
        if table != "contexts":
            for name in {name for text in columns if text for name in _ID.findall(text)}:
                self._named[table].add(name, at)
        for value in values:
            for text in self._text_matcher.find_quoted(value):
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


def _hash_name(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


PARTLY = " (partly erased)"
"""Ends the label of a step some of whose images were taken out."""

_POINTERS = frozenset(
    {
        "supersedes_id", "superseded_by_id", "consolidated_into", "subject_entity_id", "object_entity_id",
        "merged_into_id",
    }
)  # fmt: skip
"""Columns that may be empty: an image of a row that stays is mended there."""

_OWNERS = frozenset(
    {
        "id", "memory_id", "other_id", "from_id", "to_id", "derived_id", "source_id", "existing_id", "incoming_id",
        "claim_id", "entity_id", "part_of",
    }
)  # fmt: skip
"""Columns by which a row belongs to what is gone."""

_IMAGE = "SELECT u.step_id, u.nr, u.tbl, u.row_key, u.before, u.after, u.after_hash FROM undo_rows u "
_NAMES_IT = (
    "(u.row_key IN (SELECT value FROM json_each(:keys)) OR EXISTS (SELECT 1 FROM json_each(:needles) w "
    "WHERE instr(u.before, w.value) OR instr(u.after, w.value) OR instr(u.row_key, w.value)))"
)
_RECEIPT = "SELECT r.id, r.body FROM receipts r "
_BODIES = "EXISTS (SELECT 1 FROM json_each(:ids) w WHERE instr(r.body, w.value))"
_QUERY = "SELECT r.id, r.query FROM receipts r "
_QUESTIONS = "SELECT id, query FROM receipts WHERE query IS NOT NULL"
_LIVING_TERM = "SELECT 1 FROM memory_fts WHERE memory_fts MATCH ? LIMIT 1"
_SECRETS = frozenset(SensitiveType) - {SensitiveType.PERSON_NAME, SensitiveType.LOCATION, SensitiveType.HEALTH}
_SECRET_LEAST = 6
"""Characters of a secret that a question is searched for; fewer are in words of every kind."""
_CONTEXT = "SELECT c.id, c.text FROM contexts c "
_REQUEST = "SELECT q.actor, q.request_id, q.reply FROM requests q "
# What erases from the archive plans by ids alone, and names them all: it is passed by.
_PLANNED_ACTIONS = "SELECT job_id, place, deed FROM job_deeds WHERE instr(deed, '\"marks\"') OR instr(deed, '\"open\"')"
_FEW = 100
"""Ids that are looked for one by one; more are held against those that a text has."""
_REPLIES = "EXISTS (SELECT 1 FROM json_each(:ids) w WHERE instr(q.reply, w.value))"


def clear_traces(tx: Tx, remover: RowEraser, journals: TraceIndex | None = None) -> None:
    """Take out of the journals what the rows leave behind.

    Args:
        tx: the transaction of the erasure; recording is off.
        remover: it has run.
        journals: tells where to look; None to read all of them.
    """
    taken = remover.taken
    matcher = ErasedTextMatcher(taken.texts)
    questions = QuestionMatcher(taken.texts)
    _clear_probes(tx, remover, matcher, questions)
    keys = {key for _, key in taken.removed} | {key for _, key in taken.mended}
    places = None if journals is None else journals.find_trace_rows(tx, taken.ids, keys, taken.texts)
    at = places or {}
    _clear_images(tx, taken, matcher, keys, at)
    _clear_receipts(tx, taken, matcher, questions, at)
    _clear_plans(tx, taken)
    ids = to_json(sorted(taken.ids))
    place = at.get("requests")
    for actor, request, reply in _select_journal_rows(tx, place, "q", _REQUEST, _REPLIES, {"ids": ids}):
        if not _names_any(reply, place, taken.ids):
            continue
        tx.run("DELETE FROM requests WHERE actor = ? AND request_id = ?", (actor, request))
        taken.cleared["requests"] += 1
    if journals is not None:
        journals.note_newest(tx)


def _select_journal_rows(
    tx: Tx,
    place: TraceRows | None,
    alias: str,
    select: str,
    where: str = "1",
    params: Mapping[str, object] | None = None,
) -> list[tuple[Any, ...]]:
    """Rows of a journal for which a condition holds; where the index says so, every row that it names.

    Of those the caller tells which are meant: to hold each against every id in SQL takes minutes for ten thousand.
    """
    if place is None:
        return tx.all(f"{select}WHERE {where} ORDER BY {alias}.rowid", dict(params or {}))
    named = f"{select}WHERE {alias}.rowid IN (SELECT value FROM json_each(:rows))"  # noqa: S608 - constants
    newer = f"{select}WHERE {alias}.rowid > :after"
    return [*tx.all(named, {"rows": place.rows}), *tx.all(newer, {"after": place.after})]


def _names_any(text: str, place: TraceRows | None, ids: Collection[str]) -> bool:
    """Whether a row that the index named has one of the ids; without an index it was asked for by them."""
    return place is None or any(name in ids for name in _ID.findall(text))


# ---- images of undo


def _clear_images(
    tx: Tx, taken: ErasedRows, matcher: ErasedTextMatcher, keys: set[str], at: Mapping[str, TraceRows]
) -> None:
    wanted = {"keys": to_json(sorted(keys)), "needles": to_json([*sorted(taken.ids), *matcher.needles])}
    touched: set[str] = set()
    for step, nr, table, key, before, after, after_hash in _select_journal_rows(
        tx, at.get("undo_rows"), "u", _IMAGE, _NAMES_IT, wanted
    ):
        images = _load_images(before, after)
        if _must_remove(tx, taken, matcher, table, key, images):
            tx.run("DELETE FROM undo_rows WHERE step_id = ? AND nr = ?", (step, nr))
            taken.cleared["undo_rows"] += 1
            touched.add(step)
            continue
        mended = [None if image is None else _without_pointers(image, taken) for image in images]
        hashed = _repaired_hash(taken, (table, key), after_hash, images[1], mended[1])
        if mended != images or hashed != after_hash:
            tx.run(
                "UPDATE undo_rows SET before = ?, after = ?, after_hash = ? WHERE step_id = ? AND nr = ?",
                (*_image_columns(*mended), hashed, step, nr),
            )
    _clear_steps(tx, touched)


def _load_images(before: str | None, after: str | None) -> list[dict[str, Any] | None]:
    was = None if before is None else image_from_json(before)
    return [was, None if after is None else after_from_json(was or {}, after)]


def _image_columns(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    before_json = None if before is None else image_to_json(before)
    return before_json, None if after is None else change_to_json(before or {}, after)


def _repaired_hash(
    taken: ErasedRows,
    name: tuple[str, str],
    after_hash: bytes | None,
    after: Mapping[str, Any] | None,
    mended: Mapping[str, Any] | None,
) -> bytes | None:
    """How the row is after the step: as it was mended where it still is so, else as its mended image says."""
    was, now = taken.mended.get(name, (None, None))
    if was is not None and after_hash == was:
        return now
    return (
        image_hash(without_volatile_columns(name[0], mended)) if mended is not None and mended != after else after_hash
    )


def _must_remove(
    tx: Tx, taken: ErasedRows, matcher: ErasedTextMatcher, table: str, key: str, images: Sequence[dict[str, Any] | None]
) -> bool:
    if (table, key) in taken.removed:
        return True
    named = image_from_json(key)
    rows = [named, *(image for image in images if image is not None)]
    if any(row.get(column) in taken.ids for row in rows for column in _OWNERS if column in row):
        return True
    if table == "probes" and any(one in str(row.get("expected", "")) for row in rows for one in taken.ids):
        return True
    current = tx.row(table, named) or {}
    return any(
        matcher.is_quoted_in(value) and current.get(name) != value for row in rows for name, value in row.items()
    )


def _without_pointers(image: Mapping[str, Any], taken: ErasedRows) -> dict[str, Any]:
    return {name: None if name in _POINTERS and value in taken.ids else value for name, value in image.items()}


def _clear_steps(tx: Tx, steps: Iterable[str]) -> None:
    """Steps say that they are not whole; one of which nothing is left goes, unless it still runs."""
    for step in sorted(steps):
        left = tx.value("SELECT 1 FROM undo_rows WHERE step_id = ? LIMIT 1", (step,))
        if left is None and tx.value("SELECT is_open FROM undo_steps WHERE id = ?", (step,)) == 0:
            for table, column in (
                ("undo_steps", "undoes_id"), ("undo_steps", "undone_by"), ("consolidation_log", "step_id"),
            ):  # fmt: skip
                tx.run(f"UPDATE {table} SET {column} = NULL WHERE {column} = ?", (step,))  # noqa: S608 - constants
            tx.run("DELETE FROM undo_steps WHERE id = ?", (step,))
        else:
            tx.run(
                "UPDATE undo_steps SET label = label || :partly WHERE id = :id AND label NOT LIKE '%' || :partly",
                {"partly": PARTLY, "id": step},
            )


# ---- receipts


class QuestionMatcher:
    """Tells which questions say something of erased texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the texts once they are asked about.

        Args:
            texts: what was erased.
        """
        self._texts = tuple(texts)

    def has_word_of_theirs(self, rows: Rows, question: str) -> bool:
        """Whether the question has a word of a text that no memory says any more.

        Args:
            rows: the transaction, behind the erasure.
        """
        shared = {one.term for one in query_terms(question) if not one.stop} & self._terms
        return any(rows.one(_LIVING_TERM, (f'"{term}"',)) is None for term in sorted(shared))

    def has_secret(self, question: str) -> bool:
        """Whether the question has a number, a password or an address that a text had, however it is spaced."""
        joined = _join_characters(question) if self.secrets else ""
        return any(one in joined for one in self.secrets)

    @cached_property
    def secrets(self) -> frozenset[str]:
        """Numbers, passwords and addresses of the texts, without what is between their characters."""
        spans = ((text, span) for text in self._texts for span in find_sensitive(text) if span.type in _SECRETS)
        found = {_join_characters(text[span.start : span.end]) for text, span in spans}
        return frozenset(one for one in found if len(one) >= _SECRET_LEAST)

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(term for text in self._texts for term in index_terms(text).split())


def _join_characters(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())


def _clear_questions(tx: Tx, taken: ErasedRows, questions: QuestionMatcher) -> None:
    """Whoever looked for a leaked number typed it: no question that has it stays, whatever it found."""
    for receipt, query in tx.all(_QUESTIONS) if questions.secrets else ():
        if questions.has_secret(query):
            _clear_question(tx, receipt)
            taken.cleared["receipts"] += 1


def _clear_question(tx: Tx, receipt: str) -> None:
    # The trace refers to places in the question.
    tx.run("UPDATE receipts SET query = NULL, body = json_remove(body, '$.trace') WHERE id = ?", (receipt,))


def _clear_receipts(
    tx: Tx, taken: ErasedRows, matcher: ErasedTextMatcher, questions: QuestionMatcher, at: Mapping[str, TraceRows]
) -> None:
    ids = {"ids": to_json(sorted(taken.ids))}
    place = at.get("receipts")
    for receipt, body in _select_journal_rows(tx, place, "r", _RECEIPT, _BODIES, ids):
        if not _names_any(body, place, taken.ids):
            continue
        taken.cleared["contexts"] += tx.run("DELETE FROM contexts WHERE receipt_id = ?", (receipt,))
        taken.cleared["receipts"] += 1
        receipt_body = json.loads(body)
        receipt_body.pop("trace", None)
        tx.run(
            "UPDATE receipts SET body = ? WHERE id = ?",
            (to_json(remove_traces_of_ids(receipt_body, taken.ids)), receipt),
        )
        asked = tx.value("SELECT query FROM receipts WHERE id = ?", (receipt,))
        if asked is not None and questions.has_word_of_theirs(tx, str(asked)):
            _clear_question(tx, receipt)
    for receipt, query in _select_journal_rows(tx, at.get("receipts"), "r", _QUERY, "r.query IS NOT NULL"):
        if matcher.is_quoted_in(query):
            _clear_question(tx, receipt)
            taken.cleared["receipts"] += 1
    _clear_questions(tx, taken, questions)
    for context, text in _select_journal_rows(tx, at.get("contexts"), "c", _CONTEXT):
        if matcher.is_quoted_in(text):
            taken.cleared["contexts"] += tx.run("DELETE FROM contexts WHERE id = ?", (context,))


def remove_traces_of_ids(document: Any, ids: Iterable[str]) -> Any:
    """A JSON value without what names one of these ids: items of lists, members of objects.

    Args:
        ids: of erased memories.

    Returns:
        What is left.
    """
    erased_ids = ids if isinstance(ids, (set, frozenset)) else frozenset(ids)
    if isinstance(document, list):
        return [remove_traces_of_ids(one, erased_ids) for one in document if not _mentions_any(one, erased_ids)]
    if isinstance(document, dict):
        return {
            name: remove_traces_of_ids(value, erased_ids)
            for name, value in document.items()
            if name not in erased_ids and not (isinstance(value, str) and value in erased_ids)
        }
    return document


def _mentions_any(value: Any, erased_ids: set[str] | frozenset[str]) -> bool:
    if isinstance(value, str):
        return value in erased_ids
    if isinstance(value, dict):
        return any(isinstance(one, str) and one in erased_ids for one in value.values())
    return isinstance(value, list) and any(isinstance(one, str) and one in erased_ids for one in value)


# ---- plans


def _clear_plans(tx: Tx, taken: ErasedRows) -> None:
    """A deed that names what goes keeps its place and its ids, by which the job goes; without its marks it is left.

    The fingerprints of questions are digests of texts too. What else such a deed was to do, the next run finds again.
    """
    for job, place, action in tx.all(_PLANNED_ACTIONS):
        if not any(one in action for one in (taken.ids if len(taken.ids) <= _FEW else _ID.findall(action))):
            continue
        *head_fields, detail = json.loads(action)
        if "marks" in detail:
            detail["marks"] = dict.fromkeys(detail["marks"], "")
        emptied: dict[str, list[str]] = {name: [] for name in ("open", "close") if name in detail}
        tx.run(
            "UPDATE job_deeds SET deed = ? WHERE job_id = ? AND place = ?",
            (to_json([*head_fields, {**detail, **emptied}]), job, place),
        )
        taken.cleared["job_deeds"] += 1


# ---- saved questions


def _clear_probes(tx: Tx, remover: RowEraser, matcher: ErasedTextMatcher, questions: QuestionMatcher) -> None:
    """A saved question goes with the last memory it names, and where it is the erased text or has a secret of it."""
    erased_ids = remover.taken.ids
    for probe, query, expected in tx.all("SELECT id, query, expected FROM probes ORDER BY id"):
        named = json.loads(expected)
        left = [one for one in named if one not in erased_ids]
        if matcher.is_quoted_in(query) or questions.has_secret(query) or (named and not left):
            remover.remove_row("probes", {"id": probe})
        elif left != named:
            remover.mend_row("probes", {"id": probe}, {"expected": json.dumps(left)})
