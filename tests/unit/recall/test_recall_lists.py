"""Time, links, sources and repetition on a small vault; and the order computed again from a trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recall_rig import NOW_MS, Note, Rig, memory_id

from core.config.retrieval import RetrievalOptions
from core.embed.embedder import to_blob
from core.recall.scope import Scope
from core.score.profile import profile_from_options
from core.score.ranking import replay_answer, replay_ranking
from core.types.recall import QueryPlan, TimeRange
from core.types.values import Intent, Kind, Status

DAY = 86_400_000

_ENTITY = "INSERT INTO entities (id, space_id, name, type, recorded_at)"


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
            again = dict(replay_ranking(found.trace))
            order = [one for one, _ in replay_ranking(found.trace)]
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


def test_the_answer_can_be_computed_again_with_digests_twins_and_a_long_list(rig: Rig) -> None:
    draw = np.random.default_rng(11)
    words = ["harbour", "kiln", "auth", "soup", "piano", "fence", "garden"]
    texts = [" ".join(draw.choice(words, size=3)) for _ in range(90)]
    kinds = [Kind.DIGEST if at % 9 == 0 else Kind.EPISODE for at in range(90)]
    rig.add(
        [
            Note(text, kind=kind, importance=float(draw.random()), ref=f"r{at}")
            for at, (text, kind) in enumerate(zip(texts, kinds, strict=True))
        ]
    )
    rig.warm()
    for source in range(90):
        digest = (source // 9) * 9
        if kinds[source] is Kind.EPISODE and source % 2:
            rig.change(
                "INSERT INTO derivations VALUES (?, ?, 'id-home', 0)", (memory_id(digest + 1), memory_id(source + 1))
            )
    folded = 0
    for query in ("harbour kiln", "piano garden", "soup auth fence", "kiln"):
        found = rig.ask(query, limit=60, reading=QueryPlan())
        assert len(found.items) > 5
        again = replay_answer(found.trace)
        assert [one for one, _ in again] == [item.memory.id for item in found.items]
        assert [score for _, score in again] == pytest.approx([item.score for item in found.items], abs=2e-9)
        folded += sum(one.dropped == "duplicate" for one in found.trace.candidates)
    assert folded > 0


def test_everything_of_a_long_answer_is_in_the_trace(rig: Rig) -> None:
    rig.add([Note(f"harbour number {at}") for at in range(70)])
    rig.warm()
    found = rig.ask("harbour", limit=60)
    assert len(found.items) == 60
    assert sum(one.place is not None for one in found.trace.candidates) == 60


def test_another_name_is_as_good_as_the_one_that_was_asked_for(rig: Rig) -> None:
    rig.add([Note("Bob repaired the pump"), Note("the pump is green"), Note("New York City was cold")])
    rig.warm()
    for entity, names in (("e1", ("Robert", "Bob")), ("e2", ("NYC", "New York City"))):
        rig.change(f"{_ENTITY} VALUES (?, 'id-home', ?, 'person', 0)", (entity, names[0]))
        for name in names:
            rig.change("INSERT INTO entity_aliases VALUES (?, ?, ?, 0)", (entity, name, name.lower()))
    assert rig.ask("Robert pump", mode="keyword").items[0].memory.id == memory_id(1)
    found = rig.ask("what about NYC", mode="keyword")
    assert [item.memory.id for item in found.items] == [memory_id(3)]
    assert found.trace.plan.aliases == {"NYC": ("New York City",)}


def test_other_names_of_another_space_are_not_known(rig: Rig) -> None:
    rig.add([Note("Bob repaired the pump"), Note("elsewhere", space="other")])
    rig.warm()
    rig.change(f"{_ENTITY} VALUES ('e1', 'id-other', 'Robert', 'person', 0)")
    for name in ("Robert", "Bob"):
        rig.change("INSERT INTO entity_aliases VALUES ('e1', ?, ?, 0)", (name, name.lower()))
    scope = Scope(unrestricted=False, space_ids=frozenset({"id-home"}), client_id="c")
    assert rig.ask("Robert", mode="keyword").items
    assert not rig.ask("Robert", mode="keyword", scope=scope).items


def test_what_was_called_wrong_does_not_come_back_under_another_id(rig: Rig) -> None:
    rig.add([Note("the editor is vim"), Note("the editor is vim"), Note("the editor has themes")])
    rig.warm()
    vector = rig.embedder.embed_one("current editor vim")
    rig.change(
        "INSERT INTO feedback (id, memory_id, signal, context, actor, at) VALUES ('f', ?, 'irrelevant', ?, 'owner', ?)",
        (memory_id(2), to_blob(vector), NOW_MS - DAY),
    )
    found = rig.ask("current editor vim")
    assert [item.memory.id for item in found.items] == [memory_id(3)]
    assert {one.dropped for one in found.trace.candidates if one.id != memory_id(3)} == {"suppressed"}
    assert rig.ask("current editor vim", now_ms=NOW_MS + 90 * DAY).items[0].memory.id != memory_id(3)


def test_what_was_recorded_then_belongs_to_the_days_where_nobody_knows_when_it_was_said(rig: Rig) -> None:
    rig.add([Note("pump repaired", recorded_ms=NOW_MS - 5 * DAY)])
    rig.warm()
    found = rig.ask("pump", reading=QueryPlan(time=days(NOW_MS - 6 * DAY, NOW_MS - 4 * DAY)))
    assert found.trace.stages["time"] == 1


def test_what_ends_is_out_of_reach_from_then_on(rig: Rig) -> None:
    rig.add([Note("pump repaired", valid_to=NOW_MS + DAY), Note("pump green")])
    rig.warm()
    before = rig.ask("pump repaired")
    after = rig.ask("pump repaired", now_ms=NOW_MS + 2 * DAY)
    assert len(before.items) == 2
    assert [item.memory.id for item in after.items] == [memory_id(2)]
    assert after.trace.signs["size"] < before.trace.signs["size"]
    assert len(rig.ask("pump repaired").items) == 2


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize("name", sorted(RetrievalOptions.model_fields))
def test_every_option_at_either_end_gives_finite_scores(rig: Rig, name: str, mode: str) -> None:
    field = RetrievalOptions.model_fields[name]
    bounds = [getattr(part, side) for part in field.metadata for side in ("ge", "le") if hasattr(part, side)]
    rig.add([Note("the harbour bridge closed"), Note("the harbour bridge closed again"), Note("quite another matter")])
    rig.warm()
    for bound in bounds:
        value = int(bound) if field.annotation is int else float(bound)
        rig.recall.profile = profile_from_options(RetrievalOptions.model_validate({name: value}))
        for query in ("harbour bridge", "zzz", "harbour"):
            found = rig.ask(query, mode=mode)
            numbers = [item.score for item in found.items] + [one.score for one in found.trace.candidates]
            assert np.isfinite(numbers).all()
            assert np.isfinite(found.trace.chance)


def test_a_question_for_the_days_alone_is_answered_by_them(rig: Rig) -> None:
    rig.add(
        [
            Note("what happened when the fence fell", occurred_ms=NOW_MS - 300 * DAY),
            Note("bought a green pump", occurred_ms=NOW_MS - DAY),
            Note("the tuner came", occurred_ms=NOW_MS - DAY),
        ]
    )
    rig.warm()
    for query in ("what happened yesterday", "anything new since yesterday?", "show me my notes from yesterday"):
        found = rig.ask(query)
        assert found.trace.plan.period
        assert {item.memory.id for item in found.items} == {memory_id(2), memory_id(3)}
    assert rig.ask("what happened yesterday", now_ms=NOW_MS + 9 * DAY).abstained
    plain = rig.ask("which pump did I buy yesterday")
    assert not plain.trace.plan.period
    assert plain.items[0].memory.id == memory_id(2)


def test_function_words_alone_are_no_question(rig: Rig) -> None:
    rig.add([Note("the cat and the dog of the house"), Note("is it to be or not to be")])
    rig.warm()
    stranger = np.zeros(rig.embedder.dims, np.float32)
    stranger[0] = 1.0
    assert rig.ask("the the of and", vector=stranger).abstained
    assert rig.ask("the the of and", mode="keyword").items
