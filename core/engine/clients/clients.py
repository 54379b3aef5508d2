"""Clients for their owner: pairing and terms, pauses, what each did and is notified of, and taking it back.

The preview of a client's context goes the way of the verb `context`, without a receipt, counts, or a hand-over. The
journal of what clients did is read by each client's own indexes, a page at a time. Must not do: show what was asked,
keep the words of a memory, or be reached by a client but for `ChangeSubscriptions`, which tell what it may see.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from core.embed.embedder import FOLDER, counter_for
from core.engine.authority import Authority
from core.engine.clients import client_undo as undoing
from core.engine.clients.client_terms import (
    cards_of,
    check_client_name,
    check_grants,
    check_terms,
    client_id_of,
    describe_unpaired,
    limits_of_new_client,
    merge_terms,
    name_key,
    paired_row,
    pause_client,
    resume_client,
    write_pairing,
    write_terms,
)
from core.engine.memories.contexts import budget_of
from core.engine.memories.memories import with_restored_embedded
from core.engine.recall.recall_runner import run_recall
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Embedded
from core.engine.runtime.storage import Storage, chain_work, map_result, recover_from
from core.engine.startup import flush_journal
from core.errors import Code, LociError, PreconditionError, UserError
from core.intake.transaction.unit_of_work import Verb
from core.intake.undo import UNPAIRED
from core.recall.context import SHARE, average_entry_tokens, pack_with_quota
from core.recall.request import RecallRequest
from core.recall.scope import OWNER_SCOPE, PLACE, Scope, visibility_conditions, visible_ids, withheld_among
from core.score.context_budget import fetch_count
from core.text.screening.injection import ALLOWED, FLAG
from core.types.clients import (
    ActivityLine,
    ActivityPage,
    Before,
    Change,
    ClientCard,
    ClientRecord,
    ContextPreview,
    Denied,
    Did,
    Moves,
    Place,
    Removal,
    TakenBack,
    Terms,
    Undoable,
)
from core.types.recall import ContextQuery
from core.types.replies import Paired
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, OWNER_CHANNEL, TIER_BY, Actor, Grant, Status
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

DISCLOSE = "disclose"
_MAY_HAVE = "SELECT 1 FROM grants WHERE client_id = ? AND name = 'sensitive'"
MOST_DISCLOSED_MINUTES = 240
_STATUS = PLACE.index("status")
# What speaks, or waits until it may. Everything else was laid away: it can be looked at, and comes by itself no more.
_VISIBLE_STATUSES = frozenset({Status.ACTIVE.value, Status.DISPUTED.value, Status.QUARANTINED.value})
_COLUMNS = ", ".join(
    f"json_object('{name}', json_extract(w.value, '$[{at}]')) AS extra"
    if name == TIER_BY
    else f"json_extract(w.value, '$[{at}]') AS {name}"
    for at, name in enumerate(PLACE)
)
# The places alone are asked about, by the condition that stands in every query: no row is read for it.
_SEEN = f"SELECT m.at FROM (SELECT w.key AS at, {_COLUMNS} FROM json_each(:places) w) m WHERE {{known}}"  # noqa: S608


class ChangeSubscriptions:
    """The changes a listener may see. Each method returns at once with a Future."""

    def __init__(self, storage: Callable[[], Storage], authority: Authority) -> None:
        self._storage = storage
        self._authority = authority

    def visible_changes(self, moves: Moves, actor: Actor) -> Future[Mapping[str, tuple[str, ...]]]:
        """The changes of a transaction that an actor may see.

        Args:
            actor: who listens; a client needs `read`.

        Returns:
            `stored`, `changed` and `gone`, each with the memories it is true of, in the order they were touched; a kind
            that nothing is to be told of is left out.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED, UNAUTHENTICATED.
        """
        scope = self._authority.make_scope(actor)
        places = list({place: None for move in moves for place in (move.before, move.after) if _is_there(place)})
        params: dict[str, object] = {"places": json.dumps(places)}
        sql = _SEEN.format(known=visibility_conditions(scope, params))

        def read(rows: Rows) -> Mapping[str, tuple[str, ...]]:
            seen = {places[at] for (at,) in rows.all(sql, params)}
            found: dict[str, tuple[str, ...]] = {}
            for move in moves:
                kind = _change_kind(
                    move.before if move.before in seen else None, move.after if move.after in seen else None
                )
                if kind is not None:
                    found[kind] = (*found.get(kind, ()), *move.ids)
            return found

        return self._storage().read_quietly(read)


def _change_kind(before: Place | None, after: Place | None) -> str | None:
    """What it is to somebody who sees it there, and there."""
    was_visible, is_visible = _has_visible_status(before), _has_visible_status(after)
    if was_visible != is_visible:
        return "stored" if is_visible else "gone"
    if after is not None:
        return "changed"
    return None if before is None else "gone"


def _has_visible_status(place: Place | None) -> bool:
    return place is not None and place[_STATUS] in _VISIBLE_STATUSES


def _is_there(place: Place | None) -> bool:
    """A memory that was forgotten can come back with an undo; until then nobody has it."""
    return place is not None and place[_STATUS] != Status.DELETED.value


MOST = 200
_LAST = "\U0010ffff"
_FAR = 2**62
_WORDS = 200
_SEALED, _BLOCKED = "sealed", "injection"
# What a receipt holds of what was withheld.
_WITHHELD = (
    "json_object('near_misses', json_extract(r.body, '$.near_misses'), 'excluded', "
    "json_extract(r.body, '$.context.excluded'), 'sealed', json_extract(r.body, '$.sealed'), "
    "'blocked', json_extract(r.body, '$.blocked'))"
)
# The memory a step was about: one it wrote, else the one of a question it opened or closed.
_ABOUT = (
    f"SELECT m.id, substr(m.text, 1, {_WORDS}), s.name, m.flags FROM memories m JOIN spaces s ON s.id = m.space_id "  # noqa: S608
    "WHERE m.n = coalesce("
    "(SELECT min(json_extract(u.row_key, '$.n')) FROM undo_rows u WHERE u.step_id = :step AND u.tbl = 'memories' "
    "AND EXISTS (SELECT 1 FROM memories x WHERE x.n = json_extract(u.row_key, '$.n') "
    "AND coalesce(x.part_index, 0) = 0)), "
    "(SELECT x.n FROM undo_rows u JOIN conflicts k ON k.id = json_extract(u.row_key, '$.id') "
    "JOIN memories x ON x.id = k.incoming_id WHERE u.step_id = :step AND u.tbl = 'conflicts' LIMIT 1))"
)
# What the verb answered at the time: how the memory stands now says only what became of it since. The log names the
# memory of a step by its id, also when it is gone.
_OPERATION = (
    "SELECT json_extract(a.detail, '$.operation') FROM audit a WHERE a.object IN "
    "(SELECT l.memory_id FROM consolidation_log l WHERE l.step_id = :step) AND a.at = :at AND a.verb = :verb "
    "ORDER BY a.nr LIMIT 1"
)
# Of each: key, at, and what the line says. Behind the cursor come smaller (at, key).
_ASKED = (
    f"SELECT r.id, r.at, r.verb, r.items, {_WITHHELD} FROM receipts r WHERE r.client_id = :client "  # noqa: S608
    "AND (r.at, r.id) < (:at, :key) ORDER BY r.at DESC, r.id DESC LIMIT :most"
)
_WROTE = (
    "SELECT s.id, s.at, s.verb, (SELECT count(DISTINCT json_extract(u.row_key, '$.n')) FROM undo_rows u "
    "WHERE u.step_id = s.id AND u.tbl = 'memories'), s.undone_by IS NOT NULL FROM undo_steps s "
    "WHERE s.client_id = :client AND (s.at, s.id) < (:at, :key) ORDER BY s.at DESC, s.id DESC LIMIT :most"
)
_REFUSED = (
    "SELECT a.nr, a.at, coalesce(json_extract(a.detail, '$.method'), ''), "
    "coalesce(json_extract(a.detail, '$.code'), '') FROM audit a WHERE a.actor = :actor AND a.verb = 'refused' "
    "AND (a.at, a.nr) < (:at, :nr) ORDER BY a.at DESC, a.nr DESC LIMIT :most"
)
_Placed = tuple[tuple[int, int, str | int], ActivityLine]
"""A line behind what it is sorted by: its time, its kind, its key."""
_RANKS = {Did.ASKED: 0, Did.REFUSED: 1, Did.WROTE: 2}


@dataclass(frozen=True, slots=True)
class _Cursor:
    """Behind what a page goes on: a time, what kind of line stood there, and its key."""

    at: int
    rank: int
    key: str

    def make_bounds(self, did: Did) -> dict[str, object]:
        """What comes behind it of one kind: of the same time only kinds that are listed later."""
        rank = _RANKS[did]
        if rank == self.rank:
            return {"at": self.at, "key": self.key, "nr": int(self.key) if did is Did.REFUSED else 0}
        later = rank < self.rank
        return {"at": self.at, "key": _LAST if later else "", "nr": _FAR if later else -1}


_NEWEST = _Cursor(_FAR, len(_RANKS), "")


def activity_page(rows: Rows, client: str | None, after: str | None, limit: int) -> ActivityPage:
    """A page of what clients did.

    Args:
        client: the id of one; None for all.
        after: `next` of the page before; None for the newest.
        limit: lines at most, 1 to 200.

    Raises:
        UserError: INVALID_INPUT for a limit out of range or an `after` that is none.
    """
    if not 1 <= limit <= MOST:
        raise UserError(Code.INVALID_INPUT, f"A page has 1 to {MOST} lines.")
    cursor = _NEWEST if after is None else _parse_cursor(after)
    names: Mapping[str, str] = dict(
        rows.all("SELECT id, name FROM clients WHERE :one IS NULL OR id = :one", {"one": client})
    )
    found: list[_Placed] = []
    for client_id, name in names.items():
        found += _list_activity(rows, client_id, name, cursor, limit + 1)
    found.sort(key=lambda pair: pair[0], reverse=True)
    page = [(place, _describe_activity_line(rows, line)) for place, line in found[:limit]]
    more = len(found) > limit
    return ActivityPage(tuple(line for _, line in page), json.dumps(page[-1][0]) if more else None)


def _list_activity(rows: Rows, client_id: str, name: str, cursor: _Cursor, most: int) -> list[_Placed]:
    known = {"client": client_id, "actor": f"client:{client_id}", "most": most}
    within = {did: {**known, **cursor.make_bounds(did)} for did in Did}
    asked = [
        _make_activity_line(
            Did.ASKED, row, name, receipt_id=row[0], verb=row[2], count=row[3], **_count_withheld(row[4])
        )
        for row in rows.all(_ASKED, within[Did.ASKED])
    ]
    wrote = [
        _make_activity_line(Did.WROTE, row, name, step_id=row[0], verb=row[2], count=row[3], is_undone=bool(row[4]))
        for row in rows.all(_WROTE, within[Did.WROTE])
    ]
    refused = [
        _make_activity_line(Did.REFUSED, row, name, verb=row[2], code=row[3])
        for row in rows.all(_REFUSED, within[Did.REFUSED])
    ]
    return [*asked, *wrote, *refused]


def _count_withheld(receipt_body: str) -> dict[str, Any]:
    """How many memories were withheld, and how many for each reason."""
    withheld = {name: value or () for name, value in json.loads(receipt_body).items()}
    reasons = Counter(str(one.get("why", "")) for one in withheld["near_misses"])
    reasons.update(str(one.get("reason", "")) for one in withheld["excluded"])
    reasons.update({_SEALED: int(withheld["sealed"] or 0), _BLOCKED: len(withheld["blocked"])})
    ranked = sorted(((why, count) for why, count in reasons.items() if count), key=lambda one: (-one[1], one[0]))
    return {"withheld": reasons.total(), "reasons": tuple(ranked)}


def _describe_activity_line(rows: Rows, line: ActivityLine) -> ActivityLine:
    """A line with what was answered, and with the memory it is about, where it is about one that is there."""
    if not line.step_id:
        return line
    found = rows.one(_ABOUT, {"step": line.step_id})
    answered = rows.value(_OPERATION, {"step": line.step_id, "at": line.at, "verb": line.verb})
    line = replace(line, operation=answered or "")
    if found is None:
        return line
    memory_id, words, space, flags = found
    marks = frozenset(json.loads(flags))
    is_warned = FLAG in marks and ALLOWED not in marks
    return replace(line, memory_id=memory_id, words=words, space=space, is_warned=is_warned)


def _make_activity_line(did: Did, row: tuple[Any, ...], name: str, **more: Any) -> _Placed:
    return (row[1], _RANKS[did], row[0]), ActivityLine(at=row[1], did=did, client=name, **more)


def _parse_cursor(after: str) -> _Cursor:
    try:
        at, rank, key = json.loads(after)
        return _Cursor(int(at), int(rank), str(key) if int(rank) != _RANKS[Did.REFUSED] else str(int(key)))
    except (ValueError, TypeError):
        raise UserError(Code.INVALID_INPUT, "`after` is not from a page before; ask again from the start.") from None


OTHER_SPACE = "other_space"
"""Why a memory would not be handed out: it lies in a space the client does not see, or in another client's."""
SEALED = "sealed"
"""Why a memory would not be handed out: it is sealed, and no client is given it."""


def preview_context(
    open_vault: OpenVault, query: ContextQuery, scope: Scope, *, may_read: bool
) -> Future[ContextPreview]:
    """Show what a client would be given.

    Args:
        query: the prompt, its budget and the model whose tokenizer counts.
        may_read: whether it is answered at all: without the grant `read` every question is refused it.

    Returns:
        The text and what is not in it; nothing for one that may not read.

    Raises:
        UserError: INVALID_QUERY for an empty prompt, INVALID_INPUT for a budget below 0.
    """
    budget = budget_of(open_vault.options, query)
    request = RecallRequest.from_query(RecallQuery(query.prompt), scope)
    request.check_bounds()
    if not may_read:
        return _completed_future(ContextPreview("", 0, budget, (), {}))
    counter = counter_for(query.model, open_vault.storage.home.path / FOLDER)

    def run(embedded: Embedded) -> ContextPreview:
        now = open_vault.storage.clock.now_ms()

        def read(rows: Rows) -> ContextPreview:
            wanted = replace(request, limit=fetch_count(budget, average_entry_tokens(rows, scope)))
            result = run_recall(open_vault.search, rows, wanted, embedded, now)
            packed = pack_with_quota(rows, result.items, budget, counter, scope.client_id, result.sought)
            given = tuple(one.id for one in packed.included)
            withheld = {miss.id: miss.why for miss in result.near_misses}
            withheld |= {one.id: one.reason for one in packed.excluded}
            whole = run_recall(open_vault.search, rows, replace(wanted, scope=OWNER_SCOPE), embedded, now)
            known = {item.memory.id for item in result.items} | withheld.keys()
            withheld |= _withheld_reasons(
                rows, [item.memory.id for item in whole.items if item.memory.id not in known], scope
            )
            return ContextPreview(packed.text, packed.tokens, budget, given, withheld)

        return open_vault.storage.vault.read(read)

    return chain_work(
        open_vault.search.embed_texts([request.embed_text]),
        lambda embedded: open_vault.storage.run_on(open_vault.storage.threads.reads, run, embedded),
    )


def _withheld_reasons(rows: Rows, ids: Sequence[str], scope: Scope) -> dict[str, str]:
    """Why a client is not even searched these, which the person would be given."""
    within, closed = visible_ids(rows, ids, scope), withheld_among(rows, ids, scope)
    return {one: SEALED if one in closed else SHARE if one in within else OTHER_SPACE for one in ids}


def _completed_future(value: ContextPreview) -> Future[ContextPreview]:
    made: Future[ContextPreview] = Future()
    made.set_result(value)
    return made


T = TypeVar("T")

_PAUSED = (
    f"SELECT id FROM clients WHERE paused_at IS NOT NULL AND revoked_at IS NULL AND NOT {UNPAIRED} "  # noqa: S608 - constants
    "ORDER BY id"
)


class Clients:
    """The facade's group for clients. Each method returns at once with a Future.

    Every change is one undo step of the owner's, in force for live sessions as soon as it is saved.
    """

    def __init__(self, open_vault: Callable[[], OpenVault], authority: Authority) -> None:
        self._open_vault = open_vault
        self._authority = authority

    # ---- coming in

    def pair(
        self,
        name: str,
        grants: Sequence[str],
        limit: int | str | None = None,
        actor: Actor = OWNER_ACTOR,
        asked_by: str = "",
    ) -> Future[Paired]:
        """Pair a client; one that was revoked is paired anew, with a new token. A remembered no is forgotten.

        Args:
            grants: words or `space:<name>`; read and propose when empty.
            limit: searches a minute; `none` lifts the session's limit too; None for the defaults.
            actor: who asks; the owner.
            asked_by: the process that redeemed its code, as reported; shown, never believed.

        Returns:
            The client with its token; one that was revoked keeps its name as it was spelt.

        Raises:
            UserError: INVALID_INPUT for a bad name or grant, or a name in use: case and blanks make no other name.
        """
        check_client_name(name)
        wanted = check_grants(grants)
        open_vault = self._open_vault()
        bounds = limits_of_new_client(limit, open_vault.options)
        token = secrets.token_bytes(32)

        def write(tx: Tx, verb: Verb) -> tuple[str, str]:
            client_id = write_pairing(tx, open_vault.storage.make_id, name, token, wanted, bounds, asked_by)
            verb.note_audit(client_id, grants=len(wanted))
            return client_id, str(tx.value("SELECT name FROM clients WHERE id = ?", (client_id,)))

        made = self._run_client_verb("pair", "Pair a client", write, actor)
        return map_result(made, lambda done: Paired(*done[1], token, done[0]))

    def describe_unpaired(self, name: str) -> Future[Before]:
        """What is known of a name before its bearer is paired."""
        return self._open_vault().storage.read(lambda rows: describe_unpaired(rows, name))

    def deny(self, name: str) -> Future[str]:
        """Remember a no to this name, until a client of that name is paired or `allow_again` is called.

        Returns:
            The undo step; "" where it is remembered already.
        """
        key = name_key(check_client_name(name))

        def write(tx: Tx, _verb: Verb) -> None:
            if tx.row("denied", {"name_key": key}) is None:
                tx.insert("denied", {"name_key": key, "denied_at": tx.now_ms})

        return self._change_for_step_id("deny", "Say no to a client", write)

    def allow_again(self, name: str) -> Future[str]:
        """Forget a remembered no: the name may be asked about again.

        Returns:
            The undo step; "" where there was none.
        """
        key = name_key(name)
        return self._change_for_step_id(
            "allow_again",
            "Forget a no to a client",
            lambda tx, _: _discard_result(tx.delete("denied", {"name_key": key})),
        )

    def list_denied(self) -> Future[tuple[Denied, ...]]:
        """The names the person said no to, the latest first."""
        sql = "SELECT name_key, denied_at FROM denied ORDER BY denied_at DESC, name_key"
        return self._open_vault().storage.read(lambda rows: tuple(Denied(key, at) for key, at in rows.all(sql)))

    def note_seen(self, client_id: str) -> None:
        """Note that a client has just proved itself; written with the next flush, nothing while locked."""
        with suppress(LociError):
            open_vault = self._open_vault()
            now = open_vault.storage.clock.now_ms()
            open_vault.read_log.note_client_seen(client_id, now)
            self._authority.note_seen(client_id, now)

    # ---- terms and standing

    def change_terms(self, name: str, terms: Terms | Change, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Put other grants, limits and a ceiling in force, at once also for live sessions.

        Args:
            terms: all of its terms from now on, or what of its grants changes; that is worked out as it is written, so
                that of two changes at once none is lost.

        Returns:
            The undo step; "" where nothing changes.

        Raises:
            UserError: INVALID_INPUT; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()
        _ = check_terms(terms) if isinstance(terms, Terms) else check_grants((*terms.more, *terms.less))

        def write(tx: Tx, verb: Verb) -> None:
            row = paired_row(tx, name)
            wanted = terms if isinstance(terms, Terms) else merge_terms(tx, row, terms)
            grants = check_terms(wanted)
            write_terms(tx, open_vault.storage.make_id, row, grants, wanted)
            verb.note_audit(row["id"], grants=len(grants))

        return self._change_for_step_id("regrant", "Change what a client may do", write, actor)

    def pause(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Let a client in no more, until it is resumed; its live connections end at once.

        Returns:
            The undo step; "" where it is paused already. The future raises NOT_FOUND.
        """

        def write(tx: Tx, verb: Verb) -> None:
            row = paired_row(tx, name)
            pause_client(tx, row)
            verb.note_audit(row["id"])

        return self._change_for_step_id("pause", "Pause a client", write, actor)

    def resume(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Let a client in again that was paused, or that sleeps.

        Returns:
            The undo step; "" where it may come in already. The future raises NOT_FOUND, INVALID_INPUT for one that is
            to be paired anew.
        """

        def write(tx: Tx, verb: Verb) -> None:
            row = paired_row(tx, name)
            resume_client(tx, row, tx.clock_ms)
            verb.note_audit(row["id"])

        return self._change_for_step_id("resume", "Resume a client", write, actor)

    def stop_all(self, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Pause every client in one step: the kill switch. All live connections of clients end at once.

        Returns:
            The undo step; "" where nobody was to be stopped.
        """

        def write(tx: Tx, verb: Verb) -> None:
            found = tx.all("SELECT id FROM clients WHERE paused_at IS NULL AND revoked_at IS NULL ORDER BY id")
            for (client_id,) in found:
                tx.update("clients", {"id": client_id}, {"paused_at": tx.now_ms})
            verb.note_audit(clients=len(found))

        return self._change_for_step_id("stop_clients", "Stop all clients", write, actor)

    def resume_all(self, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Let every client in again that is paused; who sleeps goes on sleeping.

        Returns:
            The undo step; "" where nobody was paused.
        """

        def write(tx: Tx, verb: Verb) -> None:
            found = tx.all(_PAUSED)
            for (client_id,) in found:
                tx.update("clients", {"id": client_id}, {"paused_at": None})
            verb.note_audit(clients=len(found))

        return self._change_for_step_id("resume_clients", "Resume all clients", write, actor)

    def disclose(self, name: str, minutes: int) -> Future[int]:
        """Let a client have what is sensitive or confidential too, for a time; it stands in the audit.

        Args:
            name: a paired client that may read, with the grant `sensitive`.
            minutes: 1 to 240 from now; 0 ends it at once.

        Returns:
            Seconds that are left. The future raises NOT_FOUND, INVALID_INPUT for one that is paused or lacks the grant.

        Raises:
            UserError: INVALID_INPUT for the minutes; VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        if not 0 <= minutes <= MOST_DISCLOSED_MINUTES:
            raise UserError(Code.INVALID_INPUT, f"It is given for 1 to {MOST_DISCLOSED_MINUTES} minutes.")

        def write(tx: Tx) -> int:
            row = paired_row(tx, name)
            client_id = str(row["id"])
            if minutes and row["paused_at"] is not None:
                raise PreconditionError("This client is paused; resume it first.")
            if minutes and tx.value(_MAY_HAVE, (client_id,)) is None:
                raise PreconditionError(
                    "This client lacks the grant sensitive, without which it never gets what is sensitive; give it "
                    "that first, in its terms or with `loci grant NAME --grant sensitive`."
                )
            label = "Let a client have what is sensitive" if minutes else "Keep from a client what is sensitive"
            with open_vault.storage.verb(tx, OWNER_ACTOR, DISCLOSE, label=label) as verb:
                verb.note_audit(client_id, minutes=minutes)
                verb.set_outcome(())
            tx.after_commit(lambda: self._authority.disclose_to(client_id, minutes * 60))
            return minutes * 60

        return open_vault.storage.write(write)

    def revoke(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[str]:
        """Revoke a client: its token is worth nothing from now on, also when the step is undone.

        Raises:
            UserError: NOT_FOUND when there is no such client or it is revoked already.
        """

        def write(tx: Tx, verb: Verb) -> str:
            client_id = str(paired_row(tx, name)["id"])
            tx.update("clients", {"id": client_id}, {"revoked_at": tx.now_ms})
            verb.note_audit(client_id)
            return client_id

        return map_result(self._run_client_verb("revoke", "Revoke a client", write, actor), lambda done: done[1])

    # ---- looking

    def list(self) -> Future[tuple[ClientRecord, ...]]:
        """Every client ever paired, by name."""
        open_vault = self._open_vault()
        return open_vault.storage.read(lambda _: self._authority.list_clients())

    def list_cards(self) -> Future[tuple[ClientCard, ...]]:
        """Every client ever paired, as the person sees it; those that are revoked come last."""
        open_vault = self._open_vault()
        now, seen = open_vault.storage.clock.now_ms(), self._authority.last_seen_by_client()
        disclosed_s = self._authority.disclosed_s
        return open_vault.storage.read_quietly(
            lambda rows: tuple(replace(card, sensitive_s=disclosed_s(card.id)) for card in cards_of(rows, now, seen))
        )

    def read_card(self, name: str) -> Future[ClientCard]:
        """One client; the future raises NOT_FOUND."""

        def find_card(cards: tuple[ClientCard, ...]) -> ClientCard:
            for card in cards:
                if card.name == name:
                    return card
            raise UserError(Code.NOT_FOUND, "There is no client of that name.")

        return map_result(self.list_cards(), find_card)

    def list_activity(self, name: str | None = None, after: str | None = None, limit: int = 50) -> Future[ActivityPage]:
        """What clients did, newest first; what happened in the last second is among it.

        Args:
            name: one client; None for all.
            after: `next` of the page before.
            limit: lines at most, 1 to 200.

        Returns:
            A page; the future raises NOT_FOUND or INVALID_INPUT.
        """
        open_vault = self._open_vault()

        def read() -> ActivityPage:
            flush_journal(open_vault)
            return open_vault.storage.vault.read(
                lambda rows: activity_page(rows, None if name is None else client_id_of(rows, name), after, limit)
            )

        return open_vault.storage.run_on(open_vault.storage.threads.reads, read)

    def preview_context(
        self, name: str, prompt: str, budget: int | None = None, model: str | None = None
    ) -> Future[ContextPreview]:
        """What a client would be given for a prompt; nothing is kept of it, and nothing counts as given.

        Args:
            name: a paired client.
            prompt: what it would answer.
            budget: tokens at most; None for the option `context_tokens`.
            model: the model whose tokenizer counts; None for the estimate.

        Returns:
            The text, and what would not be in it and why; of a client that may not read, nothing at all.

        Raises:
            UserError: NOT_FOUND, INVALID_QUERY, INVALID_INPUT; VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        record = self._authority.token_for(name)
        if record is None or record.revoked or record.name == OWNER_CHANNEL:
            raise UserError(Code.NOT_FOUND, "There is no paired client of that name.")
        query, may_read = ContextQuery(prompt, budget=budget, model=model), Grant.READ.value in record.grants
        return preview_context(open_vault, query, self._authority.make_client_scope(record), may_read=may_read)

    # ---- taking back

    def preview_undo(self, name: str, since_ms: int) -> Future[Undoable]:
        """What `undo_since` would take back; since 0, what `remove_all` would. It is tried and given up again.

        Whoever writes goes before it, and of very many steps only the newest are tried (`Undoable.untried`).

        Args:
            name: the client, also one that was revoked.

        Returns:
            Counts; the future raises NOT_FOUND.
        """
        open_vault = self._open_vault()

        def rehearse_undo(tx: Tx) -> Undoable:
            undoing.rehearse_client_undo(tx, open_vault.storage, client_id_of(tx, name), since_ms, OWNER_ACTOR)

        return recover_from(
            open_vault.storage.write(rehearse_undo, background=True),
            undoing.RehearsedError,
            lambda rehearsed: rehearsed.found,
        )

    def undo_since(self, name: str, since_ms: int, actor: Actor = OWNER_ACTOR) -> Future[TakenBack]:
        """Take back all a client did since a time, newest first, as one step that can be undone itself.

        Args:
            name: the client, also one that was revoked.

        Returns:
            What was taken back, and how many steps stay because what they changed was changed since; the future
            raises NOT_FOUND.
        """
        done = self._run_client_undo(name, undoing.undo_since_plan(since_ms), actor)
        return map_result(done, lambda removal: TakenBack(removal.step_id, removal.steps, removal.left))

    def remove_all(self, name: str, actor: Actor = OWNER_ACTOR) -> Future[Removal]:
        """Take back all a client ever did; what is too old, or was let in since, goes to the archive. One step.

        Args:
            name: the client, also one that was revoked.

        Returns:
            What was done; the future raises NOT_FOUND.
        """
        return self._run_client_undo(name, undoing.REMOVING, actor)

    def _run_client_undo(self, name: str, undo: undoing.ClientUndo, actor: Actor) -> Future[Removal]:
        open_vault = self._open_vault()

        def undo_batch(tx: Tx, at: undoing.ClientUndoProgress) -> undoing.ClientUndoProgress:
            client_id = client_id_of(tx, name)
            with open_vault.storage.verb(tx, actor, undo.name) as verb:
                after = undoing.undo_next_batch(tx, open_vault.storage, open_vault.search, client_id, undo, actor, at)
                if after.removal is None or after.removal.step_id:
                    self._authority.refresh_after(tx)
                    verb.set_outcome(())
            return after

        def run() -> Removal:
            at = undoing.ClientUndoProgress()
            while at.removal is None:
                at = open_vault.storage.write(partial(undo_batch, at=at)).result()
            return at.removal

        removed = open_vault.storage.run_on(open_vault.storage.threads.reads, run)
        return with_restored_embedded(removed, open_vault.storage, open_vault.search)

    def _change_for_step_id(
        self, verb: str, label: str, write: Callable[[Tx, Verb], None], actor: Actor = OWNER_ACTOR
    ) -> Future[str]:
        return map_result(self._run_client_verb(verb, label, write, actor), lambda done: done[0])

    def _run_client_verb(
        self, name: str, label: str, write: Callable[[Tx, Verb], T], actor: Actor
    ) -> Future[tuple[str, T]]:
        """One verb; its step ("" where nothing changed) and what it gave."""
        open_vault = self._open_vault()

        def write_step(tx: Tx) -> tuple[str, T]:
            with open_vault.storage.verb(tx, actor, name, label=label) as verb:
                given = write(tx, verb.step)
                if not verb.step.changes:
                    return "", given
                self._authority.refresh_after(tx)
                verb.set_outcome(())
            return verb.step_id, given

        return open_vault.storage.write(write_step)


def _discard_result(_done: object) -> None:
    return None
