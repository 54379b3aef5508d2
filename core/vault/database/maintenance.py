"""Maintenance of the open database: merging the full-text index, freeing pages, checkpoints.

It runs on the writer's connection, outside any verb; `core.vault.vault` decides when. Must not do: write a row, copy a
file, say more about a failure than its kind.
"""

from __future__ import annotations

from sqlcipher3 import dbapi2

from core.vault.database.rows import fetch_rows

MERGE_PAGES = 200
MERGE_CHANGES = 2
"""A step of merging that changes less was the last one."""
_BUSY_MS = 5000
_CHECKPOINT_WAIT_MS = 500
_SPARE_PAGES = 128
_SHRINK_PAGES = 64


def merge_full_text(writer: dbapi2.Connection, pages: int) -> int:
    """Merge a part of the full-text index: only then it loses the words of vanished rows.

    Args:
        pages: how many; a negative number begins a merge of everything.

    Returns:
        How many rows of the index it changed.
    """
    before = writer.total_changes
    fetch_rows(writer, "INSERT INTO memory_fts (memory_fts, rank) VALUES ('merge', ?)", (pages,))
    return int(writer.total_changes - before)


def free_pages(writer: dbapi2.Connection) -> int:
    """Cut free pages off the end of the file, all but some that the next texts take (E10.18.2).

    Returns:
        How many went indeed; 0 where there are few, or none can be cut.
    """
    free = _count_free_pages(writer)
    if free <= _SPARE_PAGES:
        return 0
    fetch_rows(writer, f"PRAGMA incremental_vacuum({_SHRINK_PAGES})")
    return max(0, free - _count_free_pages(writer))


def _count_free_pages(writer: dbapi2.Connection) -> int:
    ((pages,),) = fetch_rows(writer, "PRAGMA freelist_count")
    return int(pages)


def checkpoint_log(writer: dbapi2.Connection, *, truncate: bool) -> bool:
    """Move the write-ahead log into the database file.

    Args:
        truncate: also empty the log; needs a moment without readers.

    Returns:
        Whether everything was moved; False where readers held it up.
    """
    mode = "TRUNCATE" if truncate else "PASSIVE"
    fetch_rows(writer, f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}")
    try:
        ((is_busy, frames, moved),) = fetch_rows(writer, f"PRAGMA wal_checkpoint({mode})")
    finally:
        fetch_rows(writer, f"PRAGMA busy_timeout = {_BUSY_MS}")
    return not is_busy and frames == moved
