"""`vault.keys`: its parts, its exact bytes, and the two files on the disk that hold them.

One line ``LOCIKEYS1 <SHA-256 of the body, hex>`` and a body of canonical JSON
``{v, id, created, test_clock, slots}``. The checksum tells damage from a wrong secret; it is no protection: every slot
binds the file's fields and its own parameters to the wrapped root (`slot_aad`), so weakening one of them breaks its
tag. The magic never changes; the version is ``v``. `vault.keys.bak` holds the same bytes, for the day that the first
file is damaged.

Must not do: open slots, create a vault, write when it is not told it may.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from core.errors import BugError, Code, EnvironmentFaultError, IntegrityError, LociError, UserError
from core.security.atomic import write_atomic
from core.security.keys import KEY_BYTES, NONCE_BYTES, TAG_BYTES, VAULT_ID_BYTES
from core.security.passphrase import SALT_BYTES, KdfCost

_BACKUP = ".bak"


@dataclass(frozen=True)
class LoadedKeys:
    """A key file as it was found.

    Attributes:
        keys: its content.
        from_backup: the main copy was missing or damaged, the second one was used.
        repaired: a missing, damaged or differing copy was written anew.
    """

    keys: KeyFile
    from_backup: bool
    repaired: bool


def backup_of(path: Path) -> Path:
    """Where the second copy of a key file is.

    Args:
        path: `vault.keys`.

    Returns:
        `vault.keys.bak` beside it.
    """
    return path.with_name(path.name + _BACKUP)


def keys_exist(path: Path) -> bool:
    """Whether there is anything, whole or not, under either name; then no vault may be created here.

    Args:
        path: `vault.keys`.

    Returns:
        True when either name is taken, be it by a broken link.
    """
    return os.path.lexists(path) or os.path.lexists(backup_of(path))


def load_keys(path: Path, *, repair: bool = True, proven_id: bytes | None = None) -> LoadedKeys:
    """Read the key file, from its second copy if need be. Tries no secret.

    Args:
        path: `vault.keys`.
        repair: write the bad or outdated copy anew from the good one. Only the holder of the
            vault's lock may: another process could be saving new slots just now.
        proven_id: id of the vault that a key of the main copy has opened; without it a copy of another vault is left
            alone, since either of the two may be the one that belongs here.

    Returns:
        The key file and where it came from.

    Raises:
        UserError: NO_VAULT where neither copy exists; NEWER_VERSION.
        IntegrityError: KEY_FILE_DAMAGED; both copies are damaged, or an intact one holds
            what Loci does not accept.
        EnvironmentFaultError: ACCESS_DENIED; no right to read.
    """
    if not keys_exist(path):
        raise UserError(Code.NO_VAULT, "There is no vault here yet; make one with `loci init`.")
    main, backup = _read_bytes(path), _read_bytes(backup_of(path))
    main_body = None if main is None else intact_body(main)
    backup_body = None if backup is None else intact_body(backup)
    body = backup_body if main_body is None else main_body
    if body is None:
        raise key_file_damaged_error()
    # An intact main copy with unacceptable content was written so on purpose: falling back to the
    # second copy would quietly bring back slots that someone removed, so this refuses instead.
    keys = parse_body(body)
    may_repair = repair and (keys.vault_id == proven_id or not _is_of_another_vault(keys, backup_body))
    repaired = may_repair and main_body != backup_body and _repair_copy(path, keys, main_is_bad=main_body is None)
    return LoadedKeys(keys, from_backup=main_body is None, repaired=repaired)


def _is_of_another_vault(keys: KeyFile, backup_body: bytes | None) -> bool:
    if backup_body is None:
        return False
    try:
        return parse_body(backup_body).vault_id != keys.vault_id
    except LociError:
        return False  # it holds nothing that Loci could use


def is_copy_of_another_vault(path: Path) -> bool:
    """Whether both copies are whole, and of two vaults: then either may be the one that belongs here.

    Args:
        path: `vault.keys`.
    """
    main, backup = _read_bytes(path), _read_bytes(backup_of(path))
    body = None if main is None else intact_body(main)
    return body is not None and _is_of_another_vault(parse_body(body), None if backup is None else intact_body(backup))


def foreign_keys_error() -> IntegrityError:
    """The keys that are here were opened and are another vault's."""
    return IntegrityError(
        Code.KEY_FILE_DAMAGED,
        "The keys in vault.keys are another vault's: they open neither vault.db nor vault.head. Put this vault's own "
        "vault.keys back (vault.keys.bak may be it), or restore a backup; nothing was changed.",
    )


def save_keys(path: Path, keys: KeyFile) -> None:
    """Write both copies, the main one first; a kill at any moment leaves a whole file in each place.

    Args:
        path: `vault.keys`; the caller holds the vault's lock.
        keys: what to keep.

    Raises:
        EnvironmentFaultError: DISK_FULL, READ_ONLY or WRITE_FAILED.
    """
    data = keys.to_bytes()
    write_atomic(path, data)
    write_atomic(backup_of(path), data)


def _repair_copy(path: Path, keys: KeyFile, *, main_is_bad: bool) -> bool:
    try:
        write_atomic(path if main_is_bad else backup_of(path), keys.to_bytes())
    except EnvironmentFaultError:
        # A full or read-only disk must not keep a person from a vault whose keys were read well.
        return False
    return True


def _read_bytes(path: Path) -> bytes | None:
    """At most one byte more than a key file may have; None for what is no readable regular file."""
    denied = False
    try:
        # Not blocking, or a FIFO under this name would hold us for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except PermissionError:
        denied = True
    except OSError:
        return None
    if denied:
        raise EnvironmentFaultError(Code.ACCESS_DENIED, "The key file may not be read; check its permissions.")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read_some(descriptor, MAX_FILE_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_some(descriptor: int, most: int) -> bytes:
    held = b""
    while len(held) < most:
        more = os.read(descriptor, most - len(held))
        if not more:
            break
        held += more
    return held


VERSION = 1
MAX_FILE_BYTES = 64 * 1024

_MAGIC = b"LOCIKEYS1 "
_HEADER_BYTES = len(_MAGIC) + 64 + 1
_SLOT_LABEL = b"loci-slot-v1"
_SEALED_BYTES = KEY_BYTES + TAG_BYTES
_LATEST_MS = 253_402_300_799_999  # the end of the year 9999
_MAX_KDF_NUMBER = 2**31  # only a first look; `KdfCost.accepted` draws the real borders
_BACKEND = re.compile(r"[A-Za-z0-9_.]{1,200}")


SlotKind = Literal["passphrase", "recovery", "keyring"]


@dataclass(frozen=True)
class WrappedRoot:
    """The root under one slot's key.

    Attributes:
        nonce: 12 bytes.
        sealed: the wrapped root with its tag, 48 bytes.
    """

    nonce: bytes = field(repr=False)
    sealed: bytes = field(repr=False)


@dataclass(frozen=True)
class PassphraseSlot:
    """Opens with a passphrase through Argon2id.

    Attributes:
        salt: 16 bytes.
        cost: what a guess costs.
        root: the wrapped root; None only while the slot is being made.
    """

    salt: bytes = field(repr=False)
    cost: KdfCost
    root: WrappedRoot | None = None

    kind: ClassVar[SlotKind] = "passphrase"

    def to_parameters(self) -> dict[str, Any]:
        """All that is stored beside the wrapped root, and bound to it."""
        cost = {"m": self.cost.memory_kib, "t": self.cost.passes, "p": self.cost.lanes}
        return {"kind": self.kind, "kdf": "argon2id", "salt": self.salt.hex(), **cost}

    def with_root(self, root: WrappedRoot) -> Self:
        """The same slot with its wrapped root."""
        return replace(self, root=root)


@dataclass(frozen=True)
class RecoverySlot:
    """Opens with the printable recovery code through HKDF.

    Attributes:
        root: the wrapped root; None only while the slot is being made.
    """

    root: WrappedRoot | None = None

    kind: ClassVar[SlotKind] = "recovery"

    def to_parameters(self) -> dict[str, Any]:
        """All that is stored beside the wrapped root, and bound to it."""
        return {"kind": self.kind, "kdf": "hkdf-sha256"}

    def with_root(self, root: WrappedRoot) -> Self:
        """The same slot with its wrapped root."""
        return replace(self, root=root)


@dataclass(frozen=True)
class KeyringSlot:
    """Opens with a random key kept in the system's keyring.

    Attributes:
        backend: full name of the keyring backend that keeps the key.
        root: the wrapped root; None only while the slot is being made.
    """

    backend: str
    root: WrappedRoot | None = None

    kind: ClassVar[SlotKind] = "keyring"

    def to_parameters(self) -> dict[str, Any]:
        """All that is stored beside the wrapped root, and bound to it."""
        return {"kind": self.kind, "backend": self.backend}

    def with_root(self, root: WrappedRoot) -> Self:
        """The same slot with its wrapped root."""
        return replace(self, root=root)


Slot = PassphraseSlot | RecoverySlot | KeyringSlot


@dataclass(frozen=True)
class KeyFile:
    """The whole of `vault.keys`.

    Attributes:
        vault_id: 16 random bytes, public.
        created_ms: when the vault was made, epoch milliseconds UTC.
        test_clock: whether `LOCI_NOW` may move this vault's clock.
        slots: at most one of each kind.
    """

    vault_id: bytes
    created_ms: int
    test_clock: bool
    slots: tuple[Slot, ...]

    @property
    def passphrase_slot(self) -> PassphraseSlot | None:
        """The passphrase slot, when there is one."""
        return next((slot for slot in self.slots if isinstance(slot, PassphraseSlot)), None)

    @property
    def recovery_slot(self) -> RecoverySlot | None:
        """The recovery slot, when there is one."""
        return next((slot for slot in self.slots if isinstance(slot, RecoverySlot)), None)

    @property
    def keyring_slot(self) -> KeyringSlot | None:
        """The keyring slot, when there is one."""
        return next((slot for slot in self.slots if isinstance(slot, KeyringSlot)), None)

    def slot_aad(self, slot: Slot) -> bytes:
        """What is bound to a slot's wrapped root.

        Args:
            slot: one of this file's, complete or in the making.

        Returns:
            A label and canonical JSON of the file's own fields and the slot's parameters.
        """
        return _SLOT_LABEL + _canonical_json({**self.to_head(), "slot": slot.to_parameters()})

    def to_head(self) -> dict[str, Any]:
        """The file's own fields, without the slots, as they are written and bound."""
        return {
            "v": VERSION,
            "id": self.vault_id.hex(),
            "created": self.created_ms,
            "test_clock": self.test_clock,
        }

    def to_bytes(self) -> bytes:
        """The exact bytes of `vault.keys`.

        Returns:
            The header line and the body.

        Raises:
            BugError: this would not load again.
        """
        slots = [_slot_object(slot) for slot in self.slots]
        body = _canonical_json({**self.to_head(), "slots": slots})
        data = _MAGIC + sha256(body).hexdigest().encode("ascii") + b"\n" + body
        if len(data) > MAX_FILE_BYTES or _parse_exactly(body) != self:
            raise BugError("key file to write")
        return data


def intact_body(data: bytes) -> bytes | None:
    """Check the frame of a key file: size, magic and checksum, nothing of the content.

    Args:
        data: the file's bytes, or its first 64 KiB and one byte.

    Returns:
        The body, or None when the file is damaged.
    """
    if not _HEADER_BYTES < len(data) <= MAX_FILE_BYTES:
        return None
    body = data[_HEADER_BYTES:]
    header = _MAGIC + sha256(body).hexdigest().encode("ascii") + b"\n"
    return body if data[:_HEADER_BYTES] == header else None


def parse_body(body: bytes) -> KeyFile:
    """Read an intact body. Strict, and before anything is derived.

    Args:
        body: from `intact_body`.

    Returns:
        The key file, every limit checked.

    Raises:
        UserError: NEWER_VERSION.
        IntegrityError: KEY_FILE_DAMAGED; not what Loci writes, or parameters it does not accept.
    """
    found = _json_object(body)
    version = found.get("v")
    if type(version) is int and version > VERSION:
        raise UserError(
            Code.NEWER_VERSION, "This vault was made by a newer version of Loci; open it with that version or a later."
        )
    keys = _parse_exactly(body)
    if keys is None:
        raise key_file_damaged_error()
    return keys


def key_file_damaged_error() -> IntegrityError:
    """The error for a key file that cannot be used.

    Returns:
        The error to raise; it says what the person can do.
    """
    return IntegrityError(
        Code.KEY_FILE_DAMAGED,
        "The key file is damaged, and so is its copy; put back vault.keys from a backup. No secret was tried.",
    )


def _canonical_json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _slot_object(slot: Slot) -> dict[str, Any]:
    if slot.root is None:
        raise BugError("unfinished key slot")
    return {**slot.to_parameters(), "nonce": slot.root.nonce.hex(), "sealed": slot.root.sealed.hex()}


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(
            body.decode("ascii"),
            object_pairs_hook=_no_duplicates,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse_number(_text: str) -> Any:
    raise ValueError("number form")


class _UnfitError(Exception):
    """A part of the body is not what Loci writes."""


def _parse_exactly(body: bytes) -> KeyFile | None:
    """The key file in a body, or None when the body is not exactly what `to_bytes` would give."""
    found = _json_object(body)
    try:
        keys = _read_file(found)
    except _UnfitError:
        return None
    # The way back must give the same bytes: that leaves no room for spaces, other orders or unknown keys.
    same = _canonical_json({**keys.to_head(), "slots": [_slot_object(slot) for slot in keys.slots]})
    return keys if same == body else None


def _read_file(found: dict[str, Any]) -> KeyFile:
    _require_fit(found.get("v") == VERSION and type(found["v"]) is int)
    test_clock, slots = found.get("test_clock"), found.get("slots")
    if type(test_clock) is not bool or not isinstance(slots, list):
        raise _UnfitError
    read = tuple(_read_slot(slot) for slot in slots)
    kinds = [slot.kind for slot in read]
    _require_fit(bool(kinds) and len(set(kinds)) == len(kinds))
    return KeyFile(
        vault_id=_read_octets(found, "id", VAULT_ID_BYTES),
        created_ms=_read_integer(found, "created", _LATEST_MS),
        test_clock=test_clock,
        slots=read,
    )


def _read_slot(found: Any) -> Slot:
    if not isinstance(found, dict):
        raise _UnfitError
    root = WrappedRoot(_read_octets(found, "nonce", NONCE_BYTES), _read_octets(found, "sealed", _SEALED_BYTES))
    match found.get("kind"):
        case "passphrase":
            cost = KdfCost(*(_read_integer(found, name, _MAX_KDF_NUMBER) for name in ("m", "t", "p")))
            _require_fit(cost.accepted)
            return PassphraseSlot(_read_octets(found, "salt", SALT_BYTES), cost, root)
        case "recovery":
            return RecoverySlot(root)
        case "keyring":
            backend = found.get("backend")
            if not isinstance(backend, str) or _BACKEND.fullmatch(backend) is None:
                raise _UnfitError
            return KeyringSlot(backend, root)
        case _:
            raise _UnfitError


def _read_integer(found: dict[str, Any], name: str, highest: int) -> int:
    value = found.get(name)
    if type(value) is not int or not 0 <= value <= highest:
        raise _UnfitError
    return value


def _read_octets(found: dict[str, Any], name: str, length: int) -> bytes:
    value = found.get(name)
    if not isinstance(value, str) or re.fullmatch(rf"[0-9a-f]{{{2 * length}}}", value) is None:
        raise _UnfitError
    return bytes.fromhex(value)


def _require_fit(fits: bool) -> None:
    if not fits:
        raise _UnfitError
