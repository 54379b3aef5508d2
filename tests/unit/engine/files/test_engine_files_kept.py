"""Files where a vault is sealed, archived, backed up, checked, cleared of what expired, or killed."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from archive_rig import export_all, import_all, other_rig
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from engine_rig import PASSPHRASE, Rig, differences, later, refused, rig_at
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from core.archive.chunks import CHUNK
from core.engine.facade import restore_vault
from core.engine.runtime.expiry import delete_expired
from core.engine.vault import sealed_files
from core.errors import Code, LociError
from core.intake.archive.foreign_rows import ForeignOrigin, adapt_foreign_row
from core.intake.store.attachment import FileToAttach, ReadText, compose_text
from core.memory.stored_files import (
    StoredContent,
    read_content,
    remove_unheld,
    require_content,
    seal_content,
    store_content,
)
from core.types.files.attachments import AttachReply, ViewMethod
from core.types.memory import ErasureRequest, ErasureState, ErasureSubject
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows

MARK = "Stechpalmenweg 14"
CONTENT = seal_content("01890a5d-ac96-774b-bcce-b302099a8057", b"x")
IDS = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


def attach(rig: Rig, name: str, data: bytes, **more: Any) -> AttachReply:
    path = rig.folder / name
    path.write_bytes(data)
    return rig.engine.files.attach(path, OWNER_ACTOR, **more).result(60)


def content_of(rig: Rig, file_id: str) -> bytes:
    return rig.engine.files.read_bytes(file_id).result(60)


def note(size: int = 200_000) -> bytes:
    return (f"The key lies under the stone at {MARK}. " + "Nothing more is said of it here. " * (size // 33)).encode()


def test_a_sealed_file_opens_with_its_own_key_alone_and_comes_back(rig: Rig) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    reply = attach(rig, "key.txt", note(), caption="Where it lies")
    before = {name: rig.dump()[name] for name in ("files", "file_views", "stored_files", "stored_chunks")}
    rig.engine.seal.seal((reply.memory_id,), "a file").result(30)
    assert rig.rows("SELECT id FROM stored_files") == []
    assert rig.value("SELECT count(*) FROM stored_chunks") > 1
    with refused(Code.NOT_FOUND):
        content_of(rig, reply.file.id)
    assert rig.write(remove_unheld) == ()
    (file,) = rig.engine.seal.files.list_files(reply.memory_id).result(30)
    assert (file.name, file.digest) == ("key.txt", reply.file.digest)
    assert rig.engine.seal.files.read_file(reply.memory_id, file.id).result(30) == note()
    rig.engine.seal.close()
    with refused(Code.SEALED):
        rig.engine.seal.files.read_file(reply.memory_id, file.id).result(30)
    rig.engine.seal.open("a second secret").result(30)
    rig.engine.seal.unseal((reply.memory_id,)).result(30)
    assert {name: rig.dump()[name] for name in before} == before
    assert content_of(rig, reply.file.id) == note()
    assert rig.engine.vault.verify(deep=True).result(60)["checks"]["files"]["status"] == "ok"
    rig.engine.seal.seal((reply.memory_id,), "a file").result(30)
    rig.engine.seal.discard((reply.memory_id,)).result(30)
    assert rig.value("SELECT count(*) FROM stored_chunks") == 0


def test_reading_a_sealed_file_holds_up_no_writer_and_is_audited_before_it_is_given_out(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    reply = attach(rig, "key.txt", note(), caption="Where it lies")
    rig.engine.seal.seal((reply.memory_id,), "a file").result(30)
    (file,) = rig.engine.seal.files.list_files(reply.memory_id).result(30)
    is_reading, may_go_on = threading.Event(), threading.Event()

    def read_slowly(rows: Rows, content: StoredContent) -> Iterator[bytes]:
        is_reading.set()
        assert may_go_on.wait(30)
        yield from read_content(rows, content)

    monkeypatch.setattr(sealed_files, "read_content", read_slowly)
    reading = rig.engine.seal.files.read_file(reply.memory_id, file.id)
    assert is_reading.wait(30)
    rig.store("Ada keeps bees")  # written while the file is decrypted
    lines = "SELECT count(*) FROM audit WHERE verb = 'read_sealed'"
    assert (reading.done(), rig.value(lines)) == (False, 0)
    may_go_on.set()
    assert reading.result(30) == note()
    assert rig.value(lines) == 1
    copy = rig.engine.seal.files.save_file(reply.memory_id, file.id, rig.folder / "copy.txt").result(30)
    assert (copy.read_bytes(), rig.value(lines)) == (note(), 2)


def test_the_same_bytes_attached_anew_while_they_are_sealed_are_one_content_afterwards(rig: Rig) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    first = attach(rig, "key.txt", note(), caption="first")
    rig.engine.seal.seal((first.memory_id,), "a file").result(30)
    second = attach(rig, "key.txt", note(), caption="second")
    rig.engine.seal.unseal((first.memory_id,)).result(30)
    assert rig.value("SELECT count(*) FROM stored_files") == 1
    assert content_of(rig, first.file.id) == content_of(rig, second.file.id) == note()
    assert rig.value("SELECT count(DISTINCT file_id) FROM stored_chunks") == 1


def test_what_was_sealed_comes_back_beside_a_content_that_only_claims_to_be_it(rig: Rig) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    first = attach(rig, "key.txt", note(), caption="first")
    rig.engine.seal.seal((first.memory_id,), "a file").result(30)
    attach(rig, "key.txt", note(), caption="second")
    rig.write(lambda tx: tx.run("UPDATE stored_files SET key = zeroblob(32)"))
    rig.engine.seal.unseal((first.memory_id,)).result(30)
    assert content_of(rig, first.file.id) == note()


def test_what_is_stored_anew_opens_for_a_sealed_memory_of_the_same_bytes(rig: Rig) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    first = attach(rig, "key.txt", note(), caption="first")
    second = attach(rig, "key.txt", note(), caption="second")
    rig.engine.seal.seal((first.memory_id,), "a file").result(30)
    rig.write(lambda tx: tx.run("UPDATE stored_chunks SET body = zeroblob(100) WHERE nr = 1"))
    assert attach(rig, "key.txt", note(), caption="second").deduplicated
    rig.engine.memories.erase([second.memory_id], OWNER_ACTOR).result(30)
    assert rig.engine.seal.files.read_file(first.memory_id, first.file.id).result(30) == note()
    rig.engine.seal.unseal((first.memory_id,)).result(30)
    assert content_of(rig, first.file.id) == note()


def test_what_is_on_another_device_is_neither_sealed_nor_put_back_here(rig: Rig) -> None:
    rig.engine.seal.set_up("a second secret").result(30)
    reply = attach(rig, "key.txt", note())
    rig.engine.seal.seal((reply.memory_id,), "a file").result(30)
    rig.write(lambda tx: tx.run("DELETE FROM stored_chunks"))
    with refused(Code.INVALID_INPUT):
        rig.engine.seal.unseal((reply.memory_id,)).result(30)
    other = attach(rig, "other.txt", b"Another file altogether")
    rig.write(
        lambda tx: (tx.delete("file_views", {"file_id": other.file.id}), tx.delete("files", {"id": other.file.id}))
    )
    with refused(Code.INVALID_INPUT):
        rig.engine.seal.seal((other.memory_id,), "a file").result(30)


def test_an_erasure_finds_nothing_of_a_file_and_names_its_places(rig: Rig) -> None:
    kept = attach(rig, "kept.txt", b"Tea at six in the kitchen")
    reply = attach(rig, "key.txt", note())
    rig.engine.vault.backup().result(60)
    rig.undo(rig.engine.memories.forget(reply.memory_id, OWNER_ACTOR).result(30))
    request = ErasureRequest(ErasureSubject.MEMORY, (reply.memory_id,))
    done = rig.engine.erasures.erase(request, rewrites_backups=True).result(120)
    assert done.state in (ErasureState.ERASED, ErasureState.NOT_CHECKED), done
    assert {"files", "file_views", "stored_files"} <= {one.place for one in done.places}
    assert done.pages_left == 0
    assert content_of(rig, kept.file.id) == b"Tea at six in the kitchen"
    dump = rig.dump()
    for table in ("files", "file_views", "stored_files"):
        assert len(dump[table]) == 1
    assert MARK not in repr(dump)


def test_what_was_taken_back_goes_with_its_step_and_not_before(rig: Rig) -> None:
    reply = attach(rig, "key.txt", note())
    undone = rig.undo()
    rig.write(remove_unheld)
    assert rig.value("SELECT count(*) FROM stored_chunks") > 0
    rig.undo(undone.undo_step_id)
    assert content_of(rig, reply.file.id) == note()
    rig.undo()
    later(rig, 400)
    rig.opened.tidied_at = None
    for _ in range(4):
        later(rig, 1)
        rig.opened.tidied_at = None
        delete_expired(rig.opened)
    assert rig.value("SELECT count(*) FROM undo_rows WHERE tbl = 'files'") == 0
    assert rig.value("SELECT count(*) FROM stored_chunks") == 0


def test_an_archive_holds_files_for_a_new_vault_and_for_whoever_reads_the_page(rig: Rig, tmp_path: Path) -> None:
    target = io.BytesIO()
    Image.new("RGB", (300, 300), (3, 90, 60)).save(target, "PNG")
    picture = attach(rig, "wall.png", target.getvalue(), caption="The kitchen wall")
    reply = attach(rig, "key.txt", note())
    archive = export_all(rig, tmp_path / "all.loci")
    (tmp_path / "new").mkdir()
    with other_rig(tmp_path / "new" / "rig") as new:
        import_all(new, archive)
        assert content_of(new, reply.file.id) == note()
        assert new.engine.files.read_info(picture.file.id).result(30) == picture.file
        key, stored = new.rows("SELECT key, id FROM stored_files WHERE digest = ?", hashlib.sha256(note()).digest())[0]
        bodies = [row[0] for row in new.rows("SELECT body FROM stored_chunks WHERE file_id = ? ORDER BY nr", stored)]
        opened = [
            ChaCha20Poly1305(key).decrypt(
                nr.to_bytes(11, "big") + bytes([nr == len(bodies) - 1]), body, b"loci-file-v1:" + stored.encode()
            )
            for nr, body in enumerate(bodies)
        ]
        assert b"".join(opened) == note()
        attach(new, "own.txt", b"Something of this vault's own")
        assert import_all(new, archive).stored == 0
    with other_rig(tmp_path / "third") as third:
        attach(third, "copy.txt", note(), caption="the same bytes")
        import_all(third, archive)
        assert content_of(third, reply.file.id) == note()
        assert third.value("SELECT count(*) FROM stored_files WHERE size = ?", len(note())) == 1
        assert third.engine.files.read_thumbnail(picture.file.id).result(30) is None
        assert attach(third, "key.txt", note()).operation == "ADD"
        assert attach(third, "key.txt", note()).operation == "NOOP"


def test_chunks_of_another_vault_come_with_their_content_alone(rig: Rig, tmp_path: Path) -> None:
    reply = attach(rig, "key.txt", note())
    rig.write(lambda tx: tx.run("INSERT INTO stored_chunks (file_id, nr, body) VALUES ('stray', 0, x'00')"))
    archive = export_all(rig, tmp_path / "all.loci")
    with other_rig(tmp_path / "other") as other:
        attach(other, "own.txt", b"Something of this vault's own")
        import_all(other, archive)
        assert content_of(other, reply.file.id) == note()
        assert other.engine.vault.verify(deep=True).result(60)["checks"]["files"]["status"] == "ok"


def test_what_was_erased_does_not_come_back_with_an_archive_of_before(rig: Rig, tmp_path: Path) -> None:
    reply = attach(rig, "key.txt", note())
    archive = export_all(rig, tmp_path / "all.loci")
    rig.engine.memories.erase([reply.memory_id], OWNER_ACTOR).result(30)
    import_all(rig, archive)
    for table in ("files", "file_views", "stored_files", "stored_chunks"):
        assert rig.value(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608 - constants


def test_a_page_that_lies_in_several_parts_is_one_stretch_of_what_was_read(rig: Rig) -> None:
    reply = attach(rig, "key.txt", note(), caption="Where it lies")
    (caption, text) = rig.engine.files.read_views(reply.file.id).result(30)
    assert rig.value("SELECT count(*) FROM memories WHERE part_of = ?", reply.memory_id) > 2
    assert caption.pages == ((None, 0, len("Where it lies")),)
    assert text.pages == ((None, 0, len(text.text)),)


@pytest.mark.parametrize("name", ["x" * 251 + ".txt", "漢" * 83 + ".txt"])
def test_a_name_as_long_as_the_system_allows_is_saved_again(rig: Rig, tmp_path: Path, name: str) -> None:
    reply = attach(rig, name, note())
    (tmp_path / "out").mkdir()
    saved = rig.engine.files.save_to(reply.file.id, tmp_path / "out").result(30)
    assert (saved.name, saved.read_bytes()) == (name, note())


def test_a_damaged_content_is_found_and_healed_by_attaching_it_again(rig: Rig) -> None:
    reply = attach(rig, "key.txt", note())
    rig.write(lambda tx: tx.run("UPDATE stored_chunks SET body = zeroblob(100) WHERE nr = 1"))
    with refused(Code.ENCRYPTION_FAILED):
        content_of(rig, reply.file.id)
    check = rig.engine.vault.verify(deep=True).result(60)["checks"]["files"]
    assert (check["status"], check["note"]) == ("failed", "1 damaged, 0 without content, 0 of nobody")
    assert attach(rig, "key.txt", note()).deduplicated
    assert content_of(rig, reply.file.id) == note()
    rig.write(lambda tx: tx.run("INSERT INTO stored_chunks (file_id, nr, body) VALUES ('stray', 0, x'00')"))
    assert rig.engine.vault.verify(deep=True).result(60)["checks"]["files"]["note"].endswith("1 of nobody")


def test_other_keys_of_the_vault_and_a_restored_backup_have_the_files(rig: Rig) -> None:
    reply = attach(rig, "key.txt", note())
    backup = Path(rig.engine.vault.backup().result(60)["path"])
    code = rig.engine.keys.prepare_rotation(PASSPHRASE).result(60)
    assert rig.engine.keys.rotate(code).result(120) is not None
    assert content_of(rig, reply.file.id) == note()
    rig.engine.memories.erase([reply.memory_id], OWNER_ACTOR).result(60)
    rig.engine.close()
    restore_vault(rig.home, backup, PASSPHRASE, rig.clock)
    with rig_at(rig.folder) as again:
        assert content_of(again, reply.file.id) == note()


def test_a_full_or_failing_write_leaves_no_bytes_behind(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rig.dump()

    def fail(*_given: object, **_more: object) -> None:
        raise LociError(Code.DISK_FULL, "The disk is full.")

    monkeypatch.setattr("core.intake.store.attachment.insert_file", fail)
    with refused(Code.DISK_FULL):
        attach(rig, "key.txt", note())
    assert differences(before, rig.dump()) == {}


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from([1, 15, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 5 * CHUNK + 7]) | st.integers(1, 4 * CHUNK),
    seed=st.integers(0, 255),
)
def test_any_content_comes_back_and_no_part_of_it_can_be_moved(shared: Rig, size: int, seed: int) -> None:
    data = hashlib.shake_256(bytes([seed])).digest(size)
    content = seal_content(shared.opened.storage.make_id(), data)
    stored = shared.write(lambda tx: store_content(tx, content, None))

    def read() -> bytes:
        return shared.opened.storage.vault.read(
            lambda rows: b"".join(read_content(rows, require_content(rows, stored)))
        )

    assert read() == data
    count = shared.value("SELECT count(*) FROM stored_chunks WHERE file_id = ?", stored)
    assert count == max(1, -(-size // CHUNK))
    last = "DELETE FROM stored_chunks WHERE file_id = ? AND nr = ?"
    shared.write(lambda tx: tx.run(last, (stored, count - 1)))
    with refused(Code.ENCRYPTION_FAILED):
        read()
    shared.write(remove_unheld)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig_at(tmp_path_factory.mktemp("shared")) as made:
        yield made


PAGES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9_000))


@settings(max_examples=60, deadline=None)
@given(caption=st.text("ab \n.", max_size=40), pages=PAGES, is_paged=st.booleans())
def test_every_region_says_the_same_in_the_file_and_in_the_memory(
    caption: str, pages: list[str], is_paged: bool
) -> None:
    read = [ReadText(ViewMethod.CAPTION, ((None, caption),))] if caption else []
    numbered = tuple((number if is_paged else None, text) for number, text in enumerate(pages, 1))
    read += [ReadText(ViewMethod.PDF_TEXT, numbered)] if pages else []
    file = FileToAttach(name="a.pdf", media_type="application/pdf", content=CONTENT, caption=caption, read=tuple(read))
    composed = compose_text(file)
    assert all(len(part.encode()) <= 8 * 1024 for part in composed.parts)
    assert composed.text == ("\n\n".join([*([caption] if caption else []), *pages]) or "a.pdf")
    for view in composed.views:
        covered = 0
        for region in view.regions:
            length = region.end - region.start
            assert view.text[region.start : region.end] == composed.parts[region.part][region.at : region.at + length]
            covered += length
        assert covered == sum(len(text) for text in (pages if view.method is ViewMethod.PDF_TEXT else [caption]))


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=2), inner, min_size=5, max_size=5),
    max_leaves=20,
)


@given(regions=JSONISH, text=st.text(max_size=30))
def test_a_view_of_another_vault_comes_only_with_regions_that_lie_in_it(regions: object, text: str) -> None:
    origin = ForeignOrigin("f" * 32, "client", "import", "space")
    row = {"id": IDS, "text": text, "regions": json.dumps(regions)}
    adapted = adapt_foreign_row("file_views", row, origin, 1)
    if adapted is not None:
        for page, start, end, part, at in json.loads(str(adapted["regions"])):
            assert page is None or isinstance(page, int)
            assert 0 <= start <= end <= len(text)
            assert min(part, at) >= 0


@pytest.mark.parametrize("caption", ["a\0b", "x" * 9_000, 7, None])
def test_a_file_of_another_vault_with_a_caption_that_is_none_stays_outside(caption: object) -> None:
    origin = ForeignOrigin("f" * 32, "client", "import", "space")
    row = {"id": IDS, "name": "a.pdf", "media_type": "application/pdf", "caption": "The flat", "attached_at": 1}
    assert adapt_foreign_row("files", row, origin, 1) == row
    assert adapt_foreign_row("files", {**row, "attached_at": 2**62}, origin, 1) == row
    assert adapt_foreign_row("files", {**row, "caption": caption}, origin, 1) is None
    content = {"id": IDS, "thumbnail": b"not drawn here"}
    assert adapt_foreign_row("stored_files", content, origin, 1) == {"id": IDS, "thumbnail": None}
