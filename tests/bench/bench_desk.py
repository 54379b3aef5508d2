"""How fast the conflict desk opens: python tests/bench/bench_desk.py --n 10000.

Not a test: it prints a table. A vault of as many conflicts, two memories and two claims each, some of them recalled,
a tenth no longer a question. Of every row of the queue each action that is offered is then carried out and taken back
at once: how many of them can be decided as they say.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]

from engine_rig import START_MS, Rig, rig_at  # noqa: E402

from core.belief.extract.normal_form import claim_key  # noqa: E402
from core.engine.conflicts import make_resolver, run_review_chores  # noqa: E402
from core.errors import Code, LociError, UserError  # noqa: E402
from core.memory.write import reserve_labels  # noqa: E402
from core.types.reviews import Decision, QueueRequest, ReviewItem  # noqa: E402
from core.types.values import (  # noqa: E402
    OWNER_ACTOR,
    Action,
    When,
)
from core.vault.database.tx import Tx  # noqa: E402

ROUNDS = 15
BATCH = 500
DAY_MS = 86_400_000
TOWNS = ("Graz", "Vienna", "Linz", "Bern", "Rome", "Oslo", "Porto", "Gent", "Lyon", "Riga")
KINDS = ("contradiction", "contradiction", "classification", "quarantine", "proposal")


def rows_of(nr: int, lots: random.Random, make_id: Callable[[], str], space: str, n: int) -> Iterator[tuple[str, Any]]:
    """The rows of one conflict: two memories, two claims with evidence, the item."""
    kind, gone = lots.choice(KINDS), lots.random() < 0.1
    subject = f"Person {nr % 2_000}"
    ids: list[str] = []
    for place, town in enumerate(lots.sample(TOWNS, 2)):
        stands = place == 0
        text = f"{subject} of house {nr} lives in {town}, as far as {'I know' if stands else 'the letter says'}."
        ids.append(make_id())
        status = "active" if stands else "quarantined"
        if gone:
            status = "archived"
        yield "memories", {
            "n": n + place, "id": ids[-1], "kind": "fact", "status": status, "text": text,
            "content_hash": hashlib.sha256(text.encode()).digest(), "space_id": space,
            "source": "user_explicit" if stands else "document", "role": "user", "lineage": "owner",
            "occurred_at": START_MS - nr, "recorded_at": START_MS, "trust": 0.9 if stands else 0.6, "confidence": 0.6,
            "last_confirmed_at": START_MS, "chain_id": ids[-1], "access_count": lots.randrange(40) if stands else 0,
            "read_at": START_MS,
        }  # fmt: skip
        claim_id = make_id()
        said = {"subject": subject, "predicate": "lives_in", "value": town, "polarity": "positive"}
        key = claim_key(space, {**said, "qualifiers": {"nr": nr}})
        yield "claims", {
            "id": claim_id, "space_id": space, "claim_key": key, "subject": subject,
            "subject_key": subject.casefold(), "predicate": "lives_in", "value": town, "value_key": town.casefold(),
            "exclusive": 1, "qualifiers": json.dumps({"nr": nr}), "extracted_by": "rules", "recorded_at": START_MS,
        }  # fmt: skip
        yield "evidence", {
            "id": make_id(), "claim_id": claim_id, "memory_id": ids[-1], "space_id": space, "quote": text,
            "start_at": 0, "end_at": len(text), "span_hash": hashlib.sha256(text.encode()).digest(), "method": "rules",
            "lineage": "owner", "observed_at": START_MS, "recorded_at": START_MS,
        }  # fmt: skip
    yield "conflicts", {
        "id": make_id(), "kind": kind, "existing_id": None if kind == "proposal" else ids[0], "incoming_id": ids[1],
        "space_id": space, "reason": "claims_at_odds", "suggestion": "reject", "confidence": lots.random(),
        "fingerprint": hashlib.sha256(str(nr).encode()).digest(), "opened_at": START_MS - 80 * DAY_MS + nr * 60_000,
    }  # fmt: skip


def fill(rig: Rig, count: int) -> None:
    """Make the conflicts, in batches."""
    lots = random.Random(7)
    space = str(rig.value("SELECT id FROM spaces WHERE name = 'GLOBAL'"))
    for at in range(0, count, BATCH):
        numbers = range(at, min(count, at + BATCH))
        made: dict[str, list[dict[str, Any]]] = {"memories": [], "claims": [], "evidence": [], "conflicts": []}
        for nr in numbers:
            for table, row in rows_of(nr, lots, rig.opened.storage.make_id, space, 2 * nr + 1):
                made[table].append(row)

        def write(tx: Tx, rows: dict[str, list[dict[str, Any]]] = made) -> None:
            reserve_labels(tx, len(rows["memories"]))
            for table, some in rows.items():
                tx.insert_many(table, some)

        rig.write(write)


def timed(work: Callable[[], Any]) -> list[float]:
    """Milliseconds of each round, sorted."""
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        found.append((time.perf_counter() - begun) * 1000)
    return sorted(found)


def report(name: str, times: list[float]) -> None:
    """One line of the table."""
    middle, high = times[len(times) // 2], times[int(len(times) * 0.95)]
    print(f"{name:<34} p50 {middle:7.1f} ms   p95 {high:7.1f} ms")


def applied(rig: Rig, tx: Tx, item: ReviewItem) -> int:
    """How many of the actions that an item offers are carried out; each is taken back at once."""
    vector = rig.opened.search.embedder.embed([f"United of {item.id}."])[0]
    done = 0
    for action in item.actions:
        decision = Decision(action, text=f"United of {item.id}.", begin=When(START_MS), when="in winter")
        try:
            with tx.attempt():
                given = vector if action is Action.MERGE else None
                make_resolver(rig.opened.storage, rig.opened.search).resolve_item(
                    tx, item.id, decision, given, OWNER_ACTOR, None, rig.opened.search.add_vectors
                )
                raise UserError(Code.CANCELLED, "Taken back.")
        except LociError as error:
            done += error.code is Code.CANCELLED
            if error.code is not Code.CANCELLED:
                print(f"  {item.kind} {action.value}: {error}")
    return done


def run(rig: Rig, count: int) -> None:
    """Measure."""
    fill(rig, count)
    desk = rig.engine.conflicts
    first = desk.list_queue().result(60)
    report("queue", timed(lambda: desk.list_queue().result(60)))
    report("first item", timed(lambda: desk.read_item(first.rows[0].id).result(60)))
    report("queue and first item", timed(lambda: desk.read_item(desk.list_queue().result(60).rows[0].id).result(60)))
    report("queue of one subject", timed(lambda: desk.list_queue(QueueRequest(subject="person 7")).result(60)))
    report("queue with words", timed(lambda: desk.list_queue(QueueRequest(text="house 77")).result(60)))
    report("badge", timed(lambda: desk.count_waiting().result(60)))
    items = [desk.read_item(row.id).result(60) for row in first.rows]
    carried = [rig.write(partial(applied, rig, item=item)) for item in items]
    fit = sum(item.state == "open" and done == len(item.actions) > 1 for item, done in zip(items, carried, strict=True))
    offered = sum(len(item.actions) for item in items)
    print(f"{len(first.rows)} rows of {first.total} open; {fit} of them can be decided as they say")
    print(f"{sum(carried)} of {offered} offered actions were carried out")
    begun = time.perf_counter()
    closed = rig.write(lambda tx: run_review_chores(tx, rig.opened.storage, rig.opened.search, expiry=True))
    took = (time.perf_counter() - begun) * 1000
    print(f"upkeep closed {closed} of {count - first.total} in {took:.0f} ms (500 at once)")


def main() -> int:
    """Run."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--n", type=int, default=10_000, help="conflicts")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
        run(rig, given.n)
    return 0


if __name__ == "__main__":
    sys.exit(main())
