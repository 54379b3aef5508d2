"""Statements of a few lines of talk, read as if every sentence stated something."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.talk.statements import distill_conversation
from core.talk.turns import EpisodeText, read_turns
from core.types.talk import Assertion, ConversationStatements, Reading, SentenceInContext, StatementType

SAID_MS = int(datetime(2025, 3, 3, 12, tzinfo=UTC).timestamp() * 1000)
Line = tuple[str, str]


def read_as_told(said: Sequence[SentenceInContext]) -> list[Reading]:
    """Reads every sentence as one that states something."""
    return [Reading(StatementType.ATTRIBUTE, 1.0, Assertion.YES, 1.0, 1.0, 2.0) for _ in said]


def distill_lines(*lines: Line) -> ConversationStatements:
    """Distil lines of speaker and text, all of 3 March 2025; their episodes are e0, e1 and so on."""
    episodes = [EpisodeText(f"e{n}", text, speaker, SAID_MS) for n, (speaker, text) in enumerate(lines)]
    return distill_conversation(read_turns(episodes), read_as_told)


def statements_of(*lines: Line) -> list[str]:
    """The texts of their statements."""
    return [one.text for one in distill_lines(*lines).statements]
