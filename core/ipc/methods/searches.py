"""The methods that read memories: recall and search, context, list, get, show, history, spaces.

Grants and spaces are checked here, before the engine is asked; the engine keeps the scope of every query once more.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from core.errors import Code, UserError
from core.ipc.methods import memory_json
from core.ipc.methods.definition.entry import (
    Answer,
    CategoryName,
    ChannelParams,
    ClientName,
    ClientStatusParam,
    Cursor,
    DayText,
    Entry,
    Fraction,
    IdParams,
    IntentParam,
    KindParam,
    MemoryId,
    MethodCall,
    ModeName,
    NoParams,
    Params,
    SessionName,
    SpaceName,
    StatusParam,
    TagNames,
    TimeText,
    await_future,
    check_prompt,
    check_spaces,
    client_method,
    items_after,
    owner_memory_method,
    owner_method,
    unpublished_field,
)
from core.ipc.methods.definition.results import (
    all_of,
    any_object,
    flag,
    list_of,
    map_of,
    nullable,
    number,
    one_of,
    record,
    ref,
    text,
    whole_number,
)
from core.ipc.methods.memory_json import Shape
from core.ipc.protocol.contract import format_wire_time, parse_time_param, read_as_of
from core.text.time_parts import DaySpan
from core.text.time_range import to_moments
from core.types.clock import LocalZone
from core.types.recall import ContextQuery, PlanChange, TimeRange
from core.types.requests import ListRequest, RecallQuery
from core.types.values import FIRST_DAY, GLOBAL_SPACE, LAST_DAY, STANDING, Memory, Status

if TYPE_CHECKING:  # one question needs nothing of it
    from core.types.replies import Page

FAR_DAYS = DaySpan(FIRST_DAY, LAST_DAY)
"""The days that may be named; a range without a first day begins with the first of them."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOST_SEALED = 3


class GetParams(ChannelParams):
    """The parameters of `memory_get`."""

    id: MemoryId
    memory_type: KindParam | None = None
    offset: int = Field(0, ge=0, description="Characters of the text to pass over, for reading a long one in parts.")


class PageParams(ChannelParams):
    """The parameters of `memory_list`."""

    text: str | None = Field(
        None,
        min_length=1,
        max_length=8192,
        description="Exact substring, case kept; of what is shown, so that a text that is blocked is never found.",
    )
    kind: KindParam | None = None
    category: CategoryName | None = Field(None, description="Only what is of this category.")
    status: tuple[ClientStatusParam, ...] = Field((Status.ACTIVE,), min_length=1, max_length=8)
    space: SpaceName | None = None
    since: TimeText | None = Field(
        None, description="Only what was said or happened from then on; where that is not known, what was stored."
    )
    until: TimeText | None = Field(None, description="Only what was said or happened before then.")
    limit: int = Field(10, ge=1, le=200)
    after: Cursor | None = None


class Filters(Params):
    """What a search may be narrowed by, told in one place."""

    tags: TagNames | None = None
    since: TimeText | None = None
    until: TimeText | None = None
    spaces: tuple[SpaceName, ...] | None = Field(None, min_length=1, max_length=64)
    kinds: tuple[KindParam, ...] | None = Field(None, min_length=1, max_length=5)
    categories: tuple[CategoryName, ...] | None = Field(None, min_length=1, max_length=64)
    status: tuple[ClientStatusParam, ...] | None = Field(None, min_length=1, max_length=8)
    as_of: TimeText | None = None
    min_confidence: Fraction | None = None


class SearchParams(ChannelParams):
    """The parameters of `memory_search` and `memory_recall`."""

    query: str
    limit: int = Field(10, ge=1, le=200)
    space: SpaceName | None = Field(None, description="This space, and GLOBAL.")
    spaces: tuple[SpaceName, ...] | None = Field(None, min_length=1, max_length=64)
    kinds: tuple[KindParam, ...] | None = Field(None, min_length=1, max_length=5)
    categories: tuple[CategoryName, ...] | None = Field(None, min_length=1, max_length=64)
    tags: TagNames | None = Field(None, description="Only what has one of these.")
    since: TimeText | None = Field(None, description="Only what was said or happened from then on.")
    until: TimeText | None = Field(None, description="Only what was said or happened before then.")
    status: tuple[ClientStatusParam, ...] = Field((Status.ACTIVE,), min_length=1, max_length=8)
    as_of: TimeText | None = Field(None, description="What was true then.")
    mode: ModeName = "hybrid"
    min_confidence: Fraction = Field(
        0.2,
        description="Only what is at least as certain by now: confidence falls with the time since it was confirmed.",
    )
    filters: Filters | None = None
    session: SessionName | None = None
    intent: IntentParam | None = Field(None, description="Instead of what the question is taken for.")
    text_weight: Fraction | None = Field(
        None, description="How much words count against meaning: 0 is meaning alone, 1 is words alone."
    )
    from_: DayText | None = Field(
        None, alias="from", description="The first day that is asked about; until today where `to` is left out."
    )
    to: DayText | None = Field(None, description="The last day that is asked about.")
    no_time: bool = Field(
        default=False, description="The question names no time, whatever it seems to say; not beside `from` or `to`."
    )
    explain: bool = False
    after: Cursor | None = None


class PromptParams(Params):
    """The prompt whose context is asked for."""

    prompt: str
    token_budget: int | None = Field(
        None, ge=0, le=100000, description="Tokens at most; 3000, or what the person set, where it is left out."
    )
    model: str | None = Field(
        None, min_length=1, max_length=128, description="The model whose tokenizer counts, where it is known here."
    )
    session: SessionName | None = None
    spaces: tuple[SpaceName, ...] | None = Field(None, min_length=1, max_length=64)


class ClientContextParams(ChannelParams, PromptParams):
    """The parameters of `memory_context`."""


class VersionsParams(ChannelParams):
    """The parameters of `memory_history`."""

    id: MemoryId
    memory_type: KindParam | None = Field(None, description="The memory must be of this kind.")
    after: Cursor | None = None


class RecallParams(Params):
    """The parameters of `owner.recall`."""

    query: str
    limit: int = unpublished_field(10, ge=1, le=10000)
    spaces: tuple[SpaceName, ...] | None = Field(None, min_length=1, max_length=64)
    kinds: tuple[KindParam, ...] | None = Field(None, min_length=1, max_length=5)
    categories: tuple[CategoryName, ...] | None = Field(None, min_length=1, max_length=64)
    status: tuple[StatusParam, ...] = unpublished_field((Status.ACTIVE,), min_length=1, max_length=8)
    as_of: TimeText | None = Field(None, description="What was true then.")
    mode: ModeName = unpublished_field("hybrid")
    min_confidence: Fraction = unpublished_field(0.0)
    session: SessionName | None = None
    intent: IntentParam | None = Field(None, description="Instead of what the question is taken for.")
    text_weight: Fraction | None = Field(
        None, description="How much words count against meaning: 0 is meaning alone, 1 is words alone."
    )
    from_: DayText | None = Field(
        None, alias="from", description="The first day that is asked about; until today where `to` is left out."
    )
    to: DayText | None = Field(None, description="The last day that is asked about.")
    no_time: bool = unpublished_field(
        default=False, description="The question names no time, whatever it seems to say; not beside `from` or `to`."
    )
    explain: bool = unpublished_field(default=False)
    after: Cursor | None = None
    space: SpaceName | None = None


class ContextParams(PromptParams):
    """The parameters of `owner.context`."""

    space: SpaceName | None = None


class ListParams(Params):
    """The parameters of `owner.list`."""

    text: str | None = Field(None, min_length=1)
    kind: KindParam | None = None
    status: Annotated[tuple[StatusParam, ...], Field(min_length=1, max_length=8)] | Literal["all"] = unpublished_field(
        ("active",)
    )
    space: SpaceName | None = None
    import_id: MemoryId | None = None
    limit: int = unpublished_field(50, ge=1)
    since: TimeText | None = Field(
        None, description="Only what was said or happened from then on; where that is not known, what was recorded."
    )
    tags: tuple[Annotated[str, Field(min_length=1, max_length=1024)], ...] = unpublished_field(
        (), min_length=1, max_length=64, description="Only what has one of these."
    )
    client: ClientName | None = Field(None, description="Only memories of this client.")
    sort: Literal["newest", "oldest", "said", "importance", "trust"] = unpublished_field("newest")
    after: Cursor | None = None


class HistoryParams(Params):
    """The parameters of `owner.history`."""

    id: MemoryId
    after: Cursor | None = None


class ReceiptParams(Params):
    """The parameters of `owner.receipt`."""

    id: MemoryId = Field(description="Of a receipt, as `log` and every answer name it.")


async def memory_get(call: MethodCall, params: GetParams) -> Answer:
    """One memory; of a long text what is left of it behind `offset`."""
    memory = await await_future(call.engine.memories.get(params.id, call.actor(), params.memory_type))
    document = call.shape.memory_json(memory)
    document["text"] = document["text"][params.offset :]  # in place: one that is not shown is known by its type
    return document


async def list_memories(call: MethodCall, params: ListParams | PageParams) -> Answer:
    """A page of memories, newest first unless another order is named."""
    return _page_json(await _list_page(call, params), call.shape)


async def list_as_owner(call: MethodCall, params: ListParams) -> Answer:
    """A page of memories, and how many there are, a long text counted once."""
    page = await _list_page(call, params)
    return {**_page_json(page, call.shape), "memories": page.memories}


async def _list_page(call: MethodCall, params: ListParams | PageParams) -> Page:
    if params.space is not None:
        check_spaces(call.session, [params.space])
    return await await_future(call.engine.memories.list(_make_list_request(params), call.actor()))


def _page_json(page: Page, shape: memory_json.Shape) -> Answer:
    reply: Answer = {"items": [shape.memory_json(memory) for memory in page.items], "total": page.total}
    return reply if page.next is None else {**reply, "next": page.next}


def _make_list_request(params: ListParams | PageParams) -> ListRequest:
    request = ListRequest(
        text=params.text,
        kind=params.kind,
        statuses=None if params.status == "all" else params.status,
        space=params.space,
        limit=params.limit,
        after=params.after,
        since_ms=_parse_moment(params.since, "since"),
    )
    if isinstance(params, PageParams):
        return replace(request, category=params.category, until_ms=_parse_moment(params.until, "until"))
    return replace(request, import_id=params.import_id, tags=params.tags, client=params.client, sort=params.sort)


async def recall_as_owner(call: MethodCall, params: RecallParams) -> Answer:
    """Search with exact scores."""
    spaces = _join_spaces(params.spaces, params.space)
    found = await _recall_json(
        call, replace(_make_query(params, call.engine.clock.now_ms()), spaces=spaces), params.after
    )
    sealed = await await_future(call.engine.find_sealed(params.query, _MOST_SEALED)) if params.query.strip() else ()
    shown = [{"id": row.id, "label": row.label, "summary": row.summary} for row in sealed]
    return {**found, **({"sealed": shown} if shown else {})}


async def search(call: MethodCall, params: SearchParams) -> Answer:
    """A ranked search; what stands in `filters` counts as if it stood beside it.

    With `explain` a client is told how its question was read, in words: no score, weight or count of the vault.
    """
    params = _with_filters(params)
    # Seed B, scoping: the space that is named, and what is everybody's.
    named = () if params.space is None else (params.space, GLOBAL_SPACE)
    spaces = (*(params.spaces or ()), *named)
    check_spaces(call.session, spaces)
    query = replace(
        _make_query(params, call.engine.clock.now_ms()),
        spaces=spaces or None,
        tags=params.tags or None,
        since_ms=_parse_moment(params.since, "since"),
        until_ms=_parse_moment(params.until, "until"),
    )
    return await _recall_json(call, query, params.after)


def _with_filters(params: SearchParams) -> SearchParams:
    filters = params.filters
    if filters is None:
        return params
    fresh = filters.model_fields_set - params.model_fields_set
    return params.model_copy(update={name: getattr(filters, name) for name in fresh})


async def _recall_json(call: MethodCall, query: RecallQuery, after: str | None) -> Answer:
    reply = await await_future(call.engine.recall(query, call.actor(query.session)))
    result, shape = reply.result, call.shape
    found: Answer = {
        "items": items_after([shape.recalled_json(item, query.explain) for item in result.items], after),
        "abstained": result.abstained,
        "reason": shape.reason_of(result),
        **({"near_misses": memory_json.to_json_value(result.near_misses)} if call.exact else {}),
        "strategy": result.strategy,
        **({"took_ms": round(float(result.took_ms), 3)} if call.exact else {}),
        "receipt": reply.receipt_id,
    }
    if not query.explain:
        return found
    if call.exact:
        return {**found, **memory_json.explanation_json(result.trace, reply.metrics, shape)}
    return {**found, "plan": shape.plan_json(result.trace.plan)}


def _make_query(params: RecallParams | SearchParams, now_ms: int) -> RecallQuery:
    """The engine's question, but for its spaces."""
    if not params.query.strip():
        raise UserError(Code.INVALID_QUERY, "The query is empty; write what you are looking for.")
    return RecallQuery(
        query=params.query,
        limit=params.limit,
        kinds=params.kinds,
        categories=params.categories,
        statuses=params.status,
        as_of_ms=read_as_of(params.as_of),
        mode=params.mode,
        min_confidence=params.min_confidence,
        session=params.session,
        explain=params.explain,
        plan=plan_change(params, now_ms),
    )


def plan_change(params: RecallParams | SearchParams, now_ms: int) -> PlanChange | None:
    """What a caller decides about the reading of its question.

    Args:
        params: of it `intent`, `text_weight`, `from_`, `to` and `no_time`.

    Returns:
        The change; None where all is left to the rules.

    Raises:
        UserError: INVALID_INPUT for a weight out of range, a day that cannot be read, days that make no range, or days
            beside `no_time`.
    """
    days, weight = _make_time_range(params, now_ms), params.text_weight
    if weight is not None and not 0.0 <= weight <= 1.0:  # NaN passes the schema where no line is parsed
        raise UserError(Code.INVALID_INPUT, "`text_weight` must be a number from 0 to 1.")
    if params.no_time and days is not None:
        raise UserError(Code.INVALID_INPUT, "`no_time` cannot stand beside `from` or `to`; leave one of them out.")
    change = PlanChange(intent=params.intent, time=days, no_time=params.no_time, text_weight=weight)
    return None if change == PlanChange() else change


def _make_time_range(params: RecallParams | SearchParams, now_ms: int) -> TimeRange | None:
    """The days from `from` to `to`, both inclusive, in the zone in which a question's own days are read."""
    first, last, zone = _parse_day(params.from_, "from"), _parse_day(params.to, "to"), LocalZone()
    if first is None and last is None:
        return None
    if first is None:
        first = FAR_DAYS.first
    if last is None:
        # As "since" is read: what lies near a range counts by its distance from the middle, and a far end would put
        # the middle where nothing is.
        today = datetime.fromtimestamp(now_ms / 1000, zone).date()
        last = today if first <= today else FAR_DAYS.last
    if first > last:
        raise UserError(Code.INVALID_INPUT, "`from` is a later day than `to`; the range ends before it begins.")
    return to_moments(DaySpan(first, last), "", (0, 0), zone)


def _parse_day(text: str | None, field: str) -> date | None:
    if text is None:
        return None
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise UserError(Code.INVALID_INPUT, f"`{field}` is not a day; write it like 2026-01-31.")
    if not FAR_DAYS.first <= day <= FAR_DAYS.last:
        years = f"{FAR_DAYS.first.year} to {FAR_DAYS.last.year}"
        raise UserError(Code.INVALID_INPUT, f"`{field}` lies outside the years {years}.")
    return day


def _parse_moment(time: str | float | None, field: str) -> int | None:
    when = parse_time_param(time, field)
    return None if when is None else when.ms


def _join_spaces(spaces: tuple[str, ...] | None, space: str | None) -> tuple[str, ...] | None:
    return (*(spaces or ()), *(() if space is None else (space,))) or None


async def build_context(call: MethodCall, params: ContextParams | ClientContextParams) -> Answer:
    """What is remembered of a prompt, fenced as data, within a token budget."""
    spaces = _join_spaces(params.spaces, params.space if isinstance(params, ContextParams) else None)
    check_prompt(call.session, params.prompt, spaces or ())
    query = ContextQuery(
        prompt=params.prompt,
        budget=params.token_budget,
        model=params.model,
        session=params.session,
        spaces=spaces,
    )
    return memory_json.context_json(
        await await_future(call.engine.memories.build_context(query, call.actor(query.session))), call.shape
    )


async def show_memory(call: MethodCall, params: IdParams) -> Answer:
    """Everything about one memory."""
    return memory_json.detail_json(await await_future(call.engine.memories.show(params.id, call.actor())), call.shape)


async def list_versions(call: MethodCall, params: HistoryParams) -> Answer:
    """All versions of one memory's chain."""
    shape = call.shape
    chain = [
        shape.memory_json(memory)
        for memory in await await_future(call.engine.memories.list_versions(params.id, call.actor()))
    ]
    return {"items": items_after(chain, params.after)}


async def memory_history(call: MethodCall, params: VersionsParams) -> Answer:
    """All versions of a memory that the caller may see, the oldest first, and the one that stands (seed D)."""
    versions = await await_future(call.engine.memories.list_versions(params.id, call.actor()))
    wanted = params.memory_type
    if wanted is not None and all(one.kind is not wanted for one in versions):
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    seen, shape = frozenset(one.id for one in versions), call.shape
    documents = [_version_json(one, shape, seen) for one in versions]
    current = next((documents[at] for at in range(len(documents) - 1, -1, -1) if versions[at].status in STANDING), None)
    return {"versions": items_after(documents, params.after), "current": current}


def _version_json(memory: Memory, shape: Shape, seen: frozenset[str]) -> dict[str, Any]:
    """One version: when it was true, when it was believed, and what took its place, as far as the caller sees that."""
    after = memory.superseded_by_id
    document = shape.memory_json(memory)
    document |= {  # in place: it may be one that is not shown, and is known by that
        "version": memory.version,
        "valid_from": format_wire_time(memory.valid_from),
        "valid_to": format_wire_time(memory.valid_to),
        "retired_at": format_wire_time(memory.retired_at),
        "superseded_by": after if after in seen else None,
    }
    return document


async def read_receipt(call: MethodCall, params: ReceiptParams) -> Answer:
    """What one answer was: who asked what, which memories it was given, and which were kept back, and why."""
    found = await await_future(call.engine.recall_trials.read_receipt(params.id))
    row = found.row
    return {
        "id": row.id,
        "at": format_wire_time(row.at),
        "actor": row.actor,
        "client": row.client,
        "session": row.session,
        "verb": row.verb,
        "query": row.query,
        "reason": found.reason,
        "given": list(found.given),
        "withheld": [{"id": one, "why": why} for one, why in found.withheld.items()],
        "sealed": found.sealed,
        "unlisted": found.unlisted,
        "reads": found.reads,
        "expires_at": format_wire_time(row.expires_at),
    }


async def list_spaces(call: MethodCall, _params: NoParams) -> Answer:
    """All spaces, with how many memories stand in each."""
    names = (await await_future(call.engine.vault.read_status())).values["spaces"]
    counts = (await await_future(call.engine.library.count_facets())).spaces
    return {"spaces": [{"name": name, "memories": counts.get(name, 0)} for name in names]}


_FOUND = record(
    {
        "items": list_of(ref("item")),
        "abstained": flag(),
        "reason": text(),
        "strategy": text(),
        "receipt": text(),
        "plan?": ref("plan", "With `explain`."),
        "next?": text(),
    }
)

_CONTEXT = record(
    {
        "text": text("What the assistant reads; empty where nothing fits the budget."),
        "tokens": whole_number(least=0),
        "included": whole_number(least=0),
        "excluded": whole_number(least=0),
        "excluded_reasons": list_of(ref("excluded")),
        "receipt": text(),
        "tokenizer": text("The model whose tokenizer counted, or `estimate`."),
        "exact": flag(),
        "memories?": list_of(ref("packed"), "To the owner: each memory in the text."),
        "clarifying?": list_of(
            record({"id": text(), "question": text()}),
            "Questions that may be put to the person at a natural pause; only where a session "
            "is named. Data, like the text.",
            most=2,
        ),
        "cut?": list_of(text()),
    }
)

METHODS: tuple[Entry, ...] = (
    client_method(
        "memory_get",
        "One memory by its id.",
        GetParams,
        ref("item"),
        memory_get,
        grants=("read",),
        errors=(Code.NOT_FOUND, Code.ACCESS_DENIED),
        aliases={"memory_id": "id", "rule_id": "id"},
    ),
    client_method(
        "memory_list",
        "Memories, newest first.",
        PageParams,
        record({"items": list_of(ref("item")), "total": whole_number(), "next?": text()}),
        list_memories,
        grants=("read",),
        errors=(Code.ACCESS_DENIED,),
        aliases={"memory_type": "kind"},
        paged="again",
    ),
    client_method(
        "memory_search",
        "A ranked search with reasons. Empty and abstained when nothing fits. The next "
        "page of a reply that was cut is not counted against the search limit.",
        SearchParams,
        _FOUND,
        search,
        grants=("read",),
        errors=(Code.SEARCH_TIMEOUT, Code.RATE_LIMITED, Code.INVALID_QUERY, Code.ACCESS_DENIED),
        aliases={"topic": "query", "types": "kinds", "session_id": "session", "scope": "space"},
        search=True,
        paged="id",
    ),
    client_method(
        "memory_recall",
        "What is remembered of a topic, ranked by relevance, importance, recency and "
        "confidence together. Another name for memory_search. Counts as a search.",
        SearchParams,
        _FOUND,
        search,
        grants=("read",),
        errors=(Code.SEARCH_TIMEOUT, Code.RATE_LIMITED, Code.INVALID_QUERY, Code.ACCESS_DENIED),
        aliases={"topic": "query", "types": "kinds", "session_id": "session", "scope": "space"},
        search=True,
        paged="id",
    ),
    client_method(
        "memory_context",
        "What is remembered of a prompt, as one text within a token budget: facts, rules "
        "and episodes, each fenced as data. Counts as a search.",
        ClientContextParams,
        _CONTEXT,
        build_context,
        grants=("read",),
        errors=(Code.SEARCH_TIMEOUT, Code.RATE_LIMITED, Code.INVALID_QUERY, Code.ACCESS_DENIED),
        aliases={"trigger_prompt": "prompt", "session_id": "session"},
        search=True,
    ),
    client_method(
        "memory_history",
        "All versions of a memory that this caller may see, the oldest first, and the one that stands.",
        VersionsParams,
        record(
            {
                "versions": list_of(
                    ref("item"), "With `version`, `valid_from`, `valid_to`, `retired_at` and `superseded_by`."
                ),
                "current": nullable(ref("item")),
                "next?": text(),
            }
        ),
        memory_history,
        grants=("read",),
        errors=(Code.NOT_FOUND, Code.ACCESS_DENIED),
        aliases={"memory_id": "id", "rule_id": "id"},
        paged="id",
    ),
    owner_method(
        "recall",
        "A ranked search with exact scores.",
        RecallParams,
        record(
            {
                "items": list_of(ref("item")),
                "abstained": flag(),
                "reason": text(),
                "near_misses": list_of(any_object()),
                "strategy": text(),
                "took_ms": number(),
                "receipt?": text(),
                "sealed?": list_of(
                    record({"id": text(), "label": text(), "summary": text()}),
                    "Sealed memories whose label or summary says words of it; what they say takes their key.",
                ),
                "plan?": ref("plan", "With `explain`, as the three below."),
                "stages?": map_of(
                    whole_number(least=0), "How many each list brought, and how many were left after each stage."
                ),
                "chance?": ref("fraction", "How likely there is an answer at all."),
                "metrics?": nullable(ref("metrics")),
                "next?": text(),
                "cut?": list_of(text()),
            }
        ),
        recall_as_owner,
        errors=(Code.SEARCH_TIMEOUT, Code.INVALID_QUERY),
        aliases={"topic": "query"},
        paged="id",
    ),
    owner_method(
        "context",
        "What is remembered of a prompt, as one text within a token budget: facts, rules "
        "and episodes, each fenced as data.",
        ContextParams,
        _CONTEXT,
        build_context,
        errors=(Code.SEARCH_TIMEOUT, Code.INVALID_QUERY),
        aliases={"trigger_prompt": "prompt"},
    ),
    owner_method(
        "list",
        "Memories, newest first unless another order is named.",
        ListParams,
        record(
            {
                "items": list_of(ref("item")),
                "total": whole_number(),
                "memories": whole_number("As `total`, a long text that was split counted once.", least=0),
                "next?": text(),
            }
        ),
        list_as_owner,
        paged="again",
        short_ids={"after": "memory", "import_id": "import"},
    ),
    owner_memory_method(
        "show",
        "Everything about one memory.",
        IdParams,
        all_of(
            ref("item"),
            record(
                {
                    "claims": list_of(any_object(), "What it says, read as claims, each with its evidence."),
                    "provenance": any_object("Where it comes from: sources, conversation, origin, parts."),
                    "edges": list_of(any_object(), "Its relations to other memories."),
                    "trust_terms": list_of(record({"term": text(), "value": number()}), "What its trust is made of."),
                    "sensitive": list_of(text(), "What kinds of sensitive content rules find in its text."),
                },
                is_open=True,
            ),
        ),
        show_memory,
    ),
    owner_memory_method(
        "history",
        "All versions of one memory's chain, oldest first.",
        HistoryParams,
        record({"items": list_of(ref("item")), "next?": text()}),
        list_versions,
        paged="id",
    ),
    owner_method(
        "receipt",
        "What one answer was: who asked what, what it was given, and what was kept back, and why.",
        ReceiptParams,
        record(
            {
                "id": text(),
                "at": text(),
                "actor": one_of("owner", "client", "scheduler"),
                "client": text("Null where no client asked, or it is gone.", null=True),
                "session": text(null=True),
                "verb": text("`recall` or `context`; of what was read without a question `get`, `list` and so on."),
                "query": text("The words that were asked; data, like the text of a memory."),
                "reason": text("Why there was an answer, or none."),
                "given": list_of(text(), "Memories, in their order."),
                "withheld": list_of(record({"id": text(), "why": text()}), "What came close and was not given."),
                "sealed": whole_number("Memories that were kept back because they are sealed.", least=0),
                "unlisted": whole_number("Memories that were handed out besides `given`.", least=0),
                "reads": whole_number("How often it was read alike within the minute.", least=0),
                "expires_at": text("Until when it is kept.", null=True),
                "cut?": list_of(text()),
            }
        ),
        read_receipt,
        errors=(Code.NOT_FOUND,),
    ),
    owner_method(
        "spaces",
        "All spaces, with how many memories stand in each.",
        NoParams,
        record(
            {"spaces": list_of(record({"name": text(), "memories": whole_number(least=0)})), "cut?": list_of(text())}
        ),
        list_spaces,
    ),
)
