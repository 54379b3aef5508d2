"""What is refused to a client before the engine is asked: spaces out of its reach, texts too long, another's word.

Must not do: decide what the engine decides; it looks at the scope of every query once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.errors import Code, UserError
from core.ipc.protocol.sessions import Session
from core.types.requests import StoreRequest
from core.types.values import GLOBAL_SPACE, Grant, Source

TEXT_BYTES = 8 * 1024  # design section 8, texts of store methods
_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)
_USER = re.compile(r"[^\s\x00-\x1f\x7f]{1,128}")


def check_spaces(session: Session, names: Iterable[str]) -> None:
    """Refuse spaces that a client may not see.

    Args:
        session: who asks.
        names: of spaces.

    Raises:
        UserError: ACCESS_DENIED, in the same words whether or not there is such a space.
    """
    if not all(session.sees(name) for name in names):
        raise UserError(Code.ACCESS_DENIED, "This client has no grant for that space.")


def check_store(request: StoreRequest, session: Session) -> None:
    """Refuse what a client may not store; the owner may store anything.

    Args:
        request: what is asked.
        session: who asks.

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
        session: who asks.
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
