"""The command line's verbs on clients: pair, revoke, clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from app.cli.output import Output, visible
from app.cli.pairing import pair_by_code
from app.cli.root import Command, loci, with_command
from core.errors import Code, UserError


def _limit(text: str | None) -> int | str | None:
    if text is None or text == "none":
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UserError(Code.INVALID_INPUT, "A limit is a number of searches a minute, or none.")
    return int(text)


@loci.command()
@click.argument("name")
@click.option("--grant", "grants", multiple=True, help="Grants, separated by commas; may be repeated and adds up.")
@click.option("--limit", help="Searches a minute, or none.")
@click.option("--code", is_flag=True, help="Show a one-time code instead; the client redeems it and you approve.")
@with_command
def pair(command: Command, name: str, grants: tuple[str, ...], limit: str | None, code: bool) -> None:
    """Pair a client called NAME."""
    wanted = [word.strip() for group in grants for word in group.split(",") if word.strip()]
    params = {"name": name, "grants": wanted or None, "limit": _limit(limit)}
    if code:
        command.reply(pair_by_code(command, params), _paired_by_code)
        return
    command.reply(command.call("pair", params), _paired)


def _paired(out: Output, reply: Mapping[str, Any]) -> None:
    out.line(f"Paired {visible(reply['client'])}: {', '.join(reply['grants'])}.")
    out.line(f"    Token   {reply['token']}")
    out.line("It is shown this once; give it to the client and to nobody else.")


def _paired_by_code(out: Output, reply: Mapping[str, Any]) -> None:
    out.line(f"Paired {visible(reply['client'])}: {', '.join(reply['grants'])}.")


@loci.command()
@click.argument("name")
@with_command
def revoke(command: Command, name: str) -> None:
    """Revoke a client.

    Its token is worth nothing from now on.
    """
    command.reply(command.call("revoke", {"name": name}), lambda out, _: out.line("Revoked."))


@loci.command()
@with_command
def clients(command: Command) -> None:
    """List the clients that were ever paired."""

    def words(out: Output, reply: Mapping[str, Any]) -> None:
        for client in reply["clients"]:
            out.line(f"{visible(client['name']):<24} {client['state']:<8} {', '.join(client['grants'])}")
        out.line(f"{len(reply['clients'])} clients.")

    command.reply(command.call("clients", {}), words)
