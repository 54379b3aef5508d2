"""The section that shows a memory's text and lets it be edited, and the warning above one that reads like an order.

What is written lives in the editor alone and goes with it. Must not do: interpret or judge the text, or keep unsaved
words once the vault is locked.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from core.types.memory import Warned
from core.types.values import Memory
from core.types.views import Revision, RevisionReport
from ui.bridge import make_query, make_write, mark_spans, problem_of
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec, Pointed
from ui.inspector.shared_widgets import make_flush_row
from ui.inspector.text_view import TextView, marked_runs_of_text, plain_runs_of_text
from ui.strings import format_count, injection_strings, inspector_strings, window_strings
from ui.theme.theme import Theme
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
from ui.widgets.labels import name_space
from ui.widgets.plaintext import has_marks, one_line, split_marks
from ui.widgets.states import Banner

SAVE_KEYS = "Ctrl+Return"
_FEWEST, _MOST = 5, 22
_PARAGRAPH = "\u2029"


class MemoryTextField(QPlainTextEdit):
    """A field of plain text as tall as its text, within bounds.

    Signals:
        asked_save: Ctrl+Enter.
        asked_cancel: Esc.
    """

    asked_save = Signal()
    asked_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(inspector_strings()["text"]["name"])
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._fit_height)

    @property
    def words(self) -> str:
        """What is in it; unlike `toPlainText` it keeps no-break spaces as they are."""
        return self.document().toRawText().replace(_PARAGRAPH, "\n")

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Ctrl+Enter saves, Esc leaves."""
        if is_submit_key(event):
            self.asked_save.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.asked_cancel.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Its keys come before the window's."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_save = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
            if is_save or event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Its lines break anew."""
        super().resizeEvent(event)  # type: ignore[arg-type]  # the stubs of Qt name another event
        self._fit_height()

    def _fit_height(self) -> None:
        lines = max(_FEWEST, min(_MOST, round(self.document().size().height()) + 1))
        height = lines * self.fontMetrics().lineSpacing() + 20
        if height != self.height():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its text."""
        return QSize(200, self.height())


class MemoryEditor(QWidget):
    """A field with Save and Cancel, a place for what is wrong, and a question before anything is lost.

    Signals:
        save: the words to save.
        cancel: leave it as it was.
    """

    save = Signal(str)
    cancel = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = inspector_strings()["text"]
        self._theme = theme
        self._before, self._line_end = "", "\n"
        self._first = ""
        self.field = MemoryTextField()
        self.field.asked_save.connect(self._emit_save)
        self.field.asked_cancel.connect(self.cancel)
        self.wrong = make_label("", "danger", wrap=True)
        self.wrong.hide()
        self.save_button = KeyButton(
            theme, strings["save"], _format_keys(SAVE_KEYS), self._emit_save, "primary", is_tight=True
        )
        self.cancel_button = KeyButton(
            theme, window_strings()["buttons"]["cancel"], "Esc", self.cancel.emit, is_tight=True
        )
        self._buttons = QWidget()
        flow = FlowLayout(self._buttons)
        flow.addWidget(self.save_button)
        flow.addWidget(self.cancel_button)
        self._notes = QWidget()
        self._notes_box: QVBoxLayout = make_column(self._notes)
        self._notes.hide()
        note = make_label(strings["versions_kept"], "small", wrap=True)
        make_column(self, self._notes, self.field, self.wrong, note, self._buttons, gap=8)

    def open_with(self, text: str) -> None:
        """Write a text anew."""
        self._before = text
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        self.field.setPlainText(text)
        self._first = self.field.words
        self.show_problem("")
        self._show_notes()
        self.show()
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def is_dirty(self) -> bool:
        """Whether something was written that is not saved."""
        return not self.isHidden() and self.field.words != self._first

    @property
    def written(self) -> str:
        """The text as it would be saved; the one it began with where nothing was changed."""
        words = self.field.words
        return self._before if words == self._first else words.replace("\n", self._line_end)

    def show_problem(self, sentence: str) -> None:
        """Say what is wrong, below the field; "" for nothing."""
        self.wrong.setText(sentence)
        self.wrong.setVisible(bool(sentence))
        self.save_button.setEnabled(True)

    def set_busy(self) -> None:
        """It is being saved."""
        self.save_button.setEnabled(False)

    def show_question(self, *answers: tuple[str, Callable[[], None]]) -> None:
        """Ask before anything is lost.

        Args:
            *answers: titles and what they do; the first is the main one.
        """
        banner = Banner(inspector_strings()["text"]["unsaved"], "warning")
        choices = QWidget()
        flow = FlowLayout(choices)
        for number, (title, run) in enumerate(answers):
            flow.addWidget(make_button(title, run, kind="plain" if number else "primary"))
        clear_layout(self._notes_box)
        self._notes_box.addWidget(banner)
        self._notes_box.addWidget(choices)
        self._notes.show()
        self._buttons.hide()

    def _show_notes(self) -> None:
        """Nothing is asked; only what cannot be seen in the text is spoken of."""
        clear_layout(self._notes_box)
        hidden = has_marks(self._before)
        if hidden:
            strings = inspector_strings()["text"]
            banner = Banner(strings["hidden"], "warning", strings["remove_hidden"], self._remove_hidden)
            self._notes_box.addWidget(banner)
        self._notes.setVisible(hidden)
        self._buttons.show()

    def dismiss_question(self) -> None:
        """Take a question back."""
        self._show_notes()

    def _remove_hidden(self) -> None:
        visible = "".join(piece.text for piece in split_marks(self.field.words) if not piece.is_mark)
        cursor = self.field.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(visible)  # Ctrl+Z in the field brings them back
        clear_layout(self._notes_box)
        self._notes.hide()

    def _emit_save(self) -> None:
        if self.save_button.isEnabled():
            self.save.emit(self.written)

    def clear_text(self) -> None:
        """Forget every word of it."""
        self.hide()
        self._before = self._first = ""
        self.field.setPlainText("")
        self.field.document().clearUndoRedoStacks()


def _format_keys(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText).replace("Return", "Enter")


_TOLD = 2


def describe_warning(warned: Warned) -> str:
    """Why it is kept back, in plain words.

    Returns:
        A sentence or two.
    """
    strings = injection_strings()
    sentence = str(strings["blocked" if warned.blocked else "sentence"])
    what = [str(strings["families"][name]) for name in warned.families if name in strings["families"]][:_TOLD]
    return f"{sentence} {strings['seems'].format(what=strings['and'].join(what))}" if what else sentence


class WarningSection(InspectorSection):
    """The badge, the reason, and a button that asks once more."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings = injection_strings()
        self._memory_id = ""
        self.title = make_label(strings["title"], "strong", wrap=True)
        self.reason = make_label("", "small", wrap=True)
        self.through = make_button(strings["button"], self._ask_release, kind="link", hint=strings["hint"])
        self.question = QWidget()
        self.yes = make_button(strings["button"], self._release_hold)
        self.no = make_button(window_strings()["buttons"]["cancel"], self._close_question)
        inside = make_column(self.question, make_label(strings["ask"], "small", wrap=True), gap=4)
        inside.addLayout(make_row(self.yes, self.no, None))
        layout = make_column(self, self.title, self.reason, gap=4)
        layout.addLayout(make_row(self.through, None))
        layout.addWidget(self.question)
        self._close_question()

    def show_memory(self, inspected: Inspected) -> bool:
        """Look whether it is kept back; the section shows itself when it is.

        Returns:
            False until that is known of another memory.
        """
        memory_id = inspected.memory.id
        is_same = memory_id == self._memory_id
        self._memory_id = memory_id
        if not is_same:
            self._close_question()
        library = self.context.bridge.engine.library
        task = make_query(inspector_strings()["tasks"]["instructions"], lambda: library.explain_warning(memory_id))
        self.context.tasks.run(task.within(self, "warned").success(self._show_warning).failure(lambda _: self.hide()))
        return is_same and self.isVisible()

    def _show_warning(self, warned: Warned | None) -> None:
        if warned is not None:
            sentence = describe_warning(warned)
            self.reason.setText(sentence)
            self.setAccessibleName(f"{self.title.text()}. {sentence}")
        self.setVisible(warned is not None)

    def _ask_release(self) -> None:
        self.through.hide()
        self.question.show()
        self.yes.setFocus()

    def _close_question(self) -> None:
        self.question.hide()
        self.through.show()

    def _release_hold(self) -> None:
        library, memory_id, strings = self.context.bridge.engine.library, self._memory_id, injection_strings()

        def report_release(step_id: str) -> None:
            self._close_question()
            offer_undo(self.context, strings["done"], step_id)

        task = make_write(inspector_strings()["tasks"]["approve"], lambda: library.release_hold(memory_id)).within(self)
        self.context.tasks.run(task.success(report_release).failure(self._on_task_failed))

    def _on_task_failed(self, error: BaseException) -> None:
        self._close_question()
        problem = problem_of(error)
        if problem is not None:
            self.context.desk.show_message(problem.sentence)


WARNING = InspectorSectionSpec("warning", 12, WarningSection)


SHORT = 200
"""Characters up to which a text is set large."""
FOLD = 12
"""Lines after which a long text is folded."""
_TAGS = 24
_ORIGIN = "inspector"


class TextSection(InspectorSection):
    """Text, tags, where it is kept; or the editor."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings = inspector_strings()["text"]
        self._memory: Memory | None = None
        self._then: Callable[[], None] | None = None
        self.hidden = Banner(strings["hidden_marked"], "warning")
        self.view = TextView(context.theme, strings["name"])
        self.fold = make_button("", self._toggle_fold, kind="link")
        self.view.fitted.connect(self._name_fold)
        self.stored = make_button("", self._toggle_stored, kind="link", hint=strings["as_stored_hint"])
        self._is_stored = False
        self._tags = QWidget()
        self._tags_flow = FlowLayout(self._tags, gap=6)
        self._facts = QWidget()
        self._facts_flow = FlowLayout(self._facts, gap=20)
        self.reading = QWidget()
        inner = make_column(self.reading, self.view, gap=12)
        inner.addLayout(make_flush_row(self.fold, self.stored, None))
        for widget in (self.hidden, self._tags, self._facts):
            inner.addWidget(widget)
        self.editor = MemoryEditor(context.theme)
        self.editor.hide()
        self.editor.save.connect(self._save_text)
        self.editor.cancel.connect(self._cancel_edit)
        make_column(self, self.reading, self.editor)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it; an editor that is open for the same memory stays.

        Returns:
            True.
        """
        memory = inspected.memory
        is_same = self._memory is not None and self._memory.id == memory.id
        if not is_same:
            self.discard_edit()
        if not is_same or self._memory is None or self._memory.text != memory.text:
            self._memory, self._is_stored = memory, False
            self._write_text()
        self._memory = memory
        self.hidden.setVisible(has_marks(memory.text))
        self._name_fold()
        self._show_tags(memory)
        self._show_facts(memory)
        return True

    def _write_text(self) -> None:
        """Show the text as it reads, or as it was stored."""
        text, strings = "" if self._memory is None else self._memory.text, inspector_strings()["text"]
        runs = marked_runs_of_text(text) if self._is_stored else plain_runs_of_text(text)
        is_short = len(text) <= SHORT
        self.view.show_runs(runs, "quote" if is_short else "body", 0 if is_short else FOLD)
        self.stored.setText(strings["as_read" if self._is_stored else "as_stored"])
        self.stored.setAccessibleName(self.stored.text())
        self.stored.setVisible(bool(mark_spans(text)))

    def _toggle_stored(self) -> None:
        self._is_stored = not self._is_stored
        self._write_text()
        self._name_fold()

    def _name_fold(self) -> None:
        if self._memory is None:
            return
        is_long = len(self._memory.text) > SHORT
        whole = format_count(inspector_strings()["text"]["whole"], len(self._memory.text))
        words = whole if self.view.is_folded else window_strings()["buttons"]["show_less"]
        self.fold.setText(words)
        self.fold.setAccessibleName(words)
        self.fold.setVisible(is_long and (self.view.is_folded or self.view.is_unfolded_beyond(FOLD)))

    def _toggle_fold(self) -> None:
        self.view.fold_after(0 if self.view.is_folded else FOLD)
        self._name_fold()

    def _show_tags(self, memory: Memory) -> None:
        strings = inspector_strings()["text"]
        clear_layout(self._tags_flow)
        for tag in memory.tags[:_TAGS]:
            shown = one_line(tag, 32)
            self._tags_flow.addWidget(
                make_button(
                    shown, self._make_searcher("tag", tag), kind="chip", hint=strings["search_tag"].format(tag=shown)
                )
            )
        if len(memory.tags) > _TAGS:
            self._tags_flow.addWidget(make_label(strings["more_tags"].format(count=len(memory.tags) - _TAGS), "small"))
        self._tags.setVisible(bool(memory.tags))

    def _make_searcher(self, key: str, value: str) -> Callable[[], None]:
        desk, library = self.context.desk, self.context.bridge.engine.library
        return lambda: desk.search.emit(library.with_term("", key, value))

    def _show_facts(self, memory: Memory) -> None:
        strings = inspector_strings()["text"]
        clear_layout(self._facts_flow)
        facts = (
            (strings["facts"]["space"], name_space(memory.space, 32)),
            (strings["facts"]["category"], one_line(memory.category, 32)),
            (strings["facts"]["importance"], f"{memory.importance:.2f}"),
        )
        for name, value in facts:
            pair = QWidget()
            make_column(pair, make_label(name, "small"), make_label(value), gap=0)
            pair.setAccessibleName(f"{name}: {value}")
            self._facts_flow.addWidget(pair)

    def mark_places(self, pointed: Pointed) -> None:
        """Let places of the text stand out; where they shall be seen, a fold that hides them opens."""
        length = 0 if self._memory is None else len(self._memory.text)
        places, against = (
            tuple(place for place in found if place[1] <= length) for found in (pointed.places, pointed.against)
        )
        self.view.mark_places(places, against)
        wanted = (*places, *against)
        if not pointed.reveals or not wanted or self.is_editing:
            return
        if self.view.is_folded and self.view.bottom_of(wanted[0]) > self.view.height():
            self._toggle_fold()
        self._scroll_to_place(wanted[0])

    def _scroll_to_place(self, place: tuple[int, int]) -> None:
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        content = None if area is None else area.widget()
        if area is not None and content is not None:
            inside = self.view.mapTo(content, QPoint(0, self.view.bottom_of(place)))
            area.ensureVisible(0, inside.y(), 0, 40)

    # ---- writing

    def open_editor(self) -> None:
        """Open the editor, or say why this text cannot be written anew."""
        memory = self._memory
        if memory is None or not self.editor.isHidden():
            return
        self.reading.hide()
        self.editor.open_with(memory.text)

    @property
    def is_editing(self) -> bool:
        """Whether the editor is open."""
        return not self.editor.isHidden()

    @property
    def is_dirty(self) -> bool:
        """Whether something was written that is not saved."""
        return self.editor.is_dirty

    def ask_unsaved(self, go_on: Callable[[], None], stay: Callable[[], None]) -> None:
        """Another memory is wanted while words are not saved: ask.

        Args:
            go_on: called once they are saved or given up.
            stay: called when the person goes on writing.
        """
        strings = inspector_strings()["text"]

        def save_and_leave() -> None:
            self._then = go_on
            self._save_text(self.editor.written)

        def discard_and_leave() -> None:
            self.discard_edit()
            go_on()

        def stay_here() -> None:
            self.dismiss_question()
            stay()
            self.editor.field.setFocus(Qt.FocusReason.OtherFocusReason)

        self._then = go_on  # Ctrl+Enter in the field is a Save too
        self.editor.show_question(
            (strings["save"], save_and_leave), (strings["discard"], discard_and_leave), (strings["stay"], stay_here)
        )

    def dismiss_question(self) -> None:
        """Take the question back: nobody wants to leave any more."""
        self._then = None
        if self.is_editing:
            self.editor.dismiss_question()

    def discard_edit(self) -> None:
        """Close the editor; what it held is gone."""
        self._then = None
        self.editor.clear_text()
        self.reading.show()

    def _cancel_edit(self) -> None:
        strings = inspector_strings()["text"]
        dropped = self.editor.written if self.editor.is_dirty else None
        memory = self._memory
        self.discard_edit()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        if dropped is not None and memory is not None:
            self.context.desk.show_message(
                strings["discarded"], strings["keep_editing"], lambda: self._reopen_editor(memory.id, dropped)
            )

    def _reopen_editor(self, memory_id: str, words: str) -> None:
        if self._memory is not None and self._memory.id == memory_id:
            self.open_editor()
            self.editor.field.setPlainText(words)

    def _save_text(self, text: str) -> None:
        memory = self._memory
        if memory is None:
            return
        if text == memory.text:
            self._leave_with(self.discard_edit)
            return
        self.editor.set_busy()
        library = self.context.bridge.engine.library
        task = make_write(
            inspector_strings()["tasks"]["save"], lambda: library.revise_memories((memory.id,), Revision(text=text))
        )
        self.context.tasks.run(task.within(self, "save").success(self._on_text_saved).failure(self._on_task_failed))

    def _leave_with(self, leave: Callable[[], None]) -> None:
        then = self._then
        leave()
        if then is not None:
            then()

    def _on_text_saved(self, report: RevisionReport) -> None:
        strings = inspector_strings()["text"]
        if report.step_id is None:
            reasons = " ".join(report.refused) or strings["unchanged"]
            self._then = None
            self.editor.show_problem(reasons)
            return
        then = self._then
        self.discard_edit()
        offer_undo(self.context, strings["saved"], report.step_id)
        if then is not None:
            then()
        else:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)  # else the page's first chip would get the keyboard
            self.context.selection.select(report.ids[0], _ORIGIN)

    def _on_task_failed(self, error: BaseException) -> None:
        self._then = None
        problem = problem_of(error)
        if problem is not None:
            self.editor.show_problem(problem.sentence)


TEXT = InspectorSectionSpec("text", 10, TextSection)
