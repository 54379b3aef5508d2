"""The library's lists: every filter, every order, and the light rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import START_MS, Rig, refused, rig_at

from core.errors import Code
from core.recall.browse.library import find_library_rows, read_memory_rows
from core.recall.scope import Scope
from core.types.values import Kind, Precision, Source, Status, When
from core.types.views import SORTS, FindRequest, MemoryRow
from core.vault.database.tx import Tx

DAY = 86_400_000
MARCH_2024 = 1_709_251_200_000  # 2024-03-01


READS = pytest.mark.keeps_threads("the vault that is only read is open for the whole module")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """For tests that change nothing: most of them, and filling it takes longer than any."""
    with rig_at(tmp_path_factory.mktemp("finding")) as made:
        fill(made)
        yield made


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        fill(made)
        yield made


def fill(rig: Rig) -> None:
    rig.store("The ferry leaves at nine", importance=0.9, tags=("Travel", "to do"), category="plan", author="Ada")
    rig.store("Ferries never sail in fog", kind=Kind.RULE, space="work", occurred=When(MARCH_2024, Precision.MONTH))
    rig.store("A cat named Quince", importance=0.1, source=Source.INFERENCE, occurred=When(MARCH_2024 + 40 * DAY))
    helper = rig.client("helper", "read", "propose")
    rig.store("Maybe the fog lifts", helper)
    rig.forget(rig.store("Forgotten fog").memory_id)
    rig.bring(
        [
            {"text": "Hello harbour", "session": "Packing list", "author": "user", "time": "2025-01-05T10:00:00Z"},
            {"text": "Hello, what fog?", "session": "Packing list", "author": "assistant"},
        ]
    )


def texts(rig: Rig, query: str, sort: str = "recorded", *, down: bool = False) -> list[str]:
    found = rig.engine.library.find_memories(FindRequest(query, sort, down)).result(30)
    return [row.head for row in rig.engine.library.read_rows(found.ids).result(30)]


FERRY, FERRIES, CAT = "The ferry leaves at nine", "Ferries never sail in fog", "A cat named Quince"
MAYBE, GONE = "Maybe the fog lifts", "Forgotten fog"
HELLO, FOG = "Hello harbour", "Hello, what fog?"
ALL = [FERRY, FERRIES, CAT, HELLO, FOG]


@READS
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ALL),
        ("ferry", [FERRY, FERRIES]),
        ("ferry fog", [FERRIES]),
        ("to a ferry, or the fog?", [FERRIES]),
        ("the", [FERRY]),
        ('"the ferry"', []),
        ("ferry -fog", [FERRY]),
        ("-ferry", [CAT, HELLO, FOG]),
        ('"Fog"', []),
        ('"n fog"', [FERRIES]),
        ('-"o"', [FERRY, CAT]),
        ("status:all fog", [FERRIES, MAYBE, GONE, FOG]),
        ("status:deleted", [GONE]),
        ("status:quarantined,deleted", [MAYBE, GONE]),
        ("-status:active", [MAYBE, GONE]),
        ("kind:rule", [FERRIES]),
        ("kind:fact,rule", [FERRY, FERRIES, CAT]),
        ("-kind:fact -kind:rule", [HELLO, FOG]),
        ("space:WORK", [FERRIES]),
        ("space:nowhere", []),
        ("source:inference", [CAT, FOG]),
        ("status:all client:helper", [MAYBE]),
        ("status:all -client:helper fog", [FERRIES, GONE, FOG]),
        ('tag:"TO DO"', [FERRY]),
        ("tag:travel,other", [FERRY]),
        ("-tag:travel kind:fact", [CAT]),
        ("category:Plan", [FERRY]),
        ("author:ada", [FERRY]),
        ("import:rows.jsonl", [HELLO, FOG]),
        ("conversation:nothing", []),
        ("has:conversation", [HELLO, FOG]),
        ("-has:conversation", [FERRY, FERRIES, CAT]),
        ("has:time kind:episode", [HELLO]),
        ("has:claims", []),
        ("is:pinned,split,placed,edited", []),
        ("importance:>0.8", [FERRY]),
        ("importance:<=0.1,>=0.9", [FERRY, CAT]),
        ("importance:0.1..0.5", [FERRIES, CAT, HELLO, FOG]),
        ("-importance:>0.4", [CAT]),
        ("trust:>=0.99", [FERRY, FERRIES]),
        ("strength:>0.9", [FERRY]),
        ("-strength:>0.6", [CAT]),
        ("on:2024-03", [FERRIES]),
        ("on:2024", [FERRIES, CAT]),
        ("before:2024-03-02", [FERRY, FERRIES, FOG]),
        ("after:2024-03 kind:fact", [CAT]),
        ("recorded:2023-11", ALL),
        ("recorded:2024..", []),
        ("on:2025-01-05", [HELLO]),
    ],
)
def test_filters(filled: Rig, query: str, expected: list[str]) -> None:
    assert texts(filled, query) == expected


def test_claims_and_places_and_rooms_are_filters(rig: Rig) -> None:
    claim = {"subject": "Ada", "predicate": "lives_in", "value": "Fog Bay"}
    rig.store("Ada lives in Fog Bay", claim=claim)
    assert texts(rig, "has:claims") == ["Ada lives in Fog Bay"]
    place(rig, rig.store("Placed here").memory_id, "Boat repairs")
    assert texts(rig, "is:placed") == ["Placed here"]
    assert texts(rig, 'room:"boat repairs"') == ["Placed here"]
    (row,) = rig.engine.library.read_rows(
        rig.engine.library.find_memories(FindRequest("is:placed")).result(30).ids
    ).result(30)
    assert row.room == "Boat repairs"


def place(rig: Rig, memory_id: str, room: str) -> None:
    def write(tx: Tx) -> None:
        space = tx.value("SELECT space_id FROM memories WHERE id = ?", (memory_id,))
        tx.insert("rooms", {"id": "r1", "space_id": space, "name": room, "made_by": "owner", "created_at": 0})
        tx.insert("places", {"memory_id": memory_id, "room_id": "r1", "x": 1.0, "y": 2.0, "placed_by": "owner"})

    rig.write(write)


@READS
@pytest.mark.parametrize("sort", SORTS)
def test_every_order_has_two_directions(filled: Rig, sort: str) -> None:
    up, down = texts(filled, "status:all", sort), texts(filled, "status:all", sort, down=True)
    assert sorted(up) == sorted(down)
    assert len(up) == 7
    if sort != "accessed":  # there the unknown stays last
        assert up == down[::-1]


def test_orders(rig: Rig) -> None:
    assert texts(rig, "", "text") == [CAT, FERRIES, HELLO, FOG, FERRY]
    assert texts(rig, "kind:fact,rule", "importance", down=True) == [FERRY, FERRIES, CAT]
    assert texts(rig, "kind:fact,rule", "strength", down=True) == [FERRY, FERRIES, CAT]
    # What was recorded only stands where it was recorded: the list is in the order of the date it shows.
    found = rig.engine.library.find_memories(FindRequest("", "occurred", descending=True)).result(30)
    rows = rig.engine.library.read_rows(found.ids).result(30)
    shown = [row.recorded_at if row.occurred is None else row.occurred.ms for row in rows]
    assert shown == sorted(shown, reverse=True)
    assert {row.occurred is None for row in rows} == {True, False}
    assert [one for one in texts(rig, "", "occurred") if one in (FERRIES, CAT, HELLO)] == [FERRIES, CAT, HELLO]
    assert texts(rig, "kind:rule,episode", "space", down=True)[0] == FERRIES
    rig.store("Early in the alphabet", space="Attic")
    assert texts(rig, "", "space")[0] == "Early in the alphabet"


@READS
def test_what_cannot_be_read_lists_nothing_and_everything_else_is_refused(filled: Rig) -> None:
    with refused(Code.INVALID_QUERY):
        filled.engine.library.find_memories(FindRequest("kind:poem")).result(30)
    with refused(Code.INVALID_INPUT):
        filled.engine.library.find_memories(FindRequest("", "colour")).result(30)


@READS
def test_words_are_no_syntax_of_the_index(filled: Rig) -> None:
    assert texts(filled, "ferry OR cat") == []
    assert texts(filled, "ferry*") == [FERRY, FERRIES]  # the star is no letter, and no sign of the index either
    assert texts(filled, "ferr*") == []
    assert texts(filled, "NEAR(ferry)") == []


@READS
def test_a_scope_bounds_both_list_and_rows(filled: Rig) -> None:
    space = filled.value("SELECT id FROM spaces WHERE name = 'work'")
    scope = Scope(unrestricted=False, space_ids=frozenset({space}))
    everything = filled.opened.storage.vault.read(
        lambda rows: find_library_rows(rows, FindRequest("status:all"), START_MS)
    )
    within = filled.opened.storage.vault.read(
        lambda rows: find_library_rows(rows, FindRequest("status:all"), START_MS, scope)
    )
    assert (len(everything), len(within)) == (7, 1)
    assert [
        row.id for row in filled.opened.storage.vault.read(lambda rows: read_memory_rows(rows, everything, 0, scope))
    ] == list(within)


def one(rig: Rig, memory_id: str) -> MemoryRow:
    (row,) = rig.engine.library.read_rows([memory_id]).result(30)
    return row


@READS
def test_rows_come_as_asked_and_say_what_the_memory_says(filled: Rig) -> None:
    ids = filled.engine.library.find_memories(FindRequest()).result(30).ids
    rows = filled.engine.library.read_rows([ids[2], "nobody", ids[0], ids[2]]).result(30)
    assert [row.id for row in rows] == [ids[2], ids[0]]
    memory, row = filled.get(ids[2]), rows[0]
    names = [name for name in MemoryRow.__slots__ if hasattr(memory, name) and name != "conversation"]
    assert len(names) > 15
    assert {name: getattr(row, name) for name in names} == {name: getattr(memory, name) for name in names}
    assert (row.client, row.room, row.conversation, row.is_cut) == (None, None, None, False)
    assert filled.engine.library.read_rows([]).result(30) == ()


def test_a_head_is_cut_at_characters_and_a_nul_is_no_end(rig: Rig) -> None:
    long = one(rig, rig.store("ÆØ\U0001f600" * 101).memory_id)
    assert (long.head, long.is_cut) == ("ÆØ\U0001f600" * 100, True)
    exact = one(rig, rig.store("é" * 300).memory_id)
    assert (exact.head, exact.is_cut) == ("é" * 300, False)
    rig.bring([{"text": "before\0after", "kind": "fact"}], name="nul.jsonl")
    assert texts(rig, "after before") == ["before\0after"]


def test_strength_of_a_row_is_of_now(rig: Rig) -> None:
    memory_id = rig.store("It fades", importance=1.0).memory_id
    fresh = one(rig, memory_id).strength
    rig.clock.advance(30 * DAY)  # type: ignore[attr-defined]  # the widget or clock of this test has it
    assert fresh == 1.0
    assert one(rig, memory_id).strength == pytest.approx(0.5)
    assert texts(rig, "strength:<0.51 importance:>0.95") == ["It fades"]


@READS
def test_facets_count_what_stands(filled: Rig) -> None:
    facets = filled.engine.library.count_facets().result(30)
    assert facets.kinds == {"fact": 2, "episode": 2, "rule": 1}
    assert facets.statuses == {"active": 5, "deleted": 1, "quarantined": 1}
    assert facets.spaces == {"home": 4, "work": 1}
    assert sum(facets.sources.values()) == 5
    assert facets.sources["inference"] == 2
    assert facets.clients == {}
    assert facets.categories == {"general": 4, "plan": 1}
    assert facets.tags == {"Travel": 1, "to do": 1}
    assert (facets.earliest, facets.latest) == (START_MS, 1_736_071_200_000)


def test_facets_of_an_empty_vault(tmp_path: Path) -> None:
    with rig_at(tmp_path) as empty:
        facets = empty.engine.library.count_facets().result(30)
        assert (facets.kinds, facets.earliest, facets.latest) == ({}, None, None)
        assert empty.engine.library.find_memories(FindRequest()).result(30).ids == ()


@READS
def test_a_status_of_a_row_is_told(filled: Rig) -> None:
    (row,) = filled.engine.library.read_rows(
        filled.engine.library.find_memories(FindRequest("status:quarantined")).result(30).ids
    ).result(30)
    assert (row.status, row.client) == (Status.QUARANTINED, "helper")
