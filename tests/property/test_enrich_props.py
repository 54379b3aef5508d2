"""Whatever a text is: what is read off it stands in it, and numbers stay in their bounds."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.entities.mentions import find_mentions
from core.entities.recognition import MOST_NAME, MOST_TEXT, name_key, recognize_names
from core.entities.registry import KnownName, make_lexicon
from core.llm.prompts import Description, keep_grounded_parts, parse_description
from core.text.metadata import (
    TaskOutcome,
    affect_of,
    blank_code_and_paths,
    detect_topics,
    extract_metadata,
    topic_taxonomy,
)

PIECES = st.sampled_from(
    [
        "Rosa", "my sister ", "Dr. ", "Go", "Rust", "react", " ", "\n", ". ", "src/", "a.py", "https://x.example/",
        "/etc", "C:\\", "```", "`", "@", "#", "**", "!!", "thank you", "broken", "not ", "3 May 2024", "2024-02-30",
        "'s", "’", "ß", "Ærø", "İ", "van der ", "Ltd", "12/12/2012", "日本", "🙂", "\u0301", "\ud800",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))


@given(TEXTS)
def test_what_is_read_off_a_text_stands_in_it(text: str) -> None:
    found = extract_metadata(text)
    for path in found.paths:
        assert text[path.start : path.end] == path.name
    for tool in found.technologies:
        assert text[tool.start : tool.end]
    assert all(url in text for url in found.urls)
    assert all(re.fullmatch(r"\d{4}-\d\d(-\d\d)?", day) for day in found.dates)
    assert len(blank_code_and_paths(text)) == len(text)
    assert extract_metadata(text) == found


@given(TEXTS)
def test_topics_are_of_the_taxonomy_and_more_text_takes_none_away(text: str) -> None:
    found = detect_topics(text)
    assert set(found) <= set(topic_taxonomy())
    assert set(found) <= set(detect_topics(f"{text} and more"))


@given(TEXTS, st.sampled_from([None, *TaskOutcome]), st.booleans(), st.booleans())
def test_feeling_stays_in_its_bounds(text: str, outcome: TaskOutcome | None, corrects: bool, first: bool) -> None:
    found = affect_of(text, outcome=outcome, is_correction=corrects, is_first=first)
    assert -1 <= found.valence <= 1
    assert 0 <= found.intensity <= 1
    assert 0 <= found.arousal <= min(abs(found.valence), found.intensity)


@given(TEXTS)
def test_candidates_lie_in_the_text_beside_each_other(text: str) -> None:
    found = recognize_names(text).candidates
    for one in found:
        assert 0 <= one.start < one.end <= min(len(text), MOST_TEXT)
        assert one.key
        assert one.type == "technology" or text[one.start : one.end] == one.name
    for a, b in pairwise(found):
        assert a.end <= b.start


@given(TEXTS)
def test_mentions_are_one_each_and_stand_where_they_say(text: str) -> None:
    read = recognize_names(text)
    known = make_lexicon((one.key, KnownName(f"id-{one.key}", one.type, one.name)) for one in read.candidates)
    found = find_mentions(read, known)
    assert len({one.entity_id for one in found}) == len(found)
    assert all(text[one.start : one.end] for one in found)
    assert find_mentions(read, make_lexicon(())) == ()


@given(st.text(max_size=MOST_NAME))
def test_a_key_is_its_own_key(name: str) -> None:
    key = name_key(name)
    assert name_key(key) == key
    assert name_key(f" {name} ") == key


@given(st.one_of(st.text(), st.binary()))
def test_any_answer_of_a_model_is_read_or_refused(raw: str | bytes) -> None:
    found = parse_description(raw)
    assert found is None or -1 <= found.sentiment <= 1


@given(TEXTS, st.lists(st.text(max_size=20), max_size=5))
def test_nothing_is_believed_that_a_text_does_not_say(text: str, words: list[str]) -> None:
    some = tuple(words)
    found = keep_grounded_parts(Description(some, some, some, 0.0), text, topic_taxonomy())
    assert all(name in text for name in found.people)
    assert set(found.topics) <= set(topic_taxonomy())
