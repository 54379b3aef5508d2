"""The methods that change memories: edit and update, pin, tag, forget, delete, marks, feedback, relate, undo.

What a client may not do by itself is answered PROPOSED, with the review item that waits for the person. Must not do:
say who may do what (the engine does).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from core.errors import Code, PreconditionError, UserError
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    Answer,
    ChannelParams,
    Cursor,
    Entry,
    ExtrasParams,
    IdParams,
    MemberOf,
    MemoryId,
    MemoryParams,
    MethodCall,
    Params,
    RequestId,
    TierParam,
    VerdictReason,
    await_future,
    client_write,
    memory_write,
    owner_memory_method,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    Schema,
    any_object,
    flag,
    list_of,
    nullable,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.methods.memory_json import to_json_value
from core.types.lifecycle import Marked, OutcomeTaken, ProcedureState, RuleState
from core.types.memory import ChangeReply, Judgement, Related, Relationship, RequestedChange
from core.types.values import SecurityTier
from core.types.views import Revision


class UpdateParams(ExtrasParams, IdParams):
    """The parameters of `memory_update`."""

    text: str = Field(min_length=1, description="The new text; at most 8 KiB of UTF-8 from a client.")
    reason: VerdictReason | None = Field(None, description="Why; the person reads it.")


class RemovalParams(ExtrasParams, IdParams):
    """The parameters of `memory_delete` and `memory_forget`."""

    reason: VerdictReason | None = Field(None, description="Why; the person reads it.")


class FeedbackParams(ExtrasParams, IdParams):
    """The parameters of `memory_feedback`."""

    helpful: bool
    reason: VerdictReason | None = None


class HarmParams(ExtrasParams, IdParams):
    """The parameters of `memory_mark_harmful`."""

    reason: VerdictReason | None = Field(None, description="Why; kept with the rule.")


class RelateParams(ChannelParams):
    """The parameters of `memory_relate`."""

    source_id: MemoryId
    target_id: MemoryId
    relationship: Annotated[Relationship, MemberOf()] = Field(description="What the source is to the target.")
    request_id: RequestId | None = None


class EditParams(Params):
    """The parameters of `owner.edit`."""

    id: MemoryId
    text: str = Field(min_length=1)


class PinParams(Params):
    """The parameters of `owner.pin`."""

    id: MemoryId
    off: bool = unpublished_field(default=False)


class TierParams(Params):
    """The parameters of `owner.tier`."""

    id: MemoryId
    tier: TierParam


class TagParams(Params):
    """The parameters of `owner.tag`."""

    id: MemoryId
    add: tuple[Annotated[str, Field(min_length=1, max_length=1024)], ...] = unpublished_field(
        (), min_length=1, max_length=64
    )
    remove: tuple[Annotated[str, Field(min_length=1, max_length=1024)], ...] = unpublished_field(
        (), min_length=1, max_length=64
    )


class MarkParams(Params):
    """The parameters of `owner.mark`."""

    id: MemoryId
    outcome: Literal["helpful", "harmful", "worked", "failed"] = Field(
        description="Of a rule helpful or harmful, of a procedure worked or failed."
    )
    note: VerdictReason | None = None


class UndoParams(Params):
    """The parameters of `owner.undo`."""

    step: MemoryId | None = Field(None, description="As `owner.steps` lists it.")


class StepsParams(Params):
    """The parameters of `owner.steps`."""

    limit: int = unpublished_field(50, ge=1, le=200)
    after: Cursor | None = None


async def memory_update(call: MethodCall, params: UpdateParams) -> Answer:
    """Give a memory another text."""
    extras = params.make_extras()
    update = call.engine.client_changes.update_text
    done = update(params.id, params.text, call.actor(), params.reason, extras.kind, extras.request_id)
    return _change_json(await await_future(done))


async def memory_delete(call: MethodCall, params: RemovalParams) -> Answer:
    """Delete one memory softly."""
    return await _remove_as_client(call, params, RequestedChange.DELETE)


async def memory_forget(call: MethodCall, params: RemovalParams) -> Answer:
    """Forget one memory; the person can undo it."""
    return await _remove_as_client(call, params, RequestedChange.FORGET)


async def _remove_as_client(call: MethodCall, params: RemovalParams, change: RequestedChange) -> Answer:
    extras = params.make_extras()
    remove = call.engine.client_changes.remove_memory
    return _change_json(
        await await_future(remove(params.id, call.actor(), change, params.reason, extras.kind, extras.request_id))
    )


async def memory_feedback(call: MethodCall, params: FeedbackParams) -> Answer:
    """Say whether a memory helped; of a rule from whoever may write it is a mark."""
    extras = params.make_extras()
    given = call.engine.client_changes.give_feedback(
        params.id,
        call.actor(),
        helpful=params.helpful,
        reason=params.reason,
        kind=extras.kind,
        request_id=extras.request_id,
    )
    return _judgement_json(await await_future(given))


async def memory_mark_helpful(call: MethodCall, params: MemoryParams) -> Answer:
    """A rule was applied and it helped."""
    extras = params.make_extras()
    mark = call.engine.client_changes.mark_rule
    done = mark(params.id, call.actor(), helpful=True, kind=extras.kind, request_id=extras.request_id)
    return _judgement_json(await await_future(done))


async def memory_mark_harmful(call: MethodCall, params: HarmParams) -> Answer:
    """A rule was applied and it harmed."""
    extras = params.make_extras()
    marked = call.engine.client_changes.mark_rule(
        params.id,
        call.actor(),
        helpful=False,
        reason=params.reason,
        kind=extras.kind,
        request_id=extras.request_id,
    )
    return _judgement_json(await await_future(marked))


async def memory_relate(call: MethodCall, params: RelateParams) -> Answer:
    """Relate two memories."""
    relate = call.engine.client_changes.relate_memories
    made = relate(params.source_id, params.target_id, params.relationship, call.actor(), params.request_id)
    return _relation_json(await await_future(made))


async def edit_memory(call: MethodCall, params: EditParams) -> Answer:
    """Give a memory another text; the old version stays in its history."""
    done = await await_future(call.engine.client_changes.update_text(params.id, params.text, call.actor()))
    return {
        "id": params.id,
        "operation": done.operation,
        "memory_id": done.memory_id,
        "superseded": list(done.superseded),
        "step": done.step_id,
    }


async def pin_memory(call: MethodCall, params: PinParams) -> Answer:
    """Pin a memory, or let it go again."""
    wanted = not params.off
    step = await _revise_memory(call, params.id, Revision(pinned=wanted))
    return {"id": params.id, "pinned": wanted, "step": step}


async def set_tier(call: MethodCall, params: TierParams) -> Answer:
    """Protect a memory better, or less."""
    step = await _revise_memory(call, params.id, Revision(tier=params.tier))
    return {"id": params.id, "tier": params.tier.value, "step": step}


async def tag_memory(call: MethodCall, params: TagParams) -> Answer:
    """Add tags to a memory and take tags from it; one step."""
    if not params.add and not params.remove:
        raise UserError(Code.INVALID_INPUT, "Say which tags are added, or which are taken away.")
    if set(params.add) & set(params.remove):
        raise UserError(Code.INVALID_INPUT, "A tag is added or taken away, not both.")
    step = await _revise_memory(call, params.id, Revision(add_tags=params.add, remove_tags=params.remove))
    found = await await_future(call.engine.memories.get(params.id, call.actor()))
    return {"id": params.id, "tags": list(found.tags), "step": step}


async def _revise_memory(call: MethodCall, memory_id: str, revision: Revision) -> str | None:
    """The step of a change; None where the memory was like that already."""
    await await_future(call.engine.memories.get(memory_id, call.actor()))  # one that is not there is told as such
    report = await await_future(call.engine.library.revise_memories([memory_id], revision))
    if report.refused:
        raise PreconditionError(next(iter(report.refused)))
    return report.step_id


async def forget_memory(call: MethodCall, params: IdParams) -> Answer:
    """Delete one memory softly."""
    return {"id": params.id, "step": await await_future(call.engine.memories.forget(params.id, call.actor()))}


async def mark_memory(call: MethodCall, params: MarkParams) -> Answer:
    """Say how a rule served (helpful, harmful) or how a procedure went (worked, failed)."""
    outcome, practice, actor = params.outcome, call.engine.outcomes, call.actor()
    if params.note is not None and outcome != "harmful":
        raise UserError(Code.INVALID_INPUT, "A note is kept with harm alone; leave it out.")
    if outcome in ("worked", "failed"):
        return _outcome_json(
            outcome, await await_future(practice.record_outcome(params.id, actor, success=outcome == "worked"))
        )
    if outcome == "helpful":
        return _rule_mark_json(outcome, await await_future(practice.mark_helpful(params.id, actor)))
    return _rule_mark_json(outcome, await await_future(practice.mark_harmful(params.id, actor, params.note)))


async def undo_step(call: MethodCall, params: UndoParams) -> Answer:
    """Take back a step."""
    return memory_json.undo_json(await await_future(call.engine.memories.undo_step(params.step, call.actor())))


async def list_steps(call: MethodCall, params: StepsParams) -> Answer:
    """What was done and can be taken back, newest first."""
    return memory_json.steps_json(await await_future(call.engine.history.list_steps(params.after, params.limit)))


def rule_json(state: RuleState) -> dict[str, Any]:
    """How a rule has served, as JSON: its counts and maturity; times in ISO 8601."""
    document: dict[str, Any] = to_json_value(
        {
            "maturity": state.maturity,
            "helpful": state.helpful,
            "harmful": state.harmful,
            "effectiveness": round(state.effectiveness, 4),
            "last_applied_at": state.last_applied_at,
            "needs_inversion": state.needs_inversion,
            "original_text": state.original_text,
        }
    )
    return document


def procedure_json(state: ProcedureState) -> dict[str, Any]:
    """How a procedure went, as JSON: its counts; times in ISO 8601."""
    document: dict[str, Any] = to_json_value(
        {
            "successes": state.successes,
            "failures": state.failures,
            "average_ms": state.average_ms,
            "last_used_at": state.last_used_at,
        }
    )
    return document


def _rule_mark_json(outcome: str, done: Marked) -> Answer:
    return {
        "id": done.state.memory_id,
        "outcome": outcome,
        "step": done.step_id,
        "rule": rule_json(done.state),
        "inverted": done.inverted,
        "conflict": done.conflict,
    }


def _outcome_json(outcome: str, done: OutcomeTaken) -> Answer:
    return {
        "id": done.state.memory_id,
        "outcome": outcome,
        "step": done.step_id,
        "procedure": procedure_json(done.state),
    }


def _change_json(reply: ChangeReply) -> Answer:
    return {
        "operation": reply.operation,
        "memory_id": reply.memory_id,
        "deduplicated": reply.deduplicated,
        "superseded": list(reply.superseded),
        "conflict": reply.conflict,
        "merged": False,
        "step": reply.step_id,
    }


def _judgement_json(reply: Judgement) -> Answer:
    return {
        "id": reply.memory_id,
        "signal": reply.signal,
        "marked": reply.marked,
        "maturity": reply.maturity,
        "step": reply.step_id,
        "conflict": reply.conflict,
    }


def _relation_json(reply: Related) -> Answer:
    return {
        "id": reply.id,
        "source_id": reply.from_id,
        "target_id": reply.to_id,
        "relationship": reply.relationship,
        "deduplicated": reply.deduplicated,
        "step": reply.step_id,
    }


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "change": record(
            {
                "operation": one_of(
                    "UPDATE",
                    "DELETE",
                    "FORGET",
                    "PROPOSED",
                    "NOOP",
                    about="PROPOSED: it waits for the person and what stands is unchanged; NOOP: nothing to "
                    "do, or the person refused the same before.",
                ),
                "memory_id": text("What holds the new text, or would; of a removal the memory."),
                "deduplicated": flag("The same waits, or was decided, already."),
                "superseded": list_of(text()),
                "conflict": nullable(text(), "The review item that waits."),
                "merged": flag(),
                "step": nullable(
                    text(),
                    "What `undo` takes; of what is PROPOSED it takes the wish back. Null where nothing was written.",
                ),
            }
        ),
        "feedback": record(
            {
                "id": text(),
                "signal": one_of("helpful", "irrelevant", "harmful"),
                "marked": flag("It counts as a mark of a rule; else for this caller's own searches alone."),
                "maturity": nullable(text(), "Of a marked rule, as it stands now."),
                "step": text(),
                "conflict": nullable(text(), "The item that asks the person to turn the rule around."),
            }
        ),
        "left": record(
            {
                "table": text("Of the vault's schema."),
                "key": any_object("Which row."),
                "then": any_object("As it would have been put back; null where there was none.", null=True),
                "now": any_object("As it stands; null where there is none.", null=True),
            },
            "A row that was changed since and stays as it is.",
            is_open=True,
        ),
        "undone": record(
            {
                "step": text("What was taken back."),
                "label": text("Its name."),
                "undo_step": text("The new step; taking that back does it again."),
                "restored": whole_number("Rows put back.", least=0),
                "left": list_of(ref("left"), "Rows changed since, with both states."),
                "unpaired?": list_of(text(), "Clients that came back with it, paused; each is to be paired anew."),
                "cut?": list_of(text(), "Members that were shortened to fit into one message."),
            },
            "What taking a step back did.",
            is_open=True,
        ),
    }
)
"""What several answers are made of."""

METHODS: tuple[Entry, ...] = (
    memory_write(
        "memory_update",
        "Give a memory another text, as a new version of it. Without the grant curate, "
        "and for what the person said, pinned or trusts more, it becomes a request that "
        "waits for the person (PROPOSED).",
        UpdateParams,
        ref("change"),
        memory_update,
        grants=("propose", "write", "curate"),
        errors=(
            Code.INJECTION_BLOCKED,
            Code.TEXT_TOO_LARGE,
            Code.RATE_LIMITED,
        ),
        aliases={"content": "text"},
    ),
    memory_write(
        "memory_delete",
        "Delete a memory softly; the person can take it back. Without the grant curate, "
        "and for what the person said or pinned, it becomes a request that waits for the "
        "person (PROPOSED).",
        RemovalParams,
        ref("change"),
        memory_delete,
        grants=("propose", "write", "curate"),
        errors=(Code.RATE_LIMITED,),
    ),
    memory_write(
        "memory_forget",
        "Let a memory of any kind leave recall; works and waits as memory_delete does.",
        RemovalParams,
        ref("change"),
        memory_forget,
        grants=("propose", "write", "curate"),
        errors=(Code.RATE_LIMITED,),
    ),
    memory_write(
        "memory_feedback",
        "Say whether a memory helped. Of a rule, from a caller that may write, it is a "
        "mark; else it is kept as this caller's own word and moves no trust.",
        FeedbackParams,
        ref("feedback"),
        memory_feedback,
        grants=("propose", "write", "curate"),
    ),
    memory_write(
        "memory_mark_helpful",
        "A rule was applied and it helped. One client may report on one rule 20 times a day, good and bad together.",
        MemoryParams,
        ref("feedback"),
        memory_mark_helpful,
    ),
    memory_write(
        "memory_mark_harmful",
        "A rule was applied and it did harm; four times as heavy as a helpful mark. What "
        "harms again and again is turned into its opposite; a rule of the person's only "
        "by the person.",
        HarmParams,
        ref("feedback"),
        memory_mark_harmful,
    ),
    client_write(
        "memory_relate",
        "Say how one memory is related to another; both lie in one space or in GLOBAL. It decides nothing.",
        RelateParams,
        record(
            {
                "id": text("Of the relation."),
                "source_id": text(),
                "target_id": text(),
                "relationship": text(),
                "deduplicated": flag("It was there already."),
                "step": nullable(text(), "What `undo` takes; null where nothing changed."),
            }
        ),
        memory_relate,
        grants=("write", "curate"),
        errors=(
            Code.NOT_FOUND,
            Code.ACCESS_DENIED,
            Code.CYCLE,
        ),
    ),
    owner_memory_method(
        "forget",
        "Delete one memory softly; `undo` brings it back.",
        IdParams,
        record({"id": text(), "step": text()}),
        forget_memory,
        effect="write",
    ),
    owner_memory_method(
        "edit",
        "Give a memory another text; the old version stays in its history.",
        EditParams,
        record(
            {
                "id": text(),
                "operation": one_of("UPDATE", "NOOP"),
                "memory_id": text("The memory that holds the new text."),
                "superseded": list_of(text()),
                "step": nullable(text(), "The step that can be undone; null where nothing changed."),
            }
        ),
        edit_memory,
        effect="write",
        errors=(Code.TEXT_TOO_LARGE,),
    ),
    owner_memory_method(
        "pin",
        "Pin a memory, so that it neither fades nor is archived; with `off` let it go again.",
        PinParams,
        record(
            {
                "id": text(),
                "pinned": flag(),
                "step": nullable(text(), "The step that can be undone; null where nothing changed."),
            }
        ),
        pin_memory,
        effect="write",
    ),
    owner_memory_method(
        "tier",
        "Protect a memory, or lift that: what is sensitive or confidential is given to no client without the person's "
        "yes and to no model server elsewhere, and no names are read from it. What was made of it is protected with "
        "it. It goes before what rules found.",
        TierParams,
        record(
            {
                "id": text(),
                "tier": one_of(*(tier.value for tier in SecurityTier)),
                "step": nullable(text(), "The step that can be undone; null where nothing changed."),
            }
        ),
        set_tier,
        effect="write",
    ),
    owner_memory_method(
        "tag",
        "Add tags to a memory and take tags from it; one step.",
        TagParams,
        record(
            {
                "id": text(),
                "tags": list_of(text(), "All of them, as they are now."),
                "step": nullable(text(), "The step that can be undone; null where nothing changed."),
            }
        ),
        tag_memory,
        effect="write",
    ),
    owner_memory_method(
        "mark",
        "Say how a rule served, or how a procedure went.",
        MarkParams,
        record(
            {
                "id": text(),
                "outcome": text(),
                "step": text(),
                "rule?": any_object(),
                "procedure?": any_object(),
                "inverted?": flag(),
                "conflict?": text(null=True),
            }
        ),
        mark_memory,
        effect="write",
    ),
    owner_method(
        "undo",
        "Take back the latest step, or a named one.",
        UndoParams,
        ref("undone"),
        undo_step,
        effect="write",
        errors=(Code.NOT_FOUND,),
        short_ids={"step": "step"},
    ),
    owner_method(
        "steps",
        "Steps that were done and can be taken back, newest first.",
        StepsParams,
        record({"items": list_of(any_object()), "total": whole_number(), "next?": text(), "cut?": list_of(text())}),
        list_steps,
    ),
)
