"""The content of an archive: what is read again, and what is refused as damaged or as a trap."""

from __future__ import annotations

import json
import zlib

import pytest
from archive_files import ORIGIN, read_archive_of, write_archive_of, write_content

from core.archive.records import MOST_LINE, RecordReader
from core.errors import Code, LociError

ROWS = [("m1", "Grüße, 世界 🏺\n\u2028", 3, 0.1, None, b"\x00\xff"), ("m2", "", -(2**63), 1e-300, "x", b"")]
TABLES = {"memories": (("id", "text", "n", "trust", "note", "hash"), ROWS), "claims": (("id",), [])}


def refusal(content: bytes) -> str:
    with pytest.raises(LociError) as caught:
        read_archive_of(write_content(content))
    assert caught.value.code is Code.IMPORT_REFUSED
    return caught.value.sentence


def lines_of(*values: object) -> bytes:
    return zlib.compress("".join(json.dumps(value) + "\n" for value in values).encode())


FIRST = {"archive": {"made_at": 1, "program": "p", "schema": 7, "vault": "00"}}
TABLE = {"table": "memories", "columns": ["id"]}
END = {"end": {"rows": {"memories": 1}, "seal": "", "sha256": "00"}}


def test_what_was_written_is_read() -> None:
    assert read_archive_of(write_archive_of(TABLES)) == {"memories": ROWS}


def test_the_first_line_says_where_it_is_from() -> None:
    content = zlib.compress(
        json.dumps({"archive": {**FIRST["archive"], "vault": ORIGIN.vault_id.hex()}}).encode() + b"\n"
    )
    found = RecordReader([content]).origin
    assert (found.vault_id, found.schema, found.made_at_ms, found.program) == (ORIGIN.vault_id, 7, 1, "p")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zlib stream",
        lines_of(FIRST)[:-1],
        lines_of(FIRST) + b"more",
        zlib.compress(json.dumps(FIRST).encode()),
        lines_of({}, TABLE, ["m1"], END),
        lines_of(FIRST, TABLE, ["m1"]),
        lines_of(FIRST, TABLE, ["m1"], END),
        lines_of(FIRST, ["m1"], END),
        lines_of(FIRST, [], END),
        lines_of(FIRST, TABLE, ["m1", "m2"], END),
        lines_of(FIRST, TABLE, [[]], END),
        lines_of(FIRST, TABLE, [True], END),
        lines_of(FIRST, TABLE, [2**63], END),
        lines_of(FIRST, TABLE, [{"b": "!"}], END),
        lines_of(FIRST, TABLE, [{"b": 1}], END),
        lines_of(FIRST, TABLE, ["m1"], TABLE, ["m2"], END),
        lines_of(FIRST, {"table": "Memories; DROP", "columns": ["id"]}, END),
        lines_of(FIRST, {"table": "memories", "columns": []}, END),
        lines_of(FIRST, {"table": "memories", "columns": [1]}, END),
        lines_of(FIRST, {"table": None}, END),
        lines_of(FIRST, TABLE, ["m1"], {"end": None}),
        zlib.compress(json.dumps(FIRST).encode() + b'\n{"table":"memories","columns":["id"]}\n[NaN]\n'),
        zlib.compress(json.dumps(FIRST).encode() + b"\n" + b"[" * 100_000 + b"\n"),
    ],
)
def test_what_is_not_whole_is_refused(content: bytes) -> None:
    assert refusal(content).endswith("Nothing was imported.")


def test_a_line_without_end_is_refused() -> None:
    assert "too long" in refusal(zlib.compress(b"x" * (MOST_LINE + (1 << 20)), 1) + bytes(200_000))


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    one = json.dumps(FIRST).encode() + b'\n{"table":"memories","columns":["id"]}\n'
    bomb = zlib.compress(one + (b'["' + b"0" * 1020 + b'"]\n') * 60_000, 9)
    assert len(bomb) < 200_000
    assert "beyond all measure" in refusal(bomb)


def test_what_a_full_step_holds_back_is_read() -> None:
    """Rows that expand to far more than one step in the very last bytes."""
    rows = [("a" * 1000,)] * 2000
    assert read_archive_of(write_archive_of({"memories": (("text",), rows)})) == {"memories": rows}


def test_nothing_is_written_that_could_not_be_read() -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_archive_of({"memories": (("trust",), [(float("nan"),)])})
    with pytest.raises(TypeError):
        write_archive_of({"memories": (("trust",), [(object(),)])})
