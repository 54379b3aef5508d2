"""The command line's verbs erase and certificate."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from app.cli.messages import first_words, format_count, format_minute, load_words
from app.cli.output import Output, escape_controls, one_line
from app.cli.root import CommandContext, loci, remove_missing, with_command
from app.cli.vault.administration import may_replace
from app.engine.session import VerbSession, absolute_path
from core.config.erasure_wording import certificate_lines, erasure_words, preview_lines

_SUBJECTS = ("id", "about", "import_id", "client")
_NAME = 60


@loci.command()
@click.argument("id", required=False)
@click.option("--about", metavar="ENTITY", help="Everything about an entity: its name or id.")
@click.option("--import", "import_id", metavar="IMPORT", help="Everything that an import added.")
@click.option("--client", metavar="NAME", help="Everything that an assistant stored.")
@click.option("--whole-chain", is_flag=True, help="All its versions, older and newer.")
@click.option("--rewrite-backups", is_flag=True, help="Remove it from the backups in the home, too.")
@click.option("--dry-run", is_flag=True, help="Show what would be erased; erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_command
def erase(
    command: CommandContext,
    id: str | None,  # noqa: A002 - the contract's word
    *,
    about: str | None,
    import_id: str | None,
    client: str | None,
    whole_chain: bool,
    rewrite_backups: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Erase a memory for good, with every trace of it. This cannot be undone.

    Or erase everything about an entity, from an import, or from an assistant. A certificate says what was erased and
    what a search for it found afterwards; `loci certificate` shows it again.
    """
    subject = remove_missing({"id": id, "about": about, "import_id": import_id, "client": client})
    if len(subject) != 1:
        raise click.UsageError("Name one thing to erase: an ID, --about, --import or --client.")
    may_ask = sys.stdin.isatty() and not command.output.as_json
    if not (yes or dry_run or may_ask):
        raise click.UsageError("erase asks first; where nobody can answer, give --yes.")
    asked = {**subject, "whole_chain": whole_chain or None}
    with command.open_session() as session:
        if not yes and not _is_agreed(command, session, asked, dry_run=dry_run):
            return
        with command.output.show_progress(enabled=True) as report_progress:
            params = remove_missing({**asked, "rewrite_backups": rewrite_backups or None})
            done = session.call("erase", params, report_progress)
    command.print_result(done, _print_erasure)


def _is_agreed(command: CommandContext, session: VerbSession, asked: Mapping[str, Any], *, dry_run: bool) -> bool:
    """Show what would go, and ask; a dry run only shows it."""
    shown = session.call("show", {"id": asked["id"]}) if "id" in asked else None
    preview = session.call("erase", remove_missing({**asked, "dry_run": True}))
    if dry_run:
        command.print_result(preview, lambda out, found: _print_erase_preview(out, asked, shown, found))
        return False
    _print_erase_preview(command.output, asked, shown, preview)
    if click.confirm(load_words()["erase"]["ask"], default=False, err=True):
        return True
    command.output.print_note(load_words()["erase"]["kept"])
    return False


def _print_erase_preview(
    out: Output, asked: Mapping[str, Any], shown: Mapping[str, Any] | None, preview: Mapping[str, Any]
) -> None:
    words = load_words()["erase"]
    if shown is not None:
        out.print_line(f"“{first_words(shown['text'])}”")
        out.print_line(format_count(words["would"], preview["memories"]))
    else:
        subject = next(name for name in _SUBJECTS if asked.get(name) is not None)
        name = one_line(escape_controls(str(asked[subject])), _NAME)
        out.print_line(format_count(erasure_words()["preview"][subject], preview["memories"], name=name))
        out.print_lines(f"  {line}" for line in preview_lines(preview))
    for why in ("version", "beneath", "made_of_it"):
        count = sum(one["why"] == why for one in preview["items"])
        if count:
            out.print_line("  " + format_count(words[why], count))
    for name in ("versions", "same_words"):
        if preview[name]:
            out.print_line("  " + format_count(words[name], preview[name]))
    if preview["back"]:
        out.print_line("  " + format_count(words["back"], len(preview["back"])))
    if preview["backups"]:
        out.print_line("  " + format_count(words["backups"], len(preview["backups"])))
        out.print_lines(f"    {one_line(escape_controls(name), _NAME)}" for name in preview["backups"])


def _print_erasure(out: Output, done: Mapping[str, Any]) -> None:
    out.print_line(format_count(load_words()["erase"]["done"], done["memories"]))
    out.print_line()
    _print_certificate(out, done["certificate"])


@loci.command()
@click.argument("id", required=False)
@click.option("--rewrite-backups", is_flag=True, help="Rewrite the backups in the home without what it names.")
@click.option("--to", "to", help="Also write it to a file: .html or .txt to read, .json for programs.")
@click.option("--yes", is_flag=True, help="Replace a file that is there, and do not ask.")
@with_command
def certificate(
    command: CommandContext,
    id: str | None,  # noqa: A002 - as for `erase`
    *,
    rewrite_backups: bool,
    to: str | None,
    yes: bool,
) -> None:
    """Show what was erased for good, and what a search for it found; without an ID list all certificates.

    A certificate holds ids and counts, no text. With --rewrite-backups, backups in the home that still hold something
    of it are rewritten. With --to it is written to a file that can be read and handed on.
    """
    if id is None:
        if rewrite_backups or to is not None:
            raise click.UsageError("--rewrite-backups and --to go with the ID of a certificate.")
        command.print_result(command.call("certificates", {}), _print_certificates)
        return
    verb = "rewrite_backups" if rewrite_backups else "certificate"
    path = None if to is None else absolute_path(to)
    if path is not None and not may_replace(command, path, yes=yes):
        return
    found = command.call(verb, {"id": id}, progress=rewrite_backups)
    if path is not None:
        found = command.call("certificate", {"id": found["id"], "to": str(path)})
        command.output.print_note(erasure_words()["window"]["saved"].format(name=path.name))
    command.print_result(found, _print_certificate)


def _print_certificate(out: Output, found: Mapping[str, Any]) -> None:
    out.print_lines(escape_controls(line) for line in certificate_lines(found, format_minute(found["at"])))


def _print_certificates(out: Output, reply: Mapping[str, Any]) -> None:
    words = erasure_words()["list"]
    if not reply["items"]:
        out.print_line(words["none"])
    for one in reply["items"]:
        state = words["states"][one["state"]]
        out.print_line(
            format_count(words["row"], one["memories"], id=one["id"], when=format_minute(one["at"]), state=state)
        )
