"""Trust and confidence are worked out anew whenever anything they rest on changes, and when that is taken back."""

from __future__ import annotations

from typing import Any

import pytest
from belief_rig import derive
from belief_rig import evidence as put_evidence
from desk_rig import DAY_MS
from engine_rig import START_MS, Rig, differences, later

from core.errors import BugError
from core.intake.transaction.sources import (
    base_trusts,
    claims_backed_by,
    derived_from,
    refresh_claims,
    refresh_trust,
    trust_terms_of,
    weigh_evidence,
)
from core.score.trust import age_days
from core.types.clients import Terms
from core.types.values import OWNER_ACTOR, Actor, Kind, Source, Status, When
from core.types.views import Revision
from core.vault.database.tx import Tx

BEES: dict[str, Any] = {"subject": "Ada", "predicate": "keeps", "value": "bees", "exclusive": False}


def writer(rig: Rig, name: str, *grants: str) -> Actor:
    """A client that writes where the owner does."""
    return rig.client(name, "read", "write", "space:home", *grants)


def trust(rig: Rig, memory_id: str) -> float:
    """Trust as it is kept, which is trust as it is worked out."""
    kept = float(rig.value("SELECT trust FROM memories WHERE id = ?", memory_id))
    confidence = float(rig.value("SELECT confidence FROM memories WHERE id = ?", memory_id))
    worked_out = rig.opened.storage.vault.read(lambda rows: trust_terms_of(rows, memory_id, rig.clock.now_ms())).trust
    assert kept == confidence == pytest.approx(worked_out, abs=1e-9)
    return round(kept, 6)


def confidence(rig: Rig) -> float:
    """Confidence of the only claim."""
    return round(float(rig.value("SELECT confidence FROM claims")), 6)


def fresh(rig: Rig, memory_id: str) -> None:
    """Work one memory out anew, as a verb does."""
    rig.write(lambda tx: refresh_trust(tx, memory_id))


# ---- sources


def test_a_source_that_comes_and_goes(rig: Rig) -> None:
    memory_id = rig.store("Ada keeps bees", source=Source.DOCUMENT).memory_id
    assert trust(rig, memory_id) == 0.6
    rig.store("Ada keeps bees", writer(rig, "aster"), space="home")
    assert trust(rig, memory_id) == 0.65
    assert rig.get(memory_id).corroboration == 2
    rig.undo()
    assert trust(rig, memory_id) == 0.6
    assert rig.get(memory_id).corroboration == 1


def test_a_source_that_an_import_brought_goes_with_the_import(rig: Rig) -> None:
    memory_id = rig.store("Ada keeps bees", source=Source.DOCUMENT).memory_id
    done = rig.bring([{"text": "Ada keeps bees", "kind": "fact", "ref": "1"}])
    assert trust(rig, memory_id) == 0.65
    rig.unimport(done.import_id)
    assert trust(rig, memory_id) == 0.6


def test_taking_the_taking_back_back_brings_the_trust_back(rig: Rig) -> None:
    memory_id = rig.store("Ada keeps bees", source=Source.DOCUMENT).memory_id
    rig.engine.memories.reinforce(memory_id, OWNER_ACTOR).result(30)
    assert trust(rig, memory_id) == 0.75
    undone = rig.undo()
    assert trust(rig, memory_id) == 0.6
    rig.undo(undone.undo_step_id)
    assert trust(rig, memory_id) == 0.75


# ---- verdicts


@pytest.mark.parametrize(("verb", "after"), [("reinforce", 0.75), ("confirm", 0.75), ("dispute", 0.45)])
def test_a_verdict_and_its_undo(rig: Rig, verb: str, after: float) -> None:
    memory_id = rig.store("Ada keeps bees", source=Source.DOCUMENT, claim=BEES).memory_id
    assert confidence(rig) == 0.6
    getattr(rig.engine.memories, verb)(memory_id, OWNER_ACTOR).result(30)
    assert trust(rig, memory_id) == after
    assert confidence(rig) == after
    rig.undo()
    assert trust(rig, memory_id) == confidence(rig) == 0.6


# ---- age


def test_age_counts_from_what_was_said_or_confirmed(rig: Rig) -> None:
    said = When(START_MS - 73 * DAY_MS)
    memory_id = rig.store("Ada keeps bees", source=Source.DOCUMENT, occurred=said).memory_id
    assert trust(rig, memory_id) == 0.58
    later(rig, 73)
    fresh(rig, memory_id)
    assert trust(rig, memory_id) == 0.56
    rig.engine.memories.confirm(memory_id, OWNER_ACTOR).result(30)
    assert trust(rig, memory_id) == 0.75
    later(rig, 73)
    fresh(rig, memory_id)
    assert trust(rig, memory_id) == 0.73


@pytest.mark.parametrize(("now", "since", "days"), [(10 * DAY_MS, 0, 10.0), (0, DAY_MS, 0.0), (5, None, 0.0)])
def test_the_age_in_days(now: int, since: int | None, days: float) -> None:
    assert age_days(now, since) == days


def test_the_gate_weighs_whose_word_it_is_not_how_old(rig: Rig) -> None:
    memory_id = rig.store("Ada keeps bees", source=Source.DOCUMENT, occurred=When(START_MS - 900 * DAY_MS)).memory_id
    assert trust(rig, memory_id) == 0.5
    assert rig.opened.storage.vault.read(lambda rows: base_trusts(rows, [memory_id])[memory_id]) == (0.6, 0.6)


# ---- ceilings


def test_a_ceiling_that_changes_moves_what_it_limits_and_nothing_else(rig: Rig) -> None:
    aster = writer(rig, "aster", "speak_for_user")
    said = rig.store("Ada keeps bees", aster, source=Source.USER_EXPLICIT, space="home", claim=BEES).memory_id
    guess = rig.store("Ada keeps hens", aster, source=Source.INFERENCE, space="home").memory_id
    assert (trust(rig, said), trust(rig, guess), confidence(rig)) == (0.9, 0.5, 0.9)
    rig.engine.clients.revoke("aster").result(10)
    assert trust(rig, said) == 0.9
    before = rig.dump()
    writer(rig, "aster")
    assert (trust(rig, said), trust(rig, guess), confidence(rig)) == (0.85, 0.5, 0.85)
    rig.undo()
    assert (trust(rig, said), trust(rig, guess), confidence(rig)) == (0.9, 0.5, 0.9)
    assert differences(before, rig.dump()) == {}


def test_a_ceiling_that_is_raised_lets_trust_rise(rig: Rig) -> None:
    aster = writer(rig, "aster")
    memory_id = rig.store("Ada keeps bees", aster, source=Source.TOOL_OUTPUT, space="home").memory_id
    low = Terms(("read", "write", "space:home"), 20, 200, 0.7)
    rig.engine.clients.change_terms("aster", low).result(10)
    assert trust(rig, memory_id) == 0.7
    rig.engine.clients.revoke("aster").result(10)
    writer(rig, "aster")
    assert trust(rig, memory_id) == 0.85


# ---- ancestors


def _generations(rig: Rig) -> tuple[str, str, str]:
    base = rig.store("A guess about the bees", source=Source.TOOL_OUTPUT).memory_id
    middle = rig.store("A sum of guesses", claim=BEES).memory_id
    top = rig.store("A book of sums").memory_id
    derive(rig, middle, base)
    derive(rig, top, middle)
    fresh(rig, middle)
    return base, middle, top


def test_what_was_derived_is_trusted_no_more_than_its_source_at_any_distance(rig: Rig) -> None:
    base, middle, top = _generations(rig)
    assert [trust(rig, one) for one in (base, middle, top)] == [0.85] * 3
    assert confidence(rig) == 0.85
    rig.engine.memories.dispute(base, OWNER_ACTOR).result(30)
    assert [trust(rig, one) for one in (base, middle, top)] == [0.7] * 3
    assert confidence(rig) == 0.7
    rig.undo()
    assert [trust(rig, one) for one in (base, middle, top)] == [0.85] * 3
    assert confidence(rig) == 0.85


def test_the_weakest_of_several_sources_counts(rig: Rig) -> None:
    base, middle, top = _generations(rig)
    weak = rig.store("Hearsay", source=Source.INFERENCE).memory_id
    derive(rig, middle, weak)
    fresh(rig, weak)
    assert [trust(rig, one) for one in (base, middle, top)] == [0.85, 0.5, 0.5]
    rig.store("Hearsay", writer(rig, "aster"), space="home")
    assert [trust(rig, one) for one in (base, middle, top)] == [0.85, 0.55, 0.55]


def test_praise_does_not_lift_the_derived_above_its_source(rig: Rig) -> None:
    base, middle, _ = _generations(rig)
    rig.engine.memories.confirm(middle, OWNER_ACTOR).result(30)
    assert (trust(rig, base), trust(rig, middle)) == (0.85, 0.85)


def test_what_lies_below_comes_after_all_it_was_made_of(rig: Rig) -> None:
    base, middle, top = _generations(rig)
    derive(rig, top, base)  # a short cut: it still comes last
    assert rig.opened.storage.vault.read(lambda rows: derived_from(rows, base)) == [middle, top]
    assert rig.opened.storage.vault.read(lambda rows: derived_from(rows, top)) == []


def test_an_ancestor_whose_ceiling_changes_moves_what_was_made_of_it(rig: Rig) -> None:
    aster = writer(rig, "aster", "speak_for_user")
    base = rig.store("Ada keeps bees", aster, source=Source.USER_EXPLICIT, space="home").memory_id
    made = rig.store("A sum of it").memory_id
    derive(rig, made, base)
    fresh(rig, base)
    assert trust(rig, made) == 0.9
    rig.engine.clients.revoke("aster").result(10)
    writer(rig, "aster")
    assert trust(rig, made) == 0.85


# ---- claims


def test_a_claim_is_as_sure_as_its_sources_together(rig: Rig) -> None:
    first = rig.store("Ada keeps bees", source=Source.DOCUMENT, claim=BEES).memory_id
    claim_id = str(rig.value("SELECT id FROM claims"))
    other = rig.store("Bees, that is what Ada keeps.", kind=Kind.EPISODE, source=Source.INFERENCE).memory_id
    put_evidence(rig, claim_id, other, "Bees", lineage="other")
    rig.write(lambda tx: refresh_claims(tx, [claim_id]))
    assert confidence(rig) == pytest.approx(1 - (1 - 0.6) * (1 - 0.9 * 0.5))
    assert rig.opened.storage.vault.read(lambda rows: claims_backed_by(rows, [first, other])) == [claim_id]
    rig.forget(other)
    assert confidence(rig) == 0.6
    rig.undo()
    assert confidence(rig) == pytest.approx(0.78)


def test_several_quotes_of_one_source_count_once(rig: Rig) -> None:
    memory_id = rig.store("Ada keeps bees, bees and more bees", source=Source.DOCUMENT, claim=BEES).memory_id
    claim_id = str(rig.value("SELECT id FROM claims"))
    for quote in ("bees, bees", "more bees"):
        put_evidence(rig, claim_id, memory_id, quote, lineage="owner")
    rig.write(lambda tx: refresh_claims(tx, [claim_id]))
    assert confidence(rig) == 0.6
    assert rig.value("SELECT evidence_count FROM claims") == 3


def test_what_speaks_against_it_takes_half_its_weight_away(rig: Rig) -> None:
    rig.store("Ada keeps bees", claim=BEES)
    claim_id = str(rig.value("SELECT id FROM claims"))
    doubt = rig.store("Ada has no bees at all", kind=Kind.EPISODE, source=Source.INFERENCE).memory_id
    put_evidence(rig, claim_id, doubt, "no bees", "contradicting")
    rig.write(lambda tx: refresh_claims(tx, [claim_id]))
    assert confidence(rig) == pytest.approx(1 - 0.5 * 0.9 * 0.5)
    rig.forget(doubt)
    assert confidence(rig) == 1.0


def test_only_what_stands_speaks_for_a_claim_and_a_draft_shows_what_it_would_be(rig: Rig) -> None:
    shy = rig.client("Shy", "read", "propose", "space:home")
    rig.store("Ada keeps bees", shy, space="home", claim=BEES)
    assert rig.rows("SELECT state, confidence FROM claims") == [("draft", 0.5)]
    claim_id = str(rig.value("SELECT id FROM claims"))
    stands = rig.store("Yes, bees are what Ada keeps", kind=Kind.EPISODE).memory_id
    put_evidence(rig, claim_id, stands, "bees are what Ada keeps")
    found = rig.opened.storage.vault.read(lambda rows: weigh_evidence(rows, [claim_id]))[claim_id]
    assert [(piece.lineage, piece.weight) for piece in found] == [("other", 0.9)]


def test_refreshing_what_is_right_changes_nothing(rig: Rig) -> None:
    rig.store("Ada keeps bees", claim=BEES)
    ids = [str(row[0]) for row in rig.rows("SELECT id FROM claims")]
    before = rig.dump()
    assert rig.write(lambda tx: refresh_claims(tx, ids)) == 0
    assert differences(before, rig.dump()) == {}


# ---- an edit


def test_an_edit_is_the_owners_word_of_now(rig: Rig) -> None:
    said = When(START_MS - 365 * DAY_MS)
    memory_id = rig.store("Ada keeps bees", writer(rig, "aster"), space="home", occurred=said).memory_id
    assert trust(rig, memory_id) == 0.4
    edited = rig.engine.library.revise_memories((memory_id,), Revision(text="Ada keeps hens")).result(30).ids[0]
    assert edited != memory_id
    assert rig.get(memory_id).status is Status.SUPERSEDED
    assert trust(rig, edited) > trust(rig, memory_id)


def test_trust_of_a_memory_that_is_not_there_is_a_bug(rig: Rig) -> None:
    def ask(tx: Tx) -> float:
        return trust_terms_of(tx, "nobody", 0).trust

    with pytest.raises(BugError):
        rig.write(ask)
