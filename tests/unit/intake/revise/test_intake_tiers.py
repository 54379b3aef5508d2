"""Protecting memories: no client is given them, what hangs on them is protected too, and one undo lifts it all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, differences, error_of, refused, rig_at
from talk_rig import bring_talk, plain_reader

from core.errors import Code
from core.types.values import Actor, SecurityTier
from core.types.views import FindRequest, Revision, RevisionReport

CODE = "The door code of the boat shed is under the third plank."
HOME = "space:home"


def protect(rig: Rig, *ids: str, tier: SecurityTier = SecurityTier.SENSITIVE) -> RevisionReport:
    report = rig.engine.library.revise_memories(ids, Revision(tier=tier)).result(30)
    rig.settle()
    return report


def listed(rig: Rig, query: str) -> set[str]:
    return set(rig.engine.library.find_memories(FindRequest(query)).result(30).ids)


def tiers(rig: Rig) -> dict[str, str]:
    return {str(text): str(tier) for text, tier in rig.rows("SELECT text, security_tier FROM memories")}


@pytest.fixture
def reader(rig: Rig) -> Actor:
    return rig.client("reader", "read", HOME)


@pytest.fixture
def talking(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, talk=plain_reader()) as made:
        yield made


@pytest.mark.parametrize("tier", [SecurityTier.SENSITIVE, SecurityTier.CONFIDENTIAL])
def test_no_client_is_given_what_is_protected_until_it_is_lifted(rig: Rig, reader: Actor, tier: SecurityTier) -> None:
    memory_id = rig.store(CODE).memory_id
    assert rig.found("door code of the shed", reader) == [CODE]
    report = protect(rig, memory_id, tier=tier)
    assert (report.label, report.changed, rig.get(memory_id).tier) == ("Set the sensitivity of a memory", 1, tier)
    assert rig.found("door code of the shed", reader) == []
    with refused(Code.NOT_FOUND):
        rig.get(memory_id, reader)
    assert rig.found("door code of the shed") == [CODE]
    assert listed(rig, f"tier:{tier.value}") == {memory_id}
    assert listed(rig, "-tier:cleartext") == {memory_id}
    protect(rig, memory_id, tier=SecurityTier.CLEARTEXT)
    assert rig.found("door code of the shed", reader) == [CODE]
    assert listed(rig, "tier:sensitive,confidential") == set()


def test_older_versions_are_protected_with_it(rig: Rig, reader: Actor) -> None:
    old_id = rig.store(CODE).memory_id
    (new_id,) = rig.engine.library.revise_memories([old_id], Revision(text="The shed has no code.")).result(30).ids
    protect(rig, new_id)
    assert rig.get(old_id).tier is SecurityTier.SENSITIVE
    with refused(Code.NOT_FOUND):
        rig.get(old_id, reader)
    assert rig.engine.library.revise_memories([new_id], Revision(text="The shed has a lock.")).result(30).changed == 1
    assert set(tiers(rig).values()) == {"sensitive"}  # a new version is as well protected as the one before it


def test_what_was_made_of_it_is_protected_with_it_and_undone_with_it(talking: Rig) -> None:
    rig = talking
    bring_talk(rig, [("Mara", "I have a safe behind the clock."), ("Jonas", "I like plums.")])
    rig.engine.statements.run().result(60)
    rig.settle()
    before = rig.dump()
    (episode,) = listed(rig, 'kind:episode "behind the clock"')
    report = protect(rig, episode, tier=SecurityTier.CONFIDENTIAL)
    assert tiers(rig) == {
        "I have a safe behind the clock.": "confidential",
        "Mara has a safe behind the clock.": "confidential",
        "I like plums.": "cleartext",
        "Jonas likes plums.": "cleartext",
    }
    assert not rig.rows("SELECT 1 FROM mentions WHERE memory_id = ?", episode)
    rig.undo(report.step_id)
    assert differences(before, rig.dump()) == {}


def test_lifting_lifts_nothing_else_and_raising_lowers_nothing(talking: Rig) -> None:
    rig = talking
    bring_talk(rig, [("Mara", "I have a safe behind the clock.")])
    rig.engine.statements.run().result(60)
    rig.settle()
    (episode,), (statement,) = listed(rig, "kind:episode"), listed(rig, "kind:fact")
    protect(rig, statement, tier=SecurityTier.CONFIDENTIAL)
    assert rig.get(episode).tier is SecurityTier.CLEARTEXT
    protect(rig, episode)
    assert (rig.get(episode).tier, rig.get(statement).tier) == (SecurityTier.SENSITIVE, SecurityTier.CONFIDENTIAL)
    protect(rig, episode, tier=SecurityTier.CLEARTEXT)
    assert rig.get(statement).tier is SecurityTier.CONFIDENTIAL


def test_a_preview_tells_it_and_the_same_again_is_no_change(rig: Rig) -> None:
    memory_id = rig.store(CODE).memory_id
    change = Revision(tier=SecurityTier.SENSITIVE)
    preview = rig.engine.library.preview_revision([memory_id], change).result(30)
    assert preview.changes == 1
    assert preview.examples == ((memory_id, CODE, "cleartext", "sensitive"),)
    protect(rig, memory_id)
    assert rig.engine.library.revise_memories([memory_id], change).result(30).step_id is None


def test_a_protected_memory_tells_a_client_nothing_of_itself(rig: Rig, reader: Actor) -> None:
    memory_id = rig.store(CODE).memory_id
    protect(rig, memory_id)
    sentences = {
        error_of(rig.engine.memories.get(asked, reader)).sentence.replace(asked, "ID")
        for asked in (memory_id, "0197a2b4-0000-7000-8000-000000000000")
    }
    assert len(sentences) == 1
    assert rig.get(memory_id).text == CODE
