"""Recall hands out the sentences that stand; the stored text stays whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.recall.answer import drop_sentences
from core.recall.result import PARTLY_OVER

DAY = 86_400_000
BOTH, REST, MOVED = "I live in Graz. I work at Siemens.", "I work at Siemens.", "I live in Vienna now."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """Of two sentences of a memory the first is over."""
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims, gate=0.1)) as made:
        made.store(BOTH)
        assert isinstance(made.clock, HandClock)
        made.clock.at_ms += DAY
        assert made.store(MOVED).superseded == ()
        made.clock.at_ms += DAY
        yield made


def test_the_sentence_that_is_over_is_left_out(rig: Rig) -> None:
    found = rig.recall("where do I live and work", limit=5)
    assert {item.memory.text for item in found.items} == {REST, MOVED}
    assert [PARTLY_OVER in item.why for item in found.items if item.memory.text == REST] == [True]
    assert all(PARTLY_OVER not in item.why for item in found.items if item.memory.text == MOVED)


def test_a_client_is_given_the_same(rig: Rig) -> None:
    client = rig.client("aster", "read", "space:home")
    assert set(rig.found("where do I live and work", client, limit=5)) == {REST, MOVED}


def test_the_memory_itself_is_shown_whole(rig: Rig) -> None:
    item = next(one for one in rig.recall("work at Siemens", limit=5).items if one.memory.text == REST)
    assert rig.get(item.memory.id).text == BOTH


def test_what_was_said_then_is_whole(rig: Rig) -> None:
    assert rig.found("work at Siemens", limit=5, as_of_ms=START_MS + DAY // 2) == [BOTH]


@pytest.mark.parametrize(
    ("text", "over", "standing", "left"),
    [
        ("Ada lives in Graz. She sings.", ["Graz"], [], "She sings."),
        ("She sings. Ada lives in Graz! It rains.", ["Graz"], ["It"], "She sings. It rains."),
        ("Graz\nLinz\nWels", ["Linz"], [], "Graz\nWels"),
        ("Ada lives in Graz and sings.", ["Graz"], ["sings"], "Ada lives in Graz and sings."),
        ("Ada lives in Graz.", ["Graz"], [], "Ada lives in Graz."),
        ("Graz, Linz. Wels.", ["Graz", "Linz"], [], "Wels."),
    ],
)
def test_sentences_are_left_out(text: str, over: list[str], standing: list[str], left: str) -> None:
    spans = [[(text.index(word), text.index(word) + len(word)) for word in words] for words in (over, standing)]
    assert drop_sentences(text, *spans) == left
