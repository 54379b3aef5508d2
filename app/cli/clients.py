"""The command line's verbs on clients: pair, pause, resume, revoke, clients."""

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
@click.option("--remove", is_flag=True, help="Take back all it wrote as well; one step, which can be undone.")
@with_command
def revoke(command: Command, name: str, remove: bool) -> None:
    """Revoke a client.

    Its token is worth nothing from now on; what it wrote stays, unless you say --remove.
    """
    params = {"name": name, "remove": True} if remove else {"name": name}
    command.reply(command.call("revoke", params), _revoked)


def _revoked(out: Output, reply: Mapping[str, Any]) -> None:
    removed = reply.get("removed")
    if removed is not None:
        out.line(
            f"Revoked. {removed['steps']} changes were taken back, {removed['archived']} older memories archived, "
            f"{removed['left']} left because they were changed since."
        )
        return
    wrote = reply.get("wrote", {})
    out.line("Revoked.")
    if wrote.get("steps") or wrote.get("too_old"):
        out.line(
            f"It made {wrote['steps']} changes to {wrote['memories']} memories; {wrote['too_old']} older ones stand. "
            f"`loci revoke {visible(reply['client'])} --remove` takes all of that back."
        )


@loci.command()
@click.argument("name", required=False)
@click.option("--all", "everyone", is_flag=True, help="Stop every client at once.")
@with_command
def pause(command: Command, name: str | None, everyone: bool) -> None:
    """Let a client in no more, until it is resumed."""
    reply = command.call("pause", _whom(name, everyone=everyone))
    command.reply(reply, lambda out, told: out.line("Paused." if told["step"] else "Nothing to pause."))


@loci.command()
@click.argument("name", required=False)
@click.option("--all", "everyone", is_flag=True, help="Resume every client that is paused.")
@with_command
def resume(command: Command, name: str | None, everyone: bool) -> None:
    """Let a client in again that is paused, or asleep after 90 days."""
    reply = command.call("resume", _whom(name, everyone=everyone))
    command.reply(reply, lambda out, told: out.line("Resumed." if told["step"] else "Nothing to resume."))


def _whom(name: str | None, *, everyone: bool) -> dict[str, Any]:
    return {"all": everyone, **({} if name is None else {"name": name})}


@loci.command()
@click.option("--allow", metavar="NAME", help="Forget that you said no to NAME; it may ask to be paired again.")
@with_command
def clients(command: Command, allow: str | None) -> None:
    """List the clients that were ever paired, and the names you said no to."""
    if allow is not None:
        reply = command.call("allow_again", {"name": allow})
        command.reply(reply, lambda out, told: out.line(f"{visible(told['name'])} may ask again."))
        return

    def words(out: Output, reply: Mapping[str, Any]) -> None:
        for client in reply["clients"]:
            seen = client["last_seen_at"] or "never seen"
            waits = f", {client['waits']} wait" if client["waits"] else ""
            out.line(f"{visible(client['name']):<24} {client['state']:<8} {', '.join(client['grants'])}")
            out.line(f"{'':<24} {seen:<24} {client['stands']} memories{waits}")
        for no in reply["denied"]:
            out.line(f"{visible(no['name']):<24} denied   {no['denied_at']}")
        out.line(f"{len(reply['clients'])} clients.")

    command.reply(command.call("clients", {}), words)
