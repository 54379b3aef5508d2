"""The tuner, the saved questions and the life of the Recall page, over a laboratory of invented answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from recall_page_rig import LabRoom, lab_over, texts
from window_rig import hear, settle

from core.config.option_rows import option_rows
from core.config.retrieval import RetrievalOptions
from core.errors import Code, UserError
from core.events import Changed
from core.types.recall import Probe, ProbeOutcome, Sensitivity, Tally
from core.types.replies import WaitingKind
from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.pages.recall.options import OptionsDialog
from ui.pages.recall.page import RECALL, SAVED
from ui.pages.recall.sensitivity import SensitivityPlot, Swept, make_sensitivity_spec
from ui.pages.recall.tuner import AppliedDialog
from ui.pages.recall.why_not import WhyNotDialog


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[LabRoom]:
    """The page's room."""
    with lab_over(context, qtbot) as made:
        yield made


# ---- the tuner


def test_a_weight_is_tried_with_its_effect_and_nothing_is_applied(room: LabRoom) -> None:
    page = room.ask()
    assert not page.tuner.apply.isEnabled()
    before = [row.id for row in page.list.lines.list_rows() if row.is_answer]
    page.tuner.knobs[room.knob("side_bound")].slider.setValue(0)
    page.tuner.knobs[room.knob("sides_recency")].slider.setValue(100)
    room.rest()
    assert room.lab.asked[-1][1] == {"side_bound": 0.5, "sides_recency": 1.0}
    rows = [row for row in page.list.lines.list_rows() if row.is_answer]
    assert [row.id for row in rows] != before
    assert rows[0].id == room.lab.ids()[2]
    assert rows[0].moved == 2
    assert "up 2 with the trial weights" in page.list.lines.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "with the weights being tried" in page.header.summary.whole
    assert room.lab.applied == []
    assert page.tuner.apply.isEnabled()


def test_moves_within_a_quarter_of_a_second_ask_once(room: LabRoom) -> None:
    page = room.ask()
    asked = len(room.lab.asked)
    slider = page.tuner.knobs[room.knob("sides_recency")].slider
    for value in (30, 40, 50, 60):
        slider.setValue(value)
    room.rest()
    assert len(room.lab.asked) == asked + 1


def test_reset_takes_the_trial_back(room: LabRoom) -> None:
    page = room.ask()
    page.tuning.try_values({"sides_recency": 1.0, "side_bound": 0.5})
    room.rest()
    page.tuner.reset.click()
    room.rest()
    assert page.tuning.trial == {}
    assert all(row.moved == 0 for row in page.list.lines.list_rows())
    assert page.tuner.knobs[room.knob("side_bound")].value_text == "0.95"


def test_what_is_tried_is_applied_listed_and_said(room: LabRoom, context: Context) -> None:
    heard = hear(context)
    page = room.ask()
    page.tuning.try_value("side_bound", 0.25)
    room.rest()
    page.tuner.apply.click()
    room.rest()
    assert room.lab.options.side_bound == 0.25
    assert heard.sentences[-1].startswith("Applied to")
    assert page.tuning.trial == {}
    page.tuner.history.click()
    found = room.dialog(AppliedDialog)
    settle(room.qtbot, lambda: bool(found.lines))
    assert found.lines[0].startswith("Relevance 0.95 → 0.75")
    assert len(found.undo_buttons) == 1
    found.accept()


def test_the_saved_questions_tell_what_a_change_would_do(room: LabRoom) -> None:
    ids = room.lab.ids()
    room.lab.items = [
        Probe("a", "coffee order", "positive", (ids[0],), 1, 0),
        Probe("b", "the outage", "positive", (ids[2],), 1, 0),
    ]
    page = room.ask()
    assert page.tuner.effect.lines[0] == "Found in first 1: now 1 of 2"
    page.tuning.try_values({"sides_recency": 1.0, "side_bound": 0.5})
    room.rest()
    assert page.tuner.effect.lines[0] == "Found in first 1: now 1 of 2, would be 1 of 2"
    told = texts(page.tuner.effect)
    assert any(one.startswith("“coffee order” falls from 1st to ") for one in told)
    assert "1 question gets better." in told
    link = next(made for made in page.tuner.effect.findChildren(QWidget) if made.accessibleName().startswith("Look: "))
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    room.rest()
    assert page.header.question.field.text() == "coffee order"


def test_without_saved_questions_there_is_no_sensitivity(room: LabRoom) -> None:
    page = room.ask()
    assert page.tuner.sensitivity.isHidden()
    assert room.lab.swept == []


def test_the_sensitivity_of_a_weight_is_tried_when_it_is_chosen(room: LabRoom) -> None:
    ids = room.lab.ids()
    room.lab.items = [
        Probe("a", "coffee order", "positive", (ids[0],), 3, 0),
        Probe("b", "the outage", "positive", (ids[2],), 1, 0),
        Probe("c", "the outage", "positive", (ids[2],), 3, 0),
    ]
    page = room.ask()
    found = page.tuner.sensitivity
    assert not found.isHidden()
    assert room.lab.swept == []  # nothing is worked out before it is asked for
    page.tuning.try_values({"side_bound": 0.5})
    room.rest()
    found.choice.show_choice("sides_recency")
    found.choice.chosen.emit("sides_recency")
    room.rest()
    [(name, values, others)] = room.lab.swept
    assert (name, others) == ("sides_recency", {"side_bound": 0.5})
    assert (values[0], values[-1], len(values)) == (0.0, 1.0, 11)
    settle(room.qtbot, lambda: found.plot.canvas is not None)
    spec = found.plot.spec
    assert spec is not None
    held = dict(zip(spec.series[0].xs, spec.series[0].ys, strict=True))
    assert held[0.0] < 3.0
    assert spec.y.most == 3.0
    assert spec.columns == ("Recency", "hold")
    assert [(line.name, line.value) for line in spec.lines] == [("now", 0.2)]
    assert spec.sentence == "Most hold with Recency at 0.10: 3 of 3."
    assert found.plot.accessibleDescription() == spec.sentence
    page.tuning.try_value("sides_recency", 0.6)
    room.rest()
    assert len(room.lab.swept) == 1  # the values were tried already; only a line is new
    assert found.plot.spec is not None
    assert [(line.name, line.value) for line in found.plot.spec.lines] == [("now", 0.2), ("tried", 0.6)]
    page.tuning.try_value("side_bound", 0.4)
    room.rest()
    assert len(room.lab.swept) == 2
    choose(found, "")
    assert found.plot.isHidden()


def choose(found: SensitivityPlot, name: str) -> None:
    found.choice.show_choice(name)
    found.choice.chosen.emit(name)


def plotted(room: LabRoom, name: str) -> SensitivityPlot:
    """The page with a saved question and the plot of a weight."""
    room.lab.items = [Probe("a", "coffee order", "positive", (room.lab.ids()[0],), 1, 0)]
    found = room.ask().tuner.sensitivity
    choose(found, name)
    room.rest()
    assert not found.plot.isHidden()
    return found


def test_no_plot_stands_under_the_name_of_another_weight(room: LabRoom) -> None:
    found = plotted(room, "sides_recency")
    room.lab.holds = True
    choose(found, "side_bound")
    assert found.plot.isHidden()
    assert found.note.text().startswith("Trying the values of this weight")
    settle(room.qtbot, lambda: bool(room.lab.held))
    room.lab.held[0].set_exception(UserError(Code.CONFIG_INVALID, "It is out of bounds."))
    room.rest()
    assert found.plot.isHidden()
    assert found.note.text().startswith("The values of this weight could not be tried")
    room.lab.holds = False
    choose(found, "side_bound")
    room.rest()
    assert not found.plot.isHidden()


def test_a_weight_that_is_no_longer_offered_has_no_plot(room: LabRoom) -> None:
    found = plotted(room, "sides_recency")
    found.offer_weights({})
    assert found.choice.current == ""
    assert found.plot.isHidden()
    assert found.note.text().startswith("Choose a weight")


def test_a_change_that_is_no_option_and_no_question_sweeps_nothing_again(room: LabRoom) -> None:
    plotted(room, "sides_recency")
    assert len(room.lab.swept) == 1
    room.page.tuning.compare_trial()
    room.rest()
    assert len(room.lab.swept) == 1
    room.lab.items = [*room.lab.items, Probe("b", "the outage", "positive", (room.lab.ids()[2],), 1, 0)]
    room.page.tuning.compare_trial()
    room.rest()
    assert len(room.lab.swept) == 2


def test_a_sweep_stops_where_nobody_looks_and_begins_again(room: LabRoom) -> None:
    found = plotted(room, "sides_recency")
    room.lab.holds = True
    choose(found, "side_bound")
    settle(room.qtbot, lambda: len(room.lab.held) == 1)
    choose(found, "")
    assert room.lab.stopped == 1
    choose(found, "side_bound")
    settle(room.qtbot, lambda: len(room.lab.held) == 2)
    room.page.deactivate()
    assert room.lab.stopped == 2
    found.reload()
    room.rest()
    assert len(room.lab.held) == 2
    room.lab.holds = False
    room.page.activate()
    room.rest()
    assert not found.plot.isHidden()
    room.page.deactivate()
    assert room.lab.stopped == 2  # nothing was under way


def test_the_sentence_names_each_run_of_the_best_values() -> None:
    row = next(one for one in option_rows(RetrievalOptions, RetrievalOptions()) if one.name == "sides_recency")
    values = tuple(nr / 10 for nr in range(6))

    def sentence(*held: int) -> str:
        tallies = tuple(
            Tally(0, 0, 0, 0, 0, 0, 0, tuple(ProbeOutcome(str(nr), nr < count, 1, 0) for nr in range(4)))
            for count in held
        )
        swept = Swept(row, "Recency", 0.2, turned=False)
        return make_sensitivity_spec(swept, Sensitivity("sides_recency", values, tallies)).sentence

    assert sentence(1, 3, 3, 2, 2, 2) == "Most hold with Recency from 0.10 to 0.20: 3 of 4."
    assert sentence(3, 3, 1, 3, 2, 3) == "Most hold with Recency from 0.00 to 0.10, at 0.30 and at 0.50: 3 of 4."
    assert sentence(2, 2, 2, 2, 2, 2) == "2 of 4 hold whatever the value."


def test_a_weight_that_is_shown_the_other_way_round_is_so_in_its_plot(room: LabRoom) -> None:
    room.lab.items = [Probe("a", "coffee order", "positive", (room.lab.ids()[0],), 1, 0)]
    found = room.ask().tuner.sensitivity
    found.choice.show_choice("side_bound")
    found.choice.chosen.emit("side_bound")
    room.rest()
    spec = found.plot.spec
    assert spec is not None
    assert list(spec.series[0].xs) == sorted(spec.series[0].xs)
    assert spec.lines[0].value == 0.95  # relevance as it stands at its knob


def test_words_against_meaning_is_tried_without_the_question_deciding(room: LabRoom) -> None:
    room.lab.items = [Probe("a", "coffee order", "positive", (room.lab.ids()[0],), 1, 0)]
    found = room.ask().tuner.sensitivity
    found.choice.show_choice("text_weight")
    found.choice.chosen.emit("text_weight")
    room.rest()
    assert room.lab.swept[-1][2] == {"auto_text_weight": False}


def test_a_preset_is_tried_and_named(room: LabRoom) -> None:
    page = room.ask()
    assert page.tuner.preset.current == "measured"
    page.tuner.preset.chosen.emit("seed-b")
    room.rest()
    assert page.tuning.trial == {"sides_importance": 0.3, "sides_confidence": 0.1}
    assert page.tuner.preset.current == "seed-b"
    page.tuning.try_value("sides_utility", 0.9)
    assert page.tuner.preset.current == ""


def test_diversity_is_that_of_the_kind_of_question(room: LabRoom) -> None:
    page = room.ask()
    last = page.tuner.knobs[-1]
    assert last.name == "trades_temporal"
    assert last.value_text == "0.10"
    last.slider.setValue(100)
    room.rest()
    assert room.lab.asked[-1][1] == {"trades_temporal": 0.0}


def test_words_against_meaning_are_no_longer_left_to_the_question(room: LabRoom) -> None:
    page = room.ask()
    assert page.tuner.auto.isChecked()
    page.tuner.knobs[room.knob("text_weight")].slider.setValue(80)
    room.rest()
    assert page.tuning.trial == {"text_weight": 0.8, "auto_text_weight": False}
    assert not page.tuner.auto.isChecked()


def test_every_option_can_be_tried_and_brought_back(room: LabRoom) -> None:
    page = room.ask()
    page.tuner.all.click()
    found = room.dialog(OptionsDialog)
    assert set(found.lines) == {one.name for one in page.tuning.rows.values()}
    line = found.lines["rrf_k"]
    line.control.turned.emit("rrf_k", 20.0)
    room.rest()
    assert page.tuning.trial == {"rrf_k": 20.0}
    assert any("tried: was 60" in one for one in texts(line))
    line.reset.click()
    room.rest()
    assert page.tuning.trial == {}
    QTest.keyClicks(found.search, "half-life")
    assert [name for name, one in found.lines.items() if not one.isHidden()] == ["recency_half_life_days"]
    found.accept()


def test_an_exact_value_can_be_typed(room: LabRoom) -> None:
    page = room.ask()
    page.tuner.all.click()
    found = room.dialog(OptionsDialog)
    field = getattr(found.lines["small_scope"].control, "field")  # noqa: B009 - only a knob has one
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "12345")
    QTest.keyClick(field, Qt.Key.Key_Return)
    room.rest()
    assert page.tuning.trial == {"small_scope": 12345}
    found.accept()


def test_the_wheel_over_a_slider_scrolls_and_does_not_turn(room: LabRoom) -> None:
    page = room.ask()
    slider = page.tuner.knobs[0].slider
    at = QPointF(slider.rect().center())
    event = QWheelEvent(
        at, QPointF(slider.mapToGlobal(at.toPoint())), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,  # noqa: FBT003 - Qt's order
    )  # fmt: skip
    before = slider.value()
    QApplication.sendEvent(slider, event)
    assert slider.value() == before


# ---- saved questions


def test_saved_questions_are_listed_run_asked_and_deleted(room: LabRoom, context: Context) -> None:
    ids = room.lab.ids()
    room.lab.items = [
        Probe("a", "coffee order", "positive", (ids[0],), 5, 0),
        Probe("b", "a moon base", "negative", (), 5, 0, passed=False, ran_at=0),
    ]
    room.lab.fallen = 1
    page = room.open(wish=SAVED)
    assert page.header.chips.isHidden()
    assert [line.state.text() for line in page.saved.lines] == ["never ran", "fails"]
    assert "1 question that passed now fails." in texts(page.saved)
    page.saved.run_button.click()
    room.rest()
    assert [line.state.text() for line in page.saved.lines] == ["passes", "fails"]
    assert "now 1st" in page.saved.lines[0].note
    assert page.saved.summary == "1 of 2 pass"
    heard = hear(context)
    page.saved.lines[1].delete_button.click()
    room.rest()
    assert [one.id for one in room.lab.items] == ["a"]
    assert heard.sentences[-1] == "The saved question is deleted."
    page.saved.lines[0].ask_button.click()
    room.rest()
    assert page.panes.view == "ask"
    assert room.lab.asked[-1][0].query == "coffee order"


def test_no_saved_question_teaches_how_to_save_one(room: LabRoom) -> None:
    page = room.open(wish=SAVED)
    assert any("“Should have been here” on a memory" in one for one in texts(page.saved))


def test_questions_that_fail_are_the_badge_of_the_page() -> None:
    assert RECALL.badge is WaitingKind.REGRESSIONS


# ---- the page's life


def test_a_change_in_the_vault_asks_again(room: LabRoom) -> None:
    page = room.ask()
    asked = len(room.lab.asked)
    page.handle_change(Changed("store", ("x",), OWNER_ACTOR, 9))
    settle(room.qtbot, lambda: len(room.lab.asked) == asked + 1)
    room.rest()
    page.handle_change(Changed("save_probe", (), OWNER_ACTOR, 10))
    room.rest()
    assert len(room.lab.asked) == asked + 1


def test_a_page_nobody_sees_waits(room: LabRoom) -> None:
    page = room.ask()
    asked = len(room.lab.asked)
    page.deactivate()
    page.handle_change(Changed("store", ("x",), OWNER_ACTOR, 9))
    room.rest()
    assert len(room.lab.asked) == asked
    page.activate()
    room.rest()
    assert len(room.lab.asked) == asked + 1


def test_where_there_is_little_room_the_tuner_takes_turns(room: LabRoom) -> None:
    page = room.ask()
    assert page.tuner.isVisible()
    page.resize(700, 640)
    settle(room.qtbot, lambda: page.panes.is_narrow)
    assert not page.tuner.isVisible()
    page.panes.turn.click()
    assert page.tuner.isVisible()
    assert not page.list.isVisible()
    room.key(Qt.Key.Key_Escape)
    assert page.list.isVisible()


@pytest.mark.parametrize(("width", "height", "scale"), [(952, 600, 100), (1340, 780, 150), (952, 600, 150)])
def test_nothing_is_cut_off(room: LabRoom, context: Context, width: int, height: int, scale: int) -> None:
    context.theme.apply_theme("light", scale)
    room.open(width, height)
    page = room.ask()
    room.qtbot.wait(20)
    assert page.width() == width
    for part in (page.header, page.pane.funnel, page.list):
        assert part.mapTo(page, part.rect().bottomRight()).x() <= width
    assert page.list.viewport().height() > 60
    context.theme.apply_theme("light", 100)


def test_letters_typed_into_the_question_do_nothing_else(room: LabRoom) -> None:
    page = room.ask()
    field = page.header.question.field
    field.setFocus()
    field.clear()
    QTest.keyClicks(field, "sew extra pixies")
    room.rest()
    assert field.text() == "sew extra pixies"
    assert room.lab.items == []
    assert not any(found.isVisible() for found in page.findChildren(WhyNotDialog))


def test_a_view_narrower_than_ones_own_shows_less(room: LabRoom) -> None:
    page = room.ask()
    mine = len([row for row in page.list.lines.list_rows() if row.is_answer])
    page.asker.submit_query(replace(page.asker.asked, seen_as="Claude Code"))
    room.rest()
    assert len([row for row in page.list.lines.list_rows() if row.is_answer]) == mine - 1
