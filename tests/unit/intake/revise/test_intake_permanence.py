"""How long a memory lasts is said when it is stored, united, edited or set by the person, and undo takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_rig import Rig, differences, later, rig_at

from core.belief.extract.extraction import extract_claims
from core.engine.imports.comparison import compare_imported
from core.errors import Code, UserError
from core.intake.claims import TextReaders
from core.intake.revise.revision import label_revision_step
from core.intake.revise.revision_plan import RECORD
from core.intake.transitions.merge import write_merge
from core.types.values import Kind
from core.types.views import Revision, RevisionReport
from core.vault.database.tx import Tx

BORN, HOME, JAR = "I was born on 8 November 1936.", "I live in Graz.", "The shelf holds jar seven."
LINZ = "My grandmother was born in Linz."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as made:
        yield made


def level(rig: Rig, text: str) -> str:
    """Of the newest memory of a text."""
    return str(rig.value("SELECT permanence FROM memories WHERE text = ? ORDER BY n DESC", text))


def revise(rig: Rig, *ids: str, **changes: Any) -> RevisionReport:
    report = rig.engine.library.revise_memories(ids, Revision(**changes)).result(30)
    rig.settle()
    return report


# ---- stored


@pytest.mark.parametrize(("text", "wanted"), [(BORN, "permanent"), (HOME, "stable"), (JAR, "standard")])
def test_what_is_stored_lasts_as_long_as_its_claims(rig: Rig, text: str, wanted: str) -> None:
    rig.store(text)
    assert level(rig, text) == wanted


def test_an_episode_is_standard_and_a_rule_has_a_level(rig: Rig) -> None:
    rig.store(BORN, kind=Kind.EPISODE)
    rig.store("I am allergic to hazelnuts.", kind=Kind.RULE)
    assert (level(rig, BORN), level(rig, "I am allergic to hazelnuts.")) == ("standard", "permanent")


def test_a_given_claim_says_it_too_and_a_proposal_has_its_level(rig: Rig) -> None:
    claim = {"subject": "user", "predicate": "works_at", "value": "Ostwerk"}
    rig.store("Ostwerk pays me", claim=claim)
    client = rig.client("aster", "read", "propose")
    proposed = rig.store(BORN, client)
    assert proposed.operation == "PROPOSED"
    assert (level(rig, "Ostwerk pays me"), level(rig, BORN)) == ("stable", "permanent")


def test_every_part_of_a_split_text_has_the_level_of_the_whole(rig: Rig) -> None:
    rig.store("I feel quite worn out right now. " * 400)
    found = rig.rows("SELECT permanence FROM memories")
    assert len(found) > 1
    assert {row[0] for row in found} == {"volatile"}


# ---- brought by an import


def test_an_imported_fact_gets_its_level_when_it_is_read_and_goes_with_its_import(rig: Rig) -> None:
    before = rig.dump()
    report = rig.bring([{"text": text, "kind": "fact"} for text in (BORN, HOME, JAR)])
    later(rig)
    compare_imported(rig.opened.storage, rig.opened.search)
    assert [level(rig, text) for text in (BORN, HOME, JAR)] == ["permanent", "stable", "standard"]
    taken = rig.unimport(report.import_id)
    assert taken.left == ()
    assert not rig.texts(None)
    assert {"memories", "claims", "evidence"}.isdisjoint(differences(before, rig.dump()))


def test_a_level_that_was_set_before_it_is_read_stays(rig: Rig) -> None:
    rig.bring([{"text": BORN, "kind": "fact"}])
    compare_imported(rig.opened.storage, rig.opened.search)
    rig.write(lambda tx: tx.run("UPDATE memories SET read_at = NULL"))
    revise(rig, str(rig.value("SELECT id FROM memories")), permanence="volatile")
    compare_imported(rig.opened.storage, rig.opened.search)
    assert level(rig, BORN) == "volatile"


@pytest.fixture
def unread(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a memory that an older version stored, which read no claims and knew no levels."""
    with monkeypatch.context() as older:
        older.setattr("core.intake.store.store.classify_permanence", lambda *_: "standard")
        found = rig.store(LINZ).memory_id
    rig.write(lambda tx: tx.run("UPDATE memories SET read_at = NULL"))
    return found


def test_what_an_earlier_step_left_is_not_touched_so_that_it_can_be_taken_back(rig: Rig, unread: str) -> None:
    later(rig)
    compare_imported(rig.opened.storage, rig.opened.search)
    assert level(rig, LINZ) == "standard"
    assert rig.value("SELECT read_at FROM memories WHERE id = ?", unread) is not None
    step = rig.value("SELECT id FROM undo_steps WHERE verb = 'store'")
    assert rig.undo(step).left == ()
    assert rig.texts() == []


@pytest.mark.usefixtures("unread")
def test_what_no_step_holds_any_more_gets_its_level(rig: Rig) -> None:
    rig.write(_forget_steps)
    later(rig)
    compare_imported(rig.opened.storage, rig.opened.search)
    assert level(rig, LINZ) == "permanent"


def _forget_steps(tx: Tx) -> None:
    tx.run("UPDATE consolidation_log SET step_id = NULL")
    tx.run("DELETE FROM undo_rows")
    tx.run("DELETE FROM undo_steps")


# ---- united and edited


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_that_are_united_the_longer_lasting_counts(rig: Rig, turned: bool) -> None:
    ids = [rig.store(text).memory_id for text in (HOME, JAR)]
    keep, other = reversed(ids) if turned else ids
    rig.write(lambda tx: write_merge(tx, rig.opened.storage.work.make_id, keep, f"{HOME} {JAR}", other))
    assert rig.value("SELECT permanence FROM memories WHERE id = ?", keep) == "stable"


def test_an_edited_text_is_read_anew_and_undo_brings_the_old_level(rig: Rig) -> None:
    old = rig.store("I feel quite worn out today.").memory_id
    report = revise(rig, old, text=BORN)
    assert level(rig, BORN) == "permanent"
    rig.undo(report.step_id)
    assert level(rig, "I feel quite worn out today.") == "ephemeral"
    (jar,) = revise(rig, old, text=JAR).ids
    assert rig.value("SELECT permanence FROM memories WHERE id = ?", jar) == "standard"


def test_what_the_person_set_outlives_an_edit(rig: Rig) -> None:
    old = rig.store(HOME).memory_id
    revise(rig, old, permanence="permanent")
    revise(rig, old, text="I live in Linz.")
    assert level(rig, "I live in Linz.") == "permanent"


def test_a_level_that_comes_with_an_edit_goes_before_what_is_read(rig: Rig) -> None:
    old = rig.store(HOME).memory_id
    revise(rig, old, text=BORN, permanence="stable")
    assert level(rig, BORN) == "stable"


# ---- set by the person


def test_the_person_sets_it_for_many_and_takes_it_back(rig: Rig) -> None:
    home, jar = (rig.store(text).memory_id for text in (HOME, JAR))
    before = rig.dump()
    seen = rig.engine.library.preview_revision((home, jar), Revision(permanence="stable")).result(30)
    assert (seen.changes, seen.unchanged, seen.examples) == (1, 1, ((jar, JAR, "standard", "stable"),))
    report = revise(rig, home, jar, permanence="stable")
    assert (report.label, report.changed) == ("Set the permanence of a memory", 1)
    assert (level(rig, HOME), level(rig, JAR)) == ("stable", "stable")
    assert rig.undo(report.step_id).left == ()
    assert differences(before, rig.dump()) == {}
    assert label_revision_step(Revision(permanence="stable"), 12) == "Set the permanence of 12 memories"


def test_an_episode_has_no_level_to_set(rig: Rig) -> None:
    said = rig.store("We talked about boats.", kind=Kind.EPISODE).memory_id
    assert dict(revise(rig, said, permanence="permanent").refused) == {RECORD: 1}
    assert revise(rig, said, permanence="permanent", kind=Kind.FACT).changed == 1
    assert level(rig, "We talked about boats.") == "permanent"


@pytest.mark.parametrize("wrong", ["eternal", "", "Stable"])
def test_invalid_permanence_rejected_when_it_is_set(rig: Rig, wrong: str) -> None:
    home = rig.store(HOME).memory_id
    with pytest.raises(UserError, match="permanent, stable, standard, volatile, ephemeral") as caught:
        revise(rig, home, permanence=wrong)
    assert caught.value.code is Code.INVALID_INPUT
    assert level(rig, HOME) == "stable"
