"""Per-client quota: no other client's memories take more than a third of what a client is given.

A client that writes a lot is found a lot: fifty lines of one assistant, each relevant by itself, would be most of what
every other client is told (reliability study, C 38). So each other client gets at most a third of the places (or of the
tokens of a context) before everybody else, and all other clients together at most two thirds before the memories that
have no quota: the person's own, the asker's own, and what the person said as well or vouched for. Free places are then
filled with what is left, so a quota reorders and never leaves a gap. The owner asks without any quota.
A client that reached its share among what a search brought is saturated (`saturated_clients`); where such clients fill
the candidate lists (`is_crowded`), the pipeline searches again among the others.
Must not do: rank, or leave a place empty that something could fill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.belief.claims import find_owner_backed
from core.score.context_budget import PARTS
from core.vault.database.rows import Rows

_OTHERS = PARTS - 1
"""Parts, of `PARTS`, that all other clients together may take before memories without a quota."""


def find_contributors(rows: Rows, brought: Sequence[tuple[str, str | None]], asker: str | None) -> list[str | None]:
    """The client each memory counts against.

    Args:
        rows: the snapshot they were found in.
        brought: id of each memory, and of the client that brought it; None for the person's own and what was imported.
        asker: id of the client that asks; None for the owner.

    Returns:
        The client's id; None for a memory without a quota: the owner asks, the asker wrote it, or the person said it
        as well.
    """
    bounded = {one: client for one, client in brought if asker is not None and client not in (None, asker)}
    owned = find_owner_backed(rows, bounded) if bounded else frozenset()
    return [None if one in owned else bounded.get(one) for one, _ in brought]


def allot_places(found: Sequence[str | None], limit: int) -> list[int]:
    """Choose which of the ranked memories are returned.

    Rounds are filled one after the other, each by rank. Round 0: memories without a quota, and of each client up to its
    share while all clients together stay within two thirds. Round 1: the rest of those shares. Each later round: one
    more memory of each client.

    Args:
        found: the contributor of each memory, best first.
        limit: places at most, 1 or more.

    Returns:
        Their indices, ascending; as many as there can be.
    """
    share, together = per_client_share(limit), max(1, limit * _OTHERS // PARTS)
    counts: Counter[str] = Counter()
    rounds: list[tuple[int, int]] = []
    for place, client in enumerate(found):
        round_nr = 0
        if client is not None:
            counts[client] += 1
            is_first = counts[client] <= share and together > 0
            together -= is_first
            round_nr = 0 if is_first else max(1, counts[client] - share + 1)
        rounds.append((round_nr, place))
    return sorted(place for _, place in sorted(rounds)[:limit])


def per_client_share(limit: int) -> int:
    """How many places one client gets before all others: a third, at least one.

    Args:
        limit: places at most, 1 or more.
    """
    return max(1, limit // PARTS)


def is_crowded(brought: Mapping[str, int], size: int) -> bool:
    """Whether other clients fill the candidate lists so far that others may be missing from them.

    Args:
        brought: number of candidates by contributor.
        size: number of candidates in all.

    Returns:
        True where one client has more than a third of them, or all clients together more than two thirds.
    """
    return max(brought.values(), default=0) * PARTS > size or sum(brought.values()) * PARTS > size * _OTHERS


def saturated_clients(brought: Mapping[str, int], limit: int) -> frozenset[str]:
    """The clients that already have as many candidates as their share of the places.

    Args:
        brought: number of candidates by contributor.
        limit: places that are returned, 1 or more.
    """
    return frozenset(client for client, count in brought.items() if count >= per_client_share(limit))
