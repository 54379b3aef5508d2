"""Who may do what: the clients of the vault, kept in memory and refreshed when they change."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import replace

from core.errors import Code, UserError
from core.intake.transaction.unit_of_work import not_admitted_error
from core.recall.scope import Scope
from core.types.clients import ClientRecord, is_asleep, owner_record
from core.types.clock import Clock, Deadline
from core.types.values import GLOBAL_SPACE, OWNER_CHANNEL, Actor, Grant
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

_CLIENTS = (
    "SELECT c.id, c.name, c.token, c.trust_ceiling, c.limit_minute, c.limit_session, c.paired_at, c.last_seen_at, "
    "c.paused_at, c.revoked_at, coalesce(s.id, ''), c.woken_at FROM clients c LEFT JOIN spaces s ON s.client_id = c.id "
    "ORDER BY c.name"
)
_GRANTS = "SELECT g.client_id, g.name, g.space_id, s.name FROM grants g LEFT JOIN spaces s ON s.id = g.space_id"


class Authority:
    """The clients and what each may reach."""

    def __init__(self, clock: Clock) -> None:
        """Know nobody yet."""
        self._clock = clock
        self._lock = threading.Lock()  # guards all below
        self._disclosed: dict[str, Deadline] = {}
        self._seen: dict[str, int] = {}
        self._by_name: dict[str, ClientRecord] = {}
        self._owner: ClientRecord | None = None

    def reload_clients(self, rows: Rows) -> None:
        """Read all clients again."""
        self._replace_clients(self._read_clients(rows))

    def refresh_after(self, tx: Tx) -> None:
        """Read all clients as a verb leaves them, and go by that once it is saved.

        The writer must not wait for one of the readers to be free.

        Args:
            tx: the verb's transaction, at its end.
        """
        found = self._read_clients(tx)
        tx.after_commit(lambda: self._replace_clients(found))

    def _replace_clients(self, found: dict[str, ClientRecord]) -> None:
        with self._lock:
            self._by_name = found
            admitted = {one.id for one in found.values() if not (one.revoked or one.paused)}
            self._disclosed = {one: until for one, until in self._disclosed.items() if one in admitted}

    @staticmethod
    def _read_clients(rows: Rows) -> dict[str, ClientRecord]:
        words: dict[str, set[str]] = {}
        spaces: dict[str, list[tuple[str, str]]] = {}
        for client_id, name, space_id, space_name in rows.all(_GRANTS):
            if space_id is None:
                words.setdefault(client_id, set()).add(name)
            else:
                spaces.setdefault(client_id, []).append((space_id, space_name))
        found = {}
        for row in rows.all(_CLIENTS):
            reach = sorted(spaces.get(row[0], []), key=lambda pair: pair[1])
            found[row[1]] = ClientRecord(
                id=row[0],
                name=row[1],
                token=bytes(row[2]),
                grants=frozenset(words.get(row[0], set())),
                space_ids=frozenset(space_id for space_id, _ in reach),
                spaces=tuple(name for _, name in reach),
                own_space_id=row[10],
                trust_ceiling=row[3],
                limit_minute=row[4],
                limit_session=row[5],
                paired_at=row[6],
                last_seen_at=row[7],
                paused=row[8] is not None,
                revoked=row[9] is not None,
                woken_at=row[11],
            )
        return found

    def open_owner_channel(self, token: bytes) -> None:
        """Let `@owner` in.

        Args:
            token: HKDF of the root, 32 bytes.
        """
        self._owner = owner_record(token)

    def forget_all(self) -> None:
        """The vault is locked: nobody is known any more."""
        with self._lock:
            self._by_name, self._seen, self._disclosed, self._owner = {}, {}, {}, None

    def disclose_to(self, client_id: str, seconds: float) -> None:
        """The person's yes: a client gets what is sensitive or confidential too, within its spaces, for a time.

        It counts only with the grant `sensitive`.

        It is nowhere but in memory: with the lock, a pause or the end of the time it is over.

        Args:
            seconds: from now; 0 to end it.
        """
        with self._lock:
            self._disclosed.pop(client_id, None)
            if seconds > 0:
                self._disclosed[client_id] = Deadline.after(self._clock, seconds)

    def disclosed_s(self, client_id: str) -> int:
        """For how many more seconds a client gets what is sensitive; 0 where it does not."""
        with self._lock:
            until = self._disclosed.get(client_id)
        return 0 if until is None else max(0, math.ceil(until.seconds_left(self._clock)))

    def note_seen(self, client_id: str, now_ms: int) -> None:
        """A client has just proved itself; the vault learns it with the next flush, and this room at once."""
        with self._lock:
            self._seen[client_id] = now_ms

    def last_seen_by_client(self) -> Mapping[str, int]:
        """Client id to when it last proved itself since the vault was opened, epoch ms."""
        with self._lock:
            return dict(self._seen)

    def token_for(self, name: str) -> ClientRecord | None:
        """The client of a name, whatever its state; `@owner` is the owner's channel."""
        if name == OWNER_CHANNEL:
            return self._owner
        with self._lock:
            record = self._by_name.get(name)
            seen = None if record is None else self._seen.get(record.id)
        if record is None:
            return None
        asleep = is_asleep(self._clock.now_ms(), seen, record.last_seen_at, record.woken_at, record.paired_at)
        return replace(record, asleep=True) if asleep else record

    def name_of(self, client_id: str) -> str | None:
        """The name of a client, also of a revoked one."""
        return next((record.name for record in self.list_clients() if record.id == client_id), None)

    def list_clients(self) -> tuple[ClientRecord, ...]:
        """Every client ever paired, by name."""
        with self._lock:
            return tuple(self._by_name.values())

    def client_of(self, actor: Actor) -> ClientRecord | None:
        """The client that asks.

        Returns:
            The client; None for the owner and the scheduler.

        Raises:
            UserError: UNAUTHENTICATED for a client that is unknown, paused or revoked by now.
        """
        if actor.client_id is None:
            return None
        record = next((c for c in self.list_clients() if c.id == actor.client_id), None)
        if record is None or record.revoked or record.paused:
            raise not_admitted_error()
        return record

    def require_grant(self, actor: Actor, grant: Grant) -> ClientRecord | None:
        """Refuse an actor that lacks a grant.

        Args:
            actor: who asks; the owner may do everything.
            grant: what is needed.

        Returns:
            The client; None for the owner.

        Raises:
            UserError: ACCESS_DENIED, or UNAUTHENTICATED.
        """
        record = self.client_of(actor)
        if record is not None and grant.value not in record.grants:
            raise UserError(Code.ACCESS_DENIED, f"This client has no grant to {grant.value}; ask the person for it.")
        return record

    def require_voice(self, actor: Actor) -> ClientRecord | None:
        """Whoever judges may write: a proposal cannot move trust.

        Returns:
            The client; None for the owner and for Loci itself.

        Raises:
            UserError: ACCESS_DENIED without `write` or `curate`, or for an unknown or paused client.
        """
        client = self.client_of(actor)
        if client is not None and not client.grants & {Grant.WRITE.value, Grant.CURATE.value}:
            raise UserError(Code.ACCESS_DENIED, "This client may propose but not judge; ask the person to grant write.")
        return client

    def check_terms_hold(self, actor: Actor, before: ClientRecord | None) -> None:
        """Refuse what was made ready by terms that hold no longer; called within the write that carries it out.

        Args:
            before: the client as it was then; None for the owner.

        Raises:
            UserError: UNAUTHENTICATED for one that was revoked or paused since; BUSY where its grants, spaces or
                trust were changed, or it was paired anew: asked again, it is looked at anew.
        """
        now = self.client_of(actor)
        if now is not None and before is not None and _terms_of_client(now) != _terms_of_client(before):
            raise UserError(Code.BUSY, "What this client may do was changed in the meantime; call again.")

    def make_scope(self, actor: Actor) -> Scope:
        """What the actor may see (E11b with spaces).

        Returns:
            Everything for the owner; GLOBAL, its own and its granted spaces for a client, of memories that are limited
            to a channel those of the one it speaks for, and of what waits its own, unless it may decide.
        """
        record = self.require_grant(actor, Grant.READ)
        if record is None:
            return Scope(unrestricted=True, space_ids=frozenset(), client_id=None)
        is_trusted = Grant.SENSITIVE.value in record.grants and self.disclosed_s(record.id) > 0
        return replace(self.make_client_scope(record), channel=actor.channel, is_trusted=is_trusted)

    @staticmethod
    def make_client_scope(record: ClientRecord) -> Scope:
        """What a client may see, whether or not it is let in now."""
        everywhere = Grant.ALL_SPACES.value in record.grants
        return Scope(
            unrestricted=everywhere,
            space_ids=frozenset() if everywhere else record.space_ids | {record.own_space_id, GLOBAL_SPACE},
            client_id=record.id,
            decides=Grant.CURATE.value in record.grants,
        )


def _terms_of_client(client: ClientRecord) -> tuple[object, ...]:
    return client.token, client.grants, client.space_ids, client.own_space_id, client.trust_ceiling
