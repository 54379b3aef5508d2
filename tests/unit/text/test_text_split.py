"""Splitting: at the best place there is, and nothing lost."""

from __future__ import annotations

import pytest

from core.text.sentences import split_sentences, split_text


def test_a_short_text_is_one_part() -> None:
    assert split_text("abc", 4) == ("abc",)
    assert split_text("", 4) == ("",)


def test_paragraphs_come_first() -> None:
    text = "One sentence here. Another one.\n\nA new paragraph begins. It goes on."
    assert split_text(text, 50) == ("One sentence here. Another one.\n\n", "A new paragraph begins. It goes on.")


def test_then_sentences() -> None:
    text = "The kiln was cold. The glaze ran. Nobody had looked."
    assert split_text(text, 40) == ("The kiln was cold. The glaze ran. ", "Nobody had looked.")


def test_then_words() -> None:
    assert split_text("alpha beta gamma", 12) == ("alpha beta ", "gamma")


def test_an_abbreviation_ends_no_sentence() -> None:
    text = "We met Dr. Marchetti at noon. She was late."
    assert [text[start:stop] for start, stop in split_sentences(text)] == [
        "We met Dr. Marchetti at noon. ",
        "She was late.",
    ]


def test_full_width_marks_and_lines_end_sentences() -> None:
    text = "鍵はどこ？カフェです。\n- milk\n- bread"
    assert [text[a:b] for a, b in split_sentences(text)] == ["鍵はどこ？", "カフェです。\n", "- milk\n", "- bread"]


@pytest.mark.parametrize("sign", ["e\u0301", "👨\u200d👩\u200d👧", "👍🏽", "🇳🇴", "\r\n", "각", "❤\ufe0f"])
def test_a_sign_is_never_parted(sign: str) -> None:
    text = sign * 40
    parts = split_text(text, 64)
    assert "".join(parts) == text
    assert len(parts) > 1
    assert all(len(part) % len(sign) == 0 for part in parts)


def test_endless_marks_are_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 500
    parts = split_text(text, 100)
    assert "".join(parts) == text
    assert max(len(part.encode()) for part in parts) <= 100


def test_lone_surrogates_count_three_bytes() -> None:
    text = "\ud800" * 10
    assert [len(part) for part in split_text(text, 9)] == [3, 3, 3, 1]


def test_a_limit_too_small_for_a_character_is_refused() -> None:
    with pytest.raises(ValueError, match="four bytes"):
        split_text("abc", 3)


def test_no_sentences_in_nothing() -> None:
    assert split_sentences("") == ()
