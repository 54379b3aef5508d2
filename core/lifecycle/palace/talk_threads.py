"""Threads of talk: turns about one matter one after the other, so that a reply lies where what it answers lies.

A turn goes on with what was said before it. It begins something else where it says so ("by the way"), where the turn
before asked for news ("what's up with you?"), where it answers no question and names things of which the turns before
named none, and after a long pause. Of a sample the turn before is the one before in the sample. Must not do: read a
vault, name a theme, or keep or log a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from core.lifecycle.palace.clarity import is_telling
from core.lifecycle.palace.room_choice import Numbers
from core.lifecycle.palace.room_texts import NamingText
from core.memory.landmark_words import strip_captions
from core.talk.turns import is_foreign
from core.text.life_topics import ENOUGH, read_topic_words, weigh_topic_words
from core.text.noun_phrases import Key
from core.text.terms import fold_width

NONE = -1
_REACH, _REACH_OF_MENTION = 12, 5
"""How far talk goes on with a turn of a theme, and with one that only mentions it."""
_CHEER_COSTS, _TURN_COSTS, _NEW_COSTS = 1, 2, 6
"""Of the reach a turn uses so much: one that names nothing, one that names what was named, and one that names only what
is new, which may lead elsewhere."""
_AHEAD = 2
"""So many turns before one of a theme lead there."""
_BESIDE = 2
"""Turns on each side of which the words tell what a turn is about."""
_SEEN = 3
"""A thing is new that so many turns before named none of."""
_NEWS = 2
"""Things that a turn names at least that speaks of something else without saying so."""
_END = 90
"""Characters at a turn's end in which it asks for news."""
_PAUSE_MS = 6 * 3_600_000
"""A messenger's conversation goes on for years: after so long another one begins."""
_HEAD = 600
"""Characters of a text in which it says what it is about."""


@dataclass(frozen=True, slots=True)
class TalkTurns:
    """Memories as turns of talk, each conversation together, in the order in which they were said.

    Attributes:
        talks: the conversation of each as a number; -1 for none.
        is_small: who is small talk.
        opens: who begins a matter; what is of no conversation always does.
        costs: how much of the reach of what was said before each uses.
    """

    talks: Numbers
    is_small: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    costs: Numbers


def order_by_talk(talks: Numbers) -> Numbers:
    """The order in which a conversation stands together, where its first turn stood; within it nothing moves.

    Several conversations that were going on at the same time come one turn of each after the other.

    Args:
        talks: the conversation of each memory as a number; -1 for none, which stays between the others.
    """
    _, first, which = np.unique(talks, return_index=True, return_inverse=True)
    return np.argsort(np.where(talks < 0, np.arange(len(talks)), first[which]), kind="stable")


def read_turns(
    texts: Sequence[NamingText | None], talks: Numbers, is_small: NDArray[np.bool_], silent: Collection[str]
) -> TalkTurns:
    """Where matters begin in talk.

    Args:
        texts: in the order in which they were said; None for one that tells nothing.
        silent: stems of the names of who speaks.
    """
    said = ["" if one is None else fold_width(strip_captions(one.text)).replace("’", "'").strip() for one in texts]
    told = [_telling_words(one, silent) for one in texts]
    opens = np.ones(len(texts), np.bool_)
    costs = np.ones(len(texts), np.int64)
    for place in range(1, len(texts)):
        if talks[place] < 0 or talks[place] != talks[place - 1]:
            continue
        is_new = not is_small[place] and _names_only_new(told, talks, place)
        is_answer = said[place - 1].endswith("?")
        costs[place] = _NEW_COSTS if is_new else _TURN_COSTS if told[place] else _CHEER_COSTS
        opens[place] = (
            _is_after_pause(texts[place - 1], texts[place])
            or _changes().search(said[place]) is not None
            or _asks().search(said[place - 1][-_END:]) is not None
            or (is_new and not is_answer and len(told[place]) >= _NEWS)
        )
    return TalkTurns(talks, is_small, opens, costs)


def _is_after_pause(before: NamingText | None, after: NamingText | None) -> bool:
    if before is None or after is None or before.at_ms is None or after.at_ms is None:
        return False
    return after.at_ms - before.at_ms > _PAUSE_MS


def _telling_words(one: NamingText | None, silent: Collection[str]) -> frozenset[Key]:
    return frozenset(phrase.key for phrase in one.phrases if is_telling(phrase, silent)) if one else frozenset()


def _names_only_new(told: Sequence[frozenset[Key]], talks: Numbers, place: int) -> bool:
    """Whether a turn names something, and nothing that a turn before it named."""
    before = range(max(0, place - _SEEN), place)
    seen = frozenset().union(*(told[other] for other in before if talks[other] == talks[place]))
    return bool(told[place]) and seen.isdisjoint(told[place])


def follow_threads(
    themes: Numbers,
    turns: TalkTurns,
    mentions: NDArray[np.bool_],
    origins: Numbers,
    carried: NDArray[np.bool_] | None = None,
) -> Numbers:
    """Let who has no theme lie with the turn before it that has one, else with the one after it, on the same matter.

    Args:
        themes: of each memory, or `NONE`.
        mentions: who only mentions its theme, so that little goes on with it.
        origins: of each statement the place of what it was made of; -1 for none.
        carried: who lies with its theme because of the turns around it, so that nothing goes on with it: else talk
            would be carried once as far as it may, and from there again.

    Returns:
        The theme of each memory, or `NONE`; who had one keeps it.
    """
    found = themes.copy()
    reach = np.where(mentions, _REACH_OF_MENTION, _REACH)
    if carried is not None:
        reach[carried] = 0
    for member in np.flatnonzero((themes == NONE) & (turns.talks >= 0)).tolist():
        before = _theme_before(themes, turns, reach, member)
        found[member] = before if before != NONE else _theme_after(themes, turns, reach, member)
    made = np.flatnonzero((found == NONE) & (origins >= 0))
    found[made] = found[origins[made]]
    return found


def _theme_before(themes: Numbers, turns: TalkTurns, reach: Numbers, member: int) -> int:
    used = 0
    for place in range(member - 1, -1, -1):
        used += int(turns.costs[place + 1])
        if used > _REACH or turns.opens[place + 1] or turns.talks[place] != turns.talks[member]:
            return NONE
        if themes[place] >= 0:
            return int(themes[place]) if used <= reach[place] else NONE
    return NONE


def _theme_after(themes: Numbers, turns: TalkTurns, reach: Numbers, member: int) -> int:
    """The theme that a turn leads to; greetings lead to whatever comes first."""
    talks = turns.talks
    is_greeting = bool(turns.is_small[: member + 1][talks[: member + 1] == talks[member]].all())
    for place in range(member + 1, min(len(themes), member + _AHEAD + 1)):
        if talks[place] != talks[member] or (turns.opens[place] and not is_greeting):
            return NONE
        if themes[place] >= 0:
            return int(themes[place]) if reach[place] else NONE
    return NONE


def gather_topics(texts: Sequence[NamingText | None], turns: TalkTurns) -> list[tuple[str, bool] | None]:
    """The topic of life of each memory: the one that its words and those of the turns beside it tell best.

    Args:
        texts: in the order in which they were said; None for one that tells nothing.

    Returns:
        The topic, and whether its words are just enough, so that it may be mentioned in passing; None for one that has
        no word of a topic, or in which two are told as well, or in a language other than English, where a "chef"
        may be the head of a firm.
    """
    heads = ["" if one is None else strip_captions(one.text)[:_HEAD] for one in texts]
    words = [read_topic_words(head) for head in heads]
    found: list[tuple[str, bool] | None] = []
    for place, own in enumerate(words):
        beside = _turns_beside(turns, place) if own else []
        # A short turn has too few words to tell its language by; those beside it tell it.
        if own and (is_foreign(heads[place]) or is_foreign("\n".join(heads[at] for at in sorted([*beside, place])))):
            own = {}
        ranked = []
        for topic, told in own.items():
            weight = weigh_topic_words(topic, told)
            # Each word once: whoever takes up the other's word tells no more of the topic.
            every = weigh_topic_words(topic, told.union(*(words[other].get(topic, ()) for other in beside)))
            if every >= ENOUGH:
                ranked.append((every + weight, topic, every == ENOUGH))
        ranked.sort(reverse=True)
        is_sure = bool(ranked) and (len(ranked) == 1 or ranked[0][0] > ranked[1][0])
        found.append(ranked[0][1:] if is_sure else None)
    return found


def _turns_beside(turns: TalkTurns, place: int) -> list[int]:
    """The turns beside one that are on the same matter."""
    found: list[int] = []
    if turns.talks[place] < 0:
        return found
    for other in range(place - 1, max(-1, place - _BESIDE - 1), -1):
        if turns.opens[other + 1] or turns.talks[other] != turns.talks[place]:
            break
        found.append(other)
    for other in range(place + 1, min(len(turns.talks), place + _BESIDE + 1)):
        if turns.opens[other] or turns.talks[other] != turns.talks[place]:
            break
        found.append(other)
    return found


@cache
def _changes() -> re.Pattern[str]:
    # Only where a sentence begins, also behind an emoji: "Thanks anyway!" goes on with what it answers.
    begin = r"(?:^|[^\w\s,;:'\"-]\s+|\n\s*)"
    return re.compile(rf"{begin}(?:{_any_of('leads')}[,\s]+)?{_any_of('changes')}\b", re.IGNORECASE)


@cache
def _asks() -> re.Pattern[str]:
    return re.compile(rf"\b{_any_of('asks')}\b[^.!?]*\?", re.IGNORECASE)


def _any_of(kind: str) -> str:
    told = json.loads((files("resources") / "palace" / "talk_turns.json").read_text("utf-8"))[kind]
    return f"(?:{'|'.join(map(re.escape, told))})"
