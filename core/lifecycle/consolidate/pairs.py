"""Which memories lie near one another, and how the relation model classifies each pair: the input of a consolidation.

Vectors are read a few hundred at a time and asked of the index; of a pair only two labels and a number are kept. What
the model said is cached while the vault is open, as digests of the question and the numbers of the answer, since a
preview, the run behind it and the next night ask about the same pairs. Must not do: compare every pair, hold a matrix
of all vectors or a text longer than it is looked at, change a cached answer, or write.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from math import isnan
from sys import intern
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import OWNERS_WORD, PERSONS
from core.belief.relate.relation_model import RelationModel, relate_by_rule
from core.embed.embedder import from_blobs
from core.errors import LociError
from core.intake.candidate import Neighbour, load_neighbours
from core.intake.claims import Relate
from core.intake.transitions.review_items import KEPT, ItemSubject, known_matter
from core.lifecycle.job_support import job_store
from core.lifecycle.job_support.job_context import JobContext
from core.memory.read import time_of_memory_sql
from core.score.trust import discount_chance, relevance_probability
from core.types.belief import ACTED_ON, LABELS, ComparedText, Label, Relation
from core.vault.database.rows import Rows

MOST = 150_000
"""So many answers are kept; beyond it all are forgotten and asked anew. Some 15 MB."""
AT_ONCE = 4
"""So many pairs are read before somebody who waits is looked for: some 20 ms."""
_LEAST = 1024
_EMPTY = 0

_known: dict[int, RelationCache] = {}
_lock = threading.Lock()  # guards the outer mapping: two vaults may be open in one process


class RelationCache:
    """Relations by digest: open addressing, so that an answer takes no objects."""

    def __init__(self) -> None:
        """None yet."""
        self._lock = threading.Lock()  # a preview and a run may ask at once
        self._kinds: list[tuple[Label, str, str]] = []
        self._clear_slots(_LEAST)

    def __len__(self) -> int:
        """How many are kept."""
        return self._count

    def _clear_slots(self, slots: int) -> None:
        self._count = 0
        self._keys = np.zeros((slots, 2), np.uint64)
        self._numbers = np.zeros((slots, 1 + len(LABELS)), np.float64)
        self._kind = np.zeros(slots, np.uint16)

    def find_relation(self, key: bytes) -> Relation | None:
        """The kept relation of two texts, with the very numbers it was stored with."""
        with self._lock:
            place, is_there = self._find_slot(key)
            if not is_there:
                return None
            label, by, reason = self._kinds[int(self._kind[place]) - 1]
            confidence, *shares = self._numbers[place].tolist()
        given = {each: share for each, share in zip(LABELS, shares, strict=True) if not isnan(share)}
        return Relation(label, confidence, given, by, reason)

    def keep_relation(self, key: bytes, relation: Relation) -> None:
        """Keep an answer; where there are too many, all others are forgotten first."""
        with self._lock:
            if self._count >= MOST:
                self._clear_slots(_LEAST)
            elif 3 * (self._count + 1) > 2 * len(self._kind):
                self._grow_table()
            place, is_there = self._find_slot(key)
            kind = (relation.label, relation.by, relation.reason)
            if kind not in self._kinds:
                self._kinds.append(kind)
            self._keys[place] = np.frombuffer(key, np.uint64)
            self._numbers[place] = [relation.confidence, *(relation.probabilities.get(each, np.nan) for each in LABELS)]
            self._kind[place] = self._kinds.index(kind) + 1
            self._count += not is_there

    def _find_slot(self, key: bytes) -> tuple[int, bool]:
        """Where an answer is, or would be."""
        wanted = np.frombuffer(key, np.uint64)
        mask = len(self._kind) - 1
        place = int(wanted[0]) & mask
        while self._kind[place] != _EMPTY:
            if (self._keys[place] == wanted).all():
                return place, True
            place = (place + 1) & mask
        return place, False

    def _grow_table(self) -> None:
        used = np.flatnonzero(self._kind)
        keys, numbers, kind = self._keys[used], self._numbers[used], self._kind[used]
        self._clear_slots(2 * len(self._kind))
        for nr, key in enumerate(keys):
            place, _ = self._find_slot(key.tobytes())
            self._keys[place], self._numbers[place], self._kind[place] = key, numbers[nr], kind[nr]
        self._count = len(used)


def cached_relations(
    reader: Relate, pairs: Sequence[tuple[ComparedText, ComparedText]], give_way: Callable[[], None] = lambda: None
) -> list[Relation]:
    """Ask a model, but for what it answered before; on one thread, so that the other core is left to people.

    Args:
        pairs: (said first, said later).
        give_way: called before every few pairs that are read anew.

    Returns:
        One relation for each.

    Raises:
        LociError: what the model said; what was read before is kept.
    """
    answers = _relation_answers_of(reader)
    keys = [_pair_key(first, second) for first, second in pairs]
    found = [answers.find_relation(key) for key in keys]
    asked = reader.alone if isinstance(reader, RelationModel) else reader
    new = [place for place, relation in enumerate(found) if relation is None]
    for at in range(0, len(new), AT_ONCE):
        places = new[at : at + AT_ONCE]
        give_way()
        for place, relation in zip(places, asked.classify([pairs[place] for place in places]), strict=True):
            found[place] = relation
            answers.keep_relation(keys[place], relation)
    return [relation for relation in found if relation is not None]


def _relation_answers_of(reader: Relate) -> RelationCache:
    name = id(reader)
    with _lock:
        if name not in _known:
            _known[name] = RelationCache()
            finalize(reader, _known.pop, name, None)  # before another object can have the same id
        return _known[name]


def _pair_key(first: ComparedText, second: ComparedText) -> bytes:
    return blake2b(repr((first, second)).encode("utf-8", "surrogatepass"), digest_size=16).digest()


NEIGHBOURS = 12
"""So many are asked of the index for each memory, itself among them."""
MOST_PAIRS = 50_000
"""So many pairs are read in one run (`select_pairs`)."""
_CHUNK, _ROWS_AT_ONCE = 256, 1000
_STRANGERS = 20_000
_HALF, _LOW = 32, 0xFFFFFFFF
_DAY_MS = 86_400_000
_UNIONS = ("DUPLICATE", "MERGE", "DIGEST")
_LIVE_EPISODE = "m.kind = 'episode' AND m.client_id IS NOT NULL AND m.import_id IS NULL"
_ALIKE = f"m.kind IN ('fact', 'rule', 'procedure') OR ({_LIVE_EPISODE})"
_VECTORS = (
    "SELECT m.n, e.vector FROM memories m JOIN embeddings e ON e.owner = 'memory' AND e.vector_space = :space "  # noqa: S608 - constants
    "AND e.dims = :dims AND e.n = m.n WHERE e.n > :after AND +m.status = 'active' AND m.part_of IS NULL "
    f"AND ({_ALIKE}) ORDER BY e.n LIMIT :most"
)
_NODES = (
    "SELECT m.n, m.id, m.kind, m.space_id, m.scope_session, m.scope_channel, m.trust, m.pinned, m.recorded_at, "  # noqa: S608 - constants
    "coalesce(m.last_accessed_at, 0), m.client_id, m.import_id IS NOT NULL, m.security_tier, "
    f"{OWNERS_WORD}, {PERSONS}, lower(hex(substr(m.content_hash, 1, 8))), m.confidence, "
    f"{time_of_memory_sql('m')} "
    # Each label is looked up; without the plus SQLite walks through all that stands for each of them.
    "FROM json_each(:labels) w CROSS JOIN memories m ON m.n = w.value WHERE +m.status = 'active' AND m.part_of IS NULL "
    "AND m.kind <> 'digest' AND NOT EXISTS (SELECT 1 FROM memories p WHERE p.part_of = m.id)"
)


@dataclass(frozen=True, slots=True)
class Node:
    """A memory that stands, without its text.

    Attributes:
        n: its label; `id` its id.
        place: space, session and channel: what is compared stays within one.
        persons: it is the person's own, or passes for it; `owners_word` the owner said it in so many words.
        used_at: when it was last recalled, epoch ms; 0 for never.
        client_id: who brought it; `imported` whether from a file.
        is_open: its text needs no second key; what does is left alone.
        mark: the first 16 hex digits of the hash of its text.
        said_at: when it was said or happened, epoch ms.
    """

    n: int
    id: str
    kind: str
    place: tuple[str, str, str]
    trust: float
    pinned: bool
    recorded_at: int
    used_at: int
    client_id: str | None
    imported: bool
    is_open: bool
    owners_word: bool
    persons: bool
    mark: str
    confidence: float
    said_at: int

    @property
    def rank(self) -> tuple[object, ...]:
        """Who is kept of two that say the same, least first: the person's, the more trusted, the older."""
        return (not self.pinned, not self.persons, -round(self.trust, 9), not self.owners_word, self.said_at, self.n)


Pair = tuple[Node, Node, float]
"""Two memories and their cosine."""


@dataclass
class NearPairs:
    """Memories and the pairs of them that lie near, by label.

    Attributes:
        nodes: label to memory.
        pairs: (m, 2) labels, the lesser first.
        cosines: (m,), falling.
        in_review: ids of memories that a person is asked about.
    """

    nodes: dict[int, Node]
    pairs: NDArray[np.int64]
    cosines: NDArray[np.float32]
    in_review: frozenset[str] = frozenset()

    def pair_at(self, place: int) -> Pair:
        """One of the pairs."""
        a, b = self.pairs[place].tolist()
        return self.nodes[a], self.nodes[b], float(self.cosines[place])

    def pairs_above(self, line: float) -> Iterator[Pair]:
        """Pairs at least as near as a line, the nearest first."""
        last = int(np.searchsorted(-self.cosines, -np.float32(line), "right"))
        for at in range(0, last, _ROWS_AT_ONCE):
            part = slice(at, min(last, at + _ROWS_AT_ONCE))
            for (a, b), cosine in zip(self.pairs[part].tolist(), self.cosines[part].tolist(), strict=True):
                yield self.nodes[a], self.nodes[b], cosine


@dataclass(frozen=True, slots=True)
class ReadPair:
    """A pair of near memories with how their texts relate.

    Attributes:
        first: said first; `second` later.
        relation: how the second relates to the first, as the store path would weigh it.
    """

    first: Node
    second: Node
    cosine: float
    relation: Relation
    sides: tuple[Neighbour, Neighbour]


@dataclass(frozen=True)
class PairDecisions:
    """What people decided about pairs of near memories, so that no run asks or does it again.

    Attributes:
        kept: pairs of ids that both stand by decision.
        undone: pairs of ids that a run united, or of which it let one end, and that were taken back.
        loose: ids of memories whose union was taken back: they are left alone.
    """

    kept: frozenset[frozenset[str]]
    undone: frozenset[frozenset[str]]
    loose: frozenset[str] = field(default_factory=frozenset)

    def is_settled(self, a: str, b: str) -> bool:
        """Whether a person said that two memories both stand, or took a union of one of them back."""
        pair = frozenset((a, b))
        return bool(self.loose & pair) or pair in self.kept or pair in self.undone


def find_near_pairs(context: JobContext, line: float) -> NearPairs:
    """Ask the index for the neighbours of all that can be consolidated.

    Args:
        context: what the job stands on; its index is whole.
        line: the least cosine that anything is done from.

    Returns:
        Pairs of one place, both standing and whole (no parts of split texts, no digests), nearest first.
    """
    found = [part for part in _query_batches(context, line) if len(part[0])]
    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    keys, cosines = (np.concatenate(column) for column in zip(nothing, *found, strict=True))
    found.clear()
    keys, first = np.unique(keys, return_index=True)
    cosines, pairs = cosines[first], np.stack((keys >> _HALF, keys & _LOW), axis=1)
    nodes: dict[int, Node] = {}
    labels = np.unique(pairs).tolist()
    for at in range(0, len(labels), _ROWS_AT_ONCE):
        nodes |= context.read(partial(read_nodes, labels=labels[at : at + _ROWS_AT_ONCE]))
    keep = np.fromiter((_may_be_paired(nodes.get(a), nodes.get(b)) for a, b in _iterate_pairs(pairs)), bool, len(pairs))
    pairs, cosines = pairs[keep], cosines[keep]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -cosines))
    used = np.unique(pairs).tolist()
    review = context.read(_memories_in_review)
    return NearPairs({n: nodes[n] for n in used}, pairs[order], cosines[order], review)


def _iterate_pairs(pairs: NDArray[np.int64]) -> Iterator[list[int]]:
    for at in range(0, len(pairs), _ROWS_AT_ONCE):
        yield from pairs[at : at + _ROWS_AT_ONCE].tolist()


def _may_be_paired(a: Node | None, b: Node | None) -> bool:
    return a is not None and b is not None and a.place == b.place and a.is_open and b.is_open


def _query_batches(context: JobContext, line: float) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Pairs, both labels in one number, the lesser in its upper half; most come twice."""
    find_neighbours = context.neighbours
    after = 0
    while find_neighbours is not None and not context.is_stopped():
        page = _read_pair_page(context, after)
        if not page:
            return
        labels = np.array([row[0] for row in page], np.int64)
        after = int(labels[-1])
        others, cosines = find_neighbours(from_blobs([row[1] for row in page], context.space.dims), NEIGHBOURS)
        own = np.repeat(labels[:, None], others.shape[1], axis=1)
        wanted = (others >= 0) & (others != own) & (cosines >= line)
        ends = np.stack((own[wanted], others[wanted].astype(np.int64)), axis=1)
        ends.sort(axis=1)
        yield ends[:, 0] << _HALF | ends[:, 1], cosines[wanted].astype(np.float32)


def _read_pair_page(context: JobContext, after: int) -> list[tuple[int, bytes]]:
    wanted = {"space": context.space.name, "dims": context.space.dims, "after": after, "most": _CHUNK}
    page: list[tuple[int, bytes]] = context.read(lambda rows: rows.all(_VECTORS, wanted))
    return page


def read_nodes(rows: Rows, labels: Sequence[int]) -> dict[int, Node]:
    """Memories that stand, by label.

    Args:
        labels: which; those that do not stand, are parts or have parts, or are digests are left out.
    """
    found: dict[int, Node] = {}
    places: dict[tuple[str, str, str], tuple[str, str, str]] = {}
    for at in range(0, len(labels), _ROWS_AT_ONCE):
        for row in rows.all(_NODES, {"labels": json.dumps(list(labels[at : at + _ROWS_AT_ONCE]))}):
            n, memory_id, kind, space, session, channel, trust, pinned, recorded, used, client, imported = row[:12]
            tier, word, persons, mark, confidence, said_at = row[12:]
            place = places.setdefault((space, session, channel), (space, session, channel))
            kind, client = intern(kind), client and intern(client)
            found[n] = Node(
                n, memory_id, kind, place, float(trust), bool(pinned), recorded, used, client, bool(imported),
                tier == "cleartext", bool(word), bool(persons), mark, float(confidence), said_at,
            )  # fmt: skip
    return found


def _memories_in_review(rows: Rows) -> frozenset[str]:
    found = rows.all("SELECT incoming_id, existing_id FROM conflicts WHERE state = 'open'")
    return frozenset(str(one) for row in found for one in row if one is not None)


# ---- what was decided


def read_pair_decisions(rows: Rows) -> PairDecisions:
    """Which pairs of near memories the person decided to keep apart, and which merges of consolidation they took back.

    Returns:
        The decisions; what a person undid is not done again, also where the undo step has expired.
    """
    kept = rows.all(
        "SELECT existing_id, incoming_id FROM conflicts WHERE state = 'resolved' AND existing_id IS NOT NULL "
        "AND resolution IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(KEPT)),),
    )
    undone = job_store.read_reverted_pairs(rows)
    return PairDecisions(
        kept=frozenset(frozenset(map(str, row)) for row in kept),
        undone=frozenset(frozenset((str(a), str(b))) for _, a, b in undone),
        loose=frozenset(str(one) for operation, *pair in undone if operation in _UNIONS for one in pair),
    )


def may_unite(rows: Rows, decisions: PairDecisions, a: str, b: str) -> bool:
    """Whether nobody decided that two memories both stand.

    Args:
        decisions: from `read_pair_decisions`.
        a: a memory.
        b: another.

    Returns:
        False where the pair was kept by a person, these two or two of the same words, or its union was taken back.
    """
    if decisions.is_settled(a, b):
        return False
    for kind in ("contradiction", "classification"):
        known = known_matter(rows, ItemSubject(kind, a, b))
        if known is not None and (known.state == "open" or known.resolution in KEPT):
            return False
    return True


# ---- what is said of pairs


def select_pairs(context: JobContext, near_pairs: NearPairs, line: float, crowd: NeighbourPool) -> NDArray[np.int64]:
    """Which pairs one run looks at: not what a person is asked about, nor two episodes, nor what chance explains.

    Where there are more than `MOST_PAIRS`, it is the nearest half of so many, and as many of the rest as a day's share:
    the next days take the following ones, so that every pair has its turn, also where the nearest never come to
    anything. Of one day it is always the same pairs: a preview and the run behind it agree.

    Args:
        line: the least cosine.
        crowd: counts what stands.

    Returns:
        Places in `near_pairs`, the nearest first.
    """
    found = [
        place
        for place, (a, b, cosine) in enumerate(near_pairs.pairs_above(line))
        if _is_beyond_chance(near_pairs, a, b, cosine, crowd)
    ]
    places = np.array(found, np.int64)
    if len(places) <= MOST_PAIRS:
        return places
    half = MOST_PAIRS // 2
    rest, share = places[half:], MOST_PAIRS - half
    begin = context.now_ms // _DAY_MS * share % len(rest)
    turn = np.arange(begin, begin + min(share, len(rest))) % len(rest)
    return np.concatenate((places[:half], np.sort(rest[turn])))


def _is_beyond_chance(near_pairs: NearPairs, a: Node, b: Node, cosine: float, crowd: NeighbourPool) -> bool:
    if near_pairs.in_review & {a.id, b.id} or a.kind == b.kind == "episode":
        return False
    # So near by chance that, whatever is read of it, nothing may be done.
    return relevance_probability(cosine, crowd.count_around(order_by_time(a, b)[1])) >= ACTED_ON


def order_by_time(a: Node, b: Node) -> tuple[Node, Node]:
    """Two memories in the order in which they were said."""
    return (a, b) if (a.said_at, a.n) <= (b.said_at, b.n) else (b, a)


class NeighbourPool:
    """Of how many memories a neighbour was picked, by space and kind; counted once each."""

    def __init__(self, context: JobContext) -> None:
        """Count nothing yet."""
        self._context = context
        self._known: dict[tuple[str, str], int] = {}

    def count_around(self, node: Node) -> int:
        """How many stand where a memory stands."""
        scope = (node.place[0], node.kind)
        if scope not in self._known:
            self._known[scope] = self._context.read(partial(_count_in_scope, scope=scope))
        return self._known[scope]


def read_pair_relations(
    context: JobContext, pairs: Sequence[Pair], sides: Mapping[str, Neighbour], crowd: NeighbourPool
) -> list[ReadPair]:
    """Read how pairs relate.

    Args:
        pairs: two memories and their cosine.
        sides: what they say, by id.
        crowd: counts what stands.

    Returns:
        One for each of which anybody can say something.
    """
    asked = [(*order_by_time(a, b), cosine) for a, b, cosine in pairs]
    relations = relate_pairs(context, [(sides[first.id], sides[second.id]) for first, second, _ in asked])
    found: list[ReadPair] = []
    for (first, second, cosine), relation in zip(asked, relations, strict=True):
        if relation is not None:
            discounted = (
                relation if relation.by == "rules" else discount_chance(relation, cosine, crowd.count_around(second))
            )
            found.append(ReadPair(first, second, cosine, discounted, (sides[first.id], sides[second.id])))
    return found


def read_sides(context: JobContext, pairs: Sequence[Pair]) -> dict[str, Neighbour]:
    """What the memories of a few pairs say, by id; what is gone is left out.

    Args:
        pairs: two memories and their cosine.
    """
    ids = {one.id: 1.0 for a, b, _ in pairs for one in (a, b)}
    found: dict[str, Neighbour] = context.read(lambda rows: load_neighbours(rows, ids)) if ids else {}
    return found


def relate_pairs(context: JobContext, pairs: Sequence[tuple[Neighbour, Neighbour]]) -> Sequence[Relation | None]:
    """How pairs relate; what rules alone know where no model answers.

    Args:
        pairs: (said first, said later).

    Returns:
        One for each; None where nobody can say.
    """
    texts = [(first.compared_text, second.compared_text) for first, second in pairs]
    reader = context.store_service.readers.relate
    if reader is not None and texts:
        try:
            return cached_relations(reader, texts, partial(yield_to_searches, context))
        except LociError:
            pass  # nothing here depends on a model: what rules know is still done
    return [relate_by_rule(first, second) for first, second in texts]


def yield_to_searches(context: JobContext) -> None:
    """Let a person's search go first: a job waits for it whenever it is about to read (`Ground.read`)."""
    context.read(lambda _: None)


def _count_in_scope(rows: Rows, scope: tuple[str, str]) -> int:
    return int(
        rows.value(
            "SELECT count(*) FROM (SELECT 1 FROM memories WHERE space_id = ? AND status = 'active' AND kind = ? "
            "LIMIT ?)",
            (*scope, _STRANGERS),
        )
    )


def read_vectors(context: JobContext, labels: Iterable[int]) -> dict[int, NDArray[np.float32]]:
    """Stored vectors of a few memories.

    Returns:
        Label to unit row, (dims,).
    """
    wanted = json.dumps(list(labels))
    found = context.read(
        lambda rows: rows.all(
            "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND dims = ? "
            "AND n IN (SELECT value FROM json_each(?))",
            (context.space.name, context.space.dims, wanted),
        )
    )
    if not found:
        return {}
    rows_ = from_blobs([row[1] for row in found], context.space.dims)
    return {int(row[0]): vector for row, vector in zip(found, rows_, strict=True)}
