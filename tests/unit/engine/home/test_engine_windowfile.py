"""`window.json`: what is broken is kept aside, what cannot be read is never overwritten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from engine_rig import refused

from core.config.window import WindowOptions
from core.engine.home.window_file import load_window, save_window
from core.errors import Code

DARK = WindowOptions(theme="dark", text_size=125)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert load_window(home).options == WindowOptions()
    assert not home.exists()
    save_window(home, DARK, {"geometry": "AAEC"})
    found = load_window(home)
    assert (found.options, found.state, found.note) == (DARK, {"geometry": "AAEC"}, None)
    assert (home / "window.json").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700


def test_options_and_state_are_saved_apart(tmp_path: Path) -> None:
    save_window(tmp_path, WindowOptions(), {"columns": "x"})
    save_window(tmp_path, DARK)
    assert (load_window(tmp_path).options, load_window(tmp_path).state) == (DARK, {"columns": "x"})
    save_window(tmp_path, DARK, {})
    assert load_window(tmp_path).state == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"options": 3}', b'{"state": []}', b"[" * 5000, b" " * (2 << 20)],
)
def test_a_broken_file_is_kept_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "window.json").write_bytes(content)
    found = load_window(tmp_path)
    assert found.options == WindowOptions()
    assert found.note is not None
    assert "window.json.broken" in found.note
    assert (tmp_path / "window.json.broken").read_bytes() == content
    assert not (tmp_path / "window.json").exists()
    assert load_window(tmp_path).note is None


def test_saving_over_a_broken_file_keeps_it_too(tmp_path: Path) -> None:
    (tmp_path / "window.json").write_bytes(b"{")
    save_window(tmp_path, DARK)
    assert (tmp_path / "window.json.broken").read_bytes() == b"{"
    assert load_window(tmp_path).options == DARK


def test_what_cannot_be_read_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "window.json").mkdir()
    found = load_window(tmp_path)
    assert found.options == WindowOptions()
    assert found.note is not None
    assert "nothing is saved" in found.note
    with refused(Code.ACCESS_DENIED):
        save_window(tmp_path, DARK)
    assert (tmp_path / "window.json").is_dir()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a FIFO")
def test_a_pipe_does_not_hold_the_window(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "window.json")
    assert "nothing is saved" in (load_window(tmp_path).note or "")


def test_values_out_of_bounds_fall_back_one_by_one(tmp_path: Path) -> None:
    body = {"v": 9, "options": {"theme": "dark", "text_size": 999, "new": 1}, "state": {"a": "b", "c": 3}, "more": []}
    (tmp_path / "window.json").write_text(json.dumps(body), encoding="utf-8")
    found = load_window(tmp_path)
    assert (found.options, found.state) == (WindowOptions(theme="dark"), {"a": "b"})
    assert found.note is not None


def test_too_much_state_is_refused_and_nothing_lost(tmp_path: Path) -> None:
    save_window(tmp_path, DARK, {"a": "b"})
    with refused(Code.INVALID_INPUT):
        save_window(tmp_path, DARK, {"a": "x" * (1 << 20)})
    assert load_window(tmp_path).state == {"a": "b"}
