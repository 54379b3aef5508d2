"""Mentions: an entity at a place of a text, found by the names that are known, and kept as rows.

One mention for each entity and memory, the first: so the number of an entity's mentions is the number of memories that
name it. What else was inferred of a memory is read with them. Must not do: make an entity, or show what was inferred of
a memory that is not in the clear (I16).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.entities.recognition import NameCandidate, NameWord, RecognizedText, name_key
from core.entities.registry import KnownName, NameLexicon
from core.text.terms import common_words, fold_word
from core.types.lifecycle import Inferred, Mentioned
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import ENTITY_TYPE, readable_sql, remove_orphans

MOST = 32
"""Entities that one memory mentions, at most."""
SURE, FROM_CUE, NAMED = 1.0, 0.9, 0.8
"""Confidence of a mention: a form of its own or a cue; a name in the middle of a sentence; at its beginning."""
_GROUPS = {"technology": "technology", "file": "file", "concept": "concept"}
_ADD = (
    "INSERT INTO mentions (memory_id, entity_id, start_at, end_at, confidence) SELECT :memory, :entity, :start, :end, "
    ":confidence WHERE NOT EXISTS (SELECT 1 FROM mentions WHERE memory_id = :memory AND entity_id = :entity "
    "AND (start_at < 0) = (:start < 0))"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity at a place of a text.

    Attributes:
        entity_id: the entity.
        start: first code point; `end` is exclusive.
        confidence: 0 to 1.
    """

    entity_id: str
    start: int
    end: int
    confidence: float


def find_mentions(read: RecognizedText, known: NameLexicon) -> tuple[Mention, ...]:
    """Find the entities that a text mentions.

    A name is found as it is written with capitals; a single word that begins a sentence only if it is no common word;
    and not inside a longer name that is another's ("Rosa" in "Rosa Castellanos").

    Args:
        known: the names of its space.

    Returns:
        One each, the first, in the order of the text; at most `MOST`.
    """
    found: dict[str, Mention] = {}
    places = sorted(
        (*_find_formed_mentions(read.candidates, known), *_find_named_mentions(read, known)), key=lambda one: one.start
    )
    for mention in places:
        found.setdefault(mention.entity_id, mention)
    return tuple(found.values())[:MOST]


def place_mentions(mentions: Iterable[Mention], ids: Mapping[str, str]) -> tuple[Mention, ...]:
    """Mentions with the ids that newcomers got.

    Args:
        mentions: as found.
        ids: mark to id.

    Returns:
        The same mentions.
    """
    return tuple(Mention(ids.get(one.entity_id, one.entity_id), one.start, one.end, one.confidence) for one in mentions)


def rewrite_mentions(tx: Tx, found: Mapping[str, Sequence[Mention]]) -> tuple[str, ...]:
    """Put the mentions of memories in the place of those they had.

    Args:
        tx: the transaction; nothing is recorded.
        found: memory id to its mentions.

    Returns:
        Entities that are gone, because nothing mentions them any more.
    """
    before = read_mentioned(tx, found)
    if before:
        tx.run_many("DELETE FROM mentions WHERE memory_id = ?", [(memory_id,) for memory_id in found])
    add_mentions(tx, ((memory_id, mention) for memory_id, some in found.items() for mention in some))
    return remove_orphans(tx, before)


def add_mentions(tx: Tx, found: Iterable[tuple[str, Mention]]) -> None:
    """Add mentions, each unless its memory mentions that entity already.

    Args:
        tx: the transaction; nothing is recorded.
        found: memory id and mention.
    """
    tx.run_many(
        _ADD,
        [
            {
                "memory": memory_id,
                "entity": one.entity_id,
                "start": one.start,
                "end": one.end,
                "confidence": one.confidence,
            }
            for memory_id, one in found
        ],
    )


def read_mentioned(rows: Rows, memory_ids: Iterable[str]) -> tuple[str, ...]:
    """The entities that memories mention."""
    found = rows.all(
        "SELECT DISTINCT entity_id FROM mentions WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY 1",
        (json.dumps(list(memory_ids)),),
    )
    return tuple(str(row[0]) for row in found)


def type_group(kind: str) -> str:
    """What is told by a form of its own is never what is told by its letters."""
    return _GROUPS.get(kind, "name")


def _find_formed_mentions(candidates: Sequence[NameCandidate], known: NameLexicon) -> Iterator[Mention]:
    for one in candidates:
        if one.is_word and one.type != "work" and "'s " not in one.key:
            continue
        for name in known.by_key.get(one.key, ()):
            if type_group(name.type) == type_group(one.type) or one.name.startswith("@"):
                yield Mention(name.id, one.start, one.end, SURE)
                break


def _find_named_mentions(read: RecognizedText, known: NameLexicon) -> Iterator[Mention]:
    runs = [one for one in read.candidates if one.is_word]
    at = 0
    while at < len(read.words):
        size = _count_known_words(read.words, at, known)
        if size:
            first, last = read.words[at], read.words[at + size - 1]
            mention = _choose_mention(read.words[at : at + size], known, runs)
            if mention is not None and not _is_part(first.start, last.end, runs):
                yield mention
        at += max(1, size)


def _count_known_words(words: Sequence[NameWord], at: int, known: NameLexicon) -> int:
    """Words of the longest known name that begins there; 0 for none."""
    first = name_key(words[at].text).split(" ", 1)[0]
    for size in range(min(known.longest.get(first, 0), len(words) - at), 0, -1):
        run = words[at : at + size]
        if all(b.start - a.end <= 2 for a, b in pairwise(run)) and _run_key(run) in known.by_key:
            return size
    return 0


def _run_key(run: Sequence[NameWord]) -> str:
    return " ".join(name_key(word.text) for word in run)


def _choose_mention(run: Sequence[NameWord], known: NameLexicon, runs: Sequence[NameCandidate]) -> Mention | None:
    start, end, key = run[0].start, run[-1].end, _run_key(run)
    own = next((one for one in runs if one.start == start and one.end == end), None)
    names = [name for name in known.by_key[key] if name.type not in ("technology", "file")]
    names = [name for name in names if name.alias.islower() or _has_capitals(run, name)]
    if not names or (len(run) == 1 and run[0].opens and fold_word(run[0].text) in common_words()):
        return None
    wanted = own.type if own is not None else "other"
    name = next((name for name in names if name.type == wanted), names[0])
    confidence = SURE if own is not None and own.is_sure else NAMED if run[0].opens else FROM_CUE
    return Mention(name.id, start, end, confidence)


def _has_capitals(run: Sequence[NameWord], name: KnownName) -> bool:
    return run[0].text[:1].isupper() or not name.alias[:1].isupper()


def _is_part(start: int, end: int, runs: Sequence[NameCandidate]) -> bool:
    return any(one.start <= start and end <= one.end and (one.start, one.end) != (start, end) for one in runs)


_INFERRED = (
    "SELECT i.body, i.valence, i.arousal, i.made_by, i.at FROM inferred i JOIN memories m ON m.id = i.memory_id "  # noqa: S608 - constants only
    "WHERE i.memory_id = ? AND " + readable_sql()
)
_MENTIONED = (
    f"SELECT e.id, e.name, {ENTITY_TYPE}, n.start_at, n.end_at FROM mentions n JOIN entities e ON e.id = n.entity_id "  # noqa: S608 - constants only
    "JOIN memories m ON m.id = n.memory_id WHERE n.memory_id = ? AND " + readable_sql() + " "
    "AND n.start_at >= 0 AND n.end_at <= length(m.text) ORDER BY n.start_at, e.id"
)


def read_inferred(rows: Rows, memory_id: str) -> Inferred | None:
    """What was inferred from a memory.

    Returns:
        It; None where the memory was not read yet, or is not in the clear.
    """
    row = rows.one(_INFERRED, (memory_id,))
    if row is None:
        return None
    body = json.loads(row[0])
    lists = {name: tuple(map(str, body.get(name, ()))) for name in ("technologies", "paths", "urls", "dates", "topics")}
    found = tuple(
        Mentioned(str(one), str(name), str(kind), int(start), int(end))
        for one, name, kind, start, end in rows.all(_MENTIONED, (memory_id,))
    )
    return Inferred(
        **lists,
        language=str(body.get("language", "")),
        valence=float(row[1]),
        arousal=float(row[2]),
        entities=found,
        made_by=str(row[3]),
        at=int(row[4]),
    )
