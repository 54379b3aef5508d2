"""The plugins of the README and of the help, run as they stand against a real `loci serve`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_rig import MINUTE_S, ROOT, Palace

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
