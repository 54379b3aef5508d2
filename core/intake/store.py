"""Storing one text that somebody gives: the owner, or a client with its grants."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import Evidenced, draft_given
from core.errors import Code, UserError
from core.intake.belief_inputs import age_days, refresh_trust
from core.intake.parts import cut, parted
from core.intake.unit_of_work import UnitOfWork, Verb
from core.intake.validate import (
    CLIENT_TEXT_BYTES,
    check_claim,
    check_importance,
    check_space_name,
    check_text,
    claim_validity,
    is_plain_label,
)
from core.memory.draft import Draft, content_hash, to_json
from core.memory.spaces import ensure_space
from core.memory.write import Stored, VectorSpace, insert_memories, write_vectors
from core.score.trust import trust_terms
from core.types.replies import Classification, ClientRecord, StoreReply
from core.types.requests import StoreRequest
from core.types.values import Actor, When
from core.types.words import HOME_SPACE, Grant, Kind, Role, Source, Status
from core.vault.rows import Rows
from core.vault.tx import Tx

KINDS_BY_TEXT = (Kind.FACT, Kind.RULE, Kind.PROCEDURE)
"""Kinds that are one memory where they are the same words; an episode is verbatim and may repeat."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A request that may be stored.

    Attributes:
        texts: the parts it is stored in.
        claim: the given claim with its defaults, if any.
        validity: from when and until when the claim holds.
        proposed: it only lands in review.
    """

    request: StoreRequest
    texts: tuple[str, ...]
    importance: float
    claim: dict[str, object] | None
    validity: tuple[When | None, When | None]
    proposed: bool


def check_request(request: StoreRequest, client: ClientRecord | None) -> Checked:
    """Refuse what cannot be stored; nothing is written.

    Args:
        request: what is asked.
        client: who asks; None for the owner.

    Returns:
        The request with its parts and defaults.

    Raises:
        UserError: INVALID_INPUT, TEXT_TOO_LARGE, ACCESS_DENIED, FORBIDDEN_FIELD.
    """
    check_text(request.text, None if client is None else CLIENT_TEXT_BYTES)
    for name in (request.ref, request.session, request.author, request.category, *request.tags):
        if name is not None and (len(name) > 1024 or not is_plain_label(name)):
            raise UserError(Code.INVALID_INPUT, "A label holds a character that cannot be stored or is too long.")
    if request.space is not None:
        check_space_name(request.space)
    claim = None if request.claim is None else check_claim(request.claim)
    validity = (None, None) if claim is None else claim_validity(claim)
    return Checked(
        request, cut(request.text), check_importance(request.importance), claim, validity, _proposed(request, client)
    )


def _proposed(request: StoreRequest, client: ClientRecord | None) -> bool:
    if client is None:
        return False
    if request.source is Source.USER_EXPLICIT and Grant.SPEAK_FOR_USER.value not in client.grants:
        raise UserError(Code.FORBIDDEN_FIELD, "This client may not speak for the person (source user_explicit).")
    if Grant.WRITE.value in client.grants:
        return False
    if Grant.PROPOSE.value in client.grants:
        return True
    raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")


@dataclass(frozen=True, slots=True)
class Keeper:
    """Stores checked requests.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space of the vectors handed in.
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace

    def store(
        self,
        tx: Tx,
        checked: Checked,
        vectors: NDArray[np.float32],
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
    ) -> StoreReply:
        """Store one text in one transaction.

        Args:
            tx: the transaction.
            checked: from `check_request`.
            vectors: one unit row a part, (parts, dims).
            actor: who asks.
            client: the client, if one asks.
            stored: told sequence, labels and vectors of new rows, for the index.

        Returns:
            What happened.

        Raises:
            UserError: ACCESS_DENIED for a space out of reach, INVALID_INPUT for a request id used otherwise.
        """
        request = checked.request
        again = self._seen(tx, request, actor)
        if again is not None:
            return again
        label = "Propose a memory" if checked.proposed else f"Remember a {request.kind.value}"
        with self.work.verb(tx, "store", label, actor) as verb:
            space_id = self._space(tx, request, client)
            reply = self._known(tx, verb, checked, space_id, actor, client)
            if reply is None:
                reply = self._add(tx, verb, checked, vectors, space_id, actor, client, stored)
        if request.request_id is not None:
            tx.run(
                "INSERT INTO requests (actor, request_id, digest, reply, at) VALUES (?, ?, ?, ?, ?)",
                (_who(actor), request.request_id, _digest(request), to_json(asdict(reply)), tx.now_ms),
            )
        return reply

    def _seen(self, tx: Tx, request: StoreRequest, actor: Actor) -> StoreReply | None:
        if request.request_id is None:
            return None
        row = tx.one(
            "SELECT digest, reply FROM requests WHERE actor = ? AND request_id = ?", (_who(actor), request.request_id)
        )
        if row is None:
            return None
        if row[0] != _digest(request):
            raise UserError(Code.INVALID_INPUT, "This request_id was used for another text before; choose a new one.")
        reply = json.loads(row[1])
        reply["superseded"] = tuple(reply["superseded"])
        reply["classification"] = Classification(**reply["classification"])
        return StoreReply(**reply)

    def _space(self, tx: Tx, request: StoreRequest, client: ClientRecord | None) -> str:
        if client is None:
            return ensure_space(tx, request.space or HOME_SPACE, self.make_id())
        if request.space is None:
            return client.own_space_id
        known = tx.value("SELECT id FROM spaces WHERE name = ?", (request.space,))
        allowed = known is not None and (
            known == client.own_space_id or known in client.space_ids or Grant.ALL_SPACES.value in client.grants
        )
        if not allowed or request.space == "GLOBAL":
            raise UserError(Code.ACCESS_DENIED, "This client may not write into that space.")
        return str(known)

    def _known(
        self, tx: Tx, verb: Verb, checked: Checked, space_id: str, actor: Actor, client: ClientRecord | None
    ) -> StoreReply | None:
        """The same text stands already: corroborate it instead of storing it twice."""
        if checked.request.kind not in KINDS_BY_TEXT:
            return None
        if checked.proposed:
            return self._proposed_before(tx, verb, checked, space_id, actor)
        known = standing_twin(tx, checked.texts, checked.request.kind, space_id)
        if known is None:
            return None
        source = Lineage.of_actor(actor, checked.request.session)
        corroborate(tx, known, source, _source(checked.request, client))
        if checked.claim is not None:
            self._claim(tx, checked, known, checked.texts[0], source.key, space_id)
        return _nothing_new(verb, known)

    def _proposed_before(self, tx: Tx, verb: Verb, checked: Checked, space_id: str, actor: Actor) -> StoreReply | None:
        """The same text waits for the person already, or stands: it is not proposed again, and confirms nothing."""
        kind, claim = checked.request.kind, checked.claim
        waiting = waiting_twin(tx, checked.texts, kind, space_id, actor.client_id)
        if waiting is not None:
            if claim is not None:
                lineage = Lineage.of_actor(actor, checked.request.session).key
                self._claim(tx, checked, waiting, checked.texts[0], lineage, space_id)
            return _nothing_new(verb, waiting)
        # With a claim it says more than what stands; that is for the person to see.
        known = standing_twin(tx, checked.texts, kind, space_id) if claim is None else None
        return None if known is None else _nothing_new(verb, known)

    def _add(
        self,
        tx: Tx,
        verb: Verb,
        checked: Checked,
        vectors: NDArray[np.float32],
        space_id: str,
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
    ) -> StoreReply:
        draft = self._draft(tx, checked, space_id, actor, client)
        whole = parted(draft, checked.texts, self.make_id)
        labels = insert_memories(tx, whole.drafts)
        write_vectors(tx, labels, vectors, self.space)
        source = Lineage.of_actor(actor, checked.request.session)
        for part in whole.drafts:
            add_source(tx, part.id, source, draft.source)
        if checked.claim is not None:
            self._claim(tx, checked, draft.id, whole.head.text, draft.lineage, space_id)
        conflict = self._review(tx, draft, space_id) if checked.proposed else None
        seq = tx.seq
        tx.after_commit(lambda: stored(seq, labels, vectors))
        operation = "PROPOSED" if checked.proposed else "ADD"
        verb.note(draft.id, operation=operation, parts=len(labels))
        return StoreReply(operation, draft.id, conflict=conflict)

    def _draft(self, tx: Tx, checked: Checked, space_id: str, actor: Actor, client: ClientRecord | None) -> Draft:
        request = checked.request
        source = _source(request, client)
        said = tx.now_ms if request.occurred is None else request.occurred.ms
        trust = trust_terms(
            source,
            age_days=age_days(tx.now_ms, said),
            client_ceiling=None if client is None else client.trust_ceiling,
        ).trust
        return Draft(
            id=self.make_id(),
            text=request.text,
            kind=request.kind,
            status=Status.QUARANTINED if checked.proposed else Status.ACTIVE,
            status_reason="proposed" if checked.proposed else None,
            space_id=space_id,
            source=source,
            role=_role(source),
            author=request.author,
            lineage=Lineage.of_actor(actor, request.session).key,
            recorded_at=tx.now_ms,
            trust=trust,
            last_confirmed_at=tx.now_ms,
            client_id=actor.client_id,
            category=request.category,
            importance=checked.importance,
            tags=request.tags,
            session=request.session,
            ref=request.ref,
            origin={"by": actor.kind},
            occurred=request.occurred or When(tx.now_ms),
            valid_from=checked.validity[0],
            valid_to=checked.validity[1],
        )

    def _claim(self, tx: Tx, checked: Checked, memory_id: str, text: str, lineage: str, space_id: str) -> None:
        trust = float(tx.value("SELECT trust FROM memories WHERE id = ?", (memory_id,)))
        on = Evidenced(memory_id, text, space_id, lineage, tx.now_ms, trust)
        draft_given(tx, checked.claim or {}, on, (self.make_id(), self.make_id()), checked.validity)

    def _review(self, tx: Tx, draft: Draft, space_id: str) -> str:
        return open_review(tx, self.make_id(), draft.id, space_id, "proposal", "A client proposes this.")


@dataclass(frozen=True, slots=True)
class Lineage:
    """An independent source (design section 4).

    Attributes:
        key: two texts with equal keys are one source.
    """

    key: str
    client_id: str | None = None
    session: str | None = None
    import_id: str | None = None

    @classmethod
    def of_actor(cls, actor: Actor, session: str | None) -> Lineage:
        """The lineage of somebody who speaks: the owner is one source in all sessions, a client one a session."""
        if actor.client_id is None:
            return cls(actor.kind, session=session)
        return cls(f"client:{actor.client_id}:{session or actor.session or ''}", actor.client_id, session)


def _nothing_new(verb: Verb, known: str) -> StoreReply:
    verb.note(known, operation="NOOP")
    return StoreReply("NOOP", known, deduplicated=True, classification=Classification("DUPLICATE", 1.0, "rules"))


def standing_twin(rows: Rows, texts: Sequence[str], kind: Kind, space_id: str) -> str | None:
    """Find a memory of the same kind and words that stands in a space.

    Args:
        rows: a vault snapshot or a transaction.
        texts: the text in its parts.
        kind: what it is.
        space_id: where.

    Returns:
        The memory's id, that of the first part for a split text; None where there is none.
    """
    found = rows.all(
        "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = '' "
        "AND coalesce(part_index, 0) = 0 AND status IN ('active', 'disputed') ORDER BY n",
        (content_hash(texts[0]), space_id, kind.value),
    )
    return _same_parts(rows, found, texts)


def waiting_twin(rows: Rows, texts: Sequence[str], kind: Kind, space_id: str, client_id: str | None) -> str | None:
    """Find a proposal of the same client, kind and words that waits in a space.

    Args:
        rows: a vault snapshot or a transaction.
        texts: the text in its parts.
        kind: what it is.
        space_id: where.
        client_id: who proposed it.

    Returns:
        The memory's id, that of the first part for a split text; None where there is none.
    """
    found = rows.all(
        "SELECT id FROM memories WHERE content_hash = ? AND space_id = ? AND kind = ? AND scope_session = '' "
        "AND coalesce(part_index, 0) = 0 AND status = 'quarantined' AND client_id = ? ORDER BY n",
        (content_hash(texts[0]), space_id, kind.value, client_id),
    )
    return _same_parts(rows, found, texts)


def _same_parts(rows: Rows, found: Sequence[Sequence[object]], texts: Sequence[str]) -> str | None:
    wanted = [(content_hash(text),) for text in texts]
    for (memory_id,) in found:
        held = rows.all(
            "SELECT content_hash FROM memories WHERE id = ? OR part_of = ? ORDER BY part_index", (memory_id, memory_id)
        )
        if held == wanted:
            return str(memory_id)
    return None


def add_source(tx: Tx, memory_id: str, lineage: Lineage, source: Source) -> bool:
    """Note an independent source of a memory.

    Returns:
        Whether this lineage was new to the memory.
    """
    if tx.one("SELECT 1 FROM memory_sources WHERE memory_id = ? AND lineage = ?", (memory_id, lineage.key)):
        return False
    tx.insert(
        "memory_sources",
        {
            "memory_id": memory_id,
            "lineage": lineage.key,
            "source": source.value,
            "client_id": lineage.client_id,
            "session": lineage.session,
            "import_id": lineage.import_id,
            "at": tx.now_ms,
        },
    )
    return True


def corroborate(tx: Tx, memory_id: str, lineage: Lineage, source: Source) -> bool:
    """Another source says the same: note it, with every part of a split text, and recompute trust.

    Returns:
        Whether the source was independent of those known.
    """
    new = False
    for (part,) in tx.all("SELECT id FROM memories WHERE id = ? OR part_of = ?", (memory_id, memory_id)):
        if add_source(tx, part, lineage, source):
            refresh_trust(tx, part)
            new = True
    return new


def open_review(tx: Tx, item_id: str, memory_id: str, space_id: str, kind: str, reason: str) -> str:
    """Open a review item for a memory that waits for a person.

    Returns:
        The item's id.
    """
    tx.insert(
        "conflicts",
        {
            "id": item_id,
            "kind": kind,
            "incoming_id": memory_id,
            "space_id": space_id,
            "reason": reason,
            "fingerprint": hashlib.sha256(f"{kind}:{memory_id}".encode()).digest(),
            "opened_at": tx.now_ms,
        },
    )
    return item_id


def _source(request: StoreRequest, client: ClientRecord | None) -> Source:
    if request.source is not None:
        return request.source
    return Source.USER_EXPLICIT if client is None else Source.INFERENCE


def _role(source: Source) -> Role:
    if source in (Source.USER_EXPLICIT, Source.USER_IMPLICIT):
        return Role.USER
    if source is Source.TOOL_OUTPUT:
        return Role.TOOL
    return Role.SOURCE if source is Source.DOCUMENT else Role.ASSISTANT


def _who(actor: Actor) -> str:
    return actor.client_id or actor.kind


def _digest(request: StoreRequest) -> bytes:
    whole = {**asdict(request), "request_id": None}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).digest()
