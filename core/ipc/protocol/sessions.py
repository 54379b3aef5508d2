"""Who a connection is: the handshake's state, and the session it ends in. Identity comes from here and nowhere else.

Must not do: any I/O; believe a parameter.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.errors import Code, UserError
from core.security.handshake import (
    MAC_BYTES,
    NONCE_BYTES,
    client_mac,
    decode_value,
    encode_value,
    new_nonce,
    new_token,
    server_proof,
)
from core.types.clients import ClientRecord, owner_record
from core.types.values import OWNER_ACTOR, OWNER_CHANNEL, Actor, Grant

TokenFor = Callable[[str], ClientRecord | None]


@dataclass(frozen=True, slots=True)
class Session:
    """An authenticated connection's identity.

    Attributes:
        record: the client as it was when it authenticated.
        actor: who makes its calls: the owner, or the client and whom it speaks for.
    """

    record: ClientRecord
    actor: Actor

    def has_any_grant(self, *grants: str) -> bool:
        """Whether the session holds any of the grants; the owner holds all."""
        return self.actor.is_owner or any(grant in self.record.grants for grant in grants)

    def may_see(self, space: str) -> bool:
        """Whether a space is within the session's scope; the same answer whether or not it exists."""
        if self.has_any_grant(Grant.ALL_SPACES.value):
            return True
        return space in ("GLOBAL", f"client:{self.record.name}", *self.record.spaces)

    @property
    def name(self) -> str:
        """The name it greeted with."""
        return OWNER_CHANNEL if self.actor.is_owner else self.record.name

    def is_still_valid(self, token_for: TokenFor) -> bool:
        """Whether the client is still paired, with the same token, and neither paused nor revoked.

        Sleep comes over those that are away, never over a live session.
        """
        now = token_for(self.name)
        return (
            now is not None and not now.paused and not now.revoked and hmac.compare_digest(now.token, self.record.token)
        )

    def refresh_record(self, token_for: TokenFor) -> Session:
        """The same session with the client's present grants and limits."""
        now = token_for(self.name)
        if now is None or now is self.record:
            return self
        return Session(now, self.actor if self.actor.is_owner else replace(self.actor, name=now.name))


def client_session(record: ClientRecord) -> Session:
    """A paired client that speaks for nobody in particular."""
    return Session(record, Actor("client", record.id, record.name))


OWNER_SESSION = Session(owner_record(), OWNER_ACTOR)
"""The person at the command line, in the engine's own process: nothing to authenticate, no limit."""


def is_welcome(record: ClientRecord) -> bool:
    """Whether a client may come in."""
    return not record.paused and not record.revoked and not record.asleep


@dataclass(frozen=True, slots=True)
class _Offer:
    name: str
    record: ClientRecord | None
    token: bytes
    nc: bytes
    ns: bytes


class Handshake:
    """`hello`, then `auth`. For somebody unknown every step costs and looks the same, and `auth` fails."""

    def __init__(self, vault_id: bytes, token_for: TokenFor) -> None:
        self._vault, self._token_for = vault_id, token_for
        self._offer: _Offer | None = None

    @property
    def is_owner(self) -> bool:
        """Whether the owner's channel is what was greeted for."""
        return self._offer is not None and self._offer.name == OWNER_CHANNEL

    def answer_hello(self, name: str, nonce: str) -> dict[str, str]:
        """Answer `hello`.

        Args:
            name: who the caller says it is.
            nonce: nc, base64url of 32 bytes.

        Returns:
            `{nonce, vault, proof}`, of one shape for known and unknown names.

        Raises:
            UserError: MALFORMED_MESSAGE for a nonce of another length.
        """
        nc = decode_value(nonce, NONCE_BYTES)
        ns, stand_in = new_nonce(), new_token()
        record = self._token_for(name)
        known = record is not None and is_welcome(record)
        token = record.token if record is not None and known else stand_in
        self._offer = _Offer(name, record if known else None, token, nc, ns)
        proof = server_proof(token, nc, ns, self._vault)
        return {"nonce": encode_value(ns), "vault": encode_value(self._vault), "proof": encode_value(proof)}

    def answer_auth(self, mac: str) -> Session:
        """Answer `auth`; whatever comes of it, its nonces are used up.

        Args:
            mac: the client's proof, base64url of 32 bytes.

        Raises:
            UserError: UNAUTHENTICATED, in the same words for a wrong proof, an unknown, paused or revoked client and a
                call out of turn; MALFORMED_MESSAGE for a proof of another length.
        """
        offer, self._offer = self._offer, None
        given = decode_value(mac, MAC_BYTES)
        if offer is None:
            raise authentication_error()
        right = hmac.compare_digest(given, client_mac(offer.token, offer.nc, offer.ns, self._vault))
        if not right or offer.record is None:
            raise authentication_error()
        session = Session(offer.record, OWNER_ACTOR) if offer.name == OWNER_CHANNEL else client_session(offer.record)
        if not session.is_still_valid(self._token_for):  # revoked between hello and auth
            raise authentication_error()
        return session


def authentication_error() -> UserError:
    """The one answer to everybody who is not let in."""
    return UserError(Code.UNAUTHENTICATED, "This client is not paired with this vault, or its proof is wrong.")
