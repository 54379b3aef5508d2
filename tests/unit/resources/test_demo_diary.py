"""The sample diary: real importers read it whole, its questions fit its texts, and nobody real is in it."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.importers.detect import detect_format
from core.importers.dry_run import DryRunReport, dry_run_import, import_items
from core.importers.input.source import open_bundle
from core.importers.records import Record
from core.types.values import Kind, Status

RESOURCES = Path(str(files("resources")))
DEMO = RESOURCES / "demo"
PARTS = {"diary.jsonl": "jsonl", "chat-export": "chatgpt", "notes": "obsidian"}
QUERIES: Mapping[str, Any] = json.loads((DEMO / "queries.json").read_text("utf-8"))
ROWS = [json.loads(line) for line in (DEMO / "diary.jsonl").read_text("utf-8").splitlines()]
ROW_FIELDS = {"text", "time", "author", "session", "ref", "kind", "category", "importance", "tags"}
FIRST = datetime(2025, 8, 1, tzinfo=UTC)
LAST = datetime(2026, 11, 1, tzinfo=UTC)

HOST = re.compile(r"(?:[\w.+-]+@|https?://|www\.)([\w-]+(?:\.[\w-]+)*)")
BARE_HOST = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|info|co|uk|de|eu|app|dev)\b", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:]+(?:[+-]\d{2}:\d{2}|Z)?)?")
PHONE = re.compile(r"(?<![\w£])[+(]?\d(?:[ ()/.-]{0,2}\d){7,}")
NOBODYS_PHONE = re.compile(r"01632 960\d{3}")


def read(part: str) -> tuple[DryRunReport, list[Record]]:
    with open_bundle(DEMO / part) as bundle:
        importer = detect_format(bundle)
        found = [item for item in import_items(bundle, importer) if isinstance(item, Record)]
        return dry_run_import(bundle, importer), found


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [record for part in PARTS for record in read(part)[1]]


@pytest.fixture(scope="module")
def texts(records: list[Record]) -> dict[str, str]:
    return {key(record): record.text for record in records}


def key(record: Record) -> str:
    """A record's name in queries.json."""
    return record.ref or str(record.extra["path"])


def strangers(text: str) -> list[str]:
    """Hosts and telephone numbers that might be somebody's."""
    hosts = [host for host in HOST.findall(text) if not host.endswith(".example")]
    phones = [number for number in PHONE.findall(DATE.sub("", text)) if not NOBODYS_PHONE.fullmatch(number)]
    return hosts + BARE_HOST.findall(text) + phones


@pytest.mark.parametrize(("part", "name"), PARTS.items())
def test_a_real_importer_reads_it_without_an_error(part: str, name: str) -> None:
    told, _ = read(part)
    assert told.format == name
    assert told.troubles == ()
    assert told.trouble_count == 0
    assert told.records > 0


def test_what_each_part_holds() -> None:
    rows, chat, notes = (read(part)[0] for part in PARTS)
    assert (rows.conversations, rows.records, rows.skipped) == (10, 42, {})
    assert rows.messages == {"user": 21, "assistant": 13, "other": 8}
    assert (chat.conversations, chat.records, chat.proposals) == (3, 15, 1)
    assert chat.messages == {"user": 7, "assistant": 7, "other": 0}
    assert chat.skipped == {"hidden_or_system": 3, "abandoned_branch": 1, "bio_acknowledgement": 1}
    assert (notes.records, notes.skipped) == (9, {"vault_settings": 1})


def test_it_is_of_the_promised_size_and_every_item_has_its_own_name(records: list[Record]) -> None:
    assert 55 <= len(records) <= 70
    assert len({key(record) for record in records}) == len(records)
    assert len({record.identity for record in records}) == len(records)
    assert len({record.text for record in records}) == len(records)
    assert not [key(record) for record in records if record.flags]


def test_times_are_known_and_in_range(records: list[Record]) -> None:
    times = [record.occurred.ms / 1000 for record in records if record.occurred]
    assert len(times) == len(records)
    assert FIRST.timestamp() <= min(times)
    assert max(times) < LAST.timestamp()
    assert (max(times) - min(times)) / 86_400 > 400  # nearly fourteen months


def test_times_run_forward_inside_a_conversation(records: list[Record]) -> None:
    by_conversation: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.conversation is not None and record.position is not None:
            by_conversation[record.conversation.key].append(record)
    assert len(by_conversation) == 13
    for told in by_conversation.values():
        assert [record.position for record in told] == list(range(len(told)))
        assert all(a.occurred.ms < b.occurred.ms for a, b in pairwise(told) if a.occurred and b.occurred)
        assert [record.role.value for record in told] == [("user", "assistant")[i % 2] for i in range(len(told))]
        assert 3 <= len(told) <= 6


def test_rows_use_the_fields_of_the_contract() -> None:
    for row in ROWS:
        assert {"text", "time", "author", "ref"} <= set(row) <= ROW_FIELDS
        assert 0 <= row.get("importance", 0.5) <= 1
        assert row.get("kind", "episode") in set(Kind)
        assert ("session" in row) or row["author"] == "user"
    assert [row["ref"] for row in ROWS] == [f"tm-{number:03d}" for number in range(1, len(ROWS) + 1)]
    moments = [datetime.fromisoformat(row["time"]) for row in ROWS]
    assert moments == sorted(moments)
    assert all(moment.utcoffset() is not None for moment in moments)


def test_links_between_notes_lead_somewhere(records: list[Record]) -> None:
    links = [link for record in records for link in record.extra.get("links", ())]
    paths = {record.extra.get("path") for record in records}
    assert len(links) >= 10
    assert [link for link in links if link["to"] not in paths] == []
    assert all(record.tags for record in records if "path" in record.extra)


def test_the_proposal_waits(records: list[Record]) -> None:
    waiting = [record.text for record in records if record.status is Status.QUARANTINED]
    assert waiting == ["Tove prefers a window seat facing forward on trains."]


def test_the_other_answer_of_the_chat_is_not_what_counts(texts: dict[str, str]) -> None:
    other = "take a coach from London to Munich"
    assert other in (DEMO / "chat-export" / "conversations.json").read_text("utf-8")
    assert not [name for name, text in texts.items() if other in text]


def test_as_many_questions_as_promised() -> None:
    assert {name: len(asked) for name, asked in QUERIES.items() if name != "note"} == {
        "tour": 4,
        "answerable": 20,
        "unanswerable": 15,
    }
    asked = [(q["query"], q.get("as_of")) for name in ("tour", "answerable", "unanswerable") for q in QUERIES[name]]
    assert len(set(asked)) == len(asked)
    assert {q["distance"] for q in QUERIES["unanswerable"]} == {"far", "near"}


@pytest.mark.parametrize("question", QUERIES["tour"], ids=lambda q: f"{q['query']} {q.get('as_of', '')}")
def test_what_the_tour_expects_stands_in_these_texts_only(question: Mapping[str, Any], texts: dict[str, str]) -> None:
    assert {name for name, text in texts.items() if question["expect"] in text} == set(question["refs"])


@pytest.mark.parametrize("question", [*QUERIES["tour"], *QUERIES["answerable"]], ids=lambda q: str(q["query"]))
def test_answers_exist_and_were_known_by_then(question: Mapping[str, Any], records: list[Record]) -> None:
    by_key = {key(record): record for record in records}
    assert question["refs"]
    assert set(question["refs"]) <= set(by_key)
    if "as_of" in question:
        then = datetime.fromisoformat(question["as_of"]).replace(tzinfo=UTC).timestamp() * 1000
        assert all(when.ms < then for ref in question["refs"] if (when := by_key[ref].occurred))


@pytest.mark.parametrize(
    ("words", "refs"),
    [
        ("12 GB", {"tm-009", "tm-014"}),
        ("20 GB", {"tm-014", "tm-015"}),
        ("£2,400", {"tm-012", "tm-013", "tm-032"}),
        ("£3,100", {"tm-032", "tm-033", "tm-036", "Projects/Slow Rivers.md"}),
        ("£2,750", {"tm-036", "tm-037"}),
        ("Brightwater", {"tm-001", "tm-028", "tm-035"}),
        ("Quillwort Press", {"tm-026", "tm-035"}),
        ("Orchard Rise", {"tm-021", "tm-024", "House/Boiler at Orchard Rise.md"}),
    ],
)
def test_what_changes_over_the_months_is_told_where_later_issues_look(
    words: str, refs: set[str], texts: dict[str, str]
) -> None:
    assert {name for name, text in texts.items() if words in text} == refs


def test_nobody_real_can_be_reached() -> None:
    # The later parts are looked through by tests/unit/demo, in all their formats.
    old = [path for path in sorted(DEMO.rglob("*")) if "parts" not in path.parts]
    seen = [path for path in old if path.is_file() and path.suffix in {".md", ".jsonl"}]
    assert len(seen) == 11
    said = {path.name: strangers(path.read_text("utf-8")) for path in seen}
    assert not {name: found for name, found in said.items() if found}
    _, chat = read("chat-export")
    asked = [q["query"] for name, part in QUERIES.items() if name != "note" for q in part]
    assert not [found for text in [record.text for record in chat] + asked for found in strangers(text)]


@pytest.mark.parametrize(
    "text", ["me@gmail" + ".com", "https://maps.invalid/x", "call 0151 49603712", "+44 20 7946 0018"]
)
def test_the_check_sees_a_stranger(text: str) -> None:
    assert strangers(text)


def test_the_check_leaves_other_numbers_alone() -> None:
    assert not strangers("files@print.example, 01632 960417, 2026-04-12T10:05:00+01:00, £34,500, from 17:00 to 19:00")


def test_the_package_holds_no_code() -> None:
    code = sorted(path.relative_to(RESOURCES).as_posix() for path in RESOURCES.rglob("*.py"))
    assert code == ["__init__.py", "help/examples/plain_socket.py"]  # an example of the help
    body = ast.parse((RESOURCES / "__init__.py").read_text("utf-8")).body
    assert len(body) == 1
    assert isinstance(body[0], ast.Expr)
    assert isinstance(body[0].value, ast.Constant)


def test_the_readme_names_whatever_lies_here() -> None:
    told = (RESOURCES / "README.md").read_text("utf-8")
    here = {path.name for path in RESOURCES.iterdir() if not path.name.startswith("_")} - {"README.md"}
    assert sorted(name for name in here if f"`{name}" not in told) == []
