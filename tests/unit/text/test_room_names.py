"""Names of rooms: words people recognise, and never anything else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.noun_phrases import read_phrases
from core.text.room_names import (
    LONGEST,
    LONGEST_BY_TIME,
    NOTHING,
    RoomTexts,
    is_named_by_time,
    name_by_time,
    name_by_title,
    speakers_in_name,
)
from core.text.room_names import name_rooms as name_rooms_of

GARDEN = [
    "We planted tomatoes in the garden.",
    "The garden needs water, the tomatoes too.",
    "Tomatoes ripen in the garden",
]
MAP = ["I draw Slow Rivers, the map.", "The budget for Slow Rivers grew.", "Why Slow Rivers? The rivers are slow."]
KEPT = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e]|[ ,'-])+")


def name_rooms(rooms: Sequence[Sequence[str]], taken: Collection[str] = (), speakers: Iterable[str] = ()) -> list[str]:
    """Names of rooms of which only the texts are known."""
    return name_rooms_of([RoomTexts(texts) for texts in rooms], taken, speakers=speakers)


def test_names_are_the_words_of_their_room() -> None:
    garden, drawn = name_rooms([GARDEN, MAP])
    assert garden in ("Tomatoes", "Garden")
    assert drawn.startswith("Slow Rivers")


def test_a_common_word_names_no_room() -> None:
    texts = [
        [f"The meeting was about {word}", f"Our meeting: {word}!", f"{word} meeting"] for word in ("taxes", "roses")
    ]
    taxes, roses = name_rooms(texts)
    assert taxes.lower().startswith("taxes")
    assert roses.lower().startswith("roses")


def test_the_form_that_people_write_is_shown() -> None:
    assert name_rooms([["my knitting of socks", "the knitting again", "he knits", "knitting socks"]])[0].startswith(
        "Knitting"
    )
    assert name_rooms([["we flew to Lisbon", "about Lisbon", "so Lisbon it is"]]) == ["Lisbon"]
    assert name_rooms([["uses NASA data", "the NASA site", "for NASA"]])[0].startswith("NASA")


def test_speakers_do_not_name_rooms() -> None:
    texts = ["Thanks, Caroline! The pottery is done", "Caroline, more pottery", "Pottery, Caroline?"]
    assert name_rooms([texts])[0].startswith("Caroline")
    assert name_rooms([texts], speakers=["Caroline Mercer"]) == ["Pottery"]


def test_names_differ_within_a_wing() -> None:
    names = name_rooms([GARDEN, GARDEN, GARDEN, [], [], ["12 34", "https://a.example/x"]], taken=["Garden, tomatoes"])
    assert len({name.casefold() for name in names}) == 6
    assert "Garden, tomatoes" not in names
    assert names[3].startswith(NOTHING)


def test_many_empty_rooms_still_differ() -> None:
    names = name_rooms([[]] * 40)
    assert len(set(names)) == 40
    assert all(name.startswith(NOTHING) for name in names)


def test_no_address_number_identifier_or_markup() -> None:
    noise = [
        "see https://tracker.example/issue?id=77 <script>alert(1)</script>",
        "see bob.builder@firm.example and /home/someone/secret.txt or C:\\Users\\someone",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301 0xDEADBEEF id_4711 x123y 2024-05-06",
        "```python\nimport antigravity\n```",
    ]
    assert name_rooms([noise * 3]) == [NOTHING]


def test_other_scripts() -> None:
    assert name_rooms([["Ein Sauerteigbrot", "das Sauerteigbrot ist da", "noch ein Sauerteigbrot"]]) == [
        "Sauerteigbrot"
    ]
    assert name_rooms([["Мы едем в Казань", "Казань весной", "поезд в Казань"]])[0].startswith("Казань")
    assert name_rooms([["我们去京都", "京都很美", "在京都"]]) == ["京都"]
    assert name_rooms([["ラーメンを食べた", "このラーメン", "ラーメン屋"]])[0].startswith("ラーメン")
    assert name_rooms([["हम दिल्ली गए", "दिल्ली में", "दिल्ली की सड़क"]])[0].startswith("दिल्ली")


def test_hostile_marks_are_no_part_of_a_name() -> None:
    texts = ["\u202egnitseretni\u202c ga\u200brden\u0007 \u2066zebra\u2069"] * 4
    name = name_rooms([texts])[0]
    assert all(unicodedata.category(sign)[0] in "LMZP" for sign in name)


def test_a_name_is_one_noun_phrase_and_no_verb_or_adjective() -> None:
    shelter = [
        "I volunteer at the homeless shelter.",
        "The homeless shelter was busy",
        "My shift at the homeless shelter",
    ]
    runs = ["He offers to walk.", "They offer a charity walk", "The charity walk was tough", "That charity walk!"]
    tough = ["It's tough", "So tough!", "Such tough days"]
    assert name_rooms([shelter, runs, tough])[:2] == ["Homeless shelter", "Charity walk"]
    assert name_rooms([tough]) == [NOTHING]


def test_whose_it_is_belongs_to_the_name() -> None:
    texts = ["Nora's bakery opens at six", "We met at Nora's bakery.", "The cake is from Nora's bakery"]
    assert name_rooms([texts]) == ["Nora's bakery"]


def test_a_short_form_of_a_speaker_names_no_room() -> None:
    texts = ["Thanks Mel! The pottery is done", "Mel, more pottery", "Mel, Mel, Mel"]
    assert name_rooms([texts], speakers=["Melanie"]) == ["Pottery"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("lofoten packing list", "Lofoten packing list"),
        ("Celadon glaze for the tall vase \u2728", "Celadon glaze"),
        ("Re: dinner, 12 May", "Re dinner May"),
        ("\u6e2f\u306e\u770b\u677f", "\u6e2f\u306e\u770b\u677f"),
        ("New chat", None),
        ("session_1", None),
        ("Chat with Mara", None),
        ("<b>\u202ex</b> https://evil.example", None),
        ("", None),
    ],
)
def test_a_title_names_a_room_if_it_tells_something(title: str, name: str | None) -> None:
    assert name_by_title(title, ["Mara Lind"]) == name


@given(st.text(max_size=200))
def test_any_title_gives_a_plain_name_or_none(title: str) -> None:
    name = name_by_title(title)
    assert name is None or 0 < len(name) <= LONGEST
    assert name is None or all(sign in " '’-" or unicodedata.category(sign)[0] in "LM" for sign in name)


def test_a_determiner_ends_at_a_comma_and_capitals_after_a_number_are_a_unit() -> None:
    keys = [[phrase.key for phrase in read_phrases(text)] for text in ("the world, let's chase it", "the chase")]
    assert [("chase",) in found for found in keys] == [False, True]
    assert ("gb",) not in [phrase.key for phrase in read_phrases("12 GB of data")]
    assert ("gb",) in [phrase.key for phrase in read_phrases("data from GB")]


def test_a_room_without_a_theme_is_called_by_its_time() -> None:
    may, june = (round(datetime(2023, month, 3, 12, tzinfo=UTC).timestamp() * 1000) for month in (5, 6))
    talk = ["Hey, how are you?", "Great, thanks!", "That is so good to hear."]
    rooms = [RoomTexts(talk, [may] * 3, is_talk=True), RoomTexts(talk, [may, may, june]), RoomTexts(talk, [may] * 3)]
    assert name_rooms_of(rooms) == ["Spring 2023, talk", "May to June 2023, notes", "Spring 2023, notes"]
    assert name_rooms_of([RoomTexts(talk, [may, june + 2 * 366 * 86_400_000])]) == ["2023 to 2025, notes"]


@pytest.mark.parametrize(
    ("begin", "end", "name"),
    [
        ((2023, 4, 10), (2023, 8, 16), "April to August 2023, talk"),
        ((2023, 6, 1), (2023, 8, 31), "Summer 2023, talk"),
        ((2023, 1, 3), (2023, 2, 3), "Winter 2023, talk"),
        ((2023, 1, 3), (2023, 12, 3), "Jan to Dec 2023, talk"),
        ((2022, 12, 3), (2023, 2, 3), "Dec 2022 to Feb 2023, talk"),
        ((2023, 8, 30), (2023, 12, 1), "Aug to Dec 2023, talk"),
        ((2023, 8, 30), (2023, 10, 1), "August to October 2023, talk"),
        ((2021, 8, 30), (2023, 12, 1), "2021 to 2023, talk"),
    ],
)
def test_a_name_by_time_tells_all_that_the_room_spans(
    begin: tuple[int, int, int], end: tuple[int, int, int], name: str
) -> None:
    times = [int(datetime(*day, tzinfo=UTC).timestamp() * 1000) for day in (end, begin, begin, begin)]
    assert name_by_time(RoomTexts([], times, is_talk=True), ()) == name


@pytest.mark.parametrize(
    ("authors", "who"),
    [
        (["Mara", "Tom", "Mara"] * 4, "Mara and Tom"),
        (["Tom", None, "Tom", None], "with Tom"),
        (["user", "assistant"] * 4, "talk"),
        (["Mara", "Tom", "Nora"] * 4, "Mara and others"),
        (["Mara Quennell-Okafor", "Tom Brandt"] * 4, "Mara and Tom"),
        (["Mara Quennell-Okafor", "Mara Brandt"] * 4, "talk"),
        (["Mara"] * 20 + ["Tom"], "with Mara"),
        (["<b>Mara</b>", "Tom\u202e"] * 4, "talk"),
        (["प्रिया", "राहुल"] * 4, "प्रिया and राहुल"),
    ],
)
def test_a_room_without_a_theme_says_who_speaks_in_it(authors: list[str | None], who: str) -> None:
    may = round(datetime(2023, 5, 3, 12, tzinfo=UTC).timestamp() * 1000)
    name = name_by_time(RoomTexts([], [may], is_talk=True, authors=authors), ())
    assert name == f"Spring 2023, {who}"
    assert is_named_by_time(name)
    assert set(speakers_in_name(name)) <= {author for author in authors if author} | {"Mara", "Tom"}
    assert bool(speakers_in_name(name)) == (who != "talk")


@pytest.mark.parametrize(
    ("elsewhere", "who"),
    [
        (["Tom", "Mara", None] * 4, "talk"),
        (["Mara", "Nora"] * 4, "Mara and Tom"),
        (["Mara", "Tom", "Nora"] * 4, "Mara and Tom"),
        ([], "Mara and Tom"),
    ],
)
def test_who_speaks_in_every_room_tells_none_of_them_apart(elsewhere: list[str | None], who: str) -> None:
    may = round(datetime(2023, 5, 3, 12, tzinfo=UTC).timestamp() * 1000)
    room = RoomTexts([], [may], is_talk=True, authors=["Mara", "Tom"] * 4)
    assert name_by_time(room, (), elsewhere) == f"Spring 2023, {who}"


def test_rooms_of_one_time_and_the_same_speakers_are_told_apart_by_their_days() -> None:
    begin, end = (round(datetime(2023, 5, day, 12, tzinfo=UTC).timestamp() * 1000) for day in (2, 18))
    room, used, names = RoomTexts([], [begin, end], is_talk=True, authors=["Mara", "Tom"] * 2), set[str](), list[str]()
    for _ in range(6):
        names.append(name_by_time(room, used))
        used.add(names[-1].casefold())
    assert names[:2] == ["Spring 2023, Mara and Tom", "May 2023, Mara and Tom"]
    assert "2 to 18 May 2023, Mara and Tom" in names
    assert len(set(names)) == 6


NAMES = st.one_of(st.none(), st.sampled_from(["Mara", "Tom", "user", "Dr Ngo"]), st.text(max_size=24))


@given(
    st.lists(st.integers(0, 4_000_000_000_000), max_size=5),
    st.booleans(),
    st.integers(0, 40),
    st.lists(NAMES, max_size=8),
)
def test_every_name_by_time_is_known_as_one(
    times: list[int], is_talk: bool, taken: int, authors: list[str | None]
) -> None:
    used: set[str] = set()
    for _ in range(taken + 1):
        name = name_by_time(RoomTexts([], times, is_talk, authors), used)
        assert name.casefold() not in used
        assert is_named_by_time(name) == bool(times)
        assert len(name) <= LONGEST_BY_TIME + 3
        assert not any(unicodedata.category(sign)[0] == "C" for sign in name)
        used.add(name.casefold())
    assert not is_named_by_time("Summer camp, talk")
    assert not is_named_by_time("Summer 2023, Portugal")


@settings(max_examples=count_examples(120), deadline=None)
@given(st.lists(st.lists(st.text(max_size=60), max_size=6), min_size=1, max_size=4))
def test_any_text_gives_plain_names(rooms: list[list[str]]) -> None:
    names = name_rooms(rooms)
    assert names == name_rooms(rooms)
    assert len({name.casefold() for name in names}) == len(rooms)
    for name in names:
        assert 0 < len(name) <= LONGEST
        assert KEPT.fullmatch(name), [hex(ord(sign)) for sign in name]
        assert not any(unicodedata.category(sign)[0] == "C" for sign in name)
