"""What a newcomer is to its neighbours and to the words of other voices is asked of the relation model in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from engine_rig import rig_at
from readers_rig import Pair, Table

from core.types.belief import ComparedText, Relation
from core.types.values import Kind, Source

OWN, NOTED = "My printer takes the cartridge red.", "My printer takes thin paper."
NEWS, IN_OTHER_WORDS = "The user's printer takes the cartridge blue.", "My printer takes the cartridge blue."
RECORDED, SAID_LATER = "My printer paper needs a dry shelf.", "My printer paper is kept on a wet shelf."


@dataclass
class Counted(Table):
    """A relation model that tells its calls apart."""

    calls: list[list[Pair]] = field(default_factory=list)

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """As the table says."""
        self.calls.append([(old.text, new.text) for old, new in pairs])
        return super().classify(pairs)


def test_the_model_is_asked_once_for_all(tmp_path: Path) -> None:
    model = Counted()
    with rig_at(tmp_path, readers=model.readers) as rig:
        rig.store(OWN)
        rig.store(NOTED, source=Source.TOOL_OUTPUT)
        model.calls.clear()
        rig.store(NEWS, source=Source.TOOL_OUTPUT)

    assert len(model.calls) == 1
    assert sorted(model.calls[0]) == [(OWN, IN_OTHER_WORDS), (OWN, NEWS), (NOTED, NEWS)]


@pytest.mark.parametrize(
    ("source", "asked"), [(Source.USER_IMPLICIT, []), (Source.USER_EXPLICIT, [(SAID_LATER, RECORDED)])]
)
def test_a_remark_of_the_owner_asks_about_no_record_it_cannot_hold_back(
    tmp_path: Path, source: Source, asked: list[Pair]
) -> None:
    model = Counted()
    with rig_at(tmp_path, readers=model.readers) as rig:
        rig.store(RECORDED, rig.client("Claude", "write"), kind=Kind.RULE)
        model.calls.clear()
        rig.store(SAID_LATER, source=source, space="client:Claude")

    assert [pair for call in model.calls for pair in call] == asked
