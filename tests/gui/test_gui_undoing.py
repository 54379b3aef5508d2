"""What an undo could not bring back is told, whichever page offered it."""

from __future__ import annotations

import pytest
from engine_rig import Rig
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.values import Status
from core.types.views import Revision
from ui.context import Context
from ui.undo import describe_left, offer_undo, undo_step


def test_an_undo_is_said_with_what_stayed(qtbot: QtBot, context: Context, rig: Rig) -> None:
    kept = rig.store("The shed is green.").memory_id
    library = rig.engine.library
    step = library.revise_memories((kept,), Revision(pinned=True)).result(30).step_id
    library.revise_memories((kept,), Revision(importance=0.9)).result(30)
    assert step is not None
    heard, runs = hear(context), []
    context.desk.message_asked.connect(lambda _sentence, title, run, _stays: runs.append((title, run)))
    offer_undo(context, "Pinned.", step)
    assert runs[0][0] == "Undo"
    runs[0][1]()
    settle(qtbot, lambda: len(heard.sentences) == 2)
    assert heard.sentences[0] == "Pinned."
    assert heard.sentences[1].startswith("Undone: ")
    assert heard.sentences[1].endswith(". 1 detail was changed since and was kept.")


def test_an_undo_that_leaves_nothing_says_no_more(qtbot: QtBot, context: Context, rig: Rig) -> None:
    kept = rig.store("The shed is green.").memory_id
    step = rig.engine.library.revise_memories((kept,), Revision(status=Status.ARCHIVED)).result(30).step_id
    assert step is not None
    heard, runs = hear(context), []
    again: list[tuple[str, str]] = []
    context.selection.select(kept, "test")
    context.selection.changed.connect(lambda memory_id, origin: again.append((memory_id, origin)))
    context.desk.message_asked.connect(lambda _sentence, _title, run, _stays: runs.append(run))
    offer_undo(context, "Archived.", step)
    runs[0]()
    settle(qtbot, lambda: len(heard.sentences) == 2)
    assert not heard.sentences[1].endswith("stayed.")
    assert again == [(kept, "undo")]
    assert rig.get(kept).status is Status.ACTIVE


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, ""),
        (1, " 1 detail was changed since and was kept."),
        (1200, " 1,200 details were changed since and were kept."),
    ],
)
def test_what_stayed_is_counted(count: int, words: str) -> None:
    assert describe_left(count) == words


def test_a_clients_step_is_not_taken_back_as_if_it_were_the_persons(qtbot: QtBot, context: Context, rig: Rig) -> None:
    rig.store("The shed is green.", rig.client("aster", "read", "write", "space:home"), space="home")
    heard = hear(context)
    undo_step(context, rig.engine.history.list_steps().result(30).rows[0].id)
    settle(qtbot, lambda: len(heard.sentences) == 1)
    assert heard.sentences[0].endswith(" It was a step of aster, not yours.")
