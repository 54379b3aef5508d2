"""Verbs on the vault: init, serve, status, verify, lock, backup, export, passphrase and keys, doctor, jobs."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.messages import format_count, load_words
from app.cli.options import archive_passphrase_option, parse_statuses
from app.cli.output import Output, OutputError, escape_controls
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession, absolute_path
from core.errors import Code, LociError, PreconditionError, UserError
from core.types.requests import EXPORT_ENDINGS
from core.types.values import Kind

if TYPE_CHECKING:
    from core.types.replies import Finding


from app.cli.messages import format_minute

Row = Mapping[str, Any]

_DAMAGED_EXIT = 6
_AT_ONCE = 500
_UNLOCKED = "Unlocked."
_NO_CODE = (
    "The vault was made, but its recovery code could not be written out; `loci passphrase --recovery-code` makes "
    "another one."
)


@loci.command()
@click.option("--keyring", is_flag=True, help="Also unlock with the system's keyring.")
@click.option("--test-clock", is_flag=True, help="Let LOCI_NOW move this vault's clock, for good. For tests only.")
@with_command
def init(command: CommandContext, keyring: bool, test_clock: bool) -> None:
    """Create a vault."""
    from core.engine.home.keys import HomeKeys

    app_context, out = command.app_context, command.output
    keys = HomeKeys(app_context.home)
    keys.finish_replacement()
    if keys.exists:
        raise UserError(Code.VAULT_EXISTS, "There is already a vault here. It was not changed.")
    passphrase = _new_passphrase(app_context.environment.secret_file, keyring)
    from core.engine.facade import create_vault  # after the question, so that it is asked at once

    clock = app_context.make_new_clock(test_clock, out.print_note)
    code = create_vault(keys, passphrase, clock, use_keyring=keyring, test_clock=test_clock)
    out.progression.is_done = True
    reply = {"vault": keys.vault_id.hex(), "home": str(app_context.home.path), "recovery_code": code}
    try:
        command.print_result(reply, _print_new_vault)
        out.flush()
    except OutputError:
        raise OutputError(_NO_CODE) from None
    if out.as_json:
        out.print_note(
            "Keep the recovery code on paper: it is shown once, and it opens the vault without the passphrase."
        )


def _new_passphrase(secret_file: Path | None, keyring: bool) -> str | None:
    from core.engine.home.keys import read_secret_file

    if secret_file is not None:
        return read_secret_file(secret_file)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        if keyring:
            return None
        raise PreconditionError("Name a file with the new passphrase with --passphrase-file.")
    first = getpass.getpass("New passphrase: ", stream=sys.stderr)
    if not first and keyring:
        return None
    if getpass.getpass("Repeat it: ", stream=sys.stderr) != first:
        raise UserError(Code.INVALID_INPUT, "The passphrases do not match. Nothing was created.")
    return first


def _print_new_vault(out: Output, reply: Mapping[str, Any]) -> None:
    out.print_line("Your vault is ready.")
    out.print_line()
    out.print_line(f"    Recovery code   {reply['recovery_code']}")
    out.print_line()
    out.print_line("Write the code down and keep it apart from this machine. It is shown this once, it opens the vault")
    out.print_line("without the passphrase, and nobody can make another one for you if both are lost.")


@loci.command()
@click.option("--unlocked", is_flag=True, help="Exit if the vault cannot be opened without asking.")
@with_command
def serve(command: CommandContext, unlocked: bool) -> None:
    """Run engine and socket without a window, until interrupted."""
    from app.engine import service  # the engine is loaded by what opens a vault, and by nothing else

    service.run_service(command.app_context, command.output.print_note, must_open=unlocked)


@loci.command()
@with_command
def status(command: CommandContext) -> None:
    """How the vault and the engine are."""
    command.print_result(command.call("status", {}), print_status)


def print_status(out: Output, reply: Mapping[str, Any]) -> None:
    """Print the status page for a person.

    Args:
        reply: the reply of `status`.
    """
    memories, index = reply["memories"], reply["index"]
    forms = load_words()["counts"]["kinds"]
    kinds = ", ".join(format_count(forms[kind], count) for kind, count in sorted(memories["by_kind"].items()))
    status_counts = ", ".join(f"{count} {name}" for name, count in sorted(memories["by_status"].items()))
    out.print_table(
        [
            ("memories", f"{memories['total']} ({kinds or 'none yet'})"),
            ("standing", status_counts or "nothing yet"),
            ("spaces", ", ".join(reply["spaces"])),
            ("conversations", reply["conversations"]),
            ("waiting for review", reply["open_reviews"]),
            ("index", f"{index['state']}, {index['backend']}, {index['loaded']} of {index['total']}"),
            ("embedder", f"{reply['embedder']['model']} ({reply['embedder']['by']}, no network)"),
            ("local model", reply["model_server"]["sentence"]),
            ("search", reply["search_strategy"].replace("_", " ")),
            ("clients", reply["clients"]),
            ("changes so far", reply["seq"]),
        ]
    )
    out.print_lines(_describe_import(one) for one in reply["running_imports"])
    out.print_lines(f"Note: {warning}" for warning in reply["warnings"])


def _describe_import(one: Mapping[str, Any]) -> str:
    words = load_words()["running_import"]
    form = "unknown" if one["total"] is None else one["phase"]
    return str(words[form].format(label=one["label"], stop=one["stop"], **_progress_figures(one)))


def _progress_figures(one: Mapping[str, Any]) -> dict[str, str]:
    return {name: "" if one[name] is None else f"{one[name]:,}" for name in ("done", "total")}


@loci.command()
@click.option("--accept-older", is_flag=True, help="Use a vault that is older than the one last seen here.")
@click.option("--yes", is_flag=True, help="With --accept-older: do not ask.")
@click.option(
    "--deep", is_flag=True, help="Check every vector, key files, certificates and backups, too; takes longer."
)
@with_command
def verify(command: CommandContext, *, accept_older: bool, yes: bool, deep: bool) -> None:
    """Check that the vault is complete and undamaged.

    Checks encryption, structure, search index and audit chain, and whether it is the newest copy. --deep also says
    what a check cannot tell.
    """
    if yes and not accept_older:
        raise click.UsageError("--yes goes with --accept-older.")
    try:
        with command.open_session() as session:
            if accept_older and not _is_accepted(command, session, yes=yes):
                click.get_current_context().exit(1)
            with command.output.show_progress(enabled=True) as report_progress:
                reply = session.call("verify", {"deep": True} if deep else {}, report_progress)
    except LociError as error:
        if command.output.as_json and error.code in (Code.VAULT_DAMAGED, Code.KEY_FILE_DAMAGED):
            check = {"status": "failed", "note": error.code.value}
            command.output.print_document({"status": "damaged", "checks": {"open": check}})
        raise
    command.print_result(reply, _print_verification)
    if reply["status"] == "damaged":
        click.get_current_context().exit(_DAMAGED_EXIT)


def _is_accepted(command: CommandContext, session: VerbSession, *, yes: bool) -> bool:
    """Whether the person's word is there; where somebody can be asked, they are."""
    words = load_words()["accept_older"]
    if command.older is None:
        command.output.print_note(words["nothing"])
        return True
    if not yes and not (sys.stdin.isatty() and not command.output.as_json):
        raise PreconditionError(words["unasked"])
    if not yes and not click.confirm(words["ask"], default=False, err=True):
        command.output.print_note(words["kept"])
        return False
    done = session.call("accept_older", {})
    command.older = session.older_copy()
    command.output.print_note(words["done"])
    if done["retired_clients"]:
        command.output.print_note(format_count(words["retired"], done["retired_clients"]))
    return True


def _print_verification(out: Output, reply: Mapping[str, Any]) -> None:
    failed = [name for name, check in reply["checks"].items() if _check_words(check).startswith("failed")]
    if failed == ["head"]:
        out.print_line("The vault is whole, but it may not be the newest copy.")
    else:
        out.print_line(
            {"ok": "The vault is whole.", "damaged": "The vault is damaged.", "not_checked": "Not all was checked."}[
                reply["status"]
            ]
        )
    words = load_words("check")
    titles = words["checks"] if reply.get("not_looked_at") else {}
    rows = [(titles.get(name, name.replace("_", " ")), _check_words(check)) for name, check in reply["checks"].items()]
    out.print_table(rows)
    beyond = words["not_looked_at"]
    if reply.get("not_looked_at"):
        out.print_line(beyond["title"])
        out.print_lines(f"  {beyond[name]}" for name in reply["not_looked_at"])


def _check_words(check: Any) -> str:
    if isinstance(check, Mapping):
        note = check.get("note")
        return str(check["status"]).replace("_", " ") + (f" ({note})" if note else "")
    return str(check)


@loci.command()
@with_command
def lock(command: CommandContext) -> None:
    """Lock the vault of the engine that runs.

    The engine stays and says so, to your other commands too, until `loci unlock` or a window opens it again.
    """
    session = command.find_running(unlock=False)
    if session is None:
        command.print_result({"state": "locked"}, lambda out, _: out.print_line("The vault is already locked."))
        return
    try:
        reply = session.call("lock", {})
        command.output.progression.is_done = True
        command.print_result(reply, lambda out, _: out.print_line("Locked."))
    finally:
        session.close()


@loci.command()
@with_command
def unlock(command: CommandContext) -> None:
    """Unlock the vault of the engine that runs.

    With your passphrase, which is asked for, read from --passphrase-file, or held by the system's keyring.
    """
    from app.engine.connection import connect, open_root

    app_context = command.app_context
    with open_root(app_context) as root:
        session = connect(app_context, root, unlock=False)
        says = "The vault is already open." if session else _UNLOCKED
        session = session or connect(app_context, root)
    if session is None:
        raise UserError(Code.NOT_HERE, "No engine is running. Start `loci serve` or open the window.")
    session.close()
    command.output.progression.is_done = says == _UNLOCKED
    command.print_result({"state": "open"}, lambda out, _: out.print_line(says))


@loci.command()
@click.option("--to", "to", help="The file to write. Default: the home's backups folder.")
@click.option("--yes", is_flag=True, help="Replace a file that is there, and do not ask.")
@with_command
def backup(command: CommandContext, to: str | None, *, yes: bool) -> None:
    """Write a backup and verify it by opening it."""
    path = None if to is None else absolute_path(to)
    if path is not None and not may_replace(command, path, yes=yes):
        return
    reply = command.call("backup", {"to": None if path is None else str(path)}, progress=True)
    command.print_result(reply, lambda out, made: out.print_line(f"Backed up and verified: {made['path']}"))


def may_replace(command: CommandContext, path: Path, *, yes: bool) -> bool:
    """Whether a file may be written; of one that is there the person at a terminal is asked, a script has to say it."""
    if yes or not path.exists():
        return True
    words = load_words()["replace"]
    if not (sys.stdin.isatty() and not command.output.as_json):
        raise PreconditionError(words["unasked"])
    if click.confirm(words["ask"].format(path=escape_controls(str(path))), default=False, err=True):
        return True
    command.output.print_note(words["kept"])
    return False


@loci.command()
@click.argument("file")
@with_command
def restore(command: CommandContext, file: str) -> None:
    """Put a backup in the place of the vault.

    The old one is kept beside it.
    """
    from app.engine.doctor import restore_backup  # as for `serve`

    reply = restore_backup(command.app_context, absolute_path(file), command.output.print_note)
    command.output.progression.is_done = True
    command.print_result(reply, lambda out, _: out.print_line("Restored. Paired clients must be paired again."))


@loci.command()
@click.argument("file")
@click.option("--format", "form", type=click.Choice(list(EXPORT_ENDINGS)), help="By the file's ending, else jsonl.")
@click.option("--space", help="Only this space.")
@click.option("--status", help="Statuses, separated by commas, or all. Default: active,disputed.")
@click.option("--encrypted", is_flag=True, help="Everything, in an archive with a passphrase of its own.")
@click.option("--yes", is_flag=True, help="Replace a file that is there, and do not ask.")
@archive_passphrase_option
@with_command
def export(
    command: CommandContext,
    *,
    file: str,
    yes: bool,
    form: str | None,
    space: str | None,
    status: str | None,
    encrypted: bool,
    secret_file: Path | None,
) -> None:
    """Write memories to FILE, which only you can read.

    `-` writes them to standard output. What is written as jsonl comes back with `loci import`. obsidian is a zip file
    of linked notes, which unpacked opens as a vault; mem0 is the JSON that mem0 and OpenMemory read. With --encrypted,
    FILE is an archive of everything in the vault, which `loci import` brings into this vault or another one.
    """
    if encrypted:
        if file == "-" or form is not None or space is not None or status is not None:
            raise click.UsageError("--encrypted writes everything, to a file; drop --format, --space and --status.")
        if may_replace(command, absolute_path(file), yes=yes):
            _export_archive(command, file, secret_file)
        return
    if secret_file is not None:
        raise click.UsageError("--archive-passphrase-file goes with --encrypted.")
    out = command.output
    params = {"space": space, "status": parse_statuses(status)}
    if file == "-":
        if out.as_json:
            raise click.UsageError("`-` prints the memories themselves, --json a report; name a file, or drop --json.")
        _print_export(command, {**params, "format": form or "jsonl"})
        return
    to = absolute_path(file)
    if not may_replace(command, to, yes=yes):
        return
    form = form or next((name for name, ending in EXPORT_ENDINGS.items() if to.suffix.lower() == ending), "jsonl")
    reply = command.call("export", {**params, "format": form, "to": str(to)}, progress=True)
    command.print_result(
        reply,
        lambda o, made: o.print_line(
            format_count(load_words()["exported"], made["memories"], path=escape_controls(made["path"]))
        ),
    )


def _export_archive(command: CommandContext, file: str, secret_file: Path | None) -> None:
    from app.engine.connection import ask_new_archive_passphrase

    params = {"to": str(absolute_path(file)), "passphrase": ask_new_archive_passphrase(secret_file)}
    reply = command.call("export_encrypted", params, progress=True)
    forms = load_words()["exported_encrypted"]
    command.print_result(
        reply,
        lambda o, made: o.print_lines(
            (
                format_count(forms, made["memories"], path=escape_controls(made["path"])),
                *([format_count(forms["sealed"], made["sealed"])] if made["sealed"] else []),
                str(forms["keep"]),
            )
        ),
    )


def _print_export(command: CommandContext, params: Mapping[str, Any]) -> None:
    """Ask for what is exported some at a time: a reply over the socket has an end, and so has a part of a text."""
    from core.engine.export.formats import ExportedMemory, render_export

    found: list[ExportedMemory] = []
    with command.open_session() as session:
        ids = [one["id"] for one in session.call("export", {k: v for k, v in params.items() if v is not None})["items"]]
        for at in range(0, len(ids), _AT_ONCE):
            for item in session.call("exported", {"ids": ids[at : at + _AT_ONCE]})["items"]:
                if item["continues"]:
                    found[-1].fields["text"] += item["fields"]["text"]
                else:
                    found.append(ExportedMemory(item["id"], dict(item["fields"])))
    command.output.progression.is_done = False  # what was asked for is what is written now
    command.output.print_raw(render_export(found, params["format"]))


@loci.command()
@click.option(
    "--new-passphrase-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File whose first line is the new passphrase. Default: ask.",
)
@click.option(
    "--recovery-code", "renew", is_flag=True, help="Make a new recovery code instead; the old one becomes invalid."
)
@with_command
def passphrase(command: CommandContext, new_passphrase_file: Path | None, renew: bool) -> None:
    """Change the passphrase, or the recovery code.

    The present passphrase or the recovery code opens the way: it is asked for, or read from --passphrase-file.
    """
    if renew and new_passphrase_file is not None:
        raise click.UsageError("--recovery-code leaves the passphrase as it is; drop one of the two.")
    from app.engine.connection import ask_secret

    secret = ask_secret(command.app_context)
    with _open_keyholder(command, secret) as change:
        if renew:
            _renew_code(command, secret, change)
            return
        new = _new_passphrase(new_passphrase_file, keyring=False)
        change("passphrase", {"old": secret, "new": new or ""})
    command.output.progression.is_done = True
    command.print_result({"changed": True}, lambda out, _: out.print_line(load_words()["passphrase"]["changed"]))


_Change = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]


@contextmanager
def _open_keyholder(command: CommandContext, secret: str) -> Iterator[_Change]:
    """What changes the key file: the engine that runs, else this process; the vault itself stays as it is."""
    from app.engine.connection import connect, open_root
    from core.engine.home.keys import HomeKeys

    keys = HomeKeys(command.app_context.home)
    with open_root(command.app_context, secret) as root:
        remote = connect(command.app_context, root)
    if remote is not None:
        try:
            yield remote.call
        finally:
            remote.close()
        return

    def call_changed(verb: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if verb == "passphrase":
            keys.change_passphrase(params["old"], params["new"])
            return {"changed": True}
        if "confirm" in params:
            return {"holds": keys.confirm_recovery_code(params["confirm"])}
        return {"recovery_code": keys.new_recovery_code(params["secret"])}

    yield call_changed


def _renew_code(command: CommandContext, secret: str, change: _Change) -> None:
    """Show a new code, and put it in force only when it was written out and, at a terminal, typed back."""
    out, words = command.output, load_words()["passphrase"]
    code = str(change("recovery_code", {"secret": secret})["recovery_code"])
    out.print_lines(["", words["code"].format(code=code), "", words["keep"]])
    if out.as_json:
        out.print_document({"recovery_code": code})
    out.flush()
    typed = code
    if sys.stdin.isatty() and not out.as_json:
        typed = str(click.prompt(words["back"], err=True))
    if not change("recovery_code", {"confirm": typed})["holds"]:
        raise UserError(Code.WRONG_SECRET, words["given_up"])
    out.progression.is_done = True
    out.print_line(words["holds"])


@loci.command("rotate-keys")
@with_command
def rotate_keys(command: CommandContext) -> None:
    """Encrypt the whole vault under new keys.

    Use it when somebody may have had the keys: the old ones open the vault no more. The passphrase stays, it is asked
    for or read from --passphrase-file; the recovery code becomes a new one, which is shown before anything is changed.
    The vault is closed meanwhile, and assistants reach it again afterwards with the tokens they have.
    """
    from app.engine.connection import ask_secret

    secret, out, words = ask_secret(command.app_context), command.output, load_words()["rotate_keys"]
    with _open_with_secret(command, secret) as session:
        command.warn_if_older(session)
        code = str(session.call("rotate_keys", {"secret": secret})["recovery_code"])
        out.print_lines(["", load_words()["passphrase"]["code"].format(code=code), "", words["keep"]])
        typed = code
        if sys.stdin.isatty() and not out.as_json:
            typed = str(click.prompt(load_words()["passphrase"]["back"], err=True))
        out.flush()
        with out.show_progress(enabled=True) as report_progress:
            done = session.call("rotate_keys", {"confirm": typed}, report_progress)
    if not done["holds"]:
        raise UserError(Code.WRONG_SECRET, words["given_up"])
    out.progression.is_done = True
    command.print_result({"recovery_code": code, **done}, _print_rotation)


def _print_rotation(out: Output, done: Row) -> None:
    words = load_words()["rotate_keys"]
    out.print_line(words["done"])
    for name in ("old_backups", "closed_copies"):
        if done[name]:
            out.print_line(words[name].format(names=", ".join(done[name])))


@loci.command()
@click.argument("state", type=click.Choice(["on", "off"]))
@with_command
def keyring(command: CommandContext, state: str) -> None:
    """Let the system keyring open the vault, or no longer.

    The passphrase or the recovery code is asked for, or read from --passphrase-file.
    """
    from app.engine.connection import ask_secret

    secret = ask_secret(command.app_context)
    with _open_with_secret(command, secret) as session:
        done = session.call("keyring", {"secret": secret, "use": state == "on"})
    command.output.progression.is_done = True
    words = load_words()["keyring"]
    told = words["on" if done["in_keyring"] else "off" if done["is_removed"] else "left"]
    command.print_result(done, lambda out, _: out.print_line(told))


@contextmanager
def _open_with_secret(command: CommandContext, secret: str) -> Iterator[VerbSession]:
    """The engine that runs, else one in this process, opened by a secret that was asked for already."""
    from app.engine.connection import connect, open_root

    root = open_root(command.app_context, secret)
    try:
        session: VerbSession | None = connect(command.app_context, root)
        if session is None:
            from app.engine.local_session import open_local_session

            session = open_local_session(command.app_context, root, command.output.print_note)
        else:
            root.wipe()
    except BaseException:
        root.wipe()
        raise
    try:
        yield session
    finally:
        session.close()


@loci.command()
@click.option("--limit", type=click.IntRange(1, 500), help="Finished jobs to list. Default: 50.")
@with_command
def jobs(command: CommandContext, limit: int | None) -> None:
    """List background jobs: queued, finished, and when each kind is due."""
    command.print_result(command.call("jobs", {"limit": limit}), _print_jobs)


def _print_jobs(out: Output, reply: Row) -> None:
    words = load_words("jobs")
    if reply["paused"]:
        out.print_line(words["paused"])
    elif reply["holds"]:
        out.print_line(reply["holds"])
    out.print_table(
        [
            (row["title"], f"{_describe_state(row)}, {_describe_time(row)}: {_describe_result(row)}")
            for row in reply["jobs"]
        ]
    )
    if reply["jobs"]:
        out.print_line()
    out.print_table([(beat["title"], _describe_due(beat)) for beat in reply["calendar"]])


def _describe_due(beat: Row) -> str:
    words = load_words("jobs")
    last = words["never"] if beat["last_at"] is None else format_minute(beat["last_at"])
    following = words["as_needed"] if beat["next_at"] is None else format_minute(beat["next_at"])
    following = words["now"] if beat["due"] else following
    return str(words["due"].format(last=last, next=following))


def _describe_state(row: Row) -> str:
    state_word = load_words("jobs")["states"][row["state"]]
    if row["state"] == "running" and row["total"]:
        return f"{state_word} {row['progress']:,}/{row['total']:,}"
    if row["code"]:
        return f"{state_word} ({row['code']})"
    return f"{state_word}, {load_words('jobs')['undone']}" if row["undone"] else str(state_word)


def _describe_time(row: Row) -> str:
    return format_minute(row["finished_at"] or row["started_at"] or row["created_at"])


def _describe_result(row: Row) -> str:
    return row["waits_for"] or describe_report(row["report"])


def describe_report(report: Row) -> str:
    """What a run did, as far as it did anything.

    Args:
        report: counts by name; of a consolidation the report of seed A.

    Returns:
        Counts in words, with commas; "nothing" where all are 0.
    """
    forms = load_words("jobs")["counts"]
    flat = {**report, **{k: v for part in ("contradictions", "compressed") for k, v in report.get(part, {}).items()}}
    flat |= {f"pruned_{name}": count for name, count in report.get("pruned", {}).items()}
    counts = [format_count(form, flat[name]) for name, form in forms.items() if flat.get(name)]
    return ", ".join(counts) or str(load_words("jobs")["nothing"])


@loci.command()
@click.option("--dry-run", is_flag=True, help="Show what a run would do; write nothing.")
@with_command
def consolidate(command: CommandContext, dry_run: bool) -> None:
    """Merge duplicates, settle contradictions where trust allows it, make digests, archive outdated memories.

    Everything it does is one step that `loci undo` takes back.
    """
    with command.open_session() as session, command.output.show_progress(enabled=True) as report_progress:
        reply = session.call("consolidate", {"dry_run": True} if dry_run else {}, report_progress)
    command.print_result(reply, _print_consolidation)


def _print_consolidation(out: Output, reply: Row) -> None:
    words = load_words("jobs")
    out.print_line(words["would" if reply["dry_run"] else "done"].format(what=describe_report(reply)))
    _print_undo(out, [reply["step"]] if reply["step"] else [])


@loci.command()
@with_command
def sweep(command: CommandContext) -> None:
    """Check fading memories: mark them, restore what was confirmed, archive what is not protected."""
    with command.open_session() as session, command.output.show_progress(enabled=True) as report_progress:
        reply = session.call("sweep", {}, report_progress)
    command.print_result(reply, _print_sweep)


def _print_sweep(out: Output, reply: Row) -> None:
    words = load_words("jobs")
    parts = [describe_report(reply["swept"]), describe_report(reply["episodes"])]
    what = ", ".join(part for part in parts if part != words["nothing"]) or words["nothing"]
    out.print_line(words["done"].format(what=what))
    _print_undo(out, reply["steps"])


@loci.command()
@click.argument("space", required=False)
@click.argument("kind", required=False, default="*", type=click.Choice(["*", *(kind.value for kind in Kind)]))
@click.option("--days", type=click.IntRange(1, 36_500), help="Archive them after so many days.")
@click.option("--drop", is_flag=True, help="Take the rule away: they stay.")
@click.option("--dry-run", is_flag=True, help="Show what the rule would archive; change nothing.")
@with_command
def retention(
    command: CommandContext, *, space: str | None, kind: str, days: int | None, drop: bool, dry_run: bool
) -> None:
    """How long memories are kept: list the rules, or set one for a SPACE and KIND.

    Days count from when a memory was stored or last confirmed. The sweep then archives it; undoing that run brings
    it back. * stands for every space or kind. Pinned memories and those that wait for a decision are kept.
    """
    if (space is None) != (days is None and not drop) or (drop and (days is not None or dry_run)):
        raise click.UsageError("Give a SPACE with --days or with --drop, or nothing to list the rules.")
    asked: dict[str, Any] = {} if space is None else {"space": space, "kind": kind, "days": days or 0}
    if dry_run:
        asked["dry_run"] = True
    command.print_result(command.call("retention", asked), _print_retention)


def _print_retention(out: Output, reply: Row) -> None:
    words = load_words()["retention"]
    if not reply["rules"]:
        out.print_line(words["none"])
    for rule in reply["rules"]:
        place = words["everywhere"] if rule["space"] == "*" else escape_controls(rule["space"])
        kind = words["every_kind"] if rule["kind"] == "*" else rule["kind"]
        over = format_count(words["over"], rule["over"])
        out.print_line(words["rule"].format(place=place, kind=kind, days=f"{rule['days']:,}", over=over))


def _print_undo(out: Output, steps: Sequence[str]) -> None:
    for step in steps:
        out.print_line(load_words("jobs")["undo"].format(step=step))


_STATES = ("ok", "warn", "fail")


@loci.command()
@with_command
def doctor(command: CommandContext) -> None:
    """Look whether everything Loci needs is there.

    No passphrase is asked for and nothing is changed. It ends with 1 where something keeps Loci from working.
    """
    from app.engine.doctor import examine_all  # it tries every library there is; the other verbs need none of them

    found = examine_all(command.app_context)
    worst = max(found, key=lambda one: _STATES.index(one.state)).state
    checks = [
        {"check": one.check, "state": one.state, "sentence": one.sentence, "do": one.advice or None} for one in found
    ]
    command.print_result({"state": worst, "checks": checks}, lambda out, _: _print_findings(out, found, worst))
    if worst == "fail":
        click.get_current_context().exit(1)


def _print_findings(out: Output, found: Sequence[Finding], worst: str) -> None:
    words = load_words("doctor")
    width = max(len(one.title) for one in found)
    for one in found:
        out.print_line(f"{words['states'][one.state]:<5} {one.title:<{width}}  {one.sentence}")
        if one.advice:
            out.print_line(f"{'':<{width + 8}}{one.advice}")
    summary = words["sum"][worst]
    count = sum(one.state == worst for one in found)
    out.print_line(summary if isinstance(summary, str) else format_count(summary, count))
