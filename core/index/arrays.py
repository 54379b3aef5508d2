"""Checking and scoring of arrays, so that nothing wrong ever reaches native code.

hnswlib reads past a query of the wrong length and accepts NaN (stack facts, section 6): every array passes here
first. Must not do: keep state.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import Code, LociError
from core.index.base import Floats, Hits, Labels, Predicate, Vectors

NO_LABELS: Labels = np.empty(0, np.int64)
_CHUNK = 4096


def as_labels(labels: ArrayLike) -> Labels:
    """Labels as a flat int64 array.

    Args:
        labels: whole numbers from 0 on.

    Returns:
        The array.

    Raises:
        LociError: E3003 if they are not a list of such numbers.
    """
    array = np.asarray(labels)
    if array.size == 0:
        return NO_LABELS
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > np.iinfo(np.int64).max:
        raise LociError(Code.DIMENSION_MISMATCH, "Index labels must be a list of whole numbers from 0 on.")
    return array.astype(np.int64, copy=False)


def as_stored(labels: ArrayLike, vectors: ArrayLike, dims: int) -> tuple[Labels, NDArray[np.float16]]:
    """A batch as it is kept: labels unique (the last one counts), vectors of length 1 in float16.

    Args:
        labels: one each.
        vectors: shape (len(labels), dims).
        dims: the index's dimension.

    Returns:
        Labels and vectors.

    Raises:
        LociError: E3003 for wrong shapes, E3002 for NaN, infinite or zero vectors.
    """
    wanted = as_labels(labels)
    rows = np.asarray(vectors)
    if wanted.size == 0 and rows.size == 0:
        return wanted, np.empty((0, dims), np.float16)
    if rows.dtype.kind != "f" or rows.shape != (wanted.size, dims):
        raise LociError(
            Code.DIMENSION_MISMATCH, f"Vectors for the index must have {dims} dimensions, one for each label."
        )
    unit = _unit_rows(rows.astype(np.float32, copy=False)).astype(np.float16)
    _, last_from_end = np.unique(wanted[::-1], return_index=True)
    if last_from_end.size == wanted.size:
        return wanted, unit
    keep = np.sort(wanted.size - 1 - last_from_end)
    return wanted[keep], unit[keep]


def as_query(query: ArrayLike, dims: int) -> Vectors:
    """A query as a float32 vector of length 1.

    Args:
        query: shape (dims,).
        dims: the index's dimension.

    Returns:
        The vector.

    Raises:
        LociError: E3003 for another shape, E3002 if it is NaN, infinite or zero.
    """
    array = np.asarray(query)
    if array.dtype.kind != "f" or array.shape != (dims,):
        raise LociError(Code.DIMENSION_MISMATCH, f"A query vector must have {dims} dimensions.")
    return _unit_rows(array.astype(np.float32, copy=False).reshape(1, dims)).reshape(dims)


def _unit_rows(rows: Vectors) -> Vectors:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not bool(np.all(np.isfinite(norms) & (norms > 1e-12))):
        raise LociError(Code.EMBEDDING_FAILED, "A vector for the index is zero or not a number.")
    return np.asarray(rows / norms[:, None], np.float32)


def scope_labels(allowed: Labels | Predicate, labels: Callable[[], Labels]) -> Labels:
    """The labels a scope names.

    Args:
        allowed: the scope.
        labels: gives all labels, ascending; asked only where the scope is a function.

    Returns:
        Ascending labels without repetition; some may be unknown to the index.

    Raises:
        LociError: E3003 if they are no labels, or the function's mask does not fit.
    """
    if not callable(allowed):
        named = as_labels(allowed)
        return named if bool(np.all(named[1:] > named[:-1])) else np.unique(named)
    known = labels()
    mask = np.asarray(allowed(known))
    if mask.dtype != np.bool_ or mask.shape != known.shape:
        raise LociError(Code.DIMENSION_MISMATCH, "A scope function must answer yes or no for each label.")
    return known[mask]


def exact_cosines(rows: Floats, query: Vectors) -> NDArray[np.float32]:
    """Cosines that depend on the row alone, never on its place in a matrix.

    A matrix product may round the same row differently in another position; ties would then fall by chance.

    Args:
        rows: shape (n, dims), no zero rows.
        query: unit vector.

    Returns:
        float32, -1 to 1.
    """
    wide = rows.astype(np.float64)
    dots = (wide * query.astype(np.float64)).sum(axis=1)
    norms = np.sqrt((wide * wide).sum(axis=1))
    return np.asarray(np.clip(dots / norms, -1.0, 1.0), np.float32)


def top_k(labels: Labels, cosines: NDArray[np.float32], k: int) -> Hits:
    """The k best, ties by label.

    Args:
        labels: unique.
        cosines: one each.
        k: how many.

    Returns:
        The hits in order.
    """
    order = np.lexsort((labels, -cosines))[: max(k, 0)]
    return Hits(labels[order], cosines[order])


def score_rows(labels: Labels, rows: Floats, query: Vectors, k: int) -> Hits:
    """The k best of some rows, by exact cosine, in bounded memory.

    Args:
        labels: unique, one for each row.
        rows: shape (n, dims), no zero rows.
        query: unit vector.
        k: how many.

    Returns:
        The hits in order.
    """
    found = no_hits()
    for low in range(0, labels.size, _CHUNK):
        part = slice(low, low + _CHUNK)
        found = merge_hits(found, Hits(labels[part], exact_cosines(rows[part], query)), k)
    return found


def merge_hits(one: Hits, other: Hits, k: int) -> Hits:
    """The k best of two answers; where both know a label the first one's cosine stands.

    Args:
        one: an answer.
        other: another.
        k: how many.

    Returns:
        The hits in order.
    """
    fresh = ~np.isin(other.labels, one.labels)
    labels = np.concatenate((one.labels, other.labels[fresh]))
    return top_k(labels, np.concatenate((one.cosines, other.cosines[fresh])), k)


def no_hits() -> Hits:
    """An empty answer."""
    return Hits(NO_LABELS, np.empty(0, np.float32))
