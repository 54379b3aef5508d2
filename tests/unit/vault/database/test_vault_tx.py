"""The writer's transaction: sequence, images, the purge gate, what may be bound, faults without words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import vault_kit as kit

from core.errors import BugError, Code, LociError, UserError
from core.types.clock import ManualClock
from core.types.values import Kind
from core.vault.database.rows import VOLATILE, image_from_json, image_hash, image_to_json, without_volatile_columns
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.vault import Vault


def _setting(key: str, value: str = "1") -> dict[str, object]:
    return {"key": key, "value": value, "changed_at": kit.START_MS}


def _state(vault: Vault) -> tuple[Any, ...]:
    return vault.read(lambda rows: rows.all("SELECT seq, last_at, purge_open FROM vault_state"))[0]


def _fails(vault: Vault, fn: Callable[[Tx], object]) -> LociError:
    before = _state(vault)
    with pytest.raises(LociError) as caught:
        vault.write(fn)
    assert _state(vault) == before
    chain: list[BaseException] = [caught.value]
    while (further := chain[-1].__context__) is not None:
        chain.append(further)
    assert {type(error).__module__ for error in chain} == {"core.errors"}, "an exception of the database came along"
    return caught.value


def test_the_sequence_rises_once_for_each_transaction_that_changes_something(vault: Vault) -> None:
    def three(tx: Tx) -> int:
        for nr in range(3):
            tx.insert("settings", _setting(f"k{nr}"))
        return tx.seq

    assert vault.write(three) == 1
    assert vault.write(lambda tx: tx.value("SELECT count(*) FROM settings")) == 3
    assert vault.seq == 1
    assert vault.write(lambda tx: tx.delete("settings", {"key": "k0"})) is True
    assert _state(vault)[0] == vault.seq == 2


def test_a_transaction_is_whole_or_nothing(vault: Vault) -> None:
    def half(tx: Tx) -> None:
        kit.store(tx, 1)
        tx.after_commit(lambda: pytest.fail("nothing was committed"))
        raise UserError(Code.INVALID_INPUT, "no")

    assert _fails(vault, half).code is Code.INVALID_INPUT
    assert vault.read(lambda rows: rows.value("SELECT count(*) FROM memory_fts_docsize")) == 0


def test_other_exceptions_roll_back_too(vault: Vault) -> None:
    def broken(tx: Tx) -> None:
        kit.store(tx, 1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        vault.write(broken)
    assert _state(vault)[0] == 0
    vault.write(lambda tx: kit.store(tx, 1))
    assert vault.seq == 1


def test_time_never_runs_backwards(home: Home) -> None:
    clock = ManualClock(kit.START_MS)
    seen: list[int] = []

    def write(vault: Vault) -> None:
        seen.append(vault.write(lambda tx: (tx.insert("settings", _setting(str(len(seen)))), tx.now_ms)[1]))

    with kit.opened(home, clock) as vault:
        write(vault)
        clock.advance(5_000)
        write(vault)
        clock.advance(-86_400_000)
        write(vault)
    with kit.opened(home, clock) as vault:
        write(vault)
        assert vault.info.last_at_ms == kit.START_MS + 5_000
        clock.advance(2 * 86_400_000)
        write(vault)
    start = kit.START_MS
    assert seen == [start, start + 5_000, start + 5_000, start + 5_000, start + 86_400_000 + 5_000]


def test_actions_run_in_order_after_the_commit_and_may_read_it(vault: Vault) -> None:
    seen: list[object] = []

    def verb(tx: Tx) -> None:
        tx.insert("settings", _setting("a"))
        tx.after_commit(lambda: seen.append(("first", vault.seq)))
        tx.after_commit(lambda: seen.append(vault.read(lambda rows: rows.value("SELECT count(*) FROM settings"))))

    vault.write(verb)
    assert seen == [("first", 1), 1]


def test_every_action_runs_though_one_fails(vault: Vault) -> None:
    seen: list[int] = []

    def verb(tx: Tx) -> None:
        tx.insert("settings", _setting("a"))
        tx.after_commit(lambda: seen.append(1))
        tx.after_commit(lambda: [].pop())
        tx.after_commit(lambda: seen.append(3))

    with pytest.raises(IndexError):
        vault.write(verb)
    assert seen == [1, 3]
    assert vault.seq == 1


def test_a_write_inside_a_write_is_a_fault_of_ours(vault: Vault) -> None:
    assert _fails(vault, lambda tx: vault.write(lambda _: None)).code is Code.BUG


def test_images_of_insertions_changes_and_deletions(vault: Vault) -> None:
    recording = kit.Recording()

    def verb(tx: Tx) -> None:
        tx.recorder = recording
        assert tx.insert("memories", kit.memory(7, "words")) == 7
        assert tx.update("memories", {"id": "m7"}, {"status": "archived", "importance": 0.5})
        assert tx.update("memories", {"n": 7}, {"status": "archived"})
        assert not tx.update("memories", {"n": 8}, {"status": "archived"})
        with tx.purge():
            assert tx.delete("memories", {"id": "m7"})
        assert not tx.delete("memories", {"id": "m7"})

    vault.write(verb)
    (inserted, changed, deleted) = recording.seen
    assert [one[0] for one in recording.seen] == ["memories"] * 3
    assert [one[1] for one in recording.seen] == [{"n": 7}] * 3
    assert inserted[2] is None
    assert inserted[3] is not None
    assert changed[2] == inserted[3]
    assert changed[3] == {**inserted[3], "status": "archived"}
    assert deleted[2] == changed[3]
    assert deleted[3] is None
    assert inserted[3]["category"] == "general", "an image holds the defaults too"


def test_a_table_without_a_primary_key_is_found_by_its_whole_row(vault: Vault) -> None:
    recording = kit.Recording()
    client = {"id": "c", "name": "c", "token": bytes(32), "paired_at": 1}
    grant = {"client_id": "c", "name": "read", "space_id": None, "granted_at": 1}

    def verb(tx: Tx) -> None:
        tx.insert("clients", client)
        tx.recorder = recording
        tx.insert("grants", grant)
        assert tx.delete("grants", {"client_id": "c", "space_id": None})

    vault.write(verb)
    assert [one[1] for one in recording.seen] == [grant, grant]
    assert _fails(vault, lambda tx: tx.update("grants", {"client_id": "c"}, {"name": "write"})).code is Code.BUG


def test_insert_many_with_and_without_a_recorder(vault: Vault) -> None:
    recording = kit.Recording()

    def verb(tx: Tx) -> None:
        tx.insert_many("settings", [_setting("a"), _setting("b")])
        tx.insert_many("settings", [])
        tx.recorder = recording
        tx.insert_many("settings", [_setting("c"), _setting("d")])

    vault.write(verb)
    assert vault.read(lambda rows: rows.all("SELECT key FROM settings ORDER BY key")) == [
        ("a",),
        ("b",),
        ("c",),
        ("d",),
    ]
    assert [one[1] for one in recording.seen] == [{"key": "c"}, {"key": "d"}]
    mixed: list[dict[str, object]] = [_setting("e"), {"key": "f", "value": "1"}]
    assert _fails(vault, lambda tx: tx.insert_many("settings", mixed)).code is Code.BUG


def test_the_purge_gate_opens_for_one_transaction_only(vault: Vault) -> None:
    vault.write(lambda tx: tx.insert_many("memories", [kit.memory(1), kit.memory(2)]))
    refused = _fails(vault, lambda tx: tx.delete("memories", {"n": 1}))
    assert refused.code is Code.INVALID_INPUT
    assert "purge" in refused.sentence

    def purge(tx: Tx) -> None:
        with tx.purge():
            tx.delete("memories", {"n": 1})
        tx.delete("memories", {"n": 2})

    _fails(vault, purge)
    assert _fails(vault, _purge_twice).code is Code.BUG

    def left_by_exception(tx: Tx) -> None:
        with tx.purge():
            raise UserError(Code.NOT_FOUND, "x")

    assert _fails(vault, left_by_exception).code is Code.NOT_FOUND
    assert _state(vault)[2] == 0

    kept = []

    def left_open(tx: Tx) -> None:
        kept.append(tx.purge())
        kept[0].__enter__()

    assert _fails(vault, left_open).code is Code.BUG
    kept[0].__exit__(None, None, None)


def _purge_twice(tx: Tx) -> None:
    with tx.purge(), tx.purge():
        pass


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO memories (n) VALUES (1)",
        "DELETE FROM memories",
        "insert or replace into claims (id) values ('x')",
        "UPDATE evidence SET quote = ''",
        "SELECT 1",
        "PRAGMA user_version = 3",
        "WITH x AS (SELECT 1) DELETE FROM edges",
        "REPLACE INTO spaces (id) VALUES ('x')",
    ],
)
def test_run_refuses_what_undo_must_see(vault: Vault, sql: str) -> None:
    assert _fails(vault, lambda tx: tx.run(sql)).code is Code.BUG
    assert _fails(vault, lambda tx: tx.run_many(sql, [()])).code is Code.BUG


def test_run_changes_derived_tables_and_counters(vault: Vault) -> None:
    def verb(tx: Tx) -> int:
        tx.insert("memories", kit.memory(1))
        tx.run_many("INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", [(1, "one two"), (2, "two")])
        return tx.run("UPDATE memories SET access_count = access_count + 1 WHERE n = :n", {"n": 1})

    assert vault.write(verb) == 1
    assert vault.read(lambda rows: rows.all("SELECT rowid FROM memory_fts WHERE memory_fts MATCH '\"two\"'")) == [
        (1,),
        (2,),
    ]


def test_names_are_checked_against_the_schema(vault: Vault) -> None:
    cases: list[Callable[[Tx], object]] = [
        lambda tx: tx.insert('settings" --', {"key": "x"}),
        lambda tx: tx.insert("memory_fts", {"terms": "x"}),
        lambda tx: tx.insert("settings", {'key" --': "x"}),
        lambda tx: tx.update("settings", {"nokey": 1}, {"value": "1"}),
        lambda tx: tx.update("settings", {"key": 1}, {"key": "other"}),
        lambda tx: tx.update("settings", {}, {"value": "1"}),
        lambda tx: tx.delete("settings", {}),
        lambda tx: tx.delete("memories", {"status": "active"}),
    ]
    vault.write(lambda tx: tx.insert_many("memories", [kit.memory(1), kit.memory(2)]))
    assert [_fails(vault, case).code for case in cases] == [Code.BUG] * len(cases)


def test_numbers_of_numpy_are_stored_as_numbers(vault: Vault) -> None:
    row = _setting("n") | {"changed_at": np.int64(5)}
    vault.write(lambda tx: tx.insert("settings", row))
    assert vault.read(lambda rows: rows.all("SELECT typeof(changed_at), changed_at FROM settings")) == [("integer", 5)]
    sql = "SELECT typeof(?), typeof(?), typeof(?), typeof(?)"
    values = (np.float32(0.5), np.int16(2), True, Kind.FACT)
    assert vault.read(lambda rows: rows.one(sql, values)) == ("real", "integer", "integer", "text")
    assert vault.read(lambda rows: rows.value("SELECT typeof(:x)", {"x": bytearray(b"a")})) == "blob"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), [1], np.array([1.0]), {"a": 1}])
def test_what_the_vault_cannot_hold_is_refused(vault: Vault, value: object) -> None:
    with pytest.raises(BugError):
        vault.read(lambda rows: rows.value("SELECT ?", (value,)))
    with pytest.raises(BugError):
        vault.read(lambda rows: rows.value("SELECT ?", "text"))


def test_hostile_text_goes_in_and_out_byte_for_byte(vault: Vault) -> None:
    text = "a\0b'\"; DROP TABLE memories --\u202e\U0001f600\r\n"
    vault.write(lambda tx: tx.insert("memories", kit.memory(1, text)))
    assert vault.read(lambda rows: rows.value("SELECT text FROM memories WHERE n = 1")) == text


def test_faults_carry_no_text_and_no_sql(vault: Vault) -> None:
    vault.write(lambda tx: tx.insert("settings", _setting(kit.MARKER)))
    faults = [
        _fails(vault, lambda tx: tx.insert("settings", _setting(kit.MARKER))),
        _fails(vault, lambda tx: tx.insert("settings", _setting("x", kit.MARKER))),
        _fails(vault, lambda tx: tx.insert("settings", _setting(f"{kit.MARKER}\ud800"))),
        _fails(vault, lambda tx: tx.insert("settings", {**_setting("x"), "changed_at": 2**70})),
        _fails(vault, lambda tx: tx.insert("memories", {**kit.memory(1), "space_id": kit.MARKER})),
        _fails(vault, lambda tx: tx.all("SELECT quinquagesima FROM memories")),
        _fails(vault, lambda tx: tx.all("SELECT 1 FROM memory_fts WHERE memory_fts MATCH ?", (f'"{kit.MARKER}',))),
        _fails(vault, lambda tx: tx.all("SELECT 1 FROM memory_fts WHERE memory_fts MATCH ?", (f'"{kit.MARKER}" AND',))),
    ]
    assert [fault.code for fault in faults] == [
        Code.INVALID_INPUT,
        Code.BUG,
        Code.INVALID_INPUT,
        Code.BUG,
        Code.INVALID_INPUT,
        Code.BUG,
        Code.INVALID_QUERY,
        Code.INVALID_QUERY,
    ]
    for fault in faults:
        assert kit.MARKER not in str(fault)
        assert "SELECT" not in str(fault)
        assert fault.__cause__ is None


def test_images_come_back_and_equal_rows_have_equal_hashes() -> None:
    row = {"a": 1, "b": 0.1, "c": None, "d": b"\0\xff", "e": 'x"\u2028é'}
    assert image_from_json(image_to_json(row)) == row
    assert image_hash(row) == image_hash(dict(reversed(row.items())))
    assert len(image_hash(row)) == 16
    assert image_hash(row) != image_hash({**row, "a": 2})
    assert image_hash({"a": b"x"}) != image_hash({"a": "x"})
    with pytest.raises(BugError):
        image_to_json({"a": [1]})


def test_columns_that_move_by_themselves_do_not_make_a_row_changed(vault: Vault) -> None:
    vault.write(lambda tx: tx.insert("memories", kit.memory(1)))

    def image() -> dict[str, object]:
        rows = vault.read(lambda rows: rows.all("SELECT n, status, access_count FROM memories"))
        return dict(zip(("n", "status", "access_count"), rows[0], strict=True))

    before = image()
    vault.write(lambda tx: tx.run("UPDATE memories SET access_count = 9"))
    assert image_hash(before) != image_hash(image())
    assert image_hash(without_volatile_columns("memories", before)) == image_hash(
        without_volatile_columns("memories", image())
    )
    assert without_volatile_columns("settings", {"strength": 1}) == {"strength": 1}
    tables = {table: set(vault.read(lambda rows, t=table: _columns(rows, t))) for table in VOLATILE}  # type: ignore[misc]
    assert all(VOLATILE[table] <= columns for table, columns in tables.items())


def _columns(rows: Any, table: str) -> list[str]:
    return [name for (name,) in rows.all("SELECT name FROM pragma_table_info(?)", (table,))]
