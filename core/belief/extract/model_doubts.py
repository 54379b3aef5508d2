"""What the claim model reads and the words around it tell against: how sure the model is does not matter.

A date is nobody's birthday without a word of birth, who is wanted as an editor is none yet, and what somebody looks
into is not what they study. Also of whom a claim is whose subject stands in an apposition. The words are
`resources/claims/doubts.json`. Must not do: read a claim, or doubt what rules read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from core.belief.extract.claim_model import ReadValue
from core.belief.extract.facts import is_day_of_birth
from core.belief.extract.frames import USER, Subject, read_left_context
from core.belief.extract.sentence import (
    Run,
    TokenizedSentence,
    claim_word_lists,
    load_vocabulary_file,
    phrase_at,
    phrases_by_first_word,
)

_BEFORE_ROLE = 4
"""Words that may stand between "as" and a job: "as a part-time map editor"."""
_BEFORE_SUBJECT, _BEHIND_SUBJECT = 4, 5
"""Words of an apposition on either side of the name in it: "the mother of Wilf", "Wilf's oldest friend"."""
_MARKS = frozenset((",", ";", ":", "(", ")", "–", "—"))
_COMMA, _AS, _TO = ",", "as", "to"


def is_doubtful(one: ReadValue, sentence: TokenizedSentence) -> bool:
    """Whether the words around a value of the model's tell that it is not so.

    Args:
        one: the value; its places are counted from where the sentence begins.
        sentence: the sentence it was found in.
    """
    check = _CHECKS.get(one.predicate)
    run = _tokens_of(sentence, one.value)
    return check is not None and run is not None and check(one, sentence, run)


def find_head_of_apposition(one: ReadValue, sentence: TokenizedSentence) -> Subject | None:
    """Whom an apposition describes that the model takes the subject from: Amina, in "Amina, Wilf's mother, is ...".

    Args:
        one: a value of the model's; its places are counted from where the sentence begins.
        sentence: the sentence it was found in.

    Returns:
        The subject before the first comma; None where the subject stands in no apposition.
    """
    run = None if one.subject is None else _tokens_of(sentence, one.subject)
    value = _tokens_of(sentence, one.value)
    if run is None or value is None:
        return None
    lows = sentence.lows
    opening = next((n for n in range(run[0] - 1, max(0, run[0] - 1 - _BEFORE_SUBJECT), -1) if lows[n] == _COMMA), 0)
    behind = range(run[1], min(run[1] + _BEHIND_SUBJECT, value[0]))
    closing = next((n for n in behind if lows[n] == _COMMA), 0)
    if not opening or not closing:
        return None
    head = read_left_context(sentence, closing + 1).subject
    return head if head is not None and head.after <= opening else None


def _tokens_of(sentence: TokenizedSentence, span: tuple[int, int]) -> Run | None:
    """The tokens in characters of a sentence."""
    start, end = (sentence.start + place for place in span)
    inside = [n for n, token in enumerate(sentence.tokens) if token.start < end and token.end > start]
    return (inside[0], inside[-1] + 1) if inside else None


@cache
def _doubt_words() -> Mapping[str, frozenset[str]]:
    loaded = load_vocabulary_file("doubts.json")
    return {name: frozenset(found.split()) for name, found in loaded.items() if isinstance(found, str)}


@cache
def _doubt_phrases(name: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    return phrases_by_first_word(load_vocabulary_file("doubts.json")[name])


def _phrases_in(lows: Sequence[str], name: str) -> list[Run]:
    """Where phrases of a list stand."""
    table = _doubt_phrases(name)
    return [(at, at + length) for at, low in enumerate(lows) if low in table and (length := phrase_at(table, lows, at))]


def _is_own_subject(one: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether a relative of the speaker's is whom the sentence is about, and the speaker takes no part in it.

    "Melanie has been married for years" names no partner of hers, and is nobody's word about the speaker.
    """
    known, after = claim_word_lists().sets, run[1]
    if one.subject is not None or (known["first_person"] | {USER}).intersection(sentence.lows):
        return False
    while after < len(sentence.lows) and sentence.lows[after] in known["adverb"] - known["finite"]:
        after += 1
    return after < len(sentence.lows) and sentence.lows[after] in known["finite"] | known["plain_past"]


def _is_other_day(_: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether no word of birth belongs to a date."""
    return not any(
        is_day_of_birth(sentence, (min(after, run[1]), max(first, run[0])))
        for first, after in _phrases_in(sentence.lows, "birth")
    )


def _is_wanted_only(one: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether somebody is only wanted for a job, or the claim is about who gives it."""
    lows = sentence.lows
    place = next((n for n in range(run[0] - 1, max(0, run[0] - 1 - _BEFORE_ROLE), -1) if lows[n] == _AS), 0)
    wanting = {first for first, _ in _phrases_in(lows[:place], "wanting")}
    for at in range(place - 1, sentence.begin - 1, -1):
        if at in wanting:
            return True
        if lows[at] in _doubt_words()["hiring"]:
            return _is_given_by_subject(one, sentence, at, place)
        if lows[at] in _MARKS or _is_verb(lows, at):
            return False
    return False


def _is_verb(lows: Sequence[str], at: int) -> bool:
    """Whether what stands before a verb wants nobody behind it: "needed money and worked as" does not."""
    known = claim_word_lists().sets
    return lows[at] in (known["finite"] | _doubt_words()["serving"]) - known["aux"] and lows[at - 1] != _TO


def _is_given_by_subject(one: ReadValue, sentence: TokenizedSentence, verb: int, place: int) -> bool:
    """Whether a claim's subject stands before a verb of hiring that has an object: they hire somebody else."""
    token, low = sentence.tokens[verb + 1], sentence.lows[verb + 1]
    if not (token.cap or low in claim_word_lists().sets["det"] | _doubt_words()["objects"]):
        return False
    if one.subject is None:
        return (claim_word_lists().sets["first_person"] | {USER}).isdisjoint(sentence.lows[verb + 1 : place])
    return sentence.start + one.subject[0] < sentence.tokens[verb].start


def _is_not_studied(_: ReadValue, sentence: TokenizedSentence, run: Run) -> bool:
    """Whether no word of study belongs to a field, or the nearest before it tells that it is only looked into."""
    lows, words = sentence.lows, _doubt_words()
    inquiries = {after for _, after in _phrases_in(lows[: run[0]], "inquiry")}
    for after in range(run[0], sentence.begin, -1):
        if after in inquiries:
            return True
        if lows[after - 1] in words["study"]:  # "considering a degree in", but not "research for her degree in"
            return not inquiries.isdisjoint((after - 1, after - 2))
    return (words["study"] | words["schooling"]).isdisjoint(lows)


_CHECKS: Mapping[str, Callable[[ReadValue, TokenizedSentence, Run], bool]] = {
    "partner_is": _is_own_subject,
    "has_child": _is_own_subject,
    "has_pet": _is_own_subject,
    "born_on": _is_other_day,
    "job_title_is": _is_wanted_only,
    "studies": _is_not_studied,
}
