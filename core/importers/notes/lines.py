"""Lists: whether a text is one of short lines, one thing a line, and each of its lines as a record of its own.

A list is offered, never taken for granted: one note is one record unless the person says otherwise. Must not do: change
a word of a line, or take the lines of wrapped prose for statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.importers.front_matter import read_front_matter
from core.importers.notes.dates import dated_sections
from core.importers.notes.tags import tags_in
from core.importers.records import Record
from core.importers.rows import text_digest
from core.text.markdown import blank_code
from core.types.values import When

_MOST_BYTES = 4 << 20
_FEWEST = 3
_SHORT, _LONGEST = 140, 300  # characters of a short line, and of any line of a list
_WORDS_ALONE = 60  # characters of a line that begins in lower case and is no rest of a sentence: an item to buy
_TOLERATED = 10  # one line in so many may be longer, or else unlike a line of a list

_LINE = re.compile(r"[^\r\n]+")
_RULER = re.compile(r"[\s\-=*_~#.+•·]*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<words>.*)")
_BULLET = re.compile(r"\s*(?:[-*+•‣◦·–—]\s+|[a-z]\)\s+)")
_NUMBER = re.compile(r"\s*\(?(?P<number>\d{1,4})[.)]\s+")
_BOX = re.compile(r"\[(?P<mark>[ xX])\]\s+")
_FOREIGN = re.compile(r"\s*(?:[>|<{}]|```|~~~)|(?:\t| {4})\s*\S")  # quotations, tables, marks of a program, code
_BREAK = re.compile(r"[.!?…]\s+[^\W\d_a-z]")  # one sentence ends and another begins


@dataclass(frozen=True, slots=True)
class ListLine:
    """One line of a list.

    Attributes:
        text: its words, without the mark before them.
        number: which line of the file it is, from 1.
        start: where it begins in the text, in characters.
        is_marked: whether a bullet or a number stands before it.
        heading: the heading it stands under; "" without one.
        task: `open` or `done` where a box stands before it; else "".
    """

    text: str
    number: int
    start: int
    is_marked: bool = False
    heading: str = ""
    task: str = ""


def read_list_lines(text: str) -> tuple[ListLine, ...]:
    """The lines of a list, without its front matter, headings, rulers and empty lines.

    Args:
        text: of a whole file.

    Returns:
        Its lines in order; none where the text is no list: fewer than three lines, prose, code, a table.
    """
    if len(text) > _MOST_BYTES:
        return ()
    # Only the lines of the body count; a line number counts those before it as well.
    body_at = max(read_front_matter(text).body_at, 1 if text.startswith("\ufeff") else 0)
    raw = [found for found in _LINE.finditer(text, body_at) if not _RULER.fullmatch(found[0])]
    if any(len(found[0]) > _LONGEST for found in raw):
        return ()
    lines = tuple(_parse_lines(text, raw))
    return lines if _is_list(lines, text) else ()


def _parse_lines(text: str, raw: Sequence[re.Match[str]]) -> Iterator[ListLine]:
    are_numbered = _are_numbered([int(found["number"]) for one in raw if (found := _NUMBER.match(one[0]))])
    number, counted_to, heading = 1, 0, ""
    for at, one in enumerate(raw, 1):
        number += len(re.findall(r"\r\n|\r|\n", text[counted_to : one.start()]))
        counted_to = one.start()
        if title := _HEADING.match(one[0]):
            heading = title["words"].rstrip("# \t")
            continue
        mark = _BULLET.match(one[0]) or (_NUMBER.match(one[0]) if are_numbered else None)
        words = one[0][mark.end() :] if mark else one[0]
        if not mark and words.rstrip().endswith(":") and at < len(raw) and _BULLET.match(raw[at][0]):
            heading = words.strip()[:-1]
            continue
        box = _BOX.match(words) if mark else None
        if box is not None:
            words = words[box.end() :]
        task = "" if box is None else ("open" if box["mark"] == " " else "done")
        if words.strip():
            yield ListLine(words.strip(), number, one.start(), mark is not None, heading, task)


def _are_numbered(numbers: Sequence[int]) -> bool:
    """Whether numbers before lines count them: `1. 2. 3.`, or `1. 1. 1.`; a day of a month before a line does not."""
    return len(numbers) > 1 and numbers[0] <= 1 and all(new in {1, old, old + 1} for old, new in pairwise(numbers))


def _is_list(lines: Sequence[ListLine], text: str) -> bool:
    # Where no line begins with a capital, lower case tells nothing of where a sentence begins.
    is_lower = all(_may_go_on(line) and len(line.text) <= _WORDS_ALONE for line in lines)
    unlike = sum(not _is_own(line, text) or (not is_lower and _may_go_on(line)) for line in lines)
    return len(lines) >= _FEWEST and unlike <= len(lines) // _TOLERATED


def _may_go_on(line: ListLine) -> bool:
    """Whether a line may be the rest of the sentence before it."""
    return not line.is_marked and line.text[:1].islower()


def _is_own(line: ListLine, text: str) -> bool:
    """Whether a line stands for itself: short, one sentence or two, and neither code nor the middle of one."""
    if len(line.text) > _SHORT or len(_BREAK.findall(line.text)) > 1:
        return False
    return line.is_marked or (_FOREIGN.match(text, line.start) is None and not line.text.endswith((",", ";", "-")))


def line_identity(path: str, line: ListLine) -> str:
    """What a line is known by: its file's path and its words, wherever in the file it stands.

    Args:
        path: as the note of that file has it.
    """
    return f"line:{path}:{text_digest(line.text)}"


def list_line_identities(whole: Record) -> tuple[str, ...]:
    """What the lines of a note are known by; none where it is no list."""
    return tuple(dict.fromkeys(line_identity(whole.where, line) for line in read_list_lines(whole.text)))


def make_line_records(whole: Record) -> Iterator[Record]:
    """Yield each line of a list as a record.

    Args:
        whole: the note that the file is otherwise; its lines have its date, or that of the heading they stand under.
    """
    front = read_front_matter(whole.text)
    body = blank_code(whole.text[front.body_at :])
    occurred, sections = dated_sections(front, body, whole.where)
    of_lines = frozenset(tags_in(body))
    dates: list[tuple[int, When | None]] = [(0, occurred), *((one.start, one.occurred) for one in sections)]
    for line in read_list_lines(whole.text):
        while len(dates) > 1 and dates[1][0] <= line.start:
            dates.pop(0)
        where = f"{whole.where}:{line.number}"
        facts = {"line": line.number, "heading": line.heading, "task": line.task}
        yield replace(
            whole,
            identity=line_identity(whole.where, line),
            text=line.text,
            where=where,
            ref=where,
            occurred=dates[0][1],
            sections=(),
            # What stands in one line is no tag of another.
            tags=tuple(tag for tag in whole.tags if tag not in of_lines or tag in tags_in(line.text)),
            same_as=(whole.identity,),
            extra={
                **{name: whole.extra[name] for name in ("path", "title") if name in whole.extra},
                **{name: value for name, value in facts.items() if value},
            },
        )
