"""A person says how a rule served, or how a procedure went; each is one named undo step.

Must not do: count; the engine does.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from core.types.lifecycle import Marked, OutcomeTaken
from core.types.values import OWNER_ACTOR, Kind, Memory
from ui.context import Context
from ui.inspector.belief.verdicts import JUDGED, ReasonDialog
from ui.strings import practice_strings
from ui.tasks import write
from ui.undo import offer_undo

HELPFUL, HARMFUL, WORKED, FAILED = "helpful", "harmful", "worked", "failed"


def is_rule(memory: Memory) -> bool:
    """Whether it can be said that it helped, or did harm."""
    return memory.kind is Kind.RULE and memory.status in JUDGED


def is_procedure(memory: Memory) -> bool:
    """Whether it can be said that it worked, or did not."""
    return memory.kind is Kind.PROCEDURE and memory.status in JUDGED


def mark(context: Context, memory_id: str, outcome: str, reason: str = "") -> None:
    """Say how it was, and offer to take it back.

    Args:
        context: what parts are given.
        memory_id: a rule, or a procedure.
        outcome: `helpful` or `harmful` of a rule, `worked` or `failed` of a procedure.
        reason: why it harmed, in the person's words; "" for none.
    """
    practice, words = context.bridge.engine.practice, practice_strings()
    act = words["acts"][outcome]

    def marked(done: Marked) -> None:
        more = words["turned"] if done.inverted else words["asked"] if done.conflict is not None else ""
        offer_undo(context, f"{act['done']} {more}".strip(), done.step_id)

    def taken(done: OutcomeTaken) -> None:
        offer_undo(context, act["done"], done.step_id)

    if outcome in (WORKED, FAILED):
        went = write(act["label"], lambda: practice.outcome(memory_id, OWNER_ACTOR, success=outcome == WORKED))
        context.tasks.run(went.success(taken))
    elif outcome == HELPFUL:
        context.tasks.run(write(act["label"], lambda: practice.helpful(memory_id, OWNER_ACTOR)).success(marked))
    else:
        harmed = write(act["label"], lambda: practice.harmful(memory_id, OWNER_ACTOR, reason or None))
        context.tasks.run(harmed.success(marked))


class HarmDialog(ReasonDialog):
    """Asks what happened; the reason may stay empty."""

    def __init__(self, context: Context, memory_id: str, parent: QWidget) -> None:
        """Make it.

        Args:
            context: what parts are given.
            memory_id: the rule that did harm.
            parent: the inspector; the dialog goes with it when the vault is locked.
        """
        words = practice_strings()["harm"]
        super().__init__(context, words, lambda reason: mark(context, memory_id, HARMFUL, reason), parent)
