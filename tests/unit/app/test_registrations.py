"""What Loci put into assistants' settings for one vault is taken out; what names another vault stays."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from app.environment import Environment, read_environment
from app.mcp.hooks import find_hook_recipe, hook_command, install_hook
from app.mcp.installation import find_recipe, remove_entry
from app.mcp.messages import load_assistants, load_hooks
from app.mcp.registrations import AssistantRegistrations, _is_there
from app.mcp.tokens import token_file, write_token
from core.errors import Code, LociError

HOME = "/vaults/o ne"
TOKEN = "A" * 43


@pytest.fixture
def variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_RUNTIME_DIR": str(tmp_path)}
    for name, value in found.items():
        monkeypatch.setenv(name, value)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
def found(variables: dict[str, str]) -> Environment:
    return read_environment(variables, Path(HOME), None)


def _command(home: str) -> tuple[str, list[str], dict[str, str]]:
    return "/opt/loci", ["--home", home, "mcp", "--client", "it"], {"XDG_RUNTIME_DIR": "/run"}


def _install_all(variables: dict[str, str], home: str) -> list[Path]:
    paths = []
    for name in load_hooks():
        recipe = find_hook_recipe(name)
        path = recipe.settings_file(variables)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text("" if recipe.format == "toml" else '{"theme": "dark"}\n', encoding="utf-8")
        install_hook(recipe, variables, hook_command(Path(home), Path("/default")))
        paths.append(path)
    for name in load_assistants():
        server = find_recipe(name)
        path = server.find_path("linux", variables)
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(server.put_entry(old, server.fill_entry(_command(home))), encoding="utf-8")
        paths.append(path)
    return paths


def test_all_of_it_goes_and_the_rest_stays(variables: dict[str, str], found: Environment) -> None:
    paths = _install_all(variables, HOME)
    write_token(token_file(found, "it"), TOKEN)
    registrations = AssistantRegistrations(found, variables)
    assert set(registrations.find()) == {*map(str, paths), str(token_file(found, "it"))}
    done = registrations.remove()
    assert done.left == ()
    assert not token_file(found, "it").exists()
    assert registrations.find() == ()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "loci" not in text
        whole = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        assert isinstance(whole, dict)
    claude = find_hook_recipe("claude-code").settings_file(variables)
    assert json.loads(claude.read_text(encoding="utf-8")) == {"theme": "dark"}


def test_what_names_another_vault_stays(variables: dict[str, str], found: Environment) -> None:
    paths = _install_all(variables, "/vaults/two")
    other = read_environment(variables, Path("/vaults/two"), None)
    write_token(token_file(other, "it"), TOKEN)
    before = {path: path.read_bytes() for path in paths}
    registrations = AssistantRegistrations(found, variables)
    assert registrations.find() == ()
    assert registrations.remove().removed == ()
    assert {path: path.read_bytes() for path in paths} == before
    assert token_file(other, "it").exists()


def test_links_and_unreadable_settings_are_left_alone(
    variables: dict[str, str], found: Environment, tmp_path: Path
) -> None:
    claude = find_recipe("claude-code").find_path("linux", variables)
    server = find_recipe("claude-code")
    real = tmp_path / "real.json"
    real.write_text(server.put_entry("", server.fill_entry(_command(HOME))), encoding="utf-8")
    claude.symlink_to(real)
    cursor = find_recipe("cursor").find_path("linux", variables)
    cursor.parent.mkdir(parents=True, exist_ok=True)
    cursor.write_text('{"mcpServers": {"loci": {} // mine\n}}', encoding="utf-8")
    codex = find_recipe("codex").find_path("linux", variables)
    codex.parent.mkdir(parents=True, exist_ok=True)
    codex.write_text("model = of nobody", encoding="utf-8")  # no TOML, and nothing of Loci in it
    before = real.read_bytes()
    done = AssistantRegistrations(found, variables).remove()
    assert (done.removed, done.left) == ((), ())
    assert set(done.unread) == {str(claude), str(cursor)}
    assert AssistantRegistrations(found, variables).find() == ()
    assert real.read_bytes() == before
    assert claude.is_symlink()


def test_a_folder_that_may_not_be_entered_counts_as_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, is_there in ((PermissionError, True), (FileNotFoundError, False), (NotADirectoryError, False)):

        def refuse(_path: Path, error: type[OSError] = error, **_: object) -> None:
            raise error

        monkeypatch.setattr(Path, "stat", refuse)
        found = _is_there(tmp_path / "mcp.json")
        monkeypatch.undo()
        assert found is is_there


def test_a_toml_table_goes_with_those_beneath_it_and_comments_stay() -> None:
    recipe = find_recipe("codex")
    text = '# mine\nmodel = "o"\n\n[mcp_servers.other]\ncommand = "x"\n'
    with_entry = recipe.put_entry(text, recipe.fill_entry(_command(HOME))) + '\n[mcp_servers.last]\ncommand = "y"\n'
    after = remove_entry(recipe, with_entry, lambda words: HOME in words)
    assert after.startswith(text)
    assert tomllib.loads(after) == {
        "model": "o",
        "mcp_servers": {"other": {"command": "x"}, "last": {"command": "y"}},
    }
    assert remove_entry(recipe, with_entry, lambda _: False) == with_entry


def test_an_entry_that_cannot_be_taken_out_alone_is_refused() -> None:
    text = 'mcp_servers = {loci = {command = "loci", args = ["mcp"]}}\n'
    with pytest.raises(LociError) as refused:
        remove_entry(find_recipe("codex"), text, lambda words: "mcp" in words)
    assert refused.value.code is Code.CONFIG_INVALID
