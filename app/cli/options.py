"""The global options, grants as they are typed, and where the verb stands: what is needed before a verb is loaded.

Must not do: import a verb or the engine; `loci mcp` starts with this alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from app.cli.output import escape_controls
from core.config.grant_wording import describe_reach
from core.errors import Code, UserError
from core.types.values import Grant, Status

F = TypeVar("F", bound=Callable[..., Any])

SPACE = "space:"
_KNOWN = frozenset(grant.value for grant in Grant)


def parse_grants(groups: Iterable[str]) -> list[str]:
    """Grants as typed: separated by commas, given several times, each once in what comes of it.

    Args:
        groups: what stood behind each `--grant`.

    Returns:
        Words of `Grant` and `space:<name>`, in their order.

    Raises:
        UserError: INVALID_INPUT for a word that is no grant; it names those there are.
    """
    found = list(dict.fromkeys(word.strip() for group in groups for word in group.split(",") if word.strip()))
    for word in found:
        if word not in _KNOWN and not word.startswith(SPACE):
            known = ", ".join(grant.value for grant in Grant)
            raise UserError(Code.INVALID_INPUT, f"A grant is one of {known} or space:NAME.")
        if word == SPACE:
            raise UserError(Code.INVALID_INPUT, "Name the space: space:NAME.")
    return found


def reach_lines(name: str, grants: Sequence[str]) -> list[str]:
    """What a client sees with its grants, and how to let it see more.

    Returns:
        Lines for the person.
    """
    return [escape_controls(line) for line in describe_reach(name, grants)]


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_TAKE_VALUE = frozenset({"--home", "--passphrase-file"})


def global_options(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Give a group the options that stand before every verb."""
    for option in (
        click.version_option(package_name="loci-palace", prog_name="loci"),
        click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output."),
        click.option(
            "--passphrase-file",
            type=click.Path(path_type=Path, dir_okay=False),
            help="File whose first line is the passphrase or the recovery code (or LOCI_PASSPHRASE_FILE).",
        ),
        click.option("--home", type=click.Path(path_type=Path), help="Where the vault lives (or LOCI_HOME)."),
    ):
        fn = option(fn)
    return fn


def hoist_json_option(arguments: Sequence[str]) -> list[str]:
    """Move `--json` in front of the verb, so that it may stand anywhere.

    Args:
        arguments: as typed.

    Returns:
        The same arguments; what follows `--` stays untouched.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    head = [argument for argument in arguments[:end] if argument != "--json"]
    front = ["--json"] if len(head) < end else []
    return [*front, *head, *arguments[end:]]


def parse_statuses(text: str | None) -> list[str] | str | None:
    """Statuses as typed: names separated by commas, or all.

    Args:
        text: as typed, if it was.

    Returns:
        Their names; `all` stays as it is.

    Raises:
        UserError: INVALID_INPUT for a word that is no status; it names those there are.
    """
    if text is None or text == "all":
        return text
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = {status.value for status in Status}
    if not names or any(name not in known for name in names):
        raise UserError(Code.INVALID_INPUT, f"A status is one of {', '.join(sorted(known))}, separated by commas.")
    return names


def find_verb(arguments: Sequence[str]) -> str | None:
    """The verb among arguments, found without reading any of them closely.

    Args:
        arguments: as typed.

    Returns:
        The first argument that is neither an option nor an option's value; None where there is none.
    """
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            return argument
        if argument in _TAKE_VALUE:
            next(rest, None)
    return None


def local_time(typed: str | None) -> str | None:
    """A time as typed: without a zone it is this machine's.

    Args:
        typed: as the person wrote it, if they did.

    Returns:
        The same with this machine's offset where it named none.
    """
    if typed is None:
        return None
    from core.text.times import localise_time

    return localise_time(typed)


def secret_file_option(name: str, opens: str) -> Callable[[F], F]:
    """An option that names a file with a secret, as the parameter `secret_file`.

    Args:
        name: of the option, without its dashes.
        opens: the first words of its help: what the file's first line is.
    """
    return click.option(
        f"--{name}",
        "secret_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help=f"File whose first line {opens}. Default: ask.",
    )


archive_passphrase_option = secret_file_option("archive-passphrase-file", "is the archive's passphrase")
sealed_passphrase_option = secret_file_option("sealed-passphrase-file", "opens the sealed memories")
