"""What is known of an entity: topics, order of time, what is outdated, whose words; and small talk out of the graph."""

from __future__ import annotations

import pytest
from engine_rig import Rig
from entity_rig import change, make
from statement_rows import link, mark_small_talk, told

from core.types.entities import EntityView
from core.types.values import Kind
from core.types.views import GraphFilter


def view(rig: Rig, entity_id: str) -> EntityView:
    return rig.engine.entities.read_detail(entity_id).result(10)


def settle(rig: Rig, memory_id: str, becomes: str) -> None:
    rig.write(lambda tx: tx.run(f"UPDATE memories SET {becomes} WHERE id = ?", (memory_id,)))  # noqa: S608 - a test's own


def test_statements_stand_under_topics_the_latest_first(rig: Rig) -> None:
    mara = make(rig, "Mara")
    told(
        rig,
        "Mara",
        "Mara has two cats.",
        "possession",
        "I have two cats",
        author="Mara",
        role="other",
        occurred_at=1_000,
    )
    told(rig, "mara", "Mara moved to Porto.", "place", "I moved to Porto", occurred_at=3_000)
    told(rig, "Mara", "Mara lives near the sea.", "place", "I live near the sea", occurred_at=5_000)
    told(rig, "Bo", "Bo swims.", "habit", "I swim")
    seen = view(rig, mara.id)
    assert [(topic.type, [one.text for one in topic.statements]) for topic in seen.topics] == [
        ("possession", ["Mara has two cats."]), ("place", ["Mara lives near the sea.", "Mara moved to Porto."]),
    ]  # fmt: skip
    cats = seen.topics[0].statements[0]
    assert (cats.quote, cats.speaker, cats.is_owners, cats.state, cats.sources) == (
        "I have two cats",
        "Mara",
        False,
        "holds",
        1,
    )
    assert cats.occurred is not None
    assert cats.occurred.ms == 1_000


def test_what_is_outdated_is_marked_and_stands_last(rig: Rig) -> None:
    mara = make(rig, "Mara")
    old, _ = told(rig, "Mara", "Mara lives in Graz.", "place", "I live in Graz", occurred_at=9_000)
    told(rig, "Mara", "Mara lives in Porto.", "place", "I live in Porto", occurred_at=3_000)
    over, _ = told(rig, "Mara", "Mara lives in Linz.", "place", "I live in Linz", occurred_at=2_000)
    settle(rig, old, "status = 'superseded'")
    settle(rig, over, "valid_to = 1")
    (topic,) = view(rig, mara.id).topics
    assert [(one.text[-5:-1], one.state) for one in topic.statements] == [
        ("orto", "holds"), ("Graz", "outdated"), ("Linz", "outdated"),
    ]  # fmt: skip


def test_a_statement_of_two_memories_is_shown_once_by_the_latest(rig: Rig) -> None:
    mara = make(rig, "Mara")
    statement, _ = told(rig, "Mara", "Mara sails.", "habit", "I sail", occurred_at=1_000)
    again = rig.store("Sailing today again", kind=Kind.EPISODE).memory_id
    link(rig, statement, again, "Mara", "habit", 7)
    (topic,) = view(rig, mara.id).topics
    assert [(one.sources, one.quote, one.episode_id) for one in topic.statements] == [(2, "Sailing", again)]


def test_what_waits_or_was_deleted_or_is_of_another_space_is_not_known(rig: Rig) -> None:
    mara = make(rig, "Mara", space="work")
    told(rig, "Mara", "Mara of home sings.", "habit", "I sing")
    assert view(rig, mara.id).topics == ()
    own = make(rig, "Mara")
    for status in ("quarantined", "deleted", "archived"):
        statement, _ = told(rig, "Mara", f"Mara is {status}.", "attribute", "so it is")
        settle(rig, statement, f"status = '{status}'")
    assert [topic.type for topic in view(rig, own.id).topics] == ["habit"]


def test_another_name_finds_statements_too(rig: Rig) -> None:
    mara = make(rig, "Mara")
    told(rig, "Marla", "Marla skates.", "habit", "I skate")
    assert view(rig, mara.id).topics == ()
    change(rig, mara, aliases=("Marla",))
    assert [topic.type for topic in view(rig, mara.id).topics] == ["habit"]


def test_of_what_no_statement_is_about_those_are_known_that_name_it(rig: Rig) -> None:
    text = "Mara moved to Porto."
    statement, _ = told(rig, "Mara", text, "place", "I moved to Porto")
    porto = make(rig, "Porto", "place")
    row = {"memory_id": statement, "entity_id": porto.id, "start_at": text.index("Porto"), "end_at": len(text) - 1}
    rig.write(lambda tx: tx.insert("mentions", row))
    assert [one.text for topic in view(rig, porto.id).topics for one in topic.statements] == [text]


@pytest.mark.starts_process
def test_small_talk_is_left_out_of_the_graph_unless_it_is_asked_for(rig: Rig) -> None:
    kept = str(rig.store("The kettle is on.", kind=Kind.EPISODE).memory_id)
    small = str(rig.store("Haha, cool!", kind=Kind.EPISODE).memory_id)
    mark_small_talk(rig, small)
    graph = rig.engine.graph

    def ids(wanted: GraphFilter) -> set[str]:
        return set(graph.read_whole(wanted).result(20).ids)

    assert ids(GraphFilter()) == {kept}
    assert ids(GraphFilter(hides_small_talk=False)) == {kept, small}
    assert ids(GraphFilter(query="cool")) == {small}, "who searches finds it"
    shown = graph.read_ego(small, 1, 10).result(20).nodes
    assert [node.row.id for node in shown if node.row is not None] == [small], "the centre always shows"
