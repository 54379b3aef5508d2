"""The row specification: what the rows of a list are called, how they are described, measured, wrapped and drawn.

Must not do: ask the engine, or interpret a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QTextLayout, QTextOption

from core.types.values import Kind
from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import radii, sizes
from ui.widgets.plaintext import escape_tooltip, utf16_length

_BAR = 3


def paint_background(
    painter: QPainter, theme: Theme, rect: QRect, *, is_chosen: bool, is_hovered: bool, has_focus: bool
) -> None:
    """Draw it: a rounded field, a bar beside the colour where it is chosen, a ring where it has the keyboard.

    Args:
        painter: with smooth edges.
        rect: of the line.
        is_chosen: it is the one that is looked at.
        is_hovered: the pointer is on it.
    """
    frame = QRectF(rect).adjusted(0.5, 1.5, -0.5, -1.5)
    if is_chosen or is_hovered:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("selection" if is_chosen else "hover"))
        painter.drawRoundedRect(frame, radii().control, radii().control)
    if is_chosen:
        painter.setBrush(theme.colour("accent"))
        painter.drawRoundedRect(QRectF(frame.left(), frame.top() + 8, _BAR, frame.height() - 16), 1.5, 1.5)
    if has_focus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("focus"), 2))
        painter.drawRoundedRect(frame.adjusted(1, 1, -1, -1), radii().control - 1, radii().control - 1)


def draw_flat_ground(
    painter: QPainter,
    theme: Theme,
    rect: QRect,
    *,
    is_chosen: bool,
    is_hovered: bool,
    has_focus: bool,
    has_bar: bool = False,
) -> None:
    """Draw it where lines fill the list from edge to edge: a field, a hairline under it, a ring.

    Args:
        is_chosen: it is the one that is looked at.
        is_hovered: the pointer is on it.
        has_focus: it has the keyboard.
        has_bar: whether a bar is beside the colour where it is chosen.
    """
    if is_chosen or is_hovered:
        painter.fillRect(rect, theme.colour("selection" if is_chosen else "raised"))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.colour("line"))
    if is_chosen and has_bar:
        painter.fillRect(QRect(rect.left(), rect.top(), _BAR, rect.height() - 1), theme.colour("accent"))
    if has_focus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("focus"), 2))
        painter.drawRect(rect.adjusted(1, 1, -1, -2))


def wrap_text(text: str, font: QFont, width: int, most: int) -> list[str]:
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

    def slice_text(start: int, end: int | None) -> str:
        return units[2 * start : None if end is None else 2 * end].decode("utf-16-le", "replace").rstrip()

    made = [slice_text(start, end) for start, end in pairwise(starts[:most])]
    if starts:
        rest = slice_text(starts[len(made)], None)
        made.append(metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width) if len(starts) > most else rest)
    return made


def split_marked(text: str, lines: Sequence[str], marked: tuple[int, int]) -> list[tuple[int, int]]:
    """Where a marked range of a text stands in each of its lines.

    Args:
        lines: as `wrap_text` made them of it.
        marked: code points of the text, end exclusive.

    Returns:
        Begin and end in each line, code points; equal where nothing of it is marked.
    """
    found, at = list[tuple[int, int]](), 0
    for line in lines:
        low, high = (min(max(place - at, 0), len(line)) for place in marked)
        found.append((low, high))
        at += len(line)
        while text[at : at + 1].isspace():
            at += 1
    return found


def draw_marked_line(painter: QPainter, rect: QRect, text: str, marked: tuple[int, int]) -> None:
    """One line of plain text in the painter's font and ink, a range of it underlined.

    Args:
        rect: of the line; the text stands in the middle of its height.
        marked: code points, end exclusive.
    """
    low, high = (utf16_length(text[:place]) for place in marked)
    look = QTextLayout.FormatRange()
    look.start, look.length = low, high - low
    look.format.setFontUnderline(True)
    layout, option = QTextLayout(text, painter.font()), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.setFormats([look])
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    if line.isValid():
        layout.draw(painter, QPointF(rect.left(), rect.top() + (rect.height() - line.height()) / 2))


def line_height(font: QFont) -> int:
    """Pixels between the tops of two lines."""
    return QFontMetrics(font).height() + 2


LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
MIDDLE, LOW = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignBottom
R = TypeVar("R")


class InertRow:
    """A line that cannot be chosen."""

    __slots__ = ()

    def accessible_text(self) -> str:
        """It in words, for those who hear it."""
        raise NotImplementedError  # each kind says it

    def tool_tip(self) -> str:
        """What is said where the pointer rests on it."""
        return ""


@dataclass(frozen=True, slots=True)
class Heading(InertRow):
    """A heading over rows.

    Attributes:
        title: what they have in common; made visible.
        note: more about it, quieter.
        count: how many rows are under it; None where that is not said.
        chooses: whether pressing it chooses them all.
    """

    title: str
    note: str = ""
    count: int | None = None
    chooses: bool = False

    def accessible_text(self) -> str:
        """The title with its count or note."""
        if self.count is not None:
            return f"{self.title}, {self.count:,}"
        return " · ".join(part for part in (self.title, self.note) if part)

    def tool_tip(self) -> str:
        """What pressing it does."""
        return window_strings()["buttons"]["select_all"] if self.chooses else ""


def insert_headings(rows: Iterable[R], title_of: Callable[[R], str], above: str = "") -> list[R | Heading]:
    """Rows with a heading wherever what they have in common changes.

    Args:
        rows: in their order.
        title_of: the heading a row belongs under.
        above: the heading the first of them follows; "" for none.
    """
    lines: list[R | Heading] = []
    for row in rows:
        title = title_of(row)
        if title != above:
            lines.append(Heading(title))
            above = title
        lines.append(row)
    return lines


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of words: a mark, a title, small lines under it, a word at its right end. A list adds lines of its own.

    Attributes:
        id: unique within the list.
        title: its text, made visible, on one line or wrapped.
        note: under it, in small letters.
        icon: name of an icon; "" where a shape is in its place, or nothing.
        ink: token of the icon's colour; a danger is said by the words too.
        kind: of the memory it is about; its shape is a mark.
        aside: at its right end.
        is_struck: whether it is taken back.
        value: what it represents.
    """

    id: str
    title: str
    note: str = ""
    icon: str = field(default="", kw_only=True)
    ink: str = field(default="muted", kw_only=True)
    kind: Kind | None = field(default=None, kw_only=True)
    aside: str = field(default="", kw_only=True)
    is_struck: bool = field(default=False, kw_only=True)
    value: Any = field(default=None, kw_only=True)

    @property
    def words(self) -> tuple[str, ...]:
        """All of its words, in the order in which they are told; "" for what it has none of."""
        raise NotImplementedError  # each kind says it

    @property
    def description(self) -> str:
        """All of it, for those who hear it."""
        return ". ".join(part.rstrip(".") for part in self.words if part)


@dataclass(frozen=True, slots=True)
class RowState:
    """How a row is in its list.

    Attributes:
        place: its line.
        is_chosen: it is one of those that are chosen.
        is_hovered: the pointer is on it.
        has_focus: it has the keyboard.
    """

    place: int
    is_chosen: bool
    is_hovered: bool
    has_focus: bool


class RowSpec(Generic[R]):
    """What the rows of a list are. A page says how they are told, measured and drawn; the rest is alike in all lists.

    Attributes:
        fade: the theme's colour into which the edges of a list that goes on fade; "" where none fades.
        heading: pixels a heading is high at 100 %, and the first line where it is one.
        below_heading: pixels of room, at 100 %, under the words of a heading.
        tells_repeats: whether the same row is told again when it is chosen again.
        width: pixels of the list.
    """

    fade: ClassVar[str] = ""
    heading: ClassVar[tuple[int, int]] = (38, 28)
    below_heading: ClassVar[int] = 6
    tells_repeats: ClassVar[bool] = False

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.width: Callable[[], int] = lambda: 0

    # ---- what it is

    def row_key(self, row: R) -> str:
        """What a row is known by: unique within the list."""
        raise NotImplementedError  # each kind says it

    def accessible_text(self, row: R) -> str:
        """All of a row in words, for those who hear it."""
        raise NotImplementedError  # each kind says it

    def tool_tip(self, row: R) -> str:
        """What is said where the pointer rests on a row."""
        return escape_tooltip(self.accessible_text(row))

    def is_same(self, row: R, other: R) -> bool:
        """Whether nobody need be told that one row is where the other did."""
        return not self.tells_repeats and row == other

    def prepare_lines(self, lines: Sequence[R | InertRow]) -> None:
        """Learn what all lines are before they are measured."""

    # ---- measures

    def row_height(self, row: R, place: int) -> int:
        """Pixels a row is high."""
        raise NotImplementedError  # each kind says it

    def inert_height(self, _line: InertRow, place: int) -> int:
        """Pixels a line that cannot be chosen is high."""
        return self.theme.px(self.heading[1 if place == 0 else 0])

    def row_fonts(self) -> tuple[QFont, QFont]:
        """That of a row's head, and the small one."""
        title_font = self.theme.font("body")
        title_font.setWeight(QFont.Weight.Medium)
        return title_font, self.theme.font("small")

    # ---- drawing

    def paint_background(self, painter: QPainter, rect: QRect, _row: R, state: RowState) -> None:
        """Draw what a row is on."""
        paint_background(
            painter,
            self.theme,
            rect,
            is_chosen=state.is_chosen,
            is_hovered=state.is_hovered,
            has_focus=state.has_focus,
        )

    def draw_row(self, painter: QPainter, rect: QRect, row: R, state: RowState) -> None:
        """Draw a row."""
        raise NotImplementedError  # each kind says it

    def draw_inert(self, painter: QPainter, rect: QRect, line: InertRow, _state: RowState) -> None:
        """Draw a heading over a hairline."""
        px = self.theme.px
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), self.theme.colour("line"))
        inner = rect.adjusted(px(sizes().list_pad), 0, -px(sizes().list_pad), -px(self.below_heading))
        self.draw_text(painter, inner, line.accessible_text(), "muted", self.theme.font("label"), LEFT | LOW)

    def draw_text(
        self, painter: QPainter, rect: QRect, text: str, ink: str, font: QFont, where: Qt.AlignmentFlag = LEFT | MIDDLE
    ) -> None:
        """One line of plain text, cut where there is no room."""
        painter.setFont(font)
        painter.setPen(self.theme.colour(ink))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, where | Qt.TextFlag.TextSingleLine, shown)


T = TypeVar("T", bound=TextRow)


class TextRowSpec(RowSpec[T]):
    """What rows of words are in every list: known by their id, told by all of their words."""

    def row_key(self, row: T) -> str:
        """The row's id."""
        return row.id

    def accessible_text(self, row: T) -> str:
        """All of it."""
        return row.description
