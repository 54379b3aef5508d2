"""The command line's verbs on clients: pair, grant, pause, resume, disclose, revoke, clients, log; pairing by code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.messages import first_words, format_count, format_minute, load_words
from app.cli.options import SPACE, parse_grants, reach_lines
from app.cli.output import Output, OutputError, escape_controls, one_line
from app.cli.root import CommandContext, loci, with_command
from core.config.grant_wording import (
    describe_default_visibility,
    describe_former_client,
    describe_grant,
    describe_limits_of_grants,
    describe_reused_name,
    describe_space_grant,
    is_beyond_default,
    space_grants,
)
from core.errors import Code, PreconditionError, UserError
from core.types.values import Grant

_NAMED = 10
_TOKEN_LOST = "The token could not be written, so the pairing was undone. Pair it again."  # noqa: S105


def _parse_limit(text: str | None) -> int | str | None:
    if text is None or text == "none":
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UserError(Code.INVALID_INPUT, "A limit is a number of searches a minute, or none.")
    return int(text)


@loci.command()
@click.argument("name")
@click.option("--grant", "grants", multiple=True, help="Grants, separated by commas; may be repeated.")
@click.option("--limit", help="Searches per minute, or none.")
@click.option("--code", is_flag=True, help="Show a one-time code instead; the client redeems it and you approve.")
@with_command
def pair(command: CommandContext, name: str, grants: tuple[str, ...], limit: str | None, code: bool) -> None:
    """Pair a client called NAME.

    Grants are read, propose, write, curate, speak_for_user, sensitive, all_spaces and space:NAME; without any
    it gets read and propose, and sees none of your spaces. `loci grant` changes them later.
    """
    params = {"name": name, "grants": parse_grants(grants) or None, "limit": _parse_limit(limit)}
    if code:
        paired = pair_by_code(command, params)
        command.output.progression.is_done = True
        command.print_result(paired, _print_pairing)
        return
    with command.open_session() as session:
        reply = session.call("pair", {key: value for key, value in params.items() if value is not None})
        step = reply.pop("step", None)
        try:
            command.print_result({**reply, "socket": str(command.app_context.place.path)}, _print_pairing)
            command.output.flush()
        except OutputError:
            # The token is told this once: without it the client could never come in, and its name would be taken.
            session.call("undo", {"step": step})
            command.output.progression.is_done = False
            raise OutputError(_TOKEN_LOST) from None


def _print_pairing(out: Output, reply: Mapping[str, Any]) -> None:
    out.print_line(f"Paired {escape_controls(reply['client'])}: {', '.join(reply['grants'])}.")
    if reply.get("former"):
        out.print_line(describe_reused_name())
    if "token" in reply:
        out.print_line(f"    Token   {reply['token']}")
        out.print_line(f"    Socket  {reply['socket']}")
        out.print_line("The token is shown only once. Give it to the client and to nobody else.")
    out.print_lines(reach_lines(reply["client"], reply["grants"]))
    _print_new_spaces(out, reply)


def _print_new_spaces(out: Output, reply: Mapping[str, Any]) -> None:
    for name in reply.get("new_spaces", ()):
        out.print_line(f"The space {escape_controls(name)} is new and empty.")


@loci.command()
@click.argument("name")
@click.option("--grant", "more", multiple=True, help="Grants to add, as with `loci pair`.")
@click.option("--take", "less", multiple=True, help="Grants to remove.")
@with_command
def grant(command: CommandContext, name: str, more: tuple[str, ...], less: tuple[str, ...]) -> None:
    """Widen or narrow what a paired client may.

    It holds at once, also for what it is doing now, and is one step that can be undone. Grants are those of `loci
    pair`: read, propose, write, curate, speak_for_user, sensitive, all_spaces and space:NAME.
    """
    params = {"name": name, "grants": parse_grants(more) or None, "take": parse_grants(less) or None}
    command.print_result(command.call("grant", params), _print_grants)


def _print_grants(out: Output, reply: Mapping[str, Any]) -> None:
    begun = "From now on" if reply["step"] else "Nothing changed;"
    out.print_line(f"{begun} {escape_controls(reply['client'])} has: {', '.join(reply['grants'])}.")
    out.print_lines(reach_lines(reply["client"], reply["grants"]))
    _print_new_spaces(out, reply)


@loci.command()
@click.argument("name")
@click.option("--remove", is_flag=True, help="Also undo everything it wrote, in one step.")
@with_command
def revoke(command: CommandContext, name: str, remove: bool) -> None:
    """Revoke a client.

    Its token is worth nothing from now on, also when you undo this: then the client comes back unpaired, and you pair
    it again. What it wrote stays, unless you say --remove.
    """
    params = {"name": name, "remove": True} if remove else {"name": name}
    command.print_result(command.call("revoke", params), _print_revocation)


def _print_revocation(out: Output, reply: Mapping[str, Any]) -> None:
    removed, forms = reply.get("removed"), load_words()["counts"]
    if removed is not None:
        rest = ", ".join(format_count(forms[name], removed[name]) for name in ("archived", "left"))
        out.print_line(format_count(forms["taken_back"], removed["steps"], rest=rest))
        for memory_id in removed["left_ids"][:_NAMED]:
            out.print_line(f"    left: {memory_id}")
        if len(removed["left_ids"]) > _NAMED:
            out.print_line(f"    and {len(removed['left_ids']) - _NAMED} more")
        return
    wrote = reply.get("wrote", {})
    out.print_line("Revoked.")
    if wrote.get("steps") or wrote.get("too_old"):
        out.print_line(
            f"It made {_at_least_prefix(wrote)}{format_count(forms['changes'], wrote['steps'])} to "
            f"{format_count(load_words()['memories'], wrote['memories'])}; "
            f"{format_count(forms['too_old'], wrote['too_old'])}. "
            f"`loci revoke {escape_controls(reply['client'])} --remove` takes all of that back."
        )


def _at_least_prefix(wrote: Mapping[str, Any]) -> str:
    return "at least " if wrote.get("untried") else ""


@loci.command()
@click.argument("name", required=False)
@click.option("--all", "everyone", is_flag=True, help="Stop every client at once.")
@with_command
def pause(command: CommandContext, name: str | None, everyone: bool) -> None:
    """Pause a client until it is resumed."""
    reply = command.call("pause", _client_params(name, everyone=everyone))
    command.print_result(
        reply, lambda out, result: out.print_line("Paused." if result["step"] else "Nothing to pause.")
    )


@loci.command()
@click.argument("name", required=False)
@click.option("--all", "everyone", is_flag=True, help="Resume every client that is paused.")
@with_command
def resume(command: CommandContext, name: str | None, everyone: bool) -> None:
    """Resume a client that is paused, or asleep after 90 days."""
    reply = command.call("resume", _client_params(name, everyone=everyone))
    command.print_result(
        reply, lambda out, result: out.print_line("Resumed." if result["step"] else "Nothing to resume.")
    )


@loci.command()
@click.argument("name")
@click.option("--minutes", type=click.IntRange(1, 240), default=15, show_default=True, help="For how long.")
@click.option("--off", is_flag=True, help="End it now.")
@with_command
def disclose(command: CommandContext, name: str, *, minutes: int, off: bool) -> None:
    """Let a client read what is sensitive or confidential for some minutes.

    The client also needs the grant sensitive. It can read only its own spaces, and only while this engine runs:
    permission ends after the minutes, when the client is paused, or when the vault is locked.
    """
    session = command.find_running()
    if session is None:
        raise PreconditionError("No engine runs, so no client is connected; open the window or `loci serve` first.")
    try:
        reply = session.call("disclose", {"name": name, "minutes": 0 if off else minutes})
        command.output.progression.is_done = True
    finally:
        session.close()
    words = load_words()["disclosed"]
    told = words["on"].format(minutes=minutes) if reply["seconds"] else words["off"]
    command.print_result(reply, lambda out, _: out.print_line(told))


def _client_params(name: str | None, *, everyone: bool) -> dict[str, Any]:
    return {"all": everyone, **({} if name is None else {"name": name})}


@loci.command()
@click.option("--allow", metavar="NAME", help="Forget that you declined NAME, so that it may ask again.")
@with_command
def clients(command: CommandContext, allow: str | None) -> None:
    """List the clients that were ever paired, and the names you said no to."""
    if allow is not None:
        reply = command.call("allow_again", {"name": allow})
        command.print_result(
            reply, lambda out, result: out.print_line(f"{escape_controls(result['name'])} may ask again.")
        )
        return

    def print_reply(out: Output, reply: Mapping[str, Any]) -> None:
        for client in reply["clients"]:
            seen = f"seen {format_minute(client['last_seen_at'])}" if client["last_seen_at"] else "never seen"
            paired = (
                f"paired {format_minute(client['paired_at'])}" if client["paired_at"] else "pair it again to let it in"
            )
            waits = f", {client['waits']} wait" if client["waits"] else ""
            out.print_line(f"{escape_controls(client['name']):<24} {client['state']:<8} {', '.join(client['grants'])}")
            out.print_line(
                f"{'':<24} {paired}, {seen}, {format_count(load_words()['memories'], client['stands'])}{waits}"
            )
        for no in reply["denied"]:
            out.print_line(f"{escape_controls(no['name']):<24} denied   {format_minute(no['denied_at'])}")
        out.print_line(format_count(load_words()["counts"]["clients"], len(reply["clients"])))

    command.print_result(command.call("clients", {}), print_reply)


@loci.command()
@click.argument("client", required=False)
@click.option("--limit", type=click.IntRange(1, 200), help="At most this many lines. Default: 50.")
@click.option("--after", metavar="CURSOR", help="Continue after a page; the page says how.")
@with_command
def log(command: CommandContext, client: str | None, limit: int | None, after: str | None) -> None:
    """List what CLIENT did, newest first.

    Answers, changes and refusals; without a name, of all of them. What was asked is not told here.
    """
    reply = command.call("log", {"name": client, "limit": limit, "after": after})
    command.print_result(reply, lambda out, found: _print_log(out, found, is_one=client is not None))
    if "next" in reply and not command.output.as_json:
        command.output.print_note(load_words()["log"]["more"].format(next=reply["next"]))


def _print_log(out: Output, reply: Mapping[str, Any], *, is_one: bool) -> None:
    for line in reply["lines"]:
        who = "" if is_one else f"{one_line(line['client'], 64)}: "
        out.print_line(
            load_words()["log"]["line"].format(at=format_minute(line["at"]), client=who, head=_describe_activity(line))
        )
        ids = [line[name] for name in ("memory_id", "step", "receipt") if line[name]]
        note = " · ".join(part for part in (*_describe_line(line), *ids[:1]) if part)
        if note:
            out.print_line(f"{'':<18}{note}")
    if not reply["lines"]:
        out.print_line(load_words()["log"]["none"])


def _describe_activity(line: Mapping[str, Any]) -> str:
    """What it did, in the words of the window's Clients page."""
    words = load_words("clients_page")
    if line["did"] == "refused":
        why = words["refusal_reasons"].get(line["code"], words["refusal_reasons"]["unknown"])
        return str(words["activity"]["refused"]).format(why=why)
    known = words["answered"].get(line["verb"], {}).get(line["operation"]) or words["verbs"].get(line["verb"])
    verb = str(known or one_line(line["verb"].replace("_", " "), 64))
    verb = verb[:1].upper() + verb[1:]
    return f"{verb}: {first_words(line['text'])}" if line["text"] else verb


def _describe_line(line: Mapping[str, Any]) -> list[str]:
    words = load_words("clients_page")["activity"]
    noted: list[str] = []
    if line["did"] == "asked":
        noted.append(format_count(words["gave"], line["count"]) if line["count"] else words["gave_none"])
        noted.append(format_count(words["withheld"], line["withheld"]) if line["withheld"] else "")
    elif line["did"] == "wrote":
        more = line["count"] - 1 if line["text"] else line["count"]
        noted.append(escape_controls(line["space"] or ""))
        noted.append(format_count(words["more" if line["text"] else "changed"], more) if more > 0 else "")
        noted.append(words["warned"] if line["warned"] else "")
    else:
        noted.append(line["code"] or "")
    return [*noted, words["undone"] if line["undone"] else ""]


_WAIT_S = 150.0


def pair_by_code(command: CommandContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """Pair over the socket of the engine that runs; the answer is No unless the person says yes.

    Args:
        params: `name`, `grants`, `limit`.

    Returns:
        `{client, grants}`.

    Raises:
        UserError: NOT_HERE when no engine runs, INVALID_INPUT without a terminal, PAIRING_REFUSED.
    """
    if not sys.stdin.isatty():
        # Nobody could answer; a no would be remembered as the person's.
        raise PreconditionError("Pairing with a code asks you; run it at a terminal.")
    session = command.find_running()
    if session is None:
        raise UserError(Code.NOT_HERE, "No engine is running. Start `loci serve` first.")
    client = session.client

    def print_notice(what: str, notice: Mapping[str, Any]) -> None:
        if what == "pair_code":
            command.output.print_note(
                f"Code for the client: {notice['code']}   (for {notice['expires_s']:.0f} seconds)"
            )
            command.output.print_note(f"It redeems it at the socket {command.app_context.place.path}")
        elif what == "pair_request":
            allow = _ask_to_allow(command, notice)
            client.call("owner.pair_answer", {"request": notice["request"], "allow": allow})

    try:
        given = {name: value for name, value in params.items() if value is not None}
        return client.call("owner.pair_code", given, notify=print_notice, timeout_s=_WAIT_S)
    finally:
        session.close()


def _ask_to_allow(command: CommandContext, notice: Mapping[str, Any]) -> bool:
    for line in question_lines(notice):
        command.output.print_note(line)
    return click.confirm("Allow it?", default=False, err=True)


def question_lines(notice: Mapping[str, Any]) -> list[str]:
    """Who asks to be paired, what it would be allowed, and what it would see: all that the window says too.

    Args:
        notice: the params of `pair_request`.

    Returns:
        Lines for the terminal.
    """
    fields = {name: escape_controls(str(notice[name])) for name in ("name", "client", "asked_by", "code_end")}
    grants = [str(grant) for grant in notice["grants"]]
    spaces = [grant for grant in grants if grant == Grant.ALL_SPACES.value or grant.startswith(SPACE)]
    seen = [*(describe_space_grant(grant) for grant in space_grants(grants)), describe_default_visibility()]
    withheld = ", ".join(escape_controls(str(grant)) for grant in notice.get("withheld", ()))
    return [
        f"{fields['name']} wants to connect.",
        f"  It calls itself {fields['client']}; its process, as reported: {fields['asked_by'] or 'unknown'}.",
        f"  Its code ends with {fields['code_end']}; compare it with the one the client was given.",
        *([describe_former_client()] if notice["former"] else []),
        "It may:",
        *(
            f"  {_grant_mark(grant)} {escape_controls(describe_grant(grant))}"
            for grant in grants
            if grant not in spaces
        ),
        *(["  (! is more than a client usually gets.)"] if any(is_beyond_default(one) for one in grants) else []),
        "It sees:",
        *(f"  - {escape_controls(one)}" for one in seen),
        *([f"It asked for more, which it would not get: {withheld}."] if withheld else []),
        describe_limits_of_grants(),
    ]


def _grant_mark(grant: str) -> str:
    return "!" if is_beyond_default(grant) else "-"
