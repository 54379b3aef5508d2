"""A Codex rollout as it lies in its file: entries in or without envelopes, and who speaks in which of its two streams.

The whole file is looked through before it is read, as the stream that tells a side's words shows only then. Must not
do: make records.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importers.conversation import as_mapping, as_text, content_id, cut_blocks, injected_tags, list_block_texts
from core.importers.input.source import SourceFile
from core.importers.json_lines import list_log_objects
from core.types.values import Role

PROGRAM = "codex"
ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_BARE_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")
_NAME_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\.jsonl|$)")


@dataclass
class Rollout:
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
class RolloutEntry:
    """One line without its envelope.

    Attributes:
        kind: `session_meta`, `response_item`, `event_msg` or another.
        payload: what the envelope held.
        time: when, as written.
    """

    kind: str
    payload: Mapping[str, Any]
    time: object


def make_entry(value: Mapping[str, Any]) -> RolloutEntry:
    """Take a line out of its envelope; old lines have none.

    Args:
        value: the line's object.
    """
    payload = value.get("payload")
    if isinstance(payload, dict):
        return RolloutEntry(str(value.get("type")), payload, value.get("timestamp"))
    if value.get("type") in _BARE_ITEMS:
        return RolloutEntry("response_item", value, value.get("timestamp"))
    if "id" in value and "timestamp" in value and "type" not in value:
        return RolloutEntry("session_meta", value, value.get("timestamp"))
    return RolloutEntry("other", value, None)


def survey_rollout(file: SourceFile) -> Rollout:
    """First pass: who speaks in which stream."""
    found = _NAME_ID.search(file.path.name)
    session = Rollout(found[0] if found else content_id(file.name))
    named = False
    for value in list_log_objects(file):
        entry = make_entry(value)
        if entry.kind == "session_meta" and not named:  # a fork repeats its parent's after its own
            named = True
            _take_meta(session, entry)
        elif entry.kind == "turn_context":
            session.meta.setdefault("cwd", as_text(entry.payload.get("cwd")))
            session.meta.setdefault("model", as_text(entry.payload.get("model")))
        else:
            _survey_words(session, entry)
    return session


def _take_meta(session: Rollout, entry: RolloutEntry) -> None:
    payload = entry.payload
    session.key = as_text(payload.get("id")) or session.key
    session.started = payload.get("timestamp") or entry.time
    if cwd := as_text(payload.get("cwd")):
        session.meta["cwd"] = cwd
    session.meta["git_branch"] = as_text(as_mapping(payload.get("git")).get("branch"))
    session.meta["version"] = as_text(payload.get("cli_version"))
    session.meta["originator"] = as_text(payload.get("originator"))


def _survey_words(session: Rollout, entry: RolloutEntry) -> None:
    payload = entry.payload
    if entry.kind == "event_msg" and payload.get("type") == "user_message":
        session.shown.add(content_id(str(payload.get("message"))))
    elif entry.kind == "response_item" and payload.get("type") == "message":
        role, texts = ROLES.get(str(payload.get("role"))), list_block_texts(payload.get("content"))
        is_person = role is Role.USER and any(not is_injected_context(text) for text in texts)
        if role is not None and (is_person or role is Role.ASSISTANT):
            session.from_items.add(role)


def is_injected_context(text: str) -> bool:
    """Whether a text of the person's side is the program's: instructions of a folder, or nothing but its blocks."""
    stripped = text.lstrip()
    if stripped.startswith(injected_tags(PROGRAM, "openings")):
        return True
    return bool(stripped) and not cut_blocks(text, injected_tags(PROGRAM, "tags")).strip()
