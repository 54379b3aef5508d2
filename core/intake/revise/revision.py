"""Changing memories that stand already: new texts and attributes, holding one from fading, relations between two.

One verb, one undo step, for one memory or ten thousand. A new text is a new version: the old one stays in the chain as
`superseded` with the reason `edited`, and what it was read to say stays with it. Everything else changes in place. What
left and is brought back stands again only as the gate lets it stand beside what came meanwhile, judged by what it was
when it left. A retention hold counts as a touch: strength fades from then on, and no run archives the memory before its
time is over. A relation is drawn once, within one space, without a circle, by a client (E14a) or by replay and accepted
(E44.4); it decides nothing: `contradicts` opens no question by itself.

Must not do: change a plan's mind, write a text into a label, judge an episode, or move a trust because of a relation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import BugError, Code, PreconditionError, UserError
from core.intake.claims import sync_claims
from core.intake.revise.revision_plan import (
    ALIKE,
    AT_ODDS,
    EARLIER,
    REJECTED,
    UNITED,
    MemoryChange,
    RevisionPlan,
    check_revision,
    describe_revision,
    plan_revision,
)
from core.intake.transaction.sources import KINDS_BY_TEXT, Lineage, add_source, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.review_items import close_moot
from core.intake.transitions.transitions import MERGED, Transitions, leave_statements, release_digests, sync_statements
from core.memory.landmarks import carry_place, free_landmark
from core.memory.protection import inherited_tier, tier_columns, with_tier_by
from core.memory.read import time_of_memory_sql
from core.memory.write import (
    Stored,
    VectorSpace,
    ensure_space,
    refresh_terms,
    reserve_labels,
    rewrite_tags,
    write_new_vectors,
)
from core.score.trust import age_days, trust_terms
from core.text.screening.injection import screen_text
from core.types.memory import ProposedLink, Related, Relationship
from core.types.values import BY_PERSON, BY_RULES, GLOBAL_SPACE, OWNER, OWNER_ACTOR, Actor, SecurityTier, Source, Status
from core.types.views import Revision, RevisionPreview, RevisionReport
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx
from core.vault.memory_sql import remove_inferred, remove_mentions, tier_by_sql

KIND = "related_to"
"""The relation that an accepted link becomes (X59)."""
MOST = 1_000

_OPEN = (
    "SELECT l.from_id, l.to_id, a.text, b.text, s.name, l.cosine, l.at FROM links l "
    "JOIN memories a ON a.id = l.from_id JOIN memories b ON b.id = l.to_id JOIN spaces s ON s.id = l.space_id "
    "WHERE l.state = 'open' AND a.status = 'active' AND b.status = 'active' "
    "ORDER BY l.cosine DESC, l.from_id, l.to_id LIMIT ?"
)


def open_links(rows: Rows, limit: int = 100) -> tuple[ProposedLink, ...]:
    """Proposed relations that wait for the person, nearest first; those of memories that left are passed over.

    Args:
        limit: 1 to 1,000.

    Raises:
        UserError: INVALID_INPUT for the limit.
    """
    if not 1 <= limit <= MOST:
        raise UserError(Code.INVALID_INPUT, f"A list has 1 to {MOST:,} proposals.")
    return tuple(ProposedLink(*row) for row in rows.all(_OPEN, (limit,)))


def accept_link(tx: Tx, work: UnitOfWork, make_id: Callable[[], str], from_id: str, to_id: str) -> str:
    """The person agrees: the relation is drawn.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; there is no such proposal, or it is decided.
    """
    first, second = sorted((from_id, to_id))
    with work.verb(tx, "accept_link", "Accept a relation", OWNER_ACTOR) as verb:
        cosine, space = _decide_link(tx, first, second, "accepted")
        if tx.one("SELECT 1 FROM edges WHERE from_id = ? AND to_id = ? AND type = ?", (first, second, KIND)) is None:
            tx.insert(
                "edges",
                {
                    "id": make_id(),
                    "from_id": first,
                    "to_id": second,
                    "type": KIND,
                    "space_id": space,
                    "weight": min(1.0, max(0.0, cosine)),
                    "made_by": "owner",
                    "recorded_at": tx.now_ms,
                },
            )
        verb.note_audit(first, other=second)
    return verb.step_id


def reject_link(tx: Tx, work: UnitOfWork, from_id: str, to_id: str) -> str:
    """The person does not agree: the pair is not proposed again.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND; there is no such proposal, or it is decided.
    """
    first, second = sorted((from_id, to_id))
    with work.verb(tx, "reject_link", "Reject a relation", OWNER_ACTOR) as verb:
        _decide_link(tx, first, second, "rejected")
        verb.note_audit(first, other=second)
    return verb.step_id


def _decide_link(tx: Tx, first: str, second: str, state: str) -> tuple[float, str]:
    key = {"from_id": first, "to_id": second}
    row = tx.row("links", key)
    if row is None or row["state"] != "open":
        raise UserError(Code.NOT_FOUND, "There is no such proposal, or it is decided already.")
    tx.update("links", key, {"state": state})
    return float(row["cosine"]), str(row["space_id"])


RELATE, RELATE_LABEL = "relate", "Relate two memories"
MADE_BY = "model"
"""`edges.made_by` of what an assistant says; which one, its undo step and the audit know."""
_CIRCLE = (
    "WITH RECURSIVE reach (id) AS (SELECT :to UNION SELECT d.b FROM directed d JOIN reach r ON d.a = r.id) "
    "SELECT 1 FROM reach WHERE id = :from LIMIT 1"
)


def draw_relation(
    tx: Tx, work: UnitOfWork, from_id: str, to_id: str, relationship: Relationship, actor: Actor
) -> Related:
    """Draw one relation; one verb, one step.

    Args:
        from_id: the memory it goes out from; the caller has checked that the actor may see both.
        to_id: the other one.
        relationship: what the first is to the second.

    Returns:
        The relation; the one that is there already where it is.

    Raises:
        UserError: INVALID_INPUT for one memory, or for two of different spaces; ACCESS_DENIED for two that only the
            person may relate; CYCLE for a cause of itself.
    """
    if from_id == to_id:
        raise UserError(Code.INVALID_INPUT, "A memory is not related to itself; name two.")
    space = _common_space(tx, from_id, to_id, actor)
    key = (from_id, to_id, relationship.value)
    known = tx.value("SELECT id FROM edges WHERE from_id = ? AND to_id = ? AND type = ?", key)
    if known is not None:
        return Related(str(known), *key, deduplicated=True)
    if relationship is Relationship.CAUSED_BY and tx.one(_CIRCLE, {"from": from_id, "to": to_id}) is not None:
        raise UserError(Code.CYCLE, "That relation would close a circle of causes.")
    edge_id = work.make_id()
    with work.verb(tx, RELATE, RELATE_LABEL, actor) as verb:
        tx.insert(
            "edges",
            {
                "id": edge_id,
                "from_id": from_id,
                "to_id": to_id,
                "type": relationship.value,
                "space_id": space,
                "made_by": OWNER if actor.is_owner else MADE_BY,
                "recorded_at": tx.now_ms,
            },
        )
        verb.note_audit(from_id, other=to_id, relationship=relationship.value)
    return Related(edge_id, *key, step_id=verb.step_id)


def _common_space(tx: Tx, from_id: str, to_id: str, actor: Actor) -> str:
    """The space both are in, or the one that is not GLOBAL."""
    spaces = {str(tx.value("SELECT space_id FROM memories WHERE id = ?", (one,))) for one in (from_id, to_id)}
    if spaces == {GLOBAL_SPACE} and not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person relates two memories of GLOBAL.")
    within = sorted(spaces - {GLOBAL_SPACE}) or [GLOBAL_SPACE]
    if len(within) > 1:
        raise PreconditionError("The two lie in different spaces; a relation stays within one.")
    return within[0]


SPARED_DAYS = 90
"""How long it is spared where nobody says how long."""
MOST_DAYS = 3_650
_DAY_MS = 86_400_000
_WHOLE = (
    "SELECT m.id FROM memories m WHERE m.status IN ('active', 'disputed') AND coalesce(m.part_of, m.id) IN "
    "(SELECT coalesce(o.part_of, o.id) FROM json_each(?) w JOIN memories o ON o.id = w.value) ORDER BY m.n"
)


def spare_memories(tx: Tx, work: UnitOfWork, ids: Sequence[str], days: int, actor: Actor) -> str:
    """Spare memories that stand, with all parts of a split text; one undo step.

    Args:
        ids: the memories; those that do not stand are left out.
        days: for how long, 1 to 3,650; one that was spared for longer keeps that.

    Raises:
        UserError: INVALID_INPUT for the days, NOT_FOUND where none of them stands.
    """
    if not 1 <= days <= MOST_DAYS:
        raise UserError(Code.INVALID_INPUT, f"A memory is spared for 1 to {MOST_DAYS:,} days.")
    parts = _active_part_ids(tx, ids)
    if not parts:
        raise UserError(Code.NOT_FOUND, "There is no such memory, or it does not stand any more.")
    count = len(dict.fromkeys(ids))
    label = "Spare a memory" if count == 1 else f"Spare {count:,} memories"
    with work.verb(tx, "spare", label, actor) as verb:
        record_hold(tx, parts, days)
        verb.note_audit(ids[0] if count == 1 else "", memories=len(parts), days=days)
    return verb.step_id


def record_hold(tx: Tx, parts: Iterable[str], days: int = SPARED_DAYS) -> None:
    """Write down that memories are spared, inside a verb that runs.

    Args:
        parts: the memories, all parts of a split text among them.
        days: for how long, from now.
    """
    until = tx.now_ms + days * _DAY_MS
    for part in parts:
        hold = tx.row("spared", {"memory_id": part})
        if hold is None:
            tx.insert("spared", {"memory_id": part, "at": tx.now_ms, "until": until})
        else:
            tx.update("spared", {"memory_id": part}, {"at": tx.now_ms, "until": max(until, int(hold["until"]))})


def _active_part_ids(tx: Tx, ids: Sequence[str]) -> list[str]:
    return [str(row[0]) for row in tx.all(_WHOLE, (to_json(list(ids)),))]


Admit = Callable[[Transitions, str], object]
"""Lets a memory that waits through the gate (`core.intake.store.store.StoreService.admit_memory`)."""

_KINDS = to_json([kind.value for kind in KINDS_BY_TEXT])
# Whose claims cannot stand beside others that stand, or that come back with it; and what was never let in.
_CONTESTED = (
    "WITH said AS MATERIALIZED (SELECT e.memory_id, e.claim_id FROM json_each(:ids) w "  # noqa: S608 - constants
    "JOIN evidence e ON e.memory_id = w.value WHERE e.stance = 'supporting') "
    f"SELECT DISTINCT coalesce(m.part_of, m.id), {time_of_memory_sql('m')} AS said_at "
    "FROM json_each(:ids) w JOIN memories m ON m.id = w.value "
    "WHERE m.kind IN (SELECT value FROM json_each(:kinds)) AND ("
    "(m.status = 'quarantined' AND coalesce(m.status_reason, '') <> 'held') "
    "OR EXISTS (SELECT 1 FROM evidence e JOIN claims c ON c.id = e.claim_id "
    "JOIN claims o ON o.space_id IN (c.space_id, 'GLOBAL') AND o.subject_key = c.subject_key "
    "AND o.predicate = c.predicate WHERE e.memory_id = m.id AND e.stance = 'supporting' "
    "AND (o.polarity <> c.polarity OR (o.value_key <> c.value_key AND (o.exclusive = 1 OR c.exclusive = 1))) "
    "AND (o.state IN ('asserted', 'disputed') "
    "OR o.id IN (SELECT s.claim_id FROM said s WHERE s.memory_id <> m.id)))) "
    "ORDER BY said_at, m.n"
)
_WHY = {
    Status.SUPERSEDED.value: EARLIER,
    Status.QUARANTINED.value: AT_ODDS,
    Status.DISPUTED.value: AT_ODDS,
    Status.CONSOLIDATED.value: ALIKE,
    Status.ARCHIVED.value: REJECTED,
}


def find_contested(rows: Rows, ids: Sequence[str]) -> list[str]:
    """Which of the memories that come back have to pass the gate.

    Args:
        rows: the transaction; the memories still stand as they did before.

    Returns:
        Some of them, of a split text the head; what was said first before what was said later.
    """
    found = rows.all(_CONTESTED, {"ids": to_json(list(ids)), "kinds": _KINDS})
    return list(dict.fromkeys(str(row[0]) for row in found))


def readmit_memories(transitions: Transitions, admit: Admit, memory_ids: Sequence[str]) -> Counter[str]:
    """Let memories through the gate, one after the other.

    Args:
        memory_ids: from `find_contested`; they wait as `quarantined`.

    Returns:
        For those that do not stand after it: sentence to count of rows.
    """
    for memory_id in memory_ids:
        if transitions.tx.value("SELECT status FROM memories WHERE id = ?", (memory_id,)) == Status.QUARANTINED.value:
            admit(transitions, memory_id)
    why: Counter[str] = Counter()
    for memory_id in memory_ids:
        status, reason = transitions.tx.all("SELECT status, status_reason FROM memories WHERE id = ?", (memory_id,))[0]
        if status != Status.ACTIVE.value:
            why[UNITED if reason == MERGED else _WHY[status]] += len(transitions.list_parts(memory_id))
    return why


VERB = "revise"
EDITED = "edited"
_EXAMPLES = 20
_REASONS = {Status.ACTIVE: None, Status.ARCHIVED: "archived", Status.DELETED: "forgotten"}
# Other versions of memories, all that was made of them, of what was made of that, and so on.
_DERIVED = (
    "WITH RECURSIVE made(id) AS (SELECT v.id FROM json_each(:ids) w JOIN memories m ON m.id = w.value "  # noqa: S608 - constants only
    "JOIN memories v ON v.chain_id = m.chain_id "
    "UNION SELECT d.derived_id FROM derivations d JOIN made ON made.id = d.source_id) "
    "SELECT m.id FROM made JOIN memories m ON m.id = made.id "
    f"WHERE (m.security_tier IN (SELECT value FROM json_each(:lower)) OR (m.security_tier = :tier "
    f"AND {tier_by_sql()} = '{BY_RULES}')) ORDER BY m.n"
)
_EXTRA = "SELECT extra, id FROM memories WHERE id IN (SELECT value FROM json_each(?)) ORDER BY n"
_CARRY_RECALLS = (
    "INSERT INTO accesses (memory_id, session, count, last_at) "
    "SELECT :new, session, count, last_at FROM accesses WHERE memory_id = :old"
)
_SIDE_TABLES = ("episodes", "rules", "procedures")
_TERM_COLUMNS = frozenset({"tags", "occurred_at", "occurred_prec", "occurred_offset"})
_TAGGED = frozenset({"kind", "category"})
_FIELD_WORDS = {"occurred": "time", "tier": "sensitivity"}


@dataclass(frozen=True, slots=True)
class Reviser:
    """Changes memories.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space of the vectors handed in.
        admit: lets what comes back through the gate.
        read: reads the claims of a new text (`core.intake.store.store.StoreService.read_anew`).
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace
    admit: Admit
    read: Admit

    def revise_memories(
        self,
        tx: Tx,
        ids: Sequence[str],
        revision: Revision,
        vector: NDArray[np.float32] | None,
        actor: Actor,
        stored: Stored,
    ) -> RevisionReport:
        """Change memories in one transaction.

        Args:
            ids: the memories; a part of a split text stands for all of it.
            vector: of the new text, where there is one, (dims,).
            stored: told sequence, label and vector of a new version, for the index.

        Returns:
            What was done, and what could not be done and why.

        Raises:
            UserError: INVALID_INPUT or TEXT_TOO_LARGE for a change that makes no sense.
        """
        check_revision(ids, revision)
        made = plan_revision(tx, ids, revision)
        label = label_revision_step(revision, len(made.changes))
        if not made.changes:
            return RevisionReport(None, label, (), 0, dict(made.refused))
        with self.work.verb(tx, VERB, label, actor) as verb:
            waits: list[str] = []
            if revision.status is Status.ACTIVE:
                waits = find_contested(tx, [change.row.id for change in made.changes if "status" in change.sets])
            now = self._write_changes(tx, made, revision, vector, actor, stored, waits)
            kept = readmit_memories(Transitions(tx, verb, self.make_id, self.space, stored), self.admit, waits)
            if revision.status is Status.ACTIVE:
                record_hold(tx, now)  # or the next run would archive again what the person brought back
            if revision.text is not None:
                self.read(Transitions(tx, verb, self.make_id, self.space, stored, by="owner"), now[0])
                if revision.permanence is not None:  # what the person says goes before what is read
                    tx.update("memories", {"id": now[0]}, {"permanence": revision.permanence})
            made.refused.update(kept)
            self._note_audit(verb, made, revision, now)
        return RevisionReport(verb.step_id, label, tuple(now), len(now) - kept.total(), dict(made.refused))

    def _write_changes(
        self,
        tx: Tx,
        made: RevisionPlan,
        revision: Revision,
        vector: NDArray[np.float32] | None,
        actor: Actor,
        stored: Stored,
        waits: Sequence[str],
    ) -> list[str]:
        """Write the changes; what has to pass the gate is held back, so that it is judged as a candidate.

        Returns:
            The memories as they are called now.
        """
        within = None if revision.space is None else ensure_space(tx, revision.space, self.make_id())
        now: list[str] = []
        alike: dict[tuple[tuple[str, object], ...], list[str]] = {}
        for change in made.changes:
            sets = _revise_times(tx, change.sets)
            if within is not None and "space_id" in sets:
                sets["space_id"] = within
            if sets.pop("content_hash", None) is not None:
                now.append(self._new_version(tx, change, sets, revision.text, vector, actor, stored))
            else:
                alike.setdefault(tuple(sorted(sets.items())), []).append(change.row.id)
                now.append(change.row.id)
        back = _ids_with_parts(tx, waits)
        stale_terms: list[str] = []  # those whose terms and trust have to be made anew
        for items, ids in alike.items():
            held_ids = [memory_id for memory_id in ids if memory_id in back]
            if any(name == "space_id" for name, _ in items):
                remove_mentions(tx, ids)
                remove_inferred(tx, ids)
                if revision.space != GLOBAL_SPACE:  # which all spaces see
                    leave_statements(tx, self.make_id, ids)
            tx.update_many("memories", "id", [memory_id for memory_id in ids if memory_id not in back], dict(items))
            tx.update_many("memories", "id", held_ids, {**dict(items), "status": Status.QUARANTINED.value})
            stale_terms += ids if _TERM_COLUMNS.intersection(name for name, _ in items) else ()
            self._update_derived(tx, ids, dict(items))
        refresh_terms(tx, stale_terms)
        if revision.occurred is not None:
            for memory_id in stale_terms:
                refresh_trust(tx, memory_id)
        told = release_digests(tx, self.make_id, now, Status.DELETED) if revision.status is Status.DELETED else ()
        if revision.status in (Status.ARCHIVED, Status.DELETED):
            close_moot(tx, [*now, *told])
        return now

    def _update_derived(self, tx: Tx, ids: Sequence[str], changed: Mapping[str, object]) -> None:
        """What hangs on the columns that changed."""
        if "security_tier" in changed:
            _note_persons_tier(tx, ids)
            _protect_derived(tx, ids, SecurityTier(str(changed["security_tier"])))
        if "space_id" in changed:
            _leave_rooms(tx, ids)
        if _TAGGED.intersection(changed):
            rewrite_tags(tx, ids)
        if "status" in changed:
            sync_claims(tx, self.make_id, ids)
            sync_statements(tx, self.make_id, ids)

    def _new_version(
        self,
        tx: Tx,
        change: MemoryChange,
        sets: dict[str, object],
        text: str | None,
        vector: NDArray[np.float32] | None,
        actor: Actor,
        stored: Stored,
    ) -> str:
        old = tx.row("memories", {"id": change.row.id})
        if old is None or text is None:
            raise BugError("revising a text")
        lineage = Lineage.of_actor(actor, None)
        new_id, label = self.make_id(), reserve_labels(tx, 1)
        marks = to_json(list(screen_text(text, stranger=not actor.is_owner).flags))
        own = {
            "n": label,
            "id": new_id,
            "text": text,
            "content_hash": change.sets["content_hash"],
            "flags": marks,
        }
        version = {**_next_version(old | sets, actor, lineage, tx.now_ms), **own}
        tier = {} if "security_tier" in sets else inherited_tier(tx, old, version)
        tx.insert("memories", {**version, **tier})
        tx.update(
            "memories",
            {"id": change.row.id},
            {
                "status": Status.SUPERSEDED.value,
                "status_reason": EDITED,
                "retired_at": tx.now_ms,
                "superseded_by_id": new_id,
            },
        )
        add_source(tx, new_id, lineage, Source.USER_EXPLICIT)
        vectors = None if vector is None else vector.reshape(1, -1)
        write_new_vectors(tx, [label], vectors, self.space, stored)
        if "security_tier" in sets:
            self._update_derived(tx, [new_id], {"security_tier": sets["security_tier"]})
        carry_over(tx, self.make_id, change.row.id, new_id, moved="space_id" in sets)
        refresh_terms(tx, [new_id])  # with what hangs on its kind, which is there only now
        sync_claims(tx, self.make_id, [change.row.id])
        return new_id

    @staticmethod
    def _note_audit(verb: Verb, made: RevisionPlan, revision: Revision, now: Sequence[str]) -> None:
        verb.note_audit(
            now[0] if len(now) == 1 else "",
            memories=len(now),
            unchanged=made.unchanged,
            refused=sum(made.refused.values()),
            fields=changed_fields(revision),
        )


def carry_over(
    tx: Tx,
    make_id: Callable[[], str],
    old_id: str,
    new_id: str,
    *,
    moved: bool = False,
    tables: Sequence[str] = _SIDE_TABLES,
) -> None:
    """Carry over what hangs on a memory and not on its words: the place, its relations, its kind's own record.

    Args:
        new_id: its next version.
        moved: whether that one is in another space.
        tables: those of the kind's own record that go along.
    """
    carry_place(tx, old_id, new_id, is_moved=moved)
    for table in tables:
        side = tx.row(table, {"memory_id": old_id})
        if side is not None:
            tx.insert(table, {**side, "memory_id": new_id})
    tx.run(_CARRY_RECALLS, {"old": old_id, "new": new_id})
    for (edge_id,) in tx.all("SELECT id FROM edges WHERE from_id = ? OR to_id = ? ORDER BY id", (old_id, old_id)):
        edge = tx.row("edges", {"id": edge_id}) or {}
        ends = {name: new_id if edge[name] == old_id else edge[name] for name in ("from_id", "to_id")}
        tx.insert("edges", {**edge, **ends, "id": make_id()})


def preview_revision(rows: Rows, ids: Sequence[str], revision: Revision) -> RevisionPreview:
    """What a revision would do; nothing is written.

    Returns:
        Counts, reasons and up to 20 examples.

    Raises:
        UserError: INVALID_INPUT or TEXT_TOO_LARGE for a change that makes no sense.
    """
    check_revision(ids, revision)
    made = plan_revision(rows, ids, revision)
    shown = tuple(describe_revision(change, revision) for change in made.changes[:_EXAMPLES])
    return RevisionPreview(len(made.changes), made.unchanged, dict(made.refused), shown)


def changed_fields(revision: Revision) -> tuple[str, ...]:
    """The names of what a revision changes, in a fixed order.

    Returns:
        Code words, `tags` for both lists of tags.
    """
    names = ("text", "kind", "category", "importance", "space", "pinned", "status", "occurred", "permanence", "tier")
    named = tuple(name for name in names if getattr(revision, name) is not None)
    return (*named, "tags") if revision.add_tags or revision.remove_tags else named


def label_revision_step(revision: Revision, count: int) -> str:
    """The undo step's name.

    Args:
        count: how many memories it changes.

    Returns:
        Such as `Move 12 memories to work`; a space's name is the only word in it that somebody chose.
    """
    what = "a memory" if count == 1 else f"{count:,} memories"
    fields = changed_fields(revision)
    if fields == ("text",):
        return f"Edit {what}"
    if fields == ("space",):
        return f"Move {what} to {revision.space}"
    if fields == ("pinned",):
        return f"{'Pin' if revision.pinned else 'Unpin'} {what}"
    if fields == ("tags",):
        return f"{'Tag' if revision.add_tags else 'Untag'} {what}"
    if fields == ("status",):
        verbs = {Status.ACTIVE: "Bring back", Status.ARCHIVED: "Archive", Status.DELETED: "Forget"}
        return f"{verbs.get(revision.status or Status.ACTIVE, 'Change')} {what}"
    if len(fields) == 1:
        return f"Set the {_FIELD_WORDS.get(fields[0], fields[0])} of {what}"
    return f"Change {what}"


def _ids_with_parts(tx: Tx, memory_ids: Sequence[str]) -> frozenset[str]:
    wanted = to_json(list(memory_ids))
    found = tx.all(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(:heads)) "
        "OR part_of IN (SELECT value FROM json_each(:heads))",
        {"heads": wanted},
    )
    return frozenset(str(row[0]) for row in found)


PROTECT = "protect"
_OPEN_PARTS = (
    "SELECT coalesce(m.part_of, m.id), m.id, m.extra FROM memories m "  # noqa: S608 - constants only
    "WHERE coalesce(m.part_of, m.id) IN (SELECT value FROM json_each(?)) AND m.security_tier = 'cleartext' "
    f"AND {tier_by_sql()} IS NULL ORDER BY m.n"
)


def protect_found(tx: Tx, work: UnitOfWork, tiers: Mapping[str, SecurityTier]) -> tuple[int, str | None]:
    """Raise memories to the tier that rules ask for, as if they were stored now; one undo step.

    Args:
        tiers: id to tier; of a split text the first part. Of whose tier somebody said something meanwhile is left out.

    Returns:
        How many were raised, and the undo step; None where none was.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    raised = set[str]()
    for whole, memory_id, extra in tx.all(_OPEN_PARTS, (to_json(list(tiers)),)):
        columns = tier_columns({"extra": extra}, tiers[whole], BY_RULES)
        alike.setdefault((str(columns["security_tier"]), str(columns["extra"])), []).append(str(memory_id))
        raised.add(whole)
    if not alike:
        return 0, None
    count = len(raised)
    label = "Protect a memory" if count == 1 else f"Protect {count:,} memories"
    with work.verb(tx, PROTECT, label, OWNER_ACTOR) as verb:
        for (tier, extra), ids in alike.items():
            tx.update_many("memories", "id", ids, {"security_tier": tier, "extra": extra})
        verb.note_audit(memories=count)
    return count, verb.step_id


def _note_persons_tier(tx: Tx, ids: Sequence[str]) -> None:
    """Write down that the person chose the tier of memories: no rule changes it any more."""
    alike: dict[str, list[str]] = {}
    for extra, memory_id in tx.all(_EXTRA, (to_json(list(ids)),)):
        alike.setdefault(to_json(with_tier_by(json.loads(extra), BY_PERSON)), []).append(str(memory_id))
    for extra, some in alike.items():
        tx.update_many("memories", "id", some, {"extra": extra})


def _protect_derived(tx: Tx, ids: Sequence[str], tier: SecurityTier) -> None:
    """Protect what hangs on memories that are protected now: older versions, and what was made of any.

    No names are read from them any more. A tier that is lowered lowers nothing else: a digest may rest on others that
    are still protected.
    """
    if tier is SecurityTier.CLEARTEXT:
        return
    tiers = list(SecurityTier)
    lower = to_json([one.value for one in tiers[: tiers.index(tier)]])
    found = tx.all(_DERIVED, {"ids": to_json(list(ids)), "lower": lower, "tier": tier.value})
    derived = [str(row[0]) for row in found]
    tx.update_many("memories", "id", derived, {"security_tier": tier.value})
    _note_persons_tier(tx, derived)
    remove_mentions(tx, [*ids, *derived])
    remove_inferred(tx, [*ids, *derived])


def _leave_rooms(tx: Tx, ids: Sequence[str]) -> None:
    """A room stands in one wing: a memory that moves to another waits there for a place."""
    sql = "SELECT memory_id FROM places WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY memory_id"
    for (memory_id,) in tx.all(sql, (to_json(list(ids)),)):
        free_landmark(tx, memory_id)
        tx.delete("places", {"memory_id": memory_id})


def _revise_times(tx: Tx, sets: Mapping[str, object]) -> dict[str, object]:
    """A new status with its reason, and with when Loci stopped believing it."""
    if "status" not in sets:
        return dict(sets)
    status = Status(str(sets["status"]))
    retired = None if status is Status.ACTIVE else tx.now_ms
    return {**sets, "status_reason": _REASONS[status], "retired_at": retired}


def _next_version(row: Mapping[str, Any], actor: Actor, lineage: Lineage, now_ms: int) -> dict[str, object]:
    """The row of a new version, but for its text: what stood is kept, what the owner's word makes new is new."""
    said = now_ms if actor.is_owner else row["occurred_at"]  # the person's own word counts from now on
    trust = trust_terms(Source.USER_EXPLICIT, age_days=age_days(now_ms, said)).trust
    return {
        **row,
        "status": Status.ACTIVE.value,
        "status_reason": None,
        "source": Source.USER_EXPLICIT.value,
        "client_id": actor.client_id,
        "import_id": None,
        "origin": to_json({"by": actor.kind, "edited": row["id"]}),
        "lineage": lineage.key,
        "flags": "[]",
        "recorded_at": now_ms,
        "retired_at": None,
        "trust": trust,
        "confidence": trust,
        "corroboration": 1,
        "reinforcements": 0,
        "disputes": 0,
        "last_confirmed_at": now_ms,
        "version": int(row["version"]) + 1,
        "supersedes_id": row["id"],
        "superseded_by_id": None,
        # How often it was recalled stays with the memory: a correction shall not let it fade faster than before.
        "strength": 1.0,
    }
