"""A database file of another program's, read from a copy in memory: nothing is opened in place, locked or written.

Must not do: run what the database defines (views, triggers), or read a file of a size that memory does not hold.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from core.importers.input.files import refused_file_error
from core.importers.input.source import SourceFile

MAGIC = b"SQLite format 3\x00"
"""How such a file begins."""

MOST = 256 << 20
_STEP = 10_000  # instructions of the database's machine between two looks
_MOST_STEPS = 100_000
_JOURNAL = slice(18, 20)  # says that changes lie in a second file, which a copy does not have
_PLAIN = b"\x01\x01"
_DAMAGED = "is a damaged database"


@contextmanager
def open_database(file: SourceFile) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database.

    Args:
        file: any file of a bundle; what its program has not yet written into it is not seen.

    Raises:
        UserError: IMPORT_REFUSED for one that is damaged, over 256 MiB, or keeps its reader busy without end.
    """
    if file.size > MOST:
        raise refused_file_error(file.name, f"is a database of more than {MOST >> 20} MiB, too large to be read")
    with closing(file.open()) as stream:
        content = bytearray(stream.read(MOST))
    content[_JOURNAL] = _PLAIN
    steps = 0

    def count_steps() -> bool:
        nonlocal steps
        steps += 1
        return steps > _MOST_STEPS

    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.deserialize(bytes(content))
            del content
            for setting in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
                database.execute(f"PRAGMA {setting}")
            database.set_progress_handler(count_steps, _STEP)
            yield database
        except (sqlite3.Error, OverflowError):
            raise refused_file_error(file.name, _DAMAGED) from None


def has_table(database: sqlite3.Connection, name: str) -> bool:
    """Whether a table of that name is there; a view of it does not count."""
    found = database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return found.fetchone() is not None
