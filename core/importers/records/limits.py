"""The limits every record of an importer is held to, whatever its format: no inline pictures, bounded texts and fields.

What comes after the importers (the injection scan, claims, embedding) reads a text whole, so its size is settled here,
in bytes, before anything does. Must not do: know a format, lose words of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from core.importers.records.records import Conversation, Item, Record, Skip
from core.text.split import split_text

TEXT_BYTES = 1 << 20
"""UTF-8 bytes of one record's text; a longer text comes as several records."""

FIELD_BYTES = 64 << 10
"""UTF-8 bytes of one string among a record's `extra` facts; the rest of it is left out."""

LABEL_CHARACTERS = 1_000
"""Characters of a title or an author's name."""

PICTURE = "[picture]"
ATTACHMENT = "[attachment]"

_LEAST = 256  # no shorter text holds a picture worth a pass
_DATA_URI = re.compile(
    r"data:(image|audio|video|font|application|text)/[\w.+-]{1,80}+(?:;[\w.+-]{1,80}+=[\w.+-]{1,80}+)*+;base64,"
    r"[A-Za-z0-9+/_%=-]{32,}+(?:\r?\n[ \t]*+[A-Za-z0-9+/_=-]{16,}+(?![^\s\"'>)]))*+"
    r"|data:(image)/svg\+xml(?:;[\w.=+-]{1,80}+)*+,(?:%[0-9A-Fa-f]{2}|[\w.:;,=/~!*'-])++"
)
# A run of base64, in one line or in lines of one width as programs wrap it. It starts at no character but its first:
# without the look behind, a long run that fails would be read again from each of its characters.
_RUN = re.compile(r"(?<![A-Za-z0-9+/=_.-])(?:[A-Za-z0-9+/]{60,80}\r?\n){4,}+[A-Za-z0-9+/]{1,80}+={0,2}"
                  r"|(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{400,}+={0,2}")  # fmt: skip
_MAGIC = ("iVBORw0KGg", "/9j/", "R0lGOD", "UklGR", "Qk0", "SUkqA", "TU0AK", "PHN2Zy", "PD94bWw")
_LONG_RUN = 4_096  # a run of no known format that is longer is no key, no token and no signature
_MIXED = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"), re.compile("[+/]"))
_ARMOUR = re.compile(r"-----BEGIN [A-Z ]{1,40}-----[^-]{0,400}$")
_MARKDOWN = re.compile(
    r"!\[([^\]\n]{0,500})\]\(\s*<?(\[(?:picture|attachment)\])>?(?:\s+[\"'][^\"'\n]{0,500}[\"'])?\s*\)"
)
_TAG = re.compile(r"<img\b([^<>]{0,2000}?)(\[(?:picture|attachment)\])([^<>]{0,2000})>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_WORDLESS = re.compile(r"\[(?:picture|attachment)\]|\s+")


def replace_pictures(text: str) -> tuple[str, int]:
    """Put a word in the place of every inline picture: `data:` URIs and runs of base64, with the markup around them.

    Args:
        text: any text.

    Returns:
        The text with `[picture]`, or `[attachment]` for what is no picture, and how many were replaced. What a
        picture is said to show stands before it.
    """
    if len(text) < _LEAST and "data:" not in text:
        return text, 0
    text, uris = _DATA_URI.subn(lambda found: PICTURE if (found[1] or found[2]) == "image" else ATTACHMENT, text)
    runs = 0

    def without_run(found: re.Match[str]) -> str:
        nonlocal runs
        if not _is_picture(found[0], text[max(0, found.start() - 500) : found.start()]):
            return found[0]
        runs += 1
        return PICTURE

    text = _RUN.sub(without_run, text)
    if uris or runs:
        text = _MARKDOWN.sub(lambda found: _told(found[1], found[2]), text)
        text = _TAG.sub(lambda found: _told(_alt(found[1] + " " + found[3]), found[2]), text)
    return text, uris + runs


def _is_picture(run: str, before: str) -> bool:
    if _ARMOUR.search(before):
        return False  # a key or a signature, which a person keeps on purpose
    if run.startswith(_MAGIC):
        return any(sign.search(run) for sign in _MIXED[:1]) and any(sign.search(run) for sign in _MIXED[2:])
    return len(run) >= _LONG_RUN and all(sign.search(run) for sign in _MIXED)


def _told(words: str, mark: str) -> str:
    return f"{words.strip()} {mark}" if words.strip() else mark


def _alt(attributes: str) -> str:
    found = _ALT.search(attributes)
    return (found[1] or found[2] or "") if found else ""


def limited(record: Record) -> Iterator[Item]:
    """Hold one record to the limits.

    Args:
        record: as an importer of any format read it.

    Yields:
        The record itself where it keeps them. Else the record without its pictures, in as many records as its text
        needs (the first keeps the identity), or no record where pictures are all it had; then what was left out, as
        the skips `inline_picture` and `long_field`.
    """
    text, pictures = replace_pictures(record.text)
    fields = _Fields()
    extra = {name: fields.limited(value) for name, value in record.extra.items()}
    author = fields.label(record.author)
    conversation = _titled(record.conversation, fields)
    if pictures or fields.touched:
        flags = (*record.flags, "field_cut") if fields.cut else record.flags
        record = replace(
            record, text=text, extra=extra, author=author, conversation=conversation, flags=tuple(sorted(set(flags)))
        )
    if not pictures or _WORDLESS.sub("", text):
        yield from _divided(record)
    if pictures + fields.pictures:
        yield Skip("inline_picture", record.where, pictures + fields.pictures)
    if fields.cut:
        yield Skip("long_field", record.where, fields.cut)


@dataclass
class _Fields:
    """Counts what is changed in the fields of one record."""

    pictures: int = field(default=0)
    cut: int = field(default=0)

    @property
    def touched(self) -> bool:
        return bool(self.pictures or self.cut)

    def limited(self, value: Any) -> Any:
        """A fact of `extra` with every string in it within the limits."""
        if isinstance(value, str):
            text, pictures = replace_pictures(value)
            self.pictures += pictures
            return self._cut(text)
        if isinstance(value, dict):
            return {name: self.limited(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.limited(inner) for inner in value]
        return value

    def label(self, text: str | None) -> str | None:
        """A title or a name within its limit."""
        if text is None or len(text) <= LABEL_CHARACTERS:
            return text
        self.cut += 1
        return text[:LABEL_CHARACTERS]

    def _cut(self, text: str) -> str:
        if len(text) * 4 <= FIELD_BYTES or len(text.encode("utf-8", "surrogatepass")) <= FIELD_BYTES:
            return text
        self.cut += 1
        return split_text(text[:FIELD_BYTES], FIELD_BYTES)[0]


def _titled(conversation: Conversation | None, fields: _Fields) -> Conversation | None:
    if conversation is None or conversation.title is None or len(conversation.title) <= LABEL_CHARACTERS:
        return conversation
    return replace(conversation, title=fields.label(conversation.title))


def _divided(record: Record) -> Iterator[Record]:
    pieces = split_text(record.text, TEXT_BYTES)
    if len(pieces) == 1:
        yield record
        return
    flags = tuple(sorted({*record.flags, "divided"}))
    for number, piece in enumerate(pieces, 1):
        identity = record.identity if number == 1 else f"{record.identity}#{number}"
        extra = {**record.extra, "piece": number, "pieces": len(pieces)}
        # A claim is given once for the whole.
        claim = record.claim if number == 1 else None
        yield replace(record, identity=identity, text=piece, extra=extra, claim=claim, flags=flags)
