"""Why the lifecycle does something, or leaves it, in words; the words are `resources/help/lifecycle.json`.

Must not do: decide anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from ui.strings import lifecycle_strings


def reason_told(key: str) -> str:
    """A reason as a sentence.

    Args:
        key: of `lifecycle.json`; one that is not there is said by its own words. "" for none.
    """
    found = lifecycle_strings().get(key)
    return str(found) if isinstance(found, str) else f"{key.replace('_', ' ').capitalize()}." if key else ""


def clause(sentence: str) -> str:
    """A sentence as the part of another one: without its stop, its first letter small.

    Args:
        sentence: such as `You said so.`
    """
    cut = sentence.rstrip(".")
    return cut if cut[1:2].isupper() else f"{cut[:1].lower()}{cut[1:]}"


def reasons_told(keys: Sequence[str]) -> str:
    """Reasons as one list of clauses, without a stop: `it is pinned; you said so`.

    Args:
        keys: of `lifecycle.json`.
    """
    return "; ".join(clause(reason_told(key)) for key in keys)
