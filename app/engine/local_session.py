"""One conversation with an engine in this process, which opens the vault for one command."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from app.context import AppContext
from app.engine.compose import build_engine
from app.engine.session import Report, Tell
from core.engine.facade import Engine, OpenInfo, RootKey
from core.ipc.methods.definition.entry import CallProgress
from core.ipc.methods.table import find_entry
from core.ipc.protocol.contract import load_registry


class LocalSession:
    """An engine in this process, opened for one command."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._registry = load_registry()
        self._loop = engine.loop

    def call(self, verb: str, params: Mapping[str, Any], progress: Report | None = None) -> dict[str, Any]:
        """Carry out one verb in process; see `VerbSession.call`."""
        watch = CallProgress(progress)
        entry = find_entry(self._registry.find_method(f"owner.{verb}").name)
        work = entry.answer_owner(self.engine, self._registry, params, watch)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            # Ctrl+C: the work stops at its next safe point and takes back what it began.
            watch.cancel()
            return future.result()

    def older_copy(self) -> dict[str, Any] | None:
        """What opening found, unless it was accepted since."""
        if self.engine.older is None:
            return None
        from core.ipc.methods.administration import older_of  # a copy that is not older is the rule

        return older_of(self.engine)

    def close(self) -> None:
        """Lock the vault and end the engine."""
        self.engine.close()


def open_local_session(app_context: AppContext, root: RootKey, tell: Tell) -> LocalSession:
    """An engine in this process; an import that a crash interrupted is finished first.

    Args:
        root: an opened root; the engine wipes it.
        tell: says what opening found.
    """
    engine = build_engine(app_context, tell, is_for_one_command=True)
    try:
        report_opening(engine.unlock(root), tell)
        if engine.finishing is not None and engine.is_made("imports") and engine.imports.count_interrupted():
            tell("An import was interrupted; finishing it first.")
            engine.finishing.result()
    except BaseException:
        engine.close()
        raise
    return LocalSession(engine)


def report_opening(info: OpenInfo, tell: Tell) -> None:
    """Say what opening found: a lost tail, a damaged log. `CommandContext` tells of an older copy with each reply.

    Args:
        tell: says it to the person.
    """
    if info.lost_commits:
        tell(f"Warning: about {info.lost_commits} recent changes could not be read after damage to the vault's log.")
    elif info.is_log_damaged:
        tell("Warning: the vault's log was damaged; nothing seems to be lost. Run `loci verify`.")
    if info.head_state != "ok" and info.older_than_head is None:
        tell(
            f"Warning: the record of the last change seen here (vault.head) was {info.head_state}; it is written again."
        )
