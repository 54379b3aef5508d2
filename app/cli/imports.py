"""The command line's verbs on imports: import, unimport, distill."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from app.cli.messages import format_count, format_day, load_words
from app.cli.options import archive_passphrase_option
from app.cli.output import Output, escape_controls, open_stdin, refuse_stdin_twice
from app.cli.review import read_items
from app.cli.root import CommandContext, loci, remove_missing, with_command
from app.cli.undo import print_undone
from app.engine.session import VerbSession, absolute_path
from core.config.help_strings import read_help_strings
from core.errors import Code, EnvironmentFaultError, LociError, UserError
from core.types.values import IMPORT_FORMATS, LINES, Kind

_SHOWN_ERRORS = 10
_SHOWN_STATEMENTS = 20
_FROM_STDIN = "standard input"
_PART_BYTES, _SPOOL_BYTES = 1 << 20, 1 << 30
_LOOK_S = 0.25
_COMPARED = (Kind.FACT.value, Kind.RULE.value, Kind.PROCEDURE.value)


@loci.command(name="import")
@click.argument("path")
@click.option("--format", "form", type=click.Choice(IMPORT_FORMATS), help="The format. Default: detected.")
@click.option("--space", help="The space (wing) to import into. Default: home.")
@click.option("--dry-run", is_flag=True, help="Count what would be imported; write nothing.")
@click.option("--samples", is_flag=True, help="With --dry-run: show how a few texts of each source begin.")
@click.option("--only", multiple=True, metavar="SOURCE", help="Of several, this one alone; may be given again.")
@click.option("--without", multiple=True, metavar="SOURCE", help="Of several, not this one; may be given again.")
@click.option("--each-line", is_flag=True, help="Of a list in a text or Markdown file: each line a memory of its own.")
@click.option("--own", is_flag=True, help="Another vault of mine wrote this archive: keep its trust.")
@archive_passphrase_option
@with_command
def import_(
    command: CommandContext,
    *,
    path: str,
    form: str | None,
    space: str | None,
    dry_run: bool,
    samples: bool,
    only: tuple[str, ...],
    without: tuple[str, ...],
    each_line: bool,
    own: bool,
    secret_file: Path | None,
) -> None:
    """Bring in an export, a file or a folder of notes, or an encrypted archive of Loci.

    A folder or an archive may hold several exports: --dry-run lists each as a source, and --only and --without take
    its name or its format. `-` reads one file from standard input. The passphrase of an archive is asked for. What an
    archive of another vault brings into a vault with memories is trusted 0.5 at most, as it may be somebody else's;
    say --own where it is yours. A text or Markdown file is one memory; --dry-run says where it is a list.
    """
    if samples and not dry_run:
        raise UserError(Code.INVALID_INPUT, "--samples goes with --dry-run.")
    if not path.strip():
        raise UserError(Code.INVALID_INPUT, "Name the file or folder to import.")
    form = _format_by_line(form) if each_line else form
    with ExitStack() as stack:
        source = stack.enter_context(_spool_stdin(command)) if path == "-" else absolute_path(path)
        params: dict[str, Any] = {"path": str(source), "format": form, "space": space, "dry_run": dry_run or None}
        params |= {"only": list(only) or None, "without": list(without) or None, "own": own or None}
        params["sources"] = (dry_run and (samples or not command.output.as_json)) or None
        reply, judged = _run_import(command, remove_missing(params), secret_file)

    def print_reply(out: Output, done: Mapping[str, Any]) -> None:
        print_import(out, done, judged)
        _print_list(out, done)
        print_sources(out, done.get("sources", ()), with_samples=samples)

    command.print_result(reply, print_reply)


def _format_by_line(form: str | None) -> str:
    """The format of `--each-line`; no other may be named with it."""
    if form not in (None, LINES):
        raise UserError(Code.INVALID_INPUT, "--each-line is a format of its own; leave --format out.")
    return LINES


def _run_import(
    command: CommandContext, params: Mapping[str, Any], secret_file: Path | None
) -> tuple[dict[str, Any], Judged | None]:
    with command.open_session() as session:
        try:
            reply = _call_import(command, session, params)
        except LociError as error:
            if error.code is not Code.IMPORT_SECRET_NEEDED:
                raise
            from app.engine.connection import ask_archive_passphrase

            reply = _call_import(command, session, {**params, "passphrase": ask_archive_passphrase(secret_file)})
        judged = (
            None if command.output.as_json or reply["import_id"] is None else _count_judged(session, reply["import_id"])
        )
    return reply, judged


def _call_import(command: CommandContext, session: VerbSession, params: Mapping[str, Any]) -> dict[str, Any]:
    with command.output.show_progress(enabled=True) as report_progress:
        return session.call("import", params, report_progress)


def _read_parts(number: int) -> Iterator[bytes]:
    """What comes out of a descriptor, until its end.

    A signal that arrives between two reads would wait for the next byte, maybe for ever; so it is looked for first.
    """
    while True:
        while os.name == "posix" and not select.select([number], [], [], _LOOK_S)[0]:
            pass
        part = os.read(number, _PART_BYTES)
        if not part:
            return
        yield part


@contextmanager
def _spool_stdin(command: CommandContext) -> Iterator[Path]:
    """Standard input as a file for as long as the import runs; an import reads its file twice.

    It lies where only this person can read it, in memory where the system has a runtime directory.
    """
    found = command.app_context.environment
    refuse_stdin_twice(found.secret_file)
    stream = open_stdin("file to import")
    with found.scratch_folder() as folder:
        file = folder / _FROM_STDIN
        size = 0
        try:
            with file.open("xb") as spool:
                for part in _read_parts(stream.fileno()):
                    size += len(part)
                    if size > _SPOOL_BYTES:
                        sentence = "Standard input is too long for an import; save it as a file and import that."
                        raise UserError(Code.TEXT_TOO_LARGE, sentence)
                    spool.write(part)
        except OSError as error:
            code = Code.DISK_FULL if error.errno == errno.ENOSPC else Code.WRITE_FAILED
            sentence = "Standard input could not be kept for the import; save it as a file and import that."
            raise EnvironmentFaultError(code, sentence) from None
        if not size:
            raise UserError(Code.INVALID_INPUT, "Standard input is empty; a file to import is expected there.")
        yield file


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of an import's facts once they were compared with what stood.

    Attributes:
        facts: how many of its memories are compared: facts, rules and procedures.
        waiting: questions about its memories that wait; `is_more` where the queue is longer than it is listed.
    """

    facts: int
    read_items: int
    is_more: bool


def _count_judged(session: VerbSession, import_id: str) -> Judged:
    about = {"import_id": import_id, "status": "all", "limit": 1}
    facts = sum(int(session.call("list", {**about, "kind": kind})["total"]) for kind in _COMPARED)
    queue = read_items(session)
    own = sum(
        any(side is not None and side["import_id"] == import_id for side in (item["existing"], item["incoming"]))
        for item in queue
    )
    return Judged(facts, own, len(queue) >= load_words()["import"]["listed"])


def print_import(out: Output, reply: Mapping[str, Any], judged: Judged | None = None) -> None:
    """Print what an import brought, or would bring.

    Args:
        reply: the reply of `import`.
        judged: what became of it afterwards, where it was stored and that is known.
    """
    messages = reply["messages"]
    done = reply["import_id"] is not None
    if not reply["stored"] and reply["skipped"].get("known"):
        out.print_line(f"Nothing new: everything was imported before ({reply['format']}).")
    else:
        forms = load_words()["counts"]["imported" if done else "would_import"]
        out.print_line(format_count(forms, reply["stored"], format=reply["format"]))
    rows: list[tuple[str, object]] = [
        ("conversations", reply["conversations"]),
        ("messages", f"{messages['user']} yours, {messages['assistant']} the assistant's, {messages['other']} other"),
        (load_words()["import"]["proposed" if judged is None else "waits"], _format_waiting(reply, judged)),
        ("dates", _format_dates(reply["earliest"], reply["latest"])),
    ]
    if reply.get("updated"):
        rows.append((load_words()["import"]["updated"], reply["updated"]))
    if reply.get("sealed"):
        rows.append((load_words()["import"]["sealed"], reply["sealed"]))
    rows += [(f"left out: {_name_skipped(reason, count)}", count) for reason, count in sorted(reply["skipped"].items())]
    out.print_table(rows)
    if reply.get("is_foreign") and reply["stored"]:
        out.print_line(load_words()["import"]["foreign"])
    for error in reply["errors"][:_SHOWN_ERRORS]:
        out.print_line(f"could not read {escape_controls(error['where'])}: {escape_controls(error['message'])}")
    if len(reply["errors"]) > _SHOWN_ERRORS:
        out.print_line(f"… and {len(reply['errors']) - _SHOWN_ERRORS} more; --json lists them all.")
    if judged is not None:
        _print_judged(out, judged)
    if done and reply["stored"] and sum(messages.values()):
        out.print_line(load_words()["distill"]["offer"].format(id=reply["import_id"]))
    if done and reply["stored"]:
        out.print_line(f"Undo it with: loci unimport {reply['import_id']}")


def _print_list(out: Output, reply: Mapping[str, Any]) -> None:
    """Say of a list what else it could be, and where it came in as that before."""
    words = load_words()["import"]
    if reply["skipped"].get("known_otherwise"):
        out.print_line(words["otherwise"])
    elif reply.get("list_lines") and reply["format"] != LINES:
        out.print_line(words["list"].format(count=f"{reply['list_lines']:,}"))


def print_sources(out: Output, sources: Sequence[Mapping[str, Any]], *, with_samples: bool) -> None:
    """Print the sources of a dry run, those that nobody can read behind the others.

    Args:
        sources: of the reply; of one alone only the samples tell something new.
        with_samples: whether to show how their texts begin.
    """
    words = load_words()["import"]["sources"]
    readable = [one for one in sources if one["format"] and (one["records"] or not one["problem"])]
    if len(sources) > 1:
        out.print_line(format_count(words["found"], len(readable)))
    for one in readable:
        if len(sources) > 1:
            row = {"name": escape_controls(one["name"]), "format": one["format"], "new": f"{one['new']:,}"}
            out.print_line(words["row"].format(**row, dates=_format_dates(one["earliest"], one["latest"])))
        for sample in one["samples"] if with_samples else ():
            out.print_line(f"    “{escape_controls(sample)}”")
    known = [id(one) for one in readable]
    for one in (one for one in sources if id(one) not in known):
        reason = escape_controls(one["problem"]) or format_count(words["unknown"], one["left_out"])
        out.print_line(words["unread"].format(name=escape_controls(one["name"]), reason=reason))


def _format_dates(earliest: str | None, latest: str | None) -> str:
    """The span of what was said, where its times are known."""
    first, last = format_day(earliest), format_day(latest)
    if not first or not last:
        return "unknown"
    return first if first == last else f"{first} to {last}"


def _name_skipped(reason: str, count: int) -> str:
    """What was left out, in the words of the window."""
    known: Mapping[str, Mapping[str, str]] = read_help_strings("skips")["reasons"]
    return known[reason]["one" if count == 1 else "many"] if reason in known else reason.replace("_", " ")


def _format_waiting(reply: Mapping[str, Any], judged: Judged | None) -> str:
    """Proposals, and the questions that came up when its facts were compared."""
    if judged is None:
        return str(reply["proposals"])
    count = max(judged.read_items, reply["proposals"])
    return str(load_words()["import"]["at_least"]).format(count=count) if judged.is_more else str(count)


def _print_judged(out: Output, judged: Judged) -> None:
    forms = load_words()["import"]
    left = judged.facts - forms["at_once"]
    if left > 0:
        out.print_line(str(forms["reading"]).format(done=f"{forms['at_once']:,}", left=f"{left:,}"))
    if judged.read_items:
        out.print_line(str(forms["look"]))


@loci.command()
@click.option("--import", "import_id", metavar="ID", help="Of one import alone.")
@click.option("--dry-run", is_flag=True, help="Show what would be made; write nothing.")
@with_command
def distill(command: CommandContext, import_id: str | None, dry_run: bool) -> None:
    """Make statements of what was said: who has, likes, does what, each with the words of its source.

    Everything a run makes is one step that `loci undo` takes back.
    """
    params: dict[str, Any] = {"dry_run": True} if dry_run else {}
    if import_id is not None:
        params["import_id"] = import_id
    with command.open_session() as session, command.output.show_progress(enabled=True) as report_progress:
        reply = session.call("distill", params, report_progress)
        while "next" in reply:
            page = session.call("distill", {**params, "after": reply.pop("next")}, report_progress)
            page["statements"] = [*reply["statements"], *page["statements"]]
            page["small_talk"] = [*reply["small_talk"], *page["small_talk"]]
            reply = {**page, "skipped": reply["skipped"]}
    command.print_result(reply, lambda out, done: _print_statements(out, done, dry_run))


def _print_statements(out: Output, reply: Mapping[str, Any], dry_run: bool) -> None:
    forms = load_words()["distill"]
    statements = reply["statements"]
    again = sum(one["operation"] == "NOOP" for one in statements)
    out.print_line(format_count(forms["would" if dry_run else "made"], len(statements) - again))
    if again:
        out.print_line(format_count(forms["again"], again))
    for one in statements[:_SHOWN_STATEMENTS]:
        out.print_line(f"  {escape_controls(one['text'])}")
    if len(statements) > _SHOWN_STATEMENTS:
        out.print_line(str(forms["more"]).format(count=f"{len(statements) - _SHOWN_STATEMENTS:,}"))
    out.print_line(format_count(forms["small_talk"], len(reply["small_talk"])))
    rows = [(f"left out: {reason.replace('_', ' ')}", count) for reason, count in sorted(reply["skipped"].items())]
    out.print_table(rows)
    if statements and not dry_run:
        out.print_line(str(forms["undo"]))


@loci.command()
@click.argument("import_id")
@with_command
def unimport(command: CommandContext, import_id: str) -> None:
    """Remove exactly what one import brought.

    One that still runs is stopped first.
    """
    command.print_result(command.call("unimport", {"import_id": import_id}), print_undone)
