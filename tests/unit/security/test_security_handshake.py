from __future__ import annotations

import base64
import hmac

import pytest

from core.errors import Code, UserError
from core.security.handshake import (
    client_mac,
    decode_value,
    encode_value,
    new_nonce,
    new_token,
    owner_token,
    server_proof,
)
from core.security.keys import RootKey, hkdf_sha256

TOKEN, NC, NS, VAULT = b"t" * 32, b"a" * 32, b"b" * 32, b"v" * 16


def test_proofs_are_hmac_over_label_and_raw_bytes_in_the_order_of_the_contract() -> None:
    assert server_proof(TOKEN, NC, NS, VAULT) == hmac.digest(TOKEN, b"s" + b"a" * 32 + b"b" * 32 + b"v" * 16, "sha256")
    assert client_mac(TOKEN, NC, NS, VAULT) == hmac.digest(TOKEN, b"c" + b"b" * 32 + b"a" * 32 + b"v" * 16, "sha256")


def test_hmac_sha256_vector_of_rfc_4231() -> None:
    # Test case 6 and 2 of RFC 4231, through the very primitive used here.
    assert hmac.digest(b"Jefe", b"what do ya want for nothing?", "sha256").hex() == (
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


def test_a_proof_cannot_be_sent_back_or_used_elsewhere() -> None:
    proofs = {
        server_proof(TOKEN, NC, NS, VAULT),
        client_mac(TOKEN, NC, NS, VAULT),
        client_mac(TOKEN, NS, NC, VAULT),
        server_proof(TOKEN, NS, NC, VAULT),
        server_proof(b"u" * 32, NC, NS, VAULT),
        server_proof(TOKEN, b"x" * 32, NS, VAULT),
        server_proof(TOKEN, NC, b"x" * 32, VAULT),
        server_proof(TOKEN, NC, NS, b"w" * 16),
    }
    assert len(proofs) == 8


def test_owner_token_is_the_sub_key_of_the_owner() -> None:
    root = RootKey(b"r" * 32, VAULT)
    assert owner_token(root) == hkdf_sha256(b"r" * 32, VAULT, b"loci-owner-v1")


def test_nonces_and_tokens_are_32_new_bytes() -> None:
    made = {new_nonce(), new_nonce(), new_token(), new_token()}
    assert len(made) == 4
    assert {len(each) for each in made} == {32}


@pytest.mark.parametrize("length", [16, 32])
def test_values_travel_without_padding_and_are_read_with_it(length: int) -> None:
    raw = bytes(range(200, 200 + length))
    text = encode_value(raw)
    assert "=" not in text
    assert decode_value(text, length) == raw
    assert decode_value(base64.urlsafe_b64encode(raw).decode(), length) == raw


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "A",
        encode_value(bytes(31)),
        encode_value(bytes(33)),
        encode_value(bytes(32)) + "===",
        "=" + encode_value(bytes(32)),
        encode_value(bytes(32))[:-1] + "B",
        encode_value(bytes(32))[:-1] + "+",
        encode_value(b"\xff" * 32).replace("_", "/"),
        encode_value(bytes(32)) + "\n",
        " " + encode_value(bytes(32)),
        "é" * 43,
        "A" * 1_000_000,
    ],
)
def test_other_texts_are_malformed(text: str) -> None:
    with pytest.raises(UserError) as caught:
        decode_value(text, 32)
    assert caught.value.code is Code.MALFORMED_MESSAGE
