"""The numbers behind the names of the tabs: read again after what happened, a little later and all at once.

Must not do: look ahead (that plans a whole run), or read for a tab that is shown: it reads and tells its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from ui.context import Context
from ui.pages.journal.runs.relations import MOST
from ui.strings import journal_strings
from ui.tasks import query

_SOON_MS = 1_000  # between two readings while work goes on
_Read = tuple[Callable[[], Future[Any]], Callable[[Any], int]]


class Counts(QObject):
    """Reads them.

    Attributes:
        shown: the tab that is shown.

    Signals:
        told: the name of a tab, and its number.
    """

    told = Signal(str, int)

    def __init__(self, context: Context, parent: QObject, shown: str) -> None:
        super().__init__(parent)
        self._context, self.shown = context, shown
        self._is_behind = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SOON_MS)
        self._timer.timeout.connect(self._fire)

    def read_soon(self) -> None:
        """Read them a little later, and once more where something happened until then: a run ends after it told so."""
        self._is_behind = self._timer.isActive()
        if not self._is_behind:
            self._timer.start()

    def stop(self) -> None:
        """Read nothing more."""
        self._timer.stop()

    def _fire(self) -> None:
        self.read()
        if self._is_behind:
            self._is_behind = False
            self._timer.start()

    def read(self) -> None:
        """Read them now."""
        for name, (begin, number) in self._readings().items():
            if name != self.shown:
                asked = query(journal_strings()["counting"], begin).within(self, name)
                self._context.tasks.run(asked.success(partial(self._tell, name, number)).failure(lambda _: None))

    def _tell(self, name: str, number: Callable[[Any], int], answer: object) -> None:
        self.told.emit(name, number(answer))

    def _readings(self) -> Mapping[str, _Read]:
        engine = self._context.bridge.engine
        jobs, journal = engine.jobs, engine.journal
        return {
            "changes": (lambda: journal.steps(None, 1), _total),
            "runs": (lambda: jobs.state(1), _total),
            "relations": (lambda: jobs.links(MOST), len),
            "archive": (lambda: jobs.graveyard(None, 1), _total),
            "health": (jobs.health, lambda health: len(health.warnings)),
            "imports": (journal.imports, len),
            "audit": (lambda: journal.audit(None, 1), _total),
        }


def _total(answer: Any) -> int:
    return int(answer.total)
