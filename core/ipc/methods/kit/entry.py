"""One row of the table of methods: what a method takes and answers, who may call it, and what carries it out.

Must not do: check what was sent (`core.ipc.protocol.schema` does, against the published schema).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from core.engine.facade import Engine
from core.errors import BugError, Code, UserError
from core.ipc.methods.kit.parameters import Params
from core.ipc.methods.kit.results import Schema
from core.ipc.methods.memory_json import Shape
from core.ipc.protocol.call_progress import CallProgress
from core.ipc.protocol.sessions import Session
from core.types.values import Actor

T = TypeVar("T")

Answer = dict[str, Any]
Effect = Literal["read", "write", "session"]
Paged = Literal["again", "id"]

_SPELT: Mapping[str, str] = MappingProxyType({"channel_user_id": "channel_user"})
_CLIENT_ERRORS = (Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.UNAUTHENTICATED, Code.MALFORMED_MESSAGE)
_OWNER_ERRORS = (Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.MALFORMED_MESSAGE)


@dataclass(frozen=True, slots=True)
class MethodCall:
    """One call, as what carries it out sees it.

    Attributes:
        engine: an engine on any loop.
        session: who asks.
        exact: whether it is answered as the command line is: with everything there is.
        progress: how a long call reports, and learns that it should stop.
    """

    engine: Engine
    session: Session
    exact: bool = False
    progress: CallProgress = field(default_factory=CallProgress)

    def actor(self, session: str | None = None) -> Actor:
        """Who asks, in a session of its own where it names one; a call of the command line stands in none."""
        return self.session.actor(None if self.exact else session)

    @property
    def shape(self) -> Shape:
        """How memories are shown to who asks."""
        return Shape(exact=self.session.owner, name_of=self.engine.clients.authenticator().name_of)


Run = Callable[[MethodCall, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One method.

    Attributes:
        name: as it is called.
        about: what it does, for who writes a client.
        params: the model of its parameters.
        result: the schema of its answer.
        run: carries it out; None where the connection answers by itself (`core.ipc.socket.dispatch`).
        who: `anyone` (before the handshake is done), `client` (and the owner) or `owner`.
        effect: `read` (may be given up when the caller goes), `write` (is finished) or `session`.
        grants: any one of these is needed; none for no grant.
        errors: codes it can answer with, beside those of every method of its kind.
        aliases: other spelling of a parameter to its name.
        exact: answers as the command line does: with everything there is.
        search: counts against the search limits; otherwise its effect says against which.
        long: may report progress.
        paged: how a reply that was cut goes on; see `core.ipc.protocol.schema.Method`.
        short_ids: parameters in which the end of an id is enough, and what it is an id of.
    """

    name: str
    about: str
    params: type[Params]
    result: Schema
    run: Run | None = None
    who: Literal["anyone", "client", "owner"] = "client"
    effect: Effect = "read"
    grants: tuple[str, ...] = ()
    errors: tuple[Code, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False
    search: bool = False
    long: bool = False
    paged: Paged | None = None
    short_ids: Mapping[str, str] = field(default_factory=dict)

    async def answer(self, call: MethodCall, params: Mapping[str, Any]) -> Answer:
        """Carry a call out.

        Args:
            call: who asks.
            params: already checked against the schema.

        Returns:
            Its JSON.

        Raises:
            LociError: what the engine raises; INVALID_INPUT where several ids end alike.
        """
        if self.run is None:
            raise BugError(self.name)
        short = {name: what for name, what in self.short_ids.items() if name in params}
        whole = {name: await wait(call.engine.library.full_id(what, params[name])) for name, what in short.items()}
        return await self.run(call, self.params.read({**params, **whole}))


def client_method(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    grants: tuple[str, ...],
    errors: tuple[Code, ...],
    effect: Effect = "read",
    aliases: Mapping[str, str] | None = None,
    search: bool = False,
    long: bool = False,
    paged: Paged | None = None,
) -> Entry:
    """A method of clients, which the owner may call too; `errors` are those beside every such method's."""
    spelt = _SPELT if "channel_user" in params.model_fields else {}
    return Entry(
        name=name,
        about=about,
        params=params,
        result=result,
        run=run,
        effect=effect,
        grants=grants,
        errors=(*_CLIENT_ERRORS, *errors),
        aliases={**(aliases or {}), **spelt},
        search=search,
        long=long,
        paged=paged,
    )


def owner_method(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run | None,
    *,
    errors: tuple[Code, ...] = (),
    effect: Effect = "read",
    aliases: Mapping[str, str] | None = None,
    long: bool = False,
    paged: Paged | None = None,
    short_ids: Mapping[str, str] | None = None,
    may_be_wrong: bool = True,
) -> Entry:
    """A verb of the command line, called `owner.<verb>` on the socket; `may_be_wrong`: its parameters may."""
    common = _OWNER_ERRORS if may_be_wrong else (Code.VAULT_LOCKED, Code.MALFORMED_MESSAGE)
    return Entry(
        name=f"owner.{name}",
        about=about,
        params=params,
        result=result,
        run=run,
        who="owner",
        effect=effect,
        errors=(*common, *errors),
        aliases=aliases or {},
        exact=True,
        long=long,
        paged=paged,
        short_ids=short_ids or {},
    )


async def wait(future: Future[T]) -> T:
    """Await an engine future on this loop; giving up the wait cancels it if it has not begun."""
    return await asyncio.wrap_future(future)


def behind(items: list[Answer], after: str | None) -> list[Answer]:
    """The items behind a cursor; for lists that are made whole each time.

    Args:
        items: all of them, each with an `id`.
        after: the id of the last item already seen; None from the start.

    Returns:
        The rest.

    Raises:
        UserError: INVALID_INPUT when that item is no longer among them.
    """
    if after is None:
        return items
    for index, item in enumerate(items):
        if item["id"] == after:
            return items[index + 1 :]
    raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")
