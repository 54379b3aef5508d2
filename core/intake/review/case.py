"""An item of the desk as a decision finds it: its rows, what can be decided, who may decide it, and how it is called.

Must not do: decide, change a row, or show a text in a label or an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.belief.claims import find_persons_words
from core.belief.review.items import (
    HELD,
    ClientRights,
    ItemShape,
    QueueItem,
    available_actions,
    find_current_side,
    is_applicable,
    read_item,
    refusal_for_client,
    repeatable_actions,
)
from core.belief.review.wording import review_strings
from core.config.help_strings import format_count
from core.errors import Code, PreconditionError, UserError
from core.intake.transaction.admission import check_memory_text
from core.intake.transitions.injection_hold import refuse_imperatives
from core.memory.write import content_hash
from core.types.clients import ClientRecord
from core.types.reviews import Decision
from core.types.values import Action
from core.vault.database.rows import MAY_BELONG, to_json
from core.vault.database.tx import Tx

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """One open item with the rows it concerns.

    Attributes:
        item: as it was read in this transaction.
        incoming: the newcomer's row of `memories`.
        existing: the row of what stands; None where nothing does.
        persons: ids of those of the two that the person said or vouched for.
    """

    item: QueueItem
    incoming: Row
    existing: Row | None
    persons: frozenset[str] = frozenset()

    @property
    def actions(self) -> tuple[Action, ...]:
        """What can be decided."""
        both = [row for row in (self.incoming, self.existing) if row is not None]
        same = self.existing is not None and all(
            self.existing[name] == self.incoming[name] for name in ("content_hash", "space_id", "kind", "scope_session")
        )
        shape = ItemShape(
            paired=self.existing is not None,
            split=any(row["part_of"] is not None for row in both),
            same_text=same,
            same_kind=self.existing is None or self.existing["kind"] == self.incoming["kind"],
        )
        return available_actions(self.item.kind, shape)

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories concerned, the newcomer first."""
        return (str(self.incoming["id"]), *([] if self.existing is None else [str(self.existing["id"])]))

    @property
    def is_held(self) -> bool:
        """Whether the person held one of the two back."""
        return any(row["status_reason"] == HELD for row in (self.incoming, self.existing) if row is not None)

    @property
    def is_owners(self) -> bool:
        """Whether what stands is what the person said."""
        return self.existing is not None and self.existing["id"] in self.persons

    @property
    def is_note(self) -> bool:
        """Whether nobody was asked: that the two may belong together is a note, which can be dismissed."""
        return self.item.note == MAY_BELONG

    @property
    def brings_owners(self) -> bool:
        """Whether the newcomer is what the person said."""
        return self.incoming["id"] in self.persons


def load_case(tx: Tx, item_id: str) -> ReviewCase:
    """Read an item that shall be decided.

    Raises:
        UserError: NOT_FOUND where there is none, INVALID_INPUT where it is closed or no longer a question.
    """
    item = read_item(tx, item_id)
    if item is None:
        raise UserError(Code.NOT_FOUND, "There is no such conflict.")
    if item.state != "open" and item.note != MAY_BELONG:
        raise PreconditionError("That was decided already; undo the decision to decide anew.")
    if not is_applicable(tx, item_id):
        raise PreconditionError("That is settled: one of the two memories no longer stands.")
    incoming = tx.row("memories", {"id": item.incoming_id})
    against = find_current_side(tx, item.existing_id, item.incoming_id)
    existing = None if against is None else tx.row("memories", {"id": against})
    if incoming is None:
        raise UserError(Code.NOT_FOUND, "There is no such conflict.")
    return ReviewCase(
        item, incoming, existing, find_persons_words(tx, [item.incoming_id, *([] if against is None else [against])])
    )


def check_decision(case: ReviewCase, decision: Decision, client: ClientRecord | None) -> None:
    """Refuse a decision that does not fit the item, or that is not this client's to make.

    Args:
        client: who decides; None for the person.

    Raises:
        UserError: INVALID_INPUT for what does not fit, ACCESS_DENIED for what only the person decides.
    """
    if decision.action not in case.actions:
        raise UserError(
            Code.INVALID_INPUT,
            f"This item takes one of: {', '.join(action.value for action in case.actions)}.",
        )
    if decision.remember:
        _check_rule(case, decision, client)
    if client is not None:
        _check_client_may_decide(case, decision.action, client)


def _check_rule(case: ReviewCase, decision: Decision, client: ClientRecord | None) -> None:
    if client is not None:
        raise UserError(Code.ACCESS_DENIED, "Only the person makes a rule of a decision.")
    owners = case.is_owners or case.brings_owners
    if owners:
        raise PreconditionError("No rule decides about what you said yourself; decide it each time.")
    if decision.action not in repeatable_actions(case.item.kind, case.actions, is_owners=owners, is_held=case.is_held):
        raise PreconditionError("This decision depends on the two memories and cannot be made a rule.")


def _check_client_may_decide(case: ReviewCase, action: Action, client: ClientRecord) -> None:
    """Nothing but the owner's word supersedes, merges into or disputes what the owner said (design section 4)."""
    rights = ClientRights(
        against_person=case.is_owners,
        persons=case.brings_owners,
        own=case.incoming["client_id"] == client.id,
        weaker=case.existing is not None and float(case.incoming["trust"]) < float(case.existing["trust"]),
        is_held=case.is_held,
    )
    why = refusal_for_client(case.item.kind, action, rights)
    if why is not None:
        raise UserError(Code.ACCESS_DENIED, why)


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
    check_memory_text(decision.text, 8 * 1024)
    twin = tx.value(
        "SELECT 1 FROM memories WHERE content_hash = ? AND +space_id = ? AND +kind = ? "
        "AND +status IN ('active', 'disputed') AND id NOT IN (?, ?) LIMIT 1",
        (
            content_hash(decision.text),
            case.incoming["space_id"] if case.existing is None else case.existing["space_id"],
            case.incoming["kind"],
            case.item.incoming_id,
            case.item.incoming_id if case.existing is None else case.existing["id"],
        ),
    )
    if twin is not None:
        raise PreconditionError("The same words stand already in another memory.")


_SINGLE = {Action.SUPERSEDE: "accept", Action.REJECT: "archive"}
_SPECIAL = {
    "stale": {Action.SUPERSEDE: "confirm", Action.REJECT: "retire"},
    "gap": {Action.REJECT: "dismiss"},
    "entity_merge": {Action.SUPERSEDE: "join", Action.REJECT: "apart"},
    "approval": {Action.SUPERSEDE: "allow", Action.REJECT: "refuse"},
}


def label_decision_step(case: ReviewCase, action: Action) -> str:
    """The name of a decision's undo step.

    Returns:
        Words of Loci's own.
    """
    plain = _SINGLE.get(action, action.value) if case.existing is None else action.value
    return str(review_strings()["labels_of_steps"][_SPECIAL.get(case.item.kind, {}).get(action, plain)])


def many_label(action: Action, count: int, kinds: Collection[str] = ()) -> str:
    """The name of a batch's undo step.

    Args:
        count: items it was made for.
        kinds: of these items; where all are of one kind with words of its own, these are used.

    Returns:
        Words of Loci's own.
    """
    labels = review_strings()["labels_of_steps"]
    own = _SPECIAL.get(next(iter(kinds)), {}) if len(kinds) == 1 else {}
    return _format_many_label(str(labels.get(own.get(action, action.value), action.value)), count)


def kinds_of(tx: Tx, ids: Sequence[str]) -> frozenset[str]:
    """The kinds of items."""
    found = tx.all("SELECT DISTINCT kind FROM conflicts WHERE id IN (SELECT value FROM json_each(?))", (to_json(ids),))
    return frozenset(str(row[0]) for row in found)


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
