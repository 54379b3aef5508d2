"""Watched folders: each with how it stands, a switch and what came of it; one more is added, or taken out.

Must not do: read a folder, watch one that the person did not agree to, or show a file's name but as plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QListWidget, QListWidgetItem, QWidget

from core.config.folder_wording import describe_counts, describe_folder
from core.types.folders.watch import GoneChoice, GoneFile, WatchedFolder, WatchEntry, WatchState
from core.types.replies import ImportReport
from core.types.values import OWNER_ACTOR
from ui.bridge import Task, make_job, make_query, make_write, problem_of
from ui.context import Context
from ui.pages.settings.keys import ActionLine, shorten_path
from ui.pages.settings.rows import SettingsSection, Switch
from ui.strings import format_count, watched_strings
from ui.theme.tokens import sizes, spacing
from ui.undo import undo_step
from ui.widgets.basics import clear_layout, find_usual_folder, make_button, make_column, make_label, make_row
from ui.widgets.labels import FORMAT_WORDS, time_of
from ui.widgets.plaintext import one_line

_PATH, _FILE = 120, 100
_POLL_MS = 3_000
_STEP = Qt.ItemDataRole.UserRole
_TROUBLE = (WatchState.GONE, WatchState.TOO_MANY, WatchState.FAILED)


def section_strings() -> Mapping[str, Any]:
    """What this section says."""
    found: Mapping[str, Any] = watched_strings()["section"]
    return found


class AddLine(ActionLine):
    """Chooses a folder, shows what it would bring, and has it watched when the person agrees.

    Signals:
        added: a folder is watched from here on.
    """

    added = Signal()

    def __init__(self, context: Context) -> None:
        strings = section_strings()["add"]
        super().__init__(context, strings["title"], strings["text"], section_strings()["words"])
        self._context = context
        self.ask()

    def ask(self) -> None:
        """Offer to choose a folder."""
        clear_layout(self.side_column)
        self.add_button(section_strings()["add"]["act"], self._choose)

    def _choose(self) -> None:
        asking = QFileDialog(self, section_strings()["add"]["dialog"])
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.setFileMode(QFileDialog.FileMode.Directory)
        asking.setDirectory(find_usual_folder())
        asking.filesSelected.connect(lambda paths: self.rehearse(Path(paths[0])))
        asking.open()

    def rehearse(self, path: Path) -> None:
        """Look what a folder would bring; nothing is written."""
        watches, strings = self._context.bridge.engine.watches, section_strings()
        self.show_note(strings["add"]["looking"].format(name=one_line(path.name, _FILE)))
        clear_layout(self.side_column)
        task: Task[ImportReport] = make_job(
            strings["tasks"]["rehearsing"],
            lambda seen: watches.rehearse(path, None, None, OWNER_ACTOR, seen.progress, seen.cancelled),
        )
        self._context.tasks.run(
            task.within(self, "add").success(partial(self._offer, path)).failure(self._show_failure)
        )

    def _offer(self, path: Path, report: ImportReport) -> None:
        strings = section_strings()["add"]
        form = FORMAT_WORDS.get(report.format, report.format)
        self.show_note(
            format_count(strings["found"], report.stored, name=one_line(path.name, _FILE), format=form), "warning"
        )
        clear_layout(self.side_column)
        agree = make_button(strings["agree"], partial(self._add, path, report.format), kind="primary")
        for button in (agree, make_button(strings["cancel"], self._cancel)):
            self.side_column.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)
        agree.setFocus()

    def _cancel(self) -> None:
        self.show_note("")
        self.ask()

    def _add(self, path: Path, form: str) -> None:
        watches, strings = self._context.bridge.engine.watches, section_strings()
        self.show_note(strings["add"]["bringing"])
        clear_layout(self.side_column)
        task: Task[WatchedFolder] = Task(
            strings["tasks"]["adding"],
            lambda seen: watches.add(path, form, None, OWNER_ACTOR, seen.progress),
            writes=True,
        )
        self._context.tasks.run(task.within(self, "add").success(self._on_added).failure(self._show_failure))

    def _on_added(self, _folder: WatchedFolder) -> None:
        self.show_note(section_strings()["add"]["done"], "success")
        self.ask()
        self.added.emit()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.show_note("" if problem is None else problem.sentence, "danger")
        self.ask()


class FolderLine(ActionLine):
    """One watched folder.

    Signals:
        switched: (id, whether it shall be watched).
        removed: its id; the person agreed.
        opened: its id; the person wants to see what came.
    """

    switched = Signal(str, bool)
    removed = Signal(str)
    opened = Signal(str)

    def __init__(self, context: Context, folder: WatchedFolder) -> None:
        path = one_line(shorten_path(folder.path), _PATH)
        super().__init__(context, path, "", f"{section_strings()['words']} {path}")
        self.folder = folder
        strings = section_strings()["line"]
        self.switch = Switch(context.theme)
        self.switch.setAccessibleName(strings["switch"].format(path=path))
        self.switch.clicked.connect(lambda is_on: self.switched.emit(self.folder.id, is_on))
        self.log = make_button(strings["log"], lambda: self.opened.emit(self.folder.id))
        self.log.setAccessibleName(strings["log_of"].format(path=path))
        self.remove = make_button(strings["remove"], self._ask_removal, kind="link")
        self.remove.setAccessibleName(strings["remove_of"].format(path=path))
        self.really = make_button(strings["really"], lambda: self.removed.emit(self.folder.id), kind="danger")
        self.go_on = make_button(strings["keep_on"], self._end_removal)
        self.side_column.addLayout(
            make_row(self.remove, self.really, self.go_on, self.log, self.switch, gap=spacing().s)
        )
        self.holds = make_label("", "small", wrap=True)
        self.texts.insertWidget(2, self.holds)
        self._is_asking = False
        self._show_buttons()
        self.show_folder(folder)

    def show_folder(self, folder: WatchedFolder) -> None:
        """Show how it is now."""
        self.folder = folder
        strings = section_strings()["line"]
        self.switch.setChecked(folder.state is not WatchState.PAUSED)
        self.description.setText(describe_folder(folder.state.value, folder.means.value, folder.reason, folder.code))
        came = strings["never"] if folder.came_at is None else strings["came"].format(when=time_of(folder.came_at))
        self.holds.setText(
            strings["from"].format(
                memories=format_count(strings["holds"], folder.memories),
                files=format_count(strings["files"], folder.files),
                space=one_line(folder.space, _FILE),
                came=came,
            )
        )
        if self._is_asking:
            return
        asked = format_count(strings["asked"], folder.asked) if folder.asked else ""
        self.show_note(asked, "warning" if asked or folder.state in _TROUBLE else "small")

    def _show_buttons(self) -> None:
        for button in (self.log, self.remove):
            button.setHidden(self._is_asking)
        for button in (self.really, self.go_on):
            button.setVisible(self._is_asking)

    def _ask_removal(self) -> None:
        self._is_asking = True
        self.show_note(section_strings()["line"]["sure"], "warning")
        self._show_buttons()
        self.go_on.setFocus()

    def _end_removal(self) -> None:
        self._is_asking = False
        self._show_buttons()
        self.show_folder(self.folder)
        self.remove.setFocus()


class WatchedSection(SettingsSection):
    """The watched folders."""

    def __init__(self, context: Context) -> None:
        super().__init__(str(section_strings()["title"]))
        self.context = context
        self.folders: dict[str, FolderLine] = {}
        self.add = AddLine(context)
        self.add.added.connect(self.reload)
        self.add_line(self.add)
        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self.reload)

    def activate(self) -> None:
        """The page is shown: ask how they are, again and again."""
        self.reload()
        self._poll.start()

    def deactivate(self) -> None:
        """Another page is shown."""
        self._poll.stop()

    def reload(self) -> None:
        """Ask how they are."""
        watches = self.context.bridge.engine.watches
        task = make_query(section_strings()["tasks"]["reading"], watches.list_folders).within(self, "list")
        # The page itself tells what is wrong.
        self.context.tasks.run(task.success(self.show_folders).failure(lambda _: None))

    def show_folders(self, folders: Sequence[WatchedFolder]) -> None:
        """Show them as they are now."""
        kept = {one.id for one in folders}
        for gone in [one for one in self.folders if one not in kept]:
            self.remove_line(self.folders.pop(gone))
        for folder in folders:
            if folder.id in self.folders:
                self.folders[folder.id].show_folder(folder)
                continue
            line = FolderLine(self.context, folder)
            line.switched.connect(self._switch)
            line.removed.connect(self._remove)
            line.opened.connect(self._open_log)
            self.folders[folder.id] = line
            self.add_line(line)

    def _switch(self, folder_id: str, is_on: bool) -> None:
        watches = self.context.bridge.engine.watches
        task = make_write(
            section_strings()["tasks"]["switching"], lambda: watches.pause(folder_id, is_paused=not is_on)
        ).within(self, folder_id)
        self.context.tasks.run(
            task.success(lambda _: self.reload()).failure(lambda error: self._show_failure(folder_id, error))
        )

    def _remove(self, folder_id: str) -> None:
        watches = self.context.bridge.engine.watches
        task = make_write(section_strings()["tasks"]["removing"], lambda: watches.remove(folder_id)).within(self)
        self.context.tasks.run(
            task.success(lambda _: self.reload()).failure(lambda error: self._show_failure(folder_id, error))
        )

    def _show_failure(self, folder_id: str, error: BaseException) -> None:
        problem = problem_of(error)
        self.reload()
        if folder_id in self.folders:
            self.folders[folder_id].show_note("" if problem is None else problem.sentence, "danger")

    def _open_log(self, folder_id: str) -> None:
        dialog = WatchLogDialog(self.context, self.folders[folder_id].folder, self.window())
        dialog.decided.connect(self.reload)
        dialog.open()


class WatchLogDialog(QDialog):
    """What came of one folder, and which of its files vanished.

    Signals:
        decided: the person said what becomes of memories whose file vanished.
    """

    decided = Signal()

    def __init__(self, context: Context, folder: WatchedFolder, parent: QWidget) -> None:
        super().__init__(parent)
        strings = section_strings()["log"]
        self.context, self.folder = context, folder
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        title = strings["title"].format(name=one_line(Path(folder.path).name or folder.path, _FILE))
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setMinimumWidth(context.theme.px(sizes().dialog_wide))
        self.path = make_label(one_line(folder.path, _PATH), "muted", wrap=True)
        self.entries = _make_list(strings["list"])
        self.take_back = make_button(strings["take_back"], self._take_back)
        self.take_back.setEnabled(False)
        self.asked = make_label("", "section", wrap=True)
        self.gone = _make_list(strings["gone_list"])
        self.hint = make_label(strings["hint"], "small", wrap=True)
        self.keep = make_button(strings["keep"], partial(self._decide, GoneChoice.KEEP))
        self.archive = make_button(strings["archive"], partial(self._decide, GoneChoice.ARCHIVE))
        self.note = make_label("", "muted", wrap=True)
        self.close_button = make_button(strings["close"], self.accept, kind="primary")
        layout = make_column(self, make_label(title, "title"), self.path, margins=24, gap=10)
        layout.addWidget(self.entries, 3)
        layout.addLayout(make_row(None, self.take_back))
        for part, stretch in ((self.asked, 0), (self.gone, 1), (self.hint, 0)):
            layout.addWidget(part, stretch)
        layout.addLayout(make_row(None, self.keep, self.archive))
        layout.addWidget(self.note)
        layout.addLayout(make_row(None, self.close_button))
        self.entries.currentItemChanged.connect(lambda item, _: self._on_entry_chosen(item))
        self.reload()

    def reload(self) -> None:
        """Read what came."""
        watches = self.context.bridge.engine.watches
        task = make_query(section_strings()["tasks"]["log"], lambda: watches.read_log(self.folder.id, 200))
        self.context.tasks.run(task.within(self, "log").success(self._show_log).failure(self._show_failure))

    def _show_log(self, found: tuple[Sequence[WatchEntry], Sequence[GoneFile]]) -> None:
        entries, gone = found
        strings = section_strings()["log"]
        self.entries.clear()
        for entry in entries:
            item = QListWidgetItem(describe_entry(entry), self.entries)
            item.setData(_STEP, entry.step_id)
        if not entries:
            self.note.setText(strings["none"])
        self.gone.clear()
        for one in gone:
            form = strings["less" if one.is_there else "vanished"]
            item = QListWidgetItem(format_count(form, one.memories, file=one_line(one.name, _FILE)), self.gone)
            item.setData(_STEP, one.name)
        self.asked.setText(format_count(strings["gone"], len(gone)) if gone else "")
        for part in (self.asked, self.gone, self.hint, self.keep, self.archive):
            part.setVisible(bool(gone))

    def _on_entry_chosen(self, item: QListWidgetItem | None) -> None:
        self.take_back.setEnabled(item is not None and item.data(_STEP) is not None)

    def _take_back(self) -> None:
        item = self.entries.currentItem()
        if item is not None and item.data(_STEP) is not None:
            undo_step(self.context, str(item.data(_STEP)))

    def _decide(self, choice: GoneChoice) -> None:
        item = self.gone.currentItem()
        name = str(item.data(_STEP)) if item is not None and item.isSelected() else None
        watches = self.context.bridge.engine.watches
        task = make_write(
            section_strings()["tasks"]["deciding"], lambda: watches.decide_gone(self.folder.id, choice, name)
        )
        self.context.tasks.run(
            task.within(self, "decide").success(partial(self._on_decided, choice)).failure(self._show_failure)
        )

    def _on_decided(self, choice: GoneChoice, _folder: WatchedFolder) -> None:
        self.note.setText(section_strings()["log"]["kept" if choice is GoneChoice.KEEP else "archived"])
        self.decided.emit()
        self.reload()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.note.setText("" if problem is None else problem.sentence)


def describe_entry(entry: WatchEntry) -> str:
    """One line of what came."""
    counts = "; ".join(describe_counts(entry.counts, entry.event))
    return str(section_strings()["log"]["line"]).format(
        when=time_of(entry.at),
        event=watched_strings()["event"][entry.event],
        file=f" · {one_line(entry.name, _FILE)}" if entry.name else "",
        counts=f": {counts}" if counts else "",
    )


def _make_list(name: str) -> QListWidget:
    made = QListWidget()
    made.setObjectName("framed")
    made.setAccessibleName(name)
    return made
