"""Erasing memories for good: the one verb that cannot be undone (design section 3; E10.6; seed C, purge).

Rows, terms, vectors, what was derived, what was quoted, and what journals still hold; what is left is one line of the
audit with ids and counts, and digests that keep the text from coming back (`core.intake.transaction.admission`). A
version that stood before an erased one stays a version that is over: erasing is no way of saying that it is true
again. Must not do: write an undo step, or put a text into the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.errors import Code, UserError
from core.intake.claims import sync_claims
from core.intake.erase.row_erasure import (
    ASKED,
    ErasedRows,
    ErasureScope,
    RowEraser,
    add_other_parts,
    erasure_scope_of,
)
from core.intake.erase.subjects import NamedRows, clear_imports
from core.intake.erase.trace_erasure import TraceIndex, clear_traces
from core.intake.transaction.admission import erase_for_all, write_tombstones
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
from core.memory.stored_files import remove_unheld
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
_KINDS = (
    f"SELECT kind, count(*) FROM memories WHERE id {_OF} AND coalesce(part_index, 0) = 0 GROUP BY kind ORDER BY kind"  # noqa: S608
)
_STATEMENTS = f"SELECT count(DISTINCT memory_id) FROM statements WHERE memory_id {_OF}"  # noqa: S608 - constant
_SAME_WORDS = (
    "SELECT m.id, m.content_hash FROM json_each(?) w JOIN memories m ON m.content_hash = unhex(w.value) ORDER BY m.n"
)
_GOING = "IN (SELECT value FROM json_each(:ids))"
_CLAIMS = (
    f"SELECT count(DISTINCT e.claim_id) FROM evidence e WHERE e.memory_id {_GOING} AND NOT EXISTS (SELECT 1 "  # noqa: S608
    f"FROM evidence o WHERE o.claim_id = e.claim_id AND o.stance = 'supporting' AND o.memory_id NOT {_GOING})"
)
_ENTITIES = (
    f"SELECT count(DISTINCT x.entity_id) FROM mentions x JOIN entities e ON e.id = x.entity_id "  # noqa: S608
    f"WHERE x.memory_id {_GOING} AND (e.made_by IN ('rules', 'model') "
    "OR e.id IN (SELECT value FROM json_each(:named))) AND NOT EXISTS (SELECT 1 "
    f"FROM mentions o WHERE o.entity_id = x.entity_id AND o.memory_id NOT {_GOING})"
)
"""Entities that nothing would mention any more, and whoever made them where they are asked for by name."""


def erase_preview(rows: Rows, named: NamedRows, backups: Backups = ()) -> ErasePreview:
    """What an erasure would remove; nothing is written.

    Args:
        named: what is asked.
        backups: backup files that are there.

    Returns:
        What goes, what comes back, and what would still hold it.

    Raises:
        UserError: NOT_FOUND; one of them is not there.
    """
    reach = erasure_scope_of(rows, named.ids, whole_chain=named.whole_chain)
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
        backups=_backups_since(_oldest_at(rows, reach), backups),
        kinds={str(kind): int(count) for kind, count in rows.all(_KINDS, (erased_ids,))},
        statements=int(rows.value(_STATEMENTS, (erased_ids,))),
        claims=int(rows.value(_CLAIMS, {"ids": erased_ids})),
        entities=int(rows.value(_ENTITIES, {"ids": erased_ids, "named": to_json(list(named.entities))})),
    )


@dataclass(frozen=True, slots=True)
class ErasureOutcome:
    """What an erasure did within its transaction.

    Attributes:
        reach: the memories that went, and why.
        taken: their rows, and what was mended.
        oldest_at: when the oldest of them was recorded, epoch ms; None where there was none.
        same_words: how many other memories have exactly the same words and stay.
        own_texts: the erased texts that no other memory has.
    """

    reach: ErasureScope
    taken: ErasedRows
    oldest_at: int | None
    same_words: int
    own_texts: tuple[str, ...]

    def summarize(self, backups: Backups) -> Erased:
        """The short answer.

        Args:
            backups: backup files that are there.
        """
        return Erased(len(self.reach.ids), _backups_since(self.oldest_at, backups))


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

    Returns:
        How many rows went, and which backups still hold them.

    Raises:
        UserError: ACCESS_DENIED for a client, NOT_FOUND for what is not there.
    """
    done = erase_named(tx, work, NamedRows(tuple(ids), whole_chain=whole_chain), actor, removed, journals)
    return done.summarize(backups)


def erase_named(
    tx: Tx,
    work: UnitOfWork,
    named: NamedRows,
    actor: Actor,
    removed: Callable[[int, Sequence[int]], None],
    journals: TraceIndex | None = None,
) -> ErasureOutcome:
    """As `erase_memories`, for all that an erasure may name; tells all that was done.

    Args:
        named: the memories, and what else goes with them.

    Raises:
        UserError: as `erase_memories`.
    """
    if actor.client_id is not None or actor.kind == "client":
        raise UserError(Code.ACCESS_DENIED, "Only the person may erase.")
    reach = erasure_scope_of(tx, named.ids, whole_chain=named.whole_chain)
    oldest = _oldest_at(tx, reach)
    with work.verb(tx, *(_SEAL if named.is_sealed else (VERB, LABEL)), actor) as verb, without_recorder(tx):
        taken, own, same_words = _remove_erased_rows(
            tx, reach, journals, named.entities, bars_words=actor.is_owner and not named.is_sealed
        )
        clear_imports(tx, named.imports)
        for memory_id in reach.back:
            _restore_original(tx, work, memory_id)
        _repair_belief(tx, work, reach, taken)
        if not named.is_sealed:
            erase_for_all(tx, reach.ids)
        obj = named.ids[0] if len(named.ids) == 1 else ""
        verb.note_audit(obj, memories=len(reach.ids), back=len(reach.back), asked=len(named.ids))
    note_scrub(tx)
    seq, labels = tx.seq, tuple(taken.labels)
    tx.after_commit(lambda: removed(seq, labels))
    return ErasureOutcome(reach, taken, oldest, same_words, tuple(own))


def remove_elsewhere_removed(
    tx: Tx, work: UnitOfWork, ids: Sequence[str], removed: Callable[[int, Sequence[int]], None], *, is_erased: bool
) -> int:
    """Remove memories that another device of the person removed; within a running verb and an open purge gate.

    Args:
        ids: the memories; those that are not here are passed over.
        removed: told sequence and labels after the commit, for the index.
        is_erased: they were erased for good: their words are barred, and what was made of them here goes too. Otherwise
            their insertion was taken back, or they were sealed.

    Returns:
        How many rows of memories went.
    """
    present = [one for one in ids if tx.row("memories", {"id": one}) is not None]
    if not present:
        return 0
    if is_erased:
        reach = erasure_scope_of(tx, present, whole_chain=False)
    else:
        reach = ErasureScope(dict.fromkeys(add_other_parts(tx, present), ASKED))
    with without_recorder(tx):
        remover = RowEraser(tx, reach)
        taken = remover.run()
        clear_traces(tx, remover)
        _remove_contents(tx, taken)
        if is_erased:
            texts, _ = _split_by_other_memories(tx, reach, taken.texts)
            write_tombstones(tx, texts, taken.identities)
            erase_for_all(tx, [one for one in reach.ids if one not in ids])
        for memory_id in reach.back:
            _restore_original(tx, work, memory_id)
        _repair_belief(tx, work, reach, taken)
    note_scrub(tx)
    seq, labels = tx.seq, tuple(taken.labels)
    tx.after_commit(lambda: removed(seq, labels))
    return len(reach.ids)


def _remove_erased_rows(
    tx: Tx, reach: ErasureScope, journals: TraceIndex | None, entities: Sequence[str], *, bars_words: bool
) -> tuple[ErasedRows, list[str], int]:
    remover = RowEraser(tx, reach, entities)
    with tx.purge():
        taken = remover.run()
        clear_traces(tx, remover, journals)
        _remove_contents(tx, taken)
    texts, others = _split_by_other_memories(tx, reach, taken.texts)
    # Words are barred where the person said so. What age alone erased may be said again; a file does not bring it back.
    write_tombstones(tx, texts if bars_words else (), taken.identities)
    return taken, texts, len(others)


def _remove_contents(tx: Tx, taken: ErasedRows) -> None:
    """The bytes of files go with the last of what held them: rows that are gone by now, and images of them."""
    contents = remove_unheld(tx)
    taken.ids.update(contents)
    taken.cleared["stored_files"] += len(contents)


def _split_by_other_memories(rows: Rows, reach: ErasureScope, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Texts that no other memory has, and the memories that have the others.

    Trigger: the same words stand in a memory that stays ("Thank you!"). Why: they are no secret then, and every later
    message of these words would be refused. Outcome: only the record itself is kept from coming back.
    """
    by_hash = {content_hash(text): text for text in texts}
    found = rows.all(_SAME_WORDS, (to_json([digest.hex() for digest in by_hash]),))
    others = {str(memory_id): by_hash[bytes(digest)] for memory_id, digest in found if memory_id not in reach.why}
    shared = set(others.values())
    return [text for text in by_hash.values() if text not in shared], list(others)


def _oldest_at(rows: Rows, reach: ErasureScope) -> int | None:
    oldest = rows.value(f"SELECT min(recorded_at) FROM memories WHERE id {_OF}", (to_json(list(reach.ids)),))  # noqa: S608
    return None if oldest is None else int(oldest)


def _backups_since(oldest: int | None, backups: Backups) -> tuple[str, ...]:
    """Backups that were made since the oldest of these memories was recorded."""
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
