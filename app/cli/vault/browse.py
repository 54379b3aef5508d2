"""The command line's verb browse: looking into a backup or a closed vault without changing a byte of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.messages import first_words, format_count, format_minute, load_words
from app.cli.output import Output, escape_controls, one_line
from app.cli.root import CommandContext, loci, with_command
from app.engine.session import absolute_path
from core.ipc.protocol.contract import format_wire_time
from core.types.clock import SystemClock
from core.types.requests import EXPORT_ENDINGS

if TYPE_CHECKING:
    from core.engine.facade import RootKey, VaultViewer

_DAMAGED_EXIT = 6
_SHOWN = ("kind", "status", "time", "author", "space", "category", "tags", "source")


@loci.command()
@click.argument("file")
@click.argument("query", required=False, default="")
@click.option("--show", "shown", metavar="ID", help="One memory, whole.")
@click.option("--export", "to", metavar="FILE", help="Write what QUERY finds to a file.")
@click.option("--format", "form", type=click.Choice(list(EXPORT_ENDINGS)), default="jsonl")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, help="Rows at most. Default: 50.")
@click.option("--verify", "verifies", is_flag=True, help="Check every page of it.")
@with_command
def browse(
    command: CommandContext,
    file: str,
    query: str,
    *,
    shown: str | None,
    to: str | None,
    form: str,
    limit: int,
    verifies: bool,
) -> None:
    """Look into a backup, a copy or the folder of a closed vault, without changing it.

    Memories that were sealed since are left out, with their older versions.
    QUERY is as in the library of the window: words, and conditions such as status:all, kind:fact, space:work. A copy
    from another version is not brought up to date here; it says what to do.
    """
    if sum((shown is not None, to is not None, verifies)) > 1:
        raise click.UsageError("Choose one of --show, --export and --verify.")
    with _open(command, absolute_path(file)) as viewer:
        is_told = verifies or viewer.keep_back_sealed(command.app_context.home)
        if not is_told and (shown is not None or to is not None):  # a list says so itself
            command.output.print_note(load_words()["browse"]["unread"])
        if verifies:
            report = viewer.verify()
            command.print_result(report, _print_verification)
            if report["status"] == "damaged":
                click.get_current_context().exit(_DAMAGED_EXIT)
        elif shown is not None:
            command.print_result(viewer.show(shown), _print_memory)
        elif to is not None:
            target = absolute_path(to)
            count = viewer.export(query, target, form)
            words = load_words()["exported"]
            command.print_result(
                {"path": str(target), "format": form, "memories": count},
                lambda out, made: out.print_line(format_count(words, count, path=escape_controls(made["path"]))),
            )
        else:
            kept_back = viewer.count_kept_back() if is_told else None
            command.print_result({**_list(viewer, query, limit), "kept_back": kept_back}, _print_list)


def _open(command: CommandContext, source: Path) -> Any:
    from app.engine.connection import ask_secret, open_root  # as for `restore`
    from core.engine.facade import open_by_secret, open_viewer

    def open_keys(key_file: bytes | None) -> RootKey:
        if key_file is None:
            return open_root(command.app_context)
        return open_by_secret(key_file, ask_secret(command.app_context))

    return open_viewer(source, open_keys, SystemClock())


def _list(viewer: VaultViewer, query: str, limit: int) -> dict[str, Any]:
    from core.engine.facade import rows_as_json

    about = viewer.describe()
    total, found = viewer.find(query, limit)
    items = [{**one, "recorded_at": format_wire_time(one["recorded_at"])} for one in rows_as_json(found)]
    return {
        "seq": about.seq,
        "last_at": format_wire_time(about.last_at),
        "memories": about.memories,
        "total": total,
        "items": items,
    }


def _print_list(out: Output, reply: Mapping[str, Any]) -> None:
    words = load_words()["browse"]
    out.print_line(format_count(words["about"], reply["memories"], when=format_minute(reply["last_at"])))
    for one in reply["items"]:
        out.print_line(f"{one['id']}  {one_line(escape_controls(first_words(one['text'])), 100)}")
    out.print_line(format_count(words["found"], reply["total"]))
    if reply["kept_back"] is None:
        out.print_line(words["unread"])
    elif reply["kept_back"]:
        out.print_line(format_count(words["kept_back"], reply["kept_back"]))


def _print_memory(out: Output, fields: Mapping[str, Any]) -> None:
    out.print_lines(escape_controls(line) for line in fields["text"].splitlines())
    told = [(name, fields[name]) for name in _SHOWN if name in fields]
    out.print_table(
        [("id", fields["id"]), *((name, ", ".join(one) if isinstance(one, list) else one) for name, one in told)]
    )


def _print_verification(out: Output, reply: Mapping[str, Any]) -> None:
    words = load_words()["browse"]
    out.print_line(words[reply["status"]])
    rows = [(name.replace("_", " "), check["note"] or check["status"]) for name, check in reply["checks"].items()]
    out.print_table(rows)
