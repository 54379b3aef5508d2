"""How what is remembered of a topic came about: what is near to it, in the order of time, each with what it changed.

Superseded versions are on the line, for they are what changed. Must not do: rank an answer
(`core.recall.pipeline` does), or write anything.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.errors import Code, UserError
from core.memory.read import SMALL_TALK, time_of_memory_sql
from core.recall.browse.library import read_memory_rows
from core.recall.browse.timeline import NEVER_BELIEVED
from core.recall.vectors import SnapshotVectors
from core.text.terms import query_terms
from core.types.views import Evolution, TopicEvent, Transition
from core.vault.database.rows import Rows, parse_labels

Pair = frozenset[str]
"""Two ids; which of them is the newer does not matter (X42: the direction of an edge is tested both ways)."""
FLOOR = 0.28
"""Least cosine of a memory to a topic. X42 names 0.5, for another model: with the built-in one a topic of one to four
words and a sentence about it lie between 0.06 and 0.67. Of 36 invented sentences on nine topics 0.28 lets 69 % through
and 0.7 % of those on the other topics; 0.5 lets 14 % through."""
SHARE = 0.55
"""Least cosine as a share of the nearest memory's: a topic that is spoken of in its own words is not joined by what is
only a little like it. On the same sentences it costs nothing up to here."""
WORDS_FLOOR = 0.18
"""Our choice: least cosine of a memory that holds all words of the topic; names lie low in long texts."""
WORDS_NEARER = 0.2
"""Our choice: such a memory counts as so much nearer, where more are found than fit."""
MAX_LIMIT = 500
MAX_TOPIC = 2_000
_TIED = 50  # what comes along by its ties, at most
_WORDED = 400  # memories with the topic's words that are looked at

Vectors = NDArray[np.float32]

# What was held back or forgotten is no part of what was believed; archived is what faded, not what was refused.
_ON_LINE = "m.status NOT IN ('quarantined', 'deleted') AND coalesce(m.status_reason, '') NOT IN ({})".format(
    ", ".join(f"'{reason}'" for reason in NEVER_BELIEVED if reason != "older")
)
# Small talk says nothing of a topic: it is on a line only where there is nothing else.
_COUNTS_HERE = f"{_ON_LINE} AND (:small OR NOT {SMALL_TALK})"
_ALL = f"SELECT group_concat(n) FROM memories m WHERE {_COUNTS_HERE}"  # noqa: S608 - constants of this module
_WITH_WORDS = (
    "SELECT m.n FROM memory_fts f JOIN memories m ON m.n = f.rowid "  # noqa: S608 - constants of this module
    f"WHERE memory_fts MATCH :words AND {_COUNTS_HERE} ORDER BY bm25(memory_fts), m.n LIMIT :most"
)
_HERE = "(SELECT value FROM json_each(:here))"
_NEIGHBOURS = (
    "SELECT n FROM ("  # noqa: S608 - constants of this module
    f"SELECT e.to_id AS id FROM memories o JOIN edges e ON e.from_id = o.id WHERE o.n IN {_HERE} "
    "AND e.type IN ('contradicts', 'supports', 'supersedes') UNION "
    f"SELECT e.from_id FROM memories o JOIN edges e ON e.to_id = o.id WHERE o.n IN {_HERE} "
    "AND e.type IN ('contradicts', 'supports', 'supersedes') UNION "
    f"SELECT o.superseded_by_id FROM memories o WHERE o.n IN {_HERE} UNION "
    f"SELECT s.id FROM memories o JOIN memories s ON s.superseded_by_id = o.id WHERE o.n IN {_HERE} UNION "
    f"SELECT s.id FROM memories o JOIN memories s ON s.chain_id = o.chain_id WHERE o.n IN {_HERE}"
    f") t JOIN memories m ON m.id = t.id WHERE {_ON_LINE} AND m.n NOT IN {_HERE} ORDER BY n LIMIT :most"
)
_KNOWN = (
    f"SELECT n, id, {time_of_memory_sql()}, chain_id, supersedes_id, superseded_by_id, consolidated_into, "  # noqa: S608 - constants
    "valid_to, retired_at, status, coalesce(status_reason, '') FROM memories WHERE n IN (SELECT value FROM "
    "json_each(:here)) ORDER BY 3, 1"
)
_IDS = "(SELECT value FROM json_each(:ids))"
_EDGES = (
    f"SELECT from_id, to_id, type IN ('contradicts', 'supersedes') FROM edges WHERE from_id IN {_IDS} "  # noqa: S608
    f"AND to_id IN {_IDS} AND type IN ('contradicts', 'supports', 'supersedes')"
)
# Two quotes of one claim: both for it, or one for and one against; or the claim of one replaced that of the other.
_CLAIMS = (
    "SELECT a.memory_id, b.memory_id, a.stance <> b.stance FROM evidence a JOIN evidence b "  # noqa: S608
    f"ON b.claim_id = a.claim_id AND b.memory_id > a.memory_id WHERE a.memory_id IN {_IDS} AND b.memory_id IN {_IDS} "
    "AND 'supporting' IN (a.stance, b.stance) AND 'neutral' NOT IN (a.stance, b.stance) "
    "UNION SELECT a.memory_id, b.memory_id, 1 FROM evidence a JOIN claims c ON c.id = a.claim_id "
    "JOIN evidence b ON b.claim_id = c.superseded_by_id AND b.memory_id <> a.memory_id "
    f"WHERE a.memory_id IN {_IDS} AND b.memory_id IN {_IDS} AND a.stance = 'supporting' AND b.stance = 'supporting'"
)
_REWORDED = frozenset({"edited", "merged"})
"""Reasons of what went into another text: worded anew, or one of several that became one."""


@dataclass(frozen=True, slots=True)
class _TopicFacts:
    """What decides about the place of one memory on the line."""

    n: int
    id: str
    at: int
    chain_id: str
    supersedes_id: str | None
    superseded_by_id: str | None
    consolidated_into: str | None
    valid_to: int | None
    retired_at: int | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class _TopicMatches:
    """What was found for a topic: label to cosine (None where it has no vector), and how many more there are."""

    cosines: Mapping[int, float | None]
    left_out: int


def trace_evolution(
    rows: Rows, stored: SnapshotVectors, topic: str, vector: Vectors | None, limit: int, now_ms: int
) -> Evolution:
    """The line of a topic (E39.5 with X42).

    The `limit` memories nearest to the topic, where they are near enough or hold its words; what replaced, opposes or
    supports one of them comes along. All of them by time; the first is the start. What was read and found to be small
    talk is left out, unless there is nothing else of the topic.

    Args:
        stored: the vectors of the same snapshot.
        topic: from `check_topic`.
        vector: the topic's, a unit row of (dims,); None where nothing is compared by meaning.
        limit: how many memories at most, 1 to `MAX_LIMIT`; what comes along by its ties is not counted.

    Returns:
        The line; `took_ms` is 0.

    Raises:
        UserError: INVALID_INPUT for the limit.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise UserError(Code.INVALID_INPUT, f"A topic's line holds 1 to {MAX_LIMIT} memories.")
    matches = _find_topic_matches(rows, stored, topic, vector, limit, with_small_talk=False)
    if not matches.cosines:
        matches = _find_topic_matches(rows, stored, topic, vector, limit, with_small_talk=True)
    here = sorted(matches.cosines)
    tied = [row[0] for row in rows.all(_NEIGHBOURS, {"here": json.dumps(here), "most": _TIED})] if here else []
    known = [_TopicFacts(*row) for row in rows.all(_KNOWN, {"here": json.dumps(here + tied)})]
    light = {row.id: row for row in read_memory_rows(rows, [one.id for one in known], now_ms)}
    line, wordings = _fold_wordings(known)
    opposed, supported = _read_ties(rows, known, {old.id: heir for heir, olds in wordings.items() for old in olds})
    steps = classify_transitions([(one.id, one.at) for one in line], opposed, supported)
    places, counts = _number_versions(line)
    untils = _version_end_times(line, opposed)
    events = tuple(
        TopicEvent(
            row=light[one.id],
            at=one.at,
            transition=step.transition,
            gap_ms=step.gap_ms,
            about=None if step.about is None else light[line[step.about].id],
            until=untils.get(one.id),
            wordings=tuple(light[old.id] for old in wordings.get(one.id, ())),
            version=places[one.id],
            versions=counts[one.chain_id],
            similarity=_best_similarity(matches, one, wordings),
        )
        for one, step in zip(line, steps, strict=True)
    )
    return Evolution(topic, events, matches.left_out, 0.0)


def check_topic(topic: str) -> str:
    """A topic as it is searched for.

    Args:
        topic: as it was typed.

    Returns:
        It without blanks around it.

    Raises:
        UserError: INVALID_INPUT where nothing is left, or it is too long.
    """
    found = topic.strip()
    if not found or "\0" in found or len(found) > MAX_TOPIC:
        raise UserError(Code.INVALID_INPUT, f"Name a topic in 1 to {MAX_TOPIC} characters.")
    return found


# ---- what is on the line


def _find_topic_matches(
    rows: Rows, stored: SnapshotVectors, topic: str, vector: Vectors | None, limit: int, *, with_small_talk: bool
) -> _TopicMatches:
    worded = set(_labels_with_topic_words(rows, topic, with_small_talk=with_small_talk))
    if vector is None:
        kept = sorted(worded)
        return _TopicMatches(dict.fromkeys(kept[:limit]), max(0, len(kept) - limit))
    cosines = _search_nearest(rows, stored, vector, 2 * limit, with_small_talk=with_small_talk)
    floor = max(FLOOR, SHARE * max(cosines.values(), default=0.0))
    found: dict[int, float | None] = {n: cosine for n, cosine in cosines.items() if cosine >= floor}
    known = cosines | _cosines_of(stored, vector, sorted(worded - cosines.keys()))
    # What has no vector yet is found by its words alone.
    found |= {n: known.get(n) for n in worded if known.get(n, 1.0) >= WORDS_FLOOR}
    order = sorted(found, key=lambda n: (-(found[n] or 0.0) - WORDS_NEARER * (n in worded), n))
    return _TopicMatches({n: found[n] for n in order[:limit]}, max(0, len(order) - limit))


def _search_nearest(
    rows: Rows, stored: SnapshotVectors, vector: Vectors, most: int, *, with_small_talk: bool
) -> dict[int, float]:
    allowed = np.sort(parse_labels(rows.value(_ALL, {"small": int(with_small_talk)})))
    hits = stored.search(vector, most, allowed) if allowed.size else None
    return {} if hits is None else dict(zip(hits.labels.tolist(), hits.cosines.tolist(), strict=True))


def _labels_with_topic_words(rows: Rows, topic: str, *, with_small_talk: bool) -> Iterable[int]:
    """Labels of memories with all the words of a topic that tell anything."""
    topic_terms = query_terms(topic)
    terms = [found.term for found in topic_terms if not found.stop]
    if not terms:
        return ()
    match = " AND ".join('"' + term.replace('"', '""') + '"' for term in terms)
    wanted = {"words": match, "most": _WORDED, "small": int(with_small_talk)}
    return [int(row[0]) for row in rows.all(_WITH_WORDS, wanted)]


def _cosines_of(stored: SnapshotVectors, vector: Vectors, labels: Sequence[int]) -> dict[int, float]:
    found, vectors = stored.fetch_vectors(np.array(sorted(labels), np.int64))
    return dict(zip(found.tolist(), (vectors @ vector).tolist(), strict=True))


def _best_similarity(
    matches: _TopicMatches, one: _TopicFacts, wordings: Mapping[str, Sequence[_TopicFacts]]
) -> float | None:
    found = [matches.cosines.get(each.n) for each in (one, *wordings.get(one.id, ()))]
    return max((cosine for cosine in found if cosine is not None), default=None)


# ---- versions and ties


def _fold_wordings(known: Sequence[_TopicFacts]) -> tuple[list[_TopicFacts], dict[str, list[_TopicFacts]]]:
    """The line, and the texts that went into another, oldest first, by the id of the one that stands for them.

    A text that its owner worded anew, or that became one with another, was no other belief: it is one event with its
    newest words, at the time of the first of them.
    """
    by_id = {one.id: one for one in known}
    wordings: dict[str, list[_TopicFacts]] = defaultdict(list)
    for one in known:
        heir, seen = one, {one.id}
        while heir.reason in _REWORDED and heir.superseded_by_id in by_id and heir.superseded_by_id not in seen:
            heir = by_id[heir.superseded_by_id]
            seen.add(heir.id)
        if heir is not one:
            wordings[heir.id].append(one)
    folded = {old.id for olds in wordings.values() for old in olds}
    line = [_with_earliest_time(one, wordings.get(one.id, ())) for one in known if one.id not in folded]
    line.sort(key=lambda one: (one.at, one.n))
    return line, {heir: sorted(olds, key=lambda old: old.n) for heir, olds in wordings.items()}


def _with_earliest_time(one: _TopicFacts, olds: Sequence[_TopicFacts]) -> _TopicFacts:
    return replace(one, at=min(one.at, *(old.at for old in olds))) if olds else one


def _read_ties(rows: Rows, known: Sequence[_TopicFacts], heirs: Mapping[str, str]) -> tuple[set[Pair], set[Pair]]:
    """Pairs that oppose each other, and pairs that support each other; what was worded anew stands under its heir."""
    ids = {one.id for one in known}
    opposed, supported = set[Pair](), set[Pair]()

    def add_pair(to: set[Pair], one: str, other: str | None) -> None:
        pair = frozenset((heirs.get(one, one), heirs.get(other or one, other or one)))
        if other in ids and len(pair) == 2:
            to.add(pair)

    for one in known:
        if one.reason not in _REWORDED:
            add_pair(opposed, one.id, one.superseded_by_id)
        if one.status == "consolidated":
            add_pair(supported, one.id, one.consolidated_into)
    wanted = {"ids": json.dumps(sorted(ids))}
    for one_id, other_id, is_against in [*rows.all(_EDGES, wanted), *rows.all(_CLAIMS, wanted)]:
        add_pair(opposed if is_against else supported, one_id, other_id)
    return opposed, supported


def _number_versions(line: Sequence[_TopicFacts]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Place of each memory among the versions of its chain on the line, and how many of them there are."""
    counts: dict[str, int] = defaultdict(int)
    places: dict[str, int] = {}
    for one in line:
        counts[one.chain_id] += 1
        places[one.id] = counts[one.chain_id]
    return places, counts


def _version_end_times(line: Sequence[_TopicFacts], opposed: Collection[Pair]) -> Mapping[str, int]:
    """When each memory ceased to stand: as it says, else when what replaced it was said, else when it was given up."""
    at = {one.id: one.at for one in line}
    found: dict[str, int] = {}
    for one in line:
        if one.status in ("active", "disputed") and one.valid_to is None:
            continue
        successor = one.superseded_by_id
        opposed_at = at[successor] if successor in at and frozenset((one.id, successor)) in opposed else None
        end = one.valid_to if one.valid_to is not None else opposed_at if opposed_at is not None else one.retired_at
        if end is not None:
            found[one.id] = max(one.at, end)
    return found


@dataclass(frozen=True, slots=True)
class TransitionStep:
    """What one statement on a timeline is to the earlier ones.

    Attributes:
        transition: what it is.
        about: place of the earlier one that it corrects or confirms; None where it does neither.
        gap_ms: milliseconds since the one before; None for the first.
    """

    transition: Transition
    about: int | None
    gap_ms: int | None


def classify_transitions(
    line: Sequence[tuple[str, int]], opposed: Collection[Pair], supported: Collection[Pair]
) -> tuple[TransitionStep, ...]:
    """Tell what each memory is to those before it (E39.5, with X42: the first one is a start).

    A correction is one that is opposed to any before it, a reinforcement one that supports any, else it is an
    addition; where it is both, the correction is what matters. E39.5 compares with the one directly before; here any
    earlier one counts, because memories of other matters may stand between the two.

    Args:
        line: ids, each once, and times in epoch ms; ascending by time.
        opposed: pairs of which one contradicts or replaced the other.
        supported: pairs of which one supports the other.

    Returns:
        A step for each; `about` is the latest earlier one with that tie.
    """
    steps: list[TransitionStep] = []
    for place, (memory_id, at) in enumerate(line):
        if not place:
            steps.append(TransitionStep(Transition.START, None, None))
            continue
        gap = at - line[place - 1][1]
        corrected = _latest_tied(line, place, memory_id, opposed)
        confirmed = _latest_tied(line, place, memory_id, supported)
        if corrected is not None:
            steps.append(TransitionStep(Transition.CORRECTION, corrected, gap))
        elif confirmed is not None:
            steps.append(TransitionStep(Transition.REINFORCEMENT, confirmed, gap))
        else:
            steps.append(TransitionStep(Transition.ADDITION, None, gap))
    return tuple(steps)


def _latest_tied(line: Sequence[tuple[str, int]], place: int, memory_id: str, ties: Collection[Pair]) -> int | None:
    return next((before for before in reversed(range(place)) if frozenset((line[before][0], memory_id)) in ties), None)
