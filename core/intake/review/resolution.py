"""Deciding items of the desk, one or many, as one undo step; rules that repeat one; items that close by themselves.

A decision closes its item, closes what it made pointless, and may become a rule. A rule speaks of what it was made for:
a kind of item, the channel and the client of the newcomer; it never touches what the person said. What closes by itself
are questions that are none any more, and old ones that nobody is harmed by: that decides nothing and is no undo step,
and it opens again as soon as its memories are as they were.

Must not do: embed (the engine hands the vector of a merge in), show a text in a label, an error or the audit, apply a
rule to an item twice or to one that was there before it, or close by itself what the person still has to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.claims import PERSONS
from core.belief.review.queue import LOW, QueueEntry, age_days, read_waiting
from core.belief.review.wording import format_count, review_strings
from core.errors import Code, LociError, PreconditionError, UserError
from core.intake.review import resolution_actions
from core.intake.review.resolution_actions import ResolutionContext, ReviewCase, check_decision, load_case
from core.intake.transaction.admission import check_text
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transitions.review_items import find_lapsed, find_reopened, find_restated, refuse_imperatives
from core.intake.transitions.transitions import Transitions
from core.memory.write import Stored, VectorSpace, content_hash
from core.types.replies import ClientRecord
from core.types.reviews import Decision, DecisionReply, ReviewRule
from core.types.values import Action, Actor, Status
from core.vault.database.rows import EXPIRED, LAPSED, STANDS, Rows, to_json
from core.vault.database.tx import Tx

EXPIRES_DAYS = 90
"""Days an unimportant question waits; the spec is silent, our choice."""
_AT_ONCE = 500
# What concerns the owner's word is the owner's to decide, however old and of whatever kind.
_OWNERS = (
    "SELECT c.id FROM json_each(?) w JOIN conflicts c ON c.id = w.value "  # noqa: S608 - constants only
    "WHERE EXISTS (SELECT 1 FROM memories m WHERE m.id IN (c.incoming_id, c.existing_id) AND " + PERSONS + ")"
)


@dataclass(frozen=True, slots=True)
class StaleItems:
    """Ids of the review items that close, reopen or expire."""

    lapsed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lapsed or self.returned or self.expired)


def find_stale(rows: Rows, now_ms: int, *, expiry: bool) -> StaleItems:
    """Find the review items that close, reopen or expire now.

    Args:
        expiry: whether to look for what expired too; that reads the whole queue.
    """
    over = find_expired(rows, now_ms) if expiry else ()
    again = [*find_reopened(rows, LAPSED), *find_reopened(rows, STANDS)]
    return StaleItems(tuple(find_lapsed(rows)[:_AT_ONCE]), tuple(again[:_AT_ONCE]), over[:_AT_ONCE])


def find_expired(rows: Rows, now_ms: int) -> tuple[str, ...]:
    """Items that nobody decided for ninety days and whose harm is low."""
    old = [item.id for item in read_waiting(rows, now_ms) if _is_over(item, now_ms)]
    kept = {row[0] for row in rows.all(_OWNERS, (to_json(old),))} if old else set()
    return tuple(item_id for item_id in old if item_id not in kept)


def _is_over(item: QueueEntry, now_ms: int) -> bool:
    return -item.weight < LOW and age_days(now_ms, -item.newer) > EXPIRES_DAYS


def revalidate(tx: Tx, *, expiry: bool = False) -> int:
    """Close what is no longer a question, open again what is one after all.

    Args:
        tx: the transaction; nothing is recorded for undo.
        expiry: whether to close what expired too.
    """
    found = find_stale(tx, tx.now_ms, expiry=expiry)
    recorder, tx.recorder = tx.recorder, None
    try:
        said = find_restated(tx, found.lapsed)
        _close(tx, said, STANDS)
        _close(tx, [one for one in found.lapsed if one not in said], LAPSED)
        _close(tx, found.expired, EXPIRED)
        tx.update_many("conflicts", "id", found.returned, {"state": "open", "note": None, "closed_at": None})
    finally:
        tx.recorder = recorder
    return len(found.lapsed) + len(found.expired) + len(found.returned)


def _close(tx: Tx, ids: Sequence[str], note: str) -> None:
    changes = {"state": "moot", "note": note, "closed_at": tx.now_ms, "later_until": None}
    tx.update_many("conflicts", "id", ids, changes)


def has_stale(rows: Rows, now_ms: int, *, expiry: bool) -> bool:
    """Whether `revalidate` would change anything; so that the writer is not asked for nothing.

    Args:
        expiry: whether to look for what expired too.
    """
    return bool(find_stale(rows, now_ms, expiry=expiry))


SEEN = "review_rules_seen"
"""A key of `settings`: the newest item that rules have looked at; one that is undone is not decided again."""

_ALL = (
    "SELECT r.id, r.kind, r.action, r.source, k.name, r.created_at, r.applied FROM review_rules r "
    "LEFT JOIN clients k ON k.id = r.client_id ORDER BY r.created_at, r.id"
)
# The oldest rule decides; what the person said is left to the person, on either side.
_MATCHED = (
    "SELECT c.id, min(r.created_at || ' ' || r.id), r.id, r.action FROM conflicts c "  # noqa: S608 - constants only
    "JOIN memories i ON i.id = c.incoming_id "
    "JOIN review_rules r ON r.kind = c.kind AND r.source IS i.source AND r.client_id IS i.client_id "
    "WHERE c.state = 'open' AND c.id > ? AND c.opened_at >= r.created_at AND c.later_until IS NULL "
    "AND (r.action = 'reject' OR i.status_reason IS NOT 'held') "
    "AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id IN (c.incoming_id, c.existing_id) AND " + PERSONS + ") "
    "GROUP BY c.id ORDER BY c.id LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class RuleMatches:
    """Items that one rule decides alike."""

    rule_id: str
    action: Action
    items: tuple[str, ...]


def make_rule(tx: Tx, rule_id: str, case: ReviewCase, action: Action) -> None:
    """Make a decision a rule, unless the same rule stands.

    Args:
        rule_id: the id it gets.
        case: the item it was made for.
    """
    item, came = case.item, case.came
    known = tx.value(
        "SELECT id FROM review_rules WHERE kind = ? AND source IS ? AND client_id IS ?",
        (item.kind, came["source"], came["client_id"]),
    )
    if known is not None:
        tx.update("review_rules", {"id": known}, {"action": action.value, "created_at": tx.now_ms})
        return
    tx.insert(
        "review_rules",
        {
            "id": rule_id,
            "kind": item.kind,
            "action": action.value,
            "source": came["source"],
            "client_id": came["client_id"],
            "created_at": tx.now_ms,
        },
    )


def count_decisions(tx: Tx, rule_id: str, items: int) -> None:
    """Count what a rule decided.

    Args:
        items: how many items.
    """
    row = tx.row("review_rules", {"id": rule_id})
    if row is not None:
        tx.update("review_rules", {"id": rule_id}, {"applied": int(row["applied"]) + items})


def list_rules(rows: Rows) -> tuple[ReviewRule, ...]:
    """All rules, the oldest first."""
    return tuple(
        ReviewRule(rule_id, kind, Action(action), source, client, created_at, applied)
        for rule_id, kind, action, source, client, created_at, applied in rows.all(_ALL)
    )


def forget_rule(tx: Tx, work: UnitOfWork, rule_id: str, actor: Actor) -> str:
    """Remove a rule; what it decided stays.

    Returns:
        The id of the undo step.

    Raises:
        UserError: NOT_FOUND where there is no such rule.
    """
    if tx.row("review_rules", {"id": rule_id}) is None:
        raise UserError(Code.NOT_FOUND, "There is no such rule.")
    with work.verb(tx, "forget_rule", "Remove a rule of the desk", actor) as verb:
        tx.delete("review_rules", {"id": rule_id})
        verb.note(rule_id)
    return verb.step_id


def has_due_rules(rows: Rows) -> bool:
    """Whether rules have items to look at.

    Returns:
        False at once where there is no rule.
    """
    if rows.one("SELECT 1 FROM review_rules LIMIT 1") is None:
        return False
    return bool(rows.all(_MATCHED, (_last_seen_item(rows), 1)))


def find_due(rows: Rows, most: int) -> tuple[RuleMatches, ...]:
    """The items that rules decide now.

    Args:
        most: items at most.

    Returns:
        One for each rule that has any.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for item_id, _, rule_id, action in rows.all(_MATCHED, (_last_seen_item(rows), most)):
        found.setdefault((rule_id, action), []).append(item_id)
    return tuple(RuleMatches(rule_id, Action(action), tuple(items)) for (rule_id, action), items in found.items())


def mark_seen(tx: Tx, items: Sequence[str]) -> None:
    """Note that rules have had their turn with items, so that an undo is not undone by a rule.

    Args:
        items: from `find_due`.
    """
    if items:
        tx.run(
            "INSERT INTO settings (key, value, changed_at) VALUES (?, json_quote(?), ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
            (SEEN, max(items), tx.now_ms),
        )


def _last_seen_item(rows: Rows) -> str:
    return str(rows.value("SELECT json_extract(value, '$') FROM settings WHERE key = ?", (SEEN,), default=""))


VERB = "resolve"
SKIPPED_DAYS = 7
"""Days for which a skipped item stands behind the others; our choice."""
BATCH = 200
"""Items decided in one step at most: the cap of the queue."""
_DAY_MS = 86_400_000
_STILL_OPEN = "SELECT id FROM conflicts WHERE id IN (SELECT value FROM json_each(?)) AND state = 'open' ORDER BY id"
RULED, BY_CLIENT = "rule", "decided_client"
"""Notes of an item that the person did not decide: keys of `closed` in resources/help/review.json."""

Admit = Callable[[Transitions, str], object]
"""Lets a candidate that waited through the gate, as the person's wish, within the running verb."""


def activate(transitions: Transitions, memory_id: str) -> None:
    """Let a candidate stand without a look at what else stands; where no gate is wired."""
    transitions.activate(memory_id)


def leave_unread(transitions: Transitions, memory_id: str) -> None:
    """Leave a text unread; where no reader is wired."""
    transitions.assert_claims(memory_id)


@dataclass(frozen=True, slots=True)
class Resolver:
    """Carries out decisions.

    Attributes:
        make_id: makes UUIDv7 ids.
        work: opens verbs.
        space: the vector space of the vectors handed in.
        admit: lets a candidate through the gate.
        read: reads the claims of a text that was written at the desk
        (`core.intake.store.store.StoreService.read_anew`).
    """

    make_id: Callable[[], str]
    work: UnitOfWork
    space: VectorSpace
    admit: Admit = activate
    read: Admit = leave_unread

    def resolve(
        self,
        tx: Tx,
        item_id: str,
        decision: Decision,
        vector: NDArray[np.float32] | None,
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
    ) -> DecisionReply:
        """Decide one item in one transaction.

        Args:
            item_id: the item; the caller has checked that the actor may see it.
            vector: of a merge's text, (dims,).
            client: the client, if one decides.
            stored: told sequence, labels and vectors of changed rows, for the index.

        Raises:
            UserError: NOT_FOUND, INVALID_INPUT for what does not fit, ACCESS_DENIED for what is not this client's.
        """
        case = load_case(tx, item_id)
        check_decision(case, decision, client)
        if decision.action is Action.SKIP:
            return self.put_off(tx, [item_id], actor)
        check_decision_texts(decision, client)
        check_merge(tx, case, decision)
        label = step_label(case, decision.action)
        with self.work.verb(tx, VERB, label, actor) as verb:
            transitions = self._transitions(tx, verb, stored, actor)
            self._one(transitions, case, decision, vector, _note_of(client))
            if decision.remember:
                make_rule(tx, self.make_id(), case, decision.action)
            closed = self._settle(transitions, [item_id])
            verb.note(item_id, action=decision.action.value, memories=len(transitions.touched), closed=len(closed))
        return _make_decision_reply(transitions, label, case.ids, closed)

    def resolve_many(
        self,
        tx: Tx,
        ids: Sequence[str],
        decision: Decision,
        actor: Actor,
        client: ClientRecord | None,
        stored: Stored,
        *,
        rule: str | None = None,
        step_id: str | None = None,
        label: str = "",
    ) -> DecisionReply:
        """Decide several items alike, as one step; what cannot be decided so is left and listed.

        Args:
            ids: the items, at most `BATCH`.
            decision: what is decided; a merge needs a text of its own for each pair and is refused.
            client: the client, if one decides.
            stored: told sequence, labels and vectors of changed rows, for the index.
            rule: the rule that decides, if one does.
            step_id: a step that this goes on with; None for one of its own.
            label: the step's name; "" for that of the decision.

        Returns:
            What came of it, and why items were refused.

        Raises:
            UserError: INVALID_INPUT for too many items, none, or a merge.
        """
        wanted = list(dict.fromkeys(ids))
        _check_batch(wanted, decision)
        if decision.action is Action.SKIP:
            if client is not None:
                raise UserError(Code.ACCESS_DENIED, "Only the person puts a question off.")
            return self.put_off(tx, wanted, actor)
        batch = _Batch()
        named = label or many_label(decision.action, len(wanted))
        with self.work.verb(tx, VERB, named, actor, step_id=step_id) as verb:
            transitions = self._transitions(tx, verb, stored, actor)
            note = RULED if rule is not None else _note_of(client)
            for item_id in wanted:
                self._try(transitions, batch, item_id, decision, client, note)
            if rule is not None and batch.done:
                count_decisions(tx, rule, len(batch.done))
            closed = self._settle(transitions, batch.done)
            verb.note("", action=decision.action.value, items=len(batch.done), refused=len(batch.refused))
        return replace(_make_decision_reply(transitions, named, batch.ids, closed), refused=batch.refused)

    def _try(
        self,
        transitions: Transitions,
        batch: _Batch,
        item_id: str,
        decision: Decision,
        client: ClientRecord | None,
        note: str | None,
    ) -> None:
        try:
            case = load_case(transitions.tx, item_id)
            check_decision(case, decision, client)
            with _whole(transitions):
                self._one(transitions, case, decision, None, note)
        except UserError as error:
            batch.refused[item_id] = error.sentence
        except LociError as error:
            if error.code in (Code.CANCELLED, Code.BUG, Code.DISK_FULL):
                raise
            batch.refused[item_id] = "Something else stands in the way of it."
        else:
            batch.done.append(item_id)
            batch.ids += case.ids
            if decision.remember and len(batch.done) == 1:
                make_rule(transitions.tx, self.make_id(), case, decision.action)

    def put_off(self, tx: Tx, ids: Sequence[str], actor: Actor) -> DecisionReply:
        """Show items behind the others for a while; no undo step, nothing is decided.

        Returns:
            Which could not be put off, and why.
        """
        refused = {}
        with self.work.verb(tx, VERB, "", actor) as verb:
            tx.recorder = None  # a place in the queue is nothing to take back: an audit row, and no step
            for item_id in ids:
                row = tx.row("conflicts", {"id": item_id})
                if row is None or row["state"] != "open":
                    refused[item_id] = "That was decided already."
                    continue
                tx.update("conflicts", {"id": item_id}, {"later_until": tx.now_ms + SKIPPED_DAYS * _DAY_MS})
            done = len(ids) - len(refused)
            one = ids[0] if len(ids) == 1 else ""
            verb.note(one, action=Action.SKIP.value, items=done, refused=len(refused))
        return DecisionReply(None, "", refused=refused)

    def _transitions(self, tx: Tx, verb: Verb, stored: Stored, actor: Actor) -> Transitions:
        return Transitions(tx, verb, self.make_id, self.space, stored, by="owner" if actor.is_owner else "rules")

    def _one(
        self,
        transitions: Transitions,
        case: ReviewCase,
        decision: Decision,
        vector: NDArray[np.float32] | None,
        note: str | None,
    ) -> None:
        # Closed first: what the steps open or close about these memories meets a decided item, not this one.
        transitions.close_conflict(case.item.id, "resolved", decision.action.value, note)
        resolution_actions.apply_decision(ResolutionContext(transitions, case, decision, vector, self.admit, self.read))

    @staticmethod
    def _settle(transitions: Transitions, decided: Sequence[str]) -> tuple[str, ...]:
        """Other items about these memories: what is no longer a question closes with a note."""
        closed = transitions.close_moot()
        return tuple(item_id for item_id in closed if item_id not in decided)


@contextmanager
def _whole(transitions: Transitions) -> Iterator[None]:
    """The steps inside are taken whole or not at all; of steps that were not taken nothing is told."""
    opened, touched, lines = len(transitions.opened), len(transitions.touched), transitions.verb.lines
    try:
        with transitions.tx.attempt():
            yield
    except LociError:
        del transitions.opened[opened:]
        del transitions.touched[touched:]
        transitions.verb.forget_lines(lines)
        raise


def _note_of(client: ClientRecord | None) -> str | None:
    """Who decided, where it was not the person."""
    return None if client is None else BY_CLIENT


@dataclass
class _Batch:
    done: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def check_decision_texts(decision: Decision, client: ClientRecord | None) -> None:
    """Refuse words of a client that read like an instruction (E10.14.3); only the person lets such a text stand.

    Args:
        client: who decides; None for the owner.

    Raises:
        UserError: ACCESS_DENIED.
    """
    if client is None:
        return
    refuse_imperatives([decision.when or ""], [decision.text or ""])


def check_merge(tx: Tx, case: ReviewCase, decision: Decision) -> None:
    """Refuse a merge whose text cannot be stored or stands already.

    Raises:
        UserError: INVALID_INPUT, TEXT_TOO_LARGE.
    """
    if decision.action is not Action.MERGE:
        return
    if decision.text is None:
        raise UserError(Code.INVALID_INPUT, "A merge needs the text that shall stand for both.")
    check_text(decision.text, 8 * 1024)
    twin = tx.value(
        "SELECT 1 FROM memories WHERE content_hash = ? AND +space_id = ? AND +kind = ? "
        "AND +status IN ('active', 'disputed') AND id NOT IN (?, ?) LIMIT 1",
        (
            content_hash(decision.text),
            case.came["space_id"] if case.have is None else case.have["space_id"],
            case.came["kind"],
            case.item.incoming_id,
            case.item.incoming_id if case.have is None else case.have["id"],
        ),
    )
    if twin is not None:
        raise PreconditionError("The same words stand already in another memory.")


def _check_batch(ids: Sequence[str], decision: Decision) -> None:
    if not ids or len(ids) > BATCH:
        raise UserError(Code.INVALID_INPUT, f"Choose between 1 and {BATCH} items.")
    if decision.action is Action.MERGE:
        raise UserError(Code.INVALID_INPUT, "A merge needs its own text for each pair; decide them one by one.")


_SINGLE = {Action.SUPERSEDE: "accept", Action.REJECT: "archive"}
_SPECIAL = {
    "stale": {Action.SUPERSEDE: "confirm", Action.REJECT: "retire"},
    "gap": {Action.REJECT: "dismiss"},
    "entity_merge": {Action.SUPERSEDE: "join", Action.REJECT: "apart"},
    "approval": {Action.SUPERSEDE: "allow", Action.REJECT: "refuse"},
}


def step_label(case: ReviewCase, action: Action) -> str:
    """The name of a decision's undo step.

    Returns:
        Words of Loci's own.
    """
    plain = _SINGLE.get(action, action.value) if case.have is None else action.value
    return str(review_strings()["labels_of_steps"][_SPECIAL.get(case.item.kind, {}).get(action, plain)])


def many_label(action: Action, count: int) -> str:
    """The name of a batch's undo step.

    Args:
        count: items it was made for.

    Returns:
        Words of Loci's own.
    """
    said = review_strings()["labels_of_steps"]
    return _format_many_label(str(said.get(action.value, action.value)), count)


def rejection_label(count: int) -> str:
    """The name of the step that turns down all that a client asked for.

    Args:
        count: items.

    Returns:
        Words of Loci's own.
    """
    return _format_many_label(str(review_strings()["labels_of_steps"]["turned_down"]), count)


def _format_many_label(name: str, count: int) -> str:
    return format_count({"one": name, "many": f"{name}: {{count}} decisions"}, count)


def _make_decision_reply(
    transitions: Transitions, label: str, ids: Iterable[str], closed: tuple[str, ...]
) -> DecisionReply:
    tx, verb = transitions.tx, transitions.verb
    concerned = list(dict.fromkeys((*transitions.touched, *ids)))
    stands: dict[str, bool] = {}
    for memory_id, status in tx.all(
        "SELECT id, status FROM memories WHERE id IN (SELECT value FROM json_each(?))", (to_json(concerned),)
    ):
        stands[memory_id] = status == Status.ACTIVE.value
    ordered = [memory_id for memory_id in concerned if memory_id in stands]
    return DecisionReply(
        step_id=verb.step_id if verb.changes else None,
        label=label,
        active=tuple(memory_id for memory_id in ordered if stands[memory_id]),
        retired=tuple(memory_id for memory_id in ordered if not stands[memory_id]),
        closed=closed,
        asked=tuple(row[0] for row in tx.all(_STILL_OPEN, (to_json(transitions.opened),))),
    )
