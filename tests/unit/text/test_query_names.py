"""Names and identifiers in a question."""

from __future__ import annotations

import pytest

from core.text.query_plan import MOST_ASKED, find_question_names


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what did Ottilie want", ("Ottilie",)),
        ("Lotte's birthday?", ("Lotte",)),
        ("What is it", ()),
        ("Compare Bram and Noor", ("Bram", "Noor")),
        ("who is Theresa van den Berg's doctor", ("Theresa van den Berg",)),
        ("is Dr. Braun in Oslo today", ("Dr. Braun", "Oslo")),
        ('the song "blue in Green"', ("blue in Green",)),
        ("lunch with Anna-Lena on Tuesday in March", ("Anna-Lena",)),
        ("IS ANYBODY THERE", ()),
        ("I'm sure I'll go", ()),
        ("did René like Ærø", ("René", "Ærø")),
        ("Oslo and Oslo", ("Oslo",)),
        ("", ()),
    ],
)
def test_names(query: str, expected: tuple[str, ...]) -> None:
    assert find_question_names(query).entities == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("open core/text/query_plan.py at v2.1.3", ("core/text/query_plan.py", "v2.1.3")),
        ("why does get_user() fail in parseTime", ("get_user()", "parseTime")),
        ("mail ada@harbour.example about INV-2031.", ("ada@harbour.example", "INV-2031")),
        ("see https://harbour.example/a?b=1, please", ("https://harbour.example/a?b=1",)),
        ("C:\\temp\\x.txt or ~/notes/a.md", ("C:\\temp\\x.txt", "~/notes/a.md")),
        ("tea and/or coffee on the 3rd, in the 80s", ()),
        ("fly.io", ("fly.io",)),
        ("std::vector or the b12 dose", ("std::vector", "b12")),
    ],
)
def test_identifiers(query: str, expected: tuple[str, ...]) -> None:
    found = find_question_names(query)
    assert found.identifiers == expected
    assert not found.entities


def test_small_letters_are_a_name_only_where_it_is_known() -> None:
    other = {"aunt greta": ("Greta Holm", "Aunt Greta"), "bram": ("Abraham",)}
    found = find_question_names("does bram know aunt greta's house", lambda name: other.get(name, ()))
    assert found.entities == ("bram", "aunt greta")
    assert found.aliases == {"bram": ("Abraham",), "aunt greta": ("Greta Holm",)}
    assert find_question_names("does bram know aunt greta's house").entities == ()


def test_a_phrase_of_time_holds_no_name() -> None:
    query = "rent for April and Noor"
    start = query.index("April")
    assert find_question_names(query, without=(start, start + 5)).entities == ("Noor",)


def test_known_is_asked_about_few_runs() -> None:
    asked: list[str] = []

    def known(name: str) -> tuple[str, ...]:
        asked.append(name)
        return ()

    find_question_names("kettle " * 500, known)
    assert 0 < len(asked) <= MOST_ASKED
