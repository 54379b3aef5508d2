"""Removing everything from a computer: the preview, the last word to other devices, the wipe and its report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from archive_rig import PASSPHRASE as OTHER
from archive_rig import export_all, other_rig
from engine_rig import MARKER, PASSPHRASE, Rig, later, refused, rig_at
from memory_ring import Ring

from core.config.wipe_wording import preview_lines, report_lines, warning_lines
from core.engine.facade import Engine, HomeKeys
from core.engine.vault.administration import restore_vault
from core.errors import Code, LociError
from core.security.keyring_client import KeyringCause
from core.types.files.wipe import CopyKind, DevicesTold, Registered, WipePreview, WipeReport
from core.types.values import OWNER_ACTOR
from core.vault.database.tx import Tx
from core.vault.files import destruction
from core.vault.files.destruction import WipeNote, mark_home

WORD = MARKER


class Outside:
    """Settings of an assistant, one of which cannot be changed."""

    def __init__(self) -> None:
        self.is_removed = False

    def find(self) -> tuple[str, ...]:
        return ("/etc/one.json", "/etc/t\x1bwo.json")

    def remove(self) -> Registered:
        self.is_removed = True
        return Registered(("/etc/one.json",), ("/etc/two.json",), ("/etc/three.json",))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path / "desk") as made:
        yield made


def preview_of(engine: Engine, secret: str = PASSPHRASE) -> WipePreview:
    return engine.begin_wipe().preview(secret).result(60)


def wipe(engine: Engine, secret: str = PASSPHRASE) -> WipeReport:
    return engine.begin_wipe().run(secret).result(60)


def test_nothing_is_shown_or_removed_without_the_secret(rig: Rig) -> None:
    rig.store(f"The {WORD} is in the cellar.")
    removal = rig.engine.begin_wipe()
    for work in (removal.preview, removal.run):
        with refused(Code.WRONG_SECRET):
            work("not the passphrase").result(60)
    assert rig.texts() == [f"The {WORD} is in the cellar."]


def test_the_preview_counts_and_changes_nothing(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    rig.engine.vault.backup().result(60)
    rig.client("notes", "read")
    (rig.home.path / "mine.txt").write_text("mine", encoding="utf-8")
    seq = rig.opened.storage.vault.seq
    found = preview_of(rig.engine)
    assert (found.memories, found.sealed, found.files, found.backups) == (1, 0, 0, 1)
    assert found.foreign == ("mine.txt",)
    assert found.clients == ("notes",)
    assert found.copy is None
    assert found.size > 100_000
    assert rig.opened.storage.vault.seq == seq
    assert "no other copy" in warning_lines(found)[0]
    assert rig.home.keys.exists()


def test_the_newest_archive_counts_and_what_is_newer(rig: Rig, tmp_path: Path) -> None:
    rig.store("Ada keeps bees")
    export_all(rig, tmp_path / "all.loci")
    first = preview_of(rig.engine).copy
    assert first is not None
    assert (first.kind, first.newer) == (CopyKind.ARCHIVE, 0)
    assert warning_lines(preview_of(rig.engine)) == []
    later(rig)
    rig.store("Ada keeps hens")
    second = preview_of(rig.engine)
    assert second.copy is not None
    assert second.copy.newer == 1
    assert "newest memories" in warning_lines(second)[0]
    later(rig)
    rig.engine.vault.backup(tmp_path / "b.tar").result(60)
    third = preview_of(rig.engine).copy
    assert third is not None
    assert (third.kind, third.newer) == (CopyKind.BACKUP, 0)


def test_a_failed_archive_and_an_export_in_the_clear_are_no_copy(rig: Rig, tmp_path: Path) -> None:
    rig.store("Ada keeps bees")
    with refused(Code.WRITE_FAILED):
        export_all(rig, tmp_path / "nowhere" / "all.loci")
    rig.engine.library.export_memories([], tmp_path / "a.jsonl", "jsonl").result(60)
    found = preview_of(rig.engine)
    assert found.copy is None
    assert found.plain_exports == 1


def test_an_archive_that_was_begun_and_cut_off_is_no_copy(rig: Rig, tmp_path: Path) -> None:
    rig.store("Ada keeps bees")
    export_all(rig, tmp_path / "all.loci")
    first = preview_of(rig.engine).copy
    assert first is not None
    later(rig)

    def begin(tx: Tx) -> None:
        with rig.opened.storage.work.verb(tx, "export", "Export everything", OWNER_ACTOR) as verb:
            verb.note_audit(memories=1, format="encrypted_v1")

    rig.write(begin)
    assert preview_of(rig.engine).copy == first


def test_what_is_restored_over_an_interrupted_wipe_stays(rig: Rig, tmp_path: Path) -> None:
    rig.store("Ada keeps bees")
    archive = tmp_path / "b.tar"
    rig.engine.vault.backup(archive).result(60)
    rig.engine.vault.lock().result(30)
    mark_home(rig.home, WipeNote(HomeKeys(rig.home).vault_id, ""))
    rig.engine.close()
    with pytest.raises(LociError):
        restore_vault(rig.home, archive, "not the passphrase at all", rig.clock)
    assert rig.home.wiping.exists()  # what was decided stays decided while nothing is restored
    restore_vault(rig.home, archive, PASSPHRASE, rig.clock)
    assert not rig.home.wiping.exists()
    assert HomeKeys(rig.home).finish_wipe() is None
    assert rig.home.vault.exists()


def test_keys_of_a_backup_with_a_name_of_its_own_are_overwritten(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    named = rig.home.backups / "before-the-move"
    rig.engine.vault.backup(named).result(60)
    seen: list[str] = []
    plain = destruction._overwrite_file

    def overwrite(path: Path, most: int | None) -> bool:
        seen.append(path.name)
        return plain(path, most)

    monkeypatch.setattr(destruction, "_overwrite_file", overwrite)
    rig.engine.begin_wipe().run(PASSPHRASE).result(60)
    assert "before-the-move" in seen


def test_everything_is_gone_and_the_report_says_so(rig: Rig) -> None:
    rig.store(f"The {WORD} is in the cellar.")
    rig.engine.vault.backup().result(60)
    steps: list[str] = []
    done = rig.engine.begin_wipe().run(PASSPHRASE, lambda step: steps.append(step.value)).result(60)
    assert steps == ["mark", "keys", "files", "home"]
    assert done.is_complete
    assert done.is_home_gone
    assert done.overwritten >= 3
    assert not rig.home.path.exists()
    assert rig.engine.is_wiped
    assert rig.engine.state == "locked"
    assert not rig.engine.vault.read_presence().result(30).exists
    text = "\n".join(report_lines(done))
    assert "All of Loci's data" in text
    assert "It held 1 memory." in text


def test_of_a_planted_word_nothing_is_left_on_the_way(rig: Rig) -> None:
    rig.store(f"The {WORD} is in the cellar.")
    (rig.home.path / "mine.txt").write_text("mine", encoding="utf-8")
    wipe(rig.engine)
    left = [path for path in rig.home.path.parent.rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["mine.txt"]
    assert all(WORD.encode() not in path.read_bytes() for path in left)


def test_a_vault_can_be_made_anew_by_the_same_engine(rig: Rig) -> None:
    wipe(rig.engine)
    code = rig.engine.vault.create("another passphrase").result(60)
    assert not rig.engine.is_wiped
    rig.engine.vault.open(code).result(60)
    assert rig.texts() == []


def test_another_engine_that_has_the_home_is_not_disturbed(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    other = Engine(replace(rig.engine._setup))
    try:
        with refused(Code.VAULT_BUSY):
            preview_of(other)
        with refused(Code.VAULT_BUSY):
            wipe(other)
    finally:
        other.close()
    assert rig.texts() == ["Ada keeps bees"]


def test_a_vault_that_does_not_open_can_be_wiped(rig: Rig) -> None:
    rig.lock()
    found = preview_of(rig.engine)
    assert not found.is_readable
    assert "could not be counted" in "\n".join(preview_lines(found))
    assert wipe(rig.engine).is_home_gone


def test_other_devices_get_the_last_changes_and_hear_of_it(rig: Rig, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    with other_rig(tmp_path / "laptop", rig.clock) as laptop:
        code = rig.engine.devices.pair(shared, "desk").result(30).code
        laptop.engine.devices.join(code, shared, "laptop").result(60)
        rig.engine.devices.run().result(60)
        laptop.engine.devices.run().result(60)
        rig.store("Ada keeps bees")
        found = preview_of(rig.engine)
        assert found.devices == ("laptop",)
        assert found.pending > 0
        assert warning_lines(found) == []
        done = wipe(rig.engine)
        assert done.devices is DevicesTold.TOLD
        laptop.engine.devices.run().result(60)
        assert laptop.texts() == ["Ada keeps bees"]
        status = laptop.engine.devices.read_status().result(30)
        assert [one.name for one in status.devices if one.left_at is not None] == ["desk"]
        assert preview_of(laptop.engine, OTHER).devices == ()


def test_devices_that_cannot_be_told_are_told_of(rig: Rig, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    with other_rig(tmp_path / "laptop", rig.clock) as laptop:
        code = rig.engine.devices.pair(shared, "desk").result(30).code
        laptop.engine.devices.join(code, shared, "laptop").result(60)
        rig.engine.devices.run().result(60)
        rig.store("Ada keeps bees")
        shared.rename(tmp_path / "unplugged")
        found = preview_of(rig.engine)
        assert not found.is_folder_there
        assert "no other copy" in warning_lines(found)[0]
        assert "not available" in "\n".join(preview_lines(found))
        done = wipe(rig.engine)
    assert done.devices is DevicesTold.UNTOLD
    assert "could not be told" in "\n".join(report_lines(done))


def test_the_keyring_and_what_stands_outside_go_too(rig: Rig) -> None:
    ring, outside = Ring(), Outside()
    rig.engine.close()
    engine = Engine(replace(rig.engine._setup, keyring=ring, registrations=outside))
    try:
        engine.keys.turn_keyring_on(PASSPHRASE).result(60)
        engine.vault.open(PASSPHRASE).result(60)
        assert preview_of(engine).registered == ("/etc/one.json", "/etc/t?wo.json")
        assert not outside.is_removed
        done = wipe(engine)
    finally:
        engine.close()
    assert ring.kept == {}
    assert ring.counters == {}
    assert done.is_keyring_clear
    assert done.registered.left == ("/etc/two.json",)
    text = "\n".join(report_lines(done))
    assert "keyring was removed" in text
    assert "Remove Loci from these files" in text
    assert "could not be read. Remove Loci from them" in text
    assert "/etc/three.json" in text


def test_a_keyring_that_keeps_its_entry_is_told(rig: Rig) -> None:
    ring = Ring()
    rig.engine.close()
    engine = Engine(replace(rig.engine._setup, keyring=ring))
    try:
        engine.keys.turn_keyring_on(PASSPHRASE).result(60)
        ring.cause = KeyringCause.LOCKED
        done = wipe(engine)
    finally:
        engine.close()
    assert done.is_keyring_clear is False
    assert done.is_home_gone
    assert "could not be removed" in "\n".join(report_lines(done))


def test_a_wipe_that_was_interrupted_is_finished_without_the_secret(rig: Rig) -> None:
    rig.engine.close()
    keys = HomeKeys(rig.home)
    mark_home(rig.home, WipeNote(keys.vault_id))
    done = HomeKeys(rig.home).finish_wipe()
    assert done is not None
    assert done.is_home_gone
    assert "interrupted" in "\n".join(report_lines(done))


def test_the_note_of_another_vault_removes_nothing(rig: Rig) -> None:
    rig.store("Ada keeps bees")
    rig.engine.close()
    mark_home(rig.home, WipeNote(bytes(16)))
    assert HomeKeys(rig.home).finish_wipe() is None
    with rig_at(rig.folder) as again:
        assert again.texts() == ["Ada keeps bees"]


def test_reports_hold_no_word_of_a_memory(rig: Rig) -> None:
    rig.store(f"The {WORD} is in the cellar.")
    found = preview_of(rig.engine)
    done = wipe(rig.engine)
    told = json.dumps([preview_lines(found), report_lines(done)])
    assert WORD not in told


def test_the_report_is_saved_for_this_person_alone(rig: Rig, tmp_path: Path) -> None:
    removal = rig.engine.begin_wipe()
    done = removal.run(PASSPHRASE).result(60)
    to = tmp_path / "report.txt"
    removal.save_report(done, to).result(30)
    assert to.stat().st_mode & 0o777 == 0o600
    assert to.read_text(encoding="utf-8").splitlines() == report_lines(done)
