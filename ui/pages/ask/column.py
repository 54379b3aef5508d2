"""The column of turns: each in its place, the newest visible while it grows, one of them looked at.

Must not do: ask, stop or keep anything.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from ui.context import Context
from ui.pages.ask.conversation import AskTurn
from ui.pages.ask.sources import ReadDialog
from ui.pages.ask.turn import TurnView
from ui.strings import ask_strings
from ui.widgets.basics import ScrolledColumn, make_button, make_column, make_row, make_scroll_area
from ui.widgets.secret import SecretClipboard
from ui.widgets.states import EmptyState

_WHOLE = 100


class TurnColumn(QStackedWidget):
    """The conversation as it is read; where there is none, how to begin one.

    Attributes:
        views: how each turn is shown, oldest first.

    Signals:
        question_chosen: a question to begin with.
        memory_asked: id of a memory to open.
        why_asked: a `AskTurn` and the id of one of its memories; why was it found?
        retry_asked: the newest turn shall be answered once more.
        looked_at: a `AskTurn` the person turned to.
    """

    question_chosen = Signal(str)
    memory_asked = Signal(str)
    why_asked = Signal(object, str)
    retry_asked = Signal()
    looked_at = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.views: list[TurnView] = []
        self._looked_at: TurnView | None = None
        self._is_narrow = self._follows = True
        self._column = QWidget()
        self._column.setAccessibleName(ask_strings()["conversation"])
        self._turns = make_column(self._column, gap=20)
        self._turns.addStretch(1)
        inside = ScrolledColumn()
        make_row(None, self._column, None, parent=inside, gap=0).setStretch(1, _WHOLE)
        area = make_scroll_area(inside)
        self._scroll = area.verticalScrollBar()
        self._scroll.rangeChanged.connect(lambda _least, most: self._follow_answer(most))
        self._scroll.actionTriggered.connect(lambda _: self._stop_following())
        self.addWidget(self._make_empty())
        self.addWidget(area)

    def _make_empty(self) -> QWidget:
        strings = ask_strings()
        widget, starters = QWidget(), QWidget()
        starters.setAccessibleName(strings["starters_name"])
        buttons = [
            make_button(question, partial(self.question_chosen.emit, question), kind="chip")
            for question in strings["starters"]
        ]
        make_row(None, *buttons, None, parent=starters, gap=8)
        state = EmptyState(
            self._context.theme, "message-square", strings["empty"]["title"], strings["empty"]["sentence"]
        )
        state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        box = make_column(widget, gap=8)
        box.addStretch(2)
        box.addWidget(state)
        box.addWidget(starters)
        box.addStretch(3)
        return widget

    @property
    def current_turn(self) -> AskTurn | None:
        """The one that is looked at."""
        return None if self._looked_at is None else self._looked_at.turn

    # ---- turns

    def begin_turn(self, turn: AskTurn) -> None:
        """Show a turn that was just asked, or is asked once more, and look at it."""
        self._follows = True
        view = next((view for view in self.views if view.turn is turn), None) or self._add_view(turn)
        view.show_turn()
        self.setCurrentIndex(1)
        self.look_at(view)

    def _add_view(self, turn: AskTurn) -> TurnView:
        view = TurnView(self._context.theme, turn)
        view.looked_at.connect(lambda: self.look_at(view))
        view.memory_asked.connect(self.memory_asked)
        view.why_asked.connect(lambda memory_id: self.why_asked.emit(turn, memory_id))
        view.retry_asked.connect(self.retry_asked)
        view.copy_asked.connect(lambda: self._copy_answer(turn))
        view.read_asked.connect(lambda: self._show_read(turn))
        self.views.append(view)
        self._turns.insertWidget(len(self.views) - 1, view)
        return view

    def show_newest(self) -> None:
        """Show the newest turn as it is by now."""
        if self.views:
            self.views[-1].show_turn()

    def clear_turns(self) -> None:
        """Show none."""
        for view in self.views:
            view.hide()
            view.deleteLater()
        self.views, self._looked_at = [], None
        self.setCurrentIndex(0)

    def place_turns(self, *, has_model: bool, is_narrow: bool) -> None:
        """Fit the turns into their room.

        Args:
            has_model: whether a model would answer now.
            is_narrow: whether the sources of a turn are below it.
        """
        self._is_narrow = is_narrow
        self._column.setMaximumWidth(self._context.theme.px(self._context.theme.tokens.sizes.column))
        for view in self.views:
            can_retry = view is self.views[-1] and (has_model or bool(view.turn.query.model))
            view.place_turn(can_retry=can_retry, is_narrow=is_narrow)
        self._mark_looked_at()

    def look_at(self, view: TurnView) -> None:
        """Turn to one of them."""
        self._looked_at = view
        self._mark_looked_at()
        self.looked_at.emit(view.turn)

    def _mark_looked_at(self) -> None:
        for one in self.views:
            is_marked = one is self._looked_at and len(self.views) > 1 and not self._is_narrow
            one.show_looked_at(is_looked_at=is_marked)

    # ---- scrolling

    def _follow_answer(self, most: int) -> None:
        """What grows stays visible while it grows, as long as its question does; who scrolls is left alone."""
        if self._follows and self.views:
            self._scroll.setValue(min(most, self.views[-1].y()))

    def _stop_following(self) -> None:
        self._follows = False

    def scroll_pages(self, step: int) -> None:
        """Scroll by a page.

        Args:
            step: -1 up, 1 down.
        """
        self._stop_following()
        self._scroll.setValue(self._scroll.value() + step * self._scroll.pageStep())

    # ---- what can be done with an answer

    def _copy_answer(self, turn: AskTurn) -> None:
        context = self._context
        SecretClipboard(context.desk, context.bridge.state, context.prefs.options.clipboard_s).copy_secret(turn.answer)
        self._context.desk.show_message(ask_strings()["acts"]["copied"])

    def _show_read(self, turn: AskTurn) -> None:
        if turn.prepared is not None:
            ReadDialog(self._context.theme, turn.prepared, self).open()
