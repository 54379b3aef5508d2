"""Lists that fold out under a field: of one choice, and of a space that exists or gets its name here.

Must not do: know what is chosen for; ask the engine for anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyledItemDelegate

from core.types.values import GLOBAL_SPACE, HOME_SPACE
from ui.strings import import_strings
from ui.widgets.labels import name_space, read_space_name

_ROWS = 12


class ChoiceBox(QComboBox):
    """A list that the wheel does not change while somebody scrolls over it; its rows are as high as the theme's."""

    def __init__(self) -> None:
        super().__init__()
        # Qt's own delegate of the list gives its rows the height of a line, whatever the theme says.
        self.setItemDelegate(QStyledItemDelegate(self))
        self.setMaxVisibleItems(_ROWS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Left to the page, unless the list has the keyboard."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SpaceField(ChoiceBox):
    """The spaces there are, the home first; a name that is typed is a new one, to which the last row leads."""

    def __init__(self) -> None:
        super().__init__()
        self._strings = import_strings()["space"]
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setAccessibleName(self._strings["title"])
        self.setToolTip(self._strings["hint"])
        self.activated.connect(self._on_activated)

    def offer_spaces(self, names: Sequence[str], chosen: str) -> None:
        """Offer spaces, without telling anybody.

        Args:
            chosen: the name that stands in the field.
        """
        self.blockSignals(True)  # noqa: FBT003 - Qt's own
        self.clear()
        named = sorted({HOME_SPACE, *names}, key=lambda name: (name != HOME_SPACE, name.casefold()))
        for name in named:
            self.addItem(_word_space(name), name)
        self.addItem(self._strings["new"])
        self.setCurrentText(_word_space(chosen))
        self.blockSignals(False)  # noqa: FBT003 - Qt's own

    @property
    def space(self) -> str:
        """The name in the field; "" while there is none."""
        typed = self.currentText().strip()
        return "" if typed == self._strings["new"] else read_space_name(typed)

    def _on_activated(self, row: int) -> None:
        field = self.lineEdit()
        if row == self.count() - 1 and field is not None:
            field.setPlaceholderText(self._strings["name"])
            self.setEditText("")
            field.setFocus()


def _word_space(name: str) -> str:
    return name_space(name) if name == GLOBAL_SPACE else name
