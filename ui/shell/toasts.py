"""Sentences that appear above the lower edge of the window and go by themselves, or stay until they are dealt with."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from ui.strings import undo_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import make_button, make_column, make_label, make_row, make_timer
from ui.widgets.states import FOOT

_TOAST_MS, _ACTION_MS, _STILL_MS = 7_000, 20_000, 2_000
"""How long a sentence is seen, how long one with something to do, and how long after the pointer has left it."""


def _describe_later(action: str) -> str:
    """What undoes later too, where an undo is offered; "" else."""
    keys = QKeySequence(QKeySequence.StandardKey.Undo).toString(QKeySequence.SequenceFormat.NativeText)
    return str(window_strings()["later"]).format(keys=keys) if action == undo_strings()["undo"] else ""


def _stack_words(words: QLabel, later: str) -> QVBoxLayout:
    made = make_column(None, words, gap=1)
    if later:
        made.addWidget(make_label(later, "small"))
    return made


class Toasts(QObject):
    """Sentences that appear above the lower edge of a window and go by themselves."""

    def __init__(self, theme: Theme, host: QWidget) -> None:
        super().__init__(host)
        self._theme, self._host = theme, host
        self._shown: QFrame | None = None
        self._words: QLabel | None = None
        self._staying: list[tuple[str, str, Callable[[], None] | None]] = []
        self._timer = make_timer(self, self._end_toast)
        theme.changed.connect(self.place_toast)

    @property
    def sentence(self) -> str:
        """What is said at present."""
        return "" if self._shown is None else self._shown.accessibleName()

    def show_message(
        self, sentence: str, action: str = "", run: Callable[[], None] | None = None, *, stays: bool = False
    ) -> None:
        """Show a sentence.

        Args:
            action: title of a button; "" for none.
            stays: whether it waits until the person closes it.
        """
        if stays:
            self._staying.append((sentence, action, run))
        self._show_toast(sentence, action, run, stays=stays)

    def _show_toast(self, sentence: str, action: str, run: Callable[[], None] | None, *, stays: bool) -> None:
        self._hide_toast()
        frame = QFrame(self._host)
        frame.setObjectName("toast")
        frame.setAccessibleName(sentence)
        words = make_label(sentence, wrap=len(sentence) > 80)
        self._words = words
        layout = make_row(margins=10, gap=12, parent=frame)
        layout.addLayout(_stack_words(words, _describe_later(action)))
        layout.setContentsMargins(16, 8, 10, 8)
        if action and run is not None:
            layout.addWidget(make_button(action, lambda: self._run_action(run)))
        if stays:
            layout.addWidget(make_button(window_strings()["buttons"]["close"], self._close_toast))
        else:
            self._timer.start(_ACTION_MS if action else _TOAST_MS)
        self._shown = frame
        frame.show()
        frame.raise_()
        self.place_toast()

    def _end_toast(self) -> None:
        """Its time is over; as long as somebody points at it or has the keyboard on it, it stays."""
        shown, focus = self._shown, self._host.window().focusWidget()
        has_focus = shown is not None and focus is not None and shown.isAncestorOf(focus)
        if shown is not None and (shown.underMouse() or has_focus):
            self._timer.start(_STILL_MS)
        else:
            self.clear_messages()

    def _run_action(self, run: Callable[[], None]) -> None:
        self._close_toast()
        run()

    def _close_toast(self) -> None:
        """The person has dealt with what is shown."""
        self.remove_message(self.sentence)

    def remove_message(self, sentence: str) -> None:
        """Say a sentence no more; one that stays under what is shown does not come back either.

        Args:
            sentence: as it was said.
        """
        self._staying = [one for one in self._staying if one[0] != sentence]
        if sentence == self.sentence:
            self.clear_messages()

    def clear_messages(self, *, everything: bool = False) -> None:
        """Say nothing but what stays.

        Args:
            everything: whether that goes too.
        """
        self._hide_toast()
        if everything:
            self._staying.clear()
        elif self._staying:
            sentence, action, run = self._staying[-1]
            self._show_toast(sentence, action, run, stays=True)

    def _hide_toast(self) -> None:
        self._timer.stop()
        if self._shown is not None:
            self._shown.hide()
            self._shown.deleteLater()
            self._shown = self._words = None

    def place_toast(self) -> None:
        """Put what is shown where it belongs; for the host, when its size has changed."""
        if self._shown is not None and self._words is not None:
            self._words.setMaximumWidth(self._theme.px(560))
            self._shown.adjustSize()
            size = self._shown.sizeHint()
            left = max(16, (self._host.width() - size.width()) // 2)
            self._shown.setGeometry(left, self._toast_bottom() - size.height(), size.width(), size.height())

    def _toast_bottom(self) -> int:
        """Where a toast ends: above the lower edge, and above the bar of buttons at the foot of a page."""
        lines = (one for one in self._host.findChildren(QWidget) if one.property(FOOT) and one.isVisible())
        tops = [line.mapTo(self._host, QPoint(0, 0)).y() - spacing().snug for line in lines]
        return min([self._host.height() - 48, *tops])
