"""Rehearses exports one after the other. Nothing is stored.

Must not do: show anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.types.replies import ImportReport
from core.types.values import HOME_SPACE, OWNER_ACTOR
from ui.context import Context
from ui.imports.sources import Source
from ui.tasks import Running, Task, Watch, problem_of


class Reader(QObject):
    """The rehearsals.

    Signals:
        read: a `Source` that was read now, or refused.
        moved: entries of the present one so far.

    Attributes:
        sources: what is to be imported.
    """

    read = Signal(object)
    moved = Signal(int)

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._running: Running | None = None
        self._space = HOME_SPACE
        self.sources: list[Source] = []

    @property
    def is_done(self) -> bool:
        """Whether all of them were read or refused."""
        return all(source.report is not None or source.problem is not None for source in self.sources)

    @property
    def new(self) -> int:
        """How many memories what is chosen would bring."""
        return sum(source.new for source in self.sources)

    def start(self, paths: Sequence[Path], space: str) -> None:
        """Read other files and folders.

        Args:
            paths: which.
            space: the space they would go to.
        """
        self.stop()
        self.sources = [Source(Path(path)) for path in paths]
        self._space = space
        self._next()

    def again(self, space: str) -> None:
        """Read all of them anew for another space: what is new there is another question."""
        self.stop()
        self._space = space
        for source in self.sources:
            source.report, source.problem = None, None
            self.read.emit(source)
        self._next()

    def read_as(self, source: Source, form: str) -> None:
        """Read one of them anew, in a format the person names."""
        self.stop()
        source.form, source.problem, source.report, source.only = form, None, None, None
        self.read.emit(source)
        self._next()

    def stop(self) -> None:
        """Read no further."""
        if self._running is not None:
            self._running.cancel()
            self._running = None

    def _next(self) -> None:
        source = next((one for one in self.sources if one.report is None and one.problem is None), None)
        if source is None:
            return
        imports = self._context.bridge.engine.imports

        def begin(watch: Watch) -> Future[ImportReport]:
            return imports.rehearse(source.path, source.form, OWNER_ACTOR, self._space, watch.progress, watch.cancelled)

        task = Task("Looking into an export", begin, can_cancel=True).within(self, "read")
        self._running = self._context.tasks.run(
            task.success(lambda report: self._took(source, report)).failure(lambda error: self._refused(source, error))
        )
        self._running.moved.connect(self._moved)

    def _moved(self, done: int, _total: int) -> None:
        self.moved.emit(done)

    def _took(self, source: Source, report: ImportReport) -> None:
        self._running = None
        source.report = report
        if source.only is not None:
            source.only &= {row.key for row in report.plan}
        self._tell(source)

    def _refused(self, source: Source, error: BaseException) -> None:
        self._running = None
        source.problem = problem_of(error)
        if source.problem is not None:
            self._tell(source)

    def _tell(self, source: Source) -> None:
        self._next()
        self.read.emit(source)
