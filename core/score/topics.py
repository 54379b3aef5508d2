"""Memories that speak of one thing: centres of vectors, groups for a digest, and the steps along a topic's line.

Groups are found out of pairs, each checked against its centre; always with the same outcome for the same input. Must
not do: name a topic, know a room, read a clock or a vault, or compare every pair.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.types.views import Transition

_STEP = 0.05
"""By so much the line rises where an island is too large."""
_STRENGTH_LEAST = 1e-9
_AT_ONCE = 4096
Pair = frozenset[str]
"""Two ids; which of them is the newer does not matter (X42: the direction of an edge is tested both ways)."""
Vectors = NDArray[np.float32]
Groups = NDArray[np.int64]
TALK_WEIGHT = 0.5
"""Share of the conversation's mean in the vector of one of its messages. Tried on LoCoMo's development conversations
with MiniLM: the main room of a session holds 49 % of its turns at 0, 59 at 0.3, 78 at 0.5 and 91 at 0.7, while the
nearest text of another session lies in the same room for 80, 81, 65 and 47 %."""
FAR = 0.3
"""Cosine to the nearest room's centre below which a memory belongs to none. Tried with MiniLM on the sample diary: 1 %
of its texts lie below it among their own rooms, 81 to 85 % among the rooms of LoCoMo's conversations."""
_CHUNK = 8_192


@dataclass(frozen=True, slots=True)
class CosineThresholds:
    """From which cosine pairs are looked at, for one embedder.

    Attributes:
        dedup: two of one kind may be one.
        corroborate: one may confirm the other.
        cluster: both may belong to one group.
    """

    dedup: float
    corroborate: float
    cluster: float


AS_PLANNED = CosineThresholds(dedup=0.95, corroborate=0.9, cluster=0.75)
"""The lines of the seeds, set for other embedders (design, settlement 13); the defaults of the options."""
CALIBRATED = {"all-MiniLM-L6-v2": CosineThresholds(dedup=0.62, corroborate=0.62, cluster=0.6)}
"""By the name of the embedder, measured on texts of our own (66 paraphrases of one another, 80 pairs of details of one
thing, 700 strangers): of paraphrases 95 in 100 lie above 0.62, half above 0.72 and none above 0.96, so that 0.95 would
find nothing; a classifier decides, not the cosine, and gives what may be near by chance less weight
(`core.score.trust`). Of strangers none lay above 0.35; in a vault of 50,000 three are to be expected above
0.6, so
that the line of clusters, which no classifier guards, is not lower."""


@dataclass(frozen=True, slots=True)
class TransitionStep:
    """What one statement on a timeline is to the earlier ones.

    Attributes:
        transition: what it is.
        about: place of the earlier one that it corrects or confirms; None where it does neither.
        gap_ms: milliseconds since the one before; None for the first.
    """

    transition: Transition
    about: int | None
    gap_ms: int | None


def thresholds_for(model: str, chosen: CosineThresholds) -> CosineThresholds:
    """The lines in force: what the person set, else what is calibrated for the embedder.

    Args:
        model: the embedder's name or version, or that of its vector space.
        chosen: the options; a value that is the plan's counts as not set.

    Returns:
        The lines, each 0 to 1.
    """
    found = next((lines for name, lines in CALIBRATED.items() if name in model), AS_PLANNED)
    return CosineThresholds(
        dedup=found.dedup if chosen.dedup == AS_PLANNED.dedup else chosen.dedup,
        corroborate=found.corroborate if chosen.corroborate == AS_PLANNED.corroborate else chosen.corroborate,
        cluster=found.cluster if chosen.cluster == AS_PLANNED.cluster else chosen.cluster,
    )


def combined_confidence(confidences: Sequence[float]) -> float:
    """How sure several are together (C5): 1 - prod(1 - c).

    Args:
        confidences: of the members, 0 to 1 each.

    Returns:
        0 to 1; 0 for none.
    """
    return float(1.0 - np.prod([1.0 - min(1.0, max(0.0, one)) for one in confidences])) if confidences else 0.0


def mean_confidence(confidences: Sequence[float], strengths: Sequence[float]) -> float:
    """How sure a digest is (C8): the mean of its members' confidences, weighted with their strengths.

    Args:
        confidences: of the members, 0 to 1 each.
        strengths: of the members, 0 or more each; where all are 0 every member counts alike.

    Returns:
        0 to 1, between the least and the greatest of the confidences.

    Raises:
        ValueError: no members, or lists of two lengths.
    """
    if not confidences or len(confidences) != len(strengths):
        raise ValueError("one strength for each of at least one confidence")
    weights = np.maximum(np.asarray(strengths, float), 0.0)
    if float(weights.sum()) <= _STRENGTH_LEAST:
        weights = np.ones(len(confidences))
    mean = float(np.average(np.asarray(confidences, float), weights=weights))
    return min(max(confidences), max(min(confidences), mean))


def connected_components(
    pairs: NDArray[np.int64], cosines: NDArray[np.float32], most: int = 2000
) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Connected components of a graph by union-find (E4.2.1), none too large to look at.

    One that has more nodes falls apart: its weakest pairs are left out, step by step, until each piece is small
    enough.

    Args:
        pairs: (m, 2) labels.
        cosines: (m,) how near each pair is.
        most: nodes of one island, at least 2.

    Returns:
        The pairs and cosines of each island, islands by their least label.
    """
    found: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
    waiting = [(pairs, cosines)] if len(pairs) else []
    while waiting:
        for part, near in _split_into_components(*waiting.pop()):
            if len(np.unique(part)) <= most:
                found.append((part, near))
                continue
            line = max(float(near.min()) + _STEP, float(np.nextafter(near.min(), np.float32(2.0))))
            kept = near >= line
            if not kept.any():
                # All are as near as the next: as many as may be looked at, by label.
                kept = np.arange(len(near)) < most // 2
            waiting.append((part[kept], near[kept]))
    return sorted(found, key=lambda one: int(one[0].min()))


def group_by_centre(
    vectors: NDArray[np.float32], pairs: NDArray[np.int64], cosines: NDArray[np.float32], line: float, most: int = 64
) -> list[tuple[int, ...]]:
    """Groups of near memories in which every member is near the centre (C6): a chain of neighbours is no group.

    The nearest pairs are united first, and two groups only where each member of both is within the line of their
    common centre.

    Args:
        vectors: (n, dims) unit rows.
        pairs: (m, 2) places of rows in `vectors`.
        cosines: (m,) of each pair.
        line: the least cosine of a member to the centre, 0 to 1.
        most: members of a group.

    Returns:
        Groups of at least two, as ascending places; by their first member.
    """
    members = {at: [at] for at in range(len(vectors))}
    home = list(range(len(vectors)))
    sums = {at: vectors[at].astype(np.float64) for at in members}
    for nr in _nearest_first(pairs, cosines):
        a, b = sorted((home[int(pairs[nr, 0])], home[int(pairs[nr, 1])]))
        if a == b or cosines[nr] < line or len(members[a]) + len(members[b]) > most:
            continue
        both, total = members[a] + members[b], sums[a] + sums[b]
        if float(np.min(vectors[both] @ total)) < line * float(np.linalg.norm(total)):
            continue
        members[a], sums[a] = both, total
        for at in members.pop(b):
            home[at] = a
        del sums[b]
    return sorted(tuple(sorted(group)) for group in members.values() if len(group) > 1)


def classify_transitions(
    line: Sequence[tuple[str, int]], opposed: Collection[Pair], supported: Collection[Pair]
) -> tuple[TransitionStep, ...]:
    """Tell what each memory is to those before it (E39.5, with X42: the first one is a start).

    A correction is one that is opposed to any before it, a reinforcement one that supports any, else it is an
    addition; where it is both, the correction is what matters. E39.5 compares with the one directly before; here any
    earlier one counts, because memories of other matters may stand between the two.

    Args:
        line: ids, each once, and times in epoch ms; ascending by time.
        opposed: pairs of which one contradicts or replaced the other.
        supported: pairs of which one supports the other.

    Returns:
        A step for each; `about` is the latest earlier one with that tie.
    """
    steps: list[TransitionStep] = []
    for place, (memory_id, at) in enumerate(line):
        if not place:
            steps.append(TransitionStep(Transition.START, None, None))
            continue
        gap = at - line[place - 1][1]
        corrected = _latest_tied(line, place, memory_id, opposed)
        confirmed = _latest_tied(line, place, memory_id, supported)
        if corrected is not None:
            steps.append(TransitionStep(Transition.CORRECTION, corrected, gap))
        elif confirmed is not None:
            steps.append(TransitionStep(Transition.REINFORCEMENT, confirmed, gap))
        else:
            steps.append(TransitionStep(Transition.ADDITION, None, gap))
    return tuple(steps)


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


def _split_into_components(
    pairs: NDArray[np.int64], cosines: NDArray[np.float32]
) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    labels, places = np.unique(pairs, return_inverse=True)
    ends: NDArray[np.int64] = places.reshape(pairs.shape)
    above = np.arange(len(labels))
    for at in range(0, len(ends), _AT_ONCE):  # a list of all of them takes five times the memory of the array
        for a, b in ends[at : at + _AT_ONCE].tolist():
            first, second = _find_root(above, a), _find_root(above, b)
            above[max(first, second)] = min(first, second)
    while not np.array_equal(nearer := above[above], above):
        above = nearer
    roots = above[ends[:, 0]]
    order = np.argsort(roots, kind="stable")
    cuts = np.flatnonzero(np.diff(roots[order])) + 1
    return [(pairs[part], cosines[part]) for part in np.split(order, cuts)]


def _find_root(above: NDArray[np.int64], at: int) -> int:
    while above[at] != at:
        above[at] = above[above[at]]
        at = int(above[at])
    return at


def _nearest_first(pairs: NDArray[np.int64], cosines: NDArray[np.float32]) -> list[int]:
    """Places of pairs; of those as near as one another the lesser labels first."""
    order: NDArray[np.int64] = np.asarray(np.lexsort((pairs[:, 1], pairs[:, 0], -cosines)), np.int64)
    return [int(nr) for nr in order]


def _latest_tied(line: Sequence[tuple[str, int]], place: int, memory_id: str, ties: Collection[Pair]) -> int | None:
    return next((before for before in reversed(range(place)) if frozenset((line[before][0], memory_id)) in ties), None)
