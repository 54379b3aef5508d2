"""The methods of clients on entities: entity_create, entity_get, entity_update, entity_resolve, entity_merge (seed B).

The score of a candidate is arithmetic over names, not trust, and is told as the seed has it. Must not do: check what
the engine checks, or tell how sure a claim is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field

from core.engine.facade import EntityCandidate
from core.errors import Code
from core.ipc.methods.definition.entry import (
    Answer,
    ChannelParams,
    EntityAliases,
    EntityId,
    EntityMetadata,
    EntityName,
    EntityType,
    Entry,
    MethodCall,
    NoChannelParams,
    Params,
    RequestId,
    SpaceName,
    await_future,
    client_method,
    client_write,
)
from core.ipc.methods.definition.results import (
    Schema,
    any_object,
    list_of,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.protocol.contract import format_wire_time
from core.text.screening.egress import sanitize_for_display, sanitize_map
from core.types.entities import EntityCard, EntityChange, EntityDraft, EntityMerged, Resolving


class EntityCreateParams(NoChannelParams):
    """The parameters of `entity_create`."""

    canonical_name: EntityName
    entity_type: EntityType
    aliases: EntityAliases = ()
    metadata: EntityMetadata = Field({})
    space: SpaceName | None = None
    request_id: RequestId | None = None


class EntityGetParams(ChannelParams):
    """The parameters of `entity_get`."""

    entity_id: EntityId


class EntityUpdateParams(NoChannelParams):
    """The parameters of `entity_update`."""

    entity_id: EntityId
    canonical_name: EntityName | None = None
    aliases: EntityAliases | None = None
    metadata: EntityMetadata | None = None
    request_id: RequestId | None = None


class ContextHints(Params):
    """What is known of the entity that is meant."""

    topic: str | None = Field(None, max_length=1000, description="What is spoken of.")
    mentioned_with: (
        Annotated[str, Field(max_length=1000)]
        | Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], Field(max_length=64)]
        | None
    ) = Field(None, description="Names that stand beside it.")
    domain_scores: dict[str, Annotated[float, Field(ge=-1000, le=1000)]] | None = Field(
        None, max_length=200, description="Ids of entities to marks that are added to their scores."
    )


class EntityResolveParams(ChannelParams):
    """The parameters of `entity_resolve`."""

    name: str = Field(min_length=1, max_length=1000, description="As it was written.")
    entity_type: EntityType | None = None
    context_hints: ContextHints | None = Field(
        None, description="What is known of the one that is meant; topic and names weigh with facts this client sees."
    )
    enable_fuzzy: bool = Field(default=False, description="Names that are only spelt alike are candidates too.")


class EntityMergeParams(NoChannelParams):
    """The parameters of `entity_merge`."""

    source_entity_id: EntityId
    target_entity_id: EntityId
    request_id: RequestId | None = None


async def entity_create(call: MethodCall, params: EntityCreateParams) -> Answer:
    """Make an entity."""
    draft = EntityDraft(
        name=params.canonical_name,
        type=params.entity_type,
        aliases=params.aliases,
        metadata=params.metadata,
        space=params.space,
        request_id=params.request_id,
    )
    return entity_json(await await_future(call.engine.entities.create(draft, call.actor())))


async def entity_get(call: MethodCall, params: EntityGetParams) -> Answer:
    """One entity."""
    return entity_json(await await_future(call.engine.entities.get(params.entity_id, call.actor())))


async def entity_update(call: MethodCall, params: EntityUpdateParams) -> Answer:
    """Change an entity."""
    change = EntityChange(
        name=params.canonical_name,
        aliases=params.aliases,
        metadata=params.metadata,
        request_id=params.request_id,
    )
    return entity_json(await await_future(call.engine.entities.update(params.entity_id, change, call.actor())))


async def entity_resolve(call: MethodCall, params: EntityResolveParams) -> Answer:
    """Which entities a name may mean; none is made."""
    wanted = Resolving(name=params.name, type=params.entity_type, fuzzy=params.enable_fuzzy)
    hints = params.context_hints
    if hints is not None:
        beside = hints.mentioned_with or ()
        wanted = replace(
            wanted,
            topic=hints.topic or "",
            mentioned_with=(beside,) if isinstance(beside, str) else beside,
            domain_scores=hints.domain_scores or {},
        )
    found = await await_future(call.engine.entities.resolve(wanted, call.actor()))
    return {"candidates": [_candidate_json(one) for one in found]}


async def entity_merge(call: MethodCall, params: EntityMergeParams) -> Answer:
    """Merge two entities, or propose it to the person."""
    source, target = params.source_entity_id, params.target_entity_id
    return merge_json(await await_future(call.engine.entities.merge(source, target, call.actor(), params.request_id)))


def entity_json(card: EntityCard) -> dict[str, Any]:
    """An entity as JSON (seed B, entity schema).

    Returns:
        `{entity_id, canonical_name, entity_type, aliases, metadata, space, created_at, updated_at}`; of one that was
        merged away `metadata.merged_into` says where it leads.
    """
    lead = {} if card.merged_into is None else {"merged_into": card.merged_into}
    return {
        "entity_id": card.id,
        "canonical_name": sanitize_for_display(card.name),
        "entity_type": card.type,
        "aliases": [sanitize_for_display(name) for name in card.aliases],
        "metadata": {**sanitize_map(card.metadata), **lead},
        "space": card.space,
        "created_at": format_wire_time(card.created_at),
        "updated_at": format_wire_time(card.updated_at),
    }


def merge_json(done: EntityMerged) -> dict[str, Any]:
    """What became of a merge as JSON: seed B's payload, and whether the person has to decide."""
    return {
        "operation": done.operation,
        "source_entity_id": done.source_id,
        "target_entity_id": done.target_id,
        "facts_repointed": done.facts_repointed,
        "facts_superseded": done.facts_superseded,
        "aliases_added": done.aliases_added,
        "conflict": done.conflict,
    }


def _candidate_json(one: EntityCandidate) -> dict[str, Any]:
    return {
        "entity_id": one.entity_id,
        "canonical_name": sanitize_for_display(one.canonical_name),
        "entity_type": one.entity_type,
        "score": one.score,
        "name_match": one.name_match,
        "aliases": [sanitize_for_display(name) for name in one.aliases],
    }


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "entity": record(
            {
                "entity_id": text(),
                "canonical_name": text(),
                "entity_type": ref("entity_type"),
                "aliases": list_of(text()),
                "metadata": any_object(),
                "space": text(),
                "created_at": text(),
                "updated_at": text(),
                "cut?": list_of(text()),
            }
        ),
        "entity_candidate": record(
            {
                "entity_id": text(),
                "canonical_name": text(),
                "entity_type": ref("entity_type"),
                "score": number("Of the tier (100, 80, 50, 20) with what the hints add; no measure of trust."),
                "name_match": one_of("exact", "alias", "prefix", "fuzzy"),
                "aliases": list_of(text()),
            }
        ),
    }
)
"""What several answers are made of."""

METHODS: tuple[Entry, ...] = (
    client_write(
        "entity_create",
        "Make an entity; one undo step. It belongs to its space, so on a channel it is "
        "refused: make nothing here of what a person said on one. A second one of the "
        "same name, type and space is refused.",
        EntityCreateParams,
        ref("entity"),
        entity_create,
        grants=("write",),
        errors=(
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.FORBIDDEN_FIELD,
        ),
    ),
    client_method(
        "entity_get",
        "One entity; of one that was merged away `metadata.merged_into` says where it leads.",
        EntityGetParams,
        ref("entity"),
        entity_get,
        grants=("read",),
        errors=(Code.NOT_FOUND, Code.ACCESS_DENIED),
        aliases={"id": "entity_id"},
    ),
    client_write(
        "entity_update",
        "Change an entity; one undo step. The name and the list of other names are "
        "replaced, metadata is laid over what is there. On a channel it is refused: an "
        "entity belongs to its space.",
        EntityUpdateParams,
        ref("entity"),
        entity_update,
        grants=("curate",),
        errors=(
            Code.NOT_FOUND,
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.FORBIDDEN_FIELD,
        ),
        aliases={"id": "entity_id"},
    ),
    client_method(
        "entity_resolve",
        "Which entities a name may mean, the best first; none is ever made.",
        EntityResolveParams,
        record({"candidates": list_of(ref("entity_candidate")), "cut?": list_of(text())}),
        entity_resolve,
        grants=("read",),
        errors=(Code.ACCESS_DENIED,),
    ),
    client_write(
        "entity_merge",
        "Merge one entity into another; one undo step. Without the grant curate, in "
        "GLOBAL, or against the person's own it is proposed to the person, where a memory "
        "that this client sees names each of the two. On a channel it is refused: an "
        "entity belongs to its space.",
        EntityMergeParams,
        record(
            {
                "operation": one_of(
                    "MERGE", "PROPOSED", "NOOP", about="NOOP: the person has said before that they are two."
                ),
                "source_entity_id": text(),
                "target_entity_id": text(),
                "facts_repointed": whole_number(least=0),
                "facts_superseded": whole_number(least=0),
                "aliases_added": whole_number(least=0),
                "conflict": nullable(text(), "The review item of a proposal."),
            }
        ),
        entity_merge,
        grants=("curate", "write", "propose"),
        errors=(
            Code.NOT_FOUND,
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.FORBIDDEN_FIELD,
        ),
    ),
)
