"""A bundle of changes: one file of one device, sealed under the sync key, signed by the device, chained to the last.

docs/sync-format.md describes it for other programs. A header that everybody can read names the group, the device, the
bundle's number and the one before it, and hands the key to each device that takes part; the signature covers header and
content, and so does the digest that the next bundle names. The content is one zlib stream of JSON lines in encrypted
chunks. Must not do: know what a record means,
give out a line of a file whose signature was not checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from core.archive.chunks import ChunkSealer, open_chunks
from core.archive.envelope import ENVELOPE_BYTES
from core.archive.records import split_lines
from core.errors import Code, LociError, UserError
from core.security.keys import hkdf_sha256

MAGIC = b"LOCI-BUNDLE"
FORMAT = 2
GROUP_BYTES, DEVICE_BYTES, KEY_BYTES, SIGNATURE_BYTES = 16, 8, 32, 64
FIRST = "0" * 64
"""What the first bundle of a device names as the one before it."""

_LENGTH = struct.Struct(">H")
_MOST_HEADER = 8192
_MOST_NUMBER = 2**53
_MOST_CLOCK = 2**62
_SALT_BYTES = 16
_LABEL = b"loci-bundle-v1 chunks"
_HEX = {
    "group": re.compile(r"[0-9a-f]{32}", re.ASCII),
    "device": re.compile(r"[0-9a-f]{16}", re.ASCII),
    "previous": re.compile(r"[0-9a-f]{64}", re.ASCII),
    "salt": re.compile(r"[0-9a-f]{32}", re.ASCII),
}
_KEY = re.compile(r"[0-9a-f]{16}", re.ASCII)
_SHARE = re.compile(r"[0-9a-f]{64}", re.ASCII)
_ENVELOPE = re.compile(rf"[0-9a-f]{{{2 * ENVELOPE_BYTES}}}", re.ASCII)
_LEVEL = 6
_STEP = 1 << 20


class BundleKind(StrEnum):
    """What a bundle holds."""

    CHANGES = "changes"
    """What changed since the bundle before it."""
    WHOLE = "whole"
    """Everything: whoever takes it needs none of the bundles before it."""


class BundleFault(StrEnum):
    """Why a file is not taken; the words stand in `resources/help/commandline.json`."""

    DAMAGED = "damaged"
    FOREIGN = "foreign"
    NEWER = "newer"


class BundleFaultError(UserError):
    """A file that cannot be used as a bundle.

    Attributes:
        fault: why.
    """

    def __init__(self, fault: BundleFault) -> None:
        """Make one.

        Args:
            fault: why.
        """
        super().__init__(Code.BUNDLE_REFUSED, _SENTENCES[fault])
        self.fault = fault


_SENTENCES = {
    BundleFault.DAMAGED: "A bundle was cut or changed; nothing of it was taken.",
    BundleFault.FOREIGN: "A bundle belongs to other devices; nothing of it was taken.",
    BundleFault.NEWER: "A bundle was written by a newer Loci; update Loci to take it.",
}


@dataclass(frozen=True, slots=True)
class BundleHeader:
    """What stands before the encrypted part.

    Attributes:
        group: of devices, hexadecimal.
        device: who wrote it, hexadecimal.
        number: from 1, without gaps.
        previous: digest of the device's bundle before it, hexadecimal; `FIRST` for none.
        schema: version of the schema of the vault it comes from.
        key: id of the key that the chunks are sealed under, hexadecimal; empty in format 1, in which a group had one.
        made: when that key was made, by its maker's clock.
        share: what the envelopes share, hexadecimal.
        envelopes: the key, sealed to each device that takes part, by device; hexadecimal.
    """

    group: str
    device: str
    number: int
    previous: str
    kind: BundleKind
    schema: int
    salt: str
    key: str = ""
    made: int = 0
    share: str = ""
    envelopes: Mapping[str, str] = field(default_factory=dict)

    def to_octets(self) -> bytes:
        """The header as it stands in the file, magic and length before it."""
        body = {
            "device": self.device,
            "envelopes": dict(self.envelopes),
            "format": FORMAT,
            "group": self.group,
            "key": self.key,
            "kind": self.kind.value,
            "made": self.made,
            "number": self.number,
            "previous": self.previous,
            "salt": self.salt,
            "schema": self.schema,
            "share": self.share,
        }
        text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")
        return MAGIC + _LENGTH.pack(len(text)) + text


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """A bundle whose header was read; `digest` names its whole content.

    Attributes:
        digest: SHA-256 of header and content, hexadecimal.
        octets: the header as it stands in the file.
        signature: of the device that the header names.
    """

    header: BundleHeader
    digest: str
    octets: bytes
    signature: bytes

    def is_signed_by(self, public_key: bytes) -> bool:
        """Whether the owner of a key wrote it.

        Args:
            public_key: 32 bytes.
        """
        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(self.signature, bytes.fromhex(self.digest))
        except (InvalidSignature, ValueError):
            return False
        return True


def is_bundle(head: bytes) -> bool:
    """Whether a file that begins like this is a bundle, of any version."""
    return head.startswith(MAGIC)


def make_salt() -> str:
    """A salt for a new bundle, hexadecimal."""
    return os.urandom(_SALT_BYTES).hex()


def read_bundle_header(file: BinaryIO) -> BundleHeader:
    """What a file says of itself; nothing of it is to be believed yet.

    Args:
        file: at its beginning.

    Raises:
        BundleFaultError: DAMAGED or NEWER.
    """
    return _read_header(file)[1]


def check_bundle(file: BinaryIO) -> CheckedBundle:
    """Read the header and the whole content, without opening it.

    Args:
        file: at its beginning.

    Raises:
        BundleFaultError: DAMAGED or NEWER.
    """
    octets, header = _read_header(file)
    signature = file.read(SIGNATURE_BYTES)
    if len(signature) < SIGNATURE_BYTES:
        raise BundleFaultError(BundleFault.DAMAGED)
    return CheckedBundle(header, _digest(octets, file), octets, signature)


def read_lines(file: BinaryIO, bundle: CheckedBundle, sync_key: bytes) -> Iterator[Mapping[str, Any]]:
    """The lines of a bundle whose signature was checked, the last one left out.

    Args:
        file: at its beginning.
        bundle: of `check_bundle`, from the same file.

    Yields:
        Each line; that the bundle is whole is known after the last.

    Raises:
        BundleFaultError: DAMAGED.
    """
    file.seek(len(bundle.octets) + SIGNATURE_BYTES)
    chunks = open_chunks(file, _chunk_key(sync_key, bundle.header.salt), bundle.octets, _damaged)
    count, ended = 0, False
    try:
        for line in split_lines(chunks):
            value = json.loads(line)
            if ended or not isinstance(value, dict):
                raise _damaged()
            if "end" in value:
                ended = value["end"] == count
                if not ended:
                    raise _damaged()
                continue
            count += 1
            yield value
    except BundleFaultError:
        raise
    except (LociError, ValueError, RecursionError):  # the words of an archive; a line that is no JSON
        raise _damaged() from None
    if not ended:
        raise _damaged()


class BundleWriter:
    """Writes one bundle."""

    def __init__(self, file: BinaryIO, header: BundleHeader, sync_key: bytes, private_key: bytes) -> None:
        """Write the header.

        Args:
            file: at its beginning; can be read and sought.
            private_key: of the device, 32 bytes.

        Raises:
            OSError: the disk refused.
        """
        self._file, self._octets, self._private = file, header.to_octets(), private_key
        file.write(self._octets)
        file.write(bytes(SIGNATURE_BYTES))  # its place, until the content is known
        self._sealer = ChunkSealer(file, _chunk_key(sync_key, header.salt), self._octets)
        self._packer = zlib.compressobj(_LEVEL)
        self.lines = 0

    def write_line(self, value: Mapping[str, object]) -> None:
        """Write one line.

        Raises:
            OSError: the disk refused.
        """
        self._write(value)
        self.lines += 1

    def finish(self) -> str:
        """Write the last line and the signature.

        Returns:
            The bundle's digest, hexadecimal.

        Raises:
            OSError: the disk refused.
        """
        self._write({"end": self.lines})
        self._sealer.write(self._packer.flush())
        self._sealer.finish()
        self._file.seek(len(self._octets) + SIGNATURE_BYTES)
        digest = _digest(self._octets, self._file)
        signature = Ed25519PrivateKey.from_private_bytes(self._private).sign(bytes.fromhex(digest))
        self._file.seek(len(self._octets))
        self._file.write(signature)
        return digest

    def _write(self, value: Mapping[str, object]) -> None:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
        packed = self._packer.compress(text.encode("utf-8") + b"\n")
        if packed:
            self._sealer.write(packed)


def make_device_key() -> tuple[bytes, bytes]:
    """A new key of a device.

    Returns:
        The private and the public half, 32 bytes each.
    """
    made = Ed25519PrivateKey.generate()
    return made.private_bytes_raw(), made.public_key().public_bytes_raw()


def _read_header(file: BinaryIO) -> tuple[bytes, BundleHeader]:
    start = file.read(len(MAGIC) + _LENGTH.size)
    if len(start) < len(MAGIC) + _LENGTH.size or not is_bundle(start):
        raise _damaged()
    (length,) = _LENGTH.unpack(start[len(MAGIC) :])
    text = file.read(length) if length <= _MOST_HEADER else b""
    if len(text) != length or not text:
        raise _damaged()
    return start + text, _parse_header(text)


def _parse_header(text: bytes) -> BundleHeader:
    try:
        body = json.loads(text.decode("ascii"))
        version = body["format"]
        if type(version) is int and version > FORMAT:
            raise BundleFaultError(BundleFault.NEWER)
        numbers = body["number"], body["schema"], version
        fits = all(pattern.fullmatch(body[name]) for name, pattern in _HEX.items())
        kind = BundleKind(body["kind"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged() from None
    if not fits or not all(type(one) is int and 0 < one < _MOST_NUMBER for one in numbers):
        raise _damaged()
    plain = BundleHeader(body["group"], body["device"], numbers[0], body["previous"], kind, numbers[1], body["salt"])
    return plain if version == 1 else _parse_key(plain, body)


def _parse_key(plain: BundleHeader, body: Mapping[str, Any]) -> BundleHeader:
    """What format 2 says of the key."""
    try:
        key, made, share, envelopes = (body[name] for name in ("key", "made", "share", "envelopes"))
        fits = _KEY.fullmatch(key) and _SHARE.fullmatch(share) and type(made) is int and 0 <= made < _MOST_CLOCK
        sealed = all(_HEX["device"].fullmatch(name) and _ENVELOPE.fullmatch(one) for name, one in envelopes.items())
    except (KeyError, TypeError, AttributeError):
        raise _damaged() from None
    if not fits or not sealed:
        raise _damaged()
    return replace(plain, key=key, made=made, share=share, envelopes=envelopes)


def _digest(octets: bytes, content: BinaryIO) -> str:
    """SHA-256 of a header and of all that follows in a file."""
    found = hashlib.sha256(octets)
    while part := content.read(_STEP):
        found.update(part)
    return found.hexdigest()


def _chunk_key(sync_key: bytes, salt: str) -> bytes:
    return hkdf_sha256(sync_key, bytes.fromhex(salt), _LABEL)


_damaged: Callable[[], BundleFaultError] = lambda: BundleFaultError(BundleFault.DAMAGED)  # noqa: E731 - handed over as it is
