"""What the claim model reads and the words around it tell against."""

from __future__ import annotations

import pytest

from core.belief.extract.claim_model import ClaimModel
from core.belief.extract.extraction import extract_claims

MODEL = ClaimModel()


def read(text: str, predicate: str) -> set[tuple[str, str]]:
    """Subject and value of what rules and model claim by a predicate."""
    return {(one.subject, one.value) for one in extract_claims(text, model=MODEL) if one.predicate == predicate}


@pytest.mark.parametrize(
    "text",
    [
        "Melanie has been married for 5 years already.",
        "Ruth has been divorced since 2019.",
        "Lena and Tom have been married for ten years.",
        "Wanda is happily married.",
        "Tom is engaged.",
    ],
)
def test_who_is_married_is_not_the_partner_of_who_speaks(text: str) -> None:
    assert read(text, "partner_is") == set()


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Lena has been with Tom for ten years.", ("Lena", "Tom")),
        ("Lena is married to Tom.", ("Lena", "Tom")),
        ("Lena's husband Tom is a baker.", ("Lena", "Tom")),
        ("Bram is my husband.", ("user", "Bram")),
        ("Oskar and I are married.", ("user", "Oskar")),
        ("Married to Ingrid.", ("user", "Ingrid")),
        ("Ingrid is the user's wife.", ("user", "Ingrid")),
    ],
)
def test_a_partner_who_is_named_is_read(text: str, pair: tuple[str, str]) -> None:
    assert read(text, "partner_is") == {pair}


@pytest.mark.parametrize(
    "text",
    [
        "John graduated in the week of 20 March 2023.",
        "Rosa turned thirty on 3 May 2020.",
        "Olga started at the bakery on 1 June 2020.",
        "Lars got married on 12 August 2017.",
        "John, who was born in Ghent, moved to Oslo on 20 March 2023.",
        "Born in Ghent, he graduated in the week of 20 March 2023.",
        "John's wedding is on 3 May 2024.",
        "Born in Ghent, he moved on 3 May 2010.",
        "Tom was born in Ghent and left on 3 May 2010.",
    ],
)
def test_a_date_without_a_word_of_birth_is_no_birthday(text: str) -> None:
    assert read(text, "born_on") == set()


@pytest.mark.parametrize(
    "text",
    [
        "Rosa was born on 3 May 1990.",
        "Rosa (b. 3 May 1990) is a nurse.",
        "Rosa came into the world on 3 May 1990.",
        "Rosa, born 3 May 1990, is a nurse.",
        "Rosa was born in Ghent, Belgium, on 3 May 1990.",
    ],
)
def test_a_date_of_birth_is_read(text: str) -> None:
    assert read(text, "born_on") == {("Rosa", "3 May 1990")}


def test_a_birth_may_be_dated_by_what_else_happened() -> None:
    text = "I was born the day the mill burned down, 4 March 1971."
    assert read(text, "born_on") == {("user", "4 March 1971")}


@pytest.mark.parametrize(
    "text",
    [
        "Quillwort Press wants you as map editor",
        "Quillwort Press wants you as map editor and offers 42,000 a year.",
        "Quillwort Press wants Ada as map editor.",
        "Quillwort Press is hiring Ada as map editor.",
        "Quillwort Press asked the user to come as map editor.",
        "They want me as head chef.",
        "Olin needs Petra as a nurse.",
        "Tom offered Ada a position as cook.",
        "The city seeks Tom as translator.",
        "Ada would like Tom as her lawyer.",
    ],
)
def test_who_wants_somebody_as_something_is_none_and_neither_is_who_is_wanted(text: str) -> None:
    subjects = {subject for subject, _ in read(text, "job_title_is")}
    assert subjects <= ({"Ada"} if "hiring" in text else set())


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("The museum hired Olin as curator.", ("Olin", "curator")),
        ("Olin hired Petra as an accountant.", ("Petra", "accountant")),
        ("The city council appointed Ana as treasurer.", ("Ana", "treasurer")),
        ("Ada was hired as a nurse.", ("Ada", "nurse")),
        ("Ada got hired by the mill as an accountant.", ("Ada", "accountant")),
        ("Ada took a job as a baker.", ("Ada", "baker")),
        ("Marta works as a nurse.", ("Marta", "nurse")),
    ],
)
def test_a_job_that_somebody_has_is_read(text: str, pair: tuple[str, str]) -> None:
    assert read(text, "job_title_is") == {pair}


@pytest.mark.parametrize(
    "text",
    [
        "Caroline has been looking into counseling and mental health as a career.",
        "John is researching policies.",
        "Nils is researching tide mills.",
        "Nils is considering law.",
        "Ruth is considering studying law.",
        "Ruth is exploring marine biology.",
        "Ruth is thinking about a degree in law.",
        "Ruth is interested in astronomy.",
        "Ruth is researching her family tree.",
        "Ruth reads up on botany.",
        "Ruth is reading a book about archaeology.",
        "Ruth is analysing traffic data.",
        "Ruth is working on a project about solar power.",
        "Ruth is passing on her knowledge of chemistry.",
    ],
)
def test_what_is_looked_into_is_not_studied(text: str) -> None:
    assert read(text, "studies") == set()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Vera studies law.", "law"),
        ("Vera is doing a PhD in chemistry.", "chemistry"),
        ("Vera is researching coral reefs for her PhD in biology.", "biology"),
        ("Vera is taking a course in botany.", "botany"),
        ("Vera is in her second year of medicine.", "medicine"),
        ("Vera is at university for history.", "history"),
        ("Vera is working on a master's in physics.", "physics"),
        ("Vera is getting her degree in nursing.", "nursing"),
    ],
)
def test_what_is_studied_is_read(text: str, value: str) -> None:
    assert read(text, "studies") == {("Vera", value)}


@pytest.mark.parametrize(
    ("text", "predicate", "pair"),
    [
        ("Amina, Wilf's mother, is an electrician.", "job_title_is", ("Amina", "electrician")),
        ("Amina, mother of Wilf, is an electrician.", "job_title_is", ("Amina", "electrician")),
        ("Amina, the mother of Wilf, is an electrician.", "job_title_is", ("Amina", "electrician")),
        ("Amina, Wilf's oldest friend, lives in Ghent.", "lives_in", ("Amina", "Ghent")),
        ("Jonas, Petra's brother, works at Volvo.", "works_at", ("Jonas", "Volvo")),
        ("Jonas, Petra's brother, is allergic to nuts.", "allergic_to", ("Jonas", "nuts")),
        ("Jonas, a cousin of Petra, speaks Danish.", "speaks", ("Jonas", "Danish")),
        ("Ida, Tom's wife, studies law.", "studies", ("Ida", "law")),
        ("Ida, Tom's boss, has a dog named Rex.", "has_pet", ("Ida", "Rex")),
        ("Agnes, James' sister, lives in Bath.", "lives_in", ("Agnes", "Bath")),
        ("Wilf's mother, Amina, is an electrician.", "job_title_is", ("Amina", "electrician")),
        ("My mother, Amina, is an electrician.", "job_title_is", ("Amina", "electrician")),
        ("Wilf's mother is an electrician.", "job_title_is", ("Wilf's mother", "electrician")),
        ("Olin, the baker, lives in Oslo.", "lives_in", ("Olin", "Oslo")),
    ],
)
def test_a_claim_is_about_whom_an_apposition_describes(text: str, predicate: str, pair: tuple[str, str]) -> None:
    assert read(text, predicate) == {pair}
