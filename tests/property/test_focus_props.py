"""What stays beside the first hit, whatever an answer looks like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.score.answer_focus import AnswerRows, select_focus
from core.score.profile import Focus

FOCUS = Focus()


@st.composite
def standings(draw: st.DrawFn) -> AnswerRows:
    size, words = draw(st.integers(1, 12)), draw(st.integers(0, 5))
    bits = st.lists(st.booleans(), min_size=words, max_size=words)
    rows = st.lists(bits, min_size=size, max_size=size)
    own = np.array(draw(rows), np.bool_).reshape(size, words)
    return AnswerRows(
        evidence=np.array(draw(st.lists(st.floats(0, 3), min_size=size, max_size=size))),
        own=own,
        near=own | np.array(draw(rows), np.bool_).reshape(size, words),
        weights=np.array(draw(st.lists(st.floats(0.1, 9), min_size=words, max_size=words))),
        bounded=np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_),
        strongest=draw(st.floats(0, 3)),
        asks=draw(st.booleans()),
        several=draw(st.booleans()),
    )


@given(standings())
def test_the_first_and_every_word_that_anything_has_stay(found: AnswerRows) -> None:
    stays = select_focus(found, FOCUS)
    assert stays[0]
    assert stays[found.first]
    assert (found.own[stays].any(axis=0) == found.own.any(axis=0)).all()


@given(standings())
def test_what_stays_has_at_least_the_evidence_of_what_stays_for_it(found: AnswerRows) -> None:
    """Of rows with the same words the stronger stays where the weaker does, but for their places."""
    plain = replace(found, own=np.zeros_like(found.own), near=np.zeros_like(found.near))
    stays = select_focus(plain, replace(FOCUS, kept=1))
    kept = found.evidence[stays & (np.arange(stays.size) > found.first)]
    out = found.evidence[~stays]
    assert not kept.size or not out.size or kept.min() >= out.max()


@given(standings(), st.floats(0, 1))
def test_a_lower_share_keeps_no_less(found: AnswerRows, share: float) -> None:
    low = replace(FOCUS, weak=share * FOCUS.weak, strong=share * FOCUS.strong, clear=share * FOCUS.clear)
    assert (select_focus(found, low) >= select_focus(found, FOCUS)).all()
