"""Whatever is added, undone, restarted or rebuilt: nothing that has a place ever stands elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from engine_rig import Rig, facts, rig_at, talk
from example_counts import count_examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Code, LociError
from core.types.values import OWNER_ACTOR, Kind

SPACES = (None, "Work", "Attic")
Row = tuple[str, str, float, float]


class Life:
    """Does things to a palace at random and remembers where everything stood."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.stood: dict[str, Row] = {}
        self.rooms: dict[str, Row] = {}
        self.undone: list[str] = []

    def store(self, a: int, b: int) -> None:
        self.rig.store(f"Thought {a} on {'tea' if b % 2 else 'bees'}", kind=Kind.EPISODE, space=SPACES[b % 3])

    def bring(self, a: int, b: int) -> None:
        rows = [*talk(10 + 10 * a, f"chat{b}"), *facts(2 * b, 50 * a)]
        self.rig.bring(rows, SPACES[b % 3], name=f"{a}-{b}.jsonl")

    def forget(self, a: int, _: int) -> None:
        ids = [row[0] for row in self.rig.rows("SELECT id FROM memories WHERE status <> 'deleted' ORDER BY n")]
        if ids:
            self.rig.forget(ids[a % len(ids)])

    def unimport(self, a: int, _: int) -> None:
        ids = [row[0] for row in self.rig.rows("SELECT id FROM imports WHERE state = 'done' ORDER BY rowid")]
        if ids:
            self.undone.append(self.rig.unimport(ids[a % len(ids)]).undo_step_id)

    def undo(self, _: int, __: int) -> None:
        self.undone.append(self.rig.engine.memories.undo_step(None, OWNER_ACTOR).result(30).undo_step_id)

    def redo(self, a: int, _: int) -> None:
        if self.undone:
            self.rig.undo(self.undone[a % len(self.undone)])

    def restart(self, a: int, _: int) -> None:
        self.rig.lock()
        if a % 2:
            self.rig.home.snapshot.unlink(missing_ok=True)
        self.rig.unlock()

    def arrange(self, _: int, __: int) -> None:
        self.rig.settle()
        self.rig.engine.palace.place_waiting().result(30)

    def do(self, verb: str, a: int, b: int) -> None:
        """One verb; that there is nothing to undo is no failure."""
        try:
            getattr(self, verb)(a, b)
        except LociError as error:
            if error.code not in {Code.NOT_FOUND, Code.INVALID_INPUT}:
                raise
        self.look()

    def look(self) -> None:
        """Who stood somewhere and stands at all, stands there still; also after it was gone and came back."""
        here = {row[0]: row for row in self.rig.rows("SELECT memory_id, room_id, x, y FROM places")}
        rooms = {row[0]: row for row in self.rig.rows("SELECT id, parent_id, x, y, w, h, name FROM rooms")}
        for memory_id, row in here.items():
            assert self.stood.get(memory_id, row) == row
        for room_id, row in rooms.items():
            assert self.rooms.get(room_id, row) == row
        assert len({row[1:] for row in here.values()}) == len(here)
        self.stood |= here
        self.rooms |= rooms


VERBS = ("store", "bring", "forget", "unimport", "undo", "redo", "restart", "arrange", "arrange")
CALLS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 3), st.integers(0, 5)), max_size=14)


@pytest.mark.slow
@settings(max_examples=count_examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CALLS)
def test_nothing_that_is_placed_moves(calls: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
        life = Life(rig)
        for verb, a, b in (*calls, ("arrange", 0, 0)):
            life.do(verb, a, b)
        waiting = sum(wing.waiting for wing in rig.engine.palace.read_plan().result(10).wings)
        assert waiting == 0
        assert rig.verify()["status"] == "ok"
