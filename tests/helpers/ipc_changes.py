"""A stand-in for the engine's group `changes`, for the tests of `core.ipc`: everything waits for the person."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from answered import finished

from core.types.memory import ChangeReply, Judgement, Related, Relationship, Wish
from core.types.values import Actor, Kind


class FakeChanges:
    """Writes down what it is asked.

    Attributes:
        asked: the method's name with its arguments, in order.
        at_once: whether changes are made at once.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.at_once = False

    def update(
        self,
        memory_id: str,
        text: str,
        actor: Actor,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[ChangeReply]:
        self.asked.append(("update", memory_id, text, actor.name, reason, kind, request_id))
        if self.at_once:
            return finished(ChangeReply("UPDATE", "m-2", superseded=(memory_id,), step_id="step-1"))
        return finished(ChangeReply("PROPOSED", "m-2", conflict="c-1", step_id="step-1"))

    def remove(
        self,
        memory_id: str,
        actor: Actor,
        wish: Wish = Wish.FORGET,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[ChangeReply]:
        self.asked.append((wish.value, memory_id, actor.name, reason, kind, request_id))
        if self.at_once:
            return finished(ChangeReply(wish.name, memory_id, step_id="step-1"))
        return finished(ChangeReply("PROPOSED", memory_id, conflict="c-1", deduplicated=True))

    def feedback(
        self,
        memory_id: str,
        actor: Actor,
        *,
        helpful: bool,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[Judgement]:
        self.asked.append(("feedback", memory_id, actor.name, helpful, reason, kind, request_id))
        return finished(Judgement(memory_id, "helpful" if helpful else "irrelevant", marked=False, step_id="step-1"))

    def mark(
        self,
        memory_id: str,
        actor: Actor,
        *,
        helpful: bool,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[Judgement]:
        self.asked.append(("mark", memory_id, actor.name, helpful, reason, kind, request_id))
        word = "helpful" if helpful else "harmful"
        return finished(Judgement(memory_id, word, marked=True, step_id="step-1", maturity="candidate"))

    def relate(
        self,
        source_id: str,
        target_id: str,
        relationship: Relationship,
        actor: Actor,
        request_id: str | None = None,
    ) -> Future[Related]:
        self.asked.append(("relate", source_id, target_id, relationship, actor.name, request_id))
        return finished(Related("e-1", source_id, target_id, relationship.value, step_id="step-1"))


class HasChanges:
    """What a stand-in engine takes on to have the group."""

    _changes: FakeChanges | None = None

    @property
    def changes(self) -> FakeChanges:
        if self._changes is None:
            self._changes = FakeChanges()
        return self._changes
