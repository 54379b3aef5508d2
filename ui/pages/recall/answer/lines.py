"""An answer as lines: headings, memories, the opened details of one.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.types.recall import LabAnswer, LabItem, TracedCandidate
from core.types.values import Kind
from core.types.views import MemoryRow
from ui.lists.row_spec import Heading, Inert
from ui.pages.recall.signals import SIDES, bar_told
from ui.pages.recall.words import joined, note_of, places_told, said_by, source_told, standing_told, sunk_by
from ui.strings import recall_strings
from ui.widgets.plaintext import one_line
from ui.widgets.words import KIND_WORDS

_TEXT = 400


@dataclass(frozen=True, slots=True)
class Row:
    """One memory of the list.

    Attributes:
        id: the memory.
        kind: its shape.
        text: made visible, one line.
        note: who, when, and where it stood, or what sank it.
        place: its place as it is shown; "" for none.
        parts: what made the score, as in `LabItem.parts`.
        score: 0 to 1; None where it could not be returned.
        moved: places it rose (positive) or fell through the trial weights; None where it is new, 0 where it stands.
        is_answer: whether it is in the answer.
        is_first: whether it is the first of its card; `is_last` likewise.
        item: everything about it, where the answer holds that.
        candidate: what the trace knows of it.
    """

    id: str
    kind: Kind
    text: str
    note: str
    place: str
    parts: Mapping[str, float]
    score: float | None
    moved: int | None = 0
    is_answer: bool = True
    is_first: bool = False
    is_last: bool = False
    item: LabItem | None = None
    candidate: TracedCandidate | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Details(Inert):
    """The opened details of the row above.

    Attributes:
        row: that row.
        is_last: whether the card ends here.
    """

    row: Row
    is_last: bool

    def describe(self) -> str:
        """Whose they are."""
        return f"Details of {one_line(self.row.text, 80)}"


Line = Row | Heading


def answer_lines(answer: LabAnswer, base: LabAnswer | None) -> list[Line]:
    """An answer with its near misses.

    Args:
        answer: what is shown.
        base: the same question under the weights in force; None where `answer` is that.
    """
    traced = {one.id: one for one in answer.trace.candidates}
    before = None if base is None else {item.memory.id: item.place for item in base.items}
    made: list[Line] = list(_carded([_answered(item, traced, before) for item in answer.items]))
    near = [_missed(item, traced) for item in answer.near]
    if near:
        made += [Heading(recall_strings()["near"], recall_strings()["near_note"]), *_carded(near)]
    return made


def _answered(item: LabItem, traced: Mapping[str, TracedCandidate], before: Mapping[str, int | None] | None) -> Row:
    place = item.place or item.rank
    was = None if before is None else before.get(item.memory.id)
    moved = 0 if before is None else None if was is None or place is None else was - place
    return Row(
        item.memory.id,
        item.memory.kind,
        one_line(item.memory.text, _TEXT),
        note_of(item),
        "" if place is None else str(place),
        item.parts,
        item.score,
        moved,
        item=item,
        candidate=traced.get(item.memory.id),
    )


def _missed(item: LabItem, traced: Mapping[str, TracedCandidate]) -> Row:
    sunk = recall_strings()["sunk"].format(reason=sunk_by(item.dropped or "unknown", item.lists))
    return Row(
        item.memory.id,
        item.memory.kind,
        one_line(item.memory.text, _TEXT),
        joined((sunk, source_told(item.memory, item.client))),
        "" if item.rank is None else str(item.rank),
        item.parts,
        item.score if item.rank is not None else None,
        is_answer=False,
        item=item,
        candidate=traced.get(item.memory.id),
    )


def candidate_lines(
    candidates: Sequence[TracedCandidate], rows: Mapping[str, MemoryRow], heading: Heading
) -> list[Line]:
    """Candidates of a trace with their texts.

    Args:
        candidates: in the order they shall stand.
        rows: id to the memory; one that is missing is left out.
        heading: what they are.
    """
    made = [_candidate(one, rows[one.id]) for one in candidates if one.id in rows]
    return [heading, *_carded(made)]


def _candidate(one: TracedCandidate, memory: MemoryRow) -> Row:
    who = said_by(memory.author, memory.role, memory.occurred, memory.recorded_at, memory.client)
    if one.dropped is None:
        note = joined((standing_told(memory.status), who, places_told(one.lists)))
    else:
        note = joined((recall_strings()["sunk"].format(reason=sunk_by(one.dropped, one.lists)), who))
    place = one.place or one.rank
    return Row(
        one.id,
        memory.kind,
        one_line(memory.head, _TEXT),
        note,
        "" if place is None else str(place),
        {"relevance": one.relevance, SIDES: one.score - one.relevance},
        one.score if place is not None else None,
        is_answer=one.dropped is None,
        candidate=one,
    )


def _carded(rows: Sequence[Row]) -> list[Row]:
    """Rows that know whether they begin or end their card."""
    last = len(rows) - 1
    return [replace(one, is_first=at == 0, is_last=at == last) for at, one in enumerate(rows)]


def moved_told(moved: int | None) -> str:
    """`▲ 2`, `▼ 1`, `new`; "" where it stands as before."""
    if moved is None:
        return "new"
    return "" if moved == 0 else f"▲{moved}" if moved > 0 else f"▼{-moved}"


def told(line: Row) -> str:
    """A memory for those who do not see it."""
    moves = {None: "new through the trial weights. ", 0: ""}
    way = "up" if (line.moved or 0) > 0 else "down"
    moved = moves[line.moved] if line.moved in moves else f"{way} {abs(line.moved or 0)} through the trial weights. "
    place = f"Place {line.place}. " if line.place and line.is_answer else ""
    score = "" if line.score is None else f" Score {line.score:.2f}: {bar_told(line.parts)}."
    return f"{place}{moved}{KIND_WORDS[line.kind]}: {one_line(line.text, 160)} {line.note}.{score}"
