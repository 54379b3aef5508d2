"""What a model is asked about episodes: what in them is worth knowing for long (seed B, LLM consolidation pipeline).

Episodes and known memories stand in fences, escaped, and nothing that they say stands outside of one. Must not do: cut
an episode, or show more than fits into the model's window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.prompts import Prompt, escape_fences, instructions
from core.text.times import format_time
from core.types.values import Precision, When

MOST_FACTS, MOST_RULES = 100, 50
"""Known memories that are shown at most (seed B)."""

EPISODES_BYTES = 10_000
"""Room for the episodes of one question; a part of a split text (8 KiB) has room alone, unless it is full of marks."""

KNOWN_BYTES = 6_000
"""Room for what is known. Three bytes are a token or less, ids more: all of it stays well under 8,192 tokens."""

_STATEMENTS_BYTES = 12_000
_SURE_SIGNS = 40


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """A memory as a model is shown it.

    Attributes:
        id: a UUID; of an episode it is not shown.
        at_ms: when it was said, epoch ms; None for what is known.
    """

    id: str
    text: str
    at_ms: int | None = None


def count_fitting(episodes: Sequence[ShownMemory]) -> int:
    """How many episodes fit into one question, from the first on; each whole.

    Args:
        episodes: in their order.

    Returns:
        0 where not even the first fits.
    """
    room = EPISODES_BYTES
    for count, episode in enumerate(episodes):
        room -= _size(_episode(count + 1, episode))
        if room < 0:
            return count
    return len(episodes)


def distill_prompt(
    episodes: Sequence[ShownMemory], facts: Sequence[ShownMemory], rules: Sequence[ShownMemory]
) -> Prompt:
    """Ask what episodes tell that is not known yet.

    Args:
        episodes: such as `count_fitting` lets in.
        facts: known facts of the same space; the first count most.
        rules: known rules likewise.

    Returns:
        The question.
    """
    known = [*_within("fact", facts[:MOST_FACTS], KNOWN_BYTES), *_within("rule", rules[:MOST_RULES], KNOWN_BYTES // 3)]
    told = [_episode(place + 1, one) for place, one in enumerate(episodes)]
    return Prompt("distill", instructions("distill"), "\n".join(["<known>", *known, "</known>", *told]))


def shown_ids(prompt: Prompt, memories: Sequence[ShownMemory]) -> frozenset[str]:
    """Which of the known memories stand in a question: no other id in its answer means anything.

    Args:
        prompt: from `distill_prompt`.
        memories: the facts, or the rules, it was made with.

    Returns:
        Ids.
    """
    return frozenset(one.id for one in memories if f' id="{one.id}">' in prompt.user)


def reword_prompt(statements: Sequence[str]) -> Prompt | None:
    """Ask for statements to be said in one short paragraph.

    Args:
        statements: sentences.

    Returns:
        The question; None where they are too many for one.
    """
    user = "\n".join(f"<statement>\n{escape_fences(one)}\n</statement>" for one in statements)
    return None if _size(user) > _STATEMENTS_BYTES else Prompt("reword", instructions("reword"), user)


def _episode(number: int, episode: ShownMemory) -> str:
    day = None if episode.at_ms is None else format_time(When(episode.at_ms, Precision.DAY))
    said = "" if day is None else f' said="{day}"'
    return f'<episode_content id="{number}"{said}>\n{escape_fences(episode.text)}\n</episode_content>'


def _within(name: str, memories: Sequence[ShownMemory], room: int) -> list[str]:
    """Memories that fit, each whole; a long one is passed over for those behind it."""
    kept: list[str] = []
    for one in memories:
        line = f'<{name} id="{one.id}">{escape_fences(one.text)}</{name}>'
        if _size(line) + _SURE_SIGNS <= room:
            room -= _size(line) + _SURE_SIGNS
            kept.append(line)
    return kept


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
