"""An embedder that a local model server runs: its vectors are checked as strictly as anybody else's.

How the server is asked is handed in. Must not do: connect anywhere, keep a text, give a server's words on, or ask
again at once after a failure.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from core.embed.embedder import NamedEmbedder, Vectors
from core.errors import Code, EnvironmentFaultError, LociError
from core.text.terms import replace_surrogates

AT_ONCE = 32
REST_S = 30.0
"""So long a server that failed is left alone (E32.2)."""

_MAX_CHARS = 32_768
_BLANK = "."
_FAILURES = frozenset({Code.EMBEDDER_UNAVAILABLE, Code.MODEL_SERVER_FAILED})

Ask = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives one vector a text, of any norm; raises E3001, E3005."""


class ServedEmbedder(NamedEmbedder):
    """Implements `core.embed.embedder.Embedder`; may be used from several threads at once.

    Reads the first 32,768 characters of a text (8,192 tokens, E34.10). A blank text is embedded as a full stop, so
    that it too has a direction.
    """

    def __init__(
        self,
        name: str,
        version: str,
        dims: int,
        ask: Ask,
        version_now: Callable[[], str],
        monotonic: Callable[[], float],
    ) -> None:
        """Make one; nothing is asked yet.

        Args:
            name: of the model.
            version: the one whose vectors are searched.
            dims: the length they have.
            ask: asks the server.
            version_now: which version the server has at the moment; raises as `ask`.
            monotonic: seconds that never run backwards.
        """
        super().__init__(name, version, dims)
        self._ask = ask
        self._version_now = version_now
        self._monotonic = monotonic
        self._lock = threading.Lock()  # guards the two below
        self._rests: tuple[float, Code] | None = None
        self._is_checked = False

    @property
    def is_resting(self) -> bool:
        """Whether the server failed a moment ago and is left alone."""
        with self._lock:
            return self._rests is not None and self._monotonic() < self._rests[0]

    def embed_one(self, text: str) -> Vectors:
        """Embed one text; see `embed`."""
        return np.asarray(self.embed([text])[0], np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed several texts.

        Args:
            texts: any strings.

        Returns:
            Unit rows, (len(texts), dims).

        Raises:
            LociError: E3001 where no server answers, E3005 where it fails, E3004 where it has another version of the
                model, E3003 for vectors of another length, E3002 for one that is zero or not a number.
        """
        rows = np.empty((len(texts), self.dims), np.float32)
        for low in range(0, len(texts), AT_ONCE):
            part = texts[low : low + AT_ONCE]
            rows[low : low + len(part)] = self._unit_rows(
                self._request_vectors([_readable_by_model(text) for text in part]), len(part)
            )
        return rows

    def _request_vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        with self._lock:
            if self._rests is not None and self._monotonic() < self._rests[0]:
                raise EnvironmentFaultError(self._rests[1], "The model server failed a moment ago.")
            is_checked = self._is_checked
        try:
            if not is_checked:
                self._need_version()
            found = self._ask(texts)
        except LociError as error:
            if error.code in _FAILURES:
                with self._lock:
                    self._rests, self._is_checked = (self._monotonic() + REST_S, error.code), False
            raise
        with self._lock:
            self._rests, self._is_checked = None, True
        return found

    def _need_version(self) -> None:
        """A model of the same name that was pulled anew gives other vectors: they would be compared with the old."""
        if self._version_now() != self.version:
            raise EnvironmentFaultError(
                Code.MODEL_CHANGED, "The model on the server is another one than that of the stored vectors."
            )

    def _unit_rows(self, found: Sequence[Sequence[float]], count: int) -> Vectors:
        return unit_rows(found, count, self.dims)


def unit_rows(found: Sequence[Sequence[float]], count: int, dims: int) -> Vectors:
    """Check what a server gave, and bring it to unit length.

    Args:
        found: vectors, as the server gave them.
        count: how many there must be.
        dims: the length each must have, above 0.

    Returns:
        Unit rows, (count, dims), finite.

    Raises:
        EnvironmentFaultError: E3003 for another number or length, E3002 for a row that is zero or not a number.
    """
    if len(found) != count or any(len(row) != dims for row in found):
        got = len(found[0]) if found else 0
        raise EnvironmentFaultError(
            Code.DIMENSION_MISMATCH, f"The model server gave vectors of {got} dimensions, not {dims}; change the model."
        )
    rows = np.asarray(found, np.float64).reshape(count, dims)
    # Each row by its largest component first: squares of very large or very small numbers would over- or underflow.
    largest = np.abs(rows).max(axis=1, initial=0.0)
    if not bool(np.all(np.isfinite(largest) & (largest > 0))):
        raise EnvironmentFaultError(Code.EMBEDDING_FAILED, "The model server gave a vector without a direction.")
    scaled = rows / largest[:, None]
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True), np.float32)


def _readable_by_model(text: str) -> str:
    cut = replace_surrogates(text[:_MAX_CHARS]).replace("\0", " ")
    return cut if cut.strip() else _BLANK
