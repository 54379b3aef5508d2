"""The steps that a how-to names, and the words that call it up: read from its text by rules.

Must not do: change a text, or rank.
"""

from __future__ import annotations

import re

from core.text.split import split_sentences
from core.text.terms import query_terms

MOST_STEPS, MOST_CUES = 100, 12
_STEP_CHARACTERS = 500
_LISTED = re.compile(r"^[ \t]*(?:(?:step[ \t]+)?\d{1,2}[.):][ \t]+|[-*•][ \t]+)(\S.*)$", re.IGNORECASE | re.MULTILINE)
_INLINE = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)][ \t]+(?=\S)")


def extract_steps(text: str) -> tuple[str, ...]:
    """The steps of a how-to, where it lists them: lines with numbers or bullets, or numbers within a line.

    Returns:
        Two to 100 steps in the order of the text, each one line of at most 500 characters; empty where it lists none.
    """
    found = [match.group(1) for match in _LISTED.finditer(text)]
    if len(found) < 2:
        found = _inline(text)
    kept = [" ".join(step.split())[:_STEP_CHARACTERS].strip() for step in found]
    kept = [step for step in kept if step]
    return tuple(kept[:MOST_STEPS]) if len(kept) > 1 else ()


def _inline(text: str) -> list[str]:
    """What stands between 1, 2, 3 and so on; a number out of order is part of a step."""
    marks: list[re.Match[str]] = []
    for match in _INLINE.finditer(text):
        if int(match.group(1)) == len(marks) + 1:
            marks.append(match)
    if not marks:
        return []
    ends = [match.start() for match in marks[1:]] + [len(text)]
    return [text[match.end() : end].strip(" \t\n;,") for match, end in zip(marks, ends, strict=True)]


def extract_cues(text: str) -> tuple[str, ...]:
    """The words that call a how-to up: those of what stands before its first step, else of its first sentence.

    Returns:
        Up to 12 folded words without function words, in the order of the text.
    """
    first = _LISTED.search(text) or next((m for m in _INLINE.finditer(text) if m.group(1) == "1"), None)
    head = text[: first.start()] if first is not None and extract_steps(text) else ""
    if not head.strip():
        start, end = next(iter(split_sentences(text)), (0, len(text)))
        head = text[start:end]
    words = (one.word for one in query_terms(head) if not one.stop and not one.word.isdigit())
    return tuple(dict.fromkeys(word for word in words if word.split() == [word]))[:MOST_CUES]
