"""How a memory is protected, in the inspector and the library: mark, sentence, what may be done; no number is shown."""

from __future__ import annotations

from engine_rig import Rig
from inspector_rig import look
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from window_rig import hear, settle

from core.types.values import SecurityTier
from core.types.views import Revision
from ui.context import Context
from ui.erasure import ErasureDialog
from ui.inspector.panel import Inspector
from ui.inspector.protection import ProtectionSection
from ui.pages.library.model import PLACE, TEXT, MemoryTable
from ui.strings import inspector_strings, label_strings

CARD = "My card for the boatyard is 4111 1111 1111 1111."


def section_of(inspector: Inspector) -> ProtectionSection:
    part = inspector.find_section("protection")
    assert isinstance(part, ProtectionSection)
    return part


def test_what_rules_found_is_told_and_the_person_may_lift_it(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = rig.store(CARD).memory_id
    look(qtbot, inspector, context, memory_id)
    part, strings = section_of(inspector), inspector_strings()["protection"]
    settle(qtbot, part.isVisible)
    assert part.title.text() == strings["tiers"]["confidential"]
    assert "a card number" in part.found.text()
    assert strings["who"]["confidential"] in part.found.text()
    assert "4111" not in part.accessibleName()
    assert not part.mark.pixmap().isNull()
    assert (part.seal.isVisible(), part.hide_button.isVisible(), part.lift.isVisible()) == (True, False, True)
    heard = hear(context)
    part.lift.click()
    settle(qtbot, lambda: rig.get(memory_id).tier is SecurityTier.CLEARTEXT)
    settle(qtbot, lambda: part.title.text() == strings["tiers"]["cleartext"])
    assert heard.sentences == [inspector_strings()["done"]["unprotected"]]
    part.hide_button.click()
    settle(qtbot, lambda: part.title.text() == strings["tiers"]["sensitive"])
    assert part.found.text().endswith(strings["who"]["sensitive"])


def test_a_confidential_one_is_offered_for_sealing(
    qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector
) -> None:
    memory_id = rig.store(CARD).memory_id
    asked: list[tuple[str, ...]] = []
    context.desk.seal.connect(asked.append)
    look(qtbot, inspector, context, memory_id)
    settle(qtbot, section_of(inspector).isVisible)
    section_of(inspector).seal.click()
    assert asked == [(memory_id,)]
    section_of(inspector).erase.click()
    settle(qtbot, lambda: bool(inspector.findChildren(ErasureDialog)))
    inspector.findChildren(ErasureDialog)[0].reject()


def test_nothing_is_said_of_an_ordinary_one(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    look(qtbot, inspector, context, rig.store("The hall is green.").memory_id)
    assert not section_of(inspector).isVisible()


def test_a_line_of_the_library_tells_its_tier_in_words_too(qtbot: QtBot, rig: Rig, context: Context) -> None:
    card = rig.store(CARD).memory_id
    said = rig.store("A private matter.").memory_id
    plain = rig.store("The hall is green.").memory_id
    rig.engine.library.revise_memories([said], Revision(tier=SecurityTier.SENSITIVE)).result(30)
    table = MemoryTable(context)
    table.show_ids((card, said, plain))
    table.load_lines(0, 2)
    settle(qtbot, lambda: table.is_settled)
    words = label_strings()["tiers"]
    tips = [table.index(at, PLACE[TEXT]).data(Qt.ItemDataRole.ToolTipRole) for at in range(3)]
    assert tips == [words["confidential"], words["sensitive"], None]
    read = table.index(0, PLACE[TEXT]).data(Qt.ItemDataRole.AccessibleTextRole)
    assert str(read).startswith(words["confidential"])
