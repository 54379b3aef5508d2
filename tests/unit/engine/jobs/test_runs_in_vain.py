"""A run that could do nothing for anybody is tried again when something came, or a day later; not every two minutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from decay_rig import put
from engine_rig import HandClock, Rig, WordEmbedder, rig_at
from numpy.typing import NDArray

from core.engine.jobs.scheduler import SchedulerPacing
from core.errors import Code, EnvironmentFaultError
from core.types.lifecycle import JobType

MINUTE_MS = 60_000


class Refusing(WordEmbedder):
    """Gives no direction to texts with a word, as a served model may.

    Attributes:
        word: the word.
    """

    word = "mute"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed several texts, or fail."""
        if any(self.word in text for text in texts):
            raise EnvironmentFaultError(Code.EMBEDDING_FAILED, "A text has no direction.")
        return super().embed(texts)

    def embed_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text, or fail."""
        if self.word in text:
            raise EnvironmentFaultError(Code.EMBEDDING_FAILED, "A text has no direction.")
        return super().embed_one(text)


@pytest.fixture
def embedder() -> Refusing:
    return Refusing()


@pytest.fixture
def rig(tmp_path: Path, embedder: Refusing) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=embedder) as made:
        scheduler = made.engine.scheduler
        scheduler.agenda.jobs = {JobType.EMBED: scheduler.agenda.jobs[JobType.EMBED]}
        scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
        scheduler.start_for(made.opened)
        yield made


def runs(rig: Rig, minutes: int, step: int = 3) -> int:
    """Beats over so many minutes, and how many of them ran the backlog of vectors."""
    assert isinstance(rig.clock, HandClock)
    scheduler, found = rig.engine.scheduler, 0
    for _ in range(minutes // step):
        rig.clock.advance(step * MINUTE_MS)
        before = last_run(rig)
        scheduler.queue_due(rig.opened, force=True)
        rig.wait_for_jobs()
        found += last_run(rig) != before
    return found


def last_run(rig: Rig) -> object:
    return rig.rows("SELECT id FROM jobs WHERE type = 'embed' ORDER BY finished_at DESC, rowid DESC LIMIT 1")


def lacking(rig: Rig) -> int:
    return int(
        rig.value("SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.n = m.n)")
    )


def bring(rig: Rig, *texts: str) -> None:
    """Memories that came while the embedder was away."""
    for text in texts:
        put(rig, text)


@pytest.mark.expected_logs("the embedder does not answer: E3002")
def test_texts_without_a_direction_are_tried_once_a_day(rig: Rig) -> None:
    bring(rig, "mute bell", "mute horn", "mute drum")
    assert (runs(rig, 120), lacking(rig)) == (1, 3)
    assert runs(rig, 22 * 60, step=30) == 0
    assert runs(rig, 3 * 60) == 1


@pytest.mark.expected_logs("the embedder does not answer: E3002")
def test_one_more_text_is_not_made_to_wait_by_them(rig: Rig) -> None:
    bring(rig, "mute bell", "mute horn")
    assert runs(rig, 30) == 1
    bring(rig, "The boat lies in the harbour")
    assert lacking(rig) == 3
    assert (runs(rig, 3), lacking(rig)) == (1, 2)
    assert runs(rig, 60) == 1, "it embedded one, so it looks once more"


@pytest.mark.expected_logs("the embedder does not answer: E3002")
def test_a_person_who_asks_waits_for_nothing(rig: Rig, embedder: Refusing) -> None:
    bring(rig, "mute bell")
    assert runs(rig, 30) == 1
    embedder.word = "another"
    rig.engine.jobs.run(JobType.EMBED).result(30)
    assert lacking(rig) == 0
