"""What can become of a memory that stands or waits: the steps of which every decision is made.

The store path, the desk and the jobs take these and no others; each step changes rows through the verb's transaction,
so an undo of the verb takes it back. A digest whose source is forgotten, replaced or doubted leaves, and its other
sources stand again as they did before they were gathered; the next consolidation may gather them anew. A source that
only went to the archive takes no digest along: it faded, and what stands for it is not wrong. Forgetting is soft: the
memory leaves recall and review, and comes back with an undo. A statement goes with the last of its episodes; until then
it rests on the others. Which ones say it stands in `statements`, each with its span; the one it was made of is its
derivation.

Must not do: decide anything, touch an episode, make a statement, or read a text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import BugError, Code, UserError
from core.intake.candidate import authority_of
from core.intake.claims import (
    claims_of,
    close_earlier_version,
    find_counterpart,
    find_next_version,
    replace_claim,
    sync_claims,
)
from core.intake.transaction.sources import KINDS_BY_TEXT, Lineage, add_source, find_active_duplicate, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions import review_items
from core.intake.transitions.merge import MergeResult, append_chain, make_room_in_chain, newest_version, write_merge
from core.intake.transitions.review_items import ItemSubject, close_moot
from core.memory.write import Stored, VectorSpace, forget_vector, refresh_terms, write_vectors
from core.types.values import Actor, Kind, Source, Status, When
from core.vault.database.rows import Rows, image_from_json, image_to_json, to_json
from core.vault.database.tx import Tx

VERB = "forget"
_PARTS = "SELECT id FROM memories WHERE id = ? OR part_of = ?"


def forget_memory(
    tx: Tx, work: UnitOfWork, memory_id: str, actor: Actor, verb_name: str = VERB, label: str = "Forget a memory"
) -> str:
    """Set a memory, with all parts of a split text, to `deleted`; what a person was asked about it is moot.

    A digest that says its words goes with it, and what else went into that digest stands again.

    Args:
        memory_id: the memory; the caller has checked that the actor may reach it.
        verb_name: what it is called in the audit; `label` names the step.
        label: see there.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND when there is no such memory or it is forgotten already; ACCESS_DENIED when a client
            would forget what the person said.
    """
    row = tx.one("SELECT status, coalesce(part_of, id) FROM memories WHERE id = ?", (memory_id,))
    if row is None or row[0] == Status.DELETED.value:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    if not actor.is_owner and authority_of(tx, memory_id).is_guarded_from(actor.client_id):
        raise UserError(Code.ACCESS_DENIED, "Only the person may forget what the person said.")
    with work.verb(tx, verb_name, label, actor) as verb:
        statements = apply_forget(tx, work.make_id, str(row[1]))
        parts = [str(part) for (part,) in tx.all(_PARTS, (row[1], row[1]))]
        close_moot(tx, [*parts, *statements])
        verb.note_audit(memory_id, parts=len(parts))
    return verb.step_id


def apply_forget(tx: Tx, make_id: Callable[[], str], memory_id: str) -> tuple[str, ...]:
    """The steps of forgetting, within a running verb.

    Args:
        memory_id: the memory; of a split text the head.

    Returns:
        Digests and statements that left with it and memories that stand again: what was asked about them may be moot.
    """
    parts = [str(part) for (part,) in tx.all(_PARTS, (memory_id, memory_id))]
    for part in parts:
        tx.update(
            "memories",
            {"id": part},
            {"status": Status.DELETED.value, "status_reason": "forgotten", "retired_at": tx.now_ms},
        )
    sync_claims(tx, make_id, parts)
    return (*release_digests(tx, make_id, parts, Status.DELETED), *sync_statements(tx, make_id, parts))


DIGESTED = "digested"
"""The reason of the status `consolidated`: a digest stands for it; a key of `resources/help/lifecycle.json`."""
SOURCE_GONE = "source_gone"
"""The reason of a digest's status: a source of it was forgotten, replaced or doubted; of a statement's: no episode says
it any more. A key of the same file."""

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
    removed_ids = list(dict.fromkeys(ids))
    changed: list[str] = []
    for digest_id, old_status in tx.all(
        _DIGESTS, {"ids": to_json(removed_ids), "gone": SOURCE_GONE, "status": status.value}
    ):
        becomes = Status.DELETED if old_status == Status.DELETED.value else status
        why = {"status": becomes.value, "status_reason": SOURCE_GONE, "retired_at": tx.now_ms}
        tx.update("memories", {"id": digest_id}, why)
        # Faded or forgotten with their digest, they are no stronger without it.
        back = Status(old_status) if old_status in _LEFT else Status.ACTIVE
        others = [
            str(one)
            for one, now in tx.all(_SOURCES, (digest_id,))
            if one not in removed_ids and now == Status.CONSOLIDATED.value
        ]
        for one in others:
            _reactivate_or_stack(tx, one, back)
        tx.update_many(
            "memories", "id", [one for one in removed_ids if _is_of(tx, one, digest_id)], {"consolidated_into": None}
        )
        sync_claims(tx, make_id, [str(digest_id), *removed_ids, *others])
        for one in others:
            refresh_trust(tx, one)
        changed += [str(digest_id), *others]
    return tuple(changed)


def _reactivate_or_stack(tx: Tx, memory_id: str, status: Status) -> None:
    """It stands again; where the same words stand by now, beneath those."""
    row = tx.row("memories", {"id": memory_id}) or {}
    kind, twin = Kind(row["kind"]), None
    if kind in KINDS_BY_TEXT and status is Status.ACTIVE:
        twin = find_active_duplicate(tx, [str(row["text"])], kind, str(row["space_id"]), str(row["scope_session"]))
    beneath = {"status": Status.CONSOLIDATED.value, "status_reason": "duplicate", "consolidated_into": twin}
    left = {} if status is Status.ACTIVE else {"status_reason": SOURCE_GONE, "retired_at": tx.now_ms}
    restored = {"status": status.value, "status_reason": None, "consolidated_into": None, **left}
    tx.update("memories", {"id": memory_id}, restored if twin is None else beneath)


def _is_of(tx: Tx, memory_id: str, digest_id: str) -> bool:
    found = tx.value("SELECT 1 FROM memories WHERE id = ? AND consolidated_into = ?", (memory_id, digest_id))
    return found is not None


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


def unlink_episodes(tx: Tx, memory_id: str, episode_ids: Collection[str]) -> None:
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
                _pass_to_episode(tx, memory_id, left[0])
        _forget_source(tx, memory_id, episode)
    refresh_trust(tx, memory_id)


def sync_statements(tx: Tx, make_id: Callable[[], str], episode_ids: Iterable[str]) -> tuple[str, ...]:
    """Let statements stand and leave with what says them.

    Args:
        episode_ids: memories whose standing changed; what says nothing is passed over.

    Returns:
        Statements that changed.
    """
    changed = [one for one in statements_of(tx, episode_ids) if sync_statement(tx, one)]
    if changed:
        sync_claims(tx, make_id, changed)
    return tuple(changed)


def leave_statements(tx: Tx, make_id: Callable[[], str], episode_ids: Sequence[str]) -> None:
    """Part episodes that go to another space from what they say in the one they leave; they are read anew there."""
    left = statements_of(tx, episode_ids)
    for memory_id in left:
        unlink_episodes(tx, memory_id, [one for one in episode_ids if one in episodes_of(tx, memory_id)])
        sync_statement(tx, memory_id)
    if left:
        sync_claims(tx, make_id, left)
        for episode in episode_ids:
            tx.delete("readings", {"memory_id": episode})


def sync_statement(tx: Tx, memory_id: str) -> bool:
    """Let a statement that nothing says any more leave, unless the person took it up; one that is said again returns.

    Returns:
        Whether it changed.
    """
    row = tx.row("memories", {"id": memory_id})
    if row is None or not was_distilled(row) or _is_confirmed(tx, memory_id):
        return False
    statuses = {str(status) for (status,) in tx.all(_STANDINGS, (memory_id,))}
    has_left = row["status_reason"] == SOURCE_GONE
    if Status.ACTIVE.value in statuses:
        if not has_left or _find_active_twin(tx, row) is not None:
            return False
        changes: dict[str, object] = {"status": Status.ACTIVE.value, "status_reason": None, "retired_at": None}
    else:
        becomes = Status.ARCHIVED if statuses - {Status.DELETED.value} else Status.DELETED
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


def _pass_to_episode(tx: Tx, memory_id: str, episode_id: str) -> None:
    """Another episode carries a statement on: it is known by that one from here on."""
    episode = tx.row("memories", {"id": episode_id})
    if episode is not None:
        tx.update("memories", {"id": memory_id}, {name: episode[name] for name in ("import_id", "ref", "lineage")})
        source_lineage = Lineage(
            str(episode["lineage"]), episode["client_id"], episode["session"], episode["import_id"]
        )
        add_source(tx, memory_id, source_lineage, Source(episode["source"]))


def _forget_source(tx: Tx, memory_id: str, episode_id: str) -> None:
    """Take back that an episode counted as a source, where a run made it one and nothing else of it says the same."""
    lineage = tx.value("SELECT lineage FROM memories WHERE id = ?", (episode_id,))
    key = {"memory_id": memory_id, "lineage": lineage}
    if tx.value(_HELD, (memory_id, lineage)) is None and tx.one(_NOTED, (image_to_json(key),)) is not None:
        tx.delete("memory_sources", key)


def _find_active_twin(tx: Tx, row: dict[str, object]) -> str | None:
    return find_active_duplicate(tx, [str(row["text"])], Kind.FACT, str(row["space_id"]), str(row["scope_session"]))


def record_confirmation(tx: Tx, parts: Sequence[str], at_ms: int) -> None:
    """Note that the person confirmed a memory; the gate takes it for the owner's word from then on.

    A doubt of the person's from before is taken back: who confirms has changed their mind.

    Args:
        parts: the memory and its other parts, the head first.
        at_ms: when, epoch ms.
    """
    key = {"memory_id": parts[0], "voice": "owner", "verdict": "confirm"}
    verdict = tx.row("verdicts", key)
    if verdict is None:
        tx.insert("verdicts", {**key, "at": at_ms})
    else:
        tx.update("verdicts", key, {"times": int(verdict["times"]) + 1, "at": at_ms})
    clear_dispute(tx, parts)


def clear_dispute(tx: Tx, parts: Sequence[str]) -> None:
    """Take back that the person disputed a memory.

    Args:
        parts: the memory and its other parts, the head first.
    """
    tx.delete("verdicts", {"memory_id": parts[0], "voice": "owner", "verdict": "dispute"})
    recount_verdicts(tx, parts)


def recount_verdicts(tx: Tx, parts: Sequence[str]) -> tuple[float, bool]:
    """Work out what was said of a memory.

    Args:
        parts: the memory and its other parts, the head first.

    Returns:
        The least trust of its parts, 0 to 1, and whether the owner disputes it.
    """
    reinforced, disputed, by_owner = count_verdicts(tx, parts[0])
    for part in parts:
        tx.update("memories", {"id": part}, {"reinforcements": reinforced, "disputes": disputed})
    return min(refresh_trust(tx, part) for part in reversed(parts)), by_owner


def count_verdicts(rows: Rows, memory_id: str) -> tuple[int, int, bool]:
    """Count verdicts: the owner's each time, a client's once (seed A, feature 2).

    Args:
        memory_id: the memory; of a split text the head.

    Returns:
        Reinforcements and disputes that count, and whether the owner disputes it.
    """
    found = rows.all(
        "SELECT verdict, voice = 'owner', sum(CASE WHEN voice = 'owner' THEN times ELSE 1 END) FROM verdicts "
        "WHERE memory_id = ? GROUP BY verdict, voice = 'owner'",
        (memory_id,),
    )
    reinforced = sum(int(count) for verdict, _, count in found if verdict != "dispute")
    disputed = sum(int(count) for verdict, _, count in found if verdict == "dispute")
    return reinforced, disputed, any(verdict == "dispute" and owner for verdict, owner, _ in found)


REPLACED, MERGED, OLDER, DUPLICATE = "replaced", "merged", "older", "duplicate"
"""Reasons of a status (`memories.status_reason`): a successor stands; its text went into another; it was said before
what stands; it says in other words what stands."""


@dataclass
class Transitions:
    """Transitions of memories and claims between statuses, within one running verb.

    Attributes:
        tx: the verb's transaction.
        verb: the verb.
        make_id: makes UUIDv7 ids.
        space: the vector space of the vectors handed in.
        stored: told sequence, labels and vectors of changed rows after the commit, for the index.
        by: who draws relations: `owner` where a person decided, else `rules`.
        weighed: who weighed it, for the consolidation log: `owner`, `rules`, `builtin` or `model`.
        weights: how sure the relation to a memory is (0 to 1), and how near it is (cosine), for the same log.
        opened: review items this verb opened, in order.
        touched: memories whose standing this verb changed, in order.
    """

    tx: Tx
    verb: Verb
    make_id: Callable[[], str]
    space: VectorSpace
    stored: Stored
    by: str = "rules"
    weighed: str = ""
    weights: dict[str, tuple[float, float]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)

    # ---- one memory

    def activate(self, memory_id: str) -> None:
        """It stands from here on, with every part of a split text; its claims hold where nothing excludes them.

        Where a person decided so, the person vouches for it: from here on it counts as what the owner said.
        """
        if self.by == "owner":
            record_confirmation(self.tx, self.list_parts(memory_id), self.tx.now_ms)
        self._set_status(memory_id, Status.ACTIVE, None)

    def quarantine(self, memory_id: str, reason: str) -> None:
        """It waits for a person; its claims are drafts or no longer hold."""
        self._set_status(memory_id, Status.QUARANTINED, reason)
        self._release_digests(memory_id)

    def archive(self, memory_id: str, reason: str) -> None:
        """It leaves, restorable: rejected, faded, expired."""
        self._set_status(memory_id, Status.ARCHIVED, reason)

    def dispute(self, memory_id: str, reason: str) -> None:
        """It is doubted: default recall leaves it out, and so do its claims."""
        self._set_status(memory_id, Status.DISPUTED, reason)
        self._release_digests(memory_id)

    # ---- two memories

    def supersede(self, old_id: str, new_id: str, at: When | None = None) -> None:
        """The newcomer takes the place of what stood.

        The old one keeps its text and its place in history; it was true until the newcomer's `valid_from`, else until
        the newcomer was said. Both belong to one chain. Claims of the old one are superseded with it.

        Args:
            new_id: what stands now; its own status is not changed.
            at: from when on the newcomer holds; None for what the newcomer itself says.
        """
        old, new = self._require_row(old_id), self._require_row(new_id)
        until = at or _beginning_of(new)
        self._end_claims(old, new, None if until is None else until.ms)
        for part in self.list_parts(old_id):
            row = self._require_row(part)
            changes = {
                "status": Status.SUPERSEDED.value,
                "status_reason": REPLACED,
                "superseded_by_id": new_id,
                "retired_at": self.tx.now_ms,
                **_validity_end_columns(row, until),
            }
            self.tx.update("memories", {"id": part}, changes)
        self._follow_chain(old, new)
        self._note_touched(old_id)
        self._release_digests(old_id)
        sync_claims(self.tx, self.make_id, self.list_parts(old_id))
        self.add_edge(new_id, old_id, "supersedes")
        self.log_consolidation("SUPERSEDE", new_id, old_id)

    def enter_superseded(self, new_id: str, by_id: str) -> None:
        """A newcomer that was said before what stands: it enters the chain as a version that is over.

        It was true until the version said next after it, and what was said before it held until it was said.
        """
        current, new = self._require_row(by_id), self._require_row(new_id)
        chain = str(current["chain_id"])
        by_id = find_next_version(self.tx, chain, new, by_id)
        until = _beginning_of(self._require_row(by_id))
        close_earlier_version(self.tx, chain, new)
        version = make_room_in_chain(self.tx, chain, new)
        for part in self.list_parts(new_id):
            row = self._require_row(part)
            changes = {
                "status": Status.SUPERSEDED.value,
                "status_reason": OLDER,
                "superseded_by_id": by_id,
                "retired_at": self.tx.now_ms,
                "chain_id": chain,
                "version": version,
                **_validity_end_columns(row, until),
            }
            self.tx.update("memories", {"id": part}, changes)
        self._note_touched(new_id)
        sync_claims(self.tx, self.make_id, self.list_parts(new_id))
        self.add_edge(by_id, new_id, "supersedes")
        self.log_consolidation("SUPERSEDE", by_id, new_id)

    def replace_claims(self, old_claims: Sequence[str], new_id: str, at: When | None = None) -> bool:
        """Claims are over, though the memories they come from may say more that stands.

        Args:
            old_claims: what the newcomer contradicts.
            at: from when on it holds.

        Returns:
            Whether any of them stood.
        """
        until = at or _beginning_of(self._require_row(new_id))
        changed = False
        for claim_id in old_claims:
            by = find_counterpart(self.tx, claim_id, new_id)
            changed |= replace_claim(self.tx, claim_id, by, None if until is None else until.ms)
        return changed

    def merge_into(self, keep_id: str, text: str, vector: NDArray[np.float32], from_id: str) -> MergeResult:
        """Unite two memories under the id of the one that stands; both originals stay in its history.

        Args:
            vector: of that text, (dims,).
            from_id: the other one.

        Returns:
            The rows that hold the originals.
        """
        merged = write_merge(self.tx, self.make_id, keep_id, text, from_id)
        label = int(self._require_row(keep_id)["n"])
        vectors = np.asarray(vector, np.float32).reshape(1, -1)
        forget_vector(self.tx, label)  # those of other spaces say what it said before
        write_vectors(self.tx, [label], vectors, self.space)
        refresh_terms(self.tx, [keep_id, merged.original_id, from_id])
        seq = self.tx.seq
        self.tx.after_commit(lambda: self.stored(seq, [label], vectors))
        sync_claims(self.tx, self.make_id, [keep_id, from_id, merged.original_id])
        refresh_trust(self.tx, keep_id)
        self._note_touched(keep_id)
        self._note_touched(from_id)
        self.log_consolidation("MERGE", keep_id, from_id)
        return merged

    def coexist(self, a: str, b: str, kind: str = "coexists_with") -> None:
        """Both stand, and know of each other."""
        self.add_edge(a, b, kind)
        self.log_consolidation("COEXIST", a, b)

    def stack(self, new_id: str, under_id: str) -> None:
        """The newcomer says in other words what stands: it is kept beneath it, and its source corroborates."""
        for part in self.list_parts(new_id):
            changes = {"status": Status.CONSOLIDATED.value, "status_reason": DUPLICATE, "consolidated_into": under_id}
            self.tx.update("memories", {"id": part}, changes)
        for lineage, source, client_id, session, import_id in self.tx.all(
            "SELECT lineage, source, client_id, session, import_id FROM memory_sources WHERE memory_id = ? "
            "ORDER BY lineage",
            (new_id,),
        ):
            add_source(self.tx, under_id, Lineage(lineage, client_id, session, import_id), Source(source))
        self._note_touched(new_id)
        refresh_trust(self.tx, under_id)
        sync_claims(self.tx, self.make_id, [*self.list_parts(new_id), under_id])
        self.log_consolidation("DUPLICATE", under_id, new_id)

    def contradict(self, new_id: str, existing_id: str) -> None:
        """Both say what cannot both be true, and neither gives way: a relation that the graph shows."""
        self.add_edge(new_id, existing_id, "contradicts")

    # ---- the queue

    def open_conflict(self, matter: ItemSubject) -> str | None:
        """Open a review item.

        Returns:
            Its id, or that of the open item about the same; None where a person has rejected or kept it before.
        """
        wanted = self.make_id()
        found = review_items.open_conflict(self.tx, wanted, matter)
        if found == wanted:
            self.opened.append(wanted)
        return found

    def close_conflict(self, item_id: str, state: str, resolution: str | None, note: str | None = None) -> bool:
        """Close a review item; see `core.intake.transitions.review_items.close_conflict`."""
        return review_items.close_conflict(self.tx, item_id, state, resolution, note)

    def close_moot(self, memory_ids: Sequence[str] = ()) -> tuple[str, ...]:
        """Close open items that cannot be decided any more.

        Args:
            memory_ids: memories to look at, besides those this verb touched.
        """
        changed = [*self.touched, *memory_ids]
        # Nothing is open about memories that this very verb brought, where it asked nothing; what an attempt within it
        # did, it learns when the attempt is over.
        if self.tx.recorder is self.verb and not self.verb.asks and self.verb.brought.issuperset(changed):
            return ()
        return review_items.close_moot(self.tx, changed)

    # ---- claims

    def assert_claims(self, memory_id: str) -> None:
        """Bring a memory's claims in step with how it stands now."""
        sync_claims(self.tx, self.make_id, self.list_parts(memory_id))

    # ---- ground

    def list_parts(self, memory_id: str) -> list[str]:
        """The memory and, where its text was split, its other parts; the head first."""
        found = self.tx.all(
            "SELECT id FROM memories WHERE part_of = ? OR id = ? ORDER BY id <> ?, part_index",
            (memory_id, memory_id, memory_id),
        )
        return [str(row[0]) for row in found]

    def add_edge(self, from_id: str, to_id: str, kind: str) -> None:
        """Draw a relation, once."""
        known = self.tx.one("SELECT 1 FROM edges WHERE from_id = ? AND to_id = ? AND type = ?", (from_id, to_id, kind))
        if known is not None or from_id == to_id:
            return
        spaces = [self._require_row(memory_id)["space_id"] for memory_id in (from_id, to_id)]
        within = next((space for space in spaces if space != "GLOBAL"), "GLOBAL")
        self.tx.insert(
            "edges",
            {
                "id": self.make_id(),
                "from_id": from_id,
                "to_id": to_id,
                "type": kind,
                "space_id": within,
                "made_by": self.by,
                "recorded_at": self.tx.now_ms,
            },
        )

    def log_consolidation(
        self, operation: str, memory_id: str, other_id: str | None, confidence: float | None = None
    ) -> None:
        """Put a line into the consolidation log; written with the step."""
        sure, cosine = self.weights.get(other_id or "") or self.weights.get(memory_id) or (None, None)
        recorded_confidence = sure if confidence is None else confidence
        self.verb.log_consolidation(
            operation, memory_id, other_id, recorded_confidence, self.weighed or self.by, cosine
        )

    def _set_status(self, memory_id: str, status: Status, reason: str | None) -> None:
        ids = self.list_parts(memory_id)
        retired = None if status is Status.ACTIVE else self.tx.now_ms
        retired_at = {Status.QUARANTINED: None, Status.DISPUTED: None}.get(status, retired)
        for part in ids:
            changes: dict[str, object] = {"status": status.value, "status_reason": reason, "retired_at": retired_at}
            if status is Status.ACTIVE:
                changes |= {"superseded_by_id": None, "consolidated_into": None}
            self.tx.update("memories", {"id": part}, changes)
        self._note_touched(memory_id)
        sync_claims(self.tx, self.make_id, ids)
        for one in sync_statements(self.tx, self.make_id, ids):
            self._note_touched(one)

    def _release_digests(self, memory_id: str) -> None:
        """A digest that says what does not stand any more leaves; what else went into it stands again."""
        for one in release_digests(self.tx, self.make_id, self.list_parts(memory_id), Status.ARCHIVED):
            self._note_touched(one)

    def _require_row(self, memory_id: str) -> dict[str, Any]:
        row = self.tx.row("memories", {"id": memory_id})
        if row is None:
            raise BugError("a memory that is not there")
        return row

    def _note_touched(self, memory_id: str) -> None:
        if memory_id not in self.touched:
            self.touched.append(memory_id)

    def _follow_chain(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Both in one chain, the newcomer last."""
        chain, own = str(old["chain_id"]), str(new["chain_id"])
        if own != chain and newest_version(self.tx, own, str(new["id"])):
            # The newcomer continues another chain already: this one joins it.
            append_chain(self.tx, chain, own, but=str(new["id"]))
            chain = own
        version = max(newest_version(self.tx, chain, str(new["id"])) + 1, int(new["version"]))
        for part in self.list_parts(str(new["id"])):
            self.tx.update(
                "memories",
                {"id": part},
                {"chain_id": chain, "version": version, "supersedes_id": new["supersedes_id"] or old["id"]},
            )

    def _end_claims(self, old: dict[str, Any], new: dict[str, Any], at_ms: int | None) -> None:
        """Claims that rest on the old memory alone end with it."""
        old_parts = self.list_parts(str(old["id"]))
        for claim_id in claims_of(self.tx, old_parts):
            others = self.tx.value(
                "SELECT count(*) FROM evidence e JOIN memories m ON m.id = e.memory_id WHERE e.claim_id = ? "
                "AND e.stance = 'supporting' AND m.status = 'active' AND e.memory_id NOT IN "
                "(SELECT value FROM json_each(?))",
                (claim_id, to_json(old_parts)),
            )
            by = find_counterpart(self.tx, claim_id, str(new["id"]))
            if not others or by is not None:
                replace_claim(self.tx, claim_id, by, at_ms)


def _beginning_of(row: dict[str, Any]) -> When | None:
    """From when on a memory holds: what it says itself, else when it was said."""
    at = row["valid_from"] if row["valid_from"] is not None else row["occurred_at"]
    return None if at is None else When(int(at))


def _validity_end_columns(row: dict[str, Any], until: When | None) -> dict[str, object]:
    """The end of a memory's validity; an end that it states itself and that came sooner stays."""
    if until is None or (row["valid_to"] is not None and row["valid_to"] <= until.ms):
        return {}
    at = until.ms if row["valid_from"] is None else max(until.ms, int(row["valid_from"]))
    return {"valid_to": at, "valid_to_prec": until.precision.value}
