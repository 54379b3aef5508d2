"""The header of one client: its state, buttons, figures and grants; and the base of all its views.

A view reads when it is looked at; one of what a client does looks again by itself, since nothing tells of an answer or
a refusal. Must not do: know a single view, or do anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QSizePolicy, QWidget

from core.types.clients import ClientCard, ClientState
from core.types.values import Grant
from core.types.views import MemoryRow
from ui.bridge import problem_of
from ui.context import Context
from ui.pages.clients.client_rows import ClientRow, ClientStateMark
from ui.pages.clients.labels import (
    SPACE,
    client_state_name,
    describe_last_seen,
    describe_limits,
    describe_pairing,
    format_grants,
    format_percent,
    grant_sentence,
    grant_word,
    visible_name,
)
from ui.strings import clients_strings, format_count
from ui.theme.theme import Theme
from ui.widgets.basics import Elided, FlowLayout, clear_layout, make_button, make_column, make_label, make_row
from ui.widgets.labels import capitalize_first, name_space
from ui.widgets.plaintext import escape_tooltip, one_line
from ui.widgets.states import States

_TEXT = 240


class ClientTab(QWidget):
    """One view of a client.

    Attributes:
        card: the client; None before one is looked at.
        poll_ms: how often it looks again while it is looked at; 0 for never.
    """

    poll_ms = 0

    def __init__(self, context: Context, reading: str) -> None:
        """Make it.

        Args:
            reading: what is said while it reads.
        """
        super().__init__()
        self.context = context
        self.card: ClientCard | None = None
        self._is_seen = self._is_read = False
        self.inside = QWidget()
        self.states = States(context.theme, self.inside, reading)
        make_column(self, self.states)
        self._poll = QTimer(self)
        self._poll.setInterval(self.poll_ms)
        self._poll.timeout.connect(self.reload_near_top)

    @property
    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        return self.card is None or not self._is_seen or self._is_read

    def show_client(self, card: ClientCard | None) -> None:
        """Show a client; another one is read anew, of the same one only the card changed.

        Args:
            card: its current state; None for none.
        """
        is_other = self.card is None or card is None or self.card.name != card.name
        self.card = card
        if is_other:
            self._is_read = False
            self.forget_client()
        if card is None or not self._is_seen:
            return
        if is_other:
            self.reload()
        else:
            self.show_new_card()

    def activate(self) -> None:
        """It is looked at."""
        self._is_seen = True
        if self.card is not None:
            self.reload()
        if self.poll_ms:
            self._poll.start()

    def deactivate(self) -> None:
        """Another one is looked at."""
        self._is_seen = False
        self._poll.stop()

    def handle_change(self) -> None:
        """Something in the vault changed."""
        if self._is_seen and self.card is not None:
            self.reload_near_top()

    def reload_near_top(self) -> None:
        """It may have done more since; a view of what it does reads again."""

    def show_new_card(self) -> None:
        """The card of the same client was read again."""

    def forget_client(self) -> None:
        """Nothing of the last client stays."""

    def reload(self) -> None:
        """Read what is shown."""
        raise NotImplementedError  # each kind says it

    def show_failure(self, error: BaseException) -> None:
        """Reading failed: say so, in place of what there is not."""
        if problem_of(error) is not None:
            self.states.show_failure(error, self.reload, self.context.desk.show_message if self._is_read else None)
            self._is_read = True


def client_memory_row(row: MemoryRow, note: str = "") -> ClientRow:
    """A memory as a line.

    Args:
        note: under it; "" for its space.
    """
    return ClientRow(
        id=row.id, title=one_line(row.head, _TEXT), note=note or name_space(row.space, 40), kind=row.kind, value=row.id
    )


def set_button_offer(button: QPushButton, obstacle: str, hint: str) -> None:
    """Let a button be pressed, or say why it cannot be.

    Args:
        obstacle: why not; "" where it can.
    """
    button.setEnabled(not obstacle)
    button.setToolTip(escape_tooltip(obstacle or hint))
    button.setAccessibleDescription(obstacle or hint)


def has_keyboard(widget: QWidget) -> bool:
    """Whether the keyboard is there, or will be when the window has it again.

    Qt hands it on to the next widget when this one is hidden or disabled; who asks this before can do
    better.
    """
    return widget.window().focusWidget() is widget


_BESIDE = 780
_FIGURES = ("stands", "waits", "answers", "refusals")
_ACTIONS = {
    ClientState.AWAKE: ("disclose", "pause", "undo", "revoke"),
    ClientState.PAUSED: ("resume", "undo", "revoke"),
    ClientState.ASLEEP: ("wake", "undo", "revoke"),
    ClientState.UNPAIRED: ("undo", "again", "revoke"),
    ClientState.REVOKED: ("undo", "again"),
}
# The button that takes the place of another one; the keyboard focus follows.
_INSTEAD = {
    "pause": ("resume", "wake"), "resume": ("pause",), "wake": ("pause",),
    "disclose": ("conceal",), "conceal": ("disclose",),
}  # fmt: skip
_ICONS = {
    "disclose": "eye", "conceal": "eye-off", "pause": "pause", "resume": "play", "wake": "play", "undo": "undo-2",
    "revoke": "circle-x", "again": "link",
}  # fmt: skip


def summarize_terms(card: ClientCard) -> str:
    """Limits and ceiling in one line."""
    strings = clients_strings()["limits"]
    believed = str(strings["ceiling"]).format(value=format_percent(card.trust_ceiling))
    return f"{describe_limits(card.limit_minute, card.limit_session)} · {believed}"


class ClientFigure(QPushButton):
    """A number with what it counts; pressing it leads there."""

    def __init__(self, theme: Theme, name: str, go: Callable[[], None]) -> None:
        super().__init__()
        strings = clients_strings()["figures"][name]
        self._theme, self._title = theme, str(strings["title"])
        self.setProperty("kind", "line")
        self.setToolTip(strings["hint"])
        self.number, self.title = make_label("0", "section"), make_label(self._title, "small")
        make_column(self, self.number, self.title, gap=0).setContentsMargins(2, 2, 14, 2)
        for part in (self.number, self.title):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.clicked.connect(lambda: go())
        theme.changed.connect(self._fix_size)
        self._fix_size()

    def show_count(self, count: int) -> None:
        """Show another number."""
        self.number.setText(f"{count:,}")
        self.setAccessibleName(f"{count:,} {self._title}")
        self._fix_size()

    def _fix_size(self) -> None:
        layout = self.layout()
        if layout is not None:
            layout.invalidate()
            self.setFixedSize(layout.sizeHint())


class GrantChips(QWidget):
    """What it was granted, in short words; the sentence of the one under the pointer or the keyboard.

    Signals:
        pressed: one of them was pressed.
    """

    pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips, gap=6)
        self.sentence, self.brief = Elided("", "small"), Elided("", "small")
        self.had = make_label("", "small", wrap=True)
        self._usual, self._is_low = "", False
        make_column(self, self._chips, self.brief, self.sentence, self.had, gap=4)
        self._sentences: dict[QPushButton, str] = {}

    def show_card(self, card: ClientCard) -> None:
        """Show the grants of a client; of one that was revoked, what it had."""
        clear_layout(self._flow)
        self._sentences.clear()
        summary = " · ".join(
            part for part in (format_grants(card.grants), ", ".join(map(name_space, card.spaces))) if part
        )
        self.had.setText(clients_strings()["had"].format(what=summary) if card.standing is ClientState.REVOKED else "")
        self.brief.set_text(summary)
        for grant in (*card.grants, *(f"{SPACE}{name}" for name in card.spaces)):
            is_space = grant.startswith(SPACE)
            icon = "landmark" if is_space else ""
            chip = make_button(grant_word(grant), self.pressed.emit, kind="chip", theme=self._theme, icon=icon)
            sentence = grant_sentence(grant)
            chip.setToolTip(escape_tooltip(sentence))
            chip.setAccessibleDescription(sentence)
            chip.installEventFilter(self)
            self._sentences[chip] = sentence
            self._flow.addWidget(chip)
        self._usual = summarize_terms(card)
        self.sentence.set_text(self._usual)
        self.show_low(is_low=self._is_low)

    def show_low(self, *, is_low: bool) -> None:
        """Say the grants in one line where there is no room for chips.

        Args:
            is_low: whether there is little room.
        """
        self._is_low, holds = is_low, not self.had.text()
        self._chips.setVisible(bool(self._sentences) and holds and not is_low)
        self.brief.setVisible(holds and is_low)
        self.sentence.setVisible(holds)
        self.had.setVisible(not holds)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Say the sentence of the chip that is looked at."""
        if isinstance(watched, QPushButton) and watched in self._sentences:
            if event.type() in {QEvent.Type.Enter, QEvent.Type.FocusIn}:
                self.sentence.set_text(self._sentences[watched])
            elif event.type() in {QEvent.Type.Leave, QEvent.Type.FocusOut}:
                self.sentence.set_text(self._usual)
        return False


class ClientHeader(QWidget):
    """The header of one client: state, figures, grants and buttons.

    Attributes:
        card: the client that is shown; None before one was.

    Signals:
        action_asked: `disclose`, `conceal`, `pause`, `resume`, `wake`, `undo`, `revoke` or `again`.
        figure_clicked: a figure was pressed: its name.
        grants_asked: a grant was pressed.
        focus_lost: the button that had the keyboard is none any more, and nothing took its place.
    """

    action_asked = Signal(str)
    figure_clicked = Signal(str)
    grants_asked = Signal()
    focus_lost = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.card: ClientCard | None = None
        self._theme = theme
        self.mark, self.standing = ClientStateMark(theme), make_label("", "small")
        self.name = Elided("", "title")
        self.name.setAccessibleDescription("heading")
        self.meta, self.why = make_label("", "small", wrap=True), make_label("", "small", wrap=True)
        # As wide as there is room: the longest word, of a process for instance, is no reason to take more.
        self.meta.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.buttons: dict[str, QPushButton] = {}
        acts = QWidget()
        flow = make_row(parent=acts, gap=8)
        for action, icon in _ICONS.items():
            strings = clients_strings()["deeds"][action]
            kind = "danger" if action == "revoke" else "plain"
            run = partial(self.action_asked.emit, action)
            button = make_button(strings["title"], run, kind=kind, hint=strings["hint"], theme=theme, icon=icon)
            self.buttons[action] = button
            flow.addWidget(button)
        self.figures = {name: ClientFigure(theme, name, partial(self.figure_clicked.emit, name)) for name in _FIGURES}
        counts = QWidget()
        places = FlowLayout(counts, gap=8)
        for figure in self.figures.values():
            places.addWidget(figure)
        self.chips = GrantChips(theme)
        self.chips.pressed.connect(self.grants_asked)
        flow.addStretch(1)
        names = QWidget()
        under = make_row(self.mark, self.standing, self.meta, gap=6)
        under.setStretch(2, 1)
        for place in (self.mark, self.standing, self.meta):
            under.setAlignment(place, Qt.AlignmentFlag.AlignTop)
        texts = make_column(names, self.name, gap=4)
        texts.addLayout(under)
        texts.addWidget(self.why)
        self._top = make_row(names, acts, gap=16)
        self._top.setStretch(0, 1)
        layout = make_column(self, gap=10)
        layout.addLayout(self._top)
        for part in (counts, self.chips):
            layout.addWidget(part)

    def show_low(self, *, is_low: bool) -> None:
        """Leave room for what is below: where it is low, the grants are one line of text.

        Args:
            is_low: whether there is little room.
        """
        self.chips.show_low(is_low=is_low)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, the buttons are below the name."""
        super().resizeEvent(event)
        is_wide = self.width() >= self._theme.px(_BESIDE)
        self._top.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)

    def show_card(self, card: ClientCard, now_ms: int) -> None:
        """Show a client."""
        is_other = self.card is None or _grants_key(self.card) != _grants_key(card)
        self.card = card
        self.name.set_text(visible_name(card.name))
        self.mark.show_state(card.standing)
        self.standing.setText(capitalize_first(client_state_name(card.standing)))
        sentence = clients_strings()["standing"][card.standing.value]["sentence"]
        self.standing.setToolTip(sentence)
        self.standing.setAccessibleDescription(sentence)
        self.meta.setText(f"· {describe_last_seen(card, now_ms)} · {describe_pairing(card)}")
        minutes = -(-card.sensitive_s // 60)
        given = format_count(clients_strings()["disclosed"], minutes) if minutes else ""
        self.why.setText(given or sentence)
        self.why.setVisible(bool(given) or card.standing is not ClientState.AWAKE)
        may_have = Grant.SENSITIVE.value in card.grants
        actions = [one for one in _ACTIONS[card.standing] if may_have or one != "disclose"]
        self._show_buttons(["conceal" if one == "disclose" and minutes else one for one in actions])
        for name, figure in self.figures.items():
            figure.show_count(getattr(card, name))
        if is_other:
            self.chips.show_card(card)

    def _show_buttons(self, shown: Sequence[str]) -> None:
        focused = next((name for name, button in self.buttons.items() if has_keyboard(button)), "")
        for name, button in self.buttons.items():
            button.setVisible(name in shown)
        if not focused or focused in shown:
            return
        # The next press of the same key shall not do another thing than the one that was meant.
        instead = next((name for name in _INSTEAD.get(focused, ()) if name in shown), "")
        if instead:
            self.buttons[instead].setFocus()
        else:
            self.focus_lost.emit()


def _grants_key(card: ClientCard) -> tuple[object, ...]:
    return card.name, card.grants, card.spaces, summarize_terms(card), card.standing is ClientState.REVOKED
