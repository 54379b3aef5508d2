from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Code, IntegrityError, LociError, UserError
from core.security.handshake import decode_value, encode_value
from core.security.keyfile import (
    KeyFile,
    KeyringSlot,
    PassphraseSlot,
    RecoverySlot,
    WrappedRoot,
    intact_body,
    parse_body,
)
from core.security.keys import (
    Purpose,
    RootKey,
    field_open,
    field_seal,
    keyed_digest,
    open_sealed,
    open_with_fresh_key,
    seal,
    seal_with_fresh_key,
)
from core.security.passphrase import KdfCost, normalised_passphrase, read_secret_file
from core.security.slots import format_recovery_code, is_recovery_code, parse_recovery_code

KEY = bytes(range(32))
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def octets(length: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=length, max_size=length)


roots = st.builds(WrappedRoot, octets(12), octets(48))
costs = st.builds(KdfCost, st.integers(19 * 1024, 1024 * 1024), st.integers(1, 20), st.integers(1, 8))
slot_sets = st.tuples(
    st.one_of(st.none(), st.builds(PassphraseSlot, octets(16), costs, roots)),
    st.builds(RecoverySlot, roots),
    st.one_of(st.none(), st.builds(KeyringSlot, st.from_regex(r"[A-Za-z0-9_.]{1,200}", fullmatch=True), roots)),
).map(lambda slots: tuple(slot for slot in slots if slot is not None))
key_files = st.builds(KeyFile, octets(16), st.integers(0, 253_402_300_799_999), st.booleans(), slot_sets)


@given(key_files)
@settings(max_examples=count_examples(60))
def test_key_files_come_back_as_they_were(keys: KeyFile) -> None:
    data = keys.to_bytes()
    body = intact_body(data)
    assert body is not None
    assert parse_body(body) == keys
    assert parse_body(body).to_bytes() == data


@given(key_files, st.data())
@settings(max_examples=count_examples(100))
def test_any_damage_to_a_key_file_is_seen(keys: KeyFile, data: st.DataObject) -> None:
    good = keys.to_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    by = data.draw(st.integers(1, 255))
    assert intact_body(good[:at] + bytes([good[at] ^ by]) + good[at + 1 :]) is None
    assert intact_body(good[:at]) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.slow
@given(key_files, json_values, st.data())
@settings(max_examples=count_examples(150))
def test_a_body_with_any_one_value_changed_is_refused_or_means_what_it_says(
    keys: KeyFile, value: Any, data: st.DataObject
) -> None:
    body = intact_body(keys.to_bytes())
    assert body is not None
    tree = json.loads(body)
    place = data.draw(st.sampled_from([tree, *tree["slots"]]))
    place[data.draw(st.sampled_from([*place, "extra"]))] = value
    changed = json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()
    framed = b"LOCIKEYS1 " + sha256(changed).hexdigest().encode() + b"\n" + changed
    code: Code | None = None
    try:
        read = parse_body(changed)
    except LociError as error:
        code = error.code
    else:
        assert read.to_bytes() == framed
        assert read.passphrase_slot is None or read.passphrase_slot.cost.accepted
    assert code in (None, Code.KEY_FILE_DAMAGED, Code.NEWER_VERSION)


@given(st.binary(max_size=300))
@settings(max_examples=count_examples(150))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    with pytest.raises(LociError) as caught:
        parse_body(body)
    assert caught.value.code in (Code.KEY_FILE_DAMAGED, Code.NEWER_VERSION)


@pytest.mark.slow
@given(octets(20), st.data())
@settings(max_examples=count_examples(100))
def test_recovery_codes_survive_how_people_type(secret: bytes, data: st.DataObject) -> None:
    code = format_recovery_code(secret)
    noise = st.sampled_from(["", " ", "-", "–", "\t", "  ", "\u00a0"])
    typed = "".join(
        data.draw(noise) + (letter.lower() if data.draw(st.booleans()) else letter) for letter in code
    ).translate({ord("O"): "0", ord("o"): "0", ord("B"): "8"})
    assert parse_recovery_code(typed) == secret


@given(octets(20), st.integers(0, 35), st.sampled_from(LETTERS))
@settings(max_examples=count_examples(200))
def test_no_single_wrong_character_passes(secret: bytes, at: int, wrong: str) -> None:
    letters = format_recovery_code(secret).replace("-", "")
    assert is_recovery_code(letters[:at] + wrong + letters[at + 1 :]) == (letters[at] == wrong)


@given(octets(20), st.integers(0, 34))
@settings(max_examples=count_examples(200))
def test_no_swap_of_two_neighbours_passes(secret: bytes, at: int) -> None:
    letters = format_recovery_code(secret).replace("-", "")
    swapped = letters[:at] + letters[at + 1] + letters[at] + letters[at + 2 :]
    assert is_recovery_code(swapped) == (swapped == letters)


@given(st.text(max_size=60))
@settings(max_examples=count_examples(150))
def test_any_text_is_a_code_or_a_wrong_secret(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_recovery_code(text)
    assert caught.value.code is Code.WRONG_SECRET
    assert not is_recovery_code(text)


@given(st.binary(max_size=200), st.binary(max_size=40), st.data())
@settings(max_examples=count_examples(100))
def test_sealed_bytes_open_only_unchanged(plain: bytes, aad: bytes, data: st.DataObject) -> None:
    root = RootKey(KEY, bytes(16))
    plain_seal = seal(KEY, plain, aad)
    fresh = seal_with_fresh_key(root, Purpose.INDEX, plain, aad)
    assert open_sealed(KEY, plain_seal, aad) == plain
    assert open_with_fresh_key(root, Purpose.INDEX, fresh, aad) == plain
    at, by = data.draw(st.integers(0, len(plain_seal) - 1)), data.draw(st.integers(1, 255))
    with pytest.raises(IntegrityError):
        open_sealed(KEY, plain_seal[:at] + bytes([plain_seal[at] ^ by]) + plain_seal[at + 1 :], aad)
    with pytest.raises(IntegrityError):
        open_with_fresh_key(root, Purpose.INDEX, fresh[:at] + bytes([fresh[at] ^ by]) + fresh[at + 1 :], aad)
    with pytest.raises(IntegrityError):
        open_sealed(KEY, plain_seal, aad + b"x")


@given(st.text(max_size=200), st.binary(max_size=40))
@settings(max_examples=count_examples(60))
def test_fields_come_back(text: str, aad: bytes) -> None:
    assert field_open(KEY, field_seal(KEY, text, aad), aad) == text


parts = st.lists(st.binary(max_size=6), max_size=4)


@given(parts, parts)
@settings(max_examples=count_examples(200))
def test_digests_are_equal_only_for_equal_parts(one: list[bytes], other: list[bytes]) -> None:
    assert (keyed_digest(KEY, *one) == keyed_digest(KEY, *other)) == (one == other)


@given(st.binary(max_size=64))
@settings(max_examples=count_examples(100))
def test_wire_values_come_back(raw: bytes) -> None:
    text = encode_value(raw)
    assert decode_value(text, len(raw)) == raw
    assert decode_value(text + "=" * (-len(text) % 4), len(raw)) == raw
    with pytest.raises(UserError):
        decode_value(text, len(raw) + 1)


@given(st.text(max_size=60))
@settings(max_examples=count_examples(150))
def test_any_text_is_32_bytes_or_malformed(text: str) -> None:
    with pytest.raises(UserError) as caught:
        decode_value(text, 32)
    assert caught.value.code is Code.MALFORMED_MESSAGE


@given(st.text(min_size=1, max_size=100))
@settings(max_examples=count_examples(100))
def test_normalising_a_passphrase_twice_changes_nothing(text: str) -> None:
    raw = normalised_passphrase(text)
    assert raw is not None
    assert normalised_passphrase(raw.decode()) == raw


@given(st.text(st.characters(exclude_characters="\n\0\ufeff", codec="utf-8"), min_size=1, max_size=80), st.booleans())
@settings(max_examples=count_examples(60))
def test_a_secret_in_a_file_comes_back(secret: str, windows: bool) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "secret"
        path.write_bytes(secret.encode() + (b"\r\n" if windows else b"\n"))
        assert read_secret_file(path) == (secret if windows else secret.removesuffix("\r"))
