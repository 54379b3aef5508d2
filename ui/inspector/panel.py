"""The inspector: follows the selection, reads the memory, shows it section by section; hidden, it reads nothing.

Must not do: know what a section shows; a section in which something can be written says so by `TextEditing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from core.errors import Code, LociError
from core.events import Changed
from core.types.memory import Belief
from core.types.replies import MemoryDetail
from core.types.sensitivity import SealedRow
from core.types.values import OWNER_ACTOR, Kind, Memory, SecurityTier, Status
from ui.bridge import make_query, problem_of
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec, Pointed
from ui.inspector.actions import MemoryActions
from ui.inspector.shared_widgets import EmptyInspector
from ui.seal_summary import SealedSummary
from ui.strings import inspector_strings, seal_strings, window_strings
from ui.widgets.basics import (
    Elided,
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_row,
    make_scroll_area,
    make_timer,
    make_tool_button,
)
from ui.widgets.labels import KIND_WORDS, STATUS_WORDS, describe_date, name_space, name_speaker
from ui.widgets.plaintext import one_line
from ui.widgets.shapes import KindMark
from ui.widgets.states import States

FOLLOW_MS = 60
_SLOW_MS = 200
_PART_MS = 20
"""Between two sections that are made while nothing is shown."""
_Part = tuple[InspectorSectionSpec, InspectorSection, QFrame]
_AGAIN_MS, _REST_MS = 150, 1_000
_FEW = 16
"""A change that names so few memories may have made a new version of the one that is shown: look again."""
_ORIGIN = "inspector"
_ROOM_NAME = 32


@runtime_checkable
class TextEditing(Protocol):
    """A section in which something can be written that is not saved yet."""

    @property
    def is_editing(self) -> bool:
        """Whether it is open for writing."""
        ...

    @property
    def is_dirty(self) -> bool:
        """Whether something would be lost."""
        ...

    def open_editor(self) -> None:
        """Open it for writing."""
        ...

    def ask_unsaved(self, go_on: Callable[[], None], stay: Callable[[], None]) -> None:
        """Ask what becomes of it: another memory is wanted."""
        ...

    def dismiss_question(self) -> None:
        """Take the question back."""
        ...

    def discard_edit(self) -> None:
        """Drop what is not saved."""
        ...


class RoomLink(QWidget):
    """Where a memory lies in the palace, as a link that leads there; nothing while it has no place."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context, self._memory_id = context, ""
        hint = inspector_strings()["room"]["hint"]
        self.button = make_button("", self._show_room, kind="link", hint=hint, theme=context.theme, icon="landmark")
        self.button.setProperty("flush", "true")
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.button.setMinimumWidth(1)  # a long name is cut: the page beside it needs its room
        make_row(self.button, None, parent=self)

    def show_place(self, detail: MemoryDetail) -> None:
        """Name the room and the wing of a memory."""
        self._memory_id, form = detail.memory.id, inspector_strings()["room"]["name"]
        words = form.format(room=one_line(detail.room, _ROOM_NAME), wing=name_space(detail.memory.space, _ROOM_NAME))
        self.button.setText(f"\u2009{words}".replace("&", "&&"))
        self.button.setAccessibleName(words)
        self.setVisible(bool(detail.room))

    def _show_room(self) -> None:
        self._context.desk.go.emit("palace", f"show:{self._memory_id}")


class _SectionColumn(QWidget):
    """The sections below each other, each made when the window has time for it, all of them when they are asked for.

    Attributes:
        made: those that are there, with the line above each.
    """

    def __init__(
        self, context: Context, specs: Sequence[InspectorSectionSpec], mark: Callable[[Pointed], None]
    ) -> None:
        super().__init__()
        self._context, self._mark = context, mark
        self._specs = sorted(specs, key=lambda spec: spec.order)
        self.made: list[_Part] = []
        self._inner = make_column(self, gap=16)
        self._inner.setContentsMargins(20, 4, 20, 20)
        self._make_soon = make_timer(self, self._make_next_part, _PART_MS)
        self.remove_parts()

    @property
    def sections(self) -> list[_Part]:
        """All of them, made now where they are not yet."""
        while len(self.made) < len(self._specs):
            self._make_part(self._specs[len(self.made)])
        return self.made

    def _make_next_part(self) -> None:
        if len(self.made) < len(self._specs):
            self._make_part(self._specs[len(self.made)])
            self._make_soon.start()

    def _make_part(self, spec: InspectorSectionSpec) -> None:
        section, line = spec.make(self._context), make_hairline()
        section.setObjectName(f"section-{spec.id}")
        section.pointed.connect(self._mark)
        for widget in (line, section):
            widget.hide()
            self._inner.insertWidget(self._inner.count() - 1, widget)
        section.installEventFilter(self)
        self.made.append((spec, section, line))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """The lines above sections come and go with them, also where one shows or hides itself later."""
        if event.type() in {QEvent.Type.HideToParent, QEvent.Type.ShowToParent}:
            self.show_lines()
        return False

    def show_lines(self) -> None:
        """A line above each section but the first that shows: above that there is nothing to be told from."""
        is_first = True
        for _, section, line in self.made:
            line.setVisible(not section.isHidden() and not is_first)
            is_first = is_first and section.isHidden()

    def remove_parts(self) -> None:
        """Their words go with them; new ones are made."""
        clear_layout(self._inner)
        self._inner.addStretch(1)
        self.made = []
        self._make_soon.start()


class Inspector(QFrame):
    """Everything about one memory."""

    def __init__(self, context: Context, sections: Sequence[InspectorSectionSpec]) -> None:
        """Make it.

        Args:
            sections: what it is made of.
        """
        super().__init__()
        self.setObjectName("inspector")
        self.setAccessibleName(inspector_strings()["title"])
        self._context = context
        self._wanted = ""
        self._shown: Inspected | None = None
        self._watched: frozenset[str] = frozenset()
        self._speaking: tuple[InspectorSection, ...] = ()
        self._asks = False
        self._is_behind = bool(context.selection.current)  # hidden, and there is something to read once it is shown
        self.actions_box = MemoryActions(context, self)
        self.actions_box.wanted.connect(self._show_selection)
        self.actions_box.editing.connect(self._start_edit)
        self._column = _SectionColumn(context, sections, self._mark_places)
        self._states = States(context.theme, self._build_content(), inspector_strings()["reading"])
        make_column(self, self._states)
        self._follow_soon = make_timer(self, self._show_selection, FOLLOW_MS)
        self._slow = make_timer(self, self._states.show_loading, _SLOW_MS)
        self._again_soon = make_timer(self, self._reload_shown, _AGAIN_MS)
        self._rest_soon = make_timer(self, self._reload_shown, _REST_MS)
        context.selection.changed.connect(self._on_selection_changed)
        context.bridge.changed.connect(self._on_vault_changed)
        context.bridge.state.connect(self._on_vault_state)
        context.theme.changed.connect(self._set_minimum_width)
        self._set_minimum_width()
        self._show_nothing()

    def _set_minimum_width(self) -> None:
        self.setMinimumWidth(280)  # not more at a larger text size: the page beside it needs its room
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as it is best read."""
        return QSize(self._context.theme.px(360), self._context.theme.px(600))

    # ---- what it is made of

    def _build_content(self) -> QWidget:
        theme = self._context.theme
        self._mark = KindMark(theme, Kind.FACT, 14)
        self.caps = Elided("", "label")
        self.date = Elided("", "small")
        self.room = RoomLink(self._context)
        menu = make_tool_button(theme, "ellipsis", inspector_strings()["actions"])
        menu.setMenu(self.actions_box.menu)
        menu.setPopupMode(menu.ToolButtonPopupMode.InstantPopup)
        title = make_row(self._mark, self.caps, menu, gap=8)
        title.setStretch(1, 1)
        header = make_column(None, gap=0)
        header.addLayout(title)
        header.addWidget(self.date)
        header.addWidget(self.room)
        header.setContentsMargins(20, 12, 12, 4)
        self.area = make_scroll_area(self._column)
        foot = make_column(None, self.actions_box.footer)
        foot.setContentsMargins(12, 12, 12, 12)
        content = QWidget()
        layout = make_column(content, gap=0)
        layout.addLayout(header)
        layout.addWidget(self.area, 1)
        layout.addWidget(make_hairline())
        layout.addLayout(foot)
        return content

    def _mark_places(self, pointed: Pointed) -> None:
        for _, section, _ in self._column.made:
            section.mark_places(pointed)

    def find_section(self, section_id: str) -> InspectorSection:
        """A section by its id.

        Raises:
            KeyError: there is none.
        """
        found = {spec.id: section for spec, section, _ in self._column.sections}
        return found[section_id]

    @property
    def inspected(self) -> Inspected | None:
        """What is shown; None for nothing."""
        return self._shown

    def _find_open_editor(self) -> TextEditing | None:
        """The section that is being written in."""
        open_ones = (
            section for _, section, _ in self._column.made if isinstance(section, TextEditing) and section.is_editing
        )
        return next(open_ones, None)

    # ---- following

    def _on_selection_changed(self, memory_id: str, _origin: str) -> None:
        is_read = bool(memory_id) or self._context.selection.summary is not None
        if is_read and not self.isVisible():
            self._is_behind = True
        elif memory_id:
            self._follow_soon.start()
        else:
            self._follow_soon.stop()
            self._show_selection()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """What was chosen or changed while nobody looked is read now."""
        super().showEvent(event)
        if self._is_behind:
            self._show_selection()

    def _show_selection(self) -> None:
        self._is_behind = False
        wanted, shown = self._context.selection.current, self._shown
        writing = self._find_open_editor()
        is_other = shown is not None and wanted != shown.memory.id
        if writing is not None and writing.is_dirty and is_other:
            self._asks = True
            writing.ask_unsaved(self._show_selection, self._keep_shown)
            return
        if writing is not None and self._asks:
            self._asks = False
            writing.dismiss_question()
        if writing is not None and is_other:
            writing.discard_edit()
        self._load_memory(wanted)

    def _keep_shown(self) -> None:
        self._asks = False
        if self._shown is not None:
            self._context.selection.select(self._shown.memory.id, _ORIGIN)

    def _load_memory(self, memory_id: str) -> None:
        self._wanted = memory_id
        self._again_soon.stop()
        self._rest_soon.stop()
        if not memory_id:
            self._show_nothing()
        elif self._context.bridge.is_open:
            if self._shown is None or self._shown.memory.id != memory_id:
                self._slow.start()
            else:
                _reload_sections(self._speaking)
            self._request_memory(memory_id)

    def _request_memory(self, memory_id: str) -> None:
        memories = self._context.bridge.engine.memories
        task = make_query(inspector_strings()["tasks"]["memory"], lambda: memories.show(memory_id, OWNER_ACTOR)).within(
            self, "show"
        )
        self._context.tasks.run(task.success(self._read_rest).failure(self._on_reading_failed))

    def _read_rest(self, detail: MemoryDetail) -> None:
        strings = inspector_strings()["tasks"]
        memories = self._context.bridge.engine.memories

        def read_belief(history: tuple[Memory, ...]) -> None:
            def show_belief(belief: Belief) -> None:
                self._show_inspected(Inspected(detail, history, belief))

            last = make_query(strings["memory"], lambda: memories.explain_trust(detail.memory.id)).within(self, "show")
            self._context.tasks.run(last.success(show_belief).failure(self._on_reading_failed))

        task = make_query(strings["memory"], lambda: memories.list_versions(detail.memory.id, OWNER_ACTOR)).within(
            self, "show"
        )
        self._context.tasks.run(task.success(read_belief).failure(self._on_reading_failed))

    def _reload_shown(self) -> None:
        if not self._wanted or not self._context.bridge.is_open:
            return
        if self._shown is None:
            self._request_memory(self._wanted)  # it was gone, sealed or could not be read, and may be back
        else:
            _reload_sections(self._speaking)
            self._request_memory(self._wanted)

    def _on_vault_changed(self, change: Changed) -> None:
        if not self._wanted:
            return
        is_near = len(change.ids) <= _FEW or not (self._watched | {self._wanted}).isdisjoint(change.ids)
        if not self.isVisible():
            self._is_behind = True
        elif is_near:
            self._again_soon.start()
        else:
            # Trigger: many others changed, as in an import or where one is taken back. Why: what they say may bear on
            # this one, and it is not among them. Outcome: it is read again, once they have come to rest.
            self._rest_soon.start()

    def _on_vault_state(self, state: str) -> None:
        if state != "open":
            self._context.selection.current = ""
            self._context.selection.summary = None
            self._wanted = ""
            for timer in (self._follow_soon, self._again_soon, self._rest_soon):
                timer.stop()
            self._show_nothing()
            self._column.remove_parts()

    def _start_edit(self) -> None:
        if not self.isVisible():
            self.show()
        section = next((section for _, section, _ in self._column.sections if isinstance(section, TextEditing)), None)
        if section is not None and self._shown is not None:
            self.area.verticalScrollBar().setValue(0)
            section.open_editor()

    # ---- showing

    def _show_inspected(self, inspected: Inspected) -> None:
        before, memory = self._shown, inspected.memory
        if memory.id != self._wanted:
            return
        self._slow.stop()
        if before is not None and before.memory.id == memory.id:
            if before == inspected:
                self._states.show_content()
                return
            if _was_replaced(before.memory, memory) and self._find_open_editor() is None:
                self._context.selection.select(memory.superseded_by_id or "", _ORIGIN)
                return
        self._shown = inspected
        others = {str(edge["other"]) for edge in inspected.detail.edges}
        sides = {item.other.id for item in inspected.belief.opposed if item.other is not None}
        self._watched = frozenset({memory.id, *(version.id for version in inspected.history), *others, *sides})
        if before is None or before.memory.id != memory.id:
            self._mark_places(Pointed())
        self._show_caption(memory)
        self.room.show_place(inspected.detail)
        speaking = list[InspectorSection]()
        for spec, section, _ in self._column.sections:
            has = memory.kind in spec.kinds and section.show_memory(inspected)
            speaking += [section] if has else []
            section.setVisible(has)
        self._column.show_lines()
        self._speaking = tuple(speaking)
        if before is None or before.memory.id != memory.id:
            self.area.verticalScrollBar().setValue(0)
        self._states.show_content()
        self.actions_box.show_memory(memory)

    def _show_caption(self, memory: Memory) -> None:
        self._mark.show_kind(memory.kind)
        words = [
            KIND_WORDS[memory.kind],
            STATUS_WORDS[memory.status],
            *([inspector_strings()["pinned"]] if memory.pinned else []),
            *([inspector_strings()["tiers"][memory.tier.value]] if memory.tier is not SecurityTier.CLEARTEXT else []),
        ]
        self.caps.set_text(" · ".join(words).upper())
        who = name_speaker(memory.author, memory.role, is_edited=memory.is_edited)
        when = describe_date(memory.occurred, memory.recorded_at)
        self.date.set_text(f"{who} · {when}" if who else when)

    def _clear_shown(self) -> None:
        """Forget which memory it was, and what was being written."""
        self._slow.stop()
        self._shown, self._watched, self._speaking, self._asks = None, frozenset(), (), False
        for _, section, _ in self._column.made:
            if isinstance(section, TextEditing):
                section.discard_edit()
        self.actions_box.show_memory(None)

    def _show_nothing(self) -> None:
        self._clear_shown()
        make = self._context.selection.summary
        if make is not None:
            self._states.show_empty(make())
            return
        strings = inspector_strings()["nothing"]
        state = EmptyInspector(self._context.theme, "panel-right", strings["title"], strings["sentence"])
        self._states.show_empty(state)

    def _on_reading_failed(self, error: BaseException) -> None:
        strings = inspector_strings()["gone"]
        self._slow.stop()
        before = self._shown
        is_gone = isinstance(error, LociError) and error.code is Code.NOT_FOUND
        if is_gone and before is not None and before.memory.id == self._wanted and before.memory.supersedes_id:
            # Its making was undone: the version before it is current again.
            older = before.memory.supersedes_id
            self._clear_shown()
            self._context.selection.select(older, _ORIGIN)
            return
        problem = problem_of(error)
        if problem is None:
            return
        self._clear_shown()
        if is_gone:
            words = strings["sentence"]
            self._states.show_empty(EmptyInspector(self._context.theme, "eye-off", strings["title"], words))
            self._request_sealed(self._wanted)
        else:
            again = (window_strings()["buttons"]["retry"], lambda: self._load_memory(self._wanted))
            self._states.show_empty(
                EmptyInspector(
                    self._context.theme,
                    "triangle-alert",
                    problem.sentence,
                    inspector_strings()["code"].format(code=problem.code),
                    again,
                )
            )

    def _request_sealed(self, memory_id: str) -> None:
        """What is no memory any more may be a sealed one: then what is said of it in the clear is shown."""

        def show_sealed(rows: tuple[SealedRow, ...]) -> None:
            row = next((one for one in rows if one.id == memory_id == self._wanted), None)
            if row is not None and self._shown is None:
                self._states.show_empty(SealedSummary(self._context, row))

        task = make_query(seal_strings()["task"], self._context.bridge.engine.seal.list_rows).within(self, "sealed")
        self._context.tasks.run(task.success(show_sealed).failure(lambda _: None))


def _reload_sections(sections: Iterable[InspectorSection]) -> None:
    """What sections read by themselves."""
    for section in sections:
        section.reload()


def _was_replaced(before: Memory, now: Memory) -> bool:
    """Whether a newer version took a memory's place while it was looked at."""
    return (
        now.status is Status.SUPERSEDED and before.status is not Status.SUPERSEDED and now.superseded_by_id is not None
    )
