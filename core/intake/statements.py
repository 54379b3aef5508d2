"""Statements and the episodes that say them: a statement goes with the last of its episodes.

Until then it rests on the others. Which episodes say it stands in `statements`, each with its span; the one it was made
of is its derivation. Must not do: make a statement, or read a text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from core.intake.claims import sync_claims
from core.intake.transaction.sources import Lineage, add_source, find_active_duplicate, refresh_trust
from core.types.values import Kind, Source, Status
from core.vault.database.rows import Rows, image_from_json, image_to_json, to_json
from core.vault.database.tx import Tx

SOURCE_GONE = "source_gone"
"""`status_reason` of a statement that no episode says any more."""

_OF_EPISODES = "SELECT DISTINCT s.memory_id FROM json_each(?) w JOIN statements s ON s.episode_id = w.value ORDER BY 1"
_SAID_BY = "SELECT episode_id FROM statements WHERE memory_id = ? ORDER BY episode_id"
_NOTED = (
    "SELECT 1 FROM undo_steps s CROSS JOIN undo_rows r ON r.step_id = s.id WHERE s.verb = 'distill' "
    "AND s.undone_by IS NULL AND r.tbl = 'memory_sources' AND r.before IS NULL AND r.row_key = ?"
)
_STANDINGS = "SELECT m.status FROM statements s JOIN memories m ON m.id = s.episode_id WHERE s.memory_id = ?"
_STANDING = (Status.ACTIVE.value, Status.DISPUTED.value, Status.QUARANTINED.value)
_HELD = (
    "SELECT 1 FROM statements s JOIN memories m ON m.id = s.episode_id WHERE s.memory_id = ? AND m.lineage = ? LIMIT 1"
)


def statements_of(rows: Rows, episode_ids: Iterable[str]) -> list[str]:
    """Memories that episodes say, in a fixed order."""
    return [str(row[0]) for row in rows.all(_OF_EPISODES, (to_json(list(episode_ids)),))]


def episodes_of(rows: Rows, memory_id: str) -> list[str]:
    """Episodes that say a memory."""
    return [str(row[0]) for row in rows.all(_SAID_BY, (memory_id,))]


def loosen(tx: Tx, memory_id: str, episode_ids: Collection[str]) -> None:
    """Take episodes from what says a memory; others that say it carry it on.

    Args:
        episode_ids: those that go, or say something else now.
    """
    left = [one for one in episodes_of(tx, memory_id) if one not in episode_ids]
    for episode in episode_ids:
        tx.delete("statements", {"memory_id": memory_id, "episode_id": episode})
        if tx.row("derivations", {"derived_id": memory_id, "source_id": episode}) is not None:
            tx.delete("derivations", {"derived_id": memory_id, "source_id": episode})
            if left and not _is_derived(tx, memory_id):
                space = tx.value("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
                link = {"derived_id": memory_id, "source_id": left[0], "space_id": space, "recorded_at": tx.now_ms}
                tx.insert("derivations", link)
                _inherit(tx, memory_id, left[0])
        _forget_source(tx, memory_id, episode)
    refresh_trust(tx, memory_id)


def follow_episodes(tx: Tx, make_id: Callable[[], str], episode_ids: Iterable[str]) -> tuple[str, ...]:
    """Let statements stand and leave with what says them.

    Args:
        episode_ids: memories whose standing changed; what says nothing is passed over.

    Returns:
        Statements that changed.
    """
    changed = [one for one in statements_of(tx, episode_ids) if follow(tx, one)]
    if changed:
        sync_claims(tx, make_id, changed)
    return tuple(changed)


def follow(tx: Tx, memory_id: str) -> bool:
    """Let a statement that nothing says any more leave, unless the person took it up; one that is said again returns.

    Returns:
        Whether it changed.
    """
    row = tx.row("memories", {"id": memory_id})
    if row is None or not was_distilled(row) or _is_confirmed(tx, memory_id):
        return False
    said = {str(status) for (status,) in tx.all(_STANDINGS, (memory_id,))}
    has_left = row["status_reason"] == SOURCE_GONE
    if Status.ACTIVE.value in said:
        if not has_left or _twin(tx, row) is not None:
            return False
        changes: dict[str, object] = {"status": Status.ACTIVE.value, "status_reason": None, "retired_at": None}
    else:
        becomes = Status.ARCHIVED if said - {Status.DELETED.value} else Status.DELETED
        is_due = has_left or row["status"] in _STANDING
        if not is_due or row["status"] == becomes.value:
            return False
        changes = {"status": becomes.value, "status_reason": SOURCE_GONE, "retired_at": tx.now_ms}
    tx.update("memories", {"n": row["n"]}, changes)
    return True


def was_distilled(row: dict[str, object]) -> bool:
    """Whether a row of `memories` is a statement, made by the reader of talk or by a model."""
    origin = image_from_json(str(row["origin"]))
    return origin.get("job") == "distill" and origin.get("by") in ("reader", "model")


def _is_derived(rows: Rows, memory_id: str) -> bool:
    return rows.one("SELECT 1 FROM derivations WHERE derived_id = ?", (memory_id,)) is not None


def _is_confirmed(rows: Rows, memory_id: str) -> bool:
    sql = "SELECT 1 FROM verdicts WHERE memory_id = ? AND verdict = 'confirm' AND client_id IS NULL"
    return rows.one(sql, (memory_id,)) is not None


def _inherit(tx: Tx, memory_id: str, episode_id: str) -> None:
    """Another episode carries a statement on: it is known by that one from here on."""
    episode = tx.row("memories", {"id": episode_id})
    if episode is not None:
        tx.update("memories", {"id": memory_id}, {name: episode[name] for name in ("import_id", "ref", "lineage")})
        said = Lineage(str(episode["lineage"]), episode["client_id"], episode["session"], episode["import_id"])
        add_source(tx, memory_id, said, Source(episode["source"]))


def _forget_source(tx: Tx, memory_id: str, episode_id: str) -> None:
    """Take back that an episode counted as a source, where a run made it one and nothing else of it says the same."""
    lineage = tx.value("SELECT lineage FROM memories WHERE id = ?", (episode_id,))
    key = {"memory_id": memory_id, "lineage": lineage}
    if tx.value(_HELD, (memory_id, lineage)) is None and tx.one(_NOTED, (image_to_json(key),)) is not None:
        tx.delete("memory_sources", key)


def _twin(tx: Tx, row: dict[str, object]) -> str | None:
    return find_active_duplicate(tx, [str(row["text"])], Kind.FACT, str(row["space_id"]), str(row["scope_session"]))
