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

_NOTE_ENDINGS = (".md", ".markdown")

_FENCE = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*(`{3,}|~{3,})([^\n]*)")
_LIST_ITEM = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_TICKS = re.compile(r"`+")
_BLOCK_END = re.compile(r"\n[ \t\r]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t])")
_HIDDEN_SPANS = (("<!--", "-->"), ("$$", "$$"))

_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]{1,1000})\]\]")
_MARKDOWN = re.compile(
    r"""(!?)\[([^\[\]\n]{0,1000})\]
    \((?: <([^<>\n]{1,1000})> | ((?:[^()\s<>]++|\([^()\s<>]*+\))+) )
    (?:[ \t]+"[^"\n]{0,500}")?\)""",
    re.VERBOSE,
)
_HEADING = re.compile(
    r"""^[ ]{0,3}(?:
    (?P<marks>\#{1,6})[ \t]+(?P<words>[^\n]*?)[ \t]*\#*[ \t\r]*(?:\n|\Z)
    | (?P<above>[^\s>|#+*-][^\n|]{0,200})\n[ ]{0,3}(?P<line>=+|-{2,})[ \t\r]*(?:\n|\Z)
    )""",
    re.MULTILINE | re.VERBOSE,
)
_ALIAS_MARK = re.compile(r"\\?\|")
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


def without_code(text: str) -> str:
    """The text with code, comments and formulas blanked out; every other character keeps its place.

    Fenced blocks (an unclosed one runs to the end), indented blocks outside lists, inline code, HTML comments and
    `$$` formulas count.
    """
    text = _without_blocks(text)
    pieces: list[str] = []
    start = 0
    for gap in _BLOCK_END.finditer(text):
        pieces += (_without_inline(text[start : gap.start()]), gap[0])
        start = gap.end()
    pieces.append(_without_inline(text[start:]))
    text = "".join(pieces)
    for opening, closing in _HIDDEN_SPANS:
        text = _without_span(text, opening, closing)
    return text


def _blanked(text: str) -> str:
    return "".join(ch if ch in "\r\n" else " " for ch in text)


def _without_span(text: str, opening: str, closing: str) -> str:
    pieces: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        pieces += (text[at:start], _blanked(text[start : end + len(closing)]))
        at = end + len(closing)
    pieces.append(text[at:])
    return "".join(pieces)


@dataclass(slots=True)
class _Blocks:
    """Where a scan over lines stands: inside a fence, after a blank line, in a list."""

    fence: str | None = None
    quoted: bool = False
    after_blank: bool = True
    in_list: bool = False

    def is_code(self, line: str) -> bool:
        """Take the next line; say whether it is code."""
        fence = _FENCE.match(line)
        quoted = line.lstrip(" ").startswith(">")
        if self.fence is not None and (quoted or not self.quoted):
            if fence and fence[1].startswith(self.fence) and not fence[2].strip():
                self.fence = None
            return True
        self.fence = None
        indented = _INDENTED.match(line) is not None
        if indented and self.after_blank and not self.in_list:
            return True
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            self.fence, self.quoted = fence[1], quoted
            return True
        blank = not line.strip()
        if not blank and not indented:
            self.in_list = _LIST_ITEM.match(line) is not None or (self.in_list and not self.after_blank)
        self.after_blank = blank
        return False


def _without_blocks(text: str) -> str:
    blocks = _Blocks()
    return "\n".join(_blanked(line) if blocks.is_code(line) else line for line in text.split("\n"))


def _without_inline(paragraph: str) -> str:
    """Blank the code spans of one paragraph: a run of backticks up to the next run of the same length."""
    if "`" not in paragraph:
        return paragraph
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(paragraph)]
    by_length: dict[int, list[int]] = defaultdict(list)
    for index in range(len(runs) - 1, -1, -1):
        by_length[runs[index][1] - runs[index][0]].append(index)
    pieces: list[str] = []
    at, next_run = 0, 0
    for index, (start, end) in enumerate(runs):
        same = by_length[end - start]
        while same and same[-1] <= index:
            same.pop()
        if index < next_run or not same or (start and paragraph[start - 1] == "\\"):
            continue
        close = runs[same[-1]]
        pieces += (paragraph[at:start], _blanked(paragraph[start : close[1]]))
        at, next_run = close[1], same[-1] + 1
    pieces.append(paragraph[at:])
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note.

    Attributes:
        level: 1 to 6.
        words: what it says, links as their words.
        start: where its line begins; `end` where the next line does.
    """

    level: int
    words: str
    start: int
    end: int


def headings_in(plain: str) -> Iterator[Heading]:
    """Headings of a note in order: `## words`, and words above a line of `=` or `-`.

    Args:
        plain: a note's text after `without_code`.
    """
    for match in _HEADING.finditer(plain):
        words = match["words"] if match["words"] is not None else match["above"]
        level = len(match["marks"]) if match["marks"] else 1 if match["line"].startswith("=") else 2
        yield Heading(level, _link_words(words).strip("*_ \t\r"), match.start(), match.end())


def _link_words(text: str) -> str:
    """A line with its links as the words that a reader sees."""
    text = _WIKI.sub(lambda m: _ALIAS_MARK.split(m[2], maxsplit=1)[-1], text)
    return _MARKDOWN.sub(lambda m: m[2], text)


def tags_in(plain: str) -> list[str]:
    """Tags written as `#word`, in order, without the mark.

    Args:
        plain: a note's text after `without_code`.

    Returns:
        The tags. A number alone is none; nor is a heading, an anchor of a link or a colour in an address.
    """
    words = _MARKDOWN.sub(lambda m: m[2], _WIKI.sub(" ", plain))
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
    found = [(m.start(), _wiki_link(m)) for m in _WIKI.finditer(plain)]
    found += [(m.start(), link) for m in _MARKDOWN.finditer(plain) if (link := _markdown_link(m))]
    return [link for _, link in sorted(found, key=lambda pair: pair[0])]


def _wiki_link(match: re.Match[str]) -> RawLink:
    address, *alias = _ALIAS_MARK.split(match[2], maxsplit=1)
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
