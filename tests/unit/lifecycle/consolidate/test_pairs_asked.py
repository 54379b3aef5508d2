"""The relation model is asked last, and only where its answer matters; the deeds are those of asking about all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from engine_rig import HandClock, Rig, rig_at
from gathering_rig import DAY_MS, told
from ground_rig import ground_of, near_of
from real_models import real_embedder

from core.belief.relate.distinctions import has_contradiction
from core.belief.relate.relation_model import RelationModel
from core.belief.trust_gate import may_act_on
from core.engine.startup import built_in_readers
from core.intake.claims import TextReaders
from core.lifecycle.consolidate import duplicates as sameness
from core.lifecycle.consolidate import pairs
from core.lifecycle.consolidate.consolidate import thresholds_in_force
from core.lifecycle.consolidate.duplicates import DuplicatePair, DuplicatePlan, find_duplicates
from core.lifecycle.consolidate.pairs import (
    NearPairs,
    NeighbourPool,
    find_near_pairs,
    read_pair_decisions,
    read_pair_relations,
    read_sides,
    select_pairs,
)
from core.lifecycle.job_support.job_context import JobContext
from core.types.belief import ComparedText, Label, Relation
from core.types.values import Kind, Source

SPACES = (
    "The user prefers 2-space indentation.",
    "User likes two-space indentation.",
    "Prefers indentation with 2 spaces.",
    "The user wants code indented by two spaces.",
    "Two-space indentation is what the user prefers.",
    "The user likes indentation of two spaces.",
)
DUE = ("The quarterly report is due on the tenth of April.", "The quarterly report is due on 10 April.")
OVENS = (
    "The oven in the bakery runs at 230 degrees.",
    "The oven in the bakery runs at 230 degrees in the morning.",
    "The bakery's oven is run at 230 degrees.",
    "The oven in the bakery was cleaned on Monday.",
)


class Counting(RelationModel):
    """The shipped model, and how many pairs it read."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.asked = 0

    @property
    def alone(self) -> Counting:
        """It is on one thread already."""
        return self

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        self.asked += len(pairs)
        return super().classify(pairs)


@pytest.fixture
def model() -> Counting:
    return Counting()


@pytest.fixture
def rig(tmp_path: Path, model: Counting) -> Iterator[Rig]:
    readers = TextReaders(extract=built_in_readers().extract, relate=model)
    with rig_at(tmp_path, embedder=real_embedder(), readers=readers) as made:
        yield made


def looked_at(rig: Rig) -> tuple[JobContext, NearPairs]:
    ground = ground_of(rig, near=near_of(rig))
    lines = thresholds_in_force(ground)
    return ground, find_near_pairs(ground, min(lines.dedup, lines.corroborate, lines.cluster))


def same(ground: JobContext, near: NearPairs) -> DuplicatePlan:
    return find_duplicates(ground, near, thresholds_in_force(ground), ground.read(read_pair_decisions), frozenset())


def all_asked(ground: JobContext, near: NearPairs) -> DuplicatePlan:
    """What comes of it when every pair is read first and all is decided then."""
    lines, decisions, crowd = thresholds_in_force(ground), ground.read(read_pair_decisions), NeighbourPool(ground)
    some = [
        near.pair_at(int(place)) for place in select_pairs(ground, near, min(lines.dedup, lines.corroborate), crowd)
    ]
    sides = read_sides(ground, some)
    reading = sameness._DuplicateReader(ground, lines, decisions, frozenset(), crowd)
    duplicates: dict[str, list[DuplicatePair]] = {}
    for each in read_pair_relations(ground, some, sides, crowd):
        if has_contradiction(each.sides[0].compared_text.claims, each.sides[1].compared_text.claims):
            continue
        tie = reading._read_duplicate(each)
        if tie is not None:
            duplicates.setdefault(tie.keep.id, []).append(tie)
    found = reading.found
    for keep, ties in sorted(duplicates.items(), key=lambda pair: pair[1][0].keep.rank):
        free = [tie for tie in ties if tie.other.id not in found.leaving and tie.other.id not in found.stacks]
        if keep not in found.leaving and free:
            found.stacks[keep] = free
            found.leaving |= {tie.other.id for tie in free}
    sameness._add_merges(found, reading.merges)
    ground.read(lambda rows: sameness._add_confirmations(rows, found, reading.saying))
    return found


def of_every_sort(rig: Rig) -> None:
    for nr, text in enumerate(SPACES):
        told(rig, text, 5 + nr, pinned=int(nr == 3), source=Source.USER_IMPLICIT if nr == 4 else Source.INFERENCE)
        told(rig, text, 30 - nr, kind=Kind.EPISODE, lineage=f"talk:{nr % 3}")
    for nr, text in enumerate(DUE * 2):
        told(rig, text, 5, kind=Kind.RULE if nr % 2 else Kind.FACT, scope_session="one" if nr > 1 else "")
    for nr, text in enumerate(OVENS):
        told(rig, text, 9 + nr, lineage="document:a" if nr < 2 else f"talk:{nr}")


@pytest.mark.slow
def test_the_deeds_are_those_of_asking_about_every_pair(rig: Rig, model: Counting) -> None:
    of_every_sort(rig)
    ground, near = looked_at(rig)
    before = model.asked
    found = same(ground, near)
    few = model.asked - before
    assert found.stacks
    assert found.confirms
    assert found == all_asked(ground, near)
    assert few < model.asked - before, "something was not worth asking"


def test_of_what_goes_beneath_another_nothing_more_is_asked(rig: Rig, model: Counting) -> None:
    for nr, text in enumerate(SPACES):
        told(rig, text, 60 - nr)
    ground, near = looked_at(rig)
    before = model.asked
    found = same(ground, near)
    assert len(found.leaving) == len(SPACES) - 1
    assert model.asked - before < len(near.pairs)


def test_of_one_source_and_two_kinds_nobody_is_asked(rig: Rig, model: Counting) -> None:
    told(rig, SPACES[0], 5, lineage="document:a")
    told(rig, SPACES[1], 5, lineage="document:a", kind=Kind.EPISODE)
    ground, near = looked_at(rig)
    assert len(near.pairs) == 1
    before = model.asked
    assert same(ground, near) == DuplicatePlan()
    assert model.asked == before


def test_every_pair_has_its_turn_and_of_one_day_it_is_the_same_ones(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for nr, text in enumerate(SPACES):
        told(rig, text, 60 - nr)
    _, near = looked_at(rig)
    ground = ground_of(rig)
    every = select_pairs(ground, near, 0.6, NeighbourPool(ground)).tolist()
    assert every == list(range(len(near.pairs)))
    monkeypatch.setattr(pairs, "MOST_PAIRS", 4)
    assert isinstance(rig.clock, HandClock)
    reached: set[int] = set()
    for _ in range(len(every)):
        today = select_pairs(ground, near, 0.6, NeighbourPool(ground)).tolist()
        assert today == select_pairs(ground, near, 0.6, NeighbourPool(ground)).tolist()
        assert len(set(today)) == 4
        assert today[:2] == [0, 1], "the nearest are always among them"
        reached |= set(today)
        rig.clock.at_ms += DAY_MS
    assert reached == set(every)


@pytest.mark.parametrize(("sql", "more"), [(pairs._NODES, {}), (pairs._VECTORS, {"space": "s", "dims": 3, "after": 1})])
def test_a_few_are_read_without_walking_through_all(rig: Rig, sql: str, more: dict[str, object]) -> None:
    """At 50,000 memories each of these took seconds for some hundred rows, in the writer's transaction too."""
    given = {"labels": "[1]"} if not more else {**more, "most": 2}
    found = rig.opened.storage.vault.read(lambda rows: rows.all("EXPLAIN QUERY PLAN " + sql, given))
    steps = " | ".join(str(row[3]) for row in found)
    assert "ix_memories_reach" not in steps
    assert "TEMP B-TREE" not in steps
    assert "SEARCH m USING INTEGER PRIMARY KEY" in steps


def test_the_label_says_what_is_merged(rig: Rig) -> None:
    assert sameness._MERGE.label is Label.MERGE
    assert may_act_on(sameness._MERGE)
