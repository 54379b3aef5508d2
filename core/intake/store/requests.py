"""A request to store: made of the parts of a fact, checked (what, by whom, with which defaults), and in context.

Must not do: store anything, or judge whether it is true.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims.claims import key_form
from core.errors import Code, UserError
from core.intake.transaction.echo_guard import NO_IDS
from core.intake.transaction.sources import Lineage
from core.intake.transaction.text_parts import cut_text
from core.intake.transaction.text_readers import Extract
from core.intake.transaction.validation import (
    CLIENT_TEXT_BYTES,
    check_claim,
    check_importance,
    check_space_name,
    check_text,
    claim_validity,
    is_exclusive,
    is_plain_label,
)
from core.intake.transitions.injection_hold import ScreenedText, screen_text
from core.memory.write import Stored
from core.score.decay import check_permanence
from core.types.clients import limit_of
from core.types.replies import ClientRecord
from core.types.requests import FactRequest, StoreRequest
from core.types.values import Actor, Grant, Role, Source, When


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


def to_store_request(fact: FactRequest, extract: Extract, now_ms: int) -> StoreRequest:
    """Make a request to store out of a fact's parts (seed B, `store_fact`; design section 4, claim given).

    A text that is a bare value ("Graz") would say nothing by itself: it becomes "Anna lives in: Graz". A sentence stays
    byte for byte as it came.

    Args:
        fact: the parts.
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
        value = fact.value or _value(fact, extract, now_ms)
    claim: dict[str, Any] = {"subject": fact.subject, "predicate": fact.predicate, "value": value}
    claim |= {name: at for name, at in (("valid_from", fact.valid_from), ("valid_to", fact.valid_to)) if at is not None}
    return replace(fact.store, text=text, claim=claim)


def is_bare_value(text: str, subject: str) -> bool:
    """Whether a text is a value without a sentence around it.

    Args:
        text: as given.
        subject: whom it is about.

    Returns:
        True for up to twelve words that do not name the subject and end no sentence.
    """
    plain = text.strip()
    named = subject.casefold() in plain.casefold()
    return not named and not plain.endswith(_ENDS) and 0 < len(plain.split()) <= _BARE_WORDS


def _value(fact: FactRequest, extract: Extract, now_ms: int) -> str:
    said = None if fact.store.occurred is None else fact.store.occurred.ms
    for read in extract(fact.store.text, now_ms=now_ms, said_ms=said):
        if read.predicate == fact.predicate and key_form(read.subject) == key_form(fact.subject):
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
        request: what is asked.
        client: who asks; None for the owner.
        client_bytes: UTF-8 bytes a client's text may have.

    Returns:
        The request with its parts and defaults.

    Raises:
        UserError: INVALID_INPUT, TEXT_TOO_LARGE, ACCESS_DENIED, FORBIDDEN_FIELD.
    """
    check_text(request.text, None if client is None else client_bytes)
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
        _proposed(request, client),
        _scope(request, claim),
        screened=screen_text(request.text, claim, stranger=client is not None),
    )


def _scope(request: StoreRequest, claim: dict[str, object] | None) -> str:
    """The channel it is limited to, and the session where a claim has the scope `session` (seed A, claims; E12a)."""
    if claim is None or claim.get("scope") != "session":
        return limit_of(request.channel, None)
    if not request.session:
        raise UserError(Code.INVALID_INPUT, "A claim with the scope session needs the session it is limited to.")
    return limit_of(request.channel, request.session)


def _proposed(request: StoreRequest, client: ClientRecord | None) -> bool:
    if client is None:
        return False
    check_source(request.source, client)
    if Grant.WRITE.value in client.grants:
        return False
    if Grant.PROPOSE.value in client.grants:
        return True
    raise UserError(Code.ACCESS_DENIED, "This client may read but not write; ask the person to grant it.")


def check_source(source: Source | None, client: ClientRecord) -> None:
    """Refuse a way that is not a client's to claim: the person's word, unless it was granted, and Loci's own.

    `tool_output` and the weaker ones are a client's own account of how it knows; whatever it says, its memories are
    trusted no more than its ceiling.

    Args:
        source: what it says; None for nothing.
        client: who says so.

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
    if source in (Source.USER_EXPLICIT, Source.USER_IMPLICIT):
        return Role.USER
    if source is Source.TOOL_OUTPUT:
        return Role.TOOL
    return Role.SOURCE if source is Source.DOCUMENT else Role.ASSISTANT
