"""An item of the desk as a decision finds it, who may decide it, and what each decision does to memories and claims.

Made of the steps of `core.intake.transitions.transitions` alone. A decision after which both stand tells their claims
apart by a qualifier: the conflict, the dates or the condition (design section 4). Must not do: open or close the item,
or embed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import claim_key, find_persons_words
from core.belief.review.items import (
    HELD,
    ClientRights,
    ItemShape,
    QueueItem,
    available_actions,
    find_standing_side,
    is_applicable,
    read_item,
    refusal_for_client,
    repeatable_actions,
)
from core.errors import BugError, Code, PreconditionError, UserError
from core.intake.candidate import has_other_claims
from core.intake.claims import claims_of, exclusive_rivals, qualify_claim
from core.intake.entities import merge_entities
from core.intake.review.approvals import apply_removal, carry_over, request_of
from core.intake.transaction.admission import is_ordered, is_plain_label
from core.intake.transaction.sources import Lineage, add_source, refresh_trust
from core.intake.transitions.review_items import ItemSubject, clear_hold
from core.intake.transitions.transitions import Transitions, record_confirmation
from core.text.times import format_time
from core.types.memory import Wish
from core.types.replies import ClientRecord
from core.types.reviews import Decision
from core.types.values import Action, Precision, Source, Status, When
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """One open item with the rows it concerns.

    Attributes:
        item: as it was read in this transaction.
        came: the newcomer's row of `memories`.
        have: the row of what stands; None where nothing does.
        persons: ids of those of the two that the person said or vouched for.
    """

    item: QueueItem
    came: Row
    have: Row | None
    persons: frozenset[str] = frozenset()

    @property
    def actions(self) -> tuple[Action, ...]:
        """What can be decided."""
        both = [row for row in (self.came, self.have) if row is not None]
        same = self.have is not None and all(
            self.have[name] == self.came[name] for name in ("content_hash", "space_id", "kind", "scope_session")
        )
        shape = ItemShape(
            paired=self.have is not None,
            split=any(row["part_of"] is not None for row in both),
            same_text=same,
            same_kind=self.have is None or self.have["kind"] == self.came["kind"],
        )
        return available_actions(self.item.kind, shape)

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories concerned, the newcomer first."""
        return (str(self.came["id"]), *([] if self.have is None else [str(self.have["id"])]))

    @property
    def is_held(self) -> bool:
        """Whether the person held one of the two back."""
        return any(row["status_reason"] == HELD for row in (self.came, self.have) if row is not None)

    @property
    def is_owners(self) -> bool:
        """Whether what stands is what the person said."""
        return self.have is not None and self.have["id"] in self.persons

    @property
    def brings_owners(self) -> bool:
        """Whether the newcomer is what the person said."""
        return self.came["id"] in self.persons


def load_case(tx: Tx, item_id: str) -> ReviewCase:
    """Read an item that shall be decided.

    Raises:
        UserError: NOT_FOUND where there is none, INVALID_INPUT where it is closed or no longer a question.
    """
    item = read_item(tx, item_id)
    if item is None:
        raise UserError(Code.NOT_FOUND, "There is no such conflict.")
    if item.state != "open":
        raise PreconditionError("That was decided already; undo the decision to decide anew.")
    if not is_applicable(tx, item_id):
        raise PreconditionError("That is settled: one of the two memories no longer stands.")
    came = tx.row("memories", {"id": item.incoming_id})
    against = find_standing_side(tx, item.existing_id, item.incoming_id)
    have = None if against is None else tx.row("memories", {"id": against})
    if came is None:
        raise UserError(Code.NOT_FOUND, "There is no such conflict.")
    return ReviewCase(
        item, came, have, find_persons_words(tx, [item.incoming_id, *([] if against is None else [against])])
    )


def check_decision(case: ReviewCase, decision: Decision, client: ClientRecord | None) -> None:
    """Refuse a decision that does not fit the item, or that is not this client's to make.

    Args:
        client: who decides; None for the person.

    Raises:
        UserError: INVALID_INPUT for what does not fit, ACCESS_DENIED for what only the person decides.
    """
    if decision.action not in case.actions:
        raise UserError(
            Code.INVALID_INPUT,
            f"This item takes one of: {', '.join(action.value for action in case.actions)}.",
        )
    if decision.remember:
        _check_rule(case, decision, client)
    if client is not None:
        _check_client(case, decision.action, client)


def _check_rule(case: ReviewCase, decision: Decision, client: ClientRecord | None) -> None:
    if client is not None:
        raise UserError(Code.ACCESS_DENIED, "Only the person makes a rule of a decision.")
    owners = case.is_owners or case.brings_owners
    if owners:
        raise PreconditionError("No rule decides about what you said yourself; decide it each time.")
    if decision.action not in repeatable_actions(case.item.kind, case.actions, said_by_owner=owners, held=case.is_held):
        raise PreconditionError("This decision depends on the two memories and cannot be made a rule.")


def _check_client(case: ReviewCase, action: Action, client: ClientRecord) -> None:
    """Nothing but the owner's word supersedes, merges into or disputes what the owner said (design section 4)."""
    rights = ClientRights(
        against_person=case.is_owners,
        persons=case.brings_owners,
        own=case.came["client_id"] == client.id,
        weaker=case.have is not None and float(case.came["trust"]) < float(case.have["trust"]),
        held=case.is_held,
    )
    why = refusal_for_client(case.item.kind, action, rights)
    if why is not None:
        raise UserError(Code.ACCESS_DENIED, why)


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
    """

    transitions: Transitions
    case: ReviewCase
    decision: Decision
    vector: NDArray[np.float32] | None
    admit: Callable[[Transitions, str], object]
    read: Callable[[Transitions, str], object]

    @property
    def came(self) -> str:
        """The candidate's id."""
        return str(self.case.came["id"])

    @property
    def have(self) -> str:
        """The id of what stands."""
        return str(self.pair["id"])

    @property
    def pair(self) -> Row:
        """The row of what stands."""
        if self.case.have is None:
            raise BugError("a decision on two memories")
        return self.case.have


def apply_decision(work: ResolutionContext) -> None:
    """Carry the decision out.

    Raises:
        UserError: INVALID_INPUT for dates, a text or a condition that cannot hold.
    """
    kind, action = work.case.item.kind, work.decision.action
    special = _SPECIAL.get((kind, action))
    if special is not None:
        special(work)
    elif work.case.have is None:
        _ALONE[action](work)
    else:
        _PAIRED[action](work)


def _supersede(work: ResolutionContext) -> None:
    tx, over = work.transitions.tx, _find_contradicted_claims(work)
    if not over or not has_other_claims(tx, work.have, over):
        _replace(work)
        return
    # It says more, in other sentences, than what is over: it goes on standing for them.
    _refuse_twin(work)
    work.transitions.replace_claims(over, work.came, work.decision.begin)
    work.transitions.contradict(work.came, work.have)
    work.transitions.activate(work.came)
    _open_remaining_conflicts(work)


def _replace(work: ResolutionContext) -> None:
    """The candidate takes the place of the whole text."""
    _refuse_twin(work, but=(work.have,))
    work.transitions.supersede(work.have, work.came, work.decision.begin)
    work.transitions.activate(work.came)
    _open_remaining_conflicts(work)


def _reject(work: ResolutionContext) -> None:
    work.transitions.archive(work.came, REJECTED)


def _keep_mine(work: ResolutionContext) -> None:
    """What stands was looked at and kept: the person vouches for it, so that nothing else replaces it unasked."""
    _reject(work)
    if work.pair["status"] == Status.ACTIVE.value:
        _vouch(work, work.have)


def _vouch(work: ResolutionContext, memory_id: str) -> None:
    if work.transitions.by == "owner":
        record_confirmation(work.transitions.tx, work.transitions.parts(memory_id), work.transitions.tx.now_ms)


def _keep_both(work: ResolutionContext) -> None:
    item = work.case.item.id
    _qualify_both(work, {"kept": item, "side": "first"}, {"kept": item, "side": "second"})
    _keep_both_active(work)


def _keep_both_dated(work: ResolutionContext) -> None:
    begin, end = _dates(work)
    have, came = work.pair, work.case.came
    earlier = end is not None and _valid_from(have) is not None and end.ms <= (_valid_from(have) or 0)
    if earlier and end is not None:
        _window(work, have, {"from": end}, (end, None))
        _window(work, came, {"from": begin, "until": end}, (begin, end))
    else:
        _window(work, have, {"until": begin}, (None, begin))
        _window(work, came, {"from": begin, "until": end}, (begin, end))
    _keep_both_active(work)


def _scope_split(work: ResolutionContext) -> None:
    condition = (work.decision.when or "").strip()
    if not condition or len(condition) > _CONDITION_CHARACTERS or not is_plain_label(condition):
        raise UserError(Code.INVALID_INPUT, "Say in a few words under which condition the newcomer is true.")
    _qualify_both(work, {"unless": condition}, {"when": condition})
    _write_condition(work, work.pair, "true_unless", condition)
    _write_condition(work, work.case.came, "true_when", condition)
    _keep_both_active(work)


def _dispute_both(work: ResolutionContext) -> None:
    _refuse_twin(work, but=(work.have,))
    work.transitions.dispute(work.have, DISPUTED)
    work.transitions.dispute(work.came, DISPUTED)
    work.transitions.contradict(work.came, work.have)


def _merge(work: ResolutionContext) -> None:
    text = work.decision.text
    if text is None or work.vector is None:
        raise BugError("a merge without its text")
    work.transitions.merge_into(work.have, text, work.vector, work.came)
    if work.transitions.by == "owner":
        # The text that stands from here on is the person's own.
        add_source(work.transitions.tx, work.have, Lineage("owner"), Source.USER_EXPLICIT)
    if work.pair["status"] != Status.ACTIVE.value:
        work.transitions.activate(work.have)
    else:
        _vouch(work, work.have)
    work.read(work.transitions, work.have)


def _accept(work: ResolutionContext) -> None:
    _refuse_twin(work)
    if work.case.item.kind == "injection":
        clear_hold(work.transitions.tx, work.came)  # the person has read it
    work.admit(work.transitions, work.came)


def _retire(work: ResolutionContext) -> None:
    work.transitions.archive(work.came, OUTDATED)


def _remove(work: ResolutionContext) -> None:
    work.transitions.archive(work.came if work.case.have is None else work.have, REMOVED)


def _refuse(work: ResolutionContext) -> None:
    """A change that is refused: a text that waited for it is turned down, what stands stays."""
    waits = work.case.came["status"] == Status.QUARANTINED.value
    if waits and request_of(work.transitions.tx, work.case.item.id) in (None, Wish.UPDATE):
        _reject(work)


def _allow(work: ResolutionContext) -> None:
    wish = request_of(work.transitions.tx, work.case.item.id)
    if wish in (Wish.DELETE, Wish.FORGET):
        apply_removal(work.transitions, work.came)
    elif work.case.have is not None:
        _replace(work)
        if wish is Wish.UPDATE:
            carry_over(work.transitions, work.have, work.came)
    elif work.case.came["status"] == Status.QUARANTINED.value:
        _accept(work)
    else:
        _remove(work)


def _confirm(work: ResolutionContext) -> None:
    work.transitions.tx.update("memories", {"id": work.came}, {"last_confirmed_at": work.transitions.tx.now_ms})
    if work.case.came["status"] != Status.ACTIVE.value:
        work.transitions.activate(work.came)
    else:
        _vouch(work, work.came)
        work.transitions.assert_claims(work.came)
    refresh_trust(work.transitions.tx, work.came)


def _merge_entities(work: ResolutionContext) -> None:
    """Two names become one entity: the second is merged into the first; taken back, they are two again."""
    keep, merged = _entities(work)
    work.transitions.verb.note("", **merge_entities(work.transitions.tx, keep, merged))


def _entities(work: ResolutionContext) -> tuple[str, str]:
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
    Action.SUPERSEDE: _supersede,
    Action.REJECT: _keep_mine,
    Action.KEEP_BOTH: _keep_both,
    Action.KEEP_BOTH_DATED: _keep_both_dated,
    Action.MERGE: _merge,
    Action.SCOPE_SPLIT: _scope_split,
    Action.DISPUTE_BOTH: _dispute_both,
}
_ALONE: Mapping[Action, Callable[[ResolutionContext], None]] = {Action.SUPERSEDE: _accept, Action.REJECT: _reject}
_SPECIAL: Mapping[tuple[str, Action], Callable[[ResolutionContext], None]] = {
    ("injection", Action.REJECT): _reject,  # not taken in, whatever stands beside it
    ("stale", Action.SUPERSEDE): _confirm,
    ("stale", Action.REJECT): _retire,
    ("gap", Action.REJECT): _do_nothing,
    ("entity_merge", Action.SUPERSEDE): _merge_entities,
    ("entity_merge", Action.REJECT): _do_nothing,
    ("approval", Action.SUPERSEDE): _allow,
    ("approval", Action.REJECT): _refuse,
}


def _keep_both_active(work: ResolutionContext) -> None:
    _refuse_twin(work, but=(work.have,))
    for row in (work.pair, work.case.came):
        if row["status"] != Status.ACTIVE.value:
            work.transitions.activate(str(row["id"]))
    work.transitions.assert_claims(work.have)
    work.transitions.assert_claims(work.came)
    work.transitions.coexist(work.came, work.have)
    _open_remaining_conflicts(work)


def _refuse_twin(work: ResolutionContext, but: tuple[str, ...] = ()) -> None:
    """Two facts of the same words cannot stand: refuse in words what the schema would refuse."""
    row = work.case.came
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


def conflicting_claims(rows: Rows, have_id: str, came_id: str) -> list[tuple[str, str]]:
    """Claims of two memories that contradict each other.

    Args:
        have_id: the memory that stands.
        came_id: the candidate.

    Returns:
        Ids of the claims, the standing one first.
    """
    return [(str(a), str(b)) for a, b in rows.all(_ODDS, {"have": have_id, "came": came_id})]


def _find_contradicted_claims(work: ResolutionContext) -> list[str]:
    """Claims of what stands that cannot be true beside the candidate's."""
    tx, found = work.transitions.tx, []
    for have_id, came_id in conflicting_claims(tx, work.have, work.came):
        have, came = tx.row("claims", {"id": have_id}), tx.row("claims", {"id": came_id})
        if have is not None and came is not None and _exclude(have, came):
            found.append(have_id)
    return list(dict.fromkeys(found))


def _exclude(a: Row, b: Row) -> bool:
    if a["polarity"] != b["polarity"]:
        return bool(a["value_key"] == b["value_key"])
    return bool(a["polarity"] == "positive" and a["exclusive"] and b["exclusive"])


def _open_remaining_conflicts(work: ResolutionContext) -> None:
    """What the candidate says against a third memory was not decided here: it is a question of its own."""
    tx = work.transitions.tx
    for claim_id in claims_of(tx, work.transitions.parts(work.came)):
        claim = tx.row("claims", {"id": claim_id})
        for other in [] if claim is None or claim["state"] != "draft" else exclusive_rivals(tx, claim):
            against = tx.one(_BACKED_BY, {"claim": other, "came": work.came, "have": work.have})
            if against is not None and claim is not None:
                work.transitions.open_conflict(
                    ItemSubject(
                        "contradiction",
                        work.came,
                        str(against[0]),
                        reason="claims_at_odds",
                        detail={"claims": [other]},
                        keys=(bytes(against[1]), bytes(claim["claim_key"])),
                    )
                )


def _qualify_both(work: ResolutionContext, old: Mapping[str, object], new: Mapping[str, object]) -> None:
    pairs = conflicting_claims(work.transitions.tx, work.have, work.came)
    for claim_id in dict.fromkeys(first for first, _ in pairs):
        _add_qualifiers(work.transitions, claim_id, old)
    for claim_id in dict.fromkeys(second for _, second in pairs):
        _add_qualifiers(work.transitions, claim_id, new)


def _add_qualifiers(transitions: Transitions, claim_id: str, more: Mapping[str, object]) -> None:
    row = transitions.tx.row("claims", {"id": claim_id})
    if row is None:
        return
    qualifiers = {**json.loads(row["qualifiers"]), **more}
    qualify_claim(transitions.tx, claim_id, qualifiers, claim_key_of(row, qualifiers))


def claim_key_of(row: Mapping[str, Any], qualifiers: Mapping[str, object]) -> bytes:
    """The key of a claim with other qualifiers.

    Args:
        row: of `claims`.

    Returns:
        `core.belief.claims.claim_key`.
    """
    said = {name: row[name] for name in ("subject", "predicate", "value", "polarity")}
    return claim_key(row["space_id"], {**said, "qualifiers": dict(qualifiers)}, row["scope_session"])


def _write_condition(work: ResolutionContext, row: Row, name: str, condition: str) -> None:
    """Put a condition on a memory, where whoever reads it sees it."""
    extra = {**json.loads(row["extra"]), name: condition}
    work.transitions.tx.update("memories", {"id": row["id"]}, {"extra": to_json(extra)})


def _dates(work: ResolutionContext) -> tuple[When, When | None]:
    came = work.case.came
    begin, end = work.decision.begin, work.decision.end
    if begin is None:
        at = came["valid_from"] if came["valid_from"] is not None else came["occurred_at"]
        begin = None if at is None else When(int(at), Precision.DAY)
    if begin is None:
        raise UserError(Code.INVALID_INPUT, "Say from when the newcomer holds.")
    if not is_ordered(begin, end):
        raise UserError(Code.INVALID_INPUT, "The end must not lie before the beginning.")
    return begin, end


def _valid_from(row: Row) -> int | None:
    found = row["valid_from"] if row["valid_from"] is not None else row["occurred_at"]
    return None if found is None else int(found)


def _window(
    work: ResolutionContext, row: Row, dates: Mapping[str, When | None], window: tuple[When | None, When | None]
) -> None:
    """When a memory and its claims at odds hold; the dates stand in the claims' qualifiers too."""
    begin, end = window
    times = {**_time("valid_from", begin), **_time("valid_to", end)}
    place = 0 if str(row["id"]) == work.have else 1
    dated = list(dict.fromkeys(pair[place] for pair in conflicting_claims(work.transitions.tx, work.have, work.came)))
    if not dated or not has_other_claims(work.transitions.tx, str(row["id"]), dated, waiting=place == 1):
        _check_window(row, times)
        for part in work.transitions.parts(str(row["id"])):
            work.transitions.tx.update("memories", {"id": part}, times)
    more = {name: format_time(when) for name, when in dates.items() if when is not None}
    for claim_id in dated:
        claim = work.transitions.tx.row("claims", {"id": claim_id})
        if claim is not None:
            _check_window(claim, times)
            _add_qualifiers(work.transitions, claim_id, more)
            work.transitions.tx.update("claims", {"id": claim_id}, times)


def _time(name: str, when: When | None) -> dict[str, object]:
    return {} if when is None else {name: when.ms, f"{name}_prec": when.precision.value}


def _check_window(row: Row, times: Mapping[str, object]) -> None:
    begin, end = times.get("valid_from", row["valid_from"]), times.get("valid_to", row["valid_to"])
    if isinstance(begin, int) and isinstance(end, int) and begin > end:
        raise PreconditionError("With these dates one of the two would end before it begins.")
