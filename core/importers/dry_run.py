"""Reads an import to its end within the limits of a record, without writing, and counts what it would bring.

The same steps serve the import itself: `import_items` is what it stores, `DryRunTally` what it reports. What comes
after the importers (the injection scan, claims, embedding) reads a text whole, so its size is settled here, in bytes,
before anything does; inline pictures are taken out. Must not do: keep more of a conversation than how it begins,
write, reorder, know a format, or lose words of a text.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import CancelledError
from core.importers.conversation import bundle_skips
from core.importers.input.source import Bundle
from core.importers.plan import Span
from core.importers.records import Conversation, Importer, Item, Record, SkippedPart, UnreadablePart
from core.text.sentences import split_text
from core.types.values import Role, Status

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
        text = _TAG.sub(lambda found: _format_placeholder(_alt_text(found[1] + " " + found[3]), found[2]), text)
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


def _alt_text(attributes: str) -> str:
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
    extra = {name: fields.limit_strings(value) for name, value in record.extra.items()}
    author, ref, session = (fields.limit_label(label) for label in (record.author, record.ref, record.session))
    category, *tags = (fields.limit_word(word) for word in (record.category, *record.tags))
    conversation = _limit_title(record.conversation, fields)
    if pictures or fields.touched:
        record = replace(
            record,
            identity=_limit_key(record.identity),
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
        yield from _divide_record(record)
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

    def limit_strings(self, value: Any) -> Any:
        """A fact of `extra` with every string in it within the limits."""
        if isinstance(value, str):
            text, pictures = replace_pictures(value)
            self.pictures += pictures
            return self._limit_bytes(text)
        if isinstance(value, dict):
            return {name: self.limit_strings(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.limit_strings(inner) for inner in value]
        return value

    def limit_label(self, text: str | None) -> str | None:
        """A title, a name or a reference within its limit, where there is one."""
        return None if text is None else self.limit_word(text)

    def limit_word(self, text: str) -> str:
        """A word of the row, such as a tag, within its limit."""
        if len(text) <= LABEL_CHARACTERS:
            return text
        self.cut += 1
        return text[:LABEL_CHARACTERS]

    def _limit_bytes(self, text: str) -> str:
        if len(text) * 4 <= FIELD_BYTES or len(text.encode("utf-8", "surrogatepass")) <= FIELD_BYTES:
            return text
        self.cut += 1
        return split_text(text[:FIELD_BYTES], FIELD_BYTES)[0]


def _limit_title(conversation: Conversation | None, fields: _Fields) -> Conversation | None:
    if conversation is None or max(len(conversation.title or ""), len(conversation.key)) <= LABEL_CHARACTERS:
        return conversation
    return replace(conversation, title=fields.limit_label(conversation.title), key=_limit_key(conversation.key))


def _limit_key(key: str) -> str:
    """An identity within its limit: another text has another one still."""
    if len(key) <= _KEY_CHARACTERS:
        return key
    return f"{key[:LABEL_CHARACTERS]}#{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _divide_record(record: Record) -> Iterator[Record]:
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


TROUBLES_KEPT = 1_000
_CHECK_EVERY = 200
_MESSAGE_ROLES = {Role.USER: "user", Role.ASSISTANT: "assistant"}
_SPOKEN = frozenset({Role.USER, Role.ASSISTANT, Role.OTHER})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DryRunReport:
    """What an import would bring.

    Attributes:
        format: the importer's name.
        conversations: how many get at least one record other than a proposal.
        messages: `user`, `assistant`, `other`: records that are no proposals; those outside conversations are other.
        records: all of them, proposals included.
        proposals: records that would wait for approval.
        skipped: reason to count.
        troubles: the first 1,000 as `where` and `message`.
        trouble_count: all of them.
        trouble_reasons: reason to count.
        earliest: ISO 8601, UTC, milliseconds, of the earliest message; of the earliest record, or section of one,
            where there are no messages; None where no time is known.
        latest: likewise.
        working_folders: folders that sessions ran in, in order.
    """

    format: str
    conversations: int
    messages: Mapping[str, int]
    records: int
    proposals: int
    skipped: Mapping[str, int]
    troubles: tuple[Mapping[str, str], ...]
    trouble_count: int
    trouble_reasons: Mapping[str, int]
    earliest: str | None
    latest: str | None
    working_folders: tuple[str, ...]


class DryRunTally:
    """Counts items one by one."""

    def __init__(self, format_name: str) -> None:
        self._format = format_name
        self._conversations: set[str] = set()
        self._messages: Counter[str] = Counter(user=0, assistant=0, other=0)
        self._records = 0
        self._proposals = 0
        self._skipped: Counter[str] = Counter()
        self._troubles: list[Mapping[str, str]] = []
        self._trouble_reasons: Counter[str] = Counter()
        self._message_times = Span()
        self._spoken = 0
        self._record_times = Span()
        self._folders: dict[str, None] = {}

    def add(self, item: Item) -> None:
        """Count one item.

        Args:
            item: what `import_items` gave.
        """
        if isinstance(item, SkippedPart):
            self._skipped[item.reason] += item.count
        elif isinstance(item, UnreadablePart):
            self._trouble_reasons[item.reason] += 1
            if len(self._troubles) < TROUBLES_KEPT:
                self._troubles.append({"where": item.where, "message": item.message})
        else:
            self._add_record(item)

    def _add_record(self, record: Record) -> None:
        self._records += 1
        conversation = record.conversation
        folder = conversation.extra.get("cwd") if conversation else None
        for candidate in (folder, record.extra.get("cwd")):
            if isinstance(candidate, str):
                self._folders[candidate] = None
        # The record's own time alone: a log whose sections are dated is told by the note's date, as its fixture has it.
        times = [] if record.occurred is None else [record.occurred.ms]
        self._record_times.add_all(times)
        if record.status is Status.QUARANTINED:
            self._proposals += 1
            return
        kind = _MESSAGE_ROLES.get(record.role, "other") if conversation else "other"
        self._messages[kind] += 1
        if conversation is not None:
            self._conversations.add(conversation.key)
            if record.role in _SPOKEN:
                self._message_times.add_all(times)
                self._spoken += 1

    def make_report(self) -> DryRunReport:
        """Everything counted so far."""
        times = self._message_times if self._spoken else self._record_times
        return DryRunReport(
            format=self._format,
            conversations=len(self._conversations),
            messages=dict(self._messages),
            records=self._records,
            proposals=self._proposals,
            skipped=dict(self._skipped),
            troubles=tuple(self._troubles),
            trouble_count=self._trouble_reasons.total(),
            trouble_reasons=dict(self._trouble_reasons),
            earliest=format_iso(times.first),
            latest=format_iso(times.last),
            working_folders=tuple(self._folders),
        )


def format_iso(ms: int | None) -> str | None:
    """A time as reports tell it: ISO 8601, UTC, milliseconds; None where it is unknown."""
    if ms is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def import_items(bundle: Bundle, importer: Importer) -> Iterator[Item]:
    """Everything an import has to say: what the bundle left out, then what the importer reads.

    Args:
        importer: of its format.

    Yields:
        Items in file order, each record held to `core.importers.dry_run`; a record whose identity came before
        becomes the skip `repeated`.

    Raises:
        UserError: IMPORT_REFUSED, IMPORT_CHANGED from reading.
    """
    yield from bundle_skips(bundle)
    seen: set[bytes] = set()
    for item in _limited_items(importer.read(bundle)):
        if isinstance(item, Record):
            key = hashlib.blake2b(item.identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if key in seen:
                yield SkippedPart("repeated", item.where)
                continue
            seen.add(key)
        yield item


def _limited_items(items: Iterator[Item]) -> Iterator[Item]:
    for item in items:
        if isinstance(item, Record):
            yield from apply_limits(item)
        else:
            yield item


def dry_run_import(
    bundle: Bundle,
    importer: Importer,
    *,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[int], None] | None = None,
) -> DryRunReport:
    """Read an import to its end, writing nothing.

    Args:
        importer: of its format.
        cancelled: asked before the first item and every 200 items; True stops.
        progress: told the number of items read, every 200 items and at the end.

    Returns:
        What the import would bring.

    Raises:
        CancelledError: `cancelled` said so.
        UserError: IMPORT_REFUSED or IMPORT_CHANGED: nothing may be imported.
    """
    tally = DryRunTally(importer.format)
    done = 0
    _check_cancelled(cancelled)
    for done, item in enumerate(import_items(bundle, importer), 1):
        tally.add(item)
        if done % _CHECK_EVERY == 0:
            _check_cancelled(cancelled)
            if progress is not None:
                progress(done)
    if progress is not None:
        progress(done)
    return tally.make_report()


def _check_cancelled(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise CancelledError
