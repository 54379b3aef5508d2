"""What the sections of the inspector share: another memory as a line that leads to it, a disclosure.

Must not do: ask the engine, or know what is read.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from core.types.views import MemoryRow
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row
from ui.widgets.plaintext import one_line
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
        excerpt = _cut_at_word(one_line(shown.head, _HEAD))
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
        here = ", this memory" if is_current else ""
        self.setAccessibleName(f"{above}{here}: {excerpt}" if above else excerpt)
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


def make_flush_row(*widgets: QWidget | None, gap: int = 8) -> QHBoxLayout:
    """Links beside each other whose words begin where the text above them begins; None is a spring."""
    made = make_row(*widgets, gap=gap)
    made.setContentsMargins(-3, 0, -3, 0)
    return made


class EmptyInspector(QWidget):
    """What the inspector shows without a memory: as narrow as it may be."""

    def __init__(
        self, theme: Theme, icon: str, title: str, sentence: str, *actions: tuple[str, Callable[[], None]]
    ) -> None:
        """Make it.

        Args:
            icon: name of an icon.
            title: what there is not.
            sentence: why, and what would be here.
            *actions: titles and what they do.
        """
        super().__init__()
        self._theme, self._icon, self._picture = theme, icon, QLabel()
        layout = make_column(self, margins=24, gap=12)
        layout.addStretch(2)
        for words in (self._picture, make_label(title, "section", wrap=True), make_label(sentence, "muted", wrap=True)):
            words.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(words)
        if actions:
            layout.addLayout(make_row(None, *(make_button(name, run) for name, run in actions), None))
        layout.addStretch(3)
        self.setAccessibleName(f"{title}. {sentence}")
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def _paint_icon(self) -> None:
        side = self._theme.px(32)
        self._picture.setPixmap(self._theme.icon(self._icon, "faint").pixmap(QSize(side, side)))


class Disclosure(QWidget):
    """A word that opens and closes what is below it."""

    def __init__(self, theme: Theme, closed: str, opened: str, inner: QWidget) -> None:
        """Make it.

        Args:
            closed: its words while what is inside is hidden.
            opened: its words while it is shown.
        """
        super().__init__()
        self._words = (closed, opened)
        self._theme, self._inner = theme, inner
        self.button = make_button(closed, self.toggle_open, kind="link")
        self.button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow is behind the words
        inner.hide()
        layout = make_column(self, gap=6)
        layout.addLayout(make_flush_row(self.button, None))
        layout.addWidget(inner)
        self._paint_chevron()
        theme.changed.connect(self._paint_chevron)

    def _paint_chevron(self) -> None:
        self.button.setIcon(self._theme.icon("chevron-down" if self.is_open else "chevron-right", "accent"))

    @property
    def is_open(self) -> bool:
        """Whether what is inside is shown."""
        return not self._inner.isHidden()

    def toggle_open(self) -> None:
        """Open or close it."""
        self.show_inside(is_shown=not self.is_open)

    def show_inside(self, *, is_shown: bool) -> None:
        """Open or close it."""
        self._inner.setVisible(is_shown)
        words = self._words[is_shown]
        self.button.setText(words)
        self.button.setAccessibleName(words)
        self._paint_chevron()
