"""`loci demo`: the window on a sample palace; without a display, its tour on the terminal."""

from __future__ import annotations

from app.cli.root import Command, loci, with_command
from app.qt import load_qt


@loci.command()
@with_command
def demo(command: Command) -> int:
    """Walk through a sample palace.

    Nothing of yours is touched.
    """
    if command.parts.environment.has_display and not command.output.as_json:
        load_qt()
        from app.demo import open_sample  # Qt is loaded by what shows a window, and by nothing else

        return open_sample(command.output.note)
    from app import tour  # the engine is loaded by what opens a vault, and by nothing else

    tour.run(command.output)
    return 0
