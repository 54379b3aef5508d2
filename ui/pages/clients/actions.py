"""What can be done with clients: pause, resume, revoke, regrant, stop all, take back. Each is one step with an Undo.

Must not do: show anything but a sentence and the dialogs that ask before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from core.types.clients import ClientCard, Removal, TakenBack, Terms, Undoable
from ui.context import Context
from ui.pages.clients.common.words import can_remove, left_told, visible
from ui.pages.clients.dialogs import RemoveDialog, UndoSinceDialog, resume_dialog, revoke_dialog, stop_dialog
from ui.strings import clients_strings, format_count
from ui.tasks import problem_of, query, write
from ui.undo import offer_undo

T = TypeVar("T")


class ClientActions(QObject):
    """Does them.

    Signals:
        done: something was done or refused: read again.
        granted: the name of a client whose terms are others now.
    """

    done = Signal()
    granted = Signal(str)

    def __init__(self, context: Context, page: QWidget) -> None:
        """Make it.

        Args:
            context: what pages are given.
            page: parent of the dialogs.
        """
        super().__init__(page)
        self._context, self._page = context, page
        self._is_busy = False

    def do(self, deed: str, client: ClientCard) -> None:
        """Do one thing, or ask before.

        Args:
            deed: `pause`, `resume`, `wake`, `revoke` or `undo`.
            client: with whom.
        """
        clients, name = self._context.bridge.engine.clients, client.name
        if deed == "pause":
            self._step("pause", name, lambda: clients.pause(name))
        elif deed in {"resume", "wake"}:
            self._step("resume", name, lambda: clients.resume(name))
        elif deed == "revoke":
            asking = revoke_dialog(self._context, client, self._page)
            asking.agreed.connect(lambda: self._revoke(name))
            asking.open()
        elif deed == "undo":
            since = UndoSinceDialog(self._context, name, self._page)
            since.agreed.connect(lambda: self._undo(name, since.since_ms))
            since.open()

    def regrant(self, name: str, terms: Terms) -> None:
        """Let other terms hold from now on."""
        clients, told = (
            self._context.bridge.engine.clients,
            clients_strings()["done"]["regrant"].format(name=visible(name)),
        )

        def tell(step_id: str) -> None:
            self.granted.emit(name)
            self._say(told, step_id)

        self._run("regrant", lambda: clients.regrant(name, terms), tell)

    def stop_all(self, count: int) -> None:
        """Stop all that are awake, after asking.

        Args:
            count: how many they are.
        """
        asking = stop_dialog(self._context, count, self._page)
        asking.agreed.connect(lambda: self._stop(count))
        asking.open()

    def resume_all(self, names: Sequence[str]) -> None:
        """Let in again all that are paused, after asking.

        Args:
            names: of these.
        """
        asking = resume_dialog(self._context, names, self._page)
        asking.agreed.connect(lambda: self._resume(len(names)))
        asking.open()

    # ---- doing

    def _step(self, deed: str, name: str, begin: Callable[[], Future[str]]) -> None:
        """A verb whose answer is its undo step."""
        told = clients_strings()["done"][deed].format(name=visible(name))
        self._run(deed, begin, lambda step_id: self._say(told, step_id))

    def _stop(self, count: int) -> None:
        clients, told = self._context.bridge.engine.clients, format_count(clients_strings()["done"]["stop"], count)
        self._run("stop", clients.stop_all, lambda step_id: self._say(told, step_id))

    def _resume(self, count: int) -> None:
        clients, told = (
            self._context.bridge.engine.clients,
            format_count(clients_strings()["done"]["resume_all"], count),
        )
        self._run("resume_all", clients.resume_all, lambda step_id: self._say(told, step_id))

    def _revoke(self, name: str) -> None:
        clients, told = (
            self._context.bridge.engine.clients,
            clients_strings()["done"]["revoke"].format(name=visible(name)),
        )

        def ask(_client_id: str) -> None:
            self._context.desk.say(told)
            counting = query(clients_strings()["undo_dialog"]["looking"], lambda: clients.undoable(name, 0)).within(
                self
            )
            self._context.tasks.run(counting.success(lambda found: self._offer(name, found)).failure(self._fail))

        self._run("revoke", lambda: clients.revoke(name), ask)

    def _offer(self, name: str, found: Undoable) -> None:
        """What a revoked client wrote is offered to be taken back, where there is any."""
        if can_remove(found):
            asking = RemoveDialog(self._context, name, found, self._page)
            asking.agreed.connect(lambda: self._remove(name))
            asking.open()

    def _undo(self, name: str, since_ms: int) -> None:
        clients, said = self._context.bridge.engine.clients, clients_strings()["done"]

        def tell(found: TakenBack) -> None:
            told = format_count(said["undo"], found.steps, name=visible(name)) if found.steps else said["nothing"]
            self._say(told + left_told(found.left), found.step_id)

        self._run("undo", lambda: clients.undo_since(name, since_ms), tell)

    def _remove(self, name: str) -> None:
        clients, said = self._context.bridge.engine.clients, clients_strings()["done"]

        def tell(found: Removal) -> None:
            told = format_count(said["remove"], found.steps, name=visible(name)) if found.steps else ""
            told += format_count(said["archived"], found.archived) if found.archived else ""
            self._say((told.strip() or said["nothing"]) + left_told(found.left), found.step_id)

        self._run("remove", lambda: clients.remove_all(name), tell)

    def _run(self, deed: str, begin: Callable[[], Future[T]], then: Callable[[T], None]) -> None:
        if self._is_busy:
            return  # a second press before the first is done would mean the same
        self._is_busy = True
        task = write(clients_strings()["doing"][deed], begin).within(self).success(then).failure(self._fail)
        self._context.tasks.run(task).ended.connect(self._end)

    def _end(self) -> None:
        self._is_busy = False
        self.done.emit()

    def _fail(self, error: BaseException) -> None:
        problem = problem_of(error)
        if problem is not None:
            self._context.desk.say(problem.sentence)

    def _say(self, told: str, step_id: str) -> None:
        if step_id:
            offer_undo(self._context, told, step_id)
        else:
            self._context.desk.say(told)
