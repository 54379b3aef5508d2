"""Before and after images of rows, as undo keeps them.

Canonical JSON: keys sorted, no spaces, octets as ``{"b": base64}``. Must not do: read or
write rows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from core.errors import BugError

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
}
"""Columns that change without a verb (reads, decay, counting triggers, a better suggestion) or are recomputed (trust,
corroboration): no reason to call a row changed."""

LAPSED, EXPIRED, STANDS = "lapsed", "expired", "stands"
"""`conflicts.note` of an item that closed itself: nobody decided anything, so it counts as the open item it was."""

LATER: Mapping[str, Mapping[str, object]] = {
    "clients": {"woken_at": None, "asked_by": None},
    "conflicts": {"detail": "{}", "later_until": None, "note": None},
    "feedback": {"reason": None},
}
"""Columns of later versions with what older rows hold in them: such a row is what its image of then says."""

_OCTETS = "b"
_KINDS = (str, int, float, bytes, type(None))
_HELD = frozenset({*_KINDS, bool})


def image_to_json(row: Mapping[str, object]) -> str:
    """Write a row down.

    Args:
        row: column to value, values as the vault holds them.

    Returns:
        Canonical JSON; equal rows give equal text.

    Raises:
        BugError: a value the vault cannot hold.
    """
    if not _HELD.issuperset(map(type, row.values())) and not all(isinstance(v, _KINDS) for v in row.values()):
        raise BugError("row image")
    return _CANONICAL.encode(dict(row))


def image_from_json(text: str) -> dict[str, Any]:
    """Undo `image_to_json`.

    Args:
        text: what it gave.

    Returns:
        Column to value.
    """
    return {name: _in(value) for name, value in json.loads(text).items()}


def change_to_json(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """Write down what became of a row whose earlier image is kept: the columns that are others now, or new.

    Args:
        before: column to value, as it was.
        after: the same columns, or more, as it became.

    Returns:
        Canonical JSON; `after_from_json` makes the whole row of it. A third of a vault's bytes were such images whole.
    """
    held = {name: (type(value), value) for name, value in before.items()}  # 1 and 1.0 are two images
    return image_to_json({name: value for name, value in after.items() if held.get(name) != (type(value), value)})


def after_from_json(before: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Undo `change_to_json`; an image that was written whole, as it once was, gives the same row.

    Args:
        before: as it was given.
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


def steady(table: str, row: Mapping[str, object]) -> dict[str, object]:
    """A row without the columns that change by themselves.

    Args:
        table: whose row.
        row: column to value.

    Returns:
        What is left; hash this to ask whether a row is still as a step left it.
    """
    later = LATER.get(table, {})
    return {name: value for name, value in lasting(table, row).items() if name not in later or value != later[name]}


def lasting(table: str, row: Mapping[str, object]) -> dict[str, object]:
    """What an undo puts back of a row that is there.

    Args:
        table: whose row.
        row: column to value.

    Returns:
        All but the columns that change by themselves.
    """
    moving = VOLATILE.get(table, frozenset())
    if table == "conflicts" and row.get("note") in (LAPSED, EXPIRED, STANDS):
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
        table: whose row.
        key: its key.
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


def _octets(value: object) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise BugError("row image")
    return {_OCTETS: base64.b64encode(value).decode("ascii")}


def _in(value: object) -> object:
    if isinstance(value, dict):
        return base64.b64decode(value[_OCTETS])
    return value


# Made once: an import writes an image a row. Octets are the only values the encoder asks for.
_CANONICAL = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_octets
)
