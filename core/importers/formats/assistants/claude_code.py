"""Claude Code sessions: `projects/<folder>/<session>.jsonl`, one conversation a session.

Must not do: take tool traffic, summaries, hook output or Loci's own recall for anyone's words, trust a folder's name,
store a record twice that a resumed session repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from core.importers.conversation import (
    as_list,
    as_mapping,
    as_text,
    content_id,
    cut_blocks,
    drop_empty,
    injected_tags,
    join_texts,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, FileLines, key_paths, parse_json_text, read_file_lines, read_head_text
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role, Source

_FIRST_LINES = 40
_TITLE_LINE = 8192  # characters; a line with a title is short, so long ones need no parsing in the first pass
_TITLE_KEYS = (("custom-title", "customTitle"), ("ai-title", "aiTitle"))
_SESSION_TYPES = ("user", "assistant", "system", "attachment", "progress", "queue-operation", "summary")
_AUTHOR = "Claude"


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
    for line in read_head_text(file).split("\n")[:_FIRST_LINES]:
        try:
            value = as_mapping(parse_json_text(line).value)
            keys = frozenset(value)
        except BadJson:  # also a line longer than the head, whose first keys still tell
            value, keys = {}, key_paths(line).get("", frozenset())
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
        with closing(read_file_lines(file)) as lines:
            for number, line in lines:
                if not line.strip():
                    continue
                yield from self._read_line(line, f"{file.name}:{number}", lines, file)

    def _find_titles(self, file: SourceFile) -> None:
        with closing(read_file_lines(file)) as lines:
            for _, line in lines:
                if len(line) > _TITLE_LINE or "-title" not in line:
                    continue
                try:
                    value = as_mapping(parse_json_text(line).value)
                except BadJson:
                    continue
                for rank, (kind, key) in enumerate(_TITLE_KEYS):
                    session, title = as_text(value.get("sessionId")), as_text(value.get(key))
                    known_rank = self._titles.get(session or "", (len(_TITLE_KEYS), ""))[0]
                    # The last title of the stronger kind stands: what the person chose over what a model made up.
                    if value.get("type") == kind and session and title and rank <= known_rank:
                        self._titles[session] = (rank, title)

    def _read_line(self, line: str, where: str, lines: FileLines, file: SourceFile) -> Iterator[Item]:
        try:
            parsed = parse_json_text(line)
        except BadJson as error:
            if lines.complete_last:
                yield UnreadablePart(where, f"this line is not valid JSON: {error.reason}", "bad_line")
            else:
                yield SkippedPart("incomplete_last_line", where)
            return
        if not isinstance(parsed.value, dict):
            yield UnreadablePart(where, "this line is not an object", "not_an_object")
            return
        reason = self._skip_reason(parsed.value, file)
        yield SkippedPart(reason, where) if reason else self._read_message(parsed.value, where, file, lines.line_flags)

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

    def _read_message(
        self, value: Mapping[str, Any], where: str, file: SourceFile, flags: frozenset[str]
    ) -> Record | SkippedPart:
        content = as_mapping(value.get("message")).get("content")
        written = _texts_of_claude_blocks(content)
        if any(text.startswith(injected_tags("claude_code", "summary_openings")) for text in written):
            return SkippedPart("compact_summary", where)
        kept = [_own_words(text) for text in written]
        text, _ = join_texts([part for part in kept if part.strip()])
        if not text.strip():
            return SkippedPart(_empty_reason(content, written), where)
        # Counted before blocks were cut: the count only marks the record.
        _, replaced = join_texts(written)
        return self._make_record(
            value, text, where, file, flags | ({"surrogates_replaced"} if replaced else frozenset())
        )

    def _make_record(
        self, value: Mapping[str, Any], text: str, where: str, file: SourceFile, flags: frozenset[str]
    ) -> Record:
        session = as_text(value.get("sessionId")) or file.path.stem
        uuid = as_text(value.get("uuid")) or content_id(str(value.get("timestamp")), text)
        conversation = self._conversation_of(session, value)
        position = self._positions.get(session, 0)
        self._positions[session] = position + 1
        from_user = value.get("type") == "user"
        cwd = as_text(value.get("cwd"))
        return Record(
            identity=f"claude-code:{session}:{uuid}",
            text=text,
            where=where,
            role=Role.USER if from_user else Role.ASSISTANT,
            source=Source.USER_IMPLICIT if from_user else Source.INFERENCE,
            author=None if from_user else _AUTHOR,
            conversation=conversation,
            position=position,
            occurred=parse_time(value.get("timestamp")),
            session=session,
            ref=uuid,
            flags=tuple(sorted(flags)),
            extra=drop_empty(
                {
                    "message": uuid,
                    "model": as_text(as_mapping(value.get("message")).get("model")),
                    "cwd": cwd if cwd != conversation.extra.get("cwd") else None,
                }
            ),
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


def _texts_of_claude_blocks(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = [as_mapping(block) for block in as_list(content)]
    return [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]


def _own_words(text: str) -> str:
    kept = cut_blocks(text, injected_tags("claude_code", "tags"))
    return "" if kept.strip() in injected_tags("claude_code", "whole_texts") else kept


def _empty_reason(content: object, written: list[str]) -> str:
    kinds = {as_mapping(block).get("type") for block in as_list(content)}
    if any(text.strip() for text in written) and not kinds & {"tool_use", "tool_result"}:
        return "only_injected_blocks"
    return next((kind for kind in ("tool_use", "tool_result", "thinking") if kind in kinds), "no_text")
