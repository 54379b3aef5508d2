"""No client's memories crowd out all others: of what a client is given, another one brought at most a third.

Who writes much is found much: fifty lines of one assistant, each let in for itself, would be most of what every other
is told (reliability study, C 38). The person's own memories and the asker's are bounded by nothing, and the person
asks without any bound. Must not do: rank, or keep back what nobody else has anything against.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.embed.tokens import Counter as Tokens
from core.recall.context import assembled
from core.recall.result import RecallItem
from core.types.contexts import Context, LeftOut
from core.vault.rows import Rows

SHARE = "share"
"""Why a memory was left out: its client has its third already."""
_FEW = 3
"""Our choice: a third of the usual ten. So many are handed out however little all others have to say."""
_BUDGET = "budget"


def voices(clients: Sequence[str | None], asker: str | None) -> list[str | None]:
    """Whose voice each memory is, as far as it is bounded.

    Args:
        clients: ids of the clients that brought them; None for the person's own and what was imported.
        asker: id of the client that asks; None for the owner.

    Returns:
        The client; None where nothing bounds it.
    """
    return [None if asker is None or client == asker else client for client in clients]


def places(found: Sequence[str | None], limit: int) -> list[int]:
    """Which of the found are handed out.

    Args:
        found: the voice of each, best first.
        limit: places at most, 1 or more.

    Returns:
        Their places, ascending: as many as there can be so that nobody has more than a third, or the few that anybody
        has; where all are bounded, than an equal share.
    """
    said = Counter(voice for voice in found if voice is not None)
    free = len(found) - sum(said.values())
    for size in range(min(limit, len(found)), 0, -1):
        most = max(1, size // 3, min(_FEW, limit // 3))
        if not free:
            most = max(most, -(-size // len(said)))
        if free + sum(min(count, most) for count in said.values()) >= size:
            return _first(found, size, most)
    return []


def shared(items: Sequence[RecallItem], asker: str | None, limit: int) -> tuple[RecallItem, ...]:
    """The items of an answer that are handed out.

    Args:
        items: best first.
        asker: id of the client that asks; None for the owner.
        limit: items at most; no fewer than there are where nothing is bounded.

    Returns:
        Those, in their order.
    """
    found = voices([item.memory.client_id for item in items], asker)
    if not any(found):
        return tuple(items)
    return tuple(items[place] for place in places(found, limit))


def packed_fairly(
    rows: Rows, items: Sequence[RecallItem], budget: int, counter: Tokens, asker: str | None, limit: int
) -> Context:
    """Pack a context in which nobody fills the room that others need.

    Args:
        rows: the snapshot the recall was answered from.
        items: what recall found, best first.
        budget: tokens at most, 0 or more.
        counter: counts tokens.
        asker: id of the client that asks; None for the owner.
        limit: memories at most.

    Returns:
        The context; what did not get a place because of this is left out for `SHARE`.
    """
    left = shared(items, asker, limit)
    packed = assembled(rows, left, budget, counter)
    of = voices([item.memory.client_id for item in items], asker)
    by_id = {item.memory.id: voice for item, voice in zip(items, of, strict=True)}
    while over := _over(packed, by_id):
        left = tuple(item for item in left if item.memory.id not in over)
        packed = assembled(rows, left, budget, counter)
    staying = {item.memory.id for item in left}
    out = [LeftOut(item.memory.id, SHARE, item.score) for item in items if item.memory.id not in staying]
    return replace(packed, excluded=(*packed.excluded, *out)) if out else packed


def _over(packed: Context, by_id: Mapping[str, str | None]) -> frozenset[str]:
    """What one client has above its third while others wait for room, the weakest of each."""
    waiting = {by_id[one.id] for one in packed.excluded if one.reason == _BUDGET}
    most = max(1, len(packed.included) // 3)
    over: set[str] = set()
    for voice in {by_id[one.id] for one in packed.included} - {None}:
        own = sorted((one for one in packed.included if by_id[one.id] == voice), key=lambda one: (-one.score, one.id))
        if waiting - {voice}:
            over.update(one.id for one in own[most:])
    return frozenset(over)


def _first(found: Sequence[str | None], size: int, most: int) -> list[int]:
    said: Counter[str] = Counter()
    taken: list[int] = []
    for place, voice in enumerate(found):
        if len(taken) == size:
            break
        if voice is not None:
            if said[voice] == most:
                continue
            said[voice] += 1
        taken.append(place)
    return taken
