"""The read side of a connection, and what may be bound to a statement.

Results are always fetched whole: an open cursor would pin the WAL. Must not do: write,
begin or end a transaction, let an exception of the database out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from numbers import Integral, Real
from typing import Any, Protocol

from sqlcipher3 import dbapi2

from core.errors import BugError, CancelledError, LociError
from core.vault.database.faults import RAISED, translate

Params = Sequence[object] | Mapping[str, object]
"""Values for `?` or for `:name`."""

_PLAIN = frozenset({str, int, bytes, type(None)})


class Rows(Protocol):
    """One snapshot of the vault to read from."""

    def all(self, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        ...

    def one(self, sql: str, params: Params = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        ...

    def value(self, sql: str, params: Params = (), default: Any = None) -> Any:
        """The first column of the first row, or the default where there is no row."""
        ...


def plain(value: object) -> object:
    """Make a value safe to bind.

    numpy numbers are turned into Python's: the driver would store them as BLOBs without a word.

    Args:
        value: text, a whole number, a finite number, octets, None, a truth value or an enumeration member.

    Returns:
        A `str`, `int`, `float`, `bytes` or None.

    Raises:
        BugError: anything else, NaN and infinity among it.
    """
    if type(value) in _PLAIN or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise BugError("vault value")


def bind(params: Params) -> tuple[object, ...] | dict[str, object]:
    """Make all values of a statement safe to bind.

    Args:
        params: as given by a caller.

    Returns:
        The same with plain values.

    Raises:
        BugError: a value of another kind.
    """
    if isinstance(params, Mapping):
        return {name: plain(value) for name, value in params.items()}
    if isinstance(params, (str, bytes)):
        raise BugError("vault values")
    return tuple(plain(value) for value in params)


class SqlRows:
    """`Rows` over one connection."""

    def __init__(self, connection: dbapi2.Connection, stopped: Callable[[], LociError] = CancelledError) -> None:
        """Wrap a connection that the caller owns for as long.

        Args:
            connection: where to read.
            stopped: tells why a statement was interrupted.
        """
        self._connection = connection
        self._stopped = stopped

    def all(self, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
        """Run a query.

        Args:
            sql: one statement; never made from anyone's data.
            params: its values.

        Returns:
            Every row.

        Raises:
            LociError: what `core.vault.database.faults` makes of it.
        """
        values = bind(params)
        try:
            return self._connection.execute(sql, values).fetchall()
        except RAISED as error:
            fault = self._fault(error)
        raise fault

    def one(self, sql: str, params: Params = ()) -> tuple[Any, ...] | None:
        """Run a query for its first row.

        Args:
            sql: one statement.
            params: its values.

        Returns:
            The first row, or None.

        Raises:
            LociError: what `core.vault.database.faults` makes of it.
        """
        found = self.all(sql, params)
        return found[0] if found else None

    def value(self, sql: str, params: Params = (), default: Any = None) -> Any:
        """Run a query for one value.

        Args:
            sql: one statement.
            params: its values.
            default: what stands for no row.

        Returns:
            The first column of the first row.

        Raises:
            LociError: what `core.vault.database.faults` makes of it.
        """
        row = self.one(sql, params)
        return default if row is None else row[0]

    def _fault(self, error: BaseException) -> LociError:
        return translate(error, self._stopped())
