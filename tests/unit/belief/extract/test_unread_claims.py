"""Claims that are read when they are first asked for: `core.belief.extract.extraction`."""

from __future__ import annotations

import pytest

from core.belief.extract.extraction import UnreadClaims, is_known_empty, is_unread
from core.belief.relate.distinctions import has_contradiction
from core.belief.relate.owner_contradiction import contradiction_odds, read_contradiction_text
from core.types.belief import ClaimDraft, ComparedText

GRAZ = ClaimDraft("user", "lives_in", "Graz", exclusive=True)
LINZ = ClaimDraft("user", "lives_in", "Linz", exclusive=True)


class CountedReading:
    """Reads two claims and counts how often."""

    def __init__(self, *claims: ClaimDraft) -> None:
        self.claims, self.count = claims, 0

    def __call__(self, *_: object, **__: object) -> tuple[ClaimDraft, ...]:
        """The claims, whatever the text."""
        self.count += 1
        return self.claims


def test_a_text_is_read_once_and_only_when_its_claims_are_asked_for() -> None:
    reading = CountedReading(GRAZ, LINZ)
    claims = UnreadClaims(reading)
    assert is_unread(claims)
    assert not is_known_empty(claims)
    assert reading.count == 0
    assert list(claims) == [GRAZ, LINZ]
    assert (len(claims), claims[1], claims[:1]) == (2, LINZ, (GRAZ,))
    assert reading.count == 1
    assert not is_unread(claims)


@pytest.mark.parametrize("others", [(), UnreadClaims(CountedReading())])
def test_beside_a_side_without_claims_the_other_is_not_read(others: UnreadClaims | tuple[()]) -> None:
    assert not others  # reads it
    reading = CountedReading(GRAZ)
    assert not has_contradiction(UnreadClaims(reading), others)
    assert not has_contradiction(others, UnreadClaims(reading))
    assert reading.count == 0


def test_two_unread_sides_are_read_where_they_contradict_each_other() -> None:
    assert has_contradiction(UnreadClaims(CountedReading(GRAZ)), UnreadClaims(CountedReading(LINZ)))
    assert not has_contradiction(UnreadClaims(CountedReading(GRAZ)), UnreadClaims(CountedReading(GRAZ)))


def test_what_a_newcomer_without_claims_is_compared_with_is_not_read() -> None:
    reading = CountedReading(GRAZ)
    newcomer = read_contradiction_text(ComparedText("The kettle hums.", 1), lambda *_, **__: ())
    assert not newcomer.sentences[0].claims
    stands = read_contradiction_text(ComparedText("The tram was late on Tuesday.", 1), reading)
    assert contradiction_odds([(stands, newcomer)], None, 0)[0].share == 0.0
    assert reading.count == 0
