"""Statements of talk: what a run makes, that it makes nothing twice, and that all of it goes with what it rests on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from engine_rig import Rig, differences, rig_at
from ground_rig import Ran, flow, ground_of
from readers_rig import Table, sure
from real_models import real_embedder, real_readers
from talk_rig import TALK, bring_talk, plain_reader

from core.embed.embedder import Vectors
from core.errors import Code, EnvironmentFaultError
from core.lifecycle.distill import reader_statements
from core.lifecycle.distill.distill import DistillJob
from core.lifecycle.distill.reader_queue import TalkScope
from core.lifecycle.distill.statement_writer import StatementWriter
from core.lifecycle.job_support.job_context import TalkReader
from core.talk.reader_model import ReaderModel
from core.talk.statements import distill_conversation
from core.types.belief import Label
from core.types.replies import Classification, StoreReply
from core.types.talk import ConversationStatements, Statement, StatementType, Turn
from core.types.values import OWNER_ACTOR, Kind
from core.types.views import Revision
from core.vault.database.tx import Tx

CAT, GRAZ = "Mara has a grey cat.", "Jon lives in Graz."


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path, talk=plain_reader()) as found:
        yield found


def run(rig: Rig) -> Ran:
    return flow(rig, DistillJob(), ground_of(rig))


def facts(rig: Rig) -> list[str]:
    return rig.texts(kind=Kind.FACT)


def test_a_statement_rests_on_the_exact_words_of_its_episode(rig: Rig) -> None:
    bring_talk(rig, TALK)
    ran = run(rig)
    assert (ran.counts["statements"], ran.counts["small_talk"], ran.counts["episodes"]) == (2, 3, 5)
    assert facts(rig) == [CAT, GRAZ]
    found = rig.rows(
        "SELECT m.text, substr(e.text, s.start_at + 1, s.end_at - s.start_at), s.about, s.type, s.lasting, "
        "s.operation, m.trust <= e.trust, m.source = e.source, m.ref = e.ref, m.corroboration FROM statements s "
        "JOIN memories m ON m.id = s.memory_id JOIN memories e ON e.id = s.episode_id ORDER BY m.n"
    )
    assert found == [
        (CAT, "I have a grey cat.", "Mara", "possession", 1, "ADD", 1, 1, 1, 1),
        (GRAZ, "I live in Graz.", "Jon", "place", 1, "ADD", 1, 1, 1, 1),
    ]
    assert rig.value("SELECT count(*) FROM derivations") == 2
    assert rig.verify()["status"] == "ok"


def begin(
    rig: Rig, asked: list[tuple[str, ...]], code: Code | None = None
) -> Callable[[Sequence[str]], Future[Vectors]]:
    """Vectors that are begun ahead, as the engine makes them; or an embedder that is away."""

    def embed_later(texts: Sequence[str]) -> Future[Vectors]:
        asked.append(tuple(texts))
        begun: Future[Vectors] = Future()
        if code is None:
            begun.set_result(np.asarray(rig.opened.search.embedder.embed(list(texts)), np.float32))
        else:
            begun.set_exception(EnvironmentFaultError(code, "The embedder is away."))
        return begun

    return embed_later


def test_vectors_are_made_while_the_statements_before_them_are_written(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_statements, "STATEMENTS_AT_ONCE", 1)
    bring_talk(rig, TALK)
    job, asked = DistillJob(), list[tuple[str, ...]]()
    ground = replace(ground_of(rig), embed=never_embed, embed_later=begin(rig, asked))
    batch = job.prepare(ground, {})
    assert batch is not None
    assert asked == [(CAT,), (GRAZ,)]  # nothing is written yet
    assert flow(rig, DistillJob(), ground).counts["statements"] == 2
    assert asked[2:] == [(CAT,), (GRAZ,)]  # each once
    assert facts(rig) == [CAT, GRAZ]
    assert rig.value("SELECT count(*) FROM embeddings e JOIN memories m ON m.n = e.n WHERE m.kind = 'fact'") == 2


def test_without_an_embedder_statements_wait_for_their_vectors(rig: Rig) -> None:
    bring_talk(rig, TALK)
    ground = replace(ground_of(rig), embed=never_embed, embed_later=begin(rig, [], Code.EMBEDDER_UNAVAILABLE))
    assert flow(rig, DistillJob(), ground).counts["statements"] == 2
    assert rig.value("SELECT count(*) FROM embeddings e JOIN memories m ON m.n = e.n WHERE m.kind = 'fact'") == 0


@pytest.mark.parametrize("by_hand", [True, False])
def test_the_next_talk_is_read_while_one_is_written_where_the_person_waits(rig: Rig, *, by_hand: bool) -> None:
    bring_talk(rig, TALK, session="s1")
    bring_talk(rig, (("Jon", "I have two bikes."), ("Mara", "I live in Linz.")), "other.jsonl", "s2")
    reader = rig.opened.talk
    assert reader is not None
    read: list[str] = []

    def distill(turns: Sequence[Turn]) -> ConversationStatements:
        read.append(threading.current_thread().name)
        return reader.distill(turns)

    with ThreadPoolExecutor(1, thread_name_prefix="beside") as beside:
        ground = replace(ground_of(rig), talk=replace(reader, distill=distill), begin=beside.submit)
        cursor = TalkScope(reader.version, by_hand=by_hand).to_cursor()
        ran = flow(rig, DistillJob(), ground, begin=cursor)
    assert [name.startswith("beside") for name in read] == [False, by_hand]  # each talk once
    assert ran.counts["episodes"] == 7
    assert sorted(facts(rig)) == ["Jon has two bikes.", GRAZ, CAT, "Mara lives in Linz."]


def test_a_talk_that_changed_since_it_was_read_ahead_is_read_anew(rig: Rig) -> None:
    bring_talk(rig, TALK, session="s1")
    later = bring_talk(rig, (("Jon", "I have two bikes."), ("Mara", "I live in Linz.")), "other.jsonl", "s2")
    reader = rig.opened.talk
    assert reader is not None
    with ThreadPoolExecutor(1) as beside:
        ground = replace(ground_of(rig), begin=beside.submit)
        cursor, job = TalkScope(reader.version, by_hand=True).to_cursor(), DistillJob()
        flow(rig, job, ground, most=1, begin=cursor)  # the other talk is being read
        rig.unimport(later)
        assert flow(rig, job, ground, begin=cursor).counts == {}
    assert facts(rig) == [CAT, GRAZ]


def never_embed(texts: Sequence[str]) -> Vectors:
    raise AssertionError(f"{len(texts)} texts are embedded while somebody waits")


def test_a_second_run_reads_nothing_and_makes_nothing(rig: Rig) -> None:
    bring_talk(rig, TALK)
    run(rig)
    before = rig.dump()
    assert run(rig).counts == {}
    assert differences(before, rig.dump()) == {}


def test_a_run_that_breaks_off_in_the_middle_of_writing_leaves_nothing_and_the_next_makes_each_once(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_talk(rig, TALK)
    rig.settle()
    before = rig.dump()

    def mark(*_: object) -> None:  # both statements are written by then
        raise KeyboardInterrupt

    monkeypatch.setattr(reader_statements, "mark_read", mark)
    with pytest.raises(KeyboardInterrupt):
        run(rig)
    assert {table for table in differences(before, rig.dump()) if table != "vault_state"} == set()
    monkeypatch.undo()
    assert run(rig).counts["statements"] == 2
    assert facts(rig) == [CAT, GRAZ]
    assert rig.verify()["status"] == "ok"


def test_undo_of_the_run_leaves_every_row_as_it_was(rig: Rig) -> None:
    bring_talk(rig, TALK)
    rig.settle()
    before = rig.dump()
    ran = run(rig)
    assert facts(rig) == [CAT, GRAZ]
    rig.undo(ran.step_id)
    assert {table: rows for table, rows in differences(before, rig.dump()).items() if table != "vault_state"} == {}
    assert run(rig).counts == {}, "what was taken back is not made again by itself"


def test_undo_of_the_import_takes_its_statements_along_and_redo_brings_them_back(rig: Rig) -> None:
    rig.store("Jon is a carpenter.")
    rig.settle()
    before = rig.dump()
    done = bring_talk(rig, TALK)
    run(rig)
    report = rig.unimport(done)
    assert report.left == ()
    changed = differences(before, rig.dump())
    assert facts(rig) == ["Jon is a carpenter."]
    assert changed.keys() <= {"vault_state", "imports"}
    rig.undo(report.undo_step_id)
    assert sorted(facts(rig)) == ["Jon is a carpenter.", GRAZ, CAT]
    assert rig.value("SELECT count(*) FROM statements") == 2
    assert run(rig).counts == {}


def test_what_two_imports_say_is_one_statement_and_outlives_the_first(rig: Rig) -> None:
    first = bring_talk(rig, TALK[2:3])
    run(rig)
    bring_talk(rig, (("Mara", "As I said. I have a grey cat."),), "again.jsonl", "s2")
    ran = run(rig)
    assert ran.counts["repeated"] == 1
    assert facts(rig) == [CAT]
    assert rig.value("SELECT count(*) FROM statements") == 2
    rig.unimport(first)
    assert facts(rig) == [CAT]
    assert rig.rows("SELECT e.text FROM derivations d JOIN memories e ON e.id = d.source_id") == [
        ("As I said. I have a grey cat.",)
    ]
    assert rig.verify()["status"] == "ok"


@pytest.mark.parametrize(
    ("kind", "confidence", "may_end"),
    [
        (StatementType.PLACE, 0.95, True),
        (StatementType.PLACE, 0.7, False),
        (StatementType.EVENT, 0.95, False),
        (StatementType.PLAN, 0.95, False),
        (StatementType.OPINION, 0.95, False),
    ],
)
def test_a_second_happening_or_a_guess_ends_no_first_one(
    rig: Rig, kind: StatementType, confidence: float, may_end: bool
) -> None:
    bring_talk(rig, TALK)
    run(rig)
    cat, graz = (str(row[0]) for row in rig.rows("SELECT id FROM memories WHERE kind = 'fact' ORDER BY n"))
    statement = Statement("Jon is in Linz.", "Jon", kind, True, 0.9, "", (0, 1), None)  # noqa: FBT003 - as it is read
    reply = StoreReply("SUPERSEDE", cat, superseded=(graz,), classification=Classification("SUPERSEDE", confidence, ""))

    def judge(tx: Tx, one: StoreReply) -> bool:
        writer = SimpleNamespace(tx=tx)
        told = SimpleNamespace(statement=statement)
        return StatementWriter._is_ended_by_wording(writer, told, cat, one)  # type: ignore[arg-type]  # what it reads

    assert rig.write(lambda tx: judge(tx, reply)) is not may_end
    assert not rig.write(lambda tx: judge(tx, replace(reply, operation="ADD", superseded=())))


def test_two_parades_stand_beside_each_other(tmp_path: Path) -> None:
    """Two happenings that differ in their day alone: the second was taken for the first one's new date."""
    reader = ReaderModel()
    talk = TalkReader("real", lambda turns: distill_conversation(turns, reader.read))
    with rig_at(tmp_path, embedder=real_embedder(), readers=real_readers(), talk=talk) as rig:
        lines = [
            ("Caroline", "Last weekend our city held a pride parade."),
            ("Melanie", "Wow, great!"),
            ("Caroline", "Last Friday I went to a pride parade."),
        ]
        first = bring_talk(rig, lines[:1], "a.jsonl", "s1")
        second = bring_talk(rig, lines[1:], "b.jsonl", "s2")
        rig.settle()
        for import_id in (first, second):
            rig.engine.statements.run(import_id).result(60)
            rig.settle()
        assert len(facts(rig)) == 2
        assert rig.value("SELECT count(*) FROM memories WHERE status = 'superseded'") == 0


def test_claims_end_a_happening_all_the_same(tmp_path: Path) -> None:
    first, second = "Mara lives in Graz.", "Mara lives in Linz."
    claims = {first: ("Mara", "lives_in", "Graz"), second: ("Mara", "lives_in", "Linz")}
    table = Table({(first, second): sure(Label.SUPERSEDE)}, claims)
    with rig_at(tmp_path, talk=plain_reader(kinds={"live": StatementType.EVENT}), readers=table.readers) as rig:
        bring_talk(rig, [("Mara", "I live in Graz."), ("Mara", "I live in Linz.")])
        run(rig)
        assert rig.rows("SELECT text FROM memories WHERE kind = 'fact' AND status = 'active'") == [(second,)]


def test_forgetting_archiving_and_erasing_an_episode_takes_its_statement_along(rig: Rig) -> None:
    bring_talk(rig, TALK)
    run(rig)
    cat, graz = (rig.value("SELECT episode_id FROM statements s JOIN memories m ON m.id = s.memory_id "
                           "WHERE m.text = ?", text) for text in (CAT, GRAZ))  # fmt: skip
    step = rig.forget(cat)
    assert facts(rig) == [GRAZ]
    rig.undo(step)
    assert sorted(facts(rig)) == [GRAZ, CAT]
    rig.engine.memories.erase([graz], OWNER_ACTOR).result(30)
    assert facts(rig) == [CAT]
    assert rig.value("SELECT count(*) FROM memories WHERE text = ?", GRAZ) == 0
    assert rig.verify()["status"] == "ok"


def test_a_forgotten_statement_is_not_made_again_by_another_reader(rig: Rig) -> None:
    bring_talk(rig, TALK)
    run(rig)
    rig.forget(rig.value("SELECT id FROM memories WHERE text = ?", CAT))
    rig.opened.talk = plain_reader("plain-2")
    ran = run(rig)
    assert ran.counts["episodes"] == 5
    assert ran.counts["skipped_refused"] == 1
    assert facts(rig) == [GRAZ]
    assert rig.value("SELECT count(*) FROM memories WHERE text = ?", GRAZ) == 1


def test_a_statement_stands_in_the_place_of_its_episode_and_leads_to_it(rig: Rig) -> None:
    bring_talk(rig, (*TALK, ("Jon", "I have a grey boat. I have a grey cap.")))
    before = [item.memory.ref for item in rig.recall("who has a grey cat", limit=10).items]
    run(rig)
    items = rig.recall("who has a grey cat", limit=10).items
    assert items[0].memory.text == CAT
    episode = rig.value("SELECT id FROM memories WHERE text = 'Fine. I have a grey cat.'")
    assert (items[0].episodes, items[0].refs) == ((episode,), ("s1:2",))
    assert episode not in [item.memory.id for item in items], "one place for both"
    refs = list(dict.fromkeys(ref for item in items for ref in item.refs))
    assert set(before[:3]) <= set(refs), "no other episode that answers lost its place"
    texts = [item.memory.text for item in items]
    assert sum("grey boat" in text or "grey cap" in text for text in texts[: len(refs)]) <= 1
    assert [item.score for item in items] == sorted((item.score for item in items), reverse=True)


def test_small_talk_never_stands_before_a_statement_that_answers(rig: Rig) -> None:
    bring_talk(rig, (("Mara", "I have a grey cat."), ("Jon", "Cat! Cat! Cat! A grey grey cat!")))
    run(rig)
    assert rig.found("grey cat", limit=5)[0] == CAT


def test_an_episode_takes_what_it_says_to_another_space(rig: Rig) -> None:
    bring_talk(rig, TALK)
    run(rig)
    before = rig.dump()
    (episode,) = rig.rows("SELECT episode_id FROM statements WHERE about = 'Jon'")[0]
    moved = rig.engine.library.revise_memories([episode], Revision(space="work")).result(30)
    assert (moved.changed, dict(moved.refused)) == (1, {})
    assert facts(rig) == [CAT]
    rig.undo(moved.step_id)
    changed = differences(before, rig.dump())
    assert not {"memories", "statements", "readings", "derivations", "evidence", "memory_sources"} & changed.keys()
    moved = rig.engine.library.revise_memories([episode], Revision(space="work")).result(30)
    run(rig)
    there = "SELECT m.text, s.name FROM memories m JOIN spaces s ON s.id = m.space_id WHERE m.kind = 'fact' AND "
    assert sorted(rig.rows(there + "m.status = 'active'")) == [(GRAZ, "work"), (CAT, "home")]
    assert rig.verify()["status"] == "ok"
    report = rig.undo(moved.step_id)  # what rests on it there keeps it there, and says so
    assert report.left
    assert rig.verify()["status"] == "ok"
