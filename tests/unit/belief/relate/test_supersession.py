"""What the later of two statements of one person is to the earlier one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.relate.supersession import (
    NEARLY_CERTAIN,
    InCommon,
    Succession,
    find_in_common,
    judge_later_word,
    leans_on,
    may_update,
    rank_later_word,
    read_supersession_text,
    strip_common_words,
)
from core.types.belief import LABELS, ComparedText, Label

NEAR = 0.9
"""As two texts of one matter are in a small vault."""


def judged(earlier: str, later: str, share: float, same: float = 0.03, related: float = NEAR) -> Succession:
    """The verdict where the model gives so much to SUPERSEDE and DUPLICATE."""
    rest = (1.0 - share - same) / 2
    shares = {Label.SUPERSEDE: share, Label.DUPLICATE: same, Label.MERGE: rest, Label.COEXIST: rest}
    return judge_later_word(ComparedText(earlier), ComparedText(later), shares, related)


@pytest.mark.parametrize(
    ("earlier", "later", "share", "same"),
    [
        # One property with another value, its name in another order.
        ("The lease of the barn runs until May 2026.", "The barn's lease runs until July 2027.", 0.4, 0.5),
        ("The barn's lease runs until July 2027.", "The lease of the barn runs until July 2028.", 0.3, 0.6),
        # A word of a change and another day.
        ("The vet comes on 4 March.", "Vet visit postponed to 11 March.", 0.45, 0.02),
        # How one thing is, told again otherwise.
        ("The fuse box is under the stairs.", "The fuse box is behind the coats.", 0.6, 0.02),
        # An end that the object names.
        ("Rosa plays tennis with her aunt.", "Rosa gave up tennis for climbing.", 0.1, 0.01),
        # The model is sure by itself.
        ("My dentist is on Cork Street.", "My dentist is on Mill Lane.", 0.9, 0.02),
        # What happened, and how it is since then.
        ("The stall is run by Nadir.", "Nadir moved to Leeds, Wanda runs the stall.", 0.88, 0.02),
        ("He drives an old Saab.", "His old car is gone, he cycles.", 0.9, 0.02),
        ("Oskar does the accounts.", "Accounts went to a bureau in May, Oskar does the stock.", 0.87, 0.02),
        # What is called off is gone, whatever else the sentence names.
        ("We have a week in Bergen planned.", "Bergen's off, the ferry is on strike.", 0.6, 0.02),
        # A thing is what excludes what it was, though the model sees two notes of one thing.
        ("Gate 3 to the yard is locked.", "Gate 3 is unlocked until the fair.", 0.05, 0.02),
        # Another value, a word of a change, and nothing else named.
        ("The library closes at six.", "From March the library closes at eight.", 0.15, 0.02),
        # Denied before, and so now; "too" adds nothing to that.
        ("I don't teach on Fridays.", "From June I teach on Fridays too.", 0.1, 0.02),
        # A weekly habit on another day, without a word of a change.
        ("Yoga class is on Mondays with Ines.", "Ines gives the yoga class on Thursdays.", 0.05, 0.02),
    ],
)
def test_another_value_of_the_same_replaces(earlier: str, later: str, share: float, same: float) -> None:
    assert judged(earlier, later, share, same) is Succession.REPLACES


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I like opera.", "I don't like modern opera."),
        ("My course in pottery ends on 3 May.", "The fee of the pottery course is due on 9 May."),
        ("I am allergic to nuts.", "I react to kiwi as well."),
        ("Water is with Northwell.", "Gas stays with Northwell."),
        ("The exam of the pottery course is on 9 May.", "Passed the pottery exam!"),
        ("Aunt Vera painted the fence.", "Aunt Vera painted the shed."),
        # Another thing of the sort, that was given up before.
        ("My locker is 4417 in the east hall.", "Old locker: 3093 was full of my brother's boots; gave it up."),
    ],
)
def test_a_part_a_narrower_thing_an_addition_and_an_event_end_nothing(earlier: str, later: str) -> None:
    assert judged(earlier, later, 0.9) is Succession.BESIDE


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("A locker is 3 euros for members.", "A locker is 5 euros for non-members."),
        ("Lessons for juniors cost 8 francs.", "Lessons for seniors cost 12 francs."),
    ],
)
def test_two_of_a_sort_each_with_a_value_stand_beside_each_other(earlier: str, later: str) -> None:
    assert judged(earlier, later, 0.9) is Succession.BESIDE


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The fair ends on 3 May.", "They may keep the fair open until the 9th."),
        ("The fair ends on 3 May.", "Perhaps the fair ends on 9 May."),
        ("Storage is 80 a month.", "The warehouse people want 95 and Lotte wants 110 from July."),
    ],
)
def test_what_may_be_and_what_somebody_wants_ends_nothing(earlier: str, later: str) -> None:
    assert judged(earlier, later, 0.9) is Succession.OPEN


def test_what_another_one_does_denies_nothing() -> None:
    assert judged("I don't teach on Fridays.", "She teaches on Fridays now.", 0.1) is Succession.OPEN


@pytest.mark.parametrize(
    ("earlier", "later", "is_ended"),
    [
        ("I keep bees.", "I gave up bees.", True),
        ("I keep bees.", "My uncle gave up bees.", False),
        ("I keep bees.", "The couple upstairs got rid of their bees.", False),
        ("Ronja keeps bees.", "Ronja quit keeping bees.", True),
        ("Ronja keeps bees.", "Ronja's cousin quit keeping bees.", False),
        ("We use the Brill depot.", "We stopped using the Brill depot.", True),
        ("We use the Brill depot.", "The caterers stopped using the Brill depot.", False),
    ],
)
def test_what_another_gave_up_is_no_end_of_what_the_person_does(earlier: str, later: str, is_ended: bool) -> None:
    assert judged(earlier, later, 0.05) is (Succession.REPLACES if is_ended else Succession.OPEN)


def test_a_month_is_no_possibility() -> None:
    assert not read_supersession_text("the lease ends in may of next year").is_tentative
    assert not read_supersession_text("moved to 4 may because of the strike").is_tentative
    assert read_supersession_text("the club may move it").is_tentative


def test_another_number_is_another_thing() -> None:
    assert judged("Gate 3 is locked.", "Gate 4 is unlocked.", 0.05) is Succession.OPEN


def test_two_of_a_sort_are_not_one_thing_with_another_day() -> None:
    assert judged("exam algebra 4 june", "exam organic chemistry 6 june", 0.55) is Succession.OPEN


def test_what_is_near_by_chance_alone_is_left_open() -> None:
    assert judged("The cat sleeps in the loft.", "Moved to a bigger desk.", 0.85, related=0.1) is Succession.OPEN


def test_a_long_text_is_left_open() -> None:
    assert judged("My bank is Pennant.", "My bank is Harbourside now. " * 12, 0.9) is Succession.OPEN


def test_of_several_the_one_that_begins_with_the_same_is_meant() -> None:
    later = ComparedText("Invoices go out on the last day of the month now.")
    shares = {Label.SUPERSEDE: 0.85}
    meant = rank_later_word(ComparedText("Invoices go out on Fridays."), later, shares, 0.5)
    other = rank_later_word(ComparedText("Mr. Falk looks after the invoices."), later, shares, 0.5)
    assert meant > other > 0


@pytest.mark.parametrize(
    ("earlier", "later", "leans"),
    [
        ("The spare key is in the porch.", "Left-hand drawer, under the menus.", True),
        ("The spare key is in the porch.", "It has a red tag.", True),
        ("My flat is in the Hafengasse", "My flat has a balcony", True),
        ("The flat is paid until May.", "The flat has two balconies.", False),
    ],
)
def test_what_has_a_value_of_its_own_stands_by_itself(earlier: str, later: str, leans: bool) -> None:
    assert leans_on(later, earlier) is leans


@given(st.text(max_size=200), st.text(max_size=200), st.floats(0, 1), st.floats(0, 1))
def test_any_two_texts_are_judged(earlier: str, later: str, share: float, related: float) -> None:
    shares = dict.fromkeys(LABELS, (1 - share) / 3) | {Label.SUPERSEDE: share}
    sides = (ComparedText(earlier), ComparedText(later))
    assert judge_later_word(*sides, shares, related) in Succession
    assert 0 <= rank_later_word(*sides, shares, related) <= 1


@pytest.mark.parametrize(
    ("earlier", "later", "is_of_kind", "updates"),
    [
        ("Pears are 2.10.", "Pears go to 2.40 in May.", True, True),
        ("Pears are 2.10.", "Winter pears are 3.40.", True, False),
        ("The ladder hangs in the shed.", "The ladder is at Tom's.", True, True),
        ("Ida plays the harp.", "Ida takes a size 38 now.", False, False),
        ("The ferry is at nine.", "There is also a ferry at ten.", True, False),
        ("The ferry is at nine.", "The ferry's bar opens at ten.", True, False),
    ],
)
def test_which_of_two_that_stand_is_rather_what_holds(
    earlier: str, later: str, *, is_of_kind: bool, updates: bool
) -> None:
    assert may_update(earlier, later, is_of_kind=is_of_kind) is updates


def test_values_of_things_that_share_no_word_end_nothing() -> None:
    six_hours = "The brass band has me down for six hours a week."
    assert judged(six_hours, "Hall hire is 25 an evening, split four ways.", 0.78, 0.04) is Succession.OPEN


def test_two_things_of_one_person_are_two() -> None:
    phone, rent = "Ilse's phone number is 0474 555 201.", "Ilse's rent went up to 950."
    assert judged(phone, rent, 0.4, 0.04) is Succession.OPEN
    assert judged(phone, "Ilse moved to Antwerp in the week of 2 March 2026.", 0.3, 0.02) is Succession.OPEN
    assert not may_update(phone, rent, is_of_kind=True)
    assert judged("Ilse's rent is 900 a month.", rent, 0.78, 0.04) is Succession.REPLACES
    assert may_update("Ilse's rent is 900 a month.", rent, is_of_kind=True)


@pytest.mark.parametrize(
    ("earlier", "later", "common"),
    [
        ("Ottokar keeps geese.", "Ottokar has gone vegan.", InCommon.NAME),
        ("I keep geese.", "My sister sold her kayak.", InCommon.NAME),
        ("Rent for the studio is fair.", "The landlady put up the rent.", InCommon.WORD),
        ("The ferry of Ottokar leaves at 7.", "Ottokar sails at 9 now.", InCommon.PROPERTY),
        ("The harp stands by the window.", "The harp is by the door, away from the window.", InCommon.PROPERTY),
        ("I ride an old Kreidler to work.", "The Kreidler was sold.", InCommon.PROPERTY),
    ],
)
def test_what_two_statements_have_in_common(earlier: str, later: str, common: InCommon) -> None:
    assert find_in_common(ComparedText(earlier), ComparedText(later)) is common


def test_who_said_so_is_not_what_is_spoken_of() -> None:
    told = read_supersession_text("Deliveries in the afternoon from now, Ottokar asked.")
    assert "ottokar" not in told.topic
    assert told.topic


def test_what_is_back_as_it_was_is_beside_what_told_so() -> None:
    was, between = "The harp stands in the front room.", "The harp is lent to Eberhard's school."
    back = "The harp is back in the front room, Eberhard moved house."
    assert judged(was, back, 0.85) is Succession.BESIDE
    assert judged(between, back, 0.85) is Succession.REPLACES


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_rest_without_common_words_has_none_of_them(first: str, second: str) -> None:
    rest = strip_common_words(ComparedText(first), ComparedText(second))
    common = read_supersession_text(first).topic & read_supersession_text(second).topic
    assert len(rest) <= len(read_supersession_text(first).prepared.text)
    assert common or rest == " ".join(read_supersession_text(first).prepared.text.split())


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_statement_without_a_word_in_common_has_nothing_but_a_name(first: str, second: str) -> None:
    found = find_in_common(ComparedText(first), ComparedText(second))
    shares = read_supersession_text(first).topic & read_supersession_text(second).topic
    assert found is InCommon.NAME or shares


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I like opera.", "I don't like modern opera."),
        ("The ladder leans on the shed.", "Also, the ladder went to the tip."),
    ],
)
def test_a_model_that_is_nearly_certain_outvotes_single_words(earlier: str, later: str) -> None:
    assert judged(earlier, later, NEARLY_CERTAIN - 0.01) is Succession.BESIDE
    assert judged(earlier, later, NEARLY_CERTAIN) is Succession.OPEN


def test_a_former_thing_of_the_sort_ends_nothing_however_sure_the_model_is() -> None:
    assert judged("My card number is 41182.", "Old card: 55310.", 0.99) is Succession.BESIDE


@pytest.mark.parametrize(
    "later",
    [
        "I finally gave up bees.",
        "Last spring I gave up bees.",
        "On doctor's advice I gave up bees.",
        "I sold the hives and gave up bees.",
        "My husband and I gave up bees.",
    ],
)
def test_an_end_of_the_persons_own_counts_whatever_stands_before_its_verb(later: str) -> None:
    assert judged("I keep bees.", later, 0.05) is Succession.REPLACES


@pytest.mark.parametrize(
    "later",
    [
        "She gave up bees.",
        "My sister finally gave up bees.",
        "They gave up bees.",
        "Emily gave up bees.",
        "My family gave up bees.",
        "My sister sold the hives and gave up bees.",
    ],
)
def test_an_end_of_somebody_elses_is_none_of_the_persons(later: str) -> None:
    assert judged("I keep bees.", later, 0.05) is not Succession.REPLACES


def test_an_end_of_whoever_the_earlier_one_is_about_counts_by_a_pronoun() -> None:
    assert judged("My sister smokes.", "She quit smoking.", 0.05) is Succession.REPLACES


def test_an_end_of_whoever_is_named_counts_with_an_adverb() -> None:
    assert judged("Ronja keeps bees.", "Ronja finally gave up bees.", 0.05) is Succession.REPLACES


def test_what_goes_on_ends_nothing_however_sure_the_model_is() -> None:
    assert judged("Wexley keeps number 3.", "Wexley keeps number 4.", 0.99) is Succession.BESIDE


@pytest.mark.parametrize("later", ["The Rome trip in May is over.", "Rome trip cancelled."])
def test_what_once_happened_has_happened_however_sure_the_model_is(later: str) -> None:
    assert judged("I went to Rome in May.", later, 0.99) is Succession.BESIDE


@pytest.mark.parametrize("share", [0.4, 0.65, NEARLY_CERTAIN, 0.99])
@pytest.mark.parametrize(
    "later",
    ["She gave up bees.", "They gave up bees.", "He finally gave up bees.", "He sold the hives and gave up bees."],
)
def test_what_another_gave_up_stays_the_persons(later: str, share: float) -> None:
    assert judged("I keep bees.", later, share) is Succession.BESIDE
    assert judged("I keep bees.", "I gave up bees.", share) is Succession.REPLACES


def test_what_another_gave_up_may_be_somebodys_of_whom_the_person_tells() -> None:
    assert judged("My sister keeps bees.", "She gave up bees.", 0.65) is Succession.REPLACES


@pytest.mark.parametrize("share", [0.05, 0.65, NEARLY_CERTAIN, 0.99])
@pytest.mark.parametrize("earlier", ["My mother plays tennis.", "My wife plays tennis on Mondays.", "Mum does tennis."])
def test_what_the_person_gave_up_stays_a_relatives(earlier: str, share: float) -> None:
    assert judged(earlier, "I gave up tennis.", share) is Succession.BESIDE


def test_what_the_person_gave_up_may_have_been_done_with_a_relative() -> None:
    assert judged("My wife and I play tennis.", "I gave up tennis.", 0.05) is Succession.REPLACES
    assert judged("Tennis on Mondays.", "I gave up tennis.", 0.05) is Succession.REPLACES


@pytest.mark.parametrize(
    ("earlier", "later", "leans"),
    [
        ("The stopcock is under the sink.", "Left-hand one, behind the bucket.", True),
        ("Ada runs the stall.", "She does the accounts as well.", True),
        ("Boat A berths at Utsund quay", "Utsund quay: Quay four is long", False),
        ("Utsund quay: Quay four is long", "Boat A berths at Utsund quay", False),
        ("Raff: Keeps a list of sunsets", "Raff: Is one of five brothers", False),
        ("The ferry costs 4 euros.", "The ferry leaves at nine.", False),
    ],
)
def test_an_entry_of_its_own_leans_on_nothing(earlier: str, later: str, leans: bool) -> None:
    assert leans_on(later, earlier) is leans
