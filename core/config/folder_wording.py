"""What window and command line say alike of a watched folder: how it stands, and what came of it.

Must not do: hand out text of a file, or a name of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.config.help_strings import format_count, read_help_strings

_LEFT = "left."
_FILES_ONLY = ("gone", "kept", "archived")


def watch_words() -> Mapping[str, Any]:
    """The sentences of `resources/help/watched.json`."""
    found: Mapping[str, Any] = read_help_strings("watched")
    return found


def describe_folder(state: str, means: str, reason: str, code: str) -> str:
    """How a watched folder stands.

    Args:
        state: of `core.types.folders.watch.WatchState`.
        means: of `WatchMeans`.
        reason: why it is looked at instead of being told of; "" where it is not.
        code: of what went wrong last.

    Returns:
        One or two sentences.
    """
    words = watch_words()
    said = str(words["state"][state]).format(code=code)
    if means == "looking" and reason in words["reason"]:
        return f"{said} {words['reason'][reason]}"
    return said


def describe_counts(counts: Mapping[str, int], event: str = "came") -> list[str]:
    """What was done, in words, and what was left out and why.

    Args:
        counts: of `core.types.folders.watch.WatchEntry`.
        event: of the same.

    Returns:
        Pieces of a line, in a fixed order; `files` is left out where one file says it all.
    """
    words, reasons = watch_words()["counts"], read_help_strings("skips")["reasons"]
    names = ("files",) if event in _FILES_ONLY else ("new", "changed", "held", "moved")
    least = 1 if event in _FILES_ONLY else 0  # one file is named beside it
    said = [format_count(words[name], counts[name]) for name in names if counts.get(name, 0) > least]
    for name, count in sorted(counts.items()):
        if name.startswith(_LEFT):
            reason = name.removeprefix(_LEFT)
            known = reasons.get(reason)
            why = str(known["one" if count == 1 else "many"]) if known else reason.replace("_", " ")
            said.append(str(words["left"]).format(count=f"{count:,}", why=why))
    return said
