"""Progress of long work: throttled to one report every 100 ms, with a question whether to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from core.engine.runtime.storage import locked_error
from core.errors import CancelledError
from core.types.clock import Clock
from core.vault.database.rows import Rows

_EVERY_S = 0.1

Counted = Callable[[int, int | None], None]
"""Told units done, and units in all (None while unknown)."""

Asked = Callable[[], bool]
"""Whether the work should stop."""


def count_interrupted_imports(rows: Rows) -> int:
    """How many imports wait to be finished."""
    return int(rows.value("SELECT count(*) FROM imports WHERE state = 'running'"))


@dataclass
class RunningImport:
    """An import that runs or waits its turn, whoever began it and whether or not they are still there.

    Attributes:
        id: of the import; what stops it.
        label: the name of the file or folder.
        started_at: epoch ms.
        is_storing: whether it writes by now; before that it only reads.
        done: records so far.
        total: records in all; None while unknown.
        over: set once nothing of it runs any more.
    """

    id: str
    label: str
    started_at: int
    is_storing: bool = False
    done: int = 0
    total: int | None = None
    over: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Let it stop at its next safe point and take back what it wrote."""
        self._stopped.set()

    def make_stop_check(self, cancelled: Asked | None) -> Asked:
        """Whether it shall stop, for whoever began it or by `stop`."""
        return lambda: self._stopped.is_set() or (cancelled is not None and cancelled())

    def make_progress_note(self, report: Counted | None) -> Counted:
        """Takes down how far it is, and tells whoever began it."""

        def note_progress(done: int, total: int | None) -> None:
            self.done, self.total = done, total
            if report is not None:
                report(done, total)

        return note_progress


class ImportProgress:
    """Handed to long work; checked at points where stopping is safe."""

    def __init__(
        self,
        clock: Clock,
        report: Counted | None = None,
        cancelled: Asked | None = None,
        closing: Asked | None = None,
    ) -> None:
        """Tie the ends together.

        Args:
            report: called with how far the work is.
            cancelled: whether the person wants it stopped.
            closing: whether the vault is being locked.
        """
        self._clock = clock
        self._report = report
        self._cancelled = cancelled
        self._closing = closing
        self._last = float("-inf")

    def report_progress(self, done: int, total: int | None) -> None:
        """Tell how far the work is.

        Args:
            done: units done.
            total: units in all; None while unknown.

        Raises:
            UserError: VAULT_LOCKED; the vault is being locked.
            CancelledError: stopping was asked for.
        """
        if self._closing is not None and self._closing():
            raise locked_error()
        if self._cancelled is not None and self._cancelled():
            raise CancelledError
        now = self._clock.monotonic()
        if self._report is not None and (now - self._last >= _EVERY_S or done == total):
            self._last = now
            self._report(done, total)
