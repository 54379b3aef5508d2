"""Whatever is told, it lasts at one of five levels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.frames import predicate_names
from core.belief.extract.validity import LEVELS, classify_permanence, longest_permanence, reconcile_permanence
from core.types.belief import ClaimDraft
from core.types.values import Kind

_WORDS = st.sampled_from(
    ["I", "was", "born", "never", "eat", "right", "now", "today", "feel", "my", "bank", "is", "x", ".", "?", "\n\n"]
)
_TEXTS = st.one_of(st.text(), st.lists(_WORDS).map(" ".join))
_PLACES = st.integers(-5, 50)
_CLAIMS = st.lists(
    st.builds(
        ClaimDraft,
        subject=st.just("user"),
        predicate=st.one_of(st.sampled_from(predicate_names()), st.text()),
        value=st.text(max_size=4),
        exclusive=st.booleans(),
        polarity=st.sampled_from(["positive", "negative"]),
        start=_PLACES,
        end=_PLACES,
    ),
    max_size=4,
)
_LEVELS = st.sampled_from(LEVELS)


@given(_TEXTS, _CLAIMS, st.sampled_from(Kind))
def test_it_is_always_one_of_the_five(text: str, claims: list[ClaimDraft], kind: Kind) -> None:
    found = classify_permanence(text, claims, kind)
    assert found in LEVELS
    assert found == classify_permanence(text, list(reversed(claims)), kind)
    if kind in (Kind.EPISODE, Kind.DIGEST):
        assert found == "standard"


@given(st.lists(_LEVELS, min_size=1))
def test_the_longest_is_one_of_them_and_none_lasts_longer(levels: list[str]) -> None:
    found = longest_permanence(levels)
    assert found in levels
    assert LEVELS.index(found) == min(map(LEVELS.index, levels))


@given(_LEVELS, _LEVELS)
def test_a_model_never_makes_it_last_longer_by_more_than_one(told: str, read: str) -> None:
    found = reconcile_permanence(told, read)
    assert found in (told, read)
    assert LEVELS.index(read) - LEVELS.index(found) <= 1
