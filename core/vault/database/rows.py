"""Rows as they are read, what may be bound to a statement, and the images of rows that undo keeps.

Results are always fetched whole: an open cursor would pin the WAL. Images are canonical JSON: keys sorted, no spaces,
octets as ``{"b": base64}``. Must not do: write, begin or end a transaction, let an exception of the database out.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlcipher3 import dbapi2

from core.errors import BugError, CancelledError, LociError
from core.vault.database.faults import RAISED, translate_error

HASH_BYTES = 16

VOLATILE: Mapping[str, frozenset[str]] = {
    "memories": frozenset(
        {"strength", "access_count", "last_accessed_at", "trust", "confidence", "corroboration", "read_at"},
    ),
    "claims": frozenset({"evidence_count", "confidence"}),
    "clients": frozenset({"last_seen_at"}),
    "conflicts": frozenset({"later_until", "suggestion", "confidence", "detail"}),
    "feedback": frozenset({"receipt_id"}),
    "procedures": frozenset({"steps", "trigger_cues"}),
    "probes": frozenset({"passed", "place", "ran_at", "regressed_at"}),
    "rooms": frozenset({"tint", "outline", "floor"}),
}
"""Columns that change without a verb (reads, decay, counting triggers, a better suggestion) or are recomputed (trust,
corroboration): no reason to call a row changed."""

LAPSED, EXPIRED, STANDS, NO_QUESTION = "lapsed", "expired", "stands", "no_question"
"""`conflicts.note` of an item that closed itself: nobody decided anything, so it counts as the open item it was."""
MAY_BELONG = "may_belong"
"""`conflicts.note` of a pair that may belong together: a note on the newcomer, never a question."""

LATER: Mapping[str, Mapping[str, object]] = {
    "clients": {"woken_at": None, "asked_by": None},
    "conflicts": {"detail": "{}", "later_until": None, "note": None},
    "feedback": {"reason": None},
    "rooms": {"emblem": None},
}
"""Columns of later versions with what older rows hold in them: such a row is what its image of then says."""

_OCTETS = "b"
_KINDS = (str, int, float, bytes, type(None))
_STORABLE_TYPES = frozenset({*_KINDS, bool})


def image_to_json(row: Mapping[str, object]) -> str:
    """Write a database row as the JSON image from which undo restores it.

    Args:
        row: column to value, values as the vault holds them.

    Returns:
        Canonical JSON; equal rows give equal text.

    Raises:
        BugError: a value the vault cannot hold.
    """
    if not _STORABLE_TYPES.issuperset(map(type, row.values())) and not all(isinstance(v, _KINDS) for v in row.values()):
        raise BugError("row image")
    return _CANONICAL.encode(dict(row))


def image_from_json(text: str) -> dict[str, Any]:
    """Read a database row back from the JSON image that undo keeps of it.

    Args:
        text: what it gave.

    Returns:
        Column to value.
    """
    return {name: _value_from_json(value) for name, value in json.loads(text).items()}


def change_to_json(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """Write down what became of a row whose earlier image is kept: the columns that are others now, or new.

    Args:
        before: column to value, as it was.
        after: the same columns, or more, as it became.

    Returns:
        Canonical JSON; `after_from_json` makes the whole row of it. A third of a vault's bytes were such images whole.
    """
    typed_before = {name: (type(value), value) for name, value in before.items()}  # 1 and 1.0 are two images
    return image_to_json(
        {name: value for name, value in after.items() if typed_before.get(name) != (type(value), value)}
    )


def after_from_json(before: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Undo `change_to_json`; an image that was written whole, as it once was, gives the same row.

    Args:
        text: what it gave.

    Returns:
        Column to value of the whole row.
    """
    return {**before, **image_from_json(text)}


def image_hash(row: Mapping[str, object]) -> bytes:
    """A short name of a row's whole content.

    Args:
        row: column to value.

    Returns:
        16 bytes, BLAKE2b over the canonical JSON.
    """
    return blake2b(image_to_json(row).encode("utf-8"), digest_size=HASH_BYTES).digest()


def without_volatile_columns(table: str, row: Mapping[str, object]) -> dict[str, object]:
    """A row without the columns that change by themselves.

    Args:
        row: column to value.

    Returns:
        What is left; hash this to ask whether a row is still as a step left it.
    """
    later = LATER.get(table, {})
    return {
        name: value
        for name, value in restorable_columns(table, row).items()
        if name not in later or value != later[name]
    }


def restorable_columns(table: str, row: Mapping[str, object]) -> dict[str, object]:
    """What an undo puts back of a row that is there.

    Args:
        row: column to value.

    Returns:
        All but the columns that change by themselves.
    """
    moving = VOLATILE.get(table, frozenset())
    if table == "conflicts" and row.get("note") in (LAPSED, EXPIRED, STANDS, NO_QUESTION):
        row = {**row, "state": "open", "note": None, "closed_at": None}
    return {name: value for name, value in row.items() if name not in moving}


def both_states(
    table: str,
    key: Mapping[str, object],
    before: Mapping[str, object] | None,
    current: Mapping[str, object] | None,
) -> dict[str, Any]:
    """A row that an undo left, as it is listed.

    Args:
        before: as it was before the step; None where there was none.
        current: as it is; None where there is none.

    Returns:
        `table`, `key`, `then`, `now`.
    """
    return {
        "table": table,
        "key": dict(key),
        "then": None if before is None else dict(before),
        "now": None if current is None else dict(current),
    }


def _octets_to_json(value: object) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise BugError("row image")
    return {_OCTETS: base64.b64encode(value).decode("ascii")}


def _value_from_json(value: object) -> object:
    if isinstance(value, dict):
        return base64.b64decode(value[_OCTETS])
    return value


# Made once: an import writes an image a row. Octets are the only values the encoder asks for.
_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_octets_to_json
)


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


def to_bindable(value: object) -> object:
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
        return to_bindable(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise BugError("vault value")


def bind_params(params: Params) -> tuple[object, ...] | dict[str, object]:
    """Make all values of a statement safe to bind.

    Args:
        params: as given by a caller.

    Returns:
        The same with plain values.

    Raises:
        BugError: a value of another kind.
    """
    if type(params) is tuple:  # nearly always; an abstract class is asked for long
        return tuple([value if type(value) in _PLAIN else to_bindable(value) for value in params])
    if isinstance(params, Mapping):
        return {name: to_bindable(value) for name, value in params.items()}
    if isinstance(params, (str, bytes)):
        raise BugError("vault values")
    return tuple(to_bindable(value) for value in params)


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

        Returns:
            Every row.

        Raises:
            LociError: what `core.vault.database.faults` makes of it.
        """
        values = bind_params(params)
        try:
            return self._connection.execute(sql, values).fetchall()
        except RAISED as error:
            fault = self._translate_fault(error)
        raise fault

    def one(self, sql: str, params: Params = ()) -> tuple[Any, ...] | None:
        """Run a query for its first row.

        Args:
            sql: one statement.

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
            default: what stands for no row.

        Returns:
            The first column of the first row.

        Raises:
            LociError: what `core.vault.database.faults` makes of it.
        """
        row = self.one(sql, params)
        return default if row is None else row[0]

    def _translate_fault(self, error: BaseException) -> LociError:
        return translate_error(error, self._stopped())


def to_json(value: object) -> str:
    """Compact JSON for a database column whose content is checked."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def fetch_rows(
    connection: dbapi2.Connection,
    sql: str,
    params: tuple[object, ...] = (),
    stopped: Callable[[], LociError] | None = None,
) -> list[tuple[Any, ...]]:
    """Run one statement outside any transaction of a verb.

    Args:
        stopped: tells why it was interrupted.

    Raises:
        LociError: what `core.vault.database.faults` makes of it.
    """
    try:
        return connection.execute(sql, params).fetchall()
    except RAISED as error:
        fault = translate_error(error, None if stopped is None else stopped())
    raise fault


def parse_labels(joined: str | None) -> NDArray[np.int64]:
    """Labels from the text that `group_concat` makes.

    Args:
        joined: whole numbers with commas between; None for none.

    Returns:
        The labels in their order.
    """
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, np.int64)
