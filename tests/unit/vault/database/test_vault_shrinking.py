"""Free room of the vault's file goes back a step at a time, and the steps come to an end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlcipher3 import dbapi2

from core.vault.database.maintenance import free_pages

INCREMENTAL = 2
SPARE = 128


@pytest.fixture
def bare() -> Iterator[dbapi2.Connection]:
    with closing(dbapi2.connect(":memory:", isolation_level=None)) as writer:
        yield writer


def pages(writer: dbapi2.Connection, what: str) -> int:
    return int(writer.execute(f"PRAGMA {what}").fetchone()[0])


def purged(writer: dbapi2.Connection, mode: int) -> int:
    """Fill it and empty it; returns how many pages are free then."""
    writer.execute(f"PRAGMA auto_vacuum = {mode}")
    writer.execute("CREATE TABLE texts (body BLOB)")
    writer.executemany("INSERT INTO texts VALUES (zeroblob(20000))", [()] * 80)
    writer.execute("DELETE FROM texts")
    return pages(writer, "freelist_count")


def test_each_step_tells_how_much_it_cut_until_few_are_left(bare: dbapi2.Connection) -> None:
    free, size, cut = purged(bare, INCREMENTAL), pages(bare, "page_count"), 0
    assert free > 2 * SPARE
    while step := free_pages(bare):
        cut += step
    left = pages(bare, "freelist_count")
    assert 0 < left <= SPARE
    assert cut == free - left
    assert pages(bare, "page_count") < size
    assert free_pages(bare) == 0


def test_where_nothing_can_be_cut_the_first_step_is_the_last(bare: dbapi2.Connection) -> None:
    free = purged(bare, 0)
    assert free > 2 * SPARE
    assert free_pages(bare) == 0
    assert pages(bare, "freelist_count") == free
