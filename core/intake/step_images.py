"""The images of one step's rows, read a page at a time, and what became of its memories since.

A step may have brought every row of a vault: an import of 100,000 has more images than fit into memory at once. Must
not do: change a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.memory.rehearsals import REHEARSALS
from core.types.values import Kind
from core.vault.database.rows import both_states, image_from_json, image_hash, without_volatile_columns
from core.vault.database.tx import Tx

RowImage = tuple[Any, ...]
"""`table, key, before, after_hash` of one changed row, key and image as JSON."""

_PAGE = 500
_FREED = "tbl = 'places' AND before IS NOT NULL AND after_hash IS NULL"
_IMAGES = "SELECT nr, tbl, row_key, before, after_hash FROM undo_rows WHERE step_id = :step AND nr < :below "
_NEWEST = f"{_IMAGES} ORDER BY nr DESC LIMIT :page"
# Freed places last: only then it is known in which space their memories stand again.
_OTHERS = f"{_IMAGES} AND NOT ({_FREED}) ORDER BY nr DESC LIMIT :page"
_FREED_ONLY = f"{_IMAGES} AND {_FREED} ORDER BY nr DESC LIMIT :page"
_REPEATED = "SELECT tbl, row_key, min(nr) FROM undo_rows WHERE step_id = ? GROUP BY tbl, row_key HAVING count(*) > 1"
# Of one millisecond, as where the clock was set back and stands still, the steps' own order tells.
_PAIRED_SINCE = (
    "SELECT c.id FROM undo_steps s JOIN clients c ON c.revoked_at IS NULL AND c.paired_at >= s.at WHERE s.id = ? "
    "AND (c.paired_at > s.at OR EXISTS (SELECT 1 FROM undo_steps p JOIN undo_rows r ON r.step_id = p.id "
    "WHERE p.at = s.at AND p.rowid > s.rowid AND p.verb = 'pair' AND r.tbl = 'clients' "
    "AND json_extract(r.row_key, '$.id') = c.id))"
)
_TERMS = (
    "SELECT nr, tbl, row_key, before FROM undo_rows WHERE step_id = ? AND tbl IN ('grants', 'spaces') ORDER BY nr DESC"
)
_BEYOND = 2**62
"""Above the number of any image."""


class StepImages:
    """The images of one step, without the terms of clients that were paired anew since: these stay.

    Attributes:
        newer_terms: the grants among what stays, as they are listed.
    """

    def __init__(self, tx: Tx, step_id: str) -> None:
        """Find out which rows changed several times, and whose terms stay.

        Args:
            step_id: the step that is taken back.
        """
        self._tx = tx
        self._step_id = step_id
        self._first = {(table, key): nr for table, key, nr in tx.all(_REPEATED, (step_id,))}
        self._stay, self.newer_terms = self._find_newer_terms()

    @property
    def repeated(self) -> Collection[tuple[str, str]]:
        """Table and key of the rows that the step changed several times."""
        return self._first.keys()

    def newest_first(self) -> Iterator[RowImage]:
        """Every image, the newest first."""
        return self._read_pages(_NEWEST)

    def freed_places_last(self) -> Iterator[RowImage]:
        """Every image in the order in which rows can be restored: the newest first, places that were freed last."""
        yield from self._read_pages(_OTHERS)
        yield from self._read_pages(_FREED_ONLY)

    def oldest_of(self, table: str, key: str, before: str | None) -> str | None:
        """How a row was before the step.

        Args:
            before: what one of its images says.
        """
        nr = self._first.get((table, key))
        if nr is None:
            return before
        found: str | None = self._tx.value(
            "SELECT before FROM undo_rows WHERE step_id = ? AND nr = ?", (self._step_id, nr)
        )
        return found

    def _read_pages(self, sql: str) -> Iterator[RowImage]:
        below = _BEYOND
        while page := self._tx.all(sql, {"step": self._step_id, "below": below, "page": _PAGE}):
            yield from (row[1:] for row in page if row[0] not in self._stay)
            below = page[-1][0]

    def _find_newer_terms(self) -> tuple[frozenset[int], list[dict[str, Any]]]:
        """Numbers of the images that stay, and the grants among them."""
        anew = {str(row[0]) for row in self._tx.all(_PAIRED_SINCE, (self._step_id,))}
        stay, listed = set(), []
        for nr, table, key_json, before_json in self._tx.all(_TERMS, (self._step_id,)) if anew else ():
            key, before = image_from_json(key_json), _row_of(before_json)
            current = self._tx.row(table, key)
            if {one.get("client_id") for one in (before, current) if one is not None}.isdisjoint(anew):
                continue
            stay.add(nr)
            if table == "grants" and before != current:
                listed.append(both_states(table, key, before, current))
        return frozenset(stay), listed


@dataclass(frozen=True, slots=True)
class StepSurvey:
    """What became of the memories of a step, before anything is restored.

    Attributes:
        kept: memories that the step brought and that are no longer as it left them.
        onward: memories of the step with which more happened since; another number of a version is no matter.
        vanishing: episodes that the step brought and that undoing it removes.
        rehearsals: table and key of the rehearsals that the step changed.
    """

    kept: frozenset[str]
    onward: frozenset[str]
    vanishing: frozenset[str]
    rehearsals: frozenset[tuple[str, str]]


def survey_step(tx: Tx, images: StepImages) -> StepSurvey:
    """Hold each memory of a step against what the step left of it."""
    kept, onward, vanishing = set(), set(), set()
    rehearsals = set()
    newest: dict[str, bytes | None] = {}
    for table, key, before, after_hash in images.newest_first():
        if table == REHEARSALS:
            rehearsals.add((table, key))
        if table != "memories":
            continue
        is_repeated = (table, key) in images.repeated
        is_newest = key not in newest
        left = newest.setdefault(key, after_hash) if is_repeated else after_hash
        current = tx.row(table, image_from_json(key)) if is_newest or before is None else None
        if current is None:
            continue
        memory_id, now_hash = str(current["id"]), image_hash(without_volatile_columns(table, current))
        if before is None and now_hash != left:
            kept.add(memory_id)
        elif before is None and current["kind"] == Kind.EPISODE:
            vanishing.add(memory_id)
        if is_newest and now_hash != left and not current_version_number(table, current, left):
            begun = _row_of(images.oldest_of(table, key, before))
            if begun is None or now_hash != image_hash(without_volatile_columns(table, begun)):
                onward.add(memory_id)
    return StepSurvey(frozenset(kept), frozenset(onward), frozenset(vanishing), frozenset(rehearsals))


def find_changed_new_memories(tx: Tx, images: Sequence[RowImage]) -> frozenset[str]:
    """Memories which some images say were brought and which are no longer as those left them.

    Args:
        images: the newest first.
    """
    left: dict[str, bytes | None] = {}
    brought = set()
    for table, key, before, after_hash in images:
        if table == "memories":
            left.setdefault(key, after_hash)
            if before is None:
                brought.add(key)
    changed = set()
    for key in brought:
        current = tx.row("memories", image_from_json(key))
        if current is not None and image_hash(without_volatile_columns("memories", current)) != left[key]:
            changed.add(str(current["id"]))
    return frozenset(changed)


def current_version_number(table: str, current: Mapping[str, object], after_hash: bytes | None) -> Mapping[str, object]:
    """The number a version has now, where nothing but that changed: one that was said before it came in since."""
    if table != "memories":
        return {}
    number = int(str(current["version"]))
    as_left = (
        image_hash(without_volatile_columns(table, {**current, "version": had})) for had in range(number - 1, 0, -1)
    )
    return {"version": number} if any(after_hash == one for one in as_left) else {}


def is_freed_place(table: str, before: object, after_hash: object) -> bool:
    """Whether an image records a memory's place that the step removed."""
    return table == "places" and before is not None and after_hash is None


def _row_of(image: str | None) -> dict[str, Any] | None:
    return None if image is None else image_from_json(image)
