"""The sample palace: what is open on its desk, what closed by itself, and that it is the same each time.

And what a model is given of it when one stored fact answers: that fact, and little besides. The desk comes first: it
looks at the sample as it was made, and asking leaves traces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from statistics import mean

import pytest

from app.sample.sample import fill_sample, sample_engine
from core.engine.facade import Engine
from core.security.passphrase import KdfCost
from core.types.recall import Context, ContextQuery
from core.types.requests import RecallQuery
from core.types.reviews import Queue, QueueRequest
from core.types.values import OWNER_ACTOR

DEEDS = json.loads((files("resources") / "demo" / "deeds.json").read_text("utf-8"))
QUESTIONS = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "context" / "sample_questions.json").read_text("utf-8")
)["questions"]
UNCUT = 27.6
"""Memories a question of the set was given on average before anything was left out behind the first hit; 85 % of the
contexts held the answer."""

pytestmark = [
    pytest.mark.slow,  # the sample takes half a minute to fill
    pytest.mark.keeps_threads("the sample is open for the whole module"),
]


@pytest.fixture(scope="module")
def sample() -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KdfCost, "standard", KdfCost.lowest)
        stack = ExitStack()
        engine, clock, _ = stack.enter_context(sample_engine())
    with stack:
        fill_sample(engine, clock)
        yield engine


@pytest.fixture(scope="module")
def queue(sample: Engine) -> Queue:
    return sample.conflicts.list_queue(QueueRequest()).result()


def test_about_seven_questions_of_several_kinds_are_open(queue: Queue) -> None:
    assert 5 <= len(queue.rows) <= 9
    assert queue.total == len(queue.rows)
    assert {"contradiction", "proposal", "quarantine", "stale"} <= set(queue.counts)


def test_the_first_one_is_about_what_the_owner_said_and_assistants_were_given(sample: Engine, queue: Queue) -> None:
    first = sample.conflicts.read_item(queue.rows[0].id).result()
    assert first.kind == "contradiction"
    assert first.question == "When is the deadline of Nine Bridges: 4 December 2026 or 27 November 2026?"
    assert first.existing is not None
    assert first.existing.owners_word
    assert first.existing.recalled >= 3
    assert first.existing.marks
    assert first.incoming.marks
    assert first.follows


def test_every_question_that_is_shown_can_be_decided(sample: Engine, queue: Queue) -> None:
    items = [sample.conflicts.read_item(row.id).result() for row in queue.rows]
    assert [item.question for item in items if item.state != "open" or not item.actions] == []


def test_some_closed_by_themselves_this_week(sample: Engine, queue: Queue) -> None:
    alone = [row for row in sample.conflicts.list_closed(7).result() if not row.resolution]
    assert len(alone) == queue.closed >= 2
    assert all(row.note for row in alone)


def test_what_reads_like_an_instruction_waits_and_is_given_to_nobody(sample: Engine, queue: Queue) -> None:
    held = [row for row in queue.rows if row.client == "Recipe clipper"]
    assert len(held) == 1
    item = sample.conflicts.read_item(held[0].id).result()
    assert item.incoming.memory.status.value == "quarantined"
    assert item.incoming.recalled == 0


def test_the_work_read_the_names_and_what_it_asked_is_answered(sample: Engine, queue: Queue) -> None:
    """The page of named things shows something; two names were one person, two others were not."""
    named = sample.entities.list_entities().result()
    assert named.total == named.known > 60
    assert {"person", "place"} <= set(named.by_type)
    owner, first = named.lines[:2]
    assert (owner.name, owner.type) == ("You", "person"), "who speaks most"
    assert first.mentions >= 10
    assert sample.entities.read_detail(first.id).result().places
    merged = [line for line in named.lines if line.name == "Walter Plumtree"]
    assert [line.others for line in merged] == [("Walter",)]
    assert merged[0].mentions >= 4, "those of both; statements name him too"
    assert [line.name for line in named.lines if line.name.startswith("Ostlebridge")] == [
        "Ostlebridge",
        "Ostlebridge Book Fair",
    ]
    asked = {row.title for row in queue.rows if row.kind == "entity_merge"}
    assert "Katrin and Katrin Marrowby" in asked or "Katrin Marrowby and Katrin" in asked, asked


def test_the_work_read_more_of_the_texts_than_was_written_in_them(sample: Engine) -> None:
    """What the inspector shows beside a text: read by the work, not by the store."""
    *later, ran = (row for row in sample.jobs.read_state().result().rows if row.finished_at is not None)
    assert (ran.type.value, ran.state.value, ran.progress) == ("enrich", "done", ran.total)
    assert ran.report["read"] > 400
    assert {row.type.value for row in later} == {"distill", "enrich"}
    assert sample.entities.list_entities().result().unread == 0, "what was taken back is read again too"


def test_something_is_known_of_the_owner_and_of_others(sample: Engine) -> None:
    """The page of a person says what was said of him, not only where his name stands."""
    lines = sample.entities.list_entities().result().lines
    known = {one.name for one in lines[:40] if sample.entities.read_detail(one.id).result().topics}
    assert "You" in known
    assert len(known) >= 4


def test_the_newest_deed_can_be_taken_back_with_one_key(sample: Engine) -> None:
    """No work of the machine stands before what the owner did last."""
    step = sample.history.next_undo().result()
    assert step is not None
    assert step.actor == "owner"


def test_the_deeds_are_in_the_order_in_which_they_were_done() -> None:
    days = [deed["on"] for deed in DEEDS]
    assert days == sorted(days)


def given(sample: Engine, query: str) -> Context:
    return sample.memories.build_context(ContextQuery(query), OWNER_ACTOR).result(30).context


def holds(context: Context, parts: list[str]) -> bool:
    return any(part in context.text.replace("&apos;", "'") for part in parts)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("Where does Otti live?", "Otti lives in Ashholt"),
        ("What is the deadline for Nine Bridges?", "4 December 2026"),
        ("What does an evening at the Brickworks cost?", "£9 an evening"),
        ("Who built the bicycle Persimmon?", "bicycle Kit built"),
        ("When is the baby of Kit due?", "middle of February 2027"),
    ],
)
def test_a_clear_first_hit_comes_with_little_besides(sample: Engine, query: str, part: str) -> None:
    context = given(sample, query)
    assert holds(context, [part])
    assert len(context.included) <= 3
    assert {one.reason for one in context.excluded} >= {"behind"}


def test_contexts_of_one_fact_shrink_to_a_third_and_hold_the_answer(sample: Engine) -> None:
    contexts = [(given(sample, one["query"]), one["expect"]) for one in QUESTIONS]
    assert mean(len(context.included) for context, _ in contexts) <= UNCUT / 3
    assert sum(holds(context, expected) for context, expected in contexts) >= 0.95 * len(contexts)


def test_a_question_for_several_things_is_given_more(sample: Engine) -> None:
    found = given(sample, "What are all the rules of the tool shed?")
    assert len(found.included) > 5


def test_a_search_shows_what_a_context_leaves_out(sample: Engine) -> None:
    query = "Where does Otti live?"
    left = {one.id for one in given(sample, query).excluded if one.reason == "behind"}
    items = sample.memories.recall(RecallQuery(query, limit=50), OWNER_ACTOR).result(30).result.items
    assert left
    assert left <= {item.memory.id for item in items}
