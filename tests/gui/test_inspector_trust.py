"""The inspector's trust: the waterfall with its numbers, its table, and saying right or wrong with a way back."""

from __future__ import annotations

import pytest
from belief_rig import DAY_MS, change, source
from engine_rig import START_MS, Rig
from hypothesis import given
from hypothesis import strategies as st
from inspector_rig import look, press, shown_inspector, words_of
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import Heard, hear, settle, window_context

from core.types.values import Precision, Source, When
from ui.context import Context
from ui.inspector.actions import DisputeDialog
from ui.inspector.panel import Inspector
from ui.inspector.trust import (
    BASE,
    GAIN,
    LOSS,
    SUM,
    TermBar,
    TrustSection,
    describe_level,
    format_signed,
    term_bar_path,
)


def trust_of(inspector: Inspector) -> TrustSection:
    """The part of the trust."""
    part = inspector.find_section("trust")
    assert isinstance(part, TrustSection)
    return part


def bars(inspector: Inspector) -> list[str]:
    """The shapes of the bars, from above."""
    found = trust_of(inspector).waterfall.findChildren(TermBar)
    return [bar.shape_name for bar in sorted(found, key=lambda bar: bar.mapTo(inspector, QPoint()).y())]


def a_memory(rig: Rig) -> str:
    """One with every term of its own."""
    said = When(START_MS - 73 * DAY_MS, Precision.DAY)
    memory_id = rig.store("Quill closes the weir.", source=Source.DOCUMENT, occurred=said).memory_id
    change(rig, memory_id, reinforcements=2, disputes=1)
    for name in ("one", "two"):
        source(rig, memory_id, name)
    return memory_id


def test_every_term_stands_with_the_numbers_that_made_it(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, a_memory(rig))
    said = words_of(trust_of(inspector).waterfall)
    pairs = (
        "A document says so | 0.60", "3 independent sources | +0.10", "2 confirmed, 1 disputed | +0.05",
        "Said 73 days ago | −0.02", "Fairly trusted | 0.73",
    )  # fmt: skip
    assert said == " | ".join(pairs)
    assert bars(inspector) == [BASE, GAIN, GAIN, LOSS, SUM]


def test_a_term_that_changes_nothing_has_no_bar(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    look(qtbot, inspector, context, rig.store("Quill closes the weir.").memory_id)
    said = words_of(trust_of(inspector).waterfall)
    assert "No second source | 0.00 | Not confirmed or disputed | 0.00 | Said today | 0.00" in said
    assert bars(inspector) == [BASE, SUM]


def test_the_ceiling_of_a_client_is_a_loss_that_names_it(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    actor = rig.client("aster", "read", "write", "speak_for_user", "all_spaces")
    told = rig.store("Quill closes the weir.", actor, source=Source.USER_EXPLICIT).memory_id
    ceiling = float(rig.value("SELECT trust_ceiling FROM clients"))
    look(qtbot, inspector, context, told)
    assert f"The trust limit of aster: {ceiling:.2f} | {format_signed(ceiling - 1)}" in words_of(
        trust_of(inspector).waterfall
    )
    assert bars(inspector) == [BASE, LOSS, SUM]


def test_the_table_says_the_same_and_is_reached_by_keyboard(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, a_memory(rig))
    part = trust_of(inspector)
    assert part.table.isHidden()
    part.as_table.button.setFocus()
    QTest.keyClick(part.as_table.button, Qt.Key.Key_Space)
    assert part.table.isVisible()
    model = part.table.model()
    rows = [[model.index(nr, at).data() for at in range(3)] for nr in range(model.rowCount())]
    assert rows == [
        ["Source", "0.60", "0.60"], ["Other sources", "+0.10", "0.70"], ["Feedback", "+0.05", "0.75"],
        ["Age", "−0.02", "0.73"], ["Trust", "", "0.73"],
    ]  # fmt: skip
    spoken = model.index(3, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Age, Said 73 days ago"
    assert part.table.accessibleName()


def test_names_for_those_who_do_not_see_hold_every_figure(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    look(qtbot, inspector, context, a_memory(rig))
    name = trust_of(inspector).waterfall.accessibleName()
    assert name.startswith("Trust 0.73. A document says so: 0.60; 3 independent sources: +0.10;")


@given(left=st.floats(0, 300), width=st.floats(0, 300), height=st.floats(2, 20))
def test_gain_and_loss_are_told_apart_without_colour(left: float, width: float, height: float) -> None:
    gain, loss = (term_bar_path(shape, left, left + width, height) for shape in (GAIN, LOSS))
    for path in (gain, loss):
        assert QRectF(left - 0.1, -0.1, max(width, 5) + 0.2, height + 0.2).contains(path.boundingRect())
    right = left + max(width, 5)
    corner, middle = height * 0.05, height / 2
    assert not gain.contains(QPoint(0, 0).toPointF() + QPoint(1, 0).toPointF() * (right - 0.1) + _down(corner))
    assert not loss.contains(QPoint(1, 0).toPointF() * (left + 0.1) + _down(corner))
    assert gain.contains(QPoint(1, 0).toPointF() * (left + 0.1) + _down(middle))
    assert loss.contains(QPoint(1, 0).toPointF() * (right - 0.1) + _down(middle))


def _down(pixels: float):  # type: ignore[no-untyped-def]  # a point of Qt
    return QPoint(0, 1).toPointF() * pixels


def test_words_for_scores() -> None:
    assert [format_signed(value) for value in (0.1, -0.06, 0.004, -0.004)] == ["+0.10", "−0.06", "0.00", "0.00"]
    assert [describe_level(value) for value in (1.0, 0.85, 0.7, 0.597, 0.59, 0.3, 0.0)] == [
        "Well trusted", "Well trusted", "Fairly trusted", "Fairly trusted", "Weakly trusted", "Weakly trusted",
        "Hardly trusted",
    ]  # fmt: skip


# ---- right and wrong


def _heard(qtbot: QtBot, heard: Heard, words: str) -> None:
    settle(qtbot, lambda: any(sentence.startswith(words) for sentence in heard.sentences))


def _undoes(context: Context) -> list[object]:
    undo: list[object] = []
    context.desk.message_asked.connect(
        lambda _sentence, action, run, _stays: undo.append(run) if action == "Undo" else None
    )
    return undo


def test_confirming_makes_it_young_and_can_be_undone(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = rig.store("Quill closes the weir.", occurred=When(START_MS - 365 * DAY_MS)).memory_id
    rig.clock.advance(1_000)  # type: ignore[attr-defined]  # the test's clock
    heard, undo = hear(context), _undoes(context)
    look(qtbot, inspector, context, memory_id)
    press(trust_of(inspector), "Confirm")
    _heard(qtbot, heard, "Confirmed.")
    settle(qtbot, lambda: "You confirmed it today" in words_of(trust_of(inspector).waterfall))
    assert "You confirmed it on" in trust_of(inspector).voices.text()
    undo[-1]()  # type: ignore[operator]  # what the toast runs
    settle(qtbot, lambda: "Said 365 days ago" in words_of(trust_of(inspector).waterfall))
    assert rig.get(memory_id).reinforcements == 0


def test_reinforcing_counts(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Quill closes the weir.", source=Source.DOCUMENT).memory_id
    look(qtbot, inspector, context, memory_id)
    press(trust_of(inspector), "Reinforce")
    settle(qtbot, lambda: "Confirmed once | +0.15" in words_of(trust_of(inspector).waterfall))


def test_disputing_asks_why_and_can_be_undone(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    heard, undo = hear(context), _undoes(context)
    look(qtbot, inspector, context, memory_id)
    press(trust_of(inspector), "Dispute")
    dialog = inspector.findChildren(DisputeDialog)[-1]
    QTest.keyClicks(dialog.reason, "<b>It was</b> open.")
    QTest.keyClick(dialog.reason, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    _heard(qtbot, heard, "Disputed.")
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.status.value == "disputed")
    settle(qtbot, lambda: "<b>It was</b> open." in trust_of(inspector).voices.text())
    assert trust_of(inspector).voices.textFormat() is Qt.TextFormat.PlainText
    undo[-1]()  # type: ignore[operator]  # what the toast runs
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.status.value == "active")


def test_the_letters_do_what_the_buttons_do(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    look(qtbot, inspector, context, memory_id)
    heard = hear(context)
    inspector.activateWindow()
    trust_of(inspector).as_table.button.setFocus()
    QTest.keyClick(trust_of(inspector).as_table.button, Qt.Key.Key_R)
    _heard(qtbot, heard, "Reinforced.")


def test_what_does_not_stand_cannot_be_judged(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Quill closes the weir.").memory_id
    rig.forget(memory_id)
    look(qtbot, inspector, context, memory_id)
    assert trust_of(inspector).verdicts.isHidden()
    heard = hear(context)
    context.commands.run("memory.confirm")
    assert heard.sentences == ["It is forgotten. Restore it first."]


@pytest.mark.parametrize(("theme", "scale"), [("light", 100), ("dark", 100), ("light", 150)])
def test_it_fits_a_narrow_dock_in_every_look(qtbot: QtBot, rig: Rig, theme: str, scale: int) -> None:
    memory_id = a_memory(rig)
    with window_context(rig.engine, theme=theme, scale=scale) as context, shown_inspector(qtbot, context) as made:
        made.resize(280, 700)
        look(qtbot, made, context, memory_id)
        part = trust_of(made)
        part.as_table.button.click()
        settle(qtbot, lambda: part.table.isVisible() and part.waterfall.height() > 0)
        inside = made.area.viewport().rect()
        for widget in (part.waterfall, part.table, part.verdicts):
            right = widget.mapTo(made.area.viewport(), QPoint(widget.width(), 0)).x()
            assert right <= inside.right() + 1
        part.as_table.button.click()
