"""One item as the person decides it: the question, why it is asked, the warning, both sides, what can be done.

Where several are chosen: what they are, and what can be done with all of them. The buttons stay visible: what is read
scrolls above them. Must not do: ask the engine, or carry a decision out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from core.types.reviews import Follow, ReviewItem, ReviewRow, Suggestion
from core.types.values import Action
from ui.lists.list_view import EdgeFade
from ui.pages.review.labels import (
    ASKS,
    MANY,
    ORDER,
    can_repeat,
    card_headings,
    describe_action,
    describe_batch_action,
    format_family_count,
    list_families,
    may_become_rule,
    name_rule_source,
    review_row_note,
    source_name,
)
from ui.pages.review.side_card import SideBySide, SideCard
from ui.strings import review_strings
from ui.theme.theme import Theme
from ui.theme.tokens import spacing
from ui.widgets.basics import (
    FlowLayout,
    KeyButton,
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_keycap,
    make_label,
    make_row,
)
from ui.widgets.plaintext import one_line
from ui.widgets.states import Banner

_ICON = 18
_CHARACTERS = 400


class WarningBanner(QFrame):
    """A triangle, a word, and what letting the memory in would mean; hidden where there is nothing to warn of."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("banner")
        self.setProperty("tone", "warning")
        self._theme, self._sign = theme, QLabel()
        self._title = make_label(review_strings()["warned"], "strong", wrap=True)
        self._text = make_label("", wrap=True)
        layout = make_row(self._sign, margins=12, gap=12, parent=self)
        layout.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(make_column(None, self._title, self._text, gap=2), 1)
        theme.changed.connect(self._restyle_sign)
        self._restyle_sign()
        self.hide()

    @property
    def sentence(self) -> str:
        """What is said; "" while it is hidden."""
        return "" if self.isHidden() else self._text.text()

    def _restyle_sign(self) -> None:
        side = self._theme.px(_ICON)
        self._sign.setFixedSize(side, side)
        self._sign.setPixmap(self._theme.icon("triangle-alert", "warning").pixmap(QSize(side, side)))

    def show_sentence(self, sentence: str) -> None:
        """Show the sentence of the warning.

        Args:
            sentence: from the engine; "" hides it.
        """
        self._text.setText(one_line(sentence, _CHARACTERS))
        self.setAccessibleName(f"{self._title.text()}. {self._text.text()}")
        self.setVisible(bool(sentence))


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
        self._title = make_label("", "strong", wrap=True)
        self._text = make_label("", "muted", wrap=True)
        self.other_dates = make_button(review_strings()["change_date"], self._emit_asked, kind="link")
        self.act: KeyButton | None = None
        self._action = Action.SKIP
        left = QWidget()
        texts = make_column(left, self._title, self._text, gap=2)
        texts.addLayout(_make_left_row(self.other_dates))
        self._box = make_row(left, parent=self, gap=16)
        self._box.setContentsMargins(20, 12, 20, 12)
        self._box.setStretch(0, 1)

    def show_suggestion(self, item: ReviewItem) -> None:
        """Show what is suggested; hidden where nothing is."""
        if self.act is not None:
            self._box.removeWidget(self.act)
            self.act.hide()
            self.act.deleteLater()
            self.act = None
        suggestion = item.suggestion
        self.setVisible(suggestion is not None)
        if suggestion is None:
            return
        self._action = suggestion.action
        wording = describe_action(suggestion.action, item.kind, is_pair=item.existing is not None)
        is_ready = acts_at_once(suggestion)
        what = wording.plain[:1].lower() + wording.plain[1:]
        self._title.setText(review_strings()["suggested"].format(what=what))
        self._text.setText(one_line(suggestion.sentence, 400))
        self.setAccessibleName(f"{self._title.text()}. {self._text.text()}")
        self.other_dates.setVisible(is_ready and suggestion.action is Action.KEEP_BOTH_DATED)
        title = wording.plain if is_ready else wording.title
        self.act = KeyButton(self._theme, title, wording.key, lambda: self.pressed.emit(self._action), "primary")
        self.act.setToolTip(wording.hint)
        self._box.addWidget(self.act, 0, Qt.AlignmentFlag.AlignVCenter)
        self.act.show()  # at once: a layout would show it only in the next turn, and the keyboard may want it now

    def _emit_asked(self) -> None:
        self.asked.emit(self._action)


def acts_at_once(suggestion: Suggestion) -> bool:
    """Whether a suggestion says all that its decision needs."""
    if suggestion.action is Action.KEEP_BOTH_DATED:
        return suggestion.at is not None
    return suggestion.action not in ASKS


class DecisionBar(QWidget):
    """The other actions, each with its key; the tick for a rule.

    Signals:
        pressed: the action.
    """

    pressed = Signal(Action)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(review_strings()["item"]["actions"])
        self._theme = theme
        self.buttons: dict[Action, KeyButton] = {}
        self._item: ReviewItem | None = None
        self._flow_box = QWidget()
        self._flow = FlowLayout(self._flow_box, gap=8)
        self._undo = QWidget()
        make_row(make_label(review_strings()["undo"], "muted"), make_keycap("Ctrl+Z"), parent=self._undo, gap=6)
        self.remember = QCheckBox()
        self.remember.setToolTip(review_strings()["remember_note"])
        self.remember.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.remember.toggled.connect(lambda _: self._enable_buttons())
        foot = QWidget()
        self._foot = FlowLayout(foot, gap=16)
        self._foot.addWidget(self.remember)
        self._foot.addWidget(self._undo)
        make_column(self, self._flow_box, foot, gap=12)

    def show_item(self, item: ReviewItem) -> None:
        """Offer what can be decided; what is suggested is above."""
        clear_layout(self._flow)
        self.buttons.clear()
        self._item = item
        above = item.suggestion.action if item.suggestion is not None else None
        for action in ORDER:
            if action in item.actions and action is not above:
                wording = describe_action(action, item.kind, is_pair=item.existing is not None)
                button = KeyButton(self._theme, wording.short, wording.key, self._make_presser(action))
                button.setToolTip(wording.hint)
                self._flow.addWidget(button)
                button.show()
                self.buttons[action] = button
        may = any(can_repeat(item, action) for action in item.actions)
        self.remember.setChecked(False)
        self.remember.setVisible(may)
        if may and may_become_rule(item):
            label = review_strings()["remember"].format(who=name_rule_source(item))
            self.remember.setText(label.replace("&", "&&"))
            self.remember.setAccessibleName(label)
        self._flow_box.updateGeometry()
        self.updateGeometry()

    def show_undo_hint(self, *, is_shown: bool) -> None:
        """Say that every decision can be undone, where there is room for it."""
        self._undo.setVisible(is_shown and self._item is not None and bool(self._item.actions))

    def _make_presser(self, action: Action) -> Callable[[], None]:
        return lambda: self.pressed.emit(action)

    def _enable_buttons(self) -> None:
        """A decision that depends on the two texts cannot be repeated: with the tick it is not offered."""
        for action, button in self.buttons.items():
            button.setEnabled(self.is_allowed(action))

    def is_allowed(self, action: Action) -> bool:
        """Whether an action can be decided with the tick as it is now."""
        if self._item is None or not self.remember.isChecked():
            return True
        return action is Action.SKIP or can_repeat(self._item, action)


class FollowsRow(QWidget):
    """What rests on the current memory.

    Signals:
        memories_asked: the ids of the memories meant.
    """

    memories_asked = Signal(tuple)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(review_strings()["follows"])
        self._theme = theme
        inner = QWidget()
        self._flow = FlowLayout(inner, gap=28)
        make_column(self, make_hairline(), make_label(review_strings()["follows"], "label"), inner, gap=10)

    def show_follows(self, follows: Sequence[Follow]) -> None:
        """Show them; hidden where there is none."""
        clear_layout(self._flow)
        self.setVisible(bool(follows))
        for one in follows:
            self._flow.addWidget(self._make_entry(one))
        self.updateGeometry()

    def _make_entry(self, one: Follow) -> QWidget:
        entry = QWidget()
        headline = one_line(one.headline, 80)
        if one.ids:
            link = make_button(headline, lambda: self.memories_asked.emit(one.ids), kind="link")
            link.setAccessibleName(review_strings()["item"]["show"].format(name=headline))
            top: QWidget = link
        else:
            top = make_label(headline, "strong", wrap=True)
        sentence = make_label(one_line(one.sentence, 200), "muted", wrap=True)
        box = make_column(entry, gap=2)
        if one.ids:
            box.addLayout(_make_left_row(top))
        else:
            box.addWidget(top)
        box.addWidget(sentence)
        width = self._theme.px(_FOLLOW_WIDTH)
        entry.setFixedSize(width, box.totalHeightForWidth(width))
        entry.setAccessibleName(f"{headline} {sentence.text()}")
        return entry


def _make_left_row(link: QWidget) -> QHBoxLayout:
    """A link whose words begin where the text above it begins."""
    link.setProperty("flush", "true")
    return make_row(link, None)


_WIDEST = 1080
_WHY_WIDEST = 720
_WHY_CHARACTERS = 640
"""A client's reason (512 bytes at most) is shown whole."""
_LEAST = 80
_BAR = 14
_TALL = 640
_LOW = 220


class _Inner(QWidget):
    """What scrolls: only its height for its width counts; wrapped words would ask for more at their narrowest."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(100, 0)


class ItemScrollArea(QScrollArea):
    """The scroll area of a review item; no taller than it needs to be.

    Signals:
        grown: its content may need another height.
    """

    grown = Signal()

    def __init__(self, inner: QWidget) -> None:
        super().__init__()
        self._inner = inner  # first: as its widget it is watched by the area at once
        self._wanted = 0
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    @property
    def needed(self) -> int:
        """Pixels of height its content needs at its width."""
        layout = self._inner.layout()
        if layout is None:
            return 0
        if layout.hasHeightForWidth():
            return int(layout.totalHeightForWidth(self.viewport().width()))
        return int(layout.minimumSize().height())

    def set_wanted_height(self, height: int) -> None:
        """Take so many pixels of height, less where the window is made smaller, never more."""
        if height != self._wanted:
            self._wanted = height
            self.setMaximumHeight(height)
            self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as it is wanted."""
        return QSize(200, self._wanted)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It may be narrow and low."""
        return QSize(200, 40)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Its content needs another height."""
        if watched is self._inner and event.type() == QEvent.Type.LayoutRequest:
            self.grown.emit()
        return super().eventFilter(watched, event)


class ItemPanel(QWidget):
    """One review item with both sides and what can be done.

    Signals:
        decided: an action was pressed.
        dates_asked: the suggested dates are to be others.
        memories_asked: ids of memories that somebody wants to see.
    """

    decided = Signal(Action)
    dates_asked = Signal()
    memories_asked = Signal(tuple)

    def __init__(self, theme: Theme, closer: Callable[[str], None], palace: Callable[[str], None]) -> None:
        """Make it, empty: `build` fills it once it is in its place.

        Args:
            closer: opens the inspector on a memory.
            palace: shows a memory in the palace.
        """
        super().__init__()
        self.setAccessibleName(review_strings()["item"]["name"])
        self._theme, self._closer, self._palace = theme, closer, palace
        self.item: ReviewItem | None = None
        self._follows_any = self._is_low = False

    def build_layout(self) -> None:
        """Fill it, from the outside in: a widget that changes its parent is styled anew with all it holds."""
        theme, inner = self._theme, _Inner()
        self.reading = ItemScrollArea(inner)
        self.fade = EdgeFade(theme, self.reading, "background")
        self._outer = make_column(self, self.reading, gap=16)
        self._read = make_column(inner, gap=16)
        self._place = make_label("", "muted")
        self._question = make_label("", "title", wrap=True)
        self._why = make_label("", "muted", wrap=True)
        self._read.addLayout(make_column(None, self._place, self._question, self._why, gap=4))
        self._closed = QWidget()
        self._read.addWidget(self._closed)
        self._closed_box = make_column(self._closed)
        self.warning = WarningBanner(theme)
        self._read.addWidget(self.warning)
        self.existing_card = SideCard(theme, "accent", self._closer, self._palace)
        self.incoming_card = SideCard(theme, "warning", self._closer, self._palace)
        self.cards = SideBySide(theme)
        self._read.addWidget(self.cards)
        self.cards.set_cards(self.existing_card, self.incoming_card)
        self._build_bars()
        self.reading.grown.connect(self._share_height)
        self.reading.verticalScrollBar().rangeChanged.connect(lambda *_: self._clear_bar())
        theme.changed.connect(self._fit_width)

    def _build_bars(self) -> None:
        self.suggestion, self.actions_bar = SuggestionBar(self._theme), DecisionBar(self._theme)
        self.suggestion.pressed.connect(self.decided)
        self.suggestion.asked.connect(lambda _: self.dates_asked.emit())
        self.actions_bar.pressed.connect(self.decided)
        self.follows = FollowsRow(self._theme)
        self.follows.memories_asked.connect(self.memories_asked)
        self._bars = make_column(None, self.suggestion, self.actions_bar, self.follows, gap=16)
        self._outer.addLayout(self._bars)
        self._outer.addStretch(1)

    @property
    def is_pair(self) -> bool:
        """Whether two memories are shown."""
        return self.item is not None and self.item.existing is not None

    @property
    def question(self) -> str:
        """What is asked."""
        return self._question.text()

    @property
    def why(self) -> str:
        """Why it is asked."""
        return self._why.text()

    @property
    def place(self) -> str:
        """Which one of how many it is."""
        return self._place.text()

    def show_place(self, number: int, total: int) -> None:
        """Say which one it is.

        Args:
            number: from 1.
            total: how many wait.
        """
        self._place.setText(review_strings()["item"]["place"].format(number=number, total=total))

    def name_place(self, *, is_named: bool) -> None:
        """Say it here, or not, where the page says it already."""
        self._place.setVisible(is_named)

    def show_item(self, item: ReviewItem) -> None:
        """Show an item."""
        is_other = self.item is None or self.item.id != item.id
        self.item = item
        self._question.setText(one_line(item.question, 240))
        self._why.setText(" ".join(one_line(sentence, _WHY_CHARACTERS) for sentence in item.why))
        self._show_closed(item.closed)
        self.warning.show_sentence(item.warning)
        first, second = card_headings(item)
        stands = item.existing or item.against
        if stands is not None:
            self.existing_card.show_side(stands, first, names_given=not item.follows)
        self.incoming_card.show_side(item.incoming, second)
        self.cards.show_first(is_shown=stands is not None)
        self.suggestion.show_suggestion(item)
        self.actions_bar.show_item(item)
        self._follows_any = bool(item.follows)
        self.follows.show_follows(item.follows)
        if is_other:
            self.reading.verticalScrollBar().setValue(0)
        self._fit_width()

    def _show_closed(self, sentence: str) -> None:
        while self._closed_box.count():
            taken = self._closed_box.takeAt(0)
            widget = None if taken is None else taken.widget()
            if widget is not None:
                widget.deleteLater()
        self._closed.setVisible(bool(sentence))
        if sentence:
            self._closed_box.addWidget(Banner(sentence, "accent"))

    # ---- room

    def _fit_width(self) -> None:
        px = self._theme.px
        pad = px(spacing().xxl if self.width() >= px(700) else spacing().loose)
        right = max(pad, self.width() - px(_WIDEST) - pad)
        self._outer.setContentsMargins(pad, px(8 if self._place.isHidden() else 20), right - _BAR, px(16))
        self._bars.setContentsMargins(0, 0, _BAR, 0)
        self._clear_bar()
        width = self._content_width
        # Not by a greatest width: a layout asks for the height of the whole line all the same.
        self._why.setContentsMargins(0, 0, max(0, width - px(_WHY_WIDEST)), 0)
        self.cards.arrange_for_width(width)
        self._share_height()

    @property
    def _content_width(self) -> int:
        """Pixels of width for cards and bars."""
        margins = self._outer.contentsMargins()
        return self.width() - margins.left() - margins.right() - _BAR

    def _clear_bar(self) -> None:
        """The scroll bar is in the margin, so that cards and bars end at the same place with it and without."""
        bar = self.reading.verticalScrollBar()
        taken = bar.sizeHint().width() if bar.maximum() > 0 else 0
        self._read.setContentsMargins(0, 0, max(0, _BAR - taken), 0)

    def _share_height(self) -> None:
        """Give what is read the height it needs, or what the buttons leave."""
        margins, width = self._outer.contentsMargins(), self._content_width
        room = self.height() - margins.top() - margins.bottom()
        self.actions_bar.show_undo_hint(is_shown=self.height() >= self._theme.px(_TALL))
        taken = sum(_height_for_width(bar, width) + self._outer.spacing() for bar in self._shown_bars)
        is_low = room - taken < self._theme.px(_LOW)
        if is_low != self._is_low:
            self._scroll_bars(is_low=is_low)
        room -= 0 if is_low else taken
        self._place_follows(width, room)
        if self._bars.indexOf(self.follows) >= 0 and self._follows_any:
            room -= _height_for_width(self.follows, width) + self._outer.spacing()
        self.reading.set_wanted_height(max(_LEAST, min(self.reading.needed, room)))

    @property
    def _shown_bars(self) -> list[QWidget]:
        return (
            [self.actions_bar]
            if self.item is None or self.item.suggestion is None
            else [self.suggestion, self.actions_bar]
        )

    def _scroll_bars(self, *, is_low: bool) -> None:
        """Where hardly anything could be read above them, the buttons scroll too, below the cards."""
        self._is_low = is_low
        keyboard = self.focusWidget()
        old, new = (self._bars, self._read) if is_low else (self._read, self._bars)
        for place, bar in enumerate((self.suggestion, self.actions_bar)):
            old.removeWidget(bar)
            new.insertWidget(new.indexOf(self.cards) + 1 + place if is_low else place, bar)
        for bar in self._shown_bars:
            bar.show()  # another parent hides it
        if keyboard is not None and self.isVisible() and any(bar.isAncestorOf(keyboard) for bar in self._shown_bars):
            keyboard.setFocus()

    def _place_follows(self, width: int, room: int) -> None:
        """What follows is below the buttons where there is room, else it scrolls with what is read."""
        if not self._follows_any:
            return
        own = _height_for_width(self.follows, width) + self._outer.spacing()
        is_below = self._bars.indexOf(self.follows) >= 0
        reads = self.reading.needed - (0 if is_below else own)
        if is_below and reads + own > room:
            self._bars.removeWidget(self.follows)
            self._read.addWidget(self.follows)
            self.follows.show()  # another parent hides it
        elif not is_below and reads + own <= room:
            self._read.removeWidget(self.follows)
            self._bars.addWidget(self.follows)
            self.follows.show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Everything finds its place anew."""
        super().resizeEvent(event)
        self._fit_width()


def _height_for_width(widget: QWidget, width: int) -> int:
    layout = widget.layout()
    if layout is not None and layout.hasHeightForWidth():
        return int(layout.totalHeightForWidth(width))
    return widget.sizeHint().height()


# ---- several items at once

_LINE = 30
_LISTED = 200


class BatchPanel(QFrame):
    """The panel shown while several items are chosen.

    Signals:
        decided: an action for all of them.
    """

    decided = Signal(Action)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = review_strings()["batch"]
        self.setAccessibleName(strings["name"])
        self._theme = theme
        self.buttons: dict[Action, KeyButton] = {}
        self._title = make_label("", "title")
        self._what = make_label("", "muted", wrap=True)
        self.list = QListWidget()
        self.list.setObjectName("framed")
        self.list.setAccessibleName(strings["list"])
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.setUniformItemSizes(True)
        self._actions = QWidget()
        self._flow = FlowLayout(self._actions, gap=8)
        self._note = make_label("", "small", wrap=True)
        layout = make_column(self, self._title, self._what, gap=10)
        layout.setContentsMargins(32, 20, 32, 20)
        layout.addWidget(make_label(review_strings()["batch"]["sentence"], wrap=True))
        layout.addWidget(self.list, 1000)
        layout.addWidget(self._actions)
        layout.addWidget(self._note)
        layout.addStretch(1)

    @property
    def title(self) -> str:
        """How many are chosen, in words."""
        return self._title.text()

    def show_rows(self, rows: Sequence[ReviewRow]) -> None:
        """Show what is chosen.

        Args:
            rows: two or more.
        """
        self._title.setText(review_strings()["batch"]["title"].format(count=f"{len(rows):,}"))
        self._what.setText(summarize_rows(rows))
        mixed = any(describe_batch_action(action, rows) is None for action in (Action.REJECT, Action.SUPERSEDE))
        is_odd = mixed and len({row.kind for row in rows}) > 1
        self._note.setText(review_strings()["batch"]["of_one_kind" if is_odd else "needs_each"])
        self.list.clear()
        side = QSize(0, self._theme.px(_LINE))
        for shown in rows[:_LISTED]:
            line = QListWidgetItem(f"{one_line(shown.title, 100)} · {review_row_note(shown)}", self.list)
            line.setSizeHint(side)
        self.list.setMaximumHeight(len(rows) * side.height() + 14)
        clear_layout(self._flow)
        self.buttons.clear()
        for action in MANY:
            wording = describe_batch_action(action, rows)
            if wording is not None:
                button = KeyButton(self._theme, wording.title, wording.key, self._make_presser(action))
                button.setToolTip(wording.hint)
                self._flow.addWidget(button)
                button.show()
                self.buttons[action] = button
        self._actions.updateGeometry()

    def _make_presser(self, action: Action) -> Callable[[], None]:
        return lambda: self.decided.emit(action)


def summarize_rows(rows: Sequence[ReviewRow]) -> str:
    """What they are and where they come from, as `3 conflicts, 2 held back. From an editor, a document.` would be."""
    first = {kind: kinds[0] for _, _, kinds in list_families() for kind in kinds}
    what = Counter(first.get(row.kind, row.kind) for row in rows)
    parts = [format_family_count(kind, count) for kind, count in what.most_common()]
    whence = Counter(_review_source_name(row) for row in rows)
    names = [name for name, _ in whence.most_common(3)]
    form = str(review_strings()["batch"]["summary_more" if len(whence) > 3 else "summary"])
    return form.format(items=", ".join(parts), sources=", ".join(names), count=len(whence) - 3)


def _review_source_name(row: ReviewRow) -> str:
    if row.client:
        return one_line(row.client, 40)
    you = str(review_strings()["batch"]["you"])
    return you if row.source.startswith("user") else source_name(row.source).lower()
