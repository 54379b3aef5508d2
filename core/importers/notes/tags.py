"""Tags in the text of a note, written as `#word`.

Must not do: look for tags in code, or take a number, an anchor or a colour for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.text.markdown import MARKDOWN_LINK, WIKI_LINK

_TAG = re.compile(
    "(?:^|(?<=[\\s(,;]))#([^\\s#!-,.:-@\\[-^`{-~\u00a0-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    "\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f]{1,200})",
    re.MULTILINE,
)


def tags_in(plain: str) -> list[str]:
    """Tags written as `#word`, in order, without the mark.

    Args:
        plain: a note's text after `blank_code`.

    Returns:
        The tags. A number alone is none; nor is a heading, an anchor of a link or a colour in an address.
    """
    words = MARKDOWN_LINK.sub(lambda m: m[2], WIKI_LINK.sub(" ", plain))
    return [tag for m in _TAG.finditer(words) if is_tag(tag := m[1].rstrip("/"))]


def is_tag(word: str) -> bool:
    """Whether a word can be a tag: it holds something besides digits and marks."""
    return any(not ch.isdigit() and ch not in "-_/" for ch in word)


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, as first written; tags differ by more than case."""
    seen: dict[str, str] = {}
    for tag in tags:
        seen.setdefault(tag.casefold(), tag)
    return tuple(seen.values())
