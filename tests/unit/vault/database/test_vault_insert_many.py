"""Many rows in few statements: the recorder is told of each as it stands in the vault, in the order they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import vault_kit as kit

from core.errors import BugError, Code, LociError, UserError
from core.types.values import Kind
from core.vault.database.tx import Tx
from core.vault.vault import Vault

COUNTS = (1, 19, 20, 21, 67)


class Remembering:
    """A recorder that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Mapping[str, object], Any, Any]] = []

    def record_change(self, table: str, key: Mapping[str, object], before: Any, after: Any) -> None:
        self.told.append((table, key, before, after))


def recorded(vault: Vault, table: str, rows: list[dict[str, Any]]) -> Remembering:
    recorder = Remembering()

    def write(tx: Tx) -> None:
        tx.recorder = recorder
        tx.insert_many(table, rows)

    vault.write(write)
    return recorder


@pytest.mark.parametrize("count", COUNTS)
def test_every_row_is_told_as_it_stands(vault: Vault, count: int) -> None:
    rows = [kit.memory(n) for n in range(count, 0, -1)]
    told = recorded(vault, "memories", rows).told
    assert [key for _, key, _, _ in told] == [{"n": n} for n in range(count, 0, -1)]
    assert all(table == "memories" and before is None for table, _, before, _ in told)

    def read(tx: Tx) -> list[Any]:
        return [tx.row("memories", {"n": n}) for n in range(count, 0, -1)]

    assert [after for _, _, _, after in told] == vault.write(read)
    assert told[0][3]["access_count"] == 0  # a default that nobody named


def test_a_key_of_octets(vault: Vault) -> None:
    vault.write(lambda tx: tx.insert_many("memories", [kit.memory(1)]))
    owner = str(kit.memory(1)["id"])
    rows = [{"identity": bytes([n]) * 32, "memory_id": owner} for n in range(30)]
    told = recorded(vault, "fingerprints", rows).told
    assert [after for _, _, _, after in told] == rows
    assert [key for _, key, _, _ in told] == [{"identity": row["identity"]} for row in rows]


def test_values_that_the_driver_must_not_see_are_made_plain(vault: Vault) -> None:
    rows = [{**kit.memory(n), "kind": Kind.EPISODE, "pinned": True} for n in range(1, 25)]
    told = recorded(vault, "memories", rows).told
    assert {(after["kind"], after["pinned"]) for _, _, _, after in told} == {("episode", 1)}
    assert {type(after["kind"]) for _, _, _, after in told} == {str}


@pytest.mark.parametrize("place", [0, 19, 20, 40])
def test_one_bad_row_and_none_is_there(vault: Vault, place: int) -> None:
    rows = [kit.memory(n) for n in range(1, 42)]
    rows[place] = {**rows[place], "importance": 2.0}
    with pytest.raises(LociError):
        recorded(vault, "memories", rows)
    assert vault.read(lambda tx: tx.value("SELECT count(*) FROM memories")) == 0


def test_rows_of_one_shape_only(vault: Vault) -> None:
    rows = [kit.memory(1), {**kit.memory(2), "pinned": 1}]
    with pytest.raises(BugError):
        recorded(vault, "memories", rows)


@pytest.mark.parametrize("count", [1, 3, 501])
def test_rows_changed_alike_are_told_as_one_by_one(vault: Vault, count: int) -> None:
    vault.write(lambda tx: tx.insert_many("memories", [kit.memory(n) for n in range(1, count + 3)]))
    ids = [kit.memory(n)["id"] for n in range(count, 0, -1)]
    told = []
    for alike in (True, False):
        recorder = Remembering()

        def write(tx: Tx, recorder: Remembering = recorder, alike: bool = alike) -> None:
            tx.recorder = recorder
            if alike:
                tx.update_many("memories", "id", [*ids, "nobody", ids[0]], {"category": "x", "pinned": True})
            else:
                for memory_id in ids:
                    tx.update("memories", {"id": memory_id}, {"category": "x", "pinned": True})
            raise UserError(Code.INVALID_INPUT, "back")

        with pytest.raises(UserError):
            vault.write(write)
        told.append(recorder.told)
    assert told[0] == told[1]
    assert len(told[0]) == count


def test_what_a_row_holds_already_is_not_changed(vault: Vault) -> None:
    vault.write(lambda tx: tx.insert_many("memories", [kit.memory(n) for n in (1, 2)]))
    ids = [kit.memory(n)["id"] for n in (1, 2)]
    vault.write(lambda tx: tx.update("memories", {"id": ids[0]}, {"category": "x"}))
    recorder = Remembering()

    def write(tx: Tx) -> None:
        tx.recorder = recorder
        tx.update_many("memories", "id", ids, {"category": "x"})

    vault.write(write)
    assert [key for _, key, _, _ in recorder.told] == [{"n": 2}]
    seq = vault.seq
    vault.write(write)
    assert (vault.seq, len(recorder.told)) == (seq, 1)


@pytest.mark.parametrize(
    ("column", "changes"), [("id", {"n": 9}), ("id", {"id": "x"}), ("id", {"nonsense": 1}), ("kind", {"category": "x"})]
)
def test_changes_that_make_no_sense_are_refused(vault: Vault, column: str, changes: dict[str, object]) -> None:
    vault.write(lambda tx: tx.insert_many("memories", [kit.memory(n) for n in (1, 2)]))
    values = [kit.memory(1)[column]]
    with pytest.raises(BugError):
        vault.write(lambda tx: tx.update_many("memories", column, values, changes))
