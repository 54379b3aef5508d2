"""Topics among vectors: spherical k-means, always with the same outcome for the same input.

Must not do: name a topic, know a room, or read a clock.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Groups = NDArray[np.int64]

TALK_WEIGHT = 0.5
"""Share of the conversation's mean in the vector of one of its messages. Tried on LoCoMo's development conversations
with MiniLM: the main room of a session holds 49 % of its turns at 0, 59 at 0.3, 78 at 0.5 and 91 at 0.7, while the
nearest text of another session lies in the same room for 80, 81, 65 and 47 %."""
FAR = 0.3
"""Cosine to the nearest room's centre below which a memory belongs to none. Tried with MiniLM on the sample diary: 1 %
of its texts lie below it among their own rooms, 81 to 85 % among the rooms of LoCoMo's conversations."""
MOST_ROOMS = 24
LEAST_ROOM = 4
_SMALL_ROOM = 14.0
_SMALL_ROOMS = 9.0
_SAMPLE = 4_000
_STARTS = 4
_ROUNDS = 20
_LLOYD_UP_TO = 20_000
_MINI_BATCH = 4_096
_MINI_ROUNDS = 60
_CHUNK = 8_192
_SEED = 20_240_117


def room_count(count: int) -> int:
    """Into how many topics so many memories fall: about sqrt(n / 10), and a small wing one for each 14. Our choice.

    With sqrt alone the sample diary's wings of some 50 memories had two rooms, each of several topics.

    Args:
        count: memories.

    Returns:
        1 to `MOST_ROOMS`.
    """
    many, few = float(np.sqrt(max(count, 0) / 10.0)), min(count / _SMALL_ROOM, _SMALL_ROOMS)
    return int(np.clip(round(max(many, few)), 1, MOST_ROOMS))


def blend_with_conversation(vectors: Vectors, talks: Groups, weight: float = TALK_WEIGHT) -> Vectors:
    """Mix each vector with the mean of its conversation, in place, so that short replies lie with their talk.

    Args:
        vectors: unit rows, (n, dims); changed.
        talks: the conversation of each as a number from 0 on; -1 for none.
        weight: the mean's share, 0 to 1.

    Returns:
        The same array, unit rows again.
    """
    inside = np.flatnonzero(talks >= 0)
    if not inside.size:
        return vectors
    order = inside[np.argsort(talks[inside], kind="stable")]
    starts = np.flatnonzero(np.r_[True, np.diff(talks[order]) != 0])
    ends = np.r_[starts[1:], order.size]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        members = order[start:end]
        if members.size > 1:
            mean = normalize_rows(vectors[members].mean(axis=0, keepdims=True))
            vectors[members] = normalize_rows((1.0 - weight) * vectors[members] + weight * mean)
    return vectors


def normalize_rows(rows: NDArray[np.float32]) -> Vectors:
    """Rows of length 1; a row without direction stays as it is.

    Args:
        rows: (n, dims).

    Returns:
        A new array, float32.
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), np.float32)


def cluster_vectors(vectors: Vectors, count: int | None = None) -> Groups:
    """Divide vectors into topics.

    Lloyd's rounds with k-means++ seeding on a sample; above 20,000 rows small batches move the centres instead
    (Sculley 2010), so that 100,000 take seconds. Topics of fewer than `LEAST_ROOM` go to the nearest bigger one.

    Args:
        vectors: unit rows, (n, dims); read in chunks, never copied whole.
        count: topics wanted; `room_count` if None. There may be fewer.

    Returns:
        The topic of each row, numbered from 0 by falling size.
    """
    total = len(vectors)
    wanted = min(room_count(total) if count is None else count, total)
    if wanted <= 1:
        return np.zeros(total, np.int64)
    dice = np.random.default_rng(_SEED)
    sample = vectors if total <= _SAMPLE else vectors[np.sort(dice.choice(total, _SAMPLE, replace=False))]
    centres = max((_lloyd(sample, _seeds(sample, wanted, dice)) for _ in range(_STARTS)), key=lambda tried: tried[1])[0]
    if total > _LLOYD_UP_TO:
        centres = _small_batches(vectors, centres, dice)
    elif total > _SAMPLE:
        centres = _lloyd(vectors, centres)[0]
    return _by_size(_without_small(vectors, nearest_centres(vectors, centres)[0], centres))


def nearest_centres(vectors: Vectors, centres: Vectors) -> tuple[Groups, NDArray[np.float32]]:
    """The nearest centre of each row.

    Args:
        vectors: unit rows, (n, dims).
        centres: unit rows, (k, dims), at least one.

    Returns:
        Its number, and the cosine to it.
    """
    chosen = np.empty(len(vectors), np.int64)
    cosines = np.empty(len(vectors), np.float32)
    for low in range(0, len(vectors), _CHUNK):
        near = vectors[low : low + _CHUNK] @ centres.T
        best = near.argmax(axis=1)
        chosen[low : low + _CHUNK] = best
        cosines[low : low + _CHUNK] = near[np.arange(len(best)), best]
    return chosen, cosines


def mean_directions(vectors: Vectors, groups: Groups, count: int) -> Vectors:
    """The mean direction of each group.

    Args:
        vectors: unit rows, (n, dims).
        groups: the group of each row, 0 to count - 1.
        count: groups.

    Returns:
        Unit rows, (count, dims); zeros for a group without rows.
    """
    sums = np.zeros((count, vectors.shape[1]), np.float32)
    for low in range(0, len(vectors), _CHUNK):
        part = groups[low : low + _CHUNK]
        members = np.zeros((count, len(part)), np.float32)
        members[part, np.arange(len(part))] = 1.0
        sums += members @ vectors[low : low + _CHUNK]
    return normalize_rows(sums)


def _seeds(sample: Vectors, count: int, dice: np.random.Generator) -> Vectors:
    """k-means++ (Arthur and Vassilvitskii 2007) with 1 - cosine as the squared distance."""
    chosen = [int(dice.integers(len(sample)))]
    far = np.full(len(sample), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, np.maximum(0.0, 1.0 - sample @ sample[chosen[-1]]).astype(np.float64))
        far[chosen] = 0.0
        weight = float(far.sum())
        if weight <= 0.0:
            break  # fewer different rows than topics
        chosen.append(int(dice.choice(len(sample), p=far / weight)))
    return sample[chosen].copy()


def _lloyd(vectors: Vectors, centres: Vectors) -> tuple[Vectors, float]:
    fit = -np.inf
    for _ in range(_ROUNDS):
        groups, cosines = nearest_centres(vectors, centres)
        now = float(cosines.sum())
        if now - fit <= 1e-5 * len(vectors):
            break
        fit = now
        moved = mean_directions(vectors, groups, len(centres))
        empty = ~moved.any(axis=1)
        moved[empty] = centres[empty]
        centres = moved
    return centres, fit


def _small_batches(vectors: Vectors, centres: Vectors, dice: np.random.Generator) -> Vectors:
    seen = np.ones(len(centres), np.float32)
    for _ in range(_MINI_ROUNDS):
        batch = vectors[np.sort(dice.choice(len(vectors), _MINI_BATCH, replace=False))]
        groups, _ = nearest_centres(batch, centres)
        sizes = np.bincount(groups, minlength=len(centres)).astype(np.float32)
        seen += sizes
        rate = (sizes / seen)[:, None]
        centres = normalize_rows((1.0 - rate) * centres + rate * mean_directions(batch, groups, len(centres)))
    return centres


def _without_small(vectors: Vectors, groups: Groups, centres: Vectors) -> Groups:
    sizes = np.bincount(groups, minlength=len(centres))
    big = np.flatnonzero(sizes >= LEAST_ROOM)
    if not big.size:
        return np.zeros(len(groups), np.int64)
    lost = np.flatnonzero(~np.isin(groups, big))
    if lost.size:
        groups = groups.copy()
        groups[lost] = big[nearest_centres(vectors[lost], centres[big])[0]]
    return groups


def _by_size(groups: Groups) -> Groups:
    names, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    rank = np.empty(len(names), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(names))
    return np.asarray(rank[places.reshape(-1)], np.int64)
