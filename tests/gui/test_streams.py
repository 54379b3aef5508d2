"""Streams in the window's loop: pieces come in order, a stop hangs up, nothing of asyncio is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator

import pytest
from pytestqt.qtbot import QtBot
from window_rig import settle

from ui.context import Context
from ui.streams import StreamRunner


@pytest.fixture
def runner(qtbot: QtBot, context: Context) -> Iterator[StreamRunner]:
    made = StreamRunner(context.bridge.engine.run_aside)
    yield made
    made.close()
    assert qtbot is not None
    made.deleteLater()


def has_no_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


async def words(*said: str, gap_s: float = 0.0) -> AsyncGenerator[str, None]:
    for word in said:
        await asyncio.sleep(gap_s)
        yield word


async def endless(closed: list[str]) -> AsyncGenerator[str, None]:
    try:
        while True:
            await asyncio.sleep(0.005)
            yield "on "
    finally:
        await asyncio.sleep(0)
        closed.append("closed")


def test_pieces_come_in_order_and_the_loop_goes_with_the_runner(qtbot: QtBot, runner: StreamRunner) -> None:
    got: list[str] = []
    ends: list[BaseException | None] = []
    stream = runner.open_stream(lambda: words("a", "b", "c", gap_s=0.001))
    stream.arrived.connect(got.append)
    stream.ended.connect(ends.append)
    assert got == []
    settle(qtbot, lambda: bool(ends))
    assert got == ["a", "b", "c"]
    assert ends == [None]
    assert not runner.is_running
    runner.close()
    assert has_no_loop()


def test_two_streams_share_a_loop(qtbot: QtBot, runner: StreamRunner) -> None:
    got: dict[str, list[str]] = {"one": [], "two": []}
    ends: list[object] = []
    for name, said in (("one", "abc"), ("two", "xyz")):
        stream = runner.open_stream(lambda said=said: words(*said, gap_s=0.002))  # type: ignore[misc]  # its default is a text
        stream.arrived.connect(got[name].append)
        stream.ended.connect(ends.append)
    settle(qtbot, lambda: len(ends) == 2)
    assert got == {"one": ["a", "b", "c"], "two": ["x", "y", "z"]}


def test_a_stop_hangs_up_and_closes_the_generator(qtbot: QtBot, runner: StreamRunner) -> None:
    closed: list[str] = []
    ends: list[BaseException | None] = []
    got: list[str] = []
    stream = runner.open_stream(lambda: endless(closed))
    stream.arrived.connect(got.append)
    stream.ended.connect(ends.append)
    settle(qtbot, lambda: len(got) > 2)
    stream.stop()
    settle(qtbot, lambda: bool(ends))
    assert isinstance(ends[0], asyncio.CancelledError)
    assert closed == ["closed"]


def test_an_error_is_told_with_what_came_before(qtbot: QtBot, runner: StreamRunner) -> None:
    async def failing() -> AsyncGenerator[str, None]:
        yield "half"
        raise ValueError("a word of a memory")

    got: list[str] = []
    ends: list[BaseException | None] = []
    stream = runner.open_stream(failing)
    stream.arrived.connect(got.append)
    stream.ended.connect(ends.append)
    settle(qtbot, lambda: bool(ends))
    assert got == ["half"]
    assert isinstance(ends[0], ValueError)


def test_who_is_told_may_run_a_loop_of_his_own(qtbot: QtBot, runner: StreamRunner) -> None:
    """As a dialog does: inside a step of a task, no other task would ever run again."""
    got: list[str] = []
    ends: list[BaseException | None] = []
    stream = runner.open_stream(lambda: words("a", "b", gap_s=0.001))

    def wait_inside(piece: str) -> None:
        qtbot.wait(15)
        got.append(piece)

    stream.arrived.connect(wait_inside)
    stream.ended.connect(ends.append)
    settle(qtbot, lambda: bool(ends) and len(got) == 2)
    assert ends == [None]


def test_what_blocks_runs_on_a_thread_of_the_engine(qtbot: QtBot, runner: StreamRunner) -> None:
    import threading

    async def looking() -> AsyncGenerator[str, None]:
        yield await asyncio.get_running_loop().run_in_executor(None, lambda: threading.current_thread().name)

    got: list[str] = []
    ends: list[BaseException | None] = []
    stream = runner.open_stream(looking)
    stream.arrived.connect(got.append)
    stream.ended.connect(ends.append)
    settle(qtbot, lambda: bool(ends))
    assert got
    assert got[0].startswith("loci-")


def test_closing_waits_until_the_generator_is_closed(qtbot: QtBot, context: Context) -> None:
    closed: list[str] = []
    runner = StreamRunner(context.bridge.engine.run_aside)
    got: list[str] = []
    runner.open_stream(lambda: endless(closed)).arrived.connect(got.append)
    settle(qtbot, lambda: bool(got))
    runner.close()
    assert closed == ["closed"]
    assert has_no_loop()
    runner.deleteLater()


def test_a_lock_hangs_up(qtbot: QtBot, context: Context) -> None:
    closed: list[str] = []
    got: list[str] = []
    stream = context.bridge.open_stream(lambda: endless(closed))
    stream.arrived.connect(got.append)
    settle(qtbot, lambda: bool(got))
    context.bridge.engine.lock()
    settle(qtbot, lambda: closed == ["closed"])


def test_a_generator_that_was_dropped_half_read_is_closed_on_the_loop(qtbot: QtBot, runner: StreamRunner) -> None:
    """As the client library drops those it reads through; without a hook Python tells of it and closes nothing."""
    closed: list[str] = []

    async def first_of_endless() -> AsyncGenerator[str, None]:
        async for piece in endless(closed):
            yield piece
            return

    ends: list[BaseException | None] = []
    stream = runner.open_stream(first_of_endless)
    stream.ended.connect(ends.append)
    settle(qtbot, lambda: bool(ends))
    settle(qtbot, lambda: closed == ["closed"])
