"""Rows become frozen memories with nothing lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from recall_rig import NOW_MS, Note, Rig, WordEmbedder, memory_id

from core.memory.read import read_by_id, read_by_ids, read_by_labels, read_occurred
from core.types.values import Kind, Precision, Role, Source, Status, When


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig(WordEmbedder())
    yield made
    made.close()


def test_every_column_comes_back(rig: Rig) -> None:
    note = Note(
        text="exact\0text ",
        kind=Kind.FACT,
        status=Status.DISPUTED,
        space="work",
        author="Maria",
        role=Role.TOOL,
        ref="r-1",
        conversation="c",
        position=3,
        occurred_ms=5,
        valid_from=1,
        valid_to=9,
        category="food",
        importance=0.25,
        confidence=0.75,
        tags=("a", "b"),
    )
    rig.add([note])
    rig.change(
        "UPDATE memories SET extra = '{\"title\": \"t\"}', flags = '[\"f\"]', pinned = 1, occurred_prec = 'day', "
        "occurred_offset = 60, access_count = 4, last_accessed_at = 8, reinforcements = 2, disputes = 1"
    )
    found = read_by_labels(rig.rows, [1])[1]
    assert (found.text, found.kind, found.status, found.space) == ("exact\0text ", Kind.FACT, Status.DISPUTED, "work")
    assert (found.author, found.role, found.ref, found.source) == ("Maria", Role.TOOL, "r-1", Source.USER_IMPLICIT)
    assert (found.conversation_id, found.position) == ("c", 3)
    assert found.occurred == When(5, Precision.DAY, 60)
    assert (found.valid_from, found.valid_to, found.recorded_at, found.retired_at) == (1, 9, NOW_MS, None)
    assert (found.category, found.importance, found.confidence, found.trust) == ("food", 0.25, 0.75, 0.75)
    assert (found.tags, found.flags, dict(found.extra)) == (("a", "b"), ("f",), {"title": "t"})
    assert (found.access_count, found.last_accessed_at, found.reinforcements, found.disputes) == (4, 8, 2, 1)
    assert found.pinned is True
    assert found.chain_id == found.id == memory_id(1)


def test_unknown_ones_are_passed_over(rig: Rig) -> None:
    ids = rig.add([Note("one"), Note("two")])
    assert read_by_id(rig.rows, "nothing") is None
    assert sorted(read_by_labels(rig.rows, [2, 1, 9])) == [1, 2]
    assert {key: memory.text for key, memory in read_by_ids(rig.rows, [ids[1], "x"]).items()} == {ids[1]: "two"}
    assert read_by_labels(rig.rows, []) == {}


def test_an_unknown_time_stays_unknown() -> None:
    assert read_occurred(None, None, None) is None
    assert read_occurred(7, None, None) == When(7, Precision.MS, None)
