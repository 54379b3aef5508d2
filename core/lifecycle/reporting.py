"""The report of a consolidation (seed A, feature 6) from the counts of its batches or of its plan.

Must not do: count anything in the vault but how many memories there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.types.lifecycle import Consolidated, Deed, Planned
from core.vault.rows import Rows

PRUNES = frozenset({Deed.ARCHIVE, Deed.EXPIRE})
"""What is archived; every other deed of a consolidation carries its counts with it."""
_PRUNED = {"old_version": "pruned_superseded", "doubted": "pruned_disputed"}


def counts_of(deeds: Sequence[Planned]) -> Mapping[str, int]:
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


def report(
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
        before: `standing` before the run; `after` behind it, empty for a dry run.
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


def standing(rows: Rows) -> dict[str, int]:
    """How many memories there are, and how many stand.

    Args:
        rows: a vault snapshot.

    Returns:
        `total` and `active`.
    """
    total, active = rows.all(
        "SELECT count(*), coalesce(sum(status = 'active'), 0) FROM memories WHERE status <> 'deleted'"
    )[0]
    return {"total": int(total), "active": int(active)}
