"""What of an import is new to the vault, counted without writing; and what was chosen of one, kept beside its row.

A choice can name thousands of conversations, so it is written once and not with every batch, and goes when the import
ends. Must not do: store a record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from core.importers.records import Record
from core.intake.store.import_batch import ImportTally, find_other_form, identity_digest, known_digests, usable_space
from core.intake.transaction.admission import cut_text, erased_digests, erased_texts
from core.intake.transaction.sources import KINDS_BY_TEXT, find_active_duplicate
from core.memory.write import content_hash, find_space_id
from core.types.requests import EVERYTHING, Choice
from core.types.values import Status
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.vault import Vault

_AT_ONCE = 500


class NewRecordCounter:
    """Counts records, some hundred at a time.

    Attributes:
        tally: what would be stored and what left out, of the records looked up so far.
    """

    def __init__(self, vault: Vault, space: str, on_new_record: Callable[[Record], None] | None = None) -> None:
        """Begin to count.

        Args:
            space: name of the space for records without one of their own.
            on_new_record: gets each record that would be stored.
        """
        self._vault = vault
        self._space = space
        self._on_new_record = on_new_record
        self._waiting: list[Record] = []
        self._texts: set[tuple[str, str, bytes]] = set()
        self.tally = ImportTally()

    def add_record(self, record: Record) -> None:
        """Take one record, whose identity did not come before.

        Args:
            record: as the importer read it.
        """
        self._waiting.append(record)
        if len(self._waiting) >= _AT_ONCE:
            self.count_waiting_records()

    def count_waiting_records(self) -> None:
        """Look up what is waiting."""
        records, self._waiting = self._waiting, []
        for record, reason in zip(
            records, self._vault.read(lambda rows: self._find_skip_reasons(rows, records)), strict=True
        ):
            left_out = reason or self._repeated_text_reason(record)
            if left_out is not None:
                self.tally.skipped[left_out] += 1
            else:
                self.tally.stored += 1
                self.tally.proposals += record.status is Status.QUARANTINED
                if self._on_new_record is not None:
                    self._on_new_record(record)

    def _find_skip_reasons(self, rows: Rows, records: Sequence[Record]) -> list[str | None]:
        keys = [identity_digest(self._space_of(record), record.identity) for record in records]
        known, erased = known_digests(rows, keys), erased_digests(rows, keys)
        erased_words = erased_texts(rows, (record.text for record in records))
        return [
            "known"
            if key in known
            else "erased"
            if key in erased or record.text in erased_words
            else "duplicate_text"
            if self._has_active_twin(rows, record)
            else find_other_form(rows, self._space_of(record), record)
            for record, key in zip(records, keys, strict=True)
        ]

    def _has_active_twin(self, rows: Rows, record: Record) -> bool:
        if not _is_by_text(record):
            return False
        within = find_space_id(rows, self._space_of(record))
        return (
            within is not None and find_active_duplicate(rows, cut_text(record.text), record.kind, within) is not None
        )

    def _repeated_text_reason(self, record: Record) -> str | None:
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


_PREFIX = "import_choice:"


def save_choice(tx: Tx, import_id: str, choice: Choice) -> None:
    """Keep what was chosen, in the transaction that begins the import; everything needs no note."""
    if not choice.is_all:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?)",
            (_PREFIX + import_id, json.dumps(choice.to_json()), tx.now_ms),
        )


def choice_of(rows: Rows, import_id: str) -> Choice:
    """What was chosen of a running import."""
    found = rows.value("SELECT value FROM settings WHERE key = ?", (_PREFIX + import_id,))
    return EVERYTHING if found is None else Choice.from_json(json.loads(found))


def forget_choice(tx: Tx, import_id: str) -> None:
    """Take the note away; the import has ended."""
    tx.run("DELETE FROM settings WHERE key = ?", (_PREFIX + import_id,))
