"""The file that the window was started with, or that a second start handed over: it waits until the palace is open.

Must not do: read it; the import does, and says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from ui.shell.window import MainWindow
from ui.strings import window_strings
from ui.widgets.plaintext import one_line

_NAME = 60


class GivenFile(QObject):
    """One file at a time: who gives another means that one."""

    def __init__(self, window: MainWindow) -> None:
        """Wait for a file.

        Args:
            window: opens its import.
        """
        super().__init__(window)
        self._window = window
        self._path: Path | None = None
        self._sentence = ""
        window.furnished.connect(self._open_import)

    def take_file(self, path: Path) -> None:
        """Open the import of a file with its preview; where the palace is not open, say so and wait for it."""
        self._forget_sentence()
        self._path = path
        if self._window.house is not None:
            self._open_import()
            return
        self._sentence = window_strings()["given_file"]["waits"].format(name=one_line(path.name, _NAME))
        self._window.context.desk.show_message(self._sentence, stays=True)

    def _open_import(self) -> None:
        path, self._path = self._path, None
        self._forget_sentence()
        if path is not None:
            self._window.open_import([path])

    def _forget_sentence(self) -> None:
        if self._sentence:
            self._window.context.desk.message_over.emit(self._sentence)
            self._sentence = ""
