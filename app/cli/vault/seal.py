"""The command line's verbs on sealed memories: their key, sealing, reading, putting back and erasing.

A command that puts the key into memory takes it out again, unless it was there before or that was what it was for.
Must not do: keep a secret, or print one but the recovery code that is shown once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from app.cli.messages import first_words, format_count, load_words
from app.cli.options import sealed_passphrase_option
from app.cli.output import Output, escape_controls, one_line
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession
from core.errors import Code, UserError


@contextmanager
def _open_sealed(
    command: CommandContext, secret_file: Path | None, memory_id: str | None = None
) -> Iterator[VerbSession]:
    """A session in which the seal key is in memory.

    Args:
        memory_id: what is to be read, or the end of it: one that is not sealed is refused before any secret is asked.
    """
    from app.engine.connection import ask_sealed_passphrase

    with command.open_session() as session:
        state = session.call("seal_key", {"action": "state"})
        if not state["is_set_up"]:
            raise UserError(Code.NOT_FOUND, load_words()["sealed"]["not_set_up"])
        if memory_id is not None:
            items = session.call("sealed", {})["items"]
            if not any(item["id"].endswith(memory_id.lower()) for item in items):
                raise UserError(Code.NOT_FOUND, load_words()["sealed"]["no_such"])
        if not state["is_open"]:
            session.call("seal_key", {"action": "open", "secret": ask_sealed_passphrase(secret_file)})
        try:
            yield session
        finally:
            if not state["is_open"]:
                session.call("seal_key", {"action": "close"})


@loci.command("seal-key")
@click.argument("action", type=click.Choice(["state", "new", "open", "close", "passphrase", "recovery"]))
@sealed_passphrase_option
@click.option(
    "--new-passphrase-file",
    "new_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File whose first line is the new passphrase. Default: ask.",
)
@with_command
def seal_key(command: CommandContext, action: str, secret_file: Path | None, new_file: Path | None) -> None:
    """The key of sealed memories: state, new, open, close, passphrase, recovery.

    It has a passphrase and a recovery code of its own; without one of them nobody can read what is sealed. `open`
    unlocks sealed memories in the running engine for as many minutes as the settings say; `close` locks them at once.
    """
    from app.engine.connection import ask_new_sealed_passphrase, ask_sealed_passphrase

    asked: dict[str, str] = {"action": action}
    if action in ("open", "passphrase", "recovery"):
        asked["secret"] = ask_sealed_passphrase(secret_file)
    if action == "new":
        asked["passphrase"] = ask_new_sealed_passphrase(secret_file or new_file)
    elif action == "passphrase":
        asked["passphrase"] = ask_new_sealed_passphrase(new_file)
    with command.open_session() as session:
        done = session.call("seal_key", asked)
        if action in ("passphrase", "recovery"):  # both put the key into memory
            done = {**done, **session.call("seal_key", {"action": "close"})}
    command.output.progression.is_done = True
    command.print_result(done, lambda out, found: _print_key(out, action, found))


def _print_key(out: Output, action: str, done: Mapping[str, Any]) -> None:
    words = load_words()["sealed"]
    if "recovery_code" in done:
        out.print_lines(["", words["code"].format(code=done["recovery_code"]), "", words["keep"]])
    if action == "passphrase":
        out.print_line(words["changed"])
    elif action in ("state", "open", "close"):
        name = "not_set_up" if not done["is_set_up"] else "open" if done["is_open"] else "closed"
        out.print_line(words[name].format(seconds=done["closes_in_s"]))
        out.print_line(format_count(words["count"], done["sealed"]))


@loci.command()
@click.argument("id", required=False)
@click.option("--found", is_flag=True, help="Seal everything confidential instead of one memory.")
@click.option("--space", help="With --found: only in this space.")
@click.option("--label", default="", help="Label, readable without the passphrase. Default: its kind and day.")
@click.option("--summary", default="", help="Summary, readable and searchable without the passphrase.")
@click.option("--rewrite-backups", is_flag=True, help="Seal it in older backups, too; alone: what is sealed already.")
@click.option("--dry-run", is_flag=True, help="Show what would be sealed; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@sealed_passphrase_option
@with_command
def seal(  # the contract's word names the argument
    command: CommandContext,
    id: str | None,  # noqa: A002
    *,
    found: bool,
    space: str | None,
    label: str,
    summary: str,
    rewrite_backups: bool,
    dry_run: bool,
    yes: bool,
    secret_file: Path | None,
) -> None:
    """Seal a memory: it is encrypted with a key of its own and cannot be read without it.

    All its versions are sealed with it. Searches, assistants and jobs no longer see it, and undo does not bring it
    back; unseal does. --found seals every confidential memory: those you marked and those in which a card number, a
    password or the like was found. A summary stays readable; Loci never writes one for you.

    Backups made earlier still hold the text unsealed. --rewrite-backups seals it in them, too; given alone, it does so
    for everything that is already sealed.
    """
    if rewrite_backups and not (found or id or space or label or summary or dry_run):
        _rewrite_backups(command, secret_file)
        return
    if found == (id is not None) or (space is not None and not found) or ((label or summary) and found):
        raise click.UsageError(
            "Name one memory, with --label and --summary as you like, or --found, with --space, or --rewrite-backups."
        )
    if not (yes or dry_run or (sys.stdin.isatty() and not command.output.as_json)):
        raise click.UsageError("seal asks first; where nobody can answer, give --yes.")
    verb = "seal_found" if found else "seal"
    named: dict[str, Any] = {"id": id} if id is not None else {} if space is None else {"space": space}
    if dry_run:
        preview = command.call(verb, {**named, "dry_run": True})
        command.print_result(preview, lambda out, told: _print_report(out, "would", told))
        return
    with _open_sealed(command, secret_file) as session:
        if not yes and not _may_seal(command, session, verb, named):
            return
        done = session.call(verb, {**named, **({"label": label, "summary": summary} if id is not None else {})})
        command.output.progression.is_done = True
        if rewrite_backups:
            with command.output.show_progress(enabled=True) as report_progress:
                done = {**done, "rewritten": session.call("rewrite_sealed_copies", {}, report_progress)}
    command.print_result(done, _print_sealed)


def _rewrite_backups(command: CommandContext, secret_file: Path | None) -> None:
    with _open_sealed(command, secret_file) as session, command.output.show_progress(enabled=True) as report_progress:
        done = session.call("rewrite_sealed_copies", {}, report_progress)
        command.output.progression.is_done = True
    command.print_result(done, _print_rewritten)


def _print_sealed(out: Output, done: Mapping[str, Any]) -> None:
    words = load_words()["sealed"]
    rewritten = done.get("rewritten")
    _print_report(out, "done", done if rewritten is None else {**done, "backups": []})
    if rewritten is not None:
        _print_rewritten(out, rewritten)
    elif done["backups"]:
        out.print_line("  " + words["rewrite"])


def _print_rewritten(out: Output, done: Mapping[str, Any]) -> None:
    words = load_words()["sealed"]["rewritten"]
    names = {
        state: [one["name"] for one in done["copies"] if one["state"] == state]
        for state in ("rewritten", "holds", "other_keys", "damaged", "not_checked")
    } | {"away": done["away"]}
    told = [state for state in names if names[state]]
    for state in told:
        out.print_line(format_count(words[state], len(names[state])))
        out.print_lines(f"    {one_line(escape_controls(name))}" for name in names[state])
    if done["unopened"]:
        out.print_line(format_count(words["unopened"], done["unopened"]))
    if not told:
        out.print_line(words["none"])


def _may_seal(command: CommandContext, session: VerbSession, verb: str, named: Mapping[str, Any]) -> bool:
    words, out = load_words()["sealed"], command.output
    if "id" in named:
        out.print_line(f"“{first_words(session.call('show', named)['text'])}”")
    _print_report(out, "would", session.call(verb, {**named, "dry_run": True}))
    if click.confirm(words["ask"], default=False, err=True):
        return True
    out.print_note(words["kept"])
    return False


def _print_report(out: Output, head: str, found: Mapping[str, Any]) -> None:
    words = load_words()["sealed"]
    out.print_line(format_count(words[head], found["memories"]))
    for name in ("made", "same_words"):
        if found[name]:
            out.print_line("  " + format_count(words[name], found[name]))
    if found["backups"]:
        out.print_line("  " + format_count(words["backups"], len(found["backups"])))
        out.print_lines(f"    {one_line(escape_controls(name))}" for name in found["backups"])


@loci.command()
@click.argument("id")
@sealed_passphrase_option
@with_command
def unseal(command: CommandContext, id: str, secret_file: Path | None) -> None:  # noqa: A002 - the contract's word
    """Unseal a memory: it is back in its place, as it was before."""
    with _open_sealed(command, secret_file, id) as session:
        done = session.call("unseal", {"id": id})
        command.output.progression.is_done = True
    command.print_result(
        done, lambda out, found: out.print_line(format_count(load_words()["sealed"]["back"], found["memories"]))
    )


@loci.command("sealed")
@click.argument("id", required=False)
@click.option("--find", "query", metavar="QUESTION", help="Search by meaning; the best match comes first.")
@click.option("--in-clear", is_flag=True, help="With --find: search labels and summaries only; needs no passphrase.")
@click.option("--erase", is_flag=True, help="Erase it for good; needs no passphrase.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@sealed_passphrase_option
@with_command
def read_sealed(  # the contract's word names the argument
    command: CommandContext,
    id: str | None,  # noqa: A002
    *,
    query: str | None,
    in_clear: bool,
    erase: bool,
    yes: bool,
    secret_file: Path | None,
) -> None:
    """List sealed memories by label, search them, or read one.

    Reading and searching them is recorded in the audit.
    """
    if in_clear and query is None:
        raise click.UsageError("--in-clear goes with --find.")
    if query is not None:
        if id is not None or erase:
            raise click.UsageError("--find goes alone.")
        if in_clear:
            command.print_result(command.call("find_sealed", {"query": query, "in_clear": True}), _print_list)
            return
        with _open_sealed(command, secret_file) as session:
            found = session.call("find_sealed", {"query": query})
        command.print_result(found, _print_list)
    elif id is None:
        if erase:
            raise click.UsageError("--erase goes with an ID.")
        command.print_result(command.call("sealed", {}), _print_list)
    elif erase:
        _erase_sealed(command, id, yes=yes)
    else:
        with _open_sealed(command, secret_file, id) as session:
            found = session.call("sealed_text", {"id": id})
        command.print_result(found, _print_text)


def _erase_sealed(command: CommandContext, memory_id: str, *, yes: bool) -> None:
    words = load_words()["sealed"]
    if not yes:
        if not (sys.stdin.isatty() and not command.output.as_json):
            raise click.UsageError("--erase asks first; where nobody can answer, give --yes.")
        if not click.confirm(load_words()["erase"]["ask"], default=False, err=True):
            command.output.print_note(load_words()["erase"]["kept"])
            return
    done = command.call("erase_sealed", {"id": memory_id})
    command.print_result(done, lambda out, _: out.print_line(words["erased"]))


def _print_list(out: Output, found: Mapping[str, Any]) -> None:
    if not found["items"]:
        out.print_line(load_words()["sealed"]["none"])
    for row in found["items"]:
        out.print_line(
            f"{row['id']}  {row['sealed_at'][:10]}  {escape_controls(row['space'])}  {one_line(row['label'])}"
        )
        if row["summary"]:
            out.print_line(f"    {escape_controls(row['summary'])}")
    older = [*found.get("older_copies", ()), *found.get("away", ())]
    if older:
        words = load_words()["sealed"]
        out.print_line(format_count(words["older"], len(older)))
        out.print_lines(f"    {one_line(escape_controls(name))}" for name in older)
        out.print_line("  " + words["rewrite"])


def _print_text(out: Output, found: Mapping[str, Any]) -> None:
    words = load_words()["sealed"]
    out.print_line(escape_controls(found["text"]))
    if found["made"]:
        out.print_line(format_count(words["made_of_it"], len(found["made"])))
        out.print_lines(f"  {one_line(text)}" for text in found["made"])
