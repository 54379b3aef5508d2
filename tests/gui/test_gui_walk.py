"""The walk along the landmarks over a real engine: keys, camera, rehearsal, what is due, texts that mean no good."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from engine_rig import DAY_MS, Rig, later
from palace_rig import furnish, opened, shut
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from walk_rig import choose_landmarks, remove_landmarks
from window_rig import hear, settle

from core.errors import Code, EnvironmentFaultError
from core.events import Changed
from core.types.values import OWNER_ACTOR
from core.types.views import Grade, WalkStop
from ui.context import Context
from ui.pages.palace.page import PalacePage
from ui.pages.palace.walk.card import WalkCard
from ui.pages.palace.walk.round import WalkRound

HOSTILE = "<b>bold</b> <img src=x> \u202eevil & the boat at the harbour with sails " + "x" * 400
KEY = Qt.Key


@pytest.fixture
def page(qtbot: QtBot, context: Context, rig: Rig) -> Iterator[PalacePage]:
    """One wing whose rooms have two landmarks each."""
    furnish(rig)
    choose_landmarks(rig)
    made = opened(qtbot, context)
    yield made
    shut(qtbot, made)


def card(page: PalacePage) -> WalkCard:
    return page.walk.card


def walking(page: PalacePage) -> WalkRound:
    found = page.walk.round
    assert found is not None
    return found


def begin(qtbot: QtBot, page: PalacePage) -> WalkRound:
    """Begin by the key."""
    QTest.keyClick(page.canvas, KEY.Key_W)
    settle(qtbot, lambda: page.walk.round is not None)
    return walking(page)


def press(page: PalacePage, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(card(page), key)


def grade(qtbot: QtBot, page: PalacePage, key: Qt.Key) -> None:
    """Ask for the words, then answer."""
    before = walking(page).at, walking(page).is_over
    press(page, KEY.Key_Space, key)
    settle(qtbot, lambda: (walking(page).at, walking(page).is_over) != before)


def words(page: PalacePage) -> str:
    """Everything that can be read on the card."""
    shown = [label.text() for label in card(page).findChildren(QLabel) if label.isVisible()]
    return " ".join([*shown, card(page).text.toPlainText() if card(page).text.isVisible() else ""])


def kept(rig: Rig) -> int:
    return int(rig.value("SELECT count(*) FROM rehearsals"))


def test_keys_lead_along_the_landmarks_and_back(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    count = len(round_.stops)
    assert count == 2 * len(page.scene.rooms)
    first = round_.current
    assert card(page).text.toPlainText() == first.text
    assert card(page).room.whole == first.room
    assert card(page).place.text() == f"1 of {count}"
    assert page.canvas.marks.selected == first.memory_id
    press(page, KEY.Key_Right, KEY.Key_Space)
    assert round_.at == 2
    assert card(page).text.toPlainText() == round_.current.text
    press(page, KEY.Key_Left, KEY.Key_Left, KEY.Key_Left)
    assert round_.at == 0
    assert not card(page).back.isEnabled()
    assert first.text in card(page).accessibleDescription()
    press(page, KEY.Key_Escape)
    assert card(page).isHidden()
    assert page.walk.round is None
    assert page.canvas.hasFocus()
    assert page.canvas.marks.selected == ""
    assert kept(rig) == 0


def test_words_use_the_width_of_the_card(qtbot: QtBot, page: PalacePage) -> None:
    page.resize(1300, 900)
    begin(qtbot, page)
    for _ in range(3):
        text = card(page).text
        text.resize(180, text.height())  # as narrow as it was before it was seen
        press(page, KEY.Key_Right)
        assert text.width() > 400
        assert text.document().textWidth() == text.viewport().width()


def test_the_camera_goes_to_each_landmark_above_the_card(qtbot: QtBot, page: PalacePage) -> None:
    round_ = begin(qtbot, page)
    for _ in range(3):
        spot = page.scene.spot_of(round_.current.memory_id)
        assert spot is not None
        canvas = page.canvas
        middle = canvas.painter.spot_middle(spot, canvas.camera.goal, page.scene.look)
        assert 0 < middle.x() < canvas.width()
        assert 0 < middle.y() < card(page).geometry().top()
        press(page, KEY.Key_Right)


def test_mouse_buttons_do_what_the_keys_do(qtbot: QtBot, page: PalacePage) -> None:
    QTest.mouseClick(page.walk.controls.walk, Qt.MouseButton.LeftButton)
    settle(qtbot, lambda: page.walk.round is not None)
    round_ = walking(page)
    click = Qt.MouseButton.LeftButton
    QTest.mouseClick(card(page).next, click)
    assert round_.at == 1
    QTest.mouseClick(card(page).back, click)
    assert round_.at == 0
    QTest.mouseClick(card(page).switch, click)
    assert card(page).reveal.isVisible()
    QTest.mouseClick(card(page).reveal, click)
    assert card(page).text.isVisible()
    QTest.mouseClick(card(page).answers[2].button, click)
    settle(qtbot, lambda: round_.at == 1)
    QTest.mouseClick(card(page).close_button, click)
    assert card(page).isHidden()


def test_a_walk_that_ended_stays_away_when_the_theme_changes(qtbot: QtBot, page: PalacePage, context: Context) -> None:
    begin(qtbot, page)
    press(page, KEY.Key_Escape)
    assert card(page).isHidden()
    context.theme.apply_theme("dark", 100)
    assert card(page).isHidden()


def test_the_end_says_what_was_seen_and_offers_more(qtbot: QtBot, page: PalacePage) -> None:
    round_ = begin(qtbot, page)
    press(page, *[KEY.Key_Right] * len(round_.stops))
    assert round_.is_over
    assert f"You saw {len(round_.stops)} landmarks in {len(page.scene.rooms)} rooms." in words(page)
    assert page.canvas.marks.selected == ""
    press(page, KEY.Key_Left)
    assert round_.at == len(round_.stops) - 1
    press(page, KEY.Key_Right, KEY.Key_W)
    assert walking(page) is not round_
    assert walking(page).at == 0
    press(page, *[KEY.Key_Right] * len(round_.stops), KEY.Key_R)
    assert walking(page).is_hidden
    assert walking(page).at == 0


def test_rehearsal_hides_the_words_until_they_are_asked_for(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R)
    stop = round_.current
    assert "What is stored here?" in words(page)
    assert stop.text not in words(page) + card(page).accessibleDescription() + page.canvas.accessibleDescription()
    assert stop.text not in page.line.whole
    assert page.canvas.marks.selected == stop.memory_id
    heads = page.canvas.heads
    settle(qtbot, lambda: not heads.missing_ids([stop.memory_id], 1))
    assert heads.get_row(stop.memory_id) is None
    assert heads.concealed == {one.memory_id for one in round_.stops}
    press(page, KEY.Key_3)
    assert round_.at == 0
    press(page, KEY.Key_Space)
    assert card(page).text.toPlainText() == stop.text
    assert heads.get_row(stop.memory_id) is not None
    assert heads.concealed == {one.memory_id for one in round_.stops[1:]}
    assert [answer.span.text() for answer in card(page).answers] == [
        "in 10 minutes",
        "in 15 minutes",
        "in 2 days",
        "in 8 days",
    ]
    press(page, KEY.Key_Space)
    assert round_.at == 0
    press(page, KEY.Key_R)
    assert not round_.is_rehearsal
    assert not heads.concealed
    assert kept(rig) == 0


def test_grades_are_kept_and_what_was_not_recalled_comes_once_more(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    count = len(round_.stops)
    press(page, KEY.Key_R)
    first = round_.current.memory_id
    grade(qtbot, page, KEY.Key_1)
    assert len(round_.stops) == count + 1
    for _ in range(count - 1):
        grade(qtbot, page, KEY.Key_3)
    assert round_.current.memory_id == first
    grade(qtbot, page, KEY.Key_4)
    assert round_.is_over
    assert kept(rig) == count
    assert f"You recalled {count - 1} of {count}." in words(page)
    assert "The next one is due in 1 day." in words(page)
    assert rig.value("SELECT times FROM rehearsals WHERE memory_id = ?", first) == 2


def test_what_is_due_is_offered_in_the_head_and_nothing_else_is_asked(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    due = page.walk.controls.due
    assert not due.isVisible()
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R)
    grade(qtbot, page, KEY.Key_3)
    asked = round_.stops[0].memory_id
    press(page, KEY.Key_Escape)
    later(rig, round_.stops[0].intervals[Grade.GOOD] / DAY_MS)
    page.walk.refresh_due()
    settle(qtbot, due.isVisible)
    assert due.text() == "Rehearse what is due (1)"
    QTest.mouseClick(due, Qt.MouseButton.LeftButton)
    settle(qtbot, lambda: page.walk.round is not None)
    assert [stop.memory_id for stop in walking(page).stops] == [asked]
    assert walking(page).is_hidden
    grade(qtbot, page, KEY.Key_3)
    assert walking(page).is_over
    press(page, KEY.Key_Escape)
    settle(qtbot, lambda: not due.isVisible())


def test_undo_of_a_grade_shows_the_landmark_as_it_was(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R)
    grade(qtbot, page, KEY.Key_3)
    assert round_.stops[0].times == 1
    rig.undo()
    settle(qtbot, lambda: round_.stops[0].times == 0)
    assert kept(rig) == 0


def test_a_landmark_that_is_forgotten_under_way_leaves_the_walk(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    count = len(round_.stops)
    press(page, KEY.Key_Right)
    here = round_.current.memory_id
    rig.forget(round_.stops[0].memory_id)
    settle(qtbot, lambda: len(round_.stops) == count - 1)
    assert round_.current.memory_id == here
    rig.forget(here)
    settle(qtbot, lambda: round_.current.memory_id != here)
    assert card(page).text.toPlainText() == round_.current.text


def test_a_change_elsewhere_moves_neither_camera_nor_words(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    press(page, KEY.Key_Right)
    canvas, text = page.canvas, card(page).text
    canvas.camera.pan_by(37, 21)
    text.selectAll()
    lens, here = canvas.camera.goal, round_.current.memory_id
    rig.forget(round_.stops[0].memory_id)
    settle(qtbot, lambda: round_.at == 0)
    settle(qtbot, lambda: not page.context.tasks.running)
    assert round_.current.memory_id == here
    assert canvas.camera.goal == lens
    assert text.selected_text() == round_.current.text
    assert card(page).place.text() == f"1 of {len(round_.stops)}"


def test_a_change_while_the_plan_is_hidden_is_taken_once_it_is_seen(
    qtbot: QtBot, page: PalacePage, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_ = begin(qtbot, page)
    count, asked = len(round_.stops), list[object]()
    read = rig.engine.rehearsals.read_walk

    def note(wing: str | None) -> Future[tuple[WalkStop, ...]]:
        asked.append(wing)
        return read(wing)

    monkeypatch.setattr(rig.engine.rehearsals, "read_walk", note)
    page.hide()
    rig.forget(round_.stops[-1].memory_id)
    settle(qtbot, lambda: page.is_stale)
    assert asked == []
    page.show()
    settle(qtbot, lambda: len(round_.stops) == count - 1)


def test_a_change_does_not_void_a_rehearsal_that_is_about_to_begin(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R)
    grade(qtbot, page, KEY.Key_3)
    later(rig, 30)
    page.walk.start_due()
    page.walk.note_change(Changed("forget", (round_.stops[-1].memory_id,), OWNER_ACTOR, 1))
    settle(qtbot, lambda: walking(page) is not round_)
    assert walking(page).is_rehearsal
    assert len(walking(page).stops) == 1


def test_what_becomes_due_with_time_is_offered_while_the_plan_is_seen(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R)
    grade(qtbot, page, KEY.Key_3)
    press(page, KEY.Key_Escape)
    settle(qtbot, lambda: not page.context.tasks.running)
    assert not page.walk.controls.due.isVisible()
    later(rig, 30)
    assert page.walk._minute.isActive()
    page.walk._minute.timeout.emit()
    settle(qtbot, page.walk.controls.due.isVisible)
    assert len(round_.stops) > 1
    page.deactivate()
    assert not page.walk._minute.isActive()


def test_no_step_flies_more_than_once(qtbot: QtBot, page: PalacePage) -> None:
    round_ = begin(qtbot, page)
    flights = list[int]()
    page.context.theme.reduced_motion = False
    page.canvas.camera.departed.connect(lambda: flights.append(round_.at))
    press(page, *[KEY.Key_Right] * (len(round_.stops) - 1))
    assert len(flights) >= len(page.scene.rooms) - 1
    assert len(set(flights)) == len(flights)
    page.canvas.camera.finish_flight()


def test_space_presses_no_other_button_after_one_is_gone(qtbot: QtBot, page: PalacePage) -> None:
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R)
    for button in (card(page).reveal, card(page).answers[2].button):
        at = round_.at
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(button, KEY.Key_Space)
        settle(qtbot, lambda button=button: not button.isVisible())  # type: ignore[misc]  # its default is a widget
        assert card(page).hasFocus()
    assert round_.at == at + 1
    assert round_.is_hidden


def test_keys_are_the_walks_after_a_click_on_the_words(qtbot: QtBot, page: PalacePage) -> None:
    round_ = begin(qtbot, page)
    text = card(page).text
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton)
    assert text.hasFocus()
    QTest.keyClick(text, KEY.Key_Space)
    assert round_.at == 1
    QTest.keyClick(text, KEY.Key_Left)
    assert round_.at == 0
    QTest.keyClick(text, KEY.Key_R)
    assert round_.is_hidden
    press(page, KEY.Key_Space)
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton)
    QTest.keyClick(text, KEY.Key_3)
    settle(qtbot, lambda: round_.at == 1)


def test_hostile_text_stays_text_and_never_leaves_the_card(qtbot: QtBot, context: Context, rig: Rig) -> None:
    rig.store(HOSTILE)
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    choose_landmarks(rig)
    page = opened(qtbot, context)
    page.resize(640, 480)
    begin(qtbot, page)
    shown = card(page).text.toPlainText()
    assert shown.startswith("<b>bold</b> <img src=x> U+202Eevil & the boat")
    assert page.canvas.rect().contains(card(page).geometry())
    assert card(page).text.document().size().width() <= card(page).width()
    assert all(
        label.textFormat() is Qt.TextFormat.PlainText for label in card(page).findChildren(QLabel) if label.text()
    )
    shut(qtbot, page)


def test_a_wing_without_landmarks_says_why(qtbot: QtBot, page: PalacePage, rig: Rig) -> None:
    rig.write(remove_landmarks)
    QTest.keyClick(page.canvas, KEY.Key_W)
    settle(qtbot, lambda: not card(page).isHidden())
    assert "No landmarks here yet" in words(page)
    assert "up to six memories of each room" in words(page)
    assert page.walk.round is None
    press(page, KEY.Key_Right, KEY.Key_R, KEY.Key_1, KEY.Key_Escape)
    assert card(page).isHidden()
    assert page.canvas.hasFocus()


def test_keys_are_the_walks_on_its_buttons_and_after_a_click_on_the_plan(qtbot: QtBot, page: PalacePage) -> None:
    round_ = begin(qtbot, page)
    button = card(page).switch
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, KEY.Key_Right)
    assert round_.at == 1
    QTest.keyClick(button, KEY.Key_Space)
    assert round_.is_rehearsal
    page.canvas.setFocus(Qt.FocusReason.MouseFocusReason)
    assert card(page).hasFocus()


def test_a_grade_that_fails_is_told_and_can_be_given_again(
    qtbot: QtBot, page: PalacePage, context: Context, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = hear(context)
    round_ = begin(qtbot, page)
    press(page, KEY.Key_R, KEY.Key_Space)
    broken: Future[object] = Future()
    broken.set_exception(EnvironmentFaultError(Code.DISK_FULL, "The disk is full."))
    with monkeypatch.context() as patch:
        patch.setattr(rig.engine.rehearsals, "grade", lambda *_: broken)
        press(page, KEY.Key_3)
        settle(qtbot, lambda: len(heard.problems) == 1)
    assert round_.at == 0
    press(page, KEY.Key_3)
    settle(qtbot, lambda: round_.at == 1)


@pytest.mark.parametrize("scale", [100, 200])
def test_the_card_stays_inside_a_small_plan_with_large_text(
    qtbot: QtBot, page: PalacePage, context: Context, scale: int
) -> None:
    page.resize(660, 640)
    begin(qtbot, page)
    context.theme.apply_theme("dark", scale, reduced_motion=True)
    press(page, KEY.Key_R)
    assert page.canvas.rect().contains(card(page).geometry())
    press(page, KEY.Key_Space)
    assert page.canvas.rect().contains(card(page).geometry())
    for answer in card(page).answers:
        assert card(page).rect().contains(answer.geometry().translated(card(page)._foot.pos()))
