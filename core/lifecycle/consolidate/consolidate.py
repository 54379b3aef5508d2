"""Consolidation: one pass over all that stands, in the five phases of seed A (feature 6), and the report of its run.

Duplicates go beneath one of them, contradictions through the gate, what other sources say confirms, old clusters become
digests, dead memories are archived. Whatever shares a memory is one planned change, done in that order, all or nothing.
The plan is the preview; each change is checked again before it is carried out, and one that fails takes nothing with
it. Contradictions are claims that cannot both hold and that nobody was asked about yet: they were read later, came
back, or met a slot that was taken (seed A, 6.2; E4.3). Must not do: delete, judge beside the gate or by meaning alone,
raise again what a person decided, or hold more than labels and numbers of what it looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core import log
from core.belief.trust_gate import GateDecision
from core.embed.embedder import AWAY
from core.errors import CancelledError, LociError
from core.intake.store.store import StoreService, judge_by_claims, plan_for_stored
from core.intake.store.store_plan import NeighbourCase, StorePlan
from core.intake.transaction.sources import find_active_duplicate
from core.intake.transaction.unit_of_work import Verb
from core.intake.transitions.review_items import ItemSubject, known_matter
from core.intake.transitions.transitions import Transitions
from core.lifecycle import sweep
from core.lifecycle.consolidate.digests import Cluster, find_clusters, sentences_to_json
from core.lifecycle.consolidate.duplicates import (
    DuplicatePair,
    DuplicatePlan,
    can_unite,
    carry_out_change,
    find_duplicates,
    is_applicable,
    texts_to_embed,
)
from core.lifecycle.consolidate.near_groups import CosineThresholds, thresholds_for
from core.lifecycle.consolidate.pairs import Node, PairDecisions, find_near_pairs, read_pair_decisions
from core.lifecycle.job_support.job_context import BatchResult, JobContext
from core.memory.read import time_of_memory_sql
from core.types.lifecycle import Consolidated, JobAction, JobType, PlannedAction
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

PRUNES = frozenset({JobAction.ARCHIVE, JobAction.EXPIRE})
"""What is archived; every other action of a consolidation carries its counts with it."""
_PRUNED_FOR = {"old_version": "pruned_superseded", "doubted": "pruned_disputed"}


def count_plan(actions: Sequence[PlannedAction]) -> Mapping[str, int]:
    """What carrying a plan out would count, if every action still fits.

    Args:
        actions: the plan of a consolidation.

    Returns:
        The keys of `BatchResult.counts`; one that would stay 0 is left out.
    """
    counts: Counter[str] = Counter()
    for action in actions:
        if action.action in PRUNES:
            counts[_PRUNED_FOR.get(action.reason, "pruned_decayed")] += 1
        else:
            counts.update(action.detail["counts"])  # an action may stack, confirm and digest: it says how many
    return dict(counts)


def forecast_memories(rows: Rows, actions: Sequence[PlannedAction], before: Mapping[str, int]) -> dict[str, int]:
    """How many memories there would be behind a consolidation, and how many would stand.

    Args:
        before: `count_active` of the same snapshot.

    Returns:
        As `count_active`.
    """
    leaving = [
        one
        for action in actions
        for one in ([action.memory_id] if action.action in PRUNES else action.detail["leaving"])
    ]
    leave = rows.value(
        "SELECT count(*) FROM json_each(?) w JOIN memories h ON h.id = w.value "
        "JOIN memories m ON m.id = h.id OR m.part_of = h.id WHERE m.status = 'active'",
        (to_json(sorted(set(leaving))),),
    )
    made = sum(int(action.detail.get("made", 0)) for action in actions)
    stand = sum(int(action.detail.get("standing", 0)) for action in actions)
    return {"total": before["total"] + made, "active": before["active"] - int(leave) + stand}


def make_report(
    counts: Mapping[str, int],
    *,
    before: Mapping[str, int],
    after: Mapping[str, int],
    duration_ms: int,
    dry_run: bool = False,
) -> Consolidated:
    """Make the report.

    Args:
        counts: `BatchResult.counts` added up, or what a plan would do; unknown keys are passed over.
        before: `count_active` before the run; `after` behind it, empty for a dry run.
        after: see `before`.
        duration_ms: how long it took.
        dry_run: whether nothing was written.
    """
    names = (
        "deduplicated", "resolved", "pending", "corroborated", "clusters", "source_memories", "pruned_superseded",
        "pruned_decayed", "pruned_disputed", "skipped",
    )  # fmt: skip
    known = {name: int(counts.get(name, 0)) for name in names}
    return Consolidated(**known, before=before, after=after, duration_ms=duration_ms, dry_run=dry_run)


def count_active(rows: Rows) -> dict[str, int]:
    """How many memories there are, and how many stand.

    Returns:
        `total` and `active`.
    """
    total, active = rows.all(
        "SELECT count(*), coalesce(sum(status = 'active'), 0) FROM memories WHERE status <> 'deleted'"
    )[0]
    return {"total": int(total), "active": int(active)}


_STANDS = "IN ('fact', 'rule', 'procedure') AND {0}.status = 'active' AND coalesce({0}.part_index, 0) = 0"
_LEFT = (
    "SELECT DISTINCT m.id, m.n FROM claims c JOIN claims o ON o.space_id = c.space_id "  # noqa: S608 - constants only
    "AND o.subject_key = c.subject_key AND o.predicate = c.predicate AND o.state = 'asserted' AND o.id <> c.id "
    "AND o.scope_session = c.scope_session AND o.qualifiers = c.qualifiers "
    "AND coalesce(o.valid_from, -9223372036854775807) < coalesce(c.valid_to, 9223372036854775807) "
    "AND coalesce(c.valid_from, -9223372036854775807) < coalesce(o.valid_to, 9223372036854775807) "
    "AND ((c.state = 'draft' AND c.exclusive = 1 AND o.exclusive = 1 AND c.polarity = 'positive' "
    "AND o.polarity = 'positive' AND c.value_key <> o.value_key) "
    "OR (c.polarity <> o.polarity AND c.value_key = o.value_key)) "
    "JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting' "
    f"JOIN memories m ON m.id = e.memory_id AND m.read_at IS NOT NULL AND m.kind {_STANDS.format('m')} "
    "JOIN evidence f ON f.claim_id = o.id AND f.stance = 'supporting' "
    f"JOIN memories p ON p.id = f.memory_id AND p.id <> m.id AND p.kind {_STANDS.format('p')} "
    "WHERE c.state IN ('draft', 'asserted') "
    f"AND (c.state = 'draft' OR ({time_of_memory_sql('m')}, m.n) "
    f"> ({time_of_memory_sql('p')}, p.n)) "
    "ORDER BY m.n"
)
_ENDS = frozenset({GateDecision.SUPERSEDE, GateDecision.ENTER_SUPERSEDED})
_ASKS = frozenset({GateDecision.QUARANTINE, GateDecision.DISPUTE, GateDecision.HOLD_EXISTING, GateDecision.COEXIST})


@dataclass(frozen=True, slots=True)
class OpposedMemory:
    """A memory that cannot stand beside others.

    Attributes:
        memory_id: the one that is judged.
        others: what it is at odds with.
        action: `SUPERSEDE` where the gate lets one end, `ASK` where a person decides.
        confidence: how sure that is, 0 to 1.
        leaving: which of them stand no longer then; heads.
    """

    memory_id: str
    others: tuple[str, ...]
    action: JobAction
    confidence: float
    leaving: tuple[str, ...] = ()


def find_opposed_memories(rows: Rows, store_service: StoreService, decisions: PairDecisions) -> list[OpposedMemory]:
    """What is still to be settled.

    Args:
        store_service: foresees the gate's answer.
        decisions: what people decided, and took back.

    Returns:
        One for each memory, by its label; each memory in at most one, on either side.
    """
    found: list[OpposedMemory] = []
    taken: set[str] = set()
    for memory_id, _ in rows.all(_LEFT):
        opposed = recheck_opposed(rows, store_service, str(memory_id))
        if opposed is None or any(frozenset((opposed.memory_id, one)) in decisions.undone for one in opposed.others):
            continue
        ids = {opposed.memory_id, *opposed.others}
        if not taken & ids:
            taken |= ids
            found.append(opposed)
    return found


def recheck_opposed(rows: Rows, store_service: StoreService, memory_id: str) -> OpposedMemory | None:
    """What the gate would say of one memory now.

    Args:
        store_service: foresees the gate's answer.
        memory_id: the memory; it stands.

    Returns:
        None where it is at odds with nothing, or a person was asked about all of it before.
    """
    newcomer, plan = plan_for_stored(store_service, rows, memory_id)
    twin = find_active_duplicate(
        rows, newcomer.texts, newcomer.kind, newcomer.space_id, newcomer.authority.scope_session
    )
    if twin not in (None, memory_id) or plan.known is not None:
        return None
    cases = tuple(case for case in plan.partners if case.odds)
    if not cases or any(known_matter(rows, _make_item_subject(memory_id, case)) is not None for case in cases):
        return None
    action = _action_for(plan, cases)
    if action is None:
        return None
    others = tuple(case.neighbour.id for case in cases)
    return OpposedMemory(memory_id, others, action, plan.confidence, _leaving_by_plan(plan, memory_id))


def _leaving_by_plan(plan: StorePlan, memory_id: str) -> tuple[str, ...]:
    """What `core.intake.store.plan_execution` lets end or wait."""
    if plan.decision in (GateDecision.SUPERSEDE, GateDecision.HOLD_EXISTING):
        return tuple(
            case.neighbour.id
            for case in plan.partners
            if case.verdict.decision is GateDecision.HOLD_EXISTING
            or (case.verdict.decision is not GateDecision.COEXIST and case.whole)
        )
    return () if plan.decision is GateDecision.COEXIST else (memory_id,)


def _action_for(plan: StorePlan, cases: tuple[NeighbourCase, ...]) -> JobAction | None:
    if plan.decision in _ENDS:
        return JobAction.SUPERSEDE
    if plan.decision is GateDecision.COEXIST and not any(case.verdict.review for case in cases):
        return None
    return JobAction.ASK if plan.decision in _ASKS else None


def _make_item_subject(memory_id: str, case: NeighbourCase) -> ItemSubject:
    odds = case.odds[0]
    return ItemSubject(case.verdict.kind, memory_id, case.neighbour.id, keys=(odds.key, odds.own_key))


def settle_contradiction(transitions: Transitions, store_service: StoreService, memory_id: str) -> None:
    """Do what the gate says of one memory.

    Args:
        store_service: judges.
    """
    judge_by_claims(store_service, transitions, memory_id)


DUPLICATE, MERGED, CORROBORATED, DIGESTED = "duplicate", "merged", "corroborated", "digested"
"""Reasons: keys of `resources/help/lifecycle.json`."""


@dataclass
class _Bundle:
    stacks: list[DuplicatePair] = field(default_factory=list)
    confirms: list[DuplicatePair] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        """Every memory of it, sources of digests first."""
        members = [node for cluster in self.clusters for node in cluster.members]
        tied = [node for tie in [*self.stacks, *self.confirms] for node in (tie.keep, tie.other)]
        return list(dict.fromkeys([*members, *tied]))


def plan_changes(same: DuplicatePlan, clusters: Sequence[Cluster]) -> list[PlannedAction]:
    """What is stacked, merged, confirmed and digested, as actions.

    Args:
        same: what says the same.
        clusters: what goes into digests.

    Returns:
        Actions with ids, marks of texts and numbers alone; duplicates first, then merges, confirmations, digests.
    """
    made = [_plan_bundle(bundle) for bundle in _make_bundles(same, clusters)] + [
        _plan_merge(tie) for tie in same.merges
    ]
    place = {
        action: nr
        for nr, action in enumerate((JobAction.STACK, JobAction.MERGE, JobAction.CORROBORATE, JobAction.DIGEST))
    }
    return sorted(made, key=lambda one: place[one.action])


def _make_bundles(same: DuplicatePlan, clusters: Sequence[Cluster]) -> list[_Bundle]:
    home: dict[str, _Bundle] = {}
    found: list[_Bundle] = []

    def merge_bundles(ids: Iterable[str]) -> _Bundle:
        bundle = _Bundle()
        for absorbed in {id(one): one for one in map(home.get, ids) if one is not None}.values():
            found.remove(absorbed)
            bundle.stacks += absorbed.stacks
            bundle.confirms += absorbed.confirms
            bundle.clusters += absorbed.clusters
        found.append(bundle)
        return bundle

    def register_bundle(bundle: _Bundle) -> None:
        home.update({node.id: bundle for node in bundle.nodes})

    for ties, name in ((same.stacks, "stacks"), (same.confirms, "confirms")):
        for some in ties.values():
            bundle = merge_bundles(node.id for tie in some for node in (tie.keep, tie.other))
            getattr(bundle, name).extend(some)
            register_bundle(bundle)
    for cluster in clusters:
        bundle = merge_bundles(node.id for node in cluster.members)
        bundle.clusters.append(cluster)
        register_bundle(bundle)
    return found


def _plan_bundle(bundle: _Bundle) -> PlannedAction:
    nodes = bundle.nodes
    counts = Counter(deduplicated=len(bundle.stacks), corroborated=len(bundle.confirms), clusters=len(bundle.clusters))
    counts["source_memories"] = sum(len(cluster.members) for cluster in bundle.clusters)
    detail: dict[str, Any] = {
        "marks": {node.id: node.mark for node in nodes},
        "stacks": [_pair_to_json(tie) for tie in bundle.stacks],
        "confirms": [_pair_to_json(tie) for tie in bundle.confirms],
        "digests": [
            {"sources": [node.id for node in cluster.members], "spans": sentences_to_json(cluster.spans)}
            for cluster in bundle.clusters
        ],
        "counts": {name: count for name, count in counts.items() if count},
        "made": len(bundle.clusters),
        "standing": len(bundle.clusters),
        "leaving": _leaving_ids(bundle),
    }
    ids = tuple(node.id for node in nodes)
    if bundle.clusters:
        return PlannedAction(
            JobAction.DIGEST, ids[0], ids[1:], DIGESTED, _clamp_to_unit(bundle.clusters[0].nearness), detail
        )
    if bundle.stacks:
        return PlannedAction(
            JobAction.STACK, ids[0], ids[1:], DUPLICATE, _clamp_to_unit(bundle.stacks[0].cosine), detail
        )
    return PlannedAction(
        JobAction.CORROBORATE, ids[0], ids[1:], CORROBORATED, _clamp_to_unit(bundle.confirms[0].cosine), detail
    )


def _leaving_ids(bundle: _Bundle) -> list[str]:
    """What stands beneath another when it is done."""
    beneath = [tie.other.id for tie in bundle.stacks]
    sources = [node.id for cluster in bundle.clusters for node in cluster.members]
    return list(dict.fromkeys([*beneath, *sources]))


def _plan_merge(tie: DuplicatePair) -> PlannedAction:
    detail = {
        "marks": {node.id: node.mark for node in (tie.keep, tie.other)},
        "merge": _pair_to_json(tie),
        "counts": {"deduplicated": 1},
        "made": 1,  # the original of the text that changes
        "leaving": [tie.other.id],
    }
    return PlannedAction(JobAction.MERGE, tie.keep.id, (tie.other.id,), MERGED, _clamp_to_unit(tie.cosine), detail)


def _pair_to_json(tie: DuplicatePair) -> list[Any]:
    return [tie.keep.id, tie.other.id, round(tie.cosine, 4), round(tie.confidence, 4), tie.by]


def _clamp_to_unit(number: float) -> float:
    return min(1.0, max(0.0, number))


_log = log.get("lifecycle")

SETTLED, TO_ASK = "opposed_settled", "opposed_asked"
"""Reasons: keys of `resources/help/lifecycle.json`."""
Vectors = Mapping[str, NDArray[np.float32]]
"""New texts of a batch to their vectors."""
_PRUNED = {"old_versions": "pruned_superseded", "faded": "pruned_decayed", "doubted": "pruned_disputed"}


class ConsolidationJob:
    """Plans and carries out a consolidation."""

    @property
    def type(self) -> JobType:
        """Which job."""
        return JobType.CONSOLIDATE

    def plan(self, context: JobContext) -> Sequence[PlannedAction]:
        """List the actions: contradictions, duplicates, merges, confirmations, digests, what is pruned.

        Contradictions are found first, so that what they end is neither kept nor gathered.

        Args:
            context: what it stands on; without a whole index there is no plan.

        Returns:
            The actions, in their order; each memory in at most one.
        """
        if context.neighbours is None:
            return []
        actions = self._find_actions(context)
        context.tidy()
        return actions

    def _find_actions(self, context: JobContext) -> list[PlannedAction]:
        lines, decisions = thresholds_in_force(context), self._read_decisions(context)
        opposed: list[OpposedMemory] = context.read(
            lambda rows: find_opposed_memories(rows, context.store_service, decisions)
        )
        spared: frozenset[str] = context.read(lambda rows: _read_spared_ids(rows, context.now_ms))
        taken = spared.union(one for each in opposed for one in (each.memory_id, *each.others))
        near_pairs = find_near_pairs(context, min(lines.dedup, lines.corroborate, lines.cluster))
        context.tidy()
        same = find_duplicates(context, near_pairs, lines, decisions, taken)
        masses = {keep: len(ties) for keep, ties in same.stacks.items()}
        left_out = taken | same.leaving | same.taken | decisions.loose
        context.tidy()
        clusters = find_clusters(context, near_pairs, lines.cluster, left_out, masses)
        made = plan_changes(same, clusters)
        actions: list[PlannedAction] = context.read(
            lambda rows: [*_plan_opposed(rows, opposed), *(action for action in made if can_unite(rows, action))]
        )
        concerned = {one for action in actions for one in (action.memory_id, *action.others)}
        pruned: list[PlannedAction] = context.read(lambda rows: sweep.plan_prune(rows, context.options, context.now_ms))
        return [*actions, *(action for action in pruned if action.memory_id not in concerned)]

    @staticmethod
    def _read_decisions(context: JobContext) -> PairDecisions:
        found: PairDecisions = context.read(read_pair_decisions)
        return found

    def prepare(self, context: JobContext, actions: Sequence[PlannedAction]) -> Vectors:
        """Embed the new texts of a few actions: digests and united texts.

        Args:
            actions: the next ones of the plan.

        Returns:
            Text to vector, (dims,); nothing where the embedder is away.
        """
        texts: list[str] = context.read(lambda rows: _new_texts(rows, actions, context.now_ms))
        return _embed_texts(context, texts)

    def apply_plan(
        self, tx: Tx, verb: Verb, context: JobContext, actions: Sequence[PlannedAction], prepared: Vectors | None = None
    ) -> BatchResult:
        """Carry a few actions out, each by itself; no model is asked.

        Args:
            verb: of the run: all batches are one undo step.
            actions: the next ones of the plan.
            prepared: from `prepare`. A digest without its vector is embedded later; two are not united without one.

        Returns:
            What happened: `deduplicated`, `resolved`, `pending`, `corroborated`, `clusters`, `source_memories`,
            `pruned_superseded`, `pruned_decayed`, `pruned_disputed`, and `skipped` for actions that no longer fit or
            failed.
        """
        counts: Counter[str] = Counter()
        touched: dict[str, None] = {}
        own = [action for action in actions if action.action not in PRUNES]
        vectors = prepared or {}
        for action in own:
            done, ids = _perform_action(tx, verb, context, action, vectors)
            counts.update(done)
            touched |= dict.fromkeys(ids)
        pruned = sweep.carry_out_sweep(tx, verb, context, [action for action in actions if action.action in PRUNES])
        for name, count in pruned.counts.items():
            counts[_PRUNED.get(name, name)] += count
        touched |= dict.fromkeys(pruned.ids)
        return BatchResult(len(actions), {name: count for name, count in counts.items() if count}, tuple(touched))


def _read_spared_ids(rows: Rows, now_ms: int) -> frozenset[str]:
    """What the person spared in a preview is neither united nor gathered for as long."""
    return frozenset(str(row[0]) for row in rows.all("SELECT memory_id FROM spared WHERE until > ?", (now_ms,)))


def thresholds_in_force(context: JobContext) -> CosineThresholds:
    """From which cosine pairs are looked at: what the person set, else what fits the embedder.

    Args:
        context: its options and its vector space.
    """
    options = context.options
    return thresholds_for(
        context.space.name, CosineThresholds(options.dedup_from, options.corroborate_from, options.cluster_from)
    )


def _plan_opposed(rows: Rows, opposed: Sequence[OpposedMemory]) -> list[PlannedAction]:
    found: list[PlannedAction] = []
    for one in opposed:
        ends = one.action is JobAction.SUPERSEDE
        counts = {"resolved": 1} if ends else {"pending": 1}
        detail = {"counts": counts, "marks": _read_text_marks(rows, one), "leaving": list(one.leaving)}
        reason = SETTLED if ends else TO_ASK
        found.append(PlannedAction(one.action, one.memory_id, one.others, reason, min(1.0, one.confidence), detail))
    return found


def _read_text_marks(rows: Rows, opposed: OpposedMemory) -> dict[str, str]:
    return {
        one: str(rows.value("SELECT lower(hex(substr(content_hash, 1, 8))) FROM memories WHERE id = ?", (one,)))
        for one in (opposed.memory_id, *opposed.others)
    }


def _new_texts(rows: Rows, actions: Sequence[PlannedAction], now_ms: int) -> list[str]:
    own = [action for action in actions if action.action not in PRUNES and _is_uniting(action)]
    return [text for action in own if is_applicable(rows, action, now_ms) for text in texts_to_embed(rows, action)]


def _embed_texts(context: JobContext, texts: Sequence[str]) -> Vectors:
    """Vectors of texts; none where the embedder is away."""
    if not texts:
        return {}
    try:
        return dict(zip(texts, context.embed(texts), strict=True))
    except LociError as error:
        if error.code not in AWAY:
            raise
        return {}


def _is_uniting(action: PlannedAction) -> bool:
    return action.action not in (JobAction.SUPERSEDE, JobAction.ASK)


def _perform_action(
    tx: Tx, verb: Verb, context: JobContext, action: PlannedAction, vectors: Vectors
) -> tuple[Mapping[str, int], Sequence[str]]:
    """One action, whole or not at all."""
    transitions, lines = context.make_transitions(tx, verb), verb.lines
    try:
        with tx.attempt():
            if _is_uniting(action):
                fit = is_applicable(tx, action, context.now_ms)
                done = fit and carry_out_change(
                    transitions, action, [vectors.get(text) for text in texts_to_embed(tx, action)]
                )
            else:
                done = _is_still_settled(tx, context, action)
                if done:
                    settle_contradiction(transitions, context.store_service, action.memory_id)
            if done:
                transitions.close_moot()
    except CancelledError:
        raise
    except LociError as error:
        _log.warning("an action of a consolidation was left: %s", error.code.value)
        verb.forget_lines(lines)
        done = False
    return (action.detail["counts"], transitions.touched) if done else ({"skipped": 1}, ())


def _is_still_settled(tx: Tx, context: JobContext, action: PlannedAction) -> bool:
    """Whether the gate still says what it said when the plan was made."""
    now = recheck_opposed(tx, context.store_service, action.memory_id) if _is_active(tx, action.memory_id) else None
    return (
        now is not None
        and (now.action, now.others) == (action.action, tuple(action.others))
        and _read_text_marks(tx, now) == dict(action.detail["marks"])
    )


def _is_active(tx: Tx, memory_id: str) -> bool:
    return tx.one("SELECT 1 FROM memories WHERE id = ? AND status = 'active'", (memory_id,)) is not None
