"""The import dialog: choose, look inside, import, done; its frame, files dropped on it, and the rehearsal it starts.

Nothing is stored before the person has seen what it is. Must not do: wait; know another page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QWidget

from core.types.replies import ImportReport
from core.types.values import HOME_SPACE, OWNER_ACTOR
from core.types.views import Facets
from ui.attachments import is_attachable
from ui.bridge import Problem, Running, Task, Watch, make_query, problem_of
from ui.context import USUAL_PLACES, Context
from ui.imports.preview import RehearsalStep
from ui.imports.queue import DoneStep, ImportJob, ImportQueue, ImportRemoval, ProgressStep
from ui.imports.sources import ChooseStep, ImportSource
from ui.strings import format_count, import_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import (
    Stack,
    add_hidden_children,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    set_style_property,
)

SIZE = QSize(860, 740)
SMALLEST = QSize(640, 480)
Act = tuple[str, Callable[[], None]]
"""The title of a button and what it does."""


class WizardFrame(QDialog):
    """The dialog's frame: step names above, buttons below, files dropped on it.

    Signals:
        held: files are held over it, or no longer.
        dropped: paths that were dropped.
        left: it closes.

    Attributes:
        takes_drops: whether something may be dropped now.
        back: the button on the left; `other` and `main` are on the right.
    """

    held = Signal(bool)
    dropped = Signal(list)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None) -> None:
        """Make it.

        Args:
            parent: the window; the frame is not larger than it.
        """
        super().__init__(parent)
        strings = import_strings()["dialog"]
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setAcceptDrops(True)
        self.setMinimumSize(SMALLEST)
        wanted = QSize(theme.px(SIZE.width()), theme.px(SIZE.height()))
        room = (
            wanted if parent is None else parent.window().size() - QSize(2 * spacing().xl, 2 * spacing().xl)
        )  # the window stays visible around it
        self.resize(wanted.boundedTo(room).expandedTo(SMALLEST))
        self.takes_drops = True
        self._steps = [make_label(f"{nr}  {name}", "small") for nr, name in enumerate(strings["steps"], 1)]
        self._stack = Stack()
        self.back = make_button(window_strings()["buttons"]["close"])
        self.other = make_button("")
        self.main = make_button("", kind="primary")
        self._runs: dict[QWidget, Callable[[], None]] = {}
        for made in (self.back, self.other, self.main):
            made.clicked.connect(self._on_button_pressed)
        self._build_layout()

    def _build_layout(self) -> None:
        header = make_row(*self._steps, None, gap=24)
        header.setContentsMargins(24, 16, 24, 12)
        body = make_column(None, self._stack)
        body.setContentsMargins(24, 16, 24, 16)
        foot = make_row(self.back, None, self.other, self.main)
        foot.setContentsMargins(24, 12, 24, 16)
        layout = make_column(self, gap=0)
        layout.addLayout(header)
        layout.addWidget(make_hairline())
        layout.addLayout(body, 1)
        layout.addWidget(make_hairline())
        layout.addLayout(foot)

    @property
    def page(self) -> QWidget | None:
        """The page that is shown; None before the first."""
        return self._stack.currentWidget()

    def show_page(self, page: QWidget, step: int) -> None:
        """Show a page.

        Args:
            page: which; added where it is new.
            step: number of its step, from 0.
        """
        if self._stack.indexOf(page) < 0:
            self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)
        strings = import_strings()["dialog"]
        for nr, (made, name) in enumerate(zip(self._steps, strings["steps"], strict=True)):
            set_style_property(made, "role", "accent" if nr == step else "small")
            made.setAccessibleName(strings["step_now" if nr == step else "step"].format(name=name))

    def set_footer(self, back: Act | None, main: Act | None, other: Act | None = None, *, may_go: bool = True) -> None:
        """Offer other buttons.

        Args:
            back: on the left.
            main: the main one; Enter presses it.
            other: beside it.
            may_go: whether the main one can be pressed.
        """
        self._runs.clear()
        for made, wanted in ((self.back, back), (self.main, main), (self.other, other)):
            made.setVisible(wanted is not None)
            made.setEnabled(True)
            if wanted is not None:
                made.setText(wanted[0].replace("&", "&&"))
                made.setAccessibleName(wanted[0])
                self._runs[made] = wanted[1]
        self.main.setEnabled(may_go)
        self.main.setDefault(main is not None)

    def _on_button_pressed(self) -> None:
        pressed = self.sender()
        if isinstance(pressed, QWidget) and pressed in self._runs:
            self._runs[pressed]()

    # ---- Qt's events

    def done(self, result: int) -> None:
        """It closes by a button or by Esc."""
        self.left.emit()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """It closes by its frame or by the window."""
        self.left.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Files and folders may be dropped while nothing is imported."""
        if self.takes_drops and any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self.held.emit(True)  # noqa: FBT003 - Qt's own

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802 - Qt's name
        """They are held somewhere else now."""
        self.held.emit(False)  # noqa: FBT003 - Qt's own
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Tell what was dropped."""
        self.held.emit(False)  # noqa: FBT003 - Qt's own
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths and self.takes_drops:
            event.acceptProposedAction()
            self.dropped.emit(paths)


class ExportReader(QObject):
    """Rehearses exports one after the other and tells when each is read.

    Signals:
        read: a `ImportSource` that was read now, or refused.
        moved: entries of the present one so far.

    Attributes:
        sources: what is to be imported.
    """

    read = Signal(object)
    moved = Signal(int)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._running: Running | None = None
        self._space = HOME_SPACE
        self.sources: list[ImportSource] = []

    @property
    def is_done(self) -> bool:
        """Whether all of them were read or refused."""
        return all(source.report is not None or source.problem is not None for source in self.sources)

    @property
    def new(self) -> int:
        """How many memories what is chosen would bring."""
        return sum(source.new for source in self.sources)

    def start_reading(self, paths: Sequence[Path], space: str) -> None:
        """Read other files and folders.

        Args:
            space: the space they would go to.
        """
        self.stop_reading()
        self.sources = [ImportSource(Path(path)) for path in paths]
        self._space = space
        self._read_next()

    def reread_for(self, space: str) -> None:
        """Read all of them anew for another space: what is new there is another question."""
        self.stop_reading()
        self._space = space
        for source in self.sources:
            source.report, source.problem = None, None
            self.read.emit(source)
        self._read_next()

    def read_as(self, source: ImportSource, form: str) -> None:
        """Read one of them anew, in a format the person names."""
        self.stop_reading()
        source.form, source.is_by_line = form, False
        self._read_anew(source)

    def read_by_line(self, source: ImportSource, is_by_line: bool) -> None:
        """Read a list anew: each line a memory of its own, or all of it one."""
        self.stop_reading()
        source.is_by_line = is_by_line
        self._read_anew(source)

    def _read_anew(self, source: ImportSource) -> None:
        source.problem, source.report, source.only, source.without = None, None, None, frozenset()
        self.read.emit(source)
        self._read_next()

    def read_with(self, source: ImportSource, passphrase: str) -> None:
        """Read an archive anew, with the passphrase the person types."""
        self.stop_reading()
        source.passphrase, source.problem, source.report = passphrase, None, None
        self.read.emit(source)
        self._read_next()

    def stop_reading(self) -> None:
        """Read no further."""
        if self._running is not None:
            self._running.cancel()
            self._running = None

    def _read_next(self) -> None:
        source = next((one for one in self.sources if one.report is None and one.problem is None), None)
        if source is None:
            return
        imports = self._context.bridge.engine.imports

        def start_rehearsal(watch: Watch) -> Future[ImportReport]:
            return imports.rehearse(
                source.path,
                source.read_form,
                OWNER_ACTOR,
                self._space,
                watch.progress,
                watch.cancelled,
                source.passphrase,
            )

        task = Task(import_strings()["preview"]["reading_export"], start_rehearsal, can_cancel=True).within(
            self, "read"
        )
        self._running = self._context.tasks.run(
            task.success(lambda report: self._on_source_read(source, report)).failure(
                lambda error: self._on_reading_failed(source, error)
            )
        )
        self._running.moved.connect(self._on_progress_moved)

    def _on_progress_moved(self, done: int, _total: int) -> None:
        self.moved.emit(done)

    def _on_source_read(self, source: ImportSource, report: ImportReport) -> None:
        self._running = None
        source.report = report
        if source.only is not None:
            source.only &= {row.key for row in report.plan}
        self._finish_source(source)

    def _on_reading_failed(self, source: ImportSource, error: BaseException) -> None:
        self._running = None
        source.problem = problem_of(error)
        if source.problem is not None:
            self._finish_source(source)

    def _finish_source(self, source: ImportSource) -> None:
        self._read_next()
        self.read.emit(source)


class ImportDialog(WizardFrame):
    """The import dialog: leads through its steps.

    Attributes:
        queue: what is imported now; None else.
        is_put_aside: whether the person looks at what was found, and may come back to the result.
    """

    def __init__(self, context: Context, paths: Sequence[Path] = (), parent: QWidget | None = None) -> None:
        """Make it.

        Args:
            paths: what was dropped or chosen; `USUAL_PLACES` alone to look around; empty to ask.
        """
        super().__init__(context.theme, parent)
        self.context = context
        self.queue: ImportQueue | None = None
        self.is_put_aside = False
        self._ids: list[str] = []
        self.reader = ExportReader(context, self)
        self.choose = ChooseStep(context)
        self.rehearse = RehearsalStep(context)
        self.progress = ProgressStep(context)
        self.outcome = DoneStep(context)
        add_hidden_children(self, self.choose, self.rehearse, self.progress, self.outcome)
        self._connect_signals()
        self._read_spaces()
        self._open_first(paths)

    def _connect_signals(self) -> None:
        self.choose.chosen.connect(self.rehearse_paths)
        self.choose.ready.connect(self._choose_footer)
        self.reader.read.connect(self._on_sources_read)
        self.reader.moved.connect(self.rehearse.show_count)
        self.rehearse.changed.connect(self._update_footer)
        self.rehearse.spaced.connect(self.reader.reread_for)
        self.rehearse.formed.connect(self.reader.read_as)
        self.rehearse.lined.connect(self.reader.read_by_line)
        self.rehearse.unlocked.connect(self.reader.read_with)
        self.rehearse.leave.connect(self.show_choose)
        self.outcome.remove.connect(self._undo_imports)
        self.outcome.findings.asked.connect(self._go_to_finding)
        self.held.connect(self._on_drag_held)
        self.dropped.connect(self.rehearse_paths)
        self.left.connect(self._stop_or_detach)

    def _open_first(self, paths: Sequence[Path]) -> None:
        if paths and list(paths) != [USUAL_PLACES]:
            self.rehearse_paths(paths)
            return
        self.show_choose()
        if paths:
            self.choose.find_exports()

    def _read_spaces(self) -> None:
        library = self.context.bridge.engine.library
        task = (
            make_query(import_strings()["preview"]["reading_spaces"], library.count_facets)
            .within(self, "spaces")
            .failure(lambda _: None)
        )
        self.context.tasks.run(task.success(self._show_spaces))

    def _show_spaces(self, facets: Facets) -> None:
        self.rehearse.offer_spaces(tuple(name for name in facets.spaces if ":" not in name))

    def _on_drag_held(self, is_over: bool) -> None:
        self.choose.set_drop_highlight(is_over=is_over)

    # ---- choose

    def show_choose(self) -> None:
        """Ask what to import."""
        self.reader.stop_reading()
        self.takes_drops = True
        self.show_page(self.choose, 0)
        self._choose_footer(len(self.choose.model.ticked))
        self.choose.setFocus()

    def _choose_footer(self, ticked: int) -> None:
        strings = import_strings()["dialog"]
        if self.page is self.choose:
            title = strings["preview"] if ticked < 2 else strings["preview_many"].format(count=ticked)
            main = (title, self.choose.submit_ticked) if self.choose.model.lines else None
            self.set_footer((window_strings()["buttons"]["close"], self.reject), main, may_go=ticked > 0)

    # ---- look inside

    def rehearse_paths(self, paths: Sequence[Path]) -> None:
        """Rehearse files and folders, one after the other."""
        self.choose.stop_search()
        self.reader.start_reading(paths, self.rehearse.read_space())
        self.show_page(self.rehearse, 1)
        self.rehearse.show_sources(self.reader.sources)
        self._update_footer()

    def _on_sources_read(self, source: ImportSource) -> None:
        self.rehearse.show_source(source)
        self._update_footer()
        if self.main.isEnabled() and self.focusWidget() in {None, self.back}:
            self.main.setFocus()

    def _update_footer(self) -> None:
        if self.page is not self.rehearse:
            return
        new, is_read = self.reader.new, self.reader.is_done
        is_refused = all(source.problem is not None for source in self.reader.sources)
        strings = import_strings()["dialog"]
        title = (
            format_count(strings["import_count"], new)
            if new
            else (strings["nothing_new"] if is_read else strings["import"])
        )
        back = (strings["back"] if is_read else strings["stop"], self.show_choose)
        main = None if is_refused else (title, self.start_import)
        self.set_footer(back, main, _offer_attaching(self), may_go=is_read and new > 0)

    # ---- import

    def start_import(self) -> None:
        """Import what is chosen."""
        sources = [source for source in self.reader.sources if source.new]
        if not sources:
            return
        jobs = [ImportJob(one.path, one.name, one.read_form, one.choice, one.passphrase) for one in sources]
        queue = ImportQueue(self.context, jobs, self.rehearse.read_space())
        self.queue = queue
        self.takes_drops = False
        queue.ended.connect(self._on_queue_ended)
        self.progress.show_queue(queue)
        self.show_page(self.progress, 2)
        strings = import_strings()["dialog"]
        self.set_footer((strings["stop_and_undo"], self.stop_import), None, (strings["background"], self.reject))
        self.other.setFocus()  # not what takes it all back: Enter may be pressed twice
        queue.start_first()

    def stop_import(self) -> None:
        """Stop the import and take back what came in."""
        if self.queue is not None:
            self.back.setEnabled(False)
            self.progress.show_stopping()
            self.queue.stop_and_undo()

    def _on_queue_ended(self) -> None:
        queue, self.queue = self.queue, None
        if queue is None:
            return
        self.takes_drops = True
        if queue.outcome.is_stopped and not queue.outcome.reports:
            self.context.desk.show_message(import_strings()["outcome"]["stopped"])
            self.show_page(self.rehearse, 1)
            self._update_footer()
            return
        self._ids = queue.outcome.ids
        self.outcome.show_outcome(queue.outcome)
        self.show_page(self.outcome, 2)
        self._done_footer()

    def _done_footer(self) -> None:
        strings = import_strings()["dialog"]
        another = (strings["another"], self._start_another)
        if self._ids:
            self.set_footer(another, (strings["palace"], self._go_to_palace), (strings["library"], self._go_to_library))
        else:
            self.set_footer(another, (window_strings()["buttons"]["close"], self.reject))
        self.main.setFocus()

    # ---- done

    def _start_another(self) -> None:
        self.choose.show_nothing()
        self.show_choose()

    def _go_to_library(self) -> None:
        search = f"import:{','.join(self._ids)}"
        self.reject()
        self.context.desk.search.emit(search)

    def _go_to_finding(self, page: str, target: str) -> None:
        """Show what a row of the result counts; the result is put aside and can be come back to."""
        self.is_put_aside = True
        self.hide()
        if page == "library":
            self.context.desk.search.emit(target)
        else:
            self.context.desk.go.emit(page, target)
        strings = import_strings()["outcome"]
        self.context.desk.show_message(strings["aside"], strings["return"], self._return_to_result)

    def _return_to_result(self) -> None:
        if self.is_put_aside:  # the offer may outlive the dialog
            self.open()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """It is in front again."""
        self.is_put_aside = False
        super().showEvent(event)

    def _go_to_palace(self) -> None:
        self.reject()
        self.context.desk.go.emit("palace", "")

    def _undo_imports(self) -> None:
        """Take the imports back, the last one first."""
        self.outcome.taken.setEnabled(False)
        taking = ImportRemoval(self.context, self._ids, self)
        taking.done.connect(self._on_import_removed)
        taking.failed.connect(self._on_removal_failed)
        taking.undo_next()

    def _on_import_removed(self, left: int) -> None:
        self._ids = []
        self.outcome.show_removed(left)
        self._done_footer()

    def _on_removal_failed(self, problem: Problem) -> None:
        self.outcome.taken.setEnabled(True)
        self.outcome.show_trouble(problem)

    def _stop_or_detach(self) -> None:
        """What only looks stops; what imports goes on."""
        self.is_put_aside = False
        self.choose.stop_search()
        self.reader.stop_reading()
        queue, self.queue = self.queue, None
        if queue is not None and not queue.is_over:
            queue.is_watched = False
            queue.ended.disconnect(self._on_queue_ended)
            self.context.desk.show_message(import_strings()["dialog"]["continues"])


def _offer_attaching(dialog: ImportDialog) -> Act | None:
    """The other thing that can be done with texts, pages and pictures; None with anything else."""
    paths = [source.path for source in dialog.reader.sources]
    if not is_attachable(paths):
        return None

    def attach_instead() -> None:
        dialog.reject()
        dialog.context.desk.attach_paths.emit(paths)

    return format_count(import_strings()["dialog"]["attach_instead"], len(paths)), attach_instead
