"""Memories as JSON: one shape on the command line and on the socket (design section 8). Pure.

The owner sees exact numbers; a client sees band words for score, trust and confidence, and never a vector. What a reply
hands to a client beside searches and contexts is told here too (lists, versions, the review's pairs, entities), for the
receipt; searches, contexts and single memories leave their own in the engine. Must not do: decide who may see what, or
count what did not fit into the line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from core.engine.facade import RecallItem, RecallResult
from core.ipc.protocol.contract import format_wire_time
from core.text.screening.egress import memory_injection_score, render_memory, sanitize_for_display, stated_conditions
from core.text.screening.injection import blocked_placeholder, current_limits
from core.types.values import Action, Memory, When, band_word

if TYPE_CHECKING:
    from core.types.recall import ContextReply, Metrics, QueryPlan, TimeRange, Trace
    from core.types.replies import ImportReport, MemoryDetail, StepRow, Steps, UndoReport, VerdictReply
    from core.types.reviews import DecisionReply, ListedConflict

NameOf = Callable[[str], str | None]

_TIMES = frozenset({"at", "earliest", "latest", "valid_from", "valid_to", "started", "finished"})
_BY_MEANING = frozenset({"vector", "window"})  # lists of core.recall.result
_SECRETS = frozenset({"token", "key", "root"})
_MOST_ALIASES = 64  # of one plan: a question names many, and each may have many


Result = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """How one caller is shown memories.

    Attributes:
        exact: numbers instead of bands, and the rows' own details.
        name_of: the name of a client by its id.
    """

    exact: bool
    name_of: NameOf

    def figure_json(self, value: float) -> float | str:
        """A figure as this caller sees it."""
        return round(value, 6) if self.exact else band_word(value)

    def memory_json(self, memory: Memory, score: float | None = None) -> dict[str, Any]:
        """A memory as a recall item.

        Args:
            score: its score; None outside a search.
        """
        client = None if memory.client_id is None else self.name_of(memory.client_id)
        item: dict[str, Any] = {
            "id": memory.id,
            "kind": memory.kind.value,
            "text": memory.text if self.exact else render_memory(memory).text,
            "author": memory.author,
            "said_by": memory.said_by(client),
            "category": memory.category,
            "status": memory.status.value,
            "score": None if score is None else self.figure_json(score),
            "trust": self.figure_json(memory.trust),
            "confidence": self.figure_json(memory.confidence),
            "created_at": format_wire_time(memory.recorded_at),
            "occurred_at": None if memory.occurred is None else format_wire_time(memory.occurred.ms),
            "occurred_precision": None if memory.occurred is None else memory.occurred.precision.value,
            "space": memory.space,
            "source": memory.source.value,
            "client": client,
            "ref": memory.ref,
            "importance": memory.importance,
            "tags": list(memory.tags),
            "session": memory.session,
            **stated_conditions(memory),
        }
        return {**item, **_detail_members(memory)} if self.exact else _guard_memory(memory, item)

    def recalled_json(self, item: RecallItem, explain: bool) -> dict[str, Any]:
        """A recalled memory.

        Args:
            explain: whether signals, ranks and reasons are wanted.
        """
        shaped = self.memory_json(item.memory, item.score)
        refs = () if isinstance(shaped, Withheld) else item.refs
        if refs:
            shaped["refs"] = [one if self.exact else sanitize_for_display(one) for one in refs]
        if item.episodes and not isinstance(shaped, Withheld):
            shaped["episode_id"] = item.episodes[0]
        if item.contradicts is not None:
            shaped["contradicts"] = item.contradicts
        if not explain:
            return shaped
        signals = item.signals
        shaped["signals"] = {
            "relevance": self.figure_json(signals.relevance),
            "confidence": self.figure_json(signals.confidence),
            "recency": self.figure_json(signals.recency),
            "importance": self.figure_json(signals.importance),
            "utility": self.figure_json(signals.utility),
        }
        shaped["ranks"] = {
            name: {"rank": int(rank), "raw": float(raw)} if self.exact else int(rank)
            for name, (rank, raw) in item.ranks.items()
        }
        shaped["why"] = list(item.why) if self.exact else _client_reasons(item.ranks)
        return shaped

    def plan_json(self, plan: QueryPlan) -> dict[str, Any]:
        """How a question was understood.

        Returns:
            Intent, days and names; to who sees numbers also what speaks for each intent, other names, and the weight
            of words with what moved it.
        """
        plan_fields: dict[str, Any] = {
            "intent": plan.intent.value,
            "time": None if plan.time is None else _days_json(plan.time),
            "entities": [one if self.exact else sanitize_for_display(one) for one in plan.entities],
        }
        if not self.exact:
            return plan_fields
        return {
            **plan_fields,
            "intent_scores": {name: round(score, 6) for name, score in plan.intent_scores.items()},
            "aliases": _limit_aliases(plan.aliases),
            "identifiers": list(plan.identifiers),
            "text_weight": round(plan.text_weight, 6),
            "text_signals": list(plan.text_signals),
            "given": list(plan.given),
        }

    def reason_of(self, result: RecallResult) -> str:
        """Why there is an answer or none; without the numbers where this caller sees none."""
        if self.exact or not any(character.isdigit() for character in result.reason):
            return result.reason
        return "Nothing comes close enough."


def _guard_memory(memory: Memory, item: dict[str, Any]) -> dict[str, Any]:
    """What leaves for a client: a text that reads like an attack is not shown, nor the labels beside it (E10.14.1)."""
    score = memory_injection_score(memory)
    if score <= current_limits().block:
        return item
    bare: dict[str, Any] = {"author": None, "category": "general", "ref": None, "session": None, "tags": []}
    left = {name: value for name, value in item.items() if name not in stated_conditions(memory)}
    bare["said_by"] = dataclasses.replace(memory, author=None).said_by(item["client"])
    return Withheld(left, **bare, text=blocked_placeholder(score))


def _days_json(time: TimeRange) -> dict[str, str]:
    return {"words": time.words, "from": time.first_day, "to": time.last_day}


def _limit_aliases(known: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    room, limited = _MOST_ALIASES, dict[str, list[str]]()
    for name, others in known.items():
        kept = list(others[:room])
        room -= len(kept)
        if kept:
            limited[name] = kept
    return limited


def explanation_json(trace: Trace, metrics: Metrics | None, shape: Shape) -> dict[str, Any]:
    """What `recall --explain` adds for the owner.

    Args:
        trace: the recall from the inside.
        metrics: how good the answer was.
        shape: the owner's.

    Returns:
        `plan`; `stages`: the funnel, list or stage to count; `chance`: how likely there is an answer at all, 0 to 1;
        `metrics`: the figures of E5.3.1.
    """
    figures = None if metrics is None else dataclasses.asdict(metrics)
    return {
        "plan": shape.plan_json(trace.plan),
        "stages": dict(trace.stages),
        "chance": round(trace.chance, 6),
        "metrics": None
        if figures is None
        else {name: round(value, 6) if isinstance(value, float) else value for name, value in figures.items()},
    }


def _client_reasons(ranks: Mapping[str, object]) -> list[str]:
    """A client's reasons: from which lists a memory came, in words."""
    reasons = ["It is close in meaning."] if _BY_MEANING & ranks.keys() else []
    if ranks.keys() - _BY_MEANING:
        reasons.append("It has words of the query.")
    return reasons


def _detail_members(memory: Memory) -> dict[str, Any]:
    return {
        "role": memory.role.value,
        "status_reason": memory.status_reason,
        "conversation_id": memory.conversation_id,
        "position": memory.position,
        "import_id": memory.import_id,
        "valid_from": format_wire_time(memory.valid_from),
        "valid_to": format_wire_time(memory.valid_to),
        "retired_at": format_wire_time(memory.retired_at),
        "last_confirmed_at": format_wire_time(memory.last_confirmed_at),
        "corroboration": memory.corroboration,
        "reinforcements": memory.reinforcements,
        "disputes": memory.disputes,
        "access_count": memory.access_count,
        "chain_id": memory.chain_id,
        "version": memory.version,
        "supersedes": memory.supersedes_id,
        "superseded_by": memory.superseded_by_id,
        "part_of": memory.part_of,
        "part_index": memory.part_index,
        "pinned": memory.pinned,
        "tier": memory.tier.value,
        "flags": list(memory.flags),
        "extra": dict(memory.extra),  # the person's own: their names and numbers mean nothing here
    }


def detail_json(found: MemoryDetail, shape: Shape) -> dict[str, Any]:
    """`show`: a memory with claims, provenance, relations and the terms of its trust.

    Returns:
        The item with its additions.
    """
    return {
        **shape.memory_json(found.memory),
        "claims": [_row_json(claim, "valid_from", "valid_to") for claim in found.claims],
        "provenance": {
            "sources": [_row_json(source, "at") for source in found.sources],
            "conversation": _row_json(found.conversation, "started_at"),
            "origin": dict(found.origin),
            "parts": list(found.parts),
        },
        "edges": [_row_json(edge) for edge in found.edges],
        "trust_terms": [{"term": name, "value": round(value, 6)} for name, value in found.trust_terms],
        "sensitive": [one.value for one in found.sensitive],
    }


def context_json(reply: ContextReply, shape: Shape) -> dict[str, Any]:
    """`context_json` and `memory_context`.

    Returns:
        The contract's shape; who sees numbers also sees in which tier each memory stands.
    """
    packed = reply.context
    shaped: dict[str, Any] = {
        "text": packed.text,
        "tokens": packed.tokens,
        "included": len(packed.included),
        "excluded": len(packed.excluded),
        "excluded_reasons": [
            {"id": one.id, "reason": one.reason, "value": shape.figure_json(one.value)} for one in packed.excluded
        ],
        "receipt": reply.receipt_id,
        "tokenizer": packed.tokenizer,
        "exact": packed.exact,
    }
    if shape.exact:
        shaped["memories"] = [
            {"id": one.id, "tier": one.tier, "score": shape.figure_json(one.score), "tokens": one.tokens}
            for one in packed.included
        ]
    if reply.clarifying:
        shaped["clarifying"] = [{"id": one.id, "question": one.question} for one in reply.clarifying]
    return shaped


def conflict_json(item: ListedConflict, shape: Shape) -> dict[str, Any]:
    """One item of the desk.

    Returns:
        The contract's shape, with what can be decided and what the suggestion would lead to.
    """
    shaped: dict[str, Any] = {
        "id": item.id,
        "kind": item.kind,
        "state": item.state,
        "question": item.question if shape.exact else sanitize_for_display(item.question),
        "existing": None if item.existing is None else shape.memory_json(item.existing),
        "incoming": shape.memory_json(item.incoming),
        "reason": item.reason,
        "suggestion": None if item.suggestion is None else item.suggestion.action.value,
        "actions": [action.value for action in item.actions],
        "opened_at": format_wire_time(item.opened_at),
    }
    if item.suggestion is not None and shape.exact:
        shaped["result"] = item.suggestion.sentence
    if item.asked is not None and shape.exact:
        shaped["asked"] = {
            "wish": item.asked.change,
            "client": item.asked.client,
            "reason": item.asked.reason,
            "at": format_wire_time(item.asked.at),
        }
    if item.against is not None and shape.exact:
        shaped["against"] = shape.memory_json(item.against)
    if item.names and shape.exact:
        shaped["names"] = list(item.names)
        shaped["answers"] = list(item.answers)
    if item.warning and shape.exact:
        shaped["warning"] = item.warning
    if item.resolution is not None:
        shaped["resolution"] = item.resolution.value
    return {**shaped, "closed": item.closed} if item.closed else shaped


def decision_json(item_id: str, action: Action, done: DecisionReply) -> dict[str, Any]:
    """`resolve` and `memory_resolve_conflict`: what came of a decision."""
    return {
        "id": item_id,
        "action": action.value,
        "step": done.step_id,
        "label": done.label,
        "active": list(done.active),
        "retired": list(done.retired),
        "closed": list(done.closed),
        **({"withheld": list(done.withheld)} if done.withheld else {}),
        **({"asked": list(done.asked)} if done.asked else {}),
    }


def verdict_json(reply: VerdictReply, shape: Shape) -> dict[str, Any]:
    """`confirm`, `dispute`, `reinforce` and their methods: how the memory stands now.

    Returns:
        Status, trust and the counts behind it.
    """
    return {
        "id": reply.memory_id,
        "status": reply.status,
        "trust": shape.figure_json(reply.trust),
        "confidence": shape.figure_json(reply.confidence),
        "reinforcements": reply.reinforcements,
        "disputes": reply.disputes,
        "corroboration": reply.corroboration,
        "step": reply.step_id,
        "conflict": reply.conflict,
    }


def import_json(report: ImportReport, *, with_sources: bool = False) -> dict[str, Any]:
    """`import`: what was brought in, or would be; with the sources of a dry run, where they are asked for."""
    return {
        "import_id": report.import_id,
        "format": report.format,
        "conversations": report.conversations,
        "messages": {role: int(report.messages.get(role, 0)) for role in ("user", "assistant", "other")},
        "stored": report.stored,
        "proposals": report.proposals,
        "skipped": dict(report.skipped),
        "errors": [dict(error) for error in report.errors],
        "earliest": report.earliest,
        "latest": report.latest,
        **({"updated": report.updated} if report.updated else {}),
        **({"sealed": report.sealed} if report.sealed else {}),
        **({"is_foreign": True} if report.is_foreign else {}),
        **({"sources": [to_json_value(one) for one in report.sources]} if with_sources else {}),
        **({"list_lines": report.list_lines} if with_sources and report.list_lines else {}),
    }


def undo_json(report: UndoReport) -> dict[str, Any]:
    """`undo` and `unimport`: what was put back and what was left."""
    return {
        "step": report.step_id,
        "label": report.label,
        "undo_step": report.undo_step_id,
        "restored": report.restored,
        "left": [{**to_json_value(row), "key": _row_json(row["key"])} for row in report.left],
        **({"unpaired": list(report.unpaired)} if report.unpaired else {}),
    }


def steps_json(page: Steps) -> dict[str, Any]:
    """`undo --list`: a page of undo steps, newest first."""
    shaped: dict[str, Any] = {"items": [_step_json(step) for step in page.rows], "total": page.total}
    if page.next is not None:
        shaped["next"] = page.next
    return shaped


def _step_json(step: StepRow) -> dict[str, Any]:
    return {
        "id": step.id,
        "at": format_wire_time(step.at),
        "verb": step.verb,
        "label": step.label,
        "actor": step.actor,
        "client": step.client,
        "rows": step.rows,
        "undone": step.undone,
        "can_undo": step.can_undo,
        "expires_at": format_wire_time(step.expires_at),
        "memory_ids": list(step.memory_ids),
    }


def _row_json(row: Mapping[str, Any], *times: str) -> dict[str, Any]:
    """A row of the engine's own: the named members are epoch milliseconds, bytes are left out."""
    return {
        name: format_wire_time(value) if name in times else value
        for name, value in row.items()
        if not isinstance(value, bytes)
    }


def to_json_value(value: object, name: str = "") -> Any:
    """Any frozen value of the engine as JSON: dataclasses, mappings, enumerations, times.

    Whole numbers under a name that ends in `_at` (or is `valid_from`, `valid_to`, `earliest`, `latest`, `at`) are
    epoch milliseconds and become ISO 8601. Bytes and members named like secrets are left out.

    Args:
        name: the member it stands under.

    Returns:
        Something `json.dumps` takes.
    """
    if isinstance(value, When):
        return format_wire_time(value.ms)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _members_json(members)
    if isinstance(value, Mapping):
        return _members_json(value)
    if isinstance(value, Sequence | Set) and not isinstance(value, str | bytes | bytearray):
        rows = sorted(value, key=str) if isinstance(value, Set) else value
        return [to_json_value(row, name) for row in rows]
    return _scalar_json(value, name)


def _members_json(members: Mapping[Any, object]) -> dict[str, Any]:
    return {
        str(key): to_json_value(member, str(key))
        for key, member in members.items()
        if str(key) not in _SECRETS and not isinstance(member, bytes | bytearray | memoryview)
    }


def _scalar_json(value: object, name: str) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, bool) or value is None or isinstance(value, str | float):
        return value
    if isinstance(value, int):
        return format_wire_time(value) if name in _TIMES or name.endswith("_at") else value
    return str(value)


class Withheld(dict[str, Any]):
    """A memory of which no word is shown; a line stands in place of its text (E10.14.1).

    It is known by what it is, since a text can begin with the very words of that line. A copy of it has to be made
    one again.
    """


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What is taken down of one reply.

    Attributes:
        verb: as a receipt names it.
        query: the words asked with; "" for none.
        memories: ids of the memories handed out.
        entities: ids of the entities handed out.
        blocked: ids of memories of which no word was shown.
    """

    verb: str
    query: str
    memories: tuple[str, ...]
    entities: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    verb: str
    items: str
    memories: Callable[[Sequence[Result]], Iterable[Result]]


def _return_items(items: Sequence[Result]) -> Iterable[Result]:
    return items


def _both_sides(items: Sequence[Result]) -> Iterable[Result]:
    both = (item[name] for item in items for name in ("existing", "incoming"))
    return (side for side in both if side is not None)


_WAYS: Mapping[str, _Way] = MappingProxyType(
    {
        "memory_list": _Way("list", "items", _return_items),
        "memory_history": _Way("history", "versions", _return_items),
        "memory_conflicts": _Way("conflicts", "conflicts", _both_sides),
    }
)
_ENTITIES = frozenset({"entity_get", "entity_resolve"})


def disclosure_of(method: str, params: Mapping[str, Any], result: Result, kept: int | None) -> Disclosure | None:
    """What a reply hands out that no receipt of the engine tells of.

    Args:
        kept: how many items went into the line, where it was cut.

    Returns:
        What is to be taken down; None where nothing is.
    """
    if method in _ENTITIES:
        found = result.get("candidates", [result])
        entities = tuple(one["entity_id"] for one in found)
        return Disclosure("entities", str(params.get("name", "")), (), entities) if entities else None
    way = _WAYS.get(method)
    if way is None:
        return None
    shown = {one["id"]: isinstance(one, Withheld) for one in way.memories(result[way.items][:kept])}
    memories, blocked = (tuple(one for one, is_out in shown.items() if is_out is out) for out in (False, True))
    query = str(params.get("text", ""))
    return Disclosure(way.verb, query, memories, (), blocked) if shown or query else None
