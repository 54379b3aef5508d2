from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable

import pytest

from core.errors import BugError, Code, UserError
from core.security.keys import Purpose, RootKey, hkdf_sha256

ID = bytes(range(16))
ROOT = bytes(range(100, 132))

# RFC 5869, appendix A.1 to A.3: key material, salt, info, length, output.
RFC_5869 = [
    (
        "0b" * 22,
        "000102030405060708090a0b0c",
        "f0f1f2f3f4f5f6f7f8f9",
        42,
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
    ),
    (
        bytes(range(0x50)).hex(),
        bytes(range(0x60, 0xB0)).hex(),
        bytes(range(0xB0, 0x100)).hex(),
        82,
        (
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        ),
    ),
    (
        "0b" * 22,
        "",
        "",
        42,
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
]


@pytest.mark.parametrize(("secret", "salt", "info", "length", "expected"), RFC_5869)
def test_hkdf_gives_the_vectors_of_the_rfc(secret: str, salt: str, info: str, length: int, expected: str) -> None:
    out = hkdf_sha256(bytes.fromhex(secret), bytes.fromhex(salt), bytes.fromhex(info), length)
    assert out.hex() == expected


def test_sub_key_is_hkdf_with_vault_id_as_salt_and_the_label_of_the_design() -> None:
    root = RootKey(ROOT, ID)
    assert root.derive(Purpose.VAULT) == hkdf_sha256(ROOT, ID, b"loci-vault-v1")
    assert root.derive(Purpose.INDEX, b"\x01" * 16) == hkdf_sha256(ROOT, ID, b"loci-index-v1" + b"\x01" * 16)


def test_labels_are_those_of_the_design_and_none_begins_another() -> None:
    labels = [purpose.value for purpose in Purpose]
    assert sorted(labels) == sorted(
        f"loci-{word}-v1" for word in ("vault", "field", "index", "backup", "client", "audit", "head", "owner")
    )
    assert not [(a, b) for a in labels for b in labels if a != b and b.startswith(a)]


def test_sub_keys_differ_by_purpose_extra_vault_and_root() -> None:
    root = RootKey(ROOT, ID)
    keys = [root.derive(purpose) for purpose in Purpose]
    keys.append(root.derive(Purpose.INDEX, b"x"))
    keys.append(RootKey(ROOT, bytes(16)).derive(Purpose.VAULT))
    keys.append(RootKey(bytes(32), ID).derive(Purpose.VAULT))
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {32}


def test_generated_roots_differ() -> None:
    one, two = RootKey.generate(ID), RootKey.generate(ID)
    assert one.derive(Purpose.VAULT) != two.derive(Purpose.VAULT)


def test_wiped_root_is_overwritten_and_refuses() -> None:
    with RootKey(ROOT, ID) as root:
        held = root._root
        assert bytes(held) == ROOT
    assert bytes(held) == bytes(32)
    root.wipe()
    calls: list[Callable[[], object]] = [
        lambda: root.derive(Purpose.VAULT),
        lambda: root.wrap(bytes(32), bytes(12), b""),
    ]
    for call in calls:
        with pytest.raises(UserError) as caught:
            call()
        assert caught.value.code is Code.VAULT_LOCKED


def test_wrap_and_unwrap_need_the_same_key_and_binding() -> None:
    root, kek, nonce = RootKey(ROOT, ID), b"k" * 32, b"n" * 12
    sealed = root.wrap(kek, nonce, b"aad")
    assert len(sealed) == 48
    again = RootKey.unwrap(kek, nonce, sealed, b"aad", ID)
    assert again is not None
    assert again.derive(Purpose.FIELD) == root.derive(Purpose.FIELD)
    assert RootKey.unwrap(kek, nonce, sealed, b"aae", ID) is None
    assert RootKey.unwrap(b"j" * 32, nonce, sealed, b"aad", ID) is None


@pytest.mark.parametrize(("root", "vault_id"), [(bytes(31), ID), (bytes(33), ID), (ROOT, bytes(15))])
def test_other_lengths_are_refused(root: bytes, vault_id: bytes) -> None:
    with pytest.raises(BugError):
        RootKey(root, vault_id)


def test_root_shows_nothing_and_is_not_copied() -> None:
    root = RootKey(ROOT, ID)
    shown = f"{root!r} {root} {[root]}"
    assert re.search(r"[0-9a-f]{8}|\\x|100|bytearray", shown) is None
    attempts: list[Callable[[], object]] = [
        lambda: pickle.dumps(root),
        lambda: copy.copy(root),
        lambda: copy.deepcopy(root),
    ]
    for attempt in attempts:
        with pytest.raises(TypeError):
            attempt()
