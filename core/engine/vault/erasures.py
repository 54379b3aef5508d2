"""Erasing for good with a certificate: what is named goes in one transaction, then it is searched for everywhere.

After the transaction the full-text index is merged and the log emptied; then every table, every page of the database
(free ones too), the index and every known copy of the vault are searched for ids, texts and vectors that went. A
certificate says what was found and what was not looked at. Must not do: keep the erased texts for longer than the
search; take a copy for clean that could not be opened; say that a text is gone from what Loci cannot see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from core.config.erasure_wording import certificate_page, certificate_text
from core.engine.export.formats import check_destination
from core.engine.home.keys import sub_keys
from core.engine.memories.memories import backups_of, erase_rows
from core.engine.runtime.expiry import clear_scrub_note, scrub_noted
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.storage import Storage
from core.engine.vault.copy_rewrites import CopyRewrites, ReportStep
from core.engine.vault.sealed_copies import find_seen, keep_seen, name_copy
from core.entities.recognition import name_key
from core.errors import CancelledError, Code, EnvironmentFaultError, LociError
from core.intake.erase.certificates import draft_certificate, list_certificates, read_certificate, write_certificate
from core.intake.erase.erasure import ErasureOutcome, erase_named, erase_preview
from core.intake.erase.leftovers import ErasedContent, LeftoverSearch, search_all, searched_tables
from core.intake.erase.other_holders import find_other_holders
from core.intake.erase.row_erasure import erasure_scope_of, texts_to_erase
from core.intake.erase.subjects import NamedRows, find_named_rows, find_subject
from core.intake.erase.trace_erasure import TraceIndex
from core.intake.sync.device import read_state
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import content_hash
from core.security.atomic import write_atomic
from core.types.memory import (
    CertificateLine,
    CopyFinding,
    CopyState,
    ErasedPlace,
    ErasePreview,
    ErasureCertificate,
    ErasureRequest,
    ErasureSubject,
    judge_erasure,
)
from core.types.values import OWNER_ACTOR, Actor
from core.vault.backup import is_backup
from core.vault.copies import has_other_files, known_copies, noted_elsewhere, work_folder
from core.vault.database.connections import copy_under_key
from core.vault.database.pages import Fragments, PageSearch, log_bytes, search_pages
from core.vault.database.rows import Rows, to_json
from core.vault.database.tx import Tx

_ALWAYS = ("copies_elsewhere", "file_system", "process_memory")
"""What no program of this kind can check: said in every certificate."""
_FEW = 50
_MOST_HOLDERS = 100
"""Ids that a certificate names."""
_SCRUBS, _SCRUB_WAIT_S = 5, 0.2
_LOST = frozenset({Code.VAULT_LOCKED, Code.CANCELLED, Code.VAULT_REPLACED})
_PRESENT = "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?)) ORDER BY n"
_ENTITIES = "SELECT id FROM entities WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
_IMPORTS = "SELECT id FROM imports WHERE id = ?"


@dataclass(frozen=True, slots=True)
class _Committed:
    """What a transaction leaves to be checked. It holds the erased texts.

    Attributes:
        hashes: of the texts that no other memory has.
    """

    certificate: ErasureCertificate
    content: ErasedContent
    labels: tuple[int, ...]
    hashes: tuple[bytes, ...]


class Erasures:
    """Erasing with a certificate; the owner's alone. Each method returns at once with a Future."""

    def __init__(self, open_vault: Callable[[], OpenVault]) -> None:
        self._open_vault = open_vault

    def preview(self, request: ErasureRequest) -> Future[ErasePreview]:
        """What `erase` would remove; nothing is written. The future raises NOT_FOUND, BUSY."""
        storage = self._open_vault().storage
        backups = backups_of(storage.home)
        return storage.read(lambda rows: erase_preview(rows, find_named_rows(rows, request), backups))

    def find_subject(self, subject: ErasureSubject, typed: str) -> Future[tuple[str, ...]]:
        """What a person may mean by a name.

        Args:
            typed: a name of an entity, or of a client.

        Returns:
            Ids; none where nothing has that name, and for what has no names.
        """
        storage = self._open_vault().storage
        return storage.read(lambda rows: find_subject(rows, subject, typed, name_key(typed)))

    def erase(
        self,
        request: ErasureRequest,
        actor: Actor = OWNER_ACTOR,
        report: ReportStep = lambda *_: None,
        is_cancelled: Callable[[], bool] = lambda: False,
        *,
        rewrites_backups: bool = False,
    ) -> Future[ErasureCertificate]:
        """Remove what is named for good, then search for it everywhere; nothing brings it back.

        Args:
            report: told what is done.
            is_cancelled: asked before the transaction; what is checked behind it is soon done.
            rewrites_backups: whether backups in the home are rewritten without it.

        Returns:
            The certificate. The future raises NOT_FOUND, BUSY, OLDER_VAULT, DISK_FULL, CANCELLED; then nothing went.

        Raises:
            UserError: ACCESS_DENIED for anybody but the owner.
        """
        open_vault = self._open_vault()

        def run() -> ErasureCertificate:
            if is_cancelled():
                raise CancelledError
            report("erase", 0, None)
            done = _erase_committed(open_vault, request, actor).result()
            checked = _keep(open_vault, _check_erasure(open_vault, done, report), actor)
            if not rewrites_backups:
                return checked
            try:
                return _rewrite_and_keep(open_vault, checked, report, is_cancelled, actor)
            except EnvironmentFaultError:
                return checked  # it is erased, and the certificate says which backups hold it still

        return open_vault.storage.run_on(open_vault.storage.threads.checks, run)

    def read_certificate(self, certificate_id: str) -> Future[ErasureCertificate]:
        """A certificate by its id or the end of it; the future raises NOT_FOUND."""
        return self._open_vault().storage.read(lambda rows: read_certificate(rows, certificate_id))

    def list_certificates(self) -> Future[tuple[CertificateLine, ...]]:
        """All certificates, newest first."""
        return self._open_vault().storage.read(list_certificates)

    def save_certificate(self, certificate: ErasureCertificate, to: Path) -> Future[None]:
        """Write a certificate to a file of the person's own (mode 0600).

        Args:
            to: the file; one that is there is replaced. By its ending it is a page to read (`.html`) or text (`.txt`),
                both with the JSON in it, else JSON alone.

        Returns:
            When it is saved. The future raises INVALID_INPUT for a place in Loci's home, DISK_FULL, WRITE_FAILED.
        """
        storage = self._open_vault().storage

        def save() -> None:
            check_destination(to, storage.home.path)
            write_atomic(to, _render_certificate(certificate, to.suffix.lower()).encode("utf-8", "replace"))

        return storage.run_on(storage.threads.checks, save)

    def rewrite_backups(
        self,
        certificate_id: str,
        report: ReportStep = lambda *_: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> Future[ErasureCertificate]:
        """Rewrite the backups in the home without what a certificate names.

        Args:
            certificate_id: its id, or the end of it.
            report: told what is done.
            is_cancelled: asked before each backup.

        Returns:
            The certificate as it stands then. The future raises NOT_FOUND, DISK_FULL; each backup is the old one or
            the new one, whole.
        """
        open_vault = self._open_vault()

        def run() -> ErasureCertificate:
            certificate = open_vault.storage.vault.read(lambda rows: read_certificate(rows, certificate_id))
            return _rewrite_and_keep(open_vault, certificate, report, is_cancelled, OWNER_ACTOR)

        return open_vault.storage.run_on(open_vault.storage.threads.checks, run)


def _render_certificate(certificate: ErasureCertificate, ending: str) -> str:
    values = certificate.as_json()
    if ending not in (".html", ".htm", ".txt"):
        return json.dumps(values, indent=1) + "\n"
    when = datetime.fromtimestamp(certificate.at / 1000).astimezone().strftime("%Y-%m-%d %H:%M %Z")
    told = {**values, "is_authentic": certificate.is_authentic}
    return certificate_text(told, when) if ending == ".txt" else certificate_page(told, when)


# ---- the transaction


def _erase_committed(open_vault: OpenVault, request: ErasureRequest, actor: Actor) -> Future[_Committed]:
    storage = open_vault.storage

    def conclude(tx: Tx, done: ErasureOutcome) -> _Committed:
        drafted = draft_certificate(tx, storage.make_id(), tx.now_ms, request, done)
        written = write_certificate(tx, storage.work, drafted, actor)
        taken = done.taken
        return _Committed(
            written,
            ErasedContent(frozenset(taken.ids), tuple(dict.fromkeys(taken.texts)), tuple(taken.vectors)),
            tuple(taken.labels),
            tuple(dict.fromkeys(content_hash(text) for text in done.own_texts)),
        )

    journals = storage.vault.read(lambda rows: _index_journals(rows, request), deadline_s=None)
    return erase_rows(open_vault, lambda rows: find_named_rows(rows, request), actor, conclude, journals)


def _index_journals(rows: Rows, request: ErasureRequest) -> TraceIndex | None:
    """Where journals name or quote what goes, read off the writer; of little that goes the writer reads them itself."""
    named = find_named_rows(rows, request)
    if len(named.ids) <= _FEW:
        return None
    reach = erasure_scope_of(rows, named.ids, whole_chain=named.whole_chain)
    journals = TraceIndex(reach.ids, texts_to_erase(rows, reach))
    journals.read_new_rows(rows)
    return journals


def _keep(open_vault: OpenVault, certificate: ErasureCertificate, actor: Actor) -> ErasureCertificate:
    storage = open_vault.storage
    return storage.write(lambda tx: write_certificate(tx, storage.work, certificate, actor)).result()


# ---- searching for what was erased


def _check_erasure(open_vault: OpenVault, done: _Committed, report: ReportStep) -> ErasureCertificate:
    storage = open_vault.storage
    not_checked = list(_ALWAYS)
    report("scrub", 0, None)
    is_scrubbed = _scrub(open_vault)
    search = LeftoverSearch(done.content)
    tables = storage.vault.read(searched_tables)
    for count in search_all(lambda fn: storage.vault.read(fn, deadline_s=None), search, tables):
        report("rows", count, len(tables))
    if not is_scrubbed or log_bytes(storage.home.vault):
        not_checked.append("log")
    if storage.vault.read(lambda rows: rows.one("SELECT 1 FROM sealed_memories LIMIT 1")) is not None:
        not_checked.append("sealed")
    if storage.vault.read(read_state) is not None:
        not_checked.append("devices")
    if search.has_short_texts:
        not_checked.append("short_texts")
    if has_other_files(storage.home):
        not_checked.append("other_files")
    fragments = search.fragments.without(search.found.pieces)
    pages = None if "log" in not_checked else _search_pages(storage, fragments, report)
    if pages is None:
        not_checked.append("pages")
    copies = _look_into_copies(open_vault, done.certificate.ids, done.hashes, report)
    holders, is_complete = storage.vault.read(
        lambda rows: find_other_holders(rows, done.content.texts), deadline_s=None
    )
    if not is_complete:
        not_checked.append("other_numbers")
    places = _merge_places(done.certificate.places, search, _check_index(open_vault, done.labels))
    found = pages or PageSearch(0, 0, 0)
    return replace(
        done.certificate,
        places=places,
        holders=len(holders),
        holder_ids=holders[:_MOST_HOLDERS],
        named={table: count for table, count in sorted(search.found.ids.items()) if count and table != "settings"},
        pages=found.pages,
        free_pages=storage.vault.read(lambda rows: int(rows.value("PRAGMA freelist_count"))),
        fragments=len(fragments),
        pages_left=found.found,
        copies=copies,
        not_checked=tuple(sorted(not_checked)),
        state=judge_erasure(places, found.pages, found.found, copies),
    )


def _scrub(open_vault: OpenVault) -> bool:
    """Merge the index and empty the log; readers may hold it up for a moment."""
    storage = open_vault.storage
    for _ in range(_SCRUBS):
        noted = storage.vault.read(scrub_noted)
        if storage.vault.scrub_deleted(storage.closing.is_set) and not log_bytes(storage.home.vault):
            open_vault.search.scrub_due.clear()
            if noted is not None:
                storage.write(partial(clear_scrub_note, noted=noted)).result()
                storage.vault.checkpoint_log()
            return True
        storage.closing.wait(_SCRUB_WAIT_S)
    return False


def _search_pages(storage: Storage, fragments: Fragments, report: ReportStep) -> PageSearch | None:
    """Search a copy made page by page: the file itself must not be read beside its own connections."""
    key = sub_keys(storage.root).db
    try:
        with work_folder(storage.home) as work:
            copy = work / "pages.db"
            copy_under_key(storage.home.vault, key, copy, key, lambda done, total: report("copy", done, total))
            return search_pages(copy, key, fragments, lambda done, total: report("pages", done, total))
    except LociError as error:
        if error.code in _LOST:
            raise
        return None


def _check_index(open_vault: OpenVault, labels: Sequence[int]) -> ErasedPlace:
    """The vectors in memory and the snapshot on the disk."""
    left, _ = open_vault.search.index.fetch(np.array(labels, dtype=np.int64))
    return ErasedPlace("index", len(labels) - len(left), left=len(left) + open_vault.storage.home.snapshot.exists())


def _merge_places(places: Sequence[ErasedPlace], search: LeftoverSearch, index: ErasedPlace) -> tuple[ErasedPlace, ...]:
    found = search.found
    named = {one.place: one for one in (*places, index)}
    for table in {*found.texts, *found.words}:
        if found.texts[table] or found.words[table]:
            known = named.get(table, ErasedPlace(table))
            named[table] = replace(known, left=known.left + found.texts[table], words=found.words[table])
    return tuple(named[name] for name in sorted(named))


# ---- copies of the vault


def _look_into_copies(
    open_vault: OpenVault, ids: Sequence[str], hashes: Sequence[bytes], report: ReportStep
) -> tuple[CopyFinding, ...]:
    storage = open_vault.storage
    rewrites, (copies, away) = CopyRewrites(storage), _find_copies(storage)
    found = []
    for done, copy in enumerate(copies):
        report("backups", done, len(copies))
        found.append(replace(rewrites.look_into(copy, ids, hashes), name=name_copy(storage, copy)))
    return (*found, *away)


def _find_copies(storage: Storage) -> tuple[list[Path], tuple[CopyFinding, ...]]:
    """Copies in the home and the backups written elsewhere that are there; and findings on those that are not."""
    there, away = list(known_copies(storage.home)), []
    for copy in sorted(storage.vault.read(noted_elsewhere)):
        try:
            is_there = is_backup(copy)
        except OSError:
            is_there = False  # a stick that cannot be read
        if is_there:
            there.append(copy)
        else:
            away.append(CopyFinding(str(copy), CopyState.NOT_CHECKED))
    return there, tuple(away)


def _rewrite_and_keep(
    open_vault: OpenVault,
    certificate: ErasureCertificate,
    report: ReportStep,
    is_cancelled: Callable[[], bool],
    actor: Actor,
) -> ErasureCertificate:
    """Rewrite the backups and write the certificate again; what was noted of them about seals holds for the new ones.

    Where a disk refuses halfway the note of those already rewritten is lost: they are asked about once more.
    """
    storage = open_vault.storage
    seen = storage.vault.read(partial(find_seen, _find_copies(storage)[0]))
    rewritten = _rewrite_copies(open_vault, certificate, report, is_cancelled)

    def keep(tx: Tx) -> ErasureCertificate:
        keep_seen(tx, seen)
        return write_certificate(tx, storage.work, rewritten, actor)

    return storage.write(keep).result()


def _rewrite_copies(
    open_vault: OpenVault,
    certificate: ErasureCertificate,
    report: ReportStep,
    is_cancelled: Callable[[], bool],
) -> ErasureCertificate:
    """Rewrite the backups that hold some of it; what is no backup of these keys stays and is told."""
    storage = open_vault.storage
    rewrites, (copies, away) = CopyRewrites(storage), _find_copies(storage)
    found: list[CopyFinding] = []
    for done, copy in enumerate(copies):
        report("rewrite", done, len(copies))
        finding = None
        if not is_cancelled():
            try:
                finding = rewrites.rewrite(copy, certificate.ids, partial(_erase_in_copy, certificate))
            except EnvironmentFaultError:
                if copy.is_relative_to(storage.home.path):
                    raise
                # A stick that is full or cannot be written keeps no other copy from being rewritten.
        finding = replace(finding or rewrites.look_into(copy, certificate.ids), name=name_copy(storage, copy))
        known = next((one for one in certificate.copies if one.name == finding.name), None)
        if finding.state is CopyState.CLEAN and known is not None and known.state is CopyState.REWRITTEN:
            finding = known
        found.append(finding)
    found += away
    state = judge_erasure(certificate.places, certificate.pages, certificate.pages_left, found)
    return replace(certificate, copies=tuple(found), state=state)


def _erase_in_copy(certificate: ErasureCertificate, tx: Tx, work: UnitOfWork) -> None:
    """The same erasure in the vault of a backup."""
    wanted = to_json(list(certificate.ids))
    ids = tuple(str(row[0]) for row in tx.all(_PRESENT, (wanted,)))
    entities = tuple(str(row[0]) for row in tx.all(_ENTITIES, (wanted,)))
    imports = tx.all(_IMPORTS, (certificate.subject_id,)) if certificate.subject is ErasureSubject.IMPORT else ()
    named = NamedRows(ids, entities=entities, imports=tuple(str(row[0]) for row in imports))
    erase_named(tx, work, named, OWNER_ACTOR, lambda *_: None)
