"""What the terminal asks before it pairs somebody: who, by which code, what it may, and what it sees."""

from __future__ import annotations

from typing import Any

import pytest

from app.cli.clients import question_lines
from app.cli.options import parse_grants, reach_lines
from core.config.grant_wording import (
    describe_default_visibility,
    describe_former_client,
    describe_grant,
    describe_limits_of_grants,
)
from core.errors import UserError

ASKED: dict[str, Any] = {
    "name": "desk",
    "client": "Desk\\u001b",
    "grants": ["read", "curate", "space:work", "all_spaces"],
    "asked_by": "",
    "code_end": "WXYZ",
    "former": False,
}


def test_all_that_the_window_says_stands_at_the_terminal() -> None:
    lines = question_lines(ASKED)
    assert lines[0] == "desk wants to connect."
    assert "Desk\\u001b" in lines[1]
    assert "unknown" in lines[1]
    assert "WXYZ" in lines[2]
    may, sees = lines.index("It may:"), lines.index("It sees:")
    assert lines[may + 1 : sees] == [
        f"  - {describe_grant('read')}",
        f"  ! {describe_grant('curate')}",
        "  (! is more than a client usually gets.)",
    ]
    assert lines[sees + 1 :] == [
        "  - Every space there is, also those you make later.",
        f"  - {describe_default_visibility()}",
        describe_limits_of_grants(),
    ]
    assert describe_former_client() not in lines


def test_a_name_that_comes_back_is_told_of() -> None:
    assert describe_former_client() in question_lines({**ASKED, "former": True})


def test_what_it_asked_for_and_would_not_get_is_told() -> None:
    lines = question_lines({**ASKED, "grants": ["read"], "withheld": ["curate", "all_spaces"]})
    assert "It asked for more, which it would not get: curate, all_spaces." in lines
    assert not any("more than a client usually" in line for line in lines)


@pytest.mark.parametrize(
    ("grants", "says"),
    [
        (["read", "propose"], "It sees none of your spaces,"),
        (["read", "write", "space:home", "space:work"], "Of your spaces it sees home, work,"),
        (["read", "all_spaces"], "It sees all your spaces,"),
        (["write", "all_spaces"], "It sees nothing: it may not read."),
    ],
)
def test_what_a_client_sees_is_one_sentence(grants: list[str], says: str) -> None:
    assert reach_lines("the desk", grants)[0].startswith(says)


def test_who_only_reads_is_not_said_to_write() -> None:
    (reader,) = reach_lines("the desk", ["read", "space:home"])
    assert reader == "Of your spaces it sees home, besides what is shared with all (GLOBAL)."
    assert "what it writes itself" in reach_lines("the desk", ["read", "write", "space:home"])[0]


def test_single_spaces_are_named_where_not_all_are_seen() -> None:
    assert "  - The space work." in question_lines({**ASKED, "grants": ["read", "space:work"]})


def test_who_sees_nothing_is_told_with_the_command_that_mends_it() -> None:
    sees, waits = reach_lines("the desk", ["read", "propose"])
    assert sees.endswith('loci grant "the desk" --grant space:home')
    assert "waits for your review" in waits


def test_a_word_that_is_no_grant_is_answered_with_those_there_are() -> None:
    assert parse_grants(["read, write", "write,space:my work"]) == ["read", "write", "space:my work"]
    with pytest.raises(UserError, match=r"curate, speak_for_user, sensitive, all_spaces or space:NAME"):
        parse_grants(["raed"])
    with pytest.raises(UserError, match="Name the space"):
        parse_grants(["space:"])
