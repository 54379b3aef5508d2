"""Whose relative a bare "her husband" is that a claim is about: one nameless subject would stand for several people.

Must not do: take anybody for the possessor who is not the one person the sentence names before.
"""

from __future__ import annotations

from core.belief.extract.frames import USER, Subject, read_name_at
from core.belief.extract.sentence import TokenizedSentence, capital_run, claim_word_lists

_PEOPLE = ("kin", "person", "partner", "child", "children")


def is_bare_relative(text: str) -> bool:
    """Whether a subject's words name a relative by a pronoun alone.

    Args:
        text: as a claim has it: `their family`, but not `my family` and not `Melanie's family`.
    """
    known = claim_word_lists().sets
    return _pronoun_of(text) in known["poss_third"] | known["poss_relative"]


def name_relative(sentence: TokenizedSentence, text: str) -> str:
    """A bare relative with the name of whose relative it is: `Melanie's family`.

    Args:
        sentence: the sentence that the subject stands in.
        text: the subject, for which `is_bare_relative` holds.

    Returns:
        The subject; what `my` would be left out of for a relative of the person's; "" where several or none are named.
    """
    pronoun, noun = _pronoun_of(text), text.partition(" ")[2]
    at = next((n for n in range(sentence.begin, len(sentence.lows)) if sentence.lows[n] == pronoun), 0)
    # What follows "whose mother is a nurse," is told of who has the mother, and was read as hers.
    is_sure = bool(noun) and pronoun not in claim_word_lists().sets["poss_relative"]
    owner = _read_only_person(sentence, at) if is_sure and at > sentence.begin else None
    if owner is None:
        return ""
    return noun if owner.kind == USER else f"{owner.text}'s {noun}"


def is_led_by_pronoun(sentence: TokenizedSentence, text: str) -> bool:
    """Whether a subject is a relative that the sentence begins with and the pronoun before it was left out of.

    Args:
        sentence: the sentence that the subject was read in.
        text: the subject; `user` where it was read to be who speaks, although nobody does in the sentence.
    """
    begin = sentence.begin
    if sentence.lows[begin] not in claim_word_lists().sets["poss_third"]:
        return False
    is_nobodys = text == USER and claim_word_lists().sets["first_person"].isdisjoint(sentence.lows)
    return is_nobodys or sentence.lows[begin + 1 : begin + 1 + len(text.split())] == text.casefold().split()


def _pronoun_of(text: str) -> str:
    return text.partition(" ")[0].casefold()


def _read_only_person(sentence: TokenizedSentence, before: int) -> Subject | None:
    """Who begins a sentence, where nobody else is named before a place."""
    lows, known, first = sentence.lows, claim_word_lists().sets, sentence.begin
    if lows[first] in ("the", "user", "i", "we"):
        after = first + 2 if lows[first] == "the" else first + 1
        owner = Subject(USER, USER, first, after) if lows[after - 1] in ("user", "i", "we") else None
    else:
        after = capital_run(sentence, first, known["name_links"])
        owner = read_name_at(sentence, after - 1) if after > first else None
    if owner is None or owner.kind not in ("name", USER) or owner.first != first or lows[after] in ("'s", "'"):
        return None
    between = range(after, before)
    is_other = any(sentence.tokens[n].cap or any(lows[n] in known[name] for name in _PEOPLE) for n in between)
    return None if is_other else owner
