"""The form of a command-line verb, and small helpers all verbs share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.memory_json import Shape
from core.types.values import Actor

T = TypeVar("T")


class Progress:
    """How a long verb reports, and learns that it should stop. May be used on any thread."""

    def __init__(self, report: Callable[[str, int, int | None], None] | None = None) -> None:
        """Make a progress.

        Args:
            report: told what is done, in words without memory text, units done, and units in all (None while unknown).
        """
        self._report = report
        self._stopped = threading.Event()

    def tell(self, label: str, done: int, total: int | None) -> None:
        """Report how far the work is."""
        if self._report is not None:
            self._report(label, done, total)

    def cancel(self) -> None:
        """Ask the work to stop at its next safe point."""
        self._stopped.set()

    def cancelled(self) -> bool:
        """Whether the person wants it stopped."""
        return self._stopped.is_set()


Params = Mapping[str, Any]
Verb = Callable[[Engine, Params, Actor, Progress], Awaitable[dict[str, Any]]]


async def wait(future: Future[T]) -> T:
    """Await an engine future on this loop; giving up the wait cancels it if it has not begun."""
    return await asyncio.wrap_future(future)


def shape_for(engine: Engine, *, exact: bool) -> Shape:
    """How memories are shown to a caller.

    Args:
        engine: the engine, for the clients' names.
        exact: whether it sees numbers and details.

    Returns:
        The shape.
    """
    return Shape(exact=exact, name_of=engine.clients.authenticator().name_of)


def behind(items: list[dict[str, Any]], after: str | None) -> list[dict[str, Any]]:
    """The items behind a cursor; for lists that are made whole each time.

    Args:
        items: all of them, each with an `id`.
        after: the id of the last item already seen; None from the start.

    Returns:
        The rest.

    Raises:
        UserError: INVALID_INPUT when that item is no longer among them.
    """
    if after is None:
        return items
    for index, item in enumerate(items):
        if item["id"] == after:
            return items[index + 1 :]
    raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")
