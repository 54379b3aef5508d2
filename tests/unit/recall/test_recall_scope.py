"""Nothing outside the scope is returned, hinted at, or lets its neighbours speak."""

from __future__ import annotations

import numpy as np
import pytest
from recall_rig import NOW_MS, Note, Rig, memory_id

from core.errors import Code, UserError
from core.recall.scope import Scope, find_visible
from core.types.values import Kind, Status

DAY_MS = 86_400_000
CLIENT = Scope(unrestricted=False, space_ids=frozenset({"id-GLOBAL", "id-client:bot"}), client_id="bot")


def test_a_client_sees_its_spaces_only(rig: Rig) -> None:
    rig.add(
        [
            Note("the boat is green", space="GLOBAL"),
            Note("the boat is blue", space="home"),
            Note("the boat is red", space="client:bot"),
        ]
    )
    rig.warm()
    for mode in ("hybrid", "semantic", "keyword"):
        assert set(rig.texts("the boat", scope=CLIENT, mode=mode)) == {"the boat is green", "the boat is red"}
        found = rig.ask("blue boat", scope=CLIENT, mode=mode)
        assert memory_id(2) not in {miss.id for miss in found.near_misses}


def test_named_spaces_narrow_and_an_unseen_one_looks_like_none(rig: Rig) -> None:
    rig.add([Note("the boat is green", space="GLOBAL"), Note("the boat is blue", space="home")])
    rig.warm()
    assert rig.texts("the boat", spaces=("home",)) == ["the boat is blue"]
    refused = []
    for scope, space in ((CLIENT, "home"), (CLIENT, "nowhere")):
        with pytest.raises(UserError) as caught:
            rig.ask("boat", scope=scope, spaces=(space,))
        refused.append((caught.value.code, caught.value.sentence))
    assert refused[0] == refused[1]
    assert refused[0][0] is Code.NOT_FOUND


def test_what_is_over_by_now_is_left_out_and_said_so(rig: Rig) -> None:
    ends = (None, NOW_MS, NOW_MS + 1, NOW_MS - DAY_MS)
    rig.add([Note(f"the boat is green {place}", valid_to=end) for place, end in enumerate(ends, 1)])
    rig.warm()
    found = rig.ask("green boat")
    assert {item.memory.id for item in found.items} == {memory_id(1), memory_id(3)}
    assert {(miss.why, miss.status) for miss in found.near_misses} == {("over", "active")}
    assert len(rig.texts("green boat", as_of_ms=NOW_MS - 2 * DAY_MS)) == 4
    assert len(rig.texts("green boat", statuses=("active", "archived"))) == 4


def test_what_went_into_another_text_is_no_answer_of_any_time(rig: Rig) -> None:
    rig.add([Note("the boat is green and fast"), Note("the boat is green", status=Status.SUPERSEDED)])
    rig.connection.execute("UPDATE memories SET status_reason = 'merged' WHERE n = 2")
    rig.warm()
    assert rig.texts("green boat", as_of_ms=NOW_MS) == ["the boat is green and fast"]


def test_a_small_scope_is_never_under_filled(rig: Rig) -> None:
    rng = np.random.default_rng(1)
    filler = [Note(f"boat harbour {rng.integers(10**9)}", space="home") for _ in range(400)]
    mine = [Note(f"dull entry {place}", space="small") for place in range(12)]
    rig.add([*filler, *mine])
    rig.warm()
    found = rig.ask("boat harbour entry", spaces=("small",), limit=12)
    assert len(found.items) == 12


def test_a_large_scope_that_is_mostly_not_wanted_is_searched_to_its_end(rig: Rig) -> None:
    rig = Rig(rig.embedder, profile=type(rig.profile)(small_scope=50))
    rig.add([Note(f"boat harbour {place}", status=Status.ARCHIVED) for place in range(300)])
    rig.add([Note(f"the entry of a boat {place}") for place in range(60)])
    rig.warm()
    for mode in ("hybrid", "semantic", "keyword"):
        found = rig.ask("boat entry", limit=60, mode=mode)
        assert len(found.items) == 60, mode
        assert {item.memory.status for item in found.items} == {Status.ACTIVE}
    rig.close()


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ACTIVE])
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_default_recall_returns_what_is_active_and_nothing_else(rig: Rig, status: Status, mode: str) -> None:
    rig.add([Note("the kiln is red", status=status), Note("the kiln is here")])
    rig.warm()
    found = rig.ask("the kiln is red", mode=mode)
    assert [item.memory.text for item in found.items] == ["the kiln is here"]
    missed = {miss.id: miss.why for miss in found.near_misses}
    assert missed == ({} if status is Status.DELETED else {memory_id(1): status.value})


def test_other_statuses_are_returned_when_asked_for(rig: Rig) -> None:
    rig.add([Note("the kiln is red", status=Status.ARCHIVED), Note("the kiln is red now")])
    rig.warm()
    assert rig.texts("red kiln", statuses=("archived",)) == ["the kiln is red"]
    assert set(rig.texts("red kiln", statuses=("archived", "active"))) == {"the kiln is red", "the kiln is red now"}


def test_a_hidden_neighbour_lends_nothing(rig: Rig) -> None:
    rig.add(
        [
            Note("what about the submarine", conversation="c", position=0, status=Status.QUARANTINED),
            Note("yes on friday", conversation="c", position=1),
        ]
    )
    rig.warm()
    assert rig.ask("submarine", mode="keyword").abstained
    rig.change("UPDATE memories SET status = 'active'")
    assert [item.memory.text for item in rig.ask("submarine", mode="keyword").items] == [
        "what about the submarine",
        "yes on friday",
    ]


def test_as_of_returns_what_was_true_then(rig: Rig) -> None:
    rig.add(
        [
            Note("I live in Lyon", kind=Kind.FACT, status=Status.SUPERSEDED, valid_from=100, valid_to=200),
            Note("I live in Oslo", kind=Kind.FACT, valid_from=200),
            Note("I live for music", kind=Kind.FACT),
            Note("I live in limbo", kind=Kind.FACT, status=Status.QUARANTINED),
        ]
    )
    rig.warm()
    for mode in ("hybrid", "keyword"):
        assert set(rig.texts("I live in", as_of_ms=199, mode=mode)) == {"I live in Lyon", "I live for music"}
        assert set(rig.texts("I live in", as_of_ms=200, mode=mode)) == {"I live in Oslo", "I live for music"}
        assert set(rig.texts("I live in", mode=mode)) == {"I live in Oslo", "I live for music"}
    missed = rig.ask("I live in Oslo", as_of_ms=150).near_misses
    assert {miss.id: miss.why for miss in missed}[memory_id(2)] == "not_valid_then"


def test_kinds_categories_and_confidence_filter(rig: Rig) -> None:
    rig.add(
        [
            Note("tea is green", kind=Kind.FACT, category="food", confidence=0.9),
            Note("tea is black", kind=Kind.RULE, category="food", confidence=0.3),
            Note("tea is white", kind=Kind.FACT, category="paint", confidence=0.5),
        ]
    )
    rig.warm()
    assert set(rig.texts("tea", kinds=("fact",))) == {"tea is green", "tea is white"}
    assert set(rig.texts("tea", categories=("food",))) == {"tea is green", "tea is black"}
    assert set(rig.texts("tea", min_confidence=0.5)) == {"tea is green", "tea is white"}
    assert {miss.why for miss in rig.ask("tea is black", kinds=("fact",)).near_misses} == {"filtered"}


def test_a_session_s_own_memories_are_hidden_from_other_sessions_of_clients(rig: Rig) -> None:
    rig.add([Note("use tabs here", space="GLOBAL", scope_session="s1"), Note("use spaces", space="GLOBAL")])
    rig.warm()
    assert set(rig.texts("use", scope=CLIENT, session="s1")) == {"use tabs here", "use spaces"}
    assert rig.texts("use", scope=CLIENT, session="s2") == ["use spaces"]
    assert set(rig.texts("use")) == {"use tabs here", "use spaces"}


def test_find_asks_for_the_space(rig: Rig) -> None:
    ids = rig.add([Note("a", space="GLOBAL"), Note("b", space="home")])
    assert [find_visible(rig.rows, memory, CLIENT) is not None for memory in ids] == [True, False]
    assert find_visible(rig.rows, ids[1], Scope(unrestricted=True, space_ids=frozenset())) is not None
    assert find_visible(rig.rows, "nothing", Scope(unrestricted=True, space_ids=frozenset())) is None


def test_what_was_deleted_is_there_for_the_owner_only(rig: Rig) -> None:
    gone, stays = rig.add([Note("a", space="GLOBAL", status=Status.DELETED), Note("b", space="GLOBAL")])
    everywhere = Scope(unrestricted=True, space_ids=frozenset(), client_id="bot")
    for scope in (CLIENT, everywhere):
        assert [find_visible(rig.rows, memory, scope) is not None for memory in (gone, stays)] == [False, True]
    assert find_visible(rig.rows, gone, Scope(unrestricted=True, space_ids=frozenset())) is not None


def test_a_write_is_seen_at_once(rig: Rig) -> None:
    rig.add([Note("the kiln is red")])
    rig.warm()
    assert rig.texts("kiln") == ["the kiln is red"]
    rig.add([Note("the kiln is cold", recorded_ms=NOW_MS + 1)])
    rig.warm()
    assert set(rig.texts("kiln")) == {"the kiln is red", "the kiln is cold"}


def test_certainty_falls_with_the_time_since_it_was_confirmed(rig: Rig) -> None:
    rig.add([Note("the boat is green", kind=Kind.FACT), Note("the boat is blue", kind=Kind.FACT)])
    rig.connection.execute("UPDATE memories SET confidence = 0.5, last_confirmed_at = ?", (NOW_MS,))
    rig.connection.execute(
        "UPDATE memories SET last_confirmed_at = ? WHERE n = 1", (NOW_MS - 60 * DAY_MS,)
    )  # 0.5 exp(-0.008 * 60) = 0.309
    rig.warm()
    assert set(rig.texts("the boat", min_confidence=0.3)) == {"the boat is green", "the boat is blue"}
    assert rig.texts("the boat", min_confidence=0.32) == ["the boat is blue"]
    assert rig.texts("the boat", min_confidence=0.5) == ["the boat is blue"]
    rig.connection.execute("UPDATE memories SET permanence = 'permanent'")
    assert set(rig.texts("the boat", min_confidence=0.5)) == {"the boat is green", "the boat is blue"}


def test_tags_and_times_narrow(rig: Rig) -> None:
    rig.add([Note("the boat is green"), Note("the boat is blue")])
    rig.connection.execute(
        'UPDATE memories SET tags = \'["sea", "old"]\', occurred_at = ? WHERE n = 1', (NOW_MS - DAY_MS,)
    )
    rig.connection.execute("UPDATE memories SET occurred_at = ? WHERE n = 2", (NOW_MS,))
    rig.warm()
    for mode in ("hybrid", "semantic", "keyword"):
        assert rig.texts("the boat", mode=mode, tags=("sea", "river")) == ["the boat is green"]
        assert rig.texts("the boat", mode=mode, tags=("river",)) == []
        assert rig.texts("the boat", mode=mode, since_ms=NOW_MS) == ["the boat is blue"]
        assert rig.texts("the boat", mode=mode, until_ms=NOW_MS) == ["the boat is green"]
