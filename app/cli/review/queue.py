"""What waits at the desk, as the command line asks for it. Must not do: print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.vault.session import Session

_SHORT = 8
FIRST = 3
"""Proposals of one client that are shown."""
_ASKS = frozenset({"proposal", "injection", "approval"})


def waiting(session: Session, *, everything: bool = False) -> list[Mapping[str, Any]]:
    """All items of the desk that the engine lists, however many replies they take.

    Args:
        session: the conversation with the engine.
        everything: closed ones too.

    Returns:
        The items, the most pressing first.
    """
    asked: dict[str, Any] = {"all": True} if everything else {}
    page = session.call("conflicts", asked)
    found = list(page["conflicts"])
    while "next" in page:
        page = session.call("conflicts", {**asked, "after": page["next"]})
        found += page["conflicts"]
    return found


def of_client(item: Mapping[str, Any]) -> str | None:
    """The name of the client that brought an item or asked for it.

    Args:
        item: of the desk.
    """
    asked = item.get("asked")
    found = item["incoming"].get("client") if asked is None else asked["client"]
    return None if found is None else str(found)


def folded(items: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """Items without all but the first proposals of each client: who asks very much does not bury the rest.

    Args:
        items: of the desk, in its order.

    Returns:
        What is shown, and by a client's name how many proposals of it are not.
    """
    shown: list[Mapping[str, Any]] = []
    seen: Counter[str] = Counter()
    for item in items:
        name = of_client(item)
        if item["kind"] in _ASKS and item["state"] == "open" and name is not None:
            seen[name] += 1
            if seen[name] > FIRST:
                continue
        shown.append(item)
    return shown, {name: count - FIRST for name, count in seen.items() if count > FIRST}


def short(item_id: str, among: Sequence[Mapping[str, Any]]) -> str:
    """As much of an id's end as tells it from others.

    Args:
        item_id: the id of an item.
        among: the items it stands among.
    """
    length = _SHORT
    while sum(item["id"].endswith(item_id[-length:]) for item in among) > 1 and length < len(item_id):
        length += 1
    return item_id[-length:]
