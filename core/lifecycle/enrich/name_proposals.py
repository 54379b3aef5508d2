"""Proposes names that may be one as items of the review queue; the person joins them or keeps them apart for good.

Must not do: join two, or ask more than `MOST_OPEN` at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.entities.alike import Name, Pair, pairs_among
from core.entities.words import name_key
from core.intake.revise.refinement import READING
from core.intake.transitions import review_items
from core.intake.transitions.review_items import Matter
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

MOST_OPEN = 20
"""Open questions about names, at most."""
NEWEST = 300
"""Entities of a space that are compared with all others, at most."""
REASON = "same_name"

_NAMES = (
    "SELECT e.id, e.name, e.type, (SELECT count(*) FROM mentions m WHERE m.entity_id = e.id) FROM entities e "
    "WHERE e.space_id = ? AND e.merged_into_id IS NULL ORDER BY e.recorded_at DESC, e.id DESC LIMIT 3000"
)
_OPEN = "SELECT count(*) FROM conflicts WHERE kind = 'entity_merge' AND state = 'open'"
# A memory that names the one and, where there is one, not the other: the person sees both in their own words.
_WHERE = (
    "SELECT m.id FROM mentions x JOIN memories m ON m.id = x.memory_id WHERE x.entity_id = :one "
    "AND m.status IN ('active', 'disputed') AND m.part_of IS NULL ORDER BY EXISTS (SELECT 1 FROM mentions y "
    "WHERE y.memory_id = m.id AND y.entity_id = :other), m.n LIMIT 1"
)
_SETTLED = (
    "SELECT c.id FROM conflicts c WHERE c.kind = 'entity_merge' AND c.state = 'open' AND EXISTS (SELECT 1 FROM "
    "json_each(c.detail, '$.entities') w LEFT JOIN entities e ON e.id = w.value "
    "WHERE e.id IS NULL OR e.merged_into_id IS NOT NULL)"
)


def propose(tx: Tx, make_id: Callable[[], str]) -> tuple[int, int]:
    """Open items for names that may be one, and close those of names that are gone.

    Args:
        tx: the transaction.
        make_id: makes UUIDv7 ids.

    Returns:
        How many were opened and how many closed.
    """
    gone = [str(row[0]) for row in tx.all(_SETTLED)]
    for item_id in gone:
        review_items.close_conflict(tx, item_id, "moot", None, "side_gone")
    left, opened = MOST_OPEN - int(tx.value(_OPEN)), 0
    for (space_id,) in tx.all("SELECT DISTINCT space_id FROM entities ORDER BY 1"):
        for pair in _pairs(tx, str(space_id)):
            if opened == left:
                return opened, len(gone)
            opened += _ask(tx, make_id, pair)
    return opened, len(gone)


def _pairs(rows: Rows, space_id: str) -> tuple[Pair, ...]:
    names = [
        Name(str(one), str(name), str(kind), int(count)) for one, name, kind, count in rows.all(_NAMES, (space_id,))
    ]
    return pairs_among(names[:NEWEST], names)


def _ask(tx: Tx, make_id: Callable[[], str], pair: Pair) -> bool:
    sides = [tx.value(_WHERE, {"one": a.id, "other": b.id}) for a, b in _both(pair)]
    keep, other = (None if side is None else str(side) for side in sides)
    if keep is None or other is None:
        return False
    matter = Matter(
        "entity_merge",
        other,
        None if keep == other else keep,
        reason=REASON,
        confidence=round(pair.likeness, 3),
        # Loci asks by itself: an undo that takes the memory away takes the question along.
        detail={"entities": [pair.keep.id, pair.other.id], "opened_by": READING},
        keys=_keys(tx, pair),
    )
    wanted = make_id()
    return review_items.open_conflict(tx, wanted, matter) == wanted


def _keys(rows: Rows, pair: Pair) -> Sequence[bytes]:
    """Space, type and names: the same pair is the same question, whatever ids it gets."""
    space = rows.value("SELECT space_id FROM entities WHERE id = ?", (pair.keep.id,))
    return [f"{space}\0{one.type}\0{name_key(one.name)}".encode() for one in (pair.keep, pair.other)]


def _both(pair: Pair) -> tuple[tuple[Name, Name], tuple[Name, Name]]:
    return (pair.keep, pair.other), (pair.other, pair.keep)
