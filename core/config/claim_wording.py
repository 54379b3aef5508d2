"""What window and command line say alike of a claim: the words between its subject and its value.

The words are `resources/help/belief.json`. Must not do: hand out a subject or a value, or decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.config.help_strings import read_help_strings

_GERUND = "ing"


def belief_words() -> Mapping[str, Any]:
    """The sentences of `resources/help/belief.json`."""
    found: Mapping[str, Any] = read_help_strings("belief")
    return found


def is_owner_named(subject: str) -> bool:
    """Whether a claim's subject is the owner of the vault.

    Args:
        subject: as written.
    """
    return " ".join(subject.casefold().split()) in belief_words()["persons"]


def word_predicate(predicate: str, value: str, *, is_owner: bool, is_denied: bool) -> str | None:
    """A predicate in the words that its value can follow: `plans to` sail, `is planning on` sailing.

    Args:
        predicate: a name.
        value: what follows; its first word decides.
        is_owner: whether the owner of the vault is the subject.
        is_denied: whether the claim is that it is not so.

    Returns:
        The words; None for a predicate that has none.
    """
    words = belief_words()
    first = value.split(" ", 1)[0].casefold()
    is_gerund = first.endswith(_GERUND) and first not in words["no_gerunds"]
    forms = words["before_gerund"].get(predicate) if is_gerund else None
    forms = forms or words["before_phrase"].get(predicate) or words["predicates"].get(predicate)
    return None if forms is None else str(forms[("not_" if is_denied else "") + ("you" if is_owner else "other")])
