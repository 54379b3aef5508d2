"""The queue at the left: filters with counts, rows in the order of harm; and what closed lately, and what repeats.

Must not do: ask the engine for an item, or decide anything; it tells what is looked at and what is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QDialog, QFrame, QPushButton, QVBoxLayout, QWidget

from core.types.reviews import ClosedRow, Queue, ReviewRow, ReviewRule
from ui.bridge import make_query, make_write, problem_of
from ui.context import Context
from ui.lists.list_view import AfterRemoval, ListKeys, ListView
from ui.lists.row_spec import LOW, MIDDLE, RIGHT, Heading, InertRow, RowSpec, RowState
from ui.pages.review.labels import describe_action, list_families, row_note, source_name
from ui.strings import format_count, review_strings, window_strings
from ui.theme.theme import Theme
from ui.theme.tokens import sizes, spacing
from ui.undo import offer_undo
from ui.widgets.basics import (
    FlowLayout,
    MenuChip,
    clear_layout,
    make_button,
    make_column,
    make_hairline,
    make_label,
    make_row,
    make_scroll_area,
)
from ui.widgets.labels import date_of, format_ago
from ui.widgets.plaintext import one_line

_ROW, _HEADING = 56, 34

Line = ReviewRow | Heading


def queue_lines(rows: Sequence[ReviewRow], group: str, today: int = 0) -> list[Line]:
    """Rows in the order they are, with headings.

    Args:
        rows: from the engine, most harmful first.
        group: `none`, `source`, `client` or `subject`.
        today: how many of the first rows are today's digest.
    """
    strings = review_strings()["queue"]
    if group == "none":
        if not 0 < today < len(rows):
            return list(rows)
        later = len(rows) - today
        return [
            Heading(strings["today"], count=today),
            *rows[:today],
            Heading(strings["later"], count=later),
            *rows[today:],
        ]
    name = _NAMES[group]
    grouped: dict[str, list[ReviewRow]] = {}
    for item in rows:  # the order of the groups is that of their first, most harmful row
        grouped.setdefault(name(item), []).append(item)
    lines: list[Line] = []
    for title, members in grouped.items():
        lines += [Heading(title, count=len(members), chooses=True), *members]
    return lines


def _client_name(row: ReviewRow) -> str:
    return one_line(row.client or "", 40) or review_strings()["queue"]["no_client"]


def _subject_name(row: ReviewRow) -> str:
    return one_line(row.subject, 40) or review_strings()["queue"]["no_subject"]


_NAMES: Mapping[str, Callable[[ReviewRow], str]] = {
    "source": lambda row: source_name(row.source),
    "client": _client_name,
    "subject": _subject_name,
}


class QueueRows(RowSpec[ReviewRow]):
    """How the rows of the queue look: a title, and under it what it is and whence."""

    heading = (_HEADING, _HEADING)

    def row_key(self, row: ReviewRow) -> str:
        """The id of its item."""
        return row.id

    def accessible_text(self, row: ReviewRow) -> str:
        """Its title and its note."""
        return f"{one_line(row.title, 160)}. {row_note(row)}"

    def row_height(self, _row: ReviewRow, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_ROW)

    def draw_inert(self, painter: QPainter, rect: QRect, line: InertRow, state: RowState) -> None:
        """A heading with the figure of its rows; under the pointer, what pressing it does."""
        if not isinstance(line, Heading):
            return
        px, number, is_pressed = self.theme.px, self.theme.font("small"), line.chooses and state.is_hovered
        inner = rect.adjusted(px(spacing().m), 0, -px(spacing().m), -px(6))
        figure = window_strings()["buttons"]["select_all"] if is_pressed else f"{line.count or 0:,}"
        self.draw_text(painter, inner, figure, "accent" if is_pressed else "muted", number, RIGHT | LOW)
        width = QFontMetrics(number).horizontalAdvance(figure)
        self.draw_text(painter, inner.adjusted(0, 0, -width - 8, 0), line.title, "muted", self.theme.font("label"), LOW)

    def draw_row(self, painter: QPainter, rect: QRect, row: ReviewRow, _state: RowState) -> None:
        """Its two lines."""
        px = self.theme.px
        inner = rect.adjusted(px(spacing().m), px(8), -px(spacing().m), -px(8))
        upper, lower = QRect(inner), QRect(inner)
        upper.setHeight(inner.height() // 2)
        lower.setTop(upper.bottom() + 1)
        title_font, small_font = self.row_fonts()
        title_font.setWeight(QFont.Weight.DemiBold)
        self.draw_text(painter, upper, one_line(row.title, 120), "muted" if row.later else "ink", title_font)
        self.draw_text(painter, lower, row_note(row), "muted", small_font)


DAYS = 7
_HEIGHT = 480
_LINE = 52


@dataclass(frozen=True, slots=True)
class ClosedLine:
    """Something that closed.

    Attributes:
        id: its item.
        title: what it was.
        why: how it closed, and the reason.
        when: how long ago.
    """

    id: str
    title: str
    why: str
    when: str


class ClosedRows(RowSpec[ClosedLine]):
    """How they look: a title with a word at the right, and under it why."""

    def row_key(self, row: ClosedLine) -> str:
        """The id of its item."""
        return row.id

    def accessible_text(self, row: ClosedLine) -> str:
        """All of it."""
        return f"{row.title}. {row.why} {row.when}"

    def tool_tip(self, _row: ClosedLine) -> str:
        """No tooltip."""
        return ""

    def row_height(self, _row: ClosedLine, _place: int) -> int:
        """All are of one height."""
        return self.theme.px(_LINE)

    def paint_background(self, painter: QPainter, rect: QRect, _row: ClosedLine, _state: RowState) -> None:
        """A hairline: nothing can be done with what closed."""
        painter.fillRect(QRect(rect.left() + 10, rect.bottom(), rect.width() - 20, 1), self.theme.colour("line"))

    def draw_row(self, painter: QPainter, rect: QRect, row: ClosedLine, _state: RowState) -> None:
        """Its two lines."""
        theme, inner = self.theme, rect.adjusted(10, 6, -10, -6)
        half, small = inner.height() // 2, theme.font("small")
        wide = QFontMetrics(small).horizontalAdvance(row.when)
        upper = QRect(inner.x(), inner.y(), inner.width() - wide - 12, half)
        self.draw_text(painter, upper, row.title, "ink", theme.font("body"))
        self.draw_text(painter, QRect(inner.x(), inner.y() + half, inner.width(), half), row.why, "muted", small)
        at_right = QRect(inner.x(), inner.y(), inner.width(), half)
        self.draw_text(painter, at_right, row.when, "muted", small, RIGHT | MIDDLE)


class ClosedDialog(QDialog):
    """What closed in the last days, and why."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        strings = review_strings()["closed"]
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.resize(context.theme.px(sizes().dialog_wide), context.theme.px(_HEIGHT))
        self._context = context
        self._note = make_label(strings["sentence"], "muted", wrap=True)
        self.list = ListView(ClosedRows(context.theme), strings["title"])
        self.list.setObjectName("framed")
        self.list.setUniformItemSizes(True)
        self.close_button = make_button(window_strings()["buttons"]["close"], self.accept, kind="primary")
        layout = make_column(self, make_label(strings["title"], "title"), self._note, margins=24, gap=12)
        layout.addWidget(self.list, 1)
        layout.addLayout(make_row(None, self.close_button))
        conflicts = context.bridge.engine.conflicts
        task = make_query(review_strings()["tasks"]["closed"], lambda: conflicts.list_closed(DAYS)).within(self)
        context.tasks.run(task.success(self._show_rows).failure(self._show_failure))

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def _show_rows(self, rows: Sequence[ClosedRow]) -> None:
        now = self._context.clock.now_ms()
        self.list.show_lines([closed_line(one, now) for one in rows])
        if not rows:
            self._note.setText(review_strings()["closed"]["none"])
            self.list.hide()

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)


def closed_line(shown: ClosedRow, now_ms: int) -> ClosedLine:
    """Something that closed as a line."""
    strings = review_strings()
    own = strings["resolutions_of"].get(shown.kind, {}).get(shown.resolution)
    how = own or strings["resolutions"].get(shown.resolution) or strings["closed"]["by_itself"]
    why = one_line(shown.note, 200)
    reason = f"{how}. {why}" if why else f"{how}."
    return ClosedLine(shown.id, one_line(shown.title, 160), reason, format_ago(shown.closed_at, now_ms))


class RulesDialog(QDialog):
    """The decisions that repeat; each can be taken away.

    Signals:
        forgotten: the id of a rule that is gone.
    """

    forgotten = Signal(str)

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        strings = review_strings()["rules"]
        self.setWindowTitle(strings["title"])
        self.setAccessibleName(strings["title"])
        self.resize(context.theme.px(sizes().dialog_wide), context.theme.px(360))
        self._context = context
        self._note = make_label(strings["sentence"], "muted", wrap=True)
        inner = QWidget()
        self._lines: QVBoxLayout = make_column(inner, gap=8)
        self.close_button = make_button(window_strings()["buttons"]["close"], self.accept, kind="primary")
        layout = make_column(self, make_label(strings["title"], "title"), self._note, margins=24, gap=12)
        layout.addWidget(make_scroll_area(inner), 1)
        layout.addLayout(make_row(None, self.close_button))
        self._request_rules()

    @property
    def note(self) -> str:
        """What is said above the list."""
        return self._note.text()

    def _request_rules(self) -> None:
        conflicts = self._context.bridge.engine.conflicts
        task = make_query(review_strings()["tasks"]["rules"], conflicts.list_review_rules).within(self, "rules")
        self._context.tasks.run(task.success(self._show_rules).failure(self._show_failure))

    def _show_rules(self, rules: Sequence[ReviewRule]) -> None:
        clear_layout(self._lines)
        self._note.setText(review_strings()["rules"]["sentence" if rules else "none"])
        for rule in rules:
            texts = QWidget()
            title = make_label(rule_line(rule), wrap=True)
            strings = review_strings()["rules"]
            used = format_count(strings["used"], rule.applied) if rule.applied else strings["unused"]
            since = strings["since"].format(date=date_of(rule.created_at), used=used)
            make_column(texts, title, make_label(since, "small"), gap=1)
            away = make_button(review_strings()["rules"]["forget"], partial(self._forget_rule, rule.id))
            away.setAccessibleName(review_strings()["rules"]["forget_name"].format(rule=rule_line(rule)))
            line = QWidget()
            make_row(texts, away, gap=12, parent=line).setStretch(0, 1)
            self._lines.addWidget(line)
            self._lines.addWidget(make_hairline())
        self._lines.addStretch(1)

    def _show_failure(self, error: BaseException) -> None:
        problem = problem_of(error)
        self._note.setText("" if problem is None else problem.sentence)

    def _forget_rule(self, rule_id: str) -> None:
        conflicts = self._context.bridge.engine.conflicts
        task = make_write(review_strings()["tasks"]["forget_rule"], lambda: conflicts.forget_rule(rule_id)).within(self)
        self._context.tasks.run(
            task.success(lambda step: self._on_rule_forgotten(rule_id, step)).failure(self._show_failure)
        )

    def _on_rule_forgotten(self, rule_id: str, step_id: str) -> None:
        self.forgotten.emit(rule_id)
        offer_undo(self._context, review_strings()["rules"]["forgotten"], step_id)
        self._request_rules()


def rule_line(rule: ReviewRule) -> str:
    """A rule as a sentence: `Turn it down: held back, from Claude Code`."""
    whence = one_line(rule.client, 40) if rule.client else source_name(rule.source or "").lower()
    wording = describe_action(rule.action, rule.kind, is_pair=rule.kind in {"contradiction", "classification"})
    strings = review_strings()["rules"]
    kind, source = strings["kinds"].get(rule.kind, rule.kind), whence or strings["anywhere"]
    return str(strings["line"]).format(action=wording.plain, kind=kind, source=source)


ALL = "all"
_KEYS = ListKeys({}, moves_only=True, searches=False)


class QueueFilters(QWidget):
    """All, or one family of kinds; only those of which something waits.

    Signals:
        chosen: the family's key.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(review_strings()["queue"]["filter"])
        self._flow = FlowLayout(self, gap=6)
        self._buttons: dict[str, QPushButton] = {}
        self._titles = {ALL: review_strings()["queue"]["all"], **{key: title for key, title, _ in list_families()}}
        for key, title in self._titles.items():
            button = make_button(title, kind="chip")
            button.setCheckable(True)
            button.setChecked(key == ALL)
            button.clicked.connect(lambda _checked=False, key=key: self._on_filter_clicked(key))
            self._flow.addWidget(button)
            self._buttons[key] = button

    @property
    def current(self) -> str:
        """The family that is shown."""
        return next((key for key, made in self._buttons.items() if made.isChecked()), ALL)

    def _on_filter_clicked(self, key: str) -> None:
        self._check_filter(key)
        self.chosen.emit(key)

    def _check_filter(self, wanted: str) -> None:
        # No exclusive group of Qt: its buttons are reached by side arrows, and here those decide.
        for key, made in self._buttons.items():
            made.setChecked(key == wanted)

    def show_all(self) -> None:
        """Show everything again, without telling anybody."""
        self._check_filter(ALL)

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Say how much waits of each family.

        Args:
            counts: open items by kind.
        """
        for key, title, kinds in list_families():
            count = sum(counts.get(kind, 0) for kind in kinds)
            made = self._buttons[key]
            made.setText(f"{title} {count:,}")
            made.setAccessibleName(f"{title}, {count:,}")
            made.setVisible(count > 0 or made.isChecked())
        self.updateGeometry()


def family_kinds(family: str) -> tuple[str, ...] | None:
    """The kinds of a family; None for all."""
    return next((kinds for key, _, kinds in list_families() if key == family), None)


class QueuePanel(QFrame):
    """Head, filters, list, foot.

    Signals:
        filtered: another family is wanted.
        closed_asked: the person wants to know what closed by itself.
        rules_asked: the person wants to see the rules.
    """

    filtered = Signal(str)
    closed_asked = Signal()
    rules_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        strings = review_strings()["queue"]
        self.setObjectName("queue")
        self.setAccessibleName(strings["name"])
        self._theme = theme
        self._queue = Queue((), 0, {})
        self._away: set[str] = set()
        self._count = make_label("", "muted")
        self.filters = QueueFilters()
        self.filters.chosen.connect(self.filtered)
        self.group = MenuChip(theme, strings["group"], strings["groups"], "none")
        self.group.chosen.connect(lambda _: self.refill_list())
        self.list = ListView(QueueRows(theme), strings["list"], _KEYS, keep=AfterRemoval.AFTER, takes_many=True)
        self._cap = make_label("", "small", wrap=True)
        self._closed = make_label("", "small", wrap=True)
        self.see_why = make_button(review_strings()["closed"]["why"], self.closed_asked.emit, kind="link")
        self.see_rules = make_button(
            review_strings()["rules"]["link"],
            self.rules_asked.emit,
            kind="link",
            hint=review_strings()["rules"]["hint"],
        )
        layout = make_column(self, gap=10)
        layout.setContentsMargins(12, 16, 12, 12)
        header = make_row(make_label(review_strings()["page"], "title"), None, self._count)
        header.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(header)
        chips = make_column(None, self.filters)
        chips.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(chips)
        layout.addWidget(self.list, 1)
        foot = make_column(None, self._cap, self._closed, gap=4)
        links = make_row(self.see_why, self.see_rules, None, self.group, gap=10)
        foot.addLayout(links)
        foot.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(foot)

    @property
    def rows(self) -> Sequence[ReviewRow]:
        """The rows that are shown, in their order."""
        return self.list.lines.list_rows()

    @property
    def open_count(self) -> int:
        """How many items of the shown family wait, shown or not."""
        kinds = family_kinds(self.filters.current)
        counts = self._queue.counts
        total = self._queue.total if kinds is None else sum(counts.get(kind, 0) for kind in kinds)
        return max(total - len(self._away), len(self.rows))

    def show_queue(self, queue: Queue, wanted: str = "") -> None:
        """Show what the engine read.

        Args:
            wanted: the item to look at; "" to stay where one is.
        """
        self._queue = queue
        self._away.clear()
        self.filters.show_counts(queue.counts)
        self.group.setVisible(len(queue.rows) > 1)
        strings = review_strings()["closed"]
        self._closed.setText(format_count(strings["link"], queue.closed))
        self._closed.setVisible(queue.closed > 0)
        self.see_why.setText(strings["why"] if queue.closed else strings["all"])
        self.see_why.setAccessibleName(strings["why_name"] if queue.closed else strings["recent"])
        self.refill_list(wanted)

    def refill_list(self, wanted: str = "") -> None:
        """Show the same rows, grouped as chosen now."""
        current = self.list.current
        left = [one for one in self._queue.rows if one.id not in self._away]
        today = min(self._queue.today, len(left))
        self.list.show_lines(
            queue_lines(left, self.group.current, today), wanted=wanted or (current.id if current is not None else "")
        )
        self._show_counts(len(left))

    def remove_rows(self, ids: Sequence[str]) -> None:
        """Take decided rows out before the engine has answered; the next row is looked at."""
        self._away.update(ids)
        self.refill_list()

    def restore_rows(self) -> None:
        """Show again what was taken out: it could not be decided."""
        self._away.clear()
        self.refill_list()

    def _show_counts(self, shown: int) -> None:
        strings = review_strings()["queue"]
        total = self.open_count
        self._count.setText(strings["open"].format(count=total))
        self._cap.setText(strings["cap"].format(shown=shown, total=total))
        self._cap.setVisible(total > shown)
