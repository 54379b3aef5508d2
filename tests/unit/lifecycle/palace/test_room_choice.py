"""Which room a newcomer gets: a statement the one of its episode; a room called by a time yields to a sure theme."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from core.lifecycle.palace.room_choice import LEAST_BATCH, NEW, CandidateRoom, Homes, choose_rooms
from core.memory.floor_plan import Room

THEME, OF_TIME, OTHER_TIME = 0, 1, -1


def room(name: str, centre: tuple[float, float, float], *, usual: float = 0.6, left: int = 20) -> CandidateRoom:
    stands = Room(name, "wing", "space", name, 0.0, 0.0, 9.0, 9.0, "lifecycle")
    return CandidateRoom(stands, np.array(centre, np.float32), left, usual)


ROOMS = (room("bread", (1, 0, 0)), room("boat", (0, 1, 0)), room("talk", (0, 0, 1)))


def chosen(
    vectors: Sequence[tuple[float, float, float]],
    homes: Sequence[str | None],
    *,
    origins: Sequence[int] | None = None,
    by_time: tuple[int, int, int] = (THEME, THEME, OF_TIME),
    rooms: Sequence[CandidateRoom] = ROOMS,
) -> list[int]:
    found = choose_rooms(
        np.array(vectors, np.float32),
        rooms,
        Homes(homes, np.array(origins or [-1] * len(vectors), np.int64)),
        np.tile(np.array(by_time, np.int8), (len(vectors), 1)),
    )
    return list(found.tolist())


def test_a_statement_goes_where_what_it_was_made_of_stands_however_near_another_room_is() -> None:
    assert chosen([(1, 0, 0)], ["boat"]) == [1]
    assert chosen([(1, 0, 0)], [None]) == [0]


def test_a_statement_follows_what_it_was_made_of_that_comes_with_it() -> None:
    assert chosen([(1, 0, 0), (0, 1, 0)], [None, None], origins=[1, -1]) == [1, 1]


def test_a_statement_stays_with_what_gets_a_room_of_its_own() -> None:
    far = [(-1.0, 0.0, 0.0)] * LEAST_BATCH
    found = chosen([(1, 0, 0), *far], [None] * (LEAST_BATCH + 1), origins=[1, *[-1] * LEAST_BATCH])
    assert found == [NEW] * (LEAST_BATCH + 1)


@pytest.mark.parametrize(("vector", "place"), [((0.8, 0, 0.6), 0), ((0.5, 0, 0.86), 2)])
def test_a_home_called_by_a_time_yields_to_a_theme_as_near_as_half_of_its_own(
    vector: tuple[float, float, float], place: int
) -> None:
    assert chosen([vector], ["talk"]) == [place]


def test_a_home_with_a_theme_yields_to_none() -> None:
    assert chosen([(0.99, 0.1, 0)], ["boat"]) == [1]


def test_what_finds_its_home_full_goes_to_the_nearest() -> None:
    full = (ROOMS[0], room("boat", (0, 1, 0), left=0), ROOMS[2])
    assert chosen([(1, 0, 0)], ["boat"], rooms=full) == [0]


def test_no_theme_among_the_rooms_leaves_a_home_as_it_is() -> None:
    assert chosen([(1, 0, 0)], ["talk"], by_time=(OTHER_TIME, OTHER_TIME, OF_TIME)) == [2]
