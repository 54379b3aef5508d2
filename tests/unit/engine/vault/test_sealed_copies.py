"""Backups from before a memory was sealed: they are named, rewritten with it sealed, and kept back when looked into."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from engine_rig import PASSPHRASE, Rig, error_of, later, rig_at
from erasing_rig import MARK, TEXT

from core.engine.facade import Home, restore_vault
from core.engine.home.keys import sub_keys
from core.engine.vault import sealed_copies
from core.errors import Code
from core.security.keys import Purpose, RootKey
from core.types.memory import CopiesBeforeSeal, CopyState, ErasureRequest, ErasureSubject
from core.types.values import OWNER_ACTOR
from core.types.views import Revision
from core.vault.backup import OpenedKeys
from core.vault.copies import unpack_copy
from core.vault.database.connections import open_reader
from core.vault.database.pages import PIECE, Fragments, search_pages

SECRET = "a second secret"


def back_up(rig: Rig, to: Path | None = None) -> Path:
    return Path(rig.engine.vault.backup(to).result(60)["path"])


def older(rig: Rig, memory_id: str = "") -> CopiesBeforeSeal:
    return rig.engine.seal.copies.list_older(memory_id).result(30)


def pages_with(rig: Rig, backup: Path, work: Path) -> int:
    """Pages of the database in a backup, decrypted past SQLite, that hold pieces of the planted word."""
    work.mkdir()
    root = RootKey(rig.root, rig.engine.vault_id)
    keys = OpenedKeys(root.vault_id, sub_keys(root), root.derive(Purpose.BACKUP))
    database = unpack_copy(backup, work, keys)
    with closing(open_reader(database, keys.keys.db)) as reader:  # its own key opens it
        assert reader.execute("SELECT count(*) FROM memories").fetchone()[0] > 0
    pieces = {mark[at : at + PIECE].encode() for mark in (MARK, MARK.lower()) for at in range(len(mark) - PIECE + 1)}
    return search_pages(database, keys.keys.db, Fragments(pieces)).found


@pytest.fixture
def secret(rig: Rig) -> str:
    rig.engine.seal.set_up(SECRET).result(30)
    rig.store("Ada keeps bees")
    return rig.store(TEXT * 3, tags=(MARK,)).memory_id


def test_backups_from_before_are_named_and_rewritten_with_the_memory_sealed(
    rig: Rig, secret: str, tmp_path: Path
) -> None:
    rig.recall(TEXT)
    before = back_up(rig)
    assert pages_with(rig, before, tmp_path / "clear") > 0
    assert older(rig) == CopiesBeforeSeal()
    done = rig.engine.seal.seal([secret], "the key").result(30)
    assert done.backups == older(rig).names == older(rig, secret).names == (before.name,)
    assert older(rig, "no such") == CopiesBeforeSeal()
    later(rig)
    rig.engine.seal.open(SECRET).result(30)
    back_up(rig)
    assert older(rig).names == (before.name,)  # a later one never held it

    report = rig.engine.seal.copies.rewrite().result(60)
    assert [(one.name, one.state) for one in report.copies] == [(before.name, CopyState.REWRITTEN)]
    assert (report.away, report.unopened) == ((), 0)
    assert pages_with(rig, before, tmp_path / "pages") == 0
    assert older(rig) == CopiesBeforeSeal()
    assert rig.engine.seal.copies.rewrite().result(60).copies == ()
    assert rig.verify()["status"] == "ok"
    assert MARK not in str(rig.rows("SELECT value FROM settings"))

    os.utime(before, ns=(1, 1))  # another file of that name is asked about again
    assert older(rig).names == (before.name,)
    assert [one.state for one in rig.engine.seal.copies.rewrite().result(60).copies] == [CopyState.CLEAN]


def test_a_rewriting_that_is_stopped_names_what_it_did_not_look_into(rig: Rig, secret: str) -> None:
    before = back_up(rig)
    rig.engine.seal.seal([secret]).result(30)
    report = rig.engine.seal.copies.rewrite(is_cancelled=lambda: True).result(60)
    assert [(one.name, one.state) for one in report.copies] == [(before.name, CopyState.NOT_CHECKED)]
    assert older(rig).names == (before.name,)


def test_with_other_devices_a_backup_newer_than_the_seal_is_looked_into(
    rig: Rig, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.engine.seal.seal([secret]).result(30)
    later(rig)
    made = back_up(rig)
    assert older(rig) == CopiesBeforeSeal()
    monkeypatch.setattr(sealed_copies, "read_state", lambda _: object())
    assert older(rig).names == (made.name,)
    rig.engine.seal.open(SECRET).result(30)
    report = rig.engine.seal.copies.rewrite().result(60)
    assert [(one.name, one.state) for one in report.copies] == [(made.name, CopyState.CLEAN)]
    assert older(rig) == CopiesBeforeSeal()


def test_rewriting_for_an_erasure_keeps_what_is_known_of_seals(rig: Rig, secret: str) -> None:
    gone = rig.store("The spare key is under the third stone").memory_id
    before = back_up(rig)
    made_at = rig.engine.copies.list_copies().result(30)[0].made_at
    rig.engine.seal.seal([secret]).result(30)
    later(rig)
    rig.engine.seal.open(SECRET).result(30)
    rig.engine.seal.copies.rewrite().result(60)
    assert older(rig) == CopiesBeforeSeal()
    later(rig)
    request = ErasureRequest(ErasureSubject.MEMORY, (gone,), whole_chain=True)
    certificate = rig.engine.erasures.erase(request, OWNER_ACTOR).result(60)
    assert older(rig) == CopiesBeforeSeal()
    done = rig.engine.erasures.rewrite_backups(certificate.id).result(60)
    assert [(one.name, one.state) for one in done.copies] == [(before.name, CopyState.REWRITTEN)]
    assert older(rig) == CopiesBeforeSeal()  # a rewritten backup of a rewritten backup
    (line,) = rig.engine.copies.list_copies().result(30)
    assert line.made_at == made_at < line.rewritten_at == rig.clock.now_ms() // 1000 * 1000

    os.utime(before, ns=(1, 1))  # another file of that name is not taken for it
    rig.engine.erasures.rewrite_backups(certificate.id).result(60)
    assert older(rig).names == (before.name,)


def test_an_unnoted_backup_stays_unnoted_when_it_is_rewritten_for_an_erasure(rig: Rig, secret: str) -> None:
    gone = rig.store("The spare key is under the third stone").memory_id
    before = back_up(rig)
    rig.engine.seal.seal([secret]).result(30)
    request = ErasureRequest(ErasureSubject.MEMORY, (gone,), whole_chain=True)
    done = rig.engine.erasures.erase(request, OWNER_ACTOR, rewrites_backups=True).result(60)
    assert [one.state for one in done.copies] == [CopyState.REWRITTEN]
    assert older(rig).names == (before.name,)


def test_restoring_a_rewritten_backup_loses_nothing(rig: Rig, secret: str, tmp_path: Path) -> None:
    before = back_up(rig)
    was = rig.get(secret)
    rig.engine.seal.seal([secret], "the key", "where a key lies").result(30)
    rig.engine.seal.copies.rewrite().result(60)
    root = rig.root
    new = tmp_path / "restored"
    (new / "home").mkdir(parents=True)
    restore_vault(Home(new / "home", reserve_bytes=0), before, PASSPHRASE, rig.clock)
    with rig_at(new, root=root) as again:
        (row,) = again.engine.seal.list_rows().result(30)
        assert (row.id, row.label, row.summary) == (secret, "the key", "where a key lies")
        assert again.verify()["status"] == "ok"
        again.engine.seal.open(SECRET).result(30)
        assert again.engine.seal.read_text(secret).result(30).text == TEXT * 3
        again.engine.seal.unseal([secret]).result(30)
        now = again.get(secret)
        assert (now.text, now.tags, now.space, now.status) == (was.text, was.tags, was.space, was.status)


def test_it_needs_the_key_and_leaves_what_it_may_not_touch(rig: Rig, secret: str) -> None:
    before = back_up(rig)
    bytes_before = before.read_bytes()
    plain = rig.home.backups / "vault-v3-1.db"
    plain.write_bytes(b"no database")
    os.utime(plain, (0, 0))
    rig.engine.seal.seal([secret]).result(30)
    rig.engine.seal.close()
    assert older(rig).names == (before.name, plain.name)
    assert error_of(rig.engine.seal.copies.rewrite()).code is Code.SEALED
    assert before.read_bytes() == bytes_before
    rig.engine.seal.open(SECRET).result(30)
    states = {one.name: one.state for one in rig.engine.seal.copies.rewrite().result(60).copies}
    assert states == {before.name: CopyState.REWRITTEN, plain.name: CopyState.OTHER_KEYS}
    assert older(rig).names == (plain.name,)  # nobody can tell of it


def test_a_backup_elsewhere_is_rewritten_where_it_is_there_and_named_where_not(
    rig: Rig, secret: str, tmp_path: Path
) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    there, away = back_up(rig, stick / "there.tar"), back_up(rig, stick / "away.tar")
    rig.engine.seal.seal([secret]).result(30)
    moved = away.rename(tmp_path / "moved.tar")
    assert older(rig) == CopiesBeforeSeal((str(there),), (str(away),))
    report = rig.engine.seal.copies.rewrite().result(60)
    assert [(one.name, one.state) for one in report.copies] == [(str(there), CopyState.REWRITTEN)]
    assert report.away == (str(away),)
    assert pages_with(rig, there, tmp_path / "pages") == 0
    later(rig)
    rig.engine.seal.open(SECRET).result(30)
    back_up(rig, stick / "younger.tar").unlink()
    assert older(rig) == CopiesBeforeSeal((), (str(away),))  # one made after the seal never held it
    moved.rename(away)
    assert older(rig) == CopiesBeforeSeal((str(away),))
    rig.engine.seal.copies.rewrite().result(60)
    assert older(rig) == CopiesBeforeSeal()


def test_a_backup_that_has_an_older_version_alone_is_rewritten_too(rig: Rig, secret: str, tmp_path: Path) -> None:
    before = back_up(rig)
    newer = rig.engine.library.revise_memories([secret], Revision(text="The key lies elsewhere.")).result(30).ids[0]
    rig.engine.seal.seal([newer]).result(30)
    rig.engine.seal.close()
    contents = rig.engine.copies.find(before.name).result(30)
    assert ([head for _, head in contents.rows], contents.kept_back) == (["Ada keeps bees"], 1)
    rig.engine.seal.open(SECRET).result(30)
    rig.engine.seal.copies.rewrite().result(60)
    assert pages_with(rig, before, tmp_path / "pages") == 0
    rig.engine.seal.unseal([newer]).result(30)
    assert rig.value("SELECT count(*) FROM settings WHERE key GLOB 'sealed_versions:*'") == 0


def test_looking_into_a_backup_keeps_back_what_is_sealed_until_that_is_opened(rig: Rig, secret: str) -> None:
    before = back_up(rig)
    look = rig.engine.copies.find
    assert (look(before.name).result(30).total, look(before.name).result(30).kept_back) == (2, 0)
    rig.engine.seal.seal([secret]).result(30)
    assert look(before.name, MARK).result(30).total == 1  # it is open
    rig.engine.seal.close()
    found, asked = look(before.name).result(30), look(before.name, MARK).result(30)
    assert ([head for _, head in found.rows], found.total, found.kept_back) == (["Ada keeps bees"], 1, 1)
    assert (asked.total, asked.kept_back) == (0, 1)  # whether the words fit is not told
    rig.engine.seal.open(SECRET).result(30)
    assert look(before.name, MARK).result(30).kept_back == 0
