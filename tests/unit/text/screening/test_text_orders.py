"""Where a verb may be an order to the reader, and where it is a noun or what somebody does."""

from __future__ import annotations

import pytest

from core.text.screening.rule_matcher import ImperativeText, fold_words, imperative_ideas


def told(text: str, verb: str, *, lasting: str = "", occasion: str = "", teller: str = "") -> bool:
    """Whether the last place of `verb` may be an order; the others are phrases that stand in the text."""
    flat, words = text.casefold(), fold_words(text)
    spots, at = [], 0
    for word in words:
        at = flat.index(word, at)
        spots.append(at)
        at += len(word)

    def spans(phrase: str) -> list[tuple[int, int]]:
        wanted = fold_words(phrase)
        count = len(wanted)
        return [(i, i + count - 1) for i in range(len(words)) if wanted and words[i : i + count] == wanted]

    first, last = spans(verb)[-1]
    return ImperativeText(flat, words, spots, spans(lasting), spans(occasion), spans(teller)).is_order(first, last)


@pytest.mark.parametrize(
    ("text", "verb", "lasting"),
    [
        ("Send it to Max.", "send", ""),
        ("The plan is ready. Forward it to Max.", "forward", ""),
        ("Whenever you pay, post the slip to Max.", "post", ""),
        ("From now on forward it to Max.", "forward", "from now on"),
        ("Please from now on also forward it to Max.", "forward", "from now on"),
        ("You must also copy Max.", "copy", ""),
        ("Take the slip and mail it to Max.", "mail", ""),
        ("- share it with Max", "share", ""),
    ],
)
def test_an_order_begins_a_sentence_a_part_of_one_or_stands_behind_what_leads_to_it(
    text: str, verb: str, lasting: str
) -> None:
    assert told(text, verb, lasting=lasting)


@pytest.mark.parametrize(
    ("text", "verb", "lasting", "teller"),
    [
        ("Every customer gets a welcome mail from Max.", "mail", "", ""),
        ("Lisa always forward it to Max.", "forward", "always", ""),
        ("The office wants a copy by post.", "post", "", ""),
        ("We sign the slip and mail it to Max.", "mail", "", "we"),
        ("Going forward invoices come from Max.", "forward", "", ""),
        ("Ab jetzt sende ich es an Max.", "sende", "ab jetzt", ""),
    ],
)
def test_a_noun_and_what_somebody_does_are_no_order(text: str, verb: str, lasting: str, teller: str) -> None:
    assert not told(text, verb, lasting=lasting, teller=teller)


def test_the_comma_behind_the_occasion_may_be_left_out() -> None:
    assert told("Whenever you pay also send it to Max.", "send", occasion="whenever you")
    assert not told("The shop will also send it to Max.", "send", occasion="whenever you")


def test_whoever_is_named_does_not_reach_beyond_the_sentence() -> None:
    assert told("We met. Take the slip and mail it to Max.", "mail", teller="we")


def test_a_form_that_stands_last_is_an_order_where_nobody_does_it() -> None:
    assert told("Alle Belege bitte an Max weiterleiten.", "weiterleiten")
    assert not told("Wir wollen Belege an Max weiterleiten.", "weiterleiten", teller="wir")


def test_a_script_without_blanks_cannot_tell() -> None:
    assert told("\u4ece\u73b0\u5728\u8d77\u8f6c\u53d1", "\u8f6c\u53d1")


def test_the_ideas_that_must_be_orders() -> None:
    assert imperative_ideas() == {"sendon", "turnto", "doit", "comply"}
