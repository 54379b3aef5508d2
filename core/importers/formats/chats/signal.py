"""Signal: chats as signal-export writes them beside its Markdown, and what signal-cli receives as JSON lines.

Signal has no export of its own that holds words in the clear. In the first the person is called `Me`; in the second
what another device of theirs sent is told as such. Must not do: store receipts, typing marks and calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import as_list, as_mapping, as_text, not_a
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import BadJson, is_hidden, parse_json_text, read_file_lines, read_head_text
from core.importers.records import Conversation, Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT = "signal"
_EXPORTED = frozenset({"date", "sender", "body", "quote", "reactions"})
_ENDINGS = (".json", ".jsonl", ".ndjson", "")
_SNIFFED_FILES = 50
_OWN_NAME = "Me"
_NOBODY = "No-Sender"


class SignalImporter:
    """Reads a `data.json`, a folder of chats with one each, or a log of signal-cli."""

    @property
    def format(self) -> str:
        """`signal`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a file's first line is an exported message, or an envelope."""
        return any(_kind_of_file(file) for file in _line_files(bundle)[:_SNIFFED_FILES])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield the messages line by line; see `records.Importer`."""
        readers: dict[str, ChatReader] = {}
        files = [(file, kind) for file in _line_files(bundle) if (kind := _kind_of_file(file)) is not None]
        for file, kind in files:
            read_line = _read_exported if kind == "exported" else _read_envelope
            yield from _read_lines(file, read_line, readers)
        if len(bundle.files) > len(files):
            yield SkippedPart("media_files", bundle.label, len(bundle.files) - len(files))


def _line_files(bundle: Bundle) -> list[SourceFile]:
    if bundle.kind == "file":
        return list(bundle.files)
    files = [one for one in bundle.files if not is_hidden(one.name)]
    return [one for one in files if one.path.suffix.lower() in _ENDINGS]


def _kind_of_file(file: SourceFile) -> str | None:
    """What the first line shows; a line that is longer than the head of a file is none of these."""
    for line in read_head_text(file).split("\n"):
        if not line.strip():
            continue
        try:
            value = as_mapping(parse_json_text(line).value)
        except BadJson:
            return None
        if value.keys() >= _EXPORTED:
            return "exported"
        return "envelope" if "timestamp" in _envelope_of(value) else None
    return None


def _envelope_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The envelope, which the program's service wraps once more."""
    return as_mapping(value.get("envelope") or as_mapping(value.get("params")).get("envelope"))


_ReadLine = Callable[[Mapping[str, Any], SourceFile, str, dict[str, ChatReader]], Item]


def _read_lines(file: SourceFile, read_line: _ReadLine, readers: dict[str, ChatReader]) -> Iterator[Item]:
    for number, line in read_file_lines(file):
        where = f"{file.name}:{number}"
        if not line.strip():
            continue
        try:
            value = parse_json_text(line).value
        except BadJson as error:
            yield UnreadablePart(where, f"not JSON: {error.reason}")
            continue
        if isinstance(value, dict):
            yield read_line(value, file, where, readers)
        else:
            yield not_a("message", where)


def _reader_of(readers: dict[str, ChatReader], key: str, title: str) -> ChatReader:
    return readers.setdefault(key, ChatReader(_FORMAT, Conversation(key=key, title=title)))


def _read_exported(message: Mapping[str, Any], file: SourceFile, where: str, readers: dict[str, ChatReader]) -> Item:
    if message.get("deleted") is True:
        return SkippedPart("deleted_message", where)
    if message.get("call") is True:
        return SkippedPart("call", where)
    title = file.path.parent.name or file.path.stem
    sender = as_text(message.get("sender"))
    occurred = parse_time(message.get("date"))
    attached = [as_mapping(one) for one in as_list(message.get("attachments"))]
    sticker = message.get("sticker")
    names = [as_text(one.get("name")) or "file" for one in attached] + (["sticker"] if sticker else [])
    quoted = (as_text(message.get("quote")) or "").replace("\n> ", "\n").strip("> \n")
    return _reader_of(readers, title, title).read_message(
        ChatMessage(
            # The exporter ends each text with two blanks, for Markdown.
            text=(as_text(message.get("body")) or "").removesuffix("  "),
            where=where,
            author=None if sender in (_OWN_NAME, _NOBODY) else sender,
            role=Role.USER if sender == _OWN_NAME else Role.OTHER,
            occurred=occurred,
            attachments=tuple(names),
            facts={"answered_text": quoted},
            flags=() if occurred else ("time_unreadable",),
        )
    )


def _read_envelope(line: Mapping[str, Any], file: SourceFile, where: str, readers: dict[str, ChatReader]) -> Item:
    envelope = _envelope_of(line)
    sent = as_mapping(as_mapping(envelope.get("syncMessage")).get("sentMessage"))
    edited = as_mapping(as_mapping(sent or envelope).get("editMessage"))
    message = as_mapping(edited.get("dataMessage")) or sent or as_mapping(envelope.get("dataMessage"))
    if not message or as_mapping(message.get("remoteDelete")) or as_mapping(message.get("reaction")):
        return SkippedPart("chat_event", where)
    group = as_mapping(message.get("groupInfo"))
    name = as_text(envelope.get("sourceName")) or as_text(envelope.get("source"))
    other = as_text(sent.get("destination")) if sent else as_text(envelope.get("source"))
    key = as_text(group.get("groupId")) or other or file.path.stem
    title = as_text(group.get("groupName")) or (other if sent else name) or key
    written = message.get("timestamp") or envelope.get("timestamp")
    occurred = parse_time(written)
    attached = [as_mapping(one) for one in as_list(message.get("attachments"))]
    return _reader_of(readers, key, title).read_message(
        ChatMessage(
            text=as_text(message.get("message")) or "",
            where=where,
            author=None if sent else name,
            role=Role.USER if sent else Role.OTHER,
            occurred=occurred,
            ref=f"{as_text(envelope.get('source')) or ''}:{written}",
            attachments=tuple(as_text(one.get("filename")) or "file" for one in attached),
            edited=bool(edited),
            reply_to=str(as_mapping(message.get("quote")).get("id") or "") or None,
            flags=() if occurred else ("time_unreadable",),
        )
    )
