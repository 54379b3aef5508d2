"""Whatever clients ask for, in whatever order: the person's memories stay until the person allows it, and it all goes.

Two clients, one with every grant but the person's own voice, make calls at random on what the person said, pinned and
vouched for, and on what they brought themselves.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from desk_rig import decide
from engine_rig import Rig, differences, rig_at
from example_counts import count_examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.errors import Code, LociError
from core.types.memory import Relationship, RequestedChange
from core.types.requests import StoreRequest
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Kind

QUICK = settings(
    max_examples=count_examples(6), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
UNEXPECTED = frozenset({Code.BUG, Code.VAULT_DAMAGED, Code.WRITE_FAILED, Code.VAULT_LOCKED})
GRANTS = (("read", "propose", "space:home"), ("read", "propose", "write", "curate", "space:home"))
VERBS = ("update", "delete", "forget", "helpful", "unhelpful", "mark", "relate", "dispute", "resolve", "store")
TEXTS = ("The kettle is blue.", "Warm the pot after the tea.", "The cat is called Moz.")
PERSONS, ALL = 4, 6
CALLS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(VERBS), st.integers(0, ALL - 1), st.integers(0, len(TEXTS) - 1)),
    min_size=1,
    max_size=10,
)
_STATE = (
    "SELECT id, text, status, source, client_id, pinned, version, superseded_by_id, trust FROM memories "
    "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
)


@contextmanager
def palace(folder: Path) -> Iterator[tuple[Rig, list[Actor], list[str]]]:
    """What the person has, what a client brought, and the clients."""
    with tempfile.TemporaryDirectory(dir=folder) as name, rig_at(Path(name)) as rig:
        clients = [rig.client(f"client{n}", *grants) for n, grants in enumerate(GRANTS)]
        own = [
            rig.store("The kettle is red.").memory_id,
            rig.store("Warm the pot before the tea.", kind=Kind.RULE).memory_id,
            rig.store("The cat is called Miz.", clients[1], space="home").memory_id,
            rig.store("The lamp is by the door.", clients[1], space="home").memory_id,
            rig.store("The shelf holds plums.", clients[1], space="home").memory_id,
            rig.store("Put the plums on the shelf.", clients[1], space="home", kind=Kind.RULE).memory_id,
        ]
        rig.engine.memories.confirm(own[2], OWNER_ACTOR).result(30)
        rig.write(lambda tx: tx.update("memories", {"id": own[3]}, {"pinned": 1}))
        yield rig, clients, own


def call(rig: Rig, own: list[str], actor: Actor, verb: str, place: int, other: int) -> Future[Any]:
    changes, memory_id, text = rig.engine.client_changes, own[place], TEXTS[other]
    if verb == "update":
        return changes.update_text(memory_id, text, actor)
    if verb in ("delete", "forget"):
        return changes.remove_memory(memory_id, actor, RequestedChange(verb))
    if verb in ("helpful", "unhelpful"):
        return changes.give_feedback(memory_id, actor, helpful=verb == "helpful", reason="So it is.")
    if verb == "mark":
        return changes.mark_rule(memory_id, actor, helpful=False, reason="It cracked.")
    if verb == "relate":
        return changes.relate_memories(memory_id, own[other], list(Relationship)[other], actor)
    if verb == "dispute":
        return rig.engine.memories.dispute(memory_id, actor)
    if verb == "resolve":
        items = [item.id for item in rig.engine.conflicts.list_items(actor).result(30)]
        return rig.engine.conflicts.resolve(
            items[other % len(items)] if items else memory_id, Decision(Action.SUPERSEDE), actor
        )
    return rig.engine.memories.store(StoreRequest(text, space="home"), actor)


def run(rig: Rig, clients: list[Actor], own: list[str], calls: list[tuple[int, str, int, int]]) -> None:
    """Every call; what a client may not do is refused in words."""
    for who, verb, place, other in calls:
        try:
            call(rig, own, clients[who], verb, place, other).result(30)
        except LociError as error:
            if error.code in UNEXPECTED:
                raise


def state(rig: Rig, ids: list[str]) -> list[tuple[Any, ...]]:
    """What of memories nobody but the person changes."""
    return rig.rows(_STATE, json.dumps(ids))


@pytest.mark.slow
@QUICK
@given(CALLS)
@example([(1, "update", 0, 0), (1, "resolve", 0, 0), (0, "delete", 2, 0), (1, "forget", 3, 1)])
@example([(1, "mark", 1, 0)] * 4 + [(0, "update", 1, 1), (1, "resolve", 1, 0)])
def test_no_call_changes_what_is_the_persons(tmp_path: Path, calls: list[tuple[int, str, int, int]]) -> None:
    with palace(tmp_path) as (rig, clients, own):
        hers = own[:PERSONS]
        before = [row[:-1] for row in state(rig, hers)]
        run(rig, clients, own, calls)
        after = [row[:-1] for row in state(rig, hers)]
        # The pinned one is the client's own: its doubts may count, its text and its place may not change.
        assert [row for row in after if row[0] != own[3]] == [row for row in before if row[0] != own[3]]
        assert [row[1] for row in after] == [row[1] for row in before]
        assert rig.value("SELECT status FROM memories WHERE id = ?", own[3]) in ("active", "disputed")
        asked = rig.rows("SELECT conflict_id FROM approvals ORDER BY conflict_id")
        fingerprints = rig.rows("SELECT fingerprint FROM conflicts WHERE state = 'open' AND kind = 'approval'")
        assert len(fingerprints) == len(set(fingerprints))
        for (item_id,) in asked:
            decided(rig, item_id)
        rig.verify()


def decided(rig: Rig, item_id: str) -> None:
    """The person allows it; nothing of it is an error that was not foreseen."""
    try:
        decide(rig, item_id, Action.SUPERSEDE)
    except LociError as error:
        if error.code is not Code.INVALID_INPUT:
            raise


@pytest.mark.slow
@QUICK
@given(CALLS)
@example([(0, "update", 0, 0), (0, "delete", 0, 0), (1, "update", 4, 2), (1, "delete", 4, 0)])
def test_taking_back_all_that_clients_did_leads_to_the_start(
    tmp_path: Path, calls: list[tuple[int, str, int, int]]
) -> None:
    with palace(tmp_path) as (rig, clients, own):
        rig.settle()
        before = rig.dump()
        first = rig.value("SELECT coalesce(max(rowid), 0) FROM undo_steps")
        run(rig, clients, own, calls)
        rig.settle()
        steps = rig.rows("SELECT id FROM undo_steps WHERE rowid > ? AND actor = 'client' ORDER BY rowid DESC", first)
        for (step_id,) in steps:
            assert rig.undo(step_id).left == ()
        assert differences(before, rig.dump()) == {}
