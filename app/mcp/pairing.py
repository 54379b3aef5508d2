"""`loci mcp --pair`: gets a token for a client of this machine, keeps it where `loci mcp` looks, says what it sees.

With a code it asks the engine that shows it; without one the person pairs as the owner, by `loci pair` in a process of
its own. Must not do: open the vault, print a token.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from app.cli.options import SPACE, reach_lines
from app.cli.output import escape_controls
from app.mcp.client_setup import ClientSetup, check_client_name, loci_command
from app.mcp.messages import format_sentence
from app.mcp.tokens import read_token, write_token
from core.config.grant_wording import describe_reused_name
from core.errors import Code, LociError, UserError
from core.ipc.client.client import Client, token_to_text
from core.types.values import Grant

USUAL = (Grant.READ.value, Grant.PROPOSE.value)
_ANSWERS = {"a": (*USUAL, Grant.ALL_SPACES.value), "o": USUAL}


def pair_client(
    setup: ClientSetup, code: str | None, grants: Sequence[str] = (), used_by: str = ""
) -> tuple[str, list[str]]:
    """Pair and say how it went, and what it sees.

    Args:
        code: as Loci shows it; None to pair as the owner.
        grants: what the owner grants, or with a code what it asks for; none for the usual ones.
        used_by: the command that uses the token; `loci mcp` where none is named.

    Returns:
        Its name, and what it was granted.

    Raises:
        LociError: PAIRING_REFUSED, NOT_HERE, WRITE_FAILED; INVALID_INPUT where the answer names no client that can be:
            its name is the name of the token's file.
    """
    wanted = with_usual_grants(grants)
    name, token, given = _pair_by_code(setup, code, wanted) if code is not None else _pair_as_owner(setup, wanted)
    write_token(replace(setup, client=name).token_file, token)
    setup.out.progression.is_done = True
    command = used_by or f"loci mcp --client {name}"
    setup.out.print_line(f"Paired {escape_controls(name)}: {', '.join(given)}. Its token is kept for `{command}`.")
    setup.out.print_lines(reach_lines(name, given))
    return name, given


def with_usual_grants(grants: Sequence[str]) -> list[str]:
    """Grants with the usual deeds where only spaces were named: spaces alone let nobody do anything.

    Args:
        grants: as typed; none for what the engine gives.

    Returns:
        The grants to ask for.
    """
    spaces = [grant for grant in grants if grant.startswith(SPACE) or grant == Grant.ALL_SPACES.value]
    return [*USUAL, *spaces] if spaces and len(spaces) == len(grants) else list(grants)


def ask_grants(setup: ClientSetup) -> tuple[str, ...]:
    """Ask the person at the terminal which spaces a client shall see.

    Returns:
        Grants; none where nobody can be asked.

    Raises:
        UserError: PAIRING_REFUSED where the person says no.
    """
    if setup.out.as_json or not sys.stdin.isatty():
        return ()
    question = format_sentence("which_spaces", client=setup.client)
    answer = click.prompt(question, default="n", show_default=False, err=True, prompt_suffix=" ")
    found = _ANSWERS.get(str(answer).strip().casefold())
    if found is None:
        raise UserError(Code.PAIRING_REFUSED, format_sentence("not_paired"))
    return found


def _pair_by_code(setup: ClientSetup, code: str, grants: Sequence[str]) -> tuple[str, str, list[str]]:
    setup.out.print_note(format_sentence("code_sent"))
    try:
        with Client.connect(setup.place) as client:
            found = client.pair(setup.client, code, grants or None)
    except LociError as error:
        if error.code is not Code.PAIRING_REFUSED:
            raise
        # What lies here says nothing of whom Loci knows: that only the person is told.
        told = "code_refused" if read_token(setup.token_file) is None else "code_refused_token"
        raise UserError(error.code, format_sentence(told, client=setup.client)) from None
    return check_client_name(found.client), token_to_text(found.token), list(found.grants)


def _pair_as_owner(setup: ClientSetup, grants: Sequence[str]) -> tuple[str, str, list[str]]:
    secret = setup.found.secret_file
    asked = [*loci_command(), "--home", str(setup.found.home)]
    asked += [] if secret is None else ["--passphrase-file", str(secret)]
    granted = ["--grant", ",".join(grants)] if grants else []
    # Its standard error and input are ours: it may ask the person for the passphrase.
    done = subprocess.run(
        [*asked, "--json", "pair", setup.client, *granted],
        stdout=subprocess.PIPE,
        env=dict(setup.variables),
        check=False,
    )
    if done.returncode != 0:
        setup.out.print_note("Nothing was paired; see the reason above.")
        raise click.exceptions.Exit(done.returncode)
    reply = json.loads(done.stdout)
    if reply.get("former"):
        setup.out.print_note(describe_reused_name())
    return str(reply["client"]), str(reply["token"]), list(reply["grants"])
