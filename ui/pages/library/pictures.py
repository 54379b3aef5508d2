"""Small pictures of files for the lines of the Library: read for lines that are drawn, and a bounded number kept.

Drawing asks and never waits: what is not here yet is asked for and drawn when it has come. Must not do: read a file, or
keep a picture once the palace is locked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QPixmap

from core.events import Changed
from core.types.files.attachments import AttachedFile
from ui.bridge import make_query
from ui.context import Context
from ui.strings import attach_strings
from ui.widgets.basics import make_timer

T = TypeVar("T")
MOST_KEPT = 300
"""Pictures; those that were drawn longest ago go first."""
_AT_ONCE, _MOST_WAITING = 2, 60
_SOON_MS = 60
_RATIO = 2  # points a pixel: a screen of twice the density shows them sharp


class RowPictures(QObject):
    """The pictures of memories' files, at the height of a line.

    Signals:
        loaded: one has come.

    Attributes:
        reads: how many memories were asked for so far.
    """

    loaded = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.reads = 0
        self._kept: dict[str, QPixmap | None] = {}  # in the order in which they were drawn last
        self._waiting: dict[str, None] = {}
        self._flying: set[str] = set()
        self._soon = make_timer(self, self._read_waiting, _SOON_MS)
        context.bridge.changed.connect(self._on_vault_changed)
        context.bridge.state.connect(lambda _: self.forget())
        context.theme.changed.connect(self.forget)

    @property
    def side(self) -> int:
        """How large one is drawn, in pixels."""
        return self._context.theme.px(24)

    def picture_of(self, memory_id: str) -> QPixmap | None:
        """The picture of a memory that has files; None where there is none, and while it is on its way."""
        if memory_id in self._kept:
            self._kept[memory_id] = found = self._kept.pop(memory_id)
            return found
        if memory_id not in self._flying:
            self._waiting.pop(memory_id, None)
            self._waiting[memory_id] = None
            while len(self._waiting) > _MOST_WAITING:  # of what was scrolled past
                del self._waiting[next(iter(self._waiting))]
            if not self._soon.isActive():  # else drawing without end would put it off without end
                self._soon.start()
        return None

    def forget(self) -> None:
        """Let go of all of them."""
        self._kept.clear()
        self._waiting.clear()
        self._flying.clear()

    def _read_waiting(self) -> None:
        if not self._context.bridge.is_open:
            return
        files = self._context.bridge.engine.files
        while self._waiting and len(self._flying) < _AT_ONCE:
            memory_id, _ = self._waiting.popitem()  # drawn last
            self._flying.add(memory_id)
            self.reads += 1
            self._run(memory_id, partial(files.list_files, memory_id), self._on_files_read)

    def _run(self, memory_id: str, begin: Callable[[], Future[T]], then: Callable[[str, T], None]) -> None:
        task = make_query(attach_strings()["section"]["picture"], begin).within(self, memory_id)
        self._context.tasks.run(task.success(partial(then, memory_id)).failure(lambda _: self._keep(memory_id, None)))

    def _on_files_read(self, memory_id: str, found: Sequence[AttachedFile]) -> None:
        file = next((one for one in found if one.has_thumbnail), None)
        if file is None:
            self._keep(memory_id, None)
        elif memory_id in self._flying:
            files = self._context.bridge.engine.files
            self._run(memory_id, partial(files.read_thumbnail, file.id), self._on_picture_read)

    def _on_picture_read(self, memory_id: str, png: bytes | None) -> None:
        picture, side = QPixmap(), self.side * _RATIO
        if png is None or not picture.loadFromData(png, "PNG"):
            self._keep(memory_id, None)
            return
        shown = picture.scaled(
            QSize(side, side),
            Qt.AspectRatioMode.KeepAspectRatioByExpanding,
            Qt.TransformationMode.SmoothTransformation,
        )
        left, top = (shown.width() - side) // 2, (shown.height() - side) // 2
        self._keep(memory_id, shown.copy(left, top, side, side))

    def _keep(self, memory_id: str, picture: QPixmap | None) -> None:
        if memory_id in self._flying:  # else it was forgotten meanwhile
            self._flying.discard(memory_id)
            self._kept[memory_id] = picture
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            if picture is not None:
                self.loaded.emit()
        if self._waiting:
            self._soon.start()

    def _on_vault_changed(self, change: Changed) -> None:
        for memory_id in change.ids or tuple(self._kept):
            self._kept.pop(memory_id, None)
            self._flying.discard(memory_id)
