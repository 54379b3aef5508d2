"""Notion's export as Markdown and CSV: a page is one file, called by its title and its id; a database is a table.

A page of a database has its fields as lines under the title, which stay among its words; its row in the table says the
same and is left out. Must not do: keep the id in a title, store a table's rows a second time, or change a page's words.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.importers.document import Document
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_whole_text, visible_files
from core.importers.records import Item, SkippedPart, UnreadablePart
from core.text.times import find_labelled_date, parse_time
from core.types.values import When

_FORMAT = "notion"
_NAME = re.compile(r"(?P<title>.*?)[ _-]?(?P<id>[0-9a-f]{32})(?P<whole>_all)?$")
_FIELD = re.compile(r"([^\W_][^\n:]{0,59}): (.*)$")
_MADE = ("created", "created time", "date", "erstellt", "erstellt am", "créé", "creado", "creada", "data")
_TAGS = ("tags", "tag", "labels", "schlagwörter", "étiquettes", "etiquetas")
_MOST = 64 << 20
_LONGEST_CELL = 1 << 20
_MOST_FIELDS = 60
_SNIFFED = 20


class NotionImporter:
    """Reads an export, unpacked or in its zip."""

    @property
    def format(self) -> str:
        """`notion`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether pages are called by a title and an id of 32 digits and begin with that title as a heading."""
        if bundle.kind == "file":
            return False
        named = [file for file in _pages_of(bundle) if file.size]
        pages = sum(file.path.suffix.lower() == ".md" for file in visible_files(bundle))
        if 2 * len(named) <= pages:
            return False
        named = named[:_SNIFFED]
        return bool(named) and sum(_begins_with_title(file) for file in named) * 2 > len(named)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the pages in order of their files, then rows of tables without a page; see `records.Importer`."""
        pages = _pages_of(bundle)
        titles: dict[str, set[str]] = {}
        for file in pages:
            titles.setdefault(file.name.rpartition("/")[0], set()).add(_title_of(file))
            yield _read_page(file)
        tables = _tables_of(bundle)
        for file in tables:
            yield from _read_table(file, titles.get(file.name.removesuffix(".csv").removesuffix("_all"), set()))
        others = [one for one in visible_files(bundle) if one.path.suffix.lower() not in (".md", ".csv")]
        if others:
            yield SkippedPart("media_files", bundle.label, len(others))


def _pages_of(bundle: Bundle) -> list[SourceFile]:
    files = [file for file in visible_files(bundle) if file.path.suffix.lower() == ".md" and file.size <= _MOST]
    return [file for file in files if _NAME.match(file.path.stem)]


def _tables_of(bundle: Bundle) -> list[SourceFile]:
    """Tables, the whole one where a database has two: one of all rows, and one of those a view showed."""
    files = [file for file in visible_files(bundle) if file.path.suffix.lower() == ".csv" and file.size <= _MOST]
    whole = {file.name for file in files if file.path.stem.endswith("_all")}
    return [file for file in files if file.name in whole or file.name.removesuffix(".csv") + "_all.csv" not in whole]


def _title_of(file: SourceFile) -> str:
    found = _NAME.match(file.path.stem)
    return found["title"].strip() if found is not None else file.path.stem


def _begins_with_title(file: SourceFile) -> bool:
    text, _ = read_whole_text(file, _MOST)
    first = text.lstrip("\ufeff\r\n ").partition("\n")[0].strip()
    # A file's name has fewer signs than the title, and a long title is cut in it.
    return first.startswith("# ") and _letters(first)[:20].startswith(_letters(_title_of(file))[:20])


def _letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


@dataclass(frozen=True, slots=True)
class _Page:
    """A page: its title, what looks like its fields, its words."""

    title: str
    fields: dict[str, str]
    body: str


def _read_page(file: SourceFile) -> Item:
    text, flags = read_whole_text(file, _MOST)
    page = _divide(text.replace("\r\n", "\n"), _title_of(file))
    found = _NAME.match(file.path.stem)
    return Document(
        form=_FORMAT,
        text=page.body,
        where=file.name,
        key=found["id"] if found is not None else None,
        title=page.title,
        occurred=_find_date(page.fields) or find_labelled_date(page.title),
        tags=_find_tags(page.fields),
        facts={"path": _plain_path(file)},
        flags=flags,
    ).to_item()


def _divide(text: str, title: str) -> _Page:
    lines = text.lstrip("\ufeff\n").split("\n")
    if lines[0].startswith("# "):
        title = lines.pop(0)[2:].strip() or title
    while lines and not lines[0].strip():
        lines.pop(0)
    fields: dict[str, str] = {}
    for line in lines[:_MOST_FIELDS]:
        if (found := _FIELD.match(line)) is None:
            break
        fields[found[1].strip()] = found[2].strip()
    return _Page(title, fields, "\n".join(lines).strip("\n"))


def _find_date(fields: dict[str, str]) -> When | None:
    plain = {name.casefold(): value for name, value in fields.items()}
    for name in _MADE:
        value = plain.get(name, "").partition(" → ")[0]
        if value and (when := parse_time(value) or find_labelled_date(value)) is not None:
            return when
    return None


def _find_tags(fields: dict[str, str]) -> list[str]:
    return [tag.strip() for name in fields if name.casefold() in _TAGS for tag in fields[name].split(",")]


def _plain_path(file: SourceFile) -> str:
    """The folders a page lies in, without ids."""
    parts = [found["title"].strip() if (found := _NAME.match(part)) else part for part in file.path.parts[:-1]]
    return "/".join([*parts, _title_of(file)])


def _read_table(file: SourceFile, titles: set[str]) -> Iterator[Item]:
    text, flags = read_whole_text(file, _MOST)
    known, told = {_letters(title) for title in titles}, 0
    try:
        rows = _read_rows(text)
    except csv.Error:
        yield UnreadablePart(file.name, "this table has a cell that is too long or not closed", "bad_table")
        return
    for number, fields in rows:
        title = next(iter(fields.values()))
        if _letters(title) in known:
            told += 1
            continue
        yield Document(
            form=_FORMAT,
            text="\n".join(f"{name}: {value}" for name, value in fields.items()),
            where=f"{file.name}:{number}",
            title=title,
            occurred=_find_date(fields),
            tags=_find_tags(fields),
            facts={"path": _plain_path(file)},
            flags=flags,
        ).to_item()
    if told:
        yield SkippedPart("told_as_page", file.name, told)


def _read_rows(text: str) -> list[tuple[int, dict[str, str]]]:
    """The rows with something in them, each with its number and its filled cells by name."""
    before = csv.field_size_limit(_LONGEST_CELL)  # of the whole process, so it is put back before anything is given
    try:
        rows: list[tuple[int, dict[str, str]]] = []
        for number, row in enumerate(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))), 2):
            cells = ((name, value.strip()) for name, value in row.items() if name and isinstance(value, str))
            rows.append((number, {name: value for name, value in cells if value}))
        return [(number, fields) for number, fields in rows if fields]
    finally:
        csv.field_size_limit(before)
