"""One entity: its names, what can be done, where it is mentioned, what is said about it, what was merged into it.

Must not do: ask the engine; it tells what is asked for.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from core.types.entities import EntityView
from ui.pages.entities.duplicate_hint import AlikeHint
from ui.pages.entities.lines import entity_list, fit_height
from ui.pages.entities.words import claim_line, joined_words, place_line, subtitle, unread_words
from ui.strings import entities_strings
from ui.theme.theme import Theme
from ui.widgets.basics import Elided, button, column, label, row
from ui.widgets.plaintext import one_line

_NAME = 80
_CLAIMS = 3  # seen at once, so that the mentions keep their place


class Detail(QFrame):
    """The entity.

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
        self.alike = AlikeHint(theme)
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
        """Show an entity.

        Args:
            view: from the engine.
        """
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
