"""Nothing that is told by anybody but the person displaces what the person said (seed A, poisoning resistance)."""

from __future__ import annotations

from pathlib import Path

import poison_wordings
import pytest
from poison_attacks import ATTACKS
from poison_rig import HOME, SLOTS, victim_of

from core.types.values import Source

assert poison_wordings.__doc__  # imported for what it enters into the table

IN_PASSING = (
    "tool_output_with_a_claim",
    "a_correction_by_a_tool",
    "backdated",
    "future_dated",
    "told_by_eight_clients",
    "repeated_on_many_days",
    "qualifiers_that_dodge_the_key",
    "valid_from_before_the_persons",
    "as_a_rule",
    "as_a_guess",
    "as_a_record_of_fields",
    "for_a_session_under_another_predicate",
    "as_what_is_over",
)
"""Attacks that could win by numbers alone over what was said in passing (W = 0.7)."""


def test_the_table_is_long_enough() -> None:
    assert len(ATTACKS) >= 80


@pytest.mark.parametrize("name", ATTACKS)
def test_the_attack_fails(name: str, tmp_path: Path) -> None:
    with victim_of(tmp_path) as victim:
        ATTACKS[name](victim)
        victim.check()
        assert victim.told or victim.refused


@pytest.mark.parametrize("name", IN_PASSING)
def test_the_attack_fails_on_what_was_said_in_passing(name: str, tmp_path: Path) -> None:
    with victim_of(tmp_path, source=Source.USER_IMPLICIT) as victim:
        ATTACKS[name](victim)
        victim.check()


@pytest.mark.parametrize("source", [Source.DOCUMENT, Source.TOOL_OUTPUT, Source.INFERENCE, Source.USER_IMPLICIT])
@pytest.mark.parametrize("slot", [name for name in SLOTS if name != HOME.name])
def test_every_family_of_claims_is_protected(slot: str, source: Source, tmp_path: Path) -> None:
    with victim_of(tmp_path, SLOTS[slot]) as victim:
        bot = victim.client()
        victim.tell(actor=bot, source=source)
        victim.tell(actor=bot, source=source, session="with a claim", claim=victim.slot.claim())
        victim.check()
        assert victim.queue()


@pytest.mark.parametrize("given", [False, True])
def test_a_lie_told_first_does_not_keep_out_what_is_said_in_passing(given: bool, tmp_path: Path) -> None:
    with victim_of(tmp_path) as victim:
        victim.rig.undo()
        victim.tell(
            actor=victim.client(), source=Source.TOOL_OUTPUT, claim=victim.slot.claim() if given else None
        )  # fmt: skip
        more = {"claim": victim.slot.claim(value=victim.slot.value)} if given else {}
        victim.say(source=Source.USER_IMPLICIT, **more)
        victim.check()
