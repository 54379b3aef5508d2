"""What an answer rests on: its memories as cards or chips, and all that the model read, word for word.

Must not do: choose or rank; the memories are in the order in which they were found, what is cited first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QDialog, QPushButton, QSizePolicy, QToolButton, QWidget

from core.types.sessions import TIERS, AnswerSource, PreparedAnswer
from ui.pages.ask.answer import AnswerText
from ui.strings import ask_strings, format_count
from ui.theme.theme import Theme
from ui.theme.tokens import radii
from ui.widgets.basics import (
    FlowLayout,
    ScrolledColumn,
    clear_layout,
    make_button,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
    make_tool_button,
)
from ui.widgets.labels import KIND_WORDS, describe_source
from ui.widgets.plaintext import MarkedLine, MarkedText, one_line, passage_line, plain_line
from ui.widgets.shapes import KindMark

_TEXT, _CHIP, _ROOM = 240, 34, 40


def describe_given(source: AnswerSource) -> str:
    """Who said it, when, where it lies, and how it was given: `You, 3 Nov 2026 · room Garden · shortened`."""
    strings = ask_strings()["sources"]
    parts = [describe_source(source.memory, source.client)]
    parts += [str(strings["room"]).format(room=one_line(source.room, _ROOM))] if source.room else []
    parts += [str(strings["short"])] if source.form != "full" else []
    parts += [str(strings["sealed"])] if source.tier != TIERS[0] else []
    return " · ".join(parts)


def describe_left_out(left_out: Mapping[str, int]) -> str:
    """How many memories that fitted were left out, and why, the most frequent reason first; "" for none."""
    strings = ask_strings()["sources"]
    words = sorted(left_out.items(), key=lambda one: (-one[1], one[0]))
    why = ", ".join(str(strings["reasons"].get(reason, reason.replace("_", " "))) for reason, _ in words)
    return format_count(strings["left_out"], sum(left_out.values()), why=why) if left_out else ""


class SourceCard(QAbstractButton):
    """One memory with its number; pressing it opens the memory.

    Attributes:
        why: leads to the reasons for which it was found.
    """

    def __init__(self, theme: Theme, source: AnswerSource) -> None:
        super().__init__()
        self._theme, self.source = theme, source
        strings = ask_strings()["sources"]
        passage, about = passage_line(source.memory.text, source.answering, _TEXT), describe_given(source)
        text = passage.text
        self.setAccessibleName(strings["open"].format(number=source.number, text=text, about=about))
        self.setAccessibleDescription(KIND_WORDS[source.memory.kind])
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        number = make_label(f"[{source.number}]", "accent")
        header = make_row(number, KindMark(theme, source.memory.kind), make_label(about, "small", wrap=True), gap=6)
        header.setAlignment(number, Qt.AlignmentFlag.AlignTop)
        header.setStretch(2, 1)
        box = make_column(self, gap=4)
        box.setContentsMargins(12, 10, 12, 10)
        box.addLayout(header)
        box.addWidget(_make_passage(theme, passage))
        for child in self.findChildren(QWidget):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.why = make_button(strings["why"], kind="link", hint=strings["why_hint"])
        self.why.setProperty("flush", "true")
        self.why.setAccessibleName(strings["why_name"].format(number=source.number, text=text))
        box.addWidget(self.why, 0, Qt.AlignmentFlag.AlignLeft)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As large as what is in it."""
        layout = self.layout()
        return QSize() if layout is None else layout.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its words need at this width."""
        return QSize(80, self.heightForWidth(max(self.width(), 80)))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Return presses it too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """A quiet card; a ring where it has the keyboard."""
        painter, theme = QPainter(self), self._theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = "focus" if self.hasFocus() else "outline" if self.underMouse() else "line"
        width = 2.0 if self.hasFocus() else 1.0
        painter.setPen(QPen(theme.colour(line), width))
        painter.setBrush(theme.colour("hover" if self.underMouse() else "surface"))
        edge = width / 2
        radius = radii().control
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(edge, edge, -edge, -edge), radius, radius)
        painter.end()


def _make_passage(theme: Theme, passage: MarkedLine) -> QWidget:
    """A passage as plain text; the sentence that answers is underlined."""
    if not any(passage.marked):
        return make_label(passage.text, wrap=True)
    made = MarkedText(theme, passage.text, "accent")
    made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    made.show_text(passage.text, [passage.marked], "body")
    return made


def source_chip(theme: Theme, source: AnswerSource) -> QPushButton:
    """One memory in few words, for where there is no room for a card."""
    strings = ask_strings()["sources"]
    text = plain_line(source.memory.text, _CHIP)
    button = make_button(f"[{source.number}] {text}", kind="chip", theme=theme)
    about = describe_given(source)
    button.setAccessibleName(strings["open"].format(number=source.number, text=text, about=about))
    return button


class SourceChips(QWidget):
    """The sources of one answer in a few lines, each with the way to its reasons.

    Signals:
        opened: id of the memory of a chip that was pressed.
        why_asked: id of a memory; why was it found?
    """

    opened = Signal(str)
    why_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[PreparedAnswer | None, tuple[int, ...]] = (None, ())
        self._flow = FlowLayout(self, gap=6)
        self.setAccessibleName(ask_strings()["sources"]["title"])

    def show_sources(self, prepared: PreparedAnswer | None, cited: Sequence[int]) -> None:
        """Show those of an answer, what is cited first.

        Args:
            cited: numbers that the answer cites.
        """
        if self._shown == (prepared, tuple(cited)):
            return
        self._shown = (prepared, tuple(cited))
        clear_layout(self._flow)
        for source in _order_sources(prepared, cited):
            made = source_chip(self._theme, source)
            made.setProperty("used", source.number in cited)
            made.clicked.connect(partial(self.opened.emit, source.memory.id))
            pair = QWidget()
            make_row(made, self._make_why(source), parent=pair, gap=0)
            self._flow.addWidget(pair)
        self.updateGeometry()

    def _make_why(self, source: AnswerSource) -> QToolButton:
        strings = ask_strings()["sources"]
        run = partial(self.why_asked.emit, source.memory.id)
        made = make_tool_button(self._theme, "circle-help", strings["why"], run, size=14)
        made.setAccessibleName(
            strings["why_name"].format(number=source.number, text=plain_line(source.memory.text, _CHIP))
        )
        return made


def _order_sources(prepared: PreparedAnswer | None, cited: Sequence[int]) -> list[AnswerSource]:
    sources = () if prepared is None else prepared.sources
    return sorted(sources, key=lambda one: (one.number not in cited, one.number))


class SourcePanel(QWidget):
    """The column beside the conversation: the sources of the answer that is looked at.

    Signals:
        opened: id of the memory of a card that was pressed.
        why_asked: id of a memory; why was it found?
    """

    opened = Signal(str)
    why_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._inside = ScrolledColumn()
        self._column = make_column(self._inside, gap=8)
        self._column.setContentsMargins(0, 0, 12, 16)
        layout = make_column(self, make_label(ask_strings()["sources"]["title"], "section"), gap=8)
        layout.addWidget(make_scroll_area(self._inside), 1)
        self.cards: list[SourceCard] = []
        self._shown: tuple[PreparedAnswer | None, tuple[int, ...]] | None = None
        self.show_sources(None, ())

    def show_sources(self, prepared: PreparedAnswer | None, cited: Sequence[int]) -> None:
        """Show those of an answer, what is cited first.

        Args:
            prepared: None where there is no answer yet.
            cited: numbers that the answer cites.
        """
        if self._shown == (prepared, tuple(cited)):
            return
        self._shown = (prepared, tuple(cited))
        strings = ask_strings()["sources"]
        clear_layout(self._column)
        self.cards = []
        sources = _order_sources(prepared, cited)
        if prepared is None or not sources:
            self._column.addWidget(make_label(strings["none" if prepared is None else "nothing"], "muted", wrap=True))
        elif not prepared.messages:
            self._add_group(strings["found"], sources)
        else:
            self._add_group(strings["cited"], [one for one in sources if one.number in cited])
            self._add_group(strings["given"], [one for one in sources if one.number not in cited])
        left = "" if prepared is None else describe_left_out(prepared.left_out)
        if left:
            self._column.addWidget(make_label(left, "small", wrap=True))
        self._column.addStretch(1)

    def _add_group(self, title: str, sources: list[AnswerSource]) -> None:
        if not sources:
            return
        self._column.addWidget(make_label(title, "label"))
        for source in sources:
            made = SourceCard(self._theme, source)
            made.clicked.connect(partial(self.opened.emit, source.memory.id))
            made.why.clicked.connect(partial(self.why_asked.emit, source.memory.id))
            self._column.addWidget(made)
            self.cards.append(made)


class ReadDialog(QDialog):
    """The messages of a prepared answer."""

    def __init__(self, theme: Theme, prepared: PreparedAnswer, parent: QWidget) -> None:
        super().__init__(parent)
        strings = ask_strings()["read"]
        self.setWindowTitle(strings["title"])
        self.resize(theme.px(theme.tokens.sizes.dialog_wide), theme.px(560))
        inside = QWidget()
        column = make_column(inside, gap=6)
        column.setContentsMargins(0, 0, 12, 0)
        self.texts: list[AnswerText] = []
        for message in prepared.messages:
            role = str(strings["roles"].get(message["role"], message["role"]))
            text = AnswerText(theme, role)
            text.show_answer(message["content"])
            column.addWidget(make_label(role, "label"))
            column.addWidget(text)
            column.addSpacing(8)
            self.texts.append(text)
        column.addStretch(1)
        box = make_column(self, margins=20, gap=12)
        box.addWidget(make_label(strings["title"], "section"))
        box.addWidget(make_label(strings["sentence"].format(host=prepared.host), "muted", wrap=True))
        box.addWidget(make_scroll_area(inside), 1)
        close = make_button(strings["close"], self.accept, kind="primary")
        box.addLayout(make_row(None, close))
        close.setFocus()
