"""mem0: lists and wrappers, names of the text, times, identity."""

from __future__ import annotations

import json
from typing import Any

import pytest
from importer_checks import (
    check_fixture,
    fixture,
    items_of,
    memory_bundle,
    ms_of,
    records,
    zip_bytes,
)

from core.errors import Code, UserError
from core.importers.formats.memories.mem0 import Mem0Importer
from core.importers.records import Record
from core.types.values import Kind, Source, Status

MEM0 = Mem0Importer()


def one(**item: Any) -> Record:
    (record,) = records(items_of(MEM0, {"a.json": json.dumps([{"memory": "words", "user_id": "u", **item}])}))
    return record


@pytest.mark.parametrize("fixture_id", ["mem0-list", "mem0-results", "mem0-wrapped"])
def test_fixtures_match_expected_json(fixture_id: str) -> None:
    items = check_fixture(MEM0, fixture_id)
    found = records(items)
    assert len(found) == fixture(fixture_id)["counts"]["memories"]
    assert {(r.kind, r.source, r.status) for r in found} == {(Kind.FACT, Source.INFERENCE, Status.ACTIVE)}
    assert "score" not in json.dumps([dict(r.extra) for r in found])


def test_the_list_in_detail() -> None:
    found = records(check_fixture(MEM0, "mem0-list"))
    times = [r.occurred.ms if r.occurred else None for r in found]
    assert times == [
        ms_of("2025-02-01T16:00:00Z"),
        ms_of("2025-02-03T10:00:00Z"),
        1739000000000,
        1741500000123,
        ms_of("2025-03-30T21:15:00Z"),
        None,
        ms_of("2025-08-16T17:00:00.250Z"),
    ]
    assert [r.tags for r in found][:3] == [("health",), ("family",), ()]
    assert found[5].tags == ("pets", "family")
    assert found[1].extra["metadata"] == {"source": "chat"}
    assert found[1].extra["updated_at"] == "2025-02-04T10:00:00Z"
    assert (found[2].extra["user_id"], found[2].extra["agent_id"]) == ("nerea", "desk")
    assert found[3].extra["run_id"] == "r-17"
    assert found[0].ref == found[0].extra["id"] == "f367b9b1-c67a-4c0a-a769-72de00450a81"


@pytest.mark.parametrize(
    "item",
    [
        {"memory": "w"},
        {"memory": " ", "text": "w"},
        {"memory": None, "text": "", "data": "w"},
        {"memory": [], "content": "w"},
        {"data": {"memory": "w"}},
    ],
)
def test_an_empty_name_hides_no_filled_one(item: dict[str, Any]) -> None:
    (record,) = records(items_of(MEM0, {"a": json.dumps([{"id": "1", **item}])}))
    assert record.text == "w"


@pytest.mark.parametrize(
    "value",
    [
        [{"memory": "w", "id": 1}],
        {"items": [{"memory": "w", "id": 1}]},
        {"results": [], "memories": [], "items": [{"memory": "w", "id": 1}], "total": 1},
        {"results": {"memories": [], "results": [{"memory": "w", "id": 1}]}},
        {"data": {"results": [{"memory": "w", "id": 1}]}},
    ],
)
def test_wrappers(value: Any) -> None:
    assert [r.text for r in records(items_of(MEM0, {"a": json.dumps(value)}))] == ["w"]


def test_identity_follows_id_and_text() -> None:
    assert one(id="1").identity == one(id="1", score=0.5, updated_at="2025-01-01").identity
    assert len({one(id="1").identity, one(id="2").identity, one(id="1", memory="other").identity}) == 3
    assert one(created_at="2025-01-01").identity == one(created_at="2025-01-01", score=1).identity


def test_equals_with_an_id_are_one_and_without_one_each() -> None:
    rows = [{"memory": "w", "id": "1"}] * 2 + [{"memory": "w", "user_id": "u"}] * 2
    found = records(items_of(MEM0, {"a": json.dumps(rows)}))
    assert found[0].identity == found[1].identity
    assert len({r.identity for r in found}) == 3


def test_times_unknown_fields_and_an_end() -> None:
    record = one(created_at="some day", expiration_date="2026-01-01", weather="sleet", categories="a, b")
    assert record.occurred is None
    assert record.flags == ("time_unreadable",)
    assert record.extra["time_written"] == "some day"
    assert record.extra["fields"] == {"weather": "sleet"}
    assert record.valid_to is not None
    assert record.tags == ("a", "b")


def test_a_lone_surrogate_is_flagged() -> None:
    (record,) = records(items_of(MEM0, {"a": '[{"memory": "x \\udc00", "id": 1}]'}))
    assert (record.text, record.flags) == ("x \ufffd", ("surrogates_replaced",))


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        [{"text": "a"}],
        [{"text": "a", "time": 1}],
        [{"mapping": {}, "current_node": "x"}],
        {"memories": [{"content": "a", "state": "active", "user_id": "u", "app_id": "b", "id": "c"}]},
        [{"id": "1", "conversation_id": "2", "user_id": "3", "content": "x"}],
        ["memory", "hash"],
    ],
)
def test_what_is_no_mem0(value: Any) -> None:
    assert not MEM0.detects(memory_bundle({"memories.json": json.dumps(value)}))


def test_a_zip_with_one_list(tmp_path: Any) -> None:
    from core.importers.input.source import open_bundle

    path = tmp_path / "export"
    path.write_bytes(zip_bytes({"deep/x.bin": json.dumps([{"memory": "w", "hash": "h"}])}))
    with open_bundle(path) as bundle:
        assert MEM0.detects(bundle)
        assert [r.text for r in records(list(MEM0.read(bundle)))] == ["w"]


@pytest.mark.parametrize("data", ["nothing", '[{"memory": "w"', '[{"memory": NaN}]', "[" * 2000, '{"results": [1,]}'])
def test_what_is_not_json_is_refused(data: str) -> None:
    with pytest.raises(UserError) as raised:
        items_of(MEM0, {"a": data})
    assert raised.value.code is Code.IMPORT_REFUSED
