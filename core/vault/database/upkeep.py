"""Steps that keep the vault's file in order, on the writer's connection and outside any verb.

What the full-text index keeps of vanished rows, room that is free, the log. Must not do: wait for the writer, or decide
when (`core.vault.vault`).
"""

from __future__ import annotations

from sqlcipher3 import dbapi2

from core.vault.database.cipher import fetch

MERGE_PAGES = 200
MERGE_CHANGES = 2
"""A step of merging that changes less was the last one."""
_BUSY_MS = 5000
_CHECKPOINT_WAIT_MS = 500
_SPARE_PAGES = 128
_SHRINK_PAGES = 64


def merge(writer: dbapi2.Connection, pages: int) -> int:
    """Merge a part of the full-text index: only then it loses the words of vanished rows.

    Args:
        writer: the connection.
        pages: how many; a negative number begins a merge of everything.

    Returns:
        How many rows of the index it changed.
    """
    before = writer.total_changes
    fetch(writer, "INSERT INTO memory_fts (memory_fts, rank) VALUES ('merge', ?)", (pages,))
    return int(writer.total_changes - before)


def shrink(writer: dbapi2.Connection) -> int:
    """Cut free pages off the end of the file, all but some that the next texts take (E10.18.2).

    Args:
        writer: the connection.

    Returns:
        How many went indeed; 0 where there are few, or none can be cut.
    """
    free = _free(writer)
    if free <= _SPARE_PAGES:
        return 0
    fetch(writer, f"PRAGMA incremental_vacuum({_SHRINK_PAGES})")
    return max(0, free - _free(writer))


def _free(writer: dbapi2.Connection) -> int:
    ((pages,),) = fetch(writer, "PRAGMA freelist_count")
    return int(pages)


def move_log(writer: dbapi2.Connection, *, truncate: bool) -> bool:
    """Move the log into the file.

    Args:
        writer: the connection.
        truncate: also empty the log; needs a moment without readers.

    Returns:
        Whether everything was moved; False where readers held it up.
    """
    mode = "TRUNCATE" if truncate else "PASSIVE"
    fetch(writer, f"PRAGMA busy_timeout = {_CHECKPOINT_WAIT_MS}")
    try:
        ((is_busy, frames, moved),) = fetch(writer, f"PRAGMA wal_checkpoint({mode})")
    finally:
        fetch(writer, f"PRAGMA busy_timeout = {_BUSY_MS}")
    return not is_busy and frames == moved
