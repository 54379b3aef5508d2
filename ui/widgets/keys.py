"""Keys: the button that shows its own, and widgets that take theirs before a shortcut of the window does.

Must not do: know what a key is for.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy

from ui.theme.theme import Theme
from ui.theme.tokens import sizes
from ui.widgets.basics import keycap, row


def plain_key(event: QKeyEvent) -> int:
    """The key that was pressed; 0 where Shift, Ctrl or the like is held with it."""
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return event.key() if held == Qt.KeyboardModifier.NoModifier else 0


def overrides(event: QEvent, wants: Callable[[QKeyEvent], bool]) -> bool:
    """Take a key that is this widget's own, although it may be a shortcut of the window too.

    A shortcut of the window goes first, and the widget would never hear of the key, unless it accepts the event that
    asks for it. For use in `event()`.

    Args:
        wants: whether a key is the widget's own.

    Returns:
        Whether it was taken; then `event()` returns True.
    """
    if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and wants(event):
        event.accept()
        return True
    return False


class KeyButton(QPushButton):
    """A button that shows its key.

    Attributes:
        title: what it does, as it is shown.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        key: str,
        run: Callable[[], None],
        kind: str = "plain",
        *,
        is_tight: bool = False,
    ) -> None:
        """Make it.

        Args:
            key: as it stands on the keyboard; "" for none.
            kind: plain, primary or danger.
            is_tight: whether it stands where there is little room.
        """
        super().__init__()
        self.setProperty("kind", kind)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.title, self._theme, self._key, self._is_tight = "", theme, key, is_tight
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        parts = [self._words, keycap(key)] if key else [self._words]
        self._box = row(*parts, parent=self)
        for part in parts:
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(lambda: run())
        self.name(title)
        self._measure()
        theme.changed.connect(self._measure)

    def name(self, title: str) -> None:
        """Say what it does."""
        self.title = title
        self._words.setText(title)
        self.setAccessibleName(title.removesuffix(" …"))
        self.setAccessibleDescription(f"Key {self._key}" if self._key else "")
        self.updateGeometry()

    def _measure(self) -> None:
        px = self._theme.px
        left = (7 if self._key else 9) if self._is_tight else 12
        right = left if not self._key else 6 if self._is_tight else 8
        self._box.setContentsMargins(px(left), 0, px(right), 0)
        self._box.setSpacing(px(4 if self._is_tight else 8))
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as its words and its key."""
        return QSize(self._box.sizeHint().width() + 2, self._theme.px(sizes().control))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Nothing of it is cut off."""
        return self.sizeHint()
