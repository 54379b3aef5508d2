"""How long a memory lasts, from storing it to the sweep, and what a model may say about it (seed B)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from decay_rig import DAY_MS, fading
from distill_rig import answer, fact, note, only
from distill_rig import run as distill
from engine_rig import Rig, rig_at
from ground_rig import ground_of, run

from core.belief.extract.extraction import extract_claims
from core.intake.claims import TextReaders
from core.lifecycle.gauges import read_gauges
from core.lifecycle.sweep import SweepJob
from core.types.values import Status

BORN, JAR = "I was born on 8 November 1936.", "The shelf holds jar seven."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, readers=TextReaders(extract=extract_claims)) as made:
        yield made


def test_permanent_facts_never_decay(rig: Rig) -> None:
    born, jar = rig.store(BORN).memory_id, rig.store(JAR).memory_id
    rig.clock.advance(3_653 * DAY_MS)  # type: ignore[attr-defined]  # the clock of this test has it
    ran = run(rig, SweepJob(), ground_of(rig))
    assert fading(rig) == {jar}
    assert [deed.memory_id for deed in ran.deeds] == [jar]
    assert rig.get(born).status is Status.ACTIVE
    options, now = ground_of(rig).options, rig.clock.now_ms()
    found = rig.opened.storage.vault.read(lambda rows: read_gauges(rows, born, options, now))
    assert (found.permanence, found.is_fading, found.fades_at) == ("permanent", False, None)
    assert found.confidence == pytest.approx(rig.get(born).confidence)


def test_what_a_client_says_of_a_birthday_does_not_expire(rig: Rig) -> None:
    client = rig.client("aster", "read", "write")
    ids = {text: rig.store(text, client).memory_id for text in (BORN, JAR)}
    rig.clock.advance(400 * DAY_MS)  # type: ignore[attr-defined]  # the clock of this test has it
    used = rig.clock.now_ms() - 31 * DAY_MS
    rig.write(
        lambda tx: tx.run("UPDATE memories SET strength = 1, access_count = 500, last_accessed_at = ?", (used,))
    )  # strong enough to stay: what is weak leaves for that, however sure
    ran = run(rig, SweepJob(), ground_of(rig))
    assert [(deed.memory_id, deed.reason) for deed in ran.deeds] == [(ids[JAR], "expired")]
    assert rig.get(ids[BORN]).status is Status.ACTIVE


@pytest.mark.parametrize(
    ("text", "told", "wanted"),
    [
        ("The shelf holds jar seven.", "permanent", "standard"),
        ("The shelf holds jar seven.", "stable", "stable"),
        ("The user lives in Bergen.", "permanent", "permanent"),
        ("The user was born on 8 November 1936.", "ephemeral", "permanent"),
        ("The user was born on 8 November 1936.", "standard", "permanent"),
        ("The shelf holds jar seven.", "for ever", "standard"),
    ],
)
def test_a_model_cannot_make_junk_permanent(rig: Rig, text: str, told: str, wanted: str) -> None:
    note(rig, text)
    distill(rig, answer(fact(text, permanence=told)))
    assert rig.value("SELECT permanence FROM memories WHERE id = ?", only(rig).id) == wanted
