"""What the command line prints: JSON as the contract says, or words for a person.

Memory text is hostile: control characters are made visible before they reach a terminal.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SHORT = 160
_WIDE = 96

Tell = Callable[[str, int, int | None], None]
"""Told what is done, units done, and units in all."""


def visible(text: str) -> str:
    """A text that cannot steer a terminal: control, invisible and bidirectional characters as codes."""
    return _CONTROL.sub(lambda sign: f"<U+{ord(sign.group()):04X}>", text.replace("\r\n", "\n"))


def _one_visible(text: str) -> str:
    return visible(text).replace("\n", "<U+000A>")


def one_line(text: str, width: int = _SHORT) -> str:
    """A text on one line, cut at a width with an ellipsis."""
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def passage(text: str, lines: int = 4) -> list[str]:
    """The beginning of a text, broken into lines of a terminal's width.

    Args:
        text: any text.
        lines: at most; the last one ends with an ellipsis where something was left out.

    Returns:
        The lines, at least one.
    """
    flat = " ".join(visible(text).split())
    return textwrap.wrap(flat, _WIDE, max_lines=lines, placeholder=" …") or [""]


class Output:
    """Standard output and error of one command.

    Attributes:
        as_json: one JSON document on standard output instead of words.
    """

    def __init__(self, *, as_json: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def document(self, value: Mapping[str, Any]) -> None:
        """Print the one JSON document; what could steer a terminal stands in it as escapes."""
        whole = json.dumps(value, ensure_ascii=False, indent=2)
        self._out.write(_CONTROL.sub(lambda sign: json.dumps(sign.group())[1:-1], whole) + "\n")
        self._out.flush()

    def line(self, text: str = "") -> None:
        """Print one line for a person, whatever its values hold; nothing when JSON was asked for."""
        if not self.as_json:
            self._out.write(_one_visible(text) + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Print lines for a person."""
        for text in texts:
            self.line(text)

    @contextmanager
    def progress(self, *, enabled: bool) -> Iterator[Tell | None]:
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
            yield lambda label, done, total: bar.update(task, description=visible(label), completed=done, total=total)

    def note(self, text: str) -> None:
        """Say one line on standard error."""
        self._err.write(_one_visible(text) + "\n")
        self._err.flush()

    def table(self, rows: Sequence[tuple[str, object]]) -> None:
        """Print names and values in two columns."""
        width = max((len(name) for name, _ in rows), default=0)
        self.lines(f"{name:<{width}}  {value}" for name, value in rows)
