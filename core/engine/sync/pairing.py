"""Letting another device in: a code shown on one device opens an invitation that lies in the folder.

The code is the secret: 120 random bits, of which the name and the key of the invitation are derived, so whoever has the
folder alone can neither open it nor answer it. The answer holds the new device's public key, under another key of the
same code; the device that invited takes it once. Must not do: write a vault, keep a code in a file.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.archive.bundle import GROUP_BYTES, KEY_BYTES
from core.engine.sync.folder import open_plain
from core.errors import Code, LociError, UserError
from core.intake.sync.device import KnownDevice
from core.intake.sync.keys import SyncKey, key_id
from core.intake.sync.records import device_line, parse_device
from core.security.atomic import write_atomic
from core.security.keys import hkdf_sha256, open_sealed, seal

INVITATION_MS = 60 * 60 * 1000
"""How long a code opens."""

_SECRET_BYTES = 15
_NAME_BYTES = 8
_MOST_BYTES = 65_536
_TYPED = re.compile(r"[A-Z2-7]{24}", re.ASCII)
_SALT = b"loci-sync-pairing-v1"
_INVITATION, _ANSWER = "loci-invitation", "loci-answer"


@dataclass(frozen=True, slots=True)
class DeviceInvitation:
    """What a new device is told.

    Attributes:
        group: hexadecimal.
        keys: all that seal its bundles, the oldest first.
        host: the device that invites.
        expires_at: epoch ms.
    """

    group: str
    keys: tuple[SyncKey, ...]
    host: KnownDevice
    expires_at: int


def make_secret() -> bytes:
    """The secret of a new code."""
    return os.urandom(_SECRET_BYTES)


def format_code(secret: bytes) -> str:
    """A code as it is shown: six groups of four."""
    text = base64.b32encode(secret).decode("ascii")
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def parse_code(typed: str) -> bytes:
    """Undo `format_code`, with whatever stands between the characters.

    Raises:
        UserError: SYNC_CODE_REFUSED.
    """
    text = re.sub(r"[\s-]", "", typed).upper().replace("0", "O").replace("1", "I").replace("8", "B")
    if _TYPED.fullmatch(text) is None:
        raise UserError(Code.SYNC_CODE_REFUSED, "This is no code of `loci sync pair`; it has 24 letters and digits.")
    return base64.b32decode(text)


def invitation_id(secret: bytes) -> str:
    """What the files of a code are called by, hexadecimal."""
    return hkdf_sha256(secret, _SALT, b"name", _NAME_BYTES).hex()


def write_invitation(folder: Path, secret: bytes, invitation: DeviceInvitation) -> None:
    """Put an invitation into the folder.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY, WRITE_FAILED.
    """
    about = {
        "group": invitation.group,
        "keys": [[one.key.hex(), one.made, sorted(one.holders)] for one in invitation.keys],
        "expires_at": invitation.expires_at,
        **device_line(invitation.host),
    }
    _write(folder, secret, _INVITATION, about)


def read_invitation(folder: Path, secret: bytes, now_ms: int) -> DeviceInvitation:
    """The invitation that a code opens.

    Raises:
        UserError: SYNC_CODE_REFUSED.
    """
    about = _read(folder, secret, _INVITATION)
    if about is None:
        raise UserError(
            Code.SYNC_CODE_REFUSED,
            "No invitation in this folder opens with this code; wait until the folder has synchronised, or ask for "
            "another code.",
        )
    try:
        keys = tuple(_parse_key(*one) for one in about["keys"])
        found = DeviceInvitation(str(about["group"]), keys, parse_device(about["device"]), int(about["expires_at"]))
        fits = len(bytes.fromhex(found.group)) == GROUP_BYTES and bool(keys)
    except (KeyError, TypeError, ValueError, LociError):
        fits = False
    if not fits:
        raise UserError(Code.SYNC_CODE_REFUSED, "The invitation was written by another version of Loci; update both.")
    if found.expires_at <= now_ms:
        raise UserError(Code.SYNC_CODE_REFUSED, "This code has expired; ask for another one with `loci sync pair`.")
    return found


def _parse_key(key: str, made: int, holders: list[str]) -> SyncKey:
    octets = bytes.fromhex(key)
    if len(octets) != KEY_BYTES or not all(isinstance(one, str) for one in holders):
        raise ValueError
    return SyncKey(key_id(octets), octets, int(made), frozenset(holders))


def write_answer(folder: Path, secret: bytes, device: KnownDevice) -> None:
    """Tell the device that invited who has come.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY, WRITE_FAILED.
    """
    _write(folder, secret, _ANSWER, device_line(device))


def read_answer(folder: Path, secret: bytes) -> KnownDevice | None:
    """The device that answered a code; None for none yet, and for what is no answer."""
    about = _read(folder, secret, _ANSWER)
    if about is None:
        return None
    try:
        return parse_device(about.get("device"))
    except LociError:
        return None


def remove_files(folder: Path, invitation: str) -> None:
    """Remove what a code that is over left in the folder.

    Args:
        invitation: of `invitation_id`.
    """
    for kind in (_INVITATION, _ANSWER):
        try:
            _path(folder, invitation, kind).unlink(missing_ok=True)
        except OSError:
            continue  # it opens nothing any more


def _path(folder: Path, invitation: str, kind: str) -> Path:
    return folder / f"{invitation}.{kind}"


def _key(secret: bytes, kind: str) -> bytes:
    return hkdf_sha256(secret, _SALT, kind.encode("ascii"))


def _write(folder: Path, secret: bytes, kind: str, about: Mapping[str, Any]) -> None:
    text = json.dumps(dict(about), sort_keys=True, separators=(",", ":")).encode("utf-8")
    sealed = seal(_key(secret, kind), text, kind.encode("ascii"))
    write_atomic(_path(folder, invitation_id(secret), kind), sealed)


def _read(folder: Path, secret: bytes, kind: str) -> dict[str, Any] | None:
    try:
        with open_plain(_path(folder, invitation_id(secret), kind)) as file:
            sealed = file.read(_MOST_BYTES)
        found = json.loads(open_sealed(_key(secret, kind), sealed, kind.encode("ascii")))
    except (OSError, ValueError, LociError):
        return None
    return found if isinstance(found, dict) else None
