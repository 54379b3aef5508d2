"""The way to the engine: one connection for all calls, found anew after a lock, a hand-over or a restart.

Where nobody answers it starts `loci serve`: detached, once, and only where that opens the vault without asking.
Must not do: repeat what may have been carried out, unless it is a reading or has a `request_id`.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.mcp.messages import format_sentence
from app.mcp.tokens import read_token
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.ipc.client.async_client import AsyncClient
from core.ipc.client.client import token_from_text
from core.ipc.protocol.transport import Place
from core.types.clock import Clock, SystemClock

_START_S = 45.0  # a large vault on a busy machine; assistants wait a minute for a tool
_HANDOVER_S = 4.0  # a window that takes the vault over is there by then
_POLL_S = 0.1
_AGAIN_S = 15.0  # a vault that could not be opened is not tried with every call
_LOCKED_EXIT = 4
_PAUSES_S = (0.5, 1.0, 2.0, 5.0)  # who has the vault may need long, and each try loads a whole engine


class Starter:
    """Starts the engine of one home on request."""

    def __init__(self, arguments: Sequence[str], variables: Mapping[str, str], clock: Clock | None = None) -> None:
        """Make it; nothing is started yet.

        Args:
            arguments: the command, from `serving_command`.
            variables: the child's environment.
            clock: tells how long ago an attempt failed.
        """
        self._arguments, self._variables = tuple(arguments), dict(variables)
        self._clock = clock or SystemClock()
        self._child: subprocess.Popen[bytes] | None = None
        self._failed: tuple[float, LociError] | None = None
        self._lost = 0
        self._not_before = 0.0

    def ensure_started(self) -> None:
        """Start the engine, unless that is under way.

        Raises:
            EnvironmentFaultError: VAULT_LOCKED where nothing opens the vault without the person; NOT_HERE.
        """
        if self._failed is not None and self._clock.monotonic() - self._failed[0] < _AGAIN_S:
            raise self._failed[1]
        if self._child is None:
            if self._clock.monotonic() >= self._not_before:
                self._failed = None
                self._child = self._start_process()
            return
        ended = self._child.poll()
        if ended is None:
            return
        self._child = None
        if ended == _LOCKED_EXIT:
            raise self._remember_failure(EnvironmentFaultError(Code.VAULT_LOCKED, format_sentence("locked")))
        if ended not in (0, 3):
            raise self._remember_failure(EnvironmentFaultError(Code.NOT_HERE, format_sentence("not_started")))
        # Trigger: another process has the vault and will answer, or did and has gone. Why: it may work for long without
        # a socket (a restore, an import). Outcome: the next try waits, longer each time.
        self._not_before = self._clock.monotonic() + _PAUSES_S[min(self._lost, len(_PAUSES_S) - 1)]
        self._lost += 1

    def note_answer(self) -> None:
        """The engine answered: the next start is tried at once again."""
        self._lost, self._not_before = 0, 0.0

    def _remember_failure(self, error: LociError) -> LociError:
        self._failed = (self._clock.monotonic(), error)
        return error

    def _start_process(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._arguments,
                cwd=Path.home(),
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # it outlives this server: other assistants use it too
                creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
            )
        except OSError:
            raise self._remember_failure(EnvironmentFaultError(Code.NOT_HERE, format_sentence("not_started"))) from None


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """Which client this server is.

    Attributes:
        client: its name.
        token_file: where its token lies.
        token_text: `LOCI_TOKEN`, which wins over the file; "" where it is not set.
    """

    client: str
    token_file: Path
    token_text: str = ""

    def read_token(self) -> bytes:
        """The token, read each time: pairing works while the server runs.

        Raises:
            UserError: UNAUTHENTICATED where there is none, with the way to get one; ACCESS_DENIED.
        """
        found = token_from_text(self.token_text) if self.token_text else read_token(self.token_file)
        if found is None:
            raise UserError(Code.UNAUTHENTICATED, format_sentence("unpaired", client=self.client))
        return found


@dataclass(frozen=True, slots=True)
class ClientReach:
    """What a client may do, and which spaces it was granted."""

    grants: tuple[str, ...]
    spaces: tuple[str, ...]


class EngineLink:
    """Calls methods of the engine, whoever runs it at the moment."""

    def __init__(self, place: Place, who: ClientIdentity, starter: Starter | None) -> None:
        """Make it; the connection is opened by the first call.

        Args:
            place: where the engine listens.
            starter: starts the engine where nobody answers; None to leave that to the person.
        """
        self._place, self._who, self._starter = place, who, starter
        self._client: AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def call(self, method: str, params: Mapping[str, Any], *, repeatable: bool) -> dict[str, Any]:
        """Call a method.

        Args:
            repeatable: whether it may be sent a second time when the connection ends before its answer.

        Raises:
            LociError: what the engine answered, or why it cannot be reached, in a sentence for the assistant.
        """
        client = await self._open_connection()
        try:
            return await client.call(method, params)
        except LociError as error:
            if error.code is Code.VAULT_LOCKED:
                raise _locked_error() from None
            if client.is_open or error.code not in (Code.NOT_HERE, Code.BUSY, Code.UNAUTHENTICATED):
                raise
            if not repeatable:
                raise EnvironmentFaultError(Code.NOT_HERE, format_sentence("cut_off")) from None
        return await (await self._open_connection()).call(method, params)

    @property
    def client(self) -> str:
        """The client's name."""
        return self._who.client

    async def read_reach(self, within_s: float) -> ClientReach | None:
        """What this client may do, where that can be told at once; nothing is started, no connection is kept.

        Args:
            within_s: seconds it may take.

        Returns:
            What the engine says; None where it does not run, is locked, or does not let this client in.
        """
        with suppress(LociError, TimeoutError):
            token = self._who.read_token()
            async with asyncio.timeout(within_s):
                client = await AsyncClient.connect(self._place, None)
                try:
                    said = await client.greet(self._who.client, token)
                    return ClientReach(said.grants, said.spaces)
                finally:
                    await client.close()
        return None

    async def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            await self._client.close()

    async def _open_connection(self) -> AsyncClient:
        async with self._opening:
            if self._client is not None and self._client.is_open:
                return self._client
            is_first = self._client is None
            await self.close()
            self._client = await self._find_engine(is_first)
            return self._client

    async def _find_engine(self, is_first: bool) -> AsyncClient:
        token = self._who.read_token()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            try:
                client = await self._connect_and_greet(token)
            except LociError as error:
                waited = loop.time() - begun
                if error.code is Code.VAULT_LOCKED:
                    raise _locked_error() from None
                if error.code is Code.UNAUTHENTICATED:
                    raise UserError(error.code, format_sentence("refused", client=self._who.client)) from None
                if error.code not in (Code.NOT_HERE, Code.BUSY) or waited > _START_S:
                    raise
                self._wake_engine(error, waited, is_first)
            else:
                if self._starter is not None:
                    self._starter.note_answer()
                return client
            await asyncio.sleep(_POLL_S)

    def _wake_engine(self, error: LociError, waited: float, is_first: bool) -> None:
        """Have the engine started, where nobody is about to answer."""
        if error.code is Code.BUSY or (not is_first and waited < _HANDOVER_S):
            return  # whoever had the vault is handing it to a window, which must not find it taken
        if self._starter is None:
            raise EnvironmentFaultError(Code.NOT_HERE, format_sentence("not_running"))
        self._starter.ensure_started()

    async def _connect_and_greet(self, token: bytes) -> AsyncClient:
        client = await AsyncClient.connect(self._place, None)
        try:
            await client.greet(self._who.client, token)
        except BaseException:
            await client.close()
            raise
        return client


def _locked_error() -> LociError:
    return EnvironmentFaultError(Code.VAULT_LOCKED, format_sentence("locked"))
