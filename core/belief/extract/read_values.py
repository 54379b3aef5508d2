"""Claims that rules read in a sentence beside the values that the claim model finds there: which of them stand.

Where rules and model agree, and where the model has nothing surer to say, what rules read stands. A value that only the
model finds is believed from one confidence on, one that contradicts what rules read of the same words from another; and
what rules read goes where the model finds nothing of the kind in its words. Pure. Must not do: read a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.belief.extract.claim_model import ClaimReading, ReadValue, Span
from core.belief.extract.normal_form import value_key
from core.types.belief import ClaimDraft


@dataclass(frozen=True, slots=True)
class JoinedClaims:
    """What stands of a sentence.

    Attributes:
        dropped: what rules read and the model does not bear out.
        added: what the model finds beside the rest, or in its place.
    """

    dropped: tuple[ClaimDraft, ...]
    added: tuple[ReadValue, ...]


def join_values(
    drafts: Sequence[ClaimDraft], reading: ClaimReading, sentence: str, limits: Mapping[str, float]
) -> JoinedClaims:
    """Decide between rules and model.

    Args:
        drafts: what rules read in the sentence.
        reading: what the model says of it.
        sentence: its text.
        limits: `core.belief.extract.claim_model.LIMITS`.
    """
    places = [find_value(sentence, draft.value) for draft in drafts]
    kept: list[Span] = []
    dropped: list[ClaimDraft] = []
    for draft, place in zip(drafts, places, strict=True):
        if place is None or _is_agreed(draft, place, reading, sentence):
            kept += [] if place is None else [place]
        elif _is_outdone(place, reading, limits["replaces"]) or (
            reading.backing(draft.predicate, place) < limits["backed"]
        ):
            dropped.append(draft)
        else:
            kept.append(place)
    added = [
        one
        for one in reading.values
        if one.confidence >= limits["added"] and not any(_do_spans_overlap(one.value, place) for place in kept)
    ]
    return JoinedClaims(tuple(dropped), tuple(added))


def find_value(sentence: str, value: str) -> Span | None:
    """Where a value stands in its sentence, without regard to case; None where it was written otherwise."""
    start = sentence.casefold().find(value.casefold())
    return None if start < 0 or len(sentence.casefold()) != len(sentence) else (start, start + len(value))


def _is_agreed(draft: ClaimDraft, place: Span, reading: ClaimReading, sentence: str) -> bool:
    return any(
        one.predicate == draft.predicate
        and _do_spans_overlap(one.value, place)
        and value_key(sentence[slice(*one.value)]) == value_key(draft.value)
        for one in reading.values
    )


def _is_outdone(place: Span, reading: ClaimReading, least: float) -> bool:
    return any(one.confidence >= least and _do_spans_overlap(one.value, place) for one in reading.values)


def _do_spans_overlap(one: Span, other: Span) -> bool:
    """Whether two spans have a character in common."""
    return one[0] < other[1] and other[0] < one[1]
