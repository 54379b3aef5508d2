"""Every kind of scheduled work, by its type.

Must not do: run any of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.lifecycle.consolidate import Consolidation
from core.lifecycle.distill import Distill
from core.lifecycle.embedding import Embedding
from core.lifecycle.enrich import Enrich
from core.lifecycle.episodes import Episodes
from core.lifecycle.erasing import Erasing
from core.lifecycle.gaps import Gaps
from core.lifecycle.ground import Planner, Stream
from core.lifecycle.replay import Replay
from core.lifecycle.sweep import Sweep
from core.types.lifecycle import JobType


def all_jobs() -> Mapping[JobType, Planner | Stream]:
    """Make one of each.

    Returns:
        Type to job; the order is that in which they run when several are due.
    """
    jobs: tuple[Planner | Stream, ...] = (
        Embedding(), Enrich(), Consolidation(), Distill(), Sweep(), Episodes(), Erasing(), Gaps(), Replay(),
    )  # fmt: skip
    return {job.type: job for job in jobs}
