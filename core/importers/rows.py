"""One row of JSONL or CSV as a record: the fields of design section 8, their common other names, and identity.

Must not do: read files, drop a field nobody knows, or change a text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from core.importers.front_matter import plain_name
from core.importers.input.streams import BadJson, mended_count, parse_json_text
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Kind, Role, Source, When

# Canonical name first, then the names that other programs use, by preference. Compared by `plain_name`.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "content", "message", "body"),
    "time": ("time", "timestamp", "date", "datetime", "createdat", "created", "occurredat", "ts"),
    "author": ("author", "role", "sender", "speaker", "user", "from"),
    "session": ("session", "sessionid", "conversationid", "conversation", "threadid", "thread", "chatid"),
    "ref": ("ref", "id", "uuid", "messageid"),
    "kind": ("kind",),
    "category": ("category",),
    "importance": ("importance",),
    "tags": ("tags", "labels"),
    "source": ("source",),
    "space": ("space",),
    "claim": ("claim",),
    "valid_from": ("validfrom",),
    "valid_to": ("validto",),
}
TEXT_NAMES = frozenset(FIELDS["text"])
KNOWN_NAMES = frozenset(name for names in FIELDS.values() for name in names)

_ROLES = {
    "user": Role.USER,
    "me": Role.USER,
    "myself": Role.USER,
    "you": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
    "system": Role.TOOL,
}
_LOOKED_AT, _LOOKED_AT_CHARACTERS = 500, 1 << 20
"""Rows, and characters of their texts, that are looked at for who speaks before any is read."""
_FALLBACK_CATEGORY = "general"
_KINDS = {kind.value: kind for kind in Kind}
_SOURCES = {source.value: source for source in Source}


def spread_tags(value: object) -> tuple[str, ...]:
    """Tags from a list or from one string with commas, each once, without blanks around them."""
    parts: Iterable[object] = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    words = (str(part).strip() for part in parts if isinstance(part, str | int | float) and not isinstance(part, bool))
    return tuple(dict.fromkeys(word for word in words if word))


def filled_text(value: object) -> bool:
    """Whether a value is a text with something besides white space in it."""
    return isinstance(value, str) and bool(value.strip())


def text_digest(text: str) -> str:
    """SHA-256 of a text in UTF-8, hexadecimal; half characters, which no reader lets through, cannot break it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Ordinals:
    """Numbers equal things in the order they come: 0, 1, 2 and so on.

    Holds eight bytes of a digest per thing; the dictionary grows only with repeats.
    """

    def __init__(self) -> None:
        self._once: set[int] = set()
        self._again: dict[int, int] = {}

    def next_ordinal(self, digest: str) -> int:
        """The next number for a hexadecimal digest."""
        short = int(digest[:16], 16)
        if short not in self._once:
            self._once.add(short)
            return 0
        self._again[short] = self._again.get(short, 0) + 1
        return self._again[short]


@dataclass(slots=True)
class _RowFields:
    """One row while it is read: what is left of its fields, and its marks."""

    left: dict[str, Any]
    flags: set[str] = field(default_factory=set)
    extra: dict[str, Any] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    by_plain: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.by_plain = {plain_name(key): key for key in reversed(self.left)}

    def take_field(self, name: str) -> Any:
        """Take a field away under its canonical name or, where that is not filled, under the first filled other."""
        known = (self.by_plain.get(plain) for plain in FIELDS[name])
        names = [key for key in known if key is not None and key in self.left]
        chosen = next((key for key in names if _is_given(self.left[key])), None)
        for key in names:
            if not _is_given(self.left[key]):
                del self.left[key]
        if chosen is None:
            return None
        self.taken[name] = chosen
        return self.left.pop(chosen)

    def put_back(self, name: str, value: Any, flag: str | None = None) -> None:
        """Give a field back that means nothing here; it is kept among the unknown ones."""
        self.left[self.taken[name]] = value
        if flag:
            self.flags.add(flag)

    def take_word(self, name: str) -> str | None:
        """A field that is one word or number."""
        value = self.take_field(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            self.put_back(name, value)
        return None

    def take_time(self, name: str) -> When | None:
        """A time; as written it stays in `extra`."""
        value = self.take_field(name)
        if value is None:
            return None
        self.extra[f"{name}_written"] = value
        when = parse_time(value)
        if when is None:
            self.flags.add("time_unreadable")
        return when

    def take_importance(self) -> float | None:
        """A number from 0 to 1; anything else counts as not given."""
        value = self.take_field("importance")
        number = _parse_number(value)
        if number is not None and 0 <= number <= 1:
            return number
        if value is not None:
            self.put_back("importance", value, "importance_unreadable")
        return None

    def take_claim(self) -> Mapping[str, Any] | None:
        """A claim, as an object or as the JSON text of one."""
        value = given = self.take_field("claim")
        if isinstance(value, str):
            try:
                given = parse_json_text(value).value
            except BadJson:
                given = None
        if isinstance(given, Mapping):
            return given
        if value is not None:
            self.put_back("claim", value, "claim_unreadable")
        return None

    def kind_and_tags(self) -> tuple[Kind, tuple[str, ...]]:
        """The kind; a word that is none of ours is kept as a tag."""
        tags = spread_tags(self.take_field("tags"))
        word = (self.take_word("kind") or Kind.EPISODE).strip()
        if kind := _KINDS.get(word.casefold()):
            return kind, tags
        return Kind.EPISODE, tags if word in tags else (*tags, word)

    def find_role(self, author: str | None) -> Role:
        """Whose words the row holds: told by the author or, where that is a name, by a role beside it."""
        beside = self.left.get(self.by_plain.get("role", "role"))
        return next((role for word in (author, beside) if (role := _role_of(word)) is not None), Role.OTHER)

    def take_source(self, role: Role) -> Source:
        """The way it came; a file cannot say that the person told it to Loci in so many words."""
        word = self.take_word("source")
        named = _SOURCES.get(word.strip().casefold()) if word else None
        if named is not None:
            return Source.USER_IMPLICIT if named is Source.USER_EXPLICIT else named
        if word:
            self.put_back("source", word, "source_unknown")
        return Source.INFERENCE if role is Role.ASSISTANT else Source.USER_IMPLICIT


def _size_of(fields: Mapping[str, Any]) -> int:
    return sum(len(value) if isinstance(value, str) else len(repr(value)) for value in fields.values())


def _fields_of(row: Row) -> Mapping[str, Any]:
    """The fields of a row; {"message": {"role": …, "content": …}} is an envelope around the message."""
    reading = _RowFields(dict(row.fields), set(row.flags))
    value = reading.take_field("text")
    return {**reading.left, **value} if isinstance(value, Mapping) else row.fields


def _user_name(row: Row) -> str:
    """The name beside which a row says `user`, folded; "" where it names nobody or says otherwise."""
    reading = _RowFields(dict(_fields_of(row)))
    author = reading.take_word("author")
    if author is None or _role_of(author) is not None or reading.find_role(author) is not Role.USER:
        return ""
    return author.strip().casefold()


def _role_of(word: object) -> Role | None:
    return _ROLES.get(word.strip().casefold()) if isinstance(word, str) else None


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _parse_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        # Spreadsheets of half of Europe write 0,7.
        number = float(value.strip().replace(",", ".")) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Row:
    """One row as written.

    Attributes:
        fields: its fields.
        where: file and line or record, for messages.
        flags: marks that the file's reading left on it.
    """

    fields: Mapping[str, Any]
    where: str
    flags: frozenset[str] = frozenset()


class RowReader:
    """Turns rows into records, keeping count of conversations and equals across one import."""

    def __init__(self, format_name: str) -> None:
        self._format = format_name
        self._ordinals = Ordinals()
        self._sessions: dict[str, tuple[Conversation, int]] = {}
        self._user_names: set[str] = set()

    def read_rows(self, parts: Iterable[Row | SkippedPart | UnreadablePart]) -> Iterator[Item]:
        """Read the rows of a file.

        A file in which several names have the role `user` is one of several people, and does not say who of them the
        person is: nobody's words count as the person's then. The first rows are looked at before any is read.

        Args:
            parts: its rows, and what could not be read, in order.
        """
        remaining = iter(parts)
        first: list[Row | SkippedPart | UnreadablePart] = []
        size = 0
        for part in remaining:
            first.append(part)
            size += _size_of(part.fields) if isinstance(part, Row) else 0
            if len(first) >= _LOOKED_AT or size >= _LOOKED_AT_CHARACTERS:
                break
        self._user_names = {name for part in first if isinstance(part, Row) and (name := _user_name(part))}
        for part in chain(first, remaining):
            yield self._read_row(part) if isinstance(part, Row) else part

    def _read_row(self, row: Row) -> Record | SkippedPart | UnreadablePart:
        reading = _RowFields(dict(_fields_of(row)), set(row.flags))
        value = reading.take_field("text")
        if value is None:
            return SkippedPart("no_text", row.where)
        if not isinstance(value, str):
            return UnreadablePart(row.where, "the text is not a string")
        if mended_count(value):
            reading.flags.add("surrogates_replaced")
        return self._make_record(reading, str(value), row.where)

    def _make_record(self, reading: _RowFields, text: str, where: str) -> Record:
        author, session, ref = (reading.take_word(name) for name in ("author", "session", "ref"))
        kind, tags = reading.kind_and_tags()
        role = self._role_of_row(reading, author)
        source = reading.take_source(role)
        category = (reading.take_word("category") or _FALLBACK_CATEGORY).strip()
        space = reading.take_word("space")
        importance, claim = reading.take_importance(), reading.take_claim()
        occurred, valid_from, valid_to = (reading.take_time(name) for name in ("time", "valid_from", "valid_to"))
        conversation, position = self._place_in_session(session, occurred)
        if reading.left:
            reading.extra["fields"] = reading.left
        return Record(
            identity=self._make_identity(session, ref, author, reading.extra.get("time_written"), text),
            text=text,
            where=where,
            kind=kind,
            role=role,
            source=source,
            author=author,
            conversation=conversation,
            position=position,
            occurred=occurred,
            category=category,
            importance=importance,
            tags=tags,
            space=space,
            session=session,
            ref=ref,
            claim=claim,
            valid_from=valid_from,
            valid_to=valid_to,
            flags=tuple(sorted(reading.flags)),
            extra=reading.extra,
        )

    def _role_of_row(self, reading: _RowFields, author: str | None) -> Role:
        """As the row tells; a name with the role `user` is the person only where no other name has it."""
        role = reading.find_role(author)
        if role is not Role.USER or author is None or _role_of(author) is Role.USER:
            return role
        self._user_names.add(author.strip().casefold())
        if len(self._user_names) == 1:
            return role
        reading.flags.add("role_shared")
        return Role.OTHER

    def _place_in_session(self, session: str | None, occurred: When | None) -> tuple[Conversation | None, int | None]:
        if session is None:
            return None, None
        conversation, position = self._sessions.get(session, (Conversation(key=session, started=occurred), 0))
        self._sessions[session] = (conversation, position + 1)
        return conversation, position

    def _make_identity(self, session: str | None, ref: str | None, author: str | None, time: Any, text: str) -> str:
        if ref is not None:
            return f"{self._format}:{session or ''}:{ref}:{text_digest(text)}"
        digest = text_digest(json.dumps([session, author, time, text], default=str))
        return f"{self._format}:{digest}:{self._ordinals.next_ordinal(digest)}"
