"""Which parts of a text speak about the world: not questions, commands, suppositions or stories."""

from __future__ import annotations

from core.belief.extract.tokens import TokenizedSentence
from core.belief.extract.vocabulary import phrase_at, word_lists


def hide_unreal(sentence: TokenizedSentence) -> bool:
    """Hide the words of a sentence that claim nothing about the world.

    Args:
        sentence: the sentence; its hidden words are set.

    Returns:
        Whether it is part of a story, so that the sentences behind it are, too.
    """
    begin, end = sentence.begin, len(sentence.tokens)
    if begin >= end:
        return False
    if _somewhere(sentence, "fiction", begin) is not None:
        _hide(sentence, 0, end)
        return True
    _hide(sentence, *_question(sentence, begin, end))
    if _commands(sentence, begin):
        _hide(sentence, 0, _own_clause(sentence, begin))
    place = _somewhere(sentence, "hypothetical", begin)
    if place is not None:
        _hide(sentence, _clause_start(sentence, place), end)
    return False


def _hide(sentence: TokenizedSentence, first: int, after: int) -> None:
    for token in sentence.tokens[first:after]:
        token.hidden = True


def _somewhere(sentence: TokenizedSentence, kind: str, begin: int) -> int | None:
    table = word_lists().moods[kind]
    return next(
        (
            i
            for i in range(begin, len(sentence.lows))
            if sentence.lows[i] in table and phrase_at(table, sentence.lows, i)
        ),
        None,
    )


def _question(sentence: TokenizedSentence, begin: int, end: int) -> tuple[int, int]:
    """What of a sentence is asked: all of it, or only its last clause ("I'm vegan, can you ...?")."""
    lows = sentence.lows
    last = next((low for low in reversed(lows) if low not in word_lists().sets["question"]), "")
    opens = lows[begin] in word_lists().sets["asking"]
    if last != "?":
        return (0, end) if opens and lows[begin] not in ("will", "may", "any") else (0, 0)
    if lows[begin] in word_lists().sets["questions"]:
        return (0, end)
    for i in range(end - 1, begin, -1):
        if lows[i - 1] in word_lists().sets["breaks"] | {"and", "so", "but"} and lows[i] in word_lists().sets[
            "questions"
        ] | {
            "so",
            "any",
            "is",
        }:
            return (i, end)
    return (0, end)


def _commands(sentence: TokenizedSentence, begin: int) -> bool:
    lows = sentence.lows
    if lows[begin] not in word_lists().sets["commands"]:
        return False
    behind = lows[begin + 1 : begin + 5]
    if lows[begin] in word_lists().sets["commandfree"] and ("me" in behind[:2] or "us" in behind[:2]):
        return False
    if behind[:1] in ([":"], ["="], ["'s"]) or (
        lows[begin] in word_lists().sets["commands"] and any(low in word_lists().sets["noun_tells"] for low in behind)
    ):
        return False
    return not any(low in ("is", "are", "was", "must") for low in behind[:2])


def _own_clause(sentence: TokenizedSentence, begin: int) -> int:
    """Where the speaker begins to tell of themself behind a command."""
    lows = sentence.lows
    for i in range(begin + 1, len(lows)):
        if lows[i] in word_lists().sets["own"] and lows[i - 1] in word_lists().sets["breaks"] | {
            "because",
            "since",
            "as",
        }:
            return i
    return len(lows)


def _clause_start(sentence: TokenizedSentence, place: int) -> int:
    i = place
    while i > 0 and sentence.lows[i - 1] not in word_lists().sets["breaks"] | {"but"}:
        i -= 1
    if sentence.lows[place] in ("if", "unless", "whether", "as") and i > 0:
        return place
    joined = sentence.lows[place] in word_lists().sets["clause_start"]
    return place if joined and i == sentence.begin and place > sentence.begin else i
