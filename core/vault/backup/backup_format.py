"""The form of a backup: a plain tar of three members and the manifest that binds them.

``manifest.json`` (first), ``vault.keys``, ``vault.db``. The manifest holds the sizes, digests
and counts and a MAC under the backup key. Must not do: extract any other name, trust a size
in a header, follow a link.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.security.seal import keyed_digest, same_bytes
from core.vault.files.home import new_file

MANIFEST = "manifest.json"
KEYS = "vault.keys"
VAULT = "vault.db"
_ORDER = (MANIFEST, KEYS, VAULT)
_FORMAT = 1
_LABEL = b"loci-backup-manifest-v1"
_MAX_SMALL = 64 * 1024
_CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself.

    Attributes:
        vault_id: 16 bytes.
        schema: the schema's version.
        seq: the vault's sequence.
        made_at_ms: epoch ms.
        counts: table to number of rows.
        vault_bytes: size of `vault.db`.
        vault_sha256: hexadecimal.
        keys_sha256: hexadecimal.
    """

    vault_id: bytes
    schema: int
    seq: int
    made_at_ms: int
    counts: Mapping[str, int]
    vault_bytes: int
    vault_sha256: str
    keys_sha256: str

    def body(self) -> dict[str, Any]:
        """All but the MAC, as JSON holds it."""
        return {
            "format": _FORMAT,
            "vault_id": self.vault_id.hex(),
            "schema": self.schema,
            "seq": self.seq,
            "made_at": self.made_at_ms,
            "counts": dict(self.counts),
            "vault_bytes": self.vault_bytes,
            "vault_sha256": self.vault_sha256,
            "keys_sha256": self.keys_sha256,
        }

    def mac(self, key: bytes) -> bytes:
        """The MAC over the canonical body.

        Args:
            key: the backup's sub-key.

        Returns:
            32 bytes.
        """
        return keyed_digest(key, _LABEL, json.dumps(self.body(), sort_keys=True, separators=(",", ":")).encode("ascii"))


@dataclass(frozen=True)
class UnpackedBackup:
    """A backup's members in a fresh directory; nothing about them is proven yet.

    Attributes:
        vault: the database file.
        keys: the bytes of `vault.keys`.
        manifest: as it was found.
        mac: as it was found.
    """

    vault: Path
    keys: bytes
    manifest: Manifest
    mac: bytes

    def is_signed_by(self, key: bytes) -> bool:
        """Whether the manifest's MAC fits.

        Args:
            key: the backup's sub-key.
        """
        return same_bytes(self.mac, self.manifest.mac(key))


def invalid(why: str) -> UserError:
    """A backup that cannot be used.

    Args:
        why: a clause; no path, no content.
    """
    return UserError(Code.BACKUP_INVALID, f"This backup cannot be used: {why}. The present vault was not touched.")


def sha256_of(path: Path) -> str:
    """Digest a file.

    Args:
        path: which; never a vault that is open.

    Returns:
        Hexadecimal SHA-256.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pack(target: Path, vault: Path, keys: bytes, manifest: Manifest, backup_key: bytes) -> None:
    """Write the archive; the file is new, 0600, and synced.

    Args:
        target: a free name.
        vault: the checked copy.
        keys: the bytes of `vault.keys`.
        manifest: what to say of them.
        backup_key: signs it.

    Raises:
        OSError: the disk refused.
    """
    signed = {**manifest.body(), "mac": manifest.mac(backup_key).hex()}
    new_file(target)
    with target.open("r+b") as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            _add(tar, MANIFEST, io.BytesIO(json.dumps(signed, indent=1).encode("ascii")), manifest.made_at_ms)
            _add(tar, KEYS, io.BytesIO(keys), manifest.made_at_ms)
            with vault.open("rb") as source:
                _add(tar, VAULT, source, manifest.made_at_ms)
        file.flush()
        os.fsync(file.fileno())


def unpack(archive: Path, into: Path) -> UnpackedBackup:
    """Take the three members out of an archive.

    Args:
        archive: an existing regular file.
        into: an empty directory.

    Returns:
        The members; sizes and digests fit the manifest, whose MAC is yet to be checked.

    Raises:
        UserError: BACKUP_INVALID.
        EnvironmentFaultError: ACCESS_DENIED.
        OSError: the disk refused to write.
    """
    try:
        source = archive.open("rb")
    except OSError:
        fault: LociError = EnvironmentFaultError(Code.ACCESS_DENIED, "The backup file cannot be read.")
    else:
        with source:
            try:
                return _unpack(source, into)
            except (tarfile.TarError, EOFError):
                fault = invalid("it was cut or is another kind of file")
    raise fault


def _add(tar: tarfile.TarFile, name: str, source: IO[bytes], made_at_ms: int) -> None:
    info = tarfile.TarInfo(name)
    info.size = source.seek(0, 2)
    source.seek(0)
    info.mode = 0o600
    info.mtime = made_at_ms // 1000
    tar.addfile(info, source)


def _unpack(source: IO[bytes], into: Path) -> UnpackedBackup:
    with tarfile.open(fileobj=source, mode="r:") as tar:
        manifest, mac = _manifest(_small(_member(tar, MANIFEST), tar))
        keys = _small(_member(tar, KEYS), tar)
        member = _member(tar, VAULT)
        if member.size != manifest.vault_bytes or hashlib.sha256(keys).hexdigest() != manifest.keys_sha256:
            raise invalid("its parts do not belong together")
        vault = into / VAULT
        _extract(tar, member, vault)
        if tar.next() is not None:
            raise invalid("it holds more than a backup does")
    if sha256_of(vault) != manifest.vault_sha256:
        raise invalid("it is damaged")
    return UnpackedBackup(vault, keys, manifest, mac)


def _member(tar: tarfile.TarFile, name: str) -> tarfile.TarInfo:
    member = tar.next()
    if member is None or member.name != name or member.type != tarfile.REGTYPE:
        raise invalid("it was cut or is another kind of file")
    return member


def _small(member: tarfile.TarInfo, tar: tarfile.TarFile) -> bytes:
    if member.size > _MAX_SMALL:
        raise invalid("it is another kind of file")
    file = tar.extractfile(member)
    data = b"" if file is None else file.read(_MAX_SMALL)
    if len(data) != member.size:
        raise invalid("it was cut")
    return data


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    source = tar.extractfile(member)
    if source is None:
        raise invalid("it is another kind of file")
    new_file(target)
    left = member.size
    with target.open("r+b") as file:
        while left:
            block = source.read(min(_CHUNK, left))
            if not block:
                raise invalid("it was cut")
            file.write(block)
            left -= len(block)


def _manifest(raw: bytes) -> tuple[Manifest, bytes]:
    try:
        found = json.loads(raw.decode("ascii"))
        if found["format"] != _FORMAT:
            raise invalid("it was written by a newer Loci; update Loci first")
        manifest = Manifest(
            vault_id=bytes.fromhex(found["vault_id"]),
            schema=_number(found["schema"]),
            seq=_number(found["seq"]),
            made_at_ms=_number(found["made_at"]),
            counts={str(name): _number(count) for name, count in found["counts"].items()},
            vault_bytes=_number(found["vault_bytes"]),
            vault_sha256=str(found["vault_sha256"]),
            keys_sha256=str(found["keys_sha256"]),
        )
        mac = bytes.fromhex(found["mac"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fault = invalid("its description cannot be read")
    else:
        return manifest, mac
    raise fault


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value
