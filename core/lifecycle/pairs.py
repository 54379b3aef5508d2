"""Which memories lie near one another, and what is said of each pair: the ground of a consolidation.

Vectors are read a few hundred at a time and asked of the index; of a pair only two labels and a number are kept.
Must not do: compare every pair, hold a matrix of all vectors or a text longer than it is looked at, or write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.belief.relation import by_rule
from core.belief.whose import OWNERS_WORD, PERSONS
from core.embed.codec import from_blobs
from core.errors import LociError
from core.intake.newcomer import Beside, beside
from core.intake.reviews import KEPT, Matter, known_matter
from core.lifecycle import takenback
from core.lifecycle.ground import Ground
from core.lifecycle.remembering import remembered
from core.score.chance import belonging, weighed
from core.types.belief import ACTED_ON, Relation
from core.vault.rows import Rows

NEIGHBOURS = 12
"""So many are asked of the index for each memory, itself among them."""
MOST_PAIRS = 50_000
"""So many pairs are read in one run, the nearest first: what is beyond waits until those are settled."""
_CHUNK, _PAIRS_AT_ONCE, _ROWS_AT_ONCE = 256, 16, 1000
_STRANGERS = 20_000
_UNIONS = ("DUPLICATE", "MERGE", "DIGEST")
_LIVE_EPISODE = "m.kind = 'episode' AND m.client_id IS NOT NULL AND m.import_id IS NULL"
_ALIKE = f"m.kind IN ('fact', 'rule', 'procedure') OR ({_LIVE_EPISODE})"
_VECTORS = (
    "SELECT m.n, e.vector FROM memories m JOIN embeddings e ON e.owner = 'memory' AND e.vector_space = :space "  # noqa: S608 - constants
    "AND e.dims = :dims AND e.n = m.n WHERE m.n > :after AND +m.status = 'active' AND m.part_of IS NULL "
    f"AND ({_ALIKE}) ORDER BY m.n LIMIT :most"
)
_NODES = (
    "SELECT m.n, m.id, m.kind, m.space_id, m.scope_session, m.scope_channel, m.trust, m.pinned, m.recorded_at, "  # noqa: S608 - constants
    "coalesce(m.last_accessed_at, 0), m.client_id, m.import_id IS NOT NULL, m.security_tier, "
    f"{OWNERS_WORD}, {PERSONS}, lower(hex(substr(m.content_hash, 1, 8))), m.confidence, m.strength, "
    "coalesce(m.occurred_at, m.recorded_at) "
    "FROM json_each(:labels) w JOIN memories m ON m.n = w.value WHERE m.status = 'active' AND m.part_of IS NULL "
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
    strength: float
    said_at: int

    @property
    def rank(self) -> tuple[object, ...]:
        """Who is kept of two that say the same, least first: the person's, the more trusted, the older."""
        return (not self.pinned, not self.persons, -round(self.trust, 9), not self.owners_word, self.said_at, self.n)


@dataclass
class Near:
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

    def from_(self, line: float) -> Iterator[tuple[Node, Node, float]]:
        """Pairs at least as near as a line, the nearest first."""
        for (a, b), cosine in zip(self.pairs.tolist(), self.cosines.tolist(), strict=True):
            if cosine < line:
                return
            yield self.nodes[a], self.nodes[b], cosine


@dataclass(frozen=True, slots=True)
class Told:
    """A pair with what was read of it.

    Attributes:
        first: said first; `second` later.
        relation: how the second relates to the first, as the store path would weigh it.
    """

    first: Node
    second: Node
    cosine: float
    relation: Relation
    sides: tuple[Beside, Beside]


@dataclass(frozen=True)
class Decided:
    """What people decided, so that no run does it again.

    Attributes:
        kept: pairs of ids that both stand by decision.
        undone: pairs of ids that a run united, or of which it let one end, and that were taken back.
        loose: ids of memories whose union was taken back: they are left alone.
    """

    kept: frozenset[frozenset[str]]
    undone: frozenset[frozenset[str]]
    loose: frozenset[str] = field(default_factory=frozenset)


def near_pairs(ground: Ground, line: float) -> Near:
    """Ask the index for the neighbours of all that can be consolidated.

    Args:
        ground: what the job stands on; its index is whole.
        line: the least cosine that anything is done from.

    Returns:
        Pairs of one place, both standing and whole (no parts of split texts, no digests), nearest first.
    """
    found = [part for part in _asked(ground, line) if len(part[1])]
    nothing = np.empty((0, 2), np.int64), np.empty(0, np.float32)
    pairs, cosines = (np.concatenate(column) for column in zip(nothing, *found, strict=True))
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    cosines = cosines[first]
    nodes: dict[int, Node] = ground.read(lambda rows: read_nodes(rows, np.unique(pairs).tolist()))
    keep = np.array([_together(nodes.get(a), nodes.get(b)) for a, b in pairs.tolist()], bool).reshape(-1)
    pairs, cosines = pairs[keep], cosines[keep]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -cosines))
    used = {int(label) for label in np.unique(pairs)}
    review = ground.read(_in_review)
    return Near({n: nodes[n] for n in sorted(used)}, pairs[order], cosines[order], review)


def _together(a: Node | None, b: Node | None) -> bool:
    return a is not None and b is not None and a.place == b.place and a.is_open and b.is_open


def _asked(ground: Ground, line: float) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    near = ground.near
    after = 0
    while near is not None and not ground.is_stopped():
        page = _page(ground, after)
        if not page:
            return
        labels = np.array([row[0] for row in page], np.int64)
        after = int(labels[-1])
        others, cosines = near(from_blobs([row[1] for row in page], ground.space.dims), NEIGHBOURS)
        own = np.repeat(labels[:, None], others.shape[1], axis=1)
        wanted = (others >= 0) & (others != own) & (cosines >= line)
        ends = np.stack((own[wanted], others[wanted].astype(np.int64)), axis=1)
        ends.sort(axis=1)
        yield ends, cosines[wanted].astype(np.float32)


def _page(ground: Ground, after: int) -> list[tuple[int, bytes]]:
    wanted = {"space": ground.space.name, "dims": ground.space.dims, "after": after, "most": _CHUNK}
    page: list[tuple[int, bytes]] = ground.read(lambda rows: rows.all(_VECTORS, wanted))
    return page


def read_nodes(rows: Rows, labels: Sequence[int]) -> dict[int, Node]:
    """Memories that stand, by label.

    Args:
        rows: a vault snapshot or a transaction.
        labels: which; those that do not stand, are parts or have parts, or are digests are left out.

    Returns:
        Label to memory.
    """
    found: dict[int, Node] = {}
    places: dict[tuple[str, str, str], tuple[str, str, str]] = {}
    for at in range(0, len(labels), _ROWS_AT_ONCE):
        for row in rows.all(_NODES, {"labels": json.dumps(list(labels[at : at + _ROWS_AT_ONCE]))}):
            n, memory_id, kind, space, session, channel, trust, pinned, recorded, used, client, imported = row[:12]
            tier, word, persons, mark, confidence, strength, said = row[12:]
            place = places.setdefault((space, session, channel), (space, session, channel))
            found[n] = Node(
                n, memory_id, kind, place, float(trust), bool(pinned), recorded, used, client, bool(imported),
                tier == "cleartext", bool(word), bool(persons), mark, float(confidence), float(strength), said,
            )  # fmt: skip
    return found


def _in_review(rows: Rows) -> frozenset[str]:
    found = rows.all("SELECT incoming_id, existing_id FROM conflicts WHERE state = 'open'")
    return frozenset(str(one) for row in found for one in row if one is not None)


# ---- what was decided


def decided(rows: Rows) -> Decided:
    """What people decided about pairs, and which unions they took back.

    Args:
        rows: a vault snapshot.

    Returns:
        The decisions; what a person undid is not done again, also where the undo step has expired.
    """
    kept = rows.all(
        "SELECT existing_id, incoming_id FROM conflicts WHERE state = 'resolved' AND existing_id IS NOT NULL "
        "AND resolution IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(KEPT)),),
    )
    undone = takenback.pairs(rows)
    return Decided(
        kept=frozenset(frozenset(map(str, row)) for row in kept),
        undone=frozenset(frozenset((str(a), str(b))) for _, a, b in undone),
        loose=frozenset(str(one) for operation, *pair in undone if operation in _UNIONS for one in pair),
    )


def may_unite(rows: Rows, decisions: Decided, a: str, b: str) -> bool:
    """Whether nobody decided that two memories both stand.

    Args:
        rows: a vault snapshot or a transaction.
        decisions: from `decided`.
        a: a memory.
        b: another.

    Returns:
        False where the pair was kept by a person, these two or two of the same words, or its union was taken back.
    """
    if decisions.loose & {a, b} or frozenset((a, b)) in decisions.kept | decisions.undone:
        return False
    for kind in ("contradiction", "classification"):
        known = known_matter(rows, Matter(kind, a, b))
        if known is not None and (known.state == "open" or known.resolution in KEPT):
            return False
    return True


# ---- what is said of pairs


def told_pairs(ground: Ground, near: Near, line: float) -> Iterator[Told]:
    """Read how pairs relate, the nearest first.

    Args:
        ground: what the job stands on.
        near: the pairs.
        line: the least cosine.

    Yields:
        Pairs; those about which a person is asked, and two episodes, are passed over.
    """
    crowd = _Crowd(ground)
    waiting: list[tuple[Node, Node, float]] = []
    taken = 0
    for a, b, cosine in near.from_(line):
        if near.in_review & {a.id, b.id} or a.kind == b.kind == "episode":
            continue
        first, second = sorted((a, b), key=lambda one: (one.said_at, one.n))
        if belonging(cosine, crowd.of(second)) < ACTED_ON:
            continue  # so near by chance: whatever is read of it, nothing may be done
        waiting.append((first, second, cosine))
        taken += 1
        if len(waiting) == _PAIRS_AT_ONCE:
            yield from _read_pairs(ground, waiting, crowd)
            waiting = []
        if taken >= MOST_PAIRS or ground.is_stopped():
            break
    yield from _read_pairs(ground, waiting, crowd)


class _Crowd:
    """Of how many memories a neighbour was picked, by space and kind; counted once each."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._known: dict[tuple[str, str], int] = {}

    def of(self, node: Node) -> int:
        """How many stand where a memory stands."""
        scope = (node.place[0], node.kind)
        if scope not in self._known:
            self._known[scope] = self._ground.read(partial(_others, scope=scope))
        return self._known[scope]


def _read_pairs(ground: Ground, pairs: Sequence[tuple[Node, Node, float]], crowd: _Crowd) -> Iterator[Told]:
    ids = {one.id: 1.0 for first, second, _ in pairs for one in (first, second)}
    sides: dict[str, Beside] = ground.read(lambda rows: beside(rows, ids)) if ids else {}
    asked = [pair for pair in pairs if pair[0].id in sides and pair[1].id in sides]
    relations = relate(ground, [(sides[first.id], sides[second.id]) for first, second, _ in asked])
    for (first, second, cosine), relation in zip(asked, relations, strict=True):
        if relation is not None:
            told = relation if relation.by == "rules" else weighed(relation, cosine, crowd.of(second))
            yield Told(first, second, cosine, told, (sides[first.id], sides[second.id]))


def relate(ground: Ground, pairs: Sequence[tuple[Beside, Beside]]) -> Sequence[Relation | None]:
    """How pairs relate; what rules alone know where no model answers.

    Args:
        ground: what the job stands on.
        pairs: (said first, said later).

    Returns:
        One for each; None where nobody can say.
    """
    told = [(first.told, second.told) for first, second in pairs]
    reader = ground.keeper.readers.relate
    if reader is not None and told:
        try:
            return remembered(reader, told)
        except LociError:
            pass  # nothing here depends on a model: what rules know is still done
    return [by_rule(first, second) for first, second in told]


def _others(rows: Rows, scope: tuple[str, str]) -> int:
    return int(
        rows.value(
            "SELECT count(*) FROM (SELECT 1 FROM memories WHERE space_id = ? AND status = 'active' AND kind = ? "
            "LIMIT ?)",
            (*scope, _STRANGERS),
        )
    )


def vectors_of(ground: Ground, labels: Iterable[int]) -> dict[int, NDArray[np.float32]]:
    """Stored vectors of a few memories.

    Args:
        ground: what the job stands on.
        labels: which.

    Returns:
        Label to unit row, (dims,).
    """
    wanted = json.dumps(list(labels))
    found = ground.read(
        lambda rows: rows.all(
            "SELECT n, vector FROM embeddings WHERE owner = 'memory' AND vector_space = ? AND dims = ? "
            "AND n IN (SELECT value FROM json_each(?))",
            (ground.space.name, ground.space.dims, wanted),
        )
    )
    if not found:
        return {}
    rows_ = from_blobs([row[1] for row in found], ground.space.dims)
    return {int(row[0]): vector for row, vector in zip(found, rows_, strict=True)}
