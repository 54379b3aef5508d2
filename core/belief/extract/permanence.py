"""How long what a text tells goes on being true: the permanence of a memory, read from its claims and few cues. Pure.

Seed B lets whoever stores a fact choose its level; where nobody does, `resources/lifecycle/permanence.json` says what a
person would expect of such a claim. In doubt it is `standard`. Must not do: say how fast a level falls
(`core.score.decay` does), or read a claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.score.decay import RATES, STANDARD, check_permanence
from core.text.sentences import split_sentences
from core.text.terms import fold_width
from core.types.belief import ClaimDraft
from core.types.values import Kind

LEVELS: tuple[str, ...] = tuple(sorted(RATES, key=lambda name: RATES[name]))
"""The five levels, the longest-lasting first."""
_STABLE = "stable"
_JUDGED = frozenset({Kind.FACT, Kind.RULE, Kind.PROCEDURE})
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_GAP = "..."
_SAYS_LITTLE = 2
"""A sentence of so many words ("Hello!") says nothing that could last, and stands in no other's way."""

_Run = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """What the resource holds.

    Attributes:
        predicates: predicate to level.
        cues: runs of words, one after the other in a sentence, with their level.
    """

    predicates: Mapping[str, str]
    cues: tuple[tuple[tuple[_Run, ...], str], ...]


@cache
def _table() -> _Table:
    loaded = json.loads((files("resources") / "lifecycle" / "permanence.json").read_text("utf-8"))
    cues = [(_runs(cue), check_permanence(level)) for level, found in loaded["cues"].items() for cue in found]
    return _Table({name: check_permanence(level) for name, level in loaded["predicates"].items()}, tuple(cues))


def _runs(cue: str) -> tuple[_Run, ...]:
    return tuple(tuple(frozenset(word.split("|")) for word in run.split()) for run in cue.split(_GAP))


def classify_permanence(text: str, claims: Sequence[ClaimDraft], kind: Kind) -> str:
    """The level at which a text is stored (seed B, permanence-to-decay-rate mapping).

    A sentence is as lasting as the longest-lasting claim in it; one without a claim as its cues, if they agree. The
    memory is as lasting as its longest-lasting sentence, if each of them has a level.

    Args:
        claims: what was read from it, or came with it; their spans lie in it.
        kind: the memory's kind.

    Returns:
        One of `LEVELS`; `standard` for what is no fact, rule or procedure, and in doubt.
    """
    if kind not in _JUDGED:
        return STANDARD
    spans = split_sentences(text)
    told = [
        (place, level)
        for claim in claims
        if (level := claim_permanence(claim)) and (place := _place(text, claim, spans))
    ]
    found: list[str] = []
    for span in spans:
        levels = [level for place, level in told if place == span]
        words = _WORD.findall(fold_width(text[slice(*span)]).casefold())
        level = (
            longest_permanence(levels)
            if levels
            else _by_cues(words, is_asked=text[slice(*span)].rstrip().endswith("?"))
        )
        if level is not None:
            found.append(level)
        elif len(words) > _SAYS_LITTLE:
            return STANDARD
    return longest_permanence(found) if found else STANDARD


def longest_permanence(levels: Sequence[str]) -> str:
    """The longest-lasting of some levels, as when memories are united.

    Args:
        levels: one or more of `LEVELS`.

    Returns:
        One of them.

    Raises:
        UserError: INVALID_INPUT for an unknown level.
    """
    return min(levels, key=lambda name: RATES[check_permanence(name)])


def reconcile_permanence(told: str, read: str) -> str:
    """What comes of a level that a model gave: it may be one level off what the rules read, no further.

    `standard` is no opinion, of the model as of the rules; where the rules have none the model may say that something
    passes, and at most that it is `stable`.

    Args:
        told: the model's.
        read: from `classify_permanence`.

    Returns:
        One of the two.

    Raises:
        UserError: INVALID_INPUT for an unknown level.
    """
    longer = LEVELS.index(check_permanence(read)) - LEVELS.index(check_permanence(told))
    if told == STANDARD or longer > 1:
        return read
    return told if read == STANDARD or longer >= -1 else read


def claim_permanence(claim: ClaimDraft) -> str | None:
    """The level of a claim; that something is not so is never surer than `stable`: a first child may be born.

    Args:
        claim: what was read.

    Returns:
        One of `LEVELS`; None where its predicate says nothing of it.
    """
    level = _table().predicates.get(claim.predicate)
    if level is None or claim.polarity == "positive":
        return level
    return LEVELS[max(LEVELS.index(level), LEVELS.index(_STABLE))]


def _place(text: str, claim: ClaimDraft, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The sentence that tells a claim: where its value stands, else the one that its evidence lies in."""
    at = text.find(claim.value, claim.start, claim.end) if claim.value else -1
    begin, end = (at, at + 1) if at >= 0 else (claim.start, claim.end)
    return next((span for span in spans if span[0] <= begin and end <= span[1]), None)


def _by_cues(words: Sequence[str], *, is_asked: bool) -> str | None:
    """What the cues of a sentence say; None without any, for a question, and where they disagree."""
    if is_asked:
        return None
    found = [level for runs, level in _table().cues if _follow(words, runs)]
    if not found or len({RATES[level] < RATES[STANDARD] for level in found}) > 1:
        return None
    return longest_permanence(found)


def _follow(words: Sequence[str], runs: Sequence[_Run]) -> bool:
    """Whether runs of words stand in a sentence one after the other."""
    after = 0
    for run in runs:
        place = next(_places(words, run, after), None)
        if place is None:
            return False
        after = place + len(run)
    return True


def _places(words: Sequence[str], run: _Run, start: int) -> Iterator[int]:
    for at in range(start, len(words) - len(run) + 1):
        if all(words[at + n] in part for n, part in enumerate(run)):
            yield at
