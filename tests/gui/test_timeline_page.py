"""The timeline: how much was said when, what of it, what held then; and the line of a topic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from engine_rig import Rig, facts
from hypothesis import given
from hypothesis import strategies as st
from library_rig import put_away
from PySide6.QtCore import QModelIndex, QPoint, QRectF, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import remember, settle

from core.types.values import Kind, Precision, Role, Status, When
from core.types.views import Density, MemoryRow, Revision, Transition
from ui.context import Context
from ui.lists.row_spec import wrap_text
from ui.pages.timeline.evolution import describe_evolution_event, event_day, event_title
from ui.pages.timeline.labels import count_period_memories, describe_gap, period_name, range_name
from ui.pages.timeline.page import TimelinePage
from ui.pages.timeline.period_details import describe_details
from ui.pages.timeline.strip import do_columns_fit, grid_of, month_names
from ui.registry import PAGES
from ui.widgets.states import States

DAY_MS = 86_400_000
Key = Qt.Key


@pytest.fixture
def page(context: Context, qtbot: QtBot) -> Iterator[TimelinePage]:
    made = TimelinePage(context)
    context.bridge.changed.connect(made.handle_change)
    made.resize(960, 760)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    yield made
    put_away(qtbot, made)


def ms(moment: str) -> int:
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000)


def said(rig: Rig, text: str, day: str, **more: Any) -> str:
    return remember(rig.engine, text, occurred=When(ms(f"{day}T12:00")), **more).memory_id


def enter(page: TimelinePage, qtbot: QtBot, wish: str = "") -> None:
    page.activate(wish)
    settle(qtbot, page.is_settled)


def rest(page: TimelinePage, qtbot: QtBot) -> None:
    settle(qtbot, page.is_settled)


def press(
    page: TimelinePage, qtbot: QtBot, key: Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.keyClick(page.time.strip, key, held)
    rest(page, qtbot)


def listed(page: TimelinePage) -> list[str]:
    model = page.time.below.list.lines
    lines = []
    for place in range(model.rowCount()):
        row = model.row_at(place)
        lines.append(str(model.index(place, 0).data()) if row is None else row.head)
    return lines


def heads(page: TimelinePage) -> list[str]:
    model = page.time.below.list.lines
    return [row.head for row in map(model.row_at, range(model.rowCount())) if row is not None]


def instead(states: States) -> str:
    shown = states.currentWidget()
    return "" if shown is None else shown.accessibleName()


@pytest.fixture
def year(rig: Rig) -> Rig:
    """Memories of three months of 2023, before the rig's present in November."""
    said(rig, "The boat is called Heron.", "2023-03-06")
    said(rig, "The shed is green.", "2023-03-06", kind=Kind.RULE)
    said(rig, "Jo lent a ladder.", "2023-03-09")
    said(rig, "Quinces are ripe.", "2023-10-11")
    return rig


# ---- over time


def test_what_has_no_date_stands_on_no_day_and_is_counted_as_left_out(
    rig: Rig, page: TimelinePage, qtbot: QtBot
) -> None:
    rig.bring(facts(2))
    enter(page, qtbot)
    assert instead(page.time.states).startswith("No dates. 2 memories have no date of their own")
    said(rig, "The boat is called Heron.", "2023-03-06")
    settle(qtbot, lambda: page.is_settled() and bool(heads(page)))
    assert heads(page) == ["The boat is called Heron."]
    below = page.time.below
    assert below.sentence == (
        "What was said in this period, oldest first. Left out: 2 memories that have no date of their own."
    )
    below.use_axis("believed")
    assert "Left out" not in below.sentence


def test_the_page_stands_between_recall_and_the_journal() -> None:
    ids = [page.id for page in PAGES]
    assert ids.index("recall") + 1 == ids.index("timeline") < ids.index("journal")


def test_an_empty_vault_teaches(page: TimelinePage, qtbot: QtBot) -> None:
    enter(page, qtbot)
    assert "No memories yet" in instead(page.time.states)


def test_the_newest_month_is_chosen_at_first(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    assert page.time.grain == "day"  # the whole life fits
    assert sum(page.time.strip.density.totals) == 4
    assert page.time.below.title == "1 – 31 Oct 2023"
    assert listed(page) == ["Wednesday 11 October 2023", "Quinces are ripe."]
    assert "1 memory" in page.time.hint
    assert "1 memory" in page.time.strip.accessibleDescription()


def test_the_density_can_be_read_as_a_plot_that_chooses_too(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    page.time.use_grain("month")
    rest(page, qtbot)
    page.time.plot.chip.click()
    settle(qtbot, lambda: page.time.plot.canvas is not None)
    plot = page.time.plot
    assert page.time.strip.isHidden()
    assert plot.hasFocus()
    spec = plot.spec
    assert spec is not None
    assert spec.rows[0] == ("March 2023", "3")
    assert sum(spec.series[0].ys) == 4
    assert spec.sentence == "4 memories; the busiest is March 2023 with 3."
    starts = page.time.strip.density.starts
    assert spec.band is not None
    assert page.time.strip.chosen is not None
    assert spec.band[0] == starts[page.time.strip.chosen[0]]
    QTest.keyClick(plot, Key.Key_Home)
    assert plot.readout == "March 2023: 3 memories"
    QTest.keyClick(plot, Key.Key_Return)
    rest(page, qtbot)
    assert page.time.below.title == "March 2023"
    assert plot.spec is not None
    assert plot.spec.band == (float(starts[0]), float(starts[1]))
    assert plot.marked == 0
    QTest.keyClick(plot, Key.Key_T)
    assert plot.table is not None
    plot.table.selectRow(len(spec.rows) - 1)
    QTest.keyClick(plot.table, Key.Key_Return)
    rest(page, qtbot)
    assert page.time.strip.chosen == (len(spec.rows) - 1,) * 2
    assert plot.table is not None
    assert plot.table.hasFocus()
    page.time.plot.chip.click()
    assert not page.time.strip.isHidden()
    assert page.time.strip.hasFocus()


def test_escape_shows_all_of_the_plot_and_then_the_strip_again(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    page.time.use_grain("day")
    rest(page, qtbot)
    page.time.plot.chip.click()
    settle(qtbot, lambda: page.time.plot.canvas is not None)
    plot = page.time.plot
    assert plot.canvas is not None
    states = []
    for key in (Key.Key_Plus, Key.Key_Escape, Key.Key_Escape):
        QTest.keyClick(plot, key)
        states.append((plot.canvas.is_zoomed, plot.chip.isChecked()))
    assert states == [(True, True), (False, True), (False, False)]
    assert page.time.strip.hasFocus()


def test_keys_are_named_only_where_they_work(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    buttons = (page.time.farther, page.time.nearer, page.time.today, page.time.everything)
    assert [one.toolTip() for one in buttons] == [
        "Zoom out (−)", "Zoom in (+)", "Go to today (T)", "Show everything (Esc)"
    ]  # fmt: skip
    page.time.plot.chip.click()
    assert [one.toolTip() for one in buttons] == ["Zoom out", "Zoom in", "Go to today", "Show everything"]
    page.time.plot.chip.click()
    assert page.time.today.toolTip() == "Go to today (T)"


def test_days_stand_over_what_was_said_on_them(
    page: TimelinePage, year: Rig, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    enter(page, qtbot)
    page.time.choose_time(ms("2023-03-01"), ms("2023-04-01"))
    rest(page, qtbot)
    assert listed(page) == [
        "Monday 6 March 2023",
        "The boat is called Heron.",
        "The shed is green.",
        "Thursday 9 March 2023",
        "Jo lent a ladder.",
    ]
    model = page.time.below.list.lines
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    page.grab()


def test_arrows_move_the_period_and_shift_takes_more(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    page.time.use_grain("month")
    rest(page, qtbot)
    assert page.time.below.title == "October 2023"
    for _ in range(7):
        press(page, qtbot, Key.Key_Left)
    assert page.time.below.title == "March 2023"
    assert len(heads(page)) == 3
    press(page, qtbot, Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert page.time.below.title == "March 2023 – April 2023"
    press(page, qtbot, Key.Key_End)
    assert page.time.below.title == "November 2023"  # today is on the strip
    assert "Nothing in this period" in instead(page.time.below.states)
    press(page, qtbot, Key.Key_Home)
    assert page.time.below.title == "March 2023"
    press(page, qtbot, Key.Key_T)
    assert page.time.below.title == "November 2023"
    press(page, qtbot, Key.Key_Escape)
    assert page.time.below.title == "Everything"
    assert len(heads(page)) == 4


def test_in_the_squares_of_days_up_and_down_are_days(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    page.time.choose_time(ms("2023-03-08"), ms("2023-03-08T01:00"))
    rest(page, qtbot)
    press(page, qtbot, Key.Key_Down)
    assert page.time.below.title == "Thu 9 Mar 2023"
    assert heads(page) == ["Jo lent a ladder."]
    press(page, qtbot, Key.Key_Right)
    assert page.time.below.title == "Thu 16 Mar 2023"


def test_plus_and_minus_come_nearer_and_go_farther_and_stay_at_the_time(
    page: TimelinePage, year: Rig, qtbot: QtBot
) -> None:
    enter(page, qtbot)
    page.time.choose_time(ms("2023-03-09"), ms("2023-03-10"))
    rest(page, qtbot)
    seen = [page.time.below.title]
    for key in (Key.Key_Minus, Key.Key_Minus, Key.Key_Minus, Key.Key_Minus, Key.Key_Plus):
        press(page, qtbot, key)
        seen.append(page.time.below.title)
    assert seen == [
        "Thu 9 Mar 2023",
        "week of 6 Mar 2023",
        "March 2023",
        "2023",
        "2023",  # there is nothing farther
        "March 2023 – November 2023",  # all months of that year
    ]
    assert page.time.grain == "month"
    assert page.time.nearer.isEnabled()
    page.grab()


def test_a_drag_takes_all_it_passes(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    page.time.use_grain("month")
    rest(page, qtbot)
    strip = page.time.strip

    def middle(place: int) -> QPoint:
        return strip.grid.cell_rect(place).center().toPoint()

    QTest.mousePress(strip, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle(4))
    QTest.mouseMove(strip, middle(2))
    QTest.mouseMove(strip, middle(0))
    QTest.mouseRelease(strip, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle(0))
    rest(page, qtbot)
    assert page.time.below.title == "March 2023 – July 2023"
    assert len(heads(page)) == 3
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle(0))
    rest(page, qtbot)
    assert page.time.below.title == "March 2023"


def test_filters_narrow_what_is_counted_and_listed(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    press(page, qtbot, Key.Key_Escape)
    page.kinds._on_choice("rule")
    rest(page, qtbot)
    assert heads(page) == ["The shed is green."]
    assert sum(page.time.strip.density.totals) == 1
    page.kinds._on_choice("digest")
    rest(page, qtbot)
    assert "No matches" in instead(page.time.states)
    page.kinds._on_choice("")
    rest(page, qtbot)
    assert len(heads(page)) == 4
    assert "home" in page.spaces._choices


def test_what_is_over_is_counted_on_request(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    old = said(year, "The rent is 700.", "2023-10-12")
    year.engine.library.revise_memories([old], Revision(text="The rent is 800.")).result(30)
    enter(page, qtbot)
    assert heads(page) == ["Quinces are ripe.", "The rent is 800."]
    page.over.click()
    rest(page, qtbot)
    assert heads(page) == ["Quinces are ripe.", "The rent is 700.", "The rent is 800."]


def test_what_was_believed_and_what_was_true_at_the_end_of_a_period(
    page: TimelinePage, year: Rig, qtbot: QtBot
) -> None:
    enter(page, qtbot)
    below = page.time.below
    below.use_axis("believed")
    rest(page, qtbot)
    assert heads(page) == []  # the rig learned all of it in November
    assert "Nothing was known yet" in instead(below.states)
    assert "31 Oct 2023" in below.sentence
    below.use_axis("true")
    rest(page, qtbot)
    assert len(heads(page)) == 4
    page.time.choose_time(ms("2023-03-06"), ms("2023-03-07"))
    rest(page, qtbot)
    assert heads(page) == ["The boat is called Heron.", "The shed is green."]
    page.time.choose_named("today")
    below.use_axis("believed")
    rest(page, qtbot)
    assert len(heads(page)) == 4


def test_the_strip_ends_with_the_memories_and_today_is_a_key_away(page: TimelinePage, rig: Rig, qtbot: QtBot) -> None:
    said(rig, "The boat is called Heron.", "2020-05-04")
    enter(page, qtbot)
    today = rig.clock.now_ms()
    assert page.time.strip.density.starts[-1] < ms("2020-07-01")
    page.time.choose_named("today")
    rest(page, qtbot)
    starts, places = page.time.strip.density.starts, page.time.strip.places
    assert starts[places[0]] <= today < starts[places[-1] + 1]


def test_a_chosen_memory_is_what_the_inspector_shows(
    page: TimelinePage, year: Rig, context: Context, qtbot: QtBot
) -> None:
    enter(page, qtbot)
    press(page, qtbot, Key.Key_Escape)
    moments = page.time.below.list
    moments.setFocus()
    first = moments.lines.row_at(1)
    assert first is not None
    assert context.selection.current == first.id  # the keyboard's first line
    QTest.keyClick(moments, Key.Key_Down)
    second = moments.lines.row_at(2)
    assert second is not None
    assert context.selection.current == second.id
    other = moments.lines.row_at(6)
    assert other is not None
    context.selection.select(other.id, "library")
    assert moments.currentIndex().row() == 6


def test_later_pages_come_as_somebody_scrolls(page: TimelinePage, rig: Rig, qtbot: QtBot) -> None:
    rows = [
        {"text": f"Note {nr}", "time": f"2023-05-{1 + nr // 100:02d}T10:00:00Z", "ref": str(nr)} for nr in range(430)
    ]
    rig.bring(rows)
    enter(page, qtbot)
    model = page.time.below.list.lines
    assert page.time.below.feed.total == 430
    assert len(heads(page)) < 430
    while model.canFetchMore(QModelIndex()):
        model.fetchMore(QModelIndex())
        assert not model.canFetchMore(QModelIndex())  # one page at a time
        rest(page, qtbot)
    assert heads(page) == [f"Note {nr}" for nr in range(430)]
    assert sum(line.endswith("May 2023") for line in listed(page)) == 5


def test_what_changes_is_counted_again(page: TimelinePage, year: Rig, qtbot: QtBot) -> None:
    enter(page, qtbot)
    said(year, "Plums are ripe.", "2023-10-20")
    settle(qtbot, lambda: "Plums are ripe." in heads(page))
    page.deactivate()
    said(year, "Sloes are ripe.", "2023-10-21")
    settle(qtbot, lambda: page.is_stale)
    assert "Sloes are ripe." not in heads(page)
    enter(page, qtbot)
    assert heads(page)[-1] == "Sloes are ripe."


def test_hostile_text_is_shown_as_it_is(page: TimelinePage, rig: Rig, qtbot: QtBot) -> None:
    said(rig, "<b>bold</b> \u202eturned\u202c <img src=x>", "2023-05-01")
    enter(page, qtbot)
    model = page.time.below.list.lines
    told_line = str(model.index(1, 0).data())
    assert "<b>bold</b>" in told_line
    assert "\u202e" not in told_line
    page.grab()


def test_the_busiest_months_are_named_and_lead_there(page: TimelinePage, rig: Rig, qtbot: QtBot) -> None:
    for month, count in ((1, 1), (2, 3), (4, 2), (6, 1), (7, 1)):
        for nr in range(count):
            said(rig, f"Jar {month} {nr}", f"2023-{month:02d}-{nr + 10}")
    enter(page, qtbot)
    chips = [chip for chip in page.time._busiest.children() if chip.property("kind") == "chip"]
    assert [chip.text() for chip in chips][:2] == ["February 2023 · 3", "April 2023 · 2"]  # type: ignore[attr-defined]  # buttons
    chips[0].click()  # type: ignore[attr-defined]  # a button
    rest(page, qtbot)
    assert len(heads(page)) == 3


# ---- a topic


@pytest.fixture
def editors(rig: Rig) -> list[str]:
    ids = [
        said(rig, "uses vim", "2023-01-10"),
        said(rig, "uses vim daily", "2023-02-14"),
        said(rig, "switched to Helix", "2023-03-01"),
    ]
    space = rig.value("SELECT space_id FROM memories LIMIT 1")
    for one, other, kind in ((1, 0, "supports"), (2, 0, "contradicts")):
        tie(rig, {"id": kind, "from_id": ids[one], "to_id": ids[other], "type": kind, "space_id": space})
    return ids


def tie(rig: Rig, row: dict[str, Any]) -> None:
    rig.write(lambda tx: tx.insert("edges", {**row, "made_by": "owner", "recorded_at": 0}))


def test_a_topic_is_asked_for_and_its_line_told(
    page: TimelinePage, editors: list[str], context: Context, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    enter(page, qtbot, "topic")
    assert "How did a topic develop?" in instead(page.topic.states)
    assert page.topic.field.hasFocus()
    QTest.keyClicks(page.topic.field, "vim")
    QTest.keyClick(page.topic.field, Key.Key_Return)
    rest(page, qtbot)
    events = page.topic.list.lines.list_rows()
    assert [event.transition for event in events] == [
        Transition.START,
        Transition.REINFORCEMENT,
        Transition.CORRECTION,
    ]
    assert page.topic.summary == "3 memories · 1 confirmation · 1 correction"
    assert [event_title(event) for event in events] == ["First mention", "Confirmed", "Corrected"]
    assert describe_evolution_event(events[2]).startswith(
        "Corrected, 1 Mar 2023, 12:00, 2 weeks later: switched to Helix. instead of"
    )
    assert "uses vim" in describe_evolution_event(events[2])
    qtmodeltester.check(page.topic.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    page.topic.list.setCurrentIndex(page.topic.list.lines.index(2, 0))
    assert context.selection.current == editors[2]
    page.grab()


def test_a_wish_names_the_topic(page: TimelinePage, editors: list[str], qtbot: QtBot) -> None:
    assert len(editors) == 3
    enter(page, qtbot, "ask:vim")
    assert page.tab == "topic"
    assert page.topic.field.text() == "vim"
    assert len(page.topic.list.lines.list_rows()) == 3
    page.show_tab("time")
    rest(page, qtbot)
    assert page.context.prefs.read_text("timeline.tab") == "time"


def test_nothing_is_known_of_what_nobody_spoke_of(page: TimelinePage, editors: list[str], qtbot: QtBot) -> None:
    assert len(editors) == 3
    enter(page, qtbot, "ask:quinces")
    assert "Nothing found" in instead(page.topic.states)
    page.topic.field.clear()
    QTest.keyClick(page.topic.field, Key.Key_Return)
    assert "How did a topic develop?" in instead(page.topic.states)


def test_a_line_follows_what_changes(page: TimelinePage, rig: Rig, editors: list[str], qtbot: QtBot) -> None:
    enter(page, qtbot, "ask:vim")
    rig.forget(editors[1])
    settle(qtbot, lambda: len(page.topic.list.lines.list_rows()) == 2)


def test_old_words_and_their_end_are_told(page: TimelinePage, rig: Rig, qtbot: QtBot) -> None:
    old = said(rig, "uses vmi", "2023-01-10")
    rig.engine.library.revise_memories([old], Revision(text="uses vim")).result(30)
    rig.settle()
    enter(page, qtbot, "ask:vim")
    (event,) = page.topic.list.lines.list_rows()
    assert event_day(event) == "10 Jan 2023, 12:00"
    assert describe_evolution_event(event).endswith("before: uses vmi")
    page.grab()


def test_rooms_are_offered_as_topics(page: TimelinePage, rig: Rig, qtbot: QtBot) -> None:
    for nr in range(4):
        said(rig, f"quinces in jar {nr}", "2023-05-01")
    rig.engine.palace.place_waiting().result(30)
    enter(page, qtbot, "topic")
    settle(qtbot, lambda: bool(page.topic._offered) and not page.context.tasks.running)
    assert page.topic._offered


# ---- words and places


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0, "at the same time"),
        (60_000, "a minute later"),
        (5 * 3_600_000, "5 hours later"),
        (DAY_MS, "a day later"),
        (13 * DAY_MS, "13 days later"),
        (21 * DAY_MS, "3 weeks later"),
        (120 * DAY_MS, "4 months later"),
        (800 * DAY_MS, "2 years later"),
    ],
)
def test_gaps_are_told_in_words(gap: int, words: str) -> None:
    assert describe_gap(gap) == words


def test_periods_have_names() -> None:
    at = ms("2026-10-05T12:00")
    assert period_name("day", at) == "Mon 5 Oct 2026"
    assert period_name("week", at) == "week of 5 Oct 2026"
    assert range_name("day", at, at + DAY_MS, at + 2 * DAY_MS) == "5 – 7 Oct 2026"
    assert range_name("week", at, at + 28 * DAY_MS, at + 35 * DAY_MS) == "5 Oct – 9 Nov 2026"
    assert range_name("month", at, at + 400 * DAY_MS, at + 430 * DAY_MS) == "October 2026 – November 2027"
    assert range_name("day", at, at + 100 * DAY_MS, at + 101 * DAY_MS) == "5 Oct 2026 – 14 Jan 2027"


def test_counts_are_told_by_kind() -> None:
    density = Density("day", (0, 1, 2), (3, 0), {Kind.FACT: (1, 0), Kind.EPISODE: (2, 0)}, (0,), 0, 1, 3)
    assert count_period_memories(density, (0,)) == "3 memories: 1 fact, 2 episodes"
    assert count_period_memories(density, (1,)) == "nothing"


def test_a_long_text_ends_in_an_ellipsis(qtbot: QtBot) -> None:
    assert qtbot is not None
    lines = wrap_text("Quinces 🍐 and plums in jars, " * 40, QFont(), 200, 3)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert lines[0].startswith("Quinces 🍐")
    assert wrap_text("", QFont(), 200, 3) in ([], [""])


@given(
    count=st.integers(1, 900),
    lead=st.integers(0, 6),
    by_weeks=st.booleans(),
    width=st.integers(60, 2000),
    scroll=st.integers(-5, 2000),
)
def test_a_point_in_a_cell_is_its_period(count: int, lead: int, by_weeks: bool, width: int, scroll: int) -> None:
    area = QRectF(34, 18, width, 100)
    lead = lead if by_weeks else 0
    grid = grid_of(count, by_weeks=by_weeks, lead=lead, area=area, scale=1.0, scroll=scroll)
    assert 0 <= grid.scroll <= grid.most_scroll
    if do_columns_fit(grid.columns, width, by_weeks=by_weeks, scale=1.0):
        assert len(grid.visible_places()) == count
    for place in (grid.visible_places()[0], grid.visible_places()[-1]):
        middle = grid.cell_rect(place).center()
        assert grid.place_at(middle.x(), middle.y()) == place
        assert grid.scroll_offset_for(place) == grid.scroll
    for place in (0, count - 1):
        there = grid_of(count, by_weeks=by_weeks, lead=lead, area=area, scale=1.0, scroll=grid.scroll_offset_for(place))
        assert place in there.visible_places()
    assert 0 <= grid.place_at(-50, 9999) < count


@pytest.mark.parametrize(
    ("occurred", "want"),
    [
        (When(1_772_355_600_000, Precision.MINUTE, 0), "09:00 · You · home"),
        (When(1_772_323_200_000, Precision.DAY), "You · home"),  # its day stands above it
        (When(1_772_323_200_000, Precision.MONTH), "March 2026 · You · home"),
        (None, "You · home · recorded 24 Nov 2026"),
    ],
)
def test_a_memory_is_told_no_more_exactly_than_it_is_dated(occurred: When | None, want: str) -> None:
    members: dict[str, Any] = {field.name: None for field in fields(MemoryRow)}
    row = MemoryRow(
        **members
        | {"role": Role.USER, "space": "home", "occurred": occurred, "recorded_at": 1_795_516_200_000}
        | {"status": Status.ACTIVE}
    )
    assert describe_details(row) == want


def test_a_month_has_shorter_names_where_the_next_one_would_be_missing() -> None:
    january, june = datetime(2026, 1, 1), datetime(2025, 6, 1)  # noqa: DTZ001 - as they are shown
    assert month_names(june, 0, by_year=False, grain="day") == ("Jun 2025", "Jun ’25")
    assert month_names(june, 2025, by_year=False, grain="day") == ("Jun",)
    assert month_names(january, 2025, by_year=False, grain="day") == ("Jan 2026", "2026")
    assert month_names(june, 0, by_year=True, grain="month") == ("Jun 2025",)
    assert month_names(january, 0, by_year=True, grain="month") == ("2026",)
