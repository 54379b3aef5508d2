"""What the command line prints: JSON as the contract says, or words for a person; and what it reads for `-`.

Memory text is hostile: control characters are made visible before they reach a terminal. A write to standard output
that fails is an error of its own kind, told apart from one inside the engine, since the deed may be done by then.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from core.errors import Code, EnvironmentFaultError, UserError

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SHORT = 160
_WIDE = 96
_STDIN_BYTES = 256 * 1024
_NOT_WRITTEN = "Done, but the result could not be written: standard output takes no more."
_NOTHING_WRITTEN = "The answer could not be written: standard output takes no more. Nothing was changed."

Tell = Callable[[str, int, int | None], None]
"""Told what is done, units done, and units in all."""


class OutputError(EnvironmentFaultError):
    """Standard output takes no more: its disk is full, or whoever read it has left.

    Attributes:
        is_unread: whether the reader left, at which other tools end without a word.
    """

    def __init__(self, sentence: str = _NOTHING_WRITTEN, *, is_unread: bool = False) -> None:
        super().__init__(Code.OUTPUT_FAILED, sentence)
        self.is_unread = is_unread


class _Closed(io.RawIOBase):
    """What a process writes to that was started without a standard output.

    Attributes:
        is_silent: whether it takes everything and drops it.
    """

    is_silent = False

    def writable(self) -> bool:
        """It looks so; only a write tells."""
        return True

    def write(self, data: Any, /) -> int:
        """Refuse, or drop."""
        if self.is_silent:
            return len(data)
        raise OSError(errno.EBADF, "closed")


class StandardOutput(io.TextIOWrapper):
    """Standard output as UTF-8; whatever the locale says, no text of a memory ends a command."""

    def __init__(self, stream: TextIO | None) -> None:
        """Take the place of a stream.

        Args:
            stream: the process's own, of no use afterwards; None where it was started without one.
        """
        is_terminal = stream is not None and stream.isatty()
        self._closed = _Closed()
        buffer = stream.detach() if isinstance(stream, io.TextIOWrapper) else io.BufferedWriter(self._closed)
        super().__init__(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=is_terminal)

    def write(self, text: str, /) -> int:
        """Write.

        Raises:
            OutputError: where it takes no more.
        """
        try:
            return super().write(text)
        except OSError as error:
            raise OutputError(is_unread=error.errno == errno.EPIPE) from None

    def flush(self) -> None:
        """Let everything out; raises as `write`."""
        try:
            super().flush()
        except OSError as error:
            raise OutputError(is_unread=error.errno == errno.EPIPE) from None

    def discard_pending(self) -> None:
        """Send what is still held nowhere, so that the end of the process has nothing left to say."""
        self._closed.is_silent = True
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)


class Progression:
    """How far a command has come, for whoever has to tell that it ended early.

    Attributes:
        is_done: whether something was changed for good.
    """

    def __init__(self) -> None:
        self.is_done = False

    @property
    def output_code(self) -> Code:
        """The code of an output that failed: a script tells by it whether anything was changed."""
        return Code.OUTPUT_FAILED if self.is_done else Code.ANSWER_FAILED

    def describe_failure(self, error: OutputError) -> str:
        """The sentence for an output that failed.

        Args:
            error: as it was raised; one with a sentence of its own keeps it.
        """
        return _NOT_WRITTEN if self.is_done and error.sentence == _NOTHING_WRITTEN else error.sentence


def read_text(argument: str, what: str, taken: os.PathLike[str] | None = None) -> str:
    """A text of the command line: as typed, or standard input where `-` stands for it.

    Args:
        what: what it is, for the sentences: "text".
        taken: the passphrase file; standard input cannot be two things.

    Returns:
        The text; of standard input without its last line end.

    Raises:
        UserError: INVALID_INPUT for nothing, for what is no UTF-8, or where it is the passphrase file too;
            TEXT_TOO_LARGE.
    """
    if argument != "-":
        return argument
    data = read_bytes(what, taken, _STDIN_BYTES)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UserError(Code.INVALID_INPUT, "Standard input is not UTF-8 text; nothing was read from it.") from None
    if not text.strip():
        raise UserError(Code.INVALID_INPUT, f"Standard input is empty; the {what} is expected there.")
    return text.removesuffix("\n").removesuffix("\r")


def read_bytes(what: str, taken: os.PathLike[str] | None, most: int) -> bytes:
    """All of standard input.

    Args:
        what: as for `read_text`.
        taken: as for `read_text`.
        most: bytes at most.

    Raises:
        UserError: INVALID_INPUT where it is empty, closed or the passphrase file too; TEXT_TOO_LARGE.
    """
    refuse_stdin_twice(taken)
    data = open_stdin(what).read(most + 1)
    if len(data) > most:
        raise UserError(Code.TEXT_TOO_LARGE, f"Standard input is too long for a {what}: {most:,} bytes at most.")
    if not data:
        raise UserError(Code.INVALID_INPUT, f"Standard input is empty; the {what} is expected there.")
    return data


def open_stdin(what: str) -> BinaryIO:
    """Standard input as bytes.

    Raises:
        UserError: INVALID_INPUT where it is closed.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise UserError(Code.INVALID_INPUT, f"Standard input is closed; the {what} is expected there.")
    return sys.stdin.buffer


def refuse_stdin_twice(taken: os.PathLike[str] | None) -> None:
    """Refuse `-` where the passphrase is read from standard input as well.

    Raises:
        UserError: INVALID_INPUT.
    """
    with suppress(OSError, ValueError, AttributeError):
        if taken is not None and os.path.samestat(Path(taken).stat(), os.fstat(sys.stdin.fileno())):
            raise UserError(
                Code.INVALID_INPUT, "Standard input is the --passphrase-file already; name another file, or drop the -."
            )


def escape_controls(text: str) -> str:
    """A text that cannot steer a terminal: control, invisible and bidirectional characters as codes."""
    return _CONTROL.sub(lambda sign: f"<U+{ord(sign.group()):04X}>", text.replace("\r\n", "\n"))


def _escape_sign(sign: re.Match[str]) -> str:
    return json.dumps(sign.group())[1:-1]


def _make_visible_line(text: str) -> str:
    return escape_controls(text).replace("\n", "<U+000A>")


def one_line(text: str, width: int = _SHORT) -> str:
    """A text on one line, cut at a width with an ellipsis."""
    flat = " ".join(escape_controls(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def wrap_passage(text: str, lines: int = 4) -> list[str]:
    """The beginning of a text, broken into lines of a terminal's width.

    Args:
        lines: at most; the last one ends with an ellipsis where something was left out.

    Returns:
        The lines, at least one.
    """
    flat = " ".join(escape_controls(text).split())
    return textwrap.wrap(flat, _WIDE, max_lines=lines, placeholder=" …") or [""]


class Output:
    """Standard output and error of one command.

    Attributes:
        as_json: one JSON document on standard output instead of words.
        progression: how far the command has come.
    """

    def __init__(
        self,
        *,
        as_json: bool,
        out: TextIO | None = None,
        err: TextIO | None = None,
        progression: Progression | None = None,
    ) -> None:
        self.as_json = as_json
        self.progression = progression or Progression()
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def print_document(self, value: Mapping[str, Any]) -> None:
        """Print the one JSON document; what could steer a terminal stands in it as escapes."""
        whole = json.dumps(value, ensure_ascii=False, indent=2)
        self._out.write(_CONTROL.sub(_escape_sign, whole) + "\n")
        self._out.flush()

    def print_raw(self, text: str) -> None:
        """Print a text as it is: an export, which is data for a file or a program and not for a terminal."""
        self._out.write(text)

    def print_records(self, values: Iterable[Mapping[str, Any]]) -> None:
        """Print one JSON object a line, escaped as the one document is."""
        for value in values:
            self._out.write(_CONTROL.sub(_escape_sign, json.dumps(value, ensure_ascii=False)) + "\n")

    def flush(self) -> None:
        """Let out what was printed so far.

        Raises:
            OutputError: standard output takes no more.
        """
        self._out.flush()

    def print_line(self, text: str = "") -> None:
        """Print one line for a person, whatever its values hold; nothing when JSON was asked for."""
        if not self.as_json:
            self._out.write(_make_visible_line(text) + "\n")

    def print_lines(self, texts: Iterable[str]) -> None:
        """Print lines for a person."""
        for text in texts:
            self.print_line(text)

    @contextmanager
    def show_progress(self, *, enabled: bool) -> Iterator[Tell | None]:
        """A bar on standard error while something long runs; nothing where that is no terminal.

        Args:
            enabled: whether this verb may take long.

        Yields:
            Something to tell (label, done, total); None where nobody would see it.
        """
        if not enabled or not self._err.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(file=self._err), transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda label, done, total: bar.update(
                task, description=escape_controls(label), completed=done, total=total
            )

    def print_note(self, text: str) -> None:
        """Say one line on standard error; where nobody can hear it, the command goes on."""
        with suppress(OSError):
            self._err.write(_make_visible_line(text) + "\n")
            self._err.flush()

    def print_table(self, rows: Sequence[tuple[str, object]]) -> None:
        """Print names and values in two columns."""
        width = max((len(name) for name, _ in rows), default=0)
        self.print_lines(f"{name:<{width}}  {value}" for name, value in rows)
