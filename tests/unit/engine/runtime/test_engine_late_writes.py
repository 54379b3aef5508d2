"""What a client asked for before it was shut out or given other terms, and what still waited, writes nothing any more.

Over every method of clients that writes: the list comes from resources/protocol.json.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from client_writes import NAME, WRITES, Writer, writer
from engine_rig import Rig, WordEmbedder, differences, rig_at
from numpy.typing import NDArray

from core.errors import Code, LociError
from core.types.clients import Terms
from core.types.requests import StoreRequest

REFUSED = {Code.UNAUTHENTICATED, Code.ACCESS_DENIED, Code.BUSY}
EMBEDDED = ("capture", "compaction_ingest", "memory_store", "memory_store_fact", "memory_update", "turn_end")
STILL_ALLOWED = {("session_close", "regrant")}  # who may only read closes its sessions
BY_HAND = {"clients", "grants", "spaces", "denied"}  # what the owner's own verb changes
STOPS: dict[str, Callable[[Writer], Future[Any]]] = {
    "revoke": lambda one: one.rig.engine.clients.revoke(NAME),
    "pause": lambda one: one.rig.engine.clients.pause(NAME),
    "stop_all": lambda one: one.rig.engine.clients.stop_all(),
    "regrant": lambda one: one.rig.engine.clients.change_terms(NAME, Terms(("read", "space:home"), None, None, None)),
}


class HeldEmbedder(WordEmbedder):
    """Embeds nothing while the gate is shut."""

    def __init__(self) -> None:
        self.gate, self.entered = threading.Event(), threading.Event()
        self.gate.set()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Wait for the gate, then embed."""
        self.entered.set()
        assert self.gate.wait(30)
        return super().embed(texts)


@contextmanager
def shut_writer(rig: Rig) -> Iterator[Callable[[], None]]:
    """Nothing is written until the gate is opened."""
    gate = threading.Event()
    held = rig.opened.storage.queue.submit_verb(lambda _: gate.wait(30))
    try:
        yield gate.set
    finally:
        gate.set()
        held.result(30)


def test_every_write_of_a_client_is_here(rig: Rig) -> None:
    assert writer(rig).methods() == WRITES


async def _late(one: Writer, method: str, stop: Callable[[Writer], Future[Any]]) -> tuple[Future[Any], LociError]:
    """Ask while the writer is held and the client is being shut out before it."""
    with shut_writer(one.rig) as open_gate:
        stopped = stop(one)
        asked = asyncio.create_task(one.call(method, one.params(method), one.session()))
        await asyncio.sleep(0)  # it was looked at when it came, and found in order
        assert not asked.done()
        open_gate()
        with pytest.raises(LociError) as caught:
            await asked
    return stopped, caught.value


def _counted(one: Writer) -> tuple[Any, ...]:
    by = one.actor.client_id
    return (
        one.rig.value("SELECT count(*) FROM undo_steps WHERE client_id = ?", by),
        one.rig.value("SELECT count(*) FROM requests WHERE actor = ?", by),
        one.rig.value("SELECT count(*) FROM jobs"),
    )


def _unchanged(one: Writer, dump: dict[str, Any], counted: tuple[Any, ...]) -> None:
    assert set(differences(dump, one.rig.dump())) <= BY_HAND
    assert _counted(one) == counted


@pytest.mark.parametrize(
    ("method", "stop"),
    [(method, stop) for method in WRITES for stop in ("pause", "regrant") if (method, stop) not in STILL_ALLOWED],
)
def test_what_waits_for_the_writer_is_not_written_after_the_client_was_shut_out(
    rig: Rig, method: str, stop: str
) -> None:
    one = writer(rig)
    before, counted = rig.dump(), _counted(one)
    stopped, error = asyncio.run(_late(one, method, STOPS[stop]))
    stopped.result(30)
    assert error.code in REFUSED, error
    _unchanged(one, before, counted)


@pytest.mark.slow
@pytest.mark.parametrize("stop", sorted(STOPS))
@pytest.mark.parametrize("method", EMBEDDED)
def test_what_waits_for_the_embedder_is_not_written_after_the_client_was_shut_out(
    tmp_path: Path, method: str, stop: str
) -> None:
    embedder = HeldEmbedder()
    with rig_at(tmp_path, embedder=embedder) as rig:
        one = writer(rig)
        before, counted = rig.dump(), _counted(one)

        async def late() -> LociError:
            embedder.gate.clear()
            embedder.entered.clear()
            asked = asyncio.create_task(one.call(method, one.params(method), one.session()))
            assert await asyncio.to_thread(embedder.entered.wait, 30)
            await asyncio.wrap_future(STOPS[stop](one))
            embedder.gate.set()
            with pytest.raises(LociError) as caught:
                await asked
            return caught.value

        assert asyncio.run(late()).code in REFUSED
        _unchanged(one, before, counted)


def test_after_the_kill_switch_and_taking_all_back_nothing_of_a_slow_client_is_left(tmp_path: Path) -> None:
    embedder = HeldEmbedder()
    with rig_at(tmp_path, embedder=embedder) as rig:
        one = writer(rig)
        embedder.gate.clear()
        embedder.entered.clear()
        waiting = rig.engine.memories.store(StoreRequest("A late word."), one.actor)
        assert embedder.entered.wait(30)
        rig.engine.clients.stop_all().result(30)
        rig.engine.clients.revoke(NAME).result(30)
        rig.engine.clients.remove_all(NAME).result(30)
        embedder.gate.set()
        assert isinstance(waiting.exception(30), LociError)
        stands = "SELECT count(*) FROM memories WHERE status = 'active' AND client_id = ?"
        assert rig.value(stands, one.actor.client_id) == 0
