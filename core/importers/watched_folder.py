"""A folder that is read again and again: which files of it count, how they are at present, and what one of them says.

Only formats whose files can be read one by one: notes, where a file is one text that is edited, and logs, which grow.
Links are not followed, hidden folders are not entered, and no file of another ending is opened; what is too much is
told before it is listed. Must not do: know what came before, keep a text, or take an unreadable folder for an empty
one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.errors import Code, UserError
from core.importers.dry_run import apply_limits
from core.importers.formats.sessions.aider import AiderImporter
from core.importers.formats.sessions.claude_code import ClaudeCodeImporter
from core.importers.formats.sessions.codex import CodexImporter
from core.importers.formats.sessions.gemini_cli import GeminiCliImporter
from core.importers.formats.tables.jsonl import JsonlImporter
from core.importers.input.file_list import ListedFiles
from core.importers.input.files import clean_name
from core.importers.input.source import open_files, open_listings
from core.importers.notes.reader import NoteReader
from core.importers.notes.survey import SETTINGS
from core.importers.records import Importer, Item, Record, SkippedPart

MOST_ENTRIES = 200_000
"""Files and folders in a watched folder; one with more is not looked at."""

MOST_BYTES = 256 << 20
"""Bytes of one file; a longer one is left out."""

MOST_DEPTH = 64


class WatchedNature(StrEnum):
    """What the files of a format are."""

    NOTES = "notes"
    """Texts that are edited: a new text takes the place of the one before."""
    LOGS = "logs"
    """What is said is added; what was said before stays."""


_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "obsidian": (".md", ".markdown", ".canvas"),
    "markdown": (".md", ".markdown", ".txt"),
    "claude-code": (".jsonl",),
    "codex": (".jsonl",),
    "gemini-cli": (".json",),
    "aider": ("history.md",),
    "jsonl": (".jsonl", ".ndjson"),
}
_NOTES = frozenset({"obsidian", "markdown"})
WATCHED_FORMATS = tuple(_ENDINGS)
"""Formats whose folders can be watched, by their names of the command line."""


def nature_of(form: str) -> WatchedNature:
    """What the files of a format are.

    Args:
        form: one of `WATCHED_FORMATS`.
    """
    return WatchedNature.NOTES if form in _NOTES else WatchedNature.LOGS


def check_watched_format(form: str) -> None:
    """Refuse a format whose files say nothing alone.

    Raises:
        UserError: IMPORT_UNKNOWN_FORMAT.
    """
    if form not in _ENDINGS:
        names = ", ".join(WATCHED_FORMATS)
        raise UserError(
            Code.IMPORT_UNKNOWN_FORMAT,
            f"A folder of the format {form} is imported, not watched; watched are: {names}. Nothing was changed.",
        )


class TooManyFilesError(Exception):
    """There are more files and folders than are looked at."""


@dataclass
class FolderSurvey:
    """A folder as it is.

    Attributes:
        files: those that count.
        beside: other files, which links of notes can mean; their contents are not looked at.
        unreadable: folders that could not be listed, with a slash at the end; nobody knows what is in them.
        folders: it and those in it, none of them hidden.
    """

    files: ListedFiles = field(default_factory=ListedFiles)
    beside: ListedFiles = field(default_factory=ListedFiles)
    unreadable: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    def may_hold(self, name: str) -> bool:
        """Whether a file that is not listed may be there all the same."""
        return any(name.startswith(folder) for folder in self.unreadable)


def identify_root(root: Path) -> str | None:
    """Device and inode of a folder; None where there is none, or a link stands in its place."""
    try:
        status = os.lstat(root)
    except OSError:
        return None
    return f"{status.st_dev}:{status.st_ino}" if stat.S_ISDIR(status.st_mode) else None


def survey_folder(root: Path, form: str) -> FolderSurvey:
    """List a folder.

    Args:
        form: one of `WATCHED_FORMATS`.

    Raises:
        TooManyFilesError: more than 200,000 entries.
        OSError: the folder itself cannot be listed.
    """
    survey = FolderSurvey(folders=[root])
    keeps_others = nature_of(form) is WatchedNature.NOTES
    count = 0
    waiting: list[tuple[Path, str, int]] = [(root, "", 0)]
    while waiting:
        folder, prefix, depth = waiting.pop()
        try:
            entries = _list_entries(folder, MOST_ENTRIES - count)
        except OSError:
            if not prefix:
                raise
            survey.unreadable.append(prefix)
            continue
        count += len(entries)
        for name, status in entries:
            if not stat.S_ISDIR(status.st_mode):
                _add_file(survey, folder, prefix, name, status, form)
            elif name == SETTINGS and keeps_others:
                _add_settings(survey, folder / name, prefix + name)
            elif not name.startswith(".") and depth < MOST_DEPTH:
                inside = prefix + clean_name(name) + "/"
                survey.folders.append(folder / name)
                waiting.append((folder / name, inside, depth + 1))
    return survey


def _list_entries(folder: Path, most: int) -> list[tuple[str, os.stat_result]]:
    found: list[tuple[str, os.stat_result]] = []
    with _open_folder(folder) as place, os.scandir(place) as entries:
        for entry in entries:
            if len(found) >= most:
                raise TooManyFilesError
            try:
                found.append((entry.name, entry.stat(follow_symlinks=False)))
            except OSError:
                continue  # it vanished since it was listed
    return sorted(found, key=lambda one: one[0])


@contextmanager
def _open_folder(folder: Path) -> Iterator[int | Path]:
    """A folder for listing. A link that was put in its place since is not followed, where the system can tell."""
    if os.scandir not in os.supports_fd:
        yield folder
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _add_file(survey: FolderSurvey, folder: Path, prefix: str, name: str, status: os.stat_result, form: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        return
    inside = prefix + clean_name(name)
    if _counts(name, form):
        survey.files.add_file(folder, inside, name, status)
    elif nature_of(form) is WatchedNature.NOTES and not name.startswith("."):
        survey.beside.add_file(folder, inside, name, status)


def _counts(name: str, form: str) -> bool:
    return name.lower().endswith(_ENDINGS[form]) and (form == "aider" or not name.startswith("."))


def _add_settings(survey: FolderSurvey, folder: Path, prefix: str) -> None:
    """The files that tell where a vault begins and where its templates are."""
    for inner in ("", "plugins/templater-obsidian"):
        try:
            entries = _list_entries(folder / inner, 1_000)
        except (OSError, TooManyFilesError):
            continue
        for name, status in entries:
            if stat.S_ISREG(status.st_mode) and name.endswith(".json"):
                survey.beside.add_file(folder / inner, "/".join(filter(None, (prefix, inner, name))), name, status)


class FolderReader:
    """Reads files of one folder, as a survey found them."""

    def __init__(self, survey: FolderSurvey, form: str, label: str) -> None:
        """Get ready.

        Args:
            form: one of `WATCHED_FORMATS`.
            label: the folder's name, for messages.
        """
        self._survey, self._form, self._label = survey, form, label
        self._notes = None
        if nature_of(form) is WatchedNature.NOTES:
            with open_listings(label, (survey.files, survey.beside)) as whole:
                self._notes = NoteReader(whole)

    def read(self, name: str) -> Iterator[Item]:
        """Read one file, each record held to the limits and told once.

        Args:
            name: of `FolderSurvey.files`.

        Raises:
            UserError: IMPORT_REFUSED, IMPORT_CHANGED; nothing more of it comes.
        """
        if self._survey.files[name].size > MOST_BYTES:
            yield SkippedPart("too_large", name)
            return
        seen: set[str] = set()
        for item in self._read_items(name):
            for limited in apply_limits(item) if isinstance(item, Record) else (item,):
                if isinstance(limited, Record):
                    if limited.identity in seen:
                        continue
                    seen.add(limited.identity)
                yield limited

    def _read_items(self, name: str) -> Iterator[Item]:
        if self._notes is not None:
            with open_files(self._label, [(name, self._survey.files[name])]) as bundle:
                item = self._notes.read(bundle.files[0])
            if item is not None:
                yield item
            return
        with open_files(self._label, [(name, self._survey.files[name])]) as bundle:
            yield from _LOG_IMPORTERS[self._form].read(bundle)


_LOG_IMPORTERS: Mapping[str, Importer] = {
    one.format: one
    for one in (ClaudeCodeImporter(), CodexImporter(), GeminiCliImporter(), AiderImporter(), JsonlImporter())
}
