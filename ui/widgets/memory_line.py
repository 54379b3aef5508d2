"""Another memory as a line that leads to it.

Must not do: ask the engine, or know what is read.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy

from core.types.views import MemoryRow
from ui.strings import window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import make_column, make_label, make_row
from ui.widgets.plaintext import plain_line
from ui.widgets.shapes import KindMark

_HEAD = 150


class MemoryLine(QPushButton):
    """The beginning of another memory; pressing it looks at that one."""

    def __init__(
        self,
        theme: Theme,
        shown: MemoryRow,
        above: str,
        open_it: Callable[[str], None],
        *,
        is_current: bool = False,
    ) -> None:
        """Make it.

        Args:
            above: a few words over it: who said it and when, or its status; may be "".
            open_it: called with its id.
            is_current: whether it is the memory that is looked at.
        """
        super().__init__()
        self.memory_id = shown.id
        self.setProperty("kind", "line")
        self.setProperty("current", "true" if is_current else "false")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        excerpt = _cut_at_word(plain_line(shown.head, _HEAD))
        mark = KindMark(theme, shown.kind, 12)
        words = make_column(gap=1)
        if above:
            words.addWidget(make_label(above, "accent" if is_current else "small", wrap=True))
        words.addWidget(make_label(excerpt, wrap=True))
        self._box = layout = make_row(parent=self, gap=10)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.setAlignment(mark, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        form = window_strings()["memory_line"]["current" if is_current else "other"]
        self.setAccessibleName(form.format(above=above, excerpt=excerpt) if above else excerpt)
        self.clicked.connect(lambda: open_it(shown.id))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As its words need."""
        return self._box.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its words need at this width."""
        return QSize(80, self.heightForWidth(max(self.width(), 80)))

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Its words wrap."""
        return self._box.totalHeightForWidth(width)


def _cut_at_word(text: str) -> str:
    """A beginning that ends with a whole word."""
    if not text.endswith("…"):
        return text
    words = text[:-1].rpartition(" ")[0]
    return f"{words} …" if len(words) > _HEAD // 2 else text
