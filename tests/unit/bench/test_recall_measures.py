"""The measures of the benches of recall, by hand and by their laws; and the baseline that looks for words."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

# The benches are no part of the test command, and so not on its path.
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from ablation import DEFAULT, VARIANTS
from baseline import content_words, grepped
from locomo import Turn
from measures import binary_ndcg, reciprocal_rank, session_recall, turn_recall

from core.score.profile import LOCI

FOUND = ["s1:1", "s1:2", "s2:1", "s3:4", "s2:2"]
_refs = st.lists(st.integers(0, 30).map(lambda n: f"s{n // 4}:{n}"), unique=True, max_size=30)


def turn(ref: str, text: str, at_ms: int = 0, position: int = 0, author: str = "Ines") -> Turn:
    return Turn(ref, ref.split(":")[0], position, author, text, at_ms)


def test_turn_recall_counts_the_evidence_among_the_first() -> None:
    assert turn_recall(FOUND, ["s1:2", "s2:2"], 5) == 1.0
    assert turn_recall(FOUND, ["s1:2", "s2:2"], 4) == 0.5
    assert turn_recall(FOUND, ["s9:9"], 5) == 0.0


def test_session_recall_counts_distinct_sessions_in_the_order_of_their_first_turns() -> None:
    assert session_recall(FOUND, ["s3:1"], 2) == 0.0  # s1 and s2 come first
    assert session_recall(FOUND, ["s3:1"], 3) == 1.0
    assert session_recall(FOUND, ["s2:9", "s2:8", "s4:1"], 3) == 0.5  # two sessions are wanted, one is there


def test_reciprocal_rank_looks_at_the_first_evidence_only() -> None:
    assert reciprocal_rank(FOUND, ["s2:2", "s2:1"]) == pytest.approx(1 / 3)
    assert reciprocal_rank(FOUND, ["s1:1"]) == 1.0
    assert reciprocal_rank(FOUND, ["s9:9"]) == 0.0
    assert reciprocal_rank([], ["s1:1"]) == 0.0


def test_ndcg_by_hand() -> None:
    second_and_third = 1 / math.log2(3) + 1 / math.log2(4)
    assert binary_ndcg(FOUND, ["s1:2", "s2:1"]) == pytest.approx(second_and_third / (1 + 1 / math.log2(3)))
    assert binary_ndcg(FOUND, ["s1:1", "s1:2"]) == 1.0
    assert binary_ndcg(FOUND, ["s2:2"], 4) == 0.0


def test_ndcg_misses_evidence_that_was_not_found() -> None:
    assert binary_ndcg(["s1:1"], ["s1:1", "s9:9"]) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_ndcg_asks_for_no_more_evidence_than_there_are_places() -> None:
    assert binary_ndcg(FOUND, FOUND, 2) == 1.0


@given(_refs, _refs.filter(bool), st.integers(1, 12))
def test_every_measure_lies_between_none_and_all(found: list[str], evidence: list[str], k: int) -> None:
    for measure in (turn_recall, session_recall, binary_ndcg):
        assert 0.0 <= measure(found, evidence, k) <= 1.0 + 1e-12
    assert 0.0 <= reciprocal_rank(found, evidence) <= 1.0
    assert (reciprocal_rank(found, evidence) > 0) == bool(set(found) & set(evidence))


@given(_refs, _refs.filter(bool), st.integers(1, 12))
def test_more_places_never_lose_evidence(found: list[str], evidence: list[str], k: int) -> None:
    assert turn_recall(found, evidence, k) <= turn_recall(found, evidence, k + 1)
    assert session_recall(found, evidence, k) <= session_recall(found, evidence, k + 1)


@given(_refs.filter(bool), _refs)
def test_evidence_first_is_the_best_order(evidence: list[str], others: list[str]) -> None:
    best = evidence + [ref for ref in others if ref not in evidence]
    assert binary_ndcg(best, evidence) == pytest.approx(1.0)
    assert reciprocal_rank(best, evidence) == 1.0
    assert binary_ndcg(best[::-1], evidence) <= binary_ndcg(best, evidence) + 1e-12


def test_plain_search_puts_most_words_first_and_the_newest_among_equals() -> None:
    turns = [
        turn("s1:1", "The kettle leaks.", at_ms=1),
        turn("s1:2", "A KETTLE, and the balcony too", at_ms=1, position=1),
        turn("s2:1", "the kettles are gone", at_ms=2),
        turn("s2:2", "nothing of that", at_ms=2, position=1),
    ]
    assert content_words("Where is the kettle on the Balcony?") == ("kettle", "balcony")
    assert grepped(turns, "Where is the kettle on the Balcony?", 10) == ["s1:2", "s2:1", "s1:1"]
    assert grepped(turns, "Where is the kettle on the Balcony?", 1) == ["s1:2"]
    assert grepped(turns, "what did Ines do", 10) == ["s2:2", "s2:1", "s1:2", "s1:1"]  # she said all of them


def test_every_ablation_changes_the_default_and_nothing_else_is_called_so() -> None:
    assert VARIANTS[DEFAULT] == LOCI
    profiles = list(VARIANTS.values())
    assert all(profiles.index(profile) == at for at, profile in enumerate(profiles))
