"""The facade's group for the local model: what server is there, and the job that lets it refine what was left open.

One coroutine on the engine's loop while a vault is open: it looks for a server, asks one question at a time when
nothing else is going on, checks the answer and hands it to the writer. Must not do: hold up anybody, ask for what was
asked before, ask again at once after a failure, go on while the vault closes, or keep a text longer than its question.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError as Dropped
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core import log
from core.belief.extract.frames import predicate_names
from core.belief.extract.model_proposals import keep_grounded, weigh_model_answer
from core.engine.runtime.open_vault import OpenVault
from core.engine.runtime.search import Search
from core.engine.runtime.storage import map_result
from core.errors import Code, EnvironmentFaultError, LociError
from core.intake.revise import refinement
from core.intake.revise.refinement import (
    MODEL_ACTOR,
    VERB,
    OpenPair,
    RefinementResult,
    UnreadMemory,
    mark_asked,
    next_pair,
    next_text,
)
from core.llm.ollama import ModelServer, ServerLimits, load_library
from core.llm.prompts import TEXT_CHARACTERS, Prompt, claims_prompt, parse_claims, parse_relation, relation_prompt
from core.llm.server_address import parse_address
from core.types.belief import ModelServerState, ModelState, RefineReport
from core.vault.database.rows import Rows
from core.vault.database.tx import Tx

T = TypeVar("T")

_STOP_S = 3.0
_log = log.get("engine")


@dataclass(frozen=True, slots=True)
class RefinementPacing:
    """How the job paces itself, in seconds.

    Attributes:
        look_s: from opening the vault to the first look for a server.
        first_s: from then to the first question.
        idle_s: between two looks for something to do.
        least_s: between two questions; never less than the last answer took, so that a machine is half free.
        known_s: how long what is known of the server holds (E32.2).
        longest_s: the longest pause after failures; it doubles from `known_s` on.
        tries: how often one question may fail before it is left.
    """

    look_s: float = 1.0
    first_s: float = 20.0
    idle_s: float = 15.0
    least_s: float = 2.0
    known_s: float = 30.0
    longest_s: float = 1_800.0
    tries: int = 2


class ModelRefinement:
    """The local model, while a vault is open.

    Attributes:
        pace: may be set before `begin`.
        limits: of one question; likewise.
    """

    def __init__(self, open_vault: Callable[[], OpenVault], loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        """Tie the ends together.

        Args:
            open_vault: gives the open vault, or raises VAULT_LOCKED.
            loop: the engine's loop.
        """
        self._open_vault = open_vault
        self._loop = loop
        self._job: _Job | None = None
        self.pace = RefinementPacing()
        self.limits = ServerLimits()

    @property
    def read_state(self) -> ModelState:
        """What is known of the server, from the last look.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._open_vault().model

    def find_server(self) -> Future[ModelState]:
        """Look for the server now.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_on_loop(self._job_for(self._open_vault()).check_server(fresh=True))

    def refine_now(self, most: int = 20) -> Future[RefineReport]:
        """Ask about what is open now, instead of in its own time.

        Args:
            most: questions, at most.

        Returns:
            What came of it; nothing where no model is ready.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_on_loop(self._job_for(self._open_vault()).ask_questions(most))

    def ask_model(self, prompt: Prompt, tiers: Sequence[str]) -> Future[str]:
        """Put one question of a job to the model, between those of its own.

        Args:
            tiers: the security tier of every memory in it.

        Returns:
            The answer, checked by nobody; the future raises EMBEDDER_UNAVAILABLE where no model is ready.

        Raises:
            UserError: VAULT_LOCKED.
        """
        return self._run_on_loop(self._job_for(self._open_vault()).ask_foreign_question(prompt, tiers))

    def start_job(self, open_vault: OpenVault) -> None:
        """Refine in its own time from now on, until `end`.

        Args:
            open_vault: the vault that was just opened.
        """
        self._job_for(open_vault).start_loop(self._loop())

    def stop_job(self) -> None:
        """Stop at once: a question that waits for its answer is hung up on."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel_and_wait(self._loop())

    def _job_for(self, open_vault: OpenVault) -> _Job:
        if self._job is None or self._job.open_vault is not open_vault:
            self._job = _Job(open_vault, self.pace, self.limits)
        return self._job

    def _run_on_loop(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return map_result(asyncio.run_coroutine_threadsafe(work, self._loop()), lambda value: value)


class _Job:
    """All that is known while one vault is open; every coroutine runs on the engine's loop."""

    def __init__(self, open_vault: OpenVault, pace: RefinementPacing, limits: ServerLimits) -> None:
        self.open_vault = open_vault
        self._pace = pace
        self._limits = limits
        self._turn = asyncio.Lock()
        self._server: ModelServer | None = None
        self._asked_for: tuple[str, bool] | None = None
        self._looked_at: float | None = None
        self._failures = 0
        self._tried: dict[str | int, int] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._ended = threading.Event()
        self._ended.set()
        self.report = RefineReport()

    # ---- in its own time

    def start_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the endless coroutine."""
        self._ended.clear()
        asyncio.run_coroutine_threadsafe(self._run_until_closing(), loop).add_done_callback(self._note_job_end)

    def cancel_and_wait(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel whatever runs, and wait until it has ended."""
        done = asyncio.run_coroutine_threadsafe(self._cancel_tasks(), loop)
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is loop:
                return  # its own thread cannot wait for it
        with suppress(TimeoutError, Dropped):
            done.result(_STOP_S)
        self._ended.wait(_STOP_S)

    async def _cancel_tasks(self) -> None:
        running = [task for task in self._running if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._drop_server()

    async def _run_until_closing(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._running.add(task)
        await asyncio.sleep(self._pace.look_s)
        await self.check_server()
        await asyncio.sleep(self._pace.first_s)
        while not self.open_vault.storage.closing.is_set():
            begun_at = self.open_vault.storage.clock.monotonic()
            worked = await self._ask_next_question()
            took = self.open_vault.storage.clock.monotonic() - begun_at
            await asyncio.sleep(max(self._pace.least_s, took) if worked else self._pace.idle_s)

    def _note_job_end(self, work: Future[None]) -> None:
        self._ended.set()
        error = None if work.cancelled() else work.exception()
        if isinstance(error, LociError):
            if not self.open_vault.storage.closing.is_set():
                _log.warning("refining stopped: %s", error.code.value)
        elif error is not None:
            _log.error("refining stopped: %s", type(error).__name__)

    # ---- when asked to

    async def ask_questions(self, most: int) -> RefineReport:
        """Up to so many questions, one after the other; those of an earlier failure are tried again."""
        task = asyncio.current_task()
        if task is not None:
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        before = self.report
        await self.check_server(fresh=True)
        for _ in range(most):
            if self.open_vault.storage.closing.is_set() or not await self._ask_next_question():
                break
        return _subtract_reports(self.report, before)

    async def ask_foreign_question(self, prompt: Prompt, tiers: Sequence[str]) -> str:
        """One question of somebody else; a server that does not answer rests for a while, as after its own."""
        async with self._turn:
            state = await self.check_server()
            if state.server is not ModelServerState.READY or self._server is None:
                raise EnvironmentFaultError(Code.EMBEDDER_UNAVAILABLE, "No model server is ready.")
            try:
                answer = await self._server.ask_model(state.model, prompt, tiers)
            except LociError as error:
                self._failures += 1
                self._set_model_state(ModelState(ModelServerState.FAILING, code=error.code.value))
                raise
            self._failures = 0
            return answer

    async def check_server(self, *, fresh: bool = False) -> ModelState:
        """What server there is; asked for again when what is known is old."""
        options = self.open_vault.options
        if not options.model_on:
            await self._drop_server()
            return self._set_model_state(ModelState(ModelServerState.OFF))
        if not fresh and self._is_known():
            return self.open_vault.model
        try:
            server = await self._server_at(options.model_host, beyond=options.model_beyond)
            if await server.is_listening():
                await self._on_checks(load_library)
            state = await server.read_state(options.model_name)
        except LociError as error:
            if error.code is Code.VAULT_LOCKED:
                raise
            state = ModelState(ModelServerState.FAILING, code=error.code.value)
        if state.server is ModelServerState.READY and fresh:
            self._failures = 0
        return self._set_model_state(state)

    def _is_known(self) -> bool:
        options = self.open_vault.options
        if self._looked_at is None or (options.model_host, options.model_beyond) != self._asked_for:
            return False
        if self.open_vault.model.server is ModelServerState.OFF:
            return False
        wait = min(self._pace.longest_s, self._pace.known_s * 2.0 ** min(self._failures, 16))
        return self.open_vault.storage.clock.monotonic() - self._looked_at < wait

    def _set_model_state(self, state: ModelState) -> ModelState:
        self._looked_at = self.open_vault.storage.clock.monotonic()
        self.open_vault.model = state
        return state

    async def _server_at(self, host: str, *, beyond: bool) -> ModelServer:
        if self._server is None or self._asked_for != (host, beyond):
            await self._drop_server()
            self._asked_for = (host, beyond)
            place = await self._on_checks(lambda: parse_address(host, beyond=beyond))
            self._server = ModelServer(place, self._limits)
        return self._server

    async def _drop_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.close()

    # ---- one question

    async def _ask_next_question(self) -> bool:
        """Ask one question, if a model is ready and nothing else goes on; whether one was asked."""
        async with self._turn:
            state = await self.check_server()
            if (
                state.server is not ModelServerState.READY
                or self._server is None
                or self.open_vault.storage.queue.depth
            ):
                return False
            offered: OpenPair | UnreadMemory | None = await asyncio.wrap_future(
                self.open_vault.storage.read(_next_question)
            )
            if offered is None:
                return False
            await self._ask_model(offered, self._server, state.model)
            return True

    async def _ask_model(self, offered: OpenPair | UnreadMemory, server: ModelServer, model: str) -> None:
        try:
            answer = await server.ask_model(model, _make_prompt(offered), offered.tiers)
        except LociError as error:
            if error.code is Code.VAULT_LOCKED:
                raise
            await self._note_failed_question(offered, error)
            return
        self._failures = 0
        self._tried.pop(_question_key(offered), None)
        await self._apply_answer(offered, answer)

    async def _note_failed_question(self, offered: OpenPair | UnreadMemory, error: LociError) -> None:
        """No answer: the server rests for a while, longer each time; a question that fails again is left."""
        self._failures += 1
        tried = self._tried[_question_key(offered)] = self._tried.get(_question_key(offered), 0) + 1
        _log.info("a model server did not answer: %s", error.code.value)
        self._set_model_state(ModelState(ModelServerState.FAILING, code=error.code.value))
        if tried >= self._pace.tries:
            del self._tried[_question_key(offered)]
            await self._write_in_background(lambda tx: mark_asked(tx, offered))

    async def _apply_answer(self, offered: OpenPair | UnreadMemory, answer: str) -> None:
        """Check an answer and hand what is left of it to the writer; the question is never put again."""
        apply = (
            _make_relation_writer(self.open_vault.search, offered, answer) if isinstance(offered, OpenPair) else None
        )
        if isinstance(offered, UnreadMemory):
            apply = _make_claims_writer(self.open_vault.search, offered, answer)

        def write(tx: Tx) -> RefinementResult:
            with self.open_vault.storage.verb(tx, MODEL_ACTOR, VERB) as verb:
                done = RefinementResult() if apply is None else apply(tx)
                mark_asked(tx, offered)
                verb.set_outcome(done.changed if done.changed or done.suggested or done.opened else None)
            return done

        try:
            done = await self._write_in_background(write)
        except LociError as error:
            if error.code is Code.VAULT_LOCKED:
                raise
            # Trigger: what stands does not let the answer in. Why: it would not the next time either. Outcome: left.
            _log.warning("an answer of a model could not be written: %s", error.code.value)
            apply, done = None, RefinementResult()
            await self._write_in_background(lambda tx: mark_asked(tx, offered))
        self.report = replace(
            self.report,
            asked=self.report.asked + 1,
            settled=self.report.settled + (isinstance(offered, OpenPair) and bool(done.changed)),
            suggested=self.report.suggested + done.suggested,
            read=self.report.read + (isinstance(offered, UnreadMemory) and bool(done.changed)),
            useless=self.report.useless + (apply is None),
        )

    async def _write_in_background(self, fn: Callable[[Tx], T]) -> T:
        return await asyncio.wrap_future(self.open_vault.storage.write(fn, background=True))

    async def _on_checks(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self.open_vault.storage.run_on(self.open_vault.storage.threads.checks, work))


def _next_question(rows: Rows) -> OpenPair | UnreadMemory | None:
    if _is_importing(rows):
        return None
    return next_pair(rows, TEXT_CHARACTERS) or next_text(rows, TEXT_CHARACTERS)


def _make_prompt(offered: OpenPair | UnreadMemory) -> Prompt:
    if isinstance(offered, OpenPair):
        return relation_prompt(offered.existing, offered.incoming)
    return claims_prompt(offered.compared, predicate_names())


def _make_relation_writer(search: Search, pair: OpenPair, answer: str) -> Callable[[Tx], RefinementResult] | None:
    proposal = parse_relation(answer)
    if proposal is None:
        return None
    relation = weigh_model_answer(pair.before, proposal)
    return lambda tx: refinement.settle_pair(tx, search.store_service, pair, relation, search.add_vectors)


def _make_claims_writer(search: Search, text: UnreadMemory, answer: str) -> Callable[[Tx], RefinementResult] | None:
    drafts = keep_grounded(text.compared.text, parse_claims(answer), text.known)
    if not drafts:
        return None
    return lambda tx: refinement.add_refined_claims(tx, search.store_service, text, drafts, search.add_vectors)


def _question_key(offered: OpenPair | UnreadMemory) -> str | int:
    return offered.item_id if isinstance(offered, OpenPair) else offered.n


def _subtract_reports(now: RefineReport, before: RefineReport) -> RefineReport:
    return RefineReport(
        now.asked - before.asked,
        now.settled - before.settled,
        now.suggested - before.suggested,
        now.read - before.read,
        now.useless - before.useless,
    )


def _is_importing(rows: Rows) -> bool:
    """Whether an import is running; the local model is not asked to refine anything meanwhile."""
    return rows.one("SELECT 1 FROM imports WHERE state = 'running' LIMIT 1") is not None
