"""Pairing and revoking clients: the facade's group for them. Only the owner's verbs reach it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress

from core.config.options import Options
from core.engine.authority import Authority
from core.engine.futures import mapped
from core.engine.opened import Opened
from core.errors import Code, LociError, UserError
from core.intake.belief_inputs import refresh_capped
from core.intake.validate import check_space_name
from core.memory.spaces import ensure_space
from core.types.replies import ClientRecord, Paired
from core.types.values import OWNER_ACTOR, Actor
from core.types.words import Grant
from core.vault.tx import Tx

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")
_SPACE_PREFIX = "space:"
DEFAULT_GRANTS = (Grant.READ.value, Grant.PROPOSE.value)
SPEAKER_CEILING = 0.9
CEILING = 0.85


NO_LIMIT = "none"

Bounds = tuple[int | None, int | None]
"""Searches a minute and a session; None is no limit."""


def check_client_name(name: str) -> str:
    """A client's name.

    Args:
        name: 1 to 40 letters, digits, blanks, dots, dashes and underscores, beginning with a letter or digit.

    Returns:
        The name.

    Raises:
        UserError: INVALID_INPUT.
    """
    if _NAME.fullmatch(name) is None:
        raise UserError(
            Code.INVALID_INPUT, "A client's name has 1 to 40 letters, digits, blanks, dots, dashes or underscores."
        )
    return name


def check_grants(grants: Sequence[str]) -> tuple[str, ...]:
    """Grants as the owner writes them.

    Args:
        grants: words of `Grant`, or `space:<name>`.

    Returns:
        The grants without repeats; read and propose when none is given.

    Raises:
        UserError: INVALID_INPUT.
    """
    words = {grant.value for grant in Grant}
    for grant in grants:
        if grant.startswith(_SPACE_PREFIX):
            check_space_name(grant.removeprefix(_SPACE_PREFIX))
        elif grant not in words:
            raise UserError(
                Code.INVALID_INPUT,
                "A grant is read, propose, write, curate, speak_for_user, all_spaces or space:<name>.",
            )
    return tuple(dict.fromkeys(grants)) or DEFAULT_GRANTS


class Clients:
    """The facade's group for clients."""

    def __init__(self, opened: Callable[[], Opened], authority: Authority) -> None:
        self._opened = opened
        self._authority = authority

    def pair(
        self, name: str, grants: Sequence[str], limit: int | str | None = None, actor: Actor = OWNER_ACTOR
    ) -> Future[Paired]:
        """Pair a client; one that was revoked is paired anew, with a new token.

        Args:
            name: the client's name.
            grants: words or `space:<name>`; read and propose when empty.
            limit: searches a minute; `none` lifts the session's limit too; None for the defaults.
            actor: who asks; the owner.

        Returns:
            The client with its token.

        Raises:
            UserError: INVALID_INPUT for a bad name or grant, or a name in use.
        """
        check_client_name(name)
        wanted = check_grants(grants)
        opened = self._opened()
        bounds = _bounds(limit, opened.options)
        token = secrets.token_bytes(32)

        def write(tx: Tx) -> str:
            with opened.work.verb(tx, "pair", "Pair a client", actor) as verb:
                client_id = self._row(tx, opened, name, token, wanted, bounds)
                self._grant(tx, opened, client_id, wanted)
                verb.note(client_id, grants=len(wanted))
            self._changed(tx, opened, "pair", actor)
            return client_id

        return mapped(opened.write(write), lambda client_id: Paired(client_id, name, token))

    def _changed(self, tx: Tx, opened: Opened, verb: str, actor: Actor) -> None:
        self._authority.refresh_after(tx)
        seq = tx.seq
        tx.after_commit(lambda: opened.announce(verb, (), actor, seq))

    def seen(self, client_id: str) -> None:
        """Note that a client has just proved itself; written with the next flush, nothing while locked.

        Args:
            client_id: the client.
        """
        with suppress(LociError):
            opened = self._opened()
            opened.journal.seen(client_id, opened.clock.now_ms())

    def _row(self, tx: Tx, opened: Opened, name: str, token: bytes, grants: Sequence[str], bounds: Bounds) -> str:
        row = tx.one("SELECT id, revoked_at, trust_ceiling FROM clients WHERE name = ?", (name,))
        ceiling = SPEAKER_CEILING if Grant.SPEAK_FOR_USER.value in grants else CEILING
        values: dict[str, object] = {
            "token": token,
            "trust_ceiling": ceiling,
            "limit_minute": bounds[0],
            "limit_session": bounds[1],
            "paired_at": tx.now_ms,
            "revoked_at": None,
            "paused_at": None,
        }
        if row is None:
            client_id = opened.make_id()
            tx.insert("clients", {"id": client_id, "name": name, **values})
            self._own_space(tx, opened, name, client_id)
            return client_id
        if row[1] is None:
            raise UserError(Code.INVALID_INPUT, "A client of that name is paired already; revoke it first.")
        tx.update("clients", {"id": row[0]}, values)
        if row[2] != ceiling:
            refresh_capped(tx, row[0], float(row[2]), ceiling)
        for grant, space_id in tx.all("SELECT name, space_id FROM grants WHERE client_id = ?", (row[0],)):
            tx.delete("grants", {"client_id": row[0], "name": grant, "space_id": space_id})
        self._own_space(tx, opened, name, row[0])
        return str(row[0])

    @staticmethod
    def _own_space(tx: Tx, opened: Opened, name: str, client_id: str) -> None:
        space_id = ensure_space(tx, f"client:{name}", opened.make_id(), client_id)
        # The owner may have written there, or imported, before the client was paired.
        tx.update("spaces", {"id": space_id}, {"client_id": client_id})

    def _grant(self, tx: Tx, opened: Opened, client_id: str, grants: Sequence[str]) -> None:
        for grant in grants:
            space_id = None
            if grant.startswith(_SPACE_PREFIX):
                space_id = ensure_space(tx, grant.removeprefix(_SPACE_PREFIX), opened.make_id())
            tx.insert(
                "grants",
                {
                    "client_id": client_id,
                    "name": "space" if space_id is not None else grant,
                    "space_id": space_id,
                    "granted_at": tx.now_ms,
                },
            )

    def revoke(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Revoke a client: its token is worth nothing from now on.

        Args:
            name: the client's name.
            actor: who asks.

        Returns:
            The id of the client.

        Raises:
            UserError: NOT_FOUND when there is no such client or it is revoked already.
        """
        opened = self._opened()

        def write(tx: Tx) -> str:
            row = tx.one("SELECT id FROM clients WHERE name = ? AND revoked_at IS NULL", (name,))
            if row is None:
                raise UserError(Code.NOT_FOUND, "There is no paired client of that name.")
            with opened.work.verb(tx, "revoke", "Revoke a client", actor) as verb:
                tx.update("clients", {"id": row[0]}, {"revoked_at": tx.now_ms})
                verb.note(row[0])
            self._changed(tx, opened, "revoke", actor)
            return str(row[0])

        return opened.write(write)

    def list(self) -> Future[tuple[ClientRecord, ...]]:
        """Every client ever paired, by name."""
        opened = self._opened()
        return opened.read(lambda _: self._authority.all())

    def authenticator(self) -> Authority:
        """Paired clients by name, for the handshake; never waits."""
        return self._authority


def _bounds(limit: int | str | None, options: Options) -> Bounds:
    if limit is None:
        return options.searches_minute, options.searches_session
    if limit == NO_LIMIT:
        return None, None
    if not isinstance(limit, int) or limit < 1:
        raise UserError(Code.INVALID_INPUT, "A limit is a number of searches a minute, or none.")
    return limit, options.searches_session
