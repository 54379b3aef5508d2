"""The plugins of the README, the quick start and the help, run as they stand against a real `loci serve`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_rig import MINUTE_S, ROOT, Palace, in_background
from cli_terminal import Terminal

from core.config.grant_wording import describe_limits_of_grants
from core.ipc.protocol.contract import load_registry

EXAMPLES = ROOT / "resources" / "help" / "examples"
TEXT = "The code of the gate stands in the blue book."


def token_of(palace: Palace) -> Path:
    """A client called `plugin`; the file with its token."""
    token = palace.folder / "plugin.token"
    token.touch(mode=0o600)
    token.write_text(palace.json("pair", "plugin", "--grant", "read,write")["token"])
    return token


def said(palace: Palace, *command: str) -> str:
    done = subprocess.run(
        command, cwd=palace.folder, env=palace.environment, capture_output=True, text=True, timeout=MINUTE_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def readme_example() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.split("\n## A plugin of your own\n", 1)[1].split("```python\n", 1)[1].split("```", 1)[0]


def test_the_plugin_of_the_readme_and_the_plain_one_do_what_they_say(palace: Palace) -> None:
    token = token_of(palace)
    example = palace.folder / "example.py"
    example.write_text(readme_example())
    assert len(readme_example().splitlines()) <= 30
    with palace.serving():
        given = (str(palace.place.path), "plugin", str(token))
        found = said(palace, sys.executable, str(example), *given, TEXT, "code of the gate")
        assert TEXT in found
        # In isolated mode nothing of Loci can be imported.
        found = said(palace, sys.executable, "-I", str(EXAMPLES / "plain_socket.py"), *given, "A red kite.", "kite")
        assert "A red kite." in found
    assert {TEXT, "A red kite."} <= {one["text"] for one in palace.everything()}


def test_the_plugin_of_the_readme_says_what_went_wrong_in_a_sentence(palace: Palace) -> None:
    example, bad = palace.folder / "example.py", palace.folder / "bad.token"
    example.write_text(readme_example())
    bad.write_text("no token")
    token = token_of(palace)

    def told(*given: str) -> str:
        done = subprocess.run(
            [sys.executable, str(example), *given], cwd=palace.folder, env=palace.environment, capture_output=True,
            text=True, timeout=MINUTE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        return done.stderr

    nowhere = str(palace.folder / "nobody.sock")
    assert "E5008: Loci is not running" in told(nowhere, "plugin", str(token), TEXT, "gate")
    assert "That is not a token" in told(nowhere, "plugin", str(bad), TEXT, "gate")
    assert "SOCKET NAME TOKEN_FILE" in told(nowhere, "plugin", str(palace.folder / "none"), TEXT, "gate")
    assert "SOCKET NAME TOKEN_FILE" in told()


PROGRAMS = {"python": EXAMPLES / "plain_socket.py", "js": EXAMPLES / "plain_socket.mjs"}
QUICK_START = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_quick_start_shows_the_very_programs(language: str) -> None:
    (shown,) = re.findall(rf"^```{language}\n(.*?)^```$", QUICK_START, re.MULTILINE | re.DOTALL)
    assert shown == PROGRAMS[language].read_text(encoding="utf-8")


def test_the_calls_of_the_quick_start_are_what_the_schemas_allow() -> None:
    registry = load_registry()
    calls = [json.loads(line) for line in re.findall(r'^\{"jsonrpc".*\}$', QUICK_START, re.MULTILINE)]
    assert [call["method"] for call in calls] == ["pair", "memory_store", "memory_search", "memory_context"]
    for call in calls:
        registry.find_method(call["method"]).check_params(call["params"])
    for name in re.findall(r"`((?:memory|turn|session)_(?!id`)\w+|capture|subscribe)`", QUICK_START):
        assert registry.find_method(name).who == "client"


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_of_the_quick_start_pairs_itself_stores_finds_and_is_given_a_context(
    palace: Palace, language: str
) -> None:
    """With the code that the person has shown; the token is the person's alone to read."""
    starts = {"python": [sys.executable, "-I"], "js": [shutil.which("node") or ""]}[language]
    if not starts[0]:
        pytest.skip("Node is not on this machine")
    (shown,) = re.findall(rf"^```{language}\n(.*?)^```$", QUICK_START, re.MULTILINE | re.DOTALL)
    program, token = palace.folder / PROGRAMS[language].name, palace.folder / "new.token"
    program.write_text(shown, encoding="utf-8")
    with palace.serving():
        given = (*starts, str(program), str(palace.place.path), "notes-plugin", str(token))
        with Terminal(palace, "pair", "notes-plugin", "--code") as person:
            code = person.code()
            wait = in_background(lambda: said(palace, *given, "A red kite flew.", "kite", code))
            person.until(describe_limits_of_grants())
            person.type(b"y\n")
            told = wait()
        assert told.splitlines()[:2] == ["ADD", "A red kite flew."]
        assert "# Memory Context" in told
        assert token.stat().st_mode & 0o777 == 0o600
        assert "NOOP" in said(palace, *given, "A red kite flew.", "kite")  # with the token that was kept


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine")
def test_the_plugin_in_javascript_does_what_it_says(palace: Palace) -> None:
    token = token_of(palace)
    with palace.serving():
        command = (shutil.which("node") or "", str(EXAMPLES / "plain_socket.mjs"), str(palace.place.path))
        assert "A red kite." in said(palace, *command, "plugin", str(token), "A red kite.", "kite")


def test_an_example_shows_nothing_to_a_server_that_cannot_prove_itself(palace: Palace) -> None:
    token = token_of(palace)
    token.write_text("A" * 43)
    with palace.serving():
        done = subprocess.run(
            [sys.executable, "-I", str(EXAMPLES / "plain_socket.py"), str(palace.place.path), "plugin", str(token),
             TEXT, "gate"],
            cwd=palace.folder, env=palace.environment, capture_output=True, text=True, timeout=MINUTE_S, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "This is not the Loci that this plugin is paired with.\n"
