"""Ranking, windows, folding, ties, silence, reasons."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from recall_rig import NOW_MS, SPACE, Note, Rig, WordEmbedder, memory_id

from core.recall.pipeline import Recall
from core.recall.request import RecallRequest
from core.recall.result import NO_VECTORS, Signals, explain_match
from core.recall.scope import OWNER_SCOPE
from core.score.profile import LOCI
from core.types.values import Kind, Status

DAY = 86_400_000


def talk(*lines: str, name: str = "c") -> list[Note]:
    return [Note(line, conversation=name, position=place) for place, line in enumerate(lines)]


def test_words_and_meaning_are_both_found(rig: Rig) -> None:
    rig.add([Note("the glaze ran down"), Note("we ate barley soup"), Note("parts come on the noon ferry")])
    rig.warm()
    found = rig.ask("glaze")
    assert found.items[0].memory.text == "the glaze ran down"
    assert found.strategy == "hybrid"
    assert set(found.items[0].ranks) == {"vector", "bm25", "window", "coverage", "evidence"}
    assert found.items[0].ranks["bm25"][0] == 1
    assert rig.ask("glaze", mode="semantic").items[0].ranks.keys() == {"vector", "window", "evidence"}
    assert rig.ask("glaze", mode="keyword").items[0].ranks.keys() == {"bm25", "coverage", "evidence"}


def test_an_answer_next_to_its_question_is_found(rig: Rig) -> None:
    rig.add(
        [
            *talk("hello there", "when does the ferry leave from Utsund", "eleven sharp", "thanks a lot"),
            *[Note(f"filler number {place}") for place in range(80)],
        ]
    )
    rig.warm()
    found = rig.ask("ferry from Utsund", limit=3)
    texts = [item.memory.text for item in found.items]
    assert texts[0] == "when does the ferry leave from Utsund"
    assert "eleven sharp" in texts
    assert any("neighbouring messages" in sentence for sentence in found.items[texts.index("eleven sharp")].why)


def test_a_word_that_only_names_who_said_it_is_told_as_that(rig: Rig) -> None:
    rig.add(
        [
            Note("I sold the boat in spring", author="Jon"),
            Note("Jon went to the market", author="Jon"),
            *[Note(f"filler number {place}") for place in range(40)],
        ]
    )
    rig.warm()
    found = {item.memory.text: item.why for item in rig.ask("what did Jon sell, the boat").items}
    told = "The question names who said it: Jon."
    assert told in found["I sold the boat in spring"]
    assert found["I sold the boat in spring"][0] == "It contains 1 of the 2 search words: boat."
    assert told not in found.get("Jon went to the market", ())


def test_a_word_that_only_its_tag_has_is_not_said_to_be_in_it(rig: Rig) -> None:
    rig.add([Note("We sold the boat in spring", tags=("harbour",)), *[Note(f"filler {place}") for place in range(40)]])
    rig.warm()
    (found,) = rig.ask("selling a boat at the harbour", limit=1).items
    assert found.why[0] == "It contains 1 of the 2 search words: boat."
    assert found.why[1] == "Its date, its tags or an alias matches: harbour."


def test_words_that_its_text_has_not_are_told_apart_and_numbers_by_plain_names() -> None:
    signals = Signals(0.5, 0.9, 0.1, 0.5, 0.2)
    told = explain_match({"window": (18, 0.5)}, ["visited"], [], 3, signals, 1.2, "gina", ["jon"])
    assert told == (
        "It contains 1 of the 3 search words: visited.",
        "Its date, its tags or an alias matches: jon.",
        "The question names who said it: gina.",
        "By meaning, including its surroundings, it ranks number 18 (similarity 0.50).",
        "Confidence 0.90 raised its score by 20 %.",
    )


def test_a_word_repeated_by_everybody_does_not_outweigh_the_others(rig: Rig) -> None:
    rig.add(
        [
            *talk("boat boat", "boat boat", "boat boat", name="loud"),
            *talk("so", "the boat has a green mast", "yes", name="quiet"),
        ]
    )
    rig.warm()
    assert rig.texts("green boat mast", mode="keyword")[0] == "the boat has a green mast"


def test_conversations_do_not_leak_into_each_other(rig: Rig) -> None:
    rig.add([*talk("about the submarine", name="a"), *talk("see you", name="b")])
    rig.warm()
    assert rig.texts("submarine", mode="keyword") == ["about the submarine"]


def test_an_exact_duplicate_is_folded_with_its_reference(rig: Rig) -> None:
    rig.add(
        [
            Note("the kiln is red", ref="r1"),
            Note("the kiln is red", ref="r2"),
            Note("the kiln is red", ref="r3", kind=Kind.FACT),
            Note("the kiln is red", space="other", ref="r4"),
        ]
    )
    rig.warm()
    refs = [item.refs for item in rig.ask("red kiln").items]
    assert sorted(sorted(one) for one in refs) == [["r1", "r2"], ["r3"], ["r4"]]
    assert all(item.refs[0] == item.memory.ref for item in rig.ask("red kiln").items)


def test_parts_of_one_text_are_one_item(rig: Rig) -> None:
    rig.add(
        [
            Note("first the kiln is loaded", part_of=0, part_index=0, ref="r"),
            Note("then the kiln is fired", part_of=0, part_index=1, ref="r"),
            Note("another kiln"),
        ]
    )
    rig.warm()
    found = rig.ask("kiln fired")
    assert [item.memory.text for item in found.items] == ["then the kiln is fired", "another kiln"]
    assert found.items[0].refs == ("r",)


def test_ties_go_to_the_newer_and_then_to_the_id(rig: Rig) -> None:
    rig.recall.profile = replace(rig.profile, rerank="rrf")  # else two of the three count as repetition
    rig.add(
        [
            Note("same words here", kind=Kind.FACT, recorded_ms=NOW_MS, occurred_ms=NOW_MS),
            Note("same words here", kind=Kind.RULE, recorded_ms=NOW_MS + 5, occurred_ms=NOW_MS),
            Note("same words here", kind=Kind.PROCEDURE, recorded_ms=NOW_MS, occurred_ms=NOW_MS),
        ]
    )
    rig.change("DELETE FROM memory_fts")
    for n in (1, 2, 3):
        rig.connection.execute("INSERT INTO memory_fts (rowid, terms) VALUES (?, 'same word here')", (n,))
    rig.warm()
    items = rig.ask("same words").items
    assert len({item.score for item in items}) == 1
    assert [item.memory.id for item in items] == [memory_id(2), memory_id(1), memory_id(3)]


def test_side_signals_order_near_equals(rig: Rig) -> None:
    rig.add(
        [
            Note("tea with milk", kind=Kind.FACT, confidence=0.4, importance=0.1, occurred_ms=NOW_MS - 900 * DAY),
            Note("tea with milk", kind=Kind.RULE, confidence=1.0, importance=0.9, occurred_ms=NOW_MS - 900 * DAY),
        ]
    )
    rig.warm()
    items = rig.ask("tea with milk").items
    assert [item.memory.kind for item in items] == [Kind.RULE, Kind.FACT]
    assert items[0].signals.relevance == pytest.approx(items[1].signals.relevance, rel=0.02)
    assert items[0].score <= items[0].signals.relevance * (1 + LOCI.side_bound)
    assert any("raised" in sentence for sentence in items[0].why)
    assert any("lowered" in sentence for sentence in items[1].why)


def test_the_same_question_has_the_same_answer(rig: Rig) -> None:
    rng = np.random.default_rng(2)
    words = ["boat", "kiln", "tea", "dog", "mast", "rye", "ferry", "clay"]
    rig.add([*talk(*[" ".join(rng.choice(words, 5)) for _ in range(60)])])
    rig.warm()
    other = Recall(rig.index, SPACE, rig.profile, dims=rig.embedder.dims)
    request = RecallRequest(query="green boat and dog", scope=OWNER_SCOPE, limit=20)
    vector = rig.embedder.embed_one(request.query)
    first = rig.recall.run(rig.rows, request, vector, NOW_MS)
    assert first.items
    assert rig.recall.run(rig.rows, request, vector, NOW_MS) == first
    assert other.run(rig.rows, request, vector, NOW_MS) == first


def test_nothing_near_is_no_answer_and_says_so(rig: Rig) -> None:
    rig.add([Note(f"we ate barley soup {place}") for place in range(30)])
    rig.warm()
    found = rig.ask("volcano tensile enzyme soup")
    assert found.abstained
    assert found.items == ()
    assert "close enough" in found.reason
    assert 0 < len(found.near_misses) <= LOCI.near_misses
    assert {miss.why for miss in found.near_misses} == {"below_bar"}


def test_an_empty_vault_is_silent(rig: Rig) -> None:
    rig.warm()
    for mode in ("hybrid", "semantic", "keyword"):
        found = rig.ask("anything", mode=mode)
        assert found.abstained
        assert found.reason == "Nothing in reach matches."
        assert found.near_misses == ()


def test_without_vectors_words_are_searched_and_the_answer_says_so(rig: Rig) -> None:
    rig.add([Note("the kiln is red", embed=False)])
    found = rig.ask("kiln")
    assert found.strategy == NO_VECTORS
    assert found.index_backend == "none"
    assert [item.memory.text for item in found.items] == ["the kiln is red"]
    rig.warm()
    assert rig.ask("kiln").strategy == NO_VECTORS


@pytest.mark.parametrize("vector", [np.zeros(64, np.float32), np.full(64, np.nan, np.float32), np.ones(3, np.float32)])
def test_an_unusable_vector_is_no_vector(rig: Rig, vector: np.ndarray) -> None:
    rig.add([Note("the kiln is red")])
    rig.warm()
    found = rig.ask("kiln", vector=vector)
    assert found.strategy == NO_VECTORS
    assert len(found.items) == 1


def test_a_memory_whose_vector_is_missing_is_found_by_its_words(rig: Rig) -> None:
    rig.add([Note("the kiln is red", embed=False), Note("a cold kiln")])
    rig.warm()
    found = {item.memory.text: item for item in rig.ask("red kiln").items}
    assert "vector" not in found["the kiln is red"].ranks
    assert "vector" in found["a cold kiln"].ranks


def test_a_vector_that_the_index_lacks_is_read_from_the_vault(rig: Rig) -> None:
    rig.add([Note("the kiln is red"), Note("we ate soup")])
    rig.warm()
    rig.add([Note("the kiln is cold")])
    found = {item.memory.text: item for item in rig.ask("cold kiln").items}
    assert "vector" in found["the kiln is cold"].ranks


def test_a_question_of_function_words_is_answered(rig: Rig) -> None:
    rig.add([Note("to be or not to be"), Note("soup of the day")])
    rig.warm()
    assert rig.texts("to be or not to be", mode="keyword")[0] == "to be or not to be"


def test_function_words_beside_others_are_not_searched(rig: Rig) -> None:
    rig.add([Note("the kiln"), Note("what is the time of the day")])
    rig.warm()
    assert rig.texts("what is the kiln", mode="keyword") == ["the kiln"]


def test_identifiers_and_scripts_are_found(rig: Rig) -> None:
    texts = ["see parse_http_header", "塔の鍵はカフェにあります", "Knekkebrød på dampen", "fixed in v0.9.4"]
    rig.add([Note(text) for text in texts])
    rig.warm()
    for query, text in zip(("http header", "鍵", "knekkebrod", "0.9.4"), texts, strict=True):
        assert rig.texts(query, mode="keyword") == [text]


def test_the_author_and_the_date_can_be_asked_for(rig: Rig) -> None:
    rig.add([Note("we ate soup", author="Maria", occurred_ms=1_683_554_160_000), Note("we ate rye", author="Jon")])
    rig.warm()
    assert rig.texts("what did Maria eat", mode="keyword")[0] == "we ate soup"
    assert rig.texts("8 May 2023", mode="keyword") == ["we ate soup"]


def test_the_limit_holds_and_a_large_one_gives_more(rig: Rig) -> None:
    rig.add([Note(f"kiln {place}") for place in range(250)])
    rig.warm()
    assert len(rig.ask("kiln", limit=7).items) == 7
    assert len(rig.ask("kiln", limit=240).items) == 240


def test_scores_lie_between_nothing_and_one_and_fall(rig: Rig) -> None:
    rig.add([Note(f"kiln {'red ' * (place % 4)}{place}") for place in range(40)])
    rig.warm()
    scores = [item.score for item in rig.ask("red kiln", limit=40).items]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_the_receipt_has_no_text(rig: Rig) -> None:
    rig.add([Note("the kiln is red"), Note("the kiln is blue", status=Status.SUPERSEDED)])
    rig.warm()
    found = rig.ask("the kiln is blue")
    body = str(found.receipt_body())
    assert "kiln" not in body
    assert memory_id(1) in body
    assert memory_id(2) in body
    assert found.receipt_body()["index"] == {"backend": "flat", "revision": found.index_revision}


def test_a_profile_changes_the_answer(rig: Rig) -> None:
    rig.add([Note("kiln"), Note("a red kiln and much more about it")])
    rig.warm()
    strict = Recall(rig.index, SPACE, replace(LOCI, least_chance=1.0), dims=64)
    request = RecallRequest(query="red kiln", scope=OWNER_SCOPE)
    assert strict.run(rig.rows, request, rig.embedder.embed_one("red kiln"), NOW_MS).abstained


@pytest.mark.slow
@pytest.mark.keeps_threads("none are kept; readers are joined here")
def test_several_threads_may_ask_at_once(tmp_path: object) -> None:
    rig = Rig(WordEmbedder(), path=f"{tmp_path}/v.db")
    rig.add([Note(f"kiln number {place}") for place in range(60)])
    rig.warm()
    alone = rig.texts("kiln number 7")
    answers: list[list[str]] = []

    def ask() -> None:
        mine = Rig.reader(rig)
        answers.extend(mine.texts("kiln number 7") for _ in range(10))
        mine.close()

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [alone] * 30
    rig.close()


def test_only_signals_that_moved_it_clearly_are_told() -> None:
    pushed_down = Signals(0.5, 0.6, 0.0, 0.5, 0.3)
    assert explain_match({}, ["boat"], [], 2, pushed_down, 0.96)[-1] == (
        "Recency 0.00 and usefulness 0.30 lowered its score by 4 %."
    )
    assert explain_match({}, ["boat"], [], 2, pushed_down, 0.99) == ("It contains 1 of the 2 search words: boat.",)
    even = Signals(0.5, 0.55, 0.55, 0.55, 0.55)
    assert explain_match({}, [], [], 2, even, 1.03) == ("Its other signals together raised its score by 3 %.",)


def test_words_of_the_question_are_told_as_they_were_typed(rig: Rig) -> None:
    rig.add([Note("Gina sold the boat in spring"), *[Note(f"filler {place}") for place in range(40)]])
    rig.warm()
    (found,) = rig.ask("the Boat of Gina", limit=1).items
    assert found.why[0] == "It contains 2 of the 2 search words: Boat, Gina."
