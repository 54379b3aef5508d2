"""How far a memory is trusted: the terms of that number in words and drawn one by one, and saying right or wrong.

A gain is a filled bar that points to the right, a loss an open one that points to the left and is hatched: colour is
never alone. The sentences are `resources/help/belief.json`. Must not do: work out a term or a trust.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from core.types.memory import (
    Belief,
    ClaimHeld,
    EvidenceSeen,
    MemoryVerdict,
    OpenConflict,
    TrustInputs,
    TrustStep,
    VersionHeld,
)
from core.types.reviews import ClaimSeen
from core.types.values import STANDING, Precision, When
from ui.context import Context, Inspected, InspectorSection, InspectorSectionSpec
from ui.inspector.actions import VERDICTS
from ui.inspector.shared_widgets import DisclosureToggle
from ui.lists.table_view import TableColumn, TableModel, TableSpec
from ui.lists.tick_table import StillTable
from ui.strings import belief_strings, format_count
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, KeyButton, clear_layout, make_column, make_hairline, make_label, make_row
from ui.widgets.labels import SOURCE_WORDS, date_of, format_said_at, format_said_or_noted
from ui.widgets.plaintext import one_line

MINUS = "\u2212"
_NOTHING = 0.005
_NAME, _VALUE = 40, 120


def format_score(value: float) -> str:
    """A score as it is written everywhere: `0.85`."""
    return f"{value:.2f}"


def format_signed(value: float) -> str:
    """A change with its sign, in figures that line up: `+0.10`, `−0.06`, `0.00`."""
    if abs(value) < _NOTHING:
        return format_score(0.0)
    return f"{'+' if value > 0 else MINUS}{abs(value):.2f}"


# ---- trust


@dataclass(frozen=True, slots=True)
class TermWords:
    """A term of the trust as it is drawn.

    Attributes:
        name: its key; `title` is its name in the table.
        sentence: the numbers that made it.
        figure: what it does, with its sign; the first term and the trust itself have none.
        why: how such a term is made, for its tooltip.
        before: the sum before it; `after` the one behind it.
        is_idle: whether it changes nothing.
    """

    name: str
    title: str
    sentence: str
    figure: str
    why: str
    before: float
    after: float
    is_idle: bool


def describe_level(trust: float) -> str:
    """How far that is, in words: `Well trusted`.

    Args:
        trust: 0 to 1.
    """
    shown = round(trust, 2)  # the number beside it: 0.60 is never told once as fair and once as weak
    return str(next(step["says"] for step in belief_strings()["level"] if shown >= step["from"] or step["from"] == 0))


def describe_terms(belief: Belief) -> tuple[TermWords, ...]:
    """The waterfall, term by term; the trust itself is not among them.

    Args:
        belief: of the memory.
    """
    return tuple(_term_words(step, belief.inputs) for step in belief.steps)


def _term_words(step: TrustStep, inputs: TrustInputs) -> TermWords:
    is_first = step.name == "source"
    return TermWords(
        name=step.name,
        title=belief_strings()["terms"][step.name],
        sentence=_explain_step(step, inputs),
        figure=format_score(step.change) if is_first else format_signed(step.change),
        why=belief_strings()["why"][step.name],
        before=0.0 if is_first else step.before,
        after=step.total,
        is_idle=not is_first and abs(step.change) < _NOTHING,
    )


def _explain_step(step: TrustStep, inputs: TrustInputs) -> str:
    strings = belief_strings()["steps"]
    match step.name:
        case "source":
            return str(belief_strings()["sources"][inputs.source.value])
        case "corroboration":
            forms = strings["corroboration"]
            return str(forms["none"] if inputs.sources < 2 else forms["many"].format(count=inputs.sources))
        case "feedback":
            return _describe_feedback(strings["feedback"], inputs.reinforcements, inputs.disputes)
        case "age":
            return _describe_age(strings["age"], inputs)
        case "bounds":
            return str(strings["bounds"]["over" if step.change < 0 else "under"])
        case "ancestors":
            return format_count(strings["ancestors"], inputs.ancestors, value=format_score(inputs.lowest or 0.0))
    name = one_line(inputs.client or "", _NAME)
    form = strings["ceiling"] if name else strings["ceiling_nobody"]
    return str(form).format(name=name, value=format_score(inputs.ceiling or step.total))


def _describe_feedback(forms: Mapping[str, Any], confirmed: int, disputed: int) -> str:
    if confirmed and disputed:
        return str(forms["both"]).format_map({"for": confirmed, "against": disputed})
    if confirmed:
        return format_count(forms["for"], confirmed)
    return format_count(forms["against"], disputed) if disputed else str(forms["none"])


def _describe_age(forms: Mapping[str, Any], inputs: TrustInputs) -> str:
    if inputs.age_days is None:
        return str(forms["none"])
    chosen = forms["confirmed" if inputs.confirmed else "edited" if inputs.edited else "said"]
    return str(chosen["zero"]) if inputs.age_days == 0 else format_count(chosen, inputs.age_days)


def describe_voice(voice: MemoryVerdict) -> str:
    """Who said that it is right or wrong, when, and why: `You disputed it on 3 Nov 2026: “…”`.

    Args:
        voice: of the memory.
    """
    strings = belief_strings()["voices"][voice.verdict]
    name = one_line(voice.client or "", _NAME)
    sentence = str(strings["other"]).format(name=name) if voice.client is not None else str(strings["you"])
    reason = f": “{one_line(voice.reason, _VALUE)}”" if voice.reason else "."
    return str(belief_strings()["voice_line"]).format(sentence=sentence, date=date_of(voice.at), reason=reason)


# ---- claims


def describe_claim_state(claim: ClaimHeld) -> str:
    """The state of a claim, in a few words: `Current · 94 % confidence · 2 sources · from 3 Mar 2026`.

    Args:
        claim: the claim with what speaks for and against it.
    """
    strings, seen = belief_strings()["claims"], claim.seen
    state = str(belief_strings()["states"][seen.state])
    if claim.replaced_by is not None and seen.state == "superseded":
        state = f"{state} · {strings['replaced'].format(value=one_line(claim.replaced_by, _NAME))}"
    parts = [state, str(strings["sure"]).format(percent=round(100 * seen.confidence))]
    parts.append(format_count(strings["sources"], max(1, seen.sources)))
    if seen.against:
        parts.append(format_count(strings["against"], seen.against))
    parts.append(_describe_validity(seen))
    condition = seen.qualifiers.get("when")
    if isinstance(condition, str) and condition:
        parts.append(str(strings["when"]).format(value=one_line(condition, _NAME)))
    if "kept" in seen.qualifiers:
        parts.append(str(strings["kept"]))
    return " · ".join(part for part in parts if part)


def _describe_validity(claim: ClaimSeen) -> str:
    strings = belief_strings()["claims"]
    begin = None if claim.valid_from is None else date_of(claim.valid_from)
    end = None if claim.valid_to is None else date_of(claim.valid_to)
    return _describe_span(strings, begin, end)


def _describe_span(forms: Mapping[str, str], begin: str | None, end: str | None) -> str:
    if begin is not None and end is not None:
        return forms["between"].format_map({"from": begin, "to": end})
    if begin is not None:
        return forms["from"].format(date=begin)
    return forms["until"].format(date=end) if end is not None else ""


def describe_quote(quote: EvidenceSeen, memory_id: str) -> str:
    """Where a quote is: `In this text`, or `A document · 3 Mar 2026 · trust 0.60`.

    Args:
        quote: of a claim.
        memory_id: the memory that is looked at.
    """
    if quote.memory_id == memory_id:
        return str(belief_strings()["claims"]["here"])
    name = one_line(quote.client or "", _NAME) or SOURCE_WORDS[quote.source]
    return str(belief_strings()["claims"]["quote"]).format(
        name=name, date=format_said_or_noted(quote.occurred, quote.recorded_at), trust=format_score(quote.trust)
    )


def describe_opposition(item: OpenConflict) -> str:
    """What kind of matter is open: `Two memories disagree`."""
    return str(belief_strings()["opposed"].get(item.kind, belief_strings()["opposed"]["contradiction"]))


# ---- versions


def format_claim_day(ms: int, precision: Precision = Precision.DAY) -> str:
    """A moment as a day, or as exactly as it is known where that is less."""
    coarse = precision in (Precision.YEAR, Precision.MONTH)
    return format_said_at(When(ms, precision)) if coarse else date_of(ms)


def describe_validity(version: VersionHeld) -> str:
    """When a version held, and since when Loci knew: `Held 3 Mar 2025 to 12 Dec 2025 · learned 4 Mar 2025`.

    Args:
        version: of a chain.
    """
    strings = belief_strings()["versions"]
    if not version.ever_held:
        return f"{strings['waits']} · {strings['learned_on'].format(date=date_of(version.recorded_at))}"
    begin = format_claim_day(version.begin, version.precision)
    ends = "" if version.end is None else date_of(version.end)
    if version.begin_by == "recorded" and not ends:
        learned = str(strings["learned_on"]).format(date=begin)
        return learned[:1].upper() + learned[1:]
    when = _describe_span(strings, begin, ends or None)
    return f"{when} · {strings['learned_on'].format(date=date_of(version.recorded_at))}"


BASE, GAIN, LOSS, SUM = "base", "gain", "loss", "sum"
_HIGH, _TIP = 8.0, 4.0
_LEAST = 5.0
_COLUMNS = ("term", "change", "sum")


def term_shape(term: TermWords) -> str:
    """By what shape a term is drawn: `base`, `gain` or `loss`."""
    if term.name == "source":
        return BASE
    return GAIN if term.after >= term.before else LOSS


def term_bar_path(shape: str, left: float, right: float, height: float) -> QPainterPath:
    """The outline of a bar.

    Args:
        shape: `base`, `gain`, `loss` or `sum`.
        left: where it begins, pixels.
        right: where it ends, pixels.
        height: pixels.

    Returns:
        A bar with round ends; a gain ends in a tip on the right, a loss in one on the left.
    """
    right = max(right, left + _LEAST)
    tip = min(_TIP, right - left)
    path = QPainterPath()
    if shape == GAIN:
        corners = ((left, 0.0), (right - tip, 0.0), (right, height / 2), (right - tip, height), (left, height))
    elif shape == LOSS:
        corners = ((right, 0.0), (left + tip, 0.0), (left, height / 2), (left + tip, height), (right, height))
    else:
        path.addRoundedRect(QRectF(left, 0, right - left, height), 2, 2)
        return path
    path.moveTo(*corners[0])
    for corner in corners[1:]:
        path.lineTo(*corner)
    path.closeSubpath()
    return path


class TermBar(QWidget):
    """One bar on the axis from 0 to 1 (a little beyond, where the sum was larger for a while)."""

    def __init__(self, theme: Theme, shape: str, before: float, after: float, most: float = 1.0) -> None:
        """Make it.

        Args:
            shape: `base`, `gain`, `loss` or `sum`.
            before: the sum before the term.
            after: the one behind it.
            most: the end of the axis, 1 or more.
        """
        super().__init__()
        self.shape_name = shape
        self._theme, self._before, self._after, self._most = theme, before, after, max(1.0, most)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As high as a bar."""
        return QSize(80, self._theme.px(_HIGH) + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the axis and the bar."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, high, wide = self._theme, self.height() - 2.0, self.width() - 2.0
        left, right = (1 + wide * at / self._most for at in sorted((self._before, self._after)))
        painter.translate(0, 1)
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawLine(QPointF(1, high / 2), QPointF(1 + wide, high / 2))
        if self._most > 1:  # where trust ends
            painter.setPen(QPen(theme.colour("outline"), 1))
            painter.drawLine(QPointF(1 + wide / self._most, 0), QPointF(1 + wide / self._most, high))
        path = term_bar_path(self.shape_name, left, right, high)
        if self.shape_name == LOSS:
            painter.fillPath(path, theme.colour("surface"))
            painter.fillPath(path, QBrush(theme.colour("warning"), Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(theme.colour("warning"), 1))
            painter.drawPath(path)
        else:
            tones = {BASE: "outline", GAIN: "accent"}
            trust = QColor(theme.tokens.trust_colour(self._after))
            painter.fillPath(path, trust if self.shape_name == SUM else theme.colour(tones[self.shape_name]))
        painter.end()


class TrustFigure(QLabel):
    """A number in figures of equal width, at the right end of its line."""

    def __init__(self, theme: Theme, text: str, role: str = "body") -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self._theme = theme
        theme.changed.connect(self._restyle_figure)
        self._restyle_figure()

    def _restyle_figure(self) -> None:
        self.setFont(self._theme.font("number"))
        self.setMinimumWidth(self._theme.px(44))


class TrustWaterfall(QWidget):
    """The terms below each other, and what they come to."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._inner = make_column(self, gap=8)

    def show_terms(self, terms: Sequence[TermWords], trust: float) -> None:
        """Draw the terms as bars.

        Args:
            terms: in the order in which they are added.
            trust: what they come to, 0 to 1.
        """
        clear_layout(self._inner)
        most = max([1.0, *(term.after for term in terms), *(term.before for term in terms)])
        for term in terms:
            bar = None if term.is_idle else TermBar(self._theme, term_shape(term), term.before, term.after, most)
            self._inner.addWidget(self._make_line(term.sentence, term.figure, term.why, bar, "small"))
        self._inner.addWidget(make_hairline())
        bar = TermBar(self._theme, SUM, 0.0, trust, most)
        self._inner.addWidget(
            self._make_line(describe_level(trust), format_score(trust), belief_strings()["why"]["trust"], bar, "strong")
        )
        names = "; ".join(f"{term.sentence}: {term.figure}" for term in terms)
        self.setAccessibleName(belief_strings()["sum"]["waterfall"].format(trust=format_score(trust), terms=names))

    def _make_line(self, sentence: str, figure: str, why: str, bar: TermBar | None, role: str) -> QWidget:
        widget = QWidget()
        widget.setAccessibleName(f"{sentence}: {figure}")
        widget.setToolTip(why)
        sentence_role = role if bar is not None and role == "strong" else "small" if bar is None else "body"
        label = make_label(sentence, sentence_role, wrap=True)
        top = make_row(label, TrustFigure(self._theme, figure, sentence_role), gap=12)
        top.setStretch(0, 1)
        layout = make_column(widget, gap=3)
        layout.addLayout(top)
        if bar is not None:
            layout.addWidget(bar)
        return widget


@dataclass(frozen=True, slots=True)
class _TermRow:
    cells: tuple[str, str, str]
    sentence: str


class _TermSpec(TableSpec[_TermRow]):
    columns = tuple(TableColumn(title, 0, is_number=at > 0) for at, title in enumerate(_COLUMNS))
    has_plain_header = True

    def __init__(self, theme: Theme) -> None:
        self._theme, self.titles = theme, belief_strings()["sum"]["columns"]

    def cell_text(self, title: str, row: _TermRow) -> str:
        """A name, or a figure."""
        return row.cells[_COLUMNS.index(title)]

    def accessible_text(self, title: str, row: _TermRow) -> str:
        """The name goes with its sentence."""
        text = self.cell_text(title, row)
        return f"{text}, {row.sentence}" if title == _COLUMNS[0] else text

    def tool_tip(self, _title: str, row: _TermRow) -> str:
        """The term's sentence."""
        return row.sentence

    def qt_font(self, title: str) -> QFont:
        """Figures are below each other."""
        return self._theme.font("body" if title == _COLUMNS[0] else "number")


class TermTable(StillTable):
    """The same as a table, for those who hear it or want the exact sums."""

    def __init__(self, theme: Theme) -> None:
        self._rows: TableModel[_TermRow] = TableModel(_TermSpec(theme))
        super().__init__(theme, self._rows, belief_strings()["sum"]["table"])
        self._rows.setParent(self)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_terms(self, terms: Sequence[TermWords], trust: float) -> None:
        """Fill the table with the terms and their sum.

        Args:
            terms: in the order in which they are added.
            trust: what they come to, 0 to 1.
        """
        rows = [_TermRow((term.title, term.figure, format_score(term.after)), term.sentence) for term in terms]
        names = belief_strings()["terms"]
        rows.append(_TermRow((names["trust"], "", format_score(trust)), describe_level(trust)))
        self._rows.show_rows(rows)
        self.set_row_heights()

    def set_row_heights(self) -> None:
        """All rows are seen."""
        high, count = self.theme.px(26), self._rows.rowCount()
        for place in range(count):
            self.setRowHeight(place, high)
        self.setFixedHeight(high * count + self.horizontalHeader().sizeHint().height() + 4)


_VOICES = 3


class TrustSection(InspectorSection):
    """The waterfall, who said right or wrong, and three buttons."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        strings = belief_strings()["sum"]
        self.waterfall = TrustWaterfall(context.theme)
        self.table = TermTable(context.theme)
        self.as_table = DisclosureToggle(context.theme, strings["as_table"], strings["as_table"], self.table)
        self.voices = make_label("", "small", wrap=True)
        self.verdicts = QWidget()
        self._buttons = FlowLayout(self.verdicts, gap=4)
        parts = (self.waterfall, self.as_table, self.voices, self.verdicts)
        make_column(self, make_label(belief_strings()["terms"]["trust"], "label"), *parts, gap=10)

    def show_memory(self, inspected: Inspected) -> bool:
        """Show the inspected memory.

        Returns:
            True.
        """
        belief = inspected.belief
        terms = describe_terms(belief)
        self.waterfall.show_terms(terms, belief.trust)
        self.table.show_terms(terms, belief.trust)
        voices = [describe_voice(voice) for voice in belief.voices[:_VOICES]]
        self.voices.setText("\n".join(voices))
        self.voices.setVisible(bool(voices))
        self._show_buttons(can_judge=inspected.memory.status in STANDING)
        self.setAccessibleName(belief_strings()["sum"]["name"].format(trust=format_score(belief.trust)))
        return True

    def _show_buttons(self, *, can_judge: bool) -> None:
        self.verdicts.setVisible(can_judge)
        if can_judge == bool(self._buttons.count()):
            return
        clear_layout(self._buttons)
        if can_judge:
            for verdict, letter in VERDICTS:
                strings = belief_strings()["acts"][verdict]
                button = KeyButton(
                    self.context.theme, strings["title"], letter, self._make_verdict_runner(verdict), is_tight=True
                )
                button.setToolTip(strings["hint"])
                self._buttons.addWidget(button)

    def _make_verdict_runner(self, verdict: str) -> Callable[[], None]:
        return lambda: self.context.commands.run(f"memory.{verdict}")


TRUST = InspectorSectionSpec("trust", 15, TrustSection)
