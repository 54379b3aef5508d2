"""Digests: which memories go into one, the sentences that say all that they say, and writing it over its sources.

Nothing goes in that a person said, pinned or is asked about, that is important or speaks of the future, that was used
lately, or that a later value may replace. Every sentence stands word for word in one of the sources, which go beneath
the digest: `consolidated`, reachable, and back with an undo. What it rests on are derivations, not evidence, so that
nothing confirms itself. Where statements were made of an episode they are what a digest says, and the episode goes
beneath it with them. Must not do: take a sentence that no member says, gather what is imported word for word, or leave
a source without its text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.normal_form import statement_key
from core.belief.relate.coverage import has_no_residue, says_most_of
from core.belief.trust_gate import may_act_on
from core.errors import BugError
from core.intake.candidate import Neighbour, load_neighbours
from core.intake.claims import sync_claims
from core.intake.transaction.sources import Lineage, add_source, refresh_trust
from core.intake.transitions.transitions import DIGESTED, Transitions
from core.lifecycle.consolidate.near_groups import combined_confidence, connected_components, group_by_centre
from core.lifecycle.consolidate.pairs import NearPairs, Node, read_vectors, relate_pairs, yield_to_searches
from core.lifecycle.job_support.job_context import JobContext
from core.lifecycle.sweep import find_protections
from core.memory.write import Draft, insert_memories, write_vectors
from core.text.sentences import SourceSentence, compose_digest, informative_sentences, normalize_sentence
from core.types.belief import ClaimDraft, Label
from core.types.values import Kind, Precision, Role, Source, Status, When
from core.vault.database.rows import Rows, to_json

MOST_DIGESTS = 200
"""So many a run. Seed A's cap of five was for a search over all pairs; here a batch can end after each digest."""
MOST_SAYING = 12
"""Members of one digest that each say something of their own; a larger group is made into several."""
MOST_BYTES = 4096
"""A digest stays short enough to be read as one text."""
SURE_FROM = 0.8
"""Combined confidence that a group must exceed (E4.2.2, C5)."""
_LOOKED_AT = 0.6
"""Sentences of one group are rarely further apart where they say the same; below it nobody is asked."""
_AT_ONCE = 8
_DAY_MS = 86_400_000
_GATHERED = (Kind.FACT.value, Kind.EPISODE.value)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What becomes one digest.

    Attributes:
        members: its sources, by the time they were said.
        spans: the sentences of the digest, in its order.
        nearness: the mean cosine of the members to their centre.
    """

    members: tuple[Node, ...]
    spans: tuple[SourceSentence, ...]
    nearness: float


@dataclass(frozen=True, slots=True)
class _Statement:
    span: SourceSentence
    side: Neighbour
    claims: tuple[ClaimDraft, ...]
    vector: NDArray[np.float32]


def find_clusters(
    context: JobContext, near_pairs: NearPairs, line: float, left_out: frozenset[str], masses: Mapping[str, int]
) -> list[Cluster]:
    """Gather what belongs together.

    Args:
        near_pairs: the pairs that lie near.
        line: the least cosine of a member to the centre of its group.
        left_out: ids that another action takes away, or that a person took out of a union.
        masses: how many duplicates are put beneath a memory: they count as members of its group.

    Returns:
        At most `MOST_DIGESTS`, the largest first.
    """
    nodes = _eligible_nodes(context, near_pairs, left_out)
    among = np.isin(near_pairs.pairs, np.fromiter(nodes, np.int64, len(nodes))).all(axis=1) & (
        near_pairs.cosines >= line
    )
    own = _Gathering(context, nodes, masses, line)
    groups: list[list[Node]] = []
    for part, likeness in connected_components(near_pairs.pairs[among], near_pairs.cosines[among]):
        if context.is_stopped():
            break
        groups += _group_island(own, part, likeness)
    found: list[Cluster] = []
    for group in sorted(groups, key=lambda one: (-len(one), one[0].n)):
        if len(found) >= MOST_DIGESTS or context.is_stopped():
            break
        vectors = read_vectors(context, [member.n for member in group])
        if len(vectors) == len(group):
            found += _digests_of(own, group, vectors)
    return found[:MOST_DIGESTS]


def _eligible_nodes(context: JobContext, near_pairs: NearPairs, left_out: frozenset[str]) -> dict[int, Node]:
    before = context.now_ms - context.options.compress_days * _DAY_MS
    found = {
        n: node
        for n, node in near_pairs.nodes.items()
        if node.kind in _GATHERED and not (node.kind == "episode" and (node.imported or node.client_id is None))
        and max(node.recorded_at, node.used_at) <= before and not node.persons and node.is_open
        and node.id not in left_out and node.id not in near_pairs.in_review
    }  # fmt: skip
    ids = [node.id for node in found.values()]
    kept = context.read(
        lambda rows: {*find_protections(rows, ids, context.now_ms), *_holders_of_exclusive_claims(rows, ids)}
    )
    return {n: node for n, node in found.items() if node.id not in kept}


def _holders_of_exclusive_claims(rows: Rows, ids: Sequence[str]) -> set[str]:
    """What holds a claim of which only one value can be true: it stays where a later value meets it at the gate."""
    found = rows.all(
        "SELECT DISTINCT e.memory_id FROM json_each(?) w JOIN evidence e ON e.memory_id = w.value "
        "JOIN claims c ON c.id = e.claim_id AND c.exclusive = 1 AND c.state IN ('draft', 'asserted', 'disputed')",
        (json.dumps(list(ids)),),
    )
    return {str(row[0]) for row in found}


@dataclass(frozen=True, slots=True)
class _Gathering:
    ground: JobContext
    nodes: dict[int, Node]
    masses: Mapping[str, int]
    line: float

    def is_worth(self, members: Sequence[Node]) -> bool:
        """Whether a group is large and sure enough (E4.2.2, C5)."""
        size = sum(1 + self.masses.get(member.id, 0) for member in members)
        sure = combined_confidence(
            [member.confidence for member in members for _ in range(1 + self.masses.get(member.id, 0))]
        )
        return len(members) > 1 and size >= self.ground.options.cluster_least and sure > SURE_FROM


def _group_island(own: _Gathering, pairs: NDArray[np.int64], cosines: NDArray[np.float32]) -> Iterator[list[Node]]:
    labels = np.unique(pairs)
    vectors = read_vectors(own.ground, labels.tolist())
    if len(vectors) < len(labels):
        return  # one of them was given up since; the next run looks again
    matrix = np.stack([vectors[int(label)] for label in labels])
    for group in group_by_centre(matrix, np.searchsorted(labels, pairs), cosines, own.line):
        members = [own.nodes[int(labels[place])] for place in group]
        if own.is_worth(members):
            yield members


def _digests_of(own: _Gathering, members: Sequence[Node], vectors: dict[int, NDArray[np.float32]]) -> Iterator[Cluster]:
    """One digest of a group, or several where it says too much for one."""
    context = own.ground
    sides: dict[str, Neighbour] = context.read(lambda rows: load_neighbours(rows, {one.id: 1.0 for one in members}))
    made_of = context.read(lambda rows: _standing_statements(rows, [one.id for one in members]))
    saying = [one for one in members if one.id in sides and one.id not in made_of]
    statements = _split_into_statements(context, saying, sides, vectors)
    same = _SentenceMatcher(context)
    left = sorted((one for one in members if statements.get(one.id)), key=lambda one: (one.rank, one.n))
    while own.is_worth(left):
        taken, picked = _fill_digest(left, statements, same)
        if not own.is_worth(taken):
            return
        ids = {one.id for one in taken}
        left = [one for one in left if one.id not in ids]
        # What all of its statements say for it need not stand beside them.
        taken += [one for one in members if one.id in made_of and made_of[one.id] <= ids]
        taken = sorted(taken, key=lambda one: (one.said_at, one.n))
        at = {one.id: place for place, one in enumerate(taken)}
        spans = sorted((one.span for one in picked), key=lambda span: (at[span.source], span.start))
        centre = np.sum([vectors[one.n] for one in taken], axis=0)
        centre /= np.linalg.norm(centre)
        nearness = float(np.mean([vectors[one.n] @ centre for one in taken]))
        yield Cluster(tuple(taken), tuple(spans), min(1.0, max(0.0, nearness)))


_STATEMENTS_OF = (
    "SELECT s.episode_id, m.id FROM json_each(?) w JOIN statements s ON s.episode_id = w.value "
    "JOIN memories m ON m.id = s.memory_id AND +m.status = 'active' ORDER BY 1, 2"
)


def _standing_statements(rows: Rows, ids: Sequence[str]) -> dict[str, frozenset[str]]:
    """Of each episode of which statements stand the ids of those."""
    found: dict[str, set[str]] = {}
    for episode, statement in rows.all(_STATEMENTS_OF, (json.dumps(list(ids)),)):
        found.setdefault(str(episode), set()).add(str(statement))
    return {episode: frozenset(made) for episode, made in found.items()}


def _fill_digest(
    members: Sequence[Node], statements: dict[str, list[_Statement]], same: _SentenceMatcher
) -> tuple[list[Node], list[_Statement]]:
    """Members in the order of their trust, as many as one digest holds, with the sentences that are new."""
    taken: list[Node] = []
    picked: list[_Statement] = []
    saying = 0
    for member in members:
        new: list[_Statement] = []
        for one in statements[member.id]:
            if not same.is_stated_in(one, [*picked, *new]):
                new.append(one)
                if saying >= MOST_SAYING:
                    break  # it has no room here, whatever else it says
        text, _ = compose_digest([one.span for one in [*picked, *new]])
        if new and (saying >= MOST_SAYING or len(text.encode("utf-8")) > MOST_BYTES):
            continue
        saying += bool(new)
        taken.append(member)
        picked += new
    return taken, picked


def _split_into_statements(
    context: JobContext, members: Sequence[Node], sides: dict[str, Neighbour], vectors: dict[int, NDArray[np.float32]]
) -> dict[str, list[_Statement]]:
    spans = {one.id: informative_sentences(one.id, sides[one.id].text) for one in members}
    # A text of one sentence has its vector already.
    texts = sorted({span.text for one in members if len(spans[one.id]) > 1 for span in spans[one.id]})
    embedded = dict(_embed_texts(context, texts))
    found: dict[str, list[_Statement]] = {}
    for one in members:
        side = sides[one.id]
        for span in spans[one.id]:
            claims = tuple(claim for claim in side.claims if span.start <= claim.start and claim.end <= span.end)
            vector = embedded[span.text] if len(spans[one.id]) > 1 else vectors[one.n]
            found.setdefault(one.id, []).append(_Statement(span, side, claims, vector))
    return found


def _embed_texts(context: JobContext, texts: Sequence[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    for at in range(0, len(texts), _AT_ONCE):
        yield_to_searches(context)
        some = texts[at : at + _AT_ONCE]
        yield from zip(some, context.embed(some), strict=True)


class _SentenceMatcher:
    """Tells whether a sentence says what is said already; asks about a pair once."""

    def __init__(self, context: JobContext) -> None:
        self._context = context
        self._known: dict[tuple[str, str], bool] = {}

    def is_stated_in(self, one: _Statement, others: Sequence[_Statement]) -> bool:
        """Whether one of several sentences says the same."""
        if any(_is_plainly_same(one, other) for other in others):
            return True
        alike = [(float(one.vector @ other.vector), other) for other in others]
        alike = sorted((pair for pair in alike if pair[0] >= _LOOKED_AT), key=lambda pair: -pair[0])
        # The likeliest first: mostly one answer is enough.
        return any(self._is_one(other, one) for _, other in alike)

    def _is_one(self, other: _Statement, one: _Statement) -> bool:
        key = other.span.text, one.span.text
        if key not in self._known:
            relation = relate_pairs(self._context, [(_as_neighbour(other), _as_neighbour(one))])[0]
            is_repeat = relation is not None and relation.label is Label.DUPLICATE and may_act_on(relation)
            self._known[key] = is_repeat and says_most_of(other.span.text, one.span.text)
        return self._known[key]


def _is_plainly_same(one: _Statement, other: _Statement) -> bool:
    return normalize_sentence(one.span.text) == normalize_sentence(other.span.text) or _has_only_claims_of(one, other)


def _has_only_claims_of(one: _Statement, other: _Statement) -> bool:
    """Whether all that a sentence says are claims that the other is read to say too."""
    own, others = ({_claim_key(claim) for claim in sentence.claims} for sentence in (one, other))
    return bool(own) and own <= others and has_no_residue(one.span.text, _own_claims(one))


def _claim_key(claim: ClaimDraft) -> tuple[str, ...]:
    return *statement_key(claim), json.dumps(dict(claim.qualifiers), sort_keys=True)


def _own_claims(one: _Statement) -> tuple[ClaimDraft, ...]:
    """The claims of a sentence, with their spans counted from where it begins."""
    begin = one.span.start
    return tuple(replace(claim, start=claim.start - begin, end=claim.end - begin) for claim in one.claims)


def _as_neighbour(one: _Statement) -> Neighbour:
    """A sentence as a memory of its own."""
    return replace(one.side, text=one.span.text, claims=_own_claims(one))


_GENERAL = "general"
_MOST_TAGS = 32


@dataclass(frozen=True, slots=True)
class DigestSentence:
    """A sentence of a digest, by its place in a source: what a plan keeps of it.

    Attributes:
        source: the memory's id.
        start: where it begins there, code points; `end` is exclusive.
    """

    source: str
    start: int
    end: int


def write_digest(
    transitions: Transitions,
    sources: Sequence[str],
    sentences: Sequence[DigestSentence],
    vector: NDArray[np.float32] | None,
) -> str:
    """Write a digest and put its sources beneath it.

    Args:
        sources: ids of its sources, by the time they were said; they stand.
        vector: of its text, (dims,); None where the embedder is away: it is embedded later.

    Returns:
        The digest's id.
    """
    tx = transitions.tx
    rows = [row for one in sources if (row := tx.row("memories", {"id": one})) is not None]
    if len(rows) < len(sources) or not sentences:
        raise BugError("a digest of what is not there")
    spans = _source_sentences({row["id"]: row["text"] for row in rows}, sentences)
    draft = _make_draft(transitions, rows, spans)
    labels = insert_memories(tx, [draft])
    if vector is not None:
        vectors = np.asarray(vector, np.float32).reshape(1, -1)
        write_vectors(tx, labels, vectors, transitions.space)
        seq = tx.seq
        tx.after_commit(lambda: transitions.stored(seq, labels, vectors))
    add_source(tx, draft.id, Lineage(draft.lineage), Source.INFERENCE)
    for row in rows:
        made = {"derived_id": draft.id, "source_id": row["id"], "space_id": draft.space_id, "recorded_at": tx.now_ms}
        tx.insert("derivations", made)
        changes = {"status": Status.CONSOLIDATED.value, "status_reason": DIGESTED, "consolidated_into": draft.id}
        tx.update("memories", {"id": row["id"]}, changes)
        transitions.touched.append(str(row["id"]))
        transitions.log_consolidation("DIGEST", draft.id, str(row["id"]))
    sync_claims(tx, transitions.make_id, list(sources))
    refresh_trust(tx, draft.id)
    return draft.id


def _source_sentences(texts: Mapping[str, str], sentences: Sequence[DigestSentence]) -> list[SourceSentence]:
    return [SourceSentence(one.source, one.start, one.end, texts[one.source][one.start : one.end]) for one in sentences]


def _make_draft(transitions: Transitions, rows: Sequence[dict[str, Any]], spans: Sequence[SourceSentence]) -> Draft:
    tx, first = transitions.tx, rows[0]
    digest_id = transitions.make_id()
    text, places = compose_digest(spans)
    tags = dict.fromkeys(tag for row in rows for tag in json.loads(row["tags"]))
    categories = {row["category"] for row in rows}
    span_rows = [
        {"source": span.source, "start": span.start, "end": span.end, "at": at}
        for span, at in zip(spans, places, strict=True)
    ]
    return Draft(
        id=digest_id,
        text=text,
        kind=Kind.DIGEST,
        status=Status.ACTIVE,
        space_id=first["space_id"],
        source=Source.INFERENCE,
        role=Role.OTHER,
        lineage=f"digest:{digest_id}",
        recorded_at=tx.now_ms,
        trust=min(float(row["trust"]) for row in rows),
        # Gathering confirms nothing: it is as fresh as what was confirmed last.
        last_confirmed_at=max(int(row["last_confirmed_at"]) for row in rows),
        category=categories.pop() if len(categories) == 1 else _GENERAL,
        importance=max(float(row["importance"]) for row in rows),
        tags=tuple(tags)[:_MOST_TAGS],
        scope_session=first["scope_session"],
        origin={"by": "consolidation"},
        extra={"spans": span_rows},
        occurred=_earliest_time(rows),
        read_at=tx.now_ms,
        valid_from=_validity_bound(rows, "valid_from", min),
        valid_to=_validity_bound(rows, "valid_to", max),
    )


def _earliest_time(rows: Sequence[dict[str, Any]]) -> When | None:
    dated = [row for row in rows if row["occurred_at"] is not None]
    if not dated:
        return None
    row = min(dated, key=lambda one: one["occurred_at"])
    return When(int(row["occurred_at"]), Precision(row["occurred_prec"] or "ms"), row["occurred_offset"])


def _validity_bound(rows: Sequence[dict[str, Any]], name: str, of: Callable[[list[int]], int]) -> When | None:
    """From when on the first of them holds, or until when the last does; open where any is."""
    if any(row[name] is None for row in rows):
        return None
    at = of([int(row[name]) for row in rows])
    precision = next(row[f"{name}_prec"] for row in rows if row[name] == at)
    return When(at, Precision(precision or "ms"))


def sentences_to_json(spans: Sequence[SourceSentence]) -> list[list[Any]]:
    """Sentences as a plan keeps them: ids and numbers, no text."""
    return [[one.source, one.start, one.end] for one in spans]


def sentences_from_json(rows: Sequence[Sequence[Any]]) -> list[DigestSentence]:
    """Sentences from a plan."""
    return [DigestSentence(str(source), int(start), int(end)) for source, start, end in rows]


def digest_text(rows: Rows, sentences: Sequence[DigestSentence]) -> str:
    """What a digest of these sentences says.

    Args:
        sentences: in the order of the digest; their sources are there.
    """
    ids = to_json(sorted({one.source for one in sentences}))
    texts = dict(rows.all("SELECT id, text FROM memories WHERE id IN (SELECT value FROM json_each(?))", (ids,)))
    return compose_digest(_source_sentences(texts, [one for one in sentences if one.source in texts]))[0]
