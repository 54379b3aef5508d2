from __future__ import annotations

import base64
import binascii
import re

import pytest

from core.errors import Code, UserError
from core.security.slots import format_recovery_code, is_recovery_code, new_recovery_secret, parse_recovery_code

SECRET = bytes(range(20))


def test_code_is_nine_groups_of_four() -> None:
    for secret in (SECRET, bytes(20), b"\xff" * 20, new_recovery_secret()):
        code = format_recovery_code(secret)
        assert re.fullmatch(r"[A-Z2-7]{4}(-[A-Z2-7]{4}){8}", code)
        assert parse_recovery_code(code) == secret


def test_code_is_base32_of_secret_and_checksum() -> None:
    # CRC-16/CCITT-FALSE of "123456789" is 0x29B1 (the catalogue's check value).
    raw = base64.b32decode(format_recovery_code(b"123456789".rjust(20, b"\0")).replace("-", "") + "====")
    assert raw[:20] == b"123456789".rjust(20, b"\0")
    assert binascii.crc_hqx(b"123456789", 0xFFFF) == 0x29B1
    assert int.from_bytes(raw[20:], "big") == binascii.crc_hqx(raw[:20], 0xFFFF)


def test_new_secrets_differ() -> None:
    assert new_recovery_secret() != new_recovery_secret()
    assert len(new_recovery_secret()) == 20


@pytest.mark.parametrize(
    "change",
    [
        str.lower,
        lambda code: code.replace("-", ""),
        lambda code: code.replace("-", " "),
        lambda code: f"  {code.replace('-', '  - ')}\r\n",
        lambda code: code.replace("-", "–"),
        lambda code: code.replace("-", "\u00a0"),
        lambda code: code.replace("O", "0").lower(),
        lambda code: code.replace("B", "8"),
        lambda code: code.replace("I", "1", 2),
        lambda code: code.replace("L", "1", 2),
        lambda code: "".join(chr(ord(each) + 0xFEE0) if each.isalnum() else each for each in code),
    ],
)
def test_the_ways_people_type_it(change: object) -> None:
    assert callable(change)
    # A secret whose code holds every letter that can be mistaken.
    secret = base64.b32decode("OBILOBILABCDEFGHJKMNPQRSTUVWXYZ2")
    code = format_recovery_code(secret)
    assert {"O", "B", "I", "L"} <= set(code)
    assert parse_recovery_code(change(code)) == secret
    assert is_recovery_code(change(code))


def test_every_single_wrong_character_is_told_from_the_checksum() -> None:
    code = format_recovery_code(SECRET)
    tried = 0
    for at, right in enumerate(code):
        for wrong in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567":
            if right in ("-", wrong):
                continue
            tried += 1
            with pytest.raises(UserError) as caught:
                parse_recovery_code(code[:at] + wrong + code[at + 1 :])
            assert caught.value.code is Code.WRONG_SECRET
            assert "mistyped" in caught.value.sentence
    assert tried == 36 * 31


@pytest.mark.parametrize("typed", ["", "ABCD", "A" * 35, "A" * 37, "x" * 100_000, "OBIL-" * 8])
def test_another_length_has_its_own_sentence(typed: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_recovery_code(typed)
    assert caught.value.exit_code == 4
    assert "another length" in caught.value.sentence
    assert not is_recovery_code(typed)


@pytest.mark.parametrize("letter", ["9", "!", "é", "\0", "ß"])
def test_letters_outside_the_alphabet_are_mistyped(letter: str) -> None:
    code = format_recovery_code(SECRET)
    assert not is_recovery_code(letter + code[1:])
    assert not is_recovery_code(code[:-1] + letter)


def test_too_many_ones_are_not_guessed() -> None:
    code = format_recovery_code(base64.b32decode("IIIIIABCDEFGHJKMNPQRSTUVWXYZ2345"))
    assert is_recovery_code(code.replace("I", "1", 4))
    assert not is_recovery_code(code.replace("I", "1", 5))
