"""The manual page `loci(1)`, made of the commands as they are.

Must not do: name a verb or an option here; what the commands do not say themselves stands in `linux/man.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click

WORDS = Path(__file__).parent / "linux" / "man.json"
_PARAGRAPH = re.compile(r"\n\s*\n")


def write_man_page(group: click.Group, number: str) -> str:
    """The page in the language of `man` (roff).

    Args:
        group: the command line.
        number: the version of the program.
    """
    words = json.loads(WORDS.read_text(encoding="utf-8"))
    lines = [
        f'.TH LOCI 1 "" "Loci {escape_roff(number)}" "Loci"',
        ".SH NAME",
        f"loci \\- {escape_roff(words['about'])}",
    ]
    lines += [".SH SYNOPSIS", ".B loci", "[OPTIONS] [COMMAND] [ARGS]..."]
    lines += [".SH DESCRIPTION", *_write_help(group.help or ""), ".PP", escape_roff(words["window"])]
    lines += [".SH OPTIONS", *_write_options(group, click.Context(group, info_name="loci"))]
    lines += [".SH COMMANDS", *_write_commands(group)]
    for section in words["sections"]:
        lines.append(f".SH {escape_roff(section['title'])}")
        for term, meaning in section["terms"].items():
            lines += [".TP", f".B {escape_roff(term)}", escape_roff(meaning)]
    return "\n".join(lines) + "\n"


def escape_roff(text: str) -> str:
    """A text as one line of roff that shows it as it is.

    Args:
        text: any; its line ends count as blanks.
    """
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain


def _write_commands(group: click.Group) -> Iterator[str]:
    context = click.Context(group, info_name="loci")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield f".SS loci {escape_roff(' '.join([name, *command.collect_usage_pieces(inner)]))}"
        yield from _write_help(command.help or "")
        yield from _write_options(command, inner)


def _write_help(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(_PARAGRAPH.split(text.strip())):
        if number:
            yield ".PP"
        yield escape_roff(paragraph)


def _write_options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and (parameter.name != "help" or context.parent is None):  # once is enough
            yield ".TP"
            yield f".B {escape_roff(record[0])}"
            yield escape_roff(record[1]) or "\\&"
