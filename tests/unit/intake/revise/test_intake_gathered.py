"""A digest does not go on saying what was forgotten, replaced or doubted; what else it was made of stands again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import consolidation_rig
import pytest
from engine_rig import HandClock, Rig, differences
from gathering_rig import told

from core.intake.revise.revision_plan import OUTLIVED
from core.types.lifecycle import JobRow, JobState, JobType
from core.types.values import OWNER_ACTOR, Status
from core.types.views import Revision
from core.vault.database.tx import Tx

QUESTION = "What does the a desk abank pay out in?"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with consolidation_rig.opened(tmp_path) as made:
        yield made


@pytest.fixture
def sources(rig: Rig) -> list[str]:
    """Four memories beneath a digest; the first speaks of cents."""
    made = consolidation_rig.gathering(rig, "a")
    assert consolidate(rig).report["compressed"]["source_memories"] == len(made) == 4
    assert [text.count("pays out in") for text in rig.found(QUESTION)] == [4]
    return made


def consolidate(rig: Rig) -> JobRow:
    row = rig.engine.jobs.run(JobType.CONSOLIDATE).result(60)
    assert row.state is JobState.DONE
    return row


def digest(rig: Rig) -> tuple[str, str]:
    """Its id and its status."""
    found = rig.rows("SELECT id, status FROM memories WHERE kind = 'digest'")
    assert len(found) == 1
    return found[0][0], found[0][1]


def states(rig: Rig, ids: list[str]) -> list[str]:
    return [rig.value("SELECT status FROM memories WHERE id = ?", one) for one in ids]


def by_verb(rig: Rig, memory_id: str) -> str:
    return rig.forget(memory_id)


def in_the_library(rig: Rig, memory_id: str) -> str:
    done = rig.engine.library.revise_memories([memory_id], Revision(status=Status.DELETED)).result(30)
    assert done.step_id is not None
    return str(done.step_id)


@pytest.mark.parametrize("forget", [by_verb, in_the_library])
def test_what_is_forgotten_is_said_by_no_digest(
    rig: Rig, sources: list[str], forget: Callable[[Rig, str], str]
) -> None:
    before = rig.dump()
    step = forget(rig, sources[0])
    assert states(rig, sources) == ["deleted", "active", "active", "active"]
    assert digest(rig)[1] == "deleted"
    found = rig.found(QUESTION, limit=10)
    assert len(found) == 3
    assert not any("cents" in text for text in found)
    assert rig.verify()["status"] == "ok"
    assert rig.undo(step).left == ()
    assert not differences(before, rig.dump())


def test_a_digest_is_made_anew_without_what_was_forgotten(rig: Rig, sources: list[str]) -> None:
    rig.forget(sources[0])
    assert consolidate(rig).report["compressed"] == {"clusters": 1, "source_memories": 3}
    assert states(rig, sources) == ["deleted", "consolidated", "consolidated", "consolidated"]
    (text,) = rig.found(QUESTION)
    assert "cents" not in text
    assert text.count("pays out in") == 3


def test_what_is_erased_is_said_by_no_digest(rig: Rig, sources: list[str]) -> None:
    assert rig.engine.memories.erase([sources[0]], OWNER_ACTOR).result(30).memories == 2
    assert states(rig, sources[1:]) == ["active"] * 3
    assert rig.value("SELECT count(*) FROM memories WHERE text LIKE '%cents%'") == 0


def test_what_is_disputed_is_said_by_no_digest(rig: Rig, sources: list[str]) -> None:
    rig.engine.memories.dispute(sources[0], OWNER_ACTOR, "It never did.").result(30)
    assert states(rig, sources) == ["disputed", "active", "active", "active"]
    assert digest(rig)[1] == "archived"


def test_what_is_replaced_is_said_by_no_digest(rig: Rig, sources: list[str]) -> None:
    before = rig.dump()
    new = told(rig, "The a desk moved away", 1)
    held = rig.dump()
    assert differences(before, held)

    def replace(tx: Tx) -> str:
        with rig.opened.storage.work.verb(tx, "run", "Replace", OWNER_ACTOR) as verb:
            rig.opened.search.store_service.make_transitions(
                tx, verb, rig.opened.search.add_vectors, "owner"
            ).supersede(sources[0], new)
        return verb.step_id

    step = rig.write(replace)
    assert states(rig, sources) == ["superseded", "active", "active", "active"]
    assert digest(rig)[1] == "archived"
    assert rig.undo(step).left == ()
    assert not differences(held, rig.dump())


def test_a_digest_stays_where_a_source_goes_to_the_archive(rig: Rig, sources: list[str]) -> None:
    def archive(tx: Tx) -> None:
        with rig.opened.storage.work.verb(tx, "run", "Archive", OWNER_ACTOR) as verb:
            rig.opened.search.store_service.make_transitions(tx, verb, rig.opened.search.add_vectors, "rules").archive(
                sources[0], "expired"
            )

    rig.write(archive)
    assert states(rig, sources) == ["archived", "consolidated", "consolidated", "consolidated"]
    assert digest(rig)[1] == "active"


def test_what_lay_beneath_a_digest_that_faded_stays_in_the_archive(rig: Rig, sources: list[str]) -> None:
    faded = {"status": "archived", "status_reason": "faded"}
    rig.write(lambda tx: tx.update("memories", {"id": digest(rig)[0]}, faded))
    rig.forget(sources[0])
    assert states(rig, sources) == ["deleted", "archived", "archived", "archived"]


def test_beside_the_same_words_it_lies_beneath_them(rig: Rig, sources: list[str]) -> None:
    text = rig.value("SELECT text FROM memories WHERE id = ?", sources[1])
    again = told(rig, text, 1)
    rig.forget(sources[0])
    assert states(rig, [*sources[:3], again]) == ["deleted", "consolidated", "active", "active"]
    assert rig.value("SELECT consolidated_into FROM memories WHERE id = ?", sources[1]) == again


def bring_back(rig: Rig, memory_id: str) -> dict[str, int]:
    """What was refused, sentence to count."""
    return dict(rig.engine.library.revise_memories([memory_id], Revision(status=Status.ACTIVE)).result(30).refused)


def disputed(rig: Rig, source: str) -> str:
    """The digest that leaves with a source in doubt."""
    rig.engine.memories.dispute(source, OWNER_ACTOR, "It never did.").result(30)
    return digest(rig)[0]


def test_a_digest_that_left_is_not_brought_back_beside_its_sources(rig: Rig, sources: list[str]) -> None:
    made = disputed(rig, sources[0])
    (buried,) = rig.engine.jobs.list_archived().result(30).rows
    assert (buried.id, buried.reason, buried.can_return) == (made, "source_gone", False)
    assert bring_back(rig, made) == {OUTLIVED: 1}
    rig.engine.library.revise_memories([made], Revision(status=Status.DELETED)).result(
        30
    )  # that gives it another reason
    assert bring_back(rig, made) == {OUTLIVED: 1}
    assert digest(rig)[1] == "deleted"


def test_a_digest_that_the_person_put_away_comes_back(rig: Rig, sources: list[str]) -> None:
    made = digest(rig)[0]
    for away in (Status.ARCHIVED, Status.DELETED):
        rig.engine.library.revise_memories([made], Revision(status=away)).result(30)
        assert bring_back(rig, made) == {}
        assert digest(rig) == (made, "active")
    assert states(rig, sources) == ["consolidated"] * 4


@pytest.mark.parametrize("stands", [False, True])
@pytest.mark.parametrize("forget", [by_verb, in_the_library])
def test_a_digest_that_left_is_forgotten_with_what_it_was_made_of(
    rig: Rig, sources: list[str], forget: Callable[[Rig, str], str], stands: bool
) -> None:
    made = disputed(rig, sources[0])
    if stands:  # brought back before that was refused
        rig.write(lambda tx: tx.update("memories", {"id": made}, {"status": "active", "status_reason": None}))
    before = rig.dump()
    step = forget(rig, sources[1])
    assert states(rig, sources) == ["disputed", "deleted", "active", "active"]
    assert digest(rig)[1] == "deleted"
    assert bring_back(rig, made) == {OUTLIVED: 1}
    assert rig.verify()["status"] == "ok"
    assert rig.undo(step).left == ()
    assert not differences(before, rig.dump())


def test_every_digest_that_was_made_of_it_is_forgotten_with_it(rig: Rig, sources: list[str]) -> None:
    disputed(rig, sources[0])
    assert consolidate(rig).report["compressed"] == {"clusters": 1, "source_memories": 3}
    step = rig.forget(sources[1])
    assert rig.rows("SELECT status, status_reason FROM memories WHERE kind = 'digest'") == [
        ("deleted", "source_gone"),
        ("deleted", "source_gone"),
    ]
    assert states(rig, sources) == ["disputed", "deleted", "active", "active"]
    assert rig.undo(step).left == ()
    assert states(rig, sources) == ["disputed", "consolidated", "consolidated", "consolidated"]


def test_a_second_doubt_leaves_alone_what_left_already(rig: Rig, sources: list[str]) -> None:
    made = disputed(rig, sources[0])
    left = rig.rows("SELECT status, status_reason, retired_at FROM memories WHERE id = ?", made)
    assert isinstance(rig.clock, HandClock)
    rig.clock.advance(1_000)
    disputed(rig, sources[1])
    assert rig.rows("SELECT status, status_reason, retired_at FROM memories WHERE id = ?", made) == left


@pytest.mark.slow
def test_what_lay_beneath_a_forgotten_digest_is_forgotten_by_itself(rig: Rig, sources: list[str]) -> None:
    made = digest(rig)[0]
    rig.forget(made)
    before = rig.dump()
    step = rig.forget(sources[0])
    assert states(rig, sources) == ["deleted"] * 4
    assert bring_back(rig, made) == {OUTLIVED: 1}
    assert bring_back(rig, sources[1]) == {}
    assert states(rig, sources) == ["deleted", "active", "deleted", "deleted"]
    rig.undo()
    assert rig.undo(step).left == ()
    assert not differences(before, rig.dump())
