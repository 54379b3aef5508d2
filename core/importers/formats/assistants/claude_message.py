"""One message of a Claude.ai export: its turn, and the attachments whose words were given to Claude.

Must not do: take thinking or tool traffic for anyone's words, or an attachment for the person's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.conversation import as_list, as_mapping, as_text, join_texts, list_block_texts
from core.importers.records import Conversation, Item, Record, SkippedPart
from core.importers.transcripts.turn import complete_document, complete_turn
from core.text.times import parse_time
from core.types.values import Role

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_TEXT_PARTS = ("text", "voice_note")
_AUTHOR = "Claude"


def make_turn(
    message: Mapping[str, Any],
    message_id: str,
    conversation: Conversation,
    where: str,
    position: int,
    flags: frozenset[str],
) -> Record | None:
    """Make the record of a message.

    Args:
        message: as its export tells it.
        message_id: its own id, or one made of its content.
        conversation: what it belongs to.
        where: for messages.
        position: its place among those with words.
        flags: marks of its reading.

    Returns:
        The turn; None for a message without words.
    """
    text, replaced = _message_text(message)
    if not text.strip():
        return None
    role = _ROLES.get(str(message.get("sender")), Role.OTHER)
    blocks = [as_mapping(block) for block in as_list(message.get("content"))]
    names = [as_text(as_mapping(entry).get("file_name")) for entry in as_list(message.get("files"))]
    left_out = [str(block["type"]) for block in blocks if block.get("type") and block["type"] not in _TEXT_PARTS]
    turn = Record(
        identity=f"claude:{conversation.key}:{message_id}",
        text=text,
        where=where,
        role=role,
        conversation=conversation,
        position=position,
        occurred=parse_time(message.get("created_at")),
        ref=message_id,
        flags=tuple(flags),
        extra={
            "message": message_id,
            "files": [name for name in names if name],
            "left_out": {kind: left_out.count(kind) for kind in sorted(set(left_out))},
            "replaced": replaced,
        },
    )
    return complete_turn(turn, _AUTHOR, replaced)


def _message_text(message: Mapping[str, Any]) -> tuple[str, int]:
    """The text blocks of `content`; `text`, which repeats them for old clients, only where there are no blocks."""
    whole = message.get("text")
    whole = whole if isinstance(whole, str) else ""
    content = message.get("content")
    if isinstance(content, str) and content:
        return join_texts([content])
    blocks = [block for block in as_list(content) if block is not None]
    if not blocks:
        return join_texts([whole])
    parts = list_block_texts(blocks, _TEXT_PARTS)
    return join_texts(parts, _find_separator([part for part in parts if part], whole))


def _find_separator(parts: list[str], whole: str) -> str:
    """What the export itself puts between two blocks where `text` shows it; else a blank line."""
    if len(parts) > 1:
        end = whole.find(parts[0]) + len(parts[0])
        start = whole.find(parts[1], end)
        if end >= len(parts[0]) and start >= end and not whole[end:start].strip():
            return whole[end:start]
    return "\n\n"


def read_attachments(
    message: Mapping[str, Any], message_id: str, conversation: Conversation, where: str
) -> Iterator[Item]:
    """Read what was given to Claude with a message.

    Args:
        message: as its export tells it.
        message_id: its own id, or one made of its content.
        conversation: what it belongs to.
        where: for messages.

    Yields:
        A document for each attachment; skips for those without words.
    """
    for number, entry in enumerate(as_list(message.get("attachments"))):
        attachment = as_mapping(entry)
        content = attachment.get("extracted_content")
        if not isinstance(content, str) or not content.strip():
            yield SkippedPart("empty_attachment", where)
            continue
        text, replaced = join_texts([content])
        document = Record(
            identity=f"claude:{conversation.key}:{message_id}:attachment:{number}",
            text=text,
            where=where,
            conversation=conversation,
            occurred=parse_time(attachment.get("created_at")) or parse_time(message.get("created_at")),
            ref=as_text(attachment.get("id")) or message_id,
            extra={"part": "attachment", "title": as_text(attachment.get("file_name")), "message": message_id},
        )
        yield complete_document(document, replaced)
