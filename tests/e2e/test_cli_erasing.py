"""`loci erase`: it tells what goes, asks a person, and needs `--yes` where there is nobody to ask."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli_rig import MINUTE_S, ROOT, Palace

SECRET = "The spare key hangs behind the water meter."


def remembered(palace: Palace, text: str) -> str:
    return str(palace.json("remember", text)["memory_id"])


def at_a_terminal(palace: Palace, answer: str, *arguments: str) -> tuple[int, str]:
    """Run a command whose standard input is a terminal, and answer its question."""
    person, process = pty.openpty()
    command = [sys.executable, "-m", "app", "--home", str(palace.home), "--passphrase-file", str(palace.secret)]
    try:
        os.write(person, f"{answer}\n".encode())
        done = subprocess.run(
            [*command, *arguments],
            stdin=process, capture_output=True, text=True, timeout=MINUTE_S, check=False, cwd=ROOT,
            env=palace.environment,
        )  # fmt: skip
    finally:
        os.close(person)
        os.close(process)
    return done.returncode, done.stdout + done.stderr


def test_erased_is_found_nowhere_and_cannot_be_undone(palace: Palace) -> None:
    gone, kept = remembered(palace, SECRET), remembered(palace, "Ada keeps bees.")
    backup = palace.json("backup")["path"]
    told = palace.json("erase", gone, "--dry-run")
    assert (told["erased"], told["memories"], told["items"][0]["why"]) == (False, 1, "asked")
    assert palace.json("list")["total"] == 2
    done = palace.json("erase", gone, "--yes")
    assert (done["erased"], done["memories"]) == (True, 1)
    assert done["backups"] == [Path(backup).name]
    assert {item["id"] for item in palace.json("list", "--status", "all")["items"]} == {kept}
    assert palace.json("recall", SECRET, "--status", "all")["items"] == []
    palace.run("--json", "show", gone).refused(1, "E2005")
    palace.run("--json", "erase", gone, "--yes").refused(1, "E2005")
    # The newest step that is left is another one.
    palace.json("undo")
    assert palace.json("list")["total"] == 0
    assert palace.json("verify")["status"] == "ok"


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_without_a_person_it_needs_yes(palace: Palace, flags: tuple[str, ...]) -> None:
    gone = remembered(palace, SECRET)
    refused = palace.run(*flags, "erase", gone)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert palace.json("list")["total"] == 1


def test_a_person_is_asked(palace: Palace) -> None:
    gone = remembered(palace, SECRET)
    code, said = at_a_terminal(palace, "n", "erase", gone)
    assert code == 0, said
    assert "nothing brings it back" in said
    assert "Nothing was erased." in said
    assert palace.json("list")["total"] == 1
    code, said = at_a_terminal(palace, "y", "erase", gone)
    assert code == 0, said
    assert "\nErased.\n" in said
    assert palace.json("list", "--status", "all")["total"] == 0
