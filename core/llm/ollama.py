"""Asking the model server, through the `ollama` client library, which is imported when a server answers.

Every answer is bounded in bytes and time and given up as soon as its task is cancelled. Must not do: retry, follow a
redirect or a proxy, send a key from the environment, use a model that runs elsewhere, or put a server's words into an
error.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.llm.conversation import answer_budget, fit_window
from core.llm.prompts import PROMPT_ANSWER_BYTES, Prompt, answer_schema
from core.llm.server_address import ServerAddress
from core.types.belief import ModelServerState, ModelState

if TYPE_CHECKING:
    import httpx
    from ollama import AsyncClient

_CLEARTEXT = "cleartext"
_SEED = 7
_CONTEXT_TOKENS = 8_192
_ANSWER_TOKENS = 1_024
_EMBED_TEXTS = 64
_LEAST_MODEL_BYTES = 10_000_000
_MOST_MODEL_BYTES = 8_000_000_000
_ENCODERS = ("bert", "clip", "rerank")
_EMBED = "embed"


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """How long and how much.

    Attributes:
        connect_s: seconds until nobody is taken to listen (E32.2).
        silence_s: seconds without a byte, such as while a model is loaded.
        whole_s: seconds for a whole answer.
        list_s: seconds for the list of models.
        answer_bytes: of the words of an answer.
        wire_bytes: of everything a server sends for one question.
    """

    connect_s: float = 2.0
    silence_s: float = 60.0
    whole_s: float = 120.0
    list_s: float = 5.0
    answer_bytes: int = PROMPT_ANSWER_BYTES
    wire_bytes: int = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that the server has.

    Attributes:
        name: such as `llama3.2:3b`.
        bytes: its size on this machine; 0 where unknown.
        family: of its architecture; "" where unknown.
        digest: of its content; "" where the server gives none.
    """

    name: str
    bytes: int
    family: str
    digest: str = field(default="", compare=False)

    @property
    def is_here(self) -> bool:
        """Whether its weights are on the server's own machine."""
        return self.bytes >= _LEAST_MODEL_BYTES and not self.name.casefold().endswith("cloud")

    @property
    def speaks(self) -> bool:
        """Whether it writes text, and does so on the server's own machine.

        A model that a server only passes on to another machine has no weights here.
        """
        if not self.is_here:
            return False
        return _EMBED not in self.name.casefold() and not any(part in self.family.casefold() for part in _ENCODERS)


@dataclass(frozen=True, slots=True)
class _ChatCall:
    """What `/api/chat` is asked."""

    model: str
    messages: Sequence[Mapping[str, str]]
    options: Mapping[str, int]
    schema: Mapping[str, Any] | None = None


class ModelServer:
    """One server; every method is a coroutine of one event loop.

    Attributes:
        place: the address.
    """

    def __init__(self, place: ServerAddress, limits: ServerLimits | None = None) -> None:
        """Make one; nothing is called yet.

        Args:
            place: a checked address (`core.llm.server_address.parse_address`).
            limits: None for the usual ones.
        """
        self.place = place
        self._limits = limits or ServerLimits()
        self._client: AsyncClient | None = None

    async def is_listening(self) -> bool:
        """Whether anybody listens there; a plain connection, no library."""
        try:
            async with asyncio.timeout(self._limits.connect_s):
                _, writer = await asyncio.open_connection(self.place.host, self.place.port)
        except (OSError, TimeoutError):
            return False
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return True

    async def list_models(self) -> tuple[InstalledModel, ...]:
        """The models it has, as it lists them.

        Raises:
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE, MODEL_SERVER_FAILED.
        """
        async with self._open_client(self._limits.list_s) as client:
            listed = await client.list()
            return tuple(
                InstalledModel(
                    one.model, int(one.size or 0), (one.details.family if one.details else None) or "", one.digest or ""
                )
                for one in listed.models
                if one.model and one.model.isprintable() and len(one.model) <= 200
            )

    async def read_state(self, wanted: str = "") -> ModelState:
        """How the server is, and which model would be used.

        Args:
            wanted: the model the person chose; "" for one that fits.

        Returns:
            `absent`, `ready` or `failing`; never raises but for cancellation.
        """
        if not await self.is_listening():
            return ModelState(ModelServerState.ABSENT)
        try:
            chosen = choose_model(await self.list_models(), wanted)
        except LociError as error:
            return ModelState(ModelServerState.FAILING, code=error.code.value)
        if chosen is None:
            return ModelState(ModelServerState.FAILING, code=Code.EMBEDDER_UNAVAILABLE.value)
        return ModelState(ModelServerState.READY, chosen)

    async def ask_model(self, model: str, prompt: Prompt, tiers: Sequence[str]) -> str:
        """Put one question.

        Args:
            tiers: the security tier of every memory in it.

        Returns:
            The model's words, unread; `core.llm.prompts` reads them.

        Raises:
            UserError: ACCESS_DENIED where a memory is not `cleartext`.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE; MODEL_SERVER_FAILED for an error, garbage, too much, too slow.
        """
        _only_cleartext(tiers)
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        options = {"temperature": 0, "seed": _SEED, "num_ctx": _CONTEXT_TOKENS, "num_predict": _ANSWER_TOKENS}
        asked = _ChatCall(model, messages, options, dict(answer_schema(prompt.schema)))
        async with aclosing(self._stream_pieces(asked)) as pieces:
            return "".join([piece async for piece in pieces])

    async def stream_answer(
        self, model: str, messages: Sequence[Mapping[str, str]], window: int, tiers: Sequence[str]
    ) -> AsyncGenerator[str, None]:
        """Answer a conversation, piece by piece as the answer comes; closing the generator ends the model's work.

        Args:
            messages: role and content each, the newest last.
            window: tokens the model may read at once; a quarter of them is the longest answer.
            tiers: the security tier of every memory in it; what is not `cleartext` stays on this machine.

        Yields:
            Pieces of text, valid Unicode.

        Raises:
            UserError: ACCESS_DENIED where a memory is not `cleartext` and the server is another machine.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE; MODEL_SERVER_FAILED for an error, garbage, an answer that ends
                too soon, is too long or too slow.
        """
        if not self.place.loopback:
            _only_cleartext(tiers)
        options = {"num_ctx": window, "num_predict": answer_budget(window)}
        async with aclosing(self._stream_pieces(_ChatCall(model, messages, options))) as pieces:
            async for piece in pieces:
                yield piece

    async def read_window(self, model: str) -> int:
        """Tokens that a model reads at once here: what it can, up to `core.llm.conversation.WINDOW`.

        Raises:
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE, MODEL_SERVER_FAILED.
        """
        async with self._open_client(self._limits.list_s) as client:
            return fit_window(dict((await client.show(model)).modelinfo or {}))

    async def _stream_pieces(self, asked: _ChatCall) -> AsyncGenerator[str, None]:
        """The words of an answer as they come, within the limits; an answer without an end is none."""
        size = 0
        async with self._open_client(self._limits.whole_s) as client:
            answer = await client.chat(
                asked.model,
                asked.messages,
                stream=True,
                think=False,
                format=None if asked.schema is None else dict(asked.schema),
                options=asked.options,
            )
            async with aclosing(answer) as parts:  # type: ignore[type-var]  # an async generator, typed as its iterator
                async for part in parts:
                    piece = (part.message.content or "").encode("utf-8", "replace").decode()
                    size += len(piece.encode())
                    if size > self._limits.answer_bytes:
                        raise _server_error()
                    if piece:
                        yield piece
                    if part.done:
                        return
        raise _server_error()

    async def embed(self, model: str, texts: Sequence[str], tiers: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Embed texts.

        Args:
            texts: at most 64.
            tiers: the security tier of every text.

        Returns:
            One vector a text, as the server gives it: of any length and norm, finite.

        Raises:
            UserError: ACCESS_DENIED, INVALID_INPUT for too many.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE, MODEL_SERVER_FAILED, DIMENSION_MISMATCH where the vectors
                are not of one length.
        """
        _only_cleartext(tiers)
        if len(texts) > _EMBED_TEXTS:
            raise UserError(Code.INVALID_INPUT, f"At most {_EMBED_TEXTS} texts are embedded at once.")
        async with self._open_client(self._limits.whole_s) as client:
            found = (await client.embed(model, list(texts))).embeddings
            vectors = tuple(tuple(float(number) for number in row) for row in found)
        if len(vectors) != len(texts) or not all(_is_finite(row) for row in vectors):
            raise _server_error()
        if len({len(row) for row in vectors}) > 1:
            raise EnvironmentFaultError(Code.DIMENSION_MISMATCH, "The model server gave vectors of several lengths.")
        return vectors

    async def close(self) -> None:
        """Give connections back; the object may be used again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()  # type: ignore[no-untyped-call]  # untyped in the library

    @asynccontextmanager
    async def _open_client(self, within_s: float) -> AsyncIterator[AsyncClient]:
        """The client, for one question: whatever goes wrong is one of two errors that hold none of its words."""
        try:
            async with asyncio.timeout(within_s):
                if self._client is None:
                    self._client = _make_http_client(self.place, self._limits)
                yield self._client
        except LociError:
            raise
        except ConnectionError:
            raise EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "No model server answers.") from None
        except Exception:  # noqa: BLE001 - a server can make the library raise nearly anything; all of it is one failure
            raise _server_error() from None


def choose_model(models: Sequence[InstalledModel], wanted: str) -> str | None:
    """Which model is used.

    Args:
        models: what the server has.
        wanted: the person's choice, with or without `:latest`; "" for none.

    Returns:
        The wanted one, if it is there and runs on the server's own machine; without a wish the largest up to 8 GB,
        else the smallest; None where there is none.
    """
    speaking = [one for one in models if one.speaks]
    if wanted:
        names = {one.name: one.name for one in speaking} | {
            one.name.removesuffix(":latest"): one.name for one in speaking
        }
        return names.get(wanted)
    moderate = [one for one in speaking if one.bytes <= _MOST_MODEL_BYTES]
    if moderate:
        return min(moderate, key=lambda one: (-one.bytes, one.name)).name
    return min(speaking, key=lambda one: (one.bytes, one.name)).name if speaking else None


def load_library() -> None:
    """Import the client library (some 0.2 s): for a thread on which nothing waits."""
    import ollama  # noqa: F401 - the cost is why it is here


def _make_http_client(place: ServerAddress, limits: ServerLimits) -> AsyncClient:
    import httpx
    from ollama import AsyncClient

    async def remove_key(request: httpx.Request) -> None:
        request.headers.pop("authorization", None)  # the library adds a key from the environment

    async def limit_response(response: httpx.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _server_error()  # a few bytes could unpack to anything
        response.stream = _limit_stream(response.stream, limits.wire_bytes)

    return AsyncClient(
        place.url,
        timeout=httpx.Timeout(limits.silence_s, connect=limits.connect_s),
        trust_env=False,
        follow_redirects=False,
        verify=place.url.startswith("https:"),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [remove_key], "response": [limit_response]},
    )


def _limit_stream(stream: Any, most: int) -> Any:
    import httpx

    class Bounded(httpx.AsyncByteStream):
        """A body that ends in an error after so many bytes."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = most
            async for piece in stream:
                left -= len(piece)
                if left < 0:
                    raise _server_error()
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


def _only_cleartext(tiers: Sequence[str]) -> None:
    if any(tier != _CLEARTEXT for tier in tiers):
        raise UserError(Code.ACCESS_DENIED, "A sensitive memory is never given to a model server.")


def _is_finite(row: Sequence[float]) -> bool:
    return bool(row) and all(abs(number) < float("inf") for number in row)


def _server_error() -> EnvironmentFaultError:
    return EnvironmentFaultError(Code.MODEL_SERVER_FAILED, "The model server gave no usable answer.")
