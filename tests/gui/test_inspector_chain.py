"""The inspector's versions on the axis of time, what rests on a memory, and holding a source back."""

from __future__ import annotations

import pytest
from belief_rig import DAY_MS, change, claim, derive
from engine_rig import START_MS, Rig
from inspector_rig import lines, look, press, words_of
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.memory import Chain, Rests
from core.types.values import Kind, Precision, Status, When
from core.types.views import Revision
from ui.context import Context
from ui.inspector.dialogs import HoldDialog
from ui.inspector.history import SHOWN, ChainAxis, HistorySection
from ui.inspector.panel import Inspector
from ui.inspector.relations import DEPENDENTS as SPEC
from ui.inspector.relations import DependentsSection, describe_dependents


def history_of(inspector: Inspector) -> HistorySection:
    """The part of the versions."""
    part = inspector.find_section("history")
    assert isinstance(part, HistorySection)
    return part


def rests_of(inspector: Inspector) -> DependentsSection:
    """The part of what rests on it."""
    part = inspector.find_section(SPEC.id)
    assert isinstance(part, DependentsSection)
    return part


def a_chain(rig: Rig) -> tuple[str, str]:
    """Two versions with a time between them of which nothing is known."""
    day = When(START_MS - 100 * DAY_MS, Precision.DAY)
    old = rig.store("Release: the 28th.", occurred=day).memory_id
    new = rig.engine.library.revise_memories((old,), Revision(text="Release: the 12th.")).result(30).ids[0]
    change(rig, old, valid_to=START_MS - 60 * DAY_MS)
    change(rig, new, valid_from=START_MS - 20 * DAY_MS)
    claim(rig, old, "release_day", "the 28th", "the 28th", state="superseded")
    claim(rig, new, "release_day", "the 12th", "the 12th")
    return old, new


def test_versions_lie_on_the_axis_in_the_order_of_their_time(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    old, new = a_chain(rig)
    look(qtbot, inspector, context, new)
    axis = history_of(inspector).axis
    assert axis.isVisible()
    assert [version.memory_id for version in axis.drawn] == [new, old]
    later, earlier = (axis.bar_of(version) for version in axis.drawn)
    assert earlier.left() == pytest.approx(1)
    assert later.right() == axis.width() - 1
    assert earlier.right() < later.left()
    assert later.top() < earlier.top()
    share = (axis.axis_x(START_MS - 50 * DAY_MS) - 1) / (axis.width() - 2)
    assert share == pytest.approx(0.5)


def test_the_axis_says_what_it_draws(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    _, new = a_chain(rig)
    look(qtbot, inspector, context, new)
    told = history_of(inspector).axis.accessibleName()
    assert told.startswith("Version 2 · the 12th: Valid from 25 Oct 2023 · learned 14 Nov 2023; Version 1 · the 28th: ")
    assert "Valid 6 Aug 2023 to 15 Sep 2023" in told
    assert told.endswith("Nothing is known for 15 Sep 2023 to 25 Oct 2023.")
    assert "Valid from 25 Oct 2023 · learned 14 Nov 2023" in words_of(history_of(inspector))


def test_one_version_needs_no_axis(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Release: the 28th.").memory_id
    rig.forget(memory_id)
    look(qtbot, inspector, context, memory_id)
    assert history_of(inspector).isVisible()
    assert history_of(inspector).axis.isHidden()


def test_of_many_versions_the_latest_are_drawn(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    newest = rig.store("Release: the 0th.").memory_id
    for nr in range(1, SHOWN + 3):
        rig.clock.advance(86_400)  # type: ignore[attr-defined]  # the test's clock
        newest = rig.engine.library.revise_memories((newest,), Revision(text=f"Release: the {nr}th.")).result(30).ids[0]
    look(qtbot, inspector, context, newest)
    part = history_of(inspector)
    assert len(part.axis.drawn) == SHOWN
    assert part.axis.drawn[0].memory_id == newest
    assert "The 3 earliest are not drawn." in words_of(part)


def test_an_axis_without_versions_is_drawn_without_harm(qtbot: QtBot, context: Context) -> None:
    axis = ChainAxis(context.theme)
    qtbot.addWidget(axis)
    assert not axis.show_chain(Chain((), (), START_MS), "")
    assert not axis.grab().isNull()
    assert axis.drawn == ()


# ---- what rests on it


def test_what_rests_on_it_is_counted_in_words() -> None:
    kinds = (("a", Kind.DIGEST), ("b", Kind.FACT), ("c", Kind.FACT))
    told = describe_dependents(Rests(kinds, ("r",), 2, (("aster", 3), ("x", 1)), 4))
    assert told == (
        "1 digest uses it", "2 memories were made from it", "1 rule is based on it", "2 claims have no other source",
        "given to aster 3 times", "given to x once",
    )  # fmt: skip
    assert describe_dependents(Rests(recalled=4)) == ("Found by searches 4 times",)


def test_what_was_made_of_it_leads_there(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    base, made = (rig.store(f"{word} of the weir.").memory_id for word in ("Log", "Sum"))
    derive(rig, made, base)
    look(qtbot, inspector, context, base)
    part = rests_of(inspector)
    settle(qtbot, lambda: len(lines(part)) == 1)
    assert part.sentences.text().startswith("1 memory was made from it.")
    lines(part)[0].click()
    settle(qtbot, lambda: context.selection.current == made)


def test_holding_a_source_lists_it_first_and_is_one_step(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    actor = rig.client("aster", "read", "write", "all_spaces")
    one, two = (rig.store(text, actor).memory_id for text in ("Log of the weir.", "The <b>ferry</b> list."))
    mine = rig.store("Sum of the log.", space="client:aster").memory_id
    derive(rig, mine, one)
    look(qtbot, inspector, context, one)
    press(rests_of(inspector), "Quarantine this source …")
    dialog = inspector.findChildren(HoldDialog)[-1]
    settle(qtbot, lambda: dialog.list.count() == 2)
    assert dialog.found.text() == "2 memories would be quarantined. 1 of them was made from the others."
    press(dialog, "All from aster")
    settle(qtbot, lambda: dialog.list.count() == 3)
    assert "The <b>ferry</b> list." in [dialog.list.item(nr).text() for nr in range(3)]
    heard, undo = hear(context), []
    context.desk.message_asked.connect(
        lambda _sentence, action, run, _stays: undo.append(run) if action == "Undo" else None
    )
    dialog.go_button.setFocus()
    QTest.keyClick(dialog.go_button, Qt.Key.Key_Return)
    settle(qtbot, lambda: bool(heard.sentences))
    assert heard.sentences == ["3 memories were quarantined. They wait in Review."]
    assert {rig.get(held).status for held in (one, two, mine)} == {Status.QUARANTINED}
    undo[-1]()
    settle(qtbot, lambda: {rig.get(held).status for held in (one, two, mine)} == {Status.ACTIVE})


def test_what_is_gone_cannot_be_held(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store("Log of the weir.").memory_id
    rig.forget(memory_id)
    look(qtbot, inspector, context, memory_id)
    assert rests_of(inspector).isHidden()
