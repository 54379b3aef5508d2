"""The section that says with what a memory may belong together: a note, which asks for nothing and is never counted.

One press links the two, lets one replace the other, or dismisses the note. Must not do: decide by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QFrame, QWidget

from core.types.memory import OpenConflict
from core.types.reviews import Decision, DecisionReply
from core.types.values import OWNER_ACTOR, Action
from ui.bridge import make_write
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.strings import belief_strings, inspector_strings
from ui.undo import offer_undo
from ui.widgets.basics import FlowLayout, clear_layout, make_button, make_column, make_label
from ui.widgets.plaintext import one_line

_HEAD = 160
_ORIGIN = "inspector"
_DONE = {Action.KEEP_BOTH: "linked", Action.SUPERSEDE: "was_replaced", Action.SKIP: "dismissed"}


class NoteBox(QFrame):
    """One memory that this one may belong together with, and what can be done about it."""

    def __init__(self, item: OpenConflict, look: Callable[[str], None], decide: Callable[[str, Action], None]) -> None:
        """Make it.

        Args:
            look: called with the other's id.
            decide: called with the note's id and what is decided.
        """
        super().__init__()
        self.setObjectName("banner")
        self.setProperty("tone", "plain")
        strings = belief_strings()["opposed"]
        other, excerpt = item.other, "" if item.other is None else one_line(item.other.text, _HEAD)
        layout = make_column(self, make_label(excerpt, wrap=True), gap=8, margins=12)
        links = QWidget()
        flow = FlowLayout(links, gap=4)
        replaces = strings["replace" if item.is_newcomer else "replaced"]
        for words, action in (
            (strings["link"], Action.KEEP_BOTH),
            (replaces, Action.SUPERSEDE),
            (strings["dismiss"], Action.SKIP),
        ):
            flow.addWidget(make_button(words, partial(decide, item.item_id, action), kind="ghost"))
        if other is not None:
            flow.addWidget(make_button(strings["look"], lambda: look(other.id), kind="ghost"))
        layout.addWidget(links)
        self.setAccessibleName(f"{strings['note']}: {excerpt}")


class NotesSection(InspectorSection):
    """What a memory may belong together with."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._drawn: tuple[object, ...] = ()
        self._inner = make_column(gap=8)
        layout = make_column(self, make_label(belief_strings()["opposed"]["note"], "label"), gap=8)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether anything is noted about it.
        """
        notes = inspected.belief.notes
        drawn = (inspected.memory.id, notes)
        if drawn != self._drawn:
            self._drawn = drawn
            clear_layout(self._inner)
            for item in notes:
                self._inner.addWidget(NoteBox(item, self._select_memory, self._decide))
        return bool(notes)

    def _decide(self, item_id: str, action: Action) -> None:
        conflicts = self.context.bridge.engine.conflicts
        task = make_write(
            inspector_strings()["tasks"]["decide"], lambda: conflicts.resolve(item_id, Decision(action), OWNER_ACTOR)
        )

        def show_decided(done: DecisionReply) -> None:
            if done.step_id is not None:
                offer_undo(self.context, str(belief_strings()["opposed"][_DONE[action]]), done.step_id)

        self.context.tasks.run(task.success(show_decided))

    def _select_memory(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)


NOTES = InspectorSectionSpec("notes", 39, NotesSection)
