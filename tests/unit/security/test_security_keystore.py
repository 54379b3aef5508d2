from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from core.errors import Code, EnvironmentFaultError, IntegrityError, UserError
from core.security import keyfile
from core.security.atomic import write_atomic
from core.security.keyfile import backup_of, keys_exist, load_keys, save_keys
from core.security.slots import NewKeys, create_keys, open_with_recovery, remove_slot
from core.types.clock import ManualClock


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def bits(data: bytes) -> list[int]:
    """200 places: all over the file, the header among them."""
    return random.Random(7).sample(range(len(data) * 8), 180) + list(range(0, 80 * 8, 32))


def test_saved_keys_load(saved: Path, made: NewKeys) -> None:
    loaded = load_keys(saved)
    assert (loaded.keys, loaded.from_backup, loaded.repaired) == (made.keys, False, False)
    assert saved.read_bytes() == backup_of(saved).read_bytes()


def test_200_bit_flips_in_the_main_copy_open_and_repair(saved: Path, made: NewKeys) -> None:
    good = saved.read_bytes()
    assert len(bits(good)) == 200
    for bit in bits(good):
        saved.write_bytes(flipped(good, bit))
        loaded = load_keys(saved)
        assert (loaded.keys, loaded.from_backup, loaded.repaired) == (made.keys, True, True), bit
        assert saved.read_bytes() == good


def test_200_bit_flips_in_both_copies_are_told_as_damage(saved: Path) -> None:
    good = saved.read_bytes()
    for bit in bits(good):
        bad = flipped(good, bit)
        saved.write_bytes(bad)
        backup_of(saved).write_bytes(bad)
        with pytest.raises(IntegrityError) as caught:
            load_keys(saved)
        assert (caught.value.code, caught.value.exit_code) == (Code.KEY_FILE_DAMAGED, 5), bit
        assert saved.read_bytes() == bad


def test_damaged_or_missing_second_copy_is_written_anew(saved: Path) -> None:
    good = saved.read_bytes()
    backup_of(saved).write_bytes(b"rubbish")
    assert load_keys(saved).repaired
    backup_of(saved).unlink()
    assert load_keys(saved).repaired
    assert backup_of(saved).read_bytes() == good
    assert not load_keys(saved).repaired


def test_missing_main_copy_is_written_anew(saved: Path, made: NewKeys) -> None:
    saved.unlink()
    assert keys_exist(saved)
    loaded = load_keys(saved)
    assert (loaded.keys, loaded.from_backup, loaded.repaired) == (made.keys, True, True)
    assert saved.stat().st_mode & 0o777 == 0o600


def test_without_leave_nothing_is_written(saved: Path) -> None:
    saved.write_bytes(b"rubbish")
    loaded = load_keys(saved, repair=False)
    assert (loaded.from_backup, loaded.repaired) == (True, False)
    assert saved.read_bytes() == b"rubbish"


def test_a_disk_that_refuses_the_repair_does_not_refuse_the_keys(
    saved: Path, made: NewKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise EnvironmentFaultError(Code.DISK_FULL, "full")

    saved.write_bytes(b"rubbish")
    monkeypatch.setattr(keyfile, "write_atomic", full)
    loaded = load_keys(saved)
    assert (loaded.keys, loaded.from_backup, loaded.repaired) == (made.keys, True, False)


def test_no_copies_is_no_vault(tmp_path: Path) -> None:
    path = tmp_path / "vault.keys"
    assert not keys_exist(path)
    with pytest.raises(UserError) as caught:
        load_keys(path)
    assert caught.value.code is Code.NO_VAULT
    assert list(tmp_path.iterdir()) == []


def test_kill_between_the_two_copies_keeps_the_new_keys(
    saved: Path, made: NewKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller = remove_slot(made.keys, "passphrase")

    def main_only(path: Path, data: bytes) -> None:
        if path == backup_of(saved):
            raise KeyboardInterrupt
        write_atomic(path, data)

    monkeypatch.setattr(keyfile, "write_atomic", main_only)
    with pytest.raises(KeyboardInterrupt):
        save_keys(saved, smaller)
    monkeypatch.undo()
    loaded = load_keys(saved)
    assert (loaded.keys, loaded.from_backup, loaded.repaired) == (smaller, False, True)
    assert backup_of(saved).read_bytes() == smaller.to_bytes()


def _with_body(saved: Path, body: bytes) -> bytes:
    data = b"LOCIKEYS1 " + sha256(body).hexdigest().encode() + b"\n" + body
    saved.write_bytes(data)
    return data


def test_newer_version_is_not_repaired_from_an_older_copy(saved: Path) -> None:
    old = saved.read_bytes()
    newer = _with_body(saved, b'{"v":2}')
    with pytest.raises(UserError) as caught:
        load_keys(saved)
    assert caught.value.code is Code.NEWER_VERSION
    assert (saved.read_bytes(), backup_of(saved).read_bytes()) == (newer, old)


def test_intact_but_hostile_main_copy_does_not_bring_back_the_second(saved: Path) -> None:
    body = json.loads(saved.read_bytes().split(b"\n", 1)[1])
    next(slot for slot in body["slots"] if slot["kind"] == "passphrase")["m"] = 4 * 1024**3
    hostile = _with_body(saved, json.dumps(body, sort_keys=True, separators=(",", ":")).encode())
    with pytest.raises(IntegrityError) as caught:
        load_keys(saved)
    assert caught.value.code is Code.KEY_FILE_DAMAGED
    assert saved.read_bytes() == hostile


def test_huge_file_is_read_no_further_than_the_limit(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"v":1,"pad":"' + b"x" * 10_000_000 + b'"}'
    backup_of(saved).write_bytes(_with_body(saved, body))
    asked: list[int] = []
    real = os.read

    def counted(descriptor: int, most: int) -> bytes:
        got = real(descriptor, most)
        asked.append(len(got))
        return got

    monkeypatch.setattr(os, "read", counted)
    with pytest.raises(IntegrityError):
        load_keys(saved)
    assert 0 < sum(asked) <= 2 * (64 * 1024 + 1)


def test_things_that_are_no_files_are_damage_and_stay(tmp_path: Path) -> None:
    path = tmp_path / "vault.keys"
    path.mkdir()
    os.mkfifo(backup_of(path))
    with pytest.raises(IntegrityError) as caught:
        load_keys(path)
    assert caught.value.code is Code.KEY_FILE_DAMAGED
    assert path.is_dir()
    assert backup_of(path).is_fifo()


def test_a_fifo_that_offers_good_keys_is_not_drunk_from(saved: Path, made: NewKeys) -> None:
    saved.unlink()
    backup_of(saved).unlink()
    os.mkfifo(saved)
    feeder = os.open(saved, os.O_RDWR)
    try:
        os.write(feeder, made.keys.to_bytes())
        with pytest.raises(IntegrityError):
            load_keys(saved)
        assert len(os.read(feeder, 4096)) == len(made.keys.to_bytes())
    finally:
        os.close(feeder)


def test_no_right_to_read_is_not_called_damage(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "denied", str(saved))

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(EnvironmentFaultError) as caught:
        load_keys(saved)
    assert caught.value.code is Code.ACCESS_DENIED
    assert saved.name not in caught.value.sentence


@pytest.mark.usefixtures("open_umask")
def test_modes_are_0600_under_umask_000(made: NewKeys, tmp_path: Path) -> None:
    path = tmp_path / "vault.keys"
    save_keys(path, made.keys)
    backup_of(path).unlink()
    load_keys(path)
    assert [(each.name, each.stat().st_mode & 0o777) for each in sorted(tmp_path.iterdir())] == [
        ("vault.keys", 0o600),
        ("vault.keys.bak", 0o600),
    ]


def test_recovery_opens_when_the_other_slots_are_gone_from_the_disk(
    saved: Path, made: NewKeys, clock: ManualClock
) -> None:
    recovery = made.keys.recovery_slot
    assert recovery is not None
    save_keys(saved, replace(made.keys, slots=(recovery,)))
    with open_with_recovery(load_keys(saved).keys, made.recovery_code) as root:
        assert root.vault_id == made.keys.vault_id


@pytest.mark.slow
def test_standard_cost_survives_the_way_to_disk_and_back(tmp_path: Path, clock: ManualClock) -> None:
    """The one test that pays the full price."""
    path = tmp_path / "vault.keys"
    save_keys(path, create_keys("dear passphrase", clock=clock).keys)
    slot = load_keys(path).keys.passphrase_slot
    assert slot is not None
    assert (slot.cost.memory_kib, slot.cost.passes, slot.cost.lanes) == (262_144, 3, 4)
