"""What the person is told before the deed: taking back does what was promised; what one would see is what it gets."""

from __future__ import annotations

import threading
from collections import Counter
from typing import NoReturn

import pytest
from engine_rig import HandClock, Rig

from core.engine.clients import client_undo
from core.engine.runtime.storage import Storage
from core.types.clients import ContextPreview, Undoable
from core.types.values import OWNER_ACTOR, Actor
from core.vault.database.tx import Tx

DAY_MS = 86_400_000


def busy(rig: Rig) -> None:
    """A client of which some can be taken back, some was changed since, some is too old, some the person's by now."""
    claude = rig.client("Claude", "read", "write", "curate")
    rig.store("Long ago the jar was blue", claude)
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(100 * DAY_MS)
    rig.engine.clients.resume("Claude").result(10)
    gone = rig.store("The kettle is red", claude).memory_id
    rig.forget(gone, claude)
    mine = rig.store("The boiler is green", claude).memory_id
    rig.engine.memories.confirm(mine, OWNER_ACTOR).result(10)
    rig.store("The shed is brown", claude)


def would(rig: Rig, since_ms: int = 0) -> Undoable:
    return rig.engine.clients.preview_undo("Claude", since_ms).result(10)


def test_taking_back_does_what_was_promised(rig: Rig) -> None:
    busy(rig)
    told = would(rig)
    assert (told.steps, told.left, told.expired) == (3, 1, 1)
    assert told.by_verb == Counter(store=2, forget=1)
    assert told.memories == 2
    done = rig.engine.clients.undo_since("Claude", 0).result(10)
    assert (done.steps, done.left) == (told.steps, told.left)


def test_removing_all_does_what_was_promised(rig: Rig) -> None:
    busy(rig)
    told = would(rig)
    done = rig.engine.clients.remove_all("Claude").result(10)
    assert (done.steps, done.left, done.archived) == (told.steps, told.left_removing, told.archived)
    assert told.archived >= 1


def test_where_all_was_changed_since_nothing_is_promised(rig: Rig) -> None:
    claude = rig.client("Claude", "read", "write")
    memory = rig.store("The boiler is blue", claude).memory_id
    rig.forget(memory)
    told = would(rig)
    assert (told.steps, told.left, told.memories, dict(told.by_verb)) == (0, 1, 0, {})
    done = rig.engine.clients.undo_since("Claude", 0).result(10)
    assert (done.step_id, done.steps, done.left) == ("", 0, 1)


def test_a_look_at_what_would_be_taken_back_changes_nothing(rig: Rig) -> None:
    busy(rig)
    before, steps = rig.dump(), rig.rows("SELECT id, undone_by FROM undo_steps ORDER BY id")
    state = rig.rows("SELECT seq, last_at, purge_open FROM vault_state")
    first = would(rig)
    assert would(rig) == first
    assert rig.dump() == before
    assert rig.rows("SELECT id, undone_by FROM undo_steps ORDER BY id") == steps
    assert rig.rows("SELECT seq, last_at, purge_open FROM vault_state") == state
    assert rig.verify()["status"] == "ok"
    rig.store("And writing goes on")
    assert "And writing goes on" in rig.texts()


def test_one_that_may_not_read_would_be_given_nothing(rig: Rig) -> None:
    rig.client("Mute", "write", "all_spaces")
    rig.client("Claude", "read", "all_spaces")
    rig.store("The boat is called Heron")
    clients = rig.engine.clients
    assert clients.preview_context("Mute", "What is the boat called?", 1_000).result(10) == ContextPreview(
        "", 0, 1_000, (), {}
    )
    assert clients.preview_context("Claude", "What is the boat called?", 1_000).result(10).given


def test_of_very_many_steps_only_the_newest_are_tried_and_that_is_said(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy(rig)
    whole = would(rig)
    assert whole.untried == 0
    monkeypatch.setattr(client_undo, "TRIED", 2)
    told = would(rig)
    assert (told.steps, told.left, told.untried) == (1, 1, 2)
    assert (told.expired, told.archived) == (whole.expired, whole.archived)
    assert told.memories <= whole.memories


def test_who_writes_goes_before_a_preview_and_one_that_is_not_wanted_never_begins(rig: Rig) -> None:
    busy(rig)
    tried: list[int] = []
    done: list[str] = []
    ready, go = threading.Event(), threading.Event()

    def hold(_tx: Tx) -> None:
        ready.set()
        assert go.wait(60)

    held = rig.opened.storage.write(hold)
    assert ready.wait(60)
    with pytest.MonkeyPatch.context() as patch:
        rehearse = client_undo.rehearse_client_undo

        def counted(tx: Tx, storage: Storage, client_id: str, since_ms: int, actor: Actor) -> NoReturn:
            tried.append(since_ms)
            done.append("preview")
            rehearse(tx, storage, client_id, since_ms, actor)

        patch.setattr(client_undo, "rehearse_client_undo", counted)
        unwanted = [rig.engine.clients.preview_undo("Claude", since) for since in (1, 2, 3)]
        wanted = rig.engine.clients.preview_undo("Claude", 0)

        def write(_tx: Tx) -> None:
            done.append("write")

        written = rig.opened.storage.write(write)
        assert [one.cancel() for one in unwanted] == [True, True, True]
        go.set()
        assert wanted.result(60).steps == 3
        held.result(60)
        written.result(60)
    assert tried == [0]
    assert done == ["write", "preview"]
