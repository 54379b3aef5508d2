"""Futures without a thread that waits: every road of an error ends in the reply.

Must not do: swallow an error, let a pool's own words (a shut-down pool, a cancelled task) reach a caller: while the
vault closes, both mean that it is locked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from core.errors import Code, LociError, UserError

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")


def locked_error() -> UserError:
    """The error of every verb while no vault is open."""
    return UserError(Code.VAULT_LOCKED, "The vault is locked; `loci unlock` or the window opens it.")


def begin(pool: Executor, work: Callable[P, A], *args: P.args, **kwargs: P.kwargs) -> Future[A]:
    """Hand work to a pool.

    Args:
        pool: where it runs.

    Returns:
        Its result.

    Raises:
        UserError: VAULT_LOCKED; the pool has ended with its vault.
    """
    try:
        return pool.submit(work, *args, **kwargs)
    except RuntimeError:
        raise locked_error() from None


def chain(first: Future[A], then: Callable[[A], Future[B]]) -> Future[B]:
    """Begin a second work with the result of a first.

    Args:
        then: begins the second; called on the thread that ended the first.

    Returns:
        The second's result, or the first error of either. Cancelling it stops neither once it runs.
    """
    reply: Future[B] = Future()

    def finished(done: Future[A]) -> None:
        if not reply.set_running_or_notify_cancel():
            return
        try:
            second = then(_result(done))
        except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
            reply.set_exception(error)
        else:
            second.add_done_callback(lambda done: _settle(done, reply, _same, _same))

    _follow(reply, first)
    first.add_done_callback(finished)
    return reply


def map_result(
    first: Future[A], then: Callable[[A], B], said: Callable[[BaseException], BaseException] | None = None
) -> Future[B]:
    """Turn the result of a work into another value.

    Args:
        then: quick; called on the thread that ended the first.
        said: turns its error into another; None leaves it.

    Returns:
        What `then` makes of it, or the error of either.
    """
    reply: Future[B] = Future()

    def finished(done: Future[A]) -> None:
        if reply.set_running_or_notify_cancel():
            _settle(done, reply, then, said or _same)

    _follow(reply, first)
    first.add_done_callback(finished)
    return reply


def recover(first: Future[A], kind: type[E], then: Callable[[E], A]) -> Future[A]:
    """Turn one kind of error of a work into its result.

    Args:
        kind: the error that carries a result.
        then: quick; takes it out.

    Returns:
        The result, or any other error.
    """
    reply: Future[A] = Future()

    def finished(done: Future[A]) -> None:
        if not reply.set_running_or_notify_cancel():
            return
        try:
            value = _result(done)
        except kind as error:
            reply.set_result(then(error))
        except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
            reply.set_exception(error)
        else:
            reply.set_result(value)

    _follow(reply, first)
    first.add_done_callback(finished)
    return reply


def log_failure(work: Future[A], log: logging.Logger, name: str) -> None:
    """Log the failure of work that nobody waits for; a lock on the way is no fault.

    Args:
        work: running work.
        log: where to.
        name: what it is, in words; no memory text.
    """

    def finished(done: Future[A]) -> None:
        try:
            _result(done)
        except LociError as error:
            if error.code is not Code.VAULT_LOCKED:
                log.warning("%s stopped: %s", name, error.code.value)
        except BaseException as error:  # noqa: BLE001 - it ends here: nobody else would ever hear of it
            log.error("%s stopped: %s", name, type(error).__name__)

    work.add_done_callback(finished)


def _follow(reply: Future[B], first: Future[A]) -> None:
    """A reply that is cancelled before its work began takes the work with it."""
    reply.add_done_callback(lambda done: first.cancel() if done.cancelled() else None)


def _result(done: Future[A]) -> A:
    try:
        return done.result()
    except Dropped:
        raise locked_error() from None


def _settle(
    done: Future[A], reply: Future[B], then: Callable[[A], B], said: Callable[[BaseException], BaseException]
) -> None:
    try:
        value = then(_result(done))
    except BaseException as error:  # noqa: BLE001 - the caller of the future gets whatever went wrong
        reply.set_exception(said(error))
    else:
        reply.set_result(value)


def _same(value: A) -> A:
    return value
