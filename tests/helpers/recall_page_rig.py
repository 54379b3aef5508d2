"""A laboratory of invented answers, for tests of the Recall page: frozen values, no engine behind them.

`FakeLaboratory` answers like the engine's group `laboratory`: weights move its ranking, and what is saved or applied is
written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from answered import finished
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot
from review_rig import memory
from window_rig import application, settle

from core.config.option_rows import option_rows, replace_option
from core.config.retrieval import RetrievalOptions
from core.errors import CancelledError, Code, UserError
from core.types.recall import (
    Applied,
    Comparison,
    DeliveryCount,
    LabAnswer,
    LabItem,
    PlanChange,
    Probe,
    ProbeOutcome,
    QueryPlan,
    RecallHealth,
    Sensitivity,
    Tally,
    TimeRange,
    Trace,
    TracedCandidate,
    Tuning,
)
from core.types.requests import RecallQuery
from core.types.values import Intent, Kind, Memory, Role, Status, When
from core.types.views import FindRequest, FindResult, MemoryRow
from ui.context import Context
from ui.pages.recall.page import RecallPage

D = TypeVar("D", bound=QDialog)
Weights = Mapping[str, Any]
DAY_MS = 86_400_000
NOW_MS = 1_795_000_000_000
QUESTION = "when did we decide to move Harbour to Frankfurt"
MAY = TimeRange("in May", 10, 16, "2026-05-01", "2026-05-31", 1_777_586_400_000, 1_780_264_800_000)


def _memories() -> list[Memory]:
    you = {"role": Role.USER, "occurred": When(NOW_MS - 40 * DAY_MS)}
    return [
        memory("Fine, Frankfurt then. Let us cut over in the second week of November.", kind=Kind.EPISODE, **you),
        memory("The move to Frankfurt was decided in October, after the outage in Luleå.", kind=Kind.DIGEST),
        memory("The outage in Luleå lasted eleven hours.", kind=Kind.EPISODE, author="Chat", role=Role.ASSISTANT),
        memory("Harbour runs in Frankfurt since the migration.", status=Status.DISPUTED),
        memory("Sofia asked whether Frankfurt is cheaper.", kind=Kind.EPISODE, **you),
        memory("How to cut over a region.", kind=Kind.PROCEDURE),
        memory("Frankfurt it is, in November.", kind=Kind.EPISODE, **you),
        memory("The gravel bike has a Rohloff hub.", status=Status.SUPERSEDED),
    ]


_RELEVANCE = (0.9, 0.84, 0.66, 0.6, 0.31, 0.28, 0.5, 0.2)
_RECENCY = (0.1, 0.2, 0.95, 0.4, 0.2, 0.1, 0.1, 0.1)
_DROPPED = (None, None, None, None, "below_floor", "below_floor", "duplicate", "superseded")
_LISTS: Sequence[Mapping[str, tuple[int, float]]] = (
    {"bm25": (1, 8.2), "window": (3, 0.71), "evidence": (1, 1.4)},
    {"window": (1, 0.78), "graph": (1, 0.6)},
    {"graph": (2, 0.36)},
    {"bm25": (2, 5.1)},
    {"window": (58, 0.22)},
    {"coverage": (12, 0.2)},
    {"bm25": (4, 4.0)},
    {"vector": (40, 0.1)},
)


class FakeLaboratory:
    """The group.

    Attributes:
        asked: (query, weights, seen_as) in their order.
        swept: (option, values, other weights) of each sweep.
        stopped: how many sweeps were stopped.
        holds: while set, the next sweep ends only when somebody ends it.
        held: what the sweeps that are held will end with.
        memories: what there is.
        items: saved questions.
        applied: what was applied, newest first.
        understood: how the next questions are understood.
        silent: whether the next answers are empty.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[RecallQuery, dict[str, Any], str | None]] = []
        self.memories = _memories()
        self.swept: list[tuple[str, tuple[float, ...], dict[str, Any]]] = []
        self.stopped, self.holds = 0, False
        self.held: list[Future[Sensitivity]] = []
        self.items: list[Probe] = []
        self.applied: list[Applied] = []
        self.options = RetrievalOptions()
        self.understood = QueryPlan(
            Intent.TEMPORAL,
            {"temporal": 0.62, "lookup": 0.3},
            MAY,
            ("Harbour", "Frankfurt"),
            {"Harbour": ("the harbour project",)},
            text_weight=0.42,
        )
        self.silent = False
        self.refuses = ""
        self.fallen = 0
        self.handed: dict[str, DeliveryCount] = {}
        self._number = 0

    def ids(self) -> list[str]:
        """Ids of the memories, in their order."""
        return [one.id for one in self.memories]

    # ---- asking

    def try_question(
        self, query: RecallQuery, weights: Weights | None = None, seen_as: str | None = None
    ) -> Future[LabAnswer]:
        """Answer; side signals move the order as far as their weights say."""
        self.asked.append((query, dict(weights or {}), seen_as))
        if self.refuses:
            raise UserError(Code.INVALID_INPUT, self.refuses)
        plan = self.understood
        if query.plan is not None:
            plan = replace(
                plan,
                intent=query.plan.intent or plan.intent,
                time=None if query.plan.no_time else plan.time,
                text_weight=plan.text_weight if query.plan.text_weight is None else query.plan.text_weight,
            )
        return finished(self._answer(plan, self._tried(weights or {}), seen_as or ""))

    def _tried(self, weights: Weights) -> RetrievalOptions:
        options = self.options
        for name, value in weights.items():
            options = replace_option(options, name, value)
        return options

    def _answer(self, plan: QueryPlan, options: RetrievalOptions, seen_as: str) -> LabAnswer:
        made = [self._candidate(at, options) for at in range(len(self.memories))]
        order = sorted(range(len(made)), key=lambda at: -made[at].score)
        answered = [at for at in order if made[at].dropped is None and not self.silent]
        if seen_as:
            answered = answered[1:]
        ranked = [replace(made[at], rank=nr) for nr, at in enumerate(order, 1)]
        by_at = dict(zip(order, ranked, strict=True))
        for nr, at in enumerate(answered, 1):
            by_at[at] = replace(by_at[at], place=nr)
        items = tuple(self._item(at, by_at[at], options) for at in answered)
        near = tuple(self._item(at, by_at[at], options) for at in order if made[at].dropped == "below_floor")
        stages = dict(
            zip(
                ("vector", "words", "graph", "time", "in_scope", "fused", "after_duplicates", "answered"),
                (5, 4, 2, 0, 7, 5, 4, len(items)),
                strict=True,
            )
        )
        trace = Trace(plan, stages, tuple(by_at[at] for at in order), {}, 1.2, 0.6, 0.9)
        reason = "Nothing clears the bar." if self.silent else "Found by meaning and by words."
        return LabAnswer(items, near, self.silent, reason, trace, "hybrid", 14.0, 412, seen_as)

    def _candidate(self, at: int, options: RetrievalOptions) -> TracedCandidate:
        signals = {"confidence": 0.8, "recency": _RECENCY[at], "importance": 0.5, "utility": 0.5}
        room = options.side_bound * options.sides_recency * 10
        factor = 1 + room * (2 * _RECENCY[at] - 1)
        one = self.memories[at]
        dropped = _DROPPED[at]
        return TracedCandidate(
            one.id, None, None, _LISTS[at], _RELEVANCE[at], _RELEVANCE[at], signals, factor,
            min(1.0, _RELEVANCE[at] * factor), None, dropped, "", one.recorded_at,
        )  # fmt: skip

    def _item(self, at: int, one: TracedCandidate, options: RetrievalOptions) -> LabItem:
        assert options is not None
        side = one.score - one.relevance
        return LabItem(
            self.memories[at],
            one.place,
            one.rank,
            one.score,
            {"relevance": one.relevance, **one.signals},
            one.lists,
            ("It contains 3 of the 4 search words.",),
            one.dropped,
            {"relevance": one.relevance, "recency": side},
        )

    # ---- tuning

    def read_tuning(self) -> Future[Tuning]:
        """The options."""
        presets = {"measured": "As measured: what answers best", "seed-b": "Importance first"}
        values = {
            "measured": RetrievalOptions().model_dump(),
            "seed-b": {**RetrievalOptions().model_dump(), "sides_importance": 0.3, "sides_confidence": 0.1},
        }
        fits = [name for name in presets if values[name] == self.options.model_dump()]
        rows = option_rows(RetrievalOptions, self.options)
        return finished(Tuning(rows, fits[0] if fits else "", presets, values))

    def preview_weights(self, weights: Weights) -> Future[Comparison]:
        """The saved questions, now and then."""
        now, then = self._tally(self.options), self._tally(self._tried(weights))
        return finished(Comparison(now, then, tuple(self.items)))

    def sweep_option(self, name: str, values: Sequence[float], weights: Weights) -> Future[Sensitivity]:
        """The saved questions under several values."""
        self.swept.append((name, tuple(values), dict(weights)))
        tallies = tuple(self._tally(self._tried({**weights, name: value})) for value in values)
        if self.holds:
            self.held.append(Future())
            return self.held[-1]
        return finished(Sensitivity(name, tuple(values), tallies))

    def stop_sweep(self) -> None:
        """Nobody waits for the sweep any more."""
        self.stopped += 1
        for one in self.held:
            if not one.done():
                one.set_exception(CancelledError())

    def _tally(self, options: RetrievalOptions) -> Tally:
        answer = self._answer(self.understood, options, "")
        places = {item.memory.id: item.place for item in answer.items}
        outcomes = []
        for probe in self.items:
            found = [place for one in probe.memory_ids if (place := places.get(one)) is not None]
            place = min(found, default=None)
            passed = place is not None and place <= probe.within
            passed = passed if probe.kind == "positive" else not (places if probe.kind == "negative" else found)
            outcomes.append(ProbeOutcome(probe.id, passed, place, answer.tokens))
        kinds = [probe.kind for probe in self.items]
        held = [
            sum(one.passed for one, kind in zip(outcomes, kinds, strict=True) if kind == wanted)
            for wanted in ("positive", "negative", "stale")
        ]
        of = [kinds.count(wanted) for wanted in ("positive", "negative", "stale")]
        return Tally(held[0], of[0], held[1], of[1], of[2] - held[2], of[2], answer.tokens, tuple(outcomes))

    def apply_weights(self, weights: Weights) -> Future[Applied]:
        """Put weights in force."""
        before = self.options.model_dump()
        self.options = self._tried(weights)
        changes = {name: (before[name], value) for name, value in weights.items()}
        made = Applied(self._next("step"), NOW_MS, changes, undone=False, found=None)
        self.applied.insert(0, made)
        return finished(made)

    def list_applications(self) -> Future[tuple[Applied, ...]]:
        """What was applied."""
        return finished(tuple(self.applied))

    # ---- saved questions

    def _next(self, what: str) -> str:
        self._number += 1
        return f"{what}-{self._number}"

    def list_probes(self) -> Future[tuple[Probe, ...]]:
        """All of them."""
        return finished(tuple(self.items))

    def save_probe(self, query: str, kind: str, memory_ids: Sequence[str] = (), within: int = 10) -> Future[Probe]:
        """Save one."""
        made = Probe(self._next("probe"), query, kind, tuple(memory_ids), within, NOW_MS)
        self.items.append(made)
        return finished(made)

    def delete_probe(self, probe_id: str) -> Future[str]:
        """Delete one."""
        self.items = [one for one in self.items if one.id != probe_id]
        return finished(self._next("step"))

    def run_probes(self) -> Future[Tally]:
        """Run them."""
        tally = self._tally(self.options)
        passed = {one.probe_id: one.passed for one in tally.outcomes}
        self.items = [replace(one, passed=passed[one.id], ran_at=NOW_MS) for one in self.items]
        return finished(tally)

    def count_regressions(self) -> Future[int]:
        """How many fail that held."""
        return finished(self.fallen)

    # ---- more

    def count_disclosures(self, memory_id: str) -> Future[DeliveryCount]:
        """How often a memory was given."""
        return finished(self.handed.get(memory_id, DeliveryCount(0, None, "", 0)))

    def read_health(self) -> Future[RecallHealth]:
        """How recall did."""
        return finished(RecallHealth(40, 44, 0.52, 0.91, 0.9, 0.09, 14.0, 31.0, False, 0, False, ""))  # noqa: FBT003


class FakeLibrary:
    """The engine's group `library`, as far as the page asks it: rows and words of the laboratory's memories."""

    def __init__(self, laboratory: FakeLaboratory) -> None:
        self._laboratory = laboratory

    @staticmethod
    def remove_stop_words(question: str) -> str:
        """As it is."""
        return question

    def find_memories(self, request: FindRequest) -> Future[FindResult]:
        """Those that have the words."""
        typed = request.query.casefold()
        return finished(
            FindResult(tuple(one.id for one in self._laboratory.memories if typed in one.text.casefold()), 1.0)
        )

    def read_rows(self, ids: Sequence[str]) -> Future[tuple[MemoryRow, ...]]:
        """Light rows."""
        known = {one.id: one for one in self._laboratory.memories}
        return finished(tuple(_row(known[one]) for one in ids if one in known))


def _row(one: Memory) -> MemoryRow:
    return MemoryRow(
        one.id, one.n, one.kind, one.status, one.text, False, one.space, one.source, one.role, one.author,  # noqa: FBT003
        None, one.category, one.importance, one.tags, one.occurred, one.recorded_at, one.trust, one.confidence, 0.9,
        one.pinned, 0, None, None, None,
    )  # fmt: skip


def texts(page: QWidget) -> list[str]:
    """What labels of a widget say that can be seen."""
    return [found.text() for found in page.findChildren(QLabel) if not found.isHidden() and found.text()]


class LabRoom:
    """The page over a fake laboratory."""

    def __init__(self, context: Context, qtbot: QtBot) -> None:
        self.context, self.qtbot = context, qtbot
        self.lab = FakeLaboratory()
        engine = context.bridge.engine
        engine.recall_trials = self.lab  # type: ignore[assignment]  # stands for the engine's group
        engine.library = FakeLibrary(self.lab)  # type: ignore[assignment]  # likewise
        self._page: RecallPage | None = None

    @property
    def page(self) -> RecallPage:
        """The page."""
        assert self._page is not None
        return self._page

    def open(self, width: int = 1360, height: int = 800, wish: str = "") -> RecallPage:
        """Show the page."""
        made = self._page = RecallPage(self.context)
        made.resize(width, height)
        made.show()
        self.qtbot.waitExposed(made)
        made.activateWindow()
        made.activate(wish)
        self.rest()
        return made

    def ask(self, question: str = QUESTION) -> RecallPage:
        """Show the page with an answer."""
        page = self._page or self.open()
        page.ask_question(question)
        self.rest()
        return page

    def rest(self) -> None:
        """Wait until the page has come to rest."""
        settle(self.qtbot, lambda: not self.context.tasks.running and self.page.is_settled())
        application().processEvents()  # Qt shows what was just put into a layout in a turn of its own

    def last_plan(self) -> PlanChange | None:
        """What was decided about the reading of the question that was asked last."""
        return self.lab.asked[-1][0].plan

    def knob(self, name: str) -> int:
        """The place of a knob of the tuner."""
        return [one.name for one in self.page.tuner.knobs].index(name)

    def dialog(self, kind: type[D]) -> D:
        """The dialog of a kind that is open now."""
        settle(self.qtbot, lambda: any(found.isVisible() for found in self.page.findChildren(kind)))
        return next(found for found in self.page.findChildren(kind) if found.isVisible())

    def key(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is."""
        QTest.keyClick(self.page.focusWidget() or self.page, key, held)
        self.rest()

    def put_away(self) -> None:
        """Let everything end, and delete the page."""
        if self._page is not None:
            self._page.deactivate()
            settle(self.qtbot, lambda: not self.context.tasks.running)
            self._page.close()
            self._page.deleteLater()
            self._page = None


@contextmanager
def lab_over(context: Context, qtbot: QtBot) -> Iterator[LabRoom]:
    """A room that is put away at the end."""
    made = LabRoom(context, qtbot)
    try:
        yield made
    finally:
        made.put_away()
