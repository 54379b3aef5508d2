"""The type of a name by the weight of all that names it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.entities.recognition import SURE_VOTES, NameCandidate, count_votes, heaviest_type, is_outweighed

KINDS = st.sampled_from(["person", "pet", "place", "work", "other"])
PLACES = st.lists(st.tuples(KINDS, st.booleans()), max_size=12)


def named(*places: tuple[str, bool]) -> list[NameCandidate]:
    return [NameCandidate("Quern", "quern", kind, 0, 5, is_sure=sure) for kind, sure in places]


def test_a_sure_cue_outweighs_two_that_lean() -> None:
    votes = count_votes(named(("place", False), ("place", False), ("person", True)))
    assert (votes["place"], votes["person"], heaviest_type(votes)) == (2, SURE_VOTES, "person")


def test_of_equals_a_person_is_the_worse_told() -> None:
    assert heaviest_type(count_votes(named(("person", False), ("pet", False)))) == "pet"
    assert heaviest_type(count_votes(named(("other", False)))) == "other"


def test_what_is_told_to_be_something_else_counts() -> None:
    assert heaviest_type(count_votes(named(("person", False), ("other", True)))) == "other"


@given(PLACES, KINDS)
def test_only_more_votes_outweigh(places: list[tuple[str, bool]], kind: str) -> None:
    votes = count_votes(named(*places))
    best = heaviest_type(votes)
    assert not is_outweighed(votes, best)
    assert is_outweighed(votes, kind) == (votes[best] > votes[kind])
