"""What tells the type of a name where no cue stands beside it: lists, company, quotes, what was said before."""

from __future__ import annotations

import pytest

from core.entities.gazetteer import is_given_name, is_maker, is_town
from core.entities.recognition import NameCandidate, count_votes, heaviest_type, recognize_names
from core.entities.speakers import find_misspelt


def kinds(text: str, context: str = "") -> dict[str, str]:
    return {one.name: one.type for one in recognize_names(text, None, context).candidates}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("We heard composers like Ligeti and Kurtág.", "Kurtág", "person"),
        ("I could listen to Chopin all night.", "Chopin", "person"),
        ('The kids sang Ed Hobson\'s "Lanterns" all day.', "Ed Hobson", "person"),
        ('The kids sang Ed Hobson\'s "Lanterns" all day.', "Lanterns", "work"),
        ("My drawing, 'Quiet Harbour', hangs in the hall.", "Quiet Harbour", "work"),
        ("The new one, 'Letting Go', is about my father.", "Letting Go", "work"),
        ("Our group, 'Riverside Makers', meets at noon.", "Riverside Makers", "organization"),
        ("We spent six nights on Vlieland.", "Vlieland", "place"),
        ("We grew up in East County near the sea.", "East County", "place"),
        ("I wrote to Ossian about it.", "Ossian", "person"),
        ("Everybody knows Kir Zadrovic!", "Kir Zadrovic", "person"),
        ("Take the key from Projects: [[Projects/Lanternfish]] is due.", "Lanternfish", "project"),
        ("We met [[People/Torunn]] again.", "Torunn", "person"),
        ("Oliver is so funny. He buried his bone again.", "Oliver", "pet"),
        ("We read about Ottilie and Zorvik at school.", "Zorvik", "person"),
    ],
)
def test_the_type_is_told(text: str, name: str, kind: str) -> None:
    assert kinds(text).get(name) == kind


@pytest.mark.parametrize(
    "text",
    [
        "$$ \\Delta T = 9 $$ is the rise.",
        "We tag it #journal and #inbox.",
        "The table is Sunday-based and so is the lookup.",
        "---\nTags: x\nReviewer: none\n---\nNothing was decided.",
        "Whoa, that is a lot. Woohoo!",
    ],
)
def test_machinery_and_interjections_are_no_names(text: str) -> None:
    assert kinds(text) == {}


def test_an_interjection_before_a_name_is_no_company_of_it() -> None:
    assert "Zowie" not in {name for name, kind in kinds("Zowie, Mara, that is fine.").items() if kind == "person"}


def test_whoever_takes_an_animal_somewhere_is_none() -> None:
    assert kinds("Yesterday Oliver took the dog to the vet.")["Oliver"] == "person"


def test_of_whom_her_name_tells_is_said_just_before() -> None:
    said = "Her name is Juniper! She sleeps all day."
    assert kinds(said) == {"Juniper": "person"}
    assert kinds(said, "I adopted a puppy last week.") == {"Juniper": "pet"}
    assert kinds(said, "My dog barked. Then I met a woman at the park.") == {"Juniper": "person"}


def test_an_article_makes_no_person_of_what_a_list_knows() -> None:
    assert kinds("We sat at the Ossian until dusk.")["Ossian"] == "other"


def test_a_list_of_names_has_one_vote() -> None:
    listed = [NameCandidate("Rex", "rex", "person", 0, 3, by_name=True) for _ in range(9)]
    told = NameCandidate("Rex", "rex", "pet", 0, 3)
    assert count_votes(listed)["person"] == 1
    assert heaviest_type(count_votes([*listed, told])) == "pet"


def test_what_stands_in_two_lists_or_is_an_everyday_word_tells_nothing() -> None:
    assert is_given_name("Ossian")
    assert is_town("Trondheim")
    assert is_maker("Chopin")
    assert not any(ask("Will") or ask("May") or ask("The") for ask in (is_given_name, is_town))
    for word in ("Paris", "Florence", "Sofia", "Ossian", "Trondheim"):
        assert not (is_given_name(word) and is_town(word))


def test_a_misspelt_short_form_is_whoever_is_spoken_to() -> None:
    assert find_misspelt("mell", {"melanie"}) == "melanie"
    assert find_misspelt("carolin", {"caroline"}) == "caroline"
    assert find_misspelt("mell", {"melanie", "melissa"}) is None
    assert find_misspelt("mell", {"caroline"}) is None
    assert find_misspelt("tom", {"thomas"}) is None, "a short form of its own"
    assert find_misspelt("joan", {"joanna"}) is None, "a name of its own"
