"""What a job stands on, made by hand of an engine's parts, and a run of a job without the scheduler.

A run writes one undo step over all its batches, as the scheduler's runs do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from engine_rig import Rig
from numpy.typing import NDArray

from core.intake.transaction.unit_of_work import Verb
from core.lifecycle.job_support.job_context import (
    NO_CURSOR,
    BatchResult,
    JobContext,
    NearestNeighbours,
    Planner,
    PreparingPlanner,
    StreamJob,
)
from core.llm.prompts import Prompt
from core.types.lifecycle import PlannedAction
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.tx import Tx

DAY_MS = 86_400_000


@dataclass
class Ran:
    """What a run did.

    Attributes:
        deeds: its plan; of a stream nothing.
        step_id: its undo step; None where it wrote none.
    """

    deeds: Sequence[PlannedAction] = ()
    counts: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    step_id: str | None = None


def ground_of(
    rig: Rig,
    options: Mapping[str, Any] | None = None,
    *,
    near: NearestNeighbours | None = None,
    ask: Callable[[Prompt], str] | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> JobContext:
    """A ground over an open engine.

    Args:
        options: options that differ from the defaults.
        near: neighbours; `near_of(rig)` asks the index. None as while the index is not whole.
        ask: a stand-in for the local model.
        is_stopped: whether the job shall end.
    """
    opened = rig.opened
    return JobContext(
        clock=rig.clock,
        options=opened.options.model_copy(update=dict(options or {})),
        make_id=opened.storage.make_id,
        work=opened.storage.work,
        store_service=opened.search.store_service,
        space=opened.search.space,
        read=lambda fn: opened.storage.vault.read(fn, deadline_s=None),
        embed=lambda texts: np.asarray(opened.search.embedder.embed(list(texts)), np.float32),
        neighbours=near,
        ask=ask,
        is_stopped=is_stopped,
        stored=opened.search.add_vectors,
        removed=opened.search.drop_vectors,
        tidy=lambda: None,
        talk=opened.talk,
    )


def near_of(rig: Rig) -> NearestNeighbours:
    """Neighbours from the engine's index."""
    index = rig.opened.search.index

    def near(vectors: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        labels = np.full((len(vectors), k), -1, np.int64)
        cosines = np.full((len(vectors), k), -1.0, np.float32)
        for place, vector in enumerate(vectors):
            hits = index.search(vector, k)
            labels[place, : len(hits.labels)] = hits.labels
            cosines[place, : len(hits.labels)] = hits.cosines
        return labels, cosines

    return near


def run(rig: Rig, job: Planner, ground: JobContext, batch: int = 3) -> Ran:
    """Plan, then carry out in batches of a few; the deeds are those of before the first batch."""
    deeds = list(job.plan(ground))
    ran = Ran(deeds)
    for at in range(0, len(deeds), batch):
        some, is_last = deeds[at : at + batch], at + batch >= len(deeds)
        apply_plan = job.apply_plan
        if isinstance(job, PreparingPlanner):
            apply_plan = partial(job.apply_plan, prepared=job.prepare(ground, some))
        _write(rig, ran, partial(_apply_positionally, apply_plan, ground, some), is_last=is_last)
    return ran


def _apply_positionally(
    apply_plan: Callable[..., BatchResult], ground: JobContext, some: Sequence[PlannedAction], tx: Tx, verb: Verb
) -> BatchResult:
    return apply_plan(tx, verb, ground, some)  # as the runner does: jobs name the last one in their own way


def _write_positionally(job: StreamJob, ground: JobContext, prepared: object, tx: Tx, verb: Verb | None) -> BatchResult:
    return job.write(tx, verb, ground, prepared)  # as the runner does: jobs name the third one in their own way


def flow(rig: Rig, job: StreamJob, ground: JobContext, most: int = 1_000, begin: Mapping[str, Any] = NO_CURSOR) -> Ran:
    """Run a stream from a cursor on until nothing is left, or for so many batches."""
    ran, cursor = Ran(), dict(begin)
    for _ in range(most):
        prepared = job.prepare(ground, cursor)
        if prepared is None:
            break
        if job.is_derived:
            done: BatchResult = rig.write(partial(_write_positionally, job, ground, prepared, verb=None))
            _add(ran, done)
        else:
            done = _write(rig, ran, partial(_write_positionally, job, ground, prepared), name=job.type.value)
        cursor = dict(done.cursor) or cursor
        if done.is_last:
            break
    if ran.step_id is not None:
        rig.write(lambda tx: tx.run("UPDATE undo_steps SET is_open = 0 WHERE id = ?", (ran.step_id,)))
    return ran


def _write(
    rig: Rig, ran: Ran, work: Callable[..., BatchResult], *, is_last: bool = False, name: str = "run"
) -> BatchResult:
    def write(tx: Tx) -> BatchResult:
        with rig.opened.storage.work.verb(
            tx, name, "A run", LIFECYCLE_ACTOR, step_id=ran.step_id, keep_open=not is_last
        ) as verb:
            done = work(tx, verb=verb)
        exists = tx.value("SELECT 1 FROM undo_steps WHERE id = ?", (verb.step_id,)) is not None
        ran.step_id = verb.step_id if exists else None
        return done

    done: BatchResult = rig.write(write)
    _add(ran, done)
    return done


def _add(ran: Ran, done: BatchResult) -> None:
    ran.counts.update(done.counts)
    ran.ids += done.ids
