"""The command line's verb on other devices: pair, join, now, status, remove, leave.

Must not do: keep a code.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

import click

from app.cli.messages import format_count, format_day, load_words
from app.cli.output import Output, escape_controls, one_line
from app.cli.root import CommandContext, loci, remove_missing, with_command
from app.engine.session import absolute_path

_ACTIONS = ("pair", "join", "now", "status", "name", "remove", "leave")
_WITH_ARGUMENT = {"join": "code", "remove": "device", "name": "name"}
_SHORT_NAME = 40
_UNNAMED = "device"


@loci.command()
@click.argument("action", type=click.Choice(_ACTIONS))
@click.argument("argument", metavar="[CODE|NAME|DEVICE]", required=False)
@click.option("--folder", help="The folder that your devices share, by whatever program you like.")
@click.option("--name", help="With pair and join: the name of this device. Default: that of this computer.")
@click.option("--whole", is_flag=True, help="With now: tell everything, where a bundle of this device was lost.")
@with_command
def sync(
    command: CommandContext,
    action: str,
    argument: str | None,
    *,
    folder: str | None,
    name: str | None,
    whole: bool,
) -> None:
    """Other devices of yours: pair, join CODE, now, status, name NAME, remove DEVICE, leave.

    Devices exchange sealed and signed bundles of changes through a folder that you share between them, with a stick or
    a program of your choice; Loci itself opens no connection. What contradicts is asked in the review, an erased
    memory is erased everywhere, and an undo undoes everywhere. A device that was lost or sold is taken out by remove:
    it is not listened to any more, and can read nothing that comes after.
    """
    if (action in _WITH_ARGUMENT) is not (argument is not None):
        raise click.UsageError("join needs a CODE, name a NAME, remove a DEVICE; nothing else does.")
    if action == "join" and folder is None:
        raise click.UsageError("join needs --folder.")
    given = {
        "action": action,
        "folder": None if folder is None else str(absolute_path(folder)),
        "name": (name or platform.node()[:_SHORT_NAME] or _UNNAMED) if action in ("pair", "join") else None,
        "whole": whole or None,
        **({_WITH_ARGUMENT[action]: argument} if action in _WITH_ARGUMENT else {}),
    }
    done = command.call("sync", remove_missing(given), progress=True)
    command.print_result(done, lambda out, found: _print_done(out, action, found))


def _print_done(out: Output, action: str, done: Mapping[str, Any]) -> None:
    words = load_words()["sync"]
    if "code" in done:
        out.print_lines(["", words["code"].format(code=done["code"]), "", words["how"].format(code=done["code"])])
    if "removed" in done:
        out.print_line(words["removed"].format(name=escape_controls(done["removed"])))
        out.print_line(words["removed_told" if "report" in done else "removed_untold"])
    if "named" in done:
        out.print_line(words["named"].format(name=escape_controls(done["named"])))
    if "report" in done:
        _print_report(out, done["report"])
    if action == "join":
        out.print_line(words["joined"])
    elif action == "leave":
        out.print_line(words["left"])
        if not done["report"]["wrote"]:
            out.print_line(words["left_untold"])
    elif action == "status":
        _print_status(out, done)


def _print_report(out: Output, report: Mapping[str, Any]) -> None:
    words = load_words()["sync"]
    for name in report["admitted"]:
        out.print_line(words["admitted"].format(name=escape_controls(name)))
    taken = report["rows"]
    out.print_line(format_count(words["taken"], taken) if taken else words["nothing_taken"])
    for name in ("new", "gone", "asked", "refused"):
        if report[name]:
            out.print_line(format_count(words[name], report[name]))
    out.print_line(format_count(words["told"], report["told"]) if report["told"] else words["nothing_told"])
    if report["removed"]:
        out.print_line(format_count(words["cleared"], report["removed"]))
    _print_problems(out, report["problems"])


def _print_status(out: Output, done: Mapping[str, Any]) -> None:
    words = load_words()["sync"]
    if not done["is_on"]:
        out.print_line(words["off"])
        return
    folder = escape_controls(done["folder"])
    out.print_table(
        [
            (words["folder"], folder if done["is_there"] else words["folder_gone"].format(folder=folder)),
            (words["synced"], format_day(done["synced_at"]) or words["never"]),
            (words["pending"], done["pending"]),
            (words["kept"], done["kept"]),
        ]
    )
    out.print_lines(f"  {_format_device(one)}" for one in done["devices"])
    if done["kept"] > 1:
        out.print_line(words["kept_note"])
    if done["trouble"]:
        out.print_line(words["trouble"].format(sentence=done["trouble"]))
    _print_problems(out, done["problems"])
    if done["quarantine"]:
        out.print_line(words["quarantine"].format(folder=escape_controls(done["quarantine"])))


def _format_device(device: Mapping[str, Any]) -> str:
    words, name = load_words()["sync"], one_line(escape_controls(device["name"]))
    if device["is_own"]:
        return str(words["own"].format(name=name))
    if device["left_at"] is not None:
        return str(words["gone_device"].format(name=name, date=format_day(device["left_at"])))
    since = format_day(device["since"])
    if device["behind"]:
        return format_count(words["behind"], device["behind"], name=name, date=since)
    return str(words["others"].format(name=name, date=since))


def _print_problems(out: Output, problems: Sequence[Mapping[str, Any]]) -> None:
    if not problems:
        return
    words = load_words()["sync"]
    out.print_line(format_count(words["problems"], len(problems)))
    for one in problems:
        sentence = words["problem"][one["kind"]].format(
            file=one_line(escape_controls(one["file"])),
            device=one_line(escape_controls(one["device"])),
            number=one["number"],
        )
        out.print_line(f"  {sentence}")
