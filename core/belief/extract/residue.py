"""Whether a text says more than the claims that were read from it. Pure.

Must not do: read a claim, or judge what the rest of a text means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from core.belief.extract.normal_form import value_key
from core.belief.extract.vocabulary import word_lists
from core.text.terms import fold_case, stop_words
from core.types.belief import ClaimDraft

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:()\[\]–—\n]|[.!?](?=\s|$)|&")
_EDGES = " .,;:!?\"'"


def has_no_residue(text: str, claims: Sequence[ClaimDraft]) -> bool:
    """Whether claims tell all that a text tells.

    A claim covers the words of its value and those that lead to it from where its clause begins (behind a sign or a
    joining word), but for an amount: "50 mg of" a medicine is more than that it is taken. What is left may hold
    function words, adverbs and the names of subjects, nothing else.

    Args:
        claims: what was read from it.

    Returns:
        False where a word is left over, or there are no claims.
    """
    found = list(_content_words(text))
    told = [span for claim in claims if (span := _clause(text, found, claim)) is not None]
    if not told:
        return False
    if any(_leads_with_amount(text, found, claim) for claim in claims):
        return False
    idle = stop_words() | word_lists().sets["adverb"] | {form for claim in claims for form in _forms(claim.subject)}
    return all(
        low in idle or any(begin <= start < end for begin, end in told)
        for low, start in found
        if low[0].isalnum()
    )  # fmt: skip


def _clause(text: str, found: Sequence[tuple[str, int]], claim: ClaimDraft) -> tuple[int, int] | None:
    """From where the clause of a claim begins to the end of its value; None where the text does not name the value."""
    value = claim.value.strip(_EDGES)
    at = text.find(value, claim.start, claim.end) if value else -1
    if at < 0:
        return None
    bounds = [
        start for low, start in found if start < at and (not low[0].isalnum() or low in word_lists().sets["conj"])
    ]
    return max(bounds, default=0), at + len(value)


def _leads_with_amount(text: str, found: Sequence[tuple[str, int]], claim: ClaimDraft) -> bool:
    """Whether a number and its unit stand before the value in the claim's clause."""
    span = _clause(text, found, claim)
    if span is None:
        return False
    lead = [low for low, start in found if span[0] <= start < span[1] - len(claim.value.strip(_EDGES))]
    return any(
        number[0].isdigit() and (number[-1].isalpha() or (unit[0].isalpha() and unit not in stop_words()))
        for number, unit in pairwise([*lead, " "])
    )


def _content_words(text: str) -> Iterator[tuple[str, int]]:
    return ((fold_case(match.group()).replace("’", "'"), match.start()) for match in _WORD.finditer(text))


def _forms(subject: str) -> Iterator[str]:
    yield from (low for low, _ in _content_words(subject))
    yield from value_key(subject).split()
