"""The graph page over a real engine: the middle, the way back, filters, legend, views, both modes, empty and lone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_rig import Rig
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.types.values import Kind
from core.types.views import MEANING
from ui.context import Context
from ui.pages.graph.display import EGO, WHOLE
from ui.pages.graph.page import GRAPH, GraphPage
from ui.pages.graph.views import NameDialog

TEXTS = (
    "the kettle on the stove boils water for tea",
    "the kettle on the stove boils water for coffee",
    "the kettle on the shelf boils water for tea",
    "a ladder leans against the garden wall",
    "a ladder leans against the garden shed",
    "zebra",
)


@pytest.fixture
def ids(rig: Rig) -> list[str]:
    """Six memories: three on a kettle, two on a ladder, one like no other."""
    return [remember(rig.engine, text, kind=Kind.FACT).memory_id for text in TEXTS]


@pytest.fixture
def page(qtbot: QtBot, context: Context) -> Iterator[GraphPage]:
    """The page, shown but not entered yet."""
    context.theme.apply_theme("light", 100, reduced_motion=True)
    made = GRAPH.make(context)
    assert isinstance(made, GraphPage)
    qtbot.addWidget(made)
    made.resize(900, 640)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.deactivate()


def enter(qtbot: QtBot, page: GraphPage, wish: str = "") -> None:
    page.activate(wish)
    settle(qtbot, page.is_settled)


def texts(page: GraphPage) -> set[str]:
    return {node.row.head for node in page.stage.ego.picture.nodes}


def test_a_wish_puts_a_memory_into_the_middle(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    assert page.stage.ego.ids[0] == ids[0]
    assert texts(page) == set(TEXTS[:3])
    assert page.stage.ego.hasFocus()
    assert "kettle" in page.accessibleName() or page._count.whole.startswith("3 memories and")


def test_without_a_choice_the_newest_that_is_tied_is_shown(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page)
    assert page.stage.ego.ids[0] != ids[5]
    assert len(page.stage.ego.ids) == 3
    assert page.stage.go_back.isHidden()


def test_the_selection_is_the_middle_and_a_click_moves_only_the_selection(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    context.selection.select(ids[1], "library")
    enter(qtbot, page)
    assert page.stage.ego.ids[0] == ids[1]
    canvas = page.stage.ego
    at = QPointF(*canvas.look.to_px(canvas.xy)[1])
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert context.selection.current == canvas.ids[1]
    assert canvas.ids[0] == ids[1]
    assert TEXTS[1] not in canvas.accessibleDescription()
    assert canvas.accessibleDescription().startswith("Fact: the kettle")


def test_enter_goes_there_and_alt_left_comes_back(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    canvas = page.stage.ego
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    there = context.selection.current
    assert there in ids[:3]
    canvas.pick_node(1)
    there = canvas.ids[1]
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    settle(qtbot, lambda: page.is_settled() and canvas.ids[0] == there)
    assert not page.stage.go_back.isHidden()
    QTest.keyClick(canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    settle(qtbot, lambda: page.is_settled() and canvas.ids[0] == ids[0])
    assert page.stage.go_back.isHidden()
    assert context.selection.current == ids[0]


def test_another_page_s_choice_is_marked_where_it_is_drawn_and_else_put_into_the_middle(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    context.selection.select(ids[2], "inspector")
    assert page.stage.ego.ids[page.stage.ego.selected] == ids[2]
    assert page.stage.ego.ids[0] == ids[0]
    context.selection.select(ids[3], "inspector")
    settle(qtbot, lambda: page.is_settled() and page.stage.ego.ids[0] == ids[3])
    assert texts(page) == set(TEXTS[3:5])


def test_plus_minus_and_home_zoom(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    canvas = page.stage.ego
    home = canvas.look
    QTest.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.look.scale > home.scale
    QTest.keyClick(canvas, Qt.Key.Key_Minus)
    QTest.keyClick(canvas, Qt.Key.Key_Minus)
    assert canvas.look.scale < home.scale
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    assert canvas.look == home


def test_a_type_can_be_switched_off_and_on_in_the_legend(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    switch = page.legend.find_toggle(MEANING)
    assert switch is not None
    assert switch.isChecked()
    switch.click()
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 1)
    assert page.near.isHidden()
    assert page.stage.said
    again = page.legend.find_toggle(MEANING)
    assert again is not None
    assert not again.isChecked()
    again.click()
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 3)
    assert page.stage.said == ""


def test_the_line_filters_and_says_what_it_does_not_understand(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    field = page.line.field
    field.setFocus()
    QTest.keyClicks(field, "kind:nonsense")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert "Character 1" in page.line.problem
    assert len(page.stage.ego.ids) == 3
    field.selectAll()
    QTest.keyClicks(field, "coffee")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert page.line.problem == ""
    settle(qtbot, lambda: page.is_settled() and texts(page) == {TEXTS[0], TEXTS[1]})
    QTest.keyClick(field, Qt.Key.Key_Escape)
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 3)


def test_a_lone_memory_says_so_and_offers_to_look_farther(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[5]}")
    assert page.stage.ego.ids == (ids[5],)
    assert "0.40" in page.stage.said
    offers = [made for made in page.stage.findChildren(QPushButton) if made.text() == "Look from 0.30"]
    offers[0].click()
    settle(qtbot, lambda: page.is_settled() and page.shown.filter.min_similarity == 0.3)
    assert page.near.value == pytest.approx(0.3)


def test_the_slider_asks_for_nearer_ones(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[3]}")
    assert len(page.stage.ego.ids) == 2
    page.near._slider.setValue(95)
    settle(qtbot, lambda: page.is_settled() and page.shown.filter.min_similarity == 0.95)
    settle(qtbot, lambda: len(page.stage.ego.ids) == 1)


def test_the_whole_vault_is_laid_out_in_steps_and_drawn(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, WHOLE)
    canvas = page.stage.whole
    assert sorted(canvas.ids) == sorted(ids)
    assert len({tuple(place) for place in canvas.xy.tolist()}) == len(ids)
    assert not page.reader.is_placing
    assert page._count.whole.startswith("6 memories in 1 room, ")
    before = canvas.xy.copy()
    switch = page.legend.find_toggle(MEANING)
    assert switch is not None
    switch.click()
    assert not page.is_settled()
    settle(qtbot, page.is_settled)
    assert canvas.scene is not None
    assert not canvas.scene.shown.any()
    assert (canvas.xy == before).all()


def test_in_the_whole_vault_a_double_click_goes_round_one_memory_and_back_returns(
    qtbot: QtBot, page: GraphPage, ids: list[str]
) -> None:
    enter(qtbot, page, WHOLE)
    canvas = page.stage.whole
    node = canvas.ids.index(ids[5])  # the one without an edge stands by itself
    at = QPointF(*canvas.look.to_px(canvas.xy)[node]).toPoint()
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    settle(qtbot, lambda: page.shown.mode == EGO and page.is_settled())
    assert page.stage.ego.ids[0] == ids[5]
    page.stage.go_back.click()
    settle(qtbot, lambda: page.shown.mode == WHOLE and page.is_settled())
    assert page.stage.canvas is canvas


def test_leaving_stops_the_layout_and_entering_reads_again(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    page.activate(WHOLE)
    settle(qtbot, lambda: page.reader.is_placing)
    page.deactivate()
    assert not page.reader.is_placing
    assert page.is_stale
    enter(qtbot, page)
    assert len(page.stage.whole.ids) == len(ids)
    assert page.stage.whole.xy.any()


def test_views_are_saved_applied_and_removed(qtbot: QtBot, page: GraphPage, ids: list[str], context: Context) -> None:
    heard = hear(context)
    enter(qtbot, page, f"show:{ids[0]}")
    page.stage.depth_chosen.emit(3)
    page.views.save_asked.emit()
    dialog = page.findChildren(NameDialog)[0]
    assert not dialog.save.isEnabled()
    dialog.field.setText("kitchen & co")
    dialog.save.click()
    settle(qtbot, lambda: page.views.text() == "View: kitchen && co")
    page.center_on(ids[3])
    settle(qtbot, page.is_settled)
    assert page.views.text() == "View: none"
    page.views.taken.emit(page.views.views[0])
    settle(qtbot, lambda: page.is_settled() and page.stage.ego.ids[0] == ids[0])
    assert (page.shown.depth, page.views.text()) == (3, "View: kitchen && co")
    page.views.drop_asked.emit(page.views.views[0])
    settle(qtbot, lambda: page.views.views == ())
    assert heard.sentences == ["The view is gone."]
    assert page.views.text() == "View: none"


def test_a_change_is_drawn_round_a_memory_and_offered_for_the_whole_vault(
    qtbot: QtBot, page: GraphPage, ids: list[str], rig: Rig, context: Context
) -> None:
    context.bridge.changed.connect(page.handle_change)
    enter(qtbot, page, f"show:{ids[3]}")
    remember(rig.engine, "a ladder leans against the garden gate")
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 3)
    enter(qtbot, page, WHOLE)
    remember(rig.engine, "a ladder leans against the garden fence")
    settle(qtbot, page._again.isVisible)
    assert len(page.stage.whole.ids) == 7
    page._again.click()
    settle(qtbot, lambda: page.is_settled() and len(page.stage.whole.ids) == 8)
    assert page._again.isHidden()


def test_an_empty_vault_says_so(qtbot: QtBot, page: GraphPage) -> None:
    enter(qtbot, page)
    shown = page.states.currentWidget()
    assert shown is not None
    assert shown.accessibleName().startswith("No memories yet")
    page.mode.chosen.emit(WHOLE)
    settle(qtbot, page.is_settled)
    assert page.legend.isHidden()


def test_a_memory_that_is_gone_gives_way_to_the_newest(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    assert ids
    enter(qtbot, page, "show:0198c0de-0000-7000-8000-000000000000")
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 3)


def test_the_theme_and_the_text_size_may_change_while_it_is_shown(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    for wish in (f"show:{ids[0]}", WHOLE):
        enter(qtbot, page, wish)
        for theme, scale in (("dark", 150), ("light", 100)):
            context.theme.apply_theme(theme, scale, reduced_motion=True)
            settle(qtbot, page.is_settled)
            shown = page.stage.canvas.grab().toImage()
            ground = shown.pixelColor(shown.width() // 2, shown.height() - 6)
            assert ground == context.theme.colour("surface")


def test_the_switch_has_shorter_words_where_its_own_would_be_cut(
    qtbot: QtBot, context: Context, page: GraphPage
) -> None:
    buttons = {made.accessibleName(): made for made in page.mode.findChildren(QPushButton)}
    one = buttons["Round one memory"]
    assert one.text() == "Round one memory"
    context.theme.apply_theme("light", 150, reduced_motion=True)
    page.resize(480, 500)
    settle(qtbot, lambda: one.text() == "One memory")
    settle(qtbot, lambda: all(made.width() >= made.sizeHint().width() for made in buttons.values()))
    page.resize(900, 500)
    settle(qtbot, lambda: one.text() == "Round one memory")
    context.theme.apply_theme("light", 100, reduced_motion=True)
