"""Bundles of changes: what was cut, changed, exchanged or signed by another is told, and nothing of it is given out."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.archive.bundle import (
    FIRST,
    MAGIC,
    BundleFault,
    BundleFaultError,
    BundleHeader,
    BundleKind,
    BundleWriter,
    check_bundle,
    is_bundle,
    make_device_key,
    make_salt,
    read_bundle_header,
    read_lines,
)

KEY, OTHER_KEY = bytes(32), b"o" * 32
PRIVATE, PUBLIC = make_device_key()
LINES = [{"t": "memories", "k": f"m{n}", "c": {"text": "x" * n}} for n in range(40)]


def header(**more: Any) -> BundleHeader:
    named: dict[str, Any] = {
        "group": "0a" * 16, "device": "0b" * 8, "number": 1, "previous": FIRST, "kind": BundleKind.CHANGES,
        "schema": 9, "salt": make_salt(), "key": "0c" * 8, "made": 5, "share": "0d" * 32,
        "envelopes": {"0e" * 8: "0f" * 48},
    }  # fmt: skip
    return BundleHeader(**{**named, **more})


def bundle(lines: list[dict[str, Any]] = LINES, **more: Any) -> bytes:
    file = io.BytesIO()
    writer = BundleWriter(file, header(**more), KEY, PRIVATE)
    for line in lines:
        writer.write_line(line)
    digest = writer.finish()
    assert check_bundle(io.BytesIO(file.getvalue())).digest == digest
    return file.getvalue()


WHOLE = bundle()


def read(data: bytes, key: bytes = KEY) -> list[Any]:
    file = io.BytesIO(data)
    checked = check_bundle(file)
    if not checked.is_signed_by(PUBLIC):
        raise BundleFaultError(BundleFault.DAMAGED)
    return list(read_lines(file, checked, key))


def test_what_was_written_is_read() -> None:
    assert read(WHOLE) == LINES
    assert is_bundle(WHOLE)
    assert not is_bundle(b"LOCI-ARCHIVE")
    assert read_bundle_header(io.BytesIO(WHOLE)).number == 1
    assert read(bundle([])) == []


def test_a_bundle_cut_anywhere_is_told() -> None:
    for end in range(len(WHOLE)):
        with pytest.raises(BundleFaultError) as caught:
            read(WHOLE[:end])
        assert caught.value.fault is BundleFault.DAMAGED


@settings(max_examples=150)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_told(at: int, flip: int) -> None:
    changed = WHOLE[:at] + bytes([WHOLE[at] ^ flip]) + WHOLE[at + 1 :]
    with pytest.raises(BundleFaultError):
        read(changed)


@settings(max_examples=80)
@given(st.binary(max_size=300))
def test_whatever_else_is_no_bundle(data: bytes) -> None:
    for found in (data, b"LOCI-BUNDLE" + data, WHOLE[:13] + data):
        with pytest.raises(BundleFaultError):
            read(found)


def test_a_bundle_opens_with_its_own_key_and_under_its_own_header_only() -> None:
    with pytest.raises(BundleFaultError):
        read(WHOLE, OTHER_KEY)
    other = bundle(number=2, previous="ab" * 32)
    parts = [check_bundle(io.BytesIO(data)).octets for data in (WHOLE, other)]
    spliced = parts[1] + WHOLE[len(parts[0]) :]
    with pytest.raises(BundleFaultError):
        read(spliced)


def test_another_signature_is_no_signature() -> None:
    checked = check_bundle(io.BytesIO(WHOLE))
    _, strange = make_device_key()
    assert checked.is_signed_by(PUBLIC)
    assert not checked.is_signed_by(strange)
    assert not checked.is_signed_by(b"short")


def test_a_newer_format_is_told_apart_from_damage() -> None:
    newer = WHOLE.replace(b'"format":2', b'"format":3')
    with pytest.raises(BundleFaultError) as caught:
        read_bundle_header(io.BytesIO(newer))
    assert caught.value.fault is BundleFault.NEWER


@pytest.mark.parametrize(
    "more",
    [
        {"key": "0c" * 7}, {"key": ""}, {"made": -1}, {"made": 2**62}, {"made": True}, {"share": "0d" * 31},
        {"envelopes": {"0e" * 8: "0f" * 47}}, {"envelopes": {"nobody": "0f" * 48}}, {"envelopes": [1]},
    ],
)  # fmt: skip
def test_a_header_that_hands_over_no_key_is_damaged(more: dict[str, Any]) -> None:
    body = json.loads(check_bundle(io.BytesIO(WHOLE)).octets[13:])
    text = json.dumps({**body, **more}).encode()
    with pytest.raises(BundleFaultError) as caught:
        read_bundle_header(io.BytesIO(MAGIC + len(text).to_bytes(2, "big") + text))
    assert caught.value.fault is BundleFault.DAMAGED


def test_a_line_that_is_no_record_or_stands_behind_the_end_is_told() -> None:
    with pytest.raises(BundleFaultError):
        read(bundle([{"end": 5}]))
    with pytest.raises(BundleFaultError):
        read(bundle([{"end": 0}, {"t": "memories"}]))
