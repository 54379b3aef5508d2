"""Grants as they are typed on the command line, and what a client sees with them, in words.

Must not do: grant anything; import the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.cli.output import visible
from core.config.grant_wording import describe_reach
from core.errors import Code, UserError
from core.types.values import Grant

SPACE = "space:"
_KNOWN = frozenset(grant.value for grant in Grant)


def typed_grants(groups: Iterable[str]) -> list[str]:
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


def told_reach(name: str, grants: Sequence[str]) -> list[str]:
    """What a client sees with its grants, and how to let it see more.

    Args:
        name: the client's.
        grants: what it has.

    Returns:
        Lines for the person.
    """
    return [visible(line) for line in describe_reach(name, grants)]
