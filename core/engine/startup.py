"""Opening and closing a vault: the order of things, and the chores in between (E33.1, E33.2, reliability E8, E13).

Must not do: ask for a secret, or carry out a verb.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as TooLate
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np

from core import log
from core.embed.embedder import Embedder
from core.engine.home.key_log import audit_key_events
from core.engine.home.keys import HomeKeys, sub_keys
from core.engine.runtime.expiry import clear_scrub_note, scrub_noted
from core.engine.runtime.monitor import Load
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.read_log import ReadLog
from core.engine.runtime.search import ActiveVectorSpace, Search, VaultVectorLoader, make_active_space
from core.engine.runtime.settings import stored_options, stored_retrieval
from core.engine.runtime.storage import Storage, log_failure, submit_work
from core.engine.runtime.threads import READERS, Threads
from core.errors import BugError, Code, EnvironmentFaultError, IntegrityError, LociError
from core.events import Hub, Progress
from core.index.base import VectorIndex
from core.index.manager import IndexManager, IndexState, IndexStatus, MaintenanceDue
from core.index.snapshot import Identity, SnapshotRefused, read_snapshot, write_snapshot
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory import vector_spaces
from core.memory.write import VectorSpace
from core.score.profile import profile_from_options
from core.security.keyfile import foreign_keys_error, load_keys
from core.security.keys import Purpose, RootKey, open_with_fresh_key, seal_with_fresh_key
from core.types.clock import Clock
from core.types.values import OWNER_ACTOR, IdMaker
from core.vault.audit import AuditChain
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.files.home import Home
from core.vault.files.replacement import clear_leftovers, finish_replacement
from core.vault.head import read_head
from core.vault.vault import Vault, WriteQueue

if TYPE_CHECKING:  # what reads texts is loaded with the first that is stored (`built_in_readers`)
    from core.belief.extract.claim_model import ClaimModel
    from core.belief.relate.pair_model import PairModel
    from core.intake.claims import TextReaders
    from core.lifecycle.job_support.job_context import TalkReader
    from core.recall.answer_fit import WeighAnswers
    from core.talk.reader_model import ReaderModel
    from core.types.talk import ConversationStatements, Reading, Turn

_KEYRING_S = 2.0  # of the time a person waits for the vault to open
_KEYRING_AT_CLOSE_S = 1.0
_KEPT_EVERY_S = 300.0


class SeenCounter:
    """The sequence last saved, in the system's keyring too where the vault is in one.

    It tells an older copy where `vault.head` was put back together with it. It is set when the vault closes and every
    few minutes, never with each change: it may lag behind, and never runs ahead of what is saved.
    """

    def __init__(self, keys: HomeKeys) -> None:
        """Know nothing yet."""
        self._keys = keys
        self._kept: int | None = None

    def read(self, root: RootKey, threads: Threads) -> int | None:
        """What the keyring tells; a keyring that does not answer holds up nothing for long.

        Args:
            threads: of the vault that is being opened.

        Returns:
            The sequence; None where it tells nothing.
        """
        self._kept = None
        with suppress(LociError, TooLate):
            if self._keys.in_keyring:
                self._kept = submit_work(threads.checks, self._keys.seen_counter, root).result(_KEYRING_S)
        return self._kept

    def start_storing(self, storage: Storage) -> None:
        """Keep it up to date until the vault closes.

        Args:
            storage: of the open vault, which is the newest, or accepted.
        """
        with suppress(LociError):
            if self._keys.in_keyring:
                storage.threads.run_every(_KEPT_EVERY_S, lambda: self._store_counter(storage), "counter")
                if self._kept is None or self._kept > storage.vault.seq:
                    submit_work(storage.threads.checks, self._store_counter, storage)

    def store_last_seen(self, storage: Storage) -> None:
        """Set it once more before anything closes; a keyring that does not answer holds closing up for a second.

        Args:
            storage: of the vault, still open.
        """
        with suppress(LociError, TooLate):
            if self._keys.in_keyring and storage.vault.older is None:
                # Not waited for, it would be cancelled with the pools where the machine is busy.
                submit_work(storage.threads.checks, self._store_counter, storage).result(_KEYRING_AT_CLOSE_S)

    def _store_counter(self, storage: Storage) -> None:
        seq = storage.vault.seq
        if seq != self._kept and self._keys.keep_counter(storage.root, seq):
            self._kept = seq


Chore = Callable[[OpenVault], object]

_DRAIN_S = 2.0
CLOSE_S = 4.5
_FOR_ENDING = 0.5  # of the time, for what follows the drain: stopping, the checkpoint, joining threads
_LEAST_S = 0.1  # for each step of closing, however late it is
_WARM_POLL_S = 0.002
_ANCHOR = "index_anchor"
_log = log.get("engine")


def open_vault(
    home: Home,
    root: RootKey,
    clock: Clock,
    embedder: Embedder,
    threads: Threads,
    hub: Hub,
    readers: TextReaders | None = None,
    served: Callable[[VectorSpace], Embedder] | None = None,
    chance: Callable[[int], bytes] = os.urandom,
    counter: int | None = None,
) -> OpenVault:
    """Open a vault and build what lives beside it; the writer runs afterwards.

    Args:
        home: where it lives; the caller holds its lock.
        embedder: the built-in one; makes the vectors unless those of a model server are searched.
        threads: pools that are already there.
        hub: where events go.
        readers: read claims and relations; None for the built-in ones.
        served: gives the embedder of a space that a model server fills; None where there can be none.
        chance: where ids take what is random in them.
        counter: the sequence last seen, as the keyring tells it; None where it tells nothing.

    Returns:
        The open parts.

    Raises:
        LociError: VAULT_BUSY, VAULT_DAMAGED, NEWER_VERSION, NO_VAULT …
    """
    finish_replacement(home)
    clear_leftovers(home)
    load_keys(home.keys, repair=True)  # only the holder of the lock may mend a damaged copy
    vault = _open_own_vault(home, root, clock, counter)
    with ExitStack() as undo:
        undo.callback(vault.close)
        load_keys(home.keys, repair=True, proven_id=root.vault_id)
        space, before = vault.read(
            lambda rows: vector_spaces.choose_active_space(rows, embedder.name, embedder.version, embedder.dims)
        )
        if space.served:
            if served is None:
                raise BugError("a vault of a model server without one")
            embedder = served(space)
        open_vault = _assemble_vault(
            vault, home, root, clock, embedder, space, threads, hub, readers, IdMaker(clock, chance)
        )
        undo.pop_all()
    if vault.read(scrub_noted) is not None:
        open_vault.search.scrub_due.set()  # the last run did not come to it
    threads.start_writer(open_vault.storage.queue.run)
    if vault.older is None:  # nothing is written before the person accepts an older copy
        _note_findings(open_vault.storage, space, before)
    return open_vault


def _open_own_vault(home: Home, root: RootKey, clock: Clock, counter: int | None) -> Vault:
    keys = sub_keys(root)
    try:
        return Vault.open(home, keys, root.vault_id, clock, READERS, counter=counter)
    except IntegrityError as error:
        # Keys that fit neither of the two files are the wrong keys; a damaged vault still has its head.
        is_foreign = (
            error.code is Code.VAULT_DAMAGED and read_head(home.head, keys.head, root.vault_id).state == "damaged"
        )
        fault = foreign_keys_error() if is_foreign else error
    raise fault


def _note_findings(storage: Storage, space: VectorSpace, before: VectorSpace | None) -> None:
    """Write down in the background what opening found: a crash, another built-in model."""
    if storage.vault.info.recovered_from_crash:
        noting = storage.write(lambda tx: _note_crash(storage, tx), background=True)
        log_failure(noting, _log, "noting a crash")
    if storage.home.key_events.is_file():
        auditing = submit_work(storage.threads.checks, audit_key_events, storage)
        log_failure(auditing, _log, "noting what happened to the keys")
    if before is not None:
        replacing = storage.write(lambda tx: vector_spaces.note_active(tx, space, before), background=True)
        log_failure(replacing, _log, "noting another built-in model")


def accept_older(storage: Storage) -> tuple[int, int]:
    """Go on with an older copy on the owner's word; on the thread that opens the vault, while nobody writes.

    Returns:
        How many clients were revoked by it, and the sequence from here on.

    Raises:
        LociError: what the vault said.
    """

    def note_acceptance(tx: Tx, retired: int) -> tuple[int, int]:
        with storage.work.verb(tx, "accept_older", "Accept an older copy of the vault", OWNER_ACTOR) as verb:
            verb.note_audit(retired_clients=retired)
        return retired, tx.seq

    return storage.vault.accept_older(note_acceptance)


def _note_crash(storage: Storage, tx: Tx) -> None:
    """The last run did not close the vault: that is an event of its own (E33.3)."""
    from core.types.values import LIFECYCLE_ACTOR

    with storage.work.verb(tx, "crash_recovery", "Opened after an unexpected end", LIFECYCLE_ACTOR) as verb:
        verb.note_audit(how="auto")


def _assemble_vault(
    vault: Vault,
    home: Home,
    root: RootKey,
    clock: Clock,
    embedder: Embedder,
    space: VectorSpace,
    threads: Threads,
    hub: Hub,
    readers: TextReaders | None,
    make_id: IdMaker,
) -> OpenVault:
    chosen, refused = vault.read(stored_options)
    tuned, refused_too = vault.read(stored_retrieval)
    if refused or refused_too:
        count = len(refused) + len(refused_too)
        _log.warning("%d stored options were out of bounds; their defaults are used", count)
    chain = AuditChain(sub_keys(root).audit)
    work = UnitOfWork(make_id, chain, chosen.undo_days, chosen.client_waits)

    @cache
    def gated() -> TextReaders:
        return replace(readers or built_in_readers(), gate=chosen.relation_gate)

    weigh = _weigh_by_built_in() if readers is None else readers.weigh_answers
    index = IndexManager(space.dims, hnsw_from=chosen.hnsw_from)
    load = Load(clock, chosen.memory_budget_mb)
    storage = Storage(home, root, vault, WriteQueue(vault), clock, make_id, work, threads, hub, load.activity)
    active_space = make_active_space(embedder, space, index, profile_from_options(tuned), gated, make_id, work, weigh)
    return OpenVault(
        storage=storage,
        search=Search(active_space, tuned, gated, storage),
        options=chosen,
        read_log=ReadLog(make_id, chain, chosen.receipt_days),
        load=load,
        log_handler=log.to_files(home.logs),
    )


def built_in_readers() -> TextReaders:
    """Statements and claims by the pattern vocabulary, what is stored with a model beside it; none needs a server."""
    from core.belief.extract.extraction import extract_claims
    from core.belief.extract.lasting_statements import find_statements
    from core.belief.relate.relation_model import RelationModel
    from core.intake.claims import TextReaders, read_claims_ahead

    claims, sentences, relations = built_in_claims(), _built_in_sentences(), RelationModel()
    stored = extract_claims if claims is None else partial(extract_claims, model=claims)
    return TextReaders(
        extract=extract_claims,
        extract_stored=stored,
        read_ahead=None if claims is None else partial(read_claims_ahead, stored),
        rest=partial(_rest_all, [model for model in (claims, sentences) if model is not None]),
        statements=find_statements,
        relate=relations,
        weigh_answers=relations.weigh_answers,
        read_sentence=None if sentences is None else partial(_read_sentence, sentences),
    )


def _weigh_by_built_in() -> WeighAnswers:
    """How well texts answer, by the shipped model: loaded with the first question, without what stores."""

    @cache
    def load_model() -> PairModel:
        from core.belief.relate.pair_model import PairModel

        return PairModel()

    return lambda question, texts: load_model().weigh_answers(question, texts)


def _rest_all(models: Sequence[ClaimModel | ReaderModel]) -> None:
    for model in models:
        model.rest()


def _built_in_sentences() -> ReaderModel | None:
    """What reads a single sentence by the shipped reader model; None where its files are not there."""
    model = _built_in_reader()
    try:
        _ = model.card
    except LociError as error:
        _log.warning("the reader of sentences is not there: %s", error.code.value)
        return None
    return model


_reader_in_use: WeakValueDictionary[str, ReaderModel] = WeakValueDictionary()


def _built_in_reader() -> ReaderModel:
    """The shipped reader model, one for all who read by it at a time: its session takes 30 MB and 40 ms to open."""
    from core.talk.reader_model import ReaderModel

    return _reader_in_use.setdefault("shipped", ReaderModel())


def _read_sentence(model: ReaderModel, text: str) -> Reading:
    from core.types.talk import SentenceInContext

    return model.read_closely((SentenceInContext(text),))[0]


def built_in_claims() -> ClaimModel | None:
    """What reads the claims of a text that is stored beside the rules; None where its files are not there."""
    from core.belief.extract.claim_model import ClaimModel

    model = ClaimModel()
    try:
        _ = model.card
    except LociError as error:
        _log.warning("the model that reads claims is not there: %s", error.code.value)
        return None
    return model


TELLING = 5
"""Of the rules by which talk is rewritten; what was read by others is read again."""


def built_in_talk() -> TalkReader | None:
    """What makes statements of talk by the shipped reader model; None where its files are not there."""
    from core.lifecycle.job_support.job_context import TalkReader

    model = _built_in_reader()
    try:
        version = model.card.version
    except LociError as error:
        _log.warning("the reader of talk is not there: %s", error.code.value)
        return None
    return TalkReader(f"{TELLING}-{version}", partial(_distill_turns, model), model.rest)


def _distill_turns(model: ReaderModel, episodes: Sequence[Turn]) -> ConversationStatements:
    from core.talk.statements import distill_conversation
    from core.talk.turns import EpisodeText, read_turns

    texts = [
        EpisodeText(one.episode_id, one.text, one.speaker, one.said_ms, one.is_owner, one.is_assistant)
        for one in episodes
    ]
    return distill_conversation(read_turns(texts), model.read)


class _Sealer:
    def __init__(self, root: RootKey) -> None:
        self._root = root

    def seal(self, data: bytes, aad: bytes) -> bytes:
        return seal_with_fresh_key(self._root, Purpose.INDEX, data, aad)

    def open(self, sealed: bytes, aad: bytes) -> bytes:
        return open_with_fresh_key(self._root, Purpose.INDEX, sealed, aad)


def _snapshot_identity(storage: Storage, sight: ActiveVectorSpace) -> Identity:
    return Identity(storage.root.vault_id.hex(), sight.space.model, sight.space.dims)


def warm_index(storage: Storage, search: Search) -> None:
    """Bring the index in step with the vault while searches go on."""
    whole_at: list[int] = []
    sight = search.active_space
    name = _snapshot_identity(storage, sight)
    sealer = _Sealer(storage.root)

    def load_snapshot(rows: Rows) -> VectorIndex | SnapshotRefused:
        newest = int(rows.value("SELECT seq FROM vault_state"))
        anchor = rows.value("SELECT json_extract(value, '$') FROM settings WHERE key = ?", (_ANCHOR,))
        found = read_snapshot(storage.home.snapshot, name, sealer, newest=newest, anchor_at=lambda _: anchor)
        if not isinstance(found, SnapshotRefused):
            loader = VaultVectorLoader(rows, sight.space)
            if np.array_equal(np.sort(found.labels()), loader.live_labels()) and not len(
                loader.changed_since(found.revision)
            ):
                whole_at.append(newest)
        return found

    def run(rows: Rows) -> None:
        def publish_progress(done: int, total: int) -> None:
            storage.hub.publish(Progress("index", "Loading the index", done, total))

        sight.index.warm(
            VaultVectorLoader(rows, sight.space), publish_progress, storage.closing.is_set, lambda: load_snapshot(rows)
        )

    storage.vault.read(run, deadline_s=None)
    if whole_at == [sight.index.revision]:
        search.saved = _index_mark(sight)


def _index_mark(sight: ActiveVectorSpace) -> tuple[object, ...]:
    """Tells one state of the index from every other: a change moves the revision, linking what is staged."""
    status = sight.index.status()
    return sight.space.name, status.revision, status.done, status.backend, status.staged, status.dead


def begin_warming(storage: Storage, search: Search) -> None:
    """Start warming and return as soon as searches can be answered."""
    warming = storage.threads.jobs.submit(warm_index, storage, search)
    log_failure(warming, _log, "loading the index")
    while not warming.done() and not _can_answer(search.index.status()):
        storage.closing.wait(_WARM_POLL_S)


def _can_answer(index: IndexStatus) -> bool:
    # Trigger: a question right after unlocking. Why: until the snapshot is there, every vector would be fetched from
    # the vault and compared for it (2 s at 100,000). Outcome: the snapshot, or its refusal, comes first (under 1 s).
    return index.state is not IndexState.EMPTY and (index.done > 0 or index.snapshot is not None)


def scrub_index(storage: Storage, search: Search, stopped: Callable[[], bool] | None = None) -> str | None:
    """Rewrite the lexical index where rows vanished: until then its pages still hold their words.

    Args:
        stopped: asked between steps; None for when the vault closes.

    Returns:
        The note that may be cleared; None where nothing was due or something is left for the next time.
    """
    if not search.scrub_due.is_set() or storage.vault.older is not None:
        return None
    search.scrub_due.clear()
    try:
        noted = storage.vault.read(scrub_noted)
        is_done = storage.vault.scrub_deleted(stopped or storage.closing.is_set)
    except BaseException:
        search.scrub_due.set()
        raise
    if not is_done:
        search.scrub_due.set()
        return None
    return noted


def maintain_index(open_vault: OpenVault) -> None:
    """Link what was written since, or rebuild the index, when it is due; scrub what vanished."""
    noted = scrub_index(open_vault.storage, open_vault.search)
    if noted is not None:
        log_failure(
            open_vault.storage.write(lambda tx: clear_scrub_note(tx, noted), background=True), _log, "noting a scrub"
        )
    if open_vault.search.index.status().needs_warm:
        warm_index(open_vault.storage, open_vault.search)
    if open_vault.search.index.due() is not MaintenanceDue.NOTHING:
        open_vault.search.index.maintain(lambda *_: None, open_vault.storage.closing.is_set)


def flush_journal(open_vault: OpenVault, wait_s: float | None = None) -> None:
    """Write what reads left behind, in one transaction; what the disk refuses is kept for the next time.

    Args:
        wait_s: seconds to wait for it; None for what a drain takes.

    Raises:
        LociError: what the vault said.
    """
    # One at a time: who asks while another flush is written would find nothing waiting, and not yet what was written.
    left = _DRAIN_S if wait_s is None else wait_s
    clock = open_vault.storage.clock
    until = clock.monotonic() + left
    if not open_vault.read_log.flushing.acquire(timeout=max(0.0, left)):
        return  # behind one that waits for something long in the queue: what waits is written by the next
    try:
        _write_pending_reads(open_vault, max(0.0, until - clock.monotonic()))
    finally:
        open_vault.read_log.flushing.release()


def _write_pending_reads(open_vault: OpenVault, wait_s: float) -> None:
    waiting = open_vault.read_log.take_pending()
    if not waiting:
        return
    if open_vault.storage.vault.older is not None:
        open_vault.read_log.put_back(waiting)  # until the person has spoken, within the journal's bounds
        return
    try:
        open_vault.storage.write(lambda tx: open_vault.read_log.write(tx, waiting)).result(wait_s)
    except TimeoutError:
        return  # behind something long in the queue: it is written in its turn
    except EnvironmentFaultError:
        open_vault.read_log.put_back(waiting)
        raise


def watch_vault_file(open_vault: OpenVault) -> None:
    """Notice a vault file that was replaced or removed underneath."""
    open_vault.storage.vault.check_files()


def _save_snapshot(storage: Storage, search: Search, wait_s: float) -> None:
    sight = search.active_space
    index = sight.index.settled_index()
    if index is None or index.count == 0 or search.saved == _index_mark(sight) or storage.vault.older is not None:
        return
    anchor = secrets.token_hex(16)

    def save_anchor(tx: Tx) -> None:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
            (_ANCHOR, json.dumps(anchor), tx.now_ms),
        )

    remembering = storage.write(save_anchor)
    try:
        remembering.result(wait_s)
    except TimeoutError:
        # Behind something long in the queue: the snapshot that is there stays, with the anchor that fits it.
        remembering.cancel()
        return
    write_snapshot(storage.home.snapshot, index, _snapshot_identity(storage, sight), anchor, _Sealer(storage.root))


def close_vault(open_vault: OpenVault, within_s: float = CLOSE_S) -> None:
    """Close everything; a step that fails is logged and the next goes on.

    Args:
        open_vault: the open vault; of no use afterwards.
        within_s: seconds for all of it; what is not done by then is stopped, and nothing that was saved is lost.
    """
    open_vault.storage.closing.set()
    end = open_vault.storage.clock.monotonic() + within_s
    drained_by = end - within_s * _FOR_ENDING

    def seconds_left(until: float) -> float:
        return max(_LEAST_S, until - open_vault.storage.clock.monotonic())

    open_vault.storage.threads.stop_tickers(min(_DRAIN_S, seconds_left(drained_by) / 2))
    drained_by = min(drained_by, open_vault.storage.clock.monotonic() + _DRAIN_S)
    for step, action in (
        ("journal", lambda: flush_journal(open_vault, seconds_left(drained_by))),
        ("snapshot", lambda: _save_snapshot(open_vault.storage, open_vault.search, seconds_left(drained_by))),
        ("queue", lambda: open_vault.storage.queue.close(seconds_left(drained_by))),
    ):
        _try_step(step, action)
    if open_vault.storage.threads.join_writer(_LEAST_S):
        _try_step(
            "scrub",
            lambda: _last_scrub(
                open_vault.storage, open_vault.search, lambda: open_vault.storage.clock.monotonic() >= drained_by
            ),
        )
    # Before the pools end: the writer and a reader that are stopped give their threads back at once.
    _try_step("vault", lambda: open_vault.storage.vault.close(seconds_left(end)))
    open_vault.storage.threads.join_writer(seconds_left(end))
    open_vault.storage.threads.shutdown(seconds_left(end))
    open_vault.storage.root.wipe()
    open_vault.limits.release_limits()
    log.remove_log_handler(open_vault.log_handler)


def _last_scrub(storage: Storage, search: Search, is_late: Callable[[], bool]) -> None:
    """Scrub in the time that is left; the writer has ended, so this thread may write. Else the next start does it."""
    if is_late():
        return
    noted = scrub_index(storage, search, is_late)
    if noted is not None:
        storage.vault.write(lambda tx: clear_scrub_note(tx, noted))


def _try_step(step: str, action: Callable[[], object]) -> None:
    try:
        action()
    except (LociError, OSError, TimeoutError) as error:
        _log.warning("closing: the step %s failed (%s)", step, type(error).__name__)
