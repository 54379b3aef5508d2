"""Codex rollouts: fixture, one stream of two, context that poses as the person."""

from __future__ import annotations

import json
from typing import Any

import pytest
from import_checker import check_fixture
from importer_checks import items_of, memory_bundle, path_of, reasons, records

from core.importers.formats.sessions.codex import CodexImporter
from core.importers.records import Item

CODEX = CodexImporter()
META = {"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "s1", "cwd": "/w"}}


def test_fixture() -> None:
    check_fixture("codex")


def fixture_lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in path_of("codex").read_text("utf-8").splitlines()]


def item(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return {
        "type": "response_item",
        "timestamp": 1.7e9,
        "payload": {"type": "message", "role": role, "content": content},
    }


def event(kind: str, text: str) -> dict[str, Any]:
    key = "text" if kind == "agent_reasoning" else "message"
    return {"type": "event_msg", "timestamp": 1.7e9, "payload": {"type": kind, key: text}}


def read(*lines: Any, name: str = "rollout.jsonl") -> list[Item]:
    return items_of(CODEX, {name: "\n".join(entry if isinstance(entry, str) else json.dumps(entry) for entry in lines)})


def talk(items: list[Item]) -> list[tuple[str, str]]:
    return [(record.role.value, record.text) for record in records(items)]


def test_each_stream_alone_tells_the_same() -> None:
    lines = fixture_lines()
    both = talk(read(*lines))
    only_items = [entry for entry in lines if entry["type"] != "event_msg"]
    only_events = [entry for entry in lines if entry["type"] != "response_item"]
    assert talk(read(*only_items)) == both
    assert talk(read(*only_events)) == both
    assert reasons(read(*only_events)) == {"reasoning": 2}
    assert reasons(read(*only_items)) == {"developer_or_context": 3, "reasoning": 2, "tool_traffic": 6}


def test_sides_told_by_different_streams_are_joined() -> None:
    items = read(META, event("user_message", "q"), item("assistant", "a"), event("agent_message", "a"))
    assert talk(items) == [("user", "q"), ("assistant", "a")]


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "<user_instructions>x</user_instructions>",
        "<turn_aborted>x</turn_aborted>",
    ],
)
def test_context_is_not_the_person(text: str) -> None:
    items = read(META, item("user", text), item("user", "q"))
    assert talk(items) == [("user", "q")]
    assert reasons(items) == {"developer_or_context": 1}
    assert talk(read(META, item("user", text, "q"))) == [("user", "q")]
    assert talk(read(META, item("user", text))) == []


def test_an_unknown_element_the_screen_never_showed_is_context() -> None:
    lines = (META, item("user", "<novelty>x</novelty>"), item("user", "<b>mine</b>"), item("user", "q"))
    shown = (event("user_message", "q"), event("user_message", "<b>mine</b>"))
    assert talk(read(*lines, *shown)) == [("user", "<b>mine</b>"), ("user", "q")]
    assert len(records(read(*lines))) == 3


def test_an_editors_preamble_is_cut_before_the_request() -> None:
    text = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nfix it  \n"
    assert talk(read(META, item("user", text))) == [("user", "fix it  \n")]


def test_own_recall_is_cut() -> None:
    recall = '# Memory Context\n> data\n<memory id="1" type="fact">x</memory>\n\nq'
    assert talk(read(META, item("user", recall))) == [("user", "q")]


def test_identity_counts_equal_words_and_survives_more_lines() -> None:
    first = records(read(META, item("user", "go"), item("user", "go")))
    later = records(read(META, item("user", "go"), item("user", "go"), item("assistant", "ok"), item("user", "go")))
    assert len({record.identity for record in later}) == 4
    assert [record.identity for record in first] == [record.identity for record in later[:2]]


def test_session_facts_and_a_fork_that_repeats_its_parents_meta() -> None:
    parent = {"type": "session_meta", "payload": {"id": "parent", "cwd": "/old"}}
    context = {"type": "turn_context", "payload": {"cwd": "/turn", "model": "m"}}
    (record,) = records(read(META, parent, context, item("user", "q")))
    assert record.conversation is not None
    assert record.conversation.key == "s1"
    assert record.conversation.extra == {"cwd": "/w", "model": "m"}


def test_without_meta_the_name_gives_the_id() -> None:
    name = "rollout-2026-02-11T08-14-33-8ce495e6-4fdf-4dad-956f-568cccb5f9b4.jsonl"
    (record,) = records(read(item("user", "q"), name=name))
    assert record.conversation is not None
    assert record.conversation.key == "8ce495e6-4fdf-4dad-956f-568cccb5f9b4"


def test_rollouts_from_before_envelopes() -> None:
    lines = (
        {"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": None, "git": {"branch": "b"}},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "shell"},
        {"record_type": "state"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
    )
    assert CODEX.detects(memory_bundle({"r.jsonl": "\n".join(map(json.dumps, lines))}))
    items = read(*lines)
    assert talk(items) == [("user", "q"), ("assistant", "a")]
    assert reasons(items) == {"reasoning": 1, "tool_traffic": 1}
    assert records(items)[0].occurred is None


def test_bad_and_half_lines() -> None:
    items = read(META, "{broken", "[]", item("user", "q"), '{"type":"resp')
    assert talk(items) == [("user", "q")]
    assert reasons(items) == {"bad_line": 1, "not_an_object": 1, "incomplete_last_line": 1}


def test_images_alone_have_no_text() -> None:
    picture = item("user")
    picture["payload"]["content"] = [{"type": "input_image", "image_url": "data:"}]
    assert reasons(read(META, item("user", "q"), picture)) == {"no_text": 1}


def test_detection() -> None:
    assert CODEX.detects(memory_bundle({"x.txt": json.dumps(META)}))
    long_first = '{"timestamp":"t","type":"session_meta","payload":{"base_instructions":"' + "x" * 100_000 + '"}}'
    assert CODEX.detects(memory_bundle({"x": long_first}))
    for other in ('{"type": "event_msg"}', '{"text": "row", "id": 1}', "words"):
        assert not CODEX.detects(memory_bundle({"x.jsonl": other}))


def test_prompt_history_beside_sessions_is_not_a_second_source() -> None:
    files = {
        "history.jsonl": '{"session_id": "s1", "ts": 1, "text": "q"}',
        "sessions/2026/r.jsonl": "\n".join(map(json.dumps, (META, item("user", "q")))),
    }
    items = items_of(CODEX, files, "folder")
    assert talk(items) == [("user", "q")]
    assert reasons(items) == {"prompt_history": 1}
