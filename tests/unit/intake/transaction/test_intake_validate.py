"""What may be stored at all: each refusal has its code, and nothing is mended."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import refused

from core.errors import Code, LociError
from core.intake.store.import_batch import parse_usable_claim, usable_space, usable_validity
from core.intake.transaction.admission import (
    CLIENT_TEXT_BYTES,
    PART_BYTES,
    check_importance,
    check_memory_text,
    check_space_name,
    cut_text,
)
from core.intake.transaction.claim_checks import check_claim, claim_validity
from core.types.values import Precision, When

CLAIM: dict[str, Any] = {"subject": "Ada", "predicate": "lives_in", "value": "Graz"}


@pytest.mark.parametrize("text", ["", " ", "\n\t\r ", "\u2003\u00a0", "a\0b", "\0", "half \ud83d", "\udc00"])
def test_texts_that_cannot_be_remembered(text: str) -> None:
    with refused(Code.INVALID_INPUT):
        check_memory_text(text, None)


@pytest.mark.parametrize("text", [" a ", "\u200b", "💜", "a\u0301", "\x01", "\u202eevil", "x" * 200_000])
def test_texts_that_can(text: str) -> None:
    check_memory_text(text, None)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("a" * CLIENT_TEXT_BYTES, True),
        ("a" * (CLIENT_TEXT_BYTES + 1), False),
        ("ü" * (CLIENT_TEXT_BYTES // 2), True),
        ("ü" * (CLIENT_TEXT_BYTES // 2) + "a", False),
        ("💜" * (CLIENT_TEXT_BYTES // 4 + 1), False),
    ],
)
def test_a_client_s_limit_counts_bytes(text: str, fits: bool) -> None:
    if fits:
        check_memory_text(text, CLIENT_TEXT_BYTES)
    else:
        with refused(Code.TEXT_TOO_LARGE):
            check_memory_text(text, CLIENT_TEXT_BYTES)


def test_no_sentence_repeats_the_text() -> None:
    for text in ("Quittenmarmelade\0", "Quittenmarmelade\ud800", "Quittenmarmelade" * 1000):
        with pytest.raises(LociError) as caught:
            check_memory_text(text, CLIENT_TEXT_BYTES)
        assert "Quitten" not in str(caught.value)


@pytest.mark.parametrize(("given", "kept"), [(None, 0.5), (0, 0.0), (1, 1.0), (0.3, 0.3), (True, 1.0)])
def test_importance_within_bounds(given: float | None, kept: float) -> None:
    assert check_importance(given) == kept


@pytest.mark.parametrize("given", [-0.001, 1.001, 5, float("nan"), float("inf"), float("-inf")])
def test_importance_out_of_bounds(given: float) -> None:
    with refused(Code.INVALID_INPUT):
        check_importance(given)


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a\nb", "\x7f", "a\0", "x" * 129])
def test_names_that_are_no_space(name: str) -> None:
    with refused(Code.INVALID_INPUT):
        check_space_name(name)
    assert usable_space(name) is None


@pytest.mark.parametrize("name", ["a", "Küche", "client:Claude", "家", "x" * 128])
def test_names_that_are_a_space(name: str) -> None:
    assert check_space_name(name) == name
    assert usable_space(name) == name
    assert usable_space(None) is None


def test_a_claim_gets_its_defaults() -> None:
    assert check_claim(CLAIM) == {**CLAIM, "exclusive": True, "polarity": "positive", "qualifiers": {}}
    # Seed A: one value at a time, unless it is said, or known of the predicate, that there may be several.
    assert check_claim({**CLAIM, "predicate": "orbits"})["exclusive"] is True
    assert check_claim({**CLAIM, "predicate": "likes"})["exclusive"] is False
    assert check_claim({**CLAIM, "exclusive": False})["exclusive"] is False
    full = {**CLAIM, "exclusive": True, "polarity": "negative", "qualifiers": {"when": "winter"}}
    assert check_claim(full) == full


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"subject": ""},
        {"subject": "  "},
        {"subject": 7},
        {"subject": None},
        {"subject": "a\0"},
        {"subject": "\ud800"},
        {"value": "\udfff half"},
        {"value": "x" * 1025},
        {"value": ["Graz"]},
        {"predicate": "Lives in"},
        {"predicate": "x" * 65},
        {"predicate": "lives_in\n"},
        {"polarity": "maybe"},
        {"polarity": []},
        {"exclusive": 1},
        {"exclusive": "yes"},
        {"qualifiers": []},
        {"qualifiers": "x"},
        {"qualifiers": {"a": float("nan")}},
        {"qualifiers": {"a": "\ud800"}},
        {"qualifiers": {"a": {1, 2}}},
        {"qualifiers": {"a": "x" * 5000}},
        {"qualifiers": nested(5000)},
        {"trust": 1},
        {"state": "asserted"},
    ],
)
def test_a_claim_that_is_none(change: dict[str, Any]) -> None:
    with refused(Code.INVALID_INPUT):
        check_claim({**CLAIM, **change})
    assert parse_usable_claim({**CLAIM, **change}) is None


@pytest.mark.parametrize("field", ["subject", "predicate", "value"])
def test_a_claim_needs_all_three(field: str) -> None:
    with refused(Code.INVALID_INPUT):
        check_claim({name: value for name, value in CLAIM.items() if name != field})


def test_when_a_claim_holds() -> None:
    begin, end = claim_validity({**CLAIM, "valid_from": "2024-05", "valid_to": 1_800_000_000})
    assert begin is not None
    assert (begin.precision, end) == (Precision.MONTH, When(1_800_000_000_000, Precision.SECOND))
    assert claim_validity(CLAIM) == (None, None)
    assert parse_usable_claim({**CLAIM, "valid_from": "2024"}) is not None


@pytest.mark.parametrize(
    "window",
    [{"valid_from": "soon"}, {"valid_to": "2024-13"}, {"valid_to": ""}, {"valid_from": "2025", "valid_to": "2024"}],
)
def test_a_window_that_is_none(window: dict[str, Any]) -> None:
    with refused(Code.INVALID_INPUT):
        claim_validity({**CLAIM, **window})
    assert parse_usable_claim({**CLAIM, **window}) is None


def test_a_row_s_window() -> None:
    early, late = When(1), When(2)
    assert usable_validity(early, late) == (early, late)
    assert usable_validity(early, early) == (early, early)
    assert usable_validity(late, early) == (None, None)
    assert usable_validity(None, early) == (None, early)


@pytest.mark.parametrize("text", ["a", "word " * 3000, "ü" * 9000, "x" * 200_000, "a\n\n" * 5000, "💜" * 3000])
def test_parts_are_small_and_join_to_the_text(text: str) -> None:
    parts = cut_text(text)
    assert "".join(parts) == text
    assert max(len(part.encode()) for part in parts) <= PART_BYTES
    assert (len(parts) == 1) is (len(text.encode()) <= PART_BYTES)


@pytest.mark.parametrize(
    "name",
    ["", " a", "a\x1b[2J", "a\x9b2J", "a\nb", "a\u202eb", "a\u200bb", "a\u2066b", "a\ufeffb", "a\ud800", "x" * 129],
)
def test_space_names_that_could_deceive(name: str) -> None:
    with refused(Code.INVALID_INPUT):
        check_space_name(name)
    assert usable_space(name) is None


@pytest.mark.parametrize("name", ["home", "client:Claude", "Küche 2", "書斎", "x" * 128])
def test_space_names(name: str) -> None:
    assert check_space_name(name) == usable_space(name) == name
