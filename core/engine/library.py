"""The facade's group for the library: what the window's table lists, shows by page, changes and exports.

An export changes whole or not at all and is the person's own file (mode 0600). All of it is the owner's. Must not do:
be reached by a client, or write an export into Loci's own home.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from core.belief.review.sides import injection_reasons
from core.engine.archive.export import write_archive
from core.engine.export.memories import fields_of_parts, record_export, write_export
from core.engine.memories.memories import embed_restored
from core.engine.runtime.progress import Asked, Counted, ImportProgress
from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, chain_work, map_result
from core.errors import Code, UserError
from core.intake.revise.revision import PROTECT, VERB, Reviser, preview_revision, protect_found
from core.intake.revise.revision_plan import check_revision
from core.intake.transitions.injection_hold import VERB as LET_THROUGH
from core.intake.transitions.injection_hold import release_hold
from core.memory.read import read_by_id
from core.recall.browse.library import (
    count_facets,
    find_library_rows,
    find_sensitive_memories,
    find_unprotected,
    read_memory_rows,
)
from core.security.passphrase import KdfCost
from core.text import search_syntax
from core.text.search_syntax import ParsedSearch, SearchTerm
from core.text.terms import embedding_text, stop_words
from core.types.memory import Warned
from core.types.replies import ArchiveReceipt
from core.types.sensitivity import ProtectionReport, SensitivePage, SensitiveType
from core.types.values import OWNER_ACTOR, Status, is_id
from core.types.views import Facets, FindRequest, FindResult, MemoryRow, Revision, RevisionPreview, RevisionReport
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def read_warning(storage: Storage, memory_id: str) -> Future[Warned | None]:
    """Whether a memory is kept out of what assistants are given by themselves, and why.

    Returns:
        Why; None where it is not, or the person let it through. The future raises NOT_FOUND.
    """

    def read(rows: Rows) -> Warned | None:
        memory = read_by_id(rows, memory_id)
        if memory is None:
            raise UserError(Code.NOT_FOUND, "There is no such memory.")
        return injection_reasons(memory)

    return storage.read(read)


def release_memory_hold(storage: Storage, memory_id: str) -> Future[str]:
    """Let a memory through; one undo step (`core.intake.transitions.injection_hold.release_hold`).

    Returns:
        The undo step; the future raises NOT_FOUND.
    """

    def write(tx: Tx) -> str:
        with storage.verb(tx, OWNER_ACTOR, LET_THROUGH) as verb:
            step = release_hold(tx, storage.work, memory_id, OWNER_ACTOR)
            verb.set_outcome((memory_id,))
        return step

    return storage.write(write)


_END_OF_ID = re.compile(r"[0-9a-f-]{8,35}", re.ASCII)
_ENDING_SO = {
    "memory": "SELECT id FROM memories WHERE substr(id, ?) = ? LIMIT ?",
    "step": "SELECT id FROM undo_steps WHERE substr(id, ?) = ? LIMIT ?",
    "import": "SELECT id FROM imports WHERE substr(id, ?) = ? LIMIT ?",
    "sealed": "SELECT id FROM sealed_memories WHERE substr(id, ?) = ? LIMIT ?",
}
_NAMED = 5


class Library:
    """Everything the person does with many memories. Each method that reads the vault returns at once with a Future.

    Attributes:
        archive_cost: of a guess at the passphrase of an archive; tests use the lowest.
    """

    def __init__(self, storage: Callable[[], Storage], search: Callable[[], Search]) -> None:
        self._storage = storage
        self._search = search
        self.archive_cost = KdfCost.standard()

    def find_memories(self, request: FindRequest) -> Future[FindResult]:
        """All memories that match a search, in order.

        Args:
            request: the search and its order.

        Returns:
            Their ids; INVALID_QUERY for a search that cannot be read.
        """
        storage = self._storage()
        begun_at = storage.clock.monotonic()

        def read(rows: Rows) -> FindResult:
            ids = find_library_rows(rows, request, storage.clock.now_ms())
            return FindResult(ids, (storage.clock.monotonic() - begun_at) * 1000)

        return storage.read(read)

    def read_rows(self, ids: Sequence[str]) -> Future[tuple[MemoryRow, ...]]:
        """The light rows of memories.

        Args:
            ids: memory ids; unknown ones are left out.

        Returns:
            Rows in the order of the ids.
        """
        storage = self._storage()
        wanted = tuple(ids)
        return storage.read(lambda rows: read_memory_rows(rows, wanted, storage.clock.now_ms()))

    def count_facets(self) -> Future[Facets]:
        """How many memories each filter value would leave."""
        return self._storage().read(count_facets)

    def preview_revision(self, ids: Sequence[str], revision: Revision) -> Future[RevisionPreview]:
        """What a change would do; nothing is written.

        Returns:
            Counts, reasons in words, examples.
        """
        wanted = tuple(ids)
        return self._storage().read(lambda rows: preview_revision(rows, wanted, revision))

    def revise_memories(self, ids: Sequence[str], revision: Revision) -> Future[RevisionReport]:
        """Change memories; one undo step.

        Returns:
            What was done; INVALID_INPUT or TEXT_TOO_LARGE for a change that makes no sense.
        """
        storage, search = self._storage(), self._search()
        wanted = tuple(ids)
        check_revision(wanted, revision)
        text = revision.text
        if text is None:
            done = storage.write(_make_revision_writer(storage, search, wanted, revision, None))
            return map_result(done, lambda report: _with_backlog(storage, search, report, revision))
        return chain_work(
            chain_work(
                storage.read(lambda rows: _embedding_text_of(rows, wanted[0], text)),
                lambda full: search.embed_texts([full]),
            ),
            lambda meant: storage.write(_make_revision_writer(storage, search, wanted, revision, meant)),
        )

    def explain_warning(self, memory_id: str) -> Future[Warned | None]:
        """Why a memory is kept out of automatic context (`core.engine.library.read_warning`)."""
        return read_warning(self._storage(), memory_id)

    def release_hold(self, memory_id: str) -> Future[str]:
        """Let a memory through that reads like an instruction; the id of the undo step."""
        return release_memory_hold(self._storage(), memory_id)

    def export_memories(self, ids: Sequence[str], to: Path, format: str) -> Future[int]:  # noqa: A002 - as on the command line
        """Write memories to a file that only the person may read; in the vault only an audit row says so.

        Args:
            ids: the memories; unknown ones are left out, a part of a split text stands for all of it.
            to: the file; one that is there is replaced.
            format: `jsonl` (comes back through the importer), `json`, `markdown` or `csv`.

        Returns:
            How many memories were written.
        """
        storage = self._storage()
        wanted = tuple(ids)
        return storage.run_on(storage.threads.checks, write_export, storage, wanted, to, format)

    def export_archive(
        self, to: Path, passphrase: str, progress: Counted | None = None, cancelled: Asked | None = None
    ) -> Future[ArchiveReceipt]:
        """Write everything in the vault into an encrypted archive.

        Args:
            to: the file; one that is there is replaced once the new one is whole.
            passphrase: the archive's own, of at least 12 characters.
            progress: called with (done, total).
            cancelled: asked at safe points; stopping leaves no file.

        Returns:
            What was written. The future raises INVALID_INPUT, DISK_FULL, READ_ONLY, WRITE_FAILED, MEMORY_PRESSURE,
            CANCELLED.
        """
        storage = self._storage()
        watch = ImportProgress(storage.clock, progress, cancelled, storage.closing.is_set)
        return storage.run_on(storage.threads.checks, write_archive, storage, to, passphrase, watch, self.archive_cost)

    def record_export(self, ids: Sequence[str], format: str) -> Future[tuple[str, ...]]:  # noqa: A002 - as above
        """Put down that memories leave the vault, and say in which order; `export_fields` gives them piece by piece.

        Args:
            ids: as for `write_export`.
            format: as for `write_export`.

        Returns:
            The ids in the order of an export; of a split text that of its first part.
        """
        storage = self._storage()
        wanted = tuple(ids)
        return storage.run_on(storage.threads.checks, record_export, storage, wanted, format)

    def export_fields(self, ids: Sequence[str]) -> Future[tuple[tuple[str, Mapping[str, Any]], ...]]:
        """Memories as the fields of an export.

        Args:
            ids: of `record_export`, some at a time.

        Returns:
            Id and fields of each part, in the order of the ids; of a later part the text alone.
        """
        wanted = tuple(ids)
        return self._storage().read(lambda rows: fields_of_parts(rows, wanted))

    def find_sensitive(
        self, types: Sequence[SensitiveType] = (), space: str | None = None, after: int = 0
    ) -> Future[SensitivePage]:
        """Memories that hold sensitive content, a page at a time (`core.recall.browse.library`).

        Args:
            types: which types count; all of them where there is none.
            space: only memories of this space; None for every space.
            after: 0, or `next` of the page before.
        """
        wanted = frozenset(types)
        return self._storage().read(lambda rows: find_sensitive_memories(rows, wanted, space, after))

    def protect_found(self, space: str | None = None, after: int = 0) -> Future[ProtectionReport]:
        """Protect what was stored before it was looked at, a page at a time, as if it were stored now.

        Args:
            space: only memories of this space; None for every space.
            after: 0, or `next` of the page before.

        Returns:
            What was protected; one undo step a page.
        """
        storage = self._storage()

        def protect() -> ProtectionReport:
            page = storage.vault.read(lambda rows: find_unprotected(rows, space, after))

            def write(tx: Tx) -> tuple[int, str | None]:
                with storage.verb(tx, OWNER_ACTOR, PROTECT) as verb:
                    done = protect_found(tx, storage.work, page.tiers)
                    verb.set_outcome(tuple(page.tiers))
                return done

            count, step = storage.write(write).result() if page.tiers else (0, None)
            return ProtectionReport(count, page.looked_at, step, page.next)

        return storage.run_on(storage.threads.checks, protect)

    def full_id(self, what: str, text: str) -> Future[str]:
        """The id that a person means by the end of one.

        Args:
            what: `memory`, `step`, `import` or `sealed`.
            text: an id, or its last eight characters or more.

        Returns:
            The one id that ends so; the text itself where none does. The future raises INVALID_INPUT where several do,
            and names them.
        """
        sql, known = _ENDING_SO[what], _END_OF_ID.fullmatch(text.lower())
        if is_id(text) or known is None:
            whole: Future[str] = Future()
            whole.set_result(text)
            return whole

        def read(rows: Rows) -> str:
            end = known.group()
            found = rows.all(sql, (-len(end), end, _NAMED + 1))
            if len(found) > 1:
                named = ", ".join(row[0] for row in found[:_NAMED]) + (" and more" if len(found) > _NAMED else "")
                raise UserError(Code.INVALID_INPUT, f"More than one id ends so; write more of it: {named}.")
            return str(found[0][0]) if found else text

        return self._storage().read_quietly(read)

    @staticmethod
    def remove_stop_words(question: str) -> str:
        """A question without the words that tell nothing, for a search that wants all its words to occur.

        Args:
            question: as it was typed.

        Returns:
            The question as it is where it uses the search syntax, or where nothing would be left.
        """
        words = [word.strip(".,;:!?…") for word in question.split()]
        terms = search_syntax.parse_search(" ".join(words)).terms
        if any(term.key != search_syntax.WORD or term.negated for term in terms):
            return question
        silent = stop_words()
        return " ".join(word for word in words if word and word.casefold() not in silent) or question

    @staticmethod
    def parse_search(query: str) -> ParsedSearch:
        """Read a search, to show its terms as chips and what is wrong with it; needs no vault."""
        return search_syntax.parse_search(query)

    @staticmethod
    def with_term(query: str, key: str, value: str, *, negated: bool = False) -> str:
        """A search with one more condition; see `core.text.search_syntax.with_term`. Needs no vault."""
        return search_syntax.format_search(
            search_syntax.with_term(search_syntax.parse_search(query), key, value, negated=negated)
        )

    @staticmethod
    def without_term(query: str, term: SearchTerm, value: str | None = None) -> str:
        """A search without one of its conditions; see `core.text.search_syntax.without_term`. Needs no vault."""
        return search_syntax.format_search(search_syntax.without_term(search_syntax.parse_search(query), term, value))


def _embedding_text_of(rows: Rows, memory_id: str, text: str) -> str:
    memory = read_by_id(rows, memory_id)
    if memory is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    return embedding_text(text, author=memory.author)


def _make_revision_writer(
    storage: Storage, search: Search, ids: Sequence[str], revision: Revision, embedded: Embedded | None
) -> Callable[[Tx], RevisionReport]:
    def write(tx: Tx) -> RevisionReport:
        store_service = search.store_service
        reviser = Reviser(
            storage.make_id,
            storage.work,
            search.space,
            store_service.admit_memory,
            store_service.read_anew,
        )
        made = None if embedded is None else embedded.vectors_in(search.active_space)
        vector = None if made is None else made[0]
        with storage.verb(tx, OWNER_ACTOR, VERB) as verb:
            report = reviser.revise_memories(tx, ids, revision, vector, OWNER_ACTOR, search.add_vectors)
            verb.set_outcome(None if report.step_id is None else report.ids)
        return report

    return write


def _with_backlog(storage: Storage, search: Search, report: RevisionReport, revision: Revision) -> RevisionReport:
    """What is brought back may have been forgotten before it got its vector."""
    if revision.status is Status.ACTIVE and report.changed:
        embed_restored(storage, search)
    return report
