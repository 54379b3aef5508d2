"""A question by one and its short answer by another as one statement.

"Do you have siblings?" is turned into what it asks ("I have siblings") and takes the answer "Two, both older." in its
gap ("I have two siblings, both older"). Must not do: answer by what was not said, or tell a pronoun; the result is in
the answerer's first person and is rewritten like any other clause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.talk.clauses import has_finite_verb, trim_clause
from core.talk.vocabulary import Token, talk_words, third_person, tokenize_talk, verb_forms
from core.text.terms import common_words

_YES = frozenset(("yes", "yeah", "yep", "yup", "aye", "sure", "ja", "definitely", "absolutely"))
_NO = frozenset(("no", "nope", "nah", "never"))
_AUX = frozenset(("do", "does", "did", "are", "is", "was", "were", "have", "has", "had", "can", "will", "would"))
_MOST_WORDS = 14
_MOST_ASKED = 14
_SWAPPED = {
    "you": "I", "your": "my", "yours": "mine", "i": "you", "my": "your", "me": "you", "we": "we", "our": "our",
}  # fmt: skip
_PLACES = frozenset(("in", "at", "on", "near", "outside", "by", "with", "from", "to", "for", "since", "until"))
_WHEN_LINKS = frozenset(
    (
        "on",
        "in",
        "at",
        "from",
        "since",
        "until",
        "by",
        "next",
        "last",
        "tomorrow",
        "today",
        "tonight",
        "yesterday",
        "this",
    )
)
_OPEN = frozenset(("or", "any", "anything", "anyone", "anybody", "ever"))
_HELD = frozenset(("have", "own", "keep", "play", "speak"))
_PERSONS = frozenset(("you", "he", "she", "they", "it", "we"))
_EARLY_ENDS = frozenset(
    ("now", "actually", "anyway", "then", "again", "though", "exactly", "these", "days", "lately", "recently")
)
_ASKING = frozenset(("what", "who", "where", "when", "how"))
_OWNED = frozenset(("your", "his", "her", "their"))
_NOUN_OF = frozenset(("how", "what"))  # behind which a noun may stand before the verb
_BEFORE_QUESTION = frozenset(("and", "so", "but", "ok", "okay", "oh", "ah", "well", "wait", "hey", "no", "yes"))
_MONTH_OR_DAY = re.compile(
    r"(?i)^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|early|late|mid)"
)


_TOPIC = re.compile(
    r"(?i)(?:(?:and|so|oh|ok|well)[, ]+)*(?:any|how'?s|how is|how are|and|what about|how about)\s+"
    r"(?P<what>(?:the |your |my )?[\w' -]{2,40}?)(?:,\s*\w+)?\s*\?+"
)


_BARE_TOPIC = re.compile(r"(?P<what>[A-Za-z][a-z]{2,}(?: [a-z]{3,})?)\s*\?+")


def join_answer(question: str, answer: str, names: frozenset[str]) -> str:
    """Question and answer as one sentence in the answerer's voice.

    Args:
        names: of those who speak, folded.

    Returns:
        Such as "I have two siblings, both older"; "" where the two do not make a sentence.
    """
    asked = _read_question(question, names)
    answered = _words_of_answer(answer, names)
    if not asked or not answered or len(answered) > _MOST_WORDS:
        return ""
    lows = [word.lower() for word in asked]
    if lows[0] in _AUX:
        return _join_yes_no(asked, answered, answer)
    joiner = {
        "where": _join_place, "when": _join_time, "who": _join_who, "what": _join_what, "which": _join_what,
        "how": _join_how,
    }.get(lows[0].removesuffix("'s"))  # fmt: skip
    return joiner(asked, answered) if joiner else ""


def read_question_request(clause: str) -> str:
    """What somebody asks of an assistant as what they want; "" where a clause asks for nothing."""
    words = clause.replace("’", "'").partition(";")[0].rstrip(" .!").split()
    words = [word for at, word in enumerate(words) if word.lower().strip(",") != "please"]
    lows = [word.lower() for word in words]
    if len(words) < 2:
        return ""
    lead = {"don't": "do not want", "dont": "do not want", "never": "never want", "always": "always want"}.get(lows[0])
    rest = words[1:] if lead else words
    verb = rest[0].lower()
    if lows[:2] == ["do", "not"]:
        lead, rest, verb = "do not want", words[2:], lows[2] if len(words) > 2 else ""
    if (
        (verb not in verb_forms().base and verb != "be")
        or verb in talk_words().sets["once"]
        or {"he", "she", "no"} & set(lows)
    ):
        return ""
    return f"I {lead or 'want'} the assistant to {' '.join((verb, *rest[1:]))}"


def is_fragment(answer: str) -> bool:
    """Whether a sentence has no verb of its own, so that it only means something as an answer."""
    tokens = tokenize_talk(answer)
    return bool(tokens) and not has_finite_verb(tokens, 0, len(tokens))


def mark_question(sentence: str) -> str:
    """A sentence with the mark of a question where it is built as one and lacks it: "how old is she"."""
    plain = sentence.rstrip()
    words = plain.replace("’", "'").lower().split()
    if len(words) < 3 or plain[-1:] in ".!?,:;…" or len(words) > _MOST_ASKED:
        return sentence
    while len(words) > 3 and words[0].strip(",") in _BEFORE_QUESTION:
        del words[0]
    is_inverted = words[0] in _AUX and (words[1] in _PERSONS or words[1] in _OWNED)
    return f"{plain}?" if is_inverted or _asks_for_kind(words) else sentence


def _asks_for_kind(words: Sequence[str]) -> bool:
    """Whether lower-case words ask as "what does he play" does; "what I do is teach" does not."""
    asking = words[0].removesuffix("'s")
    if asking not in _ASKING:
        return False
    places = range(1, 4 if asking in _NOUN_OF else 2)
    aux = 0 if words[0] != asking else next((at for at in places if at < len(words) - 1 and words[at] in _AUX), None)
    if aux is None or any(word in _PERSONS or word in _OWNED or word in ("i", "my", "our") for word in words[1:aux]):
        return False
    if sum(word in ("is", "are", "was", "were") for word in words[aux + 1 :]) > 0:
        return False  # "what is his is mine"
    subject = words[aux + 1]
    is_owned = subject in _OWNED or subject in ("my", "our", "the")
    return subject in _PERSONS or subject == "i" or (is_owned and asking != "who")


def find_topic(question: str) -> str:
    """What a question without a verb is about, in the asker's words: "Any injuries?" asks of "your injuries"."""
    plain = question.strip().replace("’", "'")
    match = _TOPIC.fullmatch(plain) or _BARE_TOPIC.fullmatch(plain)
    if match and {word.lower() for word in match.group("what").split()} & talk_words().sets["no_topic"]:
        return ""
    return match.group("what").strip() if match else ""


def _read_question(question: str, names: frozenset[str]) -> list[str]:
    """The words of a question without its marks, contractions of its first word written out."""
    plain = question.replace("’", "'").strip()
    if not plain.endswith("?"):
        return []
    tokens = tokenize_talk(plain)
    first, end = trim_clause(tokens, 0, len(tokens), names)
    words = [_write_out(tokens, at) for at in range(first, end) if tokens[at].low not in ("!",)]
    while len(words) > 2 and words[-1].lower() in _EARLY_ENDS:
        words.pop()
    if len(words) < 3 or len(words) > _MOST_ASKED or any(word in (",", ";", ".") for word in words):
        return []
    return words


def _write_out(tokens: Sequence[Token], at: int) -> str:
    return {"'s": "is", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}.get(tokens[at].low, tokens[at].text)


def _words_of_answer(answer: str, names: frozenset[str]) -> list[str]:
    plain = answer.replace("’", "'").strip().rstrip(".!")
    tokens = tokenize_talk(plain)
    if not tokens or plain.endswith("?"):
        return []
    first, end = 0, len(tokens)
    if tokens[0].low not in (*_YES, *_NO):
        first, end = trim_clause(tokens, 0, len(tokens), names)
    words = [token.low if token.low.startswith("'") else token.text for token in tokens[first:end]]
    if len(words) > 2 and words[1] == "," and words[0].lower() in verb_forms().sets["adverbs"]:
        del words[:2]  # "Recently, school reform"
    is_common = words and (words[0].lower() in _small_words())
    return [words[0].lower(), *words[1:]] if is_common and words[0] != "I" else words


def _small_words() -> frozenset[str]:
    """Words that are written small within a sentence."""
    return common_words() | talk_words().sets["numbers"] | verb_forms().sets["adverbs"]


def _join_words(words: Sequence[str]) -> str:
    declared = " ".join(words)
    return re.sub(r"\s+([,;.%)]|'\w)", r"\1", declared).strip(" ,;")


def _swap_persons(words: Sequence[str]) -> list[str]:
    """The asker's "you" as the answerer's "I", and the other way round."""
    return [_SWAPPED.get(word.lower(), word) for word in words]


def _subject_end(words: Sequence[str], at: int) -> int:
    """Where a question's subject ends; `at` where none is read."""
    low = words[at].lower() if at < len(words) else ""
    if low in _PERSONS:
        behind = words[at + 1].lower() if at + 1 < len(words) else ""
        return at if behind in ("all", "both", "guys", "two") else at + 1
    if low in ("your", "my", "his", "her", "their", "the", "our") and at + 1 < len(words):
        return at + 2
    end = at
    while end < len(words) and words[end][:1].isupper():
        end += 1
    return end


def _declare_question(words: Sequence[str], *, is_negated: bool = False) -> list[str]:
    """A question that begins with its auxiliary as a statement; empty where its subject is not read."""
    aux = words[0].lower()
    end = _subject_end(words, 1)
    if end == 1 or end > len(words):
        return []
    subject, rest = _swap_persons(words[1:end]), _swap_persons(words[end:])
    is_single = subject[0].lower() not in ("i", "we", "you", "they")
    verbs = verb_forms()
    if aux in ("do", "does", "did") and (not rest or rest[0].lower() not in verbs.base):
        return []
    if aux in ("do", "does", "did"):
        base = rest[0].lower()
        if is_negated:
            return [
                *subject,
                {"do": "do not", "does": "does not", "did": "did not"}[
                    aux if subject != ["I"] else "do" if aux == "does" else aux
                ],
                *rest,
            ]
        verb = verbs.pasts.get(base, base) if aux == "did" else third_person(base) if is_single else base
        return [*subject, verb, *rest[1:]]
    if subject == ["I"]:
        aux = {"are": "am", "were": "was", "has": "have"}.get(aux, aux)
    return [*subject, aux, *(("not",) if is_negated else ()), *rest]


def _join_yes_no(asked: Sequence[str], answered: Sequence[str], answer: str) -> str:
    first = answered[0].lower()
    is_yes, is_no = first in _YES, first in _NO
    if is_yes and (named := _join_named(asked, answered)):
        return named
    if any(word.lower() in _OPEN for word in asked):
        return ""
    if is_yes or is_no:
        declared = _declare_question(asked, is_negated=is_no)
        rest = [word for word in answered[1:] if word not in (".",)]
        while rest and rest[0] == ",":
            rest = rest[1:]
        if not declared or not is_fragment(_join_words(rest) or "yes"):
            return _join_words(declared) if declared and _is_short(rest) else ""
        return _join_words([*declared, ",", *rest]) if rest and is_yes else _join_words(declared) if not rest else ""
    numbers = talk_words().sets["numbers"]
    declared = _declare_question(asked)
    if (
        declared
        and (first in numbers or first.isdigit())
        and declared[-1].lower().endswith("s")
        and is_fragment(answer)
    ):
        return _join_words(
            [
                *declared[:-1],
                answered[0].lower(),
                declared[-1],
                *(answered[1:] if answered[1:2] == [","] else [",", *answered[1:]]),
            ]
        )
    return ""


def _join_named(asked: Sequence[str], answered: Sequence[str]) -> str:
    """Reads "Do you have a pet?" "Yes, a dog called Rex" as "I have a dog called Rex"."""
    rest = list(answered[2 if answered[1:2] == [","] else 1 :])
    lows = [word.lower() for word in asked]
    opens = bool(rest) and (rest[0].lower() in ("a", "an") or rest[0].lower() in talk_words().sets["numbers"])
    is_named = len(rest) > 1 and rest[1].lower() not in ("few", "lot", "bit", "little", "couple")
    has_verb = any(word.lower() in (*_PERSONS, "i", "and") for word in rest)
    if lows[:2] != ["do", "you"] or lows[2] not in _HELD or not opens or not is_named or has_verb:
        return ""
    return _join_words(["I", lows[2], *rest])


def _is_short(rest: Sequence[str]) -> bool:
    return not rest or (len(rest) <= 4 and rest[0].lower() in ("i", "we", "he", "she", "they", "it"))


def _declare_behind_question_word(asked: Sequence[str]) -> list[str]:
    """What is declared by a question behind its asking word."""
    return _declare_question(asked[1:]) if len(asked) > 2 and asked[1].lower() in _AUX else []


def _opens_with_verb(answered: Sequence[str]) -> bool:
    """Whether an answer has a verb of its own before its first comma, or only says yes or no."""
    stop = next(
        (at for at, word in enumerate(answered) if word in (",", "-", "–", "(", ";") or word == "since"), len(answered)
    )
    is_told = stop > 0 and not is_fragment(_join_words(answered[:stop]))  # "since I was ten" begins with no verb
    return is_told or answered[0].lower() in (*_YES, *_NO)


def _join_place(asked: Sequence[str], answered: Sequence[str]) -> str:
    declared = _declare_behind_question_word(asked)
    if not declared or _opens_with_verb(answered):
        return ""
    is_linked = answered[0].lower() in _PLACES or declared[-1].lower() in _PLACES
    return _join_words([*declared, *(() if is_linked else ("in",)), *answered])


def _join_time(asked: Sequence[str], answered: Sequence[str]) -> str:
    declared = _declare_behind_question_word(asked)
    if not declared or _opens_with_verb(answered):
        return ""
    first = answered[0].lower()
    is_day = first in talk_words().sets["months"] or _MONTH_OR_DAY.match(first) or first == "the" or first[:1].isdigit()
    if first not in _WHEN_LINKS and not is_day:
        return ""
    link = () if first in _WHEN_LINKS else ("in",) if first in talk_words().sets["months"] else ("on",)
    return _join_words([*declared, *link, *answered])


def _join_who(asked: Sequence[str], answered: Sequence[str]) -> str:
    """Reads "Who approves travel?" "Katrin, since May", and "Who is Ondra?" "My student"."""
    lows = [word.lower() for word in asked]
    if _opens_with_verb(answered):
        return ""
    if lows[1] in ("is", "are", "was") and len(asked) <= 5:
        end = _subject_end(asked, 2)
        if end == len(asked) and end > 2:
            return _join_words([*_swap_persons(asked[2:end]), lows[1], *answered])
    if lows[1] in verb_forms().third and answered[0][:1].isupper():
        cut = answered.index(",") if "," in answered else len(answered)
        return _join_words([*answered[:cut], *_swap_persons(asked[1:]), *answered[cut:]])
    return ""


def _join_what(asked: Sequence[str], answered: Sequence[str]) -> str:
    """Reads "What is her name?", "What instrument do you play?", "Which class is Ivy in?"."""
    if _opens_with_verb(answered):
        return ""
    lows = [word.lower() for word in asked]
    if lows[1] in ("is", "was", "are") and len(asked) > 2:
        rest = _swap_persons(asked[2:])
        if rest[-1].lower() == "called":
            return _join_words([*rest[:-1], lows[1], "called", *answered])
        if lows[2] in ("your", "his", "her", "their", "the", "my", "its") and len(asked) <= 6:
            return _join_words([*rest, lows[1], *answered])
    aux = next((place for place, low in enumerate(lows) if place and low in _AUX), None)
    if aux is None or aux > 3 or lows[aux] in ("can", "would"):  # what one can do is advice
        return ""
    declared = _declare_question(asked[aux:])
    empty = (
        "do",
        "does",
        "think",
        "mean",
        "want",
        "doing",
        "about",
        "like",
        "up",
        "wrong",
        "happening",
        "going",
        "saying",
    )
    if len(declared) < 2 or declared[-1].lower() in ("am", "is", "are", "was", "were") or declared[-1].lower() in empty:
        return ""
    noun = asked[1:aux] if declared[-1].lower() in _PLACES and not _is_plural(asked[aux - 1]) else []
    return _join_words([*declared, *noun, *answered])


def _is_plural(word: str) -> bool:
    return word.lower().endswith("s") and not word.lower().endswith("ss")


def _join_how(asked: Sequence[str], answered: Sequence[str]) -> str:
    """Reads "How old is she?" "Twelve", "How many children do you have?" "Three", "How much is it a term?" "90"."""
    if _opens_with_verb(answered) or len(asked) < 4:
        return ""
    joiner = {
        "old": _join_age, "many": _join_count, "much": _join_amount, "long": _join_duration, "often": _join_frequency,
    }.get(asked[1].lower())  # fmt: skip
    return _join_words(joiner(asked, answered)) if joiner else ""


def _is_number(word: str) -> bool:
    return word.lower() in talk_words().sets["numbers"] or any(sign.isdigit() for sign in word)


def _join_age(asked: Sequence[str], answered: Sequence[str]) -> list[str]:
    end = _subject_end(asked, 3)
    if asked[2].lower() not in ("is", "are") or end != len(asked) or not _is_number(answered[0]):
        return []
    subject = _swap_persons(asked[3:end])
    return [*subject, "am" if subject == ["I"] else asked[2].lower(), *answered]


def _join_count(asked: Sequence[str], answered: Sequence[str]) -> list[str]:
    aux = next((place for place, word in enumerate(asked) if place > 2 and word.lower() in _AUX), None)
    declared = _declare_question(asked[aux:]) if aux and _is_number(answered[0]) else []
    rest = answered[2:] if answered[1:2] == [","] else answered[1:]
    is_even = answered[0].lower() not in ("one", "1") or not _is_plural(asked[(aux or 0) - 1])
    return (
        [*declared, answered[0].lower(), *asked[2:aux], *((",", *rest) if rest else ())] if declared and is_even else []
    )


def _join_amount(asked: Sequence[str], answered: Sequence[str]) -> list[str]:
    """Reads "How much is the rent?", "How much is it a term?" and "How much do you pay?"."""
    if not _is_number(answered[0]) or asked[2].lower() not in _AUX:
        return []
    if asked[2].lower() not in ("is", "are", "was", "were") or asked[-1].lower().endswith("ing"):
        declared = _declare_question(asked[2:])
        return [*declared, *answered] if declared else []
    end = _subject_end(asked, 3)
    subject, rest = _swap_persons(asked[3:end]), asked[end:]
    if end == 3 or subject[0].lower() in ("i", "we", "he", "she"):
        return []
    is_rest = not rest or (len(rest) > 1 and rest[0].lower() in (*_PLACES, "a", "an", "per"))
    return [*subject, asked[2].lower(), *answered, *rest] if is_rest else []


def _join_duration(asked: Sequence[str], answered: Sequence[str]) -> list[str]:
    """Reads "How long have you been married?" "Ten years"."""
    declared = _declare_question(asked[2:])
    if not declared or not (_is_number(answered[0]) or answered[0].lower() in ("since", "for", "until", "till")):
        return []
    is_spent = verb_forms().lemma(declared[-1].lower()) in ("take", "last", "need", "want", "get")
    is_for = asked[2].lower() in ("have", "has", "had", "did", "do", "does") and not is_spent
    return [*declared, *(("for",) if is_for and _is_number(answered[0]) else ()), *answered]


def _join_frequency(asked: Sequence[str], answered: Sequence[str]) -> list[str]:
    """Reads "How often do you swim?" "Twice a week"."""
    is_count = answered[0].lower() in ("once", "twice", "every", "never", "daily", "weekly") or _is_number(answered[0])
    declared = _declare_question(asked[2:])
    return [*declared, *answered] if declared and is_count else []
