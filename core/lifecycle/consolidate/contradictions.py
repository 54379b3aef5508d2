"""Claims that cannot both hold and that nobody was asked about yet (seed A, 6.2; E4.3; settlement 8).

The store path settles what it sees. What is left are claims that were read later, that came back, or whose slot was
held by another when they came: they are drafts of memories that stand. They go through the same gate. Must not do:
judge by meaning alone, raise again what a person decided, or hold a second opinion beside the gate's.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.belief.gate import GateDecision as Verdict
from core.intake.store.store import StoreService, judge_by_claims, plan_for_stored
from core.intake.store.store_plan import NeighbourCase, StorePlan
from core.intake.transaction.sources import standing_twin
from core.intake.transitions.review_items import ItemSubject, known_matter
from core.intake.transitions.transitions import Transitions
from core.lifecycle.consolidate.pairs import PairDecisions
from core.memory.read import said_at_sql
from core.types.lifecycle import Deed
from core.vault.database.rows import Rows

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
    f"AND (c.state = 'draft' OR ({said_at_sql('m')}, m.n) "
    f"> ({said_at_sql('p')}, p.n)) "
    "ORDER BY m.n"
)
_ENDS = frozenset({Verdict.SUPERSEDE, Verdict.ENTER_SUPERSEDED})
_ASKS = frozenset({Verdict.QUARANTINE, Verdict.DISPUTE, Verdict.HOLD_EXISTING, Verdict.COEXIST})


@dataclass(frozen=True, slots=True)
class OpposedMemory:
    """A memory that cannot stand beside others.

    Attributes:
        memory_id: the one that is judged.
        others: what it is at odds with.
        deed: `SUPERSEDE` where the gate lets one end, `ASK` where a person decides.
        confidence: how sure that is, 0 to 1.
        leaving: which of them stand no longer then; heads.
    """

    memory_id: str
    others: tuple[str, ...]
    deed: Deed
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
    twin = standing_twin(rows, newcomer.texts, newcomer.kind, newcomer.space_id, newcomer.standing.scope_session)
    if twin not in (None, memory_id) or plan.known is not None:
        return None
    cases = tuple(case for case in plan.partners if case.odds)
    if not cases or any(known_matter(rows, _matter(memory_id, case)) is not None for case in cases):
        return None
    deed = _deed(plan, cases)
    if deed is None:
        return None
    others = tuple(case.other.id for case in cases)
    return OpposedMemory(memory_id, others, deed, plan.confidence, _leaving(plan, memory_id))


def _leaving(plan: StorePlan, memory_id: str) -> tuple[str, ...]:
    """What `core.intake.store.plan_execution` lets end or wait."""
    if plan.deed in (Verdict.SUPERSEDE, Verdict.HOLD_EXISTING):
        return tuple(
            case.other.id
            for case in plan.partners
            if case.verdict.deed is Verdict.HOLD_EXISTING or (case.verdict.deed is not Verdict.COEXIST and case.whole)
        )
    return () if plan.deed is Verdict.COEXIST else (memory_id,)


def _deed(plan: StorePlan, cases: tuple[NeighbourCase, ...]) -> Deed | None:
    if plan.deed in _ENDS:
        return Deed.SUPERSEDE
    if plan.deed is Verdict.COEXIST and not any(case.verdict.review for case in cases):
        return None
    return Deed.ASK if plan.deed in _ASKS else None


def _matter(memory_id: str, case: NeighbourCase) -> ItemSubject:
    odds = case.odds[0]
    return ItemSubject(case.verdict.kind, memory_id, case.other.id, keys=(odds.key, odds.own_key))


def settle_contradiction(transitions: Transitions, store_service: StoreService, memory_id: str) -> None:
    """Do what the gate says of one memory.

    Args:
        transitions: the steps of the running verb.
        store_service: judges.
    """
    judge_by_claims(store_service, transitions, memory_id)
