"""The facade's group for sessions of assistants: turns, what is kept of them, and what a session has at hand.

A turn is the pipeline of E17.5.1: resolve the model, take up what is at hand, give the context; then keep what was said
and let go. Its permit is free as soon as the end is asked for, whatever comes of the rest. Must not do: search, or
choose what is kept; `contexts` and `core.sessions` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import asdict, replace
from typing import Any, TypeVar

from core import log
from core.engine.authority import Authority
from core.engine.memories.contexts import build_context
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Embedded
from core.engine.runtime.storage import Storage, chain_work, log_failure, map_result
from core.errors import LociError, UserError
from core.intake.transaction.admission import NO_IDS
from core.intake.transaction.unit_of_work import IdempotentCall
from core.llm.model_windows import turn_allowance
from core.recall.context import OPENING
from core.sessions import table as working_set
from core.sessions.capture import CaptureContext, PreparedCapture, prepare_messages, prepare_summary, write_capture
from core.sessions.table import EvictedSessions, Name, RestoredSlots, SessionSnapshot, SessionTable, Slots
from core.types.clients import ClientRecord
from core.types.recall import ContextQuery, ContextReply
from core.types.sessions import (
    Captured,
    CaptureRequest,
    Resumed,
    SessionClosed,
    SummaryRequest,
    TurnBegun,
    TurnEnd,
    TurnEnded,
    TurnQuery,
)
from core.types.values import Actor, limit_of
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

_log = log.get("engine")
_SECTIONS = ("## Key Facts", "## Active Rules", "## Episodes")
_FRAME = frozenset((*filter(None, OPENING.split("\n")), *_SECTIONS))
_FEW = 32  # texts up to here somebody waits for; more are embedded behind what others ask
_HOUR_MS = 3_600_000
_STORED = 0.6  # activation of what a turn itself brought
_ENDED = "This turn was ended with other messages before."
_SUSPEND_S = 1.0


class Sessions:
    """Everything an assistant does in turns. Each method returns at once."""

    def __init__(self, open_vault: Callable[[], OpenVault], authority: Authority) -> None:
        self._open_vault = open_vault
        self._authority = authority
        self._table = SessionTable()

    # ---- turns

    def begin_turn(self, query: TurnQuery, actor: Actor) -> Future[TurnBegun]:
        """Begin a turn: what is remembered of the prompt, in what the model can take, with what is at hand.

        Args:
            query: the prompt, its session and the model.
            actor: who asks; a client needs `read`.

        Returns:
            The turn; where it fails, its permit is free again.

        Raises:
            UserError: ACCESS_DENIED, BUSY when too many turns are open, INVALID_QUERY, INVALID_INPUT.
        """
        open_vault = self._open_vault()
        scope = self._authority.make_scope(actor)
        room = turn_allowance(query.model, query.budget, open_vault.options)
        name, turn = _session_name(actor, query.session), open_vault.storage.make_id()
        now, most = open_vault.storage.clock.now_ms(), open_vault.options.open_turns
        self._queue_session_saves(open_vault.storage, self._table.open(name, turn, now, most))
        resumed: list[Resumed] = []

        def load_slots(rows: Rows) -> Mapping[str, float]:
            taken = self._resume_session(open_vault, rows, name)
            resumed[:] = [taken.resumed]
            return taken.slots

        def make_turn_begun(reply: ContextReply) -> TurnBegun:
            given = {one.id: min(1.0, max(0.0, one.score)) for one in reply.context.included}
            count = self._table.use(name, given, open_vault.storage.clock.now_ms())
            return TurnBegun(turn, reply, room.window, reply.context.budget, room.known, count, resumed[0])

        asked = ContextQuery(query.prompt, room.budget, query.model, query.session, query.spaces)
        try:
            answer = map_result(build_context(open_vault, asked, scope, actor, load_slots), make_turn_begun)
        except BaseException:
            self._drop_turn(name, turn)
            raise
        answer.add_done_callback(lambda done: self._drop_failed_turn(done, name, turn))
        return answer

    def _drop_failed_turn(self, done: Future[TurnBegun], name: Name, turn: str) -> None:
        """A turn that did not begin holds no permit."""
        if done.cancelled() or done.exception() is not None:
            self._drop_turn(name, turn)

    def _drop_turn(self, name: Name, turn: str) -> None:
        if self._table.end_turn(name, turn):
            self._table.note_turn_saved(name, turn)

    def end_turn(self, request: TurnEnd, actor: Actor) -> Future[TurnEnded]:
        """End a turn and keep what was said in it.

        Args:
            request: the turn and its messages; the same turn ended twice is kept once.
            actor: who asks; messages need `write`, or `propose`, by which facts wait for review.

        Returns:
            What became of it. A turn that was not open is told as such; what it brings is kept all the same. Where it
            fails, the same turn can be ended once more, also without its id.

        Raises:
            UserError: VAULT_LOCKED, UNAUTHENTICATED; the future raises ACCESS_DENIED, TEXT_TOO_LARGE, INVALID_INPUT.
        """
        name = _session_name(actor, request.session)
        open_turn = self._table.end_turn(name, request.turn)
        open_vault = self._open_vault()
        client = self._authority.client_of(actor)
        turn = request.turn or open_turn
        identity = _turn_end_call(replace(request, turn=turn or None), actor)
        capture = CaptureRequest(request.session, request.messages, request.space)

        def write(tx: Tx, prepared: PreparedCapture, by: CaptureContext) -> TurnEnded:
            tx.after_commit(lambda: self._table.note_turn_saved(name, turn))
            with open_vault.storage.verb(tx, actor, "turn_end", identity) as call:
                if call.earlier is not None:
                    again = call.earlier
                    return TurnEnded(
                        turn, bool(again["begun"]), _captured_from_json(again["captured"]), int(again["at_hand"])
                    )
                # What the session has at hand is no part of the step: undoing a turn leaves the session as it is.
                with open_vault.storage.work.verb(tx, "turn_end", "Keep a turn", actor) as verb:
                    captured = write_capture(tx, verb, prepared, by)
                    verb.note_audit(turn, outcome=request.outcome.value, begun=bool(open_turn))
                count = self._update_working_set(tx, open_vault, name, captured)
                ended = TurnEnded(turn, bool(open_turn), captured, count)
                reply = {"begun": ended.begun, "captured": asdict(captured), "at_hand": count}
                call.set_outcome(captured.ids, reply if _is_known_again(captured, request.messages) else None)
                return ended

        return self._embed_and_write(
            open_vault, actor, client, lambda: _prepare_messages(open_vault, capture, client, actor), write
        )

    # ---- what is brought without a turn

    def capture_messages(self, request: CaptureRequest, actor: Actor) -> Future[Captured]:
        """Keep messages of a conversation.

        Args:
            actor: who asks; see `end`.

        Raises:
            UserError: as `end`.
        """
        identity = _identify_call("capture", request, actor, request.request_id)
        return self._store_capture(
            "capture", "Keep a conversation", identity, lambda o, c: _prepare_messages(o, request, c, actor)
        )

    def keep_summary(self, request: SummaryRequest, actor: Actor) -> Future[Captured]:
        """Keep what is left of messages that a session drops, as statements of its summary (E13).

        Args:
            actor: who asks; a client needs `write`.

        Returns:
            What became of it; the same summary again stores nothing.

        Raises:
            UserError: as `end`.
        """
        identity = _identify_call("compaction_ingest", request, actor, request.request_id)
        return self._store_capture(
            "compaction_ingest",
            "Keep a summary",
            identity,
            lambda _, client: prepare_summary(request, client, _FRAME, actor.channel),
        )

    def _store_capture(
        self,
        name: str,
        label: str,
        identity: IdempotentCall,
        prepare: Callable[[OpenVault, ClientRecord | None], PreparedCapture],
    ) -> Future[Captured]:
        open_vault, actor = self._open_vault(), identity.actor
        client = self._authority.client_of(actor)

        def write(tx: Tx, prepared: PreparedCapture, by: CaptureContext) -> Captured:
            with open_vault.storage.verb(tx, actor, name, identity, label=label) as verb:
                if verb.earlier is not None:
                    return _captured_from_json(verb.earlier)
                captured = replace(write_capture(tx, verb.step, prepared, by), step_id=verb.step_id)
                verb.set_outcome(captured.ids, asdict(captured) if _is_known_again(captured, ("",)) else None)
                return captured

        return self._embed_and_write(open_vault, actor, client, lambda: prepare(open_vault, client), write)

    def _embed_and_write(
        self,
        open_vault: OpenVault,
        actor: Actor,
        client: ClientRecord | None,
        prepare: Callable[[], PreparedCapture],
        write: Callable[[Tx, PreparedCapture, CaptureContext], T],
    ) -> Future[T]:
        def carried_out(tx: Tx, prepared: PreparedCapture, embedded: Embedded | None) -> T:
            self._authority.check_terms_hold(actor, client)
            return write(tx, prepared, make_capture_context(embedded))

        def embed_texts_and_write(prepared: PreparedCapture) -> Future[T]:
            texts = prepared.texts
            if not texts:
                return open_vault.storage.write(lambda tx: carried_out(tx, prepared, None))
            embedded = (
                open_vault.search.embed_texts(texts)
                if len(texts) <= _FEW
                else open_vault.search.embed_texts_later(texts)
            )
            return chain_work(
                embedded, lambda embedded: open_vault.storage.write(lambda tx: carried_out(tx, prepared, embedded))
            )

        def make_capture_context(embedded: Embedded | None) -> CaptureContext:
            vectors = None if embedded is None else embedded.vectors_in(open_vault.search.active_space)
            handed = NO_IDS if actor.client_id is None else open_vault.read_log.disclosed_to(actor.client_id)
            return CaptureContext(
                actor,
                client,
                open_vault.search.store_service,
                open_vault.search.add_vectors,
                handed,
                vectors,
                open_vault.options,
                open_vault.storage.work.client_waits,
            )

        return chain_work(open_vault.storage.run_on(open_vault.storage.threads.prompt, prepare), embed_texts_and_write)

    # ---- what a session has at hand

    def close(self, session: str, actor: Actor, request_id: str | None = None) -> Future[SessionClosed]:
        """Close a session: what it has at hand is kept for when it comes back, an open turn ends.

        It is put away once that is saved: what is refused has changed nothing.

        Args:
            request_id: the caller's own id for this call: one that comes twice closes nothing that was opened since.

        Raises:
            UserError: VAULT_LOCKED, UNAUTHENTICATED.
        """
        open_vault = self._open_vault()
        self._authority.client_of(actor)
        name = _session_name(actor, session)
        identity = IdempotentCall(actor, request_id, {"verb": "session_close", "session": session})

        asked = self._table.look(name)
        turn = "" if asked is None else asked.turn

        def write(tx: Tx) -> SessionClosed:
            with open_vault.storage.verb(tx, actor, "session_close", identity) as call:
                if call.earlier is not None:
                    return SessionClosed(**call.earlier)
                session = self._table.look(name)
                left = None if session is None else session.left
                kept = working_set.load_working_set(tx, *name)
                closed = SessionClosed(
                    len(left.slots if left is not None else kept[0] if kept is not None else {}),
                    int(session is not None and bool(session.turn) and session.turn == turn),
                )
                with open_vault.storage.work.verb(tx, "session_close", "Close a session", actor) as verb:
                    verb.note_audit("", at_hand=closed.saved, turns=closed.ended)
                if session is not None and left is not None and session.is_new:
                    self._save_sessions(tx, [left])
                tx.after_commit(lambda: self._table.close(name, turn, left))
                call.set_outcome((), asdict(closed))
                return closed

        return open_vault.storage.write(write)

    def end_sessions(self, names: Iterable[Name]) -> None:
        """A client has gone: its turns end, and what its sessions had at hand is kept (X32). Never fails.

        Args:
            names: clients and their sessions.
        """
        evicted = self._table.leave(names)
        try:
            self._queue_session_saves(self._open_vault().storage, evicted)
        except UserError:
            return  # the vault is locked: everything was kept when it was

    def list_in_use(self, client_id: str | None) -> frozenset[Name]:
        """The sessions of a client that are in use: `MOST_SESSIONS` and those with an open turn, at most."""
        return self._table.names(client_id)

    def open_turns(self, actor: Actor) -> int:
        """How many turns of an actor are open now."""
        return self._table.open_turns(actor.client_id)

    def run_chores(self, open_vault: OpenVault) -> None:
        """Put away what was silent for long (E21.7), and forget what would come back with nothing."""
        now = open_vault.storage.clock.now_ms()
        evicted = self._table.leave_idle(now - open_vault.options.session_idle_s * 1000)
        if evicted.left:
            before = now - int(open_vault.options.session_gone_h * _HOUR_MS)

            def write(tx: Tx) -> None:
                self._save_sessions(tx, evicted.left)
                working_set.drop_stale(tx, before)

            log_failure(open_vault.storage.write(write, background=True), _log, "putting a session away")

    def save_all_sessions(self, storage: Storage) -> None:
        """The vault is about to lock: keep what every session has at hand, and hold nothing any longer.

        Args:
            storage: of the vault, still open.
        """
        evicted = self._table.leave_all()
        if not evicted.left:
            return
        try:
            storage.write(lambda tx: self._save_sessions(tx, evicted.left)).result(_SUSPEND_S)
        except (LociError, TooLate) as error:
            _log.warning("sessions could not be kept (%s)", type(error).__name__)

    def _queue_session_saves(self, storage: Storage, evicted: EvictedSessions) -> None:
        if evicted.left:
            log_failure(
                storage.write(lambda tx: self._save_sessions(tx, evicted.left), background=True),
                _log,
                "keeping a session",
            )

    def _save_sessions(self, tx: Tx, left: Sequence[SessionSnapshot]) -> None:
        for one in left:
            client_id, session = one.name
            if client_id is not None:  # the owner's own channel keeps nothing
                working_set.save_working_set(tx, client_id, session, one.slots, one.at)
        tx.after_commit(lambda: self._table.saved(left))

    def _resume_session(self, open_vault: OpenVault, rows: Rows, name: Name) -> RestoredSlots:
        now, options = open_vault.storage.clock.now_ms(), open_vault.options

        def find_saved_slots() -> RestoredSlots:
            left = self._table.leaving(name)
            kept = working_set.load_working_set(rows, *name) if left is None else (left.slots, left.at)
            return (
                RestoredSlots({}, Resumed.NEW)
                if kept is None
                else working_set.resume_slots(kept[0], now - kept[1], options)
            )

        def resume_open_slots(slots: Slots, age_ms: int) -> RestoredSlots:
            if age_ms < options.session_idle_s * 1000:
                return RestoredSlots(slots, Resumed.HELD)
            return working_set.resume_slots(slots, age_ms, options)

        return self._table.take_up(name, now, find_saved_slots, resume_open_slots)

    def _update_working_set(self, tx: Tx, open_vault: OpenVault, name: Name, captured: Captured) -> int:
        """What the session has at hand after a turn; kept with it, and in force once it is saved."""
        self._save_sessions(tx, self._table.make_room(name))
        slots = self._resume_session(open_vault, tx, name).slots
        brought = dict.fromkeys(captured.facts, _STORED)
        after = working_set.mark_used(slots, brought) if brought else slots
        if name[0] is not None:
            working_set.save_working_set(tx, name[0], name[1], after, open_vault.storage.clock.now_ms())
        if brought:
            tx.after_commit(lambda: self._note_memories_used(name, brought, open_vault.storage.clock.now_ms()))
        return len(after)

    def _note_memories_used(self, name: Name, brought: Mapping[str, float], now_ms: int) -> None:
        self._table.use(name, brought, now_ms)


def _session_name(actor: Actor, session: str) -> Name:
    """A session of one channel has nothing at hand of another's (X2)."""
    return actor.client_id, limit_of(actor.channel, session)


def _identify_call(
    verb: str, request: TurnEnd | CaptureRequest | SummaryRequest, actor: Actor, request_id: str | None
) -> IdempotentCall:
    return IdempotentCall(actor, request_id, {"verb": verb, **asdict(request), "request_id": None})


def _turn_end_call(request: TurnEnd, actor: Actor) -> IdempotentCall:
    """An end without an id of its own goes by its turn; one that brings nothing is told from one that does."""
    if request.request_id is not None or request.turn is None:
        return _identify_call("turn_end", request, actor, request.request_id)
    name = f"turn:{request.turn}" if request.messages else f"turn:{request.turn}:{request.outcome.value}"
    return replace(_identify_call("turn_end", request, actor, name), taken=_ENDED)


def _prepare_messages(
    open_vault: OpenVault, request: CaptureRequest, client: ClientRecord | None, actor: Actor
) -> PreparedCapture:
    if not request.messages:
        return PreparedCapture(request.session)
    return prepare_messages(
        request, client, open_vault.search.readers, open_vault.storage.clock.now_ms(), _FRAME, actor.channel
    )


def _is_known_again(captured: Captured, brought: Sequence[object]) -> bool:
    """Whether a call is remembered; where nothing was kept of what it brought, not even a digest of that is."""
    return bool(captured.ids or not brought)


def _captured_from_json(kept: Mapping[str, Any]) -> Captured:
    return Captured(**{**kept, "ids": tuple(kept["ids"]), "facts": tuple(kept["facts"])})
