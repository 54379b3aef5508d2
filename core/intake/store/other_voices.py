"""A candidate beside the words of other voices, whatever the kinds: somebody else's text beside what the person said.

What the person says is compared the other way round with what clients brought before. Candidates are the nearest by
meaning, what speaks of the same things of the user's, and what makes other claims; `core.belief.relate.own_word`
judges each. Must not do: decide what becomes of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from core import log
from core.belief.relate.distinctions import are_of_other_times
from core.belief.relate.own_word import Odds, Sentence, Spoken, odds_of, spoken
from core.errors import LociError
from core.intake.claims.candidate import Neighbour, StoreCandidate, load_neighbours
from core.intake.claims.structural_match import find_claim_conflicts
from core.intake.store.neighbours import CLIENTS_WORD, PERSONS_WORD, NeighbourSearch, other_voices_scope
from core.intake.transaction.text_readers import TextReaders
from core.score.trust import relevance_probability
from core.types.belief import Told
from core.types.values import Status
from core.vault.database.rows import Rows

_log = log.get("intake")
_NEAREST = 6
_THINGS, _OF_ONE_THING = 6, 24
"""Things of the user's that are looked up, and memories that speak of one."""
_CLAIMS = 24
_COMPARED = 24
"""Memories that a candidate is compared with, at most."""
_ASKED = 12
"""Pairs of sentences that the relation model is asked about for one candidate."""
_NAMED = (
    "SELECT m.id FROM (SELECT rowid AS n FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid DESC LIMIT 2000) w "
    "CROSS JOIN memories m ON m.n = w.n WHERE "
)
_LAST = " ORDER BY m.n DESC LIMIT ?"
_PERSONS_NAMED = _NAMED + PERSONS_WORD + _LAST
_CLIENTS_NAMED = _NAMED + CLIENTS_WORD + _LAST


@dataclass(frozen=True, slots=True)
class Judged:
    """A memory of another voice, and how likely one of the two is at odds with the person's word."""

    other: Neighbour
    odds: Odds


def judge_other_voices(
    rows: Rows,
    candidate: StoreCandidate,
    readers: TextReaders,
    neighbours: NeighbourSearch,
    near: Iterable[Neighbour],
    others: int,
) -> dict[str, Judged]:
    """Compare a candidate with the words of other voices.

    Args:
        rows: the transaction.
        candidate: the candidate, with the claims of its text.
        readers: read and relate.
        neighbours: finds what is near.
        near: what was found near already.
        others: how many memories stand that could be near by chance.

    Returns:
        By memory; none where the candidate is the person's by another door than the person's own.
    """
    standing = candidate.standing
    if standing.persons and not standing.owner_said:
        return {}
    text = "".join(candidate.texts)
    told = Told(text, standing.at_ms, candidate.claims)
    said = spoken(told, readers.extract)
    found = _by_structure(rows, candidate, said)
    for memory_id, cosine in neighbours.of_other_voices(
        rows, candidate, readers.gate, _NEAREST if readers.most else 0
    ).items():
        found.setdefault(memory_id, cosine)
    known = {one.id: one for one in near}
    looked_up = {memory_id: cosine for memory_id, cosine in found.items() if memory_id not in known}
    known |= load_neighbours(rows, dict(list(looked_up.items())[:_COMPARED]))
    compared = [one for one in known.values() if _is_other_voice(one, candidate)]
    texts = [spoken(one.told, readers.extract) for one in compared]
    pairs = [(said, text) if standing.persons else (text, said) for text in texts]
    odds = _odds(pairs, readers)
    return {one.id: Judged(one, _by_chance(one, each, others)) for one, each in zip(compared, odds, strict=True)}


def _is_other_voice(one: Neighbour, candidate: StoreCandidate) -> bool:
    """Whether it stands, and one of the two is the person's word; what waits already needs not wait for another."""
    stands = not one.is_over and one.status != Status.QUARANTINED
    is_other = stands and one.standing.persons is not candidate.standing.persons
    return is_other and not are_of_other_times(one.told.claims, candidate.claims)


def _by_chance(one: Neighbour, odds: Odds, others: int) -> Odds:
    """What is near by chance alone is no matter of the candidate's (`core.score.trust`)."""
    return odds if odds.by_rule else replace(odds, share=odds.share * relevance_probability(one.cosine, others))


def _odds(pairs: list[tuple[Spoken, Spoken]], readers: TextReaders) -> list[Odds]:
    classify = None if readers.relate is None else readers.relate.classify
    try:
        return odds_of(pairs, classify, _ASKED)
    except LociError as error:
        # Nothing on this path depends on a model: without one, what rules see decides.
        _log.warning("the relation model did not answer: %s", error.code.value)
        return odds_of(pairs, None, _ASKED)


def _by_structure(rows: Rows, candidate: StoreCandidate, said: Spoken) -> dict[str, float]:
    """Memories that make other claims, or speak of the same things of the user's, as near as can be."""
    claims = tuple(claim for sentence in said.sentences for claim in sentence.claims)[:_CLAIMS]
    found = dict.fromkeys((one.memory_id for one in find_claim_conflicts(rows, replace(candidate, claims=claims))), 1.0)
    sql = _CLIENTS_NAMED if candidate.standing.persons else _PERSONS_NAMED
    scope = other_voices_scope(candidate)
    for word in _things(said.sentences):
        found |= dict.fromkeys((str(row[0]) for row in rows.all(sql, (f'"{word}"', *scope, _OF_ONE_THING))), 1.0)
    return found


def _things(sentences: Iterable[Sentence]) -> list[str]:
    """The first words of the things of the user's that are spoken of, and the last ones of those with a value."""
    words: Mapping[str, None] = dict.fromkeys(
        [
            *(one.stems[-1] for sentence in sentences for one in sentence.given if one.stems),
            *(thing[0] for sentence in sentences for thing in sentence.things),
        ]
    )
    return list(words)[:_THINGS]
