"""Hooks of assistants: put in once, taken out without a trace, everything else as it was."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from engine_rig import refused
from hypothesis import given
from hypothesis import strategies as st

from app.cli.assistants import signal_change
from app.mcp.hooks import (
    find_hook_recipe,
    hook_command,
    install_hook,
    remove_hook,
)
from core.errors import Code
from core.types.values import LOOK_SIGNAL

COMMAND = ["/opt/my programs/loci", "--home", "/h", "watch-now"]
_words = st.text("abc \u00e9\u4e2d", min_size=1, max_size=6)
_hook = st.fixed_dictionaries({"type": st.just("command"), "command": _words}, optional={"timeout": st.integers(1, 99)})
_group = st.fixed_dictionaries({"hooks": st.lists(_hook, min_size=1, max_size=2)}, optional={"matcher": _words})
_events = st.dictionaries(
    st.sampled_from(["Stop", "SessionEnd", "PreToolUse"]), st.lists(_group, min_size=1), min_size=1
)
_settings = st.dictionaries(_words, st.one_of(st.integers(), _words, st.lists(_words, max_size=2)), max_size=3)


@given(_settings, st.none() | _events, st.sampled_from([2, 4, "\t"]), st.booleans())
def test_json_settings_come_back_as_they_were(
    settings: dict[str, Any], events: dict[str, Any] | None, indent: int | str, ends: bool
) -> None:
    whole = {**settings, **({} if events is None else {"hooks": events})}
    text = json.dumps(whole, indent=indent, ensure_ascii=False) + ("\n" if ends else "")
    recipe = find_hook_recipe("claude-code")
    once = recipe.put_hook(text, COMMAND)
    assert recipe.put_hook(once, COMMAND) == once
    found = json.loads(once)
    for event in ("Stop", "SessionEnd"):
        own = [one for group in found["hooks"][event] for one in group["hooks"] if one["command"].endswith("watch-now")]
        assert own == [{"type": "command", "command": "'/opt/my programs/loci' --home /h watch-now", "timeout": 10}]
    again = recipe.put_hook(once, ["/elsewhere/loci", "watch-now"])
    assert again.count("watch-now") == 2
    if len(whole) > 0:
        assert recipe.remove_hook(again) == text
    assert recipe.remove_hook(text) == text


def test_a_hook_of_gemini_has_its_own_shape() -> None:
    found = json.loads(find_hook_recipe("Gemini CLI").put_hook("", COMMAND))
    assert found["hooks"]["AfterAgent"] == [
        {
            "matcher": "*",
            "hooks": [
                {
                    "name": "loci",
                    "type": "command",
                    "command": "'/opt/my programs/loci' --home /h watch-now",
                    "timeout": 10000,
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "o9"\n\n# mine\n[mcp_servers.loci]\ncommand = "loci"\n',
        "\ufeff# first\n[tui]\nx = 1\n",
        "[a]\nb = 1",
    ],
)
def test_codex_is_told_in_one_line_of_its_own(text: str) -> None:
    recipe = find_hook_recipe("codex")
    once = recipe.put_hook(text, COMMAND)
    assert tomllib.loads(once.removeprefix("\ufeff"))["notify"] == COMMAND
    assert recipe.put_hook(once, COMMAND) == once
    assert recipe.put_hook(once, ["/b/loci", "watch-now"]).count("watch-now") == 1
    assert recipe.remove_hook(once) == text


def test_what_is_in_the_way_is_left_alone() -> None:
    claude, codex = find_hook_recipe("claude-code"), find_hook_recipe("codex")
    for text in ('{"hooks": []}', '{"hooks": {"Stop": {}}}', "{", "[]", '{"a": 1, "a": 2}', "// {}"):
        with refused(Code.CONFIG_INVALID):
            claude.put_hook(text, COMMAND)
    other = 'notify = ["notify-send"]\n'
    with refused(Code.CONFIG_INVALID):
        codex.put_hook(other, COMMAND)
    assert codex.remove_hook(other) == other
    with refused(Code.CONFIG_INVALID):
        codex.put_hook("a = [", COMMAND)
    with refused(Code.INVALID_INPUT):
        find_hook_recipe("hal")


def test_files_are_kept_and_links_refused(tmp_path: Path) -> None:
    recipe, variables = find_hook_recipe("claude-code"), {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    assert remove_hook(recipe, variables) == (False, None)
    assert install_hook(recipe, variables, COMMAND) is None
    path = tmp_path / ".claude" / "settings.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert install_hook(recipe, variables, COMMAND) is None
    first = path.read_text("utf-8")
    was_there, kept = remove_hook(recipe, variables)
    assert (was_there, path.read_text("utf-8")) == (True, "{}\n")
    assert kept is not None
    assert kept.read_text("utf-8") == first
    path.unlink()
    path.symlink_to(kept)
    with refused(Code.CONFIG_INVALID):
        install_hook(recipe, variables, COMMAND)
    assert recipe.transcript_folder({**variables, "CLAUDE_CONFIG_DIR": str(tmp_path / "c")}) == tmp_path / "c/projects"


def test_a_signal_needs_a_home_and_makes_none(tmp_path: Path) -> None:
    signal_change(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()
    signal_change(tmp_path)
    assert (tmp_path / LOOK_SIGNAL).is_file()
    (tmp_path / "run" / "look").unlink()
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("no folder")
    signal_change(tmp_path)
    assert hook_command(tmp_path, tmp_path)[-1] == "watch-now"
    assert hook_command(tmp_path, tmp_path / "other")[-3:] == ["--home", str(tmp_path), "watch-now"]
