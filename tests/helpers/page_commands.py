"""The commands that a page of docs shows in its code blocks, read as a person would type them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator


def code_blocks(page: str) -> list[str]:
    """The blocks without a language: what is typed, line by line.

    Args:
        page: Markdown.
    """
    return re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def read_commands(lines: Iterable[str]) -> Iterator[list[str]]:
    """Every `loci` command as words; two stand side by side on some lines.

    Args:
        lines: of a block; what follows `  #` is said, not typed.

    Yields:
        `loci`, the verb, its arguments.
    """
    for line in lines:
        text = line.split("  #")[0].strip()
        yield from (shlex.split(part) for part in re.split(r"\s{2,}(?=loci )", text) if part.startswith("loci "))
