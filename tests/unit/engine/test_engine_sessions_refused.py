"""Turns that cannot be kept, or not whole: what is refused changes nothing, and what is too much is left out alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from engine_rig import START_MS, HandClock, Rig, error_of, rig_at
from real_models import real_readers

from core.errors import Code, EnvironmentFaultError
from core.sessions import table
from core.types.sessions import CaptureRequest, Message, TurnBegun, TurnEnd, TurnQuery
from core.types.values import Actor, Source


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=real_readers(), clock=HandClock(START_MS)) as rig:
        yield rig


def user(text: str) -> Message:
    return Message(text, Source.USER_IMPLICIT)


def begin(rig: Rig, actor: Actor, prompt: str = "What colour is the lamp?") -> TurnBegun:
    return rig.engine.sessions.begin_turn(TurnQuery(prompt, "s"), actor).result(60)


def held(rig: Rig, actor: Actor) -> dict[str, float]:
    found = rig.engine.sessions._table.look((actor.client_id, "s"))
    return {} if found is None or found.left is None else dict(found.left.slots)


def _disk_full(*_: object) -> None:
    raise EnvironmentFaultError(Code.DISK_FULL, "The disk is full.")


@pytest.mark.parametrize("named", [False, True])
def test_an_end_that_was_refused_is_tried_again_as_the_same_turn(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    plug = rig.client("plug", "read", "write")
    begun = begin(rig, plug)
    asked = TurnEnd("s", begun.turn if named else None, (user("I live in Lisbon."),))
    with monkeypatch.context() as full:
        full.setattr("core.engine.sessions.write_capture", _disk_full)
        assert error_of(rig.engine.sessions.end_turn(asked, plug)).code is Code.DISK_FULL
    assert rig.engine.sessions.open_turns(plug) == 0
    ended = rig.engine.sessions.end_turn(asked, plug).result(60)
    assert (ended.turn, ended.begun, ended.captured.episodes) == (begun.turn, True, 1)
    assert rig.engine.sessions.end_turn(replace(asked, turn=begun.turn), plug).result(60) == ended
    assert not rig.engine.sessions.end_turn(TurnEnd("s"), plug).result(60).begun


@pytest.mark.parametrize("request_id", [None, "r"])
def test_a_close_that_was_refused_has_closed_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, request_id: str | None
) -> None:
    rig.store("The lamp is red.", space="GLOBAL")
    plug = rig.client("plug", "read", "write")
    begin(rig, plug, "lamp")
    before = held(rig, plug)
    assert before
    with monkeypatch.context() as full:
        full.setattr(table, "load_working_set", _disk_full)
        assert error_of(rig.engine.sessions.close("s", plug, request_id)).code is Code.DISK_FULL
    assert (held(rig, plug), rig.engine.sessions.open_turns(plug)) == (before, 1)
    closed = rig.engine.sessions.close("s", plug, request_id).result(60)
    assert (closed.saved, closed.ended) == (len(before), 1)
    assert (held(rig, plug), rig.engine.sessions.open_turns(plug)) == ({}, 0)
    begin(rig, plug, "lamp")
    assert rig.engine.sessions.close("s", plug, request_id).result(60).ended == 1
    assert rig.engine.sessions.open_turns(plug) == int(request_id is not None)


def bound(rig: Rig, most: int) -> None:
    rig.opened.storage.work.client_waits = most


TOLD = ("I live in Lisbon.", "My sister lives in Porto.", "I work at Northwind.")


def test_a_turn_at_the_bound_is_kept_but_for_what_would_wait(rig: Rig) -> None:
    plug = rig.client("plug", "read", "propose")
    bound(rig, 2)
    asked = CaptureRequest("s", tuple(user(text) for text in TOLD))
    captured = rig.engine.sessions.capture_messages(asked, plug).result(60)
    assert (captured.proposed, captured.skipped, len(captured.ids)) == (2, 1, 2)
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 2
    assert rig.value("SELECT count(*) FROM consolidation_log") == rig.value("SELECT count(*) FROM memories") == 2
    again = rig.engine.sessions.end_turn(TurnEnd("s", messages=(user("My brother lives in Oslo."),)), plug).result(60)
    assert (again.captured.proposed, again.captured.skipped, again.captured.ids) == (0, 1, ())
    bound(rig, 3)
    again = rig.engine.sessions.end_turn(TurnEnd("s", messages=(user("My brother lives in Oslo."),)), plug).result(60)
    assert (again.captured.proposed, again.captured.skipped) == (1, 0)


def test_a_writers_turn_at_the_bound_keeps_its_messages(rig: Rig) -> None:
    rig.store("I live in Lisbon.", space="home")
    plug = rig.client("plug", "read", "write", "space:home")
    bound(rig, 1)
    rig.store("I live in Porto.", plug, space="home")
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 1
    asked = CaptureRequest("s", (user("I live in Faro."), user("The lamp is red.")), space="home")
    captured = rig.engine.sessions.capture_messages(asked, plug).result(60)
    assert captured.episodes == 2
    assert captured.skipped >= 1
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'") == 1


def test_sessions_that_only_end_turns_are_bounded_too(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.sessions.table.MOST_SESSIONS", 3)
    plug = rig.client("plug", "read", "write")
    for number in range(6):
        told = (user(f"My sister lives in {'ABCDEF'[number]}ville."),)
        assert rig.engine.sessions.end_turn(TurnEnd(f"s{number}", messages=told), plug).result(60).at_hand == 1
        assert len(rig.engine.sessions.list_in_use(plug.client_id)) <= 3
    assert (plug.client_id, "s5") in rig.engine.sessions.list_in_use(plug.client_id)
    assert rig.engine.sessions._table.leaving((plug.client_id, "s0")) is None  # it is saved
    assert rig.engine.sessions.close("s0", plug).result(60).saved == 1
