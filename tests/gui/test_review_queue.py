"""The queue of the Review page: filters, groups, batches, what closed, rules, little room, large and hostile text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from review_rig import FakeConflicts, alone, claim, drawn, item, memory, newcomer, rival, row_of, side
from review_room import Room, dialog_of, room_over
from window_rig import hear, settle

from core.types.reviews import ClosedRow, Decision, ReviewRow, ReviewRule
from core.types.values import Action, Source
from ui.context import Context
from ui.lists.list_view import ListModel
from ui.lists.row_spec import Heading
from ui.pages.review.item_panel import summarize_rows
from ui.pages.review.labels import claim_quote, describe_batch_action, describe_provenance, review_claim_note
from ui.pages.review.queue import ClosedDialog, QueueRows, RulesDialog, closed_line, queue_lines, rule_line
from ui.registry import ROOMS
from ui.shell.window import MainWindow
from ui.widgets.labels import describe_claim
from ui.widgets.plaintext import Stretch, split_stretches

HOSTILE = "<b>Sleep</b> &amp; <img src=x> \u202eevil\u202c\x1b[31m [a](http://b) %n {0}"
SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
NOW = 1_763_000_000_000


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[Room]:
    with room_over(context, qtbot) as made:
        yield made


def closed(resolution: str = "", number: int = 0) -> ClosedRow:
    return ClosedRow(f"c{number}", "contradiction", "Blue or green", resolution, "One no longer stands.", NOW, "a", "b")


# ---- filters


def test_filters_show_what_there_is_with_counts(room: Room) -> None:
    page = room.open(drawn())
    shown = [made.text() for made in page.queue.filters.findChildren(QAbstractButton) if made.isVisible()]
    assert shown == ["All", "Conflicts 3", "Held back 1", "Proposals 1", "Questions 2"]
    next(made for made in page.queue.filters.findChildren(QAbstractButton) if made.text() == "Questions 2").click()
    settle(room.qtbot, lambda: {row.kind for row in page.queue.rows} == {"entity_merge", "stale"})
    assert room.fake.asked[-1].kinds == ("stale", "gap", "entity_merge")
    settle(room.qtbot, lambda: page.item_panel.place == "1 of 2")


def test_a_filter_that_is_used_up_leads_back_to_all(room: Room) -> None:
    page = room.open([alone("proposal", "Node 24 runs."), alone("stale", "I drink oat milk.")])
    next(made for made in page.queue.filters.findChildren(QAbstractButton) if made.text() == "Proposals 1").click()
    settle(room.qtbot, lambda: len(page.queue.rows) == 1)
    settle(room.qtbot, page.is_settled)
    room.press(Qt.Key.Key_Right)
    settle(room.qtbot, lambda: page.states.currentWidget().accessibleName().startswith("Nothing of this kind"))  # type: ignore[union-attr]  # something is shown
    page.states.currentWidget().findChildren(QAbstractButton)[0].click()  # type: ignore[union-attr]  # the first: Show all
    settle(room.qtbot, lambda: [row.kind for row in page.queue.rows] == ["stale"])


# ---- groups and batches


def test_rows_are_grouped_in_the_order_of_harm() -> None:
    rows = [row_of(rival("A.", "B.")), row_of(alone("stale", "C.")), row_of(rival("D.", "E."))]
    lines = queue_lines(rows, "client")
    assert [line.title if isinstance(line, Heading) else line.id for line in lines] == [
        "Claude Code",
        rows[0].id,
        rows[2].id,
        "No client",
        rows[1].id,
    ]
    assert [line for line in queue_lines(rows, "none", 2) if isinstance(line, Heading)] == [
        Heading("Today", count=2),
        Heading("After that", count=1),
    ]
    assert queue_lines(rows, "none", 3) == rows
    assert [line.title for line in queue_lines(rows, "source") if isinstance(line, Heading)] == [
        "An assistant's words",
        "You said so",
    ]


def test_the_list_is_a_sound_model(qtmodeltester: ModelTester, context: Context) -> None:
    model: ListModel[ReviewRow] = ListModel(QueueRows(context.theme))
    model.show_lines(queue_lines([row_of(rival("A.", "B.")), row_of(alone("stale", "C."))], "client"))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert list(model.group_of(0)) == [1]
    assert list(model.group_of(3)) == [3]
    assert Heading("Today", count=2).accessible_text() == "Today, 2"


def test_several_are_decided_as_one_step(room: Room) -> None:
    heard = hear(room.context)
    items = [rival(f"Due on day {n}.", f"Due on day {n + 1}.") for n in range(4)]
    page = room.open(items)
    for _ in range(2):
        room.key(Qt.Key.Key_Down, SHIFT)
    settle(room.qtbot, lambda: page.panes.is_batch)
    assert page.batch.title == "3 chosen"
    room.press(Qt.Key.Key_Left)
    assert room.decided == [(tuple(one.id for one in items[:3]), Decision(Action.REJECT))]
    settle(room.qtbot, lambda: not page.panes.is_batch and [row.id for row in page.queue.rows] == [items[3].id])
    settle(room.qtbot, lambda: heard.sentences == ["Keep the existing memory: done."])


def test_a_heading_chooses_its_group_by_mouse_and_by_key(room: Room) -> None:
    items = [rival("A.", "B."), alone("proposal", "C."), alone("stale", "D.")]
    page = room.open(items)
    page.queue.group.show_choice("client")
    page.queue.group.chosen.emit("client")
    page.queue.list.select_near(1)
    room.key(Qt.Key.Key_G)
    assert [row.id for row in page.queue.list.chosen] == [items[0].id, items[1].id]
    page.queue.list.select_near(4)
    heading = page.queue.list.visualRect(page.queue.list.lines.index(0, 0)).center()
    QTest.mouseClick(page.queue.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(heading))
    assert len(page.queue.list.chosen) == 2
    assert page.panes.is_batch


def test_home_goes_to_the_first_question_past_its_heading(room: Room) -> None:
    page = room.open([rival("A.", "B."), alone("proposal", "C."), alone("stale", "D.")])
    page.queue.group.show_choice("client")
    page.queue.group.chosen.emit("client")
    room.key(Qt.Key.Key_End)
    assert page.queue.list.currentIndex().row() == page.queue.list.lines.rowCount() - 1
    room.key(Qt.Key.Key_Home)
    assert page.queue.list.currentIndex().row() == 1


def test_escape_lets_go_of_a_batch(room: Room) -> None:
    page = room.open([rival("A.", "B."), rival("C.", "D.")])
    room.key(Qt.Key.Key_A, CTRL)
    assert page.panes.is_batch
    room.key(Qt.Key.Key_Escape)
    assert len(page.queue.list.chosen) == 1
    settle(room.qtbot, lambda: not page.panes.is_batch)


def test_what_needs_a_text_is_not_decided_for_many(room: Room) -> None:
    heard = hear(room.context)
    page = room.open([rival("A.", "B."), rival("C.", "D.")])
    room.key(Qt.Key.Key_A, CTRL)
    room.press(Qt.Key.Key_M)
    assert room.decided == []
    assert heard.sentences == ["Dates, conditions and merged texts are decided one by one."]
    assert set(page.batch.buttons) == {Action.REJECT, Action.SUPERSEDE, Action.KEEP_BOTH, Action.SKIP}


def test_kinds_whose_keys_mean_something_else_are_never_decided_together(room: Room) -> None:
    page = room.open([rival("A.", "B."), alone("stale", "I drink oat milk.")])
    room.key(Qt.Key.Key_A, CTRL)
    assert set(page.batch.buttons) == {Action.SKIP}
    room.press(Qt.Key.Key_Left)
    assert room.decided == []
    room.press(Qt.Key.Key_S)
    assert room.decided[0][1].action is Action.SKIP


def test_many_of_one_kind_are_spoken_of_in_its_words() -> None:
    stale = [row_of(alone("stale", "A.")), row_of(alone("stale", "B."))]
    found = describe_batch_action(Action.SUPERSEDE, stale)
    assert found is not None
    assert found.title == "Still true"
    assert describe_batch_action(Action.KEEP_BOTH, stale) is None
    alone_ones = [row_of(alone("proposal", "A.")), row_of(alone("quarantine", "B."))]
    turned = describe_batch_action(Action.REJECT, alone_ones)
    assert turned is not None
    assert turned.title == "Reject all"
    assert summarize_rows([*alone_ones, *stale]) == "2 questions, 1 proposal, 1 held back. From Claude Code, you."


# ---- what closed, rules, nothing left


def test_what_closed_by_itself_is_told_with_its_reason(room: Room) -> None:
    page = room.open(drawn(), closed=[closed(), closed("", 1), closed("reject", 2)])
    labels = [found.text() for found in page.queue.findChildren(QLabel)]
    assert "2 more were closed automatically this week." in labels
    page.queue.see_why.click()
    dialog = dialog_of(page, ClosedDialog, room.qtbot)
    assert isinstance(dialog, ClosedDialog)
    settle(room.qtbot, lambda: len(dialog.list.lines.list_rows()) == 3)
    assert str(dialog.list.lines.index(0, 0).data()).startswith(
        "Blue or green. Closed automatically. One no longer stands."
    )
    assert closed_line(closed("reject"), NOW).why == "Kept the existing one. One no longer stands."
    dialog.close_button.click()


def test_rules_are_listed_and_can_be_taken_away(room: Room) -> None:
    heard = hear(room.context)
    page = room.open(drawn())
    room.fake.kept_rules = [ReviewRule("r1", "quarantine", Action.REJECT, "document", "Claude Code", NOW, 2)]
    page.queue.see_rules.click()
    dialog = dialog_of(page, RulesDialog, room.qtbot)
    assert isinstance(dialog, RulesDialog)
    said = rule_line(room.fake.kept_rules[0])
    assert said == "Reject: what is held back, from Claude Code"
    away = f"Forget the rule: {said}"
    settle(room.qtbot, lambda: any(made.accessibleName() == away for made in dialog.findChildren(QAbstractButton)))
    next(made for made in dialog.findChildren(QAbstractButton) if made.accessibleName() == away).click()
    settle(room.qtbot, lambda: dialog.note.startswith("There are none"))
    assert room.fake.kept_rules == []
    assert heard.sentences[-1].startswith("The rule was deleted.")
    dialog.close_button.click()


def test_an_empty_desk_teaches(room: Room) -> None:
    page = room.open([])
    shown = page.states.currentWidget()
    assert shown is not None
    assert shown.accessibleName().startswith("Nothing to review. When two memories disagree")
    room.key(Qt.Key.Key_Left)
    assert room.decided == []


def test_an_empty_desk_has_its_title_and_says_what_to_do_next(room: Room) -> None:
    gone: list[tuple[str, str]] = []
    room.context.desk.go.connect(lambda *to: gone.append(to))
    page = room.open([])
    shown = page.states.currentWidget()
    assert shown is not None
    labels = [label for label in shown.findChildren(QLabel) if label.isVisible()]
    assert [label.text() for label in labels if label.property("role") == "title"] == ["Review"]
    assert any("You have nothing to do now" in label.text() for label in labels)
    next(one for one in shown.findChildren(QPushButton) if one.text() == "Open the library").click()
    assert gone == [("library", "")]


def test_the_last_decision_leaves_an_empty_desk(room: Room) -> None:
    page = room.open([alone("proposal", "Node 24 runs.")])
    room.press(Qt.Key.Key_Right)
    settle(room.qtbot, lambda: "Nothing to review" in page.states.currentWidget().accessibleName())  # type: ignore[union-attr]  # something is shown


def test_more_than_the_cap_is_said(room: Room) -> None:
    page = room.open([rival(f"A{n}.", f"B{n}.") for n in range(230)])
    assert len(page.queue.rows) == 200
    assert page.item_panel.place == "1 of 230"
    assert "The 200 most important of 230 are shown." in [found.text() for found in page.queue.findChildren(QLabel)]


# ---- little room, large text, both themes


def test_with_little_room_queue_and_item_take_turns(room: Room) -> None:
    page = room.open(drawn(), width=620, height=700)
    assert page.queue.isHidden()
    assert page.item_panel.cards.is_stacked
    assert page.panes.back.isVisible()
    room.key(Qt.Key.Key_Down)
    settle(room.qtbot, lambda: page.item_panel.place == "2 of 7")
    room.key(Qt.Key.Key_Escape)
    assert page.queue.isVisible()
    assert not page.item_panel.isVisible()
    settle(room.qtbot, page.queue.list.hasFocus)
    QTest.keyClick(page.queue.list, Qt.Key.Key_Return)
    assert page.item_panel.isVisible()
    room.press(Qt.Key.Key_Left)
    assert len(room.decided) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", [100, 150])
@pytest.mark.parametrize("size", [(1370, 820), (950, 620)])
def test_the_buttons_are_in_reach_at_every_size(room: Room, theme: str, scale: int, size: tuple[int, int]) -> None:
    room.context.theme.apply_theme(theme, scale)
    page = room.open(drawn(), *size)
    room.qtbot.wait(50)
    assert page.item_panel.suggestion.act is not None
    buttons = [page.item_panel.suggestion.act, *page.item_panel.actions_bar.buttons.values()]
    if page.item_panel.reading.isAncestorOf(buttons[0]):  # too low: what is read would have no room above them
        assert (scale, size[1]) == (150, 620)
        page.item_panel.reading.ensureWidgetVisible(buttons[-1])
        buttons = buttons[-1:]
    for made in buttons:
        assert made.isVisible()
        for corner in (QPoint(0, 0), QPoint(made.width() - 1, made.height() - 1)):
            assert page.rect().contains(made.mapTo(page, corner))
    have, came = page.item_panel.existing_card, page.item_panel.incoming_card
    assert page.item_panel.cards.is_stacked or abs(have.width() - came.width()) <= 1
    assert page.item_panel.reading.height() >= 0.3 * page.item_panel.height()
    assert page.minimumSizeHint().width() <= size[0]
    room.context.theme.apply_theme("light", 100)


def test_the_text_is_not_cut_off(room: Room) -> None:
    page = room.open([rival("Short.", "The release moved to the twelfth of December, " * 4)])
    room.qtbot.wait(50)
    text = page.item_panel.incoming_card.text
    assert text.document().size().height() <= text.height() + 1
    long = room.open([rival("Short.", "The release moved to the twelfth of December, " * 60)])
    card = long.item_panel.incoming_card
    settle(room.qtbot, lambda: card.text.is_folded and card.fold.isVisible())
    card.fold.click()
    assert not card.text.is_folded
    assert card.fold.text() == "Show less"


# ---- hostile text


def test_hostile_text_is_shown_as_it_is(room: Room) -> None:
    odd = item(
        "contradiction",
        side(newcomer(HOSTILE), "evil", claim(HOSTILE, "is<i>", HOSTILE, HOSTILE), client=HOSTILE, origin=HOSTILE),
        side(memory(HOSTILE, source=Source.DOCUMENT), origin=HOSTILE),
        question=HOSTILE,
        why=(HOSTILE,),
    )
    page = room.open([odd, rival("A.", "B.")])
    shown = page.item_panel.incoming_card.text
    assert "".join(part.original for part in shown.parts) == HOSTILE
    assert [part.displayed_text for part in shown.parts if part.name] == ["U+202E", "U+202C", "U+001B"]
    assert shown.toPlainText().startswith("<b>Sleep</b> &amp; <img src=x> U+202E")
    shown.selectAll()
    assert shown.selected_text() == HOSTILE
    assert page.item_panel.incoming_card.hidden.isVisible()
    labels = page.findChildren(QLabel)
    assert all(found.textFormat() is Qt.TextFormat.PlainText for found in labels if "<b>" in found.text())
    assert not any("\u202e" in found.text() or "\x1b" in found.text() for found in labels)
    assert "\u202e" not in page.queue.list.spec.accessible_text(page.queue.rows[0])
    assert "\u202e" not in page.item_panel.question
    room.key(Qt.Key.Key_A, CTRL)
    assert page.panes.is_batch
    assert "\u202e" not in page.batch.list.item(0).text()


@given(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=60),
    st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70)), max_size=6),
)
def test_a_text_survives_any_marks(text: str, marks: list[tuple[int, int]]) -> None:
    found = list(split_stretches(text, marks))
    assert "".join(part.original for part in found) == text
    odd = sum(len(part.original) for part in found if part.is_odd)
    inside = {place for start, end in marks for place in range(max(0, start), min(len(text), end))}
    assert odd <= len(inside | set()) + text.count("\r\n")
    assert all(part.displayed_text for part in found)


def test_a_mark_covers_exactly_its_words() -> None:
    assert list(split_stretches("The cat is black.", [(11, 16)])) == [
        Stretch("The cat is ", "The cat is "),
        Stretch("black", "black", is_odd=True),
        Stretch(".", "."),
    ]


def test_what_is_claimed_is_said_with_its_evidence() -> None:
    text = "The plan says a lot of things. " * 8 + "Harbour moves to Frankfurt in winter. " + "And so on. " * 20
    found = claim("Harbour", "located_at", "Frankfurt", text, confidence=0.84, sources=3, against=1)
    assert describe_claim(found) == "Harbour is at Frankfurt"
    assert review_claim_note(found) == "84 % confidence · 3 sources · 1 against"
    quote = claim_quote(text, found.spans)
    assert "Harbour moves to Frankfurt in winter." in quote
    assert (quote[:3], quote[-3:]) == ("“… ", " …”")
    assert claim_quote("Harbour moves to Frankfurt.", found.spans) == ""
    assert describe_claim(claim("I", "likes", "tea", "", polarity="negative")) == "You do not like tea"


@pytest.mark.parametrize(
    ("source", "more", "said"),
    [
        (Source.USER_EXPLICIT, {}, "You"),
        (Source.USER_EXPLICIT, {"client": "Chat"}, "You, told to Chat"),
        (Source.USER_IMPLICIT, {"client": "Chat"}, "You, according to Chat"),
        (Source.USER_IMPLICIT, {"speaker": "Tove"}, "Tove"),
        (Source.USER_EXPLICIT, {"speaker": "Tove", "client": "Chat"}, "Tove, told to Chat"),
        (Source.USER_IMPLICIT, {"speaker": "Tove", "client": "Chat"}, "Tove, according to Chat"),
        (Source.DOCUMENT, {"origin": "plan.md"}, "Document: plan.md"),
        (Source.INFERENCE, {"client": "Chat"}, "An assistant's words, added by Chat"),
        (Source.TOOL_OUTPUT, {}, "A tool's output"),
    ],
)
def test_where_it_comes_from_is_said_plainly(source: Source, more: dict[str, str], said: str) -> None:
    assert describe_provenance(side(memory("A.", source=source), **more)) == said


# ---- for those who do not see it, and without a mouse


def test_everything_has_a_name(room: Room) -> None:
    page = room.open(drawn())
    for made in page.findChildren(QAbstractButton):
        assert made.accessibleName().strip() or made.isHidden(), made
    for widget in (
        page.queue.list,
        page.item_panel.existing_card,
        page.item_panel.incoming_card,
        page.item_panel.existing_card.text,
        page.item_panel.suggestion,
    ):
        assert widget.accessibleName()
    assert page.item_panel.suggestion.act is not None
    assert page.item_panel.suggestion.act.accessibleDescription() == "Key D"
    assert page.item_panel.existing_card.accessibleName() == "Existing memory, trusted 97 %"


def test_tab_goes_from_the_queue_through_the_cards_to_the_buttons(room: Room) -> None:
    page = room.open(drawn(), width=1300, height=860)
    page.queue.list.setFocus()
    visited: list[QWidget] = []
    for _ in range(40):
        QTest.keyClick(QApplication.focusWidget() or page, Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        assert now is not None
        if now is page.queue.list:
            break
        visited.append(now)
    assert page.item_panel.suggestion.act in visited
    wanted = [
        page.item_panel.existing_card.closer,
        page.item_panel.suggestion.act,
        page.item_panel.actions_bar.buttons[Action.REJECT],
    ]
    places = [visited.index(one) for one in wanted]
    assert places == sorted(places)
    assert page.item_panel.existing_card.text not in visited  # it would hold the keyboard up


def test_enter_in_the_queue_goes_on_to_what_is_suggested(room: Room) -> None:
    page = room.open(drawn())
    QTest.keyClick(page.queue.list, Qt.Key.Key_Return)
    assert page.item_panel.suggestion.act is not None
    assert page.item_panel.suggestion.act.hasFocus()
    assert room.decided == []


# ---- in the window


@pytest.fixture
def window(context: Context, rig: Rig, qtbot: QtBot) -> Iterator[MainWindow]:
    rig.engine.conflicts = FakeConflicts(drawn())  # type: ignore[assignment]  # stands for the engine's group
    made = MainWindow(context, ROOMS)
    made.show()
    qtbot.waitExposed(made)
    yield made
    settle(qtbot, lambda: not context.tasks.running)
    made.close()
    made.deleteLater()


def test_the_rail_and_the_status_bar_count_what_waits(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    def named(name: str) -> list[QAbstractButton]:
        return [made for made in window.findChildren(QAbstractButton) if made.accessibleName() == name]

    settle(qtbot, lambda: bool(named("Review, 7 open")) and bool(named("Review: 7 open")))
    named("Review: 7 open")[0].click()
    assert window.house is not None
    assert window.house.current == "review"
    rig.engine.conflicts.items.clear()  # type: ignore[attr-defined]  # of the fake
    rig.store("The boat is called Heron.")
    settle(qtbot, lambda: not named("Review, 7 open"))
    assert not any(made.isVisible() for made in window.status.findChildren(QAbstractButton) if "Review" in made.text())


def test_the_inspector_stands_beside_it_only_when_asked_for(window: MainWindow, qtbot: QtBot) -> None:
    house = window.house
    assert house is not None
    assert house.inspector is not None
    window.show_page("library")
    window.context.selection.select("m", "test")
    assert house.inspector.isVisible()
    window.show_page("review")
    settle(qtbot, lambda: house.page is not None and house.page.is_settled())
    assert not house.inspector.isVisible()
    window.toggle_inspector()
    assert house.inspector.isVisible()
    window.show_page("library")
    window.toggle_inspector()
    assert not house.inspector.isVisible()
    window.show_page("review")
    window.context.selection.select("n", "test")
    assert house.inspector.isVisible()  # each kind of page remembers its own
    QGuiApplication.processEvents()
