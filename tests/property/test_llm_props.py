"""Whatever a model says: checked proposals come out, or nothing; and whatever a memory says stays in its fence."""

from __future__ import annotations

import html
import json
import math

from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.frames import predicate_names
from core.belief.extract.model_proposals import PROPOSED_CONFIDENCE, keep_grounded, weigh_model_answer
from core.llm.prompts import MOST_CLAIMS, claims_prompt, parse_claims, parse_relation, relation_prompt
from core.text.screening.fences import escape_fences
from core.types.belief import LABELS, ClaimProposal, ComparedText, Label, RelationProposal

WORDS = st.text(alphabet=st.characters(codec="utf-8"), max_size=60)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4))
SPAN = st.sampled_from(["Bergen", "I live in Bergen", "live", "user", "My cat", "Misty", "in Bergen now", "Oslo", ""])
ITEM = st.fixed_dictionaries(
    {
        "subject": st.one_of(SPAN, st.just("user"), WORDS),
        "predicate": st.one_of(st.sampled_from(predicate_names()), WORDS),
        "value": st.one_of(SPAN, WORDS),
        "quote": st.one_of(SPAN, WORDS),
    },
    optional={"polarity": st.sampled_from(["positive", "negative", "x"])},
)
NEAR = st.one_of(
    st.fixed_dictionaries({"claims": st.lists(ITEM, max_size=20)}),
    st.fixed_dictionaries({"label": st.sampled_from([*Label]), "confidence": st.floats()}),
    JSON,
)
ANSWERS = st.one_of(
    st.binary(max_size=300), WORDS, NEAR.map(json.dumps), NEAR.map(lambda v: f"```json\n{json.dumps(v)}\n```")
)
TEXTS = st.one_of(
    WORDS, st.just("I live in Bergen now. My cat is called Misty."), st.just("User: I live in Bergen, not in Oslo.")
)


@given(ANSWERS)
def test_any_answer_gives_sound_proposals_or_nothing(raw: str | bytes) -> None:
    relation = parse_relation(raw)
    assert relation is None or (relation.label in LABELS and 0 <= relation.confidence <= 1)
    claims = parse_claims(raw)
    assert len(claims) <= MOST_CLAIMS
    assert all(claim.subject and claim.predicate and claim.value and claim.quote for claim in claims)


@given(TEXTS, ANSWERS)
def test_every_claim_that_is_taken_stands_in_the_text(text: str, raw: str | bytes) -> None:
    for draft in keep_grounded(text, parse_claims(raw)):
        quote = text[draft.start : draft.end]
        assert draft.value in quote
        assert draft.predicate in predicate_names()
        assert draft.subject == "user" or draft.subject in text
        assert (draft.method, draft.confidence) == ("model", PROPOSED_CONFIDENCE)
        assert "\n" not in draft.value


@given(
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.sampled_from(LABELS),
    st.floats(0, 1),
)
def test_weighing_gives_probabilities(prior: list[float], label: Label, confidence: float) -> None:
    before = dict(zip(LABELS, prior, strict=True))
    after = weigh_model_answer(before, RelationProposal(label, confidence))
    assert math.isclose(sum(after.probabilities.values()), 1.0, abs_tol=1e-9)
    assert all(0 <= share <= 1 for share in after.probabilities.values())
    assert after.confidence == max(after.probabilities.values()) == after.probabilities[after.label]
    assert after.by == "model"


@given(WORDS, WORDS)
def test_no_memory_leaves_its_fence(one: str, other: str) -> None:
    user = relation_prompt(ComparedText(one), ComparedText(other)).user
    assert (user.count("<"), user.count(">")) == (4, 4)
    user = claims_prompt(ComparedText(one), predicate_names()).user
    assert (user.count("<"), user.count(">")) == (2, 2)
    if "\0" not in one:
        assert html.unescape(escape_fences(one)) == one or "&" in one


@given(st.builds(ClaimProposal, WORDS, WORDS, WORDS, WORDS, st.sampled_from(["positive", "negative"])))
def test_a_claim_about_an_empty_text_is_none(claim: ClaimProposal) -> None:
    assert keep_grounded("", [claim]) == ()
