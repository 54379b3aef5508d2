"""Microsoft Copilot and Perplexity: which row came first, whose words, and what is in no known form."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importer_checks import items_of, memory_bundle, reasons, records

from core.errors import Code, UserError
from core.importers.formats.assistants.copilot import CopilotImporter
from core.importers.formats.assistants.perplexity import PerplexityImporter
from core.types.values import Role

COPILOT, PERPLEXITY = CopilotImporter(), PerplexityImporter()
DAY, NEXT = "2026-07-01T08:00:00", "2026-07-02T08:00:00"


def table(*rows: tuple[str, ...], header: tuple[str, ...] = ("Conversation", "Time", "Author", "Message")) -> str:
    target = io.StringIO()
    csv.writer(target).writerows([header, *rows])
    return target.getvalue()


def said(text: str) -> list[tuple[Role, str]]:
    return [(record.role, record.text) for record in records(items_of(COPILOT, {"a.csv": text}))]


@pytest.mark.parametrize(
    ("rows", "want"),
    [
        ((("t", NEXT, "AI", "4"), ("t", NEXT, "Human", "3"), ("t", DAY, "AI", "2"), ("t", DAY, "Human", "1")), "1234"),
        ((("t", DAY, "Human", "1"), ("t", DAY, "AI", "2"), ("t", NEXT, "Human", "3"), ("t", NEXT, "AI", "4")), "1234"),
        ((("t", DAY, "AI", "2"), ("t", DAY, "Human", "1")), "12"),
        ((("t", DAY, "Human", "1"), ("t", DAY, "AI", "2")), "12"),
        ((("t", "", "AI", "2"), ("t", "", "Human", "1")), "12"),
    ],
)
def test_the_oldest_comes_first_and_a_question_before_its_answer(rows: tuple[tuple[str, ...], ...], want: str) -> None:
    found = said(table(*rows))
    assert "".join(text for _, text in found) == want
    assert [role for role, _ in found] == [Role.USER, Role.ASSISTANT] * (len(want) // 2)


def test_a_later_export_brings_only_what_is_new() -> None:
    old = [
        ("t", DAY, "AI", "yes"),
        ("t", DAY, "Human", "again?"),
        ("t", DAY, "AI", "yes"),
        ("t", DAY, "Human", "well?"),
    ]
    new = [("t", NEXT, "AI", "yes"), ("t", NEXT, "Human", "still?"), *old]
    before = [record.identity for record in records(items_of(COPILOT, {"a.csv": table(*old)}))]
    after = [record.identity for record in records(items_of(COPILOT, {"b.csv": table(*new)}))]
    assert len(set(before)) == 4
    assert after[:4] == before
    assert len(set(after)) == 6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Conversation,Time,Author,Message",
        table(("t", DAY, "Ivar", "hello")),
        table(("t", DAY, "Human"), header=("Conversation", "Time", "Author")),
        table((DAY, "t", "Human", "hello"), header=("Time", "Conversation", "Author", "Message")),
    ],
)
def test_another_table_is_none_of_it(text: str) -> None:
    assert not COPILOT.detects(memory_bundle({"a.csv": text}))


def test_rows_in_no_known_form_are_told_and_the_others_come_in() -> None:
    text = table(("t", DAY, "AI", "yes"), ("t", DAY, "Tool", "ran"), ("t", DAY)) + 'u,2026-07-03,Human,"never closed'
    items = items_of(COPILOT, {"a.csv": text})
    assert [record.text for record in records(items)] == ["yes"]
    assert reasons(items) == {"bad_line": 2, "bad_message": 1}
    assert said("") == []


def test_a_table_of_gigabytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.importers.formats.assistants.copilot._MOST", 10)
    with pytest.raises(UserError) as caught:
        items_of(COPILOT, {"a.csv": table(("t", DAY, "AI", "yes"))})
    assert caught.value.code is Code.IMPORT_REFUSED


@given(
    st.lists(st.tuples(st.text(max_size=3), st.sampled_from((DAY, "")), st.sampled_from(("AI", "Human")), st.text()))
)
def test_every_row_is_a_record_or_is_counted(rows: list[tuple[str, ...]]) -> None:
    items = items_of(COPILOT, {"a.csv": table(*rows)})
    assert len(items) == len(rows)


def thread(*entries: Any, **more: Any) -> str:
    about = {"context_title": "Tides", "created_at": "2025-11-03T18:00:00Z", "entries": list(entries)}
    return json.dumps({"conversations": [about | more]})


def test_a_question_and_its_answer_are_two_messages() -> None:
    entry = {"query": "when?", "answer": "at six [1]", "created_at": "2025-11-03T18:00:01Z", "mode": "SEARCH"}
    items = items_of(PERPLEXITY, {"a.json": thread(entry, {"query": "and then?"}, 3)})
    assert [(one.role, one.text) for one in records(items)] == [
        (Role.USER, "when?"),
        (Role.ASSISTANT, "at six [1]"),
        (Role.USER, "and then?"),
    ]
    assert reasons(items) == {"no_text": 1, "not_an_object": 1}
    assert PERPLEXITY.detects(memory_bundle({"a.json": thread(entry)}))
    assert not PERPLEXITY.detects(memory_bundle({"a.json": json.dumps({"conversations": [{"entries": []}]})}))


def test_equal_turns_without_ids_stay_two_and_again_the_same() -> None:
    entry = {"query": "when?", "answer": "at six", "created_at": "2025-11-03T18:00:01Z"}
    found = [record.identity for record in records(items_of(PERPLEXITY, {"a.json": thread(entry, entry)}))]
    again = [record.identity for record in records(items_of(PERPLEXITY, {"b.json": thread(entry, entry)}))]
    assert len(set(found)) == 4
    assert again == found
