"""No client's memories crowd out all others: of what a client is given, another one's third comes first, no more.

Who writes much is found much: fifty lines of one assistant, each let in for itself, would be most of what every other
is told (reliability study, C 38). So of each other client no more than a third of the places, or of the tokens, is
handed out before what everybody else has to say; and of all of them together no more than two thirds before what
nothing bounds: that is the person's own and the asker's, and what the person said as well or vouched for. What is free
then is filled with what is left. The person asks without any bound. One memory more of anybody's takes the places it
fills, never more. Of a voice that has its share among what a search brought there is nothing more to look for; where
the lists are crowded (`is_crowded`), what others have is looked for beside them (`saturated_clients`).
Must not do: rank, or leave a place empty that something could fill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.belief.claims.authorship import find_owner_backed
from core.embed.tokens import TokenCounter as Tokens
from core.recall.answer.context import BUDGET, pack_context
from core.recall.results.result import QueryFocus, RecallItem
from core.score.ranking.context_budget import PARTS
from core.types.recall import Context, LeftOut
from core.vault.database.rows import Rows

_OTHERS = PARTS - 1
"""Of how many parts all other clients together have so many before what nothing bounds."""
SHARE = "share"
"""Why a memory was left out: its client has its share, and what is weaker stands in its place."""


def contributors(rows: Rows, brought: Sequence[tuple[str, str | None]], asker: str | None) -> list[str | None]:
    """Whose voice each memory is, as far as it is bounded.

    Args:
        rows: the snapshot they were found in.
        brought: id of each memory, and of the client that brought it; None for the person's own and what was imported.
        asker: id of the client that asks; None for the owner.

    Returns:
        The client; None where nothing bounds it: nobody asks but the person, it is the asker's own, or it is the
        person's word as well.
    """
    bounded = {one: client for one, client in brought if asker is not None and client not in (None, asker)}
    owned = find_owner_backed(rows, bounded) if bounded else frozenset()
    return [None if one in owned else bounded.get(one) for one, _ in brought]


def allot_places(found: Sequence[str | None], limit: int) -> list[int]:
    """Which of the found are handed out.

    Each stands in a turn: the first for what nothing bounds and for a third of the places of each voice, as long as all
    voices together have no more than two thirds; the second for the rest of those thirds; then one more of each voice a
    turn. The turns are filled in their order, each by rank.

    Args:
        found: the voice of each, best first.
        limit: places at most, 1 or more.

    Returns:
        Their places, ascending; as many as there can be.
    """
    share, together = per_client_share(limit), max(1, limit * _OTHERS // PARTS)
    said: Counter[str] = Counter()
    turns: list[tuple[int, int]] = []
    for place, voice in enumerate(found):
        turn = 0
        if voice is not None:
            said[voice] += 1
            is_first = said[voice] <= share and together > 0
            together -= is_first
            turn = 0 if is_first else max(1, said[voice] - share + 1)
        turns.append((turn, place))
    return sorted(place for _, place in sorted(turns)[:limit])


def per_client_share(limit: int) -> int:
    """How many places are one voice's before all others: a third, at least one.

    Args:
        limit: places at most, 1 or more.
    """
    return max(1, limit // PARTS)


def is_crowded(brought: Mapping[str, int], size: int) -> bool:
    """Whether what a search brought is so much of a voice's, or of all together, that others may not be in it.

    Args:
        brought: how many of what the lists brought each voice has, where anything bounds it.
        size: how many they brought of everybody.

    Returns:
        True where one has more than a third of it, or all together more than two thirds; else nothing is crowded out.
    """
    return max(brought.values(), default=0) * PARTS > size or sum(brought.values()) * PARTS > size * _OTHERS


def saturated_clients(brought: Mapping[str, int], limit: int) -> frozenset[str]:
    """Of which voices enough was brought: as much as is their share of the places.

    Args:
        brought: how many of what was brought each voice has.
        limit: places that are handed out, 1 or more.
    """
    return frozenset(voice for voice, count in brought.items() if count >= per_client_share(limit))


def pack_with_quota(
    rows: Rows,
    items: Sequence[RecallItem],
    budget: int,
    counter: Tokens,
    asker: str | None,
    sought: QueryFocus | None = None,
) -> Context:
    """Pack a context in which nobody fills the room that others need.

    Args:
        rows: the snapshot the recall was answered from.
        items: what recall found, best first.
        budget: tokens at most, 0 or more.
        counter: counts tokens.
        asker: id of the client that asks; None for the owner.
        sought: what the question looks for; None for everything that was found.

    Returns:
        The context; what would be in it by its score alone is left out for `SHARE`.
    """
    found = contributors(rows, [(item.memory.id, item.memory.client_id) for item in items], asker)
    of = {item.memory.id: voice for item, voice in zip(items, found, strict=True) if voice is not None}
    packed = pack_context(rows, items, budget, counter, of, sought)
    return replace(packed, excluded=tuple(_told(one, packed, of) for one in packed.excluded)) if of else packed


def _told(out: LeftOut, packed: Context, of: Mapping[str, str]) -> LeftOut:
    """The same, with the reason that its client has its share."""
    voice = of.get(out.id)
    if out.reason != BUDGET or voice is None:
        return out
    gave_way = any(one.score < out.value and of.get(one.id) != voice for one in packed.included)
    return replace(out, reason=SHARE) if gave_way else out
