"""What is out of a client's sight is answered by the same work as an id that was made up: no time tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest
from engine_rig import Rig

from core.errors import Code, LociError
from core.types.entities import EntityChange, EntityDraft
from core.types.memory import Relationship, RequestedChange
from core.types.requests import ListRequest
from core.types.values import Actor, Kind
from core.vault.database.rows import SqlRows
from core.vault.database.tx import Tx

Ask = Callable[[Rig, Actor, str], Future[Any]]

MEMORIES: dict[str, Ask] = {
    "get": lambda rig, actor, one: rig.engine.memories.get(one, actor),
    "get of a kind": lambda rig, actor, one: rig.engine.memories.get(one, actor, Kind.RULE),
    "history": lambda rig, actor, one: rig.engine.memories.list_versions(one, actor),
    "list after": lambda rig, actor, one: rig.engine.memories.list(ListRequest(after=one), actor),
    "update": lambda rig, actor, one: rig.engine.client_changes.update_text(one, "The kettle is blue.", actor),
    "delete": lambda rig, actor, one: rig.engine.client_changes.remove_memory(one, actor, RequestedChange.DELETE),
    "forget": lambda rig, actor, one: rig.engine.client_changes.remove_memory(one, actor, RequestedChange.FORGET),
    "mark": lambda rig, actor, one: rig.engine.client_changes.mark_rule(one, actor, helpful=True),
    "mark of a kind": lambda rig, actor, one: rig.engine.client_changes.mark_rule(
        one, actor, helpful=True, kind=Kind.FACT
    ),
    "relate": lambda rig, actor, one: rig.engine.client_changes.relate_memories(
        one, one + "x", Relationship.CAUSED_BY, actor
    ),
    "feedback": lambda rig, actor, one: rig.engine.memories.give_feedback(one, "helpful", "kettle", actor),
}


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements that are run meanwhile, without their values."""
    run: list[str] = []
    reading = SqlRows.all
    changing = Tx._execute_sql

    def noted(self: SqlRows, sql: str, params: Any = ()) -> Any:
        run.append(sql)
        return reading(self, sql, params)

    def changed(self: Tx, sql: str, values: Any) -> Any:
        run.append(sql)
        return changing(self, sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(SqlRows, "all", noted)
        patch.setattr(Tx, "_execute_sql", changed)
        yield run


def work_for(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, ask: Ask, actor: Actor, one: str
) -> tuple[list[str], Code, str]:
    with statements(monkeypatch) as run, pytest.raises(LociError) as caught:
        ask(rig, actor, one).result(30)
    return run, caught.value.code, caught.value.sentence


@pytest.fixture
def curator(rig: Rig) -> Actor:
    return rig.client("curator", "read", "write", "curate")


@pytest.mark.parametrize("name", MEMORIES)
def test_a_memory_out_of_sight_is_one_that_does_not_exist(
    rig: Rig, curator: Actor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    foreign = rig.store("The kettle is red. " * 300).memory_id
    answers = [work_for(rig, monkeypatch, MEMORIES[name], curator, one) for one in (foreign, foreign[:-4] + "beef")]
    assert answers[0] == answers[1]
    assert answers[0][0]  # something was asked


def test_an_entity_out_of_sight_is_one_that_does_not_exist(
    rig: Rig, curator: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = rig.engine.entities.create(EntityDraft("Tilda Okonedo", "person")).result(30)
    foreign = made.id
    for ask in (
        lambda rig, actor, one: rig.engine.entities.get(one, actor),
        lambda rig, actor, one: rig.engine.entities.update(one, EntityChange(name="Hugo"), actor),
    ):
        answers = [work_for(rig, monkeypatch, ask, curator, one) for one in (foreign, foreign[:-4] + "beef")]
        assert answers[0] == answers[1]
