"""Listeners: whether a change that named no memories was for these eyes, and that a look costs what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from engine_rig import Rig, facts, rig_at

from core.engine import watching
from core.recall.scope import Scope, conditions_of_sight
from core.types.values import OWNER_ACTOR, Actor


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as made:
        yield made


class Ear:
    """A listener that looks, as a subscription does, from where it looked last."""

    def __init__(self, rig: Rig, actor: Actor) -> None:
        self.rig, self.actor = rig, actor
        self.mark = rig.engine.watching.mark(actor).result(30)

    def hears(self) -> bool:
        """Whether anything since the last look was for it."""
        stirred, self.mark = self.rig.engine.watching.stirred(self.mark, self.actor).result(30)
        return stirred


def test_only_what_it_may_see_stirs_a_listener(rig: Rig) -> None:
    rig.store("The house has a name.", space="home")
    ada = rig.client("Ada", "read", "write", "space:home")
    bea = rig.client("Bea", "read", "space:home")
    ears = {
        name: Ear(rig, actor)
        for name, actor in (
            ("ada", ada),
            ("bea", bea),
            ("anna", replace(bea, channel="discord:anna")),
            ("owner", OWNER_ACTOR),
        )
    }

    def heard() -> set[str]:
        return {name for name, ear in ears.items() if ear.hears()}

    assert heard() == set()
    rig.store("The lamp of Ada.", ada)
    assert heard() == {"ada", "owner"}
    on_channel = rig.store("The lamp of Anna.", replace(ada, channel="discord:anna"), space="home").memory_id
    assert heard() == {"anna", "owner"}
    attic = rig.store("The lamp of the attic.", space="attic").memory_id
    rig.undo()
    assert attic not in {row[0] for row in rig.rows("SELECT id FROM memories")}
    assert heard() == {"owner"}
    shared = rig.store("The lamp of the hall.", space="home").memory_id
    assert heard() == set(ears)
    rig.forget(on_channel)
    assert heard() == {"anna", "owner"}
    rig.forget(shared)
    assert heard() == set(ears)
    rig.undo()
    assert heard() == set(ears)


def test_what_an_undo_takes_away_whole_stirs_who_saw_it(rig: Rig) -> None:
    rig.store("The house has a name.", space="home")
    ada, bea = rig.client("Ada", "read", "write", "space:home"), rig.client("Bea", "read", "space:home")
    rig.store("The lamp of the hall.", ada, space="home")
    ears = {"ada": Ear(rig, ada), "bea": Ear(rig, bea)}
    rig.undo()
    assert {name for name, ear in ears.items() if ear.hears()} == {"ada", "bea"}
    rig.store("The lamp of Ada.", ada)
    ears = {"ada": Ear(rig, ada), "bea": Ear(rig, bea)}
    rig.undo()
    assert {name for name, ear in ears.items() if ear.hears()} == {"ada"}


def test_an_import_stirs_who_may_see_it_and_nothing_sealed_does(rig: Rig) -> None:
    rig.store("The house has a name.", space="home")
    bea, far = Ear(rig, rig.client("Bea", "read", "space:home")), Ear(rig, rig.client("Far", "read"))
    rig.bring(facts(3), space="home")
    assert (bea.hears(), far.hears()) == (True, False)
    assert not bea.hears()
    sealed = rig.store("The safe is behind the picture.", space="home").memory_id
    rig.write(lambda tx: tx.update("memories", {"id": sealed}, {"security_tier": "sensitive"}))
    assert not bea.hears()
    assert rig.engine.watching.visible([sealed], bea.actor).result(30) == ()


@pytest.mark.parametrize("unrestricted", [False, True])
def test_a_look_reads_no_more_than_what_was_changed(rig: Rig, *, unrestricted: bool) -> None:
    rig.bring(facts(300), space="home")
    params: dict[str, object] = {"ids": "[]", "change": 0, "label": 0}
    known = conditions_of_sight(Scope(unrestricted, frozenset({"one", "two"}), "client", "discord:anna"), params)
    for sql in (watching._VISIBLE, watching._NOW, watching._CAME, watching._CHANGED):
        steps = _plan(rig, sql.format(known=known), params)
        assert steps
        scans = [step for step in steps if step.startswith("SCAN")]
        assert all("VIRTUAL TABLE" in step or "CONSTANT" in step for step in scans), (sql, steps)
        assert not any("ix_memories_scope" in step for step in steps), (sql, steps)


def _plan(rig: Rig, sql: str, params: dict[str, object]) -> list[str]:
    found = rig.opened.vault.read(lambda rows: rows.all(f"EXPLAIN QUERY PLAN {sql}", params))
    return [str(row[-1]) for row in found]
