"""Looks into a stage of the funnel: what it found, or what was dropped there, with the memories' texts.

Must not do: show a stage of another answer than the one on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from core.types.recall import STAGES, LabAnswer, Trace, TracedCandidate
from core.types.views import MemoryRow
from ui.context import Context
from ui.lists.row_spec import Heading
from ui.pages.recall.answer.funnel import ANSWERED, FINDS
from ui.pages.recall.answer.lines import candidate_lines
from ui.pages.recall.words import places, stage_of, stage_title
from ui.strings import recall_strings
from ui.tasks import query

_WAYS: Mapping[str, str] = {"vector": "meaning", "words": "words", "graph": "graph", "time": "time"}
_FAR = 1_000_000


def within(stage: str, candidates: Sequence[TracedCandidate]) -> list[TracedCandidate]:
    """The candidates a stage found, or dropped.

    Args:
        stage: of the funnel.
        candidates: of the trace.

    Returns:
        Those of a way of searching by their place there; else those that were dropped, the strongest first.
    """
    if stage in FINDS:
        way = _WAYS[stage]
        found = [(places(one.lists)[way], one) for one in candidates if way in places(one.lists)]
        return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].id))]
    dropped = [one for one in candidates if one.dropped is not None and stage_of(one.dropped) == stage]
    return sorted(dropped, key=lambda one: (one.rank or _FAR, -one.evidence, one.id))


def expected(stage: str, stages: Mapping[str, int]) -> int:
    """How many a stage found or dropped, by the counts of the funnel; 0 where they do not tell.

    Args:
        stage: of the funnel.
        stages: stage to count.
    """
    if stage in FINDS:
        return stages.get(stage, 0)
    before = STAGES[STAGES.index(stage) - 1]
    return 0 if before in FINDS else max(0, stages.get(before, 0) - stages.get(stage, 0))


def note_of_stage(stage: str, found: int, trace: Trace) -> str:
    """What is said above the list of a stage; where the trace keeps less than there was, it says so.

    Args:
        stage: of the funnel.
        found: how many of the trace it found or dropped.
        trace: whose.
    """
    said, finds = recall_strings(), stage in FINDS
    title = said["funnel_found" if finds else "funnel_dropped"].format(stage=stage_title(stage))
    whole, kept = expected(stage, trace.stages), f"{len(trace.candidates):,}"
    if found < whole:
        name = "funnel_few_found" if finds else "funnel_few_dropped"
        return f"{title}: {whole:,}. {said[name].format(kept=kept, count=f'{found:,}')}"
    if found:
        return f"{title}: {found:,}."
    if finds:
        return f"{title}. {said['funnel_none_found']}"
    # How many were out of scope is counted nowhere: nothing may be said of those the trace does not keep.
    is_known = STAGES[STAGES.index(stage) - 1] not in FINDS
    return f"{title}. {said['funnel_none'] if is_known else said['funnel_none_kept'].format(kept=kept)}"


def is_whole(stage: str, answer: LabAnswer) -> bool:
    """Whether a stage is the answer itself, with nothing cut off: the answer is shown then, and no list beside it."""
    trace = answer.trace
    return stage == ANSWERED and not expected(stage, trace.stages) and not within(stage, trace.candidates)


class StageView(QObject):
    """Reads what a stage holds.

    Attributes:
        is_busy: whether its texts are being read.

    Signals:
        shown: (lines, sentence) of the stage that was asked for last.
        failed: the error.
    """

    shown = Signal(list, str)
    failed = Signal(object)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.is_busy = False

    def look(self, stage: str, answer: LabAnswer) -> None:
        """Show a stage.

        Args:
            stage: which.
            answer: whose trace is looked into.
        """
        candidates = answer.trace.candidates
        found = within(stage, candidates)
        note = note_of_stage(stage, len(found), answer.trace)
        if not found:
            self.shown.emit([], note)
            return
        ids = tuple(one.id for one in found)
        library = self._context.bridge.engine.library
        asked = query("Reading what was found", lambda: library.rows(ids)).within(self, "rows")
        self.is_busy = True

        def show(rows: Sequence[MemoryRow]) -> None:
            self.is_busy = False
            texts = {one.id: one for one in rows}
            self.shown.emit(candidate_lines(found, texts, Heading(""))[1:], note)

        self._context.tasks.run(asked.success(show).failure(self._fail))

    def _fail(self, error: BaseException) -> None:
        self.is_busy = False
        self.failed.emit(error)
