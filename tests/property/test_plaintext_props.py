"""Hostile text made visible: whatever cannot be seen has a mark, and ordinary writing has none."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.screening.fences import escape_formula, unescape_formula
from ui.lists.row_spec import split_marked
from ui.widgets.plaintext import has_marks, one_line, passage_line, plain_line, split_marks

# Default_Ignorable_Code_Point and Noncharacter_Code_Point of Unicode 15.1, written down once more from the standard.
IGNORABLE = [
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
]  # fmt: skip
NONCHARACTERS = [*range(0xFDD0, 0xFDF0), *(plane << 16 | low for plane in range(17) for low in (0xFFFE, 0xFFFF))]
# Signs over numbers in Arabic, Syriac and Kaithi: format characters that have a shape.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
HIDDEN = sorted(
    {*IGNORABLE, *NONCHARACTERS, 0xFFFC, 0x2800}
    | {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and code not in {9, 10, *SEEN}
    }
)

ORDINARY = (
    "Plain words, 1 < 2, a\tb\r\nc",
    "Größe, naïveté, Ærø, 10\u00a0km\u202fh",
    "Привет, мир! Ελληνικά",
    "می‌خواهم نامه‌ای",
    "هـ ۱۴۰۳ سلام",
    "שלום עולם",
    "क्ष क्‍ष र्‍य हिन्दी",
    "അവന്‍ പറഞ്ഞു",
    "ශ්‍රී ලංකා",
    "ภาษาไทย မြန်မာ ភាសាខ្មែរ",
    "日本語　한국어 中文",
    "\u0645\u0600\u06f1 ﷽",
    "😀 👍🏽 ❤️ ☀︎ ©️ 1️⃣ #️⃣ 🇩🇪",
    "👩‍👩‍👧‍👦 👩‍❤️‍👨 🏳️‍🌈 🕵🏻‍♂️ 🧑🏽‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_writing_has_no_mark(text: str) -> None:
    assert [piece for piece in split_marks(text) if piece.is_mark] == []


@pytest.mark.slow
def test_every_hidden_code_point_has_a_mark_between_letters() -> None:
    assert [f"{code:04X}" for code in HIDDEN if not has_marks(f"ab{chr(code)}cd")] == []
    assert [f"{code:04X}" for code in HIDDEN if not has_marks(chr(code))] == []
    assert [f"{code:04X}" for code in HIDDEN if not has_marks(f"字{chr(code)}字")] == []


@pytest.mark.slow
def test_nothing_that_is_seen_has_a_mark() -> None:
    hidden = {*HIDDEN, 0x1D159, *range(0x13430, 0x13460), *range(0xE0000, 0xE1000)}
    text = "".join(chr(code) for code in range(sys.maxunicode + 1) if code not in hidden and code != 13)
    assert [piece.text for piece in split_marks(text) if piece.is_mark] == []


@pytest.mark.parametrize(
    "text",
    [
        "☀\ufe0f\ufe0f", "a\ufe0f", "1\ufe0f", "\ufe0f", "☀\ufe00", "سلام\u200d\u200dم", "\u200cم", "م\u200c",
        "م\u200ca",
        "字\u200d字", "я\u200dя", "👩\u200d", "👩\u200da", "👩\u200d\u200d👩", "😀\U000e0067",
        "\U0001f3f4\U000e0067\U000e0061",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\U000e007f", "م\ufdd0م", "a\r", "\r\rb",
    ],
)  # fmt: skip
def test_what_looks_like_writing_and_is_none_has_a_mark(text: str) -> None:
    assert has_marks(text)


@given(st.text(st.sampled_from("ab☀👩م字1 \n"), max_size=20), st.sampled_from(HIDDEN), st.integers(2, 6))
@settings(max_examples=count_examples(200))
def test_a_run_of_hidden_characters_has_a_mark_and_the_text_is_whole(text: str, code: int, count: int) -> None:
    whole = f"{text[:9]}{chr(code) * count}{text[9:]}"
    found = list(split_marks(whole))
    assert any(piece.is_mark for piece in found)
    assert "".join(chr(int(piece.text[2:], 16)) if piece.is_mark else piece.text for piece in found) == whole
    assert [piece.start for piece in found] == sorted({piece.start for piece in found})
    assert all(piece.name for piece in found if piece.text.startswith("U+"))
    assert f"U+{code:04X}" in one_line(whole, 400)


@given(st.text(st.sampled_from("'=+-@\t\r\n a,\""), max_size=8) | st.text(max_size=20))
def test_a_guarded_cell_begins_no_formula_and_comes_back(cell: str) -> None:
    made = escape_formula(cell)
    assert made[:1] not in set("=+-@\t\r")
    assert unescape_formula(made) == cell
    assert made in (cell, f"'{cell}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Work** begins at *eight*", "Work begins at eight"),
        ("# Kites\n## Red ones", "Kites Red ones"),
        ("---\ntags: [lost]\n---\nWe lost it", "We lost it"),
        ("It turns \ue200cite\ue202turn0search1\ue201at noon \ue203", "It turns at noon"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("gone\u200b", "gone‹U+200B›"),
    ],
)
def test_a_line_among_pictures_has_no_marks_of_programs_and_shows_what_is_hidden(text: str, shown: str) -> None:
    assert plain_line(text) == shown


@given(st.text(), st.integers(2, 80))
def test_a_line_among_pictures_is_one_line_and_short_enough(text: str, most: int) -> None:
    shown = plain_line(text, most)
    assert len(shown) <= most
    assert "\n" not in shown


_TEXTS = st.text(st.sampled_from("ab. \n#*<>&\u202e\u200b\u05d0👩字"), max_size=600)


@given(_TEXTS, st.integers(0, 400), st.integers(0, 400), st.integers(40, 200))
def test_a_passage_is_one_line_in_which_the_sentence_stands(text: str, start: int, length: int, most: int) -> None:
    made = passage_line(text, (start, start + length), most)
    low, high = made.marked
    assert len(made.text) <= most + 2  # an ellipsis behind a sentence that fills the line
    assert 0 <= low <= high <= len(made.text)
    assert not set(made.text) & set("\n\r\t\u202e\u200b")
    if low < high:
        assert made.text[low:high] == plain_line(text[start : start + length], most)
    else:
        assert made.text == plain_line(text, most)


@given(_TEXTS, st.integers(0, 200), st.integers(0, 200), st.integers(60, 400))
def test_a_range_of_a_text_is_marked_once_in_its_lines(text: str, start: int, length: int, width: int) -> None:
    line = plain_line(text)
    marked = (min(start, len(line)), min(start + length, len(line)))
    whole = " ".join(line.split())
    lines = [whole[at : at + width].strip() for at in range(0, len(whole), width)]
    spans = split_marked(whole, lines, marked)
    told = "".join(one[low:high] for one, (low, high) in zip(lines, spans, strict=True))
    assert told.replace(" ", "") == whole[slice(*marked)].replace(" ", "")
