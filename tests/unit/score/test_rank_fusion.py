"""Fusion: ranks, weights, evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.score.ranking import evidence_score, fuse_ranks, rank_scores, term_weight


def test_equal_scores_share_the_better_rank() -> None:
    assert rank_scores([0.3, 0.9, 0.3, 0.1]).tolist() == [2.0, 1.0, 2.0, 4.0]


def test_what_is_not_listed_has_no_rank() -> None:
    assert rank_scores([math.nan, 0.5]).tolist() == [math.inf, 1.0]


def test_first_in_both_lists_leads_with_the_full_score() -> None:
    # E9.2.2: first in both lists is 2/61 before scaling.
    first = {"a": np.array([1.0, 2.0]), "b": np.array([1.0, np.inf])}
    fused = fuse_ranks(first, {"a": 1.0, "b": 1.0}, 60)
    assert fused[0] == pytest.approx(1.0)
    assert fused[1] == pytest.approx((1 / 62) / (2 / 61))


def test_a_weight_counts_and_a_missing_one_does_not() -> None:
    lists = {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 1.0])}
    assert fuse_ranks(lists, {"a": 2.0, "b": 1.0}, 60).argmax() == 0
    assert fuse_ranks(lists, {"b": 1.0}, 60).argmax() == 1
    assert fuse_ranks(lists, {}, 60).tolist() == [0.0, 0.0]
    assert fuse_ranks({}, {}, 60).size == 0


def test_a_rare_term_tells_more() -> None:
    assert term_weight(1000, 1) > term_weight(1000, 10) > term_weight(1000, 1000) > 0
    assert term_weight(10, 99) == term_weight(10, 10)
    assert term_weight(0, 0) == pytest.approx(math.log(2))


def test_evidence_adds_meaning_and_words() -> None:
    found = evidence_score(np.array([0.5, -0.5, 0.0]), np.array([0.25, 0.25, 1.0]), 1.4)
    assert found.tolist() == pytest.approx([0.95, 0.25, 1.0])
