"""The part that shows a memory's text, and in the same place lets it be written anew.

Must not do: interpret the text, or keep unsaved words once the vault is locked.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from core.types.values import Memory
from core.types.views import Revision, RevisionReport
from ui.context import Context, Inspected, Part, PartSpec, Pointed
from ui.inspector.memory_link import flush
from ui.inspector.text.editor import Editor
from ui.inspector.text.text_view import TextView, runs_of
from ui.tasks import problem_of, write
from ui.undo import offer_undo
from ui.widgets.basics import FlowLayout, button, clear, column, label
from ui.widgets.plaintext import has_marks, one_line
from ui.widgets.states import Banner
from ui.widgets.words import count_of

SHORT = 200
"""Characters up to which a text is set large."""
FOLD = 12
"""Lines after which a long text is folded."""
_TAGS = 24
_ORIGIN = "inspector"


class TextPart(Part):
    """Text, tags, where it is kept; or the editor."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._memory: Memory | None = None
        self._then: Callable[[], None] | None = None
        self.hidden = Banner("This text holds characters that cannot be seen. They stand as marks.", "warning")
        self.view = TextView(context.theme, "Text of the memory")
        self.fold = button("", self._toggle, kind="link")
        self.view.fitted.connect(self._name_fold)
        self._tags = QWidget()
        self._tags_flow = FlowLayout(self._tags, gap=6)
        self._facts = QWidget()
        self._facts_flow = FlowLayout(self._facts, gap=20)
        self.reading = QWidget()
        inner = column(self.reading, self.view, gap=12)
        inner.addLayout(flush(self.fold, None))
        for widget in (self.hidden, self._tags, self._facts):
            inner.addWidget(widget)
        self.editor = Editor(context.theme)
        self.editor.hide()
        self.editor.save.connect(self._save)
        self.editor.cancel.connect(self._cancel)
        column(self, self.reading, self.editor)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show it; an editor that is open for the same memory stays.

        Args:
            inspected: what.

        Returns:
            True.
        """
        memory = inspected.memory
        is_same = self._memory is not None and self._memory.id == memory.id
        if not is_same:
            self.stop()
        if not is_same or self._memory is None or self._memory.text != memory.text:
            is_short = len(memory.text) <= SHORT
            self.view.show_runs(runs_of(memory.text), "quote" if is_short else "body", 0 if is_short else FOLD)
        self._memory = memory
        self.hidden.setVisible(has_marks(memory.text))
        self._name_fold()
        self._show_tags(memory)
        self._show_facts(memory)
        return True

    def _name_fold(self) -> None:
        if self._memory is None:
            return
        is_long = len(self._memory.text) > SHORT
        whole = f"Show all {count_of(len(self._memory.text), 'character')}"
        words = whole if self.view.is_folded else "Show less"
        self.fold.setText(words)
        self.fold.setAccessibleName(words)
        self.fold.setVisible(is_long and (self.view.is_folded or self.view.is_unfolded_beyond(FOLD)))

    def _toggle(self) -> None:
        self.view.fold(0 if self.view.is_folded else FOLD)
        self._name_fold()

    def _show_tags(self, memory: Memory) -> None:
        clear(self._tags_flow)
        for tag in memory.tags[:_TAGS]:
            shown = one_line(tag, 32)
            self._tags_flow.addWidget(
                button(shown, self._searcher("tag", tag), kind="chip", hint=f"Search for the tag {shown}")
            )
        if len(memory.tags) > _TAGS:
            self._tags_flow.addWidget(label(f"and {len(memory.tags) - _TAGS} more", "small"))
        self._tags.setVisible(bool(memory.tags))

    def _searcher(self, key: str, value: str) -> Callable[[], None]:
        desk, library = self.context.desk, self.context.bridge.engine.library
        return lambda: desk.search.emit(library.with_term("", key, value))

    def _show_facts(self, memory: Memory) -> None:
        clear(self._facts_flow)
        facts = (
            ("Space", one_line(memory.space, 32)),
            ("Category", one_line(memory.category, 32)),
            ("Importance", f"{memory.importance:.2f}"),
        )
        for name, value in facts:
            pair = QWidget()
            column(pair, label(name, "small"), label(value), gap=0)
            pair.setAccessibleName(f"{name}: {value}")
            self._facts_flow.addWidget(pair)

    def point(self, pointed: Pointed) -> None:
        """Let places of the text stand out; where they shall be seen, a fold that hides them opens.

        Args:
            pointed: which.
        """
        length = 0 if self._memory is None else len(self._memory.text)
        places, against = (
            tuple(place for place in found if place[1] <= length) for found in (pointed.places, pointed.against)
        )
        self.view.point_at(places, against)
        wanted = (*places, *against)
        if not pointed.reveals or not wanted or self.is_editing:
            return
        if self.view.is_folded and self.view.bottom_of(wanted[0]) > self.view.height():
            self._toggle()
        self._bring_into_sight(wanted[0])

    def _bring_into_sight(self, place: tuple[int, int]) -> None:
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        held = None if area is None else area.widget()
        if area is not None and held is not None:
            inside = self.view.mapTo(held, QPoint(0, self.view.bottom_of(place)))
            area.ensureVisible(0, inside.y(), 0, 40)

    # ---- writing

    def edit(self) -> None:
        """Open the editor, or say why this text cannot be written anew."""
        memory = self._memory
        if memory is None or not self.editor.isHidden():
            return
        self.reading.hide()
        self.editor.begin(memory.text)

    @property
    def is_editing(self) -> bool:
        """Whether the editor is open."""
        return not self.editor.isHidden()

    @property
    def is_dirty(self) -> bool:
        """Whether something was written that is not saved."""
        return self.editor.is_dirty

    def ask(self, go_on: Callable[[], None], stay: Callable[[], None]) -> None:
        """Another memory is wanted while words are not saved: ask.

        Args:
            go_on: called once they are saved or given up.
            stay: called when the person goes on writing.
        """

        def save() -> None:
            self._then = go_on
            self._save(self.editor.written)

        def discard() -> None:
            self.stop()
            go_on()

        def back() -> None:
            self.calm()
            stay()
            self.editor.field.setFocus(Qt.FocusReason.OtherFocusReason)

        self._then = go_on  # Ctrl+Enter in the field is a Save too
        self.editor.ask(("Save", save), ("Discard", discard), ("Stay here", back))

    def calm(self) -> None:
        """Take the question back: nobody wants to leave any more."""
        self._then = None
        if self.is_editing:
            self.editor.calm()

    def stop(self) -> None:
        """Close the editor; what it held is gone."""
        self._then = None
        self.editor.stop()
        self.reading.show()

    def _cancel(self) -> None:
        dropped = self.editor.written if self.editor.is_dirty else None
        memory = self._memory
        self.stop()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        if dropped is not None and memory is not None:
            self.context.desk.say("Your change was dropped.", "Go on writing", lambda: self._reopen(memory.id, dropped))

    def _reopen(self, memory_id: str, words: str) -> None:
        if self._memory is not None and self._memory.id == memory_id:
            self.edit()
            self.editor.field.setPlainText(words)

    def _save(self, text: str) -> None:
        memory = self._memory
        if memory is None:
            return
        if text == memory.text:
            self._leave_with(self.stop)
            return
        self.editor.busy()
        library = self.context.bridge.engine.library
        task = write("Saving a text", lambda: library.revise((memory.id,), Revision(text=text)))
        self.context.tasks.run(task.within(self, "save").success(self._saved).failure(self._failed))

    def _leave_with(self, leave: Callable[[], None]) -> None:
        then = self._then
        leave()
        if then is not None:
            then()

    def _saved(self, report: RevisionReport) -> None:
        if report.step_id is None:
            reasons = " ".join(report.refused) or "Nothing changed: the text is like that already."
            self._then = None
            self.editor.say(reasons)
            return
        then = self._then
        self.stop()
        offer_undo(self.context, "Saved. The old version stays in its history.", report.step_id)
        if then is not None:
            then()
        else:
            self.context.selection.select(report.ids[0], _ORIGIN)

    def _failed(self, error: BaseException) -> None:
        self._then = None
        problem = problem_of(error)
        if problem is not None:
            self.editor.say(problem.sentence)


TEXT = PartSpec("text", 10, TextPart)
