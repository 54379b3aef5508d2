"""What the inspector shows while other pages change the vault: it is read again, whatever came, went or came back."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from engine_rig import Rig, facts
from inspector_rig import look
from pytestqt.qtbot import QtBot
from window_rig import remember, settle

from core.errors import LociError
from core.events import Changed
from core.types.values import OWNER_ACTOR, SecurityTier
from core.types.views import Revision
from ui.context import Context, Inspected
from ui.inspector.panel import Inspector
from ui.seal_summary import SealedSummary

SECRET = "a second secret"


def undo(rig: Rig) -> None:
    step = rig.engine.history.next_undo().result(30)
    if step is not None:
        rig.engine.memories.undo_step(step.id, OWNER_ACTOR).result(60)


def redo(rig: Rig) -> None:
    step = rig.engine.history.next_redo().result(30)
    if step is not None:
        rig.engine.memories.undo_step(step.id, OWNER_ACTOR).result(60)


def read_anew(rig: Rig, memory_id: str) -> Inspected | None:
    """What the inspector is to show; None where the memory is gone or sealed."""
    memories = rig.engine.memories
    try:
        detail = memories.show(memory_id, OWNER_ACTOR).result(30)
    except LociError:
        return None
    history = memories.list_versions(memory_id, OWNER_ACTOR).result(30)
    return Inspected(detail, history, memories.explain_trust(memory_id).result(30))


def test_what_an_undo_took_and_a_redo_brings_back_is_shown_again(
    qtbot: QtBot, inspector: Inspector, context: Context, rig: Rig
) -> None:
    memory = remember(rig.engine, "Ada keeps bees").memory_id
    look(qtbot, inspector, context, memory)
    undo(rig)
    settle(qtbot, lambda: inspector.inspected is None)
    redo(rig)
    settle(qtbot, lambda: inspector.inspected == read_anew(rig, memory))


def test_what_a_change_to_many_others_bears_on_is_read_again(
    qtbot: QtBot, inspector: Inspector, context: Context, rig: Rig
) -> None:
    memory = remember(rig.engine, "Ada keeps bees").memory_id
    look(qtbot, inspector, context, memory)
    # It changed with many others, and is not among those that are told, as in a batch of an import.
    rig.write(lambda tx: tx.run("UPDATE memories SET importance = 0.9 WHERE id = ?", (memory,)))
    context.bridge.changed.emit(Changed("import", tuple(f"other {nr}" for nr in range(40)), OWNER_ACTOR, 1))
    settle(qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.importance == 0.9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_walk_of_changes_from_elsewhere_leaves_it_as_the_vault_is(
    qtbot: QtBot, inspector: Inspector, context: Context, rig: Rig, seed: int
) -> None:
    dice = random.Random(seed)
    rig.engine.seal.set_up(SECRET).result(30)
    ids = [remember(rig.engine, f"Ada lives in place {nr} and keeps bees").memory_id for nr in range(4)]

    def unseal() -> None:
        for row in rig.engine.seal.list_rows().result(30):
            rig.engine.seal.unseal([row.id]).result(30)

    def act(memory: str) -> None:
        revise = rig.engine.library.revise_memories
        deeds: dict[str, Callable[[], object]] = {
            "select": lambda: context.selection.select(dice.choice(ids), "walk"),
            "hide": inspector.hide,
            "show": inspector.show,
            "revise": lambda: ids.extend(revise([memory], Revision(text=f"At {dice.random()} now")).result(30).ids),
            "tier": lambda: revise([memory], Revision(tier=dice.choice(list(SecurityTier)))).result(30),
            "forget": lambda: rig.forget(memory),
            "undo": lambda: undo(rig),
            "redo": lambda: redo(rig),
            "seal": lambda: rig.engine.seal.seal([memory]).result(30),
            "unseal": unseal,
            "bring": lambda: rig.bring(facts(dice.choice((2, 20)))),
        }
        deeds[dice.choice(list(deeds))]()

    def is_fresh() -> bool:
        current = context.selection.current
        wanted = read_anew(rig, current) if current else None
        is_sealed = any(row.id == current for row in rig.engine.seal.list_rows().result(30))
        shows_seal = any(one.isVisible() for one in inspector.findChildren(SealedSummary))
        return inspector.inspected == wanted and shows_seal == is_sealed

    for _ in range(20):
        try:
            act(dice.choice([*ids, context.selection.current or ids[0]]))
        except LociError:
            continue  # it cannot be done to this one now
        qtbot.wait(dice.choice((0, 20, 200)))
    inspector.show()
    settle(qtbot, is_fresh)
