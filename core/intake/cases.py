"""An item of the desk as a decision finds it, and who may decide what about it.

Must not do: change a row, or decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.belief.desk_actions import PERSON_ONLY, Shape, actions_of, repeatable
from core.belief.desk_rows import Item, is_applicable, read_item, standing_side
from core.errors import Code, UserError
from core.types.replies import ClientRecord
from core.types.reviews import Action, Decision
from core.types.words import Source
from core.vault.tx import Tx

_SAID = frozenset({Source.USER_EXPLICIT.value, Source.USER_IMPLICIT.value})
_HARMLESS = frozenset({Action.REJECT, Action.SKIP})

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One open item with the rows it concerns.

    Attributes:
        item: as it was read in this transaction.
        came: the newcomer's row of `memories`.
        have: the row of what stands; None where nothing does.
    """

    item: Item
    came: Row
    have: Row | None

    @property
    def actions(self) -> tuple[Action, ...]:
        """What can be decided."""
        both = [row for row in (self.came, self.have) if row is not None]
        same = self.have is not None and all(
            self.have[name] == self.came[name] for name in ("content_hash", "space_id", "kind", "scope_session")
        )
        shape = Shape(
            paired=self.have is not None,
            split=any(row["part_of"] is not None for row in both),
            same_text=same,
            same_kind=self.have is None or self.have["kind"] == self.came["kind"],
        )
        return actions_of(self.item.kind, shape)

    @property
    def is_owners(self) -> bool:
        """Whether what stands is what the person said."""
        return self.have is not None and said_by_owner(self.have)


def said_by_owner(row: Row) -> bool:
    """Whether a memory is what the person said: on purpose or in passing, and no client brought it.

    Args:
        row: of `memories`.

    Returns:
        True also for the person's own messages of an import.
    """
    return row["client_id"] is None and row["source"] in _SAID


def load(tx: Tx, item_id: str) -> Case:
    """Read an item that shall be decided.

    Args:
        tx: the transaction.
        item_id: the item.

    Returns:
        The case.

    Raises:
        UserError: NOT_FOUND where there is none, INVALID_INPUT where it is closed or no longer a question.
    """
    item = read_item(tx, item_id)
    if item is None:
        raise UserError(Code.NOT_FOUND, "There is no such conflict.")
    if item.state != "open":
        raise UserError(Code.INVALID_INPUT, "That was decided already; undo the decision to decide anew.")
    if not is_applicable(tx, item_id):
        raise UserError(Code.INVALID_INPUT, "That is settled: one of the two memories no longer stands.")
    came = tx.row("memories", {"id": item.incoming_id})
    against = standing_side(tx, item.existing_id, item.incoming_id)
    have = None if against is None else tx.row("memories", {"id": against})
    if came is None:
        raise UserError(Code.NOT_FOUND, "There is no such conflict.")
    return Case(item, came, have)


def check(case: Case, decision: Decision, client: ClientRecord | None) -> None:
    """Refuse a decision that does not fit the item, or that is not this client's to make.

    Args:
        case: the item.
        decision: what is wanted.
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
        _check_client(case, decision.action, client)


def _check_rule(case: Case, decision: Decision, client: ClientRecord | None) -> None:
    if client is not None:
        raise UserError(Code.ACCESS_DENIED, "Only the person makes a rule of a decision.")
    owners = case.is_owners or said_by_owner(case.came)
    if owners:
        raise UserError(Code.INVALID_INPUT, "No rule decides about what you said yourself; decide it each time.")
    if decision.action not in repeatable(case.item.kind, case.actions, said_by_owner=owners):
        raise UserError(Code.INVALID_INPUT, "This decision depends on the two memories and cannot be made a rule.")


def _check_client(case: Case, action: Action, client: ClientRecord) -> None:
    """Nothing but the owner's word supersedes, merges into or disputes what the owner said (design section 4)."""
    if case.is_owners and action not in _HARMLESS:
        raise UserError(Code.ACCESS_DENIED, "Only the person changes what the person said.")
    if action is Action.SKIP:
        return
    if case.item.kind in PERSON_ONLY:
        raise UserError(Code.ACCESS_DENIED, "Only the person decides about that.")
    if said_by_owner(case.came):
        raise UserError(Code.ACCESS_DENIED, "Only the person changes what the person said.")
    if action is Action.REJECT:
        return
    if case.came["client_id"] == client.id:
        raise UserError(Code.ACCESS_DENIED, "A client does not decide for what it brought itself.")
    if case.have is not None and action in (Action.SUPERSEDE, Action.MERGE) and _weaker(case.came, case.have):
        raise UserError(Code.ACCESS_DENIED, "Only the person lets a memory replace one that is trusted more.")


def _weaker(came: Row, have: Row) -> bool:
    return float(came["trust"]) < float(have["trust"])
