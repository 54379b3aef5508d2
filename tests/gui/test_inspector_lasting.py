"""How long a memory lasts, chosen by the person; whom and what it names, as chips that search."""

from __future__ import annotations

import pytest
from engine_rig import Rig
from inspector_rig import look, press, words_of
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.errors import Code, EnvironmentFaultError
from core.types.lifecycle import Inferred, Mentioned
from core.types.memory import Lasting
from core.types.values import Kind
from ui.context import Context
from ui.inspector.gauges import GaugesSection, describe_permanence
from ui.inspector.panel import Inspector
from ui.inspector.relations import MentionsSection, named_entities

OFFICE = "The office in Bergen moved its maps to PostgreSQL."


def gauges_section(inspector: Inspector) -> GaugesSection:
    part = inspector.find_section("gauges")
    assert isinstance(part, GaugesSection)
    return part


def mentions_section(inspector: Inspector) -> MentionsSection:
    part = inspector.find_section("mentions")
    assert isinstance(part, MentionsSection)
    return part


def chips(part: MentionsSection) -> list[QPushButton]:
    return [made for made in part.chips.findChildren(QPushButton) if made.isVisibleTo(part)]


def inferred(*names: tuple[str, str], technologies: tuple[str, ...] = ()) -> Inferred:
    found = tuple(Mentioned(f"e{at}", name, kind, at, at + 1) for at, (kind, name) in enumerate(names))
    return Inferred(technologies, (), (), (), (), "", 0.0, 0.0, found, "rules", 0)


# ---- how long it lasts


def test_the_person_chooses_how_long_it_lasts_and_takes_it_back(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = rig.store("The plum jars stand on the shelf.").memory_id
    look(qtbot, inspector, context, memory_id)
    row = gauges_section(inspector).lasting
    settle(qtbot, row.isVisible)
    assert row.chip.accessibleName() == "Lasts: For months"
    assert row.reason.text().startswith("No end date is given")
    heard = hear(context)
    next(one for one in row.chip.menu().actions() if one.text() == "Permanently").trigger()
    settle(qtbot, lambda: row.chip.accessibleName() == "Lasts: Permanently")
    settle(qtbot, lambda: heard.sentences == ["From now on it lasts permanently."])
    settle(qtbot, lambda: row.reason.text() == "Chosen by you. Its words alone suggest for months.")
    settle(qtbot, lambda: "Its confidence does not fall over time." in gauges_section(inspector).sentences.text())
    rig.undo()
    settle(qtbot, lambda: row.chip.accessibleName() == "Lasts: For months")


def test_a_choice_that_cannot_be_saved_is_not_shown_as_if_it_held(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(qtbot, inspector, context, rig.store("The plum jars stand on the shelf.").memory_id)
    row = gauges_section(inspector).lasting
    settle(qtbot, row.isVisible)

    def full(*_: object) -> object:
        raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")

    monkeypatch.setattr(context.bridge.engine.library, "revise_memories", full)
    heard = hear(context)
    next(one for one in row.chip.menu().actions() if one.text() == "For days").trigger()
    settle(qtbot, lambda: heard.sentences == ["The disk is full."])
    settle(qtbot, lambda: row.chip.accessibleName() == "Lasts: For months")


def test_a_record_cannot_be_given_a_length(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    look(qtbot, inspector, context, rig.store("We met at the weir.", kind=Kind.EPISODE).memory_id)
    row = gauges_section(inspector).lasting
    settle(qtbot, row.isVisible)
    assert not row.chip.isVisible()
    assert row.reason.text() == "A record of what was said; it does not become less certain."


def test_reasons_in_words() -> None:
    told = describe_permanence(Lasting("permanent", "permanent", "claim", ("born_on", "keeps_bees")))
    assert told == "Based on its claims: was born on, keeps bees."
    assert describe_permanence(Lasting("permanent", "permanent", "cue")) == "Based on its words."
    assert describe_permanence(Lasting("permanent", "permanent", "split")) == ""


# ---- whom and what it names


def test_what_was_not_read_yet_can_be_read_now(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    look(qtbot, inspector, context, rig.store(OFFICE).memory_id)
    part = mentions_section(inspector)
    settle(qtbot, lambda: "Names were not read yet" in part.sentence.text())
    assert not chips(part)
    press(part, "Read it now")
    settle(qtbot, lambda: bool(chips(part)))
    assert [made.accessibleName() for made in chips(part)] == ["Place Bergen", "Technology PostgreSQL"]
    assert part.sentence.text().startswith("Found by rules, ")
    assert part.link.accessibleName() == "Read it again"


def test_a_chip_searches_for_its_name(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    part = mentions_section(inspector)
    look(qtbot, inspector, context, rig.store("It stands.").memory_id)
    settle(qtbot, lambda: bool(part.sentence.text()))
    asked: list[str] = []
    context.desk.search.connect(asked.append)
    part._show_names(inferred(("person", "Ada Marsh"), ("file", 'a "b"/c.txt')))
    for made in chips(part):
        made.click()
    assert asked[0] == "Ada Marsh"
    terms = context.bridge.engine.library.parse_search(asked[1]).terms
    assert [(term.key, term.values) for term in terms] == [("phrase", ('a "b"/c.txt',))]


def test_each_name_once_and_many_are_counted(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    assert named_entities(inferred(("technology", "Redis"), ("person", "Ada"), technologies=("redis", "Qt"))) == (
        ("technology", "Redis"),
        ("person", "Ada"),
        ("technology", "Qt"),
    )
    part = mentions_section(inspector)
    look(qtbot, inspector, context, rig.store("It stands.").memory_id)
    settle(qtbot, lambda: bool(part.sentence.text()))
    part._show_names(inferred(*(("person", f"Name {nr}") for nr in range(20))))
    assert len(chips(part)) == 16
    assert "and 4 more" in words_of(part)


def test_hostile_names_are_made_visible(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    part = mentions_section(inspector)
    look(qtbot, inspector, context, rig.store("It stands.").memory_id)
    settle(qtbot, lambda: bool(part.sentence.text()))
    part._show_names(inferred(("person", "<b>&Eve\u202e</b>")))
    made = chips(part)[0]
    assert "\u202e" not in made.text()
    assert "&&Eve" in made.text()
    assert "&lt;b&gt;" in made.toolTip()


def test_of_what_is_sensitive_nothing_is_kept(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    memory_id = rig.store(OFFICE).memory_id
    rig.write(lambda tx: tx.update("memories", {"id": memory_id}, {"security_tier": "sensitive"}))
    look(qtbot, inspector, context, memory_id)
    part = mentions_section(inspector)
    settle(qtbot, part.link.isVisible)
    press(part, "Read it now")
    settle(qtbot, lambda: "sensitive" in part.sentence.text())
    assert not part.link.isVisible()
