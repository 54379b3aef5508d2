"""The crossing between threads, and work as values: order, errors by family, what is void, what is shown."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial

import pytest
from engine_rig import Rig
from PySide6.QtCore import QObject, QThread
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.errors import CancelledError, Code, EnvironmentFaultError, IntegrityError, UserError
from core.events import Changed
from ui.bridge import Running, Watch, make_job, make_query, make_write, problem_of
from ui.context import Context


def done(value: object = 1) -> Future[object]:
    """A future that has ended already."""
    future: Future[object] = Future()
    future.set_result(value)
    return future


def failed(error: BaseException) -> Future[object]:
    """A future that has failed already."""
    future: Future[object] = Future()
    future.set_exception(error)
    return future


def test_an_answer_comes_after_the_call_and_on_the_gui_thread(context: Context, qtbot: QtBot) -> None:
    seen: list[object] = []
    context.tasks.run(make_query("Trying", done).success(lambda value: seen.append((value, QThread.isMainThread()))))
    assert seen == []
    settle(qtbot, lambda: bool(seen))
    assert seen == [(1, True)]


def test_an_engine_thread_answers_on_the_gui_thread(context: Context, rig: Rig, qtbot: QtBot) -> None:
    here: list[bool] = []
    context.tasks.run(
        make_query("Looking", rig.engine.vault.read_status).success(
            lambda _: here.append(threading.current_thread() is threading.main_thread())
        )
    )
    settle(qtbot, lambda: bool(here))
    assert here == [True]


def test_events_of_the_engine_arrive_as_signals(context: Context, rig: Rig, qtbot: QtBot) -> None:
    changes: list[Changed] = []
    context.bridge.changed.connect(changes.append)
    reply = remember(rig.engine, "The gate key hangs behind the clock.")
    settle(qtbot, lambda: bool(changes))
    assert changes[0].verb == "store"
    assert changes[0].ids == (reply.memory_id,)


def test_what_raises_at_once_ends_like_what_fails_later(context: Context, qtbot: QtBot) -> None:
    heard = hear(context)

    def begin() -> Future[object]:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")

    context.tasks.run(make_query("Trying", begin))
    settle(qtbot, lambda: bool(heard.problems))
    assert (heard.problems[0].family, heard.problems[0].sentence) == ("user", "There is no such memory.")


@pytest.mark.parametrize(
    ("error", "family"),
    [
        (UserError(Code.INVALID_INPUT, "No."), "user"),
        (EnvironmentFaultError(Code.DISK_FULL, "The disk is full."), "environment"),
        (IntegrityError(Code.VAULT_DAMAGED, "Damaged."), "integrity"),
        (ValueError("secret text"), "bug"),
    ],
)
def test_errors_are_told_by_family(error: BaseException, family: str) -> None:
    problem = problem_of(error, lambda: None)
    assert problem is not None
    assert problem.family == family
    assert "secret" not in problem.sentence
    assert (problem.retry is not None) == (family == "environment")


@pytest.mark.parametrize("error", [CancelledError(), UserError(Code.VAULT_LOCKED, "Locked.")])
def test_a_stop_and_a_lock_are_silent(error: BaseException) -> None:
    assert problem_of(error) is None


def test_an_environment_fault_can_be_tried_again(context: Context, qtbot: QtBot) -> None:
    heard, tries = hear(context), [0]

    def begin() -> Future[object]:
        tries[0] += 1
        return failed(EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")) if tries[0] == 1 else done()

    won: list[object] = []
    context.tasks.run(make_write("Saving", begin).success(won.append))
    settle(qtbot, lambda: bool(heard.problems))
    retry = heard.problems[0].retry
    assert retry is not None
    retry()
    settle(qtbot, lambda: bool(won))
    assert tries == [2]


def test_a_later_task_of_the_same_key_makes_the_earlier_answer_void(context: Context, qtbot: QtBot) -> None:
    owner = QObject()
    seen: list[object] = []
    first: Future[object] = Future()
    first.set_running_or_notify_cancel()  # what the engine has begun goes on to its end
    context.tasks.run(make_query("One", lambda: first).within(owner, "list").success(seen.append))
    context.tasks.run(make_query("Two", lambda: done("two")).within(owner, "list").success(seen.append))
    settle(qtbot, lambda: bool(seen))
    first.set_result("one")
    settle(qtbot, lambda: not context.tasks.running)
    assert seen == ["two"]


def _pass_on(work: Future[str]) -> Future[str]:
    return work


def test_an_earlier_reading_of_the_same_key_is_not_begun_any_more_and_a_change_is(
    context: Context, qtbot: QtBot
) -> None:
    owner = QObject()
    readings: list[Future[str]] = [Future() for _ in range(3)]
    changes: list[Future[str]] = [Future() for _ in range(2)]
    seen: list[str] = []
    for reading in readings:
        context.tasks.run(make_query("Read", partial(_pass_on, reading)).within(owner, "read").success(seen.append))
    for change in changes:
        context.tasks.run(make_write("Write", partial(_pass_on, change)).within(owner, "write"))
    assert [reading.cancelled() for reading in readings] == [True, True, False]
    assert not any(change.cancelled() for change in changes)
    readings[2].set_result("newest")
    for change in changes:
        change.set_result("done")
    settle(qtbot, lambda: seen == ["newest"] and not context.tasks.running)


def test_an_answer_for_a_widget_that_is_gone_is_dropped(context: Context, qtbot: QtBot) -> None:
    owner = QObject()
    seen: list[object] = []
    slow: Future[object] = Future()
    context.tasks.run(make_query("Slow", lambda: slow).within(owner).success(seen.append))
    owner.deleteLater()
    settle(qtbot, lambda: True)
    qtbot.wait(1)
    del owner
    slow.set_result(1)
    settle(qtbot, lambda: not context.tasks.running)
    assert seen == []


def test_a_change_that_failed_is_told_even_where_its_page_is_gone(context: Context, qtbot: QtBot) -> None:
    heard, owner = hear(context), QObject()
    slow: Future[object] = Future()
    context.tasks.run(make_write("Saving", lambda: slow).within(owner))
    owner.deleteLater()
    qtbot.wait(1)
    slow.set_exception(UserError(Code.NOT_FOUND, "It is gone."))
    settle(qtbot, lambda: bool(heard.problems))
    assert heard.problems[0].sentence == "It is gone."


def test_only_what_takes_longer_is_shown_and_can_be_stopped(context: Context, qtbot: QtBot) -> None:
    shown: list[Running] = []
    context.tasks.shown.connect(shown.append)
    slow: Future[object] = Future()
    watches: list[Watch] = []

    def begin(watch: Watch) -> Future[object]:
        watches.append(watch)
        return slow

    context.tasks.run(make_query("Quick", done))
    context.tasks.run(make_job("Slow", begin))
    settle(qtbot, lambda: bool(shown))
    assert [running.label for running in shown] == ["Slow"]
    assert shown[0].can_cancel
    shown[0].cancel()
    assert watches[0].cancelled()
    slow.set_exception(CancelledError())
    settle(qtbot, lambda: not context.tasks.running)


def test_nothing_is_delivered_once_the_bridge_is_shut(context: Context, qtbot: QtBot) -> None:
    seen: list[object] = []
    context.bridge.run_call(done, lambda value, _error: seen.append(value))
    context.bridge.close_bridge()
    qtbot.wait(20)
    assert seen == []
