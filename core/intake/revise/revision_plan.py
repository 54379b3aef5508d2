"""What a change to many memories would do, row by row, and why some of them cannot be changed so.

The preview and the verb itself go by the same plan. Must not do: write anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import Code, UserError
from core.intake.transaction.admission import (
    check_importance,
    check_memory_text,
    check_space_name,
    cut_text,
    is_plain_label,
)
from core.intake.transaction.sources import KINDS_BY_TEXT
from core.intake.transitions.transitions import SOURCE_GONE
from core.memory.read import read_occurred
from core.memory.write import content_hash, find_space_id
from core.score.decay import check_permanence
from core.text.times import format_time
from core.types.values import BY_RULES, GLOBAL_SPACE, Kind, Status
from core.types.views import Revision
from core.vault.database.rows import Rows, to_json
from core.vault.memory_sql import tier_by_sql

_LABEL_CHARACTERS = 1024
_OPENING_CHARACTERS = 300
_STANDING = frozenset({Status.ACTIVE.value, Status.DISPUTED.value})
_BY_TEXT = frozenset(kind.value for kind in KINDS_BY_TEXT)

GONE = "It is no longer there."
OLD_VERSION = "It is an older version; change the one that stands."
NEWER = "A newer version stands in its place; undo the change that made it instead."
FORGOTTEN = "It is forgotten. Restore it first."
ARCHIVED = "It is archived. Restore it first."
WAITING = "It waits for your decision in the review."
UNDECIDED = "It was forgotten before it was decided on; undo that step instead."
DISPUTED = "It is disputed; that is settled in the review."
ABSORBED = "A digest replaces it."
OUTLIVED = "It was made of a memory that was forgotten, replaced or doubted since."
PART = "It is part of a longer text. Parts cannot be edited separately."
TIED = "It has relations or claims that stay in its space."
TWIN = "The same words stand there already."
DIGEST = "A digest is made from other memories and cannot be edited."
EARLIER = "What stands was said later; this came back as an earlier version of it."
AT_ODDS = "It is at odds with what stands; that waits for your decision in the review."
REJECTED = "You decided against the same before; undo that decision instead."
UNITED = "It was united with what stands."
RECORD = "An episode is a record of what was said; its confidence does not fall."
ALIKE = "What stands says the same; this came back beneath it."

_READ = (
    "SELECT m.id, m.n, m.kind, m.status, m.space_id, s.name, m.category, m.importance, m.tags, m.pinned, m.part_of, "  # noqa: S608 - constants only
    "m.part_index, m.occurred_at, m.occurred_prec, m.occurred_offset, m.content_hash, m.scope_session, "
    f"m.superseded_by_id, m.consolidated_into, m.permanence, m.security_tier, {tier_by_sql()}, "
    "substr(m.text, 1, 300) "
    "FROM memories m JOIN spaces s ON s.id = m.space_id"
)
_BY_IDS = f"{_READ} JOIN json_each(?) w ON w.value = m.id ORDER BY w.key"
_BY_WHOLE = f"{_READ} WHERE m.part_of IN (SELECT value FROM json_each(?)) ORDER BY m.part_of, m.part_index"  # noqa: S608
# What the trigger memories_space looks for, asked before, so that one memory does not stop the others. Mentions tie
# nothing: they are of the space's own entities, and are made anew in the other. An episode's statements tie it neither:
# they leave with it, and it is read anew where it goes.
_TIED = (
    "SELECT m.id FROM json_each(:ids) w JOIN memories m ON m.id = w.value WHERE m.space_id <> :space AND ("
    "EXISTS (SELECT 1 FROM evidence WHERE memory_id = m.id AND space_id <> :space) "
    "OR EXISTS (SELECT 1 FROM edges WHERE (from_id = m.id OR to_id = m.id) AND space_id <> :space) "
    "OR EXISTS (SELECT 1 FROM derivations d WHERE (d.derived_id = m.id OR d.source_id = m.id) "
    "AND d.space_id <> :space AND NOT EXISTS (SELECT 1 FROM statements s WHERE s.episode_id = m.id "
    "AND d.source_id = m.id AND s.memory_id = d.derived_id)) "
    "OR EXISTS (SELECT 1 FROM conflicts WHERE (existing_id = m.id OR incoming_id = m.id) AND space_id <> :space))"
)
_UNDECIDED = (
    "SELECT DISTINCT c.incoming_id FROM json_each(?) w JOIN conflicts c ON c.incoming_id = w.value "
    "WHERE c.resolution IS NULL AND c.existing_id IS NULL"
)
_IDLE = (
    "SELECT m.id FROM json_each(?) w JOIN memories m ON m.id = w.value WHERE m.status = 'quarantined' "
    "AND NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.incoming_id = coalesce(m.part_of, m.id) AND c.state = 'open')"
)
# The reason alone does not tell: who forgets such a digest gives it another.
_OUTLIVED = (
    "SELECT m.id FROM json_each(:ids) w JOIN memories m ON m.id = w.value WHERE m.kind = 'digest' AND ("
    "m.status_reason = :gone OR EXISTS (SELECT 1 FROM derivations r JOIN memories s ON s.id = r.source_id "
    "WHERE r.derived_id = m.id AND s.consolidated_into IS NOT m.id))"
)
_TWINS = (
    "SELECT id, space_id, kind, hex(content_hash), scope_session, coalesce(part_of, ''), coalesce(part_index, 0) "
    "FROM memories WHERE content_hash IN (SELECT unhex(value) FROM json_each(?)) "
    "AND +status IN ('active', 'disputed') AND kind IN ('fact', 'rule', 'procedure')"
)


@dataclass(frozen=True, slots=True)
class RevisedMemory:
    """A memory as far as a change looks at it; its columns."""

    id: str
    n: int
    kind: str
    status: str
    space_id: str
    space: str
    category: str
    importance: float
    tags: str
    pinned: int
    part_of: str | None
    part_index: int | None
    occurred_at: int | None
    occurred_prec: str | None
    occurred_offset: int | None
    content_hash: bytes
    scope_session: str
    superseded_by_id: str | None
    consolidated_into: str | None
    permanence: str
    security_tier: str
    tier_by: str | None
    head: str


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One memory that changes.

    Attributes:
        sets: column to new value; `find_space_id` is "" for a space that is still to be made.
    """

    row: RevisedMemory
    sets: Mapping[str, object]


@dataclass
class RevisionPlan:
    """What a revision does.

    Attributes:
        changes: memories that change, in the order they were named; all parts of a split text go together.
        unchanged: memories that are like that already.
        refused: sentence to count.
    """

    changes: list[MemoryChange] = field(default_factory=list)
    unchanged: int = 0
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is asked of the vault once for all memories.

    Attributes:
        idle: those that are held back and that nobody is asked about any more.
        outlived: digests of which a source went its own way.
    """

    space_id: str | None
    tied: frozenset[str]
    undecided: frozenset[str]
    idle: frozenset[str]
    outlived: frozenset[str]


def check_revision(ids: Sequence[str], revision: Revision) -> None:
    """Refuse what makes no sense for any memory; nothing is looked up.

    Raises:
        UserError: INVALID_INPUT, TEXT_TOO_LARGE.
    """
    if revision.text is not None:
        check_memory_text(revision.text, None)
        if len(ids) != 1:
            raise UserError(Code.INVALID_INPUT, "A text is edited one memory at a time.")
        if len(cut_text(revision.text)) > 1:
            raise UserError(
                Code.TEXT_TOO_LARGE, "An edited text holds 8 KiB at most; store the rest as another memory."
            )
        if revision.status is not None:
            raise UserError(Code.INVALID_INPUT, "Edit the text and change where it stands one after the other.")
    if revision.status not in (None, Status.ACTIVE, Status.ARCHIVED, Status.DELETED):
        raise UserError(Code.INVALID_INPUT, "A memory can be brought back, archived or forgotten here.")
    if revision.kind is Kind.DIGEST:
        raise UserError(Code.INVALID_INPUT, "A digest is made from other memories; choose another kind.")
    _check_revision_values(revision)
    labels = [*revision.add_tags, *([] if revision.category is None else [revision.category])]
    if any(not name.strip() or len(name) > _LABEL_CHARACTERS or not is_plain_label(name) for name in labels):
        raise UserError(
            Code.INVALID_INPUT, "A tag or category has 1 to 1,024 characters, not only blanks and nothing unprintable."
        )


def _check_revision_values(revision: Revision) -> None:
    if revision.importance is not None:
        check_importance(revision.importance)
    if revision.space is not None:
        check_space_name(revision.space)
    if revision.permanence is not None:
        check_permanence(revision.permanence)


def plan_revision(rows: Rows, ids: Sequence[str], revision: Revision) -> RevisionPlan:
    """Work out what a revision does.

    Args:
        ids: the memories; a part of a split text stands for all of it.
    """
    wanted = list(dict.fromkeys(ids))
    found = _read_memories_to_revise(rows, wanted)
    facts = _read_facts(rows, [row.id for row in found], revision)
    made = RevisionPlan()
    missing = len(set(wanted) - {row.id for row in found})
    if missing:
        made.refused[GONE] = missing
    refusals: dict[str, str] = {}
    changes: list[MemoryChange] = []
    for row in found:
        reason = _refusal_reason(row, revision, facts)
        change = MemoryChange(row, {} if reason else _changed_columns(row, revision, facts))
        if reason:
            refusals[row.id] = reason
        changes.append(change)
    _refuse_twins(rows, changes, refusals)
    _refuse_whole(changes, refusals)
    for change in changes:
        if change.row.id in refusals:
            made.refused[refusals[change.row.id]] += 1
        elif change.sets:
            made.changes.append(change)
        else:
            made.unchanged += 1
    return made


def describe_revision(change: MemoryChange, revision: Revision) -> tuple[str, str, str, str]:
    """A change in words.

    Args:
        revision: what it was made for.

    Returns:
        Id, the beginning of the text, the state before and after in words of what changes.
    """
    row = change.row
    pairs = [pair for pair in _describe_revision_changes(change, revision) if pair[1] != pair[2]]
    several = len(pairs) > 1
    before = "; ".join(f"{name}: {old}" if several else old for name, old, _ in pairs)
    after = "; ".join(f"{name}: {new}" if several else new for name, _, new in pairs)
    return row.id, row.head, before, after


def _describe_revision_changes(change: MemoryChange, revision: Revision) -> Iterable[tuple[str, str, str]]:
    row, sets = change.row, change.sets
    if revision.text is not None:
        new = revision.text[:_OPENING_CHARACTERS] if "content_hash" in sets else row.head
        yield "text", row.head, new
    if "space_id" in sets:
        yield "space", row.space, str(revision.space)
    for name in ("kind", "status", "category", "importance", "permanence"):
        if name in sets:
            yield name, str(getattr(row, name)), str(sets[name])
    if "security_tier" in sets:
        yield "tier", row.security_tier, str(sets["security_tier"])
    if "pinned" in sets:
        yield "pinned", _format_pinned(row.pinned), _format_pinned(sets["pinned"])
    if "tags" in sets:
        yield "tags", ", ".join(json.loads(row.tags)), ", ".join(json.loads(str(sets["tags"])))
    if revision.occurred is not None and "occurred_at" in sets:
        yield "time", _format_occurred(row), format_time(revision.occurred) or "unknown"


def _format_pinned(value: object) -> str:
    return "pinned" if value else "not pinned"


def _format_occurred(row: RevisedMemory) -> str:
    when = read_occurred(row.occurred_at, row.occurred_prec, row.occurred_offset)
    return "unknown" if when is None else format_time(when) or "unknown"


def _read_memories_to_revise(rows: Rows, ids: Sequence[str]) -> list[RevisedMemory]:
    """The named memories, each with all other parts of its text behind it."""
    named = [RevisedMemory(*row) for row in rows.all(_BY_IDS, (to_json(list(ids)),))]
    wholes = [row.part_of for row in named if row.part_of is not None]
    if not wholes:
        return named
    parts: dict[str | None, list[RevisedMemory]] = {}
    for row in (RevisedMemory(*row) for row in rows.all(_BY_WHOLE, (to_json(sorted(set(wholes))),))):
        parts.setdefault(row.part_of, []).append(row)
    found: dict[str, RevisedMemory] = {}
    for row in named:
        found.update((one.id, one) for one in (row, *parts.get(row.part_of, ())) if one.id not in found)
    return list(found.values())


def _read_facts(rows: Rows, ids: Sequence[str], revision: Revision) -> _Facts:
    named = to_json(list(ids))
    within = None if revision.space is None else find_space_id(rows, revision.space) or ""
    tied: frozenset[str] = frozenset()
    if within is not None and revision.space != GLOBAL_SPACE:
        tied = frozenset(row[0] for row in rows.all(_TIED, {"ids": named, "space": within}))
    undecided: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    outlived: frozenset[str] = frozenset()
    if revision.status is Status.ACTIVE:
        undecided = frozenset(row[0] for row in rows.all(_UNDECIDED, (named,)))
        idle = frozenset(row[0] for row in rows.all(_IDLE, (named,)))
        outlived = frozenset(row[0] for row in rows.all(_OUTLIVED, {"ids": named, "gone": SOURCE_GONE}))
    return _Facts(within, tied, undecided, idle, outlived)


def _refusal_reason(row: RevisedMemory, revision: Revision, facts: _Facts) -> str | None:
    """Why a memory cannot be changed so; None where it can."""
    if revision.status is Status.DELETED:
        return None
    reason = _status_refusal(row, revision.status, facts)
    if reason is None and revision.text is not None:
        reason = _edit_refusal(row)
    if reason is None and row.id in facts.tied:
        reason = TIED
    if reason is None and revision.kind is not None and row.kind == Kind.DIGEST.value:
        reason = DIGEST
    if reason is None and revision.permanence is not None and (revision.kind or row.kind) == Kind.EPISODE.value:
        reason = RECORD
    return reason


def _status_refusal(row: RevisedMemory, wanted: Status | None, facts: _Facts) -> str | None:
    if row.status == Status.SUPERSEDED.value:
        return NEWER if wanted is Status.ACTIVE else OLD_VERSION
    if wanted is Status.ACTIVE:
        return _return_refusal(row, facts)
    if row.status == Status.DELETED.value:
        return FORGOTTEN
    return ABSORBED if wanted is Status.ARCHIVED and row.status == Status.CONSOLIDATED.value else None


def _return_refusal(row: RevisedMemory, facts: _Facts) -> str | None:
    if row.superseded_by_id is not None:
        return NEWER
    if row.consolidated_into is not None or row.status == Status.CONSOLIDATED.value:
        return ABSORBED
    if row.id in facts.outlived and row.status != Status.ACTIVE.value:
        return OUTLIVED
    if row.status == Status.DELETED.value and row.id in facts.undecided:
        return UNDECIDED
    if row.id in facts.idle:
        return None
    return {Status.QUARANTINED.value: WAITING, Status.DISPUTED.value: DISPUTED}.get(row.status)


def _edit_refusal(row: RevisedMemory) -> str | None:
    if row.part_of is not None:
        return PART
    if row.kind == Kind.DIGEST.value:
        return DIGEST
    reasons = {
        Status.QUARANTINED.value: WAITING,
        Status.ARCHIVED.value: ARCHIVED,
        Status.CONSOLIDATED.value: ABSORBED,
    }
    return reasons.get(row.status)


def _changed_columns(row: RevisedMemory, revision: Revision, facts: _Facts) -> dict[str, object]:
    """The columns that change."""
    wanted: dict[str, object | None] = {
        "kind": None if revision.kind is None else revision.kind.value,
        "category": revision.category,
        "importance": None if revision.importance is None else float(revision.importance),
        "permanence": revision.permanence,
        "security_tier": None if revision.tier is None else revision.tier.value,
        "pinned": None if revision.pinned is None else int(revision.pinned),
        "status": None if revision.status is None else revision.status.value,
        "space_id": facts.space_id,
        "content_hash": None if revision.text is None else content_hash(revision.text),
    }
    sets: dict[str, object] = {
        name: value for name, value in wanted.items() if value is not None and value != getattr(row, name)
    }
    if revision.tier is not None and row.tier_by == BY_RULES:
        sets["security_tier"] = revision.tier.value  # what rules said is the person's word from here on
    tags = _revised_tags(row, revision)
    if tags != json.loads(row.tags):
        sets["tags"] = to_json(tags)
    occurred = revision.occurred
    if occurred is not None:
        columns = {
            "occurred_at": occurred.ms,
            "occurred_prec": occurred.precision.value,
            "occurred_offset": occurred.offset_min,
        }
        if any(getattr(row, name) != value for name, value in columns.items()):
            sets.update(columns)
    return sets


def _revised_tags(row: RevisedMemory, revision: Revision) -> list[str]:
    kept = [tag for tag in json.loads(row.tags) if tag not in revision.remove_tags]
    return [*kept, *(tag for tag in dict.fromkeys(revision.add_tags) if tag not in kept)]


_Key = tuple[str, str, str, str, str, int]


def _refuse_twins(rows: Rows, changes: Sequence[MemoryChange], refusals: dict[str, str]) -> None:
    """Two facts of the same words cannot both stand in one space (uq_memories_text)."""
    coming = [(change, key) for change in changes if change.row.id not in refusals and (key := _uniqueness_key(change))]
    if not coming:
        return
    hashes = to_json(sorted({key[2] for _, key in coming}))
    taken_keys: dict[_Key, str] = {}
    for memory_id, within, kind, digest, session, whole, place in rows.all(_TWINS, (hashes,)):
        taken_keys[within, kind, digest, session, whole, place] = memory_id
    for change, key in coming:
        if taken_keys.setdefault(key, change.row.id) != change.row.id:
            refusals[change.row.id] = TWIN


def _uniqueness_key(change: MemoryChange) -> _Key | None:
    """What must be unique about a memory after its change; None where nothing of it changes, or it need not be."""
    row, sets = change.row, change.sets
    if not sets.keys() & {"space_id", "kind", "status", "content_hash"}:
        return None
    kind, status = str(sets.get("kind", row.kind)), str(sets.get("status", row.status))
    if kind not in _BY_TEXT or status not in _STANDING:
        return None
    digest = sets.get("content_hash", row.content_hash)
    hexed = digest.hex().upper() if isinstance(digest, bytes) else ""
    within = str(sets.get("space_id", row.space_id))
    return within, kind, hexed, row.scope_session, row.part_of or "", row.part_index or 0


def _refuse_whole(changes: Sequence[MemoryChange], refusals: dict[str, str]) -> None:
    """A split text changes with all its parts or not at all."""
    wholes = {c.row.part_of: refusals[c.row.id] for c in changes if c.row.part_of and c.row.id in refusals}
    for change in changes:
        if change.row.part_of in wholes and change.row.part_of is not None:
            refusals.setdefault(change.row.id, wholes[change.row.part_of])
