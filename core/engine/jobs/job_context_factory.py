"""What jobs are given of an open vault.

Must not do: decide anything, or run a job.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.belief.relate.relation import RelationModel
from core.engine.jobs.model_refinement import ModelRefinement
from core.engine.memories.erasure import vector_remover
from core.engine.runtime.memory_pressure import trim_heap
from core.engine.runtime.open_vault import OpenVault
from core.errors import Code, EnvironmentFaultError
from core.index.manager import IndexManager, IndexState
from core.intake.store.store import StoreService
from core.lifecycle.kit.job_context import JobContext
from core.llm.prompts import Prompt
from core.types.belief import Server
from core.vault.database.rows import Rows

_ASK_S = 300.0
_CLEARTEXT = "cleartext"
_PATIENCE_S, _STEP_S = 1.0, 0.02
_SHARE = 8
"""While somebody searches all the time, work goes on for one part of time in so many and one."""
_NEAR_AT_ONCE = 16

T = TypeVar("T")


def make_job_context(opened: OpenVault, model: ModelRefinement, is_stopped: Callable[[], bool]) -> JobContext:
    """Make what a job stands on; anew for every batch, so that it goes by the options in force.

    Args:
        model: the local model.
        is_stopped: whether the job shall end.

    Returns:
        The ground.
    """
    sight = opened.search.active_space  # once: a change of the model in between must not mix two vector spaces
    is_whole = sight.index.status().state is IndexState.READY
    manners = _Manners(opened)
    return JobContext(
        clock=opened.clock,
        options=opened.options,
        make_id=opened.make_id,
        work=opened.work,
        store_service=sight.store_service,
        space=sight.space,
        read=manners.read,
        embed=lambda texts: opened.on(opened.threads.compute, sight.embed, texts).result(),
        near=partial(_near, sight.index, manners) if is_whole else None,
        ask=partial(_ask, model) if opened.model.server is Server.READY else None,
        is_stopped=is_stopped,
        stored=sight.add_vectors,
        removed=vector_remover(opened),
        tidy=partial(_tidy, sight.store_service),
    )


def _tidy(store_service: StoreService) -> None:
    """A job's own session of the relation model is some 30 MB, and what a stage freed may be as much."""
    relate = store_service.readers.relate
    if isinstance(relate, RelationModel):
        relate.rest()
    trim_heap()


class _Manners:
    """Lets a person's search go first: a plan reads for minutes, and waits whenever it is about to read again.

    It waits while somebody is at work, at most `_SHARE` times as long as it worked since it last waited: it is held
    back, and never for good.
    """

    def __init__(self, opened: OpenVault) -> None:
        self._opened = opened
        self._since = opened.clock.monotonic()

    def wait(self) -> None:
        opened = self._opened
        worked = opened.clock.monotonic() - self._since
        left = min(_PATIENCE_S, max(_STEP_S, _SHARE * worked))
        while opened.load.activity.is_busy and left > 0 and not opened.closing.is_set():
            opened.closing.wait(_STEP_S)
            left -= _STEP_S
        self._since = opened.clock.monotonic()

    def read(self, fn: Callable[[Rows], T]) -> T:
        self.wait()
        return self._opened.vault.read(fn, deadline_s=None)


def _near(
    index: IndexManager, manners: _Manners, vectors: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    labels = np.full((len(vectors), k), -1, np.int64)
    cosines = np.full((len(vectors), k), -1.0, np.float32)
    for place, vector in enumerate(vectors):
        if place % _NEAR_AT_ONCE == 0:
            manners.wait()
        hits = index.search(vector, k)
        labels[place, : len(hits.labels)] = hits.labels
        cosines[place, : len(hits.labels)] = hits.cosines
    return labels, cosines


def _ask(model: ModelRefinement, prompt: Prompt) -> str:
    """Wait for the model on the thread of the job; never on the writer's. Jobs ask about cleartext memories alone."""
    asked = model.put(prompt, (_CLEARTEXT,))
    try:
        return asked.result(_ASK_S)
    except TimeoutError:
        asked.cancel()
        raise EnvironmentFaultError(Code.MODEL_SERVER_FAILED, "The model server did not answer in time.") from None
