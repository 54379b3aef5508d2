"""The audit: one row for each mutation and recall, each bound to the one before it.

``mac = HMAC(audit key, previous mac, canonical row)``: a row that was changed, taken out or
put in between breaks the chain there. Rows hold ids, counts and code words only; anything
that could be memory text is refused here. Must not do: decide what is audited.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import BugError, Code, IntegrityError
from core.security.keys import keyed_digest, same_bytes
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_START = bytes(32)
_LABEL = b"loci-audit-v1"
_PAGE = 2000
_PAGE_SQL = "SELECT nr, at, actor, verb, object, detail, mac FROM audit WHERE nr > ? ORDER BY nr LIMIT ?"
_WORD = re.compile(r"[a-z][a-z0-9_.]{0,47}")
_NAME = re.compile(r"[A-Za-z0-9_.:@-]{0,128}")
_MOST_VALUES = 64

Detail = Mapping[str, object]


@dataclass(frozen=True)
class AuditEntry:
    """What is to be put down.

    Attributes:
        actor: `owner`, `scheduler` or `client:<id>`.
        verb: a code word.
        object: an id, or empty.
        detail: code word to number, truth value, id or code word, or a list of those.
    """

    actor: str
    verb: str
    object: str = ""
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True)
class ChainReport:
    """What a walk over the chain found.

    Attributes:
        rows: how many rows were read.
        broken_at: the number of the first row that does not fit; None where all do.
    """

    rows: int
    broken_at: int | None

    @property
    def is_whole(self) -> bool:
        """Whether every row fits."""
        return self.broken_at is None


class AuditChain:
    """Writes and checks the chain of one vault."""

    def __init__(self, key: bytes) -> None:
        """Keep the key.

        Args:
            key: the audit's sub-key.
        """
        self._key = key

    def append_row(self, tx: Tx, actor: str, verb: str, object: str = "", detail: Detail | None = None) -> int:  # noqa: A002
        """Put down one row in the verb's own transaction.

        Args:
            actor: `owner`, `scheduler` or `client:<id>`.
            verb: a code word.
            object: an id, or empty.
            detail: ids and counts.

        Returns:
            The row's number.

        Raises:
            BugError: something that is no id, count or code word.
        """
        return self.append_many(tx, (AuditEntry(actor, verb, object, detail or {}),))

    def append_many(self, tx: Tx, entries: Sequence[AuditEntry]) -> int:
        """Put down several rows in their order; reads are audited so, in batches.

        Args:
            entries: what to put down.

        Returns:
            The last row's number; 0 where there was none.

        Raises:
            BugError: something that is no id, count or code word.
        """
        nr, mac = _read_last(tx)
        rows = []
        for entry in entries:
            nr += 1
            row = (nr, tx.now_ms, *_check_entry(entry))
            mac = self._make_mac(mac, row)
            rows.append((*row, mac))
        if rows:
            tx.run_many(
                "INSERT INTO audit (nr, at, actor, verb, object, detail, mac) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
            )
        return nr

    def verify_chain(self, rows: Rows) -> ChainReport:
        """Walk the whole chain.

        Args:
            rows: one snapshot.
        """
        mac, nr = _START, 0
        while True:
            page = rows.all(_PAGE_SQL, (nr, _PAGE))
            if not page:
                return ChainReport(nr, None)
            for row in page:
                mac = self._make_mac(mac, row[:6])
                if row[0] != nr + 1 or not same_bytes(mac, row[6]):
                    return ChainReport(nr, row[0])
                nr = row[0]

    def rebind_rows(self, rows: Rows, other: AuditChain) -> Iterator[list[tuple[bytes, int]]]:
        """The marks of the same rows under another key, each row checked under this one first.

        Args:
            rows: one snapshot.
            other: the chain under the other key.

        Yields:
            Mark and number of some rows at a time.

        Raises:
            IntegrityError: VAULT_DAMAGED; a row does not fit: a new mark would hide that.
        """
        mac, other_mac, nr = _START, _START, 0
        while page := rows.all(_PAGE_SQL, (nr, _PAGE)):
            found: list[tuple[bytes, int]] = []
            for row in page:
                mac, other_mac = self._make_mac(mac, row[:6]), other._make_mac(other_mac, row[:6])
                if row[0] != nr + 1 or not same_bytes(mac, row[6]):
                    raise IntegrityError(
                        Code.VAULT_DAMAGED,
                        "The audit of this vault was changed from outside, so its keys stay as they are; "
                        "look at it with `loci verify` and restore a backup.",
                    )
                nr = row[0]
                found.append((other_mac, nr))
            yield found

    def _make_mac(self, before: bytes, row: tuple[object, ...]) -> bytes:
        nr, at, actor, verb, name, detail = row
        parts = (str(nr), str(at), str(actor), str(verb), str(name), str(detail))
        return keyed_digest(self._key, _LABEL, before, *(part.encode("utf-8") for part in parts))


def _read_last(rows: Rows) -> tuple[int, bytes]:
    row = rows.one("SELECT nr, mac FROM audit ORDER BY nr DESC LIMIT 1")
    return (0, _START) if row is None else (row[0], row[1])


def _check_entry(entry: AuditEntry) -> tuple[str, str, str, str]:
    fits = _NAME.fullmatch(entry.actor) and _WORD.fullmatch(entry.verb) and _NAME.fullmatch(entry.object)
    if not fits or not entry.actor or len(entry.detail) > _MOST_VALUES:
        raise BugError("audit row")
    if not all(_WORD.fullmatch(name) and _is_content_free(value) for name, value in entry.detail.items()):
        raise BugError("audit detail")
    detail = json.dumps(dict(entry.detail), sort_keys=True, separators=(",", ":"), default=list)
    return entry.actor, entry.verb, entry.object, detail


def _is_content_free(value: object) -> bool:
    if value is None or isinstance(value, (bool, int)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return _NAME.fullmatch(value) is not None
    if isinstance(value, (list, tuple)):
        return len(value) <= _MOST_VALUES and all(
            not isinstance(one, (list, tuple)) and _is_content_free(one) for one in value
        )
    return False
