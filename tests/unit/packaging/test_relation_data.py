"""The training pairs: every line is one, splits keep notes together, what is added follows from the labels."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import relation_data as data
from core.types.belief import LABELS as SHIPPED
from relation_data import LABELS, Pair


def pair(old: str, new: str, label: str, group: int = 0) -> Pair:
    return Pair(old, new, LABELS.index(label), "home", group)


def test_the_labels_are_those_of_the_program() -> None:
    assert list(LABELS) == [label.value for label in SHIPPED]


@pytest.mark.slow
def test_every_line_is_a_pair_and_each_label_has_its_share() -> None:
    pairs, digest = data.load()
    counts = data.counted(pairs)
    assert len(pairs) >= 3000
    assert min(counts.values()) >= 0.1 * len(pairs)
    assert len(digest) == 64
    assert data.load() == (pairs, digest)


@pytest.mark.slow
def test_the_shipped_model_learned_from_these_pairs() -> None:
    manifest = json.loads(
        (Path(data.__file__).parents[3] / "resources" / "model" / "relations" / "manifest.json").read_text("utf-8")
    )
    pairs, digest = data.load()
    assert manifest["training"]["sha256"] == digest
    assert manifest["training"]["pairs"] == len(pairs)


@pytest.mark.slow
def test_a_file_held_back_shares_no_note_with_what_was_learned() -> None:
    pairs, _ = data.load()
    learned = data.without(pairs, ("work", "paraphrase"))
    held = data.unseen(pairs, "work", learned)
    assert {one.source for one in held} == {"work"}
    assert len(held) >= 1000
    known = {text.casefold() for one in learned for text in (one.old, one.new)}
    assert not known & {text.casefold() for one in held for text in (one.old, one.new)}


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        '{"e": "a", "n": "b"}',
        '{"e": "a", "n": "b", "l": "SAME"}',
        '{"e": " ", "n": "b", "l": "MERGE"}',
        '{"e": 1, "n": "b", "l": "MERGE"}',
    ],
)
def test_a_broken_line_stops_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    (tmp_path / "some.jsonl").write_text(line + "\n", "utf-8")
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"some\.jsonl:1"):
        data.load()


def test_a_pair_with_two_labels_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"e": "A cat.", "n": "The cat is Bo.", "l": "MERGE"},
        {"e": "a cat.", "n": "the cat is Bo.", "l": "COEXIST"},
        {"e": "A dog.", "n": "The dog is Bo.", "l": "MERGE"},
    ]
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    assert [one.old for one in data.load()[0]] == ["A dog."]


def test_what_twins_imply() -> None:
    written = [
        pair("a", "a again", "DUPLICATE"),
        pair("a", "not a", "SUPERSEDE"),
        pair("a", "more of a", "MERGE"),
        pair("a", "b", "COEXIST"),
    ]
    found = {(one.old, one.new, LABELS[one.label]) for one in data.implied(written)}
    assert found == {
        ("a again", "a", "DUPLICATE"),
        ("a again", "not a", "SUPERSEDE"),
        ("a again", "more of a", "MERGE"),
        ("a again", "b", "COEXIST"),
        ("b", "a", "COEXIST"),
    }
    assert all(one.weight < 1 for one in data.implied(written))


def test_a_twin_that_leaves_something_out_stands_for_nobody() -> None:
    written = [pair("a b c d e f g h", "a b c", "DUPLICATE"), pair("a b c d e f g h", "not a", "SUPERSEDE")]
    assert data.implied(written) == []


def test_a_changed_number_replaces_and_a_changed_dress_does_not() -> None:
    written = [pair(f"The rent of flat {name} is 900 euros", "x", "MERGE", i) for i, name in enumerate("abcdefghij")]
    made = [one for seed in range(20) for one in data.varied(written, random.Random(seed))]
    assert {LABELS[one.label] for one in made} == {"DUPLICATE", "SUPERSEDE", "COEXIST"}
    for one in made:
        if LABELS[one.label] == "SUPERSEDE":
            assert "900" not in one.new
        if LABELS[one.label] == "DUPLICATE":
            assert one.new.casefold().rstrip(".") == one.old.casefold().rstrip(".")


def test_the_first_person_told_in_the_third() -> None:
    assert data.as_user("I'm at my desk and I've a cold") == "User is at User's desk and User has a cold"
