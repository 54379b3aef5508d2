"""Links and tags in the text of a note, and the notes that the links mean.

Must not do: read files, look into code, or guess which of two notes with one name is meant.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from core.text.markdown import ALIAS_MARK, MARKDOWN_LINK, WIKI_LINK

_NOTE_ENDINGS = (".md", ".markdown")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_TAG = re.compile(
    "(?:^|(?<=[\\s(,;]))#([^\\s#!-,.:-@\\[-^`{-~\u00a0-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    "\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f]{1,200})",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link as written.

    Attributes:
        target: what stands before `#` and `|`; empty for a place in the same note.
        kind: `link` or `embed`.
        heading: after `#`; several headings stay joined by `#`.
        block: after `#^`.
        alias: after `|`, or the words of a Markdown link.
        markdown: whether it is a `[words](path)`.
    """

    target: str
    kind: str
    heading: str | None = None
    block: str | None = None
    alias: str | None = None
    markdown: bool = False


def tags_in(plain: str) -> list[str]:
    """Tags written as `#word`, in order, without the mark.

    Args:
        plain: a note's text after `without_code`.

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


def links_in(plain: str) -> list[RawLink]:
    """Links of a note in order: `[[target#heading|alias]]`, `![[embed]]` and `[words](path)`.

    Args:
        plain: a note's text after `without_code`.

    Returns:
        The links; addresses with a scheme are none.
    """
    found = [(m.start(), _wiki_link(m)) for m in WIKI_LINK.finditer(plain)]
    found += [(m.start(), link) for m in MARKDOWN_LINK.finditer(plain) if (link := _markdown_link(m))]
    return [link for _, link in sorted(found, key=lambda pair: pair[0])]


def _wiki_link(match: re.Match[str]) -> RawLink:
    address, *alias = ALIAS_MARK.split(match[2], maxsplit=1)
    target, heading, block = _parts(address)
    return RawLink(target, "embed" if match[1] else "link", heading, block, alias[0].strip() if alias else None)


def _markdown_link(match: re.Match[str]) -> RawLink | None:
    address = match[3] or match[4]
    if _SCHEME.match(address):
        return None
    target, heading, block = _parts(unquote(address))
    return RawLink(target, "embed" if match[1] else "link", heading, block, match[2] or None, markdown=True)


def _parts(address: str) -> tuple[str, str | None, str | None]:
    target, mark, place = address.partition("#")
    place = place.strip()
    if not mark or not place:
        return target.strip(), None, None
    if place.startswith("^"):
        return target.strip(), None, place[1:]
    heading, mark, block = place.partition("#^")
    return target.strip(), heading, block or None


def _folded(path: str) -> str:
    """Disks that ignore case or write letters in two pieces mean the same file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


class NoteIndex:
    """The files a link can mean, found by path, by the end of a path or by name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._exact: set[str] = set()
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._exact.add(path)
            for name in _names(path):
                self._by_name[_folded(posixpath.basename(name))].append(path)

    def resolve(self, link: RawLink, source: str) -> tuple[str | None, str]:
        """Which file a link means.

        Args:
            link: the link.
            source: path of the note it stands in.

        Returns:
            The file's path and `resolved`; or None and `ambiguous` (several files fit) or `unresolved` (none does).
        """
        if not link.target:
            return source, "resolved"
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.target))
        target = posixpath.normpath(link.target.lstrip("/"))
        wanted = (beside, target) if link.markdown or link.target.startswith("./") or ".." in link.target else (target,)
        for path in wanted:
            if found := self._at(path):
                return found, "resolved"
        fits = self._ending_with(target)
        if len(fits) == 1:
            return fits[0], "resolved"
        return None, "ambiguous" if fits else "unresolved"

    def _at(self, path: str) -> str | None:
        for candidate in (path, *(path + ending for ending in _NOTE_ENDINGS)):
            if candidate in self._exact:
                return candidate
        same = [
            known for known in self._candidates(path) if any(_folded(name) == _folded(path) for name in _names(known))
        ]
        return same[0] if len(same) == 1 else None

    def _ending_with(self, path: str) -> list[str]:
        wanted = "/" + _folded(path)
        fits = [p for p in self._candidates(path) if any(("/" + _folded(name)).endswith(wanted) for name in _names(p))]
        if len(fits) > 1:
            same_case = [p for p in fits if any(("/" + name).endswith("/" + path) for name in _names(p))]
            # Two files whose names differ by case only are told apart by it; two of one name never are.
            return same_case or fits
        return fits

    def _candidates(self, path: str) -> list[str]:
        return list(dict.fromkeys(self._by_name.get(_folded(posixpath.basename(path)), ())))


def _names(path: str) -> Iterator[str]:
    """The ways a link may spell a file: whole, and a note without its ending."""
    yield path
    for ending in _NOTE_ENDINGS:
        if path.lower().endswith(ending):
            yield path[: -len(ending)]


def link_rows(links: Iterable[RawLink], index: NoteIndex, source: str) -> list[dict[str, Any]]:
    """Links as data, each with the file it means.

    Args:
        links: the links of one note.
        index: the files that can be meant.
        source: the note's path.

    Returns:
        Rows {target, to, kind, heading, block, alias, state}; a Markdown link is kept where it means a known file or
        a note.
    """
    rows: list[dict[str, Any]] = []
    for link in links:
        to, state = index.resolve(link, source)
        if link.markdown and to is None and not link.target.lower().endswith(_NOTE_ENDINGS):
            continue
        rows.append(
            {
                "target": link.target,
                "to": to,
                "kind": link.kind,
                "heading": link.heading,
                "block": link.block,
                "alias": link.alias,
                "state": state,
            }
        )
    return rows
