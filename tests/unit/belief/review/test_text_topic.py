"""What two texts disagree about is read from their words where no claim was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.review.text_topic import find_worded_topic
from core.belief.review.wording import ItemTopic, format_question


@pytest.mark.parametrize(
    ("existing", "incoming", "question"),
    [
        (
            "The boat's mooring is paid until March 2027",
            "The mooring of the boat is paid until June 2027",
            "Boat's mooring paid until: March 2027 or June 2027?",
        ),
        ("I take my tea with milk.", "I take my tea with lemon.", "You take my tea with: milk or lemon?"),
        ("The rent is 690 a month.", "The rent is 610 a month.", "Rent: 690 or 610?"),
        ("Mara leads the choir.", "Jon leads the choir.", "Leads the choir: Mara or Jon?"),
        ("My dentist is on 3 May.", "My dentist is on Friday 5 May.", "Dentist on: 3 May or Friday 5 May?"),
        ("Mara has two cats.", "The roof was mended in spring.", "Which of these is true?"),
        ("Mara has two cats.", "Mara has two cats.", "Which of these is true?"),
    ],
)
def test_question_names_property_and_both_values(existing: str, incoming: str, question: str) -> None:
    assert format_question("contradiction", find_worded_topic(existing, incoming)) == question


def test_what_somebody_else_says_is_not_of_you() -> None:
    tea = find_worded_topic("I take tea with milk.", "I take tea with lemon.", "Tove")
    assert format_question("contradiction", tea) == "Which of these is true?"
    rent = find_worded_topic("My rent is 690 a month.", "My rent is 610 a month.", "Tove")
    assert format_question("contradiction", rent) == "Rent: 690 or 610?"
    topic = ItemTopic("user", "lives_in", "Graz", "Bremen")
    assert format_question("contradiction", topic.said_by("Tove")) == "Where does Tove live: Graz or Bremen?"
    assert topic.said_by("") == topic
    assert ItemTopic("Jon", "lives_in").said_by("Tove").subject == "Jon"


def test_claims_name_both_values_too() -> None:
    topic = ItemTopic("user", "lives_in", "Graz", "Bremen")
    assert format_question("contradiction", topic) == "Where do you live: Graz or Bremen?"
    assert format_question("contradiction", ItemTopic("user", "lives_in", "Graz", "graz")) == "Where do you live?"


@given(st.text(max_size=400), st.text(max_size=400))
def test_values_stand_in_their_texts(existing: str, incoming: str) -> None:
    found = find_worded_topic(existing, incoming)
    assert found.existing in existing
    assert found.incoming in incoming
    assert bool(found.stated) == bool(found.existing and found.incoming)
