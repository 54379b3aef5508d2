"""What says the same: which memory is kept of several, which goes beneath it, which confirms it (seed A, 6.1 and 6.3).

Must not do: let anybody's text stand over the person's, count one source twice, or write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from core.belief.claims import key_form
from core.belief.gate import Deed as Verdict
from core.belief.gate import decide
from core.belief.relation import at_odds
from core.belief.saying import says_no_more
from core.belief.uniting import united
from core.intake.handed import was_handed
from core.intake.newcomer import OWNER_LINEAGE, Beside
from core.intake.sources import KINDS_BY_TEXT
from core.lifecycle.ground import Ground
from core.lifecycle.pairs import Decided, Near, Node, Told, may_unite, told_pairs
from core.score.gathering import Lines
from core.types.belief import Label
from core.vault.rows import Rows

MERGED_FROM = 0.85
"""Two texts become one only where they are that near (E31.8; design section 6): unlike a stack it changes a text."""
MOST_BYTES = 4096
"""A united text stays short enough to be read as one statement."""
_BY_TEXT = frozenset(kind.value for kind in KINDS_BY_TEXT)


@dataclass(frozen=True, slots=True)
class Tie:
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
class Sameness:
    """What is to be done with what says the same.

    Attributes:
        stacks: duplicates, by the id of the memory that is kept.
        merges: pairs that become one text.
        confirms: memories of other sources that confirm, by the id of what they confirm.
        gone: ids of memories that will stand no more.
        taken: ids of the memories of merges.
    """

    stacks: dict[str, list[Tie]] = field(default_factory=dict)
    merges: list[Tie] = field(default_factory=list)
    confirms: dict[str, list[Tie]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)


def find_same(ground: Ground, near: Near, lines: Lines, decisions: Decided, taken: frozenset[str]) -> Sameness:
    """Look through the pairs that lie near.

    Args:
        ground: what the job stands on.
        near: the pairs.
        lines: from which cosine a pair is looked at.
        decisions: what people decided.
        taken: ids that another deed of the plan has.

    Returns:
        What is to be done; of each group of duplicates one is kept, and nothing that is kept goes.
    """
    duplicates: list[Tie] = []
    merges: list[Tie] = []
    saying: list[Tie] = []
    for told in told_pairs(ground, near, min(lines.dedup, lines.corroborate)):
        if taken & {told.first.id, told.second.id} or at_odds(told.sides[0].told.claims, told.sides[1].told.claims):
            continue
        tie, label = _tie(told), told.relation.label
        if not _says_same(told) and label is not Label.MERGE:
            continue
        if not ground.read(partial(may_unite, decisions=decisions, a=tie.keep.id, b=tie.other.id)):
            continue
        if told.cosine >= lines.dedup and _may_stack(told, tie):
            duplicates.append(tie)
        elif told.cosine >= MERGED_FROM and _may_merge(told, tie):
            merges.append(tie)
        elif told.cosine >= lines.corroborate and label is not Label.MERGE:
            saying.append(tie)
    found = Sameness()
    _stack(found, duplicates)
    _merge(found, merges)
    ground.read(lambda rows: _confirm(rows, found, saying))
    return found


def _tie(told: Told) -> Tie:
    keep, other = sorted((told.first, told.second), key=lambda one: (one.kind not in _BY_TEXT, one.rank))
    if keep.kind in _BY_TEXT and other.kind in _BY_TEXT and keep.persons is not other.persons and other.persons:
        keep, other = other, keep  # pinned or not: nobody's text stands over the person's
    return Tie(keep, other, told.cosine, told.relation.confidence, told.relation.by)


def _says_same(told: Told) -> bool:
    relation = told.relation
    return (relation.label is Label.DUPLICATE and relation.certain) or _one_claim(told.sides)


def _one_claim(sides: tuple[Beside, Beside]) -> bool:
    """Whether both are read to say the same, and one of them says nothing else."""
    keys = [
        frozenset((key_form(c.subject), c.predicate, key_form(c.value), c.polarity) for c in side.claims)
        for side in sides
    ]
    return any(
        bool(keys[at]) and keys[at] <= keys[1 - at] and says_no_more(sides[at].text, sides[at].claims) for at in (0, 1)
    )


def _may_stack(told: Told, tie: Tie) -> bool:
    alike = tie.keep.kind == tie.other.kind and tie.keep.kind in _BY_TEXT
    duplicate = told.relation.label is Label.DUPLICATE and told.relation.certain
    return alike and duplicate and not tie.other.pinned and (tie.keep.persons or not tie.other.persons)


def _may_merge(told: Told, tie: Tie) -> bool:
    if tie.keep.kind != tie.other.kind or tie.keep.kind not in _BY_TEXT or tie.other.pinned:
        return False
    if told.relation.label is not Label.MERGE or not told.relation.certain:
        return False
    keep, other = told.sides if told.first is tie.keep else told.sides[::-1]
    if len(united(keep.text, other.text).encode("utf-8")) > MOST_BYTES:
        return False
    return decide(other.standing, keep.standing, told.relation).deed is Verdict.MERGE


def _stack(found: Sameness, duplicates: Iterable[Tie]) -> None:
    """Whoever ranks first takes all of its duplicates; what goes takes nothing, so that no chain comes about."""
    by_keeper: dict[str, list[Tie]] = {}
    for tie in duplicates:
        by_keeper.setdefault(tie.keep.id, []).append(tie)
    for keep_id, ties in sorted(by_keeper.items(), key=lambda pair: pair[1][0].keep.rank):
        if keep_id in found.gone:
            continue
        free = [tie for tie in ties if tie.other.id not in found.gone and tie.other.id not in found.stacks]
        if free:
            found.stacks[keep_id] = free
            found.gone |= {tie.other.id for tie in free}


def _merge(found: Sameness, merges: Iterable[Tie]) -> None:
    for tie in sorted(merges, key=lambda one: (-one.cosine, one.keep.n, one.other.n)):
        ids = {tie.keep.id, tie.other.id}
        if not ids & (found.gone | found.stacks.keys() | found.taken):
            found.merges.append(tie)
            found.taken |= ids


def _confirm(rows: Rows, found: Sameness, saying: Sequence[Tie]) -> None:
    """Each independent source counts once for a memory; what the memory was made of is none."""
    free = [tie for tie in saying if not found.taken & {tie.keep.id, tie.other.id}]
    free = [tie for tie in free if not found.gone & {tie.keep.id, tie.other.id} and tie.keep.kind in _BY_TEXT]
    ids = {one for tie in free for one in (tie.keep.id, tie.other.id)}
    ids |= {tie.other.id for ties in found.stacks.values() for tie in ties}
    sources = sources_of(rows, ids)
    for keep_id, ties in found.stacks.items():
        sources[keep_id] = frozenset().union(sources.get(keep_id, ()), *(sources[tie.other.id] for tie in ties))
    for tie in sorted(free, key=lambda one: (one.keep.rank, -one.cosine, one.other.n)):
        own, others = sources[tie.keep.id], sources[tie.other.id]
        if not others - own or own <= others or not _independent(rows, tie, others):
            continue
        sources[tie.keep.id] = own | others
        found.confirms.setdefault(tie.keep.id, []).append(tie)


def _independent(rows: Rows, tie: Tie, others: frozenset[str]) -> bool:
    keep, other = tie.keep, tie.other
    if OWNER_LINEAGE in others and not keep.persons:
        return False  # it would turn somebody's text into the owner's word; only the owner can do that
    if was_handed(rows, other.client_id, keep.id) or was_handed(rows, keep.client_id, other.id):
        return False
    made = rows.one(
        "SELECT 1 FROM derivations WHERE (derived_id = ? AND source_id = ?) OR (derived_id = ? AND source_id = ?)",
        (keep.id, other.id, other.id, keep.id),
    )
    return made is None


def sources_of(rows: Rows, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Independent sources of memories.

    Args:
        rows: a vault snapshot or a transaction.
        ids: the memories.

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
