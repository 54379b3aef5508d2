"""Rewrites a clause in the third person in its own words: "I've sold my boat" is "Mara has sold their boat".

Pronouns become names, verbs agree with them, shortened verbs are written out, phrases of time become dates. What
cannot be rewritten so is refused with a reason. Must not do: add a word that the talk does not have, other than names,
dates and the small words of grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.talk.agreement import (
    NOT_FORMS,
    SINGULAR,
    SPOKEN,
    YOU,
    ClauseDraft,
    Speech,
    UnclearClauseError,
    agree_verb,
    write_is_or_has,
    write_would_or_had,
)
from core.talk.clauses import (
    SUBJECTS,
    Clause,
    behind_is_date,
    has_finite_verb,
    is_finite,
    is_verb_s,
    opens_with_subject,
    speaks_of_past,
)
from core.talk.dates import find_date_edits
from core.talk.references import References, possessive
from core.talk.statement_check import correct_tense, find_calls, is_dependent, lacks_article, names_bare_thing
from core.talk.style.company import check_others, check_we, is_of_each, names_companion, takes_up_group
from core.talk.style.gender import pronouns_of
from core.talk.style.polish import polish_sentence
from core.talk.style.speaker import is_several, is_they, may_point, name_own, opens_with_act, tells_age
from core.talk.vocabulary import Edit, Token, apply_edits, talk_words, tokenize_talk, verb_forms
from core.text.noun_phrases import is_noun
from core.text.terms import common_words

_OF_NAMING = 0.75
"""How sure at least is whose name is told where the last one that was spoken of has none yet: "her name is Rex"."""
LEAST_SURE = 0.55
"""A reference that is less sure is none."""
_FIRST = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"))
_SECOND = frozenset(("you", "your", "yours", "yourself"))
_MANY = frozenset(("they", "them", "their"))
"""Of these, who was named further back than the turn before is too often another."""
_THIRD = frozenset(("he", "she", "they", "it", "him", "them", "his", "her", "hers", "their", "its"))
_PICTURES = re.compile("[\u2190-\u21ff\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+|\\[\\[|\\]\\]")
_INVERTED = frozenset(
    (
        "am",
        "are",
        "is",
        "was",
        "were",
        "do",
        "does",
        "did",
        "have",
        "has",
        "can",
        "could",
        "should",
        "would",
        "will",
        "shall",
    )
)
_STOPS = frozenset((",", ";", ":", "-", "–", "—", "--", "(", "=", "→", "/"))
_ARTICLES = frozenset(("a", "an", "the", "my", "our", "his", "her", "their", "your", "its"))
_JOINTS = frozenset(
    (
        ",",
        "and",
        "but",
        "because",
        "when",
        "that",
        "who",
        "which",
        "where",
        "if",
        "so",
        "to",
        "while",
        "as",
        "since",
        "after",
        "before",
        "until",
        "than",
        "whenever",
    )
)
_BINDERS = frozenset(("when", "even", "if", "while", "because", "although", "though", "since", "whenever", "as"))
_SUPPOSING = frozenset(("unless", "until", "till", "if", "when", "whenever", "once", "where"))
_ADDRESSING = frozenset(("tell", "thank", "show", "remind", "promise", "warn"))
_SINCE = frozenset(("since", "because", "until"))
_TRAILING = frozenset(("too", "so", "either", "anyway", "though", "not"))


_PERSONS = ("women", "men", "people", "groups", "pets", "kin_titles", "english")


@dataclass(frozen=True, slots=True)
class RewrittenClause:
    """A clause in the third person.

    Attributes:
        text: a sentence with its capital and full stop.
        about: whom or what it tells.
        sure: how sure references and grammar are.
        start: first character of the clause in its sentence; `end` is exclusive.
    """

    text: str
    about: str
    sure: float
    start: int
    end: int


def rewrite_clause(
    sentence: str, tokens: Sequence[Token], clause: Clause, speech: Speech, references: References, *,
    topic: str = "", recurs: bool = False,
) -> RewrittenClause:  # fmt: skip
    """Tell a clause by itself.

    Args:
        tokens: of the sentence.
        topic: of whom a clause without a subject speaks; "" where nobody is known.
        recurs: whether it tells of a habit, so that "in April" is no certain April.

    Raises:
        UnclearClauseError: a word means nobody that is known, or the clause is none.
    """
    _check_shape(tokens, clause)
    draft = ClauseDraft(sentence, tokens, clause, speech, references.known_phrases(tokens))
    draft.calls = tuple(find_calls(tokens, clause.first, clause.end, speech.addressee))
    prefix = _find_prefix(draft, topic)
    if prefix:
        draft.has_speaker = draft.about == speech.speaker
    else:
        _check_order(draft)
        _rewrite_elided_owner(draft)
    at = clause.first
    while at < clause.end:
        at = max(_rewrite_word(draft, at, references), at + 1)
    dates: Sequence[Edit] = ()
    is_ahead = not speaks_of_past(tokens, clause.first, clause.end)
    if speech.said_ms is not None:
        dates = find_date_edits(sentence, speech.said_ms, is_ahead=is_ahead, recurs=recurs)
        draft.edits += dates
    draft.edits += [Edit(tokens[at - 1].start, tokens[at + 1].end, "") for at in draft.calls]
    start, end = tokens[clause.first].start, tokens[clause.end - 1].end
    body = " ".join(_PICTURES.sub(" ", apply_edits(sentence, start, end, draft.edits)).split())
    draft.sure *= _clarity_of(draft, bool(prefix))
    rewritten = _finish_sentence(f"{prefix} {body[:1].lower()}{body[1:]}" if prefix else body)
    rewritten = correct_tense(rewritten, () if is_ahead else dates)
    rewritten = polish_sentence(rewritten, speech.speaker, pronouns_of(speech.gender), () if is_ahead else dates)
    _check_rewritten(rewritten, draft)
    about = draft.about or prefix or _head_of(draft) or speech.speaker
    return RewrittenClause(rewritten, about, draft.sure * (0.8 if prefix else 1.0), start, end)


def _rewrite_elided_owner(draft: ClauseDraft) -> None:
    """Tell a thing that opens a clause in note style as the speaker's: "cast comes off on Thursday" is of "my cast"."""
    first, who = draft.clause.first, draft.speech.speaker
    token, behind = draft.tokens[first], draft.low(first + 1)
    is_plain = is_noun(token.low) and token.low not in verb_forms().third and not token.low.endswith(("ing", "s"))
    is_acting = behind in verb_forms().sets["of_things"] or (
        behind in ("is", "was") and draft.low(first + 2) in ("in", "on", "at", "due", "from", "until", "till", "booked")
    )  # what a name does as well tells nothing: "Kit has built a shed"
    is_small = token.low in talk_words().sets["english"] or token.low in talk_words().sets["people"]
    is_told_of = any(draft.low(at) in _FIRST for at in range(first, draft.clause.end)) or _is_named(draft, first)
    if who and is_plain and is_acting and not (is_small or is_told_of or token.low in talk_words().sets["kin_titles"]):
        rewritten = possessive(who)
        draft.put(first, f"{rewritten[:1].upper()}{rewritten[1:]} {token.low}")
        draft.about, draft.has_speaker = who, True
        draft.sure *= 0.8


def _clarity_of(draft: ClauseDraft, is_prefixed: bool) -> float:
    """How well a stranger knows whose thing a clause speaks of: "the hall is for 120" leaves it open."""
    first = draft.clause.first
    token = draft.tokens[first]
    sets = talk_words().sets
    if is_prefixed or draft.about or token.low in SUBJECTS:
        return 1.0
    if token.low in (
        "nothing",
        "everything",
        "nobody",
        "everybody",
        "everyone",
        "all",
        "both",
        "some",
        "most",
        "another",
    ):
        return 0.6
    is_named = any(
        draft.tokens[at].is_capital and draft.low(at) not in sets["english"]
        for at in range(first + 1, draft.clause.end)
    )
    is_name = any(one.first == first and one.sort not in ("things", "groups") for one in draft.phrases)
    return 1.0 if is_named or is_name or draft.has_speaker or draft.referents else 0.65


def _check_shape(tokens: Sequence[Token], clause: Clause) -> None:
    sets = talk_words().sets
    lows = [token.low for token in tokens[clause.first : clause.end]]
    words = [low for low in lows if low[:1].isalnum()]
    if len(words) < 2 or " ".join(words) in {" ".join(one) for one in talk_words().phrases["empty_clauses"]}:
        raise UnclearClauseError("fragment")
    if lows[0] in ("not", "only") and lows[1] not in ("i", "we", "my"):
        raise UnclearClauseError("fragment")
    if lows[0] in ("if", "unless", "imagine", "suppose", "whether"):
        raise UnclearClauseError("hypothesis")
    if (lows[0] in ("don't", "do") and lows[1] not in verb_forms().sets["felt"]) or (
        lows[0] == "never" and lows[1] in verb_forms().base
    ):
        raise UnclearClauseError("instruction")
    finite = [is_finite(tokens, at, clause.first) for at in range(clause.first, clause.end)]
    verbs = sum(here and not before for before, here in zip([False, *finite], finite, strict=False))
    if is_dependent(lows, verbs) or lacks_article(tokens, clause.first) or names_bare_thing(lows) or lows[0] == "gonna":
        raise UnclearClauseError("fragment")
    if lows[0] in ("let's", "lets", "please", "what", "who", "how", "why", "where", "which", "that", "than"):
        raise UnclearClauseError("fragment")
    rest = [low for low in lows if (low[-1:].isalnum() or low.startswith("'")) and low not in _TRAILING]
    aux = {"am", "is", "are", "was", "were", "do", "does", "did", "have", "has", "had", "to"}
    last = rest[-1] if rest else ""
    if last in aux or last in verb_forms().sets["modals"] or last.endswith("n't") or last in ("'m", "'ll", "'re"):
        raise UnclearClauseError("fragment")
    if lows[0] in ("this", "that", "these", "those") or (lows[0] == "there" and lows[1] not in _there_verbs()):
        raise UnclearClauseError("reference")
    if lows[0] in sets["deictic"] and lows[0] not in ("one", "there", "another", "both"):
        raise UnclearClauseError("reference")


def _check_order(draft: ClauseDraft) -> None:
    """Refuse a clause whose verb does not follow its subject: notes and asides are none."""
    first, end = draft.clause.first, draft.clause.end
    verb = next((at for at in range(first, end) if _is_main_verb(draft, at)), None)
    subject = next((at for at in range(first, end) if draft.low(at) in SUBJECTS), None)
    if verb is None or verb == first:
        raise UnclearClauseError("fragment")
    if draft.low(first) not in _BINDERS and any(draft.low(at) in _SINCE for at in range(first + 1, verb)):
        raise UnclearClauseError("fragment")  # "a year next month since Tom moved" has no verb of its own
    called = {place for at in draft.calls for place in (at - 1, at + 1)}
    stop = next((at for at in range(first, verb) if draft.low(at) in _STOPS and at not in called), None)
    leads = draft.low(first) in talk_words().sets["leads"] or draft.low(first) in verb_forms().sets["adverbs"]
    if stop is not None:
        behind = verb - 1 if draft.low(verb - 1) not in verb_forms().sets["adverbs"] else verb - 2
        opens = any(one.first == first and one.noun < stop for one in draft.phrases)
        is_aside = opens and draft.low(stop) == "," == draft.low(behind) and behind > stop and subject is None
        is_lead = leads and draft.low(stop) == ","
        is_lead = is_lead and (draft.low(stop + 1) == "there" or opens_with_subject(draft.tokens, stop + 1, end))
        if not is_aside and not is_lead:
            raise UnclearClauseError("fragment")
    elif (
        subject is not None
        and first < subject < verb
        and not leads
        and draft.low(subject - 1) not in ("and", "or", "that")
    ):
        raise UnclearClauseError("fragment")
    opening = draft.low(first)
    is_count = draft.low(verb) in verb_forms().third and draft.low(verb + 1) == ","  # "band pulls, three by eight"
    if _is_elided_passive(draft, verb) or (is_count and verb == first + 1):
        raise UnclearClauseError("fragment")
    is_state = opening.endswith("ed") and verb != first + 1 and subject is None and not _is_named(draft, first)
    is_numbered = opening[:1].isdigit() and verb == first + 1
    if is_state or is_numbered or (opening in verb_forms().third and draft.low(first + 1)[:1].isdigit()):
        raise UnclearClauseError("fragment")


def _is_elided_passive(draft: ClauseDraft, verb: int) -> bool:
    """Whether a clause is a note's "chimney swept before the winter", which leaves out what makes it a sentence."""
    first, verbs, sets = draft.clause.first, verb_forms(), talk_words().sets
    low, behind = draft.low(verb), draft.low(verb + 1)
    is_done = low in verbs.participles and low in verbs.past and verbs.lemma(low) in verbs.sets["done_to"]
    if verb != first + 1 or not is_done or _is_named(draft, first):
        return False
    is_person = draft.low(first) in SUBJECTS or any(draft.low(first) in sets[sort] for sort in _PERSONS)
    has_object = behind[:1].isalnum() and not (behind in sets["leads"] or behind in verbs.sets["adverbs"])
    return not is_person and not has_object


def _is_main_verb(draft: ClauseDraft, at: int) -> bool:
    """Whether a word is a verb with a subject's form that is not a relative clause's."""
    if not is_finite(draft.tokens, at, draft.clause.first):
        return False
    return draft.low(at - 1) not in ("that", "who", "which") or at - 1 == draft.clause.first


def _there_verbs() -> frozenset[str]:
    return frozenset(("'s", "is", "are", "was", "were", "will", "isn't", "aren't"))


def _find_prefix(draft: ClauseDraft, topic: str) -> str:
    """The subject of a clause that leaves it out; "" where it has its own."""
    first = draft.clause.first
    low = draft.low(first)
    verbs = verb_forms()
    if low in verbs.sets["adverbs"]:
        first += 1
        low = draft.low(first)
    if low in SUBJECTS or low in _FIRST or low in _SECOND:
        return ""
    is_dropped = low in verbs.sets["dropped"] and draft.low(first + 1) not in (
        "and",
        "is",
        "was",
        "for",
        "has",
        "of",
        "",
    )
    if is_dropped or low == "don't":
        return _rewrite_dropped(draft, first, topic)
    if _is_been_doing(draft, first):
        return _rewrite_progress(draft, first + 1, topic)
    is_past = _opens_in_past(draft, first)
    is_third = low in verbs.third and low not in verbs.base and topic not in ("", draft.speech.speaker)
    if is_past or is_third:
        return _rewrite_past(draft, first, topic or (draft.speech.speaker if is_past else ""), is_asked=bool(topic))
    if low in verbs.base and low not in verbs.sets["noun_too"] and not _is_named(draft, first):
        raise UnclearClauseError("instruction")
    if has_finite_verb(draft.tokens, first, draft.clause.end):
        return ""
    if low.endswith("ing") and _goes_on(draft, first + 1):
        return _rewrite_progress(draft, first, topic)
    raise UnclearClauseError("fragment")


def _rewrite_past(draft: ClauseDraft, at: int, who: str, *, is_asked: bool) -> str:
    """Reads "lost my job" and "went to Porto" as of somebody, the surer where it says "my" or was asked of them."""
    if not who:
        raise UnclearClauseError("fragment")
    draft.about = who
    is_own = any(draft.low(place) in _FIRST for place in range(at, draft.clause.end))
    draft.sure *= 0.85 if is_asked or is_own else 0.7
    if who == YOU and draft.low(at) == "was":
        draft.put(at, "were")
    return who


def _rewrite_dropped(draft: ClauseDraft, at: int, topic: str) -> str:
    """Reads "must ring the council" and "don't like it" as of the speaker."""
    who = topic or draft.speech.speaker
    if not who:
        raise UnclearClauseError("speaker")
    draft.about = who
    draft.sure *= 0.85
    agree_verb(draft, at, who)
    return who


def _goes_on(draft: ClauseDraft, at: int) -> bool:
    """Whether what follows a verb in -ing is what is done, where or when."""
    low = draft.low(at)
    return (
        low in talk_words().sets["leads"]
        or low in _FIRST
        or low in ("a", "an", "the", "to", "up", "out", "off", "back", "about", "like")
    )


def _is_been_doing(draft: ClauseDraft, at: int) -> bool:
    """Whether a clause opens as "been painting the shed" does."""
    return draft.low(at) == "been" and draft.low(at + 1).endswith("ing")


def _rewrite_progress(draft: ClauseDraft, at: int, topic: str) -> str:
    who = topic or draft.speech.speaker
    base = draft.low(at)[:-3]
    verbs = verb_forms().base
    if not who or not ({base, base + "e", base[:-1]} & verbs):
        raise UnclearClauseError("fragment")
    draft.about = who
    draft.sure *= 0.9
    is_you = who == YOU
    if draft.low(at - 1) == "been":
        return f"{who} {'have' if is_you else 'has'}"
    return f"{who} {'are' if is_you else 'is'}"


def _opens_in_past(draft: ClauseDraft, at: int) -> bool:
    """Whether a clause opens with a verb of the past that is no state: "went to Porto", but not "married"."""
    low, verbs = draft.low(at), verb_forms()
    is_done = draft.low(at + 1) in _ARTICLES  # "lost my job", but not "lost in Leith"
    is_past = low in verbs.past and low not in verbs.base
    is_past = is_past and (is_done or low not in verbs.sets["participle_adjectives"])
    return is_past and not (low == "sat" and behind_is_date(draft.tokens, at))


def _is_named(draft: ClauseDraft, at: int) -> bool:
    return any(one.first <= at < one.end and one.sort != "things" for one in draft.phrases)


def _rewrite_word(draft: ClauseDraft, at: int, references: References) -> int:
    """Tell the word at a place; the place behind what was read."""
    low = draft.low(at)
    if low in _FIRST:
        return _rewrite_first(draft, at)
    if low in _SECOND:
        return _rewrite_second(draft, at)
    if low in _THIRD:
        return _rewrite_third(draft, at, references)
    if low in talk_words().sets["kin_titles"] and _is_bare_title(draft, at):
        return _rewrite_title(draft, at, references)
    behind = draft.low(at + 1)
    is_own = low == "these" and behind in talk_words().sets["groups"] and at > draft.clause.first
    if is_own and draft.speech.speaker and references.knows_own(draft.speech.speaker, behind):
        _rewrite_own(draft, at, draft.speech.speaker)  # "these friends" are those of before
    elif low == "this" and _brings_in(draft, at):
        draft.put(at, "an" if draft.low(at + 1)[:1] in "aeiou" else "a")
    elif low.endswith("n't"):
        draft.put(at, NOT_FORMS.get(low) or low[:-3] + " not")
    elif low == "'s" and is_verb_s(draft.tokens, at):
        draft.put(at, write_is_or_has(draft, at))
    elif low in SPOKEN:
        draft.put(at, SPOKEN[low])
    return at + 1


def _brings_in(draft: ClauseDraft, at: int) -> bool:
    """Whether "this" brings in somebody new, as in "I met this woman, Jean", and points at nobody."""
    sets = talk_words().sets
    nouns = [draft.low(place) for place in range(at + 1, at + 4)]
    noun = next((low for low in nouns if any(low in sets[sort] for sort in ("women", "men", "people", "pets"))), "")
    told = draft.low(at - 1)
    forms = verb_forms()
    return bool(noun) and (told in forms.past or told in forms.participles) and draft.low(at + 1) != "one"


def _is_bare_title(draft: ClauseDraft, at: int) -> bool:
    phrase = next((one for one in draft.phrases if one.noun == at), None)
    before = draft.low(at - 1)
    is_free = not before[:1].isalpha() or before in talk_words().sets["english"] or before in verb_forms().third
    return is_free and phrase is not None and phrase.first == at and not phrase.name


def _rewrite_title(draft: ClauseDraft, at: int, references: References) -> int:
    token = draft.tokens[at]
    if references.is_known_person(token.low) or not draft.speech.speaker:
        return at + 1
    rewritten = f"{possessive(draft.speech.speaker)} {token.low}"
    draft.put(at, rewritten)
    draft.about = draft.about or rewritten
    return at + 1


def _rewrite_first(draft: ClauseDraft, at: int) -> int:
    low, who = draft.low(at), draft.speech.speaker
    if not who:
        raise UnclearClauseError("speaker")
    if low in ("i", "we"):
        return _rewrite_subject(draft, at, who)
    if low == "us":  # more than the speaker, and nobody said who
        raise UnclearClauseError("reference")
    if low in ("ours", "ourselves", "our"):
        draft.sure *= 0.85
    if low == "mine" and draft.low(at - 1) == "of":  # "a friend of mine"
        draft.put(at, possessive(who) if who != YOU else "yours")
        return at + 1
    if low == "me":
        if draft.low(at + 1) in ("and", "too", "either", "neither"):
            raise UnclearClauseError("fragment")
        pronouns = pronouns_of(draft.speech.gender)
        is_understood = may_point(draft, at) and (not pronouns.is_plural or is_they(draft, at))
        draft.put(at, "you" if who == YOU else pronouns.object if is_understood else who)
        draft.has_speaker = True
    elif low in ("myself", "ourselves"):
        draft.put(at, "yourself" if who == YOU else pronouns_of(draft.speech.gender).reflexive)
    elif low in ("mine", "ours"):
        raise UnclearClauseError("reference")
    else:
        _rewrite_own(draft, at, who)
    return at + 1


def _rewrite_own(draft: ClauseDraft, at: int, who: str) -> None:
    """Tell "my": the name's, or "their" where the name stands before it."""
    rewritten = possessive(who)
    if who != YOU and not draft.has_speaker and opens_with_act(draft, at):
        draft.put(at, pronouns_of(draft.speech.gender).owner)
        return
    is_home = draft.low(at + 1) == "place" and not draft.speech.gender  # "at their place" reads as of others
    if not is_home and may_point(draft, at):
        rewritten = pronouns_of(draft.speech.gender).owner
    draft.put(at, rewritten)
    if at == draft.clause.first and not draft.about:
        phrase = next((one for one in draft.phrases if one.first == at), None)
        named = phrase is not None and phrase.sort not in ("things", "groups")
        noun = " ".join(token.text for token in draft.tokens[at + 1 : phrase.noun + 1]) if phrase else ""
        draft.about = who if not named or phrase is None else phrase.name or f"{possessive(who)} {noun}"
    draft.has_speaker = True


def _rewrite_subject(draft: ClauseDraft, at: int, who: str) -> int:
    low = draft.low(at)
    if draft.low(at - 1) in _INVERTED and not draft.low(at - 1).startswith("'"):
        raise UnclearClauseError("question")
    if low == "i" and draft.low(at + 1) in ("and", "or", ","):
        raise UnclearClauseError("fragment")
    if low == "we" and draft.speech.companions and not draft.has_speaker and not names_companion(draft, at):
        draft.put(at, f"{who if at == draft.clause.first else _lower_you(who)} and {draft.speech.companions}")
        draft.has_speaker, draft.about = True, draft.about or who
        draft.sure *= 0.9
        return agree_verb(draft, at + 1, who, is_plural=True)
    if low == "we" and takes_up_group(draft, at):
        draft.put(at, "they")
        draft.sure *= 0.9
        return agree_verb(draft, at + 1, who, is_plural=True)
    is_joint = low == "we" and draft.low(at + 1) in ("'ll", "will", "can", "could", "all", "both")
    if is_joint and draft.has_speaker and not (draft.speech.companions or names_companion(draft, at)):
        raise UnclearClauseError("reference")  # "I look for things that we'll enjoy" means more than who speaks
    if low == "we":
        check_we(draft, at)
        draft.sure *= 0.85
        if not draft.has_speaker and not names_companion(draft, at) and not is_of_each(draft, at):
            check_others(draft, at)
            draft.put(at, f"{who if at == draft.clause.first else _lower_you(who)} and others")
            draft.has_speaker, draft.about = True, draft.about or who
            return agree_verb(draft, at + 1, who, is_plural=True)
    rewritten = who if who != YOU or at == draft.clause.first else "you"
    pronouns = pronouns_of(draft.speech.gender)
    is_understood = may_point(draft, at) or (draft.has_speaker and who != YOU and tells_age(draft, at))
    if is_understood and not pronouns.is_plural:  # "they" that does something reads as several: the name is sure
        draft.put(at, pronouns.subject)
        return agree_verb(draft, at + 1, who)
    draft.put(at, rewritten)
    draft.has_speaker = True
    if at == draft.clause.first or not draft.about:
        draft.about = who
    is_joined = draft.low(at - 1) == "and" and at - draft.clause.first in (2, 3, 4)
    return agree_verb(draft, at + 1, who, is_plural=is_joined and low == "i")


def _lower_you(who: str) -> str:
    return "you" if who == YOU else who


def _rewrite_second(draft: ClauseDraft, at: int) -> int:
    low, who = draft.low(at), draft.speech.addressee
    if not who or draft.speech.addressee_sure < LEAST_SURE:
        raise UnclearClauseError("reference")
    draft.sure *= 0.8
    if low in ("your", "yours"):
        is_again = low == "your" and who != YOU and draft.low(at - 2) == "you"  # "you sold your boat"
        owner = pronouns_of(draft.speech.addressee_gender).owner if is_again else possessive(who)
        draft.put(at, owner if low == "your" or who != YOU else "yours")
        if at == draft.clause.first and not draft.about:
            draft.about = who
        return at + 1
    if low == "yourself":
        draft.put(at, "yourself" if who == YOU else "themself")
        return at + 1
    verb = draft.low(at + 1)
    if verb in talk_words().sets["generic_you"] or verb.endswith("n't") or verb in ("'d", "'ll", "will"):
        raise UnclearClauseError("reference")
    if draft.low(at - 1) in _SUPPOSING or verb_forms().lemma(draft.low(at - 1)) in _ADDRESSING:
        raise UnclearClauseError("reference")  # "unless you climb up" is anybody, "I told you" is no fact
    if verb == "like" and at > draft.clause.first:  # "my friends know you like no one else" may be either
        raise UnclearClauseError("reference")
    draft.put(at, who if who != YOU or at == draft.clause.first else "you")
    if at == draft.clause.first:
        draft.about = who
    return agree_verb(draft, at + 1, who) if _is_verb(verb) else at + 1


def _is_verb(low: str) -> bool:
    verbs = verb_forms()
    return low in SINGULAR or low in verbs.base or low in verbs.past or low in verbs.sets["modals"]


def _rewrite_third(draft: ClauseDraft, at: int, references: References) -> int:
    low = draft.low(at)
    if not _stands_before(draft, at, low):
        referent, sure = references.resolve(low, not_meant=(draft.speech.speaker, draft.speech.addressee))
        if referent is not None and _gives_name(draft, at) and "'s " in referent.name:
            sure = max(sure, _OF_NAMING)
        is_far = low in _MANY and references.turn - (referent.turn if referent else 0) > 1
        is_event = low in ("it", "itself") and referent is not None and not referent.is_animal  # as often as a thing
        if referent is None or sure < LEAST_SURE or is_far or is_event:
            raise UnclearClauseError("reference")
        draft.sure *= sure
        references.mark_resolved(referent, low)
        draft.referents.append(referent)
        is_owner = low in ("his", "their", "its") or (low == "her" and _owns_next(draft, at))
        named = name_own(draft, at, referent.name)
        draft.put(at, possessive(named) if is_owner or low in ("hers",) else _match_clause_case(draft, at, named))
        if at == draft.clause.first and not draft.about:
            draft.about = referent.name
    behind = draft.low(at + 1)
    if behind == "'s":
        draft.put(at + 1, write_is_or_has(draft, at + 1))
    elif behind == "'d":
        draft.put(at + 1, write_would_or_had(draft, at + 1))
    elif behind in ("'re", "'ve", "'ll"):
        draft.put(at + 1, {"'re": "are", "'ve": "have", "'ll": "will"}[behind])
    else:
        return at + 1
    return at + 2


def _gives_name(draft: ClauseDraft, at: int) -> bool:
    """Whether a clause says how somebody is called: "her name is Rex"."""
    is_name = draft.low(at + 1) == "name" and draft.low(at + 2) in ("is", "'s")
    return is_name and at + 3 < draft.clause.end and draft.tokens[at + 3].is_capital


def _match_clause_case(draft: ClauseDraft, at: int, name: str) -> str:
    return name[:1].upper() + name[1:] if at == draft.clause.first else name


def _owns_next(draft: ClauseDraft, at: int) -> bool:
    behind = draft.low(at + 1)
    return behind[:1].isalnum() and (
        behind not in talk_words().sets["english"] or behind in ("own", "first", "new", "two")
    )


def _stands_before(draft: ClauseDraft, at: int, low: str) -> bool:
    """Whether the clause itself says whom a pronoun means; it stays then."""
    gender = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f"}.get(low)
    before = [one for one in draft.phrases if draft.clause.first <= one.first and one.end <= at]
    if gender:
        same = {"m": "men", "f": "women"}[gender]
        named = [one for one in before if one.sort in (same, "people", "pets", "names")]
        same_gender = [one for one in draft.referents if one.gender in ("", gender)]
        if len(named) + len(same_gender) > 1:
            draft.sure *= 0.85
        if not named and not same_gender and _opens_with_other_name(draft, at):
            return not _acts_on(draft, at, low)
        if len(named) + len(same_gender) == 1 and _acts_on(draft, at, low):
            return False
        return bool(named or same_gender)
    if low in ("it", "its"):
        return any(one.gender == "t" or one.is_animal for one in draft.referents) or any(
            draft.low(place) in _ARTICLES and (low == "its" or _is_parted(draft, place, at))
            for place in range(draft.clause.first, at - 1)
        )
    if any(one.sort == "groups" for one in before) or any(one.gender == "g" for one in draft.referents):
        return True
    begin = draft.clause.first + 1
    if low == "they" and draft.low(draft.clause.first) in _BINDERS:  # "when times are hard, they help" are people
        begin = next((place for place in range(begin, at) if draft.low(place) == ","), begin)
    return any(is_several(draft, place) for place in range(begin, at - 1))


def _opens_with_other_name(draft: ClauseDraft, at: int) -> bool:
    """Whether a clause is about somebody whose name nobody knows to be one: "Dot has her tea" is Dot's."""
    first = draft.clause.first
    token = draft.tokens[first]
    if token.low in talk_words().sets["people"]:  # "kid lost his cap"
        return at > first
    is_plain = token.low in common_words() or token.low in talk_words().sets["english"]
    is_known = any(one.first <= first < one.end for one in draft.phrases)
    is_object = at + 1 < draft.clause.end and draft.tokens[at + 1].is_capital  # "Raff calls her Mossy"
    is_other = token.is_capital and not is_plain and not is_known and draft.low(first + 1) != "'s"
    return at > first and is_other and not is_object


def _is_parted(draft: ClauseDraft, noun: int, at: int) -> bool:
    """Whether an "it" stands in another part of the clause than a noun: no mat lies "under it", itself."""
    return any(draft.low(place) in _JOINTS or draft.low(place) in _STOPS for place in range(noun + 1, at))


def _acts_on(draft: ClauseDraft, at: int, low: str) -> bool:
    """Whether a pronoun is what the clause's one subject does something to: "Keith taught him" is of somebody else."""
    if low != "him" and (low != "her" or _owns_next(draft, at)):
        return False
    joints = _JOINTS | {"-", "with", "for"}
    return not joints & {draft.low(place) for place in range(draft.clause.first, at)}


def _finish_sentence(text: str) -> str:
    rewritten = text.strip(" ,;:-–—")
    while rewritten and rewritten[-1] in ".!?…":
        rewritten = rewritten[:-1].rstrip()
    return rewritten[:1].upper() + rewritten[1:] + "."


def _check_rewritten(rewritten: str, draft: ClauseDraft) -> None:
    """Refuse a sentence in which a word still means somebody or something outside of it."""
    lows = [token.low for token in tokenize_talk(rewritten)]
    is_you = YOU in (draft.speech.speaker, draft.speech.addressee)
    left = {"i", "me", "my", "we", "us", "our", "mine"} | (set() if is_you else {"you", "your", "yours"})
    if left & set(lows):
        raise UnclearClauseError("reference")
    if "theirs" in lows and not any(phrase.sort == "groups" for phrase in draft.phrases):
        raise UnclearClauseError("reference")
    for at, low in enumerate(lows):
        behind = lows[at + 1] if at + 1 < len(lows) else ""
        if low in ("this", "these", "those", "here", "ones", "such") or (
            low == "there" and behind not in _there_verbs()
        ):
            raise UnclearClauseError("reference")
        if low == "that" and (behind in ("'s", "is", "was", ".", "one", ",") or not behind):
            raise UnclearClauseError("reference")
        if low == "one" and (behind in verb_forms().third or behind in verb_forms().sets["modals"] or behind == "was"):
            raise UnclearClauseError("reference")
        if low == "one" and (
            behind in (".", ",", "'s", "is", "in", "with", "for", "like")
            or (at and lows[at - 1] in ("that", "new", "old", "other", "big", "the"))
        ):
            raise UnclearClauseError("reference")
    if rewritten.endswith("?."):
        raise UnclearClauseError("question")


def _head_of(draft: ClauseDraft) -> str:
    """The subject of a clause as its words before the verb, without its article."""
    first = draft.clause.first
    phrase = next((one for one in draft.phrases if one.first == first), None)
    if phrase is not None and phrase.name:
        return phrase.name
    for at in range(first, min(draft.clause.end, first + 5)):
        is_act = at == first + 1 and draft.tokens[first].is_capital and draft.low(at) in verb_forms().third
        if at > first and (is_act or is_finite(draft.tokens, at, first)):
            begin = first + (draft.low(first) in ("the", "a", "an"))
            return draft.sentence[draft.tokens[begin].start : draft.tokens[at - 1].end] if begin < at else ""
    return ""
