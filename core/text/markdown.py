"""Markdown as people write it in notes: where its code, headings, links and front matter stand, and its plain words.

Obsidian's and Logseq's marks are known beside those of CommonMark. Must not do: read files, or raise at any text.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FENCE = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*(`{3,}|~{3,})([^\n]*)")
_LIST_ITEM = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_TICKS = re.compile(r"`+")
_BLOCK_END = re.compile(r"\n[ \t\r]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t])")
_HIDDEN_SPANS = (("<!--", "-->"), ("$$", "$$"))

WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,1000})\]\]")
MARKDOWN_LINK = re.compile(
    r"""(!?)\[([^\[\]\n]{0,1000})\]
    \((?: <([^<>\n]{1,1000})> | ((?:[^()\s<>]++|\([^()\s<>]*+\))+) )
    (?:[ \t]+"[^"\n]{0,500}")?\)""",
    re.VERBOSE,
)
ALIAS_MARK = re.compile(r"\\?\|")
_HEADING = re.compile(
    r"""^[ ]{0,3}(?:
    (?P<marks>\#{1,6})[ \t]+(?P<words>[^\n]*?)[ \t]*\#*[ \t\r]*(?:\n|\Z)
    | (?P<above>[^\s>|#+*-][^\n|]{0,200})\n[ ]{0,3}(?P<line>=+|-{2,})[ \t\r]*(?:\n|\Z)
    )""",
    re.MULTILINE | re.VERBOSE,
)
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatterBlock:
    """Where a front matter stands.

    Attributes:
        start: behind its first `---` line.
        end: of what stands in it; None where it never ends.
        body_at: where the note's own text begins; 0 where it never ends.
    """

    start: int
    end: int | None
    body_at: int


def find_front_matter(text: str) -> FrontMatterBlock | None:
    """What stands between two `---` lines at the top of a note; None where it does not begin with one."""
    opening = _OPENING.match(text, 1 if text.startswith("\ufeff") else 0)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        return FrontMatterBlock(opening.end(), None, 0)
    return FrontMatterBlock(opening.end(), closing.start(), min(closing.end() + 1, len(text)))


def blank_code(text: str, *, keep_hidden: bool = False) -> str:
    """The text with code, comments and formulas blanked out; every other character keeps its place.

    Fenced blocks (an unclosed one runs to the end), indented blocks outside lists, inline code, HTML comments and
    `$$` formulas count.

    Args:
        text: Markdown.
        keep_hidden: leave comments and formulas where they are.
    """
    text = _without_blocks(text)
    pieces: list[str] = []
    start = 0
    for gap in _BLOCK_END.finditer(text):
        pieces += (_without_inline(text[start : gap.start()]), gap[0])
        start = gap.end()
    pieces.append(_without_inline(text[start:]))
    text = "".join(pieces)
    for opening, closing in () if keep_hidden else _HIDDEN_SPANS:
        text = _without_span(text, opening, closing)
    return text


def _blank_text(text: str) -> str:
    return "".join(ch if ch in "\r\n" else " " for ch in text)


def _without_span(text: str, opening: str, closing: str) -> str:
    pieces: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        pieces += (text[at:start], _blank_text(text[start : end + len(closing)]))
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
    return "\n".join(_blank_text(line) if blocks.is_code(line) else line for line in text.split("\n"))


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
        pieces += (paragraph[at:start], _blank_text(paragraph[start : close[1]]))
        at, next_run = close[1], same[-1] + 1
    pieces.append(paragraph[at:])
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class MarkdownHeading:
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


def headings_in(plain: str) -> Iterator[MarkdownHeading]:
    """Headings of a note in order: `## words`, and words above a line of `=` or `-`.

    Args:
        plain: a note's text after `blank_code`.
    """
    for match in _HEADING.finditer(plain):
        words = match["words"] if match["words"] is not None else match["above"]
        level = len(match["marks"]) if match["marks"] else 1 if match["line"].startswith("=") else 2
        yield MarkdownHeading(level, _link_words(words).strip("*_ \t\r"), match.start(), match.end())


def _link_words(text: str) -> str:
    """A line with its links as the words that a reader sees."""
    text = WIKI_LINK.sub(lambda m: ALIAS_MARK.split(m[2], maxsplit=1)[-1], text)
    return MARKDOWN_LINK.sub(lambda m: m[2], text)


# ---- plain words

_HELD, _HELD_END = "\ue000", "\ue001"  # stand for code while the rest is worded; no reader is shown private signs
_HOLDER = re.compile(f"{_HELD}(\\d+){_HELD_END}")
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_CALLOUT = re.compile(
    r"^(?P<in>[ \t]*(?:>[ \t]?)+)\[!(?P<kind>[\w-]{1,40})(?:\|[^\]\n]*)?\][+-]?[ \t]*(?P<title>[^\n]*)"
    r"(?P<rest>(?:\n[ \t]*>[^\n]*)*)",
    re.MULTILINE,
)
_QUOTE_MARK = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_TASK = re.compile(r"^(?P<in>[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[(?P<mark>[^\[\]\n])\][ \t]+", re.MULTILINE)
_BLOCK_ID = re.compile(r"(?:^|[ \t]+)\^[A-Za-z0-9-]{1,60}[ \t]*$", re.MULTILINE)
_LOGSEQ_OWN = re.compile(
    r"^[ \t]*(?:-[ \t]+)?(?P<key>[A-Za-z][\w-]{0,40})::[ \t]*(?P<value>[^\n]*)(?:\n|\Z)", re.MULTILINE
)
_FIELD = re.compile(r"[\[(](?P<key>[^\W\d][\w -]{0,40})::[ \t]*(?P<value>[^\[\]()\n]*)[\])]")
_LOGSEQ_CALL = re.compile(r"\(\([0-9a-fA-F-]{36}\)\)|\{\{[^{}\n]{1,400}\}\}")
_HASH_LINK = re.compile(r"#(?=\[\[)")
_STRONG = re.compile(r"(?P<mark>\*\*|==)(?=\S)(?P<words>[^\n]+?)(?<=\S)(?P=mark)")
_EMPHASIS = re.compile(r"(?<![\w*])(?P<mark>\*{1,3}|__)(?=\S)(?P<words>[^*\n]+?)(?<=\S)(?P=mark)(?![\w*])")
_SOURCE_CODE = re.compile(
    "[ \t]?\ue200[a-z_]{1,20}(?:\ue202[a-z]{1,12}\\d{1,4}(?:[a-z]{1,12}\\d{1,4}){0,2}){1,40}\ue201"
)
_BLANK_LINES = re.compile(r"\n[ \t\r]*(?:\n[ \t\r]*)+")
_RULE = re.compile(r"^[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _MarkdownWords:
    """What `resources/text/markdown.json` says.

    Attributes:
        media: folded file ending to the word for such a file.
        tasks: what stands in a checkbox to its words; `done` for any other.
        unsaid: folded names of properties that tell a program something, or when, which is told beside the text.
    """

    media: Mapping[str, str]
    tasks: Mapping[str, str]
    unsaid: frozenset[str]


@cache
def _load_markdown_words() -> _MarkdownWords:
    told = json.loads((files("resources") / "text" / "markdown.json").read_text("utf-8"))
    media = {ending: word for word, endings in told["media"].items() for ending in endings.split()}
    return _MarkdownWords(media, told["tasks"], frozenset(told["unsaid"].split()))


def is_machine_property(name: str) -> bool:
    """Whether a property of a note, by its plain name, tells a program something and no reader."""
    return name in _load_markdown_words().unsaid


def render_markdown(text: str) -> str:
    """A note's own text as words: links as what they show, no comments, no marks but those of lists, tables and code.

    Args:
        text: Markdown without front matter, whole or a piece.

    Returns:
        What a reader of the rendered note would read aloud.
    """
    text, code = _code_held(text.replace(_HELD, "").replace(_HELD_END, ""))
    text = _COMMENT.sub("", text)
    text = _CALLOUT.sub(_render_callout, text)
    text = _LOGSEQ_OWN.sub(_own_property, text)
    text = _FIELD.sub(lambda m: f"{m['key']}: {m['value']}", text)
    text = _LOGSEQ_CALL.sub("", text)
    text = _TASK.sub(lambda m: f"{m['in']}{_load_markdown_words().tasks.get(m['mark'], '')}", text)
    text = _BLOCK_ID.sub("", text)
    text = _HASH_LINK.sub("#", render_links(text))
    text = _RULE.sub("", _HEADING.sub(_format_heading, text))
    text = _STRONG.sub(lambda m: m["words"], text)
    text = _HOLDER.sub(lambda m: code[int(m[1])], text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def mark_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where a text has marks that a reader can do without: front matter, headings, emphasis, codes of sources.

    Nothing that could say something else is among them: of a source only codes, never words; links and code stay.

    Args:
        text: Markdown, or any other.

    Returns:
        Code points, end exclusive, in order, none over another; () where nothing else would be left.
    """
    found: list[tuple[int, int]] = []
    block = find_front_matter(text)
    own = len(text) - len(text[block.body_at :].lstrip()) if block is not None and block.body_at else 0
    if own:
        found.append((0, own))
    plain = blank_code(text, keep_hidden=True)
    found += ((one.start(), one.start("words")) for one in _HEADING.finditer(plain, own) if one["marks"])
    for strong in _EMPHASIS.finditer(plain, own):
        found += ((strong.start(), strong.start("words")), (strong.end("words"), strong.end()))
    found += (source.span() for source in _SOURCE_CODE.finditer(text, own))
    spans = tuple(_in_order(found))
    return spans if sum(end - start for start, end in spans) < len(text.rstrip()) else ()


def _in_order(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in sorted(spans):
        if at <= start < end:
            yield start, end
            at = end


def render_links(text: str) -> str:
    """A text with its links as what they show, and what is embedded as its kind."""
    return MARKDOWN_LINK.sub(_markdown_link, WIKI_LINK.sub(_wiki_link, text))


def _code_held(text: str) -> tuple[str, list[str]]:
    """The text with a holder in the place of each piece of code, and the pieces."""
    masked = blank_code(text, keep_hidden=True)
    pieces: list[str] = []
    code: list[str] = []
    at = 0
    kinds = "".join("x" if a != b else "s" if a.isspace() else " " for a, b in zip(text, masked, strict=True))
    for match in _CODE_RUN.finditer(kinds):
        pieces += (text[at : match.start()], f"{_HELD}{len(code)}{_HELD_END}")
        code.append(text[match.start() : match.end()])
        at = match.end()
    return "".join([*pieces, text[at:]]), code


_CODE_RUN = re.compile("x(?:[xs]*x)?")


def _render_callout(match: re.Match[str]) -> str:
    kind = match["kind"].replace("-", " ").replace("_", " ").capitalize()
    title = match["title"].strip()
    lines = [_QUOTE_MARK.sub("", line) for line in match["rest"].split("\n")[1:]]
    return "\n".join([f"{kind}: {title}" if title else f"{kind}:", *lines])


def _own_property(match: re.Match[str]) -> str:
    key = "".join(ch for ch in match["key"].casefold() if ch.isalnum())
    line = f"{match['key'].replace('-', ' ')}: {match['value']}\n"
    return "" if is_machine_property(key) else line


def _format_heading(match: re.Match[str]) -> str:
    words = (match["words"] if match["words"] is not None else match["above"]).strip("*_ \t\r")
    if not words:
        return ""
    return f"{words}\n" if words[-1] in ".!?:;…" else f"{words}:\n"


def _wiki_link(match: re.Match[str]) -> str:
    address, *alias = ALIAS_MARK.split(match[2], maxsplit=1)
    if match[1] and (word := _media_word(address)):
        return f"[{word}]"
    if alias and alias[0].strip():
        return alias[0].strip()
    note, _, place = address.partition("#")
    name = note.strip().rpartition("/")[2].removesuffix(".md")
    places = [part.strip() for part in place.split("#") if part.strip() and not part.strip().startswith("^")]
    return ", ".join(part for part in (name, *places) if part)


def _markdown_link(match: re.Match[str]) -> str:
    words, address = match[2].strip(), match[3] or match[4]
    if match[1]:
        return f"[{_media_word(address) or 'picture'}{f': {words}' if words else ''}]"
    is_web = re.match(r"(?i)https?://", address) is not None
    return f"{words} ({address})" if is_web and words and words != address else words or address


def _media_word(address: str) -> str | None:
    return _load_markdown_words().media.get(address.partition("#")[0].rpartition(".")[2].strip().casefold())
