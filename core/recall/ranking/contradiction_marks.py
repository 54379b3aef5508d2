"""Marks what a client says against the person's own word in the same answer, and ranks it below that word.

The gate separates a client's statements from the person's where both lie in one space and are read as claims; but a
message is stored verbatim, and each client has a space of its own. So the items of an answer are compared once more
before it is returned. What the person typed to a client with `speak_for_user`, and later than the contradicted word,
ranks first with the same mark: the person is asked about it. Must not do: leave anything out, or decide which is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from core import log
from core.belief.claims.authorship import find_owner_statements, find_persons_words
from core.belief.relate.own_word import Odds, Spoken, odds_of, spoken
from core.errors import LociError
from core.intake.transaction.text_readers import TextReaders
from core.recall.results.result import RecallItem
from core.types.belief import Told
from core.types.values import Kind, Memory
from core.vault.database.rows import Rows

WHY = "It contradicts what you said yourself, which is in this answer too."
_CHARACTERS, _SENTENCES = 2_000, 12
"""Of a text so much is compared; a lie that is to be believed is short."""
_BY_MEANING = 8
"""Pairs of sentences that the model is asked about at most: about two milliseconds each."""
_COMPARED = 40
"""Pairs of an answer that are compared; those first that have a word in common."""

_log = log.get("recall")


def mark_contradictions(rows: Rows, items: tuple[RecallItem, ...], readers: TextReaders) -> tuple[RecallItem, ...]:
    """Mark what clients say against the person's own word, and rank it below that word.

    Args:
        rows: the snapshot the answer was made from.
        items: the answer, best first.
        readers: read claims and relations.

    Returns:
        The same items, best first. A contested item scores below what it contradicts, except what the person typed
        later to a client that may speak for them.
    """
    brought = [item for item in items if item.memory.client_id is not None]
    if not brought or len(items) == 1:
        return items
    ids = [item.memory.id for item in items]
    persons, said = find_persons_words(rows, ids), find_owner_statements(rows, ids)
    strangers = [item for item in brought if item.memory.id not in said]
    pairs = [(own, item) for item, own in product(strangers, items) if _is_comparable(own, item, persons, said)]
    against = _find_contradicted(pairs, readers)
    if not against:
        return items
    relayed = persons - said
    marked = [_marked(item, against.get(item.memory.id), relayed) for item in items]
    return tuple(item for item, _ in sorted(marked, key=lambda one: (-one[0].score, not one[1])))


def _is_comparable(own: RecallItem, item: RecallItem, persons: frozenset[str], said: frozenset[str]) -> bool:
    """Whether `own` is the person's word that a client's item has to be compared with.

    What the person typed to a client is compared with what they told Loci directly, and with what they stated later: a
    message is stored verbatim even where what it states is over.
    """
    if item.memory.id not in persons:
        return own.memory.id in persons
    if own.memory.id in said:
        return True
    is_stated = own.memory.id in persons and own.memory.kind is not Kind.EPISODE
    return is_stated and item.memory.kind is Kind.EPISODE and _at(own.memory) > _at(item.memory)


def _marked(item: RecallItem, own: RecallItem | None, relayed: frozenset[str]) -> tuple[RecallItem, bool]:
    """An item with its mark and new score, and whether it precedes others of the same score."""
    if own is None:
        return item, False
    comes_first = item.memory.id in relayed and _at(item.memory) >= _at(own.memory)
    score = max(item.score, own.score) if comes_first else min(item.score, math.nextafter(own.score, 0.0))
    return replace(item, score=score, why=(*item.why, WHY), contradicts=own.memory.id), comes_first


def _at(memory: Memory) -> int:
    return memory.recorded_at if memory.occurred is None else memory.occurred.ms


def _find_contradicted(pairs: Sequence[tuple[RecallItem, RecallItem]], readers: TextReaders) -> dict[str, RecallItem]:
    """Map the id of each contradicting item to the best item that it contradicts."""
    said = {item.memory.id: _spoken(item.memory, readers) for pair in pairs for item in pair}
    close = sorted(pairs, key=lambda pair: not said[pair[0].memory.id].matters & said[pair[1].memory.id].matters)
    close = close[:_COMPARED]
    found: dict[str, RecallItem] = {}
    odds = _odds([(said[own.memory.id], said[item.memory.id]) for own, item in close], readers)
    doubted = {(own.memory.id, item.memory.id) for (own, item), each in zip(close, odds, strict=True) if each.is_doubt}
    for own, item in pairs:
        if (own.memory.id, item.memory.id) in doubted:
            found.setdefault(item.memory.id, own)
    return found


def _spoken(memory: Memory, readers: TextReaders) -> Spoken:
    return spoken(Told(memory.text[:_CHARACTERS], _at(memory)), readers.extract, _SENTENCES)


def _odds(pairs: Sequence[tuple[Spoken, Spoken]], readers: TextReaders) -> list[Odds]:
    classify = None if readers.relate is None else readers.relate.classify
    try:
        return odds_of(pairs, classify, _BY_MEANING)
    except LociError as error:
        _log.warning("the relation model did not answer: %s", error.code.value)
        return odds_of(pairs, None, _BY_MEANING)
