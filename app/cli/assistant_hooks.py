"""The command line's verb on assistants' hooks: put one in and watch its transcripts, take it out, list them.

Must not do: read a transcript, or write without a yes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.messages import load_words
from app.cli.output import Output, escape_controls
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import VerbSession
from core.errors import Code, UserError

if TYPE_CHECKING:
    from app.mcp.hooks import HookRecipe

_SHORT_ID = 12


@loci.command()
@click.argument("action", type=click.Choice(("install", "remove", "list")))
@click.argument("assistant", required=False)
@click.option("--space", help="With install: the space (wing) that its transcripts go to. Default: home.")
@click.option("--yes", is_flag=True, help="With install: do not ask.")
@with_command
def hooks(command: CommandContext, action: str, assistant: str | None, *, space: str | None, yes: bool) -> None:
    """Hooks of your assistants: install ASSISTANT, remove ASSISTANT, list.

    Installing watches the folder of the transcripts, as `loci watch add` does, and lets the assistant tell Loci when
    something was said. Its settings stay as they are but for the hook; the file as it was is kept beside it.
    """
    if (action == "list") is (assistant is not None):
        raise click.UsageError(f"{action} {'takes nothing more' if action == 'list' else 'needs an assistant'}.")
    from app.mcp.client_setup import complete_variables
    from app.mcp.hooks import find_hook_recipe
    from app.mcp.messages import load_hooks

    if action == "list":
        known = {name: found["title"] for name, found in load_hooks().items()}
        command.print_result({"assistants": known}, lambda out, _: out.print_table(list(known.items())))
        return
    recipe, variables = find_hook_recipe(assistant or ""), complete_variables(os.environ)
    if action == "install":
        _install(command, recipe, variables, space, yes=yes)
    else:
        _remove(command, recipe, variables)


def _install(
    command: CommandContext, recipe: HookRecipe, variables: Mapping[str, str], space: str | None, *, yes: bool
) -> None:
    from app.mcp.hooks import hook_command, install_hook

    words, found = load_words()["hooks"], command.app_context.environment
    folder, path = recipe.transcript_folder(variables), recipe.settings_file(variables)
    if not folder.is_dir():
        raise UserError(Code.INVALID_INPUT, words["none"].format(title=recipe.title, folder=folder))
    may_ask = sys.stdin.isatty() and not command.output.as_json
    if not yes:
        if not may_ask:
            raise click.UsageError("install asks first; where nobody can answer, give --yes.")
        if not click.confirm(words["ask"].format(folder=folder, path=path), default=False, err=True):
            command.output.print_note(words["not_added"])
            return
    with command.open_session() as session:
        watched = _find_watched(session, folder)
        is_new = watched is None
        if watched is None:
            given = {"action": "add", "path": str(folder), "format": recipe.transcript_format}
            with command.output.show_progress(enabled=True) as report_progress:
                asked = given if space is None else {**given, "space": space}
                watched = session.call("watch", asked, report_progress)["folder"]
    kept = install_hook(recipe, variables, hook_command(found.home, found.default_home))
    document = {
        "assistant": recipe.name,
        "settings": str(path),
        "copy": None if kept is None else str(kept),
        "folder": watched,
        "is_new": is_new,
    }
    command.print_result(document, lambda out, done: _print_installed(out, recipe, done))


def _print_installed(out: Output, recipe: HookRecipe, done: Mapping[str, Any]) -> None:
    words = load_words()["hooks"]
    if done["is_new"]:
        out.print_line(load_words()["watch"]["done"]["add"].format(path=escape_controls(done["folder"]["path"])))
    else:
        out.print_line(words["watched"].format(folder=escape_controls(done["folder"]["path"])))
    out.print_line(words["installed"].format(title=recipe.title, path=done["settings"]))
    if done["copy"] is not None:
        out.print_line(words["kept"].format(path=done["copy"]))
    out.print_line(recipe.after)


def _remove(command: CommandContext, recipe: HookRecipe, variables: Mapping[str, str]) -> None:
    from app.mcp.hooks import remove_hook

    path, folder = recipe.settings_file(variables), recipe.transcript_folder(variables)
    was_there, kept = remove_hook(recipe, variables)
    with command.open_session() as session:
        watched = _find_watched(session, folder)
    document = {
        "assistant": recipe.name,
        "settings": str(path),
        "was_there": was_there,
        "copy": None if kept is None else str(kept),
        "folder": watched,
    }
    command.print_result(document, _print_removed)


def _print_removed(out: Output, done: Mapping[str, Any]) -> None:
    words = load_words()["hooks"]
    out.print_line(words["removed" if done["was_there"] else "absent"].format(path=done["settings"]))
    if done["copy"] is not None:
        out.print_line(words["kept"].format(path=done["copy"]))
    if done["folder"] is not None:
        short = done["folder"]["id"][-_SHORT_ID:]
        out.print_line(words["still"].format(folder=escape_controls(done["folder"]["path"]), id=short))


def _find_watched(session: VerbSession, folder: Path) -> dict[str, Any] | None:
    real = str(folder.resolve())
    listed = session.call("watch", {"action": "list"})["folders"]
    return next((dict(one) for one in listed if one["path"] == real), None)
