"""Tokens by words: what `WordTokens` puts together is what the tokenizer gives for the whole text."""

from __future__ import annotations

from typing import Any

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.embed.embedder import WordTokens, bundled_model


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from tokenizers import Tokenizer

    found = Tokenizer.from_buffer(bundled_model().joinpath("tokenizer.json").read_bytes())
    found.no_padding()
    found.no_truncation()
    return found


PIECES = st.one_of(
    st.text(alphabet=[chr(code) for code in range(128)], max_size=12),
    st.text(max_size=6),
    st.sampled_from(
        [
            "[CLS]",
            " [SEP] ",
            "##ing",
            "don't",
            "harbour",
            "x" * 40,
            "y" * 120,
            "\t\n",
            "  ",
            "caf\u00e9",
            "\u4e2d\u6587",
        ]
    ),
)


@settings(max_examples=count_examples(300), deadline=None)
@given(pieces=st.lists(PIECES, max_size=8))
def test_words_give_what_the_whole_text_gives(tokenizer: Any, pieces: list[str]) -> None:
    text = "".join(pieces).encode("utf-8", "replace").decode()
    whole = tokenizer.encode(text, add_special_tokens=False)
    words = WordTokens(tokenizer)
    for _ in range(2):  # read anew, then known
        assert words.read(text) == (whole.ids, whole.offsets)


def test_a_word_is_read_once_a_long_one_each_time(tokenizer: Any) -> None:
    asked: list[str] = []

    class Counted:
        def encode(self, text: str, *, add_special_tokens: bool) -> Any:
            asked.append(text)
            return tokenizer.encode(text, add_special_tokens=add_special_tokens)

    words, key = WordTokens(Counted()), "k" * 33
    for _ in range(2):
        words.read(f"the harbour, the {key}")
    assert asked == ["the", "harbour,", key, key]
