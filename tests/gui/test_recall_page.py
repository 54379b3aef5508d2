"""The Recall page over a laboratory of invented answers: what it shows, what it asks, what keys do."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from recall_page_rig import QUESTION, LabRoom, lab_over, texts
from review_rig import memory
from window_rig import hear, settle

from core.types.recall import FeedbackReply, PlanChange, QueryPlan
from core.types.values import Actor, Intent, Kind
from ui.context import CLOSER, Context
from ui.lists.row_spec import Heading
from ui.pages.recall.answers import AnswerDetails, AnswerDetailsView, AnswerRow, answer_lines, describe_answer_row
from ui.pages.recall.why_not import WhyNotDialog


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[LabRoom]:
    """The page's room."""
    with lab_over(context, qtbot) as made:
        yield made


# ---- asking


def test_an_empty_page_teaches_and_takes_a_question(room: LabRoom) -> None:
    page = room.open()
    assert any("Ask a question as an assistant would" in one for one in texts(page))
    assert page.header.chips.isHidden()
    assert page.header.question.field.hasFocus()
    QTest.keyClicks(page.header.question.field, QUESTION)
    room.key(Qt.Key.Key_Return)
    assert [query.query for query, _, _ in room.lab.asked] == [QUESTION]
    assert not page.header.chips.isHidden()
    assert page.list.lines.rowCount() > 0


def test_letters_act_on_the_answer_only_while_it_has_the_keyboard(room: LabRoom) -> None:
    page = room.ask()
    page.pane.empty_button.setFocus()
    field = page.header.question.field
    for letter in "Even so":
        QTest.keyClicks(page.focusWidget() or page, letter)
    assert field.text() == "Even so"
    assert field.hasFocus()
    assert room.lab.items == []
    assert page.findChild(WhyNotDialog) is None


def test_what_is_typed_while_nothing_has_the_keyboard_becomes_the_question(room: LabRoom) -> None:
    page = room.ask()
    focused = page.focusWidget()
    assert focused is not None
    focused.clearFocus()
    for letter in "Where":
        QTest.keyClicks(page.focusWidget() or page, letter)
    assert page.header.question.field.text() == "Where"
    assert room.lab.items == []


@pytest.mark.parametrize(
    ("modifiers", "text", "typed"),
    [
        (Qt.KeyboardModifier.GroupSwitchModifier, "@", "@"),
        (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier, "€", "€"),
        (Qt.KeyboardModifier.ControlModifier, "e", ""),
        (Qt.KeyboardModifier.AltModifier, "e", ""),
    ],
    ids=["altgr", "altgr-windows", "control", "alt"],
)
def test_a_letter_of_the_third_level_begins_a_question_and_a_shortcut_does_not(
    room: LabRoom, modifiers: Qt.KeyboardModifier, text: str, typed: str
) -> None:
    page = room.ask()
    page.pane.empty_button.setFocus()
    field = page.header.question.field
    before = field.text()
    QTest.sendKeyEvent(QTest.KeyAction.Press, page.pane.empty_button, Qt.Key.Key_E, text, modifiers)
    assert field.text() == (typed or before)


def test_coming_back_to_the_page_a_question_can_be_typed_at_once(room: LabRoom) -> None:
    page = room.ask()
    page.list.setFocus()
    page.activate()
    room.rest()
    field = page.header.question.field
    assert field.hasFocus()
    assert field.selectedText() == QUESTION


def test_why_a_memory_was_found_opens_its_reasons(room: LabRoom) -> None:
    page = room.ask()
    third = page.list.lines.list_rows()[2].id
    page.activate(f"found:{third} {QUESTION}")
    room.rest()
    assert page.list.open_row is not None
    assert page.list.open_row.id == third
    assert isinstance(page.list.lines.line_at(page.list.lines.place_of(third) + 1), AnswerDetails)
    assert page.asker.asked.question == QUESTION


def test_why_a_memory_was_found_that_the_ranking_does_not_know_says_so(room: LabRoom) -> None:
    page = room.open()
    page.activate(f"found:elsewhere {QUESTION}")
    room.rest()
    assert page.list.open_row is None
    assert room.dialog(WhyNotDialog).isVisible()


def test_blanks_ask_nothing(room: LabRoom) -> None:
    page = room.open()
    QTest.keyClicks(page.header.question.field, "   ")
    room.key(Qt.Key.Key_Return)
    assert room.lab.asked == []


def test_the_answer_stands_in_its_order_with_near_misses_below(room: LabRoom) -> None:
    page = room.ask()
    lines = [page.list.lines.line_at(at) for at in range(page.list.lines.rowCount())]
    heading = next(at for at, line in enumerate(lines) if isinstance(line, Heading))
    rows = page.list.lines.list_rows()
    assert [row.place for row in rows[:4]] == ["1", "2", "3", "4"]
    assert heading == 4
    assert rows[0].note.endswith("It contains 3 of the 4 search words")
    assert "disputed" in rows[3].note
    assert rows[4].note.startswith("left out: much weaker than the best, meaning 58th")
    assert [row.kind for row in rows[:2]] == [Kind.EPISODE, Kind.DIGEST]


def test_every_row_is_told_to_those_who_do_not_see_it(room: LabRoom) -> None:
    page = room.ask()
    told = page.list.lines.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert told.startswith("Place 1. Episode: Fine, Frankfurt then.")
    assert "Score 0." in told
    assert "relevance 0.90" in told


def test_hostile_text_is_shown_as_it_is(room: LabRoom) -> None:
    room.lab.memories[0] = memory("<b>Frankfurt</b>\u202e & more\nand a second line", kind=Kind.EPISODE)
    page = room.ask()
    assert page.list.lines.list_rows()[0].text == "<b>Frankfurt</b>‹U+202E› & more and a second line"


def test_a_question_without_an_answer_says_why_and_can_be_kept_so(room: LabRoom, context: Context) -> None:
    heard = hear(context)
    room.lab.silent = True
    page = room.ask()
    assert not page.pane.silence.isHidden()
    assert "Nothing clears the bar." in texts(page.pane.silence)
    page.list.setFocus()
    room.key(Qt.Key.Key_E)
    assert [(one.query, one.kind) for one in room.lab.items] == [(QUESTION, "negative")]
    assert "should have no answer" in heard.sentences[-1]


def test_questions_of_the_session_can_be_asked_again(room: LabRoom) -> None:
    page = room.ask("one question")
    room.ask("another question")
    menu = page.header.question.make_history_menu()
    assert [action.text() for action in menu.actions()] == ["another question", "one question"]
    menu.actions()[1].trigger()
    room.rest()
    assert page.header.question.field.text() == "one question"
    assert room.lab.asked[-1][0].query == "one question"


def test_trouble_is_said_where_the_answer_would_be(room: LabRoom) -> None:
    page = room.open()
    room.lab.refuses = "Such a question cannot be asked."
    page.ask_question(QUESTION)
    room.rest()
    assert "Such a question cannot be asked." in texts(page)
    room.lab.refuses = ""
    page.asker.ask_again()
    room.rest()
    assert page.panes.states.currentWidget() is page.pane


# ---- how it was understood


def test_chips_say_how_the_question_was_understood(room: LabRoom) -> None:
    chips = room.ask().header.chips
    assert chips.intent.text() == "kind of question: time"
    assert "time 0.62" in chips.intent.toolTip()
    assert chips.names.text() == "names: Harbour, Frankfurt"
    assert "the harbour project" in chips.names.toolTip()
    assert chips.time.text() == "time: 1 May 2026 to 31 May 2026"
    assert chips.weight.text() == "words 0.42 · meaning 0.58"
    assert chips.view.text() == "as seen by: you"


def test_another_intent_asks_again(room: LabRoom) -> None:
    page = room.ask()
    page.header.chips.intent.chosen.emit("causal")
    room.rest()
    assert room.last_plan() == PlanChange(intent=Intent.CAUSAL)
    assert page.header.chips.intent.current == "causal"
    page.header.chips.intent.chosen.emit("")
    room.rest()
    assert room.last_plan() is None


def test_the_time_can_be_left_out_and_taken_back(room: LabRoom) -> None:
    page = room.ask()
    page.header.chips.time.click()
    room.rest()
    assert room.last_plan() == PlanChange(no_time=True)
    assert page.header.chips.time.text() == "time: ignored"
    page.header.chips.time.click()
    room.rest()
    assert room.last_plan() is None


def test_what_a_question_does_not_name_has_no_chip(room: LabRoom) -> None:
    room.lab.understood = QueryPlan()
    chips = room.ask().header.chips
    assert chips.time.isHidden()
    assert chips.names.isHidden()
    assert not chips.weight.isHidden()


def test_at_1024_the_tuner_makes_room_and_no_table_of_the_details_is_cut(room: LabRoom) -> None:
    page = room.open(952, 648)
    room.ask()
    assert page.panes.is_narrow
    assert page.panes.turn.isVisible()
    assert not page.tuner.isVisible()
    page.list.toggle_details(0)
    room.rest()
    for width in (500, 640, 700, 952, 1300):
        page.resize(width, 648)
        room.rest()
        details = page.list.findChild(AnswerDetailsView)
        assert details is not None
        for label in details.findChildren(QLabel):
            if label.isVisible() and not label.wordWrap():
                assert label.width() >= label.fontMetrics().horizontalAdvance(label.text()), (width, label.text())


def test_words_against_meaning_and_the_view_ask_again(room: LabRoom) -> None:
    page = room.ask()
    page.header.chips.weight.chosen.emit("0.75")
    room.rest()
    assert room.last_plan() == PlanChange(text_weight=0.75)
    page.header.chips.offer_clients(["Claude Code"])
    page.header.chips.view.chosen.emit("Claude Code")
    room.rest()
    assert room.lab.asked[-1][2] == "Claude Code"
    assert "as Claude Code sees it" in page.header.summary.whole
    room.ask("another question")
    assert room.last_plan() is None
    assert room.lab.asked[-1][2] == "Claude Code"


# ---- the funnel


def test_boxes_of_the_funnel_say_their_counts(room: LabRoom) -> None:
    boxes = room.ask().pane.funnel.boxes
    assert boxes["in_scope"].accessibleName() == "allowed: 7"
    assert boxes["answered"].count == 4


def test_a_box_shows_what_was_dropped_there(room: LabRoom) -> None:
    page = room.ask()
    page.pane.funnel.boxes["after_duplicates"].click()
    room.rest()
    assert [row.text for row in page.list.lines.list_rows()] == ["Frankfurt it is, in November."]
    assert page.pane.stage_note.text().startswith("Left out at “no repeats”")
    page.pane.funnel.boxes["in_scope"].click()
    room.rest()
    assert "replaced by a newer one" in page.list.lines.list_rows()[0].note
    page.pane.funnel.boxes["answered"].click()
    room.rest()
    assert page.pane.funnel.current == ""  # nothing was cut off: the answer itself
    page.pane.funnel.boxes["fused"].click()
    page.pane.back.click()
    assert page.pane.funnel.current == ""
    assert page.list.lines.list_rows()[0].place == "1"


def test_a_box_of_a_search_shows_what_it_found(room: LabRoom) -> None:
    page = room.ask()
    page.pane.funnel.boxes["graph"].click()
    room.rest()
    assert [row.id for row in page.list.lines.list_rows()] == [room.lab.ids()[1], room.lab.ids()[2]]
    page.pane.funnel.boxes["time"].click()
    room.rest()
    assert page.list.lines.list_rows() == []
    assert page.pane.stage_note.text().endswith("Nothing was found this way.")
    room.key(Qt.Key.Key_Escape)
    assert page.list.lines.list_rows()[0].place == "1"


# ---- one memory


def test_selecting_a_row_shows_it_in_the_inspector(room: LabRoom, context: Context) -> None:
    seen: list[tuple[str, str]] = []
    context.selection.changed.connect(lambda one, origin: seen.append((one, origin)))
    page = room.ask()
    page.list.setFocus()
    room.key(Qt.Key.Key_Down)
    assert seen[-1] == (room.lab.ids()[1], "recall")
    room.key(Qt.Key.Key_I)
    assert seen[-1] == (room.lab.ids()[1], CLOSER)


def test_return_opens_every_signal_and_closes_it(room: LabRoom) -> None:
    page = room.ask()
    page.list.setFocus()
    room.key(Qt.Key.Key_Return)
    assert isinstance(page.list.lines.line_at(1), AnswerDetails)
    told = texts(page.list)
    assert "0.900" in told
    assert "Words, rare ones first" in told
    assert "8.200" in told
    assert "It contains 3 of the 4 search words." in told
    rect = page.list.visualRect(page.list.lines.index(1, 0))
    assert rect.height() > 120
    room.key(Qt.Key.Key_Down)
    assert page.list.current is not None
    assert page.list.current.place == "2"  # the details are passed over
    room.key(Qt.Key.Key_Escape)
    assert not any(isinstance(page.list.lines.line_at(at), AnswerDetails) for at in range(page.list.lines.rowCount()))


def test_of_a_long_text_the_row_shows_the_sentence_that_answers(room: LabRoom) -> None:
    answer = room.ask().asker.answer
    assert answer is not None
    said = "Ada keeps <b>her</b> kayak in Bergen."
    text = f"{'It rained all that week. ' * 9}{said} {'Fog. ' * 60}"
    found = replace(
        answer.items[0], memory=replace(answer.items[0].memory, text=text), answering=(225, 225 + len(said))
    )
    row, short = answer_lines(replace(answer, items=(found, answer.items[1])), None)[:2]
    assert isinstance(row, AnswerRow)
    assert isinstance(short, AnswerRow)
    assert row.text.startswith("… ")
    assert row.text[slice(*row.marked)] == said
    assert row.text in describe_answer_row(row)
    assert short.text == answer.items[1].memory.text
    assert short.marked == (0, 0)


def test_the_sentence_that_answers_is_underlined(room: LabRoom) -> None:
    page = room.ask()
    answer = page.asker.answer
    assert answer is not None

    def picture(marked: tuple[int, int] | None) -> QImage:
        long = replace(answer.items[0].memory, text="Frankfurt it is. " * 20)
        page.list.show_answer(
            answer_lines(replace(answer, items=(replace(answer.items[0], memory=long, answering=marked),)), None)
        )
        page.list.clearSelection()
        return page.list.grab(page.list.visualRect(page.list.lines.index(0, 0))).toImage()

    assert picture(None) == picture(None)
    assert picture((0, 16)) != picture(None)


def test_of_a_tie_each_is_joint_in_its_place(room: LabRoom) -> None:
    answer = room.ask().asker.answer
    assert answer is not None
    tied = [replace(one, lists={"bm25": (1, 8.2)}) for one in answer.trace.candidates]
    rows = answer_lines(replace(answer, trace=replace(answer.trace, candidates=tuple(tied))), None)
    assert isinstance(rows[0], AnswerRow)
    assert rows[0].shared == {"bm25"}
    assert any("Words, rare ones first joint 1st" in told for told in AnswerDetailsView.describe_details(rows[0]))


def test_what_is_open_stays_open_while_weights_move(room: LabRoom) -> None:
    page = room.ask()
    page.list.setFocus()
    room.key(Qt.Key.Key_Return)
    opened = page.list.open_row
    assert opened is not None
    page.tuning.try_values({"sides_recency": 1.0, "side_bound": 0.5})
    room.rest()
    assert page.list.open_row is not None
    assert page.list.open_row.id == opened.id


def test_should_have_been_here_saves_a_question_that_undo_takes_back(
    room: LabRoom, context: Context, qtbot: QtBot
) -> None:
    acts: list[tuple[str, object]] = []
    context.desk.message_asked.connect(lambda _said, title, run, _stays: acts.append((title, run)))
    page = room.ask()
    page.list.select_memory(room.lab.ids()[4])
    page.list.setFocus()
    room.key(Qt.Key.Key_S)
    (probe,) = room.lab.items
    assert (probe.query, probe.kind, probe.memory_ids) == (QUESTION, "positive", (room.lab.ids()[4],))
    title, run = acts[-1]
    assert title == "Undo"
    assert callable(run)
    run()
    settle(qtbot, lambda: room.lab.items == [])


def test_must_not_come_saves_a_stale_question(room: LabRoom) -> None:
    page = room.ask()
    page.list.setFocus()
    room.key(Qt.Key.Key_X, Qt.KeyboardModifier.ShiftModifier)
    (probe,) = room.lab.items
    assert (probe.kind, probe.memory_ids) == ("stale", (room.lab.ids()[0],))


def test_not_this_one_is_told_to_the_engine(room: LabRoom, context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, str, str]] = []

    def feedback(memory_id: str, signal: str, query: str, actor: Actor) -> Future[FeedbackReply]:
        assert actor.is_owner
        said.append((memory_id, signal, query))
        made: Future[FeedbackReply] = Future()
        made.set_result(FeedbackReply("f", memory_id, signal, "step"))
        return made

    monkeypatch.setattr(context.bridge.engine.memories, "give_feedback", feedback)
    heard = hear(context)
    page = room.ask()
    page.list.setFocus()
    room.key(Qt.Key.Key_X)
    assert said == [(room.lab.ids()[0], "irrelevant", QUESTION)]
    assert heard.sentences[-1].startswith("Saved")
    assert len(room.lab.asked) == 2  # the answer may be another one now


def test_the_menu_of_a_row_names_its_acts_and_keys(room: LabRoom) -> None:
    page = room.ask()
    page.list.select_memory(room.lab.ids()[4])
    menu = page.list.make_menu()
    titles = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
    assert "Should have been here" in titles
    assert "Why not in the answer?" in titles
    next(action for action in menu.actions() if action.text() == "Copy its id").trigger()
    assert QGuiApplication.clipboard().text() == room.lab.ids()[4]


def test_a_click_opens_details_and_a_second_click_of_a_double_one_leaves_them_open(room: LabRoom) -> None:
    page = room.ask()
    place = page.list.visualRect(page.list.lines.index(0, 0)).center()
    viewport, left = page.list.viewport(), Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(viewport, left, none, place)
    QTest.mouseDClick(viewport, left, none, place)
    QTest.mouseRelease(viewport, left, none, place)
    assert page.list.open_row is not None
    QTest.mouseClick(viewport, left, none, place)
    assert page.list.open_row is None


def test_a_question_of_the_search_field_is_asked_here_when_the_page_is_opened(room: LabRoom, context: Context) -> None:
    page = room.ask()
    context.desk.question = "who likes cranes"
    page.activate()
    room.rest()
    assert page.asker.asked.question == "who likes cranes"
    room.ask()
    page.activate()
    room.rest()
    assert page.asker.asked.question == QUESTION, "what was asked here since counts"


# ---- why one did not come


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (0, "It is 1st in the answer."),
        (4, "It was left out at “good enough”. It is much weaker than the best answer."),
        (6, "It was left out at “no repeats”."),
        (7, "It was left out at “allowed”. A newer memory replaced it."),
    ],
)
def test_a_pasted_id_is_told_its_stage(room: LabRoom, at: int, said: str) -> None:
    page = room.ask()
    page.list.setFocus()
    page.pane.why_button.click()
    found = room.dialog(WhyNotDialog)
    found.field.setText(room.lab.ids()[at])
    settle(room.qtbot, lambda: bool(found.sentence))
    assert found.sentence.startswith(said)
    found.accept()


def test_a_memory_is_found_by_its_words_and_one_that_was_no_candidate_is_told(room: LabRoom) -> None:
    page = room.ask()
    room.lab.memories.append(memory("Bring an umbrella to Bergen."))
    page.acts.ask_why_missing()
    found = room.dialog(WhyNotDialog)
    QTest.keyClicks(found.field, "umbrella")
    settle(room.qtbot, lambda: found.list.count() == 1)
    QTest.keyClick(found.field, Qt.Key.Key_Return)
    settle(room.qtbot, lambda: found.sentence.startswith("It was not a candidate"))
    assert "How similar it is in meaning is not known" in found.sentence
    assert "Should have been here" in found.sentence
    found.should_button.click()
    settle(room.qtbot, lambda: [one.kind for one in room.lab.items] == ["positive"])
    found.accept()


def test_words_no_memory_has_are_told(room: LabRoom) -> None:
    page = room.ask()
    page.acts.ask_why_missing()
    found = room.dialog(WhyNotDialog)
    QTest.keyClicks(found.field, "zeppelin")
    settle(room.qtbot, lambda: any(one.startswith("No memory has all of these words.") for one in texts(found)))
    assert found.sentence == ""
    found.field.setText("00000000-0000-7000-8000-000000000000")
    settle(room.qtbot, lambda: "No memory has this id." in texts(found))
    found.field.setText(room.lab.ids()[4])
    settle(room.qtbot, lambda: bool(found.sentence))
    found.field.setText("zeppelin")
    settle(room.qtbot, lambda: not found.sentence)
    found.accept()


def test_another_page_asks_why_of_the_last_question(room: LabRoom, context: Context) -> None:
    heard = hear(context)
    page = room.open(wish="why:something")
    assert heard.sentences[-1] == "Ask a question first."
    room.ask()
    page.activate(f"why:{room.lab.ids()[4]}")
    found = room.dialog(WhyNotDialog)
    settle(room.qtbot, lambda: found.sentence.startswith("It was left out"))
    found.accept()
