"""What stands beside a candidate: the nearest memories, the words of other voices, and versions that are over.

The index holds what is committed; what it lacks while it warms, or where there is none yet, is read from the vault.
What the person says is compared with what clients brought, and the other way round, whatever the kinds; candidates are
the nearest by meaning, what speaks of the same things of the user's, and what makes other claims, each judged by
`core.belief.relate.owner_contradiction`. Beside a version that is over, a value either returns or is named by
somebody who does not know that it is over. Must not do: decide what becomes of either, or change a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import PERSONS
from core.belief.relate.coverage import covers_text
from core.belief.relate.distinctions import are_of_other_times, has_outdated_value
from core.belief.relate.owner_contradiction import (
    ContradictionOdds,
    ContradictionSentence,
    ContradictionText,
    read_contradiction_text,
    weigh_contradictions,
)
from core.belief.relate.relation_model import IDENTICAL, certain_relation
from core.belief.review.items import MAY_REPLACE
from core.belief.trust_gate import GateDecision, may_act_on, may_displace, resolve_contradiction
from core.embed.embedder import from_blobs
from core.errors import Code, LociError
from core.index.base import Hits
from core.index.flat import no_hits
from core.index.manager import IndexManager
from core.intake.candidate import Neighbour, StoreCandidate, find_claim_conflicts, load_neighbours
from core.intake.claims import TextReaders
from core.memory.write import VectorSpace
from core.score.trust import relevance_probability
from core.types.belief import ACTED_ON, LABELS, ComparedText, Label, Relation
from core.types.values import GLOBAL_SPACE, Status
from core.vault.database.rows import Rows, parse_labels, to_json
from core.vault.memory_sql import given_sql

_FIRST = 48
_WIDE = 192
_AT_FIRST = 2
"""The nearest are read first, so many times as are asked for."""
_CHUNK = 2048
_COUNTED = 20_000
_WANTED = (
    "m.space_id IN (?, ?) AND m.kind = ? AND (m.scope_session IN ('', ?) OR ?) AND coalesce(m.part_index, 0) = 0 "
    "AND m.id <> ? AND (m.status IN ('active', 'disputed', 'quarantined') "
    "OR (m.status = 'superseded' AND m.status_reason IN ('replaced', 'older', 'edited', 'merged'))) "
    # What is sealed, and what another client proposed, is beside no client's text: it must not be silenced by them.
    f"AND (? IS NULL OR ({given_sql('?')} AND NOT (m.status = 'quarantined' AND m.client_id IS NOT NULL "
    "AND m.client_id IS NOT ? AND coalesce(m.status_reason, '') IN ('proposed', 'suspicious'))))"
)
_BESIDE = (
    "m.space_id IN (?, ?) AND m.status IN ('active', 'disputed') AND (m.scope_session IN ('', ?) OR ?) "
    "AND coalesce(m.part_index, 0) = 0 AND m.id <> ? AND "
)
PERSONS_WORD = f"{_BESIDE} {PERSONS} AND (? IS NULL OR {given_sql('?')})"
CLIENTS_WORD = f"{_BESIDE} m.client_id IS NOT NULL AND NOT {PERSONS} AND coalesce(?, ?) IS NULL"
# CROSS JOIN: the hits first; else the planner goes through every memory of the space and the hits for each.
_HITS = "SELECT m.n, m.id FROM json_each(?) w CROSS JOIN memories m ON m.n = w.value WHERE "
_OF_HITS = _HITS + _WANTED
_OF_PERSONS_HITS = _HITS + PERSONS_WORD
_OF_CLIENTS_HITS = _HITS + CLIENTS_WORD
_ALL = f"SELECT group_concat(n) FROM (SELECT m.n AS n FROM memories m WHERE {_WANTED})"  # noqa: S608 - constant
_STORED = (
    "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND dims = ? "
    "AND n IN (SELECT value FROM json_each(?))"
)
_LABELS = "SELECT n FROM embeddings WHERE owner = 'memory' AND vector_space = ? ORDER BY n"


@dataclass(frozen=True, slots=True)
class NeighbourSearch:
    """Finds the stored memories nearest to a candidate.

    Attributes:
        index: the index over the vault.
        space: the vector space that is searched.
    """

    index: IndexManager
    space: VectorSpace

    def find_nearest(self, rows: Rows, candidate: StoreCandidate) -> Hits:
        """What is nearest to a candidate, of any space and kind: both searches below choose among it.

        Returns:
            The hits, best first; none without a vector.
        """
        return no_hits() if candidate.vector is None else self._search_vectors(rows, candidate.vector, _WIDE, None)

    def find_neighbours(
        self, rows: Rows, candidate: StoreCandidate, gate: float, most: int, nearest: Hits | None = None
    ) -> dict[str, float]:
        """Memories near a candidate: of its space or GLOBAL, of its kind, standing, waiting or over.

        Args:
            candidate: the candidate, with its vector.
            gate: the least cosine.
            most: how many at most.
            nearest: as `find_nearest` gives it; None to search.

        Returns:
            Memory id to cosine, nearest first.
        """
        if candidate.vector is None or most <= 0:
            return {}
        scope = self._scope_params(candidate)
        hits = (
            self._search_vectors(rows, candidate.vector, _FIRST, None)
            if nearest is None
            else _keep_best_hits(nearest, _FIRST)
        )
        found = self._select_nearest(rows, _OF_HITS, scope, hits, gate, most)
        if len(found) < most and len(hits.labels) >= _FIRST and float(np.min(hits.cosines)) >= gate:
            # The nearest are all of another kind or space: only then every label in scope is worth listing.
            allowed = parse_labels(rows.value(_ALL, scope))
            found = self._select_by_cosine(
                rows, _OF_HITS, scope, self._search_vectors(rows, candidate.vector, most, allowed), gate
            )
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:most])

    def find_other_contributors(
        self, rows: Rows, candidate: StoreCandidate, gate: float, most: int, nearest: Hits | None = None
    ) -> dict[str, float]:
        """Memories of any kind near a candidate: the person's where it is somebody else's, else those of clients.

        Args:
            candidate: the candidate, with its vector.
            gate: the least cosine.
            most: how many at most.
            nearest: as `find_nearest` gives it; None to search.

        Returns:
            Memory id to cosine, nearest first; of what is not among the nearest few hundred, none.
        """
        if candidate.vector is None or most <= 0:
            return {}
        hits = self.find_nearest(rows, candidate) if nearest is None else nearest
        sql = _OF_CLIENTS_HITS if candidate.authority.persons else _OF_PERSONS_HITS
        found = self._select_nearest(rows, sql, other_contributors_scope(candidate), hits, gate, most)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:most])

    def count_comparable(self, rows: Rows, candidate: StoreCandidate) -> int:
        """How many memories stand that could be near by chance; counted up to a bound.

        Returns:
            Memories of its kind and space.
        """
        return int(
            rows.value(
                "SELECT count(*) FROM (SELECT 1 FROM memories WHERE space_id = ? AND status = 'active' AND kind = ? "
                "LIMIT ?)",
                (candidate.space_id, candidate.kind.value, _COUNTED),
            )
        )

    def _select_nearest(
        self, rows: Rows, sql: str, scope: tuple[object, ...], hits: Hits, gate: float, most: int
    ) -> dict[str, float]:
        """As `_select_by_cosine`; where the nearest few are enough already, the rows of the others are not read."""
        labels, cosines = hits
        few = most * _AT_FIRST
        # Of two that are as near the ids decide: all of them must have been seen.
        while few < labels.size and cosines[few - 1] == cosines[few]:
            few += 1
        found = self._select_by_cosine(rows, sql, scope, Hits(labels[:few], cosines[:few]), gate)
        if len(found) < most and few < labels.size:
            found |= self._select_by_cosine(rows, sql, scope, Hits(labels[few:], cosines[few:]), gate)
        return found

    @staticmethod
    def _select_by_cosine(rows: Rows, sql: str, scope: tuple[object, ...], hits: Hits, gate: float) -> dict[str, float]:
        cosines = {int(n): float(score) for n, score in zip(hits.labels, hits.cosines, strict=True) if score >= gate}
        if not cosines:
            return {}
        found = rows.all(sql, (json.dumps(list(cosines)), *scope))
        return {str(i): cosines[n] for n, i in found}

    @staticmethod
    def _scope_params(candidate: StoreCandidate) -> tuple[object, ...]:
        # What was told for a session is looked at for its own sake; the person's word meets all of it.
        scope, everywhere = candidate.authority.scope_session, candidate.authority.owner_said
        who = candidate.stranger
        return (
            candidate.space_id,
            GLOBAL_SPACE,
            candidate.kind.value,
            scope,
            everywhere,
            candidate.memory_id,
            who,
            who,
            who,
        )

    def _search_vectors(
        self, rows: Rows, vector: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None
    ) -> Hits:
        def read_chunks(labels: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
            for low in range(0, labels.size, _CHUNK):
                found = rows.all(
                    _STORED, (self.space.name, self.space.dims, json.dumps(labels[low : low + _CHUNK].tolist()))
                )
                if found:
                    stored = from_blobs([row[1] for row in found], self.space.dims)
                    yield np.array([row[0] for row in found], np.int64), stored

        try:
            return self.index.search(vector, k, allowed, read_chunks)
        except LociError as error:
            if error.code is not Code.NO_INDEX:
                raise
        labels = np.array([row[0] for row in rows.all(_LABELS, (self.space.name,))], np.int64)
        wanted = labels if allowed is None else np.intersect1d(labels, allowed)
        return _search_exactly(read_chunks(wanted), vector, k)


def _keep_best_hits(hits: Hits, k: int) -> Hits:
    return Hits(hits.labels[:k], hits.cosines[:k])


def other_contributors_scope(candidate: StoreCandidate) -> tuple[object, ...]:
    """The values of `PERSONS_WORD` and of `CLIENTS_WORD`: where the words of other voices are looked for."""
    authority = candidate.authority
    scope = (candidate.space_id, GLOBAL_SPACE, authority.scope_session, authority.owner_said, candidate.memory_id)
    return (*scope, candidate.stranger, candidate.stranger)


def _search_exactly(
    chunks: Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]], vector: NDArray[np.float32], k: int
) -> Hits:
    labels, scores = np.empty(0, np.int64), np.empty(0, np.float32)
    for found, rows in chunks:
        labels = np.concatenate((labels, found))
        scores = np.concatenate((scores, rows @ vector))
    best = np.argsort(-scores, kind="stable")[:k]
    return Hits(labels[best], scores[best])


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
class ComparedVoice:
    """A memory of another voice, and how likely one of the two is at odds with the person's word."""

    neighbour: Neighbour
    odds: ContradictionOdds


def judge_other_contributors(
    rows: Rows,
    candidate: StoreCandidate,
    readers: TextReaders,
    neighbours: NeighbourSearch,
    known_neighbours: Iterable[Neighbour],
    others: int,
    nearest: Hits | None = None,
) -> dict[str, ComparedVoice]:
    """Compare a candidate with the words of other voices.

    Args:
        candidate: the candidate, with the claims of its text.
        known_neighbours: what was found near already.
        others: how many memories stand that could be near by chance.
        nearest: as `NeighbourSearch.find_nearest` gives it; None to search.

    Returns:
        By memory; none where the candidate is the person's by another door than the person's own.
    """
    authority = candidate.authority
    if authority.persons and not authority.owner_said:
        return {}
    text = "".join(candidate.texts)
    compared_text = ComparedText(text, authority.at_ms, candidate.claims)
    stated = read_contradiction_text(compared_text, readers.extract)
    found = _find_by_structure(rows, candidate, stated)
    for memory_id, cosine in neighbours.find_other_contributors(
        rows, candidate, readers.gate, _NEAREST if readers.most else 0, nearest
    ).items():
        found.setdefault(memory_id, cosine)
    near = {one.id: one for one in known_neighbours}
    looked_up = {memory_id: cosine for memory_id, cosine in found.items() if memory_id not in near}
    known = near | load_neighbours(rows, dict(list(looked_up.items())[:_COMPARED]))
    compared = [one for one in known.values() if _is_other_voice(one, candidate)]
    texts = [read_contradiction_text(one.compared_text, readers.extract) for one in compared]
    pairs = [(stated, text) if authority.persons else (text, stated) for text in texts]
    # Nothing on this path depends on a model.
    classify = None if readers.relate is None else readers.relate.classify
    # What is near by chance alone is no matter of the candidate's (`core.score.trust`).
    relevances = [relevance_probability(one.cosine, others) for one in compared]
    # Nor is the model asked where nothing would come of its answer.
    counted = [
        relevance if one.id in near or may_hold(candidate, one) else 0.0
        for one, relevance in zip(compared, relevances, strict=True)
    ]
    odds = weigh_contradictions(pairs, classify, _ASKED, counted)
    return {
        one.id: ComparedVoice(one, each if each.by_rule else replace(each, share=each.share * relevance))
        for one, each, relevance in zip(compared, odds, relevances, strict=True)
    }


def may_hold(candidate: StoreCandidate, other: Neighbour) -> bool:
    """Whether one of two may wait by meaning alone.

    A remark of the person's takes nobody's record away, and what they set out to say no document for one line of it.
    """
    if not candidate.authority.owner_said:
        return True
    is_from_client = candidate.authority.owners_word and other.authority.client_id is not None
    return is_from_client and covers_text(other.compared_text.text, candidate.compared_text.text)


def _is_other_voice(one: Neighbour, candidate: StoreCandidate) -> bool:
    """Whether it stands, and one of the two is the person's word; what waits already needs not wait for another."""
    is_active = not one.is_over and one.status != Status.QUARANTINED
    is_other = is_active and one.authority.persons is not candidate.authority.persons
    return is_other and not are_of_other_times(one.compared_text.claims, candidate.claims)


def _find_by_structure(rows: Rows, candidate: StoreCandidate, stated: ContradictionText) -> dict[str, float]:
    """Memories that make other claims, or speak of the same things of the user's, as near as can be."""
    claims = tuple(claim for sentence in stated.sentences for claim in sentence.claims)[:_CLAIMS]
    found = dict.fromkeys((one.memory_id for one in find_claim_conflicts(rows, replace(candidate, claims=claims))), 1.0)
    sql = _CLIENTS_NAMED if candidate.authority.persons else _PERSONS_NAMED
    scope = other_contributors_scope(candidate)
    for word in _named_things(stated.sentences):
        found |= dict.fromkeys((str(row[0]) for row in rows.all(sql, (f'"{word}"', *scope, _OF_ONE_THING))), 1.0)
    return found


def _named_things(sentences: Iterable[ContradictionSentence]) -> list[str]:
    """The first words of the things of the user's that are spoken of, and the last ones of those with a value."""
    words: Mapping[str, None] = dict.fromkeys(
        [
            *(one.stems[-1] for sentence in sentences for one in sentence.possessions if one.stems),
            *(thing[0] for sentence in sentences for thing in sentence.things),
        ]
    )
    return list(words)[:_THINGS]


VALUE_RETURNS = "value_returns"
OLD_VALUE = "old_value"
HELD_VALUE = "held_value"
"""Reasons of a relation: it says again what is over; it names the value of what is over, beside what stands now; it
names the value of what was held back."""

_VERSIONS = 8
_NO_END, _NO_END_ODDS = 0.03, -5.0
"""Our choice: below this share of SUPERSEDE, and these log odds that it ends, a newcomer is at odds with nothing."""


def past_versions(rows: Rows, memory_ids: Iterable[str]) -> list[str]:
    """Versions that are over in the chains of memories that stand, the newest first.

    Returns:
        At most eight ids.
    """
    found = rows.all(
        "SELECT DISTINCT o.id, o.version, o.n FROM json_each(?) w CROSS JOIN memories m ON m.id = w.value "
        "CROSS JOIN memories o ON o.chain_id = m.chain_id AND o.id <> m.id AND coalesce(o.part_index, 0) = 0 "
        "WHERE o.status = 'superseded' AND o.status_reason IN ('replaced', 'older') "
        "ORDER BY o.version DESC, o.n DESC LIMIT ?",
        (to_json(list(memory_ids)), _VERSIONS),
    )
    return [str(row[0]) for row in found]


def relation_to_past(
    candidate: StoreCandidate,
    over: Neighbour,
    current: Neighbour,
    relation: Relation | None,
    to_current: Relation | None = None,
) -> Relation | None:
    """How a candidate relates to what stands now, as a version that is over tells.

    Args:
        current: what stands in its place.
        relation: how the candidate relates to the version that is over; None where that was not asked.
        to_current: what the relation model says of the candidate and `current`; None where that was not asked.

    Returns:
        The relation to the head; None where the version tells nothing.
    """
    if relation is not None and relation.label is Label.DUPLICATE and may_act_on(relation):
        leaves_current = relation.by != "rules" and to_current is not None and _leaves_as_is(to_current)
        if leaves_current and may_displace(candidate.authority, current.authority):
            return None  # "Jules is my partner", beside "I live with Jules in Graz" that gave way to "We moved to Linz"
        return _relation_of_returning_value(candidate, over, current, relation)
    if may_displace(candidate.authority, current.authority):
        return None
    if has_outdated_value(over.compared_text, current.compared_text, candidate.compared_text):
        return _doubtful_relation(ACTED_ON - 0.01, OLD_VALUE, "rules" if relation is None else relation.by)
    return None if relation is None else _doubt_existing(relation)


def relation_of_repeat(candidate: StoreCandidate, twin: Neighbour) -> Relation:
    """How a candidate relates to a memory of the same words of which something is over by now.

    Args:
        twin: the memory; it stands.

    Returns:
        SUPERSEDE where the candidate may take its place, so that what is over holds again; else DUPLICATE.
    """
    returns = resolve_contradiction(candidate.authority, twin.authority).decision is GateDecision.SUPERSEDE
    return certain_relation(Label.SUPERSEDE, VALUE_RETURNS) if returns else certain_relation(Label.DUPLICATE, IDENTICAL)


def relations_to_doubted(
    rows: Rows, candidate: StoreCandidate, neighbours: Iterable[Neighbour], relations: Mapping[str, Relation]
) -> dict[str, Relation]:
    """How a candidate relates to what may have taken the place of something: until a person has said so, both stand.

    Whoever repeats the earlier of the two, and may replace neither, waits for the same answer; so does who repeats what
    was held back beside it.

    Args:
        neighbours: what was looked at.
        relations: how it relates to each, by memory id.

    Returns:
        The relations, changed where the candidate speaks for the earlier one.
    """
    known, found = {other.id: other for other in neighbours}, dict(relations)
    for one, two in rows.all(_DOUBTS, (to_json(list(known)), to_json(list(known)))):
        earlier, later = sorted((known[one], known[two]), key=lambda side: (side.authority.at_ms, side.id))
        relation = relations.get(earlier.id)
        if relation is None or may_displace(candidate.authority, later.authority):
            continue
        doubt = _doubt_existing(relation)
        if doubt is None and has_outdated_value(earlier.compared_text, later.compared_text, candidate.compared_text):
            doubt = _doubtful_relation(ACTED_ON - 0.01, OLD_VALUE, relation.by)
        if doubt is not None:
            found[later.id] = doubt
    for is_active, held_ids in rows.all(_HELD, (to_json(list(known)), to_json(list(known)))):
        relation = relations.get(is_active)
        is_open = relation is None or relation.label is Label.COEXIST
        if not is_open or may_displace(candidate.authority, known[is_active].authority):
            continue
        if has_outdated_value(known[held_ids].compared_text, known[is_active].compared_text, candidate.compared_text):
            found[is_active] = _doubtful_relation(
                ACTED_ON - 0.01, HELD_VALUE, "rules" if relation is None else relation.by
            )
    return found


_DOUBTS = (
    "SELECT k.existing_id, k.incoming_id FROM conflicts k "  # noqa: S608 - a constant of core.belief.review.items
    "WHERE k.existing_id IN (SELECT value FROM json_each(?)) AND k.incoming_id IN (SELECT value FROM json_each(?)) "
    f"AND {MAY_REPLACE} ORDER BY k.id"
)


_HELD = (
    "SELECT k.existing_id, k.incoming_id FROM conflicts k JOIN memories m ON m.id = k.incoming_id "
    "AND +m.status = 'quarantined' WHERE k.existing_id IN (SELECT value FROM json_each(?)) "
    "AND k.incoming_id IN (SELECT value FROM json_each(?)) AND +k.state = 'open' "
    "AND k.kind IN ('classification', 'contradiction') ORDER BY k.id"
)


def _relation_of_returning_value(
    candidate: StoreCandidate, over: Neighbour, current: Neighbour, relation: Relation
) -> Relation:
    """A candidate that repeats what is over replaces what stands now (design section 4: a value that returns)."""
    if over.was == "merged":
        return relation  # its words live on in the united text
    if candidate.authority.at_ms <= over.authority.at_ms and not may_displace(candidate.authority, current.authority):
        return relation
    doubt = dict.fromkeys(LABELS, (1.0 - relation.confidence) / 3)
    shares = doubt | {Label.SUPERSEDE: relation.confidence}
    return replace(relation, label=Label.SUPERSEDE, probabilities=shares, reason=VALUE_RETURNS)


def _leaves_as_is(relation: Relation) -> bool:
    """Whether the relation model is sure that a newcomer leaves what stands as it is."""
    share = relation.probabilities.get(Label.SUPERSEDE, 0.0)
    return (
        relation.label is Label.COEXIST
        and share < _NO_END
        and relation.ends is not None
        and relation.ends < _NO_END_ODDS
    )


def _doubt_existing(relation: Relation) -> Relation | None:
    """Somebody who may not replace what stands speaks of the very matter that is over: a doubt about what stands."""
    likeness = 1.0 - relation.probabilities.get(Label.COEXIST, 0.0)
    return None if likeness <= 0.5 else _doubtful_relation(min(likeness, ACTED_ON - 0.01), VALUE_RETURNS, relation.by)


def _doubtful_relation(share: float, reason: str, by: str) -> Relation:
    shares = dict.fromkeys(LABELS, 0.0) | {Label.SUPERSEDE: share, Label.COEXIST: 1.0 - share}
    return Relation(Label.SUPERSEDE, share, shares, by, reason)
