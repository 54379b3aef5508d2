"""Which columns are synchronised: each is somebody's, and the triggers of the schema stamp the register it is in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sync_rig import Device, new_device

from core.intake.sync.device import begin_sync, new_group
from core.intake.sync.records import parse_device, parse_origin, parse_place, parse_row
from core.intake.sync.registers import PLACE_COLUMNS, TABLES, key_sql, key_text, next_stamp, parse_key

LOCAL = {
    "memories": {
        "n": "a label of this vault's index",
        "import_id": "the import is one of this device",
        "access_count": "what was read here",
        "last_accessed_at": "likewise",
        "read_at": "when this device compared it",
    },
    "memory_sources": {"import_id": "the import is one of this device"},
    "claims": {
        "subject_entity_id": "entities are found anew on every device",
        "object_entity_id": "likewise",
        "evidence_count": "counted by the schema",
    },
    "conflicts": {"later_until": "postponed on this device"},
}
"""Columns of synchronised tables that stay on their device, and why."""
_TRIGGER = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'sync_*'"


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    made = new_device(tmp_path, "desk")
    yield made
    made.close()


def columns_of(device: Device, table: str) -> list[str]:
    sql = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
    return [str(row[0]) for row in device.read(lambda rows: rows.all(sql, (table,)))]


@pytest.mark.parametrize("name", TABLES)
def test_every_column_is_somebodys(device: Device, name: str) -> None:
    table = TABLES[name]
    parts = [*table.key, *table.columns, *table.sent, *LOCAL.get(name, {})]
    assert sorted(parts) == sorted(columns_of(device, name))


@pytest.mark.parametrize("name", TABLES)
def test_the_triggers_are_those_of_the_registers(device: Device, name: str) -> None:
    table = TABLES[name]
    found = {str(one): str(sql) for one, sql in device.read(lambda rows: rows.all(_TRIGGER))}
    for register, columns in table.registers.items():
        sql = found[f"sync_{name}_{register}"]
        listed = re.search(r"UPDATE OF (.*?) ON ", sql, re.DOTALL)
        assert listed is not None
        assert tuple(one.strip() for one in listed[1].split(",")) == columns
        assert all(f"new.{column} IS NOT old.{column}" in sql for column in columns)
        assert f"'$.{register}'" in sql
        assert f"row_key = {key_sql(table, 'new')};" in sql
    assert f"SELECT '{name}', {key_sql(table, 'new')}, 1" in found[f"sync_{name}_in"]
    assert f"row_key = {key_sql(table, 'old')}" in found[f"sync_{name}_out"]
    assert (f" AND {table.only}" in found[f"sync_{name}_in"]) is bool(table.only)


def test_there_are_no_other_triggers(device: Device) -> None:
    wanted = {f"sync_{name}_{one}" for name, table in TABLES.items() for one in ("in", "out", *table.registers)}
    assert {str(row[0]) for row in device.read(lambda rows: rows.all(_TRIGGER))} == wanted


def test_what_a_row_refers_to_is_listed_before_it(device: Device) -> None:
    names = list(TABLES)
    sql = 'SELECT "from", "table" FROM pragma_foreign_key_list(?)'
    for at, (name, table) in enumerate(TABLES.items()):
        known = {**table.parents, **table.pointers}
        for column, parent in device.read(lambda rows, name=name: rows.all(sql, (name,))):  # type: ignore[misc]
            if column in PLACE_COLUMNS or column in LOCAL.get(name, {}):
                continue
            assert known[column] == parent
            assert names.index(parent) <= at


def test_nothing_is_stamped_on_a_vault_of_one_device(device: Device) -> None:
    device.remember("Bees need water")
    assert device.read(lambda rows: rows.value("SELECT count(*) FROM sync_rows")) == 0
    group, key = new_group()
    device.write(lambda tx: begin_sync(tx, group, key, "/nowhere", "desk"))
    before = device.read(lambda rows: rows.all("SELECT tbl, presence FROM sync_rows ORDER BY tbl"))
    assert ("memories", 1) in before
    assert ("memory_sources", 1) in before


def test_only_the_register_that_changed_is_stamped(device: Device) -> None:
    group, key = new_group()
    device.write(lambda tx: begin_sync(tx, group, key, "/nowhere", "desk"))
    memory = device.remember("Bees need water")
    assert memory is not None

    def stamps() -> str:
        sql = "SELECT stamps FROM sync_rows WHERE tbl = 'memories' AND row_key = ?"
        return str(device.read(lambda rows: rows.value(sql, (memory,))))

    assert stamps() == "{}"
    device.label(memory, pinned=1)
    assert stamps().startswith('{"pin":')
    device.label(memory, pinned=1)
    device.write(lambda tx: tx.run("UPDATE memories SET trust = 0.3, access_count = 4 WHERE id = ?", (memory,)))
    device.label(memory, tags='["garden"]')
    assert set(re.findall(r'"(\w+)":', stamps())) == {"pin", "labels"}


def test_keys_are_read_as_they_are_written() -> None:
    rows: dict[str, dict[str, object]] = {
        "memories": {"id": "m1"},
        "fingerprints": {"identity": b"\x01" * 32},
        "verdicts": {"memory_id": "m1", "voice": 'o"wner', "verdict": "confirm"},
    }
    for name, row in rows.items():
        assert parse_key(TABLES[name], key_text(TABLES[name], row)) == row
    assert parse_key(TABLES["verdicts"], "m1") is None
    assert parse_key(TABLES["verdicts"], '["m1", 2, "x"]') is None
    assert parse_key(TABLES["fingerprints"], "no hex") is None


def test_what_follows_by_itself_is_stamped_behind_what_it_follows_from() -> None:
    stamps = ["0" * 15 + "5" + "a" * 16, "0" * 15 + "7" + "b" * 16]
    followed = next_stamp(stamps, "waits")
    assert followed > max(stamps)
    assert followed == next_stamp(stamps[::-1], "waits")
    assert followed != next_stamp(stamps, "beneath m1")
    assert followed[:16] == "0" * 15 + "8"


GOOD = {
    "t": "edges", "k": "e1", "p": 1, "b": "0" * 32, "s": {},
    "c": {"from_id": "a", "to_id": "b", "type": "supports", "space_id": "home", "weight": 1.0, "made_by": "owner",
          "recorded_at": 5},
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"t": "clients"},
        {"k": 7},
        {"p": 3},
        {"b": "short"},
        {"b": "f" * 32},
        {"c": {}},
        {"c": {**GOOD["c"], "more": 1}},  # type: ignore[dict-item]
        {"c": {**GOOD["c"], "weight": [1]}},  # type: ignore[dict-item]
        {"c": {**GOOD["c"], "recorded_at": 2**70}},  # type: ignore[dict-item]
        {"c": {**GOOD["c"], "type": {"b": "%"}}},  # type: ignore[dict-item]
        {"s": {"trust": 1.0}},
        {"l": {"other": "0" * 32}},
        {"l": {"row": "x"}},
        {"l": 4},
    ],
)
def test_a_record_of_another_shape_is_refused(change: dict[str, object]) -> None:
    assert parse_row(GOOD).key == "e1"
    with pytest.raises(Exception, match="E7005"):
        parse_row({**GOOD, **change})


@pytest.mark.parametrize(
    "line",
    [
        {"device": None},
        {"id": "zz" * 8, "name": "a", "key": "00" * 32, "added_at": 1, "left_at": None, "last": None},
        {"id": "00" * 8, "name": "a\n", "key": "00" * 32, "added_at": 1, "left_at": None, "last": None},
        {"id": "00" * 8, "name": "", "key": "00" * 32, "added_at": 1, "left_at": None, "last": None},
        {"id": "00" * 8, "name": "a", "key": "00" * 31, "added_at": 1, "left_at": None, "last": None},
        {"id": "00" * 8, "name": "a", "key": "00" * 32, "added_at": 1, "left_at": 5, "last": None},
        {"id": "00" * 8, "name": "a", "key": "00" * 32, "added_at": "1", "left_at": None, "last": None},
    ],
)
def test_a_device_of_another_shape_is_refused(line: object) -> None:
    with pytest.raises(Exception, match="E7005"):
        parse_device(line)


def test_a_place_or_a_beginning_of_another_shape_is_refused() -> None:
    for kind, line in (
        ("space", {"space": {"name": "home"}}),
        ("space", {"space": {"name": "", "id": "x", "client": None}}),
        ("client", {"client": 5}),
        ("client", {"client": {"name": "n" * 200, "id": "x", "trust_ceiling": 1}}),
    ):
        with pytest.raises(Exception, match="E7005"):
            parse_place(kind, line)
    for line in ({}, {"bundle": {"clock": -1, "taken": {}}}, {"bundle": {"clock": 1, "taken": {"a": 5}}}):
        with pytest.raises(Exception, match="E7005"):
            parse_origin(line)
