from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from core.errors import BugError, Code, IntegrityError, UserError
from core.security import passphrase
from core.security.keyfile import MAX_FILE_BYTES, KeyFile, KeyringSlot, intact_body, parse_body
from core.security.passphrase import KdfCost
from core.security.slots import NewKeys

Edit = Callable[[dict[str, Any]], object]


def framed(body: bytes) -> bytes:
    return b"LOCIKEYS1 " + sha256(body).hexdigest().encode() + b"\n" + body


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def edited(keys: KeyFile, edit: Edit) -> bytes:
    body = intact_body(keys.to_bytes())
    assert body is not None
    value = json.loads(body)
    edit(value)
    return canonical(value)


def slot_of(value: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(slot for slot in value["slots"] if slot["kind"] == kind)


def set_cost(name: str, number: object) -> Edit:
    return lambda value: slot_of(value, "passphrase").__setitem__(name, number)


def test_bytes_have_the_frame_of_the_format(made: NewKeys) -> None:
    data = made.keys.to_bytes()
    header, body = data.split(b"\n", 1)
    assert header == b"LOCIKEYS1 " + sha256(body).hexdigest().encode()
    value = json.loads(body)
    assert set(value) == {"v", "id", "created", "test_clock", "slots"}
    assert (value["v"], value["created"], value["test_clock"]) == (1, 1_780_000_000_000, False)
    assert canonical(value) == body
    assert sorted(slot["kind"] for slot in value["slots"]) == ["keyring", "passphrase", "recovery"]
    assert len(data) < 2048


def test_bytes_come_back_as_the_same_keys(made: NewKeys) -> None:
    body = intact_body(made.keys.to_bytes())
    assert body is not None
    assert parse_body(body) == made.keys


HOSTILE: dict[str, Edit] = {
    "m of 4 TiB": set_cost("m", 4 * 1024**3),
    "m just over 1 GiB": set_cost("m", 1024 * 1024 + 1),
    "m just under 19 MiB": set_cost("m", 19 * 1024 - 1),
    "m of 8 MiB": set_cost("m", 8 * 1024),
    "m of 8 KiB": set_cost("m", 8),
    "m negative": set_cost("m", -1),
    "m true": lambda value: slot_of(value, "passphrase").update(m=True),
    "m as text": set_cost("m", "262144"),
    "m huge": set_cost("m", 10**300),
    "t of 10^9": set_cost("t", 10**9),
    "t 0": set_cost("t", 0),
    "t 21": set_cost("t", 21),
    "t a fraction": set_cost("t", 3.5),
    "p of 10^6": set_cost("p", 10**6),
    "p 0": set_cost("p", 0),
    "p 9": set_cost("p", 9),
    "another kdf": set_cost("kdf", "argon2i"),
    "salt missing": lambda value: slot_of(value, "passphrase").pop("salt"),
    "salt short": set_cost("salt", "00" * 15),
    "salt in capitals": set_cost("salt", "AB" * 16),
    "nonce long": set_cost("nonce", "00" * 13),
    "sealed short": set_cost("sealed", "00" * 47),
    "an unknown key": set_cost("note", "x"),
    "an unknown kind": set_cost("kind", "pin"),
    "two of a kind": lambda value: value["slots"].append(slot_of(value, "recovery")),
    "no slots": lambda value: value.update(slots=[]),
    "slots not a list": lambda value: value.update(slots={}),
    "a slot not an object": lambda value: value["slots"].append(7),
    "id short": lambda value: value.update(id="00" * 15),
    "created before 1970": lambda value: value.update(created=-1),
    "created too late": lambda value: value.update(created=10**18),
    "test_clock 1": lambda value: value.update(test_clock=1),
    "v 0": lambda value: value.update(v=0),
    "v true": lambda value: value.update(v=True),
    "v text": lambda value: value.update(v="1"),
    "v missing": lambda value: value.pop("v"),
    "backend with a slash": lambda value: slot_of(value, "keyring").update(backend="../../x"),
    "backend of 1 kB": lambda value: slot_of(value, "keyring").update(backend="b" * 1000),
    "backend missing": lambda value: slot_of(value, "keyring").pop("backend"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_is_refused_before_anything_is_derived(
    name: str, made: NewKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> bytes:
        raise AssertionError("derived")

    monkeypatch.setattr(passphrase, "hash_secret_raw", never)
    body = edited(made.keys, HOSTILE[name])
    assert intact_body(framed(body)) == body
    with pytest.raises(IntegrityError) as caught:
        parse_body(body)
    assert caught.value.code is Code.KEY_FILE_DAMAGED
    assert caught.value.exit_code == 5


def test_not_canonical_json_is_refused(made: NewKeys) -> None:
    body = intact_body(made.keys.to_bytes())
    assert body is not None
    value = json.loads(body)
    variants = [
        json.dumps(value).encode(),
        body + b"\n",
        body.replace(b'"v":1', b'"v":1,"v":1'),
        body.replace(b'"v":1', b'"v":1.0'),
        body.replace(b'"created":1', b'"created":NaN,"x":1'),
        b"\xef\xbb\xbf" + body,
        b"[" * 60_000,
        b'{"v":' + b"9" * 60_000 + b"}",
        b"[]",
        b"null",
        b'{"v":1}',
    ]
    for variant in variants:
        with pytest.raises(IntegrityError) as caught:
            parse_body(variant)
        assert caught.value.code is Code.KEY_FILE_DAMAGED


@pytest.mark.parametrize("version", [2, 3, 10**6])
def test_newer_version_is_told_even_when_the_rest_is_unknown(version: int) -> None:
    body = canonical({"v": version, "strange": [1.5, None]}).replace(b"1.5", b"15")
    with pytest.raises(UserError) as caught:
        parse_body(body)
    assert caught.value.code is Code.NEWER_VERSION
    assert caught.value.exit_code == 7


@pytest.mark.parametrize(
    "data",
    [b"", b"LOCIKEYS1 ", b"LOCIKEYS1 " + b"0" * 64 + b"\n", b"x" * (MAX_FILE_BYTES + 1), framed(b"a" * MAX_FILE_BYTES)],
)
def test_frames_of_other_sizes_are_damage(data: bytes) -> None:
    assert intact_body(data) is None


def test_frame_with_another_spelling_is_damage(made: NewKeys) -> None:
    data = made.keys.to_bytes()
    assert intact_body(data) is not None
    assert intact_body(data.replace(b"LOCIKEYS1", b"LOCIKEYS3", 1)) is None
    assert intact_body(data[:10] + data[10:74].upper() + data[74:]) is None
    assert intact_body(data.replace(b"\n", b"\r\n", 1)) is None
    assert intact_body(data[:-1]) is None


def test_binding_covers_every_field_and_parameter(made: NewKeys) -> None:
    keys = made.keys
    slot = keys.passphrase_slot
    assert slot is not None
    base = keys.slot_aad(slot)
    others = {
        replace(keys, vault_id=bytes(16)).slot_aad(slot),
        replace(keys, created_ms=1).slot_aad(slot),
        replace(keys, test_clock=True).slot_aad(slot),
        keys.slot_aad(replace(slot, salt=bytes(16))),
        keys.slot_aad(replace(slot, cost=KdfCost(slot.cost.memory_kib + 1, slot.cost.passes, slot.cost.lanes))),
        keys.slot_aad(replace(slot, cost=KdfCost(slot.cost.memory_kib, slot.cost.passes + 1, slot.cost.lanes))),
        keys.slot_aad(replace(slot, cost=KdfCost(slot.cost.memory_kib, slot.cost.passes, slot.cost.lanes + 1))),
        keys.slot_aad(KeyringSlot("a")),
        keys.slot_aad(KeyringSlot("b")),
    }
    assert len(others) == 9
    assert base not in others


def test_what_would_not_load_is_not_written(made: NewKeys) -> None:
    slot = made.keys.passphrase_slot
    assert slot is not None
    weak = replace(slot, cost=KdfCost(8, 1, 1))
    unfinished = replace(slot, root=None)
    for bad in (weak, unfinished):
        with pytest.raises(BugError):
            replace(made.keys, slots=(bad,)).to_bytes()


def test_repr_of_keys_shows_no_key_material(made: NewKeys) -> None:
    slot = made.keys.passphrase_slot
    assert slot is not None
    assert slot.root is not None
    shown = repr(made.keys) + repr(slot.root)
    assert repr(slot.root.sealed) not in shown
    assert repr(slot.salt) not in shown
