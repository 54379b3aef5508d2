"""Saying what was done with an Undo beside it, and what taking it back could not bring back.

Must not do: know a page; all of it works when the page that asked for it is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from core.types.replies import UndoReport
from core.types.values import OWNER_ACTOR
from ui.bridge import make_write
from ui.context import Context
from ui.strings import format_count, undo_strings
from ui.widgets.plaintext import one_line

_PREFIXES = ("Undo: ", "Redo: ")
_NAME = 64


def offer_undo(context: Context, sentence: str, step_id: str) -> None:
    """Say what was done, with an Undo beside it.

    Args:
        context: what pages and parts are given; nothing else is held.
        sentence: what was done; no memory text.
    """
    context.desk.show_message(sentence, undo_strings()["undo"], lambda: undo_step(context, step_id))


def undo_step(context: Context, step_id: str) -> None:
    """Undo a step, and say so: what of it changed since stays, and that is said too.

    Args:
        context: what pages and parts are given.
    """
    engine = context.bridge.engine
    undoing = make_write(undo_strings()["undoing"], lambda: engine.memories.undo_step(step_id, OWNER_ACTOR))
    context.tasks.run(undoing.success(lambda report: report_undo(context, report)))


def report_undo(
    context: Context, report: UndoReport, act: str = "undo", turn: Callable[[str, str], None] | None = None
) -> None:
    """Say what an undo or a redo took back; what is looked at may be another now.

    Args:
        act: `undo` or `redo`.
        turn: given the new step and the other one of the two, takes this back again; without it that is not offered.
    """
    strings = undo_strings()
    done, other = ("redone", "undo") if act == "redo" else ("undone", "redo")
    offered = () if turn is None else (strings[other], partial(turn, report.undo_step_id, other))
    context.desk.show_message(describe_undo(strings[done], report), *offered)
    context.selection.reselect(context.selection.current, "undo")


def describe_nothing_to_undo(command: str) -> str:
    """What is said where there is nothing to take back.

    Args:
        command: `edit.undo` or `edit.redo`.
    """
    return str(undo_strings()["nothing"][command])


def describe_undo(done: str, report: UndoReport) -> str:
    """What an undo or a redo took back, whose step it was, and what it left.

    Args:
        done: `Undone` or `Redone`.

    Returns:
        Sentences; no memory text.
    """
    label = report.label
    for prefix in _PREFIXES:
        label = label.removeprefix(prefix)
    whose = "" if report.client is None else f" {undo_strings()['of_client'].format(client=report.client)}"
    return f"{done}: {label}.{whose}{describe_unpaired(report.unpaired)}{describe_left(len(report.left))}"


def describe_unpaired(names: Sequence[str]) -> str:
    """Which clients came back and are to be paired anew, as sentences to put behind another one.

    Returns:
        Them, each with a blank before it; "" for none.
    """
    return "".join(f" {undo_strings()['unpaired'].format(name=one_line(name, _NAME))}" for name in names)


def describe_left(count: int) -> str:
    """What an undo left as it is, as a sentence to put behind another one.

    Args:
        count: of what the step had changed and something else changed since.

    Returns:
        It, with a blank before it; "" where nothing was left.
    """
    return f" {format_count(undo_strings()['left'], count)}" if count else ""
