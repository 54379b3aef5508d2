"""A memory of another kind than the caller named is one that does not exist: nothing is written or handed out."""

from __future__ import annotations

import pytest
from client_writes import WRITES, writer
from engine_rig import Rig, differences, error_of, refused

from core.errors import Code
from core.intake.transaction.admission import REASON_CHARACTERS
from core.ipc.protocol.contract import load_registry
from core.types.values import OWNER_ACTOR, Kind

NONE = "There is no such memory."
NAMED = [name for name in WRITES if "memory_type" in load_registry().methods[name].params["properties"]]


@pytest.mark.parametrize("method", NAMED)
def test_another_kind_is_answered_as_no_memory(rig: Rig, method: str) -> None:
    one = writer(rig)
    kind = "fact" if method.startswith("memory_mark") else "rule"
    before = rig.dump()
    with refused(Code.NOT_FOUND):
        one.say(method, memory_type=kind)
    assert differences(before, rig.dump()) == {}
    one.say(method, memory_type="fact" if kind == "rule" else "rule")
    assert differences(before, rig.dump()) != {}


def test_what_is_of_another_kind_is_not_handed_out(rig: Rig) -> None:
    plug = rig.client("plug", "read")
    fact = rig.store("The kettle stands in the pantry.", space="GLOBAL").memory_id
    for _ in range(3):
        error = error_of(rig.engine.memories.get(fact, plug, Kind.RULE))
        assert (error.code, error.sentence) == (Code.NOT_FOUND, NONE)
    assert rig.opened.read_log.disclosed_to(plug.client_id) == frozenset()
    assert rig.engine.memories.get(fact, plug, Kind.FACT).result(30).id == fact
    assert rig.opened.read_log.disclosed_to(plug.client_id) == {fact}


def test_a_reason_has_one_length(rig: Rig) -> None:
    one = writer(rig)
    longest, longer = "ü" * REASON_CHARACTERS, "ü" * (REASON_CHARACTERS + 1)
    for method in ("memory_dispute", "memory_mark_harmful", "memory_feedback", "memory_delete"):
        with refused(Code.INVALID_INPUT):
            one.say(method, reason=longer)
        one.say(method, reason=longest)
    with refused(Code.INVALID_INPUT):
        rig.engine.memories.dispute(one.other, OWNER_ACTOR, longer).result(30)


def test_the_engine_and_the_list_of_methods_name_the_same_length(rig: Rig) -> None:
    one = writer(rig)
    for reason, is_taken in (("a" * REASON_CHARACTERS, True), ("a" * (REASON_CHARACTERS + 1), False)):
        problems = list(
            load_registry().methods["memory_dispute"].checker.iter_errors({"id": one.fact, "reason": reason})
        )
        assert (problems == []) is is_taken
