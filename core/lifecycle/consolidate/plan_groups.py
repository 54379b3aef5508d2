"""A plan of a consolidation as deeds: whatever shares a memory is one deed, so that no memory is in two.

What is stacked under a memory, what confirms it, and the digest it goes into belong together: they are done in that
order, all or nothing, and a second run finds nothing left of them. Must not do: read, write or judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.lifecycle.consolidate.digest_groups import Cluster
from core.lifecycle.consolidate.digest_writer import as_json
from core.lifecycle.consolidate.duplicates import Sameness, Tie
from core.lifecycle.consolidate.pairs import Node
from core.types.lifecycle import Deed, Planned

DUPLICATE, MERGED, CORROBORATED, DIGESTED = "duplicate", "merged", "corroborated", "digested"
"""Reasons: keys of `resources/help/lifecycle.json`."""


@dataclass
class _Bundle:
    stacks: list[Tie] = field(default_factory=list)
    confirms: list[Tie] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        """Every memory of it, sources of digests first."""
        members = [node for cluster in self.clusters for node in cluster.members]
        tied = [node for tie in [*self.stacks, *self.confirms] for node in (tie.keep, tie.other)]
        return list(dict.fromkeys([*members, *tied]))


def planned_deeds(same: Sameness, clusters: Sequence[Cluster]) -> list[Planned]:
    """What is stacked, merged, confirmed and digested, as deeds.

    Args:
        same: what says the same.
        clusters: what goes into digests.

    Returns:
        Deeds with ids, marks of texts and numbers alone; duplicates first, then merges, confirmations, digests.
    """
    made = [_planned(bundle) for bundle in _bundles(same, clusters)] + [_merge(tie) for tie in same.merges]
    place = {deed: nr for nr, deed in enumerate((Deed.STACK, Deed.MERGE, Deed.CORROBORATE, Deed.DIGEST))}
    return sorted(made, key=lambda one: place[one.deed])


def _bundles(same: Sameness, clusters: Sequence[Cluster]) -> list[_Bundle]:
    home: dict[str, _Bundle] = {}
    found: list[_Bundle] = []

    def put(ids: Iterable[str]) -> _Bundle:
        bundle = _Bundle()
        for held in {id(one): one for one in map(home.get, ids) if one is not None}.values():
            found.remove(held)
            bundle.stacks += held.stacks
            bundle.confirms += held.confirms
            bundle.clusters += held.clusters
        found.append(bundle)
        return bundle

    def settle(bundle: _Bundle) -> None:
        home.update({node.id: bundle for node in bundle.nodes})

    for ties, name in ((same.stacks, "stacks"), (same.confirms, "confirms")):
        for some in ties.values():
            bundle = put(node.id for tie in some for node in (tie.keep, tie.other))
            getattr(bundle, name).extend(some)
            settle(bundle)
    for cluster in clusters:
        bundle = put(node.id for node in cluster.members)
        bundle.clusters.append(cluster)
        settle(bundle)
    return found


def _planned(bundle: _Bundle) -> Planned:
    nodes = bundle.nodes
    counts = Counter(deduplicated=len(bundle.stacks), corroborated=len(bundle.confirms), clusters=len(bundle.clusters))
    counts["source_memories"] = sum(len(cluster.members) for cluster in bundle.clusters)
    detail: dict[str, Any] = {
        "marks": {node.id: node.mark for node in nodes},
        "stacks": [_tie(tie) for tie in bundle.stacks],
        "confirms": [_tie(tie) for tie in bundle.confirms],
        "digests": [
            {"sources": [node.id for node in cluster.members], "spans": as_json(cluster.spans)}
            for cluster in bundle.clusters
        ],
        "counts": {name: count for name, count in counts.items() if count},
        "made": len(bundle.clusters),
        "standing": len(bundle.clusters),
        "leaving": _leaving(bundle),
    }
    ids = tuple(node.id for node in nodes)
    if bundle.clusters:
        return Planned(Deed.DIGEST, ids[0], ids[1:], DIGESTED, _value(bundle.clusters[0].nearness), detail)
    if bundle.stacks:
        return Planned(Deed.STACK, ids[0], ids[1:], DUPLICATE, _value(bundle.stacks[0].cosine), detail)
    return Planned(Deed.CORROBORATE, ids[0], ids[1:], CORROBORATED, _value(bundle.confirms[0].cosine), detail)


def _leaving(bundle: _Bundle) -> list[str]:
    """What stands beneath another when it is done."""
    beneath = [tie.other.id for tie in bundle.stacks]
    sources = [node.id for cluster in bundle.clusters for node in cluster.members]
    return list(dict.fromkeys([*beneath, *sources]))


def _merge(tie: Tie) -> Planned:
    detail = {
        "marks": {node.id: node.mark for node in (tie.keep, tie.other)},
        "merge": _tie(tie),
        "counts": {"deduplicated": 1},
        "made": 1,  # the original of the text that changes
        "leaving": [tie.other.id],
    }
    return Planned(Deed.MERGE, tie.keep.id, (tie.other.id,), MERGED, _value(tie.cosine), detail)


def _tie(tie: Tie) -> list[Any]:
    return [tie.keep.id, tie.other.id, round(tie.cosine, 4), round(tie.confidence, 4), tie.by]


def _value(number: float) -> float:
    return min(1.0, max(0.0, number))
