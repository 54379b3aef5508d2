"""The lines that the claim model learns from, and the dresses in which it sees them.

`claims/*.jsonl`: an object begins an author; then a list a line, its text and its claims `[subject, predicate,
value, negative]`. Every line was written for this project (packaging/training/README.md); `claims/dress.json` holds
other values of each predicate and what people put before, behind and between. Must not do: read a set that measures
the model.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "claims"
Span = tuple[int, int]
_ARTICLE = re.compile(r"(?:the|a|an) ")
_OWNED = re.compile(r"\b(?:the|a|an|my|our|his|her|old|new) $", re.IGNORECASE)
_OPENER = re.compile(r"(?:We|My|Our|The|Got|Been|This|There's|It's|Just) ")
SWAPPED, LED, TAILED, JOINED, SMALL, PLAIN, UNENDED = 0.45, 0.12, 0.1, 0.15, 0.15, 0.05, 0.15
"""How often each dress is put on."""
_LONGEST = 160


@dataclass(frozen=True)
class LabelledValue:
    """One claim of a line.

    Attributes:
        predicate: a name of the vocabulary.
        value: its characters.
        subject: those of its subject; None for the speaker.
        is_denied: whether the line says that it is not so.
    """

    predicate: str
    value: Span
    subject: Span | None
    is_denied: bool


@dataclass(frozen=True)
class ClaimLine:
    """A line with its claims."""

    text: str
    values: tuple[LabelledValue, ...] = ()
    author: str = field(default="", compare=False)


def load_lines(folder: Path = FOLDER) -> list[ClaimLine]:
    """Read all lines in order of their files.

    Raises:
        ValueError: a subject or value does not stand in its line.
    """
    lines: list[ClaimLine] = []
    for path in sorted(folder.glob("*.jsonl")):
        author = ""
        for written in path.read_text("utf-8").splitlines():
            row = json.loads(written)
            if isinstance(row, dict):
                author = row["author"]
                continue
            lines.append(ClaimLine(row[0], tuple(_values(row[0], row[1:])), author))
    return lines


def _values(text: str, claims: Sequence[Sequence[str | int]]) -> list[LabelledValue]:
    found: list[LabelledValue] = []
    for subject, predicate, value, negative in claims:
        named = None if subject == "user" else _places(text, str(subject))[0]
        taken = {one.value for one in found} | {named}
        places = _places(text, str(value))
        place = next((each for each in places if each not in taken), places[0])
        found.append(LabelledValue(str(predicate), place, named, bool(negative)))
    return found


def _places(text: str, part: str) -> list[Span]:
    """Where a part stands, as whole words if it does."""
    for pattern in (rf"(?<!\w){re.escape(part)}(?!\w)", re.escape(part)):
        found = [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
        if found:
            return found
    raise ValueError(f"{part!r} does not stand in {text!r}")


@cache
def _dresses() -> dict[str, dict[str, list[str]] | list[str]]:
    loaded: dict[str, dict[str, list[str]] | list[str]] = json.loads((FOLDER / "dress.json").read_text("utf-8"))
    return loaded


def _listed(name: str) -> list[str]:
    return list(_dresses()[name])


def _others(predicate: str) -> list[str]:
    values = _dresses()["values"]
    return values.get(predicate, []) if isinstance(values, dict) else []


def dress_line(line: ClaimLine, rng: random.Random, lines: Sequence[ClaimLine]) -> ClaimLine:
    """The line in another dress: other values, led in, with a tail, joined to another line, in small letters.

    Args:
        line: as written.
        rng: what is put on.
        lines: those it may be joined to.
    """
    for nr in range(len(line.values)):
        if rng.random() < SWAPPED:
            line = _swapped(line, nr, rng)
    if rng.random() < LED and not line.text.startswith("- "):
        lead = rng.choice(_listed("leads"))
        text = line.text
        if lead[-2] not in ":." and _OPENER.match(text):
            text = text[0].lower() + text[1:]
        line = replace(_shifted(line, len(lead)), text=lead + text)
    if rng.random() < TAILED and not line.text.endswith("?"):
        line = _behind(line, rng.choice(_listed("tails")), ClaimLine(""))
    if rng.random() < JOINED and not line.text.endswith("?"):
        line = _behind(line, rng.choice(_listed("joints")), rng.choice(lines))
    return _written(line, rng)


def _written(line: ClaimLine, rng: random.Random) -> ClaimLine:
    """In small letters, without apostrophes or without its end mark, now and then."""
    drawn = rng.random()
    if drawn < SMALL and len(line.text.lower()) == len(line.text):
        line = replace(line, text=line.text.lower())
    elif drawn < SMALL + PLAIN:
        for match in reversed(list(re.finditer("'", line.text))):
            line = _put(line, match.span(), "") or line
    if rng.random() < UNENDED and line.text.endswith("."):
        line = _unended(line)
    return line


def _unended(line: ClaimLine) -> ClaimLine:
    bare = line.text.rstrip(".")
    return replace(line, text=bare) if all(one.value[1] <= len(bare) for one in line.values) else line


def _behind(line: ClaimLine, joint: str, other: ClaimLine) -> ClaimLine:
    line = _unended(line)
    start = len(line.text) + len(joint)
    if start + len(other.text) > _LONGEST:
        return line
    moved = _shifted(other, start).values
    return replace(line, text=line.text + joint + other.text, values=line.values + moved)


def _shifted(line: ClaimLine, by: int) -> ClaimLine:
    def move(span: Span) -> Span:
        return span[0] + by, span[1] + by

    return replace(
        line,
        values=tuple(
            replace(one, value=move(one.value), subject=None if one.subject is None else move(one.subject))
            for one in line.values
        ),
    )


def _swapped(line: ClaimLine, nr: int, rng: random.Random) -> ClaimLine:
    """The line with another value of the same predicate; itself where there is none that fits."""
    one, others = line.values[nr], _others(line.values[nr].predicate)
    if not others:
        return line
    start, end = one.value
    new = rng.choice(others)
    article = _ARTICLE.match(new)
    if article and _OWNED.search(line.text[:start]):
        return line
    if line.text[start:end].islower():
        new = new.lower()
    put = _put(line, one.value, new)
    if put is None or not article:
        return put or line
    values = list(put.values)
    values[nr] = replace(values[nr], value=(start + article.end(), values[nr].value[1]))
    return replace(put, values=tuple(values))


def _put(line: ClaimLine, place: Span, new: str) -> ClaimLine | None:
    """The line with other characters at a place; None where a span only partly lies in it."""
    by = len(new) - (place[1] - place[0])

    def move(span: Span) -> Span | None:
        if span == place or (span[0] <= place[0] and span[1] >= place[1]):
            return span[0], span[1] + by
        if span[0] >= place[1]:
            return span[0] + by, span[1] + by
        return span if span[1] <= place[0] else None

    values = []
    for one in line.values:
        value, subject = move(one.value), None if one.subject is None else move(one.subject)
        if value is None or (one.subject is not None and subject is None):
            return None
        values.append(replace(one, value=value, subject=subject))
    return replace(line, text=line.text[: place[0]] + new + line.text[place[1] :], values=tuple(values))
