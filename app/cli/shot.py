"""`loci shot`: a picture of a page, drawn offscreen on the sample palace."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.output import Output
from app.cli.root import Command, loci, with_command
from app.qt import load_qt
from core.errors import Code, EnvironmentFaultError


@loci.command()
@click.option(
    "--page",
    required=True,
    help="palace, graph, library, review, recall, timeline, entities, clients, journal or settings.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The picture, a PNG file.")
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True)
@click.option("--size", default="1440x900", show_default=True, help="Width and height in pixels.")
@click.option("--text-size", type=click.IntRange(100, 200), default=100, show_default=True, help="In percent.")
@with_command
def shot(command: Command, page: str, out: Path, theme: str, size: str, text_size: int) -> None:
    """Draw a page of the window as a picture.

    It shows the sample palace; no display is needed.
    """
    width, height = _size(size)
    place = out.expanduser().absolute()
    if not place.parent.is_dir():  # before the window's parts are loaded, which takes seconds
        raise EnvironmentFaultError(Code.WRITE_FAILED, "There is no such folder; name a file in one that exists.")
    load_qt()
    from app.shot import Shot, take  # Qt is loaded by what draws a window, and by nothing else

    take([Shot(page, place, theme, width, height, text_size)])
    command.output.progression.is_done = True
    command.reply({"page": page, "out": str(out), "theme": theme, "width": width, "height": height}, _words)


def _words(output: Output, reply: object) -> None:
    if isinstance(reply, dict):
        output.line(f"{reply['out']}: {reply['page']}, {reply['theme']}, {reply['width']}x{reply['height']}")


def _size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not cross or not width.isdecimal() or not height.isdecimal():
        raise click.BadParameter("a size is written 1440x900", param_hint="--size")
    return int(width), int(height)
