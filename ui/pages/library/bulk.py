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
from core.types.requests import EXPORT_ENDINGS
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
from ui.strings import format_count, library_strings
from ui.theme.theme import Theme
from ui.undo import offer_undo
from ui.widgets.basics import KeyButton, find_usual_folder, follow_icon, make_button, make_label, make_tool_button
from ui.widgets.labels import count_memories
from ui.widgets.secret import NewPassphraseDialog


@dataclass(frozen=True, slots=True)
class BulkAction:
    """Something that can be done with what is chosen.

    Attributes:
        id: as the table's keys ask for it; its title stands in `library.json` under it.
        keys: as they are on the keyboard.
        kind: of the button.
    """

    id: str
    keys: str
    kind: str = "plain"

    @property
    def title(self) -> str:
        """On its button."""
        return str(library_strings()["actions"][self.id])


ACTS: Sequence[BulkAction] = (
    BulkAction("tag", "T"),
    BulkAction("move", "M"),
    BulkAction("pin", "P"),
    BulkAction("archive", "A"),
    BulkAction("restore", "R"),
    BulkAction("forget", "Del", "danger"),
    BulkAction("export", "X"),
    BulkAction("importance", "I"),
    BulkAction("protect", ""),
    BulkAction("unprotect", ""),
    BulkAction("seal", ""),
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
        strings = library_strings()["selection"]
        self.setObjectName("card")
        self.setAccessibleName(strings["title"])
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
        self._more = make_button(strings["more"], kind="plain")
        self._more.setObjectName("more")
        self._more.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        follow_icon(theme, self._more, "chevron-down", "muted")
        self._more.setMenu(self._menu)
        self._clear = make_tool_button(theme, "x", strings["clear"], self.cleared.emit)
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
        strings = library_strings()["changes"]
        self._chosen = count
        self._buttons["pin"].set_title(strings["unpin"]["verb"] if are_pinned else strings["pin"]["verb"])
        self._offered = offered
        self.setVisible(count > 1)
        self._fit_buttons()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """More or fewer buttons have room."""
        super().resizeEvent(event)
        self._fit_buttons()

    def _fit_buttons(self) -> None:
        strings = library_strings()["selection"]
        is_narrow = self.width() < self._theme.px(420)
        self._count.setText(
            strings["count_short"].format(count=self._chosen)
            if is_narrow
            else strings["count"].format(memories=count_memories(self._chosen))
        )
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


_ENDINGS: Mapping[str, str] = {**EXPORT_ENDINGS, "archive": ".loci"}
"""The formats of an export, each with the ending of its files."""

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
            self._context.desk.show_message(library_strings()["selection"]["none"])
            return
        if act == "seal":
            self._context.desk.seal.emit(tuple(ids))
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
            make_write(
                library_strings()["tasks"]["revise"].format(memories=count_memories(len(ids))),
                lambda: library.revise_memories(ids, revision),
            ).success(partial(announce_change, context, done))
        )

    def _ask_export_file(self, ids: Sequence[str]) -> None:
        made = QFileDialog(self._host, library_strings()["export"]["title"].format(memories=count_memories(len(ids))))
        made.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        formats = _read_name_filters()
        made.setNameFilters(list(formats))
        made.setDefaultSuffix("jsonl")
        made.setDirectory(find_usual_folder())
        made.selectFile("memories.jsonl")
        made.filterSelected.connect(lambda chosen: made.setDefaultSuffix(_ENDINGS[formats[chosen]][1:]))
        made.fileSelected.connect(lambda path: self.write_export(ids, Path(path), made.selectedNameFilter()))
        self.dialog = made
        made.open()

    def ask_archive_file(self) -> None:
        """Ask for the file of an encrypted archive of everything, and then for its passphrase."""
        strings = library_strings()["export"]
        made = QFileDialog(self._host, strings["archive"]["title"])
        made.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.setNameFilters([strings["formats"]["archive"]])
        made.setDefaultSuffix(_ENDINGS["archive"][1:])
        made.setDirectory(find_usual_folder())
        made.selectFile(f"loci{_ENDINGS['archive']}")
        made.fileSelected.connect(lambda path: self._ask_passphrase(Path(path)))
        self.dialog = made
        made.open()

    def write_export(self, ids: Sequence[str], to: Path, chosen: str) -> None:
        """Write memories to a file.

        Args:
            to: the file; its ending says the format where it is a known one.
            chosen: the filter that was chosen in the dialog.
        """
        picked, ending = _read_name_filters().get(chosen, "jsonl"), to.suffix.lower()
        named = [name for name, known in _ENDINGS.items() if known == ending]
        format_name = picked if picked in named or not named else named[0]
        if format_name == "archive":
            self._ask_passphrase(to)
            return
        context = self._context
        library = context.bridge.engine.library
        task = make_write(
            library_strings()["tasks"]["export"].format(memories=count_memories(len(ids))),
            lambda: library.export_memories(ids, to, format_name),
        )
        context.tasks.run(
            task.success(
                lambda count: context.desk.show_message(
                    library_strings()["export"]["done"].format(memories=count_memories(count))
                )
            )
        )

    def _ask_passphrase(self, to: Path) -> None:
        strings = library_strings()["export"]["archive"]
        made = NewPassphraseDialog(
            self._context.theme,
            self._host,
            strings["title"],
            strings["sentence"],
            strings["act"],
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

        task = Task(library_strings()["export"]["archive"]["task"], start_export, writes=True, can_cancel=True)
        context.tasks.run(task.success(lambda made: context.desk.show_message(describe_archive(made))))


def describe_archive(made: ArchiveReceipt) -> str:
    """What was written into an archive, in a sentence or two."""
    strings = library_strings()["export"]["archive"]
    said = strings["done"].format(memories=count_memories(made.memories))
    return f"{said} {format_count(strings['sealed'], made.sealed)}" if made.sealed else str(said)


def _read_name_filters() -> dict[str, str]:
    """The formats of an export by what the dialog calls them."""
    return {str(library_strings()["export"]["formats"][name]): name for name in _ENDINGS}


def _dialog_title(act: str, form: RevisionForm, count: int) -> str:
    if act == "importance":
        return str(library_strings()["importance"]["title"]).format(memories=count_memories(count))
    return str(library_strings()["changes"]["title"]).format(verb=form.verb, memories=count_memories(count))


def announce_change(context: Context, done: str, report: RevisionReport) -> None:
    """Say what a change did, and offer to undo it.

    Args:
        done: what was done, behind the count.
    """
    strings = library_strings()["done"]
    refused = sum(report.refused.values())
    reason = next(iter(report.refused), "")
    if report.step_id is None:
        context.desk.show_message(strings["nothing"].format(reason=reason).strip())
        return
    sentence = strings["some"].format(memories=count_memories(report.changed), done=done)
    left = strings["refused"].format(memories=count_memories(refused), reason=reason) if refused else ""
    offer_undo(context, f"{sentence} {left}".strip(), report.step_id)
