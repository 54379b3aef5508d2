"""What waits for the person and is overtaken by what is said meanwhile was never true, and is in no history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import HandClock, Rig, refused, rig_at
from readers_rig import Table, sure

from core.errors import Code
from core.types.belief import Label
from core.types.replies import StoreReply
from core.types.requests import ListRequest
from core.types.values import OWNER_ACTOR, Actor, Status
from core.vault.memory_sql import OVERTAKEN

HOME = "space:home"
DAY_MS = 86_400_000
WEBER, KRUG, ADLER = (f"My dentist is Dr. {name}." for name in ("Weber", "Krug", "Adler"))
TABLE = Table({(old, ADLER): sure(Label.SUPERSEDE) for old in (WEBER, KRUG)})


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TABLE.readers) as made:
        yield made


def store(rig: Rig, text: str, actor: Actor = OWNER_ACTOR) -> StoreReply:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(DAY_MS)
    return rig.store(text, actor, space="home")


def test_a_proposal_that_is_overtaken_is_no_version(rig: Rig) -> None:
    plug, reader = rig.client("plug", "read", "propose", HOME), rig.client("reader", "read", HOME)
    weber, krug = store(rig, WEBER), store(rig, KRUG, plug)
    assert krug.operation == "PROPOSED"
    between = rig.clock.now_ms()
    adler = store(rig, ADLER)
    assert adler.superseded == (weber.memory_id,)
    held = rig.get(krug.memory_id)
    assert (held.status, held.status_reason) == (Status.ARCHIVED, OVERTAKEN)
    assert rig.value("SELECT count(*) FROM memories WHERE valid_to IS NOT NULL") == 1
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 0
    versions = rig.engine.memories.list_versions(adler.memory_id, OWNER_ACTOR).result(10)
    assert {one.id for one in versions} == {weber.memory_id, adler.memory_id}
    for actor in (OWNER_ACTOR, reader):
        then = rig.recall("Who is my dentist?", actor, as_of_ms=between)
        assert krug.memory_id not in {one.memory.id for one in then.items}
    with refused(Code.NOT_FOUND):
        rig.get(krug.memory_id, reader)
    listed = rig.engine.memories.list(ListRequest(statuses=None), reader).result(10)
    assert krug.memory_id not in {one.id for one in listed.items}
    assert rig.get(krug.memory_id, plug).status is Status.ARCHIVED


def test_undone_it_waits_again(rig: Rig) -> None:
    store(rig, KRUG, rig.client("plug", "read", "propose", HOME))
    before = rig.dump()
    assert rig.store(ADLER, space="home").operation == "ADD"
    rig.undo()
    assert rig.dump() == before


def test_what_the_person_held_back_had_stood_and_stays_a_version(rig: Rig) -> None:
    plug = rig.client("plug", "read", "write", HOME)
    krug = store(rig, KRUG, plug)
    assert krug.operation == "ADD"
    rig.write(
        lambda tx: tx.update("memories", {"id": krug.memory_id}, {"status": "quarantined", "status_reason": "held"})
    )
    store(rig, ADLER)
    assert rig.get(krug.memory_id).status is not Status.ARCHIVED
