"""What of a sentence says something: without greetings and tags, and parted where a clause has a subject of its own.

Must not do: reword, or resolve whom a word means.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.talk.vocabulary import Token, known_names, length_of_phrase_at, talk_words, verb_forms

SUBJECTS = frozenset(("i", "we", "he", "she", "they", "it", "you"))
_BREAKS = frozenset((",", ";", "–", "—", "-", "--", ":", "..."))
_JOINERS = frozenset(("and", "but", "so", "plus"))
_BINDERS = frozenset(("when", "if", "while", "because", "after", "before", "as", "since", "until", "once", "unless"))
_BE = frozenset(("is", "are", "am", "was", "were", "'s", "'m", "'re", "be", "been", "being"))
_AUX = frozenset(
    ("have", "has", "had", "do", "does", "did", "'ve", "'d", "'ll", "is", "are", "am", "was", "were", "'s", "'m", "'re")
)
_NOT_AFTER = frozenset(("to", "a", "an", "the", "my", "our", "his", "her", "their", "your", "of", "for", "with", "no"))
_BEFORE_NAMES = (
    _BE
    | _AUX
    | _NOT_AFTER
    | {"and", "or", "in", "at", "on", "from", "by", "like", "than", "as", "about", "called", "named"}
)
_OWNERS = frozenset(("my", "our", "his", "her", "their", "your", "the"))
_PLACES = frozenset(("in", "on", "at", "to", "until", "from", "by", "with"))
_LEAST_RIGHT, _LEAST_OF_IT = 4, 2
"""Words of a clause that is parted from what stands before it; of "it was great", which says nothing by itself."""
_OPENING_NAME = 3
_MOST_OF_SUBJECT = 3  # words of a subject before "like"
_REASONS = frozenset(("so", "because", "cause", "cos"))
_HEARSAY = frozenset(("told", "heard", "believed", "claimed", "claims", "joked", "joking", "kidding", "pretended"))
_NOT_AFTER_SO = frozenset(("that", "much", "many", "far", "long", "as"))
_LOOSE_ENDS = frozenset(("just", "even", "'", "‘", "’", "and", "or"))
_LIMITS = frozenset(
    (
        "if", "unless", "until", "till", "when", "whenever", "while", "before", "after", "once", "only", "except",
        "not", "no", "never", "as", "that's", "much", "many", "far", "or", "than", "since",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that can be rewritten by itself.

    Attributes:
        first: token; `end` is exclusive.
    """

    first: int
    end: int


def split_clauses(tokens: Sequence[Token], names: frozenset[str]) -> tuple[Clause, ...]:
    """The clauses of a sentence, each without what opens and closes it.

    Args:
        names: of those who speak, folded, for a name that only calls somebody.
    """
    first, end = trim_clause(tokens, 0, len(tokens), names)
    cuts = [first]
    is_bound = first < end and tokens[first].low in ("if", "when", "unless", "because", "although", "though", "while")
    for at in range(first + 1, end):
        if not is_bound and _begins_clause(tokens, cuts[-1], at, end):
            cuts.append(at)
    parts = [trim_clause(tokens, *pair, names) for pair in zip(cuts, (*cuts[1:], end), strict=True)]
    trimmed = [(a, _end_of_order(tokens, a, b)) for a, b in parts if a < b]
    return tuple(Clause(a, b) for a, b in trimmed)


def _end_of_order(tokens: Sequence[Token], first: int, end: int) -> int:
    """Where what is told ends before an order that is tagged on: "..., don't throw it away"."""
    for at in range(first + 3, end - 1):
        if tokens[at].low not in (",", "so", "but", "and", "-", "–"):
            continue
        low, behind = tokens[at + 1].low, tokens[at + 2].low if at + 2 < end else ""
        is_order = low in ("don't", "please", "who", "what") or (
            low in verb_forms().base and behind in ("him", "her", "them", "me", "it", "us", "your")
        )
        is_shown = tokens[at].low == "and" and low in ("look", "check") and behind in ("at", "out")
        if (is_order and tokens[at].low != "and") or is_shown:
            return at
    return end


def trim_clause(tokens: Sequence[Token], first: int, end: int, names: frozenset[str]) -> tuple[int, int]:
    """A clause without greetings, names that call somebody, tags and marks around it."""
    lows = [token.low for token in tokens[:end]]
    moved = True
    while moved and first < end:
        before = (first, end)
        first = _trim_start(tokens, lows, first, end, names)
        end = _trim_end(tokens, lows[:end], first, end, names)
        moved = (first, end) != before
    return first, end


def has_finite_verb(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether a verb with a subject's form stands between two places."""
    return any(is_finite(tokens, at, first) for at in range(first, end))


def is_finite(tokens: Sequence[Token], at: int, first: int = 0) -> bool:
    """Whether a word is a verb with a subject's form, as far as its neighbours tell."""
    verbs = verb_forms()
    low = tokens[at].low
    before = tokens[at - 1].low if at > first else ""
    if low == "'s":
        return is_verb_s(tokens, at)
    if _is_of_date(tokens, at, first):
        return False
    if low in _AUX or low in verbs.sets["modals"] or low.endswith("n't"):
        return before != "to"
    if before in _NOT_AFTER or before in _BE:
        return False
    if low in verbs.past and low not in verbs.base:
        return True
    if low == "left" and at + 1 < len(tokens) and tokens[at + 1].low in ("of", "side", ","):
        return False
    if low in verbs.third and verbs.third[low] in verbs.sets["noun_too"] and not _is_third(tokens, at, first):
        return False
    if low not in verbs.base:
        return low in verbs.third or (low.endswith("ed") and _has_pronoun_before(tokens, at, first))
    if verbs.pasts[low] == low and at > first and before not in talk_words().sets["english"]:
        return True
    many = before in talk_words().sets["groups"] and low not in verbs.sets["noun_too"]
    many = many or (low == "like" and _is_liking(tokens, at, first))
    return many or before in ("i", "we", "you", "they") or (before in verbs.sets["adverbs"] and at - first > 1)


def _has_pronoun_before(tokens: Sequence[Token], at: int, first: int) -> bool:
    """Whether a pronoun stands before a word, with adverbs between at most: "I just participated"."""
    place = at - 1
    while place > first and tokens[place].low in verb_forms().sets["adverbs"]:
        place -= 1
    return place >= first and tokens[place].low in SUBJECTS


def _is_liking(tokens: Sequence[Token], at: int, first: int) -> bool:
    """Whether "like" is what several do, "my parents like cats", and is no comparison: "friends like Tom are rare"."""
    if tokens[first].low not in _OWNERS | {"'s"} or not 2 <= at - first <= _MOST_OF_SUBJECT:
        return False
    verbs, rest = verb_forms(), [token.low for token in tokens[at + 1 :]]
    has_other = any(
        low in _AUX or low in verbs.third or low in verbs.past or low in verbs.sets["modals"] for low in rest
    )
    return tokens[at - 1].low in talk_words().sets["groups"] and bool(rest) and not has_other


def _is_of_date(tokens: Sequence[Token], at: int, first: int) -> bool:
    """Whether a word that may be a verb belongs to a date: "Lisbon in May", "sat 3 June"."""
    if tokens[at].low in ("sat", "left"):
        return behind_is_date(tokens, at)
    return tokens[at].low in talk_words().sets["months"] and at > first and tokens[at].is_capital


def behind_is_date(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number or a month follows, so that "sat" is a Saturday."""
    behind = tokens[at + 1].low if at + 1 < len(tokens) else ""
    return behind[:1].isdigit() or behind in talk_words().sets["months"]


def _is_third(tokens: Sequence[Token], at: int, first: int) -> bool:
    """Whether a word such as "works" or "books" is a verb and not several things."""
    sets = talk_words().sets
    if at == first:
        return False
    before, behind = tokens[at - 1], tokens[at + 1].low if at + 1 < len(tokens) else ""
    is_person = any(before.low in sets[name] for name in ("women", "men", "people", "pets", "english"))
    return (
        is_person
        or (before.is_capital and at - 1 > first)
        or before.low in verb_forms().sets["adverbs"]
        or (
            behind in sets["english"]
            and behind not in ("and", "or", "is", "are", "was", "were", "for", "of", "in", "on")
        )
        or before.low in known_names()[0]
        or _is_only_verb(tokens, at, first)
    )


def _is_only_verb(tokens: Sequence[Token], at: int, first: int) -> bool:
    """Whether nothing else is the verb of "my new number ends in 77", which opens with whose or which it is."""
    verbs = verb_forms()
    behind = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if tokens[first].low not in _OWNERS or not 2 <= at - first <= 3 or behind not in _PLACES:
        return False
    stop = next((place for place in range(at + 1, len(tokens)) if tokens[place].low in _BREAKS), len(tokens))
    lows = [token.low for token in (*tokens[first:at], *tokens[at + 1 : stop])]
    return not any(
        low in _AUX
        or low in verbs.sets["modals"]
        or low.endswith("n't")
        or (low in verbs.past and low not in verbs.base)
        or (low in verbs.third and verbs.third[low] not in verbs.sets["noun_too"])
        for low in lows
    )


def is_verb_s(tokens: Sequence[Token], at: int) -> bool:
    """Whether an "'s" is a verb, as in "my dad's moving", and not an owner's."""
    before = tokens[at - 1].low if at else ""
    behind = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if before in SUBJECTS or before in ("that", "there", "who", "what", "where", "here", "everything", "nobody"):
        return True
    if before == "name" and at + 1 < len(tokens):  # "her name's Rex"
        return tokens[at + 1].is_capital
    name = at - 1
    while name > 0 and tokens[name].is_capital:
        name -= 1
    if name < at - 1 and tokens[name].low == "at":  # "a day at Bea's in Leith"
        return False
    if name <= at - 1 and tokens[max(0, min(name, at - 2))].low in _PLACES and behind.endswith("ing"):
        return False  # "in mum's sewing tin"
    verbs = verb_forms()
    rest = {token.low for token in tokens[at + 2 : at + 8]}
    return (
        (
            behind.endswith("ing")
            and not {"is", "was"} & rest  # "Ramón's closing on the house is in May"
            and behind not in ("wedding", "building", "ring", "thing", "king", "evening", "morning")
        )
        or behind in talk_words().sets["verb_s"]
        or behind in verbs.sets["participle_adjectives"]
        or (behind in verbs.participles and behind not in verbs.base and behind not in verbs.sets["noun_too"])
    )


def speaks_of_past(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether a clause tells of what is over."""
    verbs = verb_forms()
    lows = [token.low for token in tokens[first:end]]
    if any(low in verbs.sets["past_signs"] for low in lows):
        return True
    if any(low in ("will", "'ll", "won't", "gonna", "tomorrow", "next") for low in lows):
        return False
    for at, low in enumerate(lows):
        is_owned = low == "got" and lows[max(0, at - 1)] in ("have", "has", "'ve", "'s", "haven't", "hasn't")
        is_past = low in verbs.past and low not in verbs.base and not is_owned
        if is_past and not (
            at and lows[at - 1] in ("is", "are", "am", "'s", "'m", "'re", "be", "get", "gets", "getting")
        ):
            return True
    return any(low in ("didn't", "wasn't", "weren't", "hadn't") for low in lows)


def _begins_clause(tokens: Sequence[Token], first: int, at: int, end: int) -> bool:
    """Whether a clause with a subject of its own begins at a joint."""
    low = tokens[at].low
    if low not in _BREAKS and low not in _JOINERS and not _is_picture(low):
        return False
    if tokens[at - 1].low in _BREAKS or tokens[at - 1].low in _JOINERS:
        return False
    right = at + 1
    while right < end and (tokens[right].low in _JOINERS or tokens[right].low in ("also", "now", "then")):
        right += 1
    if low == "so":  # "so they don't fall" is what a thing is done for
        return False
    words = sum(token.is_word or token.low.startswith("'") for token in tokens[right:end])
    is_led = any(
        tokens[place].low in _BINDERS and (place == first or tokens[place - 1].low in (*_BREAKS, *_JOINERS, "even"))
        for place in range(first, at)
    )
    least = _LEAST_OF_IT if right < end and tokens[right].low == "it" else _LEAST_RIGHT
    if is_led or right >= end or words < least or not opens_with_subject(tokens, right, end):
        return False
    if _may_take_back([token.low for token in tokens[right : min(end, right + 4)]]):
        return False
    return has_finite_verb(tokens, first, at) or (
        (low in _BREAKS or _is_picture(low)) and tokens[first].low not in talk_words().sets["leads"]
    )


def _may_take_back(lows: Sequence[str]) -> bool:
    """Whether a clause opens as one that says what the clause before it really was: "it was a false alarm"."""
    is_called = lows[1:2] in (["was"], ["is"], ["'s"]) and lows[2:3] and lows[2] in ("a", "an", "all", "just", "only")
    sets = talk_words().sets
    is_praised = any(low in sets["praise"] or low in sets["enjoyments"] for low in lows[3:4])  # "it was a blast"
    return lows[0] == "it" and (lows[1:2] == ["turned"] or (bool(is_called) and not is_praised))


def list_heads(tokens: Sequence[Token], clause: Clause) -> tuple[Clause, ...]:
    """What of a clause says something without a remark that follows: "I'm deaf on the left, so speak up" in its head.

    What narrows a statement or may take it back stays with it: a condition, a time, an exception, "but he died". The
    longest head comes first.
    """
    heads = []
    for at in range(clause.end - 2, clause.first + 2, -1):
        low = tokens[at].low
        right = at + 1 if low in _BREAKS else at
        if (low in _BREAKS or low in _REASONS) and _opens_remark(tokens, right, clause.end):
            end = at
            while tokens[end - 1].low in _BREAKS or tokens[end - 1].low in _LOOSE_ENDS:
                end -= 1
            if has_finite_verb(tokens, clause.first, end) and not _has_report_verb(tokens, clause.first, end):
                heads.append(Clause(clause.first, end))
    return tuple(heads)


def list_spare_heads(tokens: Sequence[Token], clause: Clause) -> tuple[Clause, ...]:
    """What of a clause says something without a second deed or an addition, the longest first.

    Of "took a trip and took this picture" the trip, of "love painting, especially these ones" the liking. For a clause
    whose rest points at what is not told.
    """
    forms, heads = verb_forms(), []
    for at in range(clause.end - 1, clause.first + 2, -1):
        behind = tokens[at + 1].low if at + 1 < clause.end else ""
        is_deed = tokens[at].low == "and" and behind in forms.past and behind not in forms.base
        is_addition = tokens[at].low == "," and behind in ("especially", "particularly", "including", "mainly")
        if (is_deed or is_addition) and has_finite_verb(tokens, clause.first, at):
            heads.append(Clause(clause.first, at))
    return tuple(heads)


def _has_report_verb(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether somebody says, thinks or knows something within two places: what that is may go on behind them."""
    return any(token.low in talk_words().sets["stop_verbs"] for token in tokens[first:end])


def _opens_remark(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether what begins at a place may be left off: a reason, a consequence, a clause of its own."""
    while at < end and tokens[at].low in ("and", "plus"):
        at += 1
    is_doubted = _has_report_verb(tokens, at, end) or any(token.low in _HEARSAY for token in tokens[at:end])
    if at >= end or tokens[at].low in _LIMITS or is_doubted or _turns_back(tokens, at, end):
        return False
    if tokens[at].low in _REASONS:
        behind = at + 1
        limits = _NOT_AFTER_SO if tokens[at].low == "so" else _LIMITS
        is_limit = tokens[behind].low in limits if behind < end else True
        is_limit = is_limit and not (behind + 1 < end and tokens[behind + 1].low in ("'s", "is"))  # "so that's why"
        return not is_limit and has_finite_verb(tokens, behind, end)
    is_denied = any(token.low in ("not", "no", "never") or token.low.endswith("n't") for token in tokens[at:end])
    is_lasting = tokens[at].low != "it" and not is_denied and not speaks_of_past(tokens, at, end)
    return is_lasting and opens_with_subject(tokens, at, end)  # "I have a dog, he died" is not cut


def _turns_back(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether a word within two places sets what is said against what was said before."""
    return any(token.low in ("but", "though", "although", "however", "actually") for token in tokens[first:end])


def opens_with_subject(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether a subject and its verb stand at a place."""
    low = tokens[at].low
    if low in SUBJECTS:
        return at + 1 < end and tokens[at + 1].low not in _BREAKS
    if low in talk_words().sets["kin_titles"]:
        return at + 1 < end and is_finite(tokens, at + 1, at)
    if low in ("my", "our", "his", "her", "the", "their"):
        return any(is_finite(tokens, place, at) for place in range(at + 1, min(end, at + 6)))
    if tokens[at].is_capital and low not in talk_words().sets["english"]:
        if at + 1 < end and tokens[at + 1].low == ",":  # "your help, Gina, means a lot" calls her
            return False
        return any(is_finite(tokens, place, at) for place in range(at + 1, min(end, at + _OPENING_NAME)))
    return False


def _trim_start(tokens: Sequence[Token], lows: Sequence[str], first: int, end: int, names: frozenset[str]) -> int:
    words = talk_words()
    while first < end and not tokens[first].is_word and tokens[first].low not in ("£", "$", "€", "#", "("):
        first += 1
    length = length_of_phrase_at(lows, first, words.phrases["openers"])
    behind = first + length
    if length and behind < end:
        is_joint = tokens[behind].low in (*_BREAKS, "!", ".")
        is_firm = length == 1 and lows[first] in words.sets["firm_openers"]
        is_firm = is_firm and not (tokens[behind].low in SUBJECTS and has_finite_verb(tokens, behind, behind + 2))
        if is_joint or (not is_firm and _may_follow_opener(tokens, first, behind, end)):
            return behind + is_joint
    elif length and behind == end:
        return end
    if first + 2 < end and tokens[first + 1].low in (",", "!") and _is_vocative(tokens[first], names):
        return first + 2
    return first


def _may_follow_opener(tokens: Sequence[Token], first: int, behind: int, end: int) -> bool:
    """Whether a word before another only opens: "right, so" and "oh I", but not "great news"."""
    if tokens[first].low in ("and", "but", "so", "oh", "also", "btw", "well", "plus", "lol", "haha", "um", "uh", "ah"):
        return True
    starters = (*SUBJECTS, "my", "our", "the", "his", "her")
    if tokens[behind].low in starters and opens_with_subject(tokens, behind, end):
        return True
    lows = [token.low for token in tokens[behind:end]]
    length = length_of_phrase_at(lows, 0, talk_words().phrases["openers"])
    return 0 < length < len(lows) and lows[length] == ","


def _trim_end(tokens: Sequence[Token], lows: Sequence[str], first: int, end: int, names: frozenset[str]) -> int:
    words = talk_words()
    while end > first and not tokens[end - 1].is_word and _is_loose_mark(tokens[end - 1].low):
        end -= 1
    is_about = end - 1 > first and tokens[end - 2].low == "or"  # "since I was ten or so"
    if end > first and tokens[end - 1].low in ("and", "but", "so") and not is_about:
        return end - 1
    closing = lows[end - 1] if end > first else ""
    for phrase in words.phrases["closers"].by_last_word.get(closing, ()):
        begin = end - len(phrase)
        if begin > first and tuple(lows[begin:end]) == phrase and tokens[begin - 1].low in (",", "-", "–", "—", "..."):
            return begin - 1
    if end - 2 > first and tokens[end - 2].low == "," and _is_vocative(tokens[end - 1], names):
        return end - 2
    last = tokens[end - 1].low
    if last in names and end - first > 3 and tokens[end - 2].is_word and tokens[end - 2].low not in _BEFORE_NAMES:
        is_lone = not tokens[end - 1].is_capital and has_finite_verb(tokens, first, end - 2)
        return end - 1 if is_lone else end
    laughs = ("haha", "hahaha", "lol", "lmao", "xx", "xxx", "btw", "tbh", "innit", "smh", "fyi", "tho")
    return end - 1 if end - 1 > first and lows[end - 1] in laughs else end


def _is_vocative(token: Token, names: frozenset[str]) -> bool:
    """Whether a name or a title between commas only calls somebody."""
    sets = talk_words().sets
    if token.low in names or token.low in sets["kin_titles"]:
        return True
    return token.is_capital and token.low in known_names()[0] and not names


def _is_picture(low: str) -> bool:
    return unicodedata.category(low[0]) in ("So", "Sk")


def _is_loose_mark(low: str) -> bool:
    if low in ("'m", "'s", "'re", "'ve", "'ll", "'d", "%", "£", "$", "€", ")", '"'):
        return False
    if any(sign.isdigit() for sign in low):  # a price
        return False
    return not low[:1].isalnum() and (low[:1] in ".,;:!?-–—…~*_^(<>/\\'" or unicodedata.category(low[0])[0] in "SMCP")
