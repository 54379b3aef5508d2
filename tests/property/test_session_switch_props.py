"""Rapid switches among five clients lose nothing, whenever what was put away comes to be saved (E17.5.5, X32)."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from core.sessions.table import Name, RestoredSlots, SessionSnapshot, SessionTable, mark_used
from core.types.sessions import Resumed

CLIENTS = st.sampled_from([(f"client{n}", "main") for n in range(5)])
STEPS = st.lists(
    st.tuples(
        CLIENTS,
        st.sampled_from(["turn", "leave", "save", "idle", "lock"]),
        st.dictionaries(st.sampled_from("abcdefghijkl"), st.floats(0.2, 1), max_size=4),
    ),
    max_size=100,
)


class Vault:
    """What was saved, and a table above it; saves come when they come."""

    def __init__(self) -> None:
        self.table = SessionTable()
        self.kept: dict[Name, SessionSnapshot] = {}
        self.waiting: list[SessionSnapshot] = []

    def take_up(self, name: Name, now: int) -> Mapping[str, float]:
        """A session's working set, as the engine looks for it."""

        def find() -> RestoredSlots:
            left = self.table.leaving(name) or self.kept.get(name)
            return RestoredSlots({} if left is None else left.slots, Resumed.WHOLE)

        return self.table.take_up(name, now, find, lambda slots, _age: RestoredSlots(slots, Resumed.HELD)).slots

    def save(self) -> None:
        """Everything that was put away is written, in its order."""
        for left in self.waiting:
            self.kept[left.name] = left
            self.table.saved([left])
        self.waiting = []


@given(STEPS)
def test_every_session_is_as_its_own_turns_left_it(steps: list[tuple[Name, str, dict[str, float]]]) -> None:
    vault, model = Vault(), dict[Name, Mapping[str, float]]()
    for now, (name, step, given_now) in enumerate(steps):
        if step == "turn":
            vault.table.open(name, f"t{now}", now, 1)
            assert vault.take_up(name, now) == model.get(name, {})
            vault.table.use(name, given_now, now)
            model[name] = mark_used(model.get(name, {}), given_now)
        elif step == "leave":
            vault.waiting += vault.table.leave([name]).left
            assert vault.table.open_turns(name[0]) == 0
        elif step == "idle":
            vault.waiting += vault.table.leave_idle(now - 3).left
        elif step == "save":
            vault.save()
        else:
            vault.waiting += vault.table.leave_all().left
            vault.save()  # a lock waits for it
    for name, slots in model.items():
        assert vault.take_up(name, len(steps)) == slots
