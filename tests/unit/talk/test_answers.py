"""Questions joined with their answers, and what is asked of an assistant."""

from __future__ import annotations

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.talk.answers import find_topic, is_fragment, join_answer, mark_question, read_question_request

NAMES = frozenset(("mara", "joss"))


@pytest.mark.parametrize(
    ("question", "answer", "joined"),
    [
        ("Do you have siblings?", "Two, both older.", "I have two siblings, both older"),
        ("Are you from Leith?", "Yes", "I am from Leith"),
        ("Are you vegetarian?", "No.", "I am not vegetarian"),
        ("Did you sell the car?", "Yes", "I sold the car"),
        ("What's your dog called?", "Biscuit", "my dog is called Biscuit"),
        ("What is your favourite colour?", "Green", "my favourite colour is Green"),
        ("Who is Ondra?", "My student", "Ondra is my student"),
        ("Which class is Ivy in?", "2b, with Mr. Sandoval.", "Ivy is in class 2b, with Mr. Sandoval"),
        ("How old is she?", "12", "she is 12"),
        ("What are you training for?", "A 10k in October.", "I am training for a 10k in October"),
        ("Where do you work now?", "At the harbour", "I work at the harbour"),
        ("How many boats do you have?", "Two, one leaks.", "I have two boats, one leaks"),
        ("How much is the rent?", "690 a month", "the rent is 690 a month"),
        ("How much do you pay?", "Ninety", "I pay ninety"),
        ("How long have you been married?", "Ten years.", "I have been married for ten years"),
        ("How long did she row?", "Until 2019", "she rowed until 2019"),
        ("How often do you swim?", "twice a week", "I swim twice a week"),
        ("How much are you paying?", "900", "I am paying 900"),
        ("How much is he asking?", "900", "he is asking 900"),
        ("How much is it a term?", "90", "it is 90 a term"),
        ("How long is the drive?", "2 hours", "the drive is 2 hours"),
        ("How long did it take?", "2 hours", "it took 2 hours"),
    ],
)
def test_an_answer_fills_its_questions_gap(question: str, answer: str, joined: str) -> None:
    assert join_answer(question, answer, NAMES) == joined


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you like it or not?", "Two"),
        ("Where do you live?", "I told you already"),
        ("How are you?", "Fine"),
        ("Really?", "Yes"),
        ("I live here.", "Two"),
        ("When is it?", "No idea"),
        ("Where do you live?", "Where do you?"),
        ("How many bottles is he on?", "One at nap"),
        ("What can I leave out?", "The linen cover."),
        ("What will you all do?", "Guard duty"),
        ("How much is it?", "Too much"),
        ("How tall is she?", "Very"),
        ("How much is the rent going up?", "900"),
        ("How much are you?", "900"),
        ("How much time is left?", "900"),
    ],
)
def test_what_makes_no_sentence_is_not_joined(question: str, answer: str) -> None:
    assert join_answer(question, answer, NAMES) == ""


@pytest.mark.parametrize(
    ("question", "topic"),
    [("Any injuries?", "injuries"), ("And your leg, Rafe?", "your leg"), ("Stand number?", "Stand number"),
     ("Really?", ""), ("How is he?", ""), ("Where do you live?", "")],
)  # fmt: skip
def test_a_question_without_a_verb_has_a_topic(question: str, topic: str) -> None:
    assert find_topic(question) == topic


@pytest.mark.parametrize(
    ("clause", "wanted"),
    [
        ("Keep the answers short please", "I want the assistant to keep the answers short"),
        ("never use emoji", "I never want the assistant to use emoji"),
        ("Don't apologise", "I do not want the assistant to apologise"),
        ("wait for me", ""),
        ("I like tea", ""),
        ("never ring me before ten; until then I am a bear", "I never want the assistant to ring me before ten"),
    ],
)
def test_a_request_is_what_somebody_wants(clause: str, wanted: str) -> None:
    assert read_question_request(clause) == wanted


def test_a_fragment_has_no_verb() -> None:
    assert is_fragment("Two, both older")
    assert not is_fragment("I have two")
    assert not is_fragment("")


@settings(max_examples=count_examples(200), deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_question_and_answer_are_read(question: str, answer: str) -> None:
    joined = join_answer(f"{question}?", answer, NAMES)
    assert joined == "" or len(joined) <= len(question) + len(answer) + 20
    assert isinstance(read_question_request(answer), str)
    assert find_topic(question) in (question.strip(), find_topic(question))


@pytest.mark.parametrize(
    ("sentence", "is_asked"),
    [
        ("how old is she", True),
        ("so where do you live", True),
        ("what instrument does he play", True),
        ("do you still row", True),
        ("what's her name now", True),
        ("what a day", False),
        ("when we met it rained", False),
        ("how old is she.", False),
        ("which is what he always says", False),
        ("what i do is teach", False),
        ("what he does is his business", False),
        ("since is a word", False),
        ("who is the oldest of us", False),
        ("where are they from", True),
        ("she asked how old I am", False),
    ],
)
def test_a_question_without_its_mark_is_known_by_its_order(sentence: str, *, is_asked: bool) -> None:
    assert mark_question(sentence).endswith("?") is is_asked
