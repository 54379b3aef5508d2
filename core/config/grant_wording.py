"""What each grant lets a client do, in words for the person; one text for the command line and the window.

Must not do: grant anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.config.help_strings import read_help_strings

_SPACE = "space:"
_WRITES = frozenset({"propose", "write", "curate"})


def describe_grant(grant: str) -> str:
    """What a grant lets a client do.

    Args:
        grant: a word of `Grant`, or `space:<name>`.

    Returns:
        One plain sentence; the word itself where it is unknown.
    """
    return _format_grant_part(grant, "sentence")


def format_grant(grant: str) -> str:
    """A grant in a word or two.

    Args:
        grant: a word of `Grant`, or `space:<name>`.

    Returns:
        The words; for a space its name.
    """
    return _format_grant_part(grant, "word")


def describe_default_visibility() -> str:
    """What a client sees without any grant of a space."""
    return str(_load_strings()["sees"]["own"])


def describe_space_grant(grant: str) -> str:
    """What a client sees with `all_spaces` or `space:<name>`, as an entry of a list of such things."""
    told = _load_strings()["sees"]
    return str(told["all"]) if grant == "all_spaces" else str(told["one"]).replace("{name}", grant.removeprefix(_SPACE))


def space_grants(grants: Sequence[str]) -> list[str]:
    """The grants that let a client see spaces, without those that another one covers.

    Args:
        grants: words of `Grant` and `space:<name>`.

    Returns:
        Only `all_spaces` where that is among them.
    """
    every = [grant for grant in grants if grant == "all_spaces"]
    return every or [grant for grant in grants if grant.startswith(_SPACE)]


def describe_former_client() -> str:
    """What the person is told where a client comes back under the name of one that was revoked."""
    return str(_load_strings()["sees"]["former"])


def describe_reach(name: str, grants: Sequence[str]) -> list[str]:
    """What a client sees with these grants, and what lets it see more.

    Args:
        grants: words of `Grant` and `space:<name>`.

    Returns:
        Sentences for the person who pairs it.
    """
    told = _load_strings()["reach"]
    spaces = ", ".join(grant.removeprefix(_SPACE) for grant in grants if grant.startswith(_SPACE))
    if "read" not in grants:
        seen = "blind"
    elif "all_spaces" in grants:
        seen = "all"
    else:
        seen = "some" if spaces else "none"
    said = [str(told[seen])]
    if "propose" in grants and "write" not in grants:
        said.append(str(told["waits"]))
    own = str(told["own" if _WRITES & frozenset(grants) else "own_not"])
    said = [one.replace("{own}", own) for one in said]
    return [one.replace("{name}", shell_quoted(name)).replace("{spaces}", spaces) for one in said]


def shell_quoted(name: str) -> str:
    """A client's name as it is typed in a shell; names have no quotes in them.

    Returns:
        The name, in quotes where it has blanks.
    """
    return f'"{name}"' if " " in name else name


def is_beyond_default(grant: str) -> bool:
    """Whether a deed that is granted is more than a client gets that asks for nothing; spaces are no deeds."""
    return grant not in ("read", "propose", "all_spaces") and not grant.startswith(_SPACE)


def describe_reused_name() -> str:
    """What the person is told who has just paired a client under the name of one that was revoked."""
    return str(_load_strings()["sees"]["taken_up"])


def describe_limits_of_grants() -> str:
    """The one sentence on what no grant can guard against (reliability study, D)."""
    return str(_load_strings()["cannot"])


def _format_grant_part(grant: str, part: str) -> str:
    grants = _load_strings()["grants"]
    if grant.startswith(_SPACE):
        return str(grants["space"][part]).replace("{name}", grant.removeprefix(_SPACE))
    return str(grants[grant][part]) if grant in grants else grant


def _load_strings() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_help_strings("clients")
    return found
