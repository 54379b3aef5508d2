"""Deciding items of the desk, one or many, as one undo step, and what each decision does to memories and claims.

A decision closes its item, closes what it made pointless, and may become a rule. It is made of the steps of
`core.intake.transitions.transitions` alone; one after which both stand tells their claims apart by a qualifier: the
conflict, the dates or the condition (design section 4). Must not do: embed (the engine hands the vector of a merge in),
or show a text in a label, an error or the audit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.normal_form import claim_key
from core.belief.review.wording import review_strings
from core.errors import BugError, Code, LociError, PreconditionError, UserError
from core.intake.candidate import has_other_claims
from core.intake.claims import claims_of, exclusive_rivals, qualify_claim
from core.intake.entities import merge_entities
from core.intake.review.approvals import apply_removal, carry_over, change_request_of
from core.intake.review.automation import count_decisions, make_rule
from core.intake.review.case import (
    ReviewCase,
    Row,
    check_decision,
    check_decision_texts,
    check_merge,
    kinds_of,
    label_decision_step,
    load_case,
    many_label,
)
from core.intake.transaction.admission import is_plain_label
from core.intake.transaction.claim_checks import is_ordered
from core.intake.transaction.sources import Lineage, add_source, refresh_trust
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.injection_hold import clear_hold
from core.intake.transitions.review_items import ItemSubject, close_conflict
from core.intake.transitions.transitions import Transitions, record_confirmation
from core.memory.write import Stored, VectorSpace
from core.text.times import format_time
from core.types.clients import ClientRecord
from core.types.memory import RequestedChange
from core.types.reviews import Decision, DecisionReply
from core.types.values import Action, Actor, Precision, Source, Status, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

REJECTED, DISPUTED, OUTDATED, REMOVED = "rejected", "disputed_both", "outdated", "removed"
"""Reasons of a status (`memories.status_reason`)."""

_CONDITION_CHARACTERS = 200
# Claims of two memories on one subject and predicate that do not say the same.
_ODDS = """
    SELECT DISTINCT a.id, b.id FROM evidence v JOIN claims a ON a.id = v.claim_id
    JOIN claims b ON b.subject_key = a.subject_key AND b.predicate = a.predicate AND b.id <> a.id
    JOIN evidence w ON w.claim_id = b.id AND w.memory_id = :came AND w.stance = 'supporting'
    WHERE v.memory_id = :have AND v.stance = 'supporting' AND a.space_id = b.space_id
      AND (a.value_key <> b.value_key OR a.polarity <> b.polarity) ORDER BY a.id, b.id
"""
_BACKED_BY = """
    SELECT m.id, c.claim_key FROM claims c JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting'
    JOIN memories m ON m.id = e.memory_id WHERE c.id = :claim AND m.status = 'active'
      AND coalesce(m.part_of, m.id) NOT IN (:came, :have) ORDER BY m.n LIMIT 1
"""
_TWIN = """
    SELECT id FROM memories WHERE content_hash = :hash AND +space_id = :space AND +kind = :kind
      AND scope_session = :session AND coalesce(part_of, '') = coalesce(:part, '')
      AND coalesce(part_index, 0) = coalesce(:nr, 0) AND +status IN ('active', 'disputed')
      AND id NOT IN (SELECT value FROM json_each(:except)) LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class ResolutionContext:
    """One decision on a review item, with everything that carries it out.

    Attributes:
        transitions: the steps, for the running verb.
        case: the item.
        decision: what was decided.
        vector: of a merge's text, (dims,); None for every other decision.
        admit: lets a candidate through the gate, as whoever decides wishes.
        read: reads the claims of a text that was written for a merge.
        settle_held: told first that a held text is let in, or turned down.
    """

    transitions: Transitions
    case: ReviewCase
    decision: Decision
    vector: NDArray[np.float32] | None
    admit: Callable[[Transitions, str], object]
    read: Callable[[Transitions, str], object]
    settle_held: Callable[[ResolutionContext], None]

    @property
    def incoming_id(self) -> str:
        """The candidate's id."""
        return str(self.case.incoming["id"])

    @property
    def existing_id(self) -> str:
        """The id of what stands."""
        return str(self.pair["id"])

    @property
    def pair(self) -> Row:
        """The row of what stands."""
        if self.case.existing is None:
            raise BugError("a decision on two memories")
        return self.case.existing


def apply_decision(work: ResolutionContext) -> None:
    """Carry the decision out.

    Raises:
        UserError: INVALID_INPUT for dates, a text or a condition that cannot hold.
    """
    kind, action = work.case.item.kind, work.decision.action
    special = _SPECIAL.get((kind, action))
    if special is not None:
        special(work)
    elif work.case.existing is None:
        _ALONE[action](work)
    else:
        _PAIRED[action](work)


def _supersede_existing(work: ResolutionContext) -> None:
    tx, over = work.transitions.tx, _find_contradicted_claims(work)
    if not over or not has_other_claims(tx, work.existing_id, over):
        _replace_existing(work)
        return
    # It says more, in other sentences, than what is over: it goes on standing for them.
    _refuse_twin(work)
    work.transitions.replace_claims(over, work.incoming_id, work.decision.begin)
    work.transitions.contradict(work.incoming_id, work.existing_id)
    work.transitions.activate(work.incoming_id)
    _open_remaining_conflicts(work)


def _replace_existing(work: ResolutionContext) -> None:
    """The candidate takes the place of the whole text."""
    _refuse_twin(work, but=(work.existing_id,))
    work.transitions.supersede(work.existing_id, work.incoming_id, work.decision.begin)
    work.transitions.activate(work.incoming_id)
    _open_remaining_conflicts(work)


def _reject_incoming(work: ResolutionContext) -> None:
    work.transitions.archive(work.incoming_id, REJECTED)


def _keep_existing(work: ResolutionContext) -> None:
    """What stands was looked at and kept: the person vouches for it, so that nothing else replaces it unasked."""
    _reject_incoming(work)
    if work.pair["status"] == Status.ACTIVE.value:
        _record_owner_confirmation(work, work.existing_id)


def _record_owner_confirmation(work: ResolutionContext, memory_id: str) -> None:
    if work.transitions.by == "owner":
        record_confirmation(work.transitions.tx, work.transitions.list_parts(memory_id), work.transitions.tx.now_ms)


def _keep_both(work: ResolutionContext) -> None:
    item = work.case.item.id
    _qualify_both(work, {"kept": item, "side": "first"}, {"kept": item, "side": "second"})
    _keep_both_active(work)


def _keep_both_dated(work: ResolutionContext) -> None:
    begin, end = _validity_of_incoming(work)
    existing, incoming = work.pair, work.case.incoming
    earlier = end is not None and _valid_from(existing) is not None and end.ms <= (_valid_from(existing) or 0)
    if earlier and end is not None:
        _set_validity(work, existing, {"from": end}, (end, None))
        _set_validity(work, incoming, {"from": begin, "until": end}, (begin, end))
    else:
        _set_validity(work, existing, {"until": begin}, (None, begin))
        _set_validity(work, incoming, {"from": begin, "until": end}, (begin, end))
    _keep_both_active(work)


def _scope_split(work: ResolutionContext) -> None:
    condition = (work.decision.when or "").strip()
    if not condition or len(condition) > _CONDITION_CHARACTERS or not is_plain_label(condition):
        raise UserError(Code.INVALID_INPUT, "Say in a few words under which condition the newcomer is true.")
    _qualify_both(work, {"unless": condition}, {"when": condition})
    _write_condition(work, work.pair, "true_unless", condition)
    _write_condition(work, work.case.incoming, "true_when", condition)
    _keep_both_active(work)


def _dispute_both(work: ResolutionContext) -> None:
    _refuse_twin(work, but=(work.existing_id,))
    work.transitions.dispute(work.existing_id, DISPUTED)
    work.transitions.dispute(work.incoming_id, DISPUTED)
    work.transitions.contradict(work.incoming_id, work.existing_id)


def _merge_texts(work: ResolutionContext) -> None:
    text = work.decision.text
    if text is None or work.vector is None:
        raise BugError("a merge without its text")
    work.transitions.merge_into(work.existing_id, text, work.vector, work.incoming_id)
    if work.transitions.by == "owner":
        # The text that stands from here on is the person's own.
        add_source(work.transitions.tx, work.existing_id, Lineage("owner"), Source.USER_EXPLICIT)
    if work.pair["status"] != Status.ACTIVE.value:
        work.transitions.activate(work.existing_id)
    else:
        _record_owner_confirmation(work, work.existing_id)
    work.read(work.transitions, work.existing_id)


def _accept_incoming(work: ResolutionContext) -> None:
    _refuse_twin(work)
    work.admit(work.transitions, work.incoming_id)


def _let_in_held(work: ResolutionContext) -> None:
    """The person has read what seems to be an instruction, and lets it stand."""
    clear_hold(work.transitions.tx, work.incoming_id)
    work.settle_held(work)  # first: what it takes the place of is nothing that it could contradict
    _accept_incoming(work)


def _reject_held(work: ResolutionContext) -> None:
    _reject_incoming(work)  # not taken in, whatever stands beside it
    work.settle_held(work)


def _retire_incoming(work: ResolutionContext) -> None:
    work.transitions.archive(work.incoming_id, OUTDATED)


def _remove_memory(work: ResolutionContext) -> None:
    work.transitions.archive(work.incoming_id if work.case.existing is None else work.existing_id, REMOVED)


def _refuse_change(work: ResolutionContext) -> None:
    """A change that is refused: a text that waited for it is turned down, what stands stays."""
    waits = work.case.incoming["status"] == Status.QUARANTINED.value
    if waits and change_request_of(work.transitions.tx, work.case.item.id) in (None, RequestedChange.UPDATE):
        _reject_incoming(work)


def _allow_change(work: ResolutionContext) -> None:
    change = change_request_of(work.transitions.tx, work.case.item.id)
    if change in (RequestedChange.DELETE, RequestedChange.FORGET):
        apply_removal(work.transitions, work.incoming_id)
    elif work.case.existing is not None:
        _replace_existing(work)
        if change is RequestedChange.UPDATE:
            carry_over(work.transitions, work.existing_id, work.incoming_id)
    elif work.case.incoming["status"] == Status.QUARANTINED.value:
        _accept_incoming(work)
    else:
        _remove_memory(work)


def _confirm_incoming(work: ResolutionContext) -> None:
    work.transitions.tx.update("memories", {"id": work.incoming_id}, {"last_confirmed_at": work.transitions.tx.now_ms})
    if work.case.incoming["status"] != Status.ACTIVE.value:
        work.transitions.activate(work.incoming_id)
    else:
        _record_owner_confirmation(work, work.incoming_id)
        work.transitions.assert_claims(work.incoming_id)
    refresh_trust(work.transitions.tx, work.incoming_id)


def _merge_entities(work: ResolutionContext) -> None:
    """Two names become one entity: the second is merged into the first; taken back, they are two again."""
    keep, merged = _pair_of_entities(work)
    work.transitions.verb.note_audit("", **merge_entities(work.transitions.tx, keep, merged))


def _pair_of_entities(work: ResolutionContext) -> tuple[str, str]:
    named = work.case.item.detail.get("entities")
    if not isinstance(named, list) or len(named) != 2 or named[0] == named[1]:
        raise BugError("an item on two names")
    for one in named:
        row = work.transitions.tx.row("entities", {"id": one})
        if row is None or row["merged_into_id"] is not None:
            raise PreconditionError("That is settled: one of the two names is gone.")
    return str(named[0]), str(named[1])


def _do_nothing(_work: ResolutionContext) -> None:
    """Only the item is closed."""


_PAIRED: Mapping[Action, Callable[[ResolutionContext], None]] = {
    Action.SUPERSEDE: _supersede_existing,
    Action.REJECT: _keep_existing,
    Action.KEEP_BOTH: _keep_both,
    Action.KEEP_BOTH_DATED: _keep_both_dated,
    Action.MERGE: _merge_texts,
    Action.SCOPE_SPLIT: _scope_split,
    Action.DISPUTE_BOTH: _dispute_both,
}
_ALONE: Mapping[Action, Callable[[ResolutionContext], None]] = {
    Action.SUPERSEDE: _accept_incoming,
    Action.REJECT: _reject_incoming,
}
_SPECIAL: Mapping[tuple[str, Action], Callable[[ResolutionContext], None]] = {
    ("injection", Action.SUPERSEDE): _let_in_held,
    ("injection", Action.REJECT): _reject_held,
    ("stale", Action.SUPERSEDE): _confirm_incoming,
    ("stale", Action.REJECT): _retire_incoming,
    ("gap", Action.REJECT): _do_nothing,
    ("entity_merge", Action.SUPERSEDE): _merge_entities,
    ("entity_merge", Action.REJECT): _do_nothing,
    ("approval", Action.SUPERSEDE): _allow_change,
    ("approval", Action.REJECT): _refuse_change,
}


def _keep_both_active(work: ResolutionContext) -> None:
    _refuse_twin(work, but=(work.existing_id,))
    for row in (work.pair, work.case.incoming):
        if row["status"] != Status.ACTIVE.value:
            work.transitions.activate(str(row["id"]))
    work.transitions.assert_claims(work.existing_id)
    work.transitions.assert_claims(work.incoming_id)
    work.transitions.coexist(work.incoming_id, work.existing_id)
    _open_remaining_conflicts(work)


def _refuse_twin(work: ResolutionContext, but: tuple[str, ...] = ()) -> None:
    """Two facts of the same words cannot stand: refuse in words what the schema would refuse."""
    row = work.case.incoming
    if row["kind"] not in ("fact", "rule", "procedure"):
        return
    twin = work.transitions.tx.value(
        _TWIN,
        {
            "hash": row["content_hash"],
            "space": row["space_id"],
            "kind": row["kind"],
            "session": row["scope_session"],
            "part": row["part_of"],
            "nr": row["part_index"],
            "except": to_json([str(row["id"]), *but]),
        },
    )
    if twin is not None:
        raise PreconditionError("The same words stand already; turn the newcomer down instead.")


def conflicting_claims(rows: Rows, existing_id: str, incoming_id: str) -> list[tuple[str, str]]:
    """Claims of two memories that contradict each other.

    Args:
        existing_id: the memory that stands.
        incoming_id: the candidate.

    Returns:
        Ids of the claims, the standing one first.
    """
    return [(str(a), str(b)) for a, b in rows.all(_ODDS, {"have": existing_id, "came": incoming_id})]


def _find_contradicted_claims(work: ResolutionContext) -> list[str]:
    """Claims of what stands that cannot be true beside the candidate's."""
    tx, found = work.transitions.tx, []
    for existing_id, incoming_id in conflicting_claims(tx, work.existing_id, work.incoming_id):
        existing, incoming = tx.row("claims", {"id": existing_id}), tx.row("claims", {"id": incoming_id})
        if existing is not None and incoming is not None and _exclude_each_other(existing, incoming):
            found.append(existing_id)
    return list(dict.fromkeys(found))


def _exclude_each_other(a: Row, b: Row) -> bool:
    if a["polarity"] != b["polarity"]:
        return bool(a["value_key"] == b["value_key"])
    return bool(a["polarity"] == "positive" and a["exclusive"] and b["exclusive"])


def _open_remaining_conflicts(work: ResolutionContext) -> None:
    """What the candidate says against a third memory was not decided here: it is a question of its own."""
    tx = work.transitions.tx
    for claim_id in claims_of(tx, work.transitions.list_parts(work.incoming_id)):
        claim = tx.row("claims", {"id": claim_id})
        for other in [] if claim is None or claim["state"] != "draft" else exclusive_rivals(tx, claim):
            against = tx.one(_BACKED_BY, {"claim": other, "came": work.incoming_id, "have": work.existing_id})
            if against is not None and claim is not None:
                work.transitions.open_conflict(
                    ItemSubject(
                        "contradiction",
                        work.incoming_id,
                        str(against[0]),
                        reason="claims_at_odds",
                        detail={"claims": [other]},
                        keys=(bytes(against[1]), bytes(claim["claim_key"])),
                    )
                )


def _qualify_both(work: ResolutionContext, old: Mapping[str, object], new: Mapping[str, object]) -> None:
    pairs = conflicting_claims(work.transitions.tx, work.existing_id, work.incoming_id)
    for claim_id in dict.fromkeys(first for first, _ in pairs):
        _add_qualifiers(work.transitions, claim_id, old)
    for claim_id in dict.fromkeys(second for _, second in pairs):
        _add_qualifiers(work.transitions, claim_id, new)


def _add_qualifiers(transitions: Transitions, claim_id: str, more: Mapping[str, object]) -> None:
    row = transitions.tx.row("claims", {"id": claim_id})
    if row is None:
        return
    qualifiers = {**json.loads(row["qualifiers"]), **more}
    qualify_claim(transitions.tx, claim_id, qualifiers, requalified_claim_key(row, qualifiers))


def requalified_claim_key(row: Mapping[str, Any], qualifiers: Mapping[str, object]) -> bytes:
    """The key of a claim with other qualifiers.

    Args:
        row: of `claims`.

    Returns:
        `core.belief.extract.normal_form.claim_key`.
    """
    statement = {name: row[name] for name in ("subject", "predicate", "value", "polarity")}
    return claim_key(row["space_id"], {**statement, "qualifiers": dict(qualifiers)}, row["scope_session"])


def _write_condition(work: ResolutionContext, row: Row, name: str, condition: str) -> None:
    """Put a condition on a memory, where whoever reads it sees it."""
    extra = {**json.loads(row["extra"]), name: condition}
    work.transitions.tx.update("memories", {"id": row["id"]}, {"extra": to_json(extra)})


def _validity_of_incoming(work: ResolutionContext) -> tuple[When, When | None]:
    incoming = work.case.incoming
    begin, end = work.decision.begin, work.decision.end
    if begin is None:
        at = incoming["valid_from"] if incoming["valid_from"] is not None else incoming["occurred_at"]
        begin = None if at is None else When(int(at), Precision.DAY)
    if begin is None:
        raise UserError(Code.INVALID_INPUT, "Say from when the newcomer holds.")
    if not is_ordered(begin, end):
        raise UserError(Code.INVALID_INPUT, "The end must not lie before the beginning.")
    return begin, end


def _valid_from(row: Row) -> int | None:
    found = row["valid_from"] if row["valid_from"] is not None else row["occurred_at"]
    return None if found is None else int(found)


def _set_validity(
    work: ResolutionContext, row: Row, dates: Mapping[str, When | None], window: tuple[When | None, When | None]
) -> None:
    """When a memory and its claims at odds hold; the dates stand in the claims' qualifiers too."""
    begin, end = window
    times = {**_time_columns("valid_from", begin), **_time_columns("valid_to", end)}
    place = 0 if str(row["id"]) == work.existing_id else 1
    dated = list(
        dict.fromkeys(
            pair[place] for pair in conflicting_claims(work.transitions.tx, work.existing_id, work.incoming_id)
        )
    )
    if not dated or not has_other_claims(work.transitions.tx, str(row["id"]), dated, waiting=place == 1):
        _check_window(row, times)
        for part in work.transitions.list_parts(str(row["id"])):
            work.transitions.tx.update("memories", {"id": part}, times)
    more = {name: format_time(when) for name, when in dates.items() if when is not None}
    for claim_id in dated:
        claim = work.transitions.tx.row("claims", {"id": claim_id})
        if claim is not None:
            _check_window(claim, times)
            _add_qualifiers(work.transitions, claim_id, more)
            work.transitions.tx.update("claims", {"id": claim_id}, times)


def _time_columns(name: str, when: When | None) -> dict[str, object]:
    return {} if when is None else {name: when.ms, f"{name}_prec": when.precision.value}


def _check_window(row: Row, times: Mapping[str, object]) -> None:
    begin, end = times.get("valid_from", row["valid_from"]), times.get("valid_to", row["valid_to"])
    if isinstance(begin, int) and isinstance(end, int) and begin > end:
        raise PreconditionError("With these dates one of the two would end before it begins.")


VERB = "resolve"
SKIPPED_DAYS = 7
"""Days for which a skipped item stands behind the others; our choice."""
BATCH = 200
"""Items decided in one step at most: the cap of the queue."""
_DAY_MS = 86_400_000
_STILL_OPEN = "SELECT id FROM conflicts WHERE id IN (SELECT value FROM json_each(?)) AND state = 'open' ORDER BY id"
RULED, BY_CLIENT = "rule", "decided_client"
"""Notes of an item that the person did not decide: keys of `closed` in resources/help/review.json."""

Admit = Callable[[Transitions, str], object]
"""Lets a candidate that waited through the gate, as the person's wish, within the running verb."""


def activate_memory(transitions: Transitions, memory_id: str) -> None:
    """Let a candidate stand without a look at what else stands; where no gate is wired."""
    transitions.activate(memory_id)


def leave_unread(transitions: Transitions, memory_id: str) -> None:
    """Leave a text unread; where no reader is wired."""
    transitions.assert_claims(memory_id)


def leave_versions(work: ResolutionContext) -> None:
    """Leave the versions of documents alone; where none is kept."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Carries out decisions.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space of the vectors handed in.
        admit: lets a candidate through the gate.
        read: reads the claims of a text that was written at the desk
        (`core.intake.store.store.StoreService.read_anew`).
        settle_held: keeps the versions of documents where a held one was decided (`core.intake.watch.versions`).
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace
    admit: Admit = activate_memory
    read: Admit = leave_unread
    settle_held: Callable[[ResolutionContext], None] = leave_versions

    def resolve_item(
        self,
        tx: Tx,
        item_id: str,
        decision: Decision,
        vector: NDArray[np.float32] | None,
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
    ) -> DecisionReply:
        """Decide one item in one transaction.

        Args:
            item_id: the item; the caller has checked that the actor may see it.
            vector: of a merge's text, (dims,).
            client: the client, if one decides.
            stored: told sequence, labels and vectors of changed rows, for the index.

        Raises:
            UserError: NOT_FOUND, INVALID_INPUT for what does not fit, ACCESS_DENIED for what is not this client's.
        """
        case = load_case(tx, item_id)
        check_decision(case, decision, client)
        if decision.action is Action.SKIP:
            return self._dismiss_note(tx, case, actor) if case.is_note else self.put_off(tx, [item_id], actor)
        check_decision_texts(decision, client)
        check_merge(tx, case, decision)
        label = label_decision_step(case, decision.action)
        with self.work.verb(tx, VERB, label, actor) as verb:
            transitions = self._make_transitions(tx, verb, stored, actor)
            self._decide_case(transitions, case, decision, vector, _note_of(client))
            if decision.remember:
                make_rule(tx, self.make_id(), case, decision.action)
            closed = self._close_moot_items(transitions, [item_id])
            verb.note_audit(
                item_id, action=decision.action.value, memories=len(transitions.touched), closed=len(closed)
            )
        return _make_decision_reply(transitions, label, case.ids, closed)

    def _dismiss_note(self, tx: Tx, case: ReviewCase, actor: Actor) -> DecisionReply:
        """Close a note: the two do not belong together, and are not noted again."""
        label = str(review_strings()["labels_of_steps"]["dismiss"])
        with self.work.verb(tx, VERB, label, actor) as verb:
            close_conflict(tx, case.item.id, "resolved", Action.SKIP.value)
            verb.note_audit(case.item.id, action=Action.SKIP.value)
        return DecisionReply(verb.step_id, label, (case.item.id,))

    def resolve_many(
        self,
        tx: Tx,
        ids: Sequence[str],
        decision: Decision,
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
        *,
        rule: str | None = None,
        step_id: str | None = None,
        label: str = "",
    ) -> DecisionReply:
        """Decide several items alike, as one step; what cannot be decided so is left and listed.

        Args:
            ids: the items, at most `BATCH`.
            decision: what is decided; a merge needs a text of its own for each pair and is refused.
            client: the client, if one decides.
            stored: told sequence, labels and vectors of changed rows, for the index.
            rule: the rule that decides, if one does.
            step_id: a step that this goes on with; None for one of its own.
            label: the step's name; "" for that of the decision.

        Returns:
            What came of it, and why items were refused.

        Raises:
            UserError: INVALID_INPUT for too many items, none, or a merge.
        """
        wanted = list(dict.fromkeys(ids))
        _check_batch(wanted, decision)
        if decision.action is Action.SKIP:
            if client is not None:
                raise UserError(Code.ACCESS_DENIED, "Only the person puts a question off.")
            return self.put_off(tx, wanted, actor)
        batch = _Batch()
        named = label or many_label(decision.action, len(wanted), kinds_of(tx, wanted))
        with self.work.verb(tx, VERB, named, actor, step_id=step_id) as verb:
            transitions = self._make_transitions(tx, verb, stored, actor)
            note = RULED if rule is not None else _note_of(client)
            for item_id in wanted:
                self._try_decision(transitions, batch, item_id, decision, client, note)
            if rule is not None and batch.done:
                count_decisions(tx, rule, len(batch.done))
            closed = self._close_moot_items(transitions, batch.done)
            verb.note_audit("", action=decision.action.value, items=len(batch.done), refused=len(batch.refused))
        return replace(_make_decision_reply(transitions, named, batch.ids, closed), refused=batch.refused)

    def _try_decision(
        self,
        transitions: Transitions,
        batch: _Batch,
        item_id: str,
        decision: Decision,
        client: ClientRecord | None,
        note: str | None,
    ) -> None:
        try:
            case = load_case(transitions.tx, item_id)
            check_decision(case, decision, client)
            with _all_or_nothing(transitions):
                self._decide_case(transitions, case, decision, None, note)
        except UserError as error:
            batch.refused[item_id] = error.sentence
        except LociError as error:
            if error.code in (Code.CANCELLED, Code.BUG, Code.DISK_FULL):
                raise
            batch.refused[item_id] = "Something else stands in the way of it."
        else:
            batch.done.append(item_id)
            batch.ids += case.ids
            if decision.remember and len(batch.done) == 1:
                make_rule(transitions.tx, self.make_id(), case, decision.action)

    def put_off(self, tx: Tx, ids: Sequence[str], actor: Actor) -> DecisionReply:
        """Show items behind the others for a while; no undo step, nothing is decided.

        Returns:
            Which could not be put off, and why.
        """
        refused = {}
        with self.work.verb(tx, VERB, "", actor) as verb:
            tx.recorder = None  # a place in the queue is nothing to take back: an audit row, and no step
            for item_id in ids:
                row = tx.row("conflicts", {"id": item_id})
                if row is None or row["state"] != "open":
                    refused[item_id] = "That was decided already."
                    continue
                tx.update("conflicts", {"id": item_id}, {"later_until": tx.now_ms + SKIPPED_DAYS * _DAY_MS})
            done = len(ids) - len(refused)
            one = ids[0] if len(ids) == 1 else ""
            verb.note_audit(one, action=Action.SKIP.value, items=done, refused=len(refused))
        return DecisionReply(None, "", refused=refused)

    def _make_transitions(self, tx: Tx, verb: Verb, stored: Stored, actor: Actor) -> Transitions:
        return Transitions(tx, verb, self.make_id, self.space, stored, by="owner" if actor.is_owner else "rules")

    def _decide_case(
        self,
        transitions: Transitions,
        case: ReviewCase,
        decision: Decision,
        vector: NDArray[np.float32] | None,
        note: str | None,
    ) -> None:
        # Closed first: what the steps open or close about these memories meets a decided item, not this one.
        transitions.close_conflict(case.item.id, "resolved", decision.action.value, note)
        apply_decision(ResolutionContext(transitions, case, decision, vector, self.admit, self.read, self.settle_held))

    @staticmethod
    def _close_moot_items(transitions: Transitions, decided: Sequence[str]) -> tuple[str, ...]:
        """Other items about these memories: what is no longer a question closes with a note."""
        closed = transitions.close_moot()
        return tuple(item_id for item_id in closed if item_id not in decided)


@contextmanager
def _all_or_nothing(transitions: Transitions) -> Iterator[None]:
    """The steps inside are taken whole or not at all; of steps that were not taken nothing is told."""
    opened, touched, lines = len(transitions.opened), len(transitions.touched), transitions.verb.lines
    try:
        with transitions.tx.attempt():
            yield
    except LociError:
        del transitions.opened[opened:]
        del transitions.touched[touched:]
        transitions.verb.forget_lines(lines)
        raise


def _note_of(client: ClientRecord | None) -> str | None:
    """Who decided, where it was not the person."""
    return None if client is None else BY_CLIENT


@dataclass
class _Batch:
    done: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def _check_batch(ids: Sequence[str], decision: Decision) -> None:
    if not ids or len(ids) > BATCH:
        raise UserError(Code.INVALID_INPUT, f"Choose between 1 and {BATCH} items.")
    if decision.action is Action.MERGE:
        raise UserError(Code.INVALID_INPUT, "A merge needs its own text for each pair; decide them one by one.")


def _make_decision_reply(
    transitions: Transitions, label: str, ids: Iterable[str], closed: tuple[str, ...]
) -> DecisionReply:
    tx, verb = transitions.tx, transitions.verb
    concerned = list(dict.fromkeys((*transitions.touched, *ids)))
    is_active: dict[str, bool] = {}
    for memory_id, status in tx.all(
        "SELECT id, status FROM memories WHERE id IN (SELECT value FROM json_each(?))", (to_json(concerned),)
    ):
        is_active[memory_id] = status == Status.ACTIVE.value
    ordered = [memory_id for memory_id in concerned if memory_id in is_active]
    return DecisionReply(
        step_id=verb.step_id if verb.changes else None,
        label=label,
        active=tuple(memory_id for memory_id in ordered if is_active[memory_id]),
        retired=tuple(memory_id for memory_id in ordered if not is_active[memory_id]),
        closed=closed,
        asked=tuple(row[0] for row in tx.all(_STILL_OPEN, (to_json(transitions.opened),))),
    )
