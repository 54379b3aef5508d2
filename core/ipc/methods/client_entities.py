"""The methods of clients on entities: entity_create, entity_get, entity_update, entity_resolve, entity_merge (seed B).

The score of a candidate is arithmetic over names, not trust, and is told as the seed has it. Must not do: check what
the engine checks, or tell how sure a claim is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from core.engine.facade import Engine, EntityCandidate
from core.ipc.methods.owner.base import Params, wait
from core.ipc.protocol.sessions import Session
from core.ipc.protocol.time_format import iso
from core.text.screening.egress import shown, shown_map
from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityMerged, Resolving


async def entity_create(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Make an entity."""
    draft = EntityDraft(
        name=params["canonical_name"],
        type=params["entity_type"],
        aliases=tuple(params.get("aliases", ())),
        metadata=params.get("metadata", {}),
        space=params.get("space"),
        request_id=params.get("request_id"),
    )
    return entity(await wait(engine.entities.create(draft, session.actor())))


async def entity_get(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """One entity."""
    return entity(await wait(engine.entities.get(params["entity_id"], session.actor())))


async def entity_update(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Change an entity."""
    change = EntityChange(
        name=params.get("canonical_name"),
        aliases=None if "aliases" not in params else tuple(params["aliases"]),
        metadata=params.get("metadata"),
        request_id=params.get("request_id"),
    )
    return entity(await wait(engine.entities.update(params["entity_id"], change, session.actor())))


async def entity_resolve(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Which entities a name may mean; none is made."""
    hints = params.get("context_hints", {})
    beside = hints.get("mentioned_with", ())
    wanted = Resolving(
        name=params["name"],
        type=params.get("entity_type"),
        topic=hints.get("topic", ""),
        mentioned_with=(beside,) if isinstance(beside, str) else tuple(beside),
        domain_scores=hints.get("domain_scores", {}),
        fuzzy=params.get("enable_fuzzy", False),
    )
    found = await wait(engine.entities.resolve(wanted, session.actor()))
    return {"candidates": [_candidate(one) for one in found]}


async def entity_merge(engine: Engine, params: Params, session: Session) -> dict[str, Any]:
    """Merge two entities, or propose it to the person."""
    source, target = params["source_entity_id"], params["target_entity_id"]
    done = await wait(engine.entities.merge(source, target, session.actor(), params.get("request_id")))
    return merged(done)


def entity(card: EntityCard) -> dict[str, Any]:
    """An entity as JSON (seed B, entity schema).

    Args:
        card: the entity.

    Returns:
        `{entity_id, canonical_name, entity_type, aliases, metadata, space, created_at, updated_at}`; of one that was
        merged away `metadata.merged_into` says where it leads.
    """
    lead = {} if card.merged_into is None else {"merged_into": card.merged_into}
    return {
        "entity_id": card.id,
        "canonical_name": shown(card.name),
        "entity_type": card.type,
        "aliases": [shown(name) for name in card.aliases],
        "metadata": {**shown_map(card.metadata), **lead},
        "space": card.space,
        "created_at": iso(card.created_at),
        "updated_at": iso(card.updated_at),
    }


def merged(done: EntityMerged) -> dict[str, Any]:
    """What became of a merge as JSON: seed B's payload, and whether the person has to decide.

    Args:
        done: from the engine.

    Returns:
        `{operation, source_entity_id, target_entity_id, facts_repointed, facts_superseded, aliases_added, conflict}`.
    """
    return {
        "operation": done.operation,
        "source_entity_id": done.source_id,
        "target_entity_id": done.target_id,
        "facts_repointed": done.facts_repointed,
        "facts_superseded": done.facts_superseded,
        "aliases_added": done.aliases_added,
        "conflict": done.conflict,
    }


def _candidate(one: EntityCandidate) -> dict[str, Any]:
    return {
        "entity_id": one.entity_id,
        "canonical_name": shown(one.canonical_name),
        "entity_type": one.entity_type,
        "score": one.score,
        "name_match": one.name_match,
        "aliases": [shown(name) for name in one.aliases],
    }


ENTITY_METHODS: Mapping[str, Callable[[Engine, Params, Session], Awaitable[dict[str, Any]]]] = MappingProxyType(
    {
        "entity_create": entity_create,
        "entity_get": entity_get,
        "entity_update": entity_update,
        "entity_resolve": entity_resolve,
        "entity_merge": entity_merge,
    }
)
