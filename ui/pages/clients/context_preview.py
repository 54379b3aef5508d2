"""The simulator: the very text a client would be given for a prompt, what it costs, what would be withheld and why.

It looks when it is asked to, and once more when what the client may see is granted otherwise: what somebody reads or
copies stays under his eyes. Must not do: give, count or keep anything; the prompt is not remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QSpinBox, QWidget

from core.types.clients import ClientCard, ClientState, ContextPreview
from core.types.values import Grant
from core.types.views import MemoryRow
from ui.bridge import make_query, problem_of
from ui.context import Context
from ui.pages.clients.activity import given_lines, receipt_memory_list
from ui.pages.clients.client_header import ClientTab
from ui.pages.clients.client_rows import Line
from ui.pages.clients.labels import client_state_name
from ui.pages.clients.terms import inset_text
from ui.strings import clients_strings, format_count
from ui.theme.theme import Theme
from ui.widgets.basics import make_button, make_column, make_label, make_row, wrap_in_card
from ui.widgets.plaintext import split_marks
from ui.widgets.states import EmptyState

_BESIDE, _FIELDS = 440, 560
_BUDGET, _LEAST, _MOST, _STEP = 1_000, 50, 32_000, 250
_LONGEST = 4_000


def visible_text(text: str) -> str:
    """A text as it is read here: line ends kept, what cannot be seen made visible."""
    return "".join(f"‹{piece.text}›" if piece.is_mark else piece.text for piece in split_marks(text))


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """What was looked at.

    Attributes:
        name: the client's. `prompt`, `budget`, `model`: as they were in the fields.
        terms: what the client might see then.
    """

    name: str
    prompt: str
    budget: int
    model: str | None
    terms: tuple[object, ...]


def visibility_terms(card: ClientCard) -> tuple[object, ...]:
    """What of a client decides what it sees."""
    return card.grants, card.spaces


def has_no_access(card: ClientCard) -> bool:
    """Whether it is answered nothing, whatever it asks: it is revoked, or may not read."""
    return card.standing is ClientState.REVOKED or Grant.READ.value not in card.grants


def describe_exclusion(card: ClientCard) -> str:
    """Why it would get nothing now; "" where it would."""
    strings = clients_strings()["sight"]
    if card.standing is ClientState.REVOKED:
        return str(strings["revoked"])
    if has_no_access(card):
        return str(strings["no_read"])
    if card.standing is ClientState.AWAKE:
        return ""
    return str(strings["out"]).format(standing=client_state_name(card.standing))


class BudgetMeter(QWidget):
    """How much of the budget a text takes: a bar; the numbers are beside it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._part = theme, 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(self._theme.px(120), self._theme.px(8))

    def show_share(self, share: float, text: str) -> None:
        """Show how full the meter is.

        Args:
            share: 0 to 1.
            text: the same in words.
        """
        self._part = max(0.0, min(1.0, share))
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Paint the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        high = self._theme.px(6)
        whole = QRectF(0, (self.height() - high) / 2, self.width(), high)
        for share, ink in ((1.0, "line"), (self._part, "accent")):
            if share:
                painter.setBrush(self._theme.colour(ink))
                painter.drawRoundedRect(QRectF(whole.left(), whole.top(), whole.width() * share, high), 3, 3)


class ContextPreviewTab(ClientTab):
    """The view that shows what a client would be given for a prompt."""

    def __init__(self, context: Context) -> None:
        strings, theme = clients_strings()["sight"], context.theme
        super().__init__(context, strings["reading"])
        self.preview: ContextPreview | None = None
        self._request: PreviewRequest | None = None
        self._is_asking = False
        self.prompt = QLineEdit()
        self.prompt.setAccessibleName(strings["prompt"])
        self.prompt.setPlaceholderText(strings["hint"])
        self.prompt.setMaxLength(_LONGEST)
        self.prompt.returnPressed.connect(self.request_preview)
        self.budget = QSpinBox()
        self.budget.setRange(_LEAST, _MOST)
        self.budget.setSingleStep(_STEP)
        self.budget.setValue(_BUDGET)
        self.budget.setGroupSeparatorShown(True)
        self.budget.setSuffix(f" {strings['budget'].lower()}")
        self.budget.setAccessibleName(strings["budget_hint"])
        inset_text(self.budget)
        self.budget.setMaximumWidth(theme.px(120))
        self.budget.setToolTip(strings["budget_hint"])
        self.model = QLineEdit()
        self.model.setAccessibleName(strings["model"])
        self.model.setToolTip(strings["model"])
        self.model.setPlaceholderText(strings["model_hint"])
        self.model.setMaximumWidth(theme.px(130))
        self.model.setMinimumWidth(theme.px(70))
        self.model.returnPressed.connect(self.request_preview)
        self.act = make_button(strings["ask"], self.request_preview, kind="primary")
        self.act.setDefault(False)
        self._build_layout(theme)

    def _build_layout(self, theme: Theme) -> None:
        strings = clients_strings()["sight"]
        self.out = make_label("", "warning", wrap=True)
        self.out.hide()
        self.meter, self.figures = BudgetMeter(theme), make_label("", "muted")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(strings["text"])
        self.list = receipt_memory_list(self.context, strings["withheld_list"])
        self.withheld_note = make_label("", "small", wrap=True)
        texts, side = QWidget(), QWidget()
        make_column(texts, self.text, gap=6)
        make_column(side, self.withheld_note, wrap_in_card(self.list), gap=6).setStretch(1, 1)
        self._answer = QWidget()
        lines = make_column(self._answer, gap=8)
        gauge = make_row(self.meter, self.figures, gap=12)
        gauge.setStretch(0, 1)
        lines.addLayout(gauge)
        self._line = make_row(texts, side, gap=12)
        self._line.setStretch(0, 3)
        self._line.setStretch(1, 2)
        lines.addLayout(self._line, 1)
        self._teach = EmptyState(theme, "eye", strings["title"], strings["sentence"])
        box = make_column(self.inside, gap=10)
        options = QWidget()
        make_row(self.budget, self.model, None, self.act, parent=options)
        self._field = make_row(self.prompt, options)
        self._field.setStretch(0, 1)
        box.addLayout(self._field)
        box.addWidget(self.out)
        box.addWidget(self._teach, 1)
        box.addWidget(self._answer, 1)
        self.forget_client()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not self._is_asking

    def activate(self) -> None:
        """It is looked at: the prompt takes the keyboard."""
        super().activate()
        self.prompt.setFocus()

    def forget_client(self) -> None:
        """Another client, or nothing was asked: teach."""
        self.preview, self._request, self._is_asking = None, None, False
        self.text.setPlainText("")
        self.list.show_lines([])
        self._answer.hide()
        self._teach.show()

    def reload(self) -> None:
        """Nothing is read unasked but the client's state."""
        self.show_new_card()

    def show_new_card(self) -> None:
        """Say why it would get nothing; look once more where it may see other things than when it was looked at."""
        card = self.card
        if card is None:
            return
        reason = describe_exclusion(card)
        self.out.setText(reason)
        self.out.setVisible(bool(reason))
        self.act.setEnabled(not has_no_access(card))
        before = self._request
        if has_no_access(card):
            self.forget_client()
        elif before is not None and before.terms != visibility_terms(card):
            self._run_request(
                PreviewRequest(before.name, before.prompt, before.budget, before.model, visibility_terms(card))
            )

    def request_preview(self) -> None:
        """Ask what it would be given for the typed prompt."""
        prompt, card = self.prompt.text().strip(), self.card
        if prompt and card is not None and not has_no_access(card):
            model = self.model.text().strip() or None
            self._run_request(PreviewRequest(card.name, prompt, self.budget.value(), model, visibility_terms(card)))

    def _run_request(self, request: PreviewRequest) -> None:
        self._is_asking, self._request = True, request
        clients = self.context.bridge.engine.clients

        def show_if_current(preview: ContextPreview) -> None:
            if self._request is request:  # neither another client nor another prompt by now
                self._read_withheld(preview)

        looking = make_query(
            clients_strings()["sight"]["reading"],
            lambda: clients.preview_context(request.name, request.prompt, request.budget, request.model),
        )
        self.context.tasks.run(looking.within(self, "sight").success(show_if_current).failure(self._on_preview_failed))

    def _read_withheld(self, preview: ContextPreview) -> None:
        request = self._request

        def show_if_current(rows: Sequence[MemoryRow]) -> None:
            if self._request is request:
                self._show_preview(preview, rows)

        library, ids = self.context.bridge.engine.library, tuple(preview.withheld)
        reading = make_query(clients_strings()["sight"]["reading"], lambda: library.read_rows(ids)).within(
            self, "withheld"
        )
        self.context.tasks.run(reading.success(show_if_current).failure(self._on_preview_failed))

    def _on_preview_failed(self, error: BaseException) -> None:
        self._is_asking = False
        self._is_read = True
        problem = problem_of(error)
        if problem is not None:
            self.context.desk.show_message(problem.sentence)

    def _show_preview(self, preview: ContextPreview, rows: Sequence[MemoryRow]) -> None:
        strings = clients_strings()["sight"]
        self._is_asking, self._is_read, self.preview = False, True, preview
        size = strings["meter"].format(tokens=f"{preview.tokens:,}", budget=f"{preview.budget:,}")
        self.meter.show_share(preview.tokens / preview.budget if preview.budget else 0.0, size)
        self.figures.setText(f"{size} · {format_count(strings['given'], len(preview.given))}")
        text = visible_text(preview.text) if preview.given or preview.text else strings["nothing"]
        if text != self.text.toPlainText():  # where it is the same, its place and what is selected in it stay
            self.text.setPlainText(text)
        lines: list[Line] = given_lines((), preview.withheld, rows)
        self.withheld_note.setText("" if lines else strings["none_withheld"])
        self.withheld_note.setVisible(not lines)
        self.list.show_lines(lines)
        self._teach.hide()
        self._answer.show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, the columns are stacked."""
        super().resizeEvent(event)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        for line, least in ((self._line, _BESIDE), (self._field, _FIELDS)):
            line.setDirection(beside if self.width() >= self.context.theme.px(least) else below)
