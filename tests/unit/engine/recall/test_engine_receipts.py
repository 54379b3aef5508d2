"""Receipts as the person reads them: pages, the whole trace, who was given what, and how recall did lately."""

from __future__ import annotations

import json
from typing import cast

import pytest
from engine_rig import MARKER, START_MS, HandClock, Rig, error_of

from core.engine.recall.recall_trials import RecallTrials
from core.engine.recall.recalls import RecallReply
from core.errors import Code
from core.recall.receipt_codec import metrics_to_json
from core.score.ranking import replay_answer, replay_ranking
from core.types.recall import Metrics
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Actor

BEES, COFFEE = "Ada keeps bees in the garden", "Ada drinks coffee in the garden"
QUERY = "who keeps bees in the garden?"


def ask(rig: Rig, query: str = QUERY, actor: Actor = OWNER_ACTOR, **more: object) -> RecallReply:
    return rig.engine.memories.recall(RecallQuery(query, **more), actor).result(30)  # type: ignore[arg-type]  # by name


def put(rig: Rig, *relevancies: float | None) -> None:
    """Receipts with these mean relevancies, oldest first; None is a recall without an answer."""
    rows = []
    for nr, value in enumerate(relevancies):
        metrics = Metrics(value or 0.0, 0.9, 0.8, 5, 0 if value is None else 3, 30, float(nr + 1), "rrf", 0.5)
        items = 0 if value is None else 3
        rows.append((f"r{nr:04d}", START_MS + nr, items, json.dumps(metrics_to_json(metrics))))
    rig.write(
        lambda tx: tx.run_many(
            "INSERT INTO receipts (id, at, actor, verb, query, items, metrics, body, expires_at) "
            "VALUES (?, ?, 'owner', 'recall', 'q', ?, ?, '{}', 9999999999999)",
            rows,
        )
    )


def test_a_receipt_holds_the_whole_recall_without_its_words(rig: Rig, lab: RecallTrials) -> None:
    first = rig.store(f"{BEES} {MARKER}").memory_id
    rig.store(COFFEE)
    reply = ask(rig, f"{QUERY} {MARKER}")
    receipt = lab.read_receipt(reply.receipt_id).result(30)  # of the last second: it is written on the way
    assert receipt.given == tuple(item.memory.id for item in reply.result.items)
    assert receipt.given[0] == first
    assert receipt.trace is not None
    assert replay_ranking(receipt.trace) == replay_ranking(reply.result.trace)
    assert [one for one, _ in replay_answer(receipt.trace)] == [item.memory.id for item in reply.result.items]
    assert receipt.trace.stages == reply.result.trace.stages
    assert (receipt.row.query, receipt.row.items, receipt.row.verb) == (f"{QUERY} {MARKER}", 2, "recall")
    assert (receipt.reason, receipt.strategy, receipt.profile) == (reply.result.reason, "hybrid", "loci")
    assert receipt.row.metrics is not None
    assert receipt.row.metrics.memories_packed == 2
    body = rig.value("SELECT body || metrics FROM receipts")
    assert MARKER not in body + json.dumps(receipt.body)
    assert error_of(lab.read_receipt("gone")).code is Code.NOT_FOUND


def test_metrics_come_with_an_explained_recall_and_into_every_receipt(rig: Rig, lab: RecallTrials) -> None:
    rig.store(BEES)
    assert ask(rig).metrics is None
    reply = ask(rig, explain=True)
    assert reply.metrics is not None
    cosine = reply.result.items[0].ranks["vector"][1]
    assert reply.metrics.average_relevancy == pytest.approx(cosine)
    assert (reply.metrics.ndcg, reply.metrics.tokens_consumed > 0) == (1.0, True)
    assert reply.metrics.search_latency_ms == reply.result.took_ms
    told = lab.read_receipt(reply.receipt_id).result(30).row.metrics
    assert told is not None
    assert told.average_relevancy == pytest.approx(reply.metrics.average_relevancy, abs=1e-6)
    assert [row.metrics is not None for row in lab.list_receipts().result(30).rows] == [True, True]


def test_why_something_was_withheld_stands_in_the_receipt(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    lab.apply_weights({"least_chance": 1.0}).result(30)
    receipt = lab.read_receipt(ask(rig).receipt_id).result(30)
    assert (receipt.given, receipt.profile) == ((), "own")
    assert receipt.withheld == {bees: "below_bar"}
    assert receipt.row.items == 0


def test_pages_newest_first_and_of_one_client(rig: Rig, lab: RecallTrials) -> None:
    rig.store(BEES)
    claude = rig.client("Claude", "read", "all_spaces", session="s1")
    clock = cast("HandClock", rig.clock)
    ids = []
    for actor in (OWNER_ACTOR, claude, OWNER_ACTOR, claude, claude):
        clock.advance(1000)
        ids.append(ask(rig, actor=actor).receipt_id)
    rig.engine.flush_journal()
    first = lab.list_receipts(2).result(30)
    assert [row.id for row in first.rows] == ids[:2:-1]
    assert [(row.actor, row.client, row.session) for row in first.rows] == [("client", "Claude", "s1")] * 2
    rest = lab.list_receipts(10, first.next).result(30)
    assert ([row.id for row in rest.rows], rest.next) == (ids[2::-1], None)
    mine = lab.list_receipts(2, client="Claude").result(30)
    assert [row.id for row in mine.rows] == [ids[4], ids[3]]
    assert [row.id for row in lab.list_receipts(2, mine.next, "Claude").result(30).rows] == [ids[1]]
    for future, code in (
        (lab.list_receipts(0), Code.INVALID_INPUT),
        (lab.list_receipts(501), Code.INVALID_INPUT),
        (lab.list_receipts(5, "gone"), Code.INVALID_INPUT),
        (lab.list_receipts(5, client="nobody"), Code.NOT_FOUND),
    ):
        assert error_of(future).code is code


def test_how_often_a_memory_was_given_and_to_whom_last(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    one = rig.client("Claude", "read", "all_spaces")
    two = rig.client("Codex", "read", "all_spaces", session="you")
    assert (lab.count_disclosures(bees).result(30).count, lab.count_disclosures(bees).result(30).last_at) == (0, None)
    clock = cast("HandClock", rig.clock)
    for actor in (one, one, OWNER_ACTOR, two, one, OWNER_ACTOR):
        clock.advance(1000)
        ask(rig, actor=actor)
        rig.engine.flush_journal()
    found = lab.count_disclosures(bees).result(30)
    assert (found.count, found.to, found.last_at, found.yours) == (4, "Claude", START_MS + 5000, 2)
    assert error_of(lab.count_disclosures("gone")).code is Code.NOT_FOUND


def test_counting_looks_through_no_receipt(rig: Rig, lab: RecallTrials) -> None:
    bees = rig.store(BEES).memory_id
    ask(rig, actor=rig.client("Claude", "read", "all_spaces"))
    rig.engine.flush_journal()
    rig.write(lambda tx: tx.run("DELETE FROM receipts"))
    assert lab.count_disclosures(bees).result(30).count == 1


def test_health_warns_and_clears(rig: Rig, lab: RecallTrials) -> None:
    empty = lab.read_health().result(30)
    assert (empty.answers, empty.average_relevancy, empty.p95_ms, empty.sentence) == (0, None, None, "")
    put(rig, *[0.35] * 9)
    assert not lab.read_health().result(30).is_low  # nine tell nothing yet
    rig.write(lambda tx: tx.run("DELETE FROM receipts"))
    put(rig, *[0.35] * 10, None, None)
    low = lab.read_health().result(30)
    assert (low.is_low, low.model_in_doubt, low.answers, low.recalls) == (True, False, 10, 12)
    assert low.average_relevancy == pytest.approx(0.35)
    assert low.abstained == pytest.approx(2 / 12)
    assert (low.p50_ms, low.p95_ms) == (6.0, 12.0)
    assert [low.ndcg, low.ndcg_before] == pytest.approx([0.9, 0.8])
    assert low.sentence
    rig.write(lambda tx: tx.run("DELETE FROM receipts"))
    put(rig, *[0.35] * 10, *[0.6] * 20)
    assert not lab.read_health().result(30).is_low


def test_ten_poor_answers_in_a_row_put_the_model_in_doubt(rig: Rig, lab: RecallTrials) -> None:
    put(rig, 0.8, *[0.1] * 5, None, *[0.1] * 5)
    now = lab.read_health().result(30)
    assert (now.poor_run, now.model_in_doubt) == (10, True)
    rig.write(lambda tx: tx.run("DELETE FROM receipts"))
    put(rig, *[0.1] * 9, 0.8)
    assert (lab.read_health().result(30).poor_run, lab.read_health().result(30).model_in_doubt) == (0, False)


def test_the_window_and_its_bounds_are_options(rig: Rig, lab: RecallTrials) -> None:
    put(rig, *[0.9] * 20, *[0.5] * 12)
    assert lab.read_health().result(30).answers == 32
    lab.apply_weights({"health_window": 12, "health_low": 0.6}).result(30)
    now = lab.read_health().result(30)
    assert (now.answers, now.is_low) == (12, True)
    assert now.average_relevancy == pytest.approx(0.5)


def test_receipts_of_the_first_version_are_read_too(rig: Rig, lab: RecallTrials) -> None:
    body = json.dumps({"items": [{"id": "m1", "score": 0.5, "ranks": {}}], "near_misses": [], "reason": "Found."})
    rig.write(
        lambda tx: tx.run(
            "INSERT INTO receipts (id, at, actor, verb, query, body, expires_at) "
            "VALUES ('old', 1, 'owner', 'recall', 'q', ?, 9999999999999)",
            (body,),
        )
    )
    receipt = lab.read_receipt("old").result(30)
    assert (receipt.trace, receipt.given, receipt.row.metrics, receipt.reason) == (None, ("m1",), None, "Found.")
    assert lab.read_health().result(30).recalls == 0
