"""The table's columns: their titles, what stands in them, by what they sort, and which there is room for.

Must not do: draw, or ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.types.views import MemoryRow
from ui.widgets.plaintext import one_line
from ui.widgets.words import KIND_WORDS, SOURCE_WORDS, STATUS_WORDS, date_of, said_or_noted

TEXT = "text"
LEAST_TEXT = 340
"""Pixels the text keeps before other columns step back."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        id: unique; also its name in the person's state file.
        title: in the header.
        width: pixels at 100 %; the text takes what is left.
        words: what it says, for menus and tooltips.
        sort: a word of `core.types.views.SORTS`; "" where the list cannot be sorted by it.
        falls: whether the first click puts the largest or newest first.
        is_number: set to the right.
        rank: where there is little room, high ranks step back first; 0 is never shown unasked.
    """

    id: str
    title: str
    width: int
    words: str
    sort: str = ""
    falls: bool = False
    is_number: bool = False
    rank: int = 0


COLUMNS: Sequence[Column] = (
    Column("kind", "", 40, "Kind", "kind", rank=1),
    Column(TEXT, "Text", LEAST_TEXT, "The text", "text", rank=1),
    Column("said", "Said", 136, "When it was said or happened", "occurred", falls=True, rank=2),
    Column("space", "Space", 88, "The space it is in", "space", rank=4),
    Column("room", "Room", 148, "The room it stands in", rank=5),
    Column("source", "Source", 152, "By what way it came"),
    Column("trust", "Trust", 104, "How far it is trusted", "trust", falls=True, is_number=True, rank=3),
    Column("importance", "Importance", 96, "How important it is", "importance", falls=True, is_number=True),
    Column("strength", "Strength", 88, "How firmly it is remembered now", "strength", falls=True, is_number=True),
    Column("status", "Status", 112, "Where it stands", "status"),
    Column("tags", "Tags", 160, "Its tags", rank=6),
    Column("client", "Brought by", 120, "The assistant or script that brought it"),
    Column("learned", "Learned", 108, "When Loci learned it", "recorded", falls=True),
    Column("recalled", "Recalled", 108, "When it was last given in an answer", "accessed", falls=True),
)
PLACE: Mapping[str, int] = {column.id: place for place, column in enumerate(COLUMNS)}
BY_SORT: Mapping[str, Column] = {column.sort: column for column in COLUMNS if column.sort}

SORT_WORDS: Mapping[tuple[str, bool], str] = {
    ("recorded", True): "newest learned first",
    ("recorded", False): "oldest learned first",
    ("occurred", True): "latest said first",
    ("occurred", False): "earliest said first",
    ("trust", True): "most trusted first",
    ("trust", False): "least trusted first",
    ("importance", True): "most important first",
    ("importance", False): "least important first",
    ("strength", True): "strongest first",
    ("strength", False): "weakest first",
    ("accessed", True): "last recalled first",
    ("accessed", False): "longest not recalled first",
    ("kind", False): "by kind",
    ("kind", True): "by kind, reversed",
    ("status", False): "by status",
    ("status", True): "by status, reversed",
    ("space", False): "by space",
    ("space", True): "by space, Z to A",
    ("text", False): "text, A to Z",
    ("text", True): "text, Z to A",
}
"""Every order in words, by sort and whether the largest comes first."""


def _said(row: MemoryRow) -> str:
    # The time of day has no room here.
    return said_or_noted(row.occurred, row.recorded_at).split(",")[0]


def number(value: float) -> str:
    """Two digits behind the point."""
    return f"{value:.2f}"


_TEXTS: Mapping[str, Callable[[MemoryRow], str]] = {
    "kind": lambda row: KIND_WORDS[row.kind],
    TEXT: lambda row: one_line(row.head),
    "said": _said,
    "space": lambda row: one_line(row.space, 80),
    "room": lambda row: one_line(row.room or "", 80),
    "source": lambda row: SOURCE_WORDS[row.source],
    "trust": lambda row: number(row.trust),
    "importance": lambda row: number(row.importance),
    "strength": lambda row: number(row.strength),
    "status": lambda row: STATUS_WORDS[row.status],
    "tags": lambda row: ", ".join(one_line(tag, 40) for tag in row.tags),
    "client": lambda row: one_line(row.client or "", 80),
    "learned": lambda row: date_of(row.recorded_at),
    "recalled": lambda row: "never" if row.last_accessed_at is None else date_of(row.last_accessed_at),
}


def cell_text(column: Column, row: MemoryRow) -> str:
    """What stands in a cell, in plain words.

    Args:
        column: which.
        row: the memory.
    """
    return _TEXTS[column.id](row)


def fitting(width: int, px: Callable[[float], int]) -> frozenset[str]:
    """The columns shown where the person has chosen none: as many as leave the text its room.

    Args:
        width: pixels the table has.
        px: scales a length with the text.

    Returns:
        Their ids; the kind and the text always.
    """
    shown: set[str] = set()
    used = 0
    for column in sorted((one for one in COLUMNS if one.rank), key=lambda one: one.rank):
        used += px(column.width)
        if column.rank > 1 and used > width:
            break
        shown.add(column.id)
    return frozenset(shown)


def written(columns: frozenset[str]) -> str:
    """A choice of columns for the state file."""
    return ",".join(column.id for column in COLUMNS if column.id in columns)


def read(text: str) -> frozenset[str] | None:
    """A choice of columns from the state file.

    Args:
        text: what `written` gave, or anything else.

    Returns:
        The choice with the text in it; None where the person made none.
    """
    known = frozenset(name for name in text.split(",") if name in PLACE)
    return known | {TEXT} if known else None


def sort_of(text: str) -> tuple[str, bool]:
    """An order from the state file.

    Args:
        text: such as `trust-` or `text+`.

    Returns:
        Sort and whether the largest comes first; the newest first where it is none.
    """
    order = (text[:-1], text.endswith("-"))
    return order if order in SORT_WORDS and text[-1:] in {"+", "-"} else ("recorded", True)
