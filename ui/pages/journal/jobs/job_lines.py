"""Runs, waiting work and the calendar as lines; and what is known of the local model that some of the work needs.

Must not do: run anything, or look for a server; the engine does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from PySide6.QtCore import QObject

from core.types.belief import ModelServerState
from core.types.lifecycle import JobRow, Jobs, JobState, JobType, ScheduledJob
from core.types.replies import OptionRow
from core.types.values import Pressure
from ui.bridge import Task, make_query
from ui.context import Context
from ui.lists.row_spec import Heading, insert_headings
from ui.pages.journal.jobs.labels import describe_code, describe_duration, describe_reading, job_report_line
from ui.pages.journal.labels import describe_author, format_near_moment
from ui.pages.journal.rows import JournalEntry, Line
from ui.strings import format_count, journal_strings
from ui.widgets.labels import capitalize_first, format_clock, format_day_heading

NEED_MODEL = frozenset({JobType.DISTILL})
"""Work that no rule can do in the place of a model."""
_NAME = "model_name"
_MET = frozenset({ModelServerState.READY, ModelServerState.FAILING})


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of it.

    Attributes:
        server: how its server is.
        name: the model that the person named; "" for one that fits.
    """

    server: ModelServerState = ModelServerState.ABSENT
    name: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether it answers."""
        return self.server is ModelServerState.READY

    @property
    def is_chosen(self) -> bool:
        """Whether work may wait for it: one was named, or a server is there; what is turned off is not."""
        return self.server in _MET or (bool(self.name) and self.server is not ModelServerState.OFF)


def make_model_query(
    context: Context, owner: QObject, label: str, key: str, then: Callable[[Model], None]
) -> Task[tuple[OptionRow, ...]]:
    """A reading of what is known of the model.

    Args:
        owner: the answer is dropped once it is gone.
        label: what the reading is called.
        key: a later task of the owner with the same key makes the answer void.
        then: is told.

    Returns:
        The task; its failure is the caller's.
    """
    engine, met = context.bridge.engine, list[ModelServerState]()

    def start_query() -> Future[tuple[OptionRow, ...]]:
        met.append(engine.refinement.read_state.server)
        return engine.settings.read_rows()

    def pass_model(rows: tuple[OptionRow, ...]) -> None:
        name = next((str(row.value) for row in rows if row.name == _NAME), "")
        then(Model(met[-1], name.strip()))

    return make_query(label, start_query).within(owner, key).success(pass_model)


UNDER_WAY = frozenset({JobState.RUNNING, JobState.QUEUED})
_ICONS = {
    JobState.RUNNING: ("loader-circle", "accent"),
    JobState.QUEUED: ("clock", "muted"),
    JobState.DONE: ("check", "muted"),
    JobState.FAILED: ("circle-alert", "warning"),
    JobState.CANCELLED: ("circle-x", "muted"),
    JobState.POISON: ("triangle-alert", "danger"),
}
_OWNER = "owner"
_CLIENT = "client:"
_LEFT = "dead"  # of a reading by a model: how many texts it gave up
_UNDONE = ("undo-2", "muted")


def job_lines(rows: Sequence[JobRow], now_ms: int) -> list[Line]:
    """Runs under the headings of their days; before them what runs or waits, and what needs the person.

    Args:
        rows: as the engine lists them.
    """
    lines: list[Line] = []
    poisoned = [row for row in rows if row.state is JobState.POISON]
    under_way = [row for row in rows if row.state in UNDER_WAY]
    for title, listed in (
        (journal_strings()["runs"]["needs_you"], poisoned),
        (journal_strings()["runs"]["now"], under_way),
    ):
        if listed:
            lines += [Heading(title.upper()), *(_job_entry(row, now_ms) for row in listed)]
    return [*lines, *_ended_job_lines([row for row in rows if row.state not in {*UNDER_WAY, JobState.POISON}], now_ms)]


def _ended_job_lines(rows: Sequence[JobRow], now_ms: int) -> list[JournalEntry | Heading]:
    return insert_headings(
        (_job_entry(row, now_ms) for row in rows),
        lambda entry: format_day_heading(_end_time_of(entry.value), now_ms).upper(),
    )


def _end_time_of(row: JobRow) -> int:
    return row.finished_at or row.started_at or row.created_at


def _job_entry(row: JobRow, now_ms: int) -> JournalEntry:
    icon, ink = _UNDONE if row.undone else _ICONS[row.state]
    is_running = row.state is JobState.RUNNING
    return JournalEntry(
        id=row.id,
        title=row.title,
        note=job_note(row, now_ms),
        icon=icon,
        ink=ink,
        aside="" if row.state in UNDER_WAY else format_clock(_end_time_of(row)),
        is_struck=row.undone,
        progress=_progress_share(row) if is_running else None,
        value=row,
    )


def _progress_share(row: JobRow) -> float:
    return -1.0 if not row.total else min(1.0, row.progress / row.total)


def job_note(row: JobRow, now_ms: int) -> str:
    """The second line of a run: how far it is, why it waits, what it did, or why it did not end well."""
    strings = journal_strings()["runs"]
    match row.state:
        case JobState.RUNNING:
            far = f"{row.progress:,}" if row.progress else ""
            if row.total:
                far = strings["progress"].format(done=f"{row.progress:,}", total=f"{row.total:,}")
            return " · ".join(part for part in (far, strings["by"].format(who=_name_actor(row))) if part)
        case JobState.QUEUED:
            return _explain_wait(row, now_ms)
        case JobState.POISON:
            return str(
                strings["poison"].format(
                    tries=format_count(strings["tries"], row.attempts), why=describe_code(row.code)
                )
            )
        case JobState.FAILED:
            return str(strings["failed"].format(why=describe_code(row.code)))
    parts = [strings["cancelled"]] if row.state is JobState.CANCELLED else []
    parts += [
        job_report_line(row),
        strings["by"].format(who=_name_actor(row)),
        *([strings["undone"]] if row.undone else []),
    ]
    return " · ".join(parts)


def _name_actor(row: JobRow) -> str:
    if row.actor.startswith(_CLIENT):
        return str(journal_strings()["runs"]["assistant"])
    who = describe_author(row.actor)
    return who.lower() if row.actor == _OWNER else who


def _explain_wait(row: JobRow, now_ms: int) -> str:
    strings = journal_strings()["runs"]
    if row.not_before is not None and row.not_before > now_ms:
        parts = [strings["not_before"].format(when=format_near_moment(row.not_before, now_ms))]
    else:
        parts = [row.waits_for.rstrip(".") or strings["waits"]]
    if row.attempts:
        parts.append(f"{format_count(strings['tries'], row.attempts)}: {describe_code(row.code)}")
    return " · ".join(parts)


def job_sentences(row: JobRow, now_ms: int) -> tuple[str, ...]:
    """What there is to say of one run, one sentence a line."""
    strings = journal_strings()["runs"]
    told = job_report_line(row) if row.state is JobState.DONE else job_note(row, now_ms)
    clauses = describe_reading(row.report) if row.state is JobState.DONE else ()
    first = " ".join(_make_sentence(clause) for clause in clauses or (told,))
    took = describe_duration(row.started_at, row.finished_at)
    whole = strings["whole"].format(seconds=took) if took else ""
    if row.state is not JobState.DONE or row.undone or row.can_undo:
        return tuple(part for part in (first, whole) if part)
    return tuple(part for part in (first, whole, strings["derived" if row.step_id is None else "step_gone"]) if part)


def _make_sentence(clause: str) -> str:
    return f"{capitalize_first(clause).rstrip('.')}." if clause else ""


def offered_job_actions(row: JobRow | None) -> frozenset[str]:
    """Acts that make sense for a run."""
    if row is None:
        return frozenset()
    acts = {"stop"} if row.state in UNDER_WAY else set()
    acts |= {"retry"} if _can_retry(row) else set()
    return frozenset(acts | ({"undo"} if row.can_undo and not row.undone else set()))


def _can_retry(row: JobRow) -> bool:
    """Whether a second try makes sense: it gave up, waits for a later time, or left texts that it could not read."""
    if row.state is JobState.QUEUED:
        return row.not_before is not None or row.attempts > 0
    return row.state is JobState.POISON or (row.type is JobType.DISTILL and bool(row.report.get(_LEFT)))


def is_waiting_for_choice(beat: ScheduledJob, model: Model, rows: Sequence[JobRow] = ()) -> bool:
    """Whether a kind of work has no time, because it needs a model and none was chosen.

    Args:
        beat: of the calendar.
        rows: jobs; one that waits or runs has its time.
    """
    is_wanted = any(row.type is beat.type and row.state in UNDER_WAY for row in rows)
    return beat.type in NEED_MODEL and not model.is_chosen and not is_wanted


def calendar_lines(jobs: Jobs, now_ms: int, model: Model) -> list[Line]:
    """The calendar, what is due first; last what waits for somebody to choose a model."""
    placed = [(is_waiting_for_choice(beat, model, jobs.rows), beat) for beat in jobs.calendar]
    placed.sort(key=lambda one: (one[0], one[1].next_at is None, one[1].next_at or 0))
    return [_calendar_line(beat, now_ms, waits=waits) for waits, beat in placed]


def _calendar_line(beat: ScheduledJob, now_ms: int, *, waits: bool) -> JournalEntry:
    strings = journal_strings()["runs"]
    last = (
        strings["never"]
        if beat.last_at is None
        else strings["last"].format(when=format_near_moment(beat.last_at, now_ms))
    )
    return JournalEntry(
        id=beat.type.value,
        title=beat.title,
        note=beat.about,
        beside=capitalize_first(f"{describe_next_run(beat, now_ms, waits=waits)} · {last}"),
        icon=journal_strings()["jobs"].get(beat.type.value, "clock"),
        value=beat,
    )


def describe_next_run(beat: ScheduledJob, now_ms: int, *, waits: bool) -> str:
    """When a kind of work is due: `next tomorrow at 03:00`.

    Args:
        beat: of the calendar.
        waits: as `waits_for_choice` says.
    """
    strings = journal_strings()["runs"]
    if waits:
        return str(strings["no_model"])
    if beat.next_at is None:
        return str(strings["no_time"])
    return str(
        strings["due"]
        if beat.next_at <= now_ms
        else strings["next"].format(when=format_near_moment(beat.next_at, now_ms))
    )


def describe_scheduler(jobs: Jobs, now_ms: int, model: Model) -> str:
    """The state of the scheduler, in a sentence or two.

    Args:
        model: what is known of the local model: what waits for one to be chosen is not what comes next.
    """
    strings = journal_strings()["runs"]
    running = next((row for row in jobs.rows if row.state is JobState.RUNNING), None)
    parts = []
    if jobs.paused:
        parts.append(strings["paused"])
    elif running is not None:
        parts.append(strings["running"].format(title=running.title))
    else:
        dated = [beat for beat in jobs.calendar if beat.next_at is not None]
        known = [beat for beat in dated if not is_waiting_for_choice(beat, model, jobs.rows)]
        # What is long due and does not run waits for something that nobody can date, such as the model server.
        due = [beat for beat in known if (beat.next_at or 0) > now_ms] or known
        first = min(due, key=lambda beat: beat.next_at or 0, default=None)
        parts.append(strings["idle"] if first is None else _describe_idle(first, now_ms))
    if jobs.holds and not jobs.paused:
        parts.append(jobs.holds)
    parts.append(strings["pressure"][Pressure(jobs.pressure).value])
    return " ".join(part for part in parts if part)


def _describe_idle(beat: ScheduledJob, now_ms: int) -> str:
    strings, at = journal_strings()["runs"], beat.next_at or now_ms
    when = strings["due"] if at <= now_ms else format_near_moment(at, now_ms)
    return str(strings["idle_next"].format(title=beat.title, when=when))
