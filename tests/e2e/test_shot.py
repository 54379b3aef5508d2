"""`loci demo` with a screen, and `loci shot` without one: the sample palace as a newcomer and the README see it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_rig import Palace
from window_process import Driven, on, screen

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def display() -> Iterator[str]:
    """A screen nobody sees."""
    with screen() as name:
        yield name


@pytest.fixture
def visitor(tmp_path: Path) -> Palace:
    """Somebody with no palace, and a folder for temporary files that can be looked into."""
    palace = Palace(tmp_path)
    (tmp_path / "scratch").mkdir()
    return palace


@pytest.mark.parametrize("scenario", ["walk", "building"])
def test_the_demo_ends_on_a_signal_and_leaves_nothing(visitor: Palace, display: str, scenario: str) -> None:
    """At any time: while it is walked through, and while it is still being built."""
    scratch = visitor.folder / "scratch"
    before = {path.name for path in visitor.folder.iterdir()}
    with Driven(scenario, visitor, on(visitor, display, scratch=scratch), verbs=["demo"]) as window:
        window.reaches("the palace is walkable" if scenario == "walk" else "the sample is being built")
        assert [path.name for path in scratch.iterdir() if path.name.startswith("loci-sample-")]
        result = window.end()
    assert result.code == 0, result.err
    assert result.err == "A sample palace: it lives in a temporary home and is gone when you close the window.\n"
    assert list(scratch.iterdir()) == []
    # Nothing of the person's was touched either.
    assert {path.name for path in visitor.folder.iterdir()} - before <= {"cache"}
    assert not visitor.home.exists()


def shoot(visitor: Palace, out: Path, *more: str, size: str = "1024x700") -> None:
    """Make a picture and check its size."""
    reply = visitor.json("shot", "--page", "palace", "--out", str(out), "--theme", "dark", "--size", size, *more)
    width, height = map(int, size.split("x"))
    assert reply == {"page": "palace", "out": str(out), "theme": "dark", "width": width, "height": height}
    head = out.read_bytes()[:24]
    assert head[:8] == PNG
    assert struct.unpack(">II", head[16:24]) == (width, height)


def test_a_picture_can_be_made_again(visitor: Palace) -> None:
    """Two processes, two vaults: the same bytes."""
    first, second = visitor.folder / "first.png", visitor.folder / "second.png"
    shoot(visitor, first)
    shoot(visitor, second)
    assert first.read_bytes() == second.read_bytes()
    assert not visitor.home.exists()


def test_what_cannot_be_drawn_is_refused_before_anything_is_built(visitor: Palace) -> None:
    out, scratch = visitor.folder / "out.png", visitor.folder / "scratch"
    with visitor.shell() as shell:
        sentence = shell.run("shot", "--page", "dungeon", "--out", str(out)).refused(2, "E4005")
        assert "palace, graph, library, review, ask, recall, timeline, entities, clients, journal, settings" in sentence
        shell.run("shot", "--page", "palace", "--out", str(out), "--size", "20x20").refused(2, "E4005")
        nowhere = visitor.folder / "nowhere" / "out.png"
        shell.run("shot", "--page", "palace", "--out", str(nowhere)).refused(1, "E1005")
        for arguments in (("--size", "large"), ("--theme", "pink"), ("--text-size", "20")):
            wrong = shell.run("shot", "--page", "palace", "--out", str(out), *arguments)
            assert (wrong.code, wrong.out) == (2, "")
            assert wrong.err.startswith("Usage: loci shot ")
    assert not out.exists()
    assert list(scratch.iterdir()) == []
