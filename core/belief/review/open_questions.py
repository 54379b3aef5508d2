"""What Loci would like to know: which fields of a thing are not known, and how it asks (E4.5.1 to E4.5.4).

Templates and sentences are `resources/gaps/templates.json`, which anybody may edit. Must not do: write a row, decide
whether a question is asked, or take a memory's words for anything but a quotation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from core.belief.extract.normal_form import value_key
from core.belief.review.wording import ItemTopic, describe_item_line
from core.text.terms import query_terms
from core.vault.database.rows import Rows

_NAME, _QUOTE = 60, 160
"""Characters of somebody's words in a question at most."""
_TEXTS, _ITEMS = 200, 64
_MONTH_DAYS = 30.44
_ALL = (
    "SELECT m.id, m.space_id, m.text, coalesce(m.valid_from, m.valid_to) IS NOT NULL, c.subject, c.subject_key, "
    "c.predicate, c.value FROM claims c JOIN evidence e ON e.claim_id = c.id AND e.stance = 'supporting' "
    "JOIN memories m ON m.id = e.memory_id WHERE c.state = 'asserted' AND c.polarity = 'positive' "
    "AND c.predicate IN (SELECT value FROM json_each(:predicates)) AND m.status = 'active' AND m.kind = 'fact' "
)
_AMONG = "AND m.id IN (SELECT value FROM json_each(:ids)) "
_ORDER = "ORDER BY m.access_count DESC, m.importance DESC, m.n, c.id LIMIT :most"
_CLAIMED = (
    "SELECT 1 FROM claims WHERE space_id IN (?, 'GLOBAL') AND subject_key = ? "
    "AND predicate IN (SELECT value FROM json_each(?)) AND state IN ('asserted', 'disputed') LIMIT 1"
)
_NAMING = (
    "SELECT m.text FROM memory_fts f JOIN memories m ON m.n = f.rowid WHERE memory_fts MATCH ? "
    "AND m.status = 'active' AND m.space_id IN (?, 'GLOBAL') LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class ExpectedField:
    """Something that usually goes with a thing; see the resource for what makes it known."""

    name: str
    ask: str
    ask_of: str
    predicates: tuple[str, ...] = ()
    of: str = "thing"
    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    named: bool = False
    dated: bool = False


@dataclass(frozen=True, slots=True)
class ThingTemplate:
    """What goes with a kind of thing."""

    schema: str
    predicates: frozenset[str]
    values: tuple[str, ...]
    openings: tuple[str, ...]
    fields: tuple[ExpectedField, ...]


@dataclass(frozen=True, slots=True)
class MissingField:
    """A field that is not known.

    Attributes:
        memory_id: the memory that names the thing.
        space_id: of that memory.
        schema: of the template; `field` of it.
        key: names thing and field whatever memory names them, so that it is asked once.
        sentence: the question.
    """

    memory_id: str
    space_id: str
    schema: str
    field: str
    key: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Thing:
    """A thing that a memory names, with whose it is."""

    memory_id: str
    space_id: str
    text: str
    dated: bool
    subject: str
    subject_key: str
    name: str


_KnownFields = dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], bool]
"""Space, name, words and patterns to whether any text there tells it; for one look through the vault."""


@cache
def _load_gap_templates() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("resources").joinpath("gaps", "templates.json").read_text("utf-8"))
    return found


@cache
def thing_templates() -> tuple[ThingTemplate, ...]:
    """The templates, read once.

    Returns:
        In the order of the resource: the first that fits a thing is its own.
    """
    return tuple(
        ThingTemplate(
            schema=str(one["schema"]),
            predicates=frozenset(one["predicates"]),
            values=tuple(one.get("values", ())),
            openings=tuple(one.get("openings", ())),
            fields=tuple(_field_from_json(field) for field in one["fields"]),
        )
        for one in _load_gap_templates()["missing"]
    )


def _field_from_json(columns: dict[str, Any]) -> ExpectedField:
    return ExpectedField(
        name=columns["field"],
        ask=columns["ask"],
        ask_of=columns.get("ask_of", columns["ask"]),
        predicates=tuple(columns.get("predicates", ())),
        of=columns.get("of", "thing"),
        words=tuple(columns.get("words", ())),
        patterns=tuple(columns.get("patterns", ())),
        named=bool(columns.get("named", False)),
        dated=bool(columns.get("dated", False)),
    )


def find_missing_fields(rows: Rows, most: int, ids: Sequence[str] | None = None) -> tuple[MissingField, ...]:
    """The fields of things that are not known.

    Args:
        most: things that are looked at, the most recalled first.
        ids: memories; None for all that stand.

    Returns:
        Each thing and field once, in that order.
    """
    wanted = sorted(frozenset().union(*(one.predicates for one in thing_templates())))
    params = {"predicates": json.dumps(wanted), "most": most, "ids": json.dumps([] if ids is None else list(ids))}
    found: dict[str, MissingField] = {}
    known_fields: _KnownFields = {}
    for row in rows.all(_ALL + ("" if ids is None else _AMONG) + _ORDER, params):
        for one in _missing_of(rows, row, known_fields):
            found.setdefault(one.key, one)
    return tuple(found.values())


def _missing_of(rows: Rows, row: Sequence[Any], known_fields: _KnownFields) -> Iterator[MissingField]:
    memory_id, space, text, dated, subject, subject_key, predicate, value = row
    for template in thing_templates():
        name = _named_by(template, str(value)) if predicate in template.predicates else None
        if name is None:
            continue
        thing = _Thing(memory_id, space, text, bool(dated), subject, subject_key, name)
        for field in template.fields:
            if not _is_field_known(rows, thing, field, known_fields):
                key = "\0".join((template.schema, field.name, space, subject_key, value_key(name)))
                yield MissingField(memory_id, space, template.schema, field.name, key, _format_question(field, thing))
        return


def _named_by(template: ThingTemplate, value: str) -> str | None:
    """The thing that a value names, as it is written there; None where the template is not about such."""
    flat = " ".join(value.split())
    if template.values:
        for word in template.values:
            match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", flat, re.IGNORECASE)
            if match is not None:
                return match.group()
        return None
    if template.openings:
        return flat if any(re.match(rf"{re.escape(one)}\b", flat, re.IGNORECASE) for one in template.openings) else None
    return flat or None


def _format_question(field: ExpectedField, thing: _Thing) -> str:
    template = field.ask if ItemTopic(subject=thing.subject).is_person else field.ask_of
    return template.format(name=describe_item_line(thing.name, _NAME), subject=describe_item_line(thing.subject, _NAME))


def _is_field_known(rows: Rows, thing: _Thing, field: ExpectedField, known_fields: _KnownFields) -> bool:
    if (field.dated and thing.dated) or (field.named and thing.name[:1].isupper()):
        return True
    if field.predicates:
        key = value_key(thing.name) if field.of == "thing" else thing.subject_key
        if rows.one(_CLAIMED, (thing.space_id, key, json.dumps(list(field.predicates)))) is not None:
            return True
    name = re.escape(thing.name)
    tried = tuple(pattern.replace("{name}", name) for pattern in field.patterns)
    if _is_answered_in(thing.name, [thing.text], tried):
        return True
    place = (thing.space_id, thing.name, field.words, tried)
    if place not in known_fields:  # whoever's thing it is: looked up once
        naming_texts = _find_texts_with_question(rows, thing.space_id, (thing.name,), most=_TEXTS) if tried else []
        has_word = field.words and _find_texts_with_question(rows, thing.space_id, field.words, most=1)
        known_fields[place] = bool(has_word) or _is_answered_in(thing.name, naming_texts, tried)
    return known_fields[place]


def _is_answered_in(name: str, texts: Iterable[str], patterns: Sequence[str]) -> bool:
    """Whether one of the texts names the thing and fits a pattern."""
    own = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    tried = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in patterns]
    return any(own.search(text) and any(one.search(text) for one in tried) for text in texts)


def _find_texts_with_question(rows: Rows, space_id: str, phrases: Iterable[str], *, most: int) -> list[str]:
    """Texts that stand in a space and hold one of these phrases."""
    parts = [" ".join(one.term for one in query_terms(phrase)) for phrase in phrases]
    query = " OR ".join(f'"{part}"' for part in parts if part)
    return [str(row[0]) for row in rows.all(_NAMING, (query, space_id, most))] if query else []


def item_question(rows: Rows, memory_id: str, detail: Mapping[str, object]) -> str:
    """The question of a review item about a missing field.

    Args:
        detail: of the item: `schema` and `field`.

    Returns:
        One sentence; "" where the field is known by now, or the item is about something else.
    """
    wanted = (detail.get("schema"), detail.get("field"))
    found = find_missing_fields(rows, _ITEMS, [memory_id]) if wanted[1] else ()
    return next((one.sentence for one in found if (one.schema, one.field) == wanted), "")


def stale_sentence(text: str, age_days: float) -> str:
    """How Loci asks whether something still holds (E4.5.4).

    Args:
        text: the memory's.
        age_days: since it was stored or last confirmed.

    Returns:
        The question, with its age in months and its text quoted.
    """
    months = max(1, round(age_days / _MONTH_DAYS))
    return str(_load_gap_templates()["stale"]["one" if months == 1 else "many"]).format(
        months=months, text=describe_item_line(text, _QUOTE)
    )


def contradiction_sentence(existing: str, incoming: str) -> str:
    """How Loci asks which of two holds (E4.5.3).

    Args:
        existing: the text that stands.
        incoming: the other one.

    Returns:
        The question with both texts quoted.
    """
    return str(_load_gap_templates()["contradiction"]).format(have=_format_bare(existing), came=_format_bare(incoming))


def _format_bare(text: str) -> str:
    return describe_item_line(text, _QUOTE).rstrip(".")
