"""The window's own options and state, outside the vault: theme, text size, geometry, columns.

Must not do: hold anything of the vault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QByteArray, QObject, QTimer, Signal

from core.config.window import WindowOptions

_SAVE_MS = 500


class Store(Protocol):
    """Where they are kept."""

    def load(self) -> tuple[WindowOptions, Mapping[str, str]]:
        """Options and state as they were saved; defaults where there is nothing, or nothing that can be read."""
        ...

    def save(self, options: WindowOptions, state: Mapping[str, str]) -> None:
        """Store options and state."""
        ...


@dataclass
class InMemoryStore:
    """A store in memory, for tests and pictures."""

    options: WindowOptions
    state: Mapping[str, str]

    def load(self) -> tuple[WindowOptions, Mapping[str, str]]:
        """What was saved last."""
        return self.options, self.state

    def save(self, options: WindowOptions, state: Mapping[str, str]) -> None:
        """Store options and state."""
        self.options, self.state = options, dict(state)


class Prefs(QObject):
    """The options in force; saved half a second after the last change, and when the window closes.

    Signals:
        changed: the name of an option that changed.
    """

    changed = Signal(str)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.options, state = store.load()
        self._state = dict(state)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.save_now)

    def change_options(self, change: Callable[[WindowOptions], WindowOptions]) -> None:
        """Replace the options by changed ones.

        Args:
            change: makes the new ones of the old; may raise CONFIG_INVALID, which leaves all as it was.
        """
        old, new = self.options, change(self.options)
        self.options = new
        for name in WindowOptions.model_fields:
            if getattr(old, name) != getattr(new, name):
                self.changed.emit(name)
        self._timer.start(_SAVE_MS)

    def read_state(self, name: str) -> QByteArray:
        """A state by its name; empty where there is none."""
        return QByteArray.fromBase64(QByteArray(self._state.get(name, "").encode("ascii", "ignore")))

    def read_text(self, name: str, default: str = "") -> str:
        """A state that is a short text."""
        return self._state.get(name, default)

    def read_moment(self, name: str, now_ms: int) -> int:
        """A state that is a moment, epoch ms; where there is none that can be read it is now from here on."""
        stored = self.read_text(name)
        if not (stored.isascii() and stored.isdigit()):
            stored = str(now_ms)
            self.store_value(name, stored)
        return int(stored)

    def store_value(self, name: str, value: QByteArray | str) -> None:
        """Remember a state.

        Args:
            name: unique, such as `window.geometry`.
            value: what Qt's `saveState` gave, or a short text that is nothing of the vault.
        """
        text = value if isinstance(value, str) else bytes(value.toBase64().data()).decode("ascii")
        if self._state.get(name) != text:
            self._state[name] = text
            self._timer.start(_SAVE_MS)

    def save_now(self) -> None:
        """Store at once what has changed."""
        self._timer.stop()
        self._store.save(self.options, self._state)
