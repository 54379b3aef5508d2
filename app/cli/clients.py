"""The command line's verbs on clients: pair, grant, pause, resume, revoke, clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from app.cli.grants import told_reach, typed_grants
from app.cli.output import Output, visible
from app.cli.pairing import pair_by_code
from app.cli.root import Command, loci, with_command
from app.cli.words import minute
from core.config.grantwords import taken_up
from core.errors import Code, UserError

_NAMED = 10


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
    """Pair a client called NAME.

    Grants are read, propose, write, curate, speak_for_user, all_spaces and space:NAME; without any
    it gets read and propose, and sees none of your spaces. `loci grant` changes them later.
    """
    params = {"name": name, "grants": typed_grants(grants) or None, "limit": _limit(limit)}
    if code:
        command.reply(pair_by_code(command, params), _paired)
        return
    command.reply({**command.call("pair", params), "socket": str(command.parts.place.path)}, _paired)


def _paired(out: Output, reply: Mapping[str, Any]) -> None:
    out.line(f"Paired {visible(reply['client'])}: {', '.join(reply['grants'])}.")
    if reply.get("former"):
        out.line(taken_up())
    if "token" in reply:
        out.line(f"    Token   {reply['token']}")
        out.line(f"    Socket  {reply['socket']}")
        out.line("The token is shown this once; give it to the client and to nobody else.")
    out.lines(told_reach(reply["client"], reply["grants"]))
    _told_new(out, reply)


def _told_new(out: Output, reply: Mapping[str, Any]) -> None:
    for name in reply.get("new_spaces", ()):
        out.line(f"The space {visible(name)} is new: nothing lies in it yet.")


@loci.command()
@click.argument("name")
@click.option("--grant", "more", multiple=True, help="What it gets besides; as with `loci pair`.")
@click.option("--take", "less", multiple=True, help="What is taken from it.")
@with_command
def grant(command: Command, name: str, more: tuple[str, ...], less: tuple[str, ...]) -> None:
    """Widen or narrow what a paired client may.

    It holds at once, also for what it is doing now, and is one step that can be undone. Grants are those of `loci
    pair`: read, propose, write, curate, speak_for_user, all_spaces and space:NAME.
    """
    params = {"name": name, "grants": typed_grants(more) or None, "take": typed_grants(less) or None}
    command.reply(command.call("grant", params), _granted)


def _granted(out: Output, reply: Mapping[str, Any]) -> None:
    begun = "From now on" if reply["step"] else "Nothing changed;"
    out.line(f"{begun} {visible(reply['client'])} has: {', '.join(reply['grants'])}.")
    out.lines(told_reach(reply["client"], reply["grants"]))
    _told_new(out, reply)


@loci.command()
@click.argument("name")
@click.option("--remove", is_flag=True, help="Take back all it wrote as well; one step, which can be undone.")
@with_command
def revoke(command: Command, name: str, remove: bool) -> None:
    """Revoke a client.

    Its token is worth nothing from now on, also when you undo this: then the client comes back unpaired, and you pair
    it again. What it wrote stays, unless you say --remove.
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
        for memory_id in removed["left_ids"][:_NAMED]:
            out.line(f"    left: {memory_id}")
        if len(removed["left_ids"]) > _NAMED:
            out.line(f"    and {len(removed['left_ids']) - _NAMED} more")
        return
    wrote = reply.get("wrote", {})
    out.line("Revoked.")
    if wrote.get("steps") or wrote.get("too_old"):
        out.line(
            f"It made {_least(wrote)}{wrote['steps']} changes to {wrote['memories']} memories; "
            f"{wrote['too_old']} older ones stand. "
            f"`loci revoke {visible(reply['client'])} --remove` takes all of that back."
        )


def _least(wrote: Mapping[str, Any]) -> str:
    return "at least " if wrote.get("untried") else ""


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
            seen = f"seen {minute(client['last_seen_at'])}" if client["last_seen_at"] else "never seen"
            paired = f"paired {minute(client['paired_at'])}" if client["paired_at"] else "pair it again to let it in"
            waits = f", {client['waits']} wait" if client["waits"] else ""
            out.line(f"{visible(client['name']):<24} {client['state']:<8} {', '.join(client['grants'])}")
            out.line(f"{'':<24} {paired}, {seen}, {client['stands']} memories{waits}")
        for no in reply["denied"]:
            out.line(f"{visible(no['name']):<24} denied   {minute(no['denied_at'])}")
        out.line(f"{len(reply['clients'])} clients.")

    command.reply(command.call("clients", {}), words)
