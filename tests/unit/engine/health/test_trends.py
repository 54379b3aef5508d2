"""Trends: how many memories there were by each day, and how long recalls took in each period."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.engine.health import read_trends, status_glance
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
    assert 0 <= now - growth[-1][0] < DAY_MS
    pass_time(rig, 60_000)
    assert trends(rig).growth == growth  # nothing moves before the day is over
    pass_time(rig, 2 * DAY_MS)
    later = trends(rig).growth
    assert [count for _, count in later] == [2, 4, 4]
    assert 0 <= rig.clock.now_ms() - later[-1][0] < DAY_MS
    assert [at for at, _ in later] == sorted({at for at, _ in later})


@pytest.mark.parametrize("name", ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu"])
def test_a_day_is_one_of_the_zone_and_is_named_by_its_own_beginning(rig: Rig, name: str) -> None:
    zone = ZoneInfo(name)
    now = datetime.fromtimestamp(rig.clock.now_ms() / 1000, zone)
    late = datetime(now.year, now.month, now.day, 23, 59, tzinfo=zone)
    pass_time(rig, round((late - now).total_seconds() * 1000))
    rig.store("Quill closes the weir.")
    pass_time(rig, 2 * 60_000)
    rig.store("The shed is green.")
    for nr in range(5):
        receipt(rig, nr, int(late.timestamp()) * 1000 + nr * DAY_MS, 10.0)
    found = rig.opened.storage.vault.read(lambda rows: read_trends(rows, rig.clock.now_ms(), zone))
    first, second = (datetime.fromtimestamp(at / 1000, zone) for at, _ in found.growth)
    assert (first.date(), second.date()) == (late.date(), late.date() + timedelta(days=1))
    assert {(one.hour, one.minute) for one in (first, second)} == {(0, 0)}
    assert [count for _, count in found.growth] == [1, 2]
    days = [datetime.fromtimestamp(one.at / 1000, zone).date() for one in found.latency]
    assert days == [late.date() + timedelta(days=nr) for nr in range(5)]


def test_its_last_count_is_the_total_of_the_status(rig: Rig) -> None:
    for text in ("Quill closes the weir.", "The shed is green.", "Jo lent a ladder."):
        rig.store(text)
    rig.forget(rig.store("Quinces are ripe.").memory_id)
    glance = rig.opened.storage.vault.read(lambda rows: status_glance(rig.opened, rows))
    assert trends(rig).growth[-1][1] == glance.values["memories"]["total"]
    assert sum(glance.values["memories"]["by_status"].values()) == glance.values["memories"]["total"]


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
    assert (first.at, first.recalls, first.p50_ms) == (begin, 3, 20.0)
    assert 20.0 < first.p95_ms <= 30.0
    assert (second.at, second.recalls, second.p50_ms, second.p95_ms) == (
        begin + 5 * HOUR_MS,
        1,
        80.0,
        80.0,
    )


def test_latency_is_told_by_the_day_where_there_are_more(rig: Rig) -> None:
    begin = rig.clock.now_ms() // DAY_MS * DAY_MS
    for nr in range(5):
        receipt(rig, nr, begin + nr * DAY_MS + HOUR_MS, 10.0 * (nr + 1))
    periods = trends(rig).latency
    assert [one.at // DAY_MS for one in periods] == sorted({one.at // DAY_MS for one in periods})
    assert all(0 <= begin + nr * DAY_MS + HOUR_MS - one.at < DAY_MS for nr, one in enumerate(periods))
    assert [one.p50_ms for one in periods] == [10.0, 20.0, 30.0, 40.0, 50.0]
