"""Where a question is typed, with the button that asks or stops, and what may be used for the answer.

Must not do: ask the engine.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from core.types.belief import ModelServerState
from core.types.sessions import TIERS, AskOffer
from ui.pages.ask.conversation import AllowedScope
from ui.strings import ask_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, KeyButton, MenuChip, make_button, make_column, make_row
from ui.widgets.labels import name_space
from ui.widgets.plaintext import one_line

MOST_CHARACTERS = 8_000
_MOST_LINES, _NAME = 6, 40
_PAGE_KEYS = (Qt.Key.Key_Escape, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class AskQuestionField(QPlainTextEdit):
    """A field as tall as its text, up to six lines.

    Signals:
        submitted: Enter was pressed.
    """

    submitted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = ask_strings()["field"]
        self._theme = theme
        self.setAccessibleName(strings["name"])
        self.setAccessibleDescription(strings["keys"])
        self.setPlaceholderText(strings["hint"])
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._fit_height)
        theme.changed.connect(self._fit_height)
        self._fit_height()

    @property
    def words(self) -> str:
        """What is in it, as far as it can be asked."""
        return self.toPlainText()[:MOST_CHARACTERS].strip()

    def event(self, event: QEvent) -> bool:
        """Enter comes before a default button's."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in _RETURNS:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter asks; with Shift it is a new line; Esc and the keys that turn pages are the page's."""
        if event.key() in _RETURNS and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
        elif event.key() in _PAGE_KEYS:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Its lines break anew."""
        super().resizeEvent(event)  # type: ignore[arg-type]  # the stubs of Qt name another event
        self._fit_height()

    def _fit_height(self) -> None:
        lines = max(1, round(self.document().size().height()))
        is_long = lines > _MOST_LINES
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if is_long else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        height = min(lines, _MOST_LINES) * self.fontMetrics().lineSpacing() + self._theme.px(22)
        if height != self.height():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its text."""
        return QSize(200, self.height())


class AskQuestionBar(QFrame):
    """The foot of the page: the field, and below it who answers and what may be used.

    Attributes:
        chips: what is chosen.

    Signals:
        asked: a question was sent.
        stop_asked: the open answer shall be stopped.
    """

    asked = Signal(str)
    stop_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        acts = ask_strings()["acts"]
        self._is_open = False
        self.field = AskQuestionField(theme)
        self.send = make_button(acts["ask"], self._submit_question, kind="primary")
        self.stop = KeyButton(theme, acts["stop"], acts["stop_key"], self.stop_asked.emit)
        self.chips = AllowedChips(theme)
        row = make_row(self.field, self.send, self.stop, gap=8)
        row.setStretch(0, 1)
        for part in (self.send, self.stop):
            row.setAlignment(part, Qt.AlignmentFlag.AlignVCenter)
        box = make_column(self, gap=10)
        box.addLayout(row)
        box.addWidget(self.chips)
        self.field.submitted.connect(self._submit_question)
        self.show_open(is_open=False)

    def show_open(self, *, is_open: bool) -> None:
        """Say whether an answer is open: then it can be stopped, and nothing else asked."""
        self._is_open = is_open
        self.send.setVisible(not is_open)
        self.stop.setVisible(is_open)

    def _submit_question(self) -> None:
        words = self.field.words
        if words and not self._is_open:
            self.field.clear()
            self.asked.emit(words)


class AllowedChips(QWidget):
    """Who answers and what may be used for it.

    Signals:
        changed: the person chose something else.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = ask_strings()["choices"]
        self._chosen_model: str | None = None  # the person's own choice outlives a look at the server
        self.model = MenuChip(theme, strings["model"], {"": strings["no_model"]}, "")
        self.space = MenuChip(theme, strings["space"], {"": strings["all_spaces"]}, "")
        self.tier = MenuChip(theme, strings["tier"], strings["tiers"], TIERS[0])
        self.tier.setToolTip(strings["tier_hint"])
        flow = FlowLayout(self, gap=8)
        for chip in (self.model, self.space, self.tier):
            flow.addWidget(chip)
            chip.chosen.connect(lambda _: self.changed.emit())
        self.model.chosen.connect(self._note_model)

    @property
    def allowed(self) -> AllowedScope:
        """What is chosen."""
        return AllowedScope(self.model.current, self.space.current, self.tier.current)

    def show_offer(self, offer: AskOffer) -> None:
        """Offer what there is now; a choice that is still there stays."""
        strings = ask_strings()["choices"]
        models = {name: one_line(name, _NAME) for name in offer.models}
        wanted = self._chosen_model
        self.model.set_choices(
            {**models, "": strings["no_model"]},
            wanted if wanted is not None and wanted in {*models, ""} else offer.chosen,
        )
        spaces = {name: name_space(name, _NAME) for name in offer.spaces}
        self.space.set_choices(
            {"": strings["all_spaces"], **spaces}, self.space.current if self.space.current in spaces else ""
        )
        tiers = strings["tiers"] if offer.is_local else {TIERS[0]: strings["tiers"][TIERS[0]]}
        self.tier.set_choices(tiers, self.tier.current if self.tier.current in tiers else TIERS[0])
        self.model.setVisible(bool(offer.models))
        self.tier.setVisible(bool(offer.models))

    def _note_model(self, model: str) -> None:
        self._chosen_model = model


def describe_offline(offer: AskOffer) -> str:
    """Why no model answers and how one can; "" where one does."""
    strings = ask_strings()["offline"]
    if offer.chosen:
        return ""
    form = strings["no_model" if offer.server is ModelServerState.READY else offer.server.value]
    return str(form).format(host=offer.host, code=offer.code)
