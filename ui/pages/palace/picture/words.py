"""Words within a width: texts broken into lines and cut at the end of a word, names that give way.

Must not do: paint.
"""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextOption

from ui.widgets.plaintext import one_line, plain_line

_KEPT = 4_000
_ELLIPSIS = "…"
_LOOSE = " ,;:–-"
"""Characters that are dropped before an ellipsis."""
_LEAST_FILLED = 0.6


def break_text(text: str, font: QFont, width: float, most: int) -> tuple[str, ...]:
    """A text in lines of a width; the last one is cut at the end of a word where there is more.

    Args:
        text: one line of plain text.
        font: of all lines.
        width: px.
        most: lines at most.
    """
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    found: list[str] = []
    units = text.encode("utf-16-le", "replace")  # Qt counts in units of UTF-16
    layout.beginLayout()
    while len(found) < most:
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        start, end = 2 * line.textStart(), 2 * (line.textStart() + line.textLength())
        shown = units[start:end].decode("utf-16-le", "replace")
        if len(found) == most - 1 and end < len(units):
            rest = units[start:].decode("utf-16-le", "replace")
            shown = _cut_line(shown.rstrip(), rest, QFontMetricsF(font), width)
        found.append(shown.strip())
    layout.endLayout()
    return tuple(found)


def _cut_line(line: str, rest: str, metrics: QFontMetricsF, width: float) -> str:
    """A line with an ellipsis after its last whole word; within a word where much of the width would be lost.

    Args:
        line: what fits without an ellipsis.
        rest: the same and all that follows.
    """
    line = line.rstrip(_ELLIPSIS + _LOOSE)
    while metrics.horizontalAdvance(line + _ELLIPSIS) > width and line:
        line = line.rpartition(" ")[0].rstrip(_LOOSE)
    if metrics.horizontalAdvance(line) < width * _LEAST_FILLED:
        return metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width)
    return line + _ELLIPSIS


class LineBreaks:
    """Texts broken into lines, kept; the least recently used are dropped."""

    def __init__(self) -> None:
        self._lines: OrderedDict[tuple[str, str, int, int], tuple[str, ...]] = OrderedDict()

    def clear_lines(self) -> None:
        """The theme is another one."""
        self._lines.clear()

    def break_lines(self, text: str, font: QFont, width: float, most: int) -> tuple[str, ...]:
        """As `break_text`, of a text as it came.

        Args:
            text: any text.
            font: of all lines.
            width: px; what does not differ by two px is not broken anew.
            most: lines at most.
        """
        if most < 1 or width < font.pixelSize() * 2:
            return ()
        key = (text, font.key(), int(width) // 2, most)
        found = self._lines.get(key)
        if found is None:
            while len(self._lines) >= _KEPT:
                self._lines.popitem(last=False)
            found = self._lines[key] = break_text(plain_line(text), font, int(width) // 2 * 2, most)
        else:
            self._lines.move_to_end(key)
        return found

    def break_name(self, name: str, font: QFont, width: float, most: int = 1) -> tuple[str, ...]:
        """A name in lines of a width, no word broken over two; nothing where not even three letters fit."""
        lines = self.break_lines(name, font, width, most)
        whole = " ".join(lines).rstrip(_ELLIPSIS)
        if len(lines) > 1 and not one_line(name).startswith(whole):
            lines = self.break_lines(name, font, width, 1)
        return () if lines and lines[-1].endswith(_ELLIPSIS) and len("".join(lines)) < 4 else lines
