"""The schemas of answers, in few words: a record of named members, a list, a text; and those of memories.

They are published in `resources/protocol.json`; no answer is checked against them while Loci runs. Must not do: know a
method.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]


def record(members: Mapping[str, Schema], about: str = "", *, is_open: bool = False) -> Schema:
    """An object.

    Args:
        members: name to schema; a name that ends in `?` may be missing.
        is_open: whether it may have other members as well.
    """
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name.removesuffix("?"): member for name, member in members.items()},
    }
    if not is_open:
        schema["additionalProperties"] = False
    schema["required"] = [name for name in members if not name.endswith("?")]
    return _with_description(schema, about)


def ref(name: str, about: str = "") -> Schema:
    """A definition that is shared, by its name in `$defs`."""
    return _with_description({"$ref": f"#/$defs/{name}"}, about)


def text(about: str = "", *, null: bool = False) -> Schema:
    """A text; with `null` also null."""
    return _with_description({"type": ["string", "null"] if null else "string"}, about)


def whole_number(about: str = "", *, least: int | None = None, most: int | None = None, null: bool = False) -> Schema:
    """A whole number within bounds; with `null` also null."""
    schema: dict[str, Any] = {"type": ["integer", "null"] if null else "integer"}
    return _with_description(schema | _number_bounds(least, most), about)


def number(about: str = "", *, least: int | None = None) -> Schema:
    """A number."""
    return _with_description({"type": "number"} | _number_bounds(least, None), about)


def flag(about: str = "") -> Schema:
    """True or false."""
    return _with_description({"type": "boolean"}, about)


def any_object(about: str = "", *, null: bool = False) -> Schema:
    """An object whose members are not told; with `null` also null."""
    return _with_description({"type": ["object", "null"] if null else "object"}, about)


def one_of(*choices: str, about: str = "") -> Schema:
    """One of several words."""
    return _with_description({"enum": list(choices)}, about)


def constant(value: Any, about: str = "") -> Schema:
    """One value and no other."""
    return _with_description({"const": value}, about)


def nullable(schema: Schema, about: str = "") -> Schema:
    """A schema, or null."""
    return any_of(schema, {"type": "null"}, about=about)


def any_of(*schemas: Schema, about: str = "") -> Schema:
    """One of several schemas."""
    return _with_description({"anyOf": list(schemas)}, about)


def all_of(*schemas: Schema) -> Schema:
    """All of several schemas at once."""
    return {"allOf": list(schemas)}


def list_of(schema: Schema, about: str = "", *, most: int | None = None) -> Schema:
    """A list."""
    return _with_description({"type": "array", "items": schema} | ({} if most is None else {"maxItems": most}), about)


def map_of(schema: Schema, about: str = "") -> Schema:
    """An object whose keys are not known beforehand."""
    return _with_description({"type": "object", "additionalProperties": schema}, about)


def _number_bounds(least: int | None, most: int | None) -> dict[str, int]:
    return {key: bound for key, bound in (("minimum", least), ("maximum", most)) if bound is not None}


def _with_description(schema: Mapping[str, Any], about: str) -> Schema:
    return {**schema, "description": about} if about else schema


DEFINITIONS: Mapping[str, Schema] = MappingProxyType(
    {
        "count": whole_number(least=0),
        "plan": record(
            {
                "intent": ref("intent"),
                "intent_scores?": map_of(ref("fraction"), "What speaks for each intent."),
                "time": nullable(
                    record(
                        {
                            "words": text("As they stand in the question; empty where the caller gave the days."),
                            "from": ref("day"),
                            "to": ref("day"),
                        }
                    ),
                    "The days that are asked about, both inclusive.",
                ),
                "entities": list_of(text(), "Names in the question, as typed."),
                "aliases?": map_of(list_of(text()), "Other names of these, where they are known; 64 at most."),
                "identifiers?": list_of(text()),
                "text_weight?": ref(
                    "fraction", "How much words count against meaning: 0 is meaning alone, 1 is words alone."
                ),
                "text_signals?": list_of(text(), "What moved that weight."),
                "given?": list_of(one_of("intent", "time", "text_weight"), "What the caller decided."),
            },
            "How a question was understood. To clients intent, time and entities; the rest is the owner's.",
        ),
        "metrics": record(
            {
                "average_relevancy": ref("fraction"),
                "ndcg": ref("fraction"),
                "ndcg_before": ref("fraction", "In the order of relevance, before side signals and variety."),
                "candidates_after_filter": whole_number(least=0),
                "memories_packed": whole_number(least=0),
                "tokens_consumed": whole_number(least=0),
                "search_latency_ms": number(least=0),
                "rerank_applied": one_of("rrf", "mmr", "rrf_then_mmr"),
                "hybrid_text_weight": ref("fraction"),
                "graded": flag("Whether there was anything to grade the answer by."),
            },
            "How good an answer was.",
        ),
        "band": one_of("high", "medium", "low", "minimal", about="Above 0.85, above 0.60, above 0.40, the rest."),
        "moment": text("A time, ISO 8601 in UTC with `Z`."),
        "figure": any_of(ref("band"), number(), about="A band word to clients, a number from 0 to 1 to the owner."),
        "excluded": record(
            {
                "id": text("The memory."),
                "reason": one_of(
                    "budget",
                    "duplicate",
                    "injection",
                    "share",
                    "behind",
                    "spread",
                    about="There was no room, another one says the same, it reads like an attack on "
                    "assistants, its client has its share, what answers stands far before it, or it "
                    "reads like an attack only together with others of the text, of whatever client or import.",
                ),
                "value": ref("figure", "How well it would have fitted."),
            },
            "A memory that was left out of a context, and why.",
        ),
        "packed": record(
            {
                "id": text(),
                "tier": text("In which of its lengths it stands in the text."),
                "score": ref("figure"),
                "tokens": ref("count"),
            },
            "A memory in the text of a context.",
        ),
        "clarifying": record(
            {"id": text("The review item it would settle."), "question": text()},
            "A question that may be put to the person at a natural pause. Data, like the text.",
        ),
        "item": record(
            {
                "id": text("UUIDv7 text; the time of storing orders it."),
                "kind": ref("kind"),
                "text": text(
                    "What is remembered. A text that reads like an attack on assistants is not shown "
                    "to a client: a line that begins with `[MEMORY BLOCKED` stands in its place, and "
                    "the labels beside it (author, category, ref, session, tags) are left empty."
                ),
                "author": text("Whose words they are, where that was told; a name as it was given.", null=True),
                "said_by?": text(
                    "Whose words they are and who reports it: `user` is the person in Loci itself or "
                    "in a file of theirs; `user, via NAME` is what the client NAME says the person "
                    "said."
                ),
                "category": text(),
                "status": ref("status"),
                "score": nullable(ref("figure"), "How well it fits the query; null outside searches."),
                "trust": ref("figure", "How far it is believed."),
                "confidence": ref("figure", "How sure it is; of a plain memory the same as its trust."),
                "created_at": ref("moment", "When it was stored."),
                "occurred_at": nullable(ref("moment"), "When it was said or happened; null where that is not known."),
                "occurred_precision?": nullable(
                    one_of("year", "month", "day", "hour", "minute", "second", "ms"),
                    "How exactly `occurred_at` is known: of a year, the rest of it says nothing.",
                ),
                "space": text("The name of the space it lies in."),
                "source": ref("source", "By what way it came; who brought it stands in `client`."),
                "client": text("The client that brought it; null for the person and for imports.", null=True),
                "ref": text("The reference that its caller or its file gave it.", null=True),
                "importance?": ref("fraction", "0 (trivial) to 1 (critical)."),
                "tags?": list_of(text()),
                "session?": text("The session or conversation it was said in.", null=True),
                "true_when?": text("The person said: only true when this is so."),
                "true_unless?": text("The person said: not true when this is so."),
                "episode_id?": text("Of a statement: the episode that says it, here or best of several."),
                "contradicts?": text(
                    "In searches, where a client told it: the memory of the same answer in which the "
                    "person says otherwise."
                ),
                "refs?": list_of(
                    text(), "In searches, where it stands for others that say the same: the references of all of them."
                ),
                "signals?": record(
                    {
                        "relevance": ref("figure"),
                        "confidence": ref("figure"),
                        "recency": ref("figure"),
                        "importance": ref("figure"),
                        "utility": ref("figure"),
                    },
                    "With `explain`: what its score is made of.",
                ),
                "ranks?": map_of(
                    any_of(whole_number(), record({"rank": whole_number(), "raw": number()})),
                    "With `explain`: its place, from 1, in each list that brought it (by meaning, by "
                    "words, by relations, by time); to the owner `{rank, raw}`.",
                ),
                "why?": list_of(text(), "With `explain`: why it was found, in sentences."),
                "text_cut?": constant(value=True, about="The text was shortened to fit into one message."),
                "cut?": list_of(text(), "Members that were shortened or emptied to fit into one message."),
            },
            "A memory. Members that are not listed here are told to the owner only.",
            is_open=True,
        ),
    }
)
"""What answers are made of, by the name in `$defs`."""


IMPORT_REPORT: Schema = record(
    {
        "import_id": nullable(text()),
        "format": text(),
        "conversations": whole_number(),
        "messages": record({"user": whole_number(), "assistant": whole_number(), "other": whole_number()}),
        "stored": whole_number(),
        "proposals": whole_number(),
        "skipped": any_object(),
        "errors": list_of({"type": "object", "required": ["where", "message"]}),
        "earliest": nullable(text()),
        "latest": nullable(text()),
        "updated?": whole_number("Memories whose newer row in an archive took the place of an older one."),
        "is_foreign?": flag("Whether another vault wrote the archive: its memories are trusted 0.5 at most."),
        "sealed?": whole_number("Of those stored from an archive, memories that are sealed and stay so."),
        "sources?": list_of(
            record(
                {
                    "name": text("Where it lies in what was named."),
                    "format": text("What it is read as; empty where nobody can read it."),
                    "records": whole_number(),
                    "new": whole_number(),
                    "earliest": nullable(text()),
                    "latest": nullable(text()),
                    "samples": list_of(text("How one of its texts begins.")),
                    "left_out": whole_number(),
                    "problem": text("Why it was refused; empty where it was not."),
                }
            )
        ),
        "list_lines?": whole_number(
            "With `sources`: how many memories a text or Markdown file that is a list would be in the format `lines`."
        ),
        "cut?": list_of(text()),
    }
)
"""What an import brought, or would bring."""
