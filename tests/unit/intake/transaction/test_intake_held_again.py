"""What repeats the value of a text that was held back waits with it, in whatever words it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from engine_rig import Rig, rig_at

from core.intake.claims import TextReaders
from core.types.belief import LABELS, ComparedText, Label, Relation
from core.types.values import Source

STATUS, MANUAL = "Printer status: cartridge TN-480", "Manual: use TN-310 in the printer"
GUESS = "The printer takes TN-310"


@dataclass
class Scripted:
    """A relation model that says SUPERSEDE, unsure, of some newcomers, and COEXIST of all others."""

    replacing: set[str] = field(default_factory=set)

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        return tuple(self._of(incoming) for _, incoming in pairs)

    def _of(self, incoming: ComparedText) -> Relation:
        label, share = (Label.SUPERSEDE, 0.7) if incoming.text in self.replacing else (Label.COEXIST, 0.94)
        shares = {one: share if one is label else (1 - share) / 3 for one in LABELS}
        return Relation(label, share, shares, "builtin", "model")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A tool's word stands, and a manual that names another value waits."""
    readers = TextReaders(extract=lambda *_a, **_k: (), relate=Scripted({MANUAL}), gate=0.0)
    with rig_at(tmp_path, readers=readers) as made:
        made.store(STATUS, source=Source.TOOL_OUTPUT)
        assert made.store(MANUAL, source=Source.DOCUMENT).operation == "QUARANTINE"
        yield made


@pytest.mark.parametrize("source", [Source.INFERENCE, Source.DOCUMENT])
def test_it_waits_too(rig: Rig, source: Source) -> None:
    told = rig.store(GUESS, source=source)
    assert told.operation == "QUARANTINE"
    assert rig.value("SELECT reason FROM conflicts WHERE incoming_id = ?", told.memory_id) == "unsure_low_trust"
    assert rig.found("which cartridge does the printer take") == [STATUS]


def test_the_person_may_say_it(rig: Rig) -> None:
    assert rig.store(GUESS).operation == "ADD"


def test_another_value_does_not_wait_for_that(rig: Rig) -> None:
    assert rig.store("The printer takes A4 paper", source=Source.INFERENCE).operation == "ADD"


def test_once_the_manual_was_rejected_the_guess_is_judged_by_itself(rig: Rig) -> None:
    rig.write(lambda tx: tx.update("conflicts", {"state": "open"}, {"state": "moot", "closed_at": 1}))
    assert rig.store(GUESS, source=Source.INFERENCE).operation == "ADD"
