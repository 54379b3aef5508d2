"""Marks what a client says against the person's own word in the same answer, and ranks it below that word.

The gate separates a client's statements from the person's where both lie in one space and are read as claims; but a
message is stored verbatim, and each client has a space of its own. So the items of an answer are compared once more
before it is returned. What the person typed to a client with `speak_for_user`, and later than the contradicted word,
ranks first with the same mark: the person is asked about it. Must not do: leave anything out, or decide which is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from core import log
from core.belief.claims.authorship import find_owner_statements, find_persons_words
from core.belief.relate.distinctions import (
    has_contradiction,
    has_other_amounts,
    has_other_attribute,
    has_shared_matter,
    is_amount_restated,
    is_one_value_apart,
)
from core.belief.relate.features import vocabulary
from core.belief.relate.rivals import is_rival
from core.errors import LociError
from core.intake.transaction.text_readers import TextReaders
from core.recall.results.result import RecallItem
from core.text.split import split_sentences
from core.types.belief import ACTED_ON, Label, Told
from core.types.values import Kind, Memory
from core.vault.database.rows import Rows

WHY = "It contradicts what you said yourself, which is in this answer too."
_CHARACTERS, _SENTENCES = 2_000, 12
"""How much of a text is compared: a falsehood that is meant to be believed is short."""
_BY_MEANING = 6
"""Pairs of an answer that the relation model classifies at most; about two milliseconds each."""

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
    found: dict[str, RecallItem] = {}
    doubtful: list[tuple[RecallItem, RecallItem, Told, Told]] = []
    told = {item.memory.id: _read_sentences(item.memory, readers) for pair in pairs for item in pair}
    for own, item in pairs:
        if item.memory.id in found:
            continue
        near = [
            (mine, theirs)
            for mine, theirs in product(told[own.memory.id], told[item.memory.id])
            if has_shared_matter(mine.text, theirs.text) or has_contradiction(mine.claims, theirs.claims)
        ]
        if any(_is_against(mine, theirs) for mine, theirs in near):
            found[item.memory.id] = own
        else:
            doubtful += [(own, item, mine, theirs) for mine, theirs in near]
    for own, item in _by_meaning([one for one in doubtful if one[1].memory.id not in found], readers):
        found.setdefault(item.memory.id, own)
    return found


def _read_sentences(memory: Memory, readers: TextReaders) -> list[Told]:
    text, at = memory.text[:_CHARACTERS], _at(memory)
    spans = split_sentences(text)[:_SENTENCES]
    parts = [text[begin:end].strip() for begin, end in spans]
    stated = [part for part in parts if part and not part.endswith("?")]
    return [Told(part, at, readers.extract(part, now_ms=at, said_ms=at)) for part in stated]


def _is_against(mine: Told, theirs: Told) -> bool:
    numbers = vocabulary()["numbers"]
    return (
        has_contradiction(mine.claims, theirs.claims)
        or is_one_value_apart(mine, theirs)
        or has_other_attribute(mine, theirs)
        or is_rival(mine, theirs)
        or is_amount_restated(mine.text, theirs.text, numbers)
        or is_amount_restated(theirs.text, mine.text, numbers)
        or (has_other_amounts(mine.text, theirs.text, numbers) and _is_one_matter(mine, theirs))
    )


def _is_one_matter(mine: Told, theirs: Told) -> bool:
    """Whether both sides claim the same value of one subject and predicate, so that their amounts are comparable."""
    keys = [
        {(one.subject.casefold(), one.predicate, one.value.casefold()) for one in told.claims}
        for told in (mine, theirs)
    ]
    return bool(keys[0] & keys[1])


def _by_meaning(
    doubtful: Sequence[tuple[RecallItem, RecallItem, Told, Told]], readers: TextReaders
) -> Iterable[tuple[RecallItem, RecallItem]]:
    """The pairs of which the relation model is sure that one supersedes the other."""
    asked = doubtful[:_BY_MEANING]
    if readers.relate is None or not asked:
        return []
    try:
        relations = readers.relate.classify([(mine, theirs) for _, _, mine, theirs in asked])
    except LociError as error:
        _log.warning("the relation model did not answer: %s", error.code.value)
        return []
    sure = [one.label is Label.SUPERSEDE and one.confidence >= ACTED_ON for one in relations]
    return [(own, item) for (own, item, _, _), is_sure in zip(asked, sure, strict=True) if is_sure]
