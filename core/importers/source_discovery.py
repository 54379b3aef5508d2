"""Looks for exports in the folders where they usually lie: by names, heads of files and lists of archives.

The work is bounded in entries, files opened, depth and seconds; what cannot be read is passed over. Must not do: follow
a link, open anything but regular files, read past the head of one, change anything, remember what it saw.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.errors import LociError
from core.importers.formats.assistants.chatgpt import ChatGptImporter
from core.importers.formats.assistants.claude import ClaudeImporter
from core.importers.formats.chats.discord import DiscordImporter
from core.importers.formats.chats.imessage import IMessageImporter
from core.importers.formats.chats.slack import SlackImporter
from core.importers.formats.chats.telegram import TelegramImporter
from core.importers.formats.chats.whatsapp import WhatsAppImporter
from core.importers.formats.documents.pdf import PdfImporter
from core.importers.formats.documents.web_page import WebPageImporter
from core.importers.formats.mail.mail import MailImporter
from core.importers.formats.memories.mcp_memory import McpMemoryImporter
from core.importers.formats.memories.mem0 import Mem0Importer
from core.importers.formats.memories.openmemory import OpenMemoryImporter
from core.importers.formats.notes.joplin import JoplinImporter
from core.importers.formats.notes.notion import NotionImporter
from core.importers.formats.notes.org import OrgImporter
from core.importers.formats.sessions.claude_code import ClaudeCodeImporter
from core.importers.formats.sessions.codex import CodexImporter
from core.importers.formats.sessions.continue_sessions import ContinueImporter
from core.importers.formats.sessions.cursor import CursorImporter
from core.importers.formats.sessions.opencode import OpenCodeImporter
from core.importers.input.source import open_bundle
from core.importers.records import Importer
from core.types.clock import Clock
from core.types.replies import Candidate

MOST_ENTRIES = 20_000
MOST_SNIFFED = 300
MOST_FOUND = 100
MOST_SECONDS = 6.0
DEPTH = 3

_OBSIDIAN = "obsidian"
_LABELS = {
    "chatgpt": "ChatGPT export",
    "claude": "Claude export",
    "claude-code": "Claude Code sessions",
    "codex": "Codex sessions",
    "continue": "Continue sessions",
    "cursor": "Cursor chats",
    "discord": "Discord chats",
    "html": "Web page",
    "imessage": "iMessage chat",
    "joplin": "Joplin notes",
    "mail": "Mail",
    "mcp-memory": "MCP memory",
    "mem0": "Mem0 memories",
    "openmemory": "OpenMemory backup",
    "notion": "Notion export",
    _OBSIDIAN: "Obsidian notes",
    "opencode": "OpenCode sessions",
    "org": "Org outline",
    "pdf": "PDF document",
    "slack": "Slack export",
    "telegram": "Telegram chats",
    "whatsapp": "WhatsApp chat",
}
_ENDINGS = frozenset(
    {".htm", ".html", ".jex", ".json", ".jsonl", ".mbox", ".org", ".pdf", ".tgz", ".txt", ".vscdb", ".zip"}
)
_PACKED_TAR = ".tar.gz"
_STATE = "state.vscdb"
_DOCUMENTS = frozenset({"html", "org", "pdf"})
# A document is one where it lies by itself; many archives hold a page or two.
_DOCUMENT_ENDINGS: Mapping[str, tuple[Importer, ...]] = {
    ".htm": (WebPageImporter(),),
    ".html": (WebPageImporter(),),
    ".org": (OrgImporter(),),
    ".pdf": (PdfImporter(),),
}
_MOST_DOCUMENTS = 30  # of single documents; a folder of downloads is full of them, and exports shall be seen
# Files beside `conversations.json` by which a folder shows itself as an unpacked export.
_COMPANIONS = frozenset(
    {"chat.html", "memories.json", "message_feedback.json", "projects.json", "user.json", "users.json"}
)
_CONVERSATIONS = ("conversations.json", "conversations-")
_PASSED_OVER = frozenset({"__macosx", "__pycache__", "node_modules", "site-packages", "venv"})
_LOOKED_INTO = 5  # session files of a folder that are opened before it is given up


class PlaceKind(StrEnum):
    """What is expected at a place."""

    LOOSE = "loose"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    CONTINUE = "continue"
    CURSOR = "cursor"


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A folder to look into.

    Attributes:
        path: the folder.
        kind: what is expected there.
        within: it must lie in here once its links are resolved; None where the person named it.
    """

    path: Path
    kind: PlaceKind
    within: Path | None = None


_LOGS: Mapping[PlaceKind, Callable[[], Importer]] = {
    PlaceKind.CLAUDE_CODE: ClaudeCodeImporter,
    PlaceKind.CODEX: CodexImporter,
}
_SESSIONS: Mapping[PlaceKind, Callable[[], Importer]] = {
    PlaceKind.OPENCODE: OpenCodeImporter,
    PlaceKind.CONTINUE: ContinueImporter,
}


def usual_folders(home: Path) -> tuple[SourceFolder, ...]:
    """Where exports usually lie.

    Args:
        home: the person's own folder.

    Returns:
        Places, existing or not.
    """
    loose = (SourceFolder(home / name, PlaceKind.LOOSE, home) for name in ("Downloads", "Documents", "Desktop"))
    return (
        SourceFolder(home / ".claude" / "projects", PlaceKind.CLAUDE_CODE, home),
        SourceFolder(home / ".codex" / "sessions", PlaceKind.CODEX, home),
        SourceFolder(home / ".local" / "share" / "opencode" / "storage", PlaceKind.OPENCODE, home),
        SourceFolder(home / ".continue" / "sessions", PlaceKind.CONTINUE, home),
        SourceFolder(home / ".config" / "Cursor" / "User" / "globalStorage", PlaceKind.CURSOR, home),
        *loose,
    )


def named_folders(paths: Sequence[Path]) -> tuple[SourceFolder, ...]:
    """Folders the person named; they may lead over links, what is in them may not.

    Returns:
        Places to look into.
    """
    return tuple(SourceFolder(path, PlaceKind.LOOSE) for path in paths)


def discover_sources(
    places: Sequence[SourceFolder], clock: Clock, stopped: Callable[[], bool]
) -> tuple[Candidate, ...]:
    """Look into places.

    Args:
        stopped: asked at every entry; True ends the search.

    Returns:
        What was found by then, the newest first.
    """
    walk = _Walk(clock, stopped)
    for place in places:
        root = _root_of(place)
        if root is None:
            continue
        if place.kind is PlaceKind.LOOSE:
            walk.look_for_exports(root)
        elif place.kind in _LOGS:
            walk.look_for_sessions(root, _LOGS[place.kind]())
        elif place.kind in _SESSIONS:
            walk.look_for_session_files(root, _SESSIONS[place.kind]())
        else:
            walk.look_for_state(root)
    return tuple(sorted(walk.found.values(), key=lambda one: (-one.changed_at, one.path)))


def _root_of(place: SourceFolder) -> Path | None:
    """The real folder of a place; None where it is none, or lies elsewhere."""
    try:
        real = place.path.resolve(strict=True)
        if place.within is not None and not real.is_relative_to(place.within.resolve(strict=True)):
            return None
        return real if real.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None


@dataclass
class _Sum:
    """Files that are one candidate together."""

    size: int = 0
    changed_ms: int = 0
    count: int = 0

    def add(self, entry: _Entry) -> None:
        self.size += entry.size
        self.changed_ms = max(self.changed_ms, entry.changed_ms)
        self.count += 1


@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    is_folder: bool
    size: int
    changed_ms: int

    @property
    def name(self) -> str:
        return self.path.name.lower()


@dataclass
class _Walk:
    """One search with what it may still spend."""

    clock: Clock
    stopped: Callable[[], bool]
    found: dict[str, Candidate] = field(default_factory=dict)
    entries: int = 0
    sniffed: int = 0
    documents: int = 0
    until: float = 0.0

    def __post_init__(self) -> None:
        self.until = self.clock.monotonic() + MOST_SECONDS

    def is_spent(self) -> bool:
        """Whether to stop looking."""
        spent = self.entries >= MOST_ENTRIES or len(self.found) >= MOST_FOUND
        return spent or self.clock.monotonic() >= self.until or self.stopped()

    def look_for_exports(self, root: Path) -> None:
        """Look for files of any export, and for vaults of notes, near to far."""
        waiting = [(root, 0)]
        while waiting and not self.is_spent():
            folder, depth = waiting.pop(0)
            listed = list(self._list_folder(folder))
            if any(entry.is_folder and entry.name == ".obsidian" for entry in listed):
                self._add_notes(folder, listed)
                continue
            if depth and self._is_unpacked_export(folder, listed):
                continue
            for entry in listed:
                if not entry.is_folder:
                    self._add_file(entry)
                elif depth < DEPTH and not _is_passed_over(entry.name):
                    waiting.append((entry.path, depth + 1))

    def look_for_sessions(self, root: Path, importer: Importer) -> None:
        """A folder of session logs: one candidate, if one of its first logs is what it should be."""
        logs = [entry for entry in self._list_below(root) if entry.name.endswith(".jsonl") and entry.size]
        if any(self._is_format(importer, entry.path) for entry in logs[:_LOOKED_INTO]):
            self._add_candidate(root, importer.format, logs)

    def look_for_session_files(self, root: Path, importer: Importer) -> None:
        """A folder of sessions in many JSON files, which only together show what they are: one candidate."""
        files = [entry for entry in self._list_below(root) if entry.name.endswith(".json") and entry.size]
        if files and not self.is_spent() and self._is_format(importer, root):
            self._add_candidate(root, importer.format, files)

    def look_for_state(self, root: Path) -> None:
        """The database in which an editor keeps its chats; what lies beside it is not looked at."""
        for entry in self._list_folder(root):
            if not entry.is_folder and entry.name == _STATE:
                self._add_file(entry)

    def _add_notes(self, folder: Path, listed: Sequence[_Entry]) -> None:
        notes = [entry for entry in self._list_below(folder, listed) if entry.name.endswith((".md", ".canvas"))]
        if notes:
            self._add_candidate(folder, _OBSIDIAN, notes)

    def _is_unpacked_export(self, folder: Path, listed: Sequence[_Entry]) -> bool:
        """An export that was unpacked is imported as a folder, with what lies beside the conversations."""
        files = [entry for entry in listed if not entry.is_folder]
        talks = [entry for entry in files if entry.name.startswith(_CONVERSATIONS) and entry.name.endswith(".json")]
        if not talks or not (len(talks) > 1 or any(entry.name in _COMPANIONS for entry in files)):
            return False
        form = self._format_of(talks[0])
        if form is None:
            return False
        self._add_candidate(folder, form, files)
        return True

    def _add_file(self, entry: _Entry) -> None:
        form = self._format_of(entry)
        if form is None:
            return
        self.documents += form in _DOCUMENTS
        if form not in _DOCUMENTS or self.documents <= _MOST_DOCUMENTS:
            self._add_candidate(entry.path, form, [entry])

    def _format_of(self, entry: _Entry) -> str | None:
        ending = entry.path.suffix.lower()
        is_wanted = ending in _ENDINGS or entry.name.endswith(_PACKED_TAR)
        if not is_wanted or not entry.size or self.sniffed >= MOST_SNIFFED:
            return None
        if ending in _DOCUMENT_ENDINGS and self.documents >= _MOST_DOCUMENTS:
            return None
        self.sniffed += 1
        importers = (*_discoverable_importers(), *(_DOCUMENT_ENDINGS.get(ending, ())))
        # What opens only with a password, is damaged or cannot be read is no candidate; naming it says why.
        with suppress(LociError), open_bundle(entry.path) as bundle:
            return next((importer.format for importer in importers if importer.detects(bundle)), None)
        return None

    def _is_format(self, importer: Importer, path: Path) -> bool:
        self.sniffed += 1
        with suppress(LociError), open_bundle(path) as bundle:
            return importer.detects(bundle)
        return False

    def _add_candidate(self, path: Path, form: str, files: Sequence[_Entry]) -> None:
        total = _Sum()
        for entry in files:
            total.add(entry)
        self.found[str(path)] = Candidate(
            str(path), form, _LABELS[form], total.size, total.changed_ms, max(1, total.count)
        )

    def _list_below(self, folder: Path, listed: Sequence[_Entry] | None = None) -> Iterator[_Entry]:
        """The files of a folder and of the folders in it that are not hidden."""
        waiting = [list(self._list_folder(folder)) if listed is None else list(listed)]
        while waiting:
            for entry in waiting.pop():
                if not entry.is_folder:
                    yield entry
                elif not _is_passed_over(entry.name) and not self.is_spent():
                    waiting.append(list(self._list_folder(entry.path)))

    def _list_folder(self, folder: Path) -> Iterator[_Entry]:
        """What lies in a folder: regular files and folders, links not followed, in the order of names."""
        try:
            with os.scandir(folder) as found:
                names = sorted(entry.name for entry, _ in zip(found, range(self._entries_left()), strict=False))
        except OSError:
            return
        for name in names:
            self.entries += 1
            if self.is_spent():
                return
            entry = _make_entry(folder / name)
            if entry is not None:
                yield entry

    def _entries_left(self) -> int:
        return max(0, MOST_ENTRIES - self.entries)


def _discoverable_importers() -> tuple[Importer, ...]:
    """The formats that one file alone shows beyond doubt; rows, notes and texts could be anybody's."""
    return (
        ChatGptImporter(),
        ClaudeImporter(),
        ClaudeCodeImporter(),
        CodexImporter(),
        TelegramImporter(),
        DiscordImporter(),
        SlackImporter(),
        WhatsAppImporter(),
        IMessageImporter(),
        OpenCodeImporter(),
        ContinueImporter(),
        CursorImporter(),
        MailImporter(),
        JoplinImporter(),
        NotionImporter(),
        McpMemoryImporter(),
        OpenMemoryImporter(),
        Mem0Importer(),
    )


def _make_entry(path: Path) -> _Entry | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    is_folder = stat.S_ISDIR(status.st_mode)
    if not is_folder and not stat.S_ISREG(status.st_mode):
        return None
    return _Entry(path, is_folder, status.st_size, status.st_mtime_ns // 1_000_000)


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in _PASSED_OVER
