"""Entities made, changed, looked up and merged in one line each, for tests."""

from __future__ import annotations

from typing import Any

import pytest
from engine_rig import Rig

from core.entities import registry
from core.errors import Code, LociError
from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityMerged, Resolving
from core.types.replies import StoreReply
from core.types.values import OWNER_ACTOR, Actor


def make(rig: Rig, name: str, kind: str = "person", actor: Actor = OWNER_ACTOR, **more: Any) -> EntityCard:
    return rig.engine.entities.create(EntityDraft(name, kind, **more), actor).result(10)


def change(rig: Rig, one: EntityCard, actor: Actor = OWNER_ACTOR, **what: Any) -> EntityCard:
    return rig.engine.entities.update(one.id, EntityChange(**what), actor).result(10)


def get(rig: Rig, entity_id: str, actor: Actor = OWNER_ACTOR) -> EntityCard:
    return rig.engine.entities.get(entity_id, actor).result(10)


def found(rig: Rig, name: str, actor: Actor = OWNER_ACTOR, **more: Any) -> list[tuple[str, str, float]]:
    hits = rig.engine.entities.resolve(Resolving(name, **more), actor).result(10)
    return [(one.canonical_name, one.name_match, one.score) for one in hits]


def merge(rig: Rig, source: EntityCard, target: EntityCard, actor: Actor = OWNER_ACTOR, **more: Any) -> EntityMerged:
    return rig.engine.entities.merge(source.id, target.id, actor, **more).result(10)


def named(rig: Rig, text: str, name: str, actor: Actor = OWNER_ACTOR, made_by: str = "rules", **more: Any) -> str:
    """A memory, and an entity that rules found in it."""
    reply: StoreReply = rig.store(text, actor, **more)
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", reply.memory_id)

    def write(tx: Any) -> str:
        one = registry.make_entity(tx, rig.opened.storage.make_id, space, name, "person", made_by)
        at = text.index(name)
        row = {"memory_id": reply.memory_id, "entity_id": one, "start_at": at, "end_at": at + len(name)}
        tx.insert("mentions", row)
        return one

    entity_id: str = rig.write(write)
    return entity_id


def refused(call: Any) -> tuple[Code, str]:
    with pytest.raises(LociError) as caught:
        call()
    return caught.value.code, caught.value.sentence
