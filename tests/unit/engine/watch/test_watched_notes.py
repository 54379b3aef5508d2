"""Notes of a watched folder: new ones come, edits become versions, moves go on, deletions are asked about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, refused, rig_at
from watch_rig import WrittenFolder, entries, gone, look, watch

from core.errors import Code
from core.types.folders.watch import GoneChoice, WatchState
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Actor
from core.types.views import Revision


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


@pytest.fixture
def notes(tmp_path: Path) -> WrittenFolder:
    root = tmp_path / "notes"
    root.mkdir()
    return WrittenFolder(root)


def test_what_is_there_comes_when_a_folder_is_added(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    notes.write("deep/two.md", "The boat is moored at Askøy.")
    notes.write("picture.png", b"\x89PNG")
    folder = watch(rig, notes.root, "markdown", "harbour")
    assert sorted(rig.texts()) == ["The boat is moored at Askøy.", "The ferry leaves at seven."]
    assert (folder.files, folder.memories, folder.asked) == (2, 2, 0)
    assert folder.space == "harbour"
    assert [(one.event, dict(one.counts)) for one in entries(rig, folder.id)] == [
        ("added", {}),
        ("came", {"files": 2, "new": 2}),
    ]


def test_a_second_look_brings_nothing(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    folder = watch(rig, notes.root, "markdown")
    before = rig.dump()
    look(rig)
    assert rig.dump() == before
    notes.age(notes.root / "one.md")  # written anew with the same words
    look(rig)
    assert rig.texts() == ["The ferry leaves at seven."]
    assert len(entries(rig, folder.id)) == 2


def test_an_edit_becomes_the_next_version_and_can_be_taken_back(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    folder = watch(rig, notes.root, "markdown")
    (first,) = rig.engine.memories.list(ListRequest(), OWNER_ACTOR).result(30).items
    rig.engine.library.revise_memories([first.id], Revision(pinned=True, category="boat")).result(30)
    notes.write("one.md", "The ferry leaves at eight.")
    look(rig)
    (second,) = rig.engine.memories.list(ListRequest(), OWNER_ACTOR).result(30).items
    assert second.text == "The ferry leaves at eight."
    assert (second.pinned, second.category) == (True, "boat")
    old = rig.rows("SELECT status, status_reason, superseded_by_id FROM memories WHERE id = ?", first.id)
    assert old == [("superseded", "edited", second.id)]
    assert rig.rows("SELECT chain_id, version, supersedes_id FROM memories WHERE id = ?", second.id) == [
        (first.chain_id, 2, first.id)
    ]
    last = entries(rig, folder.id)[-1]
    assert (last.event, last.name, dict(last.counts)) == ("came", "one.md", {"files": 1, "changed": 1})
    rig.undo(last.step_id)
    assert rig.texts() == ["The ferry leaves at seven."]
    look(rig)
    assert rig.texts() == ["The ferry leaves at seven."]  # what was taken back does not come again by itself


def test_words_that_return_are_a_version_of_their_own(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "A")
    watch(rig, notes.root, "markdown")
    for text in ("B", "A", "B"):
        notes.write("one.md", text)
        look(rig)
        assert rig.texts() == [text]
    assert rig.value("SELECT count(*) FROM memories WHERE status = 'superseded'") == 3
    assert rig.verify()["status"] == "ok"


def test_a_long_note_is_replaced_with_all_its_parts(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "First sentence of many. " * 1_000)
    watch(rig, notes.root, "markdown")
    parts = len(rig.texts())
    assert parts > 1
    notes.write("one.md", "Short now.")
    look(rig)
    assert rig.texts() == ["Short now."]
    assert rig.value("SELECT count(*) FROM memories WHERE status = 'superseded'") == parts


def test_a_renamed_note_goes_on(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    folder = watch(rig, notes.root, "markdown")
    (before,) = rig.rows("SELECT id FROM memories")
    (notes.root / "one.md").rename(notes.root / "two.md")
    folder = look(rig)
    assert rig.rows("SELECT id, json_extract(extra, '$.path') FROM memories") == [(*before, "two.md")]
    assert (folder.files, folder.asked) == (1, 0)
    assert dict(entries(rig, folder.id)[-1].counts) == {"files": 1, "moved": 1}


def test_a_deleted_note_is_asked_about_and_stays_until_then(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    notes.write("two.md", "The boat is moored at Askøy.")
    folder = watch(rig, notes.root, "markdown")
    (notes.root / "one.md").unlink()
    (notes.root / "two.md").unlink()
    folder = look(rig)
    assert folder.asked == 2
    assert [(one.name, one.memories) for one in gone(rig, folder.id)] == [("one.md", 1), ("two.md", 1)]
    assert len(rig.texts()) == 2
    rig.engine.watches.decide_gone(folder.id, GoneChoice.ARCHIVE, "one.md").result(30)
    assert rig.texts() == ["The boat is moored at Askøy."]
    rig.undo()
    assert len(rig.texts()) == 2
    folder = rig.engine.watches.decide_gone(folder.id, GoneChoice.KEEP).result(30)
    assert folder.asked == 0
    assert len(rig.texts()) == 2
    with refused(Code.NOT_FOUND):
        rig.engine.watches.decide_gone(folder.id, GoneChoice.KEEP).result(30)


def test_a_file_that_returns_is_asked_about_no_more(rig: Rig, notes: WrittenFolder) -> None:
    path = notes.write("one.md", "The ferry leaves at seven.")
    watch(rig, notes.root, "markdown")
    path.unlink()
    assert look(rig).asked == 1
    notes.write("one.md", "The ferry leaves at eight.")
    assert look(rig).asked == 0
    assert rig.texts() == ["The ferry leaves at eight."]


def test_an_emptied_note_is_asked_about(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    folder = watch(rig, notes.root, "markdown")
    notes.write("one.md", "  \n")
    look(rig)
    (asked,) = gone(rig, folder.id)
    assert (asked.name, asked.memories, asked.is_there) == ("one.md", 1, True)
    assert rig.texts() == ["The ferry leaves at seven."]


def test_what_the_person_did_in_loci_stays(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("edited.md", "Edited by hand.")
    notes.write("forgotten.md", "Forgotten by hand.")
    notes.write("erased.md", "Erased by hand.")
    watch(rig, notes.root, "markdown")
    ids = {str(text): str(one) for one, text in rig.rows("SELECT id, text FROM memories")}
    rig.engine.library.revise_memories([ids["Edited by hand."]], Revision(text="My own words.")).result(30)
    rig.forget(ids["Forgotten by hand."])
    rig.engine.memories.erase([ids["Erased by hand."]], OWNER_ACTOR).result(30)
    for name in ("edited", "forgotten", "erased"):
        notes.write(f"{name}.md", f"{name} anew")
    look(rig)
    for name in ("forgotten", "erased"):
        notes.write(f"{name}.md", f"{name} once more")
    look(rig)
    assert sorted(rig.texts()) == ["My own words.", "edited anew"]


def test_a_folder_that_is_not_there_is_asked_about_nothing(rig: Rig, notes: WrittenFolder, tmp_path: Path) -> None:
    notes.write("one.md", "The ferry leaves at seven.")
    watch(rig, notes.root, "markdown")
    notes.root.rename(tmp_path / "elsewhere")
    assert look(rig).state is WatchState.GONE
    notes.root.mkdir()  # the bare place of what was mounted there
    folder = look(rig)
    assert (folder.state, folder.asked) == (WatchState.GONE, 0)
    notes.root.rmdir()
    notes.root.symlink_to(tmp_path / "elsewhere")
    assert look(rig).state is WatchState.GONE
    notes.root.unlink()
    (tmp_path / "elsewhere").rename(notes.root)
    assert rig.texts() == ["The ferry leaves at seven."]
    look(rig)
    assert rig.texts() == ["The ferry leaves at seven."]


def test_nothing_outside_the_folder_is_read(rig: Rig, notes: WrittenFolder, tmp_path: Path) -> None:
    outside = WrittenFolder(tmp_path / "outside")
    outside.write("secret.md", "Outside.")
    notes.write("one.md", "Inside.")
    (notes.root / "link.md").symlink_to(outside.root / "secret.md")
    (notes.root / "linked").symlink_to(outside.root)
    os.mkfifo(notes.root / "pipe.md")
    watch(rig, notes.root, "markdown")
    assert rig.texts() == ["Inside."]
    (notes.root / "one.md").unlink()
    (notes.root / "one.md").symlink_to(outside.root / "secret.md")
    folder = look(rig)
    assert rig.texts() == ["Inside."]
    assert folder.asked == 1


def test_hostile_names_and_texts(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("a\nb‮.md", "One.")
    notes.write("nul.md", "Two\0three.")
    notes.write("binary.md", bytes(range(256)) * 8)
    (Path(os.fsdecode(os.fsencode(notes.root) + b"/\xff\xfe.md"))).write_bytes(b"Four.")
    notes.age(Path(os.fsdecode(os.fsencode(notes.root) + b"/\xff\xfe.md")))
    watch(rig, notes.root, "markdown")
    look(rig)
    assert sorted(rig.texts()) == ["Four.", "One.", "Two\0three."]


def test_a_file_that_cannot_be_opened_is_told_once(
    rig: Rig, notes: WrittenFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.importers.input.files import DiskFile, refused_file_error

    def refuse(self: DiskFile) -> None:
        raise refused_file_error(self.name, "cannot be opened for reading")

    notes.write("one.md", "The ferry leaves at seven.")
    with monkeypatch.context() as patched:
        patched.setattr(DiskFile, "open_bounded", refuse)
        folder = watch(rig, notes.root, "markdown")
        look(rig)
    told = [(one.event, one.name, dict(one.counts)) for one in entries(rig, folder.id)]
    assert told == [("added", "", {}), ("left", "one.md", {"left.refused_file": 1})]
    notes.age(notes.root / "one.md")
    look(rig)
    assert rig.texts() == ["The ferry leaves at seven."]


def test_a_folder_is_refused_in_one_sentence(rig: Rig, notes: WrittenFolder, tmp_path: Path) -> None:
    notes.write("one.md", "Inside.")
    add = rig.engine.watches.add
    for path in (tmp_path / "absent", notes.root / "one.md", rig.home.path, tmp_path):
        with refused(Code.INVALID_INPUT):
            add(path, "markdown", None, OWNER_ACTOR)
    with refused(Code.IMPORT_UNKNOWN_FORMAT):
        add(notes.root, "chatgpt", None, OWNER_ACTOR)
    with refused(Code.ACCESS_DENIED):
        add(notes.root, "markdown", None, Actor("client", "c", "c", None))
    watch(rig, notes.root, "markdown")
    with refused(Code.INVALID_INPUT):
        add(notes.root, "markdown", None, OWNER_ACTOR).result(30)


def test_too_many_files_are_not_listed(rig: Rig, notes: WrittenFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        notes.write(f"{number}.md", f"Note {number}.")
    watch(rig, notes.root, "markdown")
    monkeypatch.setattr("core.importers.watched_folder.MOST_ENTRIES", 5)
    notes.write("5.md", "Note 5.")
    folder = look(rig)
    assert (folder.state, folder.asked, folder.memories) == (WatchState.TOO_MANY, 0, 5)


def test_a_paused_folder_is_left_alone_and_caught_up_with(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "One.")
    folder = watch(rig, notes.root, "markdown")
    rig.engine.watches.pause(folder.id, is_paused=True).result(30)
    notes.write("two.md", "Two.")
    assert look(rig).state is WatchState.PAUSED
    assert rig.texts() == ["One."]
    rig.engine.watches.pause(folder.id, is_paused=False).result(30)
    look(rig)
    assert sorted(rig.texts()) == ["One.", "Two."]


def test_a_removed_folder_leaves_what_came(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "One.")
    folder = watch(rig, notes.root, "markdown")
    rig.engine.watches.remove(folder.id[-8:]).result(30)
    assert rig.engine.watches.list_folders().result(30) == ()
    assert rig.texts() == ["One."]
    again = watch(rig, notes.root, "markdown")  # what came once does not come twice
    assert rig.texts() == ["One."]
    assert again.files == 1


def test_a_sealed_note_stays_sealed(rig: Rig, notes: WrittenFolder) -> None:
    notes.write("one.md", "Where the key hangs.")
    watch(rig, notes.root, "markdown")
    (ident,) = rig.rows("SELECT id FROM memories")[0]
    rig.engine.seal.set_up("a second secret").result(30)
    rig.engine.seal.seal([ident]).result(30)
    notes.write("one.md", "Where the other key hangs.")
    folder = look(rig)
    assert rig.texts(None) == []
    assert dict(entries(rig, folder.id)[-1].counts) == {"left.erased": 1}
