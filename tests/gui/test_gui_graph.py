"""The graph page over a real engine: the middle, the way back, filters, legend, views, both modes, empty and lone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from engine_rig import Rig
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from window_rig import hear, remember, settle

from core.types.entities import EntityLine
from core.types.values import Kind
from core.types.views import MEANING
from core.vault.database.tx import Tx
from ui.context import CLOSER, Context
from ui.pages.graph.frame import EGO, WHOLE
from ui.pages.graph.page import GRAPH, GraphPage
from ui.pages.graph.views import NameDialog, StartNameField

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
    # These texts name nobody: what ties them is their meaning, which is off until it is asked for.
    made.shown = made.shown.with_switch(MEANING, is_on=True)
    yield made
    made.deactivate()


def enter(qtbot: QtBot, page: GraphPage, wish: str = "") -> None:
    page.activate(wish)
    settle(qtbot, page.is_settled)


def texts(page: GraphPage) -> set[str]:
    return {node.text for node in page.stage.ego.picture.nodes}


def test_a_wish_puts_a_memory_into_the_middle(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    assert page.stage.ego.ids[0] == ids[0]
    assert texts(page) == set(TEXTS[:3])
    assert page.stage.ego.hasFocus()
    assert page._count.whole.startswith(f"Around “{TEXTS[0]}” · 0 names · 3 memories")


def test_without_a_choice_the_newest_that_is_tied_is_shown(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page)
    assert page.stage.ego.ids[0] != ids[5]
    assert len(page.stage.ego.ids) == 3
    assert page.stage.go_back.isHidden()


def test_the_selection_is_the_middle_and_a_click_moves_only_the_selection(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    enter(qtbot, page, f"show:{ids[1]}")
    assert page.stage.ego.ids[0] == ids[1]
    canvas = page.stage.ego
    at = QPointF(*canvas.look.to_px(canvas.xy)[1])
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert context.selection.current == canvas.ids[1]
    assert canvas.ids[0] == ids[1]
    assert TEXTS[1] not in canvas.accessibleDescription()
    assert canvas.accessibleDescription().startswith("Fact: the kettle")


def test_space_goes_there_and_alt_left_comes_back(
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
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    settle(qtbot, lambda: page.is_settled() and canvas.ids[0] == there)
    assert not page.stage.go_back.isHidden()
    QTest.keyClick(canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    settle(qtbot, lambda: page.is_settled() and canvas.ids[0] == ids[0])
    assert page.stage.go_back.isHidden()
    assert context.selection.current == there


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


def test_a_type_can_be_switched_off_and_on(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[0]}")
    switch = page.legend.find_toggle(MEANING)
    assert switch is not None
    assert switch.isChecked()
    switch.click()
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 1)
    assert page.similarity.isHidden()
    assert page.stage.said
    assert page.legend.find_toggle(MEANING) is None
    again = page.switches.find_switch(MEANING)
    assert not again.isChecked()
    again.click()
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 3)
    assert page.stage.said == ""


def test_a_lone_memory_offers_similar_meaning(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    page.shown = page.shown.with_switch(MEANING, is_on=False)
    enter(qtbot, page, f"show:{ids[0]}")
    assert page.stage.ego.ids == (ids[0],)
    offer = next(made for made in page.stage.findChildren(QPushButton) if made.text() == "Show similar meaning")
    offer.click()
    settle(qtbot, lambda: page.is_settled() and len(page.stage.ego.ids) == 3)
    assert page.switches.find_switch(MEANING).isChecked()


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
    offers = [made for made in page.stage.findChildren(QPushButton) if made.text() == "Lower to 0.30"]
    offers[0].click()
    settle(qtbot, lambda: page.is_settled() and page.shown.filter.min_similarity == 0.3)
    assert page.similarity.value == pytest.approx(0.3)


def test_the_slider_asks_for_nearer_ones(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, f"show:{ids[3]}")
    assert len(page.stage.ego.ids) == 2
    page.similarity._slider.setValue(95)
    settle(qtbot, lambda: page.is_settled() and page.shown.filter.min_similarity == 0.95)
    settle(qtbot, lambda: len(page.stage.ego.ids) == 1)


def open_community(qtbot: QtBot, page: GraphPage) -> None:
    """Open the largest community from the keyboard."""
    canvas = page.stage.overview
    assert page.stage.canvas is canvas
    canvas.pick_node(0)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    settle(qtbot, lambda: bool(page.shown.community) and page.is_settled())


def test_the_whole_vault_begins_with_its_communities_and_one_is_opened(
    qtbot: QtBot, page: GraphPage, ids: list[str]
) -> None:
    enter(qtbot, page, WHOLE)
    assert page._count.whole == "0 names · 6 memories · 1 community"
    page.stage.overview.pick_node(0)
    assert page.stage.overview.accessibleDescription().endswith(": 6 items")
    open_community(qtbot, page)
    canvas = page.stage.whole
    assert sorted(canvas.ids) == sorted(ids)
    assert len({tuple(place) for place in canvas.xy.tolist()}) == len(ids)
    assert not page.reader.is_placing
    assert page._count.whole.endswith(" · 6 items")
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert page.stage.canvas is page.stage.overview


def test_a_type_is_hidden_in_a_community_and_nothing_moves(
    qtbot: QtBot, page: GraphPage, ids: list[str], rig: Rig
) -> None:
    space = rig.value("SELECT space_id FROM memories LIMIT 1")
    row = {"id": "e", "from_id": ids[0], "to_id": ids[1], "type": "supports", "space_id": space, "weight": 1.0}
    rig.write(lambda tx: tx.insert("edges", {**row, "made_by": "owner", "recorded_at": tx.now_ms}))
    enter(qtbot, page, WHOLE)
    open_community(qtbot, page)
    canvas = page.stage.whole
    before, shown = canvas.xy.copy(), int(canvas.scene.shown.sum()) if canvas.scene is not None else 0
    switch = page.legend.find_toggle("supports")
    assert switch is not None
    switch.click()
    settle(qtbot, page.is_settled)
    assert canvas.scene is not None
    assert int(canvas.scene.shown.sum()) == shown - 1
    assert (canvas.xy == before).all()


def test_in_a_community_space_goes_round_one_memory_and_back_returns(
    qtbot: QtBot, page: GraphPage, ids: list[str]
) -> None:
    enter(qtbot, page, WHOLE)
    open_community(qtbot, page)
    canvas = page.stage.whole
    canvas.pick_node(canvas.ids.index(ids[5]))
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    settle(qtbot, lambda: page.shown.mode == EGO and page.is_settled())
    assert page.stage.ego.ids[0] == ids[5]
    page.stage.go_back.click()
    settle(qtbot, lambda: page.shown.mode == WHOLE and page.is_settled())
    assert page.stage.canvas is canvas


def test_leaving_stops_the_layout_and_entering_reads_again(qtbot: QtBot, page: GraphPage, ids: list[str]) -> None:
    enter(qtbot, page, WHOLE)
    page.stage.overview.opened.emit("0")
    before = page.reader.is_placing
    page.deactivate()
    assert (before, page.reader.is_placing, page.is_stale) == (True, False, True)
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
    assert page.views.text() == "View: not saved"
    page.views.taken.emit(page.views.views[0])
    settle(qtbot, lambda: page.is_settled() and page.stage.ego.ids[0] == ids[0])
    assert (page.shown.depth, page.views.text()) == (3, "View: kitchen && co")
    page.views.drop_asked.emit(page.views.views[0])
    settle(qtbot, lambda: page.views.views == ())
    assert heard.sentences == ["View removed."]
    assert page.views.text() == "View: not saved"


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
    assert "7 memories" in page._count.whole
    page._again.click()
    settle(qtbot, lambda: page.is_settled() and "8 memories" in page._count.whole)
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


@pytest.fixture
def people(rig: Rig) -> dict[str, str]:
    """Mara, her brother Ivo and Bergen, with three facts that name them; name to id."""
    facts = {
        "Mara has a brother called Ivo.": ("Mara", "Ivo"),
        "Ivo moved to Bergen in March.": ("Ivo", "Bergen"),
        "Mara likes tea.": ("Mara",),
    }
    types = {"Mara": "person", "Ivo": "person", "Bergen": "place"}
    stored = {text: remember(rig.engine, text, kind=Kind.FACT).memory_id for text in facts}
    space = rig.value("SELECT space_id FROM memories LIMIT 1")

    def write(tx: Tx) -> None:
        for name, kind in types.items():
            row = {"id": name, "space_id": space, "name": name, "type": kind, "made_by": "owner"}
            tx.insert("entities", {**row, "recorded_at": tx.now_ms})
            alias = {"entity_id": name, "alias": name, "alias_key": name.lower(), "recorded_at": tx.now_ms}
            tx.insert("entity_aliases", alias)
        for text, names in facts.items():
            for name in names:
                at = text.index(name)
                place = {"memory_id": stored[text], "entity_id": name, "start_at": at, "end_at": at + len(name)}
                tx.insert("mentions", place)

    rig.write(write)
    return stored | {name: name for name in types}


def test_the_page_begins_with_the_person_named_most_and_what_is_tied_by_name(
    qtbot: QtBot, page: GraphPage, people: dict[str, str]
) -> None:
    page.shown = page.shown.with_switch(MEANING, is_on=False)
    enter(qtbot, page)
    nodes = page.stage.ego.picture.nodes
    assert nodes[0].id in {"Ivo", "Mara"}
    assert {node.text for node in nodes} >= {"Mara", "Ivo", "Mara has a brother called Ivo."}
    assert set(page.stage.ego.picture.types) == {"mentions"}
    assert page.stage.ego.counts.kinds["person"] == 2


def test_enter_opens_an_entity_on_its_page_and_a_memory_in_the_inspector(
    qtbot: QtBot, page: GraphPage, people: dict[str, str], context: Context
) -> None:
    gone: list[tuple[str, str]] = []
    context.desk.go.connect(lambda where, wish: gone.append((where, wish)))
    heard: list[tuple[str, str]] = []
    context.selection.changed.connect(lambda memory, origin: heard.append((memory, origin)))
    enter(qtbot, page, "show:Mara")
    canvas = page.stage.ego
    canvas.pick_node(0)
    assert canvas.accessibleDescription() == "Person: Mara · in 2 memories"
    assert context.selection.current == ""
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert gone == [("entities", "Mara")]
    canvas.pick_node(canvas.ids.index(people["Mara likes tea."]))
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert heard[-1] == (people["Mara likes tea."], CLOSER)


def test_two_chosen_things_show_the_way_between_them_with_its_reasons(
    qtbot: QtBot, page: GraphPage, people: dict[str, str]
) -> None:
    page.shown = replace(page.shown.with_switch(MEANING, is_on=False), depth=3)
    enter(qtbot, page, "show:Mara")
    canvas = page.stage.ego
    canvas.pick_node(0)
    at = QPointF(*canvas.look.to_px(canvas.xy)[canvas.ids.index("Ivo")]).toPoint()
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, at)
    settle(qtbot, lambda: page.shown.end == "Ivo" and page.is_settled())
    assert page.panel.isVisible()
    assert page.panel.steps == (
        "Mara is mentioned in “Mara has a brother called Ivo”.",
        "Ivo is mentioned in “Mara has a brother called Ivo”.",
    )
    assert canvas.xy[0, 0] == canvas.xy[:, 0].min()
    page.panel.close_button.click()
    settle(qtbot, lambda: not page.shown.end and page.is_settled())
    assert page.panel.isHidden()


def test_the_end_of_a_path_is_chosen_by_keys_and_escape_leaves_it(
    qtbot: QtBot, page: GraphPage, people: dict[str, str]
) -> None:
    page.shown = page.shown.with_switch(MEANING, is_on=False)
    enter(qtbot, page, "show:Mara")
    canvas = page.stage.ego
    canvas.pick_node(0)
    QTest.keyClick(canvas, Qt.Key.Key_P)
    assert page.stage.said.startswith("Select where the path ends")
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert (page.stage.said, canvas.path_from) == ("", "")
    canvas.pick_node(0)
    page.stage.path.click()
    canvas.pick_node(canvas.ids.index("Ivo"))
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    settle(qtbot, lambda: page.shown.end == "Ivo" and page.is_settled())
    assert len(page.panel.steps) == 2


def test_what_nothing_connects_says_so(qtbot: QtBot, page: GraphPage, people: dict[str, str], ids: list[str]) -> None:
    page.shown = page.shown.with_switch(MEANING, is_on=False)
    enter(qtbot, page, "show:Mara")
    page.stage.ego.path_wanted.emit("Mara", ids[5])
    settle(qtbot, lambda: page.is_settled() and page.panel.isVisible())
    assert page.panel.steps == ()
    assert "Nothing that is shown connects Mara with “zebra”." in page.panel.accessibleName()


def test_what_was_replaced_is_hidden_until_it_is_switched_on_and_that_is_remembered(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    enter(qtbot, page, f"show:{ids[3]}")
    outdated = page.switches.find_switch("outdated")
    hides = [page.shown.filter.hides_outdated]
    assert not outdated.isChecked()
    outdated.click()
    settle(qtbot, page.is_settled)
    hides.append(page.shown.filter.hides_outdated)
    assert hides == [True, False]
    again = GraphPage(context)
    qtbot.addWidget(again)
    assert again.switches.find_switch("outdated").isChecked()
    outdated.click()
    settle(qtbot, page.is_settled)
    third = GraphPage(context)
    qtbot.addWidget(third)
    assert third.shown.filter.hides_outdated


def test_a_name_that_is_typed_is_looked_for_and_taken_on_enter(qtbot: QtBot) -> None:
    field, asked, chosen = StartNameField(), list[str](), list[str]()
    qtbot.addWidget(field)
    field.asked.connect(asked.append)
    field.chosen.connect(chosen.append)
    QTest.keyClicks(field, "Jo")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert asked == ["Jo"]
    field.offer_names([EntityLine("a", "Jo", "person", "shed", 3), EntityLine("b", "Jo", "person", "home", 1)])
    assert (chosen, field.text()) == (["a"], "")


def test_who_was_selected_elsewhere_is_not_where_the_graph_begins(
    qtbot: QtBot, page: GraphPage, ids: list[str], context: Context
) -> None:
    enter(qtbot, page)
    began = page.shown.centre
    page.deactivate()
    context.selection.select(next(one for one in ids if one != began), "library")
    enter(qtbot, page)
    assert page.shown.centre == began
