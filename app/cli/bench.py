"""`loci bench`: figures of this machine, on a vault in a temporary home."""

from __future__ import annotations

import click

from app.cli.root import Command, loci, with_command


@loci.command()
@click.option("--n", "count", type=click.IntRange(10, 1_000_000), default=1000, show_default=True, help="Messages.")
@with_command
def bench(command: Command, count: int) -> None:
    """Measure how fast it is on this machine.

    The vault is made of synthetic texts; nothing of yours is touched.
    """
    from app.bench import measure, report  # loads the engine's largest parts; the other verbs need none of it

    found = measure.run(count, command.output.note)
    command.reply(found, report.print_report)
