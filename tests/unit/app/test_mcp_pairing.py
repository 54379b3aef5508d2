"""Pairing by a code: whoever stands on the socket cannot choose where the token is written."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, Self

import pytest

from app.cli.output import Output
from app.environment import read_environment
from app.mcp import pairing
from app.mcp.client_setup import ClientSetup, check_client_name
from app.mcp.connection_test import describe_visibility
from app.mcp.link import ClientReach
from app.mcp.server import describe_spaces
from core.errors import Code, LociError, UserError
from core.ipc.client.wire import Pairing


class Stranger:
    """A client whose server answers with a name of its own."""

    def __init__(self, name: str, *, refuses: bool = False) -> None:
        self.name, self.refuses = name, refuses
        self.wanted: list[str] | None = None

    def connect(self, _: Any) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def pair(self, name: str, code: str, grants: list[str] | None) -> Pairing:
        assert (name, code) == ("zed", "CODE")
        self.wanted = grants
        if self.refuses:
            raise UserError(Code.PAIRING_REFUSED, "Ask the person.")
        return Pairing(self.name, bytes(32), ("read",))


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientSetup:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return ClientSetup(read_environment({}, tmp_path / "home", None), {}, "zed", "lean", Output(as_json=True))


def test_the_token_is_kept_under_the_name_that_was_given(
    setup: ClientSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "Client", Stranger("zed 2"))
    pairing.pair_client(setup, "CODE")
    assert replace(setup, client="zed 2").token_file.exists()
    assert [path.name for path in tmp_path.rglob("*.token")] == ["zed 2.token"]


@pytest.mark.parametrize("name", ["../../x", "", ".x", "a/b", "x" * 41])
def test_a_name_that_is_none_is_not_written(
    name: str, setup: ClientSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "Client", Stranger(name))
    with pytest.raises(LociError) as caught:
        pairing.pair_client(setup, "CODE")
    assert caught.value.code is Code.INVALID_INPUT
    assert not list(tmp_path.rglob("*"))


def plain(setup: ClientSetup, out: StringIO, err: StringIO) -> ClientSetup:
    return replace(setup, out=Output(as_json=False, out=out, err=err))


def test_a_code_asks_for_what_was_granted_and_the_end_says_what_it_sees(
    setup: ClientSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger, out = Stranger("zed"), StringIO()
    monkeypatch.setattr(pairing, "Client", stranger)
    pairing.pair_client(plain(setup, out, StringIO()), "CODE", ["space:home"])
    assert stranger.wanted == ["read", "propose", "space:home"]  # a space alone lets nobody do anything
    assert "loci mcp --client zed" in out.getvalue().splitlines()[0]
    assert "It sees none of your spaces" in out.getvalue()  # it was given less than it asked for
    assert "loci grant zed --grant space:home" in out.getvalue()


def test_a_wrong_code_is_not_followed_by_a_wish_to_allow_it(
    setup: ClientSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "Client", Stranger("zed", refuses=True))
    err = StringIO()
    with pytest.raises(UserError, match="the code is wrong or over") as caught:
        pairing.pair_client(plain(setup, StringIO(), err), "CODE")
    assert caught.value.code is Code.PAIRING_REFUSED
    assert "where the code is right" in err.getvalue()


@pytest.mark.parametrize(
    ("typed", "grants"),
    [("a", ("read", "propose", "all_spaces")), ("O", ("read", "propose"))],
)
def test_the_person_is_asked_which_spaces_it_sees(
    setup: ClientSetup, typed: str, grants: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def prompted(question: str, **_: object) -> str:
        asked.append(question)
        return typed

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", prompted)
    shown = plain(setup, StringIO(), StringIO())
    assert pairing.ask_grants(shown) == grants
    assert "zed" in asked[0]
    monkeypatch.setattr("click.prompt", lambda *_, **__: "n")
    with pytest.raises(UserError, match="Nothing was paired"):
        pairing.ask_grants(shown)


def test_where_nobody_can_be_asked_nobody_is(setup: ClientSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert pairing.ask_grants(plain(setup, StringIO(), StringIO())) == ()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert pairing.ask_grants(setup) == ()  # JSON


def test_the_trial_says_what_the_client_sees() -> None:
    status = {"grants": ["propose", "read"], "spaces": [], "own_space": "client:zed"}
    is_blind, says = describe_visibility("zed", status)
    assert is_blind
    assert "none of your spaces" in says
    assert "loci grant zed --grant space:home" in says
    is_blind, says = describe_visibility("zed", {**status, "spaces": ["home", "work"]})
    assert not is_blind
    assert "home, work" in says
    assert not describe_visibility("zed", {**status, "grants": ["all_spaces", "read"]})[0]


def test_an_assistant_is_told_which_spaces_it_sees_and_where_its_stores_go() -> None:
    def told(*grants: str, spaces: tuple[str, ...] = ()) -> str:
        return describe_spaces("zed", ClientReach(grants, spaces))

    assert describe_spaces("zed", None) == ""
    assert "you see home, work." in told("read", spaces=("home", "work"))
    assert "client:zed" in told("read", spaces=("home",))
    assert "<memory>" not in told("read", spaces=("<memory>",))
    assert "all the person's spaces" in told("read", "all_spaces")
    assert "loci grant zed --grant space:home" in told("read")


@pytest.mark.parametrize("name", ["Zoë", "ключ", "日本語"])
def test_a_name_the_engine_would_not_take_is_refused_with_what_is_kept(name: str) -> None:
    with pytest.raises(UserError, match="letters from A to Z"):
        check_client_name(name)
