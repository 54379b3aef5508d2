"""Who said something is told beside the words; who wrote them anew is told too, and not only whose they were."""

from __future__ import annotations

from engine_rig import Rig
from palace_rig import opened, shut
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from walk_rig import choose_landmarks
from window_rig import settle

from core.types.values import Memory, Role
from core.types.views import MemoryRow, Revision
from ui.context import Context
from ui.pages.timeline.labels import describe_speaker as describe_event_speaker
from ui.widgets.labels import describe_source, name_speaker, speaker_in_talk

SAID = "The orchard at the weir has nine old quince trees."


def said_by_mara(rig: Rig) -> str:
    rows = [
        {"text": SAID, "author": "Mara", "session": "s", "ref": "1"},
        {"text": "And one pear tree.", "author": "Tom", "session": "s", "ref": "2"},
    ]
    rig.bring(rows)
    return str(rig.value("SELECT id FROM memories WHERE text = ?", SAID))


def edited(rig: Rig, memory_id: str) -> tuple[Memory, MemoryRow]:
    rig.engine.library.revise_memories((memory_id,), Revision(text="It has ten old quince trees.")).result(60)
    new_id = str(rig.value("SELECT superseded_by_id FROM memories WHERE id = ?", memory_id))
    return rig.get(new_id), rig.engine.library.read_rows((new_id,)).result(60)[0]


def test_words_that_were_edited_do_not_stand_under_the_old_speaker_alone(rig: Rig) -> None:
    memory_id = said_by_mara(rig)
    before = rig.engine.library.read_rows((memory_id,)).result(60)[0]
    assert (before.is_edited, speaker_in_talk(before)) == (False, "Mara")
    assert rig.get(memory_id).said_by(None) == "Mara"
    memory, row = edited(rig, memory_id)
    assert (memory.is_edited, row.is_edited) == (True, True)
    assert speaker_in_talk(row) == "Mara, edited by you"
    assert describe_event_speaker(row) == "Mara, edited by you"
    assert describe_source(memory).startswith("Mara, edited by you, ")
    assert memory.said_by("notes-plugin") == "Mara, edited by the user, via notes-plugin"


def test_the_persons_own_words_are_theirs_however_often_they_are_edited(rig: Rig) -> None:
    stored = rig.store("The boat is called Heron.")
    memory, row = edited(rig, stored.memory_id)
    assert (memory.is_edited, row.is_edited) == (False, False)
    assert name_speaker(memory.author, memory.role, is_edited=memory.is_edited) == "You"


def test_nobody_is_named_where_nobody_is_known(rig: Rig) -> None:
    assert name_speaker(None, Role.OTHER, is_edited=True) == ""
    assert name_speaker("Mara", Role.OTHER, is_edited=True) == "Mara, edited by you"


def test_a_walk_says_who_said_it(qtbot: QtBot, context: Context, rig: Rig) -> None:
    said_by_mara(rig)
    rig.settle()
    rig.engine.palace.place_waiting().result(60)
    choose_landmarks(rig, each=2)
    page = opened(qtbot, context)
    QTest.keyClick(page.canvas, Qt.Key.Key_W)
    settle(qtbot, lambda: page.walk.round is not None)
    walk = page.walk.round
    assert walk is not None
    while walk.current.text != SAID:
        walk.go_on()
    page.walk.card.show_round(walk)
    assert page.walk.card.note.text().startswith("Mara · Episode · ")
    shut(qtbot, page)
