"""The verbs that touch nothing of the person's: measurements, the sample palace, pictures of it."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.output import Output
from app.cli.root import CommandContext, loci, with_command
from app.qt import load_qt
from core.errors import Code, EnvironmentFaultError


@loci.command()
@click.option("--n", "count", type=click.IntRange(10, 1_000_000), default=1000, show_default=True, help="Messages.")
@with_command
def bench(command: CommandContext, count: int) -> None:
    """Measure how fast it is on this machine.

    The vault is made of synthetic texts; nothing of yours is touched.
    """
    from app.bench import measure  # loads the engine's largest parts; the other verbs need none of it
    from app.bench import measure as report  # loads the engine's largest parts; the other verbs need none of it

    found = measure.run_bench(count, command.output.print_note)
    command.print_result(found, report.print_report)


@loci.command()
@with_command
def demo(command: CommandContext) -> int:
    """Walk through a sample palace.

    Nothing of yours is touched.
    """
    if command.app_context.environment.has_display and not command.output.as_json:
        load_qt()
        from app.sample.demo import open_sample  # Qt is loaded by what shows a window, and by nothing else

        return open_sample(command.output.print_note)
    from app.sample import tour  # the engine is loaded by what opens a vault, and by nothing else

    tour.run_tour(command.output)
    return 0


@loci.command()
@click.option(
    "--page",
    required=True,
    help="palace, graph, library, review, ask, recall, timeline, entities, clients, journal or settings.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The picture, a PNG file.")
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True)
@click.option("--size", default="1440x900", show_default=True, help="Width and height in pixels.")
@click.option("--text-size", type=click.IntRange(100, 200), default=100, show_default=True, help="In percent.")
@with_command
def shot(command: CommandContext, page: str, out: Path, theme: str, size: str, text_size: int) -> None:
    """Draw a page of the window as a picture.

    It shows the sample palace; no display is needed.
    """
    width, height = _parse_size(size)
    place = out.expanduser().absolute()
    if not place.parent.is_dir():  # before the window's parts are loaded, which takes seconds
        raise EnvironmentFaultError(Code.WRITE_FAILED, "There is no such folder; name a file in one that exists.")
    load_qt()
    from app.sample.screenshot import Shot, take_shots  # Qt is loaded by what draws a window, and by nothing else

    take_shots([Shot(page, place, theme, width, height, text_size)])
    command.output.progression.is_done = True
    command.print_result(
        {"page": page, "out": str(out), "theme": theme, "width": width, "height": height}, _print_reply
    )


def _print_reply(output: Output, reply: object) -> None:
    if isinstance(reply, dict):
        output.print_line(f"{reply['out']}: {reply['page']}, {reply['theme']}, {reply['width']}x{reply['height']}")


def _parse_size(text: str) -> tuple[int, int]:
    width, cross, height = text.lower().partition("x")
    if not cross or not width.isdecimal() or not height.isdecimal():
        raise click.BadParameter("a size is written 1440x900", param_hint="--size")
    return int(width), int(height)
