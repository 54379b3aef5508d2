"""Archives: whatever goes in comes out, and whatever was cut, changed or put in another order is noticed."""

from __future__ import annotations

import pytest
from archive_files import body_start, read_archive_of, write_archive_of
from hypothesis import given, settings
from hypothesis import strategies as st

from core.archive.chunks import CHUNK
from core.archive.records import Row
from core.errors import Code, LociError

_NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
_VALUES = st.one_of(
    st.none(),
    st.text(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=64),
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, tuple[tuple[str, ...], list[Row]]]:
    found = {}
    for name in draw(st.lists(_NAMES, unique=True, max_size=4)):
        columns = tuple(draw(st.lists(_NAMES, unique=True, min_size=1, max_size=4)))
        found[name] = (columns, draw(st.lists(st.tuples(*[_VALUES] * len(columns)), max_size=7)))
    return found


# Of three chunks, made once: what hypothesis varies is what is done to it.
WHOLE = write_archive_of(
    {"memories": (("id", "hash"), [(f"m{n}", bytes((n * k * 7919) % 251 for k in range(1, 300))) for n in range(700)])}
)


def test_the_whole_archive_has_chunks_to_swap() -> None:
    assert len(WHOLE) > body_start() + 2 * CHUNK
    assert len(read_archive_of(WHOLE)["memories"]) == 700


def refused(data: bytes) -> None:
    with pytest.raises(LociError) as caught:
        read_archive_of(data)
    assert caught.value.code is Code.IMPORT_REFUSED


@given(tables())
def test_every_record_comes_back(given_tables: dict[str, tuple[tuple[str, ...], list[Row]]]) -> None:
    expected = {name: rows for name, (_, rows) in given_tables.items() if rows}
    found = read_archive_of(write_archive_of(given_tables))
    assert found == expected
    assert [[type(v) for v in row] for rows in found.values() for row in rows] == [
        [type(v) for v in row] for rows in expected.values() for row in rows
    ]


@settings(max_examples=60)
@given(st.integers(body_start(), len(WHOLE) - 1))
def test_every_cut_is_noticed(size: int) -> None:
    refused(WHOLE[:size])


@settings(max_examples=60)
@given(st.integers(body_start(), len(WHOLE) - 1), st.integers(0, 7))
def test_every_flipped_bit_is_noticed(at: int, bit: int) -> None:
    refused(WHOLE[:at] + bytes([WHOLE[at] ^ (1 << bit)]) + WHOLE[at + 1 :])


_BLOCKS = [WHOLE[at : at + CHUNK + 16] for at in range(body_start(), len(WHOLE), CHUNK + 16)]


@given(st.lists(st.integers(0, len(_BLOCKS) - 1), max_size=len(_BLOCKS) + 1))
def test_no_other_order_of_chunks_is_taken(order: list[int]) -> None:
    if order != list(range(len(_BLOCKS))):
        refused(WHOLE[: body_start()] + b"".join(_BLOCKS[nr] for nr in order))
