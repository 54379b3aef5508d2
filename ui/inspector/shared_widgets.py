"""What the sections of the inspector share: rows of links, a disclosure, what is shown without a memory.

Must not do: ask the engine, or know what is read.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row


def make_flush_row(*widgets: QWidget | None, gap: int = 8) -> QHBoxLayout:
    """Links beside each other whose words begin where the text above them begins; None is a spring."""
    made = make_row(*widgets, gap=gap)
    made.setContentsMargins(-3, 0, -3, 0)
    return made


class EmptyInspector(QWidget):
    """What the inspector shows without a memory: as narrow as it may be."""

    def __init__(
        self, theme: Theme, icon: str, title: str, sentence: str, *actions: tuple[str, Callable[[], None]]
    ) -> None:
        """Make it.

        Args:
            icon: name of an icon.
            title: what there is not.
            sentence: why, and what would be here.
            *actions: titles and what they do.
        """
        super().__init__()
        self._theme, self._icon, self._picture = theme, icon, QLabel()
        layout = make_column(self, margins=24, gap=12)
        layout.addStretch(2)
        for words in (self._picture, make_label(title, "section", wrap=True), make_label(sentence, "muted", wrap=True)):
            words.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(words)
        if actions:
            layout.addLayout(make_row(None, *(make_button(name, run) for name, run in actions), None))
        layout.addStretch(3)
        self.setAccessibleName(f"{title}. {sentence}")
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def _paint_icon(self) -> None:
        side = self._theme.px(32)
        self._picture.setPixmap(self._theme.icon(self._icon, "faint").pixmap(QSize(side, side)))


class DisclosureToggle(QWidget):
    """A word that opens and closes what is below it."""

    def __init__(self, theme: Theme, closed: str, opened: str, inner: QWidget) -> None:
        """Make it.

        Args:
            closed: its words while what is inside is hidden.
            opened: its words while it is shown.
        """
        super().__init__()
        self._words = (closed, opened)
        self._theme, self._inner = theme, inner
        self.button = make_button(closed, self.toggle_open, kind="link")
        self.button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow is behind the words
        inner.hide()
        layout = make_column(self, gap=6)
        layout.addLayout(make_flush_row(self.button, None))
        layout.addWidget(inner)
        self._paint_chevron()
        theme.changed.connect(self._paint_chevron)

    def _paint_chevron(self) -> None:
        self.button.setIcon(self._theme.icon("chevron-down" if self.is_open else "chevron-right", "accent"))

    @property
    def is_open(self) -> bool:
        """Whether what is inside is shown."""
        return not self._inner.isHidden()

    def toggle_open(self) -> None:
        """Open or close it."""
        self.show_inside(is_shown=not self.is_open)

    def show_inside(self, *, is_shown: bool) -> None:
        """Open or close it."""
        self._inner.setVisible(is_shown)
        words = self._words[is_shown]
        self.button.setText(words)
        self.button.setAccessibleName(words)
        self._paint_chevron()
