"""Claude Code sessions: `projects/<folder>/<session>.jsonl`, one conversation a session.

Must not do: take tool traffic, summaries, hook output or Loci's own recall for anyone's words, trust a folder's name,
store a record twice that a resumed session repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.conversation import (
    as_list,
    as_mapping,
    as_text,
    content_id,
    cut_to_own_words,
    drop_empty,
    injected_tags,
    join_texts,
    list_block_texts,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.json_lines import JsonLine, list_head_objects, list_log_objects, read_log_lines
from core.importers.records import Conversation, Item, Record, SkippedPart
from core.importers.transcripts.turn import complete_turn
from core.text.times import parse_time
from core.types.values import Role

_FIRST_LINES = 40
_TITLE_LINE = 8192  # characters; a line with a title is short, so long ones need no parsing in the first pass
_TITLE_KEYS = (("custom-title", "customTitle"), ("ai-title", "aiTitle"))
_SESSION_TYPES = ("user", "assistant", "system", "attachment", "progress", "queue-operation", "summary")
_PROGRAM, _AUTHOR = "claude_code", "Claude"


class ClaudeCodeImporter:
    """Reads Claude Code session files."""

    @property
    def format(self) -> str:
        """`claude-code`."""
        return "claude-code"

    def detects(self, bundle: Bundle) -> bool:
        """Whether the head of a file shows lines with `sessionId` and `parentUuid`, or the list of prompts."""
        return any(_kind_of_file(file) is not None for file in bundle.list_jsonl_files())

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield every session's words in file order; see `records.Importer`."""
        session = _Sessions()
        for file in bundle.list_jsonl_files():
            kind = _kind_of_file(file)
            if kind == "session" or (kind is None and bundle.kind == "file"):
                yield from session.read(file)
            elif kind == "prompts":
                yield SkippedPart("prompt_history", file.name)
        native = sum(1 for file in bundle.files if "/memory/" in f"/{file.name}" and file.path.suffix == ".md")
        if native:
            yield SkippedPart("native_memory", bundle.label, native)


def _kind_of_file(file: SourceFile) -> str | None:
    """`session`, `prompts` or None, told by the first lines that are whole."""
    for value, keys in list_head_objects(file, _FIRST_LINES):
        if "sessionId" in keys and ("parentUuid" in keys or value.get("type") in _SESSION_TYPES):
            return "session"
        if keys >= {"display", "project", "timestamp"}:
            return "prompts"
    return None


class _Sessions:
    """What is known across the files of one import: titles, conversations, positions, records seen."""

    def __init__(self) -> None:
        self._titles: dict[str, tuple[int, str]] = {}
        self._conversations: dict[str, Conversation] = {}
        self._positions: dict[str, int] = {}
        self._seen: set[str] = set()

    def read(self, file: SourceFile) -> Iterator[Item]:
        """One file's items."""
        self._find_titles(file)
        for part in read_log_lines(file):
            yield self._read_line(part, file) if isinstance(part, JsonLine) else part

    def _find_titles(self, file: SourceFile) -> None:
        for value in list_log_objects(file, _may_be_title):
            for rank, (kind, key) in enumerate(_TITLE_KEYS):
                session, title = as_text(value.get("sessionId")), as_text(value.get(key))
                known_rank = self._titles.get(session or "", (len(_TITLE_KEYS), ""))[0]
                # The last title of the stronger kind stands: what the person chose over what a model made up.
                if value.get("type") == kind and session and title and rank <= known_rank:
                    self._titles[session] = (rank, title)

    def _read_line(self, line: JsonLine, file: SourceFile) -> Record | SkippedPart:
        reason = self._skip_reason(line.value, file)
        return SkippedPart(reason, line.where) if reason else self._read_message(line, file)

    def _skip_reason(self, value: Mapping[str, Any], file: SourceFile) -> str | None:
        """Why a line is left out before its words are looked at."""
        if value.get("type") not in ("user", "assistant"):
            return "other_line_types"
        uuid = as_text(value.get("uuid"))
        if uuid:
            key = content_id(as_text(value.get("sessionId")) or file.path.stem, uuid)
            if key in self._seen:
                return "repeated_history"
            self._seen.add(key)
        for mark, reason in (
            ("isSidechain", "sidechain"),
            ("isMeta", "meta"),
            ("isCompactSummary", "compact_summary"),
            ("isApiErrorMessage", "synthetic"),
        ):
            if value.get(mark) is True:
                return reason
        return "synthetic" if as_mapping(value.get("message")).get("model") == "<synthetic>" else None

    def _read_message(self, line: JsonLine, file: SourceFile) -> Record | SkippedPart:
        content = as_mapping(line.value.get("message")).get("content")
        written = list_block_texts(content, ("text",))
        if any(text.startswith(injected_tags(_PROGRAM, "summary_openings")) for text in written):
            return SkippedPart("compact_summary", line.where)
        kept = [cut_to_own_words(text, _PROGRAM) for text in written]
        text, _ = join_texts([part for part in kept if part.strip()])
        if not text.strip():
            return SkippedPart(_empty_reason(content, written), line.where)
        # Counted before blocks were cut: the count only marks the record.
        _, replaced = join_texts(written)
        return complete_turn(self._make_record(line, text, file), _AUTHOR, replaced)

    def _make_record(self, line: JsonLine, text: str, file: SourceFile) -> Record:
        value: Mapping[str, Any] = line.value
        session = as_text(value.get("sessionId")) or file.path.stem
        uuid = as_text(value.get("uuid")) or content_id(str(value.get("timestamp")), text)
        conversation = self._conversation_of(session, value)
        position = self._positions.get(session, 0)
        self._positions[session] = position + 1
        cwd = as_text(value.get("cwd"))
        return Record(
            identity=f"claude-code:{session}:{uuid}",
            text=text,
            where=line.where,
            role=Role.USER if value.get("type") == "user" else Role.ASSISTANT,
            conversation=conversation,
            position=position,
            occurred=parse_time(value.get("timestamp")),
            session=session,
            ref=uuid,
            flags=tuple(line.flags),
            extra={
                "message": uuid,
                "model": as_text(as_mapping(value.get("message")).get("model")),
                "cwd": cwd if cwd != conversation.extra.get("cwd") else None,
            },
        )

    def _conversation_of(self, session: str, value: Mapping[str, Any]) -> Conversation:
        found = self._conversations.get(session)
        if found is None:
            found = Conversation(
                key=session,
                title=self._titles.get(session, (0, None))[1],
                started=parse_time(value.get("timestamp")),
                extra=drop_empty(
                    {
                        "cwd": as_text(value.get("cwd")),
                        "git_branch": as_text(value.get("gitBranch")),
                        "version": as_text(value.get("version")),
                    }
                ),
            )
            self._conversations[session] = found
        return found


def _may_be_title(line: str) -> bool:
    return len(line) <= _TITLE_LINE and "-title" in line


def _empty_reason(content: object, written: list[str]) -> str:
    kinds = {as_mapping(block).get("type") for block in as_list(content)}
    if any(text.strip() for text in written) and not kinds & {"tool_use", "tool_result"}:
        return "only_injected_blocks"
    return next((kind for kind in ("tool_use", "tool_result", "thinking") if kind in kinds), "no_text")
