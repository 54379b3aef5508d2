"""Codex rollouts: `sessions/YYYY/MM/DD/rollout-*.jsonl`, one conversation a file.

A rollout tells the same turns twice: as `response_item`, what the model saw, and as `event_msg`, what the screen
showed. For each side one of the two is read, the first where it has that side's words. Must not do: store both, take
instructions, environment or reasoning for anyone's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.importers.conversation import (
    content_id,
    cut_to_own_words,
    drop_empty,
    is_enclosed,
    join_texts,
    list_block_texts,
)
from core.importers.formats.sessions.codex_session import (
    PROGRAM,
    ROLES,
    Rollout,
    RolloutEntry,
    is_injected_context,
    make_entry,
    survey_rollout,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import read_head_text
from core.importers.json_lines import JsonLine, list_head_objects, read_log_lines
from core.importers.records import Conversation, Item, Record, SkippedPart
from core.importers.transcripts.turn import complete_turn
from core.text.times import parse_time
from core.types.values import Role

_FIRST_LINES = 20
_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_EVENT_ROLES = {"user_message": Role.USER, "agent_message": Role.ASSISTANT}
_AUTHOR = "Codex"


class CodexImporter:
    """Reads Codex rollouts."""

    @property
    def format(self) -> str:
        """`codex`."""
        return "codex"

    def detects(self, bundle: Bundle) -> bool:
        """Whether the head of a file shows the envelopes of a rollout."""
        return any(_is_rollout(file) for file in bundle.list_jsonl_files())

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield every rollout's words in file order; see `records.Importer`."""
        for file in bundle.list_jsonl_files():
            if bundle.kind == "file" or _is_rollout(file):
                yield from _read_rollout(file)
            elif file.path.name == "history.jsonl":
                yield SkippedPart("prompt_history", file.name)


def _is_rollout(file: SourceFile) -> bool:
    for value, _ in list_head_objects(file, _FIRST_LINES):
        if value.get("type") in _ENVELOPES and isinstance(value.get("payload"), dict):
            return True
        if {"id", "timestamp", "instructions"} <= value.keys():  # the first line before there were envelopes
            return True
    # A first line longer than the head: its envelope still shows.
    return re.match(r'\{"timestamp":"[^"]*","type":"session_meta","payload":\{', read_head_text(file, 256)) is not None


def _read_rollout(file: SourceFile) -> Iterator[Item]:
    reader = _Reader(survey_rollout(file))
    for part in read_log_lines(file):
        item = reader.read_item(make_entry(part.value), part) if isinstance(part, JsonLine) else part
        if item is not None:
            yield item


class _Reader:
    """Second pass: turns entries into items."""

    def __init__(self, session: Rollout) -> None:
        self._session = session
        self._conversation = Conversation(
            key=session.key, started=parse_time(session.started), extra=drop_empty(session.meta)
        )
        self._position = 0
        self._ordinals: dict[str, int] = {}

    def read_item(self, entry: RolloutEntry, line: JsonLine) -> Item | None:
        """A record, a skip, or None for what the other stream tells."""
        kind = str(entry.payload.get("type"))
        if entry.kind == "event_msg":
            return self._read_event(entry, kind, line)
        if entry.kind != "response_item":
            return None
        if kind == "message":
            return self._read_message(entry, line)
        if kind == "reasoning":
            return SkippedPart("reasoning", line.where)
        return SkippedPart("tool_traffic", line.where) if kind.endswith(("_call", "_output")) else None

    def _read_event(self, entry: RolloutEntry, kind: str, line: JsonLine) -> Item | None:
        role = _EVENT_ROLES.get(kind)
        if role is not None and role not in self._session.from_items:
            message = entry.payload.get("message")
            return self._make_record([message] if isinstance(message, str) else [], role, entry, line)
        if not self._session.from_items:
            if kind == "agent_reasoning":
                return SkippedPart("reasoning", line.where)
            if kind.endswith("_begin"):
                return SkippedPart("tool_traffic", line.where)
        return None

    def _read_message(self, entry: RolloutEntry, line: JsonLine) -> Item | None:
        role = ROLES.get(str(entry.payload.get("role")))
        if role is None:
            return SkippedPart("developer_or_context", line.where)
        texts = list_block_texts(entry.payload.get("content"))
        if role is Role.USER:
            own = [text for text in texts if not self._is_foreign(text)]
            if texts and not own:
                return SkippedPart("developer_or_context", line.where)
            texts = own
        return self._make_record(texts, role, entry, line) if role in self._session.from_items else None

    def _is_foreign(self, text: str) -> bool:
        if is_injected_context(text):
            return True
        # Something in a tag of its own that the screen never showed as the person's message.
        return bool(self._session.shown) and content_id(text) not in self._session.shown and is_enclosed(text)

    def _make_record(self, texts: list[str], role: Role, entry: RolloutEntry, line: JsonLine) -> Record | SkippedPart:
        kept = [cut_to_own_words(text, PROGRAM) for text in texts]
        text, _ = join_texts(part for part in kept if part.strip())
        if not text.strip():
            reason = "developer_or_context" if any(part.strip() for part in texts) else "no_text"
            return SkippedPart(reason, line.where)
        _, replaced = join_texts(texts)
        base = content_id(role.value, text)
        ordinal = self._ordinals[base] = self._ordinals.get(base, -1) + 1
        position, self._position = self._position, self._position + 1
        turn = Record(
            identity=f"codex:{self._session.key}:{base}:{ordinal}",
            text=text,
            where=line.where,
            role=role,
            conversation=self._conversation,
            position=position,
            occurred=parse_time(entry.time),
            session=self._session.key,
            flags=tuple(line.flags),
        )
        return complete_turn(turn, _AUTHOR, replaced)
