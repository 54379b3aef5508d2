"""Replay while nobody is at work: what is often used and has grown weak is strengthened, relations are proposed (E44).

Nothing is embedded again: the vector of a text changes with the model alone, and a change of the model is a job of its
own (E44.3, settled); nothing is blended with its surroundings, so an unchanged memory keeps its vector. Interference
(E44.6) is left to the gate and the consolidation, which compare what is near with a model of relations; a second,
cheaper judge would only ask the person twice. Must not do: draw a relation; the person decides about each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.embed.embedder import from_blob
from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.job_support.job_context import BatchResult, JobContext
from core.memory.read import STRENGTH_COLUMNS, STRENGTH_JOINS, read_strengths
from core.score.decay import boost_after_replay, draw_without_replacement
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

STRENGTHENED, RELATED = "replayed", "may_belong"
"""Reasons: keys of `resources/help/lifecycle.json`."""

USED_FROM, WEAK_BELOW = 3, 0.3
"""Recalls from which, and strength below which, a memory is replayed (X56)."""
LINK_FROM = 0.75
"""Likeness from which a relation is proposed (E44.4)."""
SPACED_DAYS = 1
"""Between two replays of one memory: it counts as a spaced access (X57), and 48 a day would be none."""
SETTLED_DAYS = 1
"""A memory this old is settled enough to be related to others."""
NEGATIVE, YOUNG_DAYS = ("irrelevant", "corrected", "harmful"), 90
"""Feedback that says no, and the days for which it counts (E7.3.2)."""
_NEIGHBOURS = 8
_DAY_MS = 86_400_000
_AROUSAL, _BOOST, _IMPORTANCE = 6, 9, 0
"""Places within `STRENGTH_COLUMNS`."""

_REFUSED = (
    "(SELECT f.signal FROM feedback f WHERE f.memory_id = m.id AND f.at > :young ORDER BY f.at DESC, f.rowid DESC "
    "LIMIT 1)"
)
_WEAK = (
    f"SELECT m.id, {STRENGTH_COLUMNS} FROM memories m{STRENGTH_JOINS}WHERE m.status = 'active' "  # noqa: S608
    f"AND m.access_count >= {USED_FROM} AND m.pinned = 0 AND coalesce(again.last_at, 0) <= :spaced "
    f"AND coalesce({_REFUSED}, '') NOT IN (SELECT value FROM json_each(:negative)) "
    "AND (:ids IS NULL OR m.id IN (SELECT value FROM json_each(:ids))) ORDER BY m.n"
)
_SETTLED = (
    "SELECT m.n FROM memories m WHERE m.status = 'active' AND m.kind IN ('fact', 'digest') AND m.recorded_at < ? "
    "AND coalesce(m.part_index, 0) = 0 ORDER BY m.n"
)
_VECTORS = (
    "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? "
    "AND n IN (SELECT value FROM json_each(?)) ORDER BY n"
)
_MEMBERS = (
    "SELECT n, id, space_id, chain_id, conversation_id, position, part_of FROM memories "
    "WHERE n IN (SELECT value FROM json_each(?)) AND +status = 'active' AND kind IN ('fact', 'digest') "
    "AND recorded_at < ? AND coalesce(part_index, 0) = 0"
)
_RELATED = (
    "SELECT EXISTS (SELECT 1 FROM edges WHERE (from_id = :a AND to_id = :b) OR (from_id = :b AND to_id = :a)) "
    "OR EXISTS (SELECT 1 FROM derivations WHERE (derived_id = :a AND source_id = :b) "
    "OR (derived_id = :b AND source_id = :a)) "
    "OR EXISTS (SELECT 1 FROM conflicts WHERE state = 'open' AND ((existing_id = :a AND incoming_id = :b) "
    "OR (existing_id = :b AND incoming_id = :a))) "
    "OR EXISTS (SELECT 1 FROM links WHERE from_id = min(:a, :b) AND to_id = max(:a, :b))"
)


@dataclass(frozen=True, slots=True)
class _Member:
    id: str
    space: str
    chain: str
    conversation: str | None
    position: int | None
    whole: str | None


class ReplayJob:
    """Plans and carries out a replay; the budget is shared between its parts (E44.1)."""

    @property
    def type(self) -> JobType:
        """Which job."""
        return JobType.REPLAY

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List who would be strengthened and which relations would be proposed.

        Returns:
            The actions: those to strengthen in the order they were drawn, then the relations, nearest first.
        """
        share = context.options.replay_budget // 3
        found: list[PlannedAction] = context.read(lambda rows: _plan_strengthening(rows, context, share))
        taken = {action.memory_id for action in found}
        return [*found, *_plan_proposals(context, share, taken)]

    def apply_plan(self, tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction]) -> BatchResult:  # noqa: ARG002
        """Carry actions out, those that still fit.

        Args:
            actions: of `plan`.

        Returns:
            Counts `strengthened`, `proposed`, `re_embedded` (always 0) and `skipped`.
        """
        counts = Counter({"strengthened": 0, "proposed": 0, "re_embedded": 0, "skipped": 0})
        changed: list[str] = []
        for action in actions:
            done = (
                _strengthen_memory(tx, action) if action.action is JobAction.STRENGTHEN else _propose_link(tx, action)
            )
            name = "strengthened" if action.action is JobAction.STRENGTHEN else "proposed"
            counts[name if done else "skipped"] += 1
            changed += [action.memory_id] if done else []
        return BatchResult(len(actions), dict(counts), tuple(changed))


# ---- strengthening


def _plan_strengthening(rows: Rows, context: JobContext, share: int) -> list[PlannedAction]:
    found, weak = _read_weak(rows, context.now_ms, None)
    if not found:
        return []
    # The same vault draws the same: what was previewed is what a run does.
    drawn = draw_without_replacement(
        [row[1 + _AROUSAL] or 0.0 for row in found], share, int(rows.value("SELECT seq FROM vault_state"))
    )
    return [
        PlannedAction(JobAction.STRENGTHEN, str(found[at][0]), reason=STRENGTHENED, value=float(weak[at]))
        for at in drawn.tolist()
    ]


def _read_weak(rows: Rows, now_ms: int, ids: Sequence[str] | None) -> tuple[list[tuple[Any, ...]], NDArray[np.float64]]:
    """Memories that are used and weak, and that can still be strengthened, with their strength."""
    asked = {
        "young": now_ms - YOUNG_DAYS * _DAY_MS,
        "spaced": now_ms - SPACED_DAYS * _DAY_MS,
        "negative": json.dumps(list(NEGATIVE)),
        "ids": None if ids is None else json.dumps(list(ids)),
    }
    found = rows.all(_WEAK, asked)
    if not found:
        return [], np.empty(0, np.float64)
    now = read_strengths([row[1:] for row in found], now_ms)
    kept = [
        at for at, row in enumerate(found) if now[at] < WEAK_BELOW and _boost_of_row(row) > (row[1 + _BOOST] or 0.0)
    ]
    return [found[at] for at in kept], now[kept]


def _boost_of_row(row: Sequence[Any]) -> float:
    return float(boost_after_replay(row[1 + _IMPORTANCE], row[1 + _AROUSAL] or 0.0, row[1 + _BOOST] or 0.0))


def _strengthen_memory(tx: Tx, action: PlannedAction) -> bool:
    found, _ = _read_weak(tx, tx.now_ms, [action.memory_id])
    if not found:
        return False
    key, boost = {"memory_id": action.memory_id}, _boost_of_row(found[0])
    replay = tx.row("replays", key)
    if replay is None:
        tx.insert("replays", {**key, "times": 1, "boost": boost, "last_at": tx.now_ms})
    else:
        tx.update("replays", key, {"times": replay["times"] + 1, "boost": boost, "last_at": tx.now_ms})
    return True


# ---- proposing


def _plan_proposals(context: JobContext, share: int, taken: set[str]) -> list[PlannedAction]:
    find_neighbours = context.neighbours
    if find_neighbours is None or share < 1:
        return []
    labels, vectors = context.read(lambda rows: _sample_settled(rows, context))
    if not len(labels):
        return []
    others, cosines = find_neighbours(vectors, _NEIGHBOURS)
    pairs = {
        (min(one, other), max(one, other)): float(cosine)
        for one, row, likes in zip(labels.tolist(), others.tolist(), cosines.tolist(), strict=True)
        for other, cosine in zip(row, likes, strict=True)
        if other >= 0 and other != one and cosine >= LINK_FROM
    }
    found: list[PlannedAction] = context.read(lambda rows: _find_unrelated_pairs(rows, context, pairs, share, taken))
    return found


def _sample_settled(rows: Rows, context: JobContext) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Some settled memories with their vectors; others each time something was written."""
    all_of_them = [int(row[0]) for row in rows.all(_SETTLED, (context.now_ms - SETTLED_DAYS * _DAY_MS,))]
    seed = int(rows.value("SELECT seq FROM vault_state"))
    some = draw_without_replacement(np.zeros(len(all_of_them)), context.options.replay_budget, seed).tolist()
    found = rows.all(_VECTORS, (context.space.name, json.dumps([all_of_them[at] for at in some])))
    vectors = np.array([from_blob(blob, context.space.dims) for _, blob in found], np.float32)
    return np.array([row[0] for row in found], np.int64), vectors.reshape(-1, context.space.dims)


def _find_unrelated_pairs(
    rows: Rows, context: JobContext, pairs: Mapping[tuple[int, int], float], share: int, taken: set[str]
) -> list[PlannedAction]:
    """Of near pairs those that nothing relates yet; each memory in one of them at most."""
    members = _read_members(rows, context.now_ms, sorted({label for pair in pairs for label in pair}))
    used, found = set(taken), list[PlannedAction]()
    for (a, b), cosine in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0])):
        one, other = members.get(a), members.get(b)
        if len(found) >= share:
            break
        if one is None or other is None or used & {one.id, other.id} or not _may_be_related(rows, one, other):
            continue
        first, second = sorted((one.id, other.id))
        used |= {first, second}
        found.append(PlannedAction(JobAction.PROPOSE, first, (second,), RELATED, min(1.0, max(0.0, cosine))))
    return found


def _read_members(rows: Rows, now_ms: int, labels: Sequence[int]) -> dict[int, _Member]:
    found = rows.all(_MEMBERS, (json.dumps(list(labels)), now_ms - SETTLED_DAYS * _DAY_MS))
    return {int(row[0]): _Member(*row[1:]) for row in found}


def _may_be_related(rows: Rows, one: _Member, other: _Member) -> bool:
    if one.space != other.space or one.chain == other.chain or (one.whole is not None and one.whole == other.whole):
        return False
    follows = (
        one.conversation is not None
        and one.conversation == other.conversation
        and one.position is not None
        and other.position is not None
        and abs(one.position - other.position) <= 1
    )
    return not follows and not rows.value(_RELATED, {"a": one.id, "b": other.id})


def _propose_link(tx: Tx, action: PlannedAction) -> bool:
    first, second = action.memory_id, action.others[0]
    labels = [int(row[0]) for row in tx.all("SELECT n FROM memories WHERE id IN (?, ?)", (first, second))]
    there = {member.id: member for member in _read_members(tx, tx.now_ms, labels).values()}
    if len(there) < 2 or not _may_be_related(tx, there[first], there[second]):
        return False
    row = {"from_id": first, "to_id": second, "space_id": there[first].space, "cosine": action.value}
    tx.insert("links", {**row, "state": "open", "at": tx.now_ms})
    return True
