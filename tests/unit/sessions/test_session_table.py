"""Open turns and their permits; sessions that leave and come back."""

from __future__ import annotations

import pytest
from engine_rig import refused

from core.errors import Code
from core.sessions.table import MOST_SESSIONS, RestoredSlots, SessionTable, Slots
from core.types.sessions import Resumed

NONE = RestoredSlots({}, Resumed.NEW)


def take(table: SessionTable, name: tuple[str, str], now: int = 0, kept: RestoredSlots = NONE) -> RestoredSlots:
    return table.take_up(name, now, lambda: kept, lambda slots, _age: RestoredSlots(slots, Resumed.HELD))


def test_the_fifth_turn_is_refused_until_one_ends() -> None:
    table = SessionTable()
    for n in range(4):
        table.open(("a", f"s{n}"), f"t{n}", 0, 4)
    with refused(Code.BUSY):
        table.open(("a", "s4"), "t4", 0, 4)
    table.open(("b", "s4"), "t4", 0, 4)  # another client has permits of its own
    assert table.end_turn(("a", "s0"), None) == "t0"
    table.open(("a", "s4"), "t5", 0, 4)
    assert (table.open_turns("a"), table.open_turns("b")) == (4, 1)


def test_a_turn_in_the_same_session_ends_the_one_before() -> None:
    table = SessionTable()
    for n in range(9):
        gone = table.open(("a", "s"), f"t{n}", 0, 1)
        assert gone.ended == int(n > 0)
    assert table.end_turn(("a", "s"), "t3") == ""
    assert table.end_turn(("a", "s"), "t8") == "t8"
    table.note_turn_saved(("a", "s"), "t8")
    assert table.end_turn(("a", "s"), "t8") == ""
    assert table.end_turn(("b", "s"), None) == ""


@pytest.mark.parametrize("turn", [None, "t0"])
def test_an_end_that_was_not_saved_can_be_asked_for_again(turn: str | None) -> None:
    table = SessionTable()
    table.open(("a", "s"), "t0", 0, 1)
    for _ in range(2):
        assert table.end_turn(("a", "s"), turn) == "t0"
        assert table.open_turns("a") == 0  # its permit is free all the same
    assert table.end_turn(("a", "s"), "other") == ""
    table.open(("a", "s"), "t1", 0, 1)
    assert table.end_turn(("a", "s"), "t0") == ""
    table.note_turn_saved(("a", "s"), "t0")
    assert table.end_turn(("a", "s"), None) == "t1"


def test_a_session_that_was_used_since_it_was_closed_stays() -> None:
    table, name = SessionTable(), ("a", "s")
    table.open(name, "t", 0, 4)
    take(table, name)
    table.use(name, {"m": 0.9}, 7)
    then = table.look(name)
    assert then is not None
    assert (then.turn, then.is_new) == ("t", True)
    table.use(name, {"n": 0.9}, 8)
    table.close(name, "t", then.left)
    assert table.look(name) is not None
    now = table.look(name)
    assert now is not None
    table.open(name, "t2", 9, 4)
    table.close(name, "t", now.left)
    assert table.open_turns("a") == 1
    table.close(name, "t2", now.left)
    assert table.look(name) is None
    assert table.leave_all().left == ()  # it is saved


def test_leaving_ends_the_turn_and_gives_back_what_is_to_be_kept() -> None:
    table = SessionTable()
    table.open(("a", "s"), "t", 5, 4)
    take(table, ("a", "s"), 5)
    assert table.use(("a", "s"), {"m": 0.9}, 7) == 1
    gone = table.leave([("a", "s"), ("a", "other"), ("a", "s")])
    assert gone.ended == 1
    ((left),) = gone.left
    assert (left.name, dict(left.slots), left.at) == (("a", "s"), {"m": 0.9}, 7)
    assert table.open_turns("a") == 0
    assert table.leave([("a", "s")]).left == ()


def test_what_was_only_taken_up_is_not_kept_anew() -> None:
    table = SessionTable()
    assert take(table, ("a", "s"), 1, RestoredSlots({"m": 0.5}, Resumed.FADED)).slots == {"m": 0.5}
    assert table.leave_all().left == ()


def test_a_session_is_looked_for_once_while_it_is_in_use() -> None:
    table, asked = SessionTable(), []

    def find() -> RestoredSlots:
        asked.append(1)
        return RestoredSlots({"m": 0.5}, Resumed.WHOLE)

    ages: list[int] = []

    def idle(slots: Slots, age: int) -> RestoredSlots:
        ages.append(age)
        return RestoredSlots(slots, Resumed.HELD)

    for now in (10, 30, 70):
        assert table.take_up(("a", "s"), now, find, idle).slots == {"m": 0.5}
    assert (len(asked), ages) == (1, [20, 40])


def test_silent_sessions_leave_and_others_stay() -> None:
    table = SessionTable()
    for n in range(3):
        table.use(("a", f"s{n}"), {"m": 0.9}, n)
    gone = table.leave_idle(1)
    assert [left.name[1] for left in gone.left] == ["s0", "s1"]
    table.saved(gone.left)
    assert [left.name[1] for left in table.leave_all().left] == ["s2"]


def test_too_many_sessions_put_the_longest_silent_away() -> None:
    table = SessionTable()
    for n in range(MOST_SESSIONS):
        table.use(("a", f"s{n}"), {"m": 0.9}, n)
    gone = table.open(("a", "new"), "t", 999, 4)
    assert [left.name[1] for left in gone.left] == ["s0"]
    assert table.open(("b", "new"), "t", 999, 4).left == ()


@pytest.mark.parametrize("turn", [None, "t"])
def test_an_unknown_session_has_no_turn(turn: str | None) -> None:
    assert SessionTable().end_turn(("a", "s"), turn) == ""
    assert SessionTable().look(("a", "s")) is None


def test_what_is_put_away_can_be_had_until_it_is_saved() -> None:
    table = SessionTable()
    table.use(("a", "s"), {"m": 0.9}, 7)
    ((first,),) = (table.leave([("a", "s")]).left,)
    assert table.leaving(("a", "s")) is first
    table.use(("a", "s"), {"m": 0.9, "n": 0.5}, 9)
    ((second,),) = (table.leave([("a", "s")]).left,)
    table.saved([first])  # an older save says nothing of the newer one
    assert table.leaving(("a", "s")) is second
    assert table.leave_all().left == (second,)
    assert table.leaving(("a", "s")) is None
