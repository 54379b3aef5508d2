"""Words of a rewritten sentence that point at something outside of it: "the policy", "something similar", "afterwards".

A thing of everyone's world ("the sea", "the kids") needs no telling, nor does one that its neighbours narrow ("the key
of the shed", "the garden centre") or that was named before in the sentence. "The shelter" of a talk in which one kind
of shelter was named is that one (`QualifiedNouns`). Must not do: resolve whom a pronoun means, or know who talks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.talk.clauses import is_finite
from core.talk.vocabulary import (
    Token,
    known_names,
    length_of_phrase_at,
    stem_word,
    talk_words,
    tokenize_talk,
    verb_forms,
)
from core.text.noun_phrases import is_noun

_DETERMINERS = frozenset(("a", "an", "the", "my", "our"))
_MOST_KINDS = 3  # words of a thing that is named in full
_LATELY = 60  # turns
_NARROWING = frozenset(("of", "for", "that", "which", "who", "where", "called", "named", "about", "from", "to", "as"))
_PLACING = frozenset(("in", "at", "on", "near", "with", "by", "behind", "beside", "between", "outside", "under"))
_OWNERS = frozenset(("their", "your", "his", "her", "its", "a", "an"))
_LINKED = frozenset((",", ";", "-", "–", "—", "and", "but", "so", "too", "or"))
_AUX = frozenset(
    ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would", "should")
)
_STILL_COUNTED = frozenset(("any", "no", "once", "or", "and", "the", "ever"))
_OFTEN = frozenset(("often", "again", "sometimes", "soon", "once", "twice", "usually", "every"))
_DAY_WORDS = frozenset(("on", "in", "the", "week", "weekend", "of", "evening", "morning", "afternoon", "before"))
_COUNTING = frozenset(("get", "have", "need", "want", "take", "buy", "sell", "give", "make"))
_UNCOUNTED = _LINKED | _PLACING | {"actually", "only", "now", "today", "already", "because", "for", "."}
_BINDERS = frozenset(("when", "while", "because", "after", "before", "since"))
_BEGINNING = frozenset(("start", "begin", "stop", "finish", "continue", "try"))
_PERSON_BEGINS, _OTHERS_BEGIN = 2, 4  # words of "Lorcan starts", of "Lorcan and others begin"
_AFTER_BACK = frozenset(("on", "by", "till", "until", ""))
_YEAR = 4  # digits
_SUBJECTS = frozenset(("they", "he", "she", "you", "i", "we"))


class QualifiedNouns:
    """The things of a talk by how they were named in full: a shelter as "homeless shelter"."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, int]] = {}
        self._turn = 0

    def note(self, tokens: Sequence[Token], turn: int) -> None:
        """Remember the things that a sentence names in full.

        Args:
            tokens: its words and marks.
            turn: its number in the talk.
        """
        for at, token in enumerate(tokens):
            if token.low in _DETERMINERS and (words := _qualified_at(tokens, at + 1)):
                *kind, noun = words
                self._found.setdefault(noun, {})[" ".join(kind)] = turn
        self._turn = turn

    def qualify(self, text: str) -> str:
        """A sentence with "the shelter" told in full, where one kind of shelter alone was named lately.

        Args:
            text: a rewritten sentence.
        """
        tokens = tokenize_talk(text)
        lows = [token.low for token in tokens]
        for at in range(len(tokens) - 2, -1, -1):
            kind = self._kind_of(lows[at + 1]) if lows[at] == "the" and _ends_thing(lows, at + 1) else ""
            if kind:
                text = f"{text[: tokens[at + 1].start]}{kind} {text[tokens[at + 1].start :]}"
        return text

    def _kind_of(self, noun: str) -> str:
        kinds = [kind for kind, turn in self._found.get(noun, {}).items() if self._turn - turn <= _LATELY]
        return kinds[0] if len(kinds) == 1 else ""


def _ends_thing(lows: Sequence[str], noun: int) -> bool:
    """Whether a thing ends with its noun and nothing behind it says which one it is: not "the shelter of the town"."""
    behind = lows[noun + 1] if noun + 1 < len(lows) else ""
    return behind not in _NARROWING and (behind.endswith("ing") or not is_noun(behind))


def _qualified_at(tokens: Sequence[Token], at: int) -> tuple[str, ...]:
    """A noun behind an article with the words that say of what kind it is; empty where none does."""
    sets = talk_words().sets
    end = at
    while end < len(tokens) and tokens[end].low.isalpha() and not tokens[end].is_capital and end - at < _MOST_KINDS:
        if not is_noun(tokens[end].low) and tokens[end].low not in sets["kinds"]:
            break
        end += 1
    words = tuple(token.low for token in tokens[at:end])
    is_kind = len(words) > 1 and not any(word in sets["plain_adjectives"] or word in sets["english"] for word in words)
    return words if is_kind and is_noun(words[-1]) and words[-1] not in verb_forms().third else ()


def points_outside(tokens: Sequence[Token], names: Collection[str] = ()) -> bool:
    """Whether a rewritten sentence is only understood with what stood around it.

    Args:
        tokens: its words and marks without the full stop.
        names: of those who speak, folded.
    """
    lows = [token.low for token in tokens]
    if any(length_of_phrase_at(lows, at, talk_words().phrases["pointing"]) for at in range(len(lows))):
        return True
    if any(low == "instead" and lows[at + 1 : at + 2] != ["of"] for at, low in enumerate(lows)):
        return True
    if lows and (_says_only_back(lows) or _begins_nothing(tokens, lows) or _is_somewhere(lows)):
        return True
    if any(_leaves_out(tokens, lows, at) for at in range(1, len(lows))) or _lacks_object(lows):
        return True
    if _opens_with_unknown(tokens, lows, names):
        return True
    if any(_mentions_words(tokens, at) for at in range(1, len(tokens) - 1)):
        return True
    bare = [at for at, low in enumerate(lows) if low == "the" and _is_bare(tokens, lows, at)]
    return len(bare) > 1 or any(not _is_anchored(tokens, lows, at, names) for at in bare)


def _mentions_words(tokens: Sequence[Token], at: int) -> bool:
    """Whether words are quoted as the thing that is spoken of: likes "time with a dog", "the draft says: …"."""
    forms = verb_forms()
    low, behind, verb = tokens[at].low, tokens[at + 1], forms.lemma(tokens[at - 1].low)
    if low == ":" and verb in ("say", "read", "ask"):
        return True
    return low in ('"', "“") and behind.text[:1].islower() and verb in ("like", "prefer", "hate", "want", "love")


def names_somebody(tokens: Sequence[Token]) -> bool:
    """Whether a sentence names whom or what it tells of, by a name or as the owner's."""
    months = talk_words().sets["months"]
    if tokens[0].low in ("you", "your"):
        return True
    first, behind = tokens[0], tokens[1] if len(tokens) > 1 else tokens[0]
    opens_with_name = first.low in known_names()[0] or behind.is_capital or behind.low == "'s"
    rest = tokens[:1] if opens_with_name else ()
    return any(token.is_capital and token.low not in months for token in (*rest, *tokens[1:]))


def _is_anchored(tokens: Sequence[Token], lows: Sequence[str], at: int, names: Collection[str]) -> bool:
    """Whether the rest of a sentence says enough although one thing of it is left open.

    It is somebody, or what the sentence is about, and who speaks is in it too ("the boss was rude to Mara"); or beside
    it stand a name and a day.
    """
    if at == 0 or (at + 1 < len(lows) and lows[at + 1] in talk_words().sets["people"]):
        return any(low in names or low in ("you", "your") for low in lows)
    rest = [token for token in tokens[1:] if token.low not in names]
    is_dated = any(token.low.isdigit() and len(token.low) == _YEAR for token in rest)
    is_named = any(token.is_capital and token.low not in talk_words().sets["months"] for token in rest)
    return is_dated and is_named


def _opens_with_unknown(tokens: Sequence[Token], lows: Sequence[str], names: Collection[str]) -> bool:
    """Whether a sentence tells of a thing alone, and not of whose it is: "The opening night is on 20 June 2025"."""
    if len(lows) < 2 or not (lows[0] == "the" or _is_bare_noun(tokens)) or _is_known_thing(lows):
        return False
    months = talk_words().sets["months"]
    is_named = any(token.is_capital and token.low not in months for token in tokens[1:])
    return not is_named and not any(low in names or low in ("you", "your") for low in lows)


def _is_known_thing(lows: Sequence[str]) -> bool:
    """Whether a sentence opens with "the" and a thing of everyone's world: not "the summer opera"."""
    return lows[1] in talk_words().sets["known_things"] and not is_noun(lows[2] if len(lows) > 2 else "")


def _is_bare_noun(tokens: Sequence[Token]) -> bool:
    """Whether a sentence opens with a common noun and nothing before it: "Defence is in September"."""
    low, forms, sets = tokens[0].low, verb_forms(), talk_words().sets
    is_common = is_noun(low) and low not in forms.third and not low.endswith("ing") and low not in known_names()[0]
    if not is_common or low in sets["english"] or low in sets["kin_titles"] or tokens[1].is_capital:
        return False
    verb = 2 if len(tokens) > 3 and is_noun(tokens[1].low) and tokens[2].low in forms.third else 1
    return tokens[verb].low in forms.third or (tokens[verb].low in forms.past and tokens[verb].low not in forms.base)


def _leaves_out(tokens: Sequence[Token], lows: Sequence[str], at: int) -> bool:
    """Whether a verb or a number stands without what it needs: "does, and will not tell", "there are several"."""
    behind = lows[at + 1] if at + 1 < len(lows) else ""
    if lows[at] in _AUX:
        return behind in _LINKED and lows[at - 1] != "to"
    if lows[at] in ("one", "favorite", "favourite"):  # "has been one because", "her favourite is"
        return behind in ("because", "is", "was", ",", "")
    if _leaves_out_deed(lows[at], behind):
        return True
    if lows[at] in talk_words().sets["any_things"]:
        return not (behind in _NARROWING or behind in _SUBJECTS or behind in _PLACING or behind == ":")
    if lows[at] == "that":  # "painted that sunrise" shows something, "learnt that it rains" does not
        if (behind in _PLACING or not behind) and "," in lows[:at]:  # it means what stands before it
            return False
        forms = verb_forms()
        return not any(
            is_finite(tokens, place) or lows[place] in forms.third or lows[place] in forms.past
            for place in range(at + 1, len(lows))
        )
    if verb_forms().lemma(lows[at]) == "go" and (not behind or behind in _LINKED or behind in _OFTEN):
        return True
    if lows[at] == "nothing" and not behind:
        return True
    if lows[at].isdigit() and verb_forms().lemma(lows[at - 1]) in _COUNTING and (not behind or behind in _UNCOUNTED):
        return True
    is_counted = lows[at] in talk_words().sets["counted"] and lows[at - 1] not in _STILL_COUNTED
    return is_counted and (not behind or behind in _LINKED or behind in ("that", "which"))


def _says_only_back(lows: Sequence[str]) -> bool:
    """Whether somebody is only back, and from what is not told: "will be back by Friday"."""
    for at, low in enumerate(lows[1:], 1):
        behind = lows[at + 1] if at + 1 < len(lows) else ""
        if low == "back" and lows[at - 1] in ("is", "are", "be", "was", "were") and behind in _AFTER_BACK:
            return True
    return False


def _begins_nothing(tokens: Sequence[Token], lows: Sequence[str]) -> bool:
    """Whether a person begins on a day, and what is not told: "Lorcan starts on 2 August 2026"; a course may."""
    words = _without_day([low for low in lows if low[:1].isalnum()])
    is_person = (
        bool(words) and tokens[0].is_capital and lows[0] not in talk_words().sets["english"] and "'s" not in lows
    )
    is_brief = len(words) == _PERSON_BEGINS or (len(words) == _OTHERS_BEGIN and "others" in words)
    return is_person and is_brief and verb_forms().lemma(words[-1]) in ("start", "begin", "finish")


def _is_somewhere(lows: Sequence[str]) -> bool:
    """Whether a sentence says only that there is a place or a way of which nothing is told."""
    return tuple(lows[:3]) == ("there", "is", "a") and lows[3:4] != [] and lows[3] in ("place", "way", "thing")


def _leaves_out_deed(low: str, behind: str) -> bool:
    """Whether a verb does not say what is begun or learnt: "started when she was young", "is learning with Tom"."""
    forms = verb_forms()
    is_begun = behind in _BINDERS and low not in forms.third and forms.lemma(low) in _BEGINNING
    if forms.lemma(low) == "get" and behind in ("till", "until"):
        return True
    return is_begun or (forms.lemma(low.removesuffix("ing")) == "learn" and behind in ("with", "from"))


def _lacks_object(lows: Sequence[str]) -> bool:
    """Whether the last word is a verb that is done to something: "Mara has started"."""
    forms = verb_forms()
    words = [low for low in lows if low[:1].isalnum()]
    undated = _without_day(words)
    if len(undated) > 1 and undated[-2] not in ("to", "and", "or") and _has_no_complement(undated):
        return True
    while len(words) > 1 and (words[-1] in forms.sets["adverbs"] or words[-1] == "too"):
        words.pop()
    if words[-2:] in (["a", "lot"], ["a", "ton"], ["so", "much"], ["a", "bit"]):
        del words[-2:]
        return bool(words) and forms.lemma(words[-1].removesuffix("ing")) in forms.sets["with_object"]
    is_led = len(words) > 1 and words[-2] in (
        "they",
        "to",
        "he",
        "she",
        "you",
        "not",
        "and",
        "is",
        "are",
        "was",
        "been",
    )
    return len(words) > 1 and not is_led and forms.lemma(words[-1]) in forms.sets["with_object"]


def _without_day(words: Sequence[str]) -> list[str]:
    """The words before a date at the end: of "moved on 3 May 2025" the first."""
    months = talk_words().sets["months"]
    end = len(words)
    while end > 1 and (words[end - 1].isdigit() or words[end - 1] in months):
        end -= 1
    if end < len(words):
        while end > 1 and words[end - 1] in _DAY_WORDS:
            end -= 1
    return list(words[:end])


def _has_no_complement(words: Sequence[str]) -> bool:
    """Whether the last word is a verb that leaves out where, what or whom: "has moved"."""
    forms = verb_forms()
    low = words[-1]
    is_form = low in forms.past or low in forms.participles or low in forms.third or low.endswith("ing")
    stem = low.removesuffix("ing")
    bases = {forms.lemma(low)} if stem == low else {stem, stem + "e", stem[:-1]}  # "leaving", "quitting"
    return is_form and not bases.isdisjoint(forms.sets["with_complement"])


def _is_bare(tokens: Sequence[Token], lows: Sequence[str], at: int) -> bool:
    """Whether "the" stands before a thing of which nothing says which one it is."""
    sets = talk_words().sets
    noun = at + 1
    while noun + 1 < len(lows) and lows[noun] in sets["plain_adjectives"] and _adds_meaning(tokens, lows, noun + 1):
        noun += 1
    if noun >= len(lows) or tokens[noun].is_capital or lows[noun] in sets["known_things"]:
        return False
    is_owned = lows[noun] in sets["things"] and lows[noun] not in sets["generic_things"]
    if is_owned and at and lows[0] not in sets["english"]:  # "Ida sold the caravan" sold Ida's
        return False
    if at and verb_forms().lemma(lows[at - 1].removesuffix("ing")) == "play":  # an instrument
        return False
    if stem_word(lows[noun]) in {stem_word(low) for low in lows[:at]} or not lows[noun][:1].isalnum():
        return False
    behind = lows[noun + 1] if noun + 1 < len(lows) else ""
    if behind == "," and noun + 2 < len(lows) and tokens[noun + 2].is_capital:  # "the neighbour, Mr. Oduya"
        return False
    if behind in _NARROWING or behind in _SUBJECTS or _adds_meaning(tokens, lows, noun + 1):
        return False
    return not (behind in _PLACING and _is_placed(tokens, lows, noun + 2))


def _is_placed(tokens: Sequence[Token], lows: Sequence[str], at: int) -> bool:
    """Whether a name or somebody's own thing stands behind a preposition."""
    return any(tokens[place].is_capital or lows[place] in _OWNERS for place in range(at, min(at + 2, len(lows))))


def _adds_meaning(tokens: Sequence[Token], lows: Sequence[str], at: int) -> bool:
    """Whether a word belongs to the noun before it, as far as its form tells: "the garden centre"."""
    if at >= len(lows) or not lows[at][:1].isalpha():
        return False
    sets, forms = talk_words().sets, verb_forms()
    low = lows[at]
    is_small = any(low in sets[name] for name in ("grammar", "english", "leads")) or low in forms.sets["adverbs"]
    is_verb = is_finite(tokens, at) or low in forms.sets["modals"] or low in forms.past
    is_verb = is_verb or (low in forms.third and forms.third[low] not in forms.sets["noun_too"])
    return not (is_small or is_verb or low in _NARROWING or low in _PLACING or low.endswith("ly"))
