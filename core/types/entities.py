"""Entities as callers and the window get them: one with its names, lists, where it is mentioned, merges. Frozen values.

Must not do: anything; there is no code here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.types.values import When


@dataclass(frozen=True, slots=True)
class EntityScope:
    """Whose entities are looked at.

    Attributes:
        space_ids: ids of the spaces that may be seen; None for all.
        is_client: a client asks: of what rules found it sees only what a memory names that it may see.
        channels: what such a memory may be limited to (`memories.scope_channel`); None for anything.
    """

    space_ids: frozenset[str] | None = None
    is_client: bool = False
    channels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class EntityCard:
    """One entity with its names.

    Attributes:
        id: UUIDv7.
        name: its name; `type` is of `core.entities.registry.TYPES`.
        space: the name of its space.
        aliases: other names, without its own, in the order in which they came.
        metadata: what callers put down about it.
        made_by: `owner`, `client`, `rules` or `model`.
        created_at: epoch ms.
        updated_at: epoch ms.
        merged_into: what it was merged into; None where it stands for itself.
        is_owner: whether it is the owner of the vault.
    """

    id: str
    name: str
    type: str
    space: str
    aliases: tuple[str, ...]
    metadata: Mapping[str, Any]
    made_by: str
    created_at: int
    updated_at: int
    merged_into: str | None = None
    is_owner: bool = False


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity to be made.

    Attributes:
        name: its name.
        type: its type.
        aliases: other names.
        metadata: anything JSON has, 8 KiB at most.
        space: the name of its space; None for the asker's own.
        request_id: makes the call idempotent.
    """

    name: str
    type: str
    aliases: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    space: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class EntityChange:
    """What shall be different about an entity; None leaves it as it is (seed B, entity update semantics).

    Attributes:
        name: replaces its name.
        aliases: replaces all other names.
        metadata: keys that are put beside, or over, what is there.
        type: replaces its type; the owner's alone.
        request_id: makes the call idempotent.
    """

    name: str | None = None
    aliases: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] | None = None
    type: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Resolving:
    """What a name is looked up with.

    Attributes:
        name: as it was written.
        type: only entities of this type; None for all.
        topic: what is spoken of.
        mentioned_with: names that stand beside it.
        domain_scores: entity to marks that are added to its score.
        fuzzy: whether names that are only spelt alike are candidates too.
    """

    name: str
    type: str | None = None
    topic: str = ""
    mentioned_with: tuple[str, ...] = ()
    domain_scores: Mapping[str, float] = field(default_factory=dict)
    fuzzy: bool = False


@dataclass(frozen=True, slots=True)
class EntityMerged:
    """What became of a wish to merge.

    Attributes:
        operation: `MERGE`, or `PROPOSED` where the person decides, or `NOOP` where the person has said no before.
        source_id: the entity that leads to the other from now on; `target_id` the one that stays.
        facts_repointed: claims that are the target's now.
        facts_superseded: claims that ended, since two of them could not both stand.
        aliases_added: names that the target got.
        mentions: mentions that moved.
        conflict: the review item of a proposal.
        step_id: what `undo` takes; None where nothing changed.
    """

    operation: str
    source_id: str
    target_id: str
    facts_repointed: int = 0
    facts_superseded: int = 0
    aliases_added: int = 0
    mentions: int = 0
    conflict: str | None = None
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class EntityRevised:
    """What became of a change of the owner's.

    Attributes:
        entity_id: the entity.
        step_id: what `undo` takes; None where nothing changed.
    """

    entity_id: str
    step_id: str | None


@dataclass(frozen=True, slots=True)
class EntityQuery:
    """Which entities a list shows; those that were merged into others are never among them.

    Attributes:
        text: a part of any of their names; "" for all.
        types: only these; none for all.
        limit: 1 to 10,000.
    """

    text: str = ""
    types: tuple[str, ...] = ()
    limit: int = 5_000


@dataclass(frozen=True, slots=True)
class EntityLine:
    """One line of a list.

    Attributes:
        mentions: memories that name it, or in which it speaks, and were not deleted; of all its spaces.
        others: its other names.
        also_in: other spaces that have one of the name, which is the same (`core.entities.across_spaces`).
    """

    id: str
    name: str
    type: str
    space: str
    mentions: int
    others: tuple[str, ...] = ()
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityList:
    """Entities, those named most often first.

    Attributes:
        lines: at most the limit.
        total: how many fit the question.
        by_type: how many there are of each type, whatever types were asked for; of the text asked for.
        known: how many there are at all.
        unread: memories in which names are not looked for yet, of `readable` that have them looked for.
    """

    lines: tuple[EntityLine, ...]
    total: int
    by_type: Mapping[str, int]
    known: int
    unread: int = 0
    readable: int = 0


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A memory that mentions an entity.

    Attributes:
        memory_id: the memory; `text` the sentence with the name, `start` and `end` where in `text` the name stands, 0
            and 0 where it stands among the properties of a note alone.
        kind: of the memory.
        status: of the memory.
        occurred: when it was said; None where unknown.
        recorded_at: when Loci learned it, epoch ms.
    """

    memory_id: str
    text: str
    start: int
    end: int
    kind: str
    status: str
    occurred: When | None
    recorded_at: int


@dataclass(frozen=True, slots=True)
class EntityStatement:
    """A claim about an entity.

    Attributes:
        claim_id: the claim; `memory_id` a memory that says it.
        subject: as written; `predicate` and `value` likewise.
        polarity: `positive` or `negative`.
        state: of `claims.state`.
        confidence: 0 to 1.
    """

    claim_id: str
    memory_id: str
    subject: str
    predicate: str
    value: str
    polarity: str
    state: str
    confidence: float


@dataclass(frozen=True, slots=True)
class KnownStatement:
    """A statement about an entity, with the words that say it.

    Attributes:
        memory_id: the statement; `text` its words.
        type: of `core.types.talk.StatementType`.
        state: `holds`, `outdated` or `disputed`.
        is_lasting: whether it is likely of use in a month.
        episode_id: the memory that says it, of several the latest.
        quote: the exact words of it.
        speaker: who said them; "" where nobody knows, and for the owner.
        is_owners: whether the owner of the vault said them.
        occurred: when; None where unknown.
        recorded_at: when Loci learned the episode, epoch ms.
        sources: how many memories say it.
    """

    memory_id: str
    text: str
    type: str
    state: str
    is_lasting: bool
    episode_id: str
    quote: str
    speaker: str
    is_owners: bool
    occurred: When | None
    recorded_at: int
    sources: int


@dataclass(frozen=True, slots=True)
class KnownTopic:
    """What is known of an entity under one topic.

    Attributes:
        type: of `core.types.talk.StatementType`.
        statements: what holds before what is outdated, the latest first.
    """

    type: str
    statements: tuple[KnownStatement, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """An entity that was merged into another.

    Attributes:
        id: the entity; `name` its name.
        at: when, epoch ms; None where it is not known any more.
        step_id: the step that takes the two apart again; "" where it is too old.
    """

    id: str
    name: str
    at: int | None
    step_id: str


@dataclass(frozen=True, slots=True)
class EntityPart:
    """An entity of one space that is one with those of others.

    Attributes:
        id: the entity; `name` its name there.
        space: the name of its space.
        mentions: memories of the space that name it, or in which it speaks.
    """

    id: str
    name: str
    space: str
    mentions: int


@dataclass(frozen=True, slots=True)
class EntityView:
    """Everything a page shows about an entity.

    Attributes:
        card: the entity; where several spaces have it, with the names of all of them.
        places: where it is mentioned, the latest first, 200 at most; `mentions` counts all.
        spoken: in how many memories it speaks.
        utterances: memories in which it speaks, the latest first, 200 at most; no name in them is marked.
        topics: what is known of it.
        claims: what is said about it, what stands first, 200 at most.
        joined: what was merged into it.
        alike: others of a name so near that they may be the same, those named most often first; such as the person
            has kept apart are left out.
        parts: where several spaces have it, what each of them has; the one of `card` first.
        is_read: whether statements were looked for in all talk that names it, or in which it speaks.
    """

    card: EntityCard
    places: tuple[EntityMention, ...]
    mentions: int
    claims: tuple[EntityStatement, ...]
    joined: tuple[Joined, ...]
    alike: tuple[EntityLine, ...] = ()
    spoken: int = 0
    topics: tuple[KnownTopic, ...] = ()
    utterances: tuple[EntityMention, ...] = ()
    parts: tuple[EntityPart, ...] = ()
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What a merge would do; nothing is written.

    Attributes:
        keep: the one that stays; `other` leads to it.
        mentions: memories that would name the one that stays.
        claims: claims that would be its own.
        names: names it would get.
        ending: claims that would end, each with the one that holds instead.
        refusal: why it cannot be done; "" where it can.
        widened: the names would be seen in all spaces, since the one that stays is in GLOBAL and the other is not.
        lifted: the two stand in different spaces: both would lead to a new one in GLOBAL (`merge(..., widen=True)`).
    """

    keep: EntityCard
    other: EntityCard
    mentions: int
    claims: int
    names: tuple[str, ...]
    ending: tuple[tuple[EntityStatement, EntityStatement], ...]
    refusal: str = ""
    widened: bool = False
    lifted: bool = False
