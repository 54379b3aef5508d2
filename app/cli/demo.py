"""`loci demo`: the tour of a sample vault, on the terminal while there is no window."""

from __future__ import annotations

from app import tour
from app.cli.root import Command, loci, with_command


@loci.command()
@with_command
def demo(command: Command) -> None:
    """Walk through a sample vault; nothing of yours is touched."""
    tour.run(command.output)
