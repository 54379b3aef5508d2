"""Groups of near memories: from which cosine pairs are looked at, and which pairs make a group.

Groups are found out of pairs, each checked against its centre; always with the same outcome for the same input. Must
not do: read a clock or a vault, or compare every pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEP = 0.05
"""By so much the line rises where an island is too large."""
_AT_ONCE = 4096


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
