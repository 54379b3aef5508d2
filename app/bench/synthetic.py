"""Chat-like texts of any number from the bundled vocabulary: the same seed gives the same texts, no two are alike.

Each conversation has a subject, a cast and a place of its own, so that texts of one conversation are near each other
and names are rarer than words, as in a person's own chats. Must not do: read anything but the vocabulary.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

MIN_WORDS, MAX_WORDS = 20, 50
_AIM = (22, 44)
_TURNS = (4, 20)
_FIRST_DAY = datetime(2019, 1, 7, 8, 0, tzinfo=UTC)
_BETWEEN = timedelta(hours=5)
_TRIES = 50


@dataclass(frozen=True, slots=True)
class SyntheticMessage:
    """One synthetic message.

    Attributes:
        session: its conversation.
        author: `user` or `assistant`.
        at: when it was said.
        ref: unique within one series.
    """

    text: str
    session: str
    author: str
    at: datetime
    ref: str

    def to_import_row(self) -> dict[str, str]:
        """The message as a row of the generic JSONL import."""
        at = self.at.isoformat().replace("+00:00", "Z")
        return {"text": self.text, "time": at, "author": self.author, "session": self.session, "ref": self.ref}


@dataclass(frozen=True, slots=True)
class _Talk:
    """What one conversation is about: words that its sentences share."""

    sentences: Sequence[str]
    things: Sequence[str]
    cast: Mapping[str, str]


class SyntheticWriter:
    """Writes series of messages; one object may write several."""

    def __init__(self, seed: int = 1, vocabulary: Mapping[str, Any] | None = None) -> None:
        """Make a writer.

        Args:
            seed: names the series.
            vocabulary: words and templates; None for the bundled ones.
        """
        self._seed = seed
        self._words = load_bundled_vocabulary() if vocabulary is None else vocabulary
        self._topics = sorted(self._words["topics"])

    def write_messages(self, count: int) -> Iterator[SyntheticMessage]:
        """Write messages, conversation after conversation.

        Yields:
            Messages of 20 to 50 words, no two with the same text.
        """
        seen: set[str] = set()
        number = 0
        while len(seen) < count:
            dice = self._make_dice("talk", number)
            talk = self._make_talk(number)
            for turn in range(min(dice.randint(*_TURNS), count - len(seen))):
                author = "assistant" if turn % 2 else "user"
                text = self._new_text(talk, author, dice, seen)
                at = _FIRST_DAY + number * _BETWEEN + timedelta(minutes=3 * turn)
                yield SyntheticMessage(text, f"talk-{number}", author, at, f"{self._seed}-{len(seen)}")
            number += 1

    def write_questions(self, count: int, messages: int) -> list[str]:
        """Ask about what a series holds.

        Args:
            count: how many questions.
            messages: length of the series that is asked about.

        Returns:
            Questions, no two alike, in the words of conversations from all over the series.
        """
        talks = max(1, messages // (sum(_TURNS) // 2 + 1))
        dice = self._make_dice("questions", messages)
        asked: dict[str, None] = {}
        while len(asked) < count:
            talk = self._make_talk(dice.randrange(talks))
            asked[self._fill_template(dice.choice(self._words["questions"]), talk, dice)] = None
        return list(asked)

    def _make_dice(self, *name: object) -> random.Random:
        return random.Random(f"{self._seed}/{name}")  # noqa: S311 - synthetic texts, not secrets

    def _make_talk(self, number: int) -> _Talk:
        dice, words = self._make_dice("cast", number), self._words
        topic = words["topics"][dice.choice(self._topics)]
        persons, places = dice.sample(words["persons"], 2), dice.sample(words["places"], 2)
        cast = {
            "person": persons[0],
            "person2": persons[1],
            "surname": self._draw_surname(dice),
            "place": places[0],
            "place2": places[1],
            "street": dice.choice(words["streets"]),
            "month": dice.choice(words["months"]),
        }
        return _Talk(topic["sentences"], dice.sample(topic["things"], 4), cast)

    def _draw_surname(self, dice: random.Random) -> str:
        parts = ("surname_starts", "surname_middles", "surname_ends")
        return "".join(dice.choice(self._words[part]) for part in parts)

    def _new_text(self, talk: _Talk, author: str, dice: random.Random, seen: set[str]) -> str:
        for _ in range(_TRIES):
            text = self._make_text(talk, author, dice)
            if text not in seen:
                seen.add(text)
                return text
        raise ValueError("the vocabulary is too small for so many texts")

    def _make_text(self, talk: _Talk, author: str, dice: random.Random) -> str:
        aim, length = dice.randint(*_AIM), 0
        chosen: dict[str, str] = {}
        while length < aim:
            template = dice.choice(self._choose_pool(talk, author, dice))
            sentence = self._fill_template(template, talk, dice)
            words = len(sentence.split())
            if length + words <= MAX_WORDS and template not in chosen:
                chosen[template] = sentence
                length += words
            elif length >= MIN_WORDS:
                break
        return " ".join(chosen.values())

    def _choose_pool(self, talk: _Talk, author: str, dice: random.Random) -> Sequence[str]:
        if author == "assistant":
            pool: Sequence[str] = self._words["assistant"]
            return pool if dice.random() < 0.7 else talk.sentences
        pool = self._words["general"]
        return pool if dice.random() < 0.2 else talk.sentences

    def _fill_template(self, template: str, talk: _Talk, dice: random.Random) -> str:
        words = self._words
        blanks = {
            **talk.cast,
            "thing": dice.choice(talk.things),
            "spice": dice.choice(words["spices"]),
            "adj": dice.choice(words["adjectives"]),
            "day": dice.choice(words["days"]),
            "time": dice.choice(words["times"]),
            "n": str(dice.randint(2, 29)),
            "n2": str(dice.randint(2, 29)),
            "big": str(dice.randint(100, 99_999)),
        }
        filled = template.format_map(blanks)
        return filled[0].upper() + filled[1:]


def load_bundled_vocabulary() -> dict[str, Any]:
    """The vocabulary that ships with Loci."""
    text = files("resources").joinpath("bench").joinpath("vocabulary.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def write_jsonl(path: Path, messages: Sequence[SyntheticMessage]) -> None:
    """Write messages as an export that the generic JSONL importer reads.

    Args:
        path: a new file.
        messages: in order.
    """
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(message.to_import_row(), ensure_ascii=False) + "\n" for message in messages)
