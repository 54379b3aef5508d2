"""Many rows in few statements: the recorder is told of each as it stands in the vault, in the order they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import vault_kit as kit

from core.errors import BugError, LociError
from core.types.words import Kind
from core.vault.tx import Tx
from core.vault.vault import Vault

COUNTS = (1, 19, 20, 21, 67)


class Remembering:
    """A recorder that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Mapping[str, object], Any, Any]] = []

    def changed(self, table: str, key: Mapping[str, object], before: Any, after: Any) -> None:
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
