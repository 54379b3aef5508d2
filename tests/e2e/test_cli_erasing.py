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
    assert "This cannot be undone." in said
    assert "Nothing was erased." in said
    assert palace.json("list")["total"] == 1
    code, said = at_a_terminal(palace, "y", "erase", gone)
    assert code == 0, said
    assert "\nErased.\n" in said
    assert palace.json("list", "--status", "all")["total"] == 0


def test_it_is_certified_and_backups_are_rewritten_later(palace: Palace) -> None:
    gone = remembered(palace, SECRET)
    palace.json("backup")
    done = palace.json("erase", gone, "--yes")["certificate"]
    assert (done["state"], done["memories"], done["pages_left"]) == ("held_by_backups", 1, 0)
    assert done["pages"] > 0
    assert "water" not in str(done)
    (line,) = palace.json("certificate")["items"]
    assert line["id"] == done["id"]
    told = palace.run("certificate", done["id"][-8:]).out
    assert "STILL HOLDS 1 of them" in told
    assert f"`loci certificate {done['id'][-8:]} --rewrite-backups`" in told
    assert "nothing found" in told
    assert "is the one in the audit" in told
    again = palace.json("certificate", done["id"], "--rewrite-backups")
    assert (again["state"], again["copies"][0]["state"]) == ("erased", "rewritten")
    assert palace.json("certificate", done["id"])["is_authentic"]
    assert palace.json("verify", "--deep")["status"] in ("ok", "not_checked")


def test_one_thing_is_named(palace: Palace) -> None:
    gone = remembered(palace, SECRET)
    for wrong in ((), (gone, "--about", "Ada"), ("--import", "x", "--client", "y")):
        assert palace.run("erase", *wrong, "--yes").code == 2
    palace.run("--json", "erase", "--about", "Nobody", "--yes").refused(1, "E2005")
    palace.run("--json", "erase", "--import", "nothing", "--yes").refused(1, "E2005")
    palace.run("--json", "erase", "--client", "nobody", "--yes").refused(1, "E2005")
    assert palace.json("list")["total"] == 1


def test_an_import_goes_as_a_whole(palace: Palace, tmp_path: Path) -> None:
    remembered(palace, SECRET)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "Ada keeps bees."}\n{"text": "Tea is drunk at six."}\n', encoding="utf-8")
    brought = palace.json("import", str(rows))["import_id"]
    told = palace.run("erase", "--import", brought[-8:], "--dry-run").out
    assert "Everything from that import: 2 memories would be erased for good" in told
    assert "2 messages and notes" in told
    done = palace.json("erase", "--import", brought, "--yes")
    assert (done["memories"], done["certificate"]["subject"]) == (2, "import")
    assert palace.json("list", "--status", "all")["total"] == 1
    assert palace.json("import", str(rows))["stored"] == 0


def test_a_backup_is_looked_into(palace: Palace, tmp_path: Path) -> None:
    kept = remembered(palace, SECRET)
    backup = palace.json("backup")["path"]
    before = Path(backup).read_bytes()
    remembered(palace, "Ada keeps bees.")
    found = palace.json("browse", backup)
    assert (found["memories"], found["total"], found["items"][0]["text"]) == (1, 1, SECRET)
    assert palace.json("browse", backup, "bees")["total"] == 0
    assert palace.json("browse", backup, "--show", kept[-8:])["text"] == SECRET
    assert SECRET in palace.run("browse", backup, "spare key").out
    to = tmp_path / "out.md"
    assert palace.json("browse", backup, "--export", str(to), "--format", "markdown")["memories"] == 1
    assert SECRET in to.read_text(encoding="utf-8")
    assert palace.json("browse", backup, "--verify")["status"] == "ok"
    palace.run("--json", "browse", str(tmp_path / "none.tar")).refused(1, "E2005")
    assert Path(backup).read_bytes() == before


def test_the_deep_check_is_told_in_words(palace: Palace) -> None:
    remembered(palace, SECRET)
    told = palace.run("verify", "--deep").out
    assert "The encryption of every page" in told
    assert "Every vector" in told
    assert "What a check cannot tell:" in told
    assert "Whether backups and exports outside the vault's folder are intact" in told
