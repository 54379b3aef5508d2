"""Trends: how many memories there were by each day, and how long recalls took in each period."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.engine.health import status_glance
from core.types.lifecycle import Trends

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
METRICS = (
    '{"average_relevancy": 0.5, "ndcg": 0.9, "ndcg_before": 0.9, "candidates_after_filter": 4, "memories_packed": 2,'
    ' "tokens_consumed": 80, "search_latency_ms": %s, "rerank_applied": "mmr", "hybrid_text_weight": 0.5}'
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        yield rig


def trends(rig: Rig) -> Trends:
    return rig.engine.jobs.read_trends().result(30)


def pass_time(rig: Rig, milliseconds: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(milliseconds)


def receipt(rig: Rig, number: int, at: int, took_ms: float | None) -> None:
    row = {
        "id": f"receipt-{number}", "at": at, "actor": "owner", "client_id": None, "session": None, "verb": "recall",
        "query": "garden", "items": 2, "body": "{}", "expires_at": at + DAY_MS,
        "metrics": None if took_ms is None else METRICS % took_ms,
    }  # fmt: skip

    rig.write(lambda tx: tx.insert("receipts", row))


def test_an_empty_vault_has_no_trends(rig: Rig) -> None:
    assert trends(rig) == Trends((), ())


def test_growth_counts_what_there_is_by_the_day_it_was_stored(rig: Rig) -> None:
    rig.store("Quill closes the weir.")
    rig.store("The shed is green.")
    pass_time(rig, 3 * DAY_MS)
    rig.store("Jo lent a ladder.")
    rig.store("Quinces are ripe.")
    now = rig.clock.now_ms()
    growth = trends(rig).growth
    assert [count for _, count in growth] == [2, 4]
    assert growth[-1][0] == now
    assert all(at % DAY_MS == 0 for at, _ in growth[:-1])
    pass_time(rig, 2 * DAY_MS)
    later = trends(rig).growth
    assert [count for _, count in later] == [2, 4, 4]
    assert later[-1][0] == rig.clock.now_ms()
    assert [at for at, _ in later] == sorted({at for at, _ in later})


def test_its_last_count_is_the_total_of_the_status(rig: Rig) -> None:
    for text in ("Quill closes the weir.", "The shed is green.", "Jo lent a ladder."):
        rig.store(text)
    rig.forget(rig.store("Quinces are ripe.").memory_id)
    glance = rig.opened.storage.vault.read(lambda rows: status_glance(rig.opened, rows))
    assert trends(rig).growth[-1][1] == glance.values["memories"]["total"]


def test_a_long_text_is_one_memory(rig: Rig) -> None:
    rig.store(" ".join(f"In paragraph {nr} the harbour master notes the tide and the wind." for nr in range(400)))
    assert rig.value("SELECT count(*) FROM memories") > 1
    assert trends(rig).growth[-1][1] == 1


def test_latency_is_told_by_the_hour_where_there_are_a_few_days(rig: Rig) -> None:
    begin = rig.clock.now_ms() // DAY_MS * DAY_MS
    for nr, took in enumerate((10.0, 20.0, 30.0, None)):
        receipt(rig, nr, begin + nr * 60_000, took)
    receipt(rig, 9, begin + 5 * HOUR_MS, 80.0)
    first, second = trends(rig).latency
    assert (first.at, first.recalls, first.p50_ms) == (begin + HOUR_MS // 2, 3, 20.0)
    assert 20.0 < first.p95_ms <= 30.0
    assert (second.at, second.recalls, second.p50_ms, second.p95_ms) == (
        begin + 5 * HOUR_MS + HOUR_MS // 2,
        1,
        80.0,
        80.0,
    )


def test_latency_is_told_by_the_day_where_there_are_more(rig: Rig) -> None:
    begin = rig.clock.now_ms() // DAY_MS * DAY_MS
    for nr in range(5):
        receipt(rig, nr, begin + nr * DAY_MS + HOUR_MS, 10.0 * (nr + 1))
    periods = trends(rig).latency
    assert [one.at for one in periods] == [begin + nr * DAY_MS + DAY_MS // 2 for nr in range(5)]
    assert [one.p50_ms for one in periods] == [10.0, 20.0, 30.0, 40.0, 50.0]
