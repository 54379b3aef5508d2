"""The `loci` command: global options, and what every verb shares."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from app import environment
from app.cli.messages import older_words
from app.cli.options import CONTEXT, global_options
from app.cli.output import Output, Progression, read_text
from app.engine.session import Report, VerbSession, is_changing_verb
from app.qt import load_qt
from core.errors import Code, PreconditionError, UserError

if TYPE_CHECKING:  # what opens key slots is loaded when a vault is asked for, not for help or a completion
    from app.context import AppContext
    from app.engine.connection import RemoteSession

P = ParamSpec("P")
R = TypeVar("R")


class CommandContext:
    """What a verb works with.

    Attributes:
        app_context: the home, its clock and its socket.
        output: where words and JSON go.
        older: what the vault that was asked last says of being an older copy; None where there is nothing to say.
    """

    def __init__(self, app_context: AppContext, output: Output) -> None:
        self.app_context = app_context
        self.output = output
        self.older: dict[str, Any] | None = None

    def read_text(self, argument: str, what: str) -> str:
        """A text as typed, or standard input where it is `-`; see `read_text`."""
        return read_text(argument, what, self.app_context.environment.secret_file)

    def call(self, verb: str, params: Mapping[str, Any], *, progress: bool = False) -> dict[str, Any]:
        """Carry out one verb in a session of its own.

        Args:
            verb: the verb's name.
            params: its parameters; None values are left out.
            progress: whether to show a bar on standard error when it is a terminal.
        """
        with self.open_session() as session, self.output.show_progress(enabled=progress) as report_progress:
            return session.call(verb, remove_missing(params), report_progress)

    @contextmanager
    def open_session(self) -> Iterator[VerbSession]:
        """A session for several verbs, which opens the vault once.

        Yields:
            The session.
        """
        from app.engine.connection import open_patient_session

        session: VerbSession = open_patient_session(self.app_context, self.output.print_note)
        try:
            self.warn_if_older(session)
            yield _Followed(session, self.output.progression)
        finally:
            session.close()

    def find_running(self, *, unlock: bool = True) -> RemoteSession | None:
        """The owner's channel of the engine that runs, if one does.

        Args:
            unlock: whether to unlock a locked one.

        Returns:
            The session, which the caller closes; None where no engine runs, or where it is locked and stays so.
        """
        from app.engine.connection import connect, open_root

        root = open_root(self.app_context)
        with root:
            return connect(self.app_context, root, unlock=unlock)

    def warn_if_older(self, session: VerbSession) -> None:
        """Say at the head of everything else that the vault is an older copy, and put it into the JSON."""
        self.older = session.older_copy()
        if self.older is not None:
            self.output.print_note(older_words(self.older))

    def print_result(self, value: Mapping[str, Any], words: Callable[[Output, Mapping[str, Any]], None]) -> None:
        """Print a reply: the JSON document, or words for a person.

        Args:
            words: prints it for a person.
        """
        if self.output.as_json:
            self.output.print_document(value if self.older is None else {**value, "older_copy": self.older})
        else:
            words(self.output, value)


class _Followed:
    """A session that notes when something was changed, so that a later failure is told for what it is."""

    def __init__(self, session: VerbSession, progression: Progression) -> None:
        self._session, self._progression = session, progression

    def call(self, verb: str, params: Mapping[str, Any], progress: Report | None = None) -> dict[str, Any]:
        """Carry out one verb; see `VerbSession.call`."""
        reply = self._session.call(verb, params, progress)
        if is_changing_verb(verb) and not params.get("dry_run", False):
            self._progression.is_done = True
        return reply

    def older_copy(self) -> dict[str, Any] | None:
        """What is known of an older copy; see `VerbSession.older_copy`."""
        return self._session.older_copy()

    def close(self) -> None:
        """End the conversation."""
        self._session.close()


def remove_missing(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters without those that were not given."""
    return {name: value for name, value in params.items() if value is not None}


def with_command(fn: Callable[Concatenate[CommandContext, P], R]) -> Callable[P, R]:
    """Hand the running `CommandContext` to a click callback as its first argument."""

    def run_with_command(*args: P.args, **kwargs: P.kwargs) -> R:
        return fn(click.get_current_context().ensure_object(CommandContext), *args, **kwargs)

    return update_wrapper(run_with_command, fn)


@click.group(invoke_without_command=True, context_settings=CONTEXT)
@global_options
@click.pass_context
def loci(context: click.Context, home: Path | None, passphrase_file: Path | None, as_json: bool) -> None:
    """Loci: a private memory palace for you and your assistants.

    Everything stays in one encrypted vault on this machine.
    """
    from app.context import AppContext

    found = environment.read_environment(os.environ, home, passphrase_file)
    context.obj = CommandContext(
        AppContext(found), Output(as_json=as_json, progression=context.find_object(Progression))
    )
    if context.invoked_subcommand is None:
        if found.has_display and not as_json:
            context.exit(_show_window(context.obj))
        click.echo(context.get_help())
        context.exit(0 if sys.stdout.isatty() else 2)


def _show_window(command: CommandContext, file: Path | None = None) -> int:
    load_qt()
    from app.window.start import open_window  # Qt is loaded by what shows a window, and by nothing else

    return open_window(command.app_context, command.output.print_note, file)


@loci.command("open")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@with_command
def open_file(command: CommandContext, file: Path | None) -> int:
    """Open the window, with a file to import.

    The file is an archive of Loci or anything that can be imported. You first see what is in it; nothing is stored
    before you say so. Where the window is open already, it shows the file.
    """
    given = None if file is None else file.expanduser().absolute()
    if given is not None and not _is_there(given):
        raise UserError(Code.INVALID_INPUT, "There is no such file; nothing was opened.")
    if not command.app_context.environment.has_display or command.output.as_json:
        raise PreconditionError(
            "There is no display for the window; `loci import FILE --dry-run` looks into a file here."
        )
    return _show_window(command, given)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
