"""The Journal's archive and health: brought back in one step, erased after a dialog; figures in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from engine_rig import Rig
from jobs_rig import BACKUP, DAY_MS, JournalRoom, buried, health, journal_over
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.types.values import Status
from core.types.views import Revision
from ui.context import Context
from ui.erasure import CertificateDialog
from ui.pages.journal.lifecycle.archive import EraseDialog, archive_entry
from ui.pages.journal.lifecycle.figures import advice_of, format_journal_value
from ui.pages.journal.lifecycle.health import HealthTab


@pytest.fixture
def room(context: Context, qtbot: QtBot) -> Iterator[JournalRoom]:
    with journal_over(context, qtbot) as made:
        yield made


def furnish(room: JournalRoom, rig: Rig) -> list[str]:
    """Three archived memories; their ids."""
    texts = ("The boat is called Heron.", "The shed is green.", "Jar 4 holds quinces.")
    ids = [rig.store(text).memory_id for text in texts]
    rig.engine.library.revise_memories(ids, Revision(status=Status.ARCHIVED)).result(30)
    now = room.jobs.now
    room.jobs.graves = [buried(one, text, now - DAY_MS) for one, text in zip(ids, texts, strict=True)]
    return ids


def active(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows("SELECT text FROM memories WHERE status = 'active' ORDER BY n")]


def test_an_empty_archive_teaches(room: JournalRoom) -> None:
    room.enter("archive")
    assert "The archive is empty" in room.words()


def test_a_line_says_why_since_when_and_until_when(room: JournalRoom) -> None:
    now = room.jobs.now
    entry = archive_entry(buried("a", "One\n<i>two</i>", now, reason="pinned", erased_at=now + 90 * DAY_MS), now)
    assert entry.title == "One <i>two</i>"
    assert entry.note.endswith(" · home")
    assert entry.aside == "archived today"
    assert entry.aside_note.startswith("erased ")
    kept = archive_entry(buried("b", "Two", now - DAY_MS, reason="odd_reason", can_return=False), now)
    assert kept.note == "Odd reason · home · cannot be restored"
    assert (kept.aside, kept.aside_note) == ("archived yesterday", "never erased")


def test_many_are_brought_back_in_one_step(room: JournalRoom, rig: Rig, qtmodeltester: ModelTester) -> None:
    ids = furnish(room, rig)
    tab = room.enter("archive").tabs.archive
    qtmodeltester.check(tab.list.lines)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    assert room.page.segments._buttons["archive"].text() == "Archive 3"
    tab.list.select_rows(ids[0], ids[2])
    room.jobs.graves = room.jobs.graves[1:2]
    QTest.keyClick(tab.list, Qt.Key.Key_R)
    settle(room.qtbot, lambda: bool(room.said))
    room.rest()
    assert active(rig) == ["The boat is called Heron.", "Jar 4 holds quinces."]
    assert room.heads(tab.list) == ["The shed is green."]
    sentence, act, run = room.said[-1]
    assert (sentence, act) == ("2 memories were restored.", "Undo")
    run()
    room.rest()
    assert active(rig) == []


def test_what_cannot_return_is_left_out(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    room.jobs.graves[0] = buried(ids[0], "The boat is called Heron.", room.jobs.now, can_return=False)
    tab = room.enter("archive").tabs.archive
    tab.list.select_rows(ids[0])
    assert tab.list.offered == {"open", "erase"}
    tab.list.select_rows(ids[0], ids[1])
    assert "restore" in tab.list.offered
    tab.run_action("restore")
    settle(room.qtbot, lambda: bool(room.said))
    assert active(rig) == ["The shed is green."]
    room.rest()


def test_bringing_back_what_is_back_says_that_it_stayed(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("archive").tabs.archive
    rig.engine.library.revise_memories(ids[:1], Revision(status=Status.ACTIVE)).result(30)
    tab.restore_memories(ids[:1])
    settle(room.qtbot, lambda: bool(room.said))
    assert room.said[-1][:2] == ("1 stayed in the archive.", "")
    room.rest()


def test_erasing_shows_what_would_be_lost_and_its_default_is_no(room: JournalRoom, rig: Rig) -> None:
    ids = furnish(room, rig)
    tab = room.enter("archive").tabs.archive
    tab.list.select_rows(*ids[:2])
    QTest.keyClick(tab.list, Qt.Key.Key_Delete)
    dialog = room.dialog(EraseDialog)
    settle(room.qtbot, dialog.act.isEnabled)
    assert dialog.summary.text() == (
        "2 memories are erased for good, with every trace of them in search and undo. "
        "1 memory that was merged into it is active again. 2 other versions of the same stay."
    )
    assert dialog.never.isVisible()
    assert dialog.backups_note.text() == "1 backup still has a copy, until a newer one replaces it:"
    assert [dialog.backups.item(at).text() for at in range(dialog.backups.count())] == [BACKUP]
    assert (dialog.act.text(), dialog.cancel.isDefault()) == ("Erase 2 memories", True)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    room.rest()
    assert room.jobs.asked == []
    tab.run_action("erase")
    dialog = room.dialog(EraseDialog)
    settle(room.qtbot, dialog.act.isEnabled)
    dialog.act.click()
    settle(room.qtbot, lambda: bool(room.said))
    room.rest()
    assert room.jobs.asked == [("erase", tuple(ids[:2]))]
    assert room.said[-1][:2] == ("2 memories were erased. 1 backup still has a copy.", "")
    room.dialog(CertificateDialog).close_button.click()
    assert room.heads(tab.list) == ["Jar 4 holds quinces."]


def test_more_of_the_archive_comes_as_somebody_scrolls(room: JournalRoom) -> None:
    room.jobs.page = 40
    room.jobs.graves = [buried(f"{nr}", f"Jar {nr} holds quinces.", room.jobs.now) for nr in range(90)]
    tab = room.enter("archive").tabs.archive
    for _ in range(4):
        tab.list.verticalScrollBar().setValue(tab.list.verticalScrollBar().maximum())
        if tab.list.lines.canFetchMore(tab.list.rootIndex()):
            tab.list.lines.fetchMore(tab.list.rootIndex())
        room.rest()
    assert tab.list.lines.rowCount() == 90
    assert not tab.list.lines.canFetchMore(tab.list.rootIndex())


def test_what_will_be_erased_is_said_above(room: JournalRoom) -> None:
    now = room.jobs.now
    room.jobs.graves = [buried("a", "The boat is called Heron.", now)]
    tab = room.enter("archive").tabs.archive
    assert "They stay here until you" in tab.lead.text()
    room.jobs.graves = [buried("a", "The boat is called Heron.", now, erased_at=now + DAY_MS)]
    tab.reload()
    room.rest()
    assert "erased for good on that day" in tab.lead.text()


# ---- health


def figures(tab: HealthTab) -> dict[str, str]:
    named = [found.accessibleName() for found in tab.findChildren(QWidget) if ": " in found.accessibleName()]
    return dict(name.split(": ", 1) for name in named)


def test_the_figures_stand_in_plain_words(room: JournalRoom) -> None:
    tab = room.enter("health").tabs.health
    found = figures(tab)
    assert found["Episodes"] == "3,214"
    assert found["Usual search"] == "14 ms"
    assert found["Used by Loci"] == "412 MB"
    assert found["Free"] == "Enough"
    assert found["Last looked for fading memories"] == "Never"
    assert found["Search"] == "By meaning and words"
    assert found["Local model"] == "None. Loci works without one"
    assert "Everything is fine." in room.words(tab)
    assert not tab.banners
    assert room.page.segments._buttons["health"].text() == "Health"


def test_warnings_stand_on_top_with_what_to_do(room: JournalRoom, context: Context) -> None:
    now = room.jobs.now
    told = health(now)
    room.jobs.told = health(
        now,
        ram={**told.ram, "total_mb": 900.0, "pressure": "elevated"},
        background={**told.background, "archive_candidates": 3},
        warnings=("Memory is getting short.", "3 memories could be archived."),
    )
    tab = room.enter("health").tabs.health
    assert [made.accessibleName() for made in tab.banners] == list(room.jobs.told.warnings)
    assert "Everything is fine." not in room.words(tab)
    assert room.page.segments._buttons["health"].text() == "Health 2"
    went: list[tuple[str, str]] = []
    context.desk.go.connect(lambda page, wish: went.append((page, wish)))
    links = {made.text(): made for made in tab.findChildren(QPushButton)}
    links["Memory limit"].click()
    links["See which"].click()
    assert went == [("settings", "Memory limit"), ("journal", "next")]
    share = tab._cards["ram"].share
    assert (round(share.share, 2), share.tone) == (0.88, "warning")


def test_cards_stand_beside_each_other_where_there_is_room(room: JournalRoom) -> None:
    tab = room.enter("health").tabs.health
    assert tab._columns == 2
    room.page.resize(520, 640)
    settle(room.qtbot, lambda: tab._columns == 1)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("p99_search_ms", 4.25, "4.2 ms"),
        ("index_mb", 1234.6, "1,235 MB"),
        ("search_strategy", "bm25_only", "By words only"),
        ("search_strategy", "another_one", "another one"),
        ("avg_search_ms", None, "Not measured yet"),
        ("model_server", {"state": "ready"}, "Ready"),
        ("model_server", {"sentence": "A model of 4 GB answers."}, "A model of 4 GB answers."),
        ("model_server", {}, "None. Loci works without one"),
    ],
)
def test_values_in_words(key: str, value: Any, told: str) -> None:
    assert format_journal_value(key, value, 0) == told


def test_advice_follows_what_is_wrong() -> None:
    told = health(0)
    assert advice_of(told) == ()
    degraded = health(0, degradation={"search_strategy": "degraded"}, counts={"pending_embeddings": 4})
    assert [one.wish for one in advice_of(degraded)] == ["runs", "runs"]
