"""The inspector's claims: sentences with their state, words that stand out in the text, quotes, and both sides."""

from __future__ import annotations

import pytest
from belief_rig import DAY_MS, claim, evidence, item
from engine_rig import START_MS, Rig
from inspector_rig import look, press, shown_inspector, text_section, words_of
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot
from window_rig import settle, window_context

from core.types.memory import ClaimHeld
from core.types.reviews import ClaimSeen
from core.types.values import Kind, Source
from ui.context import Context
from ui.inspector.claims import ClaimBox, ClaimRow, ClaimsSection, OpposedBox, StateMark
from ui.inspector.panel import Inspector
from ui.inspector.text_view import marked_runs_of_text, shown_span
from ui.inspector.trust import describe_claim_state
from ui.widgets.labels import describe_claim

LIVES = "I live in Lisbon since March and work at Quillwort Press."


def part_of(inspector: Inspector) -> ClaimsSection:
    """The part of the claims."""
    part = inspector.find_section("claims")
    assert isinstance(part, ClaimsSection)
    return part


def boxes(inspector: Inspector) -> list[ClaimBox]:
    """The claims, from above."""
    found = [box for box in part_of(inspector).findChildren(ClaimBox) if not box.isHidden()]
    return sorted(found, key=lambda box: box.y())


def pointed(inspector: Inspector) -> tuple[str, ...]:
    """The words that stand out."""
    return text_section(inspector).view.pointed


def an_episode(rig: Rig, text: str = LIVES) -> str:
    """A memory in which nothing is read by itself."""
    return rig.store(text, kind=Kind.EPISODE).memory_id


def enter(row: ClaimRow) -> None:
    """The pointer comes."""
    QApplication.sendEvent(row, QEnterEvent(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2)))


def leave(row: ClaimRow) -> None:
    """The pointer goes."""
    QApplication.sendEvent(row, QEvent(QEvent.Type.Leave))


def seen(predicate: str, value: str, subject: str = "user", **more: object) -> ClaimSeen:
    """A claim by itself."""
    values = {
        "exclusive": True, "polarity": "positive", "state": "asserted", "confidence": 0.9, "spans": (), "sources": 1,
        "against": 0, "valid_from": None, "valid_to": None, **more,
    }  # fmt: skip
    return ClaimSeen("c", subject, predicate, value, **values)  # type: ignore[arg-type]  # a bag of fields


def test_claims_are_sentences_with_their_state_those_that_hold_first(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = an_episode(rig)
    claim(rig, memory_id, "works_at", "Quillwort Press", "Quillwort Press", state="disputed", confidence=0.6)
    claim(rig, memory_id, "lives_in", "Lisbon", "live in Lisbon", valid_from=START_MS - 30 * DAY_MS)
    look(qtbot, inspector, context, memory_id)
    found = boxes(inspector)
    names = [box.row.accessibleName() for box in found]
    assert names[0].startswith("You live in Lisbon. Current · ")
    assert "from 15 Oct 2023" in names[0]
    assert names[1].startswith("You work at Quillwort Press. Disputed · ")
    assert [box.findChildren(StateMark)[0].state for box in found] == ["asserted", "disputed"]
    assert all(box.row.accessibleDescription() for box in found)


def test_words_stand_out_while_a_claim_is_looked_at_by_pointer(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = an_episode(rig)
    made = claim(rig, memory_id, "lives_in", "Lisbon", "live in Lisbon")
    evidence(rig, made, memory_id, "since March", "contradicting")
    look(qtbot, inspector, context, memory_id)
    view, row = text_section(inspector).view, boxes(inspector)[0].row
    assert not pointed(inspector)
    enter(row)
    assert pointed(inspector) == ("live in Lisbon", "since March")
    marked = view.extraSelections()
    assert len({mark.format.underlineStyle() for mark in marked}) == 2
    assert len({mark.format.background().color().name() for mark in marked}) == 2
    assert view.toPlainText() == LIVES
    leave(row)
    assert not pointed(inspector)


def test_words_stand_out_while_a_claim_has_the_keyboard(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = an_episode(rig)
    claim(rig, memory_id, "lives_in", "Lisbon", "live in Lisbon")
    claim(rig, memory_id, "works_at", "Quillwort Press", "Quillwort Press")
    look(qtbot, inspector, context, memory_id)
    inspector.activateWindow()
    first, second = (box.row for box in boxes(inspector))
    first.setFocus(Qt.FocusReason.TabFocusReason)
    assert pointed(inspector) == ("live in Lisbon",)
    QTest.keyClick(first, Qt.Key.Key_Tab)
    assert second.hasFocus()
    assert pointed(inspector) == ("Quillwort Press",)
    second.clearFocus()
    assert not pointed(inspector)


def test_pressing_a_claim_shows_its_quotes_and_opens_the_fold_that_hides_its_words(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = an_episode(rig, "A line about the river. " * 120 + "I live in Lisbon.")
    made = claim(rig, memory_id, "lives_in", "Lisbon", "live in Lisbon")
    other = rig.store("The letter <b>names</b> Lisbon.", kind=Kind.EPISODE, source=Source.DOCUMENT).memory_id
    evidence(rig, made, other, "<b>names</b> Lisbon")
    look(qtbot, inspector, context, memory_id)
    part, box = text_section(inspector), boxes(inspector)[0]
    assert part.view.is_folded
    box.row.click()
    assert box.is_open
    settle(qtbot, lambda: not part.view.is_folded)
    said = words_of(box)
    assert "For it · In this text | “live in Lisbon”" in said
    assert "“<b>names</b> Lisbon”" in said
    assert all(found.textFormat() is Qt.TextFormat.PlainText for found in box.findChildren(QLabel) if found.text())
    press(box, "Show")
    settle(qtbot, lambda: context.selection.current == other)


def test_a_refresh_leaves_open_what_is_open(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = an_episode(rig)
    claim(rig, memory_id, "lives_in", "Lisbon", "live in Lisbon")
    look(qtbot, inspector, context, memory_id)
    box = boxes(inspector)[0]
    box.row.click()
    rig.store("Something else happens.")
    qtbot.wait(400)
    assert boxes(inspector)[0] is box
    assert box.is_open


def test_both_sides_of_a_contradiction_lead_to_the_desk_and_to_the_other(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    one = an_episode(rig)
    two = an_episode(rig, "I live in Faro.")
    claim(rig, one, "lives_in", "Lisbon", "live in Lisbon")
    claim(rig, two, "lives_in", "Faro", "live in Faro", state="draft")
    wanted = item(rig, two, one)
    look(qtbot, inspector, context, one)
    box = part_of(inspector).findChildren(OpposedBox)[0]
    said = words_of(box)
    assert said.startswith("Two memories disagree | This memory · trust ")
    assert "You live in Lisbon | New memory · trust " in said
    assert said.endswith("You live in Faro")
    gone: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, wish: gone.append((page, wish)))
    press(box, "Decide in Review")
    assert gone == [("review", wanted)]
    press(box, "Show the other")
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.id == two)
    assert "Existing memory · trust " in words_of(part_of(inspector).findChildren(OpposedBox)[-1])


def test_where_no_claim_was_read_the_other_text_stands_for_itself(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    one, two = an_episode(rig), an_episode(rig, "<i>Faro</i> it is.")
    item(rig, two, one, "classification")
    look(qtbot, inspector, context, one)
    box = part_of(inspector).findChildren(OpposedBox)[0]
    assert words_of(box).endswith("| <i>Faro</i> it is.")
    assert "This memory" not in words_of(box)
    assert box.property("tone") == "plain"


def test_a_memory_that_waits_says_so(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    one = an_episode(rig)
    item(rig, one, kind="injection")
    look(qtbot, inspector, context, one)
    box = part_of(inspector).findChildren(OpposedBox)[0]
    assert words_of(box) == "It reads like an instruction"
    assert [made.text() for made in box.findChildren(QPushButton)] == ["Decide in Review"]


def test_a_memory_without_claims_has_no_such_part(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, an_episode(rig, "Hm."))
    assert part_of(inspector).isHidden()


def test_sentences_of_claims() -> None:
    told = [
        describe_claim(seen("lives_in", "Lisbon")),
        describe_claim(seen("lives_in", "Lisbon", "Mara")),
        describe_claim(seen("lives_in", "Porto", "You")),
        describe_claim(seen("likes", "kale", polarity="negative")),
        describe_claim(seen("favourite_river", "Tagus")),
        describe_claim(seen("favourite_river", "Tagus", "Mara", polarity="negative")),
        describe_claim(seen("has_pet", "a lurcher\u202e", "The User")),
    ]
    assert told == [
        "You live in Lisbon", "Mara lives in Lisbon", "You live in Porto", "You do not like kale",
        "You · favourite river · Tagus",
        "Mara · not favourite river · Tagus", "You have as pet a lurcher‹U+202E›",
    ]  # fmt: skip


def test_states_say_what_took_the_place_and_under_which_condition() -> None:
    over = seen("lives_in", "Porto", state="superseded", valid_to=START_MS)
    held = ClaimHeld(over, (), (), 0, "Lisbon", alone=False)
    assert describe_claim_state(held) == "Outdated · Now: Lisbon · 90 % confidence · 1 source · until 14 Nov 2023"
    when = seen("prefers", "tea", qualifiers={"when": "on Fridays", "kept": "x"}, against=2, sources=3)
    words = describe_claim_state(ClaimHeld(when, (), (), 0, None, alone=True))
    assert words == (
        "Current · 90 % confidence · 3 sources · 2 quotes against it · only when on Fridays · kept alongside another"
    )


def test_places_are_found_behind_what_cannot_be_seen() -> None:
    text = "a\u202eb😀\r\nc weir"
    runs = marked_runs_of_text(text)
    shown = "".join(run.displayed_text for run in runs).encode("utf-16-le")
    start, end = shown_span(runs, text.index("weir"), len(text))
    assert shown[2 * start : 2 * end].decode("utf-16-le") == "weir"
    first, last = shown_span(runs, 1, 2)
    assert shown[2 * first : 2 * last].decode("utf-16-le") == "U+202E"
    assert shown_span(runs, 99, 100) == (0, 0)


@pytest.mark.parametrize(("theme", "scale"), [("light", 100), ("dark", 150)])
def test_it_fits_a_narrow_dock(qtbot: QtBot, rig: Rig, theme: str, scale: int) -> None:
    one = an_episode(rig)
    two = an_episode(rig, "I live in Faro.")
    claim(rig, one, "lives_in", "Lisbon, in the old town behind the cathedral", "live in Lisbon")
    claim(rig, two, "lives_in", "Faro", "live in Faro", state="draft")
    item(rig, two, one)
    with window_context(rig.engine, theme=theme, scale=scale) as context, shown_inspector(qtbot, context) as made:
        made.resize(280, 700)
        look(qtbot, made, context, one)
        settle(qtbot, lambda: boxes(made)[0].row.height() > 0)
        edge = made.area.viewport().width()
        for widget in (*part_of(made).findChildren(OpposedBox), *part_of(made).findChildren(QPushButton)):
            assert widget.mapTo(made.area.viewport(), QPoint(widget.width(), 0)).x() <= edge
