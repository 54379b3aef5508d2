"""`loci pair NAME --code`: shows a one-time code, and asks the person when a client redeems it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.clients.grants import SPACE
from app.cli.output import visible
from app.cli.root import Command
from core.config.grant_wording import (
    describe_former_client,
    describe_grant,
    describe_limits_of_grants,
    describe_own_sight,
    describe_space_grant,
    is_beyond_default,
    space_grants,
)
from core.errors import Code, PreconditionError, UserError
from core.types.values import Grant

_WAIT_S = 150.0


def pair_by_code(command: Command, params: Mapping[str, Any]) -> dict[str, Any]:
    """Pair over the socket of the engine that runs; the answer is No unless the person says yes.

    Args:
        command: the running command.
        params: `name`, `grants`, `limit`.

    Returns:
        `{client, grants}`.

    Raises:
        UserError: NOT_HERE when no engine runs, INVALID_INPUT without a terminal, PAIRING_REFUSED.
    """
    if not sys.stdin.isatty():
        # Nobody could answer; a no would be remembered as the person's.
        raise PreconditionError("Pairing with a code asks you; run it at a terminal.")
    session = command.running()
    if session is None:
        raise UserError(Code.NOT_HERE, "No engine runs to pair with; start `loci serve` first.")
    client = session.client

    def told(what: str, notice: Mapping[str, Any]) -> None:
        if what == "pair_code":
            command.output.note(f"Code for the client: {notice['code']}   (for {notice['expires_s']:.0f} seconds)")
            command.output.note(f"It redeems it at the socket {command.parts.place.path}")
        elif what == "pair_request":
            allow = _allowed(command, notice)
            client.call("owner.pair_answer", {"request": notice["request"], "allow": allow})

    try:
        given = {name: value for name, value in params.items() if value is not None}
        return client.call("owner.pair_code", given, notify=told, timeout_s=_WAIT_S)
    finally:
        session.close()


def _allowed(command: Command, notice: Mapping[str, Any]) -> bool:
    for line in question_lines(notice):
        command.output.note(line)
    return click.confirm("Allow it?", default=False, err=True)


def question_lines(notice: Mapping[str, Any]) -> list[str]:
    """Who asks to be paired, what it would be allowed, and what it would see: all that the window says too.

    Args:
        notice: the params of `pair_request`.

    Returns:
        Lines for the terminal.
    """
    said = {name: visible(str(notice[name])) for name in ("name", "client", "asked_by", "code_end")}
    grants = [str(grant) for grant in notice["grants"]]
    spaces = [grant for grant in grants if grant == Grant.ALL_SPACES.value or grant.startswith(SPACE)]
    seen = [*(describe_space_grant(grant) for grant in space_grants(grants)), describe_own_sight()]
    withheld = ", ".join(visible(str(grant)) for grant in notice.get("withheld", ()))
    return [
        f"{said['name']} wants to connect.",
        f"  It calls itself {said['client']}; its process, as reported: {said['asked_by'] or 'unknown'}.",
        f"  Its code ends with {said['code_end']}; compare it with the one the client was given.",
        *([describe_former_client()] if notice["former"] else []),
        "It may:",
        *(f"  {_mark(grant)} {visible(describe_grant(grant))}" for grant in grants if grant not in spaces),
        *(["  (! is more than a client usually gets.)"] if any(is_beyond_default(one) for one in grants) else []),
        "It sees:",
        *(f"  - {visible(one)}" for one in seen),
        *([f"It asked for more, which it would not get: {withheld}."] if withheld else []),
        describe_limits_of_grants(),
    ]


def _mark(grant: str) -> str:
    return "!" if is_beyond_default(grant) else "-"
