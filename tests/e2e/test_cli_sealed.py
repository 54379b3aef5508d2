"""`loci seal` and its like: with and without an engine that runs, at a terminal and without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_rig import Palace
from cli_terminal import Terminal

TEXT = "The brass plate is under the third stair."


@pytest.fixture
def opener(palace: Palace) -> tuple[str, str]:
    """The option that opens the sealed memories, for a key that is made."""
    file = _secret(palace, "sealed", "a second secret")
    code = palace.json("seal-key", "new", "--new-passphrase-file", str(file))["recovery_code"]
    assert len(code) == 44
    return "--sealed-passphrase-file", str(file)


def _secret(palace: Palace, name: str, secret: str) -> Path:
    file = palace.folder / name
    file.write_text(secret + "\n", encoding="utf-8")
    file.chmod(0o600)
    return file


def test_a_memory_is_sealed_read_and_put_back(palace: Palace, opener: tuple[str, str]) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    told = palace.json("seal", memory, "--dry-run")
    assert (told["sealed"], told["memories"]) == (False, 1)
    assert palace.json("seal", memory, "--yes", "--label", "the plate", *opener)["sealed"]
    assert palace.json("list", "--status", "all")["items"] == []
    assert palace.json("recall", TEXT)["items"] == []
    assert [row["label"] for row in palace.json("sealed")["items"]] == ["the plate"]
    assert palace.json("sealed", memory[-8:], *opener)["text"] == TEXT
    assert not palace.json("seal-key", "state")["is_open"]
    assert "is sealed" in palace.run("show", memory).refused(1, "E2005")
    # Before any secret is asked, so that no guess is counted.
    wrong = ("--sealed-passphrase-file", str(palace.secret))
    palace.run("unseal", f"{memory[:-1]}x", *wrong).refused(1, "E2005")
    palace.run("sealed", memory).refused(1, "E4005")
    palace.run("sealed", memory, "--sealed-passphrase-file", str(palace.secret)).refused(4, "E1006")
    assert palace.json("unseal", memory[-8:], *opener)["memories"] == 1
    assert palace.json("list")["items"][0]["text"] == TEXT
    assert palace.json("verify")["status"] == "ok"


def test_an_engine_that_runs_keeps_it_open_only_when_it_was_asked_to(palace: Palace, opener: tuple[str, str]) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    with palace.serving() as serving:
        palace.json("seal", memory, "--yes", *opener)
        assert not palace.json("seal-key", "state")["is_open"]
        assert palace.json("seal-key", "open", *opener)["is_open"]
        assert palace.json("sealed", memory)["text"] == TEXT
        assert palace.json("seal-key", "state")["is_open"]
        assert not palace.json("seal-key", "close")["is_open"]
        palace.run("sealed", memory).refused(1, "E4005")
        serving.end()


def test_backups_from_before_are_named_and_rewritten(palace: Palace, opener: tuple[str, str]) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    first = Path(palace.json("backup")["path"]).name
    away = palace.folder / "stick.tar"
    palace.json("backup", "--to", str(away))
    away.rename(palace.folder / "gone.tar")
    said = palace.run("seal", memory, "--yes", *opener).out
    assert "2 backups made earlier still hold it unsealed" in said
    assert "`loci seal --rewrite-backups` seals it there, too." in said
    listed = palace.json("sealed")
    assert (listed["older_copies"], listed["away"]) == ([first], [str(away)])
    assert first in palace.run("sealed").out
    palace.run("seal", "--rewrite-backups").refused(1, "E4005")
    said = palace.run("seal", "--rewrite-backups", *opener).out
    assert "1 backup was rewritten" in said
    assert "1 backup saved elsewhere cannot be reached now" in said
    assert str(away) in said
    (palace.folder / "gone.tar").rename(away)
    done = palace.json("seal", "--rewrite-backups", *opener)
    assert done["copies"] == [{"name": str(away), "state": "rewritten", "memories": 0}]
    assert palace.json("sealed")["older_copies"] == []
    assert "No backup holds" in palace.run("seal", "--rewrite-backups", *opener).out
    other = str(palace.json("remember", "The lamp is lit at dusk.")["memory_id"])
    last = Path(palace.json("backup")["path"]).name
    told = palace.json("seal", other, "--yes", "--rewrite-backups", *opener)
    states = {one["name"]: one["state"] for one in told["rewritten"]["copies"]}
    assert (states[first], states[last]) == ("clean", "rewritten")
    assert palace.json("verify")["status"] == "ok"


def test_its_passphrase_is_changed_and_a_sealed_memory_erased(palace: Palace, opener: tuple[str, str]) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    palace.json("seal", memory, "--yes", *opener)
    new = _secret(palace, "new", "another one")
    palace.json("seal-key", "passphrase", *opener, "--new-passphrase-file", str(new))
    palace.run("sealed", memory, *opener).refused(4, "E1006")
    code = palace.json("seal-key", "recovery", "--sealed-passphrase-file", str(new))["recovery_code"]
    by_code = _secret(palace, "code", code)
    assert palace.json("sealed", memory, "--sealed-passphrase-file", str(by_code))["text"] == TEXT
    assert palace.run("sealed", memory, "--erase").code == 2
    assert palace.json("sealed", memory, "--erase", "--yes")["erased"]
    assert palace.run("sealed").out == "No memory is sealed.\n"


def test_without_a_key_it_says_how_to_make_one(palace: Palace) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    file = _secret(palace, "sealed", "a second secret")
    refused = palace.run("seal", memory, "--yes", "--sealed-passphrase-file", str(file))
    refused.refused(1, "E2005")
    assert "loci seal-key new" in refused.err
    assert palace.run("seal", memory).code == 2
    assert palace.json("list")["total"] == 1


@pytest.mark.slow
def test_a_person_is_asked_first(palace: Palace, opener: tuple[str, str]) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    with Terminal(palace, "seal", memory, *opener) as terminal:
        terminal.type(b"n\n")
        done = terminal.ended()
    assert done.code == 0
    assert palace.json("list")["total"] == 1


def test_all_that_is_confidential_is_sealed_at_once(palace: Palace, opener: tuple[str, str]) -> None:
    palace.json("remember", "My card is 4111 1111 1111 1111.")
    palace.json("remember", "The password of the router is kW7-pfel-ABC9.", "--space", "work")
    palace.json("remember", TEXT)
    told = palace.json("seal", "--found", "--dry-run")
    assert (told["found"], told["sealed"], told["memories"]) == (2, 0, 2)
    assert palace.json("seal", "--found", "--space", "work", "--yes", *opener)["sealed"] == 1
    assert palace.json("seal", "--found", "--yes", *opener)["sealed"] == 1
    assert palace.json("seal", "--found", "--yes", *opener)["found"] == 0
    assert [one["text"] for one in palace.json("list", "--status", "all")["items"]] == [TEXT]
    assert len(palace.json("sealed")["items"]) == 2
    (row,) = palace.json("sealed", "--find", "password of the router", *opener)["items"][:1]
    assert row["space"] == "work"
    palace.run("sealed", "--find", "router").refused(1, "E4005")
    assert palace.run("sealed", "ID", "--find", "router").code == 2
    assert palace.run("seal").code == 2
    assert palace.run("seal", "ID", "--found").code == 2


def test_a_summary_is_what_a_search_shows_while_it_is_sealed(palace: Palace, opener: tuple[str, str]) -> None:
    ident = palace.json("remember", "The boathouse safe opens with 12-34-56")["memory_id"]
    summary = "How to open the safe of the boathouse"
    palace.json("seal", ident, "--label", "A safe", "--summary", summary, "--yes", *opener)
    assert summary in palace.run("sealed").out
    assert palace.json("sealed", "--find", "boathouse safe", "--in-clear")["items"][0]["summary"] == summary
    told = palace.run("recall", "How does the boathouse safe open?").out
    assert f"Sealed, and perhaps about this: {summary}  {ident}" in told
    assert "12-34-56" not in told
    assert "Sealed" not in palace.run("recall", "When is tea?").out
    assert palace.run("sealed", "--in-clear").code == 2
    palace.run("seal", ident, "--summary", "4111 1111 1111 1111", "--yes", *opener).refused(2, "E4005")


def test_a_backup_from_before_a_seal_shows_nothing_of_it(palace: Palace, opener: tuple[str, str]) -> None:
    memory = str(palace.json("remember", TEXT)["memory_id"])
    palace.json("remember", "Ada keeps bees.")
    backup = palace.json("backup")["path"]
    palace.json("seal", memory, "--yes", *opener)
    found = palace.json("browse", backup)
    assert (found["total"], found["kept_back"]) == (1, 1)
    assert "1 was sealed since and is left out" in palace.run("browse", backup).out
    assert TEXT not in palace.run("browse", backup).out
    palace.run("--json", "browse", backup, "--show", memory[-8:]).refused(1, "E2005")
    palace.home.joinpath("vault.db").write_bytes(b"x" * 8192)
    assert "could not be read" in palace.run("browse", backup).out
    assert "could not be read" in palace.run("browse", backup, "--show", memory[-8:]).err
    assert "could not be read" in palace.run("browse", backup, "--export", str(palace.home / "all.jsonl")).err
