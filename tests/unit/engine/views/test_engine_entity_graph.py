"""The graph of entities over a real vault: named relations, the owner, what is left out, paths, communities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_rig import Rig, error_of

from core.errors import Code
from core.types.values import Kind
from core.types.views import (
    ABOUT,
    EDGE_TYPES,
    MENTIONS,
    NODE_KINDS,
    OWNER_NODE,
    RELATION,
    SAYS,
    EgoGraph,
    GraphFilter,
)
from core.vault.database.tx import Tx

EVERYTHING = GraphFilter(hides_small_talk=False, hides_messages=False)


def add(rig: Rig, table: str, **columns: Any) -> None:
    rig.write(lambda tx: tx.insert(table, columns))


def space(rig: Rig) -> str:
    return str(rig.value("SELECT space_id FROM memories LIMIT 1"))


def entity(rig: Rig, name: str, kind: str = "person", into: str | None = None, **more: Any) -> str:
    def write(tx: Tx) -> None:
        row = {"id": name, "space_id": space(rig), "name": name, "type": kind, "made_by": "owner"} | more
        tx.insert("entities", {**row, "merged_into_id": into, "recorded_at": tx.now_ms})
        tx.insert(
            "entity_aliases",
            {"entity_id": name, "alias": name, "alias_key": name.lower(), "recorded_at": tx.now_ms},
        )

    rig.write(write)
    return name


def mention(rig: Rig, memory_id: str, name: str, *, speaks: bool = False) -> None:
    at = -1 if speaks else str(rig.value("SELECT text FROM memories WHERE id = ?", memory_id)).index(name)
    end = 0 if speaks else at + len(name)
    add(rig, "mentions", memory_id=memory_id, entity_id=name, start_at=at, end_at=end)


def state(rig: Rig, memory_id: str, episode_id: str, about: str) -> None:
    """A memory is a statement of an episode about somebody."""
    add(
        rig, "statements", memory_id=memory_id, episode_id=episode_id, start_at=0, end_at=4, about=about,
        type="attribute", lasting=1, confidence=0.9, operation="ADD", made_by="reader",
    )  # fmt: skip


def read_episode(rig: Rig, memory_id: str, *, small: bool = False) -> None:
    blank = bytes(32)
    add(rig, "readings", memory_id=memory_id, version="1", content_hash=blank, small_talk=int(small), at=1)


def claim(rig: Rig, subject: str, predicate: str, value: str) -> None:
    made = f"{subject}{value}"
    add(
        rig, "claims", id=made, space_id=space(rig), claim_key=(subject + value).encode().ljust(32)[:32],
        subject=subject, subject_key=subject.lower(), predicate=predicate, value=value, value_key=value.lower(),
        exclusive=0, confidence=0.8, extracted_by="rules", recorded_at=1,
    )  # fmt: skip
    memory = rig.value("SELECT id FROM memories LIMIT 1")
    add(
        rig, "evidence", id=made, claim_id=made, memory_id=memory, space_id=space(rig), quote="note", start_at=0,
        end_at=4, span_hash=bytes(32), method="rules", lineage="l", observed_at=1, recorded_at=1,
    )  # fmt: skip
    rig.write(lambda tx: tx.update("claims", {"id": made}, {"state": "asserted", "asserted_at": 1}))


def ego(rig: Rig, node_id: str, depth: int = 1, wanted: GraphFilter = EVERYTHING, cap: int = 41) -> EgoGraph:
    return rig.engine.graph.read_ego(node_id, depth, cap, wanted).result(60)


def drawn(graph: EgoGraph) -> set[tuple[str, str, str]]:
    return {(edge.a, edge.type, edge.b) for edge in graph.edges}


@pytest.mark.starts_process
def test_the_most_telling_tie_between_a_memory_and_an_entity_counts(rig: Rig) -> None:
    rig.bring([{"text": "I moved to Bergen, says Mara.", "session": "s", "author": "Mara", "ref": "1"}])
    episode = str(rig.value("SELECT id FROM memories"))
    fact = rig.store("Mara moved to Bergen.").memory_id
    entity(rig, "Mara")
    entity(rig, "Bergen", "place")
    for name in ("Mara", "Bergen"):
        mention(rig, fact, name)
        mention(rig, episode, name)
    mention(rig, episode, "Mara", speaks=True)
    state(rig, fact, episode, "Mara")
    assert drawn(ego(rig, "Mara")) == {(fact, ABOUT, "Mara"), ("Mara", SAYS, episode)} | (
        {(fact, "derived_from", episode)} & drawn(ego(rig, "Mara"))
    )
    assert (fact, MENTIONS, "Bergen") in drawn(ego(rig, "Bergen"))
    without = GraphFilter(edge_types=(SAYS, MENTIONS), hides_messages=False)
    assert ("Mara", SAYS, fact) in drawn(ego(rig, "Mara", wanted=without))
    nodes = {node.id: node for node in ego(rig, "Mara").nodes}
    assert (nodes["Mara"].kind, nodes["Mara"].text, nodes[fact].text) == ("person", "Mara", "Mara moved to Bergen.")


@pytest.mark.starts_process
def test_claims_between_entities_are_relations_with_their_predicate(rig: Rig) -> None:
    rig.store("a note")
    for name, kind in (("Marek", "person"), ("Quillwort", "organization")):
        entity(rig, name, kind)
    claim(rig, "Marek", "works_at", "quillwort")
    claim(rig, "Marek", "age_is", "79")
    claim(rig, "user", "likes", "Marek")
    graph = ego(rig, "Marek")
    assert {(edge.a, edge.type, edge.label, edge.b) for edge in graph.edges} == {
        ("Marek", RELATION, "works_at", "Quillwort"),
        (OWNER_NODE, RELATION, "likes", "Marek"),
    }
    assert {node.id: node.text for node in graph.nodes}[OWNER_NODE] == "You"


@pytest.mark.starts_process
def test_those_who_speak_in_one_conversation_talk_with_each_other(rig: Rig) -> None:
    rows = [
        {"text": f"Turn {nr} of {talk}", "session": talk, "author": who, "ref": f"{talk}{who}{nr}"}
        for talk, people in (("few", ("Mara", "Tom")), ("other", ("Tom", "Nora")), ("crowd", "ABCDEFG"))
        for who in people
        for nr in range(2)
    ]
    rig.bring([*rows, {"text": "Only once", "session": "few", "author": "Nora", "ref": "once"}])
    names = sorted({row["author"] for row in rows})
    for name in names:
        entity(rig, name)
    for memory_id, author in rig.rows("SELECT id, author FROM memories"):
        mention(rig, memory_id, author, speaks=True)
    claim(rig, "Tom", "married_to", "Nora")

    def related(name: str) -> set[tuple[frozenset[str], str]]:
        found = ego(rig, name, wanted=GraphFilter(edge_types=(RELATION,))).edges
        return {(frozenset((edge.a, edge.b)), edge.label) for edge in found}

    assert related("Tom") == {
        (frozenset({"Mara", "Tom"}), "talks_with"),
        (frozenset({"Nora", "Tom"}), "married_to"),  # a claim says more
    }
    assert related("Mara") == {(frozenset({"Mara", "Tom"}), "talks_with")}
    assert not related("A")
    rig.forget(str(rig.value("SELECT id FROM memories WHERE author = 'Mara' LIMIT 1")))
    assert not related("Mara"), "one thing said is no talk"


@pytest.mark.starts_process
def test_a_merged_name_leads_to_what_it_was_merged_into(rig: Rig) -> None:
    fact = rig.store("Mum likes tea.").memory_id
    episode = rig.store("said at breakfast", kind=Kind.EPISODE).memory_id
    entity(rig, "Mara")
    entity(rig, "Mum", into="Mara")
    state(rig, fact, episode, "Mum")
    assert drawn(ego(rig, "Mum")) == drawn(ego(rig, "Mara"))
    assert (fact, ABOUT, "Mara") in drawn(ego(rig, "Mum"))
    assert ego(rig, "Mum").centre == "Mara"


@pytest.mark.starts_process
def test_messages_that_were_read_and_small_talk_are_switched_on(rig: Rig) -> None:
    rig.bring([{"text": f"Mara, number{n}", "session": "s", "author": "Ivo", "ref": f"{n}"} for n in range(3)])
    unread, read, small = (row[0] for row in rig.rows("SELECT id FROM memories ORDER BY n"))
    entity(rig, "Mara")
    for one in (unread, read, small):
        mention(rig, one, "Mara")
    read_episode(rig, read)
    read_episode(rig, small, small=True)

    def shown(wanted: GraphFilter) -> set[str]:
        return {node.id for node in ego(rig, "Mara", wanted=replace(wanted, edge_types=(MENTIONS,))).nodes}

    assert shown(GraphFilter()) == {"Mara", unread}
    assert shown(GraphFilter(hides_messages=False)) == {"Mara", unread, read}
    assert shown(EVERYTHING) == {"Mara", unread, read, small}
    assert {node.id for node in ego(rig, read, wanted=GraphFilter(edge_types=(MENTIONS,))).nodes} == {read, "Mara"}


@pytest.mark.starts_process
def test_what_was_replaced_can_be_left_out(rig: Rig) -> None:
    new, old = rig.store("The rent is 950.").memory_id, rig.store("The rent is 900.").memory_id
    rig.write(lambda tx: tx.update("memories", {"id": old}, {"status": "superseded", "superseded_by_id": new}))
    assert (new, "supersedes", old) in drawn(ego(rig, new))
    assert {node.id for node in ego(rig, new, wanted=GraphFilter(hides_outdated=True)).nodes} == {new}


@pytest.mark.starts_process
def test_a_crowd_of_statements_leaves_room_for_whom_they_name(rig: Rig) -> None:
    entity_names = [f"Person{chr(97 + n)}" for n in range(6)]
    facts = [rig.store(f"Mara has item{n}, {entity_names[n % 6]} knows").memory_id for n in range(18)]
    for name in ("Mara", *entity_names):
        entity(rig, name)
    for n, fact in enumerate(facts):
        mention(rig, fact, "Mara")
        mention(rig, fact, entity_names[n % 6])
    graph = ego(rig, "Mara", 2, cap=13)
    assert sum(node.row is None for node in graph.nodes) == 1 + 4  # twelve neighbours, eight of them memories at most
    assert graph.left_out > 0
    assert all(-1 <= node.community < 6 for node in graph.nodes)
    assert graph.nodes[0].community == -1


def test_the_graph_begins_with_the_owner_else_with_the_person_named_most(rig: Rig) -> None:
    assert rig.engine.graph.find_start().result(30) is None
    facts = [rig.store(f"Ivo and Bergen, number{n}").memory_id for n in range(3)]
    entity(rig, "Mara")
    entity(rig, "Ivo")
    entity(rig, "Bergen", "place")
    for fact in facts:
        mention(rig, fact, "Bergen")
    mention(rig, facts[0], "Ivo")
    assert rig.engine.graph.find_start().result(30) == "Ivo"
    state(rig, facts[0], facts[1], "You")
    assert rig.engine.graph.find_start().result(30) == OWNER_NODE
    entity(rig, "Owner", space_id="GLOBAL", extra='{"owner": 1}')
    assert rig.engine.graph.find_start().result(30) == "Owner"


def test_paths_are_the_shortest_with_the_edges_that_make_them(rig: Rig) -> None:
    both = rig.store("Mara and Ivo are siblings.").memory_id
    moved, big = rig.store("Ivo moved to Bergen.").memory_id, rig.store("zebra").memory_id
    for name, kind in (("Mara", "person"), ("Ivo", "person"), ("Bergen", "place")):
        entity(rig, name, kind)
    for memory, names in ((both, ("Mara", "Ivo")), (moved, ("Ivo", "Bergen"))):
        for name in names:
            mention(rig, memory, name)
    graph = rig.engine.graph
    found = graph.find_paths("Mara", "Bergen").result(60)
    assert [[(edge.a, edge.b) for edge in path] for path in found.paths] == [
        [(both, "Mara"), (both, "Ivo"), (moved, "Ivo"), (moved, "Bergen")]
    ]
    assert [node.id for node in found.graph.nodes][::4] == ["Mara", "Bergen"]
    places = found.graph.places
    assert [places[one][0] for one in ("Mara", both, "Ivo", moved, "Bergen")] == [-1.0, -0.5, 0.0, 0.5, 1.0]
    claim(rig, "Mara", "lives_in", "Bergen")
    first = graph.find_paths("Mara", "Bergen").result(60).paths
    assert [[edge.label for edge in path] for path in first] == [["lives_in"]]  # the other way is longer by three
    none = graph.find_paths("Mara", big).result(60)
    assert (none.paths, {node.id for node in none.graph.nodes}) == ((), {"Mara", big})
    assert error_of(graph.find_paths("Mara", "Mara")).code is Code.INVALID_INPUT
    assert error_of(graph.find_paths("Mara", "nobody")).code is Code.NOT_FOUND


def test_the_whole_vault_has_entities_first_and_communities_with_names(rig: Rig) -> None:
    for name, kind in (("Moss", "project"), ("Harbour", "place")):
        for n in range(8):
            fact = rig.store(f"{name} note{n} {name.lower()}x{n}").memory_id
            if n == 0:
                entity(rig, name, kind)
            mention(rig, fact, name)
    entity(rig, "Nobody")
    whole = rig.engine.graph.read_whole(GraphFilter(edge_types=(MENTIONS,))).result(60)
    assert {line.name: line.mentions for line in whole.entities} == {"Moss": 8, "Harbour": 8}
    assert [NODE_KINDS[kind] for kind in whole.kind[:2]] == [line.type for line in whole.entities]
    assert {EDGE_TYPES[number] for number in whole.edge_type} == {MENTIONS}
    assert set(whole.group_names) == {"Moss", "Harbour"}
    for place, line in enumerate(whole.entities):
        assert whole.group_names[whole.group[place]] == line.name
    assert whole.rank[:2].min() > whole.rank[2:].max()
