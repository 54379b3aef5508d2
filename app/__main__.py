"""The door: `loci` and `python -m app`. Hardens the process, runs one command, ends with the contract's exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from app.cli.options import hoisted, verb_of
from core.errors import BugError, CancelledError, LociError
from core.security.hardening import harden

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: normally those of the process.

    Returns:
        The exit code (design section 8).
    """
    harden()
    given = list(sys.argv[1:] if arguments is None else arguments)
    # After hardening: nothing more is read or imported with a wider umask.
    verb = verb_of(given)
    if verb == "mcp":
        from app.cli.mcp import door as loci  # of the engine it loads nothing: assistants start many of these
    elif verb == "chat":
        from app.cli.chat import door as loci
    else:
        from app.cli.commands import loci

    try:
        code = loci.main(hoisted(given), prog_name="loci", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (click.Abort, KeyboardInterrupt, CancelledError):
        sys.stderr.write("Stopped.\n")
        return _INTERRUPTED
    except LociError as error:
        sys.stderr.write(f"{error.code.value}: {error.sentence}\n")
        return error.exit_code
    return code if isinstance(code, int) else 0


def run() -> None:
    """Entry point of the installed command; a bug ends with a sentence and its place, never with content."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale says, no text of a memory may end a command
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = main()
    except Exception as error:  # noqa: BLE001 - the last keeper: a traceback could show memory text
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "?" if place is None else f"{place.tb_frame.f_globals.get('__name__', '?')}:{place.tb_lineno}"
        bug = BugError(f"{type(error).__name__} at {where}")
        sys.stderr.write(f"{bug.code.value}: {bug.sentence}\n")
        code = bug.exit_code
    sys.exit(code)


if __name__ == "__main__":
    run()
