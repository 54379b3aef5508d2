"""Links in the text of a note, and which of the known files each of them means.

Must not do: look for links in code, or guess which of two files with one name is meant.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from core.text.markdown import ALIAS_MARK, MARKDOWN_LINK, WIKI_LINK

_NOTE_ENDINGS = (".md", ".markdown")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


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


def links_in(plain: str) -> list[RawLink]:
    """Links of a note in order: `[[target#heading|alias]]`, `![[embed]]` and `[words](path)`.

    Args:
        plain: a note's text after `blank_code`.

    Returns:
        The links; addresses with a scheme are none.
    """
    found = [(m.start(), _wiki_link(m)) for m in WIKI_LINK.finditer(plain)]
    found += [(m.start(), link) for m in MARKDOWN_LINK.finditer(plain) if (link := _markdown_link(m))]
    return [link for _, link in sorted(found, key=lambda pair: pair[0])]


def _wiki_link(match: re.Match[str]) -> RawLink:
    address, *alias = ALIAS_MARK.split(match[2], maxsplit=1)
    target, heading, block = _split_address(address)
    return RawLink(target, "embed" if match[1] else "link", heading, block, alias[0].strip() if alias else None)


def _markdown_link(match: re.Match[str]) -> RawLink | None:
    address = match[3] or match[4]
    if _SCHEME.match(address):
        return None
    target, heading, block = _split_address(unquote(address))
    return RawLink(target, "embed" if match[1] else "link", heading, block, match[2] or None, markdown=True)


def _split_address(address: str) -> tuple[str, str | None, str | None]:
    target, mark, place = address.partition("#")
    place = place.strip()
    if not mark or not place:
        return target.strip(), None, None
    if place.startswith("^"):
        return target.strip(), None, place[1:]
    heading, mark, block = place.partition("#^")
    return target.strip(), heading, block or None


def _fold_path(path: str) -> str:
    """Disks that ignore case or write letters in two pieces mean the same file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


class NoteIndex:
    """The files a link can mean, found by path, by the end of a path or by name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._exact: set[str] = set()
        # By the name without its ending, and most names are borne once: a vault may hold a hundred thousand notes.
        self._by_name: dict[str, str | list[str]] = {}
        for path in paths:
            self._exact.add(path)
            self._add_name(_key_of_name(path), path)

    def _add_name(self, key: str, path: str) -> None:
        known = self._by_name.setdefault(key, path)
        if isinstance(known, list):
            known.append(path)
        elif known != path:
            self._by_name[key] = [known, path]

    def resolve_link(self, link: RawLink, source: str) -> tuple[str | None, str]:
        """Which file a link means.

        Args:
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
            if found := self._find_path(path):
                return found, "resolved"
        fits = self._ending_with(target)
        if len(fits) == 1:
            return fits[0], "resolved"
        return None, "ambiguous" if fits else "unresolved"

    def _find_path(self, path: str) -> str | None:
        for candidate in (path, *(path + ending for ending in _NOTE_ENDINGS)):
            if candidate in self._exact:
                return candidate
        same = [
            known
            for known in self._find_candidates(path)
            if any(_fold_path(name) == _fold_path(path) for name in _spellings_of(known))
        ]
        return same[0] if len(same) == 1 else None

    def _ending_with(self, path: str) -> list[str]:
        wanted = "/" + _fold_path(path)
        fits = [
            p
            for p in self._find_candidates(path)
            if any(("/" + _fold_path(name)).endswith(wanted) for name in _spellings_of(p))
        ]
        if len(fits) > 1:
            same_case = [p for p in fits if any(("/" + name).endswith("/" + path) for name in _spellings_of(p))]
            # Two files whose names differ by case only are told apart by it; two of one name never are.
            return same_case or fits
        return fits

    def _find_candidates(self, path: str) -> list[str]:
        found = self._by_name.get(_key_of_name(path), [])
        return [found] if isinstance(found, str) else list(dict.fromkeys(found))


def _key_of_name(path: str) -> str:
    """The last part of a path without case and note endings, by which files are found that a link may mean."""
    name = _fold_path(posixpath.basename(path))
    while name.endswith(_NOTE_ENDINGS):
        name = name.removesuffix(_NOTE_ENDINGS[0]).removesuffix(_NOTE_ENDINGS[1])
    return name


def _spellings_of(path: str) -> Iterator[str]:
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
        to, state = index.resolve_link(link, source)
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
