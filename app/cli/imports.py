"""The command line's verbs on imports: import, unimport."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from app.cli.memories import print_undone
from app.cli.output import Output, visible
from app.cli.root import Command, loci, with_command
from app.session import existing
from core.errors import Code, UserError

FORMATS = (
    "chatgpt", "claude", "claude-code", "codex", "obsidian", "markdown", "text", "jsonl", "csv", "mem0", "openmemory",
    "mcp-memory",
)  # fmt: skip
_SHOWN_ERRORS = 10


@loci.command(name="import")
@click.argument("path")
@click.option("--format", "form", type=click.Choice(FORMATS), help="The format; detected unless said otherwise.")
@click.option("--space", help="The space (wing) it goes to; home unless said otherwise.")
@click.option("--dry-run", is_flag=True, help="Only count what would come; write nothing.")
@with_command
def import_(command: Command, path: str, form: str | None, space: str | None, dry_run: bool) -> None:
    """Bring in an export, a file or a folder of notes."""
    if not path.strip():
        raise UserError(Code.INVALID_INPUT, "Name the file or folder to import.")
    params = {"path": str(existing(path)), "format": form, "space": space, "dry_run": dry_run or None}
    command.reply(command.call("import", params, progress=True), print_import)


def print_import(out: Output, reply: Mapping[str, Any]) -> None:
    """Print what an import brought, or would bring.

    Args:
        out: where to.
        reply: the reply of `import`.
    """
    messages = reply["messages"]
    done = reply["import_id"] is not None
    if not reply["stored"] and reply["skipped"].get("known"):
        out.line(f"Nothing new: everything in it is here already ({reply['format']}).")
    else:
        out.line(f"{'Imported' if done else 'Would import'} {reply['stored']} memories ({reply['format']}).")
    rows: list[tuple[str, object]] = [
        ("conversations", reply["conversations"]),
        ("messages", f"{messages['user']} yours, {messages['assistant']} the assistant's, {messages['other']} other"),
        ("waiting for review", reply["proposals"]),
        ("from", f"{reply['earliest'] or 'unknown'} to {reply['latest'] or 'unknown'}"),
    ]
    rows += [(f"left out: {reason.replace('_', ' ')}", count) for reason, count in sorted(reply["skipped"].items())]
    out.table(rows)
    for error in reply["errors"][:_SHOWN_ERRORS]:
        out.line(f"could not read {visible(error['where'])}: {visible(error['message'])}")
    if len(reply["errors"]) > _SHOWN_ERRORS:
        out.line(f"… and {len(reply['errors']) - _SHOWN_ERRORS} more; --json lists them all.")
    if done and reply["stored"]:
        out.line(f"Take it back with: loci unimport {reply['import_id']}")


@loci.command()
@click.argument("import_id")
@with_command
def unimport(command: Command, import_id: str) -> None:
    """Remove exactly what one import brought."""
    command.reply(command.call("unimport", {"import_id": import_id}), print_undone)
