"""Gemini, Gemini CLI, Grok and Aider: whose words, what is no talk, and entries in no known form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.assistants.gemini import GeminiImporter
from core.importers.formats.assistants.grok import GrokImporter
from core.importers.formats.sessions.aider import AiderImporter
from core.importers.formats.sessions.gemini_cli import GeminiCliImporter
from core.importers.records import Importer
from core.types.values import Role, Source

GEMINI, CLI, GROK, AIDER = GeminiImporter(), GeminiCliImporter(), GrokImporter(), AiderImporter()
RECALLED = '<memory id="1" type="fact">old</memory>'


def texts(items: list[Any]) -> list[str]:
    return [record.text for record in records(items)]


def entry(title: str, answer: str | None = "<p>yes</p>", **more: Any) -> dict[str, Any]:
    told = {"header": "Gemini Apps", "title": title, "time": "2025-03-02T19:04:05Z", "products": ["Gemini Apps"]}
    return told | ({} if answer is None else {"safeHtmlItem": [{"html": answer}]}) | more


@pytest.mark.parametrize(
    ("title", "answer", "want"),
    [
        ("Prompted one", "<p>yes</p>", ["one", "yes"]),
        ("Prompted\xa0one", None, ["one"]),
        ("Etwas anderes gefragt", "<p>yes</p>", ["Etwas anderes gefragt", "yes"]),
        ("Used an app", None, []),
        ("Prompted ", "<p>yes</p>", ["yes"]),
        (f"Prompted one {RECALLED}", "", ["one"]),
        ("Prompted one", "<style>x</style>", ["one"]),
    ],
)
def test_a_prompt_and_its_answer_are_a_conversation(title: str, answer: str | None, want: list[str]) -> None:
    items = items_of(GEMINI, {"a.json": json.dumps([entry(title, answer)])})
    assert texts(items) == want


def test_equal_prompts_at_two_times_stay_two_and_again_the_same() -> None:
    rows = [entry("Prompted one"), entry("Prompted one", time="2025-03-03T19:04:05Z")]
    found = records(items_of(GEMINI, {"a.json": json.dumps(rows)}))
    again = records(items_of(GEMINI, {"b.json": json.dumps(rows[::-1])}))
    assert len({r.identity for r in found}) == 4
    assert {r.identity for r in found} == {r.identity for r in again}


def session(*messages: Any, **more: Any) -> str:
    about = {"sessionId": "s", "projectHash": "p", "startTime": "2025-09-01T10:00:00Z"}
    return json.dumps(about | {"messages": list(messages)} | more)


def test_a_session_holds_only_what_was_said() -> None:
    items = items_of(
        CLI,
        {
            "s.json": session(
                {"type": "user", "content": f"one {RECALLED}", "id": "1", "timestamp": "2025-09-01T10:00:00Z"},
                {
                    "type": "gemini",
                    "content": [{"text": "two"}, "three", {"functionCall": {}}],
                    "id": "2",
                    "timestamp": "x",
                },
                {"type": "gemini", "content": "", "toolCalls": [1]},
                {"type": "error", "content": "no"},
                {"type": "user"},
                3,
            )
        },
    )
    assert [(r.text, r.role, r.source) for r in records(items)] == [
        ("one", Role.USER, Source.USER_IMPLICIT),
        ("two\n\nthree", Role.ASSISTANT, Source.INFERENCE),
    ]
    assert records(items)[1].flags == ("time_unreadable",)
    assert reasons(items) == {"tool_traffic": 1, "other_line_types": 1, "no_text": 1, "not_an_object": 1}


@pytest.mark.parametrize(
    ("written", "ms"),
    [
        ({"$date": {"$numberLong": "1746100800123"}}, 1746100800123),
        ({"$date": "2025-05-01T12:00:00Z"}, 1746100800000),
        ("2025-05-01T12:00:00Z", 1746100800000),
        (1746100800123, 1746100800123),
        ({"$date": {}}, None),
        (None, None),
    ],
)
def test_times_of_grok_are_read_in_every_form(written: object, ms: int | None) -> None:
    response = {"response": {"_id": "r", "message": "m", "sender": "human", "create_time": written}}
    talk = {"conversation": {"id": "c"}, "responses": [response, None]}
    items = items_of(GROK, {"a.json": json.dumps({"conversations": [talk, 3]})})
    (record,) = records(items)
    assert (record.occurred.ms if record.occurred else None) == ms
    assert reasons(items) == {"not_an_object": 1, "bad_conversation": 1}


def test_a_history_that_grew_brings_only_what_is_new() -> None:
    start = "# aider chat started at 2025-04-02 09:30:00\n\n#### one  \n\nyes\n\n#### one  \n"
    before = records(items_of(AIDER, {"h.md": start}))
    after = records(
        items_of(AIDER, {"h.md": start + "\nno\n\n# aider chat started at 2025-04-03 09:30:00\n\n#### one\n"})
    )
    assert [r.text for r in before] == ["one", "yes", "one"]
    assert [r.identity for r in after][:3] == [r.identity for r in before]
    assert len({r.identity for r in after}) == 5


@pytest.mark.parametrize("importer", [GEMINI, CLI, GROK, AIDER])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "# A note\n\n#### deep heading\n",
        "[]",
        "{}",
        '[{"title": "x", "time": "y", "header": "Search"}]',
        '{"conversations": [{"mapping": {}}]}',
        '{"sessionId": "x", "messages": []}',
        '{"conversations": 1}',
    ],
)
def test_other_files_are_left_to_others(importer: Importer, text: str) -> None:
    assert not importer.detects(memory_bundle({"a.json": text}))
    assert not importer.detects(memory_bundle({"a.json": text, "history.md": text}, "folder"))


@pytest.mark.parametrize("importer", [GEMINI, CLI, GROK])
def test_a_cut_file_is_refused(importer: Importer) -> None:
    whole = {
        GEMINI: json.dumps([entry("Prompted one")]),
        CLI: session({"type": "user", "content": "x"}),
        GROK: json.dumps({"conversations": [{"conversation": {"id": "c"}, "responses": []}]}),
    }[importer]
    with pytest.raises(UserError) as error:
        items_of(importer, {"a.json": whole[:-4]})
    assert error.value.code is Code.IMPORT_REFUSED


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["text", "html", "$date", "$numberLong", "name"]), inner, max_size=2)
    ),
)
ENTRIES = st.dictionaries(
    st.sampled_from(
        [
            "title",
            "time",
            "safeHtmlItem",
            "subtitles",
            "type",
            "content",
            "timestamp",
            "message",
            "sender",
            "create_time",
            "_id",
            "toolCalls",
            "file_attachments",
            "header",
            "products",
        ]
    ),
    VALUES,
    max_size=6,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(ENTRIES, max_size=4))
def test_any_entries_are_read_or_told(entries: list[dict[str, Any]]) -> None:
    assert len(items_of(GEMINI, {"a.json": json.dumps(entries)})) >= len(entries)
    assert len(items_of(CLI, {"a.json": session(*entries)})) == len(entries)
    wrapped = {"conversation": {"id": "c"}, "responses": [{"response": {"x": 1} | one} for one in entries]}
    assert len(items_of(GROK, {"a.json": json.dumps({"conversations": [wrapped]})})) == max(1, len(entries))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(["#### a", "> b", "c", "", "# aider chat started at 2025-04-02 09:30:00"]), max_size=12)
)
def test_every_line_of_a_history_is_kept_or_counted(lines: list[str]) -> None:
    items = items_of(AIDER, {"h.md": "\n".join(["# aider chat started at 2025-01-01 00:00:00", *lines])})
    said = "\n".join(texts(items)).split("\n")
    assert said.count("a") == lines.count("#### a")
    assert said.count("c") == lines.count("c")
    assert not any(line.startswith((">", "#")) for line in said)
