"""The parts of the sample diary, played in order as `loci demo` plays them: real importers, the clock on each day."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.types.replies import ImportReport
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Memory

DEMO = Path(str(files("resources"))) / "demo"
PARTS: list[Mapping[str, str]] = json.loads((DEMO / "parts.json").read_text("utf-8"))
KNOTS: Mapping[str, Any] = json.loads((DEMO / "knots.json").read_text("utf-8"))
QUERIES: Mapping[str, Any] = json.loads((DEMO / "queries.json").read_text("utf-8"))
DAY_MS = 86_400_000

# Path in parts.json: format, stored, and what is left out because exports hold such things.
EXPECTED: Mapping[str, tuple[str, int, Mapping[str, int]]] = {
    "parts/2025-06-chat-export": ("chatgpt", 15, {"hidden_or_system": 4, "abandoned_branch": 1}),
    "parts/2025-07-pocketbook.jsonl": ("jsonl", 32, {}),
    "parts/2025-08-phone-memory.json": ("mem0", 13, {}),
    "parts/2025-09-pocketbook.jsonl": ("jsonl", 29, {}),
    "parts/2025-10-claude-export": ("claude", 18, {}),
    "parts/2025-11-pocketbook.jsonl": ("jsonl", 28, {}),
    "parts/2025-12-family-memory.json": ("mcp-memory", 30, {}),
    "parts/2026-01-pocketbook.jsonl": ("jsonl", 23, {}),
    "parts/2026-02-claude-code": ("claude-code", 14, {"tool_use": 2, "tool_result": 2, "other_line_types": 3}),
    "parts/2026-03-pocketbook.jsonl": ("jsonl", 27, {}),
    "parts/2026-04-shed-memory": ("openmemory", 19, {"deleted": 1}),
    "parts/2026-05-pocketbook.jsonl": ("jsonl", 32, {}),
    "parts/2026-05-claude-export": ("claude", 16, {}),
    "notes": ("obsidian", 9, {"vault_settings": 1}),
    "parts/2026-06-chat-export": ("chatgpt", 21, {"hidden_or_system": 5, "bio_acknowledgement": 1}),
    "parts/2026-07-codex": ("codex", 13, {"developer_or_context": 3, "tool_traffic": 6}),
    "chat-export": ("chatgpt", 15, {"hidden_or_system": 3, "bio_acknowledgement": 1, "abandoned_branch": 1}),
    "parts/2026-08-pocketbook.jsonl": ("jsonl", 34, {}),
    "parts/2026-09-field-notes": ("obsidian", 13, {"vault_settings": 1}),
    "diary.jsonl": ("jsonl", 42, {}),
    "parts/2026-10-pocketbook.jsonl": ("jsonl", 32, {}),
    "parts/2026-11-household.csv": ("csv", 12, {}),
}
HOST = re.compile(r"(?:[\w.+-]+@|https?://|www\.)([\w-]+(?:\.[\w-]+)*)")
BARE_HOST = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|info|co|uk|de|eu|app|dev)\b", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:]+(?:[+-]\d{2}:\d{2}|Z)?)?")
PHONE = re.compile(r"(?<![\w£])[+(]?\d(?:[ ()/.-]{0,2}\d){7,}")
NOBODYS_PHONE = re.compile(r"01632 960\d{3}")


def start_of(day: str) -> int:
    """Midnight UTC at the beginning of an ISO date, epoch ms."""
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def key(memory: Memory) -> str:
    """A memory's name in knots.json and queries.json: its ref, the path of a note, the id of a document."""
    return str(memory.ref or memory.extra.get("path") or memory.extra.get("message") or memory.id)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig_at(tmp_path_factory.mktemp("demo"), clock=HandClock(start_of("2025-06-01"))) as rig:
        yield rig


@pytest.fixture(scope="module")
def reports(rig: Rig) -> dict[str, ImportReport]:
    told = {}
    assert isinstance(rig.clock, HandClock)
    for part in PARTS:
        rig.clock.at_ms = start_of(part["on"])
        told[part["path"]] = rig.bring(DEMO / part["path"], part["space"])
    return told


@pytest.fixture(scope="module")
def memories(rig: Rig, reports: dict[str, ImportReport]) -> tuple[Memory, ...]:
    assert reports
    request = ListRequest(statuses=None, limit=None)
    return tuple(rig.engine.memories.list(request, OWNER_ACTOR).result(30).items)


def test_the_list_of_parts_is_in_order_and_complete() -> None:
    days = [part["on"] for part in PARTS]
    assert days == sorted(days)
    assert len(set(days)) == len(days)
    assert all(set(part) == {"path", "space", "on"} for part in PARTS)
    assert [part["path"] for part in PARTS] == list(EXPECTED)
    listed = {part["path"] for part in PARTS}
    assert {f"parts/{path.name}" for path in (DEMO / "parts").iterdir()} <= listed


@pytest.mark.parametrize("path", EXPECTED)
def test_a_real_importer_brings_a_part_in_whole(path: str, reports: dict[str, ImportReport]) -> None:
    report = reports[path]
    assert report.errors == ()
    assert (report.format, report.stored, report.skipped) == EXPECTED[path]


def test_nothing_in_a_part_is_said_later_than_its_day(
    reports: dict[str, ImportReport], memories: tuple[Memory, ...]
) -> None:
    days = {reports[part["path"]].import_id: start_of(part["on"]) for part in PARTS}
    late = [key(m) for m in memories if m.occurred is not None and m.occurred.ms >= days[m.import_id]]
    assert late == []
    assert [key(m) for m in memories if not 0 <= m.recorded_at - days[m.import_id] < DAY_MS] == []


def test_it_is_as_large_as_promised(memories: tuple[Memory, ...]) -> None:
    assert len(memories) >= 400
    kinds = Counter(memory.kind.value for memory in memories)
    assert min(kinds[kind] for kind in ("rule", "procedure")) >= 12
    assert min(kinds[kind] for kind in ("episode", "fact")) >= 80
    assert kinds["digest"] >= 3
    assert min(Counter(memory.space for memory in memories).values()) >= 40
    assert {memory.space for memory in memories} == {"home", "work", "maps", "health", "travel", "shed"}
    assert len({shape for shape, _, _ in EXPECTED.values()}) >= 5


def test_it_spans_a_year_and_a_half_by_what_was_said_and_by_when_it_was_learnt(memories: tuple[Memory, ...]) -> None:
    said = [memory.occurred.ms for memory in memories if memory.occurred is not None]
    learnt = [memory.recorded_at for memory in memories]
    assert (max(said) - min(said)) / DAY_MS > 540
    assert (max(learnt) - min(learnt)) / DAY_MS > 500
    months = {datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m") for ms in said}
    assert len(months) == 19  # none of them empty
    assert len(memories) - len(said) <= 40  # a graph of things tells no times


def test_every_text_is_its_own(memories: tuple[Memory, ...]) -> None:
    assert [text for text, count in Counter(memory.text for memory in memories).items() if count > 1] == []
    openings = Counter(memory.text[:30] for memory in memories if not memory.text.startswith("---"))
    assert [opening for opening, count in openings.items() if count > 1] == []
    assert [key(memory) for memory in memories if memory.flags] == []


def test_names_are_given_once(memories: tuple[Memory, ...]) -> None:
    assert [name for name, count in Counter(map(key, memories)).items() if count > 1] == []


@pytest.mark.parametrize("group", ["contradictions", "near_duplicates", "stale"])
def test_knots_name_what_is_there(group: str, memories: tuple[Memory, ...]) -> None:
    known = set(map(key, memories))
    for knot in KNOTS[group]:
        assert set(knot) == {"refs", "why"}
        assert len(knot["refs"]) == (1 if group == "stale" else 2)
        assert [ref for ref in knot["refs"] if ref not in known] == []
        assert len(knot["why"].split()) >= 5


def test_there_are_knots_enough_and_none_twice() -> None:
    assert len(KNOTS["contradictions"]) >= 8
    assert len(KNOTS["near_duplicates"]) >= 5
    assert len(KNOTS["stale"]) >= 5
    pairs = [tuple(sorted(knot["refs"])) for group in ("contradictions", "near_duplicates") for knot in KNOTS[group]]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("question", QUERIES["tour"], ids=lambda q: f"{q['query']} {q.get('as_of', '')}")
def test_what_the_tour_expects_stands_nowhere_else(question: Mapping[str, Any], memories: tuple[Memory, ...]) -> None:
    assert {key(memory) for memory in memories if question["expect"] in memory.text} == set(question["refs"])


def test_nobody_real_can_be_reached(memories: tuple[Memory, ...]) -> None:
    for memory in memories:
        phones = [number for number in PHONE.findall(DATE.sub("", memory.text)) if not NOBODYS_PHONE.fullmatch(number)]
        assert phones + BARE_HOST.findall(memory.text) == [], key(memory)
    written = [path for path in sorted(DEMO.rglob("*")) if path.is_file()]
    assert len(written) > 40
    for path in written:
        strangers = [host for host in HOST.findall(path.read_text("utf-8")) if not host.endswith(".example")]
        assert strangers == [], path.name
