"""The terminal of `loci chat`: lines in, visible text out.

What a model or a memory says cannot steer the terminal: control, invisible and bidirectional characters are shown as
codes. Must not do: keep a history, write a text anywhere but on standard output.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from importlib.resources import files
from typing import Any, TextIO

from app.cli.output import escape_controls


@cache
def load_words() -> dict[str, Any]:
    """What the model is told and what the person reads."""
    return dict(json.loads(files("resources").joinpath("chat", "words.json").read_text("utf-8")))


def format_sentence(name: str, /, **given: object) -> str:
    """A sentence for the person.

    Args:
        given: what stands in its braces.

    Returns:
        One or two sentences, or a question with a blank behind it.
    """
    return str(load_words()["sentences"][name]).format(**given)


def format_count(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"


MOST_CHARACTERS = 64 * 1024
"""Of one line that is typed; the engine takes no longer prompt."""


class Screen:
    """What the person sees and types."""

    def __init__(self, out: TextIO | None = None, typed: TextIO | None = None) -> None:
        """Use two streams; those of the process where none are given."""
        self._out, self._typed = out or sys.stdout, typed or sys.stdin
        self._pending = ""
        self._at_start = True

    def read_line(self, question: str) -> str | None:
        """Ask for a line.

        Args:
            question: shown before it.

        Returns:
            The line without its end; "" for one longer than `MOST_CHARACTERS`, which the person is told; None at the
            end of input.
        """
        self._write_text(question)
        line = more = self._typed.readline(MOST_CHARACTERS)
        is_whole = True
        while more and not more.endswith("\n"):
            more = self._typed.readline(MOST_CHARACTERS)  # the rest of an endless line is no line of its own
            is_whole = is_whole and not more.rstrip("\r\n")
        self._at_start = True
        if not is_whole:
            self.print_line(format_sentence("too_long_line", most=f"{MOST_CHARACTERS:,}"))
            return ""
        return line.rstrip("\r\n") if line else None

    def print_line(self, text: str = "") -> None:
        """Show one line, whatever it holds."""
        self._write_text(escape_controls(text).replace("\n", "<U+000A>") + "\n")

    def print_block(self, text: str) -> None:
        """Show a text of several lines."""
        for line in text.split("\n"):
            self.print_line(line)

    def print_piece(self, text: str) -> None:
        """Show the next piece of an answer as it comes; line ends pass."""
        whole = self._pending + text
        # A carriage return at the end of a piece may be half of a line end.
        self._pending = "\r" if whole.endswith("\r") else ""
        self._write_text(escape_controls(whole.removesuffix(self._pending)))

    def end_answer(self) -> None:
        """End an answer: what comes next begins a line."""
        pending, self._pending = self._pending, ""
        self._write_text(escape_controls(pending) + ("" if self._at_start and not pending else "\n"))

    def _write_text(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._out.flush()
            self._at_start = text.endswith("\n")
