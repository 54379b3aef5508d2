"""How much a model reads at once, by its name, and what memory may take of it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import Options
from core.llm.model_windows import MOST_TOKENS, memory_ceiling, normal_name, turn_allowance, window_of

WINDOWS = json.loads((files("resources") / "models.json").read_text("utf-8"))["windows"]


def test_the_table_has_the_seeds_43_models() -> None:
    assert len(WINDOWS) == 43
    assert len({normal_name(name) for name in WINDOWS}) == 43


@pytest.mark.parametrize("name", sorted(WINDOWS))
def test_each_model_is_found_by_its_own_name_and_with_a_date(name: str) -> None:
    assert window_of(name) == WINDOWS[name]
    assert window_of(f"{name.upper()}-20260115") == WINDOWS[name]
    assert window_of(f"openrouter/{name}:free") == WINDOWS[name]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("gpt-4o-2024-08-06", 128_000),
        ("gpt-4-0613", 8_192),
        ("mistral-large-2407", 128_000),
        ("mistral:7b", 32_000),
        ("llama3.1:8b", 128_000),
        ("claude-opus-4.6", 200_000),
        ("gemini-3-1-pro", 2_097_152),
        ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", 200_000),
        ("ollama:llama3.2", 8_192),
        ("o1-mini-2024-09-12", 128_000),
    ],
)
def test_names_as_callers_write_them(name: str, size: int) -> None:
    assert window_of(name) == size


@pytest.mark.parametrize(
    "name", ["", " ", "nonsense", "o", "o11", "gpt-40", "my-gpt-4o", ":8b", "/", "anthropic.", None]
)
def test_what_is_not_known(name: str | None) -> None:
    assert window_of(name) is None


@pytest.mark.starts_process
def test_the_same_answer_in_other_processes() -> None:
    code = (
        "from core.llm.model_windows import window_of; "
        "print([window_of(n) for n in ('gpt-4o-2024', 'mistral-large-2', 'o1-pro-1')])"
    )
    for seed in ("0", "1", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        assert done.stdout.strip() == "[128000, 128000, 200000]"


def test_the_shares() -> None:
    options = Options()
    assert turn_allowance("gpt-4", None, options).budget == 983  # 12 %
    assert turn_allowance("gpt-4", 50_000, options).budget == 2_867  # 35 %, the seed's own figure
    assert memory_ceiling(2_097_152, options) == 734_003
    assert turn_allowance("claude-opus-4-6", None, options).budget == 24_000
    assert turn_allowance("claude-opus-4-6", 500, options).budget == 500
    assert turn_allowance("gemini-3.1-pro", None, options).budget == MOST_TOKENS
    unknown = turn_allowance("nonsense", None, options)
    assert (unknown.window, unknown.budget, unknown.known) == (32_000, 3_840, False)
    assert turn_allowance(None, None, Options(context_window_tokens=10_000, recall_budget_ratio=0.1)).budget == 1_000


@given(st.text(max_size=60), st.one_of(st.none(), st.integers(0, 10**7)))
def test_any_name_and_number_have_a_budget_within_bounds(name: str, asked: int | None) -> None:
    found = turn_allowance(name, asked, Options())
    assert 0 <= found.budget <= min(MOST_TOKENS, max(memory_ceiling(found.window, Options()), 0))
    assert normal_name(normal_name(name)) == normal_name(name) or not normal_name(name)
