"""Episodes, a stand-in model's answers and runs of the job that reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from engine_rig import Rig
from ground_rig import Ran, flow, ground_of

from core.lifecycle.distill.distill import DistillJob
from core.lifecycle.job_support.job_context import BatchResult
from core.llm.prompts import Prompt
from core.types.values import OWNER_ACTOR, Actor, Kind, Memory
from core.vault.database.tx import Tx

HOUR_MS = 3_600_000
Ask = Callable[[Prompt], str]


def note(rig: Rig, text: str, actor: Actor = OWNER_ACTOR, **more: Any) -> str:
    """An episode is stored."""
    return rig.store(text, actor, kind=Kind.EPISODE, **more).memory_id


def fact(content: str, **more: Any) -> dict[str, Any]:
    """A fact as a model gives it."""
    return {"subject": "user", "predicate": "said", "content": content, **more}


def answer(*facts: Any, updated: Any = (), rules: Any = (), confirmed: Any = ()) -> str:
    """A proper answer."""
    lists = {"new_facts": facts, "updated_facts": updated, "new_rules": rules, "confirmations": confirmed}
    return json.dumps(lists)


def says(text: str) -> Ask:
    """A model that always says this."""
    return lambda _: text


def run(rig: Rig, ask: Ask | str, **more: Any) -> Ran:
    """Run the job until nothing is left."""
    given = says(ask) if isinstance(ask, str) else ask
    return flow(rig, DistillJob(), ground_of(rig, ask=given, **more), most=20)


def sources_of(rig: Rig, memory_id: str) -> set[str]:
    """What a memory was derived from."""
    return {row[0] for row in rig.rows("SELECT source_id FROM derivations WHERE derived_id = ?", memory_id)}


def state_of(rig: Rig, memory_id: str) -> tuple[Any, ...] | None:
    """How an episode is marked: state, attempts, code."""
    found = rig.rows("SELECT state, attempts, code FROM distilled WHERE memory_id = ?", memory_id)
    return found[0] if found else None


def in_flight(rig: Rig, told: str, meanwhile: Callable[[], object]) -> BatchResult:
    """A group is read, then something happens, then what was read is written."""
    job, ground = DistillJob(), ground_of(rig, ask=says(told))
    prepared = job.prepare(ground, {})
    assert prepared is not None
    meanwhile()

    def write(tx: Tx) -> BatchResult:
        with rig.opened.storage.work.verb(tx, "run", "A run", OWNER_ACTOR) as verb:
            return job.write(tx, verb, ground, prepared)

    done: BatchResult = rig.write(write)
    return done


def only(rig: Rig, kind: str = "fact", status: str = "active") -> Memory:
    """The one memory of a kind and status."""
    rows = rig.rows("SELECT id FROM memories WHERE kind = ? AND status = ?", kind, status)
    assert len(rows) == 1
    return rig.get(rows[0][0])
