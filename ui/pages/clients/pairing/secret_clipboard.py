"""A secret on the clipboard: taken off again after half a minute, and at once when the vault is locked.

Must not do: take off what somebody else has put there since.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QObject, QTimer
from PySide6.QtGui import QGuiApplication

from ui.context import Context

CLEAR_MS = 30_000
_MARK = "application/x-loci-secret"
_NOT_KEPT = "x-kde-passwordManagerHint"
"""Managers of clipboards that keep a history leave out what carries this mark."""


class SecretClip(QObject):
    """Holds no secret itself: what is on the clipboard carries a mark of this object."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.desk)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CLEAR_MS)
        self._timer.timeout.connect(self.clear)
        self._mark = str(id(self)).encode("ascii")
        context.bridge.state.connect(self._state)

    def put(self, secret: str) -> None:
        """Put it there for half a minute.

        Args:
            secret: plain text.
        """
        copied = QMimeData()
        copied.setText(secret)
        copied.setData(_MARK, self._mark)
        copied.setData(_NOT_KEPT, b"secret")
        QGuiApplication.clipboard().setMimeData(copied)
        self._timer.start()

    def clear(self) -> None:
        """Take it off, if it is still there; this object has done its work then."""
        self._timer.stop()
        held: QMimeData | None = QGuiApplication.clipboard().mimeData()  # None where the clipboard is empty
        if held is not None and held.data(_MARK).data() == self._mark:
            QGuiApplication.clipboard().clear()
        self.deleteLater()

    def _state(self, state: str) -> None:
        if state != "open":
            self.clear()
