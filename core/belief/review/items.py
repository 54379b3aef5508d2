"""Review items as rows: which are still a question, which decisions they take, which of two memories speaks.

An item is *applicable* when the memories it names still stand so that every decision on it could be carried out. The
same condition chooses what is shown, what the badge counts and what is closed automatically; one table of actions
serves what is shown and what is carried out. Until the person has answered, the later of two memories speaks where a
person would most likely say so (`MAY_REPLACE`, `MAY_SPEAK`: SQL on an item `k`). Must not do: change a row, carry a
decision out, or read more text than the rows that are shown need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from core.belief.claims import IN_PASSING, OWNERS_WORD, PERSONS
from core.types.values import Action
from core.vault.database.rows import Rows

_ALL = tuple(Action)
_YES_NO = (Action.SUPERSEDE, Action.REJECT, Action.SKIP)
PAIRED: Mapping[str, tuple[Action, ...]] = MappingProxyType(
    {
        "contradiction": _ALL,
        "classification": _ALL,
        "quarantine": _ALL,
        "proposal": _ALL,
        "approval": _YES_NO,
        "injection": (Action.SUPERSEDE, Action.REJECT, Action.KEEP_BOTH, Action.MERGE, Action.SKIP),
        "stale": _YES_NO,
        "gap": (Action.REJECT, Action.SKIP),
        "entity_merge": _YES_NO,
    }
)
"""Decisions on two memories, by the kind of the item."""
ALONE: Mapping[str, tuple[Action, ...]] = MappingProxyType(
    {
        "quarantine": _YES_NO,
        "injection": _YES_NO,
        "proposal": _YES_NO,
        "approval": _YES_NO,
        "stale": _YES_NO,
        "gap": (Action.REJECT, Action.SKIP),
        "entity_merge": _YES_NO,
        "contradiction": _YES_NO,
        "classification": _YES_NO,
    }
)
"""Decisions on one memory, by the kind of the item: SUPERSEDE accepts it, REJECT turns it down."""
REPEATABLE = (Action.SUPERSEDE, Action.REJECT, Action.KEEP_BOTH)
"""Decisions that need nothing but themselves, so that they can be made a rule."""
PERSON_ONLY = frozenset({"injection", "approval"})
"""Kinds that nobody but the person lets through: no rule, and no client."""
HELD = "held"
"""Reason of the status of what the person held back: nobody but the person lets it in again."""
_CHANGE = "json_extract(k.detail, '$.probabilities.SUPERSEDE')"
MAY_REPLACE = (
    # The plus keeps SQLite from walking through all that is open where two memories are asked about.
    "+k.state = 'open' AND k.kind = 'classification' AND (k.suggestion = 'supersede' "
    f"OR ({_CHANGE} >= 0.4 AND json_extract(k.detail, '$.cosine') >= 0.3))"
)
"""The person is asked whether the later of two memories replaces the other. A doubt that says they rather stand side
by side takes something from an answer only where both speak of one matter, by their nearness."""
_TRUST = "abs(coalesce(json_extract(k.detail, '$.trust[1]'), 1) - coalesce(json_extract(k.detail, '$.trust[0]'), 0))"


def _side_condition(side: str, condition: str) -> str:
    return f"EXISTS (SELECT 1 FROM memories m WHERE m.id = {side}.id AND ({condition}))"  # noqa: S608 - constants


_LATER_IS_OWNERS, _LATER_IS_DELIBERATE = (
    _side_condition("l", f"{OWNERS_WORD} OR {IN_PASSING}"),
    _side_condition("l", OWNERS_WORD),
)
_EARLIER_IS_PERSONS, _EARLIER_IS_OWNERS = _side_condition("r", PERSONS), _side_condition("r", OWNERS_WORD)
MAY_SPEAK = (
    # What the person let fall is the person's word too, where it most likely tells of a change.
    f"CASE WHEN {_LATER_IS_OWNERS} THEN CASE WHEN {_EARLIER_IS_PERSONS} "
    f"THEN ({_LATER_IS_DELIBERATE} OR NOT {_EARLIER_IS_OWNERS} OR {_CHANGE} >= 0.5) "
    # A doubt takes no record away; what the person set out to say does, and a remark ends a mere guess.
    f"ELSE {_CHANGE} >= 0.5 AND ({_LATER_IS_DELIBERATE} OR r.source = 'inference') END "
    # Between equals: what counts for less keeps nothing from an answer, and nobody keeps the person's word from one.
    f"ELSE NOT {_EARLIER_IS_PERSONS} AND {_TRUST} <= 0.1 END"
)
"""Of an item that MAY_REPLACE, the later side `l` and the earlier `r`: whether the later speaks meanwhile."""
# A proposal whose very words stand by now, however they came to stand, and not as what it would take the place of:
# accepting it would be refused. One with a claim of its own says more than its words, words of which something is over
# may be said anew, and split texts are left alone.
_IS_STORED_ALREADY = (
    "EXISTS (SELECT 1 FROM memories t WHERE t.space_id = i.space_id AND t.kind = i.kind "
    "AND t.content_hash = i.content_hash AND t.scope_session = i.scope_session AND t.part_of IS NULL "
    "AND t.status IN ('active', 'disputed') AND t.kind IN ('fact', 'rule', 'procedure') AND t.id <> i.id "
    "AND t.chain_id IS NOT e.chain_id "
    "AND NOT EXISTS (SELECT 1 FROM memories p WHERE p.part_of IN (t.id, i.id)) "
    "AND NOT EXISTS (SELECT 1 FROM evidence v JOIN claims l ON l.id = v.claim_id "
    "WHERE v.memory_id = t.id AND l.state = 'superseded') "
    "AND NOT EXISTS (SELECT 1 FROM evidence v WHERE v.memory_id = i.id AND v.method = 'given'))"
)
# Whoever is held back waits for a person, whatever became of the other side; two that stand are a question only as long
# as both do (`i` the newcomer, `e` what stands).
APPLICABLE = (
    "CASE WHEN c.kind = 'proposal' THEN i.status = 'quarantined' AND "
    f"(i.status_reason IS '{HELD}' OR NOT {_IS_STORED_ALREADY}) "
    "WHEN c.kind IN ('quarantine', 'injection') THEN i.status = 'quarantined' "
    "WHEN c.kind = 'contradiction' "
    "THEN i.status IN ('quarantined', 'disputed') OR (i.status = 'active' AND e.status IN ('active', 'disputed')) "
    "WHEN c.kind = 'classification' THEN i.status = 'quarantined' "
    "OR (i.status IN ('active', 'disputed') AND e.status IN ('active', 'disputed', 'quarantined')) "
    "WHEN c.kind = 'approval' THEN i.status IN ('active', 'disputed', 'quarantined') "
    "AND (c.existing_id IS NULL OR e.status IN ('active', 'disputed')) "
    "ELSE i.status IN ('active', 'disputed') AND (c.existing_id IS NULL OR e.status IN ('active', 'disputed')) END"
)
"""Whether an item (`c`) can be decided, in SQL."""
PAIR = "FROM conflicts c JOIN memories i ON i.id = c.incoming_id LEFT JOIN memories e ON e.id = c.existing_id "
"""An item with its newcomer (`i`) and what stands (`e`)."""
_COUNT = "SELECT count(*) " + PAIR + "WHERE c.state = 'open' AND " + APPLICABLE
_STILL = "SELECT " + APPLICABLE + " " + PAIR + "WHERE c.id = ?"
_ITEM = (
    "SELECT id, kind, existing_id, incoming_id, space_id, reason, suggestion, confidence, state, resolution, note, "
    "fingerprint, opened_at, closed_at, later_until, detail FROM conflicts WHERE "
)
_ONE = _ITEM + "id = ?"
_ALIKE = _ITEM + "(id >= :first AND id < :last) OR substr(id, -:length) = :part LIMIT 50"
_CLOSED = _ITEM + "closed_at IS NOT NULL AND closed_at >= ? ORDER BY closed_at DESC, id DESC LIMIT ?"


@dataclass(frozen=True, slots=True)
class ItemShape:
    """What of the memories decides which actions there are.

    Attributes:
        paired: there are two.
        split: one of them is a part of a text that was split.
        same_text: both have the same words.
        same_kind: both are of one kind.
    """

    paired: bool
    split: bool = False
    same_text: bool = False
    same_kind: bool = True


@dataclass(frozen=True, slots=True)
class ClientRights:
    """What of an item decides what a client may do about it.

    Attributes:
        against_person: what stands is what the person said or vouched for; `persons`: the newcomer is.
        own: the client brought the newcomer itself.
        weaker: the newcomer is trusted less than what stands.
        held: the person held one of the two back.
    """

    against_person: bool
    persons: bool
    own: bool
    weaker: bool
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A row of `conflicts` as the desk reads it.

    Attributes:
        reason: a key of `resources/help/review.json`.
        detail: probabilities, claims at odds; ids, numbers and keys, and who doubts with what words.
        suggestion: a word of `Action`; None where nothing is suggested.
    """

    id: str
    kind: str
    existing_id: str | None
    incoming_id: str
    space_id: str
    reason: str
    suggestion: str | None
    confidence: float | None
    state: str
    resolution: str | None
    note: str | None
    fingerprint: bytes
    opened_at: int
    closed_at: int | None
    later_until: int | None
    detail: Mapping[str, object]


_COLUMNS = tuple(field.name for field in fields(QueueItem))


def available_actions(kind: str, shape: ItemShape) -> tuple[Action, ...]:
    """The decisions that would be carried out.

    Args:
        shape: of what it concerns.

    Returns:
        In the order of `Action`.
    """
    found = (PAIRED if shape.paired else ALONE)[kind]
    refused: set[Action] = set()
    if shape.split or not shape.same_kind:
        refused.add(Action.MERGE)  # a text in parts is not edited as one; a rule and a fact are not one memory
    if shape.same_text:
        # Two facts of the same words cannot both stand.
        refused |= {Action.KEEP_BOTH, Action.KEEP_BOTH_DATED, Action.SCOPE_SPLIT, Action.DISPUTE_BOTH, Action.MERGE}
    return tuple(action for action in Action if action in found and action not in refused)


def repeatable_actions(
    kind: str, actions: tuple[Action, ...], *, is_owners: bool, is_held: bool = False
) -> tuple[Action, ...]:
    """Which decisions may be made a rule.

    Args:
        actions: what can be decided.
        is_owners: one of the two is what the person said: no rule decides about that.
        is_held: the person held one of the two back: a rule may only turn such down.

    Returns:
        Some of the actions.
    """
    if is_owners:
        return ()
    wanted = (Action.REJECT,) if kind in PERSON_ONLY or is_held else REPEATABLE
    return tuple(action for action in actions if action in wanted)


def refusal_for_client(kind: str, action: Action, rights: ClientRights) -> str | None:
    """Why a client that may curate does not decide so.

    Returns:
        One sentence; None where it may.
    """
    always = _owner_only_reason(kind, action, rights)
    if always is not None:
        return always
    if rights.persons or (rights.against_person and action is not Action.REJECT):
        return "Only the person changes what the person said."
    if action is Action.REJECT:
        return None
    if rights.own:
        return "A client does not decide for what it brought itself."
    if rights.weaker and action in (Action.SUPERSEDE, Action.MERGE):
        return "Only the person lets a memory replace one that is trusted more."
    return None


def count_open_items(rows: Rows) -> int:
    """How many items wait for the person; what was put off counts.

    Returns:
        0 or more.
    """
    return int(rows.value(_COUNT))


def is_applicable(rows: Rows, item_id: str) -> bool:
    """Whether an item can be decided as it stands now, whatever its state says.

    Returns:
        False also where there is no such item.
    """
    return bool(rows.value(_STILL, (item_id,)))


def find_current_side(rows: Rows, existing_id: str | None, incoming_id: str) -> str | None:
    """The memory an item is held against, as it stands now: itself, or what stands in its place after an edit.

    Args:
        incoming_id: its newcomer.

    Returns:
        The memory's id; None where nothing of it stands.
    """
    row = (
        None if existing_id is None else rows.one("SELECT status, chain_id FROM memories WHERE id = ?", (existing_id,))
    )
    if row is None or row[0] in ("active", "disputed", "quarantined"):
        return None if row is None else existing_id
    found = rows.value(
        "SELECT id FROM memories WHERE chain_id = ? AND id <> ? AND status IN ('active', 'disputed') "
        "ORDER BY version DESC, n DESC LIMIT 1",
        (row[1], incoming_id),
    )
    return None if found is None else str(found)


def read_item(rows: Rows, item_id: str) -> QueueItem | None:
    """One item, open or closed.

    Returns:
        The item; None where there is none.
    """
    row = rows.one(_ONE, (item_id,))
    return None if row is None else _item_from_row(row)


def find_similar_ids(rows: Rows, part: str) -> tuple[QueueItem, ...]:
    """Items whose ids begin or end so, to find one by what a person types: ids of one day begin alike.

    Args:
        part: the beginning or the end of an id.

    Returns:
        None, one, or more where it is not unique; fifty at most.
    """
    wanted = {"first": part, "last": part + "\x7f", "length": len(part), "part": part}
    return tuple(_item_from_row(row) for row in rows.all(_ALIKE, wanted))


def read_closed_since(rows: Rows, since_ms: int, most: int) -> tuple[QueueItem, ...]:
    """Items that closed from a moment on, the latest first.

    Args:
        since_ms: epoch ms.
        most: items at most.
    """
    return tuple(_item_from_row(row) for row in rows.all(_CLOSED, (since_ms, most)))


def _owner_only_reason(kind: str, action: Action, rights: ClientRights) -> str | None:
    """Why nobody but the person decides so, whatever the client."""
    if action is Action.SKIP:
        return "Only the person puts a question off."
    if kind in PERSON_ONLY:
        return "Only the person decides about that."
    if rights.is_held and action is not Action.REJECT:
        return "Only the person lets in what the person held back."
    return None


def _item_from_row(row: Sequence[Any]) -> QueueItem:
    detail = json.loads(str(row[15]))
    named = dict(zip(_COLUMNS, row, strict=True))
    return QueueItem(**{**named, "detail": detail if isinstance(detail, dict) else {}})
