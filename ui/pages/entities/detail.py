"""What is known of one entity: its names, statements by topic with their sources, claims, mentions and mergers.

Must not do: ask the engine, or merge anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from core.config.erasure_wording import erasure_words
from core.types.entities import EntityCard, EntityLine, EntityView, KnownStatement
from ui.pages.entities.labels import (
    EntityRow,
    describe_duplicates,
    describe_merged_entity,
    describe_part,
    describe_sayer,
    describe_subtitle,
    entity_claim_row,
    entity_list,
    fit_height,
    format_quote,
    limit_height,
    make_known_list,
    mention_row,
    topic_rows,
    utterance_row,
)
from ui.strings import entities_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Elided, Segments, make_button, make_column, make_label, make_row
from ui.widgets.plaintext import one_line

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
        self.subtitle = Elided("", "body")
        self.act = make_button(
            entities_strings()["alike"]["act"], self._emit_merge_asked, theme=theme, icon="git-merge"
        )
        self._box = make_row(self.subtitle, self.act, parent=self, gap=8)
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
            self.subtitle.set_text(describe_duplicates(card, found))
            self.act.setAccessibleDescription(self.subtitle.whole)

    def _emit_merge_asked(self) -> None:
        self.merge_asked.emit(self._first)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow the button is under the sentence."""
        super().resizeEvent(event)
        is_wide = self.width() >= self._theme.px(_BESIDE)
        self._box.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)


_NAME = 80
_MENTIONS, _UTTERANCES = "mentions", "utterances"
_MOST_ROOM = 100
_CLAIMS = 3  # seen at once, so that the mentions keep their place


class KnownPanel(QWidget):
    """Statements by topic, and under them the exact words behind the one that is looked at.

    Signals:
        memory_asked: id of a statement, or of the memory that says it.
        make_asked: statements shall be made.
    """

    memory_asked = Signal(str)
    make_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = entities_strings()["known"]
        self._known: dict[str, KnownStatement] = {}
        self._source = ""
        self.list = make_known_list(theme, strings["label"])
        self.list.looked_at_id.connect(self._show_quote)
        self.list.opened.connect(self._open_source_of)
        self.quote, self.subtitle = make_label("", "body", wrap=True), Elided("", "muted")
        self.open = make_button(strings["source"], self._open_source, kind="link")
        self._quoted = QFrame()
        self._quoted.setObjectName("panel")
        box = make_column(self._quoted, self.quote, gap=4)
        box.setContentsMargins(12, 8, 12, 8)
        box.addLayout(make_row(self.subtitle, self.open))
        self._empty = QWidget()
        self.none = make_label(strings["none"], "muted", wrap=True)
        self.make = make_button(strings["make"], self.make_asked.emit, hint=strings["make_hint"])
        make_column(self._empty, self.none, gap=8).addLayout(make_row(self.make, None))
        layout = make_column(self, make_label(strings["label"], "label"), self._empty, gap=6)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._quoted)

    def show_view(self, view: EntityView, *, is_same: bool) -> None:
        """Show what is known.

        Args:
            is_same: whether it is the entity that was shown before.
        """
        self._known = {one.memory_id: one for topic in view.topics for one in topic.statements}
        grows = QSizePolicy.Policy.Expanding if view.topics else QSizePolicy.Policy.Maximum
        self.setSizePolicy(QSizePolicy.Policy.Preferred, grows)
        self._empty.setVisible(not view.topics)
        strings = entities_strings()["known"]
        about = str(strings["none_about"]).format(name=one_line(view.card.name, _NAME))
        self.none.setText(about if view.is_read else str(strings["none"]))
        self.make.setVisible(not view.is_read)
        self.list.setVisible(bool(view.topics))
        with QSignalBlocker(self):
            if not is_same:
                self.list.select_rows()
                self._quoted.hide()
            self.list.show_lines(topic_rows(view.topics))
        self._quoted.setVisible(not self._quoted.isHidden() and bool(self._known))

    def _show_quote(self, memory_id: str) -> None:
        one = self._known.get(memory_id)
        if one is None:
            return
        self._source = one.episode_id
        self.quote.setText(format_quote(one))
        self.subtitle.set_text(describe_sayer(one))
        self._quoted.show()
        self.memory_asked.emit(memory_id)

    def _open_source_of(self, line: EntityRow) -> None:
        self._show_quote(line.id)
        self._open_source()

    def _open_source(self) -> None:
        self.memory_asked.emit(self._source)


class EntityMemoriesPanel(QWidget):
    """The memories that name an entity, and those in which it speaks; a choice is above them where there are both.

    Signals:
        memory_asked: id of a memory to look at.
    """

    memory_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = entities_strings()
        self._view: EntityView | None = None
        self.title = make_label(strings["places"], "label")
        choices = [(_MENTIONS, ""), (_UTTERANCES, "")]
        self.choice = Segments(choices, _MENTIONS, strings["memories"]["label"])
        self.choice.chosen.connect(lambda _: self._show_lines())
        self.none = make_label(strings["no_places"], "muted")
        self.list = entity_list(theme, strings["places"])
        self.list.looked_at_id.connect(self.memory_asked)
        self.list.opened.connect(lambda row: self.memory_asked.emit(row.id))
        layout = make_column(self, self.title, self.choice, self.none, gap=6)
        layout.addWidget(self.list, _MOST_ROOM)
        layout.addStretch(1)  # else what a short list leaves is spread around the label above it

    def show_view(self, view: EntityView, *, is_same: bool) -> None:
        """Show the memories of an entity.

        Args:
            is_same: whether it is the entity that was shown before; then the choice stays.
        """
        self._view = view
        strings = entities_strings()["memories"]
        self.choice.name_choice(_MENTIONS, strings["mentions"].format(count=f"{view.mentions:,}"))
        self.choice.name_choice(_UTTERANCES, strings["utterances"].format(count=f"{view.spoken:,}"))
        if not is_same:
            self.choice.show_choice(_MENTIONS if view.mentions else _UTTERANCES)
            with QSignalBlocker(self):  # what is chosen already is not asked for again
                self.list.select_rows()
        self.choice.setVisible(bool(view.spoken))
        self.title.setVisible(not view.spoken)
        self._show_lines()

    def _show_lines(self) -> None:
        view = self._view
        if view is None:
            return
        is_speech = view.spoken and self.choice.current == _UTTERANCES
        self.list.setAccessibleName(self.choice.words_of(self.choice.current) if view.spoken else self.title.text())
        lines = (
            [utterance_row(one) for one in view.utterances] if is_speech else [mention_row(one) for one in view.places]
        )
        with QSignalBlocker(self):
            self.list.show_lines(lines)
        self.list.setVisible(bool(lines))
        self.none.setVisible(not lines)
        limit_height(self.list)


class EntityDetail(QFrame):
    """One entity with its names, statements, mentions, claims and mergers.

    Signals:
        make_asked: statements shall be made of what was said.
        memory_asked: id of a memory to look at.
        change_asked: names shall be changed.
        merge_asked: it shall be merged into another: the id of the one that may be it, or "".
        apart_asked: the undo step that takes a merge apart.
        separate_asked: id of the entity of one space, which is another than those of the same name.
        erase_asked: all about it shall be erased.
    """

    memory_asked = Signal(str)
    make_asked = Signal()
    erase_asked = Signal()
    change_asked = Signal()
    merge_asked = Signal(str)
    apart_asked = Signal(str)
    separate_asked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = entities_strings()
        self._theme = theme
        self.view: EntityView | None = None
        self.title, self.about = Elided("", "section"), Elided("", "muted")
        self.others = make_label("", "small", wrap=True)
        self.change = make_button(
            entities_strings()["change"]["open"], self.change_asked.emit, theme=theme, icon="pencil"
        )
        ask = partial(self.merge_asked.emit, "")
        self.merge = make_button(
            strings["merge"]["open"], ask, theme=theme, icon="git-merge", hint=strings["merge"]["title"]
        )
        words = erasure_words()["window"]["about"]
        self.erase = make_button(
            words["open"], self.erase_asked.emit, theme=theme, icon="trash-2", kind="danger", hint=words["hint"]
        )
        self.alike = DuplicateHint(theme)
        self.alike.merge_asked.connect(self.merge_asked)
        self.known = KnownPanel(theme)
        self.known.memory_asked.connect(self.memory_asked)
        self.known.make_asked.connect(self.make_asked)
        self.memories = EntityMemoriesPanel(theme)
        self.memories.memory_asked.connect(self.memory_asked)
        self.claims = entity_list(theme, strings["claims"])
        self.parts, self.joined = QWidget(), QWidget()
        self._parts_box, self._joined_box = make_column(self.parts, gap=4), make_column(self.joined, gap=4)
        self.claims.looked_at_id.connect(self.memory_asked)
        self.claims.opened.connect(lambda row: self.memory_asked.emit(row.id))
        layout = make_column(self, margins=0, gap=6)
        layout.addWidget(self.title)
        layout.addWidget(self.about)
        layout.addWidget(self.others)
        layout.addLayout(make_row(self.change, self.merge, self.erase, None))
        layout.addWidget(self.alike)
        layout.addSpacing(6)
        layout.addWidget(self.known, 3)
        layout.addSpacing(6)
        self._claims_label = make_label(strings["claims"], "label")
        layout.addWidget(self._claims_label)
        layout.addWidget(self.claims)
        layout.addSpacing(6)
        layout.addWidget(self.memories, 2)
        layout.addWidget(self.parts)
        layout.addWidget(self.joined)
        self._layout: QVBoxLayout = layout
        self._layout.addStretch()
        # A bound method goes with the widget; a closure would live as long as the theme, and what is shown with it.
        theme.changed.connect(self._fit_lists)

    def _fit_lists(self) -> None:
        fit_height(self.claims, _CLAIMS)
        limit_height(self.memories.list)

    def show_view(self, view: EntityView) -> None:
        """Show an entity."""
        same = self.view is not None and self.view.card.id == view.card.id
        self.view, card = view, view.card
        self.title.set_text(one_line(card.name, _NAME))
        self.about.set_text(describe_subtitle(card, view.mentions, view.spoken, view.parts))
        self.known.show_view(view, is_same=same)
        names = ", ".join(one_line(name, _NAME) for name in card.aliases)
        self.others.setText(entities_strings()["also"].format(names=names))
        self.others.setVisible(bool(card.aliases))
        with QSignalBlocker(self):  # what is chosen already is not asked for again
            if not same:
                self.claims.select_rows()
            self.claims.show_lines([entity_claim_row(one) for one in view.claims])
        self.memories.show_view(view, is_same=same)
        # Where statements are known they say what the claims do, in a sentence; where nothing is, that is said once.
        for part in (self._claims_label, self.claims):
            part.setVisible(bool(view.claims) and not view.topics)
        self._layout.setStretchFactor(self.known, 3 if view.topics else 0)
        self._layout.setStretch(self._layout.count() - 1, 0 if view.topics else 1)
        fit_height(self.claims, _CLAIMS)
        self.alike.show_alike(card, view.alike)
        self._show_parts(view)
        self._show_joined(view)

    def _show_parts(self, view: EntityView) -> None:
        """What each space has of it; each may be kept apart from the others."""
        strings = entities_strings()["parts"]
        _clear_box(self._parts_box)
        self.parts.setVisible(bool(view.parts))
        if view.parts:
            self._parts_box.addWidget(make_label(strings["label"], "label"))
        for part in view.parts:
            separate = partial(self.separate_asked.emit, part.id)
            act = make_button(strings["act"], separate, kind="link", hint=strings["hint"])
            self._parts_box.addWidget(_make_line(describe_part(part), act))

    def _show_joined(self, view: EntityView) -> None:
        _clear_box(self._joined_box)
        self.joined.setVisible(bool(view.joined))
        if view.joined:
            self._joined_box.addWidget(make_label(entities_strings()["joined"], "label"))
        for one in view.joined:
            apart = None
            if one.step_id:
                ask = partial(self.apart_asked.emit, one.step_id)
                apart = make_button(entities_strings()["apart"], ask, kind="link")
            self._joined_box.addWidget(_make_line(describe_merged_entity(one), apart))


def _make_line(text: str, act: QPushButton | None) -> QWidget:
    """A sentence, and at its end what can be done about it."""
    line = QWidget()
    box = make_row(Elided(text), parent=line)
    if act is not None:
        act.setAccessibleName(f"{act.text()}: {text}")
        box.addWidget(act)
    return line


def _clear_box(box: QVBoxLayout) -> None:
    while (item := box.takeAt(0)) is not None:
        _remove_widget(item.widget())


def _remove_widget(widget: QWidget | None) -> None:
    if widget is not None:
        widget.hide()
        widget.deleteLater()
