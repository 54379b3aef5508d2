"""Pairing: the person opens it, one code, three tries, 120 seconds, one use, and a person's yes.

A window in the engine's own process opens it by futures, called on any thread and carried out on the engine's loop; no
callback of the window runs here. Must not do: raise a question by itself (no code shown, no question), say why a
redemption was refused, wait.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import os
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.protocol.messages import NAME_CHARACTERS, escape_text
from core.types.clients import Before, PairingCode, PairingEnd, PairingOutcome, PairingQuestion, PairingTurn
from core.types.clock import Clock
from core.types.values import DEFAULT_GRANTS

CODE_S = 120.0
CODE_TRIES = 3
CODE_CHARACTERS = 16  # base32, 80 bits
ANSWER_S = 120.0
_LOOKALIKES = str.maketrans({"0": "O", "1": "I", "8": "B", "-": None, " ": None})
_ENDED = {
    PairingOutcome.DENIED: "You said no; nothing was paired.",
    PairingOutcome.DENIED_BEFORE: "You said no to a client of that name before, so you were not asked; nothing was "
    "paired. `loci pair NAME --code` with its name asks you again.",
    PairingOutcome.EXPIRED: "The time was over; nothing was paired.",
    PairingOutcome.UNANSWERED: "You did not answer in time; nothing was paired.",
    PairingOutcome.TAKEN: "{name} is paired already, so you were not asked; nothing was paired. Revoke that one to "
    "pair it again, or let the new one take another name.",
    PairingOutcome.WRONG_CODES: "Three wrong codes were tried, so this one is dead; nothing was paired.",
    PairingOutcome.REPLACED: "A newer code took the place of this one; nothing was paired with it.",
}
_MISSED = "A wrong code was given, and no right one in time; nothing was paired."
_NAMES = "A client's name has 1 to 40 letters from A to Z, digits, blanks, dots, dashes or underscores."
_SPACE = "space:"
_UNUSABLE = re.compile(r"[^A-Za-z0-9 ._-]+")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PairRequest:
    """What the person is asked.

    Attributes:
        client: what it calls itself, escaped and cut.
        name: what it will be called here.
        grants: what it would get.
        asked_by: process as reported; a hint only.
        code_end: the last four characters of the code.
        former: a client of that name was revoked; this one would take up its space and what it brought.
        withheld: what it asked for and would not get, because the person bounds what this code can give.
    """

    client: str
    name: str
    grants: tuple[str, ...]
    asked_by: str
    code_end: str
    former: bool = False
    withheld: tuple[str, ...] = ()


Answer = bool | tuple[str, ...]
"""No; yes, with what it would get; or yes, with these of it alone and the spaces the person added."""
Approve = Callable[[PairRequest], Awaitable[Answer]]


class DeniedNames(Protocol):
    """The names that are known, those the person said no to among them; kept where a restart does not lose them."""

    async def look_up(self, name: str) -> Before:
        """What is known of a name."""
        ...

    async def add(self, name: str) -> None:
        """Remember a no."""
        ...


class _TransientDeniedNames:
    """Nos that are kept as long as this process."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    async def look_up(self, name: str) -> Before:
        return Before(denied=name in self._names)

    async def add(self, name: str) -> None:
        self._names.add(name)


@dataclass
class PairingResult:
    """How an invitation ended, for the person only.

    Attributes:
        outcome: how; None while it goes on.
        name: of the client that asked; "" for none.
        failed_attempts: how often a wrong code came.
    """

    outcome: PairingOutcome | None = None
    name: str = ""
    failed_attempts: int = 0


@dataclass(frozen=True, slots=True)
class Invitation:
    """What the person opened.

    Attributes:
        code: what is shown.
        name: the name the client must get; None to take its own.
        grants: the most it can get; None for what it asks for.
        limit: searches a minute; `none` for no limit; None for the default.
        approve: asks the person.
        outcome: the name and grants of the client that came of it, or that none did.
        result: how it ended.
    """

    code: str = field(repr=False)
    name: str | None
    grants: tuple[str, ...] | None
    limit: int | str | None
    approve: Approve = field(repr=False)
    outcome: asyncio.Future[tuple[str, tuple[str, ...]]] = field(repr=False)
    result: PairingResult = field(default_factory=PairingResult, repr=False, compare=False)

    def complete_with(self, name: str, grants: tuple[str, ...]) -> None:
        """A client came of it."""
        if not self.outcome.done():
            self.result.outcome, self.result.name = PairingOutcome.PAIRED, name
            self.outcome.set_result((name, grants))

    def fail_with(self, why: PairingOutcome = PairingOutcome.FAILED) -> None:
        """Nothing comes of it.

        Args:
            why: told to the person only.
        """
        if not self.outcome.done():
            self.result.outcome = why
            self.outcome.set_exception(_pairing_error(why, self.result))
            self.outcome.exception()  # nobody has to ask


@dataclass(frozen=True, slots=True)
class Granted:
    """A redemption the person said yes to."""

    name: str
    grants: tuple[str, ...]
    limit: int | str | None
    invitation: Invitation


class PairingDesk:
    """Holds the one code that is open. Lives on the engine's loop."""

    def __init__(self, clock: Clock, nos: DeniedNames | None = None) -> None:
        """Hold nothing yet.

        Args:
            nos: remembers to whom the person said no; None for as long as this object.
        """
        self._clock = clock
        self._nos = nos or _TransientDeniedNames()
        self._open: Invitation | None = None
        self._asking: Invitation | None = None
        self._until = 0.0
        self._tries = 0

    def open(
        self,
        approve: Approve,
        name: str | None = None,
        grants: Sequence[str] | None = None,
        limit: int | str | None = None,
    ) -> Invitation:
        """Open pairing; an earlier code is dead from now on.

        Args:
            approve: asks the person about one request.
            name: the name the client must get; a remembered no to it does not count.
            grants: the most it can get.
            limit: searches a minute.
        """
        if self._open is not None:
            self.close(self._open, PairingOutcome.REPLACED)
        code = base64.b32encode(os.urandom(CODE_CHARACTERS * 5 // 8)).decode("ascii")
        outcome = asyncio.get_running_loop().create_future()
        self._open = Invitation(code, name, None if grants is None else tuple(grants), limit, approve, outcome)
        self._until, self._tries = self._clock.monotonic() + CODE_S, CODE_TRIES
        return self._open

    def close(self, invitation: Invitation, why: PairingOutcome = PairingOutcome.CANCELLED) -> None:
        """End an invitation that nobody redeems any more.

        Args:
            invitation: open, or asked about.
            why: told to the person only.
        """
        if self._open is invitation:
            self._open = None
        invitation.fail_with(why)

    def cancel_all(self) -> None:
        """The person leaves, or locks the vault: no code is good any more, and no answer is waited for."""
        for invitation in (self._open, self._asking):
            if invitation is not None:
                self.close(invitation)

    def end_expired(self) -> None:
        """End the open invitation when its time is up; called now and then."""
        if self._open is not None and self._clock.monotonic() >= self._until:
            self.close(self._open, PairingOutcome.EXPIRED)

    async def redeem_code(self, client: str, code: str, grants: Sequence[str] | None, asked_by: str) -> Granted:
        """Redeem the open code and ask the person.

        Args:
            client: the name the caller gives itself.
            code: what it was told; case, blanks, dashes and look-alikes (0 O, 1 I, 8 B) do not matter.
            grants: what it asks for; None for the default.
            asked_by: process as reported.

        Returns:
            What was granted; the caller of this makes the client.

        Raises:
            UserError: PAIRING_REFUSED, in the same words for every reason.
        """
        invitation = self._take_invitation(code)
        name = invitation.name or usable_name(client)
        asked_grants = tuple(dict.fromkeys(grants or invitation.grants or DEFAULT_GRANTS))
        wanted = asked_grants
        if invitation.grants is not None:
            wanted = tuple(grant for grant in asked_grants if grant in invitation.grants)
        invitation.result.name = name
        if not wanted:
            invitation.fail_with()
            raise pairing_refused_error()
        self._asking = invitation
        try:
            before = await self._nos.look_up(name)
            if before.taken or (before.denied and invitation.name is None):
                # Nobody is asked in vain; and whoever redeemed the code learns nothing of who is paired.
                invitation.fail_with(PairingOutcome.TAKEN if before.taken else PairingOutcome.DENIED_BEFORE)
                raise pairing_refused_error()
            end = invitation.code[-4:]
            withheld = tuple(grant for grant in asked_grants if grant not in wanted)
            question = PairRequest(
                escape_text(client), name, wanted, escape_text(asked_by), end, before.former, withheld
            )
            granted = await self._ask_person(invitation, question)
        except (LociError, asyncio.CancelledError):  # one of the two sides has gone; nobody said no
            invitation.fail_with()
            raise
        finally:
            if self._asking is invitation:
                self._asking = None
        if not granted:
            raise pairing_refused_error()
        return Granted(name, granted, invitation.limit, invitation)

    async def _ask_person(self, invitation: Invitation, question: PairRequest) -> tuple[str, ...]:
        """Ask the person; whoever does not answer, or leaves, has not said no for good. Empty for nothing."""
        try:
            async with asyncio.timeout(ANSWER_S):
                answer = await invitation.approve(question)
        except TimeoutError:
            invitation.fail_with(PairingOutcome.UNANSWERED)
            return ()
        if invitation.outcome.done():
            return ()  # it was cancelled while the person was asked
        granted = _granted_by(question.grants, answer)
        if not granted:
            invitation.fail_with(PairingOutcome.DENIED)
            await self._nos.add(question.name)  # remembered until the person opens pairing for this very name
        return granted

    def _take_invitation(self, code: str) -> Invitation:
        given = code.upper().translate(_LOOKALIKES).encode("utf-8", "replace")
        self.end_expired()
        invitation = self._open
        if invitation is None:
            raise pairing_refused_error()
        if not hmac.compare_digest(given, invitation.code.encode("ascii")):
            self._tries -= 1
            invitation.result.failed_attempts += 1
            if self._tries == 0:
                self.close(invitation, PairingOutcome.WRONG_CODES)
            raise pairing_refused_error()
        self._open = None
        return invitation


def _granted_by(wanted: tuple[str, ...], answer: Answer) -> tuple[str, ...]:
    """What an answer grants: of the deeds only what would be given anyway, of single spaces whatever was added."""
    if isinstance(answer, bool):
        return wanted if answer else ()
    return tuple(dict.fromkeys(one for one in answer if one in wanted or one.startswith(_SPACE)))


def _pairing_error(why: PairingOutcome, fate: PairingResult) -> UserError:
    """How it ended, for the person who showed the code; the client is told less."""
    if why is PairingOutcome.EXPIRED and fate.failed_attempts:
        return UserError(Code.PAIRING_REFUSED, _MISSED)
    refusal = _ENDED.get(why, "Nothing was paired.")
    return UserError(Code.PAIRING_REFUSED, refusal.replace("{name}", fate.name))


def pairing_refused_error() -> UserError:
    """The one answer to every redemption that fails."""
    return UserError(Code.PAIRING_REFUSED, "Pairing was refused; ask the person to show a new code and to allow it.")


def usable_name(text: str) -> str:
    """A name a client can have, made from the one it gives itself.

    Args:
        text: anything.

    Returns:
        1 to 40 letters from A to Z, digits, blanks, dots, dashes and underscores, beginning with a letter or digit.
    """
    return _UNUSABLE.sub("-", text[:1000]).strip(" ._-")[:NAME_CHARACTERS].rstrip() or "client"


def check_new_client_name(name: str) -> str:
    """A name the person gives to the client to come; the engine checks it once more.

    Args:
        name: as typed.

    Raises:
        UserError: INVALID_INPUT.
    """
    if usable_name(name) != name:
        raise UserError(Code.INVALID_INPUT, _NAMES)
    return name


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
        if not self._on_loop(lambda: self._open_invitation(turn, name, grants, limit)):
            _fail_turn(turn, no_socket_error())
        return turn

    def answer_question(self, request_id: str, allow: bool, grants: tuple[str, ...] | None = None) -> Future[bool]:
        """Say yes or no to a question.

        Args:
            grants: with a yes, what of the question's grants it gets, and the spaces it sees besides; none of either
                is a no. None for the question's grants as they stand.

        Returns:
            False where nobody waits for it any more.
        """
        settled: Future[bool] = Future()
        answer: Answer = grants if allow and grants is not None else allow
        if not self._on_loop(lambda: _settle_future(settled, self._settle_question(request_id, answer))):
            _settle_future(settled, value=False)
        return settled

    def cancel_pairing(self) -> Future[None]:
        """The code is dead; a question that stands counts as not answered, and no no is remembered."""
        settled: Future[None] = Future()

        def run() -> None:
            self._desk.cancel_all()
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_exception(pairing_refused_error())
            _settle_future(settled, None)

        if not self._on_loop(run):
            _settle_future(settled, None)
        return settled

    def _on_loop(self, run: Callable[[], None]) -> bool:
        try:
            self._loop.call_soon_threadsafe(run)
        except RuntimeError:  # the engine has ended
            return False
        return True

    def _open_invitation(
        self, turn: PairingTurn, name: str | None, grants: tuple[str, ...] | None, limit: int | str | None
    ) -> None:
        try:
            barred = self._barred()
            if barred is not None:
                raise barred
            if name is not None:
                check_new_client_name(name)
        except LociError as error:
            _fail_turn(turn, error)
            return
        invitation = self._desk.open(lambda question: self._ask_person(turn, question), name, grants, limit)
        _settle_future(turn.code, PairingCode(invitation.code, CODE_S, lambda: invitation.result.failed_attempts))
        invitation.outcome.add_done_callback(lambda _: _end_turn(turn, invitation))

    async def _ask_person(self, turn: PairingTurn, question: PairRequest) -> Answer:
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
            _settle_future(turn.asked, asked)
            return await waiting
        finally:
            del self._answers[ticket]

    def _settle_question(self, request_id: str, answer: Answer) -> bool:
        waiting = self._answers.get(request_id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True


def no_socket_error() -> LociError:
    """Why nobody can be paired: no engine, or no socket."""
    return EnvironmentFaultError(Code.NOT_HERE, "Assistants cannot reach Loci now; close and open it again.")


def failed_turn(error: LociError) -> PairingTurn:
    """A pairing that was not opened.

    Returns:
        A turn that has ended.
    """
    turn = PairingTurn(Future(), Future(), Future())
    _fail_turn(turn, error)
    return turn


def _fail_turn(turn: PairingTurn, error: LociError) -> None:
    if turn.code.set_running_or_notify_cancel():
        turn.code.set_exception(error)
    turn.asked.cancel()
    _settle_future(turn.ended, PairingEnd(PairingOutcome.FAILED))


def _end_turn(turn: PairingTurn, invitation: Invitation) -> None:
    if not turn.asked.done():
        turn.asked.cancel()
    fate = invitation.result
    outcome = fate.outcome or PairingOutcome.FAILED
    grants: tuple[str, ...] = ()
    if outcome is PairingOutcome.PAIRED:
        grants = invitation.outcome.result()[1]
    _settle_future(turn.ended, PairingEnd(outcome, fate.name, grants, fate.failed_attempts))


def _settle_future(future: Future[T], value: T) -> None:
    """Give a future its value, unless whoever waited has gone."""
    if future.set_running_or_notify_cancel():
        future.set_result(value)
