"""A property that is worked out once for all threads: what is made late is made when two ask for it at the same time.

Must not do: hold one lock for several properties; making one may ask for another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, overload

T = TypeVar("T")


class shared_property(cached_property[T]):  # noqa: N801 - it is used as `property` is
    """As `functools.cached_property`, which guards nothing from Python 3.12 on: two threads would make two values."""

    def __init__(self, func: Callable[[Any], T]) -> None:
        super().__init__(func)
        self._making = threading.RLock()

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> shared_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> shared_property[T] | T:
        """The value; the first of several threads makes it and the others wait."""
        if instance is None:
            return self
        with self._making:
            made = vars(instance).get(self.attrname or "", self)
            return super().__get__(instance, owner) if made is self else made
