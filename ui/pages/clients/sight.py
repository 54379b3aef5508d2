"""The simulator: the very text a client would be given for a prompt, what it costs, what would be withheld and why.

Must not do: give, count or keep anything; the prompt is not remembered.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QSpinBox, QWidget

from core.types.clients import Sight, Standing
from core.types.library import MemoryRow
from ui.context import Context
from ui.pages.clients.lines import Line
from ui.pages.clients.receipts import MemoryList, given_lines
from ui.pages.clients.rows import card_of
from ui.pages.clients.tab import Tab
from ui.pages.clients.terms import inset
from ui.pages.clients.words import counted, standing_word, words
from ui.tasks import problem_of, query
from ui.theme.theme import Theme
from ui.widgets.basics import button, column, label, row
from ui.widgets.plaintext import pieces
from ui.widgets.states import EmptyState

_BESIDE, _FIELDS = 440, 560
_BUDGET, _LEAST, _MOST, _STEP = 1_000, 50, 32_000, 250
_LONGEST = 4_000


def shown_text(text: str) -> str:
    """A text as it is read here: line ends kept, what cannot be seen made visible."""
    return "".join(f"‹{piece.text}›" if piece.is_mark else piece.text for piece in pieces(text))


class Meter(QWidget):
    """How much of the budget a text takes: a bar; the numbers stand beside it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._part = theme, 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(self._theme.px(120), self._theme.px(8))

    def show_part(self, part: float, told: str) -> None:
        """Fill it.

        Args:
            part: 0 to 1.
            told: the same in words.
        """
        self._part = max(0.0, min(1.0, part))
        self.setAccessibleName(told)
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        high = self._theme.px(6)
        whole = QRectF(0, (self.height() - high) / 2, self.width(), high)
        for part, ink in ((1.0, "line"), (self._part, "accent")):
            if part:
                painter.setBrush(self._theme.colour(ink))
                painter.drawRoundedRect(QRectF(whole.left(), whole.top(), whole.width() * part, high), 3, 3)


class SightTab(Tab):
    """The view."""

    def __init__(self, context: Context) -> None:
        said, theme = words()["sight"], context.theme
        super().__init__(context, said["reading"])
        self.sight: Sight | None = None
        self._is_asking = False
        self.prompt = QLineEdit()
        self.prompt.setAccessibleName(said["prompt"])
        self.prompt.setPlaceholderText(said["hint"])
        self.prompt.setMaxLength(_LONGEST)
        self.prompt.returnPressed.connect(self.look)
        self.budget = QSpinBox()
        self.budget.setRange(_LEAST, _MOST)
        self.budget.setSingleStep(_STEP)
        self.budget.setValue(_BUDGET)
        self.budget.setGroupSeparatorShown(True)
        self.budget.setSuffix(f" {said['budget'].lower()}")
        self.budget.setAccessibleName(said["budget_hint"])
        inset(self.budget)
        self.budget.setMaximumWidth(theme.px(120))
        self.budget.setToolTip(said["budget_hint"])
        self.model = QLineEdit()
        self.model.setAccessibleName(said["model"])
        self.model.setToolTip(said["model"])
        self.model.setPlaceholderText(said["model_hint"])
        self.model.setMaximumWidth(theme.px(130))
        self.model.setMinimumWidth(theme.px(70))
        self.model.returnPressed.connect(self.look)
        self.act = button(said["ask"], self.look, kind="primary")
        self.act.setDefault(False)
        self._build(theme)

    def _build(self, theme: Theme) -> None:
        said = words()["sight"]
        self.out = label("", "warning", wrap=True)
        self.out.hide()
        self.meter, self.figures = Meter(theme), label("", "muted")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(said["text"])
        self.list = MemoryList(self.context, said["withheld_list"])
        self.left = label("", "small", wrap=True)
        texts, side = QWidget(), QWidget()
        column(texts, self.text, gap=6)
        column(side, self.left, card_of(self.list), gap=6).setStretch(1, 1)
        self._answer = QWidget()
        lines = column(self._answer, gap=8)
        gauge = row(self.meter, self.figures, gap=12)
        gauge.setStretch(0, 1)
        lines.addLayout(gauge)
        self._line = row(texts, side, gap=12)
        self._line.setStretch(0, 3)
        self._line.setStretch(1, 2)
        lines.addLayout(self._line, 1)
        self._teach = EmptyState(theme, "eye", said["title"], said["sentence"])
        box = column(self.inside, gap=10)
        options = QWidget()
        row(self.budget, self.model, None, self.act, parent=options)
        self._field = row(self.prompt, options)
        self._field.setStretch(0, 1)
        box.addLayout(self._field)
        box.addWidget(self.out)
        box.addWidget(self._teach, 1)
        box.addWidget(self._answer, 1)
        self.forget()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is on its way."""
        return not self._is_asking

    def enter(self) -> None:
        """It is looked at: the prompt takes the keyboard."""
        super().enter()
        self.prompt.setFocus()

    def forget(self) -> None:
        """Another client, or nothing was asked: teach."""
        self.sight = None
        self.text.setPlainText("")
        self.list.show_lines([])
        self._answer.hide()
        self._teach.show()

    def read(self) -> None:
        """What was looked at may be another by now."""
        card = self.card
        if card is not None:
            is_in = card.standing is Standing.AWAKE
            self.out.setText("" if is_in else words()["sight"]["out"].format(standing=standing_word(card.standing)))
            self.out.setVisible(not is_in)
        if self.sight is not None:
            self.look()

    def look(self) -> None:
        """Look with its eyes."""
        prompt, card = self.prompt.text().strip(), self.card
        if not prompt or card is None:
            return
        self._is_asking = True
        name, budget, model = card.name, self.budget.value(), self.model.text().strip() or None
        clients = self.context.bridge.engine.clients
        asked = query(words()["sight"]["reading"], lambda: clients.sight(name, prompt, budget, model))
        self.context.tasks.run(asked.within(self, "sight").success(self._seen).failure(self._sink))

    def _seen(self, sight: Sight) -> None:
        library, ids = self.context.bridge.engine.library, tuple(sight.withheld)
        asked = query(words()["sight"]["reading"], lambda: library.rows(ids)).within(self, "withheld")
        self.context.tasks.run(asked.success(lambda rows: self._show(sight, rows)).failure(self._sink))

    def _sink(self, error: BaseException) -> None:
        self._is_asking = False
        self._is_read = True
        problem = problem_of(error)
        if problem is not None:
            self.context.desk.say(problem.sentence)

    def _show(self, sight: Sight, rows: Sequence[MemoryRow]) -> None:
        said = words()["sight"]
        self._is_asking, self._is_read, self.sight = False, True, sight
        told = said["meter"].format(tokens=f"{sight.tokens:,}", budget=f"{sight.budget:,}")
        self.meter.show_part(sight.tokens / sight.budget if sight.budget else 0.0, told)
        self.figures.setText(f"{told} · {counted(said['given'], len(sight.given))}")
        self.text.setPlainText(shown_text(sight.text) if sight.given or sight.text else said["nothing"])
        lines: list[Line] = given_lines((), sight.withheld, rows)
        self.left.setText("" if lines else said["none_withheld"])
        self.left.setVisible(not lines)
        self.list.show_lines(lines)
        self._teach.hide()
        self._answer.show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Where it is narrow, what stood beside each other stands below each other."""
        super().resizeEvent(event)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        for line, least in ((self._line, _BESIDE), (self._field, _FIELDS)):
            line.setDirection(beside if self.width() >= self.context.theme.px(least) else below)
