"""The client's half of the handshake as a value: what it says, and what it wants to see before it shows its own proof.

Must not do: any socket work; that is the two clients, the one that waits and the one on a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any, Self

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.protocol.messages import PROTOCOL
from core.security.handshake import (
    MAC_BYTES,
    NONCE_BYTES,
    TOKEN_BYTES,
    client_mac,
    decode_value,
    encode_value,
    new_nonce,
    server_proof,
)

VAULT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the server says once both sides have shown their proof."""

    grants: tuple[str, ...]
    spaces: tuple[str, ...]
    limits: Mapping[str, Any]
    server: Mapping[str, Any]

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        """Read the answer to `auth`."""
        limits, server = reply.get("limits", {}), reply.get("server", {})
        return cls(tuple(reply.get("grants", ())), tuple(reply.get("spaces", ())), limits, server)


@dataclass(frozen=True, slots=True)
class Pairing:
    """A pairing that the person allowed.

    Attributes:
        client: the name to greet with from now on.
        token: 32 bytes; keep it where only this user can read it.
    """

    client: str
    token: bytes = field(repr=False)
    grants: tuple[str, ...]

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Self:
        """Read the answer to `pair`."""
        token = decode_value(str(reply["token"]), TOKEN_BYTES)
        return cls(str(reply["client"]), token, tuple(reply["grants"]))


@dataclass(frozen=True, slots=True)
class Greeting:
    """One handshake of one client.

    Attributes:
        name: the client's name, or `@owner`.
        token: 32 bytes; never sent.
        vault: the vault that is meant, 16 bytes; None where the client does not know it yet.
        nonce: made for this handshake.
    """

    name: str
    token: bytes = field(repr=False)
    vault: bytes | None = None
    nonce: bytes = field(default_factory=new_nonce, repr=False)

    def hello(self) -> dict[str, Any]:
        """What `hello` is sent with."""
        return {"protocol": PROTOCOL, "client": self.name, "nonce": encode_value(self.nonce)}

    def auth(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """What `auth` is sent with, once the server has proved itself.

        Args:
            reply: the answer to `hello`.

        Returns:
            The parameters of `auth`.

        Raises:
            EnvironmentFaultError: VAULT_BUSY when another vault answers.
            UserError: UNAUTHENTICATED when the server does not hold the token.
        """
        theirs = decode_value(str(reply.get("vault", "")), VAULT_BYTES)
        if self.vault is not None and not compare_digest(theirs, self.vault):
            raise EnvironmentFaultError(Code.VAULT_BUSY, "Another vault answers on the socket of this one.")
        ns = decode_value(str(reply.get("nonce", "")), NONCE_BYTES)
        proof = decode_value(str(reply.get("proof", "")), MAC_BYTES)
        if not compare_digest(proof, server_proof(self.token, self.nonce, ns, theirs)):
            raise UserError(
                Code.UNAUTHENTICATED, "The server does not know this client, or it is not Loci; nothing was sent to it."
            )
        return {"mac": encode_value(client_mac(self.token, self.nonce, ns, theirs))}


def not_loci() -> UserError:
    """What answers on the socket speaks something else."""
    return UserError(Code.UNAUTHENTICATED, "The program on the socket does not speak Loci's protocol.")


def refused_hello(error: LociError) -> LociError:
    """What a refusal of `hello` means: whoever cannot read it is no server of ours."""
    return not_loci() if error.code is Code.MALFORMED_MESSAGE else error
