"""What the reader reads of a sentence, and what its logits are read as."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tokenizers import Tokenizer

from core.embed.embedder import bundled_model
from core.talk.reader_features import (
    ASSERTIONS,
    CAPITAL,
    FRAME,
    OTHER,
    OTHER_TOKENS,
    OWN,
    OWN_TOKENS,
    POINTERS,
    POOLED,
    SENTENCE_TOKENS,
    SPANS,
    TYPES,
    WORD,
    TextTokens,
    encode_sentence,
    read_logits,
    token_span,
)
from core.types.talk import SentenceInContext, StatementType

TOKENIZER: Any = Tokenizer.from_buffer(bundled_model().joinpath("tokenizer.json").read_bytes())
TOKENIZER.no_padding()
TOKENIZER.no_truncation()
COOL = dict.fromkeys(("type", "assertion", "lasting", "worth"), 1.0)
LONGEST = SENTENCE_TOKENS + OTHER_TOKENS + OWN_TOKENS + 4


@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=4))
def test_any_text_is_read_within_the_model_s_places(text: str, before: list[str]) -> None:
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext(text, tuple(before)))

    assert len(row.ids) == len(row.kinds) <= LONGEST <= 128
    assert all(0 <= start <= end <= len(text) for start, end in row.offsets)
    assert [kind for kind in row.kinds[: len(row.offsets) + 2] if kind == FRAME] == [FRAME, FRAME]


def test_the_turn_before_and_the_same_turn_have_kinds_of_their_own() -> None:
    row = encode_sentence(
        TextTokens(TOKENIZER), SentenceInContext("She lives in Leith.", ("Mara: where now", "Wren moved."))
    )

    assert row.kinds.tolist().count(OTHER) == len(TOKENIZER.encode("Mara: where now", add_special_tokens=False).ids)
    assert row.kinds.tolist().count(OWN) == len(TOKENIZER.encode("Wren moved.", add_special_tokens=False).ids)


_SAID = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(("I", "moved", "[SEP]", "unbelievably", "e\u0301t\u00e9", "\u5bb6", "5.30", "don't", ",")),
        max_size=40,
    ).map(" ".join),
)


@given(_SAID, st.lists(st.lists(_SAID, max_size=6), min_size=1, max_size=4))
def test_what_was_said_before_is_read_from_its_end_whatever_is_known(text: str, befores: list[list[str]]) -> None:
    known = TextTokens(TOKENIZER)
    for before in (*befores, *befores):
        row = encode_sentence(known, SentenceInContext(text, ("Mara: now", *before)))
        end = " ".join(before)[-16 * OWN_TOKENS :]

        own = TOKENIZER.encode(end, add_special_tokens=False).ids[-OWN_TOKENS:] if end else []
        assert row.ids[row.kinds == OWN].tolist() == own


@given(_SAID.map(lambda said: f"Mara: {said}"))
def test_the_turn_before_is_read_from_its_end(said: str) -> None:
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext("Yes.", (said,)))
    end = TOKENIZER.encode(said[-16 * OTHER_TOKENS :], add_special_tokens=False).ids

    assert row.ids[row.kinds == OTHER].tolist() == end[-OTHER_TOKENS:]


def test_of_long_talk_before_the_last_words_are_read() -> None:
    row = encode_sentence(
        TextTokens(TOKENIZER), SentenceInContext("Yes.", ("Mara: " + "old words " * 90 + "and is it Leith",))
    )
    last = TOKENIZER.encode("words and is it Leith", add_special_tokens=False).ids

    assert row.ids[row.kinds == OTHER].tolist()[-len(last) :] == last
    assert (row.kinds == OTHER).sum() == OTHER_TOKENS


def test_only_a_capital_inside_the_sentence_is_one() -> None:
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext("Boats in Leith sail"))

    assert row.kinds[1] == WORD
    span = token_span(row.offsets, 9, 14)
    assert span is not None
    assert set(row.kinds[span[0] : span[1] + 1]) == {CAPITAL}


def test_a_span_beyond_what_is_read_is_none() -> None:
    text = "word " * 200
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext(text))

    assert token_span(row.offsets, len(text) - 5, len(text) - 1) is None


LOGITS: dict[str, Any] = {"elements": st.floats(-30, 30), "dtype": np.float64}


@given(arrays.arrays(shape=(POOLED,), **LOGITS), arrays.arrays(shape=(LONGEST, POINTERS), **LOGITS))
def test_any_logits_are_a_reading(sentence: Any, tokens: Any) -> None:
    text = "My sister Wren has lived in Leith since 2019."
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext(text))
    reading = read_logits(sentence, tokens[: len(row.ids)], row, COOL)

    assert 0 <= reading.statement <= 1
    assert 0 <= reading.asserted <= 1.0001
    assert 0 <= reading.lasting <= 1
    assert 0 <= reading.worth <= 3
    assert set(reading.spans) <= set(SPANS)
    assert all(0 <= start < end <= len(text) for start, end in reading.spans.values())


def test_what_is_worth_keeping_has_a_type() -> None:
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext("x"))
    sentence = np.zeros(POOLED)
    sentence[TYPES.index(StatementType.NONE)] = 3.0
    sentence[TYPES.index(StatementType.HABIT)] = 2.0
    sentence[-1] = 9.0

    reading = read_logits(sentence, np.zeros((len(row.ids), POINTERS)), row, COOL)

    assert reading.type is StatementType.HABIT
    assert reading.statement > 0.9


def test_a_span_that_is_likelier_absent_is_not_there() -> None:
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext("two words"))
    tokens = np.zeros((len(row.ids), POINTERS))
    tokens[0, :] = 1.0
    tokens[1, 0] = tokens[2, 1] = 5.0

    assert read_logits(np.zeros(POOLED), tokens, row, COOL).spans == {"subject": (0, 9)}


def test_nothing_that_is_stated_has_no_spans() -> None:
    row = encode_sentence(TextTokens(TOKENIZER), SentenceInContext("two words"))
    sentence, tokens = np.zeros(POOLED), np.zeros((len(row.ids), POINTERS))
    sentence[TYPES.index(StatementType.NONE)] = sentence[len(TYPES) + len(ASSERTIONS) + 1] = 9.0
    tokens[1, 0] = tokens[2, 1] = 5.0

    reading = read_logits(sentence, tokens, row, COOL)

    assert reading.type is StatementType.NONE
    assert not reading.spans
