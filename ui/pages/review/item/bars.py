"""What can be done with an item: the suggestion with its button, the other actions with keys, the tick for a rule.

Must not do: carry anything out; it tells what was pressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QSizePolicy, QWidget

from core.types.reviews import Follow, ReviewItem, Suggestion
from core.types.values import Action
from ui.pages.review.words import ASKS, ORDER, can_repeat, from_whom, may_repeat, told
from ui.strings import review_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, button, clear, column, hairline, keycap, label, row
from ui.widgets.keys import KeyButton
from ui.widgets.plaintext import one_line

_FOLLOW_WIDTH = 230


class SuggestionBar(QFrame):
    """What Loci would do, and the one button that does it.

    Signals:
        pressed: the action; asked: the action, with its dialog first.
    """

    pressed = Signal(Action)
    asked = Signal(Action)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("panel")
        self._theme = theme
        self._head = label("", "strong", wrap=True)
        self._words = label("", "muted", wrap=True)
        self.other_dates = button(review_strings()["change_date"], self._ask, kind="link")
        self.act: KeyButton | None = None
        self._action = Action.SKIP
        left = QWidget()
        said = column(left, self._head, self._words, gap=2)
        said.addLayout(_left(self.other_dates))
        self._box = row(left, parent=self, gap=16)
        self._box.setContentsMargins(20, 12, 20, 12)
        self._box.setStretch(0, 1)

    def show_suggestion(self, item: ReviewItem) -> None:
        """Show what is suggested; hidden where nothing is.

        Args:
            item: the item.
        """
        if self.act is not None:
            self._box.removeWidget(self.act)
            self.act.hide()
            self.act.deleteLater()
            self.act = None
        found = item.suggestion
        self.setVisible(found is not None)
        if found is None:
            return
        self._action = found.action
        said = told(found.action, item.kind, is_pair=item.existing is not None)
        is_ready = acts_at_once(found)
        what = said.plain[:1].lower() + said.plain[1:]
        self._head.setText(review_strings()["suggested"].format(what=what))
        self._words.setText(one_line(found.sentence, 400))
        self.setAccessibleName(f"{self._head.text()}. {self._words.text()}")
        self.other_dates.setVisible(is_ready and found.action is Action.KEEP_BOTH_DATED)
        title = said.plain if is_ready else said.title
        self.act = KeyButton(self._theme, title, said.key, lambda: self.pressed.emit(self._action), "primary")
        self.act.setToolTip(said.hint)
        self._box.addWidget(self.act, 0, Qt.AlignmentFlag.AlignVCenter)
        self.act.show()  # at once: a layout would show it only in the next turn, and the keyboard may want it now

    def _ask(self) -> None:
        self.asked.emit(self._action)


def acts_at_once(suggestion: Suggestion) -> bool:
    """Whether a suggestion says all that its decision needs."""
    if suggestion.action is Action.KEEP_BOTH_DATED:
        return suggestion.at is not None
    return suggestion.action not in ASKS


class ActionBar(QWidget):
    """The other actions, each with its key; the tick for a rule.

    Signals:
        pressed: the action.
    """

    pressed = Signal(Action)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("What you can decide")
        self._theme = theme
        self.buttons: dict[Action, KeyButton] = {}
        self._item: ReviewItem | None = None
        self._flow_box = QWidget()
        self._flow = FlowLayout(self._flow_box, gap=8)
        self._undo = QWidget()
        row(label(review_strings()["undo"], "muted"), keycap("Ctrl+Z"), parent=self._undo, gap=6)
        self.remember = QCheckBox()
        self.remember.setToolTip(review_strings()["remember_note"])
        self.remember.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.remember.toggled.connect(lambda _: self._enable())
        foot = QWidget()
        self._foot = FlowLayout(foot, gap=16)
        self._foot.addWidget(self.remember)
        self._foot.addWidget(self._undo)
        column(self, self._flow_box, foot, gap=12)

    def show_item(self, item: ReviewItem) -> None:
        """Offer what can be decided; what is suggested stands above.

        Args:
            item: the item.
        """
        clear(self._flow)
        self.buttons.clear()
        self._item = item
        above = item.suggestion.action if item.suggestion is not None else None
        for action in ORDER:
            if action in item.actions and action is not above:
                said = told(action, item.kind, is_pair=item.existing is not None)
                made = KeyButton(self._theme, said.short, said.key, self._presser(action))
                made.setToolTip(said.hint)
                self._flow.addWidget(made)
                made.show()
                self.buttons[action] = made
        may = any(can_repeat(item, action) for action in item.actions)
        self.remember.setChecked(False)
        self.remember.setVisible(may)
        if may and may_repeat(item):
            said_so = review_strings()["remember"].format(who=from_whom(item))
            self.remember.setText(said_so.replace("&", "&&"))
            self.remember.setAccessibleName(said_so)
        self._flow_box.updateGeometry()
        self.updateGeometry()

    def say_undo(self, *, is_said: bool) -> None:
        """Say that every decision can be undone, where there is room for it."""
        self._undo.setVisible(is_said and self._item is not None and bool(self._item.actions))

    def _presser(self, action: Action) -> Callable[[], None]:
        return lambda: self.pressed.emit(action)

    def _enable(self) -> None:
        """A decision that depends on the two texts cannot be repeated: with the tick it is not offered."""
        for action, made in self.buttons.items():
            made.setEnabled(self.allows(action))

    def allows(self, action: Action) -> bool:
        """Whether an action can be decided as the tick stands."""
        if self._item is None or not self.remember.isChecked():
            return True
        return action is Action.SKIP or can_repeat(self._item, action)


class FollowsRow(QWidget):
    """What rests on the memory that stands.

    Signals:
        led: the ids of the memories meant.
    """

    led = Signal(tuple)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(review_strings()["follows"])
        self._theme = theme
        inner = QWidget()
        self._flow = FlowLayout(inner, gap=28)
        column(self, hairline(), label(review_strings()["follows"], "label"), inner, gap=10)

    def show_follows(self, follows: Sequence[Follow]) -> None:
        """Show them; hidden where there is none.

        Args:
            follows: from the engine.
        """
        clear(self._flow)
        self.setVisible(bool(follows))
        for one in follows:
            self._flow.addWidget(self._entry(one))
        self.updateGeometry()

    def _entry(self, one: Follow) -> QWidget:
        made = QWidget()
        head = one_line(one.headline, 80)
        if one.ids:
            link = button(head, lambda: self.led.emit(one.ids), kind="link")
            link.setAccessibleName(f"Show {head}")
            top: QWidget = link
        else:
            top = label(head, "strong", wrap=True)
        said = label(one_line(one.sentence, 200), "muted", wrap=True)
        box = column(made, gap=2)
        if one.ids:
            box.addLayout(_left(top))
        else:
            box.addWidget(top)
        box.addWidget(said)
        width = self._theme.px(_FOLLOW_WIDTH)
        made.setFixedSize(width, box.totalHeightForWidth(width))
        made.setAccessibleName(f"{head} {said.text()}")
        return made


def _left(link: QWidget) -> QHBoxLayout:
    """A link whose words begin where the text above it begins."""
    link.setProperty("flush", "true")
    return row(link, None)
