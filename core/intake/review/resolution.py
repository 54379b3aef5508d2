"""Deciding items of the desk: one verb, one named undo step, for one item or for many.

A decision closes its item, closes what it made pointless, and may become a rule. Must not do: embed (the engine hands
the vector of a merge in), or show a text in a label, an error or the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.belief.review.wording import format_count, review_strings
from core.errors import Code, LociError, PreconditionError, UserError
from core.intake.review import decision_rules, resolution_actions
from core.intake.review.cases import ReviewCase, check_decision, load_case
from core.intake.review.resolution_actions import ResolutionContext
from core.intake.transaction.unit_of_work import UnitOfWork, Verb
from core.intake.transaction.validation import check_text
from core.intake.transitions.injection_hold import refuse_imperatives
from core.intake.transitions.transitions import Transitions
from core.memory.draft import content_hash, to_json
from core.memory.write import Stored, VectorSpace
from core.types.replies import ClientRecord
from core.types.reviews import Decided, Decision
from core.types.values import Action, Actor, Status
from core.vault.database.tx import Tx

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
    ) -> Decided:
        """Decide one item in one transaction.

        Args:
            item_id: the item; the caller has checked that the actor may see it.
            decision: what is decided.
            vector: of a merge's text, (dims,).
            client: the client, if one decides.
            stored: told sequence, labels and vectors of changed rows, for the index.

        Returns:
            What came of it.

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
                decision_rules.make_rule(tx, self.make_id(), case, decision.action)
            closed = self._settle(transitions, [item_id])
            verb.note(item_id, action=decision.action.value, memories=len(transitions.touched), closed=len(closed))
        return _decided(transitions, label, case.ids, closed)

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
    ) -> Decided:
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
                decision_rules.count_decisions(tx, rule, len(batch.done))
            closed = self._settle(transitions, batch.done)
            verb.note("", action=decision.action.value, items=len(batch.done), refused=len(batch.refused))
        return replace(_decided(transitions, named, batch.ids, closed), refused=batch.refused)

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
                decision_rules.make_rule(transitions.tx, self.make_id(), case, decision.action)

    def put_off(self, tx: Tx, ids: Sequence[str], actor: Actor) -> Decided:
        """Show items behind the others for a while; no undo step, nothing is decided.

        Args:
            ids: the items.

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
        return Decided(None, "", refused=refused)

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
    return _of_many(str(said.get(action.value, action.value)), count)


def turned_down_label(count: int) -> str:
    """The name of the step that turns down all that a client asked for.

    Args:
        count: items.

    Returns:
        Words of Loci's own.
    """
    return _of_many(str(review_strings()["labels_of_steps"]["turned_down"]), count)


def _of_many(name: str, count: int) -> str:
    return format_count({"one": name, "many": f"{name}: {{count}} decisions"}, count)


def _decided(transitions: Transitions, label: str, ids: Iterable[str], closed: tuple[str, ...]) -> Decided:
    tx, verb = transitions.tx, transitions.verb
    concerned = list(dict.fromkeys((*transitions.touched, *ids)))
    stands: dict[str, bool] = {}
    for memory_id, status in tx.all(
        "SELECT id, status FROM memories WHERE id IN (SELECT value FROM json_each(?))", (to_json(concerned),)
    ):
        stands[memory_id] = status == Status.ACTIVE.value
    ordered = [memory_id for memory_id in concerned if memory_id in stands]
    return Decided(
        step_id=verb.step_id if verb.changes else None,
        label=label,
        active=tuple(memory_id for memory_id in ordered if stands[memory_id]),
        retired=tuple(memory_id for memory_id in ordered if not stands[memory_id]),
        closed=closed,
        asked=tuple(row[0] for row in tx.all(_STILL_OPEN, (to_json(transitions.opened),))),
    )
