"""What each grant lets a client do, in words for the person; one text for the command line and the window.

Must not do: grant anything.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

_SPACE = "space:"


def sentence(grant: str) -> str:
    """What a grant lets a client do.

    Args:
        grant: a word of `Grant`, or `space:<name>`.

    Returns:
        One plain sentence; the word itself where it is unknown.
    """
    return _told(grant, "sentence")


def short(grant: str) -> str:
    """A grant in a word or two.

    Args:
        grant: a word of `Grant`, or `space:<name>`.

    Returns:
        The words; for a space its name.
    """
    return _told(grant, "word")


def sees_own() -> str:
    """What a client sees without any grant of a space."""
    return str(_words()["sees"]["own"])


def former() -> str:
    """What the person is told where a client comes back under the name of one that was revoked."""
    return str(_words()["sees"]["former"])


def cannot() -> str:
    """The one sentence on what no grant can guard against (reliability study, D)."""
    return str(_words()["cannot"])


def _told(grant: str, part: str) -> str:
    grants = _words()["grants"]
    if grant.startswith(_SPACE):
        return str(grants["space"][part]).replace("{name}", grant.removeprefix(_SPACE))
    return str(grants[grant][part]) if grant in grants else grant


@cache
def _words() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("resources").joinpath("help", "clients.json").read_text("utf-8"))
    return found
