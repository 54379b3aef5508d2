"""The desk's items as the command line asks for them: all pages, and as much of an id as tells it apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.cli.review import FIRST, fold_proposals, read_items, shorten_id


class Pages:
    """A session that answers a list in pages of two.

    Attributes:
        asked: the parameters of each call.
    """

    def __init__(self, ids: list[str]) -> None:
        self._ids = ids
        self.asked: list[Mapping[str, Any]] = []

    def call(self, verb: str, params: Mapping[str, Any], progress: object = None) -> dict[str, Any]:
        """A page."""
        del progress
        assert verb == "conflicts"
        self.asked.append(dict(params))
        start = self._ids.index(params["after"]) + 1 if "after" in params else 0
        page = [{"id": one} for one in self._ids[start : start + 2]]
        return {"conflicts": page, **({"next": page[-1]["id"]} if start + 2 < len(self._ids) else {})}

    def older_copy(self) -> dict[str, Any] | None:
        """It is the newest."""
        return None

    def close(self) -> None:
        """Nothing to close."""


def test_a_cut_reply_is_followed_to_its_end() -> None:
    pages = Pages(["a", "b", "c", "d", "e"])
    assert [item["id"] for item in read_items(pages, everything=True)] == ["a", "b", "c", "d", "e"]
    assert pages.asked == [{"all": True}, {"all": True, "after": "b"}, {"all": True, "after": "d"}]


def test_an_id_is_as_long_as_it_must_be() -> None:
    items = [{"id": "0000-aa12345678"}, {"id": "0000-ba12345678"}, {"id": "0000-ba99999999"}]
    assert [shorten_id(str(item["id"]), items) for item in items] == ["aa12345678", "ba12345678", "99999999"]


def proposed(name: str, number: int, kind: str = "proposal", **more: Any) -> dict[str, Any]:
    return {"id": f"{name}-{number}", "kind": kind, "state": "open", "incoming": {"client": name}, **more}


def test_who_asks_very_much_does_not_bury_the_rest() -> None:
    items = [proposed("Noisy", number) for number in range(500)]
    items += [
        proposed("Quiet", 1),
        proposed("Noisy", 501, kind="contradiction"),
        {**proposed("Noisy", 502), "state": "moot"},
    ]
    items.append(proposed("Someone", 7, kind="approval", asked={"client": "Noisy"}))
    shown, more = fold_proposals(items)
    assert [item["id"] for item in shown] == [
        *(f"Noisy-{number}" for number in range(FIRST)), "Quiet-1", "Noisy-501", "Noisy-502",
    ]  # fmt: skip
    assert more == {"Noisy": 501 - FIRST}
