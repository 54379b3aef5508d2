"""The command line's verbs on files of memories: attach, file show, file save.

Must not do: read a file itself, or print what could steer a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from app.cli.messages import format_minute, load_words
from app.cli.output import Output, escape_controls, one_line
from app.cli.root import CommandContext, loci, remove_missing, with_command
from app.engine.session import VerbSession, absolute_path

_SHORT_ID = 8
_MB = 1_000_000


@loci.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--caption", help="What the file is about; it is found by these words too.")
@click.option("--space", help="The space (wing) it goes to. Default: home.")
@with_command
def attach(command: CommandContext, files: tuple[str, ...], *, caption: str | None, space: str | None) -> None:
    """Make a memory of each FILE: a document, a picture, or any other file.

    The file itself is kept encrypted in the vault; its text is searched like any other memory.
    """
    done = []
    try:
        with command.open_session() as session, command.output.show_progress(enabled=True) as report_progress:
            for name in files:
                params = {"path": str(absolute_path(name)), "caption": caption, "space": space}
                done.append(session.call("attach", remove_missing(params), report_progress))
    finally:  # of several files those before one that is refused are attached, and told of
        if done:
            command.print_result(done[0] if len(files) == 1 else {"files": done}, _print_attached)


@loci.group()
def file() -> None:
    """Files of memories: show ID, save ID PATH."""


@file.command()
@click.argument("id")
@click.option("--text", "views", is_flag=True, help="With the text that was read out of it.")
@with_command
def show(command: CommandContext, id: str, *, views: bool) -> None:  # noqa: A002 - the contract's word
    """Show a file, or the files of a memory."""
    with command.open_session() as session:
        found = dict(session.call("file", {"id": id, "views": views}))
        if views:
            found["views"] = [_read_rest(session, view) for view in found["views"]]
    command.print_result(found, _print_files)


def _read_rest(session: VerbSession, view: Mapping[str, Any]) -> dict[str, Any]:
    """A text whole, of which an answer holds a part."""
    whole, stretches, left = str(view["text"]), list(view["stretches"]), int(view["left"])
    while left:
        at = len(whole)
        found = session.call("file", {"id": view["file"], "views": True, "start": at})
        more = next(one for one in found["views"] if one["id"] == view["id"])
        for one in more["stretches"]:
            if one["start"] == 0 and stretches and stretches[-1]["end"] == at:  # the rest of what was cut
                stretches[-1] = {**stretches[-1], "end": at + one["end"]}
            else:
                stretches.append({**one, "start": at + one["start"], "end": at + one["end"]})
        whole, left = whole + str(more["text"]), int(more["left"])
    return {**view, "text": whole, "stretches": stretches, "left": 0}


@file.command()
@click.argument("id")
@click.argument("path")
@with_command
def save(command: CommandContext, id: str, path: str) -> None:  # noqa: A002 - the contract's word
    """Write a file as it was attached to PATH, a new file or a folder."""
    done = command.call("save_file", {"id": id, "path": str(absolute_path(path))})
    command.print_result(
        done,
        lambda out, found: out.print_line(load_words("files")["saved"].format(path=escape_controls(found["path"]))),
    )


def _print_attached(out: Output, found: Mapping[str, Any]) -> None:
    words = load_words("files")
    for one in found.get("files", [found]):
        line = words["attached"][one["operation"]]
        name = one_line(escape_controls(one["file"]["name"]))
        out.print_line(line.format(name=name, id=one["memory_id"][-_SHORT_ID:]))
        for note in one["notes"]:
            out.print_line(f"  {words['note'][note]}")


def _print_files(out: Output, found: Mapping[str, Any]) -> None:
    words = load_words("files")
    for one in found["files"]:
        out.print_line(f"{one['id'][-_SHORT_ID:]}  {one_line(escape_controls(one['name']))}")
        size = words["size"].format(mb=f"{one['size'] / _MB:,.1f}", type=one["media_type"])
        rows = [(words["kind"], size), (words["at"], format_minute(one["attached_at"]))]
        if one["pages"] is not None:
            rows.append((words["pages"], f"{one['pages']:,}"))
        if one["width"] is not None:
            rows.append((words["pixels"], f"{one['width']:,} × {one['height']:,}"))
        if one["caption"]:
            rows.append((words["caption"], one_line(escape_controls(one["caption"]))))
        read = ", ".join(words["method"][view["method"]] for view in one["views"])
        rows.append((words["read"], read or words["nothing"]))
        out.print_table([(f"  {name}", value) for name, value in rows])
    for view in found.get("views", ()):
        out.print_line()
        out.print_line(words["view"].format(method=words["method"][view["method"]]))
        for stretch in view["stretches"]:
            if stretch["page"] is not None:
                out.print_line(words["page"].format(page=f"{stretch['page']:,}"))
            text = view["text"][stretch["start"] : stretch["end"]]
            out.print_lines(escape_controls(line) for line in text.splitlines())
