"""The facade's group for the person's own questions to a local model: what may answer, what it is given, its words.

A question is prepared here (recall, numbered context, messages) as any context is, with its receipt; the answer is an
asynchronous generator for the caller's own event loop. Must not do: keep a question or an answer, give a model what
the person did not allow, or call another address than the one the options name.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from core.engine.authority import Authority
from core.engine.memories.contexts import build_context
from core.engine.memories.memories import Memories
from core.engine.recall.recalls import RecallReply
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.storage import chain_work, map_result
from core.errors import Code, LociError, UserError
from core.llm.conversation import CHAT_ANSWER_BYTES, build_messages, memory_budget, number_sources, words_to_search
from core.llm.ollama import InstalledModel, ModelServer, ServerLimits, choose_model, load_library
from core.llm.prompts import load_instructions
from core.llm.server_address import ServerAddress, parse_address
from core.memory.read import client_names_of_memories, read_by_ids
from core.recall.result import BELOW_BAR, RecallResult
from core.recall.scope import json_list
from core.text.question_form import find_answering_sentence
from core.types.belief import ModelServerState
from core.types.recall import ContextQuery, ContextReply
from core.types.requests import RecallQuery
from core.types.sessions import TIERS, AnswerFit, AnswerSource, AskOffer, AskQuery, PreparedAnswer
from core.types.values import OWNER_ACTOR
from core.vault.database.rows import Rows

T = TypeVar("T")

MOST_SOURCES = 6
"""Memories that stand for an answer where no model answers."""

_SURE_CHANCE, _SURE_SCORE = 0.9, 0.6
"""Our choice: memories are said to fit where an answer is this likely and the best of them scores so much. The bar of
recall is lower: it keeps what may answer."""
_LIMITS = ServerLimits(silence_s=120.0, whole_s=600.0, answer_bytes=CHAT_ANSWER_BYTES)
_TIERS_AND_ROOMS = (
    "SELECT m.id, m.security_tier, coalesce(r.name, '') FROM memories m LEFT JOIN places p ON p.memory_id = m.id "
    "LEFT JOIN rooms r ON r.id = p.room_id WHERE m.id IN (SELECT value FROM json_each(?))"
)


class Conversations:
    """Questions to a local model. Each method but `stream_answer` returns at once with a Future."""

    def __init__(
        self,
        open_vault: Callable[[], OpenVault],
        authority: Authority,
        memories: Memories,
        loop: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        """Tie the ends together.

        Args:
            open_vault: gives the open vault, or raises VAULT_LOCKED.
            loop: the engine's; the short questions to the server run on it.
        """
        self._open_vault, self._authority, self._memories, self._loop = open_vault, authority, memories, loop
        self._checked: tuple[str, bool, ServerAddress] | None = None  # resolved off the caller's loop; replaced whole
        self.limits = _LIMITS

    # ---- what there is to choose from

    def read_offer(self) -> Future[AskOffer]:
        """Which models can answer now, and which spaces there are.

        Returns:
            It; a server that is off, absent or failing is told as such.

        Raises:
            UserError: VAULT_LOCKED.
        """
        open_vault = self._open_vault()
        spaces = open_vault.storage.read(
            lambda rows: tuple(str(row[0]) for row in rows.all("SELECT name FROM spaces ORDER BY name"))
        )
        found = asyncio.run_coroutine_threadsafe(self._find_models(open_vault), self._loop())
        return chain_work(spaces, lambda names: map_result(found, lambda offer: replace(offer, spaces=names)))

    async def _find_models(self, open_vault: OpenVault) -> AskOffer:
        options = open_vault.options
        offer = AskOffer(ModelServerState.OFF, options.model_host)
        if not options.model_on:
            return offer
        try:
            place = await self._check_address(open_vault)
            offer = replace(offer, host=place.url.partition("://")[2], is_local=place.loopback)
            server = ModelServer(place, self.limits)
            if not await server.is_listening():
                return replace(offer, server=ModelServerState.ABSENT)
            installed = await self._ask_server(open_vault, server, lambda: server.list_models())
        except LociError as error:
            if error.code is Code.VAULT_LOCKED:
                raise
            return replace(offer, server=ModelServerState.FAILING, code=error.code.value)
        return _offer_models(offer, installed, options.model_name)

    # ---- one question

    def prepare_answer(self, query: AskQuery) -> Future[PreparedAnswer]:
        """Find what a question may be answered from, and lay out what the model will read.

        Args:
            query: the question; without a model the sources are the answer, and nothing leaves the engine.

        Raises:
            UserError: VAULT_LOCKED, INVALID_QUERY; the future raises NOT_FOUND for an unknown space, TEXT_TOO_LARGE
                where the question alone is more than the model reads at once, ACCESS_DENIED for a tier that does not go
                to another machine.
            EnvironmentFaultError: by the future, EMBEDDER_UNAVAILABLE, MODEL_SERVER_FAILED.
        """
        open_vault = self._open_vault()
        if not query.model:
            words = words_to_search(query.prompt, query.before)
            asked = RecallQuery(words, limit=MOST_SOURCES, spaces=query.spaces)
            return chain_work(
                self._memories.recall(asked, OWNER_ACTOR), lambda reply: _memory_answer(open_vault, query, reply, words)
            )
        window = asyncio.run_coroutine_threadsafe(self._read_window(open_vault, query), self._loop())
        return chain_work(window, lambda tokens: self._assemble_prompt(open_vault, query, tokens))

    async def _read_window(self, open_vault: OpenVault, query: AskQuery) -> int:
        if not open_vault.options.model_on:
            raise UserError(Code.ACCESS_DENIED, "The local model is switched off in the settings.")
        if any(one.tier not in query.tiers for one in query.said):
            raise UserError(Code.ACCESS_DENIED, "What was said before is more sensitive than what may be given now.")
        place = await self._check_address(open_vault)
        if not place.loopback and query.tiers != TIERS[:1]:
            raise UserError(Code.ACCESS_DENIED, "A sensitive memory is never given to a model server elsewhere.")
        server = ModelServer(place, self.limits)
        return await self._ask_server(open_vault, server, lambda: server.read_window(query.model))

    def _assemble_prompt(self, open_vault: OpenVault, query: AskQuery, window: int) -> Future[PreparedAnswer]:
        """Recall the memories for a question and lay out the messages that fit the model's window."""
        words = words_to_search(query.prompt, query.before)
        asked = ContextQuery(words, memory_budget(window), spaces=query.spaces, tiers=query.tiers)
        scope = self._authority.make_scope(OWNER_ACTOR)
        return chain_work(
            build_context(open_vault, asked, scope, OWNER_ACTOR),
            lambda reply: open_vault.storage.read(
                lambda rows: replace(self._compose_messages(rows, query, window, reply), searched=words)
            ),
        )

    def _compose_messages(self, rows: Rows, query: AskQuery, window: int, reply: ContextReply) -> PreparedAnswer:
        """The messages for the model, with what the context gives and the turns before."""
        packed, checked = reply.context, self._checked
        context, numbered = number_sources(packed.text)
        messages = build_messages(load_instructions("ask"), context, query.prompt, query.said, window)
        if messages is None:
            raise UserError(Code.TEXT_TOO_LARGE, "That is more than the model can read at once; ask in fewer words.")
        forms = {one.id: one.tier for one in packed.included}
        words = words_to_search(query.prompt, query.before)
        return PreparedAnswer(
            query,
            _read_answer_sources(rows, numbered, forms, words),
            tuple(messages),
            context,
            window,
            Counter(one.reason for one in packed.excluded),
            reply.receipt_id,
            host="" if checked is None else checked[2].url,
        )

    async def stream_answer(self, prepared: PreparedAnswer) -> AsyncGenerator[str, None]:
        """Ask the model, on the loop of whoever iterates; nothing blocks it, and closing it ends the model's work.

        Args:
            prepared: from `prepare_answer`, with a model.

        Yields:
            Pieces of the answer, valid Unicode; it is as hostile as any text.

        Raises:
            UserError: VAULT_LOCKED, ACCESS_DENIED.
            EnvironmentFaultError: EMBEDDER_UNAVAILABLE, MODEL_SERVER_FAILED; the pieces so far stand.
        """
        self._open_vault()
        checked = self._checked
        if checked is None or checked[2].url != prepared.host:
            raise UserError(Code.ACCESS_DENIED, "The model server's address has changed; ask again.")
        server = ModelServer(checked[2], self.limits)
        tiers = (*(one.tier for one in prepared.sources), *(one.tier for one in prepared.query.said))
        try:
            answer = server.stream_answer(prepared.query.model, prepared.messages, prepared.window, tiers)
            async with aclosing(answer) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            await server.close()

    # ---- the server

    async def _check_address(self, open_vault: OpenVault) -> ServerAddress:
        """The address of the options, if it may be called; a name is resolved beside the loop, and once."""
        host, beyond = open_vault.options.model_host, open_vault.options.model_beyond
        checked = self._checked
        if checked is None or checked[:2] != (host, beyond):
            pool = open_vault.storage.threads.prompt
            place = await asyncio.wrap_future(
                open_vault.storage.run_on(pool, lambda: parse_address(host, beyond=beyond))
            )
            self._checked = checked = (host, beyond, place)
        return checked[2]

    async def _ask_server(self, open_vault: OpenVault, server: ModelServer, ask: Callable[[], Awaitable[T]]) -> T:
        """One short question to the server; its library is loaded on a pool, for that takes a moment."""
        await asyncio.wrap_future(open_vault.storage.run_on(open_vault.storage.threads.prompt, load_library))
        try:
            return await ask()
        finally:
            await server.close()


def _offer_models(offer: AskOffer, installed: tuple[InstalledModel, ...], wanted: str) -> AskOffer:
    names = tuple(sorted((one.name for one in installed if one.speaks), key=str.casefold))
    chosen = choose_model(installed, wanted) or choose_model(installed, "") or ""
    return replace(offer, server=ModelServerState.READY, models=names, chosen=chosen)


def _memory_answer(open_vault: OpenVault, query: AskQuery, reply: RecallReply, searched: str) -> Future[PreparedAnswer]:
    """The memories themselves as the answer; where none is likely to answer, those that come closest."""
    fit, found = _choose_memories(reply.result)
    reason = "" if reply.result.items else reply.result.reason
    sources = open_vault.storage.read(lambda rows: _read_answer_sources(rows, found, {}, searched))
    return map_result(
        sources,
        lambda read: PreparedAnswer(
            query, read, receipt_id=reply.receipt_id, reason=reason, searched=searched, fit=fit
        ),
    )


def _choose_memories(result: RecallResult) -> tuple[AnswerFit, list[str]]:
    """How well a recall answers, and the ids of the memories to show, best first."""
    if result.items:
        is_sure = result.trace.chance >= _SURE_CHANCE and result.items[0].score >= _SURE_SCORE
        fit = AnswerFit.SURE if is_sure else AnswerFit.POSSIBLE
        return fit, [item.memory.id for item in result.items]
    # What its status or a filter withholds stays withheld.
    return AnswerFit.NEAREST, [miss.id for miss in result.near_misses if miss.why == BELOW_BAR]


def _read_answer_sources(
    rows: Rows, ids: list[str] | tuple[str, ...], forms: dict[str, str], searched: str
) -> tuple[AnswerSource, ...]:
    """The memories of an answer by their numbers; one that is gone meanwhile has none."""
    memories = read_by_ids(rows, ids)
    found = rows.all(_TIERS_AND_ROOMS, (json_list(tuple(ids)),))
    about = {str(memory_id): (str(tier), str(room)) for memory_id, tier, room in found}
    clients = client_names_of_memories(rows, memories.values())
    return tuple(
        AnswerSource(
            number,
            memories[one],
            forms.get(one, "full"),
            about[one][0],
            clients.get(memories[one].client_id or ""),
            about[one][1],
            find_answering_sentence(searched, memories[one].text),
        )
        for number, one in enumerate(ids, 1)
        if one in memories
    )
