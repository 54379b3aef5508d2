"""What waits at the desk, as the command line asks for it. Must not do: print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.session import Session

_SHORT = 8


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
