"""`loci export --encrypted` and `loci import` of what it wrote, as a person types them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cli_rig import Palace

PASSPHRASE = "twelve o'clock in the kitchen"
BOAT, KEYS = "The boat is moored at pier four.", "The spare keys hang behind the door."


@pytest.fixture
def secret(palace: Palace) -> Path:
    file = palace.folder / "archive-secret"
    file.write_text(PASSPHRASE + "\n", encoding="utf-8")
    return file


def test_a_running_engine_writes_the_archive(palace: Palace, secret: Path) -> None:
    file = palace.folder / "all.loci"
    with palace.serving():
        palace.json("remember", BOAT)
        told = palace.json("export", "--encrypted", str(file), "--archive-passphrase-file", str(secret))
    assert (told["path"], told["memories"], told["bytes"]) == (str(file), 1, file.stat().st_size)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert BOAT.encode() not in file.read_bytes()


def test_everything_goes_out_and_comes_back(
    palace: Palace, secret: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with palace.shell() as shell:
        shell.json("remember", BOAT, "--space", "harbour")
        shell.json("remember", KEYS)
    file, given = palace.folder / "all.loci", ("--archive-passphrase-file", str(secret))
    told = palace.json("export", "--encrypted", str(file), *given)
    assert (told["path"], told["memories"], told["bytes"]) == (str(file), 2, file.stat().st_size)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert BOAT.encode() not in file.read_bytes()
    other = Palace(tmp_path_factory.mktemp("other"))
    assert other.run("init").code == 0
    preview = other.json("import", str(file), "--dry-run", *given)
    assert (preview["stored"], preview["import_id"], preview["format"]) == (2, None, "archive")
    done = other.json("import", str(file), *given)
    assert done["stored"] == 2
    assert {one["text"] for one in other.everything()} == {BOAT, KEYS}
    assert {one["id"] for one in other.everything()} == {one["id"] for one in palace.everything()}
    assert other.run("import", str(file), *given).out.startswith("Nothing new: everything was imported before")
    other.json("unimport", done["import_id"])
    assert other.everything() == []


def test_a_passphrase_is_needed_and_must_be_right(palace: Palace, secret: Path) -> None:
    with palace.shell() as shell:
        shell.json("remember", BOAT)
    file = palace.folder / "all.loci"
    palace.run("export", "--encrypted", str(file)).refused(1, "E4005")
    short = palace.folder / "short"
    short.write_text("too short\n", encoding="utf-8")
    palace.run("export", "--encrypted", str(file), "--archive-passphrase-file", str(short)).refused(2, "E4005")
    assert not file.exists()
    palace.json("export", "--encrypted", str(file), "--archive-passphrase-file", str(secret))
    palace.run("import", str(file)).refused(1, "E4005")
    palace.run("import", str(file), "--archive-passphrase-file", str(palace.secret)).refused(4, "E1006")
    cut = palace.folder / "cut.loci"
    cut.write_bytes(file.read_bytes()[:-1])
    palace.run("import", str(cut), "--archive-passphrase-file", str(secret)).refused(1, "E6001")


def test_what_makes_no_sense_together_is_wrong_usage(palace: Palace, secret: Path) -> None:
    for arguments in (
        ("export", "--encrypted", "-"),
        ("export", "--encrypted", "all.loci", "--format", "csv"),
        ("export", "--encrypted", "all.loci", "--space", "home"),
        ("export", "all.jsonl", "--archive-passphrase-file", str(secret)),
    ):
        assert palace.run(*arguments).code == 2
