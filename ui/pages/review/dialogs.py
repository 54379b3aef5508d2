"""What a decision asks before: the text of a merge, the day from which the newcomer holds, the condition of it.

Must not do: carry the decision out; a dialog only makes a `Decision`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from PySide6.QtCore import QDate, QEvent, QLocale, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDateEdit, QDialog, QLineEdit, QPlainTextEdit, QWidget

from core.types.reviews import Decision, ReviewItem, Side
from core.types.values import Action, Precision, When
from ui.context import Context
from ui.strings import review_strings, window_strings
from ui.theme.tokens import sizes
from ui.widgets.basics import Segments, is_submit_key, make_buddy_label, make_button, make_column, make_label, make_row
from ui.widgets.plaintext import MarkedText

BOTH, HAVE, CAME = "both", "have", "came"
_LONGEST_CONDITION = 200
_REFERENCE_LINES = 5
_DAY = timedelta(days=1)


class DecisionDialog(QDialog):
    """Title, sentence, a form, one button that does it.

    Signals:
        agreed: the `Decision`.
    """

    agreed = Signal(object)

    def __init__(self, context: Context, strings: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.setMinimumWidth(context.theme.px(sizes().dialog_wide))
        self.form = QWidget()
        self.form_box = make_column(self.form, gap=8)
        self.problem = make_label("", "danger", wrap=True)
        self.problem.hide()
        self.cancel = make_button(window_strings()["buttons"]["cancel"], self.reject)
        self.act = make_button(strings["act"], self.submit_decision, kind="primary")
        self.act.setDefault(True)
        layout = make_column(
            self, make_label(strings["title"], "title"), make_label(strings["sentence"], "muted", wrap=True), margins=24
        )
        layout.setSpacing(12)
        layout.addWidget(self.form, 1)
        layout.addWidget(self.problem)
        layout.addLayout(make_row(None, self.cancel, self.act))

    def make_decision(self) -> Decision | None:
        """What was entered; None while that is not enough."""
        raise NotImplementedError  # each kind says it

    def submit_decision(self) -> None:
        """Tell it and close, if it is enough."""
        found = self.make_decision()
        if found is not None:
            self.agreed.emit(found)
            self.accept()

    def check_input(self) -> None:
        """Offer the button only for what is enough."""
        self.act.setEnabled(self.make_decision() is not None)


class MergedTextDialog(DecisionDialog):
    """The text that is kept: of two memories, or of one that is corrected."""

    def __init__(self, context: Context, item: ReviewItem, begin: str, parent: QWidget) -> None:
        """Make it.

        Args:
            begin: `both`, `have` or `came`: the text to begin with.
        """
        is_pair = item.existing is not None
        super().__init__(context, review_strings()["dialogs"]["merge" if is_pair else "correct"], parent)
        strings = review_strings()["forms"]
        self._item = item
        self.field = QPlainTextEdit()
        self.field.setAccessibleName(strings["text"])
        self.field.setTabChangesFocus(True)
        self.field.setMinimumHeight(context.theme.px(120))
        self.begin: Segments | None = None
        if item.existing is not None:
            headings = review_strings()["headings"]
            self.form_box.addWidget(_make_reference(context, headings["have"], item.existing, "accent"))
            self.form_box.addWidget(_make_reference(context, headings["came"], item.incoming, "warning"))
            choices = ((BOTH, strings["both"]), (HAVE, headings["have"]), (CAME, headings["came"]))
            self.begin = Segments(choices, begin, strings["begin"])
            self.begin.chosen.connect(self._fill_field)
            line = make_row(make_label(strings["begin"], "strong"), self.begin, gap=10)
            self.form_box.addLayout(line)
        self.form_box.addWidget(self.field, 1)
        self.form_box.addWidget(make_label(strings["keys"], "small"))
        self.field.textChanged.connect(self.check_input)
        self._fill_field(begin if is_pair else CAME)
        self.setFocusProxy(self.field)
        self.field.setFocus()

    def _fill_field(self, what: str) -> None:
        item = self._item
        existing = item.existing.memory.text if item.existing is not None else ""
        incoming = item.incoming.memory.text
        suggested = item.suggestion.text if item.suggestion is not None else None
        both = suggested or (f"{existing.rstrip()}\n{incoming.strip()}" if existing else incoming)
        self.field.setPlainText({BOTH: both, HAVE: existing, CAME: incoming}[what])
        self.field.selectAll()

    def make_decision(self) -> Decision | None:
        """The merge."""
        text = self.field.toPlainText().strip()
        return Decision(Action.MERGE, text=text) if text else None

    def event(self, event: QEvent) -> bool:
        """Ctrl+Enter does it, also while the text has the keyboard."""
        if is_submit_key(event):
            self.submit_decision()
            return True
        return super().event(event)


def _make_reference(context: Context, heading: str, side: Side, tone: str) -> QWidget:
    """One of the texts, to look at while another is written."""
    widget = QWidget()
    view = MarkedText(context.theme, heading, tone)
    view.show_text(side.memory.text, side.marks, "body", _REFERENCE_LINES)
    make_column(widget, make_label(heading, "label"), view, gap=2)
    return widget


class DatesDialog(DecisionDialog):
    """From which day the newcomer holds, and whether it has ceased to."""

    def __init__(self, context: Context, item: ReviewItem, parent: QWidget) -> None:
        is_pair, strings = item.existing is not None, review_strings()["forms"]
        super().__init__(context, review_strings()["dialogs"]["dates" if is_pair else "dates_one"], parent)
        self._is_pair = is_pair
        first = _first_day(item, context.clock.now_ms())
        self.begin = _day_field(strings["valid_from"], first)
        self.has_end = QCheckBox(strings["has_end"])
        self.end = _day_field(strings["valid_until"], first + _DAY)
        self.end.setEnabled(False)
        self.has_end.toggled.connect(self.end.setEnabled)
        self.has_end.toggled.connect(lambda _: self._on_dates_changed())
        self.outcome = make_label("", "strong", wrap=True)
        self.form_box.addLayout(make_row(make_buddy_label(strings["valid_from"], self.begin), self.begin, None, gap=10))
        self.form_box.addLayout(make_row(self.has_end, make_label(strings["end_label"]), self.end, None, gap=10))
        self.form_box.addWidget(self.outcome)
        for field in (self.begin, self.end):
            field.dateChanged.connect(lambda _: self._on_dates_changed())
        self._on_dates_changed()
        self.begin.setFocus()

    def _on_dates_changed(self) -> None:
        strings = review_strings()["forms"]
        begin, end = _format_day(self.begin.date()), _format_day(self.end.date())
        outcome = strings["outcome_pair" if self._is_pair else "outcome"]
        form = outcome["between" if self.has_end.isChecked() else "since"]
        self.outcome.setText(form.format(begin=begin, end=end))
        is_wrong = self.has_end.isChecked() and self.end.date() <= self.begin.date()
        self.problem.setText(strings["problem"] if is_wrong else "")
        self.problem.setVisible(is_wrong)
        self.check_input()

    def make_decision(self) -> Decision | None:
        """Both, with the days."""
        begin = day_to_when(self.begin.date())
        if not self.has_end.isChecked():
            return Decision(Action.KEEP_BOTH_DATED, begin=begin)
        end = day_to_when(self.end.date())
        return Decision(Action.KEEP_BOTH_DATED, begin=begin, end=end) if begin.ms < end.ms else None


class ConditionDialog(DecisionDialog):
    """The condition under which the newcomer is true."""

    def __init__(self, context: Context, item: ReviewItem, parent: QWidget) -> None:
        strings = review_strings()["dialogs"]["when" if item.existing is not None else "when_one"]
        super().__init__(context, strings, parent)
        self.field = QLineEdit()
        self.field.setAccessibleName(review_strings()["forms"]["condition"])
        self.field.setMaxLength(_LONGEST_CONDITION)
        self.field.setPlaceholderText(review_strings()["dialogs"]["when_hint"])
        self.field.textChanged.connect(self.check_input)
        self.form_box.addWidget(make_buddy_label(review_strings()["forms"]["only"], self.field))
        self.form_box.addWidget(self.field)
        self.check_input()
        self.field.setFocus()

    def make_decision(self) -> Decision | None:
        """Both, under a condition."""
        found = self.field.text().strip()
        return Decision(Action.SCOPE_SPLIT, when=found) if found else None


def make_decision_dialog(
    context: Context, item: ReviewItem, action: Action, parent: QWidget, begin: str = ""
) -> DecisionDialog:
    """The dialog a decision needs.

    Args:
        action: one of `words.ASKS`.
        begin: for a merge, the text to begin with; "" for both.
    """
    if action is Action.MERGE:
        return MergedTextDialog(context, item, begin or BOTH, parent)
    if action is Action.KEEP_BOTH_DATED:
        return DatesDialog(context, item, parent)
    return ConditionDialog(context, item, parent)


# ---- days


def day_to_when(day: QDate) -> When:
    """A day as a moment: its first instant in UTC, known to the day."""
    at = datetime(day.year(), day.month(), day.day(), tzinfo=UTC)
    return When(int(at.timestamp() * 1000), Precision.DAY, 0)


def _first_day(item: ReviewItem, now_ms: int) -> date:
    """The day to begin with: the suggested one, else when the newcomer was said, else today."""
    suggested = item.suggestion.at if item.suggestion is not None else None
    memory = item.incoming.memory
    if suggested is None and memory.valid_from is not None:
        suggested = When(memory.valid_from)
    found = suggested or memory.occurred or When(now_ms)
    try:
        return (datetime.fromtimestamp(found.ms / 1000, UTC) + timedelta(minutes=found.offset_min or 0)).date()
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(now_ms / 1000, UTC).date()


def _day_field(name: str, day: date) -> QDateEdit:
    made = QDateEdit(QDate(day.year, day.month, day.day))
    made.setLocale(QLocale(QLocale.Language.English))
    made.setDisplayFormat("d MMM yyyy")
    made.setAccessibleName(name)
    made.lineEdit().setObjectName("inner")
    made.lineEdit().setTextMargins(8, 0, 0, 0)
    made.setToolTip(review_strings()["forms"]["day_hint"])
    return made


def _format_day(day: QDate) -> str:
    return QLocale(QLocale.Language.English).toString(day, "d MMM yyyy")
