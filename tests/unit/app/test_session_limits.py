"""A running engine answers the command line as one in process does: with the same limits where none is named."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

import pytest

from app.engine.connection import RemoteSession
from core.ipc.client.client import Client


class Collecting(Client):
    """A client that only notes what it is asked."""

    def collect(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        with_next: bool = False,
    ) -> dict[str, Any]:
        return {"method": method, **(params or {})}


@pytest.mark.parametrize(
    ("verb", "params", "asked"),
    [
        ("list", {}, {"limit": 50}),
        ("recall", {"query": "tea"}, {"query": "tea", "limit": 10}),
        ("list", {"limit": 700}, {"limit": 700}),
        ("history", {"id": "m"}, {"id": "m"}),
    ],
)
def test_limits_where_none_is_named(verb: str, params: dict[str, Any], asked: dict[str, Any]) -> None:
    ours, theirs = socket.socketpair()
    with theirs, Collecting(ours) as client:
        assert RemoteSession(client).call(verb, params) == {"method": f"owner.{verb}", **asked}
