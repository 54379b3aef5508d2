"""One of the two memories as a card: its text with the words at odds marked, where it comes from, what it claims.

Hidden characters are shown as a bordered mark; a copy is the original. Must not do: interpret or change a text, ask
the engine, or keep the keyboard from the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.types.reviews import ClaimSeen, Side
from core.types.values import STANDING
from ui.bridge import mark_spans
from ui.pages.review.labels import (
    claim_quote,
    describe_dates,
    describe_provenance,
    describe_receiver,
    describe_side_status,
    describe_validity,
    review_claim_note,
)
from ui.strings import inspector_strings, review_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import FontRole
from ui.widgets.basics import clear_layout, make_button, make_column, make_hairline, make_label, make_row
from ui.widgets.labels import describe_claim
from ui.widgets.plaintext import MarkedText, has_marks
from ui.widgets.shapes import KindMark

SHORT = 220
"""Characters up to which a text is set large."""
FOLD = 9
"""Lines after which a long text is folded."""
_CLAIMS = 3


class SideCard(QFrame):
    """One of the two memories as a card."""

    def __init__(self, theme: Theme, tone: str, closer: Callable[[str], None], palace: Callable[[str], None]) -> None:
        """Make it.

        Args:
            tone: `accent` for the existing memory, `warning` for what arrived; the heading says it too.
            closer: opens the inspector on a memory.
            palace: shows a memory in the palace.
        """
        super().__init__()
        strings = review_strings()["side"]
        self.setObjectName("card")
        self._theme, self._tone = theme, tone
        self._side: Side | None = None
        self._mark = KindMark(theme, size=12, colour=tone)
        self._heading = make_label("", "label")
        self._heading.setAccessibleDescription(review_strings()["side"]["heading"])
        self.trust = _make_pill()
        self.text = MarkedText(theme, "", tone)
        self.text.fitted.connect(self._name_fold)
        self.fold = make_button(strings["all"], self._toggle_fold, kind="link")
        self.stored = make_button(
            "", self._toggle_stored, kind="link", hint=inspector_strings()["text"]["as_stored_hint"]
        )
        self._is_stored = False
        self.hidden = make_label(review_strings()["hidden"], "warning", wrap=True)
        self.origin = make_label("", "muted", wrap=True)
        self.when = make_label("", "muted", wrap=True)
        self._rule = make_hairline()
        self._claims = QWidget()
        self._claims_box = make_column(self._claims, gap=8)
        self.closer = make_button(strings["details"], lambda: self._emit_lead(closer), kind="link")
        self.closer.setToolTip(strings["details_hint"])
        self.palace = make_button(strings["palace"], lambda: self._emit_lead(palace), kind="link")
        self._build_layout()

    def _build_layout(self) -> None:
        layout = make_column(self, gap=10)
        layout.setContentsMargins(20, 16, 20, 14)
        layout.addLayout(make_row(self._mark, self._heading, None, self.trust, gap=8))
        layout.addWidget(self.text)
        layout.addLayout(_make_flush_row(self.fold, self.stored))
        layout.addWidget(self.hidden)
        facts = make_column(None, self.origin, self.when, gap=2)
        layout.addLayout(facts)
        layout.addWidget(self._rule)
        layout.addWidget(self._claims)
        layout.addStretch(1)
        layout.addLayout(_make_flush_row(self.closer, self.palace))

    def show_side(self, side: Side, heading: str, *, names_given: bool = True) -> None:
        """Show a memory.

        Args:
            heading: what it is here, such as `New memory`.
            names_given: whether to say whom it was given to; what follows may say it already.
        """
        strings = review_strings()["side"]
        self._side, self._is_stored = side, False
        memory = side.memory
        self._mark.show_kind(memory.kind)
        self._heading.setText(heading.upper())
        self._heading.setAccessibleName(heading)
        trusted = review_strings()["trust"].format(percent=round(100 * memory.trust))
        self.setAccessibleName(f"{heading}, {trusted}")
        self.trust.setText(trusted)
        self.trust.setToolTip(review_strings()["trust_hint"])
        self.text.setAccessibleName(strings["text"].format(heading=heading))
        self._write_text(side)
        self.hidden.setVisible(has_marks(memory.text))
        self.origin.setText(describe_provenance(side))
        parts = [
            describe_dates(side),
            describe_receiver(side) if names_given else "",
            describe_validity(side),
            describe_side_status(side),
        ]
        self.when.setText(" · ".join(part for part in parts if part))
        self._show_claims(memory.text, side.claims)
        self.closer.setAccessibleName(strings["details_name"].format(heading=heading))
        self.palace.setAccessibleName(strings["palace_name"].format(heading=heading))
        self.palace.setVisible(memory.status in STANDING)
        self._name_fold()

    def _write_text(self, side: Side) -> None:
        """Show the text as it reads, or as it was stored."""
        text, strings = side.memory.text, inspector_strings()["text"]
        is_short = len(text) <= SHORT
        role: FontRole = "quote" if is_short else "body"
        self.text.show_text(text, side.marks, role, 0 if is_short else FOLD, as_stored=self._is_stored)
        title = strings["as_read" if self._is_stored else "as_stored"]
        self.stored.setText(title)
        self.stored.setAccessibleName(f"{title}: {self._heading.accessibleName()}")
        self.stored.setVisible(bool(mark_spans(text)))

    def _toggle_stored(self) -> None:
        self._is_stored = not self._is_stored
        if self._side is not None:
            self._write_text(self._side)
            self._name_fold()

    def _show_claims(self, text: str, claims: Sequence[ClaimSeen]) -> None:
        clear_layout(self._claims_box)
        shown = [claim for claim in claims if claim.state != "retracted"][:_CLAIMS]
        self._rule.setVisible(bool(shown))
        self._claims.setVisible(bool(shown))
        if shown:
            self._claims_box.addWidget(make_label(review_strings()["evidence"], "label"))
        for claim in shown:
            self._claims_box.addWidget(_Evidence(claim, claim_quote(text, claim.spans), self._tone))

    def _name_fold(self) -> None:
        is_folded = self.text.is_folded
        title = review_strings()["side"]["all_of_it"] if is_folded else window_strings()["buttons"]["show_less"]
        self.fold.setText(title)
        self.fold.setAccessibleName(f"{title}: {self._heading.accessibleName()}")
        long = self._side is not None and len(self._side.memory.text) > SHORT
        self.fold.setVisible(long and self.text.is_longer_than(FOLD))

    def _toggle_fold(self) -> None:
        self.text.fold_after(0 if self.text.is_folded else FOLD)

    def _emit_lead(self, where: Callable[[str], None]) -> None:
        if self._side is not None:
            where(self._side.memory.id)


class _Evidence(QFrame):
    """A claim with what backs it, beside a bar in the card's colour."""

    def __init__(self, claim: ClaimSeen, quote: str, tone: str) -> None:
        super().__init__()
        self.setObjectName("evidence")
        self.setProperty("tone", tone)
        layout: QVBoxLayout = make_column(self, make_label(describe_claim(claim), wrap=True), gap=1)
        layout.setContentsMargins(12, 0, 0, 0)
        if quote:
            layout.addWidget(make_label(quote, "muted", wrap=True))
        note = make_label(review_claim_note(claim), "small", wrap=True)
        note.setToolTip(review_strings()["sure_hint"])
        layout.addWidget(note)


def _make_pill() -> QLabel:
    label = make_label("", "small")
    label.setObjectName("pill")
    label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return label


def _make_flush_row(*links: QWidget) -> QHBoxLayout:
    """Links whose words begin where the text above them begins."""
    for link in links:
        link.setProperty("flush", "true")
    return make_row(*links, None, gap=14)


class SideBySide(QWidget):
    """Two cards beside each other, below each other where there is little room; or one alone."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._first: SideCard | None = None
        self.is_stacked = False
        self._box = make_row(parent=self, gap=20)
        self._box.setAlignment(Qt.AlignmentFlag.AlignTop)

    def set_cards(self, first: SideCard, second: SideCard) -> None:
        """Take the two cards."""
        self._first = first
        for one in (first, second):
            one.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            self._box.addWidget(one, 1)

    def show_first(self, *, is_shown: bool) -> None:
        """Show both, or the second alone."""
        if self._first is not None:
            self._first.setVisible(is_shown)

    def arrange_for_width(self, width: int) -> None:
        """Choose how the cards are placed.

        Args:
            width: pixels there are.
        """
        stacked = width < self._theme.px(NARROW)
        if stacked != self.is_stacked:
            self.is_stacked = stacked
            direction = self._box.Direction.TopToBottom if stacked else self._box.Direction.LeftToRight
            self._box.setDirection(direction)
            self._box.setSpacing(12 if stacked else 20)


NARROW = 600
"""Pixels at 100 % below which the cards are below each other."""
