"""Every kind of scheduled work, by its type.

Must not do: run any of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.lifecycle.archive import ArchiveErasureJob
from core.lifecycle.consolidate.consolidate import ConsolidationJob
from core.lifecycle.distill.distill import DistillJob
from core.lifecycle.embedding import EmbeddingJob
from core.lifecycle.enrich import EnrichJob
from core.lifecycle.episode_cleanup import EpisodeCleanupJob
from core.lifecycle.job_support.job_context import Planner, StreamJob
from core.lifecycle.questions import GapsJob
from core.lifecycle.replay import ReplayJob
from core.lifecycle.sweep import SweepJob
from core.types.lifecycle import JobType


def make_jobs() -> Mapping[JobType, Planner | StreamJob]:
    """Make one of each.

    Returns:
        Type to job; the order is that in which they run when several are due.
    """
    jobs: tuple[Planner | StreamJob, ...] = (
        EmbeddingJob(), EnrichJob(), ConsolidationJob(), DistillJob(), SweepJob(), EpisodeCleanupJob(),
        ArchiveErasureJob(), GapsJob(), ReplayJob(),
    )  # fmt: skip
    return {job.type: job for job in jobs}
