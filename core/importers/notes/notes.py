"""Notes: an Obsidian vault, a folder of Markdown, or one text file. One note is one record, byte for byte.

A note is dated by its nearest dated heading, else its front matter, else its name: a long log tells its days by
headings, and its front matter only when it was begun. A board (JSON Canvas) is one text of its cards, groups and
arrows. Must not do: write into the vault, follow a board's links, take a file's date for the time of what it tells, or
mint categories from checkboxes and clock times.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.importers.input.refusal import refuse_file
from core.importers.input.sniff import is_binary, is_hidden, looks_like_json
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, parse_json_text, read_head, read_head_text, read_whole_text
from core.importers.notes.wikilinks import NoteIndex, is_tag, link_rows, links_in, tags_in, unique_tags
from core.importers.records.front_matter import FrontMatter, read_front_matter
from core.importers.records.records import Item, Record, Section, SkippedPart, UnreadablePart
from core.importers.records.rows import text_digest
from core.text.markdown import blank_code, headings_in
from core.text.times import find_labelled_date, is_within, parse_time
from core.types.values import Kind, Precision, Role, Source, When

_BETWEEN = "\n\n"


def canvas_record(
    path: str, text: str, index: NoteIndex, flags: Iterable[str]
) -> Record | SkippedPart | UnreadablePart:
    """Read one board.

    Args:
        path: its path inside the vault.
        text: the file.
        index: the files that links can mean.
        flags: marks of its reading.

    Returns:
        One record: the texts of its cards and the labels of groups and arrows, in file order, parted by an empty
        line; a Skip `no_text` for a board without words; a Trouble `bad_canvas` where the file is no board.
    """
    try:
        parsed = parse_json_text(text.removeprefix("\ufeff"))
    except BadJson as error:
        return UnreadablePart(path, f"not JSON: {error.reason}", "bad_canvas")
    board = parsed.value
    if not isinstance(board, Mapping):
        return UnreadablePart(path, "not a board", "bad_canvas")
    nodes, edges = _objects(board.get("nodes")), _objects(board.get("edges"))
    words = [*_strings(nodes, "text", "label"), *_strings(edges, "label")]
    if not words:
        return SkippedPart("no_text", path)
    joined = _BETWEEN.join(words)
    plain = _BETWEEN.join(blank_code(word) for word in words)
    tags = unique_tags(tags_in(plain))
    marks = {*flags, "surrogates_replaced"} if parsed.surrogates else set(flags)
    return Record(
        identity=f"note:{path}:{text_digest(joined)}",
        text=joined,
        where=path,
        kind=Kind.EPISODE,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author="source",
        tags=tags,
        flags=tuple(sorted(marks)),
        extra={
            "path": path,
            "title": path.rpartition("/")[2].rpartition(".")[0],
            "type": "canvas",
            "tags": list(tags),
            "links": link_rows(links_in(plain), index, path),
            "files": _strings(nodes, "file"),
            "urls": _strings(nodes, "url"),
            "edges": edges,
        },
    )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _strings(items: Iterable[Mapping[str, Any]], *keys: str) -> list[str]:
    return [str(value) for item in items for key in keys if isinstance(value := item.get(key), str) and value.strip()]


SETTINGS = ".obsidian"
TRASH = ".trash"
NOTE_ENDINGS = (".md", ".markdown")
CANVAS_ENDING = ".canvas"
MAX_NOTE = 64 << 20
_TEXT_ENDINGS = (*NOTE_ENDINGS, ".txt")
_TEMPLATE_FOLDERS = ("templates", "_templates")
_DEFAULT_TEMPLATES = ("templates/",)
# Where the two template plugins keep the name of their folder, and under which key.
_TEMPLATE_SETTINGS = (("templates.json", "folder"), ("plugins/templater-obsidian/data.json", "templates_folder"))
_TEMPLATE_MARK = re.compile(r"\{\{\s*(?:title|date|time)\b[^{}\n]*\}\}|<%[-_*+]?\s*tp\.")
_PLACEHOLDER = re.compile(r"\..+\.icloud")
# What the note is about, before when its file was made: a day is often written up on the next.
_DATED = (
    "date",
    "day",
    "datetime",
    "journaldate",
    "journalday",
    "created",
    "createdat",
    "datecreated",
    "creationdate",
    "createdon",
    "createddate",
    "createdtime",
    "creationtime",
    "ctime",
)
_BY_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{2})(?:[-_ ][^/\d]*)?/(\d{2})$")
_AUTHOR = ("author", "authors", "by")
_NOBODY = "source"


@dataclass(frozen=True, slots=True)
class NotesSurvey:
    """What a vault or folder of notes holds, by paths inside it.

    Attributes:
        root: where it begins inside the bundle, with a slash at the end; empty for the bundle itself.
        notes: text files that become records unless they are empty.
        canvases: boards.
        attachments: files that stay where they are; links to them are kept.
        skipped: (reason, path) of what is left out on purpose.
    """

    root: str
    notes: tuple[str, ...]
    canvases: tuple[str, ...]
    attachments: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


def vault_root(bundle: Bundle) -> str | None:
    """Where the outermost folder with `.obsidian/` begins inside the bundle; None without one."""
    roots = [f.name.partition(f"{SETTINGS}/")[0] for f in bundle.files if SETTINGS in f.path.parts[:-1]]
    return min(roots, key=len, default=None)


def survey_notes(bundle: Bundle) -> NotesSurvey:
    """Sort a bundle's files into notes, boards, attachments and what is left out.

    Args:
        bundle: a vault, or a folder of notes.

    Returns:
        The survey.
    """
    root = vault_root(bundle)
    templates = _template_folders(bundle, root) if root is not None else None
    notes: list[str] = []
    canvases: list[str] = []
    attachments: list[str] = []
    skipped: list[tuple[str, str]] = []
    for file in bundle.files:
        path = _inside(file, root or "")
        lower = path.lower()
        reason = None if bundle.kind == "file" else _left_out(file, path, templates)
        if reason:
            skipped.append((reason, path))
        elif lower.endswith(NOTE_ENDINGS if root is not None else _TEXT_ENDINGS) or bundle.kind == "file":
            notes.append(path)
        elif lower.endswith(CANVAS_ENDING):
            canvases.append(path)
        else:
            attachments.append(path)
    return NotesSurvey(root or "", tuple(notes), tuple(canvases), tuple(attachments), tuple(skipped))


def _inside(file: SourceFile, root: str) -> str:
    return file.name.removeprefix(root)


def _left_out(file: SourceFile, path: str, templates: tuple[str, ...] | None) -> str | None:
    folders = path.split("/")[:-1]
    if SETTINGS in folders:
        return "vault_settings"
    if TRASH in folders:
        return "trash"
    if _PLACEHOLDER.fullmatch(file.path.name):
        return "not_downloaded"
    if is_hidden(path):
        return "hidden_file"
    if path.lower().endswith(_TEXT_ENDINGS) and _is_template(file, path, templates):
        return "template"
    return None


def _is_template(file: SourceFile, path: str, templates: tuple[str, ...] | None) -> bool:
    if templates is None:
        return False
    folded = path.casefold()
    if any(folded.startswith(folder) for folder in templates):
        return True
    # A folder called Templates need not hold any; only a note with blanks to fill in is one.
    named = any(part in _TEMPLATE_FOLDERS for part in folded.split("/")[:-1])
    return named and _TEMPLATE_MARK.search(read_head_text(file)) is not None


def _template_folders(bundle: Bundle, root: str) -> tuple[str, ...]:
    """The folders that the vault's own settings name, folded, with a slash at the end."""
    found: list[str] = []
    for name, key in _TEMPLATE_SETTINGS:
        file = bundle.named(f"{root}{SETTINGS}/{name}")
        if file is None or file.size > MAX_NOTE:
            continue
        try:
            value = parse_json_text(read_whole_text(file)[0]).value
        except BadJson:
            continue
        folder = value.get(key) if isinstance(value, dict) else None
        if isinstance(folder, str) and folder.strip("/ "):
            found.append(folder.strip("/ ").casefold() + "/")
    return tuple(found) or _DEFAULT_TEMPLATES


class ObsidianImporter:
    """Reads a vault: a folder or zip with `.obsidian/` in it."""

    @property
    def format(self) -> str:
        """`obsidian`."""
        return "obsidian"

    def detects(self, bundle: Bundle) -> bool:
        """Whether there is a folder `.obsidian` with a file in it."""
        return vault_root(bundle) is not None

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield notes and boards in order of their paths; attachments are counted by `survey_notes` alone."""
        yield from _read_all(bundle, survey_notes(bundle))


class MarkdownImporter:
    """Reads a folder or zip of Markdown and text files, or one Markdown file."""

    @property
    def format(self) -> str:
        """`markdown`."""
        return "markdown"

    def detects(self, bundle: Bundle) -> bool:
        """Whether there are notes; one file alone must be called one, as its words cannot tell it from any text."""
        if bundle.kind == "file":
            return all(
                f.size and f.name.lower().endswith(NOTE_ENDINGS) and not is_binary(read_head(f)) for f in bundle.files
            )
        return bool(survey_notes(bundle).notes)

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield notes in order of their paths; other files are skipped as `not_a_note`."""
        found = survey_notes(bundle)
        yield from _read_all(bundle, found)
        for path in found.attachments:
            yield SkippedPart("not_a_note", path)


class TextImporter:
    """Reads one file that is text and nothing else that is known."""

    @property
    def format(self) -> str:
        """`text`."""
        return "text"

    def detects(self, bundle: Bundle) -> bool:
        """Whether it is one file of text that is not JSON."""
        if bundle.kind != "file" or len(bundle.files) != 1 or not bundle.files[0].size:
            return False
        file = bundle.files[0]
        return not is_binary(read_head(file)) and not looks_like_json(read_head_text(file))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield one record for each file.

        Raises:
            UserError: IMPORT_REFUSED where a single file is no text.
        """
        for file in bundle.files:
            item = _text_of(file, file.name)
            if isinstance(item, UnreadablePart) and bundle.kind == "file":
                raise refuse_file(file.name, item.message)
            if isinstance(item, _Text):
                yield _record(file.name, item, {"path": file.name, "title": file.path.stem})
            else:
                yield item


@dataclass(frozen=True, slots=True)
class _Text:
    """A note's text as decoded, with the marks of its reading."""

    text: str
    flags: frozenset[str]


def _read_all(bundle: Bundle, found: NotesSurvey) -> Iterator[Item]:
    index = NoteIndex((*found.notes, *found.canvases, *found.attachments))
    reasons = {path: reason for reason, path in found.skipped}
    notes, canvases = set(found.notes), set(found.canvases)
    for file in bundle.files:
        path = _inside(file, found.root)
        if path in reasons:
            yield SkippedPart(reasons[path], path)
        elif path in notes:
            item = _text_of(file, path)
            yield _note(path, item, index) if isinstance(item, _Text) else item
        elif path in canvases:
            item = _text_of(file, path)
            board = canvas_record(path, item.text, index, item.flags) if isinstance(item, _Text) else item
            yield replace(board, occurred=_named_date(path)) if isinstance(board, Record) else board


def _text_of(file: SourceFile, path: str) -> _Text | SkippedPart | UnreadablePart:
    if file.size > MAX_NOTE:
        return UnreadablePart(path, f"is longer than {MAX_NOTE >> 20} MiB, too long for one note", "too_large")
    start = read_head(file)
    if not start:
        return SkippedPart("empty_file", path)
    if is_binary(start):
        return UnreadablePart(path, "is no text", "not_text")
    text, flags = read_whole_text(file)
    if not text.strip():
        return SkippedPart("empty_file", path)
    # The mark is one of the file's bytes, and a note is kept byte for byte.
    return _Text("\ufeff" + text if start.startswith(codecs.BOM_UTF8) else text, flags)


def _note(path: str, item: _Text, index: NoteIndex) -> Record:
    front = read_front_matter(item.text)
    body = blank_code(item.text[front.body_at :])
    tags = unique_tags([*_front_tags(front), *tags_in(body)])
    links = [link for text in front.texts() for link in links_in(text) if not link.markdown]
    occurred, sections = _dated_sections(front, body, path)
    extra: dict[str, Any] = {
        "path": path,
        "title": front.first("title") or _stem(path),
        "aliases": front.listed("aliases", "alias"),
        "tags": list(tags),
        "links": link_rows([*links, *links_in(body)], index, path),
        "front_matter": dict(front.values),
    }
    record = _record(path, item, extra, tags, front)
    return replace(record, occurred=occurred, sections=sections)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path


def _front_tags(front: FrontMatter) -> list[str]:
    tags = (tag.lstrip("#").strip("/") for tag in front.listed("tags", "tag", spaces=True))
    return [tag for tag in tags if is_tag(tag)]


def _record(
    path: str, item: _Text, extra: dict[str, Any], tags: tuple[str, ...] = (), front: FrontMatter | None = None
) -> Record:
    front = front or FrontMatter()
    written, unreadable = _written_date(front)
    flags = set(item.flags)
    if front.broken:
        flags.add("front_matter_broken")
    if unreadable:
        flags.add("time_unreadable")
    return Record(
        identity=f"note:{path}:{text_digest(item.text)}",
        text=item.text,
        where=path,
        kind=Kind.EPISODE,
        role=Role.SOURCE,
        source=Source.DOCUMENT,
        author=front.first(*_AUTHOR) or _NOBODY,
        occurred=written or _named_date(path),
        tags=tags,
        flags=tuple(sorted(flags)),
        extra=extra,
    )


def _written_date(front: FrontMatter) -> tuple[When | None, bool]:
    """The first readable time of the front matter, as exactly as it tells that; and whether only unreadable ones."""
    given = [value.strip().removeprefix("[[").removesuffix("]]") for name in _DATED if (value := front.first(name))]
    times = [when for value in given if (when := parse_time(value) or find_labelled_date(value)) is not None]
    found = _finest(times[0], times) if times else None
    return found, bool(given) and found is None


def _finest(date: When, others: Sequence[When]) -> When:
    """The date, or the most exact of the others that tells the same day, month or year more exactly."""
    order = list(Precision)
    same = [one for one in others if is_within(one, date)]
    return max([date, *same], key=lambda one: order.index(one.precision))


def _named_date(path: str) -> When | None:
    """The date that a note's name bears, or its folders and name together (`2026/02/14.md`)."""
    stem = path.rpartition(".")[0] or path
    if folders := _BY_FOLDERS.search(stem):
        return find_labelled_date("-".join(folders.groups()))
    return find_labelled_date(stem.rpartition("/")[2])


def _has_words(body: str, end: int) -> bool:
    """Whether there is anything but headings before a place."""
    kept, at = [], 0
    for heading in headings_in(body[:end]):
        kept.append(body[at : heading.start])
        at = heading.end
    return bool("".join([*kept, body[at:end]]).strip())


def _dated_sections(front: FrontMatter, body: str, path: str) -> tuple[When | None, tuple[Section, ...]]:
    """When a note was said, and where in it another date begins.

    Args:
        front: its front matter.
        body: what follows it, after `blank_code`.
        path: its path.

    Returns:
        The date of its beginning, and each place behind that at which the date is another.
    """
    written, named = _written_date(front)[0], _named_date(path)
    whole = written or named
    dates = [when for when in (written, named) if when is not None]
    found = [Section(0, whole)]
    open_headings: list[tuple[int, When | None]] = []
    for heading in headings_in(body):
        while open_headings and open_headings[-1][0] >= heading.level:
            open_headings.pop()
        above = open_headings[-1][1] if open_headings else whole
        own = find_labelled_date(heading.words)
        open_headings.append((heading.level, above if own is None else _finest(own, dates)))
        if open_headings[-1][1] != found[-1].occurred:
            found.append(Section(front.body_at + heading.start, open_headings[-1][1]))
    if len(found) > 1 and not _has_words(body, found[1].start - front.body_at):
        found = [Section(0, found[1].occurred), *found[2:]]
    return found[0].occurred, tuple(found[1:])
