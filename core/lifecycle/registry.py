"""Every kind of scheduled work, by its type.

Must not do: run any of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.lifecycle.consolidate.consolidate import Consolidation
from core.lifecycle.decay.archive import Erasing
from core.lifecycle.decay.episode_cleanup import Episodes
from core.lifecycle.decay.sweep import Sweep
from core.lifecycle.distill.distill import Distill
from core.lifecycle.enrich.embedding_backlog import Embedding
from core.lifecycle.enrich.enrich import Enrich
from core.lifecycle.kit.job_context import Planner, Stream
from core.lifecycle.questions.gaps import Gaps
from core.lifecycle.replay.replay import Replay
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
