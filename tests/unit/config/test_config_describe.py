"""Options as rows, and changing one of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from core.config.option_rows import load_options, option_row, option_rows, replace_option
from core.config.options import Options
from core.config.window import WindowOptions
from core.errors import Code, UserError


@pytest.mark.parametrize("model", [Options, WindowOptions])
def test_every_option_tells_everything(model: type[BaseModel]) -> None:
    rows = option_rows(model, model())
    assert [row.name for row in rows] == list(model.model_fields)
    for row in rows:
        assert row.title, row.name
        assert row.group, row.name
        assert row.description.endswith("."), row.name
        assert row.value == row.default
        assert not row.is_changed
        if row.kind == "int":
            assert row.least is not None, row.name
            assert row.most is not None, row.name
            assert row.least <= row.default <= row.most
            assert row.unit
        if row.kind == "choice":
            assert row.default in row.choices
            assert all(words and words != word for word, words in row.choices.items())


def test_kinds_bounds_and_choices() -> None:
    rows = {row.name: row for row in option_rows(WindowOptions, WindowOptions(theme="dark"))}
    assert (rows["theme"].kind, rows["theme"].value, rows["theme"].is_changed) == ("choice", "dark", True)
    assert list(rows["theme"].choices) == ["system", "light", "dark"]
    assert (rows["reduced_motion"].kind, rows["reduced_motion"].default) == ("bool", False)
    assert (rows["idle_lock_minutes"].least, rows["idle_lock_minutes"].most) == (0, 240)
    assert list(rows["text_size"].choices) == ["100", "110", "125", "150"]


def test_only_what_is_read_at_opening_needs_a_restart() -> None:
    assert [row.name for row in option_rows(Options, Options()) if row.needs_restart] == ["relation_gate", "hnsw_from"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("undo_days", 0, "“Undo history” takes a whole number from 1 to 3,650 (days); the number given is too small."),
        (
            "undo_days",
            9_999,
            "“Undo history” takes a whole number from 1 to 3,650 (days); the number given is too large.",
        ),
        ("undo_days", "soon", "“Undo history” takes a whole number from 1 to 3,650 (days); a text was given."),
        ("undo_days", True, "“Undo history” takes a whole number from 1 to 3,650 (days); yes or no was given."),
        (
            "undo_days",
            1.5,
            "“Undo history” takes a whole number from 1 to 3,650 (days); a number with decimals was given.",
        ),
        ("undo_days", None, "“Undo history” takes a whole number from 1 to 3,650 (days); nothing was given."),
        ("undo_weeks", 3, "There is no setting of that name."),
    ],
)
def test_a_bad_value_is_told_in_one_sentence(name: str, value: Any, said: str) -> None:
    with pytest.raises(UserError) as caught:
        replace_option(Options(), name, value)
    assert (caught.value.code, caught.value.sentence) == (Code.CONFIG_INVALID, said)


def test_a_bad_choice_is_not_repeated() -> None:
    with pytest.raises(UserError) as caught:
        replace_option(WindowOptions(), "theme", "my secret")
    assert caught.value.sentence == "“Theme” takes one of system, light, dark; the word given is another."


def test_a_good_value_changes_one_option_only() -> None:
    changed = replace_option(Options(undo_days=5), "backups_kept", 7)
    assert changed == Options(undo_days=5, backups_kept=7)
    assert option_row(changed, "backups_kept").is_changed


@given(
    st.dictionaries(
        st.sampled_from([*WindowOptions.model_fields, "other"]),
        st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=2),
    )
)
def test_loading_keeps_what_is_good_and_names_what_is_not(stored: dict[str, Any]) -> None:
    options, refused = load_options(WindowOptions, stored)
    for name, value in stored.items():
        if name in WindowOptions.model_fields:
            assert (getattr(options, name) == value) or name in refused
            if name in refused:
                assert getattr(options, name) == getattr(WindowOptions(), name)
    assert set(refused) <= set(stored)


def test_stored_options_of_other_things_are_passed_over() -> None:
    assert load_options(Options, {"index_anchor": "x", "undo_days": 3}) == (Options(undo_days=3), ())


def test_the_limits_of_the_scan_stand_in_order() -> None:
    options = Options()
    for name, value in (("screen_flag", 0.71), ("screen_block", 0.49), ("screen_block", 0.91), ("screen_hard", 0.69)):
        with pytest.raises(UserError, match="what is not shown must not be given unasked") as told:
            replace_option(options, name, value)
        assert told.value.code is Code.CONFIG_INVALID
        assert str(value) not in str(told.value)
    same = replace_option(replace_option(options, "screen_flag", 0.7), "screen_hard", 0.7)
    assert (same.screen_flag, same.screen_block, same.screen_hard) == (0.7, 0.7, 0.7)


def test_limits_that_are_out_of_order_have_their_defaults() -> None:
    found, refused = load_options(Options, {"screen_block": 0.4, "undo_days": 30})
    assert found == Options(undo_days=30)
    assert refused == ("screen_block",)
    found, refused = load_options(
        Options, {"screen_block": 0.4, "screen_hard": 0.95, "undo_days": 0, "screen_flag": "much"}
    )
    assert found == Options()
    assert refused == ("screen_block", "screen_flag", "screen_hard", "undo_days")
