"""Words of a line of a list: wrapped into a few lines, cut with an ellipsis where there is no room for more.

Must not do: interpret a text.
"""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextLayout, QTextOption


def wrapped(text: str, font: QFont, width: int, most: int) -> list[str]:
    """A text in a few lines, the last with an ellipsis where more would follow.

    Args:
        text: without line ends.
        font: it is set in.
        width: pixels there are.
        most: lines at most.
    """
    metrics = QFontMetrics(font)
    if most == 1:
        return [metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)]
    layout, option = QTextLayout(text, font), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    starts: list[int] = []
    while len(starts) <= most and (line := layout.createLine()).isValid():
        line.setLineWidth(max(40, width))
        starts.append(line.textStart())
    layout.endLayout()
    units = text.encode("utf-16-le", "surrogatepass")  # Qt counts in these

    def part(start: int, end: int | None) -> str:
        return units[2 * start : None if end is None else 2 * end].decode("utf-16-le", "replace").rstrip()

    made = [part(start, end) for start, end in pairwise(starts[:most])]
    if starts:
        rest = part(starts[len(made)], None)
        made.append(metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width) if len(starts) > most else rest)
    return made


def line_height(font: QFont) -> int:
    """Pixels between the tops of two lines."""
    return QFontMetrics(font).height() + 2
