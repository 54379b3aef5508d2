"""Enrichment: metadata, feeling, entities and mentions of memories that stand; what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_rig import HandClock, Rig, differences, rig_at
from ground_rig import Ran, flow, ground_of

from core.entities import registry
from core.entities.mentions import read_inferred
from core.errors import Code, LociError
from core.lifecycle.enrich import ASKED, MOST_OPEN, VERSION, EnrichJob, renew_annotations
from core.lifecycle.job_support.job_context import StreamJob
from core.llm.prompts import Prompt
from core.types.lifecycle import Inferred
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Kind
from core.types.views import Revision

ENTITIES = "SELECT name, type FROM entities WHERE merged_into_id IS NULL ORDER BY name"
MENTIONS = (
    "SELECT e.name, substr(m.text, n.start_at + 1, n.end_at - n.start_at) FROM mentions n "
    "JOIN memories m ON m.id = n.memory_id JOIN entities e ON e.id = n.entity_id ORDER BY m.n, n.start_at"
)
OPEN = "SELECT id, existing_id, incoming_id, detail FROM conflicts WHERE kind = 'entity_merge' AND state = 'open'"


def enrich(rig: Rig, ask: Callable[[Prompt], str] | None = None) -> Ran:
    return flow(rig, EnrichJob(), ground_of(rig, ask=ask))


def say(rig: Rig, *texts: str, kind: Kind = Kind.EPISODE, **more: Any) -> list[str]:
    return [str(rig.store(text, kind=kind, **more).memory_id) for text in texts]


def told(rig: Rig, memory_id: str) -> Inferred | None:
    return rig.opened.storage.vault.read(lambda rows: read_inferred(rows, memory_id))


def test_what_a_text_holds_is_read_off_it(rig: Rig) -> None:
    (one,) = say(
        rig, "We moved auth from src/auth.ts to Rust on 3 May 2024, see https://ex.org/a. It works perfectly!!"
    )
    assert isinstance(EnrichJob(), StreamJob)
    ran = enrich(rig)
    assert (ran.counts["read"], ran.step_id) == (1, None)
    found = told(rig, one)
    assert found is not None
    assert (found.technologies, found.paths, found.urls) == (("Rust",), ("src/auth.ts",), ("https://ex.org/a",))
    assert (found.dates, found.language, found.made_by) == (("2024-05-03",), "TypeScript", "rules")
    assert found.valence == pytest.approx(0.15)
    assert found.arousal == pytest.approx(0.15 * 0.2)


def test_a_second_run_finds_nothing_to_do_and_changes_nothing(rig: Rig) -> None:
    say(rig, "My sister Rosa lives in Porto.", "Rosa called. We met Bram at noon.", "I told Bram about it.")
    enrich(rig)
    before = rig.dump()
    assert not enrich(rig).counts
    assert differences(before, rig.dump()) == {}
    assert rig.opened.storage.vault.read(lambda rows: EnrichJob().count_backlog(rows, ground_of(rig))) == 0


def test_a_vault_without_names_gets_no_entity(rig: Rig) -> None:
    say(
        rig, "The meeting is on Monday and the report is due in March.", "I like tea. Tea is good in the morning.",
        "Please remember to buy milk, bread and English mustard.", "- Buy milk\n- Call the plumber\n\nWill do.",
        "Great news! The kitchen is painted. Thanks for the help, Mum.",
        "Das Haus hat einen Garten und die Katze ist im Garten.",
        "THIS IS NOT GOOD AND I AM NOT HAPPY", "Meeting Notes And Other Things\nThe garden needs water.",
        "The garden needs water again, and the Garden Centre is closed.",
    )  # fmt: skip
    assert enrich(rig).counts["entities"] == 0
    assert rig.rows("SELECT name FROM entities") == []


def test_a_cue_makes_an_entity_at_once_and_two_namings_make_one(rig: Rig) -> None:
    say(
        rig,
        "Yesterday we met Priya.",
        "My sister Rosa is here.",
        "I work at Harbour Ltd now.",
        "Then Oskar came along.",
    )
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Harbour Ltd", "organization"), ("Rosa", "person")]
    say(rig, "We had lunch with Priya again.")
    enrich(rig)
    assert rig.rows(ENTITIES)[1] == ("Priya", "person")
    # Who named her first has the mention now too.
    assert [name for name, _ in rig.rows(MENTIONS)] == ["Priya", "Rosa", "Harbour Ltd", "Priya"]
    assert all(name == quote for name, quote in rig.rows(MENTIONS))


def test_a_word_that_is_written_small_as_often_is_no_name(rig: Rig) -> None:
    say(
        rig,
        "We met at the Harbour.",
        "The harbour is cold.",
        "Boats leave the harbour.",
        "I love the Harbour at night.",
    )
    enrich(rig)
    assert rig.rows(ENTITIES) == []


def test_a_type_changes_when_later_places_outweigh_it(rig: Rig) -> None:
    say(rig, "I asked Quern about it.", "We went back to Quern.")
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Quern", "place")]
    say(rig, "My brother Quern is tired.")
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Quern", "person")]
    say(rig, "She lives in Quern.")
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Quern", "person")], "one that leans does not outweigh what is told"


def test_no_text_makes_something_else_of_who_speaks(rig: Rig) -> None:
    rig.bring([{"author": "Winibald", "text": "the kettle is on", "session": "s1", "ref": "1"}])
    enrich(rig)
    say(rig, "We have a dog called Winibald.", "Our cat Winibald sleeps.")
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Winibald", "person")]


def test_a_name_that_holds_an_owner_is_one_and_is_mentioned(rig: Rig) -> None:
    say(rig, "We live in Cooper's Lock.", "The mill at Cooper's Lock is old.")
    enrich(rig)
    assert rig.rows(ENTITIES) == [("Cooper's Lock", "place")]
    assert rig.rows(MENTIONS) == [("Cooper's Lock", "Cooper's Lock")] * 2


def test_a_name_of_one_space_is_none_of_another(rig: Rig) -> None:
    say(rig, "My sister Rosa is here.", space="one")
    say(rig, "It was late when Rosa called.", space="two")
    enrich(rig)
    assert rig.rows("SELECT s.name FROM entities e JOIN spaces s ON s.id = e.space_id") == [("one",)]
    assert len(rig.rows(MENTIONS)) == 1


def test_spellings_of_a_technology_are_names_of_one_entity_and_recall_finds_either(rig: Rig) -> None:
    say(
        rig, "The backup of postgres runs at night.", "We chose PostgreSQL for the archive.", "Something else entirely."
    )
    enrich(rig)
    assert rig.rows(ENTITIES) == [("PostgreSQL", "technology")]
    assert rig.rows("SELECT alias_key FROM entity_aliases ORDER BY 1") == [("postgres",), ("postgresql",)]
    assert len(rig.found("postgresql backup")) == 2


def test_what_names_the_same_is_reached_over_it(rig: Rig) -> None:
    say(rig, "My cousin Teodoro paints boats.", "It rains, says Teodoro.")
    enrich(rig)
    trace = rig.recall("who paints boats")
    assert {item.memory.text for item in trace.items} >= {"My cousin Teodoro paints boats."}
    assert rig.value("SELECT count(DISTINCT memory_id) FROM mentions") == 2


def test_nothing_is_kept_of_a_memory_that_is_not_in_the_clear(rig: Rig) -> None:
    one, two = say(rig, "My sister Rosa uses Rust.", "My brother Otto is in /etc/hosts.")
    enrich(rig)
    rig.write(lambda tx: tx.update("memories", {"id": one}, {"security_tier": "confidential"}))
    rig.write(lambda tx: tx.update("memories", {"id": two}, {"security_tier": "sensitive"}))
    assert told(rig, one) is None
    assert enrich(rig).counts["hidden"] == 2
    assert rig.rows("SELECT * FROM inferred") == rig.rows("SELECT * FROM mentions") == rig.rows(ENTITIES) == []
    say(rig, "Plain words.")
    enrich(rig)
    assert rig.value("SELECT count(*) FROM inferred") == 1


def test_a_text_that_changes_is_read_again(rig: Rig) -> None:
    (one,) = say(rig, "My sister Rosa uses Docker.", kind=Kind.FACT)
    enrich(rig)
    rig.engine.library.revise_memories([one], Revision(text="My brother Otto uses nothing.")).result(30)
    enrich(rig)
    new = rig.value("SELECT id FROM memories WHERE status = 'active'")
    found = told(rig, new)
    assert found is not None
    assert [entity.name for entity in found.entities] == ["Otto"]
    assert found.technologies == ()


def test_a_memory_that_moves_to_another_space_takes_no_entity_along(rig: Rig) -> None:
    (one,) = say(rig, "My sister Rosa is here.", space="one")
    enrich(rig)
    report = rig.engine.library.revise_memories([one], Revision(space="two")).result(30)
    assert report.changed == 1
    assert rig.rows(ENTITIES) == []
    enrich(rig)
    assert rig.rows("SELECT s.name FROM entities e JOIN spaces s ON s.id = e.space_id") == [("two",)]
    rig.undo()
    assert rig.value("SELECT s.name FROM memories m JOIN spaces s ON s.id = m.space_id WHERE m.id = ?", one) == "one"
    enrich(rig)
    assert rig.rows("SELECT s.name FROM entities e JOIN spaces s ON s.id = e.space_id") == [("one",)]


def test_taking_the_storing_back_leaves_nothing(rig: Rig) -> None:
    empty = rig.dump()
    say(rig, "My sister Rosa Castellanos uses Rust in src/a.rs, and her old friend Rosa does too.")
    enrich(rig)
    assert rig.value("SELECT count(*) FROM mentions") > 0
    rig.undo()
    assert differences(empty, rig.dump()).keys() <= {"spaces", "memory_fts_data", "jobs"}
    assert rig.rows("SELECT * FROM inferred") == rig.rows("SELECT * FROM mentions") == rig.rows(ENTITIES) == []


def test_what_a_person_made_stays_when_nothing_names_it(rig: Rig) -> None:
    (one,) = say(rig, "My sister Rosa is here.")
    home = rig.value("SELECT space_id FROM memories")
    rig.write(lambda tx: registry.make_entity(tx, rig.opened.storage.make_id, home, "Otto", "person", "owner"))
    enrich(rig)
    rig.undo()
    assert rig.rows(ENTITIES) == [("Otto", "person")]
    assert told(rig, one) is None


def test_a_name_within_a_longer_one_is_asked_about_joined_and_comes_apart_again(rig: Rig) -> None:
    say(rig, "My sister Rosa Castellanos lives in Porto.", "My friend Rosa plays the cello.")
    enrich(rig)
    (item,) = rig.rows(OPEN)
    keep, other = json.loads(item[3])["entities"]
    assert rig.value("SELECT name FROM entities WHERE id = ?", keep) == "Rosa Castellanos"
    before = rig.dump()
    rig.engine.conflicts.resolve(item[0], Decision(Action.SUPERSEDE), OWNER_ACTOR).result(30)
    assert rig.value("SELECT merged_into_id FROM entities WHERE id = ?", other) == keep
    assert rig.rows("SELECT DISTINCT entity_id FROM mentions WHERE entity_id IN (?, ?)", keep, other) == [(keep,)]
    assert rig.rows("SELECT alias_key FROM entity_aliases WHERE entity_id = ? ORDER BY 1", keep) == [
        ("rosa",), ("rosa castellanos",)
    ]  # fmt: skip
    assert any("cello" in text for text in rig.found("what does Rosa Castellanos play"))
    rig.undo()
    gone = differences(before, rig.dump())
    assert gone.keys() <= {"inferred"}  # read anew by the next run, so that names stand where they stood
    enrich(rig)
    assert differences(before, rig.dump()).keys() <= {"inferred"}
    assert [row[0] for row in rig.rows(OPEN)] == [item[0]]


def test_kept_apart_once_they_are_never_asked_about_again(rig: Rig) -> None:
    say(rig, "My sister Rosa Castellanos lives in Porto.", "My friend Rosa plays the cello.")
    enrich(rig)
    (item,) = rig.rows(OPEN)
    rig.engine.conflicts.resolve(item[0], Decision(Action.REJECT), OWNER_ACTOR).result(30)
    say(rig, "My boss Rosa Castellanos called.", "My aunt Helga came.")
    enrich(rig)
    assert rig.rows(OPEN) == []


@pytest.mark.slow
def test_no_more_than_so_many_questions_are_open(rig: Rig) -> None:
    names = [
        f"{first}{last}"
        for first in ("Bel", "Dor", "Fin", "Gal", "Hul", "Jor")
        for last in ("amo", "iko", "etta", "undo")
    ]
    for name in names:
        say(rig, f"My friend {name} Castellanos{name} sings.", f"My cousin {name} dances.")
    enrich(rig)
    assert rig.value("SELECT count(*) FROM conflicts WHERE kind = 'entity_merge'") == MOST_OPEN


def test_a_question_about_a_name_that_is_gone_closes_itself(rig: Rig) -> None:
    say(rig, "My sister Rosa Castellanos lives in Porto.", "My friend Rosa plays the cello.")
    enrich(rig)
    rig.undo()
    say(rig, "My aunt Helga came.")
    enrich(rig)
    assert rig.rows(OPEN) == []


def test_a_model_is_believed_in_what_the_text_says(rig: Rig) -> None:
    say(rig, "At last xenia and Xenia Vale met on 3 May 2024; what a day.", importance=0.9)
    asked: list[Prompt] = []

    def ask(prompt: Prompt) -> str:
        asked.append(prompt)
        people, dates = ["Xenia Vale", "Nobody"], ["3 May 2024", "4 June 2025"]
        return json.dumps({"people": people, "dates": dates, "topics": ["travel", "nonsense"], "sentiment": 0.5})

    enrich(rig, ask)
    assert len(asked) == 1
    found = told(rig, rig.value("SELECT id FROM memories"))
    assert found is not None
    assert [(one.name, one.type) for one in found.entities] == [("Xenia Vale", "person")]
    assert (found.dates, found.topics, found.valence, found.made_by) == (("2024-05-03",), ("travel",), 0.5, "model")
    enrich(rig, ask)
    assert len(asked) == 1


def test_a_model_that_fails_or_talks_nonsense_changes_nothing_that_rules_read(rig: Rig) -> None:
    say(rig, "We use Docker.", "We use Redis.")

    def fails(_prompt: Prompt) -> str:
        raise LociError(Code.MODEL_SERVER_FAILED, "away")

    enrich(rig, fails)
    assert rig.rows("SELECT DISTINCT made_by FROM inferred") == [("rules",)]
    enrich(rig, lambda _prompt: "Sure! Here you go.")
    assert [json.loads(body)["technologies"] for (body,) in rig.rows("SELECT body FROM inferred ORDER BY body")] == [
        ["Docker"], ["Redis"]
    ]  # fmt: skip


def test_a_model_is_asked_no_more_than_so_often_the_most_important_first(rig: Rig) -> None:
    for number in range(ASKED + 3):
        say(rig, f"Note number {number}.", importance=number / 100)
    asked: list[str] = []

    def ask(prompt: Prompt) -> str:
        asked.append(prompt.user)
        return json.dumps({"people": [], "dates": [], "topics": [], "sentiment": 0})

    enrich(rig, ask)
    assert len(asked) == ASKED
    assert f"number {ASKED + 2}." in asked[0]


def test_what_older_rules_read_is_read_again_and_missing_tiers_are_written(rig: Rig) -> None:
    (one,) = say(rig, "We painted the kitchen green. It took two weekends. The children helped with the doors.")
    rig.write(lambda tx: tx.run("DELETE FROM tiers"))
    enrich(rig)
    assert rig.value("SELECT count(*) FROM tiers WHERE memory_id = ?", one) > 0
    rig.write(lambda tx: tx.run("UPDATE inferred SET version = ?", (VERSION - 1,)))
    assert enrich(rig).counts["read"] == 1


def test_one_memory_is_read_anew_at_once(rig: Rig) -> None:
    (one,) = say(rig, "My sister Rosa uses Docker.")
    assert rig.write(lambda tx: renew_annotations(tx, rig.opened.storage.make_id, [one, "nobody"])) == 1
    found = told(rig, one)
    assert found is not None
    assert (found.technologies, [entity.name for entity in found.entities]) == (("Docker",), ["Rosa"])


def test_episodes_get_no_claims_here(rig: Rig) -> None:
    say(rig, "I live in Porto.")
    enrich(rig)
    assert rig.value("SELECT count(*) FROM claims") == 0


@pytest.mark.slow
def test_batches_go_on_where_the_last_one_ended(rig: Rig) -> None:
    rows = [
        {"text": f"My friend Nadia{chr(97 + n % 26)} wrote number {n}.", "author": "user", "ref": str(n)}
        for n in range(450)
    ]
    rig.bring(rows)
    job, ground = EnrichJob(), ground_of(rig)
    first = job.prepare(ground, {})
    assert first is not None
    done = rig.write(lambda tx: job.write(tx, None, ground, first))
    assert (done.done, done.is_last) == (200, False)
    # A crash here: the next run takes what is left.
    assert enrich(rig).counts["read"] == 250
    assert rig.value("SELECT count(*) FROM inferred") == 450


def test_the_clock_tells_when_it_was_read(tmp_path: Path) -> None:
    clock = HandClock(1_800_000_000_000)
    with rig_at(tmp_path / "later", clock=clock) as rig:
        (one,) = say(rig, "Plain words.")
        enrich(rig)
        found = told(rig, one)
        assert found is not None
        assert found.at == 1_800_000_000_000
