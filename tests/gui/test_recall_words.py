"""The Recall page in words, and what its parts make of numbers; no engine, no widget."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from recall_page_rig import FakeLaboratory, FakeLibrary
from review_rig import memory

from core.config.option_rows import option_rows
from core.config.retrieval import RetrievalOptions
from core.types.recall import (
    STAGES,
    Comparison,
    DeliveryCount,
    LabAnswer,
    Probe,
    ProbeOutcome,
    QueryPlan,
    Tally,
    TimeRange,
    Trace,
    TracedCandidate,
)
from core.types.values import Precision, Role, Status, When
from ui.inspector.provenance import describe_disclosures
from ui.pages.recall.funnel import candidates_of_stage, describe_stage, expected_count, is_complete_stage
from ui.pages.recall.knobs import KnobScale, knob_scale
from ui.pages.recall.labels import (
    best_places,
    count_gains,
    describe_losses,
    describe_near_miss,
    describe_places,
    describe_question_time,
    describe_weight_change,
    explain_missing,
    format_ordinal,
    join_question_names,
    stage_of_drop,
)
from ui.pages.recall.signals import TOKENS, bar_pieces, describe_bar
from ui.pages.recall.why_not import describe_absence, find_shared_words
from ui.strings import recall_strings
from ui.widgets.labels import describe_source, format_said_at

DROPS = (
    *(status.value for status in Status),
    *("in_review", "over", "at_odds", "filtered", "suppressed", "not_valid_then"),
    *("below_bar", "below_floor", "duplicate", "beyond_limit"),
)


def candidate(**more: object) -> TracedCandidate:
    """A candidate with the members a test does not care about filled in."""
    member: dict[str, object] = {
        "id": "one", "place": None, "rank": None, "lists": {}, "evidence": 0.5, "relevance": 0.5, "signals": {},
        "factor": 1.0, "score": 0.5, "diversity": None, "dropped": None, "because": "", "recorded_at": 0,
    }  # fmt: skip
    return TracedCandidate(**(member | more))  # type: ignore[arg-type]  # a bag of members


@pytest.mark.parametrize(
    ("place", "told"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (22, "22nd"), (112, "112th")]
)
def test_places_are_told_as_one_says_them(place: int, told: str) -> None:
    assert format_ordinal(place) == told


def test_lists_of_one_way_count_once_and_sums_do_not_count() -> None:
    lists = {"evidence": (1, 1.0), "vector": (7, 0.3), "window": (3, 0.6), "bm25": (2, 4.0)}
    assert best_places(lists) == {"words": 2, "meaning": 3}
    assert describe_places(lists) == "words 2nd, meaning 3rd"
    assert describe_places({"a new list": (4, 1.0)}) == "a new list 4th"


@pytest.mark.parametrize("dropped", DROPS)
def test_every_drop_has_words_and_a_stage_that_drops(dropped: str) -> None:
    assert dropped in recall_strings()["dropped"]
    assert stage_of_drop(dropped) in STAGES[4:]
    assert (
        describe_near_miss(dropped, {"bm25": (1, 2.0), "vector": (2, 0.4)})
        == recall_strings()["dropped"][dropped]["short"]
    )


def test_an_unknown_drop_is_still_told() -> None:
    assert describe_near_miss("a new reason", {}) == "left out"


def test_a_near_miss_names_its_weakest_places() -> None:
    assert (
        describe_near_miss("below_floor", {"window": (58, 0.2)})
        == "much weaker than the best, meaning 58th, no shared rare word"
    )


def test_a_verdict_says_the_stage_or_that_there_was_none() -> None:
    assert explain_missing(candidate(place=2), Status.ACTIVE) == ["It is 2nd in the answer."]
    dropped = explain_missing(candidate(dropped="duplicate", lists={"bm25": (4, 1.0)}), Status.ACTIVE)
    assert dropped[0] == "It was left out at “no repeats”."
    assert dropped[-1] == "Found by words 4th."
    assert len(explain_missing(None, Status.ACTIVE)) == 1
    assert "archived" in explain_missing(None, Status.ARCHIVED)[1]


def test_the_time_and_the_names_of_a_question_are_told() -> None:
    day = TimeRange("yesterday", 0, 9, "2026-11-21", "2026-11-21", 0, 1)
    month = TimeRange("in May", 0, 6, "2026-05-01", "2026-05-31", 0, 1)
    assert describe_question_time(day) == "21 Nov 2026"
    assert describe_question_time(month) == "1 May 2026 to 31 May 2026"
    assert (
        join_question_names(QueryPlan(entities=("Ada", "Ben", "Cleo", "Dan", "Eva"))) == "names: Ada, Ben, Cleo, 2 more"
    )
    assert join_question_names(QueryPlan()) == "no names"


def test_hidden_characters_of_an_author_are_shown() -> None:
    told = describe_source(memory("Tea.", author="Ada\u202e", role=Role.OTHER))
    assert told.startswith("Ada‹U+202E›, ")


# ---- bars


def test_a_bar_ends_at_the_score_and_shows_what_was_taken_off_behind_it() -> None:
    pieces = bar_pieces({"relevance": 0.6, "confidence": 0.1, "recency": -0.2})
    made = [piece for piece in pieces if not piece.is_lost]
    assert max(piece.end for piece in made) == pytest.approx(0.5)
    (lost,) = [piece for piece in pieces if piece.is_lost]
    assert lost.signal == "recency"
    assert [lost.start, lost.end] == pytest.approx([0.5, 0.7])


def test_pieces_stand_beside_each_other_within_the_bar() -> None:
    pieces = bar_pieces({"relevance": 0.9, "confidence": 0.3, "recency": 0.2, "utility": -3.0})
    assert all(0.0 <= piece.start <= piece.end <= 1.0 for piece in pieces)
    assert bar_pieces({}) == []
    assert describe_bar({"relevance": 0.5, "a new one": 0.1}) == "relevance 0.50, a new one 0.10"


def test_every_signal_of_the_bar_has_words() -> None:
    assert set(TOKENS) == set(recall_strings()["signals"])


# ---- the funnel


def test_a_stage_holds_what_it_found_or_dropped() -> None:
    first = candidate(id="a", place=1, rank=1, lists={"bm25": (2, 1.0)})
    second = candidate(id="b", rank=2, dropped="below_floor", lists={"bm25": (1, 2.0), "graph": (1, 0.4)})
    third = candidate(id="c", dropped="archived", evidence=0.9)
    traced = (first, second, third)
    assert [one.id for one in candidates_of_stage("words", traced)] == ["b", "a"]
    assert [one.id for one in candidates_of_stage("graph", traced)] == ["b"]
    assert [one.id for one in candidates_of_stage("fused", traced)] == ["b"]
    assert [one.id for one in candidates_of_stage("in_scope", traced)] == ["c"]
    assert candidates_of_stage("after_duplicates", traced) == []
    stages = {"vector": 5, "in_scope": 9, "fused": 4, "after_duplicates": 3, "answered": 3}
    assert [expected_count(stage, stages) for stage in ("vector", "in_scope", "fused", "answered")] == [5, 0, 5, 0]


@pytest.mark.parametrize(
    ("stage", "found", "said"),
    [
        ("fused", 2, "Left out at “good enough”: 5. Only the best 1 candidates are kept"),
        ("answered", 0, "Left out at “returned”: 2. Only the best"),
        ("after_duplicates", 1, "Left out at “no repeats”: 1."),
        ("after_duplicates", 0, "Left out at “no repeats”: 1. Only the best"),
        ("in_scope", 0, "Left out at “allowed”. None of the 1 best candidates was left out here. Only those"),
        ("vector", 3, "Found by meaning: 5. Only the best 1 candidates are kept; 3 of them are listed here."),
        ("time", 0, "Found by time. Nothing was found this way."),
    ],
)
def test_a_stage_never_says_that_nothing_was_dropped_where_the_counts_differ(stage: str, found: int, said: str) -> None:
    stages = {"vector": 5, "in_scope": 9, "fused": 4, "after_duplicates": 3, "answered": 1}
    trace = Trace(QueryPlan(), stages, (candidate(rank=1, place=1),), {}, 1.0, 0.5, 0.9)
    told = describe_stage(stage, found, trace)
    assert told.startswith(said)
    assert "Nothing was dropped" not in told


def test_what_was_cut_off_an_answer_is_looked_into_and_a_whole_answer_is_not() -> None:
    for left, is_all in ((1, True), (3, False)):
        stages = {"in_scope": 9, "fused": 4, "after_duplicates": left, "answered": 1}
        trace = Trace(QueryPlan(), stages, (candidate(rank=1, place=1),), {}, 1.0, 0.5, 0.9)
        answer = LabAnswer((), (), False, "", trace, "hybrid", 1.0, 1, "")  # noqa: FBT003
        assert is_complete_stage("answered", answer) is is_all
        assert describe_stage("answered", 0, trace).endswith("Nothing was left out here.") is is_all
        assert not is_complete_stage("fused", answer)


# ---- why one did not come


def test_words_a_memory_shares_are_found_in_other_forms() -> None:
    assert find_shared_words("decide moving Harbour a", "They decided: harbour, a move.") == ["decide", "Harbour", "a"]
    assert find_shared_words("sea", "season") == []
    assert find_shared_words("", "anything") == []


def test_one_the_trace_does_not_know_is_told_with_what_would_help() -> None:
    laboratory = FakeLaboratory()
    row = FakeLibrary(laboratory).read_rows((laboratory.ids()[0],)).result()[0]
    whole = Trace(QueryPlan(), {"in_scope": 1}, (candidate(rank=1, place=1),), {}, 1.0, 0.5, 0.9)
    told = describe_absence(row, "decide Frankfurt", whole)
    assert told[0].startswith("It was not a candidate")
    assert "“Frankfurt”" in told[1]
    assert describe_absence(row, "umbrella", whole)[1] == "It shares no word with the question."
    assert describe_absence(replace(row, is_cut=True), "umbrella", whole)[1].startswith("Its beginning shares no word")
    part = replace(whole, stages={"in_scope": 300})
    assert describe_absence(row, "", part)[0].startswith("It is not among the 1 best of 300 candidates")
    assert len(describe_absence(replace(row, status=Status.ARCHIVED), "Frankfurt", whole)) == 2


# ---- knobs


@pytest.mark.parametrize(
    ("name", "pair", "told"),
    [
        ("side_bound", (0.05, 0.5), "Relevance 0.95 → 0.5"),
        ("trades_temporal", (0.1, 0.3), "Variety (time) 0.9 → 0.7"),
        ("text_weight", (0.5, 0.25), "Words or meaning 0.5 → 0.25"),
        ("another", (1, 2), "Another one 1 → 2"),
        ("another", (False, True), "Another one off → on"),
        ("another", ("rrf", "mmr"), "Another one rrf → mmr"),
    ],
)
def test_a_change_is_told_as_its_slider_shows_it(name: str, pair: tuple[object, object], told: str) -> None:
    assert describe_weight_change(name, "Another one", pair) == told


@pytest.mark.parametrize("turned", [False, True])
def test_the_slider_of_every_option_stays_within_its_bounds(turned: bool) -> None:
    numbers = [one for one in option_rows(RetrievalOptions, RetrievalOptions()) if one.kind in {"int", "float"}]
    assert numbers
    for option in numbers:
        scale = knob_scale(option, turned=turned)
        values = [scale.value_of(step) for step in range(scale.steps + 1)]
        assert option.least is not None
        assert option.most is not None
        assert all(option.least <= value <= option.most for value in values), option.name
        assert values == sorted(values, reverse=turned), option.name
        assert {values[0], values[-1]} == {option.least, option.most}, option.name
        assert all(scale.step_of(scale.value_of(step)) == step for step in (0, scale.steps)), option.name


def test_a_turned_scale_shows_the_other_share() -> None:
    scale = KnobScale(0.0, 0.5, turned=True)
    assert scale.format_value(0.05) == "0.95"
    assert scale.value_of(scale.step_of(0.05)) == pytest.approx(0.05)


# ---- saved questions


def outcome(probe_id: str, place: int | None, *, passed: bool) -> ProbeOutcome:
    """How a question ended."""
    return ProbeOutcome(probe_id, passed, place, 0)


def tally(*outcomes: ProbeOutcome) -> Tally:
    """A tally of which only the outcomes count."""
    return Tally(0, 0, 0, 0, 0, 0, 0.0, outcomes)


def test_losses_are_named_the_worst_first_and_gains_are_counted() -> None:
    probes = (
        Probe("a", "coffee order", "positive", ("m",), 5, 0),
        Probe("b", "wifi code", "positive", ("m",), 5, 0),
        Probe("c", "shoe size", "positive", ("m",), 5, 0),
        Probe("d", "a moon base", "negative", (), 5, 0),
    )
    now = tally(
        outcome("a", 1, passed=True),
        outcome("b", 2, passed=True),
        outcome("c", 3, passed=True),
        outcome("d", None, passed=True),
    )
    then = tally(
        outcome("a", 4, passed=True),
        outcome("b", None, passed=False),
        outcome("c", 1, passed=True),
        outcome("d", None, passed=False),
    )
    comparison = Comparison(now, then, probes)
    assert describe_losses(comparison) == [
        ("“a moon base” should have no answer and would get one.", "a moon base"),
        ("“wifi code” drops out; it was 2nd.", "wifi code"),
        ("“coffee order” falls from 1st to 4th.", "coffee order"),
    ]
    assert count_gains(comparison) == 1
    assert describe_losses(Comparison(now, now, probes)) == []


def test_how_often_a_memory_was_given_is_told() -> None:
    at = 1_795_000_000_000
    assert describe_disclosures(DeliveryCount(0, None, "", 0)) == "Never given to an assistant yet."
    assert describe_disclosures(DeliveryCount(1, at, "Claude Code", 0)).startswith("Given once, to Claude Code on ")
    many = describe_disclosures(DeliveryCount(14, at, "Claude\u202e Code", 2))
    assert many.startswith("Given 14 times, last to Claude‹U+202E› Code on ")
    assert many.endswith("It was in 2 answers to you.")


def test_who_reports_a_memory_is_named() -> None:
    said = memory("Tea.", role=Role.USER)
    assert describe_source(said, "notes-plugin").startswith("You, via notes-plugin, ")
    assert "\u202e" not in describe_source(said, "notes\u202eplugin")
    assert describe_source(said).startswith("You, ")
    assert "via" not in describe_source(said)


def test_a_source_of_which_nobody_knows_the_day_is_told_as_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = 1_795_516_200_000  # 24 November 2026
    undated = memory("A heron.", occurred=None, recorded_at=noted, author="Ruben", role=Role.OTHER)
    assert describe_source(undated) == "Ruben, recorded 24 Nov 2026"
    february = When(1_769_904_000_000, Precision.MONTH)
    assert describe_source(replace(undated, occurred=february)) == "Ruben, February 2026"
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:  # a whole day has no zone
        assert describe_source(replace(undated, occurred=february)) == "Ruben, February 2026"
        assert format_said_at(When(february.ms, Precision.DAY)) == "1 Feb 2026"
        assert format_said_at(When(february.ms, Precision.SECOND)) == "31 Jan 2026, 19:00"
    finally:
        monkeypatch.undo()
        time.tzset()
