"""What a model is given to read: who it is, what is remembered, what was said, within what it can take. Pure.

Must not do: change a word of the context, which comes fenced from the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.chat.words import counted, words

_OCTETS_A_TOKEN = 3
_ANSWER_SHARE = 4
_BUDGET_SHARE = 0.12


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said in one turn.

    Attributes:
        user: by the person.
        assistant: by the model, as far as it came.
    """

    user: str
    assistant: str


@dataclass(frozen=True, slots=True)
class Given:
    """What the model was given for a turn.

    Attributes:
        prompt: the person's words.
        reply: of `turn_begin`; empty where the memories could not be reached.
        reason: why they could not; "" where they could.
    """

    prompt: str
    reply: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def context(self) -> str:
        """The fenced text; "" where there is none."""
        return str(self.reply.get("text", ""))

    @property
    def turn(self) -> str | None:
        """What `turn_end` takes."""
        return self.reply.get("turn")


def budget_of(window: int) -> int:
    """Tokens that memories may have: 12 % of what the model reads at once, the share of `turn_begin` itself."""
    return int(window * _BUDGET_SHARE)


def tokens_of(text: str) -> int:
    """About how many tokens a text has, rather too many than too few: one for three octets of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // _OCTETS_A_TOKEN)


def messages_for(given: Given, said: Sequence[Turn], window: int) -> list[dict[str, str]] | None:
    """Put together what the model reads; the oldest turns are left out first.

    Args:
        given: the new turn.
        said: the turns before it, oldest first.
        window: tokens the model reads at once; a quarter is left for its answer.

    Returns:
        Messages, the newest last; None where the prompt alone is too much.
    """
    system = "\n\n".join(part for part in (str(words()["system"]), given.context) if part)
    left = window - window // _ANSWER_SHARE - tokens_of(system) - tokens_of(given.prompt)
    if left < 0:
        return None
    kept: list[Turn] = []
    for turn in reversed(said):
        left -= tokens_of(turn.user) + tokens_of(turn.assistant)
        if left < 0:
            break
        kept.insert(0, turn)
    told = [{"role": "system", "content": system}]
    for turn in kept:
        told += [{"role": "user", "content": turn.user}, {"role": "assistant", "content": turn.assistant}]
    return [*told, {"role": "user", "content": given.prompt}]


def left_out(reply: Mapping[str, Any]) -> str:
    """Why memories were left out of a context, with how many for each reason; "" where none was."""
    counts: dict[str, int] = {}
    for one in reply.get("excluded_reasons", ()):
        counts[str(one["reason"])] = counts.get(str(one["reason"]), 0) + 1
    return ", ".join(f"{counted(number, 'memory', 'memories')} ({reason})" for reason, number in counts.items())
