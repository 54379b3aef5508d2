"""The backlog of vectors: texts without a direction hold up nobody, and a model that refuses all is no run at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from decay_rig import put
from engine_rig import Rig
from ground_rig import flow, ground_of
from numpy.typing import NDArray

from core.errors import Code, EnvironmentFaultError
from core.lifecycle.embedding import EmbeddingJob
from core.lifecycle.job_support.job_context import JobContext


def grudging(rig: Rig, word: str) -> JobContext:
    """A ground whose model gives no direction to texts with a word."""
    ground = ground_of(rig)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        if any(word in text for text in texts):
            raise EnvironmentFaultError(Code.EMBEDDING_FAILED, "A text has no direction.")
        return ground.embed(texts)

    return replace(ground, embed=embed)


def lacking(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows(
        "SELECT m.id FROM memories m WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.n = m.n) ORDER BY m.n"
    )]  # fmt: skip


def test_sixty_texts_without_a_direction_at_the_front_hold_up_nobody_behind(rig: Rig) -> None:
    bad = [put(rig, f"mute {number}") for number in range(60)]
    for number in range(70):
        put(rig, f"plain {number}")
    ran = flow(rig, EmbeddingJob(), grudging(rig, "mute"))
    assert ran.counts == {"embedded": 70}
    assert lacking(rig) == bad
    assert flow(rig, EmbeddingJob(), ground_of(rig)).counts == {"embedded": 60}  # the next run looks at them again


def test_a_model_that_refuses_everything_ends_the_run(rig: Rig) -> None:
    for number in range(120):
        put(rig, f"plain {number}")
    with pytest.raises(EnvironmentFaultError) as caught:
        flow(rig, EmbeddingJob(), grudging(rig, ""))
    assert caught.value.code is Code.EMBEDDING_FAILED
