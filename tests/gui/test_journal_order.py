"""What runs foretell beside what they did, what of the work rests and comes back, and the help with its picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from importlib.resources import files

import pytest
from answered import finished
from engine_rig import Rig
from jobs_rig import DAY_MS, HOUR_MS, JournalRoom, deed, job_row, journal_over
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot
from window_rig import application, settle

from core.types.belief import ModelServerState
from core.types.lifecycle import (
    Consolidated,
    JobAction,
    JobRow,
    Jobs,
    JobState,
    JobType,
    LatencyPeriod,
    ScheduledJob,
    Trends,
)
from core.types.values import Pressure
from ui.context import Context
from ui.pages.journal.jobs.job_lines import Model, job_note, job_sentences, offered_job_actions
from ui.pages.journal.jobs.labels import describe_report
from ui.pages.journal.jobs.next_run import pick_figures
from ui.pages.journal.lifecycle.health import find_pauses
from ui.pages.journal.lifecycle.help import (
    _INKS,
    CURVES,
    DAYS,
    LifeCurves,
    describe_life,
    life_of,
    make_life_spec,
    read_life_curves,
)
from ui.pages.journal.page import JournalPage
from ui.plots.view import PlotView
from ui.strings import journal_strings, order_strings

HOLDS: dict[str, str] = json.loads((files("resources") / "lifecycle" / "holds.json").read_text(encoding="utf-8"))


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[JournalRoom]:
    with journal_over(context, qtbot) as made:
        yield made


# ---- figures


def told(united: int, resolved: int = 0) -> dict[str, object]:
    after = {"active": 9 - united}
    return Consolidated(deduplicated=united, resolved=resolved, before={"active": 9}, after=after).to_json()


def cells(room: JournalRoom) -> dict[str, str]:
    """Name and column of each figure to its words."""
    found = room.page.tabs.next.comparison.findChildren(QLabel, "figure")
    return dict(made.accessibleName().rsplit(": ", 1) for made in found)


def test_every_name_is_one_of_the_report() -> None:
    names = journal_strings()["figures"]["names"]
    assert set(names) == {"sweep", "consolidate"}
    full = told(1)
    assert set(pick_figures(full, names["consolidate"])) == set(names["consolidate"])
    assert pick_figures(told(4), ["deduplicated", "after.active"]) == {"deduplicated": 4, "after.active": 5}
    assert pick_figures({"faded": 2}, ["faded", "expired"]) == {"faded": 2, "expired": 0}
    assert list(describe_report({"remaining": 3})) == ["3 notes stay"]


def test_what_was_foretold_stands_beside_what_was_done(room: JournalRoom, rig: Rig) -> None:
    memory_id = rig.store("The weir closes at dusk.").memory_id
    room.jobs.items = [
        deed(JobAction.MERGE, memory_id, "The weir closes at dusk.", others=("x",), other_texts=("It shuts.",))
    ]
    room.jobs.reports = {JobType.CONSOLIDATE: told(1), JobType.SWEEP: {}}
    room.jobs.after_run = told(1, resolved=2)  # type: ignore[assignment]  # a report has names within names
    tab = room.enter("next").tabs.next
    tab.show_view("figures")
    assert cells(room)["Merged with those that say the same, Next run would"] == "1"
    assert cells(room)["Merged with those that say the same, No run yet"] == "–"
    assert cells(room)["Marked as fading, Next run would"] == "0"
    tab.run_now()
    settle(room.qtbot, lambda: bool(room.said))
    room.jobs.items, room.jobs.reports = [], {JobType.CONSOLIDATE: told(0), JobType.SWEEP: {}}
    tab.reload()
    room.rest()
    shown = [" ".join(column.title.split()) for column in tab.comparison.shown[1].columns]
    assert shown[:2] == ["Next run would", "Last run was to"]
    assert shown[2].startswith("Last run, today at")
    figures: dict[str, list[str]] = {name.split(", ")[0]: [] for name in cells(room)}
    for name, value in cells(room).items():
        figures[name.split(", ")[0]].append(value)
    assert figures["Merged with those that say the same"] == ["0", "1", "1"]
    assert figures["Disagreements settled"] == ["0", "0", "2"]
    settle(room.qtbot, lambda: "≠ 2" in room.words(tab))
    assert "≠ 1" not in room.words(tab)


def test_figures_can_be_read_where_nothing_would_change(room: JournalRoom) -> None:
    tab = room.enter("next").tabs.next
    assert tab.views.isVisible()
    tab.show_view("figures")
    assert tab.comparison.isVisible()
    assert tab.comparison.area.hasFocus()


# ---- what rests


def queued(room: JournalRoom, key: str, **more: object) -> JobRow:
    row = job_row("q", JobType.CONSOLIDATE, JobState.QUEUED, room.jobs.now, waits_for=HOLDS[key])
    return job_row("q", row.type, row.state, room.jobs.now, waits_for=HOLDS[key], **more)


@pytest.mark.parametrize("key", ["memory_short", "on_battery"])
def test_what_holds_heavy_work_is_told_once_with_its_way_back(room: JournalRoom, key: str) -> None:
    room.jobs.held, room.jobs.rows = HOLDS[key], [queued(room, key)]
    tab = room.enter("health").tabs.health
    [rest] = tab.work.rests
    assert rest.key == key
    assert "resume" in rest.back
    assert rest.says in room.words(tab)
    assert rest.back in room.words(tab)
    went: list[tuple[str, str]] = []
    room.context.desk.go.connect(lambda page, wish: went.append((page, wish)))
    next(made for made in tab.work.findChildren(QPushButton) if made.text() == rest.act).click()
    assert went == [("settings", rest.act)]


def test_work_without_a_model_waits_for_it(room: JournalRoom) -> None:
    room.jobs.rows = [queued(room, "no_model")]
    room.enter("health")
    [rest] = room.page.tabs.health.work.rests
    assert rest.says == "Consolidate waits for the local model."
    assert rest.back == "It starts as soon as the model server answers."


def test_what_gave_up_comes_first_with_its_code(room: JournalRoom) -> None:
    now = room.jobs.now
    room.jobs.rows = [
        queued(room, "later", not_before=now + HOUR_MS, attempts=1, code="E1003"),
        job_row("p", JobType.SWEEP, JobState.POISON, now, attempts=5, code="E5007"),
    ]
    room.enter("health")
    first, second = room.page.tabs.health.work.rests
    assert first.says == "Look for fading memories failed 5 times and gave up: an error inside Loci (E5007)."
    assert second.back.startswith("It runs by itself ")
    assert second.back.endswith(".")


def test_paused_work_says_so_alone(room: JournalRoom) -> None:
    room.jobs.paused = True
    tab = room.enter("health").tabs.health
    assert [rest.key for rest in tab.work.rests] == ["paused"]
    assert not tab.work.stand.isVisible()
    room.jobs.paused = False
    tab.reload()
    room.rest()
    assert tab.work.rests == ()
    assert tab.work.stand.isVisible()


def test_a_hold_without_words_of_its_own_is_told_as_it_is(room: JournalRoom) -> None:
    room.jobs.held = "The moon is full."
    jobs = room.jobs.read_state().result()
    [rest] = find_pauses(jobs, Model(ModelServerState.READY), room.jobs.now)
    assert (rest.says, rest.act) == ("The moon is full.", "")


def reading(room: JournalRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calendar has work that needs a model, long due."""
    known = room.jobs.read_state

    def state(limit: int = 50) -> Future[Jobs]:
        jobs = known(limit).result()
        about, due = "A model reads them.", room.jobs.now - HOUR_MS
        beat = ScheduledJob(JobType.DISTILL, "Extract facts from episodes", about, None, due, is_heavy=True)
        return finished(replace(jobs, calendar=(beat, *jobs.calendar)))

    monkeypatch.setattr(room.jobs, "read_state", state)


def test_nobody_is_told_of_a_model_that_was_never_chosen(room: JournalRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    reading(room, monkeypatch)
    health = room.enter("health").tabs.health
    assert health.work.rests == ()
    assert "Extract facts from episodes" not in health.work.stand.text()
    runs = room.enter("runs").tabs.runs
    assert "Next: Look for fading memories, " in runs.status.text()
    runs.show_view("calendar")
    last = runs.calendar.lines.row_at(runs.calendar.lines.rowCount() - 1)
    assert last is not None
    assert (last.title, last.beside) == ("Extract facts from episodes", "When a local model is set up · never ran")
    runs.calendar.select_rows("distill")
    assert runs.panel.sentences[0] == "A model reads them. When a local model is set up."


def test_a_model_that_was_chosen_and_is_away_is_told(
    room: JournalRoom, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading(room, monkeypatch)
    rig.engine.settings.set_option("model_name", "small:3b").result(30)
    [rest] = room.enter("health").tabs.health.work.rests
    assert rest.says == "Extract facts from episodes waits for the local model."
    assert "stop the job" not in rest.do  # there is none
    runs = room.enter("runs").tabs.runs
    first = runs.calendar.lines.row_at(0)
    assert first is not None
    assert (first.title, first.beside) == ("Extract facts from episodes", "Due now · never ran")


def test_a_reading_that_is_queued_has_its_time(room: JournalRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    reading(room, monkeypatch)
    title = {"title": "Extract facts from episodes"}
    room.jobs.rows = [replace(queued(room, "no_model", **title), type=JobType.DISTILL)]
    health = room.enter("health").tabs.health
    assert [rest.says for rest in health.work.rests] == ["Extract facts from episodes waits for the local model."]
    first = room.enter("runs").tabs.runs.calendar.lines.row_at(0)
    assert first is not None
    assert first.beside.startswith("Due now")


@pytest.mark.parametrize(
    ("model", "is_chosen"),
    [
        (Model(), False),
        (Model(ModelServerState.ABSENT, "small:3b"), True),
        (Model(ModelServerState.OFF, "small:3b"), False),
        (Model(ModelServerState.FAILING), True),
        (Model(ModelServerState.READY), True),
    ],
)
def test_work_waits_only_for_a_model_somebody_chose(model: Model, is_chosen: bool) -> None:
    assert model.is_chosen is is_chosen


def test_every_hold_but_a_turn_has_words() -> None:
    assert set(HOLDS) - {"turn"} <= set(journal_strings()["health"]["rests"])
    assert Pressure.CRITICAL.value in journal_strings()["runs"]["pressure"]


# ---- how it grew, and how long recall took


def test_growth_and_recall_time_are_plotted_and_told(room: JournalRoom) -> None:
    now = room.jobs.now
    room.jobs.trends = Trends(
        ((now - 40 * DAY_MS, 120), (now - DAY_MS, 1_504), (now, 1_504)),
        (LatencyPeriod(now - 2 * DAY_MS, 40, 8.25, 31.0), LatencyPeriod(now - DAY_MS, 60, 9.04, 44.4)),
    )
    found = room.enter("health").tabs.health.trends
    settle(room.qtbot, lambda: found.growth.canvas is not None and found.latency.canvas is not None)
    assert found.growth.accessibleDescription().startswith("1,504 memories, the first from ")
    assert found.latency.accessibleDescription() == "Usually 9 ms, rarely above 44 ms."
    assert found.latency.readout == "Usually 9 ms, rarely above 44 ms."
    grown, took = found.growth.spec, found.latency.spec
    assert grown is not None
    assert took is not None
    assert [row[1] for row in grown.rows] == ["120", "1,504", "1,504"]
    assert took.columns[1:] == ("95 of 100 within", "half within")
    assert [row[1:] for row in took.rows] == [("31 ms", "8.25 ms"), ("44.4 ms", "9.04 ms")]
    assert {one.stroke for one in took.series} == {"dash", "solid"}


def test_where_nothing_was_stored_or_recalled_the_plots_say_so(room: JournalRoom) -> None:
    found = room.enter("health").tabs.health.trends
    settle(room.qtbot, found.isVisible)
    assert found.growth.accessibleDescription() == "Nothing is stored yet."
    assert found.latency.accessibleDescription() == "No assistant has recalled anything lately."
    assert found.growth.canvas is None


def test_trends_are_read_when_it_is_shown_and_then_seldom(room: JournalRoom) -> None:
    health = room.enter("health").tabs.health
    assert room.jobs.trend_reads == 1
    for _ in range(3):
        health.reload()
        room.rest()
    assert room.jobs.trend_reads == 1
    health._on_trends_due()  # a minute later
    room.rest()
    assert room.jobs.trend_reads == 2
    room.enter("runs")
    health._on_trends_due()
    room.rest()
    assert room.jobs.trend_reads == 2
    room.enter("health")
    assert room.jobs.trend_reads == 3


# ---- what can be tried again


def test_a_second_try_is_offered_where_it_makes_sense() -> None:
    gave_up = job_row("p", JobType.SWEEP, JobState.POISON, 0, attempts=5, code="E5007")
    later = job_row("q", JobType.SWEEP, JobState.QUEUED, 0, not_before=HOUR_MS, attempts=2, code="E1003")
    turn = job_row("t", JobType.SWEEP, JobState.QUEUED, 0)
    assert "retry" in offered_job_actions(gave_up)
    assert offered_job_actions(later) == {"stop", "retry"}
    assert offered_job_actions(turn) == {"stop"}
    read = {"title": "Extract facts from episodes", "report": {"failed": 3, "dead": 3}}
    left = job_row("d", JobType.SWEEP, JobState.DONE, 0, **read)
    assert offered_job_actions(left) == frozenset()
    assert job_note(later, 0).startswith("Retried today at ")
    assert job_note(later, 0).endswith(" · failed 2 times: the disk is full (E1003)")
    assert job_sentences(gave_up, 0)[0].endswith("an error inside Loci (E5007).")


# ---- the help


def lived(days: int = 5 * DAYS) -> list[dict[str, int]]:
    return [
        {"day": day, "stored": day * 30, "active": 2_000 + day, "archived": day * 10} for day in range(91, days + 1, 91)
    ]


def test_the_kept_figures_can_be_told() -> None:
    known = read_life_curves()
    assert list(known.days) == sorted(known.days)
    assert known.last["stored"] >= known.last["active"] + known.last["archived"]
    assert f"{known.last['active']:,}" in describe_life(known, order_strings())


def test_a_life_is_told_year_by_year() -> None:
    sentence = describe_life(life_of(lived()), order_strings())
    assert sentence.startswith("After 5 years, 54,600 memories were stored; 3,820 of them are active")
    assert sentence.count("Year ") == 5
    assert life_of(lived(182)).span == "182 days"
    assert life_of(lived(364)).span == "1 year"
    assert "Year 1: 10,920 stored, 2,364 active, 3,640 archived." in sentence


def shown_life(qtbot: QtBot, context: Context, known: LifeCurves) -> PlotView:
    view = PlotView(context, 200)
    qtbot.addWidget(view)
    view.show_plot(make_life_spec(known, order_strings()))
    view.show()
    settle(qtbot, lambda: view.canvas is not None)
    view.resize(600, view.sizeHint().height())
    application().processEvents()
    return view


def test_the_curves_lie_where_their_numbers_say(context: Context, qtbot: QtBot) -> None:
    known = life_of(lived())
    view = shown_life(qtbot, context, known)
    assert view.spec is not None
    assert view.spec.columns == ("Year", "stored", "archived", "active")
    assert view.spec.rows[-1] == (f"{known.days[-1] / DAYS:.3g}", "54,600", "18,200", "3,820")
    assert view.canvas is not None
    foot, top = (view.canvas.point_of(0, y).y() for y in view.spec.y_range)
    assert view.canvas.point_of(0, 0).y() == pytest.approx(foot, abs=1)
    heights = [view.canvas.point_of(5, known.last[name]).y() for name in CURVES]
    assert heights == sorted(heights)  # stored is the highest, active the lowest
    assert top < heights[0]
    light = view.grab().toImage()
    context.theme.apply_theme("dark", 100)
    assert view.grab().toImage() != light
    context.theme.apply_theme("light", 100)


def test_the_curves_differ_in_their_strokes() -> None:
    spec = make_life_spec(life_of(lived()), order_strings())
    assert {one.name: (one.stroke, one.is_filled) for one in spec.series} == {
        "stored": ("dash", False),
        "archived": ("dot", False),
        "active": ("solid", True),
    }


def inks(view: PlotView, colour: QColor) -> int:
    """How many points of a picture of its drawing have a colour."""
    assert view.canvas is not None
    picture = view.canvas.grab().toImage()
    places = ((x, y) for x in range(picture.width()) for y in range(picture.height()))
    return sum(picture.pixelColor(x, y).rgb() == colour.rgb() for x, y in places)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_curve_lies_under_a_filling(context: Context, qtbot: QtBot, look: str) -> None:
    context.theme.apply_theme(look, 100)
    low = [{"day": day, "stored": day * 30, "active": day * 20, "archived": day} for day in range(91, 3 * DAYS, 91)]
    view = shown_life(qtbot, context, life_of(low))
    shown = {name: inks(view, context.theme.colour(_INKS[name])) for name in CURVES if name != "stored"}
    context.theme.apply_theme("light", 100)
    assert min(shown.values()) > 40


def is_open(page: JournalPage) -> bool:
    return page.help.isVisible()


def test_the_help_opens_by_button_key_and_wish_and_gives_the_keyboard_back(room: JournalRoom) -> None:
    page = room.enter("health")
    assert page.help.area is None  # nothing of it is made before
    page.help_button.click()
    assert is_open(page)
    plot, area = page.help.findChildren(PlotView)[0], page.help.findChildren(QScrollArea)[0]
    assert plot.accessibleName() == "An ordinary life of 5 years"
    assert plot.accessibleDescription() == describe_life(read_life_curves(), order_strings())
    assert "Two gauges" in room.words(page.help)
    before = page.tabs.health.area
    QTest.keyClick(area, Qt.Key.Key_Escape)
    assert not is_open(page)
    assert before.hasFocus()
    QTest.keyClick(before, Qt.Key.Key_Question)
    assert is_open(page)
    page.resize(600, 500)
    settle(room.qtbot, lambda: page.help.width() == page.width() - 32)
    page.deactivate()
    assert not is_open(page)
    room.enter("ask:help")
    assert is_open(page)


def test_where_it_is_low_the_tabs_stand_in_one_menu(room: JournalRoom) -> None:
    room.jobs.held = HOLDS["on_battery"]
    page = room.enter("health")
    assert page.segments.isVisible()
    page.resize(420, 440)
    settle(room.qtbot, page.menu.isVisible)
    assert not page.segments.isVisible()
    assert page.menu.text() == "Show: Health"
    assert page.tabs.health.work._rows[0].direction() is QBoxLayout.Direction.TopToBottom
    next(action for action in page.menu.menu().actions() if action.text().startswith("Archive")).trigger()
    room.rest()
    assert (page.tab, page.segments.current) == ("archive", "archive")
    page.resize(900, 640)
    settle(room.qtbot, page.segments.isVisible)
