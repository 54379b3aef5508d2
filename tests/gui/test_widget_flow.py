"""The layout that goes on in the next line: its height follows its width and what is in it, also when asked again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from ui.context import Context
from ui.widgets.basics import FieldIcon, FlowLayout

GAP, HIGH, WIDE = 8, 20, 60


@pytest.fixture
def flow(qtbot: QtBot) -> Iterator[FlowLayout]:
    """Three labels of 60 by 20 pixels."""
    room = QWidget()
    qtbot.addWidget(room)
    made = FlowLayout(room, gap=GAP)
    for _ in range(3):
        made.addWidget(box())
    room.show()
    yield made  # the widget lives as long
    room.close()


def box(wide: int = WIDE) -> QLabel:
    made = QLabel("x")
    made.setFixedSize(wide, HIGH)
    return made


def high(lines: int) -> int:
    return lines * HIGH + (lines - 1) * GAP


@pytest.mark.parametrize(("width", "lines"), [(3 * WIDE + 2 * GAP, 1), (2 * WIDE + GAP, 2), (WIDE, 3), (1, 3)])
def test_it_is_as_high_as_its_lines(flow: FlowLayout, width: int, lines: int) -> None:
    assert [flow.heightForWidth(width) for _ in range(2)] == [high(lines)] * 2


def test_another_width_is_another_height(flow: FlowLayout) -> None:
    assert [flow.heightForWidth(width) for width in (WIDE, 400, WIDE)] == [high(3), high(1), high(3)]


def test_what_changes_in_it_changes_its_height(flow: FlowLayout) -> None:
    width = 3 * WIDE + 2 * GAP
    first = flow.itemAt(0)
    assert first is not None
    assert flow.heightForWidth(width) == high(1)
    label = first.widget()
    assert label is not None
    label.setFixedSize(WIDE + 1, HIGH)
    assert flow.heightForWidth(width) == high(2)
    label.hide()
    assert flow.heightForWidth(width) == high(1)
    label.show()
    assert flow.heightForWidth(width) == high(2)
    flow.takeAt(0)
    assert flow.heightForWidth(width) == high(1)
    wide = box(width)
    flow.addWidget(wide)
    wide.show()
    assert flow.heightForWidth(width) == high(2)


@pytest.mark.parametrize("scale", [100, 150, 200])
def test_the_icon_of_a_field_is_as_large_as_its_text_wants(qtbot: QtBot, context: Context, scale: int) -> None:
    context.theme.apply_theme("light", scale)
    field = QLineEdit()
    qtbot.addWidget(field)
    icon = FieldIcon(context.theme, field, "search")
    field.resize(300, context.theme.px(36))
    field.show()
    side = 16 * scale // 100
    assert icon.size() == QSize(side, side)
    assert icon.pixmap().deviceIndependentSize().width() == side
    assert abs(icon.geometry().center().y() - field.rect().center().y()) <= 1
    assert field.textMargins().left() > side
    context.theme.apply_theme("light", 100)
    assert icon.width() == 16
