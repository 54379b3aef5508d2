"""Erasure certificates: what was done, searched for again in rows, pages, index and copies; rewriting backups."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import belief_rig
import pytest
from engine_rig import PASSPHRASE, Rig, error_of, facts, rig_at
from entity_rig import named
from erasing_rig import MARK, TEXT, traces

from core.config.erasure_wording import certificate_lines
from core.engine.facade import Home, restore_vault
from core.engine.vault import erasures
from core.errors import Code, EnvironmentFaultError
from core.intake.erase import other_holders
from core.intake.erase.certificates import digest_of
from core.types.memory import (
    CopyState,
    ErasureCertificate,
    ErasureRequest,
    ErasureState,
    ErasureSubject,
)
from core.types.recall import ContextQuery
from core.types.values import OWNER_ACTOR, Actor, Kind
from core.vault.copies import known_copies


def erase(rig: Rig, *ids: str, rewrites: bool = False) -> ErasureCertificate:
    request = ErasureRequest(ErasureSubject.MEMORY, ids)
    return rig.engine.erasures.erase(request, rewrites_backups=rewrites).result(60)


def erase_all(rig: Rig, subject: ErasureSubject, name: str) -> ErasureCertificate:
    return rig.engine.erasures.erase(ErasureRequest(subject, (name,))).result(60)


def removed(certificate: ErasureCertificate) -> dict[str, int]:
    return {one.place: one.removed for one in certificate.places if one.removed}


def only_copy(certificate: ErasureCertificate) -> tuple[CopyState, int]:
    ((state, memories),) = [(one.state, one.memories) for one in certificate.copies]
    return state, memories


def stored_text(rig: Rig) -> str:
    return "".join(value for (value,) in rig.rows("SELECT value FROM settings"))


def test_backups_that_were_written_elsewhere_are_named_and_rewritten_or_told_as_away(rig: Rig, tmp_path: Path) -> None:
    gone, later = (str(rig.store(text).memory_id) for text in (TEXT, "The boat is moored in Kappeln"))
    stick = tmp_path / "stick" / "palace-2026"
    stick.parent.mkdir()
    rig.engine.vault.backup(stick).result(60)
    done = erase(rig, gone)
    assert [(one.name, one.state) for one in done.copies] == [(str(stick), CopyState.HOLDS)]
    assert done.state is not ErasureState.ERASED
    done = rig.engine.erasures.rewrite_backups(done.id).result(60)
    assert [(one.name, one.state) for one in done.copies] == [(str(stick), CopyState.REWRITTEN)]
    assert done.state is ErasureState.ERASED
    stick.unlink()
    done = erase(rig, later, rewrites=True)
    assert [(one.name, one.state) for one in done.copies] == [(str(stick), CopyState.NOT_CHECKED)]
    assert done.state is not ErasureState.ERASED


def test_it_tells_every_place_and_holds_no_text(rig: Rig) -> None:
    kept = rig.store("Ada keeps bees").memory_id
    gone = rig.store(TEXT, tags=(MARK,)).memory_id
    belief_rig.claim(rig, gone, "key_of", f"{MARK} third step", MARK)
    belief_rig.item(rig, gone, kept)
    rig.recall(TEXT)
    rig.engine.memories.build_context(ContextQuery("Where is the key of the step?"), OWNER_ACTOR).result(30)
    rig.engine.flush_journal()
    rig.engine.recall_trials.save_probe("Where is the key?", "positive", [gone], 10).result(30)
    done = erase(rig, gone)
    assert traces(rig) == []
    assert done.state is ErasureState.ERASED
    assert done.pages > 50
    assert done.pages_left == 0
    assert done.fragments > 5
    told = removed(done)
    assert {"memories", "embeddings", "memory_fts", "claims", "evidence", "undo_rows", "receipts", "contexts"} <= set(
        told
    )
    assert told["index"] == told["embeddings"] == told["memories"] == 1
    assert gone in done.ids
    assert set(done.not_checked) == {"copies_elsewhere", "file_system", "process_memory"}
    assert MARK.lower() not in json.dumps(done.as_json()).lower()
    assert MARK.lower() not in stored_text(rig).lower()
    assert rig.verify()["status"] == "ok"


def test_it_names_who_else_has_the_same_words_or_the_same_number(rig: Rig) -> None:
    card = "Card for the boatyard: 4111 1111 1111 1111"
    gone = rig.store(card).memory_id
    dashed = rig.store("She pays with 4111-1111-1111-1111 at the yard", kind=Kind.EPISODE).memory_id
    rig.store("Another one: 5500 0000 0000 0004")
    rig.store("The yard has 4111 boats")
    rig.store("Ada keeps bees")
    done = erase(rig, gone)
    assert (done.holders, done.holder_ids) == (1, (dashed,))
    assert "4111" not in json.dumps(done.as_json())
    said = "\n".join(certificate_lines({**done.as_json(), "is_authentic": True}, "now"))
    assert f"1 other memory says the same, or has the same number, and stays: {dashed[-8:]}." in said
    again = rig.engine.erasures.read_certificate(done.id).result(30)
    assert (again, again.is_authentic) == (done, True)
    alone = erase(rig, dashed)
    assert (alone.holders, "holders" in alone.as_json()) == (0, False)


def test_it_says_where_so_much_went_that_not_every_number_was_looked_for(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_holders, "_MOST_TEXTS", 1)
    gone = [rig.store(f"Note {at}: 4111 1111 1111 1111").memory_id for at in range(2)]
    stays = rig.store("She pays with 4111-1111-1111-1111 at the yard", kind=Kind.EPISODE).memory_id
    done = erase(rig, *gone)
    assert ("other_numbers" in done.not_checked, done.holder_ids) == (True, (stays,))


def test_it_is_read_later_and_a_change_of_it_is_told(rig: Rig) -> None:
    done = erase(rig, rig.store(TEXT).memory_id)
    again = rig.engine.erasures.read_certificate(done.id[-8:]).result(30)
    assert again == done
    assert again.is_authentic
    assert done.digest == digest_of(done)
    (line,) = rig.engine.erasures.list_certificates().result(30)
    assert (line.id, line.memories, line.state) == (done.id, 1, ErasureState.ERASED)
    audited = rig.rows("SELECT detail FROM audit WHERE object = ? ORDER BY nr DESC LIMIT 1", done.id)
    assert json.loads(audited[0][0])["digest"] == done.digest
    rig.write(
        lambda tx: tx.run(
            "UPDATE settings SET value = json_set(value, '$.memories', 7) WHERE key GLOB 'erasure_certificate:*'"
        )
    )
    assert rig.engine.erasures.read_certificate(done.id).result(30).is_authentic is False
    assert error_of(rig.engine.erasures.read_certificate("nothing")).code is Code.NOT_FOUND


def test_a_remnant_in_a_row_is_found(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    rig.write(
        lambda tx: tx.run("INSERT INTO settings (key, value, changed_at) VALUES ('note', ?, 0)", (json.dumps(TEXT),))
    )
    done = erase(rig, gone)
    assert done.state is ErasureState.LEFT_OVER
    assert {one.place: one.left for one in done.places if one.left} == {"settings": 1}


def test_a_remnant_in_a_free_page_is_found(rig: Rig) -> None:
    filler = f"{TEXT} " * 4
    vault = rig.opened.storage.vault

    def leave_behind(connection: object) -> None:
        def run(sql: str, values: tuple[str, ...] = ()) -> None:
            connection.execute(sql, values).fetchall()  # type: ignore[attr-defined]

        run("PRAGMA secure_delete = OFF")
        run("CREATE TABLE gone (text TEXT)")
        for _ in range(200):
            run("INSERT INTO gone VALUES (?)", (filler,))
        run("DROP TABLE gone")
        run("PRAGMA secure_delete = ON")

    gone = rig.store(TEXT).memory_id
    vault.with_writer(leave_behind)
    done = erase(rig, gone)
    assert done.state is ErasureState.LEFT_OVER
    assert done.pages_left > 0
    assert not any(one.left for one in done.places)


def test_words_that_stay_elsewhere_are_no_remnant(rig: Rig) -> None:
    rig.store(f"Ada says: {TEXT}")
    rig.store("The third step is loose.")
    done = erase(rig, rig.store(TEXT).memory_id)
    assert done.state is ErasureState.ERASED
    assert {one.place: one.words for one in done.places if one.words}["memories"] == 2
    assert rig.engine.memories.erase_preview([]).result(30).memories == 0


def test_where_there_is_no_room_for_the_search_it_says_so(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

    gone = rig.store(TEXT).memory_id
    monkeypatch.setattr(erasures, "copy_under_key", full)
    done = erase(rig, gone)
    assert traces(rig) == []
    assert (done.state, done.pages) == (ErasureState.NOT_CHECKED, 0)
    assert "pages" in done.not_checked


def test_a_missing_backup_folder_is_no_obstacle(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    rig.home.backups.rmdir()
    assert erase(rig, gone).state is ErasureState.ERASED


def test_a_backup_that_holds_it_is_named_and_rewritten(rig: Rig) -> None:
    gone, kept = rig.store(TEXT).memory_id, rig.store("Ada keeps bees").memory_id
    rig.engine.vault.backup().result(60)
    done = erase(rig, gone)
    assert done.state is ErasureState.HELD_BY_BACKUPS
    assert only_copy(done) == (CopyState.HOLDS, 1)
    again = rig.engine.erasures.rewrite_backups(done.id).result(60)
    assert again.state is ErasureState.ERASED
    assert only_copy(again) == (CopyState.REWRITTEN, 0)
    assert again.is_authentic
    assert rig.engine.erasures.read_certificate(done.id).result(30) == again
    (backup,) = known_copies(rig.home)
    with tarfile.open(backup) as tar:
        assert tar.getnames() == ["manifest.json", "vault.keys", "vault.db"]
    assert [one.name for one in rig.home.backups.iterdir()] == [backup.name]
    restore_vault(Home(rig.folder / "restored" / "home"), backup, PASSPHRASE, rig.clock)
    with rig_at(rig.folder / "restored") as restored:
        assert restored.texts(None) == ["Ada keeps bees"]
        assert restored.verify()["status"] == "ok"
        assert error_of(restored.engine.memories.get(gone, OWNER_ACTOR)).code is Code.NOT_FOUND
        assert restored.engine.memories.get(kept, OWNER_ACTOR).result(30).text == "Ada keeps bees"


def test_backups_are_rewritten_with_the_erasure_where_that_is_asked(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    rig.engine.vault.backup().result(60)
    done = erase(rig, gone, rewrites=True)
    assert (done.state, only_copy(done)[0]) == (ErasureState.ERASED, CopyState.REWRITTEN)


def test_a_damaged_backup_may_hold_it(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    path = Path(rig.engine.vault.backup().result(60)["path"])
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    done = erase(rig, gone, rewrites=True)
    assert (done.state, only_copy(done)[0]) == (ErasureState.HELD_BY_BACKUPS, CopyState.DAMAGED)
    assert path.read_bytes() == bytes(raw)


def test_a_backup_of_other_keys_may_hold_it(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    path = Path(rig.engine.vault.backup().result(60)["path"])
    before = path.read_bytes()
    rig.engine.keys.rotate(rig.engine.keys.prepare_rotation(PASSPHRASE).result(60)).result(120)
    done = erase(rig, gone, rewrites=True)
    assert (done.state, only_copy(done)[0]) == (ErasureState.HELD_BY_BACKUPS, CopyState.OTHER_KEYS)
    assert path.read_bytes() == before
    said = "\n".join(certificate_lines({**done.as_json(), "is_authentic": True}, "now"))
    assert "cannot be rewritten" in said
    assert "delete the file; `loci backup` makes a new one" in said


def test_a_log_that_was_set_aside_is_told(rig: Rig) -> None:
    gone = rig.store(TEXT).memory_id
    (rig.home.backups / "damaged.wal").write_bytes(b"log")
    assert "other_files" in erase(rig, gone).not_checked


def test_a_backup_without_it_is_clean(rig: Rig) -> None:
    rig.engine.vault.backup().result(60)
    done = erase(rig, rig.store(TEXT).memory_id)
    assert (done.state, only_copy(done)) == (ErasureState.ERASED, (CopyState.CLEAN, 0))


def test_a_process_that_ends_behind_the_transaction_leaves_a_certificate(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: object) -> None:
        raise KeyboardInterrupt

    gone = rig.store(TEXT).memory_id
    monkeypatch.setattr(erasures, "_check_erasure", end)
    with pytest.raises(KeyboardInterrupt):
        erase(rig, gone)
    (line,) = rig.engine.erasures.list_certificates().result(30)
    found = rig.engine.erasures.read_certificate(line.id).result(30)
    assert found.not_checked == ("interrupted",)
    assert found.state is ErasureState.NOT_CHECKED
    assert found.is_authentic
    assert traces(rig) == []


def test_all_about_an_entity_goes_with_the_entity(rig: Rig) -> None:
    kept = rig.store("Ada keeps bees").memory_id
    for number in range(3):
        named(rig, f"Grace Hopper wrote compiler number {number}.", "Grace Hopper")
    entity = str(rig.value("SELECT id FROM entities"))
    request = ErasureRequest(ErasureSubject.ENTITY, (entity,))
    told = rig.engine.erasures.preview(request).result(30)
    assert (told.memories, dict(told.kinds), told.entities) == (3, {"fact": 3}, 1)
    assert rig.engine.erasures.find_subject(ErasureSubject.ENTITY, "grace hopper").result(30) == (entity,)
    done = erase_all(rig, ErasureSubject.ENTITY, entity)
    assert (done.memories, done.subject, done.subject_id) == (3, ErasureSubject.ENTITY, entity)
    assert rig.rows("SELECT id FROM entities WHERE id = ?", entity) == []
    assert traces(rig, "hopper") == []
    assert [row[0] for row in rig.rows("SELECT id FROM memories")] == [kept]
    assert error_of(rig.engine.erasures.preview(request)).code is Code.NOT_FOUND


def test_all_of_an_import_goes_and_does_not_come_back(rig: Rig) -> None:
    kept = rig.store("Ada keeps bees").memory_id
    brought = rig.bring(facts(5))
    assert brought.import_id is not None
    done = erase_all(rig, ErasureSubject.IMPORT, brought.import_id)
    assert done.memories == 5
    assert [row[0] for row in rig.rows("SELECT id FROM memories")] == [kept]
    assert rig.rows("SELECT label, location, fingerprint, state FROM imports") == [("erased", "", "", "undone")]
    assert rig.bring(facts(5)).stored == 0
    assert done.state is ErasureState.ERASED


def test_all_from_a_client_goes(rig: Rig) -> None:
    bot = rig.client("bot", "read", "write")
    kept = rig.store("Ada keeps bees").memory_id
    rig.store(TEXT, actor=bot)
    (client,) = rig.engine.erasures.find_subject(ErasureSubject.CLIENT, "bot").result(30)
    assert erase_all(rig, ErasureSubject.CLIENT, client).memories == 1
    assert [row[0] for row in rig.rows("SELECT id FROM memories")] == [kept]


def test_only_the_owner_erases_and_a_cancelled_call_erases_nothing(rig: Rig) -> None:
    bot: Actor = rig.client("bot", "read", "write")
    gone = rig.store(TEXT).memory_id
    request = ErasureRequest(ErasureSubject.MEMORY, (gone,))
    assert error_of(rig.engine.erasures.erase(request, bot)).code is Code.ACCESS_DENIED
    stopped = rig.engine.erasures.erase(request, is_cancelled=lambda: True)
    assert error_of(stopped).code is Code.CANCELLED
    assert rig.texts(None) == [TEXT]
    assert rig.engine.erasures.list_certificates().result(30) == ()


def test_questions_that_looked_for_a_leaked_number_go_with_it(rig: Rig) -> None:
    gone = rig.store("The boatyard is called under +44 20 7946 0958.").memory_id
    rig.store("Ada keeps bees")
    rig.recall("Is 0044 20-7946-0958 or +44 2079460958 anywhere?")
    rig.recall("What does the boatyard take?")
    rig.recall("Who keeps bees?")
    rig.engine.flush_journal()
    rig.engine.recall_trials.save_probe("Whose is +44 20 7946 0958?", "negative", [], 10).result(30)
    assert len(traces(rig, "7946")) > 2
    erase(rig, gone)
    kept = [str(query) for (query,) in rig.rows("SELECT query FROM receipts WHERE query IS NOT NULL ORDER BY id")]
    assert kept == ["Who keeps bees?"]
    assert (traces(rig, "7946"), traces(rig, "boatyard"), rig.rows("SELECT query FROM probes")) == ([], [], [])


def test_a_question_that_has_a_confidential_number_is_kept_without_it(rig: Rig) -> None:
    gone = rig.store("Card for the boatyard: 4111 1111 1111 1111").memory_id
    rig.recall("Is 4111-1111-1111-1111 anywhere?")
    erase(rig, gone)
    rig.recall("Is 4111-1111-1111-1111 gone, with 5 others?")
    rig.engine.flush_journal()
    assert traces(rig, "1111") == []
    asked = [str(query) for (query,) in rig.rows("SELECT query FROM receipts WHERE query IS NOT NULL ORDER BY id")]
    assert asked[-1] == "Is ••••-••••-••••-•••• gone, with 5 others?"
