"""The words of an HTML page or message: what a person reads of it, as plain text with its lines and lists.

Why not the standard parser: it reads the rest of a page again for each comment that is never closed, so a page of a
few megabytes can keep it busy for hours. Must not do: load anything, keep a script, a style or what the page hides,
recurse, or raise at broken markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

LONGEST = 8 << 20
"""Characters of markup that are read; what follows them is left out."""

_WINDOW = 1_024  # characters of one tag in which marks of quotation are followed
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)")
_ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?")
_RAW = frozenset({"script", "style", "textarea", "title", "xmp", "noembed"})


@dataclass(frozen=True, slots=True)
class HtmlToken:
    """One piece of markup.

    Attributes:
        tag: the element's name in small letters; empty for words.
        is_end: whether it closes the element.
        words: what stands between two tags, with its characters resolved.
        raw_attributes: of an opening tag, as written.
    """

    tag: str = ""
    is_end: bool = False
    words: str = ""
    raw_attributes: str = ""

    def attributes(self) -> dict[str, str]:
        """What the tag says of the element, names in small letters; of two equal names the first counts."""
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(self.raw_attributes[:LONGEST]):
            found.setdefault(name.lower(), unescape(double or single or bare))
        return found


def html_tokens(markup: str) -> Iterator[HtmlToken]:
    """Read markup piece by piece; what is broken counts as words, what never ends reaches to the end.

    Args:
        markup: an HTML page or a part of one.
    """
    markup, at, last_end = markup[:LONGEST], 0, markup.rfind(">", 0, LONGEST)
    while at < len(markup):
        start = markup.find("<", at)
        # Behind the last bracket that closes there are no tags: what is left is not searched for each.
        start = len(markup) if start < 0 or (start > last_end) else start
        if start > at:
            yield HtmlToken(words=unescape(markup[at:start]))
        if start == len(markup):
            return
        token, at = _read_tag(markup, start)
        yield token
        if token.tag in _RAW and not token.is_end:
            at = _find_raw_end(markup, at, token.tag)


def _read_tag(markup: str, start: int) -> tuple[HtmlToken, int]:
    """The token that begins at a bracket, and where the next one begins."""
    if markup.startswith("<!--", start):
        return HtmlToken(), _end_of(markup.find("-->", start + 4), 3, markup)
    if markup.startswith(("<!", "<?"), start):
        return HtmlToken(), _end_of(markup.find(">", start), 1, markup)
    named = _NAME.match(markup, start)
    if named is None:
        return HtmlToken(words="<"), start + 1
    found = _TAG.match(markup, start, start + _WINDOW)
    if found is not None:
        return HtmlToken(found[2].lower(), bool(found[1]), "", found[3]), found.end()
    end = markup.find(">", start)
    return HtmlToken(named[2].lower(), bool(named[1]), "", markup[named.end() : end]), end + 1


def _end_of(found: int, length: int, markup: str) -> int:
    return len(markup) if found < 0 else found + length


def _find_raw_end(markup: str, at: int, tag: str) -> int:
    found = re.compile(rf"</{tag}[\s/>]", re.IGNORECASE).search(markup, at)
    return len(markup) if found is None else found.start()


_SILENT = frozenset({"head", "template", "noscript", "svg", "math", "object", *_RAW} - {"textarea"})
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_PARAGRAPHS = frozenset(
    {"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "dl", "table", "pre", "article", "section"}
)
_LINES = frozenset({"div", "li", "tr", "dt", "dd", "header", "footer", "main", "aside", "figure", "form", "hr", "br"})
_CELLS = frozenset({"td", "th"})
_HIDDEN = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_QUOTES = re.compile(r"\b(?:gmail_quote|moz-cite-prefix|yahoo_quoted|protonmail_quote|divRplyFwdMsg|type=.?cite)\b")
_FORWARDED = re.compile(r"-{5,}\s*(?:Forwarded|Weitergeleitet|Mensaje reenviado|Message transféré)", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_MANY_LINES = re.compile(r"\n{3,}")


class _WordWriter:
    """Puts words together, each line once ended."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._verbatim = 0

    def break_line(self, tag: str, *, is_end: bool) -> None:
        """Take what an element does to the lines around it."""
        if tag == "pre":
            self._verbatim = max(0, self._verbatim + (-1 if is_end else 1))
        if tag in _PARAGRAPHS:
            self._end_line("\n\n")
        elif tag == "br" or (tag in _LINES and not self._is_at_start()):
            self._end_line("\n")
        elif tag in _CELLS and is_end:
            self._parts.append("\t")
        if tag == "li" and not is_end:
            self._parts.append("- ")

    def add_words(self, words: str) -> None:
        """Take what stands between two tags."""
        if self._verbatim:
            self._parts.append(words)
            return
        plain = _BLANKS.sub(" ", words)
        self._parts.append(plain.lstrip(" ") if self._is_at_start() or self._parts[-1].endswith(" ") else plain)

    def _end_line(self, end: str) -> None:
        if self._parts and not self._verbatim:
            self._parts[-1] = self._parts[-1].rstrip(" \t")
        self._parts.append(end)

    def _is_at_start(self) -> bool:
        return not self._parts or not self._parts[-1] or self._parts[-1].endswith("\n")

    def text(self) -> str:
        """Everything, with at most one empty line between two and none at the ends."""
        return _MANY_LINES.sub("\n\n", "".join(part for part in self._parts if part)).strip("\n \t")


def read_html_words(markup: str, *, quotes: bool = True) -> str:
    """What a person reads of a page.

    Args:
        markup: HTML, whole or a part.
        quotes: whether what is quoted from an earlier message stays.
    """
    writer = _WordWriter()
    silent: list[str] = []
    for token in html_tokens(markup):
        if silent:
            _follow_silence(silent, token)
        elif token.tag and not token.is_end and _is_silent(token, quotes=quotes):
            silent.append(token.tag)
        elif token.tag == "img" and not token.is_end:
            writer.add_words(token.attributes().get("alt", ""))
        elif token.tag:
            writer.break_line(token.tag, is_end=token.is_end)
        else:
            writer.add_words(token.words)
    return writer.text()


def _follow_silence(silent: list[str], token: HtmlToken) -> None:
    """Count what opens and closes inside an element that is left out; only its own kind can end it."""
    if token.tag != silent[0]:
        return
    if token.is_end:
        silent.pop()
    else:
        silent.append(token.tag)


def _is_silent(token: HtmlToken, *, quotes: bool) -> bool:
    if token.tag in _VOID or token.raw_attributes.endswith("/"):
        return False
    if token.tag in _SILENT:
        return True
    if not token.raw_attributes:
        return False
    if not quotes and _QUOTES.search(token.raw_attributes):
        return True
    return "style" in token.raw_attributes and _HIDDEN.search(token.attributes().get("style", "")) is not None
