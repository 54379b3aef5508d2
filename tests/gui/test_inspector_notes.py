"""The inspector's notes: what a memory may belong together with, and one press that settles it."""

from __future__ import annotations

from belief_rig import item
from engine_rig import Rig
from inspector_rig import look, press
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.vault.database.rows import MAY_BELONG
from ui.context import Context
from ui.inspector.panel import Inspector
from ui.inspector.relations import NoteBox, NotesSection

ONE, TWO = "Marta mends our gutters.", "The gutter man is called Marta."


def test_a_note_is_dismissed_with_one_press(qtbot: QtBot, rig: Rig, context: Context, inspector: Inspector) -> None:
    one, two = rig.store(ONE).memory_id, rig.store(TWO).memory_id
    item_id = item(rig, two, one, "classification")
    rig.write(lambda tx: tx.update("conflicts", {"id": item_id}, {"state": "moot", "note": MAY_BELONG}))
    look(qtbot, inspector, context, one)
    part = inspector.find_section("notes")
    assert isinstance(part, NotesSection)
    (box,) = part.findChildren(NoteBox)
    assert box.accessibleName() == f"May belong together: {TWO}"
    assert context.bridge.engine.conflicts.list_queue().result(30).rows == ()
    press(box, "Dismiss")
    settle(qtbot, lambda: rig.value("SELECT state FROM conflicts WHERE id = ?", item_id) == "resolved")
    settle(qtbot, lambda: not part.isVisible())
    assert set(rig.texts()) == {ONE, TWO}
