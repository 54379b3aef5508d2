"""The verb on what is put into practice: mark, how a rule served or a procedure went."""

from __future__ import annotations

from typing import Any

from core.engine.facade import Engine
from core.errors import Code, UserError
from core.ipc.methods.memory_json import plain
from core.ipc.methods.owner.base import Params, Progress, wait
from core.types.lifecycle import Marked, OutcomeTaken, ProcedureState, RuleState
from core.types.values import Actor


def rule_json(state: RuleState) -> dict[str, Any]:
    """How a rule has served, as JSON.

    Args:
        state: from the engine.

    Returns:
        Its counts and maturity; times in ISO 8601.
    """
    told: dict[str, Any] = plain(
        {
            "maturity": state.maturity,
            "helpful": state.helpful,
            "harmful": state.harmful,
            "effectiveness": round(state.effectiveness, 4),
            "last_applied_at": state.last_applied_at,
            "needs_inversion": state.needs_inversion,
            "original_text": state.original_text,
        }
    )
    return told


def procedure_json(state: ProcedureState) -> dict[str, Any]:
    """How a procedure went, as JSON.

    Args:
        state: from the engine.

    Returns:
        Its counts; times in ISO 8601.
    """
    told: dict[str, Any] = plain(
        {
            "successes": state.successes,
            "failures": state.failures,
            "average_ms": state.average_ms,
            "last_used_at": state.last_used_at,
        }
    )
    return told


async def mark(engine: Engine, params: Params, actor: Actor, _progress: Progress) -> dict[str, Any]:
    """Say how a rule served (helpful, harmful) or how a procedure went (worked, failed)."""
    memory_id, outcome, note = params["id"], params["outcome"], params.get("note")
    if note is not None and outcome != "harmful":
        raise UserError(Code.INVALID_INPUT, "A note is kept with harm alone; leave it out.")
    if outcome in ("worked", "failed"):
        return _taken(outcome, await wait(engine.practice.outcome(memory_id, actor, success=outcome == "worked")))
    if outcome == "helpful":
        return _marked(outcome, await wait(engine.practice.helpful(memory_id, actor)))
    return _marked(outcome, await wait(engine.practice.harmful(memory_id, actor, note)))


def _marked(outcome: str, done: Marked) -> dict[str, Any]:
    return {
        "id": done.state.memory_id,
        "outcome": outcome,
        "step": done.step_id,
        "rule": rule_json(done.state),
        "inverted": done.inverted,
        "conflict": done.conflict,
    }


def _taken(outcome: str, done: OutcomeTaken) -> dict[str, Any]:
    return {
        "id": done.state.memory_id,
        "outcome": outcome,
        "step": done.step_id,
        "procedure": procedure_json(done.state),
    }
