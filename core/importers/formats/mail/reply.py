"""What a person wrote in a mail: without what it quotes, without signature, and without what a program signed with.

A quotation is another message's words, which come with that message. A forwarded text stays: it is nowhere else. Must
not do: cut at a line that only looks like an announcement, or leave nothing where all of it is quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

_QUOTED_LINE = re.compile(r"\s{0,3}>")
_ANNOUNCED_WITHIN = 3  # lines over which a program spreads `On … wrote:`
_HEAD_FIELDS = 3  # lines with named fields that make a block the head of an earlier message
_FIELD = re.compile(r"\s{0,3}\*?([^\W\d_]{1,12})\s?:\*?(?:\s|$)")
_SIGNATURE_LINES = 30
_LONGEST_LINE = 400
_MANY_LINES = re.compile(r"\n{3,}")


@cache
def mail_words(name: str) -> frozenset[str]:
    """One list of `resources/imports/mail.json`."""
    return frozenset(_vocabulary()[name])


@cache
def _vocabulary() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(files("resources").joinpath("imports", "mail.json").read_text("utf-8"))
    return found


@cache
def _patterns(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in _vocabulary()[name]), re.IGNORECASE)


def cut_reply(text: str, *, is_forwarded: bool = False) -> str:
    """The words of a mail without what it quotes and is signed with.

    Args:
        text: of the message.
        is_forwarded: whether it passes on another message, which then stays.

    Returns:
        What is left, with line feeds alone between lines; empty where all of it was quoted.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if not is_forwarded:
        lines = _without_quotations(lines[: _find_original(lines)])
    return _MANY_LINES.sub("\n\n", "\n".join(_without_signature(lines))).strip("\n")


def _find_original(lines: Sequence[str]) -> int:
    """Where an earlier message begins that is not marked line by line; the number of lines where none does."""
    for at, line in enumerate(lines):
        is_marked = len(line) <= _LONGEST_LINE and _patterns("original").match(line.strip()) is not None
        is_possible = is_marked or (at > 0 and not lines[at - 1].strip() and _FIELD.match(line) is not None)
        if is_possible and _is_head(lines[at + is_marked : at + is_marked + 8], 2 if is_marked else _HEAD_FIELDS):
            return at
    return len(lines)


def _is_head(lines: Sequence[str], least: int) -> bool:
    """Whether the next lines are the fields of a message's head, each with a word that mail programs give one."""
    fields = 0
    for line in lines:
        found = _FIELD.match(line)
        if found is not None and found[1].casefold() in mail_words("head_fields"):
            fields += 1
        elif line.strip() and not (fields and line[:1].isspace()):
            break
    return fields >= least


def _without_quotations(lines: Sequence[str]) -> list[str]:
    """The lines that are not another's, and without the line that announces those."""
    kept: list[str] = []
    was_quoted = False
    for line in lines:
        is_quoted = _QUOTED_LINE.match(line) is not None
        if is_quoted and not was_quoted:
            _drop_announcement(kept)
        if not is_quoted:
            kept.append(line)
        was_quoted = is_quoted
    _drop_announcement(kept)  # of a quotation that an HTML message had
    return kept


def _drop_announcement(kept: list[str]) -> None:
    """Take the words that announce a quotation off the end, where they stand there over one line or several."""
    filled = [at for at, line in enumerate(kept) if line.strip()][-_ANNOUNCED_WITHIN:]
    for start in filled:
        joined = " ".join(line.strip() for line in kept[start:] if line.strip())
        is_announced = _patterns("quoted").match(joined) or (
            start == filled[-1] and _patterns("quoted_line").match(joined)
        )
        if len(joined) <= _LONGEST_LINE and is_announced:
            del kept[start:]
            return


def _without_signature(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    marks = [at for at, line in enumerate(kept) if line.rstrip() == "--"]
    if marks and len(kept) - marks[-1] <= _SIGNATURE_LINES:
        kept = kept[: marks[-1]]
    while kept and not kept[-1].strip():
        kept.pop()
    if kept and len(kept[-1]) <= _LONGEST_LINE and _patterns("signed").match(kept[-1].strip()):
        kept.pop()
    return kept
