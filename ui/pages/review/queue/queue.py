"""The list at the left: filters with counts, rows in the order of harm, what closed by itself.

Must not do: ask the engine, or decide anything; it tells what is looked at and what is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from core.types.reviews import Queue, ReviewRow
from ui.lists.list_view import Keep, ListKeys, ListView
from ui.pages.review.queue.lines import GROUPS, QueueRows, lines_of
from ui.pages.review.words import families
from ui.strings import review_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, MenuChip, button, column, label, row

ALL = "all"
_KEYS = ListKeys({}, moves_only=True, searches=False)


class Filters(QWidget):
    """All, or one family of kinds; only those of which something waits.

    Signals:
        chosen: the family's key.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What is shown of the queue")
        self._flow = FlowLayout(self, gap=6)
        self._buttons: dict[str, QPushButton] = {}
        self._titles = {ALL: "All", **{key: title for key, title, _ in families()}}
        for key, title in self._titles.items():
            made = button(title, kind="chip")
            made.setCheckable(True)
            made.setChecked(key == ALL)
            made.clicked.connect(lambda _checked=False, key=key: self._choose(key))
            self._flow.addWidget(made)
            self._buttons[key] = made

    @property
    def current(self) -> str:
        """The family that is shown."""
        return next((key for key, made in self._buttons.items() if made.isChecked()), ALL)

    def _choose(self, key: str) -> None:
        self._check(key)
        self.chosen.emit(key)

    def _check(self, wanted: str) -> None:
        # No exclusive group of Qt: its buttons are reached by side arrows, and here those decide.
        for key, made in self._buttons.items():
            made.setChecked(key == wanted)

    def show_all(self) -> None:
        """Show everything again, without telling anybody."""
        self._check(ALL)

    def show_counts(self, counts: Mapping[str, int]) -> None:
        """Say how much waits of each family.

        Args:
            counts: open items by kind.
        """
        for key, title, kinds in families():
            count = sum(counts.get(kind, 0) for kind in kinds)
            made = self._buttons[key]
            made.setText(f"{title} {count:,}")
            made.setAccessibleName(f"{title}, {count:,}")
            made.setVisible(count > 0 or made.isChecked())
        self.updateGeometry()


def kinds_of(family: str) -> tuple[str, ...] | None:
    """The kinds of a family; None for all."""
    return next((kinds for key, _, kinds in families() if key == family), None)


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
        self.setObjectName("queue")
        self.setAccessibleName("The queue")
        self._theme = theme
        self._queue = Queue((), 0, {})
        self._away: set[str] = set()
        self._count = label("", "muted")
        self.filters = Filters()
        self.filters.chosen.connect(self.filtered)
        self.group = MenuChip(theme, "Group", GROUPS, "none")
        self.group.chosen.connect(lambda _: self.show_again())
        self.list = ListView(QueueRows(theme), "What waits for you", _KEYS, keep=Keep.AFTER, takes_many=True)
        self._cap = label("", "small", wrap=True)
        self._closed = label("", "small", wrap=True)
        self.see_why = button("See why", self.closed_asked.emit, kind="link")
        self.see_rules = button("Rules", self.rules_asked.emit, kind="link", hint="Decisions you asked to be repeated")
        layout = column(self, gap=10)
        layout.setContentsMargins(12, 16, 12, 12)
        head = row(label("Review", "title"), None, self._count)
        head.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(head)
        chips = column(None, self.filters)
        chips.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(chips)
        layout.addWidget(self.list, 1)
        foot = column(None, self._cap, self._closed, gap=4)
        links = row(self.see_why, self.see_rules, None, self.group, gap=10)
        foot.addLayout(links)
        foot.setContentsMargins(6, 0, 6, 0)
        layout.addLayout(foot)

    @property
    def rows(self) -> Sequence[ReviewRow]:
        """The rows that are shown, in their order."""
        return self.list.lines.rows()

    @property
    def open_count(self) -> int:
        """How many items of the shown family wait, shown or not."""
        kinds = kinds_of(self.filters.current)
        counts = self._queue.counts
        total = self._queue.total if kinds is None else sum(counts.get(kind, 0) for kind in kinds)
        return max(total - len(self._away), len(self.rows))

    def show_queue(self, queue: Queue, wanted: str = "") -> None:
        """Show what the engine read.

        Args:
            queue: the answer.
            wanted: the item to look at; "" to stay where one is.
        """
        self._queue = queue
        self._away.clear()
        self.filters.show_counts(queue.counts)
        self.group.setVisible(len(queue.rows) > 1)
        told = review_strings()["closed"]["link"]
        said = told["one"] if queue.closed == 1 else told["many"].format(count=f"{queue.closed:,}")
        self._closed.setText(said)
        self._closed.setVisible(queue.closed > 0)
        self.see_why.setText("See why" if queue.closed else "What closed")
        self.see_why.setAccessibleName("See why they closed" if queue.closed else "What closed lately")
        self.show_again(wanted)

    def show_again(self, wanted: str = "") -> None:
        """Show the same rows, grouped as is wished now."""
        current = self.list.current
        left = [one for one in self._queue.rows if one.id not in self._away]
        today = min(self._queue.today, len(left))
        self.list.show_lines(
            lines_of(left, self.group.current, today), wanted=wanted or (current.id if current is not None else "")
        )
        self._say_counts(len(left))

    def take_away(self, ids: Sequence[str]) -> None:
        """Take decided rows out before the engine has answered; the next row is looked at."""
        self._away.update(ids)
        self.show_again()

    def put_back(self) -> None:
        """Show again what was taken out: it could not be decided."""
        self._away.clear()
        self.show_again()

    def _say_counts(self, shown: int) -> None:
        total = self.open_count
        self._count.setText(f"{total:,} open")
        self._cap.setText(f"The {shown:,} most harmful of {total:,} are shown.")
        self._cap.setVisible(total > shown)
