"""Archives within archives, and tar: read in any order, with limits on depth, files and bytes together."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from importer_checks import zip_bytes

from core.errors import Code, UserError
from core.importers.input import archive, member_access
from core.importers.input.files import list_members
from core.importers.input.member_access import MemberAccess
from core.importers.input.source import Bundle, SourceFile, open_bundle


def read(file: SourceFile) -> bytes:
    with file.open() as stream:
        return stream.read()


def inner(bundle: Bundle | Sequence[SourceFile], *names: str) -> SourceFile:
    """A file by the names of the archives around it."""
    files = bundle.files if isinstance(bundle, Bundle) else bundle
    found = next(one for one in files if one.name == names[0])
    if len(names) == 1:
        return found
    assert found.members is not None
    return inner(found.members(), *names[1:])


def written(folder: Path, data: bytes, name: str = "a.zip") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_file_in_an_archive_in_an_archive_is_read(tmp_path: Path, method: int) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as made:
        made.writestr("b/inner.zip", zip_bytes({"one.txt": "first", "two.txt": "second"}))
        made.writestr("plain.txt", "beside")
    with open_bundle(written(tmp_path, target.getvalue())) as bundle:
        assert read(inner(bundle, "b/inner.zip", "two.txt")) == b"second"
        assert read(inner(bundle, "b/inner.zip", "one.txt")) == b"first"
        assert inner(bundle, "plain.txt").members is None


def test_one_in_a_folder_below_can_be_listed(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    written(tmp_path / "x", zip_bytes({"in.zip": zip_bytes({"a.md": "deep"})}))
    with open_bundle(tmp_path) as bundle:
        assert read(inner(bundle, "x/a.zip", "in.zip", "a.md")) == b"deep"


def test_depth_has_a_limit(tmp_path: Path) -> None:
    data = zip_bytes({"end.txt": "x"})
    for _ in range(archive.DEEPEST + 1):
        data = zip_bytes({"in.zip": data})
    with open_bundle(written(tmp_path, data)) as bundle:
        with pytest.raises(UserError, match=r"more than 4 archives") as error:
            inner(bundle, *["in.zip"] * (archive.DEEPEST + 1), "end.txt")
        assert error.value.code is Code.IMPORT_REFUSED


def test_many_archives_may_not_be_a_bomb_together(tmp_path: Path) -> None:
    member = zip_bytes({"zeros": b"\0" * 900_000})
    data = zip_bytes({f"{number}.zip": member for number in range(30)})
    with open_bundle(written(tmp_path, data)) as bundle:
        listed = [one.members for one in bundle.files if one.members is not None]
        assert len(listed) == 30
        with pytest.raises(UserError, match="zip bomb"):
            _ = [members() for members in listed]


def test_files_of_all_archives_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = archive._Allowance(1, files=25)
    monkeypatch.setattr(archive, "_Allowance", lambda _size: left)
    data = zip_bytes({f"{n}.zip": zip_bytes({f"{m}": "x" for m in range(20)}) for n in range(3)})
    with open_bundle(written(tmp_path, data)) as bundle:
        first, second = (one.members for one in bundle.files[:2])
        assert first is not None
        assert second is not None
        assert (len(first()), len(first()), left.files) == (20, 20, 5), "listed once, counted once"
        with pytest.raises(UserError, match="zip bomb"):
            second()


@pytest.mark.parametrize("cut", [40, 100, 200])
def test_a_damaged_inner_archive_is_told(tmp_path: Path, cut: int) -> None:
    whole = zip_bytes({"one.txt": bytes(range(256)) * 4})
    with open_bundle(written(tmp_path, zip_bytes({"in.zip": whole[:-cut]}))) as bundle:
        members = bundle.files[0].members
        assert members is not None
        with pytest.raises(UserError) as error:
            members()
        assert error.value.code is Code.IMPORT_REFUSED


@settings(max_examples=40, deadline=None)
@given(
    st.binary(min_size=1, max_size=3000), st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 700)), max_size=12)
)
def test_any_place_of_a_packed_member_reads_as_in_the_whole(seed: bytes, places: list[tuple[int, int]]) -> None:
    data = b"".join(bytes([nr % 251]) + seed for nr in range(12))
    packed = zip_bytes({"m": data})
    label = "a.zip"
    (member,) = list_members(lambda: io.BytesIO(packed), label)
    before, member_access._LEAST_STEP = member_access._LEAST_STEP, 512
    try:
        access = MemberAccess(lambda: io.BytesIO(packed), member, label)
        for at, size in places:
            with access.open_seekable() as stream:
                stream.seek(at)
                assert stream.read(size) == data[at : at + size]
                stream.seek(0)
                assert stream.read(10) == data[:10]
    finally:
        member_access._LEAST_STEP = before


def tar_bytes(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=form) as made:
        for name, data in files.items():
            about = tarfile.TarInfo(name)
            about.size, about.mtime = len(data), 1_700_000_000
            made.addfile(about, io.BytesIO(data))
    return target.getvalue()


LONG = "folder/" * 30 + "náme.md"


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_a_tar_is_read_whatever_wrote_it(tmp_path: Path, form: int) -> None:
    files = {"./a.md": b"one", "b/c.md": b"x" * 5000, "empty": b""}
    if form != tarfile.USTAR_FORMAT:
        files[LONG] = b"long"
    with open_bundle(written(tmp_path, tar_bytes(files, form), "a.jex")) as bundle:
        assert {one.name: read(one) for one in bundle.files} == {
            name.removeprefix("./"): data for name, data in files.items()
        }
        assert bundle.kind == "zip"
        assert bundle.files[0].modified_ms == 1_700_000_000_000


@pytest.mark.parametrize("name", ["../out.md", "/etc/x", "a/../../b"])
def test_a_tar_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="leads outside"), open_bundle(written(tmp_path, tar_bytes({name: b"x"}))):
        pass


def test_links_in_a_tar_are_left_and_a_cut_one_is_refused(tmp_path: Path) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as made:
        link = tarfile.TarInfo("link.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(link)
        about = tarfile.TarInfo("a.md")
        about.size = 2000
        made.addfile(about, io.BytesIO(b"y" * 2000))
    with open_bundle(written(tmp_path, target.getvalue())) as bundle:
        assert [one.name for one in bundle.files] == ["a.md"]
    with pytest.raises(UserError, match="cut-off tar"), open_bundle(written(tmp_path, target.getvalue()[:2000])):
        pass
    with (
        pytest.raises(UserError, match="same name"),
        open_bundle(written(tmp_path, tar_bytes({"a": b"1"})[:1024] + tar_bytes({"a": b"2"}))),
    ):
        pass


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2047), st.binary(min_size=1, max_size=40))
def test_any_damage_of_a_tar_is_refused_or_read(at: int, noise: bytes) -> None:
    raw = bytearray(tar_bytes({"a.md": b"one", "b.md": b"two"}, tarfile.USTAR_FORMAT))
    raw[at : at + len(noise)] = noise
    with suppress(UserError):
        files = archive.list_archive(lambda: io.BytesIO(bytes(raw)), "a.tar")
        assert sum(len(read(one)) for one in files) <= len(raw)
