"""One turn as it is shown: the question, how far the answer is, its words, its memories, and what can be done.

Must not do: ask the engine, or decide what an answer rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QWidget

from ui.pages.ask.answer import AnswerText
from ui.pages.ask.conversation import AskTurn, TurnState
from ui.pages.ask.sources import SourceCard, SourceChips
from ui.strings import ask_strings, format_count
from ui.theme.theme import Theme
from ui.widgets.basics import clear_layout, make_button, make_column, make_label, make_row
from ui.widgets.labels import count_memories
from ui.widgets.plaintext import one_line

_NAME = 60


def describe_citations(turn: AskTurn) -> str:
    """How many of its sources an answer cites, in words."""
    strings, sources = ask_strings()["states"], len(turn.sources)
    if not sources:
        return str(strings["nothing_with_model"])
    form = strings["cited" if turn.cited else "uncited"]
    return str(form).format(cited=len(turn.cited), sources=count_memories(sources))


def describe_turn_state(turn: AskTurn) -> str:
    """How far a turn is, as a line under its question."""
    strings, model = ask_strings()["states"], one_line(turn.query.model, _NAME)
    if turn.state is TurnState.MEMORIES:
        return _describe_memories(turn, strings)
    form = str(strings[turn.state.value])
    if not model and turn.state is not TurnState.SEARCHING:
        return "" if turn.state is TurnState.FAILED else form.format(model="").strip(" ·").capitalize()
    return form.format(model=model, sources=count_memories(len(turn.sources)), cited=describe_citations(turn))


def describe_turn_end(turn: AskTurn) -> str:
    """How a turn ended, for those who do not see it."""
    strings = ask_strings()["announce"]
    if turn.state is TurnState.MEMORIES:
        return _describe_memories(turn, strings)
    return str(strings[turn.state.value]).format(cited=describe_citations(turn))


def _describe_memories(turn: AskTurn, strings: Mapping[str, Any]) -> str:
    """What the memories are to the question they are the answer of: nothing is said to fit that hardly does."""
    if turn.prepared is None or not turn.prepared.sources:
        return str(strings["nothing"])
    return format_count(strings["memories"][turn.prepared.fit.value], len(turn.prepared.sources))


class TurnView(QFrame):
    """A turn in the column of the conversation.

    Attributes:
        turn: what it shows.

    Signals:
        looked_at: the person turned to it.
        memory_asked: id of a memory to open.
        why_asked: id of a memory; why was it found?
        retry_asked: answer it once more.
        copy_asked: put the answer on the clipboard.
        read_asked: show what the model read.
    """

    looked_at = Signal()
    memory_asked = Signal(str)
    why_asked = Signal(str)
    retry_asked = Signal()
    copy_asked = Signal()
    read_asked = Signal()

    def __init__(self, theme: Theme, turn: AskTurn) -> None:
        super().__init__()
        strings, acts = ask_strings(), ask_strings()["acts"]
        self._theme, self.turn = theme, turn
        self._is_narrow = self._can_retry = False
        self.question = AnswerText(theme, strings["you"], "section")
        self.state = make_label("", "small", wrap=True)
        self.answer = AnswerText(theme, strings["title"])
        self.problem = make_label("", "warning", wrap=True)
        self.chips = SourceChips(theme)
        self._found = QWidget()
        self._cards = make_column(self._found, gap=8)
        self.retry = make_button(acts["retry"], self.retry_asked.emit, kind="ghost", theme=theme, icon="rotate-ccw")
        self.copy = make_button(acts["copy"], self.copy_asked.emit, kind="ghost", theme=theme, icon="copy")
        self.read = make_button(acts["read"], self.read_asked.emit, kind="ghost", theme=theme, icon="eye")
        self._acts = QWidget()
        make_row(self.copy, self.retry, self.read, None, parent=self._acts, gap=4)
        box = make_column(
            self, self.question, self.state, self.answer, self._found, self.problem, self.chips, self._acts, gap=6
        )
        box.setContentsMargins(11, 4, 0, 8)
        self.question.show_answer(turn.question)
        self.answer.cited.connect(lambda number: self.memory_asked.emit(turn.memory_of(number)))
        self.chips.opened.connect(self.memory_asked)
        self.chips.why_asked.connect(self.why_asked)
        for part in (self.question, self.answer):
            part.installEventFilter(self)
            part.viewport().installEventFilter(self)
        self.show_turn()

    def show_turn(self) -> None:
        """Show how far it is."""
        turn = self.turn
        self.state.setText(describe_turn_state(turn))
        self.state.setVisible(bool(self.state.text()))
        self.answer.show_answer(turn.answer, turn.sources)
        self.answer.setVisible(bool(turn.answer))
        self.problem.setText(turn.problem)
        self.problem.setVisible(bool(turn.problem))
        if not turn.is_open:
            self._show_found()
        self._show_foot()

    def _show_found(self) -> None:
        clear_layout(self._cards)
        is_found = self.turn.state is TurnState.MEMORIES and self.turn.prepared is not None
        sources = self.turn.prepared.sources if is_found and self.turn.prepared is not None else ()
        for source in sources:
            made = SourceCard(self._theme, source)
            made.clicked.connect(partial(self.memory_asked.emit, source.memory.id))
            made.why.clicked.connect(partial(self.why_asked.emit, source.memory.id))
            self._cards.addWidget(made)
        self._found.setVisible(bool(sources))

    def _show_foot(self) -> None:
        turn = self.turn
        has_model = turn.prepared is not None and bool(turn.prepared.messages)
        self.chips.setVisible(self._is_narrow and has_model and bool(turn.sources))
        if self.chips.isVisibleTo(self):
            self.chips.show_sources(turn.prepared, turn.cited)
        self.copy.setVisible(bool(turn.answer))
        self.retry.setVisible(self._can_retry)
        self.read.setVisible(has_model)
        self._acts.setVisible(not turn.is_open)

    def place_turn(self, *, can_retry: bool, is_narrow: bool) -> None:
        """Say where it is.

        Args:
            can_retry: whether it can be answered once more.
            is_narrow: whether its sources are below it.
        """
        self._can_retry, self._is_narrow = can_retry, is_narrow
        self._show_foot()

    def show_looked_at(self, is_looked_at: bool) -> None:
        """Mark it as the one whose sources are shown beside it."""
        self.setObjectName("evidence" if is_looked_at else "")
        self.style().unpolish(self)
        self.style().polish(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Turning to its words is turning to it."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.MouseButtonPress):
            self.looked_at.emit()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """So is pressing beside them."""
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.looked_at.emit()
