"""A memory with a new text is read again: what it says now holds, what it said before does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import Rig, later, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.types.reviews import Decision
from core.types.values import Action
from core.types.views import Revision


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """An open engine that reads claims by rules, and asks no model."""
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims, gate=0.1)) as made:
        yield made


def asserted(rig: Rig) -> set[str]:
    """The values of the claims that hold."""
    return {str(row[0]) for row in rig.rows("SELECT value FROM claims WHERE state = 'asserted'")}


def edit(rig: Rig, memory_id: str, text: str) -> None:
    """The owner writes another text."""
    rig.engine.library.revise_memories([memory_id], Revision(text=text)).result(30)
    rig.settle()


def test_an_edited_text_is_read_and_undone_with_its_claims(rig: Rig) -> None:
    first = rig.store("I live in Graz.").memory_id
    later(rig)
    edit(rig, first, "I live in Vienna.")
    assert (rig.texts(), asserted(rig)) == (["I live in Vienna."], {"Vienna"})
    rig.undo()
    assert (rig.texts(), asserted(rig)) == (["I live in Graz."], {"Graz"})


def test_what_contradicts_the_edited_text_waits(rig: Rig) -> None:
    edit(rig, rig.store("I live in Graz.").memory_id, "I live in Vienna.")
    client = rig.client("aster", "read", "write", "space:home")
    assert rig.store("User lives in Linz", client, space="home").operation == "QUARANTINE"


def test_an_edit_ends_what_it_contradicts_elsewhere(rig: Rig) -> None:
    first = rig.store("I like tea.").memory_id
    rig.store("I live in Graz. I work at Siemens.")
    later(rig)
    edit(rig, first, "I live in Vienna.")
    assert asserted(rig) == {"Siemens", "Vienna"}
    assert "I live in Vienna." in rig.texts()
    rig.undo()
    assert asserted(rig) == {"Graz", "Siemens", "tea"}


def test_a_text_written_at_the_desk_is_read(rig: Rig) -> None:
    aster, borage = (rig.client(name, "read", "write", "space:home") for name in ("aster", "borage"))
    rig.store("User works at Siemens.", aster, space="home")
    later(rig)
    item = rig.store("User works at Bosch.", borage, space="home").conflict
    assert item is not None
    text = "User works at Acme and lives in Linz."
    rig.engine.conflicts.resolve(item, Decision(Action.MERGE, text=text)).result(30)
    rig.settle()
    assert (rig.texts(), asserted(rig)) == ([text], {"Acme", "Linz"})
    rig.undo()
    assert rig.texts() == ["User works at Bosch."]
    assert asserted(rig) == {"Bosch"}
