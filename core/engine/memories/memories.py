"""The facade's group for memories: store, read, list, recall, forget, erase, undo, verdicts and feedback on answers.

Must not do: decide what an erasure takes (`core.intake.erase.erasure` does), keep the words of a question with
feedback, or say who may speak of what by itself; the caller's check does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from core import log
from core.embed.embedder import to_blob
from core.engine.authority import Authority
from core.engine.memories.detail import explain_permanence, explain_trust, read_detail
from core.engine.memories.reconciliation import reconcile_all
from core.engine.recall.recalls import RecallReply, answer_recall
from core.engine.runtime import expiry
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, chain_work, log_failure, map_result, submit_work
from core.engine.startup import flush_journal
from core.entities.mentions import read_inferred
from core.errors import Code, UserError
from core.intake.erase.erasure import VERB as ERASE_VERB
from core.intake.erase.erasure import ErasureOutcome, erase_named, erase_preview
from core.intake.erase.subjects import NamedRows
from core.intake.erase.trace_erasure import TraceIndex
from core.intake.store.requests import CheckedRequest, check_request, check_source_allowed, store_request_from_fact
from core.intake.store.store import identify_store_call, restore_store_reply, store_reply_to_json
from core.intake.transaction.admission import NO_IDS
from core.intake.transaction.sources import KINDS_BY_TEXT
from core.intake.transaction.unit_of_work import IdempotentCall
from core.intake.transitions.transitions import forget_memory
from core.intake.transitions.verdicts import VerdictWriter
from core.lifecycle.enrich import renew_annotations
from core.memory.protection import read_protection
from core.memory.read import read_by_ids
from core.memory.write import read_without_vectors, write_vectors
from core.recall.browse.library import read_library_page
from core.recall.scope import OWNER_SCOPE, Scope, find_visible, visible_ids
from core.score.answer_quality import GRADES
from core.text.screening.egress import is_blocked, prefetch_scans
from core.text.terms import embedding_text, query_text
from core.types.clients import ClientRecord
from core.types.lifecycle import Erased, Inferred
from core.types.memory import Belief, ErasePreview, Lasting
from core.types.recall import ContextQuery, ContextReply, FeedbackReply
from core.types.replies import MemoryDetail, Page, Reconciled, StoreReply, UndoReport, VerdictReply
from core.types.requests import PLAIN, Extras, FactRequest, ListRequest, RecallQuery, StoreRequest
from core.types.values import OWNER_ACTOR, Actor, Grant, Kind, Memory, Source
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home

_STAMP = re.compile(r"loci-(\d{8}-\d{6})-\d+\.tar")
_BESIDE = "*.before-restore"
_SECOND_MS = 999  # the name of a backup tells whole seconds
T = TypeVar("T")


def preview_erasure(storage: Storage, ids: Sequence[str], *, whole_chain: bool) -> Future[ErasePreview]:
    """What `erase_for_good` would remove.

    Args:
        whole_chain: whether all versions of their chains go too.

    Returns:
        What goes and what would still hold it; the future raises NOT_FOUND.
    """
    backups = backups_of(storage.home)
    named = NamedRows(tuple(ids), whole_chain)
    return storage.read(lambda rows: erase_preview(rows, named, backups))


def erase_for_good(open_vault: OpenVault, ids: Sequence[str], actor: Actor, *, whole_chain: bool) -> Future[Erased]:
    """Remove memories and every trace of their text.

    Args:
        whole_chain: whether all versions of their chains go too.

    Returns:
        How many rows went, and which backups still hold them; the future raises NOT_FOUND.

    Raises:
        UserError: ACCESS_DENIED for anybody but the owner.
    """
    backups = backups_of(open_vault.storage.home)
    named = NamedRows(tuple(ids), whole_chain)
    return erase_rows(open_vault, lambda _: named, actor, lambda _, done: done.summarize(backups))


def erase_rows(
    open_vault: OpenVault,
    find: Callable[[Rows], NamedRows],
    actor: Actor,
    conclude: Callable[[Tx, ErasureOutcome], T],
    journals: TraceIndex | None = None,
) -> Future[T]:
    """Remove what is named, and every trace of its text, in one transaction.

    Args:
        find: tells in that transaction what goes; what it raises ends the call.
        conclude: makes the answer of what was done, in the same transaction.
        journals: tells which journals name or quote what goes; None to read them all.

    Returns:
        The answer; the future raises NOT_FOUND.

    Raises:
        UserError: ACCESS_DENIED for anybody but the owner.
    """
    if not actor.is_owner:
        raise UserError(Code.ACCESS_DENIED, "Only the person may erase.")
    waiting = open_vault.read_log.take_pending()
    storage = open_vault.storage

    def write(tx: Tx) -> T:
        # What was read of them a moment ago is written first, so that it is cleared with the rest.
        open_vault.read_log.write(tx, waiting)
        named = find(tx)
        with storage.verb(tx, actor, ERASE_VERB) as verb:
            done = erase_named(tx, storage.work, named, actor, vector_remover(storage, open_vault.search), journals)
            verb.set_outcome(named.ids)
            return conclude(tx, done)

    def put_back(done: Future[T]) -> None:
        if done.cancelled() or done.exception() is not None:
            open_vault.read_log.put_back(waiting)

    erased = storage.write(write)
    erased.add_done_callback(put_back)
    return erased


def vector_remover(storage: Storage, search: Search) -> Callable[[int, Sequence[int]], None]:
    """What to tell of vanished rows after the commit, for an erasure: index and snapshot let go of their vectors.

    Returns:
        Takes the vault's sequence and the labels; on the writer's thread.
    """

    def drop_removed_vectors(seq: int, labels: Sequence[int]) -> None:
        search.drop_vectors(seq, labels)
        # The next lock writes another; until then the index is built from the vault.
        search.saved = None
        search.probe_vectors.clear()
        try:
            storage.home.snapshot.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("the index snapshot could not be removed (%s)", type(error).__name__)

    return drop_removed_vectors


def backups_of(home: Home) -> tuple[tuple[str, int], ...]:
    """Copies of the vault that lie in the home, oldest first; those elsewhere nobody knows of.

    Returns:
        Name of each, and when it was made at the latest, epoch ms: as its name says, else as the file does.
    """
    found = list(home.backups.iterdir()) if home.backups.is_dir() else []
    files = [path for path in (*found, *home.path.glob(_BESIDE)) if path.is_file()]
    return tuple(sorted(((path.name, _made_at(path)) for path in files), key=lambda one: (one[1], one[0])))


def _made_at(path: Path) -> int:
    named = _STAMP.fullmatch(path.name)
    if named is None:
        return int(path.stat().st_mtime * 1000)
    return int(datetime.strptime(named[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp() * 1000) + _SECOND_MS


VERB, LABEL = "feedback", "Judge a result"


def give_feedback(
    open_vault: OpenVault,
    memory_id: str,
    signal: str,
    query: str,
    actor: Actor,
    receipt_id: str | None,
    check: Callable[[Rows], None],
) -> Future[FeedbackReply]:
    """Put a feedback down: one verb, one step.

    Args:
        signal: a key of `core.score.answer_quality.GRADES`.
        receipt_id: of the recall it was seen in; one that is not the actor's own, or has expired, is left out.
        check: raises where the actor may not see the memory.

    Returns:
        The feedback with its step; the future raises what `check` does.

    Raises:
        UserError: INVALID_INPUT for another signal, INVALID_QUERY for an empty question.
    """
    if signal not in GRADES:
        raise UserError(Code.INVALID_INPUT, f"A feedback is one of: {', '.join(GRADES)}.")
    if not query.replace("\0", " ").strip():
        raise UserError(Code.INVALID_QUERY, "Say which question the memory was an answer to.")

    def write(tx: Tx, embedded_texts: Embedded) -> FeedbackReply:
        check(tx)
        more = {"receipt_id": _own_receipt(tx, receipt_id, actor), **_comparison_vector(embedded_texts)}
        return write_feedback(tx, open_vault.storage, memory_id, signal, actor, more)

    def with_receipts(embedded_texts: Embedded) -> Future[Embedded]:
        """The receipt may be of the last second, and then waits to be written."""
        return open_vault.storage.run_on(
            open_vault.storage.threads.reads, _flush_own_receipt, open_vault, embedded_texts, receipt_id
        )

    embedded = chain_work(open_vault.search.embed_texts([query_text(query)]), with_receipts)
    return chain_work(embedded, lambda embedded_texts: open_vault.storage.write(lambda tx: write(tx, embedded_texts)))


def write_feedback(
    tx: Tx, storage: Storage, memory_id: str, signal: str, actor: Actor, more: Mapping[str, object]
) -> FeedbackReply:
    """Put a feedback down within a transaction: one verb, one step.

    Args:
        memory_id: the memory; the caller has checked that the actor may see it.
        signal: a key of `core.score.answer_quality.GRADES`.
        more: further columns; without a question it is held against none.
    """
    feedback_id = storage.make_id()
    row = {"id": feedback_id, "memory_id": memory_id, "signal": signal, "actor": actor.kind}
    with storage.verb(tx, actor, VERB, label=LABEL) as verb:
        tx.insert("feedback", {**row, "client_id": actor.client_id, "at": tx.now_ms, **more})
        verb.note_audit(memory_id, signal=signal)
        verb.set_outcome((memory_id,))
    return FeedbackReply(feedback_id, memory_id, signal, verb.step_id)


def _comparison_vector(embedded: Embedded) -> dict[str, object]:
    """The question as a vector; a feedback without one counts for the memory and holds it back from no question."""
    vector = embedded.first
    if vector is None:
        return {"context": None, "vector_space": None}
    return {"context": to_blob(vector), "vector_space": embedded.active_space.space.name}


def _flush_own_receipt(open_vault: OpenVault, embedded: Embedded, receipt_id: str | None) -> Embedded:
    if receipt_id is not None:
        flush_journal(open_vault)
    return embedded


def _own_receipt(rows: Rows, receipt_id: str | None, actor: Actor) -> str | None:
    found = rows.value(
        "SELECT id FROM receipts WHERE id = ? AND client_id IS ? AND actor = ?",
        (receipt_id, actor.client_id, actor.kind),
    )
    return None if found is None else str(found)


@dataclass(frozen=True, slots=True)
class VerdictCall:
    """One verdict on a memory.

    Attributes:
        verdict: the verb.
        memory_id: the memory.
        actor: who says so.
        extras: what the memory must be, and the caller's own id for this call.
        details: what else the call was made with, JSON-able.
    """

    verdict: str
    memory_id: str
    actor: Actor
    extras: Extras
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> IdempotentCall:
        """By what a repetition of this call is known."""
        whole = {"verb": self.verdict, "id": self.memory_id, **self.details}
        return IdempotentCall(self.actor, self.extras.request_id, whole)

    def write(self, verdicts: VerdictWriter, tx: Tx) -> VerdictReply:
        """Write it, where it needs no more than its reason."""
        return verdicts.write(tx, self.memory_id, self.verdict, self.actor, self.details.get("reason"))


WriteVerdict = Callable[[VerdictWriter, Tx], VerdictReply]
"""Writes a verdict within a transaction."""


def apply_verdict(
    tx: Tx,
    storage: Storage,
    search: Search,
    call: VerdictCall,
    may: Callable[[Rows], None],
    write: WriteVerdict,
) -> VerdictReply:
    """Carry a verdict out within a transaction; a repeated call gets its first answer.

    Args:
        may: raises where the actor may not say it.

    Returns:
        How the memory stands.

    Raises:
        UserError: what `may` and `write` raise; INVALID_INPUT where the id was used for something else.
    """
    may(tx)
    with storage.verb(tx, call.actor, call.verdict, call.identity) as verb:
        if verb.earlier is not None:
            return VerdictReply(**verb.earlier)
        reply = write(
            VerdictWriter(storage.make_id, storage.work, search.space, search.add_vectors),
            tx,
        )
        verb.set_outcome((reply.memory_id,), asdict(reply))
        return reply


BACKLOG_BATCH = 200
READ_ANEW = "read_anew"
"""The verb of a change announced when a memory was read anew."""
_log = log.get("engine")


class Memories:
    """Everything a caller does with memories. Each method returns at once with a Future."""

    def __init__(self, open_vault: Callable[[], OpenVault], authority: Authority) -> None:
        self._open_vault = open_vault
        self._authority = authority

    def store(self, request: StoreRequest, actor: Actor) -> Future[StoreReply]:
        """Remember one text.

        Args:
            actor: who asks; a client needs `write`, or `propose`, which lands in review.
        """
        open_vault = self._open_vault()
        client = self._authority.client_of(actor)
        checked = check_request(replace(request, channel=actor.channel), client)
        texts = [embedding_text(text, author=request.author) for text in checked.texts]
        embedded = open_vault.search.embed_texts(texts)
        if request.kind in KINDS_BY_TEXT:
            open_vault.search.read_ahead(checked.texts[0])
        return chain_work(
            embedded,
            lambda meant: open_vault.storage.write(self._make_store_writer(open_vault, checked, meant, actor, client)),
        )

    def store_fact(self, fact: FactRequest, actor: Actor) -> Future[StoreReply]:
        """Remember a fact with its claim (`core.intake.store.requests.store_request_from_fact`); see `store`."""
        open_vault = self._open_vault()
        return self.store(
            store_request_from_fact(
                fact, open_vault.search.store_service.readers.extract, open_vault.storage.clock.now_ms()
            ),
            actor,
        )

    def _make_store_writer(
        self,
        open_vault: OpenVault,
        checked: CheckedRequest,
        embedded: Embedded,
        actor: Actor,
        client: ClientRecord | None,
    ) -> Callable[[Tx], StoreReply]:
        def write(tx: Tx) -> StoreReply:
            self._authority.check_terms_hold(actor, client)
            handed = NO_IDS if actor.client_id is None else open_vault.read_log.disclosed_to(actor.client_id)
            vectors = embedded.vectors_in(open_vault.search.active_space)
            with open_vault.storage.verb(tx, actor, "store", identify_store_call(checked.request, actor)) as verb:
                if verb.earlier is not None:
                    reply = restore_store_reply(verb.earlier)
                else:
                    service, add_vectors = open_vault.search.store_service, open_vault.search.add_vectors
                    reply = service.store_request(tx, checked, vectors, actor, client, add_vectors, handed)
                    verb.set_outcome((reply.memory_id,), store_reply_to_json(reply))
            return replace(reply, protection=read_protection(tx, reply.memory_id)) if actor.is_owner else reply

        return write

    def get(self, memory_id: str, actor: Actor, kind: Kind | None = None) -> Future[Memory]:
        """One memory by its id; to a client it is handed out, and counts as recalled (seed B, get).

        Args:
            kind: what it must be; another is answered as one that does not exist, and not handed out.

        Raises:
            UserError: NOT_FOUND when it does not exist or lies outside what the actor may see.
        """
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)
        found = open_vault.storage.read(lambda rows: _require_visible(rows, memory_id, scope, kind))
        return (
            found
            if actor.client_id is None
            else map_result(found, lambda memory: _note_memory_disclosed(open_vault, memory, actor))
        )

    def list(self, request: ListRequest, actor: Actor) -> Future[Page]:
        """A page of memories, newest first."""
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)

        def read(rows: Rows) -> Page:
            page = read_library_page(rows, request, scope)
            if not actor.is_owner:
                prefetch_scans(page.items)
            return page

        return open_vault.storage.read(read)

    def show(self, memory_id: str, actor: Actor) -> Future[MemoryDetail]:
        """A memory with its provenance, claims, relations and trust terms."""
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)
        now = open_vault.storage.clock.now_ms()
        return open_vault.storage.read(lambda rows: read_detail(rows, _require_visible(rows, memory_id, scope), now))

    def explain_trust(self, memory_id: str) -> Future[Belief]:
        """How a memory is believed: what its trust is made of, its claims, what is against it, what rests on it.

        The owner's alone: exact scores and what other clients brought.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()
        now = open_vault.storage.clock.now_ms()
        return open_vault.storage.read(
            lambda rows: explain_trust(rows, _require_visible(rows, memory_id, OWNER_SCOPE), now)
        )

    def explain_permanence(self, memory_id: str) -> Future[Lasting]:
        """How long what a memory says goes on being true, and how that is known; the owner's alone.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        return self._open_vault().storage.read(
            lambda rows: explain_permanence(rows, _require_visible(rows, memory_id, OWNER_SCOPE))
        )

    def list_inferred(self, memory_id: str) -> Future[Inferred | None]:
        """What was inferred from a memory's text: whom and what it names, topics, days; the owner's alone.

        Returns:
            It; None where the memory was not read yet, or nothing may be kept of it.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        return self._open_vault().storage.read(
            lambda rows: read_inferred(rows, _require_visible(rows, memory_id, OWNER_SCOPE).id)
        )

    def read_anew(self, memory_id: str) -> Future[Inferred | None]:
        """Infer anew at once, by rules, what a memory's text holds. All of it is derived: it is no undo step.

        Returns:
            As `inferred`.

        Raises:
            UserError: VAULT_LOCKED; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()

        def write(tx: Tx) -> Inferred | None:
            with open_vault.storage.verb(tx, OWNER_ACTOR, READ_ANEW) as verb:
                renew_annotations(tx, open_vault.storage.make_id, [_require_visible(tx, memory_id, OWNER_SCOPE).id])
                verb.set_outcome((memory_id,))
            return read_inferred(tx, memory_id)

        return open_vault.storage.write(write)

    def list_versions(self, memory_id: str, actor: Actor) -> Future[tuple[Memory, ...]]:
        """All versions of a memory, oldest first."""
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)

        def read(rows: Rows) -> tuple[Memory, ...]:
            chain = _require_visible(rows, memory_id, scope).chain_id
            ids = [r[0] for r in rows.all("SELECT id FROM memories WHERE chain_id = ? ORDER BY version, n", (chain,))]
            found = read_by_ids(rows, ids)
            there = visible_ids(rows, ids, scope)
            versions = tuple(found[i] for i in ids if i in there)
            if not actor.is_owner:
                prefetch_scans(versions)
            return versions

        return open_vault.storage.read(read)

    def recall(self, query: RecallQuery, actor: Actor) -> Future[RecallReply]:
        """Find what answers a question.

        Args:
            query: the question and its filters.

        Returns:
            The result with the id of its receipt.
        """
        return answer_recall(self._open_vault(), query, self._authority.make_scope(actor), actor)

    def build_context(self, query: ContextQuery, actor: Actor) -> Future[ContextReply]:
        """What is remembered of a prompt, as one fenced text within a token budget.

        Args:
            query: the prompt and its budget.

        Returns:
            The text, what went into it and what did not, and the id of its receipt.

        Raises:
            UserError: VAULT_LOCKED, INVALID_QUERY, INVALID_INPUT; the future raises NOT_FOUND for an unknown space.
        """
        from core.engine.memories.contexts import build_context  # it asks open questions, for which a recall has no use

        return build_context(self._open_vault(), query, self._authority.make_scope(actor), actor)

    def forget(self, memory_id: str, actor: Actor) -> Future[str]:
        """Let a memory leave recall; the owner can undo it. A client that curates never forgets what the person said.

        Returns:
            The id of the undo step.

        Raises:
            UserError: ACCESS_DENIED, NOT_FOUND.
        """
        open_vault = self._open_vault()
        self._authority.require_grant(actor, Grant.CURATE)
        self._authority.make_scope(actor)

        def write(tx: Tx) -> str:
            self._authority.require_grant(actor, Grant.CURATE)  # it may have been taken back since
            _require_visible(tx, memory_id, self._authority.make_scope(actor))
            with open_vault.storage.verb(tx, actor, "forget") as verb:
                step = forget_memory(tx, open_vault.storage.work, memory_id, actor)
                verb.set_outcome((memory_id,))
            return step

        return open_vault.storage.write(write)

    def erase_preview(self, memory_ids: Sequence[str], *, whole_chain: bool = False) -> Future[ErasePreview]:
        """What `erase` would remove; the future raises NOT_FOUND."""
        return preview_erasure(self._open_vault().storage, memory_ids, whole_chain=whole_chain)

    def erase(self, memory_ids: Sequence[str], actor: Actor, *, whole_chain: bool = False) -> Future[Erased]:
        """Remove memories for good; the one verb that cannot be undone.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED for anybody but the owner; the future raises NOT_FOUND.
        """
        return erase_for_good(self._open_vault(), memory_ids, actor, whole_chain=whole_chain)

    def confirm(self, memory_id: str, actor: Actor, extras: Extras = PLAIN) -> Future[VerdictReply]:
        """Say that a memory is true: its age counts anew. A client's confirmation counts as a reinforcement.

        Args:
            actor: who says so; a client needs `write` or `curate`.
            extras: what the memory must be, and the caller's own id for this call.

        Raises:
            UserError: ACCESS_DENIED without `write` or `curate`; NOT_FOUND, INVALID_INPUT as the memory is.
        """
        return self._apply_verdict(VerdictCall("confirm", memory_id, actor, extras, {"reason": None}))

    def reinforce(self, memory_id: str, actor: Actor, extras: Extras = PLAIN) -> Future[VerdictReply]:
        """Say that a memory proved right; see `confirm`."""
        return self._apply_verdict(VerdictCall("reinforce", memory_id, actor, extras, {"reason": None}))

    def dispute(
        self, memory_id: str, actor: Actor, reason: str | None = None, extras: Extras = PLAIN
    ) -> Future[VerdictReply]:
        """Say that a memory is wrong; what the owner said is disputed by the owner alone. See `confirm`."""
        return self._apply_verdict(VerdictCall("dispute", memory_id, actor, extras, {"reason": reason}))

    def corroborate(
        self,
        memory_id: str,
        actor: Actor,
        source: Source | None = None,
        session: str | None = None,
        extras: Extras = PLAIN,
    ) -> Future[VerdictReply]:
        """Say that another source has it too; the same client in the same session counts once.

        Args:
            actor: who asks; a client needs `write` or `curate`.
            source: by what way it is known; the owner's word, or a client's inference.
            session: the session it was learnt in.
            extras: as for `confirm`.

        Returns:
            How the memory stands now.
        """
        client = self._authority.require_voice(actor)
        if client is not None:
            check_source_allowed(source, client)
        way = source or (Source.USER_EXPLICIT if client is None else Source.INFERENCE)
        details = {"source": way.value, "session": session}
        return self._apply_verdict(
            VerdictCall("corroborate", memory_id, actor, extras, details),
            lambda verdicts, tx: verdicts.corroborate(tx, memory_id, actor, way, session),
        )

    def _apply_verdict(self, call: VerdictCall, write: WriteVerdict | None = None) -> Future[VerdictReply]:
        open_vault, actor = self._open_vault(), call.actor
        write = write or call.write

        def check_may_judge(rows: Rows) -> None:
            self._authority.require_voice(actor)
            _require_visible(rows, call.memory_id, self._authority.make_scope(actor), call.extras.kind)

        self._authority.require_voice(actor)
        self._authority.make_scope(actor)
        return open_vault.storage.write(
            lambda tx: apply_verdict(tx, open_vault.storage, open_vault.search, call, check_may_judge, write)
        )

    def give_feedback(
        self, memory_id: str, signal: str, query: str, actor: Actor, receipt_id: str | None = None
    ) -> Future[FeedbackReply]:
        """Say how a memory did as an answer; what was wrong does not come again for such a question (E7.3).

        Args:
            signal: `helpful`, `irrelevant`, `corrected` or `harmful`.
            query: the question it was an answer to.
            actor: who says so; a client needs `write` or `curate`, and what it says counts for itself alone.
            receipt_id: of the recall it was seen in.

        Returns:
            The feedback with its undo step; the future raises NOT_FOUND.

        Raises:
            UserError: ACCESS_DENIED, INVALID_INPUT for another signal, INVALID_QUERY for an empty question.
        """
        open_vault = self._open_vault()
        self._authority.require_voice(actor)
        scope = self._authority.make_scope(actor)

        def check_visible(rows: Rows) -> None:
            _require_visible(rows, memory_id, scope)

        return give_feedback(open_vault, memory_id, signal, query, actor, receipt_id, check_visible)

    def reconcile_all(self) -> Future[Reconciled]:
        """Check claims, evidence and trust against each other and mend what is derived; the nightly reconciliation.

        Returns:
            Counts of what was looked at, mended and found broken.
        """
        open_vault = self._open_vault()
        return open_vault.storage.run_on(open_vault.storage.threads.jobs, reconcile_all, open_vault.storage)

    def undo_step(self, step_id: str | None, actor: Actor) -> Future[UndoReport]:
        """Take back a step; the newest one when none is named. Only the owner may.

        Returns:
            What was restored, and what was left because it changed since.
        """
        open_vault = self._open_vault()
        if not actor.is_owner:
            raise UserError(Code.ACCESS_DENIED, "Only the person may undo.")

        def write(tx: Tx) -> UndoReport:
            with open_vault.storage.verb(tx, actor, "undo") as verb:
                report = expiry.undo_step(tx, open_vault, step_id, actor)
                self._authority.refresh_after(tx)
                verb.set_outcome(())
            return report

        return with_restored_embedded(open_vault.storage.write(write), open_vault.storage, open_vault.search)


def _note_memory_disclosed(open_vault: OpenVault, memory: Memory, actor: Actor) -> Memory:
    given, blocked = ((), (memory.id,)) if is_blocked(memory) else ((memory.id,), ())
    open_vault.read_log.note_disclosure(
        actor, "get", "", given, (), open_vault.storage.clock.now_ms(), blocked=blocked, counts=True
    )
    return memory


def embed_restored(storage: Storage, search: Search) -> None:
    """Begin to embed what came back without a vector; a lock on the way leaves it to the next start."""
    with suppress(UserError):
        log_failure(submit_work(storage.threads.jobs, embed_backlog, storage, search), _log, "embedding what came back")


def with_restored_embedded(done: Future[T], storage: Storage, search: Search) -> Future[T]:
    """The same result; once it is there, what came back with it is being embedded."""

    def begin_embedding(reply: T) -> T:
        embed_restored(storage, search)
        return reply

    return map_result(done, begin_embedding)


def embed_backlog(storage: Storage, search: Search) -> int:
    """Give a vector to every memory that lacks one (restored rows, another model)."""
    done = 0
    while not storage.closing.is_set():
        waiting = storage.vault.read(lambda rows: read_without_vectors(rows, search.space, BACKLOG_BATCH))
        if not waiting:
            return done
        found = storage.vault.read(lambda rows: read_by_ids(rows, [memory_id for _, memory_id in waiting]))  # noqa: B023
        memories = [found[memory_id] for _, memory_id in waiting if memory_id in found]
        vectors = search.embed_many([embedding_text(m.text, author=m.author) for m in memories]).result()
        storage.write(_vectors_of(search, memories, vectors), background=True).result()
        done += len(memories)
    return done


def _vectors_of(search: Search, memories: Sequence[Memory], vectors: NDArray[np.float32]) -> Callable[[Tx], None]:
    def write(tx: Tx) -> None:
        # Some may have been taken back since they were read: a vector without its memory must not stand.
        there = read_by_ids(tx, [memory.id for memory in memories])
        places = [place for place, memory in enumerate(memories) if memory.id in there]
        labels, kept = [memories[place].n for place in places], vectors[places]
        write_vectors(tx, labels, kept, search.space)
        seq = tx.seq
        tx.after_commit(lambda: search.add_vectors(seq, labels, kept))

    return write


def _require_visible(rows: Rows, memory_id: str, scope: Scope, kind: Kind | None = None) -> Memory:
    found = find_visible(rows, memory_id, scope, kind)
    if found is not None:
        return found
    if scope.client_id is None and rows.value("SELECT count(*) FROM sealed_memories WHERE id = ?", (memory_id,)):
        raise UserError(Code.NOT_FOUND, "That memory is sealed; `loci sealed` lists what is sealed, and reads it.")
    raise UserError(Code.NOT_FOUND, "There is no such memory.")
