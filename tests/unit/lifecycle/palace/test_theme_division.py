"""What rooms are divided by: what most of their memories speak of, else time."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from engine_rig import Rig, rig_at

from core.lifecycle.palace.room_texts import season_of
from core.lifecycle.palace.theme_division import is_akin, is_same_head
from core.lifecycle.palace.time_rooms import (
    ADMITTED,
    BARRED,
    OWN,
    THEME,
    TimeRoom,
    divide_by_source,
    divide_by_title,
    relate_to_rooms,
)
from core.text.room_names import LONGEST
from core.types.values import OWNER_ACTOR

BAKERY = [f"Nora's bakery sells {what}." for what in ("rye", "buns", "tarts", "rolls", "bagels", "scones")]
VIOLIN = [
    f"The violin lesson was about {what}." for what in ("bows", "scales", "tuning", "rosin", "strings", "posture")
]
LOOSE = [f"{word} {other} happened" for word, other in zip("qwertyuiopas", "dfghjklzxcvb", strict=True)]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


def arrange(rig: Rig, texts: list[str]) -> dict[str, list[str]]:
    """Import texts and arrange them: the texts of each room by its name."""
    rig.bring([{"text": text, "time": 1_683_100_000_000} for text in texts])
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    found: dict[str, list[str]] = {}
    for name, text in rig.rows(
        "SELECT r.name, m.text FROM places p JOIN rooms r ON r.id = p.room_id JOIN memories m ON m.id = p.memory_id"
    ):
        found.setdefault(name, []).append(text)
    return found


def test_half_of_a_room_speaks_of_its_name_and_what_has_no_theme_is_called_by_its_time(rig: Rig) -> None:
    rooms = arrange(rig, BAKERY + VIOLIN + LOOSE)
    assert set(rooms) == {"Nora's bakery", "Violin", "Spring 2023, notes"}
    assert set(BAKERY) <= set(rooms["Nora's bakery"])
    assert set(VIOLIN) <= set(rooms["Violin"])
    assert all(2 * len(said) >= len(rooms[name]) for name, said in (("Nora's bakery", BAKERY), ("Violin", VIOLIN)))


SPRING, SUMMER, WINTER = 1_683_100_000_000, 1_689_000_000_000, 1_702_000_000_000


def room_of(rig: Rig, text: str) -> str:
    rows = rig.rows(
        "SELECT r.name FROM places p JOIN rooms r ON r.id = p.room_id JOIN memories m ON m.id = p.memory_id "
        "WHERE m.text = ?",
        text,
    )
    return str(rows[0][0])


def bring_loose(rig: Rig, texts: list[str], at_ms: int) -> None:
    rig.bring([{"text": text, "time": at_ms} for text in texts])
    rig.settle()
    rig.engine.palace.place_waiting().result(30)


def test_a_room_by_time_takes_nobody_of_another_source_or_time(rig: Rig) -> None:
    bring_loose(rig, LOOSE[:2], SPRING)
    bring_loose(rig, LOOSE[2:4], SPRING)
    assert room_of(rig, LOOSE[0]) == room_of(rig, LOOSE[1]) == "Spring 2023, notes"
    assert room_of(rig, LOOSE[2]) == room_of(rig, LOOSE[3]) == "May 2023, notes"
    rig.store("Only I wrote this")
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    assert room_of(rig, "Only I wrote this") not in ("Spring 2023, notes", "May 2023, notes")


def test_what_one_writes_in_another_season_gets_its_own_room_by_time() -> None:
    room = TimeRoom(frozenset({OWN}), season_of(SPRING), season_of(SUMMER))
    related = relate_to_rooms([room, None], [OWN, OWN, OWN, "imp"], np.array([SPRING, SUMMER, WINTER, SPRING]))
    assert related.tolist() == [[ADMITTED, THEME], [ADMITTED, THEME], [BARRED, THEME], [BARRED, THEME]]


def test_what_has_no_theme_is_divided_by_its_source_and_small_imports_share_a_part() -> None:
    sources = [OWN, "big", "big", "big", "a", "b", OWN, "big"]
    parts = divide_by_source(np.arange(8), sources, 3)
    assert [part.tolist() for part in parts] == [[0, 6], [1, 2, 3, 7], [4, 5]]


def test_a_topic_of_life_names_what_shares_no_phrase(rig: Rig) -> None:
    money = [
        "rent and taxes",
        "a loan, a mortgage",
        "the bank, the pension",
        "an invoice on credit",
        "budget or savings",
    ]
    rooms = arrange(rig, [f"Thinking of {text}" for text in money] + VIOLIN + LOOSE)
    assert "Money" in rooms
    assert sum(any(words in text for words in money) for text in rooms["Money"]) * 2 >= len(rooms["Money"])


def test_hostile_texts_name_no_room(rig: Rig) -> None:
    hostile = [
        f"\u202egnitset\u202c <b>rm -rf /</b> ignore\u0007 https://evil.example/{number} x{number}_y \u2066z\u2069"
        for number in range(20)
    ]
    for name in arrange(rig, hostile):
        assert 0 < len(name) <= LONGEST
        assert not any(unicodedata.category(sign)[0] == "C" or sign in "<>/\\{}" for sign in name)


@pytest.mark.parametrize(
    ("one", "other", "akin", "same_head"),
    [
        (("kennel",), ("boarding", "kennel"), True, True),
        (("boarding", "kennel"), ("kennel",), True, True),
        (("kennel",), ("kennel", "fee"), True, False),
        (("garden",), ("gardener",), True, False),
        (("oar",), ("oarsman",), False, False),
        (("garden",), ("violin",), False, False),
        (("row", "boat"), ("sail", "boat"), False, False),
        ((), ("boat",), False, False),
    ],
)
def test_names_that_share_what_they_are_about(
    one: tuple[str, ...], other: tuple[str, ...], akin: bool, same_head: bool
) -> None:
    assert is_akin(one, other) == is_akin(other, one) == akin
    assert is_same_head(one, other) == is_same_head(other, one) == same_head


KENNEL = [f"The kennel needs {what}." for what in ("straw", "a fence", "paint", "a gutter", "a lamp", "hinges")]
BOARDING = [
    f"A boarding kennel costs money for {what}." for what in ("food", "a vet", "bowls", "leads", "blankets", "a permit")
]


def test_what_a_longer_name_says_more_exactly_is_one_room(rig: Rig) -> None:
    rooms = arrange(rig, KENNEL + BOARDING + VIOLIN)
    assert sum("ennel" in name for name in rooms) == 1
    name = next(name for name in rooms if "ennel" in name)
    assert set(KENNEL + BOARDING) <= set(rooms[name])


CHEER = [
    f"{start} your support and encouragement means the world, {end}"
    for start in ("Thanks!", "Wow!", "Really,")
    for end in ("I won't give up on my dreams!", "keep pushing!", "let's chase our dreams!", "you inspire me!")
]
"""Talk without a word of what it is about."""


def talk(*sessions: list[str]) -> list[dict[str, object]]:
    return [
        {
            "text": text,
            "time": SPRING + 1_000_000 * number + 1_000 * at,
            "author": ("Ines", "Tomas")[at % 2],
            "session": f"s{number}",
        }
        for number, texts in enumerate(sessions)
        for at, text in enumerate(texts)
    ]


@pytest.mark.parametrize("count", [5, 10, 16])
def test_a_small_import_gets_a_room_with_a_name(rig: Rig, count: int) -> None:
    said = [text for pair in zip(BAKERY, CHEER, strict=False) for text in pair] + LOOSE
    rig.bring(talk(said[:count]))
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    names = {name for (name,) in rig.rows("SELECT name FROM rooms WHERE parent_id IS NOT NULL")}
    assert "Nora's bakery" in names


def test_what_has_no_theme_is_called_by_the_title_of_its_conversation(rig: Rig) -> None:
    rig.bring([*talk(LOOSE), *({**row, "session": "years"} for row in talk(CHEER))])
    rig.settle()
    told = {"s0": "Packing list for Lofoten", "years": "Tomas"}
    for identity, one in rig.rows("SELECT identity, id FROM conversations"):
        title = next(title for key, title in told.items() if key in identity)
        rig.write(lambda tx: tx.update("conversations", {"id": one}, {"title": title}))  # noqa: B023 - waited for
    rig.engine.palace.place_waiting().result(30)
    assert room_of(rig, LOOSE[0]) == "Packing list for Lofoten"
    assert "2023" in room_of(rig, CHEER[0])


@pytest.mark.parametrize("is_empty", [False, True])
def test_the_title_of_an_erased_conversation_leaves_a_room_that_was_moved_or_emptied(rig: Rig, is_empty: bool) -> None:
    rig.bring([*talk(LOOSE), *({**row, "session": "years"} for row in talk(CHEER))])
    rig.settle()
    for identity, one in rig.rows("SELECT identity, id FROM conversations"):
        title = "Packing list for Lofoten" if "s0" in identity else "Tomas"
        rig.write(lambda tx: tx.update("conversations", {"id": one}, {"title": title}))  # noqa: B023 - waited for
    rig.engine.palace.place_waiting().result(30)
    ((room,),) = rig.rows("SELECT id FROM rooms WHERE name = 'Packing list for Lofoten'")
    other = rig.value("SELECT id FROM rooms WHERE parent_id IS NOT NULL AND id <> ?", room)
    rig.write(lambda tx: tx.update("rooms", {"id": room}, {"made_by": "owner"}))
    if is_empty:
        for n, (one,) in enumerate(rig.rows("SELECT memory_id FROM places WHERE room_id = ?", room)):
            to = {"room_id": other, "x": 900.0 + n}
            rig.write(lambda tx: tx.update("places", {"memory_id": one}, to))  # noqa: B023 - waited for
    gone = [
        str(one)
        for (one,) in rig.rows(
            "SELECT m.id FROM memories m JOIN conversations c ON c.id = m.conversation_id "
            "WHERE c.title = 'Packing list for Lofoten'"
        )
    ]
    rig.engine.memories.erase(gone, OWNER_ACTOR).result(60)
    assert not rig.rows("SELECT 1 FROM rooms WHERE name = 'Packing list for Lofoten'")


def test_titles_name_parts_that_hold_most_of_their_conversation() -> None:
    titles = ["hut", "hut", "hut", "", "bus", "bus", "bus", "bus", "sea", "sea"]
    times = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 400 * 86_400_000])
    found = divide_by_title(np.array([0, 1, 2, 3, 4, 8, 9]), titles, times, 2, 5)
    assert [(title, part.tolist()) for title, part in found] == [("hut", [0, 1, 2])]
    assert divide_by_title(np.array([0, 1, 2]), titles, times, 2, 0) == []


def test_thanks_and_captions_make_no_topic(rig: Rig) -> None:
    captioned = [f"{text} [photo: a photo of a painting beside a camera]" for text in CHEER]
    rig.bring(talk(BAKERY, captioned, VIOLIN))
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    names = {name for (name,) in rig.rows("SELECT name FROM rooms WHERE parent_id IS NOT NULL")}
    assert {"Nora's bakery", "Violin"} <= names
    assert all(name in ("Nora's bakery", "Violin") or "2023" in name for name in names)
    marks = {
        text
        for (text,) in rig.rows(
            "SELECT m.text FROM landmarks l JOIN memories m ON m.id = l.memory_id "
            "JOIN rooms r ON r.id = l.room_id WHERE r.name NOT LIKE '%2023%'"
        )
    }
    assert marks
    assert marks.isdisjoint(captioned)


ANIMALS = [
    ("My kitten sleeps in the bath.", "What else does it do?", "It chases the budgie.", "Ha, keep us posted!"),
    ("The spaniel ate a shoe.", "Oh no! And what did you do?", "I took the puppy to the vet.", "Poor thing!"),
    ("Our hamster is gone.", "Sorry to hear that!", "Two more kittens came instead, and a parrot.", "Lovely!"),
]
"""Talk of one kind of thing, of which no two name the same."""


def test_what_is_of_one_kind_makes_a_room_with_its_replies_though_no_word_is_shared(rig: Rig) -> None:
    rig.bring(talk(BAKERY, *(list(said) for said in ANIMALS), VIOLIN, CHEER))
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    for said in ANIMALS:
        assert {room_of(rig, text) for text in said} == {"Pets"}
    assert "2023" in room_of(rig, CHEER[0]), "cheers that answer nothing lie by their time"


def test_a_reply_lies_with_its_own_conversation_though_another_went_on_at_the_same_time(rig: Rig) -> None:
    bakery = [text for said in zip(BAKERY, CHEER, strict=False) for text in said]
    violin = [
        text for said in zip(VIOLIN, ["Thanks!", "Nice!", "Wow!", "Cool!", "Yay!", "Ha!"], strict=True) for text in said
    ]
    rows = talk(bakery, violin)
    for at, row in enumerate(rows):
        row["time"] = SPRING + 2_000 * (at % len(bakery)) + 1_000 * (at // len(bakery))
    rig.bring(sorted(rows, key=lambda row: int(str(row["time"]))))
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    assert {room_of(rig, text) for text in bakery} == {"Nora's bakery"}
    assert {room_of(rig, text) for text in violin} == {"Violin"}


def test_cheers_are_carried_once_as_far_as_they_may_and_no_farther_from_there(rig: Rig) -> None:
    cheers = [f"Keep it up{'!' * count}" for count in range(1, 21)]
    rig.bring(talk(BAKERY[:-1], [BAKERY[-1], *cheers], VIOLIN))
    rig.settle()
    rig.engine.palace.place_waiting().result(30)
    assert [room_of(rig, text) == "Nora's bakery" for text in cheers] == [True] * 12 + [False] * 8
