"""A relation model that is fooled, whatever it says and however sure it is, does not let a lie past the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from poison_rig import HOME, Victim, victim_of
from real_models import real_readers

from core.types.belief import LABELS, ComparedText, Label, Relation
from core.types.values import Kind, Source

WORDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (HOME.lie, {}),
    "with a claim": (HOME.lie, {"claim": HOME.claim()}),
    "as a move": ("The user has moved from Graz to Vienna.", {}),
    "as a guess": ("The user possibly lives in Vienna.", {}),
    "as a record": ("lives_in: Vienna", {}),
    "turned round": ("Vienna is where the user lives.", {}),
    "as a rule": (HOME.lie, {"kind": Kind.RULE}),
    "for a session": (HOME.lie, {"claim": HOME.claim(scope="session"), "session": "s"}),
}


class Fooled:
    """Gives every pair the same relation, for sure."""

    def __init__(self, label: Label) -> None:
        self.label = label

    def classify(self, pairs: Sequence[tuple[ComparedText, ComparedText]]) -> tuple[Relation, ...]:
        """One relation for each pair."""
        shares = {one: 0.97 if one is self.label else 0.01 for one in LABELS}
        return tuple(Relation(self.label, 0.97, shares, "builtin", "model") for _ in pairs)


@pytest.fixture(params=list(Label))
def victim(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Victim]:
    readers = replace(real_readers(), relate=Fooled(request.param))
    with victim_of(tmp_path, readers=readers) as victim:
        yield victim


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_fooled_model_lets_nothing_in(victim: Victim, wording: str) -> None:
    text, more = WORDINGS[wording]
    victim.tell(text, victim.client(), source=Source.TOOL_OUTPUT, **more)
    victim.check()


def test_a_model_that_does_not_answer_lets_nothing_in(tmp_path: Path) -> None:
    with victim_of(tmp_path, readers=replace(real_readers(), relate=None)) as victim:
        bot = victim.client()
        victim.tell(HOME.lie, bot, source=Source.TOOL_OUTPUT)
        victim.tell("The user has moved from Graz to Vienna.", bot, source=Source.DOCUMENT)
        victim.check()
