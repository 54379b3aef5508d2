"""The stamps of rows in the vault, read and written past the triggers.

Must not do: change a row itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from core.intake.sync.registers import RowPresence, RowStamps, SyncedTable
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_READ = "SELECT presence, born, stamps FROM sync_rows WHERE tbl = ? AND row_key = ?"
_WRITE = (
    "INSERT INTO sync_rows (tbl, row_key, presence, born, stamps, is_pending) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (tbl, row_key) DO UPDATE SET presence = excluded.presence, born = excluded.born, "
    "stamps = excluded.stamps, is_pending = excluded.is_pending"
)
_MERGE = "UPDATE sync_rows SET stamps = ?, is_pending = max(is_pending, ?) WHERE tbl = ? AND row_key = ?"
_TAKING = "UPDATE sync_state SET is_taking = ? WHERE one = 1"


def read_stamps(rows: Rows, table: SyncedTable, key: str) -> RowStamps | None:
    """The stamps of a row; None for one that was never there."""
    found = rows.one(_READ, (table.name, key))
    return None if found is None else RowStamps(RowPresence(found[0]), str(found[1]), json.loads(found[2]))


def write_stamps(tx: Tx, table: SyncedTable, key: str, stamps: RowStamps, *, is_pending: bool) -> None:
    """Put a row's stamps in the place of those it had.

    Args:
        is_pending: whether the others have to be told.
    """
    values = (int(stamps.presence), stamps.born, to_json(dict(stamps.later)), int(is_pending))
    tx.run(_WRITE, (table.name, key, *values))


def merge_stamps(
    tx: Tx, table: SyncedTable, key: str, known: RowStamps, newer: Mapping[str, str], *, is_pending: bool = False
) -> None:
    """Stamp some registers of a row that is there; what of it is pending stays so.

    Args:
        newer: register to stamp.
        is_pending: whether the others have to be told of these.
    """
    tx.run(_MERGE, (to_json({**known.later, **newer}), int(is_pending), table.name, key))


@contextmanager
def untouched_stamps(tx: Tx) -> Iterator[None]:
    """Rows that are written inside are stamped by the caller, and not as changes of this device."""
    tx.run(_TAKING, (1,))
    yield
    tx.run(_TAKING, (0,))  # what is raised inside gives up the transaction, and this with it


@contextmanager
def own_stamps(tx: Tx) -> Iterator[None]:
    """Within `untouched_stamps`: what is written inside is a change of this device."""
    tx.run(_TAKING, (0,))
    yield
    tx.run(_TAKING, (1,))


def latest_stamp(found: Iterable[RowStamps | None]) -> str | None:
    """The latest stamp of some rows; None where there is none."""
    stamps = [stamp for one in found if one is not None for stamp in (one.born, *one.later.values())]
    return max(stamps, default=None)
