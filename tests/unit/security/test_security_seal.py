from __future__ import annotations

import hmac
import traceback
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV, ChaCha20Poly1305

from core.errors import Code, IntegrityError
from core.security.keys import (
    Purpose,
    RootKey,
    encode_text,
    field_open,
    field_seal,
    keyed_digest,
    open_sealed,
    open_with_fresh_key,
    same_bytes,
    seal,
    seal_with_fresh_key,
)

KEY = bytes(range(32))
ROOT = RootKey(KEY, bytes(16))


def refused(call: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError) as caught:
        call()
    assert caught.value.code is Code.ENCRYPTION_FAILED


def test_seal_is_nonce_and_chacha20_poly1305() -> None:
    sealed = seal(KEY, b"plain", b"aad")
    assert len(sealed) == 12 + 5 + 16
    assert ChaCha20Poly1305(KEY).decrypt(sealed[:12], sealed[12:], b"aad") == b"plain"
    assert open_sealed(KEY, sealed, b"aad") == b"plain"
    assert open_sealed(KEY, memoryview(bytearray(sealed)), b"aad") == b"plain"
    assert seal(KEY, b"plain", b"aad") != sealed


def test_rfc_8439_vector_of_the_cipher() -> None:
    # RFC 8439 section 2.8.2: key, nonce, aad, first bytes and tag.
    key = bytes(range(0x80, 0xA0))
    nonce = bytes.fromhex("070000004041424344454647")
    aad = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    body = bytes.fromhex("d31a8d34648e60db7b86afbc53ef7ec2") + ChaCha20Poly1305(key).encrypt(nonce, text, aad)[16:]
    assert body.endswith(bytes.fromhex("1ae10b594f09e26a7e902ecbd0600691"))
    assert open_sealed(key, nonce + body, aad) == text


def test_what_does_not_fit_does_not_open() -> None:
    sealed = seal(KEY, b"plain", b"aad")
    refused(lambda: open_sealed(KEY, sealed, b"aae"))
    refused(lambda: open_sealed(bytes(32), sealed, b"aad"))
    for cut in (0, 12, 27, len(sealed) - 1):
        refused(lambda cut=cut: open_sealed(KEY, sealed[:cut], b"aad"))  # type: ignore[misc]


def test_fresh_key_is_hkdf_of_the_label_and_its_salt() -> None:
    sealed = seal_with_fresh_key(ROOT, Purpose.INDEX, bytearray(b"snapshot"), b"head")
    assert len(sealed) == 16 + 12 + 8 + 16
    key = ROOT.derive(Purpose.INDEX, sealed[:16])
    assert ChaCha20Poly1305(key).decrypt(sealed[16:28], sealed[28:], b"head") == b"snapshot"
    assert open_with_fresh_key(ROOT, Purpose.INDEX, sealed, b"head") == b"snapshot"


def test_fresh_keys_differ_and_bind_vault_purpose_and_header() -> None:
    one, two = (seal_with_fresh_key(ROOT, Purpose.INDEX, b"s", b"h") for _ in range(2))
    assert one[:16] != two[:16]
    refused(lambda: open_with_fresh_key(ROOT, Purpose.BACKUP, one, b"h"))
    refused(lambda: open_with_fresh_key(ROOT, Purpose.INDEX, one, b"i"))
    refused(lambda: open_with_fresh_key(RootKey(KEY, b"1" * 16), Purpose.INDEX, one, b"h"))
    refused(lambda: open_with_fresh_key(ROOT, Purpose.INDEX, two[:16] + one[16:], b"h"))
    for cut in (0, 43, len(one) - 1):
        refused(lambda cut=cut: open_with_fresh_key(ROOT, Purpose.INDEX, one[:cut], b"h"))  # type: ignore[misc]


@pytest.mark.parametrize("text", ["", "short", "ümläut ☃ \0", "x" * 100_000])
def test_field_seal_is_nonce_and_aes_256_gcm_siv(text: str) -> None:
    sealed = field_seal(KEY, text, b"memories:text:1")
    assert AESGCMSIV(KEY).decrypt(sealed[:12], sealed[12:], b"memories:text:1") == text.encode()
    assert field_open(KEY, sealed, b"memories:text:1") == text


def test_field_cannot_be_moved_cut_or_opened_with_another_key() -> None:
    sealed = field_seal(KEY, "text", b"row 1")
    refused(lambda: field_open(KEY, sealed, b"row 2"))
    refused(lambda: field_open(bytes(32), sealed, b"row 1"))
    refused(lambda: field_open(KEY, sealed[:27], b"row 1"))
    refused(lambda: field_open(KEY, sealed[:-1], b"row 1"))


def test_broken_text_is_refused_without_being_shown() -> None:
    assert encode_text("ok ☃") == "ok ☃".encode()
    assert encode_text("?") == b"?"
    assert encode_text("marker\ud800") is None
    broken = "mark" + "er\ud800"
    with pytest.raises(IntegrityError) as caught:
        field_seal(KEY, broken, b"")
    assert caught.value.__context__ is None
    assert "marker" not in "".join(traceback.format_exception(caught.value))


def test_digest_is_hmac_over_lengths_and_parts() -> None:
    expected = hmac.digest(KEY, b"\0" * 7 + b"\2ab" + b"\0" * 7 + b"\1c", "sha256")
    assert keyed_digest(KEY, b"ab", b"c") == expected


def test_digest_knows_where_parts_end() -> None:
    digests = [
        keyed_digest(KEY),
        keyed_digest(KEY, b""),
        keyed_digest(KEY, b"", b""),
        keyed_digest(KEY, b"abc"),
        keyed_digest(KEY, b"ab", b"c"),
        keyed_digest(KEY, b"a", b"bc"),
        keyed_digest(bytes(32), b"abc"),
    ]
    assert len(set(digests)) == len(digests)


def test_compare() -> None:
    assert same_bytes(b"abc", b"abc")
    assert not same_bytes(b"abc", b"abd")
    assert not same_bytes(b"abc", b"ab")
