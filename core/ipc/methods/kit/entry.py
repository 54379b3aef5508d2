"""One row of the table of methods: what it takes and answers, who may call it, and what is refused to a client first.

A client is refused spaces out of its reach, texts too long and another's word before the engine is asked. Must not do:
check what was sent (`core.ipc.protocol.schema` does, against the published schema), or decide what the engine decides:
it looks at the scope of every query once more.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from core.engine.facade import Engine
from core.errors import BugError, Code, UserError
from core.ipc.methods.kit.parameters import Params
from core.ipc.methods.kit.results import Schema
from core.ipc.methods.memory_json import Shape
from core.ipc.protocol.sessions import Session
from core.types.requests import StoreRequest
from core.types.values import GLOBAL_SPACE, Actor, Grant, Source

T = TypeVar("T")

Answer = dict[str, Any]
Effect = Literal["read", "write", "session"]
Paged = Literal["again", "id"]

_SPELT: Mapping[str, str] = MappingProxyType({"channel_user_id": "channel_user"})
_CLIENT_ERRORS = (Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.UNAUTHENTICATED, Code.MALFORMED_MESSAGE)
_WRITE_ERRORS = (Code.BUSY, Code.DISK_FULL, Code.WRITE_FAILED)
_OWNER_ERRORS = (Code.VAULT_LOCKED, Code.INVALID_INPUT, Code.MALFORMED_MESSAGE)

TEXT_BYTES = 8 * 1024  # design section 8, texts of store methods
_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)
_USER = re.compile(r"[^\s\x00-\x1f\x7f]{1,128}")


class CallProgress:
    """Reports of one call. May be used on any thread."""

    def __init__(self, report: Callable[[str, int, int | None], None] | None = None) -> None:
        """Make it.

        Args:
            report: told what is done, in words without memory text, units done, and units in all (None while unknown).
        """
        self._report = report
        self._stopped = threading.Event()

    def tell(self, label: str, done: int, total: int | None) -> None:
        """Report how far the work is."""
        if self._report is not None:
            self._report(label, done, total)

    def cancel(self) -> None:
        """Ask the work to stop at its next safe point."""
        self._stopped.set()

    def cancelled(self) -> bool:
        """Whether the person wants it stopped."""
        return self._stopped.is_set()


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

    def default(self, name: str) -> Any:
        """What a parameter is where it is left out."""
        return self.params.model_fields[name].default

    async def answer(self, call: MethodCall, params: Mapping[str, Any]) -> Answer:
        """Carry a call out.

        Args:
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


def client_write(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    grants: tuple[str, ...],
    errors: tuple[Code, ...] = (),
    aliases: Mapping[str, str] | None = None,
    long: bool = False,
) -> Entry:
    """A method of clients that changes the vault; `errors` are those beside every such method's."""
    codes = (*errors, *_WRITE_ERRORS)
    return client_method(
        name, about, params, result, run, effect="write", grants=grants, errors=codes, aliases=aliases, long=long
    )


def memory_write(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    grants: tuple[str, ...] = ("write", "curate"),
    errors: tuple[Code, ...] = (),
    aliases: Mapping[str, str] | None = None,
) -> Entry:
    """A method of clients that changes one memory, the one of `id`."""
    codes = (Code.NOT_FOUND, Code.ACCESS_DENIED, *errors)
    spelt = {"memory_id": "id", "rule_id": "id", **(aliases or {})}
    return client_write(name, about, params, result, run, grants=grants, errors=codes, aliases=spelt)


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


def owner_memory_method(
    name: str,
    about: str,
    params: type[Params],
    result: Schema,
    run: Run,
    *,
    errors: tuple[Code, ...] = (),
    effect: Effect = "read",
    paged: Paged | None = None,
) -> Entry:
    """A verb of the command line about one memory, the one of `id`; the end of an id is enough."""
    return owner_method(
        name,
        about,
        params,
        result,
        run,
        errors=(Code.NOT_FOUND, *errors),
        effect=effect,
        aliases={"memory_id": "id"},
        paged=paged,
        short_ids={"id": "memory"},
    )


async def wait(future: Future[T]) -> T:
    """Await an engine future on this loop; giving up the wait cancels it if it has not begun."""
    return await asyncio.wrap_future(future)


def items_after(items: list[Answer], after: str | None) -> list[Answer]:
    """The items behind a cursor; for lists that are made whole each time.

    Args:
        items: all of them, each with an `id`.
        after: the id of the last item already seen; None from the start.

    Raises:
        UserError: INVALID_INPUT when that item is no longer among them.
    """
    if after is None:
        return items
    for index, item in enumerate(items):
        if item["id"] == after:
            return items[index + 1 :]
    raise UserError(Code.INVALID_INPUT, "`after` is out of date; ask again from the start.")


def check_spaces(session: Session, names: Iterable[str]) -> None:
    """Refuse spaces that a client may not see.

    Raises:
        UserError: ACCESS_DENIED, in the same words whether or not there is such a space.
    """
    if not all(session.sees(name) for name in names):
        raise UserError(Code.ACCESS_DENIED, "This client has no grant for that space.")


def check_store(request: StoreRequest, session: Session) -> None:
    """Refuse what a client may not store; the owner may store anything.

    Raises:
        UserError: TEXT_TOO_LARGE, FORBIDDEN_FIELD, ACCESS_DENIED.
    """
    if session.owner:
        return
    size = len(request.text.encode("utf-8"))
    if size > TEXT_BYTES:
        raise UserError(
            Code.TEXT_TOO_LARGE, f"The text has {size} bytes; a client may store {TEXT_BYTES} at once, so split it."
        )
    if request.source is Source.USER_EXPLICIT and not session.may(Grant.SPEAK_FOR_USER.value):
        raise UserError(Code.FORBIDDEN_FIELD, "`source` may be user_explicit only with the grant speak_for_user.")
    check_target(session, request.space)


def check_target(session: Session, space: str | None) -> None:
    """Refuse a space that a client may put nothing into; the owner may put anything anywhere.

    Args:
        space: its name; None for the asker's own.

    Raises:
        UserError: ACCESS_DENIED.
    """
    if space is None or session.owner:
        return
    check_spaces(session, [space])
    if space == GLOBAL_SPACE:
        raise UserError(Code.ACCESS_DENIED, "Only the person puts memories into GLOBAL.")


def channel_of(channel: str | None, user: str | None) -> str:
    """A channel in one word (E11a; `core.types.clients`).

    Args:
        channel: such as `discord`: small letters, digits, `-` and `_`.
        user: who on it, with or without the channel before it (`discord:user123` is `user123`); no blanks.

    Returns:
        `discord`, `discord:user123`, or "" for none.

    Raises:
        UserError: INVALID_INPUT for another form, a user without a channel, or one of another channel.
    """
    if channel is None:
        if user is not None:
            raise UserError(Code.INVALID_INPUT, "`channel_user` needs the `channel` that it is on.")
        return ""
    if _CHANNEL.fullmatch(channel) is None:
        raise UserError(
            Code.INVALID_INPUT, "`channel` has 1 to 32 small letters, digits, - and _, like discord or my-forum."
        )
    if user is None:
        return channel
    bare = user.removeprefix(f"{channel}:")
    if _USER.fullmatch(bare) is None:
        raise UserError(Code.INVALID_INPUT, "`channel_user` has 1 to 128 characters and no blanks.")
    return f"{channel}:{bare}"
