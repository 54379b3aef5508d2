"""One verb, one transaction: rows, audit row and undo step together, or nothing. A repeated request is done once.

A client that was revoked or paused writes nothing any more: what it asked for before, and what still waits for the
embedder or the writer, ends here, since every verb passes here. A call with the caller's `request_id` is answered alike
the second time; of the request only a digest is kept, and with the first erasure all digests come under a key, since an
erased text may be in one. Must not do: say what a client may do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from core.errors import Code, UserError
from core.intake.transaction.admission import blind_digest
from core.intake.transaction.question_quota import check_waiting
from core.types.values import Actor
from core.vault.audit import AuditChain
from core.vault.database.rows import Rows, change_to_json, image_hash, image_to_json, to_json, without_volatile_columns
from core.vault.database.tx import Tx


@dataclass(frozen=True, slots=True)
class IdempotentCall:
    """One call with the caller's own request id.

    Attributes:
        actor: who asks; an id is the caller's own.
        request_id: None where the caller gave none: then nothing is kept.
        asked: the verb and all it was asked with, JSON-able; the channel it was asked on counts too.
        taken: said where the id was used for something else.
    """

    actor: Actor
    request_id: str | None
    asked: Mapping[str, Any]
    taken: str = "This request_id was used for something else before; choose a new one."

    def find_reply(self, rows: Rows) -> Mapping[str, Any] | None:
        """The answer that the same call got before.

        Args:
            rows: the transaction, or a vault snapshot.

        Returns:
            What `keep_reply` was given; None where the request is new.

        Raises:
            UserError: INVALID_INPUT where the id was used for something else.
        """
        if self.request_id is None:
            return None
        row = rows.one("SELECT digest, reply FROM requests WHERE actor = ? AND request_id = ?", self._caller_key)
        if row is None:
            return None
        if bytes(row[0]) not in (self._request_digest, blind_digest(rows, self._request_digest)):
            raise UserError(Code.INVALID_INPUT, self.taken)
        found: dict[str, Any] = json.loads(row[1])
        return found

    def keep_reply(self, tx: Tx, reply: Mapping[str, Any]) -> None:
        """Keep the answer for a repetition of the call.

        Args:
            tx: the transaction that did it.
            reply: ids and words, JSON-able; never memory text.
        """
        if self.request_id is not None:
            tx.run(
                "INSERT INTO requests (actor, request_id, digest, reply, at) VALUES (?, ?, ?, ?, ?)",
                (*self._caller_key, blind_digest(tx, self._request_digest), to_json(dict(reply)), tx.now_ms),
            )

    @property
    def _caller_key(self) -> tuple[str, str | None]:
        return self.actor.client_id or self.actor.kind, self.request_id

    @property
    def _request_digest(self) -> bytes:
        whole = {**self.asked, "channel": self.actor.channel} if self.actor.channel else dict(self.asked)
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).digest()


_DAY_MS = 86_400_000
_WELCOME = "SELECT 1 FROM clients WHERE id = ? AND revoked_at IS NULL AND paused_at IS NULL"


@dataclass
class _Image:
    table: str
    key: Mapping[str, object]
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None


_IMAGES_AT_ONCE = 1_000
"""So many images wait in memory; a verb that changes every row of a vault writes them as it goes."""


class Verb:
    """A running verb: collects the images of every changed row.

    Attributes:
        step_id: the undo step this verb writes.
        brought: the memories that it brought in so far.
        asks: whether it opened an item of the review.
    """

    def __init__(self, tx: Tx, step_id: str, open_step: Callable[[], None]) -> None:
        """Begin with no image.

        Args:
            open_step: writes the step where it is not there yet, for images that cannot wait for the verb's end.
        """
        self.tx = tx
        self.step_id = step_id
        self.asks = False
        self._open_step = open_step
        self._images: list[_Image] = []
        self._written = 0
        self.brought: set[str] = set()
        self.object = ""
        self.detail: dict[str, object] = {}
        self._lines: list[tuple[str, str, str | None, float | None, float | None, str]] = []

    def record_change(
        self,
        table: str,
        key: Mapping[str, object],
        before: Mapping[str, object] | None,
        after: Mapping[str, object] | None,
    ) -> None:
        """Take the images of one changed row; called by the transaction.

        Args:
            table: the table's name.
            key: the row's key columns.
            before: the row as it was; None for an insertion.
            after: the row as it is; None for a deletion.
        """
        self.asks = self.asks or (table == "conflicts" and before is None)
        self._images.append(_Image(table, key, before, after))
        if before is None and after is not None and table == "memories":
            self.brought.add(str(after["id"]))
        if len(self._images) >= _IMAGES_AT_ONCE:
            self._open_step()
            self.write_images()

    @property
    def changes(self) -> int:
        """How many rows changed so far."""
        return self._written + len(self._images)

    def note_audit(self, obj: str = "", **detail: object) -> None:
        """Say what the audit row shall hold: ids and counts, never text.

        Args:
            obj: the id of what was acted on.
            **detail: counts, ids, codes.
        """
        self.object = obj or self.object
        self.detail.update(detail)

    def log_consolidation(
        self,
        operation: str,
        memory_id: str,
        other_id: str | None,
        confidence: float | None,
        decided_by: str,
        similarity: float | None = None,
    ) -> None:
        """Say what was consolidated; written into `consolidation_log` together with the step.

        Args:
            operation: ADD, NOOP, DUPLICATE, SUPERSEDE, MERGE, COEXIST, QUARANTINE, DISPUTE.
            other_id: the other side, if there is one.
            confidence: of the decision, 0 to 1.
            decided_by: `owner`, `rules`, `builtin` or `model`.
            similarity: of the two, cosine.
        """
        self._lines.append((operation, memory_id, other_id, similarity, confidence, decided_by))

    @property
    def lines(self) -> int:
        """How many lines of the consolidation log there are so far."""
        return len(self._lines)

    def forget_lines(self, kept: int) -> None:
        """Leave out the lines of steps that were not taken after all.

        Args:
            kept: how many lines stay, from the first.
        """
        del self._lines[kept:]

    def write_log(self, make_id: Callable[[], str], *, with_step: bool) -> None:
        """Write the collected lines of the consolidation log.

        Args:
            with_step: whether the step they belong to was written.
        """
        step = self.step_id if with_step else None
        self.tx.run_many(
            "INSERT INTO consolidation_log "
            "(id, at, operation, memory_id, other_id, similarity, confidence, decided_by, step_id) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(make_id(), self.tx.now_ms, *line, step) for line in self._lines],
        )

    def write_images(self) -> None:
        """Write the images that wait into the step, behind those it has."""
        first_nr = int(
            self.tx.value("SELECT coalesce(max(nr) + 1, 0) FROM undo_rows WHERE step_id = ?", (self.step_id,))
        )
        self.tx.run_many(
            "INSERT INTO undo_rows (step_id, nr, tbl, row_key, before, after, after_hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    self.step_id,
                    first_nr + nr,
                    image.table,
                    image_to_json(image.key),
                    None if image.before is None else image_to_json(image.before),
                    # An inserted row is its own after image: only its hash is kept, or imports would be stored twice.
                    None if image.before is None or image.after is None else change_to_json(image.before, image.after),
                    None if image.after is None else image_hash(without_volatile_columns(image.table, image.after)),
                )
                for nr, image in enumerate(self._images)
            ),
        )
        self._written += len(self._images)
        self._images.clear()


class UnitOfWork:
    """Opens verbs. One object per open vault.

    Attributes:
        make_id: makes UUIDv7 ids.
        undo_days: how long the steps of verbs from now on can be taken back; may be changed at any time.
        client_waits: so many items of one client may wait in the review; likewise.
    """

    def __init__(self, make_id: Callable[[], str], chain: AuditChain, undo_days: int, client_waits: int = 500) -> None:
        self._make_id = self.make_id = make_id
        self._chain = chain
        self.undo_days = undo_days
        self.client_waits = client_waits

    @contextmanager
    def verb(
        self,
        tx: Tx,
        name: str,
        label: str,
        actor: Actor,
        *,
        undoes: str | None = None,
        step_id: str | None = None,
        keep_open: bool = False,
    ) -> Iterator[Verb]:
        """Run one verb inside a transaction.

        Args:
            name: the verb's name for the audit, such as `remember`.
            label: the undo step's name in words; never memory text.
            undoes: the step this verb takes back.
            step_id: a step that is still open and is continued (an import's batches share one).
            keep_open: the step goes on in a later transaction.

        Yields:
            The verb, which collects images and audit detail.

        Raises:
            UserError: UNAUTHENTICATED for a client that was revoked or paused since it asked; RATE_LIMITED where too
                much of it would wait for the person.
        """
        check_admitted(tx, actor)
        wanted = step_id or self._make_id()

        def open_step() -> None:
            self._write_step(tx, wanted, name, label, actor, undoes=undoes, keep_open=True)

        verb = Verb(tx, wanted, open_step)
        previous, tx.recorder = tx.recorder, verb
        try:
            yield verb
        finally:
            tx.recorder = previous
        if verb.asks:
            check_waiting(tx, actor, self.client_waits, tx.now_ms)
        is_step = bool(verb.changes) or keep_open or undoes is not None or _is_written(tx, verb.step_id)
        if is_step:
            self._write_step(tx, verb.step_id, name, label, actor, undoes=undoes, keep_open=keep_open)
            verb.write_images()
        verb.write_log(self._make_id, with_step=is_step)
        self._chain.append_row(tx, _audit_name(actor), name, verb.object, {**verb.detail, "rows": verb.changes})

    def begin_step(self, tx: Tx, name: str, label: str, actor: Actor) -> str:
        """Write a step that is still open, for a verb whose own rows refer to it; `verb` then goes on with it.

        Args:
            name: the verb's name.
            label: the step's name in words.

        Returns:
            The step's id.

        Raises:
            UserError: as `verb`.
        """
        check_admitted(tx, actor)
        step_id = self._make_id()
        self._insert_step(tx, step_id, name, label, actor, undoes=None, keep_open=True)
        return step_id

    def _write_step(
        self, tx: Tx, step_id: str, name: str, label: str, actor: Actor, *, undoes: str | None, keep_open: bool
    ) -> None:
        if _is_written(tx, step_id):
            tx.run("UPDATE undo_steps SET is_open = ? WHERE id = ?", (int(keep_open), step_id))
            return
        self._insert_step(tx, step_id, name, label, actor, undoes=undoes, keep_open=keep_open)

    def _insert_step(
        self, tx: Tx, step_id: str, name: str, label: str, actor: Actor, *, undoes: str | None, keep_open: bool
    ) -> None:
        tx.run(
            "INSERT INTO undo_steps (id, at, verb, label, actor, client_id, undoes_id, is_open, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                step_id,
                tx.now_ms,
                name,
                label,
                actor.kind,
                actor.client_id,
                undoes,
                int(keep_open),
                tx.now_ms + self.undo_days * _DAY_MS,
            ),
        )


def check_admitted(rows: Rows, actor: Actor) -> None:
    """Refuse a client that was revoked or paused, as its row stands in this very transaction.

    Args:
        actor: who asks; the owner and Loci itself always may.

    Raises:
        UserError: UNAUTHENTICATED.
    """
    if actor.client_id is not None and rows.value(_WELCOME, (actor.client_id,)) is None:
        raise not_admitted_error()


def not_admitted_error() -> UserError:
    """The one answer to a client that is unknown, paused or revoked."""
    return UserError(Code.UNAUTHENTICATED, "This client is not paired; ask the person to pair it again.")


def _is_written(rows: Rows, step_id: str) -> bool:
    return rows.value("SELECT 1 FROM undo_steps WHERE id = ?", (step_id,)) is not None


def _audit_name(actor: Actor) -> str:
    return actor.kind if actor.client_id is None else f"client:{actor.client_id}"
