"""Sealed memories as pages show them without their key: lines of what the person wrote of them in the clear.

A line says that it is a summary and not the memory; what is sealed is read in the dialog of sealed memories alone. Must
not do: open a body, or show a summary as if it were a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from core.types.memory import CopiesBeforeSeal
from core.types.sensitivity import SealedRow
from core.types.values import Precision, When
from ui.bridge import make_query
from ui.context import Context
from ui.strings import format_count, seal_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import clear_layout, make_button, make_column, make_label, make_row
from ui.widgets.labels import format_said_at, name_space
from ui.widgets.plaintext import one_line

_MOST_FOUND, _MOST_LISTED = 3, 1
_MOST_CHARACTERS = 300


def summary_of(row: SealedRow, most: int = _MOST_CHARACTERS) -> str:
    """What is said of a sealed memory in the clear; its label where nothing is."""
    return one_line(row.summary or row.label, most)


def describe_seal(row: SealedRow) -> str:
    """That it is a summary or a label, and no memory; where that one was, and when it was sealed."""
    strings = seal_strings()["clear"]
    form = str(strings["summary_of" if row.summary else "label_of"])
    day = format_said_at(When(row.sealed_at, Precision.DAY))
    return form.format(space=name_space(row.space), day=day)


class SealedLine(QPushButton):
    """One sealed memory as a line; pressing it shows what is known of it."""

    def __init__(self, theme: Theme, row: SealedRow, open_it: Callable[[str], None]) -> None:
        """Make it.

        Args:
            open_it: called with its id.
        """
        super().__init__()
        self.memory_id = row.id
        self.setProperty("kind", "line")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._theme, self._picture = theme, QLabel()
        above, words = describe_seal(row), summary_of(row)
        text = make_column(gap=1)
        text.addWidget(make_label(above, "small", wrap=True))
        text.addWidget(make_label(words, wrap=True))
        self._box = layout = make_row(parent=self, gap=10)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        layout.setAlignment(self._picture, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(text, 1)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(f"{above}: {words}")
        self.clicked.connect(lambda: open_it(row.id))
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def _paint_icon(self) -> None:
        side = self._theme.px(spacing().l)
        self._picture.setPixmap(self._theme.icon("lock").pixmap(QSize(side, side)))

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As its words need."""
        return self._box.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its words need at this width."""
        return QSize(80, self.heightForWidth(max(self.width(), 80)))

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Its words wrap."""
        return self._box.totalHeightForWidth(width)


class SealedStrip(QFrame):
    """The sealed memories that a search is about, above what it found; hidden where there are none.

    Attributes:
        rows: what is shown or counted.
        is_settled: whether it shows all it is about to show.
    """

    def __init__(self, context: Context, origin: str) -> None:
        """Make it, hidden.

        Args:
            origin: of the selection: the page.
        """
        super().__init__()
        self.setObjectName("panel")
        self._context, self._origin = context, origin
        self.rows: tuple[SealedRow, ...] = ()
        self.is_settled = True
        self._asked = 0
        self.title = make_label("", "strong")
        self.more = make_button("", lambda: context.desk.seal.emit(()), kind="link")
        self._inner = QVBoxLayout()
        self._inner.setSpacing(2)
        layout = make_column(self, gap=2)
        layout.setContentsMargins(12, 8, 12, 8)
        head = make_row(self.title, None, self.more, gap=8)
        layout.addLayout(head)
        layout.addLayout(self._inner)
        self.hide()

    def ask(self, question: str, *, lists_all: bool = False) -> None:
        """Show those whose label and summary a question means.

        Args:
            question: the words that are searched for.
            lists_all: whether all are counted where there are no words.
        """
        engine = self._context.bridge.engine
        self._asked += 1
        asked = self._asked
        if question.strip():
            begin = lambda: engine.find_sealed(question)  # noqa: E731 - two ways to the same task
        elif lists_all:
            begin = lambda: engine.seal.list_rows()  # noqa: E731 - as above
        else:
            self.show_rows((), is_search=True)
            return
        is_search, self.is_settled = bool(question.strip()), False

        def show(rows: Sequence[SealedRow]) -> None:
            if asked == self._asked:  # since then nothing may have been asked for: then nothing is shown
                self.show_rows(rows, is_search=is_search)

        def fail(_: BaseException) -> None:
            self.is_settled = True  # the search itself says what is wrong

        task = make_query(seal_strings()["task"], begin).within(self, "find")
        self._context.tasks.run(task.success(show).failure(fail))

    def show_rows(self, rows: Sequence[SealedRow], *, is_search: bool) -> None:
        """Show them.

        Args:
            is_search: whether they were searched for; else they are all there are, and few are named.
        """
        strings = seal_strings()["clear"]
        self.rows, self.is_settled = tuple(rows), True
        clear_layout(self._inner)
        said = [row for row in self.rows if is_search or row.summary][: _MOST_FOUND if is_search else _MOST_LISTED]
        for row in said:
            self._inner.addWidget(SealedLine(self._context.theme, row, self._select))
        self.title.setText(format_count(strings["found" if is_search else "all"], len(self.rows)))
        left = len(self.rows) - len(said)
        self.more.setText(format_count(strings["more"], left) if said and left else str(strings["open"]))
        self.setAccessibleName(self.title.text())
        self.setVisible(bool(self.rows))

    def lines(self) -> tuple[SealedLine, ...]:
        """The lines that are shown."""
        found = (self._inner.itemAt(at) for at in range(self._inner.count()))
        return tuple(one.widget() for one in found if one is not None and isinstance(one.widget(), SealedLine))  # type: ignore[misc]  # told apart just now

    def _select(self, memory_id: str) -> None:
        self._context.selection.select(memory_id, self._origin)


class SealedSummary(QWidget):
    """What the inspector shows of a sealed memory: what is said of it in the clear, and the way to its text."""

    def __init__(self, context: Context, row: SealedRow) -> None:
        super().__init__()
        strings, theme = seal_strings()["clear"], context.theme
        self._theme, self._picture = theme, QLabel()
        title = make_label(strings["title"], "section", wrap=True)
        self.summary = make_label(row.summary or row.label, wrap=True)
        self.where = make_label(describe_seal(row), "muted", wrap=True)
        said = strings["notice"]["summary" if row.summary else "label"]
        notice = make_label(said, "muted", wrap=True)
        self.open_button = make_button(strings["open"], lambda: context.desk.seal.emit(()))
        self.older = make_label("", "warning", wrap=True)
        self.rewrite_button = make_button(strings["rewrite"], context.desk.sealed_copies.emit)
        layout = make_column(self, gap=12)
        layout.setContentsMargins(20, 20, 20, 20)
        head = make_row(self._picture, title, gap=8)
        head.setStretch(1, 1)
        layout.addLayout(head)
        if row.summary and row.label:
            layout.addWidget(make_label(one_line(row.label, _MOST_CHARACTERS), "strong", wrap=True))
        for part in (self.summary, self.where, notice):
            layout.addWidget(part)
        layout.addLayout(make_row(self.open_button, None))
        layout.addWidget(self.older)
        layout.addLayout(make_row(self.rewrite_button, None))
        layout.addStretch(1)
        self._context, self._memory_id = context, row.id
        self._show_older(CopiesBeforeSeal())
        context.desk.looked.connect(self._request_older)
        self._request_older()
        self.setAccessibleName(f"{strings['title']}. {summary_of(row)}. {said}")
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def _paint_icon(self) -> None:
        side = self._theme.px(spacing().l)
        self._picture.setPixmap(self._theme.icon("lock").pixmap(QSize(side, side)))

    def _request_older(self) -> None:
        copies = self._context.bridge.engine.seal.copies
        task = make_query(seal_strings()["task"], lambda: copies.list_older(self._memory_id)).within(self, "older")
        self._context.tasks.run(task.success(self._show_older).failure(lambda _: None))

    def _show_older(self, found: CopiesBeforeSeal) -> None:
        count = len(found.names) + len(found.away)
        self.older.setText(format_count(seal_strings()["clear"]["older"], count) if count else "")
        self.older.setVisible(bool(count))
        self.rewrite_button.setVisible(bool(count))
