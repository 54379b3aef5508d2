"""What can be done with the memory that is looked at: commands, menu, letters, footer; verdicts, reports of use.

Each is one named undo step, said with an Undo beside it. Must not do: show a word of the memory in a menu or toast, or
keep the words of a reason once the dialog is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QMenu, QPlainTextEdit, QWidget

from core.types.lifecycle import Marked, OutcomeTaken
from core.types.memory import ErasureRequest, ErasureSubject
from core.types.replies import VerdictReply
from core.types.values import OWNER_ACTOR, STANDING, Kind, Memory, SecurityTier, Status
from core.types.views import Revision, RevisionReport
from ui.bridge import make_write
from ui.context import Command, Context
from ui.erasure import ask_erasure
from ui.inspector.dialogs import MoveDialog
from ui.strings import belief_strings, inspector_strings, practice_strings, window_strings
from ui.undo import offer_undo
from ui.widgets.basics import (
    FlowLayout,
    KeyButton,
    clear_layout,
    is_submit_key,
    make_button,
    make_column,
    make_label,
    make_row,
)
from ui.widgets.secret import SecretClipboard

HELPFUL, HARMFUL, WORKED, FAILED = "helpful", "harmful", "worked", "failed"


CONFIRM, REINFORCE, DISPUTE = "confirm", "reinforce", "dispute"
VERDICTS = ((CONFIRM, "C"), (REINFORCE, "R"), (DISPUTE, "D"))
"""What a person can say of a memory, and the letter of it in the inspector."""
MOST = 500


def can_judge(memory: Memory) -> bool:
    """Whether a person can say right or wrong of it."""
    return memory.status in STANDING


def submit_verdict(context: Context, memory_id: str, verdict: str, reason: str = "") -> None:
    """Say right or wrong, and offer to take it back.

    Args:
        verdict: `confirm`, `reinforce` or `dispute`.
        reason: why it is disputed, in the person's words; "" for none.
    """
    memories = context.bridge.engine.memories

    def start_verdict() -> Future[VerdictReply]:
        if verdict == DISPUTE:
            return memories.dispute(memory_id, OWNER_ACTOR, reason or None)
        return (memories.confirm if verdict == CONFIRM else memories.reinforce)(memory_id, OWNER_ACTOR)

    def report_verdict(reply: VerdictReply) -> None:
        offer_undo(context, belief_strings()["acts"][verdict]["done"], reply.step_id)

    context.tasks.run(make_write(inspector_strings()["tasks"]["judge"], start_verdict).success(report_verdict))


class ReasonDialog(QDialog):
    """Asks why; the reason may stay empty."""

    def __init__(
        self, context: Context, strings: Mapping[str, str], go: Callable[[str], None], parent: QWidget
    ) -> None:
        """Make it.

        Args:
            strings: `title`, `sentence`, `reason` (over the field) and `button`.
            go: called with the reason, "" for none.
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        self.setWindowTitle(strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._done = go
        self.reason = QPlainTextEdit()
        self.reason.setAccessibleName(strings["reason"])
        self.reason.setPlaceholderText(strings["reason"])
        self.reason.setTabChangesFocus(True)
        self.reason.setFixedHeight(context.theme.px(88))
        self.go_button = make_button(strings["button"], self._accept_reason, kind="primary")
        buttons = make_row(None, make_button(window_strings()["buttons"]["cancel"], self.reject), self.go_button)
        outer = make_column(
            self, make_label(strings["title"], "section"), make_label(strings["sentence"], "muted", wrap=True), gap=12
        )
        outer.setContentsMargins(20, 20, 20, 20)
        outer.addWidget(self.reason)
        outer.addLayout(buttons)
        self.reason.installEventFilter(self)
        self.resize(context.theme.px(400), self.sizeHint().height())
        self.reason.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Ctrl+Enter in the field goes on."""
        if watched is self.reason and is_submit_key(event):
            self._accept_reason()
            return True
        return False

    def _accept_reason(self) -> None:
        self._done(" ".join(self.reason.toPlainText().split())[:MOST])
        self.accept()


class DisputeDialog(ReasonDialog):
    """Asks why a memory is wrong."""

    def __init__(self, context: Context, memory_id: str, parent: QWidget) -> None:
        """Make it."""
        super().__init__(
            context, belief_strings()["dispute"], lambda why: submit_verdict(context, memory_id, DISPUTE, why), parent
        )


def is_rule(memory: Memory) -> bool:
    """Whether it can be said that it helped, or did harm."""
    return memory.kind is Kind.RULE and memory.status in STANDING


def is_procedure(memory: Memory) -> bool:
    """Whether it can be said that it worked, or did not."""
    return memory.kind is Kind.PROCEDURE and memory.status in STANDING


def submit_outcome(context: Context, memory_id: str, outcome: str, reason: str = "") -> None:
    """Say how it was, and offer to take it back.

    Args:
        memory_id: a rule, or a procedure.
        outcome: `helpful` or `harmful` of a rule, `worked` or `failed` of a procedure.
        reason: why it harmed, in the person's words; "" for none.
    """
    practice, strings = context.bridge.engine.outcomes, practice_strings()
    act = strings["acts"][outcome]

    def report_marked(done: Marked) -> None:
        more = strings["turned"] if done.inverted else strings["asked"] if done.conflict is not None else ""
        offer_undo(context, f"{act['done']} {more}".strip(), done.step_id)

    def report_outcome(done: OutcomeTaken) -> None:
        offer_undo(context, act["done"], done.step_id)

    if outcome in (WORKED, FAILED):
        task = make_write(
            act["label"], lambda: practice.record_outcome(memory_id, OWNER_ACTOR, success=outcome == WORKED)
        )
        context.tasks.run(task.success(report_outcome))
    elif outcome == HELPFUL:
        context.tasks.run(
            make_write(act["label"], lambda: practice.mark_helpful(memory_id, OWNER_ACTOR)).success(report_marked)
        )
    else:
        harmed = make_write(act["label"], lambda: practice.mark_harmful(memory_id, OWNER_ACTOR, reason or None))
        context.tasks.run(harmed.success(report_marked))


class HarmDialog(ReasonDialog):
    """Asks what happened; the reason may stay empty."""

    def __init__(self, context: Context, memory_id: str, parent: QWidget) -> None:
        """Make it.

        Args:
            memory_id: the rule that did harm.
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        strings = practice_strings()["harm"]
        super().__init__(context, strings, lambda reason: submit_outcome(context, memory_id, HARMFUL, reason), parent)


_AWAY = frozenset({Status.ARCHIVED, Status.DELETED})


def explain_no_edit(memory: Memory) -> str:
    """Why a text cannot be written anew, as the engine would say it; "" where it can."""
    strings = inspector_strings()["no_edit"]
    if memory.part_of is not None:
        return str(strings["part"])
    if memory.kind is Kind.DIGEST:
        return str(strings["digest"])
    return str(strings["status"].get(memory.status.value, ""))


@dataclass(frozen=True, slots=True)
class MemoryAction:
    """Something that can be done with one memory.

    Attributes:
        id: of its command; what it is called stands in `inspector.json` under the name in it.
        icon: name of an icon.
        run: does it.
        applies: whether it makes sense for a memory.
        shortcut: of the command, anywhere in the window; "" for none.
        letter: a single key that acts while the inspector has the keyboard and nothing is being written.
        menu: of the window in which it is; "" for the command palette alone.
    """

    id: str
    icon: str
    run: Callable[[Memory], None]
    applies: Callable[[Memory], bool]
    shortcut: str = ""
    letter: str = ""
    menu: str = "edit"

    @property
    def title(self) -> str:
        """Its title, in the imperative."""
        return str(self._strings["title"])

    @property
    def words(self) -> str:
        """More words by which the command palette finds it."""
        return str(self._strings["words"])

    @property
    def short(self) -> str:
        """Its title on a button; "" where it has none in the footer."""
        return str(self._strings.get("short", ""))

    @property
    def _strings(self) -> Mapping[str, str]:
        found: Mapping[str, str] = inspector_strings()["verbs"][self.id.removeprefix("memory.")]
        return found

    @property
    def key(self) -> str:
        """The key to show."""
        shown = self.letter or self.shortcut
        return QKeySequence(shown).toString(QKeySequence.SequenceFormat.NativeText) if shown else ""


class MemoryActions(QObject):
    """The verbs over the memory that is looked at.

    Signals:
        wanted: a verb waits for the selected memory, which is not read yet.
        editing: the memory shall be written anew.
    """

    wanted = Signal()
    editing = Signal()

    def __init__(self, context: Context, host: QWidget) -> None:
        """Make them and register the commands.

        Args:
            host: the inspector; letters act while it has the keyboard.
        """
        super().__init__(host)
        self._context, self._host = context, host
        self._memory: Memory | None = None
        self._waiting: MemoryAction | None = None
        self.verbs = self._make_verbs()
        self.menu = QMenu(host)
        self._shown = {verb.id: self._menu_action(verb) for verb in self.verbs}
        for verb in self.verbs:
            shortcut = verb.shortcut or None
            run = self._make_runner(verb)
            made = Command(
                verb.id,
                verb.title,
                run,
                verb.menu,
                shortcut,
                verb.icon,
                words=inspector_strings()["verb_words"].format(words=verb.words),
                needs_inspector=True,
            )
            context.commands.add(made)
        self._add_shortcut("Ctrl+E", Qt.ShortcutContext.WindowShortcut, self._make_runner(self.verbs[0]))
        self.footer = QWidget()
        self._buttons = FlowLayout(self.footer, gap=4)
        context.theme.changed.connect(self._show_actions)

    def _make_verbs(self) -> tuple[MemoryAction, ...]:
        at = self._context

        def at_tier(tier: SecurityTier, done: str) -> Callable[[Memory], None]:
            return self._make_reviser(Revision(tier=tier), done)

        def at_status(status: Status, done: str) -> Callable[[Memory], None]:
            return self._make_reviser(Revision(status=status), done)

        return (
            MemoryAction("memory.edit", "pencil", self._edit_text, _is_current, "F2", "E"),
            MemoryAction("memory.pin", "pin", self._toggle_pin, _is_present, "", "P"),
            MemoryAction("memory.move", "move-right", self._ask_new_place, _is_present, "", "M"),
            MemoryAction("memory.protect", "eye-off", at_tier(SecurityTier.SENSITIVE, "protected"), _is_unprotected),
            MemoryAction("memory.unprotect", "eye", at_tier(SecurityTier.CLEARTEXT, "unprotected"), _is_protected),
            MemoryAction("memory.seal", "key-round", self._ask_to_seal, _is_known),
            MemoryAction("memory.archive", "archive", at_status(Status.ARCHIVED, "archived"), _is_current),
            MemoryAction("memory.restore", "archive-restore", at_status(Status.ACTIVE, "restored"), _is_put_away),
            MemoryAction("memory.current", "history", self._select_current_version, _is_old),
            MemoryAction("memory.confirm", "check", self._confirm_memory, can_judge, "", "C"),
            MemoryAction("memory.reinforce", "chevron-up", self._reinforce_memory, can_judge, "", "R"),
            MemoryAction("memory.dispute", "circle-alert", self._ask_dispute_reason, can_judge, "", "D"),
            MemoryAction("memory.helpful", "check", partial(_submit_outcome, at, HELPFUL), is_rule, "", "H", ""),
            MemoryAction("memory.harmful", "circle-alert", partial(_ask_harm, at, self._host), is_rule, "", "X", ""),
            MemoryAction("memory.worked", "check", partial(_submit_outcome, at, WORKED), is_procedure, "", "W", ""),
            MemoryAction(
                "memory.failed", "circle-alert", partial(_submit_outcome, at, FAILED), is_procedure, "", "N", ""
            ),
            MemoryAction("memory.forget", "trash-2", self._forget_memory, _is_known, "Del"),
            MemoryAction("memory.erase", "circle-x", partial(_ask_erasure, at, self._host), _is_any),
            MemoryAction("memory.palace", "landmark", self._make_page_opener("palace"), _is_any),
            MemoryAction("memory.graph", "waypoints", self._make_page_opener("graph"), _is_any),
            MemoryAction("memory.why", "scan-search", self._make_page_opener("recall", "why"), _is_any),
            MemoryAction("memory.copy", "copy", self._copy_text, _is_any, "Ctrl+Shift+C"),
        )

    def _make_runner(self, verb: MemoryAction) -> Callable[[], None]:
        return lambda: self.run_verb(verb)

    def _menu_action(self, verb: MemoryAction) -> QAction:
        if verb.id in {"memory.confirm", "memory.helpful", "memory.forget", "memory.palace"}:
            self.menu.addSeparator()
        # A shortcut of the window is named after a tab: set on this action too, Qt would find it ambiguous.
        named = f"{verb.title}\t{verb.key}" if verb.key and not verb.letter else verb.title
        action = QAction(named, self._host)
        action.triggered.connect(self._make_runner(verb))
        if verb.letter:
            action.setShortcut(QKeySequence(verb.letter))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self._host.addAction(action)
        self.menu.addAction(action)
        return action

    def _add_shortcut(self, keys: str, where: Qt.ShortcutContext, run: Callable[[], None]) -> None:
        action = QAction(self._host)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(where)
        action.triggered.connect(run)
        self._host.addAction(action)

    # ---- which memory

    def show_memory(self, memory: Memory | None) -> None:
        """This memory is looked at now; a verb that waited for it is carried out.

        Args:
            memory: None for none.
        """
        self._memory = memory
        self._show_actions()
        waiting, self._waiting = self._waiting, None
        if waiting is not None and memory is not None and memory.id == self._context.selection.current:
            self.run_verb(waiting)

    def _show_actions(self) -> None:
        memory, theme = self._memory, self._context.theme
        clear_layout(self._buttons)
        for verb in self.verbs:
            action = self._shown[verb.id]
            action.setIcon(theme.icon(verb.icon))
            applies = memory is not None and verb.applies(memory)
            action.setEnabled(applies)
            is_odd = verb.id in {"memory.restore", "memory.current"}
            action.setVisible(applies or not (is_odd or verb.applies in _SHOWN_WHERE_THEY_APPLY))
            if memory is not None and applies and verb.short:
                is_unpin = verb.id == "memory.pin" and memory.pinned
                title = inspector_strings()["verbs"]["pin"]["undo"] if is_unpin else verb.short
                kind = "primary" if is_odd else "plain"
                # Without its key it is no wider than "Pin": the buttons behind it stay where they are.
                key = "" if is_unpin else verb.key
                self._buttons.addWidget(KeyButton(theme, title, key, self._make_runner(verb), kind, is_tight=True))
        self.footer.updateGeometry()

    def run_verb(self, verb: MemoryAction) -> None:
        """Carry a verb out on the memory that is selected; it waits where that one is still being read.

        Args:
            verb: one of `verbs`.
        """
        selected = self._context.selection.current
        if not self._host.isVisible():
            return  # nobody sees which memory that would be: the page has no inspector, or it is hidden
        if not selected or not self._context.bridge.is_open:
            self._context.desk.show_message(inspector_strings()["none_selected"])
        elif self._memory is None or self._memory.id != selected:
            self._waiting = verb
            self.wanted.emit()
        elif verb.applies(self._memory):
            verb.run(self._memory)
        else:
            self._context.desk.show_message(explain_no_edit(self._memory) or inspector_strings()["no_edit"]["other"])

    # ---- what is done

    def _edit_text(self, memory: Memory) -> None:
        reason = explain_no_edit(memory)
        if reason:
            self._context.desk.show_message(reason)
        else:
            self.editing.emit()

    def _toggle_pin(self, memory: Memory) -> None:
        strings = inspector_strings()["done"]
        sentence = strings["unpinned"] if memory.pinned else strings["pinned"]
        self._revise_memory(memory, Revision(pinned=not memory.pinned), sentence)

    def _make_reviser(self, revision: Revision, done: str) -> Callable[[Memory], None]:
        """What makes a change that needs no question.

        Args:
            done: key of the sentence that tells it.
        """
        return lambda memory: self._revise_memory(memory, revision, inspector_strings()["done"][done])

    def _revise_memory(self, memory: Memory, revision: Revision, sentence: str) -> None:
        engine = self._context.bridge.engine
        self._run_write(
            inspector_strings()["tasks"]["revise"],
            lambda: engine.library.revise_memories((memory.id,), revision),
            self._make_reporter(sentence),
        )

    def _make_reporter(self, sentence: str) -> Callable[[RevisionReport], None]:
        context = self._context

        def report_revision(report: RevisionReport) -> None:
            if report.step_id is None:
                context.desk.show_message(" ".join(report.refused) or inspector_strings()["no_change"])
            else:
                offer_undo(context, " ".join(report.refused) or sentence, report.step_id)

        return report_revision

    def _run_write(
        self, label: str, begin: Callable[[], Future[RevisionReport]], then: Callable[[RevisionReport], None]
    ) -> None:
        self._context.tasks.run(make_write(label, begin).success(then))

    def _forget_memory(self, memory: Memory) -> None:
        context, engine = self._context, self._context.bridge.engine
        task = make_write(
            inspector_strings()["tasks"]["forget"], lambda: engine.memories.forget(memory.id, OWNER_ACTOR)
        )
        context.tasks.run(
            task.success(lambda step: offer_undo(context, inspector_strings()["done"]["forgotten"], step))
        )

    def _confirm_memory(self, memory: Memory) -> None:
        submit_verdict(self._context, memory.id, CONFIRM)

    def _reinforce_memory(self, memory: Memory) -> None:
        submit_verdict(self._context, memory.id, REINFORCE)

    def _ask_dispute_reason(self, memory: Memory) -> None:
        DisputeDialog(self._context, memory.id, self._host).open()

    def _ask_to_seal(self, memory: Memory) -> None:
        self._context.desk.seal.emit((memory.id,))

    def _ask_new_place(self, memory: Memory) -> None:
        dialog = MoveDialog(self._context, memory, self._host)
        dialog.moved.connect(self._on_memory_moved)
        dialog.open()

    def _on_memory_moved(self, where: str, step_id: str) -> None:
        offer_undo(self._context, inspector_strings()["done"]["moved"].format(place=where), step_id)

    def _select_current_version(self, memory: Memory) -> None:
        self._context.selection.select(memory.superseded_by_id or memory.id, "inspector")

    def _make_page_opener(self, page: str, target: str = "show") -> Callable[[Memory], None]:
        return lambda memory: self._context.desk.go.emit(page, f"{target}:{memory.id}")

    def _copy_text(self, memory: Memory) -> None:
        context = self._context
        SecretClipboard(context.desk, context.bridge.state, context.prefs.options.clipboard_s).copy_secret(memory.text)
        context.desk.show_message(inspector_strings()["done"]["copied"])


def _submit_outcome(context: Context, outcome: str, memory: Memory) -> None:
    submit_outcome(context, memory.id, outcome)


def _ask_harm(context: Context, host: QWidget, memory: Memory) -> None:
    HarmDialog(context, memory.id, host).open()


def _is_any(_memory: Memory) -> bool:
    return True


def _is_current(memory: Memory) -> bool:
    return memory.status in STANDING


def _is_put_away(memory: Memory) -> bool:
    return memory.status in _AWAY


def _is_old(memory: Memory) -> bool:
    return memory.superseded_by_id is not None


def _ask_erasure(context: Context, host: QWidget, memory: Memory) -> None:
    """Ask whether a memory with its versions shall be erased for good; the certificate is shown afterwards."""
    request = ErasureRequest(ErasureSubject.MEMORY, (memory.id,), whole_chain=True)
    ask_erasure(context, request, "memory", memory.text, host, lambda _: context.selection.select("", "inspector"))


def _is_present(memory: Memory) -> bool:
    return memory.status not in {Status.DELETED, Status.SUPERSEDED}


def _is_unprotected(memory: Memory) -> bool:
    return memory.tier is SecurityTier.CLEARTEXT and _is_known(memory)


def _is_protected(memory: Memory) -> bool:
    return memory.tier is not SecurityTier.CLEARTEXT and _is_known(memory)


def _is_known(memory: Memory) -> bool:
    return memory.status is not Status.DELETED


_SHOWN_WHERE_THEY_APPLY = (is_rule, is_procedure, _is_unprotected, _is_protected)
