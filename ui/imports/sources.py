"""The first step of an import: drop something, choose it, or have exports looked for; and the words for what was found.

Must not do: read an export, or show text of one other than titles, as plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QDir, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QLabel,
    QProgressBar,
    QWidget,
)

from core.types.replies import Candidate, ConversationPlan, ImportReport
from core.types.requests import OUTSIDE, Choice
from core.types.values import LINES
from ui.bridge import Problem, Running, Task, Watch, problem_of
from ui.context import Context
from ui.lists.tick_table import TickModel, TickRow, TickTable
from ui.strings import format_count, import_strings
from ui.widgets.basics import find_usual_folder, make_button, make_column, make_label, make_row, set_style_property
from ui.widgets.labels import FORMAT_WORDS, count_unit, date_of, size_of
from ui.widgets.plaintext import one_line, plain_line

_SPEAKERS = 3  # that are named; there may be more

ARCHIVE = "archive"
"""The format of an encrypted archive of a whole vault."""
SECRET_CODES = frozenset({"E6004", "E1006"})
"""Codes of problems that a passphrase solves: none was given, or the wrong one."""


class ChooseStep(QWidget):
    """The step that finds or takes exports.

    Signals:
        chosen: paths to look into.
        ready: how many exports of the list are ticked.
    """

    chosen = Signal(list)
    ready = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._looking: Running | None = None
        self._drop = QFrame()
        self._drop.setObjectName("drop")
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        strings = import_strings()["choose"]
        self._title = make_label(strings["drop"], "section")
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint = make_label(strings["understood"], "small", wrap=True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.file = make_button(strings["file"], self._ask_file, theme=context.theme, icon="file")
        self.folder = make_button(strings["folder"], self._ask_folder, theme=context.theme, icon="folder")
        self.finder = make_button(strings["find"], self.find_exports, theme=context.theme, icon="folder-search")
        self._build_drop_area()
        self.model = TickModel(tuple(strings["columns"]), (2, 3))
        self.table = TickTable(context.theme, self.model, strings["table"])
        self.model.ticks.connect(self._emit_ready)
        self._found = make_label("", "muted", wrap=True)
        self._bar = QProgressBar()
        self._bar.setRange(0, 0)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(strings["looking"])
        self._layout = make_column(self, self._drop, self._found, self._bar, self.table, gap=12)
        self._layout.setStretch(0, 1)
        for part in (self._found, self._bar, self.table):
            part.hide()
        self._paint_icon()
        context.theme.changed.connect(self._paint_icon)
        self.setFocusProxy(self.file)

    def _build_drop_area(self) -> None:
        inner = make_column(self._drop, margins=24, gap=8)
        inner.addStretch(1)
        inner.addWidget(self._picture)
        inner.addWidget(self._title)
        inner.addLayout(make_row(None, self.file, self.folder, self.finder, None))
        inner.insertSpacing(3, 8)
        inner.addSpacing(8)
        inner.addWidget(self._hint)
        inner.addStretch(1)

    def _paint_icon(self) -> None:
        size = self._context.theme.px(32)
        self._picture.setPixmap(self._context.theme.icon("download", "faint").pixmap(QSize(size, size)))

    def set_drop_highlight(self, *, is_over: bool) -> None:
        """Show that what is held over it would be taken."""
        set_style_property(self._drop, "over", "true" if is_over else "false")

    # ---- a file, a folder

    def _ask_file(self) -> None:
        self._open_dialog(import_strings()["choose"]["file_title"], QFileDialog.FileMode.ExistingFiles)

    def _ask_folder(self) -> None:
        self._open_dialog(import_strings()["choose"]["folder_title"], QFileDialog.FileMode.Directory)

    def _open_dialog(self, title: str, mode: QFileDialog.FileMode) -> None:
        asking = QFileDialog(self, title)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setFileMode(mode)
        asking.setDirectory(find_usual_folder())
        asking.filesSelected.connect(self._on_files_selected)
        asking.open()

    def _on_files_selected(self, paths: Sequence[str]) -> None:
        self.chosen.emit([Path(path) for path in paths])

    # ---- looking around

    def find_exports(self) -> None:
        """Look for exports where they usually lie."""
        self.finder.setEnabled(False)
        strings = import_strings()["choose"]
        self._show_status(strings["looking_now"], is_busy=True)
        imports = self._context.bridge.engine.imports

        def start_search(watch: Watch) -> Future[tuple[Candidate, ...]]:
            return imports.find_candidates(cancelled=watch.cancelled)

        task = Task(strings["looking"], start_search, can_cancel=True).within(self, "find")
        self._looking = self._context.tasks.run(task.success(self.show_found).failure(self._on_look_failed))

    def _show_status(self, sentence: str, *, is_busy: bool = False) -> None:
        self._found.setText(sentence)
        self._found.setAccessibleName(sentence)
        self._found.show()
        self._bar.setVisible(is_busy)

    def show_found(self, found: Sequence[Candidate]) -> None:
        """Show what was found, all of it ticked; go on with it where it is one."""
        self._looking = None
        self.finder.setEnabled(True)
        strings = import_strings()["choose"]
        self._show_status(format_count(strings["found"], len(found)) if found else strings["none_found"])
        self._make_room(for_list=bool(found))
        self.model.show_lines([_make_source_row(one) for one in found], [one.path for one in found])
        if found:
            self.table.setFocus()
            self.table.selectRow(0)
        if len(found) == 1:
            self.submit_ticked()  # nothing to choose: it is looked into at once, and the way back leads here

    def show_nothing(self) -> None:
        """Show the step without any export."""
        self.model.show_lines([], [])
        self._found.hide()
        self._bar.hide()
        self._make_room(for_list=False)

    def _make_room(self, *, for_list: bool) -> None:
        for part in (self._picture, self._title, self._hint):
            part.setVisible(not for_list)
        self.table.setVisible(for_list)
        self._layout.setStretch(0, 0 if for_list else 1)
        self._layout.setStretch(3, 1 if for_list else 0)

    def _on_look_failed(self, error: BaseException) -> None:
        self._looking = None
        self.finder.setEnabled(True)
        problem = problem_of(error)
        self._show_status(problem.sentence if problem is not None else "")

    def stop_search(self) -> None:
        """Look no further."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _emit_ready(self) -> None:
        self.ready.emit(len(self.model.ticked))

    def submit_ticked(self) -> None:
        """Go on with what is ticked."""
        paths = [Path(line.key) for line in self.model.lines if line.key in self.model.ticked]
        if paths:
            self.chosen.emit(paths)


def _make_source_row(one: Candidate) -> TickRow:
    path = Path(one.path)
    what = one.label or describe_format(one.format)
    return TickRow(
        one.path,
        (one_line(path.name), what, f"{one.count:,}", size_of(one.size), date_of(one.changed_at)),
        (path.name.casefold(), what, one.count, one.size, one.changed_at),
        one_line(f"{format_folder(path)}/{path.name}"),
    )


@dataclass(slots=True)
class ImportSource:
    """A file or folder on its way in.

    Attributes:
        path: where it lies.
        form: the format the person named; None to detect it.
        is_by_line: whether each line of it shall be a memory of its own.
        report: what the rehearsal found; None before.
        problem: why it cannot be read; None where it can.
        only: keys of the conversations that are chosen; None for all.
        without: names of the sources in it that are not chosen.
        passphrase: of an encrypted archive, as it was typed; gone with the dialog.
    """

    path: Path
    form: str | None = None
    is_by_line: bool = False
    report: ImportReport | None = None
    problem: Problem | None = None
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    passphrase: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The last part of its path, as one line."""
        return one_line(self.path.name or str(self.path), 120)

    @property
    def read_form(self) -> str | None:
        """The format it is read as; None to detect it."""
        return LINES if self.is_by_line else self.form

    @property
    def needs_passphrase(self) -> bool:
        """Whether it is an encrypted archive that waits for its passphrase."""
        return self.problem is not None and self.form is None and self.problem.code in SECRET_CODES

    @property
    def new(self) -> int:
        """How many memories what is chosen would bring, or bring up to date."""
        if self.report is None:
            return 0
        left_out = sum(one.new for one in self.report.sources if one.name in self.without)
        if self.only is None:
            return self.report.stored + self.report.updated - left_out
        plan = [row for row in self.report.plan if row.key and row.source not in self.without]
        found = sum(row.new for row in plan if row.key in self.only)
        if OUTSIDE in self.only:
            talked = sum(row.new for row in self.report.plan if row.key and row.source in self.without)
            found += sum(row.new for row in self.report.plan if not row.key) - (left_out - talked)
        return found

    @property
    def choice(self) -> Choice:
        """What is chosen of it, as an import takes it."""
        return Choice(self.only, None, self.without)


def format_folder(path: Path) -> str:
    """The folder something lies in, as a person knows it: `~/Downloads`.

    Args:
        path: absolute.
    """
    home = Path(QDir.homePath())
    folder = path.parent
    return f"~/{folder.relative_to(home).as_posix()}".rstrip("/.") if folder.is_relative_to(home) else str(folder)


def describe_format(name: str) -> str:
    """A format in words."""
    return FORMAT_WORDS.get(name, name)


def import_title(row: ConversationPlan) -> str:
    """The title of a conversation as one line of plain text; who speaks and how it begins where it has none."""
    strings = import_strings()["preview"]
    if not row.key:
        return str(strings["outside"])
    return one_line(row.title, 200) or _describe_opening(row) or str(strings["untitled"])


def _describe_opening(row: ConversationPlan) -> str:
    strings = import_strings()["preview"]
    words = plain_line(row.opening, 100)
    names = ", ".join(one_line(name, 40) for name in row.speakers[:_SPEAKERS])
    if len(row.speakers) > _SPEAKERS:
        names = strings["names_more"].format(names=names)
    if not words:
        return names
    return str(strings["opening" if names else "opening_alone"]).format(names=names, words=words)


def format_date_span(earliest: int | None, latest: int | None) -> str:
    """Two moments as days: `8 Mar 2025 – 21 Oct 2025`, one where they are the same; "" where none is known.

    Args:
        earliest: epoch ms.
        latest: epoch ms.
    """
    if earliest is None or latest is None:
        return ""
    first, last = date_of(earliest), date_of(latest)
    return first if first == last else f"{first} – {last}"


def format_report_span(report: ImportReport) -> str:
    """From the first day to the last of what a report tells."""
    return format_date_span(_to_epoch_ms(report.earliest), _to_epoch_ms(report.latest))


def _to_epoch_ms(moment: str | None) -> int | None:
    return None if moment is None else round(datetime.fromisoformat(moment).timestamp() * 1000)


def summarize_import_report(report: ImportReport) -> str:
    """What a rehearsal found, in one sentence."""
    strings = import_strings()["preview"]["summary"]
    text = describe_format(report.format)
    parts = describe_archive(report) if report.format == ARCHIVE else _describe_messages(report)
    when = format_report_span(report)
    holds = f": {parts}" if parts else ""
    newer = f" {format_count(strings['newer'], report.updated)}" if report.updated else ""
    sealed = f" {format_count(strings['sealed'], report.sealed)}" if report.sealed else ""
    foreign = f" {strings['foreign']}" if report.is_foreign and report.stored else ""
    return f"{text}{holds}{', ' + when if when else ''}.{newer}{sealed}{foreign}"


def _describe_messages(report: ImportReport) -> str:
    strings = import_strings()["preview"]["summary"]
    total = sum(report.messages.values())
    parts = [format_count(strings["conversations"], report.conversations)] if report.conversations else []
    if total:
        parts.append(format_count(strings["messages" if report.conversations else "entries"], total))
    return str(strings["with"]).join(parts)


def describe_archive(report: ImportReport) -> str:
    """What an archive brings: `415 memories, 19 conversations and 12 people`; "" for nothing."""
    strings = import_strings()["preview"]["archive"]
    numbers = {
        "memories": report.stored,
        "conversations": report.conversations,
        **report.others,
    }
    return join_with_and([format_count(strings[name], number) for name, number in numbers.items() if number])


def join_with_and(parts: Sequence[str]) -> str:
    """Parts as a list in a sentence."""
    return str(import_strings()["preview"]["and"]).join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def describe_parts(report: ImportReport) -> str:
    """Who wrote the messages of an export, in one sentence; "" where all are of one kind, and of an archive."""
    if report.format == ARCHIVE:
        return ""
    strings = import_strings()["preview"]["parts"]
    found = [format_count(strings[kind], number) for kind, number in report.messages.items() if number]
    return str(strings["title"]).format(parts=join_with_and(found)) if len(found) > 1 else ""


def count_known_records(report: ImportReport) -> int:
    """How many entries of it the vault has already."""
    return sum(report.skipped.get(reason, 0) for reason in ("known", "known_otherwise", "duplicate_text"))


def describe_stored(reports: Sequence[ImportReport]) -> str:
    """What imports stored, as a sentence."""
    stored = sum(report.stored for report in reports)
    strings = import_strings()["outcome"]
    if not stored:
        return str(strings["nothing_new"])
    sealed = sum(report.sealed for report in reports)
    said = [format_count(strings["stored"], stored), *([format_count(strings["sealed"], sealed)] if sealed else [])]
    return " ".join(said)


def format_duration(seconds: float) -> str:
    """A stretch of time in rough words: `20 seconds`, `3 minutes`, `2 hours`.

    Args:
        seconds: how long.
    """
    if seconds < 90:
        return count_unit(max(1, round(seconds)) if seconds < 10 else round(seconds / 5) * 5, "second")
    if seconds < 5400:
        return count_unit(round(seconds / 60), "minute")
    return count_unit(round(seconds / 3600), "hour")
