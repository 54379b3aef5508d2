"""Shared steps of the importers of conversations: typed access to loose JSON, ids from content, and foreign blocks.

A foreign block is what a program put into a person's message: reminders, hooks, and Loci's own recall. Only complete
blocks are removed; a tag merely mentioned is prose. Must not do: know any format, or change anything in a text without
such a block.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from core.importers.input.source import Bundle, SourceFile
from core.importers.input.streams import is_hidden, mended_count
from core.importers.records import SkippedPart, UnreadablePart
from core.types.values import When

MOST_SNIFFED = 2_000
"""Files of a bundle into which an importer looks for its own."""

_NUMBERED = re.compile(r"(?:^|/)[^/]+\.json$", re.IGNORECASE)


def as_text(value: object) -> str | None:
    """A string as it is; None for anything else."""
    return str(value) if isinstance(value, str) else None


def as_mapping(value: object) -> Mapping[str, Any]:
    """An object as it is; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A list as it is; an empty one for anything else."""
    return value if isinstance(value, list) else []


def drop_empty(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts without those that say nothing (null, false, empty).

    Args:
        facts: candidate facts.
    """
    return {name: value for name, value in facts.items() if value not in (None, False, "", [], {}, 0)}


def content_id(*parts: str) -> str:
    """A short id made of content, for what has none.

    Args:
        parts: texts that make it up, in order.

    Returns:
        32 hexadecimal digits.
    """
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:32]


def join_texts(parts: Iterable[str], separator: str = "\n\n") -> tuple[str, int]:
    """Join the texts of one message.

    Args:
        parts: its texts; empty ones are left out.
        separator: what stands between them.

    Returns:
        The text, and how many lone surrogates were replaced in it.
    """
    kept = [part for part in parts if part]
    return separator.join(kept), sum(mended_count(part) for part in kept)


def list_block_texts(content: object, kinds: tuple[str, ...] = ()) -> list[str]:
    """The texts of a message that is one text, or a list of blocks.

    Args:
        content: the message's content.
        kinds: the types of blocks whose texts count; without any, every block that has one.
    """
    if isinstance(content, str):
        return [content]
    blocks = [as_mapping(block) for block in as_list(content)]
    own = [block for block in blocks if not kinds or block.get("type") in kinds]
    return [block["text"] for block in own if isinstance(block.get("text"), str)]


def earliest_time(times: Iterable[When | None]) -> When | None:
    """The earliest of the times that are known; None without any."""
    return min((when for when in times if when is not None), key=lambda when: when.ms, default=None)


def not_a(thing: str, where: str) -> UnreadablePart:
    """What is said of an entry that is no object.

    Args:
        thing: what it should be.
    """
    return UnreadablePart(where, f"this entry is not a {thing}", "not_an_object")


def unknown_form(where: str) -> UnreadablePart:
    """What is said of a conversation whose messages lie in a form that no version of its program is known to write."""
    return UnreadablePart(where, "this conversation's messages are not in a form Loci knows", "bad_conversation")


def bundle_skips(bundle: Bundle) -> Iterable[SkippedPart]:
    """What the bundle itself left out."""
    return (SkippedPart(reason, name) for reason, name in bundle.skipped)


def json_files(bundle: Bundle, stems: tuple[str, ...] = ()) -> list[SourceFile]:
    """Files worth looking into: the single file, else those whose own name begins with one of the stems.

    Args:
        stems: beginnings of file names, lower case; one that ends in `/` names the folder the file lies in. Without
            any, every JSON file that is not hidden.
    """
    if bundle.kind == "file":
        return list(bundle.files)
    if not stems:
        return [file for file in bundle.files if _NUMBERED.search(file.name) and not is_hidden(file.name)]
    return [file for file in bundle.files if _NUMBERED.search(file.name) and _has_known_name(file, stems)]


def _has_known_name(file: SourceFile, stems: tuple[str, ...]) -> bool:
    path = file.path
    own, folder = path.name.lower(), path.parent.name.lower() + "/"
    if "__MACOSX" in path.parts:
        return False
    return any(folder == stem if stem.endswith("/") else own.startswith(stem) for stem in stems)


_TICK = "`"
_RECALL_START = re.compile(r"^# Memory Context[ \t]*$", re.MULTILINE)
_RECALL_PIECE = re.compile(
    r"\s*(?:<memory\b[^<>]*>.*?</memory>|[-*>][^\n<]*(?:<memory\b[^<>]*>.*?</memory>)?|##[ \t][^\n]*)", re.DOTALL
)
_RECALL_WORDS = 2  # lines of plain words that may stand under the heading
_RECALL_LINE = re.compile(r"\s*[^\n#<>\s][^\n<>]*(?=\n|$)")
_LONE_MEMORY = re.compile(r"<memory\b(?=[^<>]*\bid=)(?=[^<>]*\btype=)[^<>]*>.*?</memory>", re.DOTALL)


@cache
def injected_tags(program: str, name: str) -> tuple[str, ...]:
    """One list of `resources/imports/injected.json`; empty where the program has none of that name.

    Args:
        program: whose injections (`claude_code`, `codex`, `chatgpt`).
        name: the list's name.
    """
    text = files("resources").joinpath("imports", "injected.json").read_text("utf-8")
    return tuple(json.loads(text)[program].get(name, ()))


def cut_to_own_words(text: str, program: str) -> str:
    """Cut out of a message what its program put into it.

    Args:
        text: a message as written.
        program: whose lists of `resources/imports/injected.json` tell.

    Returns:
        What the person or the assistant wrote; "" for a text that is the program's as a whole. Where an editor puts
        open files before the request and marks where that begins, the request.
    """
    kept = cut_blocks(text, injected_tags(program, "tags"))
    if kept.strip() in injected_tags(program, "whole_texts"):
        return ""
    if kept.lstrip().startswith(injected_tags(program, "preamble_openings")):
        for heading in injected_tags(program, "request_headings"):
            _, found, request = kept.partition(heading)
            if found:
                return request.lstrip()
    return kept


def cut_blocks(text: str, tags: Iterable[str]) -> str:
    """Cut complete blocks of the given tags, and Loci's own recall, out of a text.

    Args:
        text: a message as written.
        tags: names of tags whose blocks are not the person's words.

    Returns:
        The text itself where there is nothing to cut; else what stays, without the white space that separated it
        from a block at its beginning or end.
    """
    spans = _recall_spans(text) + _tag_spans(text, tuple(tags))
    return _remove_spans(text, _merge_spans(text, spans)) if spans else text


def is_enclosed(text: str) -> bool:
    """Whether a text is nothing but one element of its own (`<turn_aborted>…</turn_aborted>`).

    Args:
        text: a message as written.
    """
    match = re.fullmatch(r"\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*</\1>\s*", text, re.DOTALL)
    return match is not None


def _tag_spans(text: str, tags: tuple[str, ...]) -> list[tuple[int, int]]:
    if "</" not in text or not tags:
        return []
    names = "|".join(re.escape(tag) for tag in sorted(tags, key=len, reverse=True))
    pattern = re.compile(rf"<(/?)({names})(?:\s[^<>]*)?>")
    opened: dict[str, list[int]] = {}
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        start, end = match.span()
        # In back ticks it is a word about the tag, not the tag.
        if text[start - 1 : start] == _TICK or text[end : end + 1] == _TICK:
            continue
        if not match[1]:
            opened.setdefault(match[2], []).append(start)
        elif opened.get(match[2]):
            spans.append((opened[match[2]].pop(), end))
    return spans


def _recall_spans(text: str) -> list[tuple[int, int]]:
    if "</memory>" not in text:
        return []
    spans = [_recall_span(text, match.start(), match.end()) for match in _RECALL_START.finditer(text)]
    spans += [match.span() for match in _LONE_MEMORY.finditer(text) if text[match.start() - 1 : match.start()] != _TICK]
    return [span for span in spans if span[1] > span[0]]


def _recall_span(text: str, start: int, at: int) -> tuple[int, int]:
    """From the heading to the last memory below it; empty where no memory follows."""
    end, words = start, 0
    while True:
        if piece := _RECALL_PIECE.match(text, at):
            at = piece.end()
            if piece[0].endswith("</memory>"):
                end = at
        elif end == start and words < _RECALL_WORDS and (line := _RECALL_LINE.match(text, at)):
            at = line.end()
            words += 1
        else:
            return start, end


def _merge_spans(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, joined where they overlap or only white space lies between, grown over it at both ends."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    first_start, first_end = merged[0]
    if not text[:first_start].strip():
        merged[0] = (0, first_end + len(text[first_end:]) - len(text[first_end:].lstrip()))
    last_start, last_end = merged[-1]
    if not text[last_end:].strip():
        merged[-1] = (min(last_start, len(text[:last_start].rstrip())), len(text))
    return merged


def _remove_spans(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces.append(text[at:start])
        at = end
    pieces.append(text[at:])
    return "".join(pieces)
