"""The lines of a WhatsApp export: what begins a message, in the many fashions of phones and languages.

Must not do: take a line of a program's log for a message, or change a character of what follows the date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.importers.date_order import Numbers

MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
NOTICE = "\u200e"
_MARK = f"[{MARKS}]*"
_INLINE = re.compile(r"\u200e?<(?P<word>[^<>:：\n]{2,30})[:：]\s?(?P<file>[^<>\n]{1,300})>")
_BEHIND = re.compile(r"\u200e?(?P<file>[^\n]{1,300}?\.\w{1,5}) \(\u200e?(?P<word>[^()\n]{3,40})\)(?=\n|$)")
_OWN_NAME = re.compile(r"\u200e?(?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d{4}\.\w+$")
_DOCUMENT = re.compile(r"(?P<file>[^\n]{1,300}?)(?: • [^\n]*?)? ?\u200e(?P<word>[^\u200e\n]+)$")
_SENDER = re.compile(rf"{_MARK}(?P<name>[^:\n]{{1,120}}?){_MARK}:(?: (?P<text>.*)|$)", re.DOTALL)
_QUOTES = re.compile('["“”«»„]')


@cache
def words_of(name: str) -> frozenset[str]:
    """One list of `resources/imports/whatsapp.json`."""
    return frozenset(vocabulary()[name])


@cache
def vocabulary() -> Mapping[str, list[str]]:
    """What WhatsApp writes, by kind: `resources/imports/whatsapp.json`."""
    found: Mapping[str, list[str]] = json.loads(
        files("resources").joinpath("imports", "whatsapp.json").read_text("utf-8")
    )
    return found


@cache
def _header() -> re.Pattern[str]:
    """What begins a message: a date and a time of day in brackets, or before a dash."""
    halves = "|".join(re.escape(word) for name in ("morning", "evening") for word in vocabulary()[name])
    words = "|".join(map(re.escape, vocabulary()["date_words"]))
    half = rf"(?:{halves})".replace(r"\ ", r"\s")
    return re.compile(
        rf"{_MARK}(?P<open>\[)?{_MARK}(?P<a>\d{{1,4}}){_MARK}(?P<mark>[./-]){_MARK}\s?(?P<b>\d{{1,2}}){_MARK}"
        rf"(?P=mark){_MARK}\s?(?P<c>\d{{1,4}}){_MARK}\.?(?P<comma>[,،])?\s(?:(?:{words})\s)?{_MARK}(?P<before>{half})?\s?"
        rf"(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?(?:\s?(?P<after>{half}))?{_MARK}"
        r"(?(open)\](?:\s|$)|\s[-–]\s)",
        re.IGNORECASE,
    )


@cache
def _notices() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words_of("events")))), re.IGNORECASE)


def is_notice_text(text: str) -> bool:
    """Whether a text has the words of a notice in it."""
    return _notices().search(text) is not None


_NO_MARKS = dict.fromkeys(map(ord, MARKS))


def plain_words(text: str) -> str:
    """A text as it is compared: without marks, case, blanks around it and a full stop."""
    return text.translate(_NO_MARKS).strip().removesuffix(".").casefold()


@dataclass(frozen=True, slots=True)
class Opening:
    """The line that begins a message.

    Attributes:
        numbers: of its date, left to right.
        clock: hour of twenty-four, minute, second.
        twelve_hours: whether it told morning from evening.
        sender: who speaks; None where nobody does.
        text: what follows.
    """

    numbers: Numbers
    clock: tuple[int, int, int | None]
    twelve_hours: bool
    sender: str | None
    text: str

    @property
    def is_notice(self) -> bool:
        """Whether the program may have written it."""
        return self.sender is None or self.text.startswith(NOTICE)


def read_opening(line: str) -> Opening | None:
    """The line as the beginning of a message; None where it goes on with one."""
    if not line[:1].isdigit() and line[:1] not in f"[{MARKS}":
        return None
    found = _header().match(line)
    if found is None:
        return None
    year_first = len(found["a"]) == 4
    # The lines of a program's log: a date as ISO has it, without a comma in brackets or with seconds before a dash.
    if (found["open"] and year_first and not found["comma"]) or (not found["open"] and found["second"]):
        return None
    half = (found["before"] or found["after"] or "").casefold().replace("\u202f", " ").replace("\xa0", " ")
    hour = int(found["hour"])
    if half:
        hour = hour % 12 + (12 if half in words_of("evening") else 0)
    second = int(found["second"]) if found["second"] else None
    sender, text = _split_sender(line[found.end() :])
    numbers = (int(found["a"]), int(found["b"]), int(found["c"]))
    return Opening(numbers, (hour, int(found["minute"]), second), bool(half), sender, text)


def _split_sender(rest: str) -> tuple[str | None, str]:
    found = _SENDER.match(rest)
    # A notice that quotes a name with a colon in it (`changed the subject to “Tea: at five”`) has no speaker.
    if found is None or _QUOTES.search(found["name"]) or is_notice_text(found["name"]):
        return None, rest
    name = found["name"].strip(MARKS + " \xa0\u202f").removeprefix("~").strip(MARKS + " \xa0\u202f")
    return (name, found["text"] or "") if name else (None, rest)


def is_media(plain: str) -> bool:
    """Whether a text, as `plain_words` gives it, only stands for something that was sent."""
    return plain in words_of("media")


def find_attached(text: str) -> re.Match[str] | None:
    """What was sent, where its name is told: `<attached: name>`, or `name (file attached)` alone on the first line.

    In a language whose words are unknown the mark of direction shows it, or a name that only WhatsApp gives.
    """
    for found in _INLINE.finditer(text):
        if found["word"].casefold().strip() in words_of("attached_before") or found[0].startswith(NOTICE):
            return found
    found_behind = _BEHIND.match(text)
    if found_behind is not None and (
        found_behind["word"].casefold() in words_of("attached_behind")
        or found_behind[0].startswith(NOTICE)
        or _OWN_NAME.match(found_behind["file"])
    ):
        return found_behind
    return None


def take_attachments(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what stands for things sent, and their names."""
    found = find_attached(text)
    if found is not None:
        return (text[: found.start()] + text[found.end() :]).strip(NOTICE + " \n"), (found["file"].strip(NOTICE),)
    first, _, more = text.partition("\n")
    if is_media(plain_words(first)):
        return more, (plain_words(first).strip("<>"),)
    document = _DOCUMENT.fullmatch(text)
    if document is not None and is_media(document["word"].casefold().strip()):
        return "", (document["file"].strip(NOTICE),)
    return text, ()
