"""What a name may mean: tiers, marks of hints, the order of candidates (seed B, entity resolution)."""

from __future__ import annotations

import pytest

from core.entities.resolution import (
    NamedEntity,
    ResolutionHints,
    content_terms,
    context_boost,
    extract_trigrams,
    match_tier,
    rank_entity_candidates,
    trigram_similarity,
)

ROSA = NamedEntity("1", "Rosa Castellanos", "person", ("Rosie", "R. C."))


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("rosa castellanos", "exact"),
        ("ROSA  CASTELLANOS", "exact"),
        ("rosie", "alias"),
        ("Rosa", "prefix"),
        ("castell", "prefix"),
        ("Rosi", "prefix"),
        ("Rossa Castelanos", None),
        ("%", None),
        ("_", None),
        ("", None),
    ],
)
def test_the_best_tier_finds(name: str, by: str | None) -> None:
    assert match_tier(name, ROSA, fuzzy=False) == by


def test_alike_spellings_count_when_they_are_asked_for() -> None:
    assert match_tier("Rossa Castelanos", ROSA, fuzzy=True) == "fuzzy"
    assert match_tier("Rosa", ROSA, fuzzy=True) == "prefix"
    assert match_tier("Peter Pan", ROSA, fuzzy=True) is None
    short = NamedEntity("2", "Rob", "person")
    assert match_tier("Ro", short, fuzzy=True) == "prefix"
    assert match_tier("Rb", NamedEntity("3", "R b", "person"), fuzzy=True) is None  # two characters are not compared


def test_likeness_is_that_of_pg_trgm() -> None:
    assert extract_trigrams("Cat") == {"  c", " ca", "cat", "at "}
    # The figure of PostgreSQL's manual: SELECT similarity('word', 'two words') is 4 of 11.
    assert trigram_similarity("word", "two words") == pytest.approx(4 / 11)
    assert trigram_similarity("word", "word") == 1
    assert trigram_similarity("", "word") == 0


def test_the_neighbourhood_adds_jaccard_of_twenty() -> None:
    hinted, told = content_terms(["piano concert"]), content_terms(["plays the piano", "lives in Porto"])
    assert len(hinted) == 2
    assert context_boost(hinted, told) == pytest.approx(20 * len(hinted & told) / len(hinted | told))
    assert 0 < context_boost(hinted, told) < 20
    assert context_boost(hinted, hinted) == 20
    assert context_boost(hinted, frozenset()) == context_boost(frozenset(), told) == 0


def test_scores_and_order_are_the_seeds() -> None:
    b, a, best = (
        NamedEntity("2", "Bruno", "person"),
        NamedEntity("3", "Anna", "person"),
        NamedEntity("4", "Carl", "person"),
    )
    hints = ResolutionHints("piano", (), {"4": 12.34567, "nobody": 99})
    found = rank_entity_candidates(
        [(b, "prefix"), (a, "prefix"), (ROSA, "exact"), (best, "alias")], hints, {"1": content_terms(["piano"])}
    )
    assert [(one.canonical_name, one.score, one.name_match) for one in found] == [
        ("Rosa Castellanos", 120.0, "exact"),
        ("Carl", 92.3457, "alias"),
        ("Anna", 50.0, "prefix"),
        ("Bruno", 50.0, "prefix"),
    ]
    assert found[0].aliases == ("Rosie", "R. C.")
