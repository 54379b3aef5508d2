"""Erasing from the archive: nothing by default, only what nobody would miss, and no step that could bring it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import belief_rig
import pytest
from engine_rig import HandClock, Rig, rig_at
from ground_rig import DAY_MS, ground_of, run

from core.lifecycle.erasing import REASON, Erasing
from core.types.library import Revision
from core.types.lifecycle import Deed
from core.types.words import Kind, Status

CHOSEN = {"erase_kinds": "fact, digest", "erase_days": 90}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        yield rig


def archived(rig: Rig, text: str, kind: Kind = Kind.FACT) -> str:
    memory_id = rig.store(text, kind=kind).memory_id
    rig.engine.library.revise([memory_id], Revision(status=Status.ARCHIVED)).result(30)
    return memory_id


def later(rig: Rig, days: int) -> None:
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(days * DAY_MS)


def test_nothing_is_erased_unless_the_owner_chose_a_kind(rig: Rig) -> None:
    archived(rig, "Ada keeps bees")
    later(rig, 400)
    assert Erasing().plan(ground_of(rig)) == []


def test_chosen_kinds_go_when_their_days_are_over(rig: Rig) -> None:
    gone = archived(rig, "The Quagga stood behind the barn")
    note = archived(rig, "A note of the day", Kind.EPISODE)
    later(rig, 60)
    young = archived(rig, "Eva keeps goats")
    stands = rig.store("Ida keeps hens").memory_id
    later(rig, 31)
    ran = run(rig, Erasing(), ground_of(rig, CHOSEN))
    assert [(deed.deed, deed.memory_id, deed.reason) for deed in ran.deeds] == [(Deed.ERASE, gone, REASON)]
    assert dict(ran.counts) == {"erased": 1, "rows": 1, "skipped": 0}
    assert [row[0] for row in rig.rows("SELECT id FROM memories ORDER BY n")] == [note, young, stands]
    assert rig.value("SELECT count(*) FROM undo_rows WHERE before LIKE '%Quagga%' OR after LIKE '%Quagga%'") == 0
    assert rig.value("SELECT count(*) FROM tombstones") == 0  # age bars no words: they may be said again
    assert rig.value("SELECT count(*) FROM audit WHERE verb = 'erase' AND actor = 'scheduler'") == 1


def test_what_came_back_meanwhile_stays(rig: Rig) -> None:
    back, gone = archived(rig, "Ada keeps bees"), archived(rig, "Eva keeps goats")
    later(rig, 91)
    ground = ground_of(rig, CHOSEN)
    deeds = Erasing().plan(ground)
    rig.engine.library.revise([back], Revision(status=Status.ACTIVE)).result(30)
    done = rig.write(lambda tx: Erasing().carry_out(tx, None, ground, deeds))  # type: ignore[arg-type]
    assert (done.counts, done.ids) == ({"erased": 1, "rows": 1, "skipped": 1}, (gone,))
    assert rig.get(back).status is Status.ACTIVE


def test_what_somebody_would_miss_stays(rig: Rig) -> None:
    source = archived(rig, "The cellar has three steps")
    digest = rig.store("Cellar: three steps, damp", kind=Kind.DIGEST).memory_id
    belief_rig.derive(rig, digest, source)  # a standing digest was made of it
    summary = archived(rig, "Garden: roses and beans", Kind.DIGEST)
    beneath = rig.store("There are roses in the garden").memory_id
    belief_rig.derive(rig, summary, beneath)
    belief_rig.change(rig, beneath, status="consolidated", consolidated_into=summary)  # would stand again
    pinned = archived(rig, "Ida keeps hens")
    belief_rig.change(rig, pinned, pinned=1)
    spared = archived(rig, "Eva keeps goats")
    until = rig.clock.now_ms() + 200 * DAY_MS
    rig.write(lambda tx: tx.insert("spared", {"memory_id": spared, "at": 0, "until": until}))
    later(rig, 100)
    assert Erasing().plan(ground_of(rig, CHOSEN)) == []
