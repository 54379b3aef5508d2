"""A request to store: made of the parts of a fact, checked, put in context; and what its answer may disclose.

An answer tells no more than its client may look up. To a client that may not read, every request is answered alike: the
text is taken, under an id of its own. Once as many of its questions wait as may, it gets the refusal, whatever it
brings (`core.intake.transaction.question_quota`); texts that stand already or were erased do not count, so a client
that counts how many were taken before the bound learns how many of them were new, once for all that fits below it (500
questions in 30 days by default). For a client that may read, what is hidden from it does not exist: no answer names it
or differs because of it. An erased text is not stored again unless the person says it anew, and nobody is told so.

Must not do: store anything, judge whether it is true, or decide what becomes of a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.extract.normal_form import value_key
from core.errors import Code, UserError
from core.intake.claims import Extract
from core.intake.transaction.admission import (
    CLIENT_TEXT_BYTES,
    NO_IDS,
    check_importance,
    check_memory_text,
    check_space_name,
    cut_text,
    erased_texts,
    is_plain_label,
    lift_tombstones,
)
from core.intake.transaction.claim_checks import check_claim, claim_validity, is_exclusive
from core.intake.transaction.question_quota import check_waiting
from core.intake.transaction.sources import Lineage
from core.intake.transaction.unit_of_work import UnitOfWork
from core.memory.write import Stored
from core.score.decay import check_permanence
from core.text.screening.injection import ScreenedText, screen_text
from core.types.clients import ClientRecord
from core.types.replies import Classification, StoreReply
from core.types.requests import FactRequest, StoreRequest
from core.types.values import PERSON_SOURCES, Actor, Grant, Role, Source, When, limit_of
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx
from core.vault.memory_sql import given_sql, let_in_sql


def reply_if_tombstoned(
    tx: Tx, work: UnitOfWork, make_id: Callable[[], str], parts: Sequence[str], label: str, actor: Actor
) -> StoreReply | None:
    """The reply to somebody who brings an erased text.

    It is the answer to a text that is known already: a refusal of its own would tell a client what there was. Who reads
    finds no memory under the id, and can take it for a text that is gone (the reference says so); who may not is told
    what it is told of any text (`core.intake.store.requests`).

    Args:
        tx: the transaction that would store it.
        work: opens the verb, for its line in the audit.
        make_id: makes the id of the memory that there is not.
        label: the verb in words.
        actor: who brings it; where it is the person, the tombstone goes.

    Returns:
        The answer; None where the text may be stored.
    """
    texts = ["".join(parts), *parts]
    if actor.is_owner:
        lift_tombstones(tx, texts)
        return None
    if not erased_texts(tx, texts):
        return None
    with work.verb(tx, "store", label, actor) as verb:
        verb.note_audit(operation="NOOP", erased=True)
    return StoreReply("NOOP", make_id(), deduplicated=True, classification=Classification("DUPLICATE", 1.0, "rules"))


_KEPT_FROM = (
    "SELECT m.id FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) "  # noqa: S608 - constants
    f"AND NOT ({given_sql(':own')} AND {let_in_sql()})"
)
_SIDES = "SELECT existing_id, incoming_id FROM conflicts WHERE id = ?"


def may_not_read(client: ClientRecord | None) -> bool:
    """Whether a writer may not read at all.

    Args:
        client: who writes; None for the owner.
    """
    return client is not None and Grant.READ.value not in client.grants


def check_room(rows: Rows, actor: Actor, client: ClientRecord | None, most: int, now_ms: int) -> None:
    """Refuse a writer that may not read once as many of its questions wait as may: whatever it brings, it is the same.

    What waits is counted, not what it was told waits.

    Args:
        rows: the transaction, before anything is done.
        actor: who writes; `client` is the client, if one writes.
        client: see there.
        most: so many may be open.

    Raises:
        UserError: RATE_LIMITED.
    """
    if may_not_read(client):
        check_waiting(rows, actor, most, now_ms, coming=1)


def visible_reply(
    rows: Rows,
    make_id: Callable[[], str],
    reply: StoreReply,
    checked: CheckedRequest,
    client: ClientRecord | None,
    own_id: str,
) -> StoreReply:
    """The reply with no more than its asker may know.

    Args:
        rows: the transaction that did it.
        client: who asked; None for the owner.
        own_id: the id that the asker's own row has, or would have had.

    Returns:
        The reply; to a writer that may not read, one that follows from what it asked alone. An id in it may lead
        nowhere: it could not look there.
    """
    if client is None:
        return reply
    if may_not_read(client):
        return _reply_as_taken(make_id, checked, own_id, reply.conflict if reply.memory_id == own_id else None)
    hidden = _find_hidden(rows, reply, client)
    if not hidden:
        return reply
    if reply.memory_id in hidden:
        against = _existing_side_of(rows, reply.conflict)
        is_held = reply.operation == "QUARANTINE" and against is not None and against not in hidden
        return StoreReply("QUARANTINE" if is_held else "ADD", own_id)
    superseded = tuple(one for one in reply.superseded if one not in hidden)
    is_about = _existing_side_of(rows, reply.conflict) in hidden
    if is_about or len(superseded) < len(reply.superseded):
        operation = "SUPERSEDE" if superseded else "ADD"
        return replace(reply, operation=operation, superseded=superseded, conflict=None if is_about else reply.conflict)
    return reply


def reply_for_skipped(
    make_id: Callable[[], str], checked: CheckedRequest, client: ClientRecord | None
) -> StoreReply | None:
    """The answer to a text of several that is not stored: it was erased, or is known already.

    Args:
        client: who asked; None for the owner.

    Returns:
        To a writer that may not read, the answer to any text; None to others, who are told that it was left out.
    """
    return _reply_as_taken(make_id, checked, make_id(), None) if may_not_read(client) else None


def _reply_as_taken(
    make_id: Callable[[], str], checked: CheckedRequest, own_id: str, conflict: str | None
) -> StoreReply:
    if not checked.waits:
        return StoreReply("ADD", own_id)
    return StoreReply("QUARANTINE" if checked.screened.waits else "PROPOSED", own_id, conflict=conflict or make_id())


def _find_hidden(rows: Rows, reply: StoreReply, client: ClientRecord) -> frozenset[str]:
    """Memories that an answer names, or its question is about, and the asker is kept from."""
    named = [reply.memory_id, *reply.superseded]
    if reply.conflict is not None:
        named += [one for row in rows.all(_SIDES, (reply.conflict,)) for one in row if one is not None]
    return _hidden_ids(rows, named, client.id, None if Grant.CURATE.value in client.grants else client.id)


def is_sealed(rows: Rows, memory_id: str | None, client: ClientRecord | None) -> bool:
    """Whether a memory is sealed from a writer: then it is no twin of what the writer brings.

    Args:
        memory_id: the memory; None for none.
        client: who writes; None for the owner, from whom nothing is sealed.
    """
    return client is not None and memory_id is not None and bool(_hidden_ids(rows, [memory_id], client.id, None))


def _hidden_ids(rows: Rows, ids: Iterable[str], own: str, asker: str | None) -> frozenset[str]:
    given = {"ids": json.dumps(list(ids)), "own": own, "asker": asker}
    return frozenset(str(row[0]) for row in rows.all(_KEPT_FROM, given))


def _existing_side_of(rows: Rows, conflict: str | None) -> str | None:
    row = None if conflict is None else rows.one(_SIDES, (conflict,))
    return None if row is None or row[0] is None else str(row[0])


@dataclass(frozen=True, slots=True)
class StoreContext:
    """One request on its way in.

    Attributes:
        actor: who asks; `client` is the client, if one asks.
        space_id: where it goes.
        vectors: one unit row a part, (parts, dims); None where the embedder is away: they are made later.
        stored: told sequence, labels and vectors of new rows, for the index.
        handed: memories given to that client that are not written down yet.
        memory_id: the id its row gets, if it gets one.
    """

    checked: CheckedRequest
    actor: Actor
    client: ClientRecord | None
    space_id: str
    vectors: NDArray[np.float32] | None
    stored: Stored
    handed: frozenset[str] = NO_IDS
    memory_id: str = ""

    @property
    def source(self) -> Source:
        """By what way it came."""
        return default_source(self.checked.request, self.client)

    @property
    def lineage(self) -> Lineage:
        """Its independent source."""
        return Lineage.of_actor(self.actor, self.checked.request.session)


_VALUE_CHARACTERS = 1024
_BARE_WORDS = 12
_ENDS = (".", "!", "?", "\u2026", "\u3002")


def store_request_from_fact(fact: FactRequest, extract: Extract, now_ms: int) -> StoreRequest:
    """Make a request to store out of a fact's parts (seed B, `store_fact`; design section 4, claim given).

    A text that is a bare value ("Graz") would say nothing by itself: it becomes "Anna lives in: Graz". A sentence stays
    byte for byte as it came.

    Args:
        extract: reads claims; what it reads of the same subject and predicate is the value of a sentence.

    Returns:
        The request with its claim, not yet checked.

    Raises:
        UserError: INVALID_INPUT where the value of a long text is not given.
    """
    text = fact.store.text
    bare = fact.value is None and is_bare_value(text, fact.subject)
    if bare:
        value, text = text.strip(), f"{fact.subject} {fact.predicate.replace('_', ' ')}: {text.strip()}"
    else:
        value = fact.value or _value_of_fact(fact, extract, now_ms)
    claim: dict[str, Any] = {"subject": fact.subject, "predicate": fact.predicate, "value": value}
    claim |= {name: at for name, at in (("valid_from", fact.valid_from), ("valid_to", fact.valid_to)) if at is not None}
    return replace(fact.store, text=text, claim=claim)


def is_bare_value(text: str, subject: str) -> bool:
    """Whether a text is a value without a sentence around it.

    Args:
        subject: whom it is about.

    Returns:
        True for up to twelve words that do not name the subject and end no sentence.
    """
    plain = text.strip()
    named = subject.casefold() in plain.casefold()
    return not named and not plain.endswith(_ENDS) and 0 < len(plain.split()) <= _BARE_WORDS


def _value_of_fact(fact: FactRequest, extract: Extract, now_ms: int) -> str:
    occurred_ms = None if fact.store.occurred is None else fact.store.occurred.ms
    for read in extract(fact.store.text, now_ms=now_ms, said_ms=occurred_ms):
        if read.predicate == fact.predicate and value_key(read.subject) == value_key(fact.subject):
            return read.value
    if len(fact.store.text) > _VALUE_CHARACTERS:
        raise UserError(Code.INVALID_INPUT, "The text is too long to be the value itself; give `value` beside it.")
    return fact.store.text


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request that may be stored.

    Attributes:
        texts: the parts it is stored in.
        claim: the given claim with its defaults, if any.
        validity: from when and until when the claim holds.
        proposed: it only lands in review.
        scope_session: the session the claim is limited to; "" for none.
        talk: the conversation it is a message of and its place there; two Nones outside conversations.
        screened: whether it reads like an instruction.
    """

    request: StoreRequest
    texts: tuple[str, ...]
    importance: float
    claim: dict[str, object] | None
    validity: tuple[When | None, When | None]
    proposed: bool
    scope_session: str = ""
    talk: tuple[str | None, int | None] = (None, None)
    screened: ScreenedText = field(default_factory=ScreenedText)

    @property
    def waits(self) -> bool:
        """Whether it only lands in review: proposed, or because it reads like an instruction."""
        return self.proposed or self.screened.waits


def check_request(
    request: StoreRequest, client: ClientRecord | None, client_bytes: int = CLIENT_TEXT_BYTES
) -> CheckedRequest:
    """Refuse what cannot be stored; nothing is written.

    Args:
        client: who asks; None for the owner.
        client_bytes: UTF-8 bytes a client's text may have.

    Returns:
        The request with its parts and defaults.

    Raises:
        UserError: INVALID_INPUT, TEXT_TOO_LARGE, ACCESS_DENIED, FORBIDDEN_FIELD.
    """
    check_memory_text(request.text, None if client is None else client_bytes)
    for name in (request.ref, request.session, request.author, request.category, *request.tags):
        if name is not None and (len(name) > 1024 or not is_plain_label(name)):
            raise UserError(Code.INVALID_INPUT, "A label holds a character that cannot be stored or is too long.")
    if request.space is not None:
        check_space_name(request.space)
    if request.permanence is not None:
        check_permanence(request.permanence)
    claim = None if request.claim is None else check_claim(request.claim)
    if claim is not None and client is not None:
        claim["exclusive"] = is_exclusive(claim)
    validity = (None, None) if claim is None else claim_validity(claim)
    return CheckedRequest(
        request,
        cut_text(request.text),
        check_importance(request.importance),
        claim,
        validity,
        _is_proposal(request, client),
        _scope_limit(request, claim),
        screened=screen_text(request.text, claim, stranger=client is not None),
    )


def _scope_limit(request: StoreRequest, claim: dict[str, object] | None) -> str:
    """The channel it is limited to, and the session where a claim has the scope `session` (seed A, claims; E12a)."""
    if claim is None or claim.get("scope") != "session":
        return limit_of(request.channel, None)
    if not request.session:
        raise UserError(Code.INVALID_INPUT, "A claim with the scope session needs the session it is limited to.")
    return limit_of(request.channel, request.session)


def _is_proposal(request: StoreRequest, client: ClientRecord | None) -> bool:
    if client is None:
        return False
    check_source_allowed(request.source, client)
    if Grant.WRITE.value in client.grants:
        return False
    if Grant.PROPOSE.value in client.grants:
        return True
    raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")


def check_source_allowed(source: Source | None, client: ClientRecord) -> None:
    """Refuse a way that is not a client's to claim: the person's word, unless it was granted, and Loci's own.

    `tool_output` and the weaker ones are a client's own account of how it knows; whatever it says, its memories are
    trusted no more than its ceiling.

    Args:
        source: what it says; None for nothing.

    Raises:
        UserError: FORBIDDEN_FIELD.
    """
    if source is Source.USER_EXPLICIT and Grant.SPEAK_FOR_USER.value not in client.grants:
        raise UserError(Code.FORBIDDEN_FIELD, "This client may not speak for the person (source user_explicit).")
    if source is Source.SYSTEM:
        raise UserError(Code.FORBIDDEN_FIELD, "The source system is Loci's own; say tool_output or leave it out.")


def default_source(request: StoreRequest, client: ClientRecord | None) -> Source:
    """By what way it came: as the caller says, else the owner's word, or a client's inference."""
    if request.source is not None:
        return request.source
    return Source.USER_EXPLICIT if client is None else Source.INFERENCE


def default_role(source: Source) -> Role:
    """Whose words a text of that way is."""
    if source in PERSON_SOURCES:
        return Role.USER
    if source is Source.TOOL_OUTPUT:
        return Role.TOOL
    return Role.SOURCE if source is Source.DOCUMENT else Role.ASSISTANT
