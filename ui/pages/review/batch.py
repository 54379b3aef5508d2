"""Several items chosen at once: what they are, and one decision for all of them.

Must not do: carry the decision out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QWidget

from core.types.reviews import ReviewRow
from core.types.values import Action
from ui.pages.review.words import MANY, counted_family, families, row_note, source_words, told_many
from ui.strings import review_strings
from ui.theme.theme import Theme
from ui.widgets.basics import FlowLayout, clear, column, label
from ui.widgets.keys import KeyButton
from ui.widgets.plaintext import one_line

_LINE = 30
_LISTED = 200


class BatchPanel(QFrame):
    """The panel.

    Signals:
        decided: an action for all of them.
    """

    decided = Signal(Action)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Several items")
        self._theme = theme
        self.buttons: dict[Action, KeyButton] = {}
        self._title = label("", "title")
        self._what = label("", "muted", wrap=True)
        self.list = QListWidget()
        self.list.setObjectName("framed")
        self.list.setAccessibleName("What is chosen")
        self.list.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.list.setUniformItemSizes(True)
        self._actions = QWidget()
        self._flow = FlowLayout(self._actions, gap=8)
        self._note = label("", "small", wrap=True)
        layout = column(self, self._title, self._what, gap=10)
        layout.setContentsMargins(32, 20, 32, 20)
        layout.addWidget(label(review_strings()["batch"]["sentence"], wrap=True))
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
        self._what.setText(summary(rows))
        mixed = any(told_many(action, rows) is None for action in (Action.REJECT, Action.SUPERSEDE))
        is_odd = mixed and len({row.kind for row in rows}) > 1
        self._note.setText(review_strings()["batch"]["of_one_kind" if is_odd else "needs_each"])
        self.list.clear()
        side = QSize(0, self._theme.px(_LINE))
        for shown in rows[:_LISTED]:
            line = QListWidgetItem(f"{one_line(shown.title, 100)} · {row_note(shown)}", self.list)
            line.setSizeHint(side)
        self.list.setMaximumHeight(len(rows) * side.height() + 14)
        clear(self._flow)
        self.buttons.clear()
        for action in MANY:
            said = told_many(action, rows)
            if said is not None:
                made = KeyButton(self._theme, said.title, said.key, self._presser(action))
                made.setToolTip(said.hint)
                self._flow.addWidget(made)
                made.show()
                self.buttons[action] = made
        self._actions.updateGeometry()

    def _presser(self, action: Action) -> Callable[[], None]:
        return lambda: self.decided.emit(action)


def summary(rows: Sequence[ReviewRow]) -> str:
    """What they are and where they come from, as `3 conflicts, 2 held back. From an editor, a document.` would be."""
    first = {kind: kinds[0] for _, _, kinds in families() for kind in kinds}
    what = Counter(first.get(row.kind, row.kind) for row in rows)
    parts = [counted_family(kind, count) for kind, count in what.most_common()]
    whence = Counter(_whence(row) for row in rows)
    names = [name for name, _ in whence.most_common(3)]
    more = f" and {len(whence) - 3:,} more" if len(whence) > 3 else ""
    return f"{', '.join(parts)}. From {', '.join(names)}{more}."


def _whence(row: ReviewRow) -> str:
    if row.client:
        return one_line(row.client, 40)
    return "you" if row.source.startswith("user") else source_words(row.source).lower()
