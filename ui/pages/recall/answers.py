"""The ranked list: the answer, the near misses, or what was dropped at a stage; one row opens into all of its reasons.

Must not do: ask the engine, or work out a number; what is shown is what ranked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QModelIndex, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
)
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QLabel, QMenu, QWidget

from core.types.recall import LabAnswer, LabItem, TracedCandidate
from core.types.values import Kind
from core.types.views import MemoryRow
from ui.lists.list_view import AfterRemoval, ListKeys, ListView
from ui.lists.row_spec import (
    LEFT,
    MIDDLE,
    RIGHT,
    Heading,
    InertRow,
    RowSpec,
    RowState,
    draw_marked_line,
    line_height,
    split_marked,
    wrap_text,
)
from ui.pages.recall.labels import (
    describe_answer_item,
    describe_near_miss,
    describe_places,
    describe_status,
    dropped_wording,
    format_ordinal,
    join_parts,
    list_title,
)
from ui.pages.recall.signals import SIDES, SignalSwatch, describe_bar, draw_bar, signal_title
from ui.strings import recall_strings
from ui.theme.theme import Theme
from ui.theme.tokens import radii, spacing
from ui.widgets.basics import make_column, make_label
from ui.widgets.labels import KIND_WORDS, describe_source, describe_speaker
from ui.widgets.plaintext import escape_tooltip, one_line, passage_line, plain_line
from ui.widgets.shapes import KIND_TOKENS, draw_kind

_TEXT, _IN_SIGHT, _TOLD = 400, 120, 160
"""Characters of a text in a row, how many two lines hold where the page is narrow, and how many are told of a text."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One memory of the list.

    Attributes:
        id: the memory.
        kind: its shape.
        text: made visible, one line.
        note: who, when, and where it was, or what sank it.
        place: its place as it is shown; "" for none.
        parts: what made the score, as in `LabItem.parts`.
        score: 0 to 1; None where it could not be returned.
        moved: places it rose (positive) or fell through the trial weights; None where it is new, 0 where it is.
        shared: lists in which others have the same place.
        is_answer: whether it is in the answer.
        is_first: whether it is the first of its card; `is_last` likewise.
        item: everything about it, where the answer holds that.
        candidate: what the trace knows of it.
        marked: where the sentence that answers stands in `text`, code points, end exclusive; (0, 0) for none.
    """

    id: str
    kind: Kind
    text: str
    note: str
    place: str
    parts: Mapping[str, float]
    score: float | None
    moved: int | None = 0
    shared: frozenset[str] = frozenset()
    is_answer: bool = True
    is_first: bool = False
    is_last: bool = False
    item: LabItem | None = None
    candidate: TracedCandidate | None = field(default=None, compare=False)
    marked: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class AnswerDetails(InertRow):
    """The opened details of the row above.

    Attributes:
        row: that row.
        is_last: whether the card ends here.
    """

    row: AnswerRow
    is_last: bool

    def accessible_text(self) -> str:
        """Whose they are."""
        return str(recall_strings()["row"]["details"]).format(text=one_line(self.row.text, 80))


Line = AnswerRow | Heading


def answer_lines(answer: LabAnswer, base: LabAnswer | None, pages: Mapping[str, str] | None = None) -> list[Line]:
    """An answer with its near misses.

    Args:
        base: the same question under the weights in force; None where `answer` is that.
        pages: on which pages of a file memories stand, in words, by their ids.
    """
    on_pages = pages or {}
    traced = {one.id: one for one in answer.trace.candidates}
    before = None if base is None else {item.memory.id: item.place for item in base.items}
    crowds = Counter((name, rank) for one in traced.values() for name, (rank, _) in one.lists.items())

    def mark_shared(row: AnswerRow) -> AnswerRow:
        lists = _lists_of(row)
        shared = frozenset(name for name, (rank, _) in lists.items() if crowds[name, rank] > 1)
        return replace(row, shared=shared, note=join_parts((on_pages.get(row.id, ""), row.note)))

    found = [mark_shared(_answer_row_of_item(item, traced, before)) for item in answer.items]
    made: list[Line] = list(_mark_card_ends(found))
    near_misses = [mark_shared(_row_of_near_miss(item, traced)) for item in answer.near]
    if near_misses:
        made += [Heading(recall_strings()["near"], recall_strings()["near_note"]), *_mark_card_ends(near_misses)]
    return made


def _answer_row_of_item(
    item: LabItem, traced: Mapping[str, TracedCandidate], before: Mapping[str, int | None] | None
) -> AnswerRow:
    place = item.place or item.rank
    was = None if before is None else before.get(item.memory.id)
    moved = 0 if before is None else None if was is None or place is None else was - place
    shown = passage_line(item.memory.text, item.answering, _TEXT, _IN_SIGHT)
    return AnswerRow(
        item.memory.id,
        item.memory.kind,
        shown.text,
        describe_answer_item(item),
        "" if place is None else str(place),
        item.parts,
        item.score,
        moved,
        item=item,
        candidate=traced.get(item.memory.id),
        marked=shown.marked,
    )


def _row_of_near_miss(item: LabItem, traced: Mapping[str, TracedCandidate]) -> AnswerRow:
    sunk = recall_strings()["sunk"].format(reason=describe_near_miss(item.dropped or "unknown", item.lists))
    shown = passage_line(item.memory.text, item.answering, _TEXT, _IN_SIGHT)
    return AnswerRow(
        item.memory.id,
        item.memory.kind,
        shown.text,
        join_parts((sunk, describe_source(item.memory, item.client))),
        "" if item.rank is None else str(item.rank),
        item.parts,
        item.score if item.rank is not None else None,
        is_answer=False,
        item=item,
        candidate=traced.get(item.memory.id),
        marked=shown.marked,
    )


def candidate_lines(
    candidates: Sequence[TracedCandidate], rows: Mapping[str, MemoryRow], heading: Heading
) -> list[Line]:
    """Candidates of a trace with their texts.

    Args:
        candidates: in the order they shall be.
        rows: id to the memory; one that is missing is left out.
    """
    made = [_row_of_candidate(one, rows[one.id]) for one in candidates if one.id in rows]
    return [heading, *_mark_card_ends(made)]


def _row_of_candidate(one: TracedCandidate, memory: MemoryRow) -> AnswerRow:
    who = describe_speaker(
        memory.author,
        memory.role,
        memory.occurred,
        memory.recorded_at,
        memory.client,
        is_edited=memory.is_edited,
    )
    if one.dropped is None:
        note = join_parts((describe_status(memory.status), who, describe_places(one.lists)))
    else:
        note = join_parts((recall_strings()["sunk"].format(reason=describe_near_miss(one.dropped, one.lists)), who))
    place = one.place or one.rank
    return AnswerRow(
        one.id,
        memory.kind,
        plain_line(memory.head, _TEXT),
        note,
        "" if place is None else str(place),
        {"relevance": one.relevance, SIDES: one.score - one.relevance},
        one.score if place is not None else None,
        is_answer=one.dropped is None,
        candidate=one,
    )


def _mark_card_ends(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """Rows that know whether they begin or end their card."""
    last = len(rows) - 1
    return [replace(one, is_first=at == 0, is_last=at == last) for at, one in enumerate(rows)]


def describe_move(moved: int | None) -> str:
    """`▲ 2`, `▼ 1`, `new`; "" where it is as before."""
    if moved is None:
        return str(recall_strings()["row"]["new"])
    return "" if moved == 0 else f"▲{moved}" if moved > 0 else f"▼{-moved}"


def describe_answer_row(line: AnswerRow) -> str:
    """A memory for those who do not see it."""
    strings, parts = recall_strings()["row"], list[str]()
    if line.place and line.is_answer:
        parts.append(strings["place"].format(place=line.place))
    if line.moved is None:
        parts.append(strings["moved_in"])
    elif line.moved:
        parts.append(strings["moved_up" if line.moved > 0 else "moved_down"].format(count=abs(line.moved)))
    parts.append(f"{KIND_WORDS[line.kind]}: {one_line(line.text, _TEXT if any(line.marked) else _TOLD)} {line.note}.")
    if line.score is not None:
        parts.append(strings["score"].format(score=f"{line.score:.2f}", bar=describe_bar(line.parts)))
    return " ".join(parts)


_PLACE, _SHAPE, _SCORE = 40, 24, 48
_BAR, _BAR_NARROW, _WIDE = 180, 104, 720
_MOST_LINES = 2


class RankedRows(RowSpec[AnswerRow]):
    """How the lines of an answer look.

    Attributes:
        opened: id of the row whose details are shown; "" for none.
        height_of: how high the opened details are at a width.
    """

    heading = (44, 44)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.opened = ""
        self.height_of: Callable[[int], int] = lambda _: 0

    def row_key(self, row: AnswerRow) -> str:
        """The memory."""
        return row.id

    def accessible_text(self, row: AnswerRow) -> str:
        """All of it."""
        return describe_answer_row(row)

    def tool_tip(self, row: AnswerRow) -> str:
        """The memory's text."""
        return escape_tooltip(row.text)

    def is_same(self, row: AnswerRow, other: AnswerRow) -> bool:
        """Whether it is the same memory."""
        return row.id == other.id

    # ---- sizes

    def _body_font(self) -> QFont:
        font = self.theme.font("body")
        font.setWeight(QFont.Weight.Medium)
        return font

    def text_width(self, width: int) -> int:
        """Pixels a text has in a line of a width."""
        px = self.theme.px
        return width - px(spacing().l * 2 + _PLACE + _SHAPE + spacing().l * 2 + _SCORE) - self._bar_width(width)

    def _bar_width(self, width: int) -> int:
        px = self.theme.px
        return px(_BAR if width >= px(_WIDE) else _BAR_NARROW)

    def row_height(self, row: AnswerRow, _place: int) -> int:
        """As high as its words need."""
        font = self._body_font()
        lines = len(wrap_text(row.text, font, self.text_width(self.width()), _MOST_LINES)) or 1
        return (
            lines * line_height(font) + line_height(self.theme.font("small")) + self.theme.px(spacing().close * 2 + 2)
        )

    def inert_height(self, line: InertRow, place: int) -> int:
        """As high as a heading, or the details that are open."""
        return self.height_of(self.width()) if isinstance(line, AnswerDetails) else super().inert_height(line, place)

    # ---- painting

    def draw_inert(self, painter: QPainter, rect: QRect, line: InertRow, _state: RowState) -> None:
        """The card under details; a heading with its note."""
        if isinstance(line, AnswerDetails):
            self._draw_card(painter, rect, is_first=False, is_last=line.is_last)
        elif isinstance(line, Heading):
            theme = self.theme
            inner = rect.adjusted(0, theme.px(spacing().side), 0, -theme.px(4))
            font = theme.font("section")
            painter.setFont(font)
            painter.setPen(theme.colour("ink"))
            painter.drawText(inner, LEFT | MIDDLE, line.title)
            wide = QFontMetrics(font).horizontalAdvance(line.title) + theme.px(8)
            self.draw_text(painter, inner.adjusted(wide, 0, 0, 0), line.note, "muted", theme.font("body"))

    def _draw_card(self, painter: QPainter, rect: QRect, *, is_first: bool, is_last: bool, joins: bool = False) -> None:
        """The surface under a line, with round corners where the card begins or ends."""
        colour, radius = self.theme.colour, radii().card
        frame = QRectF(rect).adjusted(0.5, 0.5 if is_first else -radius, -0.5, -0.5 if is_last else radius)
        painter.save()
        painter.setClipRect(rect)
        path = QPainterPath()
        path.addRoundedRect(frame, radius, radius)
        painter.fillPath(path, colour("surface"))
        painter.setPen(QPen(colour("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if not is_last and not joins:
            painter.drawLine(QPointF(rect.left(), rect.bottom() + 0.5), QPointF(rect.right(), rect.bottom() + 0.5))
        painter.restore()

    def paint_background(self, painter: QPainter, rect: QRect, row: AnswerRow, state: RowState) -> None:
        """Its card, and on that a rounded field."""
        is_open = row.id == self.opened
        self._draw_card(painter, rect, is_first=row.is_first, is_last=row.is_last and not is_open, joins=is_open)
        colour, is_chosen = self.theme.colour, state.is_chosen
        frame = QRectF(rect).adjusted(4.5, 4.5, -4.5, -4.5)
        if is_chosen or state.is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour("selection" if is_chosen else "hover"))
            painter.drawRoundedRect(frame, 8, 8)
        if is_chosen:  # a bar beside the colour
            painter.setBrush(colour("accent"))
            painter.drawRoundedRect(QRectF(frame.left(), frame.top() + 8, 3, frame.height() - 16), 1.5, 1.5)
        if state.has_focus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour("focus"), 2))
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)

    def draw_row(self, painter: QPainter, rect: QRect, line: AnswerRow, _state: RowState) -> None:
        """Its place, its shape, its words, its bar and its score."""
        theme, px = self.theme, self.theme.px
        inner = rect.adjusted(px(spacing().l), px(spacing().close), -px(spacing().l), -px(spacing().close))
        left = self._draw_place(painter, inner, line)
        centre = QPointF(left + px(6), inner.center().y())
        draw_kind(painter, line.kind, centre, px(10), theme.colour(KIND_TOKENS[line.kind]))
        left += px(_SHAPE)
        room, body, small = self.text_width(rect.width()), self._body_font(), theme.font("small")
        at = QRect(left, inner.top(), room, line_height(body))
        painter.setFont(body)
        painter.setPen(theme.colour("ink"))
        lines = wrap_text(line.text, body, room, _MOST_LINES)
        for text, marked in zip(lines, split_marked(line.text, lines, line.marked), strict=True):
            if marked[0] < marked[1]:
                draw_marked_line(painter, at, text, marked)
            else:
                painter.drawText(at, LEFT | MIDDLE, text)
            at.translate(0, line_height(body))
        note = QRect(left, inner.bottom() - line_height(small), room, line_height(small))
        self.draw_text(painter, note, line.note, "muted", small)
        bar = QRectF(
            inner.right() - px(_SCORE + spacing().l) - self._bar_width(rect.width()),
            0,
            self._bar_width(rect.width()),
            px(9),
        )
        bar.moveTop(inner.center().y() - bar.height() / 2)
        draw_bar(painter, theme, bar, line.parts)
        self._draw_score(painter, inner, line)

    def _draw_place(self, painter: QPainter, inner: QRect, line: AnswerRow) -> int:
        """The place, and under it what the trial weights did to it; gives where it ends."""
        theme, px = self.theme, self.theme.px
        number = theme.font("number")
        at = QRect(inner.left(), inner.top(), px(_PLACE), inner.height())
        moved = describe_move(line.moved) if line.is_answer else ""
        painter.setFont(number)
        painter.setPen(theme.colour("muted"))
        if not moved:
            painter.drawText(at, LEFT | MIDDLE, line.place)
            return at.right()
        half = inner.height() // 2
        upper, lower = at.adjusted(0, 0, 0, -half), at.adjusted(0, half, 0, 0)
        painter.drawText(upper, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, line.place)
        fell = line.moved is not None and line.moved < 0
        small = theme.font("caption")
        small.setWeight(QFont.Weight.DemiBold)
        painter.setFont(small)
        painter.setPen(theme.colour("danger" if fell else "success"))
        painter.drawText(lower, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, moved)
        return at.right()

    def _draw_score(self, painter: QPainter, inner: QRect, line: AnswerRow) -> None:
        font = self.theme.font("number")
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(self.theme.colour("ink" if line.is_answer else "muted"))
        shown = "—" if line.score is None else f"{line.score:.2f}"
        painter.drawText(inner, RIGHT | MIDDLE, shown)


_LEFT, _BETWEEN = 80, 40


class AnswerDetailsView(QFrame):
    """Signals, lists, sentences."""

    def __init__(self, theme: Theme, shown: AnswerRow) -> None:
        """Make it."""
        super().__init__()
        self._theme = theme
        strings = recall_strings()["details"]
        self.setAccessibleName("; ".join(self.describe_details(shown)))
        layout = make_column(self, gap=12)
        layout.setContentsMargins(theme.px(_LEFT), 2, theme.px(16), 16)
        self._tables = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._tables.setSpacing(_BETWEEN)
        sentences = _explain_drop(shown)
        if sentences:
            labels = [make_label(sentence, wrap=True) for sentence in sentences]
            layout.addLayout(make_column(None, make_label(strings["why"], "label"), *labels, gap=4))
        lists, signals = _signal_list_rows(shown), self._signal_rows(shown)
        if signals:
            self._tables.addWidget(_make_table(strings["signals"], signals), 0, Qt.AlignmentFlag.AlignTop)
        if lists:
            self._tables.addWidget(_make_table(strings["lists"], lists, strings["raw"]), 0, Qt.AlignmentFlag.AlignTop)
        else:
            layout.addWidget(make_label(strings["none"], "muted", wrap=True))
        self._tables.addStretch(1)
        layout.addLayout(self._tables)

    def arrange_for_width(self, width: int) -> int:
        """Stand below each other where there is little room, and say how high that is.

        Args:
            width: pixels there are.

        Returns:
            Pixels of height.
        """
        ways, layout = QBoxLayout.Direction, self.layout()
        for part in self.findChildren(QWidget):
            part.ensurePolished()  # or their fonts, and with them their sizes, are not known yet
        margins = self.contentsMargins() if layout is None else layout.contentsMargins()
        room = width - margins.left() - margins.right()
        tables = [item.sizeHint().width() for at in range(2) if (item := self._tables.itemAt(at)) and item.widget()]
        is_narrow = sum(tables) + _BETWEEN * (len(tables) - 1) > room
        self._tables.setDirection(ways.TopToBottom if is_narrow else ways.LeftToRight)
        self._tables.setSpacing(12 if is_narrow else _BETWEEN)
        if layout is None:
            return 0
        layout.invalidate()
        return max(layout.totalHeightForWidth(width), layout.totalSizeHint().height())

    def _signal_rows(self, shown: AnswerRow) -> list[tuple[QWidget | None, str, str, str]]:
        strings, found = recall_strings()["details"], shown.candidate
        made: list[tuple[QWidget | None, str, str, str]] = []
        for signal, value in _signal_values(shown).items():
            made.append(
                (
                    SignalSwatch(self._theme, signal),
                    signal_title(signal),
                    f"{value:.3f}",
                    _format_signal_part(shown.parts, signal),
                )
            )
        if found is not None:
            made.append((None, strings["factor"], f"× {found.factor:.3f}", ""))
            made.append((None, strings["score"], f"{found.score:.3f}", ""))
            made.append((None, strings["evidence"], f"{found.evidence:.3f}", ""))
            if found.diversity is not None:
                made.append((None, strings["likeness"], f"{found.diversity:.3f}", ""))
        return made

    @staticmethod
    def describe_details(shown: AnswerRow) -> list[str]:
        """All of it, for those who do not see it."""
        signals = [f"{signal_title(signal)} {value:.3f}" for signal, value in _signal_values(shown).items()]
        lists = [
            f"{title} {rank}, {recall_strings()['details']['raw']} {raw}"
            for _, title, rank, raw in _signal_list_rows(shown)
        ]
        return [*_explain_drop(shown), *signals, *lists]


def _signal_values(shown: AnswerRow) -> Mapping[str, float]:
    if shown.item is not None:
        return shown.item.signals
    found = shown.candidate
    return {} if found is None else {"relevance": found.relevance, **found.signals}


def _format_signal_part(parts: Mapping[str, float], signal: str) -> str:
    """What a signal made of the score; "" where that is not known by itself."""
    if SIDES in parts and signal != "relevance":
        return ""
    return f"{parts[signal]:+.3f}" if signal in parts else ""


def _signal_list_rows(shown: AnswerRow) -> list[tuple[QWidget | None, str, str, str]]:
    ranked = sorted(_lists_of(shown).items(), key=lambda pair: pair[1][0])
    return [(None, list_title(name), _word_rank(shown, name, rank), f"{raw:.3f}") for name, (rank, raw) in ranked]


def _lists_of(shown: AnswerRow) -> Mapping[str, tuple[int, float]]:
    """List to the place and the raw score a memory has in it."""
    return shown.item.lists if shown.item is not None else shown.candidate.lists if shown.candidate is not None else {}


def _word_rank(shown: AnswerRow, name: str, rank: int) -> str:
    """`3rd`, `joint 1st`: of a tie nobody is alone in its place."""
    place = format_ordinal(rank)
    return str(recall_strings()["details"]["joint"]).format(place=place) if name in shown.shared else place


def _explain_drop(shown: AnswerRow) -> list[str]:
    dropped = shown.candidate.dropped if shown.candidate is not None else None
    item = shown.item
    dropped = item.dropped if item is not None and item.dropped is not None else dropped
    first = [] if dropped is None else [dropped_wording(dropped)["long"]]
    return [*first, *(item.why if item is not None else ())]


def _make_table(title: str, rows: list[tuple[QWidget | None, str, str, str]], last: str = "") -> QWidget:
    """A small table: a mark, what it is, its value, one more number."""
    widget = QWidget()
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(3)
    grid.addWidget(make_label(title, "label"), 0, 0, 1, 3)
    if last:
        grid.addWidget(make_label(last, "small"), 0, 3, Qt.AlignmentFlag.AlignRight)
    for at, (mark, words_shown, value, more) in enumerate(rows, 1):
        if mark is not None:
            grid.addWidget(mark, at, 0, _MIDDLE)
        grid.addWidget(make_label(words_shown), at, 0 if mark is None else 1, 1, 2 if mark is None else 1)
        grid.addWidget(_make_number_label(value), at, 2)
        grid.addWidget(_make_number_label(more, "muted"), at, 3)
    return widget


def _make_number_label(text: str, role: str = "body") -> QLabel:
    label = make_label(text, role)
    label.setAlignment(Qt.AlignmentFlag.AlignRight | _MIDDLE)
    return label


_MIDDLE = Qt.AlignmentFlag.AlignVCenter


DETAILS = "details"
BAR = 12
"""Pixels a scroll bar takes; it is in the page's margin."""
_KEYS = ListKeys(
    {
        Qt.Key.Key_Return: DETAILS,
        Qt.Key.Key_Enter: DETAILS,
        Qt.Key.Key_Space: DETAILS,
        Qt.Key.Key_I: "closer",
        Qt.Key.Key_S: "should",
        Qt.Key.Key_X: "not_this",
        Qt.Key.Key_W: "why",
        Qt.Key.Key_P: "palace",
    },
    {Qt.Key.Key_X: "never"},
    moves_only=True,
    searches=False,
)
_MENU = (DETAILS, "closer", "", "should", "not_this", "never", "", "why", "palace", "copy")


class AnswerList(ListView):
    """The rows, on cards; one of them opens into its details.

    Signals:
        wanted: (act, `AnswerRow`) of what the person wants done; acts are keys of `acts` in the page's words.
    """

    wanted = Signal(str, object)

    def __init__(self, theme: Theme) -> None:
        self._rows = RankedRows(theme)
        super().__init__(self._rows, recall_strings()["answer"], _KEYS, keep=AfterRemoval.NONE)
        self._rows.height_of = self._details_height
        self._opened = -1
        self._details: AnswerDetailsView | None = None
        self.setObjectName("cards")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.menu = self.make_menu
        self.verticalScrollBar().rangeChanged.connect(lambda *_: self._align_right_edge())
        self._align_right_edge()
        self._is_second_click = False
        self.clicked.connect(self._on_clicked)

    def _align_right_edge(self) -> None:
        """Cards end at the same place with a scroll bar beside them and without."""
        bar = self.verticalScrollBar()
        self.setViewportMargins(0, 0, 0 if bar.maximum() > 0 else BAR, 0)

    # ---- what is shown

    @property
    def open_row(self) -> AnswerRow | None:
        """The row whose details are shown."""
        return self.lines.row_at(self._opened)

    def show_answer(self, lines: Sequence[Line]) -> None:
        """Show other lines; who is looked at stays, and stays open."""
        current, opened, value = self.current, self.open_row, self.verticalScrollBar().value()
        self._forget_details()
        self.lines.show_lines([])  # rows that say the same may know more now
        self.painter.hovered = -1
        self.lines.show_lines(lines)
        self.doItemsLayout()
        if opened is not None:
            self._open_details(self.lines.place_of(opened.id))
        if current is not None and self.select_rows(current.id):
            self.verticalScrollBar().setValue(value)
        else:
            self.select_rows()

    def select_memory(self, memory_id: str) -> bool:
        """Look at a memory, if it is shown."""
        is_shown = self.select_rows(memory_id)
        if is_shown:
            self.scrollTo(self.currentIndex())
        return is_shown

    # ---- details

    def open_memory(self, memory_id: str) -> bool:
        """Look at a memory with its details open; tells whether it is shown."""
        if not self.select_memory(memory_id):
            return False
        if self._opened != self.currentIndex().row():
            self.toggle_details(self.currentIndex().row())
        return True

    def toggle_details(self, place: int) -> None:
        """Open the details of a row, or close them.

        Args:
            place: its line.
        """
        was, row = self._opened, self.lines.row_at(place)
        if row is None:
            return
        self._close_details()
        if was != place:
            self._open_details(self.lines.place_of(row.id))
            self.scrollTo(self.lines.index(self._opened + 1, 0))
            self.scrollTo(self.lines.index(self._opened, 0))

    def close_details(self) -> bool:
        """Close what is open; tells whether anything was."""
        was_open = self._opened >= 0
        self._close_details()
        return was_open

    def _open_details(self, place: int) -> None:
        row = self.lines.row_at(place)
        if row is None:
            return
        self._opened, self._rows.opened = place, row.id
        self._details = AnswerDetailsView(self._theme, row)
        self.lines.insert_lines(place + 1, [AnswerDetails(row, row.is_last)])
        self.setIndexWidget(self.lines.index(place + 1, 0), self._details)
        self.doItemsLayout()

    def _close_details(self) -> None:
        if self._opened >= 0:
            place = self._opened
            self._forget_details()
            self.lines.remove_line(place + 1)
            self.doItemsLayout()

    def _forget_details(self) -> None:
        self._opened, self._rows.opened, self._details = -1, "", None  # the view deletes the widget with its line

    def _details_height(self, width: int) -> int:
        return 0 if self._details is None else self._details.arrange_for_width(width)

    # ---- what can be done

    def request_action(self, name: str) -> None:
        """Do something with the row that is looked at.

        Args:
            name: a key of `acts` in the page's words.
        """
        row = self.current
        if row is None:
            return
        if name == DETAILS:
            self.toggle_details(self.currentIndex().row())
        else:
            self.wanted.emit(name, row)

    def make_menu(self) -> QMenu:
        """What can be done with the row that is looked at; the caller shows it."""
        menu = QMenu(self)
        menu.setAccessibleName(recall_strings()["row"]["menu"])
        menu.aboutToHide.connect(menu.deleteLater)
        row = self.current
        for name in _MENU:
            if not name:
                menu.addSeparator()
            elif row is not None and (name != "why" or not row.is_answer):
                strings = recall_strings()["acts"][name]
                keys = QKeySequence(strings["key"]).toString(QKeySequence.SequenceFormat.NativeText)
                action = menu.addAction(f"{strings['title']}\t{keys}" if keys else strings["title"])
                action.triggered.connect(lambda _checked=False, name=name: self.request_action(name))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """The menu of the row under the pointer, else of the one that is looked at."""
        if event.reason() is not QContextMenuEvent.Reason.Mouse:
            super().contextMenuEvent(event)
            return
        row = self.lines.row_at(self.indexAt(event.pos()).row())
        if row is not None and self.select_rows(row.id):
            super().contextMenuEvent(event)

    def _on_clicked(self, place: QModelIndex) -> None:
        """A click does what Enter does."""
        if not self._is_second_click:
            self.toggle_details(place.row())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A press beside the rows changes nothing."""
        self._is_second_click = False
        if self.indexAt(event.position().toPoint()).isValid():
            super().mousePressEvent(event)
        else:
            event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """The first of two clicks has done it; the second leaves it so."""
        self._is_second_click = True
        event.accept()
