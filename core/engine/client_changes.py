"""The facade's group for what clients change: update, delete, forget, feedback, relate.

What a client may not do by itself becomes a request that waits for the person (`core.intake.revise.change_requests`);
the owner's own calls act at once. Must not do: decide what waits, or let a client reach what it may not see.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict

from core.engine.authority import Authority
from core.engine.library import Library
from core.engine.memories.memories import write_feedback
from core.engine.outcomes import Outcomes
from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, chain_work, map_result
from core.errors import Code, PreconditionError, UserError
from core.intake.revise.change_requests import (
    ChangeRequest,
    ChangeRequests,
    check_change_request,
    identify_change_call,
    restore_change_reply,
)
from core.intake.revise.revision import draw_relation
from core.intake.transaction.unit_of_work import IdempotentCall, not_admitted_error
from core.intake.transitions.transitions import forget_memory
from core.recall.scope import Scope, find_visible
from core.text.terms import embedding_text
from core.types.lifecycle import Marked
from core.types.memory import ChangeReply, Judgement, Related, Relationship, RequestedChange
from core.types.values import Actor, Grant, Kind
from core.types.views import Revision, RevisionReport
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_NONE = "There is no such memory."
_ASKING = (Grant.PROPOSE.value, Grant.WRITE.value, Grant.CURATE.value)


class ClientChanges:
    """Everything a client wishes to have changed. Each method returns at once with a Future."""

    def __init__(
        self,
        storage: Callable[[], Storage],
        search: Callable[[], Search],
        authority: Authority,
        library: Library,
        outcomes: Outcomes,
    ) -> None:
        self._storage = storage
        self._search = search
        self._authority = authority
        self._library = library
        self._outcomes = outcomes

    def update_text(
        self,
        memory_id: str,
        text: str,
        actor: Actor,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[ChangeReply]:
        """Give a memory another text (E14a, memory_update): a new version, or a request that waits for the person.

        Args:
            text: the new text; up to 8 KiB from a client.
            actor: who asks; a client needs `propose`, `write` or `curate`.
            reason: why, in the asker's words; up to 512 characters.
            kind: what the memory must be; another is answered as one that does not exist.
            request_id: the caller's own id for this request.

        Returns:
            What came of it; the future raises NOT_FOUND, INVALID_INPUT, RATE_LIMITED.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, INVALID_INPUT, TEXT_TOO_LARGE.
        """
        request = ChangeRequest(RequestedChange.UPDATE, memory_id, text, reason, kind, request_id)
        if actor.is_owner:
            return self._revise_as_owner(request, text, actor)
        storage, search = self._storage(), self._search()
        self._scope_of_asker(actor)
        check_change_request(request)
        return chain_work(
            search.embed_texts([embedding_text(text)]),
            lambda meant: storage.write(self._make_change_writer(storage, search, request, actor, meant)),
        )

    def remove_memory(
        self,
        memory_id: str,
        actor: Actor,
        change: RequestedChange = RequestedChange.FORGET,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[ChangeReply]:
        """Delete or forget a memory softly (E14a, memory_delete; seed B, memory_forget), or ask the person to.

        Args:
            actor: as for `update_text`.
            change: `delete` or `forget_memory`; both can be undone.
            reason: as for `update_text`.
            kind: as for `update_text`.
            request_id: as for `update_text`.

        Returns:
            What came of it; the future raises NOT_FOUND, INVALID_INPUT, RATE_LIMITED.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, INVALID_INPUT.
        """
        storage, search = self._storage(), self._search()
        self._scope_of_asker(actor)
        request = ChangeRequest(change, memory_id, None, reason, kind, request_id)
        check_change_request(request)
        if actor.is_owner:
            return storage.write(self._make_forget_writer(storage, request, actor))
        return storage.write(self._make_change_writer(storage, search, request, actor, None))

    def give_feedback(
        self,
        memory_id: str,
        actor: Actor,
        *,
        helpful: bool,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[Judgement]:
        """Say whether a memory helped (E14a, memory_feedback).

        Of a rule it is a mark, from whoever may write; else it is kept as the actor's own feedback, and moves no trust.

        Args:
            actor: who says so; a client needs `propose`, `write` or `curate`.
            helpful: whether it helped.
            reason: why, in the actor's words.
            kind: as for `update_text`.
            request_id: as for `update_text`.

        Returns:
            What was taken down; the future raises NOT_FOUND, INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, INVALID_INPUT.
        """
        storage, scope = self._storage(), self._scope_of_asker(actor)
        check_change_request(ChangeRequest(RequestedChange.FORGET, memory_id, None, reason))
        client = self._authority.client_of(actor)
        may_mark = client is None or bool(client.grants & {Grant.WRITE.value, Grant.CURATE.value})
        asked = {"verb": "feedback", "id": memory_id, "helpful": helpful, "reason": reason}
        call = IdempotentCall(actor, request_id, asked)

        def write(tx: Tx) -> Judgement:
            with storage.verb(tx, actor, "feedback", call) as verb:
                if verb.earlier is not None:
                    return Judgement(**verb.earlier)
                _require_visible_kind(tx, memory_id, self._scope_of_asker(actor), kind)
                signal = "helpful" if helpful else "irrelevant"
                done = write_feedback(tx, storage, memory_id, signal, actor, {"reason": reason})
                reply = Judgement(memory_id, signal, marked=False, step_id=done.step_id)
                verb.set_outcome(None, asdict(reply))  # `write_feedback` has told of it
                return reply

        def write_or_mark(found: Kind) -> Future[Judgement]:
            if found is not Kind.RULE or not may_mark:
                return storage.write(write)
            return self.mark_rule(memory_id, actor, helpful=helpful, reason=reason, request_id=request_id)

        return chain_work(storage.read(lambda rows: _require_visible_kind(rows, memory_id, scope, kind)), write_or_mark)

    def mark_rule(
        self,
        memory_id: str,
        actor: Actor,
        *,
        helpful: bool,
        reason: str | None = None,
        kind: Kind | None = None,
        request_id: str | None = None,
    ) -> Future[Judgement]:
        """Say that a rule was applied and helped, or harmed (seed B, rule effectiveness).

        Args:
            actor: who says so; a client needs `write` or `curate`.
            helpful: whether it helped.
            reason: why it harmed; kept with the rule.
            kind: as for `update_text`.
            request_id: as for `update_text`.

        Returns:
            What was taken down; the future raises NOT_FOUND, INVALID_INPUT where it is no rule.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, INVALID_INPUT.
        """
        outcomes = self._outcomes
        marked = (
            outcomes.mark_helpful(memory_id, actor, request_id, kind)
            if helpful
            else outcomes.mark_harmful(memory_id, actor, reason, request_id, kind)
        )
        return map_result(marked, lambda done: _judgement_from_mark(done, helpful=helpful))

    def relate_memories(
        self,
        source_id: str,
        target_id: str,
        relationship: Relationship,
        actor: Actor,
        request_id: str | None = None,
    ) -> Future[Related]:
        """Relate two memories (E14a, memory_relate).

        Args:
            source_id: the memory the relation goes out from.
            target_id: the other one.
            relationship: what the first is to the second.
            actor: who says so; a client needs `write` or `curate`.
            request_id: as for `update_text`.

        Returns:
            The relation; the future raises NOT_FOUND, INVALID_INPUT, CYCLE.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
        """
        storage = self._storage()
        self._authority.make_scope(actor)
        self._authority.require_voice(actor)
        call = IdempotentCall(
            actor, request_id, {"verb": "relate", "ids": [source_id, target_id], "as": relationship.value}
        )

        def write(tx: Tx) -> Related:
            # What was granted may have been taken back since.
            scope = self._authority.make_scope(actor)
            self._authority.require_voice(actor)
            with storage.verb(tx, actor, "relate", call) as verb:
                if verb.earlier is not None:
                    return Related(**verb.earlier)
                for one in (source_id, target_id):
                    _require_visible_kind(tx, one, scope, None)
                done = draw_relation(tx, storage.work, source_id, target_id, relationship, actor)
                verb.set_outcome((source_id, target_id) if done.step_id is not None else None, asdict(done))
                return done

        return storage.write(write)

    # ---- ground

    def _scope_of_asker(self, actor: Actor) -> Scope:
        client = self._authority.client_of(actor)
        if client is not None and not client.grants.intersection(_ASKING):
            raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")
        return self._authority.make_scope(actor)

    def _make_change_writer(
        self, storage: Storage, search: Search, request: ChangeRequest, actor: Actor, embedded: Embedded | None
    ) -> Callable[[Tx], ChangeReply]:
        """By the terms that hold when it is carried out: another grant or another reach may have been given since."""

        def check_visible(tx: Tx) -> None:
            _require_visible_kind(tx, request.memory_id, self._scope_of_asker(actor), request.kind)

        def write(tx: Tx) -> ChangeReply:
            client = self._authority.client_of(actor)
            if client is None:
                raise not_admitted_error()
            made = None if embedded is None else embedded.vectors_in(search.active_space)
            vector = None if made is None else made[0]
            with storage.verb(tx, actor, request.change.value, identify_change_call(request, actor)) as verb:
                if verb.earlier is not None:
                    return restore_change_reply(verb.earlier)
                requests = ChangeRequests(search.store_service)
                reply = requests.change_or_ask(tx, request, vector, actor, client, check_visible, search.add_vectors)
                is_known_again = reply.operation != "NOOP" or reply.conflict is not None
                verb.set_outcome(
                    None if reply.step_id is None else (reply.memory_id, *reply.superseded),
                    asdict(reply) if is_known_again else None,
                )
                return reply

        return write

    def _make_forget_writer(
        self, storage: Storage, request: ChangeRequest, actor: Actor
    ) -> Callable[[Tx], ChangeReply]:
        """The owner's own call: it is done, whoever brought the memory."""
        call = IdempotentCall(actor, request.request_id, {"verb": request.change.value, "id": request.memory_id})

        def write(tx: Tx) -> ChangeReply:
            with storage.verb(tx, actor, "forget", call) as verb:
                if verb.earlier is not None:
                    return restore_change_reply(verb.earlier)
                if request.kind not in (None, _kind_of_memory(tx, request.memory_id)):
                    raise UserError(Code.NOT_FOUND, _NONE)
                step = forget_memory(tx, storage.work, request.memory_id, actor)
                reply = ChangeReply(request.change.name, request.memory_id, step_id=step)
                verb.set_outcome((request.memory_id,), asdict(reply))
                return reply

        return write

    def _revise_as_owner(self, request: ChangeRequest, text: str, actor: Actor) -> Future[ChangeReply]:
        storage, scope = self._storage(), self._scope_of_asker(actor)

        def revise_text(_: Kind) -> Future[ChangeReply]:
            return map_result(
                self._library.revise_memories([request.memory_id], Revision(text=text)),
                lambda report: _change_reply_from_report(request.memory_id, report),
            )

        return chain_work(
            storage.read(lambda rows: _require_visible_kind(rows, request.memory_id, scope, request.kind)), revise_text
        )


def _change_reply_from_report(memory_id: str, report: RevisionReport) -> ChangeReply:
    if report.refused:
        raise PreconditionError(next(iter(report.refused)))
    if report.step_id is None or not report.ids:
        return ChangeReply("NOOP", memory_id, deduplicated=True)
    return ChangeReply("UPDATE", report.ids[0], superseded=(memory_id,), step_id=report.step_id)


def _judgement_from_mark(done: Marked, *, helpful: bool) -> Judgement:
    return Judgement(
        done.state.memory_id,
        "helpful" if helpful else "harmful",
        marked=True,
        step_id=done.step_id,
        maturity=done.state.maturity,
        conflict=done.conflict,
    )


def _kind_of_memory(rows: Rows, memory_id: str) -> Kind | None:
    found = rows.value("SELECT kind FROM memories WHERE id = ?", (memory_id,))
    return None if found is None else Kind(found)


def _require_visible_kind(rows: Rows, memory_id: str, scope: Scope, kind: Kind | None) -> Kind:
    """The kind of a memory that the actor may see; any other does not exist."""
    found = find_visible(rows, memory_id, scope, kind)
    if found is None:
        raise UserError(Code.NOT_FOUND, _NONE)
    return found.kind
