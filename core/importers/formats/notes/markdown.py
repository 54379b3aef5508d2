"""Notes: an Obsidian vault, a folder of Markdown, or one text file. One note is one record, byte for byte.

A note is dated by its nearest dated heading, else its front matter, else its name: a long log tells its days by
headings, and its front matter only when it was begun. A board (JSON Canvas) is one text of its cards, groups and
arrows. Links and tags are read from the text, and links resolved to the notes they mean. Must not do: write into the
vault, follow a board's links, look for links in code, guess which of two notes with one name is meant, take a file's
date for the time of what it tells, or mint categories from checkboxes and clock times.
"""

from __future__ import annotations

import codecs
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from core.importers.front_matter import FrontMatter, read_front_matter
from core.importers.input.files import refused_file_error
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import (
    BadJson,
    is_binary,
    is_hidden,
    looks_like_json,
    parse_json_text,
    read_head,
    read_head_text,
    read_whole_text,
)
from core.importers.records import Item, Record, Section, SkippedPart, UnreadablePart
from core.importers.rows import text_digest
from core.text.markdown import ALIAS_MARK, MARKDOWN_LINK, WIKI_LINK, blank_code, headings_in
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
    nodes, edges = _select_objects(board.get("nodes")), _select_objects(board.get("edges"))
    words = [*_collect_strings(nodes, "text", "label"), *_collect_strings(edges, "label")]
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
            "files": _collect_strings(nodes, "file"),
            "urls": _collect_strings(nodes, "url"),
            "edges": edges,
        },
    )


def _select_objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _collect_strings(items: Iterable[Mapping[str, Any]], *keys: str) -> list[str]:
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
    """
    root = vault_root(bundle)
    templates = _template_folders(bundle, root) if root is not None else None
    notes: list[str] = []
    canvases: list[str] = []
    attachments: list[str] = []
    skipped: list[tuple[str, str]] = []
    for file in bundle.files:
        path = _relative_name(file, root or "")
        lower = path.lower()
        reason = None if bundle.kind == "file" else _skip_reason(file, path, templates)
        if reason:
            skipped.append((reason, path))
        elif lower.endswith(NOTE_ENDINGS if root is not None else _TEXT_ENDINGS) or bundle.kind == "file":
            notes.append(path)
        elif lower.endswith(CANVAS_ENDING):
            canvases.append(path)
        else:
            attachments.append(path)
    return NotesSurvey(root or "", tuple(notes), tuple(canvases), tuple(attachments), tuple(skipped))


def _relative_name(file: SourceFile, root: str) -> str:
    return file.name.removeprefix(root)


def _skip_reason(file: SourceFile, path: str, templates: tuple[str, ...] | None) -> str | None:
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
        file = bundle.find_file(f"{root}{SETTINGS}/{name}")
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
        yield from _read_all_notes(bundle, NoteReader(bundle))


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
        reader = NoteReader(bundle)
        yield from _read_all_notes(bundle, reader)
        for path in reader.survey.attachments:
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
            item = _read_note_text(file, file.name)
            if isinstance(item, UnreadablePart) and bundle.kind == "file":
                raise refused_file_error(file.name, item.message)
            if isinstance(item, _Text):
                yield _make_record(file.name, item, {"path": file.name, "title": file.path.stem})
            else:
                yield item


@dataclass(frozen=True, slots=True)
class _Text:
    """A note's text as decoded, with the marks of its reading."""

    text: str
    flags: frozenset[str]


class NoteReader:
    """Reads single notes and boards of a vault or folder, knowing all files that their links can mean."""

    def __init__(self, bundle: Bundle) -> None:
        """Survey the folder.

        Args:
            bundle: all of it; of most files no more than the name is looked at.
        """
        self.survey = survey_notes(bundle)
        found = self.survey
        self._index = NoteIndex((*found.notes, *found.canvases, *found.attachments))
        self._reasons = {path: reason for reason, path in found.skipped}
        self._notes, self._canvases = frozenset(found.notes), frozenset(found.canvases)

    def read(self, file: SourceFile) -> Item | None:
        """Read one file of the folder.

        Returns:
            Its record, or why it is left out; None for an attachment.
        """
        path = _relative_name(file, self.survey.root)
        if path in self._reasons:
            return SkippedPart(self._reasons[path], path)
        if path in self._notes:
            item = _read_note_text(file, path)
            return _make_note_record(path, item, self._index) if isinstance(item, _Text) else item
        if path in self._canvases:
            item = _read_note_text(file, path)
            board = canvas_record(path, item.text, self._index, item.flags) if isinstance(item, _Text) else item
            return replace(board, occurred=_named_date(path)) if isinstance(board, Record) else board
        return None


def _read_all_notes(bundle: Bundle, reader: NoteReader) -> Iterator[Item]:
    for file in bundle.files:
        item = reader.read(file)
        if item is not None:
            yield item


def _read_note_text(file: SourceFile, path: str) -> _Text | SkippedPart | UnreadablePart:
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


def _make_note_record(path: str, item: _Text, index: NoteIndex) -> Record:
    front = read_front_matter(item.text)
    body = blank_code(item.text[front.body_at :])
    tags = unique_tags([*_front_tags(front), *tags_in(body)])
    links = [link for text in front.list_texts() for link in links_in(text) if not link.markdown]
    occurred, sections = _dated_sections(front, body, path)
    extra: dict[str, Any] = {
        "path": path,
        "title": front.first_value("title") or _stem_of(path),
        "aliases": front.read_list("aliases", "alias"),
        "tags": list(tags),
        "links": link_rows([*links, *links_in(body)], index, path),
        "front_matter": dict(front.values),
    }
    record = _make_record(path, item, extra, tags, front)
    return replace(record, occurred=occurred, sections=sections)


def _stem_of(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path


def _front_tags(front: FrontMatter) -> list[str]:
    tags = (tag.lstrip("#").strip("/") for tag in front.read_list("tags", "tag", spaces=True))
    return [tag for tag in tags if is_tag(tag)]


def _make_record(
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
        author=front.first_value(*_AUTHOR) or _NOBODY,
        occurred=written or _named_date(path),
        tags=tags,
        flags=tuple(sorted(flags)),
        extra=extra,
    )


def _written_date(front: FrontMatter) -> tuple[When | None, bool]:
    """The first readable time of the front matter, as exactly as it tells that; and whether only unreadable ones."""
    given = [
        value.strip().removeprefix("[[").removesuffix("]]") for name in _DATED if (value := front.first_value(name))
    ]
    times = [when for value in given if (when := parse_time(value) or find_labelled_date(value)) is not None]
    found = _finest_date(times[0], times) if times else None
    return found, bool(given) and found is None


def _finest_date(date: When, others: Sequence[When]) -> When:
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


def _has_words_before_mark(body: str, end: int) -> bool:
    """Whether there is anything but headings before a place."""
    kept, at = [], 0
    for heading in headings_in(body[:end]):
        kept.append(body[at : heading.start])
        at = heading.end
    return bool("".join([*kept, body[at:end]]).strip())


def _dated_sections(front: FrontMatter, body: str, path: str) -> tuple[When | None, tuple[Section, ...]]:
    """When a note was said, and where in it another date begins.

    Args:
        body: what follows it, after `blank_code`.

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
        open_headings.append((heading.level, above if own is None else _finest_date(own, dates)))
        if open_headings[-1][1] != found[-1].occurred:
            found.append(Section(front.body_at + heading.start, open_headings[-1][1]))
    if len(found) > 1 and not _has_words_before_mark(body, found[1].start - front.body_at):
        found = [Section(0, found[1].occurred), *found[2:]]
    return found[0].occurred, tuple(found[1:])


_NOTE_ENDINGS = (".md", ".markdown")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_TAG = re.compile(
    "(?:^|(?<=[\\s(,;]))#([^\\s#!-,.:-@\\[-^`{-~\u00a0-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    "\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f]{1,200})",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link as written.

    Attributes:
        target: what stands before `#` and `|`; empty for a place in the same note.
        kind: `link` or `embed`.
        heading: after `#`; several headings stay joined by `#`.
        block: after `#^`.
        alias: after `|`, or the words of a Markdown link.
        markdown: whether it is a `[words](path)`.
    """

    target: str
    kind: str
    heading: str | None = None
    block: str | None = None
    alias: str | None = None
    markdown: bool = False


def tags_in(plain: str) -> list[str]:
    """Tags written as `#word`, in order, without the mark.

    Args:
        plain: a note's text after `blank_code`.

    Returns:
        The tags. A number alone is none; nor is a heading, an anchor of a link or a colour in an address.
    """
    words = MARKDOWN_LINK.sub(lambda m: m[2], WIKI_LINK.sub(" ", plain))
    return [tag for m in _TAG.finditer(words) if is_tag(tag := m[1].rstrip("/"))]


def is_tag(word: str) -> bool:
    """Whether a word can be a tag: it holds something besides digits and marks."""
    return any(not ch.isdigit() and ch not in "-_/" for ch in word)


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, as first written; tags differ by more than case."""
    seen: dict[str, str] = {}
    for tag in tags:
        seen.setdefault(tag.casefold(), tag)
    return tuple(seen.values())


def links_in(plain: str) -> list[RawLink]:
    """Links of a note in order: `[[target#heading|alias]]`, `![[embed]]` and `[words](path)`.

    Args:
        plain: a note's text after `blank_code`.

    Returns:
        The links; addresses with a scheme are none.
    """
    found = [(m.start(), _wiki_link(m)) for m in WIKI_LINK.finditer(plain)]
    found += [(m.start(), link) for m in MARKDOWN_LINK.finditer(plain) if (link := _markdown_link(m))]
    return [link for _, link in sorted(found, key=lambda pair: pair[0])]


def _wiki_link(match: re.Match[str]) -> RawLink:
    address, *alias = ALIAS_MARK.split(match[2], maxsplit=1)
    target, heading, block = _split_address(address)
    return RawLink(target, "embed" if match[1] else "link", heading, block, alias[0].strip() if alias else None)


def _markdown_link(match: re.Match[str]) -> RawLink | None:
    address = match[3] or match[4]
    if _SCHEME.match(address):
        return None
    target, heading, block = _split_address(unquote(address))
    return RawLink(target, "embed" if match[1] else "link", heading, block, match[2] or None, markdown=True)


def _split_address(address: str) -> tuple[str, str | None, str | None]:
    target, mark, place = address.partition("#")
    place = place.strip()
    if not mark or not place:
        return target.strip(), None, None
    if place.startswith("^"):
        return target.strip(), None, place[1:]
    heading, mark, block = place.partition("#^")
    return target.strip(), heading, block or None


def _fold_path(path: str) -> str:
    """Disks that ignore case or write letters in two pieces mean the same file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


class NoteIndex:
    """The files a link can mean, found by path, by the end of a path or by name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._exact: set[str] = set()
        # By the name without its ending, and most names are borne once: a vault may hold a hundred thousand notes.
        self._by_name: dict[str, str | list[str]] = {}
        for path in paths:
            self._exact.add(path)
            self._add_name(_key_of_name(path), path)

    def _add_name(self, key: str, path: str) -> None:
        known = self._by_name.setdefault(key, path)
        if isinstance(known, list):
            known.append(path)
        elif known != path:
            self._by_name[key] = [known, path]

    def resolve_link(self, link: RawLink, source: str) -> tuple[str | None, str]:
        """Which file a link means.

        Args:
            source: path of the note it stands in.

        Returns:
            The file's path and `resolved`; or None and `ambiguous` (several files fit) or `unresolved` (none does).
        """
        if not link.target:
            return source, "resolved"
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.target))
        target = posixpath.normpath(link.target.lstrip("/"))
        wanted = (beside, target) if link.markdown or link.target.startswith("./") or ".." in link.target else (target,)
        for path in wanted:
            if found := self._find_path(path):
                return found, "resolved"
        fits = self._ending_with(target)
        if len(fits) == 1:
            return fits[0], "resolved"
        return None, "ambiguous" if fits else "unresolved"

    def _find_path(self, path: str) -> str | None:
        for candidate in (path, *(path + ending for ending in _NOTE_ENDINGS)):
            if candidate in self._exact:
                return candidate
        same = [
            known
            for known in self._find_candidates(path)
            if any(_fold_path(name) == _fold_path(path) for name in _spellings_of(known))
        ]
        return same[0] if len(same) == 1 else None

    def _ending_with(self, path: str) -> list[str]:
        wanted = "/" + _fold_path(path)
        fits = [
            p
            for p in self._find_candidates(path)
            if any(("/" + _fold_path(name)).endswith(wanted) for name in _spellings_of(p))
        ]
        if len(fits) > 1:
            same_case = [p for p in fits if any(("/" + name).endswith("/" + path) for name in _spellings_of(p))]
            # Two files whose names differ by case only are told apart by it; two of one name never are.
            return same_case or fits
        return fits

    def _find_candidates(self, path: str) -> list[str]:
        found = self._by_name.get(_key_of_name(path), [])
        return [found] if isinstance(found, str) else list(dict.fromkeys(found))


def _key_of_name(path: str) -> str:
    """The last part of a path without case and note endings, by which files are found that a link may mean."""
    name = _fold_path(posixpath.basename(path))
    while name.endswith(_NOTE_ENDINGS):
        name = name.removesuffix(_NOTE_ENDINGS[0]).removesuffix(_NOTE_ENDINGS[1])
    return name


def _spellings_of(path: str) -> Iterator[str]:
    """The ways a link may spell a file: whole, and a note without its ending."""
    yield path
    for ending in _NOTE_ENDINGS:
        if path.lower().endswith(ending):
            yield path[: -len(ending)]


def link_rows(links: Iterable[RawLink], index: NoteIndex, source: str) -> list[dict[str, Any]]:
    """Links as data, each with the file it means.

    Args:
        links: the links of one note.
        index: the files that can be meant.
        source: the note's path.

    Returns:
        Rows {target, to, kind, heading, block, alias, state}; a Markdown link is kept where it means a known file or
        a note.
    """
    rows: list[dict[str, Any]] = []
    for link in links:
        to, state = index.resolve_link(link, source)
        if link.markdown and to is None and not link.target.lower().endswith(_NOTE_ENDINGS):
            continue
        rows.append(
            {
                "target": link.target,
                "to": to,
                "kind": link.kind,
                "heading": link.heading,
                "block": link.block,
                "alias": link.alias,
                "state": state,
            }
        )
    return rows
