"""The labelled talk that a reader of statements learns from; python packaging/training/talk_data.py counts it.

Every sentence was written for this project (packaging/training/README.md). An author is one person's way of writing;
half of the authors are held out from every fit, the same half on every machine. Must not do: read any labelled set that
measures the reader.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "talk"
PIECES = ("chat", "note", "dictation", "work", "family", "assistant", "mail")
TYPES = (
    "attribute", "relationship", "preference", "possession", "health", "work", "place", "plan", "event", "habit",
    "skill", "opinion", "none",
)  # fmt: skip
ASSERTIONS = ("yes", "negated", "question", "wish", "hypothesis", "joke", "quoted", "none")
UNASSERTED = ("question", "hypothesis", "joke", "quoted")
SPANS = {"s": "subject", "p": "property", "v": "value", "t": "time"}


class TalkDataError(ValueError):
    """A line that breaks the format, with its file and number."""


@dataclass(frozen=True)
class Span:
    """A part of a sentence.

    Attributes:
        start: first character.
        end: after the last one.
    """

    start: int
    end: int


@dataclass(frozen=True)
class LabelledSentence:
    """One sentence with its labels.

    Attributes:
        author: who wrote the talk; a file of one person's style.
        piece: of `PIECES`.
        date: of the talk, ISO.
        speaker: who says it.
        text: as written.
        before: the turn before this speaker's, as "Name: text", and the sentences of this turn so far; oldest first.
        type: of `TYPES`.
        asserted: of `ASSERTIONS`.
        is_lasting: likely of use in a month.
        worth: 0 nothing to 3 important.
        spans: subject, property, value and time where they stand in the text.
        statement: the same in third person with names and dates; "" where none was written.
    """

    author: str
    piece: str
    date: str
    speaker: str
    text: str
    before: tuple[str, ...]
    type: str
    asserted: str
    is_lasting: bool
    worth: int
    spans: dict[str, Span]
    statement: str

    @property
    def is_held_out(self) -> bool:
        """Whether its author is of the half that no fit sees."""
        return is_held_out(self.author)


def is_held_out(author: str) -> bool:
    """Whether an author is of the half that no fit sees."""
    return hashlib.sha256(author.encode()).digest()[0] % 2 == 1


def read_sentences(folder: Path = FOLDER) -> Iterator[LabelledSentence]:
    """Read all files in order of their names.

    Raises:
        TalkDataError: a line is not of the format.
    """
    for path in sorted(folder.glob("*.jsonl")):
        head: dict[str, Any] | None = None
        turns: list[tuple[str, list[str]]] = []
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            where = f"{path.name}:{number}"
            row = json.loads(line)
            if isinstance(row, dict):
                head, turns = _checked_head(row, where), []
                continue
            if head is None:
                raise TalkDataError(f"{where}: a sentence before the first piece")
            yield _sentence(row, head, turns, where)


def _checked_head(row: dict[str, Any], where: str) -> dict[str, Any]:
    if set(row) != {"author", "piece", "speakers", "date"} or row["piece"] not in PIECES or not row["speakers"]:
        raise TalkDataError(f"{where}: not the head of a piece")
    return row


def _sentence(row: list[Any], head: dict[str, Any], turns: list[tuple[str, list[str]]], where: str) -> LabelledSentence:
    speaker, text, kind, asserted, lasting, worth, marks = row
    wrong = [
        name
        for name, is_right in (
            ("speaker", speaker in head["speakers"]),
            ("type", kind in TYPES),
            ("assertion", asserted in ASSERTIONS and (asserted != "none" or kind == "none")),
            ("lasting", lasting in (0, 1)),
            ("worth", worth in (0, 1, 2, 3) and not (worth and (kind == "none" or asserted in UNASSERTED))),
            (
                "spans",
                set(marks) <= {*SPANS, "r"} and all(marks[key] and marks[key] in text for key in SPANS if key in marks),
            ),
        )
        if not is_right
    ]
    if wrong:
        raise TalkDataError(f"{where}: wrong {', '.join(wrong)}")
    if not turns or turns[-1][0] != speaker:
        turns.append((speaker, []))
    earlier = [f"{name}: {' '.join(said)}" for name, said in turns[-2:-1]]
    before = (*earlier, *turns[-1][1])
    turns[-1][1].append(text)
    return LabelledSentence(
        author=head["author"],
        piece=head["piece"],
        date=head["date"],
        speaker=speaker,
        text=text,
        before=before,
        type=kind,
        asserted=asserted,
        is_lasting=bool(lasting),
        worth=worth,
        spans={SPANS[key]: _span(text, marks[key]) for key in SPANS if key in marks},
        statement=marks.get("r", ""),
    )


def _span(text: str, part: str) -> Span:
    """Where a part first stands as whole words; "I" is not the beginning of "Indeed"."""
    whole = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text)
    start = whole.start() if whole else text.index(part)
    return Span(start, start + len(part))


def main() -> None:
    """Print how many sentences and authors there are, by type and assertion, and how many are held out."""
    found = tuple(read_sentences())
    authors = {one.author for one in found}
    held_out = [one for one in found if one.is_held_out]
    print(f"{len(found)} sentences of {len(authors)} authors, {len(held_out)} of them held out")
    for name, counts in (
        ("type", Counter(one.type for one in found)),
        ("assertion", Counter(one.asserted for one in found)),
        ("worth", Counter(str(one.worth) for one in found)),
        ("piece", Counter(one.piece for one in found)),
    ):
        print(f"{name}: " + ", ".join(f"{key} {n}" for key, n in counts.most_common()))


if __name__ == "__main__":
    main()
