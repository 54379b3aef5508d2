"""Whether one text speaks of all that another says: to take its place, or to be no more than said again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.coverage import covers_text, says_all_of, says_most_of

DOCUMENTS = (
    "---\nname: deploy-helper\ndescription: How we deploy.\n---\nRun `make ship` with shipctl.",
    "Run `make ship` with the tool shipctl. First set REGION. Then wait for the green light. Keep the log.",
    "# Bread\nMix flour with water.\nFold three times.\nBake at 240 degrees in a pot.",
    "House rules: no shoes inside, keys on the hook, bins out on Tuesday, quiet after ten.",
)
REMARKS = ("shipctl is called portctl now.", "The pot is broken.", "Bins are out on Wednesday now.")


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark_speaks_for_no_text_that_makes_several_points(document: str, remark: str) -> None:
    assert not covers_text(document, remark)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_new_version_of_a_text_speaks_for_it(document: str) -> None:
    assert covers_text(document, document.replace("Run", "Start").replace("Fold", "Stretch").replace("ten", "eleven"))


def test_a_text_of_one_point_is_spoken_for_in_whatever_words() -> None:
    assert covers_text("The museum is shut for renovation.", "One may go in again.")
    assert covers_text("Dr. Huber treats my knee.", "I have another doctor for it now.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The museum is shut for renovation.", "The museum has reopened its doors."),
        ("The printer on floor 3 is out of order.", "Someone got the floor 3 printer going."),
        ("The heating in the annex is broken.", "The annex is warm: the heating got repaired."),
        ("Player 7 wears size 40.", "Gene G7 lies on chromosome 40."),
        ("The lift works.", "The lift does not work."),
        ("The lift works.", "The lift works again."),
        ("I take 50 mg of iron.", "I take 75 mg of iron."),
    ],
)
def test_what_has_a_word_of_its_own_is_no_repeat(old: str, new: str) -> None:
    assert not says_all_of(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My flat is on the third floor.", "The user's flat is on the 3rd floor."),
        ("I walk the dog every morning.", "Every morning I am walking the dog."),
        ("The meeting with the board is on Tuesday at ten.", "The board meeting is on Tuesday."),
    ],
)
def test_what_is_said_in_the_same_words_is_a_repeat(old: str, new: str) -> None:
    assert says_all_of(old, new)


@given(st.text(max_size=300))
def test_a_text_repeats_and_speaks_for_itself(text: str) -> None:
    assert says_all_of(text, text)
    assert covers_text(text, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user prefers 2-space indentation.", "User likes two-space indentation."),
        ("Rent goes out on the 3rd, 940 euros.", "The rent of 940 euros goes out on the 3rd."),
        ("Ida keeps bees behind the barn.", "Ida has bees behind the barn."),
    ],
)
def test_other_words_for_the_same_are_most_of_it(old: str, new: str) -> None:
    assert says_most_of(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ida has a pottery show in August 2023.", "Ida has a pottery show in September 2023."),
        ("Ida has three bee hives.", "Ida has four bee hives."),
        ("Ida keeps bees behind the barn.", "Ida keeps no bees behind the barn."),
        ("Ida keeps bees behind the barn.", "Bruno keeps bees and Ida keeps hens behind the barn."),
        ("Ida keeps bees.", "Ida keeps bees behind the barn and sells honey at the market."),
        ("Ida opens a honey shop because Ida is passionate about bees.", "Ida has been into bees since she was a kid."),
        ("Ida keeps bees.", ""),
    ],
)
def test_another_value_or_much_more_is_not(old: str, new: str) -> None:
    assert not says_most_of(old, new)


@given(st.lists(st.sampled_from(("Ida", "bees", "barn", "three", "May", "honey", "sells")), min_size=1, max_size=8))
def test_a_text_says_most_of_itself(words: list[str]) -> None:
    text = " ".join(words)
    assert says_most_of(text, text)
