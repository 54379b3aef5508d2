"""The tab of imports: what was brought in, from where, what is left of it; and taking one out again.

Must not do: know another tab.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QSizePolicy, QWidget

from core.config.erasure_wording import erasure_words
from core.types.memory import ErasureRequest, ErasureSubject
from core.types.replies import ImportRow, UndoReport
from core.types.values import OWNER_ACTOR
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.erasure import ask_erasure
from ui.lists.table_view import TableColumn, TableSpec, TableView
from ui.pages.journal.undo.labels import import_format, import_sentences, import_skips, import_state
from ui.strings import format_count, journal_strings, undo_strings, window_strings
from ui.theme.tokens import FontRole
from ui.undo import describe_left
from ui.widgets.basics import Elided, FlowLayout, clear_layout, make_button, make_column, make_label, make_row
from ui.widgets.labels import count_memories, date_of, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States

COLUMNS: Sequence[TableColumn] = (
    TableColumn("label", 170, stretches=True),
    TableColumn("format", 158, order=4),
    TableColumn("at", 108, order=1),
    TableColumn("space", 96, order=3),
    TableColumn("memories", 84, is_number=True),
    TableColumn("skipped", 76, order=5, is_number=True),
    TableColumn("state", 84, order=2),
)
_WIDTH = 440
_FONTS: Mapping[str, FontRole] = {"at": "number", "memories": "number", "skipped": "number"}
_QUIET = frozenset({"format", "at", "space", "skipped", "state"})


class ImportRows(TableSpec[ImportRow]):
    """The rows of the table."""

    columns = COLUMNS

    def __init__(self) -> None:
        self.titles = journal_strings()["imports"]["columns"]

    def cell_text(self, title: str, row: ImportRow) -> str:
        """The text of a cell."""
        return _format_cell(title, row)

    def cell_colour(self, title: str, row: ImportRow) -> str:
        """What one reads first is dark, but where it was taken out again."""
        return "muted" if title in _QUIET or row.state == "undone" else "ink"

    def column_font(self, title: str) -> FontRole:
        """Figures have a font of their own."""
        return _FONTS.get(title, "body")


def _format_cell(title: str, found: ImportRow) -> str:
    match title:
        case "label":
            return one_line(found.label, 120)
        case "format":
            return import_format(found)
        case "at":
            return date_of(found.started_at)
        case "space":
            return name_space(found.space)
        case "memories":
            return f"{found.memories:,}"
        case "skipped":
            return f"{sum(import_skips(found).values()):,}"
        case _:
            return import_state(found)


class RemoveImportDialog(QDialog):
    """Asks before an import is removed.

    Signals:
        agreed: the person pressed the button.
    """

    agreed = Signal()

    def __init__(self, context: Context, found: ImportRow, parent: QWidget) -> None:
        super().__init__(parent)
        strings = journal_strings()["removal"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setFixedWidth(context.theme.px(_WIDTH))
        self.words = make_label(
            format_count(strings["told"], found.memories),
            "muted",
            wrap=True,
        )
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(
            strings["act"].format(memories=count_memories(found.memories)), self._on_agree_clicked, kind="danger"
        )
        name = Elided(one_line(found.label, 120), "strong")
        layout = make_column(self, make_label(strings["title"], "title"), name, self.words, margins=24, gap=12)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.cancel.setFocus()

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


class ImportPanel(QFrame):
    """What one import brought and left out, and what can be done with it.

    Attributes:
        sentences: what it says.

    Signals:
        asked: `open`, `remove`, `back` or `erase`.
    """

    asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        strings = journal_strings()["imports"]
        self.setObjectName("card")
        self.setAccessibleName(strings["panel"])
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._title = Elided("", "section")
        self.sentences: tuple[str, ...] = ()
        self._lines = QWidget()
        self._column = make_column(self._lines, gap=2)
        self.show_button = make_button(strings["open"], lambda: self.asked.emit("open"), hint="Enter")
        self.remove_button = make_button(strings["remove"], lambda: self.asked.emit("remove"), hint="Del")
        self.remove_button.setProperty("kind", "danger")
        self.back_button = make_button(
            strings["restore"], lambda: self.asked.emit("back"), hint=strings["restore_hint"]
        )
        words = erasure_words()["window"]["import"]
        self.erase_button = make_button(words["open"], lambda: self.asked.emit("erase"), hint=words["hint"])
        self.erase_button.setProperty("kind", "danger")
        buttons = FlowLayout(gap=8)
        for one in (self.show_button, self.remove_button, self.back_button, self.erase_button):
            one.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            buttons.addWidget(one)
        layout = make_column(self, self._title, self._lines, margins=16, gap=8)
        layout.addLayout(buttons)
        self.hide()

    def show_import(self, found: ImportRow | None) -> None:
        """Show one; nothing where there is none."""
        self.setVisible(found is not None)
        if found is None:
            return
        self._title.set_text(one_line(found.label, 120))
        clear_layout(self._column)
        self.sentences = import_sentences(found)
        for sentence in (" ".join(self.sentences[:2]), *self.sentences[2:]):
            self._column.addWidget(make_label(sentence, "muted", wrap=True))
        is_done = found.state == "done"
        self.show_button.setVisible(is_done)
        self.show_button.setEnabled(bool(found.memories))
        self.remove_button.setVisible(is_done and found.step_id is not None)  # an archive brought it, or it is too old
        self.erase_button.setVisible(is_done)
        self.back_button.setVisible(found.state == "undone" and found.undone_by is not None)


class ImportsTab(QWidget):
    """The tab that lists all imports.

    Signals:
        counted: how many there are.
    """

    counted = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        strings = journal_strings()["imports"]
        self.context = context
        self.table = TableView(context.theme, ImportRows(), strings["list"])
        self.panel = ImportPanel()
        self._is_read = self._wants_focus = False
        card = QFrame()
        card.setObjectName("card")
        make_column(card, self.table).setContentsMargins(1, 6, 1, 8)
        inside = QWidget()
        make_column(inside, card, self.panel, gap=10).setStretch(0, 1)
        self.states = States(context.theme, inside, strings["reading"])
        make_column(self, self.states)
        self.table.looked_at.connect(self._on_row_chosen)
        self.table.asked.connect(self.run_action)
        self.panel.asked.connect(self.run_action)

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Read what there is."""
        if not self._is_read:
            self.states.show_loading()
        journal = self.context.bridge.engine.history
        self.context.tasks.run(
            make_query(journal_strings()["tasks"]["imports"], journal.list_imports)
            .within(self, "imports")
            .success(self._show_imports)
            .failure(self._show_failure)
        )

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self._is_read

    @property
    def current(self) -> ImportRow | None:
        """The one that is chosen."""
        return self.table.lines.row_at(self.table.currentIndex().row())

    def _show_imports(self, rows: tuple[ImportRow, ...]) -> None:
        self._is_read = True
        selected = self.current
        self.table.lines.show_rows(rows)
        self.counted.emit(len(rows))
        if not rows:
            self.states.show_empty(self._make_empty_state())
            return
        self.states.show_content()
        place = next((at for at, one in enumerate(rows) if selected is not None and one.id == selected.id), 0)
        self.table.selectRow(place)
        self.panel.show_import(rows[place])
        if self._wants_focus:
            self.table.setFocus()
        self._wants_focus = False

    def _make_empty_state(self) -> QWidget:
        strings = journal_strings()["imports"]
        return EmptyState(
            self.context.theme,
            "import",
            strings["empty_title"],
            strings["empty"],
            (window_strings()["buttons"]["import"], partial(self.context.desk.import_paths.emit, [])),
        )

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self.states.show_trouble(problem, self.reload)

    def _on_row_chosen(self, place: int) -> None:
        found = self.table.lines.row_at(place)
        if found is not None:
            self.panel.show_import(found)

    # ---- what is done with one

    def run_action(self, what: str) -> None:
        """Do something with the chosen import.

        Args:
            what: `open` shows its memories, `remove` asks before it removes them, `back` brings them back, `erase` asks
                before it erases them for good.
        """
        found = self.current
        if found is None:
            return
        if what == "open" and found.state == "done" and found.memories:
            self.context.desk.search.emit(f"import:{found.id}")
        elif what == "remove" and found.state == "done":
            dialog = RemoveImportDialog(self.context, found, self)
            dialog.agreed.connect(lambda: self.remove_import(found.id))
            dialog.open()
        elif what == "erase" and found.state == "done":
            request = ErasureRequest(ErasureSubject.IMPORT, (found.id,))
            ask_erasure(self.context, request, "import", found.label, self, lambda _: self.reload())
        elif found.undone_by is not None and what in {"open", "back"}:
            self.undo_removal(
                found.undone_by, journal_strings()["imports"]["restored_name"].format(name=one_line(found.label, 60))
            )

    def remove_import(self, import_id: str) -> None:
        """Remove what an import brought."""
        imports = self.context.bridge.engine.imports
        self.context.tasks.run(
            make_write(journal_strings()["tasks"]["remove_import"], lambda: imports.undo_import(import_id))
            .within(self)
            .success(self._on_import_removed)
        )

    def _on_import_removed(self, report: UndoReport) -> None:
        strings = journal_strings()["imports"]
        undo = partial(self.undo_removal, report.undo_step_id, strings["restored"])
        self.context.desk.show_message(
            f"{strings['removed']}{describe_left(len(report.left))}", undo_strings()["undo"], undo
        )

    def undo_removal(self, step_id: str, sentence: str) -> None:
        """Undo a removal.

        Args:
            step_id: the step that removed it.
        """
        engine = self.context.bridge.engine
        self.context.tasks.run(
            make_write(
                journal_strings()["tasks"]["restore_import"], lambda: engine.memories.undo_step(step_id, OWNER_ACTOR)
            )
            .within(self)
            .success(lambda report: self.context.desk.show_message(f"{sentence}{describe_left(len(report.left))}"))
        )
