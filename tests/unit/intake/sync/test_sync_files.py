"""Files stay on the device where they were attached; their memories go to all, and nothing done there loses a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_rig import Device, new_group_of

from core.errors import Code, LociError
from core.intake.seal.seal import SealKey, seal_memories, unseal_memories
from core.intake.store.attachment import AttachmentWriter, FileToAttach, ReadText, compose_text
from core.memory.files import stored_id_of
from core.memory.stored_files import list_incomplete, list_keyless, read_content, require_content, seal_content
from core.memory.write import VectorSpace
from core.security.keys import RootKey
from core.types.files.attachments import AttachReply, ViewMethod
from core.types.values import OWNER_ACTOR

DATA = b"The ferry to Vik leaves at nine. " * 5_000
SPACE = VectorSpace("words", "words-1", 4)


def attach(device: Device) -> AttachReply:
    words = ReadText(ViewMethod.PLAIN_TEXT, ((None, DATA.decode()[:20_000]),))
    content = seal_content(device.make_id(), DATA)
    file = FileToAttach(name="ferry.txt", media_type="text/plain", content=content, read=(words,))
    writer = AttachmentWriter(device.make_id, device.work, SPACE)
    return device.write(
        lambda tx: writer.attach(tx, file, compose_text(file), None, OWNER_ACTOR, lambda seq, labels, vectors: None)
    )


def settle(*devices: Device) -> None:
    for _ in range(3):
        for device in devices:
            device.now()


@pytest.fixture
def devices(tmp_path: Path) -> tuple[Device, Device]:
    (one, other), _ = new_group_of(tmp_path, 2)
    return one, other


def content(device: Device, reply: AttachReply) -> bytes:
    return device.read(
        lambda rows: b"".join(read_content(rows, require_content(rows, stored_id_of(rows, reply.file.id))))
    )


def test_the_memory_goes_to_the_other_device_and_the_file_stays(devices: tuple[Device, Device]) -> None:
    one, other = devices
    reply = attach(one)
    settle(one, other)
    assert "".join(other.texts()) == "".join(one.texts())
    assert other.read(lambda rows: rows.value("SELECT count(*) FROM files")) == 0
    other.label(reply.memory_id, importance=0.9)
    other.forget(reply.memory_id)
    settle(one, other)
    assert one.texts() == []
    assert content(one, reply) == DATA
    other.undo()
    settle(one, other)
    assert one.texts() == other.texts() != []
    assert one.synced_rows() == other.synced_rows()


def test_what_is_erased_elsewhere_goes_with_its_file(devices: tuple[Device, Device]) -> None:
    one, other = devices
    reply = attach(one)
    settle(one, other)
    other.erase(reply.memory_id)
    settle(one, other)
    for table in ("memories", "files", "file_views", "stored_files", "stored_chunks"):
        assert one.read(lambda rows, table=table: rows.value(f"SELECT count(*) FROM {table}")) == 0  # type: ignore[misc]  # noqa: S608


def test_undo_on_the_device_of_the_file_takes_it_away_on_both_and_back(devices: tuple[Device, Device]) -> None:
    one, other = devices
    reply = attach(one)
    settle(one, other)
    one.undo()
    settle(one, other)
    assert (one.texts(), other.texts()) == ([], [])
    one.undo_of(str(one.read(lambda rows: rows.value("SELECT id FROM undo_steps WHERE verb = 'undo'"))))
    settle(one, other)
    assert other.texts() == one.texts() != []
    assert content(one, reply) == DATA


def test_a_memory_with_a_file_is_sealed_and_put_back_where_the_file_is(devices: tuple[Device, Device]) -> None:
    one, other = devices
    reply = attach(one)
    settle(one, other)
    key = SealKey("a" * 32, RootKey(b"k" * 32, b"v" * 16))
    for device in devices:
        row = {"id": key.id, "slots": b"slots", "made_at": 1}
        device.write(lambda tx: tx.insert("seal_keys", row))  # noqa: B023 - at once

    def seal(device: Device) -> None:
        device.write(
            lambda tx: seal_memories(
                tx, device.work, {reply.memory_id: "a file"}, key, OWNER_ACTOR, lambda seq, labels: None
            )
        )

    def unseal(device: Device) -> None:
        device.write(
            lambda tx: unseal_memories(
                tx, device.work, [reply.memory_id], lambda _: key, OWNER_ACTOR, lambda tx, ids: None
            )
        )

    with pytest.raises(LociError) as refused:
        seal(other)
    assert refused.value.code is Code.INVALID_INPUT
    seal(one)
    settle(one, other)
    assert (one.texts(), other.texts()) == ([], [])
    with pytest.raises(LociError) as refused:
        unseal(other)
    assert refused.value.code is Code.INVALID_INPUT
    unseal(one)
    settle(one, other)
    assert other.texts() == one.texts() != []
    assert content(one, reply) == DATA
    assert one.read(list_keyless) == one.read(list_incomplete) == []
