"""What the next runs would do, as the window shows it: the plans of the jobs, with texts and reasons in words.

The plan is the one that a run would carry out, so that a preview and a run agree. Must not do: write anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from core.lifecycle.consolidate.run_report import counts_of, foreseen, report, standing, swept
from core.lifecycle.kit.job_context import Ground, Planner, Stream
from core.memory.draft import to_json
from core.types.lifecycle import Deed, JobType, Planned, Preview, PreviewItem
from core.vault.database.rows import Rows

_OTHERS = 5
_WEIGHT = {
    Deed.ERASE: 0, Deed.ARCHIVE: 1, Deed.EXPIRE: 1, Deed.STACK: 2, Deed.MERGE: 2, Deed.DIGEST: 2, Deed.SUPERSEDE: 2,
    Deed.ASK: 3, Deed.FADE: 4, Deed.RECOVER: 5, Deed.CORROBORATE: 5, Deed.STRENGTHEN: 6, Deed.PROPOSE: 6,
}  # fmt: skip
"""What is told first: what takes most away."""


def preview_of(
    jobs: Mapping[JobType, Planner | Stream], ground: Ground, kinds: Sequence[JobType], limit: int
) -> Preview:
    """Plan some kinds of work and tell what they would do.

    Args:
        jobs: every kind of work there is.
        ground: what they stand on.
        kinds: which; streams have no plan and are passed over.
        limit: deeds that are told one by one, at most.

    Returns:
        The deeds, those that take most away first. A memory that two kinds would act on is told once, with the first.
    """
    found: list[tuple[JobType, Planned]] = []
    taken: set[tuple[Deed, str]] = set()
    reports: dict[JobType, Mapping[str, object]] = {}
    for kind in kinds:
        work = jobs.get(kind)
        if not isinstance(work, Planner):
            continue
        deeds = work.plan(ground)
        if kind in _REPORTS:
            reports[kind] = _REPORTS[kind](ground, deeds)
        for deed in deeds:
            if (deed.deed, deed.memory_id) not in taken:
                taken.add((deed.deed, deed.memory_id))
                found.append((kind, deed))
    found.sort(key=lambda pair: (_WEIGHT[pair[1].deed], -pair[1].value, pair[1].memory_id))
    counts = Counter(deed.deed.value for _, deed in found)
    items = ground.read(lambda rows: _items(rows, found[:limit]))
    return Preview(ground.now_ms, tuple(items), dict(counts), reports.get(JobType.CONSOLIDATE, {}), reports)


def _consolidated(ground: Ground, deeds: Sequence[Planned]) -> Mapping[str, object]:
    def read(rows: Rows) -> Mapping[str, object]:
        before = standing(rows)
        after = foreseen(rows, deeds, before)
        return report(counts_of(deeds), before=before, after=after, duration_ms=0, dry_run=True).to_json()

    told: Mapping[str, object] = ground.read(read)
    return told


_REPORTS: Mapping[JobType, Callable[[Ground, Sequence[Planned]], Mapping[str, object]]] = {
    JobType.CONSOLIDATE: _consolidated,
    JobType.SWEEP: lambda _, deeds: swept(deeds),
}
"""What a run would report, from its plan: the same names and numbers."""


def _items(rows: Rows, found: Sequence[tuple[JobType, Planned]]) -> list[PreviewItem]:
    wanted = {one for _, deed in found for one in (deed.memory_id, *deed.others[:_OTHERS])}
    known = {
        str(memory_id): (str(text), str(kind), str(space))
        for memory_id, text, kind, space in rows.all(
            "SELECT m.id, m.text, m.kind, s.name FROM json_each(?) w JOIN memories m ON m.id = w.value "
            "JOIN spaces s ON s.id = m.space_id",
            (to_json(sorted(wanted)),),
        )
    }
    return [
        PreviewItem(
            job,
            deed,
            known[deed.memory_id][0],
            tuple(known[one][0] for one in deed.others[:_OTHERS] if one in known),
            known[deed.memory_id][1],
            known[deed.memory_id][2],
            reasons().get(deed.reason, ""),
        )
        for job, deed in found
        if deed.memory_id in known
    ]


@cache
def reasons() -> Mapping[str, str]:
    """Reasons in words; `resources/help/lifecycle.json`."""
    told: dict[str, str] = json.loads((files("resources") / "help" / "lifecycle.json").read_text(encoding="utf-8"))
    return told
