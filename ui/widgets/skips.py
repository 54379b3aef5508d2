"""Why an import left something out, in words; the words are `resources/help/skips.json`.

Must not do: count anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ui.strings import skip_strings


@dataclass(frozen=True, slots=True)
class Left:
    """Something that is left out.

    Attributes:
        count: how many; what: in words; why: the reason, as a sentence without its full stop.
    """

    count: int
    what: str
    why: str

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        return f"{self.count:,} {self.what}: {self.why[:1].lower()}{self.why[1:]}."


def left_out(skipped: Mapping[str, int]) -> tuple[Left, ...]:
    """What is left out and why, the most first.

    Args:
        skipped: reason to count, as importers name reasons.
    """
    known = reasons()
    found = []
    for reason, count in skipped.items():
        words = known.get(reason)
        if words is None:
            found.append(Left(count, reason.replace("_", " "), "Loci does not bring these in"))
        elif count:
            why = words["why"]
            found.append(Left(count, words["one" if count == 1 else "many"], why[:1].upper() + why[1:]))
    return tuple(sorted(found, key=lambda one: -one.count))


def skip_sentences(skipped: Mapping[str, int]) -> tuple[str, ...]:
    """One sentence for each reason, the most frequent first.

    Args:
        skipped: reason to count.
    """
    return tuple(left.sentence for left in left_out(skipped))


@cache
def reasons() -> Mapping[str, Mapping[str, str]]:
    """The words for the importers' reasons; read once."""
    found: Mapping[str, Mapping[str, str]] = skip_strings()["reasons"]
    return found
