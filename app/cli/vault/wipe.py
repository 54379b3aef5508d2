"""The verb that removes Loci from this computer: what goes and what stays, one question, a report.

Must not do: remove anything without the secret and the word; open a vault that another process has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.output import Output, OutputError
from app.cli.root import CommandContext, loci, with_command
from core.errors import Code, LociError, PreconditionError, UserError

if TYPE_CHECKING:
    from core.engine.facade import Engine
    from core.types.files.wipe import WipePreview, WipeReport


@loci.command()
@click.option("--dry-run", is_flag=True, help="Show what would be removed and what would not; remove nothing.")
@click.option(
    "--report", "to", type=click.Path(path_type=Path, dir_okay=False), help="Also write the report to a file."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_command
def wipe(command: CommandContext, *, dry_run: bool, to: Path | None, yes: bool) -> None:
    """Remove all of Loci from this computer: the vault, its keys, backups in its folder, entries for assistants.

    For a computer that is sold or given away. The passphrase or the recovery code is asked for, or read from
    --passphrase-file. First it shows what goes, what stays, and which copies are known. Other devices are told that
    this one leaves. The keys are overwritten before anything else, so that nothing can be undone. A wipe that was
    interrupted is finished by the next one.
    """
    from core.engine.home.keys import HomeKeys

    app_context = command.app_context
    if to is not None:
        to = _check_report_file(to, app_context.home.path)
    if dry_run and os.path.lexists(app_context.home.wiping):
        raise PreconditionError("A wipe was begun here and is not finished; without --dry-run it goes on.")
    finished = HomeKeys(app_context.home).finish_wipe()
    if finished is not None:
        _tell(command, finished, to)
        return
    engine, secret = _open_home(command)
    try:
        removal = engine.begin_wipe()
        preview = removal.preview(secret).result()
        if dry_run or not _is_wanted(command, preview, yes=yes):
            if dry_run:
                command.print_result(_preview_document(preview), lambda out, _: _print_preview(out, preview))
            return
        report = removal.run(secret).result()
    finally:
        engine.close()
    _tell(command, report, to)


def _open_home(command: CommandContext) -> tuple[Engine, str]:
    """An engine in this process that has the home, and the secret; where the vault is damaged it stays closed."""
    from app.engine.compose import build_engine
    from app.engine.connection import ask_secret
    from core.engine.facade import HomeKeys

    app_context = command.app_context
    keys = HomeKeys(app_context.home)
    keys.finish_replacement()
    if not keys.exists:
        raise UserError(Code.NO_VAULT, "There is no vault here; there is nothing to remove.")
    secret = ask_secret(app_context)
    root = keys.open(secret)
    engine = build_engine(app_context, command.output.print_note, is_for_one_command=True)
    try:
        engine.claim_home()
        engine.unlock(root)
    except LociError as error:
        root.wipe()
        if error.code is not Code.VAULT_DAMAGED:
            engine.close()
            raise
        from core.config.wipe_wording import wipe_words

        command.output.print_note(wipe_words()["cli"]["damaged"].format(code=error.code.value))
    except BaseException:
        root.wipe()
        engine.close()
        raise
    return engine, secret


def _is_wanted(command: CommandContext, preview: WipePreview, *, yes: bool) -> bool:
    """Show what goes, and have the word typed; a script has to say it."""
    from core.config.wipe_wording import preview_lines, warning_lines, wipe_words

    words, out = wipe_words()["cli"], command.output
    if yes:
        for line in warning_lines(preview):
            out.print_note(line)
        return True
    if not (sys.stdin.isatty() and not out.as_json):
        raise PreconditionError(words["no_terminal"])
    for line in [*preview_lines(preview), ""]:
        out.print_note(line)
    if str(click.prompt(words["ask"], err=True)).strip().casefold() != words["word"]:
        raise PreconditionError(words["unasked"])
    return True


def _print_preview(out: Output, preview: WipePreview) -> None:
    from core.config.wipe_wording import preview_lines, wipe_words

    out.print_lines([*preview_lines(preview), "", wipe_words()["cli"]["nothing"]])


def _preview_document(preview: WipePreview) -> dict[str, Any]:
    return {"dry_run": True, **asdict(preview)}


def _tell(command: CommandContext, report: WipeReport, to: Path | None) -> None:
    """Print the report, and write it to a file; it ends with 1 where something is left."""
    from core.config.wipe_wording import report_lines

    command.output.progression.is_done = True
    lines = report_lines(report)
    document: Mapping[str, Any] = {**asdict(report), "is_complete": report.is_complete}
    command.print_result(document, lambda out, _: out.print_lines(lines))
    if to is not None:
        _write_report(to, report)
    if not report.is_complete:
        click.get_current_context().exit(1)


def _check_report_file(to: Path, home: Path) -> Path:
    """Refuse a place that goes with the vault, before anything is removed."""
    found = to.expanduser().absolute()
    if found.resolve().is_relative_to(home.resolve()):
        raise UserError(Code.INVALID_INPUT, "The folder of the vault is removed; choose another place for the report.")
    if not found.parent.is_dir():
        raise PreconditionError("The directory for the report does not exist.")
    if os.path.lexists(found):
        raise PreconditionError("There is a file of that name already; choose another one for the report.")
    return found


def _write_report(to: Path, report: WipeReport) -> None:
    from core.engine.facade import write_wipe_report

    try:
        write_wipe_report(report, to)
    except LociError:
        raise OutputError("What was removed stands above; the report could not be written to its file.") from None
