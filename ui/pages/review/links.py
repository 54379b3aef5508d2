"""Ways from an item to elsewhere: the inspector, the palace, what follows from a memory.

Must not do: know another page beyond its id.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from core.types.views import MemoryRow
from ui.context import CLOSER, Context
from ui.tasks import query
from ui.widgets.plaintext import one_line

ORIGIN = "review"


class Links(QObject):
    """The ways."""

    def __init__(self, context: Context, host: QWidget) -> None:
        """Make them.

        Args:
            context: what pages are given.
            host: the page; menus are its children.
        """
        super().__init__(host)
        self._context, self._host = context, host

    def look_closer(self, memory_id: str) -> None:
        """Open the inspector on a memory."""
        self._context.selection.again(memory_id, CLOSER)

    def go_to_palace(self, memory_id: str) -> None:
        """Show a memory in the palace."""
        self._context.selection.select(memory_id, ORIGIN)
        self._context.desk.go.emit("palace", f"show:{memory_id}")

    def lead(self, ids: tuple[str, ...]) -> None:
        """Show one memory, or a menu of several."""
        if len(ids) == 1:
            self.look_closer(ids[0])
            return
        library = self._context.bridge.engine.library
        asked = query("Looking at what follows", lambda: library.rows(ids)).within(self, "follows")
        self._context.tasks.run(asked.success(self._offer))

    def _offer(self, rows: Sequence[MemoryRow]) -> None:
        menu = QMenu(self._host)
        menu.setAccessibleName("Memories that follow from it")
        menu.aboutToHide.connect(menu.deleteLater)
        for one in rows:
            action = menu.addAction(one_line(one.head, 70).replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, one=one: self.look_closer(one.id))
        keyboard = self._host.focusWidget()
        is_pointed = self._host.underMouse() or keyboard is None
        menu.popup(
            QCursor.pos() if is_pointed or keyboard is None else keyboard.mapToGlobal(keyboard.rect().bottomLeft())
        )
