"""The YAML block at the top of a note, with every value as its author wrote it.

Must not do: turn words into other types (`no`, `1:30`, `43.0` and dates stay text), follow YAML aliases, or fail a
note: a block that cannot be read is flagged and the note's text stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from core.text.markdown import find_front_matter

MAX_BLOCK = 256 * 1024
_MAX_DEPTH = 32
_MAX_NODES = 20_000

_KEY_LINE = re.compile(r"\s*[^\s:#\[\]{}-][^:\n]*:(?:\s|$)")
_SPLIT_LIST = re.compile(r",")
_SPLIT_TAGS = re.compile(r"[,\s]+")


class _UnreadableError(Exception):
    """The block is YAML that no note means: too deep, too big, or keyed by a list."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands between the two `---` lines of a note.

    Attributes:
        values: keys in file order; a value is a string, a list or a mapping of such; nothing is converted.
        body_at: where the note's own text begins, in characters; 0 without a front matter.
        broken: the block is there but cannot be read, or never ends.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    body_at: int = 0
    broken: bool = False

    def first_value(self, *names: str) -> str | None:
        """The first filled single value under one of the names, compared without case and punctuation.

        Args:
            names: names in order of preference, in plain lower-case letters (`datecreated`).

        Returns:
            The value as written, or None. A list gives its first item.
        """
        plain = {plain_name(key): value for key, value in reversed(tuple(self.values.items()))}
        for name in names:
            value = plain.get(name)
            if isinstance(value, list) and value:
                value = value[0]
            if isinstance(value, str) and value.strip():
                return value
        return None

    def read_list(self, *names: str, spaces: bool = False) -> list[str]:
        """All values under the names: a list's items, or one string split at commas.

        Args:
            names: plain names, as in `first_value`.
            spaces: whether blanks part a string too, as they do in `tags: people family`.
        """
        found: list[str] = []
        for key, value in self.values.items():
            if plain_name(key) not in names:
                continue
            if isinstance(value, str):
                found += (_SPLIT_TAGS if spaces else _SPLIT_LIST).split(value)
            else:
                found += _collect_leaves(value)
        return [item.strip() for item in found if item.strip()]

    def list_texts(self) -> Iterator[str]:
        """Every string among the values, however deep."""
        yield from _collect_leaves(self.values)


def plain_name(key: str) -> str:
    """A key without case, blanks and punctuation: `Date-Created` is `datecreated`."""
    return "".join(ch for ch in key.casefold() if ch.isalnum())


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a note.

    Returns:
        The block, or an empty one where the note has none. A ruler line at the top of plain prose is no front matter.
    """
    place = find_front_matter(text)
    if place is None:
        return FrontMatter()
    if place.end is None:
        return FrontMatter(broken=_KEY_LINE.match(text, place.start) is not None)
    body_at, block = place.body_at, text[place.start : place.end]
    if len(block) > MAX_BLOCK:
        return FrontMatter(body_at=body_at, broken=True)
    try:
        value = _build_yaml_value(block)
    except (yaml.YAMLError, _UnreadableError):
        return FrontMatter(body_at=body_at, broken=True)
    if value is None or value == "":
        return FrontMatter(body_at=body_at)
    if not isinstance(value, dict):
        return FrontMatter()
    return FrontMatter(values=value, body_at=body_at)


def _collect_leaves(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    return [leaf for item in value for leaf in _collect_leaves(item)]


_ABSENT = object()


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read, with the key that waits for its value."""

    value: list[Any] | dict[str, Any]
    key: Any = _ABSENT

    def add(self, item: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is _ABSENT:
            if not isinstance(item, str):
                raise _UnreadableError
            self.key = item
        else:
            self.value[self.key] = item
            self.key = _ABSENT


def _build_yaml_value(block: str) -> Any:
    """The block's value from YAML events: no recursion, no implicit types, no expanded aliases.

    A loader would resolve aliases, and nine nested ones make a billion items; here an alias stays `*name`.
    """
    stack: list[_Open] = []
    root: Any = None
    for count, event in enumerate(yaml.parse(block, Loader=yaml.BaseLoader)):
        if count > _MAX_NODES or len(stack) > _MAX_DEPTH:
            raise _UnreadableError
        if isinstance(event, yaml.DocumentEndEvent):
            break
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            stack.append(_Open([] if isinstance(event, yaml.SequenceStartEvent) else {}))
            continue
        if isinstance(event, yaml.ScalarEvent):
            item: Any = event.value
        elif isinstance(event, yaml.AliasEvent):
            item = f"*{event.anchor}"
        elif isinstance(event, yaml.CollectionEndEvent):
            item = stack.pop().value
        else:
            continue
        if stack:
            stack[-1].add(item)
        else:
            root = item
    return root
