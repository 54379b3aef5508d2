"""The JSON of the command line and the socket as design section 8 fixes it: keys, types, and nothing of a wrong type.

More keys than the contract names are allowed; the ones it names must be there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from xml.etree import ElementTree as ET

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")  # UUIDv7 text
WAYS = {"user_explicit", "system", "tool_output", "user_implicit", "document", "inference"}
STATUSES = {"active", "superseded", "disputed", "quarantined", "consolidated", "archived", "deleted"}
KINDS = {"episode", "fact", "rule", "procedure", "digest"}
OPERATIONS = {"ADD", "UPDATE", "MERGE", "SUPERSEDE", "NOOP", "QUARANTINE", "PROPOSED"}
BANDS = {"high", "medium", "low", "minimal"}
SECTIONS = ("## Key Facts", "## Active Rules", "## Episodes")
ELEMENT = re.compile(r"^<memory id=.*?^</memory>$", re.DOTALL | re.MULTILINE)
INTENTS = {"lookup", "exploratory", "comparative", "temporal", "procedural", "causal"}
STAGES = ["vector", "words", "graph", "time", "in_scope", "fused", "after_duplicates", "answered"]
FIGURES = {
    "average_relevancy", "ndcg", "ndcg_before", "candidates_after_filter", "memories_packed", "tokens_consumed",
    "search_latency_ms", "rerank_applied", "hybrid_text_weight", "graded",
}  # fmt: skip
SIGNALS = {"relevance", "confidence", "recency", "importance", "utility"}


def is_id(value: object) -> bool:
    """Whether it is a UUIDv7 text."""
    return isinstance(value, str) and ID.fullmatch(value) is not None


def is_time(value: object) -> bool:
    """Whether it is ISO 8601 in UTC with a Z."""
    if not isinstance(value, str) or not value.endswith("Z"):
        return False
    return datetime.fromisoformat(value).tzinfo is not None


def is_number(value: object) -> bool:
    """Whether it is a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def check_item(item: Mapping[str, Any], *, exact: bool = True, scored: bool = False, explained: bool = False) -> None:
    """A recall item.

    Args:
        item: from `recall`, `list`, `show`, `history` or the socket.
        exact: to the owner; a client sees band words.
        scored: from a search.
        explained: with `--explain`.
    """
    assert is_id(item["id"])
    assert item["kind"] in KINDS
    assert isinstance(item["text"], str)
    assert item["status"] in STATUSES
    assert item["source"] in WAYS
    assert isinstance(item["category"], str)
    assert isinstance(item["space"], str)
    for name in ("author", "client", "ref"):
        assert item[name] is None or isinstance(item[name], str), name
    for name in ("trust", "confidence"):
        assert is_number(item[name]) if exact else item[name] in BANDS, name
    assert is_time(item["created_at"])
    assert item["occurred_at"] is None or is_time(item["occurred_at"])
    if scored:
        assert is_number(item["score"]) if exact else item["score"] in BANDS
    else:
        assert item["score"] is None
    assert ("signals" in item) == ("ranks" in item) == ("why" in item) == explained
    if explained:
        _explanation(item, exact=exact)


def _explanation(item: Mapping[str, Any], *, exact: bool) -> None:
    assert set(item["signals"]) == SIGNALS
    assert all(is_number(value) if exact else value in BANDS for value in item["signals"].values())
    assert item["ranks"]
    assert all(isinstance(name, str) for name in item["ranks"])
    assert item["why"]
    assert all(isinstance(sentence, str) and sentence.endswith(".") for sentence in item["why"])


def check_recall(reply: Mapping[str, Any], *, explained: bool = False) -> None:
    """`recall --json`."""
    assert isinstance(reply["abstained"], bool)
    assert isinstance(reply["reason"], str)
    assert isinstance(reply["near_misses"], list)
    assert reply["strategy"] in ("hybrid", "semantic", "keyword", "keyword_only_no_vectors")
    assert isinstance(reply["took_ms"], float)
    assert reply["took_ms"] > 0
    assert reply["abstained"] == (not reply["items"])
    for item in reply["items"]:
        check_item(item, scored=True, explained=explained)
    scores = [item["score"] for item in reply["items"]]
    assert scores == sorted(scores, reverse=True)
    for name in ("plan", "stages", "chance", "metrics"):
        assert (name in reply) == explained, name
    if explained:
        check_plan(reply["plan"])
        assert list(reply["stages"]) == STAGES
        assert all(type(count) is int and count >= 0 for count in reply["stages"].values())
        assert reply["stages"]["answered"] == len(reply["items"])
        assert is_number(reply["chance"])
        assert set(reply["metrics"]) == FIGURES
        assert reply["metrics"]["memories_packed"] == len(reply["items"])


def check_plan(plan: Mapping[str, Any], *, exact: bool = True) -> None:
    """How a question was understood.

    Args:
        plan: of a reply.
        exact: to the owner; a client is told no number.
    """
    assert plan["intent"] in INTENTS
    assert all(isinstance(name, str) for name in plan["entities"])
    if plan["time"] is not None:
        assert set(plan["time"]) == {"words", "from", "to"}
        assert date.fromisoformat(plan["time"]["from"]) <= date.fromisoformat(plan["time"]["to"])
    if not exact:
        assert set(plan) == {"intent", "time", "entities"}
        return
    assert set(plan) == {
        "intent", "intent_scores", "time", "entities", "aliases", "identifiers", "text_weight", "text_signals", "given",
    }  # fmt: skip
    assert set(plan["intent_scores"]) == INTENTS
    assert all(is_number(score) for score in plan["intent_scores"].values())
    assert is_number(plan["text_weight"])
    assert set(plan["given"]) <= {"intent", "time", "text_weight"}


def check_context(reply: Mapping[str, Any], *, budget: int, exact: bool = True) -> None:
    """`context --json` and `memory_context`: the shape, the headings in their order, and one element a memory.

    Args:
        budget: tokens it was allowed.
        exact: to the owner; a client sees band words.
    """
    assert {"text", "tokens", "included", "excluded", "excluded_reasons", "receipt"} <= set(reply)
    assert is_id(reply["receipt"])
    text, reasons = reply["text"], reply["excluded_reasons"]
    assert 0 <= reply["tokens"] <= budget
    assert len(text) <= budget * 4  # seed B
    assert reply["excluded"] == len(reasons)
    for reason in reasons:
        assert set(reason) == {"id", "reason", "value"}
        assert is_id(reason["id"])
        assert is_number(reason["value"]) if exact else reason["value"] in BANDS
    found = memories_in(text)
    assert reply["included"] == len(found)
    assert all(is_id(one.get("id")) and one.get("type") in KINDS for one in found)
    if text:
        first, second, third, *rest = text.splitlines()
        assert first == "# Memory Context"
        assert second.startswith("> ")
        assert "DATA" in second
        assert third.startswith("> ")
        assert "<memory>" in third
        headings = [line for line in rest if line.startswith("#")]
        assert headings == [one for one in SECTIONS if one in headings]
        assert ("memories" in reply) == exact


def memories_in(text: str) -> list[ET.Element]:
    """The elements of a context, each read by itself."""
    return [ET.fromstring(found) for found in ELEMENT.findall(text)]  # noqa: S314 - what the test looks at


def check_stored(reply: Mapping[str, Any], *, owner: bool = True) -> None:
    """`remember --json` and `memory_store`."""
    assert reply["operation"] in OPERATIONS
    assert is_id(reply["memory_id"])
    assert isinstance(reply["deduplicated"], bool)
    assert all(is_id(value) for value in reply["superseded"])
    assert reply["conflict"] is None or is_id(reply["conflict"])
    assert isinstance(reply["merged"], bool)
    assert ("classification" in reply) == owner
    if owner:
        label = reply["classification"]
        assert set(label) == {"label", "confidence", "by"}
        assert isinstance(label["label"], str)
        assert is_number(label["confidence"])
        assert isinstance(label["by"], str)


def check_import(reply: Mapping[str, Any], *, dry_run: bool = False) -> None:
    """`import --json`: these keys and no other."""
    assert set(reply) == {
        "import_id", "format", "conversations", "messages", "stored", "proposals", "skipped", "errors", "earliest",
        "latest",
    }  # fmt: skip
    assert reply["import_id"] is None if dry_run else is_id(reply["import_id"])
    assert set(reply["messages"]) == {"user", "assistant", "other"}
    counts = [*reply["messages"].values(), *reply["skipped"].values()]
    counts += [reply["conversations"], reply["stored"], reply["proposals"]]
    assert all(type(count) is int and count >= 0 for count in counts)
    for error in reply["errors"]:
        assert set(error) == {"where", "message"}
    for name in ("earliest", "latest"):
        assert reply[name] is None or is_time(reply[name])


def check_shown(reply: Mapping[str, Any]) -> None:
    """`show --json`."""
    check_item(reply)
    assert isinstance(reply["provenance"], dict)
    assert isinstance(reply["edges"], list)
    assert reply["trust_terms"]
    for claim in reply["claims"]:
        assert {
            "subject", "predicate", "value", "exclusive", "polarity", "qualifiers", "valid_from", "valid_to",
            "confidence", "state", "evidence",
        } <= set(claim)  # fmt: skip
        assert isinstance(claim["exclusive"], bool)
        assert is_number(claim["confidence"])
        assert claim["evidence"]


def check_verified(reply: Mapping[str, Any], status: str = "ok") -> None:
    """`verify --json`."""
    assert set(reply) == {"status", "checks"}
    assert reply["status"] == status
    assert reply["checks"]
    assert {check["status"] for check in reply["checks"].values()} <= {"ok", "failed", "not_checked"}
