"""Memories that say the same: which is kept, which goes beneath it, which confirms it, and carrying that out.

The plan is made first (seed A, 6.1 and 6.3); each change, digests included, is checked again before it is carried out.
Must not do: let anybody's text stand over the person's, count one source twice, or go on with a change where one of its
memories changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.normal_form import statement_key
from core.belief.relate.coverage import has_no_residue, says_all_of, says_most_of
from core.belief.relate.distinctions import has_contradiction
from core.belief.relate.relation_model import certain_relation
from core.belief.trust_gate import GateDecision, decide_gate, may_act_on
from core.intake.candidate import OWNER_LINEAGE, Neighbour
from core.intake.transaction.admission import was_disclosed
from core.intake.transaction.sources import KINDS_BY_TEXT, Lineage, add_source, find_active_duplicate, refresh_trust
from core.intake.transitions.transitions import Transitions
from core.lifecycle.consolidate.digests import digest_text, sentences_from_json, write_digest
from core.lifecycle.consolidate.near_groups import CosineThresholds
from core.lifecycle.consolidate.pairs import (
    NearPairs,
    NeighbourPool,
    Node,
    Pair,
    PairDecisions,
    ReadPair,
    may_unite,
    read_nodes,
    read_pair_relations,
    read_sides,
    select_pairs,
)
from core.lifecycle.job_support.job_context import JobContext
from core.lifecycle.sweep import IN_REVIEW, SPARED, find_protections
from core.text.screening.injection import find_split_injection
from core.text.sentences import unite_texts
from core.types.belief import Label, Relation
from core.types.lifecycle import JobAction, PlannedAction
from core.types.values import Kind, Source
from core.vault.database.rows import Rows

_CARRIED = ("related_to", "coexists_with", "supports", "example_of")
"""Relations of what goes beneath another that the other has from then on."""


def is_applicable(rows: Rows, action: PlannedAction, now_ms: int) -> bool:
    """Whether all memories of a planned change are unchanged since it was planned.

    Args:
        action: from `core.lifecycle.consolidate.consolidate`.

    Returns:
        False where one changed, left, was pinned, spared, vouched for by the person or is asked about by now.
    """
    marks: Mapping[str, str] = action.detail["marks"]
    nodes = {node.id: node for node in read_nodes(rows, _read_labels(rows, marks)).values()}
    if any(one not in nodes or nodes[one].mark != mark for one, mark in marks.items()):
        return False
    kept = find_protections(rows, marks, now_ms)
    if any({IN_REVIEW, SPARED} & set(keys) for keys in kept.values()):
        return False
    ties = [*action.detail.get("stacks", ()), *([action.detail["merge"]] if action.action is JobAction.MERGE else ())]
    if not all(_may_go(nodes[tie[0]], nodes[tie[1]]) for tie in ties):
        return False
    sources = [one for digest in action.detail.get("digests", ()) for one in digest["sources"]]
    return not any(one in kept or nodes[one].persons for one in sources)


def _may_go(keep: Node, other: Node) -> bool:
    return not other.pinned and (keep.persons or not other.persons)


def _read_labels(rows: Rows, ids: Mapping[str, str]) -> list[int]:
    found = rows.all("SELECT n FROM memories WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(ids)),))
    return [int(row[0]) for row in found]


def texts_to_embed(rows: Rows, action: PlannedAction) -> list[str]:
    """The new texts of an action: of its digests, or the united one.

    Args:
        action: it fits.
    """
    if action.action is JobAction.MERGE:
        return [_united_text(rows, action)]
    return [digest_text(rows, sentences_from_json(digest["spans"])) for digest in action.detail.get("digests", ())]


def can_unite(rows: Rows, action: PlannedAction) -> bool:
    """Whether the united text of a merge would stand beside no memory of the same words, and be no order.

    Args:
        action: any action of `core.lifecycle.consolidate.consolidate`.

    Returns:
        True for what is no merge.
    """
    if action.action is not JobAction.MERGE:
        return True
    keep, other = action.detail["merge"][:2]
    if find_split_injection(_read_original_texts(rows, action)):
        return False
    kind, space, session = rows.all("SELECT kind, space_id, scope_session FROM memories WHERE id = ?", (keep,))[0]
    return find_active_duplicate(rows, [_united_text(rows, action)], Kind(kind), space, session) in (None, keep, other)


def carry_out_change(
    transitions: Transitions, action: PlannedAction, vectors: Sequence[NDArray[np.float32] | None]
) -> bool:
    """Carry one action out.

    Args:
        action: it fits.
        vectors: of `texts_to_embed`, in that order.

    Returns:
        False where a united text cannot be made: it stands already, or the embedder is away.
    """
    if action.action is JobAction.MERGE:
        return _carry_out_merge(transitions, action, vectors[0])
    for tie in action.detail["stacks"]:
        _set_weights(transitions, tie)
        transitions.stack(tie[1], tie[0])
        _take_over(transitions, tie[0], tie[1])
    for tie in action.detail["confirms"]:
        _set_weights(transitions, tie)
        _carry_out_confirmation(transitions, tie[0], tie[1])
    for digest, vector in zip(action.detail["digests"], vectors, strict=True):
        transitions.weighed = "rules"
        write_digest(transitions, digest["sources"], sentences_from_json(digest["spans"]), vector)
    return True


def _set_weights(transitions: Transitions, tie: Sequence[Any]) -> None:
    _keep, other, cosine, confidence, by = tie
    transitions.weighed = by
    transitions.weights[other] = (confidence, cosine)


def _carry_out_merge(transitions: Transitions, action: PlannedAction, vector: NDArray[np.float32] | None) -> bool:
    tie = action.detail["merge"]
    keep, other = tie[0], tie[1]
    text = _united_text(transitions.tx, action)
    if vector is None or not can_unite(transitions.tx, action):
        return False
    _set_weights(transitions, tie)
    transitions.merge_into(keep, text, vector, other)
    return True


def _united_text(rows: Rows, action: PlannedAction) -> str:
    keep, other = _read_original_texts(rows, action)
    return unite_texts(keep, other)


def _read_original_texts(rows: Rows, action: PlannedAction) -> list[str]:
    """The two texts of a merge, that of the one that is kept first."""
    return [str(rows.value("SELECT text FROM memories WHERE id = ?", (one,))) for one in action.detail["merge"][:2]]


def _take_over(transitions: Transitions, keep: str, other: str) -> None:
    """Tags, importance and relations of a duplicate go to what is kept (seed A, 6.1)."""
    tx = transitions.tx
    rows = [tx.row("memories", {"id": one}) or {} for one in (keep, other)]
    tags = dict.fromkeys(tag for row in rows for tag in json.loads(row["tags"]))
    united_ = {"tags": json.dumps(list(tags), ensure_ascii=False, separators=(",", ":"))}
    tx.update("memories", {"id": keep}, {**united_, "importance": max(float(row["importance"]) for row in rows)})
    for from_id, to_id, kind in tx.all(
        "SELECT from_id, to_id, type FROM edges WHERE (from_id = ?1 OR to_id = ?1) "
        "AND type IN (SELECT value FROM json_each(?2)) ORDER BY id",
        (other, json.dumps(_CARRIED)),
    ):
        ends = [keep if one == other else str(one) for one in (from_id, to_id)]
        transitions.add_edge(ends[0], ends[1], str(kind))


def _carry_out_confirmation(transitions: Transitions, keep: str, by: str) -> None:
    """The sources of one memory are independent sources of another."""
    found = transitions.tx.all(
        "SELECT lineage, source, client_id, session, import_id FROM memory_sources WHERE memory_id = ?1 UNION ALL "
        "SELECT lineage, source, client_id, session, import_id FROM memories WHERE id = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM memory_sources WHERE memory_id = ?1) ORDER BY 1",
        (by,),
    )
    for lineage, source, client_id, session, import_id in found:
        add_source(transitions.tx, keep, Lineage(lineage, client_id, session, import_id), Source(source))
    refresh_trust(transitions.tx, keep)
    transitions.touched.append(keep)
    transitions.log_consolidation("CORROBORATE", keep, by)


REPEATED_FROM = 0.7
"""Our choice: what says most of another one, but not all, is a repeat only where it lies that near."""
MERGED_FROM = 0.85
"""Two texts become one only where they are that near (E31.8; design section 6): unlike a stack it changes a text."""
MOST_BYTES = 4096
"""A united text stays short enough to be read as one statement."""
_BY_TEXT = frozenset(kind.value for kind in KINDS_BY_TEXT)
_PAIRS_AT_ONCE = 32
_MERGE = certain_relation(Label.MERGE, "complementary")
"""The answer that is asked for, to know beforehand whether it would come to anything."""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two memories that say the same, or complete one another.

    Attributes:
        keep: which stays as it is, or gets the united text.
        other: which goes beneath it, into it, or confirms it.
    """

    keep: Node
    other: Node
    cosine: float
    confidence: float
    by: str


@dataclass
class DuplicatePlan:
    """What is to be done with what says the same.

    Attributes:
        stacks: duplicates, by the id of the memory that is kept.
        merges: pairs that become one text.
        confirms: memories of other sources that confirm, by the id of what they confirm.
        gone: ids of memories that will stand no more.
        taken: ids of the memories of merges.
    """

    stacks: dict[str, list[DuplicatePair]] = field(default_factory=dict)
    merges: list[DuplicatePair] = field(default_factory=list)
    confirms: dict[str, list[DuplicatePair]] = field(default_factory=dict)
    leaving: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)


def find_duplicates(
    context: JobContext, near_pairs: NearPairs, lines: CosineThresholds, decisions: PairDecisions, taken: frozenset[str]
) -> DuplicatePlan:
    """Look through the pairs that lie near.

    Args:
        lines: from which cosine a pair is looked at.
        decisions: what people decided.
        taken: ids that another action of the plan has.

    Returns:
        What is to be done; of each group of duplicates one is kept, and nothing that is kept goes.
    """
    crowd = NeighbourPool(context)
    close_places = select_pairs(context, near_pairs, min(lines.dedup, lines.corroborate), crowd)
    reading = _DuplicateReader(context, lines, decisions, taken, crowd)
    for some in _split_into_blocks(_group_by_keeper(near_pairs, close_places)):
        reading.look_at([(keep, [near_pairs.pair_at(place) for place in places]) for keep, places in some])
        if context.is_stopped():
            break
    found = reading.found
    _add_merges(found, reading.merges)
    context.read(lambda rows: _add_confirmations(rows, found, reading.saying))
    return found


def _group_by_keeper(near_pairs: NearPairs, places: NDArray[np.int64]) -> Iterator[tuple[Node, list[int]]]:
    """Places of pairs by the memory that would be kept: whoever ranks first comes first, its nearest first."""
    if not len(places):
        return
    keepers = np.array([_order_nodes(*near_pairs.pair_at(place)[:2])[0].n for place in places.tolist()], np.int64)
    order = np.argsort(keepers, kind="stable")
    labels, begins = np.unique(keepers[order], return_index=True)
    own = dict(zip(labels.tolist(), np.split(places[order], begins[1:]), strict=True))
    for keep in sorted((near_pairs.nodes[label] for label in own), key=lambda one: one.rank):
        yield keep, own[keep.n].tolist()


def _split_into_blocks(keepers: Iterable[tuple[Node, list[int]]]) -> Iterator[list[tuple[Node, list[int]]]]:
    """A few keepers at a time: their texts are read at once."""
    block: list[tuple[Node, list[int]]] = []
    for one in keepers:
        block.append(one)
        if sum(len(places) for _, places in block) >= _PAIRS_AT_ONCE:
            yield block
            block = []
    yield block


class _DuplicateReader:
    """Asks the model about the pairs of one keeper after another, and only where its answer can come to something.

    Whoever ranks first takes all of its duplicates; what goes takes nothing, so that no chain comes about, and of what
    went nothing more is asked.
    """

    def __init__(
        self,
        context: JobContext,
        lines: CosineThresholds,
        decisions: PairDecisions,
        taken: frozenset[str],
        crowd: NeighbourPool,
    ) -> None:
        self._context, self._lines, self._decisions, self._taken, self._crowd = context, lines, decisions, taken, crowd
        self.found = DuplicatePlan()
        self.merges: list[DuplicatePair] = []
        self.saying: list[DuplicatePair] = []

    def look_at(self, keepers: Sequence[tuple[Node, Sequence[Pair]]]) -> None:
        """Look through the pairs of a few keepers, those that rank first before the others."""
        pairs = [pair for _, some in keepers for pair in some]
        sides = read_sides(self._context, pairs)
        sources = self._context.read(lambda rows: independent_sources(rows, sides))
        for keep, some in keepers:
            if keep.id in self.found.leaving or self._context.is_stopped():
                continue
            free = [pair for pair in some if self._may_be_duplicate(pair, sides, sources)]
            self._keep_stack(
                keep,
                [
                    tie
                    for read_pair in read_pair_relations(self._context, free, sides, self._crowd)
                    if (tie := self._read_duplicate(read_pair))
                ],
            )

    def _keep_stack(self, keep: Node, duplicates: Sequence[DuplicatePair]) -> None:
        found = self.found
        free = [tie for tie in duplicates if tie.other.id not in found.stacks]
        if free:
            found.stacks[keep.id] = free
            found.leaving |= {tie.other.id for tie in free}

    def _may_be_duplicate(
        self, pair: Pair, sides: Mapping[str, Neighbour], sources: Mapping[str, frozenset[str]]
    ) -> bool:
        a, b, cosine = pair
        ids = frozenset((a.id, b.id))
        if (
            not ids <= sides.keys()
            or ids & (self.found.leaving | self._taken)
            or self._decisions.is_settled(a.id, b.id)
        ):
            return False
        if has_contradiction(sides[a.id].compared_text.claims, sides[b.id].compared_text.claims):
            return False
        keep, other = _order_nodes(a, b)
        if cosine >= self._lines.dedup and _may_stand_beneath(keep, other):
            return True
        if cosine >= MERGED_FROM and _may_merge(keep, other, sides, _MERGE):
            return True
        return cosine >= self._lines.corroborate and not sources[other.id] <= sources[keep.id]

    def _read_duplicate(self, pair: ReadPair) -> DuplicatePair | None:
        """A duplicate; what may be merged or confirms is noted for later."""
        keep, other = _order_nodes(pair.first, pair.second)
        tie, label = (
            DuplicatePair(keep, other, pair.cosine, pair.relation.confidence, pair.relation.by),
            pair.relation.label,
        )
        if not _is_saying_same(pair, keep) and label is not Label.MERGE:
            return None
        if not self._context.read(partial(may_unite, decisions=self._decisions, a=keep.id, b=other.id)):
            return None
        duplicate = label is Label.DUPLICATE
        if pair.cosine >= self._lines.dedup and duplicate and _may_stand_beneath(keep, other):
            return tie
        sides = {side.id: side for side in pair.sides}
        if pair.cosine >= MERGED_FROM and _may_merge(keep, other, sides, pair.relation):
            self.merges.append(tie)
        elif pair.cosine >= self._lines.corroborate and label is not Label.MERGE:
            self.saying.append(tie)
        return None


def _order_nodes(first: Node, second: Node) -> tuple[Node, Node]:
    """Of two memories the one that would be kept, and the other."""
    keep, other = sorted((first, second), key=lambda one: (one.kind not in _BY_TEXT, one.rank))
    if keep.kind in _BY_TEXT and other.kind in _BY_TEXT and keep.persons is not other.persons and other.persons:
        keep, other = other, keep  # pinned or not: nobody's text stands over the person's
    return keep, other


def _is_saying_same(pair: ReadPair, keep: Node) -> bool:
    """Whether nothing that the other says is lost, or made the person's, where one is kept for both.

    As on the store path the model alone is not enough: of statements made of an imported talk, whose third person and
    dates it does not know well, it took ten of eleven pairs of different events for repeats.
    """
    if _are_of_same_claims(pair.sides):
        return True
    if pair.relation.label is not Label.DUPLICATE or not may_act_on(pair.relation):
        return False
    kept, other = sorted(pair.sides, key=lambda side: side.id != keep.id)
    if says_all_of(kept.text, other.text):
        return True
    return pair.cosine >= REPEATED_FROM and says_most_of(kept.text, other.text)


def _are_of_same_claims(sides: tuple[Neighbour, Neighbour]) -> bool:
    """Whether both are read to say the same, and one of them says nothing else."""
    keys = [frozenset(map(statement_key, side.claims)) for side in sides]
    return any(
        bool(keys[at]) and keys[at] <= keys[1 - at] and has_no_residue(sides[at].text, sides[at].claims)
        for at in (0, 1)
    )


def _may_stand_beneath(keep: Node, other: Node) -> bool:
    """Whether one may go beneath the other, if it says the same."""
    alike = keep.kind == other.kind and keep.kind in _BY_TEXT
    return alike and not other.pinned and (keep.persons or not other.persons)


def _may_merge(keep: Node, other: Node, sides: Mapping[str, Neighbour], relation: Relation) -> bool:
    if keep.kind != other.kind or keep.kind not in _BY_TEXT or other.pinned:
        return False
    if relation.label is not Label.MERGE or not may_act_on(relation):
        return False
    first, second = sides[keep.id], sides[other.id]
    if len(unite_texts(first.text, second.text).encode("utf-8")) > MOST_BYTES:
        return False
    return decide_gate(second.authority, first.authority, relation).decision is GateDecision.MERGE


def _add_merges(found: DuplicatePlan, merges: Iterable[DuplicatePair]) -> None:
    for tie in sorted(merges, key=lambda one: (-one.cosine, one.keep.n, one.other.n)):
        ids = {tie.keep.id, tie.other.id}
        if not ids & (found.leaving | found.stacks.keys() | found.taken):
            found.merges.append(tie)
            found.taken |= ids


def _add_confirmations(rows: Rows, found: DuplicatePlan, saying: Sequence[DuplicatePair]) -> None:
    """Each independent source counts once for a memory; what the memory was made of is none."""
    free = [tie for tie in saying if not found.taken & {tie.keep.id, tie.other.id}]
    free = [tie for tie in free if not found.leaving & {tie.keep.id, tie.other.id} and tie.keep.kind in _BY_TEXT]
    ids = {one for tie in free for one in (tie.keep.id, tie.other.id)}
    ids |= {tie.other.id for ties in found.stacks.values() for tie in ties}
    sources = independent_sources(rows, ids)
    for keep_id, ties in found.stacks.items():
        sources[keep_id] = frozenset().union(sources.get(keep_id, ()), *(sources[tie.other.id] for tie in ties))
    for tie in sorted(free, key=lambda one: (one.keep.rank, -one.cosine, one.other.n)):
        own, others = sources[tie.keep.id], sources[tie.other.id]
        if not others - own or own <= others or not _is_independent(rows, tie, others):
            continue
        sources[tie.keep.id] = own | others
        found.confirms.setdefault(tie.keep.id, []).append(tie)


def _is_independent(rows: Rows, tie: DuplicatePair, others: frozenset[str]) -> bool:
    keep, other = tie.keep, tie.other
    if OWNER_LINEAGE in others and not keep.persons:
        return False  # it would turn somebody's text into the owner's word; only the owner can do that
    if was_disclosed(rows, other.client_id, keep.id) or was_disclosed(rows, keep.client_id, other.id):
        return False
    made = rows.one(
        "SELECT 1 FROM derivations WHERE (derived_id = ? AND source_id = ?) OR (derived_id = ? AND source_id = ?)",
        (keep.id, other.id, other.id, keep.id),
    )
    return made is None


def independent_sources(rows: Rows, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Independent sources of memories.

    Returns:
        Id to lineages; that of its own row where none is written down.
    """
    found: dict[str, set[str]] = {}
    for memory_id, lineage in rows.all(
        "SELECT m.id, coalesce(s.lineage, m.lineage) FROM json_each(?) w JOIN memories m ON m.id = w.value "
        "LEFT JOIN memory_sources s ON s.memory_id = m.id",
        (json.dumps(sorted(ids)),),
    ):
        found.setdefault(str(memory_id), set()).add(str(lineage))
    return {memory_id: frozenset(lineages) for memory_id, lineages in found.items()}
