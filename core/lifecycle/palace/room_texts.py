"""What is read of memories to arrange them: when they were said, what they weigh, their words.

Must not do: write, or keep or log a text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from core.lifecycle.palace.clarity import is_telling, read_clarity
from core.lifecycle.palace.room_choice import Numbers
from core.memory.landmark_words import strip_captions
from core.memory.landmarks import GROUND, MAY_MARK
from core.text.noun_phrases import Phrase, read_phrases, stem_of
from core.text.room_names import TEXTS, RoomTexts
from core.vault.database.rows import Rows

_OF_EPISODE = "(SELECT e.{0} FROM statements s JOIN memories e ON e.id = s.episode_id WHERE s.memory_id = m.id LIMIT 1)"
_SAID_AT = f"coalesce(m.occurred_at, {_OF_EPISODE.format('occurred_at')})"
_TRAITS = (
    f"SELECT m.n, coalesce({_SAID_AT}, m.recorded_at), {GROUND}, {_SAID_AT} IS NOT NULL, m.author "  # noqa: S608 - constants
    "FROM json_each(?) w JOIN memories m ON m.n = w.value"
)
_ORIGINS = (
    "SELECT m.n, e.n FROM json_each(?) w CROSS JOIN memories m ON m.n = w.value "
    "JOIN statements s ON s.memory_id = m.id JOIN memories e ON e.id = s.episode_id ORDER BY m.n, e.n DESC"
)
_WEIGHTS = (
    "SELECT m.n, m.importance, m.access_count, m.text, "  # noqa: S608 - constants
    "EXISTS (SELECT 1 FROM statements s WHERE s.memory_id = m.id) "
    "FROM json_each(?) w JOIN memories m ON m.n = w.value "
    f"WHERE {MAY_MARK} AND NOT {GROUND} AND m.part_index IS NOT 1"
)


_LEAST_TELLING = 1
"""Words that tell something, of which a turn that is not slight has so many."""


@dataclass(frozen=True, slots=True)
class Traits:
    """When and by whom memories were said and whether they are ground, in the order asked.

    Attributes:
        times: epoch ms; when it was recorded where nobody knows when it was said.
        is_dated: whether it is known when it was said.
        authors: who said it, as far as that is known.
    """

    times: Numbers
    is_ground: NDArray[np.bool_]
    is_dated: NDArray[np.bool_]
    authors: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """What speaks for memories as landmarks, in the order asked; 0 clarity for those that cannot be one."""

    importance: NDArray[np.float64]
    uses: Numbers
    clarity: NDArray[np.float64]


class PhraseReader:
    """Reads the noun phrases of a text once in a run: naming, dividing and choosing landmarks all ask for them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Phrase, ...]] = {}

    def read(self, label: int, text: str) -> tuple[Phrase, ...]:
        """The noun phrases of a memory's text."""
        if label not in self._known:
            self._known[label] = tuple(read_phrases(strip_captions(text)))
        return self._known[label]


@dataclass(frozen=True, slots=True)
class NamingText:
    """A text that may give a name, by whom and when it was said, and whether in a conversation."""

    text: str
    phrases: tuple[Phrase, ...]
    author: str | None
    at_ms: int | None
    is_talk: bool

    def is_slight(self, silent: Collection[str]) -> bool:
        """Whether it is a turn of talk that tells hardly anything: thanks, cheers, a picture.

        Args:
            silent: stems of the names of who speaks.
        """
        return self.is_talk and len({one.key for one in self.phrases if is_telling(one, silent)}) < _LEAST_TELLING


def read_traits(rows: Rows, labels: Numbers) -> Traits:
    """When memories were said, and whether they are ground; a memory that is gone counts as said at 0."""
    found = {row[0]: row[1:] for row in rows.all(_TRAITS, (json.dumps(labels.tolist()),))}
    rows_by_label = [found.get(label, (0, 0, 0, None)) for label in labels.tolist()]
    return Traits(
        np.array([at for at, *_ in rows_by_label], np.int64),
        np.array([context for _, context, *_ in rows_by_label], np.bool_),
        np.array([is_dated for _, _, is_dated, _ in rows_by_label], np.bool_),
        tuple(author for *_, author in rows_by_label),
    )


def said_times(traits: Traits, part: Numbers) -> list[int]:
    """When some memories were said, epoch ms; of those of which it is known."""
    found: list[int] = traits.times[part][traits.is_dated[part]].tolist()
    return found


def authors_elsewhere(traits: Traits, part: Numbers) -> list[str | None]:
    """Who said what is in no part, evenly over all of it."""
    others = sample_evenly(np.setdiff1d(np.arange(len(traits.authors)), part), TEXTS)
    return [traits.authors[at] for at in others.tolist()]


def season_of(at_ms: int) -> int:
    """The season of a moment as a number; December begins a winter."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return (moment.year * 12 + moment.month) // 3


def read_weights(
    rows: Rows, labels: Numbers, reader: PhraseReader, theme: Collection[str] = (), speakers: Collection[str] = ()
) -> Weights:
    """What speaks for memories as landmarks.

    Args:
        theme: stems of the room's name.
        speakers: stems of the names of who speaks in the room.
    """
    found = {
        # A statement names a speaker because it is about them; an episode that does so calls somebody.
        n: (importance, uses, read_clarity(text, reader.read(n, text), theme, () if is_statement else speakers))
        for n, importance, uses, text, is_statement in rows.all(_WEIGHTS, (json.dumps(labels.tolist()),))
    }
    rows_by_label = [found.get(label, (0.0, 0, 0.0)) for label in labels.tolist()]
    return Weights(
        np.array([one[0] for one in rows_by_label], np.float64),
        np.array([one[1] for one in rows_by_label], np.int64),
        np.array([one[2] for one in rows_by_label], np.float64),
    )


def read_origins(rows: Rows, labels: Numbers) -> Numbers:
    """Of each statement among some memories the place in them of the memory it was made of; -1 for none."""
    places = {label: place for place, label in enumerate(labels.tolist())}
    found = np.full(len(labels), -1, np.int64)
    for statement, episode in rows.all(_ORIGINS, (json.dumps(labels.tolist()),)):
        found[places[statement]] = places.get(episode, -1)
    return found


def read_naming_texts(rows: Rows, labels: Numbers, reader: PhraseReader) -> dict[int, NamingText]:
    """Texts by label, oldest first: what waits for review or was put away gives no name."""
    return {
        n: NamingText(text, reader.read(n, text), author, at_ms, is_talk=talk is not None)
        for n, text, author, at_ms, talk in rows.all(
            f"SELECT n, text, author, {_SAID_AT}, "  # noqa: S608 - constants
            f"coalesce(conversation_id, {_OF_EPISODE.format('conversation_id')}) FROM memories m "
            "WHERE n IN (SELECT value FROM json_each(?)) "
            "AND status IN ('active', 'disputed', 'consolidated') ORDER BY n",
            (json.dumps(labels.tolist()),),
        )
    }


def room_texts(texts: Sequence[NamingText], times: Sequence[int] | None = None) -> RoomTexts:
    """What a room's name is made of.

    Args:
        times: when all of its memories were said, of which the texts may be a sample; None for those of the texts.
    """
    return RoomTexts(
        [one.text for one in texts],
        [one.at_ms for one in texts if one.at_ms is not None] if times is None else times,
        is_talk=2 * sum(one.is_talk for one in texts) > len(texts),
        authors=[one.author for one in texts],
        phrases=[one.phrases for one in texts],
    )


def speaker_stems(authors: Collection[str | None]) -> frozenset[str]:
    """Stems of the names of those who speak."""
    return frozenset(filter(None, (stem_of(word) for author in authors if author for word in author.split())))


def number_talks(talks: Sequence[str | None]) -> Numbers:
    """Conversations as numbers from 0 on; -1 for none."""
    numbers: dict[str, int] = {}
    return np.array([-1 if talk is None else numbers.setdefault(talk, len(numbers)) for talk in talks], np.int64)


def sample_evenly(labels: Numbers, most: int) -> Numbers:
    """Of many labels so many, evenly over all."""
    if len(labels) <= most:
        return labels
    return labels[np.linspace(0, len(labels) - 1, most).astype(np.int64)]
