"""What of an import the vault does not know yet, counted as the import itself would count it; for a rehearsal.

Must not do: write anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.importers.records.records import Record
from core.intake.store.import_batch import ImportTally, identity_digest, known_digests, usable_space
from core.intake.transaction.sources import KINDS_BY_TEXT, standing_twin
from core.intake.transaction.text_parts import cut_text
from core.intake.transaction.tombstones import erased_digests, erased_texts
from core.memory.draft import content_hash
from core.memory.spaces import find_space_id
from core.types.values import Status
from core.vault.database.rows import Rows
from core.vault.vault import Vault

_AT_ONCE = 500


class NewRecordCounter:
    """Counts records, some hundred at a time.

    Attributes:
        tally: what would be stored and what left out, of the records looked up so far.
    """

    def __init__(self, vault: Vault, space: str, told: Callable[[Record], None] | None = None) -> None:
        """Begin to count.

        Args:
            vault: the open vault.
            space: name of the space for records without one of their own.
            told: gets each record that would be stored.
        """
        self._vault = vault
        self._space = space
        self._told = told
        self._waiting: list[Record] = []
        self._texts: set[tuple[str, str, bytes]] = set()
        self.tally = ImportTally()

    def see(self, record: Record) -> None:
        """Take one record, whose identity did not come before.

        Args:
            record: as the importer read it.
        """
        self._waiting.append(record)
        if len(self._waiting) >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Look up what is waiting."""
        records, self._waiting = self._waiting, []
        for record, reason in zip(records, self._vault.read(lambda rows: self._known(rows, records)), strict=True):
            left_out = reason or self._repeats(record)
            if left_out is not None:
                self.tally.skipped[left_out] += 1
            else:
                self.tally.stored += 1
                self.tally.proposals += record.status is Status.QUARANTINED
                if self._told is not None:
                    self._told(record)

    def _known(self, rows: Rows, records: Sequence[Record]) -> list[str | None]:
        keys = [identity_digest(self._space_of(record), record.identity) for record in records]
        known, erased = known_digests(rows, keys), erased_digests(rows, keys)
        said = erased_texts(rows, (record.text for record in records))
        return [
            "known"
            if key in known
            else "erased"
            if key in erased or record.text in said
            else "duplicate_text"
            if self._stands(rows, record)
            else None
            for record, key in zip(records, keys, strict=True)
        ]

    def _stands(self, rows: Rows, record: Record) -> bool:
        if not _is_by_text(record):
            return False
        within = find_space_id(rows, self._space_of(record))
        return within is not None and standing_twin(rows, cut_text(record.text), record.kind, within) is not None

    def _repeats(self, record: Record) -> str | None:
        """The same words came before in this import."""
        if not _is_by_text(record):
            return None
        key = (self._space_of(record), record.kind.value, content_hash(record.text))
        if key in self._texts:
            return "duplicate_text"
        self._texts.add(key)
        return None

    def _space_of(self, record: Record) -> str:
        return usable_space(record.space) or self._space


def _is_by_text(record: Record) -> bool:
    return record.kind in KINDS_BY_TEXT and record.status is Status.ACTIVE
