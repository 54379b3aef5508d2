"""What a decision of the desk leaves alone, what it asks on, and whose word stands after it."""

from __future__ import annotations

import pytest
from belief_rig import claim, voice
from desk_rig import DAY_MS, Pair, came, claims_of, decide, have, make_pair, state_of, statuses
from engine_rig import START_MS, Rig, later

from core.types.values import OWNER_ACTOR, Action, Precision, Source, When

HOME_AND_WORK = "I live in Graz. I work at Siemens."
AT = When(START_MS + 10 * DAY_MS, Precision.DAY)


def two_sentences(rig: Rig) -> Pair:
    """What stands says two things, of which the newcomer contradicts one."""
    pair = make_pair(rig, have(HOME_AND_WORK, None), came("User lives in Vienna.", None))
    claim(rig, str(pair.have), "lives_in", "Graz", "I live in Graz.")
    claim(rig, str(pair.have), "works_at", "Siemens", "I work at Siemens.")
    claim(rig, pair.came, "lives_in", "Vienna", "User lives in Vienna.", state="draft")
    return pair


def held(rig: Rig, memory_id: str | None) -> dict[str, str]:
    return {value: state for value, state, _ in claims_of(rig, memory_id)}


def voices(rig: Rig, memory_id: str | None) -> list[tuple[str, str]]:
    return [
        (who, said)
        for who, said in rig.rows("SELECT voice, verdict FROM verdicts WHERE memory_id = ? ORDER BY 1, 2", memory_id)
    ]


def test_taking_the_new_one_ends_only_what_it_contradicts(rig: Rig) -> None:
    pair = two_sentences(rig)
    decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, pair.have, pair.came) == ["active", "active"]
    assert held(rig, pair.have) == {"Graz": "superseded", "Siemens": "asserted"}
    assert held(rig, pair.came) == {"Vienna": "asserted"}
    rig.undo()
    assert statuses(rig, pair.have, pair.came) == ["active", "quarantined"]
    assert held(rig, pair.have) == {"Graz": "asserted", "Siemens": "asserted"}


def test_an_allowed_change_takes_the_place_of_the_whole_text(rig: Rig) -> None:
    pair = make_pair(rig, have(HOME_AND_WORK, None), came("User lives in Vienna.", None), kind="approval")
    claim(rig, str(pair.have), "lives_in", "Graz", "I live in Graz.")
    claim(rig, str(pair.have), "works_at", "Siemens", "I work at Siemens.")
    claim(rig, pair.came, "lives_in", "Vienna", "User lives in Vienna.", state="draft")
    decide(rig, pair.item, Action.SUPERSEDE)
    assert statuses(rig, pair.have, pair.came) == ["superseded", "active"]


def test_dates_end_only_the_sentence_that_is_over(rig: Rig) -> None:
    pair = two_sentences(rig)
    decide(rig, pair.item, Action.KEEP_BOTH_DATED, begin=AT)
    old, new = rig.get(str(pair.have)), rig.get(pair.came)
    assert (old.valid_from, old.valid_to, new.valid_from) == (None, None, AT.ms)
    ends: dict[str, int | None] = dict(
        rig.rows("SELECT value, valid_to FROM claims WHERE value IN ('Graz', 'Siemens')")
    )
    assert ends == {"Graz": AT.ms, "Siemens": None}
    assert held(rig, pair.came) == {"Vienna": "asserted"}


def test_dates_of_a_newcomer_of_several_sentences_are_those_of_one(rig: Rig) -> None:
    pair = make_pair(rig, have(value=None), came("User lives in Vienna. User works at Bosch.", None))
    claim(rig, str(pair.have), "lives_in", "Graz", "User lives in Graz.")
    claim(rig, pair.came, "lives_in", "Vienna", "User lives in Vienna.", state="draft")
    claim(rig, pair.came, "works_at", "Bosch", "User works at Bosch.", state="draft")
    decide(rig, pair.item, Action.KEEP_BOTH_DATED, begin=AT, end=When(AT.ms + DAY_MS, Precision.DAY))
    assert (rig.get(pair.came).valid_from, rig.get(pair.came).valid_to) == (None, None)
    assert rig.get(str(pair.have)).valid_to == AT.ms
    assert rig.value("SELECT valid_to FROM claims WHERE value = 'Vienna'") == AT.ms + DAY_MS
    assert rig.value("SELECT valid_to FROM claims WHERE value = 'Bosch'") is None


@pytest.mark.parametrize("action", [Action.SUPERSEDE, Action.KEEP_BOTH])
def test_what_else_the_newcomer_contradicts_becomes_a_question(rig: Rig, action: Action) -> None:
    pair = make_pair(rig, have(value=None), came("User lives in Vienna. User works at Bosch.", None))
    claim(rig, str(pair.have), "lives_in", "Graz", "User lives in Graz.")
    claim(rig, pair.came, "lives_in", "Vienna", "User lives in Vienna.", state="draft")
    claim(rig, pair.came, "works_at", "Bosch", "User works at Bosch.", state="draft")
    other = rig.store("I work at Siemens.").memory_id
    claim(rig, other, "works_at", "Siemens", "I work at Siemens.")
    decide(rig, pair.item, action)
    assert statuses(rig, other, pair.came) == ["active", "active"]
    assert held(rig, pair.came) == {"Vienna": "asserted", "Bosch": "draft"}
    asked = rig.rows("SELECT kind, incoming_id, existing_id FROM conflicts WHERE state = 'open'")
    assert asked == [("contradiction", pair.came, other)]


def test_letting_it_stand_takes_the_owners_doubt_back(rig: Rig) -> None:
    pair = make_pair(rig)
    voice(rig, pair.came, "dispute", START_MS)
    before = rig.dump()
    done = decide(rig, pair.item, Action.SUPERSEDE)
    assert voices(rig, pair.came) == [("owner", "confirm")]
    other = rig.client("other", "read", "write", "space:home")
    said = rig.engine.memories.reinforce(pair.came, other).result(30)
    assert said.status == "active"
    rig.undo(said.step_id)
    rig.undo(done.step_id)
    assert rig.dump()["verdicts"] == before["verdicts"]


def test_letting_it_stand_counts_at_once(rig: Rig) -> None:
    pair = make_pair(rig)
    trust = rig.get(pair.came).trust
    decide(rig, pair.item, Action.SUPERSEDE)
    memory = rig.get(pair.came)
    assert (memory.reinforcements, memory.disputes) == (1, 0)
    assert memory.trust > trust


def test_a_merge_by_the_owner_is_the_owners_word(rig: Rig) -> None:
    pair = make_pair(rig, have(source=Source.INFERENCE), came(source=Source.INFERENCE))
    decide(rig, pair.item, Action.MERGE, text="User lives in Graz and works in Vienna.")
    assert voices(rig, pair.have) == [("owner", "confirm")]
    owners = rig.rows("SELECT source FROM memory_sources WHERE memory_id = ? AND lineage = 'owner'", pair.have)
    assert owners == [("user_explicit",)]
    memory = rig.get(str(pair.have))
    assert memory.reinforcements == 1
    assert memory.trust > 0.55


def test_keeping_mine_vouches_for_what_is_kept(rig: Rig) -> None:
    pair = make_pair(rig, have(source=Source.TOOL_OUTPUT))
    decide(rig, pair.item, Action.REJECT)
    assert voices(rig, pair.have) == [("owner", "confirm")]
    assert voices(rig, pair.came) == []


def test_turning_an_instruction_down_says_nothing_of_the_other(rig: Rig) -> None:
    pair = make_pair(rig, have(source=Source.TOOL_OUTPUT), kind="injection", reason="suspicious")
    decide(rig, pair.item, Action.REJECT)
    assert voices(rig, pair.have) == []


def test_what_a_client_decides_is_not_vouched_for(rig: Rig) -> None:
    pair = make_pair(rig, have(source=Source.TOOL_OUTPUT))
    curator = rig.client("curator", "read", "write", "curate", "space:home")
    decide(rig, pair.item, Action.REJECT, curator)
    assert voices(rig, pair.have) == []
    assert state_of(rig, pair.item)[2] == "decided_client"


def test_confirming_what_seemed_out_of_date_counts_at_once(rig: Rig) -> None:
    pair = make_pair(rig, new=have("Old.", None, source=Source.DOCUMENT), kind="stale", alone=True)
    later(rig, 400)
    rig.write(lambda tx: tx.run("UPDATE memories SET trust = 0.31 WHERE id = ?", (pair.came,)))
    decide(rig, pair.item, Action.SUPERSEDE)
    memory = rig.get(pair.came)
    assert voices(rig, pair.came) == [("owner", "confirm")]
    assert memory.reinforcements == 1
    assert memory.trust > 0.6


def test_a_proposal_against_the_persons_word_is_shown_beside_it_before_it_ends_anything(rig: Rig) -> None:
    home = {"subject": "user", "predicate": "lives_in", "value": "Graz"}
    said = rig.store("I live in Graz.", claim=home).memory_id
    helper = rig.client("helper", "read", "propose", "space:home")
    reply = rig.store("User lives in Vienna.", helper, space="home", claim=home | {"value": "Vienna"})
    assert reply.operation == "PROPOSED"
    decide(rig, str(reply.conflict), Action.SUPERSEDE)
    assert statuses(rig, said, reply.memory_id) == ["active", "quarantined"]
    asked = rig.rows("SELECT id, kind, existing_id, incoming_id FROM conflicts WHERE state = 'open'")
    assert [row[1:] for row in asked] == [("contradiction", said, reply.memory_id)]
    decide(rig, str(asked[0][0]), Action.SUPERSEDE)
    assert statuses(rig, said, reply.memory_id) == ["superseded", "active"]


def test_of_two_that_were_doubted_at_the_desk_the_person_confirms_one(rig: Rig) -> None:
    pair = make_pair(rig, have("The lake is deep.", None), came("The lake is shallow.", None))
    decide(rig, pair.item, Action.DISPUTE_BOTH)
    assert statuses(rig, pair.have, pair.came) == ["disputed", "disputed"]
    rig.engine.memories.confirm(pair.came, OWNER_ACTOR).result(30)
    assert statuses(rig, pair.have, pair.came) == ["disputed", "active"]
