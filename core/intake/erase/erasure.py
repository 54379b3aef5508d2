"""Erasing memories for good: the one verb that cannot be undone (design section 3; E10.6; seed C, purge).

Rows, terms, vectors, what was derived, what was quoted, and what journals still hold; what is left is one line of the
audit with ids and counts, and digests that keep the text from coming back (`core.intake.transaction.admission`). A
version that stood before an erased one stays a version that is over: erasing is no way of saying that it is true
again. Must not do: write an undo step, or put a text into the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.errors import Code, UserError
from core.intake.claims import sync_claims
from core.intake.erase.row_erasure import ErasedRows, ErasureScope, RowEraser, erasure_scope_of
from core.intake.erase.trace_erasure import TraceIndex, clear_traces
from core.intake.transaction.admission import write_tombstones
from core.intake.transaction.sources import (
    KINDS_BY_TEXT,
    Lineage,
    add_source,
    find_active_duplicate,
    refresh_claims,
    refresh_trust,
)
from core.intake.transaction.unit_of_work import UnitOfWork
from core.intake.transitions.review_items import close_moot
from core.memory.write import content_hash
from core.types.lifecycle import Erased
from core.types.memory import ErasedItem, ErasePreview
from core.types.values import Actor, Kind, Source, Status
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx, without_recorder
from core.vault.memory_sql import note_scrub

VERB, LABEL = "erase", "Erase memories"
_SEAL = ("seal", "Seal memories")

Backups = Sequence[tuple[str, int]]
"""Name and time (epoch ms) of each backup file that is there."""

_MOST_SHOWN = 50
_OF = "IN (SELECT value FROM json_each(?))"


def erase_preview(rows: Rows, ids: Sequence[str], *, whole_chain: bool = False, backups: Backups = ()) -> ErasePreview:
    """What `erase_memories` would remove; nothing is written.

    Args:
        whole_chain: whether all versions of their chains go too.
        backups: backup files that are there.

    Returns:
        What goes, what comes back, and what would still hold it.

    Raises:
        UserError: NOT_FOUND; one of them is not there.
    """
    reach = erasure_scope_of(rows, ids, whole_chain=whole_chain)
    erased_ids = to_json(list(reach.ids))
    found = rows.all(
        "SELECT m.id, m.text, m.kind, s.name FROM memories m JOIN spaces s ON s.id = m.space_id "  # noqa: S608
        f"WHERE m.id {_OF} AND coalesce(m.part_index, 0) = 0 ORDER BY m.n LIMIT ?",
        (erased_ids, _MOST_SHOWN),
    )
    texts = [row[0] for row in rows.all(f"SELECT text FROM memories WHERE id {_OF} ORDER BY n", (erased_ids,))]  # noqa: S608
    return ErasePreview(
        items=tuple(ErasedItem(one, text, kind, space, reach.why[one]) for one, text, kind, space in found),
        memories=len(reach.ids),
        back=reach.back,
        versions=len(_ids_of_whole_texts(rows, reach.over)),
        same_words=len(_split_by_other_memories(rows, reach, texts)[1]),
        backups=_backups_holding(rows, reach, backups),
    )


def erase_memories(
    tx: Tx,
    work: UnitOfWork,
    ids: Sequence[str],
    actor: Actor,
    removed: Callable[[int, Sequence[int]], None],
    backups: Backups = (),
    *,
    whole_chain: bool = False,
    journals: TraceIndex | None = None,
    sealed: bool = False,
) -> Erased:
    """Remove memories and every trace of their text, once and for all.

    Args:
        work: opens the verb, for its line in the audit; no step is written.
        ids: the memories; of a split text any part stands for all.
        actor: the owner, or the scheduler where the owner switched that on.
        removed: told sequence and labels after the commit, for the index.
        backups: backup files that are there.
        whole_chain: whether all versions of their chains go too.
        journals: tells which journals name or quote them, for a run of many batches; None to read them all.
        sealed: whether they are kept encrypted (`core.intake.seal`): then the words may be told again.

    Returns:
        How many rows went, and which backups still hold them.

    Raises:
        UserError: ACCESS_DENIED for a client, NOT_FOUND for what is not there.
    """
    if actor.client_id is not None or actor.kind == "client":
        raise UserError(Code.ACCESS_DENIED, "Only the person may erase.")
    reach = erasure_scope_of(tx, ids, whole_chain=whole_chain)
    holding_backups = _backups_holding(tx, reach, backups)
    with work.verb(tx, *(_SEAL if sealed else (VERB, LABEL)), actor) as verb, without_recorder(tx):
        taken = _remove_erased_rows(tx, reach, journals, bars_words=actor.is_owner and not sealed)
        for memory_id in reach.back:
            _restore_original(tx, work, memory_id)
        _repair_belief(tx, work, reach, taken)
        verb.note_audit(ids[0] if len(ids) == 1 else "", memories=len(reach.ids), back=len(reach.back), asked=len(ids))
    note_scrub(tx)
    seq, labels = tx.seq, tuple(taken.labels)
    tx.after_commit(lambda: removed(seq, labels))
    return Erased(len(reach.ids), holding_backups)


def _remove_erased_rows(tx: Tx, reach: ErasureScope, journals: TraceIndex | None, *, bars_words: bool) -> ErasedRows:
    remover = RowEraser(tx, reach)
    with tx.purge():
        taken = remover.run()
        clear_traces(tx, remover, journals)
    texts, _ = _split_by_other_memories(tx, reach, taken.texts)
    # Words are barred where the person said so. What age alone erased may be said again; a file does not bring it back.
    write_tombstones(tx, texts if bars_words else (), taken.identities)
    return taken


def _split_by_other_memories(rows: Rows, reach: ErasureScope, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Texts that no other memory has, and the memories that have the others.

    Trigger: the same words stand in a memory that stays ("Thank you!"). Why: they are no secret then, and every later
    message of these words would be refused. Outcome: only the record itself is kept from coming back.
    """
    own, others = [], []
    for text in dict.fromkeys(texts):
        found = rows.all(
            f"SELECT id FROM memories WHERE content_hash = ? AND id NOT {_OF} ORDER BY n",  # noqa: S608 - constant
            (content_hash(text), to_json(list(reach.ids))),
        )
        others += [str(row[0]) for row in found]
        if not found:
            own.append(text)
    return own, list(dict.fromkeys(others))


def _backups_holding(rows: Rows, reach: ErasureScope, backups: Backups) -> tuple[str, ...]:
    """Backups that were made since the oldest of these memories was recorded."""
    oldest = rows.value(f"SELECT min(recorded_at) FROM memories WHERE id {_OF}", (to_json(list(reach.ids)),))  # noqa: S608
    return tuple(name for name, at in backups if oldest is not None and at >= oldest)


def _ids_of_whole_texts(rows: Rows, ids: Sequence[str]) -> list[str]:
    """Of these memories the ids of whole texts and of first parts."""
    found = rows.all(
        f"SELECT id FROM memories WHERE id {_OF} AND coalesce(part_index, 0) = 0",  # noqa: S608 - constant
        (to_json(list(ids)),),
    )
    return [str(row[0]) for row in found]


def _restore_original(tx: Tx, work: UnitOfWork, memory_id: str) -> None:
    """What went into a text that is erased stands again, or lies beneath the memory of the same words that stands.

    An original of a united text had lent it its source, and perhaps its claims: it gets its own again.
    """
    parts = [str(row[0]) for row in tx.all("SELECT id FROM memories WHERE id = ? OR part_of = ?", (memory_id,) * 2)]
    for part in parts:
        row = tx.row("memories", {"id": part})
        if row is None:
            continue
        twin = _find_duplicate(tx, row)
        state = Status.ACTIVE if twin is None else Status.CONSOLIDATED
        tx.update(
            "memories",
            {"id": part},
            {
                "status": state.value,
                "status_reason": None if twin is None else "duplicate",
                "superseded_by_id": None,
                "consolidated_into": twin,
                "retired_at": None,
            },
        )
        if Kind(row["kind"]) in KINDS_BY_TEXT and not _has_source(tx, part):
            source_lineage = Lineage(row["lineage"], row["client_id"], row["session"], row["import_id"])
            add_source(tx, part, source_lineage, Source(row["source"]))
            # Read anew: its claims may have gone into the united text.
            tx.run("UPDATE memories SET read_at = NULL WHERE id = ?", (part,))
        refresh_trust(tx, part)
    sync_claims(tx, work.make_id, parts)


def _find_duplicate(tx: Tx, row: dict[str, object]) -> str | None:
    kind = Kind(str(row["kind"]))
    if kind not in KINDS_BY_TEXT or row["part_of"] is not None:
        return None
    found = find_active_duplicate(tx, [str(row["text"])], kind, str(row["space_id"]), str(row["scope_session"]))
    return None if found == row["id"] else found


def _has_source(tx: Tx, memory_id: str) -> bool:
    return tx.one("SELECT 1 FROM memory_sources WHERE memory_id = ?", (memory_id,)) is not None


def _repair_belief(tx: Tx, work: UnitOfWork, reach: ErasureScope, taken: ErasedRows) -> None:
    """Claims that lost a quote rest on what is left, and what they were held against is weighed again."""
    sync_claims(tx, work.make_id, sorted(taken.shared))
    refresh_claims(tx, sorted(taken.claims))
    close_moot(tx, [*reach.back, *sorted(taken.shared)])
