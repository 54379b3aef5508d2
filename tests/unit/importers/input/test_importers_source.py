"""Bundles: files, folders, archives; what is refused, what is skipped, what changed while it was read."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest
from importer_checks import EXPECTED, FIXTURES, zip_bytes

from core.errors import Code, LociError, UserError
from core.importers.input import files as archive
from core.importers.input import files as disk
from core.importers.input.source import Bundle, open_bundle

TALK = b'[{"chat_messages": []}]'


def names(bundle: Bundle) -> list[str]:
    return [file.name for file in bundle.files]


def content(bundle: Bundle, name: str) -> bytes:
    file = bundle.find_file(name)
    assert file is not None
    with file.open() as stream:
        return stream.read()


def drain(path: Path) -> None:
    with open_bundle(path) as bundle:
        for file in bundle.files:
            with file.open() as stream:
                read_out(stream)


def read_out(stream: BinaryIO) -> None:
    while stream.read(1 << 16):
        pass


def refusal(path: Path, code: Code = Code.IMPORT_REFUSED) -> str:
    """The sentence a path is refused with."""
    with pytest.raises(UserError) as error:
        drain(path)
    assert error.value.code is code
    assert str(path.parent) not in error.value.sentence
    return error.value.sentence


def written(tmp_path: Path, data: bytes, name: str = "a.zip") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_the_fixtures_are_intact() -> None:
    assert len(EXPECTED["files"]) > 40
    for path, row in EXPECTED["files"].items():
        data = (FIXTURES / path).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (row["bytes"], row["sha256"])


def test_one_file(tmp_path: Path) -> None:
    path = written(tmp_path, b"a\r\n\0b", "note.md")
    with open_bundle(path) as bundle:
        assert (bundle.label, bundle.kind, names(bundle)) == ("note.md", "file", ["note.md"])
        assert content(bundle, "note.md") == b"a\r\n\0b"
        assert bundle.files[0].modified_ms == path.stat().st_mtime_ns // 1_000_000
        assert bundle.find_file("other") is None


def test_a_folder_in_name_order_with_links_pipes_and_sockets_skipped(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("b")
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "z.md").write_text("")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    with open_bundle(tmp_path) as bundle:
        assert names(bundle) == ["a.md", "sub/b.md", "z.md"]
        assert content(bundle, "sub/b.md") == b"b"
        assert content(bundle, "z.md") == b""
        assert bundle.skipped == (
            ("not_a_regular_file", "link.md"),
            ("not_a_regular_file", "loop"),
            ("not_a_regular_file", "pipe.md"),
        )


def test_the_path_given_may_lead_over_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("a")
    (tmp_path / "there").symlink_to(tmp_path / "real")
    with open_bundle(tmp_path / "there") as bundle:
        assert (bundle.label, names(bundle)) == ("there", ["a.md"])


def test_what_is_no_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    assert "does not exist" in refusal(tmp_path / "gone")
    assert "does not exist" in refusal(tmp_path / "empty" / "below")
    assert "does not exist" in refusal(tmp_path / "dangling")
    assert "is not a regular file" in refusal(tmp_path / "pipe")
    assert "is not a regular file" in refusal(Path("/dev/zero"))
    assert "is empty" in refusal(tmp_path / "empty")
    assert "holds no files" in refusal(tmp_path / "nothing")
    assert "cannot be read" in refusal(tmp_path / "a\0b")


def test_what_may_not_be_read_is_refused_or_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "b.md").write_text("b")
    real_scandir, real_open = os.scandir, os.open

    def scandir(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError
        return real_scandir(path)

    def no_open(path: Path, flags: int) -> int:
        if Path(path).name == "a.md":
            raise PermissionError
        return real_open(path, flags)

    monkeypatch.setattr(os, "scandir", scandir)
    with open_bundle(tmp_path) as bundle:
        assert bundle.skipped == (("unreadable", "closed"),)
    monkeypatch.setattr(os, "open", no_open)
    assert "“a.md” cannot be opened" in refusal(tmp_path / "a.md")
    assert "cannot be read" in refusal(tmp_path / "closed")


def test_names_that_are_no_text_can_be_shown_and_stored(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_bytes(b"words")
    except OSError:
        pytest.skip("this file system only takes names that are text")
    with open_bundle(tmp_path) as bundle:
        assert names(bundle) == ["caf\ufffd.md"]
        assert content(bundle, "caf\ufffd.md") == b"words"


def test_a_folder_too_deep_or_too_full_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / f"{number}.md").write_text("a")
    monkeypatch.setattr(disk, "MAX_FILES", 3)
    assert "more than 3 files" in refusal(tmp_path)
    monkeypatch.setattr(disk, "MAX_FILES", 100)
    monkeypatch.setattr(disk, "MAX_DEPTH", 2)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c" / "d.md").write_text("d")
    assert "2 levels" in refusal(tmp_path)


def rewritten(path: Path) -> None:
    path.write_bytes(b"0987654321")
    os.utime(path, ns=(1, 1))


def shortened(path: Path) -> None:
    path.write_bytes(b"12345")


def lengthened(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"!")


def turned_into_a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def turned_into_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replaced(path: Path) -> None:
    path.rename(path.with_name("old"))
    path.write_bytes(b"1234567890")


@pytest.mark.parametrize("change", [rewritten, shortened, lengthened, turned_into_a_link, turned_into_a_pipe, replaced])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_that_changed_before_it_was_opened(
    tmp_path: Path, change: Callable[[Path], object], zipped: bool
) -> None:
    path = written(tmp_path, zip_bytes({"in.md": "x"}) if zipped else b"1234567890", "a.md")
    with open_bundle(path) as bundle:
        change(path)
        with pytest.raises(LociError) as error:
            bundle.files[0].open()
    assert error.value.code in (Code.IMPORT_CHANGED, Code.IMPORT_REFUSED)
    assert "a.md" in error.value.sentence


@pytest.mark.parametrize("size", [3, 400_000, 700_000])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, size: int) -> None:
    path = written(tmp_path, b"x" * 500_000, "a.md")
    with open_bundle(path) as bundle:
        stream = bundle.files[0].open()
        assert stream.read(10) == b"x" * 10
        os.truncate(path, size)
        with pytest.raises(LociError) as error:
            read_out(stream)
    assert error.value.code is Code.IMPORT_CHANGED


def test_a_log_that_grows_is_read_as_far_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path, b"one\n", "s.jsonl")
    with open_bundle(path) as bundle:
        with path.open("ab") as file:
            file.write(b"two\n")
        assert content(bundle, "s.jsonl") == b"one\n"
        os.truncate(path, 2)
        with pytest.raises(LociError):
            content(bundle, "s.jsonl")


def test_leaving_the_bundle_closes_what_was_left_open(tmp_path: Path) -> None:
    with open_bundle(written(tmp_path, zip_bytes({"a": "x" * 100_000}))) as bundle:
        stream = bundle.files[0].open()
        assert stream.read(1) == b"x"
    assert stream.closed


def test_the_fingerprint_changes_with_any_file(tmp_path: Path) -> None:
    def fingerprint() -> str:
        with open_bundle(tmp_path) as bundle:
            return bundle.fingerprint

    path = written(tmp_path, b"a", "a.md")
    first = fingerprint()
    assert fingerprint() == first
    os.utime(path, ns=(1, 1))
    touched = fingerprint()
    (tmp_path / "b.md").write_text("")
    assert len({first, touched, fingerprint()}) == 3


def test_an_archive(tmp_path: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("z/stored.txt", b"s" * 10, zipfile.ZIP_STORED)
        made.writestr("a/packed.txt", os.urandom(300_000), zipfile.ZIP_DEFLATED)
        made.writestr("dir/", b"")
        made.writestr("ünïcode.md", b"u")
        made.writestr("nothing", b"")
        made.comment = b"a comment"
    with zipfile.ZipFile(target) as made, open_bundle(written(tmp_path, target.getvalue(), "x.bin")) as bundle:
        assert (bundle.kind, names(bundle)) == ("zip", ["a/packed.txt", "nothing", "z/stored.txt", "ünïcode.md"])
        for file in bundle.files:
            assert content(bundle, file.name) == made.read(file.name)
            assert file.size == made.getinfo(file.name).file_size
            assert file.modified_ms is None


def test_an_archive_after_other_bytes_and_with_64_bit_fields(tmp_path: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made, made.open("big.txt", "w", force_zip64=True) as file:
        file.write(b"b" * 1000)
    plain = zip_bytes({"a.txt": "a" * 50})
    with open_bundle(written(tmp_path, target.getvalue())) as bundle:
        assert content(bundle, "big.txt") == b"b" * 1000
    with open_bundle(written(tmp_path, b"PK\x03\x04" + b"\0" * 100 + plain)) as bundle:
        assert content(bundle, "a.txt") == b"a" * 50


@pytest.mark.slow
def test_more_than_65535_members_use_the_64_bit_directory(tmp_path: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for number in range(66_000):
            made.writestr(zipfile.ZipInfo(f"{number}"), b"x")
    with open_bundle(written(tmp_path, target.getvalue())) as bundle:
        assert len(bundle.files) == 66_000
        assert content(bundle, "65999") == b"x"


def test_times_with_a_zone_are_kept(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a")
    info.extra = struct.pack("<2HBl", 0x5455, 5, 1, 1_700_000_000)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr(info, b"x")
    with open_bundle(written(tmp_path, target.getvalue())) as bundle:
        assert bundle.files[0].modified_ms == 1_700_000_000_000


@pytest.mark.parametrize(
    "name", ["../up", "a/../../up", "/etc/x", "C:\\x", "c:x", "a\\b", "..\\x", "..", "a/..", "x" * 2000, "\\\\host\\x"]
)
def test_names_that_lead_outside_are_refused(tmp_path: Path, name: str) -> None:
    info = zipfile.ZipInfo("plain")
    info.filename = name
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("conversations.json", TALK)
        made.writestr(info, b"x")
    sentence = refusal(written(tmp_path, target.getvalue()))
    assert "“a.zip”" in sentence
    assert "up" not in sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]


def test_names_with_dots_that_lead_nowhere_are_fine(tmp_path: Path) -> None:
    with open_bundle(written(tmp_path, zip_bytes({"a..b/..c": "x", "...": "y"}))) as bundle:
        assert names(bundle) == ["...", "a..b/..c"]


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_members_that_are_no_files_are_refused(tmp_path: Path, mode: int) -> None:
    info = zipfile.ZipInfo("user.json")
    info.external_attr = (mode | 0o777) << 16
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr(info, b"/etc/hostname")
    assert "symbolic link" in refusal(written(tmp_path, target.getvalue())) or mode != stat.S_IFLNK


def patched(data: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """Bytes of the last record with that signature replaced."""
    at = data.rindex(signature) + offset
    return data[:at] + value + data[at + len(value) :]


CENTRAL, LOCAL, END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"
ONE = zip_bytes({"a.txt": "hello " * 1000})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (patched(ONE, CENTRAL, 8, b"\x01\x00"), "encrypted"),
        (patched(ONE, CENTRAL, 10, b"\x63\x00"), "packed in a way"),
        (patched(ONE, CENTRAL, 10, b"\x0c\x00"), "packed in a way"),
        (patched(ONE, CENTRAL, 16, b"\0\0\0\0"), "does not match its checksum"),
        (patched(ONE, CENTRAL, 24, struct.pack("<L", 5000)), "longer inside"),
        (patched(ONE, CENTRAL, 24, struct.pack("<L", 7000)), "does not match"),
        (patched(ONE, CENTRAL, 20, struct.pack("<L", 10)), "cut-off"),
        (patched(ONE, CENTRAL, 20, struct.pack("<L", 1 << 30)), "cut-off"),
        (patched(ONE, CENTRAL, 42, struct.pack("<L", 7)), "cut-off"),
        (patched(ONE, CENTRAL, 42, b"\xff\xff\xff\xff"), "cut-off"),
        (patched(ONE, CENTRAL, 0, b"XX"), "cut-off"),
        (ONE[:35] + b"\xff" * 20 + ONE[55:], "cannot be unpacked"),
        (patched(ONE, END, 4, b"\x01\x00"), "split"),
        (patched(ONE, END, 12, b"\xff\xff\xff\x7f"), "directory of more"),
        (patched(ONE, END, 12, b"\xff\xff\x00\x00"), "cut-off"),
        (patched(ONE, END, 16, b"\xff\xff\x00\x00"), "cut-off"),
        (ONE[:-10], "cut-off"),
        (ONE[: len(ONE) // 2], "cut-off"),
        (b"PK\x03\x04", "cut-off"),
        (zip_bytes({}), "holds no files"),
        (zip_bytes({"d/": ""}), "holds no files"),
    ],
)
def test_damaged_and_lying_archives_are_refused(tmp_path: Path, data: bytes, words: str) -> None:
    assert words in refusal(written(tmp_path, data))


def test_every_cut_of_an_archive_is_refused(tmp_path: Path) -> None:
    whole = zip_bytes({"a": "some words", "b": "more"})
    for length in range(4, len(whole)):
        refusal(written(tmp_path, whole[:length]))


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    data = zip_bytes({"a1": "x", "a2": "y"}).replace(b"a2", b"a1")
    assert "same name" in refusal(written(tmp_path, data))


def test_members_that_share_bytes_are_refused(tmp_path: Path) -> None:
    data = zip_bytes({"a": "x" * 100, "b": "x" * 100})
    assert "share the same bytes" in refusal(written(tmp_path, patched(data, CENTRAL, 42, b"\0\0\0\0")))


def directory_only(count: int) -> bytes:
    """An archive whose directory tells of many members with the same few bytes."""
    entry = struct.pack("<4s6H3L5H2L", CENTRAL, 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    local = struct.pack("<4s5H3L2H", LOCAL, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"a"
    end = struct.pack("<4s4H2LH", END, 0, 0, 1, 1, len(entry) * count, len(local), 0)
    return local + entry * count + end


@pytest.mark.slow
def test_more_members_than_any_export_are_refused_cheaply(tmp_path: Path) -> None:
    for count, words in ((100_001, "more than 100,000 files"), (1_000_000, "directory of more")):
        path = written(tmp_path, directory_only(count))
        tracemalloc.start()
        try:
            assert words in refusal(path)
            assert tracemalloc.get_traced_memory()[1] < 64 << 20
        finally:
            tracemalloc.stop()


def test_bombs_by_ratio_and_by_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "zip bomb" in refusal(written(tmp_path, zip_bytes({"a": b"\0" * 1_000_001})))
    many = {str(number): b"\0" * 900_000 for number in range(20)}
    assert "zip bomb" in refusal(written(tmp_path, zip_bytes(many)))
    with open_bundle(written(tmp_path, zip_bytes({"a": b"\0" * 900_000}))) as bundle:
        assert len(content(bundle, "a")) == 900_000
    monkeypatch.setattr(archive, "MAX_TOTAL", 1 << 30)
    huge = patched(ONE, CENTRAL, 24, struct.pack("<L", 2 << 30))
    assert "1 GiB" in refusal(written(tmp_path, huge))


def test_a_member_that_is_larger_than_it_says_stops_at_its_size(tmp_path: Path) -> None:
    data = patched(zip_bytes({"a": b"\0" * 50_000_000}), CENTRAL, 24, struct.pack("<L", 1000))
    path = written(tmp_path, data)
    tracemalloc.start()
    try:
        assert "longer inside" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_archives_inside_archives_stay_closed(tmp_path: Path) -> None:
    inner = zip_bytes({"conversations.json": TALK})
    with open_bundle(written(tmp_path, zip_bytes({"conversations-000.zip": inner}))) as bundle:
        assert names(bundle) == ["conversations-000.zip"]


def test_archives_at_the_top_of_an_exports_folder_are_opened_one_level_deep(tmp_path: Path) -> None:
    inner = zip_bytes({"conversations.json": TALK})
    written(tmp_path, inner, "whatever.zip")
    written(tmp_path, zip_bytes({"deeper.zip": inner}), "conversations-001.zip")
    written(tmp_path, zip_bytes({"photo.jpg": "x"}), "photos.zip")
    written(tmp_path, b"PK\x03\x04 damaged", "broken.zip")
    (tmp_path / "sub").mkdir()
    written(tmp_path / "sub", inner, "conversations-000.zip")
    with open_bundle(tmp_path) as bundle:
        assert names(bundle) == [
            "broken.zip",
            "conversations-001.zip/deeper.zip",
            "photos.zip",
            "sub/conversations-000.zip",
            "whatever.zip/conversations.json",
        ]
        assert content(bundle, "whatever.zip/conversations.json") == TALK


def test_sentences_show_no_more_than_a_names_last_part(tmp_path: Path) -> None:
    name = "x\n\x1b[31m" + "y" * 200
    sentence = refusal(written(tmp_path, b"", name))
    assert "\n" not in sentence
    assert "\x1b" not in sentence
    assert len(sentence) < 200
