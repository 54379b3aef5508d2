"""An embedder of a model server: what it gives is checked, and a server that failed is left alone for a while."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.embed.server_embedder import AT_ONCE, REST_S, ServedEmbedder, unit_rows
from core.errors import Code, EnvironmentFaultError, LociError


class Server:
    """Gives what a test wants."""

    def __init__(self) -> None:
        self.fails: Code | None = None
        self.version = "v1"
        self.asked: list[Sequence[str]] = []
        self.now = 0.0
        self.gives: Sequence[Sequence[float]] | None = None

    def ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.append(list(texts))
        if self.fails is not None:
            raise EnvironmentFaultError(self.fails, "away")
        return [[3.0, 0.0, 4.0]] * len(texts) if self.gives is None else self.gives

    def version_now(self) -> str:
        if self.fails is not None:
            raise EnvironmentFaultError(self.fails, "away")
        return self.version

    def embedder(self) -> ServedEmbedder:
        return ServedEmbedder("ollama:small", "v1", 3, self.ask, self.version_now, lambda: self.now)


def code_of(embedder: ServedEmbedder) -> Code:
    with pytest.raises(LociError) as caught:
        embedder.embed(["a"])
    return caught.value.code


def test_e34_10_vectors_are_brought_to_unit_length() -> None:
    embedder = Server().embedder()
    assert (embedder.name, embedder.version, embedder.dims) == ("ollama:small", "v1", 3)
    assert np.allclose(embedder.embed_one("a"), [0.6, 0.0, 0.8])
    assert embedder.embed([]).shape == (0, 3)


@pytest.mark.parametrize(
    ("gives", "code"),
    [
        ([[1.0, 2.0]], Code.DIMENSION_MISMATCH),
        ([[1.0, 2.0, 3.0, 4.0]], Code.DIMENSION_MISMATCH),
        ([], Code.DIMENSION_MISMATCH),
        ([[1.0, 0.0, 0.0]] * 2, Code.DIMENSION_MISMATCH),
        ([[0.0, 0.0, 0.0]], Code.EMBEDDING_FAILED),
        ([[float("nan"), 0.0, 1.0]], Code.EMBEDDING_FAILED),
        ([[float("inf"), 0.0, 1.0]], Code.EMBEDDING_FAILED),
    ],
)
def test_e34_2_what_is_no_vector_is_refused(gives: list[list[float]], code: Code) -> None:
    server = Server()
    server.gives = gives
    assert code_of(server.embedder()) is code


@given(
    st.lists(
        st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=4, max_size=4).filter(any),
        min_size=1,
        max_size=5,
    )
)
def test_any_direction_comes_out_with_length_one(rows: list[list[float]]) -> None:
    found = unit_rows(rows, len(rows), 4)
    assert np.allclose(np.linalg.norm(found.astype(np.float64), axis=1), 1, atol=1e-5)


def test_a_server_that_failed_is_asked_again_after_a_while() -> None:
    server = Server()
    embedder = server.embedder()
    server.fails = Code.EMBEDDER_UNAVAILABLE
    assert code_of(embedder) is Code.EMBEDDER_UNAVAILABLE
    server.fails = None
    is_resting = embedder.is_resting
    assert is_resting
    assert code_of(embedder) is Code.EMBEDDER_UNAVAILABLE
    assert server.asked == []
    server.now = REST_S
    assert not embedder.is_resting
    assert embedder.embed(["a"]).shape == (1, 3)


def test_a_model_that_was_pulled_anew_is_noticed_when_the_server_comes_back() -> None:
    server = Server()
    embedder = server.embedder()
    embedder.embed(["a"])
    server.fails = Code.MODEL_SERVER_FAILED
    assert code_of(embedder) is Code.MODEL_SERVER_FAILED
    server.fails, server.version, server.now = None, "v2", REST_S
    assert code_of(embedder) is Code.MODEL_CHANGED
    assert not embedder.is_resting


def test_many_texts_are_asked_in_parts_and_hostile_ones_made_readable() -> None:
    server = Server()
    embedder = server.embedder()
    assert embedder.embed([f"text {n}" for n in range(2 * AT_ONCE + 1)]).shape == (2 * AT_ONCE + 1, 3)
    assert [len(one) for one in server.asked] == [AT_ONCE, AT_ONCE, 1]
    embedder.embed(["", " \n", "a\0b", "\ud800", "x" * 100_000])
    assert server.asked[-1][:4] == [".", ".", "a b", "\ufffd"]
    assert len(server.asked[-1][4]) == 32_768
