"""Generic JSONL: fixtures, fields of design section 8, other names, bad lines, identity."""

from __future__ import annotations

import codecs
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from importer_checks import (
    at,
    check_fixture,
    check_row_times,
    fixture,
    items_of,
    memory_bundle,
    reasons,
    records,
    troubles,
)

from core.errors import Code, UserError
from core.importers.formats.tables.jsonl import JsonlImporter
from core.importers.input.source import open_bundle
from core.importers.records import Record
from core.types.values import Kind, Role, Source

JSONL = JsonlImporter()


def one(**row: Any) -> Record:
    (record,) = records(items_of(JSONL, {"a.jsonl": json.dumps({"text": "words", **row})}))
    return record


def test_the_lighthouse_rows_match_expected_json() -> None:
    items = check_fixture(JSONL, "generic-jsonl", beyond=("row_errors", "row_times"))
    want = fixture("generic-jsonl")
    assert len(records(items)) == want["counts"]["rows_stored"]
    assert len(items) == want["counts"]["lines"]
    assert [int(t.where.rpartition(":")[2]) for t in troubles(items)] == [row["line"] for row in want["row_errors"]]
    for trouble, row in zip(troubles(items), want["row_errors"], strict=True):
        assert trouble.message.startswith(row["reason"])
    check_row_times(items, "generic-jsonl", "line")
    for row in (*want["long_texts"], *want["exact_texts"]):
        assert len(at(items, row["line"]).text) == row["chars"]


def test_the_lighthouse_fields_arrive() -> None:
    items = check_fixture(JSONL, "generic-jsonl", beyond=("row_errors", "row_times"))
    first, decision, quote = (at(items, line) for line in (1, 2, 3))
    assert (first.kind, first.tags, first.importance, first.ref) == (
        Kind.FACT,
        ("lighthouse", "history"),
        0.8,
        "lh-001",
    )
    assert (first.author, first.role, first.source) == ("Maiken", Role.OTHER, Source.USER_IMPLICIT)
    assert (decision.kind, decision.tags) == (Kind.EPISODE, ("opening", "volunteers", "decision"))
    assert quote.importance is None
    assert quote.flags == ("importance_unreadable",)
    assert quote.extra["fields"] == {"importance": "high"}
    assert [at(items, line).position for line in (1, 2, 3, 8, 14)] == [0, 1, 2, 0, 1]
    assert {at(items, line).conversation.key for line in (1, 2, 3)} == {"visit-1"}  # type: ignore[union-attr]
    bare = at(items, 9)
    assert (bare.author, bare.conversation, bare.tags, bare.importance) == (None, None, (), 0.0)
    assert at(items, 10).extra["fields"] == {"weather": "sleet", "_private": {"x": [1, 2]}}


def test_utf16_matches_expected_json() -> None:
    items = check_fixture(JSONL, "generic-utf16", beyond=("row_times", "encoding"))
    check_row_times(items, "generic-utf16", "line")
    assert len(items) == fixture("generic-utf16")["counts"]["rows_stored"]
    assert all(record.flags == () for record in records(items))


def test_nul_escapes_stay() -> None:
    items = check_fixture(JSONL, "hostile-nul-escapes")
    assert len(items) == fixture("hostile-nul-escapes")["counts"]["rows_stored"]
    for row in fixture("hostile-nul-escapes")["exact_texts"]:
        assert len(at(items, row["line"]).text) == row["chars"]
    assert at(items, 3).text.startswith("\0")


@pytest.mark.parametrize(
    ("author", "role", "source"),
    [
        (None, Role.OTHER, Source.USER_IMPLICIT),
        ("user", Role.USER, Source.USER_IMPLICIT),
        ("Human", Role.USER, Source.USER_IMPLICIT),
        ("me", Role.USER, Source.USER_IMPLICIT),
        ("assistant", Role.ASSISTANT, Source.INFERENCE),
        ("bot", Role.ASSISTANT, Source.INFERENCE),
        ("tool", Role.TOOL, Source.USER_IMPLICIT),
        ("Maiken", Role.OTHER, Source.USER_IMPLICIT),
    ],
)
def test_author_tells_role_and_source(author: str | None, role: Role, source: Source) -> None:
    record = one(author=author)
    assert (record.author, record.role, record.source) == (author, role, source)


def test_a_role_beside_a_name_is_heard() -> None:
    record = one(author="Maiken", role="assistant")
    assert (record.author, record.role) == ("Maiken", Role.ASSISTANT)
    assert record.extra["fields"] == {"role": "assistant"}


@pytest.mark.parametrize(
    ("given", "source", "flags"),
    [
        ("document", Source.DOCUMENT, ()),
        ("user_explicit", Source.USER_IMPLICIT, ()),
        ("TOOL_OUTPUT", Source.TOOL_OUTPUT, ()),
        ("rumour", Source.USER_IMPLICIT, ("source_unknown",)),
    ],
)
def test_a_source_is_taken_but_never_as_told_by_the_person(given: str, source: Source, flags: tuple[str, ...]) -> None:
    record = one(source=given)
    assert (record.source, record.flags) == (source, flags)


@pytest.mark.parametrize("value", [1.01, -0.1, "much", True, [], "nan", "1e999", 10**400])
def test_an_importance_that_is_none_counts_as_not_given(value: Any) -> None:
    record = one(importance=value)
    assert record.importance is None
    assert "importance_unreadable" in record.flags
    assert "importance" in record.extra["fields"]


@pytest.mark.parametrize(("value", "number"), [(0, 0.0), (1, 1.0), ("0.25", 0.25), ("0,7", 0.7)])
def test_an_importance_from_0_to_1_is_taken(value: Any, number: float) -> None:
    assert one(importance=value).importance == number


def test_claim_and_validity_arrive() -> None:
    claim = {"subject": "kiln", "predicate": "is", "value": "hot"}
    record = one(
        claim=claim, valid_from="2025-01-01", valid_to="2026-01-01T00:00:00Z", space="studio", category="craft"
    )
    assert record.claim == claim
    assert record.valid_from is not None
    assert record.valid_to is not None
    assert record.valid_from.ms < record.valid_to.ms
    assert (record.space, record.category) == ("studio", "craft")
    assert one(claim=json.dumps(claim)).claim == claim
    broken = one(claim="[1]")
    assert broken.claim is None
    assert broken.flags == ("claim_unreadable",)
    assert broken.extra["fields"] == {"claim": "[1]"}


def test_an_unreadable_time_is_kept_as_written_and_flagged() -> None:
    record = one(time="a while ago")
    assert record.occurred is None
    assert record.flags == ("time_unreadable",)
    assert record.extra["time_written"] == "a while ago"


@pytest.mark.parametrize(
    "row", [{"content": "w"}, {"message": "w"}, {"body": "w"}, {"Text": "w"}, {"text": "", "content": "w"}]
)
def test_other_names_of_the_text(row: dict[str, Any]) -> None:
    (record,) = records(items_of(JSONL, {"a.jsonl": json.dumps(row)}))
    assert record.text == "w"
    assert "fields" not in record.extra


def test_other_names_of_the_other_fields() -> None:
    row = {
        "content": "w",
        "role": "assistant",
        "createdAt": "2025-01-01",
        "id": 7,
        "conversation_id": "c",
        "labels": "a, b",
    }
    (record,) = records(items_of(JSONL, {"a.jsonl": json.dumps(row)}))
    assert (record.role, record.ref, record.session, record.tags) == (Role.ASSISTANT, "7", "c", ("a", "b"))
    assert record.occurred is not None
    assert "fields" not in record.extra


def test_a_canonical_name_wins_and_the_other_is_kept() -> None:
    record = one(time="2025-01-01", date="1999-01-01", ref="r", id="i")
    assert record.ref == "r"
    assert record.extra["fields"] == {"date": "1999-01-01", "id": "i"}


def test_a_message_in_an_envelope() -> None:
    row = {"message": {"role": "user", "content": "hello"}, "timestamp": "2025-01-01T00:00:00Z"}
    (record,) = records(items_of(JSONL, {"a.jsonl": json.dumps(row)}))
    assert (record.text, record.role) == ("hello", Role.USER)
    assert record.occurred is not None


def test_bad_lines_are_told_with_number_and_without_text() -> None:
    lines = [
        '{"text": "ok"}',
        '{"text": "secret',
        "",
        '{"text": 42}',
        '{"text": NaN}',
        "  ",
        '{"text": " \\t "}',
        "[1]",
        "3",
    ]
    items = items_of(JSONL, {"a.jsonl": "\n".join(lines)})
    assert reasons(items) == {"bad_line": 5, "blank_line": 2, "no_text": 1}
    assert [t.where for t in troubles(items)] == ["a.jsonl:2", "a.jsonl:4", "a.jsonl:5", "a.jsonl:8", "a.jsonl:9"]
    assert not any("secret" in t.message for t in troubles(items))
    assert len(items) == len(lines)


def test_text_is_never_trimmed() -> None:
    assert one(text="  \u00a0two\r\n\r\n ").text == "  \u00a0two\r\n\r\n "


def test_a_lone_surrogate_is_replaced_and_flagged() -> None:
    (record,) = records(items_of(JSONL, {"a.jsonl": '{"text": "cut \\ud83d"}'}))
    assert record.text == "cut \ufffd"
    assert record.flags == ("surrogates_replaced",)
    assert type(record.text) is str


def test_identity_with_a_ref_holds_session_and_text() -> None:
    same, other_text, other_session = (
        one(ref="r", session="s"),
        one(ref="r", session="s", text="x"),
        one(ref="r", session="t"),
    )
    assert same.identity == one(ref="r", session="s", author="late change").identity
    assert len({same.identity, other_text.identity, other_session.identity}) == 3


def test_equal_rows_without_ref_stay_apart_and_stable() -> None:
    line = '{"text": "tick", "time": "2025-01-01"}\n'
    found = records(items_of(JSONL, {"a.jsonl": line * 3}))
    assert len({record.identity for record in found}) == 3
    grown = records(items_of(JSONL, {"renamed.jsonl": line * 4}))
    assert [r.identity for r in grown[:3]] == [r.identity for r in found]


def test_crlf_byte_order_mark_and_a_last_line_without_end() -> None:
    data = codecs.BOM_UTF8 + b'{"text": "a"}\r\n{"text": "b"}'
    assert [r.text for r in records(items_of(JSONL, {"a": data}))] == ["a", "b"]


def test_windows_1252_is_guessed_and_flagged() -> None:
    (record,) = records(items_of(JSONL, {"a": '{"text": "blå"}'.encode("cp1252")}))
    assert record.text == "blå"
    assert record.flags == ("encoding_guessed",)


def test_a_list_of_rows_in_one_array() -> None:
    data = json.dumps([{"text": "a"}, "stray", {"text": "b", "session": "s"}], indent=1)
    assert JSONL.detects(memory_bundle({"a.json": data}))
    items = items_of(JSONL, {"a.json": data})
    assert [r.text for r in records(items)] == ["a", "b"]
    assert [(t.where, t.message) for t in troubles(items)] == [("a.json:item 2", "not an object")]


def test_an_array_that_breaks_off_is_refused() -> None:
    with pytest.raises(UserError) as raised:
        items_of(JSONL, {"a.json": '[{"text": "a"}, {"text"'})
    assert raised.value.code is Code.IMPORT_REFUSED


@pytest.mark.parametrize(
    "data",
    [
        "",
        "hello\nworld",
        '{"a": 1}\n{"b": 2}',
        "text;time\na;b",
        "[[[[",
        '{"entities": []}',
        "{",
        '{"text": "a"}\nb\nc\nd',
    ],
)
def test_what_is_no_jsonl(data: str) -> None:
    assert not JSONL.detects(memory_bundle({"a.jsonl": data}))


def test_a_folder_of_rows_and_its_strangers() -> None:
    files: dict[str, bytes | str] = {
        "a.jsonl": '{"text": "a", "session": "s"}',
        "b/c.jsonl": '{"text": "b", "session": "s"}',
    }
    assert JSONL.detects(memory_bundle(files, "folder"))
    items = items_of(JSONL, {**files, ".DS_Store": "x", "read.me": "hello"}, "folder")
    assert [(r.text, r.position, r.where) for r in records(items)] == [("a", 0, "a.jsonl:1"), ("b", 1, "b/c.jsonl:1")]
    assert reasons(items) == {"hidden_file": 1, "not_jsonl": 1}


def test_a_line_of_ten_megabytes() -> None:
    words = "buoy " * (2 << 20)
    data = json.dumps({"text": words})
    assert JSONL.detects(memory_bundle({"a": data}))
    (record,) = records(items_of(JSONL, {"a": data}))
    assert record.text == words


@pytest.mark.slow
def test_a_large_file_streams(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for number in range(4_000):
            out.write(
                json.dumps({"text": f"{number} " + "w" * 2000, "session": str(number % 9), "ref": str(number)}) + "\n"
            )
    assert path.stat().st_size > 8_000_000
    count = 0
    with open_bundle(path) as bundle:
        tracemalloc.start()
        try:
            for item in JSONL.read(bundle):
                assert isinstance(item, Record)
                count += 1
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert count == 4_000
    assert peak < 4 << 20


def rows_of(*rows: dict[str, Any]) -> list[Record]:
    lines = "".join(json.dumps({"text": f"line {nr}", **row}) + "\n" for nr, row in enumerate(rows))
    return records(items_of(JSONL, {"a.jsonl": lines}))


def test_two_names_with_the_role_user_are_nobodys_own_words() -> None:
    """Who of the two the person is the file does not say; nobody's word may end what the person said."""
    found = rows_of(*({"author": name, "role": "user"} for name in ("Ida", "Ole", "Ida")), {"author": "user"})
    assert [one.role for one in found] == [Role.OTHER, Role.OTHER, Role.OTHER, Role.USER]
    assert [one.flags for one in found] == [("role_shared",)] * 3 + [()]
    assert [one.author for one in found[:2]] == ["Ida", "Ole"]


def test_a_second_name_far_behind_is_not_the_person() -> None:
    rows = [{"author": "Ida", "role": "user"}] * 600 + [{"author": "Ole", "role": "user"}]
    found = rows_of(*rows)
    assert (found[0].role, found[-1].role) == (Role.USER, Role.OTHER)


def test_names_in_envelopes_are_looked_at_too() -> None:
    rows = [{"message": {"role": "user", "content": "yes"}, "author": name} for name in ("Ida", "Ole")]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    assert [one.role for one in records(items_of(JSONL, {"a.jsonl": lines}))] == [Role.OTHER, Role.OTHER]


@pytest.mark.parametrize("other", [{"author": "ida ", "role": "user"}, {"author": "Ole", "role": "assistant"}, {}])
def test_one_name_with_the_role_user_is_the_person(other: dict[str, str]) -> None:
    first = rows_of({"author": "Ida", "role": "user"}, other)[0]
    assert (first.role, first.flags) == (Role.USER, ())
