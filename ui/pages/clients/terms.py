"""What a client may do: each grant with its sentence, the spaces, the limits, the trust ceiling, to tick and to see.

What would change is said before it is applied. Must not do: change anything before "Apply".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractSpinBox, QCheckBox, QDoubleSpinBox, QGridLayout, QSpinBox, QWidget

from core.types.clients import ClientCard, ClientState, Terms
from core.types.values import Grant
from core.types.views import Facets
from ui.bridge import make_query
from ui.context import Context
from ui.pages.clients.client_header import ClientTab, has_keyboard, set_button_offer
from ui.pages.clients.labels import SPACE, describe_terms_change, grant_sentence, grant_word, visible_name
from ui.strings import clients_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.basics import (
    FlowLayout,
    clear_layout,
    make_button,
    make_card,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
)
from ui.widgets.states import FOOT

_GLOBAL, _OWN = "GLOBAL", "client:"


class GrantBoxes(QWidget):
    """A box for every grant, with its sentence under it.

    Signals:
        changed: one was ticked or cleared, by hand or not.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.boxes: dict[str, QCheckBox] = {}
        layout = make_column(self, gap=2)
        for grant in Grant:
            word = grant_word(grant.value)
            box = QCheckBox(word[:1].upper() + word[1:])
            box.setAccessibleDescription(grant_sentence(grant.value))
            box.toggled.connect(lambda _: self.changed.emit())
            self.boxes[grant.value] = box
            sentence = make_label(grant_sentence(grant.value), "small", wrap=True)
            sentence.setContentsMargins(theme.px(sizes().tick) + spacing().close, 0, 0, 8)
            layout.addWidget(box)
            layout.addWidget(sentence)

    @property
    def grants(self) -> tuple[str, ...]:
        """What is ticked, in the order of the grants."""
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    def show_grants(self, grants: Sequence[str]) -> None:
        """Tick the granted boxes."""
        for name, box in self.boxes.items():
            box.setChecked(name in grants)


class SpaceBoxes(QWidget):
    """A box for every space but GLOBAL and the client's own.

    Attributes:
        boxes: by the name of the space.

    Signals:
        changed: one was ticked or cleared, by hand or not.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[str, QCheckBox] = {}
        self._flow = FlowLayout(self, gap=14)

    def show_spaces(self, names: Iterable[str], granted: Sequence[str], client: str = "") -> None:
        """Show other spaces.

        Args:
            names: those of all there are.
            granted: those to tick; one of them that is not there any more is shown too.
            client: whose own space is left out; "" for those of all clients.
        """
        own = f"{_OWN}{client}"
        named = (one for one in names if one != _GLOBAL and not (one == own if client else one.startswith(_OWN)))
        clear_layout(self._flow)
        self.boxes = {}
        for name in sorted({*named, *granted}):
            box = QCheckBox(visible_name(name).replace("&", "&&"))
            box.setChecked(name in granted)
            box.toggled.connect(lambda _: self.changed.emit())
            self.boxes[name] = box
            self._flow.addWidget(box)
        if not self.boxes:
            self._flow.addWidget(make_label(clients_strings()["terms"]["no_spaces"], "muted"))

    @property
    def grants(self) -> tuple[str, ...]:
        """What is ticked, as grants: `space:work`."""
        return tuple(f"{SPACE}{name}" for name, box in self.boxes.items() if box.isChecked())

    def tick_spaces(self, grants: Sequence[str]) -> None:
        """Tick the spaces of these grants, and no other."""
        for name, box in self.boxes.items():
            box.setChecked(f"{SPACE}{name}" in grants)


_MOST = 100_000


def terms_of(client: ClientCard) -> Terms:
    """What a client has now."""
    spaces = tuple(f"{SPACE}{name}" for name in client.spaces)
    return Terms((*client.grants, *spaces), client.limit_minute, client.limit_session, client.trust_ceiling)


class TermsTab(ClientTab):
    """The view of what a client may do, with a form to change it.

    Signals:
        applied: the `Terms` the person wants.
        focus_lost: the button that had the keyboard can be pressed no more.
    """

    applied = Signal(object)
    focus_lost = Signal()

    def __init__(self, context: Context) -> None:
        strings, theme = clients_strings()["terms"], context.theme
        super().__init__(context, clients_strings()["reading"])
        self._before: Terms | None = None
        self._facets: Facets | None = None
        self._filled: Facets | None = None
        self._shown_ceiling = 0.0
        self._is_filling = False
        self.grants, self.spaces = GrantBoxes(theme), SpaceBoxes()
        self.minute = _make_limit_field(strings["minute"])
        self.session = _make_limit_field(strings["session"])
        self.ceiling = QDoubleSpinBox()
        self.ceiling.setRange(0.0, 100.0)
        self.ceiling.setSingleStep(5)
        self.ceiling.setDecimals(0)
        self.ceiling.setSuffix(" %")
        self.ceiling.setAccessibleName(strings["ceiling"])
        inset_text(self.ceiling)
        self.usual = QCheckBox(strings["ceiling_usual"].capitalize())
        self.usual.setAccessibleDescription(strings["ceiling_hint"])
        self.outcome = make_label("", "strong", wrap=True)
        self.reset = make_button(strings["reset"], self._reset_form)
        self.act = make_button(strings["apply"], self._apply_terms, kind="primary")
        self.act.setDefault(False)
        self._build_layout(theme.px(150))
        self.grants.changed.connect(self._on_terms_changed)
        self.spaces.changed.connect(self._on_terms_changed)
        self.grants.boxes[Grant.SPEAK_FOR_USER.value].clicked.connect(lambda _: self.usual.setChecked(True))
        for spin in (self.minute, self.session):
            spin.valueChanged.connect(lambda _: self._on_terms_changed())
        self.ceiling.valueChanged.connect(lambda _: self._on_terms_changed())
        self.usual.toggled.connect(lambda _: self._on_terms_changed())

    def _build_layout(self, wide: int) -> None:
        strings = clients_strings()["terms"]
        form, inner = make_card(margins=16, gap=10)
        inner.addWidget(make_label(strings["may"], "label"))
        inner.addWidget(self.grants)
        inner.addWidget(make_label(strings["spaces"], "label"))
        inner.addWidget(self.spaces)
        inner.addWidget(make_label(strings["spaces_hint"], "small", wrap=True))
        inner.addWidget(make_label(strings["limits"], "label"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        for place, (name, field) in enumerate((("minute", self.minute), ("session", self.session))):
            title = make_label(strings[name])
            title.setBuddy(field)
            field.setMinimumWidth(wide)
            grid.addWidget(title, place, 0)
            grid.addWidget(field, place, 1)
        grid.addWidget(make_label(strings["ceiling"]), 2, 0)
        grid.addWidget(self.ceiling, 2, 1)
        grid.addWidget(self.usual, 2, 2)
        grid.setColumnStretch(3, 1)
        inner.addLayout(grid)
        inner.addWidget(make_label(strings["ceiling_hint"], "small", wrap=True))
        area = QWidget()
        make_column(area, form).addStretch(1)
        foot = QWidget()
        foot.setProperty(FOOT, True)  # noqa: FBT003 - Qt's name
        make_row(self.outcome, self.reset, self.act, parent=foot).setStretch(0, 1)
        make_column(self.inside, make_scroll_area(area), foot, gap=10).setStretch(0, 1)

    # ---- showing

    def reload(self) -> None:
        """Read which spaces there are, and show the terms; what is being changed by hand is left alone."""
        client = self.card
        if client is None:
            return
        library = self.context.bridge.engine.library
        task = make_query(clients_strings()["reading"], library.count_facets).within(self, "spaces")

        def show_facets(facets: Facets) -> None:
            self._facets = facets
            if self.card is not None and self.card.name == client.name:
                self._show_client_terms(self.card, facets)

        self.context.tasks.run(task.success(show_facets).failure(self.show_failure))

    def show_new_card(self) -> None:
        """Show the terms as they are now; which spaces there are was read when it was entered."""
        if self.card is not None and self._facets is not None and self._is_read:
            self._show_client_terms(self.card, self._facets)

    def forget_client(self) -> None:
        """Another client: what was ticked for the last one is gone."""
        self._before = None

    def accept_terms(self, name: str) -> None:
        """What was wanted of a client holds now: what comes back is shown, whatever was ticked."""
        if self.card is not None and self.card.name == name:
            self._before = None

    def _show_client_terms(self, client: ClientCard, facets: Facets) -> None:
        is_fresh = not self._is_read or self._before is None or _are_terms_alike(self.wanted, self._before)
        now = terms_of(client)
        self._is_read = True
        self.states.show_content()
        if is_fresh and (now, facets) != (self._before, self._filled):
            self._before, self._filled = now, facets
            self._is_filling = True
            self.spaces.show_spaces(facets.spaces, client.spaces, client.name)
            self._show_terms(now)
            self._is_filling = False
        self._on_terms_changed()

    def _show_terms(self, terms: Terms) -> None:
        self.grants.show_grants(terms.grants)
        self.spaces.tick_spaces(terms.grants)
        self.minute.setValue(terms.limit_minute or 0)
        self.session.setValue(terms.limit_session or 0)
        self.ceiling.setValue(100 * (terms.trust_ceiling or 0.0))
        self._shown_ceiling = self.ceiling.value()
        self.usual.setChecked(False)

    @property
    def wanted(self) -> Terms:
        """What the form says."""
        is_touched = self.ceiling.value() != self._shown_ceiling
        exact = None if self._before is None or is_touched else self._before.trust_ceiling
        shown = round(self.ceiling.value() / 100, 2) if exact is None else exact  # the field shows two digits of it
        ceiling = None if self.usual.isChecked() else shown
        grants = (*self.grants.grants, *self.spaces.grants)
        return Terms(grants, self.minute.value() or None, self.session.value() or None, ceiling)

    def _on_terms_changed(self) -> None:
        if self._is_filling or self._before is None or self.card is None:
            return
        strings, wanted = clients_strings()["terms"], self.wanted
        is_out = self.card.standing is ClientState.REVOKED
        is_same, is_empty = _are_terms_alike(wanted, self._before), not self.grants.grants
        outcome = (
            strings["revoked"]
            if is_out
            else strings["nothing"]
            if is_empty
            else describe_terms_change(self._before, wanted)
        )
        self.outcome.setText(outcome)
        self.ceiling.setEnabled(not self.usual.isChecked())
        focused = next((button for button in (self.reset, self.act) if has_keyboard(button)), None)
        set_button_offer(self.reset, strings["same"] if is_same else "", strings["reset_hint"])
        set_button_offer(self.act, outcome if is_same or is_empty or is_out else "", outcome)
        if focused is not None and not focused.isEnabled():
            self.focus_lost.emit()

    # ---- acts

    def _reset_form(self) -> None:
        if self._before is not None:
            self._show_terms(self._before)
            self._on_terms_changed()

    def _apply_terms(self) -> None:
        self.applied.emit(self.wanted)


def _are_terms_alike(one: Terms, other: Terms) -> bool:
    bounds = (one.limit_minute, one.limit_session, one.trust_ceiling)
    return set(one.grants) == set(other.grants) and bounds == (
        other.limit_minute,
        other.limit_session,
        other.trust_ceiling,
    )


def _make_limit_field(name: str) -> QSpinBox:
    field = QSpinBox()
    field.setRange(0, _MOST)
    field.setSpecialValueText(clients_strings()["terms"]["no_limit"])
    field.setGroupSeparatorShown(True)
    field.setAccessibleName(name)
    inset_text(field)
    return field


def inset_text(spin: QAbstractSpinBox) -> None:
    """Indent the number in its field; the arrow keys and the wheel step it."""
    spin.setObjectName("stepped")
    spin.lineEdit().setTextMargins(8, 0, 0, 0)
