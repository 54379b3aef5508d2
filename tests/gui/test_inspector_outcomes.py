"""The inspector of a rule and of a procedure: counts, maturity, the log, the original, and saying how it was."""

from __future__ import annotations

import pytest
from engine_rig import Rig
from inspector_rig import look, press, words_of
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.lifecycle import ProcedureState
from core.types.memory import Application
from core.types.values import OWNER_ACTOR, Kind, Status
from core.types.views import Revision
from ui.context import Context
from ui.inspector.actions import HarmDialog
from ui.inspector.outcomes import ProcedureSection, RuleSection, describe_application, describe_runs, format_duration
from ui.inspector.panel import Inspector

RULE = "Never deploy on a Friday afternoon."
STEPS = "1. Close the pump.\n2. Open the valve.\n3. Wait until it runs clear."
HOSTILE = "<b>bold</b>\u202eback"


def rule_part(inspector: Inspector) -> RuleSection:
    part = inspector.find_section("rule")
    assert isinstance(part, RuleSection)
    return part


def procedure_part(inspector: Inspector) -> ProcedureSection:
    part = inspector.find_section("procedure")
    assert isinstance(part, ProcedureSection)
    return part


def looked_at_rule(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> tuple[str, RuleSection]:
    rule = rig.store(RULE, kind=Kind.RULE).memory_id
    look(qtbot, inspector, context, rule)
    part = rule_part(inspector)
    settle(qtbot, part.counts.isVisible)
    return rule, part


def helped(rig: Rig, rule: str) -> tuple[int, int]:
    state = rig.engine.outcomes.read_rule(rule, OWNER_ACTOR).result(30)
    assert state is not None
    return state.helpful, state.harmful


def test_a_rule_nobody_spoke_of_says_so(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    _, part = looked_at_rule(qtbot, rig, context, inspector)
    assert part.counts.text() == "Nobody has said yet whether it helps."
    assert part.maturity.text() == "On trial"
    assert part.effectiveness.text() == ""
    assert not part.log.isVisible()
    assert not part.original.isVisible()
    assert not procedure_part(inspector).isVisible()


def test_it_helped_is_one_press_and_one_undo(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    rule, part = looked_at_rule(qtbot, rig, context, inspector)
    heard = hear(context)
    press(part, "Helped")
    settle(qtbot, lambda: "Helped once" in part.counts.text())
    assert part.counts.text() == "Helped once, caused harm 0 times"
    assert part.effectiveness.text() == "Effectiveness 1.00"
    settle(qtbot, lambda: part.log.text().startswith("Helped, said you, "))
    assert heard.sentences == ["Saved: it helped."]
    rig.undo()
    settle(qtbot, lambda: part.counts.text().startswith("Nobody"))
    assert helped(rig, rule) == (0, 0)


def test_letters_say_it_too(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    rule, part = looked_at_rule(qtbot, rig, context, inspector)
    inspector.activateWindow()
    inspector.area.setFocus()
    press_here = part.marks.findChildren(type(part.question))[0]
    press_here.setFocus()
    QTest.keyClick(press_here, Qt.Key.Key_H)
    settle(qtbot, lambda: helped(rig, rule) == (1, 0))
    QTest.keyClick(press_here, Qt.Key.Key_W)  # of a procedure: nothing happens to a rule
    qtbot.wait(50)
    assert helped(rig, rule) == (1, 0)


def test_harm_asks_what_happened_and_shows_it_as_plain_text(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    _, part = looked_at_rule(qtbot, rig, context, inspector)
    press(part, "Caused harm")
    dialog = inspector.findChild(HarmDialog)
    assert isinstance(dialog, HarmDialog)
    dialog.reason.setPlainText("It <b>broke</b>\nthe build.")
    dialog.go_button.click()
    settle(qtbot, lambda: "It <b>broke</b> the build." in part.log.text())
    assert part.log.textFormat() is Qt.TextFormat.PlainText
    settle(qtbot, lambda: part.counts.text() == "Helped 0 times, caused harm once")


def test_a_rule_that_was_turned_around_shows_what_it_said(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    rule = rig.store(RULE, kind=Kind.RULE).memory_id
    for _ in range(2):
        rig.engine.outcomes.mark_harmful(rule, OWNER_ACTOR, "It broke the build.").result(30)
    look(qtbot, inspector, context, rule)
    part = rule_part(inspector)
    heard = hear(context)
    context.commands.run("memory.harmful")
    dialog = inspector.findChild(HarmDialog)
    assert isinstance(dialog, HarmDialog)
    dialog.go_button.click()
    settle(qtbot, part.original.isVisible)
    assert part.original.text() == RULE
    assert part.maturity.text() == "A warning"
    assert "became a warning" in heard.sentences[-1]
    settle(
        qtbot, lambda: inspector.inspected is not None and inspector.inspected.memory.text.startswith("ANTI-PATTERN")
    )


def test_what_is_archived_takes_no_reports(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    rule, part = looked_at_rule(qtbot, rig, context, inspector)
    rig.engine.library.revise_memories([rule], Revision(status=Status.ARCHIVED)).result(30)
    settle(qtbot, lambda: not part.marks.isVisible())
    assert part.counts.isVisible()


def test_a_procedure_counts_how_it_went(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    steps = rig.store(STEPS, kind=Kind.PROCEDURE).memory_id
    rig.engine.outcomes.record_outcome(steps, OWNER_ACTOR, success=True, took_ms=90_000).result(30)
    look(qtbot, inspector, context, steps)
    part = procedure_part(inspector)
    settle(qtbot, part.counts.isVisible)
    assert "Takes 90 seconds on average" in part.statistics.text()
    press(part, "It worked")
    settle(qtbot, lambda: part.counts.text() == "Worked 2 times, failed 0 times · 100 % of the time")
    context.commands.run("memory.failed")
    settle(qtbot, lambda: part.counts.text() == "Worked 2 times, failed once · 67 % of the time")
    assert not rule_part(inspector).isVisible()
    assert "Worked 2 times" in part.accessibleName()


def test_nothing_of_one_rule_is_shown_for_the_next(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    rule, part = looked_at_rule(qtbot, rig, context, inspector)
    rig.engine.outcomes.mark_harmful(rule, OWNER_ACTOR, "It broke the build.").result(30)
    settle(qtbot, lambda: "It broke" in part.log.text())
    other = rig.store("Always write the changelog first.", kind=Kind.RULE).memory_id
    look(qtbot, inspector, context, other)
    settle(qtbot, part.counts.isVisible)
    assert "It broke" not in words_of(part)


def test_words_of_others_are_made_visible() -> None:
    told = describe_application(Application(0, is_helpful=False, client=HOSTILE, reason=HOSTILE))
    assert "\u202e" not in told
    assert told.startswith("Caused harm, said ")
    state = ProcedureState("x", (), (), ("pump", "valve"), 3, 1, 0, None)
    assert describe_runs(state) == "Worked 3 times, failed once · 75 % of the time"


@pytest.mark.parametrize(
    ("ms", "told"), [(1, "1 second"), (119_000, "119 seconds"), (720_000, "12 minutes"), (10_800_000, "3 hours")]
)
def test_lengths_of_runs(ms: int, told: str) -> None:
    assert format_duration(ms) == told
