"""Making, opening and changing the key slots of a vault, and the printable recovery code.

The slots work on values: a `KeyFile` goes in, a new one comes out, and the caller saves it (`keyfile`) under the
vault's lock. A wrong secret ends here, before the vault is touched. At most one slot of each kind; a keyring is never
the only one.

The recovery code is 20 random bytes and a 16-bit checksum, 176 bits: 36 characters of base32 (RFC 4648, four zero bits
at the end), printed in nine groups of four. The checksum is CRC-16/CCITT and not a hash, because it catches every
single wrong character and every swap of two neighbours for certain. The code's 160 bits need no slow derivation.

Must not do: touch files, keep secrets, make a key because something went wrong.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import unicodedata
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import product

from core.errors import BugError, Code, PreconditionError, UserError
from core.security.keyfile import (
    KeyFile,
    KeyringSlot,
    PassphraseSlot,
    RecoverySlot,
    Slot,
    SlotKind,
    WrappedRoot,
    key_file_damaged_error,
)
from core.security.keyring_client import Keyring
from core.security.keys import KEY_BYTES, NONCE_BYTES, VAULT_ID_BYTES, RootKey, hkdf_sha256
from core.security.passphrase import SALT_BYTES, KdfCost, normalised_passphrase, passphrase_key
from core.types.clock import Clock

SECRET_BYTES = 20
CODE_CHARACTERS = 36
GROUP_CHARACTERS = 4

_CRC_START = 0xFFFF
_LONGEST_TYPED = 256
_MOST_ONES = 4
_DASHES_AND_SPACES = re.compile(r"[\s_\u00ad\u200b\u2060\ufeff\u2010-\u2015\u2212-]+")
_SHAPE = re.compile(r"[A-Z2-71]{36}")
# 0 and 8 are not in the alphabet and look like one letter of it each. 1 may be I or L; the checksum tells which.
_LOOKALIKES = str.maketrans({"0": "O", "8": "B"})
_ONE = "1"


def new_recovery_secret() -> bytes:
    """Make the secret behind a recovery code.

    Returns:
        20 random bytes.
    """
    return os.urandom(SECRET_BYTES)


def format_recovery_code(secret: bytes) -> str:
    """Write a secret as the code that is shown once.

    Args:
        secret: the 20 bytes.

    Returns:
        36 base32 characters in groups of four, joined by hyphens (44 in all).
    """
    checked = secret + binascii.crc_hqx(secret, _CRC_START).to_bytes(2, "big")
    letters = base64.b32encode(checked).decode("ascii").rstrip("=")
    groups = (letters[at : at + GROUP_CHARACTERS] for at in range(0, CODE_CHARACTERS, GROUP_CHARACTERS))
    return "-".join(groups)


def parse_recovery_code(typed: str) -> bytes:
    """Read a code as a person types it.

    Lower case, any spaces and dashes, 0 for O, 8 for B and 1 for I or L are understood.

    Returns:
        The 20 bytes.

    Raises:
        UserError: WRONG_SECRET; the code is too short, too long or mistyped, told before any vault is touched.
    """
    letters = _normalize_typed(typed)
    if len(letters) != CODE_CHARACTERS:
        raise UserError(
            Code.WRONG_SECRET, f"A recovery code has {CODE_CHARACTERS} letters and digits; this one has another length."
        )
    secret = _checked_secret(letters)
    if secret is None:
        raise UserError(
            Code.WRONG_SECRET, "The recovery code is mistyped: its checksum does not fit; compare it letter by letter."
        )
    return secret


def is_recovery_code(typed: str) -> bool:
    """Whether a text is a well-formed recovery code, checksum and all.

    Returns:
        True when `parse_recovery_code` would accept it.
    """
    return _checked_secret(_normalize_typed(typed)) is not None


def _normalize_typed(typed: str) -> str:
    if len(typed) > _LONGEST_TYPED:
        return ""
    plain = unicodedata.normalize("NFKC", typed)
    return _DASHES_AND_SPACES.sub("", plain).upper().translate(_LOOKALIKES)


def _checked_secret(letters: str) -> bytes | None:
    if _SHAPE.fullmatch(letters) is None or letters.count(_ONE) > _MOST_ONES:
        return None
    found: set[bytes] = set()
    parts = letters.split(_ONE)
    for choice in product("IL", repeat=len(parts) - 1):
        candidate = "".join(part + filler for part, filler in zip(parts, (*choice, ""), strict=True))
        raw = base64.b32decode(candidate + "====")
        secret, crc = raw[:SECRET_BYTES], int.from_bytes(raw[SECRET_BYTES:], "big")
        # Four bits at the end carry nothing; they must be zero or a wrong last character would pass.
        if binascii.crc_hqx(secret, _CRC_START) == crc and base64.b32encode(raw).startswith(candidate.encode()):
            found.add(secret)
    return found.pop() if len(found) == 1 else None


_OTHER_CODE = (
    "The recovery code is well typed but does not open this vault: it is another vault's, or a newer one replaced it."
)
_RECOVERY_LABEL = b"loci-kek-recovery-v1"


@dataclass(frozen=True)
class NewKeys:
    """The keys of a vault that does not exist yet.

    Attributes:
        keys: to be saved.
        root: to be wiped when the vault is closed.
        recovery_code: to be shown once and kept nowhere.
    """

    keys: KeyFile
    root: RootKey
    recovery_code: str = field(repr=False)


def create_keys(
    passphrase: str | None,
    *,
    clock: Clock,
    keyring: Keyring | None = None,
    cost: KdfCost | None = None,
    test_clock: bool = False,
) -> NewKeys:
    """Make a root, a vault id and the slots of a new vault. Writes nothing but the keyring's entry.

    Args:
        passphrase: for the passphrase slot; None only together with a keyring.
        clock: tells the time of creation.
        keyring: the system's keyring, when the person wants that slot.
        cost: of a guess at the passphrase; `KdfCost.standard` when not given.
        test_clock: whether `LOCI_NOW` may move this vault's clock, for good.

    Returns:
        The key file with a recovery slot and what else was asked for.

    Raises:
        UserError: INVALID_INPUT; neither passphrase nor keyring, or an unusable passphrase.
        KeyringFaultError: the keyring cannot be used; nothing was made.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    if passphrase is None and keyring is None:
        raise UserError(Code.INVALID_INPUT, "A vault needs a passphrase or the system's keyring.")
    vault_id = os.urandom(VAULT_ID_BYTES)
    with ExitStack() as undo:
        root = RootKey.generate(vault_id)
        undo.callback(root.wipe)
        keys = KeyFile(vault_id, max(0, clock.now_ms()), test_clock, ())
        keys, code = renew_recovery_code(keys, root)
        if passphrase is not None:
            keys = change_passphrase(keys, root, passphrase, cost)
        if keyring is not None:
            keys = add_keyring(keys, root, keyring)
        undo.pop_all()
    return NewKeys(keys, root, code)


def renew_root(
    keys: KeyFile, passphrase: str | None, *, keyring: Keyring | None = None, cost: KdfCost | None = None
) -> NewKeys:
    """Make another root for the same vault, with a slot of every kind it has and a new recovery code.

    The keyring keeps the random key it has: it is never replaced, and wraps the new root too.

    Args:
        keys: the vault's key file as it is now; nothing of it is changed.
        passphrase: the present one; None where the vault has none.
        keyring: the system's; without it a keyring slot is left out.
        cost: of a guess at the passphrase; `KdfCost.standard` when not given.

    Returns:
        The key file of the new root, to be saved together with what the root opens.

    Raises:
        UserError: INVALID_INPUT; the passphrase's slot is there and no passphrase is given.
        KeyringFaultError: the keyring cannot be used; nothing was made.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    if keys.passphrase_slot is not None and passphrase is None:
        raise PreconditionError(
            "The recovery code alone cannot carry the passphrase over to new keys; change the passphrase first "
            "(`loci passphrase`, or the settings), then use that."
        )
    with ExitStack() as undo:
        root = RootKey.generate(keys.vault_id)
        undo.callback(root.wipe)
        renewed, code = renew_recovery_code(replace(keys, slots=()), root)
        if passphrase is not None:
            renewed = change_passphrase(renewed, root, passphrase, cost)
        if keys.keyring_slot is not None and keyring is not None:
            entry = keyring.fetch(keys.vault_id, keys.keyring_slot.backend)
            renewed = _with_slot(renewed, root, KeyringSlot(entry.backend), entry.kek)
        undo.pop_all()
    return NewKeys(renewed, root, code)


def open_with_passphrase(keys: KeyFile, passphrase: str) -> RootKey:
    """Open the passphrase slot. Slow on purpose.

    Args:
        passphrase: as typed.

    Raises:
        UserError: WRONG_SECRET; it does not open, or the vault has no passphrase.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    slot = keys.passphrase_slot
    if slot is None:
        raise _secret_error("This vault has no passphrase; open it with its recovery code or the system's keyring.")
    secret = normalised_passphrase(passphrase)
    root = None if secret is None else _unwrap_root(keys, slot, passphrase_key(secret, slot.salt, slot.cost))
    if root is None:
        raise _secret_error("The passphrase is wrong; check capitals and keyboard layout, or use the recovery code.")
    return root


def open_with_recovery(keys: KeyFile, typed: str) -> RootKey:
    """Open the recovery slot.

    Args:
        typed: the recovery code as a person types it.

    Raises:
        UserError: WRONG_SECRET; mistyped (told at once), another vault's, or the vault has no such slot.
    """
    slot = keys.recovery_slot
    if slot is None:
        raise _secret_error("This vault has no recovery code; open it with its passphrase or the system's keyring.")
    root = _unwrap_root(keys, slot, _recovery_kek(parse_recovery_code(typed), keys))
    if root is None:
        raise _secret_error(_OTHER_CODE)
    return root


def open_with_secret(keys: KeyFile, typed: str) -> RootKey:
    """Open with what may be the recovery code or the passphrase, as a secret file holds it.

    Args:
        typed: either of them.

    Raises:
        UserError: WRONG_SECRET; neither opens.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    if keys.recovery_slot is None or not is_recovery_code(typed):
        is_code = keys.passphrase_slot is None
        return open_with_recovery(keys, typed) if is_code else open_with_passphrase(keys, typed)
    root = _unwrap_root(keys, keys.recovery_slot, _recovery_kek(parse_recovery_code(typed), keys))
    if root is not None:
        return root
    with suppress(UserError):  # somebody may have taken a code for a passphrase
        return open_with_passphrase(keys, typed)
    raise _secret_error(_OTHER_CODE)


def open_with_keyring(keys: KeyFile, keyring: Keyring) -> RootKey:
    """Open the keyring slot. Never changes the keyring.

    Args:
        keyring: the system's keyring.

    Raises:
        UserError: WRONG_SECRET; there is no keyring slot, or the entry is another key.
        KeyringFaultError: the keyring gave nothing.
    """
    slot = keys.keyring_slot
    if slot is None:
        raise _secret_error("This vault is not in a keyring; open it with its passphrase or recovery code.")
    root = _unwrap_root(keys, slot, keyring.fetch(keys.vault_id, slot.backend).kek)
    if root is None:
        raise _secret_error("The keyring's entry does not open this vault; use its passphrase or recovery code.")
    return root


def change_passphrase(keys: KeyFile, root: RootKey, passphrase: str, cost: KdfCost | None = None) -> KeyFile:
    """Set or replace the passphrase slot; the root and the other slots stay.

    Backups made earlier still open with the passphrase they were made with.

    Args:
        passphrase: the new one.
        cost: of a guess at it; `KdfCost.standard` when not given.

    Returns:
        The new key file, to be saved.

    Raises:
        UserError: INVALID_INPUT; empty, over 4 KiB, broken characters, or a cost that would not load.
        EnvironmentFaultError: MEMORY_PRESSURE.
    """
    secret = normalised_passphrase(passphrase)
    if secret is None:
        raise UserError(Code.INVALID_INPUT, "A passphrase must have at least one character and at most 4 KiB of text.")
    slot = PassphraseSlot(os.urandom(SALT_BYTES), cost or KdfCost.standard())
    return _with_slot(keys, root, slot, passphrase_key(secret, slot.salt, slot.cost))


def renew_recovery_code(keys: KeyFile, root: RootKey) -> tuple[KeyFile, str]:
    """Set or replace the recovery slot; the old code opens nothing once this is saved.

    Returns:
        The new key file, to be saved, and the code, to be shown once.
    """
    secret = new_recovery_secret()
    return _with_slot(keys, root, RecoverySlot(), _recovery_kek(secret, keys)), format_recovery_code(secret)


def with_recovery_slot(keys: KeyFile, slot: RecoverySlot) -> KeyFile:
    """Put a recovery slot of the same vault, made by `renew_recovery_code`, in the place of the one there is.

    Args:
        keys: the vault's key file as it is now; its other slots stay.
        slot: a complete slot.

    Returns:
        The new key file, to be saved.
    """
    return replace(keys, slots=(*(one for one in keys.slots if one.kind != slot.kind), slot))


def add_keyring(keys: KeyFile, root: RootKey, keyring: Keyring) -> KeyFile:
    """Set or replace the keyring slot.

    Args:
        keys: the vault's key file; it has a passphrase or recovery slot.
        root: its open root.
        keyring: the system's keyring; gets a random key, never the root.

    Returns:
        The new key file, to be saved.

    Raises:
        UserError: INVALID_INPUT; the keyring would be the only slot.
        KeyringFaultError: the keyring did not keep the key.
    """
    _keep_a_real_secret(keys)
    entry = keyring.store(keys.vault_id, os.urandom(KEY_BYTES))
    return _with_slot(keys, root, KeyringSlot(entry.backend), entry.kek)


def remove_slot(keys: KeyFile, kind: SlotKind) -> KeyFile:
    """Take a slot away.

    For a keyring slot, save first and then call `Keyring.remove`: the other order could leave
    a slot without its entry.

    Returns:
        The new key file, to be saved.

    Raises:
        UserError: INVALID_INPUT; there is no such slot, or nothing but a keyring would remain.
    """
    smaller = replace(keys, slots=tuple(one for one in keys.slots if one.kind != kind))
    if smaller == keys:
        raise UserError(Code.INVALID_INPUT, f"This vault has no key slot of the kind {kind}.")
    _keep_a_real_secret(smaller)
    return smaller


def _keep_a_real_secret(keys: KeyFile) -> None:
    if keys.passphrase_slot is None and keys.recovery_slot is None:
        raise UserError(
            Code.INVALID_INPUT, "A vault keeps a passphrase or a recovery code; a keyring alone can be lost."
        )


def _recovery_kek(secret: bytes, keys: KeyFile) -> bytes:
    return hkdf_sha256(secret, keys.vault_id, _RECOVERY_LABEL)


def _unwrap_root(keys: KeyFile, slot: Slot, kek: bytes) -> RootKey | None:
    if slot.root is None:
        raise key_file_damaged_error()
    return RootKey.unwrap(kek, slot.root.nonce, slot.root.sealed, keys.slot_aad(slot), keys.vault_id)


def _with_slot(keys: KeyFile, root: RootKey, slot: Slot, kek: bytes) -> KeyFile:
    if root.vault_id != keys.vault_id:
        raise BugError("root of another vault")
    nonce = os.urandom(NONCE_BYTES)
    finished = slot.with_root(WrappedRoot(nonce, root.wrap(kek, nonce, keys.slot_aad(slot))))
    return replace(keys, slots=(*(one for one in keys.slots if one.kind != slot.kind), finished))


def _secret_error(sentence: str) -> UserError:
    return UserError(Code.WRONG_SECRET, sentence)
