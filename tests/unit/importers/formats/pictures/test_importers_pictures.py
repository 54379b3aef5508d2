"""Captions of pictures: no pixel is decoded, no camera's own words come in, and notes keep the pictures beside them."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importer_checks import FIXTURES, items_of, memory_bundle, reasons, records, troubles
from PIL import Image

from core.importers.detect import detect_format
from core.importers.dry_run import import_items
from core.importers.formats.pictures import pictures as pictures_module
from core.importers.formats.pictures.picture import read_picture
from core.importers.formats.pictures.pictures import PicturesImporter
from core.importers.input.source import open_bundle
from core.importers.records import Part
from core.text.times import format_time

PICTURES = PicturesImporter()
SINGLE = (FIXTURES / "pictures" / "input" / "single.png").read_bytes()


def picture(caption: str, taken: str | None = None) -> bytes:
    exif = Image.Exif()
    exif[0x010E] = caption
    if taken is not None:
        exif.get_ifd(0x8769)[0x9003] = taken
    target = io.BytesIO()
    Image.new("RGB", (4, 4)).save(target, "JPEG", exif=exif)
    return target.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks: bytes, side: int = 4) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IDAT", zlib.compress(b"\0" * 60))


@pytest.mark.parametrize(
    "caption",
    ["OLYMPUS DIGITAL CAMERA         ", "SONY DSC", "Untitled", "Created with GIMP", "screenshot", "   ", "\0"],
)
def test_what_a_camera_or_a_program_writes_is_no_caption(caption: str) -> None:
    assert reasons(items_of(PICTURES, {"a.jpg": picture(caption)})) == {"no_caption": 1}


@pytest.mark.parametrize("caption", ["Screenshot of the tide table", "Untitled poem, on the fridge", "DSC is our club"])
def test_a_caption_that_begins_alike_is_one(caption: str) -> None:
    (record,) = records(items_of(PICTURES, {"a.jpg": picture(caption)}))
    assert record.text == caption


def with_iptc(data: bytes, *records_of: tuple[int, bytes]) -> bytes:
    """A JPEG with IPTC's records, as programs for photographs put them behind its beginning."""
    block = b"".join(struct.pack(">BBBH", 0x1C, 2, number, len(value)) + value for number, value in records_of)
    block += b"\0" * (len(block) % 2)
    resource = b"8BIM" + struct.pack(">HBBI", 0x0404, 0, 0, len(block)) + block
    told = b"Photoshop 3.0\0" + resource
    return data[:2] + b"\xff\xed" + struct.pack(">H", len(told) + 2) + told + data[2:]


@pytest.mark.parametrize(
    ("told", "text", "time"),
    [
        (((120, "Skálin í ljósinu".encode()), (55, b"20240305"), (60, b"141201+0200")), "Skálin í ljósinu", "+02:00"),
        (((5, b"The slip"), (120, b"At low water"), (55, b"20240305")), "The slip\nAt low water", "2024-03-05"),
        (((105, "M\xf6we".encode("cp1252")), (55, b"00000000"), (60, b"x")), "M\xf6we", None),
        (((120, b"one"), (120, b"two"), (25, b"keyword")), "one", None),
        (((120, b"SONY DSC"), (5, b"Sails")), "Sails", None),
    ],
)
def test_what_agencies_write_is_read(told: tuple[tuple[int, bytes], ...], text: str, time: str | None) -> None:
    (record,) = records(items_of(PICTURES, {"a.jpg": with_iptc(picture(""), *told)}))
    assert record.text == text
    assert (record.occurred is None) == (time is None)
    assert record.occurred is None or str(format_time(record.occurred)).endswith(str(time))


def test_broken_records_lose_nothing_else_and_the_camera_tells_the_time_first() -> None:
    kept = picture("The winch, greased", "2020:01:02 03:04:05")
    for told in (with_iptc(kept, (120, b"The winch, greased"), (55, b"20240305")), with_iptc(kept, (120, b"x"))[:-1]):
        (record,) = records(items_of(PICTURES, {"a.jpg": told}))
        assert record.text.startswith("The winch, greased")
        assert record.occurred is not None
        assert str(format_time(record.occurred)).startswith("2020-01-02")
    whole = with_iptc(kept, (120, b"At the slip"))
    cut = whole.replace(struct.pack(">BBBH", 0x1C, 2, 120, 11), struct.pack(">BBBH", 0x1C, 2, 120, 0x8FFF))
    (record,) = records(items_of(PICTURES, {"a.jpg": cut}))
    assert record.text == "The winch, greased"


def test_a_picture_of_any_size_costs_no_more_than_its_words() -> None:
    """The library would decode it whole to look for EXIF behind the pixels."""
    huge = png(chunk(b"tEXt", b"Title\0The fjord"), side=200_000)
    tracemalloc.start()
    try:
        (record,) = records(items_of(PICTURES, {"a.png": huge}))
        found = read_picture(huge)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert record.text == "The fjord"
    assert found is not None
    assert (found.thumbnail, found.description, found.is_damaged) == (None, "The fjord", False)
    assert peak < 16 << 20


def test_a_picture_over_the_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures_module, "_MOST_BYTES", 20)
    items = items_of(PICTURES, {"a.png": SINGLE})
    assert reasons(items) == {"refused_file": 1}
    assert "64 MiB" in troubles(items)[0].message


def test_the_same_words_at_another_time_are_another_memory() -> None:
    files = {
        "a.jpg": picture("Ferry", "2020:01:01 10:00:00"),
        "b.jpg": picture("Ferry", "2020:01:02 10:00:00"),
        "c.jpg": picture("Ferry", "2020:01:02 10:00:00"),
    }
    bundle = memory_bundle(files, "folder")
    items = list(import_items(bundle, PICTURES))
    times = [format_time(one.occurred) for one in records(items) if one.occurred]
    assert times == ["2020-01-01T10:00:00Z", "2020-01-02T10:00:00Z"]
    assert reasons(items) == {"repeated": 1}


def write_folder(folder: Path, notes: int, pictures: int) -> Path:
    for number in range(notes):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nWords.\n")
    for number in range(pictures):
        (folder / f"{number}.jpg").write_bytes(picture(f"Caption {number}"))
    return folder


def test_notes_keep_the_pictures_beside_them(tmp_path: Path) -> None:
    with open_bundle(write_folder(tmp_path, notes=3, pictures=3)) as bundle:
        assert detect_format(bundle).format == "markdown"


def test_an_album_with_a_note_in_it_is_two_sources_of_one_import(tmp_path: Path) -> None:
    with open_bundle(write_folder(tmp_path, notes=1, pictures=3)) as bundle:
        importer = detect_format(bundle)
        found = {(one.part, one.text) for one in records(list(import_items(bundle, importer)))}
    assert importer.format == "mixed"
    assert {part for part, _ in found} == {Part("0.md", "markdown"), Part("*.jpg", "pictures")}
    assert {text for part, text in found if part == Part("*.jpg", "pictures")} == {f"Caption {at}" for at in range(3)}


@given(st.binary(max_size=400), st.integers(0, len(SINGLE)))
def test_no_bytes_are_a_fault(noise: bytes, at: int) -> None:
    (item,) = items_of(PICTURES, {"a.png": SINGLE[:at] + noise + SINGLE[at:]})
    assert item.where == "a.png"
