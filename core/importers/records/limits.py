"""The limits every record of an importer is held to, whatever its format: no inline pictures, bounded texts and fields.

What comes after the importers (the injection scan, claims, embedding) reads a text whole, so its size is settled here,
in bytes, before anything does. Must not do: know a format, lose words of a text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from core.importers.records.records import Conversation, Item, Record, SkippedPart
from core.text.sentences import split_text

TEXT_BYTES = 1 << 20
"""UTF-8 bytes of one record's text; a longer text comes as several records."""

FIELD_BYTES = 64 << 10
"""UTF-8 bytes of one string among a record's `extra` facts; the rest of it is left out."""

LABEL_CHARACTERS = 1_000
"""Characters of a title, a name, a category, a tag, a reference or a session."""

_KEY_CHARACTERS = 3 * LABEL_CHARACTERS  # format, session, reference and a digest, where each keeps its limit

PICTURE = "[picture]"
ATTACHMENT = "[attachment]"

_LEAST = 256  # no shorter text holds a picture worth a pass
_PAYLOAD = r"(?:[A-Za-z0-9+/_%=-]|\\/)"  # `\/` is a slash in JSON that was written into JSON
_DATA_URI = re.compile(
    r"data:(image|audio|video|font|application|text)\\?/[\w.+-]{1,80}+(?:;[\w.+-]{1,80}+=[\w.+-]{1,80}+)*+;base64,"
    + _PAYLOAD
    + r"{32,}+(?:\r?\n[ \t]*+[A-Za-z0-9+/_=-]{16,}+(?![^\s\"'>)]))*+"
    r"|data:(image)/svg\+xml(?:;[\w.=+-]{1,80}+)*+,(?:%[0-9A-Fa-f]{2}|[\w.:;,=/~!*'-])++"
)
_RAW_SVG = re.compile(r"data:image/svg\+xml(?:;[\w.=+-]{1,80}+)*+,\s{0,8}<svg\b", re.IGNORECASE)
_SVG_END = "</svg>"
# A run of base64 or of its URL-safe sister, in one line or in lines of one width as programs wrap it, each behind the
# same margin (`> ` of a quotation, blanks of a code block). It starts at no character but its first: without the look
# behind, a long run that fails would be read again from each of its characters. `=` may stand before it (`src=iVBOR…`).
_SIGN = "[A-Za-z0-9+/_-]"
_MARGIN = r"(?:[ \t]{0,8}>)*+[ \t]{0,16}+"
_RUN = re.compile(
    rf"(?<![A-Za-z0-9+/_.-]){_SIGN}{{40,160}}\r?\n"
    rf"(?:{_MARGIN}{_SIGN}{{40,160}}\r?\n){{3,}}+{_MARGIN}{_SIGN}{{1,160}}+={{0,2}}"
    rf"|(?<![A-Za-z0-9+/_.-]){_SIGN}{{400,}}+={{0,2}}"
)
_MARGINS = re.compile(r"^[ \t>]+|\s+$")
_PICTURES = ("iVBORw0KGg", "/9j/", "R0lGOD", "UklGR", "Qk0", "SUkqA", "TU0AK", "PHN2Zy", "PD94bWw")
_FILES = ("UEsDB", "JVBERi", "H4sI", "SUQz", "//uQ", "//NE", "T2dnUw", "GkXfo", "d09G", "N3q8r")  # zip, pdf, mp3, ...
_ISO_MEDIA = re.compile(r"AAAA[A-Za-z0-9+/]{2}Z0eXB|AAAA[A-Za-z0-9+/]{3}mdHlw")  # `ftyp`: HEIC, AVIF, MP4
_LONG_RUN = 4_096  # a run of no known format that is longer is no key, no token and no signature
_MIXED = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"), re.compile("[+/_-]"))
_ARMOUR = re.compile(r"-----BEGIN [A-Z ]{1,40}-----[^-]{0,400}$")
_MARKDOWN = re.compile(
    r"!\[([^\]\n]{0,500})\]\(\s*<?(\[(?:picture|attachment)\])>?(?:\s+[\"'][^\"'\n]{0,500}[\"'])?\s*\)"
)
_TAG = re.compile(r"<img\b([^<>]{0,2000}?)(\[(?:picture|attachment)\])([^<>]{0,2000})>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_WORDLESS = re.compile(r"\[(?:picture|attachment)\]|\s+")


def replace_pictures(text: str) -> tuple[str, int]:
    """Put a word in the place of every inline picture: `data:` URIs and runs of base64, with the markup around them.

    Returns:
        The text with `[picture]`, or `[attachment]` for what is no picture, and how many were replaced. What a
        picture is said to show stands before it.
    """
    if len(text) < _LEAST and "data:" not in text:
        return text, 0
    text, drawings = _without_raw_svg(text)
    text, uris = _DATA_URI.subn(lambda found: PICTURE if (found[1] or found[2]) == "image" else ATTACHMENT, text)
    uris += drawings
    runs = 0

    def without_run(found: re.Match[str]) -> str:
        nonlocal runs
        mark = _mark_of_run(found[0], text[max(0, found.start() - 500) : found.start()])
        runs += mark is not None
        return found[0] if mark is None else mark

    text = _RUN.sub(without_run, text)
    if uris or runs:
        text = _MARKDOWN.sub(lambda found: _format_placeholder(found[1], found[2]), text)
        text = _TAG.sub(lambda found: _format_placeholder(_alt(found[1] + " " + found[3]), found[2]), text)
    return text, uris + runs


def _without_raw_svg(text: str) -> tuple[str, int]:
    """The text without drawings that stand in it as markup; one without an end stays, and ends the search."""
    parts, at = [], 0
    while (found := _RAW_SVG.search(text, at)) is not None:
        end = text.find(_SVG_END, found.end())
        if end < 0:
            break
        parts += [text[at : found.start()], PICTURE]
        at = end + len(_SVG_END)
    return "".join([*parts, text[at:]]), len(parts) // 2


def _mark_of_run(run: str, before: str) -> str | None:
    """What stands in the place of a run of base64; None where it stays."""
    if _ARMOUR.search(before):
        return None  # a key or a signature, which a person keeps on purpose
    lines = [_MARGINS.sub("", line) for line in run.splitlines()]
    signs = "".join(lines)
    if signs.startswith(_PICTURES) or _ISO_MEDIA.match(signs):
        return PICTURE if _MIXED[0].search(signs) and _MIXED[2].search(signs) else None
    if signs.startswith(_FILES):
        return ATTACHMENT if _MIXED[0].search(signs) and _MIXED[2].search(signs) else None
    # Lines of base64 hold whole groups of four and are alike but for the last; a list of tokens is not.
    wrapped = {len(line) for line in lines[:-1]}
    is_wrapped = len(wrapped) <= 1 and all(width % 4 == 0 for width in wrapped)
    is_long = len(signs) >= _LONG_RUN and is_wrapped and all(sign.search(signs) for sign in _MIXED)
    return PICTURE if is_long else None


def _format_placeholder(words: str, mark: str) -> str:
    return f"{words.strip()} {mark}" if words.strip() else mark


def _alt(attributes: str) -> str:
    found = _ALT.search(attributes)
    return (found[1] or found[2] or "") if found else ""


def apply_limits(record: Record) -> Iterator[Item]:
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
    author, ref, session = (fields.label(label) for label in (record.author, record.ref, record.session))
    category, *tags = (fields.word(word) for word in (record.category, *record.tags))
    conversation = _titled(record.conversation, fields)
    if pictures or fields.touched:
        record = replace(
            record,
            identity=_key(record.identity),
            text=text,
            extra=extra,
            author=author,
            ref=ref,
            session=session,
            category=category,
            tags=tuple(tags),
            conversation=conversation,
            flags=tuple(sorted({*record.flags, "field_cut"} if fields.cut else set(record.flags))),
        )
    if not pictures or _WORDLESS.sub("", text):
        yield from _divided(record)
    if pictures + fields.pictures:
        yield SkippedPart("inline_picture", record.where, pictures + fields.pictures)
    if fields.cut:
        yield SkippedPart("long_field", record.where, fields.cut)


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
        """A title, a name or a reference within its limit, where there is one."""
        return None if text is None else self.word(text)

    def word(self, text: str) -> str:
        """A word of the row, such as a tag, within its limit."""
        if len(text) <= LABEL_CHARACTERS:
            return text
        self.cut += 1
        return text[:LABEL_CHARACTERS]

    def _cut(self, text: str) -> str:
        if len(text) * 4 <= FIELD_BYTES or len(text.encode("utf-8", "surrogatepass")) <= FIELD_BYTES:
            return text
        self.cut += 1
        return split_text(text[:FIELD_BYTES], FIELD_BYTES)[0]


def _titled(conversation: Conversation | None, fields: _Fields) -> Conversation | None:
    if conversation is None or max(len(conversation.title or ""), len(conversation.key)) <= LABEL_CHARACTERS:
        return conversation
    return replace(conversation, title=fields.label(conversation.title), key=_key(conversation.key))


def _key(key: str) -> str:
    """An identity within its limit: another text has another one still."""
    if len(key) <= _KEY_CHARACTERS:
        return key
    return f"{key[:LABEL_CHARACTERS]}#{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


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
