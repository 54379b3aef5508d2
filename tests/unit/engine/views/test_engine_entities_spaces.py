"""A person is one person: the owner is shown one entity for what several spaces name, and may say that it is two."""

from __future__ import annotations

import pytest
from engine_rig import Rig, differences
from entity_rig import get, make, named

from core.recall.browse.entity_links import EntityIndex, find_graph_start
from core.types.entities import EntityChange, EntityLine, EntityQuery, EntityView
from core.vault.database.rows import Rows


def lines(rig: Rig, text: str = "", *types: str) -> list[EntityLine]:
    return list(rig.engine.entities.list_entities(EntityQuery(text, types)).result(10).lines)


def view(rig: Rig, entity_id: str) -> EntityView:
    return rig.engine.entities.read_detail(entity_id).result(10)


@pytest.fixture
def three(rig: Rig) -> tuple[str, str, str]:
    """Jo in three spaces, named most often in the shed."""
    home = named(rig, "Jo bakes bread at home.", "Jo")
    shed = named(rig, "Jo sharpens the chisel.", "Jo", space="shed")
    named(rig, "The lathe was left on by Jo.", "Jo", space="shed")
    health = named(rig, "Jo runs on Sundays.", "Jo", space="health")
    return home, shed, health


def test_one_line_and_one_page_for_one_person(rig: Rig, three: tuple[str, str, str]) -> None:
    (line,) = lines(rig)
    assert (line.id, line.name, line.mentions, line.space) == (three[1], "Jo", 4, "shed")
    assert set(line.also_in) == {"home", "health"}
    for entity_id in three:
        seen = view(rig, entity_id)
        assert seen.card.id == three[1]
        assert seen.mentions == len(seen.places) == 4
        assert {(part.space, part.mentions) for part in seen.parts} == {("shed", 2), ("home", 1), ("health", 1)}
        assert seen.alike == ()


def test_a_name_of_one_space_has_no_parts(rig: Rig) -> None:
    assert view(rig, named(rig, "Ines bakes.", "Ines")).parts == ()
    assert lines(rig)[0].also_in == ()


def test_names_of_all_spaces_find_it(rig: Rig, three: tuple[str, str, str]) -> None:
    rig.engine.entities.update(three[2], EntityChange(aliases=("Josephine",))).result(10)
    (line,) = lines(rig, "joseph")
    assert (line.id, line.others) == (three[1], ("Josephine",))
    assert view(rig, three[0]).card.aliases == ("Josephine",)


def test_the_owner_says_that_they_are_two_and_takes_it_back(rig: Rig, three: tuple[str, str, str]) -> None:
    before = rig.dump()
    done = rig.engine.entities.separate(three[2]).result(10)
    assert done.step_id is not None
    assert {(line.id, line.mentions) for line in lines(rig)} == {(three[1], 3), (three[2], 1)}
    assert view(rig, three[2]).parts == ()
    assert view(rig, three[2]).alike == view(rig, three[0]).alike == ()  # nobody asks again
    named(rig, "Jo swims on Mondays.", "Jo", space="health")  # what comes later changes nothing of it
    assert len(lines(rig)) == 2
    rig.undo(done.step_id)
    assert len(lines(rig)) == 1
    assert "entities" not in differences(before, rig.dump())
    assert rig.engine.entities.separate(named(rig, "Ines bakes.", "Ines")).result(10).step_id is None


def test_a_change_holds_in_all_spaces_and_is_one_step(rig: Rig, three: tuple[str, str, str]) -> None:
    rig.engine.entities.update(three[2], EntityChange(aliases=("Joey",))).result(10)
    wanted = EntityChange("Joan", ("Jo", "Joey"), type="pet")
    done = rig.engine.entities.revise(three[0], wanted).result(10)
    assert [(line.name, line.type, line.mentions) for line in lines(rig)] == [("Joan", "pet", 4)]
    names = {entity_id: (get(rig, entity_id).name, set(get(rig, entity_id).aliases)) for entity_id in three}
    assert names == {
        three[0]: ("Joan", {"Jo"}),
        three[1]: ("Joan", {"Jo"}),
        three[2]: ("Joan", {"Jo", "Joey"}),  # what one space knew besides, no other is told
    }
    rig.undo(done.step_id)
    assert {get(rig, entity_id).name for entity_id in three} == {"Jo"}
    assert lines(rig)[0].type == "person"


def test_another_name_that_the_owner_takes_away_goes_wherever_it_is(rig: Rig, three: tuple[str, str, str]) -> None:
    for entity_id in three[1:]:
        rig.engine.entities.update(entity_id, EntityChange(aliases=("Joey",))).result(10)
    rig.engine.entities.revise(three[0], EntityChange("Jo", ())).result(10)
    assert {get(rig, entity_id).aliases for entity_id in three} == {()}


def test_the_graph_has_one_node(rig: Rig, three: tuple[str, str, str]) -> None:
    def read(tx: Rows) -> tuple[object, ...]:
        index = EntityIndex(tx)
        labels = {index.find_label(entity_id) for entity_id in three}
        (label,) = labels
        assert label is not None
        links = index.links_around([label], ("mentions",))
        return index.lines([label])[label], len(links), find_graph_start(index, tx)

    line, links, start = rig.write(read)
    assert (line.id, line.mentions) == (three[1], 4)
    assert links == 4
    assert start == three[1]


def test_what_was_merged_and_what_is_in_another_space_are_one(rig: Rig, three: tuple[str, str, str]) -> None:
    whole = make(rig, "Joanna", space="home")
    rig.engine.entities.merge(three[0], whole.id).result(10)
    (line,) = lines(rig)
    assert {line.name, *line.others} == {"Jo", "Joanna"}
    assert line.mentions == 4
