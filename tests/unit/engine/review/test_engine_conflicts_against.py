"""A proposal that contradicts what stands says so before it is decided, and afterwards as which question it waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.types.replies import StoreReply
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Actor, Status

HOME = "space:home"
KAPPELN, FLENSBURG = ("The user lives in Kappeln", "The user lives in Flensburg")
YES = Decision(Action.SUPERSEDE)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as rig:
        yield rig


def store(rig: Rig, text: str, actor: Actor = OWNER_ACTOR) -> StoreReply:
    return rig.store(text, actor, space="home")


def test_a_proposal_names_what_stands_against_it(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose", "curate", HOME)
    have, came = store(rig, KAPPELN), store(rig, FLENSBURG, plug)
    assert came.operation == "PROPOSED"
    (row,) = rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)
    assert (row.kind, row.existing) == ("proposal", None)
    assert row.against is not None
    assert row.against.id == have.memory_id
    assert "your own statement" in row.reason
    assert "you are asked which of the two is true" in row.reason
    item = rig.engine.conflicts.read_item(row.id).result(10)
    assert item.against is not None
    start, end = item.against.marks[0]
    assert KAPPELN[start:end] == "Kappeln"
    (told,) = rig.engine.conflicts.list_items(plug).result(10)
    assert (told.against, "your own statement" in told.reason) == (None, False)


def test_accepting_it_tells_as_which_question_it_waits(rig: Rig) -> None:
    have = store(rig, KAPPELN)
    came = store(rig, FLENSBURG, rig.client("plug", "read", "propose", HOME))
    done = rig.engine.conflicts.resolve(str(came.conflict), YES).result(10)
    (row,) = rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)
    assert done.asked == (row.id,)
    assert (row.kind, row.against) == ("contradiction", None)
    assert row.existing is not None
    assert (row.existing.id, row.incoming.id) == (have.memory_id, came.memory_id)
    again = rig.engine.conflicts.resolve(row.id, YES).result(10)
    assert (again.asked, again.active) == ((), (came.memory_id,))
    assert rig.get(have.memory_id).status is Status.SUPERSEDED


def test_what_a_client_brought_gives_way_and_is_named_too(rig: Rig) -> None:
    have = store(rig, KAPPELN, rig.client("writer", "read", "write", HOME))
    came = store(rig, FLENSBURG, rig.client("plug", "read", "propose", HOME))
    (row,) = rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)
    assert row.against is not None
    assert row.against.id == have.memory_id
    assert "it replaces that" in row.reason
    done = rig.engine.conflicts.resolve(str(came.conflict), YES).result(10)
    assert (done.asked, done.active) == ((), (came.memory_id,))


@pytest.mark.parametrize("other", ["The user lives in Kappeln", "The user likes tea"])
def test_nothing_is_named_where_nothing_is_contradicted(rig: Rig, other: str) -> None:
    came = store(rig, KAPPELN, rig.client("plug", "read", "propose", HOME))
    rig.store(other, rig.client("far", "read", "write", "space:work"), space="work")
    (row,) = rig.engine.conflicts.list_items(OWNER_ACTOR).result(10)
    assert row.against is None
    assert rig.engine.conflicts.resolve(str(came.conflict), YES).result(10).asked == ()
