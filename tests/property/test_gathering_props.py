"""Groups, digests and their numbers, for any input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.lifecycle.consolidate.near_groups import (
    AS_PLANNED,
    CALIBRATED,
    CosineThresholds,
    combined_confidence,
    connected_components,
    group_by_centre,
    thresholds_for,
)
from core.score.trust import mean_confidence
from core.text.sentences import compose_digest, informative_sentences, normalize_sentence

SHARE = st.floats(0, 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=120) | st.lists(
    st.sampled_from(["Bruno eats fish.", "Is it so?", "Hello!", "The oven runs hot", "\n", "  ", "。"]), max_size=6
).map(" ".join)


@given(st.lists(SHARE, max_size=8))
def test_together_they_are_surer_than_each(confidences: list[float]) -> None:
    both = combined_confidence(confidences)
    assert 0.0 <= both <= 1.0
    assert both >= max(confidences, default=0.0) - 1e-12
    assert both == pytest.approx(1.0 - math.prod(1.0 - one for one in confidences))


@given(st.lists(st.tuples(SHARE, st.floats(0, 10)), min_size=1, max_size=8))
def test_a_digest_is_neither_surer_nor_less_sure_than_its_sources(members: list[tuple[float, float]]) -> None:
    mean = mean_confidence(*map(list, zip(*members, strict=True)))
    assert min(one for one, _ in members) <= mean <= max(one for one, _ in members)


def test_the_mean_is_weighted_with_strength() -> None:
    assert mean_confidence([0.2, 0.8], [1.0, 3.0]) == pytest.approx(0.65)
    assert mean_confidence([0.2, 0.8], [0.0, 0.0]) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="one strength"):
        mean_confidence([], [])


def units(seed: int, count: int) -> NDArray[np.float32]:
    """Unit rows about a few centres."""
    made = np.random.default_rng(seed)
    rows = made.normal(size=(3, 8))[made.integers(0, 3, count)] + made.normal(size=(count, 8)) * 0.4
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def all_pairs(vectors: NDArray[np.float32], line: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    cosines = vectors @ vectors.T
    a, b = np.nonzero(np.triu(cosines >= line, 1))
    return np.stack((a, b), axis=1).astype(np.int64), cosines[a, b].astype(np.float32)


@given(st.integers(0, 2**32), st.integers(2, 40), st.floats(0.3, 0.95), st.integers(2, 12))
def test_every_member_is_near_the_centre_of_its_group(seed: int, count: int, line: float, most: int) -> None:
    vectors = units(seed, count)
    groups = group_by_centre(vectors, *all_pairs(vectors, line), line, most)
    members = [at for group in groups for at in group]
    assert len(members) == len(set(members))
    for group in groups:
        assert 2 <= len(group) <= most
        centre = vectors[list(group)].astype(np.float64).sum(axis=0)
        assert np.all(vectors[list(group)] @ centre >= (line - 1e-5) * np.linalg.norm(centre))


def test_a_chain_is_no_group() -> None:
    """Each lies near the next, but the last has nothing in common with the first: it is left out (C6)."""
    turns = np.radians([0, 40, 80, 120])
    vectors = np.stack((np.cos(turns), np.sin(turns)), axis=1).astype(np.float32)
    pairs, cosines = all_pairs(vectors, 0.75)
    assert len(pairs) == 3
    assert group_by_centre(vectors, pairs, cosines, 0.75) == [(0, 1, 2)]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(31, 60), st.floats(0.5, 1, width=32)), max_size=60),
    st.integers(2, 61),
)
def test_islands_share_nothing_and_are_small_enough(made: list[tuple[int, int, float]], most: int) -> None:
    once = {(a, b): cosine for a, b, cosine in made}
    pairs = np.array(list(once), np.int64).reshape(-1, 2)
    found = connected_components(pairs, np.array(list(once.values()), np.float32), most)
    seen: set[int] = set()
    for part, near in found:
        labels = set(part.ravel().tolist())
        assert len(part) == len(near)
        assert len(labels) <= most
        assert not labels & seen
        seen |= labels
    if most == 61:
        assert sum(len(part) for part, _ in found) == len(once)


@given(TEXT)
def test_a_statement_stands_word_for_word_in_its_text(text: str) -> None:
    spans = informative_sentences("m", text)
    assert bool(spans) is bool(text.strip()) or all(one.endswith(("?", "？")) for one in text.split())
    for span in spans:
        assert text[span.start : span.end] == span.text == span.text.strip()
    assert list(spans) == sorted(spans, key=lambda one: one.start)


@given(st.lists(TEXT, max_size=5))
def test_every_sentence_of_a_digest_stands_word_for_word_in_a_source(texts: list[str]) -> None:
    spans = [span for nr, text in enumerate(texts) for span in informative_sentences(str(nr), text)]
    whole, places = compose_digest(spans)
    for span, at in zip(spans, places, strict=True):
        assert whole[at : at + len(span.text)] == texts[int(span.source)][span.start : span.end]
    assert len(whole) == sum(len(span.text) for span in spans) + max(0, len(spans) - 1)


@given(TEXT)
def test_the_same_words_are_the_same_however_written(text: str) -> None:
    assert normalize_sentence(f"  {text.upper()} .") == normalize_sentence(text.upper())
    assert normalize_sentence(normalize_sentence(text)) == normalize_sentence(text)


def test_lines_follow_the_embedder_until_the_person_sets_them() -> None:
    assert thresholds_for("all-MiniLM-L6-v2", AS_PLANNED) == CALIBRATED["all-MiniLM-L6-v2"]
    assert thresholds_for("another", AS_PLANNED) == AS_PLANNED
    own = CosineThresholds(0.8, AS_PLANNED.corroborate, 0.7)
    assert thresholds_for("all-MiniLM-L6-v2", own) == CosineThresholds(0.8, 0.62, 0.7)
