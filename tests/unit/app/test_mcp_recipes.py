"""Setting assistants up: every one, on every system, in a home of its own; what stands in a file stays."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from app.mcp.installation import SERVER, Command, find_recipe, read_config, write_config
from app.mcp.messages import load_assistants
from core.errors import Code, LociError

COMMAND: Command = ("/opt/l o/loci", ["--home", '/h/ü "q" \\', "mcp", "--client", "it"], {"LOCI_SOCKET": "/r/s"})
SYSTEMS = ("linux", "darwin", "win32")
EVERY = tuple(load_assistants())


def at(whole: Any, key: tuple[str, ...]) -> Any:
    for name in key:
        whole = whole[name]
    return whole


def parsed(found: str, text: str) -> Any:
    return tomllib.loads(text) if find_recipe(found).format == "toml" else json.loads(text)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", EVERY)
def test_every_assistant_has_a_place_below_the_persons_folder(name: str, system: str, tmp_path: Path) -> None:
    variables = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    path = find_recipe(name).find_path(system, variables)
    assert path.is_relative_to(tmp_path)
    assert "~" not in str(path)
    assert "$" not in str(path)


def test_variables_move_the_place() -> None:
    moved = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "CODEX_HOME": "/x"}
    assert find_recipe("zed").find_path("linux", moved) == Path("/c/zed/settings.json")
    assert find_recipe("codex").find_path("linux", moved) == Path("/x/config.toml")
    assert find_recipe("zed").find_path("linux", {**moved, "XDG_CONFIG_HOME": "not/absolute"}) == Path(
        "/h/.config/zed/settings.json"
    )
    with pytest.raises(LociError) as caught:
        find_recipe("zed").find_path("linux", {})
    assert caught.value.code is Code.NOT_HERE


@pytest.mark.parametrize("name", EVERY)
def test_an_entry_goes_into_an_empty_file_and_comes_back(name: str) -> None:
    found = find_recipe(name)
    entry = found.fill_entry(COMMAND)
    said = json.dumps(entry)
    assert "$" not in said
    text = found.put_entry("", entry)
    assert at(parsed(name, text), found.key)[SERVER] == entry
    assert found.put_entry(text, entry) == text


@pytest.mark.parametrize("name", EVERY)
def test_without_variables_the_entry_has_none(name: str) -> None:
    entry = find_recipe(name).fill_entry((COMMAND[0], COMMAND[1], {}))
    assert "env" not in entry
    assert "environment" not in entry


@pytest.mark.parametrize("name", [name for name in EVERY if find_recipe(name).format == "json"])
def test_json_keeps_everything_else_in_its_order(name: str) -> None:
    found = find_recipe(name)
    other: dict[str, Any] = {"z": [1, 2.5, None, "ünï"], "a": {"deep": {"er": True}}}
    servers: Any = {"other": {"command": "x"}}
    for key in reversed(found.key):
        servers = {key: servers}
    whole = {**other, **servers, "last": 1}
    entry = found.fill_entry(COMMAND)
    after = json.loads(found.put_entry(json.dumps(whole), entry))
    assert list(after) == list(whole)
    assert at(after, found.key).pop(SERVER) == entry
    assert after == whole


def test_an_older_entry_is_replaced_in_json() -> None:
    found = find_recipe("cursor")
    text = found.put_entry(json.dumps({"mcpServers": {SERVER: {"command": "old"}}}), found.fill_entry(COMMAND))
    assert json.loads(text)["mcpServers"][SERVER]["command"] == COMMAND[0]


@pytest.mark.parametrize("name", EVERY)
def test_only_another_entry_is_displaced(name: str) -> None:
    found, other = find_recipe(name), find_recipe(name).fill_entry(("other", [], {}))
    entry = found.fill_entry(COMMAND)
    assert not found.has_other_entry("", entry)
    assert not found.has_other_entry(found.put_entry("", entry), entry)
    assert found.has_other_entry(found.put_entry("", other), entry)


def test_toml_keeps_its_comments() -> None:
    found = find_recipe("codex")
    before = '# mine\nmodel = "m" # which\n\n[mcp_servers.other]\ncommand = "x"'
    after = found.put_entry(before, found.fill_entry(COMMAND))
    assert after.startswith(before)
    seen = tomllib.loads(after)
    assert seen["mcp_servers"]["other"] == {"command": "x"}
    assert seen["mcp_servers"][SERVER] == found.fill_entry(COMMAND)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zed", '{"a": 1, // a comment\n "b": 2}'),
        ("zed", '{"a": 1, "a": 2}'),
        ("zed", '{"a": 1e999}'),
        ("zed", '{"a": NaN}'),
        ("zed", "[]"),
        ("zed", '{"context_servers": []}'),
        ("zed", "[" * 100_000),
        ("codex", "a = \n"),
        ("codex", 'mcp_servers = "x"'),
        ("codex", 'mcp_servers = { other = { command = "x" } }'),
        ("codex", '[mcp_servers.loci]\ncommand = "another"'),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(name: str, text: str) -> None:
    with pytest.raises(LociError) as caught:
        find_recipe(name).put_entry(text, find_recipe(name).fill_entry(COMMAND))
    assert caught.value.code is Code.CONFIG_INVALID
    assert caught.value.sentence.endswith(".")


def test_an_unknown_assistant_is_told_which_are_known() -> None:
    with pytest.raises(LociError, match="codex"):
        find_recipe("nobody")
    assert find_recipe(" Claude Desktop ").name == "claude-desktop"


def test_a_file_is_written_whole_beside_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "c.json"
    assert read_config(path) is None
    assert write_config(path, None, "{}\n") is None
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    first = write_config(path, "{}\n", "1\n")
    second = write_config(path, "1\n", "2\n")
    assert first == path.with_name("c.json.bak")
    assert second == path.with_name("c.json.bak1")
    assert [one.read_text() for one in (first, second, path)] == ["{}\n", "1\n", "2\n"]
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in path.parent.iterdir()) == ["c.json", "c.json.bak", "c.json.bak1"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("theirs")
    with pytest.raises(LociError):
        write_config(path, "old", "new")
    assert path.read_text() == "theirs"


def test_links_and_odd_files_are_refused(tmp_path: Path) -> None:
    real, link, folder = tmp_path / "real", tmp_path / "link", tmp_path / "folder"
    real.write_text("{}")
    link.symlink_to(real)
    folder.symlink_to(tmp_path)
    odd = tmp_path / "odd"
    odd.write_bytes(b"\xff\xfe{}")
    for path in (link, folder / "real", tmp_path, odd):
        with pytest.raises(LociError) as caught:
            read_config(path)
        assert caught.value.code is Code.CONFIG_INVALID
