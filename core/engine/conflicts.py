"""The facade's group for review: the queue, its items, decisions, the rules made of them, and the chores between.

A chore closes what is no question any more and decides what a rule decides. Must not do: wait for a model, show a
client what lies outside its spaces, or decide by itself anything that the person did not make a rule of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import find_persons_words
from core.belief.review.item_reader import ReviewDesk, open_change_requests_of, requesting_client
from core.belief.review.items import (
    HELD,
    ClientRights,
    QueueItem,
    count_open_items,
    find_current_side,
    find_similar_ids,
    read_item,
    refusal_for_client,
)
from core.belief.review.sides import injection_reasons
from core.belief.review.wording import ItemTopic, answer_words, format_question
from core.engine.authority import Authority
from core.engine.clients.client_terms import client_id_of
from core.engine.recall.probes import COUNT_REGRESSIONS
from core.engine.runtime.search import Embedded, Search
from core.engine.runtime.storage import Storage, chain_work
from core.entities.registry import find_owner_names
from core.entities.speakers import speaker_of
from core.errors import Code, EnvironmentFaultError, UserError
from core.intake.review import source_quarantine
from core.intake.review.automation import (
    find_due,
    forget_rule,
    has_due_rules,
    has_stale,
    list_rules,
    mark_seen,
    revalidate_items,
)
from core.intake.review.case import rejection_label
from core.intake.review.resolution import Resolver
from core.intake.transaction.unit_of_work import IdempotentCall
from core.intake.undo import steps_in_force
from core.intake.watch.versions import settle_held
from core.lifecycle.job_support.job_store import CHANGED
from core.memory.read import read_by_ids
from core.recall.scope import OWNER_SCOPE, Scope, visible_ids
from core.text.screening.egress import prefetch_scans
from core.text.terms import embedding_text
from core.types.clients import ClientRecord
from core.types.replies import WaitingKind
from core.types.reviews import (
    ClosedRow,
    Decision,
    DecisionReply,
    HoldPreview,
    HoldReply,
    HoldRequest,
    ListedConflict,
    Queue,
    QueueRequest,
    ReviewItem,
    ReviewRule,
    TurnedDown,
)
from core.types.values import OWNER_ACTOR, Action, Actor, Grant, Memory, Role, is_id
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

REVIEW_ACTOR = Actor(kind="scheduler", name="desk")
_RULED_AT_ONCE = 50
_DAY_S = 86_400.0
_TURN_S = 5.0
_PAUSE_S = 5.0


def make_resolver(storage: Storage, search: Search) -> Resolver:
    """The resolver of an open vault."""
    store_service = search.store_service
    return Resolver(
        storage.make_id, storage.work, search.space, store_service.admit_memory, store_service.read_anew, settle_held
    )


@dataclass
class ReviewChores:
    """Runs the review's chores for one open vault after another.

    Attributes:
        vault: the open vault that was looked at last.
        seq: its sequence then.
        looked_at: when the desk was last looked at, on the clock's monotonic seconds; `expiry_at` for what expires.
    """

    vault: Storage | None = None
    seq: int = -1
    looked_at: float | None = None
    expiry_at: float | None = None

    def run(self, storage: Storage, search: Search) -> None:
        """Look at the desk if anything changed since the last time.

        Raises:
            LociError: what the vault said.
        """
        if self.vault is not storage:
            self.vault, self.seq, self.looked_at, self.expiry_at = storage, -1, None, None
        at = storage.clock.monotonic()
        if self.looked_at is not None and at - self.looked_at < _PAUSE_S:
            return
        self.looked_at = at
        expiry = self.expiry_at is None or at - self.expiry_at >= _DAY_S
        seq, closing, ruling = storage.vault.read(
            lambda rows: self._find_due_work(rows, storage.clock.now_ms(), expiry=expiry)
        )
        if not closing and not ruling:
            self._note_check_done(seq, at, expiry=expiry)
            return
        try:
            storage.write(lambda tx: run_review_chores(tx, storage, search, expiry=expiry), background=True).result(
                _TURN_S
            )
        except TimeoutError:
            return  # behind something long in the queue: it is done in its turn
        self._note_check_done(seq, at, expiry=expiry)

    def _find_due_work(self, rows: Rows, now_ms: int, *, expiry: bool) -> tuple[int, bool, bool]:
        seq = int(rows.value("SELECT seq FROM vault_state"))
        if seq == self.seq and not expiry:
            return seq, False, False
        return seq, has_stale(rows, now_ms, expiry=expiry), has_due_rules(rows)

    def _note_check_done(self, seq: int, at: float, *, expiry: bool) -> None:
        self.seq = seq
        if expiry:
            self.expiry_at = at


def run_review_chores(tx: Tx, storage: Storage, search: Search, *, expiry: bool) -> int:
    """Close what closes by itself, and let rules decide what they decide.

    Args:
        expiry: whether to close what expired too.
    """
    with storage.verb(tx, REVIEW_ACTOR, "review") as verb:
        changed = revalidate_items(tx, expiry=expiry)
        for due in find_due(tx, _RULED_AT_ONCE):
            done = make_resolver(storage, search).resolve_many(
                tx, due.items, Decision(due.action), REVIEW_ACTOR, None, search.add_vectors, rule=due.rule_id
            )
            mark_seen(tx, due.items)
            changed += len(due.items) - len(done.refused)
        verb.set_outcome(() if changed else None)
    return changed


AT_ONCE = 1_000
"""Items of a client that are turned down in one step at most."""
A_TURN = 100
"""Items of it in one transaction: whoever else writes waits for so many, some tenths of a second."""
LISTED = 200
"""Items of one list at most: the cap of the queue (design section 4)."""
_LEAST_PREFIX = 8
_DAY_MS = 86_400_000
_NONE = "There is no such conflict."


def _name_speaker(rows: Rows, memory: Memory) -> str:
    """Who speaks in a memory, where that is somebody else than the owner; else ""."""
    if memory.role is not Role.OTHER:
        return ""
    speaker = speaker_of(memory.role, memory.author, find_owner_names(rows))
    return "" if speaker is None or speaker.is_owner else speaker.name


# A run that erased cannot be taken back, so it counts also where its step is.
_UNSEEN_RUNS = (
    "SELECT count(*) FROM jobs j LEFT JOIN undo_steps s ON s.id = j.step_id "  # noqa: S608 - a constant
    "WHERE j.actor = 'scheduler' AND j.finished_at > ? AND (coalesce(json_extract(j.report, '$.erased'), 0) > 0 "
    f"OR s.undone_by IS NULL AND EXISTS (SELECT 1 FROM undo_rows r WHERE r.step_id = s.id AND {CHANGED}))"
)


class Conflicts:
    """The conflict desk. Each method returns at once with a Future."""

    def __init__(self, storage: Callable[[], Storage], search: Callable[[], Search], authority: Authority) -> None:
        self._storage, self._search = storage, search
        self._authority = authority
        self._desk = ReviewDesk(read_by_ids, _name_speaker)

    # ---- reading

    def list_queue(self, request: QueueRequest | None = None) -> Future[Queue]:
        """The queue as it stands, most harmful first; every row of it can be decided.

        Args:
            request: which part of it; None for all of it, up to the cap.

        Returns:
            Rows, and counts over all that is open.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        now, wanted = storage.clock.now_ms(), request or QueueRequest()
        return storage.read(lambda rows: self._desk.make_queue(rows, wanted, now))

    def read_item(self, item_id: str, actor: Actor = OWNER_ACTOR) -> Future[ReviewItem]:
        """One item, validated now.

        Args:
            item_id: its id, or eight characters or more of its beginning or its end, where only one has them.

        Returns:
            Everything its page shows; the future raises NOT_FOUND where there is none, or none the actor may see.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
        """
        storage = self._storage()
        scope, now = self._authority.make_scope(actor), storage.clock.now_ms()
        return storage.read(lambda rows: self._require_item(rows, _full_id(rows, item_id, scope), now))

    def _require_item(self, rows: Rows, item_id: str, now_ms: int, *, brief: bool = False) -> ReviewItem:
        found = self._desk.read_item(rows, item_id, now_ms, brief=brief)
        if found is None:
            raise UserError(Code.NOT_FOUND, _NONE)
        return found

    def count_waiting(self, runs_since: int = 0) -> Future[dict[WaitingKind, int]]:
        """Count all that waits for the person: review items and, so that the window asks once, the rest of its counts.

        Args:
            runs_since: epoch ms; runs that ended before were seen.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._storage().read_quietly(lambda rows: _count_waiting(rows, runs_since))

    def list_closed(self, days: int = 7) -> Future[tuple[ClosedRow, ...]]:
        """What closed in the last days, by itself or by a decision, the latest first.

        Args:
            days: 1 or more.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()
        since = storage.clock.now_ms() - max(1, days) * _DAY_MS
        return storage.read(lambda rows: self._desk.list_closed(rows, since))

    def list_items(self, actor: Actor, *, everything: bool = False) -> Future[tuple[ListedConflict, ...]]:
        """The items as the command line and clients get them, most harmful first.

        Args:
            actor: who asks; a client gets those of which it may see both memories.
            everything: closed ones too, behind the open ones, the latest first.

        Returns:
            200 items at most.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `read`.
        """
        storage = self._storage()
        scope, now = self._authority.make_scope(actor), storage.clock.now_ms()

        def read(rows: Rows) -> tuple[ListedConflict, ...]:
            within = None if scope.unrestricted else scope.space_ids
            ids = [row.id for row in self._desk.make_queue(rows, QueueRequest(cap=LISTED), now, within).rows]
            if everything:
                ids += [row.id for row in self._desk.list_closed(rows, 0, LISTED)]
            seen = [item_id for item_id in ids if _can_see_item(rows, item_id, scope)]
            items = tuple(self._read_listed_conflict(rows, item_id, now, actor) for item_id in seen[:LISTED])
            if not actor.is_owner:
                sides = (side for one in items for side in (one.existing, one.incoming) if side is not None)
                prefetch_scans(sides, (one.question for one in items))
            return items

        return storage.read(read)

    def _read_listed_conflict(self, rows: Rows, item_id: str, now_ms: int, actor: Actor) -> ListedConflict:
        item = self._require_item(rows, item_id, now_ms, brief=True)
        if actor.is_owner:
            return _listed_conflict_from_item(item, item.actions)
        # Who else asked for something, and why, is no client's business; nor what the owner calls whom by now, which
        # no memory that the client sees need say.
        plain = format_question(item.kind, ItemTopic()) if item.names else item.question
        return _listed_conflict_from_item(
            replace(item, asked=None, warning="", against=None, names=(), question=plain),
            _actions_open_to_client(rows, item, actor),
        )

    # ---- deciding

    def resolve(
        self, item_id: str, decision: Decision, actor: Actor = OWNER_ACTOR, request_id: str | None = None
    ) -> Future[DecisionReply]:
        """Decide one item: one named undo step.

        Args:
            item_id: as `read_item` takes it.
            decision: what is decided; a merge brings its text.
            actor: the person, or a client with `curate`, which never decides against what the person said.
            request_id: the caller's own id for this call: one that comes twice is carried out once.

        Returns:
            What came of it; the future raises NOT_FOUND, INVALID_INPUT, ACCESS_DENIED.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `curate`.
        """
        storage, search = self._storage(), self._search()
        client, scope = self._require_curator(actor)
        call = IdempotentCall(actor, request_id, {"verb": "resolve", "id": item_id, **asdict(decision)})

        def write_decision(embedded: Embedded | None) -> Future[DecisionReply]:
            def write(tx: Tx) -> DecisionReply:
                self._authority.check_terms_hold(actor, client)
                with storage.verb(tx, actor, "resolve", call) as verb:
                    if verb.earlier is not None:
                        return _decision_reply_from_json(verb.earlier)
                    full = _full_id(tx, item_id, scope)
                    vector, add_vectors = _vector_of(search, embedded), search.add_vectors
                    done = make_resolver(storage, search).resolve_item(
                        tx, full, decision, vector, actor, client, add_vectors
                    )
                    done = _add_withheld(tx, done, actor)
                    verb.set_outcome((*done.active, *done.retired), asdict(done))
                    return done

            return storage.write(write)

        if decision.action is not Action.MERGE or not (decision.text or "").strip():
            return write_decision(None)
        author = storage.read(lambda rows: _merged_text_author(rows, _full_id(rows, item_id, scope)))
        text = decision.text or ""
        return chain_work(
            chain_work(author, lambda name: search.embed_texts([embedding_text(text, author=name)])), write_decision
        )

    def resolve_many(self, ids: Sequence[str], decision: Decision, actor: Actor = OWNER_ACTOR) -> Future[DecisionReply]:
        """Decide many items alike: one undo step for all of them.

        Args:
            ids: 1 to 200 items.
            decision: anything but a merge.
            actor: as for `resolve`.

        Returns:
            What came of it; `refused` lists what could not be decided so, and why.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED without `curate`.
        """
        storage, search = self._storage(), self._search()
        client, scope = self._require_curator(actor)

        def write(tx: Tx) -> DecisionReply:
            seen = [item_id for item_id in ids if _can_see_item(tx, item_id, scope)]
            missing = {item_id: _NONE for item_id in ids if item_id not in seen}
            if not seen:
                raise UserError(Code.NOT_FOUND, _NONE)
            with storage.verb(tx, actor, "resolve") as verb:
                done = make_resolver(storage, search).resolve_many(
                    tx, seen, decision, actor, client, search.add_vectors
                )
                done = _add_withheld(tx, done, actor)
                verb.set_outcome((*done.active, *done.retired))
            return replace(done, refused={**missing, **done.refused})

        return storage.write(write)

    def turn_down(self, name: str) -> Future[TurnedDown]:
        """Turn down all that a client proposed or asked for and that waits: one undo step. The person's verb.

        Args:
            name: the client, also one that was revoked.

        Returns:
            What was done; the future raises NOT_FOUND. Where the person takes the step back meanwhile, it ends there.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage, search = self._storage(), self._search()

        def reject_first_batch(tx: Tx) -> _Turning:
            waiting = open_change_requests_of(tx, client_id_of(tx, name))[:AT_ONCE]
            return _reject_next_batch(tx, storage, search, name, _Turning(waiting, len(waiting)))

        def run() -> TurnedDown:
            at = storage.write(reject_first_batch).result()
            while at.waiting:
                at = storage.write(
                    partial(_reject_next_batch, storage=storage, search=search, name=name, at=at)
                ).result()
            return TurnedDown(at.step_id, at.items, at.left)

        return storage.run_on(storage.threads.reads, run)

    def _require_curator(self, actor: Actor) -> tuple[ClientRecord | None, Scope]:
        return self._authority.require_grant(actor, Grant.CURATE), self._authority.make_scope(actor)

    # ---- rules

    def list_review_rules(self) -> Future[tuple[ReviewRule, ...]]:
        """The decisions that are repeated, the oldest first.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._storage().read(list_rules)

    def forget_rule(self, rule_id: str) -> Future[str]:
        """Remove a rule; what it decided stays.

        Returns:
            The id of the undo step; the future raises NOT_FOUND.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()

        def write(tx: Tx) -> str:
            with storage.verb(tx, OWNER_ACTOR, "forget_rule") as verb:
                step = forget_rule(tx, storage.work, rule_id, OWNER_ACTOR)
                verb.set_outcome(())
            return step

        return storage.write(write)

    # ---- holding a source

    def hold_preview(self, request: HoldRequest) -> Future[HoldPreview]:
        """What holding back a source would hold, with all that was derived from it.

        Returns:
            Counts and ids; the future raises NOT_FOUND.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._storage().read(lambda rows: source_quarantine.preview_hold(rows, request))

    def hold_source(self, request: HoldRequest) -> Future[HoldReply]:
        """Hold back a source with all that was derived from it, as one undo step.

        Returns:
            What was held; the future raises NOT_FOUND, INVALID_INPUT.

        Raises:
            UserError: VAULT_LOCKED.
        """
        storage = self._storage()

        def write(tx: Tx) -> HoldReply:
            with storage.verb(tx, OWNER_ACTOR, source_quarantine.VERB) as verb:
                done = source_quarantine.hold_source(tx, storage.work, storage.make_id, request, OWNER_ACTOR)
                verb.set_outcome(done.ids)
            return done

        return storage.write(write)


@dataclass(frozen=True, slots=True)
class _Turning:
    """How far the turning down of a client's items is.

    Attributes:
        waiting: items that are still to be looked at.
        of: items there are in all.
        step_id: the step; None where it is not begun.
        items: items that were turned down.
        left: what of the client waits for the person now.
    """

    waiting: tuple[str, ...]
    of: int
    step_id: str | None = None
    items: int = 0
    left: int = 0


def _reject_next_batch(tx: Tx, storage: Storage, search: Search, name: str, at: _Turning) -> _Turning:
    """One transaction of it. The step is closed after each, so that a crash leaves none that cannot be taken back."""
    client_id = client_id_of(tx, name)
    there = dict.fromkeys(open_change_requests_of(tx, client_id))
    waiting = [one for one in at.waiting if one in there]
    if not waiting or (at.step_id is not None and not steps_in_force(tx, [at.step_id])):
        return replace(at, waiting=(), left=len(there))
    wanted, no = waiting[:A_TURN], Decision(Action.REJECT)
    resolver, label = make_resolver(storage, search), rejection_label(at.of)
    with storage.verb(tx, OWNER_ACTOR, "resolve") as verb:
        done = resolver.resolve_many(
            tx, wanted, no, OWNER_ACTOR, None, search.add_vectors, step_id=at.step_id, label=label
        )
        verb.set_outcome((*done.active, *done.retired))
    items, left = at.items + len(wanted) - len(done.refused), len(open_change_requests_of(tx, client_id))
    return _Turning(tuple(waiting[A_TURN:]), at.of, done.step_id or at.step_id, items, left)


def _vector_of(search: Search, embedded: Embedded | None) -> NDArray[np.float32] | None:
    """The vector of a united text in the space that is searched now; None where nothing is united.

    Raises:
        EnvironmentFaultError: there is none: the search model does not answer, or another space is searched by now.
    """
    if embedded is None:
        return None
    vectors = embedded.vectors_in(search.active_space)
    if vectors is None:
        raise EnvironmentFaultError(
            embedded.code or Code.BUSY, "The search model does not answer, so a united text cannot be kept; try later."
        )
    vector: NDArray[np.float32] = vectors[0]
    return vector


def _add_withheld(rows: Rows, done: DecisionReply, actor: Actor) -> DecisionReply:
    """Told to the person: what was let in and is kept from assistants all the same."""
    if not actor.is_owner:
        return replace(done, asked=())
    found = read_by_ids(rows, done.active)
    return replace(done, withheld=tuple(one for one in done.active if one in found and injection_reasons(found[one])))


def _decision_reply_from_json(fields: Mapping[str, Any]) -> DecisionReply:
    lists = {name: tuple(fields.get(name, ())) for name in ("active", "retired", "closed", "withheld", "asked")}
    return DecisionReply(**{**fields, **lists})


_NO_ITEM = QueueItem(
    id="", kind="", existing_id="", incoming_id="", space_id="", reason="", suggestion=None, confidence=None, state="",
    resolution=None, note=None, fingerprint=b"", opened_at=0, closed_at=None, later_until=None, detail={},
)  # fmt: skip


def _full_id(rows: Rows, text: str, scope: Scope) -> str:
    """The id of an item from a part of it; what the asker may not see does not exist."""
    if is_id(text):
        ids = [text]
    elif len(text) < _LEAST_PREFIX:
        raise UserError(Code.INVALID_INPUT, f"Write at least {_LEAST_PREFIX} characters of the conflict's id.")
    else:
        ids = [item.id for item in find_similar_ids(rows, text.lower())]
    there = [item_id for item_id in ids if _can_see_item(rows, item_id, scope)]
    if len(there) > 1:
        raise UserError(Code.INVALID_INPUT, "More than one conflict has these characters in its id; write more of it.")
    if not there:
        raise UserError(Code.NOT_FOUND, _NONE)
    return there[0]


def _can_see_item(rows: Rows, item_id: str, scope: Scope) -> bool:
    """Whether the asker may see an item; of one that does not exist the same is asked as of one out of sight."""
    found = read_item(rows, item_id)
    if scope == OWNER_SCOPE:
        return found is not None
    item = _NO_ITEM if found is None else found
    # What another client wishes waits for the person alone.
    is_open = scope.asker is None or requesting_client(rows, item) in (None, scope.asker)
    against = find_current_side(rows, item.existing_id, item.incoming_id) or item.existing_id
    sides = {item.incoming_id} if against is None else {item.incoming_id, against}
    return visible_ids(rows, sides, scope) == sides and is_open and found is not None


def _merged_text_author(rows: Rows, item_id: str) -> str | None:
    """Whose words a merged text counts as, for its vector."""
    item = read_item(rows, item_id)
    if item is None:
        return None
    against = find_current_side(rows, item.existing_id, item.incoming_id) or item.incoming_id
    found = read_by_ids(rows, [against]).get(against)
    return None if found is None else found.author


def _actions_open_to_client(rows: Rows, item: ReviewItem, actor: Actor) -> tuple[Action, ...]:
    """The decisions that a client with `curate` would not be refused."""
    incoming, existing = item.incoming.memory, None if item.existing is None else item.existing.memory
    persons = find_persons_words(rows, [incoming.id, *([] if existing is None else [existing.id])])
    rights = ClientRights(
        against_person=existing is not None and existing.id in persons,
        persons=incoming.id in persons,
        own=incoming.client_id == actor.client_id,
        weaker=existing is not None and incoming.trust < existing.trust,
        is_held=HELD in (incoming.status_reason, None if existing is None else existing.status_reason),
    )
    return tuple(action for action in item.actions if refusal_for_client(item.kind, action, rights) is None)


def _listed_conflict_from_item(item: ReviewItem, actions: tuple[Action, ...]) -> ListedConflict:
    return ListedConflict(
        id=item.id,
        kind=item.kind,
        state=item.state,
        question=item.question,
        existing=None if item.existing is None else item.existing.memory,
        incoming=item.incoming.memory,
        reason=item.why[0] if item.against is None else f"{item.why[0]} {item.why[-1]}",
        suggestion=item.suggestion,
        actions=actions,
        opened_at=item.opened_at,
        closed=item.closed,
        resolution=item.resolution,
        asked=item.asked,
        warning=item.warning,
        against=None if item.against is None else item.against.memory,
        names=item.names,
        answers=answer_words(item.kind, actions),
    )


def _count_waiting(rows: Rows, runs_since: int) -> dict[WaitingKind, int]:
    runs, regressions = rows.all(f"SELECT ({_UNSEEN_RUNS}), ({COUNT_REGRESSIONS})", (runs_since,))[0]
    return {
        WaitingKind.REVIEWS: count_open_items(rows),
        WaitingKind.RUNS: int(runs),
        WaitingKind.REGRESSIONS: int(regressions),
    }
