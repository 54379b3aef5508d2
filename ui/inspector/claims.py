"""The section that says what a memory claims, how sure that is and by which words, and what is against it.

Looking at a claim, by pointer or by keyboard, marks its words in the text. Must not do: settle a contradiction.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QSpacerItem, QWidget

from core.types.memory import ClaimHeld, EvidenceSeen, OpenConflict
from core.types.values import Memory
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec, Pointed
from ui.inspector.shared_widgets import make_flush_row
from ui.inspector.trust import describe_claim_state, describe_opposition, describe_quote, format_score
from ui.strings import belief_strings, format_count, inspector_strings, window_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, clear_layout, make_button, make_column, make_label, make_row
from ui.widgets.labels import describe_claim
from ui.widgets.plaintext import one_line

REVIEW = "review"
_GRAVE = frozenset({"contradiction", "quarantine", "injection"})
_QUOTE, _HEAD = 200, 160
_ORIGIN = "inspector"
_STEP = 8
_ORDER = ("asserted", "disputed", "draft", "superseded", "retracted")
_TONES = {"asserted": "accent", "disputed": "warning", "draft": "muted", "retracted": "muted", "superseded": "muted"}


class StateMark(QWidget):
    """The state of a claim as a shape.

    It holds: a full disc. Disputed: a disc half full. Waits: a dashed ring. Taken back: a ring with a cross. No longer
    holds: a ring with a bar.
    """

    def __init__(self, theme: Theme, state: str) -> None:
        super().__init__()
        self.state = state
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(str(belief_strings()["states"][state]))
        self.setToolTip(str(belief_strings()["state_hints"][state]))
        theme.changed.connect(self._fix_size)
        self._fix_size()

    def _fix_size(self) -> None:
        self.setFixedSize(self._theme.px(13), self._theme.px(18))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the shape."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, side = self._theme.colour(_TONES[self.state]), self.width() - 3.0
        place = QRectF(1.5, (self.height() - side) / 2, side, side)
        line = Qt.PenStyle.DotLine if self.state == "draft" else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 1.5, line))
        if self.state == "asserted":
            painter.setBrush(colour)
        painter.drawEllipse(place)
        middle, reach = place.center(), side * 0.24
        if self.state == "disputed":
            painter.setBrush(colour)
            painter.drawPie(place, 90 * 16, 180 * 16)
        elif self.state == "superseded":
            painter.drawLine(middle - QPointF(reach, 0), middle + QPointF(reach, 0))
        elif self.state == "retracted":
            painter.drawLine(middle - QPointF(reach, reach), middle + QPointF(reach, reach))
            painter.drawLine(middle - QPointF(reach, -reach), middle + QPointF(reach, -reach))
        painter.end()


class ClaimRow(QPushButton):
    """A button whose words wrap.

    Signals:
        looked: somebody looks at it now, or does not any more.
    """

    looked = Signal()

    def __init__(self, mark: QWidget, *lines: QWidget) -> None:
        """Make it.

        Args:
            mark: shown before the words.
            *lines: below each other.
        """
        super().__init__()
        self.setProperty("kind", "line")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        inner = make_column(None, *lines, gap=1)
        self._box = make_row(parent=self, gap=8)
        self._box.setContentsMargins(6, 5, 6, 5)
        self._box.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        self._box.addLayout(inner, 1)
        for widget in lines:
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def is_looked_at(self) -> bool:
        """Whether the pointer or the keyboard is on it."""
        return self.underMouse() or self.hasFocus()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As its words need."""
        return self._box.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As tall as its words need at this width."""
        return QSize(80, self.heightForWidth(max(self.width(), 80)))

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Its words wrap."""
        return self._box.totalHeightForWidth(width)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        """The pointer came."""
        super().enterEvent(event)
        self.looked.emit()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """The pointer went."""
        super().leaveEvent(event)
        self.looked.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The keyboard came."""
        super().focusInEvent(event)
        self.looked.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """The keyboard went."""
        super().focusOutEvent(event)
        self.looked.emit()


class ClaimBox(QWidget):
    """A claim, and its quotes once it is pressed.

    Signals:
        pointed: a `Pointed`.
        looked_at: id of a memory that shall be looked at.
    """

    pointed = Signal(object)
    looked_at = Signal(str)

    def __init__(self, theme: Theme, claim: ClaimHeld, memory_id: str) -> None:
        super().__init__()
        self.claim, self._memory_id = claim, memory_id
        sentence, state = describe_claim(claim.seen), describe_claim_state(claim)
        is_over = claim.seen.state in {"retracted", "superseded"}
        self.row = ClaimRow(
            StateMark(theme, claim.seen.state),
            make_label(sentence, "muted" if is_over else "body", wrap=True),
            make_label(state, "small", wrap=True),
        )
        self.row.setAccessibleName(f"{sentence}. {state}")
        self.row.setAccessibleDescription(belief_strings()["claims"]["hint"])
        self.row.clicked.connect(self.toggle_quotes)
        self.row.looked.connect(self._emit_pointed)
        self._quotes = QWidget()
        self._inside = make_column(self._quotes, gap=6)
        self._inside.setContentsMargins(27, 2, 6, 6)
        self._quotes.hide()
        make_column(self, self.row, self._quotes, gap=0)

    @property
    def is_open(self) -> bool:
        """Whether its quotes are shown."""
        return not self._quotes.isHidden()

    def toggle_quotes(self) -> None:
        """Show or hide its quotes; its words in the text come into sight."""
        if not self._inside.count():
            self._fill_quotes()
        self._quotes.setVisible(not self.is_open)
        if self.is_open:
            self.pointed.emit(Pointed(self.claim.seen.spans, self.claim.denied, reveals=True))

    def _emit_pointed(self) -> None:
        found = Pointed(self.claim.seen.spans, self.claim.denied) if self.row.is_looked_at else Pointed()
        self.pointed.emit(found)

    def _fill_quotes(self) -> None:
        strings = belief_strings()["claims"]
        for quote in self.claim.evidence:
            self._inside.addWidget(self._make_quote(quote))
        more = self.claim.pieces - len(self.claim.evidence)
        if more > 0:
            self._inside.addWidget(make_label(strings["more"].format(count=more), "small"))
        if not self.claim.evidence:
            self._inside.addWidget(make_label(strings["none"], "small", wrap=True))

    def _make_quote(self, quote: EvidenceSeen) -> QWidget:
        stance = {"supporting": "for", "contradicting": "contradicting"}.get(quote.stance, "neutral")
        role = "warning" if stance == "contradicting" else "small"
        above = f"{belief_strings()['claims'][stance]} · {describe_quote(quote, self._memory_id)}"
        widget = QWidget()
        layout = make_column(widget, make_label(above, role, wrap=True), gap=1)
        layout.addWidget(make_label(f"“{one_line(quote.quote, _QUOTE)}”", wrap=True))
        if quote.memory_id != self._memory_id:
            look = make_button(
                window_strings()["buttons"]["show"], lambda: self.looked_at.emit(quote.memory_id), kind="link"
            )
            layout.addLayout(make_flush_row(look, None))
        return widget


class OpposedBox(QFrame):
    """What is open about a memory: both sides, and the way to the desk."""

    def __init__(
        self, item: OpenConflict, memory: Memory, look: Callable[[str], None], settle: Callable[[str], None]
    ) -> None:
        """Make it.

        Args:
            memory: the one that is looked at.
            look: called with the other's id.
            settle: called with the item's id.
        """
        super().__init__()
        self.setObjectName("banner")
        self.setProperty("tone", "warning" if item.kind in _GRAVE else "plain")
        strings, other = belief_strings()["opposed"], item.other
        title = describe_opposition(item)
        layout = make_column(self, make_label(title, "strong", wrap=True), gap=8, margins=12)
        links = QWidget()
        flow = FlowLayout(links, gap=4)
        if other is not None:
            statement = describe_claim(item.theirs) if item.theirs else one_line(other.text, _HEAD)
            name = strings["other_stands"] if item.is_newcomer else strings["other_came"]
            if item.mine is not None:  # else its own text is above in full
                layout.addWidget(_make_opposed_side(strings["this"], memory.trust, describe_claim(item.mine)))
            layout.addWidget(_make_opposed_side(name, other.trust, statement))
        name = strings["settle" if other is not None else "decide"]
        flow.addWidget(make_button(name, lambda: settle(item.item_id)))
        if other is not None:
            flow.addWidget(make_button(strings["look"], lambda: look(other.id), kind="ghost"))
        layout.addWidget(links)
        self.setAccessibleName(title)


def _make_opposed_side(name: str, trust: float, sentence: str) -> QWidget:
    widget = QWidget()
    make_column(
        widget,
        make_label(
            inspector_strings()["claims"]["side"].format(name=name, trust=format_score(trust)), "small", wrap=True
        ),
        make_label(sentence, wrap=True),
        gap=0,
    )
    return widget


class ClaimsSection(InspectorSection):
    """What is open about a memory, and its claims."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._drawn: tuple[object, ...] = ()
        self._most = _STEP
        self._claims: tuple[ClaimHeld, ...] = ()
        self._memory_id = ""
        self._open = make_column(gap=8)
        self._inner = make_column(gap=0)
        self._title = make_label(inspector_strings()["claims"]["title"], "label")
        layout = make_column(self, gap=8)
        layout.addLayout(self._open)
        self._between = QSpacerItem(0, 0)
        layout.addItem(self._between)
        layout.addWidget(self._title)
        layout.addLayout(self._inner)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            Whether it claims anything, or anything is open about it.
        """
        belief, memory = inspected.belief, inspected.memory
        drawn = (memory.id, memory.text, memory.trust, belief.claims, belief.opposed)
        if drawn != self._drawn:  # else what is open stays open, and the keyboard where it is
            if memory.id != self._memory_id:
                self._most = _STEP
            ordered = sorted(belief.claims, key=lambda claim: _ORDER.index(claim.seen.state))
            self._drawn, self._claims, self._memory_id = drawn, tuple(ordered), memory.id
            clear_layout(self._open)
            for item in belief.opposed:
                self._open.addWidget(OpposedBox(item, memory, self._select_memory, self._open_review_item))
            self._show_claims()
        self._title.setVisible(bool(belief.claims))
        self._between.changeSize(0, 8 if belief.claims and belief.opposed else 0)
        return bool(belief.claims or belief.opposed)

    def _show_claims(self) -> None:
        clear_layout(self._inner)
        for claim in self._claims[: self._most]:
            box = ClaimBox(self.context.theme, claim, self._memory_id)
            box.pointed.connect(self.pointed)
            box.looked_at.connect(self._select_memory)
            self._inner.addWidget(box)
        hidden = len(self._claims) - self._most
        if hidden > 0:
            forms = inspector_strings()["claims"]["more"]
            more = make_button(format_count(forms, hidden), self._show_all, kind="link")
            self._inner.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _show_all(self) -> None:
        self._most = len(self._claims)
        self._show_claims()

    def _select_memory(self, memory_id: str) -> None:
        self.context.selection.select(memory_id, _ORIGIN)

    def _open_review_item(self, item_id: str) -> None:
        self.context.desk.go.emit(REVIEW, item_id)


CLAIMS = InspectorSectionSpec("claims", 17, ClaimsSection)
