"""ChatGPT's data export: `conversations.json`, its shards, or one conversation.

A conversation is a tree; what the person last saw is the path from `current_node` up to the root. Everything else is an
abandoned branch. Must not do: mix branches, go by the order of keys or children where `current_node` tells the branch,
loop on a cycle, recurse, invent times, take another assistant's memory for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.importers.conversation import (
    as_list,
    as_mapping,
    as_text,
    content_id,
    drop_empty,
    injected_tags,
    join_texts,
    json_files,
)
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import ParsedJson, head_keys, iter_json_array, mended_count, read_json
from core.importers.records import Conversation, Item, Record, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Kind, Role, Source, Status, When


@dataclass(frozen=True, slots=True)
class Tree:
    """A conversation's tree as it was read.

    Attributes:
        chain: (node id, message) of the chosen branch from the root down; nodes without a message left out.
        abandoned: how many messages lie elsewhere.
        leaves: how many branches there are.
        ids: every node's id.
        troubles: what was broken, in words.
    """

    chain: tuple[tuple[str, Mapping[str, Any]], ...]
    abandoned: int
    leaves: int
    ids: tuple[str, ...]
    troubles: tuple[str, ...]


def walk_tree(mapping: Mapping[str, Any], current: object) -> Tree:
    """Find the branch the person last saw: from `current_node` by parent to the root, then reversed.

    Where `current_node` is missing or unknown the branch of the newest leaf is taken and the trouble told.

    Args:
        mapping: node id to node.
        current: the conversation's `current_node`.
    """
    parents = _parent_by_node(mapping)
    inner = {parent for parent in parents.values() if parent is not None}
    leaves = [node for node in mapping if node not in inner]
    troubles: list[str] = []
    if isinstance(current, str) and current in mapping:
        start: str | None = str(current)
    else:
        start = _newest_leaf(mapping, leaves)
        if mapping:
            troubles.append("it does not tell its last message; the newest branch was taken")
    path = _path_to_root(mapping, parents, start, troubles)
    chain = tuple((node, message) for node in reversed(path) if (message := _message_of(mapping[node])) is not None)
    total = sum(1 for node in mapping.values() if _message_of(node) is not None)
    return Tree(chain, total - len(chain), len(leaves), tuple(mapping), tuple(troubles))


def _path_to_root(
    mapping: Mapping[str, Any], parents: Mapping[str, str | None], start: str | None, troubles: list[str]
) -> list[str]:
    path: list[str] = []
    seen: set[str] = set()
    node = start
    while node is not None:
        if node in seen:
            troubles.append("its messages point at each other in a circle; the way up was cut there")
            break
        if node not in mapping:
            troubles.append("a message's predecessor is missing; what came before it is not on the chosen branch")
            break
        seen.add(node)
        path.append(node)
        node = parents.get(node)
    return path


def _parent_by_node(mapping: Mapping[str, Any]) -> dict[str, str | None]:
    """Each node's parent as it says itself, else as another node's list of children says."""
    parent_by_child: dict[str, str] = {}
    for node_id, node in mapping.items():
        children = node.get("children") if isinstance(node, dict) else None
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str):
                parent_by_child.setdefault(child, node_id)
    parents: dict[str, str | None] = {}
    for node_id, node in mapping.items():
        own = node.get("parent") if isinstance(node, dict) else None
        parents[node_id] = str(own) if isinstance(own, str) else parent_by_child.get(node_id)
    return parents


def _message_of(node: object) -> Mapping[str, Any] | None:
    message = node.get("message") if isinstance(node, dict) else None
    return message if isinstance(message, dict) else None


def _newest_leaf(mapping: Mapping[str, Any], leaves: list[str]) -> str | None:
    """The leaf with the latest time of its own; of equals the last in the file."""
    best: str | None = None
    best_time = float("-inf")
    for leaf in leaves or list(mapping)[-1:]:
        message = _message_of(mapping[leaf]) or {}
        time = message.get("create_time")
        value = float(time) if isinstance(time, int | float) and not isinstance(time, bool) else float("-inf")
        if best is None or value >= best_time:
            best, best_time = leaf, value
    return best


_STEMS = ("conversation",)
_ARRAYS = ("", "conversations")
_TELLING = frozenset({"current_node", "create_time", "update_time", "moderation_results", "conversation_id", "title"})
_NODE = frozenset({"message", "parent", "children"})
_HIDDEN_TYPES = ("user_editable_context", "model_editable_context")
_THOUGHTS = ("thoughts", "reasoning_recap")
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
        yield UnreadablePart(where, "this entry is not a conversation", "not_an_object")
        return
    if value.get("is_do_not_remember") is True:
        yield SkippedPart("do_not_remember_conversation", where)
        return
    mapping = value.get("mapping", False)
    if mapping is not None and not isinstance(mapping, dict):
        yield UnreadablePart(where, "this conversation's messages are not in a form Loci knows", "bad_conversation")
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
        started=_parse_known_time(value.get("create_time")) or _earliest_time(tree),
        extra=extra,
    )


def _parse_known_time(value: object) -> When | None:
    return parse_time(value) if value else None  # 0 stands for "not known" in some exports


def _earliest_time(tree: Tree) -> When | None:
    shown = [message for _, message in tree.chain if _skip_reason(message) is None]
    times = [when for message in shown if (when := _parse_known_time(message.get("create_time")))]
    return min(times, key=lambda when: when.ms, default=None)


def _read_branch(tree: Tree, conversation: Conversation, where: str, flags: frozenset[str]) -> Iterator[Item]:
    position = 0
    for number, (node_id, message) in enumerate(tree.chain, 1):
        place = f"{where}:{number}"
        reason = _skip_reason(message)
        if reason is not None:
            yield SkippedPart(reason, place)
            continue
        record = _make_record(message, node_id, conversation, place, None if _is_bio(message) else position, flags)
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
    text, replaced = _message_text(message)
    message_id = as_text(message.get("id")) or node_id
    proposal = position is None
    from_user = as_mapping(message.get("author")).get("role") == "user"
    metadata = as_mapping(message.get("metadata"))
    return Record(
        identity=f"chatgpt:{conversation.key}:{message_id}",
        text=text,
        where=where,
        kind=Kind.FACT if proposal else Kind.EPISODE,
        role=Role.USER if from_user else Role.ASSISTANT,
        source=Source.USER_IMPLICIT if from_user else Source.INFERENCE,
        status=Status.QUARANTINED if proposal else Status.ACTIVE,
        author=None if from_user else _ASSISTANT,
        conversation=conversation,
        position=position,
        occurred=_parse_known_time(message.get("create_time")),
        ref=message_id,
        flags=tuple(sorted(flags | ({"surrogates_replaced"} if replaced else frozenset()))),
        extra=drop_empty(
            {
                "message": message_id,
                "origin": "bio" if proposal else None,
                "model": as_text(metadata.get("model_slug")),
                "media": _media_pointers(message),
                "replaced": replaced,
            }
        ),
    )


def _is_bio(message: Mapping[str, Any]) -> bool:
    author = as_mapping(message.get("author"))
    role = author.get("role")
    return (role == "tool" and author.get("name") == "bio") or (
        role == "assistant" and message.get("recipient") == "bio"
    )


def _skip_reason(message: Mapping[str, Any]) -> str | None:
    """The first class that fits, in the order of the export's own meaning; None for what is kept."""
    text = _message_text(message)[0].strip()
    if _is_bio(message):
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


def _message_text(message: Mapping[str, Any]) -> tuple[str, int]:
    content = message.get("content")
    if isinstance(content, str):
        return join_texts([content])
    content = as_mapping(content)
    parts = content.get("parts")
    found = [_words_of_message_part(part) for part in (parts if isinstance(parts, list) else [parts])]
    if not any(found):
        found = [_words_of_message_part(content.get("text") or content.get("result"))]
    return join_texts(found, "\n")


def _words_of_message_part(part: object) -> str:
    if isinstance(part, str):
        return part
    text = as_mapping(part).get("text")
    return text if isinstance(text, str) else ""


def _media_pointers(message: Mapping[str, Any]) -> list[str]:
    parts = as_list(as_mapping(message.get("content")).get("parts"))
    pointers = [as_text(as_mapping(part).get("asset_pointer")) for part in parts]
    return [pointer for pointer in pointers if pointer]
