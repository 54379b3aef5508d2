"""Whatever hangs on a memory, nothing of it is left after it was erased, and what is left is sound."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import belief_rig
import pytest
from engine_rig import Rig, rig_at
from erasing_rig import MARK, TEXT, traces
from example_counts import count_examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.engine.memories.memories import vector_remover
from core.intake.erase.erasure import erase_memories
from core.intake.erase.row_erasure import erasure_scope_of, texts_to_erase
from core.intake.erase.trace_erasure import ErasedTextMatcher, TraceIndex, remove_traces_of_ids
from core.intake.transaction.admission import fold_text
from core.types.recall import ContextQuery
from core.types.values import OWNER_ACTOR, Kind, Status
from core.types.views import Revision
from core.vault.database.rows import Rows

Hang = Callable[[Rig, str, str], object]


def _digest(rig: Rig, gone: str, kept: str) -> None:
    made = rig.store(f"Both: {MARK} and bees", kind=Kind.DIGEST).memory_id
    for one in (gone, kept):
        belief_rig.derive(rig, made, one)
    belief_rig.change(rig, kept, status="consolidated", consolidated_into=made)


def _unite(rig: Rig, gone: str, kept: str) -> None:
    vector = rig.opened.search.embedder.embed_one("united")

    def write(tx: Any) -> None:
        with rig.opened.storage.work.verb(tx, "resolve", "Unite", OWNER_ACTOR) as verb:
            transitions = rig.opened.search.store_service.make_transitions(tx, verb, rig.opened.search.add_vectors)
            transitions.merge_into(kept, f"Ada keeps bees. {TEXT}", vector, gone)

    rig.write(write)


def _edge(rig: Rig, gone: str, kept: str) -> None:
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", gone)
    row = {"id": rig.opened.storage.make_id(), "from_id": gone, "to_id": kept, "type": "related_to", "space_id": space}
    rig.write(lambda tx: tx.insert("edges", {**row, "made_by": "owner", "recorded_at": 0}))


def _notes(rig: Rig, gone: str, kept: str) -> None:
    """What the lifecycle keeps beside a memory."""
    space = rig.value("SELECT space_id FROM memories WHERE id = ?", gone)
    rows: Sequence[tuple[str, dict[str, object]]] = (
        ("fading", {"since": 0, "confidence": 0.1}),
        ("spared", {"at": 0, "until": 9}),
        ("replays", {"times": 1, "boost": 0.2, "last_at": 0}),
        ("distilled", {"state": "done", "at": 0}),
        ("rules", {"original_text": TEXT}),
        ("rule_applications", {"id": "a", "applied_at": 0, "reason": f"the {MARK}"}),
        ("procedures", {"trigger_cues": MARK}),
        ("episodes", {"outcome": MARK}),
    )
    first, second = sorted((gone, kept))
    link = {"from_id": first, "to_id": second, "space_id": space, "cosine": 0.8, "state": "open", "at": 0}
    gap = {"id": "g", "fingerprint": hashlib.sha256(b"g").digest(), "kind": "contradiction", "memory_id": kept}

    def write(tx: Any) -> None:
        for table, row in rows:
            tx.insert(table, {"memory_id": gone, **row})
        tx.insert(
            "inferred", {"memory_id": gone, "body": f'{{"topic": "{MARK}"}}', "version": 1, "made_by": "rules", "at": 0}
        )
        tx.insert("links", link)
        tx.insert("gaps", {**gap, "other_id": gone, "space_id": space, "field": MARK, "opened_at": 0})
        tx.insert("gap_asks", {"gap_id": "g", "session": "s", "at": 0})

    rig.write(write)


HANGS: dict[str, Hang] = {
    "claim": lambda rig, gone, kept: belief_rig.claim(rig, gone, "key_of", MARK, MARK),
    "item": belief_rig.item,
    "voice": lambda rig, gone, kept: belief_rig.voice(rig, gone, "dispute", 1, reason=TEXT),
    "edge": _edge,
    "notes": _notes,
    "recall": lambda rig, gone, kept: rig.recall("the key of the third step"),
    "same question": lambda rig, gone, kept: rig.recall(TEXT),
    "context": lambda rig, gone, kept: rig.engine.memories.build_context(
        ContextQuery("the key of the third step"), OWNER_ACTOR
    ).result(30),
    "flush": lambda rig, gone, kept: rig.engine.flush_journal(),
    "probe": lambda rig, gone, kept: rig.engine.recall_trials.save_probe(TEXT, "positive", [gone], 5).result(30),
    "feedback": lambda rig, gone, kept: rig.engine.memories.give_feedback(
        gone, "helpful", "the key", OWNER_ACTOR
    ).result(30),
    "tag": lambda rig, gone, kept: rig.engine.library.revise_memories([gone], Revision(add_tags=(MARK,))).result(30),
    "archive": lambda rig, gone, kept: rig.engine.library.revise_memories(
        [gone], Revision(status=Status.ARCHIVED)
    ).result(30),
    "forget and back": lambda rig, gone, kept: rig.undo(rig.forget(gone)),
    "digest": _digest,
    "unite": _unite,
}
ORDER = tuple(HANGS)


def _erase_by_index(rig: Rig, gone: str) -> None:
    """As a run over the archive does it: the journals were read beforehand."""
    opened = rig.opened
    rig.engine.flush_journal()

    def look(rows: Rows) -> TraceIndex:
        reach = erasure_scope_of(rows, [gone], whole_chain=False)
        journals = TraceIndex(reach.ids, texts_to_erase(rows, reach))
        journals.read_new_rows(rows)
        assert journals.looked
        return journals

    journals = opened.storage.vault.read(look)
    rig.write(
        lambda tx: erase_memories(
            tx,
            opened.storage.work,
            [gone],
            OWNER_ACTOR,
            vector_remover(opened.storage, opened.search),
            journals=journals,
        )
    )


@pytest.mark.slow
@given(chosen=st.sets(st.sampled_from(ORDER)), undone=st.booleans(), indexed=st.booleans())
@settings(max_examples=count_examples(20), suppress_health_check=[HealthCheck.too_slow])
def test_nothing_is_left_whatever_hung_on_it(chosen: set[str], undone: bool, indexed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, rig_at(Path(folder)) as rig:
        kept, gone = rig.store("Ada keeps bees").memory_id, rig.store(TEXT, request_id="r").memory_id
        step = rig.value("SELECT step_id FROM undo_rows WHERE tbl = 'memories' AND row_key = '{\"n\":2}'")
        for name in ORDER:
            if name in chosen and not ("unite" in chosen and name in ("digest", "archive")):
                HANGS[name](rig, gone, kept)
        if indexed:
            _erase_by_index(rig, gone)
        else:
            rig.engine.memories.erase([gone], OWNER_ACTOR).result(30)
        rig.engine.flush_journal()
        assert traces(rig) == []
        texts = rig.texts(None)
        assert texts == ["Ada keeps bees"]
        assert rig.texts() == ["Ada keeps bees"]
        if undone and rig.value("SELECT 1 FROM undo_steps WHERE id = ?", step):
            rig.undo(step)
        while rig.value("SELECT count(*) FROM undo_steps WHERE undone_by IS NULL AND verb <> 'undo'"):
            rig.undo()
        assert traces(rig) == []
        assert rig.verify()["status"] == "ok"


_WORDS = st.text(st.sampled_from("ab \u3042\n"), max_size=60)


@given(st.lists(_WORDS, max_size=8), _WORDS, st.integers(0, 7), _WORDS)
def test_a_quotation_is_found_as_a_plain_search_finds_it(texts: list[str], before: str, at: int, behind: str) -> None:
    told = before + (texts[at % len(texts)] if texts else "") + behind
    own, wanted = fold_text(told), {fold_text(text) for text in texts} - {""}
    plainly = {text for text in wanted if text == own or (len(text) >= 20 and text in own)}
    said = ErasedTextMatcher(texts)
    assert set(said.find_quoted(told)) == plainly
    assert said.is_quoted_in(told) == bool(plainly)


@given(st.text(max_size=40))
def test_folding_is_stable_and_blind_to_case_and_spaces(text: str) -> None:
    once = fold_text(text)
    assert fold_text(once) == once
    assert fold_text(f"  {text}\n") == once


_JSON = st.recursive(
    st.sampled_from(("a", "b", "gone", 1, None)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("id", "x", "gone")), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(("items", "x", "gone")), _JSON, max_size=4))
def test_a_body_without_an_id_names_it_nowhere(body: dict[str, Any]) -> None:
    left = remove_traces_of_ids(body, {"gone"})
    assert "gone" not in str(left)
    if "gone" not in str(body):
        assert left == body
