"""Replay: who is strengthened and by how much, which relations are proposed, and that a rejected one stays away."""

from __future__ import annotations

from typing import Any

import belief_rig
import pytest
from engine_rig import Rig, differences, later, refused
from ground_rig import ground_of, near_of, run

from core.errors import Code
from core.intake.revise.revision import accept_link, open_links, reject_link
from core.lifecycle.replay import LINK_FROM, RELATED, STRENGTHENED, WEAK_BELOW, ReplayJob
from core.memory.read import read_strength_by_id
from core.types.lifecycle import JobAction
from core.types.memory import ProposedLink
from core.types.values import OWNER_ACTOR, Kind

WORDS = "the old boat lies at the quay of the northern harbour near the red crane"


def weak(rig: Rig, text: str, uses: int = 3, **more: Any) -> str:
    """A memory that was recalled so often, long ago."""
    memory_id = rig.store(text, **more).memory_id
    now = rig.clock.now_ms()
    sql = "UPDATE memories SET access_count = ?, last_accessed_at = ? WHERE id = ?"
    rig.write(lambda tx: tx.run(sql, (uses, now, memory_id)))
    return memory_id


def strength(rig: Rig, memory_id: str) -> float:
    now = rig.clock.now_ms()
    return rig.opened.storage.vault.read(lambda rows: read_strength_by_id(rows, [memory_id], now))[memory_id]


def test_what_is_used_and_weak_is_strengthened(rig: Rig) -> None:
    used, seldom = weak(rig, "Ada keeps bees"), weak(rig, "Eva keeps goats", uses=2)
    gone, wrong, pinned = (weak(rig, text) for text in ("Ida keeps hens", "Uma keeps ducks", "Ole keeps pigs"))
    rig.forget(gone)
    rig.engine.memories.give_feedback(wrong, "irrelevant", "ducks", OWNER_ACTOR).result(30)
    belief_rig.change(rig, pinned, pinned=1)
    later(rig, 89)  # a feedback counts for ninety days
    rig.write(lambda tx: tx.run("UPDATE memories SET importance = 0 WHERE pinned = 0"))
    before = strength(rig, used)
    assert before < WEAK_BELOW, before
    assert seldom != used
    ran = run(rig, ReplayJob(), ground_of(rig))
    assert [(deed.action, deed.memory_id, deed.reason) for deed in ran.deeds] == [
        (JobAction.STRENGTHEN, used, STRENGTHENED)
    ]
    assert ran.deeds[0].value == pytest.approx(before)
    assert dict(ran.counts) == {"strengthened": 1, "proposed": 0, "re_embedded": 0, "skipped": 0}
    assert strength(rig, used) > before
    assert rig.rows("SELECT memory_id, times, boost FROM replays") == [(used, 1, 0.2)]
    # Once a day: a spaced access.
    assert ReplayJob().plan(ground_of(rig)) == []
    later(rig, 30)
    assert run(rig, ReplayJob(), ground_of(rig)).counts["strengthened"] >= 1
    assert rig.value("SELECT times FROM replays WHERE memory_id = ?", used) == 2
    # Its undo takes the last one back.
    rig.undo(rig.value("SELECT id FROM undo_steps WHERE verb = 'run' ORDER BY rowid DESC LIMIT 1"))
    assert rig.value("SELECT times FROM replays WHERE memory_id = ?", used) == 1


def test_a_boost_has_an_end(rig: Rig) -> None:
    used = weak(rig, "Ada keeps bees")
    rig.write(lambda tx: tx.insert("replays", {"memory_id": used, "times": 9, "boost": 1.0, "last_at": 0}))
    later(rig, 2_000)
    assert strength(rig, used) < WEAK_BELOW
    assert ReplayJob().plan(ground_of(rig)) == []


def test_a_third_of_the_budget_is_strengthened(rig: Rig) -> None:
    for place in range(9):
        weak(rig, f"Keeper number {place} keeps bees")
    later(rig, 400)
    ground = ground_of(rig, {"replay_budget": 12})
    first = ReplayJob().plan(ground)
    assert len(first) == 4
    assert first == ReplayJob().plan(ground)


def related(rig: Rig) -> tuple[str, str]:
    one = rig.store(f"Ada says {WORDS}").memory_id
    other = rig.store(f"Eva thinks {WORDS}").memory_id
    later(rig, 2)
    return (one, other) if one < other else (other, one)


def test_near_memories_are_proposed_and_accepted(rig: Rig) -> None:
    pair = related(rig)
    ran = run(rig, ReplayJob(), ground_of(rig, near=near_of(rig)))
    assert [(deed.action, deed.memory_id, deed.others, deed.reason) for deed in ran.deeds] == [
        (JobAction.PROPOSE, pair[0], (pair[1],), RELATED)
    ]
    assert ran.counts["proposed"] == 1
    found = rig.opened.storage.vault.read(open_links)
    assert [(link.from_id, link.to_id, link.space) for link in found] == [(*pair, "home")]
    assert isinstance(found[0], ProposedLink)
    assert found[0].cosine >= LINK_FROM
    before = rig.dump()
    work, make_id = rig.opened.storage.work, rig.opened.storage.make_id
    step = rig.write(lambda tx: accept_link(tx, work, make_id, pair[1], pair[0]))
    edge = rig.rows("SELECT from_id, to_id, type, made_by, weight FROM edges")
    assert edge == [(*pair, "related_to", "owner", pytest.approx(found[0].cosine))]
    assert rig.opened.storage.vault.read(open_links) == ()
    with refused(Code.NOT_FOUND):
        rig.write(lambda tx: reject_link(tx, work, *pair))
    rig.undo(step)
    assert differences(before, rig.dump()) == {}
    # With the whole run the proposal goes too.
    rig.undo(ran.step_id)
    assert rig.rows("SELECT 1 FROM links") == []


def test_a_rejected_pair_never_comes_again(rig: Rig) -> None:
    pair = related(rig)
    run(rig, ReplayJob(), ground_of(rig, near=near_of(rig)))
    step = rig.write(lambda tx: reject_link(tx, rig.opened.storage.work, *pair))
    assert ReplayJob().plan(ground_of(rig, near=near_of(rig))) == []
    rig.undo(step)
    assert len(rig.opened.storage.vault.read(open_links)) == 1


def test_what_is_related_already_is_not_proposed(rig: Rig) -> None:
    one, other = related(rig)
    ground = ground_of(rig, near=near_of(rig))
    home = rig.value("SELECT space_id FROM memories WHERE id = ?", one)
    assert len(ReplayJob().plan(ground)) == 1
    edge = {"id": "e", "from_id": other, "to_id": one, "type": "supports", "space_id": home, "made_by": "rules"}
    item = belief_rig.item(rig, one, other)
    assert ReplayJob().plan(ground) == []
    rig.write(lambda tx: tx.update("conflicts", {"id": item}, {"state": "moot"}))
    assert len(ReplayJob().plan(ground)) == 1
    rig.write(lambda tx: tx.insert("edges", {**edge, "recorded_at": 0}))
    assert ReplayJob().plan(ground) == []
    rig.write(lambda tx: tx.delete("edges", {"id": "e"}))
    belief_rig.change(rig, other, chain_id=one)
    belief_rig.change(rig, one, chain_id=one)
    assert ReplayJob().plan(ground) == []


def test_neighbours_in_a_conversation_and_other_spaces_are_not_proposed(rig: Rig) -> None:
    one, other = related(rig)
    ground = ground_of(rig, near=near_of(rig))
    talk = {"id": "t", "identity": "t", "space_id": "home", "recorded_at": 0}
    home = rig.value("SELECT space_id FROM memories WHERE id = ?", one)
    rig.write(lambda tx: tx.insert("conversations", {**talk, "space_id": home}))
    belief_rig.change(rig, one, conversation_id="t", position=3)
    belief_rig.change(rig, other, conversation_id="t", position=4)
    assert ReplayJob().plan(ground) == []
    belief_rig.change(rig, other, position=9)
    assert len(ReplayJob().plan(ground)) == 1
    rig.store(f"Ida hopes {WORDS}", space="elsewhere")
    rig.store(f"Note: {WORDS}", kind=Kind.EPISODE)
    later(rig, 2)
    assert [{deed.memory_id, *deed.others} for deed in ReplayJob().plan(ground)] == [{one, other}]


def test_what_changed_since_the_plan_is_left(rig: Rig) -> None:
    pair = related(rig)
    ground = ground_of(rig, near=near_of(rig))
    deeds = ReplayJob().plan(ground)
    rig.forget(pair[0])
    done = rig.write(lambda tx: ReplayJob().apply_plan(tx, None, ground, deeds))  # type: ignore[arg-type]  # it needs no verb
    assert done.counts["skipped"] == 1
    assert rig.rows("SELECT 1 FROM links") == []


def test_without_neighbours_nothing_is_proposed(rig: Rig) -> None:
    related(rig)
    assert ReplayJob().plan(ground_of(rig)) == []
