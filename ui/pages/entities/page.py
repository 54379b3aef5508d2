"""The Entities page: named things with a search and a filter by type; of one its names, mentions, mergers.

Must not do: know another page, or merge anything that was not shown before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core.events import Changed
from core.types.entities import (
    EntityCard,
    EntityChange,
    EntityLine,
    EntityList,
    EntityMerged,
    EntityQuery,
    EntityView,
    MergePreview,
)
from ui.context import Context, Page, PageSpec
from ui.pages.entities.dialogs import ChangeDialog, MergeDialog
from ui.pages.entities.words import (
    alike_words,
    claim_line,
    entity_line,
    entity_list,
    fit_height,
    joined_words,
    place_line,
    subtitle,
    unread_words,
)
from ui.strings import entities_strings
from ui.tasks import query, write
from ui.theme.theme import Theme
from ui.undo import offer_undo, take_back
from ui.widgets.basics import Elided, MenuChip, button, column, label, make_timer, row
from ui.widgets.plaintext import one_line
from ui.widgets.states import EmptyState, States
from ui.widgets.words import count_of

_BESIDE = 480


class DuplicateHint(QFrame):
    """A sentence that names a possible duplicate, and the button that leads to merging.

    Signals:
        merge_asked: id of the one to look at merging with first.
    """

    merge_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._first = theme, ""
        self.setObjectName("panel")
        self.told = Elided("", "body")
        self.act = button(entities_strings()["alike"]["act"], self._ask, theme=theme, icon="git-merge")
        self._box = row(self.told, self.act, parent=self, gap=8)
        self._box.setContentsMargins(12, 8, 12, 8)
        self._box.setStretch(0, 1)
        self.hide()

    def show_alike(self, card: EntityCard, found: Sequence[EntityLine]) -> None:
        """Show those that may be the same.

        Args:
            card: the entity that is looked at.
            found: the others; none hides the hint.
        """
        self.setVisible(bool(found))
        if found:
            self._first = found[0].id
            self.told.say(alike_words(card, found))
            self.act.setAccessibleDescription(self.told.whole)

    def _ask(self) -> None:
        self.merge_asked.emit(self._first)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow the button stands under the sentence."""
        super().resizeEvent(event)
        is_wide = self.width() >= self._theme.px(_BESIDE)
        self._box.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)


_NAME = 80
_CLAIMS = 3  # seen at once, so that the mentions keep their place


class Detail(QFrame):
    """One entity with its names, mentions, claims and mergers.

    Signals:
        memory_asked: id of a memory to look at.
        change_asked: names shall be changed.
        merge_asked: it shall be merged into another: the id of the one that may be it, or "".
        apart_asked: the undo step that takes a merge apart.
    """

    memory_asked = Signal(str)
    change_asked = Signal()
    merge_asked = Signal(str)
    apart_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        said = entities_strings()
        self._theme = theme
        self.view: EntityView | None = None
        self.title, self.about = Elided("", "section"), Elided("", "muted")
        self.others = label("", "small", wrap=True)
        self.change = button("Change names", self.change_asked.emit, theme=theme, icon="pencil")
        ask = partial(self.merge_asked.emit, "")
        self.merge = button(said["merge"]["open"], ask, theme=theme, icon="git-merge", hint=said["merge"]["title"])
        self.alike = DuplicateHint(theme)
        self.alike.merge_asked.connect(self.merge_asked)
        self.places = entity_list(theme, said["places"])
        self.claims = entity_list(theme, said["claims"])
        self._no_places, self._no_claims = label(said["no_places"], "muted"), label("", "muted", wrap=True)
        self.joined = QWidget()
        self._joined_box = column(self.joined, gap=4)
        for made in (self.places, self.claims):
            made.looked_at_id.connect(self.memory_asked)
            made.opened.connect(lambda row: self.memory_asked.emit(row.id))
        layout = column(self, margins=0, gap=6)
        layout.addWidget(self.title)
        layout.addWidget(self.about)
        layout.addWidget(self.others)
        layout.addLayout(row(self.change, self.merge, None))
        layout.addWidget(self.alike)
        layout.addSpacing(6)
        layout.addWidget(label(said["claims"], "label"))
        layout.addWidget(self._no_claims)
        layout.addWidget(self.claims)
        layout.addSpacing(6)
        layout.addWidget(label(said["places"], "label"))
        layout.addWidget(self._no_places)
        layout.addWidget(self.places, 1)
        layout.addWidget(self.joined)
        self._layout: QVBoxLayout = layout
        self._layout.addStretch()
        theme.changed.connect(lambda: fit_height(self.claims, _CLAIMS))

    def show_view(self, view: EntityView) -> None:
        """Show an entity."""
        same = self.view is not None and self.view.card.id == view.card.id
        self.view, card = view, view.card
        self.title.say(one_line(card.name, _NAME))
        self.about.say(subtitle(card, view.mentions))
        self.others.setText("Also: " + ", ".join(one_line(name, _NAME) for name in card.aliases))
        self.others.setVisible(bool(card.aliases))
        with QSignalBlocker(self):  # what is chosen already is not asked for again
            if not same:
                self.places.choose()
                self.claims.choose()
            self.places.show_lines([place_line(one) for one in view.places])
            self.claims.show_lines([claim_line(one) for one in view.claims])
        for made, none, has in (
            (self.places, self._no_places, view.places),
            (self.claims, self._no_claims, view.claims),
        ):
            made.setVisible(bool(has))
            none.setVisible(not has)
        self._no_claims.setText(unread_words(view))
        fit_height(self.claims, _CLAIMS)
        self.alike.show_alike(card, view.alike)
        self._show_joined(view)

    def _show_joined(self, view: EntityView) -> None:
        while (item := self._joined_box.takeAt(0)) is not None:
            _clear(item.widget())
        self.joined.setVisible(bool(view.joined))
        if not view.joined:
            return
        self._joined_box.addWidget(label(entities_strings()["joined"], "label"))
        for one in view.joined:
            line = QWidget()
            box: QHBoxLayout = row(Elided(joined_words(one)), parent=line)
            if one.step_id:
                apart = button(entities_strings()["apart"], partial(self.apart_asked.emit, one.step_id), kind="link")
                apart.setAccessibleName(f"{entities_strings()['apart']}: {one_line(one.name, _NAME)}")
                box.addWidget(apart)
            self._joined_box.addWidget(line)


def _clear(widget: QWidget | None) -> None:
    if widget is not None:
        widget.hide()
        widget.deleteLater()


ORIGIN = "entities"
_REFRESH_MS, _TYPED_MS = 250, 150
_ALL = ""


class EntitiesPage(Page):
    """The Entities page."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        theme, said = context.theme, entities_strings()
        self._is_shown = self._is_read = False
        self._wished = self.entity_id = ""
        self.search = QLineEdit()
        self.search.setPlaceholderText(said["search"])
        self.search.setAccessibleName(said["search"])
        self.search.setClearButtonEnabled(True)
        self.types = MenuChip(theme, "Type", self._choices({}), _ALL)
        self.count = label("", "muted")
        self.list = entity_list(theme, said["list"])
        self.detail = Detail(theme)
        self._choose = label(said["choose"], "muted", wrap=True)
        self._choose.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._right = QStackedWidget()
        self._right.addWidget(self._choose)
        self._right.addWidget(self.detail)
        self._list_states = States(theme, self.list, "Reading the names …")
        self.states = States(theme, self._content(), "Reading the names …")
        self._build()
        self._refresh = make_timer(self, self.read, _REFRESH_MS)
        self._typed = make_timer(self, self.read, _TYPED_MS)
        self.search.textChanged.connect(lambda _: self._typed.start())
        self.search.returnPressed.connect(self.list.setFocus)
        self.types.chosen.connect(lambda _: self.read())
        self.list.looked_at_id.connect(self.look)
        self.detail.memory_asked.connect(lambda memory_id: context.selection.select(memory_id, ORIGIN))
        self.detail.change_asked.connect(self._change)
        self.detail.merge_asked.connect(self._merge)
        self.detail.apart_asked.connect(lambda step: take_back(context, step))

    def _content(self) -> QWidget:
        left, split = QWidget(), QSplitter(Qt.Orientation.Horizontal)
        box = column(left, self.search, gap=8)
        box.setContentsMargins(0, 0, 8, 0)
        box.addLayout(row(self.types, None))
        box.addWidget(self._list_states, 1)
        right = QWidget()
        shell = column(right, self._right)
        shell.setContentsMargins(16, 0, 0, 0)
        left.setMinimumWidth(self.context.theme.px(220))
        split.addWidget(left)
        split.addWidget(right)
        split.setChildrenCollapsible(False)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        return split

    def _build(self) -> None:
        layout = column(self, gap=10)
        layout.setContentsMargins(24, 16, 24, 16)
        head = row(label("Entities", "title"), self.count, None, gap=10)
        head.addStrut(self.context.theme.px(self.context.theme.tokens.sizes.control))
        layout.addLayout(head)
        layout.addWidget(self.states, 1)

    # ---- the page's life

    def enter(self, wish: str = "") -> None:
        """Show the page and read what it needs.

        Args:
            wish: an entity's id, to look at that one; "" for none.
        """
        self._is_shown, self._wished = True, wish
        if self.is_stale or wish or not self._is_read:
            self.read()
        self.list.setFocus()

    def leave(self) -> None:
        """Another page is shown: nothing runs here any more."""
        self._is_shown = False
        self.is_stale = self.is_stale or self._refresh.isActive()
        self._refresh.stop()
        self._typed.stop()

    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        shown = self.detail.view
        is_looked = not self.entity_id or (shown is not None and shown.card.id == self.entity_id)
        return self._is_read and is_looked and not self._refresh.isActive() and not self._typed.isActive()

    def changed(self, change: Changed) -> None:
        """Names come and go with memories: read again, at most a few times a second."""
        super().changed(change)
        if self._is_shown and not self._refresh.isActive():
            self._refresh.start()

    # ---- the list

    def read(self) -> None:
        """Read the list as it stands."""
        self.is_stale = False
        if not self._is_read:
            self.states.show_loading()
        kinds = (self.types.current,) if self.types.current else ()
        wanted, entities = EntityQuery(self.search.text(), kinds), self.context.bridge.engine.entities
        asked = query("Reading the names", lambda: entities.list_entities(wanted)).within(self, "list")
        self.context.tasks.run(asked.success(self._show).failure(self._fail))

    def _show(self, found: EntityList) -> None:
        self._is_read = True
        if not found.known:
            said = entities_strings()["empty"]
            self.entity_id, self.detail.view = "", None
            self.states.show_empty(EmptyState(self.context.theme, "users", said["title"], said["sentence"]))
            return
        self.states.show_content()
        self.types.offer(self._choices(found.by_type), self.types.current)
        shown = f"{len(found.lines)} of {found.total}" if found.total > len(found.lines) else str(found.total)
        self.count.setText(f"{shown} {'name' if found.total == 1 else 'names'}")
        wanted = self._wished or self.entity_id or (found.lines[0].id if found.lines else "")
        self._wished = ""
        if found.lines:
            self._list_states.show_content()
            self.list.show_lines([entity_line(one) for one in found.lines], wanted=wanted)
        else:
            said = entities_strings()["empty_filter"]
            again = ("Show all", self._show_all)
            self._list_states.show_empty(
                EmptyState(self.context.theme, "filter", said["title"], said["sentence"], again)
            )
        if wanted:
            self.look(wanted, again=True)

    def _choices(self, by_type: object) -> dict[str, str]:
        counts = by_type if isinstance(by_type, dict) else {}
        named = {kind: f"{look['many']} ({counts.get(kind, 0)})" for kind, look in entities_strings()["types"].items()}
        return {_ALL: str(entities_strings()["all_types"]), **named}

    def _show_all(self) -> None:
        self.types.show_choice(_ALL)
        self.search.clear()
        self.read()

    def _fail(self, error: BaseException) -> None:
        self.states.show_failure(error, self.read, self.context.desk.say if self._is_read else None)

    # ---- the entity

    def look(self, entity_id: str, *, again: bool = False) -> None:
        """Look at an entity.

        Args:
            again: also where it is looked at already.
        """
        if entity_id == self.entity_id and not again:
            return
        self.entity_id = entity_id
        entities = self.context.bridge.engine.entities
        asked = query("Reading the entity", lambda: entities.read_detail(entity_id)).within(self, "detail")
        self.context.tasks.run(asked.success(self._show_view).failure(self._on_entity_missing))

    def _show_view(self, view: EntityView) -> None:
        if view.card.id != self.entity_id:
            return
        if view.card.merged_into is not None:
            self.look(view.card.merged_into)
            return
        self.detail.show_view(view)
        self._right.setCurrentWidget(self.detail)

    def _on_entity_missing(self, _error: BaseException) -> None:
        self.entity_id, self.detail.view = "", None
        self._right.setCurrentWidget(self._choose)

    # ---- what can be done

    def _change(self) -> None:
        if self.detail.view is not None:
            card = self.detail.view.card
            dialog = ChangeDialog(self.context, card, self)
            dialog.agreed.connect(lambda change: self.change(card, change))
            dialog.open()

    def change(self, card: EntityCard, change: EntityChange) -> None:
        """Change the names.

        Args:
            change: from the dialog.
        """
        entities = self.context.bridge.engine.entities
        asked = write("Changing a name", lambda: entities.update(card.id, change))
        self.context.tasks.run(asked.success(lambda _: self.context.desk.say("The names were changed.")))

    def _merge(self, wanted: str = "") -> None:
        if self.detail.view is not None:
            dialog = MergeDialog(self.context, self.detail.view.card, self, wanted)
            dialog.agreed.connect(self.merge)
            dialog.open()

    def merge(self, seen: MergePreview) -> None:
        """Merge one into another, as it was shown.

        Args:
            seen: what the person agreed to.
        """
        entities, other, keep = self.context.bridge.engine.entities, seen.other.id, seen.keep.id
        asked = write("Merging two names", lambda: entities.merge(other, keep, widen=seen.lifted))
        self.context.tasks.run(asked.success(self._on_entities_merged))

    def _on_entities_merged(self, done: EntityMerged) -> None:
        self._wished = done.target_id
        moved = count_of(done.mentions, "mention")
        if done.step_id is not None:
            offer_undo(self.context, f"Two names are one now; {moved} came over.", done.step_id)
        self._refresh.start()


ENTITIES = PageSpec(
    "entities",
    "Entities",
    "users",
    EntitiesPage,
    "people persons places projects names aliases merge same who organizations",
    on_request=True,
)
