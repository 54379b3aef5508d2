"""The methods of the review desk: conflicts and their resolution, and verdicts on one memory.

To clients numbers are bands and sentences hold none; the engine keeps scope, grants and the owner's word. Must not do:
let a client make a rule, or take who it is from a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from core.errors import Code
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    ActionParam,
    Answer,
    ChannelParams,
    ConflictId,
    Cursor,
    Entry,
    ExtrasParams,
    IdParams,
    MemoryParams,
    MethodCall,
    NameParams,
    Params,
    RequestId,
    SessionName,
    SourceParam,
    TimeText,
    VerdictReason,
    await_future,
    client_method,
    client_write,
    items_after,
    memory_write,
    owner_memory_method,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    Schema,
    any_of,
    list_of,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.protocol.contract import parse_time_param
from core.types.reviews import Decision
from core.types.values import Grant


class ConflictsParams(Params):
    """The parameters of `owner.conflicts`."""

    all: bool = unpublished_field(default=False, description="Closed ones too.")
    after: Cursor | None = None


class AnswerParams(Params):
    """How an item is decided."""

    id: ConflictId
    action: ActionParam
    text: str | None = Field(None, min_length=1, max_length=8192, description="Of a merge.")
    from_: TimeText | None = Field(
        None, alias="from", description="From when the newcomer holds, and until when the other did."
    )
    to: TimeText | None = Field(None, description="When the newcomer ceased, if it did.")
    when: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="For scope_split: the condition under which the newcomer is true.",
    )


class DecisionParams(AnswerParams):
    """The parameters of `owner.resolve`."""

    remember: bool = unpublished_field(default=False, description="Decide later ones of the same make alike.")


class DisputeParams(IdParams):
    """The parameters of `owner.dispute`."""

    reason: VerdictReason | None = None


class OpenConflictsParams(ChannelParams):
    """The parameters of `memory_conflicts`."""

    after: Cursor | None = None


class ClientDecisionParams(ChannelParams, AnswerParams):
    """The parameters of `memory_resolve_conflict`."""

    request_id: RequestId | None = None


class ClientDisputeParams(ExtrasParams, DisputeParams):
    """The parameters of `memory_dispute`."""


class CorroborateParams(ExtrasParams, IdParams):
    """The parameters of `memory_corroborate`."""

    source: SourceParam | None = None
    session: SessionName | None = None


async def list_conflicts(call: MethodCall, params: ConflictsParams | OpenConflictsParams) -> Answer:
    """What waits for a decision, as far as the caller may see both sides; to one that may not decide, no answers."""
    closed_too = isinstance(params, ConflictsParams) and params.all
    found, shape = await await_future(call.engine.conflicts.list_items(call.actor(), everything=closed_too)), call.shape
    items = items_after([memory_json.conflict_json(item, shape) for item in found], params.after)
    if call.session.has_any_grant(Grant.CURATE.value):
        return {"conflicts": items}
    return {"conflicts": [{**item, "actions": []} for item in items]}


async def resolve_conflict(call: MethodCall, params: DecisionParams | ClientDecisionParams) -> Answer:
    """Decide one item."""
    decision = Decision(
        action=params.action,
        text=params.text,
        begin=parse_time_param(params.from_, "from"),
        end=parse_time_param(params.to, "to"),
        when=params.when,
        remember=isinstance(params, DecisionParams) and params.remember,
    )
    request_id = params.request_id if isinstance(params, ClientDecisionParams) else None
    done = await await_future(call.engine.conflicts.resolve(params.id, decision, call.actor(), request_id))
    return memory_json.decision_json(params.id, decision.action, done)


async def turn_down(call: MethodCall, params: NameParams) -> Answer:
    """Turn down all that one client proposed or asked for."""
    done = await await_future(call.engine.conflicts.turn_down(params.name))
    return {"name": params.name, "step": done.step_id, "items": done.items, "left": done.left}


async def confirm_memory(call: MethodCall, params: IdParams) -> Answer:
    """Confirm one memory."""
    done = await await_future(call.engine.memories.confirm(params.id, call.actor(), params.make_extras()))
    return memory_json.verdict_json(done, call.shape)


async def reinforce_memory(call: MethodCall, params: IdParams) -> Answer:
    """Reinforce one memory."""
    done = await await_future(call.engine.memories.reinforce(params.id, call.actor(), params.make_extras()))
    return memory_json.verdict_json(done, call.shape)


async def dispute_memory(call: MethodCall, params: DisputeParams) -> Answer:
    """Dispute one memory."""
    done = await await_future(
        call.engine.memories.dispute(params.id, call.actor(), params.reason, params.make_extras())
    )
    return memory_json.verdict_json(done, call.shape)


async def memory_corroborate(call: MethodCall, params: CorroborateParams) -> Answer:
    """Corroborate one memory from a source of the caller's own."""
    actor = call.actor(params.session)
    corroborate = call.engine.memories.corroborate
    done = await await_future(corroborate(params.id, actor, params.source, params.session, params.make_extras()))
    return memory_json.verdict_json(done, call.shape)


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "conflict": record(
            {
                "id": text(),
                "kind": one_of(
                    "contradiction",
                    "classification",
                    "quarantine",
                    "injection",
                    "approval",
                    "stale",
                    "gap",
                    "entity_merge",
                    "proposal",
                ),
                "state?": one_of("open", "resolved", "moot"),
                "question?": text(),
                "existing": nullable(ref("item")),
                "incoming": ref("item"),
                "reason": text("Why it is here, in a sentence."),
                "names?": list_of(
                    text(),
                    "To the owner: the two names that may be one (kind `entity_merge`), the existing first.",
                ),
                "suggestion": nullable(ref("action")),
                "result?": text("What the suggestion would lead to."),
                "actions?": list_of(
                    ref("action"),
                    "Answers it takes, as `action` of `memory_resolve_conflict`; none to a client that may not decide.",
                ),
                "answers?": list_of(
                    text(),
                    "To the owner: `actions` in words that fit the question (`same`, `different`), in the same order; "
                    "`loci resolve` takes either.",
                ),
                "opened_at?": text(),
                "closed?": text("Why it is closed."),
                "resolution?": ref("action"),
                "warning?": text("To the owner: that the newcomer reads like an instruction to an assistant."),
                "against?": ref("item", "To the owner: what stands and contradicts a newcomer that waits alone."),
                "asked?": record(
                    {
                        "wish": one_of("update", "delete", "forget"),
                        "client": text(),
                        "reason": text("In the client's own words; empty where it gave none."),
                        "at": text(),
                    },
                    "To the owner: what a client asked for (kind `approval`).",
                ),
                "cut?": list_of(text()),
            },
            "A validated pair, or one memory that needs a decision.",
        ),
        "decided": record(
            {
                "id": text(),
                "action": ref("action"),
                "step": nullable(text(), "What `undo` takes; null where nothing changed."),
                "label": text(),
                "active": list_of(text(), "Memories that stand now."),
                "retired": list_of(text(), "Memories that no longer do."),
                "closed": list_of(text(), "Other conflicts that it settled."),
                "withheld?": list_of(
                    text(),
                    "To the owner: memories that stand now and read like instructions, so that "
                    "assistants are not given them.",
                ),
                "asked?": list_of(
                    text(),
                    "To the owner: other conflicts that it opened; what was let in contradicts what "
                    "stands and still waits.",
                ),
                "cut?": list_of(text()),
            }
        ),
        "judged": record(
            {
                "id": text(),
                "status": ref("status"),
                "trust": any_of(number(), ref("band")),
                "confidence": any_of(number(), ref("band")),
                "reinforcements": whole_number(),
                "disputes": whole_number(),
                "corroboration": whole_number("Independent sources that say the same."),
                "step": nullable(text(), "What `undo` takes; null where nothing changed."),
                "conflict": nullable(text(), "The review item that was opened instead."),
            },
            "How a memory stands after a verdict; exact numbers for the owner, band words for clients.",
        ),
    }
)
"""What several answers are made of."""

METHODS: tuple[Entry, ...] = (
    client_method(
        "memory_conflicts",
        "Memories that disagree or wait for a decision, the most harmful first; those of "
        "which this client may see both sides.",
        OpenConflictsParams,
        record({"conflicts": list_of(ref("conflict")), "next?": text(), "cut?": list_of(text())}),
        list_conflicts,
        grants=("read",),
        errors=(Code.ACCESS_DENIED,),
        paged="id",
    ),
    client_write(
        "memory_resolve_conflict",
        "Decide a conflict; one undo step. A client never decides against what the person said.",
        ClientDecisionParams,
        ref("decided"),
        resolve_conflict,
        grants=("curate",),
        errors=(
            Code.NOT_FOUND,
            Code.ACCESS_DENIED,
            Code.TEXT_TOO_LARGE,
        ),
        aliases={"conflict_id": "id"},
    ),
    memory_write(
        "memory_confirm",
        "Say that a memory is still true.",
        MemoryParams,
        ref("judged"),
        confirm_memory,
    ),
    memory_write(
        "memory_reinforce",
        "Say that a memory proved right; a client counts once.",
        MemoryParams,
        ref("judged"),
        reinforce_memory,
    ),
    memory_write(
        "memory_dispute",
        "Say that a memory is wrong; a client counts once.",
        ClientDisputeParams,
        ref("judged"),
        dispute_memory,
    ),
    memory_write(
        "memory_corroborate",
        "Say that this client knows the same from a source of its own; counts once for each independent source.",
        CorroborateParams,
        ref("judged"),
        memory_corroborate,
        aliases={"session_id": "session"},
    ),
    owner_method(
        "conflicts",
        "Memories that disagree or wait for a decision, the most harmful first.",
        ConflictsParams,
        record({"conflicts": list_of(ref("conflict")), "next?": text(), "cut?": list_of(text())}),
        list_conflicts,
        paged="id",
    ),
    owner_method(
        "resolve",
        "Decide a conflict; one undo step.",
        DecisionParams,
        ref("decided"),
        resolve_conflict,
        effect="write",
        errors=(Code.NOT_FOUND, Code.TEXT_TOO_LARGE, Code.DISK_FULL, Code.WRITE_FAILED),
        aliases={"conflict_id": "id"},
    ),
    owner_method(
        "turn_down",
        "Turn down all that one client proposed or asked for and that waits; one undo step.",
        NameParams,
        record(
            {
                "name": text(),
                "step": nullable(text()),
                "items": whole_number(),
                "left": whole_number("Items that wait still."),
            }
        ),
        turn_down,
        effect="write",
        errors=(Code.NOT_FOUND,),
    ),
    owner_memory_method(
        "confirm",
        "Confirm with the owner's word that a memory is true.",
        IdParams,
        ref("judged"),
        confirm_memory,
        effect="write",
    ),
    owner_memory_method(
        "dispute",
        "Say with the owner's word that a memory is wrong.",
        DisputeParams,
        ref("judged"),
        dispute_memory,
        effect="write",
    ),
    owner_memory_method(
        "reinforce",
        "Say that a memory proved right.",
        IdParams,
        ref("judged"),
        reinforce_memory,
        effect="write",
    ),
)
