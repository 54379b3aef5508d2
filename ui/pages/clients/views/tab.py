"""What every view of a client has in common: it is shown a client, reads when it is looked at, and says when it rests.

A view of what a client does looks again by itself, since nothing tells of an answer or a refusal.
Must not do: know a single view.
"""

from __future__ import annotations

from datetime import timedelta

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton, QWidget

from core.types.clients import ClientCard
from core.types.views import MemoryRow
from ui.context import Context
from ui.pages.clients.common.lines import Row
from ui.tasks import problem_of
from ui.widgets.basics import column
from ui.widgets.plaintext import one_line, tip
from ui.widgets.states import States
from ui.widgets.words import local

_TEXT = 240


class Tab(QWidget):
    """One view of a client.

    Attributes:
        card: the client; None before one is looked at.
        poll_ms: how often it looks again while it is looked at; 0 for never.
    """

    poll_ms = 0

    def __init__(self, context: Context, reading: str) -> None:
        """Make it.

        Args:
            context: what pages are given.
            reading: what is said while it reads.
        """
        super().__init__()
        self.context = context
        self.card: ClientCard | None = None
        self._is_seen = self._is_read = False
        self.inside = QWidget()
        self.states = States(context.theme, self.inside, reading)
        column(self, self.states)
        self._poll = QTimer(self)
        self._poll.setInterval(self.poll_ms)
        self._poll.timeout.connect(self.look_again)

    @property
    def is_settled(self) -> bool:
        """Whether it shows all it is about to show."""
        return self.card is None or not self._is_seen or self._is_read

    def show_client(self, card: ClientCard | None) -> None:
        """Show a client; another one is read anew, the same one only stands otherwise by now.

        Args:
            card: as it stands now; None for none.
        """
        is_other = self.card is None or card is None or self.card.name != card.name
        self.card = card
        if is_other:
            self._is_read = False
            self.forget()
        if card is None or not self._is_seen:
            return
        if is_other:
            self.read()
        else:
            self.stands_otherwise()

    def enter(self) -> None:
        """It is looked at."""
        self._is_seen = True
        if self.card is not None:
            self.read()
        if self.poll_ms:
            self._poll.start()

    def leave(self) -> None:
        """Another one is looked at."""
        self._is_seen = False
        self._poll.stop()

    def changed(self) -> None:
        """Something in the vault changed."""
        if self._is_seen and self.card is not None:
            self.look_again()

    def look_again(self) -> None:
        """It may have done more since; a view of what it does reads again."""

    def stands_otherwise(self) -> None:
        """The card of the same client was read again."""

    def forget(self) -> None:
        """Nothing of the last client stays."""

    def read(self) -> None:
        """Read what is shown."""
        raise NotImplementedError

    def fail(self, error: BaseException) -> None:
        """Reading failed: say so, in place of what there is not."""
        problem = problem_of(error)
        if problem is None:
            return
        if self._is_read:
            self.context.desk.say(problem.sentence, "Try again", self.read)
        else:
            self._is_read = True
            self.states.trouble(problem, self.read)


def memory_line(row: MemoryRow, note: str = "") -> Row:
    """A memory as a line.

    Args:
        row: the memory.
        note: under it; "" for its space.
    """
    return Row(
        id=row.id, head=one_line(row.head, _TEXT), note=note or one_line(row.space, 40), kind=row.kind, value=row.id
    )


def offer(made: QPushButton, cannot: str, hint: str) -> None:
    """Let a button be pressed, or say why it cannot be.

    Args:
        made: the button.
        cannot: why not; "" where it can.
        hint: what it does.
    """
    made.setEnabled(not cannot)
    made.setToolTip(tip(cannot or hint))
    made.setAccessibleDescription(cannot or hint)


def has_keyboard(made: QWidget) -> bool:
    """Whether the keyboard is there, or will be when the window has it again.

    Qt hands it on to whatever stands next when the widget goes or can be used no more; who asks this before can do
    better.
    """
    return made.window().focusWidget() is made


def day_heading(ms: int, now_ms: int) -> str:
    """The heading of a day: `Today`, `Yesterday`, `14 November 2026`."""
    at, today = local(ms).date(), local(now_ms).date()
    if at == today:
        return "Today"
    return "Yesterday" if at == today - timedelta(days=1) else f"{at.day} {at:%B} {at.year}"


def clock_told(ms: int) -> str:
    """`14:05`, in the local zone."""
    return f"{local(ms):%H:%M}"
