"""Why an item is at the desk, in sentences: the reason it was opened for, who weighed it, and how the two compare.

Must not do: show a word of a memory but the names its claims use, or a client's words unmarked or at length.
"""

from __future__ import annotations

from core.belief.review.client_request import asked_sentence
from core.belief.review.items import Item
from core.belief.review.wording import also, day, label_sentence, line, reason, words
from core.types.reviews import Asked, Side
from core.types.values import Status

_OWNERS = frozenset({"against_owner", "owners_word"})
"""Reasons that say already whose word stands."""
_LIKELY = 0.15
_TRUST_APART = 0.05
_DOUBT_CHARACTERS = 200


def why_of(
    item: Item, existing: Side | None, incoming: Side, now_ms: int, asked: Asked | None = None
) -> tuple[str, ...]:
    """The sentences above the two cards.

    Args:
        item: the item.
        existing: the memory that stands; None where only one is concerned.
        incoming: the newcomer.
        now_ms: the present, epoch ms.
        asked: what a client asked for; None where nobody asked for anything.

    Returns:
        One to eight sentences, the reason first.
    """
    found = [reason(item.reason, item.kind), *_read(item), *_doubted(item), *_weighed(item)]
    found += [] if asked is None else [asked_sentence(asked)]
    if existing is not None:
        if existing.owners_word and item.reason not in _OWNERS:
            found.append(also("yours"))
        found += _compared(existing, incoming, item.reason)
    found += _meanwhile(existing, incoming)
    if item.later_until is not None and item.later_until > now_ms:
        found.append(also("skipped"))
    return tuple(dict.fromkeys(found))


def _read(item: Item) -> list[str]:
    """What the two are to each other, as the rules or the model read them."""
    key = str(item.detail.get("why", ""))
    return [reason(key, item.kind)] if key in words()["reasons"] else []


def _doubted(item: Item) -> list[str]:
    """Which client doubts it, and why in its own words: quoted, on one line, without signs that steer a terminal."""
    client, doubt = (_plain(item.detail.get(name)) for name in ("client", "doubt"))
    if not client:
        return []
    if item.kind == "entity_merge":
        return [also("merge_asked", client=client)]
    return [also("doubted_so", client=client, doubt=doubt) if doubt else also("doubted", client=client)]


def _plain(told: object) -> str:
    if not isinstance(told, str):
        return ""
    return line("".join(sign if sign.isprintable() else " " for sign in told), _DOUBT_CHARACTERS)


def _weighed(item: Item) -> list[str]:
    told = item.detail.get("probabilities")
    if item.kind != "classification" or not isinstance(told, dict):
        return []
    numbers = {str(name): float(value) for name, value in told.items() if isinstance(value, int | float)}
    likely = sorted((pair for pair in numbers.items() if pair[1] >= _LIKELY), key=lambda pair: -pair[1])
    return [sentence for name, value in likely[:2] if (sentence := label_sentence(name, value))]


def _compared(existing: Side, incoming: Side, reason_key: str) -> list[str]:
    found: list[str] = []
    have, came = existing.memory.occurred, incoming.memory.occurred
    if have is not None and came is not None and have.ms != came.ms:
        found.append(
            also("older_yours", date=day(have.ms)) if have.ms < came.ms else also("older_new", date=day(came.ms))
        )
    apart = incoming.memory.trust - existing.memory.trust
    if abs(apart) >= _TRUST_APART and reason_key not in _OWNERS:
        key = "trust_lower" if apart < 0 else "trust_higher"
        found.append(also(key, came=round(100 * incoming.memory.trust), have=round(100 * existing.memory.trust)))
    return found


def _meanwhile(existing: Side | None, incoming: Side) -> list[str]:
    if incoming.memory.status is Status.QUARANTINED:
        return [also("held_back")]
    if existing is None:
        return []
    if incoming.memory.status is Status.DISPUTED:
        return [also("given_meanwhile")]
    return [also("both_given")] if existing.memory.status is Status.ACTIVE else []
