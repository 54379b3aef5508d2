"""The desk of the sample palace: what is open, what closed by itself, and that it is the same each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files

import pytest

from app.sample.sample import fill_sample, sample_engine
from core.engine.facade import Engine
from core.types.reviews import Queue, QueueRequest

DEEDS = json.loads((files("resources") / "demo" / "deeds.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def sample() -> Iterator[Engine]:
    with sample_engine() as (engine, clock, _):
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
    assert first.question == "When is the deadline of Nine Bridges?"
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
    assert [(line.mentions, line.others) for line in merged] == [(4, ("Walter",))]
    assert [line.name for line in named.lines if line.name.startswith("Ostlebridge")] == [
        "Ostlebridge",
        "Ostlebridge Book Fair",
    ]
    assert queue.counts.get("entity_merge", 0) == 1, "Katrin may be Katrin Marrowby, whom the notes name in full once"


def test_the_work_read_more_of_the_texts_than_was_written_in_them(sample: Engine) -> None:
    """What the inspector shows beside a text: read by the work, not by the store."""
    (ran,) = (row for row in sample.jobs.read_state().result().rows if row.finished_at is not None)
    assert (ran.type.value, ran.state.value, ran.progress) == ("enrich", "done", ran.total)
    assert ran.report["read"] > 400


def test_the_newest_deed_can_be_taken_back_with_one_key(sample: Engine) -> None:
    """No work of the machine stands before what the owner did last."""
    step = sample.history.next_undo().result()
    assert step is not None
    assert step.actor == "owner"


def test_the_deeds_are_in_the_order_in_which_they_were_done() -> None:
    days = [deed["on"] for deed in DEEDS]
    assert days == sorted(days)
