"""The dialog in which a person writes a memory: a text, what kind it is, the space it goes to.

What was written and not saved is kept until the vault is locked, so that closing the dialog loses nothing. Must not do:
judge a text; the engine says what became of it, and the message says no word of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from core.types.replies import StoreReply
from core.types.requests import StoreRequest
from core.types.sensitivity import SensitiveType
from core.types.values import HOME_SPACE, OWNER_ACTOR, Kind, SecurityTier
from core.types.views import Facets
from ui.bridge import make_query, make_write, problem_of
from ui.context import CLOSER, Context
from ui.strings import inspector_strings, new_memory_strings
from ui.widgets.basics import Segments, make_buddy_label, make_button, make_column, make_label, make_row
from ui.widgets.choices import ChoiceBox
from ui.widgets.labels import name_space

REVIEW, LIBRARY = "review", "library"


@dataclass(slots=True)
class MemoryDraft:
    """What was written and not saved yet."""

    text: str = ""
    kind: Kind = Kind.FACT
    space: str = HOME_SPACE


def name_outcome(reply: StoreReply) -> str:
    """What became of a text: a key of `outcomes` in `resources/help/new_memory.json`."""
    if reply.operation == "QUARANTINE":
        return "rejected" if reply.conflict is None else "held"
    if reply.conflict is not None:
        return "conflict"
    if reply.merged or reply.deduplicated:
        return "merged" if reply.merged else "known"
    return "replaced" if reply.superseded else "saved"


def describe_protection(reply: StoreReply) -> str:
    """What was found in a text, by its kind alone, and that it is protected for it; "" where it is not."""
    if reply.protection is None or reply.protection[0] is SecurityTier.CLEARTEXT or not reply.protection[1]:
        return ""
    kinds = inspector_strings()["protection"]["types"]
    strings = new_memory_strings()["protected"]
    tier, types = reply.protection
    found = [kinds[one.value] for one in SensitiveType if one in types and one.tier is tier]  # what decided it
    found = found or [kinds[one.value] for one in SensitiveType if one in types]
    what = strings["and"].join(filter(None, (", ".join(found[:-1]), found[-1])))
    return str(strings["sentence"]).format(what=what)


class NewMemoryDialog(QDialog):
    """Asks for a memory and stores it as the person's own word."""

    def __init__(self, context: Context, draft: MemoryDraft, parent: QWidget) -> None:
        """Make it.

        Args:
            draft: what was written before; kept up to date, and emptied when it is saved.
            parent: the window; the dialog goes with it when the vault is locked.
        """
        super().__init__(parent)
        self._strings, self._context, self._draft = new_memory_strings(), context, draft
        self._request_id = str(uuid4())  # of this dialog: however often it is sent, it is stored once
        self.setWindowTitle(self._strings["title"])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QPlainTextEdit(draft.text)
        self.text.setAccessibleName(self._strings["text"])
        self.text.setPlaceholderText(self._strings["placeholder"])
        self.text.setTabChangesFocus(True)
        self.text.setMinimumHeight(context.theme.px(120))
        self.text.installEventFilter(self)
        self.text.textChanged.connect(self._on_changed)
        self.kinds = Segments(tuple(self._strings["kinds"].items()), draft.kind.value, self._strings["kind"])
        self.kinds.chosen.connect(self._on_kind_chosen)
        self.kind_note = make_label("", "small", wrap=True)
        self.space = ChoiceBox()
        self.space.setAccessibleName(self._strings["space"])
        self.space.addItem(name_space(draft.space), draft.space)
        self.space.currentIndexChanged.connect(self._on_changed)
        self.problem = make_label("", "muted", wrap=True)
        self.save_button = make_button(self._strings["save"], self.save_memory, kind="primary")
        self.save_button.setToolTip("Ctrl+Enter")
        self._build_layout()
        self._on_kind_chosen(draft.kind.value)
        self._show_problem("")
        self._request_spaces()
        self.text.setFocus()
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)

    def _build_layout(self) -> None:
        strings = self._strings
        outer = make_column(
            self, make_label(strings["title"], "section"), make_label(strings["sentence"], "muted", wrap=True), gap=12
        )
        outer.setContentsMargins(20, 20, 20, 20)
        outer.addWidget(self.text, 1)
        outer.addWidget(self.kinds)
        outer.addWidget(self.kind_note)
        outer.addLayout(make_row(make_buddy_label(strings["space"], self.space), self.space, None, gap=8))
        outer.addWidget(self.problem)
        keys = make_label(strings["keys"], "small")
        outer.addLayout(make_row(keys, None, make_button(strings["cancel"], self.reject), self.save_button))
        px = self._context.theme.px
        self.resize(px(480), px(400))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Ctrl+Enter in the text saves."""
        if watched is self.text and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.save_memory()
                return True
        return False

    # ---- what is asked

    def _request_spaces(self) -> None:
        library = self._context.bridge.engine.library
        task = make_query(self._strings["reading_spaces"], library.count_facets).within(self, "spaces")
        self._context.tasks.run(task.success(self._list_spaces))

    def _list_spaces(self, facets: Facets) -> None:
        # Clients' own spaces are theirs: a person's memory goes there by moving it, not by a slip of the list.
        for name in sorted(facets.spaces, key=str.casefold):
            if self.space.findData(name) < 0:
                self.space.addItem(name_space(name), name)

    def _on_kind_chosen(self, value: str) -> None:
        self.kind_note.setText(self._strings["kind_notes"][value])
        self._on_changed()

    def _on_changed(self, *_: object) -> None:
        draft = self._draft
        draft.text, draft.kind = self.text.toPlainText(), Kind(self.kinds.current)
        draft.space = str(self.space.currentData())
        self.save_button.setEnabled(bool(draft.text.strip()))

    def _show_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    # ---- saving

    def save_memory(self) -> None:
        """Store it; the dialog stays open until that is done, and where it is refused."""
        if not self.save_button.isEnabled():
            return
        draft, memories = self._draft, self._context.bridge.engine.memories
        request = StoreRequest(draft.text, kind=draft.kind, space=draft.space, request_id=self._request_id)
        self._set_saving(is_saving=True)
        task = make_write(self._strings["task"], lambda: memories.store(request, OWNER_ACTOR)).within(self)
        self._context.tasks.run(task.success(self._on_stored).failure(self._on_refused))

    def _set_saving(self, *, is_saving: bool) -> None:
        self.save_button.setEnabled(not is_saving)
        self.save_button.setText(self._strings["saving" if is_saving else "save"])
        for one in (self.text, self.kinds, self.space):
            one.setEnabled(not is_saving)

    def _on_stored(self, reply: StoreReply) -> None:
        self._draft.text = ""
        self.accept()
        outcome = name_outcome(reply)
        title, run = make_follow_up(self._context, reply)
        sentence = describe_protection(reply) if outcome == "saved" else ""
        self._context.desk.show_message(sentence or self._strings["outcomes"][outcome], title, run)

    def _on_refused(self, error: BaseException) -> None:
        self._set_saving(is_saving=False)
        problem = problem_of(error)
        self._show_problem("" if problem is None else problem.sentence)
        self._request_id = str(uuid4())  # what is sent next is another text
        self.text.setFocus()


def make_follow_up(context: Context, reply: StoreReply) -> tuple[str, Callable[[], None]]:
    """What can be done with a memory that was just stored: decide the question it raised, else look at it."""
    strings, question = new_memory_strings(), reply.conflict

    def decide() -> None:
        context.desk.go.emit(REVIEW, question or "")

    def show() -> None:
        context.desk.go.emit(LIBRARY, "")
        context.selection.select(reply.memory_id, CLOSER)

    return (strings["decide"], decide) if question is not None else (strings["show"], show)
