"""The key to the bars: which colour, and which shape elsewhere, is which kind.

Must not do: anything else.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from core.types.values import Kind
from ui.theme.theme import Theme
from ui.widgets.basics import clear, label, row
from ui.widgets.shapes import KindMark
from ui.widgets.words import KIND_PLURALS


class KindLegend(QWidget):
    """Shapes with their words, on one line."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._row = row(gap=5, parent=self)

    def show_kinds(self, kinds: tuple[Kind, ...]) -> None:
        """Explain some kinds.

        Args:
            kinds: those that occur; none hides it.
        """
        clear(self._row)
        for kind in kinds:
            if self._row.count():
                self._row.addSpacing(self._theme.px(8))
            self._row.addWidget(KindMark(self._theme, kind, 12))
            self._row.addWidget(label(KIND_PLURALS[kind], "small"))
        self._row.addStretch(1)
        self.setVisible(bool(kinds))
