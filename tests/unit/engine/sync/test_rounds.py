"""What a person meets with several devices: late, lost, doubled and damaged files, copies put back, leaving."""

from __future__ import annotations

import errno
import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sync_rig import Device, new_device, new_group_of, settle
from vault_kit import memory

from core.archive.bundle import BundleKind, BundleWriter, make_device_key, make_salt
from core.engine.sync.folder import SyncFolder, bundle_name
from core.engine.sync.pairing import (
    INVITATION_MS,
    DeviceInvitation,
    format_code,
    invitation_id,
    make_secret,
    parse_code,
    read_invitation,
    write_answer,
    write_invitation,
)
from core.errors import Code, EnvironmentFaultError, LociError
from core.intake.sync.device import (
    KnownDevice,
    add_device,
    begin_sync,
    end_sync,
    new_group,
    read_devices,
    require_state,
)
from core.intake.sync.keys import SyncKey, key_id, read_keys
from core.intake.sync.transfer import next_header
from core.intake.transaction.admission import erased_texts
from core.vault.database.tx import Tx


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Device, Device, Path]]:
    devices, shared = new_group_of(tmp_path, 2)
    yield devices[0], devices[1], shared
    for device in devices:
        device.close()


def files(folder: Path, device: Device) -> list[Path]:
    own = device.read(require_state).device
    return sorted(folder.glob(f"{own}-*"))


def kinds(device: Device) -> set[str]:
    return {one.kind for one in device.rounds.read_status().problems}


def agree(*devices: Device) -> bool:
    first, *others = [device.synced_rows() for device in devices]
    return all(rows == first for rows in others)


def test_what_one_remembers_the_other_has(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    memory_id = one.remember("Ada lives in Lisbon", ("Ada", "lives in", "Lisbon"))
    other.remember("Bees need water")
    settle(pair[:2])
    assert one.texts() == other.texts() == ["Ada lives in Lisbon", "Bees need water"]
    assert agree(one, other)
    assert other.read(lambda rows: rows.value("SELECT state FROM claims")) == "asserted"
    words = "SELECT count(*) FROM memory_fts WHERE memory_fts MATCH 'lisbon'"
    assert other.read(lambda rows: rows.value(words)) == 1
    assert memory_id is not None
    one.label(memory_id, pinned=1)
    other.label(memory_id, tags='["family"]')
    settle(pair[:2])
    row = other.synced_rows()["memories"][memory_id]
    assert (row["pinned"], row["tags"]) == (1, '["family"]')  # neither change is lost


def test_a_contradiction_is_one_question_on_both(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    first = one.remember("Ada lives in Lisbon", ("Ada", "lives in", "Lisbon"))
    settle(pair[:2])
    one.remember("Ada lives in Porto", ("Ada", "lives in", "Porto"), first)
    other.remember("Ada lives in Faro", ("Ada", "lives in", "Faro"), first)
    settle(pair[:2])
    assert agree(one, other)
    (item,) = one.synced_rows()["conflicts"].values()
    assert (item["kind"], item["state"], item["reason"]) == ("contradiction", "open", "two_devices")
    states = {row["value"]: row["state"] for row in one.synced_rows()["claims"].values()}
    assert states == {"Lisbon": "superseded", "Porto": "asserted", "Faro": "draft"}
    assert one.texts() == other.texts() == ["Ada lives in Faro", "Ada lives in Porto"]  # doubt hides nothing


def test_two_successors_without_claims_are_a_question_too(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    first = one.remember("The gate code is on the fridge")
    settle(pair[:2])
    one.remember("The gate code is in the drawer", replaces=first)
    other.remember("The gate code is with the neighbour", replaces=first)
    settle(pair[:2])
    assert agree(one, other)
    assert [row["state"] for row in other.synced_rows()["conflicts"].values()] == ["open"]


def test_the_same_words_stand_once(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    kept = one.remember("Bees need water", ("bees", "needs", "water"))
    other.remember("Bees need water", ("bees", "needs", "water"))
    settle(pair[:2])
    assert agree(one, other)
    assert one.texts() == ["Bees need water"]
    (beneath,) = [row for row in one.synced_rows()["memories"].values() if row["status"] == "consolidated"]
    assert beneath["consolidated_into"] == kept


def test_an_erasure_wins_over_every_edit_and_stays(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    memory_id = one.remember("The safe opens with 12-34-56")
    settle(pair[:2])
    assert memory_id is not None
    one.erase(memory_id)
    other.label(memory_id, tags='["safe"]')
    other.clock.advance(60_000)
    other.label(memory_id, pinned=1)
    settle(pair[:2])
    assert one.ids() == other.ids() == []
    assert other.read(lambda rows: erased_texts(rows, ["The safe opens with 12-34-56"])) == {
        "The safe opens with 12-34-56"
    }
    held = other.read(lambda rows: rows.value("SELECT count(*) FROM undo_rows WHERE before LIKE '%12-34-56%'"))
    assert held == 0
    assert agree(one, other)


def test_a_text_that_was_erased_here_does_not_come_back_from_there(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    mine = one.remember("The PIN of the bike lock is four digits")
    assert mine is not None
    one.erase(mine)
    other.remember("The PIN of the bike lock is four digits")
    settle(pair[:2])
    assert one.ids() == other.ids() == []
    assert agree(one, other)


def test_an_undo_undoes_everywhere_and_so_does_taking_it_back(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    one.remember("Tea at four", ("tea", "is at", "four"))
    settle(pair[:2])
    one.undo()
    settle(pair[:2])
    assert one.ids() == other.ids() == []
    step = one.read(lambda rows: rows.value("SELECT id FROM undo_steps WHERE verb = 'undo' ORDER BY rowid DESC"))
    one.undo_of(step)
    settle(pair[:2])
    assert other.texts() == ["Tea at four"]
    assert agree(one, other)


def test_a_forgotten_memory_is_forgotten_everywhere(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    memory_id = one.remember("Rain on Sunday")
    settle(pair[:2])
    assert memory_id is not None
    other.forget(memory_id)
    settle(pair[:2])
    assert one.texts("deleted") == ["Rain on Sunday"]


def test_a_space_and_a_client_come_by_name(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair

    def store(tx: Tx) -> None:
        client = {"id": "c-1", "name": "notebook", "token": bytes(32), "paired_at": tx.now_ms, "trust_ceiling": 0.4}
        tx.insert("clients", client)
        tx.insert("spaces", {"id": "s-1", "name": "work", "client_id": "c-1", "created_at": tx.now_ms})
        talk = {"id": "t-1", "identity": "chat:7", "space_id": "s-1", "client_id": "c-1", "recorded_at": tx.now_ms}
        tx.insert("conversations", talk)
        tx.insert("memories", memory(99, space_id="s-1", client_id="c-1", conversation_id="t-1"))

    other.write(lambda tx: tx.insert("spaces", {"id": "own", "name": "work", "created_at": tx.now_ms}))
    one.write(store)
    settle(pair[:2])
    row = other.read(lambda rows: rows.one("SELECT space_id, client_id, conversation_id FROM memories"))
    assert row == ("own", "c-1", "t-1")
    state = "SELECT trust_ceiling, paired_at, paused_at IS NULL, token = zeroblob(32) FROM clients"
    assert other.read(lambda rows: rows.one(state)) == (0.4, 0, 0, 0)  # nobody is let in by it
    assert agree(one, other)


# ---- files


def test_a_lost_bundle_is_told_and_a_whole_one_heals_it(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    one.remember("Bees need water")
    one.now()
    files(shared, one)[-1].unlink()
    one.remember("Tea at four")
    one.now()
    other.now()
    assert other.texts() == []
    (problem,) = other.rounds.read_status().problems or other.now().problems
    assert other.now().problems[0].kind == "gap"
    assert problem
    one.now(is_whole=True)
    other.now()
    settle(pair[:2])
    assert other.texts() == ["Bees need water", "Tea at four"]
    assert agree(one, other)
    assert other.now().problems == ()


def test_damage_is_told_kept_apart_and_over_when_the_file_arrives_whole(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    one.remember("Bees need water")
    one.now()
    path = files(shared, one)[-1]
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[: len(whole) // 2], whole[:-40] + bytes(40), b"", b"LOCI-BUNDLE"):
        path.write_bytes(damaged)
        assert [one.kind for one in other.now().problems] == ["damaged"]
        assert other.texts() == []
    kept = other.rounds.read_status().quarantine
    assert kept
    assert [one.name for one in Path(kept).iterdir()] == [path.name]
    path.write_bytes(whole)
    assert other.now().problems == ()
    assert other.texts() == ["Bees need water"]


def test_doubled_renamed_and_replayed_files_change_nothing(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    one.remember("Bees need water")
    one.now()
    path = files(shared, one)[-1]
    shutil.copyfile(path, shared / path.name.replace(".loci", ".sync-conflict-20260101.loci"))
    shutil.copyfile(path, shared / path.name.replace(".loci", " (1).loci"))
    old = path.read_bytes()
    path.rename(shared / "something loci-bundle else")
    other.now()
    assert other.texts() == ["Bees need water"]
    settle(pair[:2])
    memory_id = other.ids()[0]
    other.label(memory_id, pinned=1)
    settle(pair[:2])
    path.write_bytes(old)
    assert other.now().rows == 0
    assert agree(one, other)
    assert other.now().problems == ()


def test_what_is_not_of_the_group_is_left_alone(pair: tuple[Device, Device, Path], tmp_path: Path) -> None:
    one, other, shared = pair
    stranger = new_device(tmp_path, "stranger")
    stranger.begin(shared)
    stranger.remember("A stranger's memory")
    stranger.now()
    (shared / "notes.txt").write_text("loci")
    (shared / "link loci-bundle").symlink_to(shared / "notes.txt")
    (shared / "folder.loci-bundle").mkdir()
    (shared / "letter.loci-bundle").write_text("no bundle")
    assert {(one.kind, bool(one.name)) for one in other.now().problems} == {("foreign", True), ("damaged", True)}
    assert other.texts() == []
    stranger.close()
    assert (shared / "letter.loci-bundle").exists()
    assert one.now().rows == 0


def forged(one: Device, **more: object) -> tuple[bytes, str]:
    """A bundle with the group's key and another signature or header."""
    state = one.read(require_state)
    header = replace(one.read(lambda rows: next_header(rows, is_whole=False)), **more)  # type: ignore[arg-type]
    file = io.BytesIO()
    writer = BundleWriter(file, header, state.sync_key, make_device_key()[0])
    writer.write_line({"bundle": {"clock": 1, "taken": {}}})
    writer.finish()
    return file.getvalue(), bundle_name(header.device, header.number)


def test_a_forged_bundle_and_one_of_an_unknown_device_are_left_alone(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    data, name = forged(one)
    (shared / name).write_bytes(data)
    assert [found.kind for found in other.now().problems] == ["damaged"]
    (shared / name).unlink()
    data, name = forged(one, device="ab" * 8)
    (shared / name).write_bytes(data)
    assert [found.kind for found in other.now().problems] == ["unknown"]
    assert kinds(other) == {"unknown"}


def test_a_bundle_of_a_newer_schema_waits(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    state = one.read(require_state)
    header = replace(one.read(lambda rows: next_header(rows, is_whole=False)), schema=99)
    with (shared / bundle_name(header.device, header.number)).open("w+b") as file:
        writer = BundleWriter(file, header, state.sync_key, state.private_key)
        writer.finish()
    assert "newer" in {found.kind for found in other.now().problems}


def test_a_signed_bundle_that_says_nonsense_changes_nothing(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    one.remember("Bees need water")
    settle(pair[:2])
    before = other.synced_rows()
    state = one.read(require_state)
    header = one.read(lambda rows: next_header(rows, is_whole=False))
    memory_id = one.ids()[0]
    path = shared / bundle_name(header.device, header.number)
    begun: dict[str, object] = {"bundle": {"clock": 1, "taken": {}}}
    gone: dict[str, object] = {"t": "memories", "k": memory_id, "p": 0, "b": "1" + "f" * 31}
    rest: list[dict[str, object]] = [{"t": "edges"}, {"what": 1}, {"space": 3}]
    for lines in ([], rest[:1], *([begun, gone, bad] for bad in rest)):
        with path.open("w+b") as file:
            writer = BundleWriter(file, replace(header, salt=make_salt()), state.sync_key, state.private_key)
            for line in lines:
                writer.write_line(line)
            writer.finish()
        assert [found.kind for found in other.now().problems] == ["damaged"]
        assert other.synced_rows() == before


def test_three_devices_wait_for_what_another_had_seen(tmp_path: Path) -> None:
    (one, two, three), shared = new_group_of(tmp_path, 3)
    two.remember("Bees need water")
    settle((one, two, three))
    memory_id = one.remember("Ada lives in Lisbon", ("Ada", "lives in", "Lisbon"))
    one.now()
    hidden = {path: path.read_bytes() for path in files(shared, one)}
    two.now()
    two.remember("Ada lives in Porto", ("Ada", "lives in", "Porto"), memory_id)
    two.now()
    for path in hidden:
        path.unlink(missing_ok=True)
    assert [(found.kind, found.device) for found in three.now().problems] == [("waits", "d0")]
    assert three.texts() == ["Bees need water"]
    for path, data in hidden.items():
        path.write_bytes(data)
    settle((one, two, three))
    assert agree(one, two, three)
    assert three.texts() == ["Ada lives in Porto", "Bees need water"]
    for device in (one, two, three):
        device.close()


def test_a_folder_that_is_gone_or_full_loses_nothing(
    pair: tuple[Device, Device, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, shared = pair
    one.remember("Bees need water")
    away = shared.rename(shared.with_name("away"))
    with pytest.raises(LociError) as caught:
        one.now()
    assert caught.value.code is Code.SYNC_FOLDER_GONE
    assert not one.rounds.read_status().is_there
    away.rename(shared)
    with monkeypatch.context() as patch:
        full = EnvironmentFaultError(Code.DISK_FULL, "The folder of your devices is full.")

        def refuse(_self: SyncFolder, _source: Path) -> None:
            raise full

        patch.setattr(SyncFolder, "publish", refuse)
        with pytest.raises(LociError) as caught:
            one.now()
        assert caught.value.code is Code.DISK_FULL
    one.now()
    other.now()
    assert other.texts() == ["Bees need water"]


def test_a_full_disk_at_home_loses_nothing(pair: tuple[Device, Device, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, _ = pair
    one.remember("Bees need water")
    with monkeypatch.context() as patch:

        def refuse(_self: BundleWriter, _value: object) -> None:
            raise OSError(errno.ENOSPC, "full")

        patch.setattr(BundleWriter, "write_line", refuse)
        with pytest.raises(LociError) as caught:
            one.now()
        assert caught.value.code is Code.DISK_FULL
    assert one.rounds.read_status().pending > 0
    assert list((one.home / "sync").iterdir()) == []
    settle(pair[:2])
    assert other.texts() == ["Bees need water"]


def test_bundles_that_all_have_taken_leave_the_folder(pair: tuple[Device, Device, Path]) -> None:
    one, other, shared = pair
    for at in range(4):
        one.remember(f"Note {at}")
        one.now()
        other.now()
    settle(pair[:2])
    assert len(files(shared, one)) == 1
    assert one.rounds.read_status().kept == 1
    assert agree(one, other)


# ---- copies, leaving, pairing


def test_a_vault_that_was_put_back_is_told_to_pair_anew(pair: tuple[Device, Device, Path], tmp_path: Path) -> None:
    one, other, shared = pair
    one.remember("Bees need water")
    one.close()
    copy = tmp_path / "yesterday"
    shutil.copytree(one.home, copy)
    one.open()
    one.remember("Tea at four")
    settle(pair[:2])
    one.close()
    shutil.rmtree(one.home)
    copy.rename(one.home)
    one.open()
    with pytest.raises(LociError) as caught:
        one.now()
    assert caught.value.code is Code.SYNC_FORKED
    assert "ahead" in kinds(one)
    one.write(end_sync)
    other.invite(shared, one)
    one.now()
    settle((other, one))
    assert one.texts() == ["Bees need water", "Tea at four"]
    assert one.texts() == other.texts()


def test_two_copies_of_one_device_are_told(pair: tuple[Device, Device, Path], tmp_path: Path) -> None:
    one, other, shared = pair
    one.close()
    shutil.copytree(one.home, tmp_path / "twin")
    one.open()
    twin = Device(tmp_path / "twin", "twin", one.clock)
    one.remember("Bees need water")
    one.now()
    other.now()
    name = files(shared, one)[-1]
    name.unlink()
    twin.remember("Tea at four")
    twin.now()
    assert [found.kind for found in other.now().problems] == ["twice"]
    assert other.texts() == ["Bees need water"]
    twin.close()


def test_a_device_that_was_taken_out_is_not_listened_to(pair: tuple[Device, Device, Path]) -> None:
    one, other, _ = pair
    one.take_out(other)
    other.remember("Written after that")
    other.now()
    one.now()
    with pytest.raises(LociError) as caught:
        other.now()
    assert caught.value.code is Code.SYNC_OFF
    assert [found.kind for found in one.now().problems] == ["left"]
    assert one.texts() == []


def test_a_code_opens_its_invitation_and_nothing_else(tmp_path: Path) -> None:
    secret = make_secret()
    assert parse_code(format_code(secret)) == secret
    assert parse_code(format_code(secret).lower().replace("-", " ")) == secret
    group, key = new_group()
    host = KnownDevice("ab" * 8, "desk", bytes(32), 5)
    keys = tuple(SyncKey(key_id(one), one, made, frozenset({host.id})) for made, one in enumerate((key, b"k" * 32)))
    write_invitation(tmp_path, secret, DeviceInvitation(group, keys, host, 1000))
    assert read_invitation(tmp_path, secret, 999) == DeviceInvitation(group, keys, host, 1000)
    for wrong, now in ((make_secret(), 5), (secret, 1000)):
        with pytest.raises(LociError) as caught:
            read_invitation(tmp_path, wrong, now)
        assert caught.value.code is Code.SYNC_CODE_REFUSED
    for typed in ("", "ABCD", "A" * 25, "!" * 24):
        with pytest.raises(LociError) as caught:
            parse_code(typed)
        assert caught.value.code is Code.SYNC_CODE_REFUSED
    path = next(tmp_path.iterdir())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LociError):
        read_invitation(tmp_path, secret, 5)
    assert key not in path.read_bytes()


def test_an_answer_after_the_hour_lets_nobody_in(pair: tuple[Device, Device, Path], tmp_path: Path) -> None:
    one, _, shared = pair
    late = new_device(tmp_path, "late")
    secret = make_secret()
    state = one.read(require_state)
    host = read_host(one)
    values = (invitation_id(secret), secret, one.clock.now_ms() + INVITATION_MS)
    one.write(lambda tx: tx.run("INSERT INTO sync_invitations (id, secret, expires_at) VALUES (?, ?, ?)", values))
    late.join(shared, state.group, tuple(one.read(read_keys).values()), host)
    write_answer(shared, secret, read_host(late))
    one.clock.advance(INVITATION_MS + 1)
    report = one.now()
    assert (report.admitted, [found.kind for found in report.problems]) == ((), ["late"])
    assert one.read(lambda rows: rows.value("SELECT count(*) FROM sync_invitations")) == 0
    late.close()


def read_host(device: Device) -> KnownDevice:
    own = device.read(require_state).device
    return next(one for one in device.read(read_devices) if one.id == own)


def test_a_restored_copy_overrides_nothing_that_is_newer(tmp_path: Path) -> None:
    """A second machine begins with a backup of long ago: what happened since on the first one counts."""
    one = new_device(tmp_path, "desk")
    first = one.remember("Ada lives in Lisbon", ("Ada", "lives in", "Lisbon"))
    gone = one.remember("The safe opens with 12-34-56")
    one.close()
    shutil.copytree(one.home, tmp_path / "laptop")
    one.open()
    one.clock.advance(86_400_000)
    one.remember("Ada lives in Porto", ("Ada", "lives in", "Porto"), first)
    assert gone is not None
    one.erase(gone)
    other = Device(tmp_path / "laptop", "laptop", one.clock)
    other.remember("Bees need water")
    shared = tmp_path / "shared"
    shared.mkdir()
    one.begin(shared)
    one.invite(shared, other)
    other.now()
    settle((one, other))
    assert one.texts() == other.texts() == ["Ada lives in Porto", "Bees need water"]
    assert agree(one, other)
    for device in (one, other):
        device.close()


def test_a_bundle_of_everything_stands_for_all_before_it(pair: tuple[Device, Device, Path], tmp_path: Path) -> None:
    one, other, shared = pair
    for at in range(3):
        one.remember(f"Note {at}")
        settle(pair[:2])
    third = new_device(tmp_path, "third")
    one.invite(shared, third)
    third.now()
    report = one.now()
    assert report.admitted == ("third",)
    settle((one, other, third))
    assert third.texts() == ["Note 0", "Note 1", "Note 2"]
    assert agree(one, other, third)
    assert {device.name for device in other.read(read_devices)} == {"d0", "d1", "third"}
    assert BundleKind.WHOLE.value == "whole"
    third.close()


def test_a_group_has_room_for_some_devices(tmp_path: Path) -> None:
    one = new_device(tmp_path, "desk")
    group, key = new_group()
    one.write(lambda tx: begin_sync(tx, group, key, str(tmp_path), "desk"))

    def fill(tx: Tx) -> None:
        for at in range(20):
            add_device(tx, KnownDevice(f"{at:016x}", f"n{at}", bytes(32), 1))

    with pytest.raises(LociError) as caught:
        one.write(fill)
    assert caught.value.code is Code.INVALID_INPUT
    one.close()


def test_a_text_in_parts_comes_whole_and_stays_where_it_was(tmp_path: Path) -> None:
    (one, other), _ = new_group_of(tmp_path, 2)
    one.split(["The first part. ", "The second part."])
    settle([one, other])
    assert one.texts() == other.texts() == ["The first part. ", "The second part."]
