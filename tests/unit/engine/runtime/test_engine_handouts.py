"""What a client reads alike within a minute stands on one receipt, whose size does not grow with what it reads."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from engine_rig import HandClock, Rig

from core.engine.runtime.read_log import LISTED
from core.engine.startup import flush_journal
from core.intake.erase.trace_erasure import TraceIndex
from core.types.values import OWNER_ACTOR

HOME = "space:home"
TEXTS = [f"Box {number} is kept in the shed." for number in range(LISTED + 10)]


def kept(rig: Rig) -> list[tuple[str, str, int, dict[str, Any]]]:
    flush_journal(rig.opened)
    found = rig.rows("SELECT verb, query, items, body FROM receipts WHERE client_id IS NOT NULL ORDER BY at, id")
    return [(verb, query, items, json.loads(body)) for verb, query, items, body in found]


def wait(rig: Rig, ms: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(ms)


@pytest.mark.slow
def test_pages_of_a_minute_stand_on_one_receipt(rig: Rig) -> None:
    reader = rig.client("reader", "read", HOME)
    ids = [rig.store(text, space="home").memory_id for text in TEXTS]
    journal = rig.engine.history
    for number in range(300):
        journal.note_disclosure(reader, "list", "", ids[number % 50 : number % 50 + 10])
        if number % 40 == 0:
            flush_journal(rig.opened)
    ((verb, query, items, body),) = kept(rig)
    assert (verb, query, items) == ("list", "", 59)
    assert body["reads"] == 300
    assert body["items"] == [{"id": one} for one in ids[:LISTED]]
    assert body["more_items"] == 9
    assert rig.value("SELECT count(*) FROM audit WHERE verb = 'list'") == 1
    # All of it was handed out, also what is not named; nothing of it counts as used.
    assert rig.value("SELECT count(*) FROM handed WHERE times > 0") == 59
    assert rig.value("SELECT sum(access_count) FROM memories") == 0
    shown = rig.engine.recall_trials.list_receipts(10, client="reader").result(10).rows
    whole = rig.engine.recall_trials.read_receipt(shown[0].id).result(10)
    assert (whole.given, whole.unlisted, whole.reads) == (tuple(ids[:LISTED]), 9, 300)
    assert rig.verify()["status"] == "ok"


def test_the_next_minute_and_other_words_have_receipts_of_their_own(rig: Rig) -> None:
    reader, other = rig.client("reader", "read", HOME), rig.client("other", "read", HOME)
    known = rig.store("The kettle is red.", space="home").memory_id
    journal = rig.engine.history
    for who in (reader, other, reader):
        journal.note_disclosure(who, "list", "kettle", [known])
    journal.note_disclosure(reader, "list", "red", [known])
    assert [one[:3] for one in kept(rig)].count(("list", "kettle", 1)) == 2
    wait(rig, 59_999)
    journal.note_disclosure(reader, "list", "kettle", [known])
    assert len(kept(rig)) == 3
    wait(rig, 1)
    journal.note_disclosure(reader, "list", "kettle", [known])
    assert len(kept(rig)) == 4


def test_a_minute_that_ends_before_it_was_written_loses_nothing(rig: Rig) -> None:
    reader = rig.client("reader", "read", HOME)
    ids = [rig.store(text, space="home").memory_id for text in TEXTS[:30]]
    journal = rig.engine.history
    journal.note_disclosure(reader, "list", "", ids[:1])
    flush_journal(rig.opened)
    wait(rig, 59_500)
    journal.note_disclosure(reader, "list", "", ids)
    wait(rig, 500)
    journal.note_disclosure(reader, "list", "", ids[:1])
    wait(rig, 60_000)
    journal.note_disclosure(reader, "list", "", ids[:1])
    first, second, third = kept(rig)
    assert [one[2] for one in (first, second, third)] == [30, 1, 1]
    assert first[3]["items"] == [{"id": one} for one in ids]
    assert rig.value("SELECT count(*) FROM handed WHERE times > 0") == 30
    assert len(kept(rig)) == 3


def test_while_nothing_can_be_written_a_minute_is_one_entry_and_the_oldest_ids_go_first(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.opened.storage.threads.stop_tickers()
    reader = rig.client("reader", "read", HOME)
    ids = [rig.store(text, space="home").memory_id for text in TEXTS[:9]]
    handed, journal = rig.engine.history.note_disclosure, rig.opened.read_log
    for number in range(6):
        handed(reader, "list", "", ids[number : number + 1])
        journal.put_back(journal.take_pending())
    waiting = journal.take_pending()
    assert [(len(one.given), one.again) for one in waiting.entries] == [(6, False)]
    monkeypatch.setattr("core.engine.runtime.read_log._IDS_KEPT", 7)
    handed(reader, "history", "", ids[6:8])
    journal.put_back(waiting)
    journal.put_back(journal.take_pending())
    # Eight ids are more than may be kept: the oldest receipt goes. The newest is kept in any case.
    assert [one.verb for one in journal.take_pending().entries] == ["history"]
    for memory_id in ids:
        handed(reader, "get", "", [memory_id])
        journal.put_back(journal.take_pending())
    (one,) = journal.take_pending().entries
    assert one.given == tuple(ids[2:])


def test_what_goes_on_with_a_receipt_that_was_never_written_is_written_whole(rig: Rig) -> None:
    rig.opened.storage.threads.stop_tickers()
    reader = rig.client("reader", "read", HOME)
    ids = [rig.store(text, space="home").memory_id for text in TEXTS[:3]]
    rig.engine.history.note_disclosure(reader, "list", "", ids[:1])
    assert len(rig.opened.read_log.take_pending().entries) == 1  # it is kept no more, since too much waited
    rig.engine.history.note_disclosure(reader, "list", "", ids[1:2])
    ((verb, _, items, body),) = kept(rig)
    assert (verb, items, body["items"]) == ("list", 2, [{"id": ids[0]}, {"id": ids[1]}])
    rig.engine.history.note_disclosure(reader, "list", "", ids[2:])
    ((_, _, items, body),) = kept(rig)
    assert (items, body["reads"]) == (3, 3)
    assert rig.value("SELECT count(*) FROM audit WHERE verb = 'list'") == 1
    assert rig.verify()["status"] == "ok"


def test_names_without_end_do_not_make_receipts_without_end(rig: Rig) -> None:
    reader = rig.client("reader", "read", HOME)
    for number in range(400):
        rig.engine.history.note_disclosure(reader, "entities", f"Name {number}", (), [f"e{number}", "e"])
        if number % 90 == 0:
            flush_journal(rig.opened)
    found = kept(rig)
    assert len(found) == 21
    rest = next(body for _, query, _, body in found if query == "")
    assert rest["reads"] == 380
    assert len(rest["entities"]) == LISTED
    assert rest["more_entities"] == 381 - LISTED


def test_each_memory_that_is_fetched_counts_each_time(rig: Rig) -> None:
    reader = rig.client("reader", "read", HOME)
    first, second = (rig.store(text, space="home").memory_id for text in TEXTS[:2])
    for one in (first, second, first):
        assert rig.engine.memories.get(one, reader).result(10).id == one
    assert rig.opened.read_log.disclosed_to(reader.client_id) == {first, second}
    ((verb, _, items, body),) = kept(rig)
    assert (verb, items, body["reads"]) == ("get", 2, 3)
    assert [rig.get(one).access_count for one in (first, second)] == [2, 1]
    assert rig.opened.read_log.disclosed_to(reader.client_id) == frozenset()


def test_who_looks_at_its_own_waiting_text_does_not_raise_it_in_the_review(rig: Rig) -> None:
    rig.store(TEXTS[0], space="home")
    first, second = (rig.client(name, "read", "propose", HOME) for name in ("first", "second"))
    ids = [rig.store(text, actor, space="home").memory_id for text, actor in ((TEXTS[1], first), (TEXTS[2], second))]
    before = [row.id for row in rig.engine.conflicts.list_queue().result(10).rows]
    rows = "SELECT access_count, last_accessed_at FROM memories WHERE id = ?"
    never = rig.rows(rows, ids[0])
    for _ in range(6):
        for own, actor in zip(ids, (first, second), strict=True):
            rig.get(own, actor)
            if own == ids[0]:
                rig.recall(TEXTS[1], actor, statuses=("quarantined",))
    ((_, _, items, _), *_) = kept(rig)
    assert items == 1  # what left the vault is on its receipt all the same
    assert rig.rows(rows, ids[0]) == never
    assert rig.rows("SELECT * FROM accesses WHERE memory_id IN (?, ?)", *ids) == []
    found = rig.engine.conflicts.list_queue().result(10).rows
    assert [(row.id, row.recalled) for row in found] == [(one, 0) for one in before]


def test_what_is_erased_does_not_come_back_with_the_next_read(rig: Rig) -> None:
    reader = rig.client("reader", "read", HOME)
    first, second = (rig.store(text, space="home").memory_id for text in TEXTS[:2])
    rig.engine.history.note_disclosure(reader, "list", "", [first, second])
    assert len(kept(rig)) == 1
    rig.engine.memories.erase([first], OWNER_ACTOR).result(10)
    rig.engine.history.note_disclosure(reader, "list", "", [second])
    ((_, _, _, body),) = kept(rig)
    assert first not in json.dumps(body)
    assert body["items"] == [{"id": second}]
    assert body["reads"] == 2


@pytest.mark.parametrize("is_newest", [True, False])
def test_an_erasure_that_has_looked_already_finds_what_was_added_since(rig: Rig, is_newest: bool) -> None:
    reader = rig.client("reader", "read", HOME)
    first, second = (rig.store(text, space="home").memory_id for text in TEXTS[:2])
    rig.engine.history.note_disclosure(reader, "list", "", [first])
    flush_journal(rig.opened)
    if not is_newest:
        rig.recall("Where is box 1 kept?", reader)
        flush_journal(rig.opened)
    index = TraceIndex([second], [TEXTS[1]])
    rig.opened.storage.vault.read(index.read_new_rows)
    rig.engine.history.note_disclosure(reader, "list", "", [second])
    flush_journal(rig.opened)
    at = int(rig.value("SELECT rowid FROM receipts WHERE verb = 'list'"))
    places = rig.opened.storage.vault.read(lambda rows: index.find_trace_rows(rows, [second], [], [TEXTS[1]]))
    assert places is None or at > places["receipts"].after


def test_a_flush_beside_another_ends_when_that_one_is_written(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = rig.client("reader", "read", HOME)
    known = rig.store(TEXTS[0], space="home").memory_id
    begun, go_on = threading.Event(), threading.Event()
    log = rig.opened.read_log
    write = log.write

    def write_late(*given: Any) -> None:
        begun.set()
        assert go_on.wait(10)
        write(*given)

    monkeypatch.setattr(log, "write", write_late)
    rig.engine.history.note_disclosure(reader, "list", "", [known])
    first, second = (threading.Thread(target=flush_journal, args=(rig.opened,)) for _ in range(2))
    first.start()
    assert begun.wait(10)
    second.start()
    second.join(0.1)
    assert second.is_alive()
    flush_journal(rig.opened, 0.01)  # who does not wait that long ends meanwhile
    assert second.is_alive()
    go_on.set()
    for thread in (first, second):
        thread.join(10)
    assert rig.value("SELECT count(*) FROM receipts WHERE client_id IS NOT NULL") == 1
