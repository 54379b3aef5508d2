"""Aider's history of a chat: `.aider.chat.history.md`, Markdown that grows with every session.

A session begins with a dated heading; what the person typed stands behind `####`, what the program printed behind `>`,
and all else is the model's answer. Must not do: take a heading of an answer for the person's words: theirs has four
marks and an answer that has them, too, cannot be told apart, so it is as Aider itself reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import content_id, cut_blocks
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_file_lines, read_head_text
from core.importers.records import Conversation, Item, SkippedPart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT = "aider"
_SESSION = re.compile(r"# aider chat started at (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})\s*$")
_ASKED = "#### "
_PRINTED = re.compile(r">(?: |$)")


class AiderImporter:
    """Reads a history, or a folder of them."""

    @property
    def format(self) -> str:
        """`aider`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file's first words are the heading of a session."""
        return any(_is_history(file) for file in _history_files(bundle))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the turns session by session; see `records.Importer`."""
        files = [file for file in _history_files(bundle) if bundle.kind == "file" or _is_history(file)]
        for file in files:
            yield from _read_history(file)
        if len(bundle.files) > len(files):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(files))


def _history_files(bundle: Bundle) -> list[SourceFile]:
    if bundle.kind == "file":
        return list(bundle.files)
    return [one for one in bundle.files if one.path.name.endswith("history.md")]


def _is_history(file: SourceFile) -> bool:
    return _SESSION.match(read_head_text(file, 4_096).lstrip().partition("\n")[0]) is not None


def _read_history(file: SourceFile) -> Iterator[Item]:
    reader: ChatReader | None = None
    kind, started, kept, first = "", "", list[str](), 1
    for number, line in read_file_lines(file):
        session = _SESSION.match(line)
        new = "session" if session else _kind_of_line(line, kind)
        if new != kind:
            yield from _finish_turn(reader, kind, kept, f"{file.name}:{first}", started)
            kept, first, kind = [], number, new
        if session:
            started, kind = session[1], ""
            key = content_id(started)
            reader = ChatReader(_FORMAT, Conversation(key=key, started=parse_time(started)))
        else:
            kept.append(line.removeprefix(_ASKED) if kind == "asked" else line)
    yield from _finish_turn(reader, kind, kept, f"{file.name}:{first}", started)


def _kind_of_line(line: str, before: str) -> str:
    if line.startswith(_ASKED) or line == _ASKED.strip():
        return "asked"
    if _PRINTED.match(line):
        return "printed"
    return before if not line.strip() else "answered"


def _finish_turn(reader: ChatReader | None, kind: str, kept: list[str], where: str, started: str) -> Iterator[Item]:
    text = cut_blocks("\n".join(line.removesuffix("  ") for line in kept).strip("\n"), ())
    if not text.strip():
        return
    if kind == "printed" or reader is None:
        yield SkippedPart("tool_traffic" if kind == "printed" else "half_message", where)
        return
    is_person = kind == "asked"
    yield reader.read_message(
        ChatMessage(
            text=text,
            where=where,
            author=None if is_person else "Aider",
            role=Role.USER if is_person else Role.ASSISTANT,
            occurred=parse_time(started),
        )
    )
