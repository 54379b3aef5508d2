"""OpenMemory backups: states, the repeated file, access rules, packed lines."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from importer_checks import (
    check_fixture,
    fixture,
    items_of,
    memory_bundle,
    path_of,
    reasons,
    records,
)

from core.errors import Code, UserError
from core.importers.formats.memories.openmemory import OpenMemoryImporter
from core.importers.input.source import open_bundle
from core.types.values import Kind, Source, Status

OPENMEMORY = OpenMemoryImporter()
HIDDEN = "must_find_only_when_hidden_are_shown"


def backup(*memories: dict[str, Any], **tables: Any) -> str:
    return json.dumps({"user": {}, "apps": [], "memories": list(memories), "access_controls": [], **tables})


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "content": f"words of {name}", "state": "active", "app_id": "a", **more}


def test_the_backup_matches_expected_json() -> None:
    want = fixture("openmemory-zip")
    items = check_fixture(OPENMEMORY, "openmemory-zip", beyond=(HIDDEN,))
    found = records(items)
    active = [r for r in found if r.status is Status.ACTIVE]
    hidden = [r for r in found if r.status is Status.ARCHIVED]
    assert len(active) == want["counts"]["memories_active"]
    assert len(hidden) == want["counts"]["memories_hidden"]
    assert len(found) == len(active) + len(hidden)
    assert len({tag for r in found for tag in r.tags}) == want["counts"]["categories"]
    assert {r.text for r in hidden} == set(want[HIDDEN])
    assert {r.text for r in active} == set(want["must_find"])
    assert {(r.kind, r.source) for r in found} == {(Kind.FACT, Source.INFERENCE)}


def test_access_rules_become_suggestions() -> None:
    want = fixture("openmemory-zip")["counts"]
    dinner = "ea04c79a-dc3a-409a-91cc-441904dd308d"
    found = records(check_fixture(OPENMEMORY, "openmemory-zip", beyond=(HIDDEN,)))
    allowed = {"client": "claude", "effect": "allow", "memory": None}
    denied = {"client": "cursor", "effect": "deny", "memory": dinner}
    assert want["suggested_client_scopes"] == len([denied, allowed])
    assert {r.extra["app"] for r in found} == {"cursor", "claude"}
    assert want["apps"] == len({r.extra["app"] for r in found})
    assert {r.ref: r.extra["suggested_scopes"] for r in found}[dinner] == [denied, allowed]
    assert all(r.extra["suggested_scopes"] == [allowed] for r in found if r.ref != dinner)


def test_facts_around_a_memory() -> None:
    (rust,) = (r for r in records(check_fixture(OPENMEMORY, "openmemory-zip", beyond=(HIDDEN,))) if "Rust" in r.text)
    assert (rust.tags, rust.extra["app"], rust.extra["state"]) == (("work",), "cursor", "active")
    assert rust.extra["time_written"] == "2025-05-03T08:00:00+00:00"
    assert rust.extra["updated_at"] == "2025-06-03T08:00:00+00:00"


def test_each_file_alone_tells_the_same(tmp_path: Any) -> None:
    with open_bundle(path_of("openmemory-zip")) as bundle:
        data = {}
        for file in bundle.files:
            with file.open() as stream:
                data[file.name] = stream.read()
    both = records(items_of(OPENMEMORY, data, "folder"))
    for name, content in data.items():
        assert OPENMEMORY.detects(memory_bundle({name: content}))
        items = items_of(OPENMEMORY, {name: content})
        assert reasons(items) == {"deleted": 2}
        assert [(r.identity, r.tags, r.status, r.occurred) for r in records(items)] == [
            (r.identity, r.tags, r.status, r.occurred) for r in both
        ]


def test_states_and_their_times() -> None:
    rows = [
        row("1"),
        row("2", state="Paused"),
        row("3", state=None, archived_at="2025-01-01"),
        row("4", deleted_at="2025-01-01"),
        row("5", content="  "),
        row("6", created_at="whenever"),
        "stray",
        row("1"),
    ]
    items = items_of(OPENMEMORY, {"memories.json": backup(*rows)})  # type: ignore[arg-type]
    assert [r.status for r in records(items)] == [Status.ACTIVE, Status.ARCHIVED, Status.ARCHIVED, Status.ACTIVE]
    assert reasons(items) == {"deleted": 1, "no_text": 1, "not_an_object": 1, "duplicate": 1}
    assert records(items)[3].flags == ("time_unreadable",)


def test_a_memory_deleted_in_one_file_does_not_return_from_the_other() -> None:
    files: dict[str, bytes | str] = {
        "memories.json": backup(row("1", state="deleted")),
        "memories.jsonl.gz": gzip.compress(json.dumps(row("1")).encode() + b"\n" + json.dumps(row("2")).encode()),
    }
    items = items_of(OPENMEMORY, files, "zip")
    assert [r.ref for r in records(items)] == ["2"]
    assert reasons(items) == {"deleted": 1}


def test_categories_by_either_table() -> None:
    tables = {
        "categories": [{"id": "c1", "name": "work"}, {"id": "c2", "name": "home"}],
        "memory_categories": [{"memory_id": "1", "category_id": "c2"}, {"memory_id": "1", "category_id": "c1"}],
    }
    (record,) = records(items_of(OPENMEMORY, {"m": backup(row("1", category_ids=["c1"]), **tables)}))
    assert record.tags == ("work", "home")
    (bare,) = records(items_of(OPENMEMORY, {"m": backup(row("1"), **tables)}))
    assert bare.tags == ("home", "work")


def test_a_bomb_is_refused() -> None:
    data = gzip.compress(json.dumps(row("1")).encode() + b"\n" + b" " * 30_000_000 + b"\n")
    with pytest.raises(UserError) as raised:
        items_of(OPENMEMORY, {"memories.jsonl.gz": data})
    assert raised.value.code is Code.IMPORT_REFUSED


def test_damaged_lines_are_told_beside_good_json_and_refused_alone() -> None:
    packed = gzip.compress("\n".join(json.dumps(row(str(n))) for n in range(200)).encode())[:-40]
    items = items_of(OPENMEMORY, {"memories.json": backup(row("x")), "memories.jsonl.gz": packed}, "zip")
    assert "x" in {r.ref for r in records(items)}
    assert reasons(items) == {"bad_file": 1}
    with pytest.raises(UserError):
        items_of(OPENMEMORY, {"memories.jsonl.gz": packed})


def test_bad_lines_in_the_packed_file() -> None:
    packed = gzip.compress(b"\n".join([json.dumps(row("1")).encode(), b"", b"{", b"[]"]))
    items = items_of(OPENMEMORY, {"l": packed})
    assert reasons(items) == {"blank_line": 1, "bad_line": 1, "not_an_object": 1}


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"[]",
        b'{"memories": [{"memory": "x"}]}',
        gzip.compress(b'{"text": "x"}', mtime=0),
        b"\x1f\x8b",
        b"\x1f\x8bxyz",
    ],
)
def test_what_is_no_backup(data: bytes) -> None:
    assert not OPENMEMORY.detects(memory_bundle({"memories.json": data}))
    with pytest.raises(UserError):
        items_of(OPENMEMORY, {"memories.json": data})
