"""What is read in talk and made of it: turns, what a reader says of a sentence, and statements.

Must not do: decide anything; frozen values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class StatementType(StrEnum):
    """What a sentence is about; `none` where it states nothing."""

    ATTRIBUTE = "attribute"
    RELATIONSHIP = "relationship"
    PREFERENCE = "preference"
    POSSESSION = "possession"
    HEALTH = "health"
    WORK = "work"
    PLACE = "place"
    PLAN = "plan"
    EVENT = "event"
    HABIT = "habit"
    SKILL = "skill"
    OPINION = "opinion"
    NONE = "none"


class Assertion(StrEnum):
    """How a sentence stands to what it says; only `yes` and `negated` state it."""

    YES = "yes"
    NEGATED = "negated"
    QUESTION = "question"
    WISH = "wish"
    HYPOTHESIS = "hypothesis"
    JOKE = "joke"
    QUOTED = "quoted"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, or one note.

    Attributes:
        episode_id: of the memory that holds it.
        speaker: a name; "" where nobody is known to speak.
        text: without the speaker's name.
        start: where `text` begins in the memory's text.
        said_ms: epoch ms, null where the source does not say.
        is_owner: whether the speaker is the owner of the vault.
        is_assistant: whether an assistant speaks, whose words state nothing of the person.
        gender: of the speaker, `f` or `m`, where another talk tells it; "" elsewhere.
    """

    episode_id: str
    speaker: str
    text: str
    start: int = 0
    said_ms: int | None = None
    is_owner: bool = False
    is_assistant: bool = False
    gender: str = ""


@dataclass(frozen=True, slots=True)
class SentenceInContext:
    """A sentence with what was said just before it.

    Attributes:
        text: the sentence.
        before: the last turn of somebody else as "Name: text", then the sentences of this turn so far; oldest first.
    """

    text: str
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader model says of one sentence; shares are calibrated, 0 to 1.

    Attributes:
        type: the likeliest type.
        statement: how likely the sentence states something worth keeping (a type, asserted or negated).
        assertion: the likeliest.
        asserted: how likely it is `yes` or `negated`.
        lasting: how likely it is of use in a month.
        worth: expected worth, 0 nothing to 3 important.
        spans: `subject`, `property`, `value`, `time` as (from, to) characters of the sentence, where they stand.
    """

    type: StatementType
    statement: float
    assertion: Assertion
    asserted: float
    lasting: float
    worth: float
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statement:
    """A self-contained sentence in the third person, made of the words of one episode.

    Attributes:
        text: the sentence.
        about: the name of whom or what it tells; of the owner `You`.
        type: never `none`.
        is_lasting: likely of use in a month.
        confidence: how sure reading and rewriting are, 0 to 1.
        episode_id: where it was said.
        span: (from, to) characters of the episode's text.
        said_ms: when; null where the source does not say.
    """

    text: str
    about: str
    type: StatementType
    is_lasting: bool
    confidence: float
    episode_id: str
    span: tuple[int, int]
    said_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationStatements:
    """What a conversation gives.

    Attributes:
        statements: in the order of the talk.
        small_talk: ids of the episodes that hold nothing worth keeping.
        skipped: how many sentences were left out, by reason.
    """

    statements: tuple[Statement, ...]
    small_talk: tuple[str, ...]
    skipped: Mapping[str, int]
