"""A conversation that is a tree of messages: the branch its person last saw, and what was broken on the way up.

Every node names its parent, or is named among the children of one. Must not do: go by the order of keys or children
where the last message is told, loop on a cycle, recurse, or know what a message is made of but its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tree:
    """A conversation's tree as it was read.

    Attributes:
        chain: (node id, message) of the chosen branch from the root down; nodes without a message left out.
        abandoned: how many messages lie elsewhere.
        leaves: how many branches there are.
        ids: every node's id.
        troubles: what was broken, in words.
    """

    chain: tuple[tuple[str, Mapping[str, Any]], ...]
    abandoned: int
    leaves: int
    ids: tuple[str, ...]
    troubles: tuple[str, ...]


def walk_tree(mapping: Mapping[str, Any], current: object) -> Tree:
    """Find the branch the person last saw: from `current_node` by parent to the root, then reversed.

    Where `current_node` is missing or unknown the branch of the newest leaf is taken and the trouble told.

    Args:
        mapping: node id to node.
        current: the conversation's `current_node`.
    """
    parents = _parent_by_node(mapping)
    inner = {parent for parent in parents.values() if parent is not None}
    leaves = [node for node in mapping if node not in inner]
    troubles: list[str] = []
    if isinstance(current, str) and current in mapping:
        start: str | None = str(current)
    else:
        start = _newest_leaf(mapping, leaves)
        if mapping:
            troubles.append("it does not tell its last message; the newest branch was taken")
    path = _path_to_root(mapping, parents, start, troubles)
    chain = tuple((node, message) for node in reversed(path) if (message := _message_of(mapping[node])) is not None)
    total = sum(1 for node in mapping.values() if _message_of(node) is not None)
    return Tree(chain, total - len(chain), len(leaves), tuple(mapping), tuple(troubles))


def _path_to_root(
    mapping: Mapping[str, Any], parents: Mapping[str, str | None], start: str | None, troubles: list[str]
) -> list[str]:
    path: list[str] = []
    seen: set[str] = set()
    node = start
    while node is not None:
        if node in seen:
            troubles.append("its messages point at each other in a circle; the way up was cut there")
            break
        if node not in mapping:
            troubles.append("a message's predecessor is missing; what came before it is not on the chosen branch")
            break
        seen.add(node)
        path.append(node)
        node = parents.get(node)
    return path


def _parent_by_node(mapping: Mapping[str, Any]) -> dict[str, str | None]:
    """Each node's parent as it says itself, else as another node's list of children says."""
    parent_by_child: dict[str, str] = {}
    for node_id, node in mapping.items():
        children = node.get("children") if isinstance(node, dict) else None
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str):
                parent_by_child.setdefault(child, node_id)
    parents: dict[str, str | None] = {}
    for node_id, node in mapping.items():
        own = node.get("parent") if isinstance(node, dict) else None
        parents[node_id] = str(own) if isinstance(own, str) else parent_by_child.get(node_id)
    return parents


def _message_of(node: object) -> Mapping[str, Any] | None:
    message = node.get("message") if isinstance(node, dict) else None
    return message if isinstance(message, dict) else None


def _newest_leaf(mapping: Mapping[str, Any], leaves: list[str]) -> str | None:
    """The leaf with the latest time of its own; of equals the last in the file."""
    best: str | None = None
    best_time = float("-inf")
    for leaf in leaves or list(mapping)[-1:]:
        message = _message_of(mapping[leaf]) or {}
        time = message.get("create_time")
        value = float(time) if isinstance(time, int | float) and not isinstance(time, bool) else float("-inf")
        if best is None or value >= best_time:
            best, best_time = leaf, value
    return best
