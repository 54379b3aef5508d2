"""`show`: the claims of a memory as a program reads them."""

from __future__ import annotations

from belief_rig import claim, evidence
from engine_rig import Rig

from core.engine.memories.detail import read_detail


def test_a_claim_is_shown_with_its_qualifiers_and_a_round_confidence(rig: Rig) -> None:
    memory = rig.store("I live in Graz in winter.").memory_id
    claim(rig, memory, "lives_in", "Graz", "live in Graz", qualifiers='{"when":"in winter"}', confidence=0.81000001)
    shown = rig.opened.storage.vault.read(lambda rows: read_detail(rows, rig.get(memory), rig.clock.now_ms()))
    (told,) = shown.claims
    assert (told["qualifiers"], told["confidence"]) == ({"when": "in winter"}, 0.81)


def test_what_a_memory_contradicts_is_no_claim_of_its_own(rig: Rig) -> None:
    mine, other = rig.store("I live in Graz.").memory_id, rig.store("The flat in Linz is home.").memory_id
    held = claim(rig, mine, "lives_in", "Graz", "live in Graz")
    evidence(rig, held, other, "flat in Linz", "contradicting")
    read = rig.opened.storage.vault.read
    assert read(lambda rows: read_detail(rows, rig.get(other), rig.clock.now_ms())).claims == ()
    (told,) = read(lambda rows: read_detail(rows, rig.get(mine), rig.clock.now_ms())).claims
    assert [one["stance"] for one in told["evidence"]] == ["supporting", "contradicting"]
