"""The methods that bring memories in: remember and memory_store with its kinds, import and unimport.

What a client may say is checked here, before the engine is asked. Must not do: open a file, or take an identity, a
trust or a time of recording from a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from core.errors import Code
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    AbsolutePath,
    Answer,
    CategoryName,
    ChannelParams,
    ClaimParam,
    Entry,
    FormatName,
    ImportanceShare,
    MemoryId,
    MethodCall,
    NewKindParam,
    Params,
    PermanenceName,
    Reference,
    RequestId,
    SessionName,
    SourceParam,
    SpaceName,
    StoreSpace,
    TagNames,
    TimeText,
    absolute_path,
    await_future,
    check_store,
    client_write,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    IMPORT_REPORT,
    Schema,
    all_of,
    flag,
    list_of,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
)
from core.ipc.protocol.contract import parse_time_param
from core.types.replies import StoreReply
from core.types.requests import Choice, FactRequest, StoreRequest
from core.types.values import Kind


class TextParams(Params):
    """What is said of a text of any kind."""

    text: str = Field(min_length=1, description="What to remember; at most 8 KiB of UTF-8 from a client.")
    kind: NewKindParam = Kind.FACT
    category: CategoryName = "general"
    importance: ImportanceShare | None = None
    tags: TagNames = ()
    space: StoreSpace | None = None
    session: SessionName | None = None
    time: TimeText | None = Field(None, description="When it was said or happened.")
    claim: ClaimParam | None = None
    source: SourceParam | None = None
    ref: str | None = Field(
        None, min_length=1, max_length=512, description="The caller's own reference; comes back with every item."
    )
    request_id: RequestId | None = None


class StoreParams(ChannelParams, TextParams):
    """The parameters of `memory_store`."""


class EpisodeParams(ChannelParams):
    """The parameters of `memory_store_episode`."""

    text: str = Field(min_length=1, description="What was said or done; at most 8 KiB of UTF-8 from a client.")
    category: CategoryName = "general"
    importance: ImportanceShare | None = None
    tags: TagNames = ()
    space: StoreSpace | None = None
    session: SessionName | None = None
    time: TimeText | None = Field(None, description="When it was said or happened.")
    source: SourceParam | None = None
    ref: Reference | None = None
    request_id: RequestId | None = None


class FactParams(ChannelParams):
    """The parameters of `memory_store_fact`."""

    subject: str = Field(min_length=1, max_length=1024, description="Whom or what it is about.")
    predicate: str = Field(
        min_length=1,
        max_length=64,
        pattern=r"^[a-z][a-z0-9_]*$",
        description="What is said of it, written like lives_in.",
    )
    text: str = Field(
        min_length=1,
        description="A sentence that names the subject, kept as it is; or the bare value (`Graz`), "
        "kept as `Anna lives in: Graz`. At most 8 KiB of UTF-8 from a client.",
    )
    value: str | None = Field(
        None,
        min_length=1,
        max_length=1024,
        description="What is said of the subject, where the text is more than that; else it is taken from the text.",
    )
    importance: ImportanceShare | None = None
    permanence: PermanenceName | None = None
    valid_from: TimeText | None = Field(None, description="From when it holds.")
    valid_to: TimeText | None = Field(None, description="Until when it holds; that moment no longer.")
    category: CategoryName = "general"
    tags: TagNames = ()
    space: StoreSpace | None = None
    session: SessionName | None = None
    time: TimeText | None = Field(None, description="When it was said or happened.")
    source: SourceParam | None = None
    ref: Reference | None = None
    request_id: RequestId | None = None


class RuleParams(ChannelParams):
    """The parameters of `memory_store_rule`."""

    text: str = Field(min_length=1, description="What to do or to leave; at most 8 KiB of UTF-8 from a client.")
    category: CategoryName = "general"
    importance: ImportanceShare | None = None
    permanence: PermanenceName | None = None
    tags: TagNames = ()
    space: StoreSpace | None = None
    session: SessionName | None = None
    source: SourceParam | None = None
    ref: Reference | None = None
    request_id: RequestId | None = None


SourceName = Annotated[str, Field(min_length=1, max_length=4096)]


class ImportParams(Params):
    """The parameters of `owner.import`."""

    path: AbsolutePath
    format: FormatName | None = None
    space: SpaceName | None = None
    dry_run: bool = unpublished_field(default=False)
    passphrase: str | None = Field(None, min_length=1, max_length=4096, description="Of an encrypted archive.")
    own: bool = Field(default=False, description="Another vault of yours wrote the archive: keep its trust.")
    only: tuple[SourceName, ...] | None = Field(
        None, min_length=1, max_length=1000, description="Names or formats of the sources to bring in; all by default."
    )
    without: tuple[SourceName, ...] = unpublished_field(default=(), max_length=1000)
    sources: bool = unpublished_field(default=False)


class UnimportParams(Params):
    """The parameters of `owner.unimport`."""

    import_id: MemoryId = Field(description="What `import` answered.")


class RememberParams(TextParams):
    """The parameters of `owner.remember`."""

    kind: NewKindParam = unpublished_field(Kind.FACT)
    category: CategoryName = unpublished_field("general")
    tags: TagNames = unpublished_field(())
    author: str | None = Field(None, min_length=1, max_length=256)


def stored_json(reply: StoreReply, *, classification: bool) -> Answer:
    """`memory_store` and `remember`.

    Args:
        classification: whether the caller sees how the newcomer was classified.

    Returns:
        The contract's shape.
    """
    shaped: Answer = {
        "operation": reply.operation,
        "memory_id": reply.memory_id,
        "deduplicated": reply.deduplicated,
        "superseded": list(reply.superseded),
        "conflict": reply.conflict,
        "merged": reply.merged,
    }
    if classification:
        label = reply.classification
        shaped["classification"] = {"label": label.label, "confidence": label.confidence, "by": label.by}
    return shaped


async def remember_text(call: MethodCall, params: RememberParams | StoreParams) -> Answer:
    """Store one memory; what a client may only propose waits for the person."""
    claim, author = params.claim, params.author if isinstance(params, RememberParams) else None
    request = replace(
        _make_store_request(params, params.kind),
        occurred=parse_time_param(params.time, "time"),
        claim=None if claim is None else claim.model_dump(exclude_unset=True),
        author=author,
    )
    reply = await _store_text(call, request)
    stored = stored_json(reply, classification=call.session.actor.is_owner)
    if reply.protection is None:  # a client, or an erased text, which is not stored again
        return stored
    tier, types = reply.protection
    return {**stored, "tier": tier.value, "sensitive": sorted(types)}


async def memory_store_episode(call: MethodCall, params: EpisodeParams) -> Answer:
    """Store something said or done, word for word (seed B, `memory_store_episode`)."""
    request = replace(_make_store_request(params, Kind.EPISODE), occurred=parse_time_param(params.time, "time"))
    return stored_json(await _store_text(call, request), classification=call.session.actor.is_owner)


async def memory_store_rule(call: MethodCall, params: RuleParams) -> Answer:
    """Store guidance; it begins as a candidate (seed B, `memory_store_rule`)."""
    request = replace(_make_store_request(params, Kind.RULE), permanence=params.permanence)
    return stored_json(await _store_text(call, request), classification=call.session.actor.is_owner)


async def memory_store_fact(call: MethodCall, params: FactParams) -> Answer:
    """Store a fact as subject, predicate and content, with its claim (seed B, `memory_store_fact`)."""
    request = replace(
        _make_store_request(params, Kind.FACT),
        occurred=parse_time_param(params.time, "time"),
        permanence=params.permanence,
    )
    check_store(request, call.session)
    fact = FactRequest(
        subject=params.subject,
        predicate=params.predicate,
        store=request,
        value=params.value,
        valid_from=params.valid_from,
        valid_to=params.valid_to,
    )
    reply = await await_future(call.engine.memories.store_fact(fact, call.actor(request.session)))
    return stored_json(reply, classification=call.session.actor.is_owner)


def _make_store_request(
    params: StoreParams | RememberParams | EpisodeParams | RuleParams | FactParams, kind: Kind
) -> StoreRequest:
    """What all of them say of a text."""
    return StoreRequest(
        text=params.text,
        kind=kind,
        category=params.category,
        importance=params.importance,
        tags=params.tags,
        space=params.space,
        session=params.session,
        source=params.source,
        ref=params.ref,
        request_id=params.request_id,
    )


async def _store_text(call: MethodCall, request: StoreRequest) -> StoreReply:
    check_store(request, call.session)
    return await await_future(call.engine.memories.store(request, call.actor(request.session)))


async def import_file(call: MethodCall, params: ImportParams) -> Answer:
    """Bring in an export or notes, or only rehearse it."""
    path, imports, progress = absolute_path(params.path, "path"), call.engine.imports, call.progress
    label, secret = "Reading" if params.dry_run else "Importing", params.passphrase

    def report_progress(done: int, total: int | None) -> None:
        progress.report_progress(label, done, total)

    work = (
        imports.rehearse(
            path,
            params.format,
            call.actor(),
            params.space,
            report_progress,
            progress.is_cancelled,
            secret,
            is_own=params.own,
        )
        if params.dry_run
        else imports.run(
            path,
            params.format,
            params.space,
            call.actor(),
            report_progress,
            progress.is_cancelled,
            Choice(None, None if params.only is None else frozenset(params.only), frozenset(params.without)),
            secret,
            is_own=params.own,
        )
    )
    report = await await_future(work)
    return memory_json.import_json(report, with_sources=params.sources and params.dry_run)


async def undo_import(call: MethodCall, params: UnimportParams) -> Answer:
    """Take back exactly what one import brought."""
    report = await await_future(call.engine.imports.undo_import(params.import_id))
    return {"import_id": params.import_id, **memory_json.undo_json(report)}


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "stored": record(
            {
                "operation": one_of(
                    "ADD",
                    "UPDATE",
                    "MERGE",
                    "SUPERSEDE",
                    "NOOP",
                    "QUARANTINE",
                    "PROPOSED",
                    about="ADD: stored as a memory of its own. UPDATE: the person said again what had been "
                    "doubted, so it stands again. MERGE: its content went into what stood. SUPERSEDE: "
                    "it took the place of what stood. NOOP: it was known; nothing but another source "
                    "was noted. QUARANTINE: it contradicts what counts for more, or reads like an "
                    "attack; it is held back until the person decides. PROPOSED: the caller may only "
                    "propose; it waits for the person. A client that may not read is told ADD, "
                    "PROPOSED, or QUARANTINE for what reads like an attack, whatever stood there.",
                ),
                "memory_id": text(
                    "The memory that holds the text now: a new one, or the one that stood. For a "
                    "client that may not read always a new id, which may lead nowhere. For one that "
                    "may read, NOOP with an id that is not found can mean that the person erased the "
                    "text: it is not stored again."
                ),
                "deduplicated": flag("The same stood, or waited, already; no new memory was made."),
                "superseded": list_of(text(), "Memories whose place it took."),
                "conflict": nullable(text(), "The review item that waits for the person; null where none was opened."),
                "merged": flag("It went into a memory that stood."),
                "classification?": record({"label": text(), "confidence": number(), "by": text()}),
                "tier?": text("To the owner's `remember`: the tier that the memory has now."),
                "sensitive?": list_of(text(), "To the owner's `remember`: what it holds that its tier is for."),
            }
        ),
    }
)
"""What several answers are made of."""

METHODS: tuple[Entry, ...] = (
    client_write(
        "memory_store",
        "Store one memory. A client that may only propose gets PROPOSED and the memory waits for review.",
        StoreParams,
        ref("stored"),
        remember_text,
        grants=("write", "propose"),
        errors=(
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.TEXT_TOO_LARGE,
            Code.FORBIDDEN_FIELD,
        ),
        aliases={"content": "text", "memory_type": "kind", "session_id": "session"},
    ),
    client_write(
        "memory_store_episode",
        "Store something said or done, word for word. Episodes are never laid together by "
        "their text; a client that may only propose gets PROPOSED.",
        EpisodeParams,
        ref("stored"),
        memory_store_episode,
        grants=("write", "propose"),
        errors=(
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.TEXT_TOO_LARGE,
            Code.FORBIDDEN_FIELD,
        ),
        aliases={"content": "text", "session_id": "session", "scope": "space"},
    ),
    client_write(
        "memory_store_fact",
        "Store a fact as subject, predicate and content; it is compared with what stands "
        "of that subject and predicate. A client that may only propose gets PROPOSED.",
        FactParams,
        ref("stored"),
        memory_store_fact,
        grants=("write", "propose"),
        errors=(
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.TEXT_TOO_LARGE,
            Code.FORBIDDEN_FIELD,
        ),
        aliases={"content": "text", "session_id": "session", "scope": "space"},
    ),
    client_write(
        "memory_store_rule",
        "Store guidance for assistants; it begins as a candidate and rises or falls with "
        "how it serves. A client that may only propose gets PROPOSED.",
        RuleParams,
        ref("stored"),
        memory_store_rule,
        grants=("write", "propose"),
        errors=(
            Code.ACCESS_DENIED,
            Code.INJECTION_BLOCKED,
            Code.TEXT_TOO_LARGE,
            Code.FORBIDDEN_FIELD,
        ),
        aliases={"content": "text", "session_id": "session", "scope": "space"},
    ),
    owner_method(
        "import",
        "Bring in an export or notes; with `dry_run` only count.",
        ImportParams,
        IMPORT_REPORT,
        import_file,
        effect="write",
        errors=(
            Code.DISK_FULL,
            Code.IMPORT_REFUSED,
            Code.IMPORT_UNKNOWN_FORMAT,
            Code.IMPORT_CHANGED,
            Code.IMPORT_SECRET_NEEDED,
            Code.WRONG_SECRET,
            Code.NEWER_VERSION,
            Code.MEMORY_PRESSURE,
            Code.CANCELLED,
        ),
        long=True,
    ),
    owner_method(
        "unimport",
        "Take back exactly what one import brought.",
        UnimportParams,
        all_of(ref("undone"), record({"import_id": text()}, is_open=True)),
        undo_import,
        effect="write",
        errors=(Code.NOT_FOUND,),
        long=True,
        short_ids={"import_id": "import"},
    ),
    owner_method(
        "remember",
        "Store one memory with the owner's word.",
        RememberParams,
        all_of(ref("stored"), {"type": "object", "required": ["classification"]}),
        remember_text,
        effect="write",
        errors=(Code.TEXT_TOO_LARGE, Code.DISK_FULL, Code.WRITE_FAILED),
        aliases={"content": "text"},
    ),
)
