"""Finding sealed memories while their key is in memory: by meaning, and by their words.

The vectors and words are made when they are first searched for, are nowhere but in memory, and go with the key. A model
server makes none of them: where one makes the vectors of the others, sealed memories are found by their words alone.
Must not do: write a vector, a word or a question anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.engine.runtime.search import Search
from core.errors import LociError
from core.text.terms import embedding_text, query_terms

NEAR = 0.3
"""Our choice: the least cosine of what is found by meaning alone."""
OF_WORDS = 0.5
"""Our choice: what a question all of whose words are said adds to the nearness."""


@dataclass(frozen=True, slots=True)
class SealedTrace:
    """What one sealed memory is found by.

    Attributes:
        vector: of its text, (dims,); None where no embedder of this machine made one.
        words: its content words.
    """

    vector: NDArray[np.float32] | None
    words: frozenset[str]


class SealedSearch:
    """The traces of sealed memories, as long as their key is in memory."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._lock = threading.Lock()  # guards the two below
        self._traces: dict[str, SealedTrace] = {}
        self._space = ""

    def forget(self) -> None:
        """The key leaves memory: so does all that was made with it."""
        with self._lock:
            for trace in self._traces.values():
                if trace.vector is not None:
                    trace.vector.fill(0.0)
            self._traces.clear()

    def rank(
        self, search: Search, ids: Sequence[str], read: Callable[[Sequence[str]], Mapping[str, str]], query: str
    ) -> list[tuple[str, float]]:
        """The sealed memories that a question means, the nearest first.

        Args:
            ids: those whose key is in memory.
            read: decrypts the texts of some of them.
            query: the question.

        Returns:
            Id and nearness of those that are near enough or share a word.
        """
        is_local = not search.space.served
        with self._lock:
            if self._space != search.space.name:
                self._traces, self._space = {}, search.space.name
            missing = [one for one in ids if one not in self._traces]
        made = _make_traces(search, read(missing), is_local=is_local) if missing else {}
        asked = _embed(search, [query])[0] if is_local else None
        words = _words_of(query)
        with self._lock:
            self._traces.update(made)
            found = [(one, _nearness(self._traces[one], asked, words)) for one in ids if one in self._traces]
        return sorted(((one, near) for one, near in found if near > 0), key=lambda pair: (-pair[1], pair[0]))


def _make_traces(search: Search, texts: Mapping[str, str], *, is_local: bool) -> dict[str, SealedTrace]:
    vectors = _embed(search, list(texts.values())) if is_local else [None] * len(texts)
    return {
        one: SealedTrace(None if vector is None else np.array(vector), _words_of(text))
        for (one, text), vector in zip(texts.items(), vectors, strict=True)
    }


def _embed(search: Search, texts: Sequence[str]) -> Sequence[NDArray[np.float32] | None]:
    if not texts:
        return []
    try:
        return list(search.embed_many([embedding_text(text) for text in texts]).result())
    except LociError:
        return [None] * len(texts)  # then their words are compared


def _nearness(trace: SealedTrace, asked: NDArray[np.float32] | None, words: frozenset[str]) -> float:
    shared = len(words & trace.words) / len(words) if words else 0.0
    cosine = 0.0 if asked is None or trace.vector is None else float(asked @ trace.vector)
    return max(cosine, 0.0) + OF_WORDS * shared if cosine >= NEAR or shared else 0.0


def _words_of(text: str) -> frozenset[str]:
    """The words of a text that are no function words, as the word index has them."""
    return frozenset(term.term for term in query_terms(text) if not term.stop)
