"""The container of an archive: a header with the cost of its key, then encrypted chunks.

The chunks are those of `core.archive.chunks`, with the whole header as associated data. Every archive has a key of its
own: Argon2id of its passphrase and a fresh salt. A MAC of the header tells a wrong passphrase from damage. Must not do:
derive a key with a cost that it has not checked.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from core.archive.chunks import ChunkSealer, open_chunks
from core.errors import Code, LociError, UserError
from core.security.keys import hkdf_sha256, same_bytes
from core.security.passphrase import SALT_BYTES, KdfCost, normalised_passphrase, passphrase_key

MAGIC = b"LOCI-ARCHIVE"
FORMAT = 1
LEAST_CHARACTERS = 12
"""Of a passphrase that an archive is written with."""

_KDF = "argon2id"
_LENGTH = struct.Struct(">H")
_CHECKSUM = struct.Struct(">I")
_MAC_BYTES = 32
_MOST_HEADER = 1024
_SALT = re.compile(r"[0-9a-f]{32}", re.ASCII)
_CHUNK_LABEL, _HEADER_LABEL = b"loci-archive-v1 chunks", b"loci-archive-v1 header"


@dataclass(frozen=True, slots=True)
class ArchiveHeader:
    """What stands before the encrypted part.

    Attributes:
        cost: of a guess at the passphrase, within what Loci accepts.
        salt: 16 bytes, made for this archive alone.
        octets: the header as it stands in the file: the associated data of every chunk.
        mac: what follows it.
    """

    cost: KdfCost
    salt: bytes
    octets: bytes
    mac: bytes = b""


@dataclass(frozen=True, slots=True)
class ArchiveKeys:
    """The keys of one archive.

    Attributes:
        chunks: encrypts the content.
        header: signs the header.
    """

    chunks: bytes = field(repr=False)
    header: bytes = field(repr=False)


def damaged_archive_error(why: str = "it was cut or changed") -> LociError:
    """An archive that cannot be used.

    Args:
        why: a clause; nothing of the content.
    """
    return UserError(Code.IMPORT_REFUSED, f"This archive cannot be used: {why}. Nothing was imported.")


def is_archive(head: bytes) -> bool:
    """Whether a file that begins like this is an archive, of any version."""
    return head.startswith(MAGIC)


def check_archive_passphrase(passphrase: str) -> None:
    """Refuse a passphrase that is too short for a file that may lie about for years.

    Raises:
        UserError: INVALID_INPUT.
    """
    if normalised_passphrase(passphrase) is None or len(passphrase) < LEAST_CHARACTERS:
        raise UserError(Code.INVALID_INPUT, f"The passphrase of an archive has at least {LEAST_CHARACTERS} characters.")


def derive_archive_keys(header: ArchiveHeader, passphrase: str) -> ArchiveKeys:
    """The keys of an archive. Slow on purpose.

    Args:
        header: read or new.
        passphrase: as typed.

    Raises:
        UserError: WRONG_SECRET for a passphrase that no archive can have.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    secret = normalised_passphrase(passphrase)
    if secret is None:
        raise wrong_passphrase_error()
    key = passphrase_key(secret, header.salt, header.cost)
    return ArchiveKeys(hkdf_sha256(key, header.salt, _CHUNK_LABEL), hkdf_sha256(key, header.salt, _HEADER_LABEL))


def wrong_passphrase_error() -> LociError:
    """The passphrase is another one's."""
    return UserError(
        Code.WRONG_SECRET, "The passphrase does not open this archive; check capitals and keyboard layout."
    )


def make_header(cost: KdfCost) -> ArchiveHeader:
    """The header of a new archive, with a salt of its own."""
    salt = os.urandom(SALT_BYTES)
    body = {
        "format": FORMAT,
        "kdf": _KDF,
        "lanes": cost.lanes,
        "memory_kib": cost.memory_kib,
        "passes": cost.passes,
        "salt": salt.hex(),
    }
    text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")
    return ArchiveHeader(cost, salt, MAGIC + _LENGTH.pack(len(text)) + text)


def read_header(file: BinaryIO) -> ArchiveHeader:
    """Read and check the header; the file stands at the first chunk then.

    Args:
        file: at its beginning.

    Raises:
        UserError: IMPORT_REFUSED for damage, or a cost that would be a trap; NEWER_VERSION.
    """
    start = _read_exactly(file, len(MAGIC) + _LENGTH.size)
    if not is_archive(start):
        raise damaged_archive_error("it is another kind of file")
    (length,) = _LENGTH.unpack(start[len(MAGIC) :])
    if length > _MOST_HEADER:
        raise damaged_archive_error("its header is damaged")
    text = _read_exactly(file, length)
    (checksum,) = _CHECKSUM.unpack(_read_exactly(file, _CHECKSUM.size))
    if zlib.crc32(start + text) != checksum:
        raise damaged_archive_error("its header is damaged")
    cost, salt = _parse_body(text)
    return ArchiveHeader(cost, salt, start + text, _read_exactly(file, _MAC_BYTES))


def _parse_body(text: bytes) -> tuple[KdfCost, bytes]:
    try:
        body = json.loads(text.decode("ascii"))
        version = body["format"]
        if isinstance(version, int) and version > FORMAT:
            raise UserError(Code.NEWER_VERSION, "This archive was written by a newer Loci; update Loci to import it.")
        cost = KdfCost(body["memory_kib"], body["passes"], body["lanes"])
        fits = version == FORMAT and body["kdf"] == _KDF and _SALT.fullmatch(body["salt"]) is not None
        numbers = all(type(one) is int for one in (cost.memory_kib, cost.passes, cost.lanes))
        salt = bytes.fromhex(body["salt"])
    except (ValueError, KeyError, TypeError, RecursionError):
        fault = damaged_archive_error("its header is damaged")
    else:
        if fits and numbers and cost.accepted:
            return cost, salt
        fault = damaged_archive_error("its header asks for what Loci does not accept")
    raise fault


def open_archive(file: BinaryIO, passphrase: str) -> tuple[ArchiveHeader, ArchiveKeys]:
    """Read the header and derive the keys.

    Args:
        file: at its beginning; it stands at the first chunk then.

    Raises:
        UserError: WRONG_SECRET; IMPORT_REFUSED, NEWER_VERSION as `read_header`.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    header = read_header(file)
    keys = derive_archive_keys(header, passphrase)
    if not same_bytes(header.mac, _header_mac(header, keys)):
        raise wrong_passphrase_error()
    return header, keys


def _header_mac(header: ArchiveHeader, keys: ArchiveKeys) -> bytes:
    return hmac.digest(keys.header, header.octets, "sha256")


def read_chunks(file: BinaryIO, header: ArchiveHeader, keys: ArchiveKeys) -> Iterator[bytes]:
    """Decrypt the content piece by piece.

    Args:
        file: at the first chunk.
        header: of this file.

    Returns:
        The content of each chunk; that the archive is whole is known after the last one.

    Raises:
        UserError: IMPORT_REFUSED; it was cut, changed or put in another order.
    """
    return open_chunks(file, keys.chunks, header.octets, damaged_archive_error)


class ChunkWriter(ChunkSealer):
    """Encrypts content into chunks as it comes."""

    def __init__(self, file: BinaryIO, header: ArchiveHeader, keys: ArchiveKeys) -> None:
        """Write the header.

        Args:
            file: at its beginning.
            header: of `make_header`, used for this file alone.

        Raises:
            OSError: the disk refused.
        """
        super().__init__(file, keys.chunks, header.octets)
        file.write(header.octets)
        file.write(_CHECKSUM.pack(zlib.crc32(header.octets)))
        file.write(_header_mac(header, keys))


def _read_exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise damaged_archive_error()
    return data
