"""The facade's group for the library: what the window's table lists, shows by page, changes and exports.

A memory that reads like an instruction is let through here too (E10.14.3). All of it is the owner's. Must not do: be
reached by a client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from core import log
from core.belief.review.injection_warning import injection_reasons
from core.engine.library.export import fields_of_parts, record_export, write_export
from core.engine.memories.memories import embed_backlog
from core.engine.runtime.futures import begin, chain, log_failure, map_result
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.vector_space import Embedded
from core.errors import Code, UserError
from core.intake.revise.revision import VERB, Reviser, preview_revision
from core.intake.revise.revision_plan import check_revision
from core.intake.transitions.injection_hold import VERB as LET_THROUGH
from core.intake.transitions.injection_hold import release_hold
from core.memory.read import read_by_id
from core.recall.browse.facets import count_facets
from core.recall.browse.library_search import find_rows, read_rows
from core.text.compose import embedding_text
from core.text.query import search_syntax
from core.text.query.search_syntax import ParsedSearch, SearchTerm
from core.text.stopwords import stop_words
from core.types.ids import is_id
from core.types.memory import Warned
from core.types.values import OWNER_ACTOR, Status
from core.types.views import Facets, FindRequest, Found, MemoryRow, Revision, RevisionPreview, RevisionReport
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx


def read_warning(opened: OpenVault, memory_id: str) -> Future[Warned | None]:
    """Whether a memory is kept out of what assistants are given by themselves, and why.

    Returns:
        Why; None where it is not, or the person let it through. The future raises NOT_FOUND.
    """

    def read(rows: Rows) -> Warned | None:
        memory = read_by_id(rows, memory_id)
        if memory is None:
            raise UserError(Code.NOT_FOUND, "There is no such memory.")
        return injection_reasons(memory)

    return opened.read(read)


def let_memory_through(opened: OpenVault, memory_id: str) -> Future[str]:
    """Let a memory through; one undo step (`core.intake.transitions.injection_hold.release_hold`).

    Returns:
        The undo step; the future raises NOT_FOUND.
    """

    def write(tx: Tx) -> str:
        step = release_hold(tx, opened.work, memory_id, OWNER_ACTOR)
        opened.announce_after(tx, LET_THROUGH, (memory_id,), OWNER_ACTOR)
        return step

    return opened.write(write)


_log = log.get("engine")
_END_OF_ID = re.compile(r"[0-9a-f-]{8,35}", re.ASCII)
_ENDING_SO = {
    "memory": "SELECT id FROM memories WHERE substr(id, ?) = ? LIMIT ?",
    "step": "SELECT id FROM undo_steps WHERE substr(id, ?) = ? LIMIT ?",
    "import": "SELECT id FROM imports WHERE substr(id, ?) = ? LIMIT ?",
}
_NAMED = 5


class Library:
    """Everything the person does with many memories. Each method that reads the vault returns at once with a Future."""

    def __init__(self, opened: Callable[[], OpenVault]) -> None:
        self._opened = opened

    def find(self, request: FindRequest) -> Future[Found]:
        """All memories that match a search, in order.

        Args:
            request: the search and its order.

        Returns:
            Their ids; INVALID_QUERY for a search that cannot be read.
        """
        opened = self._opened()
        begun_at = opened.clock.monotonic()

        def read(rows: Rows) -> Found:
            ids = find_rows(rows, request, opened.clock.now_ms())
            return Found(ids, (opened.clock.monotonic() - begun_at) * 1000)

        return opened.read(read)

    def rows(self, ids: Sequence[str]) -> Future[tuple[MemoryRow, ...]]:
        """The light rows of memories.

        Args:
            ids: memory ids; unknown ones are left out.

        Returns:
            Rows in the order of the ids.
        """
        opened = self._opened()
        wanted = tuple(ids)
        return opened.read(lambda rows: read_rows(rows, wanted, opened.clock.now_ms()))

    def facets(self) -> Future[Facets]:
        """How many memories each filter value would leave."""
        return self._opened().read(count_facets)

    def preview(self, ids: Sequence[str], revision: Revision) -> Future[RevisionPreview]:
        """What a change would do; nothing is written.

        Returns:
            Counts, reasons in words, examples.
        """
        wanted = tuple(ids)
        return self._opened().read(lambda rows: preview_revision(rows, wanted, revision))

    def revise(self, ids: Sequence[str], revision: Revision) -> Future[RevisionReport]:
        """Change memories; one undo step.

        Returns:
            What was done; INVALID_INPUT or TEXT_TOO_LARGE for a change that makes no sense.
        """
        opened = self._opened()
        wanted = tuple(ids)
        check_revision(wanted, revision)
        text = revision.text
        if text is None:
            done = opened.write(_revise(opened, wanted, revision, None))
            return map_result(done, lambda report: _with_backlog(opened, report, revision))
        return chain(
            chain(
                opened.read(lambda rows: _embedded(rows, wanted[0], text)),
                lambda full: opened.search.embed_texts([full]),
            ),
            lambda meant: opened.write(_revise(opened, wanted, revision, meant)),
        )

    def warned(self, memory_id: str) -> Future[Warned | None]:
        """Why a memory is kept out of automatic context (`core.engine.library.library.read_warning`)."""
        return read_warning(self._opened(), memory_id)

    def let_through(self, memory_id: str) -> Future[str]:
        """Let a memory through that reads like an instruction; the id of the undo step."""
        return let_memory_through(self._opened(), memory_id)

    def export(self, ids: Sequence[str], to: Path, format: str) -> Future[int]:  # noqa: A002 - as on the command line
        """Write memories to a file that only the person may read; in the vault only an audit row says so.

        Args:
            ids: the memories; unknown ones are left out, a part of a split text stands for all of it.
            to: the file; one that is there is replaced.
            format: `jsonl` (comes back through the importer), `json`, `markdown` or `csv`.

        Returns:
            How many memories were written.
        """
        opened = self._opened()
        wanted = tuple(ids)
        return opened.on(opened.threads.checks, write_export, opened, wanted, to, format)

    def handed_out(self, ids: Sequence[str], format: str) -> Future[tuple[str, ...]]:  # noqa: A002 - as above
        """Put down that memories leave the vault, and say in which order; `fields` then gives them piece by piece.

        Args:
            ids: as for `write_export`.
            format: as for `write_export`.

        Returns:
            The ids in the order of an export; of a split text that of its first part.
        """
        opened = self._opened()
        wanted = tuple(ids)
        return opened.on(opened.threads.checks, record_export, opened, wanted, format)

    def fields(self, ids: Sequence[str]) -> Future[tuple[tuple[str, Mapping[str, Any]], ...]]:
        """Memories as the fields of an export.

        Args:
            ids: of `record_export`, some at a time.

        Returns:
            Id and fields of each part, in the order of the ids; of a later part the text alone.
        """
        wanted = tuple(ids)
        return self._opened().read(lambda rows: fields_of_parts(rows, wanted))

    def full_id(self, what: str, text: str) -> Future[str]:
        """The id that a person means by the end of one.

        Args:
            what: `memory`, `step` or `import`.
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

        return self._opened().read_quietly(read)

    @staticmethod
    def essence(question: str) -> str:
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
    def parse(query: str) -> ParsedSearch:
        """Read a search, to show its terms as chips and what is wrong with it; needs no vault."""
        return search_syntax.parse_search(query)

    @staticmethod
    def with_term(query: str, key: str, value: str, *, negated: bool = False) -> str:
        """A search with one more condition; see `core.text.query.search_syntax.with_term`. Needs no vault."""
        return search_syntax.format_search(
            search_syntax.with_term(search_syntax.parse_search(query), key, value, negated=negated)
        )

    @staticmethod
    def without_term(query: str, term: SearchTerm, value: str | None = None) -> str:
        """A search without one of its conditions; see `core.text.query.search_syntax.without_term`. Needs no vault."""
        return search_syntax.format_search(search_syntax.without_term(search_syntax.parse_search(query), term, value))


def _embedded(rows: Rows, memory_id: str, text: str) -> str:
    memory = read_by_id(rows, memory_id)
    if memory is None:
        raise UserError(Code.NOT_FOUND, "There is no such memory.")
    return embedding_text(text, author=memory.author)


def _revise(
    opened: OpenVault, ids: Sequence[str], revision: Revision, meant: Embedded | None
) -> Callable[[Tx], RevisionReport]:
    def write(tx: Tx) -> RevisionReport:
        store_service = opened.store_service
        reviser = Reviser(
            opened.make_id, opened.work, opened.search.space, store_service.admit, store_service.read_anew
        )
        made = None if meant is None else meant.within(opened.search.active_space)
        vector = None if made is None else made[0]
        report = reviser.revise(tx, ids, revision, vector, OWNER_ACTOR, opened.search.add_vectors)
        if report.step_id is not None:
            opened.announce_after(tx, VERB, report.ids, OWNER_ACTOR)
        return report

    return write


def _with_backlog(opened: OpenVault, report: RevisionReport, revision: Revision) -> RevisionReport:
    """What is brought back may have been forgotten before it got its vector."""
    if revision.status is Status.ACTIVE and report.changed:
        with suppress(UserError):
            log_failure(begin(opened.threads.jobs, embed_backlog, opened), _log, "embedding what came back")
    return report
