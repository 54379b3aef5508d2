"""The command line's verb on watched folders: add, list, pause, resume, remove, log, keep, archive.

Must not do: add a folder without `--yes` where nobody can be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.imports import print_import
from app.cli.messages import format_count, format_minute, load_words
from app.cli.output import Output, escape_controls, one_line
from app.cli.root import CommandContext, loci, remove_missing, with_command
from app.engine.session import VerbSession, absolute_path
from core.config.folder_wording import describe_counts, describe_folder, watch_words
from core.types.values import IMPORT_FORMATS

_ACTIONS = ("add", "list", "status", "pause", "resume", "remove", "log", "keep", "archive")
_NAMELESS = ("list", "status")
_SHORT_ID = 12
_SHOWN_FILES = 20


@loci.command()
@click.argument("action", type=click.Choice(_ACTIONS))
@click.argument("target", required=False)
@click.argument("file", required=False)
@click.option("--format", "form", type=click.Choice(IMPORT_FORMATS), help="With add: the format. Default: detected.")
@click.option("--space", help="With add: the space (wing) that everything goes to. Default: home.")
@click.option("--dry-run", is_flag=True, help="With add: show what it would bring; change nothing.")
@click.option("--yes", is_flag=True, help="With add: do not ask.")
@click.option("--limit", type=click.IntRange(1, 500), help="With log: so many lines. Default: 50.")
@with_command
def watch(
    command: CommandContext,
    action: str,
    target: str | None,
    file: str | None,
    *,
    form: str | None,
    space: str | None,
    dry_run: bool,
    yes: bool,
    limit: int | None,
) -> None:
    """Watched folders: add FOLDER, list, pause ID, resume ID, remove ID, log ID, keep ID [FILE], archive ID [FILE].

    What is new in a watched folder comes by itself while Loci runs; an edited note becomes a new version. What becomes
    of the memories of a deleted file you decide: keep them, or archive them. Nothing outside the folder is read.
    """
    _check_usage(action, target, file)
    with command.open_session() as session:
        if action == "add":
            _add(
                command,
                session,
                {"path": str(absolute_path(target or "")), "format": form, "space": space},
                dry_run,
                yes,
            )
            return
        params = {
            "action": "list" if action == "status" else action,
            "id": target,
            "file": file,
            "limit": limit if action == "log" else None,
        }
        done = session.call("watch", remove_missing(params))
    command.print_result(done, lambda out, found: _PRINTERS.get(action, _print_folder)(out, found, action))


def _check_usage(action: str, target: str | None, file: str | None) -> None:
    if (action in _NAMELESS) is (target is not None):
        what = "takes nothing more" if action in _NAMELESS else "needs a folder" if action == "add" else "needs an ID"
        raise click.UsageError(f"{action} {what}.")
    if file is not None and action not in ("keep", "archive"):
        raise click.UsageError("Only keep and archive take a FILE.")


def _add(
    command: CommandContext,
    session: VerbSession,
    given: Mapping[str, Any],
    dry_run: bool,
    yes: bool,
) -> None:
    """Show what a folder would bring, ask, and watch it."""
    may_ask = sys.stdin.isatty() and not command.output.as_json
    if not (yes or dry_run or may_ask):
        raise click.UsageError("add asks first; where nobody can answer, give --yes.")
    words = load_words()["watch"]
    params = remove_missing({"action": "add", **given})
    with command.output.show_progress(enabled=True) as report_progress:
        report = session.call("watch", {**params, "dry_run": True}, report_progress)["report"]
    if dry_run:
        command.print_result(report, print_import)
        return
    print_import(command.output, report)
    if not yes and not click.confirm(words["ask"].format(path=given["path"]), default=False, err=True):
        command.output.print_note(words["not_added"])
        return
    with command.output.show_progress(enabled=True) as report_progress:
        done = session.call("watch", {**params, "format": report["format"]}, report_progress)
    command.print_result(done, lambda out, found: _print_folder(out, found, "add"))


def _print_folder(out: Output, found: Mapping[str, Any], action: str) -> None:
    folder, words = found["folder"], load_words()["watch"]
    path = escape_controls(folder["path"])
    out.print_line(words["done"][action].format(path=path))
    if action == "add":
        out.print_line(format_count(words["brought"], folder["memories"]))
        if folder["state"] == "resting":
            out.print_line(words["resting"])
        out.print_line(words["more"].format(id=folder["id"][-_SHORT_ID:]))


def _print_folders(out: Output, found: Mapping[str, Any], _action: str) -> None:
    words = load_words()["watch"]
    if not found["folders"]:
        out.print_line(words["none"])
    for folder in found["folders"]:
        out.print_line(f"{folder['id'][-_SHORT_ID:]}  {one_line(escape_controls(folder['path']))}")
        rows = [
            (words["state"], describe_folder(folder["state"], folder["means"], folder["reason"], folder["code"])),
            (words["holds"], format_count(words["memories"], folder["memories"], files=f"{folder['files']:,}")),
            (
                words["format"],
                words["into"].format(format=folder["format"], space=one_line(escape_controls(folder["space"]))),
            ),
            (words["came"], words["never"] if folder["came_at"] is None else format_minute(folder["came_at"])),
        ]
        if folder["asked"]:
            rows.append((words["asked"], format_count(words["asks"], folder["asked"], id=folder["id"][-_SHORT_ID:])))
        out.print_table([(f"  {name}", value) for name, value in rows])


def _print_log(out: Output, found: Mapping[str, Any], _action: str) -> None:
    words = load_words()["watch"]
    for entry in found["entries"]:
        name = f" · {one_line(escape_controls(entry['file']))}" if entry["file"] else ""
        event = watch_words()["event"][entry["event"]]
        counts = "; ".join(describe_counts(entry["counts"], entry["event"]))
        out.print_line(f"{format_minute(entry['at'])}  {event}{name}" + (f": {counts}" if counts else ""))
        if entry["step"] is not None:
            out.print_line(words["undo"].format(step=entry["step"]))
    if found["gone"]:
        out.print_line()
        out.print_line(format_count(words["gone"], len(found["gone"])))
        for one in found["gone"][:_SHOWN_FILES]:
            line = words["says_less" if one["is_there"] else "vanished"]
            out.print_line("  " + format_count(line, one["memories"], file=one_line(escape_controls(one["file"]))))
        if len(found["gone"]) > _SHOWN_FILES:
            out.print_line(words["more_gone"].format(count=f"{len(found['gone']) - _SHOWN_FILES:,}"))
        out.print_line(words["decide"])


_PRINTERS = {"list": _print_folders, "status": _print_folders, "log": _print_log}
