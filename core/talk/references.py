"""Whom the pronouns of a conversation mean: what was named so far, and the last of it that fits.

"My sister Wren" introduces Wren as the speaker's sister, and "she" is Wren from then on. Where two fit, the confidence
says so. Must not do: reword a sentence, or guess the gender of a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from core.talk.clauses import is_verb_s
from core.talk.vocabulary import Token, known_names, talk_words, verb_forms
from core.text.terms import common_words
from core.types.talk import Turn

_LEAST_MEETING = 4  # words
_PRESENT = 4
WINDOW = 6
"""Turns back that a pronoun reaches."""
_GENDERS = {
    "he": "m", "him": "m", "his": "m", "himself": "m", "she": "f", "her": "f", "hers": "f", "herself": "f",
    "they": "g", "them": "g", "their": "g", "theirs": "g", "themselves": "g", "it": "t", "its": "t", "itself": "t",
}  # fmt: skip
_OWNERS = frozenset(("my", "our", "your", "his", "her", "their"))
_OTHERS = frozenset(("he", "she", "they", "him", "them", "his", "her", "their"))
_DETERMINERS = _OWNERS | {"the", "a", "an", "'s", "some", "this"}
_PREPOSITIONS = frozenset(("in", "at", "from", "to", "near", "into", "via", "towards", "around", "outside", "on", "of"))
_AT_PLACES = frozenset(("in", "at", "from", "near", "into", "via", "outside", "the"))
_AGED = ("-year-old", "-month-old", "-week-old")
_MOST_KEPT = 200
_PAUSE_MS = 8 * 3_600_000  # after it nobody goes on with a "she" or an "it" of before
_SURE, _LIKELY, _DOUBTFUL, _OPEN = 0.92, 0.75, 0.6, 0.4


@dataclass(frozen=True, slots=True)
class Referent:
    """Somebody or something that was named.

    Attributes:
        name: how a statement calls it.
        gender: `m`, `f`, `g` of several, `t` of a thing; "" where it is not known.
        is_animal: a pet, which may be he, she or it.
        turn: number of the turn that named it last.
        place: order within all that was named.
        is_subject: whether it opened its sentence.
        is_loose: whether it only may be somebody's name.
        key: by which it is the same when it is named again.
    """

    name: str
    gender: str = ""
    is_animal: bool = False
    turn: int = 0
    place: int = 0
    is_subject: bool = False
    is_loose: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun of people, animals or things with what stands before and behind it.

    Attributes:
        first: token of its determiner or first word; `end` is exclusive.
        noun: token of its noun.
        name: the name that follows the noun ("my sister Wren"); "" where none does.
        sort: `women`, `men`, `people`, `groups`, `pets`, `things` or `names`.
        end: token behind it.
    """

    first: int
    noun: int
    name: str
    sort: str
    end: int


class References:
    """What was named in a conversation so far."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        """Begin a conversation.

        Args:
            turns: all of it; who speaks in it is known from its beginning.
        """
        self.speakers = tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
        self._folded = frozenset(name.casefold() for name in self.speakers)
        self._persons = {name.casefold(): name for name in self.speakers}
        self._phrases: tuple[Sequence[Token], int, tuple[NounPhrase, ...]] = ((), 0, ())  # of the last sentence
        self._owners = {turn.speaker: turn for turn in turns if turn.is_owner}
        self._assistants = {turn.speaker for turn in turns if turn.is_assistant}
        self._referents: dict[str, Referent] = {}
        self._genders: dict[str, str] = {}
        self._count = 0
        self._spoke: dict[str, int] = {}
        self._begin = 0
        self._said_ms: int | None = None
        self.turn = 0

    @property
    def has_assistant(self) -> bool:
        """Whether an assistant takes part."""
        return bool(self._assistants)

    def name_of(self, turn: Turn) -> str:
        """How a statement calls the speaker of a turn; "" where nobody is known to speak."""
        return self.name_speaker(turn.speaker, is_owner=turn.is_owner)

    def name_speaker(self, speaker: str, *, is_owner: bool) -> str:
        """How a statement calls a speaker: the owner of a vault whose name is not told is "You"."""
        sets = talk_words().sets
        if is_owner and (not speaker or speaker.casefold() in sets["users"]):
            return "You"
        return speaker

    def addressee_of(self, turn: Turn, last_speaker: str) -> tuple[str, float]:
        """Whom "you" means: the other one of two, else who spoke last.

        Returns:
            The name as a statement calls it with a confidence; "" where nobody is known, or an assistant is spoken to.
        """
        others = [name for name in self.speakers if name != turn.speaker]
        known = others[0] if len(others) == 1 else last_speaker if 1 < len(others) < 4 else ""
        if not known or known == turn.speaker or known in self._assistants:
            return "", 0.0
        name = self.name_speaker(known, is_owner=known in self._owners)
        return name, _SURE if len(others) == 1 else _OPEN

    def resolve(self, pronoun: str, *, not_meant: Iterable[str] = ()) -> tuple[Referent | None, float]:
        """The last one named that a pronoun of the third person fits.

        Args:
            pronoun: lower case.
            not_meant: names that it cannot mean: who speaks, and who is spoken to.
        """
        wanted = _GENDERS.get(pronoun)
        if wanted is None:
            return None, 0.0
        barred = {name.casefold() for name in not_meant}
        barred |= {name.casefold() for name, turn in self._spoke.items() if self.turn - turn <= _PRESENT}
        earliest = max(self._begin, self.turn - WINDOW)
        fitting = [
            one
            for one in self._referents.values()
            if _fits_pronoun(one, wanted) and one.name.casefold() not in barred and one.turn >= earliest
        ]
        fitting.sort(key=lambda one: (one.turn, one.place), reverse=True)
        while fitting and fitting[0].is_loose and fitting[0].turn < self.turn - 2:
            fitting.pop(0)
        firm = [one for one in fitting if not one.is_loose]
        if not firm:
            return None, 0.0
        found, sure = _choose_referent(firm, wanted, self.turn)
        if fitting[0].is_loose:  # it may be the one that is meant
            is_near = found.gender == wanted and self.turn - found.turn <= 2 and len(self.speakers) < 3
            is_near = is_near and found.turn == fitting[0].turn and wanted != "t"
            sure = min(sure, _DOUBTFUL) if is_near else _OPEN
        if len(self.speakers) > 2 and found.gender != wanted and not found.is_animal:
            sure = _OPEN  # of many who talk to one another, one of themselves may be meant
        return found, sure

    def note_speaker(self, turn: Turn) -> None:
        """Note who speaks now: those who are there are seldom spoken of; and whether another talk begins."""
        self._spoke[turn.speaker] = self.turn
        if self._said_ms is not None and turn.said_ms is not None and abs(turn.said_ms - self._said_ms) > _PAUSE_MS:
            self._begin = self.turn
        self._said_ms = turn.said_ms

    def mark_resolved(self, referent: Referent, pronoun: str) -> None:
        """Note that something was spoken of again, and with it what the pronoun says of its gender."""
        gender = _GENDERS[pronoun]
        kept = replace(referent, gender=referent.gender or (gender if gender in "mf" else ""))
        self._keep_referent(kept)

    def note(self, tokens: Sequence[Token], speaker: str, addressee: str) -> None:
        """Remember what a sentence names.

        Args:
            speaker: how a statement calls who says it; "" where nobody is known.
            addressee: likewise of "you".
        """
        for phrase in self.known_phrases(tokens):
            if phrase.end < len(tokens) and tokens[phrase.end].low == "'s" and not is_verb_s(tokens, phrase.end):
                continue  # whose it is, not who it is
            if any(token.low == "other" for token in tokens[phrase.first : phrase.noun]):
                continue  # "your other dog" is beside the one that is spoken of
            named = self._name_phrase(tokens, phrase, speaker, addressee)
            if named is not None and not (named.gender == "t" and _stands_beside(tokens, phrase.first)):
                self._keep_referent(named)
        if (thing := _find_other_thing(tokens)) is not None:
            self._keep_referent(Referent(thing, "t", is_loose=True, key="? it"))
        for name in _list_loose_names(tokens, self.known_phrases(tokens)):
            self._keep_referent(Referent(name, is_loose=True, key=f"? {name.casefold()}"))

    def find_companions(self, tokens: Sequence[Token], speaker: str, *, is_asked: bool = False) -> str:
        """Who is with a speaker by a sentence, to stand behind the speaker's name: "their family", "Raff".

        Args:
            speaker: as a statement calls them.
            is_asked: whether somebody else asks it of the speaker: then "your family" is theirs.
        """
        own = ("your",) if is_asked else ("my", "our", "the")
        group = self._find_person_met(tokens, speaker) if not is_asked else ""
        for phrase in self.known_phrases(tokens):
            low, before = tokens[phrase.first].low, tokens[phrase.first - 1].low if phrase.first else ""
            is_beside = before in ("with", "and") or [one.low for one in tokens[phrase.end : phrase.end + 2]] == [
                "and",
                "i",
            ]
            if phrase.sort == "things" or phrase.name.casefold() in self._folded:
                continue
            rest = " ".join(token.text for token in tokens[phrase.first + 1 : phrase.noun + 1])
            companion = phrase.name or (f"{low} {rest}" if low in ("some", "a", "an") else "")
            if not companion and low in own:
                companion = f"{'your' if speaker == 'You' else 'their'} {rest}"
            if companion and is_beside:
                return companion
            group = companion if companion and phrase.sort == "groups" and not is_asked and phrase.first == 0 else group
        return group

    def _find_person_met(self, tokens: Sequence[Token], speaker: str) -> str:
        """Whom a speaker says that they met, coach or live with, in a sentence of few words before it: "a teen"."""
        words = [token.low for token in tokens if token.low[:1].isalnum()]
        if len(words) < _LEAST_MEETING or words[0] != "i":
            return ""
        for phrase in self.known_phrases(tokens):
            low, verb = tokens[phrase.first].low, verb_forms().lemma(tokens[phrase.first - 1].low)
            is_person = phrase.sort not in ("things", "pets") and phrase.name.casefold() not in self._folded
            if not is_person or phrase.first < 1 or verb not in talk_words().sets["meetings"]:
                continue
            rest = " ".join(token.text for token in tokens[phrase.first + 1 : phrase.noun + 1])
            if phrase.name or low in ("a", "an", "some"):
                return phrase.name or f"{low} {rest}"
            return f"{'your' if speaker == 'You' else 'their'} {rest}" if low in ("my", "our") else ""
        return ""

    def is_known_person(self, name: str) -> bool:
        """Whether somebody of this name speaks or was spoken of."""
        return name.casefold() in self._persons

    def knows_own(self, speaker: str, noun: str) -> bool:
        """Whether people of a speaker's were spoken of in these words: "my friends" of Mara.

        Args:
            speaker: as a statement calls them.
            noun: lower case.
        """
        return f"{possessive(speaker)} {noun}".casefold() in self._referents

    def names_other(self, tokens: Sequence[Token], speaker: str) -> bool:
        """Whether a sentence names, or may name, a person or an animal that is not its speaker."""
        own = {speaker.casefold(), *speaker.casefold().split()}
        phrases = (one for one in self.known_phrases(tokens) if one.sort != "things")
        is_named = any((one.name or tokens[one.noun].text).casefold() not in own for one in phrases)
        is_pointed_at = any(token.low in _OTHERS for token in tokens)
        return is_named or is_pointed_at or any(name.casefold() not in own for name in find_loose_names(tokens))

    def known_phrases(self, tokens: Sequence[Token]) -> tuple[NounPhrase, ...]:
        """The nouns and names of a sentence."""
        of, known, found = self._phrases
        if of is not tokens or known != len(self._persons):  # who is known stays known
            found = find_noun_phrases(tokens, self._persons)
            self._phrases = tokens, len(self._persons), found
        return found

    def _name_phrase(
        self, tokens: Sequence[Token], phrase: NounPhrase, speaker: str, addressee: str
    ) -> Referent | None:
        gender = {"women": "f", "men": "m", "groups": "g", "things": "t"}.get(phrase.sort, "")
        is_animal = phrase.sort == "pets"
        name = phrase.name or self._describe_referent(tokens, phrase, speaker, addressee)
        if not name:
            return None
        if phrase.name and phrase.sort != "things":
            self._persons.setdefault(name.casefold(), name)
        is_subject = phrase.first == 0 or all(not token.is_word for token in tokens[: phrase.first])
        key = name.casefold()
        known = self._referents.get(key)
        if not gender and known is not None:
            gender = known.gender
        is_animal = is_animal or (known is not None and known.is_animal)
        return Referent(name, gender, is_animal, is_subject=is_subject, key=key)

    def _describe_referent(self, tokens: Sequence[Token], phrase: NounPhrase, speaker: str, addressee: str) -> str:
        words = " ".join(token.text for token in tokens[phrase.first : phrase.noun + 1])
        low = tokens[phrase.first].low
        if speaker and phrase.sort == "pets" and _is_got(tokens, phrase.first):
            return f"{possessive(speaker)} {tokens[phrase.noun].low}"
        rest = " ".join(token.text for token in tokens[phrase.first + 1 : phrase.noun + 1])
        if low in ("my", "our"):
            return f"{possessive(speaker)} {rest}" if speaker else ""
        if low == "your":
            return f"{possessive(addressee)} {rest}" if addressee else ""
        if low in ("his", "her", "their"):
            owner, sure = self.resolve(low, not_meant=(speaker, addressee))
            return f"{possessive(owner.name)} {rest}" if owner and sure > _OPEN else ""
        if low in ("the", "a", "an", "some"):
            return f"the {rest}" if phrase.noun > phrase.first else ""
        if low in talk_words().sets["kin_titles"] and phrase.noun == phrase.first:
            known = self._persons.get(low)
            return known or (f"{possessive(speaker)} {low}" if speaker else "")
        return words if phrase.sort == "names" else ""

    def _keep_referent(self, referent: Referent) -> None:
        self._count += 1
        key = referent.key or referent.name.casefold()
        self._referents.pop(key, None)
        self._referents[key] = replace(referent, turn=self.turn, place=self._count, key=key)
        if len(self._referents) > _MOST_KEPT:
            del self._referents[next(iter(self._referents))]


def _is_got(tokens: Sequence[Token], first: int) -> bool:
    """Whether what begins at a place is what the speaker says that they have or get: "I adopted a pup"."""
    lows = [token.low for token in tokens[max(0, first - 4) : first]]
    is_new = tokens[first].low in ("a", "an", "this")
    acts = {verb_forms().lemma(low) for low in lows[-1:]}
    return (
        is_new and bool({"i", "we"} & {*lows}) and bool(acts & {"adopt", "get", "have", "own", "buy", "rescue", "'ve"})
    )


def possessive(name: str) -> str:
    """A name as the owner of what follows."""
    if name == "You":
        return "your"
    return name + ("'" if name.endswith("s") and name.split()[-1][:1].islower() else "'s")


def find_noun_phrases(tokens: Sequence[Token], persons: Iterable[str] = ()) -> tuple[NounPhrase, ...]:
    """Relatives, people, animals and things by their nouns, and names of people.

    Args:
        persons: names, folded, that are known to be people's.
    """
    known, nouns = frozenset(persons), _noun_sorts()
    places = [
        at
        for at, token in enumerate(tokens)
        if token.low in nouns or token.text[:1].isupper() or token.low.endswith(_AGED)
    ]
    out: list[NounPhrase] = []
    end = 0
    for at in places:
        if at < end:
            continue
        phrase = _noun_at(tokens, at) or _name_in_tokens(tokens, at, known)
        if phrase is not None:
            out.append(phrase)
            end = max(phrase.end, at + 1)
    return tuple(out)


def find_loose_names(tokens: Sequence[Token], persons: Iterable[str] = ()) -> tuple[str, ...]:
    """Words with a capital that may be somebody's name and are not known to be."""
    return _list_loose_names(tokens, find_noun_phrases(tokens, persons))


def _list_loose_names(tokens: Sequence[Token], phrases: Iterable[NounPhrase]) -> tuple[str, ...]:
    covered = {at for one in phrases for at in range(one.first, one.end)}
    verbs, places = verb_forms(), known_names()[2]
    return tuple(
        token.text
        for at, token in enumerate(tokens)
        if at not in covered
        and not (at and tokens[at - 1].low in _AT_PLACES)
        and _looks_like_name(tokens, at)
        and token.low not in places
        and token.low not in _noun_sorts()
        and not (at == 0 and (token.low in verbs.base or token.low in verbs.past or token.low in common_words()))
    )


def _stands_beside(tokens: Sequence[Token], first: int) -> bool:
    """Whether a thing only says where or with what something is: "currants from the garden" are what "it" means."""
    while first > 1 and (tokens[first - 1].is_capital or tokens[first - 1].low in talk_words().sets["titles"]):
        first -= 1
    return first > 0 and (tokens[first - 1].low in _PREPOSITIONS or tokens[first - 1].low in ("with", "for", "by"))


def _find_other_thing(tokens: Sequence[Token]) -> str | None:
    """The last thing of a sentence whose noun is not known to be one, so that "it" may mean it."""
    sets = talk_words().sets
    for at in range(len(tokens) - 1, 0, -1):
        low = tokens[at].low
        is_noun = low.isalpha() and low not in sets["english"] and low not in sets["adjectives"]
        if is_noun and low not in _noun_sorts() and tokens[at - 1].low in ("a", "an", "the", "my", "our", "some"):
            return tokens[at].text if not _stands_beside(tokens, at - 1) else None
    return None


@cache
def _noun_sorts() -> dict[str, str]:
    sets = talk_words().sets
    return {word: sort for sort in ("things", "people", "pets", "groups", "men", "women") for word in sets[sort]}


def _noun_at(tokens: Sequence[Token], at: int) -> NounPhrase | None:
    sort = _noun_sorts().get(tokens[at].low) or ("people" if tokens[at].low.endswith(_AGED) else None)
    sets = talk_words().sets
    if sort is None:
        return None
    first = at
    while first > 0 and at - first < 3 and _may_precede_noun(tokens[first - 1].low):
        first -= 1
    is_owned = first > 0 and tokens[first - 1].low in _DETERMINERS
    if is_owned:
        first -= 1
        if tokens[first].low == "'s" and first > 0:
            return _named_owner(tokens, first - 1, at, sort)
    elif tokens[at].low not in sets["kin_titles"] or at != first:
        return None
    if tokens[at + 1 : at + 3] and [token.low for token in tokens[at + 1 : at + 3]] == ["in", "law"]:
        at += 2
    name, end = ("", at + 1) if sort in ("things", "groups") else _name_behind(tokens, at + 1)
    return NounPhrase(first, at, name, sort, end)


def _may_precede_noun(low: str) -> bool:
    """Whether a word may stand between "my" and a noun."""
    sets, verbs = talk_words().sets, verb_forms()
    if low in sets["adjectives"]:
        return True
    is_small = low in sets["english"] or low in sets["grammar"] or low in _DETERMINERS
    return low.isalpha() and not is_small and low not in verbs.past and low not in verbs.third and low not in verbs.base


def _named_owner(tokens: Sequence[Token], owner: int, at: int, sort: str) -> NounPhrase | None:
    if not tokens[owner].is_capital:
        return None
    owned = f"{tokens[owner].text}'s {tokens[at].text}"
    name, end = _name_behind(tokens, at + 1)
    return NounPhrase(owner, at, name or owned, sort, end)


def _name_behind(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The name that follows a noun, at once, behind a comma or behind "called"."""
    sets = talk_words().sets
    begin = at
    if begin < len(tokens) and (tokens[begin].low == "," or tokens[begin].low in sets["name_links"]):
        begin += 1
    elif begin + 1 < len(tokens) and tokens[begin].low in ("is", "'s") and tokens[begin + 1].low in sets["name_links"]:
        begin += 2
    end = begin
    while end < len(tokens) and end - begin < 3 and _looks_like_name(tokens, end):
        end += 1
    if end == begin:
        return "", at
    if begin > at and tokens[at].low == "," and end < len(tokens) and tokens[end].low in ("and", "'s"):
        return "", at  # "my sister, Tom and I"
    return " ".join(token.text for token in tokens[begin:end]), end


def _looks_like_name(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    _, not_names, _ = known_names()
    sets = talk_words().sets
    return (
        token.is_capital
        and len(token.text) > 1
        and token.low not in not_names
        and token.low not in sets["english"]
        and token.low not in sets["months"]
        and (token.low not in sets["labels"])
    )


def _name_in_tokens(tokens: Sequence[Token], at: int, known: frozenset[str]) -> NounPhrase | None:
    """A name of a person: one that is known, or one that stands as people's names do."""
    token = tokens[at]
    sets = talk_words().sets
    first_names, _, places = known_names()
    if token.low in sets["titles"] and token.is_capital and at + 1 < len(tokens):
        behind = at + 1 + (tokens[at + 1].low == ".")
        if behind < len(tokens) and _looks_like_name(tokens, behind):
            name = " ".join(part.text for part in (token, tokens[behind]))
            gender = "women" if token.low in ("mrs", "ms", "miss", "aunt", "auntie", "sister") else "names"
            return NounPhrase(at, behind, name, "men" if token.low in ("mr", "uncle") else gender, behind + 1)
    end = at
    while end < len(tokens) and end - at < 3 and _looks_like_name(tokens, end):
        end += 1
    if end == at:
        return None
    name = " ".join(part.text for part in tokens[at:end])
    sort = next((sort for sort in ("women", "men") if token.low in sets[sort]), "names")
    is_person = name.casefold() in known or token.low in known or token.low in first_names
    if not is_person and (token.low in places or not _stands_like_person(tokens, at, end)):
        return None
    return NounPhrase(at, end - 1, name, sort, end)


def _stands_like_person(tokens: Sequence[Token], at: int, end: int) -> bool:
    before = tokens[at - 1].low if at else ""
    behind = tokens[end].low if end < len(tokens) else ""
    if before in _PREPOSITIONS or before in ("the", "a", "an", "this", "'s"):
        return False
    verbs = verb_forms()
    acts = behind in verbs.third or behind in ("is", "was", "has", "says", "said", "'s")
    if at == 0 or not tokens[at - 1].is_word:
        return False  # a capital that opens a sentence is no name's
    return before in ("with", "and") or acts


def _fits_pronoun(one: Referent, wanted: str) -> bool:
    if wanted in ("g", "t"):
        return one.gender == wanted or (wanted == "t" and one.is_animal)
    return one.gender in ("", wanted)


def _choose_referent(fitting: Sequence[Referent], wanted: str, turn: int) -> tuple[Referent, float]:
    best, *others = fitting
    near = [one for one in others if best.turn - one.turn <= 1]
    if wanted == "t":
        return best, _LIKELY if turn - best.turn <= 1 and not near else _OPEN
    if best.gender == wanted:
        rivals = [one for one in near if one.gender == wanted]
        if not rivals:
            return best, _SURE if turn - best.turn <= 3 else _LIKELY
        return _subject_of(fitting, best, rivals)
    sure = [one for one in others if one.gender == wanted and one.turn >= best.turn - 2]
    if sure:
        return sure[0], _DOUBTFUL if len(sure) == 1 else _OPEN
    if not near:
        return best, _LIKELY
    return _subject_of(fitting, best, near)


def _subject_of(fitting: Sequence[Referent], best: Referent, rivals: Sequence[Referent]) -> tuple[Referent, float]:
    """Of several in one turn the one that its sentence is about."""
    same = [one for one in (best, *rivals) if one.turn == best.turn]
    subjects = [one for one in same if one.is_subject]
    if len(subjects) == 1 and subjects[0].gender:
        return subjects[0], _DOUBTFUL
    return (best, _DOUBTFUL) if len(same) == 1 and len(fitting) <= 3 else (best, _OPEN)
