"""The facade's group for imports: find, rehearse, run, resume, take back.

Must not do: know a file format (`core.importers` does), store a record by another way than
`core.intake.store.import_batch`, or write in a dry run.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core import log
from core.engine.imports.comparison import AT_ONCE, compare_imported, compare_in_turns
from core.engine.imports.preview import NewRecordCounter, choice_of, forget_choice, save_choice
from core.engine.imports.restore import is_archive_file, rehearse_archive, run_archive
from core.engine.runtime import expiry
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.progress import Asked, Counted, ImportProgress, RunningImport, count_interrupted_imports
from core.engine.runtime.search import Embedded
from core.engine.runtime.storage import Storage
from core.errors import CancelledError, Code, EnvironmentFaultError, LociError, UserError
from core.importers.detect import detect_format, is_export
from core.importers.dry_run import DryRunReport, DryRunTally, import_items
from core.importers.extension.discovery import NONE, LoadedExtensions, load_extensions
from core.importers.formats.notes.markdown import count_list_lines
from core.importers.input.files import printable_name
from core.importers.input.source import Bundle, open_bundle
from core.importers.plan import ImportPlan, item_key
from core.importers.records import Importer, Item, Part, Record
from core.importers.source_discovery import discover_sources, named_folders, usual_folders
from core.intake.store.import_batch import (
    ImportRecord,
    ImportRun,
    ImportTally,
    parse_usable_claim,
    scan_ahead,
    tally_from,
    usable_space,
    usable_validity,
)
from core.intake.transaction.admission import check_space_name, cut_text
from core.lifecycle.enrich import count_unread, find_obstacle
from core.recall.browse.import_findings import read_import_findings
from core.text.terms import embedding_text
from core.types.replies import Candidate, ImportFindings, ImportReport, UndoReport
from core.types.requests import EVERYTHING, Choice
from core.types.values import HOME_SPACE, OWNER_ACTOR, Actor, When
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def make_import_records(
    records: Sequence[Record], parts: Sequence[tuple[str, ...]], vectors: NDArray[np.float32] | None
) -> list[ImportRecord]:
    """The records of a batch with their vectors.

    Args:
        records: as the importer read them.
        parts: the texts of each.
        vectors: unit rows, one a text in that order; None where the embedder was away.

    Returns:
        What the vault takes in.
    """
    items: list[ImportRecord] = []
    at = 0
    for record, texts in zip(records, parts, strict=True):
        own = None if vectors is None else vectors[at : at + len(texts)]
        items.append(_import_record_from(record, texts, own))
        at += len(texts)
    return items


def _times_of_import_parts(record: Record, texts: Sequence[str]) -> tuple[When | None, ...]:
    """When each part of a record was said."""
    times: list[When | None] = []
    at, occurred, left = 0, record.occurred, list(record.sections)
    for text in texts:
        while left and left[0].start <= at:
            occurred = left.pop(0).occurred
        times.append(occurred)
        at += len(text)
    return tuple(times)


def _import_record_from(record: Record, texts: tuple[str, ...], vectors: NDArray[np.float32] | None) -> ImportRecord:
    conversation = record.conversation
    space = usable_space(record.space)
    valid_from, valid_to = usable_validity(record.valid_from, record.valid_to)
    marks = {
        "space_unusable": space != record.space,
        "validity_unusable": (valid_from, valid_to) != (record.valid_from, record.valid_to),
    }
    return ImportRecord(
        memory=replace(
            record,
            space=space,
            claim=parse_usable_claim(record.claim),
            valid_from=valid_from,
            valid_to=valid_to,
            flags=(*record.flags, *(mark for mark, is_set in marks.items() if is_set)),
        ),
        conversation=None
        if conversation is None
        else (conversation.key, conversation.title, conversation.started, conversation.extra),
        texts=texts,
        times=_times_of_import_parts(record, texts),
        vectors=vectors,
    )


_log = log.get("engine")
_CHECK_EVERY = 200
# Batches between parser and writer: one that is written, two that are embedded, one for the worker that is done first.
_AHEAD = 4
_STOP_S = 60.0
# One that came with an archive has no step here: what it brought in that vault is that vault's.
_DONE = "SELECT step_id FROM imports WHERE id = ? AND state = 'done' AND step_id IS NOT NULL"


@dataclass(frozen=True, slots=True)
class _Batch:
    records: tuple[Record, ...]
    texts: tuple[tuple[str, ...], ...]
    embedded: Future[Embedded]
    position: int


@dataclass(frozen=True, slots=True)
class _Work:
    """One import on the job thread."""

    open_vault: OpenVault
    running: RunningImport
    progress: ImportProgress


class Imports:
    """Imports run one at a time on the job thread."""

    def __init__(self, open_vault: Callable[[], OpenVault], person_home: Path | None = None) -> None:
        """Tie the ends together.

        Args:
            open_vault: gives the open vault, or raises VAULT_LOCKED.
            person_home: the person's own folder, whose usual places are looked at; None for none.
        """
        self._open_vault = open_vault
        self._person_home = person_home

    def find_candidates(
        self, places: Sequence[Path] | None = None, cancelled: Asked | None = None
    ) -> Future[tuple[Candidate, ...]]:
        """Look for exports. Reads names and heads of files, for some seconds at most; changes nothing.

        Args:
            places: folders the person named; None for the usual places in the person's home.
            cancelled: asked between files; stopping gives what was found so far.

        Returns:
            What was found, the newest first.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        if places is not None:
            wanted = named_folders(places)
        else:
            wanted = () if self._person_home is None else usual_folders(self._person_home)

        def is_stopped() -> bool:
            return open_vault.storage.closing.is_set() or (cancelled is not None and cancelled())

        return open_vault.storage.run_on(
            open_vault.storage.threads.reads, discover_sources, wanted, open_vault.storage.clock, is_stopped
        )

    def find_exports(self, paths: Sequence[Path]) -> Future[tuple[Path, ...]]:
        """Which of some files are exports by their content; of each no more than the head is read.

        Args:
            paths: files that may be documents as well.

        Returns:
            Those that a program exported, as it seems; none that cannot be read.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()

        def find() -> tuple[Path, ...]:
            importers = _extensions(open_vault).importers
            return tuple(path for path in paths if _is_export(path, importers))

        return open_vault.storage.run_on(open_vault.storage.threads.reads, find)

    def rehearse(
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        actor: Actor,
        space: str | None = None,
        progress: Counted | None = None,
        cancelled: Asked | None = None,
        passphrase: str | None = None,
        *,
        is_own: bool = False,
    ) -> Future[ImportReport]:
        """Parse everything and write nothing.

        Args:
            path: a file or folder.
            format: the format's name; None to detect it.
            actor: who asks; the owner.
            space: where it would go; `home` if None.
            progress: called with (done, total).
            cancelled: asked at safe points.
            passphrase: of an encrypted archive.
            is_own: whether the person says that another vault of theirs wrote that archive.

        Returns:
            What an import would store, with a plan by conversation; of an archive without one. The future raises
            IMPORT_SECRET_NEEDED for an archive without its passphrase.
        """
        open_vault = self._require_owner_vault(actor)
        watch = _make_progress(open_vault.storage, progress, cancelled)
        if format is None and is_archive_file(path):
            rehearse = partial(rehearse_archive, is_own=is_own)
            return open_vault.storage.run_on(
                open_vault.storage.threads.jobs, rehearse, open_vault, path, passphrase, watch
            )
        return open_vault.storage.run_on(
            open_vault.storage.threads.jobs, self._rehearse_import, open_vault, path, format, space, watch
        )

    def run(
        self,
        path: Path,
        format: str | None,  # noqa: A002 - the contract's word
        space: str | None,
        actor: Actor,
        progress: Counted | None = None,
        cancelled: Asked | None = None,
        choice: Choice = EVERYTHING,
        passphrase: str | None = None,
        *,
        is_own: bool = False,
    ) -> Future[ImportReport]:
        """Import a file or folder: rehearsed first, then stored in batches; one undo step.

        Args:
            path: a file or folder.
            format: the format's name; None to detect it.
            space: the space for records without one of their own; `home` if None.
            actor: who asks; the owner.
            progress: called with (done, total).
            cancelled: asked at safe points; stopping takes back what was stored. A lock on the way does not: the next
                start goes on where it stopped.
            choice: which conversations and sources to import, as the dry run's plan names them. The rest can be
                imported later.
            passphrase: of an encrypted archive, which is imported whole.
            is_own: as for `rehearse`.

        Returns:
            What was stored; what was not chosen is counted as `not_chosen`. The future raises INVALID_INPUT where
            nothing of it is in the file, and for a source that is not there.
        """
        open_vault = self._require_owner_vault(actor)
        running = RunningImport(
            open_vault.storage.make_id(), printable_name(path.name), open_vault.storage.clock.now_ms()
        )
        open_vault.imports[running.id] = running
        try:
            work = _Work(
                open_vault,
                running,
                _make_progress(
                    open_vault.storage, running.make_progress_note(progress), running.make_stop_check(cancelled)
                ),
            )
            done = self._submit_run(work, path, format, space, choice, passphrase, is_own=is_own)
        except BaseException:
            _close_running_import(open_vault.imports, running)
            raise
        done.add_done_callback(lambda _: _close_running_import(open_vault.imports, running))
        return done

    def _submit_run(
        self,
        work: _Work,
        path: Path,
        form: str | None,
        space: str | None,
        choice: Choice,
        passphrase: str | None,
        *,
        is_own: bool,
    ) -> Future[ImportReport]:
        storage = work.open_vault.storage
        if form is None and is_archive_file(path):
            if choice.sources is not None or choice.without:
                raise UserError(Code.INVALID_INPUT, "A Loci archive has no sources to choose from; it comes whole.")
            if space is not None:
                check_space_name(space)
            return storage.run_on(
                storage.threads.jobs,
                partial(run_archive, is_own=is_own),
                work.open_vault,
                work.running,
                path,
                passphrase,
                space,
                work.progress,
            )
        return storage.run_on(storage.threads.jobs, self._run_import, work, path, form, space, choice)

    def _require_owner_vault(self, actor: Actor) -> OpenVault:
        if not actor.is_owner:
            raise UserError(Code.ACCESS_DENIED, "Only the person may import.")
        return self._open_vault()

    def undo_import(self, import_id: str) -> Future[UndoReport]:
        """Remove exactly what one import brought; one that runs is stopped, and takes back what it wrote.

        Raises:
            UserError: NOT_FOUND when there is no such import or it was taken back already; BUSY where it does not stop
                in time.
        """
        open_vault = self._open_vault()
        running = open_vault.imports.get(import_id)
        if running is not None:
            return open_vault.storage.run_on(open_vault.storage.threads.reads, self._stop_import, open_vault, running)
        return self._undo_finished_import(open_vault, import_id)

    def _stop_import(self, open_vault: OpenVault, running: RunningImport) -> UndoReport:
        running.stop()
        if not running.over.wait(_STOP_S):
            raise EnvironmentFaultError(
                Code.BUSY,
                "The import is being stopped, which takes a while; `loci status` names it until it has ended.",
            )
        steps = "SELECT s.id, s.undone_by FROM imports i JOIN undo_steps s ON s.id = i.step_id WHERE i.id = ?"
        step = open_vault.storage.vault.read(lambda rows: rows.one(steps, (running.id,)))
        if step is not None and step[1] is None:
            return self._undo_finished_import(open_vault, running.id).result()  # it was done before it could be stopped
        step_id, undone_by = ("", "") if step is None else step  # stopped before it wrote anything
        return UndoReport(step_id, "Import", undone_by, restored=0)

    @staticmethod
    def _undo_finished_import(open_vault: OpenVault, import_id: str) -> Future[UndoReport]:
        def write(tx: Tx) -> UndoReport:
            row = tx.one(
                "SELECT step_id FROM imports WHERE id = ? AND state = 'done' AND step_id IS NOT NULL", (import_id,)
            )
            if row is None:
                raise UserError(Code.NOT_FOUND, "There is no such import, or it was taken back already.")
            with open_vault.storage.verb(tx, OWNER_ACTOR, "undo") as verb:
                report = expiry.undo_step(tx, open_vault, row[0], OWNER_ACTOR, verb_name="unimport")
                verb.set_outcome(())
            return report

        return open_vault.storage.write(write)

    def finish_interrupted(self, progress: Counted | None = None) -> Future[int]:
        """Finish, or take back, what a crash interrupted.

        Args:
            progress: called with (done, total).

        Returns:
            How many imports were dealt with.
        """
        open_vault = self._open_vault()
        return open_vault.storage.run_on(open_vault.storage.threads.jobs, self._finish_all, open_vault, progress)

    def read_findings(self, import_ids: Sequence[str]) -> Future[ImportFindings]:
        """What was found in imports by now: names, statements, changes, questions, and how far names are read.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()

        def read(rows: Rows) -> ImportFindings:
            found = read_import_findings(rows, import_ids, *count_unread(rows, import_ids))
            return (
                replace(found, waits=find_obstacle(rows, is_on=open_vault.options.lifecycle_on))
                if found.unread
                else found
            )

        return open_vault.storage.read(read)

    def count_interrupted(self) -> int:
        """How many imports wait to be finished."""
        return self._open_vault().storage.vault.read(count_interrupted_imports)

    def _rehearse_import(
        self, open_vault: OpenVault, path: Path, form: str | None, space: str | None, progress: ImportProgress
    ) -> ImportReport:
        if space is not None:
            check_space_name(space)
        with open_bundle(path) as bundle:
            importer = detect_format(bundle, form, _extensions(open_vault).importers)
            plan = ImportPlan(importer.format, bundle.label)
            new = NewRecordCounter(open_vault.storage.vault, space or HOME_SPACE, plan.would_store)

            def see_item(item: Item) -> None:
                plan.see_item(item)  # first: a newcomer is told of as soon as it was looked up
                if isinstance(item, Record):
                    new.add_record(item)

            preview = _count_import_items(bundle, importer, progress, EVERYTHING, see_item).report
            _check_format_matches(bundle, form, preview)
            new.count_waiting_records()
            rows, more = plan.make_result()
            sources, sources_more = plan.list_sources()
            report = _make_report(open_vault, None, importer.format, preview, new.tally)
            return replace(
                report,
                plan=rows,
                plan_more=more,
                sources=sources,
                sources_more=sources_more,
                list_lines=count_list_lines(bundle, importer.format),
            )

    def _run_import(self, work: _Work, path: Path, form: str | None, space: str | None, choice: Choice) -> ImportReport:
        if space is not None:
            check_space_name(space)
        with open_bundle(path) as bundle:
            importer = detect_format(bundle, form, _extensions(work.open_vault).importers)
            counted = _count_import_items(bundle, importer, work.progress, choice)
            preview = counted.report
            if choice.list_unknown((part.name, part.format) for part in counted.parts):
                raise UserError(Code.INVALID_INPUT, "One of the sources that were named is not there; choose again.")
            if not choice.is_all and not preview.records:
                raise UserError(Code.INVALID_INPUT, "Nothing of what was chosen is in this export; choose again.")
            _check_format_matches(bundle, form, preview)
            run = self._begin_run(work, importer.format, bundle, path, space or HOME_SPACE, preview.records, choice)
            tally = ImportTally()
            if counted.passed_over:
                tally.skipped["not_chosen"] = counted.passed_over
            self._store_batches(work, run, bundle, importer, tally, (0, preview.records), choice)
            return _make_report(work.open_vault, run.id, importer.format, preview, tally)

    def _begin_run(
        self,
        work: _Work,
        form: str,
        bundle: Bundle,
        path: Path,
        space: str,
        total: int,
        choice: Choice,
    ) -> ImportRun:
        open_vault = work.open_vault

        def write(tx: Tx) -> ImportRun:
            run = ImportRun(
                work.running.id, form, bundle.label, open_vault.storage.make_id(), space, open_vault.storage.make_id()
            )
            # A path need not be text; one that is not cannot be found again, and its import is then taken back.
            location = str(path.absolute()).encode("utf-8", "backslashreplace").decode("utf-8")
            run = open_vault.search.import_writer.begin_import(tx, run, location, bundle.fingerprint, total)
            save_choice(tx, run.id, choice)
            return run

        return open_vault.storage.write(write).result()

    def _store_batches(
        self,
        work: _Work,
        run: ImportRun,
        bundle: Bundle,
        importer: Importer,
        tally: ImportTally,
        reach: tuple[int, int | None],
        choice: Choice,
    ) -> None:
        open_vault, (position, total) = work.open_vault, reach
        work.running.is_storing, work.running.done, work.running.total = True, position, total
        try:
            waiting: deque[_Batch] = deque()
            for batch in _read_batches(open_vault, bundle, importer, position, choice):
                waiting.append(batch)
                if len(waiting) >= _AHEAD:
                    self._write_batch(open_vault, run, waiting.popleft(), tally, work.progress, total)
            while waiting:
                self._write_batch(open_vault, run, waiting.popleft(), tally, work.progress, total)
        except BaseException:
            # Cancelled, refused half-way, disk full: nothing of it stays. Where that cannot be (the vault is being
            # locked, the disk is too full even for that), the row stays `running` and the next start deals with it.
            if not open_vault.storage.closing.is_set():
                with suppress(LociError):
                    self._take_back(open_vault, run)
            raise

        def finish_run(tx: Tx) -> None:
            open_vault.search.import_writer.finish_import(tx, run, tally)
            forget_choice(tx, run.id)

        open_vault.storage.write(finish_run).result()
        compare_imported(open_vault.storage, open_vault.search, AT_ONCE)
        compare_in_turns(open_vault.storage, open_vault.search, "comparing what was imported")
        seq = open_vault.storage.vault.read(lambda rows: int(rows.value("SELECT seq FROM vault_state")))
        open_vault.storage.announce_change("import", (), OWNER_ACTOR, seq)

    def _write_batch(
        self,
        open_vault: OpenVault,
        run: ImportRun,
        batch: _Batch,
        tally: ImportTally,
        progress: ImportProgress,
        total: int | None,
    ) -> None:
        embedded = batch.embedded.result()
        items = make_import_records(batch.records, batch.texts, embedded.vectors)
        scan_ahead(items)

        def write(tx: Tx) -> None:
            # The model may have changed since: what was made for the old space is of no use in the new one.
            fit = (
                items
                if embedded.active_space is open_vault.search.active_space
                else [replace(item, vectors=None) for item in items]
            )
            open_vault.search.import_writer.store_batch(
                tx, run, fit, batch.position, tally, open_vault.search.add_vectors
            )

        open_vault.storage.write(write, background=True).result()
        progress.report_progress(batch.position, total)

    def _take_back(self, open_vault: OpenVault, run: ImportRun) -> None:
        """A cancelled or failed import leaves nothing: its step is closed and undone in one transaction."""

        def write(tx: Tx) -> None:
            expiry.take_back_import(tx, open_vault, run.step_id, OWNER_ACTOR)
            forget_choice(tx, run.id)

        open_vault.storage.write(write).result()

    def _finish_all(self, open_vault: OpenVault, progress: Counted | None) -> int:
        rows = open_vault.storage.vault.read(
            lambda r: r.all(
                "SELECT i.id, i.format, i.label, i.location, i.fingerprint, i.space_id, s.name, i.position, i.total, "
                "i.step_id, i.summary, i.started_at FROM imports i JOIN spaces s ON s.id = i.space_id "
                "WHERE i.state = 'running'"
            )
        )
        dealt_with = 0
        for row in rows:
            running = RunningImport(str(row[0]), printable_name(str(row[2])), int(row[11]), is_storing=True)
            open_vault.imports[running.id] = running
            try:
                watch = _make_progress(
                    open_vault.storage, running.make_progress_note(progress), running.make_stop_check(None)
                )
                self._finish_one(_Work(open_vault, running, watch), row)
            except CancelledError:
                pass  # stopped on request, and taken back
            except UserError as error:
                # Its file is not what it was. It was taken back, and the others have their turn.
                if open_vault.storage.closing.is_set():
                    raise
                _log.warning("an interrupted import was taken back: %s", error.code.value)
            finally:
                _close_running_import(open_vault.imports, running)
            dealt_with += 1
        return dealt_with

    def _finish_one(self, work: _Work, row: Sequence[object]) -> None:
        open_vault = work.open_vault
        import_id, form, label, location, fingerprint, space_id, space, position, total, step_id, summary, _ = row
        run = ImportRun(str(import_id), str(form), str(label), str(space_id), str(space), str(step_id))
        with ExitStack() as stack:
            try:
                bundle = stack.enter_context(open_bundle(Path(str(location))))
                importer = detect_format(bundle, str(form), _extensions(open_vault).importers)
            except LociError:
                self._take_back(open_vault, run)
                return
            if bundle.fingerprint != fingerprint:
                self._take_back(open_vault, run)
                return
            tally = tally_from(json.loads(str(summary)))
            reach = int(str(position)), None if total is None else int(str(total))
            choice = open_vault.storage.vault.read(lambda rows: choice_of(rows, run.id))
            self._store_batches(work, run, bundle, importer, tally, reach, choice)


def _close_running_import(imports: dict[str, RunningImport], running: RunningImport) -> None:
    imports.pop(running.id, None)
    running.over.set()


def _make_progress(storage: Storage, progress: Counted | None, cancelled: Asked | None) -> ImportProgress:
    return ImportProgress(storage.clock, progress, cancelled, storage.closing.is_set)


def _check_format_matches(bundle: Bundle, form: str | None, preview: DryRunReport) -> None:
    """Nothing is detected where the person names a format; a wrong name shows in nothing at all being found."""
    if form is not None and not (preview.records or preview.skipped or preview.trouble_count):
        name = printable_name(bundle.label)
        raise UserError(
            Code.IMPORT_UNKNOWN_FORMAT, f"“{name}” holds nothing in the format {form}; nothing was imported."
        )


@dataclass(frozen=True, slots=True)
class _Counted:
    """What was found, how many records were not chosen, and the sources there are."""

    report: DryRunReport
    passed_over: int
    parts: frozenset[Part]


def _count_import_items(
    bundle: Bundle,
    importer: Importer,
    progress: ImportProgress,
    choice: Choice,
    see: Callable[[Item], None] | None = None,
) -> _Counted:
    """Read everything."""
    counted = DryRunTally(importer.format)
    passed_over, whole = 0, Part(bundle.label, importer.format)
    parts = {whole}
    for done, item in enumerate(import_items(bundle, importer)):
        if done % _CHECK_EVERY == 0:
            progress.report_progress(done, None)
        if item.part is not None:
            parts.add(item.part)
        if isinstance(item, Record) and not _is_chosen(item, choice, whole):
            passed_over += 1
            continue
        counted.add(item)
        if see is not None:
            see(item)
    return _Counted(counted.make_report(), passed_over, frozenset(parts))


def _is_chosen(record: Record, choice: Choice, whole: Part) -> bool:
    part = record.part or whole
    return choice.is_all or choice.takes(item_key(record), part.name, part.format)


def _read_batches(
    open_vault: OpenVault, bundle: Bundle, importer: Importer, position: int, choice: Choice
) -> Iterator[_Batch]:
    """Parse in batches and start embedding each; `position` of the chosen records of the file are done already."""
    whole = Part(bundle.label, importer.format)
    everything = (item for item in import_items(bundle, importer) if isinstance(item, Record))
    records = (record for record in everything if _is_chosen(record, choice, whole))
    for _ in islice(records, position):
        pass
    for chunk in _split_into_chunks(records, open_vault.options.import_batch):
        position += len(chunk)
        flat = [embedding_text(part, author=record.author) for record, parts in chunk for part in parts]
        yield _Batch(
            tuple(record for record, _ in chunk),
            tuple(parts for _, parts in chunk),
            open_vault.search.embed_texts_later(flat),
            position,
        )


def _split_into_chunks(records: Iterator[Record], most: int) -> Iterator[list[tuple[Record, tuple[str, ...]]]]:
    """Records with their parts, so many at a time that no chunk has more rows than `most`.

    One text that has more parts than that stays in one piece: a memory is stored whole or not at all.
    """
    chunk: list[tuple[Record, tuple[str, ...]]] = []
    rows = 0
    for record in records:
        parts = cut_text(record.text, [section.start for section in record.sections])
        if chunk and rows + len(parts) > most:
            yield chunk
            chunk, rows = [], 0
        chunk.append((record, parts))
        rows += len(parts)
    if chunk:
        yield chunk


def _is_export(path: Path, extensions: tuple[Importer, ...]) -> bool:
    try:
        with open_bundle(path) as bundle:
            return is_export(bundle, extensions)
    except LociError:
        return False  # who attaches or imports it is told why it cannot be read


def _extensions(open_vault: OpenVault) -> LoadedExtensions:
    """The importers of other makers; none is loaded unless the person allows it."""
    return load_extensions() if open_vault.options.import_extensions else NONE


def _make_report(
    open_vault: OpenVault, import_id: str | None, form: str, preview: DryRunReport, tally: ImportTally
) -> ImportReport:
    failed = [
        {"where": name, "message": f"this importer is not used: {why}"}
        for name, why in _extensions(open_vault).failures
    ]
    skipped = dict(preview.skipped)
    for reason, count in preview.trouble_reasons.items():
        skipped[reason] = skipped.get(reason, 0) + count
    for reason, count in tally.skipped.items():
        if count:
            skipped[reason] = skipped.get(reason, 0) + count
    return ImportReport(
        import_id=import_id,
        format=form,
        conversations=preview.conversations,
        messages=preview.messages,
        stored=tally.stored,
        proposals=tally.proposals,
        skipped=skipped,
        errors=(*preview.troubles, *failed),
        earliest=preview.earliest,
        latest=preview.latest,
    )
