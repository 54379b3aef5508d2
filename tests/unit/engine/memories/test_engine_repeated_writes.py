"""Every write of a client with a request_id is carried out once, however often it comes (design section 8)."""

from __future__ import annotations

from typing import Any

import pytest
from client_writes import WRITES, writer
from engine_rig import Rig, differences, refused

from core.errors import Code


@pytest.mark.parametrize("method", WRITES)
def test_a_write_that_comes_twice_is_carried_out_once(rig: Rig, method: str) -> None:
    one = writer(rig)
    first = one.say(method, request_id="r-1")
    rig.settle()
    before, counted = rig.dump(), _counted(rig)
    assert one.say(method, request_id="r-1") == first
    assert differences(before, rig.dump()) == {}
    assert _counted(rig) == counted
    with refused(Code.INVALID_INPUT):
        one.say("memory_store", text="Something else.", request_id="r-1")


def _counted(rig: Rig) -> Any:
    tables = ("undo_steps", "requests", "jobs", "audit", "consolidation_log")
    return [rig.value(f"SELECT count(*) FROM {table}") for table in tables]  # noqa: S608 - constants
