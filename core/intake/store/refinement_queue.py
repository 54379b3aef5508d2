"""What a local model is asked next: open pairs and texts it has not read, newest first, each once.

How far it came is a note in `settings`, two bounds for each of the two lists: what is newer than the upper one comes
next, then what is older than the lower one. So an undone answer is not asked for again. Must not do: offer a text that
may not leave the vault, that is too long, part of a longer one, or under suspicion of carrying instructions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.intake.claims.candidate import load_claims
from core.types.belief import ACTED_ON, ClaimDraft, Label, Told
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

NOTE = "refined"
"""A key of `settings`: how far a local model came."""

_FIT = (
    "m.security_tier = 'cleartext' AND m.part_of IS NULL AND length(m.text) <= :most "
    "AND NOT EXISTS (SELECT 1 FROM memories p WHERE p.part_of = m.id) "
    "AND NOT EXISTS (SELECT 1 FROM conflicts x WHERE x.incoming_id = m.id AND x.kind = 'injection' "
    "AND x.state = 'open')"
)
_PAIR = (
    "SELECT c.id, c.incoming_id, i.text, i.occurred_at, c.existing_id, e.text, "  # noqa: S608 - constants
    "e.occurred_at, c.detail, i.security_tier, e.security_tier FROM conflicts c "
    "JOIN memories i ON i.id = c.incoming_id JOIN memories e ON e.id = c.existing_id "
    "WHERE c.state = 'open' AND c.kind = 'classification' AND coalesce(c.confidence, 0) < :sure "
    "AND i.status IN ('active', 'quarantined') AND e.status = 'active' "
    "AND EXISTS (SELECT 1 FROM memories m WHERE m.id = i.id AND " + _FIT + ") "
    "AND EXISTS (SELECT 1 FROM memories m WHERE m.id = e.id AND " + _FIT + ") "
)
_TEXT = (
    "SELECT m.n, m.id, m.text, m.occurred_at, m.security_tier FROM memories m "  # noqa: S608 - constants
    "WHERE m.kind = 'fact' AND m.status = 'active' AND " + _FIT + " "
)
# Newer than the upper bound, oldest first; then older than the lower bound, newest first.
_PAIRS = (_PAIR + "AND c.id > :high ORDER BY c.id LIMIT 1", _PAIR + "AND c.id < :low ORDER BY c.id DESC LIMIT 1")
_TEXTS = (_TEXT + "AND m.n > :high ORDER BY m.n LIMIT 1", _TEXT + "AND m.n < :low ORDER BY m.n DESC LIMIT 1")
_LAST_ID, _LAST_N = "~", 2**62


@dataclass(frozen=True, slots=True)
class OpenPair:
    """An open item on two memories that nobody was sure of.

    Attributes:
        before: probabilities of the labels as they were believed when it was opened; may be empty.
        tiers: security tiers of both memories.
    """

    item_id: str
    incoming_id: str
    incoming: Told
    existing_id: str
    existing: Told
    before: Mapping[Label, float]
    tiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadMemory:
    """A memory that a model has not read.

    Attributes:
        n: its label.
        known: what rules read in it, or was given with it.
        tiers: its security tier.
    """

    n: int
    memory_id: str
    told: Told
    known: tuple[ClaimDraft, ...]
    tiers: tuple[str, ...]


def next_pair(rows: Rows, most: int) -> OpenPair | None:
    """The next item a model is asked about.

    Args:
        most: code points of a text, at most.

    Returns:
        The item; None where there is none.
    """
    low, high = _bounds(rows).get("items", (_LAST_ID, _LAST_ID))
    values = {"low": low, "high": high, "most": most, "sure": ACTED_ON}
    row = rows.one(_PAIRS[0], values) or rows.one(_PAIRS[1], values)
    if row is None:
        return None
    claims = load_claims(rows, [row[1], row[4]])
    sides = [
        Told(text, at_ms, tuple(draft for _, draft in claims.get(memory_id, ())))
        for memory_id, text, at_ms in (row[1:4], row[4:7])
    ]
    return OpenPair(str(row[0]), str(row[1]), sides[0], str(row[4]), sides[1], _probabilities(row[7]), tuple(row[8:10]))


def next_text(rows: Rows, most: int) -> UnreadMemory | None:
    """The next memory a model reads.

    Args:
        most: code points of a text, at most.

    Returns:
        The memory; None where there is none.
    """
    low, high = _bounds(rows).get("texts", (_LAST_N, _LAST_N))
    values = {"low": low, "high": high, "most": most}
    row = rows.one(_TEXTS[0], values) or rows.one(_TEXTS[1], values)
    if row is None:
        return None
    known = tuple(draft for _, draft in load_claims(rows, [row[1]]).get(row[1], ()))
    return UnreadMemory(int(row[0]), str(row[1]), Told(row[2], row[3], known), known, (row[4],))


def mark_asked(tx: Tx, offered: OpenPair | UnreadMemory) -> None:
    """Note that a model was asked; it is asked once, whatever it said.

    Args:
        tx: the transaction in which its answer is acted on.
        offered: what it was asked about.
    """
    name, place = ("items", offered.item_id) if isinstance(offered, OpenPair) else ("texts", offered.n)
    bounds: dict[str, tuple[Any, Any]] = _bounds(tx)
    low, high = bounds.get(name, (place, place))
    bounds[name] = (min(place, low), max(place, high))
    tx.run(
        "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        (NOTE, json.dumps(bounds), tx.now_ms),
    )


def is_importing(rows: Rows) -> bool:
    """Whether an import is on its way; a model is not asked meanwhile."""
    return rows.one("SELECT 1 FROM imports WHERE state = 'running' LIMIT 1") is not None


def _bounds(rows: Rows) -> dict[str, tuple[Any, Any]]:
    """Lower and upper bound of each list: ids of items, labels of memories."""
    found = rows.value("SELECT value FROM settings WHERE key = ?", (NOTE,))
    held = {} if found is None else json.loads(found)
    return {name: (pair[0], pair[1]) for name, pair in held.items()}


def _probabilities(detail: str) -> dict[Label, float]:
    told = json.loads(detail).get("probabilities")
    if not isinstance(told, dict):
        return {}
    return {Label[name]: float(share) for name, share in told.items() if name in Label.__members__}
