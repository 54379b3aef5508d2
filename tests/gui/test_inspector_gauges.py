"""The inspector's gauges: strength and confidence with the engine's numbers, curves, lines and dates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import HandClock, Rig
from hypothesis import given
from hypothesis import strategies as st
from inspector_rig import look, shown_inspector, words_of
from jobs_rig import DAY_MS, FakeJobs, falling, gauges
from pytestqt.qtbot import QtBot
from window_rig import application, settle

from core.errors import Code, EnvironmentFaultError
from core.score.decay import decay_rate, effective_confidence
from core.types.lifecycle import Curve
from core.types.values import OWNER_ACTOR, Status
from core.types.views import Revision
from ui.context import Context
from ui.inspector.gauges import (
    GaugesSection,
    clip_curve,
    gauge_sentences,
    gauge_value_at,
    make_gauge_spec,
)
from ui.inspector.panel import Inspector
from ui.plots.specification import ReferenceLine
from ui.plots.view import PlotView
from ui.widgets.labels import date_of, format_days

MAY_2027 = 1_810_000_000_000


@pytest.fixture
def jobs(context: Context) -> FakeJobs:
    made = FakeJobs(context.clock.now_ms())
    context.bridge.engine.jobs = made  # type: ignore[assignment]  # stands for the engine's group
    return made


@pytest.fixture
def inspector(qtbot: QtBot, context: Context, jobs: FakeJobs) -> Iterator[Inspector]:
    assert jobs is not None
    with shown_inspector(qtbot, context) as made:
        yield made


def part_of(inspector: Inspector) -> GaugesSection:
    part = inspector.find_section("gauges")
    assert isinstance(part, GaugesSection)
    return part


def test_the_numbers_are_the_engines(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector, jobs: FakeJobs
) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    soon = jobs.now + 9 * DAY_MS
    jobs.known[memory_id] = gauges(jobs.now, strength=0.734, confidence=0.281, archived_at=soon)
    look(qtbot, inspector, context, memory_id)
    part = part_of(inspector)
    settle(qtbot, part.strength.isVisible)
    assert "Strength | 0.73" in words_of(part)
    assert "Confidence | 0.28" in words_of(part)
    assert part.strength.plot.accessibleName() == "Strength"
    assert part.strength.plot.accessibleDescription() == (
        "Strength is 0.73 now and would be 0.13 a year from now if nobody used it. archive 0.05."
    )
    assert part.strength.plot.readout == "0.13 in a year if nobody uses it, but not deleted"
    assert part.confidence.plot.accessibleDescription().endswith("fading 0.20; expired 0.05.")


def test_another_memory_shows_nothing_of_the_one_before(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector, jobs: FakeJobs
) -> None:
    first, second = (rig.store(text).memory_id for text in ("Quill closes the weir.", "The shed is green."))
    look(qtbot, inspector, context, first)
    part = part_of(inspector)
    settle(qtbot, part.strength.isVisible)
    jobs.fails = EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")
    look(qtbot, inspector, context, second)
    settle(qtbot, lambda: part.sentences.text() == "How it lasts could not be read.")
    assert not part.strength.isVisible()


def test_what_is_out_of_the_way_has_no_gauges(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    rig.engine.library.revise_memories([memory_id], Revision(status=Status.ARCHIVED)).result(30)
    look(qtbot, inspector, context, memory_id)
    assert not part_of(inspector).isVisible()


def test_sentences_say_what_becomes_of_it() -> None:
    now = MAY_2027 - 177 * DAY_MS
    protected = gauges(now, fades_at=None, protected_by=("own_word", "pinned"), permanence="permanent")
    assert gauge_sentences(protected, now) == (
        "Its confidence does not fall over time.",
        "Never archived automatically: you said so yourself, or confirmed it; you pinned it.",
    )
    fading = gauges(now, is_fading=True, fades_at=None, archived_at=now, spared_until=now, permanence="odd")
    told = gauge_sentences(fading, now)
    assert told[0] == "Its confidence falls slowly, over months."
    assert told[1] == "It is low now, so the memory is marked as fading until somebody confirms it."
    assert told[2].startswith("The next run moves it to the archive, unless ")
    assert told[3].startswith("You keep it until ")
    assert len(told) == 4


def test_what_is_months_away_is_not_announced() -> None:
    now = MAY_2027 - 177 * DAY_MS
    fresh = gauges(now, archived_at=now + 117 * DAY_MS)
    assert gauge_sentences(fresh, now) == ("Its confidence falls slowly, over months.",)
    soon = now + 100 * DAY_MS
    told = gauge_sentences(gauges(now, fades_at=soon + 9 * DAY_MS, archived_at=soon + 17 * DAY_MS), soon)
    assert told[1] == f"From {date_of(soon + 9 * DAY_MS)} on it is marked as fading, unless somebody confirms it."
    assert told[2].startswith(f"On {date_of(soon + 17 * DAY_MS)} it moves to the archive, unless somebody uses, ")


@pytest.mark.parametrize(("days", "told"), [(1, "1 day"), (40, "40 days"), (120, "4 months"), (1100, "3 years")])
def test_lengths_of_time(days: float, told: str) -> None:
    assert format_days(days) == told


NOW = 1_795_000_000_000


def test_a_curve_that_is_read_a_minute_later_stays_zoomed_and_marked(qtbot: QtBot, context: Context) -> None:
    view = PlotView(context, 120)
    qtbot.addWidget(view)
    curve = falling(-120.0, 0.6, 160.0)
    view.show_plot(make_gauge_spec("strength", curve, 0.6, (), NOW))
    view.show()
    settle(qtbot, lambda: view.canvas is not None)
    view.setFocus()
    view.mark_place(1)
    assert view.canvas is not None
    whole = view.canvas.x_in_sight
    view.canvas.zoom_by(1.5)
    zoomed = view.canvas.x_in_sight
    assert zoomed[1] - zoomed[0] < whole[1] - whole[0]
    view.show_plot(make_gauge_spec("strength", curve, 0.59, (), NOW + 60_000))
    assert view.marked == 1
    assert view.canvas.x_in_sight == pytest.approx(zoomed, abs=120_000)


def test_the_curve_is_drawn_with_its_lines_and_the_present(qtbot: QtBot, context: Context) -> None:
    view = PlotView(context, 120)
    qtbot.addWidget(view)
    lines = (ReferenceLine(0.2, "fading 0.20"), ReferenceLine(0.05, "expired 0.05"))
    view.show_plot(make_gauge_spec("strength", falling(-120.0, 0.6, 160.0), 0.6, lines, NOW))
    view.show()
    settle(qtbot, lambda: view.canvas is not None)
    view.resize(300, view.sizeHint().height())
    application().processEvents()
    assert view.canvas is not None
    drawn = view.canvas.grab().toImage()
    assert view.spec is not None
    now = view.canvas.point_of(NOW, 0.6)
    left, right = (round(view.canvas.point_of(x, 0.0).x()) for x in view.spec.x_range)
    assert left < now.x() < right
    assert drawn.pixelColor(now.toPoint()) == context.theme.colour("accent")
    line = view.canvas.point_of(NOW, 0.2).toPoint().y()
    row = {drawn.pixelColor(x, y).name() for x in range(left, right) for y in (line - 1, line)}
    assert len(row) > 2  # dots of the line beside curve and ground


def test_what_was_and_what_will_be_are_told_apart() -> None:
    spec = make_gauge_spec("confidence", falling(-120.0, 0.6, 160.0), 0.6, (ReferenceLine(0.2, "fading 0.20"),), NOW)
    past, ahead = spec.series
    assert (past.name, past.stroke, past.is_filled) == ("so far", "solid", True)
    assert (ahead.name, ahead.stroke, ahead.is_filled) == ("forecast", "dash", False)
    assert past.xs[-1] == ahead.xs[0] == NOW
    assert past.xs[0] == NOW - 120 * DAY_MS
    assert ahead.xs[-1] == NOW + 365 * DAY_MS
    assert [(line.name, line.across) for line in spec.lines] == [("fading 0.20", "y"), ("now", "x")]
    assert spec.y_range[0] == 0.0
    assert spec.rows[-1][1:] == ("", "0.12")


def test_a_young_memory_has_a_plot_too() -> None:
    spec = make_gauge_spec("strength", Curve((0.0, 365.0), (1.0, 0.4)), 1.0, (), NOW)
    assert [one.xs[0] for one in spec.series] == [NOW, NOW]
    assert spec.x_range == (NOW, NOW + 365 * DAY_MS)


def test_a_memory_without_a_curve_is_told_in_words() -> None:
    nothing = make_gauge_spec("strength", Curve((), ()), 0.3, (), NOW)
    assert (nothing.places, nothing.lines) == ((), ())
    assert nothing.empty == "Strength is 0.30 now and would be 0.30 a year from now if nobody used it."


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    days = sorted(draw(st.lists(st.floats(-900, 900), min_size=1, max_size=12, unique=True)))
    values = draw(st.lists(st.floats(0, 1), min_size=len(days), max_size=len(days)))
    return Curve(tuple(days), tuple(values))


@given(curves(), st.floats(-1000, 1000))
def test_between_its_points_a_curve_is_straight(curve: Curve, day: float) -> None:
    value = gauge_value_at(curve, day)
    assert min(curve.values) - 1e-9 <= value <= max(curve.values) + 1e-9
    for at, known in zip(curve.days, curve.values, strict=True):
        assert gauge_value_at(curve, at) == pytest.approx(known)


@given(curves(), st.floats(-1000, 1000), st.floats(0, 1000))
def test_a_cut_curve_stays_within_its_days(curve: Curve, first: float, length: float) -> None:
    last = first + length
    points = clip_curve(curve, first, last)
    days = [day for day, _ in points]
    assert days == sorted(days)
    assert all(first <= day <= last for day in days)
    assert all(value == pytest.approx(gauge_value_at(curve, day), abs=1e-6) for day, value in points)
    if curve.days[0] <= first and last <= curve.days[-1]:
        assert (days[0], days[-1]) == (first, last)


def test_what_is_below_the_line_and_not_marked_yet_is_said_to_fade() -> None:
    told = gauge_sentences(gauges(MAY_2027, confidence=0.14, fades_at=None), MAY_2027)
    assert told[1] == "It is low now, so the memory is marked as fading until somebody confirms it."
    kept = gauge_sentences(gauges(MAY_2027, confidence=0.14, fades_at=None, permanence="permanent"), MAY_2027)
    assert kept == ("Its confidence does not fall over time.",)
    for level in ("permanent", "stable", "standard", "volatile", "ephemeral"):
        for sentence in gauge_sentences(gauges(MAY_2027, fades_at=None, permanence=level), MAY_2027):
            assert "fade" not in sentence.lower() or "so the memory" in sentence, "which of the two gauges fades?"


def test_with_the_real_engine_the_numbers_are_those_of_the_formulas(qtbot: QtBot, rig: Rig, context: Context) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    clock = rig.clock
    assert isinstance(clock, HandClock)
    clock.advance(60 * DAY_MS)
    memory = rig.get(memory_id)
    faded = float(effective_confidence(memory.confidence, decay_rate("fact", "standard"), 60.0))
    with shown_inspector(qtbot, context) as inspector:
        look(qtbot, inspector, context, memory_id)
        part = part_of(inspector)
        settle(qtbot, part.confidence.isVisible)
        assert part.confidence.figure.text() == f"{faded:.2f}"
        assert "Last confirmed" not in part.sentences.text()
        assert rig.engine.jobs.read_gauges(memory_id).result(30).confidence == pytest.approx(faded)
        rig.engine.memories.confirm(memory_id, OWNER_ACTOR).result(30)
        settle(qtbot, lambda: part.confidence.figure.text() == f"{rig.get(memory_id).confidence:.2f}")
        settle(qtbot, lambda: part.sentences.text().startswith("Last confirmed on "))
