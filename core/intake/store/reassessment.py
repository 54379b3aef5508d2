"""Judging a memory that stands by what its claims are at odds with: the way of the store path, without its neighbours.

Must not do: decide otherwise than `core.intake.store.store_plan` does, or judge an episode.
"""

from __future__ import annotations

from dataclasses import replace

from core.intake.claims.candidate import Newcomer
from core.intake.store.classification import Settling, stored_newcomer
from core.intake.store.store import Keeper
from core.intake.store.store_plan import Plan, plan
from core.intake.transitions.transitions import Acts
from core.types.replies import StoreReply
from core.vault.database.rows import Rows


def foresee(keeper: Keeper, rows: Rows, memory_id: str) -> tuple[Newcomer, Plan]:
    """What `judge` would do with a memory that stands.

    Args:
        keeper: stores and judges.
        rows: a vault snapshot or a transaction.
        memory_id: a memory whose claims were read.

    Returns:
        The memory as it is judged, and the plan.
    """
    newcomer = stored_newcomer(rows, memory_id, keeper.space)
    return newcomer, _by_claims(keeper, rows, newcomer)


def judge(keeper: Keeper, acts: Acts, memory_id: str) -> StoreReply:
    """Judge a memory that stands by its claims; what is merely near is not looked at.

    Args:
        keeper: stores and judges.
        acts: the steps of the running verb.
        memory_id: the memory.

    Returns:
        What happened.
    """
    return Settling(acts, keeper.readers, lambda tx, newcomer: _by_claims(keeper, tx, newcomer)).judge(memory_id)


def _by_claims(keeper: Keeper, rows: Rows, newcomer: Newcomer) -> Plan:
    return plan(rows, newcomer, replace(keeper.readers, most=0), keeper.neighbours)
