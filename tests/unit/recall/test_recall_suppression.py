"""Negative feedback keeps a memory out of questions like the one it was given for, and of no others (E7.3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from recall_rig import NOW_MS, Note, Rig

from core.embed.embedder import to_blob
from core.recall.predicate import LIKE_FROM, YOUNG_DAYS, feedback_by_memory, find_suppressed

DAY_MS = 86_400_000
VIM = "memory of vim"


def turned(cosine: float, dims: int = 8) -> NDArray[np.float32]:
    """A unit vector at that cosine to the first axis."""
    vector = np.zeros(dims, np.float32)
    vector[0], vector[1] = cosine, np.sqrt(1.0 - cosine**2)
    return vector


QUERY = turned(1.0)


def judge(rig: Rig, memory_id: str, **more: Any) -> None:
    """Write a feedback, of the person, a day old, for that very question."""
    row = {"signal": "irrelevant", "context": to_blob(QUERY), "client_id": None, "vector_space": "s", **more}
    row.setdefault("at", NOW_MS - DAY_MS)
    rig.connection.execute(
        "INSERT INTO feedback (id, memory_id, signal, context, actor, client_id, at, vector_space) "
        "VALUES (hex(randomblob(8)), :memory_id, :signal, :context, 'owner', :client_id, :at, :vector_space)",
        {**row, "memory_id": memory_id},
    )


@pytest.fixture
def vim(rig: Rig) -> str:
    (found,) = rig.add([Note("The editor is vim")])
    for client in ("c1", "c2"):
        rig.connection.execute(
            "INSERT INTO clients (id, name, token, paired_at) VALUES (?, ?, zeroblob(32), 0)", (client, client)
        )
    return found


def out(rig: Rig, memory_id: str, query: NDArray[np.float32] | None = QUERY, **more: Any) -> bool:
    return bool(find_suppressed(rig.rows, [memory_id, "another"], query, more.pop("now_ms", NOW_MS), **more))


def test_only_questions_like_it_are_meant(rig: Rig, vim: str) -> None:
    assert not out(rig, vim)
    judge(rig, vim)
    assert find_suppressed(rig.rows, [vim, "another"], QUERY, NOW_MS) == {vim}
    assert out(rig, vim, turned(LIKE_FROM + 0.02))
    assert not out(rig, vim, turned(LIKE_FROM - 0.02))
    assert not out(rig, "another")
    assert not out(rig, vim, None)


def test_it_comes_back_after_ninety_days(rig: Rig, vim: str) -> None:
    judge(rig, vim, at=NOW_MS)
    assert out(rig, vim, now_ms=NOW_MS + YOUNG_DAYS * DAY_MS - 1)
    assert not out(rig, vim, now_ms=NOW_MS + YOUNG_DAYS * DAY_MS)


@pytest.mark.parametrize(("signal", "is_out"), [("corrected", True), ("harmful", True), ("helpful", False)])
def test_signals(rig: Rig, vim: str, signal: str, *, is_out: bool) -> None:
    judge(rig, vim, signal=signal)
    assert out(rig, vim) is is_out
    assert feedback_by_memory(rig.rows, [vim], QUERY, NOW_MS) == {vim: signal}


def test_what_a_client_says_counts_for_itself_alone(rig: Rig, vim: str) -> None:
    judge(rig, vim, client_id="c1")
    assert not out(rig, vim)
    assert not out(rig, vim, client_id="c2")
    assert out(rig, vim, client_id="c1")


def test_the_persons_word_goes_before_a_clients_and_the_later_before_the_earlier(rig: Rig, vim: str) -> None:
    judge(rig, vim, at=NOW_MS - 2 * DAY_MS)
    judge(rig, vim, signal="helpful", client_id="c1", at=NOW_MS - DAY_MS)
    assert out(rig, vim, client_id="c1")
    judge(rig, vim, signal="helpful", at=NOW_MS)
    assert not out(rig, vim)


def test_vectors_of_another_embedder_are_not_compared(rig: Rig, vim: str) -> None:
    judge(rig, vim)
    assert out(rig, vim, vector_space="s")
    assert not out(rig, vim, vector_space="t")
    assert not out(rig, vim, turned(1.0, dims=9))
    assert not out(rig, vim, np.zeros(8, np.float32))
