"""Codex rollouts: `sessions/YYYY/MM/DD/rollout-*.jsonl`, one conversation a file.

A rollout tells the same turns twice: as `response_item`, what the model saw, and as `event_msg`, what the screen
showed. For each side one of the two is read, the first where it has that side's words. Must not do: store both, take
instructions, environment or reasoning for anyone's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from core.importers.conversation import (
    as_list,
    as_mapping,
    as_text,
    content_id,
    cut_blocks,
    drop_empty,
    injected_tags,
    is_enclosed,
    join_texts,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, FileLines, parse_json_text, read_file_lines, read_head_text
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role, Source

_FIRST_LINES = 20
_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_BARE_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")
_EVENT_ROLES = {"user_message": Role.USER, "agent_message": Role.ASSISTANT}
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_NAME_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\.jsonl|$)")
_AUTHOR = "Codex"


@dataclass
class _Session:
    """What the first pass over a rollout finds out.

    Attributes:
        key: the session's id.
        meta: facts for the conversation.
        started: as written.
        from_items: the roles whose words the response items tell.
        shown: digests of the person's words as events tell them.
    """

    key: str
    meta: dict[str, Any] = field(default_factory=dict)
    started: object = None
    from_items: set[Role] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line without its envelope.

    Attributes:
        kind: `session_meta`, `response_item`, `event_msg` or another.
        payload: what the envelope held.
        time: when, as written.
    """

    kind: str
    payload: Mapping[str, Any]
    time: object


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
    for line in read_head_text(file).split("\n")[:_FIRST_LINES]:
        try:
            value = as_mapping(parse_json_text(line).value)
        except BadJson:
            continue
        if value.get("type") in _ENVELOPES and isinstance(value.get("payload"), dict):
            return True
        if {"id", "timestamp", "instructions"} <= value.keys():  # the first line before there were envelopes
            return True
    # A first line longer than the head: its envelope still shows.
    return re.match(r'\{"timestamp":"[^"]*","type":"session_meta","payload":\{', read_head_text(file, 256)) is not None


def _make_entry(value: Mapping[str, Any]) -> _Entry:
    payload = value.get("payload")
    if isinstance(payload, dict):
        return _Entry(str(value.get("type")), payload, value.get("timestamp"))
    if value.get("type") in _BARE_ITEMS:
        return _Entry("response_item", value, value.get("timestamp"))
    if "id" in value and "timestamp" in value and "type" not in value:
        return _Entry("session_meta", value, value.get("timestamp"))
    return _Entry("other", value, None)


def _read_rollout(file: SourceFile) -> Iterator[Item]:
    session = _survey_session(file)
    reader = _Reader(session)
    with closing(read_file_lines(file)) as lines:
        for number, line in lines:
            if line.strip():
                yield from _read_rollout_line(reader, line, f"{file.name}:{number}", lines)


def _read_rollout_line(reader: _Reader, line: str, where: str, lines: FileLines) -> Iterator[Item]:
    try:
        value = parse_json_text(line).value
    except BadJson as error:
        if lines.complete_last:
            yield UnreadablePart(where, f"this line is not valid JSON: {error.reason}", "bad_line")
        else:
            yield SkippedPart("incomplete_last_line", where)
        return
    if not isinstance(value, dict):
        yield UnreadablePart(where, "this line is not an object", "not_an_object")
        return
    item = reader.read_item(_make_entry(value), where, lines.line_flags)
    if item is not None:
        yield item


def _survey_session(file: SourceFile) -> _Session:
    """First pass: who speaks in which stream."""
    found = _NAME_ID.search(file.path.name)
    session = _Session(found[0] if found else content_id(file.name))
    named = False
    with closing(read_file_lines(file)) as lines:
        for _, line in lines:
            try:
                value = parse_json_text(line).value
            except BadJson:
                continue
            if not isinstance(value, dict):
                continue
            entry = _make_entry(value)
            if entry.kind == "session_meta" and not named:  # a fork repeats its parent's after its own
                named = True
                _take_meta(session, entry)
            elif entry.kind == "turn_context":
                session.meta.setdefault("cwd", as_text(entry.payload.get("cwd")))
                session.meta.setdefault("model", as_text(entry.payload.get("model")))
            else:
                _survey_words(session, entry)
    return session


def _take_meta(session: _Session, entry: _Entry) -> None:
    payload = entry.payload
    session.key = as_text(payload.get("id")) or session.key
    session.started = payload.get("timestamp") or entry.time
    if cwd := as_text(payload.get("cwd")):
        session.meta["cwd"] = cwd
    session.meta["git_branch"] = as_text(as_mapping(payload.get("git")).get("branch"))
    session.meta["version"] = as_text(payload.get("cli_version"))
    session.meta["originator"] = as_text(payload.get("originator"))


def _survey_words(session: _Session, entry: _Entry) -> None:
    payload = entry.payload
    if entry.kind == "event_msg" and payload.get("type") == "user_message":
        session.shown.add(content_id(str(payload.get("message"))))
    elif entry.kind == "response_item" and payload.get("type") == "message":
        role = _ROLES.get(str(payload.get("role")))
        if role is Role.ASSISTANT or (
            role is Role.USER and any(not _is_injected_context(text) for text in _texts_of_codex_payload(payload))
        ):
            session.from_items.add(role)


class _Reader:
    """Second pass: turns entries into items."""

    def __init__(self, session: _Session) -> None:
        self._session = session
        self._conversation = Conversation(
            key=session.key, started=parse_time(session.started), extra=drop_empty(session.meta)
        )
        self._position = 0
        self._ordinals: dict[str, int] = {}

    def read_item(self, entry: _Entry, where: str, flags: frozenset[str]) -> Item | None:
        """A record, a skip, or None for what the other stream tells."""
        kind = str(entry.payload.get("type"))
        if entry.kind == "event_msg":
            return self._read_event(entry, kind, where, flags)
        if entry.kind != "response_item":
            return None
        if kind == "message":
            return self._read_message(entry, where, flags)
        if kind == "reasoning":
            return SkippedPart("reasoning", where)
        return SkippedPart("tool_traffic", where) if kind.endswith(("_call", "_output")) else None

    def _read_event(self, entry: _Entry, kind: str, where: str, flags: frozenset[str]) -> Item | None:
        role = _EVENT_ROLES.get(kind)
        if role is not None and role not in self._session.from_items:
            message = entry.payload.get("message")
            return self._make_record([message] if isinstance(message, str) else [], role, entry, where, flags)
        if not self._session.from_items:
            if kind == "agent_reasoning":
                return SkippedPart("reasoning", where)
            if kind.endswith("_begin"):
                return SkippedPart("tool_traffic", where)
        return None

    def _read_message(self, entry: _Entry, where: str, flags: frozenset[str]) -> Item | None:
        role = _ROLES.get(str(entry.payload.get("role")))
        if role is None:
            return SkippedPart("developer_or_context", where)
        texts = _texts_of_codex_payload(entry.payload)
        if role is Role.USER:
            own = [text for text in texts if not self._is_foreign(text)]
            if texts and not own:
                return SkippedPart("developer_or_context", where)
            texts = own
        return self._make_record(texts, role, entry, where, flags) if role in self._session.from_items else None

    def _is_foreign(self, text: str) -> bool:
        if _is_injected_context(text):
            return True
        # Something in a tag of its own that the screen never showed as the person's message.
        return bool(self._session.shown) and content_id(text) not in self._session.shown and is_enclosed(text)

    def _make_record(
        self, texts: list[str], role: Role, entry: _Entry, where: str, flags: frozenset[str]
    ) -> Record | SkippedPart:
        kept = [_own_words(text) for text in texts]
        text, _ = join_texts(part for part in kept if part.strip())
        if not text.strip():
            return SkippedPart("developer_or_context" if any(part.strip() for part in texts) else "no_text", where)
        _, replaced = join_texts(texts)
        base = content_id(role.value, text)
        ordinal = self._ordinals[base] = self._ordinals.get(base, -1) + 1
        position, self._position = self._position, self._position + 1
        identity = f"codex:{self._session.key}:{base}:{ordinal}"
        return Record(
            identity=identity,
            text=text,
            where=where,
            role=role,
            source=Source.USER_IMPLICIT if role is Role.USER else Source.INFERENCE,
            author=_AUTHOR if role is Role.ASSISTANT else None,
            conversation=self._conversation,
            position=position,
            occurred=parse_time(entry.time),
            session=self._session.key,
            flags=tuple(sorted(flags | ({"surrogates_replaced"} if replaced else frozenset()))),
        )


def _texts_of_codex_payload(payload: Mapping[str, Any]) -> list[str]:
    content = payload.get("content")
    if isinstance(content, str):
        return [content]
    blocks = [as_mapping(block) for block in as_list(content)]
    return [block["text"] for block in blocks if isinstance(block.get("text"), str)]


def _own_words(text: str) -> str:
    kept = cut_blocks(text, injected_tags("codex", "tags"))
    if kept.lstrip().startswith(injected_tags("codex", "preamble_openings")):
        # An editor puts open files and the selection before the request and marks where the request begins.
        for heading in injected_tags("codex", "request_headings"):
            _, found, request = kept.partition(heading)
            if found:
                return request.lstrip()
    return kept


def _is_injected_context(text: str) -> bool:
    stripped = text.lstrip()
    if stripped.startswith(injected_tags("codex", "openings")):
        return True
    return bool(stripped) and not cut_blocks(text, injected_tags("codex", "tags")).strip()
