"""What a page shows when there is nothing, nothing yet, or trouble."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QVBoxLayout, QWidget

from ui.bridge import Problem, problem_of
from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Stack, make_button, make_column, make_label, make_row, make_timer

FOOT = "isFoot"
"""Property of the line above a page's lowest buttons; what is said for a moment does not cover them."""
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
        strings = window_strings()
        actions = ((strings["buttons"]["retry"], again),) if again is not None else ()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        code = strings["states"]["code"].format(code=problem.code)
        layout.addWidget(EmptyState(theme, "triangle-alert", problem.sentence, code, *actions))


class States(Stack):
    """Holds a page's content and what is in its place.

    Signals:
        changed: whether there is nothing but an empty state, or trouble, now.
    """

    changed = Signal(bool)

    def __init__(self, theme: Theme, content: QWidget, loading: str = "") -> None:
        super().__init__()
        self._theme, self._content = theme, content
        self._loading = LoadingState(loading or window_strings()["states"]["loading"])
        self._other: QWidget | None = None
        self.addWidget(content)
        self.addWidget(self._loading)

    def show_content(self) -> None:
        """Show the content."""
        self._loading.hide_now()
        self.setCurrentWidget(self._content)
        self._remove_other()
        self.changed.emit(False)  # noqa: FBT003 - Qt's own

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
            report(problem.sentence, window_strings()["buttons"]["retry"], again)

    def _show_other(self, other: QWidget) -> None:
        self._loading.hide_now()
        self._remove_other()
        self._other = other
        self.addWidget(other)
        self.setCurrentWidget(other)
        self.changed.emit(True)  # noqa: FBT003 - Qt's own

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
