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


class Withheld(dict[str, Any]):
    """A memory of which no word is shown; a line stands in place of its text (E10.14.1).

    It is known by what it is, since a text can begin with the very words of that line. A copy of it has to be made
    one again.
    """


@dataclass(frozen=True, slots=True)
class Handed:
    """What is taken down of one reply.

    Attributes:
        verb: as a receipt names it.
        query: the words asked with; "" for none.
        memories: ids of the memories handed out.
        entities: ids of the entities handed out.
        blocked: ids of memories of which no word was shown.
    """

    verb: str
    query: str
    memories: tuple[str, ...]
    entities: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    verb: str
    items: str
    memories: Callable[[Sequence[Result]], Iterable[Result]]


def _each(items: Sequence[Result]) -> Iterable[Result]:
    return items


def _sides(items: Sequence[Result]) -> Iterable[Result]:
    both = (item[name] for item in items for name in ("existing", "incoming"))
    return (side for side in both if side is not None)


_WAYS: Mapping[str, _Way] = MappingProxyType(
    {
        "memory_list": _Way("list", "items", _each),
        "memory_history": _Way("history", "versions", _each),
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
    shown = {one["id"]: isinstance(one, Withheld) for one in way.memories(result[way.items][:kept])}
    memories, blocked = (tuple(one for one, is_out in shown.items() if is_out is out) for out in (False, True))
    query = str(params.get("text", ""))
    return Handed(way.verb, query, memories, (), blocked) if shown or query else None
