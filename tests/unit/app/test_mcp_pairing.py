"""Pairing by a code: whoever stands on the socket cannot choose where the token is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from app.cli.output import Output
from app.environment import read
from app.mcp import pairing
from app.mcp.doorway import Doorway
from core.errors import Code, LociError
from core.ipc.greeting import Pairing


class Stranger:
    """A client whose server answers with a name of its own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def connect(self, _: Any) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def pair(self, name: str, code: str) -> Pairing:
        assert (name, code) == ("zed", "CODE")
        return Pairing(self.name, bytes(32), ("read",))


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doorway:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Doorway(read({}, tmp_path / "home", None), {}, "zed", "lean", Output(as_json=True))


def test_the_token_is_kept_under_the_name_that_was_given(
    door: Doorway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "Client", Stranger("zed 2"))
    pairing.pair_client(door, "CODE")
    assert replace(door, client="zed 2").token_file.exists()
    assert [path.name for path in tmp_path.rglob("*.token")] == ["zed 2.token"]


@pytest.mark.parametrize("name", ["../../x", "", ".x", "a/b", "x" * 41])
def test_a_name_that_is_none_is_not_written(
    name: str, door: Doorway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "Client", Stranger(name))
    with pytest.raises(LociError) as caught:
        pairing.pair_client(door, "CODE")
    assert caught.value.code is Code.INVALID_INPUT
    assert not list(tmp_path.rglob("*"))
