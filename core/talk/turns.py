"""Who speaks in an episode's text, and its sentences with their places.

A line "Name: text" has a speaker where few names recur over all that is read together; "Note:", "TODO:", an address or
a line of code has none. Must not do: decide what a sentence means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.talk.vocabulary import Token, known_names, list_words, talk_words, tokenize_talk
from core.text.sentences import split_sentences
from core.types.talk import Turn

MOST_CHARS = 20_000
"""Characters of a turn that are read."""
MOST_SENTENCES = 200
LONGEST_SENTENCE = 400
MOST_SPEAKERS = 50
_NAMED_LINE = re.compile(
    r"(?m)^[ \t]*(?:[\[(][^\])\n]{3,40}[\])][ \t]*)?"
    r"(?P<name>[^\W\d_][^:\n\[\]{}()<>=/\\\"|]{0,39}?)[ \t]*:(?!//)[ \t]+(?=\S)"
)
_CODE = re.compile(
    r"^\s*(?:```|\$ |>>> |#include|import \w|from \w+ import|def \w|class \w+[(:]|function\b.*[({]|"
    r"(?:const|let|var) \w+ ?=|"
    r"[{}\[\]();]+\s*$|</?\w+[^>]*>|at [\w.$]+\(|Traceback|\w+(?:\.\w+)+\(|SELECT .* FROM |\w+ ?= ?[\w\[{(\"'])"
    r"|[;{}]\s*$|\w\(\)|=>|::|[{}<>\\|]{2}"
)
_LOG = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|"
    r"\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE)\b|\d{1,3}(?:\.\d{1,3}){3}\b)"
)
_FRONT_MATTER = re.compile(r"(?s)\A\ufeff?---[ \t]*\r?\n.{0,4000}?\r?\n---[ \t]*(?:\r?\n|\Z)")
_FENCE = re.compile(r"(?s)```.*?(?:```|\Z)")
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|file)://\S+|\bwww\.\S+")
_LEAST_FOREIGN = 3
_FEW_FOREIGN = 2  # where no word is English


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """A memory of something said, as it is kept.

    Attributes:
        id: of the memory.
        text: all of it, with names of speakers where it has some.
        author: the speaker where the source says; "" elsewhere.
        said_ms: epoch ms; null where the source does not say.
        is_owner: whether the owner of the vault wrote it.
        is_assistant: whether an assistant did.
    """

    id: str
    text: str
    author: str = ""
    said_ms: int | None = None
    is_owner: bool = False
    is_assistant: bool = False


@dataclass(frozen=True, slots=True)
class TurnSentence:
    """A sentence of a turn with its place.

    Attributes:
        text: without the blanks around it.
        start: in the turn's text.
    """

    text: str
    start: int

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Its words."""
        return tokenize_talk(self.text)


def read_turns(episodes: Sequence[EpisodeText], owner_names: Iterable[str] = ()) -> tuple[Turn, ...]:
    """The turns of what belongs together, such as one import or one conversation.

    Args:
        owner_names: how the owner is called in it, besides "User" and "Me".
    """
    owners = {normalize_speaker(name).casefold() for name in owner_names} - {""}
    speakers = find_speakers(episodes)
    return tuple(turn for episode in episodes for turn in _split_episode(episode, speakers, owners))


def normalize_speaker(name: str) -> str:
    """A speaker's name without marks and needless blanks; "MARA " and "mara" are Mara."""
    words = [word.strip("*_~@#\"'“”,:;-") for word in name.split()]
    name = " ".join(word for word in words if word)[:60]
    return name.title() if name.islower() or (name.isupper() and len(name) > 3) else name


def is_label(name: str) -> bool:
    """Whether a name is none but says what a text is: "Note", "TODO", "source"."""
    return name.strip().casefold() in talk_words().sets["labels"]


def find_speakers(episodes: Sequence[EpisodeText]) -> frozenset[str]:
    """The names, folded, that stand before a colon and recur as speakers do."""
    counts: Counter[str] = Counter()
    for episode in episodes:
        counts.update(name.casefold() for _, _, name in _named_lines(episode.text))
    authors = {normalize_speaker(episode.author).casefold() for episode in episodes} - {""}
    labels = talk_words().sets["labels"]
    named = {name for name in counts if name not in labels and not set(name.split()) <= labels}
    recurring = {name for name in named if counts[name] > 1}
    if not 2 <= len(recurring | authors) <= MOST_SPEAKERS:
        return frozenset(named & authors)
    # Who speaks once among others who recur is a speaker too where the name is one.
    single = {name for name in named - recurring if _is_first_name(name)}
    return frozenset(recurring | single)


def split_turn(turn: Turn) -> tuple[TurnSentence, ...]:
    """The sentences of a turn; code, logs and addresses are left out, and a very long turn is read to its cap."""
    text = _ADDRESS.sub(lambda match: " " * len(match.group()), turn.text[:MOST_CHARS])
    for block in (_FENCE, *((_FRONT_MATTER,) if not turn.start else ())):
        text = block.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    out: list[TurnSentence] = []
    for start, end in split_sentences(text):
        raw = text[start:end]
        plain = raw.strip().lstrip("-*•>#→ \t")
        if not plain or len(plain) > LONGEST_SENTENCE or is_code(plain):
            continue
        out.append(TurnSentence(plain, start + raw.index(plain)))
        if len(out) == MOST_SENTENCES:
            break
    return tuple(out)


def is_code(line: str) -> bool:
    """Whether a line is code or a log."""
    return _LOG.search(line) is not None or _CODE.search(line) is not None


def is_foreign(text: str) -> bool:
    """Whether a text is in a language that the reader does not know.

    Function words of English and of other languages are counted; a text of few words is held for English unless its
    letters are not Latin.
    """
    letters = [] if text.isascii() else [sign for sign in text[:MOST_CHARS] if sign.isalpha()]
    if letters and sum(sign > "\u024f" for sign in letters) * 2 > len(letters):
        return True
    words = list_words(text[:2000])
    foreign_words, english_words = talk_words().sets["foreign"], talk_words().sets["english"]
    foreign = sum(word in foreign_words and word not in english_words for word in words)
    english = sum(word in english_words and word not in foreign_words for word in words)
    return (foreign >= _LEAST_FOREIGN and foreign > 2 * english) or (foreign >= _FEW_FOREIGN and not english)


def _is_first_name(name: str) -> bool:
    return len(name.split()) <= 2 and name.split()[0] in known_names()[0]


def _named_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a named line begins, where what is said begins, and the name."""
    properties = _FRONT_MATTER.match(text)  # of a note: "tags: [home]" has no speaker
    for match in _NAMED_LINE.finditer(text, properties.end() if properties else 0, MOST_CHARS):
        name = normalize_speaker(match.group("name"))
        if name and len(name.split()) <= 3:
            yield match.start(), match.end(), name


def _split_episode(episode: EpisodeText, speakers: frozenset[str], owners: set[str]) -> Iterator[Turn]:
    author = normalize_speaker(episode.author)
    if is_label(author):
        author = ""
    lines = [line for line in _named_lines(episode.text) if line[2].casefold() in speakers]
    begin = lines[0][0] if lines else len(episode.text)
    whole = Turn(episode.id, author, episode.text[:begin], 0, episode.said_ms, episode.is_owner, episode.is_assistant)
    if not lines or episode.text[:begin].strip():
        yield _classify_speaker(whole, owners)
    for place, (_, start, name) in enumerate(lines):
        end = lines[place + 1][0] if place + 1 < len(lines) else len(episode.text)
        is_author = name.casefold() == author.casefold()
        yield _classify_speaker(
            Turn(
                episode.id,
                name,
                episode.text[start:end].rstrip(),
                start,
                episode.said_ms,
                episode.is_owner and is_author,
                episode.is_assistant and is_author,
            ),
            owners,
        )


def _classify_speaker(turn: Turn, owners: set[str]) -> Turn:
    name = turn.speaker.casefold()
    sets = talk_words().sets
    return replace(
        turn,
        is_owner=turn.is_owner or name in owners or (not turn.is_assistant and name in sets["users"]),
        is_assistant=turn.is_assistant or name in sets["assistants"],
    )
