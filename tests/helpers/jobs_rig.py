"""A scheduler of invented runs, for tests of the Journal page and the gauges: frozen values, no engine behind them.

`FakeJobs` answers like the engine's group `jobs`; what is asked of it is written down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from answered import finished
from PySide6.QtWidgets import QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.lifecycle import (
    ArchivedMemory,
    ArchivePage,
    Curve,
    Gauges,
    Health,
    JobAction,
    JobRow,
    Jobs,
    JobState,
    JobType,
    PlannedAction,
    Preview,
    PreviewItem,
    ScheduledJob,
    Trends,
)
from core.types.memory import (
    CopyFinding,
    CopyState,
    ErasePreview,
    ErasureCertificate,
    ErasureRequest,
    ProposedLink,
)
from core.types.values import Actor, Pressure
from ui.context import Context
from ui.lists.list_view import ListView
from ui.lists.row_spec import InertRow
from ui.pages.journal.page import JournalPage

T = TypeVar("T")
D = TypeVar("D", bound=QDialog)
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
TITLES = {
    JobType.SWEEP: ("Look for fading memories", "Marks what fades and archives what nothing protects."),
    JobType.CONSOLIDATE: ("Consolidate", "Unites memories that say the same, and makes digests of old clusters."),
    JobType.REPLAY: ("Replay", "While nobody is at work: strengthens what is often used."),
    JobType.ERASE: ("Erase from the archive", "Erases what you allowed to be erased."),
}
BACKUP = "loci-2026-11-19.backup"


def deed(what: JobAction, memory_id: str, text: str, **more: Any) -> PreviewItem:
    """One deed of a plan."""
    job = more.pop(
        "job", JobType.CONSOLIDATE if what in {JobAction.MERGE, JobAction.DIGEST, JobAction.ASK} else JobType.SWEEP
    )
    planned = PlannedAction(what, memory_id, more.pop("others", ()), more.pop("reason", ""), more.pop("value", 0.0))
    member: dict[str, Any] = {"other_texts": (), "kind": "fact", "space": "home", "words": "It is weak.", **more}
    return PreviewItem(job, planned, text, **member)


def job_row(job_id: str, kind: JobType, state: JobState, at: int, **more: Any) -> JobRow:
    """One job."""
    is_over = state not in {JobState.QUEUED, JobState.RUNNING, JobState.POISON}
    member: dict[str, Any] = {
        "title": TITLES[kind][0],
        "actor": "scheduler",
        "created_at": at,
        "started_at": None if state is JobState.QUEUED else at,
        "finished_at": at + 12_000 if is_over else None,
        "progress": 0,
        "total": None,
        "attempts": 0,
        "not_before": None,
        "report": {},
        "code": "",
        "step_id": None,
        "can_undo": False,
        "undone": False,
        **more,
    }
    return JobRow(job_id, kind, state=state, **member)


def buried(memory_id: str, text: str, at: int, **more: Any) -> ArchivedMemory:
    """One archived memory."""
    member: dict[str, Any] = {"kind": "fact", "space": "home", "reason": "faded", "erased_at": None, "can_return": True}
    return ArchivedMemory(memory_id, text, archived_at=at, **{**member, **more})


def falling(begin: float, value: float, rate: float) -> Curve:
    """A curve from its beginning to a year from now that halves each `rate` days and is `value` now."""
    days = tuple(begin + step * (365.0 - begin) / 48 for step in range(49))
    return Curve(days, tuple(min(1.0, value * 0.5 ** (day / rate)) for day in days))


def gauges(now_ms: int, **more: Any) -> Gauges:
    """A memory that fades next spring."""
    member: dict[str, Any] = {
        "strength": 0.62,
        "strength_curve": falling(-120.0, 0.62, 160.0),
        "confidence": 0.48,
        "confidence_curve": falling(-120.0, 0.48, 140.0),
        "permanence": "standard",
        "fading_below": 0.2,
        "expired_below": 0.05,
        "archive_below": 0.05,
        "fades_at": now_ms + 177 * DAY_MS,
        "archived_at": now_ms + 456 * DAY_MS,
        "protected_by": (),
        "is_fading": False,
        "spared_until": None,
        **more,
    }
    return Gauges(**member)


def health(now_ms: int, **more: Any) -> Health:
    """A palace that is well."""
    member: dict[str, Any] = {
        "counts": {"episodes": 3214, "facts": 812, "rules": 12, "procedures": 4, "digests": 31, "edges": 1904,
                   "pending_embeddings": 0},
        "performance": {"avg_search_ms": 14.2, "p99_search_ms": 41.0, "write_queue": 0, "readers_idle": 4},
        "ram": {"index_mb": 61.0, "total_mb": 412.0, "budget_mb": 1024.0, "pressure": "normal", "index_kind": "graph"},
        "background": {"last_consolidation": now_ms - 9 * HOUR_MS, "last_sweep": None, "consolidation_backlog": 17,
                       "archive_candidates": 0},
        "degradation": {"search_strategy": "full", "model_server": None, "warnings": ()},
        "warnings": (),
        **more,
    }  # fmt: skip
    return Health(**member)


class FakeJobs:
    """The group.

    Attributes:
        now: epoch ms.
        items: deeds of the plan; rows: jobs; graves: what is archived; proposed: relations that wait.
        reports: that are foretold.
        asked: verbs with what they were given, in their order.
        after_run: how a job ends.
        holds: whether a run waits for `release`.
        fails: raised by every reading; None for nothing; refuses: by deciding about a relation.
        page: rows of the graveyard at once, at most.
    """

    def __init__(self, now: int) -> None:
        self.now = now
        self.items: list[PreviewItem] = []
        self.rows: list[JobRow] = []
        self.graves: list[ArchivedMemory] = []
        self.proposed: list[ProposedLink] = []
        self.reports: dict[JobType, dict[str, Any]] = {}
        self.refuses: BaseException | None = None
        self.asked: list[tuple[str, Any]] = []
        self.after_run = {"fade": 2}
        self.paused = self.holds = False
        self.fails: BaseException | None = None
        self.held = ""
        self.pressure = Pressure.NORMAL
        self.told = health(now)
        self.trends = Trends((), ())
        self.trend_reads = 0
        self.known: dict[str, Gauges] = {}
        self.page = 1000
        self.touched = 0
        self._waiting: list[tuple[Future[JobRow], JobRow]] = []

    def _answer(self, value: T) -> Future[T]:
        if self.fails is not None:
            made: Future[T] = Future()
            made.set_exception(self.fails)
            return made
        return finished(value)

    # ---- the scheduler

    def read_state(self, limit: int = 50) -> Future[Jobs]:
        """How it stands."""
        next_at = None if self.paused else self.now + 3 * HOUR_MS
        beats = tuple(
            ScheduledJob(kind, title, about, self.now - 20 * HOUR_MS if kind is JobType.SWEEP else None,
                 None if kind is JobType.ERASE else next_at, kind is not JobType.REPLAY)
            for kind, (title, about) in TITLES.items()
        )  # fmt: skip
        ended = [row for row in self.rows if row.finished_at is not None]
        waiting = [row for row in self.rows if row.finished_at is None]
        rows = (*waiting, *ended[:limit])
        return self._answer(Jobs(self.paused, self.held, self.pressure, rows, beats, len(ended)))

    def preview_runs(self, limit: int = 200) -> Future[Preview]:
        """The plan."""
        counts = Counter(item.planned.action.value for item in self.items)
        return self._answer(Preview(self.now, tuple(self.items[:limit]), dict(counts), {}, self.reports))

    def run(self, kind: JobType) -> Future[JobRow]:
        """Run one now."""
        self.asked.append(("run", kind))
        step = f"step-{kind.value}"
        row = job_row(f"job-{kind.value}", kind, JobState.DONE, self.now, report=self.after_run, step_id=step,
                      can_undo=True, actor="owner")  # fmt: skip
        if not self.holds:
            self.rows.insert(0, row)
            return finished(row)
        self.rows.insert(0, replace(row, state=JobState.RUNNING, finished_at=None, step_id=None, can_undo=False))
        made: Future[JobRow] = Future()
        self._waiting.append((made, row))
        return made

    def release(self) -> None:
        """Let what runs end."""
        for made, row in self._waiting:
            self.rows = [row if one.id == row.id else one for one in self.rows]
            made.set_result(row)
        self._waiting.clear()

    def cancel_job(self, job_id: str) -> Future[JobRow]:
        """Stop one."""
        return self._turn("cancel", job_id, JobState.CANCELLED)

    def retry_job(self, job_id: str) -> Future[JobRow]:
        """Try one again."""
        return self._turn("retry", job_id, JobState.QUEUED)

    def _turn(self, verb: str, job_id: str, state: JobState) -> Future[JobRow]:
        self.asked.append((verb, job_id))
        over = self.now if state is JobState.CANCELLED else None
        found = next(row for row in self.rows if row.id == job_id)
        turned = replace(found, state=state, finished_at=over, code="", attempts=0)
        self.rows = [turned if row.id == job_id else row for row in self.rows]
        self._waiting = [(made, replace(row, state=state, step_id=None, can_undo=False)) for made, row in self._waiting]
        return finished(turned)

    def set_paused(self, on: bool) -> Future[Jobs]:
        """Pause, or go on."""
        self.asked.append(("pause", on))
        self.paused = on
        return self.read_state()

    def note_activity(self) -> None:
        """A hand on the window."""
        self.touched += 1

    # ---- memories

    def keep_from_archive(self, ids: Sequence[str], days: int = 90) -> Future[str]:
        """Keep them for a while."""
        self.asked.append(("spare", (tuple(ids), days)))
        self.items = [item for item in self.items if item.planned.memory_id not in set(ids)]
        return finished("step-spare")

    def list_proposed_links(self, limit: int = 100) -> Future[tuple[ProposedLink, ...]]:
        """Relations that wait."""
        return self._answer(tuple(self.proposed[:limit]))

    def decide_link(self, from_id: str, to_id: str, *, accept: bool) -> Future[str]:
        """Draw one, or never propose it again."""
        self.asked.append(("accept" if accept else "decline", (from_id, to_id)))
        if self.refuses is not None:
            made: Future[str] = Future()
            made.set_exception(self.refuses)
            return made
        self.proposed = [one for one in self.proposed if (one.from_id, one.to_id) != (from_id, to_id)]
        return finished("step-link")

    def list_archived(self, after: str | None = None, limit: int = 100) -> Future[ArchivePage]:
        """A page of what is archived."""
        begin, most = int(after or 0), min(limit, self.page)
        rows = tuple(self.graves[begin : begin + most])
        end = begin + len(rows)
        return self._answer(ArchivePage(rows, len(self.graves), str(end) if end < len(self.graves) else None))

    def erase_preview(self, memory_ids: Sequence[str], *, whole_chain: bool = False) -> Future[ErasePreview]:
        """What would be lost; stands for the verb of the group `memories`."""
        assert not whole_chain
        return self._answer(ErasePreview((), len(memory_ids), ("a",), 2, 0, (BACKUP,)))

    def erase(self, request: ErasureRequest, actor: Actor) -> Future[ErasureCertificate]:
        """Erase for good; stands for the verb of the group `erasures`."""
        assert actor.is_owner
        assert not request.whole_chain
        self.asked.append(("erase", request.ids))
        self.graves = [one for one in self.graves if one.id not in set(request.ids)]
        copies = (CopyFinding(BACKUP, CopyState.HOLDS, 1),)
        count = len(request.ids)
        return finished(
            ErasureCertificate("certificate", self.now, request.subject, "", count, request.ids, (), copies=copies)
        )

    def read_gauges(self, memory_id: str) -> Future[Gauges]:
        """Of one memory."""
        return self._answer(self.known.get(memory_id, gauges(self.now)))

    def read_trends(self) -> Future[Trends]:
        """How it grew, and how long recall took."""
        self.trend_reads += 1
        return self._answer(self.trends)

    def read_health(self) -> Future[Health]:
        """How Loci is."""
        return self._answer(self.told)


class JournalRoom:
    """The Journal page over a fake scheduler and a real engine."""

    def __init__(self, context: Context, qtbot: QtBot) -> None:
        self.context, self.qtbot = context, qtbot
        self.jobs = FakeJobs(context.clock.now_ms())
        context.bridge.engine.jobs = self.jobs  # type: ignore[assignment]  # stands for the engine's group
        memories = context.bridge.engine.memories
        memories.erase_preview = self.jobs.erase_preview  # type: ignore[method-assign]  # backups of a test
        context.bridge.engine.erasures.erase = self.jobs.erase  # type: ignore[method-assign,assignment]  # likewise
        self.page = JournalPage(context)
        self.said: list[tuple[str, str, Any]] = []
        context.desk.message_asked.connect(lambda sentence, act, run, _: self.said.append((sentence, act, run)))
        context.bridge.changed.connect(self.page.handle_change)
        self.page.resize(900, 640)
        self.page.show()
        qtbot.waitExposed(self.page)
        self.page.activateWindow()

    def rest(self) -> None:
        """Wait until nothing is under way."""
        settle(self.qtbot, lambda: not self.context.tasks.running and self.page.is_settled())

    def enter(self, tab: str) -> JournalPage:
        """Show a tab and wait until it was read."""
        self.page.activate(tab)
        self.rest()
        return self.page

    def heads(self, lines: ListView) -> list[str]:
        """What stands in a list: headings, and heads of lines."""
        return [
            line.accessible_text() if isinstance(line, InertRow) else str(line.title)  # every list's row has a title
            for line in lines.lines.lines
        ]

    def dialog(self, kind: type[D]) -> D:
        """The dialog of a kind that is open now."""
        settle(self.qtbot, lambda: any(found.isVisible() for found in self.page.findChildren(kind)))
        return next(found for found in self.page.findChildren(kind) if found.isVisible())

    def words(self, widget: QWidget | None = None) -> str:
        """What can be read on the page, or on a part of it."""
        shown = self.page if widget is None else widget
        return " | ".join(found.text() for found in shown.findChildren(QLabel) if found.isVisible() and found.text())

    def put_away(self) -> None:
        """Let everything end, and delete the page."""
        self.jobs.release()
        self.page.deactivate()
        settle(self.qtbot, lambda: not self.context.tasks.running)
        self.page.close()
        self.page.deleteLater()


@contextmanager
def journal_over(context: Context, qtbot: QtBot) -> Iterator[JournalRoom]:
    """A room that is put away at the end."""
    made = JournalRoom(context, qtbot)
    try:
        yield made
    finally:
        made.put_away()


@contextmanager
def journal_over_engine(context: Context, qtbot: QtBot) -> Iterator[JournalPage]:
    """The page over the engine's own scheduler."""
    made = JournalPage(context)
    context.bridge.changed.connect(made.handle_change)
    made.resize(900, 640)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    try:
        yield made
    finally:
        made.deactivate()
        settle(qtbot, lambda: not context.tasks.running)
        made.close()
        made.deleteLater()
