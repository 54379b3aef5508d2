"""The import dialog: choose, look inside, import, done. Nothing is stored before the person has seen what it is.

Must not do: wait; know another page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QWidget

from core.types.views import Facets
from ui.context import USUAL_PLACES, Context
from ui.imports.chooser import Choose
from ui.imports.frame import Frame
from ui.imports.progress import Done, ProgressStep
from ui.imports.queue import ImportQueue, Job, TakeBack
from ui.imports.reader import Reader
from ui.imports.rehearsal import Rehearse
from ui.imports.sources import Source
from ui.tasks import Problem, query
from ui.widgets.words import memories


class ImportDialog(Frame):
    """The dialog.

    Attributes:
        queue: what is imported now; None else.
    """

    def __init__(self, context: Context, paths: Sequence[Path] = (), parent: QWidget | None = None) -> None:
        """Make it.

        Args:
            context: the window's parts.
            paths: what was dropped or chosen; `USUAL_PLACES` alone to look around; empty to ask.
            parent: the window.
        """
        super().__init__(context.theme, parent)
        self.context = context
        self.queue: ImportQueue | None = None
        self._ids: list[str] = []
        self.reader = Reader(context, self)
        self.choose = Choose(context)
        self.rehearse = Rehearse(context)
        self.progress = ProgressStep(context)
        self.outcome = Done(context)
        self._connect()
        self._read_spaces()
        self._begin(paths)

    def _connect(self) -> None:
        self.choose.chosen.connect(self.look_into)
        self.choose.ready.connect(self._choose_footer)
        self.reader.read.connect(self._was_read)
        self.reader.moved.connect(self.rehearse.show_count)
        self.rehearse.changed.connect(self._look_footer)
        self.rehearse.spaced.connect(self.reader.again)
        self.rehearse.formed.connect(self.reader.read_as)
        self.rehearse.leave.connect(self.show_choose)
        self.outcome.remove.connect(self._remove)
        self.held.connect(self._held)
        self.dropped.connect(self.look_into)
        self.left.connect(self._leave)

    def _begin(self, paths: Sequence[Path]) -> None:
        if paths and list(paths) != [USUAL_PLACES]:
            self.look_into(paths)
            return
        self.show_choose()
        if paths:
            self.choose.look()

    def _read_spaces(self) -> None:
        library = self.context.bridge.engine.library
        task = query("Looking at the spaces", library.facets).within(self, "spaces").failure(lambda _: None)
        self.context.tasks.run(task.success(self._spaces))

    def _spaces(self, facets: Facets) -> None:
        self.rehearse.offer_spaces(tuple(name for name in facets.spaces if ":" not in name))

    def _held(self, is_over: bool) -> None:
        self.choose.light(is_over=is_over)

    # ---- choose

    def show_choose(self) -> None:
        """Ask what to import."""
        self.reader.stop()
        self.takes_drops = True
        self.show_page(self.choose, 0)
        self._choose_footer(len(self.choose.model.ticked))
        self.choose.setFocus()

    def _choose_footer(self, ticked: int) -> None:
        if self.page is self.choose:
            title = "Look inside" if ticked < 2 else f"Look inside {ticked}"
            main = (title, self.choose.take) if self.choose.model.lines else None
            self.foot(("Close", self.reject), main, may_go=ticked > 0)

    # ---- look inside

    def look_into(self, paths: Sequence[Path]) -> None:
        """Rehearse files and folders, one after the other."""
        self.choose.stop()
        self.reader.start(paths, self.rehearse.settle_space())
        self.show_page(self.rehearse, 1)
        self.rehearse.show_sources(self.reader.sources)
        self._look_footer()

    def _was_read(self, source: Source) -> None:
        self.rehearse.show_source(source)
        self._look_footer()
        if self.main.isEnabled() and self.focusWidget() in {None, self.back}:
            self.main.setFocus()

    def _look_footer(self) -> None:
        if self.page is not self.rehearse:
            return
        new, is_read = self.reader.new, self.reader.is_done
        is_refused = all(source.problem is not None for source in self.reader.sources)
        title = f"Import {memories(new)}" if new else ("Nothing new to import" if is_read else "Import")
        back = ("Back" if is_read else "Stop", self.show_choose)
        self.foot(back, None if is_refused else (title, self.start), may_go=is_read and new > 0)

    # ---- import

    def start(self) -> None:
        """Import what is chosen."""
        sources = [source for source in self.reader.sources if source.new]
        if not sources:
            return
        jobs = [Job(one.path, one.name, one.form, one.only) for one in sources]
        queue = ImportQueue(self.context, jobs, self.rehearse.settle_space())
        self.queue = queue
        self.takes_drops = False
        queue.ended.connect(self._ended)
        self.progress.follow(queue)
        self.show_page(self.progress, 2)
        self.foot(("Stop and take back", self.stop), None, ("Go on in the background", self.reject))
        queue.start()

    def stop(self) -> None:
        """Stop the import and take back what came in."""
        if self.queue is not None:
            self.back.setEnabled(False)
            self.progress.show_stopping()
            self.queue.stop()

    def _ended(self) -> None:
        queue, self.queue = self.queue, None
        if queue is None:
            return
        self.takes_drops = True
        if queue.outcome.is_stopped and not queue.outcome.reports:
            self.context.desk.say("The import was stopped; nothing of it was kept.")
            self.show_page(self.rehearse, 1)
            self._look_footer()
            return
        self._ids = queue.outcome.ids
        self.outcome.show_outcome(queue.outcome)
        self.show_page(self.outcome, 2)
        self._done_footer()

    def _done_footer(self) -> None:
        another = ("Import another", self._another)
        if self._ids:
            self.foot(another, ("Show in the library", self._to_library), ("Walk through the palace", self._to_palace))
        else:
            self.foot(another, ("Close", self.reject))
        self.main.setFocus()

    # ---- done

    def _another(self) -> None:
        self.choose.show_nothing()
        self.show_choose()

    def _to_library(self) -> None:
        wish = f"import:{','.join(self._ids)}"
        self.reject()
        self.context.desk.search.emit(wish)

    def _to_palace(self) -> None:
        self.reject()
        self.context.desk.go.emit("palace", "")

    def _remove(self) -> None:
        """Take the imports back, the last one first."""
        self.outcome.taken.setEnabled(False)
        taking = TakeBack(self.context, self._ids, self)
        taking.done.connect(self._removed)
        taking.failed.connect(self._not_removed)
        taking.start()

    def _removed(self, left: int) -> None:
        self._ids = []
        self.outcome.show_removed(left)
        self._done_footer()

    def _not_removed(self, problem: Problem) -> None:
        self.outcome.taken.setEnabled(True)
        self.outcome.show_trouble(problem)

    def _leave(self) -> None:
        """What only looks stops; what imports goes on."""
        self.choose.stop()
        self.reader.stop()
        queue, self.queue = self.queue, None
        if queue is not None and not queue.is_over:
            queue.is_watched = False
            queue.ended.disconnect(self._ended)
            self.context.desk.say("The import goes on; the status bar shows how far it is.")
