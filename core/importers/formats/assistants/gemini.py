"""What Google Takeout holds of Gemini: "My Activity" as JSON, one entry a prompt with its answer, the newest first.

An entry says neither to which conversation it belongs nor an id, so each is a conversation of its own. Must not do:
guess which entries belong together, or store what was merely clicked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from core.importers.chat import ChatMessage, ChatReader
from core.importers.conversation import MOST_SNIFFED, as_list, as_mapping, as_text, content_id, cut_blocks, json_files
from core.importers.html_text import read_html_words
from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import items_in_head, iter_json_array
from core.importers.records import Conversation, Item, SkippedPart, UnreadablePart
from core.text.times import parse_time
from core.types.values import Role

_FORMAT, _AUTHOR = "gemini", "Gemini"
_PRODUCTS = ("Gemini Apps", "Bard")


class GeminiImporter:
    """Reads `MyActivity.json` of Gemini."""

    @property
    def format(self) -> str:
        """`gemini`."""
        return _FORMAT

    def detects(self, bundle: Bundle) -> bool:
        """Whether a JSON file lists activities of Gemini, or of Bard as it was called before."""
        return any(_is_activity(file) for file in json_files(bundle)[:MOST_SNIFFED])

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield each prompt with its answer in file order; see `records.Importer`."""
        read = [file for file in json_files(bundle) if bundle.kind == "file" or _is_activity(file)]
        for file in read:
            for number, parsed in enumerate(iter_json_array(file, ("",)), 1):
                where = f"{file.name}:{number}"
                if isinstance(parsed.value, dict):
                    yield from _read_entry(parsed.value, where, parsed.flags)
                else:
                    yield UnreadablePart(where, "this entry is not an activity", "not_an_object")
        if len(bundle.files) > len(read):
            yield SkippedPart("not_messages", bundle.label, len(bundle.files) - len(read))


def _is_activity(file: SourceFile) -> bool:
    return any(_product_of(item) and "title" in item and "time" in item for item in items_in_head(file, ("",)))


def _product_of(entry: Mapping[str, Any]) -> bool:
    named = {as_text(entry.get("header")), *(as_text(one) for one in as_list(entry.get("products")))}
    return any(product in named for product in _PRODUCTS)


@cache
def _verbs() -> tuple[str, ...]:
    """What Google puts before the words of a prompt, the longest first."""
    text = files("resources").joinpath("imports", "gemini.json").read_text("utf-8")
    return tuple(sorted(json.loads(text)["prompted"], key=len, reverse=True))


def _read_entry(entry: Mapping[str, Any], where: str, flags: frozenset[str]) -> Iterator[Item]:
    title = (as_text(entry.get("title")) or "").replace("\xa0", " ")
    verb = next((one for one in _verbs() if title.startswith(one)), None)
    answers = [as_text(as_mapping(one).get("html")) for one in as_list(entry.get("safeHtmlItem"))]
    answer = "\n\n".join(words for one in answers if one and (words := read_html_words(one)))
    if not _product_of(entry) or (verb is None and not answer):
        yield SkippedPart("activity", where)
        return
    prompt = title[len(verb or "") :].strip()
    occurred = parse_time(entry.get("time"))
    beside = [as_text(as_mapping(one).get("name")) or "" for one in as_list(entry.get("subtitles"))]
    key = content_id(str(entry.get("time")), title)
    reader = ChatReader(_FORMAT, Conversation(key=key, title=None, started=occurred))
    asked = ChatMessage(
        text=cut_blocks(prompt, ()),
        where=where,
        role=Role.USER,
        occurred=occurred,
        ref=f"{key}-1",
        flags=flags if occurred else {*flags, "time_unreadable"},
        attachments=tuple(name.lstrip("- ") for name in beside if name.startswith("-")),
    )
    yield reader.read_message(asked)
    if answer:
        ref = f"{key}-2"
        yield reader.read_message(
            replace(asked, text=answer, author=_AUTHOR, role=Role.ASSISTANT, ref=ref, attachments=())
        )
