"""Runs of words that a value may be: names, noun phrases, lists."""

from __future__ import annotations

from collections.abc import Callable

from core.belief.extract.tokens import TokenizedSentence
from core.belief.extract.vocabulary import word_lists

Run = tuple[int, int]
"""A first token and the one behind the last."""

_MOST = 14


def skip(sentence: TokenizedSentence, i: int, name: str = "det") -> int:
    """Step over words of a list."""
    found = word_lists().sets[name]
    while i < len(sentence.lows) and (sentence.lows[i] in found or sentence.lows[i] in ("'", '"', "“", "‘")):
        i += 1
    return i


def capital_run(sentence: TokenizedSentence, i: int, links: frozenset[str]) -> int:
    """Where a run of capitalised words ends that begins at `i`; `i` itself if none does."""
    tokens, lows = sentence.tokens, sentence.lows
    j = i
    while j < len(tokens) and j - i < 8 and not tokens[j].hidden:
        token = tokens[j]
        named = token.cap or (j > i and token.text[:1].isdigit())
        step = 1 if named else _link(sentence, i, j, links)
        if not step:
            break
        if named and lows[j] in ("i", "we") and j > i:
            break
        j += step
    while j > i and lows[j - 1] in links:
        j -= 1
    return j


def _link(sentence: TokenizedSentence, i: int, j: int, links: frozenset[str]) -> int:
    """How many words join the capitals before and behind them; 0 for none."""
    tokens, lows = sentence.tokens, sentence.lows
    if j == i:
        return 0
    if lows[j] == "." and lows[j - 1] in ("st", "dr", "mt", "ft") and j + 1 < len(tokens):
        return 1
    if lows[j] == "'s":
        following = tokens[j + 1] if j + 1 < len(tokens) else None
        return 1 if following is None or following.cap or not following.word else 0
    for width in (1, 2):
        behind = j + width
        if behind < len(tokens) and all(low in links for low in lows[j:behind]):
            if tokens[behind].cap and not tokens[behind].hidden and lows[behind] not in ("i", "we"):
                return width
        else:
            break
    return 0


def noun_run(
    sentence: TokenizedSentence, i: int, *, stop: frozenset[str] = frozenset(), most: int = _MOST
) -> Run | None:
    """A noun phrase: without its article, up to a mark, a joining word, a word of `stop` or a phrase of time.

    Args:
        i: where it may begin.
        stop: further words that end it.
        most: how many words it may have.

    Returns:
        Its place; None where none begins.
    """
    i = skip(sentence, i)
    lows, tokens, lists = sentence.lows, sentence.tokens, word_lists()
    if i >= len(tokens) or lows[i] in lists.sets["stop"] or not tokens[i].word or lows[i] in stop:
        return None
    j = i
    while j < len(tokens) and j - i <= most and _goes_on(sentence, i, j) and lows[j] not in stop:
        j += 1
    if j - i > most:
        return None
    j = trim_phrase(sentence, i, j)
    return (i, j) if j > i else None


def _goes_on(sentence: TokenizedSentence, i: int, j: int) -> bool:
    token, low = sentence.tokens[j], sentence.lows[j]
    if token.hidden or low in word_lists().sets["and"] or low == "but":
        return False
    if not token.word and low not in word_lists().sets["marks_inside"] and token.text not in ("’s",):
        return False
    if low == "-" and sentence.text[token.start - 1 : token.start].isspace():
        return False
    if low in ("'", "/") and j + 1 >= len(sentence.tokens):
        return False
    return j == i or not word_lists().cut(sentence.lows, j)


def trim_phrase(sentence: TokenizedSentence, i: int, j: int) -> int:
    """Leave out adverbs, prepositions and marks at the end of a phrase, and `two winters` before `ago`."""
    lists = word_lists()
    if j < len(sentence.lows) and sentence.lows[j] == "ago" and j - i > 2:
        j -= 2
    while j > i + 1 and (
        sentence.lows[j - 1] in lists.sets["adverb"]
        or sentence.lows[j - 1] in word_lists().sets["prepositions"]
        or sentence.lows[j - 1] in lists.sets["det"]
        or sentence.lows[j - 1] in word_lists().sets["trimmed"]
    ):
        j -= 1
    return j


def split_runs(
    sentence: TokenizedSentence, i: int, one: Callable[[TokenizedSentence, int], Run | None], *, label: bool = False
) -> list[Run]:
    """A list of values: `a`, `a and b`, `a, b and c`; behind a label also `a, b`.

    Args:
        i: where it begins.
        one: reads a single value at a place.
        label: whether commas alone make a list.

    Returns:
        The places of its values.
    """
    first = one(sentence, i)
    if first is None:
        return []
    found = [first]
    closed = label
    lows = sentence.lows
    j = first[1]
    while j < len(lows) and len(found) < 8:
        j, joined, comma = _joint(sentence, j, label=label)
        if not (joined or comma):
            break
        run = one(sentence, j) if j < len(lows) else None
        if run is None or not _an_item(sentence, run, j):
            break
        if joined:
            closed = True
        found.append(run)
        j = run[1]
    return found if closed else found[:1]


def _joint(sentence: TokenizedSentence, j: int, *, label: bool) -> tuple[int, bool, bool]:
    lows = sentence.lows
    joined = comma = False
    while j < len(lows) and (
        lows[j] == "," or lows[j] in word_lists().sets["and"] or (label and lows[j] in (";", "/", "+", "|"))
    ):
        joined = joined or lows[j] in word_lists().sets["and"]
        comma = comma or lows[j] not in word_lists().sets["and"]
        j += 1
    if lows[j : j + 3] == ["as", "well", "as"]:
        return j + 3, True, comma
    return j, joined, comma


def _an_item(sentence: TokenizedSentence, run: Run, at: int) -> bool:
    """Whether a run is one more value and not the beginning of another clause."""
    lists, lows = word_lists(), sentence.lows
    if lows[at] in word_lists().sets["an_item"]:
        return False
    if any(low in lists.sets["finite"] for low in lows[run[0] : run[1]]):
        return False
    behind = lows[run[1]] if run[1] < len(lows) else "."
    return behind not in lists.sets["finite"] and behind not in ("also", "never", "always") and run[1] - run[0] <= 6


def head_of(sentence: TokenizedSentence, run: Run) -> str:
    """The noun a phrase is about: its last word, before any preposition."""
    for place in range(run[0] + 1, run[1]):
        if sentence.lows[place] in word_lists().sets["prepositions"]:
            return sentence.lows[place - 1]
    return sentence.lows[run[1] - 1]


def before_preposition(sentence: TokenizedSentence, run: Run, keep: frozenset[str] = frozenset(("of",))) -> Run:
    """Cut a phrase before its first preposition."""
    for place in range(run[0] + 1, run[1]):
        if sentence.lows[place] in word_lists().sets["prepositions"] and sentence.lows[place] not in keep:
            return (run[0], trim_phrase(sentence, run[0], place))
    return run


def clean_run(sentence: TokenizedSentence, run: Run | None) -> Run | None:
    """A run, unless it holds words that point at the listener or at what was said."""
    pointing = word_lists().sets["clean.pointing"]
    return None if run is None or any(low in pointing for low in sentence.lows[run[0] : run[1]]) else run
