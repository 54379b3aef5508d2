"""The questions that Loci has (E4.5): missing fields, old facts, contradictions; asked, answered, let rest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from belief_rig import change, claim, item
from engine_rig import Rig, differences, later, rig_at
from ground_rig import Ran, ground_of, run

from core.belief.extract.extraction import extract_claims
from core.belief.review.open_questions import thing_templates
from core.engine import outcomes as rule_reports
from core.intake.claims import TextReaders
from core.intake.revise.outcome_reports import OutcomeReports
from core.lifecycle.job_support.job_context import BatchResult
from core.lifecycle.questions import MOST_OPEN, GapsJob
from core.types.lifecycle import JobAction
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Kind
from core.vault.database.tx import Tx

OPEN = "SELECT kind, schema, field FROM gaps WHERE state = 'open' ORDER BY opened_at, id"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as rig:
        rig.opened.storage.threads.stop_tickers()
        yield rig


def look(rig: Rig) -> Ran:
    return run(rig, GapsJob(), ground_of(rig))


def fields(rig: Rig) -> list[str]:
    return [row[2] for row in rig.rows(OPEN)]


def items(rig: Rig, state: str = "open") -> list[tuple[str, str]]:
    return rig.rows("SELECT id, kind FROM conflicts WHERE state = ? ORDER BY opened_at, id", state)


def decide(rig: Rig, item_id: str, action: Action) -> None:
    rig.engine.conflicts.resolve(item_id, Decision(action)).result(20)


# ---- missing fields (E4.5.2)


def test_react_without_a_build_tool_is_asked_about_and_storing_it_answers(rig: Rig) -> None:
    rig.store("We use React for the web app.")
    assert look(rig).counts["asked"] == 4
    assert fields(rig) == ["version", "build_tool", "test_framework", "deploy_target"]
    rig.store("We build it with Vite.")
    assert look(rig).counts["answered"] == 1
    assert fields(rig) == ["version", "test_framework", "deploy_target"]
    rig.store("React is at version 18.")
    look(rig)
    assert fields(rig) == ["test_framework", "deploy_target"]


def test_a_second_run_asks_nothing_new(rig: Rig) -> None:
    rig.store("We use React for the web app.")
    look(rig)
    before = rig.dump()
    assert look(rig).deeds == []
    assert differences(before, rig.dump()) == {}


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I have a dog.", ["name"]),
        ("I have a dog named Rex.", []),
        ("My daughter is Anna.", ["birthday"]),
        ("I work at Siemens.", ["role"]),
        ("I plan to travel to Norway.", ["dates"]),
        ("I plan to travel to Norway next May.", []),
        ("I use Python.", ["version"]),
        ("I use Python 3.11.", []),
        ("The oven is blue.", []),
    ],
)
def test_what_usually_goes_with_a_thing(rig: Rig, text: str, asked: list[str]) -> None:
    rig.store(text)
    look(rig)
    assert fields(rig) == asked


def test_a_birthday_that_is_told_answers(rig: Rig) -> None:
    rig.store("My daughter is Anna.")
    look(rig)
    rig.store("Anna was born on 3 May 2012.")
    look(rig)
    assert fields(rig) == []
    assert rig.rows("SELECT state FROM gaps") == [("answered",)]


def test_one_thing_is_asked_about_once_whatever_names_it(rig: Rig) -> None:
    rig.store("I have a dog.")
    rig.store("We have a dog at home.", kind=Kind.FACT)
    look(rig)
    assert fields(rig) == ["name"]


def test_a_memorys_fields_are_raised_one_after_the_other(rig: Rig) -> None:
    rig.store("We use React for the web app.")
    assert look(rig).counts["raised"] == 1
    (first,) = items(rig)
    assert first[1] == "gap"
    shown = rig.engine.conflicts.read_item(first[0]).result(10)
    assert shown.question == "Which version of React is it?"
    assert set(shown.actions) == {Action.REJECT, Action.SKIP}
    rig.store("React is at version 18.")
    look(rig)
    (second,) = items(rig)
    assert rig.engine.conflicts.read_item(second[0]).result(10).question == "Which build tool goes with React?"
    assert rig.rows("SELECT note FROM conflicts WHERE id = ?", first[0]) == [("answered",)]


def test_a_question_that_is_let_rest_is_never_asked_again(rig: Rig) -> None:
    rig.store("I have a dog.")
    look(rig)
    decide(rig, items(rig)[0][0], Action.REJECT)
    assert look(rig).counts["dismissed"] == 1
    rig.store("We have a dog in the garden.")
    look(rig)
    assert fields(rig) == []
    assert items(rig) == []


def test_what_is_put_off_stays_open(rig: Rig) -> None:
    rig.store("I have a dog.")
    look(rig)
    decide(rig, items(rig)[0][0], Action.SKIP)
    assert look(rig).deeds == []
    assert fields(rig) == ["name"]


def test_a_memory_that_goes_takes_its_questions_with_it(rig: Rig) -> None:
    dog = rig.store("I have a dog.").memory_id
    look(rig)
    rig.forget(dog)
    look(rig)
    assert fields(rig) == []
    assert items(rig) == []


@pytest.mark.slow
def test_no_more_is_open_than_a_person_reads(rig: Rig) -> None:
    for nr in range(MOST_OPEN + 10):
        made = rig.store(f"Number {nr} is at home here.").memory_id
        claim(rig, made, "has_pet", f"cat {nr}", f"{nr}", exclusive=False)
    look(rig)
    assert len(fields(rig)) == MOST_OPEN
    look(rig)
    assert len(fields(rig)) == MOST_OPEN


def test_another_space_is_another_matter(rig: Rig) -> None:
    rig.store("I use Python.", space="work")
    rig.store("I use Python 3.11.", space="home")
    look(rig)
    assert fields(rig) == ["version"]


def test_every_template_can_be_asked_and_answered() -> None:
    assert {one.schema for one in thing_templates()} >= {"web_framework", "pet", "family", "employer", "journey"}
    for template in thing_templates():
        for field in template.fields:
            assert "{name}" in field.ask
            assert field.predicates or field.words or field.patterns


# ---- old facts (E4.5.4)


def used(rig: Rig, text: str = "The gate code is 4711.", **more: int) -> str:
    made = rig.store(text).memory_id
    change(rig, made, access_count=more.get("times", 10))
    return made


def test_an_aged_frequently_recalled_fact_appears(rig: Rig) -> None:
    code = used(rig)
    later(rig, 89)
    assert look(rig).deeds == []
    later(rig, 2)
    assert look(rig).counts["asked"] == 1
    ((_, kind),) = items(rig)
    assert kind == "stale"
    assert rig.rows("SELECT kind, memory_id FROM gaps") == [("stale", code)]


def test_a_fact_that_is_hardly_used_is_not_asked_about(rig: Rig) -> None:
    used(rig, times=9)
    later(rig, 400)
    assert look(rig).deeds == []


def test_confirming_refreshes_it_and_it_can_grow_old_again(rig: Rig) -> None:
    code = used(rig)
    later(rig, 91)
    look(rig)
    decide(rig, items(rig)[0][0], Action.SUPERSEDE)
    assert look(rig).counts["answered"] == 1
    assert items(rig) == []
    later(rig, 60)
    assert look(rig).deeds == []
    later(rig, 31)
    assert look(rig).counts["asked"] == 1
    assert rig.get(code).status.value == "active"


def test_rejecting_archives_it(rig: Rig) -> None:
    code = used(rig)
    later(rig, 91)
    look(rig)
    decide(rig, items(rig)[0][0], Action.REJECT)
    look(rig)
    assert rig.get(code).status.value == "archived"
    assert rig.rows("SELECT state FROM gaps") == [("answered",)]


def test_a_confirmation_elsewhere_closes_the_item_with_a_note(rig: Rig) -> None:
    code = used(rig)
    later(rig, 91)
    look(rig)
    rig.engine.memories.confirm(code, OWNER_ACTOR).result(20)
    look(rig)
    assert rig.rows("SELECT state, note FROM conflicts") == [("moot", "answered")]


# ---- contradictions (E4.5.3)


def test_an_open_contradiction_of_alike_trust_refers_to_its_item(rig: Rig) -> None:
    have, came = rig.store("The shop opens at nine.").memory_id, rig.store("The shop opens at ten.").memory_id
    about = item(rig, came, have)
    look(rig)
    assert rig.rows("SELECT kind, memory_id, other_id FROM gaps") == [("contradiction", came, have)]
    assert items(rig) == [(about, "contradiction")]
    decide(rig, about, Action.KEEP_BOTH)
    assert look(rig).counts["answered"] == 1
    assert rig.rows(OPEN) == []


def test_a_contradiction_of_unlike_trust_is_no_question(rig: Rig) -> None:
    have, came = rig.store("The shop opens at nine.").memory_id, rig.store("The shop opens at ten.").memory_id
    item(rig, came, have)
    change(rig, came, trust=0.5, confidence=0.5)
    assert look(rig).deeds == []


# ---- the run


def test_undoing_a_run_takes_its_questions_back(rig: Rig) -> None:
    rig.store("We use React for the web app.")
    have, came = rig.store("The shop opens at nine.").memory_id, rig.store("The shop opens at ten.").memory_id
    item(rig, came, have)
    before = rig.dump()
    ran = look(rig)
    assert ran.step_id is not None
    rig.undo(ran.step_id)
    gone = differences(before, rig.dump())
    gone.pop("vault_state", None)
    assert gone == {}


def test_a_deed_that_no_longer_fits_is_left(rig: Rig) -> None:
    dog = rig.store("I have a dog.").memory_id
    job, ground = GapsJob(), ground_of(rig)
    deeds = job.plan(ground)
    rig.forget(dog)

    def carry_out(tx: Tx) -> BatchResult:
        with rig.opened.storage.work.verb(tx, "run", "A run", OWNER_ACTOR) as verb:
            return job.apply_plan(tx, verb, ground, deeds)

    done = rig.write(carry_out)
    assert dict(done.counts) == {"skipped": 1}
    assert fields(rig) == []


def test_a_run_turns_around_what_marks_left_to_it(rig: Rig) -> None:
    tabs = rig.store("Always indent with tabs", kind=Kind.RULE).memory_id
    client = rig.client("Anna", "read", "write", "all_spaces")
    theirs = rig.store("Never write tests", client, kind=Kind.RULE).memory_id
    other = rig.client("Ben", "read", "write", "all_spaces")
    marks = OutcomeReports(
        rig.opened.storage.make_id, rig.opened.storage.work, rig.opened.search.space, rig.opened.search.add_vectors
    )
    for actor in (client, other, client):
        for rule in (tabs, theirs):
            rig.write(partial(marks.mark_harmful, memory_id=rule, actor=actor, reason="it failed"))
    ran = look(rig)
    assert {deed.action for deed in ran.deeds} == {JobAction.SUPERSEDE}
    assert (ran.counts["inverted"], ran.counts["asked"]) == (1, 1)
    assert rig.get(theirs).text == "ANTI-PATTERN: Do NOT Never write tests. This caused problems because: it failed"
    assert rig.get(tabs).text == "Always indent with tabs"
    assert [kind for _, kind in items(rig)] == ["approval"]
    assert look(rig).deeds == []
    done = rule_reports.mark_helpful(rig.opened.storage, rig.opened.search, tabs, client, lambda _: None).result(20)
    assert done.state.proposal is not None
