"""The library over 20,000 memories: it asks for pages where somebody looks, and draws the cells in sight alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig, rig_at
from library_rig import put_away
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from vault_kit import memory
from window_rig import settle, window_context

from core.types.views import MemoryRow
from ui.pages.library.model import PAGE_ROWS, PLACE, MemoryTable
from ui.pages.library.page import LIBRARY, LibraryPage

COUNT = 20_000
pytestmark = pytest.mark.keeps_threads("the large vault is open for the whole module")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A vault of 20,000 facts, as rows alone: nothing here searches them."""
    with rig_at(tmp_path_factory.mktemp("library")) as rig:
        shelf = [memory(n + 1, f"The shelf holds jar number {n}", kind="fact") for n in range(COUNT)]
        rig.write(lambda tx: tx.insert_many("memories", shelf))
        yield rig


@pytest.fixture
def page(large: Rig, qtbot: QtBot) -> Iterator[LibraryPage]:
    with window_context(large.engine) as context:
        made = LIBRARY.make(context)
        assert isinstance(made, LibraryPage)
        made.resize(1100, 800)
        made.show()
        made.activate()
        settle(qtbot, lambda: made.table.memories.rowCount() == COUNT and is_drawn(made))
        yield made
        put_away(qtbot, made)


def is_drawn(page: LibraryPage) -> bool:
    """Whether all rows in sight have come."""
    table = page.table
    last = table.rowAt(table.viewport().height() - 1)
    lines = range(max(0, table.rowAt(0)), (last if last >= 0 else COUNT - 1) + 1)
    return bool(lines) and all(table.memories.row_at(line) is not None for line in lines)


def test_scrolling_fetches_what_is_in_sight_only(page: LibraryPage, qtbot: QtBot) -> None:
    model, bar = page.table.memories, page.table.verticalScrollBar()
    assert model.fetched == 1
    for step in range(1, 201):  # dragged through all of it in one go
        bar.setValue(bar.maximum() * step // 200)
    settle(qtbot, lambda: is_drawn(page))
    assert model.fetched <= 4
    assert len(model._rows) <= 4 * PAGE_ROWS
    assert model.index(COUNT - 1, PLACE["text"]).data() == "The shelf holds jar number 0"


def test_drawing_touches_cells_in_sight_only(page: LibraryPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[int] = []  # both drawing and Qt's questions go by way of the row
    row_at = MemoryTable.row_at

    def counted(self: MemoryTable, place: int) -> MemoryRow | None:
        touched.append(place)
        return row_at(self, place)

    monkeypatch.setattr(MemoryTable, "row_at", counted)
    page.table.selectAll()
    page.grab()
    QTest.keyClick(page.table, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(page.table, "zz")
    page.grab()
    in_sight = page.table.viewport().height() // page.table.rowHeight(0) + 2
    assert 0 < len(touched) <= 6 * in_sight * len(page.table.columns.visible_ids)
    assert len(set(touched)) <= 2 * in_sight
    monkeypatch.undo()
    settle(qtbot, lambda: is_drawn(page))


def test_all_of_it_can_be_chosen_and_stays_so(page: LibraryPage, qtbot: QtBot) -> None:
    page.table.selectAll()
    assert page.bar.words == "20,000 memories selected"
    assert not page.table.horizontalHeader().selectionModel().hasSelection()  # else it asks line by line
    page.table.columns.set_order("text", falls=False)
    settle(qtbot, lambda: page.table.memories.index(0, PLACE["text"]).data() == "The shelf holds jar number 0")
    assert page.table.chosen_count == COUNT
    page.table.clearSelection()
    assert page.bar.isHidden()


def test_a_choice_in_too_many_pieces_is_let_go_and_said(page: LibraryPage, qtbot: QtBot) -> None:
    said: list[str] = []
    page.context.desk.message_asked.connect(lambda sentence, *_: said.append(sentence))
    ids = page.table.memories.ids
    page.table.selectAll()
    shuffled = [one for pair in zip(ids[:4_000], ids[4_000:8_000], strict=True) for one in pair]
    page.table.show_ids(tuple(shuffled), stays=True)
    assert page.table.chosen_count == 8_000
    scattered = ids[:8_000:3]
    page.table.show_ids(scattered, stays=True)
    page.table.selectAll()
    page.table.show_ids(ids, stays=True)
    assert page.table.chosen_count == 0
    assert said == ["The sort order changed, so the selection was cleared."]
