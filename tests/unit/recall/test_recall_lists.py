"""Time, links, sources and repetition on a small vault; and the order computed again from a trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recall_rig import NOW_MS, Note, Rig, memory_id

from core.score.replay import replayed
from core.types.plans import Intent, QueryPlan, TimeRange
from core.types.words import Kind, Status

DAY = 86_400_000


def days(first: int, last: int) -> TimeRange:
    return TimeRange("then", 0, 4, "", "", first, last)


def test_last_weeks_memory_comes_before_a_better_match_of_a_year_ago(rig: Rig) -> None:
    rig.add(
        [
            Note("we decided auth uses tokens", occurred_ms=NOW_MS - 365 * DAY),
            Note("auth decided sessions for the new service", occurred_ms=NOW_MS - 5 * DAY),
            Note("lunch was soup", occurred_ms=NOW_MS - 5 * DAY),
        ]
    )
    rig.warm()
    query = "what we decided about auth"
    plain = rig.ask(query)
    assert plain.items[0].memory.id == memory_id(1)
    then = QueryPlan(time=days(NOW_MS - 8 * DAY, NOW_MS - DAY))
    timed = rig.ask(query, reading=then)
    assert timed.items[0].memory.id == memory_id(2)
    assert "time" in timed.items[0].ranks
    assert any(sentence.startswith("Time:") for sentence in timed.items[0].why)
    assert memory_id(3) not in [item.memory.id for item in timed.items]
    rig.recall.profile = replace(rig.profile, time_bonus=0.0, lists=replace(rig.profile.lists, time=0.0))
    assert rig.ask(query, reading=then).items[0].memory.id == memory_id(1)


def test_a_link_brings_what_shares_no_word(rig: Rig) -> None:
    rig.add([Note("the harbour bridge closed"), Note("ferries were crowded"), Note("nothing of either")])
    rig.warm()
    assert memory_id(2) not in [item.memory.id for item in rig.ask("harbour bridge closed").items]
    rig.change(
        "INSERT INTO edges VALUES ('e1', ?, ?, 'caused_by', 'id-home', 1.0, 'owner', 0)", (memory_id(2), memory_id(1))
    )
    found = rig.ask("harbour bridge closed")
    assert [item.memory.id for item in found.items][:2] == [memory_id(1), memory_id(2)]
    assert "graph" in found.items[1].ranks
    assert found.trace.stages["graph"] == 1


def test_a_third_hop_is_gone_only_for_causes(rig: Rig) -> None:
    rig.add([Note("storm warning issued"), Note("aa bb"), Note("cc dd"), Note("ee ff")])
    rig.warm()
    for number, (a, b) in enumerate(((2, 1), (3, 2), (4, 3))):
        rig.change(
            "INSERT INTO edges VALUES (?, ?, ?, 'caused_by', 'id-home', 1.0, 'owner', 0)",
            (f"e{number}", memory_id(a), memory_id(b)),
        )
    plain = rig.ask("storm warning issued", reading=QueryPlan())
    causal = rig.ask("storm warning issued", reading=QueryPlan(intent=Intent.CAUSAL))
    assert plain.trace.stages["graph"] == 2
    assert causal.trace.stages["graph"] == 3


def test_links_do_not_lead_out_of_reach(rig: Rig) -> None:
    rig.add([Note("garden fence painted"), Note("secret", status=Status.QUARANTINED), Note("behind it")])
    rig.warm()
    for number, (a, b) in enumerate(((1, 2), (2, 3))):
        rig.change(
            "INSERT INTO edges VALUES (?, ?, ?, 'related_to', 'id-home', 1.0, 'owner', 0)",
            (f"e{number}", memory_id(a), memory_id(b)),
        )
    found = rig.ask("garden fence painted")
    assert [item.memory.id for item in found.items] == [memory_id(1)]
    assert found.trace.stages["graph"] == 0


def test_a_digest_stands_for_its_sources(rig: Rig) -> None:
    rig.add(
        [
            Note("the boiler was serviced in march", ref="a"),
            Note("the boiler was serviced in april", ref="b"),
            Note("the boiler was serviced in march and in april", kind=Kind.DIGEST, ref="d"),
        ]
    )
    rig.warm()
    for source in (1, 2):
        rig.change("INSERT INTO derivations VALUES (?, ?, 'id-home', 0)", (memory_id(3), memory_id(source)))
    found = rig.ask("boiler serviced april")
    assert [item.memory.id for item in found.items] == [memory_id(3)]
    assert set(found.items[0].refs) == {"a", "b", "d"}
    dropped = {c.id: (c.dropped, c.because) for c in found.trace.candidates if c.dropped}
    assert dropped[memory_id(1)] == ("duplicate", memory_id(3))


def test_a_digest_of_something_else_hides_nothing(rig: Rig) -> None:
    rig.add(
        [
            Note("the piano tuner is called Aurelio", ref="a"),
            Note("various things about the house and its many rooms and floors", kind=Kind.DIGEST, ref="d"),
        ]
    )
    rig.warm()
    rig.change("INSERT INTO derivations VALUES (?, ?, 'id-home', 0)", (memory_id(2), memory_id(1)))
    assert rig.ask("piano tuner called").items[0].memory.id == memory_id(1)


def test_repetition_comes_later_and_says_so(rig: Rig) -> None:
    rig.add(
        [
            Note("the cat likes tuna fish"),
            Note("the cat likes tuna fish much"),
            Note("cat toys under the old sofa likes"),
        ]
    )
    rig.warm()
    rig.recall.profile = replace(
        rig.profile, alike_from=0.3, trades=replace(rig.profile.trades, exploratory=0.0, lookup=1.0)
    )
    overview = rig.ask("cat likes", reading=QueryPlan(intent=Intent.EXPLORATORY))
    second = next(item for item in overview.items if item.memory.id == memory_id(2))
    assert any("repeats" in sentence for sentence in second.why)
    scores = [item.score for item in overview.items]
    assert scores == sorted(scores, reverse=True)
    assert not any("repeats" in s for item in rig.ask("cat likes").items for s in item.why)


def test_the_text_weight_moves_words_against_meaning(rig: Rig) -> None:
    rig.add([Note("kestrel kestrel report"), Note("kestrel budget meeting in may was long and dull for all")])
    rig.warm()
    words = rig.ask("kestrel report", reading=QueryPlan(text_weight=0.9)).items[0]
    meaning = rig.ask("kestrel report", reading=QueryPlan(text_weight=0.1)).items[0]
    assert words.ranks["evidence"][1] != pytest.approx(meaning.ranks["evidence"][1])
    assert words.ranks["coverage"] == meaning.ranks["coverage"]


def test_the_order_can_be_computed_again_from_the_trace(rig: Rig) -> None:
    draw = np.random.default_rng(5)
    words = ["harbour", "kiln", "auth", "soup", "piano", "fence", "garden", "march", "tuner", "bridge"]
    rig.add(
        [
            Note(
                " ".join(draw.choice(words, size=4)),
                occurred_ms=NOW_MS - int(draw.integers(0, 400)) * DAY,
                importance=float(draw.random()),
                confidence=float(draw.random()),
                recorded_ms=NOW_MS - int(draw.integers(0, 3)),
                conversation="c",
                position=number,
            )
            for number in range(60)
        ]
    )
    rig.warm()
    for query in ("harbour kiln", "piano tuner in march", "soup", "garden fence bridge auth"):
        for plan in (
            QueryPlan(),
            QueryPlan(intent=Intent.EXPLORATORY, text_weight=0.8),
            QueryPlan(time=days(NOW_MS - 90 * DAY, NOW_MS)),
        ):
            found = rig.ask(query, reading=plan, limit=20)
            again = dict(replayed(found.trace))
            order = [one for one, _ in replayed(found.trace)]
            shown = [candidate.id for candidate in sorted(
                (c for c in found.trace.candidates if c.rank is not None), key=lambda c: c.rank or 0)]  # fmt: skip
            assert order == shown
            assert [item.memory.id for item in found.items] == [one for one in order if one in {
                item.memory.id for item in found.items}]  # fmt: skip
            for candidate in found.trace.candidates:
                if candidate.rank is not None:
                    assert again[candidate.id] == pytest.approx(candidate.score, abs=2e-9)


def test_the_trace_says_of_every_candidate_what_became_of_it(rig: Rig) -> None:
    rig.add(
        [
            Note("the lamp in the hall is broken"),
            Note("the lamp in the hall is broken", kind=Kind.FACT, status=Status.SUPERSEDED),
            Note("lamp"),
            Note("hall carpets and stairs and a very long walk to the sea in the fog with nobody about"),
        ]
    )
    rig.warm()
    found = rig.ask("lamp hall broken", limit=1)
    told = {candidate.id: candidate for candidate in found.trace.candidates}
    assert told[memory_id(1)].place == 1
    assert told[memory_id(1)].dropped is None
    assert told[memory_id(2)].dropped == "superseded"
    assert told[memory_id(3)].dropped == "beyond_limit"
    stages = found.trace.stages
    assert stages["answered"] == 1
    assert stages["fused"] >= stages["after_duplicates"] >= stages["answered"]
