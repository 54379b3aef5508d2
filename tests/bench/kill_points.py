"""Points at which a process can be killed: each statement of a transaction, each commit, each file that is moved.

A child process counts them while it works, and dies by its own hand at the one that was chosen, with SIGKILL: as a
`kill -9` in that very moment. Nothing is flushed, closed or cleaned up. Must not do: choose, or look at what is left.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from core.vault.database import rows
from core.vault.database.tx import Tx

_JOURNALS = ("undo_rows", "undo_steps", "receipts", "contexts", "requests", "audit", "consolidation_log")
_FILES = ("rename", "replace", "unlink", "rmdir", "fsync", "ftruncate")


class KillPoints:
    """Counts the points of one run, by the step they are in.

    Attributes:
        passed: the step of each point so far.
        step: the one that the work has told of last; "" where it tells of none, then the rows that change name it.
    """

    def __init__(self, last: int | None = None) -> None:
        """Begin to count.

        Args:
            last: the process dies at this point, counted from 0; None to live.
        """
        self.passed: list[str] = []
        self.step = ""
        self._last = last

    def install(self) -> None:
        """Count from now on."""
        for name in ("_execute_sql", "_execute_many"):
            setattr(Tx, name, self._counted_statement(getattr(Tx, name)))
        real = rows.fetch_rows
        counted = self._counted_fetch(real)
        for module in list(sys.modules.values()):
            if getattr(module, "fetch_rows", None) is real:
                module.fetch_rows = counted  # type: ignore[attr-defined]  # looked up by name just now
        for name in _FILES:
            setattr(os, name, self._counted_file(getattr(os, name)))

    def report(self, step: str, _done: int, _total: int | None) -> None:
        """Take the step that the work tells of; telling of it is a point too."""
        self.step = str(step)
        self.reach("")

    def reach(self, what: str) -> None:
        """One point.

        Args:
            what: names the step where the work tells of none.
        """
        if self._last == len(self.passed):
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed.append(self.step or what)

    def _counted_statement(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def execute(tx: Tx, sql: str, values: Any) -> Any:
            if not sql.lstrip().startswith("SELECT"):
                self.reach(_name_rows(sql))
            return real(tx, sql, values)

        return execute

    def _counted_fetch(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def fetch(connection: Any, sql: str, *more: Any, **named: Any) -> Any:
            is_commit = sql == "COMMIT"
            if is_commit:
                self.reach("commit")
            found = real(connection, sql, *more, **named)
            if is_commit:
                self.reach("behind the commit")
            return found

        return fetch

    def _counted_file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def act(*given: Any, **named: Any) -> Any:
            self.reach("files")
            return real(*given, **named)

        return act


def _name_rows(sql: str) -> str:
    if "sealed_memories" in sql:
        return "sealed rows"
    if "sync_" in sql:
        return "sync rows"
    return "journals" if any(name in sql for name in _JOURNALS) else "rows"


def run_child(work: Callable[[], object]) -> tuple[int, Any]:
    """Do something in a process of its own.

    Returns:
        Its exit status, negative for the signal that ended it, and what `work` returned, by way of JSON.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 3
        try:
            os.write(writing, json.dumps(work()).encode())
            status = 0
        except BaseException:  # noqa: BLE001 - told by the exit status
            traceback.print_exc()
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(said) if said else None
