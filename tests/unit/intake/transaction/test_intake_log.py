"""Every outcome of the store path is in the consolidation log, with how sure it was (seed D, log_all_operations)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_rig import HandClock, Rig, rig_at

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.types.values import Kind


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """The owner lives in Graz and works at Siemens."""
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims, gate=0.1)) as made:
        made.store("I live in Graz. I work at Siemens.")
        assert isinstance(made.clock, HandClock)
        made.clock.at_ms += 86_400_000
        yield made


def last(rig: Rig) -> tuple[str, bool, bool, bool]:
    """Operation, and whether there is another side, a confidence and a similarity."""
    row = rig.rows("SELECT operation, other_id, confidence, similarity FROM consolidation_log ORDER BY rowid DESC")[0]
    other, sure, near = (value is not None for value in row[1:])
    return str(row[0]), other, sure, near


def test_what_stands_alone(rig: Rig) -> None:
    assert last(rig) == ("ADD", False, True, False)
    rig.store("Rain all day", kind=Kind.EPISODE)
    assert last(rig)[0] == "ADD"


def test_what_stands_already(rig: Rig) -> None:
    rig.store("I live in Graz. I work at Siemens.")
    assert last(rig)[0] == "NOOP"


def test_claims_that_end(rig: Rig) -> None:
    rig.store("I live in Vienna now.")
    assert last(rig) == ("SUPERSEDE", True, True, True)


def test_what_waits_for_the_person(rig: Rig) -> None:
    client = rig.client("aster", "read", "write", "space:home")
    rig.store("User lives in Linz", client, space="home")
    assert last(rig) == ("QUARANTINE", True, True, True)


def test_equals_that_disagree(rig: Rig) -> None:
    aster, borage = (rig.client(name, "read", "write", "space:home") for name in ("aster", "borage"))
    rig.store("Ada lives in Linz", aster, space="home")
    rig.store("Ada lives in Wels", borage, space="home")
    assert last(rig) == ("DISPUTE", True, True, True)
