"""The nearest memories that are asked for: the same whether few hits are looked at first or all of them at once."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.belief.trust_gate import SourceAuthority
from core.index.base import Hits
from core.index.manager import IndexManager
from core.intake.candidate import StoreCandidate
from core.intake.store.neighbours import NeighbourSearch
from core.memory.write import VectorSpace
from core.types.values import Kind, Source

GATE = 0.3
STANDING = SourceAuthority(
    owners_word=False,
    owner_said=False,
    persons=False,
    source=Source.TOOL_OUTPUT,
    client_id=None,
    brought_by="owner",
    trust=0.5,
    at_ms=0,
    scope_session="",
)


class Index:
    """Answers with given hits, narrowed to allowed labels."""

    def __init__(self, hits: Hits) -> None:
        self._hits = hits

    def search(self, vector: NDArray[np.float32], k: int, allowed: Any, chunks: Any) -> Hits:
        labels, cosines = self._hits
        kept = np.ones(labels.size, bool) if allowed is None else np.isin(labels, allowed)
        return Hits(labels[kept][:k], cosines[kept][:k])


class Rows:
    """A vault of which some memories are of the newcomer's kind and space.

    Attributes:
        read: how many hits were looked up.
    """

    def __init__(self, wanted: set[int]) -> None:
        self._wanted = wanted
        self.read = 0

    def all(self, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
        labels = json.loads(params[0])
        self.read += len(labels)
        return [(n, f"m{n:03}") for n in labels if n in self._wanted]

    def one(self, sql: str, params: Any = ()) -> None:
        raise AssertionError(sql)

    def value(self, sql: str, params: Any = (), default: Any = None) -> str:
        return ",".join(map(str, sorted(self._wanted)))


def found(steps: list[int], wanted: set[int], most: int) -> tuple[dict[str, float], int]:
    cosines = np.array(sorted((step / 20 for step in steps), reverse=True), np.float32)
    labels = np.arange(cosines.size, dtype=np.int64)
    rows = Rows(wanted)
    newcomer = StoreCandidate("new", ("A text.",), Kind.FACT, "GLOBAL", (), STANDING, np.ones(4, np.float32))
    neighbours = NeighbourSearch(cast("IndexManager", Index(Hits(labels, cosines))), VectorSpace("v", "v", 4))
    return neighbours.find_neighbours(rows, newcomer, GATE, most), rows.read


@settings(max_examples=count_examples(300), deadline=None)
@given(st.lists(st.integers(0, 20), max_size=48), st.sets(st.integers(0, 47)), st.integers(1, 9))
def test_the_nearest_are_those_of_all_hits(steps: list[int], wanted: set[int], most: int) -> None:
    cosines = sorted((float(np.float32(step / 20)) for step in steps), reverse=True)
    near = {f"m{n:03}": one for n, one in enumerate(cosines) if n in wanted and one >= float(np.float32(GATE))}
    expected = dict(sorted(near.items(), key=lambda pair: (-pair[1], pair[0]))[:most])
    assert list(found(steps, wanted, most)[0].items()) == list(expected.items())


def test_the_rows_of_distant_hits_are_not_read_where_near_ones_are_enough() -> None:
    few, read = found(list(range(7, 20)) * 3, set(range(48)), 3)
    assert len(few) == 3
    assert read < 12
