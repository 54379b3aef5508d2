"""The numbers of the versions of a chain: from 1 on, each once, the later one higher.

The parts of a split text share their number. Must not do: decide which version stands.
"""

from __future__ import annotations

from typing import Any

from core.memory.read import said_at_sql
from core.vault.database.tx import Tx

_HEADS = (
    "SELECT id, version FROM memories WHERE chain_id = ? AND coalesce(part_index, 0) = 0 AND id <> ? "  # noqa: S608 - constants
    f"ORDER BY version, {said_at_sql()}, n"
)


def newest_version(tx: Tx, chain_id: str, but: str = "") -> int:
    """The highest number of a chain.

    Args:
        but: a memory that is not counted.

    Returns:
        0 for a chain of nothing else.
    """
    return int(
        tx.value(
            "SELECT max(version) FROM memories WHERE chain_id = ? AND id <> ? AND coalesce(part_index, 0) = 0",
            (chain_id, but),
        )
        or 0
    )


def assign_version(tx: Tx, memory_id: str, chain_id: str, version: int) -> None:
    """Give a memory, and its other parts, a place in a chain.

    Args:
        memory_id: the memory; of a split text the head.
        version: the number.
    """
    rows = tx.all("SELECT id, chain_id, version FROM memories WHERE id = ? OR part_of = ?", (memory_id, memory_id))
    for part, chain, had in rows:
        if (chain, had) != (chain_id, version):
            tx.update("memories", {"id": part}, {"chain_id": chain_id, "version": version})


def append_chain(tx: Tx, chain_id: str, into: str, but: str = "") -> None:
    """The versions of one chain go on from the last one of another.

    Args:
        chain_id: the chain that ends.
        into: the chain that goes on.
        but: a memory that is left as it is.
    """
    if chain_id == into:
        return
    last = newest_version(tx, into, but)
    for place, (memory_id, _) in enumerate(tx.all(_HEADS, (chain_id, but)), last + 1):
        assign_version(tx, str(memory_id), into, place)


def make_room_in_chain(tx: Tx, chain_id: str, row: dict[str, Any]) -> int:
    """Make room in a chain for a version that was said before others.

    Args:
        row: the newcomer's row of `memories`.

    Returns:
        Its number: after what was said before it. Those that follow move up where the number was taken.
    """
    own = str(row["id"])
    before = tx.value(
        "SELECT max(version) FROM memories WHERE chain_id = ? AND id <> ? AND coalesce(part_index, 0) = 0 "  # noqa: S608 - constants
        f"AND {said_at_sql()} <= ?",
        (chain_id, own, row["occurred_at"] if row["occurred_at"] is not None else row["recorded_at"]),
    )
    version = int(before or 0) + 1
    later = [(str(one), int(had)) for one, had in tx.all(_HEADS, (chain_id, own)) if had >= version]
    if any(had == version for _, had in later):
        for memory_id, had in reversed(later):
            assign_version(tx, memory_id, chain_id, had + 1)
    return version
