"""The Entities page: named things with a search and a filter by type; of one its names, mentions, mergers.

Must not do: know another page, or merge anything that was not shown before.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QLineEdit,
    QSplitter,
    QWidget,
)

from core.types.entities import (
    EntityCard,
    EntityChange,
    EntityList,
    EntityMerged,
    EntityQuery,
    EntityRevised,
    EntityView,
    MergePreview,
)
from core.types.lifecycle import DistilledTalk
from core.types.memory import ErasureRequest, ErasureSubject
from ui.bridge import make_query, make_write
from ui.context import Context, PageSpec, RefreshingPage
from ui.erasure import ask_erasure
from ui.pages.entities.detail import EntityDetail
from ui.pages.entities.dialogs import ChangeDialog, EntityMergeDialog
from ui.pages.entities.labels import describe_reading, entity_list, entity_row, entity_type_name
from ui.strings import entities_strings, format_count
from ui.undo import offer_undo, undo_step
from ui.widgets.basics import MenuChip, Stack, make_column, make_label, make_row, make_scroll_area, make_timer
from ui.widgets.labels import name_space
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States

ORIGIN = "entities"
_TYPED_MS, _READING_MS = 150, 1500
_ALL = ""
_TYPE = "type:"
_NAME = 60


class EntitiesPage(RefreshingPage):
    """The Entities page."""

    refresh_ms = 250

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        theme, strings = context.theme, entities_strings()
        self._is_read = False
        self._target = self.entity_id = ""
        self.search = QLineEdit()
        self.search.setPlaceholderText(strings["search"])
        self.search.setAccessibleName(strings["search"])
        self.search.setClearButtonEnabled(True)
        self.types = MenuChip(theme, entities_strings()["type"], self._type_choices({}), _ALL)
        self.count = make_label("", "muted")
        self.list = entity_list(theme, strings["list"])
        self.detail = EntityDetail(theme)
        self._choose = make_label(strings["choose"], "muted", wrap=True)
        self._choose.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._right = Stack()
        self._right.addWidget(self._choose)
        # With large text all that is known of one is higher than a small window: it scrolls then, nothing grows.
        self._detail_area = make_scroll_area(self.detail)
        self._right.addWidget(self._detail_area)
        self._list_states = States(theme, self.list, entities_strings()["reading_names"])
        self.states = States(theme, self._build_content(), entities_strings()["reading_names"])
        self._build_layout()
        self._typed = make_timer(self, self.reload, _TYPED_MS)
        self._reading = make_timer(self, self.reload, _READING_MS)
        self.search.textChanged.connect(lambda _: self._typed.start())
        self.search.returnPressed.connect(self.list.setFocus)
        self.types.chosen.connect(lambda _: self.reload())
        self.list.looked_at_id.connect(self.show_entity)
        self.detail.memory_asked.connect(lambda memory_id: context.selection.select(memory_id, ORIGIN))
        self.detail.make_asked.connect(self.make_statements)
        self.detail.change_asked.connect(self._ask_change)
        self.detail.merge_asked.connect(self._ask_merge)
        self.detail.erase_asked.connect(lambda: _ask_erasure(self))
        self.detail.apart_asked.connect(lambda step: undo_step(context, step))
        self.detail.separate_asked.connect(self.separate_entity)

    def _build_content(self) -> QWidget:
        left, split = QWidget(), QSplitter(Qt.Orientation.Horizontal)
        box = make_column(left, self.search, gap=8)
        box.setContentsMargins(0, 0, 8, 0)
        box.addLayout(make_row(self.types, None))
        box.addWidget(self._list_states, 1)
        right = QWidget()
        shell = make_column(right, self._right)
        shell.setContentsMargins(16, 0, 0, 0)
        left.setMinimumWidth(self.context.theme.px(220))
        split.addWidget(left)
        split.addWidget(right)
        split.setChildrenCollapsible(False)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        return split

    def _build_layout(self) -> None:
        layout = make_column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 16)
        header = make_row(make_label(entities_strings()["title"], "title"), self.count, None, gap=10)
        header.addStrut(self.context.theme.px(self.context.theme.tokens.sizes.control))
        layout.addLayout(header)
        layout.addWidget(self.states, 1)

    # ---- the page's life

    def activate(self, target: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            target: an entity's id, to look at that one; `type:` and a type, to see those; "" for none.
        """
        kind = target.removeprefix(_TYPE) if target.startswith(_TYPE) else ""
        if kind in entities_strings()["types"]:
            self.search.clear()
            self.types.show_choice(kind)
        super().activate(target)
        self._target = "" if kind else target
        if self.is_stale or target or not self._is_read:
            self.reload()
        self.list.setFocus()

    def deactivate(self) -> None:
        """Another page is shown: nothing runs here any more."""
        super().deactivate()
        self._typed.stop()
        self._reading.stop()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        shown = self.detail.view
        is_looked = not self.entity_id or (shown is not None and shown.card.id == self.entity_id)
        return self._is_read and is_looked and not self._refresh.isActive() and not self._typed.isActive()

    def reload_stale(self) -> None:
        """Names come and go with memories."""
        self.reload()

    # ---- the list

    def reload(self) -> None:
        """Read the list as it is."""
        self.is_stale = False
        if not self._is_read:
            self.states.show_loading()
        kinds = (self.types.current,) if self.types.current else ()
        wanted, entities = EntityQuery(self.search.text(), kinds), self.context.bridge.engine.entities
        task = make_query(entities_strings()["tasks"]["names"], lambda: entities.list_entities(wanted)).within(
            self, "list"
        )
        self.context.tasks.run(task.success(self._show_names).failure(self._show_failure))

    def _show_names(self, found: EntityList) -> None:
        self._is_read = True
        reading = describe_reading(found)
        if reading and self._is_shown:  # a run of derived data tells of no change
            self._reading.start()
        if not found.known:
            self._show_none(reading)
            return
        self.states.show_content()
        self.types.set_choices(self._type_choices(found.by_type), self.types.current)
        form = entities_strings()["count_some" if found.total > len(found.lines) else "count"]
        count_text = format_count(form, found.total, shown=len(found.lines))
        self.count.setText(" · ".join(part for part in (count_text, reading) if part))
        wanted = self._target or self.entity_id or (found.lines[0].id if found.lines else "")
        self._target = ""
        if found.lines:
            self._list_states.show_content()
            self.list.show_lines([entity_row(one) for one in found.lines], wanted=wanted)
        else:
            strings = entities_strings()["empty_filter"]
            again = (entities_strings()["empty_filter"]["act"], self._show_all)
            self._list_states.show_empty(
                EmptyState(self.context.theme, "filter", strings["title"], strings["sentence"], again)
            )
        if wanted:
            self.show_entity(wanted, again=True)

    def _show_none(self, reading: str) -> None:
        strings = entities_strings()
        self.entity_id, self.detail.view = "", None
        title, sentence = strings["empty"]["title"], strings["empty"]["sentence"]
        if reading:
            title, sentence = reading, strings["reading_sentence"]
        self.count.setText("")
        self.states.show_empty(EmptyState(self.context.theme, "users", title, sentence))

    def _type_choices(self, by_type: object) -> dict[str, str]:
        counts = by_type if isinstance(by_type, dict) else {}
        named = {kind: f"{look['many']} ({counts.get(kind, 0)})" for kind, look in entities_strings()["types"].items()}
        return {_ALL: str(entities_strings()["all_types"]), **named}

    def _show_all(self) -> None:
        self.types.show_choice(_ALL)
        self.search.clear()
        self.reload()

    def _show_failure(self, error: BaseException) -> None:
        self.states.show_failure(error, self.reload, self.context.desk.show_message if self._is_read else None)

    # ---- the entity

    def show_entity(self, entity_id: str, *, again: bool = False) -> None:
        """Look at an entity.

        Args:
            again: also where it is looked at already.
        """
        if entity_id == self.entity_id and not again:
            return
        self.entity_id = entity_id
        entities = self.context.bridge.engine.entities
        task = make_query(entities_strings()["tasks"]["entity"], lambda: entities.read_detail(entity_id)).within(
            self, "detail"
        )
        self.context.tasks.run(task.success(self._show_view).failure(self._on_entity_missing))

    def _show_view(self, view: EntityView) -> None:
        if self.entity_id in {part.id for part in view.parts}:
            self.entity_id = view.card.id  # several spaces have it, and it is known by another of them
            self.list.select_rows(self.entity_id)
        if view.card.id != self.entity_id:
            return
        if view.card.merged_into is not None:
            self.show_entity(view.card.merged_into)
            return
        self.detail.show_view(view)
        self._right.setCurrentWidget(self._detail_area)

    def _on_entity_missing(self, _error: BaseException) -> None:
        self.entity_id, self.detail.view = "", None
        self._right.setCurrentWidget(self._choose)

    # ---- what can be done

    def make_statements(self) -> None:
        """Make statements of what was said; the page shows them once they are there."""
        engine = self.context.bridge.engine
        task = make_write(str(entities_strings()["known"]["make"]), engine.statements.run)
        self.context.tasks.run(task.success(self._on_statements_made))

    def _on_statements_made(self, done: DistilledTalk) -> None:
        strings, count = entities_strings()["known"], len(done.statements)
        sentence = format_count(strings["made"], count) if count else str(strings["made_none"])
        self.context.desk.show_message(sentence)
        self._refresh.start()

    def _ask_change(self) -> None:
        if self.detail.view is not None:
            view = self.detail.view
            dialog = ChangeDialog(self.context, view.card, self, [part.space for part in view.parts])
            dialog.agreed.connect(lambda change: self.change_entity(view.card, change))
            dialog.open()

    def change_entity(self, card: EntityCard, change: EntityChange) -> None:
        """Change names and type, in all spaces that have it.

        Args:
            change: from the dialog.
        """
        entities = self.context.bridge.engine.entities
        task = make_write(entities_strings()["tasks"]["change"], lambda: entities.revise(card.id, change))
        strings, name = entities_strings()["change"]["done"], one_line(change.name or card.name, _NAME)
        sentence = str(strings["names"])
        if change.type not in (None, card.type):
            sentence = str(strings["type"]).format(name=name, type=entity_type_name(str(change.type)))
        self.context.tasks.run(task.success(lambda done: self._on_revised(done, sentence)))

    def separate_entity(self, entity_id: str) -> None:
        """Keep what one space has apart from what others of the same name have.

        Args:
            entity_id: the entity of the one space.
        """
        view = self.detail.view
        part = None if view is None else next((one for one in view.parts if one.id == entity_id), None)
        if part is None:
            return
        entities, form = self.context.bridge.engine.entities, str(entities_strings()["parts"]["done"])
        sentence = form.format(name=one_line(part.name, _NAME), space=name_space(part.space, _NAME))
        task = make_write(entities_strings()["tasks"]["separate"], lambda: entities.separate(entity_id))
        self.context.tasks.run(task.success(lambda done: self._on_revised(done, sentence)))

    def _on_revised(self, done: EntityRevised, sentence: str) -> None:
        if done.step_id is not None:
            offer_undo(self.context, sentence, done.step_id)
        self._refresh.start()

    def _ask_merge(self, wanted: str = "") -> None:
        if self.detail.view is not None:
            dialog = EntityMergeDialog(self.context, self.detail.view.card, self, wanted)
            dialog.agreed.connect(self.merge_entities)
            dialog.open()

    def merge_entities(self, seen: MergePreview) -> None:
        """Merge one into another, as it was shown.

        Args:
            seen: what the person agreed to.
        """
        entities, other, keep = self.context.bridge.engine.entities, seen.other.id, seen.keep.id
        task = make_write(entities_strings()["tasks"]["merge"], lambda: entities.merge(other, keep, widen=seen.lifted))
        self.context.tasks.run(task.success(self._on_entities_merged))

    def _on_entities_merged(self, done: EntityMerged) -> None:
        self._target = done.target_id
        if done.step_id is not None:
            sentence = format_count(entities_strings()["merge"]["done"], done.mentions)
            offer_undo(self.context, sentence, done.step_id)
        self._refresh.start()


def _ask_erasure(page: EntitiesPage) -> None:
    """Ask whether all about the entity that is looked at shall be erased."""
    view = page.detail.view
    if view is not None:
        request = ErasureRequest(ErasureSubject.ENTITY, (view.card.id,))
        ask_erasure(page.context, request, "about", view.card.name, page, lambda _: page.reload())


ENTITIES = PageSpec("entities", entities_strings, "users", EntitiesPage, on_request=True)
