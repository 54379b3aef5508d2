"""What can be done with the memories that are chosen: the bar that offers it, and what carries it out.

Every change is one named undo step, shown beforehand where it concerns more than one memory. Must not do: change
anything without saying so afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QMenu, QSizePolicy, QWidget

from core.types.replies import ArchiveReceipt
from core.types.views import Facets, Revision, RevisionReport
from ui.bridge import Task, Watch, make_write
from ui.context import Context
from ui.pages.library.dialogs import (
    PLAIN_CHANGES,
    ImportanceForm,
    MoveForm,
    PlainChange,
    PlainForm,
    RevisionDialog,
    RevisionForm,
    TagForm,
)
from ui.theme.theme import Theme
from ui.undo import offer_undo
from ui.widgets.basics import KeyButton, follow_icon, make_button, make_label, make_tool_button
from ui.widgets.labels import count_memories
from ui.widgets.secret import NewPassphraseDialog


@dataclass(frozen=True, slots=True)
class BulkAction:
    """Something that can be done with what is chosen.

    Attributes:
        id: as the table's keys ask for it.
        title: on its button.
        keys: as they are on the keyboard.
        kind: of the button.
    """

    id: str
    title: str
    keys: str
    kind: str = "plain"


CHOOSE_FIRST = "Choose a memory first."
ACTS: Sequence[BulkAction] = (
    BulkAction("tag", "Tag …", "T"),
    BulkAction("move", "Move …", "M"),
    BulkAction("pin", "Pin", "P"),
    BulkAction("archive", "Archive", "A"),
    BulkAction("restore", "Restore", "R"),
    BulkAction("forget", "Forget", "Del", "danger"),
    BulkAction("export", "Export …", "X"),
    BulkAction("importance", "Importance …", "I"),
)


class SelectionBar(QFrame):
    """How many are chosen, and what can be done with them; what has no room is in a menu.

    Signals:
        asked: the id of an act.
        cleared: the choice shall be let go.
    """

    asked = Signal(str)
    cleared = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName("Selection")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._count = make_label("", "strong")
        self._buttons = {
            act.id: KeyButton(theme, act.title, act.keys, partial(self.asked.emit, act.id), act.kind) for act in ACTS
        }
        self._offered = frozenset(self._buttons)
        self._chosen = 0
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._more = make_button("More", kind="plain")
        self._more.setObjectName("more")
        self._more.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        follow_icon(theme, self._more, "chevron-down", "muted")
        self._more.setMenu(self._menu)
        self._clear = make_tool_button(theme, "x", "Clear the selection (Esc)", self.cleared.emit)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(16, 8, 8, 8)
        self._row.setSpacing(8)
        self._row.addWidget(self._count)
        self._row.addSpacing(8)
        for made in (*self._buttons.values(), self._more):
            self._row.addWidget(made)
        self._row.addStretch(1)
        self._row.addWidget(self._clear)
        self.hide()

    @property
    def words(self) -> str:
        """What it says."""
        return self._count.text()

    def find_button(self, act: str) -> KeyButton:
        """The button of an act."""
        return self._buttons[act]

    def offered_actions(self) -> frozenset[str]:
        """What can be done with what is chosen."""
        return self._offered

    def show_choice(self, count: int, offered: frozenset[str], *, are_pinned: bool) -> None:
        """Show how many are chosen.

        Args:
            count: how many; nothing is shown for less than two.
            offered: ids of what can be done with them.
            are_pinned: whether all of them are pinned.
        """
        self._chosen = count
        self._buttons["pin"].set_title("Unpin" if are_pinned else "Pin")
        self._offered = offered
        self.setVisible(count > 1)
        self._fit_buttons()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """More or fewer buttons have room."""
        super().resizeEvent(event)
        self._fit_buttons()

    def _fit_buttons(self) -> None:
        is_narrow = self.width() < self._theme.px(420)
        self._count.setText(f"{self._chosen:,} selected" if is_narrow else f"{count_memories(self._chosen)} selected")
        gap = self._row.spacing()
        room = self.width() - self._count.sizeHint().width() - self._clear.sizeHint().width() - 24 - 4 * gap
        wanted = [act.id for act in ACTS if act.id in self._offered]
        widths = {act: self._buttons[act].sizeHint().width() + gap for act in wanted}
        if sum(widths.values()) > room:
            room -= self._more.sizeHint().width() + gap
        has_room = True
        for act, made in self._buttons.items():
            has_room = has_room and (act not in widths or widths[act] <= room)
            room -= widths.get(act, 0)
            made.setVisible(act in widths and has_room)
        self._more.setVisible(not has_room)

    def _fill_menu(self) -> None:
        self._menu.clear()
        for act in ACTS:
            if act.id in self._offered and self._buttons[act.id].isHidden():
                title = self._buttons[act.id].title
                self._menu.addAction(f"{title}\t{act.keys}").triggered.connect(partial(self._emit_asked, act.id))

    def _emit_asked(self, act: str, _checked: bool = False) -> None:
        self.asked.emit(act)


_FORMATS: Mapping[str, tuple[str, str]] = {
    "JSON lines, which Loci can import again (*.jsonl)": ("jsonl", ".jsonl"),
    "JSON (*.json)": ("json", ".json"),
    "Markdown (*.md)": ("markdown", ".md"),
    "A table, for spreadsheets (*.csv)": ("csv", ".csv"),
    "Encrypted archive of everything, chosen or not (*.loci)": ("archive", ".loci"),
}
_LEAST_CHARACTERS = 12


class BulkChanges(QObject):
    """Carries out what is asked for; all of it may outlive the page."""

    def __init__(self, context: Context, host: QWidget) -> None:
        super().__init__(host)
        self._context, self._host = context, host
        self.facets: Facets | None = None
        self.dialog: QWidget | None = None

    def run_action(self, act: str, ids: Sequence[str], *, are_pinned: bool = False) -> None:
        """Do something with memories, after a preview where it concerns more than one.

        Args:
            are_pinned: whether all of them are pinned; then `pin` unpins.
        """
        if not ids:
            self._context.desk.show_message(CHOOSE_FIRST)
            return
        if act == "export":
            self._ask_export_file(tuple(ids))
            return
        change = PLAIN_CHANGES.get("unpin" if act == "pin" and are_pinned else act)
        if change is not None and len(ids) == 1:
            self._revise_memories(ids, change.revision, change.done)
            return
        form = self._make_form(act, change)
        made = RevisionDialog(self._context, ids, form, _dialog_title(act, form, len(ids)), self._host)
        made.agreed.connect(partial(self._on_form_agreed, tuple(ids)))
        self.dialog = made
        made.open()

    def _make_form(self, act: str, change: PlainChange | None) -> RevisionForm:
        if change is not None:
            return PlainForm(change)
        if act == "tag":
            return TagForm(self.facets)
        return MoveForm(self._context, self.facets) if act == "move" else ImportanceForm(self._context)

    def _on_form_agreed(self, ids: Sequence[str], form: RevisionForm) -> None:
        revision = form.make_revision()
        if revision is not None:
            self._revise_memories(ids, revision, form.describe_done())

    def _revise_memories(self, ids: Sequence[str], revision: Revision, done: str) -> None:
        context = self._context
        library = context.bridge.engine.library
        context.tasks.run(
            make_write(f"Changing {count_memories(len(ids))}", lambda: library.revise_memories(ids, revision)).success(
                partial(announce_change, context, done)
            )
        )

    def _ask_export_file(self, ids: Sequence[str]) -> None:
        made = QFileDialog(self._host, f"Export {count_memories(len(ids))}")
        made.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.setNameFilters(list(_FORMATS))
        made.setDefaultSuffix("jsonl")
        made.selectFile("memories.jsonl")
        made.filterSelected.connect(lambda chosen: made.setDefaultSuffix(_FORMATS[chosen][1][1:]))
        made.fileSelected.connect(lambda path: self.write_export(ids, Path(path), made.selectedNameFilter()))
        self.dialog = made
        made.open()

    def write_export(self, ids: Sequence[str], to: Path, chosen: str) -> None:
        """Write memories to a file.

        Args:
            to: the file; its ending says the format where it is a known one.
            chosen: the filter that was chosen in the dialog.
        """
        by_ending = {ending: name for name, ending in _FORMATS.values()}
        format_name = by_ending.get(to.suffix.lower()) or _FORMATS.get(chosen, ("jsonl", ""))[0]
        if format_name == "archive":
            self._ask_passphrase(to)
            return
        context = self._context
        library = context.bridge.engine.library
        task = make_write(
            f"Exporting {count_memories(len(ids))}", lambda: library.export_memories(ids, to, format_name)
        )
        context.tasks.run(task.success(lambda count: context.desk.show_message(f"{count_memories(count)} exported.")))

    def _ask_passphrase(self, to: Path) -> None:
        made = NewPassphraseDialog(
            self._context.theme,
            self._host,
            "Encrypted archive",
            "The archive holds everything in your palace under a passphrase of its own. Whoever has both can read it; "
            "without the passphrase nobody can.",
            "Export everything",
            _LEAST_CHARACTERS,
        )
        made.agreed.connect(partial(self.write_archive, to))
        self.dialog = made
        made.open()

    def write_archive(self, to: Path, passphrase: str) -> None:
        """Write everything into an encrypted archive.

        Args:
            to: the file.
            passphrase: the archive's own.
        """
        context = self._context
        library, secrets = context.bridge.engine.library, [passphrase]  # given away once

        def start_export(watch: Watch) -> Future[ArchiveReceipt]:
            return library.export_archive(to, secrets.pop(), watch.progress, watch.cancelled)

        task = Task("Exporting everything", start_export, writes=True, can_cancel=True)
        context.tasks.run(
            task.success(
                lambda made: context.desk.show_message(f"{count_memories(made.memories)} exported, encrypted.")
            )
        )


def _dialog_title(act: str, form: RevisionForm, count: int) -> str:
    if act == "importance":
        return f"Importance of {count_memories(count)}"
    return f"{form.verb} {count_memories(count)}"


def announce_change(context: Context, done: str, report: RevisionReport) -> None:
    """Say what a change did, and offer to undo it.

    Args:
        done: what was done, behind the count.
    """
    refused = sum(report.refused.values())
    reason = next(iter(report.refused), "")
    if report.step_id is None:
        context.desk.show_message(f"Nothing changed. {reason}".strip())
        return
    left = f" {count_memories(refused)} could not be changed. {reason}" if refused else ""
    offer_undo(context, f"{count_memories(report.changed)} {done}.{left}", report.step_id)
