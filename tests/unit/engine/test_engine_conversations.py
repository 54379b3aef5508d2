"""Questions to a local model: what may answer, what it is given, and what is refused before anything leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from engine_rig import Rig
from fake_ollama import EMBEDDER, MODEL, Answer, FakeOllama

from core.errors import Code, LociError
from core.llm.conversation import words_to_search
from core.types.belief import ModelServerState
from core.types.sessions import TIERS, AnswerFit, AskOffer, AskQuery, PreparedAnswer


@pytest.fixture
def server(rig: Rig) -> Iterator[FakeOllama]:
    with FakeOllama() as made:
        rig.engine.settings.set_option("model_host", made.host).result(30)
        yield made


def offer(rig: Rig) -> AskOffer:
    return rig.engine.conversations.read_offer().result(60)


def prepare(rig: Rig, prompt: str = "Where does Ada live?", model: str = MODEL, **more: object) -> PreparedAnswer:
    query = AskQuery(prompt, model, **more)  # type: ignore[arg-type]  # a bag of fields
    return rig.engine.conversations.prepare_answer(query).result(60)


def answered(rig: Rig, prepared: PreparedAnswer) -> str:
    async def run() -> str:
        return "".join([piece async for piece in rig.engine.conversations.stream_answer(prepared)])

    return asyncio.run(run())


def refused(rig: Rig, **more: object) -> Code:
    with pytest.raises(LociError) as caught:
        prepare(rig, **more)  # type: ignore[arg-type]  # a bag of fields
    return caught.value.code


def test_what_can_answer(rig: Rig, server: FakeOllama) -> None:
    rig.store("Tea.", space="work")
    found = offer(rig)
    assert (found.server, found.models, found.chosen, found.is_local) == (ModelServerState.READY, (MODEL,), MODEL, True)
    assert "work" in found.spaces
    server.models = [(EMBEDDER, 300_000_000, "nomic-bert")]
    found = offer(rig)
    assert (found.server, found.models, found.chosen) == (ModelServerState.READY, (), "")
    server.on("/api/tags", Answer("no json"))
    assert (offer(rig).server, offer(rig).code) == (ModelServerState.FAILING, Code.MODEL_SERVER_FAILED.value)
    server.stop()
    assert offer(rig).server is ModelServerState.ABSENT
    turned_on = False
    rig.engine.settings.set_option("model_on", turned_on).result(30)
    assert offer(rig).server is ModelServerState.OFF


def test_an_address_elsewhere_is_asked_for_nothing(rig: Rig) -> None:
    rig.engine.settings.set_option("model_host", "192.0.2.1:11434").result(30)
    found = offer(rig)
    assert (found.server, found.code) == (ModelServerState.FAILING, Code.ACCESS_DENIED.value)
    assert refused(rig) is Code.ACCESS_DENIED


def test_an_answer_from_numbered_memories_with_a_receipt(rig: Rig, server: FakeOllama) -> None:
    stored = rig.store("Ada lives in Voss.").memory_id
    server.says("In Voss [1].")
    prepared = prepare(rig)
    assert [(one.number, one.memory.id) for one in prepared.sources] == [(1, stored)]
    assert prepared.context.count("<memory number=") == 1
    assert prepared.messages[0]["content"].endswith(prepared.context)
    assert answered(rig, prepared) == "In Voss [1]."
    rig.engine.flush_journal()
    receipt = rig.engine.recall_trials.read_receipt(prepared.receipt_id).result(30)
    assert (receipt.row.actor, receipt.given) == ("owner", (stored,))


def test_only_what_is_allowed_is_given(rig: Rig, server: FakeOllama) -> None:
    assert server.host
    rig.store("Ada lives in Voss.")
    rig.store("Ada lives on a boat.", space="work")
    secret = rig.store("Ada lives in a safe house.").memory_id
    rig.write(lambda tx: tx.update("memories", {"id": secret}, {"security_tier": "confidential"}))
    texts = {one.memory.text for one in prepare(rig).sources}
    assert "Ada lives in Voss." in texts
    assert "Ada lives in a safe house." not in texts
    assert "Ada lives in a safe house." not in {one.memory.text for one in prepare(rig, tiers=TIERS[:2]).sources}
    every = prepare(rig, tiers=TIERS).sources
    assert {one.tier for one in every if one.memory.id == secret} == {"confidential"}
    assert [one.memory.text for one in prepare(rig, spaces=("work",)).sources] == ["Ada lives on a boat."]
    assert refused(rig, spaces=("nowhere",)) is Code.NOT_FOUND
    assert refused(rig, prompt="word " * 8_000) is Code.TEXT_TOO_LARGE


def test_a_server_elsewhere_is_prepared_nothing_sensitive(rig: Rig) -> None:
    confirmed = True
    rig.engine.settings.set_option("model_beyond", confirmed).result(30)
    rig.engine.settings.set_option("model_host", "192.0.2.1:11434").result(30)
    assert refused(rig, tiers=TIERS[:2]) is Code.ACCESS_DENIED


def test_an_address_that_changed_meanwhile_is_not_called(rig: Rig, server: FakeOllama) -> None:
    rig.store("Ada lives in Voss.")
    prepared = prepare(rig)
    asked = len(server.questions)
    with FakeOllama() as other:
        rig.engine.settings.set_option("model_host", other.host).result(30)
        offer(rig)
        with pytest.raises(LociError) as caught:
            answered(rig, prepared)
        assert not other.questions
    assert caught.value.code is Code.ACCESS_DENIED
    assert len(server.questions) == asked


def test_without_a_model_the_memories_are_the_answer(rig: Rig) -> None:
    rig.store("Ada lives in Voss.")
    prepared = prepare(rig, model="")
    assert [one.memory.text for one in prepared.sources] == ["Ada lives in Voss."]
    assert prepared.messages == ()
    assert prepared.receipt_id
    assert prepared.fit is not AnswerFit.NEAREST
    rig.store("Tea.", space="work")
    rig.write(lambda tx: tx.update("memories", {"text": "Tea."}, {"status": "archived"}))
    nothing = prepare(rig, "Quantum chromodynamics?", "", spaces=("work",))
    assert nothing.sources == ()
    assert nothing.reason


def test_where_no_memory_answers_those_that_come_nearest_are_given_and_told_as_such(rig: Rig) -> None:
    rig.store("Bread needs salt.")
    away = rig.store("Salt lies on the road.").memory_id
    rig.write(lambda tx: tx.update("memories", {"id": away}, {"status": "archived"}))
    nearest = prepare(rig, "Which mountain near the sea has somebody climbed with salt?", "")
    assert nearest.fit is AnswerFit.NEAREST
    assert [one.memory.text for one in nearest.sources] == ["Bread needs salt."]
    assert nearest.reason


def test_nothing_is_asked_while_the_vault_is_locked(rig: Rig, server: FakeOllama) -> None:
    rig.store("Ada lives in Voss.")
    prepared = prepare(rig)
    rig.lock()
    for ask in (lambda: offer(rig), lambda: prepare(rig), lambda: answered(rig, prepared)):
        with pytest.raises(LociError) as caught:
            ask()
        assert caught.value.code is Code.VAULT_LOCKED
    assert not server.questions


@pytest.mark.parametrize(
    ("question", "is_searched_with_both"),
    [
        ("And when?", True),
        ("How long has she been living in that town?", True),
        ("What about the ferry that leaves from Voss?", True),
        ("Which colour did I choose for the kitchen wall?", False),
    ],
)
def test_a_question_that_goes_on_is_searched_with_the_one_before(question: str, is_searched_with_both: bool) -> None:
    found = words_to_search(question, "Where does Ada live?")
    assert ("Ada" in found) is is_searched_with_both
    assert question in found
    assert words_to_search(question, "") == question


def test_a_follow_up_finds_what_the_question_before_was_about(rig: Rig) -> None:
    stored = rig.store("Quill moored the boat Heron at Ashholt.").memory_id
    rig.settle()
    query = AskQuery("And where?", before="What about the boat Heron of Quill?")
    found = rig.engine.conversations.prepare_answer(query).result(60)
    assert [one.memory.id for one in found.sources] == [stored]
    assert found.query.prompt == "And where?"
