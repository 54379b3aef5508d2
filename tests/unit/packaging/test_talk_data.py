"""The labelled talk: every line is of its format, and both halves of the authors hold every type and assertion."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from talk_data import ASSERTIONS, TYPES, LabelledSentence, Span, TalkDataError, read_sentences


@pytest.fixture(scope="module")
def sentences() -> tuple[LabelledSentence, ...]:
    return tuple(read_sentences())


@pytest.mark.slow
def test_there_is_much_of_many_hands(sentences: tuple[LabelledSentence, ...]) -> None:
    by_author = Counter(one.author for one in sentences)
    assert len(sentences) >= 20_000
    assert len(by_author) >= 250
    assert min(by_author.values()) >= 50


def test_every_type_and_assertion_stands_on_both_sides(sentences: tuple[LabelledSentence, ...]) -> None:
    for side in (False, True):
        half = [one for one in sentences if one.is_held_out is side]
        assert len(half) > len(sentences) / 3
        assert {one.type for one in half} == set(TYPES)
        assert {one.asserted for one in half} == set(ASSERTIONS)


def test_no_sentence_of_weight_is_told_by_two_authors(sentences: tuple[LabelledSentence, ...]) -> None:
    seen: dict[str, str] = {}
    for one in sentences:
        if one.worth >= 2 and len(one.text) > 40:
            assert seen.setdefault(one.text.casefold(), one.author) == one.author, one.text


def test_a_span_begins_and_ends_with_words(sentences: tuple[LabelledSentence, ...]) -> None:
    parts = [one.text[span.start : span.end] for one in sentences for span in one.spans.values()]
    assert len(parts) > 30_000
    assert [part for part in parts if part != part.strip(" .,;:!?")] == []


def test_states_last_and_what_happens_passes_as_the_guide_says(sentences: tuple[LabelledSentence, ...]) -> None:
    told = [one for one in sentences if one.worth]
    assert all(one.type != "none" for one in told)
    by_type = {kind: [one.is_lasting for one in told if one.type == kind] for kind in TYPES if kind != "none"}
    lasting = {kind: sum(flags) / len(flags) for kind, flags in by_type.items()}
    assert min(lasting, key=lasting.__getitem__) == "event"
    assert all(share > 0.75 for kind, share in lasting.items() if kind not in ("event", "plan"))


def rows(tmp_path: Path, *lines: Any) -> Path:
    (tmp_path / "one.jsonl").write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return tmp_path


HEAD = {"author": "a", "piece": "chat", "speakers": ["Ada", "Ben"], "date": "2024-03-11"}


def test_a_sentence_knows_the_turn_before_and_its_own(tmp_path: Path) -> None:
    asked = ["Ben", "Do you have siblings?", "relationship", "question", 0, 0, {}]
    first = ["Ada", "Yes.", "none", "none", 0, 0, {}]
    told = [
        "Ada",
        "Indeed I have two.",
        "relationship",
        "yes",
        1,
        2,
        {"s": "I", "v": "two", "r": "Ada has two siblings."},
    ]
    found = list(read_sentences(rows(tmp_path, HEAD, asked, first, told)))[-1]
    assert found.before == ("Ben: Do you have siblings?", "Yes.")
    assert found.spans == {"subject": Span(7, 8), "value": Span(14, 17)}
    assert found.statement == "Ada has two siblings."


@pytest.mark.parametrize(
    "row",
    [
        ["Eve", "Hi.", "none", "none", 0, 0, {}],
        ["Ada", "Hi.", "greeting", "none", 0, 0, {}],
        ["Ada", "I own a boat.", "possession", "none", 0, 0, {}],
        ["Ada", "Do I?", "possession", "question", 0, 2, {}],
        ["Ada", "I own a boat.", "possession", "yes", 2, 2, {}],
        ["Ada", "I own a boat.", "possession", "yes", 1, 4, {}],
        ["Ada", "I own a boat.", "possession", "yes", 1, 2, {"v": "a ship"}],
        ["Ada", "I own a boat.", "possession", "yes", 1, 2, {"x": "a boat"}],
    ],
)
def test_what_breaks_the_format_is_refused_with_its_place(tmp_path: Path, row: list[Any]) -> None:
    with pytest.raises(TalkDataError, match=r"one\.jsonl:2"):
        list(read_sentences(rows(tmp_path, HEAD, row)))


def test_a_sentence_needs_a_piece(tmp_path: Path) -> None:
    with pytest.raises(TalkDataError, match="before the first piece"):
        list(read_sentences(rows(tmp_path, ["Ada", "Hi.", "none", "none", 0, 0, {}])))
