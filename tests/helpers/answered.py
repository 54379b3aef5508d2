"""A future that has its result already: what a verb that is replaced in a test answers with."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def finished(value: T) -> Future[T]:
    """A future with that result."""
    made: Future[T] = Future()
    made.set_result(value)
    return made
