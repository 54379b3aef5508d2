"""Tar archives packed with gzip: read in any order, never unpacked to disk, damaged ones and bombs refused."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, UserError
from core.importers.input.gzip_stream import HEAD, looks_like_packed_tar, unpack_tar
from core.importers.input.source import Bundle, open_bundle


def packed(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def put(folder: Path, data: bytes, name: str = "export.tgz") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read(bundle: Bundle) -> dict[str, bytes]:
    found = {}
    for file in reversed(bundle.files):
        with file.open() as stream:
            found[file.name] = stream.read()
    return found


def test_its_files_are_read_in_any_order(tmp_path: Path) -> None:
    noise = random.Random(1)
    files = {f"notes/{number:03}.md": noise.randbytes(40_000) for number in range(60)}
    with open_bundle(put(tmp_path, packed(files))) as bundle:
        assert bundle.kind == "zip"
        assert read(bundle) == files


def test_one_that_lies_in_a_folder_or_in_another_archive_can_be_listed(tmp_path: Path) -> None:
    inner = packed({"a.md": b"deep"})
    put(tmp_path, inner, "in.tar.gz")
    put(tmp_path, packed({"in.tgz": inner, "b.md": b"beside"}), "out.tgz")
    with open_bundle(tmp_path) as bundle:
        listed = {file.name: file.members() for file in bundle.files if file.members is not None}
        assert [one.name for one in listed["in.tar.gz"]] == ["a.md"]
        (nested,) = [one for one in listed["out.tgz"] if one.members is not None]
        assert nested.members is not None
        with nested.members()[0].open() as stream:
            assert stream.read() == b"deep"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (packed({"a.md": b"text" * 500})[:-9], "cut-off"),
        (packed({"a.md": b"text"})[:-8] + b"\0" * 8, "cut-off"),
        (packed({"a.md": b"text"}) + packed({"b.md": b"text"}), "several"),
        (packed({"../a.md": b"text"}), "outside"),
    ],
    ids=("cut", "wrong sum", "two in one", "a way out"),  # the bytes tell when they were made, which no name may
)
def test_a_damaged_or_dangerous_one_is_refused_in_one_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(UserError) as caught, open_bundle(put(tmp_path, data)):
        pass
    assert caught.value.code is Code.IMPORT_REFUSED
    assert words in caught.value.sentence


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = put(tmp_path, packed({"zeros": bytes(64 << 20)}))
    with pytest.raises(UserError) as caught:
        unpack_tar(lambda: path.open("rb"), path.name)
    assert "bomb" in caught.value.sentence


def test_what_is_packed_and_no_tar_is_a_file_like_any_other(tmp_path: Path) -> None:
    with open_bundle(put(tmp_path, gzip.compress(b"text" * 1_000), "log.gz")) as bundle:
        assert (bundle.kind, [file.name for file in bundle.files]) == ("file", ["log.gz"])


@given(st.binary(max_size=200), st.integers(0, 400))
def test_broken_heads_are_told(junk: bytes, cut: int) -> None:
    whole = packed({"a.md": b"text"})
    assert looks_like_packed_tar(whole[:HEAD])
    assert not looks_like_packed_tar(junk)
    broken = whole[:cut] + junk
    codes: list[Code] = []
    try:
        with unpack_tar(lambda: io.BytesIO(broken), "a")() as stream:
            stream.read()
    except UserError as error:
        codes.append(error.code)
    assert set(codes) <= {Code.IMPORT_REFUSED}
