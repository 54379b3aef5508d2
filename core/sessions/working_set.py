"""What a session has at hand: at most nine memories with their activation, ids and numbers only (E3.3, E17.5.5).

Pure but for reading and writing the rows of `working`. Must not do: keep a text, or decide who may see a memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from core.config.sessions import SessionOptions
from core.types.sessions import Resumed
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

SLOTS = 9
"""E3.3: seven and two; a tenth takes the place of the weakest."""
KEPT_ABOVE = 0.1
"""E17.5.5: after a while only what is more active than this comes back."""
MOST_DECAY = 0.8
_FADING = 0.8
"""Ours: what a slot keeps from one turn to the next in which it is not used."""
_DAY_MIN = 1440.0
_MIN_MS = 60_000
_HOUR_MS = 3_600_000
_DIGITS = 6
MOST_ROWS = 256
"""Sessions of one client that are kept; the longest left go first."""

Slots = Mapping[str, float]
"""Memory id to activation, 0 to 1, the most active first."""


@dataclass(frozen=True, slots=True)
class RestoredSlots:
    """A working set as it comes back.

    Attributes:
        slots: what is at hand.
        resumed: how it came back.
    """

    slots: Slots
    resumed: Resumed


def decay_of(age_ms: int) -> float:
    """How much of an activation is gone (X30: minutes/1440, at most 0.8).

    Args:
        age_ms: milliseconds since the session was left; below 0 counts as 0.

    Returns:
        0 to 0.8.
    """
    return min(max(0, age_ms) / _MIN_MS / _DAY_MIN, MOST_DECAY)


def resume_slots(slots: Slots, age_ms: int, options: SessionOptions) -> RestoredSlots:
    """A working set after a while (E17.5.5 with X30): whole under 4 h, fading until 24 h, then nothing.

    Args:
        slots: as it was left.
        age_ms: milliseconds since then.
        options: the two ages.

    Returns:
        What comes back.
    """
    if age_ms < options.session_whole_h * _HOUR_MS:
        return RestoredSlots(dict(slots), Resumed.WHOLE)
    if age_ms >= options.session_gone_h * _HOUR_MS:
        return RestoredSlots({}, Resumed.GONE)
    left = 1.0 - decay_of(age_ms)
    faded = {name: round(value * left, _DIGITS) for name, value in slots.items()}
    return RestoredSlots({name: value for name, value in faded.items() if value > KEPT_ABOVE}, Resumed.FADED)


def mark_used(slots: Slots, now: Mapping[str, float]) -> Slots:
    """A working set after another turn: what was used is active, the rest fades, the weakest leave.

    Args:
        slots: as it was.
        now: what the turn used, with its activation, 0 to 1.

    Returns:
        At most nine, the most active first.
    """
    fading = {name: value * _FADING for name, value in slots.items()}
    united = {name: max(fading.get(name, 0.0), now.get(name, 0.0)) for name in [*now, *fading]}
    strongest = sorted(united.items(), key=lambda one: (-one[1], one[0]))[:SLOTS]
    return {name: round(value, _DIGITS) for name, value in strongest if value > KEPT_ABOVE}


def to_snapshot(slots: Slots) -> str:
    """A working set as it is kept: JSON of ids and numbers.

    Args:
        slots: any.

    Returns:
        `{"slots": [[id, activation], ...]}`.
    """
    return json.dumps({"slots": [[name, value] for name, value in slots.items()]}, separators=(",", ":"))


def from_snapshot(text: str) -> Slots:
    """A working set as it was kept; what is no slot is passed over.

    Args:
        text: from `to_snapshot`.

    Returns:
        The slots.
    """
    read = json.loads(text)
    found = read.get("slots", []) if isinstance(read, dict) else []
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2]
    return {
        str(name): float(value)
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, (int, float)) and 0 <= value <= 1
    }


def load_working_set(rows: Rows, client_id: str | None, session: str) -> tuple[Slots, int] | None:
    """What was kept of a session.

    Args:
        client_id: whose; nothing is kept of the owner's.

    Returns:
        The slots and when it was left, epoch ms; None where nothing is kept.
    """
    row = rows.one("SELECT snapshot, saved_at FROM working WHERE client_id = ? AND session = ?", (client_id, session))
    return None if row is None else (from_snapshot(row[0]), int(row[1]))


def save_working_set(tx: Tx, client_id: str, session: str, slots: Slots, left_at: int) -> None:
    """Keep what a session has at hand; an empty one is forgotten, or an older one would come back (X31).

    Args:
        tx: any transaction; no undo step, since it is no memory.
        client_id: whose.
        slots: what it has at hand.
        left_at: when it was last used, epoch ms.
    """
    tx.run("DELETE FROM working WHERE client_id = ? AND session = ?", (client_id, session))
    if not slots:
        return
    tx.run(
        "INSERT INTO working (client_id, session, snapshot, saved_at) "
        "SELECT id, ?, ?, ? FROM clients WHERE id = ?",  # its pairing may have been undone since
        (session, to_snapshot(slots), left_at, client_id),
    )
    tx.run(
        "DELETE FROM working WHERE client_id = ?1 AND session NOT IN "
        "(SELECT session FROM working WHERE client_id = ?1 ORDER BY saved_at DESC, session LIMIT ?2)",
        (client_id, MOST_ROWS),
    )


def drop_stale(tx: Tx, before_ms: int) -> None:
    """Forget the sessions that would come back with nothing.

    Args:
        tx: any transaction.
        before_ms: left at or before this, epoch ms.
    """
    tx.run("DELETE FROM working WHERE saved_at <= ?", (before_ms,))
