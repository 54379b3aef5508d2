"""A client's token lies where its owner alone reads it; surroundings that assistants drop are found again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.environment import read_environment
from app.mcp.client_setup import complete_variables
from app.mcp.tokens import read_token, token_file, write_token
from core.errors import Code, LociError
from core.ipc.client.client import token_from_text, token_to_text

TOKEN = bytes(range(32))
TEXT = token_to_text(TOKEN)


def test_a_token_is_kept_and_read(tmp_path: Path) -> None:
    path = tmp_path / "clients" / "x.token"
    assert read_token(path) is None
    write_token(path, TEXT + "\nmore")
    assert read_token(path) == TOKEN
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    write_token(path, token_to_text(bytes(32)))
    assert read_token(path) == bytes(32)
    assert [one.name for one in path.parent.iterdir()] == ["x.token"]


def test_what_others_may_read_or_a_link_is_refused(tmp_path: Path) -> None:
    path, link, pipe = tmp_path / "x.token", tmp_path / "l.token", tmp_path / "p.token"
    write_token(path, TEXT)
    link.symlink_to(path)
    os.mkfifo(pipe, 0o600)
    for unfit in (link, pipe, tmp_path):
        with pytest.raises(LociError) as caught:
            read_token(unfit)
        assert caught.value.code is Code.ACCESS_DENIED
    path.chmod(0o640)
    with pytest.raises(LociError) as caught:
        read_token(path)
    assert caught.value.code is Code.ACCESS_DENIED


@pytest.mark.parametrize("text", ["", "short", TEXT + "A", "ü" * 43, TEXT[:-1] + "!"])
def test_what_is_no_token_is_not_repeated(text: str) -> None:
    with pytest.raises(LociError) as caught:
        token_from_text(text)
    assert caught.value.code is Code.INVALID_INPUT
    assert not text or text not in caught.value.sentence


def test_each_home_has_its_own_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    usual = read_environment({}, None, None)
    others = [read_environment({}, tmp_path / name, None) for name in ("a", "b")]
    files = [token_file(found, "x") for found in (usual, *others)]
    assert len(set(files)) == 3
    assert all(file.name == "x.token" for file in files)


@pytest.mark.skipif(sys.platform != "linux", reason="where Linux keeps runtime directories")
def test_a_dropped_runtime_directory_is_found(tmp_path: Path) -> None:
    ours = tmp_path / str(os.geteuid())
    assert "XDG_RUNTIME_DIR" not in complete_variables({"HOME": "/h"}, tmp_path)
    ours.mkdir()
    (ours / "bus").touch()
    found = complete_variables({"HOME": "/h"}, tmp_path)
    assert found == {
        "HOME": "/h",
        "XDG_RUNTIME_DIR": str(ours),
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={ours / 'bus'}",
    }
    assert complete_variables({"XDG_RUNTIME_DIR": "/kept"}, tmp_path) == {"XDG_RUNTIME_DIR": "/kept"}
