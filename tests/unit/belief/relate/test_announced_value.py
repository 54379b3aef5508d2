"""Who wants what a property will be is understood without its name, and a demand for something else is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.amounts import CLOCK, DURATION, PERCENT, read_amounts
from core.belief.relate.announced_value import announces_value, announces_value_of
from core.belief.relate.supersession import read_supersession_text


def is_announced(earlier: str, later: str, question: str) -> bool:
    """Whether the later one says what the value will be, by both looks."""
    return announces_value(later) and announces_value_of(earlier, later, question.lower().split())


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        # By who sets it, with no word in common.
        ("The studio is above the bakery, rent 455.", "Landlady is asking 490 from June.", "what is the studio rent"),
        ("I do 24 hours a week.", "My boss wants me to do 30 hours from May.", "how many hours do I work"),
        ("My salary is 38,500.", "The manager offered 40,000 from January.", "what is my salary"),
        ("The loan is 180 a month.", "The bank wants 204 a month now.", "how much is the loan"),
        # By a name, or by the thing.
        ("Piano with Mrs Lund is 25 weekly.", "Mrs Lund is asking 28 a week.", "what does piano cost"),
        ("I pay Ottilie 310 for the room.", "Ottilie says it'll have to be 340 after Easter.", "how much is my room"),
        ("Hall hire is 25 an evening.", "The verger wants 30 an evening for the hall.", "what does the hall cost"),
        ("The report is due on Thursday.", "Emma wants the report by Wednesday.", "when is the report due"),
        ("Supper is at 7.", "Mum wants supper at half past six now.", "when is supper"),
        # With a quality, which is no other thing.
        ("The code for the boathouse is 8841.", "The new code is 3065 from June.", "what code opens the boathouse"),
        ("The rent for the flat is 455.", "The monthly rent goes up to 480 in June.", "what is the rent for the flat"),
        ("The form goes in by 15 March.", "The clerk wants the form by 1 March.", "when is the form due"),
    ],
)
def test_what_somebody_wants_a_value_to_be(earlier: str, later: str, question: str) -> None:
    assert is_announced(earlier, later, question)


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        # For something else.
        ("The rent is 455.", "The landlady wants 60 for the broken pane.", "what is the rent"),
        ("Swimming for the twins is 64 a term.", "The twins want 5 each for the fair.", "what does swimming cost"),
        ("The client's review is on Thursday.", "The client wants a call on Friday.", "when is the review"),
        ("My salary is 38,500.", "The boss wants 3 copies by Friday.", "what is my salary"),
        # A property that the party does not set here.
        ("The rent is 455, the deposit 900.", "The landlady wants 490 from June.", "how much is the deposit"),
        # Not a value but a difference, not another one, an addition, not counted per the same.
        ("The rent is 455.", "The landlady wants 40 more from June.", "what is the rent"),
        ("The rent is 455.", "The landlady says 455 from June.", "what is the rent"),
        ("The rent is 455.", "The landlady wants 20 for the bins as well.", "what is the rent"),
        ("Polly helps, 9 an hour.", "Polly wants 30 by Friday.", "what do I pay Polly"),
        # Of another thing of the sort.
        ("The code for the boathouse is 8841.", "The side gate code is 3065 now.", "what code opens the boathouse"),
        # Nobody wants anything, and nobody whom the two have in common.
        ("The rent is 455.", "Ludo owes me 20 from June.", "what is the rent"),
        ("The rent is 455.", "The plumber wants 240.", "what is the rent"),
    ],
)
def test_what_is_wanted_for_something_else(earlier: str, later: str, question: str) -> None:
    assert not is_announced(earlier, later, question)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("Two chairs, rent 780 a month.", [("2", "chair", ""), ("780", "", "month")]),
        ("They take 1.4 percent.", [("1.4", PERCENT, "")]),
        ("Cover is 12% from May.", [("12", PERCENT, "")]),
        ("Six hours a week.", [("21600s", DURATION, "week")]),
        ("Up at half past six on 4 May.", [("6:30", CLOCK, "")]),
        ("30/hour or 5 each", [("30", "", "hour"), ("5", "", "each")]),
        ("Costs 40 weekly", [("40", "", "week")]),
        ("Due on the 6th of January", []),
    ],
)
def test_an_amount_has_what_it_counts(text: str, amounts: list[tuple[str, str, str]]) -> None:
    found = read_amounts(read_supersession_text(text))
    assert [(one.number, one.unit, one.per) for one in found] == amounts


@given(st.text("abc 1230.,:%/'°ä€\n", max_size=60), st.text("wants 12 from ay.,%/", max_size=60))
def test_any_text_is_read(earlier: str, later: str) -> None:
    assert announces_value_of(earlier, later, ["rent"]) in (True, False)
    for one in read_amounts(read_supersession_text(earlier)):
        assert 0 < one.end <= len(read_supersession_text(earlier).prepared.text)
