"""The entry point: `loci` and `python -m app`. Hardens the process, runs one command, ends with its exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence

import click

from app.cli.options import find_verb, hoist_json_option
from app.cli.output import OutputError, Progression, StandardOutput
from app.garbage_collection import pause_collection
from core.errors import BugError, CancelledError, LociError
from core.security.process_protection import harden_process

_INTERRUPTED = 130
_UNREAD = 141  # what a shell sees of a tool that SIGPIPE ended


def main(arguments: Sequence[str] | None = None, progression: Progression | None = None) -> int:
    """Run the command line.

    Args:
        arguments: normally those of the process.
        progression: told how far the command comes.

    Returns:
        The exit code (design section 8).
    """
    harden_process()
    # The models of parameters and options need no extensions, and to look for some in every package takes time.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    given = list(sys.argv[1:] if arguments is None else arguments)
    # After hardening: nothing more is read or imported with a wider umask.
    with pause_collection():
        if find_verb(given) in ("mcp", "chat", "watch-now"):
            # Of the engine they load nothing: assistants start many of these.
            from app.cli.assistants import lightweight_commands as loci
        else:
            from app.cli.commands import loci

    so_far = progression or Progression()
    try:
        code = loci.main(hoist_json_option(given), prog_name="loci", standalone_mode=False, obj=so_far)
        sys.stdout.flush()  # here, where it can still be told that it failed; not at the end of the process
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except OutputError as failed:
        if failed.is_unread:
            return _UNREAD
        sys.stderr.write(f"{so_far.output_code.value}: {so_far.describe_failure(failed)}\n")
        return failed.exit_code
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
    _hold_descriptors()
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stdout is None or isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = StandardOutput(sys.stdout)
    so_far = Progression()
    try:
        code = main(progression=so_far)
    except Exception as error:  # noqa: BLE001 - the last keeper: a traceback could show memory text
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "?" if place is None else f"{place.tb_frame.f_globals.get('__name__', '?')}:{place.tb_lineno}"
        bug = BugError(f"{type(error).__name__} at {where}", is_done=so_far.is_done)
        sys.stderr.write(f"{bug.code.value}: {bug.sentence}\n")
        code = bug.exit_code
    _end_process(code)


def _hold_descriptors() -> None:
    """Where the process was started with a closed stream, keep its number from the next file: it could be the vault."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), errors="backslashreplace", write_through=True)


def _end_process(code: int) -> None:
    """End the process; what standard output did not take is dropped, for its failure was told already."""
    try:
        sys.stdout.flush()
    except OutputError:
        if isinstance(sys.stdout, StandardOutput):
            sys.stdout.discard_pending()
    if code == _UNREAD and hasattr(signal, "SIGPIPE"):
        # Everything is closed by now. Python ignores the signal, since it would end an engine whose client leaves.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(code)


if __name__ == "__main__":
    run()
