"""A sentence as the readers of claims see it: its words with their places, the runs of words in it, the word lists.

Nothing here searches back and forth: a text is read once, sign by sign, and a sentence is cut at `MOST_TOKENS` words.
Words that claim nothing about the world (questions, commands, suppositions, stories) are hidden. The word lists are
`resources/claims`. Must not do: read a claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

Run = tuple[int, int]
"""A first token and the one behind the last."""
_MOST = 14
_OPENERS = ("i", "we", "my", "our", "user", "user's", "i'm", "the", "it", "she", "he")
MOST_TOKENS = 160
_FARTHEST_COLON = 6
_TOKEN = re.compile(
    r"""[^\W\d_]+n['’]t\b                                  # don't, isn't
    | \d+(?:[.,:/]\d+)*(?:[-\w%]*[\w%])?                     # 46, 5.2.0, 20mg, 12-year-old
    | [OD]['’](?=[A-Z])[^\W\d_]+                             # O'Neill
    | [^\W_](?:\w|[-.&+/](?=\w))*                            # words, names, Node.js, AT&T
    | ['’](?:s|m|re|ve|ll|d)\b
    | \S""",
    re.VERBOSE,
)
_MAY = re.compile(r"([\w'-]+) may (?=[a-z])")
_MAIL = re.compile(r"[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_QUOTED = re.compile("“[^“”]{1,300}”|\"[^\"]{1,300}\"|(?<!\\w)['‘][^'‘’\n]{1,200}['’](?!\\w)")
_QUOTE_PAIRS = {'"': '"', "“": "”", "‘": "’", "'": "'"}
_OUTER_MARKS = "\"'“”‘’ ,;"
_LONGEST_TITLE = 8
_EXPAND = {"im": ("i", "'m"), "ive": ("i", "'ve"), "i'm": ("i", "'m"), "id": ("i", "'d")}
_PLAIN = {"dont": "don't", "cant": "can't", "doesnt": "doesn't", "isnt": "isn't", "wont": "won't", "didnt": "didn't"}


@dataclass(frozen=True, slots=True)
class WordLists:
    """Word lists and phrases.

    Attributes:
        sets: word lists by name.
        lists: ordered lists by name.
        leads: phrases that lead in, by their first word, longest first.
        cuts: phrases that end a value, by their first word.
        opener: words a speaker begins with.
        moods: phrases that take a sentence out of the world, by kind and first word.
        kin: words on which a claim of a relative or an animal hangs; without one nothing of the kind is read.
    """

    sets: Mapping[str, frozenset[str]]
    lists: Mapping[str, tuple[str, ...]]
    leads: Mapping[str, tuple[tuple[str, ...], ...]]
    cuts: Mapping[str, tuple[tuple[str, ...], ...]]
    opener: frozenset[str]
    moods: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]
    kin: frozenset[str]

    def has_word(self, name: str, low: str) -> bool:
        """Whether a word is in a list."""
        return low in self.sets[name]

    def lead_in(self, lows: Sequence[str], at: int) -> int:
        """How many words of a lead-in phrase stand at a place; 0 for none."""
        return phrase_at(self.leads, lows, at)

    def is_cut_at(self, lows: Sequence[str], at: int) -> bool:
        """Whether a value ends before this place."""
        return lows[at] in self.sets["cut"] or phrase_at(self.cuts, lows, at) > 0


@dataclass(slots=True)
class ClaimToken:
    """One word or mark.

    Attributes:
        text: as written.
        low: folded for comparing.
        start: where it begins in the text; `end` is exclusive.
        hidden: whether it belongs to a quotation or to a phrase of time, and is not to be read as a word.
        quoted: whether it stands in a longer quotation.
    """

    text: str
    low: str
    start: int
    end: int
    hidden: bool = False
    quoted: bool = False

    @property
    def word(self) -> bool:
        """Whether it is a word or a number, not a mark."""
        return self.text[:1].isalnum()

    @property
    def cap(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[:1].isupper()


@dataclass(slots=True)
class TokenizedSentence:
    """The words of one sentence.

    Attributes:
        text: the whole text it stands in.
        start: where it begins; `end` is exclusive.
        tokens: its words and marks.
        lower: whether it holds no capital at all (a note typed in haste).
        begin: the first word after words that only lead in ("By the way,").
    """

    text: str
    start: int
    end: int
    tokens: list[ClaimToken]
    lower: bool = False
    begin: int = 0
    lows: list[str] = field(default_factory=list)

    def text_between(self, first: int, after: int) -> str:
        """The text of the tokens from `first` up to before `after`."""
        return self.text[self.tokens[first].start : self.tokens[after - 1].end]


def skip_words(sentence: TokenizedSentence, i: int, name: str = "det") -> int:
    """Step over words of a list."""
    found = claim_word_lists().sets[name]
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
        step = 1 if named else _count_linking_words(sentence, i, j, links)
        if not step:
            break
        if named and lows[j] in ("i", "we") and j > i:
            break
        j += step
    while j > i and lows[j - 1] in links:
        j -= 1
    return j


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
    i = _skip_quantity(sentence, skip_words(sentence, i))
    lows, tokens, lists = sentence.lows, sentence.tokens, claim_word_lists()
    if i >= len(tokens) or lows[i] in lists.sets["stop"] or not tokens[i].word or lows[i] in stop:
        return None
    j = i
    while j < len(tokens) and j - i <= most and _is_inside_value(sentence, i, j) and lows[j] not in stop:
        j += 1
    if j - i > most:
        return None
    j = _behind_title(sentence, i, trim_phrase(sentence, i, j))
    return (i, j) if j > i else None


def _behind_title(sentence: TokenizedSentence, i: int, j: int) -> int:
    """Step over a title in quotes behind its maker's name, which would end in the air: `Ed Sheeran's "Perfect"`."""
    opening = sentence.tokens[j].text if 0 < j < len(sentence.tokens) else ""
    if opening == "'" and j > i and " '" in sentence.text_between(i, j):  # it closes what opens within
        return j + 1
    closing = _QUOTE_PAIRS.get(opening)
    if closing is None or sentence.lows[j - 1] not in ("'s", "'"):
        return j
    inside = range(j + 1, min(j + 2 + _LONGEST_TITLE, len(sentence.tokens)))
    return next((n + 1 for n in inside if sentence.tokens[n].text == closing), j)


def strip_marks(text: str) -> str:
    """A value on one line without the marks around it; a quotation mark that closes within it what opens there stays.

    Args:
        text: as it stands in its sentence.
    """
    flat = " ".join(text.split())
    bare = flat.strip(_OUTER_MARKS)
    closing = flat[flat.find(bare) + len(bare) :][:1]
    is_open = any(f" {first}" in bare and last == closing for first, last in _QUOTE_PAIRS.items())
    return bare + closing if bare and is_open else bare


def _skip_quantity(sentence: TokenizedSentence, i: int) -> int:
    """Step over "bit of" and the like, which only say how much of it."""
    is_quantity = sentence.lows[i + 1 : i + 2] == ["of"] and sentence.lows[i] in claim_word_lists().sets["quantities"]
    return skip_words(sentence, i + 2) if is_quantity else i


def trim_phrase(sentence: TokenizedSentence, i: int, j: int) -> int:
    """Leave out adverbs, prepositions and marks at the end of a phrase, and `two winters` before `ago`."""
    lists = claim_word_lists()
    if j < len(sentence.lows) and sentence.lows[j] == "ago" and j - i > 2:
        j -= 2
    while j > i + 1 and (
        sentence.lows[j - 1] in lists.sets["adverb"]
        or sentence.lows[j - 1] in claim_word_lists().sets["prepositions"]
        or sentence.lows[j - 1] in lists.sets["det"]
        or sentence.lows[j - 1] in claim_word_lists().sets["trimmed"]
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
        j, joined, comma = _skip_joining_words(sentence, j, label=label)
        if not (joined or comma):
            break
        run = one(sentence, j) if j < len(lows) else None
        if run is None or not _is_list_item(sentence, run, j):
            break
        if joined:
            closed = True
        found.append(run)
        j = run[1]
    return found if closed else found[:1]


def head_of(sentence: TokenizedSentence, run: Run) -> str:
    """The noun a phrase is about: its last word, before any preposition."""
    for place in range(run[0] + 1, run[1]):
        if sentence.lows[place] in claim_word_lists().sets["prepositions"]:
            return sentence.lows[place - 1]
    return sentence.lows[run[1] - 1]


def before_preposition(sentence: TokenizedSentence, run: Run, keep: frozenset[str] = frozenset(("of",))) -> Run:
    """Cut a phrase before its first preposition."""
    for place in range(run[0] + 1, run[1]):
        if sentence.lows[place] in claim_word_lists().sets["prepositions"] and sentence.lows[place] not in keep:
            return (run[0], trim_phrase(sentence, run[0], place))
    return run


def clean_run(sentence: TokenizedSentence, run: Run | None) -> Run | None:
    """A run, unless it holds words that point at the listener or at what was said."""
    pointing = claim_word_lists().sets["clean.pointing"]
    return None if run is None or any(low in pointing for low in sentence.lows[run[0] : run[1]]) else run


def is_relation(sentence: TokenizedSentence, run: Run) -> bool:
    """Whether words tell whose relative somebody is: "Wilf's oldest friend", "mother of Wilf"."""
    inner, lists = sentence.lows[slice(*run)], claim_word_lists()
    is_owned = not {"'s", "'"}.isdisjoint(inner[1:-1]) and not sentence.tokens[run[1] - 1].cap
    is_kin = any(inner[0] in lists.sets[name] for name in lists.sets["noun_phrase.people"])
    return is_owned or (is_kin and not sentence.tokens[run[0]].cap and ("of" in inner or len(inner) == 1))


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
    if _find_mood(sentence, "fiction", begin) is not None:
        _hide_tokens(sentence, 0, end)
        return True
    _hide_tokens(sentence, *_question_span(sentence, begin, end))
    if _hands_over_text(sentence, begin):
        _hide_tokens(sentence, 0, end)
    elif _is_command(sentence, begin):
        _hide_tokens(sentence, 0, _own_clause(sentence, begin))
    place = _find_mood(sentence, "hypothetical", begin)
    if place is not None:
        _hide_tokens(sentence, _clause_start(sentence, place), end)
    return False


def phrase_at(table: Mapping[str, tuple[tuple[str, ...], ...]], lows: Sequence[str], at: int) -> int:
    """The length of the longest phrase of a table that stands at a place.

    Args:
        table: phrases by their first word, longest first.
        lows: folded words.

    Returns:
        How many words it has; 0 for none.
    """
    for phrase in table.get(lows[at], ()):
        if tuple(lows[at : at + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def phrases_by_first_word(phrases: Sequence[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Phrases by their first word, longest first, in the words of the tokenizer."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        parts = tuple(_split_contractions(phrase))
        table.setdefault(parts[0], []).append(parts)
    return {first: tuple(sorted(found, key=len, reverse=True)) for first, found in table.items()}


def load_vocabulary_file(name: str) -> dict[str, Any]:
    """One file of the vocabulary.

    Args:
        name: its name in `resources/claims`.

    Raises:
        TypeError: it does not hold one object.
    """
    loaded = json.loads((files("resources") / "claims" / name).read_text("utf-8"))
    if not isinstance(loaded, dict):
        raise TypeError(f"{name} holds one object")
    return loaded


def word_at(sentence: TokenizedSentence, i: int) -> str:
    """The folded word at a place; a full stop outside of the sentence."""
    return sentence.lows[i] if 0 <= i < len(sentence.lows) else "."


def as_list(run: Run | None) -> list[Run]:
    """A run as the list of what was found."""
    return [run] if run else []


@cache
def claim_word_lists() -> WordLists:
    """The word lists (`resources/claims/words.json`)."""
    loaded = load_vocabulary_file("words.json")
    moods = {kind: loaded["mood"][kind] for kind in ("hypothetical", "fiction")}
    sets = {name: frozenset(text.split()) for name, text in loaded["sets"].items()}
    plain = {name: frozenset(loaded["mood"][name].split()) for name in ("commands", "commandfree", "questions")}
    kin = frozenset().union(*(sets[name] for name in ("partner", "family", "child", "children", "pet", "pets")))
    return WordLists(
        sets={**sets, **plain},
        lists={name: tuple(found) for name, found in loaded["lists"].items()},
        leads=phrases_by_first_word(loaded["lists"]["prefaces"]),
        cuts=phrases_by_first_word(loaded["lists"]["cutphrases"]),
        opener=frozenset(_OPENERS),
        moods={kind: phrases_by_first_word(found) for kind, found in moods.items()},
        kin=kin | {"half", "other", "pig", "pigs"},  # as in "better half" and "guinea pig"
    )


def read_sentence(text: str, start: int, end: int) -> TokenizedSentence:
    """Cut one sentence into words.

    Args:
        start: where the sentence begins, code points.
        end: where it ends, exclusive.

    Returns:
        At most `MOST_TOKENS` of its words, with their places.
    """
    tokens: list[ClaimToken] = []
    mails = {match.start(): match.end() for match in _MAIL.finditer(text, start, end)} if "@" in text[start:end] else {}
    at = start
    while at < end and len(tokens) < MOST_TOKENS:
        if at in mails:
            stop = mails[at]
            while text[stop - 1] in ".-_":
                stop -= 1
            tokens.append(ClaimToken(text[at:stop], text[at:stop].lower(), at, stop))
            at = stop
            continue
        match = _TOKEN.match(text, at, end)
        if match is None:
            at += 1
            continue
        at = _append_tokens(tokens, match, mails)
    end = tokens[-1].end if tokens else start
    _mark_quoted(tokens, text, start, end)
    sentence = TokenizedSentence(text, start, end, tokens, lower=not any(sign.isupper() for sign in text[start:end]))
    sentence.lows = [token.low for token in tokens]
    sentence.begin = _lead_in(sentence)
    return sentence


def _count_linking_words(sentence: TokenizedSentence, i: int, j: int, links: frozenset[str]) -> int:
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


def _is_inside_value(sentence: TokenizedSentence, i: int, j: int) -> bool:
    token, low = sentence.tokens[j], sentence.lows[j]
    if token.hidden or low in claim_word_lists().sets["and"] or low == "but":
        return False
    if not token.word and low not in claim_word_lists().sets["marks_inside"] and token.text not in ("’s",):
        return False
    if low == "-" and sentence.text[token.start - 1 : token.start].isspace():
        return False
    if low in ("'", "/") and j + 1 >= len(sentence.tokens):
        return False
    return j == i or not claim_word_lists().is_cut_at(sentence.lows, j)


def _skip_joining_words(sentence: TokenizedSentence, j: int, *, label: bool) -> tuple[int, bool, bool]:
    lows = sentence.lows
    joined = comma = False
    while j < len(lows) and (
        lows[j] == "," or lows[j] in claim_word_lists().sets["and"] or (label and lows[j] in (";", "/", "+", "|"))
    ):
        joined = joined or lows[j] in claim_word_lists().sets["and"]
        comma = comma or lows[j] not in claim_word_lists().sets["and"]
        j += 1
    if lows[j : j + 3] == ["as", "well", "as"]:
        return j + 3, True, comma
    return j, joined, comma


def _is_list_item(sentence: TokenizedSentence, run: Run, at: int) -> bool:
    """Whether a run is one more value and not the beginning of another clause."""
    lists, lows = claim_word_lists(), sentence.lows
    if lows[at] in claim_word_lists().sets["an_item"]:
        return False
    if any(low in lists.sets["finite"] for low in lows[run[0] : run[1]]):
        return False
    behind = lows[run[1]] if run[1] < len(lows) else "."
    return behind not in lists.sets["finite"] and behind not in ("also", "never", "always") and run[1] - run[0] <= 6


def _hide_tokens(sentence: TokenizedSentence, first: int, after: int) -> None:
    for token in sentence.tokens[first:after]:
        token.hidden = True


def _find_mood(sentence: TokenizedSentence, kind: str, begin: int) -> int | None:
    table = claim_word_lists().moods[kind]
    return next(
        (
            i
            for i in range(begin, len(sentence.lows))
            if sentence.lows[i] in table and phrase_at(table, sentence.lows, i)
        ),
        None,
    )


def _question_span(sentence: TokenizedSentence, begin: int, end: int) -> tuple[int, int]:
    """What of a sentence is asked: all of it, or only its last clause ("I'm vegan, can you ...?")."""
    lows = sentence.lows
    last = next((low for low in reversed(lows) if low not in claim_word_lists().sets["question"]), "")
    opens = lows[begin] in claim_word_lists().sets["asking"]
    if last != "?":
        return (0, end) if opens and lows[begin] not in ("will", "may", "any") else (0, 0)
    if lows[begin] in claim_word_lists().sets["questions"]:
        return (0, end)
    for i in range(end - 1, begin, -1):
        if lows[i - 1] in claim_word_lists().sets["breaks"] | {"and", "so", "but"} and lows[
            i
        ] in claim_word_lists().sets["questions"] | {
            "so",
            "any",
            "is",
        }:
            return (i, end)
    return (0, end)


def _hands_over_text(sentence: TokenizedSentence, begin: int) -> bool:
    """`Summarise this: I live in Oslo.`: a text to work on, and nobody's word."""
    lows = sentence.lows
    return lows[begin] in claim_word_lists().sets["quoting"] and ":" in lows[begin + 2 : begin + 2 + _FARTHEST_COLON]


def _is_command(sentence: TokenizedSentence, begin: int) -> bool:
    lows = sentence.lows
    if lows[begin] not in claim_word_lists().sets["commands"]:
        return False
    behind = lows[begin + 1 : begin + 5]
    if lows[begin] in claim_word_lists().sets["commandfree"] and ("me" in behind[:2] or "us" in behind[:2]):
        return False
    if behind[:1] in ([":"], ["="], ["'s"]) or (
        lows[begin] in claim_word_lists().sets["commands"]
        and any(low in claim_word_lists().sets["noun_tells"] for low in behind)
    ):
        return False
    return not any(low in ("is", "are", "was", "must") for low in behind[:2])


def _own_clause(sentence: TokenizedSentence, begin: int) -> int:
    """Where the speaker begins to tell of themself behind a command."""
    lows = sentence.lows
    for i in range(begin + 1, len(lows)):
        if lows[i] in claim_word_lists().sets["own"] and lows[i - 1] in claim_word_lists().sets["breaks"] | {
            "because",
            "since",
            "as",
        }:
            return i
    return len(lows)


def _clause_start(sentence: TokenizedSentence, place: int) -> int:
    i = place
    while i > 0 and sentence.lows[i - 1] not in claim_word_lists().sets["breaks"] | {"but"}:
        i -= 1
    if sentence.lows[place] in ("if", "unless", "whether", "as") and i > 0:
        return place
    joined = sentence.lows[place] in claim_word_lists().sets["clause_start"]
    return place if joined and i == sentence.begin and place > sentence.begin else i


def _split_contractions(phrase: str) -> list[str]:
    out: list[str] = []
    for word in phrase.split():
        for tail in ("'s", "'d", "'m", "'ve", "'re", "'ll"):
            if word.endswith(tail) and word != tail:
                out += [word[: -len(tail)], tail]
                break
        else:
            out.append(word)
    return out


def _append_tokens(tokens: list[ClaimToken], match: re.Match[str], mails: dict[int, int]) -> int:
    start, stop = match.span()
    inner = next((place for place in mails if start < place < stop), None)
    stop = stop if inner is None else inner
    text = match.string[start:stop]
    low = text.lower().replace("’", "'")
    if low in _EXPAND and (low != "id" or text == "Id"):
        first, second = _EXPAND[low]
        tokens += [ClaimToken(text, first, start, stop), ClaimToken("", second, stop, stop)]
    else:
        tokens.append(ClaimToken(text, _PLAIN.get(low, low), start, stop))
    return stop


def _mark_quoted(tokens: list[ClaimToken], text: str, start: int, end: int) -> None:
    for match in _QUOTED.finditer(text, start, end):
        inside = [token for token in tokens if match.start() < token.start < match.end() - 1]
        for token in inside:
            token.quoted = len(inside) > 3


def _lead_in(sentence: TokenizedSentence) -> int:
    """The first word that says something: behind bullets, "by the way," and the like."""
    at = 0
    lows = sentence.lows
    found = True
    while found and at < len(lows):
        found = False
        if not sentence.tokens[at].word and lows[at] not in ("'", '"', "(", "+"):
            at, found = at + 1, True
            continue
        phrase = claim_word_lists().lead_in(lows, at)
        after = at + phrase
        if phrase and after < len(lows) and _is_lead_in(sentence, at, after):
            at, found = after, True
    return at if at < len(lows) else 0


def _is_lead_in(sentence: TokenizedSentence, at: int, after: int) -> bool:
    """A lead-in is set off by a mark, or stands before the speaker ("actually I ...")."""
    low = sentence.lows[after]
    if low in claim_word_lists().sets["leads.marks"]:
        return True
    loose = sentence.lows[at] not in claim_word_lists().sets["leads.set_off"]
    return loose and (
        low in claim_word_lists().opener or sentence.lows[after - 1] in claim_word_lists().sets["leads.joins"]
    )


def is_tentative(lower: str) -> bool:
    """Whether words tell what may be rather than what is ("might", "the council may ..."); "in may" does not.

    Args:
        lower: in small letters.
    """
    words, no_month = _tentative_words()
    if words.search(lower) is not None:
        return True
    before = [found[1] for found in _MAY.finditer(lower)]
    return any(word not in no_month and not word[0].isdigit() for word in before)


@cache
def _tentative_words() -> tuple[re.Pattern[str], frozenset[str]]:
    vocabulary = load_vocabulary_file("later.json")
    words = "|".join(re.escape(word) for word in sorted(vocabulary["tentative"], key=len, reverse=True))
    return re.compile(rf"(?<![\w'])(?:{words})(?![\w'])"), frozenset(vocabulary["no_month"])
