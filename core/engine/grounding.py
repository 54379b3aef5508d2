"""What jobs are given of an open vault.

Must not do: decide anything, or run a job.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.engine.erasing import forgetting
from core.engine.opened import Opened
from core.engine.refining import Refining
from core.errors import Code, EnvironmentFaultError
from core.index.manager import IndexManager, State
from core.lifecycle.ground import Ground
from core.llm.prompting import Prompt
from core.types.proposals import Server
from core.vault.rows import Rows

_ASK_S = 300.0
_CLEARTEXT = "cleartext"
_PATIENCE_S, _STEP_S = 1.0, 0.02

T = TypeVar("T")


def ground_of(opened: Opened, model: Refining, is_stopped: Callable[[], bool]) -> Ground:
    """Make what a job stands on; anew for every batch, so that it goes by the options in force.

    Args:
        opened: the open vault.
        model: the local model.
        is_stopped: whether the job shall end.

    Returns:
        The ground.
    """
    sight = opened.sight  # once: a change of the model in between must not mix two vector spaces
    is_whole = sight.index.status().state is State.READY
    return Ground(
        clock=opened.clock,
        options=opened.options,
        make_id=opened.make_id,
        work=opened.work,
        keeper=sight.keeper,
        space=sight.space,
        read=partial(_read, opened),
        embed=lambda texts: opened.on(opened.threads.compute, sight.embed, texts).result(),
        near=partial(_near, sight.index) if is_whole else None,
        ask=partial(_ask, model) if opened.model.server is Server.READY else None,
        is_stopped=is_stopped,
        stored=sight.add_vectors,
        removed=forgetting(opened),
    )


def _read(opened: Opened, fn: Callable[[Rows], T]) -> T:
    # A plan reads again and again for minutes: between two readings it lets a person's search go first.
    left = _PATIENCE_S
    while opened.activity.is_busy and left > 0 and not opened.closing.is_set():
        opened.closing.wait(_STEP_S)
        left -= _STEP_S
    return opened.vault.read(fn, deadline_s=None)


def _near(index: IndexManager, vectors: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    labels = np.full((len(vectors), k), -1, np.int64)
    cosines = np.full((len(vectors), k), -1.0, np.float32)
    for place, vector in enumerate(vectors):
        hits = index.search(vector, k)
        labels[place, : len(hits.labels)] = hits.labels
        cosines[place, : len(hits.labels)] = hits.cosines
    return labels, cosines


def _ask(model: Refining, prompt: Prompt) -> str:
    """Wait for the model on the thread of the job; never on the writer's. Jobs ask about cleartext memories alone."""
    asked = model.put(prompt, (_CLEARTEXT,))
    try:
        return asked.result(_ASK_S)
    except TimeoutError:
        asked.cancel()
        raise EnvironmentFaultError(Code.MODEL_SERVER_FAILED, "The model server did not answer in time.") from None
