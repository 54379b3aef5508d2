"""What a page shows when there is nothing, nothing yet, or trouble; and sentences that come and go."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QVBoxLayout, QWidget

from ui.bridge import Problem, problem_of
from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import Stack, make_button, make_column, make_label, make_row, make_timer

FOOT = "isFoot"
"""Property of the line above a page's lowest buttons; what is said for a moment does not cover them."""
_TOAST_MS, _ACTION_MS, _STILL_MS = 7_000, 20_000, 2_000
"""How long a sentence is seen, how long one with something to do, and how long after the pointer has left it."""
_ALL_OF_IT = 1_000
_IN_A_ROW = 2


class EmptyState(QWidget):
    """An icon, a sentence, what can be done: empty states teach."""

    def __init__(
        self, theme: Theme, icon: str, title: str, sentence: str, *actions: tuple[str, Callable[[], None]]
    ) -> None:
        """Make it.

        Args:
            icon: name of an icon.
            title: what there is not.
            sentence: why, and what would be here.
            *actions: titles and what they do; the first is the main one.
        """
        super().__init__()
        self._theme, self._icon = theme, icon
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        heading = make_label(title, "section")
        heading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words = make_label(sentence, "muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        # Bounds in a row of springs: with an alignment Qt would not ask how high the wrapped text is.
        words.setMinimumWidth(theme.px(200))
        words.setMaximumWidth(theme.px(400))
        buttons = [make_button(name, run, kind="plain" if nr else "primary") for nr, (name, run) in enumerate(actions)]
        layout = make_column(self, margins=12, gap=10)
        layout.addStretch(2)
        layout.addWidget(self._picture)
        layout.addWidget(heading)
        sentence_row = make_row(None, words, None)
        sentence_row.setStretchFactor(words, _ALL_OF_IT)
        layout.addLayout(sentence_row)
        if buttons:
            layout.addSpacing(8)
            # A row of many would be wider than a small window, and what is beside it would be pushed out of view.
            for row in [buttons] if len(buttons) <= _IN_A_ROW else [[button] for button in buttons]:
                layout.addLayout(make_row(None, *row, None))
        layout.addStretch(3)
        self._paint_icon()
        theme.changed.connect(self._paint_icon)
        self.setAccessibleName(f"{title}. {sentence}")

    def _paint_icon(self) -> None:
        size = self._theme.px(40)
        self._picture.setPixmap(self._theme.icon(self._icon, "faint").pixmap(QSize(size, size)))


def add_page_title(title: str, state: QWidget) -> QWidget:
    """An empty state with the title of its page above it, where all pages have theirs."""
    made = QWidget()
    layout = make_column(made, gap=0)
    layout.setContentsMargins(24, 16, 24, 16)
    layout.addWidget(make_label(title, "title"))
    layout.addWidget(state, 1)
    made.setAccessibleName(state.accessibleName())
    return made


class LoadingState(QWidget):
    """A quiet bar with a word; it appears only after a moment, so that quick answers do not flicker."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setFixedWidth(220)
        bar.setTextVisible(False)
        bar.setAccessibleName(sentence)
        words = make_label(sentence, "muted")
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._inner = QWidget()
        inner = make_column(self._inner, words, gap=12)
        inner.addWidget(bar, 0, Qt.AlignmentFlag.AlignHCenter)
        layout = make_column(self, margins=32)
        layout.addStretch(2)
        layout.addWidget(self._inner)
        layout.addStretch(3)
        self._inner.hide()
        self._timer = make_timer(self, self._inner.show)

    def show_soon(self) -> None:
        """Appear in 300 ms unless something else is shown by then."""
        self._inner.hide()
        self._timer.start(300)

    def hide_now(self) -> None:
        """It is not needed any more."""
        self._timer.stop()
        self._inner.hide()


class TroubleState(QWidget):
    """What went wrong, in one sentence, and the way out."""

    def __init__(self, theme: Theme, problem: Problem, retry: Callable[[], None] | None = None) -> None:
        super().__init__()
        again = retry or problem.retry
        actions = (("Try again", again),) if again is not None else ()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(EmptyState(theme, "triangle-alert", problem.sentence, f"Code {problem.code}.", *actions))


class States(Stack):
    """Holds a page's content and what is in its place."""

    def __init__(self, theme: Theme, content: QWidget, loading: str = "One moment …") -> None:
        super().__init__()
        self._theme, self._content = theme, content
        self._loading = LoadingState(loading)
        self._other: QWidget | None = None
        self.addWidget(content)
        self.addWidget(self._loading)

    def show_content(self) -> None:
        """Show the content."""
        self._loading.hide_now()
        self.setCurrentWidget(self._content)
        self._remove_other()

    def show_loading(self) -> None:
        """Show that something is being read."""
        self._loading.show_soon()
        self.setCurrentWidget(self._loading)
        self._remove_other()

    def show_empty(self, state: QWidget) -> None:
        """Show an empty state."""
        self._show_other(state)

    def show_trouble(self, problem: Problem, retry: Callable[[], None] | None = None) -> None:
        """Show what went wrong."""
        self._show_other(TroubleState(self._theme, problem, retry))

    def show_failure(
        self,
        error: BaseException,
        again: Callable[[], None],
        report: Callable[[str, str, Callable[[], None]], None] | None,
    ) -> None:
        """Reading failed: show what went wrong, or say it beside what was read before.

        Args:
            error: what it failed with; nothing happens where it is none of the person's business.
            again: reads once more.
            report: says a sentence with the title of a button and what that does; None where nothing was read yet.
        """
        problem = problem_of(error)
        if problem is None:
            return
        if report is None:
            self.show_trouble(problem, again)
        else:
            report(problem.sentence, "Try again", again)

    def _show_other(self, other: QWidget) -> None:
        self._loading.hide_now()
        self._remove_other()
        self._other = other
        self.addWidget(other)
        self.setCurrentWidget(other)

    def _remove_other(self) -> None:
        if self._other is not None:
            self.removeWidget(self._other)
            self._other.deleteLater()
            self._other = None


class Banner(QFrame):
    """A sentence with a tone that stays until it is dealt with."""

    def __init__(
        self, sentence: str, tone: str = "plain", action: str = "", run: Callable[[], None] | None = None
    ) -> None:
        """Make it.

        Args:
            tone: plain, accent, warning or danger; the words must say it too.
            action: title of a button; "" for none.
        """
        super().__init__()
        self.setObjectName("banner")
        self.setProperty("tone", tone)
        words = make_label(sentence, wrap=True)
        layout = make_row(words, margins=12, gap=12, parent=self)
        layout.setStretch(0, 1)
        if action and run is not None:
            layout.addWidget(make_button(action, run))
        self.setAccessibleName(sentence)


def _describe_later(action: str) -> str:
    """What undoes later too, where an undo is offered; "" else."""
    strings = window_strings()["toast"]
    keys = QKeySequence(QKeySequence.StandardKey.Undo).toString(QKeySequence.SequenceFormat.NativeText)
    return str(strings["later"]).format(keys=keys) if action == strings["undo"] else ""


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
            layout.addWidget(make_button("Close", self._close_toast))
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
