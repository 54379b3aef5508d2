"""What is remembered of the lexical index is what the index says, whatever happened to it."""

from __future__ import annotations

from example_counts import count_examples
from hypothesis import given, settings
from hypothesis import strategies as st
from recall_rig import Note, Rig, WordEmbedder

from core.recall.lexical import TermStatistics

WORDS = ("boat", "kiln", "soup")
_TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
_VERBS = st.sampled_from(("add", "forget", "rewrite", "receipt", "merge"))
_STEP = st.tuples(_VERBS, st.integers(1, 12), st.lists(_TEXT, min_size=1, max_size=4))
_CHANGES = {
    "receipt": "UPDATE vault_state SET last_at = last_at + 1",
    "merge": "INSERT INTO memory_fts (memory_fts, rank) VALUES ('merge', 50)",
}


def change(rig: Rig, verb: str, n: int, texts: list[str]) -> None:
    """Change the vault as one of the verbs does."""
    if verb == "add":
        rig.add([Note(text, embed=False) for text in texts])
        return
    if verb in _CHANGES:
        rig.change(_CHANGES[verb])
        return
    rig.connection.execute("BEGIN")
    rig.change("DELETE FROM memory_fts WHERE rowid = ?", (n,))
    if verb == "rewrite":
        rig.connection.execute("INSERT INTO memory_fts (rowid, terms) VALUES (?, ?)", (n, texts[0]))
    rig.connection.execute("COMMIT")


@settings(max_examples=count_examples(40), deadline=None)
@given(st.lists(_STEP, max_size=12))
def test_remembered_words_are_those_of_the_index(steps: list[tuple[str, int, list[str]]]) -> None:
    rig = Rig(WordEmbedder())
    try:
        remembered = TermStatistics()
        for verb, n, texts in [("add", 1, ["boat kiln", "boat"]), *steps]:
            change(rig, verb, n, texts)
            seq = int(rig.rows.value("SELECT seq FROM vault_state"))
            fresh = TermStatistics()
            assert remembered.count_memories(rig.rows, seq, WORDS) == fresh.count_memories(rig.rows, seq, WORDS)
            for word in WORDS:
                mine = remembered.find_postings(rig.rows, seq, word, 100)
                assert mine.tolist() == fresh.find_postings(rig.rows, seq, word, 100).tolist()
    finally:
        rig.close()
