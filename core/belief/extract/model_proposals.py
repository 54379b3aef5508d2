"""What a language model proposes, checked against the text it speaks of: nothing is taken on its word.

A claim is taken only where its quote and its value stand in the text, its predicate is one of the vocabulary, and the
sentence speaks about the world as the rules read it. A relation is weighed with what the built-in model said before.
Must not do: ask a model, write a row, or take a model's confidence for more than it is.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.belief.extract.extraction import LONGEST_VALUE, canonical_form, is_exclusive
from core.belief.extract.normal_form import value_key
from core.belief.extract.sentence import ClaimToken, TokenizedSentence, claim_word_lists, hide_unreal, read_sentence
from core.text.sentences import split_sentences
from core.types.belief import LABELS, ClaimDraft, ClaimProposal, Label, Relation, RelationProposal

PROPOSED_CONFIDENCE = 0.6
"""How sure a model's reading is taken to be, whatever it says itself: under that of rules (0.9)."""

MOST_TAKEN = 8
"""Claims taken from one answer."""

_LEAST_WEIGHT, _MOST_WEIGHT = 0.25, 0.9
_LEAST_PRIOR = 0.02
_LONGEST_SUBJECT = 80
_MOST_WORDS = 12
_USER = "user"
_SPEAKER = frozenset({"user", "the user", "i", "me", "we", "the author", "the writer"})
_SELF = frozenset({"i", "we", "me", "us", "mine", "ours", "user"})
_OWN = frozenset({"my", "our"})
_OTHERS = ("kin", "partner", "child", "children", "person", "pet", "pets")
_REACH = 3
_BREAKS = frozenset({",", ";", ":", "–", "—", "(", ")", "but"})
_MARKED = {"email_is": "@"}
_NUMBERED = frozenset({"age_is", "born_on", "phone_is", "version_is", "budget_is"})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a proposal stands in the text, code points, ends exclusive."""

    sentence: TokenizedSentence
    quote: tuple[int, int]
    value: tuple[int, int]


def keep_grounded(
    text: str, proposals: Sequence[ClaimProposal], known: Sequence[ClaimDraft] = ()
) -> tuple[ClaimDraft, ...]:
    """The proposals that the text bears out.

    Args:
        proposals: what a model says it read there.
        known: claims of the text that rules read or somebody gave; these win.

    Returns:
        Claims with their spans, `model` by method, in the order of the proposals, none twice and none of `known`;
        each span lies within one sentence and holds the value, which is spelled as the text spells it.
    """
    read = list(_real_sentences(text)) if proposals else []
    found: dict[tuple[str, str, str], ClaimDraft] = {}
    for proposal in proposals:
        draft = _draft_from_proposal(text, read, proposal)
        if draft is not None and not _is_known(draft, known):
            found.setdefault(canonical_form(draft), draft)
        if len(found) >= MOST_TAKEN:
            break
    return tuple(found.values())


def weigh_model_answer(before: Mapping[Label, float], proposal: RelationProposal) -> Relation:
    """What is believed of a pair after a model was asked, by Bayes' rule.

    A model is taken to be right with the probability it names, but at most 0.9 and at least 0.25, and to err towards
    the other labels alike; so it tips what was open and does not overturn what the built-in model found unlikely.

    Args:
        before: probabilities of the labels until now; a missing one counts as unlikely, an empty mapping as all alike.
        proposal: the model's word.

    Returns:
        The relation, by `model`; its label is the likeliest, which need not be the proposed one.
    """
    weight = min(_MOST_WEIGHT, max(_LEAST_WEIGHT, proposal.confidence))
    other = (1.0 - weight) / (len(LABELS) - 1)
    shares = {
        label: (max(_LEAST_PRIOR, before.get(label, 0.0)) if before else 1.0)
        * (weight if label is proposal.label else other)
        for label in LABELS
    }
    whole = sum(shares.values())
    after = {label: share / whole for label, share in shares.items()}
    best = max(LABELS, key=lambda label: after[label])
    return Relation(best, after[best], after, "model", "model")


def _real_sentences(text: str) -> Iterator[TokenizedSentence]:
    """Sentences that speak about the world; in each, what is asked, ordered or supposed is hidden."""
    story = False
    for start, end in split_sentences(text):
        if not text[start:end].strip() or text[:start].endswith("\n\n"):
            story = False
        sentence = read_sentence(text, start, end)
        if not sentence.tokens or story:
            continue
        story = hide_unreal(sentence)
        if not story:
            yield sentence


def _draft_from_proposal(text: str, read: Sequence[TokenizedSentence], proposal: ClaimProposal) -> ClaimDraft | None:
    exclusive = is_exclusive(proposal.predicate)
    place = None if exclusive is None else _locate_proposal(text, read, proposal)
    if exclusive is None or place is None:
        return None
    value = text[place.value[0] : place.value[1]]
    subject = _grounded_subject(text, place, proposal.subject)
    if subject is None or not _is_valid_value(proposal.predicate, value) or value_key(subject) == value_key(value):
        return None
    if _is_denied(place) != (proposal.polarity == "negative"):
        return None
    return ClaimDraft(
        subject=subject,
        predicate=proposal.predicate,
        value=value,
        exclusive=exclusive,
        polarity=proposal.polarity,
        start=place.quote[0],
        end=place.quote[1],
        method="model",
        confidence=PROPOSED_CONFIDENCE,
    )


def _locate_proposal(text: str, read: Sequence[TokenizedSentence], proposal: ClaimProposal) -> _Place | None:
    quote = _find_span(text, proposal.quote)
    if quote is None:
        return None
    for sentence in read:
        begin, end = max(quote[0], sentence.start), min(quote[1], sentence.end)
        value = _find_span(text, proposal.value, begin, end) if begin < end else None
        if value is not None and _is_readable(sentence, value):
            while begin < value[0] and text[begin].isspace():
                begin += 1
            while end > value[1] and text[end - 1].isspace():
                end -= 1
            return _Place(sentence, (begin, end), value)
    return None


def _find_span(text: str, part: str, begin: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Where a part stands, as written or with its character references resolved; at the bounds of words."""
    for wanted in dict.fromkeys((part, html.unescape(part))):
        stop = len(text) if end is None else end
        at = text.find(wanted, begin, stop) if wanted.strip() else -1
        while at >= 0:
            if _is_apart(text, at, at + len(wanted)):
                return at, at + len(wanted)
            at = text.find(wanted, at + 1, stop)
    return None


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether no word is cut at either end."""
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not before and not after


def _tokens_within(sentence: TokenizedSentence, span: tuple[int, int]) -> list[ClaimToken]:
    return [token for token in sentence.tokens if token.start < span[1] and span[0] < token.end]


def _is_readable(sentence: TokenizedSentence, value: tuple[int, int]) -> bool:
    """Whether the words of a value are told as true: not asked, ordered, supposed, hedged or quoted from somebody."""
    tokens = _tokens_within(sentence, value)
    if not tokens or len(tokens) > _MOST_WORDS or any(token.hidden or token.quoted for token in tokens):
        return False
    if any(claim_word_lists().has_word("hedge", token.low) for token in sentence.tokens):
        return False
    plain = [token.low for token in tokens if token.word]
    return any(
        not claim_word_lists().has_word("stop", low) and not claim_word_lists().has_word("det", low) for low in plain
    )


def _grounded_subject(text: str, place: _Place, named: str) -> str | None:
    """`user` where the sentence speaks of its speaker; else the words of the text, which name something."""
    if named.casefold() in _SPEAKER:
        return _USER if _is_about_speaker(place.sentence) else None
    span = _find_span(text, named)
    if span is None or len(named) > _LONGEST_SUBJECT or "\n" in named or not any(sign.isalpha() for sign in named):
        return None
    plain = [low for low in named.casefold().split() if not claim_word_lists().has_word("det", low)]
    if not plain or all(
        claim_word_lists().has_word("stop", low) or claim_word_lists().has_word("third", low) for low in plain
    ):
        return None
    return text[span[0] : span[1]]


def _is_about_speaker(sentence: TokenizedSentence) -> bool:
    """Whether a sentence names its speaker, other than by somebody of theirs ("my sister")."""
    lows = [token.low for token in sentence.tokens if not token.quoted]
    for at, low in enumerate(lows):
        if low in _SELF:
            return True
        behind = lows[at + 1 : at + 1 + _REACH]
        if low in _OWN and not any(claim_word_lists().has_word(name, word) for name in _OTHERS for word in behind):
            return True
    return False


def _is_valid_value(predicate: str, value: str) -> bool:
    """Whether a value can be one of its predicate: one line, not too long, with the signs such values have."""
    if len(value) > LONGEST_VALUE or any(not sign.isprintable() for sign in value):
        return False
    if not any(sign.isalnum() for sign in value) or _MARKED.get(predicate, "") not in value:
        return False
    return predicate not in _NUMBERED or any(sign.isdigit() for sign in value_key(value))


def _is_denied(place: _Place) -> bool:
    """Whether a negation stands anywhere from the sentence's begin to the end of the value's clause."""
    for token in place.sentence.tokens:
        if token.start >= place.value[1] and token.low in _BREAKS:
            return False
        if claim_word_lists().has_word("neg", token.low):
            return True
    return False


def _is_known(draft: ClaimDraft, known: Sequence[ClaimDraft]) -> bool:
    """Whether rules or a person read the same place already: the same claim, or another of that predicate or value."""
    subject, predicate, value = canonical_form(draft)
    for other in known:
        subject_other, predicate_other, value_other = canonical_form(other)
        if predicate == predicate_other and ((subject == subject_other and draft.exclusive) or value == value_other):
            return True
    return False
