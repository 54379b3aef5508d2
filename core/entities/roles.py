"""Whether a first name and a full name that begins with it are two people: "my sister Sara", "songs by Sara Lark".

A sister, a colleague or a neighbour is introduced by what they are to somebody; whoever is known for a work is told by
the work. The words of works are `resources/enrich/name_roles.json`. Pure. Must not do: say that two are one, or read a
vault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from core.entities.recognition import name_words


def are_plainly_two(short: str, whole: str, texts: Sequence[str]) -> bool:
    """Whether texts introduce a first name as somebody's relation, and the full name as known for a work.

    Args:
        short: one word, as written.
        whole: the full name, in whatever case.
        texts: what names either of them.
    """
    any_case = re.compile(re.escape(whole), re.IGNORECASE)
    spelt = next((found.group() for text in texts if (found := any_case.search(text))), "")
    if not spelt or any(is_introduced_as_relation(spelt, text) for text in texts):
        return False
    return any(is_introduced_as_relation(short, text) for text in texts) and any(
        is_known_for_work(spelt, text) for text in texts
    )


def is_introduced_as_relation(name: str, text: str) -> bool:
    """Whether a text says what somebody of this name, and no longer one, is to somebody."""
    words = name_words()
    return any(
        words.related.search(text[:start]) is not None or words.relates.match(text[end:]) is not None
        for start, end in _places_of(name, text)
    )


def is_known_for_work(name: str, text: str) -> bool:
    """Whether a text tells of somebody by a work of theirs, or by what makers of works are called."""
    before, behind = _work_patterns()
    return any(
        before.search(text[:start]) is not None or behind.match(text[end:]) is not None
        for start, end in _places_of(name, text)
    )


def _places_of(name: str, text: str) -> Iterable[tuple[int, int]]:
    """Where a name stands that goes on with no other capital word."""
    return (found.span() for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w| [A-Z])", text))


@cache
def _work_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What stands before and behind the name of somebody who is known for works."""
    data: dict[str, str] = json.loads((files("resources") / "enrich" / "name_roles.json").read_text("utf-8"))
    makers, works = data["makers"], data["works"]
    before = rf"\b(?:by|(?:{makers})(?: is| was|,|:)?|{data['followed']}) $"
    behind = rf"(?:['’]s?)? (?:[\w-]+ ){{0,2}}?(?:{works})\b|(?:,| is| was) (?:[\w-]+ ){{1,3}}?(?:{makers})\b"
    return re.compile(before, re.IGNORECASE), re.compile(behind)
