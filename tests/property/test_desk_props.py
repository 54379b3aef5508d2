"""Whatever is decided at the desk, in whatever order: taking all of it back leads to where it began."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from desk_rig import DAY_MS, Pair, Side, came, have, make_pair
from engine_rig import START_MS, Rig, differences, rig_at
from example_counts import count_examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Code, LociError
from core.types.replies import WaitingKind
from core.types.reviews import Decision, QueueRequest
from core.types.values import Action, Source, Status, When

QUICK = settings(
    max_examples=count_examples(6), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
UNEXPECTED = frozenset({Code.BUG, Code.VAULT_DAMAGED, Code.WRITE_FAILED, Code.VAULT_LOCKED})
_later = came("Newcomer of two.", "Linz", source=Source.TOOL_OUTPUT, status=Status.DISPUTED)
MADE: tuple[tuple[Side | None, Side, str], ...] = (
    (have("User lives in Graz.", "Graz"), came("User lives in Vienna.", "Vienna"), "contradiction"),
    (have("Ada lives in Graz.", None, source=Source.INFERENCE), came("Ada is in Rome.", None), "contradiction"),
    (have("Tea at five.", None, space="work"), came("Tea at six.", None, space="work"), "classification"),
    (have("Two of one.", "Bern", space="work"), Side(_later.text, _later.status, space="work"), "contradiction"),
    (None, came("Only one.", "Oslo"), "proposal"),
    (None, have("Old one.", None), "stale"),
)
ALL = len(MADE)
"""In the place of one item: all of them, as one batch."""
DECISIONS = st.lists(
    st.tuples(st.integers(0, ALL), st.sampled_from(list(Action)), st.booleans()), min_size=1, max_size=8
)


@contextmanager
def desk(folder: Path) -> Iterator[tuple[Rig, list[Pair]]]:
    with tempfile.TemporaryDirectory(dir=folder) as name, rig_at(Path(name)) as rig:
        yield rig, [make_pair(rig, old, new, kind=kind, alone=old is None) for old, new, kind in MADE]


def decision(action: Action, remember: bool, place: int) -> Decision:
    return Decision(
        action,
        text=f"United text {place}.",
        begin=When(START_MS + DAY_MS),
        when="in winter",
        remember=remember,
    )


def decide(rig: Rig, pairs: list[Pair], place: int, action: Action, *, remember: bool) -> None:
    """One decision, or a batch; what does not fit is refused in words."""
    wanted = decision(action, remember, place)
    try:
        if place == ALL:
            rig.engine.conflicts.resolve_many([pair.item for pair in pairs], wanted).result(30)
        else:
            rig.engine.conflicts.resolve(pairs[place].item, wanted).result(30)
    except LociError as error:
        if error.code in UNEXPECTED:
            raise


def standing(rig: Rig) -> int:
    return int(rig.value("SELECT count(*) FROM undo_steps WHERE undone_by IS NULL AND undoes_id IS NULL"))


@pytest.mark.slow
@QUICK
@given(wanted=DECISIONS)
def test_taking_all_decisions_back_leads_to_the_start(tmp_path: Path, wanted: list[tuple[int, Action, bool]]) -> None:
    with desk(tmp_path) as (rig, pairs):
        rig.settle()
        before, steps = rig.dump(), standing(rig)
        for place, action, remember in wanted:
            decide(rig, pairs, place, action, remember=remember)
        while standing(rig) > steps:
            assert rig.undo().left == ()
        rig.settle()
        after = rig.dump()
        after["conflicts"] = _never_skipped(after["conflicts"])
        assert differences({**before, "conflicts": _never_skipped(before["conflicts"])}, after) == {}
        assert rig.verify()["status"] == "ok"


def _never_skipped(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Without `later_until`: putting an item off is no step, so nothing takes it back."""
    return sorted((row[:14] + row[15:] for row in rows), key=repr)


@pytest.mark.slow
@QUICK
@given(wanted=DECISIONS)
def test_every_row_that_is_shown_can_be_decided(tmp_path: Path, wanted: list[tuple[int, Action, bool]]) -> None:
    with desk(tmp_path) as (rig, pairs):
        for place, action, _ in wanted:
            decide(rig, pairs, place, action, remember=False)
        shown = rig.engine.conflicts.list_queue(QueueRequest()).result(30)
        assert shown.total == rig.engine.conflicts.count_waiting().result(10)[WaitingKind.REVIEWS]
        for row in shown.rows:
            found = rig.engine.conflicts.read_item(row.id).result(10)
            assert found.state == "open"
            action = found.actions[0]
            rig.engine.conflicts.resolve(row.id, decision(action, remember=False, place=9)).result(30)
            rig.undo()
