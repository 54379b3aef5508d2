"""The choice of a room's emblem: a grid of icons with names, filtered by a word.

Must not do: ask the engine.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QListView, QListWidget, QListWidgetItem, QWidget

from ui.bridge import read_emblems
from ui.strings import palace_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row

_NAME = Qt.ItemDataRole.UserRole
_ICON_PX = 24


class EmblemDialog(QDialog):
    """Which emblem a room shall have; arrows move in the grid, Enter takes it."""

    def __init__(self, parent: QWidget, theme: Theme, current: str, done: Callable[[str], None]) -> None:
        """Make it.

        Args:
            parent: over which it is.
            current: the emblem the room has; "" for none.
            done: called with the name of the emblem that was chosen.
        """
        super().__init__(parent)
        strings = palace_strings()["emblem"]
        self.setWindowTitle(strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme, self._done = theme, done
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(strings["filter"])
        self.filter.setAccessibleName(strings["filter"])
        self.emblems = QListWidget()
        self.emblems.setAccessibleName(strings["name"])
        self.emblems.setViewMode(QListView.ViewMode.IconMode)
        self.emblems.setMovement(QListView.Movement.Static)
        self.emblems.setResizeMode(QListView.ResizeMode.Adjust)
        self.emblems.setUniformItemSizes(True)
        self.emblems.setIconSize(QSize(theme.px(_ICON_PX), theme.px(_ICON_PX)))
        self.emblems.setGridSize(QSize(theme.px(44), theme.px(44)))
        self.shown = make_label("", "muted")
        keep = make_button(strings["title"], self._on_chosen, kind="primary")
        keep.setDefault(True)
        layout = make_column(
            self, make_label(strings["title"], "section"), self.filter, self.emblems, margins=24, gap=12
        )
        layout.addLayout(
            make_row(self.shown, None, make_button(window_strings()["buttons"]["cancel"], self.reject), keep)
        )
        self.filter.textChanged.connect(self._fill_grid)
        self.emblems.itemActivated.connect(lambda _: self._on_chosen())
        self.emblems.currentItemChanged.connect(lambda *_: self._show_name())
        self._fill_grid("", current)
        self.resize(theme.px(520), theme.px(480))

    def _fill_grid(self, typed: str, current: str = "") -> None:
        """Show the emblems that a word represents; all for none."""
        self.emblems.clear()
        wanted = typed.strip().casefold()
        for name, words in read_emblems().items():
            if wanted and not any(wanted in word for word in (name.replace("-", " "), *words)):
                continue
            title = name.replace("-", " ")
            item = QListWidgetItem(self._theme.icon(name, "ink"), "")
            item.setData(_NAME, name)
            item.setToolTip(title)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, title)
            self.emblems.addItem(item)
            if name == current:
                self.emblems.setCurrentItem(item)
        if self.emblems.currentItem() is None:
            self.emblems.setCurrentRow(0)
        self._show_name()

    def _show_name(self) -> None:
        item = self.emblems.currentItem()
        strings = palace_strings()["emblem"]
        self.shown.setText(strings["none"] if item is None else item.toolTip())

    def _on_chosen(self) -> None:
        item = self.emblems.currentItem()
        if item is not None:
            self._done(str(item.data(_NAME)))
            self.accept()
