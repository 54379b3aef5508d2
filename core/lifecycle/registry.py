"""Every kind of scheduled work, by its type.

Must not do: run any of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.lifecycle.consolidate.consolidate import ConsolidationJob
from core.lifecycle.decay.archive import ArchiveErasureJob
from core.lifecycle.decay.episode_cleanup import EpisodeCleanupJob
from core.lifecycle.decay.sweep import SweepJob
from core.lifecycle.distill.distill import DistillJob
from core.lifecycle.enrich.embedding_backlog import EmbeddingJob
from core.lifecycle.enrich.enrich import EnrichJob
from core.lifecycle.kit.job_context import Planner, StreamJob
from core.lifecycle.questions.gaps import GapsJob
from core.lifecycle.replay.replay import ReplayJob
from core.types.lifecycle import JobType


def all_jobs() -> Mapping[JobType, Planner | StreamJob]:
    """Make one of each.

    Returns:
        Type to job; the order is that in which they run when several are due.
    """
    jobs: tuple[Planner | StreamJob, ...] = (
        EmbeddingJob(), EnrichJob(), ConsolidationJob(), DistillJob(), SweepJob(), EpisodeCleanupJob(),
        ArchiveErasureJob(), GapsJob(), ReplayJob(),
    )  # fmt: skip
    return {job.type: job for job in jobs}
