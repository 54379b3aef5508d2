"""The card at the foot of the plan on which a walk shows where one is: the room, the words, what the keys do.

Must not do: ask the engine, move the camera.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QSizePolicy, QWidget

from core.types.clock import Clock
from core.types.views import Grade, WalkStop
from ui.pages.palace.picture.furniture import NEUTRAL
from ui.pages.palace.walk.round import WalkRound
from ui.strings import format_count, walk_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.widgets.basics import (
    Elided,
    FlowLayout,
    KeyButton,
    accept_own_key,
    make_column,
    make_label,
    make_row,
    make_scroll_area,
    make_tool_button,
    plain_key,
)
from ui.widgets.labels import KIND_WORDS, count_unit, format_said_or_noted, format_span, name_speaker
from ui.widgets.plaintext import MarkedText, one_line

GRADES = (Grade.AGAIN, Grade.HARD, Grade.GOOD, Grade.EASY)
_KEY = Qt.Key
_NUMBERS = dict(zip((_KEY.Key_1, _KEY.Key_2, _KEY.Key_3, _KEY.Key_4), GRADES, strict=True))
_STEPS = {_KEY.Key_Up: -1, _KEY.Key_Down: 1}
_OWN = frozenset(
    {_KEY.Key_Left, _KEY.Key_Right, _KEY.Key_Space, _KEY.Key_R, _KEY.Key_W, _KEY.Key_Escape, *_NUMBERS, *_STEPS}
)
_OF_A_BUTTON = frozenset({_KEY.Key_Space})
_LARGE = 160
"""Characters up to which a text is set large."""
_TEXT_SHARE = 0.3
"""Share of the plan's height that the words take at most; what is longer scrolls."""
_SPOKEN = 400


class GradeButton(QWidget):
    """One answer: its key, and when the landmark would be due after it."""

    def __init__(self, theme: Theme, grade: Grade, number: int, run: Callable[[Grade], None]) -> None:
        super().__init__()
        strings = walk_strings()
        self._title, self._hint = strings["grades"][grade.value], strings["grade_hints"][grade.value]
        kind = "primary" if grade is Grade.GOOD else "plain"
        self.button = KeyButton(theme, self._title, str(number), lambda: run(grade), kind, is_tight=True)
        self.span = make_label("", "small")
        self.span.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        make_column(self, self.button, self.span, gap=2)

    def show_interval(self, ms: int) -> None:
        """Say when the landmark would be due."""
        words = walk_strings()["in"].format(span=format_span(ms))
        self.span.setText(words)
        self.button.setAccessibleName(f"{self._title}, {words}")
        self.button.setToolTip(self._hint)


class WalkCard(QFrame):
    """Where one is on a walk.

    Signals:
        went_on: to the next stop.
        went_back: to the one before.
        revealed: the words are asked for.
        graded: a `Grade`.
        switched: rehearsal on or off.
        restarted: the walk again.
        closed: the walk is over.
    """

    went_on = Signal()
    went_back = Signal()
    revealed = Signal()
    graded = Signal(object)
    switched = Signal()
    restarted = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, clock: Clock, canvas: QWidget) -> None:
        """Make it, hidden.

        Args:
            canvas: over whose foot it is.
        """
        super().__init__(canvas)
        self.setObjectName("popover")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._theme, self._clock, self._canvas = theme, clock, canvas
        self._round: WalkRound | None = None
        self._text = ""
        self._emblem = QLabel()
        self.room = Elided("", "section")
        self.place = make_label("", "muted")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.title = make_label("", "section", wrap=True)
        self.words = make_label("", "muted", wrap=True)
        self.text = MarkedText(theme, walk_strings()["text"], "accent")
        self.note = make_label("", "small", wrap=True)
        self._area = make_scroll_area(self.text)
        self._area.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._make_buttons()
        self._arrange_parts()
        self.text.installEventFilter(self)  # a click on it gives it the keyboard
        self.text.fitted.connect(self.fit_card)
        theme.changed.connect(self._restyle_card)
        canvas.installEventFilter(self)
        self.hide()

    # ---- how it is made

    def _make_buttons(self) -> None:
        strings, theme = walk_strings(), self._theme
        self.back = KeyButton(theme, strings["back"], "←", self.went_back.emit)
        self.next = KeyButton(theme, strings["next"], "→", self.went_on.emit, "primary")
        self.skip = KeyButton(theme, strings["skip"], "→", self.went_on.emit)
        self.reveal = KeyButton(theme, strings["reveal"], "Space", self.revealed.emit, "primary")
        self.switch = KeyButton(theme, strings["rehearse"], "R", self.switched.emit)
        self.again = KeyButton(theme, strings["again"], "W", self.restarted.emit)
        self.end = KeyButton(theme, strings["close"], "Esc", self.closed.emit)
        self.answers = [GradeButton(theme, grade, nr, self.graded.emit) for nr, grade in enumerate(GRADES, 1)]
        self.close_button = make_tool_button(theme, "x", strings["close"], self.closed.emit)
        buttons = (self.back, self.next, self.skip, self.reveal, self.switch, self.again, self.end)
        for one in (*buttons, *(answer.button for answer in self.answers), self.close_button):
            one.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            one.installEventFilter(self)  # arrows would go from button to button

    def _arrange_parts(self) -> None:
        header = make_row(self._emblem, self.room, self.place, self.close_button, gap=10)
        header.setStretch(1, 1)
        self._foot = QWidget()
        foot = FlowLayout(self._foot, gap=8)
        for one in (self.back, *self.answers, self.reveal, self.next, self.skip, self.again, self.switch, self.end):
            foot.addWidget(one)
        self._column = make_column(self)
        self._column.addLayout(header)
        for part in (self.progress, self.title, self._area, self.words, self.note, self._foot):
            self._column.addWidget(part)

    # ---- what it shows

    def show_round(self, round_: WalkRound) -> None:
        """Show where a round is."""
        self._round = round_
        self._show_head(round_)
        if round_.is_over:
            self._show_summary(round_)
        else:
            self._show_stop(round_, round_.current)
        self._show_buttons(round_)
        self._show_card()

    def show_sentence(self, title: str, words: str) -> None:
        """Say why there is nothing to walk along."""
        self._round = None
        self._show_emblem(NEUTRAL)
        self.room.set_text(title)
        self.place.setText("")
        self._show_body(words=words)
        self.progress.hide()
        self._show_only(self.end)
        self._announce_words(f"{title}. {words}")
        self._show_card()

    def _show_head(self, round_: WalkRound) -> None:
        strings, stop, count = walk_strings(), round_.current, len(round_.stops)
        number = round_.at + 1
        self._show_emblem(NEUTRAL if round_.is_over else stop.emblem or NEUTRAL)
        self.room.set_text(strings["end"] if round_.is_over else one_line(stop.room, 80))
        self.place.setText("" if round_.is_over else strings["place"].format(number=number, count=count))
        self.progress.setRange(0, count)
        self.progress.setValue(count if round_.is_over else number)
        self.progress.setAccessibleName(strings["place"].format(number=number, count=count))
        self.progress.show()

    def _show_stop(self, round_: WalkRound, stop: WalkStop) -> None:
        strings, number, count = walk_strings(), round_.at + 1, len(round_.stops)
        if round_.is_hidden:
            self._show_body(title=strings["question"], words=strings["question_hint"])
            spoken_text = strings["question"]
        else:
            self._show_body(text=stop.text, note=self._describe_stop(stop))
            spoken_text = one_line(stop.text, _SPOKEN)
            for answer, grade in zip(self.answers, GRADES, strict=True):
                answer.show_interval(stop.intervals[grade])
        self._announce_words(
            strings["spoken"].format(room=one_line(stop.room, 80), number=number, count=count, words=spoken_text)
        )

    def _describe_stop(self, stop: WalkStop) -> str:
        states = walk_strings()["state"]
        if stop.due_at is None:
            state = states["new"]
        else:
            left = stop.due_at - self._clock.now_ms()
            state = states["due"] if left <= 0 else states["later"].format(span=format_span(left))
        when = format_said_or_noted(stop.occurred, stop.recorded_at)
        said_by = stop.speaker
        who = "" if said_by is None else name_speaker(said_by.name, said_by.role, is_edited=said_by.is_edited)
        return " · ".join([*([who] if who else []), KIND_WORDS[stop.kind], when, state])

    def _show_summary(self, round_: WalkRound) -> None:
        strings, summary = walk_strings(), round_.summary
        lines = [format_count(strings["seen"], summary.seen, rooms=count_unit(summary.rooms, "room"))]
        if summary.next_due_at is not None:
            left = summary.next_due_at - self._clock.now_ms()
            lines.append(strings["recalled"].format(recalled=summary.recalled, graded=summary.graded))
            lines.append(strings["next_due_now"] if left <= 0 else strings["next_due"].format(span=format_span(left)))
        elif round_.is_rehearsal:
            lines.append(strings["ungraded"])
        self._show_body(words=" ".join(lines))
        self._announce_words(f"{strings['end']}. {' '.join(lines)}")

    def _show_body(self, *, title: str = "", words: str = "", text: str = "", note: str = "") -> None:
        for label, shown in ((self.title, title), (self.words, words), (self.note, note)):
            label.setText(shown)
            label.setVisible(bool(shown))
        self._area.setVisible(bool(text))
        if text != self._text:  # what is read stays where it was scrolled to
            self._text = text
            self.text.show_text(text, (), "quote" if len(text) <= _LARGE else "body", as_stored=False)
            self._area.verticalScrollBar().setValue(0)

    def _show_buttons(self, round_: WalkRound) -> None:
        strings = walk_strings()
        self.switch.set_title(strings["stop_rehearsing" if round_.is_rehearsal and not round_.is_over else "rehearse"])
        has_previous = round_.is_over or round_.at > 0
        self._take_focus_from(() if has_previous else (self.back,))
        self.back.setEnabled(has_previous)
        if round_.is_over:
            self._show_only(self.back, self.again, self.switch, self.end)
        elif not round_.is_rehearsal:
            self._show_only(self.back, self.next, self.switch)
        elif round_.is_hidden:
            self._show_only(self.back, self.reveal, self.skip, self.switch)
        else:
            self._show_only(*self.answers, self.skip)

    def _show_only(self, *shown: QWidget) -> None:
        buttons = (self.back, *self.answers, self.reveal, self.next, self.skip, self.again, self.switch, self.end)
        self._take_focus_from(one for one in buttons if one not in shown)
        for one in buttons:
            one.setVisible(one in shown)
        self._foot.updateGeometry()

    def _take_focus_from(self, going: Iterable[QWidget]) -> None:
        """Have the keyboard before what has it goes: Qt would give it to a neighbour, and Space would press that."""
        focus = self.window().focusWidget()
        if focus is not None and any(one is focus or one.isAncestorOf(focus) for one in going):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_emblem(self, name: str) -> None:
        side = self._theme.px(sizes().icon_large)
        self._emblem.setPixmap(self._theme.emblem(name, side, "accent", self.devicePixelRatioF()))

    def _announce_words(self, words: str) -> None:
        self.setAccessibleName(walk_strings()["title"])
        if words == self.accessibleDescription():
            return
        self.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # ---- where it is

    def _show_card(self) -> None:
        self.show()
        self.raise_()
        self.fit_card()

    def fit_card(self) -> None:
        """Stand at the foot of the plan, as tall as what is shown needs."""
        if self.isHidden():
            return
        canvas, px = self._canvas, self._theme.px
        edge = spacing().l
        wide, most = max(1, min(px(sizes().dialog_wide), canvas.width() - 2 * edge)), max(1, canvas.height() - edge)
        text = min(self.text.minimumHeight(), max(px(48), round(canvas.height() * _TEXT_SHARE)))
        high = self._height_at(wide, text, is_narrow=False)
        if high > most:  # what can be missed goes, then the words scroll: the buttons stay visible
            high = self._height_at(wide, text, is_narrow=True)
        if high > most:
            high = self._height_at(wide, max(px(24), text - (high - most)), is_narrow=True)
        left = (canvas.width() - wide) // 2
        self.setGeometry(left, canvas.height() - min(high, most) - edge, wide, min(high, most))

    def _height_at(self, wide: int, text: int, *, is_narrow: bool) -> int:
        """How tall the card is, at a width, with so much of it for the words."""
        self._area.setFixedHeight(text)
        layout, round_ = self._column, self._round
        layout.setContentsMargins(*((14, 8, 14, 10) if is_narrow else (20, 14, 20, 16)))
        layout.setSpacing(4 if is_narrow else 10)
        self.note.setVisible(bool(self.note.text()) and not is_narrow)
        if round_ is not None and round_.is_rehearsal and not round_.is_over and not round_.is_hidden:
            self.skip.setVisible(not is_narrow)
        layout.activate()
        return max(layout.totalHeightForWidth(wide), layout.totalMinimumSize().height())

    def _restyle_card(self) -> None:
        if self.isHidden():
            return  # nobody walks: the card stays away
        if self._round is not None:
            self.show_round(self._round)
        else:
            self._show_emblem(NEUTRAL)
            self.fit_card()

    # ---- Qt's events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """The plan has another size; a key that is the walk's is so on its words and buttons too."""
        if watched is self._canvas:
            if event.type() == QEvent.Type.Resize:
                self.fit_card()
            return False
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = plain_key(event)
            is_own = key in _OWN and (watched is self.text or key not in _OF_A_BUTTON)
            return is_own and self._handle_key(key)
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Its keys are its own, although a command of the window may have one too."""
        return accept_own_key(event, lambda key: plain_key(key) in _OWN) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk; other keys are the window's."""
        if not self._handle_key(plain_key(event)):
            super().keyPressEvent(event)

    def _handle_key(self, key: int) -> bool:
        if key not in _OWN:
            return False
        round_ = self._round
        if key == _KEY.Key_Escape:
            self.closed.emit()
        elif round_ is None:
            return True
        elif key in _STEPS:
            bar = self._area.verticalScrollBar()
            bar.setValue(bar.value() + _STEPS[_KEY(key)] * self._theme.px(40))
        elif key == _KEY.Key_R:
            self.switched.emit()
        elif key == _KEY.Key_Left:
            self.went_back.emit()
        elif round_.is_over:
            self._handle_key_at_end(key)
        else:
            self._handle_key_at_stop(round_, key)
        return True

    def _handle_key_at_end(self, key: int) -> None:
        if key == _KEY.Key_W:
            self.restarted.emit()

    def _handle_key_at_stop(self, round_: WalkRound, key: int) -> None:
        if key == _KEY.Key_Right:
            self.went_on.emit()
        elif key == _KEY.Key_Space:
            if round_.is_hidden:
                self.revealed.emit()
            elif not round_.is_rehearsal:
                self.went_on.emit()
        elif key in _NUMBERS and round_.is_rehearsal and not round_.is_hidden:
            self.graded.emit(_NUMBERS[_KEY(key)])
