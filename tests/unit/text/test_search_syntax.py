"""The search syntax: what is read, what is refused with a sentence, and the help that shows it."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from core.text.search_syntax import (
    KEYS,
    PHRASE,
    UNREAD,
    WORD,
    DateRange,
    NumberRange,
    SearchTerm,
    date_range,
    number_range,
    parse_search,
    with_term,
    without_term,
)
from core.text.search_syntax import (
    format_search as put,
)

DAY = 86_400_000
Y2026 = 1_767_225_600_000  # 2026-01-01T00:00:00Z


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("ferry  timetable", [SearchTerm(WORD, ("ferry",)), SearchTerm(WORD, ("timetable",))]),
        ('"half past" nine', [SearchTerm(PHRASE, ("half past",)), SearchTerm(WORD, ("nine",))]),
        (r'"a \"b\" c:\\d"', [SearchTerm(PHRASE, ('a "b" c:\\d',))]),
        ("-kitchen", [SearchTerm(WORD, ("kitchen",), negated=True)]),
        ('-"two words"', [SearchTerm(PHRASE, ("two words",), negated=True)]),
        ("Kind:Fact,rule", [SearchTerm("kind", ("fact", "rule"))]),
        ('tag:"to do",Travel', [SearchTerm("tag", ("to do", "Travel"))]),
        ("-space:work", [SearchTerm("space", ("work",), negated=True)]),
        ("12:30", [SearchTerm(WORD, ("12:30",))]),
        ("http://x.org/a:b", [SearchTerm(WORD, ("http://x.org/a:b",))]),
        ("trust:<0.2,>=0.9", [SearchTerm("trust", ("<0.2", ">=0.9"))]),
        ("recorded:2026-01..2026-03", [SearchTerm("recorded", ("2026-01..2026-03",))]),
        ("猫", [SearchTerm(WORD, ("猫",))]),
        ("Europe, (again)?", [SearchTerm(WORD, ("Europe",)), SearchTerm(WORD, ("again",))]),
        ("v1.2, c++ .net", [SearchTerm(WORD, ("v1.2",)), SearchTerm(WORD, ("c++",)), SearchTerm(WORD, (".net",))]),
        ('"half past", nine', [SearchTerm(PHRASE, ("half past",)), SearchTerm(WORD, ("nine",))]),
        ("(kind:fact)", [SearchTerm(WORD, ("(kind:fact)",))]),
        ("(-kitchen)", [SearchTerm(WORD, ("(-kitchen)",))]),
    ],
)
def test_what_is_typed_is_read(text: str, terms: list[SearchTerm]) -> None:
    found = parse_search(text)
    assert list(found.terms) == terms
    assert not found.problems


@pytest.mark.parametrize(
    ("text", "words", "span"),
    [
        ('ferry "half past', "quotation mark is missing", (6, 16)),
        ("knd:fact", "no such filter", (0, 8)),
        ("kind:poem", "After kind: comes one of episode, fact", (0, 9)),
        ("kind:", "needs a value", (0, 5)),
        ("kind:fact,", "needs a value", (0, 10)),
        ("kind: fact", "needs a value", (0, 5)),
        ('tag:"a"b c', "needs a value", (0, 8)),
        ('tag:"a', "quotation mark is missing", (0, 6)),
        ("trust:0.5", "from 0 to 1", (0, 9)),
        ("trust:>1.5", "from 0 to 1", (0, 10)),
        ("trust:0.9..0.1", "from 0 to 1", (0, 14)),
        ("before:2026-13", "Write a date", (0, 14)),
        ("on:2026-02-30", "Write a date", (0, 13)),
        ("on:2026-03..2026-01", "Write a date", (0, 19)),
        ("after:2026..2027", "Write a date", (0, 16)),
        ("a — b", "no letter or digit", (2, 3)),
        ("-", "no letter or digit", (0, 1)),
        ('""', "nothing between", (0, 2)),
        ("-status:all", "name the status", (0, 11)),
        ("w" * 201, "too long", (0, 201)),
        ("a\ud800b", "half of a character", (0, 3)),
    ],
)
def test_what_cannot_be_read_is_told_and_kept(text: str, words: str, span: tuple[int, int]) -> None:
    (problem,) = parse_search(text).problems
    assert words in problem.sentence
    assert (problem.start, problem.end) == span
    kept = [term for term in parse_search(text).terms if term.key == UNREAD]
    assert kept[0].values == (text[slice(*span)],)
    assert parse_search(put(parse_search(text))).problems[0].sentence == problem.sentence


def test_a_problem_never_repeats_what_was_typed() -> None:
    for text in ("secretword:x", "kind:secretword", 'tag:"secretword'):
        assert "secretword" not in parse_search(text).problems[0].sentence


def test_terms_know_their_place() -> None:
    text = ' garden -kind:fact  "two words"'
    assert [text[term.start : term.end] for term in parse_search(text).terms] == ["garden", "-kind:fact", '"two words"']


def test_only_a_status_term_widens_the_status() -> None:
    assert not parse_search("garden kind:fact").has_status
    assert parse_search("status:all").has_status
    assert parse_search("-status:archived").has_status


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (">0.7", NumberRange(low=0.7, with_low=False)),
        (">=.7", NumberRange(low=0.7)),
        ("<1", NumberRange(high=1.0, with_high=False)),
        ("<=0", NumberRange(high=0.0)),
        ("0.5..0.9", NumberRange(0.5, 0.9)),
        ("0.5..", NumberRange(low=0.5)),
        ("..0.9", NumberRange(high=0.9)),
        ("..", None),
        ("0.5", None),
        (">2", None),
        (">٠", None),
    ],
)
def test_ranges_of_numbers(value: str, expected: NumberRange | None) -> None:
    assert number_range(value) == expected


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("before", "2026", DateRange(until_ms=Y2026)),
        ("after", "2025", DateRange(from_ms=Y2026)),
        ("after", "2026-01-31", DateRange(from_ms=Y2026 + 31 * DAY)),
        ("on", "2026-01-01", DateRange(Y2026, Y2026 + DAY)),
        ("on", "2026", DateRange(Y2026, Y2026 + 365 * DAY)),
        ("on", "2025-12", DateRange(Y2026 - 31 * DAY, Y2026)),
        ("recorded", "2026-01..2026-03", DateRange(Y2026, Y2026 + 90 * DAY)),
        ("recorded", "2026..", DateRange(from_ms=Y2026)),
        ("recorded", "..2025", DateRange(until_ms=Y2026)),
        ("recorded", "..", None),
        ("before", "0000", None),
    ],
)
def test_periods(key: str, value: str, expected: DateRange | None) -> None:
    assert date_range(key, value) == expected


def test_the_last_year_has_an_end() -> None:
    found = date_range("on", "9999-12")
    assert found is not None
    assert found.until_ms == 253_402_300_800_000


def test_chips_are_added() -> None:
    search = parse_search("garden kind:fact trust:>0.5")
    assert put(with_term(search, "kind", "rule")) == "garden kind:fact,rule trust:>0.5"
    assert put(with_term(search, "kind", "fact")) == put(search)
    assert put(with_term(search, "kind", "rule", negated=True)) == "garden kind:fact trust:>0.5 -kind:rule"
    assert put(with_term(search, "trust", "<0.2")) == "garden kind:fact trust:<0.2"
    assert put(with_term(search, "tag", "to do")) == 'garden kind:fact trust:>0.5 tag:"to do"'
    assert put(with_term(parse_search("is:pinned"), "is", "edited")) == "is:pinned is:edited"


def test_chips_are_taken_away() -> None:
    search = parse_search("garden kind:fact,rule garden")
    assert put(without_term(search, search.terms[1])) == "garden garden"
    assert put(without_term(search, search.terms[1], "fact")) == "garden kind:rule garden"
    assert put(without_term(search, search.terms[2])) == "garden kind:fact,rule"
    assert put(without_term(search, SearchTerm("tag", ("x",)))) == put(search)


def test_every_example_of_the_help_is_read_and_every_filter_is_told() -> None:
    told = json.loads((files("resources") / "help" / "search.json").read_text("utf-8"))
    entries = {entry["key"]: entry for entry in told["entries"]}
    assert set(entries) == {*KEYS, WORD, PHRASE, "not", "or"}
    assert told["about"].endswith(".")
    for key, entry in entries.items():
        found = parse_search(entry["example"])
        assert not found.problems, entry["example"]
        assert entry["sentence"].endswith(".")
        if key in KEYS:
            assert [term.key for term in found.terms] == [key]
