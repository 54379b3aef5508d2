"""The emblems of rooms: each has words and a picture of its own, licensed, of one size and in one colour."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from xml.etree import ElementTree as ET

import pytest

FOLDER = files("resources") / "icons" / "emblems"
WORDS: dict[str, list[str]] = json.loads((files("resources") / "palace" / "emblems.json").read_text("utf-8"))
LINES = re.compile(r"- `([\w-]+\.svg)` ([0-9a-f]{64})")
_SVG = "{http://www.w3.org/2000/svg}"


def pictures() -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in FOLDER.iterdir() if file.name.endswith(".svg")}


def test_every_emblem_has_a_picture_and_every_picture_is_an_emblem() -> None:
    assert {f"{name}.svg" for name in WORDS} == set(pictures())
    assert 200 <= len(WORDS) <= 300


def test_no_two_emblems_are_one_picture() -> None:
    drawn = {ET.canonicalize(data.decode(), strip_text=True, exclude_attrs=["class"]) for data in pictures().values()}
    assert len(drawn) == len(WORDS)


@pytest.mark.parametrize("name", sorted(WORDS))
def test_an_emblem_is_a_line_drawing_that_takes_a_colour(name: str) -> None:
    root = ET.fromstring((FOLDER / f"{name}.svg").read_text("utf-8"))  # noqa: S314 - our own file
    assert root.tag == f"{_SVG}svg"
    assert root.get("viewBox") == "0 0 24 24"
    assert root.get("stroke") == "currentColor"
    assert len(root) > 0


@pytest.mark.parametrize("name", sorted(WORDS))
def test_the_words_of_an_emblem_are_plain(name: str) -> None:
    words = WORDS[name]
    assert words
    assert len(set(words)) == len(words)
    assert all(re.fullmatch(r"[a-z][a-z' -]*[a-z]", word) for word in words)


def test_provenance_names_every_emblem() -> None:
    told = dict(LINES.findall((FOLDER / "PROVENANCE.md").read_text("utf-8")))
    assert told == {name: hashlib.sha256(data).hexdigest() for name, data in pictures().items()}
    assert "ISC License" in (FOLDER / "LICENSE").read_text("utf-8")
