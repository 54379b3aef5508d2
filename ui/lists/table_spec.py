"""The specification of a table: its columns, what stands in a cell and how, and which columns there is room for.

Must not do: ask the engine, or interpret a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import Qt

from ui.theme.theme import Theme
from ui.theme.tokens import FontRole

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: in its header.
        width: pixels at 100 %; of the one that takes the rest, its least width.
        order: columns of a high order are the first to go where there is no room; 0 never goes.
        stretches: whether it takes what the others leave, or its share of it.
        is_number: whether it stands at the right.
    """

    title: str
    width: int
    order: int = 0
    stretches: bool = False
    is_number: bool = False


def alignment_of(column: Column) -> Qt.AlignmentFlag:
    """Where a column's words stand."""
    return _RIGHT if column.is_number else _LEFT


def shown_columns(columns: Sequence[Column], width: int, theme: Theme) -> frozenset[int]:
    """The columns there is room for.

    Args:
        columns: all of them.
        width: pixels there are.
        theme: for their widths.
    """
    shown = set(range(len(columns)))
    for place in sorted(shown, key=lambda at: -columns[at].order):
        needed = sum(theme.px(columns[at].width) for at in shown)
        if needed <= width or not columns[place].order:
            break
        shown.discard(place)
    return frozenset(shown)


class TableSpec(Generic[R]):
    """What the rows of a table are. A page says what stands in their cells; the rest is alike in all tables.

    Attributes:
        columns: all of them, shown or not.
    """

    columns: Sequence[Column] = ()

    def text(self, title: str, row: R) -> str:
        """What stands in a cell.

        Args:
            title: of the column.
            row: of the table.
        """
        raise NotImplementedError

    def ink(self, _title: str, _row: R) -> str:
        """The token of a cell's colour."""
        return "ink"

    def font(self, _title: str) -> FontRole:
        """The font of a column."""
        return "body"
