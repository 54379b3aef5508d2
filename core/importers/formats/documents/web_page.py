"""HTML pages: what a person reads of each, one record a page.

Must not do: load anything, keep what a page hides, or take a list of bookmarks or a page among an export for a page of
its own: those importers are asked first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

from core.importers.document import Document
from core.importers.html_text import LONGEST, html_tokens, read_html_words
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_head_text, replace_surrogates, visible_files
from core.importers.input.strict_json import UTF16_MARKS, decode_ladder
from core.importers.records import Item, SkippedPart
from core.text.times import parse_time

_FORMAT = "html"
_BEGINS = re.compile(
    r"(?:\s|<\?xml[^>]{0,200}\?>|<!--.{0,2000}?-->)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(rb"<meta[^>]{0,300}charset\s*=\s*[\"']?([A-Za-z0-9_-]{1,30})", re.IGNORECASE)
_ENDINGS = (".html", ".htm", ".xhtml")
_HEAD = 1 << 16
_DATES = ("article:published_time", "date", "dc.date", "dcterms.created", "article:modified_time", "last-modified")
_NOT_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})


class WebPageImporter:
    """Reads pages, one or a folder of them."""

    @property
    def format(self) -> str:
        """`html`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file begins as a page does."""
        return any(_is_page(file) for file in _likely_files(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the pages in order of their files; see `records.Importer`."""
        files = [file for file in _likely_files(bundle) if bundle.kind == "file" or _is_page(file)]
        for file in files:
            yield _read_page(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_a_document", bundle.label, len(bundle.files) - len(files))


def _likely_files(bundle: Bundle) -> list[SourceFile]:
    files = visible_files(bundle)
    return files if bundle.kind == "file" else [one for one in files if one.path.suffix.lower() in _ENDINGS]


def _is_page(file: SourceFile) -> bool:
    return _BEGINS.match(read_head_text(file, 4_096)) is not None


def _read_page(file: SourceFile) -> Item:
    with closing(file.open()) as stream:
        raw = stream.read(LONGEST)
    markup, flags = _decode(raw)
    told = _read_meta(markup[:_HEAD])
    written = next((told[name] for name in _DATES if parse_time(told.get(name)) is not None), None)
    return Document(
        form=_FORMAT,
        text=read_html_words(markup),
        where=file.name,
        title=told.get("title") or file.path.stem,
        occurred=parse_time(written),
        author=told.get("author"),
        facts={"path": file.name, "address": told.get("address")},
        flags=flags | ({"page_cut"} if file.size > LONGEST else set()),
    ).to_item()


def _decode(raw: bytes) -> tuple[str, frozenset[str]]:
    """A page as text: by its mark of bytes, by the charset it names, else as any text."""
    if raw.startswith(UTF16_MARKS):
        return replace_surrogates(raw.decode("utf-16", "replace"))[0], frozenset()
    named = _CHARSET.search(raw[:2_048])
    charset = named[1].decode("ascii").lower().replace("-", "_") if named is not None else "utf_8"
    if charset not in _NOT_CHARSETS and charset != "utf_8":
        try:
            return raw.decode(charset), frozenset()
        except (UnicodeError, LookupError, ValueError):
            pass  # it is not what it says
    return decode_ladder(raw.removeprefix(b"\xef\xbb\xbf"))


def _read_meta(head: str) -> dict[str, str]:
    """What the head of a page says of it: title, author, address and dates, by name."""
    found: dict[str, str] = {}
    for token in html_tokens(head):
        if token.tag == "meta":
            told = token.attributes()
            name = told.get("name") or told.get("property") or told.get("http-equiv") or told.get("itemprop") or ""
            if told.get("content", "").strip():
                found.setdefault(name.lower(), told["content"].strip())
        elif token.tag == "link" and token.attributes().get("rel", "").lower() == "canonical":
            found.setdefault("address", token.attributes().get("href", ""))
        elif token.tag == "body":
            break
    title = re.search(r"<title[^>]{0,300}>(.{0,2000}?)</title>", head, re.IGNORECASE | re.DOTALL)
    if title is not None:
        found["title"] = " ".join(read_html_words(title[1]).split())
    return found
