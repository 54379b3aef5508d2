"""Chips: a filter that stands, with a cross to take it away; a choice that opens a menu; a switch among few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLayout, QMenu, QPushButton, QWidget

from ui.theme.theme import Theme
from ui.widgets.basics import button, follow_icon, row
from ui.widgets.flow import FlowLayout


def remove_chip(theme: Theme, text: str, remove: Callable[[], None]) -> QPushButton:
    """A filter that stands; pressing it takes it away.

    Args:
        theme: the theme.
        text: what it filters by, such as `kind: fact`.
        remove: takes it away.
    """
    made = button(text, remove, kind="chip", hint=f"Remove the filter {text}")
    made.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    made.setAccessibleName(f"Remove the filter {text}")
    follow_icon(theme, made, "x", "muted")
    return made


class MenuChip(QPushButton):
    """A chip that says what is chosen and opens a menu of choices.

    Signals:
        chosen: the value that was chosen.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, title: str, choices: Mapping[str, str], current: str) -> None:
        """Make it.

        Args:
            theme: the theme.
            title: what is chosen, such as `Colour`.
            choices: value to words.
            current: the value that is chosen.
        """
        super().__init__()
        self.setProperty("kind", "chip")
        self.setAutoDefault(False)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        follow_icon(theme, self, "chevron-down", "muted")
        self._title, self._choices, self.current = title, dict(choices), current
        self._menu = QMenu(self)
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # the chip's own only puts its arrow on the right
        self.setMenu(self._menu)
        self.offer(choices, current)

    def offer(self, choices: Mapping[str, str], current: str) -> None:
        """Offer other choices."""
        self._choices = dict(choices)
        self._menu.clear()
        for value, words in self._choices.items():
            action = self._menu.addAction(words.replace("&", "&&"))
            action.setCheckable(True)
            action.setData(value)
            action.triggered.connect(lambda _checked=False, value=value: self._take(value))
        self.show_choice(current)

    def show_choice(self, value: str) -> None:
        """Show a value as the chosen one, without telling anybody."""
        self.current = value
        words = self._choices.get(value, value)
        self.setText(f"{self._title}: {words}".replace("&", "&&"))
        self.setAccessibleName(f"{self._title}: {words}")
        for action in self._menu.actions():
            action.setChecked(action.data() == value)

    def _take(self, value: str) -> None:
        self.show_choice(value)
        self.chosen.emit(value)


class Segments(QWidget):
    """One of few, all in sight.

    Signals:
        chosen: the value that was chosen.
    """

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], current: str, name: str, *, wraps: bool = False) -> None:
        """Make it.

        Args:
            choices: value and words, in order.
            current: the value that is chosen.
            name: what is chosen, for those who do not see it.
            wraps: whether they may stand in several lines; they are too many for a narrow page.
        """
        super().__init__()
        self.setAccessibleName(name)
        layout: QLayout = FlowLayout(self, gap=6) if wraps else row(parent=self, gap=6)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._buttons: dict[str, QPushButton] = {}
        for value, words in choices:
            made = button(words, kind="chip")
            made.setCheckable(True)
            made.setChecked(value == current)
            made.clicked.connect(lambda _checked=False, value=value: self.chosen.emit(value))
            self._group.addButton(made)
            layout.addWidget(made)
            self._buttons[value] = made
        if isinstance(layout, QHBoxLayout):
            layout.addStretch(1)

    @property
    def current(self) -> str:
        """The value that is chosen."""
        return next((value for value, made in self._buttons.items() if made.isChecked()), "")

    def show_choice(self, value: str) -> None:
        """Show a value as the chosen one, without telling anybody."""
        self._buttons[value].setChecked(True)

    def name_choice(self, value: str, words: str) -> None:
        """Say a choice in other words, such as with a new count."""
        self._buttons[value].setText(words)
