"""What a client wishes to have changed: done at once where it may, else a request that waits for the person (E14b).

At once only with the grant `curate`, never on what the person said or pinned, and a new text only through the gate
that every candidate passes: where the gate would hold it back, the person is asked, and nothing else changes.
Must not do: embed, or take anybody's word for the person's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.validity import classify_permanence
from core.errors import BugError, Code, LociError, PreconditionError, UserError
from core.intake.candidate import authority_of
from core.intake.claims import EvidenceSource, read_claims, write_claims
from core.intake.review.approvals import OPEN_AT_MOST, carry_over, count_open_change_requests, record_request
from core.intake.store.requests import default_role
from core.intake.store.store import StoreService
from core.intake.transaction.admission import CLIENT_TEXT_BYTES, check_memory_text, check_reason, erased_texts
from core.intake.transaction.sources import Lineage, add_source, find_active_duplicate
from core.intake.transaction.unit_of_work import IdempotentCall
from core.intake.transitions.review_items import ItemSubject, known_matter
from core.intake.transitions.transitions import Transitions, forget_memory
from core.memory.protection import inherited_tier
from core.memory.write import Draft, Stored, content_hash, insert_memories, write_new_vectors
from core.score.trust import trust_terms
from core.text.screening.injection import screen_text
from core.types.clients import ClientRecord
from core.types.memory import ChangeReply, RequestedChange
from core.types.values import Action, Actor, Grant, Kind, Source, Status, When
from core.vault.database.tx import Tx

_ASK = {
    RequestedChange.UPDATE: ("ask_update", "Ask to change a memory"),
    RequestedChange.DELETE: ("ask_delete", "Ask to delete a memory"),
    RequestedChange.FORGET: ("ask_forget", "Ask to forget a memory"),
}
_DO = {
    RequestedChange.UPDATE: ("update", "Change a memory"),
    RequestedChange.DELETE: ("delete", "Delete a memory"),
    RequestedChange.FORGET: ("forget", "Forget a memory"),
}
_REASONS = {
    RequestedChange.UPDATE: "wants_change",
    RequestedChange.DELETE: "wants_removal",
    RequestedChange.FORGET: "wants_removal",
}
_REMOVABLE = frozenset({Status.ACTIVE.value, Status.DISPUTED.value, Status.QUARANTINED.value})
_UNCHANGEABLE = {
    Status.SUPERSEDED.value: "A newer version of this memory stands; speak of that one.",
    Status.QUARANTINED.value: "This memory waits for the person's decision; it cannot be changed before.",
    Status.ARCHIVED.value: "This memory no longer stands.",
    Status.CONSOLIDATED.value: "Another memory stands for this one; speak of that one.",
}
_NONE = "There is no such memory."

Row = dict[str, Any]


class _WithheldError(LociError):
    """The gate would not let the new text stand: what was tried is taken back, and the person is asked."""

    def __init__(self) -> None:
        super().__init__(Code.BUSY, "The person decides about that.")


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A change that a client asks for.

    Attributes:
        change: what is to be done.
        memory_id: with which memory.
        text: the new text of an update.
        reason: why, in the client's own words.
        kind: what the memory must be; None where the client did not say.
        request_id: the client's own id for this request.
    """

    change: RequestedChange
    memory_id: str
    text: str | None = None
    reason: str | None = None
    kind: Kind | None = None
    request_id: str | None = None


def check_change_request(request: ChangeRequest) -> None:
    """Refuse a request that cannot be made, before anything is embedded.

    Raises:
        UserError: INVALID_INPUT, TEXT_TOO_LARGE.
    """
    check_reason(request.reason)
    if request.text is not None:
        check_memory_text(request.text, CLIENT_TEXT_BYTES)


@dataclass(frozen=True, slots=True)
class ChangeRequests:
    """Carries the change requests of clients out, or puts them before the person.

    Attributes:
        store_service: stores; its parts are used for a new text.
    """

    store_service: StoreService

    def change_or_ask(
        self,
        tx: Tx,
        request: ChangeRequest,
        vector: NDArray[np.float32] | None,
        actor: Actor,
        client: ClientRecord,
        check: Callable[[Tx], None],
        stored: Stored,
    ) -> ChangeReply:
        """Do what a client wishes, or ask the person; one transaction.

        Args:
            request: what is wished, from `check_change_request`.
            vector: of the new text, (dims,); None for a removal, or where the embedder is away.
            check: raises where the client may not see the memory, or it is not what the client takes it for.
            stored: told sequence, labels and vectors of new rows, for the index.

        Raises:
            UserError: NOT_FOUND, INVALID_INPUT for a memory that cannot be changed so, RATE_LIMITED where too much of
                the client's waits already.
        """
        check(tx)
        memory = _require_whole_memory(tx, request)
        waits = Grant.CURATE.value not in client.grants or bool(memory["pinned"]) or _is_persons(tx, memory, client)
        if request.change is RequestedChange.UPDATE:
            return self._update_text(tx, request, memory, vector, _Side(actor, client, stored, waits))
        return self._remove_memory(tx, request, memory, _Side(actor, client, stored, waits))

    # ---- a new text

    def _update_text(
        self, tx: Tx, request: ChangeRequest, old: Row, vector: NDArray[np.float32] | None, side: _Side
    ) -> ChangeReply:
        text = request.text
        if text is None:
            raise BugError("an update without its text")
        if old["content_hash"] == content_hash(text) or erased_texts(tx, [text]):
            # Of a text that was erased nobody is told anything: it is answered as one that stands.
            return ChangeReply("NOOP", str(old["id"]), deduplicated=True)
        twin = find_active_duplicate(tx, [text], Kind(old["kind"]), str(old["space_id"]), str(old["scope_session"]))
        if twin is not None:
            raise PreconditionError("The same words stand already in another memory of its space.")
        # What reads like an instruction is for the person to see, whoever may change the memory.
        waits = side.waits or screen_text(text, stranger=True).waits
        if not waits and old["status"] == Status.ACTIVE.value and self._may_replace(tx, old, side.client):
            try:
                with tx.attempt():
                    return self._change_now(tx, old, text, vector, side)
            except _WithheldError:
                pass  # the gate holds it back: the person is asked
        keys = (_request_key("update", old, side.client), bytes(old["content_hash"]), content_hash(text))
        again = _reply_if_asked_before(tx, str(old["id"]), keys)
        if again is not None:
            return again
        _check_room(tx, side.client)
        name, label = _ASK[RequestedChange.UPDATE]
        with self.store_service.work.verb(tx, name, label, side.actor) as verb:
            transitions = self.store_service.make_transitions(tx, verb, side.stored)
            new_id = self._write_candidate(transitions, old, text, vector, side)
            matter = ItemSubject("approval", new_id, str(old["id"]), _REASONS[request.change], keys=keys)
            item = _open_request(transitions, request, matter, side)
            transitions.log_consolidation("QUARANTINE", new_id, str(old["id"]))
            verb.note_audit(new_id, operation="PROPOSED")
        return ChangeReply("PROPOSED", new_id, conflict=item, step_id=verb.step_id)

    def _may_replace(self, tx: Tx, old: Row, client: ClientRecord) -> bool:
        """Between others a candidate supersedes only what is trusted no more (design section 4), or what is its own."""
        if old["client_id"] == client.id and int(old["corroboration"]) <= 1:
            return True
        return _trust_of_client(client) >= authority_of(tx, str(old["id"])).trust

    def _change_now(self, tx: Tx, old: Row, text: str, vector: NDArray[np.float32] | None, side: _Side) -> ChangeReply:
        name, label = _DO[RequestedChange.UPDATE]
        old_id = str(old["id"])
        with self.store_service.work.verb(tx, name, label, side.actor) as verb:
            transitions = self.store_service.make_transitions(tx, verb, side.stored)
            new_id = self._write_candidate(transitions, old, text, vector, side)
            transitions.supersede(old_id, new_id)
            self.store_service.admit_memory(transitions, new_id)
            if tx.value("SELECT status FROM memories WHERE id = ?", (new_id,)) != Status.ACTIVE.value:
                raise _WithheldError
            carry_over(transitions, old_id, new_id)
            transitions.close_moot()
            verb.note_audit(new_id, operation="UPDATE")
        return ChangeReply("UPDATE", new_id, superseded=(old_id,), step_id=verb.step_id)

    def _write_candidate(
        self, transitions: Transitions, old: Row, text: str, vector: NDArray[np.float32] | None, side: _Side
    ) -> str:
        """The new text as a candidate that waits: the client's own words, whoever's the old ones are."""
        tx, store_service, kind = transitions.tx, self.store_service, Kind(old["kind"])
        new_id, lineage = transitions.make_id(), Lineage.of_actor(side.actor, side.actor.session)
        claims = read_claims(store_service.readers.stored, text, (), (tx.now_ms, tx.now_ms), vouched=False)
        draft = Draft(
            id=new_id,
            text=text,
            kind=kind,
            status=Status.QUARANTINED,
            status_reason="proposed",
            space_id=str(old["space_id"]),
            source=Source.INFERENCE,
            role=default_role(Source.INFERENCE),
            lineage=lineage.key,
            recorded_at=tx.now_ms,
            trust=_trust_of_client(side.client),
            last_confirmed_at=tx.now_ms,
            client_id=side.client.id,
            category=str(old["category"]),
            importance=float(old["importance"]),
            tags=tuple(json.loads(old["tags"])),
            session=side.actor.session,
            scope_session=str(old["scope_session"]),
            ref=old["ref"],
            origin={"by": side.actor.kind, "updates": str(old["id"])},
            occurred=When(tx.now_ms),
            read_at=tx.now_ms,
            flags=screen_text(text, stranger=True).flags,
            permanence=classify_permanence(text, claims, kind),
        )
        labels = insert_memories(tx, [draft])
        tx.update("memories", {"id": new_id}, inherited_tier(tx, old, tx.row("memories", {"id": new_id}) or {}))
        vectors = None if vector is None else np.asarray(vector, np.float32).reshape(1, -1)
        write_new_vectors(tx, labels, vectors, store_service.space, side.stored)
        add_source(tx, new_id, lineage, Source.INFERENCE)
        on = EvidenceSource(new_id, text, draft.space_id, lineage.key, tx.now_ms)
        write_claims(tx, store_service.make_id, claims, on, draft.scope_session)
        return new_id

    # ---- a removal

    def _remove_memory(self, tx: Tx, request: ChangeRequest, memory: Row, side: _Side) -> ChangeReply:
        memory_id = str(memory["id"])
        if not side.waits:
            step = forget_memory(tx, self.store_service.work, memory_id, side.actor, *_DO[request.change])
            return ChangeReply(request.change.name, memory_id, step_id=step)
        keys = (_request_key("remove", memory, side.client), bytes(memory["content_hash"]))
        again = _reply_if_asked_before(tx, memory_id, keys)
        if again is not None:
            return again
        _check_room(tx, side.client)
        with self.store_service.work.verb(tx, *_ASK[request.change], side.actor) as verb:
            transitions = self.store_service.make_transitions(tx, verb, side.stored)
            item = _open_request(
                transitions,
                request,
                ItemSubject("approval", memory_id, None, _REASONS[request.change], keys=keys),
                side,
            )
            verb.note_audit(memory_id, operation="PROPOSED")
        return ChangeReply("PROPOSED", memory_id, conflict=item, step_id=verb.step_id)


@dataclass(frozen=True, slots=True)
class _Side:
    """Who asks, and whether the person must be asked in any case."""

    actor: Actor
    client: ClientRecord
    stored: Stored
    waits: bool


def identify_change_call(request: ChangeRequest, actor: Actor) -> IdempotentCall:
    """By what a repeated change request of a client is known."""
    whole = {**asdict(request), "request_id": None}
    whole["wish"] = whole.pop("change").value  # the name under which earlier calls were remembered
    whole["kind"] = None if request.kind is None else request.kind.value
    return IdempotentCall(actor, request.request_id, whole)


def restore_change_reply(known: Mapping[str, Any]) -> ChangeReply:
    """The reply to an earlier call, from what was kept of it."""
    return ChangeReply(**{**known, "superseded": tuple(known["superseded"])})


def _require_whole_memory(tx: Tx, request: ChangeRequest) -> Row:
    """The memory a wish is about; a part of a split text stands for all of it."""
    found = tx.value("SELECT coalesce(part_of, id) FROM memories WHERE id = ?", (request.memory_id,))
    row = None if found is None else tx.row("memories", {"id": found})
    if row is None or row["status"] == Status.DELETED.value:
        raise UserError(Code.NOT_FOUND, _NONE)
    if request.change is RequestedChange.UPDATE:
        _check_editable(row)
    elif row["status"] not in _REMOVABLE:
        raise PreconditionError(_UNCHANGEABLE[str(row["status"])])
    return row


def _check_editable(row: Row) -> None:
    """Episodes and digests are what was said, and what was made of it; a text in parts is not edited as one."""
    if row["kind"] == Kind.EPISODE.value:
        raise PreconditionError("An episode is kept as it was said; it cannot be changed.")
    if row["kind"] == Kind.DIGEST.value:
        raise PreconditionError("A digest is made from other memories; it cannot be changed.")
    if row["part_of"] is not None:
        raise PreconditionError("A text that is kept in parts cannot be changed; store a new one.")
    if row["status"] in _UNCHANGEABLE:
        raise PreconditionError(_UNCHANGEABLE[str(row["status"])])


def _is_persons(tx: Tx, memory: Row, client: ClientRecord) -> bool:
    """Whether any of it, with all its parts, is what the person said or vouched for, but for what they typed to it."""
    parts = tx.all("SELECT id FROM memories WHERE id = ? OR part_of = ?", (memory["id"], memory["id"]))
    return any(authority_of(tx, str(part)).is_guarded_from(client.id) for (part,) in parts)


def _trust_of_client(client: ClientRecord) -> float:
    return trust_terms(Source.INFERENCE, client_ceiling=client.trust_ceiling).trust


def _request_key(what: str, row: Row, client: ClientRecord) -> bytes:
    """Keeps the same words in another space, another wish about them, and the wish of another client, apart."""
    return hashlib.sha256(f"{what}:{row['space_id']}:{client.id}".encode()).digest()


def _reply_if_asked_before(tx: Tx, memory_id: str, keys: tuple[bytes, ...]) -> ChangeReply | None:
    """The same was asked before: it waits, or the person said no."""
    known = known_matter(tx, ItemSubject("approval", memory_id, keys=keys))
    if known is None:
        return None
    if known.state == "open":
        return ChangeReply("PROPOSED", known.incoming, conflict=known.id, deduplicated=True)
    return ChangeReply("NOOP", memory_id, deduplicated=known.resolution == Action.REJECT.value)


def _check_room(tx: Tx, client: ClientRecord) -> None:
    if count_open_change_requests(tx, client.id) >= OPEN_AT_MOST:
        raise UserError(
            Code.RATE_LIMITED,
            f"{OPEN_AT_MOST} requests of this client wait for the person already; ask again when some are decided.",
        )


def _open_request(transitions: Transitions, request: ChangeRequest, matter: ItemSubject, side: _Side) -> str:
    item = transitions.open_conflict(matter)
    if item is None:
        raise BugError("a request that was decided before")
    if item in transitions.opened:
        record_request(transitions.tx, item, request.change, side.client.id, (request.reason or "").strip() or None)
    return item
