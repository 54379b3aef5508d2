"""Feedback: what was wrong for a question does not come again for one like it, until it is taken back or old."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from engine_rig import HandClock, Rig, differences, error_of, facts, refused, rig_at

from core.errors import Code
from core.types.recall import FeedbackReply
from core.types.requests import RecallQuery
from core.types.values import OWNER_ACTOR, Actor

VIM, EMACS = "The editor of Ada is vim", "The editor of Grace is emacs"
NOW, PAST = "which editor does Ada use?", "is vim the editor?"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with rig_at(tmp_path) as rig:
        rig.opened.storage.threads.stop_tickers()
        yield rig


def judge(
    rig: Rig, memory_id: str, signal: str = "corrected", query: str = NOW, actor: Actor = OWNER_ACTOR,
    receipt: str | None = None,
) -> FeedbackReply:  # fmt: skip
    return rig.engine.memories.give_feedback(memory_id, signal, query, actor, receipt).result(30)


def test_it_is_gone_for_that_question_and_found_by_others(rig: Rig) -> None:
    vim = rig.store(VIM).memory_id
    rig.store(EMACS)
    assert VIM in rig.found(NOW)
    assert VIM in rig.found(PAST)
    reply = judge(rig, vim)
    assert (reply.memory_id, reply.signal) == (vim, "corrected")
    result = rig.recall(NOW)
    assert VIM not in [item.memory.text for item in result.items]
    assert (vim, "suppressed") in [(miss.id, miss.why) for miss in result.near_misses]
    assert VIM in rig.found(PAST)


def test_it_comes_back_after_ninety_days_and_with_an_undo(rig: Rig) -> None:
    vim = rig.store(VIM).memory_id
    before = rig.dump()
    step = judge(rig, vim).step_id
    assert rig.found(NOW) == []
    cast("HandClock", rig.clock).advance(90 * 86_400_000)
    assert rig.found(NOW) == [VIM]
    judge(rig, vim)
    assert rig.undo().label == "Judge a result"
    assert rig.found(NOW) == [VIM]
    assert differences(before, rig.dump())["feedback"][1] != []
    assert rig.undo(step).left == ()
    assert rig.dump()["feedback"] == []


def test_a_client_speaks_for_itself_and_needs_a_voice(rig: Rig) -> None:
    vim = rig.store(VIM).memory_id
    claude, codex = rig.client("Claude", "read", "write", "all_spaces"), rig.client("Codex", "read", "all_spaces")
    judge(rig, vim, actor=claude)
    assert rig.found(NOW, claude) == []
    assert rig.found(NOW, codex) == [VIM]
    assert rig.found(NOW) == [VIM]
    with refused(Code.ACCESS_DENIED):
        judge(rig, vim, actor=codex)
    judge(rig, vim, "irrelevant")
    assert rig.found(NOW, codex) == []


def test_what_a_client_may_not_see_it_cannot_judge(rig: Rig) -> None:
    vim = rig.store(VIM, space="private").memory_id
    claude = rig.client("Claude", "read", "write")
    assert error_of(rig.engine.memories.give_feedback(vim, "helpful", NOW, claude)).code is Code.NOT_FOUND
    assert error_of(rig.engine.memories.give_feedback("gone", "helpful", NOW, OWNER_ACTOR)).code is Code.NOT_FOUND


def test_it_remembers_the_question_by_its_vector_alone_and_the_receipt_it_was_seen_in(rig: Rig) -> None:
    vim = rig.store(VIM).memory_id
    receipt = rig.engine.memories.recall(RecallQuery(NOW), OWNER_ACTOR).result(30).receipt_id
    judge(rig, vim, "irrelevant", receipt=receipt)
    ((memory, seen, signal, bytes_, space, actor),) = rig.rows(
        "SELECT memory_id, receipt_id, signal, length(context), vector_space, actor FROM feedback"
    )
    assert (memory, seen, signal, bytes_, space, actor) == (vim, receipt, "irrelevant", 768, "words", "owner")
    claude = rig.client("Claude", "read", "write", "all_spaces")
    judge(rig, vim, "irrelevant", actor=claude, receipt=receipt)
    assert rig.rows("SELECT receipt_id FROM feedback WHERE client_id IS NOT NULL") == [(None,)]  # another's receipt
    told = str(rig.rows("SELECT detail, object FROM audit")) + str(rig.rows("SELECT label FROM undo_steps"))
    assert "editor" not in told
    assert "vim" not in told


def test_a_helpful_answer_counts_in_the_figures(rig: Rig) -> None:
    vim = rig.store(VIM).memory_id
    rig.store("The editor which Ada does use")
    judge(rig, vim, "helpful")
    reply = rig.engine.memories.recall(RecallQuery(NOW, explain=True), OWNER_ACTOR).result(30)
    assert reply.metrics is not None
    at = [item.memory.id for item in reply.result.items].index(vim)
    graded = [1.0 if place == at else item.ranks["vector"][1] for place, item in enumerate(reply.result.items)]
    assert len(graded) == 2
    assert (reply.metrics.ndcg == 1.0) == (graded == sorted(graded, reverse=True))


def test_what_is_refused(rig: Rig) -> None:
    vim = rig.store(VIM).memory_id
    with refused(Code.INVALID_INPUT):
        judge(rig, vim, "nonsense")
    with refused(Code.INVALID_QUERY):
        judge(rig, vim, query=" \0 ")
    assert rig.rows("SELECT * FROM feedback") == []


def test_an_import_with_a_judged_memory_can_be_taken_back(rig: Rig) -> None:
    report = rig.bring(facts(3, what="The editor of Ada is vim"))
    judged = rig.value("SELECT id FROM memories ORDER BY n LIMIT 1")
    judge(rig, judged)
    assert rig.unimport(report.import_id).left == ()
    assert rig.value("SELECT count(*) FROM memories") == 0
