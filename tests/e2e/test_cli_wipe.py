"""Removing everything from the command line: what it shows, what it asks, what is gone, what it leaves alone."""

from __future__ import annotations

from pathlib import Path

from cli_rig import Palace
from cli_terminal import Terminal

TEXT = "The brass plate is under the third stair."


def test_it_shows_asks_removes_and_reports(palace: Palace) -> None:
    palace.json("remember", TEXT)
    palace.json("backup")
    (palace.home / "mine.txt").write_text("mine", encoding="utf-8")
    shown = palace.run("wipe", "--dry-run")
    assert shown.code == 0, shown.err
    assert "1 memory" in shown.out
    assert "WARNING: no other copy" in shown.out
    assert "mine.txt" in shown.out
    assert palace.json("wipe", "--dry-run")["memories"] == 1
    palace.run("wipe").refused(1, "E4005")
    wrong = palace.folder / "wrong"
    wrong.write_text("not it\n", encoding="utf-8")
    palace.run("wipe", "--yes", secret=wrong).refused(4, "E1006")
    assert palace.json("list")["total"] == 1
    inside = palace.run("wipe", "--yes", "--report", str(palace.home / "report.txt"))
    inside.refused(2, "E4005")
    to = palace.folder / "report.txt"
    done = palace.run("wipe", "--yes", "--report", str(to))
    assert done.code == 0, done.err
    assert "no other copy" in done.err
    assert to.read_text(encoding="utf-8") == done.out
    assert TEXT not in done.out
    assert [one.name for one in palace.home.iterdir()] == ["mine.txt"]
    palace.run("wipe", "--yes").refused(1, "E1010")
    assert palace.run("status").code == 1


def test_the_word_has_to_be_typed(palace: Palace) -> None:
    palace.json("remember", TEXT)
    with Terminal(palace, "wipe") as terminal:
        terminal.type(b"yes\n")
        done = terminal.ended()
    assert done.code == 1
    assert "Nothing was removed" in done.err
    assert palace.json("list")["total"] == 1
    with Terminal(palace, "wipe") as terminal:
        terminal.type(b"wipe\n")
        done = terminal.ended()
    assert done.code == 0, done.err
    assert not palace.home.exists()


def test_an_engine_that_runs_keeps_its_vault(palace: Palace) -> None:
    palace.json("remember", TEXT)
    with palace.serving() as serving:
        palace.run("wipe", "--yes").refused(3, "E1009")
        assert palace.json("list")["total"] == 1
        serving.end()


def test_a_damaged_vault_is_removed_too(palace: Palace) -> None:
    palace.json("remember", TEXT)
    vault = palace.home / "vault.db"
    vault.write_bytes(b"\0" * vault.stat().st_size)
    done = palace.run("wipe", "--yes")
    assert done.code == 0, done.err
    assert "can still be removed" in done.err
    assert not palace.home.exists()


def test_a_wipe_that_was_interrupted_is_finished(palace: Palace) -> None:
    from core.engine.facade import Home, HomeKeys
    from core.vault.files.destruction import WipeNote, mark_home

    palace.json("remember", TEXT)
    home = Home(palace.home)
    mark_home(home, WipeNote(HomeKeys(home).vault_id))
    (palace.home / "vault.keys").write_bytes(b"")
    done = palace.run("wipe", secret=Path("/nowhere"))
    assert done.code == 0, done.err
    assert "interrupted" in done.out
    assert not palace.home.exists()
