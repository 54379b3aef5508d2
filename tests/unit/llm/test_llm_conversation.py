"""A conversation laid out for a model, and what of its answer is a citation."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.conversation import (
    WINDOW,
    answer_budget,
    build_messages,
    cited_sources,
    estimate_tokens,
    fit_window,
    is_follow_up,
    memory_budget,
    number_sources,
    remove_citations,
    split_citations,
    words_to_search,
)
from core.types.sessions import Exchange

HINTS = st.lists(
    st.sampled_from(
        ["[", "]", "1", "2", "12", "007", ", ", ";", " ", "\n", "x", "[1]", "[2, 3]", "［1］", "²", "[[1]]"]
    )
).map("".join)


@given(HINTS | st.text(), st.sets(st.integers(1, 12)))
def test_segments_joined_are_the_answer_and_cite_nothing_that_is_not_there(answer: str, sources: set[int]) -> None:
    found = split_citations(answer, sources)
    assert "".join(one.text for one in found) == answer
    assert all(one.text for one in found)
    assert {one.source for one in found if one.source is not None} <= sources
    for one in found:
        if one.source is not None:
            digits = re.findall(r"[0-9]+", one.text)
            assert [int(digit) for digit in digits] == [one.source]
            assert set(one.text) <= set("0123456789[] ")


@given(HINTS)
def test_without_sources_nothing_is_a_citation(answer: str) -> None:
    assert cited_sources(answer, ()) == ()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.text(alphabet="ab .\n", max_size=8))
def test_a_bracketed_list_cites_each_of_its_numbers(numbers: list[int], around: str) -> None:
    answer = f"{around}[{', '.join(map(str, numbers))}]{around}"
    assert cited_sources(answer, range(1, 10)) == tuple(dict.fromkeys(numbers))


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("It itches [2][1].", (2, 1)),
        ("It itches [2;1] and [ 3 ].", (2, 1, 3)),
        ("None [0], [4], [-1], [1.5], [one], (1), [1-3].", ()),
        ("One is there, one is not [1, 9].", (1,)),
        ("An array[1] is one too.", (1,)),
        ("Half of one [1", ()),
        ("Too long [0001].", ()),
        ("[[1]]", (1,)),
    ],
)
def test_what_is_a_citation(answer: str, cited: tuple[int, ...]) -> None:
    assert cited_sources(answer, range(1, 4)) == cited


def test_of_two_numbers_the_one_that_names_nothing_is_text() -> None:
    found = split_citations("so [1, 9] it is", {1})
    assert [(one.text, one.source) for one in found] == [
        ("so ", None), ("[1", 1), (", ", None), ("9]", None), (" it is", None),
    ]  # fmt: skip


@given(st.lists(st.uuids(version=4), max_size=8))
def test_sources_are_numbered_in_the_order_of_the_text(ids: list[uuid.UUID]) -> None:
    text = "# Memory Context\n" + "".join(
        f'<memory id="{one}" type="fact">\n- it says &lt;memory id=&quot;{one}&quot;\n</memory>\n' for one in ids
    )
    numbered, order = number_sources(text)
    assert order == tuple(str(one) for one in ids)
    assert [int(found) for found in re.findall(r'<memory number="(\d+)" type="fact">', numbered)] == list(
        range(1, len(ids) + 1)
    )
    assert len(numbered) <= len(text)
    assert numbered.count("&lt;memory id=&quot;") == len(ids)


@pytest.mark.parametrize(
    ("told", "window"),
    [
        ({"llama.context_length": 2048}, 2048),
        ({"llama.context_length": 131_072}, WINDOW),
        ({"llama.context_length": 16, "a.context_length": True, "b.context_length": "9"}, WINDOW),
        ({"llama.context_length": 4096, "clip.context_length": 1024}, 1024),
        (None, WINDOW),
        ([1], WINDOW),
    ],
)
def test_the_window_is_what_the_model_can_up_to_a_bound(told: object, window: int) -> None:
    assert fit_window(told) == window


def test_the_oldest_turns_are_left_out_and_a_prompt_too_long_is_refused() -> None:
    said = [Exchange(f"question {number} " + "x" * 600, "y" * 600) for number in range(20)]
    found = build_messages("Answer.", "", "now", said, 4096)
    assert found is not None
    assert found[-1] == {"role": "user", "content": "now"}
    assert found[1]["content"].startswith("question ")
    assert found[-3]["content"].startswith("question 19")
    assert 3 < len(found) < 42
    assert build_messages("Answer.", "", "z" * 20_000, [], 4096) is None


@given(
    st.text(max_size=400),
    st.text(max_size=400),
    st.lists(st.builds(Exchange, st.text(max_size=300), st.text(max_size=300)), max_size=8),
    st.integers(512, WINDOW),
)
def test_what_the_model_reads_leaves_room_for_its_answer(
    context: str, prompt: str, said: list[Exchange], window: int
) -> None:
    found = build_messages("Answer.", context, prompt, said, window)
    if found is None:
        assert estimate_tokens(context) + estimate_tokens(prompt) > window - answer_budget(window) - 10
        return
    read = sum(estimate_tokens(one["content"]) for one in found)
    assert read + answer_budget(window) <= window
    kept = (len(found) - 2) // 2
    assert [one["content"] for one in found[1:-1]] == [
        part for turn in said[len(said) - kept :] for part in (turn.user, turn.assistant)
    ]
    assert memory_budget(window) < window - answer_budget(window)


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        ("In Voss [1].", "In Voss."),
        ("In Voss [1, 2], since May [2].", "In Voss, since May."),
        ("Room [9] and [1]", "Room [9] and"),
        ("An array a[7] stays.", "An array a[7] stays."),
        ("Both [1; 9].", "Both [1; 9]."),
        ("", ""),
    ],
)
def test_an_answer_is_said_again_without_its_citations(answer: str, plain: str) -> None:
    assert remove_citations(answer, {1, 2}) == plain


@given(st.text(alphabet="ab [],;0123456789.", max_size=60), st.sets(st.integers(0, 999), max_size=4))
def test_no_citation_is_left_and_nothing_else_is_taken(answer: str, sources: set[int]) -> None:
    plain = remove_citations(answer, sources)
    whole = re.findall(r"\[ ?\d{1,3}(?:(?:, ?|; ?| )\d{1,3})* ?\]", plain)
    assert not [group for group in whole if all(int(n) in sources for n in re.findall(r"\d+", group))]
    assert remove_citations(answer, set()) == answer
    assert len(plain) <= len(answer)


@pytest.mark.parametrize(
    "question",
    [
        "And Ines?",
        "Since when?",
        "Ines?",
        "When was that?",
        "How old is she?",
        "What did he study there?",
        "Who else was invited?",
        "Which of those did I like best?",
        "What about the second floor?",
        "Did she tell Caroline about the plan?",
    ],
)
def test_a_question_that_points_back_is_searched_with_the_one_before(question: str) -> None:
    assert is_follow_up(question)
    assert words_to_search(question, "Where does Bram live?") == f"Where does Bram live?\n{question}"
    assert words_to_search(question, "") == question


@pytest.mark.parametrize(
    "question",
    [
        "What did Caroline research?",
        "Who is Ines?",
        "Where is the key?",
        "What's the door code?",
        "What did I do this week?",
        "Did Caroline finish her degree?",
        "Which recipe that needs quinces did I write down?",
        "When do I see those two dentists in Graz?",
    ],
)
def test_a_whole_question_is_searched_by_its_own_words(question: str) -> None:
    assert words_to_search(question, "Where does Bram live?") == question


@given(st.text(max_size=200), st.text(max_size=600))
def test_what_is_searched_holds_the_question_and_little_of_the_one_before(question: str, before: str) -> None:
    words = words_to_search(question, before)
    assert words.endswith(question)
    assert len(words) <= len(question) + 501
