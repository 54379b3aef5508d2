"""What in a text may be a name, and which names may be one."""

from __future__ import annotations

import pytest

from core.entities.recognition import name_key, recognize_names
from core.entities.resolution import CountedName, find_similar_pairs


def names(text: str) -> list[tuple[str, str, bool]]:
    return [(one.name, one.type, one.is_sure) for one in recognize_names(text).candidates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My older sister Rosa Castellanos is here.", ("Rosa Castellanos", "person")),
        ("my friend's mother, Ada Venn, is here", ("Ada Venn", "person")),
        ("the mother of Ada Venn is here", None),
        ("Rosa, my sister, is here.", ("Rosa", "person")),
        ("Rosa is my sister.", ("Rosa", "person")),
        ("I asked Dr. Okafor.", ("Dr. Okafor", "person")),
        ("Aunt Greta called.", ("Aunt Greta", "person")),
        ("a colleague called Tendai", ("Tendai", "person")),
        ("my name is Tendai", ("Tendai", "person")),
        ("our cat is called Momo", ("Momo", "pet")),
        ("an app called Tidemark", ("Tidemark", "project")),
        ("a service named Heron", ("Heron", "service")),
        ("ask @rosa-k", ("@rosa-k", "person")),
        ("I work at Harbour Ltd", ("Harbour Ltd", "organization")),
        ("she works at Corvane", ("Corvane", "organization")),
        ("the University of Bergen", ("University of Bergen", "organization")),
        ("we live in Tarrow", ("Tarrow", "place")),
        ("down Baker Street", ("Baker Street", "place")),
        ("The Nightjar project", ("Nightjar", "project")),
        ("the Heron service", ("Heron", "service")),
        ("Ludwig van der Meer is my boss", ("Ludwig van der Meer", "person")),
    ],
)
def test_cues_tell_names_and_what_they_are(text: str, expected: tuple[str, str] | None) -> None:
    sure = [(name, kind) for name, kind, is_sure in names(text) if is_sure]
    assert sure == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday was fine. Then it rained.",
        "He said that she knows them and it is theirs.",
        "On Monday in March we speak English at Christmas.",
        "Der Hund und die Katze sind im Garten, das ist nicht gut.",
        "WE ARE ALL VERY LOUD HERE TODAY",
        "# A Heading With Names Of Things",
        "Shopping List For The Weekend",
        "Use `Rosa` or ```\nAnders\n``` here",
        "mail rosa@harbour.example or see https://harbour.example/Rosa",
        "@property and @dataclass, #include and #fff",
        "I, too. NASA. OK.",
    ],
)
def test_what_is_no_name_is_none(text: str) -> None:
    assert names(text) == []


def test_capitals_in_a_sentence_are_candidates_and_at_its_beginning_weak_ones() -> None:
    inside, opening = recognize_names("We met Bram. Oskar was late.").candidates
    assert (inside.name, inside.opens, inside.is_sure) == ("Bram", False, False)
    assert (opening.name, opening.opens, opening.is_sure) == ("Oskar", True, False)


def test_technologies_files_and_tags_have_forms_of_their_own() -> None:
    assert names("Rust in src/a.rs #garden") == [
        ("Rust", "technology", False), ("src/a.rs", "file", False), ("#garden", "concept", False)
    ]  # fmt: skip


def test_a_key_is_the_same_for_all_ways_to_write_a_name() -> None:
    assert name_key("Rosa  Castellanos") == name_key("rosa castellanos") == name_key("RÓSA CASTELLANOS")
    assert name_key("Dr. O’Brien") == name_key("dr o'brien")
    assert len({name_key(name) for name in ("C", "C++", "C#")}) == 3
    assert name_key("...") == name_key("") == ""


def pairs(*told: tuple[str, str]) -> list[tuple[str, str]]:
    some = [CountedName(str(at), name, kind) for at, (name, kind) in enumerate(told)]
    return [(pair.keep.name, pair.other.name) for pair in find_similar_pairs(some, some)]


def test_spellings_and_parts_of_names_are_pairs() -> None:
    p = "person"
    assert pairs(("Rosa", p), ("Rosa Castellanos", p)) == [("Rosa Castellanos", "Rosa")]
    assert pairs(("Catherine Moore", p), ("Katherine Moore", p)) == [("Catherine Moore", "Katherine Moore")]
    assert pairs(("Okafor", p), ("Dr. Okafor", p)) == [("Dr. Okafor", "Okafor")]
    assert pairs(("Okafor", p), ("Ada Okafor", p)) == [("Ada Okafor", "Okafor")]
    assert pairs(("Harbour", "organization"), ("Harbour Ltd", "organization")) == [("Harbour Ltd", "Harbour")]


def test_what_only_looks_alike_is_no_pair() -> None:
    p = "person"
    assert pairs(("Anna", p), ("Hanna", p)) == []
    assert pairs(("Mr. Bennett", p), ("Mrs. Bennett", p)) == []
    assert pairs(("Rosa", p), ("Rosa Castellanos", p), ("Rosa Lind", p)) == []
    assert pairs(("Rosa", p), ("Rosa Castellanos", "place")) == []
    assert pairs(("Tidemark 1", "project"), ("Tidemark 2", "project")) == []
    assert pairs(("a/reader.py", "file"), ("b/reader.py", "file")) == []


def test_only_pairs_with_a_new_one_are_looked_at() -> None:
    a, b, c = (
        CountedName("a", "Rosa", "person"),
        CountedName("b", "Rosa Castellanos", "person"),
        CountedName("c", "Otto", "person"),
    )
    assert find_similar_pairs([c], [a, b, c]) == ()
    assert len(find_similar_pairs([a], [a, b, c])) == 1
