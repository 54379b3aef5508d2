"""What ties memories together: stored edges, versions, conversations, parts, and nearness in meaning.

A link goes from one label to another; where a type has no direction, from the lower to the higher. Nearness is
computed from the stored vectors and never written. Must not do: decide what is drawn (`core.recall.browse.graph`
does), or rank answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import CancelledError
from core.index.flat import NO_LABELS
from core.recall.scope import Labels
from core.recall.vectors import SnapshotVectors
from core.types.views import EDGE_TYPES, MEANING
from core.vault.database.rows import Rows

OWNER_LABEL = 0
"""The label of the vault's owner; other entities have negative ones, memories those from 1 on."""
PART_WEIGHT = 0.9
"""Our choice: two neighbouring parts of one text are tied more firmly than by meaning alone."""
CONVERSATION_WEIGHT = 0.5
"""Our choice: as much as two memories that are only just near in meaning."""
SAMPLE = 20_000
"""Memories of which a whole vault's nearness is computed at most: the work grows with the square."""

# Of a message that was split, the first part stands for it in its conversation.
_NEXT = "b.conversation_id = a.conversation_id AND b.position = a.position + 1 AND coalesce(b.part_index, 0) = 0"
_EDGES = (
    "SELECT a.n, b.n, e.type, e.weight FROM edges e "
    "JOIN memories a ON a.id = e.from_id JOIN memories b ON b.id = e.to_id"
)
_DERIVED = (
    "SELECT a.n, b.n, 'derived_from', 1.0 FROM derivations d "
    "JOIN memories a ON a.id = d.derived_id JOIN memories b ON b.id = d.source_id"
)
_NEWER = "SELECT a.n, b.n, 'supersedes', 1.0 FROM memories b JOIN memories a ON a.id = b.superseded_by_id"
_OLDER = "SELECT a.n, b.n, 'supersedes', 1.0 FROM memories a JOIN memories b ON b.id = a.supersedes_id"
_PARTS = (
    "SELECT a.n, b.n, 'part', :part FROM memories a "
    "JOIN memories b ON b.part_of = a.part_of AND b.part_index = a.part_index + 1"
)
_STATED_BY = (
    "SELECT a.n, b.n, 'conversation', :said FROM memories a "  # noqa: S608 - constants only
    f"JOIN memories b ON {_NEXT} WHERE coalesce(a.part_index, 0) = 0"
)

_HERE_A = "a.n IN (SELECT value FROM json_each(:here))"
_HERE_B = "b.n IN (SELECT value FROM json_each(:here))"
_WHOLE = (
    f"{_EDGES} UNION ALL {_DERIVED} UNION ALL {_NEWER} UNION ALL {_OLDER} UNION ALL {_PARTS} UNION ALL {_STATED_BY}"
)
# The part and the message before are looked for by their number, so that the index finds them.
_PARTS_BACK = (
    "SELECT a.n, b.n, 'part', :part FROM memories b "
    "JOIN memories a ON a.part_of = b.part_of AND a.part_index = b.part_index - 1"
)
_STATED_BY_BACKWARD = (
    "SELECT a.n, b.n, 'conversation', :said FROM memories b JOIN memories a "
    "ON a.conversation_id = b.conversation_id AND a.position = b.position - 1 "
    "AND coalesce(a.part_index, 0) = 0 WHERE coalesce(b.part_index, 0) = 0"
)
_AROUND = (
    f"{_EDGES} WHERE {_HERE_A} UNION ALL {_EDGES} WHERE {_HERE_B} "
    f"UNION ALL {_DERIVED} WHERE {_HERE_A} UNION ALL {_DERIVED} WHERE {_HERE_B} "
    f"UNION ALL {_NEWER} WHERE {_HERE_A} UNION ALL {_NEWER} WHERE {_HERE_B} "
    f"UNION ALL {_OLDER} WHERE {_HERE_A} UNION ALL {_OLDER} WHERE {_HERE_B} "
    f"UNION ALL {_PARTS} WHERE {_HERE_A} UNION ALL {_PARTS_BACK} WHERE {_HERE_B} "
    f"UNION ALL {_STATED_BY} AND {_HERE_A} UNION ALL {_STATED_BY_BACKWARD} AND {_HERE_B}"
)

_PER_NODE = 8
_LOOK_AT = 32  # nearest asked for before what may not be shown is left out; few are, so this is nearly always enough
_BLOCK = 256
_GOLDEN = 2654435761

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Link:
    """One tie.

    Attributes:
        a: label of one end.
        b: label of the other.
        type: one of `EDGE_TYPES`.
        label: of a relation between entities its predicate; "" for the others.
    """

    a: int
    b: int
    type: str
    label: str = ""

    def other_end(self, n: int) -> int:
        """The end that is not `n`."""
        return self.b if n == self.a else self.a


Links = dict[Link, float]
"""Link to its weight, 0 to 1."""


@dataclass(frozen=True, slots=True)
class LinkColumns:
    """Many links as columns.

    Attributes:
        a: labels, int64.
        b: labels, int64.
        type: index into `EDGE_TYPES`, int8.
        weight: 0 to 1, float32.
    """

    a: Labels
    b: Labels
    type: NDArray[np.int8]
    weight: NDArray[np.float32]


def read_links_around(rows: Rows, labels: Iterable[int], types: Collection[str]) -> Links:
    """Everything that stands in the vault and touches one of some memories.

    Args:
        types: which types are wanted.

    Returns:
        The links, both ways; one each, with its greatest weight.
    """
    here = json.dumps(sorted(labels))
    found = rows.all(_AROUND, {"here": here, "part": PART_WEIGHT, "said": CONVERSATION_WEIGHT})
    links: Links = {}
    for a, b, kind, weight in found:
        link = Link(a, b, kind)
        if a != b and kind in types:
            links[link] = max(float(weight), links.get(link, 0.0))
    return links


def read_all_links(rows: Rows, types: Collection[str]) -> LinkColumns:
    """Every link that stands in the vault.

    Args:
        types: which types are wanted.

    Returns:
        The links; a pair of versions may come twice.
    """
    found = rows.all(_WHOLE, {"part": PART_WEIGHT, "said": CONVERSATION_WEIGHT})
    number = {name: EDGE_TYPES.index(name) for name in types}
    kept = [(a, b, number[kind], weight) for a, b, kind, weight in found if a != b and kind in number]
    columns = list(zip(*kept, strict=True)) if kept else [(), (), (), ()]
    return LinkColumns(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.int8),
        np.array(columns[3], np.float32),
    )


@dataclass(frozen=True, slots=True)
class Nearness:
    """Finds what is near in meaning.

    Attributes:
        stored: the vectors of the snapshot.
        min_cosine: cosine from which two memories are near.
        may: which of some labels may be shown, ascending.
        every: all labels that may be shown, ascending; asked only where the nearest may mostly not be.
    """

    stored: SnapshotVectors
    min_cosine: float
    may: Callable[[Labels], Labels]
    every: Callable[[], Labels]

    def nearest_links_around(self, labels: Iterable[int]) -> Links:
        """The memories nearest in meaning to each of some, eight a memory at most.

        Returns:
            The links; none for a memory without a vector, or where there is no index yet.
        """
        found, vectors = self.stored.fetch_vectors(np.array(sorted(labels), np.int64))
        links: Links = {}
        for n, vector in zip(found.tolist(), vectors, strict=True):
            for other, cosine in self._nearest_to(n, vector):
                links[_undirected_link(n, other)] = cosine
        return links

    def _nearest_to(self, n: int, vector: Vectors) -> Iterator[tuple[int, float]]:
        hits = self.stored.search(vector, _LOOK_AT, None)
        if hits is None:
            return
        may = np.isin(hits.labels, self.may(hits.labels)) & (hits.labels != n)
        is_cut = hits.labels.size == _LOOK_AT and float(hits.cosines[-1]) >= self.min_cosine
        if is_cut and int(may.sum()) < _PER_NODE:
            # Trigger: a narrow filter. Why: the nearest are mostly outside it. Outcome: asked again within it.
            narrowed = self.stored.search(vector, _PER_NODE + 1, self.every())
            if narrowed is not None:
                hits, may = narrowed, narrowed.labels != n
        for other, cosine in list(zip(hits.labels[may].tolist(), hits.cosines[may].tolist(), strict=True))[:_PER_NODE]:
            if cosine >= self.min_cosine:
                yield other, min(float(cosine), 1.0)

    def nearest_links_among(self, labels: Collection[int]) -> Links:
        """The nearest in meaning to each of some memories among themselves.

        Args:
            labels: of the memories; few hundred.
        """
        found, vectors = self.stored.fetch_vectors(np.array(sorted(labels), np.int64))
        i, j, cosines = nearest_pairs(vectors, _PER_NODE, self.min_cosine)
        return {
            _undirected_link(int(found[a]), int(found[b])): float(cosine)
            for a, b, cosine in zip(i, j, cosines, strict=True)
        }


def _undirected_link(n: int, other: int) -> Link:
    return Link(min(n, other), max(n, other), MEANING)


def sample_links(labels: Labels, most: int = SAMPLE) -> Labels:
    """A part of many labels, the same for the same labels, spread over all of them.

    Args:
        labels: ascending.
        most: how many at most.

    Returns:
        All of them where they are few; ascending. A label's turn comes by Knuth's multiplicative hash.
    """
    if labels.size <= most:
        return labels
    order = np.argsort((labels.astype(np.uint64) * np.uint64(_GOLDEN)) % np.uint64(2**32), kind="stable")
    return np.sort(labels[order[:most]])


def nearest_pairs(
    vectors: Vectors, most: int, least: float, stopped: Callable[[], bool] = lambda: False
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """The nearest rows to each row of a matrix, exactly, a block of rows at a time.

    Args:
        vectors: unit rows, (n, dims).
        most: how many a row.
        least: cosine from which they count.
        stopped: asked before each block.

    Returns:
        Row, other row (the larger), cosine up to 1; each pair once.

    Raises:
        CancelledError: it was stopped.
    """
    count = vectors.shape[0]
    keys, cosines = [NO_LABELS], [np.empty(0, np.float32)]
    for low in range(0, count, _BLOCK):
        if stopped():
            raise CancelledError
        block = vectors[low : low + _BLOCK] @ vectors.T
        at = np.arange(block.shape[0])
        block[at, at + low] = -np.inf
        for _ in range(min(most, count - 1)):
            # Three or eight maxima are several times quicker than one partition of the whole block.
            best = block.argmax(axis=1)
            cosine = block[at, best]
            is_close = cosine >= least
            i, j = (at + low)[is_close], best[is_close]
            keys.append(np.minimum(i, j) * count + np.maximum(i, j))
            cosines.append(np.minimum(cosine[is_close], np.float32(1)))
            block[at, best] = -np.inf
    unique, first = np.unique(np.concatenate(keys), return_index=True)
    return unique // max(count, 1), unique % max(count, 1), np.concatenate(cosines)[first]
