"""What is embedded and what is indexed."""

from __future__ import annotations

from core.text.terms import MAX_QUERY_CHARS, embedding_text, lexical_text, memory_terms, query_text
from core.types.values import Precision, Role, When

MAY_8 = When(1_683_554_160_000, Precision.MS)  # 2023-05-08 13:56 UTC


def test_a_named_author_stands_before_the_embedded_text() -> None:
    assert embedding_text("I went home.", author="Maria") == "Maria: I went home."


def test_a_role_is_no_name() -> None:
    for author in (None, "", "user", "Assistant", "source", "tool", " SYSTEM "):
        assert embedding_text("text", author=author) == "text"


def test_author_tags_and_date_are_words_to_search_by() -> None:
    assert lexical_text("hi", author="Maria", tags=("boat", "trip"), occurred=MAY_8) == "Maria hi boat trip 8 May 2023"


def test_the_date_is_as_exact_as_it_is_known() -> None:
    assert lexical_text("hi", occurred=When(MAY_8.ms, Precision.YEAR)) == "hi 2023"
    assert lexical_text("hi", occurred=When(MAY_8.ms, Precision.MONTH)) == "hi May 2023"


def test_the_date_is_that_of_the_place_where_it_was_written() -> None:
    assert lexical_text("hi", occurred=When(MAY_8.ms, Precision.MS, 11 * 60)) == "hi 9 May 2023"


def test_a_time_outside_the_calendar_adds_nothing() -> None:
    assert lexical_text("hi", occurred=When(10**17, Precision.MS)) == "hi"


def test_the_title_of_a_note_is_indexed_that_of_a_conversation_is_not() -> None:
    assert lexical_text("hi", role=Role.SOURCE, title="Glaze tests") == "hi Glaze tests"
    assert lexical_text("hi", role=Role.USER, title="Glaze tests") == "hi"


def test_memory_terms_analyse_the_composition() -> None:
    assert (
        memory_terms("Dogs ran", author="Maria", occurred=When(MAY_8.ms, Precision.MONTH)) == "maria dog ran may 2023"
    )


def test_a_query_of_a_megabyte_is_cut_before_it_is_embedded() -> None:
    assert len(query_text("word " * 300_000)) == MAX_QUERY_CHARS
    assert query_text("a\ud800") == "a?"


def test_marks_by_which_an_assistant_names_its_sources_are_not_embedded() -> None:
    cited = "The ferry runs on Sundays.\ue200cite\ue202turn0search1\ue201 It is cheap."
    assert embedding_text(cited, author="Ines") == "Ines: The ferry runs on Sundays. It is cheap."
