"""The line of a topic: start, additions, reinforcements, corrections; versions; what comes along by its ties."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from engine_rig import refused
from recall_rig import NOW_MS, SPACE, Note, Rig

from core.errors import Code
from core.recall.browse.evolution import check_topic, trace_evolution
from core.recall.vectors import SnapshotVectors
from core.types.values import Kind, Status
from core.types.views import Evolution, Transition

DAY_MS = 86_400_000
START, ADDITION, REINFORCEMENT, CORRECTION = Transition


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def fact(text: str, day: str, status: Status = Status.ACTIVE, **more: object) -> Note:
    return Note(text, Kind.FACT, status, occurred_ms=ms(day), **more)  # type: ignore[arg-type]  # a bag of fields


def edge(rig: Rig, one: str, other: str, kind: str) -> None:
    rig.change(
        "INSERT INTO edges (id, from_id, to_id, type, space_id, weight, made_by, recorded_at) "
        "VALUES (?, ?, ?, ?, 'id-home', 1, 'rules', 0)",
        (f"{one}{other}{kind}", one, other, kind),
    )


def replaced(rig: Rig, old: str, new: str, reason: str = "replaced") -> None:
    rig.change(
        "UPDATE memories SET status = 'superseded', status_reason = ?, superseded_by_id = ?, retired_at = ? "
        "WHERE id = ?",
        (reason, new, NOW_MS, old),
    )
    rig.change(
        "UPDATE memories SET supersedes_id = ?, version = 2, "
        "chain_id = (SELECT chain_id FROM memories WHERE id = ?) WHERE id = ?",
        (old, old, new),
    )


def ask(rig: Rig, topic: str, limit: int = 100) -> Evolution:
    rig.warm()
    stored = SnapshotVectors(rig.rows, rig.index, SPACE, rig.embedder.dims)
    return trace_evolution(rig.rows, stored, topic, rig.embedder.embed_one(topic), limit, NOW_MS)


def told(found: Evolution) -> list[tuple[str, Transition]]:
    return [(event.row.head, event.transition) for event in found.events]


def test_the_example_of_the_plan(rig: Rig) -> None:
    first, second, third = rig.add(
        [
            fact("uses vim", "2026-01-10"),
            fact("uses vim daily", "2026-02-14"),
            fact("switched to Helix", "2026-03-01"),
            fact("likes quinces", "2026-02-01"),
        ]
    )[:3]
    edge(rig, second, first, "supports")
    edge(rig, third, first, "contradicts")
    found = ask(rig, "vim")
    assert told(found) == [
        ("uses vim", START),
        ("uses vim daily", REINFORCEMENT),
        ("switched to Helix", CORRECTION),
    ]
    assert [event.gap_ms for event in found.events] == [None, 35 * DAY_MS, 15 * DAY_MS]
    assert [None if event.about is None else event.about.head for event in found.events] == [
        None,
        "uses vim",
        "uses vim",
    ]
    assert found.events[2].similarity is None  # it stands here for its tie alone


@pytest.mark.parametrize("is_turned", [False, True])
def test_the_direction_of_an_edge_does_not_matter(rig: Rig, is_turned: bool) -> None:
    one, other = rig.add([fact("uses vim", "2026-01-10"), fact("vim is gone", "2026-02-14")])
    edge(rig, *((other, one) if is_turned else (one, other)), "contradicts")
    assert told(ask(rig, "vim"))[1] == ("vim is gone", CORRECTION)


def test_what_was_superseded_is_on_the_line_with_its_end(rig: Rig) -> None:
    old, new = rig.add([fact("the rent is 700", "2026-01-10"), fact("the rent is 800", "2026-05-01")])
    replaced(rig, old, new)
    before, after = ask(rig, "rent").events
    assert (before.row.status, before.until) == (Status.SUPERSEDED, ms("2026-05-01"))
    assert (after.transition, after.until) == (CORRECTION, None)
    assert [(event.version, event.versions) for event in (before, after)] == [(1, 2), (2, 2)]


def test_a_text_that_was_worded_anew_is_one_event(rig: Rig) -> None:
    first, second, third = rig.add(
        [fact("uses vmi", "2026-01-10"), fact("uses vim", "2026-01-10"), fact("vim is gone", "2026-02-01")]
    )
    replaced(rig, first, second, "edited")
    edge(rig, third, first, "contradicts")  # found while the slip of the pen stood
    found = ask(rig, "vim")
    assert told(found) == [("uses vim", START), ("vim is gone", CORRECTION)]
    assert [row.head for row in found.events[0].wordings] == ["uses vmi"]
    assert found.events[1].about == found.events[0].row


def test_two_that_became_one_are_one_event_since_the_first(rig: Rig) -> None:
    one, other, both = rig.add(
        [fact("vim", "2026-01-10"), fact("vim daily", "2026-03-10"), fact("vim, daily", "2026-02-01")]
    )
    for old in (one, other):
        replaced(rig, old, both, "merged")
    (event,) = ask(rig, "vim").events
    assert (event.row.head, event.transition, event.at) == ("vim, daily", START, ms("2026-01-10"))
    assert [row.head for row in event.wordings] == ["vim", "vim daily"]


def test_two_that_back_one_claim_reinforce_and_a_denial_corrects(rig: Rig) -> None:
    ids = rig.add([fact(f"vim {nr}", f"2026-0{nr}-10") for nr in (1, 2, 3)])
    rig.change(
        "INSERT INTO claims (id, space_id, claim_key, subject, subject_key, predicate, value, value_key, exclusive, "
        "extracted_by, recorded_at) VALUES ('c', 'id-home', ?, 'I', 'i', 'uses', 'vim', 'vim', 0, 'rules', 0)",
        (b"k" * 32,),
    )
    for memory_id, stance in zip(ids, ("supporting", "supporting", "contradicting"), strict=True):
        rig.change(
            "INSERT INTO evidence (id, claim_id, memory_id, space_id, quote, start_at, end_at, stance, lineage, "
            "span_hash, method, observed_at, recorded_at) "
            "VALUES (?, 'c', ?, 'id-home', 'vim', 0, 3, ?, ?, ?, 'rules', 0, 0)",
            (f"e{memory_id}", memory_id, stance, memory_id, b"h" * 32),
        )
    assert [transition for _, transition in told(ask(rig, "vim"))] == [START, REINFORCEMENT, CORRECTION]


def test_held_back_refused_and_forgotten_memories_are_not_on_the_line(rig: Rig) -> None:
    ids = rig.add(
        [
            fact("vim stands", "2026-01-10"),
            fact("vim waits", "2026-01-11", Status.QUARANTINED),
            fact("vim forgotten", "2026-01-12", Status.DELETED),
            fact("vim refused", "2026-01-13", Status.ARCHIVED),
            fact("vim faded", "2026-01-14", Status.ARCHIVED),
        ]
    )
    rig.change("UPDATE memories SET status_reason = 'rejected' WHERE id = ?", (ids[3],))
    edge(rig, ids[1], ids[0], "contradicts")
    assert told(ask(rig, "vim")) == [("vim stands", START), ("vim faded", ADDITION)]


def test_small_talk_begins_no_line_and_takes_no_place_on_it(rig: Rig) -> None:
    talk, story, *later = rig.add(
        [
            Note("vim", Kind.EPISODE, occurred_ms=ms("2026-01-10")),
            Note("uses vim daily", Kind.EPISODE, occurred_ms=ms("2026-01-11")),
            fact("uses vim at work", "2026-01-12"),
        ]
    )
    mark = "INSERT INTO readings (memory_id, version, content_hash, small_talk, at) VALUES (?, '1', zeroblob(32), ?, 1)"
    for memory_id, is_small in ((talk, 1), (story, 0)):
        rig.change(mark, (memory_id, is_small))
    assert told(ask(rig, "vim")) == [("uses vim daily", START), ("uses vim at work", ADDITION)]
    assert told(ask(rig, "vim", limit=1)) == [("uses vim at work", START)]  # small talk would be nearer
    rig.change("UPDATE memories SET status = 'quarantined' WHERE id IN (?, ?)", (story, *later))
    assert told(ask(rig, "vim")) == [("vim", START)]  # there is nothing else


def test_what_is_far_from_the_topic_is_not_on_the_line_unless_it_has_its_words(rig: Rig) -> None:
    long = "quinces apples pears plums cherries medlars sloes figs dates grapes lemons limes kiwis vim"
    rig.add([fact(long, "2026-01-10"), fact(long.replace("vim", "nuts"), "2026-01-11")])
    found = ask(rig, "vim")
    assert told(found) == [(long, START)]
    assert found.events[0].similarity is not None


def test_what_is_only_a_little_like_the_topic_gives_way_to_what_is_about_it(rig: Rig) -> None:
    near, far = "quinces in jars", "quinces apples pears plums sloes jars"
    rig.add([fact(near, "2026-01-10"), fact(far, "2026-01-11")])
    assert told(ask(rig, "quinces jars in")) == [(near, START), (far, ADDITION)]  # it holds the words that tell
    assert told(ask(rig, "jars in quinces cellar")) == [(near, START)]


def test_the_nearest_are_kept_where_there_are_too_many(rig: Rig) -> None:
    rig.add([fact(" ".join(["vim", *"abcdef"[:nr]]), f"2026-01-{nr + 10}") for nr in range(6)])
    found = ask(rig, "vim", limit=2)
    assert len(found.events) == 2
    assert found.left_out == 4
    assert [event.row.head for event in found.events] == ["vim", "vim a"]


def test_nothing_is_found_for_what_nobody_spoke_of(rig: Rig) -> None:
    assert ask(rig, "vim").events == ()
    rig.add([fact("likes quinces", "2026-01-10", embed=False)])
    assert ask(rig, "the of and").events == ()


def test_without_a_vector_words_still_find(rig: Rig) -> None:
    rig.add([fact("uses vim", "2026-01-10", embed=False)])
    rig.warm()
    stored = SnapshotVectors(rig.rows, rig.index, SPACE, rig.embedder.dims)
    found = trace_evolution(rig.rows, stored, "vim", None, 10, NOW_MS)
    assert told(found) == [("uses vim", START)]


def test_a_topic_has_words_and_the_line_a_length(rig: Rig) -> None:
    assert check_topic("  vim ") == "vim"
    for topic in ("", "   ", "a\0b", "x" * 2_001):
        with refused(Code.INVALID_INPUT):
            check_topic(topic)
    with refused(Code.INVALID_INPUT):
        ask(rig, "vim", limit=0)
