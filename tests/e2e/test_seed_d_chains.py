"""Seed D: the state machine of a newcomer and the questions about time, through the engine's facade.

The relation of two texts is handed in, so that every path of the machine is walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from engine_rig import START_MS, Rig, rig_at

from core.intake.reading import Readers
from core.types.belief import LABELS, Label, Relation, Told
from core.types.replies import StoreReply
from core.types.reviews import Action, Decision
from core.types.values import OWNER_ACTOR, When
from core.types.words import Source

DAY_MS = 86_400_000
FIRST, SECOND, THIRD = "The house is painted red", "The house is painted blue", "The house is painted white"


class Says:
    """Gives every pair the same relation."""

    def __init__(self, label: Label, confidence: float) -> None:
        self.label, self.confidence = label, confidence

    def classify(self, pairs: Sequence[tuple[Told, Told]]) -> tuple[Relation, ...]:
        """One relation for each pair."""
        rest = (1 - self.confidence) / 3
        shares = {one: self.confidence if one is self.label else rest for one in LABELS}
        return tuple(Relation(self.label, self.confidence, shares, "builtin", "model") for _ in pairs)


def saying(folder: Path, label: Label, confidence: float = 0.95) -> AbstractContextManager[Rig]:
    return rig_at(folder, readers=Readers(relate=Says(label, confidence)))


def later(rig: Rig, text: str, source: Source | None = None) -> StoreReply:
    rig.clock.advance(10 * DAY_MS)  # type: ignore[attr-defined]
    return rig.store(text, source=source)


def states(rig: Rig, *replies: StoreReply) -> list[str]:
    return [rig.get(reply.memory_id).status.value for reply in replies]


def test_no_match_is_added(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        reply = rig.store(FIRST)
        assert (reply.operation, states(rig, reply)) == ("ADD", ["active"])


def test_a_duplicate_is_skipped_and_its_source_counts(tmp_path: Path) -> None:
    with saying(tmp_path, Label.DUPLICATE) as rig:
        first = rig.store(FIRST)
        again = later(rig, "The house is painted in red")
        assert (again.operation, again.deduplicated, again.memory_id) == ("NOOP", True, first.memory_id)
        assert rig.texts() == [FIRST]


def test_a_successor_retires_the_old_one_and_both_point_at_each_other(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        first, second = rig.store(FIRST), later(rig, SECOND)
        assert (second.operation, second.superseded) == ("SUPERSEDE", (first.memory_id,))
        assert states(rig, first, second) == ["superseded", "active"]
        pointers = "SELECT superseded_by_id, supersedes_id, chain_id FROM memories WHERE id = ?"
        old, new = (rig.rows(pointers, reply.memory_id)[0] for reply in (first, second))
        assert (old[0], new[1], old[2]) == (second.memory_id, first.memory_id, new[2])


def test_a_merge_keeps_the_id_and_both_originals(tmp_path: Path) -> None:
    with saying(tmp_path, Label.MERGE) as rig:
        first = rig.store(FIRST, tags=("a",), importance=0.2)
        rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]
        second = rig.store("The house is painted with oil", tags=("b",), importance=0.9)
        assert (second.operation, second.merged, second.memory_id) == ("MERGE", True, first.memory_id)
        memory = rig.get(first.memory_id)
        assert (set(memory.tags), memory.importance) == ({"a", "b"}, 0.9)
        assert memory.occurred is not None
        assert memory.occurred.ms == START_MS
        texts = {one.text for one in rig.engine.memories.history(first.memory_id, OWNER_ACTOR).result(30)}
        assert {FIRST, "The house is painted with oil", memory.text} == texts


def test_what_may_stand_together_is_added_with_a_relation(tmp_path: Path) -> None:
    with saying(tmp_path, Label.COEXIST) as rig:
        first, second = rig.store(FIRST), later(rig, "The house is painted by Ada")
        assert (second.operation, states(rig, first, second)) == ("ADD", ["active", "active"])
        kinds = {edge["type"] for edge in rig.engine.memories.show(second.memory_id, OWNER_ACTOR).result(30).edges}
        assert kinds == {"coexists_with"}


@pytest.mark.parametrize("label", [Label.DUPLICATE, Label.SUPERSEDE, Label.MERGE])
def test_a_guess_changes_nothing_and_asks(tmp_path: Path, label: Label) -> None:
    with saying(tmp_path, label, 0.79) as rig:
        first, second = rig.store(FIRST), later(rig, SECOND)
        assert (second.operation, states(rig, first, second)) == ("ADD", ["active", "active"])
        (row,) = rig.engine.conflicts.queue().result(30).rows
        assert (row.id, row.kind) == (second.conflict, "classification")


def test_of_two_equals_in_review_recall_gives_the_later(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE, 0.79) as rig:
        rig.store(FIRST)
        later(rig, SECOND)
        assert rig.found("house painted") == [SECOND]


def test_a_guess_against_what_is_trusted_more_waits(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE, 0.6) as rig:
        first, second = rig.store(FIRST), later(rig, SECOND, Source.DOCUMENT)
        assert (second.operation, states(rig, first, second)) == ("QUARANTINE", ["active", "quarantined"])


def test_every_decision_is_in_the_consolidation_log(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        rig.store(FIRST)
        second = later(rig, SECOND)
        found = rig.rows("SELECT operation, memory_id FROM consolidation_log ORDER BY at DESC LIMIT 1")
        assert found == [("SUPERSEDE", second.memory_id)]


# ---- chains and time

Chain = tuple[Rig, list[StoreReply]]


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Chain]:
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        replies = [rig.store(FIRST), later(rig, SECOND), later(rig, THIRD)]
        yield rig, replies


def test_what_is_true_now(chain: Chain) -> None:
    rig, _ = chain
    assert rig.found("house painted") == [THIRD]


@pytest.mark.parametrize(("day", "text"), [(5, FIRST), (15, SECOND), (25, THIRD)])
def test_what_was_true_on_a_day(chain: Chain, day: int, text: str) -> None:
    rig, _ = chain
    assert rig.found("house painted", as_of_ms=START_MS + day * DAY_MS) == [text]


def test_nothing_was_true_before_the_first_was_said(chain: Chain) -> None:
    rig, _ = chain
    assert rig.found("house painted", as_of_ms=START_MS - DAY_MS) == []


def test_the_history_of_a_fact_from_any_of_its_versions(chain: Chain) -> None:
    rig, replies = chain
    for reply in replies:
        found = rig.engine.memories.history(reply.memory_id, OWNER_ACTOR).result(30)
        assert [memory.text for memory in found] == [FIRST, SECOND, THIRD]


def test_each_version_ends_where_the_next_begins(chain: Chain) -> None:
    rig, replies = chain
    ends = [rig.value("SELECT valid_to FROM memories WHERE id = ?", reply.memory_id) for reply in replies]
    assert ends == [START_MS + 10 * DAY_MS, START_MS + 20 * DAY_MS, None]


def test_a_version_that_is_told_late_takes_its_place_in_the_past(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        now = later(rig, SECOND)
        old = rig.store(FIRST, occurred=When(START_MS - 100 * DAY_MS))
        assert states(rig, old, now) == ["superseded", "active"]
        assert rig.found("house painted") == [SECOND]
        assert rig.found("house painted", as_of_ms=START_MS - 50 * DAY_MS) == [FIRST]


def test_undoing_the_last_version_brings_back_the_one_before(chain: Chain) -> None:
    rig, replies = chain
    rig.undo()
    assert states(rig, replies[1]) == ["active"]
    assert rig.found("house painted") == [SECOND]


def test_no_chain_is_broken_by_a_decision(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        first, held = rig.store(FIRST), later(rig, SECOND, Source.DOCUMENT)
        assert held.conflict is not None
        rig.engine.conflicts.resolve(held.conflict, Decision(Action.SUPERSEDE), OWNER_ACTOR).result(30)
        found = rig.engine.memories.history(first.memory_id, OWNER_ACTOR).result(30)
        assert [memory.text for memory in found] == [FIRST, SECOND]
        assert rig.verify()["status"] == "ok"
