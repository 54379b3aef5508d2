"""The group for entities of the stand-in engine: what it is asked is kept, what it answers is given."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from answered import finished

from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityMerged, Resolving
from core.types.values import Actor


class FakeEntities:
    """Answers with `card`, `found` and `merged`; `asked` has what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.card = EntityCard("e-1", "Rosa", "person", "home", ("Rosie",), {"city": "Porto"}, "owner", 0, 1_000)
        self.found: tuple[Any, ...] = ()
        self.merged = EntityMerged("MERGE", "e-2", "e-1", 3, 1, 2, mentions=4, step_id="s-1")

    def create(self, draft: EntityDraft, actor: Actor) -> Future[EntityCard]:
        """The card."""
        self.asked.append((draft, actor.name))
        return finished(self.card)

    def get(self, entity_id: str, actor: Actor) -> Future[EntityCard]:
        """The card."""
        self.asked.append((entity_id, actor.name))
        return finished(self.card)

    def update(self, entity_id: str, change: EntityChange, actor: Actor) -> Future[EntityCard]:
        """The card."""
        self.asked.append((entity_id, change, actor.name))
        return finished(self.card)

    def resolve(self, wanted: Resolving, actor: Actor) -> Future[Any]:
        """What was found."""
        self.asked.append((wanted, actor.name))
        return finished(self.found)

    def merge(
        self, source_id: str, target_id: str, actor: Actor, request_id: str | None = None
    ) -> Future[EntityMerged]:
        """What was merged."""
        self.asked.append((source_id, target_id, actor.name, request_id))
        return finished(self.merged)


class HasEntities:
    """An engine with that group."""

    _entities: FakeEntities | None = None

    @property
    def entities(self) -> FakeEntities:
        """The group, made when it is first asked for."""
        if self._entities is None:
            self._entities = FakeEntities()
        return self._entities
