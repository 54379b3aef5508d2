"""The tab of the archive: what faded, expired or was put away; brought back, or erased for good.

Must not do: know another tab, or erase without the dialog that says how many, and which backups still hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from core.types.lifecycle import ArchivedMemory, ArchivePage
from core.types.memory import CopyState, ErasePreview, ErasureCertificate, ErasureRequest, ErasureSubject
from core.types.values import Kind, Status
from core.types.views import Revision, RevisionReport
from ui.bridge import make_query, make_write, problem_of
from ui.context import CLOSER, Context
from ui.erasure import erase
from ui.pages.journal.labels import format_day
from ui.pages.journal.rows import EntryActionBar, JournalEntry, entry_list
from ui.strings import format_count, journal_strings, window_strings
from ui.theme.tokens import sizes
from ui.undo import offer_undo
from ui.widgets.basics import make_button, make_column, make_label, make_row, set_style_property, wrap_in_card
from ui.widgets.labels import describe_reason, name_space
from ui.widgets.plaintext import one_line
from ui.widgets.states import FOOT, EmptyState, States

_LISTED = 5


class EraseDialog(QDialog):
    """Shows what would be lost; its button erases, its default is not to.

    Signals:
        agreed: the person pressed it.
    """

    agreed = Signal()

    def __init__(self, context: Context, ids: Sequence[str], parent: QWidget) -> None:
        """Make it.

        Args:
            ids: the memories.
        """
        super().__init__(parent)
        strings = journal_strings()["archive"]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["erase_title"])
        self.setAccessibleName(strings["erase_title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog))
        self._line = context.theme.px(26)
        self.summary = make_label(strings["erase_look"], "muted", wrap=True)
        self.never = make_label(strings["erase_never"], "danger", wrap=True)
        self.backups_note = make_label("", "muted", wrap=True)
        self.backups = QListWidget()
        self.backups.setObjectName("framed")
        self.backups.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(strings["erase_title"], self._on_agree_clicked, kind="danger")
        self.act.setEnabled(False)
        self.act.setAutoDefault(False)
        self.cancel.setDefault(True)
        for shown in (self.never, self.backups_note, self.backups):
            shown.hide()
        layout = make_column(
            self, make_label(strings["erase_title"], "title"), self.summary, self.never, self.backups_note, self.backups
        )
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(12)
        layout.addLayout(make_row(None, self.cancel, self.act))
        self.cancel.setFocus()
        wanted, memories = tuple(ids), context.bridge.engine.memories
        task = make_query(strings["erase_look"], lambda: memories.erase_preview(wanted)).within(self)
        context.tasks.run(task.success(self._show_preview).failure(self._show_failure))

    def _show_preview(self, found: ErasePreview) -> None:
        strings = journal_strings()["archive"]
        more = (("erase_back", len(found.back)), ("erase_versions", found.versions), ("erase_same", found.same_words))
        sentences = [
            format_count(strings["erase"], found.memories),
            *(format_count(strings[key], count) for key, count in more if count),
        ]
        self.summary.setText(" ".join(sentences))
        set_style_property(self.summary, "role", "body")
        count = len(found.backups)
        self.backups_note.setText(
            format_count(strings["erase_backups"], count) if count else strings["erase_no_backup"]
        )
        for name in found.backups:
            item = QListWidgetItem(one_line(name, 120), self.backups)
            item.setSizeHint(QSize(0, self._line))
        self.backups.setAccessibleName(self.backups_note.text())
        self.backups.setFixedHeight(self._line * min(count, _LISTED) + 10)
        self.never.show()
        self.backups_note.show()
        self.backups.setVisible(bool(count))
        self.act.setText(format_count(strings["erase_act"], found.memories))
        self.act.setAccessibleName(self.act.text())
        self.act.setEnabled(bool(found.memories))
        self.adjustSize()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self.summary.setText("" if problem is None else problem.sentence)
        set_style_property(self.summary, "role", "danger")

    def _on_agree_clicked(self) -> None:
        self.agreed.emit()
        self.accept()


ORIGIN = "journal"
PAGE_ROWS = 100
_MOST_AGAIN = 500
_ACTS = ("restore", "open", "erase")
_TEXT, _SPACE = 240, 40


def archive_entry(buried: ArchivedMemory, now_ms: int) -> JournalEntry:
    """A line of the archive."""
    strings = journal_strings()["archive"]
    fixed = "" if buried.can_return else strings["fixed"]
    why = describe_reason(buried.reason).rstrip(".")
    erasure = (
        strings["never"]
        if buried.erased_at is None
        else strings["erased"].format(when=format_day(buried.erased_at, now_ms))
    )
    return JournalEntry(
        id=buried.id,
        title=one_line(buried.text, _TEXT),
        note=" · ".join(part for part in (why, name_space(buried.space, _SPACE), fixed) if part),
        kind=Kind(buried.kind),
        aside=strings["archived"].format(when=format_day(buried.archived_at, now_ms)),
        aside_note=erasure,
        value=buried,
    )


class ArchiveTab(QWidget):
    """What is archived, newest first.

    Signals:
        counted: how many there are.
    """

    counted = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        strings = journal_strings()["archive"]
        self._is_read = self._wants_focus = False
        self._next: str | None = None
        self._erases = False
        self.list = entry_list(context.theme, strings["list"], _ACTS, takes_many=True)
        self.lead = make_label("", "muted", wrap=True)
        self.acts = EntryActionBar(context.theme, _ACTS)
        self.acts.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        inside = QWidget()
        make_column(inside, self.lead, wrap_in_card(self.list), self.acts, gap=10).setStretch(1, 1)
        self.states = States(context.theme, inside, strings["reading"])
        make_column(self, self.states)
        self.list.lines.more.connect(self._load_more)
        self.list.looked_at_id.connect(lambda memory_id: self.context.selection.select(memory_id, ORIGIN))
        self.list.picked.connect(self._update_actions)
        self.list.asked.connect(self.run_action)
        self.acts.asked.connect(self.run_action)

    # ---- reading

    def activate(self) -> None:
        """It is shown."""
        self._wants_focus = True
        self.reload()

    def reload(self) -> None:
        """Read again from the newest on, as far as it was read before."""
        if not self._is_read:
            self.states.show_loading()
        limit = max(PAGE_ROWS, min(_MOST_AGAIN, self.list.lines.rowCount()))
        self._request_page(None, limit, self._show_first_page)

    def _load_more(self) -> None:
        self._request_page(self._next, PAGE_ROWS, self._append_page)

    def _request_page(self, after: str | None, limit: int, then: object) -> None:
        jobs = self.context.bridge.engine.jobs
        task = make_query(journal_strings()["archive"]["reading"], lambda: jobs.list_archived(after, limit)).within(
            self, "graves"
        )
        self.context.tasks.run(task.success(then).failure(self._show_failure))  # type: ignore[arg-type]  # one of two methods

    @property
    def is_settled(self) -> bool:
        """Whether it was read."""
        return self._is_read

    def _show_failure(self, error: BaseException) -> None:
        self.states.show_failure(error, self.reload, self.context.desk.show_message if self._is_read else None)

    # ---- showing

    def _make_entries(self, rows: Sequence[ArchivedMemory]) -> list[JournalEntry]:
        now = self.context.clock.now_ms()
        self._erases = self._erases or any(one.erased_at is not None for one in rows)
        return [archive_entry(one, now) for one in rows]

    def _show_first_page(self, graves: ArchivePage) -> None:
        strings = journal_strings()["archive"]
        self._is_read, self._next, self._erases = True, graves.next, False
        self.counted.emit(graves.total)
        self.list.show_lines(self._make_entries(graves.rows), has_more=graves.next is not None)
        self.lead.setText(strings["lead_erases" if self._erases else "lead"])
        self._update_actions()
        if not graves.rows:
            self.states.show_empty(
                EmptyState(self.context.theme, "archive", strings["nothing_title"], strings["nothing"])
            )
            return
        self.states.show_content()
        if self._wants_focus:
            self.list.setFocus()
        self._wants_focus = False

    def _append_page(self, graves: ArchivePage) -> None:
        self._next = graves.next
        self.counted.emit(graves.total)
        self.list.lines.append_lines(self._make_entries(graves.rows), has_more=graves.next is not None)
        self.lead.setText(journal_strings()["archive"]["lead_erases" if self._erases else "lead"])

    def _update_actions(self) -> None:
        chosen = self.list.chosen
        acts = {"open", "erase"} if chosen else set()
        if any(entry.value.can_return for entry in chosen):
            acts.add("restore")
        self.list.offered = frozenset(acts)
        self.acts.enable_actions(self.list.offered)

    # ---- what is done with them

    def run_action(self, name: str) -> None:
        """Do something with what is chosen.

        Args:
            name: `restore`, `open` or `erase`.
        """
        chosen = self.list.chosen
        if not chosen:
            return
        if name == "restore":
            self.restore_memories([entry.id for entry in chosen if entry.value.can_return])
        elif name == "erase":
            ids = [entry.id for entry in chosen]
            dialog = EraseDialog(self.context, ids, self)
            dialog.agreed.connect(lambda: self.erase_memories(ids))
            dialog.open()
        else:
            self.context.selection.reselect(chosen[0].id, CLOSER)

    def restore_memories(self, ids: Sequence[str]) -> None:
        """Bring memories back; one step."""
        library = self.context.bridge.engine.library
        task = make_write(
            journal_strings()["tasks"]["restore"], lambda: library.revise_memories(ids, Revision(status=Status.ACTIVE))
        )
        self.context.tasks.run(task.within(self).success(partial(self._on_memories_restored, len(ids))))

    def _on_memories_restored(self, asked: int, report: RevisionReport) -> None:
        strings = journal_strings()["archive"]
        left = asked - report.changed
        sentence = format_count(strings["back"], report.changed) if report.changed else ""
        sentence += format_count(strings["stayed"], left) if left > 0 else ""
        if report.step_id is None:
            self.context.desk.show_message(sentence.strip())
        else:
            offer_undo(self.context, sentence, report.step_id)
        self.reload()

    def erase_memories(self, ids: Sequence[str]) -> None:
        """Erase memories for good."""
        erase(self.context, ErasureRequest(ErasureSubject.MEMORY, tuple(ids)), self, self._on_memories_erased)

    def _on_memories_erased(self, done: ErasureCertificate) -> None:
        strings, count = journal_strings()["archive"], sum(one.state is CopyState.HOLDS for one in done.copies)
        backups = format_count(strings["erased_backups"], count) if count else ""
        self.context.desk.show_message(format_count(strings["erased_told"], done.memories) + backups)
        self.context.selection.reselect("", ORIGIN)
        self.reload()
