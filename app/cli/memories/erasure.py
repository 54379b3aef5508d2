"""The command line's verb erase: what goes is told first, and a person has to agree.

Must not do: erase without `--yes` where nobody can be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.output import Output, one_line, visible
from app.cli.root import Command, loci, with_command
from app.cli.words import counted, first_words, words


@loci.command()
@click.argument("id")
@click.option("--whole-chain", is_flag=True, help="All versions of it, older and newer ones.")
@click.option("--dry-run", is_flag=True, help="Only tell what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_command
def erase(command: Command, id: str, *, whole_chain: bool, dry_run: bool, yes: bool) -> None:  # noqa: A002 - the contract's word
    """Remove a memory for good, with every trace of it; nothing brings it back."""
    may_ask = sys.stdin.isatty() and not command.output.as_json
    if not (yes or dry_run or may_ask):
        raise click.UsageError("erase asks first; where nobody can answer, give --yes.")
    asked = {"id": id, "whole_chain": whole_chain or None}
    with command.asking() as session:
        if not yes:
            shown = session.call("show", {"id": id})
            told = session.call("erase", _given({**asked, "dry_run": True}))
            if dry_run:
                command.reply(told, lambda out, found: _would(out, shown, found))
                return
            _would(command.output, shown, told)
            if not click.confirm(words()["erase"]["ask"], default=False, err=True):
                command.output.note(words()["erase"]["kept"])
                return
        done = session.call("erase", _given(asked))
    command.reply(done, _erased)


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _would(out: Output, shown: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    said = words()["erase"]
    out.line(f"“{first_words(shown['text'])}”")
    out.line(counted(said["would"], told["memories"]))
    for why in ("version", "beneath", "made_of_it"):
        count = sum(one["why"] == why for one in told["items"])
        if count:
            out.line("  " + counted(said[why], count))
    for name in ("versions", "same_words"):
        if told[name]:
            out.line("  " + counted(said[name], told[name]))
    if told["back"]:
        out.line("  " + counted(said["back"], len(told["back"])))
    _backups(out, told)


def _erased(out: Output, done: Mapping[str, Any]) -> None:
    out.line(counted(words()["erase"]["done"], done["memories"]))
    _backups(out, done)


def _backups(out: Output, told: Mapping[str, Any]) -> None:
    if told["backups"]:
        out.line("  " + counted(words()["erase"]["backups"], len(told["backups"])))
        out.lines(f"    {one_line(visible(name))}" for name in told["backups"])
