"""Counting tokens: the estimate is high rather than low, and a model's own tokenizer counts exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from core.embed.embedder import ESTIMATE, counter_for

# Counted once with OpenAI's public vocabularies: text, cl100k_base, o200k_base.
EXACT = [
    ("The boat's mooring at quay four is paid until March.", 14, 13),
    ("def area(radius: float) -> float:\n    return 3.14159 * radius ** 2\n", 22, 22),
    ("ATTENTION: PAYMENT OVERDUE, CALL 555-0199 NOW!", 17, 16),
    ("\U0001f389\U0001f382\U0001f973", 9, 6),
    ("| a | b |\n|---|---|\n| 1 | 2 |\n", 17, 17),
]


def saved(folder: Path, name: str) -> None:
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "one": 1, "two": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=7)
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / f"{name}.json"))


def test_without_a_model_it_is_an_estimate() -> None:
    counter = counter_for()
    assert (counter.name, counter.exact) == (ESTIMATE, False)
    assert counter.count("") == 0
    assert counter.count("hello") == 2  # never below a quarter of the characters
    assert counter_for("gpt-4o").name == ESTIMATE


@pytest.mark.parametrize(("text", "cl100k", "o200k"), EXACT)
def test_the_estimate_is_not_below_what_models_count(text: str, cl100k: int, o200k: int) -> None:
    estimate = counter_for().count(text)
    assert max(cl100k, o200k) <= estimate
    assert estimate <= 2.5 * max(cl100k, o200k)


def test_nothing_is_cut_off() -> None:
    count = counter_for().count
    assert count("harbour " * 3000) >= 3000
    assert count("x" * 100_000) >= 50_000  # one unknown word: half of its bytes


def test_what_the_vocabulary_passes_over_is_counted() -> None:
    count = counter_for().count
    assert count("a\nb\nc\nd") == 7
    assert count("tea\u200b\u200b\u200btea") >= count("teatea") + 6
    assert count("\x00" * 10) >= 20
    assert count("\ud800") >= 1


def test_a_tokenizer_of_the_home_counts_exactly(tmp_path: Path) -> None:
    saved(tmp_path, "llama3-8b")
    counter = counter_for("llama3:8b", tmp_path)
    assert (counter.name, counter.exact) == ("llama3:8b", True)
    assert counter.count("one two one two one") == 5  # neither cut nor filled up
    assert counter.count("\ud800") == 1
    assert counter_for("llama3:70b", tmp_path).name == ESTIMATE


@pytest.mark.parametrize("name", ["../llama3-8b", "/etc/passwd", "..", "", "a\0b", "x" * 200, "a b"])
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    saved(tmp_path, "llama3-8b")
    (tmp_path / "inner").mkdir()
    assert counter_for(name, tmp_path / "inner").name == ESTIMATE


@pytest.mark.expected_logs("cannot be read")
def test_a_broken_tokenizer_is_told_and_the_estimate_counts(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert counter_for("broken", tmp_path).name == ESTIMATE


@pytest.mark.expected_logs("no file, or too large")
def test_a_folder_is_no_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "odd.json").mkdir()
    assert counter_for("odd", tmp_path).name == ESTIMATE
