"""The detector as a whole: spans of any text, tiers, cards and accounts under a changed digit, long hostile texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.sensitivity import detector
from core.sensitivity.detector import find_confidential, find_sensitive, tier_of
from core.sensitivity.passage import Passage
from core.types.sensitivity import SensitiveSpan, SensitiveType
from core.types.sessions import TIERS
from core.types.values import SecurityTier

TELLING = """
my name is password pin code : = Anna Maria Street 12 4111 1111 DE89 SSN passport live in Rome I have diabetes on call
+44 7700 900158 @ a@b.example token sk- -----BEGIN KEY----- http://u:p@h at dot / ' " , . ( Dr. §
"""
WORDS = st.sampled_from([*TELLING.split(), "\n"])
HOSTILE = {
    "one word": "a",
    "capitals": "A ",
    "digits": "1",
    "grouped digits": "4111 ",
    "identifiers": "a_",
    "assignments": "api_key=",
    "passwords": "password: ",
    "told": "password is ",
    "codes": "pin code ",
    "mails": "x@a.",
    "names": "Anna Maria, ",
    "introduced": "my name is ",
    "homes": "lives in A ",
    "small homes": "live in the small ",
    "streets": "12 Main Street, ",
    "parts": "A, ",
    "conditions": "I have diabetes ",
    "diagnoses": "diagnosed with ",
    "logins": "login a / ",
    "recovery words": "seed phrase abandon ",
    "tokens": "eyJaaaaaa.",
    "addresses": "http://a:b",
    "documents": "passport 1 ",
    "accounts": "de12 ",
    "brackets": "(((+1",
    "quotes": "password '",
    "lines": "\n",
}


def types_in(text: str) -> set[str]:
    return {span.type.value for span in find_sensitive(text)}


@given(st.text(max_size=300) | st.lists(WORDS, max_size=40).map(" ".join))
@settings(max_examples=300)
@pytest.mark.slow
def test_spans_lie_in_the_text_in_order_and_apart(text: str) -> None:
    spans = find_sensitive(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(one.end <= two.start for one, two in pairwise(spans))


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_the_same_text_gives_the_same_spans(text: str) -> None:
    assert find_sensitive(text) == find_sensitive(text)


@given(st.text(max_size=200) | st.lists(WORDS, max_size=30).map(" ".join))
def test_the_rules_for_numbers_find_nothing_in_a_text_without_digits(text: str) -> None:
    passage = Passage("".join(sign for sign in text if not sign.isdigit()))
    assert [span for rule in detector._NUMBER_RULES for span in rule(passage)] == []


@given(st.text(max_size=200) | st.lists(WORDS, max_size=30).map(" ".join))
def test_what_is_confidential_is_found_alone_as_among_all(text: str) -> None:
    among_all = [span for span in find_sensitive(text) if span.type.tier is SecurityTier.CONFIDENTIAL]
    assert list(find_confidential(text)) == among_all


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.slow
def test_a_long_hostile_text_is_read(name: str) -> None:
    # Rules that looked at every pair of places would not end within the time a test is given.
    part = HOSTILE[name]
    text = part * (100_000 // len(part))
    assert all(span.end <= len(text) for span in find_sensitive(text))


@given(st.text(alphabet="0123456789", min_size=15, max_size=15).map(lambda digits: "4" + digits), st.data())
def test_no_card_stands_a_changed_digit(digits: str, data: st.DataObject) -> None:
    cards = [digits[:-1] + check for check in "0123456789"]
    right = [card for card in cards if "credit_card" in types_in(f"card {card}")]
    assert len(right) == 1
    place = data.draw(st.integers(1, 15))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != right[0][place]]))
    assert "credit_card" not in types_in(f"card {right[0][:place]}{other}{right[0][place + 1 :]}")


@given(st.text(alphabet="0123456789", min_size=18, max_size=18), st.data())
def test_no_account_stands_a_changed_digit(body: str, data: st.DataObject) -> None:
    check = 98 - int(body + "131400") % 97
    account = f"DE{check:02}{body}"
    assert types_in(f"IBAN {account}") == {"iban"}
    place = data.draw(st.integers(2, 21))
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != account[place]]))
    assert "iban" not in types_in(f"IBAN {account[:place]}{other}{account[place + 1 :]}")


def test_places_are_code_points() -> None:
    text = "😀 Straße, İstanbul: mail zoë@fen.example"
    (span,) = find_sensitive(text)
    assert text[span.start : span.end] == "zoë@fen.example"


def test_wide_digits_and_odd_blanks_hide_nothing() -> None:
    assert types_in("card ４２４２\u00a0４２４２\u00a0４２４２\u00a0４２４２") == {"credit_card"}
    assert types_in("SSN 521\u201107\u20114418") == {"ssn"}


def test_the_highest_type_gives_the_tier() -> None:
    def tier(*types: SensitiveType) -> SecurityTier:
        return tier_of([SensitiveSpan(n, n + 1, kind) for n, kind in enumerate(types)])

    assert tier() is SecurityTier.CLEARTEXT
    assert tier(SensitiveType.PHONE, SensitiveType.HEALTH) is SecurityTier.SENSITIVE
    assert tier(SensitiveType.EMAIL, SensitiveType.IBAN, SensitiveType.HEALTH) is SecurityTier.CONFIDENTIAL


@pytest.mark.parametrize("kind", SensitiveType)
def test_five_types_are_confidential_and_the_rest_sensitive(kind: SensitiveType) -> None:
    confidential = {"ssn", "credit_card", "credential", "government_id", "iban"}
    assert kind.tier == ("confidential" if kind.value in confidential else "sensitive")


def test_tiers_are_those_of_the_column_in_order() -> None:
    assert TIERS == ("cleartext", "sensitive", "confidential")
    assert tuple(SecurityTier) == TIERS
