"""`loci pair NAME --code`: shows a one-time code, and asks the person when a client redeems it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.output import visible
from app.cli.root import Command
from core.config.grantwords import cannot, sentence
from core.errors import Code, UserError

_WAIT_S = 150.0


def pair_by_code(command: Command, params: Mapping[str, Any]) -> dict[str, Any]:
    """Pair over the socket of the engine that runs; the answer is No unless the person says yes.

    Args:
        command: the running command.
        params: `name`, `grants`, `limit`.

    Returns:
        `{client, grants}`.

    Raises:
        UserError: NOT_HERE when no engine runs, PAIRING_REFUSED.
    """
    session = command.running()
    if session is None:
        raise UserError(Code.NOT_HERE, "No engine runs to pair with; start `loci serve` first.")
    client = session.client

    def told(what: str, notice: Mapping[str, Any]) -> None:
        if what == "pair_code":
            command.output.note(f"Code for the client: {notice['code']}   (valid for {notice['expires_s']} seconds)")
        elif what == "pair_request":
            allow = _allowed(command, notice)
            client.call("owner.pair_answer", {"request": notice["request"], "allow": allow})

    try:
        given = {name: value for name, value in params.items() if value is not None}
        return client.call("owner.pair_code", given, notify=told, timeout_s=_WAIT_S)
    finally:
        session.close()


def _allowed(command: Command, notice: Mapping[str, Any]) -> bool:
    command.output.note(
        f"{visible(str(notice['name']))} wants to connect ({visible(str(notice['asked_by']))}, as reported). It may:"
    )
    for grant in notice["grants"]:
        command.output.note(f"  - {visible(sentence(str(grant)))}")
    command.output.note(cannot())
    if not sys.stdin.isatty():
        command.output.note("Refused: there is nobody at the terminal to allow it.")
        return False
    return click.confirm("Allow it?", default=False, err=True)
