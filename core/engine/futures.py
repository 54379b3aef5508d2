"""Chaining futures without a thread that waits: every road of an error ends in the reply."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def chain(first: Future[A], then: Callable[[A], Future[B]]) -> Future[B]:
    """Begin a second work with the result of a first.

    Args:
        first: running work.
        then: begins the second; called on the thread that ended the first.

    Returns:
        The second's result, or the first error of either. Cancelling it does not stop what has begun.
    """
    reply: Future[B] = Future()

    def begun(finished: Future[A]) -> None:
        if not reply.set_running_or_notify_cancel():
            return
        try:
            then(finished.result()).add_done_callback(lambda second: _settle(second, reply))
        except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
            reply.set_exception(error)

    first.add_done_callback(begun)
    return reply


def mapped(first: Future[A], then: Callable[[A], B]) -> Future[B]:
    """Turn the result of a work into another value.

    Args:
        first: running work.
        then: quick; called on the thread that ended the first.

    Returns:
        What `then` makes of it, or the error of either.
    """
    reply: Future[B] = Future()

    def finished(done: Future[A]) -> None:
        if not reply.set_running_or_notify_cancel():
            return
        try:
            reply.set_result(then(done.result()))
        except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
            reply.set_exception(error)

    first.add_done_callback(finished)
    return reply


def _settle(done: Future[B], reply: Future[B]) -> None:
    try:
        reply.set_result(done.result())
    except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
        reply.set_exception(error)
