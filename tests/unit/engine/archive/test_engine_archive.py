"""A whole vault in an archive and back: into a new vault, into itself, twice, undone, cut, with a wrong passphrase."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_rig import (
    PASSPHRASE,
    archived_rows,
    export_all,
    golden_rig,
    import_all,
    other_rig,
    preview,
)
from engine_rig import Rig, differences, facts, refused, rig_at, talk

from core.engine.imports.comparison import compare_imported
from core.errors import Code
from core.intake.archive.tables import LEFT_OUT, TABLES
from core.security.passphrase import KdfCost
from core.types.requests import ListRequest, StoreRequest
from core.types.values import OWNER_ACTOR, Kind
from core.types.views import FindRequest
from core.vault.database.tx import Schema

_OF_ITS_VAULT = frozenset({"audit", "clients", "settings", "spaces", "imports"})
_ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rig, Path]]:
    """The golden vault and its archive."""
    folder = tmp_path_factory.mktemp("golden")
    with golden_rig(folder) as rig:
        compare_imported(rig.opened.storage, rig.opened.search)  # what an import does behind itself
        rig.settle()
        yield rig, export_all(rig, folder / "all.loci")


@pytest.fixture
def new(tmp_path: Path) -> Iterator[Rig]:
    with other_rig(tmp_path / "new") as rig:
        yield rig


def test_every_table_is_in_an_archive_or_has_a_reason(golden: tuple[Rig, Path]) -> None:
    tables = golden[0].opened.storage.vault.with_writer(lambda connection: Schema(connection).names)
    assert set(tables) == TABLES.keys() | LEFT_OUT.keys()
    assert not TABLES.keys() & LEFT_OUT.keys()
    order = list(TABLES)
    for name, table in TABLES.items():
        columns = {row[0] for row in golden[0].rows("SELECT name FROM pragma_table_info(?)", name)}
        assert {*table.key, *table.refs, *table.pointers, *table.times, *table.blank} <= columns
        assert all(order.index(parent) <= order.index(name) for parent in table.refs.values())


def test_every_reference_of_the_schema_is_known(golden: tuple[Rig, Path]) -> None:
    for name, table in TABLES.items():
        found: dict[str, str] = dict(golden[0].rows('SELECT "from", "table" FROM pragma_foreign_key_list(?)', name))
        told = {**table.refs, **dict.fromkeys(table.pointers, name)}
        assert {column: parent for column, parent in found.items() if column not in table.blank} == told, name


def test_a_new_vault_becomes_what_the_archive_holds(golden: tuple[Rig, Path], new: Rig) -> None:
    old, path = golden
    rows = archived_rows(old, leave=_OF_ITS_VAULT)
    told = preview(new, path)
    report = import_all(new, path)
    found = archived_rows(new, leave=_OF_ITS_VAULT)
    for table, expected in rows.items():
        if table == "tiers":
            expected = [row for row in expected if row["made_by"] == "model"]
            found[table] = [row for row in found[table] if row["made_by"] == "model"]
        assert found[table] == expected, table
    assert (told.stored, told.conversations) == (report.stored, report.conversations)
    assert report.stored > 0
    assert report.import_id is not None
    assert new.verify()["status"] == "ok"


def test_clients_come_without_their_token_and_are_not_let_in(golden: tuple[Rig, Path], new: Rig) -> None:
    old, path = golden
    import_all(new, path)
    before: dict[str, bytes] = dict(old.rows("SELECT name, token FROM clients"))
    after = {name: (token, revoked) for name, token, revoked in new.rows("SELECT name, token, revoked_at FROM clients")}
    assert before.keys() == after.keys()
    assert all(after[name][0] != token and after[name][1] is not None for name, token in before.items())
    assert new.rows("SELECT * FROM grants") == []


@pytest.mark.slow
def test_options_are_taken_over_by_an_empty_vault_and_by_no_other(tmp_path: Path) -> None:
    with rig_at(tmp_path) as old, other_rig(tmp_path / "new") as new, other_rig(tmp_path / "full") as full:
        old.engine.settings.set_option("undo_days", 11).result(30)
        old.store("Ada lives in Lisbon.", kind=Kind.FACT)
        path = export_all(old, tmp_path / "all.loci")
        full.store("Something else.", kind=Kind.FACT)
        usual = full.opened.options.undo_days
        report = import_all(new, path)
        import_all(full, path)
        assert (new.opened.options.undo_days, full.opened.options.undo_days) == (11, usual)
        new.unimport(report.import_id)
        assert new.opened.options.undo_days == usual


def test_its_own_vault_finds_nothing_new(golden: tuple[Rig, Path]) -> None:
    old, path = golden
    before = old.dump()
    told, report = preview(old, path), import_all(old, path)
    assert (told.stored, report.stored, report.updated) == (0, 0, 0)
    assert set(report.skipped) == {"known"}
    assert differences(before, old.dump()) == {}


def test_twice_is_once(golden: tuple[Rig, Path], new: Rig) -> None:
    import_all(new, golden[1])
    before = new.dump()
    again = import_all(new, golden[1])  # of another vault by now, for this one has memories
    assert again.stored == 0
    assert differences({**before, "clients": []}, {**new.dump(), "clients": []}) == {}


def test_one_undo_takes_all_of_it_back(golden: tuple[Rig, Path], new: Rig) -> None:
    before = new.dump()
    report = import_all(new, golden[1])
    assert differences(before, new.dump())
    undone = new.unimport(report.import_id)
    assert undone.left == ()
    assert differences(before, new.dump()) == {}
    assert new.verify()["status"] == "ok"
    assert import_all(new, golden[1]).stored == report.stored


def test_what_is_missing_comes_back_into_its_own_vault(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.bring([*facts(4), *talk(6)])
        path = export_all(rig, tmp_path / "all.loci")
        rows = archived_rows(rig, leave=_OF_ITS_VAULT)
        rig.unimport(str(rig.value("SELECT id FROM imports")))
        assert rig.texts() == []
        rig.store("Said since.", kind=Kind.FACT)
        report = import_all(rig, path)
        assert (report.stored, report.conversations) == (10, 1)
        found = archived_rows(rig, leave=_OF_ITS_VAULT)
        found["memories"] = [row for row in found["memories"] if row["text"] != "Said since."]
        for name in ("memories", "conversations", "fingerprints"):
            assert found[name] == rows[name]


def test_a_newer_row_takes_the_place_of_an_older_one_and_no_other(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        first = rig.store("Ada lives in Lisbon.", kind=Kind.FACT).memory_id
        other = rig.store("The boat is blue.", kind=Kind.FACT).memory_id
        rig.write(lambda tx: tx.update("memories", {"id": first}, {"last_confirmed_at": tx.now_ms + 5, "pinned": 1}))
        path = export_all(rig, tmp_path / "all.loci")
        rig.write(lambda tx: tx.update("memories", {"id": first}, {"last_confirmed_at": tx.now_ms, "pinned": 0}))
        rig.write(lambda tx: tx.update("memories", {"id": other}, {"last_confirmed_at": tx.now_ms + 9, "pinned": 1}))
        told, report = preview(rig, path), import_all(rig, path)
        assert (told.updated, report.updated, dict(report.skipped)) == (1, 1, {"differs_here": 1})
        assert dict(rig.rows("SELECT id, pinned FROM memories")) == {first: 1, other: 1}
        rig.unimport(report.import_id)
        assert dict(rig.rows("SELECT id, pinned FROM memories")) == {first: 0, other: 1}


def test_what_was_erased_does_not_come_back(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        gone = rig.store("Ada lives in Lisbon.", kind=Kind.FACT).memory_id
        rig.store("The boat is blue.", kind=Kind.FACT)
        path = export_all(rig, tmp_path / "all.loci")
        rig.engine.memories.erase([gone], OWNER_ACTOR).result(30)
        told, report = preview(rig, path), import_all(rig, path)
        assert told.skipped == report.skipped == {"erased": 1, "known": 1}
        assert rig.texts() == ["The boat is blue."]


def test_the_same_words_under_another_id_are_stored_once(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.bring(facts(3))
        path = export_all(rig, tmp_path / "all.loci")
        rig.unimport(str(rig.value("SELECT id FROM imports")))
        rig.bring(facts(2), name="again.jsonl")
        told, report = preview(rig, path), import_all(rig, path)
        assert (told.stored, report.stored) == (1, 1)
        assert report.skipped == {"duplicate_text": 2}
        assert len(rig.texts()) == 3


def test_a_long_text_comes_back_whole(tmp_path: Path, new: Rig) -> None:
    text = " ".join(f"Sentence number {n} about the harbour." for n in range(900))
    with rig_at(tmp_path) as rig:
        rig.store(text, kind=Kind.EPISODE)
        path = export_all(rig, tmp_path / "all.loci")
    assert import_all(new, path).stored == 1
    parts = new.rows("SELECT text FROM memories ORDER BY part_index")
    assert len(parts) > 1
    assert "".join(part for (part,) in parts) == text
    assert new.found("harbour sentence number 7")


def test_a_wrong_passphrase_and_none_are_told_apart(golden: tuple[Rig, Path], new: Rig) -> None:
    before = new.dump()
    for passphrase, code in ((None, Code.IMPORT_SECRET_NEEDED), ("another passphrase", Code.WRONG_SECRET)):
        with refused(code):
            import_all(new, golden[1], passphrase)
        with refused(code):
            preview(new, golden[1], passphrase)
    assert differences(before, new.dump()) == {}


def test_a_cut_archive_brings_nothing(golden: tuple[Rig, Path], new: Rig, tmp_path: Path) -> None:
    whole, before = golden[1].read_bytes(), new.dump()
    for size in range(0, len(whole), 1000):
        path = tmp_path / "cut.loci"
        path.write_bytes(whole[:size])
        with refused(Code.IMPORT_REFUSED):
            import_all(new, path)
    assert differences(before, new.dump()) == {}
    assert new.rows("SELECT id FROM imports") == []


def test_a_short_passphrase_and_a_place_in_the_home_are_refused(golden: tuple[Rig, Path], tmp_path: Path) -> None:
    rig = golden[0]
    with refused(Code.INVALID_INPUT):
        rig.engine.library.export_archive(tmp_path / "a.loci", "elevensigns").result(30)
    with refused(Code.INVALID_INPUT):
        rig.engine.library.export_archive(rig.home.path / "a.loci", PASSPHRASE).result(30)
    assert list(tmp_path.glob("*.loci*")) == []


def test_a_full_disk_leaves_the_older_archive_and_is_audited(golden: tuple[Rig, Path], tmp_path: Path) -> None:
    rig, path = golden[0], tmp_path / "all.loci"
    path.write_bytes(b"the older one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
        with refused(Code.DISK_FULL):
            rig.engine.library.export_archive(path, PASSPHRASE).result(60)
    assert path.read_bytes() == b"the older one"
    assert list(tmp_path.glob(".*")) == []
    last = rig.rows("SELECT detail FROM audit WHERE verb = 'export' ORDER BY nr DESC LIMIT 2")
    assert ['"failed":"E1003"' in detail for (detail,) in last] == [True, False]


def test_a_stopped_export_leaves_no_file(golden: tuple[Rig, Path], tmp_path: Path) -> None:
    with refused(Code.CANCELLED):
        golden[0].engine.library.export_archive(tmp_path / "a", PASSPHRASE, cancelled=lambda: True).result(60)
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_import_leaves_nothing(golden: tuple[Rig, Path], new: Rig) -> None:
    before, seen = new.dump(), iter(range(10_000))
    imports = new.engine.imports

    def stop_while_storing() -> bool:
        next(seen)
        return bool(new.rows("SELECT 1 FROM imports")) and bool(new.rows("SELECT 1 FROM memories"))

    with refused(Code.CANCELLED):
        imports.run(golden[1], None, None, OWNER_ACTOR, cancelled=stop_while_storing, passphrase=PASSPHRASE).result(60)
    assert new.rows("SELECT state FROM imports") == [("undone",)]
    assert differences(before, new.dump()) == {}


def test_the_file_shows_nothing_and_is_the_persons_own(golden: tuple[Rig, Path]) -> None:
    data = golden[1].read_bytes()
    assert golden[1].stat().st_mode & 0o777 == 0o600
    assert all(word not in data for word in (b"Lisbon", b"memories", golden[0].opened.storage.vault.vault_id))


@pytest.mark.starts_process
def test_the_reader_of_the_page_reads_it(golden: tuple[Rig, Path], tmp_path: Path) -> None:
    page = (_ROOT / "docs" / "archive-format.md").read_text(encoding="utf-8")
    program = page.split("```python\n")[1].split("```")[0]
    assert len(program.splitlines()) < 100
    reader, secret = tmp_path / "reader.py", tmp_path / "secret"
    reader.write_text(program, encoding="utf-8")
    secret.write_text(PASSPHRASE + "\n", encoding="utf-8")
    command = [sys.executable, str(reader), str(golden[1]), str(secret)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    texts = {row["text"] for row in rows if row["table"] == "memories"}
    assert texts == {text for (text,) in golden[0].rows("SELECT text FROM memories")}
    tables = set(
        page.split("These are in an archive:")[1].split("Left out")[0].replace("`", " ").replace(",", " ").split()
    )
    assert {row["table"] for row in rows} <= TABLES.keys() <= tables
    (tmp_path / "cut").write_bytes(golden[1].read_bytes()[:-1])
    cut = subprocess.run([*command[:2], str(tmp_path / "cut"), str(secret)], capture_output=True, check=False)
    assert cut.returncode != 0


def test_an_export_is_in_the_audit_and_says_no_place(tmp_path: Path) -> None:
    with rig_at(tmp_path) as rig:
        rig.engine.memories.store(StoreRequest("Ada lives in Lisbon."), OWNER_ACTOR).result(30)
        export_all(rig, tmp_path / "secret-place.loci")
        (begun,), (ended,) = rig.rows("SELECT detail FROM audit WHERE verb = 'export' ORDER BY nr")
        assert begun == (
            '{"cipher":"chacha20-poly1305","format":"encrypted_v1","kdf":"argon2id","memories":1,"rows":0}'
        )
        assert json.loads(ended) == {**json.loads(begun), "outcome": "whole"}


def test_sealed_memories_are_counted_and_stay_sealed(tmp_path: Path) -> None:
    with rig_at(tmp_path / "one") as rig, other_rig(tmp_path / "two", rig.clock) as other:
        rig.store("Ada keeps bees.")
        sealed = rig.store("Ada hides the key in the clock.").memory_id
        rig.engine.seal.set_up("a second secret").result(60)
        rig.engine.seal.seal((sealed,), "where the key is").result(60)
        rig.engine.library.archive_cost = KdfCost.lowest()
        made = rig.engine.library.export_archive(tmp_path / "all.loci", PASSPHRASE).result(60)
        assert (made.memories, made.sealed) == (2, 1)
        shown = other.engine.imports.rehearse(tmp_path / "all.loci", None, OWNER_ACTOR, passphrase=PASSPHRASE).result(
            60
        )
        assert (shown.stored, shown.sealed) == (2, 1)
        done = import_all(other, tmp_path / "all.loci")
        assert (done.stored, done.sealed) == (2, 1)
        assert other.value("SELECT count(*) FROM sealed_memories") == 1
        again = import_all(other, tmp_path / "all.loci")
        assert (again.stored, again.sealed) == (0, 0)


def test_what_an_archive_brought_is_found_counted_and_removed_by_its_import(golden: tuple[Rig, Path], new: Rig) -> None:
    _, path = golden
    report = import_all(new, path)
    assert report.import_id is not None
    shown = new.engine.history.list_imports().result(30)[0]
    assert shown.id == report.import_id
    assert shown.memories == report.stored - report.sealed - _count_forgotten(new)
    found = new.engine.library.find_memories(FindRequest(f"import:{report.import_id}")).result(30)
    standing = new.rows("SELECT id FROM memories WHERE status IN ('active', 'disputed')")
    assert set(found.ids) == {row[0] for row in standing}
    listed = new.engine.memories.list(ListRequest(import_id=report.import_id), OWNER_ACTOR).result(30)
    assert {one.id for one in listed.items} >= set(found.ids)
    new.unimport(report.import_id)
    assert new.rows("SELECT id FROM memories") == []


def _count_forgotten(rig: Rig) -> int:
    return len(rig.rows("SELECT 1 FROM memories WHERE status = 'deleted' AND (part_of IS NULL OR part_index = 0)"))


def test_a_preview_tells_the_people_and_files_that_an_archive_brings(golden: tuple[Rig, Path], new: Rig) -> None:
    old, path = golden
    told = preview(new, path)
    report = import_all(new, path)
    people = "SELECT count(*) FROM entities WHERE type = 'person' AND merged_into_id IS NULL"
    assert told.others["people"] == report.others["people"] == old.rows(people)[0][0]
    assert told.others["files"] == report.others["files"] == old.rows("SELECT count(*) FROM files")[0][0]
    assert told.others["people"] > 0
