"""Seed D: the state machine of a newcomer and the questions about time, through the engine's facade.

The relation of two texts is handed in, so that every path of the machine is walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from engine_rig import START_MS, Rig, rig_at

from core.intake.claims import TextReaders
from core.types.belief import LABELS, ComparedText, Label, Relation
from core.types.replies import StoreReply
from core.types.reviews import Decision
from core.types.values import OWNER_ACTOR, Action, Source, When

DAY_MS = 86_400_000
AGAIN = "Painted red the house is"  # a repeat says nothing of its own
FIRST, SECOND, THIRD = "The house is painted red", "The house is painted blue", "The house is painted white"


class Says:
    """Gives every pair the same relation."""

    def __init__(self, label: Label, confidence: float) -> None:
        self.label, self.confidence = label, confidence

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair."""
        rest = (1 - self.confidence) / 3
        shares = {one: self.confidence if one is self.label else rest for one in LABELS}
        return tuple(Relation(self.label, self.confidence, shares, "builtin", "model") for _ in pairs)


def saying(folder: Path, label: Label, confidence: float = 0.95) -> AbstractContextManager[Rig]:
    return rig_at(folder, readers=TextReaders(relate=Says(label, confidence)))


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
        texts = {one.text for one in rig.engine.memories.list_versions(first.memory_id, OWNER_ACTOR).result(30)}
        assert {FIRST, "The house is painted with oil", memory.text} == texts


def test_what_may_stand_together_is_added_with_a_relation(tmp_path: Path) -> None:
    with saying(tmp_path, Label.COEXIST) as rig:
        first, second = rig.store(FIRST), later(rig, "The house is painted by Ada")
        assert (second.operation, states(rig, first, second)) == ("ADD", ["active", "active"])
        kinds = {edge["type"] for edge in rig.engine.memories.show(second.memory_id, OWNER_ACTOR).result(30).edges}
        assert kinds == {"coexists_with"}


@pytest.mark.parametrize("label", [Label.DUPLICATE, Label.MERGE])
def test_a_guess_changes_nothing_and_is_a_note(tmp_path: Path, label: Label) -> None:
    with saying(tmp_path, label, 0.79) as rig:
        first, second = rig.store(FIRST), later(rig, AGAIN if label is Label.DUPLICATE else SECOND)
        assert (second.operation, states(rig, first, second)) == ("ADD", ["active", "active"])
        assert second.conflict is None
        assert rig.engine.conflicts.list_queue().result(30).rows == ()
        assert rig.rows("SELECT kind, note FROM conflicts") == [("classification", "may_belong")]


def test_the_persons_likely_later_word_on_the_same_holds(tmp_path: Path) -> None:
    with saying(tmp_path, Label.SUPERSEDE, 0.79) as rig:
        first, second = rig.store(FIRST), later(rig, SECOND)
        assert (second.operation, states(rig, first, second)) == ("SUPERSEDE", ["superseded", "active"])


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
        found = rig.engine.memories.list_versions(reply.memory_id, OWNER_ACTOR).result(30)
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
        found = rig.engine.memories.list_versions(first.memory_id, OWNER_ACTOR).result(30)
        assert [memory.text for memory in found] == [FIRST, SECOND]
        assert rig.verify()["status"] == "ok"


def test_the_pointers_of_a_chain_lead_both_ways(chain: Chain) -> None:
    rig, replies = chain
    first, second, third = (reply.memory_id for reply in replies)
    sql = "SELECT supersedes_id, superseded_by_id, version FROM memories WHERE id = ?"
    assert rig.rows(sql, first) == [(None, second, 1)]
    assert rig.rows(sql, second) == [(first, third, 2)]
    assert rig.rows(sql, third) == [(second, None, 3)]
    chains = {rig.value("SELECT chain_id FROM memories WHERE id = ?", one) for one in (first, second, third)}
    assert len(chains) == 1
    assert chains != {None}


@pytest.mark.parametrize(("day", "text"), [(0, FIRST), (10, SECOND), (20, THIRD), (2000, THIRD)])
def test_a_version_holds_from_its_first_moment_and_the_last_one_for_ever(chain: Chain, day: int, text: str) -> None:
    rig, _ = chain
    assert rig.found("house painted", as_of_ms=START_MS + day * DAY_MS) == [text]
    if day:
        assert rig.found("house painted", as_of_ms=START_MS + day * DAY_MS - 1) != ([text] if day < 2000 else [])


def test_exactly_one_version_of_a_chain_is_true_at_any_time(chain: Chain) -> None:
    rig, _ = chain
    for day in range(0, 40, 3):
        assert len(rig.found("house painted", as_of_ms=START_MS + day * DAY_MS)) == 1
    assert rig.texts() == [THIRD]
    assert rig.value("SELECT count(*) FROM memories WHERE valid_to IS NULL AND status = 'active'") == 1


def test_a_fact_that_never_changed_is_its_own_history(tmp_path: Path) -> None:
    with saying(tmp_path, Label.COEXIST) as rig:
        only = rig.store(FIRST)
        found = rig.engine.memories.list_versions(only.memory_id, OWNER_ACTOR).result(30)
        assert [memory.text for memory in found] == [FIRST]


class Readable:
    """The same sentence says the same, another one of the house replaces it."""

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair."""
        labels = [Label.DUPLICATE if old.text == new.text else Label.SUPERSEDE for old, new in pairs]
        return tuple(
            Relation(label, 0.97, {one: 0.97 if one is label else 0.01 for one in LABELS}, "builtin", "model")
            for label in labels
        )


def test_a_value_that_returns_is_a_new_version_of_the_same_chain(tmp_path: Path) -> None:
    with rig_at(tmp_path, readers=TextReaders(relate=Readable())) as rig:
        first, second = rig.store(FIRST), later(rig, SECOND)
        again = later(rig, FIRST)
        assert (again.operation, again.deduplicated) == ("SUPERSEDE", False)
        assert states(rig, first, second, again) == ["superseded", "superseded", "active"]
        history = rig.engine.memories.list_versions(again.memory_id, OWNER_ACTOR).result(30)
        assert [memory.text for memory in history] == [FIRST, SECOND, FIRST]
        for day, text in ((5, FIRST), (15, SECOND), (25, FIRST)):
            assert rig.found("house painted", as_of_ms=START_MS + day * DAY_MS) == [text]


# ---- the rest of the state machine


def test_an_older_duplicate_is_skipped_and_a_newer_one_updates(tmp_path: Path) -> None:
    with saying(tmp_path, Label.DUPLICATE) as rig:
        first = later(rig, FIRST, Source.DOCUMENT)
        trust = rig.get(first.memory_id).trust
        rig.clock.advance(5 * DAY_MS)  # type: ignore[attr-defined]
        newer = rig.store("The house is painted in red", rig.client("bot", "read", "write", "space:home"), space="home")
        assert (newer.operation, newer.memory_id) == ("NOOP", first.memory_id)
        memory = rig.get(first.memory_id)
        assert (memory.corroboration, memory.text) == (2, FIRST)
        assert memory.trust > trust
        assert rig.value("SELECT count(*) FROM memories WHERE status = 'active'") == 1


def test_all_of_a_decision_is_written_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Committed: the vector, the graph, the rows and the audit, in one transaction."""
    with saying(tmp_path, Label.SUPERSEDE) as rig:
        rig.store(FIRST)
        rig.settle()
        before, audit = rig.dump(), rig.value("SELECT count(*) FROM audit")
        with monkeypatch.context() as patch:
            patch.setattr("core.intake.store.store.write_new_vectors", _fails)
            rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]
            with pytest.raises(OSError, match="the disk is full"):
                rig.store(SECOND)
        assert rig.dump() == before
        assert rig.value("SELECT count(*) FROM audit") == audit
        second = later(rig, SECOND)
        assert rig.value("SELECT count(*) FROM embeddings e JOIN memories m ON m.n = e.n WHERE m.id = ?",
                         second.memory_id) == 1  # fmt: skip
        assert rig.value("SELECT count(*) FROM edges WHERE type = 'supersedes'") == 1
        assert rig.value("SELECT count(*) FROM audit") > audit


def _fails(*_: object) -> None:
    raise OSError("the disk is full")


def test_what_was_united_is_found_by_the_words_of_both(tmp_path: Path) -> None:
    with saying(tmp_path, Label.MERGE) as rig:
        first = rig.store("The house is painted red")
        rig.clock.advance(DAY_MS)  # type: ignore[attr-defined]
        rig.store("The house is painted with linseed oil")
        rig.settle()
        for query in ("house red", "linseed oil"):
            assert [item.memory.id for item in rig.recall(query).items] == [first.memory_id]
        revision = "SELECT count(*) FROM embeddings e JOIN memories m ON m.n = e.n WHERE m.id = ?"
        assert rig.value(revision, first.memory_id) == 1


@pytest.mark.parametrize(
    ("label", "operation", "noted"),
    [(Label.DUPLICATE, "NOOP", "DUPLICATE"), (Label.SUPERSEDE, "SUPERSEDE", "SUPERSEDE"),
     (Label.MERGE, "MERGE", "MERGE"), (Label.COEXIST, "ADD", None)],
)  # fmt: skip
def test_each_state_ends_in_its_operation_and_is_logged(
    tmp_path: Path, label: Label, operation: str, noted: str | None
) -> None:
    with saying(tmp_path, label) as rig:
        rig.store(FIRST)
        reply = later(rig, AGAIN if label is Label.DUPLICATE else "The house is painted in oil")
        assert reply.operation == operation
        assert reply.classification is not None
        assert reply.classification.label == label.value
        found = [row[0] for row in rig.rows("SELECT operation FROM consolidation_log ORDER BY at")]
        assert (noted in found) if noted else found
