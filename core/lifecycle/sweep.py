"""The sweep: what fades, recovers, has expired, or is too weak or too doubtful, and what protects a memory from it.

It goes through the numbers of all that stands in pages, without a text; what nothing protects is archived, never
deleted. The protections hold for every run that archives (design section 6, collect; E37.3, C16). Must not do: work out
a formula (`core.score` does), or let the protections look at how weak a memory is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import log
from core.belief.claims import OWNERS_WORD
from core.config.options import Options
from core.errors import UserError
from core.intake.transaction.unit_of_work import Verb
from core.intake.transitions.transitions import Transitions
from core.lifecycle.job_support.clock_check import believed_ms
from core.lifecycle.job_support.job_context import BatchResult, JobContext
from core.lifecycle.job_support.job_store import CHANGED
from core.lifecycle.retention import RetentionRule, find_over, parse_rules
from core.memory.read import STRENGTH_COLUMNS, STRENGTH_JOINS, read_strengths
from core.score.decay import EXPIRED as GONE
from core.score.decay import HOLDS, classify_bands, decay_rates, effective_confidence
from core.types.lifecycle import JobAction, JobType, PlannedAction
from core.types.values import Status
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_log = log.get("lifecycle")
FADING, RECOVERED, LEFT, EXPIRED = "fading", "recovered", "left_standing", "expired"
FADED, DOUBTED, OLD_VERSION, UNANSWERED = "faded", "doubted", "old_version", "unanswered"
RETENTION = "retention"
"""Reasons: keys of `resources/help/lifecycle.json`."""

RECALLED_DAYS = 30
"""What was recalled within so many days does not expire."""
DOUBTED_BELOW = 0.2
"""Trust below which an old disputed memory is archived (seed A, feature 6, prune)."""
_DAY_MS = 86_400_000
_PAGE = 10_000

# The plus keeps SQLite from going by the status, which most memories share.
_IS_ACTIVE = "+m.status IN ('active', 'disputed')"
_READ = (
    "SELECT m.n, coalesce(m.part_of, m.id), m.kind, m.permanence, m.confidence, m.last_confirmed_at, m.trust, "
    f"m.status = 'disputed', f.memory_id IS NOT NULL, {STRENGTH_COLUMNS} "
)
_WITH = f"LEFT JOIN fading f ON f.memory_id = m.id{STRENGTH_JOINS}"
_ALL = f"{_READ}FROM memories m {_WITH}WHERE m.n > :after AND {_IS_ACTIVE} ORDER BY m.n LIMIT :most"
_WHOLE = (
    "(SELECT value AS id FROM json_each(:ids) UNION SELECT p.id FROM json_each(:ids) h "
    "JOIN memories p ON p.part_of = h.value) w"
)
_SOME = f"{_READ}FROM {_WHOLE} CROSS JOIN memories m ON m.id = w.id {_WITH}WHERE {_IS_ACTIVE} ORDER BY m.n"
_SPLIT = "SELECT DISTINCT part_of FROM memories m WHERE m.part_of IS NOT NULL AND " + _IS_ACTIVE  # noqa: S608
_LEFT = (
    "SELECT coalesce(m.part_of, m.id) FROM {} CROSS JOIN memories m ON m.id = f.memory_id "
    "WHERE +m.status NOT IN ('active', 'disputed') ORDER BY m.n"
)
_LEFT_ALL = _LEFT.format("fading f")
_LEFT_SOME = _LEFT.format(f"{_WHOLE} CROSS JOIN fading f ON f.memory_id = w.id")
_OLD = (
    "SELECT m.id FROM memories m WHERE {} AND m.superseded_by_id IS NOT NULL AND m.retired_at < :before "
    "AND m.part_of IS NULL ORDER BY m.n"
)
_OLD_ALL = _OLD.format("m.status = 'superseded'")
_OLD_SOME = _OLD.format("m.id IN (SELECT value FROM json_each(:ids)) AND +m.status = 'superseded'")
# Held back against what stands, and what asked about it has closed: nobody will decide it any more.
_UNANSWERED_SQL = (
    "SELECT m.id FROM memories m WHERE {} AND +m.status = 'quarantined' AND m.part_of IS NULL "
    "AND m.recorded_at < :before AND EXISTS (SELECT 1 FROM conflicts c WHERE c.incoming_id = m.id "
    "AND (c.kind IN ('classification', 'contradiction') OR (c.kind = 'approval' AND c.existing_id IS NOT NULL)) "
    "AND +c.state = 'moot' AND c.closed_at < :before) ORDER BY m.n"
)
_UNANSWERED_ALL = _UNANSWERED_SQL.format("m.status = 'quarantined'")
_UNANSWERED_SOME = _UNANSWERED_SQL.format("m.id IN (SELECT value FROM json_each(:ids))")
_COUNTED = {
    UNANSWERED: "unanswered",
    RETENTION: "retention",
    FADING: "fading",
    RECOVERED: "recovered",
    LEFT: "left_standing",
    EXPIRED: "expired",
    FADED: "faded",
    DOUBTED: "doubted",
    OLD_VERSION: "old_versions",
}


@dataclass(frozen=True, slots=True)
class _Seen:
    """Memories by their numbers; one number a head in each. Of a split text the strongest part counts.

    Attributes:
        memory_ids: ids, in the order of their first labels.
        confidence: effective, now.
        falls: whether its confidence falls at all.
        accessed: when it was last recalled, epoch ms; 0 where never.
    """

    memory_ids: list[str]
    confidence: NDArray[np.float64]
    falls: NDArray[np.bool_]
    strength: NDArray[np.float64]
    trust: NDArray[np.float64]
    recorded: NDArray[np.float64]
    accessed: NDArray[np.float64]
    disputed: NDArray[np.bool_]
    marked: NDArray[np.bool_]


class SweepJob:
    """Plans and carries out the sweep (seed B, decay sweep; E4.4.2; seed A, feature 6, prune)."""

    @property
    def type(self) -> JobType:
        """Which job."""
        return JobType.SWEEP

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List what would fade, recover, expire and be archived.

        Returns:
            The actions by their kind, then by the age of the memory.
        """
        options, now_ms = context.options, context.now_ms
        actions: list[PlannedAction] = context.read(lambda rows: plan_sweep(rows, options, now_ms))
        return actions

    def apply_plan(self, tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction]) -> BatchResult:
        """Carry a few actions out; see `carry_out_sweep`."""
        return carry_out_sweep(tx, verb, context, actions)


def plan_sweep(
    rows: Rows, options: Options, now_ms: int, memory_ids: Sequence[str] | None = None
) -> list[PlannedAction]:
    """All that a sweep would do.

    Args:
        memory_ids: look at these memories only; None for all.

    Returns:
        Each memory in at most one action: recovered, fading, expired, archived; in each the oldest first.
    """
    found = [
        action
        for seen in _read_pages_to_sweep(rows, now_ms, memory_ids)
        for action in _plan_active(rows, seen, options, now_ms)
    ]
    retention = _plan_retention(rows, options, now_ms, memory_ids)
    over = [
        *_plan_old_versions(rows, options, now_ms, memory_ids),
        *_plan_unanswered(rows, options, now_ms, memory_ids),
        *retention,
    ]
    leaving = {one.memory_id for one in retention}
    found = [one for one in found if one.memory_id not in leaving]
    planned_ids = {one.memory_id for one in over}  # its mark goes with it
    found += [
        PlannedAction(JobAction.RECOVER, memory_id, reason=LEFT)
        for memory_id in _read_left_marks(rows, memory_ids)
        if memory_id not in planned_ids
    ]
    found += over
    place = {
        action: number
        for number, action in enumerate((JobAction.RECOVER, JobAction.FADE, JobAction.EXPIRE, JobAction.ARCHIVE))
    }
    return sorted(found, key=lambda one: place[one.action])


def plan_prune(rows: Rows, options: Options, now_ms: int) -> list[PlannedAction]:
    """What a consolidation prunes: what is too weak, too doubtful, or an old version (seed A, feature 6, prune).

    Returns:
        Actions `ARCHIVE` with the reason `faded`, `doubted` or `old_version`; `carry_out_sweep` carries them out.
    """
    actions = plan_sweep(rows, options, now_ms)
    return [one for one in actions if one.action is JobAction.ARCHIVE and one.reason not in (UNANSWERED, RETENTION)]


def count_sweep(actions: Sequence[PlannedAction]) -> Mapping[str, int]:
    """What carrying out the plan of a sweep would count, if every action still fits.

    Returns:
        The keys of its `BatchResult.counts`.
    """
    return dict(Counter("old_versions" if action.reason == OLD_VERSION else action.reason for action in actions))


def carry_out_sweep(tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction]) -> BatchResult:
    """Carry actions of this module out, as far as they still fit.

    Args:
        actions: from `plan_sweep` or `plan_prune`.

    Returns:
        Counts by what happened (`fading`, `recovered`, `left_standing`, `expired`, `faded`, `doubted`,
        `old_versions`, `unanswered`), and `skipped`.
    """
    memory_ids = [one.memory_id for one in actions]
    fits = {one.memory_id: one for one in plan_sweep(tx, context.options, context.now_ms, memory_ids)}
    transitions, counts, ids = context.make_transitions(tx, verb), Counter[str](), list[str]()
    for action in actions:
        now = fits.get(action.memory_id)
        if now is None or (now.action, now.reason) != (action.action, action.reason):
            counts["skipped"] += 1
            continue
        try:
            with tx.attempt():
                _execute_action(tx, transitions, action, now.value)
        except UserError as error:  # what stands does not let this one through: the others go on
            _log.warning("an action of the sweep was left: %s", error.code.value)
            counts["skipped"] += 1
            continue
        counts[_COUNTED[action.reason]] += 1
        ids.append(action.memory_id)
    transitions.close_moot()
    return BatchResult(len(actions), dict(counts), tuple(ids))


def _execute_action(tx: Tx, transitions: Transitions, action: PlannedAction, confidence: float) -> None:
    parts = transitions.list_parts(action.memory_id)
    if action.action is JobAction.FADE:
        _mark_fading(tx, parts, confidence)
    else:
        _unmark_fading(tx, parts)
    if action.reason == OLD_VERSION:
        _lay_away(tx, parts)
    elif action.action in (JobAction.EXPIRE, JobAction.ARCHIVE):
        transitions.archive(action.memory_id, action.reason)


def _mark_fading(tx: Tx, parts: Iterable[str], confidence: float) -> None:
    for part in parts:
        if tx.row("fading", {"memory_id": part}) is None:
            tx.insert("fading", {"memory_id": part, "since": tx.now_ms, "confidence": confidence})


def _unmark_fading(tx: Tx, parts: Iterable[str]) -> None:
    for part in parts:
        tx.delete("fading", {"memory_id": part})


def _lay_away(tx: Tx, parts: Iterable[str]) -> None:
    """Archive a version that is over; when it was over, and by what, stays: history and as-of go by that."""
    for part in parts:
        tx.update("memories", {"id": part}, {"status": Status.ARCHIVED.value})


# ---- reading


def _read_pages_to_sweep(rows: Rows, now_ms: int, memory_ids: Sequence[str] | None) -> Iterator[_Seen]:
    if memory_ids is not None:
        yield _make_columns(rows.all(_SOME, {"ids": json.dumps(list(dict.fromkeys(memory_ids)))}), now_ms)
        return
    # The parts of a split text may lie on two pages: they are looked at together, at the end.
    split = frozenset(str(row[0]) for row in rows.all(_SPLIT))
    after = 0
    while True:
        page = rows.all(_ALL, {"after": after, "most": _PAGE})
        if not page:
            break
        after = int(page[-1][0])
        yield _make_columns([row for row in page if row[1] not in split] if split else page, now_ms)
    if split:
        yield _make_columns(rows.all(_SOME, {"ids": json.dumps(sorted(split))}), now_ms)


def _make_columns(found: Sequence[tuple[Any, ...]], now_ms: int) -> _Seen:
    places: dict[str, int] = {}
    at = np.fromiter((places.setdefault(row[1], len(places)) for row in found), np.int64, len(found))
    numbers = np.array([row[4:9] for row in found], np.float64).reshape(-1, 5)
    gauges = np.array([row[10:12] for row in found], np.float64).reshape(-1, 2)  # recorded, last accessed
    rates = decay_rates((row[2] for row in found), (row[3] for row in found))
    sure = effective_confidence(numbers[:, 0], rates, (now_ms - numbers[:, 1]) / _DAY_MS)

    def max_by_memory(values: NDArray[Any]) -> NDArray[np.float64]:
        maxima = np.full(len(places), -np.inf)
        np.maximum.at(maxima, at, values)
        return maxima

    return _Seen(
        memory_ids=list(places),
        confidence=max_by_memory(sure),
        falls=max_by_memory(rates) > 0,
        strength=max_by_memory(read_strengths([row[9:] for row in found], now_ms)),
        trust=max_by_memory(numbers[:, 2]),
        recorded=max_by_memory(gauges[:, 0]),
        accessed=max_by_memory(np.nan_to_num(gauges[:, 1])),
        disputed=max_by_memory(numbers[:, 3]) > 0,
        marked=max_by_memory(numbers[:, 4]) > 0,
    )


def _plan_active(rows: Rows, seen: _Seen, options: Options, now_ms: int) -> list[PlannedAction]:
    """The actions of what stands."""
    bands = classify_bands(seen.confidence, options.fading_below, options.expired_below)
    falls = seen.falls
    expired = falls & (bands == GONE) & (seen.accessed < now_ms - RECALLED_DAYS * _DAY_MS)
    weak = seen.strength < options.archive_below
    old = seen.recorded < now_ms - options.prune_days * _DAY_MS
    doubted = seen.disputed & (seen.trust < DOUBTED_BELOW) & old
    safe = np.zeros(len(seen.memory_ids), np.bool_)
    asked = np.flatnonzero(expired | weak | doubted).tolist()
    kept = find_protections(rows, [seen.memory_ids[place] for place in asked], now_ms)
    safe[[place for place in asked if seen.memory_ids[place] in kept]] = True
    leaves = (expired | weak | doubted) & ~safe
    fades = falls & (bands != HOLDS)
    actions = [
        (JobAction.RECOVER, RECOVERED, seen.marked & ~fades & ~leaves, seen.confidence),
        (
            JobAction.FADE,
            FADING,
            _without_protected(rows, seen, fades & ~seen.marked & ~leaves, now_ms),
            seen.confidence,
        ),
        (JobAction.EXPIRE, EXPIRED, expired & leaves, seen.confidence),
        (JobAction.ARCHIVE, FADED, weak & ~expired & leaves, seen.strength),
        (JobAction.ARCHIVE, DOUBTED, doubted & ~weak & ~expired & leaves, seen.trust),
    ]
    return [
        PlannedAction(action, seen.memory_ids[place], reason=reason, value=float(values[place]))
        for action, reason, which, values in actions
        for place in np.flatnonzero(which).tolist()
    ]


def _without_protected(rows: Rows, seen: _Seen, which: NDArray[np.bool_], now_ms: int) -> NDArray[np.bool_]:
    """Of what would be marked as fading that which the person did not pin or spare."""
    places = np.flatnonzero(which).tolist()
    kept = find_protections(rows, [seen.memory_ids[place] for place in places], now_ms)
    protected = [place for place in places if {PINNED, SPARED} & set(kept.get(seen.memory_ids[place], ()))]
    found = which.copy()
    found[protected] = False
    return found


def _read_left_marks(rows: Rows, memory_ids: Sequence[str] | None) -> list[str]:
    """Marked, and no longer standing: superseded, forgotten or archived by somebody else since."""
    found = rows.all(_LEFT_ALL) if memory_ids is None else rows.all(_LEFT_SOME, {"ids": json.dumps(list(memory_ids))})
    return list(dict.fromkeys(str(row[0]) for row in found))


def _plan_old_versions(
    rows: Rows, options: Options, now_ms: int, memory_ids: Sequence[str] | None
) -> list[PlannedAction]:
    """Superseded, and kept as long as the options ask for."""
    if not options.prune_superseded:
        return []
    before = now_ms - options.prune_days * _DAY_MS
    return _plan_archiving(rows, (_OLD_ALL, _OLD_SOME), before, now_ms, memory_ids, OLD_VERSION)


def _plan_unanswered(
    rows: Rows, options: Options, now_ms: int, memory_ids: Sequence[str] | None
) -> list[PlannedAction]:
    """Held back, never decided, and long out of the review: what stands goes on standing."""
    before = now_ms - options.prune_days * _DAY_MS
    return _plan_archiving(rows, (_UNANSWERED_ALL, _UNANSWERED_SOME), before, now_ms, memory_ids, UNANSWERED)


def _plan_retention(rows: Rows, options: Options, now_ms: int, memory_ids: Sequence[str] | None) -> list[PlannedAction]:
    """What has stayed as long as the person chose for its space and kind."""
    over = find_retention_over(rows, parse_rules(options.retention), now_ms, memory_ids)
    return [PlannedAction(JobAction.ARCHIVE, memory_id, reason=RETENTION) for memory_id in over]


def find_retention_over(
    rows: Rows, rules: Sequence[RetentionRule], now_ms: int, memory_ids: Sequence[str] | None = None
) -> list[str]:
    """Memories that rules of retention would have the next sweep archive.

    The person chose by space and kind, so that it holds for what is important or imported too; not for what the person
    pinned, kept or took back, what lies ahead, and what a decision is open about.

    Args:
        now_ms: epoch ms; a clock on trial for having leapt ahead is not believed.
        memory_ids: of these alone; None for all.

    Returns:
        Heads, the oldest first of each rule.
    """
    believed = believed_ms(rows, now_ms)
    found = dict.fromkeys(one for rule in rules for one in find_over(rows, rule, believed, memory_ids))
    kept = find_protections(rows, found, now_ms)
    return [one for one in found if not _HOLDS_RETENTION.intersection(kept.get(one, ()))]


def _plan_archiving(
    rows: Rows, sql: tuple[str, str], before: int, now_ms: int, memory_ids: Sequence[str] | None, reason: str
) -> list[PlannedAction]:
    """What is to be archived of all memories, by the first statement, or of some, by the second."""
    wanted: dict[str, Any] = {"before": before}
    read = (
        rows.all(sql[0], wanted)
        if memory_ids is None
        else rows.all(sql[1], wanted | {"ids": json.dumps(list(memory_ids))})
    )
    found = [str(row[0]) for row in read]
    kept = find_protections(rows, found, now_ms)
    return [PlannedAction(JobAction.ARCHIVE, memory_id, reason=reason) for memory_id in found if memory_id not in kept]


PINNED, OWN_WORD, IMPORTANT, MOVING = "pinned", "own_word", "important", "moving"
FUTURE, IN_REVIEW, SPARED, VERBATIM = "future", "in_review", "spared", "verbatim"
TAKEN_BACK = "taken_back"
PROTECTIONS = (PINNED, OWN_WORD, IMPORTANT, MOVING, FUTURE, IN_REVIEW, SPARED, VERBATIM, TAKEN_BACK)
"""Keys of `resources/help/lifecycle.json`, in the order in which they are told."""

_HOLDS_RETENTION = frozenset({PINNED, FUTURE, IN_REVIEW, SPARED, TAKEN_BACK})

IMPORTANT_FROM, MOVING_FROM = 0.7, 0.5
"""Importance and arousal from which a memory is never archived by a run (E37.3)."""
_AT_ONCE = 2_000

# What a client or an import gives as the person's explicit word counts too: nobody but the person may displace it.
_WORD = f"({OWNERS_WORD} OR m.source = 'user_explicit')"
# A written date may be a year or a month alone: as text it lies before every day in it.
_DATED = (
    "EXISTS (SELECT 1 FROM json_each(felt.body, '$.dates') d WHERE d.type = 'text' "
    "AND d.value GLOB '[0-9][0-9][0-9][0-9]*' AND d.value > :today)"
)
_FUTURE = (
    "coalesce(m.valid_from, 0) > :now OR coalesce(m.valid_to, 0) > :now OR coalesce(m.occurred_at, 0) > :now "
    f"OR coalesce({_DATED}, 0)"
)
# The plus keeps SQLite from walking through all that is open.
_ASKED = (
    "EXISTS (SELECT 1 FROM conflicts c WHERE c.incoming_id = m.id AND +c.state = 'open') "
    "OR EXISTS (SELECT 1 FROM conflicts c WHERE c.existing_id = m.id AND +c.state = 'open')"
)
_READ_PROTECTIONS = (
    f"SELECT coalesce(m.part_of, m.id), m.pinned, {_WORD}, m.importance >= {IMPORTANT_FROM}, "  # noqa: S608 - constants
    f"coalesce(felt.arousal, 0) >= {MOVING_FROM}, {_FUTURE}, {_ASKED}, coalesce(kept.until, 0) > :now, "
    "m.kind = 'episode' AND m.import_id IS NOT NULL, back.memory_id IS NOT NULL "
    "FROM (SELECT value AS id FROM json_each(:ids) UNION SELECT p.id FROM json_each(:ids) h "
    "JOIN memories p ON p.part_of = h.value) w JOIN memories m ON m.id = w.id "
    "LEFT JOIN inferred felt ON felt.memory_id = m.id LEFT JOIN spared kept ON kept.memory_id = m.id "
    "LEFT JOIN taken_back back ON back.memory_id = m.id"
)

# While the step is kept; then `core.lifecycle.job_support.job_store` has written a row for each. Few runs are ever
# undone: their memories are listed once, not asked for one by one.
_BACK = (
    "SELECT DISTINCT coalesce(m.part_of, m.id) "  # noqa: S608 - constants
    # In this order: left to itself SQLite walks through the rows of every step.
    "FROM undo_steps s CROSS JOIN undo_rows r ON r.step_id = s.id "
    f"CROSS JOIN memories m ON m.n = json_extract(r.row_key, '$.n') WHERE s.undone_by IS NOT NULL AND {CHANGED}"
)


def _undone_memory_ids(rows: Rows) -> set[str]:
    """Heads that a run changed and that were taken back with it, while that step is kept."""
    return {str(row[0]) for row in rows.all(_BACK)}


def find_protections(rows: Rows, memory_ids: Iterable[str], now_ms: int) -> dict[str, tuple[str, ...]]:
    """What keeps memories from being archived by a run.

    Args:
        memory_ids: the memories; of a split text the head. What protects one part protects all of it.

    Returns:
        Head to keys of `resources/help/lifecycle.json`, those without any left out.
    """
    wanted, found = list(dict.fromkeys(memory_ids)), dict[str, set[str]]()
    for memory_id in _undone_memory_ids(rows) & set(wanted):
        found[memory_id] = {TAKEN_BACK}
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date().isoformat()
    for at in range(0, len(wanted), _AT_ONCE):
        named = json.dumps(wanted[at : at + _AT_ONCE])
        for memory_id, *protection_columns in rows.all(
            _READ_PROTECTIONS, {"ids": named, "now": now_ms, "today": today}
        ):
            keys = {key for key, holds in zip(PROTECTIONS, protection_columns, strict=True) if holds}
            if keys:
                found.setdefault(str(memory_id), set()).update(keys)
    return {memory_id: tuple(key for key in PROTECTIONS if key in keys) for memory_id, keys in found.items()}
