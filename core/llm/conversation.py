"""A conversation about memories, as a language model reads it and as its answer is read: pure text and arithmetic.

`loci chat` and the Ask page lay a prompt out by these functions. Sources are numbered in the order of the fenced
context, and `[2]` in an answer is a citation of the second. Must not do: ask a model, let a memory's words stand
outside their fence, or take a number for a citation that names no source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.types.sessions import Exchange

WINDOW = 8_192
"""Tokens a model is asked to read at once, or what it can where that is less: more takes the machine's memory."""

CHAT_ANSWER_BYTES = 64 * 1024
"""Of the words of one answer in a conversation."""

_LEAST_WINDOW = 512
_OCTETS_A_TOKEN = 3
_ANSWER_SHARE = 4
_BUDGET_SHARE = 0.12
_OPENING = re.compile(r'<memory id="([^"<>]*)"')
_GROUP = re.compile(r"\[ ?\d{1,3}(?:(?:, ?|; ?| )\d{1,3})* ?\]", re.ASCII)
_SPACED_GROUP = re.compile(f" ?{_GROUP.pattern}", re.ASCII)
_NUMBER = re.compile(r"\d{1,3}", re.ASCII)


def fit_window(model_info: object) -> int:
    """Tokens that a model reads at once here: what it can, up to `WINDOW`.

    Args:
        model_info: what the server says of the model, keys such as `llama.context_length`; anything else says nothing.

    Returns:
        512 to 8192.
    """
    lengths = [
        value
        for name, value in (model_info.items() if isinstance(model_info, dict) else ())
        if str(name).endswith(".context_length") and isinstance(value, int) and value >= _LEAST_WINDOW
    ]
    return min([WINDOW, *lengths])


def memory_budget(window: int) -> int:
    """Tokens that memories may have: 12 % of what the model reads at once, the share of `turn_begin` itself."""
    return int(window * _BUDGET_SHARE)


def answer_budget(window: int) -> int:
    """Tokens that are left for the answer: a quarter of what the model reads at once."""
    return window // _ANSWER_SHARE


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few: one for three octets of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) // _OCTETS_A_TOKEN)


def build_messages(
    instructions: str, context: str, prompt: str, said: Sequence[Exchange], window: int
) -> list[dict[str, str]] | None:
    """Put together what the model reads; the oldest turns are left out first.

    Args:
        instructions: what stands before all memory text.
        context: the fenced memories; "" for none.
        prompt: the person's words.
        said: the turns before it, oldest first.
        window: tokens the model reads at once; a quarter is left for its answer.

    Returns:
        Messages, the newest last; None where the prompt alone is too much.
    """
    system = "\n\n".join(part for part in (instructions, context) if part)
    left = window - answer_budget(window) - estimate_tokens(system) - estimate_tokens(prompt)
    if left < 0:
        return None
    kept: list[Exchange] = []
    for turn in reversed(said):
        left -= estimate_tokens(turn.user) + estimate_tokens(turn.assistant)
        if left < 0:
            break
        kept.insert(0, turn)
    lines = [{"role": "system", "content": system}]
    for turn in kept:
        lines += [{"role": "user", "content": turn.user}, {"role": "assistant", "content": turn.assistant}]
    return [*lines, {"role": "user", "content": prompt}]


def number_sources(context: str) -> tuple[str, tuple[str, ...]]:
    """Give each memory of a context a number instead of its id: a model can write `[3]`, and hardly a UUID.

    Args:
        context: fenced text; no memory can hold an opening tag, its `<` is escaped.

    Returns:
        The text with `<memory number="1" ...>`, and the ids in the order of their numbers.
    """
    ids: list[str] = []

    def number_tag(found: re.Match[str]) -> str:
        ids.append(found.group(1))
        return f'<memory number="{len(ids)}"'

    return _OPENING.sub(number_tag, context), tuple(ids)


@dataclass(frozen=True, slots=True)
class AnswerSegment:
    """A run of an answer.

    Attributes:
        source: the number of the source it cites, from 1; None for plain text.
    """

    text: str
    source: int | None = None


def split_citations(answer: str, sources: Container[int]) -> tuple[AnswerSegment, ...]:
    """Cut an answer into plain text and citations such as `[1]` and `[2, 5]`.

    Args:
        sources: their numbers; another number stays plain text.

    Returns:
        Segments that joined are the answer, character by character.
    """
    found: list[AnswerSegment] = []
    at = 0
    for group in _GROUP.finditer(answer):
        _append_text(found, answer[at : group.start()])
        found += _split_group(group.group(), sources)
        at = group.end()
    _append_text(found, answer[at:])
    return tuple(found)


def cited_sources(answer: str, sources: Container[int]) -> tuple[int, ...]:
    """The numbers an answer cites, in the order in which they come first."""
    return tuple(dict.fromkeys(one.source for one in split_citations(answer, sources) if one.source is not None))


def remove_citations(answer: str, sources: Container[int]) -> str:
    """An answer without its citations, for another turn in which the numbers mean other memories.

    Args:
        sources: the numbers of what it was given.
    """

    def remove_group(group: re.Match[str]) -> str:
        numbers = (int(number) for number in _NUMBER.findall(group.group()))
        return "" if all(number in sources for number in numbers) else group.group()

    # Again, until nothing changes: "[[1]2]" holds a second citation once the first is gone.
    while (plain := _SPACED_GROUP.sub(remove_group, answer)) != answer:
        answer = plain
    return answer


def _append_text(found: list[AnswerSegment], text: str) -> None:
    if text:
        found.append(AnswerSegment(text))


def _split_group(group: str, sources: Container[int]) -> list[AnswerSegment]:
    """A bracketed list of numbers; the brackets belong to the first and the last of them."""
    numbers = list(_NUMBER.finditer(group))
    found: list[AnswerSegment] = []
    at = 0
    for place, number in enumerate(numbers):
        start = 0 if place == 0 else number.start()
        end = len(group) if place == len(numbers) - 1 else number.end()
        _append_text(found, group[at:start])
        value = int(number.group())
        found.append(AnswerSegment(group[start:end], value if value in sources else None))
        at = end
    return found


def words_to_search(question: str, before: str) -> str:
    """What a question is searched by: where it goes on with the one before, the words of both.

    Args:
        question: as it was asked.
        before: the question before it; "" for none.

    Returns:
        The words; the question's own where it stands by itself.
    """
    return f"{before[:_MOST_BEFORE]}\n{question}" if before and is_follow_up(question) else question


def is_follow_up(question: str) -> bool:
    """Whether a question only makes sense behind another one.

    A whole question with a name or a subject of its own is searched by its own words alone, however short it is: the
    words of the one before would find that one's answer again.
    """
    rules = _follow_up_rules()
    spelled = _WORD.findall(question)
    words = [word.casefold() for word in spelled]
    if f"{' '.join(words)} ".startswith(rules.openers):
        return True
    names = [at for at, word in enumerate(spelled) if at and word[0].isupper() and word not in rules.no_names]
    if any(word in rules.pronouns and not (names and names[0] < at) for at, word in enumerate(words)):
        return True
    if names:
        return False
    return any(rules.points_back(words, at) for at in range(len(words))) or rules.is_fragment(words)


@dataclass(frozen=True, slots=True)
class _FollowUpRules:
    """The words of `resources/query/follow_up.json`."""

    few: int
    openers: tuple[str, ...]
    pronouns: frozenset[str]
    pointers: frozenset[str]
    demonstratives: frozenset[str]
    demonstratives_point_after: frozenset[str]
    periods: frozenset[str]
    auxiliaries: frozenset[str]
    no_names: frozenset[str]

    def points_back(self, words: Sequence[str], at: int) -> bool:
        """Whether a word stands for something said before: not "this week", nor the "that" of a relative clause."""
        word = words[at]
        if word in self.demonstratives:
            return at > 0 and words[at - 1] in self.demonstratives_point_after
        is_period = at + 1 < len(words) and words[at + 1].removesuffix("s") in self.periods
        return word in self.pointers and not is_period

    def is_fragment(self, words: Sequence[str]) -> bool:
        """Whether few words are no whole question: nothing stands behind a verb ("Since when?")."""
        # "What's the code?": the verb hangs on the first word.
        verbs = [at for at, word in enumerate(words) if word in self.auxiliaries or (at == 0 and word[-2:] in _IS)]
        return len(words) <= self.few and not (verbs and verbs[0] + 1 < len(words))


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_IS = ("'s", "’s")
_MOST_BEFORE = 500
"""Characters of the question before; more would drown what is asked now."""


@cache
def _follow_up_rules() -> _FollowUpRules:
    data = json.loads((files("resources") / "query" / "follow_up.json").read_text("utf-8"))
    openers = tuple(f"{opener} " for opener in data["openers"])
    sets = {name: frozenset(words) for name, words in data.items() if isinstance(words, list) and name != "openers"}
    return _FollowUpRules(few=int(data["few"]), openers=openers, **sets)
