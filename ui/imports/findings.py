"""What was found in imports: people, places, statements, changes and questions, each with the page that shows it.

Must not do: look for anything itself; the engine reads names by itself and makes statements when asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from core.types.replies import ImportFindings
from ui.bridge import make_query
from ui.context import Context
from ui.strings import format_count, import_strings
from ui.widgets.basics import Elided, clear_layout, make_button, make_column, make_label, make_row, make_timer
from ui.widgets.plaintext import one_line

_AGAIN_MS = 1_000
_ICONS = {
    "person": "users",
    "place": "house",
    "names": "tag",
    "statements": "quote",
    "changes": "history",
    "questions": "scale",
}
_NAME_LENGTH = 40


class FindingsPanel(QWidget):
    """What was found in imports so far; it follows the reading of names until all are read.

    Signals:
        asked: (page, target): the person wants to see what a row counts.

    Attributes:
        found: what is shown; None before the first answer.
    """

    asked = Signal(str, str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._ids: tuple[str, ...] = ()
        self.found: ImportFindings | None = None
        strings = import_strings()["found"]
        self._rows = QWidget()
        self._list = make_column(self._rows, gap=4)
        self.reading = make_label("", "small")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(context.theme.px(160))
        self.bar.setAccessibleName(str(strings["label"]))
        self._wait = QWidget()
        make_row(self.reading, None, self.bar, gap=16, parent=self._wait)
        make_column(self, make_label(str(strings["label"]), "label"), self._rows, self._wait, gap=8)
        self._again = make_timer(self, self.reload, _AGAIN_MS)
        self.hide()

    def show_imports(self, import_ids: Sequence[str]) -> None:
        """Show what is found in imports, and again while it grows; nothing for none."""
        self._ids, self.found = tuple(import_ids), None
        self._again.stop()
        self.hide()
        if self._ids:
            self.reload()

    def reload(self) -> None:
        """Read it again."""
        imports, ids = self._context.bridge.engine.imports, self._ids
        title = import_strings()["found"]["task"]
        task = make_query(title, lambda: imports.read_findings(ids)).within(self, "found")
        self._context.tasks.run(task.success(self._show_findings).failure(lambda _: self._again.stop()))

    def _show_findings(self, found: ImportFindings) -> None:
        done = found.readable - found.unread
        self._wait.setVisible(found.unread > 0)
        form = str(import_strings()["found"]["waits"].get(found.waits) or import_strings()["found"]["reading"])
        self.reading.setText(form.format(done=f"{done:,}", all=f"{found.readable:,}"))
        self.bar.setRange(0, max(1, found.readable))
        self.bar.setValue(done)
        if found != self.found:
            self.found = found
            self._fill_rows(found)
        self.show()
        if found.unread:
            self._again.start()

    def _fill_rows(self, found: ImportFindings) -> None:
        clear_layout(self._list)
        strings = import_strings()["found"]
        others = {kind: names for kind, names in found.names.items() if kind not in {"person", "place"}}
        count = sum(found.by_type[kind] for kind in others)
        self._add_names("person", found.names.get("person", ()), found.by_type.get("person", 0), "type:person")
        self._add_names("place", found.names.get("place", ()), found.by_type.get("place", 0), "type:place")
        self._add_names("names", [name for names in others.values() for name in names], count, "")
        made = f"import:{','.join(self._ids)} kind:fact"
        self._add_row("statements", found.statements, str(strings["hints"]["statements"]), ("library", made))
        self._add_row("changes", found.changes, str(strings["hints"]["changes"]), ("library", "status:superseded"))
        self._add_row("questions", found.questions, str(strings["hints"]["questions"]), ("review", ""))
        if not self._list.count():
            self._list.addWidget(make_label(str(strings["none_yet" if found.unread else "none"]), "muted", wrap=True))

    def _add_names(self, row: str, names: Sequence[str], count: int, target: str) -> None:
        shown = ", ".join(one_line(name, _NAME_LENGTH) for name in names)
        if count > len(names):
            more = str(import_strings()["found"]["more"])
            shown = more.format(names=shown, count=f"{count - len(names):,}")
        self._add_row(row, count, shown, ("entities", target))

    def _add_row(self, row: str, count: int, text: str, target: tuple[str, str]) -> None:
        if not count:
            return
        strings, theme = import_strings()["found"], self._context.theme
        title = format_count(strings["rows"][row], count)
        picture, size = QLabel(), theme.px(16)
        picture.setPixmap(theme.icon(_ICONS[row], "muted").pixmap(QSize(size, size)))
        name = make_label(title, "strong")
        name.setMinimumWidth(theme.px(120))
        button = make_button(str(strings["show"]), lambda: self.asked.emit(*target), kind="link")
        button.setAccessibleName(f"{strings['show']}: {title}")
        widget = QWidget()
        line = make_row(picture, name, Elided(text, "muted"), button, gap=10, parent=widget)
        line.setStretch(2, 1)
        self._list.addWidget(widget)
