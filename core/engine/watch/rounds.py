"""One look at one watched folder: what vanished, what is new or changed and has rested, read and stored in batches.

Nothing is kept of a round but what is in the vault: after a kill the next one finds what is left. A file is read once
it rests; what changes while it is read is left for the next round. A folder that is not there, or in whose place
another lies, is asked about nothing. Must not do: decide when to look, or hold more than some batches in memory.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from core.engine.imports.group import make_import_records
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.progress import ImportProgress
from core.engine.runtime.search import Embedded
from core.errors import Code, UserError
from core.importers.input.files import DiskFile
from core.importers.records import Record, SkippedPart, UnreadablePart
from core.importers.watched_folder import (
    FolderReader,
    FolderSurvey,
    TooManyFilesError,
    WatchedNature,
    identify_root,
    nature_of,
    survey_folder,
)
from core.intake.store.import_batch import identity_digest, scan_ahead, usable_space
from core.intake.transaction.admission import cut_text
from core.intake.watch.arrivals import DONE, ArrivalWriter, FilePiece
from core.intake.watch.folders import FolderRow, end_round, note_vanished, read_said, read_stamps, require_folder
from core.text.terms import embedding_text
from core.types.clock import Clock
from core.types.folders.watch import WatchState
from core.types.values import LIFECYCLE_ACTOR
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

REST_S = 2.0
"""A file that did not change for so long is read."""

LONGEST_WAIT_S = 15.0
"""A log that grows without a pause is read after so long."""

_APPENDED = (".jsonl", ".ndjson")
_MOST_FILES, _MOST_BYTES = 200, 8 << 20
_VANISHED_AT_ONCE = 500
_AHEAD = 3
_CHECK_EVERY = 200


@dataclass
class RestCheck:
    """Which files rest; lives as long as a folder is watched.

    Attributes:
        refused: files that could not be read, as they were then; they are tried again once they changed.
    """

    clock: Clock
    refused: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, tuple[str, float, float]] = field(default_factory=dict)

    def is_rested(self, name: str, file: DiskFile, stamp: str) -> bool:
        """Whether a file may be read now."""
        now = self.clock.monotonic()
        age_s = (self.clock.now_ms() - file.modified_ns // 1_000_000) / 1000
        if age_s >= REST_S and name not in self._seen:
            return True  # most of a large folder: nothing of it has to be kept
        last, since, begun = self._seen.get(name, ("", now, now))
        if stamp != last:
            since = now
        self._seen[name] = (stamp, since, begun)
        is_long = name.endswith(_APPENDED) and now - begun >= LONGEST_WAIT_S
        return age_s >= REST_S or now - since >= REST_S or is_long

    def forget(self, name: str) -> None:
        """The file was read, or is gone."""
        self._seen.pop(name, None)


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """What a look at a folder found.

    Attributes:
        folders: it and those in it, for the system to tell of; empty where it is not there.
        counts: what came: `files`, `new`, `changed`, `moved`, and what was left out.
        listing_s: seconds that listing it took.
    """

    state: WatchState
    folders: tuple[Path, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    listing_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Batch:
    pieces: tuple[tuple[FilePiece, tuple[Record, ...]], ...]
    parts: tuple[tuple[str, ...], ...]
    embedded: Future[Embedded]


@dataclass
class _KnownFiles:
    """What the vault knows of the files of a folder, beside how they are.

    Attributes:
        unchanged: names of files that are as they were when they were read to their end.
        vanished: names of files that are not there any more and were there when it was looked last.
        is_another: whether files are known and none of them is there.
    """

    unchanged: set[str] = field(default_factory=set)
    vanished: list[str] = field(default_factory=list)
    is_another: bool = False


def _compare_files(rows: Rows, folder_id: str, survey: FolderSurvey) -> _KnownFiles:
    found, files, count, there = _KnownFiles(), survey.files, 0, 0
    for name, stamp, is_gone in read_stamps(rows, folder_id):
        count += 1
        if name in files:
            there += 1
            if not is_gone and files.stamp_of(name) == stamp:
                found.unchanged.add(name)
        elif not is_gone and not survey.may_hold(name):
            found.vanished.append(name)
    found.is_another = count > 0 and there == 0
    return found


class FolderRound:
    """One look at one folder."""

    def __init__(self, open_vault: OpenVault, folder: FolderRow, rest: RestCheck, progress: ImportProgress) -> None:
        """Look at a folder.

        Args:
            rest: what is known of its files from earlier rounds.
            progress: told how many files are done; stops the round where the vault closes.
        """
        self._open_vault, self._folder, self._rest, self._progress = open_vault, folder, rest, progress
        self._is_waiting = False
        self._counts: Counter[str] = Counter()

    def run(self) -> RoundOutcome:
        """Look, read and store.

        Raises:
            LociError: what the vault said; what is stored by then stays, and the next round goes on from there.
        """
        root, vault = Path(self._folder.path), self._open_vault.storage.vault
        identity = identify_root(root)
        if identity is None:
            return RoundOutcome(WatchState.GONE)
        clock = self._open_vault.storage.clock
        begun = clock.monotonic()
        try:
            survey = survey_folder(root, self._folder.format)
        except TooManyFilesError:
            return RoundOutcome(WatchState.TOO_MANY)
        except OSError:
            return RoundOutcome(WatchState.GONE)
        known = vault.read(lambda rows: _compare_files(rows, self._folder.id, survey))
        listing_s = clock.monotonic() - begun
        if identity != self._folder.root and known.is_another:
            return RoundOutcome(WatchState.GONE)
        vanished, due = known.vanished, [name for name in survey.files if name not in known.unchanged]
        self._note_vanished(vanished)
        self._read_due(survey, due)
        if vanished or due or identity != self._folder.root or self._folder.looked_at is None or self._has_open_step():
            self._write(lambda tx: end_round(tx, self._open_vault.storage.work, self._folder, identity))
        if any(self._counts[name] for name in DONE):
            seq = vault.read(lambda rows: int(rows.value("SELECT seq FROM vault_state")))
            self._open_vault.storage.announce_change("import", (), LIFECYCLE_ACTOR, seq)
        state = WatchState.WAITING if self._is_waiting else WatchState.WATCHED
        return RoundOutcome(state, tuple(survey.folders), self._counts, listing_s)

    def _has_open_step(self) -> bool:
        return (
            self._open_vault.storage.vault.read(lambda rows: require_folder(rows, self._folder.id)).step_id is not None
        )

    def _write(self, work: Callable[[Tx], object]) -> None:
        self._open_vault.storage.write(work, background=True).result()

    def _note_vanished(self, names: Sequence[str]) -> None:
        for name in names:
            self._rest.forget(name)
        for at in range(0, len(names), _VANISHED_AT_ONCE):
            self._write(partial(note_vanished, folder=self._folder, names=names[at : at + _VANISHED_AT_ONCE]))

    # ---- reading

    def _read_due(self, survey: FolderSurvey, due: Sequence[str]) -> None:
        rested: list[str] = []
        for name in due:
            stamp = survey.files.stamp_of(name)
            if self._rest.refused.get(name) == stamp:
                continue
            if self._rest.is_rested(name, survey.files[name], stamp):
                rested.append(name)
            else:
                self._is_waiting = True
        if not rested:
            return
        waiting: deque[_Batch] = deque()
        reader = FolderReader(survey, self._folder.format, self._folder.label)
        for batch in self._make_batches(self._read_files(reader, survey, rested)):
            waiting.append(batch)
            if len(waiting) >= _AHEAD:
                self._store(waiting.popleft())
        while waiting:
            self._store(waiting.popleft())

    def _read_files(
        self, reader: FolderReader, survey: FolderSurvey, names: Sequence[str]
    ) -> Iterator[tuple[FilePiece, tuple[Record, ...]]]:
        """What each file says, in pieces; a file that changed while it was read ends without its last piece."""
        for done, name in enumerate(names):
            self._progress.report_progress(done, len(names))
            stamp = survey.files.stamp_of(name)
            try:
                yield from self._read_file(reader, name, stamp)
            except UserError as error:
                if error.code is Code.VAULT_LOCKED:
                    raise
                if error.code is Code.IMPORT_CHANGED:
                    self._is_waiting = True
                    continue
                # One file that is refused does not keep the others out.
                self._rest.refused[name] = stamp
                yield FilePiece(name, None, (), is_same=True, left_out={"refused_file": 1}), ()
            else:
                self._rest.forget(name)
        self._progress.report_progress(len(names), len(names))

    def _read_file(self, reader: FolderReader, name: str, stamp: str) -> Iterator[tuple[FilePiece, tuple[Record, ...]]]:
        said = self._open_vault.storage.vault.read(lambda rows: read_said(rows, self._folder.id, name))
        is_note = nature_of(self._folder.format) is WatchedNature.NOTES
        records: list[Record] = []
        left: Counter[str] = Counter()
        place = first = size = 0
        for item in reader.read(name):
            if isinstance(item, SkippedPart | UnreadablePart):
                left[item.reason] += is_note or item.reason == "too_large"
                continue
            place += 1
            if place % _CHECK_EVERY == 0:
                self._progress.report_progress(place, None)
            if not is_note and self._key_of(item) in said:
                continue
            if not records:
                first = place - 1
            records.append(item)
            size += len(item.text)
            if not is_note and (len(records) >= self._open_vault.options.import_batch or size >= _MOST_BYTES):
                yield FilePiece(name, None, (), first), tuple(records)
                records, size = [], 0
        is_same = not records if not is_note else bool(records) and {self._key_of(one) for one in records} == said
        kept = () if is_same else tuple(records)
        yield FilePiece(name, stamp, (), first, is_note=is_note, is_same=is_same, left_out=+left), kept

    def _key_of(self, record: Record) -> bytes:
        return identity_digest(usable_space(record.space) or self._folder.space, record.identity)

    # ---- storing

    def _make_batches(self, pieces: Iterator[tuple[FilePiece, tuple[Record, ...]]]) -> Iterator[_Batch]:
        """Pieces of several files together, embedded ahead of the writer."""
        taken: list[tuple[FilePiece, tuple[Record, ...]]] = []
        rows = size = 0
        for piece, records in pieces:
            taken.append((piece, records))
            rows += len(records)
            size += sum(len(one.text) for one in records)
            if rows >= self._open_vault.options.import_batch or len(taken) >= _MOST_FILES or size >= _MOST_BYTES:
                yield self._embed(taken)
                taken, rows, size = [], 0, 0
        if taken:
            yield self._embed(taken)

    def _embed(self, taken: Sequence[tuple[FilePiece, tuple[Record, ...]]]) -> _Batch:
        records = [record for _, some in taken for record in some]
        parts = tuple(cut_text(one.text, [section.start for section in one.sections]) for one in records)
        flat = [
            embedding_text(part, author=one.author) for one, own in zip(records, parts, strict=True) for part in own
        ]
        return _Batch(tuple(taken), parts, self._open_vault.search.embed_texts_later(flat))

    def _store(self, batch: _Batch) -> None:
        search, storage = self._open_vault.search, self._open_vault.storage
        embedded = batch.embedded.result()
        records = [record for _, some in batch.pieces for record in some]
        items = make_import_records(records, batch.parts, embedded.vectors)
        scan_ahead(items)

        def write(tx: Tx) -> Counter[str]:
            # The model may have changed since: what was made for the old space is of no use in the new one.
            is_fit = embedded.active_space is search.active_space
            fit = items if is_fit else [replace(item, vectors=None) for item in items]
            pieces, at = [], 0
            for piece, some in batch.pieces:
                pieces.append(replace(piece, records=tuple(fit[at : at + len(some)])))
                at += len(some)
            folder = require_folder(tx, self._folder.id)
            writer = ArrivalWriter(tx, storage.make_id, storage.work, search.import_writer, folder)
            return writer.write_pieces(pieces, search.add_vectors)

        self._counts += storage.write(write, background=True).result()
