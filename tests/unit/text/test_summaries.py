"""Four lengths of a text: whole sentences, in their order, the telling ones first."""

from __future__ import annotations

import pytest

from core.text.sentences import SUMMARY_SHARE, Tiers, make_tiers

LETTER = (
    "It rained again all day. We moved to Antwerp in May 2023 with Ruben. Do you remember the old flat? "
    "Well. The cat sleeps a lot."
)


def test_a_long_text_has_all_four() -> None:
    found = make_tiers(LETTER, "episode", "moving")
    assert found.full == LETTER
    assert found.key_fact == "We moved to Antwerp in May 2023 with Ruben."
    assert found.key_fact in found.summary
    assert len(found.key_fact) < len(found.summary) <= SUMMARY_SHARE * len(LETTER)
    assert found.tag == "episode · moving · Antwerp May Ruben remember"
    assert [name for name, _ in found.list_tiers()] == ["full", "summary", "key_fact", "tag"]
    assert [name for name, _ in found.list_rows()] == ["summary", "key_fact", "tag"]


@pytest.mark.parametrize("text", ["", "ok", "The mooring is paid until March.", "  One line, padded.  \n\n"])
def test_one_sentence_is_its_own_summary_and_needs_no_row(text: str) -> None:
    found = make_tiers(text, "fact", "general")
    assert (found.full, found.summary, found.key_fact) == (text, text, text)
    assert found.list_rows() == ()


def test_a_summary_that_is_the_key_fact_is_stored_once() -> None:
    found = make_tiers("Hm. Ruben bought a red bicycle in Antwerp for 450 euros.", "fact", "general")
    assert found.summary == found.key_fact
    assert [name for name, _ in found.list_rows()] == ["summary", "tag"]


def test_a_question_tells_less_than_a_statement() -> None:
    found = make_tiers("Does Ruben live in Antwerp? Ruben lives in Antwerp.", "fact", "general")
    assert found.key_fact == "Ruben lives in Antwerp."


def test_full_width_marks_end_sentences_too() -> None:
    found = make_tiers("昨天我们去了海边。鲁本买了一辆红色的自行车！", "episode", "general")
    assert found.key_fact in ("昨天我们去了海边。", "鲁本买了一辆红色的自行车！")


def test_a_tag_names_kind_category_and_a_few_words() -> None:
    assert make_tiers("Always use tabs.", "rule", "code").tag.startswith("rule · code · ")
    assert make_tiers("", "fact", "general").tag == "fact · general"
    assert "x" * 30 not in make_tiers("x" * 30, "fact", "general").tag


def test_only_tiers_that_differ_are_named() -> None:
    assert Tiers("a", "a", "a", "t").list_tiers() == (("full", "a"), ("tag", "t"))
