"""The options of recall: their defaults are the measured profile's, and every value of it can be turned."""

from __future__ import annotations

import pytest

from core.config.option_rows import load_options, option_rows
from core.config.options import Options
from core.config.retrieval import PREFIX, RetrievalOptions
from core.score.profile import LOCI, PRESET_WORDS, option_name, preset_values, profile_values

OF_HEALTH = {"health_window", "health_low", "health_poor"}


def test_each_value_of_the_profile_is_an_option_with_the_same_default() -> None:
    flat = {option_name(dotted): value for dotted, value in profile_values(LOCI).items()}
    told = RetrievalOptions().model_dump()
    assert set(told) - set(flat) == OF_HEALTH
    assert {name: told[name] for name in flat} == flat


def test_every_option_is_told_with_words_bounds_and_a_heading() -> None:
    rows = option_rows(RetrievalOptions, RetrievalOptions())
    for row in rows:
        assert row.title, row.name
        assert row.description.endswith("."), row.name
        assert row.group, row.name
        assert not row.needs_restart
        if row.kind in ("int", "float"):
            assert row.least is not None, row.name
            assert row.most is not None, row.name
            assert row.least <= row.default <= row.most, row.name
    titles = [(row.group, row.title) for row in rows]
    assert len(set(titles)) == len(titles)
    assert not {PREFIX + row.name for row in rows} & set(Options.model_fields)


@pytest.mark.parametrize("name", PRESET_WORDS)
def test_a_preset_lies_within_the_bounds(name: str) -> None:
    values = preset_values(name)
    assert RetrievalOptions.model_validate(values).model_dump() | OF_HEALTH_DEFAULTS == {**values, **OF_HEALTH_DEFAULTS}


def test_a_bad_stored_value_falls_back_and_is_named() -> None:
    options, refused = load_options(RetrievalOptions, {"floor": 7.0, "strength": 0.5, "gone": 1})
    assert (options.floor, options.strength, refused) == (RetrievalOptions().floor, 0.5, ("floor",))


OF_HEALTH_DEFAULTS = {name: RetrievalOptions.model_fields[name].default for name in OF_HEALTH}
