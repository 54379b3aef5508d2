"""Seed A, feature 6, behaviour by behaviour, through the engine's own doors: jobs, settings, recall, history, undo.

Each test's docstring names the place of the seed. Where the settled design moved a number or a word, it says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from belief_rig import claim
from engine_rig import Rig, differences, later, rig_at
from gathering_rig import by_status, told
from real_models import real_embedder, real_readers

from core.intake.transaction.sources import claims_backed_by, refresh_claims
from core.types.lifecycle import JobRow, JobState, JobType, Preview
from core.types.values import Kind, Source

INDENT = (
    "The user prefers 2-space indentation.",
    "User likes two-space indentation.",
    "Prefers indentation with 2 spaces.",
)
BILLING = (
    "The billing API returns amounts in cents.",
    "The billing API requires an idempotency key for every charge.",
    "The billing API rate limit is 100 requests a minute.",
    "Webhooks of the billing API are signed with HMAC.",
)
UMBRELLAS = "Nobody looked at this note about lost umbrellas."
COUNTED = ("deduplicated", "contradictions", "corroborated", "compressed", "pruned")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers()) as made:
        yield made


def consolidate(rig: Rig) -> JobRow:
    row = rig.engine.jobs.run(JobType.CONSOLIDATE).result(120)
    assert row.state is JobState.DONE, row.code
    return row


def report(rig: Rig) -> dict[str, Any]:
    return dict(consolidate(rig).report)


def look_ahead(rig: Rig) -> Preview:
    """The dry run."""
    return rig.engine.jobs.preview_runs(kinds=(JobType.CONSOLIDATE,)).result(120)


def choose(rig: Rig, key: str, value: object) -> None:
    rig.engine.settings.set_option(key, value).result(30)


def opposed(rig: Rig, **more: Any) -> tuple[str, str]:
    """Two facts that cannot both hold; the later one was read when the slot was taken."""
    older = told(rig, "Bruno lives in Graz.", 9, **more)
    claim(rig, older, "lives_in", "Graz", "Graz", subject="Bruno")
    newer = told(rig, "Bruno lives in Linz.", 3)
    claim(rig, newer, "lives_in", "Linz", "Linz", subject="Bruno", state="draft")
    rig.write(lambda tx: refresh_claims(tx, claims_backed_by(tx, [older, newer])))
    return older, newer


def dead(rig: Rig, text: str = UMBRELLAS, **more: Any) -> str:
    """A memory nobody came back to for eight years, whose confidence does not fall: only its strength does."""
    memory_id = told(rig, text, 3000, **more)
    rig.write(lambda tx: tx.update("memories", {"id": memory_id}, {"permanence": "permanent"}))
    return memory_id


def something_for_every_phase(rig: Rig) -> None:
    for text in (*INDENT, *BILLING):
        told(rig, text)
    opposed(rig)
    told(rig, "The quarterly report has to be in by 10 April.", 5)
    told(rig, "The quarterly report is due on 10 April.", 5, kind=Kind.RULE)
    dead(rig)


# ---- the method


def test_consolidate_with_all_defaults_runs_all_five_phases(rig: Rig) -> None:
    """A7 Tests 1: duplicates, contradictions, corroboration, compression and pruning in one call, and no option set."""
    something_for_every_phase(rig)
    done = report(rig)
    assert {name: done[name] for name in COUNTED} == {
        "deduplicated": 2,
        "contradictions": {"resolved": 1, "pending": 0},
        "corroborated": 1,
        "compressed": {"clusters": 1, "source_memories": 4},
        "pruned": {"superseded": 0, "decayed": 1, "disputed": 0},
    }


def test_dry_run_gives_the_report_of_the_run_and_no_mutation(rig: Rig) -> None:
    """A7 Tests 2: `dryRun: true` tells the same figures as the run that follows and writes no row at all."""
    something_for_every_phase(rig)
    before, seq = rig.dump(), rig.value("SELECT seq FROM vault_state")
    foreseen = look_ahead(rig)
    assert not differences(before, rig.dump())
    assert rig.value("SELECT seq FROM vault_state") == seq
    assert foreseen.report["dry_run"] is True
    done = report(rig)
    assert done["dry_run"] is False
    assert {name: foreseen.report[name] for name in COUNTED} == {name: done[name] for name in COUNTED}
    assert foreseen.report["before"] == done["before"]


def test_the_report_has_every_field_of_the_seed(rig: Rig) -> None:
    """A7 API: the shape of the report; of an empty palace too."""
    for _ in range(2):
        done = report(rig)
        assert set(done) >= {*COUNTED, "before", "after", "duration_ms"}
        assert set(done["contradictions"]) == {"resolved", "pending"}
        assert set(done["compressed"]) == {"clusters", "source_memories"}
        assert set(done["pruned"]) == {"superseded", "decayed", "disputed"}
        assert set(done["before"]) == set(done["after"]) == {"total", "active"}
        assert done["duration_ms"] >= 0
        for text in BILLING:
            told(rig, text)


def test_the_counts_of_the_report_are_those_of_the_vault_and_of_the_audit(rig: Rig) -> None:
    """A7 Tests 7: what the report says stands in the statuses, and the audit of the run says the same."""
    something_for_every_phase(rig)
    was = rig.rows("SELECT count(*), sum(status = 'active') FROM memories WHERE status <> 'deleted'")[0]
    row = consolidate(rig)
    done = row.report
    now = {status: len(texts) for status, texts in by_status(rig).items()}
    assert done["before"] == {"total": was[0], "active": was[1]}
    assert done["after"] == {"total": sum(now.values()), "active": now["active"]}
    assert now["consolidated"] == done["deduplicated"] + done["compressed"]["source_memories"]
    assert now["superseded"] == done["contradictions"]["resolved"]
    assert now["archived"] == sum(done["pruned"].values())
    written: dict[str, int] = {}
    for (detail,) in rig.rows("SELECT detail FROM audit WHERE verb = 'consolidate' AND object = ?", row.id):
        for name, count in json.loads(detail).items():
            if isinstance(count, int):
                written[name] = written.get(name, 0) + count
    assert written["deduplicated"] == done["deduplicated"]
    assert written["source_memories"] == done["compressed"]["source_memories"]
    assert written["pruned_decayed"] == done["pruned"]["decayed"]


def test_every_mutation_of_a_run_is_on_the_disk_when_the_run_has_ended(rig: Rig) -> None:
    """A8, incremental persistence: statuses, links, tags and counts survive closing and opening."""
    something_for_every_phase(rig)
    consolidate(rig)
    before = rig.dump()
    rig.lock()
    rig.unlock()
    assert not differences(before, rig.dump())


def test_nothing_is_deleted_by_any_phase_and_one_undo_brings_all_of_it_back(rig: Rig) -> None:
    """A7 with design 3: seed A removes; Loci only ever sets aside, and a run is one step that can be taken back."""
    something_for_every_phase(rig)
    before = rig.dump()
    ids = {row[0] for row in rig.rows("SELECT id FROM memories")}
    row = consolidate(rig)
    assert ids <= {found[0] for found in rig.rows("SELECT id FROM memories WHERE status <> 'deleted'")}
    assert rig.undo(row.step_id).left == ()
    assert not differences(before, rig.dump())


def test_each_memory_asks_once_for_its_neighbours(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A7 Performance: not every pair is compared; twice the memories are twice the questions."""
    asked: list[int] = []
    index = type(rig.opened.search.index)
    searching = index.search

    def search(self: Any, vector: Any, k: int, *args: Any, **more: Any) -> Any:
        asked.append(k)
        return searching(self, vector, k, *args, **more)

    monkeypatch.setattr(index, "search", search)
    words = np.random.default_rng(7).permutation([f"{a}{b}" for a in "bdfgklmnprst" for b in ("ari", "ulo", "ema")])

    def tell(count: int, start: int) -> None:
        for n in range(start, start + count):
            told(rig, f"The {words[n]} is kept beside the {words[-1 - n]} number {n * 37}.", 5)

    tell(6, 0)
    look_ahead(rig)
    few, most = len(asked), max(asked)
    asked.clear()
    tell(6, 6)
    look_ahead(rig)
    assert len(asked) <= 2 * few
    assert max(asked) == most, "and no memory asks for all the others"


# ---- phase 1, duplicates


def test_dedup_merges_near_identical_memories_keeping_the_more_trusted(rig: Rig) -> None:
    """A7 phase 1: of those above the threshold the one with the higher trust stays and stands for the others."""
    told(rig, INDENT[0], 9)
    better = told(rig, INDENT[1], 5, source=Source.TOOL_OUTPUT)
    told(rig, INDENT[2], 3)
    assert report(rig)["deduplicated"] == 2
    assert by_status(rig) == {"active": [INDENT[1]], "consolidated": [INDENT[0], INDENT[2]]}
    assert rig.rows("SELECT DISTINCT consolidated_into FROM memories WHERE status = 'consolidated'") == [(better,)]
    assert rig.found("How does the user indent code?") == [INDENT[1]]


def test_dedup_merges_tags_and_links_from_the_other(rig: Rig) -> None:
    """A7 phase 1: tags and relations of what goes beneath belong to what stays."""
    away = told(rig, INDENT[0], 9, tags=("style",))
    stays = told(rig, INDENT[1], 5, source=Source.TOOL_OUTPUT, tags=("code",))
    friend = told(rig, "The ferry to the island leaves at nine.", 5)
    edge = {"id": "edge", "space_id": "home", "from_id": away, "to_id": friend, "type": "related_to"}
    rig.write(lambda tx: tx.insert("edges", {**edge, "made_by": "owner", "recorded_at": 0}))
    report(rig)
    assert set(rig.get(stays).tags) == {"style", "code"}
    assert rig.rows("SELECT to_id FROM edges WHERE from_id = ? AND type = 'related_to'", stays) == [(friend,)]


def test_the_dedup_threshold_is_an_option(rig: Rig) -> None:
    """A7 `dedupThreshold`: a person who wants only the very same united gets that, at the next run."""
    for text in INDENT:
        told(rig, text, 5)
    for key in ("dedup_from", "corroborate_from"):
        choose(rig, key, 1.0)
    assert report(rig)["deduplicated"] == 0
    for key in ("dedup_from", "corroborate_from"):
        rig.engine.settings.reset_options(key).result(30)
    assert report(rig)["deduplicated"] == 2


# ---- phase 2, contradictions


def test_contradictions_are_resolved_where_trust_allows(rig: Rig) -> None:
    """A7 phase 2: the later of two equals of one trust supersedes, with the chain that history shows."""
    older, newer = opposed(rig)
    assert report(rig)["contradictions"] == {"resolved": 1, "pending": 0}
    assert by_status(rig) == {"superseded": ["Bruno lives in Graz."], "active": ["Bruno lives in Linz."]}
    assert rig.value("SELECT superseded_by_id FROM memories WHERE id = ?", older) == newer
    assert "Bruno lives in Graz." not in rig.found("Where does Bruno live?")


def test_contradictions_that_trust_does_not_allow_wait_for_the_person(rig: Rig) -> None:
    """A7 phase 2 `pending`: nothing but the owner's word ends what the owner said; the desk asks once."""
    older, newer = opposed(rig, lineage="owner")
    source = {"memory_id": older, "lineage": "owner"}
    rig.write(lambda tx: tx.update("memory_sources", source, {"source": "user_explicit"}))
    assert report(rig)["contradictions"] == {"resolved": 0, "pending": 1}
    assert rig.get(older).status == "active"
    assert rig.value("SELECT count(*) FROM conflicts WHERE state = 'open' AND incoming_id = ?", newer) == 1
    assert report(rig)["contradictions"] == {"resolved": 0, "pending": 0}, "asked once is asked enough"


# ---- phase 3, corroboration


def test_corroboration_boosts_the_confidence_of_the_more_trusted(rig: Rig) -> None:
    """A7 phase 3: another source says the same; both stand, one is surer by a twentieth (design 4)."""
    fact = told(rig, INDENT[0], 5, source=Source.TOOL_OUTPUT)
    said = told(rig, INDENT[1], 5, kind=Kind.EPISODE)
    before = rig.get(fact).trust
    assert report(rig)["corroborated"] == 1
    assert (rig.get(fact).corroboration, rig.get(said).corroboration) == (2, 1)
    assert rig.get(fact).trust == pytest.approx(before + 0.05)
    assert rig.get(said).status == "active"


def test_the_same_source_twice_corroborates_nothing(rig: Rig) -> None:
    """A7 phase 3 `different sources`: what one document says twice is one source (design 4, independence)."""
    fact = told(rig, INDENT[0], 5, lineage="document:a")
    told(rig, INDENT[1], 5, lineage="document:a", kind=Kind.EPISODE)
    assert report(rig)["corroborated"] == 0
    assert rig.get(fact).corroboration == 1


# ---- phase 4, compression


def test_a_cluster_is_compressed_when_all_its_members_are_old_enough(rig: Rig) -> None:
    """A7 phase 4: one member that is younger than `compressAge` holds the others."""
    for text in BILLING[1:3]:
        told(rig, text, 60)
    young = told(rig, BILLING[0], 20)
    assert report(rig)["compressed"] == {"clusters": 0, "source_memories": 0}
    assert rig.get(young).status == "active"
    later(rig, 15)
    assert report(rig)["compressed"] == {"clusters": 1, "source_memories": 3}
    assert rig.get(young).status == "consolidated"


def test_the_age_of_compression_is_an_option(rig: Rig) -> None:
    """A7 `compressAge`: a cluster of twenty days is left by the thirty of the seed and gathered by ten."""
    for text in BILLING:
        told(rig, text, 20)
    assert report(rig)["compressed"] == {"clusters": 0, "source_memories": 0}
    choose(rig, "compress_days", 10)
    assert report(rig)["compressed"] == {"clusters": 1, "source_memories": 4}
    assert [text for (text,) in rig.rows("SELECT text FROM memories WHERE kind = 'digest'")] == ["\n".join(BILLING)]


def test_compressed_sources_are_reached_through_their_digest_and_come_back(rig: Rig) -> None:
    """A7 phase 4 with design 6: consolidated sources are out of the default answer, reachable and restorable."""
    ids = [told(rig, text) for text in BILLING]
    row = consolidate(rig)
    (digest,) = (found[0] for found in rig.rows("SELECT id FROM memories WHERE kind = 'digest'"))
    assert rig.found("Which rate limit has the billing API?") == ["\n".join(BILLING)]
    assert {rig.get(one).status.value for one in ids} == {"consolidated"}
    sources = {found[0] for found in rig.rows("SELECT source_id FROM derivations WHERE derived_id = ?", digest)}
    assert sources == set(ids)
    rig.undo(row.step_id)
    assert {rig.get(one).status.value for one in ids} == {"active"}


# ---- phase 5, pruning


def test_old_superseded_memories_are_pruned_after_their_age_where_the_person_wants_it(rig: Rig) -> None:
    """A7 `pruneSuperseded`, `pruneAge`: off at first (design 6: collection only archives); then by age alone."""
    older, _newer = opposed(rig)
    consolidate(rig)
    later(rig, 80)
    choose(rig, "prune_superseded", value=True)
    assert report(rig)["pruned"]["superseded"] == 0
    choose(rig, "prune_days", 60)
    assert report(rig)["pruned"]["superseded"] == 1
    assert rig.get(older).status == "archived"
    assert [one.id for one in rig.engine.jobs.list_archived().result(30).rows] == [older]


@pytest.mark.parametrize(("trust", "gone"), [(0.19, 1), (0.2, 0)])
def test_disputed_memories_of_very_low_trust_are_pruned(rig: Rig, trust: float, gone: int) -> None:
    """A7 phase 5: status `disputed` and trust below 0.2; at 0.2 it stays."""
    doubted = told(rig, "The ferry leaves at nine.", 100)
    rig.write(lambda tx: tx.update("memories", {"id": doubted}, {"status": "disputed", "trust": trust}))
    assert report(rig)["pruned"]["disputed"] == gone
    assert (rig.get(doubted).status == "archived") is bool(gone)


def test_what_has_decayed_below_the_threshold_is_pruned_and_what_is_used_is_not(rig: Rig) -> None:
    """A7 phase 5: below the line of strength and never used; a recall of yesterday keeps the same memory."""
    gone = dead(rig)
    kept = dead(rig, "Nobody looked at this note about old keys.", used_days=1)
    assert report(rig)["pruned"]["decayed"] == 1
    assert (rig.get(gone).status, rig.get(kept).status) == ("archived", "active")


def test_pruning_asks_nobody_and_takes_nothing_the_person_said_or_pinned(rig: Rig) -> None:
    """A7 phase 5 with design 6: pins and the owner's own words are never pruned, however old."""
    own = rig.store("The key to the shed hangs behind the door.").memory_id
    pinned = dead(rig, "The meter stands in the cellar.", pinned=1)
    other = dead(rig)
    later(rig, 3000)
    assert report(rig)["pruned"] == {"superseded": 0, "decayed": 1, "disputed": 0}
    assert [rig.get(one).status for one in (own, pinned, other)] == ["active", "active", "archived"]
