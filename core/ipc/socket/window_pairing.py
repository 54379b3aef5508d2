"""Pairing for a window in the engine's own process: called on any thread, carried out on the engine's loop.

Whatever is waited for is a future, so no callback of the window runs here. Must not do: make a client (redeeming a code
does), or wait.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from core.errors import Code, EnvironmentFaultError, LociError
from core.ipc.socket.pairing import (
    ANSWER_S,
    CODE_S,
    Answer,
    Invitation,
    PairingDesk,
    PairRequest,
    check_name,
    not_paired,
)
from core.types.clients import PairingCode, PairingEnd, PairingOutcome, PairingQuestion, PairingTurn

T = TypeVar("T")


class WindowPairing:
    """Opens pairing, and answers what it asks."""

    def __init__(
        self, desk: PairingDesk, loop: asyncio.AbstractEventLoop, barred: Callable[[], LociError | None]
    ) -> None:
        """Make it.

        Args:
            desk: holds the one code; lives on the loop.
            loop: the engine's.
            barred: why nobody can be paired now; None while it can be done.
        """
        self._desk, self._loop, self._barred = desk, loop, barred
        self._answers: dict[str, asyncio.Future[Answer]] = {}

    def open_pairing(
        self, name: str | None, grants: tuple[str, ...] | None, limit: int | str | None = None
    ) -> PairingTurn:
        """Open pairing; an earlier code is dead from now on.

        Args:
            name: the name the client must get; a remembered no to it does not count. None to take its own.
            grants: the most it can get; None for what it asks for.
            limit: searches a minute; `none` for no limit; None for the default.

        Returns:
            What is waited for. `code` fails with INVALID_INPUT for a bad name, or with why nobody can be paired.
        """
        turn = PairingTurn(Future(), Future(), Future())
        if not self._on_loop(lambda: self._open(turn, name, grants, limit)):
            _not_opened(turn, gone())
        return turn

    def answer(self, request_id: str, allow: bool, grants: tuple[str, ...] | None = None) -> Future[bool]:
        """Say yes or no to a question.

        Args:
            request_id: of the question.
            allow: yes.
            grants: with a yes, what of the question's grants it gets, and the spaces it sees besides; none of either
                is a no. None for the question's grants as they stand.

        Returns:
            False where nobody waits for it any more.
        """
        told: Future[bool] = Future()
        answer: Answer = grants if allow and grants is not None else allow
        if not self._on_loop(lambda: _settle(told, self._answer(request_id, answer))):
            _settle(told, value=False)
        return told

    def cancel(self) -> Future[None]:
        """The code is dead; a question that stands counts as not answered, and no no is remembered."""
        told: Future[None] = Future()

        def run() -> None:
            self._desk.cancel()
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_exception(not_paired())
            _settle(told, None)

        if not self._on_loop(run):
            _settle(told, None)
        return told

    def _on_loop(self, run: Callable[[], None]) -> bool:
        try:
            self._loop.call_soon_threadsafe(run)
        except RuntimeError:  # the engine has ended
            return False
        return True

    def _open(
        self, turn: PairingTurn, name: str | None, grants: tuple[str, ...] | None, limit: int | str | None
    ) -> None:
        try:
            barred = self._barred()
            if barred is not None:
                raise barred
            if name is not None:
                check_name(name)
        except LociError as error:
            _not_opened(turn, error)
            return
        invitation = self._desk.open(lambda question: self._ask(turn, question), name, grants, limit)
        _settle(turn.code, PairingCode(invitation.code, CODE_S, lambda: invitation.fate.missed))
        invitation.outcome.add_done_callback(lambda _: _end(turn, invitation))

    async def _ask(self, turn: PairingTurn, question: PairRequest) -> Answer:
        ticket = secrets.token_hex(8)
        waiting: asyncio.Future[Answer] = self._loop.create_future()
        self._answers[ticket] = waiting
        try:
            asked = PairingQuestion(
                id=ticket,
                client=question.client,
                name=question.name,
                grants=question.grants,
                asked_by=question.asked_by,
                code_end=question.code_end,
                answer_s=ANSWER_S,
                former=question.former,
            )
            _settle(turn.asked, asked)
            return await waiting
        finally:
            del self._answers[ticket]

    def _answer(self, request_id: str, answer: Answer) -> bool:
        waiting = self._answers.get(request_id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True


def gone() -> LociError:
    """Why nobody can be paired: no engine, or no socket."""
    return EnvironmentFaultError(Code.NOT_HERE, "Assistants cannot reach Loci now; close and open it again.")


def unopened(error: LociError) -> PairingTurn:
    """A pairing that was not opened.

    Args:
        error: why.

    Returns:
        A turn that has ended.
    """
    turn = PairingTurn(Future(), Future(), Future())
    _not_opened(turn, error)
    return turn


def _not_opened(turn: PairingTurn, error: LociError) -> None:
    if turn.code.set_running_or_notify_cancel():
        turn.code.set_exception(error)
    turn.asked.cancel()
    _settle(turn.ended, PairingEnd(PairingOutcome.FAILED))


def _end(turn: PairingTurn, invitation: Invitation) -> None:
    if not turn.asked.done():
        turn.asked.cancel()
    fate = invitation.fate
    outcome = fate.outcome or PairingOutcome.FAILED
    grants: tuple[str, ...] = ()
    if outcome is PairingOutcome.PAIRED:
        grants = invitation.outcome.result()[1]
    _settle(turn.ended, PairingEnd(outcome, fate.name, grants, fate.missed))


def _settle(future: Future[T], value: T) -> None:
    """Give a future its value, unless whoever waited has gone."""
    if future.set_running_or_notify_cancel():
        future.set_result(value)
