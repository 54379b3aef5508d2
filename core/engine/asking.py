"""The one way a question is answered in the engine, whoever asks: a recall, a trial, a probe.

Must not do: embed, count an access, or keep a receipt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.engine.opened import Opened
from core.recall.request import RecallRequest
from core.recall.result import RecallResult
from core.score.profile import Profile
from core.vault.rows import Rows


def answer(
    opened: Opened,
    rows: Rows,
    request: RecallRequest,
    vector: NDArray[np.float32] | None,
    now_ms: int,
    profile: Profile | None = None,
) -> RecallResult:
    """Answer a question.

    Args:
        opened: the open vault.
        rows: a snapshot of it.
        request: the question, checked.
        vector: of the question; None where meaning is not compared.
        now_ms: the present, epoch ms.
        profile: other weights than those in force, for a trial.

    Returns:
        The answer; `took_ms` is left to the caller.
    """
    ask = opened.recall.run
    return ask(rows, request, vector, now_ms, profile=profile)
