"""The lexical side reads little, and hostile text is only text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_rig import NOW_MS, Note, Rig, WordEmbedder

from core.recall.lexical import TermStatistics, find_best_covered, read_query_words, score_bm25
from core.recall.request import RecallRequest
from core.recall.scope import OWNER_SCOPE, Scope
from core.score.profile import Profile
from core.vault.database.rows import Params


class Counting:
    """Rows that remember which statements ran, with their values."""

    def __init__(self, rig: Rig) -> None:
        self._rows = rig.rows
        self.ran: list[tuple[str, Any]] = []

    def all(self, sql: str, params: Params = ()) -> list[tuple[Any, ...]]:
        self.ran.append((sql, params))
        return self._rows.all(sql, params)

    def one(self, sql: str, params: Params = ()) -> tuple[Any, ...] | None:
        self.ran.append((sql, params))
        return self._rows.one(sql, params)

    def value(self, sql: str, params: Params = (), default: Any = None) -> Any:
        self.ran.append((sql, params))
        return self._rows.value(sql, params, default)

    def matches(self) -> list[str]:
        """What was asked of the full-text table."""
        return [params[0] for sql, params in self.ran if "MATCH" in sql]


def words_of(rig: Rig, query: str, profile: Profile, rows: Any = None) -> Any:
    return read_query_words(rows or rig.rows, query, TermStatistics(), 1, profile, None, 100)


def test_rare_words_come_first_and_common_ones_only_behind_them(rig: Rig) -> None:
    rig.add([Note(f"boat {'kiln' if place < 3 else 'soup'} {place}") for place in range(100)])
    tight = Profile(bm25_budget=10)
    rows = Counting(rig)
    words = words_of(rig, "boat kiln", tight, rows)
    assert [term.term for term in words.terms] == ["kiln", "boat"]
    assert words.frequencies == (3, 100)
    rows.ran.clear()
    labels, scores = score_bm25(rows, words, tight, 3)
    assert rows.matches() == ['("kiln") AND ("kiln" OR "boat")']
    assert sorted(labels.tolist()) == [1, 2, 3]
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_common_words_come_in_while_too_few_rows_are_found(rig: Rig) -> None:
    rig.add([Note(f"boat {'kiln' if place < 3 else 'soup'} {place}") for place in range(40)])
    rows = Counting(rig)
    profile = Profile(bm25_budget=10)
    labels, _ = score_bm25(rows, words_of(rig, "boat kiln", profile), profile, 30)
    assert rows.matches() == ['"kiln" OR "boat"']
    assert labels.size == 30


def test_a_word_that_is_everywhere_is_not_scored(rig: Rig) -> None:
    rig.add([Note(f"boat {place}") for place in range(60)])
    profile = Profile(bm25_budget=10)
    rows = Counting(rig)
    assert score_bm25(rows, words_of(rig, "boat", profile), profile, 10)[0].size == 0
    assert rows.matches() == []


def test_what_lies_outside_the_scope_takes_no_place_and_makes_no_word_common(rig: Rig) -> None:
    rig.add([Note(f"boat kiln elsewhere {place}") for place in range(60)])
    rig.add([Note(f"boat kiln here and a few more words {place}") for place in range(2)])
    profile, mine = Profile(bm25_budget=5), np.array([61, 62], np.int64)
    words = words_of(rig, "boat kiln", profile)
    assert score_bm25(rig.rows, words, profile, 3)[0].size == 0
    assert sorted(score_bm25(rig.rows, words, profile, 3, mine)[0].tolist()) == [61, 62]
    assert score_bm25(rig.rows, words, profile, 3, np.empty(0, np.int64))[0].size == 0


def test_coverage_reads_within_its_budget(rig: Rig) -> None:
    rig.add([Note(f"boat kiln w{place % 20}") for place in range(100)])
    words = words_of(rig, "boat kiln w3", Profile(posting_budget=50))
    assert [term.term for term in words.terms] == ["w3"]
    assert words.postings[0].size == 5


def test_best_covered_keeps_the_newest_of_equals_within_the_scope(rig: Rig) -> None:
    rig.add([Note("boat kiln"), Note("boat"), Note("boat"), Note("boat"), Note("soup")])
    words = words_of(rig, "boat kiln", Profile())
    assert sorted(find_best_covered(words, None, 3).tolist()) == [1, 3, 4]
    import numpy as np

    assert find_best_covered(words, np.array([2, 5]), 3).tolist() == [2]
    assert find_best_covered(words, None, 0).size == 0


def test_frequencies_are_read_once_until_the_words_change(rig: Rig) -> None:
    rig.add([Note("boat kiln")])
    rows, known = Counting(rig), TermStatistics()
    assert known.count_memories(rows, 5, ("boat", "nothing")) == {"boat": 1, "nothing": 0}
    assert len(rows.ran) == 2  # the index's counters, the frequencies
    assert known.count_memories(rows, 5, ("boat", "nothing")) == {"boat": 1, "nothing": 0}
    assert len(rows.ran) == 2
    rig.add([Note("boat")])
    assert known.count_memories(rows, 6, ("boat",)) == {"boat": 2}
    assert known.count_memories(rows, 5, ("boat",)) == {"boat": 2}
    assert known.count_memories(rows, 6, ("boat",)) == {"boat": 2}
    assert len(rows.ran) == 5


def test_a_sequence_that_changed_no_word_forgets_none(rig: Rig) -> None:
    rig.add([Note("boat kiln"), Note("boat")])
    known = TermStatistics()
    first = known.find_postings(rig.rows, 5, "boat", 100)
    assert known.count_memories(rig.rows, 5, ("boat",)) == {"boat": 2}
    rig.change("UPDATE memories SET access_count = access_count + 1")
    rows = Counting(rig)
    assert known.find_postings(rows, 6, "boat", 100) is first
    assert known.count_memories(rows, 6, ("boat",)) == {"boat": 2}
    assert len(rows.ran) == 1
    assert rows.matches() == []


def test_an_older_snapshot_is_read_past_what_is_remembered(rig: Rig) -> None:
    rig.add([Note("boat"), Note("boat")])
    known = TermStatistics()
    assert known.find_postings(rig.rows, 9, "boat", 100).tolist() == [1, 2]
    rows = Counting(rig)
    assert known.find_postings(rows, 8, "boat", 100).tolist() == [1, 2]
    assert rows.matches() == ['"boat"']


def test_postings_are_kept_within_their_bytes(rig: Rig) -> None:
    rig.add([Note("boat kiln soup") for _ in range(10)])
    known, rows = TermStatistics(most_bytes=160), Counting(rig)
    for term in ("boat", "kiln", "soup", "soup", "boat"):
        assert known.find_postings(rows, 5, term, 100).size == 10
    assert rows.matches() == ['"boat"', '"kiln"', '"soup"', '"boat"']
    assert known.find_postings(rows, 5, "kiln", 4).tolist() == [1, 2, 3, 4]


def test_ten_common_words_read_no_more_than_the_budgets(rig: Rig) -> None:
    """Counted in entries and rows, not in time: what is everywhere is neither read nor scored behind rarer words."""
    common = [f"{letter}common" for letter in "abcdefghij"]
    rig.add([Note(" ".join(common)) for _ in range(400)])
    rig.add([Note("aged kiln") for _ in range(3)])
    profile = Profile(posting_budget=500, bm25_budget=20)
    rows = Counting(rig)
    words = words_of(rig, " ".join([*common, "kiln"]), profile, rows)
    assert [term.term for term in words.terms][:1] == ["kiln"]
    assert sum(having.size for having in words.postings) <= profile.posting_budget
    assert len(rows.matches()) == len(words.terms) == 2
    rows.ran.clear()
    assert set(score_bm25(rows, words, profile, 3)[0].tolist()) == {401, 402, 403}
    (match,) = rows.matches()
    assert rig.rows.value("SELECT count(*) FROM memory_fts WHERE memory_fts MATCH ?", (match,)) == 3
    rows.ran.clear()
    alone = words_of(rig, " ".join(common), profile, rows)
    assert sum(having.size for having in alone.postings) <= profile.posting_budget
    rows.ran.clear()
    assert score_bm25(rows, alone, profile, 40)[0].size == 0
    assert rows.ran == []


def test_a_recall_takes_few_statements(rig: Rig) -> None:
    rig.add([Note(f"kiln number {place}", conversation="c", position=place) for place in range(50)])
    rig.warm()
    rows = Counting(rig)
    request = RecallRequest(query="red kiln number 7", scope=OWNER_SCOPE)
    assert rig.recall.run(rows, request, rig.embedder.embed_one(request.query), NOW_MS).items
    # seq, labels, counters, frequencies, three postings, BM25, twice facts and neighbours, statements, talk, items
    assert len(rows.ran) <= 15


CLIENT = Scope(unrestricted=False, space_ids=frozenset({"id-GLOBAL"}), client_id="c")
HOSTILE = [
    '"',
    '""',
    "*",
    "kiln*",
    "NEAR(kiln secret, 5)",
    "terms:secret",
    "col:x",
    "-secret",
    "^secret",
    "secret AND kiln OR NOT kiln",
    "' OR 1=1 --",
    "'); DROP TABLE memories; --",
    "se\0cret",
    "{secret kiln}",
    "(((((",
    "secret" + "\ud800",
    "\u202esecret",
    "%_%",
    "a" * 1_000_000,
    "secret " * 150_000,
    '"' * 100_000,
    " ".join(f"t{place}" for place in range(100_000)),
]


@pytest.fixture(scope="module")
def guarded() -> Any:
    rig = Rig(WordEmbedder())
    rig.add([Note("the secret kiln", space="home"), Note("an open kiln", space="GLOBAL")])
    rig.warm()
    yield rig
    rig.close()


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_hostile_text_is_only_text(guarded: Rig, query: str, mode: str) -> None:
    found = guarded.ask(query, scope=CLIENT, mode=mode)
    assert {item.memory.text for item in found.items} <= {"an open kiln"}
    assert {item.memory.text for item in guarded.ask(query, mode=mode).items} <= {"the secret kiln", "an open kiln"}
    assert guarded.rows.value("SELECT count(*) FROM memories") == 2


@settings(max_examples=count_examples(150))
@given(st.text(st.characters(), min_size=1, max_size=60).filter(lambda text: text.strip().strip("\0")))
def test_no_text_breaks_out(guarded: Rig, query: str) -> None:
    found = guarded.ask(query, scope=CLIENT, mode="keyword")
    assert {item.memory.text for item in found.items} <= {"an open kiln"}
