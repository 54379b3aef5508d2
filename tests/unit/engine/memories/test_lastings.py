"""What the facade tells of how long a memory lasts and why, and of what was inferred from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, error_of, rig_at

from core.belief.extract.extraction import extract_claims
from core.errors import Code
from core.intake.claims import TextReaders
from core.types.values import Kind
from core.types.views import Revision

NOBODY = "00000000-0000-7000-8000-000000000009"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as made:
        yield made


def lasting(rig: Rig, memory_id: str) -> tuple[str, str, str]:
    told = rig.engine.memories.explain_permanence(memory_id).result(30)
    return told.level, told.read, told.why


def test_a_level_that_a_claim_gives_names_the_claim(rig: Rig) -> None:
    born = rig.store("I was born on 8 November 1936.").memory_id
    told = rig.engine.memories.explain_permanence(born).result(30)
    assert (told.level, told.read, told.why, told.can_choose) == ("permanent", "permanent", "claim", True)
    assert told.predicates == ("born_on",)


def test_words_alone_can_give_a_level_and_most_give_none(rig: Rig) -> None:
    assert lasting(rig, rig.store("Grandfather Quill is buried at Hven.").memory_id) == (
        "permanent",
        "permanent",
        "cue",
    )
    assert lasting(rig, rig.store("The plum jars stand on the shelf.").memory_id) == ("standard", "standard", "usual")


def test_what_the_person_chose_is_told_beside_what_the_words_say(rig: Rig) -> None:
    shelf = rig.store("The plum jars stand on the shelf.").memory_id
    done = rig.engine.library.revise_memories([shelf], Revision(permanence="stable")).result(30)
    assert done.step_id is not None
    assert lasting(rig, shelf) == ("stable", "standard", "chosen")
    rig.undo()
    assert lasting(rig, shelf) == ("standard", "standard", "usual")


def test_a_record_has_no_level_of_its_own(rig: Rig) -> None:
    said = rig.store("I was born on 8 November 1936.", kind=Kind.EPISODE).memory_id
    told = rig.engine.memories.explain_permanence(said).result(30)
    assert (told.why, told.can_choose) == ("record", False)
    assert error_of(rig.engine.memories.explain_permanence(NOBODY)).code is Code.NOT_FOUND


def test_what_a_text_names_is_told_once_it_was_read_and_can_be_read_at_once(rig: Rig) -> None:
    memory_id = rig.store("The office in Bergen moved its maps to PostgreSQL.").memory_id
    assert rig.engine.memories.list_inferred(memory_id).result(30) is None
    told = rig.engine.memories.read_anew(memory_id).result(30)
    assert told is not None
    assert told == rig.engine.memories.list_inferred(memory_id).result(30)
    assert "PostgreSQL" in told.technologies
    assert [(one.name, one.type) for one in told.entities][:1] == [("Bergen", "place")]
    assert len(rig.engine.history.list_steps().result(30).rows) == 1  # all of it is derived: there is nothing to undo
    for ask in (rig.engine.memories.list_inferred, rig.engine.memories.read_anew):
        assert error_of(ask(NOBODY)).code is Code.NOT_FOUND


def test_nothing_is_kept_of_what_is_not_in_the_clear(rig: Rig) -> None:
    memory_id = rig.store("The office in Bergen moved its maps to PostgreSQL.").memory_id
    rig.write(lambda tx: tx.update("memories", {"id": memory_id}, {"security_tier": "sensitive"}))
    assert rig.engine.memories.read_anew(memory_id).result(30) is None


def last_strength(rig: Rig, memory_id: str) -> float:
    return rig.engine.jobs.read_gauges(memory_id).result(30).strength_curve.values[-1]


def test_a_correction_does_not_fade_faster_than_what_it_corrects(rig: Rig) -> None:
    jars = rig.store("The plum jars stand on the shelf.").memory_id
    for _ in range(3):
        rig.recall("where do the plum jars stand")
    rig.engine.flush_journal()
    before = last_strength(rig, jars)
    assert before > last_strength(rig, rig.store("The saw hangs.").memory_id), "what is recalled lasts longer"
    done = rig.engine.library.revise_memories([jars], Revision(text="The plum jars stand in the cellar.")).result(30)
    assert last_strength(rig, done.ids[0]) >= before
    rig.undo()
    assert last_strength(rig, jars) == before
