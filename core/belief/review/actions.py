"""Which decisions an item of the desk takes: one table, for what is shown and for what is carried out.

Must not do: carry a decision out, or know who decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.types.values import Action

_ALL = tuple(Action)
_YES_NO = (Action.SUPERSEDE, Action.REJECT, Action.SKIP)

PAIRED: Mapping[str, tuple[Action, ...]] = MappingProxyType(
    {
        "contradiction": _ALL,
        "classification": _ALL,
        "quarantine": _ALL,
        "proposal": _ALL,
        "approval": _YES_NO,
        "injection": (Action.SUPERSEDE, Action.REJECT, Action.KEEP_BOTH, Action.MERGE, Action.SKIP),
        "stale": _YES_NO,
        "gap": (Action.REJECT, Action.SKIP),
        "entity_merge": _YES_NO,
    }
)
"""Decisions on two memories, by the kind of the item."""

ALONE: Mapping[str, tuple[Action, ...]] = MappingProxyType(
    {
        "quarantine": _YES_NO,
        "injection": _YES_NO,
        "proposal": _YES_NO,
        "approval": _YES_NO,
        "stale": _YES_NO,
        "gap": (Action.REJECT, Action.SKIP),
        "entity_merge": _YES_NO,
        "contradiction": _YES_NO,
        "classification": _YES_NO,
    }
)
"""Decisions on one memory, by the kind of the item: SUPERSEDE accepts it, REJECT turns it down."""


REPEATABLE = (Action.SUPERSEDE, Action.REJECT, Action.KEEP_BOTH)
"""Decisions that need nothing but themselves, so that they can be made a rule."""

PERSON_ONLY = frozenset({"injection", "approval"})
"""Kinds that nobody but the person lets through: no rule, and no client."""

HELD = "held"
"""Reason of the status of what the person held back: nobody but the person lets it in again."""


@dataclass(frozen=True, slots=True)
class ItemShape:
    """What of the memories decides which actions there are.

    Attributes:
        paired: there are two.
        split: one of them is a part of a text that was split.
        same_text: both have the same words.
        same_kind: both are of one kind.
    """

    paired: bool
    split: bool = False
    same_text: bool = False
    same_kind: bool = True


def available_actions(kind: str, shape: ItemShape) -> tuple[Action, ...]:
    """The decisions that would be carried out.

    Args:
        kind: of the item.
        shape: of what it concerns.

    Returns:
        In the order of `Action`.
    """
    found = (PAIRED if shape.paired else ALONE)[kind]
    refused: set[Action] = set()
    if shape.split or not shape.same_kind:
        refused.add(Action.MERGE)  # a text in parts is not edited as one; a rule and a fact are not one memory
    if shape.same_text:
        # Two facts of the same words cannot both stand.
        refused |= {Action.KEEP_BOTH, Action.KEEP_BOTH_DATED, Action.SCOPE_SPLIT, Action.DISPUTE_BOTH, Action.MERGE}
    return tuple(action for action in Action if action in found and action not in refused)


def repeatable_actions(
    kind: str, actions: tuple[Action, ...], *, said_by_owner: bool, held: bool = False
) -> tuple[Action, ...]:
    """Which decisions may be made a rule.

    Args:
        kind: of the item.
        actions: what can be decided.
        said_by_owner: one of the two is what the person said: no rule decides about that.
        held: the person held one of the two back: a rule may only turn such down.

    Returns:
        Some of the actions.
    """
    if said_by_owner:
        return ()
    wanted = (Action.REJECT,) if kind in PERSON_ONLY or held else REPEATABLE
    return tuple(action for action in actions if action in wanted)


@dataclass(frozen=True, slots=True)
class ClientRights:
    """What of an item decides what a client may do about it.

    Attributes:
        against_person: what stands is what the person said or vouched for; `persons`: the newcomer is.
        own: the client brought the newcomer itself.
        weaker: the newcomer is trusted less than what stands.
        held: the person held one of the two back.
    """

    against_person: bool
    persons: bool
    own: bool
    weaker: bool
    held: bool = False


def _persons_alone(kind: str, action: Action, rights: ClientRights) -> str | None:
    """Why nobody but the person decides so, whatever the client."""
    if action is Action.SKIP:
        return "Only the person puts a question off."
    if kind in PERSON_ONLY:
        return "Only the person decides about that."
    if rights.held and action is not Action.REJECT:
        return "Only the person lets in what the person held back."
    return None


def refusal_for_client(kind: str, action: Action, rights: ClientRights) -> str | None:
    """Why a client that may curate does not decide so.

    Args:
        kind: of the item.
        action: the decision.
        rights: what decides it.

    Returns:
        One sentence; None where it may.
    """
    always = _persons_alone(kind, action, rights)
    if always is not None:
        return always
    if rights.persons or (rights.against_person and action is not Action.REJECT):
        return "Only the person changes what the person said."
    if action is Action.REJECT:
        return None
    if rights.own:
        return "A client does not decide for what it brought itself."
    if rights.weaker and action in (Action.SUPERSEDE, Action.MERGE):
        return "Only the person lets a memory replace one that is trusted more."
    return None
