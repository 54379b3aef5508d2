"""The container of an archive: header, passphrase, chunks that were cut, moved or changed."""

from __future__ import annotations

import io
import json
import struct
import zlib
from hashlib import shake_256

import pytest
from archive_files import PASSPHRASE, body_start, cheap_keys, read_archive_of, write_archive_of

from core.archive.chunks import CHUNK
from core.archive.container import (
    MAGIC,
    check_archive_passphrase,
    is_archive,
    make_header,
    open_archive,
    read_header,
)
from core.errors import Code, LociError
from core.security.passphrase import KdfCost

SEALED = CHUNK + 16
TABLES = {"memories": (("id", "hash"), [(f"m{n}", shake_256(b"%d" % n).digest(300)) for n in range(900)])}


@pytest.fixture(scope="module")
def archive() -> bytes:
    made = write_archive_of(TABLES)
    assert len(made) > body_start() + 3 * SEALED
    return made


def refusal(data: bytes) -> LociError:
    with pytest.raises(LociError) as caught:
        read_archive_of(data)
    return caught.value


def test_it_opens_with_its_passphrase_and_with_no_other(archive: bytes) -> None:
    open_archive(io.BytesIO(archive), PASSPHRASE)
    for other in (PASSPHRASE + " ", PASSPHRASE.upper(), "x", ""):
        with pytest.raises(LociError) as caught:
            open_archive(io.BytesIO(archive), other)
        assert caught.value.code is Code.WRONG_SECRET


def test_the_passphrase_is_alike_on_every_keyboard() -> None:
    header = make_header(KdfCost.lowest())
    assert header.salt != make_header(KdfCost.lowest()).salt
    check_archive_passphrase("a" * 12)
    for short in ("a" * 11, "", "a" * 5000):
        with pytest.raises(LociError, match="at least 12 characters"):
            check_archive_passphrase(short)


@pytest.mark.slow
def test_a_cut_at_every_thousandth_byte_is_noticed(archive: bytes) -> None:
    for size in [*range(body_start(), len(archive), 1000), len(archive) - 1]:
        assert refusal(archive[:size]).code is Code.IMPORT_REFUSED


def test_a_cut_between_chunks_is_noticed(archive: bytes) -> None:
    for size in range(body_start() + SEALED, len(archive), SEALED):
        assert refusal(archive[:size]).code is Code.IMPORT_REFUSED
    assert refusal(archive + b"x").code is Code.IMPORT_REFUSED


def test_chunks_in_another_order_are_noticed(archive: bytes) -> None:
    start = body_start()
    chunks = [archive[at : at + SEALED] for at in range(start, len(archive), SEALED)]
    swapped = [chunks[1], chunks[0], *chunks[2:]]
    repeated = [chunks[0], chunks[0], *chunks[1:]]
    left_out = [chunks[0], *chunks[2:]]
    for order in (swapped, repeated, left_out):
        assert refusal(archive[:start] + b"".join(order)).code is Code.IMPORT_REFUSED


def test_a_cut_in_the_header_is_noticed(archive: bytes) -> None:
    for size in range(body_start()):
        with pytest.raises(LociError) as caught:
            read_header(io.BytesIO(archive[:size]))
        assert caught.value.code is Code.IMPORT_REFUSED


def test_every_flipped_bit_of_the_header_is_noticed(archive: bytes) -> None:
    for at in range(body_start() - 32):
        broken = bytearray(archive)
        broken[at] ^= 1 << (at % 8)
        with pytest.raises(LociError) as caught:
            read_header(io.BytesIO(bytes(broken)))
        assert caught.value.code is Code.IMPORT_REFUSED
    broken = bytearray(archive)
    broken[body_start() - 1] ^= 1  # of the MAC
    with pytest.raises(LociError) as caught:
        open_archive(io.BytesIO(bytes(broken)), PASSPHRASE)
    assert caught.value.code is Code.WRONG_SECRET


def with_parameters(**changed: object) -> bytes:
    """An intact header that says something else."""
    octets = cheap_keys()[0].octets
    body = json.loads(octets[len(MAGIC) + 2 :]) | changed
    text = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
    start = MAGIC + struct.pack(">H", len(text)) + text
    return start + struct.pack(">I", zlib.crc32(start)) + bytes(32)


@pytest.mark.parametrize(
    "changed",
    [
        {"memory_kib": 4 << 30},
        {"memory_kib": 8},
        {"memory_kib": 19456.0},
        {"memory_kib": "19456"},
        {"passes": 10**9},
        {"passes": 0},
        {"passes": True},
        {"lanes": 10**6},
        {"lanes": None},
        {"kdf": "scrypt"},
        {"salt": "00"},
        {"salt": None},
        {"salt": ["00" * 16]},
        {"format": 0},
        {"format": "1"},
    ],
)
def test_parameters_beyond_the_bounds_are_refused_before_anything_is_derived(
    changed: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.archive.container.passphrase_key", lambda *_: pytest.fail("derived"))
    with pytest.raises(LociError) as caught:
        open_archive(io.BytesIO(with_parameters(**changed)), PASSPHRASE)
    assert caught.value.code is Code.IMPORT_REFUSED


def test_a_later_format_asks_for_a_later_loci() -> None:
    with pytest.raises(LociError) as caught:
        read_header(io.BytesIO(with_parameters(format=2)))
    assert caught.value.code is Code.NEWER_VERSION


def test_another_kind_of_file_is_none() -> None:
    assert is_archive(MAGIC + b"anything")
    assert not is_archive(b"PK\x03\x04")
    assert not is_archive(b"LOCI")
    with pytest.raises(LociError, match="another kind of file"):
        read_header(io.BytesIO(b"x" * 200))


def test_no_word_of_it_is_in_the_file() -> None:
    made = write_archive_of({"memories": (("text",), [("quinquagesima-Marzipanturm",)])})
    assert b"Marzipanturm" not in made
    assert b"memories" not in made


def test_keys_show_nothing_of_themselves() -> None:
    _, keys = cheap_keys()
    assert keys.chunks.hex() not in repr(keys)
    assert repr(keys.chunks) not in repr(keys)
