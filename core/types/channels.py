"""Channels: what a client says of whom it speaks for, so that memories of one never reach another (E12a, E12b; X1, X2).

A channel is written `discord`, or with the person on it `discord:user123`. A memory of a channel is limited to it as
one of a session is to its session: claims of two channels are never compared. Must not do: say who a client is.
"""

from __future__ import annotations

_PREFIX = "channel:"
_AS_IT_IS = "~"


def seen_from(channel: str) -> tuple[str, ...]:
    """The channels whose memories are seen from one: none, the channel as a whole, and the person on it.

    Args:
        channel: as `core.ipc.methods.client_checks.channel_of` writes it.

    Returns:
        Values of `memories.scope_channel`, "" first.
    """
    whole = channel.partition(":")[0]
    return tuple(dict.fromkeys(("", whole, channel)))


def limits_from(channel: str, session: str | None) -> tuple[str, ...]:
    """What limits memories that are seen from a channel and a session.

    Args:
        channel: as `core.ipc.methods.client_checks.channel_of` writes it.
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
        channel: as `core.ipc.methods.client_checks.channel_of` writes it.
        session: the session a claim is limited to, if any.

    Returns:
        The value of `scope_session`; "" for no limit.
    """
    if not channel:
        # Any name may be given to a session, also one that reads like a channel.
        named = session or ""
        return _AS_IT_IS + named if named.lstrip(_AS_IT_IS).startswith(_PREFIX) else named
    return f"{_PREFIX}{channel}" + (f" {session}" if session else "")


def channel_in(limit: str) -> str:
    """The channel of what `limit_of` wrote: what is made from a memory stays where that one is seen.

    Args:
        limit: a value of `scope_session`; neither a channel nor a person on it has blanks.

    Returns:
        The value of `scope_channel`; "" where the limit is none, or a session alone.
    """
    return limit.removeprefix(_PREFIX).partition(" ")[0] if limit.startswith(_PREFIX) else ""
