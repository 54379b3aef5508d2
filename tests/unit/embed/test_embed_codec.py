"""float16 blobs: what goes in comes out, and nothing else is accepted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from core.embed.embedder import from_blob, from_blobs, to_blob
from core.errors import Code, LociError


def unit_rows(count: int, dims: int = 384, seed: int = 3) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, dims))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)


def test_round_trip_keeps_direction() -> None:
    rows = unit_rows(50)
    back = from_blobs([to_blob(row) for row in rows], 384)
    assert back.dtype == np.float32
    assert ((back * rows).sum(axis=1) / np.linalg.norm(back, axis=1)).min() > 0.999999
    assert np.abs(np.linalg.norm(back, axis=1) - 1).max() < 1e-3


def test_packing_what_was_unpacked_changes_nothing() -> None:
    blob = to_blob(unit_rows(1)[0])
    assert len(blob) == 768
    assert to_blob(from_blob(blob, 384)) == blob


def test_the_byte_order_is_fixed() -> None:
    assert to_blob(np.array([1.0, -2.0], np.float32)) == b"\x00\x3c\x00\xc0"


def test_no_blobs_give_no_rows() -> None:
    assert from_blobs([], 384).shape == (0, 384)


@pytest.mark.parametrize("blob", [b"", b"\x00", b"\x00" * 766, b"\x00" * 770])
def test_another_length_is_refused(blob: bytes) -> None:
    with pytest.raises(LociError) as caught:
        from_blob(blob, 384)
    assert caught.value.code is Code.DIMENSION_MISMATCH


def test_lengths_that_only_add_up_are_refused() -> None:
    with pytest.raises(LociError):
        from_blobs([b"\x00" * 766, b"\x00" * 770], 384)


def test_a_damaged_component_is_refused() -> None:
    with pytest.raises(LociError) as caught:
        from_blob(b"\x00\x7e" + b"\x00" * 766, 384)
    assert caught.value.code is Code.EMBEDDING_FAILED


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -70000.0])
def test_values_beyond_float16_are_refused(value: float) -> None:
    with pytest.raises(LociError) as caught:
        to_blob(np.array([0.5, value], np.float32))
    assert caught.value.code is Code.EMBEDDING_FAILED


def test_a_matrix_is_not_one_vector() -> None:
    with pytest.raises(LociError) as caught:
        to_blob(unit_rows(2))
    assert caught.value.code is Code.DIMENSION_MISMATCH
