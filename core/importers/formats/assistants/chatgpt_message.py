"""One message of ChatGPT's data export: what it says, whose it is, and why it is left out.

Must not do: know the tree it hangs in, take what was hidden, thought or said to a tool for anyone's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.importers.conversation import as_list, as_mapping, as_text, injected_tags, join_texts, list_block_texts
from core.text.times import parse_time
from core.types.values import When

_HIDDEN_TYPES = ("user_editable_context", "model_editable_context")
_THOUGHTS = ("thoughts", "reasoning_recap")


def parse_known_time(value: object) -> When | None:
    """A time of the export; None where it is not known."""
    return parse_time(value) if value else None  # 0 stands for "not known" in some exports


def is_bio(message: Mapping[str, Any]) -> bool:
    """Whether a message is what the assistant noted about the person."""
    author = as_mapping(message.get("author"))
    role = author.get("role")
    return (role == "tool" and author.get("name") == "bio") or (
        role == "assistant" and message.get("recipient") == "bio"
    )


def skip_reason(message: Mapping[str, Any]) -> str | None:
    """The first class that fits, in the order of the export's own meaning; None for what is kept."""
    text = message_text(message)[0].strip()
    if is_bio(message):
        if text in injected_tags("chatgpt", "bio_acknowledgements"):
            return "bio_acknowledgement"
        return None if text else "no_text"
    role = as_mapping(message.get("author")).get("role")
    metadata = as_mapping(message.get("metadata"))
    content_type = as_mapping(message.get("content")).get("content_type")
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    if hidden or role == "system" or content_type in _HIDDEN_TYPES:
        return "hidden_or_system"
    if content_type in _THOUGHTS:
        return "thoughts"
    if role not in ("user", "assistant") or (role == "assistant" and message.get("recipient") not in (None, "", "all")):
        return "tool_traffic"
    return None if text else "no_text"


def message_text(message: Mapping[str, Any]) -> tuple[str, int]:
    """Its words, and how many lone surrogates were replaced in them."""
    content = message.get("content")
    if isinstance(content, str):
        return join_texts([content])
    content = as_mapping(content)
    parts = content.get("parts")
    found = [_words_of_part(part) for part in (parts if isinstance(parts, list) else [parts])]
    if not any(found):
        found = [_words_of_part(content.get("text") or content.get("result"))]
    return join_texts(found, "\n")


def _words_of_part(part: object) -> str:
    texts = list_block_texts(part if isinstance(part, str) else [part])
    return texts[0] if texts else ""


def media_pointers(message: Mapping[str, Any]) -> list[str]:
    """What names the pictures and recordings that were sent with it."""
    parts = as_list(as_mapping(message.get("content")).get("parts"))
    pointers = [as_text(as_mapping(part).get("asset_pointer")) for part in parts]
    return [pointer for pointer in pointers if pointer]
