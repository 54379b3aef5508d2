"""The report of a run from the counts of its batches, and the same report of a plan that is only looked at.

Of a consolidation it is the report of seed A (feature 6). Must not do: count anything in the vault but how many
memories there are, and how many of them a plan lets go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.lifecycle.decay.sweep import OLD_VERSION
from core.memory.draft import to_json
from core.types.lifecycle import Consolidated, Deed, Planned
from core.vault.database.rows import Rows

PRUNES = frozenset({Deed.ARCHIVE, Deed.EXPIRE})
"""What is archived; every other deed of a consolidation carries its counts with it."""
_PRUNED = {"old_version": "pruned_superseded", "doubted": "pruned_disputed"}


def count_plan(deeds: Sequence[Planned]) -> Mapping[str, int]:
    """What carrying a plan out would count, if every deed still fits.

    Args:
        deeds: the plan of a consolidation.

    Returns:
        The keys of `Batch.counts`; one that would stay 0 is left out.
    """
    counts: Counter[str] = Counter()
    for deed in deeds:
        if deed.deed in PRUNES:
            counts[_PRUNED.get(deed.reason, "pruned_decayed")] += 1
        else:
            counts.update(deed.detail["counts"])  # a deed may stack, confirm and digest: it says how many it counts
    return dict(counts)


def count_sweep(deeds: Sequence[Planned]) -> Mapping[str, int]:
    """What carrying out the plan of a sweep would count, if every deed still fits.

    Args:
        deeds: the plan.

    Returns:
        The keys of its `Batch.counts`.
    """
    return dict(Counter("old_versions" if deed.reason == OLD_VERSION else deed.reason for deed in deeds))


def forecast_memories(rows: Rows, deeds: Sequence[Planned], before: Mapping[str, int]) -> dict[str, int]:
    """How many memories there would be behind a consolidation, and how many would stand.

    Args:
        deeds: its plan.
        before: `count_standing` of the same snapshot.

    Returns:
        As `count_standing`.
    """
    gone = [one for deed in deeds for one in ([deed.memory_id] if deed.deed in PRUNES else deed.detail["leaving"])]
    leave = rows.value(
        "SELECT count(*) FROM json_each(?) w JOIN memories h ON h.id = w.value "
        "JOIN memories m ON m.id = h.id OR m.part_of = h.id WHERE m.status = 'active'",
        (to_json(sorted(set(gone))),),
    )
    made = sum(int(deed.detail.get("made", 0)) for deed in deeds)
    stand = sum(int(deed.detail.get("standing", 0)) for deed in deeds)
    return {"total": before["total"] + made, "active": before["active"] - int(leave) + stand}


def make_report(
    counts: Mapping[str, int],
    *,
    before: Mapping[str, int],
    after: Mapping[str, int],
    duration_ms: int,
    dry_run: bool = False,
) -> Consolidated:
    """Make the report.

    Args:
        counts: `Batch.counts` added up, or what a plan would do; unknown keys are passed over.
        before: `count_standing` before the run; `after` behind it, empty for a dry run.
        after: see `before`.
        duration_ms: how long it took.
        dry_run: whether nothing was written.

    Returns:
        The report.
    """
    names = (
        "deduplicated", "resolved", "pending", "corroborated", "clusters", "source_memories", "pruned_superseded",
        "pruned_decayed", "pruned_disputed", "skipped",
    )  # fmt: skip
    known = {name: int(counts.get(name, 0)) for name in names}
    return Consolidated(**known, before=before, after=after, duration_ms=duration_ms, dry_run=dry_run)


def count_standing(rows: Rows) -> dict[str, int]:
    """How many memories there are, and how many stand.

    Returns:
        `total` and `active`.
    """
    total, active = rows.all(
        "SELECT count(*), coalesce(sum(status = 'active'), 0) FROM memories WHERE status <> 'deleted'"
    )[0]
    return {"total": int(total), "active": int(active)}
