"""What can be done with clients: pause, resume, revoke, regrant, stop all, take back. Each is one step with an Undo.

Must not do: show anything but a sentence and the dialogs that ask before.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from core.types.clients import ClientCard, Removal, TakenBack, Terms
from ui.context import Context
from ui.pages.clients.dialogs import RemoveDialog, UndoSinceDialog, revoke_dialog, stop_dialog
from ui.pages.clients.words import counted, left_told, visible, words
from ui.tasks import problem_of, write
from ui.undoing import offer_undo

T = TypeVar("T")


class Deeds(QObject):
    """Does them.

    Signals:
        done: something was done or refused: read again.
    """

    done = Signal()

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
        clients = self._context.bridge.engine.clients
        self._step("regrant", name, lambda: clients.regrant(name, terms))

    def stop_all(self, count: int) -> None:
        """Stop all that are awake, after asking.

        Args:
            count: how many they are.
        """
        asking = stop_dialog(self._context, count, self._page)
        asking.agreed.connect(lambda: self._stop(count))
        asking.open()

    # ---- doing

    def _step(self, deed: str, name: str, begin: Callable[[], Future[str]]) -> None:
        """A verb whose answer is its undo step."""
        told = words()["done"][deed].format(name=visible(name))
        self._run(deed, begin, lambda step_id: self._say(told, step_id))

    def _stop(self, count: int) -> None:
        clients, told = self._context.bridge.engine.clients, counted(words()["done"]["stop"], count)
        self._run("stop", clients.stop_all, lambda step_id: self._say(told, step_id))

    def _revoke(self, name: str) -> None:
        clients, told = self._context.bridge.engine.clients, words()["done"]["revoke"].format(name=visible(name))

        def offer(_client_id: str) -> None:
            self._context.desk.say(told)
            asking = RemoveDialog(self._context, name, self._page)
            asking.agreed.connect(lambda: self._remove(name))
            asking.open()

        self._run("revoke", lambda: clients.revoke(name), offer)

    def _undo(self, name: str, since_ms: int) -> None:
        clients = self._context.bridge.engine.clients

        def tell(found: TakenBack) -> None:
            told = counted(words()["done"]["undo"], found.steps, name=visible(name)) + left_told(found.left)
            self._say(told if found.steps else words()["done"]["nothing"], found.step_id)

        self._run("undo", lambda: clients.undo_since(name, since_ms), tell)

    def _remove(self, name: str) -> None:
        clients, said = self._context.bridge.engine.clients, words()["done"]

        def tell(found: Removal) -> None:
            told = counted(said["remove"], found.steps, name=visible(name)) if found.steps else ""
            told += counted(said["archived"], found.archived) if found.archived else ""
            self._say((told + left_told(found.left)).strip() or said["nothing"], found.step_id)

        self._run("remove", lambda: clients.remove_all(name), tell)

    def _run(self, deed: str, begin: Callable[[], Future[T]], then: Callable[[T], None]) -> None:
        if self._is_busy:
            return  # a second press before the first is done would mean the same
        self._is_busy = True
        task = write(words()["doing"][deed], begin).within(self).success(then).failure(self._fail)
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
