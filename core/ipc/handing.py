"""What a reply hands to a client beside searches and contexts: lists, versions, the review's pairs, entities.

The person sees of each what was asked and what left the vault (design section 3); searches, contexts and single
memories leave their own receipts in the engine. Must not do: look at a text, or count what did not fit into the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Handed:
    """What is taken down of one reply.

    Attributes:
        verb: as a receipt names it.
        query: the words asked with; "" for none.
        memories: ids of the memories handed out.
        entities: ids of the entities handed out.
    """

    verb: str
    query: str
    memories: tuple[str, ...]
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    verb: str
    items: str
    memories: Callable[[Sequence[Result]], Iterable[str]]


def _ids(items: Sequence[Result]) -> Iterable[str]:
    return (item["id"] for item in items)


def _sides(items: Sequence[Result]) -> Iterable[str]:
    both = (item[name] for item in items for name in ("existing", "incoming"))
    return (side["id"] for side in both if side is not None)


_WAYS: Mapping[str, _Way] = MappingProxyType(
    {
        "memory_list": _Way("list", "items", _ids),
        "memory_history": _Way("history", "versions", _ids),
        "memory_conflicts": _Way("conflicts", "conflicts", _sides),
    }
)
_ENTITIES = frozenset({"entity_get", "entity_resolve"})


def handed_by(method: str, params: Mapping[str, Any], result: Result, kept: int | None) -> Handed | None:
    """What a reply hands out that no receipt of the engine tells of.

    Args:
        method: what was called.
        params: its parameters.
        result: its reply.
        kept: how many items went into the line, where it was cut.

    Returns:
        What is to be taken down; None where nothing is.
    """
    if method in _ENTITIES:
        found = result.get("candidates", [result])
        entities = tuple(one["entity_id"] for one in found)
        return Handed("entities", str(params.get("name", "")), (), entities) if entities else None
    way = _WAYS.get(method)
    if way is None:
        return None
    memories = tuple(dict.fromkeys(way.memories(result[way.items][:kept])))
    query = str(params.get("text", ""))
    return Handed(way.verb, query, memories) if memories or query else None
