"""Options and profiles name the same values; presets are recognised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.config.retrieval import RetrievalOptions
from core.score.profile import (
    LOCI,
    MEASURED,
    OWN,
    PRESET_WORDS,
    PRESETS,
    SEED_A,
    matching_preset,
    preset_values,
    profile_from_options,
    profile_values,
    replace_values,
)


def test_the_defaults_are_the_measured_profile() -> None:
    assert profile_from_options(RetrievalOptions()) == LOCI
    assert matching_preset(RetrievalOptions()) == MEASURED


def test_every_preset_is_offered_and_is_its_profile_again() -> None:
    assert len(PRESET_WORDS) == len(PRESETS)
    for name, profile in zip(PRESET_WORDS, PRESETS, strict=True):
        options = RetrievalOptions(**preset_values(name))  # type: ignore[arg-type]  # names of its fields
        assert profile_from_options(options) == profile
        assert matching_preset(options) == name


def test_a_turned_option_reaches_the_profile_and_is_no_preset() -> None:
    options = RetrievalOptions(sides_recency=0.9, window_terms_2=0.1, rerank="rrf", floor=0.1)
    profile = profile_from_options(options)
    assert (profile.name, profile.sides.recency, profile.window_terms, profile.rerank) == (
        OWN,
        0.9,
        (LOCI.window_terms[0], 0.1),
        "rrf",
    )
    assert (
        replace(
            profile,
            name=LOCI.name,
            sides=LOCI.sides,
            window_terms=LOCI.window_terms,
            rerank=LOCI.rerank,
            floor=LOCI.floor,
        )
        == LOCI
    )
    assert matching_preset(options) == ""
    assert profile_from_options(options, "trial").name == "trial"


def test_options_of_health_are_no_weights() -> None:
    assert matching_preset(RetrievalOptions(health_low=0.1)) == MEASURED


def test_values_have_dotted_names() -> None:
    values = profile_values(LOCI)
    assert values["sides.recency"] == LOCI.sides.recency
    assert values["window_terms.1"] == LOCI.window_terms[0]
    assert values["rerank"] == "rrf_then_mmr"
    assert "name" not in values


def test_values_are_put_in_by_dotted_name_and_unknown_ones_passed_over() -> None:
    assert replace_values(LOCI, {"sides.recency": 0.5, "nothing": 1.0}).sides.recency == 0.5
    assert replace_values(LOCI, profile_values(SEED_A)) == replace(SEED_A, name=LOCI.name)


def test_there_is_no_other_preset() -> None:
    with pytest.raises(KeyError):
        preset_values("nobody's")
