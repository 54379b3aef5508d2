"""The form of a question: which kind of value it asks for, whether a text gives one, and whom a text is about."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.belief.extract.frames import predicate_names
from core.text.question_form import (
    AskedValue,
    find_answering_sentence,
    gives_value,
    has_other_number,
    has_other_subject,
    is_thing_of_other,
    read_asked_predicates,
    read_question_form,
    speaks_of_other,
)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("When is the dentist?", AskedValue.TIME),
        ("until when is the ladder ours?", AskedValue.TIME),
        ("How long does the lease run?", AskedValue.TIME),
        ("Who waters the ferns?", AskedValue.PERSON),
        ("with whom do I share the shed?", AskedValue.PERSON),
        ("Where's the spare fuse?", AskedValue.PLACE),
        ("Which town is the depot in?", AskedValue.PLACE),
        ("which room is the loom in?", AskedValue.PLACE),
        ("How much is the ferry?", AskedValue.AMOUNT),
        ("what is my locker number?", AskedValue.AMOUNT),
        ("What's the monthly fee?", AskedValue.AMOUNT),
        ("What do I drink in the morning?", None),
        ("the ferns", None),
    ],
)
def test_the_beginning_tells_what_is_asked(query: str, value: AskedValue | None) -> None:
    assert read_question_form(query).value is value


@pytest.mark.parametrize(
    ("text", "value", "gives"),
    [
        ("The dentist is on the ninth of May.", AskedValue.TIME, True),
        ("Ferry leaves at ten.", AskedValue.TIME, True),
        ("Rehearsals moved to Thursdays.", AskedValue.TIME, True),
        ("The ferry is white.", AskedValue.TIME, False),
        ("My uncle loves the harbour.", AskedValue.PLACE, False),
        ("My uncle came to stay with us.", AskedValue.PLACE, True),
        ("The recital is on Friday.", AskedValue.PLACE, False),
        ("My uncle wants to come.", AskedValue.PLACE, False),
        ("My uncle moved to Gdynia.", AskedValue.PLACE, True),
        ("dr. Anand looks after my teeth", AskedValue.PERSON, True),
        ("my landlady has the fuse", AskedValue.PERSON, True),
        ("got an extension until spring", AskedValue.PERSON, False),
        ("Lessons are on Tuesdays in term time.", AskedValue.PERSON, False),
        ("The ferry is twelve each.", AskedValue.AMOUNT, True),
        ("The ferry is late again.", AskedValue.AMOUNT, False),
    ],
)
def test_what_a_text_gives(text: str, value: AskedValue, *, gives: bool) -> None:
    assert gives_value(text, value) is gives


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("what must I not eat?", "Imke eats no nuts.", True),
        ("where do I live?", "My aunt lives in Gdynia.", True),
        ("where do i live?", "mum lives in Gdynia", True),
        ("where do I live?", "Kofi's mother lives in Accra.", True),
        ("how do I take my tea?", "Imke takes her tea with lemon.", True),
        ("can I dive?", "imke can't dive", True),
        ("when do i go rowing?", "imke rows on sundays", True),
        ("who is my barber?", "Kofi's barber is old Mr. Stroud.", True),
        ("where do i sleep?", "imke's cousin is basically sleeping here", True),
        ("when do i go rowing?", "rowing is on sundays", False),
        ("who is my barber?", "Today's barber was Mr. Stroud.", False),
        ("where do I live?", "I moved into the mill house.", False),
        ("where do I live?", "rooms are in the mill house", False),
        ("where do I buy flour?", "Tiller's deliver the flour.", False),
        ("which bike do I ride?", "dad gave me his old Peugeot", False),
        ("what does Imke eat?", "Imke eats no nuts.", False),
        ("when do I pick Imke up?", "Imke finishes at three.", False),
        ("when do I see my aunt?", "My aunt comes in June.", False),
    ],
)
def test_a_text_about_somebody_else(query: str, text: str, *, other: bool) -> None:
    assert speaks_of_other(text, read_question_form(query)) is other


def test_somebody_else_is_the_subject_though_the_speaker_has_a_part() -> None:
    form = read_question_form("where do we live?")
    assert has_other_subject("My mother came to live with us.", form)
    assert not speaks_of_other("My mother came to live with us.", form)


@pytest.mark.parametrize("query", ["where did I live before?", "who was our vet?", "what was the old rate?"])
def test_how_it_was(query: str) -> None:
    assert not read_question_form(query).is_of_present


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_read(query: str, text: str) -> None:
    form = read_question_form(query)
    assert form == read_question_form(query)
    assert has_other_subject(text, form) <= form.is_of_speaker <= form.is_of_own
    assert speaks_of_other(text, form) <= (has_other_subject(text, form) or is_thing_of_other(text, form))
    for value in AskedValue:
        assert gives_value(text + " at the mill on Monday, said my aunt Imke, 3 times", value)


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("when is the regatta?", "Kofi's own regatta is in June.", True),
        ("when is the regatta?", "The regatta's in June.", False),
        ("when is Kofi's regatta?", "Kofi's regatta is in June.", False),
        ("when is the regatta?", "Sunday's regatta is off.", False),
        ("where is the kayak?", "kayak's in the shed", False),
    ],
)
def test_a_thing_of_somebody_else(query: str, text: str, *, other: bool) -> None:
    assert is_thing_of_other(text, read_question_form(query)) is other


@pytest.mark.parametrize(
    ("query", "text", "is_other"),
    [
        ("is gate 14 locked?", "Gate 11 is locked.", True),
        ("is gate 14 locked?", "Gate 14 is locked, gate 11 is not.", False),
        ("is gate 14 locked?", "The yard has 11 gates.", False),
        ("is the gate locked?", "Gate 11 is locked.", False),
        ("what happened in march 2024?", "In April 2023 we moved.", False),
    ],
)
def test_a_number_that_names_a_thing_names_no_other(query: str, text: str, *, is_other: bool) -> None:
    assert has_other_number(text, read_question_form(query)) is is_other


@pytest.mark.parametrize(
    ("query", "is_other"),
    [
        ("where does Ravi work?", True),
        ("where does Ravi's sister work?", False),
        ("who is Ravi fond of?", False),
    ],
)
def test_kin_of_whom_the_question_names_is_somebody_else(query: str, *, is_other: bool) -> None:
    assert is_thing_of_other("Ravi's sister works at the mill.", read_question_form(query)) is is_other


@pytest.mark.parametrize(
    ("query", "predicates"),
    [
        ("How old am I?", {"age_is"}),
        ("and how old am I now?", {"age_is"}),
        ("can you tell me how old I am", {"age_is"}),
        ("What’s my phone number?", {"phone_is"}),
        ("Hey, remind me what my phone number is, please", {"phone_is"}),
        ("remind me what my phone number is please", {"phone_is"}),
        ("where does the user live?", {"lives_in"}),
        ("Where do I live in summer?", set()),
        ("where does my mum live?", set()),
        ("what is my sister's name?", set()),
        ("who is my partner in the quiz?", set()),
        ("my wife", {"partner_is"}),
        ("which languages do we speak", {"speaks"}),
        ("", set()),
    ],
)
def test_a_question_for_one_property_asks_for_nothing_else(query: str, predicates: set[str]) -> None:
    assert read_asked_predicates(query) == predicates


def test_every_property_that_can_be_asked_for_is_one_of_the_vocabulary() -> None:
    data = json.loads((files("resources") / "query" / "asked.json").read_text("utf-8"))
    assert set(data["predicates"]) <= set(predicate_names())


@pytest.mark.parametrize("piece", ["tell me please ", "and ", "please ", "can you ", "my ", "what ", "of "])
def test_a_hostile_question_is_read_in_no_time(piece: str) -> None:
    """Where it is not, this takes minutes."""
    for end in ("", "x", "how old am i" + " now" * 30 + "x"):
        assert read_asked_predicates((piece * 120)[:110] + end) <= {"age_is"}
        assert read_asked_predicates(piece * 400 + end) == frozenset()


@given(st.text(max_size=600))
def test_any_text_has_at_most_a_few_asked_properties(query: str) -> None:
    assert len(read_asked_predicates(query)) <= 1


NOTE = (
    "We moved the studio in spring. The lease is long and speaks of its end. The landlord is kind. "
    "Light comes from the north. Two kilns stand in the yard. The roof was mended. Rain gets in by the door. "
    "Neighbours are quiet. A cat visits. The lease of the studio ends on 4 May 2027. Parking is free. "
    "The keys hang behind the mirror."
)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("when does the lease end?", "The lease of the studio ends on 4 May 2027."),
        ("where do the keys hang?", "The keys hang behind the mirror."),
        ("KILNS", "Two kilns stand in the yard."),
    ],
)
def test_the_sentence_of_a_long_text_with_most_of_the_question_answers(question: str, sentence: str) -> None:
    found = find_answering_sentence(question, NOTE)
    assert found is not None
    assert NOTE[slice(*found)] == sentence


@pytest.mark.parametrize("question", ["", "?", "zebra", "what is it?"])
def test_no_sentence_answers_what_no_sentence_has_a_word_of(question: str) -> None:
    assert find_answering_sentence(question, NOTE) is None


@pytest.mark.parametrize("text", ["", "cat", "A cat visits. It sleeps.", "cat" * 400, "a cat and " * 60, "\n" * 400])
def test_short_texts_and_single_sentences_have_no_sentence_that_answers(text: str) -> None:
    assert find_answering_sentence("cat", text) is None


def test_what_a_note_is_filed_under_answers_nothing() -> None:
    filed = f"---\ntags: parking, keys\n---\n{NOTE}"
    found = find_answering_sentence("parking", filed)
    assert found is not None
    assert filed[slice(*found)] == "Parking is free."
