"""Channels: what a client says of whom it speaks for, so that memories of one never reach another (E12a, E12b; X1, X2).

A channel is written `discord`, or with the person on it `discord:user123`. A memory of a channel is limited to it as
one of a session is to its session: claims of two channels are never compared. Must not do: say who a client is.
"""

from __future__ import annotations

import re

from core.errors import Code, UserError

_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)
_USER = re.compile(r"[^\s\x00-\x1f\x7f]{1,128}")
_PREFIX = "channel:"


def channel_of(channel: str | None, user: str | None) -> str:
    """A channel in one word.

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


def seen_from(channel: str) -> tuple[str, ...]:
    """The channels whose memories are seen from one: none, the channel as a whole, and the person on it.

    Args:
        channel: from `channel_of`.

    Returns:
        Values of `memories.scope_channel`, "" first.
    """
    whole = channel.partition(":")[0]
    return tuple(dict.fromkeys(("", whole, channel)))


def limits_from(channel: str, session: str | None) -> tuple[str, ...]:
    """What limits memories that are seen from a channel and a session.

    Args:
        channel: from `channel_of`.
        session: the session that asks, if any.

    Returns:
        Values of `memories.scope_session`, "" first.
    """
    found = [limit_of(one, None) for one in seen_from(channel)]
    if session:
        found += [limit_of(one, session) for one in seen_from(channel)]
    return tuple(dict.fromkeys(found))


def limit_of(channel: str, session: str | None) -> str:
    """What a memory is limited to by its channel, and by a session where its claim says so.

    Args:
        channel: from `channel_of`.
        session: the session a claim is limited to, if any.

    Returns:
        The value of `scope_session`; "" for no limit.
    """
    if not channel:
        return session or ""
    return f"{_PREFIX}{channel}" + (f" {session}" if session else "")
