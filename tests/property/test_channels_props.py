"""Channels: forms that are checked, and what is seen from where, against a plain model."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Code, UserError
from core.ipc.methods.definition.entry import channel_of
from core.types.values import limit_of, limits_from, seen_from

NAMES = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,31}", fullmatch=True)
USERS = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=64)


@given(NAMES, USERS, NAMES, USERS)
def test_only_the_same_person_on_the_same_channel_sees_it(one: str, who: str, other: str, whom: str) -> None:
    row, view = channel_of(one, who), channel_of(other, whom)
    assert (row in seen_from(view)) == (row == view)
    assert (channel_of(one, None) in seen_from(view)) == (one == other)
    assert "" in seen_from(view)
    assert row not in seen_from("")
    assert row not in seen_from(channel_of(one, None))


@given(NAMES, USERS)
def test_the_person_may_be_written_with_the_channel(channel: str, who: str) -> None:
    bare = who.removeprefix(f"{channel}:") or "x"
    assert channel_of(channel, f"{channel}:{bare}") == channel_of(channel, bare) == f"{channel}:{bare}"


@given(NAMES, USERS, st.none() | st.text("abs ", min_size=1, max_size=5), st.none() | st.text("abs ", min_size=1))
def test_a_limit_is_met_in_its_own_channel_and_session_only(
    channel: str, who: str, said_in: str | None, asked_in: str | None
) -> None:
    place = channel_of(channel, who)
    limit = limit_of(place, said_in)
    assert (limit in limits_from(place, asked_in)) == (said_in is None or said_in == asked_in)
    assert limit_of("", said_in) == (said_in or "")


@given(st.text(max_size=40), st.none() | st.text(max_size=140))
def test_what_is_taken_is_of_one_form(channel: str, who: str | None) -> None:
    with suppress(UserError):
        found = channel_of(channel, who)
        assert found.partition(":")[0] == channel
        assert not any(sign.isspace() for sign in found)


def test_a_person_needs_a_channel() -> None:
    with pytest.raises(UserError) as caught:
        channel_of(None, "user123")
    assert caught.value.code is Code.INVALID_INPUT
    assert channel_of(None, None) == ""
