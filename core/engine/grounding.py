"""What jobs are given of an open vault.

Must not do: decide anything, or run a job.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.engine.opened import Opened
from core.engine.refining import Refining
from core.index.manager import State
from core.lifecycle.ground import Ground
from core.llm.prompting import Prompt
from core.types.proposals import Server

_ASK_S = 300.0
_CLEARTEXT = "cleartext"


def ground_of(opened: Opened, model: Refining, is_stopped: Callable[[], bool]) -> Ground:
    """Make what a job stands on; anew for every batch, so that it goes by the options in force.

    Args:
        opened: the open vault.
        model: the local model.
        is_stopped: whether the job shall end.

    Returns:
        The ground.
    """
    is_whole = opened.index.status().state is State.READY
    return Ground(
        clock=opened.clock,
        options=opened.options,
        make_id=opened.make_id,
        work=opened.work,
        keeper=opened.keeper,
        space=opened.space,
        read=lambda fn: opened.vault.read(fn, deadline_s=None),
        embed=lambda texts: opened.embed_many(texts).result(),
        near=partial(_near, opened) if is_whole else None,
        ask=partial(_ask, model) if opened.model.server is Server.READY else None,
        is_stopped=is_stopped,
        stored=opened.add_vectors,
        removed=opened.drop_vectors,
    )


def _near(opened: Opened, vectors: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    labels = np.full((len(vectors), k), -1, np.int64)
    cosines = np.full((len(vectors), k), -1.0, np.float32)
    for place, vector in enumerate(vectors):
        hits = opened.index.search(vector, k)
        labels[place, : len(hits.labels)] = hits.labels
        cosines[place, : len(hits.labels)] = hits.cosines
    return labels, cosines


def _ask(model: Refining, prompt: Prompt) -> str:
    """Wait for the model on the thread of the job; never on the writer's. Jobs ask about cleartext memories alone."""
    return model.put(prompt, (_CLEARTEXT,)).result(_ASK_S)
