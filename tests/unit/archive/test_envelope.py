"""Keys that are handed over by a public key: the twin of a signing key fits, and nobody else opens the envelope."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from core.archive import envelope
from core.archive.bundle import make_device_key
from core.archive.envelope import ENVELOPE_BYTES, open_envelope, seal_key

KEY, ABOUT = b"k" * 32, b"about"
IDS = ("0a" * 8, "0b" * 8, "0c" * 8)


def test_both_halves_have_twins_that_fit() -> None:
    for _ in range(20):
        private, public = make_device_key()
        twin = envelope._twin_of_private(private).public_key().public_bytes_raw()
        assert twin == envelope._twin_of_public(public)


def test_the_twin_is_the_one_other_programs_make() -> None:
    # The key pair of RFC 8032, section 7.1, test 1; its twin is that of libsodium's conversion.
    private = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    twin = envelope._twin_of_public(public)
    assert twin.hex() == "d85e07ec22b0ad881537c2f44d662d1a143cf830c57aca4305d85c7a90f6b62e"
    made = envelope._twin_of_private(private)
    other = X25519PrivateKey.generate()
    assert made.exchange(other.public_key()) == other.exchange(X25519PublicKey.from_public_bytes(twin))


def test_each_device_opens_its_own_and_no_other() -> None:
    keys = {device: make_device_key() for device in IDS}
    share, made = seal_key(KEY, ABOUT, {device: public for device, (_, public) in keys.items()})
    assert {len(bytes.fromhex(one)) for one in made.values()} == {ENVELOPE_BYTES}
    for device, (private, public) in keys.items():
        for sealed_for, sealed in made.items():
            opened = open_envelope(share, sealed, ABOUT, device, private, public)
            assert opened == (KEY if device == sealed_for else None)
        assert open_envelope(share, made[device], b"else", device, private, public) is None
        assert open_envelope("00" * 32, made[device], ABOUT, device, private, public) is None
        assert open_envelope(share, "zz", ABOUT, device, private, public) is None


def test_nothing_is_sealed_to_a_key_of_small_order() -> None:
    _, made = seal_key(KEY, ABOUT, {"0a" * 8: (1).to_bytes(32, "little"), "0b" * 8: make_device_key()[1]})
    assert list(made) == ["0b" * 8]


@given(st.binary(min_size=32, max_size=32), st.integers(0, ENVELOPE_BYTES - 1))
def test_any_key_is_handed_over_whole_or_not_at_all(key: bytes, at: int) -> None:
    private, public = make_device_key()
    share, made = seal_key(key, ABOUT, {"0a" * 8: public})
    assert open_envelope(share, made["0a" * 8], ABOUT, "0a" * 8, private, public) == key
    changed = bytearray.fromhex(made["0a" * 8])
    changed[at] ^= 1
    assert open_envelope(share, changed.hex(), ABOUT, "0a" * 8, private, public) is None
