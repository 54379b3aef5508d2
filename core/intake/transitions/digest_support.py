"""What becomes of a digest when one of its sources is forgotten, replaced or doubted: it still says its sentence.

The digest leaves, and its other sources stand again, as they did before they were gathered; the next consolidation may
gather them anew. So nothing is worded by the writer, and an undo of the verb brings all of it back. Must not do: touch
a digest because a source only went to the archive: it faded, and what stands for it is not wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from core.intake.claims.assertion import sync_claims
from core.intake.transaction.sources import KINDS_BY_TEXT, standing_twin
from core.intake.transaction.trust_inputs import refresh_trust
from core.memory.draft import to_json
from core.types.values import Kind, Status
from core.vault.database.tx import Tx

DIGESTED = "digested"
"""The reason of the status `consolidated`: a digest stands for it; a key of `resources/help/lifecycle.json`."""
SOURCE_GONE = "source_gone"
"""The reason of a digest's status: a source of it was forgotten, replaced or doubted; a key of the same file."""

# By what they were made of: the pointers of the sources are gone once a digest has left. One that left already because
# of another source goes once more only where its words are to go as well.
_DIGESTS = (
    "SELECT d.id, d.status FROM memories d WHERE d.kind = 'digest' AND d.id IN ("
    "SELECT s.consolidated_into FROM json_each(:ids) w JOIN memories s ON s.id = w.value "
    "UNION SELECT r.derived_id FROM json_each(:ids) w JOIN derivations r ON r.source_id = w.value) "
    "AND NOT (d.status_reason IS :gone AND d.status IN ('deleted', :status)) ORDER BY d.n"
)
_LEFT = (Status.ARCHIVED.value, Status.DELETED.value)
_SOURCES = "SELECT id, status FROM memories WHERE consolidated_into = ? ORDER BY n"


def release_digests(tx: Tx, make_id: Callable[[], str], ids: Iterable[str], status: Status) -> tuple[str, ...]:
    """Let the digests go that some memories went into.

    Args:
        ids: sources that are forgotten, replaced or doubted; what is no source is passed over.
        status: what becomes of the digests: `deleted` where the words are to go, else `archived`; one that a person
            forgot stays forgotten.

    Returns:
        Digests, and memories that stand again.
    """
    gone = list(dict.fromkeys(ids))
    changed: list[str] = []
    for digest_id, held in tx.all(_DIGESTS, {"ids": to_json(gone), "gone": SOURCE_GONE, "status": status.value}):
        becomes = Status.DELETED if held == Status.DELETED.value else status
        why = {"status": becomes.value, "status_reason": SOURCE_GONE, "retired_at": tx.now_ms}
        tx.update("memories", {"id": digest_id}, why)
        # Faded or forgotten with their digest, they are no stronger without it.
        back = Status(held) if held in _LEFT else Status.ACTIVE
        others = [
            str(one)
            for one, now in tx.all(_SOURCES, (digest_id,))
            if one not in gone and now == Status.CONSOLIDATED.value
        ]
        for one in others:
            _bring_back(tx, one, back)
        tx.update_many(
            "memories", "id", [one for one in gone if _is_of(tx, one, digest_id)], {"consolidated_into": None}
        )
        sync_claims(tx, make_id, [str(digest_id), *gone, *others])
        for one in others:
            refresh_trust(tx, one)
        changed += [str(digest_id), *others]
    return tuple(changed)


def _bring_back(tx: Tx, memory_id: str, status: Status) -> None:
    """It stands again; where the same words stand by now, beneath those."""
    row = tx.row("memories", {"id": memory_id}) or {}
    kind, twin = Kind(row["kind"]), None
    if kind in KINDS_BY_TEXT and status is Status.ACTIVE:
        twin = standing_twin(tx, [str(row["text"])], kind, str(row["space_id"]), str(row["scope_session"]))
    beneath = {"status": Status.CONSOLIDATED.value, "status_reason": "duplicate", "consolidated_into": twin}
    left = {} if status is Status.ACTIVE else {"status_reason": SOURCE_GONE, "retired_at": tx.now_ms}
    stands = {"status": status.value, "status_reason": None, "consolidated_into": None, **left}
    tx.update("memories", {"id": memory_id}, stands if twin is None else beneath)


def _is_of(tx: Tx, memory_id: str, digest_id: str) -> bool:
    found = tx.value("SELECT 1 FROM memories WHERE id = ? AND consolidated_into = ?", (memory_id, digest_id))
    return found is not None
