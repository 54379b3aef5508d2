"""Consolidation on a real vault with the shipped models: the five phases of seed A, feature 6, and what they leave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from belief_rig import claim, item
from engine_rig import HandClock, Rig, differences, rig_at
from gathering_rig import DAY_MS, by_status, told
from ground_rig import Ran, ground_of, near_of, run
from numpy.typing import NDArray
from real_models import real_embedder, real_readers

from core.errors import Code, EnvironmentFaultError
from core.intake.transaction.sources import claims_backed_by, refresh_claims
from core.lifecycle.consolidate.consolidate import ConsolidationJob, count_active, count_plan, make_report
from core.lifecycle.job_support.job_context import JobContext
from core.types.lifecycle import JobAction
from core.types.values import OWNER_ACTOR, Kind, Source

BILLING = (
    "The billing API returns amounts in cents.",
    "The billing API requires an idempotency key for every charge.",
    "The billing API rate limit is 100 requests a minute.",
    "Webhooks of the billing API are signed with HMAC.",
)
SPACES = (
    "The user prefers 2-space indentation.",
    "User likes two-space indentation.",
    "Prefers indentation with 2 spaces.",
    "The user wants code indented by two spaces.",
    "Two-space indentation is what the user prefers.",
)
BRUNO = "Bruno the dog is allergic to chicken."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as made:
        yield made


def ground(rig: Rig, **options: Any) -> JobContext:
    return ground_of(rig, options, near=near_of(rig))


def consolidate(rig: Rig, **options: Any) -> Ran:
    return run(rig, ConsolidationJob(), ground(rig, **options))


def status(rig: Rig, memory_id: str) -> str:
    return str(rig.value("SELECT status FROM memories WHERE id = ?", memory_id))


def digests(rig: Rig) -> list[str]:
    return [row[0] for row in rig.rows("SELECT text FROM memories WHERE kind = 'digest' AND status = 'active'")]


def opposed(rig: Rig, source: Source = Source.INFERENCE, **more: Any) -> tuple[str, str]:
    """Two facts whose claims exclude one another; the later one was read when the slot was taken."""
    older = told(rig, "Bruno lives in Graz.", 9, **more)
    claim(rig, older, "lives_in", "Graz", "Graz", subject="Bruno")
    newer = told(rig, "Bruno lives in Linz.", 3, source=source)
    claim(rig, newer, "lives_in", "Linz", "Linz", subject="Bruno", state="draft")
    rig.write(lambda tx: refresh_claims(tx, claims_backed_by(tx, [older, newer])))
    return older, newer


def everything(rig: Rig) -> None:
    """Something for every phase."""
    for text in (*BILLING, *SPACES, BRUNO):
        told(rig, text)
    opposed(rig)
    fact = told(rig, "The quarterly report has to be in by 10 April.", 5)
    told(rig, "The quarterly report is due on 10 April.", 5, kind=Kind.RULE)
    assert fact
    lost = told(rig, "Nobody looked at this note about lost umbrellas.", 3000)
    rig.write(lambda tx: tx.update("memories", {"id": lost}, {"permanence": "permanent"}))


# ---- all of it


@pytest.mark.slow
def test_all_phases_run(rig: Rig) -> None:
    everything(rig)
    counts = consolidate(rig).counts
    assert counts == {
        "deduplicated": 4, "resolved": 1, "corroborated": 1, "clusters": 1, "source_memories": 4, "pruned_decayed": 1,
    }  # fmt: skip


def test_a_dry_run_changes_nothing(rig: Rig) -> None:
    everything(rig)
    before = rig.dump()
    deeds = ConsolidationJob().plan(ground(rig))
    assert len(deeds) == 5
    assert not differences(before, rig.dump())
    assert json.loads(json.dumps(deeds[0].detail)) == deeds[0].detail
    assert ConsolidationJob().plan(ground(rig)) == deeds


def test_the_report_counts_what_happened(rig: Rig) -> None:
    everything(rig)
    before = rig.opened.storage.vault.read(count_active)
    ran = consolidate(rig)
    after = rig.opened.storage.vault.read(count_active)
    assert dict(ran.counts) == count_plan(ran.deeds)
    told_ = make_report(ran.counts, before=before, after=after, duration_ms=5).to_json()
    assert told_["compressed"] == {"clusters": 1, "source_memories": 4}
    assert told_["contradictions"] == {"resolved": 1, "pending": 0}
    # One digest more; gone: what is beneath another, beneath the digest, replaced, or archived.
    assert after == {"total": before["total"] + 1, "active": before["active"] + 1 - 4 - 4 - 1 - 1}


def test_a_second_run_does_nothing(rig: Rig) -> None:
    everything(rig)
    consolidate(rig)
    after = rig.dump()
    assert not consolidate(rig).deeds
    assert not differences(after, rig.dump())


def test_undoing_the_run_restores_every_row(rig: Rig) -> None:
    everything(rig)
    before = rig.dump()
    ran = consolidate(rig)
    assert rig.undo(ran.step_id).left == ()
    assert not differences(before, rig.dump())


def test_what_was_taken_back_is_not_done_again(rig: Rig) -> None:
    everything(rig)
    ran = consolidate(rig)
    rig.undo(ran.step_id)
    assert count_plan(consolidate(rig).deeds) == {"pruned_decayed": 1}


def test_each_memory_is_in_one_deed(rig: Rig) -> None:
    everything(rig)
    ids = [one for deed in ConsolidationJob().plan(ground(rig)) for one in (deed.memory_id, *deed.others)]
    assert len(ids) == len(set(ids))


def test_without_a_whole_index_there_is_no_plan(rig: Rig) -> None:
    everything(rig)
    assert ConsolidationJob().plan(ground_of(rig)) == []


def test_a_deed_whose_memory_changed_is_left(rig: Rig) -> None:
    for text in BILLING:
        first = told(rig, text)
    here = ground(rig)
    deeds = ConsolidationJob().plan(here)
    rig.write(lambda tx: tx.update("memories", {"id": first}, {"pinned": 1}))

    def carry(tx: Any) -> Any:
        with rig.opened.storage.work.verb(tx, "run", "A run", OWNER_ACTOR) as verb:
            return ConsolidationJob().apply_plan(tx, verb, here, deeds)

    assert rig.write(carry).counts == {"skipped": 1}
    assert not digests(rig)


# ---- duplicates


def test_near_identical_memories_are_united(rig: Rig) -> None:
    first, *others = (told(rig, text, 5, tags=(f"t{nr}",), importance=nr / 10) for nr, text in enumerate(SPACES))
    assert consolidate(rig).counts == {"deduplicated": 4}
    assert by_status(rig) == {"active": [SPACES[0]], "consolidated": list(SPACES[1:])}
    kept = rig.get(first)
    assert kept.corroboration == 5
    assert set(kept.tags) == {"t0", "t1", "t2", "t3", "t4"}
    assert kept.importance == pytest.approx(0.4)
    beneath = rig.rows("SELECT DISTINCT consolidated_into FROM memories WHERE status = 'consolidated'")
    assert (beneath, len(others)) == ([(first,)], 4)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ida's bicycle had a flat tyre on 3 May 2023 on her way to school.",
         "In the week of 22 May 2023 there was a storm in Ida's village."),
        ("Ida went to a pottery course on 3 May 2023.",
         "Ida and a young neighbour had a great time at the pottery fair in June 2023."),
        ("In the week of 12 June 2023 Ida went to a street parade.",
         "On the weekend of 8 July 2023 Ida's village held a street parade."),
        ("In August 2023 Ida is having a pottery show with her bowls.",
         "Ida is putting together a pottery show in September 2023."),
        ("Ida took her family sailing on the lake in the week of 12 June 2023.",
         "Ida went sailing with the kids a few weeks before 2 September 2023 and had a blast."),
        ("Ida loves making bowls.", "Ida is going to show her bowls."),
    ],
)  # fmt: skip
def test_two_events_of_one_kind_are_not_united(rig: Rig, first: str, second: str) -> None:
    told(rig, first, 9, source=Source.USER_IMPLICIT)
    told(rig, second, 5, source=Source.USER_IMPLICIT)
    consolidate(rig)
    assert by_status(rig) == {"active": [first, second]}


def test_the_more_trusted_is_kept(rig: Rig) -> None:
    told(rig, SPACES[0], 5)
    better = told(rig, SPACES[1], 3, source=Source.TOOL_OUTPUT)
    consolidate(rig)
    assert status(rig, better) == "active"
    assert by_status(rig)["consolidated"] == [SPACES[0]]


def test_the_persons_words_are_never_beneath_others(rig: Rig) -> None:
    told(rig, SPACES[0], 9, source=Source.SYSTEM, pinned=1)
    own = told(rig, SPACES[1], 3, source=Source.USER_IMPLICIT, lineage="owner")
    consolidate(rig)
    assert status(rig, own) == "active"
    assert "consolidated" not in by_status(rig)


def test_episodes_of_the_same_words_all_stand(rig: Rig) -> None:
    for _ in range(2):
        told(rig, SPACES[0], 5, kind=Kind.EPISODE)
    assert not consolidate(rig).deeds


def test_what_is_in_review_is_left(rig: Rig) -> None:
    ids = [told(rig, text, 5) for text in SPACES[:2]]
    item(rig, ids[1], ids[0], "classification")
    assert not consolidate(rig).deeds


def test_what_a_person_spared_is_neither_united_nor_gathered(rig: Rig) -> None:
    ids = [told(rig, text, 5) for text in SPACES[:2]]
    until = rig.clock.now_ms() + 1_000
    rig.write(lambda tx: tx.insert("spared", {"memory_id": ids[0], "at": 1, "until": until}))
    assert not consolidate(rig).deeds
    rig.write(lambda tx: tx.update("spared", {"memory_id": ids[0]}, {"until": 1}))
    assert consolidate(rig).deeds


def test_what_a_person_kept_side_by_side_is_left(rig: Rig) -> None:
    ids = [told(rig, text, 5) for text in SPACES[:2]]
    found = item(rig, ids[1], ids[0], "classification")
    closed = {"state": "resolved", "resolution": "keep_both"}
    rig.write(lambda tx: tx.update("conflicts", {"id": found}, closed))
    assert not consolidate(rig).deeds


def test_other_sessions_stay_apart(rig: Rig) -> None:
    told(rig, SPACES[0], 5, scope_session="one")
    told(rig, SPACES[1], 5)
    assert not consolidate(rig).deeds


# ---- contradictions


def test_contradictions_are_settled_where_trust_allows(rig: Rig) -> None:
    older, newer = opposed(rig)
    assert consolidate(rig).counts == {"resolved": 1}
    assert (status(rig, older), status(rig, newer)) == ("superseded", "active")
    held = rig.rows("SELECT value, state FROM claims ORDER BY value")
    assert held == [("Graz", "superseded"), ("Linz", "asserted")]


def test_where_trust_does_not_allow_a_person_is_asked(rig: Rig) -> None:
    older, newer = opposed(rig, lineage="owner")
    rig.write(
        lambda tx: tx.update("memory_sources", {"memory_id": older, "lineage": "owner"}, {"source": "user_explicit"})
    )
    assert consolidate(rig).counts == {"pending": 1}
    assert (status(rig, older), status(rig, newer)) == ("active", "quarantined")
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open' AND incoming_id = ?", newer) == 1
    assert not consolidate(rig).deeds


# ---- corroboration


def test_corroboration_raises_confidence(rig: Rig) -> None:
    fact = told(rig, SPACES[0], 5)
    said = told(rig, SPACES[1], 5, kind=Kind.EPISODE, source=Source.USER_IMPLICIT)
    before = rig.get(fact)
    assert consolidate(rig).counts == {"corroborated": 1}
    after = rig.get(fact)
    assert (after.corroboration, status(rig, said)) == (2, "active")
    assert after.trust == pytest.approx(before.trust + 0.05)
    assert not consolidate(rig).deeds


def test_one_source_confirms_nothing_of_its_own(rig: Rig) -> None:
    told(rig, SPACES[0], 5, lineage="document:a")
    told(rig, SPACES[1], 5, lineage="document:a", kind=Kind.EPISODE)
    assert not consolidate(rig).deeds


def test_a_run_makes_nothing_the_owners_word(rig: Rig) -> None:
    fact = told(rig, SPACES[0], 5)
    told(rig, SPACES[1], 5, kind=Kind.EPISODE, source=Source.USER_EXPLICIT, lineage="owner")
    consolidate(rig)
    assert rig.value("SELECT count(*) FROM memory_sources WHERE memory_id = ? AND lineage = 'owner'", fact) == 0


# ---- digests


def test_a_digest_stands_for_its_sources(rig: Rig) -> None:
    ids = [told(rig, text, 70 - nr, tags=(f"t{nr}",)) for nr, text in enumerate(BILLING)]
    assert consolidate(rig).counts == {"clusters": 1, "source_memories": 4}
    assert digests(rig) == ["\n".join(BILLING)]
    row = rig.rows("SELECT id, source, client_id, extra, occurred_at, trust, tags FROM memories WHERE kind = 'digest'")[
        0
    ]
    assert row[1:3] == ("inference", None)
    assert rig.rows("SELECT source_id FROM derivations WHERE derived_id = ? ORDER BY source_id", row[0]) == [
        (one,) for one in sorted(ids)
    ]
    assert rig.value("SELECT count(*) FROM evidence WHERE memory_id = ?", row[0]) == 0
    texts: dict[str, str] = dict(rig.rows("SELECT id, text FROM memories"))
    text = texts[row[0]]
    for span in json.loads(row[3])["spans"]:
        said = texts[span["source"]][span["start"] : span["end"]]
        assert text[span["at"] : span["at"] + len(said)] == said
    assert row[4] == rig.clock.now_ms() - 70 * DAY_MS
    assert row[5] == pytest.approx(min(rig.get(one).trust for one in ids))
    assert json.loads(row[6]) == ["t0", "t1", "t2", "t3"]
    assert {status(rig, one) for one in ids} == {"consolidated"}
    assert rig.found("Which rate limit has the billing API?") == ["\n".join(BILLING)]
    assert rig.verify()["status"] == "ok"


@pytest.mark.slow
def test_fifty_variants_give_one_memory_in_recall(rig: Rig) -> None:
    """E4.2.4: as notes of an assistant, which nothing unites when they are stored."""
    client = rig.client("helper", "write")
    forms = [f"{text[:-1]}{end}" for text in SPACES for end in (".", "!", " always.", " in code.", " everywhere.")] * 2
    for nr, text in enumerate(forms):
        told(rig, text, 90 - nr, kind=Kind.EPISODE, client_id=client.client_id)
    assert consolidate(rig).counts["source_memories"] == len(forms) == 50
    assert len(rig.found("How does the user want code to be indented?")) == 1


def test_two_do_not_make_a_digest(rig: Rig) -> None:
    for text in BILLING[:2]:
        told(rig, text)
    assert not consolidate(rig).deeds


@pytest.mark.parametrize(
    "more",
    [
        {"days": 10}, {"used_days": 3}, {"pinned": 1}, {"importance": 0.7}, {"source": Source.USER_EXPLICIT},
        {"kind": Kind.RULE}, {"confidence": 0.01, "trust": 0.01},
    ],
)  # fmt: skip
def test_what_is_kept_out_of_digests(rig: Rig, more: dict[str, Any]) -> None:
    for text in BILLING[1:3]:
        told(rig, text)
    days = more.pop("days", 60)
    kept = told(rig, BILLING[0], days, **more)
    if "confidence" in more:
        rig.write(lambda tx: tx.run("UPDATE memories SET confidence = 0.01 WHERE status = 'active'"))
    consolidate(rig)
    assert status(rig, kept) == "active"
    assert not digests(rig)


def test_what_a_later_value_may_replace_is_kept_out_of_digests(rig: Rig) -> None:
    ids = [told(rig, text) for text in BILLING]
    claim(rig, ids[3], "signed_with", "HMAC", "HMAC", subject="billing API")
    consolidate(rig)
    assert {one: status(rig, one) for one in ids} == dict.fromkeys(ids, "consolidated") | {ids[3]: "active"}


def test_imported_records_are_never_gathered(rig: Rig) -> None:
    rig.bring([{"text": text, "session": f"s{nr}", "time": "2020-01-01T10:00:00Z"} for nr, text in enumerate(BILLING)])
    assert isinstance(rig.clock, HandClock)
    rig.clock.at_ms += 90 * DAY_MS
    rig.settle()
    assert not consolidate(rig).deeds
    assert set(by_status(rig)) == {"active"}


@pytest.mark.slow
def test_a_digest_of_many_details_is_made_in_parts(rig: Rig) -> None:
    things = ("cents", "euros", "refunds", "invoices", "taxes", "receipts", "limits", "keys", "hooks", "plans",
              "coupons", "trials", "seats", "payouts", "disputes", "fees")  # fmt: skip
    for thing in things:
        told(rig, f"The billing API has its own endpoint for {thing}.")
    consolidate(rig)
    assert max(len(text.splitlines()) for text in digests(rig)) <= 12
    assert len(digests(rig)) >= 1


def test_an_embedder_that_is_away_leaves_the_digest_to_be_embedded(rig: Rig) -> None:
    def away(texts: Any) -> NDArray[np.float32]:
        raise EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "It is away.")

    for text in BILLING:
        told(rig, text)
    here = ground(rig)
    object.__setattr__(here, "embed", away)
    assert run(rig, ConsolidationJob(), here).counts["clusters"] == 1
    label = rig.value("SELECT n FROM memories WHERE kind = 'digest'")
    assert rig.value("SELECT count(*) FROM embeddings WHERE n = ?", label) == 0


# ---- what is dead


def test_old_superseded_memories_are_pruned(rig: Rig) -> None:
    older, newer = opposed(rig)
    consolidate(rig)
    assert isinstance(rig.clock, HandClock)
    rig.clock.at_ms += 100 * DAY_MS
    assert not consolidate(rig).deeds
    ran = consolidate(rig, prune_superseded=True)
    assert [deed.action for deed in ran.deeds] == [JobAction.ARCHIVE]
    assert ran.counts == {"pruned_superseded": 1}
    assert (status(rig, older), status(rig, newer)) == ("archived", "active")
