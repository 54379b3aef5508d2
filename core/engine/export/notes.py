"""Memories as a folder of Markdown notes with wikilinks, in a zip file: unpacked, it opens as an Obsidian vault.

A conversation is one note with its messages in order, any other memory a note of its own; people, places and things
have notes that link to what is known of them. Texts are shown as they were written: what a viewer would load or carry
out (images, HTML, code that a plugin runs) is escaped, for a memory may have come from anywhere. Must not do: write a
file, or take a text for the name of a path.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.config.help_strings import read_help_strings
from core.engine.export.formats import ExportedMemory, Fields
from core.vault.database.rows import Rows, to_json
from core.vault.memory_sql import ENTITY_TYPE

_MENTIONED = (
    f"SELECT DISTINCT coalesce(m.part_of, m.id), e.name, {ENTITY_TYPE} "  # noqa: S608 - constants only
    "FROM memories m JOIN mentions t ON t.memory_id = m.id "
    "JOIN entities e ON e.id = t.entity_id AND e.merged_into_id IS NULL "
    "WHERE m.id IN (SELECT value FROM json_each(?)) OR m.part_of IN (SELECT value FROM json_each(?)) ORDER BY 1, 2"
)
_ALIASES = (
    f"SELECT DISTINCT e.name, {ENTITY_TYPE}, a.alias FROM entities e "  # noqa: S608 - constants only
    "JOIN entity_aliases a ON a.entity_id = e.id "
    "WHERE e.merged_into_id IS NULL ORDER BY a.alias"
)
_DERIVED = (
    "SELECT derived_id, source_id FROM derivations WHERE derived_id IN (SELECT value FROM json_each(?)) ORDER BY 1"
)
_TITLES = (
    "SELECT m.id, c.title FROM memories m JOIN conversations c ON c.id = m.conversation_id "
    "WHERE m.id IN (SELECT value FROM json_each(?)) AND trim(coalesce(c.title, '')) <> ''"
)
_AT_ONCE = 2000
_NAME = 60
"""Characters of a note's name at most, its date not counted."""
_SHOWN = 200
"""Characters of what a link shows at most."""
_FORBIDDEN = re.compile(r'[\\/:*?"<>|#^\[\]%`$]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
# An image is loaded and HTML drawn as soon as a note is looked at; code blocks and `$= ` are run by a known plugin.
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?%])|`|~(?=~)|%(?=%)")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_TAG = re.compile(r"[^\w/-]+")
_PROPERTIES = ("kind", "category", "space", "source", "status", "author", "importance", "valid_from", "valid_to")

EntityKey = tuple[str, str]
"""An entity's name and type."""


@dataclass(frozen=True, slots=True)
class MemoryLinks:
    """What notes link to.

    Attributes:
        mentions: entities by memory.
        sources: what a memory was derived from, by memory.
        aliases: other names by entity.
        titles: of the conversation that a memory is of, by memory.
    """

    mentions: Mapping[str, Sequence[EntityKey]]
    sources: Mapping[str, Sequence[str]]
    aliases: Mapping[EntityKey, Sequence[str]]
    titles: Mapping[str, str]


def read_links(rows: Rows, ids: Sequence[str]) -> MemoryLinks:
    """Read what the notes of some memories link to.

    Args:
        ids: of whole memories.
    """
    mentions: dict[str, list[EntityKey]] = defaultdict(list)
    sources: dict[str, list[str]] = defaultdict(list)
    titles: dict[str, str] = {}
    for at in range(0, len(ids), _AT_ONCE):
        some = to_json(ids[at : at + _AT_ONCE])
        for memory_id, name, kind in rows.all(_MENTIONED, (some, some)):
            mentions[memory_id].append((name, kind))
        for memory_id, source_id in rows.all(_DERIVED, (some,)):
            sources[memory_id].append(source_id)
        titles |= dict(rows.all(_TITLES, (some,)))
    named = {key for keys in mentions.values() for key in keys}
    aliases: dict[EntityKey, list[str]] = defaultdict(list)
    for name, kind, alias in rows.all(_ALIASES):
        if (name, kind) in named and alias != name:
            aliases[name, kind].append(alias)
    return MemoryLinks(mentions, sources, aliases, titles)


def pack_notes(found: Sequence[ExportedMemory], links: MemoryLinks) -> bytes:
    """A zip file of notes.

    Args:
        found: the memories, those of one conversation together and in their order.
        links: of the same memories.

    Returns:
        The file; the same memories make the same bytes.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, text in _write_notes(found, links):
            packed.writestr(zipfile.ZipInfo(f"{path}.md", _EPOCH), text.encode("utf-8", "replace"))
    return out.getvalue()


@dataclass(slots=True)
class _Paths:
    """Paths of notes, each given once: on many systems two that differ in capitals alone are one."""

    taken: set[str] = field(default_factory=set)

    def take(self, folder: str, name: str) -> str:
        plain = make_note_name(name)
        number, path = 1, f"{folder}/{plain}"
        while path.casefold() in self.taken:
            number += 1
            path = f"{folder}/{plain} {number}"
        self.taken.add(path.casefold())
        return path


def make_note_name(text: str, most: int = _NAME) -> str:
    """A file's name of the first words of a text: none that a system forbids, and none that a link cannot hold.

    Args:
        most: characters.
    """
    line = next((line for line in text.splitlines() if line.strip()), "")
    plain = "".join(" " if unicodedata.category(sign).startswith(("C", "Z")) else sign for sign in line)
    plain = " ".join(_FORBIDDEN.sub(" ", plain).split())
    if len(plain) > most:
        plain = plain[:most].rpartition(" ")[0] or plain[:most]
    plain = plain.strip(" .,;-")
    words = read_help_strings("export")
    return f"{words['file']} {plain}".strip() if not plain or _RESERVED.match(plain) else plain


def escape_active(text: str) -> str:
    """A text as Markdown that loads nothing and runs nothing when it is looked at."""
    return _ACTIVE.sub(lambda found: "\\" + found.group(), text)


def _write_notes(found: Sequence[ExportedMemory], links: MemoryLinks) -> Iterator[tuple[str, str]]:
    words = read_help_strings("export")
    yield words["index"]["name"], words["index"]["text"]
    paths = _Paths()
    groups = _group_by_note(found)
    entities = {
        key: paths.take(_folder_of(key), key[0])
        for key in dict.fromkeys(key for one in found for key in links.mentions.get(one.id, ()))
    }
    notes = [paths.take(*_place_of(group, links.titles)) for group in groups]
    targets = {
        one.id: path if len(group) == 1 else f"{path}#^{_block_id(one.id)}"
        for group, path in zip(groups, notes, strict=True)
        for one in group
    }
    linked = _LinkedNotes(links, targets, entities)
    for group, path in zip(groups, notes, strict=True):
        yield path, linked.write_memory(group[0]) if len(group) == 1 else linked.write_conversation(group)
    known: dict[EntityKey, list[ExportedMemory]] = defaultdict(list)
    for one in found:
        for key in links.mentions.get(one.id, ()):
            known[key].append(one)
    for key, path in entities.items():
        yield path, linked.write_entity(key, known[key])


def _group_by_note(found: Sequence[ExportedMemory]) -> list[list[ExportedMemory]]:
    """Messages of one conversation share a note."""
    groups: dict[str, list[ExportedMemory]] = {}
    for one in found:
        is_message = one.fields.get("kind") == "episode" and "session" in one.fields
        groups.setdefault(f"talk:{one.fields['session']}" if is_message else one.id, []).append(one)
    return list(groups.values())


def _place_of(group: Sequence[ExportedMemory], titles: Mapping[str, str]) -> tuple[str, str]:
    """The folder of a note and its name: the day, and a conversation's title or the first words."""
    folders = read_help_strings("export")["folders"]
    first = group[0].fields
    day = str(first.get("time", ""))[:10]
    if len(group) == 1:
        return folders["memories"], f"{day} {make_note_name(first['text'])}".strip()
    return folders["conversations"], f"{day} {make_note_name(titles.get(group[0].id, first['text']))}".strip()


def _folder_of(entity: EntityKey) -> str:
    types: Mapping[str, Mapping[str, str]] = read_help_strings("entities_page")["types"]
    return types.get(entity[1], types["other"])["many"]


def _block_id(memory_id: str) -> str:
    return memory_id.replace("-", "")[-12:]


@dataclass(frozen=True, slots=True)
class _LinkedNotes:
    """The texts of notes whose paths are known."""

    links: MemoryLinks
    targets: Mapping[str, str]
    entities: Mapping[EntityKey, str]

    def write_memory(self, one: ExportedMemory) -> str:
        lines = [*_front_matter(one), "", escape_active(one.fields["text"]), *self._link_lines(one)]
        return "\n".join(lines) + "\n"

    def write_conversation(self, group: Sequence[ExportedMemory]) -> str:
        speakers = dict.fromkeys(str(one.fields["author"]) for one in group)
        first = group[0].fields
        lines = ["---", f"speakers: {_as_yaml(list(speakers))}"]
        lines += [f"{name}: {_as_yaml(first[name])}" for name in ("space", "source") if name in first]
        lines.append("---")
        for one in group:
            time = f" · {one.fields['time']}" if "time" in one.fields else ""
            author = escape_active(str(one.fields["author"])).replace("*", "\\*")
            lines += ["", f"**{author}**{time}", "", escape_active(one.fields["text"])]
            lines += [*self._link_lines(one), "", f"^{_block_id(one.id)}"]
        return "\n".join(lines) + "\n"

    def write_entity(self, key: EntityKey, known: Sequence[ExportedMemory]) -> str:
        words = read_help_strings("export")
        lines = ["---", f"type: {_as_yaml(key[1])}"]
        if self.links.aliases.get(key):
            lines.append(f"aliases: {_as_yaml(list(self.links.aliases[key]))}")
        lines += ["---", "", f"# {escape_active(key[0])}", "", f"## {words['known']}", ""]
        # What was made a statement says it alone; what was said stands behind it.
        ordered = sorted(known, key=lambda one: (one.fields.get("kind") == "episode", str(one.fields.get("time", ""))))
        lines += [f"- {_link(self.targets[one.id], one.fields['text'])}" for one in ordered]
        return "\n".join(lines) + "\n"

    def _link_lines(self, one: ExportedMemory) -> list[str]:
        words = read_help_strings("export")
        named = [_link(self.entities[key], key[0]) for key in self.links.mentions.get(one.id, ())]
        sources = [self.targets[source] for source in self.links.sources.get(one.id, ()) if source in self.targets]
        lines = [words["mentions"].format(links=", ".join(named))] if named else []
        lines += (
            [words["from"].format(links=", ".join(_link(path, _last_part(path)) for path in sources))]
            if sources
            else []
        )
        return [line for text in lines for line in ("", text)]


def _link(path: str, shown: str) -> str:
    """A wikilink; what is shown holds none of the signs that would end it."""
    return f"[[{path}|{make_note_name(shown, _SHOWN)}]]"


def _last_part(path: str) -> str:
    return path.rpartition("/")[2].partition("#")[0]


def _front_matter(one: ExportedMemory) -> list[str]:
    fields: Fields = one.fields
    lines = ["---", f"loci: {_as_yaml(one.id)}"]
    if "time" in fields:
        lines.append(f"date: {_as_yaml(fields['time'])}")
    lines += [f"{name}: {_as_yaml(fields[name])}" for name in _PROPERTIES if name in fields]
    tags = [tag for tag in map(_plain_tag, fields.get("tags", ())) if tag]
    return [*lines, *([f"tags: {_as_yaml(tags)}"] if tags else []), "---"]


def _plain_tag(tag: str) -> str:
    """A tag as the program knows tags: without blanks, and not of digits alone."""
    plain = _TAG.sub("-", tag).strip("-/")
    return f"t{plain}" if plain.isdecimal() else plain


def _as_yaml(value: Any) -> str:
    """A value of a front matter: JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)
