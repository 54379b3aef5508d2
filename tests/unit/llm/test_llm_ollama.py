"""The model server, through the real client library: what is asked, what counts as an answer, what is refused."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from fake_ollama import EMBEDDER, HASTY, MODEL, PATIENT, Answer, FakeOllama, relation

from core.errors import Code, LociError
from core.llm.ollama import InstalledModel, ModelServer, ServerLimits, choose_model, load_library
from core.llm.prompts import Prompt, relation_prompt
from core.llm.server_address import ServerAddress, parse_address
from core.types.belief import ComparedText, ModelServerState, ModelState

PROMPT = relation_prompt(ComparedText("I live in Bergen."), ComparedText("I moved to Voss."))
CLEAR = ("cleartext", "cleartext")
GOOD = relation("SUPERSEDE", 0.9)


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        yield server


@pytest.fixture
async def server(fake: FakeOllama) -> AsyncIterator[ModelServer]:
    load_library()  # it takes longer than these limits on a busy machine
    found = ModelServer(parse_address(fake.host), PATIENT)
    yield found
    await found.close()


async def refused(server: ModelServer, prompt: Prompt = PROMPT) -> Code:
    with pytest.raises(LociError) as caught:
        await server.ask_model(MODEL, prompt, CLEAR)
    assert "Bergen" not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value.code


async def test_a_question_carries_the_schema_and_the_answer_comes_whole(fake: FakeOllama, server: ModelServer) -> None:
    fake.says(GOOD)
    assert await server.ask_model(MODEL, PROMPT, CLEAR) == GOOD
    body = fake.questions[0].body
    assert body["model"] == MODEL
    assert body["stream"] is True
    assert body["format"]["additionalProperties"] is False
    assert body["options"]["temperature"] == 0
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert "Bergen" not in body["messages"][0]["content"]


async def test_neither_key_nor_proxy_of_the_environment_is_used(
    fake: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "a-key")
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    fake.says(GOOD)
    server = ModelServer(parse_address(fake.host), PATIENT)
    assert await server.ask_model(MODEL, PROMPT, CLEAR) == GOOD
    await server.close()
    assert not {"authorization", "proxy-authorization", "cookie"} & set(fake.questions[0].headers)


async def test_a_redirect_is_not_followed(fake: FakeOllama, server: ModelServer) -> None:
    with FakeOllama() as elsewhere:
        fake.says(Answer(status=307, headers={"Location": f"http://{elsewhere.host}/api/chat"}))
        assert await refused(server) is Code.MODEL_SERVER_FAILED
        assert elsewhere.asked == []


async def test_a_sensitive_text_is_never_sent(fake: FakeOllama, server: ModelServer) -> None:
    for tier in ("sensitive", "confidential", "", "unknown"):
        with pytest.raises(LociError) as caught:
            await server.ask_model(MODEL, PROMPT, ("cleartext", tier))
        assert caught.value.code is Code.ACCESS_DENIED
        with pytest.raises(LociError):
            await server.embed(EMBEDDER, ["a text"], [tier])
    assert fake.asked == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=500, error="out of memory"),
        Answer(status=404, error="model 'small:3b' not found"),
        Answer(status=302),
        Answer(GOOD, error="the runner died"),
        Answer(raw=b"<html>not JSON</html>"),
        Answer(raw=b"[1, 2]\n"),
        Answer(raw=b'"text"\n'),
        Answer(raw=b'{"message": 7, "done": true}\n'),
        Answer(raw=b'{"message": {"role": "assistant", "content": ["a"]}, "done": true}\n'),
        Answer(raw=b"[" * 100_000),
        Answer(raw=b"\xff\xfe\x00"),
        Answer(raw=b""),
        Answer(raw=gzip.compress(b" " * 10_000_000, mtime=0), headers={"Content-Encoding": "gzip"}),
        Answer(GOOD, cut=True),
        Answer(GOOD, unfinished=True),
        Answer("x" * 10_000_000),
        Answer(raw=b"{" + b" " * 10_000_000),
        Answer(endless=True),
        Answer(endless=True, one_line=True),
        Answer(GOOD, pause_s=20),
        Answer(GOOD * 20, gap_s=0.3),
    ],
    ids=[
        "error", "no-model", "redirect", "error-in-stream", "html", "list", "text", "odd-message", "odd-content",
        "deep", "octets", "empty", "gzip-bomb", "cut", "unfinished", "long-words", "long-line", "endless",
        "endless-line", "silent", "slow",
    ],
)  # fmt: skip
async def test_a_bad_answer_is_one_plain_failure_and_the_next_question_works(
    fake: FakeOllama, server: ModelServer, answer: Answer
) -> None:
    fake.says(answer, GOOD)
    asked = ModelServer(server.place, HASTY) if answer.pause_s or answer.gap_s else server
    assert await refused(asked) is Code.MODEL_SERVER_FAILED
    assert await asked.ask_model(MODEL, PROMPT, CLEAR) == GOOD
    if asked is not server:
        await asked.close()
    assert len(fake.questions) == 2, "nothing is retried by itself"


async def test_cancelling_hangs_up_at_once(fake: FakeOllama) -> None:
    fake.says(Answer(endless=True, gap_s=0.01))
    server = ModelServer(parse_address(fake.host), ServerLimits(wire_bytes=10**12, answer_bytes=10**12))
    asking = asyncio.create_task(server.ask_model(MODEL, PROMPT, CLEAR))
    assert await asyncio.to_thread(fake.came.wait, 10)
    asking.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await asking
    await server.close()


async def test_the_state_is_absent_ready_or_failing(fake: FakeOllama, server: ModelServer) -> None:
    assert await server.read_state() == ModelState(ModelServerState.READY, MODEL)
    assert await server.read_state(MODEL) == ModelState(ModelServerState.READY, MODEL)
    assert await server.read_state("another:7b") == ModelState(ModelServerState.FAILING, code="E3001")
    fake.on("/api/tags", Answer(status=500, error="broken"))
    assert await server.read_state() == ModelState(ModelServerState.FAILING, code="E3005")
    fake.on("/api/tags", Answer(raw=b'{"models": [{"name": 3}]}'))
    assert await server.read_state() == ModelState(ModelServerState.FAILING, code="E3001")
    fake.on("/api/tags", Answer(raw=b'{"models": "many"}'))
    assert await server.read_state() == ModelState(ModelServerState.FAILING, code="E3005")
    fake.stop()
    assert await server.read_state() == ModelState(ModelServerState.ABSENT)
    assert "No local model" in ModelState(ModelServerState.ABSENT).sentence


async def test_embedding_gives_one_finite_vector_a_text(fake: FakeOllama, server: ModelServer) -> None:
    found = await server.embed(EMBEDDER, ["one", "two"], ["cleartext"] * 2)
    assert [len(row) for row in found] == [8, 8]
    assert found[0] != found[1]
    for raw in (b'{"embeddings": [[1.0]]}', b'{"embeddings": [[1e999], [1]]}', b'{"embeddings": [[], []]}', b"{}"):
        fake.on("/api/embed", Answer(raw=raw))
        with pytest.raises(LociError) as caught:
            await server.embed(EMBEDDER, ["one", "two"], ["cleartext"] * 2)
        assert caught.value.code is Code.MODEL_SERVER_FAILED
    fake.on("/api/embed", Answer(raw=b'{"embeddings": [[1, 2], [1]]}'))
    with pytest.raises(LociError) as caught:
        await server.embed(EMBEDDER, ["one", "two"], ["cleartext"] * 2)
    assert caught.value.code is Code.DIMENSION_MISMATCH
    with pytest.raises(LociError) as caught:
        await server.embed(EMBEDDER, ["x"] * 65, ["cleartext"] * 65)
    assert caught.value.code is Code.INVALID_INPUT


async def test_a_closed_port_is_told_as_no_server(fake: FakeOllama) -> None:
    port = fake.port
    fake.stop()
    server = ModelServer(ServerAddress(f"http://127.0.0.1:{port}", "127.0.0.1", port, loopback=True), PATIENT)
    with pytest.raises(LociError) as caught:
        await server.list_models()
    assert caught.value.code is Code.EMBEDDER_UNAVAILABLE
    await server.close()


def test_the_model_that_is_chosen() -> None:
    big, small, middle = (
        InstalledModel("big", 40 * 10**9, "llama"),
        InstalledModel("small", 10**9, "llama"),
        InstalledModel("mid", 5 * 10**9, "qwen2"),
    )
    away, passed_on = InstalledModel("huge:cloud", 10**12, "gpt"), InstalledModel("mine", 400, "llama")
    encoder, bert = InstalledModel("embed-x", 10**9, "llama"), InstalledModel("b", 10**9, "nomic-bert")
    assert choose_model([big, small, middle, away, passed_on, encoder, bert], "") == "mid"
    assert choose_model([big], "") == "big"
    assert choose_model([away, passed_on, encoder, bert], "") is None
    assert choose_model([small, away], "huge:cloud") is None, "never one that runs on another machine"
    assert choose_model([InstalledModel("tiny:latest", 10**9, "")], "tiny") == "tiny:latest"
    assert choose_model([small], "tiny") is None


@pytest.mark.starts_process
def test_the_library_is_not_loaded_before_a_server_answers() -> None:
    code = (
        "import sys, core.llm.ollama, core.engine.facade; sys.exit('ollama' in sys.modules or 'httpx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


MESSAGES = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "Where do I live?"}]


async def streamed(server: ModelServer, tiers: tuple[str, ...] = CLEAR) -> list[str]:
    return [piece async for piece in server.stream_answer(MODEL, MESSAGES, 4096, tiers)]


async def test_an_answer_streams_piece_by_piece(fake: FakeOllama, server: ModelServer) -> None:
    fake.says("You live in Voss [1], near Bergen.")
    pieces = await streamed(server)
    assert len(pieces) > 2
    assert "".join(pieces) == "You live in Voss [1], near Bergen."
    body = fake.questions[0].body
    assert body["messages"] == MESSAGES
    assert body["options"] == {"num_ctx": 4096, "num_predict": 1024}
    assert not body.get("format")


@pytest.mark.parametrize(
    "answer",
    [
        Answer("You live in Voss.", cut=True),
        Answer("You live in Voss.", unfinished=True),
        Answer("You live", error="out of memory at Bergen"),
        Answer(raw=b'{"message": {"role": "assistant", "content": "half"}}\nno json\n'),
        Answer(status=500, error="no"),
        Answer(endless=True, gap_s=0.001),
    ],
    ids=["cut", "unfinished", "error", "garbage", "status", "endless"],
)
async def test_what_is_no_whole_answer_ends_in_one_error(fake: FakeOllama, server: ModelServer, answer: Answer) -> None:
    fake.says(answer)
    with pytest.raises(LociError) as caught:
        await streamed(server)
    assert caught.value.code is Code.MODEL_SERVER_FAILED
    assert "Bergen" not in str(caught.value)


async def test_a_sensitive_memory_goes_to_no_other_machine(fake: FakeOllama, server: ModelServer) -> None:
    fake.says("It is here.")
    assert await streamed(server, ("cleartext", "confidential"))
    elsewhere = ModelServer(replace(server.place, loopback=False), PATIENT)
    asked = len(fake.asked)
    with pytest.raises(LociError) as caught:
        await streamed(elsewhere, ("cleartext", "sensitive"))
    assert caught.value.code is Code.ACCESS_DENIED
    assert len(fake.asked) == asked
    await elsewhere.close()


async def test_the_window_of_a_model_is_read(fake: FakeOllama, server: ModelServer) -> None:
    assert await server.read_window(MODEL) == 8192
    fake.on("/api/show", Answer('{"model_info": {"llama.context_length": 2048}}'))
    assert await server.read_window(MODEL) == 2048
    fake.on("/api/show", Answer("no json"))
    with pytest.raises(LociError):
        await server.read_window(MODEL)
