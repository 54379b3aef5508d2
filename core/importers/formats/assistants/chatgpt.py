"""ChatGPT's data export: `conversations.json`, its shards, or one conversation.

A conversation is a tree; what the person last saw is the path from `current_node` up to the root. Everything else is an
abandoned branch. Must not do: mix branches, go by the order of keys or children where `current_node` tells the branch,
loop on a cycle, recurse, invent times, take another assistant's memory for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.importers.conversation import (
    as_mapping,
    as_text,
    content_id,
    drop_empty,
    earliest_time,
    json_files,
    not_a,
    unknown_form,
)
from core.importers.formats.assistants.chatgpt_message import (
    is_bio,
    media_pointers,
    message_text,
    parse_known_time,
    skip_reason,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import ParsedJson, head_keys, iter_json_array, mended_count, read_json
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.importers.transcripts.tree import Tree, walk_tree
from core.importers.transcripts.turn import complete_proposal, complete_turn
from core.types.values import Role, When

_STEMS = ("conversation",)
_ARRAYS = ("", "conversations")
_TELLING = frozenset({"current_node", "create_time", "update_time", "moderation_results", "conversation_id", "title"})
_NODE = frozenset({"message", "parent", "children"})
_ASSISTANT = "ChatGPT"


class ChatGptImporter:
    """Reads ChatGPT conversations."""

    @property
    def format(self) -> str:
        """`chatgpt`."""
        return "chatgpt"

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file's head shows a conversation with a `mapping`."""
        return any(_home_of_conversations(file) is not None for file in json_files(bundle, _STEMS))

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the chosen branch of every conversation, in file order; see `records.Importer`."""
        for file in json_files(bundle, _STEMS):
            home = _home_of_conversations(file)
            # An empty shard has no fields to tell it by; reading it is harmless and finds damage.
            empty_shard = file.path.name.lower().startswith("conversations") and not head_keys(file)
            if home is not None or empty_shard or bundle.kind == "file":
                yield from _read_file(file, single=home == "one")
        media = sum(1 for file in bundle.files if _is_media(file)) if bundle.kind != "file" else 0
        if media:
            yield SkippedPart("media_files", bundle.label, media)


def _home_of_conversations(file: SourceFile) -> str | None:
    """Where a file keeps conversations: "many" in an array, "one" at the top, None where it has none."""
    paths = head_keys(file)
    for path in ("[]", "conversations[]", ""):
        keys = paths.get(path, frozenset())
        if "mapping" not in keys:
            continue
        inside = f"{path}.mapping." if path else "mapping."
        nodes = any(place.startswith(inside) and keys & _NODE for place, keys in paths.items())
        if nodes or keys & _TELLING:
            return "many" if path else "one"
    return None


def _is_media(file: SourceFile) -> bool:
    return file.path.suffix.lower() not in (".json", ".html", ".jsonl", ".txt", ".md") and "__MACOSX" not in file.name


def _read_file(file: SourceFile, *, single: bool) -> Iterator[Item]:
    conversations = iter([read_json(file)]) if single else iter_json_array(file, _ARRAYS)
    for number, parsed in enumerate(conversations, 1):
        yield from _read_conversation(parsed, f"{file.name}:{number}")


def _read_conversation(parsed: ParsedJson, where: str) -> Iterator[Item]:
    value = parsed.value
    if not isinstance(value, dict):
        yield not_a("conversation", where)
        return
    if value.get("is_do_not_remember") is True:
        yield SkippedPart("do_not_remember_conversation", where)
        return
    mapping = value.get("mapping", False)
    if mapping is not None and not isinstance(mapping, dict):
        yield unknown_form(where)
        return
    tree = walk_tree(mapping or {}, value.get("current_node"))
    for trouble in tree.troubles:
        yield UnreadablePart(where, trouble, "broken_branch")
    items = list(_read_branch(tree, _make_conversation(value, tree), where, parsed.flags))
    yield from items
    if tree.abandoned:
        yield SkippedPart("abandoned_branch", where, tree.abandoned)
    if not any(isinstance(item, Record) for item in items):
        yield SkippedPart("empty_conversation", where)


def _make_conversation(value: Mapping[str, Any], tree: Tree) -> Conversation:
    key = as_text(value.get("conversation_id")) or as_text(value.get("id"))
    title = value.get("title")
    extra = drop_empty(
        {
            "branches": tree.leaves,
            "model": as_text(value.get("default_model_slug")),
            "gizmo_id": as_text(value.get("gizmo_id")),
            "archived": value.get("is_archived") is True,
            "starred": value.get("is_starred") is True,
            "surrogates_replaced": mended_count(title),
        }
    )
    return Conversation(
        key=key or content_id(*sorted(tree.ids), as_text(title) or ""),
        title=as_text(title),
        started=parse_known_time(value.get("create_time")) or _earliest_time(tree),
        extra=extra,
    )


def _earliest_time(tree: Tree) -> When | None:
    shown = [message for _, message in tree.chain if skip_reason(message) is None]
    return earliest_time(parse_known_time(message.get("create_time")) for message in shown)


def _read_branch(tree: Tree, conversation: Conversation, where: str, flags: frozenset[str]) -> Iterator[Item]:
    position = 0
    for number, (node_id, message) in enumerate(tree.chain, 1):
        place = f"{where}:{number}"
        reason = skip_reason(message)
        if reason is not None:
            yield SkippedPart(reason, place)
            continue
        record = _make_record(message, node_id, conversation, place, None if is_bio(message) else position, flags)
        position += record.position is not None
        yield record


def _make_record(
    message: Mapping[str, Any],
    node_id: str,
    conversation: Conversation,
    where: str,
    position: int | None,
    flags: frozenset[str],
) -> Record:
    text, replaced = message_text(message)
    message_id = as_text(message.get("id")) or node_id
    proposal = position is None
    from_user = as_mapping(message.get("author")).get("role") == "user"
    said = Record(
        identity=f"chatgpt:{conversation.key}:{message_id}",
        text=text,
        where=where,
        role=Role.USER if from_user else Role.ASSISTANT,
        conversation=conversation,
        position=position,
        occurred=parse_known_time(message.get("create_time")),
        ref=message_id,
        flags=tuple(flags),
        extra={
            "message": message_id,
            "origin": "bio" if proposal else None,
            "model": as_text(as_mapping(message.get("metadata")).get("model_slug")),
            "media": media_pointers(message),
            "replaced": replaced,
        },
    )
    return (complete_proposal if proposal else complete_turn)(said, _ASSISTANT, replaced)
