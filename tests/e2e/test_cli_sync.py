"""`loci sync`: two homes that share a folder, from the code to the day on which one of them leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_rig import Palace, palace_from


@pytest.fixture
def shared(palace: Palace) -> Path:
    folder = palace.folder / "shared"
    folder.mkdir()
    return folder


@pytest.fixture
def laptop(template: Path, tmp_path: Path) -> Palace:
    """A second machine, with a vault of its own."""
    folder = tmp_path / "laptop"
    folder.mkdir()
    return palace_from(template, folder)


def test_two_machines_from_the_code_to_the_leaving(palace: Palace, laptop: Palace, shared: Path) -> None:
    assert palace.json("sync", "status")["is_on"] is False
    assert "on this device alone" in palace.run("sync", "status").out
    palace.run("sync", "now").refused(1, "E7001")
    palace.json("remember", "The dentist is on Tuesday.")
    code = palace.json("sync", "pair", "--folder", str(shared), "--name", "desk")["code"]
    told = laptop.run("sync", "join", code, "--folder", str(shared), "--name", "laptop")
    assert "This device is paired." in told.out
    laptop.json("remember", "The pump was serviced.")
    assert "laptop is paired." in palace.run("sync", "now").out
    assert laptop.json("sync", "now")["report"]["new"] == 1
    assert palace.json("sync", "now")["report"]["new"] == 1
    for one in (palace, laptop):
        assert {item["text"] for item in one.json("list")["items"]} == {
            "The dentist is on Tuesday.",
            "The pump was serviced.",
        }
    ident = next(item["id"] for item in laptop.json("list")["items"] if "pump" in item["text"])
    laptop.json("erase", ident, "--yes")
    laptop.json("sync", "now")
    assert palace.json("sync", "now")["report"]["gone"] == 1
    assert [item["text"] for item in palace.json("list")["items"]] == ["The dentist is on Tuesday."]
    status = palace.run("sync", "status").out
    assert "desk (this device)" in status
    assert "laptop, since" in status
    assert "called study now" in laptop.run("sync", "name", "study").out
    assert laptop.run("sync", "name").code == 2
    palace.run("sync", "now")
    assert {one["name"] for one in palace.json("sync", "status")["devices"]} == {"desk", "study"}
    (shared / "letter.loci-bundle").write_text("no bundle")
    assert "letter.loci-bundle was cut or changed" in palace.run("sync", "now").out
    assert "This device has left" in laptop.run("sync", "leave").out
    palace.run("sync", "now")
    assert [one["left_at"] is None for one in palace.json("sync", "status")["devices"]].count(True) == 1


def test_what_cannot_be_done_is_told(palace: Palace, shared: Path) -> None:
    palace.run("sync", "pair").refused(2, "E4005")
    palace.run("sync", "pair", "--folder", str(shared / "nowhere")).refused(1, "E7002")
    assert palace.run("sync", "join").code == 2
    assert palace.run("sync", "join", "ABCD").code == 2
    assert palace.run("sync", "now", "ABCD").code == 2
    palace.run("sync", "join", "ABCD", "--folder", str(shared)).refused(1, "E7004")
    palace.run("sync", "join", "A" * 24, "--folder", str(shared)).refused(1, "E7004")
    palace.json("sync", "pair", "--folder", str(shared))
    palace.run("sync", "remove", "nobody").refused(1, "E2005")
    assert palace.run("sync", "remove").code == 2
    assert palace.run("sync", "leave", "nobody").code == 2
    palace.run("sync", "pair", "--folder", str(shared), "--name", "x" * 70).refused(2, "E4005")


def test_a_machine_that_was_sold_reads_nothing_more(palace: Palace, laptop: Palace, shared: Path) -> None:
    code = palace.json("sync", "pair", "--folder", str(shared), "--name", "desk")["code"]
    laptop.json("sync", "join", code, "--folder", str(shared), "--name", "laptop")
    palace.json("remember", "Said while the laptop was there.")
    for one in (palace, laptop, palace, laptop):
        one.json("sync", "now")
    told = palace.run("sync", "remove", "laptop")
    assert "laptop was removed: its changes are no longer accepted" in told.out
    assert "The other devices learn of it from this bundle" in told.out
    palace.json("remember", "Said when it was sold.")
    palace.json("sync", "now")
    laptop.run("sync", "now").refused(1, "E7001")
    assert [item["text"] for item in laptop.json("list")["items"]] == ["Said while the laptop was there."]
